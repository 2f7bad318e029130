// SPDX-License-Identifier: Apache-2.0
// Convolution in the blocked layout for any element type: divides the computation, prepares the
// source, and computes the results line by line.

#ifndef BLOCKCONV_RUN_H
#define BLOCKCONV_RUN_H

#include "kernel/blockconv/blockconv.h"

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
    size_t size;               /* bytes of an element that lines read */
    tl_conv_widen_func *widen; /* creates these elements; NULL: the source has them */
    int lanes;   /* elements of a pixel of a block, or of a plane: 4, 16, 32 or 64 bytes */
    int fill;    /* the value of each byte of padding */
    size_t row;  /* elements of the packed weights of a block of output channels */
    size_t head; /* of these, the head before the weights of each grid, if any */
    size_t tap;  /* and the weights of a tap */
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

#endif
