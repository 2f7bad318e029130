// SPDX-License-Identifier: Apache-2.0
// The index of the extreme along an axis: checks, choice of the kernel, threads.

#include "kernel/argreduce/argreduce.h"

#include <assert.h>

#include "kernel/tl_map.h"
#include "tensor/tl_result.h"
#include "tensorlight/tl_nn.h"

TL_KERNEL_TABLE(pick, tl_argreduce_func, TL_ARGREDUCE_KERNELS)

int tl_exec_argreduce(const tl_exec *exec, const tl_tensor *src, tl_tensor *dst, int axis,
                      int is_min, int is_last)
{
    assert(axis >= 0 && axis < src->ndim && src->dims[axis] >= 1);
    assert(dst->dtype == TL_INT64 && dst->len == src->len / src->dims[axis]);
    if (dst->len == 0)
        return 0;
    tl_argreduce_job job = {src->data, dst->data, tl_axis_of(src, axis), !!is_min, !!is_last};
    tl_parallel(exec, (size_t)dst->len, TL_MAP_CHEAP / job.axis.len + 1, pick(exec, src->dtype),
                &job);
    return 0;
}

tl_tensor *tl_tensor_argreduce(const tl_tensor *src, tl_tensor *dst, int axis, int is_min,
                               int is_last, int keepdims)
{
    if (tl_check_data(src, "src") < 0 || tl_check_axis(src, axis) < 0 ||
        tl_check_apart(dst, src) < 0)
        return NULL;
    if (src->dims[axis] == 0) {
        tl_fail("'src' has length 0 along axis %d, expected at least 1", axis);
        return NULL;
    }
    int dims[TL_MAXDIM] = {0};
    const int ndim = tl_reduce_dims(src, &axis, 1, keepdims, dims);
    tl_tensor *const result = tl_result_begin(dst, ndim, dims, TL_INT64);
    return tl_result_end(result, dst,
                         result ? tl_exec_argreduce(NULL, src, result, axis, is_min, is_last) : -1);
}
