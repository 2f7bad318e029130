// SPDX-License-Identifier: Apache-2.0
// Tests of the checks: each macro once where it holds, and once with the message where it does not.

#include "lightnet/ln_op.h"

#include <math.h>

#include "lightnet/ln_context.h"
#include "lightnet/ln_msg.h"
#include "ln_check.h"

// Operands of the checks. The operator reads tensors 'x' as 'src' and 'w' as 'weight', and writes
// 'y' as 'dst'; tensor 'o' is not its argument.
static ln_param_entry *n, *tenth, *large, *nan_entry, *text, *stride, *ones, *empty, *halves,
    *words;
static ln_tensor_entry *src, *weight, *other;
static ln_tensor_entry *const nothing = NULL;

// ROW(name, a check that holds, one that fails, its message)
#define ROWS(ROW)                                                                                 \
    ROW(satisfy, ln_opck_satisfy(n->value_int == 3), ln_opck_satisfy(n->value_int == 4),          \
        "expected n->value_int == 4")                                                             \
    ROW(satisfy_msg, ln_opck_satisfy_msg(1, "never"),                                             \
        ln_opck_satisfy_msg(n->value_int < 3, "n is %d, expected < %d", n->value_int, 3),         \
        "n is 3, expected < 3")                                                                   \
    ROW(error, ln_opck(LN_MSG_ERROR, 1, "never"), ln_opck(LN_MSG_ERROR, 0, "always"), "always")   \
    ROW(internal_error, ln_opck(LN_MSG_WARN, 0, "to nobody"),                                     \
        ln_opck(LN_MSG_INTER_ERROR, 0, "code %d", 7), "code 7")                                   \
    ROW(param_exist, ln_opck_param_exist(n, "n"),                                                 \
        ln_opck_param_exist((ln_param_entry *)NULL, "z"), "parameter 'z' is missing")             \
    ROW(param_type, ln_opck_param_type(n, LN_PARAM_NUMBER),                                       \
        ln_opck_param_type(n, LN_PARAM_ARRAY_STRING),                                             \
        "parameter 'n' is a number, expected an array of strings")                                \
    ROW(int_eq, ln_opck_param_int_eq(n, 3), ln_opck_param_int_eq(n, 4),                           \
        "parameter 'n' is 3, expected 4")                                                         \
    ROW(int_gt, ln_opck_param_int_gt(n, 2), ln_opck_param_int_gt(n, 3),                           \
        "parameter 'n' is 3, expected > 3")                                                       \
    ROW(int_ge, ln_opck_param_int_ge(n, 3), ln_opck_param_int_ge(n, 4),                           \
        "parameter 'n' is 3, expected >= 4")                                                      \
    ROW(int_lt, ln_opck_param_int_lt(n, 4), ln_opck_param_int_lt(n, 3),                           \
        "parameter 'n' is 3, expected < 3")                                                       \
    ROW(int_le, ln_opck_param_int_le(n, 3), ln_opck_param_int_le(n, 2),                           \
        "parameter 'n' is 3, expected <= 2")                                                      \
    ROW(int_ne, ln_opck_param_int_ne(n, 4), ln_opck_param_int_ne(n, 3),                           \
        "parameter 'n' is 3, expected != 3")                                                      \
    ROW(float_eq, ln_opck_param_float_eq(tenth, 0.1), ln_opck_param_float_eq(tenth, 0.2),         \
        "parameter 'tenth' is 0.1, expected 0.2")                                                 \
    ROW(float_gt, ln_opck_param_float_gt(tenth, 0.05), ln_opck_param_float_gt(tenth, 0.1f),       \
        "parameter 'tenth' is 0.1, expected > 0.100000001")                                       \
    ROW(float_ge, ln_opck_param_float_ge(tenth, 0.1f), ln_opck_param_float_ge(tenth, 0.2),        \
        "parameter 'tenth' is 0.1, expected >= 0.2")                                              \
    ROW(float_lt, ln_opck_param_float_lt(tenth, 0.2), ln_opck_param_float_lt(tenth, 0.1),         \
        "parameter 'tenth' is 0.1, expected < 0.1")                                               \
    ROW(float_le, ln_opck_param_float_le(tenth, 0.1), ln_opck_param_float_le(tenth, 0.05),        \
        "parameter 'tenth' is 0.1, expected <= 0.05")                                             \
    ROW(float_ne, ln_opck_param_float_ne(tenth, 0.2), ln_opck_param_float_ne(tenth, 0.1f),        \
        "parameter 'tenth' is 0.1, expected != 0.100000001")                                      \
    ROW(double_eq, ln_opck_param_double_eq(tenth, 0.1), ln_opck_param_double_eq(tenth, 0.1f),     \
        "parameter 'tenth' is 0.1, expected 0.100000001")                                         \
    ROW(double_gt, ln_opck_param_double_gt(tenth, 0.05), ln_opck_param_double_gt(tenth, 0.1),     \
        "parameter 'tenth' is 0.1, expected > 0.1")                                               \
    ROW(double_ge, ln_opck_param_double_ge(tenth, 0.1), ln_opck_param_double_ge(tenth, 0.1f),     \
        "parameter 'tenth' is 0.1, expected >= 0.100000001")                                      \
    ROW(double_lt, ln_opck_param_double_lt(tenth, 0.1f), ln_opck_param_double_lt(tenth, 0.1),     \
        "parameter 'tenth' is 0.1, expected < 0.1")                                               \
    ROW(double_le, ln_opck_param_double_le(tenth, 0.1), ln_opck_param_double_le(tenth, 0.05),     \
        "parameter 'tenth' is 0.1, expected <= 0.05")                                             \
    ROW(double_ne, ln_opck_param_double_ne(tenth, 0.1f), ln_opck_param_double_ne(tenth, 0.1),     \
        "parameter 'tenth' is 0.1, expected != 0.1")                                              \
    ROW(array_len_eq, ln_opck_param_array_len_eq(stride, 2),                                      \
        ln_opck_param_array_len_eq(stride, 3), "parameter 'stride' has length 2, expected 3")     \
    ROW(array_len_gt, ln_opck_param_array_len_gt(stride, 1),                                      \
        ln_opck_param_array_len_gt(stride, 2), "parameter 'stride' has length 2, expected > 2")   \
    ROW(array_len_ge, ln_opck_param_array_len_ge(stride, 2),                                      \
        ln_opck_param_array_len_ge(stride, 3), "parameter 'stride' has length 2, expected >= 3")  \
    ROW(array_len_lt, ln_opck_param_array_len_lt(stride, 3),                                      \
        ln_opck_param_array_len_lt(stride, 2), "parameter 'stride' has length 2, expected < 2")   \
    ROW(array_len_le, ln_opck_param_array_len_le(stride, 2),                                      \
        ln_opck_param_array_len_le(stride, 1), "parameter 'stride' has length 2, expected <= 1")  \
    ROW(array_len_ne, ln_opck_param_array_len_ne(stride, 3),                                      \
        ln_opck_param_array_len_ne(stride, 2), "parameter 'stride' has length 2, expected != 2")  \
    ROW(array_int_eq, ln_opck_param_array_int_eq(ones, 1), ln_opck_param_array_int_eq(stride, 0), \
        "parameter 'stride' is [0, 1], expected every element == 0")                              \
    ROW(array_int_gt, ln_opck_param_array_int_gt(stride, -1),                                     \
        ln_opck_param_array_int_gt(stride, 0),                                                    \
        "parameter 'stride' is [0, 1], expected every element > 0")                               \
    ROW(array_int_ge, ln_opck_param_array_int_ge(stride, 0),                                      \
        ln_opck_param_array_int_ge(stride, 1),                                                    \
        "parameter 'stride' is [0, 1], expected every element >= 1")                              \
    ROW(array_int_lt, ln_opck_param_array_int_lt(stride, 2),                                      \
        ln_opck_param_array_int_lt(stride, 1),                                                    \
        "parameter 'stride' is [0, 1], expected every element < 1")                               \
    ROW(array_int_le, ln_opck_param_array_int_le(stride, 1),                                      \
        ln_opck_param_array_int_le(stride, 0),                                                    \
        "parameter 'stride' is [0, 1], expected every element <= 0")                              \
    ROW(array_int_ne, ln_opck_param_array_int_ne(stride, 5),                                      \
        ln_opck_param_array_int_ne(stride, 1),                                                    \
        "parameter 'stride' is [0, 1], expected every element != 1")                              \
    ROW(array_float_eq, ln_opck_param_array_float_eq(ones, 1),                                    \
        ln_opck_param_array_float_eq(stride, 0),                                                  \
        "parameter 'stride' is [0, 1], expected every element == 0")                              \
    ROW(array_float_gt, ln_opck_param_array_float_gt(stride, -1),                                 \
        ln_opck_param_array_float_gt(stride, 0),                                                  \
        "parameter 'stride' is [0, 1], expected every element > 0")                               \
    ROW(array_float_ge, ln_opck_param_array_float_ge(stride, 0),                                  \
        ln_opck_param_array_float_ge(stride, 1),                                                  \
        "parameter 'stride' is [0, 1], expected every element >= 1")                              \
    ROW(array_float_lt, ln_opck_param_array_float_lt(stride, 2),                                  \
        ln_opck_param_array_float_lt(stride, 1),                                                  \
        "parameter 'stride' is [0, 1], expected every element < 1")                               \
    ROW(array_float_le, ln_opck_param_array_float_le(stride, 1),                                  \
        ln_opck_param_array_float_le(stride, 0),                                                  \
        "parameter 'stride' is [0, 1], expected every element <= 0")                              \
    ROW(array_float_ne, ln_opck_param_array_float_ne(stride, 5),                                  \
        ln_opck_param_array_float_ne(stride, 1),                                                  \
        "parameter 'stride' is [0, 1], expected every element != 1")                              \
    ROW(array_double_eq, ln_opck_param_array_double_eq(ones, 1),                                  \
        ln_opck_param_array_double_eq(stride, 0),                                                 \
        "parameter 'stride' is [0, 1], expected every element == 0")                              \
    ROW(array_double_gt, ln_opck_param_array_double_gt(stride, -1),                               \
        ln_opck_param_array_double_gt(stride, 0),                                                 \
        "parameter 'stride' is [0, 1], expected every element > 0")                               \
    ROW(array_double_ge, ln_opck_param_array_double_ge(stride, 0),                                \
        ln_opck_param_array_double_ge(stride, 1),                                                 \
        "parameter 'stride' is [0, 1], expected every element >= 1")                              \
    ROW(array_double_lt, ln_opck_param_array_double_lt(stride, 2),                                \
        ln_opck_param_array_double_lt(stride, 1),                                                 \
        "parameter 'stride' is [0, 1], expected every element < 1")                               \
    ROW(array_double_le, ln_opck_param_array_double_le(stride, 1),                                \
        ln_opck_param_array_double_le(stride, 0),                                                 \
        "parameter 'stride' is [0, 1], expected every element <= 0")                              \
    ROW(array_double_ne, ln_opck_param_array_double_ne(stride, 5),                                \
        ln_opck_param_array_double_ne(stride, 1),                                                 \
        "parameter 'stride' is [0, 1], expected every element != 1")                              \
    ROW(int_fraction, ln_opck_param_int_ge(n, 0), ln_opck_param_int_ge(tenth, 0),                 \
        "parameter 'tenth' is 0.1, expected integers from -2147483648 to 2147483647")             \
    ROW(int_range, ln_opck_param_int_ge(n, 0), ln_opck_param_int_ge(large, 0),                    \
        "parameter 'large' is 3000000000, expected integers from -2147483648 to 2147483647")      \
    ROW(array_int_fraction, ln_opck_param_array_int_ge(empty, 0),                                 \
        ln_opck_param_array_int_ge(halves, 0),                                                    \
        "parameter 'halves' is [0.5, 1, 1.5], expected integers from -2147483648 to 2147483647")  \
    ROW(nan_entry, ln_opck_param_double_ne(nan_entry, 0), ln_opck_param_double_ge(nan_entry, 0),  \
        "parameter 'nan' is nan, expected >= 0")                                                  \
    ROW(number_type, ln_opck_param_int_gt(n, 0), ln_opck_param_int_gt(text, 0),                   \
        "parameter 'text' is a string, expected a number")                                        \
    ROW(array_type, ln_opck_param_array_int_gt(ones, 0), ln_opck_param_array_int_gt(words, 0),    \
        "parameter 'words' is an array of strings, expected an array of numbers")                 \
    ROW(array_len_type, ln_opck_param_array_len_eq(words, 1), ln_opck_param_array_len_eq(n, 1),   \
        "parameter 'n' is a number, expected an array")                                           \
    ROW(params_len_eq, ln_opck_params_len_eq(2, 2), ln_opck_params_len_eq(2, 3),                  \
        "the number of parameters is 2, expected 3")                                              \
    ROW(params_len_gt, ln_opck_params_len_gt(2, 1), ln_opck_params_len_gt(2, 2),                  \
        "the number of parameters is 2, expected > 2")                                            \
    ROW(params_len_ge, ln_opck_params_len_ge(2, 2), ln_opck_params_len_ge(2, 3),                  \
        "the number of parameters is 2, expected >= 3")                                           \
    ROW(params_len_lt, ln_opck_params_len_lt(2, 3), ln_opck_params_len_lt(2, 2),                  \
        "the number of parameters is 2, expected < 2")                                            \
    ROW(params_len_le, ln_opck_params_len_le(2, 2), ln_opck_params_len_le(2, 1),                  \
        "the number of parameters is 2, expected <= 1")                                           \
    ROW(params_len_ne, ln_opck_params_len_ne(2, 3), ln_opck_params_len_ne(2, 2),                  \
        "the number of parameters is 2, expected != 2")                                           \
    ROW(tensors_in_len_eq, ln_opck_tensors_in_len_eq(2, 2), ln_opck_tensors_in_len_eq(2, 3),      \
        "the number of inputs is 2, expected 3")                                                  \
    ROW(tensors_in_len_gt, ln_opck_tensors_in_len_gt(2, 1), ln_opck_tensors_in_len_gt(2, 2),      \
        "the number of inputs is 2, expected > 2")                                                \
    ROW(tensors_in_len_ge, ln_opck_tensors_in_len_ge(2, 2), ln_opck_tensors_in_len_ge(2, 3),      \
        "the number of inputs is 2, expected >= 3")                                               \
    ROW(tensors_in_len_lt, ln_opck_tensors_in_len_lt(2, 3), ln_opck_tensors_in_len_lt(2, 2),      \
        "the number of inputs is 2, expected < 2")                                                \
    ROW(tensors_in_len_le, ln_opck_tensors_in_len_le(2, 2), ln_opck_tensors_in_len_le(2, 1),      \
        "the number of inputs is 2, expected <= 1")                                               \
    ROW(tensors_in_len_ne, ln_opck_tensors_in_len_ne(2, 3), ln_opck_tensors_in_len_ne(2, 2),      \
        "the number of inputs is 2, expected != 2")                                               \
    ROW(tensors_out_len_eq, ln_opck_tensors_out_len_eq(2, 2), ln_opck_tensors_out_len_eq(2, 3),   \
        "the number of outputs is 2, expected 3")                                                 \
    ROW(tensors_out_len_gt, ln_opck_tensors_out_len_gt(2, 1), ln_opck_tensors_out_len_gt(2, 2),   \
        "the number of outputs is 2, expected > 2")                                               \
    ROW(tensors_out_len_ge, ln_opck_tensors_out_len_ge(2, 2), ln_opck_tensors_out_len_ge(2, 3),   \
        "the number of outputs is 2, expected >= 3")                                              \
    ROW(tensors_out_len_lt, ln_opck_tensors_out_len_lt(2, 3), ln_opck_tensors_out_len_lt(2, 2),   \
        "the number of outputs is 2, expected < 2")                                               \
    ROW(tensors_out_len_le, ln_opck_tensors_out_len_le(2, 2), ln_opck_tensors_out_len_le(2, 1),   \
        "the number of outputs is 2, expected <= 1")                                              \
    ROW(tensors_out_len_ne, ln_opck_tensors_out_len_ne(2, 3), ln_opck_tensors_out_len_ne(2, 2),   \
        "the number of outputs is 2, expected != 2")                                              \
    ROW(tensor_in_exist, ln_opck_tensor_in_exist(src, "src"),                                     \
        ln_opck_tensor_in_exist(nothing, "bias"), "input 'bias' is missing")                      \
    ROW(tensor_out_exist, ln_opck_tensor_out_exist(src, "dst"),                                   \
        ln_opck_tensor_out_exist(nothing, "mask"), "output 'mask' is missing")                    \
    ROW(tensor_defined, ln_opck_tensor_defined(src, "x"), ln_opck_tensor_defined(nothing, "w"),   \
        "'weight' is tensor 'w', expected one that is defined before")                            \
    ROW(tensor_not_defined, ln_opck_tensor_not_defined(nothing, "y"),                             \
        ln_opck_tensor_not_defined(src, "y"),                                                     \
        "'dst' is tensor 'y', which operator 'producer' defines already")                         \
    ROW(tensor_ndim, ln_opck_tensor_ndim(src, 3), ln_opck_tensor_ndim(src, 4),                    \
        "'src' has shape [8, 3, 5], expected 4 dimensions")                                       \
    ROW(tensor_ndim_1, ln_opck_tensor_ndim(other, 1), ln_opck_tensor_ndim(src, 1),                \
        "'src' has shape [8, 3, 5], expected 1 dimension")                                        \
    ROW(tensor_len, ln_opck_tensor_len(src, 120), ln_opck_tensor_len(src, 100),                   \
        "'src' has shape [8, 3, 5], expected 100 elements")                                       \
    ROW(tensor_issameshape, ln_opck_tensor_issameshape(src, src),                                 \
        ln_opck_tensor_issameshape(weight, src),                                                  \
        "'weight' has shape [2, 3], expected the shape of 'src', [8, 3, 5]")                      \
    ROW(tensor_issametype, ln_opck_tensor_issametype(src, src),                                   \
        ln_opck_tensor_issametype(weight, src),                                                   \
        "'weight' has type TL_INT8, expected the type of 'src', TL_FLOAT")                        \
    ROW(tensor_isstatic, ln_opck_tensor_isstatic(weight), ln_opck_tensor_isstatic(src),           \
        "'src' is not static, expected a tensor that is")                                         \
    ROW(tensor_isnotstatic, ln_opck_tensor_isnotstatic(src), ln_opck_tensor_isnotstatic(weight),  \
        "'weight' is static, expected a tensor that is not")                                      \
    ROW(tensor_mtype_eq, ln_opck_tensor_mtype_eq(src, LN_MEM_CPU),                                \
        ln_opck_tensor_mtype_eq(weight, LN_MEM_CPU),                                              \
        "'weight' has memory type LN_MEM_NONE, expected LN_MEM_CPU")                              \
    ROW(tensor_dtype_eq, ln_opck_tensor_dtype_eq(src, TL_FLOAT),                                  \
        ln_opck_tensor_dtype_eq(other, TL_FLOAT), "'o' has type TL_INT8, expected TL_FLOAT")

