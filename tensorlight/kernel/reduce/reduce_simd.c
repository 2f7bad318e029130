// SPDX-License-Identifier: Apache-2.0
// Reductions of lines in vectors: sums, and extremes.
//
// TL_VF_LANES lines are computed together. Each is first reduced to one vector. A transposition
// makes lane r of vector i the partial result i of line r, so that the rest of the work is between
// vectors, too. A line shorter than a vector is only transposed.

#include "kernel/reduce/reduce.h"

#include <math.h>

#include "kernel/simd/tl_simd.h"

// Independent chains of operations, which hide their latency.
enum { SUMS = 2, BESTS = 4 };

// The columns of `n` lines that are shorter than a vector.
static void transposed(const float *src, size_t len, tl_vf *v, size_t n)
{
    for (size_t r = 0; r < TL_VF_LANES; r++)
        v[r] = r < n ? tl_vf_load_partial(src + r * len, len) : tl_vf_zero();
    tl_vf_transpose(v);
}

// Extremes. `sign` is -1 for the min: the max of negated elements.

// Propagates NaN.
TL_INLINE tl_vf greater(tl_vf best, tl_vf x, tl_vf sign)
{
    x = tl_vf_mul(x, sign);
    return tl_vf_select(tl_vf_eq(x, x), tl_vf_max(x, best), x);
}

// The greatest elements in each lane of a line of at least one vector. The last vector may overlap
// others.
static tl_vf greatest_lanes(const float *x, size_t len, tl_vf sign)
{
    tl_vf best[BESTS];
    TL_UNROLL
    for (int k = 0; k < BESTS; k++)
        best[k] = tl_vf_set1(-INFINITY);
    size_t i = 0;
    for (; i + BESTS * TL_VF_LANES <= len; i += BESTS * TL_VF_LANES) {
        TL_UNROLL
        for (int k = 0; k < BESTS; k++)
            best[k] = greater(best[k], tl_vf_load(x + i + k * TL_VF_LANES), sign);
    }
    for (; i + TL_VF_LANES <= len; i += TL_VF_LANES)
        best[0] = greater(best[0], tl_vf_load(x + i), sign);
    best[1] = greater(best[1], tl_vf_load(x + len - TL_VF_LANES), sign);
    TL_UNROLL
    for (int k = 1; k < BESTS; k++)
        best[0] = greater(best[0], best[k], tl_vf_set1(1));
    return best[0];
}

static void extremes(const float *src, size_t len, float *dst, size_t n, float min_or_max)
{
    tl_vf v[TL_VF_LANES], sign = tl_vf_set1(min_or_max), best = tl_vf_set1(-INFINITY);
    if (len < TL_VF_LANES) {
        transposed(src, len, v, n);
    } else {
        for (size_t r = 0; r < TL_VF_LANES; r++)
            v[r] = r < n ? greatest_lanes(src + r * len, len, sign) : best;
        tl_vf_transpose(v);
    }
    const tl_vf rest = len < TL_VF_LANES ? sign : tl_vf_set1(1);
    for (size_t i = 0; i < tl_min_size(len, TL_VF_LANES); i++)
        best = greater(best, v[i], rest);
    best = tl_vf_mul(best, sign);
    if (n == TL_VF_LANES)
        tl_vf_store(dst, best);
    else
        tl_vf_store_partial(dst, best, n);
}

// Sums, in double

// Adds x, |x| or x^2 to both halves of a sum.
TL_INLINE void add(tl_vf64 *sum, tl_vf x, tl_reduce_op op)
{
    if (op == TL_REDUCE_L1)
        x = tl_vf_abs(x);
    TL_UNROLL
    for (int k = 0; k < 2; k++) {
        const tl_vf64 d = tl_vf64_half(x, k);
        sum[k] = tl_vf64_add(sum[k], op == TL_REDUCE_SUM_SQUARE ? tl_vf64_mul(d, d) : d);
    }
}

