// SPDX-License-Identifier: Apache-2.0
// Convolution and deconvolution: checks, choice of the kernel, threads.

#include "kernel/conv2d/conv2d.h"

#include <assert.h>
#include <limits.h>

#include "kernel/act/act.h"
#include "kernel/tl_axis.h"
#include "kernel/tl_nn_check.h"
#include "tensor/tl_result.h"

TL_KERNEL_TABLE(pick_conv2d, tl_conv2d_func, TL_CONV2D_KERNELS)
TL_KERNEL_TABLE(pick_deconv2d, tl_conv2d_func, TL_DECONV2D_KERNELS)

/* ---- lengths ---- */

/** -1 with a reason: one of them is below 1. */
static int check_window(int in, int size, int stride, int dilation)
{
    if (in < 1 || size < 1 || stride < 1 || dilation < 1)
        return tl_fail("length %d, size %d, stride %d, dilation %d, expected all at least 1", in,
                       size, stride, dilation);
    return 0;
}

static int check_length(int64_t len)
{
    if (len < 1 || len > INT_MAX)
        return tl_fail("the result has length %lld, expected 1 to %d", (long long)len, INT_MAX);
    return (int)len;
}

int tl_conv2d_length(int in, int size, int stride, int dilation, int begin, int end)
{
    if (check_window(in, size, stride, dilation) < 0)
        return -1;
    const int64_t window = (int64_t)(size - 1) * dilation + 1;
    const int64_t padded = (int64_t)in + begin + end;
    if (padded < window)
        return tl_fail("length %d with padding %d and %d, expected at least the window's %lld", in,
                       begin, end, (long long)window);
    return check_length((padded - window) / stride + 1);
}

int tl_deconv2d_length(int in, int size, int stride, int dilation, int begin, int end,
                       int output_padding)
{
    if (check_window(in, size, stride, dilation) < 0)
        return -1;
    // Fits: two products below 2^62 - 2^32, and less than 2^33 besides.
    const int64_t window = (int64_t)(size - 1) * dilation + 1;
    return check_length((int64_t)stride * (in - 1) + output_padding + window - begin - end);
}

/* ---- what both directions share ---- */

/** A plane of 1x1 windows that touch nothing else is one long row. */
static int is_pointwise(const tl_conv2d_job *job)
{
    const tl_conv2d_param *p = &job->param;
    return p->size[0] == 1 && p->size[1] == 1 && p->stride[0] == 1 && p->stride[1] == 1 &&
           p->padding[0] == 0 && p->padding[1] == 0 && job->ih == job->oh && job->iw == job->ow;
}

static void run(const tl_exec *exec, tl_conv2d_func *func, const tl_tensor *src,
                const tl_tensor *weight, const tl_tensor *bias, tl_tensor *dst,
                const tl_conv2d_param *param)
{
    if (dst->len == 0)
        return;
    tl_conv2d_job job = {.src = src->data,
                         .weight = weight->data,
                         .bias = bias ? bias->data : NULL,
                         .dst = dst->data,
                         .ic = src->dims[1] / param->group,
                         .ih = src->dims[2],
                         .iw = src->dims[3],
                         .oc = dst->dims[1] / param->group,
                         .oh = dst->dims[2],
                         .ow = dst->dims[3],
                         .param = *param,
                         .stop = exec ? exec->stop : NULL};
    if (is_pointwise(&job)) {
        job.iw = job.ow = job.oh * job.ow;
        job.ih = job.oh = 1;
    }
    const size_t planes = (size_t)dst->dims[0] * dst->dims[1];
    const double sums = (double)weight->len / dst->dims[1] * job.oh * job.ow;
    tl_act_parallel(exec, planes, tl_axis_grain(sums < 1e6 ? (size_t)sums : 1000000), func, &job,
                    dst, param->act);
}

static int check_tensors(const tl_tensor *src, const tl_tensor *weight, const tl_tensor *bias)
{
    if (tl_check_input(src, "src", 4) < 0 || tl_check_float(src, "src") < 0 ||
        tl_check_input(weight, "weight", 4) < 0 || (bias && tl_check_input(bias, "bias", 1) < 0))
        return -1;
    if (weight->dtype != src->dtype || (bias && bias->dtype != src->dtype))
        return tl_fail("'src' has dtype %s, 'weight' %s, 'bias' %s, expected the same",
                       tl_dtype_name(src->dtype), tl_dtype_name(weight->dtype),
                       bias ? tl_dtype_name(bias->dtype) : "none");
    return 0;
}

static int check_param(const tl_conv2d_param *param, const tl_tensor *weight)
{
    if (!param)
        return tl_fail("'param' is NULL, expected parameters");
    if (tl_check_at_least("group", &param->group, 1, 1) < 0 ||
        tl_check_at_least("stride", param->stride, 2, 1) < 0 ||
        tl_check_at_least("dilation", param->dilation, 2, 1) < 0 || tl_act_check(param->act) < 0)
        return -1;
    if (param->size[0] != weight->dims[2] || param->size[1] != weight->dims[3])
        return tl_fail("'size' is %d, %d, expected the last two dimensions of 'weight', %d, %d",
                       param->size[0], param->size[1], weight->dims[2], weight->dims[3]);
    return tl_check_at_least("size", param->size, 2, 1);
}

/** The result may not overwrite what it is computed from; dst and bias may be NULL. */
static int check_apart(const tl_tensor *dst, const tl_tensor *src, const tl_tensor *weight,
                       const tl_tensor *bias)
{
    if (tl_check_apart(dst, src) < 0 || tl_check_apart(dst, weight) < 0)
        return -1;
    return bias ? tl_check_apart(dst, bias) : 0;
}

