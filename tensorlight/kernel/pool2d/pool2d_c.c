// SPDX-License-Identifier: Apache-2.0
// Pooling in plain C: the maximum for every type, the mean for floats.

#ifndef T // once

#include "kernel/pool2d/pool2d.h"

/** Positions of src along one axis. */
typedef struct range {
    int begin, end;
} range;

/** Where the window at position `at` of dst meets src; axis 0: rows, 1: columns. */
static range window_at(const tl_pool2d_job *job, int axis, int at)
{
    const int64_t in = axis ? job->iw : job->ih;
    const int64_t start = (int64_t)at * job->param.stride[axis] - job->param.padding[axis];
    const int64_t stop = start + job->param.size[axis];
    return (range){(int)(start > 0 ? start : 0), (int)(stop < in ? stop : in)};
}

/** Defines the kernel `work` of one type: each window becomes what `reduce` makes of it. */
#define POOL_PLANES(work, reduce)                                                         \
    void NAME(work, c)(void *arg, size_t begin, size_t end)                               \
    {                                                                                     \
        const tl_pool2d_job *const job = arg;                                             \
        for (size_t p = begin; p < end; p++) {                                            \
            const T *const plane = (const T *)job->src + p * job->ih * job->iw;           \
            T *dst = (T *)job->dst + p * job->oh * job->ow;                               \
            for (int y = 0; y < job->oh; y++) {                                           \
                if (tl_stop_is_requested(job->stop))                                      \
                    return;                                                               \
                const range rows = window_at(job, 0, y);                                  \
                for (int x = 0; x < job->ow; x++)                                         \
                    *dst++ = NAME(reduce, c)(plane, job->iw, rows, window_at(job, 1, x)); \
            }                                                                             \
        }                                                                                 \
    }

#define TL_TEMPLATE "kernel/pool2d/pool2d_c.c"
#include "tensor/tl_each_type.inc.h"

#else // for each type

/* ---- the maximum ---- */

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

POOL_PLANES(tl_maxpool2d, max_of)

#if TL_IS_FLOAT
/* ---- the mean ---- */

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

POOL_PLANES(tl_avgpool2d, mean_of)

#endif

#endif
