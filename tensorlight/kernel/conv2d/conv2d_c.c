// SPDX-License-Identifier: Apache-2.0
// Convolution and deconvolution in plain C: the definition of both.
//
// A plane of dst is computed tile by tile: up to TILE_SIZE sums, kept on the stack in the compute
// type. Each tap of the kernel then meets a rectangle of src and a rectangle of the tile, which are
// multiplied and added row by row, BLOCK channels at a time, so that a sum is fetched once for four
// products. Along one axis, tap k joins
//
//     convolution:    src position = dst position * stride + k * dilation - padding
//     deconvolution:  dst position = src position * stride + k * dilation - padding
//
// so that either is the other with the roles exchanged, and one template serves both. A sum begins
// with the bias and runs over blocks of channels, in a block over row, column and channel: the same
// order whatever the tiles.

#ifndef T // once

#include "kernel/conv2d/conv2d.h"
#include "kernel/tl_window.h"

enum { TILE_SIZE = 1024, BLOCK = 4 };

typedef struct rectangle {
    int y, x; /* its place in the plane of dst */
    int height, width;
} rectangle;

/** Axis 0: rows, 1: columns; the tile has `len` positions from `start`. */
static tl_window_meeting meet(const tl_conv2d_job *job, int is_transposed, int axis, int start,
                              int len, int tap)
{
    const int in = axis ? job->iw : job->ih;
    const int64_t shift = (int64_t)tap * job->param.dilation[axis] - job->param.padding[axis];
    return tl_window_meet(is_transposed, in, job->param.stride[axis], shift, start, len);
}

/** The index of the weight of tap [i, j] between channel `c` of a group and channel `oc` of dst. */
static size_t weight_index(const tl_conv2d_job *job, int is_transposed, int c, int oc, int i, int j)
{
    const size_t group = (size_t)(oc / job->oc);
    const size_t plane =
        is_transposed ? (group * job->ic + c) * job->oc + oc % job->oc : (size_t)oc * job->ic + c;
    return (plane * job->param.size[0] + i) * job->param.size[1] + j;
}

#define TL_TEMPLATE "kernel/conv2d/conv2d_c.c"
#include "tensor/tl_each_float.inc.h"

#else // for each type

/** acc[k * acc_step] += the sum of w[b] * src[b * plane + k * src_step] over b < n_planes, one
 *  after the other, for k < n. */
static void NAME(add_row, c)(C *restrict acc, ptrdiff_t acc_step, const T *restrict src,
                             ptrdiff_t src_step, ptrdiff_t n, size_t plane, const C *w,
                             int n_planes)
{
    if (n_planes == BLOCK && acc_step == 1 && src_step == 1) { // becomes vector code
        const T *restrict src1 = src + plane, *restrict src2 = src1 + plane;
        const T *restrict src3 = src2 + plane;
        const C w0 = w[0], w1 = w[1], w2 = w[2], w3 = w[3];
        for (ptrdiff_t k = 0; k < n; k++)
            acc[k] = acc[k] + w0 * LOAD(src[k]) + w1 * LOAD(src1[k]) + w2 * LOAD(src2[k]) +
                     w3 * LOAD(src3[k]);
        return;
    }
    for (int b = 0; b < n_planes; b++, src += plane) {
        if (acc_step == 1 && src_step == 1)
            for (ptrdiff_t k = 0; k < n; k++)
                acc[k] += w[b] * LOAD(src[k]);
        else
            for (ptrdiff_t k = 0; k < n; k++)
                acc[k * acc_step] += w[b] * LOAD(src[k * src_step]);
    }
}

