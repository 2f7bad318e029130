// SPDX-License-Identifier: Apache-2.0
// Activations as cuDNN, cuBLASLt and our kernels of 16 bits have them: a list, for C and CUDA.

#pragma once

// clang-format off

/** ROW(arg, NAME, mode, epilogue, fast) for each TL_ACT_NAME but TL_ACT_NONE. mode: cuDNN's for
 *  pointwise operations; epilogue: cuBLASLt's, whose GELU is the tanh form; 0: unsupported. fast:
 *  act(x) by approximate instructions (ln_cuda_act.cuh). GELU_TANH is x sigmoid(2 sqrt(2 / pi)
 *  (x + 0.044715 x^3)). */
#define LN_CUDA_ACTS(ROW, arg) \
    ROW(arg, RELU, CUDNN_POINTWISE_RELU_FWD, CUBLASLT_EPILOGUE_RELU, ln_max_of(x, 0)) \
    ROW(arg, LRELU, CUDNN_POINTWISE_RELU_FWD, 0, x < 0 ? act.alpha * x : x) \
    ROW(arg, SIGMOID, CUDNN_POINTWISE_SIGMOID_FWD, 0, ln_fast_sigmoid(x)) \
    ROW(arg, CLIP, CUDNN_POINTWISE_RELU_FWD, 0, ln_min_of(ln_max_of(x, act.alpha), act.beta)) \
    ROW(arg, TANH, CUDNN_POINTWISE_TANH_FWD, 0, tanhf(x)) \
    ROW(arg, SILU, CUDNN_POINTWISE_SWISH_FWD, 0, x * ln_fast_sigmoid(x)) \
    ROW(arg, GELU, CUDNN_POINTWISE_GELU_FWD, CUBLASLT_EPILOGUE_GELU, ln_fast_gelu(x)) \
    ROW(arg, GELU_TANH, CUDNN_POINTWISE_GELU_APPROX_TANH_FWD, CUBLASLT_EPILOGUE_GELU, \
        x * ln_fast_sigmoid(x * (1.59576912160573071176f + 0.0713548162726f * x * x))) \
    ROW(arg, HARDSIGMOID, 0, 0, ln_hardsigmoid_of(x, act.alpha, act.beta)) \
    ROW(arg, HARDSWISH, 0, 0, x * __saturatef(act.alpha * x + act.beta))

// clang-format on
