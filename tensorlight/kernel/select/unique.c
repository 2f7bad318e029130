// SPDX-License-Identifier: Apache-2.0
// Unique slices of a tensor (ONNX Unique): a stable merge sort, then groups of equal slices.
//
//     src    5 2 5 3      order  1 3 0 2   (slice indices, sorted stably)
//                         groups 0 1 2 2
//
// Groups are numbered in the requested order. The first index of a group is that of the slice's
// first occurrence, since the sort is stable.

#ifndef T // once

#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "kernel/tl_axis.h"
#include "kernel/tl_kernel.h"
#include "tensor/tl_result.h"
#include "tensorlight/tl_shape.h"

// Two slices of a tensor: `outer` runs of `inner` elements, `stride` elements apart.
typedef struct slices {
    size_t outer, inner, stride;
} slices;

// Compares lexicographically: -1, 0 or 1. NaN equals NaN and is larger than all numbers.
typedef int compare_kernel(const void *a, const void *b, const slices *shape);

#define TL_TEMPLATE "kernel/select/unique.c"

#define IS_NAN(x) ((x) != (x))
#include "tensor/tl_each_float.inc.h"
#undef IS_NAN

#define IS_NAN(x) 0
#include "tensor/tl_each_int.inc.h"
#define TL_TAG b8
#include "tensor/tl_one_type.inc.h"

TL_PLAIN_TABLE(pick, compare_kernel, compare, ALL)

static int compare_strings(const void *a, const void *b, const slices *shape)
{
    for (size_t o = 0; o < shape->outer; o++) {
        const tl_string *const *const x = (const tl_string *const *)a + o * shape->stride;
        const tl_string *const *const y = (const tl_string *const *)b + o * shape->stride;
        for (size_t i = 0; i < shape->inner; i++) {
            const int order = tl_string_cmp(x[i], y[i]);
            if (order)
                return order;
        }
    }
    return 0;
}

typedef struct unique {
    const char *src;
    compare_kernel *compare;
    slices slices;
    size_t n;        // slices
    size_t step;     // bytes from one slice to the next
    int32_t *order;  // [n] the slices, sorted
    int32_t *other;  // [n] merge buffer; then the first slice of each group, in sorted order
    int32_t *group;  // [n] the group of each slice, in sorted order
    int32_t *number; // [n] the position of each group in the result
    const tl_stop *stop;
} unique;

static int compare(const unique *u, int32_t i, int32_t k)
{
    return u->compare(u->src + (size_t)i * u->step, u->src + (size_t)k * u->step, &u->slices);
}

// Merges the sorted from[0 .. middle-1] and from[middle .. n-1] to `to`.
static void merge(const unique *u, const int32_t *from, size_t middle, size_t n, int32_t *to)
{
    size_t left = 0, right = middle;
    for (size_t k = 0; k < n; k++) {
        const int takes_right =
            left == middle || (right < n && compare(u, from[right], from[left]) < 0);
        to[k] = from[takes_right ? right++ : left++];
    }
}

// Merges neighbours of `width` sorted slices each to u->other; -1: stopped.
static int merge_all(const unique *u, size_t width)
{
    for (size_t i = 0; i < u->n; i += 2 * width) {
        if (tl_stop_is_requested(u->stop))
            return -1;
        merge(u, u->order + i, tl_min_size(width, u->n - i), tl_min_size(2 * width, u->n - i),
              u->other + i);
    }
    return 0;
}

static void sort(unique *u)
{
    for (size_t i = 0; i < u->n; i++)
        u->order[i] = (int32_t)i;
    for (size_t width = 1; width < u->n; width *= 2) {
        if (merge_all(u, width) < 0)
            return; // u->order has all slices
        int32_t *const merged = u->other;
        u->other = u->order;
        u->order = merged;
    }
}

