// SPDX-License-Identifier: Apache-2.0
// Selections in plain C, for every type.

#ifndef T // once

#include "kernel/select/select.h"

#define TL_TEMPLATE "kernel/select/select_c.c"

#define IS_NAN(x) ((x) != (x))
#include "tensor/tl_each_float.inc.h"
#undef IS_NAN

#define IS_NAN(x) 0
#include "tensor/tl_each_int.inc.h"
#define TL_TAG b8
#include "tensor/tl_one_type.inc.h"

#else // for each type

size_t NAME(tl_nonzero, c)(const void *src, size_t len, int64_t *to)
{
    const T *const s = src;
    size_t n = 0;
    for (size_t i = 0; i < len; i++) {
        const int counts = LOAD(s[i]) != 0;
        if (to && counts)
            to[n] = (int64_t)i;
        n += (size_t)counts;
    }
    return n;
}

static int NAME(compare, one)(C a, C b)
{
    const int a_is_nan = IS_NAN(a), b_is_nan = IS_NAN(b);
    if (a_is_nan || b_is_nan)
        return a_is_nan - b_is_nan;
    return (a > b) - (a < b);
}

int NAME(tl_compare, c)(const void *a, const void *b, const tl_slices *shape)
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
