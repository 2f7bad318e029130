// SPDX-License-Identifier: Apache-2.0
// Arithmetic progressions in plain C, for every number.

#ifndef T // once

#include "kernel/make/range.h"

#define TL_TEMPLATE "kernel/make/range_c.c"

#define AT(start, delta, i) ((start) + (C)(i) * (delta))
#include "tensor/tl_each_float.inc.h"
#undef AT

// In the unsigned type of 64 bits, of which every integer type is the rest by a power of 2.
#define AT(start, delta, i) ((C)((uint64_t)(start) + (uint64_t)(i) * (uint64_t)(delta)))
#include "tensor/tl_each_int.inc.h"
#undef AT

#else // for each type

void NAME(tl_range, c)(const void *start, const void *delta, size_t first, void *dst, size_t len)
{
    const C from = LOAD(*(const T *)start), by = LOAD(*(const T *)delta);
    T *const d = dst;
    for (size_t i = 0; i < len; i++)
        d[i] = STORE(AT(from, by, first + i));
}

#endif
