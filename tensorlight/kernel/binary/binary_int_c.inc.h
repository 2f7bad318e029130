// SPDX-License-Identifier: Apache-2.0
// Template: the binary operations in plain C for one integer type.
//
// Division by -1 is a negation,
// so that the lowest number wraps too instead of trapping.

#include "kernel/binary/binary_int_short.inc.h"

/** Never true for unsigned types; the variable keeps compilers from saying so. */
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

/** Of the sign of a. */
static inline C NAME(remainder, of)(C a, C b)
{
    return NAME(is, minus_1)(b) ? 0 : (C)(a % b);
}
OPERATION(fmod, b != 0, NAME(remainder, of)(a, b))

/** Of the sign of b. */
static inline C NAME(mod, of)(C a, C b)
{
    const C r = NAME(remainder, of)(a, b);
    return r == 0 || NAME(is, negative)(r) == NAME(is, negative)(b) ? r : (C)(r + b);
}
OPERATION(mod, b != 0, NAME(mod, of)(a, b))

/** a^b by squaring, b not negative. */
static inline C NAME(power, of)(C a, uint64_t b)
{
    uint64_t result = 1;
    for (uint64_t square = (uint64_t)a; b; b >>= 1, square *= square)
        if (b & 1)
            result *= square;
    return (C)result;
}

/** A negative power is 1 / a^-b, which is whole for 1 and -1 only and else truncated to 0. */
static inline C NAME(pow, of)(C a, C b)
{
    if (!NAME(is, negative)(b))
        return NAME(power, of)(a, (uint64_t)b);
    if (a == 1 || NAME(is, minus_1)(a))
        return NAME(power, of)(a, (uint64_t)b & 1);
    return 0;
}
OPERATION(pow, a != 0 || !NAME(is, negative)(b), NAME(pow, of)(a, b))

/** All bits gone where b is no less than their number, or negative. */
static inline int NAME(keeps, bits)(C b)
{
    return (uint64_t)b < 8 * sizeof(C);
}
OPERATION(shift_left, 1, NAME(keeps, bits)(b) ? (C)((uint64_t)a << b) : 0)
OPERATION(shift_right, 1, NAME(keeps, bits)(b) ? (C)(a >> b) : (C)(0 - NAME(is, negative)(a)))
