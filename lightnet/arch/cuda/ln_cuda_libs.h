// SPDX-License-Identifier: Apache-2.0
// Convolutions and matrix multiplications by cuDNN and cuBLASLt. Each is planned once: a plan uses
// the fastest of the kernels that the libraries propose, as measured on the GPU.
//
//     ln_cuda_plan *plan = NULL;
//     if (ln_cuda_plan_conv2d(libs, &plan, &conv) ||
//         ln_cuda_run_plan(plan, libs, stream, (void *const[]){x, w, b, addend, y}, work))
//         fprintf(stderr, "%s\n", tl_last_error());
//     ln_cuda_free_plan(plan);

#pragma once

#include "arch/cuda/ln_cuda_kernels.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Handles of cuDNN and cuBLASLt, and the plans that were made with them, by shape. */
typedef struct ln_cuda_libs ln_cuda_libs;
typedef struct ln_cuda_plan ln_cuda_plan;

/** The max device memory that a plan may need to run, in bytes. */
enum { LN_CUDA_WORK = 128 << 20 };

/** Returns new (ln_cuda_libs_free). NULL with a reason in tl_last_error(). */
ln_cuda_libs *ln_cuda_libs_create(void);
void ln_cuda_libs_free(ln_cuda_libs *libs);

typedef struct ln_cuda_conv {
    const tl_tensor *src, *weight, *dst; // shapes and dtypes; their data is not used. [N, C, H, W]
                                         // and [OC, IC / group, KH, KW]; is_nhwc: [N, H, W, C]
                                         // and [OC, KH, KW, IC / group]
    const tl_tensor *taps; // of a depthwise convolution with is_nhwc: the weights also as
                           // [KH, KW, OC], for our depthwise kernels; or NULL: these are not tried
    int has_addend;        // of dst's shape, added before the activation
    tl_conv2d_param param; // with the activation
    int is_nhwc;
    int allow_tf32; // float32 products may round to 10 bits of mantissa
    int wants_sums; // see ln_cuda_plan_sums
} ln_cuda_conv;

/** Finds the fastest plan for the convolution, its bias, addend and activation: a fused kernel of
 * cuDNN, one of cuDNN and ln_cuda_epilogue, or one of ours. Replaces `*plan`, if any. It runs on:
 * src, weight (or taps), bias, addend (or NULL), dst. Source: cuDNN, "Graph API". */
int ln_cuda_plan_conv2d(ln_cuda_libs *libs, ln_cuda_plan **plan, const ln_cuda_conv *conv);

/** Whether the plan of a convolution runs on the taps instead of the weight. */
int ln_cuda_plan_reads_taps(const ln_cuda_plan *plan);

/** The same for the convolution of src * factors, which are [N, C]; requires ln_cuda_has_scaled.
 *  Runs on: src, weight, bias, addend (or NULL), dst, NULL, factors. */
int ln_cuda_plan_scaled(ln_cuda_libs *libs, ln_cuda_plan **plan, const ln_cuda_conv *conv);

/** 1: the convolution is 1x1 with stride 1 and one group, without padding, and is_nhwc. */
int ln_cuda_has_scaled(const ln_cuda_conv *conv);

/** With `wants_sums`: n > 0 if a run writes partial sums of dst, [N, n, C] of TL_FLOAT, to `work`:
 * their sum over axis 1 is dst's over H, W. 0: it does not. */
int ln_cuda_plan_sums(const ln_cuda_plan *plan);

typedef struct ln_cuda_product {
    const tl_tensor *src1, *src2,
        *dst;                   // [.., m, k], [.., k, n] and [.., m, n], as of operator matmul
    const tl_tensor *src1_more; // or NULL; its columns follow those of src1: k is the sum of both;
                                // 16-bit types without trans1 only
    const tl_tensor *bias;      // [n], added to each row; or NULL
    int trans1, trans2;
    double alpha;
    int has_addend;    // of dst's shape, added before the activation
    tl_activation act; // of the sum
    int allow_tf32;
} ln_cuda_product;

/** Finds the fastest plan for act(alpha * src1 x src2 + bias + addend). Axes before the last two
 * are equal in all three tensors, or of src2 all 1 or absent. Runs on: src1, src2, bias (or NULL),
 * addend (or NULL), dst, src1_more (or NULL). Source: cuBLAS, "Using the cuBLASLt API". */
int ln_cuda_plan_product(ln_cuda_libs *libs, ln_cuda_plan **plan, const ln_cuda_product *product);

/** Whether ln_cuda_plan_product supports these shapes. */
int ln_cuda_has_product(const tl_tensor *src1, const tl_tensor *src2, const tl_tensor *bias,
                        const tl_tensor *dst);

/** Launches the plan on the stream. `work`: device memory of ln_cuda_plan_work bytes. */
int ln_cuda_run_plan(const ln_cuda_plan *plan, ln_cuda_libs *libs, ln_cuda_stream stream,
                     void *const *data, void *work);
size_t ln_cuda_plan_work(const ln_cuda_plan *plan);

/** The name of its kernel, such as "cudnn 12 fused" or "cublaslt"; constant while `libs` lives. */
const char *ln_cuda_plan_name(const ln_cuda_plan *plan);

/** Its measured time, in seconds. */
double ln_cuda_plan_seconds(const ln_cuda_plan *plan);

/** Accepts NULL. */
void ln_cuda_free_plan(ln_cuda_plan *plan);

#ifdef __cplusplus
}
#endif