#define DEFINE(name, holding, failing, message) \
    static void name##_holds(ln_op_arg *op_arg) \
    {                                           \
        holding;                                \
        op_arg->at_load = 1;                    \
    }                                           \
    static void name##_fails(ln_op_arg *op_arg) \
    {                                           \
        failing;                                \
        op_arg->at_load = 1;                    \
    }

#define TABLE(name, holding, failing, message) {#name, name##_holds, name##_fails, message},

ROWS(DEFINE)

static const struct {
    const char *name;
    ln_op_func holds, fails;
    const char *message;
} rows[] = {ROWS(TABLE)};

static ln_list *params; // owns the entries

static ln_param_entry *param(const char *name)
{
    return ln_param_list_find(params, name);
}

static void create_params(void)
{
    params = ln_param_list_append_number(NULL, "n", 3);
    params = ln_param_list_append_number(params, "tenth", 0.1);
    params = ln_param_list_append_number(params, "large", 3e9);
    params = ln_param_list_append_number(params, "nan", NAN);
    params = ln_param_list_append_string(params, "text", "abc");
    params = ln_param_list_append_array_int(params, "stride", 2, (int[]){0, 1});
    params = ln_param_list_append_array_int(params, "ones", 3, (int[]){1, 1, 1});
    params = ln_param_list_append_array_int(params, "empty", 0, NULL);
    params = ln_param_list_append_array_number(params, "halves", 3, (double[]){0.5, 1, 1.5});
    params = ln_param_list_append_array_string(params, "words", 1, (const char *[]){"a"});
    n = param("n");
    tenth = param("tenth");
    large = param("large");
    nan_entry = param("nan");
    text = param("text");
    stride = param("stride");
    ones = param("ones");
    empty = param("empty");
    halves = param("halves");
    words = param("words");
}

