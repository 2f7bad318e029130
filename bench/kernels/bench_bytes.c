// SPDX-License-Identifier: Apache-2.0
// Kernels on 8-bit integers: preparation and runs.

#include "bench_kernels.h"

static const tl_quantized_param no_zeros = {.scale = 1, .dst_factor = 1};

// A factor that brings sums of `products` into 8 bits.
static tl_tensor *factor_for(bench_job *job, int products)
{
    tl_tensor *const factor = bench_blank(job, 1, DIMS(1));
    if (factor)
        *(float *)factor->data = 0.01f / (float)products;
    return factor;
}

// Products of matrices

static int prepare_matmul(bench_job *job)
{
    const int m = job->shape.dims[0], k = job->shape.dims[1], n = job->shape.out;
    job->src = bench_random_of(job, TL_UINT8, 2, DIMS(m, k), 0, 255);
    job->weight = bench_random_of(job, TL_INT8, 2, DIMS(k, n), -127, 127);
    job->bias = factor_for(job, k);
    job->dst = bench_blank_of(job, TL_UINT8, 2, DIMS(m, n));
    job->plain_dst = bench_blank(job, 2, DIMS(m, n));
    job->packed =
        bench_blank_of(job, TL_INT8, 2, DIMS(tl_blocks(n), (int)tl_quantized_matmul_packed(k)));
    if (job->n_tensors != 6)
        return -1;
    job->flops = 2.0 * m * n * k;
    job->bytes = bench_size(job->src) + bench_size(job->weight) + bench_size(job->dst);
    job->scratch_size = tl_quantized_matmul_scratch(job->src, job->dst, job->threads);
    return tl_exec_quantized_matmul_pack(NULL, job->weight, NULL, job->bias, NULL, job->packed, 0);
}

static int finish_matmul(bench_job *job)
{
    return tl_exec_convert(NULL, job->dst, job->plain_dst);
}

BENCH_KERNEL(quantized_matmul, "quantized_matmul", prepare_matmul, finish_matmul,
             tl_exec_quantized_matmul(exec, job->src, job->packed, job->dst, &no_zeros));

// Convolutions

static tl_tensor *blocked_like(bench_job *job, const tl_tensor *t)
{
    return bench_blank_of(
        job, TL_UINT8, 5,
        DIMS(t->dims[0], tl_blocks(t->dims[1]), t->dims[2], t->dims[3], TL_BLOCK));
}

// [N, C, H, W] to blocks of channels, or back as floats.
static void move_blocked(const tl_tensor *plain, const tl_tensor *blocked, int is_back)
{
    const int *const d = plain->dims, blocks = blocked->dims[1];
    const size_t pixels = (size_t)d[2] * d[3];
    uint8_t *const b = blocked->data;
    for (size_t i = 0; i < (size_t)d[0] * d[1] * pixels; i++) {
        const size_t n = i / pixels / d[1], c = i / pixels % d[1], p = i % pixels;
        uint8_t *const at =
            b + ((n * blocks + c / TL_BLOCK) * pixels + p) * TL_BLOCK + c % TL_BLOCK;
        if (is_back)
            ((float *)plain->data)[i] = *at;
        else
            *at = ((const uint8_t *)plain->data)[i];
    }
}

static int prepare_conv2d(bench_job *job)
{
    const bench_shape *const s = &job->shape;
    const int c = s->dims[1], k = s->size, channels[] = {c, s->out};
    const int oh = bench_length(s, s->dims[2]), ow = bench_length(s, s->dims[3]);
    job->conv = bench_conv(s, 1);
    const int row = (int)tl_quantized_conv2d_packed(channels, &job->conv, 0);
    job->plain_src = bench_random_of(job, TL_UINT8, 4, s->dims, 0, 255);
    job->weight = bench_random_of(job, TL_INT8, 4, DIMS(s->out, c, k, k), -127, 127);
    job->bias = factor_for(job, c * k * k);
    job->plain_dst = bench_blank(job, 4, DIMS(s->dims[0], s->out, oh, ow));
    job->packed = bench_blank_of(job, TL_INT8, 2, DIMS(tl_blocks(s->out), row));
    if (job->n_tensors != 5)
        return -1;
    job->src = blocked_like(job, job->plain_src);
    job->dst = blocked_like(job, job->plain_dst);
    if (job->n_tensors != 7)
        return -1;
    move_blocked(job->plain_src, job->src, 0);
    job->flops = 2.0 * c * k * k * s->dims[0] * s->out * oh * ow;
    job->bytes = bench_size(job->src) + bench_size(job->weight) + bench_size(job->dst);
    job->scratch_size =
        tl_quantized_conv2d_scratch(job->src, job->dst, &job->conv, channels, 0, job->threads);
    return tl_exec_quantized_conv2d_pack(NULL, job->weight, NULL, job->bias, NULL, job->packed,
                                         &job->conv, 0);
}

