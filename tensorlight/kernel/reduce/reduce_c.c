// SPDX-License-Identifier: Apache-2.0
// Reductions in plain C.
//
// Each operation is four steps on accumulators of the type ACC, one accumulator per result:
//
//     acc = FIRST                 the initial value
//     acc = STEP(acc, x)          adds an element x of type C
//     acc = JOIN(acc, other)      combines two partial results
//     RESULT(acc, count)          the result, of type C
//
// Adjacent results are reduced together, up to TL_REDUCE_LINES at a time, so
// that memory is read in order: a loop that compilers turn into vector code. Where the elements of
// one result are adjacent, TL_REDUCE_LANES of them are treated as a row of such results, or the
// results of short lines are computed one after the other.
// Floats sum in double, integers modulo 2^64, whose low bits are the result. log_sum_exp first
// finds the maximum of each result, then sums exp(x - maximum).

#ifndef T // once

#include "kernel/reduce/reduce.h"

#include <math.h>

#include "tensor/tl_convert.h"

#define SUM_OF(acc, x)  ((acc) + (x))
#define PROD_OF(acc, x) ((acc) * (x))

#define BEGIN(name, ACC, FIRST)                        \
    static void NAME(name, begin)(void *acc, size_t n) \
    {                                                  \
        ACC *const a = acc;                            \
        for (size_t j = 0; j < n; j++)                 \
            a[j] = (ACC)(FIRST);                       \
    }

#define ADD(name, ACC, STEP, JOIN)                                                               \
    static void NAME(name, add)(void *acc, const T *restrict src, const double *shift, size_t n, \
                                size_t rows, size_t stride)                                      \
    {                                                                                            \
        ACC *const restrict a = acc;                                                             \
        (void)shift;                                                                             \
        for (size_t i = 0; i < rows; i++)                                                        \
            for (size_t j = 0; j < n; j++) {                                                     \
                const C x = LOAD(src[i * stride + j]);                                           \
                a[j] = (ACC)STEP(a[j], x, shift[j]);                                             \
            }                                                                                    \
    }                                                                                            \
    static void NAME(name, add_lines)(void *acc, const T *src, const double *shift, size_t n,    \
                                      size_t len)                                                \
    {                                                                                            \
        for (size_t j = 0; j < n; j++, src += len) {                                             \
            ACC a = ((ACC *)acc)[j];                                                             \
            for (size_t i = 0; i < len; i++) {                                                   \
                const C x = LOAD(src[i]);                                                        \
                a = (ACC)STEP(a, x, shift[j]);                                                   \
            }                                                                                    \
            ((ACC *)acc)[j] = a;                                                                 \
        }                                                                                        \
        (void)shift;                                                                             \
    }                                                                                            \
    static void NAME(name, join)(void *acc, void *lanes)                                         \
    {                                                                                            \
        ACC *const a = lanes;                                                                    \
        for (size_t half = TL_REDUCE_LANES / 2; half > 0; half /= 2)                             \
            for (size_t j = 0; j < half; j++)                                                    \
                a[j] = (ACC)JOIN(a[j], a[half + j]);                                             \
        *(ACC *)acc = (ACC)JOIN(*(ACC *)acc, a[0]);                                              \
    }

#define FINISH(name, ACC, RESULT)                                                          \
    static void NAME(name, finish)(const void *acc, T *dst, const double *shift, size_t n, \
                                   size_t count)                                           \
    {                                                                                      \
        const ACC *const a = acc;                                                          \
        (void)count, (void)shift;                                                          \
        for (size_t j = 0; j < n; j++)                                                     \
            dst[j] = STORE(RESULT(a[j], count, shift[j]));                                 \
    }

#define ADD_SUM(acc, x, shift)          SUM_OF(acc, (SUM)(x))
#define ADD_PROD(acc, x, shift)         PROD_OF(acc, (SUM)(x))
#define ADD_MAX(acc, x, shift)          MAX_OF(acc, x)
#define ADD_MIN(acc, x, shift)          MIN_OF(acc, x)
#define ADD_ABS(acc, x, shift)          SUM_OF(acc, ABS(x))
#define ADD_SQUARE(acc, x, shift)       SUM_OF(acc, (SUM)(x) * (SUM)(x))
#define ADD_EXP(acc, x, shift)          SUM_OF(acc, exp((double)(x) - (shift)))
#define RESULT(acc, count, shift)       AS_IS(acc)
#define RESULT_MEAN(acc, count, shift)  MEAN(acc, count)
#define RESULT_ROOT(acc, count, shift)  FROM_DOUBLE(sqrt(DOUBLE_OF(acc)))
#define RESULT_LOG(acc, count, shift)   FROM_DOUBLE(log(DOUBLE_OF(acc)))
#define RESULT_SHIFT(acc, count, shift) FROM_DOUBLE(log(acc) + (shift))

