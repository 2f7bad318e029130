// SPDX-License-Identifier: Apache-2.0
// The transforms of Winograd's convolution, see winograd_blocked.h.
//
// A transform processes one axis after the other, with a table of vectors between them. The first
// argument of the inline functions is a constant: each number of pairs is compiled separately.

#include "kernel/winograd_blocked/winograd_blocked.h"

#include "kernel/simd/tl_simd_act.h"

enum { PARTS = TL_BLOCK / TL_VF_LANES /* vectors of a block */ };

// The sum of coefficients[k] * d[2 * k], k = 0 .. degree; the last coefficient is 1.
TL_INLINE tl_vf even_sum(const int degree, const double *coefficients, const tl_vf *d)
{
    tl_vf sum = d[2 * degree];
    TL_UNROLL
    for (int k = degree - 1; k >= 0; k--)
        sum = tl_vf_fma(tl_vf_set1((float)coefficients[k]), d[2 * k], sum);
    return sum;
}

// B' times the vectors from `src` on, `step` apart, to `dst`, `dst_step` apart.
TL_INLINE void source_line(const int pairs, const float *src, size_t step, float *dst,
                           size_t dst_step)
{
    const tl_wino_points *const points = &tl_wino_points_of[pairs];
    const int size = 2 * pairs + 2;
    tl_vf d[TL_WINO_SIZE];
    TL_UNROLL
    for (int i = 0; i < size; i++)
        d[i] = tl_vf_load(src + i * step);
    tl_vf_store(dst, even_sum(pairs, points->all, d));
    TL_UNROLL
    for (int i = 0; i < pairs; i++) {
        const tl_vf p = tl_vf_set1((float)points->power[i][1]);
        const tl_vf even = even_sum(pairs - 1, points->others[i], d + 2);
        const tl_vf odd = even_sum(pairs - 1, points->others[i], d + 1);
        tl_vf_store(dst + (1 + 2 * i) * dst_step, tl_vf_fma(p, odd, even));
        tl_vf_store(dst + (2 + 2 * i) * dst_step, tl_vf_fnma(p, odd, even));
    }
    tl_vf_store(dst + (size - 1) * dst_step, even_sum(pairs, points->all, d + 1));
}

TL_INLINE void source(const int pairs, const float *src, size_t row, float *dst, size_t step)
{
    const int size = 2 * pairs + 2;
    float table[TL_WINO_SIZE * TL_WINO_SIZE * TL_VF_LANES];
    for (int part = 0; part < TL_BLOCK; part += TL_VF_LANES) {
        for (int x = 0; x < size; x++)
            source_line(pairs, src + part + x * TL_BLOCK, row, table + x * TL_VF_LANES,
                        (size_t)size * TL_VF_LANES);
        for (int y = 0; y < size; y++)
            source_line(pairs, table + y * size * TL_VF_LANES, TL_VF_LANES,
                        dst + part + y * size * step, step);
    }
}

// A' times the vectors from `src` on, `step` apart: 2 * pairs results.
TL_INLINE void result_line(const int pairs, const float *src, size_t step, tl_vf *y)
{
    const tl_wino_points *const points = &tl_wino_points_of[pairs];
    tl_vf sum[TL_WINO_PAIRS], difference[TL_WINO_PAIRS];
    TL_UNROLL
    for (int i = 0; i < pairs; i++) {
        const tl_vf plus = tl_vf_load(src + (1 + 2 * i) * step);
        const tl_vf minus = tl_vf_load(src + (2 + 2 * i) * step);
        sum[i] = tl_vf_add(plus, minus);
        difference[i] = tl_vf_sub(plus, minus);
    }
    y[0] = tl_vf_add(tl_vf_load(src), sum[0]);
    TL_UNROLL
    for (int j = 1; j < 2 * pairs; j++)
        y[j] = tl_vf_mul(tl_vf_set1((float)points->power[0][j]), j % 2 ? difference[0] : sum[0]);
    TL_UNROLL
    for (int i = 1; i < pairs; i++) {
        TL_UNROLL
        for (int j = 0; j < 2 * pairs; j++)
            y[j] = tl_vf_fma(tl_vf_set1((float)points->power[i][j]), j % 2 ? difference[i] : sum[i],
                             y[j]);
    }
    y[2 * pairs - 1] =
        tl_vf_add(y[2 * pairs - 1], tl_vf_load(src + (size_t)(2 * pairs + 1) * step));
}

