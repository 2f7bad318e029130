// SPDX-License-Identifier: Apache-2.0
// Convolution and deconvolution.
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
// order for all tiles.

#ifndef T // once

#include <assert.h>
#include <limits.h>

#include "kernel/act/act.h"
#include "kernel/tl_axis.h"
#include "kernel/tl_kernel.h"
#include "kernel/tl_windows.h"
#include "tensor/tl_result.h"
#include "tensorlight/tl_nn.h"

// Shapes: src [n, group * ic, ih, iw], dst [n, group * oc, oh, ow], oh and ow >= 1; weight
// [group * oc, ic, KH, KW], of a deconvolution [group * ic, oc, KH, KW]; bias [group * oc] or
// NULL.
typedef struct conv2d_job {
    const void *src, *weight, *bias;
    void *dst;
    int ic, ih, iw; // channels of a group
    int oc, oh, ow; // channels of a group
    tl_conv2d_param param;
    const tl_stop *stop; // looked at before each tile
} conv2d_job;

// Computes the planes (image and channel) begin .. end-1 of dst for the conv2d_job at `arg`,
// without the activation.
typedef void conv2d_func(void *arg, size_t begin, size_t end);

enum { TILE_SIZE = 1024, BLOCK = 4 };

typedef struct rectangle {
    int y, x; // its place in the plane of dst
    int height, width;
} rectangle;

// Axis 0: rows, 1: columns; the tile has `len` positions from `start`.
static tl_window_meeting meet(const conv2d_job *job, int is_transposed, int axis, int start,
                              int len, int tap)
{
    const int in = axis ? job->iw : job->ih;
    const int64_t shift = (int64_t)tap * job->param.dilation[axis] - job->param.padding[axis];
    return tl_window_meet(is_transposed, in, job->param.stride[axis], shift, start, len);
}

// The index of the weight of tap [i, j] between channel `c` of a group and channel `oc` of dst.
static size_t weight_index(const conv2d_job *job, int is_transposed, int c, int oc, int i, int j)
{
    const size_t group = (size_t)(oc / job->oc);
    const size_t plane =
        is_transposed ? (group * job->ic + c) * job->oc + oc % job->oc : (size_t)oc * job->ic + c;
    return (plane * job->param.size[0] + i) * job->param.size[1] + j;
}

#define TL_TEMPLATE "kernel/conv/conv2d.c"
#include "tensor/tl_each_float.inc.h"

TL_PLAIN_TABLE(pick_conv2d, conv2d_func, conv2d, FLT)
TL_PLAIN_TABLE(pick_deconv2d, conv2d_func, deconv2d, FLT)

// Lengths

// -1 with a reason: one of them is below 1.
static int check_window(int in, int size, int stride, int dilation)
{
    if (in < 1 || size < 1 || stride < 1 || dilation < 1)
        return tl_fail("length %d, size %d, stride %d, dilation %d, expected all at least 1", in,
                       size, stride, dilation);
    return 0;
}

static int check_length(int64_t len)
{
    if (len < 1 || len > INT_MAX)
        return tl_fail("the result has length %lld, expected 1 to %d", (long long)len, INT_MAX);
    return (int)len;
}

int tl_conv2d_length(int in, int size, int stride, int dilation, int begin, int end)
{
    if (check_window(in, size, stride, dilation) < 0)
        return -1;
    const int64_t window = (int64_t)(size - 1) * dilation + 1;
    const int64_t padded = (int64_t)in + begin + end;
    if (padded < window)
        return tl_fail("length %d with padding %d and %d, expected at least the window's %lld", in,
                       begin, end, (long long)window);
    return check_length((padded - window) / stride + 1);
}

int tl_deconv2d_length(int in, int size, int stride, int dilation, int begin, int end,
                       int output_padding)
{
    if (check_window(in, size, stride, dilation) < 0)
        return -1;
    // Fits: two products below 2^62 - 2^32, and less than 2^33 besides.
    const int64_t window = (int64_t)(size - 1) * dilation + 1;
    return check_length((int64_t)stride * (in - 1) + output_padding + window - begin - end);
}

tl_conv2d_param tl_conv2d_param_of(int group, const int *size, const int *stride,
                                   const int *dilation, const int *padding)
{
    return (tl_conv2d_param){.group = group,
                             .size = {size[0], size[1]},
                             .stride = {stride[0], stride[1]},
                             .dilation = {dilation[0], dilation[1]},
                             .padding = {padding[0], padding[1], padding[2], padding[3]}};
}

