// SPDX-License-Identifier: Apache-2.0
// The functions of one number in plain C, for every type.
//
// FORMULA(name, value) defines what `name` makes of the element x and the parameters a and b, all
// of type C; the kernels call it.

#include "kernel/unary/unary.h"

#include <inttypes.h>
#include <math.h>
#include <tgmath.h>

#define FORMULA(name, value)                      \
    static inline C NAME(name, of)(C x, C a, C b) \
    {                                             \
        (void)a, (void)b;                         \
        return value;                             \
    }

#define KERNEL(name)                                                                         \
    void NAME(tl_unary_##name, c)(const void *src, void *dst, size_t len, const void *param) \
    {                                                                                        \
        const T *const s = src;                                                              \
        T *const d = dst;                                                                    \
        const C a = PARAM(((const tl_unary_param *)param)->alpha);                           \
        const C b = PARAM(((const tl_unary_param *)param)->beta);                            \
        for (size_t i = 0; i < len; i++)                                                     \
            d[i] = STORE(NAME(name, of)(LOAD(s[i]), a, b));                                  \
    }
#define KERNEL_OF(arg, func, name, types, grain, sets) KERNEL_##types(name)

/* ---- floats ---- */

#define PARAM(value)     ((C)(value))
#define KERNEL_FLT(name) KERNEL(name)
#define KERNEL_NUM(name) KERNEL(name)
#define KERNEL_WHOLE(name)
#define TL_TEMPLATE "kernel/unary/unary_float_c.inc.h"
#include "tensor/tl_each_float.inc.h"
#undef PARAM
#undef KERNEL_FLT
#undef KERNEL_NUM
#undef KERNEL_WHOLE
#undef TL_TEMPLATE

/* ---- integers, whose functions have no parameters ---- */

#define PARAM(value) ((void)(value), (C)0)
#define KERNEL_FLT(name)
#define KERNEL_NUM(name)   KERNEL(name)
#define KERNEL_WHOLE(name) KERNEL(name)
#define INVERTED(x)        ((C) ~(x))
#define TL_TEMPLATE        "kernel/unary/unary_whole_c.inc.h"
#include "tensor/tl_each_int.inc.h"
#undef KERNEL_NUM
#undef INVERTED

/* ---- bool ---- */

#define KERNEL_NUM(name)
#define INVERTED(x) ((C) !(x))
#define TL_TAG      b8
#include "tensor/tl_one_type.inc.h"
