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

#define TL_TEMPLATE "kernel/conv2d/conv2d_c.inc.h"
#include "tensor/tl_each_float.inc.h"