int tl_conv2d_extents(const tl_tensor *src, const tl_conv2d_param *p, int is_transposed,
                      int *extents)
{
    for (int i = 0; i < 2; i++) {
        const int in = src->dims[2 + i], begin = p->padding[i], end = p->padding[2 + i];
        extents[i] =
            is_transposed
                ? tl_deconv2d_length(in, p->size[i], p->stride[i], p->dilation[i], begin, end,
                                     p->output_padding[i])
                : tl_conv2d_length(in, p->size[i], p->stride[i], p->dilation[i], begin, end);
        if (extents[i] < 0)
            return -1;
    }
    return 0;
}

// Shared by both directions

static void run(const tl_exec *exec, conv2d_func *func, const tl_tensor *src,
                const tl_tensor *weight, const tl_tensor *bias, tl_tensor *dst,
                const tl_conv2d_param *param)
{
    if (dst->len == 0)
        return;
    conv2d_job job = {.src = src->data,
                      .weight = weight->data,
                      .bias = bias ? bias->data : NULL,
                      .dst = dst->data,
                      .ic = src->dims[1] / param->group,
                      .ih = src->dims[2],
                      .iw = src->dims[3],
                      .oc = dst->dims[1] / param->group,
                      .oh = dst->dims[2],
                      .ow = dst->dims[3],
                      .param = *param,
                      .stop = exec ? exec->stop : NULL};
    const int is_pointwise = param->size[0] == 1 && param->size[1] == 1 && param->stride[0] == 1 &&
                             param->stride[1] == 1 && param->padding[0] == 0 &&
                             param->padding[1] == 0 && job.ih == job.oh && job.iw == job.ow;
    if (is_pointwise) { // a plane of windows that touch nothing else is one long row
        job.iw = job.ow = job.oh * job.ow;
        job.ih = job.oh = 1;
    }
    const size_t planes = (size_t)dst->dims[0] * dst->dims[1];
    const double sums = (double)weight->len / dst->dims[1] * job.oh * job.ow;
    tl_act_parallel(exec, planes, tl_axis_grain(sums < 1e6 ? (size_t)sums : 1000000), func, &job,
                    dst, param->act);
}

// As of windows over n axes.
static int check(const tl_tensor *src, const tl_tensor *weight, const tl_tensor *bias,
                 const tl_conv2d_param *param, int is_transposed, int *dims)
{
    if (!param)
        return tl_fail("'param' is NULL, expected parameters");
    const tl_windows windows =
        tl_windows_of(2, param->size, param->stride, param->dilation, param->padding);
    if (tl_act_check(param->act) < 0)
        return -1;
    return tl_check_conv(src, weight, bias, &windows, param->group, is_transposed, dims);
}

// Convolution

int tl_exec_conv2d(const tl_exec *exec, const tl_tensor *src, const tl_tensor *weight,
                   const tl_tensor *bias, tl_tensor *dst, const tl_conv2d_param *param)
{
    assert(src->ndim == 4 && weight->ndim == 4 && dst->ndim == 4);
    assert(dst->dims[0] == src->dims[0] && dst->dims[1] == weight->dims[0]);
    assert(weight->dims[1] * param->group == src->dims[1] && dst->dims[1] % param->group == 0);
    assert(src->dtype == dst->dtype && src->dtype == weight->dtype);
    assert(!bias || (bias->dtype == src->dtype && bias->len == dst->dims[1]));
    run(exec, pick_conv2d(exec, src->dtype), src, weight, bias, dst, param);
    return 0;
}

int tl_conv2d_shape(const tl_tensor *src, const tl_tensor *weight, const tl_tensor *bias,
                    const tl_conv2d_param *param, int *dims)
{
    if (check(src, weight, bias, param, 0, dims) < 0 ||
        tl_check_at_least("padding", param->padding, 4, 0) < 0)
        return -1;
    return tl_conv2d_extents(src, param, 0, dims + 2);
}