static ln_tensor_entry *new_tensor(const char *name, int ndim, const int *dims, tl_dtype dtype)
{
    return ln_tensor_entry_create(name, tl_tensor_create(NULL, ndim, dims, dtype));
}

static void create_tensors(void)
{
    src = new_tensor("x", 3, (int[]){8, 3, 5}, TL_FLOAT);
    src->mtype = LN_MEM_CPU;
    ln_tensor_entry_set_creater(src, "producer");
    weight = new_tensor("w", 2, (int[]){2, 3}, TL_INT8);
    weight->isstatic = 1;
    other = new_tensor("o", 1, (int[]){4}, TL_INT8);
}

static char op_name[] = "c", op_type[] = "conv";

static ln_op_arg new_op_arg(void)
{
    ln_op_arg op_arg = {.name = op_name, .optype = op_type};
    op_arg.tensors_in = ln_tensor_list_append(NULL, "src", "x");
    op_arg.tensors_in = ln_tensor_list_append(op_arg.tensors_in, "weight", "w");
    op_arg.tensors_out = ln_tensor_list_append(NULL, "dst", "y");
    return op_arg;
}

static void free_all(ln_op_arg *op_arg)
{
    ln_tensor_list_free(op_arg->tensors_in);
    ln_tensor_list_free(op_arg->tensors_out);
    ln_param_list_free(params);
    ln_tensor_entry_free_tensor_too(src);
    ln_tensor_entry_free_tensor_too(weight);
    ln_tensor_entry_free_tensor_too(other);
}

