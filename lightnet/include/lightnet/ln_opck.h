// SPDX-License-Identifier: Apache-2.0
// Checks for a pre_run: a check that does not hold fails the operator with a message and returns.
//
//     static void foo_pre_run(ln_op_arg *op_arg)
//     {
//         ln_param_entry *axis = ln_param_list_find(op_arg->params, "axis");
//         ln_opck_param_exist(axis, "axis");
//         ln_opck_param_type(axis, LN_PARAM_NUMBER);
//         // For example: operator 'a' (foo): parameter 'axis' is -1, expected >= 0
//         ln_opck_param_int_ge(axis, 0);
//         ...
//
// They are macros because they return from their caller, a void function with an `op_arg` in scope.
// Every argument is evaluated once. Each macro is one call of a function below, which does the
// check, reports through ln_op_fail and returns -1, or returns 0.

#ifndef LN_OPCK_H
#define LN_OPCK_H

#include "lightnet/ln_api.h"
#include "lightnet/ln_mem.h"
#include "lightnet/ln_msg.h"
#include "lightnet/ln_op.h"
#include "lightnet/ln_param.h"
#include "lightnet/ln_tensor.h"
#include "tensorlight/tl_type.h"

LN_BEGIN_DECLS

/** `entry`, the result of looking up `arg_name`, is not
 * NULL. `kind`: "input", "output" or "parameter". */
LN_API int ln_opck_exist(ln_op_arg *op_arg, const void *entry, const char *kind,
                         const char *arg_name);

/** The length of a list of `kind` compares to `expect` as `cmp` requires. */
LN_API int ln_opck_list_len(ln_op_arg *op_arg, const char *kind, int len, ln_opck_cmp cmp,
                            int expect);

/** The entry has this type. */
LN_API int ln_opck_type(ln_op_arg *op_arg, const ln_param_entry *entry, ln_param_type type);

/** The entry is a number that compares to `expect` as `cmp` requires. */
LN_API int ln_opck_number(ln_op_arg *op_arg, const ln_param_entry *entry, ln_opck_view view,
                          ln_opck_cmp cmp, double expect);

/** The entry is an array of numbers that all compare to `expect` as `cmp` requires. */
LN_API int ln_opck_array_number(ln_op_arg *op_arg, const ln_param_entry *entry, ln_opck_view view,
                                ln_opck_cmp cmp, double expect);

/** The entry is an array with a length that compares to `expect` as `cmp` requires. */
LN_API int ln_opck_array_len(ln_op_arg *op_arg, const ln_param_entry *entry, ln_opck_cmp cmp,
                             int expect);

/** The tensor `name`, found as `entry` (NULL: not at all), is defined (1) or not defined (0) so
 * far.
 */
LN_API int ln_opck_defined(ln_op_arg *op_arg, const ln_tensor_entry *entry, const char *name,
                           int expect);

/** The tensor has this number of dimensions; of elements; the shape, or the type,
 * of `other`; is static or is not; is in this memory; has this element type. */
LN_API int ln_opck_ndim(ln_op_arg *op_arg, const ln_tensor_entry *entry, int expect);
LN_API int ln_opck_len(ln_op_arg *op_arg, const ln_tensor_entry *entry, int expect);
LN_API int ln_opck_same_shape(ln_op_arg *op_arg, const ln_tensor_entry *entry,
                              const ln_tensor_entry *other);
LN_API int ln_opck_same_type(ln_op_arg *op_arg, const ln_tensor_entry *entry,
                             const ln_tensor_entry *other);
LN_API int ln_opck_static(ln_op_arg *op_arg, const ln_tensor_entry *entry, int expect);

/** The tensor's element type is one of `dtypes`, a bit for each (LN_DTYPE_BIT). */
LN_API int ln_opck_dtypes(ln_op_arg *op_arg, const ln_tensor_entry *entry, uint32_t dtypes);
LN_API int ln_opck_mtype(ln_op_arg *op_arg, const ln_tensor_entry *entry, ln_mem_type expect);
LN_API int ln_opck_dtype(ln_op_arg *op_arg, const ln_tensor_entry *entry, tl_dtype expect);

