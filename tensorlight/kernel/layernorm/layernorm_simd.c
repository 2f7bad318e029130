// SPDX-License-Identifier: Apache-2.0
// Normalization of lines in vectors.
//
// Sums of PART vectors, in STREAMS independent accumulators, are added in double. The
// mean of the differences to a first mean corrects both the mean and the variance (corrected
// two-pass algorithm: T. F. Chan, G. H. Golub, R. J. LeVeque, The American Statistician 37, 1983),
// so that large means do no harm.

#include "kernel/layernorm/layernorm.h"

#include <math.h>

#include "kernel/simd/tl_simd.h"

enum { STREAMS = 4, PART = 64 };

// The sums over x - mean and over its square; `square` NULL: only the first.
TL_INLINE double sum_of(const float *x, size_t len, float mean, double *square)
{
    const tl_vf m = tl_vf_set1(mean);
    double sum = 0, squares = 0;
    size_t i = 0;
    while (i + STREAMS * TL_VF_LANES <= len) {
        tl_vf s[STREAMS], q[STREAMS];
        TL_UNROLL
        for (int k = 0; k < STREAMS; k++)
            s[k] = q[k] = tl_vf_zero();
        const size_t end =
            tl_min_size(len - STREAMS * TL_VF_LANES, i + (PART - STREAMS) * TL_VF_LANES);
        for (; i <= end; i += STREAMS * TL_VF_LANES) {
            TL_UNROLL
            for (int k = 0; k < STREAMS; k++) {
                const tl_vf d = tl_vf_sub(tl_vf_load(x + i + k * TL_VF_LANES), m);
                s[k] = tl_vf_add(s[k], d);
                if (square)
                    q[k] = tl_vf_fma(d, d, q[k]);
            }
        }
        sum += (double)tl_vf_sum(tl_vf_add(tl_vf_add(s[0], s[1]), tl_vf_add(s[2], s[3])));
        if (square)
            squares += (double)tl_vf_sum(tl_vf_add(tl_vf_add(q[0], q[1]), tl_vf_add(q[2], q[3])));
    }
    for (; i < len; i++) {
        const double d = (double)(x[i] - mean);
        sum += d;
        squares += d * d;
    }
    if (square)
        *square = squares;
    return sum;
}

// (x - mean) inv_std factor + offset, rounded step by step: a rewrite that fuses
// the factor and offset changes no bits.
TL_INLINE tl_vf normalized(tl_vf x, tl_vf mean, tl_vf inv_std, tl_vf factor, tl_vf offset)
{
    return tl_vf_add(tl_vf_mul(tl_vf_mul(tl_vf_sub(x, mean), inv_std), factor), offset);
}

// A line with a scale and a bias for each element.
TL_INLINE void normalize_elements(const float *src, const float *scale, const float *bias,
                                  float *dst, size_t len, tl_vf mean, tl_vf inv_std)
{
    const tl_vf one = tl_vf_set1(1), zero = tl_vf_zero();
    size_t i = 0;
    for (; i + TL_VF_LANES <= len; i += TL_VF_LANES)
        tl_vf_store(dst + i, normalized(tl_vf_load(src + i), mean, inv_std,
                                        scale ? tl_vf_load(scale + i) : one,
                                        bias ? tl_vf_load(bias + i) : zero));
    const size_t n = len - i;
    if (n > 0)
        tl_vf_store_partial(dst + i,
                            normalized(tl_vf_load_partial(src + i, n), mean, inv_std,
                                       scale ? tl_vf_load_partial(scale + i, n) : one,
                                       bias ? tl_vf_load_partial(bias + i, n) : zero),
                            n);
}

// Parts of `inner` elements with a scale and a bias for each.
TL_INLINE void normalize_parts(const float *src, const float *scale, const float *bias, float *dst,
                               size_t parts, size_t inner, tl_vf mean, tl_vf inv_std)
{
    for (size_t p = 0; p < parts; p++, src += inner, dst += inner) {
        const tl_vf factor = tl_vf_set1(scale ? scale[p] : 1),
                    offset = tl_vf_set1(bias ? bias[p] : 0);
        size_t i = 0;
        for (; i + TL_VF_LANES <= inner; i += TL_VF_LANES)
            tl_vf_store(dst + i, normalized(tl_vf_load(src + i), mean, inv_std, factor, offset));
        if (i < inner)
            tl_vf_store_partial(
                dst + i,
                normalized(tl_vf_load_partial(src + i, inner - i), mean, inv_std, factor, offset),
                inner - i);
    }
}

void SIMD(tl_layernorm)(void *arg, size_t begin, size_t end)
{
    const tl_layernorm_job *const job = arg;
    const size_t len = job->parts * job->inner;
    for (size_t k = begin; k < end; k++) {
        const float *const src = (const float *)job->src + k * len;
        float *const dst = (float *)job->dst + k * len;
        const size_t first = k % job->period * job->parts;
        const float *const scale = job->scale ? (const float *)job->scale + first : NULL;
        const float *const bias = job->bias ? (const float *)job->bias + first : NULL;
        const double n = (double)len;
        const float guess = job->is_centered ? (float)(sum_of(src, len, 0, NULL) / n) : 0;
        double squares;
        const double rest = sum_of(src, len, guess, &squares) / n;
        const double correction = job->is_centered ? rest : 0;
        const float mean = (float)((double)guess + correction);
        const double variance = squares / n - correction * correction;
        const float inv_std = (float)(1 / sqrt(variance + job->epsilon));
        if (job->mean)
            ((float *)job->mean)[k] = mean;
        if (job->inv_std)
            ((float *)job->inv_std)[k] = inv_std;
        if (job->inner == 1)
            normalize_elements(src, scale, bias, dst, len, tl_vf_set1(mean), tl_vf_set1(inv_std));
        else
            normalize_parts(src, scale, bias, dst, job->parts, job->inner, tl_vf_set1(mean),
                            tl_vf_set1(inv_std));
    }
}