START_TEST(each_check_passes_what_holds_and_returns_with_its_message_else)
{
    create_params();
    create_tensors();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char expect[LN_MAXLINE];
        snprintf(expect, sizeof expect, "operator 'c' (conv): %s", rows[i].message);
        ln_op_arg op_arg = new_op_arg();
        rows[i].holds(&op_arg);
        ck_assert_msg(!op_arg.failed && op_arg.at_load, "%s fails: %s", rows[i].name,
                      ln_last_error());
        op_arg.at_load = 0;
        rows[i].fails(&op_arg);
        ck_assert_msg(op_arg.failed && !op_arg.at_load, "%s holds", rows[i].name);
        ck_assert_str_eq(ln_last_error(), expect);
        ln_tensor_list_free(op_arg.tensors_in);
        ln_tensor_list_free(op_arg.tensors_out);
    }
    ln_op_arg op_arg = new_op_arg();
    free_all(&op_arg);
}
END_TEST

static int evaluated;

static ln_param_entry *counted(ln_param_entry *entry)
{
    evaluated++;
    return entry;
}

static void check_once(ln_op_arg *op_arg)
{
    ln_opck_param_exist(counted(n), "n");
    ln_opck_param_type(counted(n), LN_PARAM_NUMBER);
    ln_opck_param_int_eq(counted(n), 3);
    ln_opck_param_array_len_eq(counted(stride), 2);
    ln_opck_param_array_int_ge(counted(stride), 0);
    ln_opck_param_float_lt(counted(n), 0);
}

