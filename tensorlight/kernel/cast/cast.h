// SPDX-License-Identifier: Apache-2.0
// Kernels of the conversions between types: cast, as in C, and convert, which saturates.

#pragma once

#include "kernel/tl_kernel.h"
#include "tensor/tl_storage.h"

/** Conversions in vectors: those where cast equals convert, all casts, those that saturate. */
#define TL_ROWS_EXACT(ROW, arg, work, set, isa)                 \
    ROW(arg, work##_i32_f32_##set, TL_INT32, TL_FLOAT, isa)     \
    ROW(arg, work##_i16_f32_##set, TL_INT16, TL_FLOAT, isa)     \
    ROW(arg, work##_i8_f32_##set, TL_INT8, TL_FLOAT, isa)       \
    ROW(arg, work##_u16_f32_##set, TL_UINT16, TL_FLOAT, isa)    \
    ROW(arg, work##_u8_f32_##set, TL_UINT8, TL_FLOAT, isa)      \
    ROW(arg, work##_b8_f32_##set, TL_BOOL, TL_FLOAT, isa)       \
    ROW(arg, work##_f16_f32_##set, TL_FLOAT16, TL_FLOAT, isa)   \
    ROW(arg, work##_bf16_f32_##set, TL_BFLOAT16, TL_FLOAT, isa) \
    ROW(arg, work##_f32_i32_##set, TL_FLOAT, TL_INT32, isa)     \
    ROW(arg, work##_f32_i16_##set, TL_FLOAT, TL_INT16, isa)     \
    ROW(arg, work##_f32_i8_##set, TL_FLOAT, TL_INT8, isa)       \
    ROW(arg, work##_f32_u16_##set, TL_FLOAT, TL_UINT16, isa)    \
    ROW(arg, work##_f32_u8_##set, TL_FLOAT, TL_UINT8, isa)      \
    ROW(arg, work##_f64_i32_##set, TL_DOUBLE, TL_INT32, isa)    \
    ROW(arg, work##_f64_i64_##set, TL_DOUBLE, TL_INT64, isa)    \
    ROW(arg, work##_f32_f64_##set, TL_FLOAT, TL_DOUBLE, isa)    \
    ROW(arg, work##_i64_f64_##set, TL_INT64, TL_DOUBLE, isa)    \
    ROW(arg, work##_i32_f64_##set, TL_INT32, TL_DOUBLE, isa)    \
    ROW(arg, work##_i8_f64_##set, TL_INT8, TL_DOUBLE, isa)      \
    ROW(arg, work##_u8_f64_##set, TL_UINT8, TL_DOUBLE, isa)     \
    ROW(arg, work##_b8_f64_##set, TL_BOOL, TL_DOUBLE, isa)      \
    ROW(arg, work##_i8_i32_##set, TL_INT8, TL_INT32, isa)       \
    ROW(arg, work##_u8_i32_##set, TL_UINT8, TL_INT32, isa)      \
    ROW(arg, work##_b8_i32_##set, TL_BOOL, TL_INT32, isa)       \
    ROW(arg, work##_b8_i8_##set, TL_BOOL, TL_INT8, isa)         \
    ROW(arg, work##_b8_u8_##set, TL_BOOL, TL_UINT8, isa)

#define TL_ROWS_CASTS(ROW, arg, work, set, isa)                   \
    TL_ROWS_EXACT(ROW, arg, work, set, isa)                       \
    ROW(arg, work##_f32_b8_##set, TL_FLOAT, TL_BOOL, isa)         \
    ROW(arg, work##_f32_f16_##set, TL_FLOAT, TL_FLOAT16, isa)     \
    ROW(arg, work##_f32_bf16_##set, TL_FLOAT, TL_BFLOAT16, isa)   \
    ROW(arg, work##_f16_bf16_##set, TL_FLOAT16, TL_BFLOAT16, isa) \
    ROW(arg, work##_bf16_f16_##set, TL_BFLOAT16, TL_FLOAT16, isa) \
    ROW(arg, work##_i64_i8_##set, TL_INT64, TL_INT8, isa)         \
    ROW(arg, work##_i64_u8_##set, TL_INT64, TL_UINT8, isa)        \
    ROW(arg, work##_i32_i8_##set, TL_INT32, TL_INT8, isa)         \
    ROW(arg, work##_i32_u8_##set, TL_INT32, TL_UINT8, isa)        \
    ROW(arg, work##_f64_b8_##set, TL_DOUBLE, TL_BOOL, isa)        \
    ROW(arg, work##_i64_b8_##set, TL_INT64, TL_BOOL, isa)         \
    ROW(arg, work##_i32_b8_##set, TL_INT32, TL_BOOL, isa)         \
    ROW(arg, work##_i8_b8_##set, TL_INT8, TL_BOOL, isa)           \
    ROW(arg, work##_u8_b8_##set, TL_UINT8, TL_BOOL, isa)

#define TL_ROWS_HALVES(ROW, arg, work, set, isa)              \
    ROW(arg, work##_f32_f16_##set, TL_FLOAT, TL_FLOAT16, isa) \
    ROW(arg, work##_f32_bf16_##set, TL_FLOAT, TL_BFLOAT16, isa)

/** In plain C, from every type to every type: dst[i] = src[i] by the rules of tl_tensor_cast and
 *  those of tl_convert; src and dst do not overlap; `param` is not used. */
#define TL_CAST_PLAIN(ROW, arg)    TL_KERNELS(ROW, arg, tl_cast, PAIRS, PLAIN)
#define TL_CONVERT_PLAIN(ROW, arg) TL_KERNELS(ROW, arg, tl_convert, PAIRS, PLAIN)

/** The same in vectors. Where no value is out of range, cast equals convert. */
#define TL_CAST_SIMD(ROW, arg) TL_KERNELS(ROW, arg, tl_cast, CASTS, SIMD)
#define TL_CONVERT_SIMD(ROW, arg)              \
    TL_KERNELS(ROW, arg, tl_cast, EXACT, SIMD) \
    TL_KERNELS(ROW, arg, tl_convert, HALVES, SIMD)

#define TL_CONVERSION_DECLARE(arg, name, from, to, isa) tl_map_func name;
TL_CAST_PLAIN(TL_CONVERSION_DECLARE, )
TL_CONVERT_PLAIN(TL_CONVERSION_DECLARE, )
TL_CAST_SIMD(TL_CONVERSION_DECLARE, )
TL_KERNELS(TL_CONVERSION_DECLARE, , tl_convert, HALVES, SIMD)

/** A conversion from or to a type that only stores values, for which no kernel exists. */
typedef struct tl_storage_cast {
    tl_dtype from, to;
    int saturates;        // the rules of tl_convert; else those of tl_tensor_cast
    tl_storage_rule rule; // for floats of 8 bits and less
    // The conversion between types to compute with.
    tl_map_func *(*kernel)(const tl_exec *exec, tl_dtype from, tl_dtype to);
} tl_storage_cast;

/** `param` is a tl_storage_cast; `dst` may be `src` for a single element. */
tl_map_func tl_cast_storage;

/** The kernel of a cast between types to compute with; NULL where the types are the same. */
tl_map_func *tl_cast_kernel(const tl_exec *exec, tl_dtype from, tl_dtype to);