LN_END_DECLS

/** Returns from the caller when a check, -1 or 0, failed. */
#define LN_OPCK_RETURN(check) \
    do {                      \
        if (check)            \
            return;           \
    } while (0)

// Conditions: `level` below LN_MSG_ERROR only sends a message and goes on

#define ln_opck(level, condition, ...) \
    LN_OPCK_RETURN(!(condition) && ln_op_report(op_arg, level, __VA_ARGS__))
#define ln_opck_satisfy_msg(condition, ...) ln_opck(LN_MSG_ERROR, condition, __VA_ARGS__)
#define ln_opck_satisfy(condition)          ln_opck(LN_MSG_ERROR, condition, "expected %s", #condition)

// Results of TensorLight: -1 with a reason in tl_last_error(), or 0 and more

#define ln_opck_tl(result)          LN_OPCK_RETURN((result) < 0 && ln_op_fail_tl(op_arg))
#define ln_opck_shape(tensor, form) ln_opck_tl(tl_check_shape(tensor, #tensor, form))

// Parameters

#define ln_opck_param_exist(entry, arg_name) \
    LN_OPCK_RETURN(ln_opck_exist(op_arg, entry, "parameter", arg_name))
#define ln_opck_param_type(entry, param_type) \
    LN_OPCK_RETURN(ln_opck_type(op_arg, entry, param_type))

#define ln_opck_param_int_eq(entry, expect) \
    LN_OPCK_RETURN(ln_opck_number(op_arg, entry, LN_OPCK_INT, LN_OPCK_EQ, expect))
#define ln_opck_param_int_gt(entry, expect) \
    LN_OPCK_RETURN(ln_opck_number(op_arg, entry, LN_OPCK_INT, LN_OPCK_GT, expect))
#define ln_opck_param_int_ge(entry, expect) \
    LN_OPCK_RETURN(ln_opck_number(op_arg, entry, LN_OPCK_INT, LN_OPCK_GE, expect))
#define ln_opck_param_int_lt(entry, expect) \
    LN_OPCK_RETURN(ln_opck_number(op_arg, entry, LN_OPCK_INT, LN_OPCK_LT, expect))
#define ln_opck_param_int_le(entry, expect) \
    LN_OPCK_RETURN(ln_opck_number(op_arg, entry, LN_OPCK_INT, LN_OPCK_LE, expect))
#define ln_opck_param_int_ne(entry, expect) \
    LN_OPCK_RETURN(ln_opck_number(op_arg, entry, LN_OPCK_INT, LN_OPCK_NE, expect))

#define ln_opck_param_float_eq(entry, expect) \
    LN_OPCK_RETURN(ln_opck_number(op_arg, entry, LN_OPCK_FLOAT, LN_OPCK_EQ, expect))
#define ln_opck_param_float_gt(entry, expect) \
    LN_OPCK_RETURN(ln_opck_number(op_arg, entry, LN_OPCK_FLOAT, LN_OPCK_GT, expect))
#define ln_opck_param_float_ge(entry, expect) \
    LN_OPCK_RETURN(ln_opck_number(op_arg, entry, LN_OPCK_FLOAT, LN_OPCK_GE, expect))
#define ln_opck_param_float_lt(entry, expect) \
    LN_OPCK_RETURN(ln_opck_number(op_arg, entry, LN_OPCK_FLOAT, LN_OPCK_LT, expect))
#define ln_opck_param_float_le(entry, expect) \
    LN_OPCK_RETURN(ln_opck_number(op_arg, entry, LN_OPCK_FLOAT, LN_OPCK_LE, expect))
#define ln_opck_param_float_ne(entry, expect) \
    LN_OPCK_RETURN(ln_opck_number(op_arg, entry, LN_OPCK_FLOAT, LN_OPCK_NE, expect))

#define ln_opck_param_double_eq(entry, expect) \
    LN_OPCK_RETURN(ln_opck_number(op_arg, entry, LN_OPCK_DOUBLE, LN_OPCK_EQ, expect))
