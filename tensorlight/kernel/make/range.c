// SPDX-License-Identifier: Apache-2.0
// Arithmetic progressions in the type of their elements, up or down.

#ifndef T // once

#include <assert.h>
#include <limits.h>
#include <math.h>

#include "kernel/tl_kernel.h"
#include "tensorlight/tl_shape.h"

// dst[i] = start + (first + i) * delta for i < len; integers wrap.
typedef void range_kernel(const void *start, const void *delta, size_t first, void *dst,
                          size_t len);

#define TL_TEMPLATE "kernel/make/range.c"

#define AT(start, delta, i) ((start) + (C)(i) * (delta))
#include "tensor/tl_each_float.inc.h"
#undef AT

// Computes modulo 2^64: the low bits are the result in every integer type.
#define AT(start, delta, i) ((C)((uint64_t)(start) + (uint64_t)(i) * (uint64_t)(delta)))
#include "tensor/tl_each_int.inc.h"
#undef AT

TL_PLAIN_TABLE(pick, range_kernel, range, NUM)

static double number_of(const tl_tensor *t)
{
    double value;
    tl_convert(&value, TL_DOUBLE, t->data, t->dtype);
    return value;
}

static int64_t integer_of(const tl_tensor *t)
{
    int64_t value;
    tl_convert(&value, TL_INT64, t->data, t->dtype);
    return value;
}

static int fail_length(const tl_tensor *start, const tl_tensor *limit, const tl_tensor *delta)
{
    return tl_fail("range from %g to %g by %g, expected at most %d elements", number_of(start),
                   number_of(limit), number_of(delta), INT_MAX);
}

// Elements of a range of integers, whose span may be inexact in a double.
static int integer_length(const tl_tensor *start, const tl_tensor *limit, const tl_tensor *delta)
{
    const int64_t from = integer_of(start), to = integer_of(limit), by = integer_of(delta);
    if (by > 0 ? from >= to : from <= to)
        return 0;
    const uint64_t span = by > 0 ? (uint64_t)to - (uint64_t)from : (uint64_t)from - (uint64_t)to;
    const uint64_t step = by > 0 ? (uint64_t)by : 0 - (uint64_t)by;
    const uint64_t len = span / step + (span % step != 0);
    return len > INT_MAX ? fail_length(start, limit, delta) : (int)len;
}

int tl_range_length(const tl_tensor *start, const tl_tensor *limit, const tl_tensor *delta)
{
    const double by = number_of(delta);
    if (by == 0)
        return tl_fail("'delta' is 0, expected another value");
    if (!tl_dtype_is_float(start->dtype))
        return integer_length(start, limit, delta);
    const double len = ceil((number_of(limit) - number_of(start)) / by);
    if (!(len <= INT_MAX)) // or NaN
        return fail_length(start, limit, delta);
    return len > 0 ? (int)len : 0;
}

typedef struct range {
    range_kernel *func;
    const void *start, *delta;
    tl_tensor *dst;
} range;

static void run(void *arg, size_t begin, size_t end)
{
    const range *const r = arg;
    r->func(r->start, r->delta, begin,
            tl_pointer_add(r->dst->data, (ptrdiff_t)begin, r->dst->dtype), end - begin);
}

int tl_exec_range(const tl_exec *exec, const tl_tensor *start, const tl_tensor *delta,
                  tl_tensor *dst)
{
    assert(start->dtype == dst->dtype && delta->dtype == dst->dtype);
    range r = {pick(exec, dst->dtype), start->data, delta->data, dst};
    assert(r.func);
    tl_parallel(exec, (size_t)dst->len, TL_GRAIN_MEMORY_BOUND, run, &r);
    return 0;
}

#else // for each type

static void NAME(range, c)(const void *start, const void *delta, size_t first, void *dst,
                           size_t len)
{
    const C from = LOAD(*(const T *)start), by = LOAD(*(const T *)delta);
    T *const d = dst;
    for (size_t i = 0; i < len; i++)
        d[i] = STORE(AT(from, by, first + i));
}

#endif
