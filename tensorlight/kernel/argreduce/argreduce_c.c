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

// Ties depend on the search. In all but PLAIN, NaN is the best. Without branches, which compilers
// do not vectorize.
#define IS_NAN(x)         ((x) != (x))
#define IS_FIRST(x, best) (((x) > (best)) | (IS_NAN(x) & !IS_NAN(best)))
#define IS_LAST(x, best)  (((x) >= (best)) | IS_NAN(x))
#define IS_PLAIN(x, best) ((x) > (best))

// Continues the search in `n` adjacent lines with their elements from .. from + len - 1, `inner`
// apart; in one line.
#define SEARCH(which, IS_BETTER)                                                                   \
    static void NAME(which, TL_SET)(const T *restrict src, NAME(found, TL_SET) *restrict f,        \
                                    size_t n, size_t from, size_t len, size_t inner)               \
    {                                                                                              \
        const C flip = f->flip;                                                                    \
        C *const restrict best = f->best;                                                          \
        int32_t *const restrict index = f->index;                                                  \
        for (size_t i = 0; i < len; i++)                                                           \
            for (size_t j = 0; j < n; j++) {                                                       \
                const C x = KEY(LOAD(src[i * inner + j]), flip);                                   \
                const int is_better = IS_BETTER(x, best[j]);                                       \
                best[j] = is_better ? x : best[j];                                                 \
                index[j] = is_better ? (int32_t)(from + i) : index[j];                             \
            }                                                                                      \
    }                                                                                              \
    static void NAME(which##_line, TL_SET)(const T *restrict src, NAME(found, TL_SET) *restrict f, \
                                           size_t from, size_t len)                                \
    {                                                                                              \
        const C flip = f->flip;                                                                    \
        C best = *f->best;                                                                         \
        for (size_t i = 0; i < len; i++) {                                                         \
            const C x = KEY(LOAD(src[i]), flip);                                                   \
            if (IS_BETTER(x, best)) {                                                              \
                best = x;                                                                          \
                *f->index = (int32_t)(from + i);                                                   \
            }                                                                                      \
        }                                                                                          \
        *f->best = best;                                                                           \
    }

// Classes of pixels.
#define TL_TUNED_u8 1
#define TL_TEMPLATE "kernel/argreduce/argreduce_c.c"

// The max is searched; the min is the max of these keys.
#define KEY(x, flip)  ((x) * (flip))
#define FLIP          (-1)
#define SAME          1
#define IF_FLOAT(...) __VA_ARGS__
#ifdef TL_SIMD_SET
#define TL_TAG f32
#include "tensor/tl_one_type.inc.h"
#else
#include "tensor/tl_each_float.inc.h"
#undef KEY
#undef FLIP
#undef SAME
#undef IF_FLOAT
#define KEY(x, flip) ((C)((x) ^ (flip)))
#define FLIP         ((C)-1)
#define SAME         0
#define IF_FLOAT(...)
#include "tensor/tl_each_int.inc.h"
#define TL_TAG b8
#include "tensor/tl_one_type.inc.h"
#endif

#else // for each type

// The keys of the best elements of some lines so far, and their indices.
typedef struct NAME(found, TL_SET) {
    C best[LINES];
    int32_t index[LINES];
    C flip;
} NAME(found, TL_SET);

SEARCH(first, IS_FIRST)
SEARCH(last, IS_LAST)
IF_FLOAT(SEARCH(plain, IS_PLAIN))

// Of adjacent lines, and of one.
typedef struct NAME(searches, TL_SET) {
    void (*lines)(const T *src, NAME(found, TL_SET) * found, size_t n, size_t from, size_t len,
                  size_t inner);
    void (*line)(const T *src, NAME(found, TL_SET) * found, size_t from, size_t len);
} NAME(searches, TL_SET);

// clang-format off
static const NAME(searches, TL_SET) NAME(searches_of, TL_SET)[] = {
    [TL_SEARCH_FIRST] = {NAME(first, TL_SET), NAME(first_line, TL_SET)},
    [TL_SEARCH_LAST] = {NAME(last, TL_SET), NAME(last_line, TL_SET)},
    IF_FLOAT([TL_SEARCH_PLAIN] = {NAME(plain, TL_SET), NAME(plain_line, TL_SET)})
};
// clang-format on

