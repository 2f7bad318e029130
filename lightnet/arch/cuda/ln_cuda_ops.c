// SPDX-License-Identifier: Apache-2.0
// Operators of the GPU that take more than one call.

#include "arch/cuda/ln_cuda_ops.h"

#include <limits.h>

int ln_cuda_prepare_conv2d(ln_cuda_node *node, ln_op_arg *op_arg, ln_cuda_plan **plan,
                           const ln_cuda_conv *conv)
{
    if (ln_cuda_enter(node, op_arg) || !ln_cuda_libs_of(node) ||
        ln_cuda_plan_conv2d(ln_cuda_libs_of(node), plan, conv))
        return -1;
    op_arg->algorithm = ln_cuda_plan_name(*plan);
    return 0;
}

int ln_cuda_prepare_product(ln_cuda_node *node, ln_op_arg *op_arg, ln_cuda_plan **plan,
                            const ln_cuda_product *product)
{
    if (ln_cuda_enter(node, op_arg) || !ln_cuda_libs_of(node) ||
        ln_cuda_plan_product(ln_cuda_libs_of(node), plan, product))
        return -1;
    op_arg->algorithm = ln_cuda_plan_name(*plan);
    return 0;
}

int ln_cuda_join(ln_cuda_stream stream, const tl_tensor *const *srcs, int n, tl_tensor *dst,
                 int axis)
{
    const int from[TL_MAXDIM] = {0}, step[TL_MAXDIM] = {1, 1, 1, 1, 1, 1, 1, 1};
    int to[TL_MAXDIM] = {0};
    for (int i = 0; i < n; i++) {
        if (ln_cuda_copy_region(stream, srcs[i], from, step, srcs[i]->dims, dst, to))
            return -1;
        to[axis] += srcs[i]->dims[axis];
    }
    return 0;
}

enum { PART = 256 }; /* an alignment, and room for the number of boxes */

static size_t rows_size(const tl_tensor *dst)
{
    return (tl_tensor_size(dst) + PART - 1) / PART * PART;
}

size_t ln_cuda_nms_scratch(const tl_tensor *boxes, const tl_tensor *scores, const tl_tensor *dst)
{
    const tl_nms all = {.most = INT_MAX};
    return PART + rows_size(dst) + ln_cuda_nms_work(boxes, scores, &all);
}

int ln_cuda_run_nms(ln_cuda_node *node, const tl_tensor *boxes, const tl_tensor *scores,
                    const tl_nms *how, tl_tensor *dst, int *n, void *work)
{
    tl_tensor rows = *dst;
    rows.data = (char *)work + PART;
    *n = 0;
    if (ln_cuda_wait(node) ||
        ln_cuda_nms(node->stream, boxes, scores, how, &rows, work,
                    (char *)rows.data + rows_size(dst)) ||
        ln_cuda_expect(cudaMemcpyAsync(n, work, sizeof(*n), cudaMemcpyDeviceToHost, node->stream),
                       "copy from the GPU") ||
        ln_cuda_wait(node))
        return -1;
    const size_t size = (size_t)*n * 3 * sizeof(int64_t);
    return size && (ln_cuda_expect(cudaMemcpyAsync(dst->data, rows.data, size,
                                                   cudaMemcpyDeviceToHost, node->stream),
                                   "copy from the GPU") ||
                    ln_cuda_wait(node))
               ? -1
               : 0;
}