/** Adds what one tap contributes to the tile from `n_planes` planes of src. */
static void NAME(add_tap, c)(const tl_conv2d_job *job, C *acc, int acc_width, const T *src,
                             tl_window_meeting rows, tl_window_meeting columns, const C *w,
                             int n_planes)
{
    if (columns.begin == columns.end)
        return;
    const size_t plane = (size_t)job->ih * job->iw;
    acc += columns.begin * columns.acc_step + columns.acc_offset;
    src += columns.begin * columns.src_step + columns.src_offset;
    const ptrdiff_t n = columns.end - columns.begin;
    for (int64_t y = rows.begin; y < rows.end; y++) {
        C *const to = acc + (y * rows.acc_step + rows.acc_offset) * acc_width;
        const T *const from = src + (y * rows.src_step + rows.src_offset) * job->iw;
        NAME(add_row, c)(to, columns.acc_step, from, columns.src_step, n, plane, w, n_planes);
    }
}

/** Adds what the channels c .. c+n_planes-1 of the group of `oc` contribute to the tile; src is
 *  the first one's plane. */
static void NAME(add_channels, c)(const tl_conv2d_job *job, int is_transposed, const T *src, int c,
                                  int n_planes, int oc, rectangle tile, C *acc)
{
    const T *const weight = job->weight;
    const int kh = job->param.size[0], kw = job->param.size[1];
    for (int i = 0; i < kh; i++) {
        const tl_window_meeting rows = meet(job, is_transposed, 0, tile.y, tile.height, i);
        for (int j = 0; j < kw; j++) {
            const tl_window_meeting columns = meet(job, is_transposed, 1, tile.x, tile.width, j);
            C w[BLOCK];
            for (int b = 0; b < n_planes; b++)
                w[b] = LOAD(weight[weight_index(job, is_transposed, c + b, oc, i, j)]);
            NAME(add_tap, c)(job, acc, tile.width, src, rows, columns, w, n_planes);
        }
    }
}

/** Sums a tile of plane `oc` of image `n`: the bias, then block after block of channels. */
static void NAME(sum_tile, c)(const tl_conv2d_job *job, int is_transposed, size_t n, int oc,
                              rectangle tile, C *acc)
{
    const T *const bias = job->bias;
    const C first = bias ? LOAD(bias[oc]) : 0;
    for (int k = 0; k < tile.height * tile.width; k++)
        acc[k] = first;
    const size_t group = n * job->param.group + oc / job->oc;
    const size_t plane = (size_t)job->ih * job->iw;
    for (int c = 0; c < job->ic; c += BLOCK) {
        const T *const src = (const T *)job->src + (group * job->ic + c) * plane;
        const int n_planes = tl_smaller(BLOCK, job->ic - c);
        NAME(add_channels, c)(job, is_transposed, src, c, n_planes, oc, tile, acc);
    }
}

static void NAME(store_tile, c)(T *plane, int ow, rectangle tile, const C *acc)
{
    for (int y = 0; y < tile.height; y++) {
        T *row = plane + (size_t)(tile.y + y) * ow + tile.x;
        for (int x = 0; x < tile.width; x++)
            row[x] = STORE(acc[y * tile.width + x]);
    }
}

static void NAME(sum_planes, c)(const tl_conv2d_job *job, int is_transposed, size_t begin,
                                size_t end)
{
    const int oc = job->oc * job->param.group;
    const int width = job->ow < TILE_SIZE ? job->ow : TILE_SIZE;
    const int height = TILE_SIZE / width;
    C acc[TILE_SIZE];
    for (size_t p = begin; p < end; p++)
        for (int y = 0; y < job->oh; y += height)
            for (int x = 0; x < job->ow && !tl_stop_is_requested(job->stop); x += width) {
                const rectangle tile = {y, x, tl_smaller(height, job->oh - y),
                                        tl_smaller(width, job->ow - x)};
                NAME(sum_tile, c)(job, is_transposed, p / oc, (int)(p % oc), tile, acc);
                NAME(store_tile, c)((T *)job->dst + p * job->oh * job->ow, job->ow, tile, acc);
            }
}

void NAME(tl_conv2d, c)(void *arg, size_t begin, size_t end)
{
    NAME(sum_planes, c)(arg, 0, begin, end);
}

void NAME(tl_deconv2d, c)(void *arg, size_t begin, size_t end)
{
    NAME(sum_planes, c)(arg, 1, begin, end);
}

#endif
