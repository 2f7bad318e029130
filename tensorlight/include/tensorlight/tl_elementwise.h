// SPDX-License-Identifier: Apache-2.0
// Element-wise: unary functions, and operations on tensors that are broadcast.
//
//     tl_tensor *e = tl_tensor_unary(src, NULL, TL_UNARY_EXP, 0, 0);
//     tl_tensor *s = tl_tensor_binary(e, row, NULL, TL_BINARY_ADD);
//
// tl_tensor.h explains `dst` (the D rule), errors, and preconditions of tl_exec_X. FLT means the
// four floating dtypes (those of 16 bits compute in float and round at the end), INT for the eight
// integer ones. Integers wrap. The names of enumerations: as in tl_type.h.

#ifndef TL_ELEMENTWISE_H
#define TL_ELEMENTWISE_H

#include "tensorlight/tl_functions.h"
#include "tensorlight/tl_tensor.h"

TL_BEGIN_DECLS

// Unary functions

/** The functions of tl_functions.h, with their formulas: TL_UNARY_ABS = 0, TL_UNARY_NEG, .. NaN
 *  propagates, but TL_UNARY_THRESHOLDEDRELU and TL_UNARY_SHRINK make it 0. Source: the ONNX
 *  operators of these names, opset 1 to 24.
 *
 *  TL_UNARY_SIGN is x itself where it is 0; TL_UNARY_NOT inverts the bits of INT, and is 1 - x of
 *  TL_BOOL; TL_UNARY_ROUND rounds half to even; TL_UNARY_LRELU of integers computes in double
 *  (tl_convert); TL_UNARY_CLIP is b where a > b. TL_UNARY_PROBIT, the x-quantile of the standard
 *  normal distribution, is NaN outside of 0 <= x <= 1, and infinite at its ends. Its error, apart
 *  from the rounding to the type, is at most 1e-15 max(1, |dst|), for x below 1e-300 2e-9 |dst|. */
#define TL_UNARY_VALUE(arg, NAME, ...) TL_UNARY_##NAME,
typedef enum tl_unary_func {
    TL_UNARY_FUNC_INVALID = -1,
    TL_UNARY_FUNCS(TL_UNARY_VALUE, ) //
    TL_UNARY_FUNC_SIZE
} tl_unary_func;
TL_API const char *tl_unary_func_name(tl_unary_func func);
TL_API tl_unary_func tl_unary_func_from_str(const char *str);

/** 1 when `func` (a valid one) is defined for elements of `dtype`. */
TL_API int tl_unary_func_takes(tl_unary_func func, tl_dtype dtype);

/** dst[i] = func(src[i]); dst has the shape of src and may be src. D. */
TL_API tl_tensor *tl_tensor_unary(const tl_tensor *src, tl_tensor *dst, tl_unary_func func,
                                  double alpha, double beta);
TL_API int tl_exec_unary(const tl_exec *exec, const tl_tensor *src, tl_tensor *dst,
                         tl_unary_func func, double alpha, double beta);

// Binary operations with broadcasting (tl_broadcast_dims, tl_shape.h)

/** The operations of tl_functions.h on the elements a of src1 and b of src2, with their formulas:
 *  TL_BINARY_ADD = 0, TL_BINARY_SUB, .. Source: the ONNX operators of these names, opset 7 to 24.
 *
 *  INT: TL_BINARY_DIV truncates toward 0; TL_BINARY_DIV, TL_BINARY_MOD, of the sign of b, and
 *  TL_BINARY_FMOD, of the sign of a, fail where b is 0; TL_BINARY_POW truncates where b < 0, and
 *  then fails if a is 0. TL_BINARY_MAX and TL_BINARY_MIN are NaN if one is,
 *  TL_BINARY_PICK_MAX and TL_BINARY_PICK_MIN are b if either is NaN. TL_BINARY_AND, TL_BINARY_OR
 * and TL_BINARY_XOR are of bits. TL_BINARY_SHIFT_LEFT is 0 where b is negative, or no less than a's
 *  bits; there TL_BINARY_SHIFT_RIGHT is 0, or -1 for a negative a. TL_BINARY_POW_DOUBLE converts
 *  the double to the type (tl_convert). */
