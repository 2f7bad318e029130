// SPDX-License-Identifier: Apache-2.0
// The kernels of TensorLight: preparation and runs.

#include "bench_kernels.h"

// Whether all tensors of the job could be had; sets the bytes.
static int is_prepared(bench_job *job, int n_tensors)
{
    job->bytes = bench_size(job->src) + bench_size(job->weight) + bench_size(job->bias) +
                 bench_size(job->dst);
    return job->n_tensors == n_tensors ? 0 : -1;
}

// Products of matrices

static tl_tensor *transposed(bench_job *job, const tl_tensor *t)
{
    tl_tensor *const result = bench_blank(job, 2, DIMS(t->dims[1], t->dims[0]));
    return result && !tl_exec_transpose(NULL, t, result, DIMS(1, 0)) ? result : NULL;
}

// Which of the two matrices are transposed.
enum { TRANS1 = 1, TRANS2 = 2 };

// Packs the second matrix into `packed`.
static int prepare_matmul(bench_job *job)
{
    const int m = job->shape.dims[0], k = job->shape.dims[1], n = job->shape.out;
    const int trans1 = job->variant & TRANS1, trans2 = job->variant & TRANS2;
    job->matmul = (tl_matmul_param){.trans1 = trans1 != 0, .trans2 = trans2 != 0, .alpha = 1};
    job->src = bench_random(job, 2, DIMS(m, k), -1, 1);
    job->weight = bench_random(job, 2, DIMS(k, n), -1, 1);
    job->dst = bench_blank(job, 2, DIMS(m, n));
    job->flops = 2.0 * m * n * k;
    if (is_prepared(job, 3) < 0)
        return -1;
    job->plain_src = job->src;
    job->src = trans1 ? transposed(job, job->src) : job->src;
    job->packed = trans2 ? transposed(job, job->weight) : job->weight;
    if (!job->src || !job->packed)
        return -1;
    job->scratch_size =
        tl_matmul_scratch(job->src, job->packed, NULL, job->dst, &job->matmul, job->threads);
    return 0;
}

static int run_matmul(const tl_exec *exec, bench_job *job)
{
    return tl_exec_matmul(exec, job->src, job->packed, NULL, job->dst, &job->matmul);
}

#define MATMUL(id, name, variant) \
    const bench_kernel bench_##id = {name, prepare_matmul, run_matmul, NULL, variant}

MATMUL(matmul, "matmul", 0);
MATMUL(matmul_trans1, "matmul, 1st transposed", TRANS1);
MATMUL(matmul_trans2, "matmul, 2nd transposed", TRANS2);
MATMUL(matmul_trans, "matmul, both transposed", TRANS1 | TRANS2);

static int prepare_matmul_packed(bench_job *job)
{
    if (prepare_matmul(job) < 0)
        return -1;
    job->packed = bench_blank(
        job, 3, DIMS(tl_matmul_panels(job->shape.out), job->shape.dims[1], TL_MATMUL_PANEL));
    job->scratch_size =
        tl_matmul_packed_scratch(job->src, job->weight, NULL, job->dst, &job->matmul, job->threads);
    return job->packed ? tl_exec_matmul_pack(NULL, job->weight, job->packed, 0) : -1;
}

static int run_matmul_packed(const tl_exec *exec, bench_job *job)
{
    return tl_exec_matmul_packed(exec, job->src, job->packed, NULL, NULL, job->dst, &job->matmul,
                                 (tl_activation){0});
}

// With a matrix [k, n] in pairs of bfloat16, of this shape.
static int pack_pairs(bench_job *job, const int dims[3])
{
    job->packed = bench_blank_of(job, TL_BFLOAT16, 3, dims);
    if (!job->packed)
        return -1;
    job->scratch_size =
        tl_matmul_packed_scratch(job->src, job->packed, NULL, job->dst, &job->matmul, job->threads);
    return tl_exec_matmul_pack(NULL, job->weight, job->packed, 0);
}

