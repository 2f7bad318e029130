// SPDX-License-Identifier: Apache-2.0
// Quantization and back in plain C: the definition.

#ifndef T // once

#include <math.h>

#include "kernel/quantize/quantize.h"
#include "tensor/tl_element.h"

// Of integers of 8 and 16 bits.
#define IS_SIGNED ((T)-1 < (T)1)
#define LOWEST    (IS_SIGNED ? -(1 << (8 * sizeof(T) - 1)) : 0)
#define HIGHEST   ((1 << (8 * sizeof(T) - IS_SIGNED)) - 1)

// Quantized networks compute in these types. WIDE holds every difference.
#define TL_TUNED_ALL
#define TL_TEMPLATE "kernel/quantize/quantize_c.c"
#define WIDE        int32_t
#define TL_TAG      i8
#include "tensor/tl_one_type.inc.h"
#define TL_TAG u8
#include "tensor/tl_one_type.inc.h"
#define TL_TAG i16
#include "tensor/tl_one_type.inc.h"
#define TL_TAG u16
#include "tensor/tl_one_type.inc.h"
#undef WIDE
#define WIDE int64_t
#define ONLY_DEQUANTIZES
#define TL_TAG i32
#include "tensor/tl_one_type.inc.h"

void tl_quantize_range_f32_c(const float *src, size_t n, int lanes, float range[2])
{
    float min = range[0], max = range[1];
    for (size_t i = 0; i < n; i++) {
        if (i % TL_BLOCK >= (size_t)lanes)
            continue;
        min = src[i] < min ? src[i] : min;
        max = src[i] > max ? src[i] : max;
    }
    range[0] = min;
    range[1] = max;
}

#else // for each type

#ifndef ONLY_DEQUANTIZES

static T NAME(quantized, of)(float x, float zero)
{
    const float shifted = rintf(x) + zero;
    const float low = (float)LOWEST, high = (float)HIGHEST;
    const float cut = shifted < high ? shifted : high;
    return (T)(shifted > low ? cut : low); // NaN becomes the lowest
}

void NAME(tl_quantize, c)(const void *src, void *dst, const float *scale, const void *zero,
                          size_t n, int step)
{
    const float *const from = src;
    const T *const zeros = zero;
    T *const to = dst;
    if (step == 0) {
        const float s = *scale, z = zeros ? (float)*zeros : 0;
        for (size_t i = 0; i < n; i++)
            to[i] = NAME(quantized, of)(from[i] / s, z);
    } else {
        for (size_t i = 0; i < n; i++)
            to[i] = NAME(quantized, of)(from[i] / scale[i], zeros ? (float)zeros[i] : 0);
    }
}

#endif

void NAME(tl_dequantize, c)(const void *src, void *dst, const float *scale, const void *zero,
                            size_t n, int step)
{
    const T *const from = src;
    const T *const zeros = zero;
    float *const to = dst;
    if (step == 0) {
        const float s = *scale;
        const WIDE z = zeros ? *zeros : 0;
        for (size_t i = 0; i < n; i++)
            to[i] = (float)(from[i] - z) * s;
    } else {
        for (size_t i = 0; i < n; i++)
            to[i] = (float)(from[i] - (WIDE)(zeros ? zeros[i] : 0)) * scale[i];
    }
}

#endif