START_TEST(arguments_are_evaluated_once)
{
    create_params();
    create_tensors();
    ln_op_arg op_arg = new_op_arg();
    check_once(&op_arg);
    ck_assert_int_eq(evaluated, 6);
    ck_assert_int_eq(op_arg.failed, 1);
    free_all(&op_arg);
}
END_TEST

static void receive(void *data, ln_msg_level level, const char *message)
{
    snprintf(data, LN_MAXLINE, "%s: %s", ln_msg_level_name(level), message);
}

static void warn(ln_op_arg *op_arg)
{
    ln_opck(LN_MSG_WARN, 1, "never");
    ln_opck(LN_MSG_WARN, 0, "slow for %d elements", 7);
    op_arg->at_load = 1;
}

START_TEST(warnings_are_sent_and_do_not_return)
{
    char message[LN_MAXLINE] = "";
    ln_context ctx = {.msg_func = receive, .msg_data = message};
    ln_op_arg op_arg = {.name = op_name, .optype = op_type, .ctx = &ctx};
    warn(&op_arg);
    ck_assert_str_eq(message, "warning: operator 'c' (conv): slow for 7 elements");
    ck_assert(!op_arg.failed && op_arg.at_load);
}
END_TEST

static void check_long(ln_op_arg *op_arg)
{
    ln_opck_param_array_int_gt(stride, 0);
}

START_TEST(long_arrays_are_cut_in_messages)
{
    int zeros[1000] = {0};
    create_params();
    create_tensors();
    ln_param_set_satu_array_int(stride, 1000, zeros);
    ln_op_arg op_arg = new_op_arg();
    check_long(&op_arg);
    ck_assert_ptr_nonnull(strstr(ln_last_error(), "0, 0, ..], expected every element > 0"));
    free_all(&op_arg);
}
END_TEST

LN_TEST_MAIN("checks", each_check_passes_what_holds_and_returns_with_its_message_else,
             arguments_are_evaluated_once, warnings_are_sent_and_do_not_return,
             long_arrays_are_cut_in_messages)
