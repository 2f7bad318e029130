// SPDX-License-Identifier: Apache-2.0
// Element types and the enumerations of operations, with their names and their scalar arithmetic.
//
//     tl_dtype dtype = tl_dtype_from_str("TL_FLOAT16");
//     size_t size = tl_size_of(dtype);
//     double number = 0.1;
//     uint16_t half;
//     tl_convert(&half, TL_FLOAT16, &number, TL_DOUBLE);
//
// A `dtype` argument is valid (0 .. TL_DTYPE_SIZE - 1) unless documented otherwise. An
// enumeration's `_name` is the identifier itself, or NULL out of range; its `_from_str` accepts
// exactly these names and returns the `..._INVALID` value (-1) for any other string or NULL.

#ifndef TL_TYPE_H
#define TL_TYPE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "tensorlight/tl_api.h"

TL_BEGIN_DECLS

/** Element types. 16-bit floats are stored as bits in a uint16_t and compute in float.
 *
 *  Types from TL_FLOAT8E4M3FN on only store values: tensors of them are moved, printed and
 *  converted, and no function computes with them. Each element has a byte. A float has its bits in
 *  the low ones, an integer its value, as in TL_INT8 or TL_UINT8. */
typedef enum tl_dtype {
    TL_DTYPE_INVALID = -1,
    TL_DOUBLE = 0,
    TL_FLOAT,
    TL_INT32,
    TL_INT16,
    TL_INT8,
    TL_UINT32,
    TL_UINT16,
    TL_UINT8,
    TL_BOOL, // one byte, 0 or 1
    TL_INT64,
    TL_UINT64,
    TL_FLOAT16,        // IEEE 754 binary16
    TL_BFLOAT16,       // the upper half of an IEEE 754 binary32
    TL_FLOAT8E4M3FN,   // sign, 4 bits of exponent, 3 of fraction; no infinity
    TL_FLOAT8E4M3FNUZ, // the same with twice the precision near 0, one NaN, and no -0
    TL_FLOAT8E5M2,     // the upper half of an IEEE 754 binary16
    TL_FLOAT8E5M2FNUZ, // the same with another bias, one NaN, no infinity, and no -0
    TL_FLOAT8E8M0,     // a power of two, 2^-127 to 2^127, or NaN: scales of OCP's MX formats
    TL_FLOAT4E2M1,     // 0, 0.5, 1, 1.5, 2, 3, 4, 6, and their negatives
    TL_INT4,
    TL_UINT4,
    TL_INT2,
    TL_UINT2,
    TL_STRING, // a const tl_string * (tl_string.h): text, not a number
    TL_DTYPE_SIZE
} tl_dtype;

/** The types below this one compute. Those from it to TL_STRING only store values. */
#define TL_DTYPE_COMPUTED_SIZE (TL_BFLOAT16 + 1)

/** The max bytes of an element. */
#define TL_DTYPE_MAX_SIZE 8

typedef enum tl_bool_t { TL_FALSE = 0, TL_TRUE = 1 } tl_bool_t;

/** Binary operations between elements; see tl_elew. */
typedef enum tl_elew_op {
    TL_ELEW_OP_INVALID = -1,
    TL_MUL = 0,
    TL_DIV,
    TL_SUM,
    TL_SUB,
    TL_MAX,
    TL_MIN,
    TL_POW,
    TL_ELEW_OP_SIZE
} tl_elew_op;

typedef enum tl_resize_type {
    TL_RESIZE_TYPE_INVALID = -1,
    TL_NEAREST = 0,
    TL_LINEAR,
    TL_RESIZE_TYPE_SIZE
} tl_resize_type;

typedef enum tl_sort_dir {
    TL_SORT_DIR_INVALID = -1,
    TL_SORT_DIR_ASCENDING = 0,
    TL_SORT_DIR_DESCENDING,
    TL_SORT_DIR_SIZE
} tl_sort_dir;

/** The name of a value, which is that of the enum's constant (returns borrowed, forever;
 * NULL for an invalid value), and the value of a name (..._INVALID for an unknown name). */
TL_API const char *tl_dtype_name(tl_dtype dtype);
TL_API tl_dtype tl_dtype_from_str(const char *str);
TL_API const char *tl_elew_op_name(tl_elew_op op);
TL_API tl_elew_op tl_elew_op_from_str(const char *str);
TL_API const char *tl_resize_type_name(tl_resize_type rtype);
TL_API tl_resize_type tl_resize_type_from_str(const char *str);
TL_API const char *tl_sort_dir_name(tl_sort_dir dir);
TL_API tl_sort_dir tl_sort_dir_from_str(const char *str);

/** 1 for 0 .. TL_DTYPE_SIZE - 1, the only function here that accepts any value. */
TL_API int tl_dtype_is_valid(tl_dtype dtype);

/** 1 for TL_DOUBLE, TL_FLOAT, TL_FLOAT16 and TL_BFLOAT16: the floats to compute with. */
TL_API int tl_dtype_is_float(tl_dtype dtype);

/** 1 for the types that compute. */
TL_API int tl_dtype_is_computed(tl_dtype dtype);

/** 1 for the types that only store numbers: floats of 8 and 4 bits, integers of 4 and 2 bits. */
TL_API int tl_dtype_is_stored(tl_dtype dtype);

