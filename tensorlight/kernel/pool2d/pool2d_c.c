// SPDX-License-Identifier: Apache-2.0
// Pooling in plain C: the maximum for every type, the mean for floats.

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

#define TL_TEMPLATE "kernel/pool2d/maxpool2d_c.inc.h"
#include "tensor/tl_each_type.inc.h"
#undef TL_TEMPLATE

#define TL_TEMPLATE "kernel/pool2d/avgpool2d_c.inc.h"
#include "tensor/tl_each_float.inc.h"
