// SPDX-License-Identifier: Apache-2.0
// Template: the binary operations in plain C for one floating type.

#include "kernel/binary/binary_float_short.inc.h"

OPERATION(div, 1, a / b)
OPERATION(fmod, 1, fmod(a, b))
OPERATION(pow, 1, pow(a, b))
OPERATION(prelu, 1, 0 > a ? a * b : a)

/** fmod's remainder r has the sign of a; a zero gets that of b. */
static inline C NAME(mod, of)(C a, C b)
{
    const C r = fmod(a, b);
    if (r == 0)
        return copysign(r, b);
    return (r < 0) == (b < 0) || r != r ? r : r + b;
}
OPERATION(mod, 1, NAME(mod, of)(a, b))