tl_tensor *tl_tensor_conv2d(const tl_tensor *src, const tl_tensor *weight, const tl_tensor *bias,
                            tl_tensor *dst, const tl_conv2d_param *param)
{
    int dims[4];
    if (tl_check_conv_data(src, weight, bias, dst) < 0 ||
        tl_conv2d_shape(src, weight, bias, param, dims) < 0)
        return NULL;
    tl_tensor *const result = tl_result_begin(dst, 4, dims, src->dtype);
    return tl_result_end(result, dst,
                         result ? tl_exec_conv2d(NULL, src, weight, bias, result, param) : -1);
}

// Deconvolution

int tl_exec_deconv2d(const tl_exec *exec, const tl_tensor *src, const tl_tensor *weight,
                     const tl_tensor *bias, tl_tensor *dst, const tl_conv2d_param *param)
{
    assert(src->ndim == 4 && weight->ndim == 4 && dst->ndim == 4);
    assert(dst->dims[0] == src->dims[0] && dst->dims[1] == weight->dims[1] * param->group);
    assert(weight->dims[0] == src->dims[1] && src->dims[1] % param->group == 0);
    assert(src->dtype == dst->dtype && src->dtype == weight->dtype);
    assert(!bias || (bias->dtype == src->dtype && bias->len == dst->dims[1]));
    run(exec, pick_deconv2d(exec, src->dtype), src, weight, bias, dst, param);
    return 0;
}

int tl_deconv2d_shape(const tl_tensor *src, const tl_tensor *weight, const tl_tensor *bias,
                      const tl_conv2d_param *param, int *dims)
{
    if (check(src, weight, bias, param, 1, dims) < 0 ||
        tl_check_at_least("output_padding", param->output_padding, 2, 0) < 0)
        return -1;
    return tl_conv2d_extents(src, param, 1, dims + 2);
}

tl_tensor *tl_tensor_deconv2d(const tl_tensor *src, const tl_tensor *weight, const tl_tensor *bias,
                              tl_tensor *dst, const tl_conv2d_param *param)
{
    int dims[4];
    if (tl_check_conv_data(src, weight, bias, dst) < 0 ||
        tl_deconv2d_shape(src, weight, bias, param, dims) < 0)
        return NULL;
    tl_tensor *const result = tl_result_begin(dst, 4, dims, src->dtype);
    return tl_result_end(result, dst,
                         result ? tl_exec_deconv2d(NULL, src, weight, bias, result, param) : -1);
}

#else // for each type

// acc[k * acc_step] += the sum of w[b] * src[b * plane + k * src_step] over b < n_planes, one
// after the other, for k < n.
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

// Adds the contribution of one tap to the tile from `n_planes` planes of src.
static void NAME(add_tap, c)(const conv2d_job *job, C *acc, int acc_width, const T *src,
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

// Adds the contribution of channels c .. c+n_planes-1 of the group of `oc` to the tile; src is the
// first one's plane.
static void NAME(add_channels, c)(const conv2d_job *job, int is_transposed, const T *src, int c,
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

// Sums a tile of plane `oc` of image `n`: the bias, then block after block of channels.
static void NAME(sum_tile, c)(const conv2d_job *job, int is_transposed, size_t n, int oc,
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
        const int n_planes = tl_min(BLOCK, job->ic - c);
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

static void NAME(sum_planes, c)(const conv2d_job *job, int is_transposed, size_t begin, size_t end)
{
    const int oc = job->oc * job->param.group;
    const int width = job->ow < TILE_SIZE ? job->ow : TILE_SIZE;
    const int height = TILE_SIZE / width;
    C acc[TILE_SIZE];
    for (size_t p = begin; p < end; p++)
        for (int y = 0; y < job->oh; y += height)
            for (int x = 0; x < job->ow && !tl_stop_is_requested(job->stop); x += width) {
                const rectangle tile = {y, x, tl_min(height, job->oh - y),
                                        tl_min(width, job->ow - x)};
                NAME(sum_tile, c)(job, is_transposed, p / oc, (int)(p % oc), tile, acc);
                NAME(store_tile, c)((T *)job->dst + p * job->oh * job->ow, job->ow, tile, acc);
            }
}

static void NAME(conv2d, c)(void *arg, size_t begin, size_t end)
{
    NAME(sum_planes, c)(arg, 0, begin, end);
}

static void NAME(deconv2d, c)(void *arg, size_t begin, size_t end)
{
    NAME(sum_planes, c)(arg, 1, begin, end);
}

#endif