// Stores a line of results: the first `cols` of 2 * pairs pixels.
TL_INLINE void store_line(const int pairs, const tl_wino_job *job, const tl_vf *y, tl_vf bias,
                          const float *add, float *dst, int cols)
{
    const tl_vf low = tl_vf_set1(job->low), high = tl_vf_set1(job->high);
    TL_UNROLL
    for (int x = 0; x < 2 * pairs; x++)
        if (x < cols) {
            tl_vf z = tl_vf_add(y[x], bias);
            if (add)
                z = tl_vf_add(z, tl_vf_load(add + x * TL_BLOCK));
            tl_vf_store(dst + x * TL_BLOCK, tl_vf_min(high, tl_vf_max(low, z)));
        }
}

TL_INLINE void result(const int pairs, const tl_wino_job *job, const float *src, const float *bias,
                      const float *add, float *dst, int rows, int cols)
{
    const int size = 2 * pairs + 2;
    float table[TL_WINO_PAIRS * 2 * TL_WINO_SIZE * TL_VF_LANES];
    tl_vf y[TL_WINO_PAIRS * 2];
    for (int part = 0; part < TL_BLOCK; part += TL_VF_LANES) {
        for (int x = 0; x < size; x++) {
            result_line(pairs, src + part + x * job->step, size * job->step, y);
            TL_UNROLL
            for (int i = 0; i < 2 * pairs; i++)
                tl_vf_store(table + (i * size + x) * TL_VF_LANES, y[i]);
        }
        const tl_vf b = tl_vf_load(bias + part);
        for (int i = 0; i < rows; i++) {
            const size_t k = i * job->row + part;
            result_line(pairs, table + i * size * TL_VF_LANES, TL_VF_LANES, y);
            store_line(pairs, job, y, b, add ? add + k : NULL, dst + k, cols);
        }
    }
    for (int i = 0; i < rows; i++)
        tl_vf_activate(job->act, dst + i * job->row, (size_t)cols * TL_BLOCK);
}

#define EACH_PAIRS(X) X(1) X(2) X(3)

#define TRANSFORMS(n)                                                                   \
    static void source_##n(const float *src, size_t row, float *dst, size_t step)       \
    {                                                                                   \
        source(n, src, row, dst, step);                                                 \
    }                                                                                   \
    static void result_##n(const tl_wino_job *job, const float *src, const float *bias, \
                           const float *add, float *dst, int rows, int cols)            \
    {                                                                                   \
        result(n, job, src, bias, add, dst, rows, cols);                                \
    }
EACH_PAIRS(TRANSFORMS)

typedef void source_func(const float *src, size_t row, float *dst, size_t step);

#define SOURCE_OF(n) [n] = source_##n,
#define RESULT_OF(n) [n] = result_##n,
static source_func *const sources[] = {EACH_PAIRS(SOURCE_OF)};
static tl_wino_result_func *const results[] = {EACH_PAIRS(RESULT_OF)};

void SIMD(tl_wino_source)(int pairs, const float *src, size_t row, float *dst, size_t step)
{
    sources[pairs](src, row, dst, step);
}

void SIMD(tl_wino_result)(const tl_wino_job *job, const float *src, const float *bias,
                          const float *add, float *dst, int rows, int cols)
{
    results[job->pairs](job, src, bias, add, dst, rows, cols);
}