// Begins the search in `n` lines, `step` apart, with their first elements.
static void NAME(begin, TL_SET)(NAME(found, TL_SET) * found, const T *src, size_t step, size_t n)
{
    for (size_t j = 0; j < n; j++)
        found->best[j] = KEY(LOAD(src[j * step]), found->flip);
    memset(found->index, 0, n * sizeof(*found->index));
}

// `n` lines, one after the other in memory.
static void NAME(search_rows, TL_SET)(const tl_argreduce_job *job,
                                      const NAME(searches, TL_SET) * search, const T *src,
                                      NAME(found, TL_SET) * found, size_t n)
{
    const size_t len = job->axis.len;
    _Alignas(64) T part[PART * ROWS]; // whole vectors in cache lines
    NAME(begin, TL_SET)(found, src, len, n);
    for (size_t i = 0; i < len; i += PART) {
        const size_t elements = tl_min_size(PART, len - i);
        job->transpose(src + i, len, part, n, elements, n);
        search->lines(part, found, n, i, elements, n);
    }
}

// Whether key x at `i` precedes y at `j`.
static int NAME(is_before, TL_SET)(tl_search search, C x, size_t i, C y, size_t j)
{
    const int is_last = search == TL_SEARCH_LAST;
    return IS_FIRST(x, y) || (!IS_FIRST(y, x) && (is_last ? i > j : i < j));
}

// One line, as LANES lines that are interleaved, which all begin with its first element.
static void NAME(search_line, TL_SET)(const tl_argreduce_job *job,
                                      const NAME(searches, TL_SET) * search, const T *src,
                                      NAME(found, TL_SET) * result)
{
    const size_t len = job->axis.len, rows = len / LANES;
    NAME(found, TL_SET) lanes;
    lanes.flip = result->flip;
    NAME(begin, TL_SET)(result, src, 0, 1);
    NAME(begin, TL_SET)(&lanes, src, 0, LANES);
    memset(lanes.index, -1, LANES * sizeof(*lanes.index));
    search->lines(src, &lanes, LANES, 0, rows, LANES);
    for (size_t j = 0; j < LANES; j++) {
        const size_t at = lanes.index[j] < 0 ? 0 : (size_t)lanes.index[j] * LANES + j;
        if (NAME(is_before, TL_SET)(job->search, lanes.best[j], at, *result->best,
                                    (size_t)*result->index)) {
            *result->best = lanes.best[j];
            *result->index = (int32_t)at;
        }
    }
    search->line(src + rows * LANES, result, rows * LANES, len % LANES);
}

// Writes the results of the lines from `k` on.
static void NAME(write, TL_SET)(const tl_argreduce_job *job, size_t k, size_t n,
                                const NAME(found, TL_SET) * found)
{
    for (size_t j = 0; job->best && j < n; j++)
        ((T *)job->best)[k + j] = STORE(KEY(found->best[j], found->flip));
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
    _Alignas(64) NAME(found, TL_SET) found;
    found.flip = job->is_min ? FLIP : SAME;
    for (size_t k = begin, n; k < end; k += n) {
        const size_t first = k / inner * len * inner + k % inner;
        const T *const src = (const T *)job->src + first;
        if (inner == 1 && sizeof(T) == sizeof(int64_t)) {
            n = 1;
            NAME(begin, TL_SET)(&found, src, 1, 1);
            search->line(src, &found, 0, len);
        } else if (inner == 1 && end - k < FEW) {
            n = 1;
            NAME(search_line, TL_SET)(job, search, src, &found);
        } else if (inner == 1) {
            n = tl_min_size(end - k, ROWS);
            NAME(search_rows, TL_SET)(job, search, src, &found, n);
        } else {
            n = tl_axis_span(k, end, inner, LINES);
            NAME(begin, TL_SET)(&found, src, 1, n);
            search->lines(src, &found, n, 0, len, inner);
        }
        NAME(write, TL_SET)(job, k, n, &found);
    }
}

#endif