static int prepare_matmul_pairs(bench_job *job)
{
    int dims[3];
    return prepare_matmul(job) ||
                   tl_matmul_packed_dims(job->shape.dims[1], job->shape.out, TL_BFLOAT16, dims)
               ? -1
               : pack_pairs(job, dims);
}

static int prepare_matmul_split(bench_job *job)
{
    int dims[3];
    return prepare_matmul(job) || tl_matmul_split_dims(job->shape.dims[1], job->shape.out, dims)
               ? -1
               : pack_pairs(job, dims);
}

const bench_kernel bench_matmul_pairs = {"matmul, bfloat16", prepare_matmul_pairs,
                                         run_matmul_packed, NULL};

const bench_kernel bench_matmul_split = {"matmul, bfloat16x3", prepare_matmul_split,
                                         run_matmul_packed, NULL};

const bench_kernel bench_matmul_packed = {"matmul, 2nd packed", prepare_matmul_packed,
                                          run_matmul_packed, NULL};

// Convolutions

static int prepare_conv2d(bench_job *job)
{
    const bench_shape *const s = &job->shape;
    const int n = s->dims[0], c = s->dims[1], k = s->size;
    const int oh = bench_length(s, s->dims[2]), ow = bench_length(s, s->dims[3]);
    const int group = s->group ? s->group : 1, inner = c / group;
    job->conv = bench_conv(s, group);
    job->src = bench_random(job, 4, s->dims, -1, 1);
    job->weight = bench_random(job, 4, DIMS(s->out, inner, k, k), -1, 1);
    job->bias = bench_random(job, 1, DIMS(s->out), -1, 1);
    job->dst = bench_blank(job, 4, DIMS(n, s->out, oh, ow));
    job->flops = 2.0 * inner * k * k * n * s->out * oh * ow;
    return is_prepared(job, 4);
}

BENCH_KERNEL(conv2d, "conv2d", prepare_conv2d, NULL,
             tl_exec_conv2d(exec, job->src, job->weight, job->bias, job->dst, &job->conv));

static tl_tensor *blocked_like(bench_job *job, const tl_tensor *t)
{
    return bench_blank(job, 5,
                       DIMS(t->dims[0], tl_blocks(t->dims[1]), t->dims[2], t->dims[3], TL_BLOCK));
}

// 16 channels of a source in blocks are read together; few channels are left in planes.
static int lanes_of(const bench_job *job)
{
    return job->shape.dims[1] < TL_BLOCK ? 1 : TL_BLOCK;
}

static int prepare_blocked_conv2d(bench_job *job)
{
    if (prepare_conv2d(job) < 0)
        return -1;
    const int *const size = job->conv.size;
    const int channels[] = {job->shape.dims[1], job->shape.out}, lanes = lanes_of(job);
    const size_t row = tl_blocked_conv2d_packed(channels, job->conv.group, size, lanes);
    job->plain_src = job->src;
    job->plain_dst = job->dst;
    job->src = lanes == 1 ? job->plain_src : blocked_like(job, job->plain_src);
    job->dst = blocked_like(job, job->plain_dst);
    job->packed = bench_blank(job, 2, DIMS(tl_blocks(channels[1]), (int)row));
    if (!job->src || !job->dst || !job->packed)
        return -1;
    job->scratch_size =
        tl_blocked_conv2d_scratch(job->src, job->dst, &job->conv, channels, job->threads);
    if (lanes > 1)
        tl_exec_to_blocked(NULL, job->plain_src, job->src);
    return tl_exec_blocked_conv2d_pack(NULL, job->weight, job->bias, job->packed, job->conv.group,
                                       lanes);
}

static int run_blocked_conv2d(const tl_exec *exec, bench_job *job)
{
    return tl_exec_blocked_conv2d(exec, job->src, job->packed, NULL, job->dst, &job->conv,
                                  DIMS(job->shape.dims[1], job->shape.out));
}

