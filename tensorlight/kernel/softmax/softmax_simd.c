// SPDX-License-Identifier: Apache-2.0
// Softmax and its logarithm in vectors. A line with contiguous elements is computed in vectors
// along the line; otherwise adjacent lines are the lanes of a vector. Contiguous lines that are
// shorter than a vector become such lanes by a transposition; lines of 4 elements share a vector.
//
// Lines are summed in parts of PART vectors, so that the error does not grow with their length. A
// NaN, or an infinite max, makes all of its line NaN as in plain C: by the sum.

#include "kernel/softmax/softmax.h"

#include "kernel/simd/tl_simd_math.h"

enum { PART = 32 };

// Along a line

static float max_of(const float *x, size_t len)
{
    tl_vf max = tl_vf_set1(x[0]);
    size_t i = 0;
    for (; i + TL_VF_LANES <= len; i += TL_VF_LANES)
        max = tl_vf_max(tl_vf_load(x + i), max);
    float result = tl_vf_reduce_max(max);
    for (; i < len; i++)
        result = x[i] > result ? x[i] : result;
    return result;
}

// The sum of exp(x - max) over a line; the exponentials to y, if not NULL.
TL_INLINE double sum_of_exp(const float *x, float *y, size_t len, float max)
{
    const tl_vf m = tl_vf_set1(max);
    double sum = 0;
    size_t i = 0;
    while (i + TL_VF_LANES <= len) {
        const size_t end = tl_min_size(len - TL_VF_LANES, i + (PART - 1) * TL_VF_LANES);
        tl_vf part = tl_vf_zero();
        for (; i <= end; i += TL_VF_LANES) {
            const tl_vf e = tl_vf_exp_weight(tl_vf_sub(tl_vf_load(x + i), m));
            part = tl_vf_add(part, e);
            if (y)
                tl_vf_store(y + i, e);
        }
        sum += (double)tl_vf_sum(part);
    }
    if (i < len) {
        const tl_vf rest = tl_vf_exp_weight(tl_vf_sub(tl_vf_load_partial(x + i, len - i), m));
        float lanes[TL_VF_LANES];
        tl_vf_store(lanes, rest);
        for (size_t k = 0; k < len - i; k++)
            sum += (double)lanes[k];
        if (y)
            tl_vf_store_partial(y + i, rest, len - i);
    }
    return sum;
}

static void softmax_line(const float *src, float *dst, size_t len)
{
    const tl_vf factor = tl_vf_set1((float)(1 / sum_of_exp(src, dst, len, max_of(src, len))));
    size_t i = 0;
    for (; i + TL_VF_LANES <= len; i += TL_VF_LANES)
        tl_vf_store(dst + i, tl_vf_mul(tl_vf_load(dst + i), factor));
    if (i < len)
        tl_vf_store_partial(dst + i, tl_vf_mul(tl_vf_load_partial(dst + i, len - i), factor),
                            len - i);
}

// x - max rounds, but max + log(sum) would round more: the two are subtracted one by one.
static void logsoftmax_line(const float *src, float *dst, size_t len)
{
    const float max = max_of(src, len);
    const tl_vf m = tl_vf_set1(max);
    const tl_vf log_sum = tl_vf_set1((float)log(sum_of_exp(src, NULL, len, max)));
    size_t i = 0;
    for (; i + TL_VF_LANES <= len; i += TL_VF_LANES)
        tl_vf_store(dst + i, tl_vf_sub(tl_vf_sub(tl_vf_load(src + i), m), log_sum));
    if (i < len)
        tl_vf_store_partial(dst + i,
                            tl_vf_sub(tl_vf_sub(tl_vf_load_partial(src + i, len - i), m), log_sum),
                            len - i);
}

// Across lines

// Element i of each of `n` <= TL_VF_LANES adjacent lines is a row.
TL_INLINE tl_vf row_at(const float *x, size_t n)
{
    return n == (size_t)TL_VF_LANES ? tl_vf_load(x) : tl_vf_load_partial(x, n);
}

TL_INLINE void put_row(float *x, tl_vf value, size_t n)
{
    if (n == (size_t)TL_VF_LANES)
        tl_vf_store(x, value);
    else
        tl_vf_store_partial(x, value, n);
}

TL_INLINE tl_vf max_of_rows(const float *x, size_t n, size_t len, size_t inner)
{
    tl_vf max = row_at(x, n);
    for (size_t i = 1; i < len; i++)
        max = tl_vf_max(row_at(x + i * inner, n), max);
    return max;
}

// As sum_of_exp, for each lane.
TL_INLINE tl_vf sums_of_exp(const float *x, float *y, size_t n, size_t len, size_t inner, tl_vf max)
{
    tl_vf sum = tl_vf_zero();
    for (size_t i = 0; i < len;) {
        const size_t end = tl_min_size(len, i + PART);
        tl_vf part = tl_vf_zero();
        for (; i < end; i++) {
            const tl_vf e = tl_vf_exp_weight(tl_vf_sub(row_at(x + i * inner, n), max));
            part = tl_vf_add(part, e);
            if (y)
                put_row(y + i * inner, e, n);
        }
        sum = tl_vf_add(sum, part);
    }
    return sum;
}

TL_INLINE void softmax_rows(const float *src, float *dst, size_t n, size_t len, size_t inner)
{
    const tl_vf max = max_of_rows(src, n, len, inner);
    const tl_vf factor = tl_vf_div(tl_vf_set1(1), sums_of_exp(src, dst, n, len, inner, max));
    for (size_t i = 0; i < len; i++)
        put_row(dst + i * inner, tl_vf_mul(row_at(dst + i * inner, n), factor), n);
}

