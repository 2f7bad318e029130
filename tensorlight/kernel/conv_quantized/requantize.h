// SPDX-License-Identifier: Apache-2.0
// Results from exact sums, in vectors: the operations of tl_quantized.h, each rounded once. Include
// after tl_simd.h in a kernel.

#pragma once

#include "kernel/act/act.h"
#include "kernel/conv_quantized/conv_quantized.h"
#include "kernel/simd/tl_simd_quad.h"
#include "kernel/simd/tl_simd_small.h"

/** The constants of a vector of channels. */
typedef struct tl_requantize {
    tl_vi start; // of a sum: the bias minus zero * weight_sum
    tl_vf factor, addend;
    tl_vf low, high; // bounds of the activation: tl_act_bounds
    tl_vf dst_factor, dst_zero;
    tl_vi_range range; // if is_small: the bounds as bytes
    int is_small;      // no result can overflow 32 bits
    int is_plain;      // addend is 0, and dst_factor 1
} tl_requantize;

/** The constants for the factor `q->scale` in each channel, without bias and addend. */
static inline tl_requantize tl_requantize_of(const tl_quantized_param *q, float low, float high)
{
    return (tl_requantize){.start = tl_vi_set1(0),
                           .factor = tl_vf_set1(q->scale),
                           .addend = tl_vf_zero(),
                           .low = tl_vf_set1(low),
                           .high = tl_vf_set1(high),
                           .dst_factor = tl_vf_set1(q->dst_factor),
                           .dst_zero = tl_vf_set1((float)q->dst_zero)};
}

/** The constants of the channels from `lane` on of the row of packed weights at `row`. `bounds` are
 * low and high as bytes, `max_sum` is the max magnitude of a sum of products. If no value can reach
 * 2^30, values are rounded before they are clamped, to bounds that are bytes: both operations are
 * monotonic, so their order does not matter. */
static inline tl_requantize tl_requantize_at(const int8_t *row, int lane,
                                             const tl_quantized_param *q, float low, float high,
                                             const uint8_t bounds[2], float max_sum)
{
    tl_requantize e = tl_requantize_of(q, low, high);
    const int8_t *const at = row + (size_t)lane * sizeof(float);
    const tl_vi sums = tl_vi_load((const void *)(at + offsetof(tl_quantized_head, weight_sum)));
    e.start = tl_vi_add(tl_vi_load((const void *)(at + offsetof(tl_quantized_head, bias))),
                        tl_vi_mul(sums, tl_vi_set1(-q->zero)));
    e.factor =
        tl_vf_mul(tl_vf_load((const void *)(at + offsetof(tl_quantized_head, factor))), e.factor);
    e.addend = tl_vf_load((const void *)(at + offsetof(tl_quantized_head, addend)));
    const tl_vf sum = tl_vf_add(tl_vf_abs(tl_vi_to_vf(e.start)), tl_vf_set1(max_sum));
    const tl_vf max =
        tl_vf_mul(tl_vf_fma(tl_vf_abs(e.factor), sum, tl_vf_abs(e.addend)), e.dst_factor);
    // The sum of lanes is infinite or NaN, and the comparison false, if any lane is.
    e.is_small = q->dst_factor > 0 && tl_vf_sum(max) < 0x1p30f && low <= high && q->dst_zero >= 0 &&
                 q->dst_zero <= UINT8_MAX;
    e.is_plain = q->dst_factor == 1 && tl_vf_sum(tl_vf_abs(e.addend)) == 0;
    if (e.is_small)
        e.range = tl_vi_range_of(q->dst_zero, bounds[0], bounds[1]);
    return e;
}

/** Clamps values to the bounds of the activation; NaN stays. */
TL_INLINE tl_vf tl_quantized_clamp(tl_vf v, const tl_requantize *e)
{
    return tl_vf_min(e->high, tl_vf_max(e->low, v));
}

/** The values of sums that include `start`, clamped to the activation's bounds. */
TL_INLINE tl_vf tl_quantized_values(tl_vi sum, const tl_requantize *e)
{
    const tl_vf product = tl_vf_mul(tl_vi_to_vf(sum), e->factor);
    return tl_quantized_clamp(tl_vf_add(product, e->addend), e);
}

/** Quantizes the sums of a vector of channels of up to four pixels, if is_small; is_plain is a
 * constant. */
TL_INLINE void tl_quantized_store_sums(uint8_t *dst, const tl_vi *sum, int n, const int is_plain,
                                       const tl_requantize *e)
{
    tl_vi rounded[4];
    TL_UNROLL
    for (int k = 0; k < 4; k++) {
        const tl_vf product = tl_vf_mul(tl_vi_to_vf(sum[k]), e->factor);
        rounded[k] = tl_vi_round(
            is_plain ? product : tl_vf_mul(tl_vf_add(product, e->addend), e->dst_factor));
    }
    tl_vi_store_pixels(dst, rounded, n, &e->range);
}

/** Quantizes values to bytes, saturated; NaN becomes 0. */
TL_INLINE void tl_quantized_store(uint8_t *dst, tl_vf v, const tl_requantize *e)
{
    const tl_vf rounded = tl_vf_round(tl_vf_mul(v, e->dst_factor));
    const tl_vf shifted = tl_vf_max(tl_vf_add(rounded, e->dst_zero), tl_vf_zero());
    tl_vf_store_u8(dst, tl_vf_min(shifted, tl_vf_set1(255)));
}
