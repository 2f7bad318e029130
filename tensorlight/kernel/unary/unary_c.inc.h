// SPDX-License-Identifier: Apache-2.0
// Template: the functions of one number in plain C for one type, and the kernels that call them.

/** Far below 0, exp becomes infinite, and the quotient 0. */
static inline C NAME(sigmoid, of)(C x)
{
    return 1 / (1 + exp(-x));
}

#define TL_UNARY(name, grain)                                                          \
    void NAME(tl_##name, c)(const void *src, void *dst, size_t len, const void *param) \
    {                                                                                  \
        (void)param;                                                                   \
        const T *const s = src;                                                        \
        T *const d = dst;                                                              \
        for (size_t i = 0; i < len; i++)                                               \
            d[i] = STORE(NAME(name, of)(LOAD(s[i])));                                  \
    }
#include "kernel/unary/unary.def"
#undef TL_UNARY
