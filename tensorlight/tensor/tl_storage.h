// SPDX-License-Identifier: Apache-2.0
// Elements of the types that only store values: floats of 8 and 4 bits, integers of 4 and 2 bits.
//
// Their values fit into three types to compute with, their carriers: floats into TL_FLOAT,
// integers into TL_INT8 and TL_UINT8, whose bytes they also have. So all conversions go through
// these, and no kernel is compiled for each type.

#pragma once

#include <stddef.h>
#include <stdint.h>

#include "tensorlight/tl_elementwise.h"
#include "tensorlight/tl_type.h"

/** The types, in the order of tl_dtype: ROW(dtype, tag, kind, bits, min, max, format), as those of
 *  TL_TYPES (tl_element.h). */
#define TL_STORAGE_TYPES(ROW)                                           \
    ROW(TL_FLOAT8E4M3FN, f8e4m3fn, FLT, 8, -448.0, 448.0, "%g")         \
    ROW(TL_FLOAT8E4M3FNUZ, f8e4m3fnuz, FLT, 8, -240.0, 240.0, "%g")     \
    ROW(TL_FLOAT8E5M2, f8e5m2, FLT, 8, -57344.0, 57344.0, "%g")         \
    ROW(TL_FLOAT8E5M2FNUZ, f8e5m2fnuz, FLT, 8, -57344.0, 57344.0, "%g") \
    ROW(TL_FLOAT8E8M0, f8e8m0, FLT, 8, 0x1p-127, 0x1p127, "%g")         \
    ROW(TL_FLOAT4E2M1, f4e2m1, FLT, 4, -6.0, 6.0, "%g")                 \
    ROW(TL_INT4, i4, INT, 4, -8, 7, "%d")                               \
    ROW(TL_UINT4, u4, UINT, 4, 0, 15, "%u")                             \
    ROW(TL_INT2, i2, INT, 2, -2, 1, "%d")                               \
    ROW(TL_UINT2, u2, UINT, 2, 0, 3, "%u")

/** The type to compute with that has its values; for a type to compute with, itself. */
tl_dtype tl_storage_carrier(tl_dtype dtype);

/** `n` elements of a float of 8 bits or less as floats: exact; an infinity and NaN stay. */
void tl_storage_to_floats(tl_dtype dtype, const void *src, float *dst, size_t n);

/** The result for a value out of the range of a type: its max, or, if the type has one, infinity
 *  or NaN; and how powers of two round. */
typedef struct tl_storage_rule {
    int saturates;
    tl_power_rounding rounding;
} tl_storage_rule;

/** `n` floats as elements of a float of 8 bits or less, by the rules of tl_tensor_cast_float8. */
void tl_storage_from_floats(tl_dtype dtype, const float *src, void *dst, size_t n,
                            tl_storage_rule rule);
