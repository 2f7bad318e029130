// SPDX-License-Identifier: Apache-2.0
// Pooling over any number of axes, in plain C.
//
// A plane of dst, over the last two axes, is computed tile by tile in the type of its sums or max
// values. Each tap reads a rectangle of src for a rectangle of the tile, as in convnd.c; in narrow
// tiles, each row of a window is reduced instead. Both read the elements of a window in the order
// of the axes. A max begins with the first element of its window.

#ifndef T // once

#include "kernel/pool/poolnd.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "kernel/tl_poll.h"
#include "tensorlight/tl_vision.h"

enum { TILE_SIZE = 1024 };

static const size_t no_element = SIZE_MAX;

// Finds the taps begin .. end-1 along axis `i` that are inside src for any of the windows
// x .. x+len-1: a window may be far larger than src.
static void taps_of_range(const tl_poolnd_job *job, int i, int x, int len, int *begin, int *end)
{
    int first_begin, last_end;
    tl_pool_taps(job, i, x, &first_begin, end);
    tl_pool_taps(job, i, x + len - 1, begin, &last_end);
    *begin = tl_min(*begin, first_begin);
    *end = last_end > *end ? last_end : *end;
}

// The position along axis `i` of the first tap inside src of window `x`, or -1.
static int64_t first_tap(const tl_poolnd_job *job, int i, int x)
{
    int begin, end;
    const int64_t start = tl_pool_taps(job, i, x, &begin, &end);
    return begin == end ? -1 : start + (int64_t)begin * job->axes.windows.dilation[i];
}

// Finds the index in a channel of src of each window's first element, or no_element.
static void first_elements(const tl_poolnd_job *job, const tl_window_tile *t, size_t *index)
{
    const int last = job->axes.windows.n - 1, *const in = job->axes.in;
    size_t outer = 0;
    int is_outside = 0;
    for (int i = 0; i < last - 1; i++) {
        const int64_t first = first_tap(job, i, t->outer[i]);
        is_outside |= first < 0;
        outer = outer * in[i] + (size_t)first;
    }
    for (int x = 0; x < t->width; x++) {
        const int64_t column = first_tap(job, last, t->x + x);
        index[x] = column < 0 || is_outside ? no_element : (size_t)column;
    }
    for (int y = t->height - 1; y >= 0; y--) { // row 0, the columns, becomes the last one
        const int64_t row = first_tap(job, last - 1, t->y + y);
        const size_t start = (outer * in[last - 1] + (size_t)row) * in[last];
        for (int x = 0; x < t->width; x++)
            index[y * t->width + x] =
                row < 0 || index[x] == no_element ? no_element : start + index[x];
    }
}

// Turns the sums of a tile into means.
static void divide_by_counts(const tl_poolnd_job *job, const tl_window_tile *t, double *sums)
{
    const int last = job->axes.windows.n - 1;
    double columns[TILE_SIZE], outer = 1;
    for (int i = 0; i < last - 1; i++)
        outer *= tl_pool_count(job, i, t->outer[i]);
    for (int x = 0; x < t->width; x++)
        columns[x] = tl_pool_count(job, last, t->x + x);
    for (int y = 0; y < t->height; y++) {
        const double rows = outer * tl_pool_count(job, last - 1, t->y + y);
        for (int x = 0; x < t->width; x++, sums++)
            *sums = rows * columns[x] > 0 ? *sums / (rows * columns[x]) : 0;
    }
}

// The index in column-major order (first axis fastest) of a row-major index in a channel.
static size_t column_major(const tl_poolnd_job *job, size_t index)
{
    size_t result = 0, step = job->in_plane;
    for (int i = job->axes.windows.n - 1; i >= 0; i--) {
        step /= job->axes.in[i];
        result += index % job->axes.in[i] * step;
        index /= job->axes.in[i];
    }
    return result;
}

static int64_t arg_of(const tl_poolnd_job *job, size_t channel, size_t index)
{
    if (index == no_element)
        return -1;
    return (int64_t)(channel * job->in_plane +
                     (job->is_column_major ? column_major(job, index) : index));
}

TL_INLINE double to_power(double x, double p)
{
    return p == 0 ? x : p == 1 ? fabs(x) : p == 2 ? x * x : pow(fabs(x), p);
}

static double root(double x, double p)
{
    return p == 1 ? x : p == 2 ? sqrt(x) : pow(x, 1 / p);
}

