// SPDX-License-Identifier: Apache-2.0
// Pooling: checks, choice of the kernel, threads.

#include "kernel/pool2d/pool2d.h"

#include <assert.h>

#include "kernel/tl_axis.h"
#include "kernel/tl_nn_check.h"
#include "tensor/tl_result.h"

TL_KERNEL_TABLE(pick_max, tl_pool2d_func, TL_MAXPOOL2D_KERNELS)
TL_KERNEL_TABLE(pick_avg, tl_pool2d_func, TL_AVGPOOL2D_KERNELS)

static int run(const tl_exec *exec, tl_pool2d_func *func, const tl_tensor *src, tl_tensor *dst,
               const tl_pool2d_param *param)
{
    assert(func && src->ndim == 4 && dst->ndim == 4 && src->dtype == dst->dtype);
    assert(src->dims[0] == dst->dims[0] && src->dims[1] == dst->dims[1]);
    if (dst->len == 0)
        return 0;
    tl_pool2d_job job = {.src = src->data,
                         .dst = dst->data,
                         .ih = src->dims[2],
                         .iw = src->dims[3],
                         .oh = dst->dims[2],
                         .ow = dst->dims[3],
                         .param = *param,
                         .stop = exec ? exec->stop : NULL};
    const size_t planes = (size_t)dst->dims[0] * dst->dims[1];
    tl_parallel(exec, planes, tl_axis_grain((size_t)src->len / planes * 4), func, &job);
    return 0;
}

int tl_exec_maxpool2d(const tl_exec *exec, const tl_tensor *src, tl_tensor *dst,
                      const tl_pool2d_param *param)
{
    return run(exec, pick_max(exec, src->dtype), src, dst, param);
}

int tl_exec_avgpool2d(const tl_exec *exec, const tl_tensor *src, tl_tensor *dst,
                      const tl_pool2d_param *param)
{
    return run(exec, pick_avg(exec, src->dtype), src, dst, param);
}

/** Checks everything and infers the shape of dst. */
static int infer(const tl_tensor *src, const tl_pool2d_param *param, int *dims)
{
    if (tl_check_input(src, "src", 4) < 0)
        return -1;
    if (!param)
        return tl_fail("'param' is NULL, expected parameters");
    if (tl_check_at_least("size", param->size, 2, 1) < 0 ||
        tl_check_at_least("stride", param->stride, 2, 1) < 0 ||
        tl_check_at_least("padding", param->padding, 4, 0) < 0)
        return -1;
    for (int i = 0; i < 4; i++) // else a window could lie in the padding alone
        if (param->padding[i] >= param->size[i % 2])
            return tl_fail("'padding' has %d at index %d, expected less than 'size', %d",
                           param->padding[i], i, param->size[i % 2]);
    dims[0] = src->dims[0];
    dims[1] = src->dims[1];
    for (int i = 0; i < 2; i++) {
        dims[2 + i] = tl_conv2d_length(src->dims[2 + i], param->size[i], param->stride[i], 1,
                                       param->padding[i], param->padding[2 + i]);
        if (dims[2 + i] < 0)
            return -1;
    }
    return 0;
}

tl_tensor *tl_tensor_maxpool2d(const tl_tensor *src, tl_tensor *dst, const tl_pool2d_param *param)
{
    int dims[4];
    if (infer(src, param, dims) < 0 || tl_check_apart(dst, src) < 0)
        return NULL;
    tl_tensor *const result = tl_result_begin(dst, 4, dims, src->dtype);
    return tl_result_end(result, dst, result ? tl_exec_maxpool2d(NULL, src, result, param) : -1);
}

tl_tensor *tl_tensor_avgpool2d(const tl_tensor *src, tl_tensor *dst, const tl_pool2d_param *param)
{
    int dims[4];
    if (infer(src, param, dims) < 0 || tl_check_float(src, "src") < 0 ||
        tl_check_apart(dst, src) < 0)
        return NULL;
    tl_tensor *const result = tl_result_begin(dst, 4, dims, src->dtype);
    return tl_result_end(result, dst, result ? tl_exec_avgpool2d(NULL, src, result, param) : -1);
}
