// SPDX-License-Identifier: Apache-2.0
// Convolutions over any number of axes: checks, choice of the kernel, threads.

#include "kernel/convnd/convnd.h"

#include <assert.h>
#include <limits.h>

#include "kernel/tl_axis.h"
#include "kernel/tl_nn_check.h"
#include "kernel/tl_windows.h"
#include "tensor/tl_result.h"

TL_KERNEL_TABLE(pick_conv, tl_convnd_func, TL_CONVND_KERNELS)
TL_KERNEL_TABLE(pick_deconv, tl_convnd_func, TL_DECONVND_KERNELS)
TL_KERNEL_TABLE(pick_int, tl_convnd_func, TL_CONV_INT_KERNELS)

/* ---- what all of them share ---- */

static tl_convnd_job make_job(const tl_tensor *src, const tl_tensor *weight, const tl_tensor *bias,
                              tl_tensor *dst, const tl_windows *windows, int group)
{
    tl_convnd_job job = {.src = src->data,
                         .weight = weight->data,
                         .bias = bias ? bias->data : NULL,
                         .dst = dst->data,
                         .group = group,
                         .ic = src->dims[1] / group,
                         .oc = dst->dims[1] / group,
                         .windows = *windows};
    memcpy(job.in, src->dims + 2, (size_t)windows->n * sizeof(int));
    memcpy(job.out, dst->dims + 2, (size_t)windows->n * sizeof(int));
    return job;
}

static void run(const tl_exec *exec, tl_convnd_func *func, tl_convnd_job *job, const tl_tensor *dst)
{
    if (dst->len == 0)
        return;
    const size_t width = (size_t)dst->dims[dst->ndim - 1];
    double sums = (double)job->ic * width;
    for (int i = 0; i < job->windows.n; i++)
        sums *= job->windows.size[i];
    tl_parallel(exec, (size_t)dst->len / width, tl_axis_grain(sums < 1e6 ? (size_t)sums : 1000000),
                func, job);
}

/** -1 with a reason: `weight` has not the windows' number of axes and sizes behind two others. */
static int check_weight(const tl_tensor *weight, const tl_windows *windows, int group)
{
    if (tl_check_at_least("group", &group, 1, 1) < 0)
        return -1;
    if (weight->ndim != windows->n + 2)
        return tl_fail("'weight' has %d dimensions, expected %d as 'src'", weight->ndim,
                       windows->n + 2);
    for (int i = 0; i < windows->n; i++)
        if (weight->dims[2 + i] != windows->size[i])
            return tl_fail("'weight' has length %d along axis %d, expected the size of the window, "
                           "%d",
                           weight->dims[2 + i], 2 + i, windows->size[i]);
    return 0;
}

static int check_bias(const tl_tensor *bias, int channels, tl_dtype dtype)
{
    if (!bias)
        return 0;
    if (bias->ndim != 1 || bias->len != channels)
        return tl_fail("'bias' has %d dimensions and %d elements, expected 1 and %d, the output "
                       "channels",
                       bias->ndim, bias->len, channels);
    if (bias->dtype != dtype)
        return tl_fail("'bias' has dtype %s, expected %s", tl_dtype_name(bias->dtype),
                       tl_dtype_name(dtype));
    return 0;
}

/** The shape of a convolution, whatever its dtypes. */
static int infer_conv(const tl_tensor *src, const tl_tensor *weight, const tl_windows *windows,
                      int group, int *dims)
{
    if (tl_check_windows(windows, src) < 0 || check_weight(weight, windows, group) < 0)
        return -1;
    if ((int64_t)weight->dims[1] * group != src->dims[1])
        return tl_fail("'weight' has %d input channels in each of %d groups, expected the %d of "
                       "'src' together",
                       weight->dims[1], group, src->dims[1]);
    if (weight->dims[0] % group != 0)
        return tl_fail("'weight' has %d output channels, expected a multiple of 'group', %d",
                       weight->dims[0], group);
    dims[0] = src->dims[0];
    dims[1] = weight->dims[0];
    for (int i = 0; i < windows->n; i++)
        if ((dims[2 + i] = tl_windows_length(windows, i, src->dims[2 + i], 0)) < 0)
            return -1;
    return 0;
}