// Finds the groups of equal slices; returns their number.
static size_t find_groups(unique *u)
{
    size_t n = 0;
    for (size_t i = 0; i < u->n; i++) {
        if (i == 0 || compare(u, u->order[i - 1], u->order[i]) != 0)
            u->other[n++] = u->order[i];
        u->group[u->order[i]] = (int32_t)(n - 1);
    }
    return n;
}

static void number_groups(unique *u, size_t n_groups, int sorted)
{
    for (size_t g = 0; sorted && g < n_groups; g++)
        u->number[g] = (int32_t)g;
    int32_t number = 0;
    for (size_t i = 0; !sorted && i < u->n; i++)
        if (u->other[u->group[i]] == (int32_t)i)
            u->number[u->group[i]] = number++;
}

static void write_slices(const unique *u, const tl_tensor *dst, size_t size, size_t n_groups)
{
    const size_t block = u->slices.inner * size;
    for (size_t g = 0; g < n_groups; g++) {
        const char *const from = u->src + (size_t)u->other[g] * u->step;
        char *const to = (char *)dst->data + (size_t)u->number[g] * block;
        for (size_t o = 0; o < u->slices.outer; o++)
            memcpy(to + o * n_groups * block, from + o * u->slices.stride * size, block);
    }
}

static void write_indices(const unique *u, const tl_unique *to, size_t n_groups)
{
    for (size_t g = 0; to->first && g < n_groups; g++)
        ((int64_t *)to->first->data)[u->number[g]] = u->other[g];
    for (size_t i = 0; to->inverse && i < u->n; i++)
        ((int64_t *)to->inverse->data)[i] = u->number[u->group[i]];
    if (!to->counts)
        return;
    int64_t *const counts = to->counts->data;
    memset(counts, 0, n_groups * sizeof(*counts));
    for (size_t i = 0; i < u->n; i++)
        counts[u->number[u->group[i]]]++;
}

size_t tl_unique_scratch(const tl_tensor *src, int axis)
{
    return 4 * sizeof(int32_t) * (size_t)src->dims[axis];
}

int tl_exec_unique(const tl_exec *exec, const tl_tensor *src, const tl_unique *to, int axis,
                   int sorted, int *n)
{
    assert(src->dtype == to->dst->dtype);
    const tl_axis a = tl_axis_of(src, axis);
    *n = 0;
    if (a.len == 0)
        return 0;
    if (tl_check_scratch(exec, tl_unique_scratch(src, axis), "to sort") < 0)
        return -1;
    const size_t size = tl_size_of(src->dtype);
    int32_t *const scratch = exec->scratch;
    unique u = {.src = src->data,
                .compare = src->dtype == TL_STRING ? compare_strings : pick(exec, src->dtype),
                .slices = {a.outer, a.inner, a.len * a.inner},
                .n = a.len,
                .step = a.inner * size,
                .order = scratch,
                .other = scratch + a.len,
                .group = scratch + 2 * a.len,
                .number = scratch + 3 * a.len,
                .stop = exec->stop};
    sort(&u);
    if (tl_stop_is_requested(u.stop))
        return 0; // equal slices need not be neighbours: there could be more groups than slices
    const size_t n_groups = find_groups(&u);
    number_groups(&u, n_groups, sorted);
    write_slices(&u, to->dst, size, n_groups);
    write_indices(&u, to, n_groups);
    *n = (int)n_groups;
    return 0;
}

#else // for each type

static int NAME(compare, one)(C a, C b)
{
    const int a_is_nan = IS_NAN(a), b_is_nan = IS_NAN(b);
    if (a_is_nan || b_is_nan)
        return a_is_nan - b_is_nan;
    return (a > b) - (a < b);
}

static int NAME(compare, c)(const void *a, const void *b, const slices *shape)
{
    for (size_t o = 0; o < shape->outer; o++) {
        const T *const x = (const T *)a + o * shape->stride;
        const T *const y = (const T *)b + o * shape->stride;
        for (size_t i = 0; i < shape->inner; i++) {
            const int order = NAME(compare, one)(LOAD(x[i]), LOAD(y[i]));
            if (order)
                return order;
        }
    }
    return 0;
}

#endif
