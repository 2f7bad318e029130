// SPDX-License-Identifier: Apache-2.0
// Scale and shift per channel in plain C.

#ifndef T // once

#include "kernel/affine/affine.h"

#define TL_TEMPLATE "kernel/affine/affine_c.c"
#ifdef TL_SIMD_SET
#define TL_TAG f32
#include "tensor/tl_one_type.inc.h"
#else
#include "tensor/tl_each_float.inc.h"
#endif

#else // for each type

// `n` elements of one channel.
static void NAME(scale_row, TL_SET)(const T *src, T *dst, size_t n, C scale, C shift)
{
    for (size_t i = 0; i < n; i++)
        dst[i] = STORE(LOAD(src[i]) * scale + shift);
}

// `n` channels of one element.
static void NAME(scale_channels, TL_SET)(const T *src, T *dst, size_t n, const T *scale,
                                         const T *shift)
{
    for (size_t i = 0; i < n; i++)
        dst[i] =
            STORE(LOAD(src[i]) * LOAD(scale[i]) + (shift ? LOAD(shift[i]) : TL_AFFINE_NOTHING));
}

void NAME(tl_affine, TL_SET)(void *arg, size_t begin, size_t end)
{
    const tl_affine_job *const job = arg;
    const T *const src = job->src, *const scale = job->scale, *const shift = job->shift;
    T *const dst = job->dst;
    const size_t channels = job->axis.len, inner = job->axis.inner;
    for (size_t k = begin, n; k < end; k += n) {
        const size_t c = k / inner % channels;
        const C addend = shift ? LOAD(shift[c]) : TL_AFFINE_NOTHING;
        n = tl_axis_span(k, end, inner == 1 ? channels : inner, SIZE_MAX);
        if (inner == 1)
            NAME(scale_channels, TL_SET)(src + k, dst + k, n, scale + c, shift ? shift + c : NULL);
        else
            NAME(scale_row, TL_SET)(src + k, dst + k, n, LOAD(scale[c]), addend);
    }
}

#endif
