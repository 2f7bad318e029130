// SPDX-License-Identifier: Apache-2.0
// Operators of the GPU that need more than one call.

#pragma once

#include "arch/cuda/ln_cuda.h"

/** The shape of conv2d_cuda's result. -1 with a reason: the arguments do not fit. `taps` may be
 * NULL.
 */
int ln_cuda_conv2d_dims(const tl_tensor *src, const tl_tensor *weight, const tl_tensor *taps,
                        const tl_tensor *bias, const tl_conv2d_param *param, int is_nhwc,
                        int *dims);

/** The shape of matmul_cuda's result; returns its number of axes. -1 with a reason. `more`: columns
 * of src1 after its own, or NULL. */
int ln_cuda_product_dims(const tl_tensor *src1, const tl_tensor *more, const tl_tensor *src2,
                         int trans1, int trans2, int *dims);

/** The shapes of interleave_cuda and conv2d_maxpool_cuda: -1 with a reason. */
int ln_cuda_interleave_dims(const tl_tensor *src1, const tl_tensor *src2, int first, int half,
                            int *dims);
int ln_cuda_conv2d_maxpool_dims(const tl_tensor *src, const tl_tensor *weight,
                                const tl_tensor *bias, const tl_conv2d_param *param,
                                const tl_pool2d_param *pool, int *dims);

/** As tl_attention_dims, of some heads. n 6: heads is {first, count} of q, then of k, then of v;
 *  n 0: all heads. */
int ln_cuda_attention_dims(const tl_tensor *q, const tl_tensor *k, const tl_tensor *v,
                           const tl_tensor *mask, const tl_attention_param *param, int n,
                           const int *heads, int *dims);

/** The product of the lengths of the axes from `axis` on. */
int ln_cuda_line_length(const tl_tensor *src, int axis);

/** ln_cuda_enter; then finds the operator's plan, whose name becomes its `algorithm`. */
int ln_cuda_prepare_conv2d(ln_cuda_node *node, ln_op_arg *op_arg, ln_cuda_plan **plan,
                           const ln_cuda_conv *conv);
int ln_cuda_prepare_scaled(ln_cuda_node *node, ln_op_arg *op_arg, ln_cuda_plan **plan,
                           const ln_cuda_conv *conv);
int ln_cuda_prepare_product(ln_cuda_node *node, ln_op_arg *op_arg, ln_cuda_plan **plan,
                            const ln_cuda_product *product);

/** Fills the job of excite_cuda on images of `dims`, [N, H, W, C], without data and activations. -1
 *  with a reason: the arguments do not fit. */
int ln_cuda_excite_sizes(tl_dtype dtype, const int *dims, const tl_tensor *weight1,
                         const tl_tensor *bias1, const tl_tensor *weight2, const tl_tensor *bias2,
                         ln_cuda_excite_job *job);

/** A copy of the job with the data of these tensors. */
ln_cuda_excite_job ln_cuda_excite_of(const ln_cuda_excite_job *job, const tl_tensor *src,
                                     const tl_tensor *weight1, const tl_tensor *bias1,
                                     const tl_tensor *weight2, const tl_tensor *bias2,
                                     tl_tensor *dst);

/** ln_cuda_excite after a run of `plan`, with its sums in `work` (ln_cuda_plan_sums) in place of
 *  src, if it leaves some. */
int ln_cuda_excite_after(ln_cuda_stream stream, const ln_cuda_plan *plan, const void *work,
                         ln_cuda_excite_job job);

/** As tl_exec_concat, of any type of 1, 2, 4 or 8 bytes. */
int ln_cuda_join(ln_cuda_stream stream, const tl_tensor *const *srcs, int n, tl_tensor *dst,
                 int axis);

/** As tl_exec_nms: `boxes` and `scores` on the GPU, `dst` of LN_MEM_CPU; returns when it is done.
 * `work`: GPU memory of ln_cuda_nms_scratch bytes. */
int ln_cuda_run_nms(ln_cuda_node *node, const tl_tensor *boxes, const tl_tensor *scores,
                    const tl_nms *how, tl_tensor *dst, int *n, void *work);
size_t ln_cuda_nms_scratch(const tl_tensor *boxes, const tl_tensor *scores, const tl_tensor *dst);
