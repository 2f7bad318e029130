// SPDX-License-Identifier: Apache-2.0
// The comparisons in plain C, for every type.

#ifndef T // once

#include "kernel/comparison/comparison.h"

#define COMPARISON(name, op)                                                                  \
    static int NAME(loop_##name, TL_SET)(const void *const *srcs, void *dst, size_t len)      \
    {                                                                                         \
        const T *const s1 = srcs[0], *const s2 = srcs[1];                                     \
        uint8_t *const d = dst;                                                               \
        for (size_t i = 0; i < len; i++)                                                      \
            d[i] = LOAD(s1[i]) op LOAD(s2[i]);                                                \
        return 0;                                                                             \
    }                                                                                         \
    int NAME(tl_compare_##name, TL_SET)(const void *const *srcs, const int *steps, void *dst, \
                                        size_t len)                                           \
    {                                                                                         \
        static const tl_broadcast_form form = {2, {sizeof(T), sizeof(T)}, sizeof(uint8_t)};   \
        return tl_broadcast_pieces(NAME(loop_##name, TL_SET), &form, srcs, steps, dst, len);  \
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
