// SPDX-License-Identifier: Apache-2.0
// Converts planes to the blocked layout, and back, in squares of floats or bytes that are
// transposed in registers.

#include "kernel/layout_blocked/layout_blocked.h"

#include <string.h>

#include "kernel/simd/tl_simd_quad.h"
#include "kernel/simd/tl_simd_small.h"
#include "tensorlight/tl_blocked.h"

// Transposes `n` pixels of `rows` planes at src, `step` apart, to rows of dst.
TL_INLINE void square_to_blocked(const float *src, size_t step, int rows, float *dst, size_t n)
{
    tl_vf v[TL_VF_LANES];
    TL_UNROLL
    for (int k = 0; k < TL_VF_LANES; k++)
        v[k] = k >= rows               ? tl_vf_zero()
               : n == (int)TL_VF_LANES ? tl_vf_load(src + k * step)
                                       : tl_vf_load_partial(src + k * step, n);
    tl_vf_transpose(v);
    TL_UNROLL
    for (int k = 0; k < TL_VF_LANES; k++)
        if ((size_t)k < n)
            tl_vf_store(dst + k * TL_BLOCK, v[k]);
}

// The inverse; only existing planes are written.
TL_INLINE void square_from_blocked(const float *src, float *dst, size_t step, int rows, size_t n)
{
    tl_vf v[TL_VF_LANES];
    TL_UNROLL
    for (int k = 0; k < TL_VF_LANES; k++)
        v[k] = (size_t)k < n ? tl_vf_load(src + k * TL_BLOCK) : tl_vf_zero();
    tl_vf_transpose(v);
    TL_UNROLL
    for (int k = 0; k < TL_VF_LANES; k++)
        if (k < rows && n == (int)TL_VF_LANES)
            tl_vf_store(dst + k * step, v[k]);
        else if (k < rows)
            tl_vf_store_partial(dst + k * step, v[k], n);
}

static void strip_to_blocked(const tl_layout_job *job, const tl_layout_strip *s, int lane)
{
    const float *const src = (const float *)job->src + s->plane + lane * job->pixels;
    float *const dst = (float *)job->dst + s->block + lane;
    const int rows = s->lanes - lane; // 0 or less: all lanes are padding
    size_t i = s->begin;
    for (; rows >= TL_VF_LANES && i + TL_VF_LANES <= s->end; i += TL_VF_LANES)
        square_to_blocked(src + i, job->pixels, TL_VF_LANES, dst + i * TL_BLOCK, TL_VF_LANES);
    for (; i + TL_VF_LANES <= s->end; i += TL_VF_LANES)
        square_to_blocked(src + i, job->pixels, rows, dst + i * TL_BLOCK, TL_VF_LANES);
    if (i < s->end)
        square_to_blocked(src + i, job->pixels, rows, dst + i * TL_BLOCK, s->end - i);
}

static void strip_from_blocked(const tl_layout_job *job, const tl_layout_strip *s, int lane)
{
    const float *const src = (const float *)job->src + s->block + lane;
    float *const dst = (float *)job->dst + s->plane + lane * job->pixels;
    const int rows = s->lanes - lane;
    size_t i = s->begin;
    for (; rows >= TL_VF_LANES && i + TL_VF_LANES <= s->end; i += TL_VF_LANES)
        square_from_blocked(src + i * TL_BLOCK, dst + i, job->pixels, TL_VF_LANES, TL_VF_LANES);
    for (; i + TL_VF_LANES <= s->end; i += TL_VF_LANES)
        square_from_blocked(src + i * TL_BLOCK, dst + i, job->pixels, rows, TL_VF_LANES);
    if (i < s->end)
        square_from_blocked(src + i * TL_BLOCK, dst + i, job->pixels, rows, s->end - i);
}

void SIMD(tl_to_blocked)(void *arg, size_t begin, size_t end)
{
    for (size_t u = begin; u < end; u++) {
        const tl_layout_strip s = tl_layout_strip_at(arg, u);
        for (int lane = 0; lane < TL_BLOCK; lane += TL_VF_LANES)
            strip_to_blocked(arg, &s, lane);
    }
}

void SIMD(tl_from_blocked)(void *arg, size_t begin, size_t end)
{
    for (size_t u = begin; u < end; u++) {
        const tl_layout_strip s = tl_layout_strip_at(arg, u);
        for (int lane = 0; lane < s.lanes; lane += TL_VF_LANES)
            strip_from_blocked(arg, &s, lane);
    }
}

// Squares of 16 by 16 bytes

#ifndef TL_SIMD_HEADER // plain C

void tl_to_blocked_u8_c(void *arg, size_t begin, size_t end)
{
    const tl_layout_job *const job = arg;
    for (size_t u = begin; u < end; u++) {
        const tl_layout_strip s = tl_layout_strip_at(job, u);
        const uint8_t *const src = (const uint8_t *)job->src + s.plane;
        uint8_t *const dst = (uint8_t *)job->dst + s.block;
        for (size_t i = s.begin; i < s.end; i++)
            for (int k = 0; k < TL_BLOCK; k++)
                dst[i * TL_BLOCK + k] = k < s.lanes ? src[k * job->pixels + i] : 0;
    }
}

