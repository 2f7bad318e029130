// SPDX-License-Identifier: Apache-2.0
// The choice between two tensors in plain C, for every size of element.

#ifndef T // once

#include "kernel/where/where.h"

// Each of these types stands for TL_FLOAT or another.
#define TL_TUNED_ALL
// Both values are read whatever the condition: compilers make vectors of no others.
#define LOOP(value1, value2)                  \
    for (size_t i = 0; i < len; i++) {        \
        const T one = value1, other = value2; \
        d[i] = cond[i] ? one : other;         \
    }

#define TL_TEMPLATE "kernel/where/where_c.c"
#include "tensor/tl_each_uint.inc.h"

#else // for each type

/** A source of step 0 or 1 as all of dst. */
static inline void NAME(where, copy)(const T *src, int step, T *d, size_t len)
{
    if (step)
        memmove(d, src, len * sizeof(T));
    else
        for (size_t i = 0; i < len; i++)
            d[i] = src[0];
}

int NAME(tl_where, TL_SET)(const void *const *srcs, const int *steps, void *dst, size_t len)
{
    const uint8_t *const cond = srcs[0];
    const T *const s1 = srcs[1], *const s2 = srcs[2];
    T *const d = dst;
    if (len == 0)
        return 0;
    const T first1 = s1[0], first2 = s2[0];
    if (!steps[0]) {
        const int k = cond[0] ? 1 : 2;
        NAME(where, copy)(srcs[k], steps[k], d, len);
    } else if (steps[1] && steps[2]) {
        LOOP(s1[i], s2[i])
    } else if (steps[1]) {
        LOOP(s1[i], first2)
    } else if (steps[2]) {
        LOOP(first1, s2[i])
    } else {
        LOOP(first1, first2)
    }
    return 0;
}

#endif
