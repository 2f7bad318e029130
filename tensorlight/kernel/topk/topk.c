// SPDX-License-Identifier: Apache-2.0
// The largest or smallest elements along an axis: checks, choice of the kernel, threads.

#include "kernel/topk/topk.h"

#include <assert.h>

#include "kernel/tl_map.h"
#include "tensor/tl_result.h"
#include "tensorlight/tl_nn.h"

TL_KERNEL_TABLE(pick, tl_topk_func, TL_TOPK_KERNELS)

int tl_exec_topk(const tl_exec *exec, const tl_tensor *src, tl_tensor *values, tl_tensor *indices,
                 int axis, int is_smallest)
{
    assert(axis >= 0 && axis < src->ndim && values->dtype == src->dtype);
    assert(indices->dtype == TL_INT64 && indices->len == values->len);
    assert(values->dims[axis] <= src->dims[axis]);
    if (values->len == 0)
        return 0;
    tl_topk_job job = {
        src->data,  values->data, indices->data, tl_axis_of(src, axis), (size_t)values->dims[axis],
        is_smallest};
    tl_parallel(exec, job.axis.outer * job.axis.inner, TL_MAP_DEAR / job.axis.len + 1,
                pick(exec, src->dtype), &job);
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
        return tl_fail("%d elements of the %d along axis %d", k, src->dims[axis], axis);
    return tl_exec_topk(NULL, src, values, indices, axis, is_smallest);
}
