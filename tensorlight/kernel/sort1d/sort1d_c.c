// SPDX-License-Identifier: Apache-2.0
// Sorting in plain C: a stable merge sort of indices, bottom up from short insertion-sorted runs.

#ifndef T // once

#include "kernel/sort1d/sort1d.h"

#include <string.h>

enum { RUN = 16 };

#define TL_TEMPLATE "kernel/sort1d/sort1d_c.c"

#define IS_NAN(x) ((x) != (x))
#include "tensor/tl_each_float.inc.h"
#undef IS_NAN

#define IS_NAN(x) 0
#include "tensor/tl_each_int.inc.h"
#define TL_TAG b8
#include "tensor/tl_one_type.inc.h"

#else // for each type

/** Does `a` have to come before `b`? Not when they are equal. */
static int NAME(is_before, c)(T a, T b, tl_sort_dir dir)
{
    const C x = LOAD(a), y = LOAD(b);
    if (IS_NAN(x) || IS_NAN(y))
        return !IS_NAN(x);
    return dir == TL_SORT_DIR_DESCENDING ? x > y : x < y;
}

static void NAME(sort_run, c)(const T *key, tl_sort_dir dir, int32_t *order, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        const int32_t index = order[i];
        size_t k = i;
        for (; k > 0 && NAME(is_before, c)(key[index], key[order[k - 1]], dir); k--)
            order[k] = order[k - 1];
        order[k] = index;
    }
}

/** Merges the sorted from[0 .. middle-1] and from[middle .. n-1] to `to`. */
static void NAME(merge, c)(const T *key, tl_sort_dir dir, const int32_t *from, size_t middle,
                           size_t n, int32_t *to)
{
    size_t left = 0, right = middle;
    for (size_t k = 0; k < n; k++) {
        const int takes_right =
            left == middle ||
            (right < n && NAME(is_before, c)(key[from[right]], key[from[left]], dir));
        to[k] = from[takes_right ? right++ : left++];
    }
}

/** Merges neighbours of `width` sorted indices each; -1: stopped. */
static int NAME(merge_all, c)(const T *key, size_t len, tl_sort_dir dir, const int32_t *from,
                              size_t width, int32_t *to, const tl_stop *stop)
{
    for (size_t i = 0; i < len; i += 2 * width) {
        if (tl_stop_is_requested(stop))
            return -1;
        NAME(merge, c)
        (key, dir, from + i, tl_min_size(width, len - i), tl_min_size(2 * width, len - i), to + i);
    }
    return 0;
}

void NAME(tl_sort1d, c)(const void *arg, size_t len, tl_sort_dir dir, int32_t *order,
                        int32_t *other, const tl_stop *stop)
{
    const T *const key = arg;
    for (size_t i = 0; i < len; i++)
        order[i] = (int32_t)i;
    for (size_t i = 0; i < len; i += RUN)
        NAME(sort_run, c)(key, dir, order + i, tl_min_size(RUN, len - i));
    int32_t *from = order, *to = other;
    for (size_t width = RUN; width < len; width *= 2) {
        if (NAME(merge_all, c)(key, len, dir, from, width, to, stop) < 0)
            break; // `from` has all indices
        int32_t *const merged = to;
        to = from;
        from = merged;
    }
    if (from != order)
        memcpy(order, from, len * sizeof(*order));
}

#endif
