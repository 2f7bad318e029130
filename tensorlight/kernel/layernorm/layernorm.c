// SPDX-License-Identifier: Apache-2.0
// Normalization by layers and groups: checks, lines, choice of the kernel, threads.

#include "kernel/layernorm/layernorm.h"

#include <assert.h>

#include "kernel/tl_axis.h"
#include "kernel/tl_kernel.h"
#include "tensor/tl_result.h"
#include "tensorlight/tl_nn.h"

TL_KERNEL_TABLE(pick, tl_layernorm_func, TL_LAYERNORM_KERNELS)

tl_dtype tl_layernorm_stats_dtype(tl_dtype dtype)
{
    return dtype == TL_DOUBLE ? TL_DOUBLE : TL_FLOAT;
}

static const void *data_of(const tl_tensor *t)
{
    return t ? t->data : NULL;
}

static void run_lines(const tl_exec *exec, tl_dtype dtype, size_t lines, tl_layernorm_job *job)
{
    const size_t len = job->parts * job->inner;
    if (len > 0)
        tl_parallel(exec, lines, TL_GRAIN_MEMORY_BOUND / len / 4 + 1, pick(exec, dtype), job);
}

static int exec_layers(const tl_exec *exec, const tl_tensor *src, const tl_tensor *scale,
                       const tl_tensor *bias, tl_tensor *dst, tl_tensor *mean, tl_tensor *inv_std,
                       int axis, double epsilon, int is_centered)
{
    const size_t len = (size_t)tl_compute_length(src->ndim - axis, src->dims + axis);
    assert(axis >= 0 && axis <= src->ndim && dst->len == src->len && dst->dtype == src->dtype);
    assert(!scale || ((size_t)scale->len == len && scale->dtype == src->dtype));
    assert(!bias || ((size_t)bias->len == len && bias->dtype == src->dtype));
    if (src->len == 0)
        return 0;
    tl_layernorm_job job = {.src = src->data,
                            .scale = data_of(scale),
                            .bias = data_of(bias),
                            .dst = dst->data,
                            .mean = (void *)data_of(mean),
                            .inv_std = (void *)data_of(inv_std),
                            .parts = len,
                            .inner = 1,
                            .period = 1,
                            .is_centered = is_centered,
                            .epsilon = epsilon};
    run_lines(exec, src->dtype, (size_t)src->len / len, &job);
    return 0;
}

int tl_exec_layernorm(const tl_exec *exec, const tl_tensor *src, const tl_tensor *scale,
                      const tl_tensor *bias, tl_tensor *dst, tl_tensor *mean, tl_tensor *inv_std,
                      int axis, double epsilon)
{
    return exec_layers(exec, src, scale, bias, dst, mean, inv_std, axis, epsilon, 1);
}

int tl_exec_rmsnorm(const tl_exec *exec, const tl_tensor *src, const tl_tensor *scale,
                    tl_tensor *dst, int axis, double epsilon)
{
    return exec_layers(exec, src, scale, NULL, dst, NULL, NULL, axis, epsilon, 0);
}

int tl_exec_groupnorm(const tl_exec *exec, const tl_tensor *src, const tl_tensor *scale,
                      const tl_tensor *bias, tl_tensor *dst, int groups, double epsilon)
{
    assert(src->ndim >= 2 && groups >= 1 && src->dims[1] % groups == 0);
    assert(dst->len == src->len && dst->dtype == src->dtype);
    if (src->len == 0)
        return 0;
    const size_t channels = (size_t)src->dims[1];
    const size_t scales = scale ? (size_t)scale->len : channels;
    const size_t lines = (size_t)src->dims[0] * (size_t)groups;
    const size_t parts = scales / (size_t)groups;
    assert(!bias || (size_t)bias->len == scales);
    assert(scales == channels || scales == (size_t)groups);
    tl_layernorm_job job = {.src = src->data,
                            .scale = data_of(scale),
                            .bias = data_of(bias),
                            .dst = dst->data,
                            .parts = parts,
                            .inner = (size_t)src->len / lines / parts,
                            .period = (size_t)groups,
                            .is_centered = 1,
                            .epsilon = epsilon};
    run_lines(exec, src->dtype, lines, &job);
    return 0;
}

