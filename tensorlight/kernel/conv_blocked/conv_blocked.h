// SPDX-License-Identifier: Apache-2.0
// Kernels of convolution in the blocked layout (tl_blocked.h).
//
// All of them compute tiles: up to TL_TILE_PIXELS neighbouring pixels of a line by one or two
// blocks of output channels are summed in registers. A list of taps determines the sum, so the
// same kernel serves 1x1 and larger windows, sources in blocks, and sources in planes, such as
// the first layer of a network. A window that is larger than a pixel, or strided, reads lines
// that were copied into scratch memory with their padding and with the columns of each phase of
// the stride, or of each tap, side by side: there the pixels of a tile are adjacent, for any
// stride.
//
// Kernels of pairs read a pixel's channels two by two, as bfloat16: each pair replaces a float of
// other kernels. Their sums are floats.

#pragma once

#include <stddef.h>

#include "kernel/tl_kernel.h"
#include "tensorlight/tl_blocked.h"

enum {
    TL_TILE_PIXELS = 14,          // of the largest tile
    TL_TILE_PAIRS = TL_BLOCK / 2, // of a pixel of a block
};

/** The operands and results of a line of pixels. Steps are in floats, or in pairs of bfloat16;
 * those of dst and add, in elements. */
typedef struct tl_tile_job {
    int lanes;             // of a source pixel: TL_BLOCK, or 1 for planes, or TL_TILE_PAIRS
    int shared;            // 0, or of groups within a block: 4 or 8 lanes are summed for each
    int first, channels;   // of the source: those from `first` on, first < lanes
    size_t src_block_step; // from a block (or plane) of source channels to the next
    int n_taps;
    const ptrdiff_t *taps; // for each tap: where its pixel is, from the source's first one
    size_t weight_step;    // from a block of output channels to the next: [block of source
                           // channels][tap][lanes][TL_BLOCK], or [tap][shared][TL_BLOCK]: for lane
                           // i of the result lanes 0 .. 3 of the four that i is in, then of the
                           // other four of these eight
    int has_half_block;    // the last block has results in the lower half of its lanes alone
    size_t dst_block_step; // from a block of output channels to the next, of dst and add
    size_t dst_step;       // from a pixel to the next
    int rounds;            // dst is of bfloat16
    int adds_halves;       // and so is add
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

/** The pixels of a line's next tile where `left` are left, at most `max`: tiles are few, and the
 *  last ones nearly equal. */
static inline int tl_tile_pixels(int left, int max)
{
    const int n_tiles = (left + max - 1) / max;
    return n_tiles > 3 ? max : (left + n_tiles - 1) / n_tiles;
}

/** Whether most lines consist of tiles of `n` pixels. These write results of all kinds. The others,
 *  with half the code, write the most frequent kind; for the rest, sums to a buffer, of which one
 *  loop makes results for all. */
static inline int tl_tile_is_common(int n, int max)
{
    return max < 8 ? n >= max / 2 : n % (max / 2) == 0;
}

#define TL_BLOCKCONV_KERNELS(ROW, arg)            \
    TL_KERNELS(ROW, arg, tl_tile_line, F32, BOTH) \
    TL_KERNELS(ROW, arg, tl_tile_pairs, BF16, BF16)
TL_BLOCKCONV_KERNELS(TL_KERNEL_DECLARE, tl_tile_line_func)
