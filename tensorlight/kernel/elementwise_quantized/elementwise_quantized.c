// SPDX-License-Identifier: Apache-2.0
// Element-wise operations on 8-bit tensors: choice of the kernel, threads.

#include "kernel/elementwise_quantized/elementwise_quantized.h"

#include <assert.h>
#include <math.h>

#include "kernel/act/act.h"
#include "kernel/tl_kernel.h"

TL_KERNEL_TABLE(pick, tl_elementwise_u8_func, TL_ELEMENTWISE_U8_KERNELS)
TL_KERNEL_TABLE(pick_lookup, tl_lookup_func, TL_LOOKUP_KERNELS)

// Two sources

// Whether no result can reach 2^30 before it is rounded. Values may then be rounded before they are
// clamped, as both operations are monotonic.
static int has_small_results(const tl_elementwise_u8_job *job)
{
    const float a = 255 * fabsf(job->factors[0]), b = 255 * fabsf(job->factors[1]);
    const float max = (job->op == TL_ELEMENTWISE_U8_MUL ? a * b : a + b) * job->q.dst_factor;
    return job->q.dst_factor > 0 && max < 0x1p30f && job->low <= job->high &&
           job->q.dst_zero >= 0 && job->q.dst_zero <= UINT8_MAX;
}

static int run(const tl_exec *exec, const tl_tensor *a, const tl_tensor *b, tl_tensor *dst,
               const tl_quantized_pair *pair, tl_elementwise_u8_op op)
{
    assert(a->dtype == TL_UINT8 && b->dtype == TL_UINT8 && dst->dtype == TL_UINT8);
    assert(a->len == dst->len);
    if (a->len == 0)
        return 0;
    const tl_exec act_exec = {.isa = exec ? exec->isa : tl_isa_best()};
    tl_elementwise_u8_job job = {
        .a = a->data,
        .b = b->data,
        .dst = dst->data,
        .len = (size_t)a->len,
        .op = op,
        .zeros = {(float)pair->zeros[0], (float)pair->zeros[1]},
        .factors = {pair->factors[0], pair->factors[1]},
        .q = {.act = pair->act, .dst_factor = pair->dst_factor, .dst_zero = pair->dst_zero},
        .act_exec = &act_exec};
    if (b->len != a->len) { // b has one pixel for each plane of a
        assert(a->ndim == 5 && b->ndim == 5 && b->dims[2] == 1 && b->dims[3] == 1);
        assert(a->dims[0] == b->dims[0] && a->dims[1] == b->dims[1] && a->dims[4] == TL_BLOCK);
        job.plane = (size_t)a->dims[2] * a->dims[3] * TL_BLOCK;
    }
    tl_act_bounds(job.q.act, &job.low, &job.high);
    job.bounds[0] = tl_quantized_byte(&job.q, job.low);
    job.bounds[1] = tl_quantized_byte(&job.q, job.high);
    job.is_small = has_small_results(&job);
    tl_parallel(exec, tl_ceil_div(job.len, TL_ELEMENTWISE_U8_CHUNK),
                TL_GRAIN_MEMORY_BOUND / TL_ELEMENTWISE_U8_CHUNK, pick(exec, TL_UINT8), &job);
    return 0;
}

int tl_exec_quantized_add(const tl_exec *exec, const tl_tensor *a, const tl_tensor *b,
                          tl_tensor *dst, const tl_quantized_pair *pair)
{
    return run(exec, a, b, dst, pair, TL_ELEMENTWISE_U8_ADD);
}

int tl_exec_quantized_mul(const tl_exec *exec, const tl_tensor *a, const tl_tensor *b,
                          tl_tensor *dst, const tl_quantized_pair *pair)
{
    return run(exec, a, b, dst, pair, TL_ELEMENTWISE_U8_MUL);
}

// Tables

typedef struct lookup_job {
    const uint8_t *src, *table;
    uint8_t *dst;
    tl_lookup_func *func;
} lookup_job;

static void lookup_range(void *arg, size_t begin, size_t end)
{
    const lookup_job *const job = arg;
    job->func(job->src + begin, job->table, job->dst + begin, end - begin);
}

int tl_exec_quantized_lookup(const tl_exec *exec, const tl_tensor *src, const tl_tensor *table,
                             tl_tensor *dst)
{
    assert(src->dtype == TL_UINT8 && table->dtype == TL_UINT8 && dst->dtype == TL_UINT8);
    assert(src->len == dst->len && table->len == UINT8_MAX + 1);
    lookup_job job = {src->data, table->data, dst->data, pick_lookup(exec, TL_UINT8)};
    tl_parallel(exec, (size_t)src->len, TL_GRAIN_MEMORY_BOUND, lookup_range, &job);
    return 0;
}