/** 1 for all floats, those of 8 bits and less included. */
TL_API int tl_dtype_has_fractions(tl_dtype dtype);

/** Bytes of one element. */
TL_API size_t tl_size_of(tl_dtype dtype);

/** Bits of one element without padding: 4 for TL_INT4, TL_UINT4 and TL_FLOAT4E2M1, 2 for TL_INT2
 *  and TL_UINT2, for all others 8 * tl_size_of(dtype). */
TL_API int tl_dtype_bits(tl_dtype dtype);

/** Bytes of `len` elements of fewer than 8 bits side by side, the first in the lowest bits; of
 *  other types, len * tl_size_of(dtype). */
TL_API size_t tl_packed_size(tl_dtype dtype, size_t len);

/** Packs `len` elements into tl_packed_size(dtype, len) bytes, from their low bits; unused bits at
 *  the end are 0. Unpacks them: each byte of `dst` is an element in range. Neither overlaps. */
TL_API void tl_pack(void *dst, const void *src, tl_dtype dtype, size_t len);
TL_API void tl_unpack(void *dst, const void *src, tl_dtype dtype, size_t len);

/** The default printf format of an element: "%.3f" for floats, "%g" for those of 8 bits and less,
 *  "%d", "%u" or the 64-bit forms; "%s" for TL_STRING, which is printed in quotes, with escapes, in
 *  any format. */
TL_API const char *tl_dtype_fmt(tl_dtype dtype);

/** Writes the largest (smallest) finite element to `ret`, which holds tl_size_of(dtype) bytes; the
 *  empty string. */
TL_API void tl_dtype_max(tl_dtype dtype, void *ret);
TL_API void tl_dtype_min(tl_dtype dtype, void *ret);

/** The same as a double, rounded for the limits of 64-bit integers. */
TL_API double tl_dtype_max_double(tl_dtype dtype);
TL_API double tl_dtype_min_double(tl_dtype dtype);

/** Converts one element. The same type: a copy. To an integer: truncated toward zero,
 *  saturated, NaN is 0. To TL_BOOL: 1 for nonzero, NaN is 0. To a float that contains
 *  all values of the source, with infinities: exact. To another float: rounded half
 *  to even and saturated at the largest finite value, infinities too; NaN stays.
 *  To TL_FLOAT8E8M0, ties round up, and numbers below the smallest, 2^-127, become it. To
 *  TL_FLOAT4E2M1, NaN becomes 6. To or from TL_STRING: the empty string, or 0;
 *  tl_exec_cast_strings parses and prints numbers. `dst` and `src` may be the same address. Source:
 *  operator catalogue, 5.3; ONNX, "Float stored in 8 bits" and "Float stored in 4 bits". */
TL_API void tl_convert(void *dst, tl_dtype dst_dtype, const void *src, tl_dtype src_dtype);

/** tl_convert of `len` elements; dst and src do not overlap, or are equal with equal dtypes. */
TL_API void tl_convert_array(void *dst, tl_dtype dst_dtype, const void *src, tl_dtype src_dtype,
                             size_t len);

/** Three-way comparison: -1, 0 or 1; 0 where either is NaN. Strings by their bytes. */
typedef int (*tl_cmp_func)(const void *p1, const void *p2);
TL_API int tl_cmp(const void *p1, const void *p2, tl_dtype dtype);
TL_API tl_cmp_func tl_cmp_getfunc(tl_dtype dtype);

/** *ret = *p1 op *p2. Integers wrap, floats follow IEEE 754, TL_MAX and TL_MIN are `p2` where
 *  either is NaN, an integer TL_POW is computed in double and converted, TL_BOOL uses AND for
 *  TL_MUL and TL_MIN, OR for TL_SUM and TL_MAX, XOR for TL_SUB. `ret` may be `p1` or `p2`.
 *  -1 with a reason: an integer or bool division by zero, an `op` out of range, strings, a type
 *  that only stores values. Source: operator catalogue, 5.5. */
typedef int (*tl_elew_func)(const void *p1, const void *p2, void *ret, tl_elew_op op);
TL_API int tl_elew(const void *p1, const void *p2, void *ret, tl_elew_op op, tl_dtype dtype);
TL_API tl_elew_func tl_elew_getfunc(tl_dtype dtype);

/** *dst = *src >= 0 ? *src : *src * negslope; integers multiply in double and convert. `dst` may be
 *  `src`. `dtype` computes. Source: operator catalogue, lrelu. */
TL_API void tl_lrelu(void *dst, const void *src, float negslope, tl_dtype dtype);

/** Prints one element. `fmt` holds one conversion, of a float for floats
 *  and of an integer for the others, without `*`; length modifiers are not
 *  needed and ignored; NULL: tl_dtype_fmt. The decimal point is '.' in
 *  every locale. Returns the number of characters, or -1 with a reason. */
typedef int (*tl_fprintf_func)(FILE *stream, const char *fmt, const void *p);
TL_API int tl_fprintf(FILE *stream, const char *fmt, const void *p, tl_dtype dtype);
TL_API tl_fprintf_func tl_fprintf_getfunc(tl_dtype dtype);

TL_END_DECLS

#endif