// Checked

int tl_groupnorm_check(const tl_tensor *src, const tl_tensor *scale, int groups)
{
    if (tl_check_shape(src, "src", "[N, C, ..]") < 0 ||
        tl_check_at_least("groups", &groups, 1, 1) < 0)
        return -1;
    const int channels = src->dims[1];
    if (channels % groups != 0)
        return tl_fail("'src' has %d channels, expected a multiple of 'groups', %d", channels,
                       groups);
    if (scale && scale->len != channels && scale->len != groups)
        return tl_fail("'scale' has %d elements, expected one for each of %d channels or %d groups",
                       scale->len, channels, groups);
    return 0;
}

// `t` is NULL, or has data, the dtype of `src` and `len` elements.
static int check_factors(const tl_tensor *t, const char *name, const tl_tensor *src, int len)
{
    if (!t)
        return 0;
    if (tl_check_data(t, name) < 0)
        return -1;
    if (t->dtype != src->dtype || t->len != len)
        return tl_fail("'%s' is %d elements of %s, expected %d of %s", name, t->len,
                       tl_dtype_name(t->dtype), len, tl_dtype_name(src->dtype));
    return 0;
}

static int check_src(const tl_tensor *src, const tl_tensor *dst)
{
    if (tl_check_data(src, "src") < 0 || tl_check_float(src, "src") < 0)
        return -1;
    return tl_check_in_place(dst, src);
}

tl_tensor *tl_tensor_layernorm(const tl_tensor *src, const tl_tensor *scale, const tl_tensor *bias,
                               tl_tensor *dst, int axis, double epsilon)
{
    if (check_src(src, dst) < 0 || tl_check_axis(src, axis) < 0)
        return NULL;
    const int len = tl_compute_length(src->ndim - axis, src->dims + axis);
    if (check_factors(scale, "scale", src, len) < 0 || check_factors(bias, "bias", src, len) < 0)
        return NULL;
    tl_tensor *const result = tl_result_begin(dst, src->ndim, src->dims, src->dtype);
    return tl_result_end(
        result, dst,
        result ? tl_exec_layernorm(NULL, src, scale, bias, result, NULL, NULL, axis, epsilon) : -1);
}

tl_tensor *tl_tensor_rmsnorm(const tl_tensor *src, const tl_tensor *scale, tl_tensor *dst, int axis,
                             double epsilon)
{
    if (check_src(src, dst) < 0 || tl_check_axis(src, axis) < 0 ||
        check_factors(scale, "scale", src, tl_compute_length(src->ndim - axis, src->dims + axis)) <
            0)
        return NULL;
    tl_tensor *const result = tl_result_begin(dst, src->ndim, src->dims, src->dtype);
    return tl_result_end(result, dst,
                         result ? tl_exec_rmsnorm(NULL, src, scale, result, axis, epsilon) : -1);
}

tl_tensor *tl_tensor_groupnorm(const tl_tensor *src, const tl_tensor *scale, const tl_tensor *bias,
                               tl_tensor *dst, int groups, double epsilon)
{
    if (check_src(src, dst) < 0 || tl_groupnorm_check(src, scale, groups) < 0)
        return NULL;
    const int scales = scale ? scale->len : src->dims[1];
    if (check_factors(scale, "scale", src, scales) < 0 ||
        check_factors(bias, "bias", src, scales) < 0)
        return NULL;
    tl_tensor *const result = tl_result_begin(dst, src->ndim, src->dims, src->dtype);
    return tl_result_end(result, dst,
                         result ? tl_exec_groupnorm(NULL, src, scale, bias, result, groups, epsilon)
                                : -1);
}
