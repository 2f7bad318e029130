// SPDX-License-Identifier: Apache-2.0
// Kernels of convolution in the blocked layout (tl_blocked.h).
//
// All of them compute tiles: the sums of up to TL_TILE_PIXELS neighbouring pixels of a line, for
// one or two blocks of output channels, in registers. A list of taps determines the sum, so the
// same kernel computes 1x1 and larger windows, from sources in blocks or in planes, such as the
// input of a network. A window larger than 1x1, or with a stride, reads lines that were copied to
// scratch memory with their padding, and with the columns of each phase of the stride, or of each
// tap, contiguous: so the pixels of a tile are adjacent for any stride.
//
// Kernels of pairs read a pixel's channels as pairs of bfloat16, where others read one float. Their
// sums are floats.

#pragma once

#include <stddef.h>

#include "kernel/tl_kernel.h"
#include "tensorlight/tl_blocked.h"

enum {
    TL_TILE_PIXELS = 14,          // of the largest tile
    TL_TILE_PAIRS = TL_BLOCK / 2, // of a pixel of a block
};

/** The operands and results of a line of pixels. Steps and offsets are in floats, or in pairs of
 * bfloat16; those of dst and add, in elements. */
typedef struct tl_tile_job {
    int lanes;             // of a source pixel: TL_BLOCK, or 1 for planes, or TL_TILE_PAIRS
    int group_lanes;       // several groups of 4 or 8 lanes in a block; 0: no such groups
    int first, channels;   // of the source: sums first .. channels-1, first < lanes
    size_t src_block_step; // from a block (or plane) of source channels to the next
    int n_taps;
    const ptrdiff_t *taps; // for each tap: the offset of its pixel from the source's first one
    size_t weight_step;    // from a block of output channels to the next: [block of source
                           // channels][tap][lanes][TL_BLOCK], or [tap][group_lanes][TL_BLOCK]: for
                           // result lane i first the 4 source lanes from i / 4 * 4 on, then, in
                           // groups of 8, the other 4
    int has_half_block;    // the last block has results only in the lower half of its lanes
    size_t dst_block_step; // from a block of output channels to the next, of dst and add
    size_t dst_step;       // from a pixel to the next
    // For tl_conv_kind.is_area:
    int n_lines;                         // of results
    int src_step;                        // pixels from that of a result to that of the next
    size_t src_line_step, dst_line_step; // from the first pixel of a line to that of the next
    int is_dst_bf16, is_add_bf16;        // the type of each: bfloat16, or float
    tl_activation act;
    float low, high; // bounds of results: tl_act_bounds
} tl_tile_job;

/** Sums `n` neighbouring pixels of `n_blocks` blocks of output channels: bias, if not NULL, plus
 *  the taps, plus add, if not NULL; then the activation; rounded once. The order of the sum is
 *  fixed: that of the weights. */
typedef void tl_tile_line_func(const tl_tile_job *job, const float *src, const float *weight,
                               const float *bias, const void *add, void *dst, int n, int n_blocks);

/** The kernel for the instruction set of `exec`. */
tl_tile_line_func *tl_tile_line(const tl_exec *exec);

/** The last tiles of a line, which are nearly equal, so that none is small. */
enum { TL_EQUAL_TILES = 4 };

/** The pixels of a line's next tile, at most `max`, of `left` remaining ones. */
static inline int tl_tile_pixels(int left, int max)
{
    const int n_tiles = (left + max - 1) / max;
    return n_tiles > TL_EQUAL_TILES ? max : (left + n_tiles - 1) / n_tiles;
}

/** The least pixels of a line for matrix units: fewer fill too little of a tile. */
enum { TL_AREA_PIXELS = 4 };

/** The pixels of a line of a convolution with the result [N, C or B, H, W, ..]: a window of one
 *  pixel joins all lines. */
static inline int tl_conv_line(const tl_conv2d_param *p, const int *dims)
{
    const int is_pixel = p->size[0] * p->size[1] * p->stride[0] * p->stride[1] == 1 &&
                         (p->padding[0] | p->padding[1] | p->padding[2] | p->padding[3]) == 0;
    return is_pixel ? dims[2] * dims[3] : dims[3];
}

/** Whether `n` is a frequent size of tiles, whose code writes every kind of result. To save code,
 *  rarer sizes write only the most frequent kind; for other kinds they write sums to a buffer, from
 *  which a shared loop computes the results. */
static inline int tl_tile_is_common(int n, int max)
{
    return max < 8 ? n >= max / 2 : n % (max / 2) == 0;
}

#define TL_BLOCKCONV_KERNELS(ROW, arg)            \
    TL_KERNELS(ROW, arg, tl_tile_line, F32, BOTH) \
    TL_KERNELS(ROW, arg, tl_tile_pairs, BF16, BF16)
TL_BLOCKCONV_KERNELS(TL_KERNEL_DECLARE, tl_tile_line_func)

/** For matrix units: computes areas of any number of blocks (tl_conv_kind.is_area), whose source
 *  has whole blocks. `bias` is not NULL, and the order of the sum is another one. */
#define TL_BLOCKCONV_TILES(ROW, arg) TL_KERNELS(ROW, arg, tl_tile_area, BF16, PAIR_TILE)
TL_BLOCKCONV_TILES(TL_KERNEL_DECLARE, tl_tile_line_func)
