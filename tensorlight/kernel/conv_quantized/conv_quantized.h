// SPDX-License-Identifier: Apache-2.0
// Kernels of 8-bit convolutions and matrix multiplications (layout of weights: tl_quantized.h).
//
// All of them compute tiles: the sums of neighbouring pixels of a line, for one or two blocks of
// output channels, in registers, four source channels at a time, with simd/tl_simd_dot.h. A pixel
// has TL_BLOCK contiguous channels, followed by the next pixel. The rows of a matrix are converted
// to the same layout, so that a matrix multiplication is a 1 x 1 convolution.

#pragma once

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "kernel/conv_blocked/conv_blocked_plan.h"
#include "kernel/tl_kernel.h"
#include "tensorlight/tl_quantized.h"

enum { TL_QUAD = 4 }; // channels whose products are summed at a time

/** Blocks of source channels whose weights of a tap are adjacent: equal groups of at most
 * four blocks, whose quads fill the rows of a tile (simd/tl_tile.h). */
typedef struct tl_quad_groups {
    int n, blocks; // groups, and blocks of each; of several, the last one is padded
} tl_quad_groups;

static inline tl_quad_groups tl_quad_groups_of(int channels)
{
    enum { MAX_BLOCKS = 4 };
    const int all = tl_blocks(channels > 0 ? channels : 1), n = (all + MAX_BLOCKS - 1) / MAX_BLOCKS;
    return (tl_quad_groups){n, (all + n - 1) / n};
}

/** Bytes of the weights of a tap of a group for a block of output channels. */
static inline size_t tl_quad_tap_size(int channels)
{
    const tl_quad_groups g = tl_quad_groups_of(channels);
    const size_t width = g.n > 1 ? (size_t)g.blocks * TL_BLOCK : (size_t)channels;
    return tl_ceil_div(width, TL_QUAD) * TL_BLOCK * TL_QUAD;
}

/** The header of packed weights, for each of their output channels. */
typedef struct tl_quantized_head {
    int32_t bias[TL_BLOCK], weight_sum[TL_BLOCK];
    float factor[TL_BLOCK], addend[TL_BLOCK];
} tl_quantized_head;

/** Fills bias, factor and addend of the channels from `first` on, of `outputs` in all; each tensor
 * may be NULL. Lanes after the last one become 0. */
void tl_quantized_head_fill(tl_quantized_head *head, int first, int outputs, const tl_tensor *bias,
                            const tl_tensor *factor, const tl_tensor *addend);

/** The layout of a row of packed weights of a convolution: for each grid (conv_blocked_plan.h) a
 * head and the weights of its taps. */
typedef struct tl_quad_row {
    size_t tap, size; // bytes of the weights of a tap, and of the row
} tl_quad_row;

tl_quad_row tl_quad_row_of(const int channels[2], const tl_conv2d_param *param, int is_transposed);

/** Quantizes a float to uint8, saturated; NaN becomes 0. */
static inline uint8_t tl_quantized_byte(const tl_quantized_param *q, float v)
{
    const float shifted = rintf(v * q->dst_factor) + (float)q->dst_zero;
    return shifted > 0 ? (uint8_t)(shifted < 255 ? shifted : 255) : 0;
}

/** Zero points of weights, and the sums of source - zero that they multiply. */
typedef struct tl_quad_zeros {
    const int32_t *sums;   // of the first pixel of a line, for its first group; NULL: no zeros
    size_t group_step;     // from the sums of a group to those of the next
    int channel;           // the first output channel of the line
    int group, outputs;    // output channels of a group, and of all
    const tl_tensor *zero; // tl_quantized_param.weight_zero
} tl_quad_zeros;

/** What kernels of tiles compute at once: lines of results. The channels of each group of the
 * source (tl_quad_groups) are contiguous in a pixel. */
typedef struct tl_quad_area {
    int pixel;         // bytes of a group's pixel
    size_t pixel_step; // from the pixel of a result to that of the next
    int n_lines;
    size_t src_line_step, dst_line_step; // from a line to the next, as steps from block to block
} tl_quad_area;

