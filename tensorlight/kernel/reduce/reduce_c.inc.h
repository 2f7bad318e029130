// SPDX-License-Identifier: Apache-2.0
// Template: the reductions for one type, see reduce_c.c.

/** The steps of an operation on `n` accumulators at `acc`. `shift` belongs to each result: what
 *  log_sum_exp subtracts. */
typedef struct NAME(steps, TL_SET) {
    void (*begin)(void *acc, size_t n);
    void (*add_rows)(void *acc, const T *src, const double *shift, size_t n, size_t rows,
                     size_t stride); /* src [rows, n], rows `stride` apart */
    void (*add_line)(void *acc, const T *src, double shift, size_t len); /* to one accumulator */
    void (*finish)(const void *acc, T *dst, const double *shift, size_t n, size_t count);
} NAME(steps, TL_SET);

#if defined(IS_SIGNED)
/** Toward zero; 0 of nothing. */
static inline C NAME(mean, TL_SET)(uint64_t sum, size_t count)
{
    if (count == 0)
        return 0;
    return IS_SIGNED ? (C)((int64_t)sum / (int64_t)count) : (C)(sum / count);
}
#endif

#define SUM_OF(acc, x)  ((acc) + (x))
#define PROD_OF(acc, x) ((acc) * (x))

#define REDUCTION(op, ACC, FIRST, ADD, JOIN, FINISH)                                       \
    static void NAME(op, begin)(void *acc, size_t n)                                       \
    {                                                                                      \
        ACC *const a = acc;                                                                \
        for (size_t j = 0; j < n; j++)                                                     \
            a[j] = (ACC)(FIRST);                                                           \
    }                                                                                      \
    static void NAME(op, rows)(void *acc, const T *src, const double *shift, size_t n,     \
                               size_t rows, size_t stride)                                 \
    {                                                                                      \
        ACC *const a = acc;                                                                \
        (void)shift;                                                                       \
        for (size_t i = 0; i < rows; i++)                                                  \
            for (size_t j = 0; j < n; j++) {                                               \
                const C x = LOAD(src[i * stride + j]);                                     \
                a[j] = (ACC)ADD(a[j], x, shift[j]);                                        \
            }                                                                              \
    }                                                                                      \
    static void NAME(op, line)(void *acc, const T *src, double shift, size_t len)          \
    {                                                                                      \
        ACC lanes[TL_REDUCE_LANES];                                                        \
        double shifts[TL_REDUCE_LANES];                                                    \
        size_t i = 0;                                                                      \
        if (len >= 2 * TL_REDUCE_LANES) {                                                  \
            for (size_t j = 0; j < TL_REDUCE_LANES; j++)                                   \
                shifts[j] = shift;                                                         \
            NAME(op, begin)(lanes, TL_REDUCE_LANES);                                       \
            NAME(op, rows)                                                                 \
            (lanes, src, shifts, TL_REDUCE_LANES, len / TL_REDUCE_LANES, TL_REDUCE_LANES); \
            for (size_t half = TL_REDUCE_LANES / 2; half > 0; half /= 2)                   \
                for (size_t j = 0; j < half; j++)                                          \
                    lanes[j] = (ACC)JOIN(lanes[j], lanes[half + j]);                       \
            *(ACC *)acc = (ACC)JOIN(*(ACC *)acc, lanes[0]);                                \
            i = len - len % TL_REDUCE_LANES;                                               \
        }                                                                                  \
        for (; i < len; i++) {                                                             \
            const C x = LOAD(src[i]);                                                      \
            *(ACC *)acc = (ACC)ADD(*(ACC *)acc, x, shift);                                 \
        }                                                                                  \
    }                                                                                      \
    static void NAME(op, finish)(const void *acc, T *dst, const double *shift, size_t n,   \
                                 size_t count)                                             \
    {                                                                                      \
        const ACC *const a = acc;                                                          \
        (void)count, (void)shift;                                                          \
        for (size_t j = 0; j < n; j++)                                                     \
            dst[j] = STORE(FINISH(a[j], count, shift[j]));                                 \
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

REDUCTION(sum, SUM, 0, ADD_SUM, SUM_OF, RESULT)
REDUCTION(average, SUM, 0, ADD_SUM, SUM_OF, RESULT_MEAN)
REDUCTION(prod, SUM, 1, ADD_PROD, PROD_OF, RESULT)
REDUCTION(max, C, LOWEST, ADD_MAX, MAX_OF, RESULT)
REDUCTION(min, C, HIGHEST, ADD_MIN, MIN_OF, RESULT)
REDUCTION(l1, SUM, 0, ADD_ABS, SUM_OF, RESULT)
REDUCTION(l2, SUM, 0, ADD_SQUARE, SUM_OF, RESULT_ROOT)
REDUCTION(sum_square, SUM, 0, ADD_SQUARE, SUM_OF, RESULT)
REDUCTION(log_sum, SUM, 0, ADD_SUM, SUM_OF, RESULT_LOG)
REDUCTION(log_sum_exp, double, 0, ADD_EXP, SUM_OF, RESULT_SHIFT)

#define STEPS(op)                                                         \
    {                                                                     \
        NAME(op, begin), NAME(op, rows), NAME(op, line), NAME(op, finish) \
    }
static const NAME(steps, TL_SET) NAME(operations, TL_SET)[TL_REDUCE_OP_SIZE] = {
    [TL_REDUCE_SUM] = STEPS(sum),         [TL_REDUCE_MEAN] = STEPS(average),
    [TL_REDUCE_PROD] = STEPS(prod),       [TL_REDUCE_MAX] = STEPS(max),
    [TL_REDUCE_MIN] = STEPS(min),         [TL_REDUCE_L1] = STEPS(l1),
    [TL_REDUCE_L2] = STEPS(l2),           [TL_REDUCE_SUM_SQUARE] = STEPS(sum_square),
    [TL_REDUCE_LOG_SUM] = STEPS(log_sum), [TL_REDUCE_LOG_SUM_EXP] = STEPS(log_sum_exp),
};
#undef STEPS
#undef REDUCTION
#undef SUM_OF
#undef PROD_OF
#undef ADD_SUM
#undef ADD_PROD
#undef ADD_MAX
#undef ADD_MIN
#undef ADD_ABS
#undef ADD_SQUARE
#undef ADD_EXP
#undef RESULT
#undef RESULT_MEAN
#undef RESULT_ROOT
#undef RESULT_LOG
#undef RESULT_SHIFT

/** Accumulates all elements of the `n` results whose first elements are src[0 .. n-1]. */
static void NAME(add_all, TL_SET)(const tl_reduce_job *job, const NAME(steps, TL_SET) * steps,
                                  void *acc, const T *src, const double *shift, size_t n)
{
    const int is_line = job->line != 1;
    const int n_outer = is_line || job->n_go == 0 ? job->n_go : job->n_go - 1;
    const tl_reduce_axis rows = n_outer < job->n_go ? job->go[n_outer] : (tl_reduce_axis){1, 0};
    size_t coords[TL_MAXDIM] = {0};
    for (int i = 0; i >= 0;) {
        if (is_line)
            steps->add_line(acc, src, *shift, job->line);
        else
            steps->add_rows(acc, src, shift, n, rows.len, rows.stride);
        for (i = n_outer - 1; i >= 0; i--) {
            const tl_reduce_axis *const a = &job->go[i];
            src += a->stride;
            if (++coords[i] < a->len)
                break;
            coords[i] = 0;
            src -= a->len * a->stride;
        }
    }
}

/** The `n` results whose first elements are src[0 .. n-1]. */
static void NAME(reduce_block, TL_SET)(const tl_reduce_job *job, const T *src, T *dst, size_t n)
{
    const NAME(steps, TL_SET) *const steps = &NAME(operations, TL_SET)[job->op];
    union {
        SUM sums[TL_REDUCE_LINES];
        double doubles[TL_REDUCE_LINES];
        C best[TL_REDUCE_LINES];
    } acc;
    double shift[TL_REDUCE_LINES] = {0};
    if (job->op == TL_REDUCE_LOG_SUM_EXP && job->count > 0) {
        const NAME(steps, TL_SET) *const max = &NAME(operations, TL_SET)[TL_REDUCE_MAX];
        max->begin(&acc, n);
        NAME(add_all, TL_SET)(job, max, &acc, src, shift, n);
        for (size_t j = 0; j < n; j++)
            shift[j] = IS_FINITE(acc.best[j]) ? (double)acc.best[j] : 0;
    }
    steps->begin(&acc, n);
    if (job->count > 0)
        NAME(add_all, TL_SET)(job, steps, &acc, src, shift, n);
    steps->finish(&acc, dst, shift, n, job->count);
}

void NAME(tl_reduce, TL_SET)(void *arg, size_t begin, size_t end)
{
    const tl_reduce_job *const job = arg;
    const int last = job->n_stay - 1;
    const size_t row = job->line == 1 && last >= 0 ? job->stay[last].len : 1;
    for (size_t k = begin, n; k < end; k += n) {
        n = tl_axis_span(k, end, row, TL_REDUCE_LINES);
        size_t rest = k, first = 0;
        for (int i = last; i >= 0; i--) {
            first += rest % job->stay[i].len * job->stay[i].stride;
            rest /= job->stay[i].len;
        }
        NAME(reduce_block, TL_SET)(job, (const T *)job->src + first, (T *)job->dst + k, n);
    }
}
