// SPDX-License-Identifier: Apache-2.0
// The list of element types; for each with tag f32, u8, ..: its types tl_f32_t (storage) and
// tl_f32_c (compute), and tl_f32_load, tl_f32_store between them. Templates see them through
// tl_one_type.inc.h.

#pragma once

#include <stdint.h>

#include "tensor/tl_half.h"

#define TL_AS_IS(value) (value)

/** The element types, in the order of tl_dtype:
 *  ROW(dtype, tag, storage, compute, kind, load, store, min, max, format).
 *
 *  tag: its name in kernels. storage: the C type in memory. compute: the C type to calculate in.
 *  kind: FLT, INT (signed), UINT, BOOL. load, store: storage <-> compute. format: the default for
 *  printf. The names of min, max and format are in <float.h> and <inttypes.h>. */
#define TL_TYPES(ROW)                                                                            \
    ROW(TL_DOUBLE, f64, double, double, FLT, TL_AS_IS, TL_AS_IS, -DBL_MAX, DBL_MAX, "%.3f")      \
    ROW(TL_FLOAT, f32, float, float, FLT, TL_AS_IS, TL_AS_IS, -FLT_MAX, FLT_MAX, "%.3f")         \
    ROW(TL_INT32, i32, int32_t, int32_t, INT, TL_AS_IS, TL_AS_IS, INT32_MIN, INT32_MAX, "%d")    \
    ROW(TL_INT16, i16, int16_t, int16_t, INT, TL_AS_IS, TL_AS_IS, INT16_MIN, INT16_MAX, "%d")    \
    ROW(TL_INT8, i8, int8_t, int8_t, INT, TL_AS_IS, TL_AS_IS, INT8_MIN, INT8_MAX, "%d")          \
    ROW(TL_UINT32, u32, uint32_t, uint32_t, UINT, TL_AS_IS, TL_AS_IS, 0, UINT32_MAX, "%u")       \
    ROW(TL_UINT16, u16, uint16_t, uint16_t, UINT, TL_AS_IS, TL_AS_IS, 0, UINT16_MAX, "%u")       \
    ROW(TL_UINT8, u8, uint8_t, uint8_t, UINT, TL_AS_IS, TL_AS_IS, 0, UINT8_MAX, "%u")            \
    ROW(TL_BOOL, b8, uint8_t, uint8_t, BOOL, tl_bool_of, tl_bool_of, 0, 1, "%d")                 \
    ROW(TL_INT64, i64, int64_t, int64_t, INT, TL_AS_IS, TL_AS_IS, INT64_MIN, INT64_MAX,          \
        "%" PRId64)                                                                              \
    ROW(TL_UINT64, u64, uint64_t, uint64_t, UINT, TL_AS_IS, TL_AS_IS, 0, UINT64_MAX, "%" PRIu64) \
    ROW(TL_FLOAT16, f16, uint16_t, float, FLT, tl_half_to_float, tl_half_from_float, -65504.0f,  \
        65504.0f, "%.3f")                                                                        \
    ROW(TL_BFLOAT16, bf16, uint16_t, float, FLT, tl_bfloat_to_float, tl_bfloat_from_float,       \
        -0x1.fep127f, 0x1.fep127f, "%.3f")

static inline uint8_t tl_bool_of(uint8_t value)
{
    return value != 0;
}

#define TL_DEFINE_ELEMENT(dtype, tag, storage, compute, kind, load, store, ...) \
    typedef storage tl_##tag##_t;                                               \
    typedef compute tl_##tag##_c;                                               \
    static inline compute tl_##tag##_load(storage value)                        \
    {                                                                           \
        return load(value);                                                     \
    }                                                                           \
    static inline storage tl_##tag##_store(compute value)                       \
    {                                                                           \
        return store(value);                                                    \
    }
TL_TYPES(TL_DEFINE_ELEMENT)