static int finish_blocked(bench_job *job)
{
    return tl_exec_from_blocked(NULL, job->dst, job->plain_dst);
}

const bench_kernel bench_blocked_conv2d = {"blocked_conv2d", prepare_blocked_conv2d,
                                           run_blocked_conv2d, finish_blocked};

// Makes source and result of a prepared job blocked; returns 0 or -1.
static int use_blocks(bench_job *job)
{
    job->plain_src = job->src;
    job->plain_dst = job->dst;
    job->src = blocked_like(job, job->plain_src);
    job->dst = blocked_like(job, job->plain_dst);
    return job->src && job->dst ? tl_exec_to_blocked(NULL, job->plain_src, job->src) : -1;
}

// Of bfloat16; an odd number of channels becomes one more.
static int prepare_blocked_conv2d_pairs(bench_job *job)
{
    job->shape.dims[1] += job->shape.dims[1] % 2;
    if (prepare_conv2d(job) < 0 || use_blocks(job) < 0)
        return -1;
    const int channels[] = {job->shape.dims[1], job->shape.out};
    const int row = (int)tl_blocked_conv2d_packed_pairs(channels[0], job->conv.size);
    tl_tensor *const floats = job->src;
    job->src = bench_blank_of(job, TL_BFLOAT16, 5, floats->dims);
    job->packed = bench_blank_of(job, TL_BFLOAT16, 2, DIMS(tl_blocks(channels[1]), row));
    if (!job->src || !job->packed)
        return -1;
    job->scratch_size =
        tl_blocked_conv2d_scratch(job->src, job->dst, &job->conv, channels, job->threads);
    tl_exec_cast(NULL, floats, job->src);
    return tl_exec_blocked_conv2d_pack(NULL, job->weight, job->bias, job->packed, 1, TL_BLOCK);
}

const bench_kernel bench_blocked_conv2d_pairs = {
    "blocked_conv2d, bfloat16", prepare_blocked_conv2d_pairs, run_blocked_conv2d, finish_blocked};

// Of a transposed convolution, by its own kernel.
static int prepare_deconv2d(bench_job *job)
{
    const bench_shape *const s = &job->shape;
    job->conv = bench_conv(s, 1);
    const int c = s->dims[1], k = s->size, pad = job->conv.padding[0];
    const int oh = tl_deconv2d_length(s->dims[2], k, s->stride, 1, pad, pad, 0);
    const int ow = tl_deconv2d_length(s->dims[3], k, s->stride, 1, pad, pad, 0);
    job->src = bench_random(job, 4, s->dims, -1, 1);
    job->weight = bench_random(job, 4, DIMS(c, s->out, k, k), -1, 1);
    job->bias = bench_random(job, 1, DIMS(s->out), -1, 1);
    job->dst = bench_blank(job, 4, DIMS(s->dims[0], s->out, oh, ow));
    job->flops = 2.0 * k * k * s->out * s->dims[0] * c * s->dims[2] * s->dims[3];
    return is_prepared(job, 4);
}

BENCH_KERNEL(deconv2d, "deconv2d", prepare_deconv2d, NULL,
             tl_exec_deconv2d(exec, job->src, job->weight, job->bias, job->dst, &job->conv));

static int prepare_blocked_deconv2d(bench_job *job)
{
    if (prepare_deconv2d(job) < 0 || use_blocks(job) < 0)
        return -1;
    const int channels[] = {job->shape.dims[1], job->shape.out};
    const size_t row = tl_blocked_conv2d_packed(channels, 1, job->conv.size, TL_BLOCK);
    job->packed = bench_blank(job, 2, DIMS(tl_blocks(channels[1]), (int)row));
    job->scratch_size =
        tl_blocked_deconv2d_scratch(job->src, job->dst, &job->conv, channels, job->threads);
    return job->packed ? tl_exec_blocked_deconv2d_pack(NULL, job->weight, job->bias, job->packed,
                                                       &job->conv)
                       : -1;
}

