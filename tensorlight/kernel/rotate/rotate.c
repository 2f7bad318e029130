// SPDX-License-Identifier: Apache-2.0
// Rotations by angles: checks, and how the work is divided.

#include "kernel/rotate/rotate.h"

#include <assert.h>

#include "kernel/tl_axis.h"
#include "tensor/tl_result.h"
#include "tensorlight/tl_attention.h"
#include "tensorlight/tl_linalg.h"
#include "tensorlight/tl_util.h"

TL_KERNEL_TABLE(pick, tl_rotate_func, TL_ROTATE_KERNELS)

int tl_rotate_check(const tl_tensor *src, const tl_tensor *cosines, const tl_tensor *sines)
{
    const int last = src->ndim - 1;
    int dims[TL_MAXDIM];
    if (tl_check_float(src, "src") < 0)
        return -1;
    if (src->ndim < 1 || src->dims[last] % 2 != 0)
        return tl_fail("'src' has a last axis of length %d, expected an even number",
                       src->ndim ? src->dims[last] : 1);
    for (int i = 0; i < last; i++)
        dims[i] = src->dims[i];
    const int is_whole = cosines->ndim > 0 && cosines->dims[cosines->ndim - 1] == src->dims[last];
    dims[last] = is_whole ? src->dims[last] : src->dims[last] / 2;
    if (cosines->dtype != src->dtype || sines->dtype != src->dtype)
        return tl_fail("'cosines' are of %s and 'sines' of %s, expected %s as 'src'",
                       tl_dtype_name(cosines->dtype), tl_dtype_name(sines->dtype),
                       tl_dtype_name(src->dtype));
    if (tl_broadcast_check(cosines, "cosines", src->ndim, dims) < 0)
        return -1;
    if (cosines->ndim == 0 || cosines->dims[cosines->ndim - 1] != dims[last])
        return tl_fail("'cosines' has a last axis of length %d, expected %d or %d",
                       cosines->ndim ? cosines->dims[cosines->ndim - 1] : 1, src->dims[last] / 2,
                       src->dims[last]);
    if (!tl_tensor_issameshape(cosines, sines))
        return tl_fail("'cosines' and 'sines' have different shapes, expected the same");
    return 0;
}

// Sets the axes of rows, and the steps of cosines along them.
static void set_axes(tl_rotate_job *job, const tl_tensor *src, const tl_tensor *cosines)
{
    size_t step = 1;
    job->ndim = src->ndim - 1;
    for (int i = job->ndim - 1; i >= 0; i--) {
        const int axis = i - src->ndim + cosines->ndim;
        const size_t len = axis < 0 ? 1 : (size_t)cosines->dims[axis];
        job->dims[i] = (size_t)src->dims[i];
        job->steps[i] = len == 1 ? 0 : step;
        step *= len;
    }
}

int tl_exec_rotate(const tl_exec *exec, const tl_tensor *src, const tl_tensor *cosines,
                   const tl_tensor *sines, tl_tensor *dst, int is_interleaved)
{
    assert(dst->len == src->len && dst->dtype == src->dtype && dst->data != src->data);
    if (src->len == 0)
        return 0;
    tl_rotate_job job = {.src = src->data,
                         .cosines = cosines->data,
                         .sines = sines->data,
                         .dst = dst->data,
                         .len = (size_t)src->dims[src->ndim - 1],
                         .is_interleaved = is_interleaved};
    job.is_whole = (size_t)cosines->dims[cosines->ndim - 1] == job.len;
    set_axes(&job, src, cosines);
    tl_parallel(exec, (size_t)src->len / job.len, tl_axis_grain(job.len), pick(exec, src->dtype),
                &job);
    return 0;
}

tl_tensor *tl_tensor_rotate(const tl_tensor *src, const tl_tensor *cosines, const tl_tensor *sines,
                            tl_tensor *dst, int is_interleaved)
{
    if (tl_check_operand(src, "src", dst) < 0 || tl_check_operand(cosines, "cosines", dst) < 0 ||
        tl_check_operand(sines, "sines", dst) < 0 || tl_rotate_check(src, cosines, sines) < 0)
        return NULL;
    tl_tensor *const result = tl_result_begin(dst, src->ndim, src->dims, src->dtype);
    return tl_result_end(result, dst,
                         result ? tl_exec_rotate(NULL, src, cosines, sines, result, is_interleaved)
                                : -1);
}
