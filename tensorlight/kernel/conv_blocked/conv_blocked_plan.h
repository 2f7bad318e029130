// SPDX-License-Identifier: Apache-2.0
// Shared by packing and computing a convolution in the blocked layout, for any element type: the
// source channels of each block of the result, the order of the taps, the partition of the work,
// and the padded copies of the source. A callback computes the results line by line.

#pragma once

#include "kernel/conv_blocked/conv_blocked.h"

/** The channels of source and result, in groups. */
typedef struct tl_conv_groups {
    int n;
    int in, out;     // of a group
    int all_out;     // channels of all groups; 0: unknown, only with one group
    int group_lanes; // of tl_tile_job
} tl_conv_groups;

tl_conv_groups tl_conv_groups_of(const int channels[2], int group);

/** The source channels that a block of the result is summed from. */
typedef struct tl_conv_span {
    int block;           // the source block of the first one
    int first, channels; // channels first .. channels-1, counted from the start of that block
} tl_conv_span;

/** The span of `n_blocks` blocks of the result from `block` on. Channels of other groups within it
 *  have weight 0. */
tl_conv_span tl_conv_span_of(const tl_conv_groups *g, int block, int n_blocks);

/** The max number of source channels over all units of `n_blocks` blocks. */
int tl_conv_max_channels(const tl_conv_groups *g, int n_blocks);

/** Whether `block` and the next one have the same span, so that one tile computes both. */
int tl_conv_is_pair(const tl_conv_groups *g, int block);

/** The taps of a window. In a transposed convolution, the results of every stride[0]-th line and
 *  stride[1]-th column have the same taps: a grid, or polyphase component. A convolution has one
 *  grid. */
typedef struct tl_conv_taps {
    int n;                      // of all grids
    int order[TL_BLOCKED_TAPS]; // the taps, y * KW + x, grid by grid
    int n_grids; // grid g has the taps with y * dilation[0] % stride[0] == g / stride[1] and
                 // x * dilation[1] % stride[1] == g % stride[1]
    int end[TL_BLOCKED_GRIDS]; // of each grid: the index after its last tap in `order`
} tl_conv_taps;

/** Fills the taps of a convolution, or of a transposed one. */
void tl_conv_taps_of(tl_conv_taps *taps, const tl_conv2d_param *param, int is_transposed);

// Computing

/** Computes `n` neighbouring results of a line, of `n_blocks` blocks of output channels from
 * `block` on. `src` is the source of the first result and `dst_offset` its element; `weight_offset`
 * leads from the weights of the first grid to those of its grid, in elements including heads. */
typedef void tl_conv_line_func(const void *arg, const tl_tile_job *tile, const void *src, int block,
                               size_t weight_offset, size_t dst_offset, int n, int n_blocks);

/** Copies `n` pixels of a block of the source, `step` pixels apart, widening each to twice its
 *  bytes. */
typedef void tl_conv_widen_func(void *dst, const void *src, size_t n, size_t step);

/** The parameters of a kind of convolution. */
typedef struct tl_conv_kind {
    size_t size;               // bytes of an element that `line` reads
    tl_conv_widen_func *widen; // converts the source to these; NULL: the source has them already
    int lanes;       // elements of a pixel of a block, or of a plane: 4, 16, 32 or 64 bytes, or, if
                     // blocks are joined, a multiple of 4 up to 64
    int joined;      // blocks whose pixels are copied to one pixel of `lanes`; 0: none. The span
                     // of each of several groups begins with a multiple of them
    int block_bytes; // if joined: of a pixel of a block of the source
    int is_area;     // `line` computes lines, of any number of blocks (tl_tile_job)
    int fill;        // the value of each byte of padding
    size_t row_len;  // elements of the packed weights of a block of output channels
    size_t head_len; // of these, the head before the weights of each grid, if any
    size_t tap_len;  // and the weights of a tap
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