#define ln_opck_param_double_gt(entry, expect) \
    LN_OPCK_RETURN(ln_opck_number(op_arg, entry, LN_OPCK_DOUBLE, LN_OPCK_GT, expect))
#define ln_opck_param_double_ge(entry, expect) \
    LN_OPCK_RETURN(ln_opck_number(op_arg, entry, LN_OPCK_DOUBLE, LN_OPCK_GE, expect))
#define ln_opck_param_double_lt(entry, expect) \
    LN_OPCK_RETURN(ln_opck_number(op_arg, entry, LN_OPCK_DOUBLE, LN_OPCK_LT, expect))
#define ln_opck_param_double_le(entry, expect) \
    LN_OPCK_RETURN(ln_opck_number(op_arg, entry, LN_OPCK_DOUBLE, LN_OPCK_LE, expect))
#define ln_opck_param_double_ne(entry, expect) \
    LN_OPCK_RETURN(ln_opck_number(op_arg, entry, LN_OPCK_DOUBLE, LN_OPCK_NE, expect))

// Arrays: their length, and all of their elements

#define ln_opck_param_array_len_eq(entry, expect_len) \
    LN_OPCK_RETURN(ln_opck_array_len(op_arg, entry, LN_OPCK_EQ, expect_len))
#define ln_opck_param_array_len_gt(entry, expect_len) \
    LN_OPCK_RETURN(ln_opck_array_len(op_arg, entry, LN_OPCK_GT, expect_len))
#define ln_opck_param_array_len_ge(entry, expect_len) \
    LN_OPCK_RETURN(ln_opck_array_len(op_arg, entry, LN_OPCK_GE, expect_len))
#define ln_opck_param_array_len_lt(entry, expect_len) \
    LN_OPCK_RETURN(ln_opck_array_len(op_arg, entry, LN_OPCK_LT, expect_len))
#define ln_opck_param_array_len_le(entry, expect_len) \
    LN_OPCK_RETURN(ln_opck_array_len(op_arg, entry, LN_OPCK_LE, expect_len))
#define ln_opck_param_array_len_ne(entry, expect_len) \
    LN_OPCK_RETURN(ln_opck_array_len(op_arg, entry, LN_OPCK_NE, expect_len))

#define ln_opck_param_array_int_eq(entry, expect) \
    LN_OPCK_RETURN(ln_opck_array_number(op_arg, entry, LN_OPCK_INT, LN_OPCK_EQ, expect))
#define ln_opck_param_array_int_gt(entry, expect) \
    LN_OPCK_RETURN(ln_opck_array_number(op_arg, entry, LN_OPCK_INT, LN_OPCK_GT, expect))
#define ln_opck_param_array_int_ge(entry, expect) \
    LN_OPCK_RETURN(ln_opck_array_number(op_arg, entry, LN_OPCK_INT, LN_OPCK_GE, expect))
#define ln_opck_param_array_int_lt(entry, expect) \
    LN_OPCK_RETURN(ln_opck_array_number(op_arg, entry, LN_OPCK_INT, LN_OPCK_LT, expect))
#define ln_opck_param_array_int_le(entry, expect) \
    LN_OPCK_RETURN(ln_opck_array_number(op_arg, entry, LN_OPCK_INT, LN_OPCK_LE, expect))
#define ln_opck_param_array_int_ne(entry, expect) \
    LN_OPCK_RETURN(ln_opck_array_number(op_arg, entry, LN_OPCK_INT, LN_OPCK_NE, expect))

#define ln_opck_param_array_float_eq(entry, expect) \
    LN_OPCK_RETURN(ln_opck_array_number(op_arg, entry, LN_OPCK_FLOAT, LN_OPCK_EQ, expect))
#define ln_opck_param_array_float_gt(entry, expect) \
    LN_OPCK_RETURN(ln_opck_array_number(op_arg, entry, LN_OPCK_FLOAT, LN_OPCK_GT, expect))
