// SPDX-License-Identifier: Apache-2.0
// Search for the extreme along an axis, in plain C.
//
// Adjacent lines are searched together, so that memory is read in order for any axis; up to LINES
// at a time, so that their results stay in the cache. Where the elements of a line are adjacent,
// ROWS lines are transposed, PART elements of each at a time; a few lines are searched as LANES
// interleaved ones, and elements of 8 bytes, which fill vectors soon, one by one.

#ifndef T // once

#include "kernel/argreduce/argreduce.h"

#include <stdint.h>
#include <string.h>

enum { LINES = 256, ROWS = 64, PART = 32, LANES = 32, FEW = 8 };

// Ties depend on the search. In all but PLAIN_MAX, NaN is the best. Without branches, which
// compilers do not vectorize.
#define IS_NAN(x)             ((x) != (x))
#define IS_FIRST_MAX(x, best) (((x) > (best)) | (IS_NAN(x) & !IS_NAN(best)))
#define IS_LAST_MAX(x, best)  (((x) >= (best)) | IS_NAN(x))
#define IS_FIRST_MIN(x, best) (((x) < (best)) | (IS_NAN(x) & !IS_NAN(best)))
#define IS_LAST_MIN(x, best)  (((x) <= (best)) | IS_NAN(x))
#define IS_PLAIN_MAX(x, best) ((x) > (best))

// Continues the search in `n` adjacent lines with their elements from .. from + len - 1, `inner`
// apart.
#define SEARCH(which, IS_BETTER)                                                                \
    static void NAME(which, TL_SET)(const T *restrict src, C *restrict best,                    \
                                    int32_t *restrict index, size_t n, size_t from, size_t len, \
                                    size_t inner)                                               \
    {                                                                                           \
        for (size_t i = 0; i < len; i++)                                                        \
            for (size_t j = 0; j < n; j++) {                                                    \
                const C x = LOAD(src[i * inner + j]);                                           \
                const int is_better = IS_BETTER(x, best[j]);                                    \
                best[j] = is_better ? x : best[j];                                              \
                index[j] = is_better ? (int32_t)(from + i) : index[j];                          \
            }                                                                                   \
    }                                                                                           \
    static void NAME(which##_line, TL_SET)(const T *src, C *best, int32_t *index, size_t from,  \
                                           size_t len)                                          \
    {                                                                                           \
        C most = *best;                                                                         \
        for (size_t i = 0; i < len; i++) {                                                      \
            const C x = LOAD(src[i]);                                                           \
            if (IS_BETTER(x, most)) {                                                           \
                most = x;                                                                       \
                *index = (int32_t)(from + i);                                                   \
            }                                                                                   \
        }                                                                                       \
        *best = most;                                                                           \
    }

// Indices of tokens, and classes of pixels.
#define TL_TUNED_i32 1
#define TL_TUNED_u8  1
#define TL_TEMPLATE  "kernel/argreduce/argreduce_c.c"
#ifdef TL_SIMD_SET
#define TL_TAG f32
#include "tensor/tl_one_type.inc.h"
#else
#include "tensor/tl_each_type.inc.h"
#endif

#else // for each type

SEARCH(first_max, IS_FIRST_MAX)
SEARCH(last_max, IS_LAST_MAX)
SEARCH(first_min, IS_FIRST_MIN)
SEARCH(last_min, IS_LAST_MIN)
SEARCH(plain_max, IS_PLAIN_MAX)

// Of adjacent lines, and of one.
typedef struct NAME(searches, TL_SET) {
    void (*lines)(const T *src, C *best, int32_t *index, size_t n, size_t from, size_t len,
                  size_t inner);
    void (*line)(const T *src, C *best, int32_t *index, size_t from, size_t len);
} NAME(searches, TL_SET);