#define TL_BINARY_VALUE(arg, NAME, ...) TL_BINARY_##NAME,
typedef enum tl_binary_op {
    TL_BINARY_OP_INVALID = -1,
    TL_BINARY_OPS(TL_BINARY_VALUE, ) //
    TL_BINARY_OP_SIZE
} tl_binary_op;
TL_API const char *tl_binary_op_name(tl_binary_op op);
TL_API tl_binary_op tl_binary_op_from_str(const char *str);

/** 1 when `op` (a valid one) is defined for elements of `dtype`. */
TL_API int tl_binary_op_takes(tl_binary_op op, tl_dtype dtype);

/** The operation that `op` (a valid one) is for elements of `dtype`. */
TL_API tl_binary_op tl_elew_op_as_binary(tl_elew_op op, tl_dtype dtype);

/** src1 op src2, broadcast, of one dtype, which is dst's too; `dst` may be a source of dst's shape.
 *  -1 with a reason: an integer division by zero. D. */
TL_API tl_tensor *tl_tensor_binary(const tl_tensor *src1, const tl_tensor *src2, tl_tensor *dst,
                                   tl_binary_op op);
TL_API int tl_exec_binary(const tl_exec *exec, const tl_tensor *src1, const tl_tensor *src2,
                          tl_tensor *dst, tl_binary_op op);

// Chains of both, of floats

enum {
    TL_CHAIN_SRCS = 8,    // max sources,
    TL_CHAIN_STEPS = 16,  // steps,
    TL_CHAIN_RESULTS = 4, // and pending results of steps
};

/** A step: a function of src1, or an operation of src1 and src2. Operand i is source
 *  i, or for larger i the result of the earlier step i - (number of sources). */
typedef struct tl_chain_step {
    tl_unary_func func; // TL_UNARY_FUNC_INVALID:
    tl_binary_op op;
    int src1, src2;
    double alpha, beta; // of func
} tl_chain_step;

/** -1 with a reason: a step does not support TL_FLOAT, has an invalid operand,
 * or is unused but not the last one; too many sources, steps or results. */
TL_API int tl_chain_check(const tl_chain_step *steps, int n_steps, int n_srcs);

/** The last step's result, of `n_srcs` TL_FLOAT sources that are broadcast to one
 *  shape, dst's: each step has the bits of tl_tensor_unary or tl_tensor_binary,
 *  without a tensor. `dst` may be a source of dst's shape. D. */
TL_API tl_tensor *tl_tensor_chain(const tl_tensor *const *srcs, int n_srcs, tl_tensor *dst,
                                  const tl_chain_step *steps, int n_steps);
TL_API int tl_exec_chain(const tl_exec *exec, const tl_tensor *const *srcs, int n_srcs,
                         tl_tensor *dst, const tl_chain_step *steps, int n_steps);

// Comparisons and selection, with broadcasting

/** a and b are the elements of src1 and src2, of any dtype. NaN is unequal to all. */
typedef enum tl_compare_op {
    TL_COMPARE_OP_INVALID = -1,
    TL_COMPARE_EQUAL = 0,     // a == b
    TL_COMPARE_NOT_EQUAL,     // a != b
    TL_COMPARE_LESS,          // a < b
    TL_COMPARE_LESS_EQUAL,    // a <= b
    TL_COMPARE_GREATER,       // a > b
    TL_COMPARE_GREATER_EQUAL, // a >= b
    TL_COMPARE_OP_SIZE
} tl_compare_op;
TL_API const char *tl_compare_op_name(tl_compare_op op);
TL_API tl_compare_op tl_compare_op_from_str(const char *str);

/** Whether src1 op src2, broadcast, of one dtype; dst has TL_BOOL, and may be a source of its shape
 *  and dtype. D. */