TL_INLINE void logsoftmax_rows(const float *src, float *dst, size_t n, size_t len, size_t inner)
{
    const tl_vf max = max_of_rows(src, n, len, inner);
    const tl_vf log_sum = tl_vf_log(sums_of_exp(src, NULL, n, len, inner, max));
    for (size_t i = 0; i < len; i++)
        put_row(dst + i * inner, tl_vf_sub(tl_vf_sub(row_at(src + i * inner, n), max), log_sum), n);
}

// Short contiguous lines

// Reduces each four lanes by `op`, with the result in all of them.
#define REDUCE_FOURS(op, v)                                          \
    op(op(tl_vf_broadcast_lane4(v, 0), tl_vf_broadcast_lane4(v, 1)), \
       op(tl_vf_broadcast_lane4(v, 2), tl_vf_broadcast_lane4(v, 3)))

TL_INLINE tl_vf softmax_fours(tl_vf x)
{
    const tl_vf e = tl_vf_exp_weight(tl_vf_sub(x, REDUCE_FOURS(tl_vf_max, x)));
    return tl_vf_div(e, REDUCE_FOURS(tl_vf_add, e));
}

TL_INLINE tl_vf logsoftmax_fours(tl_vf x)
{
    const tl_vf shifted = tl_vf_sub(x, REDUCE_FOURS(tl_vf_max, x));
    const tl_vf e = tl_vf_exp_weight(shifted);
    return tl_vf_sub(shifted, tl_vf_log(REDUCE_FOURS(tl_vf_add, e)));
}

// Loads `n` <= TL_VF_LANES lines of `len` < TL_VF_LANES elements as the columns of a square.
TL_INLINE void load_square(float *square, const float *src, size_t n, size_t len)
{
    tl_vf v[TL_VF_LANES];
    TL_UNROLL
    for (int k = 0; k < TL_VF_LANES; k++)
        v[k] = (size_t)k < n ? tl_vf_load_partial(src + k * len, len) : tl_vf_zero();
    tl_vf_transpose(v);
    TL_UNROLL
    for (int k = 0; k < TL_VF_LANES; k++)
        tl_vf_store(square + k * TL_VF_LANES, v[k]);
}

TL_INLINE void store_square(float *dst, const float *square, size_t n, size_t len)
{
    tl_vf v[TL_VF_LANES];
    TL_UNROLL
    for (int k = 0; k < TL_VF_LANES; k++)
        v[k] = tl_vf_load(square + k * TL_VF_LANES);
    tl_vf_transpose(v);
    TL_UNROLL
    for (int k = 0; k < TL_VF_LANES; k++)
        if ((size_t)k < n)
            tl_vf_store_partial(dst + k * len, v[k], len);
}

#define SHORT_LINES(name)                                                                  \
    static void name##_lines_of_four(const float *src, float *dst, size_t len)             \
    {                                                                                      \
        size_t i = 0;                                                                      \
        for (; i + TL_VF_LANES <= len; i += TL_VF_LANES)                                   \
            tl_vf_store(dst + i, name##_fours(tl_vf_load(src + i)));                       \
        if (i < len) {                                                                     \
            const tl_vf rest = tl_vf_load_partial(src + i, len - i);                       \
            tl_vf_store_partial(dst + i, name##_fours(rest), len - i);                     \
        }                                                                                  \
    }                                                                                      \
    static void name##_short_lines(const float *src, float *dst, size_t lines, size_t len) \
    {                                                                                      \
        float square[TL_VF_LANES * TL_VF_LANES];                                           \
        for (size_t k = 0; k < lines; k += TL_VF_LANES) {                                  \
            const size_t n = tl_min_size(TL_VF_LANES, lines - k);                          \
            load_square(square, src + k * len, n, len);                                    \
            name##_rows(square, square, TL_VF_LANES, len, TL_VF_LANES);                    \
            store_square(dst + k * len, square, n, len);                                   \
        }                                                                                  \
    }

SHORT_LINES(softmax)
SHORT_LINES(logsoftmax)

// All

#define KERNEL(name)                                                                    \
    void SIMD(tl_##name)(void *arg, size_t begin, size_t end)                           \
    {                                                                                   \
        const tl_softmax_job *const job = arg;                                          \
        const float *const src = job->src;                                              \
        float *const dst = job->dst;                                                    \
        const size_t len = job->axis.len, inner = job->axis.inner;                      \
        if (inner == 1 && len == 4) {                                                   \
            name##_lines_of_four(src + begin * 4, dst + begin * 4, (end - begin) * 4);  \
            return;                                                                     \
        }                                                                               \
        if (inner == 1 && len < TL_VF_LANES) {                                          \
            name##_short_lines(src + begin * len, dst + begin * len, end - begin, len); \
            return;                                                                     \
        }                                                                               \
        for (size_t k = begin, n; k < end; k += n) {                                    \
            const size_t first = k / inner * len * inner + k % inner;                   \
            n = tl_axis_span(k, end, inner, TL_VF_LANES);                               \
            if (inner == 1)                                                             \
                name##_line(src + first, dst + first, len);                             \
            else if (n == (size_t)TL_VF_LANES)                                          \
                name##_rows(src + first, dst + first, TL_VF_LANES, len, inner);         \
            else                                                                        \
                name##_rows(src + first, dst + first, n, len, inner);                   \
        }                                                                               \
    }

KERNEL(softmax)
KERNEL(logsoftmax)