/** The operands and results of a line of pixels. */
typedef struct tl_quad_job {
    int channels;          // of the source
    size_t src_block_step; // channels from a block, or a group, of them to the next
    int n_taps;
    const ptrdiff_t *taps; // for each tap: channels from the source's first pixel to its own
    int group_blocks;      // tl_quad_groups
    size_t tap_step;       // bytes from the weights of a tap of a group to those of the next
    size_t weight_step;    // bytes from a row of weights to the next
    tl_dtype dtype;        // of the result; all its steps are in elements:
    size_t dst_block_step; // from a block of output channels to the next
    size_t dst_step;       // from a pixel to the next
    tl_quad_area area;     // for kernels of tiles
    tl_quantized_param q;
    float low, high; // bounds of results: tl_act_bounds
    tl_quad_zeros zeros;
} tl_quad_job;

/** Computes `n` neighbouring pixels of one or two blocks of output channels; writes only `lanes`
 *  channels of the last block. `weight` is the first block's row. */
typedef void tl_quad_line_func(const tl_quad_job *job, const uint8_t *src, const int8_t *weight,
                               void *dst, int n, int n_blocks, int lanes);

typedef struct tl_quad_kernel {
    tl_quad_line_func *line;
    int bytes;    // that it reads for each byte of the source: 1, or 2 after tl_quad_widen
    int is_tiled; // computes areas of any number of blocks
} tl_quad_kernel;

/** The kernel for `exec`, and that for its matrix units: NULL if it has none. */
const tl_quad_kernel *tl_quad_kernel_for(const tl_exec *exec);
const tl_quad_kernel *tl_quad_tiles_for(const tl_exec *exec);

/** The bytes of a pixel of a group of channels for kernels of tiles. */
static inline int tl_quad_pixel(int channels)
{
    const tl_quad_groups g = tl_quad_groups_of(channels);
    const int quads = channels > 0 ? (channels + TL_QUAD - 1) / TL_QUAD : 1;
    return g.n > 1 ? g.blocks * TL_BLOCK : quads * TL_QUAD;
}

/** Widens the 16 channels of a pixel to 16 bits: first the even channels, then the odd ones. Only
 * for kernels of little-endian CPUs. */
static inline void tl_quad_widen(uint8_t *dst, const uint8_t *src)
{
    typedef uint16_t words __attribute__((vector_size(TL_BLOCK)));
    words pairs;
    memcpy(&pairs, src, sizeof(pairs));
    const words even = pairs & 0xff, odd = pairs >> 8;
    memcpy(dst, &even, sizeof(even));
    memcpy(dst + TL_BLOCK, &odd, sizeof(odd));
}

/** Bytes of the sums of `windows` windows over `pixels` pixels of each of `groups` groups, and of
 *  what they are computed from; SIZE_MAX: too large for the address space. */
size_t tl_quad_sums_size(size_t groups, size_t pixels, size_t windows);

/** Writes the sums of source - zero to `sums`: of each window, [group, N, OH, OW], before those of
 *  each pixel. */
void tl_quad_sum_windows(const tl_exec *exec, const tl_tensor *src, const tl_tensor *dst,
                         const tl_conv2d_param *param, const int channels[2], int zero,
                         int32_t *sums);

/** The same for each of `rows` rows of k bytes. */
void tl_quad_sum_rows(const tl_exec *exec, const uint8_t *src, size_t rows, size_t k, int zero,
                      int32_t *sums);

/** *rest = `exec` without the first `size` bytes of scratch memory; -1 with a reason: too few. */
int tl_quad_split_scratch(const tl_exec *exec, size_t size, tl_exec *rest);

/** Sets the channels of the source of a job, and what follows from their number. */
static inline void tl_quad_job_set_channels(tl_quad_job *job, int channels)
{
    job->channels = channels;
    job->group_blocks = tl_quad_groups_of(channels).blocks;
    job->tap_step = tl_quad_tap_size(channels);
}

/** A job with all fields that do not depend on shapes. */
tl_quad_job tl_quad_job_of(const tl_tensor *weight, const tl_tensor *dst,
                           const tl_quantized_param *q);

#define TL_QUANTIZED_KERNELS(ROW, arg) TL_KERNELS(ROW, arg, tl_quad, U8, DOT)
#define TL_QUANTIZED_TILES(ROW, arg)   TL_KERNELS(ROW, arg, tl_quad_tile, U8, TILE)
TL_QUANTIZED_KERNELS(TL_KERNEL_DECLARE, extern const tl_quad_kernel)
TL_QUANTIZED_TILES(TL_KERNEL_DECLARE, extern const tl_quad_kernel)
