// SPDX-License-Identifier: Apache-2.0
// Operations on 8-bit tensors in vectors: 64 elements at a time, as four pixels of 16.

#include "kernel/elementwise_quantized/elementwise_quantized.h"

#include <string.h>

#include "kernel/conv_quantized/requantize.h"
#include "kernel/simd/tl_simd_act.h"

enum { CHUNK = TL_ELEMENTWISE_U8_CHUNK };

// Two sources

// Constants of all chunks.
typedef struct constants {
    tl_vf zeros[2], factors[2], factor;
    tl_requantize requantize;
} constants;

static constants constants_of(const tl_elementwise_u8_job *job)
{
    constants c = {.factor = tl_vf_set1(job->factors[0] * job->factors[1]),
                   .requantize = tl_requantize_of(&job->q, job->low, job->high)};
    for (int i = 0; i < 2; i++) {
        c.zeros[i] = tl_vf_set1(job->zeros[i]);
        c.factors[i] = tl_vf_set1(job->factors[i]);
    }
    c.requantize.range = tl_vi_range_of(job->q.dst_zero, job->bounds[0], job->bounds[1]);
    return c;
}

// A vector of results before the activation; op is a constant.
TL_INLINE tl_vf values(const tl_elementwise_u8_op op, const uint8_t *a, const uint8_t *b,
                       const constants *c)
{
    const tl_vf x = tl_vf_sub(tl_vi_to_vf(tl_vi_load_u8(a)), c->zeros[0]);
    const tl_vf y = tl_vf_sub(tl_vi_to_vf(tl_vi_load_u8(b)), c->zeros[1]);
    if (op == TL_ELEMENTWISE_U8_MUL)
        return tl_vf_mul(tl_vf_mul(x, y), c->factor);
    return tl_vf_add(tl_vf_mul(x, c->factors[0]), tl_vf_mul(y, c->factors[1]));
}

// A chunk with is_small. b advances by `b_step` for each 16 elements.
TL_INLINE void small_chunk(const tl_elementwise_u8_op op, const uint8_t *a, const uint8_t *b,
                           const int b_step, uint8_t *dst, const constants *c)
{
    tl_vi v[TL_BLOCK / TL_VF_LANES][4];
    TL_UNROLL
    for (int p = 0; p < TL_BLOCK / TL_VF_LANES; p++) {
        TL_UNROLL
        for (int k = 0; k < 4; k++) {
            const tl_vf x =
                values(op, a + k * TL_BLOCK + p * TL_VF_LANES, b + k * b_step + p * TL_VF_LANES, c);
            v[p][k] = tl_vi_round(tl_vf_mul(x, c->requantize.dst_factor));
        }
    }
    TL_UNROLL
    for (int p = 0; p < TL_BLOCK / TL_VF_LANES; p++)
        tl_vi_store_pixels(dst + p * TL_VF_LANES, v[p], 4, &c->requantize.range);
}

// Computes a chunk with any activation and any factors.
static void any_chunk(const tl_elementwise_u8_job *job, const uint8_t *a, const uint8_t *b,
                      int b_step, uint8_t *dst, const constants *c)
{
    float buffer[CHUNK];
    for (int i = 0; i < CHUNK; i += TL_VF_LANES) {
        const uint8_t *const second = b + i / TL_BLOCK * b_step + i % TL_BLOCK;
        const tl_vf v = job->op == TL_ELEMENTWISE_U8_MUL
                            ? values(TL_ELEMENTWISE_U8_MUL, a + i, second, c)
                            : values(TL_ELEMENTWISE_U8_ADD, a + i, second, c);
        tl_vf_store(buffer + i, tl_quantized_clamp(v, &c->requantize));
    }
    tl_vf_activate(job->q.act, buffer, CHUNK);
    for (int i = 0; i < CHUNK; i += TL_VF_LANES)
        tl_quantized_store(dst + i, tl_vf_load(buffer + i), &c->requantize);
}

// Computes a chunk of 64 elements; op is a constant.
TL_INLINE void chunk(const tl_elementwise_u8_job *job, const int is_small,
                     const tl_elementwise_u8_op op, const uint8_t *a, const uint8_t *b, int b_step,
                     uint8_t *dst, const constants *c)
{
    if (!is_small)
        any_chunk(job, a, b, b_step, dst, c);
    else if (b_step)
        small_chunk(op, a, b, TL_BLOCK, dst, c);
    else
        small_chunk(op, a, b, 0, dst, c);
}

// Elements at .. at+n-1, no more than a chunk, copied to a buffer: the end of a tensor, and chunks
// of several planes.
static void partial_chunk(const tl_elementwise_u8_job *job, size_t at, size_t n, int is_small,
                          const constants *c)
{
    uint8_t a[CHUNK] = {0}, b[CHUNK] = {0}, dst[CHUNK];
    memcpy(a, job->a + at, n);
    for (size_t i = 0; i < n; i += TL_BLOCK) {
        const size_t left = tl_min_size(TL_BLOCK, n - i);
        memcpy(b + i, job->b + (job->plane ? (at + i) / job->plane * TL_BLOCK : at + i), left);
    }
    if (job->op == TL_ELEMENTWISE_U8_MUL)
        chunk(job, is_small, TL_ELEMENTWISE_U8_MUL, a, b, TL_BLOCK, dst, c);
    else
        chunk(job, is_small, TL_ELEMENTWISE_U8_ADD, a, b, TL_BLOCK, dst, c);
    memcpy(job->dst + at, dst, n);
}

// The chunks begin .. end-1; op is a constant.
TL_INLINE void chunks(const tl_elementwise_u8_job *job, const tl_elementwise_u8_op op, size_t begin,
                      size_t end)
{
    const constants c = constants_of(job);
    const int is_small = job->is_small && tl_act_is_bounds(job->q.act);
    size_t plane = 0, limit = 0; // elements before `limit` share the pixel of b of `plane`
    for (size_t at = begin * CHUNK; begin < end; begin++, at += CHUNK) {
        const size_t n = tl_min_size(CHUNK, job->len - at);
        if (job->plane && at >= limit) {
            plane = at / job->plane;
            limit = (plane + 1) * job->plane;
        }
        if (n < CHUNK || (job->plane && at + CHUNK > limit))
            partial_chunk(job, at, n, is_small, &c);
        else
            chunk(job, is_small, op, job->a + at, job->b + (job->plane ? plane * TL_BLOCK : at),
                  job->plane ? 0 : TL_BLOCK, job->dst + at, &c);
    }
}

void SIMD_OF(tl_elementwise_u8)(void *arg, size_t begin, size_t end)
{
    const tl_elementwise_u8_job *const job = arg;
    if (job->op == TL_ELEMENTWISE_U8_MUL)
        chunks(job, TL_ELEMENTWISE_U8_MUL, begin, end);
    else
        chunks(job, TL_ELEMENTWISE_U8_ADD, begin, end);
}

// Tables

void SIMD_OF(tl_lookup_u8)(const uint8_t *src, const uint8_t *table, uint8_t *dst, size_t n)
{
    const tl_table t = tl_table_load(table);
    size_t i = 0;
    for (; i + TL_TABLE_BYTES <= n; i += TL_TABLE_BYTES)
        tl_table_look(&t, src + i, dst + i);
    if (i < n) {
        uint8_t bytes[TL_TABLE_BYTES] = {0};
        memcpy(bytes, src + i, n - i);
        tl_table_look(&t, bytes, bytes);
        memcpy(dst + i, bytes, n - i);
    }
}
