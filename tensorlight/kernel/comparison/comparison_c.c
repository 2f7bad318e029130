// SPDX-License-Identifier: Apache-2.0
// The comparisons in plain C, for every type.

#ifndef T // once

#include "kernel/comparison/comparison.h"

#define LOOP(a, op, b)               \
    for (size_t i = 0; i < len; i++) \
        d[i] = (a)op(b);

// One loop for each pattern of steps, so that the compiler can make vector code of it.
#define COMPARISON(name, op)                                                                  \
    int NAME(tl_compare_##name, TL_SET)(const void *const *srcs, const int *steps, void *dst, \
                                        size_t len)                                           \
    {                                                                                         \
        const T *const s1 = srcs[0], *const s2 = srcs[1];                                     \
        uint8_t *const d = dst;                                                               \
        if (steps[0] && steps[1]) {                                                           \
            LOOP(LOAD(s1[i]), op, LOAD(s2[i]))                                                \
        } else if (len && steps[0]) {                                                         \
            const C b = LOAD(s2[0]);                                                          \
            LOOP(LOAD(s1[i]), op, b)                                                          \
        } else if (len) {                                                                     \
            const C a = LOAD(s1[0]);                                                          \
            LOOP(a, op, LOAD(s2[i]))                                                          \
        }                                                                                     \
        return 0;                                                                             \
    }

#define TL_TEMPLATE "kernel/comparison/comparison_c.c"
#ifdef TL_SIMD_SET
#define TL_TAG f32
#include "tensor/tl_one_type.inc.h"
#define TL_TAG f64
#include "tensor/tl_one_type.inc.h"
#define TL_TAG i64
#include "tensor/tl_one_type.inc.h"
#define TL_TAG i32
#include "tensor/tl_one_type.inc.h"
#define TL_TAG i8
#include "tensor/tl_one_type.inc.h"
#define TL_TAG u8
#include "tensor/tl_one_type.inc.h"
#define TL_TAG b8
#include "tensor/tl_one_type.inc.h"
#else
#include "tensor/tl_each_type.inc.h"
#endif

#else // for each type

COMPARISON(equal, ==)
COMPARISON(not_equal, !=)
COMPARISON(less, <)
COMPARISON(less_equal, <=)

#endif