void tl_from_blocked_u8_c(void *arg, size_t begin, size_t end)
{
    const tl_layout_job *const job = arg;
    for (size_t u = begin; u < end; u++) {
        const tl_layout_strip s = tl_layout_strip_at(job, u);
        const uint8_t *const src = (const uint8_t *)job->src + s.block;
        uint8_t *const dst = (uint8_t *)job->dst + s.plane;
        for (int k = 0; k < s.lanes; k++)
            for (size_t i = s.begin; i < s.end; i++)
                dst[k * job->pixels + i] = src[i * TL_BLOCK + k];
    }
}

#else

// Transposes a 16 x 16 matrix: interleaves the first half of the rows with the second, four times.
TL_INLINE void transpose(tl_v16 v[TL_BLOCK])
{
    TL_UNROLL
    for (int pass = 0; pass < 4; pass++) {
        tl_v16 t[TL_BLOCK];
        TL_UNROLL
        for (int k = 0; k < TL_BLOCK / 2; k++) {
            t[2 * k] = tl_v16_zip_low(v[k], v[k + TL_BLOCK / 2]);
            t[2 * k + 1] = tl_v16_zip_high(v[k], v[k + TL_BLOCK / 2]);
        }
        TL_UNROLL
        for (int k = 0; k < TL_BLOCK; k++)
            v[k] = t[k];
    }
}

// The first `n` bytes at p, then zeros.
static inline tl_v16 load_part(const uint8_t *p, size_t n)
{
    uint8_t bytes[TL_BLOCK] = {0};
    memcpy(bytes, p, n);
    return tl_v16_load(bytes);
}

static inline void store_part(uint8_t *p, tl_v16 v, size_t n)
{
    uint8_t bytes[TL_BLOCK];
    tl_v16_store(bytes, v);
    memcpy(p, bytes, n);
}

// Transposes `n` pixels, at most 16, of `lanes` planes at src, `step` apart, to rows of dst.
TL_INLINE void bytes_to_blocked(const uint8_t *src, size_t step, int lanes, uint8_t *dst, size_t n)
{
    tl_v16 v[TL_BLOCK];
    TL_UNROLL
    for (int k = 0; k < TL_BLOCK; k++)
        v[k] = k >= lanes      ? tl_v16_zero()
               : n == TL_BLOCK ? tl_v16_load(src + k * step)
                               : load_part(src + k * step, n);
    transpose(v);
    TL_UNROLL
    for (int k = 0; k < TL_BLOCK; k++)
        if ((size_t)k < n)
            tl_v16_store(dst + k * TL_BLOCK, v[k]);
}

// The inverse; only existing planes are written.
TL_INLINE void bytes_from_blocked(const uint8_t *src, uint8_t *dst, size_t step, int lanes,
                                  size_t n)
{
    tl_v16 v[TL_BLOCK];
    TL_UNROLL
    for (int k = 0; k < TL_BLOCK; k++)
        v[k] = (size_t)k < n ? tl_v16_load(src + k * TL_BLOCK) : tl_v16_zero();
    transpose(v);
    TL_UNROLL
    for (int k = 0; k < TL_BLOCK; k++)
        if (k < lanes && n == TL_BLOCK)
            tl_v16_store(dst + k * step, v[k]);
        else if (k < lanes)
            store_part(dst + k * step, v[k], n);
}

void SIMD_OF(tl_to_blocked_u8)(void *arg, size_t begin, size_t end)
{
    const tl_layout_job *const job = arg;
    for (size_t u = begin; u < end; u++) {
        const tl_layout_strip s = tl_layout_strip_at(job, u);
        const uint8_t *const src = (const uint8_t *)job->src + s.plane;
        uint8_t *const dst = (uint8_t *)job->dst + s.block;
        size_t i = s.begin;
        for (; s.lanes == TL_BLOCK && i + TL_BLOCK <= s.end; i += TL_BLOCK)
            bytes_to_blocked(src + i, job->pixels, TL_BLOCK, dst + i * TL_BLOCK, TL_BLOCK);
        for (; i + TL_BLOCK <= s.end; i += TL_BLOCK)
            bytes_to_blocked(src + i, job->pixels, s.lanes, dst + i * TL_BLOCK, TL_BLOCK);
        if (i < s.end)
            bytes_to_blocked(src + i, job->pixels, s.lanes, dst + i * TL_BLOCK, s.end - i);
    }
}

void SIMD_OF(tl_from_blocked_u8)(void *arg, size_t begin, size_t end)
{
    const tl_layout_job *const job = arg;
    for (size_t u = begin; u < end; u++) {
        const tl_layout_strip s = tl_layout_strip_at(job, u);
        const uint8_t *const src = (const uint8_t *)job->src + s.block;
        uint8_t *const dst = (uint8_t *)job->dst + s.plane;
        size_t i = s.begin;
        for (; s.lanes == TL_BLOCK && i + TL_BLOCK <= s.end; i += TL_BLOCK)
            bytes_from_blocked(src + i * TL_BLOCK, dst + i, job->pixels, TL_BLOCK, TL_BLOCK);
        for (; i + TL_BLOCK <= s.end; i += TL_BLOCK)
            bytes_from_blocked(src + i * TL_BLOCK, dst + i, job->pixels, s.lanes, TL_BLOCK);
        if (i < s.end)
            bytes_from_blocked(src + i * TL_BLOCK, dst + i, job->pixels, s.lanes, s.end - i);
    }
}

#endif
