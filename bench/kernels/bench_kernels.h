// SPDX-License-Identifier: Apache-2.0
// The kernels of TensorLight.

#pragma once

#include "bench_job.h"

#define DIMS(...) ((int[]){__VA_ARGS__})

extern const bench_kernel bench_matmul, bench_matmul_trans1, bench_matmul_trans2,
    bench_matmul_trans;
extern const bench_kernel bench_matmul_packed;
extern const bench_kernel bench_matmul_split;
extern const bench_kernel bench_matmul_pairs;

/** Convolutions by the operator's own kernel, and in blocks of channels. */
extern const bench_kernel bench_conv2d, bench_blocked_conv2d, bench_blocked_depthwise;
extern const bench_kernel bench_blocked_conv2d_pairs;
extern const bench_kernel bench_deconv2d, bench_blocked_deconv2d;
extern const bench_kernel bench_winograd2, bench_winograd4, bench_winograd6;

extern const bench_kernel bench_maxpool2d, bench_avgpool2d;
extern const bench_kernel bench_blocked_maxpool2d, bench_blocked_avgpool2d;
extern const bench_kernel bench_softmax, bench_layernorm, bench_attention;
extern const bench_kernel bench_unary, bench_add, bench_mul;
extern const bench_kernel bench_steps, bench_chain;
extern const bench_kernel bench_transpose, bench_to_blocked, bench_from_blocked;

/** bench_small.c: small integers, and other types than floats. */
extern const bench_kernel bench_quantize, bench_dequantize, bench_quantize_range, bench_cast;
extern const bench_kernel bench_quantized_depthwise, bench_quantized_maxpool,
    bench_quantized_avgpool;
extern const bench_kernel bench_typed_add, bench_typed_max, bench_typed_greater, bench_typed_where;
extern const bench_kernel bench_quantized_add, bench_quantized_mul, bench_quantized_lookup;

/** bench_bytes.c: of unsigned by signed 8-bit integers. */
extern const bench_kernel bench_quantized_matmul, bench_quantized_conv2d, bench_quantized_winograd;
extern const bench_kernel bench_lowbit;