/** -1 with a reason: one of them (bias may be NULL) has no data, or overlaps dst. */
static int check_all_data(const tl_tensor *src, const tl_tensor *weight, const tl_tensor *bias,
                          const tl_tensor *dst)
{
    if (tl_check_data(src, "src") < 0 || tl_check_data(weight, "weight") < 0 ||
        (bias && tl_check_data(bias, "bias") < 0))
        return -1;
    if (tl_check_apart(dst, src) < 0 || tl_check_apart(dst, weight) < 0)
        return -1;
    return bias ? tl_check_apart(dst, bias) : 0;
}

/* ---- convolution ---- */

int tl_exec_convnd(const tl_exec *exec, const tl_tensor *src, const tl_tensor *weight,
                   const tl_tensor *bias, tl_tensor *dst, const tl_windows *windows, int group)
{
    assert(src->dtype == dst->dtype && src->dtype == weight->dtype);
    tl_convnd_job job = make_job(src, weight, bias, dst, windows, group);
    run(exec, pick_conv(exec, src->dtype), &job, dst);
    return 0;
}

int tl_convnd_shape(const tl_tensor *src, const tl_tensor *weight, const tl_tensor *bias,
                    const tl_windows *windows, int group, int *dims)
{
    if (tl_check_float(src, "src") < 0 || tl_check_same_dtype(src, weight) < 0 ||
        infer_conv(src, weight, windows, group, dims) < 0)
        return -1;
    return check_bias(bias, dims[1], src->dtype);
}

tl_tensor *tl_tensor_convnd(const tl_tensor *src, const tl_tensor *weight, const tl_tensor *bias,
                            tl_tensor *dst, const tl_windows *windows, int group)
{
    int dims[TL_MAXDIM];
    if (check_all_data(src, weight, bias, dst) < 0 ||
        tl_convnd_shape(src, weight, bias, windows, group, dims) < 0)
        return NULL;
    tl_tensor *const result = tl_result_begin(dst, src->ndim, dims, src->dtype);
    return tl_result_end(
        result, dst, result ? tl_exec_convnd(NULL, src, weight, bias, result, windows, group) : -1);
}

/* ---- deconvolution ---- */

int tl_exec_deconvnd(const tl_exec *exec, const tl_tensor *src, const tl_tensor *weight,
                     const tl_tensor *bias, tl_tensor *dst, const tl_windows *windows, int group)
{
    assert(src->dtype == dst->dtype && src->dtype == weight->dtype);
    tl_convnd_job job = make_job(src, weight, bias, dst, windows, group);
    run(exec, pick_deconv(exec, src->dtype), &job, dst);
    return 0;
}

int tl_deconvnd_shape(const tl_tensor *src, const tl_tensor *weight, const tl_tensor *bias,
                      const tl_windows *windows, int group, const int *output_padding, int *dims)
{
    if (tl_check_float(src, "src") < 0 || tl_check_same_dtype(src, weight) < 0 ||
        tl_check_windows(windows, src) < 0 || check_weight(weight, windows, group) < 0 ||
        (output_padding && tl_check_at_least("output_padding", output_padding, windows->n, 0) < 0))
        return -1;
    if (weight->dims[0] != src->dims[1])
        return tl_fail("'weight' has %d input channels, expected the %d of 'src'", weight->dims[0],
                       src->dims[1]);
    if (src->dims[1] % group != 0)
        return tl_fail("'src' has %d channels, expected a multiple of 'group', %d", src->dims[1],
                       group);
    if (weight->dims[1] > INT_MAX / group)
        return tl_fail("%d groups of %d channels, expected at most %d channels", group,
                       weight->dims[1], INT_MAX);
    dims[0] = src->dims[0];
    dims[1] = weight->dims[1] * group;
    for (int i = 0; i < windows->n; i++) {
        const int more = output_padding ? output_padding[i] : 0;
        dims[2 + i] = tl_windows_transposed_length(windows, i, src->dims[2 + i], more);
        if (dims[2 + i] < 0)
            return -1;
    }
    return check_bias(bias, dims[1], src->dtype);
}