TL_API tl_tensor *tl_tensor_compare(const tl_tensor *src1, const tl_tensor *src2, tl_tensor *dst,
                                    tl_compare_op op);
TL_API int tl_exec_compare(const tl_exec *exec, const tl_tensor *src1, const tl_tensor *src2,
                           tl_tensor *dst, tl_compare_op op);

/** cond (TL_BOOL) ? src1 : src2, broadcast; src1, src2 and dst are of one dtype, any; `dst` may be
 *  a source of its shape and dtype. D. */
TL_API tl_tensor *tl_tensor_where(const tl_tensor *cond, const tl_tensor *src1,
                                  const tl_tensor *src2, tl_tensor *dst);
TL_API int tl_exec_where(const tl_exec *exec, const tl_tensor *cond, const tl_tensor *src1,
                         const tl_tensor *src2, tl_tensor *dst);

// Tests for NaN and infinity, and conversion

/** NaN and infinities; classes can be combined. */
enum { TL_CLASS_NAN = 1, TL_CLASS_POSITIVE_INF = 2, TL_CLASS_NEGATIVE_INF = 4 };

/** Whether src, FLT, is in one of `classes`; dst has TL_BOOL and the shape of src. D. */
TL_API tl_tensor *tl_tensor_classify(const tl_tensor *src, tl_tensor *dst, int classes);
TL_API int tl_exec_classify(const tl_exec *exec, const tl_tensor *src, tl_tensor *dst, int classes);

/** src as `dtype`, like a C cast, where tl_convert saturates: to a float rounds half to even,
 *  overflows to infinity, and keeps infinities and NaN; from an integer to another keeps the
 *  low bits. From a float to an integer truncates toward zero, saturates, and converts NaN to
 *  0 (undefined in ONNX). To TL_BOOL: 1 for all but 0, including NaN. dst has the shape of
 *  src, and may be src when the dtypes are the same. To a float of 8 bits or less: as
 *  tl_tensor_cast_float8, saturated, powers of two rounded up. From a float to an integer of
 *  fewer than 8 bits: rounded half to even, saturated. D. Source: ONNX Cast-25, "4 bit integer
 *  types". */
TL_API tl_tensor *tl_tensor_cast(const tl_tensor *src, tl_tensor *dst, tl_dtype dtype);
TL_API int tl_exec_cast(const tl_exec *exec, const tl_tensor *src, tl_tensor *dst);

/** Rounding to TL_FLOAT8E8M0: to the next power of two above, to the one below, or to the nearest,
 *  with ties up. */
typedef enum tl_power_rounding {
    TL_POWER_ROUNDING_INVALID = -1,
    TL_POWER_UP = 0,
    TL_POWER_DOWN,
    TL_POWER_NEAREST,
    TL_POWER_ROUNDING_SIZE
} tl_power_rounding;
/** Its names and values, see tl_type.h. */
TL_API const char *tl_power_rounding_name(tl_power_rounding rounding);
TL_API tl_power_rounding tl_power_rounding_from_str(const char *str);

/** src as a float of 8 bits or less. NaN stays, and is 6 in TL_FLOAT4E2M1. Rounds half to even,
 *  TL_FLOAT8E8M0 by `rounding`, which is ignored otherwise. With `saturates`, values out of range
 *  and infinities become the largest number, else infinity (TL_FLOAT8E5M2) or NaN; TL_FLOAT4E2M1
 *  always saturates. TL_FLOAT8E8M0 has neither 0 nor a sign: with `saturates`, numbers outside of
 *  2^-127 .. 2^127 become the nearest of these, else NaN. -1 with
 *  a reason: the dtype of dst is none of these. D. Source: ONNX Cast-25. */
TL_API tl_tensor *tl_tensor_cast_float8(const tl_tensor *src, tl_tensor *dst, tl_dtype dtype,
                                        int saturates, tl_power_rounding rounding);
TL_API int tl_exec_cast_float8(const tl_exec *exec, const tl_tensor *src, tl_tensor *dst,
                               int saturates, tl_power_rounding rounding);

TL_END_DECLS

#endif
