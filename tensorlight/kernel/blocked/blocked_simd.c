// SPDX-License-Identifier: Apache-2.0
// From planes to blocks of channels, and back, as squares of numbers that are transposed
// in registers.

#include "kernel/blocked/blocked.h"

#include "kernel/simd/tl_simd.h"
#include "tensorlight/tl_blocked.h"

/** `n` pixels of `rows` planes from src, `step` apart, become the rows of dst. */
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

/** The other way round; only the planes that there are are written. */
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

static void strip_to_blocked(const tl_turn_job *job, const tl_turn_strip *s, int lane)
{
    const float *const src = (const float *)job->src + s->plane + lane * job->pixels;
    float *const dst = (float *)job->dst + s->block + lane;
    const int rows = s->lanes - lane; // negative, few or enough
    size_t i = s->begin;
    for (; rows >= TL_VF_LANES && i + TL_VF_LANES <= s->end; i += TL_VF_LANES)
        square_to_blocked(src + i, job->pixels, TL_VF_LANES, dst + i * TL_BLOCK, TL_VF_LANES);
    for (; i + TL_VF_LANES <= s->end; i += TL_VF_LANES)
        square_to_blocked(src + i, job->pixels, rows, dst + i * TL_BLOCK, TL_VF_LANES);
    if (i < s->end)
        square_to_blocked(src + i, job->pixels, rows, dst + i * TL_BLOCK, s->end - i);
}

static void strip_from_blocked(const tl_turn_job *job, const tl_turn_strip *s, int lane)
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
        const tl_turn_strip s = tl_turn_strip_at(arg, u);
        for (int lane = 0; lane < TL_BLOCK; lane += TL_VF_LANES)
            strip_to_blocked(arg, &s, lane);
    }
}

void SIMD(tl_from_blocked)(void *arg, size_t begin, size_t end)
{
    for (size_t u = begin; u < end; u++) {
        const tl_turn_strip s = tl_turn_strip_at(arg, u);
        for (int lane = 0; lane < s.lanes; lane += TL_VF_LANES)
            strip_from_blocked(arg, &s, lane);
    }
}