BENCH_KERNEL(blocked_deconv2d, "blocked_deconv2d", prepare_blocked_deconv2d, finish_blocked,
             tl_exec_blocked_deconv2d(exec, job->src, job->packed, NULL, job->dst, &job->conv,
                                      DIMS(job->shape.dims[1], job->shape.out)));

static int prepare_blocked_depthwise(bench_job *job)
{
    if (prepare_conv2d(job) < 0 || use_blocks(job) < 0)
        return -1;
    job->packed = bench_blank(
        job, 2, DIMS(tl_blocks(job->shape.out), (int)tl_blocked_depthwise_packed(job->conv.size)));
    return job->packed ? tl_exec_blocked_depthwise_pack(NULL, job->weight, job->bias, job->packed)
                       : -1;
}

BENCH_KERNEL(blocked_depthwise, "blocked_depthwise", prepare_blocked_depthwise, finish_blocked,
             tl_exec_blocked_depthwise(exec, job->src, job->packed, NULL, job->dst, &job->conv));

// By Winograd's algorithm, with tiles of m x m results.
static int prepare_winograd(bench_job *job)
{
    const bench_shape *const s = &job->shape;
    const int channels = s->dims[1], m = job->variant;
    if (s->size != 3 || s->stride != 1 || lanes_of(job) == 1)
        return 1;
    if (prepare_conv2d(job) < 0 || use_blocks(job) < 0)
        return -1;
    job->packed =
        bench_blank(job, 2, DIMS(tl_blocks(s->out), (int)tl_blocked_winograd_packed(channels, m)));
    job->scratch_size = tl_blocked_winograd_scratch(job->src, job->dst, channels, m, job->threads);
    return job->packed ? tl_exec_blocked_winograd_pack(NULL, job->weight, job->bias, job->packed, m)
                       : -1;
}

static int run_winograd(const tl_exec *exec, bench_job *job)
{
    return tl_exec_blocked_winograd(exec, job->src, job->packed, NULL, job->dst, &job->conv,
                                    job->shape.dims[1], job->variant);
}

#define WINOGRAD(m)                                                                                \
    const bench_kernel bench_winograd##m = {"winograd " #m "x" #m, prepare_winograd, run_winograd, \
                                            finish_blocked, m}

WINOGRAD(2);
WINOGRAD(4);
WINOGRAD(6);

// Pooling

static int prepare_pool2d(bench_job *job)
{
    const bench_shape *const s = &job->shape;
    job->pool = bench_pool(s);
    job->src = bench_random(job, 4, s->dims, -1, 1);
    job->dst = bench_blank(
        job, 4,
        DIMS(s->dims[0], s->dims[1], bench_length(s, s->dims[2]), bench_length(s, s->dims[3])));
    return is_prepared(job, 2);
}

static int run_maxpool2d(const tl_exec *exec, bench_job *job)
{
    return tl_exec_maxpool2d(exec, job->src, job->dst, &job->pool);
}

static int run_avgpool2d(const tl_exec *exec, bench_job *job)
{
    return tl_exec_avgpool2d(exec, job->src, job->dst, &job->pool);
}

const bench_kernel bench_maxpool2d = {"maxpool2d", prepare_pool2d, run_maxpool2d, NULL};
const bench_kernel bench_avgpool2d = {"avgpool2d", prepare_pool2d, run_avgpool2d, NULL};

static int prepare_blocked_pool2d(bench_job *job)
{
    return prepare_pool2d(job) < 0 ? -1 : use_blocks(job);
}

static int run_blocked_maxpool2d(const tl_exec *exec, bench_job *job)
{
    return tl_exec_blocked_maxpool2d(exec, job->src, job->dst, &job->pool);
}

