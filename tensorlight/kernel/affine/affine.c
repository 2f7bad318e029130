// SPDX-License-Identifier: Apache-2.0
// Scale and shift per channel: checks, choice of the kernel, threads.

#include "kernel/affine/affine.h"

#include <assert.h>

#include "kernel/act/act.h"
#include "kernel/tl_kernel.h"
#include "tensor/tl_result.h"
#include "tensorlight/tl_nn.h"

TL_KERNEL_TABLE(pick, tl_affine_func, TL_AFFINE_KERNELS)

int tl_exec_affine(const tl_exec *exec, const tl_tensor *src, const tl_tensor *scale,
                   const tl_tensor *shift, tl_tensor *dst, int axis, tl_activation act)
{
    assert(axis >= 0 && axis < src->ndim && scale->len == src->dims[axis]);
    assert(src->len == dst->len && src->dtype == dst->dtype && src->dtype == scale->dtype);
    assert(!shift || (shift->dtype == src->dtype && shift->len == scale->len));
    tl_affine_job job = {.src = src->data,
                         .scale = scale->data,
                         .shift = shift ? shift->data : NULL,
                         .dst = dst->data,
                         .axis = tl_axis_of(src, axis)};
    tl_act_parallel(exec, (size_t)src->len, TL_GRAIN_MEMORY_BOUND, pick(exec, src->dtype), &job,
                    dst, act);
    return 0;
}

tl_tensor *tl_tensor_affine(const tl_tensor *src, const tl_tensor *scale, const tl_tensor *shift,
                            tl_tensor *dst, int axis, tl_activation act)
{
    if (tl_check_data(src, "src") < 0 || tl_check_float(src, "src") < 0 ||
        tl_check_axis(src, axis) < 0 || tl_check_vector(scale, "scale", src, src->dims[axis]) < 0 ||
        (shift && tl_check_vector(shift, "shift", src, src->dims[axis]) < 0) ||
        tl_act_check(act) < 0 || tl_check_in_place(dst, src) < 0 ||
        tl_check_apart(dst, scale) < 0 || (shift && tl_check_apart(dst, shift) < 0))
        return NULL;
    tl_tensor *const result = tl_result_begin(dst, src->ndim, src->dims, src->dtype);
    return tl_result_end(result, dst,
                         result ? tl_exec_affine(NULL, src, scale, shift, result, axis, act) : -1);
}
