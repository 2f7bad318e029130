// SPDX-License-Identifier: Apache-2.0
// The binary operations in vectors, with the same bits as plain C.

#include "kernel/binary/binary.h"

#include "kernel/simd/tl_simd.h"

// Defines the kernel of an operation by its value for the vectors a and b. Each pattern of steps
// has a loop, as in plain C; they share the code for the remaining elements.
#define OPERATION(name, value)                                                                   \
    int SIMD(tl_binary_##name)(const void *const *srcs, const int *steps, void *dst, size_t len) \
    {                                                                                            \
        const float *const s1 = srcs[0], *const s2 = srcs[1];                                    \
        float *const d = dst;                                                                    \
        const size_t rest = len % TL_VF_LANES, end = len - rest;                                 \
        if (len == 0)                                                                            \
            return 0;                                                                            \
        if (steps[0] && steps[1]) {                                                              \
            for (size_t i = 0; i < end; i += TL_VF_LANES) {                                      \
                const tl_vf a = tl_vf_load(s1 + i), b = tl_vf_load(s2 + i);                      \
                tl_vf_store(d + i, value);                                                       \
            }                                                                                    \
        } else if (steps[0]) {                                                                   \
            const tl_vf b = tl_vf_set1(*s2);                                                     \
            for (size_t i = 0; i < end; i += TL_VF_LANES) {                                      \
                const tl_vf a = tl_vf_load(s1 + i);                                              \
                tl_vf_store(d + i, value);                                                       \
            }                                                                                    \
        } else {                                                                                 \
            const tl_vf a = tl_vf_set1(*s1);                                                     \
            for (size_t i = 0; i < end; i += TL_VF_LANES) {                                      \
                const tl_vf b = tl_vf_load(s2 + i);                                              \
                tl_vf_store(d + i, value);                                                       \
            }                                                                                    \
        }                                                                                        \
        if (rest) {                                                                              \
            const tl_vf a = steps[0] ? tl_vf_load_partial(s1 + end, rest) : tl_vf_set1(*s1);     \
            const tl_vf b = steps[1] ? tl_vf_load_partial(s2 + end, rest) : tl_vf_set1(*s2);     \
            tl_vf_store_partial(d + end, value, rest);                                           \
        }                                                                                        \
        return 0;                                                                                \
    }

// `value`, or a where that is NaN.
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
OPERATION(pick_max, tl_vf_max(a, b))
OPERATION(pick_min, tl_vf_min(a, b))