static int run_blocked_avgpool2d(const tl_exec *exec, bench_job *job)
{
    return tl_exec_blocked_avgpool2d(exec, job->src, job->dst, &job->pool, 0);
}

const bench_kernel bench_blocked_maxpool2d = {"blocked_maxpool2d", prepare_blocked_pool2d,
                                              run_blocked_maxpool2d, finish_blocked};
const bench_kernel bench_blocked_avgpool2d = {"blocked_avgpool2d", prepare_blocked_pool2d,
                                              run_blocked_avgpool2d, finish_blocked};

// Along the last axis

static int prepare_lines(bench_job *job)
{
    job->src = bench_random(job, 2, job->shape.dims, -4, 4);
    job->dst = bench_blank(job, 2, job->shape.dims);
    return is_prepared(job, 2);
}

BENCH_KERNEL(softmax, "softmax", prepare_lines, NULL, tl_exec_softmax(exec, job->src, job->dst, 1));

static int prepare_layernorm(bench_job *job)
{
    if (prepare_lines(job) < 0)
        return -1;
    job->weight = bench_random(job, 1, &job->shape.dims[1], 0.5, 1.5);
    job->bias = bench_random(job, 1, &job->shape.dims[1], -1, 1);
    return is_prepared(job, 4);
}

BENCH_KERNEL(layernorm, "layernorm", prepare_layernorm, NULL,
             tl_exec_layernorm(exec, job->src, job->weight, job->bias, job->dst, NULL, NULL, 1,
                               1e-5));

// Attention

// With as many queries as keys, in the layout of matrix multiplications.
static const tl_attention_param attention_param = {2, 2, 2, 2, 0.125, 0};

// Tensors [1, rows, heads, length]; the keys are the weight, the values the bias.
static int prepare_attention(bench_job *job)
{
    const int *const d = job->shape.dims;
    job->src = bench_random(job, 4, d, -1, 1);
    job->weight = bench_random(job, 4, d, -1, 1);
    job->bias = bench_random(job, 4, d, -1, 1);
    job->dst = bench_blank(job, 4, d);
    job->flops = 4.0 * d[1] * d[1] * d[2] * d[3];
    const int status = is_prepared(job, 4);
    if (status == 0)
        job->scratch_size =
            tl_attention_scratch(job->src, job->weight, job->bias, &attention_param, job->threads);
    return status;
}

BENCH_KERNEL(attention, "attention", prepare_attention, NULL,
             tl_exec_attention(exec, job->src, job->weight, job->bias, NULL, job->dst,
                               &attention_param));

// Element by element

static int prepare_unary(bench_job *job)
{
    job->src = bench_random(job, 1, job->shape.dims, job->shape.func == TL_UNARY_SQRT ? 0 : -8, 8);
    job->dst = bench_blank(job, 1, job->shape.dims);
    return is_prepared(job, 2);
}

BENCH_KERNEL(unary, "unary", prepare_unary, NULL,
             tl_exec_unary(exec, job->src, job->dst, (tl_unary_func)job->shape.func,
                           job->shape.alpha, job->shape.beta));

// Two sources, the second of `dims2`.
static int prepare_two(bench_job *job, int ndim, const int *dims2)
{
    job->src = bench_random(job, ndim, job->shape.dims, -1, 1);
    job->weight = bench_random(job, ndim, dims2, -1, 1);
    job->dst = bench_blank(job, ndim, job->shape.dims);
    return is_prepared(job, 3);
}

static int prepare_add(bench_job *job)
{
    return prepare_two(job, 1, job->shape.dims);
}

BENCH_KERNEL(add, "elew sum", prepare_add, NULL,
             tl_exec_elew(exec, job->src, job->weight, job->dst, TL_SUM));

static int prepare_mul(bench_job *job)
{
    return prepare_two(job, 4, job->shape.dims2);
}

