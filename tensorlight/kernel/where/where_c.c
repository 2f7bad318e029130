// SPDX-License-Identifier: Apache-2.0
// Selection between two tensors in plain C, for every size of element.

#ifndef T // once

#include "kernel/where/where.h"

// A copy serves all types of its size, such as TL_FLOAT.
#define TL_TUNED_ALL
#define TL_TEMPLATE "kernel/where/where_c.c"
#include "tensor/tl_each_uint.inc.h"

#else // for each type

static int NAME(loop, TL_SET)(const void *const *srcs, void *dst, size_t len)
{
    const uint8_t *const cond = srcs[0];
    const T *const s1 = srcs[1], *const s2 = srcs[2];
    T *const d = dst;
    for (size_t i = 0; i < len; i++) {
        // Both are read in any case: compilers vectorize no other form.
        const T one = s1[i], other = s2[i];
        d[i] = cond[i] ? one : other;
    }
    return 0;
}

int NAME(tl_where, TL_SET)(const void *const *srcs, const int *steps, void *dst, size_t len)
{
    static const tl_broadcast_form form = {3, {sizeof(uint8_t), sizeof(T), sizeof(T)}, sizeof(T)};
    return tl_broadcast_pieces(NAME(loop, TL_SET), &form, srcs, steps, dst, len);
}

#endif