#define STEPS(first, added, result)                                                      \
    {                                                                                    \
        NAME(first, begin), NAME(added, add), NAME(added, add_lines), NAME(added, join), \
            NAME(result, finish)                                                         \
    }

#define TL_TEMPLATE "kernel/reduce/reduce_c.c"

// Floats

// Propagate NaN.
#define MAX_OF(acc, x)   (((x) > (acc)) | ((x) != (x)) ? (x) : (acc))
#define MIN_OF(acc, x)   (((x) < (acc)) | ((x) != (x)) ? (x) : (acc))
#define LOWEST           ((C)-INFINITY)
#define HIGHEST          ((C)INFINITY)
#define SUM              double
#define ABS(x)           fabs((double)(x))
#define AS_IS(sum)       ((C)(sum))
#define DOUBLE_OF(sum)   (sum)
#define FROM_DOUBLE(d)   ((C)(d))
#define MEAN(sum, count) ((C)((sum) / (double)(count)))
#define IS_FINITE(c)     isfinite(c)
#ifdef TL_SIMD_SET
#define TL_TAG f32
#include "tensor/tl_one_type.inc.h"
#else
#include "tensor/tl_each_float.inc.h"
#undef MAX_OF
#undef MIN_OF
#undef LOWEST
#undef HIGHEST
#undef SUM
#undef ABS
#undef AS_IS
#undef DOUBLE_OF
#undef FROM_DOUBLE
#undef MEAN
#undef IS_FINITE

// Integers

#define MAX_OF(acc, x)   ((x) > (acc) ? (x) : (acc))
#define MIN_OF(acc, x)   ((x) < (acc) ? (x) : (acc))
#define IS_SIGNED        ((C)-1 < (C)1)
#define LOWEST           NAME(tl, from_double)(-INFINITY)
#define HIGHEST          NAME(tl, from_double)(INFINITY)
#define SUM              uint64_t
#define ABS(x)           ((x) < (C)1 ? 0 - (uint64_t)(x) : (uint64_t)(x))
#define AS_IS(sum)       ((C)(sum))
#define DOUBLE_OF(sum)   (IS_SIGNED ? (double)(int64_t)(sum) : (double)(sum))
#define FROM_DOUBLE(d)   NAME(tl, from_double)(d)
#define MEAN(sum, count) NAME(mean, c)(sum, count)
#define IS_FINITE(c)     1
#include "tensor/tl_each_int.inc.h"
#undef LOWEST
#undef HIGHEST

// Bool: the maximum is OR, the minimum AND

#define LOWEST  0
#define HIGHEST 1
#define TL_TAG  b8
#include "tensor/tl_one_type.inc.h"

#endif

#else // for each type

// The steps of an operation on `n` accumulators at `acc`. `shift`, one per result, is what
// log_sum_exp subtracts.
typedef struct NAME(steps, TL_SET) {
    void (*begin)(void *acc, size_t n);
    void (*add)(void *acc, const T *src, const double *shift, size_t n, size_t rows,
                size_t stride); // src [rows, n], rows `stride` apart
    void (*add_lines)(void *acc, const T *src, const double *shift, size_t n,
                      size_t len);        // src [n, len], in order
    void (*join)(void *acc, void *lanes); // of TL_REDUCE_LANES accumulators, to one
    void (*finish)(const void *acc, T *dst, const double *shift, size_t n, size_t count);
} NAME(steps, TL_SET);

#if defined(IS_SIGNED)
// Rounds toward zero; 0 for no elements.
static inline C NAME(mean, TL_SET)(uint64_t sum, size_t count)
{
    if (count == 0)
        return 0;
    return IS_SIGNED ? (C)((int64_t)sum / (int64_t)count) : (C)(sum / count);
}
#endif

// Operations share these steps.

BEGIN(zero, SUM, 0)
BEGIN(one, SUM, 1)
BEGIN(lowest, C, LOWEST)
BEGIN(highest, C, HIGHEST)
BEGIN(zero_double, double, 0)

ADD(sum, SUM, ADD_SUM, SUM_OF)
ADD(prod, SUM, ADD_PROD, PROD_OF)
ADD(max, C, ADD_MAX, MAX_OF)
ADD(min, C, ADD_MIN, MIN_OF)
ADD(abs, SUM, ADD_ABS, SUM_OF)
ADD(square, SUM, ADD_SQUARE, SUM_OF)
ADD(exp, double, ADD_EXP, SUM_OF)

FINISH(sum, SUM, RESULT)
FINISH(extreme, C, RESULT)
FINISH(mean, SUM, RESULT_MEAN)
FINISH(root, SUM, RESULT_ROOT)
FINISH(log, SUM, RESULT_LOG)
FINISH(shifted, double, RESULT_SHIFT)

