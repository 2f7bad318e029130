// SPDX-License-Identifier: Apache-2.0
// The binary operations in plain C, for every type.
//
// Each kind of type has its arithmetic, MUL(a, b) and so on between two C. Integers wrap by
// calculating with uint64_t and keeping the low bits.

#ifndef T // once

#include "kernel/elew/elew.h"

#include <inttypes.h>
#include <tgmath.h>

#include "tensor/tl_convert.h"

#define ELEW_LOOP(name, CALCULATE, CAN)                                           \
    static int NAME(elew, name)(const T *src1, const T *src2, T *dst, size_t len) \
    {                                                                             \
        for (size_t i = 0; i < len; i++) {                                        \
            const C a = LOAD(src1[i]);                                            \
            const C b = LOAD(src2[i]);                                            \
            if (!CAN(b))                                                          \
                return -1;                                                        \
            dst[i] = STORE(CALCULATE(a, b));                                      \
        }                                                                         \
        return 0;                                                                 \
    }
#define ALWAYS(b) 1

#define TL_TEMPLATE "kernel/elew/elew_c.c"

#define MAX(a, b) ((a) > (b) ? (a) : (b))
#define MIN(a, b) ((a) < (b) ? (a) : (b))

/* ---- floats ---- */

#define CAN_DIVIDE_BY(b) 1
#define MUL(a, b)        ((a) * (b))
#define DIV(a, b)        ((a) / (b))
#define SUM(a, b)        ((a) + (b))
#define SUB(a, b)        ((a) - (b))
#define POW(a, b)        pow(a, b)
#include "tensor/tl_each_float.inc.h"
#undef CAN_DIVIDE_BY
#undef MUL
#undef DIV
#undef SUM
#undef SUB
#undef POW

/* ---- integers: division by -1 is a negation, so that the lowest number wraps too ---- */

#define IS_MINUS_1(b)    ((C)-1 < (C)1 && (b) == (C)-1)
#define CAN_DIVIDE_BY(b) ((b) != 0)
#define MUL(a, b)        ((C)((uint64_t)(a) * (uint64_t)(b)))
#define DIV(a, b)        (IS_MINUS_1(b) ? (C)(0 - (uint64_t)(a)) : (C)((a) / (b)))
#define SUM(a, b)        ((C)((uint64_t)(a) + (uint64_t)(b)))
#define SUB(a, b)        ((C)((uint64_t)(a) - (uint64_t)(b)))
#define POW(a, b)        NAME(tl, from_double)(pow((double)(a), (double)(b)))
#include "tensor/tl_each_int.inc.h"
#undef IS_MINUS_1
#undef CAN_DIVIDE_BY
#undef MUL
#undef DIV
#undef SUM
#undef SUB
#undef POW

/* ---- bool ---- */

#define CAN_DIVIDE_BY(b) ((b) != 0)
#define MUL(a, b)        ((C)((a) & (b)))
#define DIV(a, b)        (a)
#define SUM(a, b)        ((C)((a) | (b)))
#define SUB(a, b)        ((C)((a) ^ (b)))
#define POW(a, b)        ((C)((a) | !(b)))
#define TL_TAG           b8
#include "tensor/tl_one_type.inc.h"

#else // for each type

ELEW_LOOP(mul, MUL, ALWAYS)
ELEW_LOOP(div, DIV, CAN_DIVIDE_BY)
ELEW_LOOP(sum, SUM, ALWAYS)
ELEW_LOOP(sub, SUB, ALWAYS)
ELEW_LOOP(max, MAX, ALWAYS)
ELEW_LOOP(min, MIN, ALWAYS)
ELEW_LOOP(pow, POW, ALWAYS)

int NAME(tl_elew, c)(tl_elew_op op, const void *src1, const void *src2, void *dst, size_t len)
{
    static int (*const loops[TL_ELEW_OP_SIZE])(const T *, const T *, T *, size_t) = {
        [TL_MUL] = NAME(elew, mul), [TL_DIV] = NAME(elew, div), [TL_SUM] = NAME(elew, sum),
        [TL_SUB] = NAME(elew, sub), [TL_MAX] = NAME(elew, max), [TL_MIN] = NAME(elew, min),
        [TL_POW] = NAME(elew, pow),
    };
    return loops[op](src1, src2, dst, len);
}

#endif
