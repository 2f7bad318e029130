// SPDX-License-Identifier: Apache-2.0
// Conversion in plain C: from every type to every type.

#ifndef T // once

#include "kernel/convert/convert.h"

#include <inttypes.h>

#include "tensor/tl_convert.h"

#define CONVERT_FROM(tag, from)                                                               \
    void NAME(tl_convert_##tag, c)(const void *src, void *dst, size_t len, const void *param) \
    {                                                                                         \
        (void)param;                                                                          \
        const tl_##tag##_t *const s = src;                                                    \
        T *const d = dst;                                                                     \
        for (size_t i = 0; i < len; i++)                                                      \
            d[i] = from(tl_##tag##_load(s[i]));                                               \
    }
// clang-format off
#define FROM_FLT(tag)                                                                              \
    CONVERT_FROM(tag, _Generic((tl_##tag##_c)0, double: NAME(tl, from_double),                     \
                                                float: NAME(tl, from_float)))
// clang-format on
#define FROM_INT(tag)  CONVERT_FROM(tag, NAME(tl, from_int))
#define FROM_UINT(tag) CONVERT_FROM(tag, NAME(tl, from_uint))
#define FROM_BOOL(tag) CONVERT_FROM(tag, NAME(tl, from_uint))

#define TL_TEMPLATE "kernel/convert/convert_c.c"
#include "tensor/tl_each_type.inc.h"

#else // for each type

#define FROM(dtype, tag, storage, compute, kind, ...) FROM_##kind(tag)
TL_TYPES(FROM)

#endif
