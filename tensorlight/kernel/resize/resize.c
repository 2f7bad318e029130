// SPDX-License-Identifier: Apache-2.0
// Resampling: checks, choice of the kernel, threads.

#include "kernel/resize/resize.h"

#include <assert.h>

#include "kernel/tl_map.h"
#include "tensor/tl_result.h"

TL_KERNEL_TABLE(pick_nearest, tl_resize_func, TL_RESIZE_NEAREST_KERNELS)
TL_KERNEL_TABLE(pick_linear, tl_resize_func, TL_RESIZE_LINEAR_KERNELS)

int tl_exec_resize(const tl_exec *exec, const tl_tensor *src, tl_tensor *dst, tl_resize_type rtype)
{
    tl_resize_func *const func = rtype == TL_LINEAR
                                     ? pick_linear(exec, src->dtype)
                                     : pick_nearest(exec, tl_dtype_of_size(tl_size_of(src->dtype)));
    assert(func && src->dtype == dst->dtype && src->ndim == dst->ndim);
    assert(src->len > 0 || dst->len == 0);
    if (tl_tensor_issameshape(src, dst)) // exact, also for 64-bit integers
        return tl_exec_copy(exec, src, dst);
    if (dst->len == 0)
        return 0;
    tl_resize_job job = {src->data, dst->data, src->dtype, src->ndim, {0}, {0}};
    memcpy(job.in, src->dims, (size_t)src->ndim * sizeof(int));
    memcpy(job.out, dst->dims, (size_t)dst->ndim * sizeof(int));
    const size_t width = (size_t)job.out[job.ndim - 1];
    tl_parallel(exec, (size_t)dst->len / width, TL_MAP_CHEAP / width + 1, func, &job);
    return 0;
}

static int check(const tl_tensor *src, const tl_tensor *dst, const int *new_dims,
                 tl_resize_type rtype)
{
    if (tl_check_data(src, "src") < 0 || tl_check_apart(dst, src) < 0)
        return -1;
    if (!tl_resize_type_name(rtype))
        return tl_fail("resize type %d, expected 0 to %d", rtype, TL_RESIZE_TYPE_SIZE - 1);
    if (rtype == TL_LINEAR && src->dtype == TL_BOOL)
        return tl_fail("'src' has dtype TL_BOOL, expected a number for TL_LINEAR");
    const int len = tl_compute_length(src->ndim, new_dims);
    if (len < 0)
        return -1;
    if (src->len == 0 && len > 0)
        return tl_fail("'src' is empty, expected elements to make %d of", len);
    return 0;
}

tl_tensor *tl_tensor_resize(const tl_tensor *src, tl_tensor *dst, const int *new_dims,
                            tl_resize_type rtype)
{
    if (check(src, dst, new_dims, rtype) < 0)
        return NULL;
    tl_tensor *const result = tl_result_begin(dst, src->ndim, new_dims, src->dtype);
    return tl_result_end(result, dst, result ? tl_exec_resize(NULL, src, result, rtype) : -1);
}