BENCH_KERNEL(mul, "binary mul", prepare_mul, NULL,
             tl_exec_binary(exec, job->src, job->weight, job->dst, TL_BINARY_MUL));

// Several steps on the same elements: hard swish as exporters write it, scaled, on a residual
// ----

enum { STEPS = 6 };
static const tl_chain_step chain_steps[STEPS] = {
    {.func = TL_UNARY_AFFINE, .src1 = 0, .alpha = 1, .beta = 3},
    {.func = TL_UNARY_CLIP, .src1 = 2, .alpha = 0, .beta = 6},
    {.func = TL_UNARY_FUNC_INVALID, .op = TL_BINARY_MUL, .src1 = 0, .src2 = 3},
    {.func = TL_UNARY_AFFINE, .src1 = 4, .alpha = 1.0 / 6, .beta = 0},
    {.func = TL_UNARY_FUNC_INVALID, .op = TL_BINARY_MUL, .src1 = 5, .src2 = 1},
    {.func = TL_UNARY_FUNC_INVALID, .op = TL_BINARY_ADD, .src1 = 6, .src2 = 0},
};

// Each step's result is in dst, over the one before, as in a memory plan.
static int run_steps(const tl_exec *exec, bench_job *job)
{
    const tl_tensor *const operands[] = {job->src, job->weight, job->dst};
    int status = 0;
    for (const tl_chain_step *s = chain_steps; s < chain_steps + STEPS && status == 0; s++) {
        const tl_tensor *const a = operands[s->src1 < 2 ? s->src1 : 2],
                               *const b = operands[s->src2 < 2 ? s->src2 : 2];
        if (s->func != TL_UNARY_FUNC_INVALID)
            status = tl_exec_unary(exec, a, job->dst, s->func, s->alpha, s->beta);
        else
            status = tl_exec_binary(exec, a, b, job->dst, s->op);
    }
    return status;
}

const bench_kernel bench_steps = {"step by step", prepare_mul, run_steps, NULL};

static int run_chain(const tl_exec *exec, bench_job *job)
{
    const tl_tensor *const srcs[] = {job->src, job->weight};
    return tl_exec_chain(exec, srcs, 2, job->dst, chain_steps, STEPS);
}

const bench_kernel bench_chain = {"chain", prepare_mul, run_chain, NULL};

// Moves

static int prepare_transpose(bench_job *job)
{
    const int *const from = job->shape.dims, *const axes = job->shape.axes;
    job->src = bench_random(job, 4, from, -1, 1);
    job->dst =
        bench_blank(job, 4, DIMS(from[axes[0]], from[axes[1]], from[axes[2]], from[axes[3]]));
    return is_prepared(job, 2);
}

BENCH_KERNEL(transpose, "transpose", prepare_transpose, NULL,
             tl_exec_transpose(exec, job->src, job->dst, job->shape.axes));

static int prepare_to_blocked(bench_job *job)
{
    job->src = bench_random(job, 4, job->shape.dims, -1, 1);
    job->plain_dst = bench_blank(job, 4, job->shape.dims);
    job->dst = job->src ? blocked_like(job, job->src) : NULL;
    return is_prepared(job, 3);
}

BENCH_KERNEL(to_blocked, "to_blocked", prepare_to_blocked, finish_blocked,
             tl_exec_to_blocked(exec, job->src, job->dst));

static int prepare_from_blocked(bench_job *job)
{
    job->plain_src = bench_random(job, 4, job->shape.dims, -1, 1);
    job->dst = bench_blank(job, 4, job->shape.dims);
    job->src = job->plain_src ? blocked_like(job, job->plain_src) : NULL;
    if (is_prepared(job, 3) < 0)
        return -1;
    return tl_exec_to_blocked(NULL, job->plain_src, job->src);
}

BENCH_KERNEL(from_blocked, "from_blocked", prepare_from_blocked, NULL,
             tl_exec_from_blocked(exec, job->src, job->dst));
