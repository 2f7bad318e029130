// SPDX-License-Identifier: Apache-2.0
// 2-D convolution and transposed convolution: convnd.c with an activation.

#include "kernel/conv/conv.h"
#include "kernel/act/act.h"
#include "kernel/tl_windows.h"
#include "tensor/tl_result.h"

// Lengths

// -1 with a reason: one of them is below 1.
static int check_window(const tl_windows *w, int i, int in)
{
    if (in < 1 || w->size[i] < 1 || w->stride[i] < 1 || w->dilation[i] < 1)
        return tl_fail("length %d, size %d, stride %d, dilation %d, expected all at least 1", in,
                       w->size[i], w->stride[i], w->dilation[i]);
    return 0;
}

int tl_conv2d_length(int in, int size, int stride, int dilation, int begin, int end)
{
    const tl_windows w = {1, {size}, {stride}, {dilation}, {begin, end}};
    return check_window(&w, 0, in) < 0 ? -1 : tl_windows_length(&w, 0, in, 0);
}

int tl_deconv2d_length(int in, int size, int stride, int dilation, int begin, int end,
                       int output_padding)
{
    const tl_windows w = {1, {size}, {stride}, {dilation}, {begin, end}};
    return check_window(&w, 0, in) < 0 ? -1
                                       : tl_windows_transposed_length(&w, 0, in, output_padding);
}

tl_conv2d_param tl_conv2d_param_of(int group, const int *size, const int *stride,
                                   const int *dilation, const int *padding)
{
    return (tl_conv2d_param){.group = group,
                             .size = {size[0], size[1]},
                             .stride = {stride[0], stride[1]},
                             .dilation = {dilation[0], dilation[1]},
                             .padding = {padding[0], padding[1], padding[2], padding[3]}};
}

static tl_windows windows_of(const tl_conv2d_param *p)
{
    return tl_windows_of(2, p->size, p->stride, p->dilation, p->padding);
}

int tl_conv2d_extents(const tl_tensor *src, const tl_conv2d_param *p, int is_transposed,
                      int *extents)
{
    const tl_windows w = windows_of(p);
    for (int i = 0; i < 2; i++) {
        const int in = src->dims[2 + i];
        if (check_window(&w, i, in) < 0)
            return -1;
        extents[i] = is_transposed ? tl_windows_transposed_length(&w, i, in, p->output_padding[i])
                                   : tl_windows_length(&w, i, in, 0);
        if (extents[i] < 0)
            return -1;
    }
    return 0;
}

// Both directions

static int infer(const tl_tensor *src, const tl_tensor *weight, const tl_tensor *bias,
                 const tl_conv2d_param *param, int is_transposed, int *dims)
{
    if (!param)
        return tl_fail("'param' is NULL, expected parameters");
    const tl_windows windows = windows_of(param);
    if (tl_act_check(param->act) < 0 ||
        tl_check_conv(src, weight, bias, &windows, param->group, is_transposed, dims) < 0 ||
        (is_transposed ? tl_check_at_least("output_padding", param->output_padding, 2, 0)
                       : tl_check_at_least("padding", param->padding, 4, 0)) < 0)
        return -1;
    return tl_conv2d_extents(src, param, is_transposed, dims + 2);
}

static int run(const tl_exec *exec, const tl_tensor *src, const tl_tensor *weight,
               const tl_tensor *bias, tl_tensor *dst, const tl_conv2d_param *param,
               int is_transposed)
{
    const tl_windows windows = windows_of(param);
    return tl_convnd_run(exec, src, weight, bias, dst, &windows, param->group, is_transposed,
                         param->act);
}

static tl_tensor *make(const tl_tensor *src, const tl_tensor *weight, const tl_tensor *bias,
                       tl_tensor *dst, const tl_conv2d_param *param, int is_transposed)
{
    int dims[4];
    if (tl_check_conv_data(src, weight, bias, dst) < 0 ||
        infer(src, weight, bias, param, is_transposed, dims) < 0)
        return NULL;
    tl_tensor *const result = tl_result_begin(dst, 4, dims, src->dtype);
    return tl_result_end(result, dst,
                         result ? run(NULL, src, weight, bias, result, param, is_transposed) : -1);
}

int tl_exec_conv2d(const tl_exec *exec, const tl_tensor *src, const tl_tensor *weight,
                   const tl_tensor *bias, tl_tensor *dst, const tl_conv2d_param *param)
{
    return run(exec, src, weight, bias, dst, param, 0);
}

int tl_conv2d_shape(const tl_tensor *src, const tl_tensor *weight, const tl_tensor *bias,
                    const tl_conv2d_param *param, int *dims)
{
    return infer(src, weight, bias, param, 0, dims);
}

tl_tensor *tl_tensor_conv2d(const tl_tensor *src, const tl_tensor *weight, const tl_tensor *bias,
                            tl_tensor *dst, const tl_conv2d_param *param)
{
    return make(src, weight, bias, dst, param, 0);
}

int tl_exec_deconv2d(const tl_exec *exec, const tl_tensor *src, const tl_tensor *weight,
                     const tl_tensor *bias, tl_tensor *dst, const tl_conv2d_param *param)
{
    return run(exec, src, weight, bias, dst, param, 1);
}

int tl_deconv2d_shape(const tl_tensor *src, const tl_tensor *weight, const tl_tensor *bias,
                      const tl_conv2d_param *param, int *dims)
{
    return infer(src, weight, bias, param, 1, dims);
}

tl_tensor *tl_tensor_deconv2d(const tl_tensor *src, const tl_tensor *weight, const tl_tensor *bias,
                              tl_tensor *dst, const tl_conv2d_param *param)
{
    return make(src, weight, bias, dst, param, 1);
}