static int check_channels(const char *what, int channels, const char *other, int group,
                          int per_group)
{
    if ((int64_t)group * per_group != channels)
        return tl_fail("'%s' has %d channels, expected 'group' times those of '%s', %d * %d", what,
                       channels, other, group, per_group);
    return 0;
}

/* ---- convolution ---- */

int tl_exec_conv2d(const tl_exec *exec, const tl_tensor *src, const tl_tensor *weight,
                   const tl_tensor *bias, tl_tensor *dst, const tl_conv2d_param *param)
{
    assert(src->ndim == 4 && weight->ndim == 4 && dst->ndim == 4);
    assert(dst->dims[0] == src->dims[0] && dst->dims[1] == weight->dims[0]);
    assert(weight->dims[1] * param->group == src->dims[1] && dst->dims[1] % param->group == 0);
    assert(src->dtype == dst->dtype && src->dtype == weight->dtype);
    assert(!bias || (bias->dtype == src->dtype && bias->len == dst->dims[1]));
    run(exec, pick_conv2d(exec, src->dtype), src, weight, bias, dst, param);
    return 0;
}

/** Checks everything and infers the shape of dst. */
static int infer_conv2d(const tl_tensor *src, const tl_tensor *weight, const tl_tensor *bias,
                        const tl_conv2d_param *param, int *dims)
{
    if (check_tensors(src, weight, bias) < 0 || check_param(param, weight) < 0 ||
        tl_check_at_least("padding", param->padding, 4, 0) < 0 ||
        check_channels("src", src->dims[1], "weight", param->group, weight->dims[1]) < 0)
        return -1;
    const int oc = weight->dims[0];
    if (oc % param->group != 0)
        return tl_fail("'weight' has %d output channels, expected a multiple of 'group', %d", oc,
                       param->group);
    if (bias && tl_check_vector(bias, "bias", src, oc) < 0)
        return -1;
    dims[0] = src->dims[0];
    dims[1] = oc;
    for (int i = 0; i < 2; i++) {
        dims[2 + i] =
            tl_conv2d_length(src->dims[2 + i], param->size[i], param->stride[i], param->dilation[i],
                             param->padding[i], param->padding[2 + i]);
        if (dims[2 + i] < 0)
            return -1;
    }
    return 0;
}

tl_tensor *tl_tensor_conv2d(const tl_tensor *src, const tl_tensor *weight, const tl_tensor *bias,
                            tl_tensor *dst, const tl_conv2d_param *param)
{
    int dims[4];
    if (infer_conv2d(src, weight, bias, param, dims) < 0 || check_apart(dst, src, weight, bias) < 0)
        return NULL;
    tl_tensor *const result = tl_result_begin(dst, 4, dims, src->dtype);
    return tl_result_end(result, dst,
                         result ? tl_exec_conv2d(NULL, src, weight, bias, result, param) : -1);
}

/* ---- deconvolution ---- */

int tl_exec_deconv2d(const tl_exec *exec, const tl_tensor *src, const tl_tensor *weight,
                     const tl_tensor *bias, tl_tensor *dst, const tl_conv2d_param *param)
{
    assert(src->ndim == 4 && weight->ndim == 4 && dst->ndim == 4);
    assert(dst->dims[0] == src->dims[0] && dst->dims[1] == weight->dims[1] * param->group);
    assert(weight->dims[0] == src->dims[1] && src->dims[1] % param->group == 0);
    assert(src->dtype == dst->dtype && src->dtype == weight->dtype);
    assert(!bias || (bias->dtype == src->dtype && bias->len == dst->dims[1]));
    run(exec, pick_deconv2d(exec, src->dtype), src, weight, bias, dst, param);
    return 0;
}

/** Checks everything and infers the shape of dst. */
static int infer_deconv2d(const tl_tensor *src, const tl_tensor *weight, const tl_tensor *bias,
                          const tl_conv2d_param *param, int *dims)
{
    if (check_tensors(src, weight, bias) < 0 || check_param(param, weight) < 0 ||
        tl_check_at_least("output_padding", param->output_padding, 2, 0) < 0 ||
        check_channels("src", src->dims[1], "weight", 1, weight->dims[0]) < 0)
        return -1;
    if (src->dims[1] % param->group != 0)
        return tl_fail("'src' has %d channels, expected a multiple of 'group', %d", src->dims[1],
                       param->group);
    if (weight->dims[1] > INT_MAX / param->group)
        return tl_fail("%d groups of %d channels, expected at most %d channels", param->group,
                       weight->dims[1], INT_MAX);
    dims[0] = src->dims[0];
    dims[1] = weight->dims[1] * param->group;
    if (bias && tl_check_vector(bias, "bias", src, dims[1]) < 0)
        return -1;
    for (int i = 0; i < 2; i++) {
        dims[2 + i] = tl_deconv2d_length(src->dims[2 + i], param->size[i], param->stride[i],
                                         param->dilation[i], param->padding[i],
                                         param->padding[2 + i], param->output_padding[i]);
        if (dims[2 + i] < 0)
            return -1;
    }
    return 0;
}

tl_tensor *tl_tensor_deconv2d(const tl_tensor *src, const tl_tensor *weight, const tl_tensor *bias,
                              tl_tensor *dst, const tl_conv2d_param *param)
{
    int dims[4];
    if (infer_deconv2d(src, weight, bias, param, dims) < 0 ||
        check_apart(dst, src, weight, bias) < 0)
        return NULL;
    tl_tensor *const result = tl_result_begin(dst, 4, dims, src->dtype);
    return tl_result_end(result, dst,
                         result ? tl_exec_deconv2d(NULL, src, weight, bias, result, param) : -1);
}
