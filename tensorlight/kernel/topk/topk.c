// SPDX-License-Identifier: Apache-2.0
// The largest or smallest elements along an axis: checks, choice of the kernels, threads.

#include "kernel/topk/topk.h"

#include <assert.h>

#include "tensor/tl_result.h"
#include "tensorlight/tl_nn.h"
#include "tensorlight/tl_shape.h"

TL_KERNEL_TABLE(pick_rank, tl_topk_keys, TL_TOPK_KEYS)
TL_KERNEL_TABLE(pick, tl_topk_func, TL_TOPK_KERNELS)

static int is_wide(const tl_tensor *src)
{
    return tl_size_of(src->dtype) == sizeof(int64_t);
}

// The candidates twice, each a key and an index, and copied lines.
static size_t slot_size(const tl_tensor *src, int axis, int k)
{
    const tl_axis a = tl_axis_of(src, axis);
    const size_t item = 2 * (is_wide(src) ? sizeof(int64_t) : sizeof(int32_t));
    return 2 * tl_topk_room(a.len, (size_t)k) * item +
           (tl_topk_copied(a.len, a.inner) * tl_size_of(src->dtype) + 15) / 16 * 16;
}

size_t tl_topk_scratch(const tl_tensor *src, int axis, int k, int threads)
{
    return tl_slots_size(slot_size(src, axis, k), threads);
}

int tl_exec_topk(const tl_exec *exec, const tl_tensor *src, tl_tensor *values, tl_tensor *indices,
                 int axis, int is_smallest)
{
    assert(axis >= 0 && axis < src->ndim && values->dtype == src->dtype);
    assert(indices->dtype == TL_INT64 && indices->len == values->len);
    assert(values->dims[axis] <= src->dims[axis]);
    if (values->len == 0)
        return 0;
    if (values->dims[axis] == 1 && !is_smallest)
        return -(tl_exec_argreduce(exec, src, indices, axis, 0, 0) < 0 ||
                 tl_exec_take_along(exec, src, indices, values, axis) < 0);
    tl_topk_job job = {.src = src->data,
                       .values = values->data,
                       .indices = indices->data,
                       .axis = tl_axis_of(src, axis),
                       .k = (size_t)values->dims[axis],
                       .size = tl_size_of(src->dtype),
                       .slot_size = slot_size(src, axis, values->dims[axis]),
                       .keys = pick_rank(exec, src->dtype),
                       .transpose = tl_transpose_pick(exec, tl_size_of(src->dtype)),
                       .is_smallest = is_smallest,
                       .stop = exec ? exec->stop : NULL};
    if (tl_check_scratch(exec, job.slot_size, "to select elements") < 0)
        return -1;
    job.slots = exec->scratch;
    const size_t units = tl_ceil_div(job.axis.outer * job.axis.inner, tl_topk_unit(&job.axis));
    tl_parallel_slots(exec, units, exec->scratch_size / job.slot_size,
                      pick(exec, is_wide(src) ? TL_INT64 : TL_INT32), &job);
    return 0;
}

int tl_tensor_topk(const tl_tensor *src, tl_tensor *values, tl_tensor *indices, int axis,
                   int is_smallest)
{
    if (tl_check_data(src, "src") < 0 || tl_check_axis(src, axis) < 0 ||
        tl_check_data(values, "values") < 0 || tl_check_data(indices, "indices") < 0 ||
        tl_check_apart(values, src) < 0 || tl_check_apart(indices, src) < 0 ||
        tl_check_apart(values, indices) < 0)
        return -1;
    const int k = axis < values->ndim ? values->dims[axis] : 0;
    int dims[TL_MAXDIM];
    tl_dims_with(dims, src, axis, k);
    if (tl_check_given(values, "values", src->ndim, dims, src->dtype) < 0 ||
        tl_check_given(indices, "indices", src->ndim, dims, TL_INT64) < 0)
        return -1;
    if (k > src->dims[axis])
        return tl_fail("'values' has length %d along axis %d, expected at most %d", k, axis,
                       src->dims[axis]);
    if (values->len == 0)
        return 0;
    const tl_exec exec = tl_result_exec(tl_topk_scratch(src, axis, k, 1));
    if (!exec.scratch)
        return -1;
    const int status = tl_exec_topk(&exec, src, values, indices, axis, is_smallest);
    tl_free(exec.scratch);
    return status;
}
