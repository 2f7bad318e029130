// SPDX-License-Identifier: Apache-2.0
// The results of convolutions in the blocked layout from their sums, in vectors. Define before this
// file PARTS, the vectors of a block, and
//
//     STORE_ROUNDED(p, v)   writes a vector as bfloat16

#include "kernel/act/act.h"
#include "kernel/conv_blocked/conv_blocked.h"
#include "kernel/simd/tl_simd_act.h"
#include "kernel/simd/tl_simd_small.h"

// The operands of a tile, and its output: the results of its job, or sums in a buffer.
typedef struct tile_place {
    const float *src, *weight, *bias;
    const void *add; // or NULL
    void *dst;
    size_t step, block_step; // of dst and add
    int is_dst_bf16, is_add_bf16;
    float low, high; // bounds of results
} tile_place;

// Element `i` of floats, or of bfloat16.
static char *element(const void *p, size_t i, int is_bf16)
{
    return (char *)p + i * (is_bf16 ? sizeof(uint16_t) : sizeof(float));
}

// The offset of vector `v` of pixel `m` of the results.
TL_INLINE size_t offset_of(const int m, const int v, size_t step, size_t block_step)
{
    return v / PARTS * block_step + m * step + v % PARTS * TL_VF_LANES;
}

// The sum plus the addend at `offset`.
TL_INLINE tl_vf plus_addend(tl_vf sum, const tile_place *from, size_t offset, const int is_bf16)
{
    return tl_vf_add(sum, is_bf16 ? tl_vf_load_bf16((const uint16_t *)from->add + offset)
                                  : tl_vf_load((const float *)from->add + offset));
}

// Writes a result to `offset`.
TL_INLINE void write(tl_vf result, const tile_place *to, size_t offset, const int is_bf16)
{
    if (is_bf16)
        STORE_ROUNDED((uint16_t *)to->dst + offset, result);
    else
        tl_vf_store((float *)to->dst + offset, result);
}

// Adds the addends to sums in a buffer, [block][pixel][TL_BLOCK], whose blocks are sums_step floats
// apart.
static void add_to_sums(float *sums, size_t sums_step, const tile_place *at, int pixels, int blocks)
{
    for (int v = 0; v < blocks * PARTS; v++)
        for (int m = 0; m < pixels; m++) {
            float *const sum = sums + offset_of(m, v, TL_BLOCK, sums_step);
            const size_t offset = offset_of(m, v, at->step, at->block_step);
            tl_vf_store(sum, plus_addend(tl_vf_load(sum), at, offset, at->is_add_bf16));
        }
}

// Writes the sums of a buffer, clamped.
static void write_sums(const float *sums, size_t sums_step, const tile_place *at, int pixels,
                       int blocks)
{
    const tl_vf low = tl_vf_set1(at->low), high = tl_vf_set1(at->high);
    for (int v = 0; v < blocks * PARTS; v++)
        for (int m = 0; m < pixels; m++) {
            const float *const sum = sums + offset_of(m, v, TL_BLOCK, sums_step);
            const tl_vf clamped = tl_vf_min(high, tl_vf_max(low, tl_vf_load(sum)));
            write(clamped, at, offset_of(m, v, at->step, at->block_step), at->is_dst_bf16);
        }
}

// Writes the results of sums in a buffer.
static void write_results(const tl_tile_job *job, float *sums, size_t sums_step,
                          const tile_place *at, int pixels, int blocks)
{
    if (at->add)
        add_to_sums(sums, sums_step, at, pixels, blocks);
    for (int b = 0; b < blocks; b++)
        tl_vf_activate(job->act, sums + (size_t)b * sums_step, (size_t)pixels * TL_BLOCK);
    write_sums(sums, sums_step, at, pixels, blocks);
}
