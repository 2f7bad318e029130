// SPDX-License-Identifier: Apache-2.0
// The binary operations in vectors, with the same bits as plain C.

#include "kernel/binary/binary_simd.h"

#define OPERATION(name, value) VECTOR_OPERATION(SIMD(tl_binary_##name), value)

/** `value`, or a where that is NaN. */
TL_INLINE tl_vf unless_nan(tl_vf a, tl_vf value)
{
    return tl_vf_select(tl_vf_eq(a, a), value, a);
}

OPERATION(add, tl_vf_add(a, b))
OPERATION(sub, tl_vf_sub(a, b))
OPERATION(mul, tl_vf_mul(a, b))
OPERATION(div, tl_vf_div(a, b))
OPERATION(max, unless_nan(a, tl_vf_max(a, b)))
OPERATION(min, unless_nan(a, tl_vf_min(a, b)))
OPERATION(prelu, tl_vf_select(tl_vf_lt(a, tl_vf_zero()), tl_vf_mul(a, b), a))
