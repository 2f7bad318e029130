// SPDX-License-Identifier: Apache-2.0
// Batch normalization: checks, choice of the kernels, threads.

#include "kernel/batchnorm/batchnorm.h"

#include <assert.h>

#include "kernel/tl_map.h"
#include "kernel/tl_nn_check.h"
#include "tensor/tl_result.h"

TL_KERNEL_TABLE(pick_batchnorm, tl_batchnorm_func, TL_BATCHNORM_KERNELS)
TL_KERNEL_TABLE(pick_bn2scale, tl_bn2scale_func, TL_BN2SCALE_KERNELS)

int tl_exec_batchnorm(const tl_exec *exec, const tl_tensor *src, const tl_tensor *scale,
                      const tl_tensor *offset, const tl_tensor *mean, const tl_tensor *var,
                      tl_tensor *dst, float epsilon)
{
    assert(src->ndim >= 2 && src->len == dst->len && src->dtype == dst->dtype);
    assert(scale->len == src->dims[1] && offset->len == src->dims[1]);
    assert(mean->len == src->dims[1] && var->len == src->dims[1]);
    assert(scale->dtype == src->dtype && offset->dtype == src->dtype);
    assert(mean->dtype == src->dtype && var->dtype == src->dtype);
    tl_batchnorm_job job = {.src = src->data,
                            .scale = scale->data,
                            .offset = offset->data,
                            .mean = mean->data,
                            .var = var->data,
                            .dst = dst->data,
                            .axis = tl_axis_of(src, 1),
                            .epsilon = epsilon};
    tl_parallel(exec, (size_t)src->len, TL_MAP_CHEAP, pick_batchnorm(exec, src->dtype), &job);
    return 0;
}

tl_tensor *tl_tensor_batchnorm(const tl_tensor *src, const tl_tensor *scale,
                               const tl_tensor *offset, const tl_tensor *mean, const tl_tensor *var,
                               tl_tensor *dst, float epsilon)
{
    if (tl_check_data(src, "src") < 0 || tl_check_float(src, "src") < 0 ||
        tl_check_axis(src, 1) < 0 || tl_check_vector(scale, "scale", src, src->dims[1]) < 0 ||
        tl_check_vector(offset, "offset", src, src->dims[1]) < 0 ||
        tl_check_vector(mean, "mean", src, src->dims[1]) < 0 ||
        tl_check_vector(var, "var", src, src->dims[1]) < 0 || tl_check_in_place(dst, src) < 0 ||
        tl_check_apart(dst, scale) < 0 || tl_check_apart(dst, offset) < 0 ||
        tl_check_apart(dst, mean) < 0 || tl_check_apart(dst, var) < 0)
        return NULL;
    tl_tensor *const result = tl_result_begin(dst, src->ndim, src->dims, src->dtype);
    return tl_result_end(
        result, dst,
        result ? tl_exec_batchnorm(NULL, src, scale, offset, mean, var, result, epsilon) : -1);
}

int tl_exec_bn2scale(const tl_exec *exec, const tl_tensor *mean, const tl_tensor *var,
                     const tl_tensor *scale, const tl_tensor *offset, tl_tensor *dst_scale,
                     tl_tensor *dst_shift, tl_tensor *dst_power, float epsilon)
{
    assert(var->len == mean->len && scale->len == mean->len && offset->len == mean->len);
    assert(dst_scale->len == mean->len && dst_shift->len == mean->len);
    assert(var->dtype == mean->dtype && scale->dtype == mean->dtype);
    assert(offset->dtype == mean->dtype && dst_scale->dtype == mean->dtype);
    assert(dst_shift->dtype == mean->dtype);
    assert(!dst_power || (dst_power->len == mean->len && dst_power->dtype == mean->dtype));
    tl_bn2scale_job job = {.mean = mean->data,
                           .var = var->data,
                           .scale = scale->data,
                           .offset = offset->data,
                           .dst_scale = dst_scale->data,
                           .dst_shift = dst_shift->data,
                           .dst_power = dst_power ? dst_power->data : NULL,
                           .epsilon = epsilon};
    tl_parallel(exec, (size_t)mean->len, TL_MAP_CHEAP, pick_bn2scale(exec, mean->dtype), &job);
    return 0;
}