// The same for the vector at x.
TL_INLINE void add_at(tl_vf64 *sum, const float *x, tl_reduce_op op)
{
    if (op == TL_REDUCE_L1) {
        add(sum, tl_vf_load(x), op);
        return;
    }
    TL_UNROLL
    for (int k = 0; k < 2; k++) {
        const tl_vf64 d = tl_vf64_widen(x + k * (TL_VF_LANES / 2));
        sum[k] = tl_vf64_add(sum[k], op == TL_REDUCE_SUM_SQUARE ? tl_vf64_mul(d, d) : d);
    }
}

TL_INLINE double sum_of(const float *x, size_t len, tl_reduce_op op)
{
    tl_vf64 sums[2 * SUMS];
    TL_UNROLL
    for (int k = 0; k < 2 * SUMS; k++)
        sums[k] = tl_vf64_zero();
    size_t i = 0;
    for (; i + SUMS * TL_VF_LANES <= len; i += SUMS * TL_VF_LANES) {
        TL_UNROLL
        for (int k = 0; k < SUMS; k++)
            add_at(sums + 2 * k, x + i + k * TL_VF_LANES, op);
    }
    for (; i + TL_VF_LANES <= len; i += TL_VF_LANES)
        add_at(sums, x + i, op);
    if (i < len)
        add(sums + 2, tl_vf_load_partial(x + i, len - i), op);
    TL_UNROLL
    for (int k = 1; k < 2 * SUMS; k++)
        sums[0] = tl_vf64_add(sums[0], sums[k]);
    return tl_vf64_sum(sums[0]);
}

TL_INLINE void short_sums(const float *src, size_t len, double *result, size_t n, tl_reduce_op op)
{
    tl_vf v[TL_VF_LANES];
    tl_vf64 sum[2] = {tl_vf64_zero(), tl_vf64_zero()};
    transposed(src, len, v, n);
    for (size_t i = 0; i < len; i++)
        add(sum, v[i], op);
    tl_vf64_store(result, sum[0]);
    tl_vf64_store(result + TL_VF_LANES / 2, sum[1]);
}

// Turns sums of `count` elements into results.
static void finish(double *sums, size_t n, size_t count, tl_reduce_op op, float *dst)
{
    for (size_t r = 0; r < n && op == TL_REDUCE_MEAN; r++)
        sums[r] /= (double)count;
    for (size_t r = 0; r < n && op == TL_REDUCE_L2; r++)
        sums[r] = sqrt(sums[r]);
    for (size_t r = 0; r < n && op == TL_REDUCE_LOG_SUM; r++)
        sums[r] = log(sums[r]);
    for (size_t r = 0; r < n; r++)
        dst[r] = (float)sums[r];
}

// `added`: the sum of x, |x| or x^2.
TL_INLINE void sums(const float *src, size_t len, float *dst, size_t n, tl_reduce_op op,
                    tl_reduce_op added)
{
    double result[TL_VF_LANES];
    if (len < TL_VF_LANES)
        short_sums(src, len, result, n, added);
    for (size_t r = 0; r < n && len >= TL_VF_LANES; r++)
        result[r] = sum_of(src + r * len, len, added);
    finish(result, n, len, op, dst);
}

void SIMD(tl_reduce_lines)(void *arg, size_t begin, size_t end)
{
    const tl_reduce_job *const job = arg;
    const size_t len = job->line;
    for (size_t k = begin, n; k < end; k += n) {
        const float *const src = (const float *)job->src + k * len;
        float *const dst = (float *)job->dst + k;
        n = tl_min_size(end - k, TL_VF_LANES);
        switch (job->op) {
        case TL_REDUCE_MAX:
            extremes(src, len, dst, n, 1);
            break;
        case TL_REDUCE_MIN:
            extremes(src, len, dst, n, -1);
            break;
        case TL_REDUCE_L1:
            sums(src, len, dst, n, job->op, TL_REDUCE_L1);
            break;
        case TL_REDUCE_L2:
        case TL_REDUCE_SUM_SQUARE:
            sums(src, len, dst, n, job->op, TL_REDUCE_SUM_SQUARE);
            break;
        default:
            sums(src, len, dst, n, job->op, TL_REDUCE_SUM);
            break;
        }
    }
}
