// SPDX-License-Identifier: Apache-2.0
// Pooling of images: the max for every type, the mean for floats. A case of poolnd.c.

#include <assert.h>

#include "kernel/tl_kernel.h"
#include "tensor/tl_result.h"
#include "tensorlight/tl_nn.h"
#include "tensorlight/tl_vision.h"

static int run(const tl_exec *exec, tl_pool_kind kind, const tl_tensor *src, tl_tensor *dst,
               const tl_pool2d_param *param)
{
    assert(src->dims[0] == dst->dims[0] && src->dims[1] == dst->dims[1]);
    const tl_poolnd_param general = {.kind = kind,
                                     .windows = tl_windows_of(2, param->size, param->stride,
                                                              (const int[]){1, 1}, param->padding)};
    return tl_exec_poolnd(exec, src, dst, NULL, &general);
}

int tl_exec_maxpool2d(const tl_exec *exec, const tl_tensor *src, tl_tensor *dst,
                      const tl_pool2d_param *param)
{
    return run(exec, TL_POOL_MAX, src, dst, param);
}

int tl_exec_avgpool2d(const tl_exec *exec, const tl_tensor *src, tl_tensor *dst,
                      const tl_pool2d_param *param)
{
    return run(exec, TL_POOL_MEAN, src, dst, param);
}

int tl_pool2d_extents(const tl_tensor *src, const tl_pool2d_param *param, int *extents)
{
    for (int i = 0; i < 2; i++) {
        const int begin = param->padding[i], end = param->padding[2 + i], size = param->size[i];
        if (begin >= size || end >= size) // a window could be in the padding alone
            return tl_fail("the padding of axis %d is %d and %d, expected less than its 'size', %d",
                           2 + i, begin, end, size);
        extents[i] = tl_conv2d_length(src->dims[2 + i], size, param->stride[i], 1, begin, end);
        if (extents[i] < 0)
            return -1;
    }
    return 0;
}

// Checks everything and infers the shape of dst.
static int infer(const tl_tensor *src, const tl_tensor *dst, const tl_pool2d_param *param,
                 int *dims)
{
    if (tl_check_input(src, "src", 4) < 0)
        return -1;
    if (!param)
        return tl_fail("'param' is NULL, expected parameters");
    if (tl_check_at_least("size", param->size, 2, 1) < 0 ||
        tl_check_at_least("stride", param->stride, 2, 1) < 0 ||
        tl_check_at_least("padding", param->padding, 4, 0) < 0 || tl_check_apart(dst, src) < 0)
        return -1;
    dims[0] = src->dims[0];
    dims[1] = src->dims[1];
    return tl_pool2d_extents(src, param, dims + 2);
}

tl_tensor *tl_tensor_maxpool2d(const tl_tensor *src, tl_tensor *dst, const tl_pool2d_param *param)
{
    int dims[4];
    if (infer(src, dst, param, dims) < 0)
        return NULL;
    tl_tensor *const result = tl_result_begin(dst, 4, dims, src->dtype);
    return tl_result_end(result, dst, result ? tl_exec_maxpool2d(NULL, src, result, param) : -1);
}

tl_tensor *tl_tensor_avgpool2d(const tl_tensor *src, tl_tensor *dst, const tl_pool2d_param *param)
{
    int dims[4];
    if (infer(src, dst, param, dims) < 0 || tl_check_float(src, "src") < 0)
        return NULL;
    tl_tensor *const result = tl_result_begin(dst, 4, dims, src->dtype);
    return tl_result_end(result, dst, result ? tl_exec_avgpool2d(NULL, src, result, param) : -1);
}
