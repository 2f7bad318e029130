// SPDX-License-Identifier: Apache-2.0
// The binary operations in plain C, for every type.

#ifndef T // once

#include "kernel/binary/binary.h"

#include <inttypes.h>
#include <math.h>
#include <tgmath.h>

#include "tensor/tl_convert.h"

// OPERATION(name, is_valid, value) defines the kernel of an operation by its value for elements a
// and b of type C. The kernel fails unless `is_valid`.
#define OPERATION(name, is_valid, value)                                                     \
    static int NAME(loop_##name, TL_SET)(const void *const *srcs, void *dst, size_t len)     \
    {                                                                                        \
        const T *const s1 = srcs[0], *const s2 = srcs[1];                                    \
        T *const d = dst;                                                                    \
        for (size_t i = 0; i < len; i++) {                                                   \
            const C a = LOAD(s1[i]), b = LOAD(s2[i]);                                        \
            if (!(is_valid))                                                                 \
                return -1;                                                                   \
            d[i] = STORE(value);                                                             \
        }                                                                                    \
        return 0;                                                                            \
    }                                                                                        \
    int NAME(tl_binary_##name, TL_SET)(const void *const *srcs, const int *steps, void *dst, \
                                       size_t len)                                           \
    {                                                                                        \
        static const tl_broadcast_form form = {2, {sizeof(T), sizeof(T)}, sizeof(T)};        \
        return tl_broadcast_pieces(NAME(loop_##name, TL_SET), &form, srcs, steps, dst, len); \
    }

// The codes of tl_functions.h, which are of floats; for wider vectors, those that compilers
// vectorize.
#define OF(name) NAME(name, of)
#define OPERATION_OF(arg, OP, name, types, cost, sets, ...) \
    IF_##types(IF_##sets(OPERATION(name, 1, (TL_CODE_OF(__VA_ARGS__)))))
#define IF_ALL(operation) operation
#define IF_FLT(operation) operation
#define IF_NUM(operation) operation
#define IF_INT(operation)
#define IF_WHOLE(operation)
#define IF_MANY(operation) operation
#define IF_BOOL(operation)
#ifdef TL_SIMD_SET
#define IF_PLAIN(operation)
#define IF_SIMD(operation)
#else
#define IF_PLAIN(operation) operation
#define IF_SIMD(operation)  operation
#endif

#define TL_TEMPLATE "kernel/binary/binary_c.c"
#ifdef TL_SIMD_SET // in addition to the floats of binary_simd.c
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

#if TL_IS_FLOAT

// Floats

#ifndef TL_SIMD_SET

// fmod's remainder r has the sign of a; a zero gets that of b.
static inline C NAME(mod, of)(C a, C b)
{
    const C r = fmod(a, b);
    if (r == 0)
        return copysign(r, b);
    return (r < 0) == (b < 0) || r != r ? r : r + b;
}

#endif

TL_BINARY_OPS(OPERATION_OF, )

#elif TL_IS_BOOL

#ifndef TL_SIMD_SET

OPERATION(div, b != 0, a)
OPERATION(pow_double, 1, (C)(a | !b))

#endif

#else

// Integers, which wrap by calculating with uint64_t and keeping the low bits

OPERATION(add, 1, (C)((uint64_t)a + (uint64_t)b))
OPERATION(sub, 1, (C)((uint64_t)a - (uint64_t)b))
OPERATION(mul, 1, (C)((uint64_t)a *(uint64_t)b))
OPERATION(max, 1, a > b ? a : b)
OPERATION(min, 1, b > a ? a : b)

#ifndef TL_SIMD_SET // compilers do not vectorize these

// Division by -1 is a negation, so that the lowest number wraps too instead of trapping.

// Never true for unsigned types; the variable avoids a warning.
static inline int NAME(is, negative)(C x)
{
    const C zero = 0;
    return x < zero;
}

static inline int NAME(is, minus_1)(C x)
{
    return NAME(is, negative)((C)-1) && x == (C)-1;
}

OPERATION(prelu, 1, NAME(is, negative)(a) ? (C)((uint64_t)a *(uint64_t)b) : a)
OPERATION(div, b != 0, NAME(is, minus_1)(b) ? (C)(0 - (uint64_t)a) : (C)(a / b))

// The remainder with the sign of a.
static inline C NAME(remainder, of)(C a, C b)
{
    return NAME(is, minus_1)(b) ? 0 : (C)(a % b);
}
OPERATION(fmod, b != 0, NAME(remainder, of)(a, b))

// The remainder with the sign of b.
static inline C NAME(mod, of)(C a, C b)
{
    const C r = NAME(remainder, of)(a, b);
    return r == 0 || NAME(is, negative)(r) == NAME(is, negative)(b) ? r : (C)(r + b);
}
OPERATION(mod, b != 0, NAME(mod, of)(a, b))

// a^b by squaring, b not negative.
static inline C NAME(power, of)(C a, uint64_t b)
{
    uint64_t result = 1;
    for (uint64_t square = (uint64_t)a; b; b >>= 1, square *= square)
        if (b & 1)
            result *= square;
    return (C)result;
}

// A negative power is 1 / a^-b, which is whole for 1 and -1 only and else truncated to 0.
static inline C NAME(pow, of)(C a, C b)
{
    if (!NAME(is, negative)(b))
        return NAME(power, of)(a, (uint64_t)b);
    if (a == 1 || NAME(is, minus_1)(a))
        return NAME(power, of)(a, (uint64_t)b & 1);
    return 0;
}
OPERATION(pow_double, 1, NAME(tl, from_double)(pow((double)a, (double)b)))
OPERATION(pow, a != 0 || !NAME(is, negative)(b), NAME(pow, of)(a, b))

// 0 if b is negative, or at least the number of bits.
static inline int NAME(keeps, bits)(C b)
{
    return (uint64_t)b < 8 * sizeof(C);
}
OPERATION(shift_left, 1, NAME(keeps, bits)(b) ? (C)((uint64_t)a << b) : 0)
OPERATION(shift_right, 1, NAME(keeps, bits)(b) ? (C)(a >> b) : (C)(0 - NAME(is, negative)(a)))

#endif

#endif

// Bits

#if TL_IS_BOOL || !(TL_IS_FLOAT || defined(TL_SIMD_SET))

OPERATION(and, 1, (C)(a &b))
OPERATION(or, 1, (C)(a | b))
OPERATION(xor, 1, (C)(a ^ b))

#endif

#endif