// Parameters of the template: A, the type of a sum or max, and ADDED, which adds a tap.

#define LOCAL_(work, name) work##_##name
#define LOCAL2(work, name) LOCAL_(work, name)
#define LOCAL(name)        NAME(LOCAL2(WORK, name), c)

#define TL_TEMPLATE      "kernel/pool/poolnd_c.c"
#define WORK             tl_poolnd_max
#define IS_MAX           1
#define A                C
#define ADDED(acc, x, p) ((x) > (acc) ? (x) : (acc))
#include "tensor/tl_each_type.inc.h"
#undef WORK
#undef IS_MAX
#undef A
#undef ADDED
#define WORK             tl_poolnd_sum
#define IS_MAX           0
#define A                double
#define ADDED(acc, x, p) ((acc) + to_power((double)(x), p))
#include "tensor/tl_each_float.inc.h"

#else // for each type

// Accumulates src[k * step] in acc[k], for k < n.
TL_INLINE void LOCAL(steps)(A *restrict acc, const T *restrict src, ptrdiff_t step, ptrdiff_t n,
                            const double p)
{
    (void)p;
    for (ptrdiff_t k = 0; k < n; k++) {
        const C x = LOAD(src[k * step]);
        acc[k] = ADDED(acc[k], x, p);
    }
}

static void LOCAL(add_row)(const tl_poolnd_job *job, A *acc, const T *src, ptrdiff_t step,
                           ptrdiff_t n)
{
    // Compilers vectorize loops with constant steps.
    const double p = IS_MAX ? 0 : job->p;
    if (p == 0 && step == 1)
        LOCAL(steps)(acc, src, 1, n, 0);
    else if (p == 0 && step == 2)
        LOCAL(steps)(acc, src, 2, n, 0);
    else if (p == 0)
        LOCAL(steps)(acc, src, step, n, 0);
    else if (p == 2)
        LOCAL(steps)(acc, src, step, n, 2);
    else
        LOCAL(steps)(acc, src, step, n, p);
}

#if IS_MAX
// The same with indices: src[0] is element `index`.
static void NAME(add_with_args, c)(C *acc, size_t *args, const T *src, ptrdiff_t step, ptrdiff_t n,
                                   size_t index)
{
    for (ptrdiff_t k = 0; k < n; k++) {
        const C x = LOAD(src[k * step]);
        if (x > acc[k]) {
            acc[k] = x;
            args[k] = index + (size_t)(k * step);
        }
    }
}
#endif

// Adds the taps of the last two axes one by one. `src` is a channel, `plane` the index of its plane
// that the taps of other axes select.
static void LOCAL(add_taps)(const tl_poolnd_job *job, const tl_window_tile *t, const T *src,
                            size_t plane, A *acc, size_t *args, tl_poll *poll)
{
    const int last = job->axes.windows.n - 1;
    int top, bottom, left, right;
    taps_of_range(job, last - 1, t->y, t->height, &top, &bottom);
    taps_of_range(job, last, t->x, t->width, &left, &right);
    for (int i = top; i < bottom; i++) {
        const tl_window_overlap rows =
            tl_window_overlap_on(&job->axes, last - 1, t->y, t->height, i);
        for (int j = left; j < right && !tl_poll_after(poll, (size_t)t->height * t->width); j++) {
            const tl_window_overlap m = tl_window_overlap_on(&job->axes, last, t->x, t->width, j);
            const ptrdiff_t column = m.begin * m.src_step + m.src_offset, n = m.end - m.begin;
            for (int64_t y = rows.begin; y < rows.end && n > 0; y++) {
                const size_t line =
                    plane * job->axes.in[last - 1] + (size_t)(y * rows.src_step + rows.src_offset);
                const size_t at = line * job->axes.in[last] + (size_t)column;
                const size_t to = (size_t)y * t->width + m.begin;
#if IS_MAX
                if (args) {
                    NAME(add_with_args, c)(acc + to, args + to, src + at, m.src_step, n, at);
                    continue;
                }
#endif
                LOCAL(add_row)(job, acc + to, src + at, m.src_step, n);
            }
        }
    }
    (void)args;
}

