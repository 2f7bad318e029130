// SPDX-License-Identifier: Apache-2.0
// A tensor as lines along one axis, and loop bounds for kernels on it.
//
// Row-major [d0, .., d, .., dn] with `axis` at d is [outer, len, inner]: outer * inner lines of len
// elements, `inner` apart. A kernel that gets the lines begin .. end-1 computes them in spans:
// lines of one outer index, next to each other in memory.

#pragma once

#include "tensorlight/tl_tensor.h"

typedef struct tl_axis {
    size_t outer, len, inner;
} tl_axis;

static inline tl_axis tl_axis_of(const tl_tensor *t, int axis)
{
    tl_axis a = {1, (size_t)t->dims[axis], 1};
    for (int i = 0; i < axis; i++)
        a.outer *= (size_t)t->dims[i];
    for (int i = axis + 1; i < t->ndim; i++)
        a.inner *= (size_t)t->dims[i];
    return a;
}

/** The number of items from `begin` to the end of its row of `row` items, at most `max` and up to
 * `end`. */
static inline size_t tl_axis_span(size_t begin, size_t end, size_t row, size_t max)
{
    size_t n = row - begin % row;
    if (n > end - begin)
        n = end - begin;
    return n < max ? n : max;
}

/** The grain of a loop whose units cost about `cost` simple operations each. */
static inline size_t tl_axis_grain(size_t cost)
{
    return cost < 32768 ? 32768 / (cost ? cost : 1) : 1;
}
