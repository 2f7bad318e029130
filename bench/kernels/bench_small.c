// SPDX-License-Identifier: Apache-2.0
// Kernels on types other than float: preparation and runs.

#include "bench_kernels.h"

#include "tensorlight/tl_quantized.h"

// src and dst of the shape's types, and the floats that dst is compared as.
static int prepare_types(bench_job *job)
{
    const bench_shape *const s = &job->shape;
    job->src = bench_random_of(job, s->from, 2, s->dims, -100, 100);
    job->dst = bench_blank_of(job, s->to, 2, s->dims);
    job->plain_dst = bench_blank(job, 2, s->dims);
    job->bytes = bench_size(job->src) + bench_size(job->dst);
    return job->n_tensors == 3 ? 0 : -1;
}

static int finish_types(bench_job *job)
{
    return tl_exec_convert(NULL, job->dst, job->plain_dst);
}

// The same with one scale, and one zero of the integer type.
static int prepare_scaled(bench_job *job, tl_dtype number, tl_dtype integer)
{
    if (prepare_types(job) < 0)
        return -1;
    job->weight = bench_random_of(job, number, 1, DIMS(1), 0.7, 0.8);
    job->bias = bench_random_of(job, integer, 1, DIMS(1), 10, 20);
    return job->weight && job->bias ? 0 : -1;
}

static int prepare_quantize(bench_job *job)
{
    return prepare_scaled(job, TL_FLOAT, job->shape.to);
}

BENCH_KERNEL(quantize, "quantize", prepare_quantize, finish_types,
             tl_exec_quantize(exec, job->src, job->weight, job->bias, job->dst, 0, 0));

static int prepare_dequantize(bench_job *job)
{
    if (prepare_scaled(job, job->shape.to, job->shape.from) < 0)
        return -1;
    if (job->shape.from == TL_INT32) // as biases have it
        *(int32_t *)job->bias->data = 0;
    return 0;
}

BENCH_KERNEL(dequantize, "dequantize", prepare_dequantize, finish_types,
             tl_exec_dequantize(exec, job->src, job->weight, job->bias, job->dst, 0, 0));

static int prepare_range(bench_job *job)
{
    job->src = bench_random(job, 2, job->shape.dims, -1, 1);
    job->dst = bench_blank(job, 1, DIMS(1));
    job->bias = bench_blank_of(job, TL_UINT8, 1, DIMS(1));
    job->bytes = bench_size(job->src);
    return job->n_tensors == 3 ? 0 : -1;
}

BENCH_KERNEL(quantize_range, "quantize_range", prepare_range, NULL,
             tl_exec_quantize_range(exec, job->src, job->dst, job->bias));

BENCH_KERNEL(cast, "cast", prepare_types, finish_types, tl_exec_cast(exec, job->src, job->dst));

// Windows over 8-bit channels in blocks

// src and dst in blocks, and dst as floats.
static int prepare_windows(bench_job *job)
{
    const bench_shape *const s = &job->shape;
    const int blocks = tl_blocks(s->dims[1]);
    const int oh = bench_length(s, s->dims[2]), ow = bench_length(s, s->dims[3]);
    job->conv = bench_conv(s, s->dims[1]);
    job->pool = bench_pool(s);
    job->src = bench_random_of(job, TL_UINT8, 5,
                               DIMS(s->dims[0], blocks, s->dims[2], s->dims[3], TL_BLOCK), 0, 255);
    job->dst = bench_blank_of(job, TL_UINT8, 5, DIMS(s->dims[0], blocks, oh, ow, TL_BLOCK));
    job->plain_dst = bench_blank(job, 5, DIMS(s->dims[0], blocks, oh, ow, TL_BLOCK));
    job->bytes = bench_size(job->src) + bench_size(job->dst);
    return job->n_tensors == 3 ? 0 : -1;
}

static int prepare_quantized_depthwise(bench_job *job)
{
    const bench_shape *const s = &job->shape;
    if (prepare_windows(job) < 0)
        return -1;
    job->weight =
        bench_random_of(job, TL_INT8, 4, DIMS(s->dims[1], 1, s->size, s->size), -128, 127);
    job->bias = bench_random_of(job, TL_INT32, 1, DIMS(s->dims[1]), -1000, 1000);
    job->packed = bench_blank_of(
        job, TL_INT8, 2,
        DIMS(tl_blocks(s->dims[1]), (int)tl_quantized_depthwise2d_packed(job->conv.size)));
    job->flops = 2.0 * s->size * s->size * s->dims[1] * job->dst->dims[2] * job->dst->dims[3];
    return job->packed ? tl_exec_quantized_depthwise2d_pack(NULL, job->weight, job->bias, NULL,
                                                            NULL, job->packed)
                       : -1;
}

