// SPDX-License-Identifier: Apache-2.0
// oneDNN's primitives on plain tensors of TL_FLOAT.
//
//     ln_dnnl *prim = NULL;
//     if (ln_dnnl_softmax(&exec, &prim, src, dst, 1) ||
//         ln_dnnl_run(prim, (void *const[]){src->data, dst->data}))
//         fprintf(stderr, "%s\n", tl_last_error());
//     ln_dnnl_free(prim);
//
// Each function creates a primitive for these shapes, replacing `*prim`, if any; the data of the
// tensors may be set later, and runs use the threads of `exec`. -1 with the reason in
// tl_last_error(), *prim NULL: not supported by oneDNN, no memory. A primitive keeps no tensor.

#pragma once

#include "tensorlight/tensorlight.h"

typedef struct ln_dnnl ln_dnnl;

/** Whether oneDNN supports this activation, other than TL_ACT_NONE. */
int ln_dnnl_has_act(tl_act act);

/** Whether oneDNN supports this operation. */
int ln_dnnl_has_binary(tl_binary_op op);

/** As tl_exec_conv2d, `addend` (NULL: none), of dst's shape, being added before the activation.
 * Runs on: src, weight, bias, dst, addend. Source: oneDNN, "Convolution", "Primitive Attributes:
 *  Post-ops". */
int ln_dnnl_conv2d(const tl_exec *exec, ln_dnnl **prim, const tl_tensor *src,
                   const tl_tensor *weight, const tl_tensor *bias, const tl_tensor *addend,
                   const tl_tensor *dst, const tl_conv2d_param *param);

/** src1 [m, k] x src2 [k, n] (trans1, trans2: stored the other way round) + bias [n] (NULL: none)
 * -> dst [m, n]. Runs on: src1, src2, dst, bias. Source: oneDNN, "Matrix Multiplication". */
int ln_dnnl_matmul(const tl_exec *exec, ln_dnnl **prim, const tl_tensor *src1,
                   const tl_tensor *src2, const tl_tensor *bias, const tl_tensor *dst, int trans1,
                   int trans2);

/** As tl_exec_maxpool2d or tl_exec_avgpool2d. Runs on: src, dst. Source: oneDNN, "Pooling". */
int ln_dnnl_pool2d(const tl_exec *exec, ln_dnnl **prim, const tl_tensor *src, const tl_tensor *dst,
                   const tl_pool2d_param *param, int is_max);

/** As tl_exec_batchnorm. Runs on: src, scale, offset, mean, var, dst. Source: oneDNN, "Batch
 *  Normalization". */
int ln_dnnl_batchnorm(const tl_exec *exec, ln_dnnl **prim, const tl_tensor *src,
                      const tl_tensor *dst, float epsilon);

/** As tl_exec_softmax. Runs on: src, dst. Source: oneDNN, "Softmax". */
int ln_dnnl_softmax(const tl_exec *exec, ln_dnnl **prim, const tl_tensor *src, const tl_tensor *dst,
                    int axis);

/** As tl_exec_act, for activations of ln_dnnl_has_act. Runs on: src, dst. Source: oneDNN,
 * "Eltwise". */
int ln_dnnl_act(const tl_exec *exec, ln_dnnl **prim, const tl_tensor *src, const tl_tensor *dst,
                tl_activation act);

/** tl_exec_binary of one shape, then the activation, for operations of ln_dnnl_has_binary. Runs on:
 * src1, src2, dst. Source: oneDNN, "Binary". */
int ln_dnnl_binary(const tl_exec *exec, ln_dnnl **prim, const tl_tensor *src1,
                   const tl_tensor *src2, const tl_tensor *dst, tl_binary_op op, tl_activation act);

/** Computes, on data of tensors with the primitive's shapes, in the order documented there. -1 with
 * a reason: oneDNN fails. */
int ln_dnnl_run(ln_dnnl *prim, void *const *data);

/** Accepts NULL. */
void ln_dnnl_free(ln_dnnl *prim);