// Adds the windows one by one, row by row.
static void LOCAL(add_windows)(const tl_poolnd_job *job, const tl_window_tile *t, const T *src,
                               size_t plane, A *acc, tl_poll *poll)
{
    const int last = job->axes.windows.n - 1, *const in = job->axes.in;
    const int *const dilation = job->axes.windows.dilation;
    for (int y = 0; y < t->height; y++) {
        int top, bottom, left, right;
        const int64_t row = tl_pool_taps(job, last - 1, t->y + y, &top, &bottom);
        for (int x = 0; x < t->width; x++, acc++) {
            const int64_t column = tl_pool_taps(job, last, t->x + x, &left, &right);
            if (tl_poll_after(poll, (size_t)(bottom - top) * (right - left)))
                return;
            A sum = *acc;
            for (int i = top; i < bottom; i++) {
                const size_t line =
                    plane * in[last - 1] + (size_t)(row + (int64_t)i * dilation[last - 1]);
                const T *const from = src + line * in[last];
                for (ptrdiff_t k = left; k < right; k++) {
                    const C value = LOAD(from[column + k * dilation[last]]);
                    sum = ADDED(sum, value, job->p);
                }
            }
            *acc = sum;
        }
    }
}

static void LOCAL(add_all)(const tl_poolnd_job *job, const tl_window_tile *t, A *acc, size_t *args,
                           tl_poll *poll)
{
    const tl_windows *const w = &job->axes.windows;
    const T *const src = (const T *)job->src + t->channel * job->in_plane;
    const int is_narrow = !args && t->width <= w->size[w->n - 1] / TL_POOL_NARROW;
    int taps[TL_MAX_SPATIAL] = {0}, begin, end[TL_MAX_SPATIAL];
    for (int i = 0; i < w->n - 2; i++) {
        tl_pool_taps(job, i, t->outer[i], &begin, &end[i]);
        if (begin == end[i])
            return;
    }
    do {
        const ptrdiff_t plane = tl_window_plane(&job->axes, t, taps);
        if (plane >= 0 && is_narrow)
            LOCAL(add_windows)(job, t, src, (size_t)plane, acc, poll);
        else if (plane >= 0)
            LOCAL(add_taps)(job, t, src, (size_t)plane, acc, args, poll);
    } while (!tl_poll_after(poll, 1) && tl_next_tap(taps, end, w->n - 2));
}

// Computes a tile, and writes it to dst from element `at` on.
static void LOCAL(pool)(const tl_poolnd_job *job, const tl_window_tile *t, size_t at, tl_poll *poll)
{
    const int len = t->height * t->width;
    T *const dst = (T *)job->dst + at; // a tile is whole rows, or a part of one
    A acc[TILE_SIZE];
#if IS_MAX
    size_t args[TILE_SIZE];
    T lowest;
    memcpy(&lowest, &job->lowest, sizeof(T));
    const T *const src = (const T *)job->src + t->channel * job->in_plane;
    first_elements(job, t, args);
    for (int k = 0; k < len; k++)
        acc[k] = LOAD(args[k] == no_element ? lowest : src[args[k]]);
    LOCAL(add_all)(job, t, acc, job->arg ? args : NULL, poll);
    for (int k = 0; k < len; k++)
        dst[k] = STORE(acc[k]);
    for (int k = 0; k < len && job->arg; k++)
        job->arg[at + k] = arg_of(job, t->channel, args[k]);
#else
    memset(acc, 0, (size_t)len * sizeof(A));
    LOCAL(add_all)(job, t, acc, NULL, poll);
    if (job->p == 0)
        divide_by_counts(job, t, acc);
    for (int k = 0; k < len; k++)
        dst[k] = STORE((C)(job->p == 0 ? acc[k] : root(acc[k], job->p)));
#endif
}

void NAME(WORK, c)(void *arg, size_t begin, size_t end)
{
    const tl_poolnd_job *const job = arg;
    const int last = job->axes.windows.n - 1;
    const int oh = job->axes.out[last - 1], ow = job->axes.out[last];
    const int width = tl_min(ow, TILE_SIZE), height = TILE_SIZE / width;
    tl_poll poll = tl_poll_of(job->stop);
    for (size_t p = begin; p < end && !poll.is_stopped; p++) {
        tl_window_tile t = tl_window_tile_of(&job->axes, p);
        for (t.y = 0; t.y < oh && !poll.is_stopped; t.y += height)
            for (t.x = 0; t.x < ow; t.x += width) {
                t.height = tl_min(height, oh - t.y);
                t.width = tl_min(width, ow - t.x);
                LOCAL(pool)(job, &t, (p * oh + t.y) * ow + t.x, &poll);
            }
    }
}

#endif