static const tl_quantized_param window_param = {
    .zero = 120, .scale = 0.002f, .act = {TL_ACT_RELU, 0, 0}, .dst_factor = 1, .dst_zero = 3};

BENCH_KERNEL(quantized_depthwise, "quantized_depthwise", prepare_quantized_depthwise, finish_types,
             tl_exec_quantized_depthwise2d(exec, job->src, job->packed, job->dst, &job->conv,
                                           &window_param));

BENCH_KERNEL(quantized_maxpool, "quantized_maxpool", prepare_windows, finish_types,
             tl_exec_quantized_maxpool2d(exec, job->src, job->dst, &job->pool));

static int run_quantized_avgpool(const tl_exec *exec, bench_job *job)
{
    tl_quantized_param q = window_param;
    q.scale = 1;
    return tl_exec_quantized_avgpool2d(exec, job->src, job->dst, &job->pool, 0, &q);
}

const bench_kernel bench_quantized_avgpool = {"quantized_avgpool", prepare_windows,
                                              run_quantized_avgpool, finish_types};

// Element by element

static int prepare_bytes(bench_job *job, int ndim, const int *dims, int second_ndim,
                         const int *second_dims)
{
    job->src = bench_random_of(job, TL_UINT8, ndim, dims, 0, 255);
    job->weight = bench_random_of(job, TL_UINT8, second_ndim, second_dims, 0, 255);
    job->dst = bench_blank_of(job, TL_UINT8, ndim, dims);
    job->plain_dst = bench_blank(job, ndim, dims);
    job->bytes = bench_size(job->src) + bench_size(job->weight) + bench_size(job->dst);
    return job->n_tensors == 4 ? 0 : -1;
}

static const tl_quantized_pair pair_param = {
    .zeros = {120, 130}, .factors = {0.4f, 0.3f}, .dst_factor = 1, .dst_zero = 125};

static int prepare_quantized_add(bench_job *job)
{
    return prepare_bytes(job, 1, job->shape.dims, 1, job->shape.dims);
}

BENCH_KERNEL(quantized_add, "quantized_add", prepare_quantized_add, finish_types,
             tl_exec_quantized_add(exec, job->src, job->weight, job->dst, &pair_param));

static int prepare_quantized_mul(bench_job *job)
{
    const int *const d = job->shape.dims, blocks = tl_blocks(d[1]);
    return prepare_bytes(job, 5, DIMS(d[0], blocks, d[2], d[3], TL_BLOCK), 5,
                         DIMS(d[0], blocks, 1, 1, TL_BLOCK));
}

BENCH_KERNEL(quantized_mul, "quantized_mul", prepare_quantized_mul, finish_types,
             tl_exec_quantized_mul(exec, job->src, job->weight, job->dst, &pair_param));

static int prepare_quantized_lookup(bench_job *job)
{
    return prepare_bytes(job, 1, job->shape.dims, 1, DIMS(256));
}

BENCH_KERNEL(quantized_lookup, "quantized_lookup", prepare_quantized_lookup, finish_types,
             tl_exec_quantized_lookup(exec, job->src, job->weight, job->dst));

// Operations on two tensors of any type

static int prepare_two_types(bench_job *job, tl_dtype result)
{
    const bench_shape *const s = &job->shape;
    job->src = bench_random_of(job, s->from, 2, s->dims, -100, 100);
    job->weight = bench_random_of(job, s->from, 2, s->dims, -100, 100);
    job->bias = bench_random_of(job, TL_BOOL, 2, s->dims, 0, 1);
    job->dst = bench_blank_of(job, result, 2, s->dims);
    job->plain_dst = bench_blank(job, 2, s->dims);
    job->bytes = bench_size(job->src) + bench_size(job->weight) + bench_size(job->dst);
    return job->n_tensors == 5 ? 0 : -1;
}

static int prepare_typed(bench_job *job)
{
    return prepare_two_types(job, job->shape.from);
}

BENCH_KERNEL(typed_add, "binary add", prepare_typed, finish_types,
             tl_exec_binary(exec, job->src, job->weight, job->dst, TL_BINARY_ADD));

BENCH_KERNEL(typed_max, "binary max", prepare_typed, finish_types,
             tl_exec_binary(exec, job->src, job->weight, job->dst, TL_BINARY_MAX));

static int prepare_typed_greater(bench_job *job)
{
    return prepare_two_types(job, TL_BOOL);
}

BENCH_KERNEL(typed_greater, "compare greater", prepare_typed_greater, finish_types,
             tl_exec_compare(exec, job->src, job->weight, job->dst, TL_COMPARE_GREATER));

BENCH_KERNEL(typed_where, "where", prepare_typed, finish_types,
             tl_exec_where(exec, job->bias, job->src, job->weight, job->dst));