#define ln_opck_param_array_float_ge(entry, expect) \
    LN_OPCK_RETURN(ln_opck_array_number(op_arg, entry, LN_OPCK_FLOAT, LN_OPCK_GE, expect))
#define ln_opck_param_array_float_lt(entry, expect) \
    LN_OPCK_RETURN(ln_opck_array_number(op_arg, entry, LN_OPCK_FLOAT, LN_OPCK_LT, expect))
#define ln_opck_param_array_float_le(entry, expect) \
    LN_OPCK_RETURN(ln_opck_array_number(op_arg, entry, LN_OPCK_FLOAT, LN_OPCK_LE, expect))
#define ln_opck_param_array_float_ne(entry, expect) \
    LN_OPCK_RETURN(ln_opck_array_number(op_arg, entry, LN_OPCK_FLOAT, LN_OPCK_NE, expect))

#define ln_opck_param_array_double_eq(entry, expect) \
    LN_OPCK_RETURN(ln_opck_array_number(op_arg, entry, LN_OPCK_DOUBLE, LN_OPCK_EQ, expect))
#define ln_opck_param_array_double_gt(entry, expect) \
    LN_OPCK_RETURN(ln_opck_array_number(op_arg, entry, LN_OPCK_DOUBLE, LN_OPCK_GT, expect))
#define ln_opck_param_array_double_ge(entry, expect) \
    LN_OPCK_RETURN(ln_opck_array_number(op_arg, entry, LN_OPCK_DOUBLE, LN_OPCK_GE, expect))
#define ln_opck_param_array_double_lt(entry, expect) \
    LN_OPCK_RETURN(ln_opck_array_number(op_arg, entry, LN_OPCK_DOUBLE, LN_OPCK_LT, expect))
#define ln_opck_param_array_double_le(entry, expect) \
    LN_OPCK_RETURN(ln_opck_array_number(op_arg, entry, LN_OPCK_DOUBLE, LN_OPCK_LE, expect))
#define ln_opck_param_array_double_ne(entry, expect) \
    LN_OPCK_RETURN(ln_opck_array_number(op_arg, entry, LN_OPCK_DOUBLE, LN_OPCK_NE, expect))

// The number of parameters

#define ln_opck_params_len_eq(list_len, expect_len) \
    LN_OPCK_RETURN(ln_opck_list_len(op_arg, "parameter", list_len, LN_OPCK_EQ, expect_len))
#define ln_opck_params_len_gt(list_len, expect_len) \
    LN_OPCK_RETURN(ln_opck_list_len(op_arg, "parameter", list_len, LN_OPCK_GT, expect_len))
#define ln_opck_params_len_ge(list_len, expect_len) \
    LN_OPCK_RETURN(ln_opck_list_len(op_arg, "parameter", list_len, LN_OPCK_GE, expect_len))
#define ln_opck_params_len_lt(list_len, expect_len) \
    LN_OPCK_RETURN(ln_opck_list_len(op_arg, "parameter", list_len, LN_OPCK_LT, expect_len))
#define ln_opck_params_len_le(list_len, expect_len) \
    LN_OPCK_RETURN(ln_opck_list_len(op_arg, "parameter", list_len, LN_OPCK_LE, expect_len))
#define ln_opck_params_len_ne(list_len, expect_len) \
    LN_OPCK_RETURN(ln_opck_list_len(op_arg, "parameter", list_len, LN_OPCK_NE, expect_len))

// Inputs

#define ln_opck_tensor_in_exist(entry, arg_name) \
    LN_OPCK_RETURN(ln_opck_exist(op_arg, entry, "input", arg_name))
#define ln_opck_tensors_in_len_eq(list_len, expect_len) \
    LN_OPCK_RETURN(ln_opck_list_len(op_arg, "input", list_len, LN_OPCK_EQ, expect_len))
#define ln_opck_tensors_in_len_gt(list_len, expect_len) \
    LN_OPCK_RETURN(ln_opck_list_len(op_arg, "input", list_len, LN_OPCK_GT, expect_len))
#define ln_opck_tensors_in_len_ge(list_len, expect_len) \
    LN_OPCK_RETURN(ln_opck_list_len(op_arg, "input", list_len, LN_OPCK_GE, expect_len))
