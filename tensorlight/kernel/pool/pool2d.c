// SPDX-License-Identifier: Apache-2.0
// Pooling: the maximum for every type, the mean for floats.

#ifndef T // once

#include <assert.h>

#include "kernel/tl_axis.h"
#include "kernel/tl_kernel.h"
#include "kernel/tl_poll.h"
#include "tensor/tl_result.h"
#include "tensorlight/tl_nn.h"

// src [planes, ih, iw] -> dst [planes, oh, ow]; every window meets src.
typedef struct pool2d_job {
    const void *src;
    void *dst;
    int ih, iw, oh, ow;
    tl_pool2d_param param;
    const tl_stop *stop;
} pool2d_job;

// Computes the planes begin .. end-1 for the pool2d_job at `arg`.
typedef void pool2d_func(void *arg, size_t begin, size_t end);

// Positions of src along one axis.
typedef struct range {
    int begin, end;
} range;

// Where the window at position `at` of dst meets src; axis 0: rows, 1: columns.
static range window_at(const pool2d_job *job, int axis, int at)
{
    const int64_t in = axis ? job->iw : job->ih;
    const int64_t start = (int64_t)at * job->param.stride[axis] - job->param.padding[axis];
    const int64_t stop = start + job->param.size[axis];
    return (range){(int)(start > 0 ? start : 0), (int)(stop < in ? stop : in)};
}

static size_t area_of(range rows, range columns)
{
    return (size_t)(rows.end - rows.begin) * (size_t)(columns.end - columns.begin);
}

// Defines the kernel `work` of one type: `reduce` maps each window to a result.
#define POOL_PLANES(work, reduce)                                               \
    static void NAME(work, c)(void *arg, size_t begin, size_t end)              \
    {                                                                           \
        const pool2d_job *const job = arg;                                      \
        tl_poll poll = tl_poll_of(job->stop);                                   \
        for (size_t p = begin; p < end; p++) {                                  \
            const T *const plane = (const T *)job->src + p * job->ih * job->iw; \
            T *dst = (T *)job->dst + p * job->oh * job->ow;                     \
            for (int y = 0; y < job->oh; y++) {                                 \
                const range rows = window_at(job, 0, y);                        \
                for (int x = 0; x < job->ow; x++) {                             \
                    const range columns = window_at(job, 1, x);                 \
                    if (tl_poll_after(&poll, area_of(rows, columns)))           \
                        return;                                                 \
                    *dst++ = NAME(reduce, c)(plane, job->iw, rows, columns);    \
                }                                                               \
            }                                                                   \
        }                                                                       \
    }

#define TL_TEMPLATE "kernel/pool/pool2d.c"
#include "tensor/tl_each_type.inc.h"

TL_PLAIN_TABLE(pick_max, pool2d_func, maxpool2d, ALL)
TL_PLAIN_TABLE(pick_avg, pool2d_func, avgpool2d, FLT)

static int run(const tl_exec *exec, pool2d_func *func, const tl_tensor *src, tl_tensor *dst,
               const tl_pool2d_param *param)
{
    assert(func && src->ndim == 4 && dst->ndim == 4 && src->dtype == dst->dtype);
    assert(src->dims[0] == dst->dims[0] && src->dims[1] == dst->dims[1]);
    if (dst->len == 0)
        return 0;
    pool2d_job job = {.src = src->data,
                      .dst = dst->data,
                      .ih = src->dims[2],
                      .iw = src->dims[3],
                      .oh = dst->dims[2],
                      .ow = dst->dims[3],
                      .param = *param,
                      .stop = exec ? exec->stop : NULL};
    const size_t planes = (size_t)dst->dims[0] * dst->dims[1];
    tl_parallel(exec, planes, tl_axis_grain((size_t)src->len / planes * 4), func, &job);
    return 0;
}

int tl_exec_maxpool2d(const tl_exec *exec, const tl_tensor *src, tl_tensor *dst,
                      const tl_pool2d_param *param)
{
    return run(exec, pick_max(exec, src->dtype), src, dst, param);
}

int tl_exec_avgpool2d(const tl_exec *exec, const tl_tensor *src, tl_tensor *dst,
                      const tl_pool2d_param *param)
{
    return run(exec, pick_avg(exec, src->dtype), src, dst, param);
}

int tl_pool2d_extents(const tl_tensor *src, const tl_pool2d_param *param, int *extents)
{
    for (int i = 0; i < 2; i++) {
        const int begin = param->padding[i], end = param->padding[2 + i], size = param->size[i];
        if (begin >= size || end >= size) // a window could lie in the padding alone
            return tl_fail("the padding of axis %d is %d and %d, expected less than its 'size', %d",
                           2 + i, begin, end, size);
        extents[i] = tl_conv2d_length(src->dims[2 + i], size, param->stride[i], 1, begin, end);
        if (extents[i] < 0)
            return -1;
    }
    return 0;
}

// Checks everything and infers the shape of dst.
static int infer(const tl_tensor *src, const tl_tensor *dst, const tl_pool2d_param *param,
                 int *dims)
{
    if (tl_check_input(src, "src", 4) < 0)
        return -1;
    if (!param)
        return tl_fail("'param' is NULL, expected parameters");
    if (tl_check_at_least("size", param->size, 2, 1) < 0 ||
        tl_check_at_least("stride", param->stride, 2, 1) < 0 ||
        tl_check_at_least("padding", param->padding, 4, 0) < 0 || tl_check_apart(dst, src) < 0)
        return -1;
    dims[0] = src->dims[0];
    dims[1] = src->dims[1];
    return tl_pool2d_extents(src, param, dims + 2);
}

tl_tensor *tl_tensor_maxpool2d(const tl_tensor *src, tl_tensor *dst, const tl_pool2d_param *param)
{
    int dims[4];
    if (infer(src, dst, param, dims) < 0)
        return NULL;
    tl_tensor *const result = tl_result_begin(dst, 4, dims, src->dtype);
    return tl_result_end(result, dst, result ? tl_exec_maxpool2d(NULL, src, result, param) : -1);
}

tl_tensor *tl_tensor_avgpool2d(const tl_tensor *src, tl_tensor *dst, const tl_pool2d_param *param)
{
    int dims[4];
    if (infer(src, dst, param, dims) < 0 || tl_check_float(src, "src") < 0)
        return NULL;
    tl_tensor *const result = tl_result_begin(dst, 4, dims, src->dtype);
    return tl_result_end(result, dst, result ? tl_exec_avgpool2d(NULL, src, result, param) : -1);
}

#else // for each type

// The maximum

static T NAME(max_of, c)(const T *plane, int iw, range rows, range columns)
{
    C max = LOAD(plane[(size_t)rows.begin * iw + columns.begin]);
    for (int y = rows.begin; y < rows.end; y++) {
        const T *const row = plane + (size_t)y * iw;
        for (int x = columns.begin; x < columns.end; x++) {
            const C value = LOAD(row[x]);
            max = value > max ? value : max;
        }
    }
    return STORE(max);
}

POOL_PLANES(maxpool2d, max_of)

#if TL_IS_FLOAT
// The mean

static T NAME(mean_of, c)(const T *plane, int iw, range rows, range columns)
{
    const double count = (double)(rows.end - rows.begin) * (columns.end - columns.begin);
    double sum = 0;
    for (int y = rows.begin; y < rows.end; y++) {
        const T *const row = plane + (size_t)y * iw;
        for (int x = columns.begin; x < columns.end; x++)
            sum += (double)LOAD(row[x]);
    }
    return STORE((C)(sum / count));
}

POOL_PLANES(avgpool2d, mean_of)

#endif

#endif
