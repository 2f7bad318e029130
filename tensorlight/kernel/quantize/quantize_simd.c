// SPDX-License-Identifier: Apache-2.0
// Quantization, back, and the range of numbers, in vectors: the bits of plain C.

#include "kernel/quantize/quantize.h"

#include "kernel/simd/tl_simd_small.h"

// Quantize

// `quotient` rounded, moved and saturated; NaN becomes the lowest.
TL_INLINE tl_vf quantized(tl_vf quotient, tl_vf zero, float low, float high)
{
    const tl_vf shifted = tl_vf_add(tl_vf_round(quotient), zero);
    return tl_vf_min(tl_vf_max(shifted, tl_vf_set1(low)), tl_vf_set1(high));
}

// A line: `step` 1, a constant: each element has a scale and a zero point; 0: one for all.
#define QUANTIZE(tag, type, low, high)                                                             \
    TL_INLINE void quantize_line_##tag(const float *src, type *dst, const float *scale,            \
                                       const type *zero, size_t n, const int step)                 \
    {                                                                                              \
        const tl_vf s = tl_vf_set1(step ? 1 : *scale);                                             \
        const tl_vf z = tl_vf_set1(step || !zero ? 0 : (float)*zero);                              \
        size_t i = 0;                                                                              \
        for (; i + TL_VF_LANES <= n; i += TL_VF_LANES) {                                           \
            const tl_vf q = tl_vf_div(tl_vf_load(src + i), step ? tl_vf_load(scale + i) : s);      \
            tl_vf_store_##tag(                                                                     \
                dst + i, quantized(q, step && zero ? tl_vf_load_##tag(zero + i) : z, low, high));  \
        }                                                                                          \
        if (i < n) {                                                                               \
            const size_t m = n - i;                                                                \
            const tl_vf q = tl_vf_div(tl_vf_load_partial(src + i, m),                              \
                                      step ? tl_vf_load_partial(scale + i, m) : s);                \
            tl_vf_store_partial_##tag(                                                             \
                dst + i,                                                                           \
                quantized(q, step && zero ? tl_vf_load_partial_##tag(zero + i, m) : z, low, high), \
                m);                                                                                \
        }                                                                                          \
    }                                                                                              \
    void SIMD_OF(tl_quantize_##tag)(const void *src, void *dst, const float *scale,                \
                                    const void *zero, size_t n, int step)                          \
    {                                                                                              \
        if (step == 0)                                                                             \
            quantize_line_##tag(src, dst, scale, zero, n, 0);                                      \
        else                                                                                       \
            quantize_line_##tag(src, dst, scale, zero, n, 1);                                      \
    }

QUANTIZE(i8, int8_t, INT8_MIN, INT8_MAX)
QUANTIZE(u8, uint8_t, 0, UINT8_MAX)
QUANTIZE(i16, int16_t, INT16_MIN, INT16_MAX)
QUANTIZE(u16, uint16_t, 0, UINT16_MAX)

// Dequantize

// Differences of 8 and 16 bits are exact floats.
#define DEQUANTIZE(tag, type)                                                                    \
    TL_INLINE void dequantize_line_##tag(const type *src, float *dst, const float *scale,        \
                                         const type *zero, size_t n, const int step)             \
    {                                                                                            \
        const tl_vf s = tl_vf_set1(step ? 1 : *scale);                                           \
        const tl_vf z = tl_vf_set1(step || !zero ? 0 : (float)*zero);                            \
        size_t i = 0;                                                                            \
        for (; i + TL_VF_LANES <= n; i += TL_VF_LANES) {                                         \
            const tl_vf x = tl_vf_sub(tl_vf_load_##tag(src + i),                                 \
                                      step && zero ? tl_vf_load_##tag(zero + i) : z);            \
            tl_vf_store(dst + i, tl_vf_mul(x, step ? tl_vf_load(scale + i) : s));                \
        }                                                                                        \
        if (i < n) {                                                                             \
            const size_t m = n - i;                                                              \
            const tl_vf x = tl_vf_sub(tl_vf_load_partial_##tag(src + i, m),                      \
                                      step && zero ? tl_vf_load_partial_##tag(zero + i, m) : z); \
            tl_vf_store_partial(dst + i,                                                         \
                                tl_vf_mul(x, step ? tl_vf_load_partial(scale + i, m) : s), m);   \
        }                                                                                        \
    }

#define DEQUANTIZE_KERNEL(tag, type)                                                  \
    DEQUANTIZE(tag, type)                                                             \
    void SIMD_OF(tl_dequantize_##tag)(const void *src, void *dst, const float *scale, \
                                      const void *zero, size_t n, int step)           \
    {                                                                                 \
        if (step == 0)                                                                \
            dequantize_line_##tag(src, dst, scale, zero, n, 0);                       \
        else                                                                          \
            dequantize_line_##tag(src, dst, scale, zero, n, 1);                       \
    }

DEQUANTIZE_KERNEL(i8, int8_t)
DEQUANTIZE_KERNEL(u8, uint8_t)
DEQUANTIZE_KERNEL(i16, int16_t)
DEQUANTIZE_KERNEL(u16, uint16_t)
DEQUANTIZE(i32, int32_t)

static int has_zeros_only(const int32_t *zero, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (zero[i] != 0)
            return 0;
    return 1;
}

// Differences of 32 bits need 33: vectors where zero is 0, as it nearly always is.
void SIMD_OF(tl_dequantize_i32)(const void *src, void *dst, const float *scale, const void *zero,
                                size_t n, int step)
{
    if (zero && !has_zeros_only(zero, step ? n : 1))
        tl_dequantize_i32_c(src, dst, scale, zero, n, step);
    else if (step == 0)
        dequantize_line_i32(src, dst, scale, NULL, n, 0);
    else
        dequantize_line_i32(src, dst, scale, NULL, n, 1);
}

// Range

// A range in vectors: lanes without an element are 0, which a range includes anyway.
typedef struct span {
    tl_vf min, max;
} span;

static inline void extend(span *s, tl_vf x)
{
    s->min = tl_vf_min(x, s->min);
    s->max = tl_vf_max(x, s->max);
}

// All of n elements.
static span span_of_all(span s, const float *src, size_t n)
{
    enum { CHAINS = 4 };
    span chains[CHAINS] = {s, s, s, s};
    size_t i = 0;
    for (; i + CHAINS * TL_VF_LANES <= n; i += CHAINS * TL_VF_LANES) {
        TL_UNROLL
        for (int k = 0; k < CHAINS; k++)
            extend(&chains[k], tl_vf_load(src + i + k * TL_VF_LANES));
    }
    for (; i + TL_VF_LANES <= n; i += TL_VF_LANES)
        extend(&chains[0], tl_vf_load(src + i));
    if (i < n)
        extend(&chains[0], tl_vf_load_partial(src + i, n - i));
    TL_UNROLL
    for (int k = 1; k < CHAINS; k++) {
        chains[0].min = tl_vf_min(chains[k].min, chains[0].min);
        chains[0].max = tl_vf_max(chains[k].max, chains[0].max);
    }
    return chains[0];
}

// The first `lanes` of each TL_BLOCK elements.
static span span_of_lanes(span s, const float *src, size_t n, size_t lanes)
{
    for (size_t i = 0; i < n; i += TL_BLOCK)
        for (size_t k = 0; k < lanes; k += TL_VF_LANES)
            extend(&s, lanes - k < TL_VF_LANES ? tl_vf_load_partial(src + i + k, lanes - k)
                                               : tl_vf_load(src + i + k));
    return s;
}

void SIMD(tl_quantize_range)(const float *src, size_t n, int lanes, float range[2])
{
    const span before = {tl_vf_set1(range[0]), tl_vf_set1(range[1])};
    const span s = lanes == TL_BLOCK ? span_of_all(before, src, n)
                                     : span_of_lanes(before, src, n, (size_t)lanes);
    range[0] = -tl_vf_reduce_max(tl_vf_neg(s.min));
    range[1] = tl_vf_reduce_max(s.max);
}