tl_tensor *tl_tensor_deconvnd(const tl_tensor *src, const tl_tensor *weight, const tl_tensor *bias,
                              tl_tensor *dst, const tl_windows *windows, int group,
                              const int *output_padding)
{
    int dims[TL_MAXDIM];
    if (check_all_data(src, weight, bias, dst) < 0 ||
        tl_deconvnd_shape(src, weight, bias, windows, group, output_padding, dims) < 0)
        return NULL;
    tl_tensor *const result = tl_result_begin(dst, src->ndim, dims, src->dtype);
    return tl_result_end(result, dst,
                         result ? tl_exec_deconvnd(NULL, src, weight, bias, result, windows, group)
                                : -1);
}

/* ---- convolution of integers ---- */

int tl_exec_conv_int(const tl_exec *exec, const tl_conv_int_args *args, tl_tensor *dst,
                     const tl_windows *windows, int group)
{
    const tl_tensor *const zero = args->src_zero, *const weight_zero = args->weight_zero;
    assert(dst->dtype == TL_INT32);
    tl_convnd_job job = make_job(args->src, args->weight, args->bias, dst, windows, group);
    if (zero)
        tl_convert(&job.src_zero, TL_INT32, zero->data, zero->dtype);
    job.weight_zero = weight_zero ? weight_zero->data : NULL;
    job.weight_zero_step = weight_zero && weight_zero->len > 1;
    job.is_weight_signed = args->weight->dtype == TL_INT8;
    run(exec, pick_int(exec, args->src->dtype), &job, dst);
    return 0;
}

static int check_8_bits(const tl_tensor *t, const char *name)
{
    if (t->dtype != TL_INT8 && t->dtype != TL_UINT8)
        return tl_fail("'%s' has dtype %s, expected TL_INT8 or TL_UINT8", name,
                       tl_dtype_name(t->dtype));
    return 0;
}

/** -1 with a reason: a zero point (NULL: none) that is not one for `of`. */
static int check_zero(const tl_tensor *zero, const char *name, const tl_tensor *of, int channels)
{
    if (!zero)
        return 0;
    if (zero->dtype != of->dtype)
        return tl_fail("'%s' has dtype %s, expected %s", name, tl_dtype_name(zero->dtype),
                       tl_dtype_name(of->dtype));
    if (zero->len != 1 && zero->len != channels)
        return channels == 1
                   ? tl_fail("'%s' has %d elements, expected 1", name, zero->len)
                   : tl_fail("'%s' has %d elements, expected 1 or %d", name, zero->len, channels);
    return 0;
}

int tl_conv_int_shape(const tl_conv_int_args *args, const tl_windows *windows, int group, int *dims)
{
    if (check_8_bits(args->src, "src") < 0 || check_8_bits(args->weight, "weight") < 0 ||
        infer_conv(args->src, args->weight, windows, group, dims) < 0 ||
        check_zero(args->src_zero, "src_zero", args->src, 1) < 0 ||
        check_zero(args->weight_zero, "weight_zero", args->weight, dims[1]) < 0)
        return -1;
    return check_bias(args->bias, dims[1], TL_INT32);
}

tl_tensor *tl_tensor_conv_int(const tl_conv_int_args *args, tl_tensor *dst,
                              const tl_windows *windows, int group)
{
    int dims[TL_MAXDIM];
    if (check_all_data(args->src, args->weight, args->bias, dst) < 0 ||
        (args->src_zero && tl_check_data(args->src_zero, "src_zero") < 0) ||
        (args->weight_zero && tl_check_data(args->weight_zero, "weight_zero") < 0) ||
        tl_conv_int_shape(args, windows, group, dims) < 0)
        return NULL;
    tl_tensor *const result = tl_result_begin(dst, args->src->ndim, dims, TL_INT32);
    return tl_result_end(result, dst,
                         result ? tl_exec_conv_int(NULL, args, result, windows, group) : -1);
}