#define SEARCHES(which)                                 \
    {                                                   \
        NAME(which, TL_SET), NAME(which##_line, TL_SET) \
    }

static const NAME(searches, TL_SET) NAME(searches_of, TL_SET)[] = {
    [FIRST_MAX] = SEARCHES(first_max), [LAST_MAX] = SEARCHES(last_max),
    [FIRST_MIN] = SEARCHES(first_min), [LAST_MIN] = SEARCHES(last_min),
    [PLAIN_MAX] = SEARCHES(plain_max),
};

// The results of some lines.
typedef struct NAME(found, TL_SET) {
    C best[LINES];
    int32_t index[LINES];
} NAME(found, TL_SET);

// Begins the search in `n` lines, `step` apart, with their first elements.
static void NAME(begin, TL_SET)(NAME(found, TL_SET) * found, const T *src, size_t step, size_t n)
{
    for (size_t j = 0; j < n; j++)
        found->best[j] = LOAD(src[j * step]);
    memset(found->index, 0, n * sizeof(*found->index));
}

// `n` lines, one after the other in memory.
static void NAME(search_rows, TL_SET)(const tl_argreduce_job *job,
                                      const NAME(searches, TL_SET) * search, const T *src,
                                      NAME(found, TL_SET) * found, size_t n)
{
    const size_t len = job->axis.len;
    T part[PART * ROWS];
    NAME(begin, TL_SET)(found, src, len, n);
    for (size_t i = 0; i < len; i += PART) {
        const size_t elements = tl_min_size(PART, len - i);
        job->transpose(src + i, len, part, n, elements, n);
        search->lines(part, found->best, found->index, n, i, elements, n);
    }
}

// Whether x at `i` precedes y at `j`.
static int NAME(is_before, TL_SET)(tl_search search, C x, size_t i, C y, size_t j)
{
    const int is_min = search == FIRST_MIN || search == LAST_MIN;
    const int is_better = is_min ? IS_FIRST_MIN(x, y) : IS_FIRST_MAX(x, y);
    const int is_worse = is_min ? IS_FIRST_MIN(y, x) : IS_FIRST_MAX(y, x);
    const int is_last = search == LAST_MAX || search == LAST_MIN;
    return is_better || (!is_worse && (is_last ? i > j : i < j));
}

// One line, as LANES lines that are interleaved, which all begin with its first element.
static void NAME(search_line, TL_SET)(const tl_argreduce_job *job,
                                      const NAME(searches, TL_SET) * search, const T *src,
                                      NAME(found, TL_SET) * result)
{
    const size_t len = job->axis.len, rows = len / LANES;
    NAME(found, TL_SET) lanes;
    NAME(begin, TL_SET)(result, src, 0, 1);
    NAME(begin, TL_SET)(&lanes, src, 0, LANES);
    memset(lanes.index, -1, LANES * sizeof(*lanes.index));
    search->lines(src, lanes.best, lanes.index, LANES, 0, rows, LANES);
    for (size_t j = 0; j < LANES; j++) {
        const size_t at = lanes.index[j] < 0 ? 0 : (size_t)lanes.index[j] * LANES + j;
        if (NAME(is_before, TL_SET)(job->search, lanes.best[j], at, *result->best,
                                    (size_t)*result->index)) {
            *result->best = lanes.best[j];
            *result->index = (int32_t)at;
        }
    }
    search->line(src + rows * LANES, result->best, result->index, rows * LANES, len % LANES);
}

// Writes the results of the lines from `k` on.
static void NAME(write, TL_SET)(const tl_argreduce_job *job, size_t k, size_t n,
                                const NAME(found, TL_SET) * found)
{
    for (size_t j = 0; job->best && j < n; j++)
        ((T *)job->best)[k + j] = STORE(found->best[j]);
    for (size_t j = 0; job->index && j < n; j++)
        job->index[k + j] = found->index[j];
    for (size_t j = 0; job->short_index && j < n; j++)
        job->short_index[k + j] = found->index[j];
}

void NAME(tl_argreduce, TL_SET)(void *arg, size_t begin, size_t end)
{
    const tl_argreduce_job *const job = arg;
    const NAME(searches, TL_SET) *const search = &NAME(searches_of, TL_SET)[job->search];
    const size_t len = job->axis.len, inner = job->axis.inner;
    NAME(found, TL_SET) found;
    for (size_t k = begin, n; k < end; k += n) {
        const size_t first = k / inner * len * inner + k % inner;
        const T *const src = (const T *)job->src + first;
        if (inner == 1 && sizeof(T) == sizeof(int64_t)) {
            n = 1;
            NAME(begin, TL_SET)(&found, src, 1, 1);
            search->line(src, found.best, found.index, 0, len);
        } else if (inner == 1 && end - k < FEW) {
            n = 1;
            NAME(search_line, TL_SET)(job, search, src, &found);
        } else if (inner == 1) {
            n = tl_min_size(end - k, ROWS);
            NAME(search_rows, TL_SET)(job, search, src, &found, n);
        } else {
            n = tl_axis_span(k, end, inner, LINES);
            NAME(begin, TL_SET)(&found, src, 1, n);
            search->lines(src, found.best, found.index, n, 0, len, inner);
        }
        NAME(write, TL_SET)(job, k, n, &found);
    }
}

#endif
