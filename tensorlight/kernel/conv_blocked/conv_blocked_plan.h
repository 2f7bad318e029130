// SPDX-License-Identifier: Apache-2.0
// Shared by packing and computing a convolution in the blocked layout: the source channels of each
// block of the result, and the order of the taps; for any element type, the division of the
// computation, the preparation of the source, and the results line by line.

#pragma once

#include "kernel/conv_blocked/conv_blocked.h"

/** The channels of source and result, in groups. */
typedef struct tl_conv_groups {
    int n;
    int in, out; // of a group
    int all_out; // 0: unknown, with one group
    int shared;  // of tl_tile_job
} tl_conv_groups;

tl_conv_groups tl_conv_groups_of(const int channels[2], int group);

/** The source channels that a block of the result is summed from. */
typedef struct tl_conv_span {
    int block;           // where the first one is
    int first, channels; // they are first .. channels-1 of those from that block on
} tl_conv_span;

/** Of `n_blocks` blocks from `block` on; channels of other groups in that range have weight
 * 0. */
tl_conv_span tl_conv_span_of(const tl_conv_groups *g, int block, int n_blocks);

/** The max number of source channels over all units of `n_blocks` blocks. */
int tl_conv_max_channels(const tl_conv_groups *g, int n_blocks);

/** Whether `block` and the next one are summed from the same channels: a tile has both. */
int tl_conv_is_pair(const tl_conv_groups *g, int block);

/** The taps of a window. A transposed convolution makes every stride[0]-th line and stride[1]-th
 *  column of its result with the same taps: a grid of results. A convolution has one grid. */
typedef struct tl_conv_taps {
    int n;                      // of all grids
    int order[TL_BLOCKED_TAPS]; // the taps, y * KW + x, grid by grid
    int n_grids;                // grid g has the taps whose distance from the first one leaves the
                                // remainders g / stride[1] and g % stride[1]
    int end[TL_BLOCKED_GRIDS];  // of each grid: after its last tap in `order`
} tl_conv_taps;

/** Of a transposed convolution, or of a convolution. */
void tl_conv_taps_of(tl_conv_taps *taps, const tl_conv2d_param *param, int is_transposed);

// Computing

/** Computes `n` neighbouring results of a line, of `n_blocks` blocks of output channels from
 * `block` on: `src` is the source of the first one, `to` its element of the result, and `weights`
 * the distance in elements from the weights of the first grid to those of its grid, including
 * heads, if any. */
typedef void tl_conv_line_func(const void *arg, const tl_tile_job *tile, const void *src, int block,
                               size_t weights, size_t to, int n, int n_blocks);

/** `n` pixels of a block of the source, `step` pixels apart, each prepared as one of twice its
 *  bytes. */
typedef void tl_conv_widen_func(void *dst, const void *src, size_t n, size_t step);

/** The parameters of a kind of convolution. */
typedef struct tl_conv_kind {
    size_t size;               // bytes of an element that lines read
    tl_conv_widen_func *widen; // creates these elements; NULL: the source has them
    int lanes;   // elements of a pixel of a block, or of a plane: 4, 16, 32 or 64 bytes
    int fill;    // the value of each byte of padding
    size_t row;  // elements of the packed weights of a block of output channels
    size_t head; // of these, the head before the weights of each grid, if any
    size_t tap;  // and the weights of a tap
    int is_transposed;
    tl_conv_line_func *line;
    const void *arg;
} tl_conv_kind;

/** Bytes of scratch memory for `threads` threads; SIZE_MAX: larger than the address space. */
size_t tl_conv_scratch(const tl_conv_kind *kind, const tl_tensor *src, const tl_tensor *dst,
                       const tl_conv2d_param *param, const int channels[2], int threads);

/** -1 with a reason when exec is NULL or has less scratch memory than for one thread. */
int tl_conv_run(const tl_exec *exec, const tl_conv_kind *kind, const tl_tensor *src,
                const tl_tensor *dst, const tl_conv2d_param *param, const int channels[2]);