static int finish_conv2d(bench_job *job)
{
    move_blocked(job->plain_dst, job->dst, 1);
    return 0;
}

BENCH_KERNEL(quantized_conv2d, "quantized_conv2d", prepare_conv2d, finish_conv2d,
             tl_exec_quantized_conv2d(exec, job->src, job->packed, job->dst, &job->conv,
                                      DIMS(job->shape.dims[1], job->shape.out), 0, &no_zeros));

static int prepare_winograd(bench_job *job)
{
    const bench_shape *const s = &job->shape;
    const int channels = s->dims[1];
    if (s->size != 3 || s->stride != 1)
        return 1;
    if (prepare_conv2d(job) < 0)
        return -1;
    job->packed = bench_blank_of(
        job, TL_INT8, 2, DIMS(tl_blocks(s->out), (int)tl_quantized_winograd_packed(channels)));
    job->scratch_size = tl_quantized_winograd_scratch(job->src, job->dst, channels, job->threads);
    return job->packed ? tl_exec_quantized_winograd_pack(NULL, job->weight, NULL, job->bias, NULL,
                                                         job->packed)
                       : -1;
}

BENCH_KERNEL(quantized_winograd, "quantized winograd 4x4", prepare_winograd, finish_conv2d,
             tl_exec_quantized_winograd(exec, job->src, job->packed, job->dst, &job->conv,
                                        job->shape.dims[1], &no_zeros));

// Products of floats with weights of few bits: `size` rows share a scale, `stride` bits; `from`
// TL_INT8: the source is rounded to bytes

static int prepare_lowbit(bench_job *job)
{
    const bench_shape *const s = &job->shape;
    const int m = s->dims[0], k = s->dims[1], n = s->out, max = (1 << s->stride) - 1;
    const tl_lowbit_param param = {.bits = s->stride,
                                   .block = tl_lowbit_block(k, s->size),
                                   .zero = (max + 1) / 2,
                                   .src_bits = s->from == TL_INT8 ? 8 : 0};
    job->lowbit = param;
    job->src = bench_random(job, 2, DIMS(m, k), -1, 1);
    const tl_lowbit_layout layout = {k, n, 1, 0, s->size};
    job->weight = bench_random_of(job, TL_UINT8, 1, DIMS((n * k * s->stride + 7) / 8), 0, 255);
    job->bias = bench_random(job, 2, DIMS(n, (k + s->size - 1) / s->size), 0.001, 0.01);
    job->dst = bench_blank(job, 2, DIMS(m, n));
    job->packed = bench_blank_of(job, TL_UINT8, 1, DIMS((int)tl_lowbit_packed(k, n, &param)));
    if (job->n_tensors != 5)
        return -1;
    job->flops = m > 1 ? 2.0 * m * n * k : 0;
    job->bytes = bench_size(job->packed);
    job->scratch_size = tl_lowbit_matmul_scratch(job->src, n, &param, job->threads);
    return tl_exec_lowbit_pack(NULL, job->weight, job->bias, NULL, job->packed, &param, &layout);
}

BENCH_KERNEL(lowbit, "lowbit_matmul", prepare_lowbit, NULL,
             tl_exec_lowbit_matmul(exec, job->src, job->packed, NULL, job->dst, &job->lowbit));
