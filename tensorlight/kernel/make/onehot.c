// SPDX-License-Identifier: Apache-2.0
// Indices as rows in which one element stands out.

#include <assert.h>

#include "kernel/tl_axis.h"
#include "kernel/tl_map.h"
#include "tensorlight/tl_shape.h"

enum { BUFFER = 256 };

typedef struct onehot {
    const tl_tensor *index;
    const void *on;
    tl_tensor *dst;
    tl_axis view; /* of dst along the new axis */
} onehot;

static void mark(const onehot *o, size_t i, int64_t index)
{
    const int64_t depth = (int64_t)o->view.len, at = index < 0 ? index + depth : index;
    if (at < 0 || at >= depth)
        return;
    const size_t place = (i / o->view.inner * o->view.len + (size_t)at) * o->view.inner;
    tl_pointer_assign(o->dst->data, (ptrdiff_t)(place + i % o->view.inner), o->on, 0,
                      o->dst->dtype);
}

static void mark_range(void *arg, size_t begin, size_t end)
{
    const onehot *const o = arg;
    int64_t buffer[BUFFER];
    for (size_t i = begin; i < end; i += BUFFER) {
        const size_t n = end - i < BUFFER ? end - i : BUFFER;
        tl_convert_array(buffer, TL_INT64,
                         tl_pointer_add(o->index->data, (ptrdiff_t)i, o->index->dtype),
                         o->index->dtype, n);
        for (size_t k = 0; k < n; k++)
            mark(o, i + k, buffer[k]);
    }
}

int tl_exec_onehot(const tl_exec *exec, const tl_tensor *index, const tl_tensor *values,
                   tl_tensor *dst, int axis)
{
    assert(values->dtype == dst->dtype && values->len == 2 && index->ndim + 1 == dst->ndim);
    onehot o = {index, tl_pointer_add(values->data, 1, values->dtype), dst, tl_axis_of(dst, axis)};
    tl_exec_fill(exec, dst, values->data);
    if (dst->len > 0)
        tl_parallel(exec, (size_t)index->len, TL_GRAIN_COMPUTE_BOUND, mark_range, &o);
    return 0;
}