#define ln_opck_tensors_in_len_lt(list_len, expect_len) \
    LN_OPCK_RETURN(ln_opck_list_len(op_arg, "input", list_len, LN_OPCK_LT, expect_len))
#define ln_opck_tensors_in_len_le(list_len, expect_len) \
    LN_OPCK_RETURN(ln_opck_list_len(op_arg, "input", list_len, LN_OPCK_LE, expect_len))
#define ln_opck_tensors_in_len_ne(list_len, expect_len) \
    LN_OPCK_RETURN(ln_opck_list_len(op_arg, "input", list_len, LN_OPCK_NE, expect_len))

// Outputs

#define ln_opck_tensor_out_exist(entry, arg_name) \
    LN_OPCK_RETURN(ln_opck_exist(op_arg, entry, "output", arg_name))
#define ln_opck_tensors_out_len_eq(list_len, expect_len) \
    LN_OPCK_RETURN(ln_opck_list_len(op_arg, "output", list_len, LN_OPCK_EQ, expect_len))
#define ln_opck_tensors_out_len_gt(list_len, expect_len) \
    LN_OPCK_RETURN(ln_opck_list_len(op_arg, "output", list_len, LN_OPCK_GT, expect_len))
#define ln_opck_tensors_out_len_ge(list_len, expect_len) \
    LN_OPCK_RETURN(ln_opck_list_len(op_arg, "output", list_len, LN_OPCK_GE, expect_len))
#define ln_opck_tensors_out_len_lt(list_len, expect_len) \
    LN_OPCK_RETURN(ln_opck_list_len(op_arg, "output", list_len, LN_OPCK_LT, expect_len))
#define ln_opck_tensors_out_len_le(list_len, expect_len) \
    LN_OPCK_RETURN(ln_opck_list_len(op_arg, "output", list_len, LN_OPCK_LE, expect_len))
#define ln_opck_tensors_out_len_ne(list_len, expect_len) \
    LN_OPCK_RETURN(ln_opck_list_len(op_arg, "output", list_len, LN_OPCK_NE, expect_len))

// Tensors

#define ln_opck_tensor_not_defined(entry, entry_name) \
    LN_OPCK_RETURN(ln_opck_defined(op_arg, entry, entry_name, 0))
#define ln_opck_tensor_defined(entry, entry_name) \
    LN_OPCK_RETURN(ln_opck_defined(op_arg, entry, entry_name, 1))
#define ln_opck_tensor_ndim(entry, expect_ndim) \
    LN_OPCK_RETURN(ln_opck_ndim(op_arg, entry, expect_ndim))
#define ln_opck_tensor_len(entry, expect_len) LN_OPCK_RETURN(ln_opck_len(op_arg, entry, expect_len))
#define ln_opck_tensor_issameshape(entry1, entry2) \
    LN_OPCK_RETURN(ln_opck_same_shape(op_arg, entry1, entry2))
#define ln_opck_tensor_issametype(entry1, entry2) \
    LN_OPCK_RETURN(ln_opck_same_type(op_arg, entry1, entry2))
#define ln_opck_tensor_isstatic(entry)    LN_OPCK_RETURN(ln_opck_static(op_arg, entry, 1))
#define ln_opck_tensor_isnotstatic(entry) LN_OPCK_RETURN(ln_opck_static(op_arg, entry, 0))
#define ln_opck_tensor_mtype_eq(entry, mem_type) \
    LN_OPCK_RETURN(ln_opck_mtype(op_arg, entry, mem_type))
/** In the memory of the operator's target; an abstract operator accepts any. */
#define ln_opck_tensor_on_target(entry) \
    LN_OPCK_RETURN(op_arg->mtype != LN_MEM_NONE && ln_opck_mtype(op_arg, entry, op_arg->mtype))
#define ln_opck_tensor_dtype_eq(entry, data_type) \
    LN_OPCK_RETURN(ln_opck_dtype(op_arg, entry, data_type))

#endif
