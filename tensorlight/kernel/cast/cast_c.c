// SPDX-License-Identifier: Apache-2.0
// The conversions between types in plain C: from every type to every type.
//
// OF_FLT(x), OF_INT(x), OF_UINT(x) and OF_BOOL(x) are x, of that kind, cast to a T.
// SATURATED_FLT(x) and its like are x converted to a T, by the functions of tl_convert.h.

#ifndef T // once

#include "kernel/cast/cast.h"

#include <inttypes.h>

#include "tensor/tl_convert.h"

#define TL_TEMPLATE  "kernel/cast/cast_c.c"
#define TL_TUNED_i64 1 // of indices, and of sizes that a network computes

// clang-format off
#define SATURATED_FLT(x)                                                                  \
    _Generic((x), double: NAME(tl, from_double), float: NAME(tl, from_float))(x)
// clang-format on
#define SATURATED_INT(x)  NAME(tl, from_int)(x)
#define SATURATED_UINT(x) NAME(tl, from_uint)(x)
#define SATURATED_BOOL(x) NAME(tl, from_uint)(x)

// To float and double

#define OF_FLT(x)  ((T)(x))
#define OF_INT(x)  ((T)(x))
#define OF_UINT(x) ((T)(x))
#define OF_BOOL(x) ((T)(x))
#define TL_TAG     f64
#include "tensor/tl_one_type.inc.h"
#define TL_TAG f32
#include "tensor/tl_one_type.inc.h"
#undef OF_FLT
#undef OF_INT
#undef OF_UINT

// To 16-bit floats, by way of a float whose rounding does not disturb the second one

static inline float float_as_is(float value)
{
    return value;
}

// clang-format off
#define OF_FLT(x)  STORE(_Generic((x), double: tl_float_round_to_odd, float: float_as_is)(x))
// clang-format on
#define OF_INT(x)  STORE(tl_float_of_int(x))
#define OF_UINT(x) STORE(tl_float_of_uint(x))
#undef OF_BOOL
#define OF_BOOL(x) STORE(x)
#define TL_TAG     f16
#include "tensor/tl_one_type.inc.h"
#define TL_TAG bf16
#include "tensor/tl_one_type.inc.h"
#undef OF_FLT
#undef OF_INT
#undef OF_UINT
#undef OF_BOOL

// To integers: between them, the low bits

#define OF_FLT(x)  NAME(tl, from_double)(x)
#define OF_INT(x)  ((T)(x))
#define OF_UINT(x) ((T)(x))
#define OF_BOOL(x) ((T)(x))
#include "tensor/tl_each_int.inc.h"
#undef OF_FLT
#undef OF_INT
#undef OF_UINT
#undef OF_BOOL

// To bool

#define OF_FLT(x)  ((x) != 0)
#define OF_INT(x)  ((x) != 0)
#define OF_UINT(x) ((x) != 0)
#define OF_BOOL(x) (x)
#define TL_TAG     b8
#include "tensor/tl_one_type.inc.h"

#else // for each type

#define CONVERT_EACH(work, tag, value_of)                                                 \
    void NAME(work##_##tag, c)(const void *src, void *dst, size_t len, const void *param) \
    {                                                                                     \
        (void)param;                                                                      \
        const tl_##tag##_t *const s = src;                                                \
        T *const d = dst;                                                                 \
        for (size_t i = 0; i < len; i++)                                                  \
            d[i] = value_of(tl_##tag##_load(s[i]));                                       \
    }
#define FROM(dtype, tag, storage, compute, kind, ...) \
    CONVERT_EACH(tl_cast, tag, OF_##kind)             \
    CONVERT_EACH(tl_convert, tag, SATURATED_##kind)
TL_TYPES(FROM)

#endif