static const NAME(steps, TL_SET) NAME(operations, TL_SET)[TL_REDUCE_OP_SIZE] = {
    [TL_REDUCE_SUM] = STEPS(zero, sum, sum),
    [TL_REDUCE_MEAN] = STEPS(zero, sum, mean),
    [TL_REDUCE_PROD] = STEPS(one, prod, sum),
    [TL_REDUCE_MAX] = STEPS(lowest, max, extreme),
    [TL_REDUCE_MIN] = STEPS(highest, min, extreme),
    [TL_REDUCE_L1] = STEPS(zero, abs, sum),
    [TL_REDUCE_L2] = STEPS(zero, square, root),
    [TL_REDUCE_SUM_SQUARE] = STEPS(zero, square, sum),
    [TL_REDUCE_LOG_SUM] = STEPS(zero, sum, log),
    [TL_REDUCE_LOG_SUM_EXP] = STEPS(zero_double, exp, shifted),
};

typedef union NAME(accs, TL_SET) {
    SUM sums[TL_REDUCE_LINES];
    double doubles[TL_REDUCE_LINES];
    C extreme[TL_REDUCE_LINES];
} NAME(accs, TL_SET);

// Adds `len` adjacent elements to each of `n` accumulators; to one if the lines are long.
static void NAME(add_lines, TL_SET)(const NAME(steps, TL_SET) * steps, void *acc, const T *src,
                                    const double *shift, size_t n, size_t len)
{
    if (!TL_REDUCE_IS_SHORT(len)) {
        const size_t rows = len / TL_REDUCE_LANES;
        NAME(accs, TL_SET) lanes;
        double shifts[TL_REDUCE_LANES];
        for (size_t j = 0; j < TL_REDUCE_LANES; j++)
            shifts[j] = *shift;
        steps->begin(&lanes, TL_REDUCE_LANES);
        steps->add(&lanes, src, shifts, TL_REDUCE_LANES, rows, TL_REDUCE_LANES);
        steps->join(acc, &lanes);
        src += rows * TL_REDUCE_LANES;
        len %= TL_REDUCE_LANES;
    }
    steps->add_lines(acc, src, shift, n, len);
}

// Accumulates all elements of the `n` results whose first elements are src[0 .. n-1].
static void NAME(add_all, TL_SET)(const tl_reduce_job *job, const NAME(steps, TL_SET) * steps,
                                  void *acc, const T *src, const double *shift, size_t n)
{
    const int is_line = job->line != 1;
    const int n_outer = is_line || job->n_reduced == 0 ? job->n_reduced : job->n_reduced - 1;
    const tl_reduce_axis rows =
        n_outer < job->n_reduced ? job->reduced[n_outer] : (tl_reduce_axis){1, 0};
    size_t coords[TL_MAXDIM] = {0};
    for (int i = 0; i >= 0;) {
        if (is_line)
            NAME(add_lines, TL_SET)(steps, acc, src, shift, n, job->line);
        else
            steps->add(acc, src, shift, n, rows.len, rows.stride);
        for (i = n_outer - 1; i >= 0; i--) {
            const tl_reduce_axis *const a = &job->reduced[i];
            src += a->stride;
            if (++coords[i] < a->len)
                break;
            coords[i] = 0;
            src -= a->len * a->stride;
        }
    }
}

// Computes the `n` results whose first elements are src[0 .. n-1].
static void NAME(reduce_block, TL_SET)(const tl_reduce_job *job, const T *src, T *dst, size_t n)
{
    const NAME(steps, TL_SET) *const steps = &NAME(operations, TL_SET)[job->op];
    NAME(accs, TL_SET) acc;
    double shift[TL_REDUCE_LINES] = {0};
    if (job->op == TL_REDUCE_LOG_SUM_EXP && job->count > 0) {
        const NAME(steps, TL_SET) *const max = &NAME(operations, TL_SET)[TL_REDUCE_MAX];
        max->begin(&acc, n);
        NAME(add_all, TL_SET)(job, max, &acc, src, shift, n);
        for (size_t j = 0; j < n; j++)
            shift[j] = IS_FINITE(acc.extreme[j]) ? (double)acc.extreme[j] : 0;
    }
    steps->begin(&acc, n);
    if (job->count > 0)
        NAME(add_all, TL_SET)(job, steps, &acc, src, shift, n);
    steps->finish(&acc, dst, shift, n, job->count);
}

void NAME(tl_reduce, TL_SET)(void *arg, size_t begin, size_t end)
{
    const tl_reduce_job *const job = arg;
    const int last = job->n_kept - 1;
    const int is_together = job->line == 1 || (TL_REDUCE_IS_SHORT(job->line) && !job->n_reduced);
    const size_t row = is_together && last >= 0 ? job->kept[last].len : 1;
    for (size_t k = begin, n; k < end; k += n) {
        n = tl_axis_span(k, end, row, TL_REDUCE_LINES);
        size_t rest = k, first = 0;
        for (int i = last; i >= 0; i--) {
            first += rest % job->kept[i].len * job->kept[i].stride;
            rest /= job->kept[i].len;
        }
        NAME(reduce_block, TL_SET)(job, (const T *)job->src + first, (T *)job->dst + k, n);
    }
}

#endif
