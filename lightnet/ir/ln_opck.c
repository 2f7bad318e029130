// SPDX-License-Identifier: Apache-2.0
// Checks for a pre_run, with their messages.

#include "lightnet/ln_opck.h"

#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>

#include "ir/ln_param_type.h"
#include "lightnet/ln_util.h"

// Comparisons: the result if the left side is less, equal, or greater; unordered: one is NaN.
static const struct {
    const char *symbol;
    int less, equal, greater, unordered;
} cmps[] = {
    [LN_OPCK_EQ] = {"==", 0, 1, 0, 0}, [LN_OPCK_GT] = {">", 0, 0, 1, 0},
    [LN_OPCK_GE] = {">=", 0, 1, 1, 0}, [LN_OPCK_LT] = {"<", 1, 0, 0, 0},
    [LN_OPCK_LE] = {"<=", 1, 1, 0, 0}, [LN_OPCK_NE] = {"!=", 1, 0, 1, 1},
};

static int holds(double a, ln_opck_cmp cmp, double b)
{
    if (a < b)
        return cmps[cmp].less;
    if (a > b)
        return cmps[cmp].greater;
    return a == b ? cmps[cmp].equal : cmps[cmp].unordered;
}

// Messages omit "== " before a single expected value.
static const char *single_symbol(ln_opck_cmp cmp)
{
    return cmp == LN_OPCK_EQ ? "" : cmps[cmp].symbol;
}

static const char *single_space(ln_opck_cmp cmp)
{
    return cmp == LN_OPCK_EQ ? "" : " ";
}

// Texts

#define NUMBER_SIZE 32

// Whole numbers in full, others with the nine digits that distinguish floats.
static char *number_text(char *buf, double number)
{
    const int whole = fabs(number) < 1e15 && number == floor(number);
    snprintf(buf, NUMBER_SIZE, whole ? "%.0f" : "%.9g", number);
    return buf;
}

#define NUMBERS_SIZE 256

// "[1, 2]", truncated to "[1, 2, ..]" if it is too long.
static char *numbers_text(char *buf, const ln_param_entry *entry)
{
    const size_t room = NUMBERS_SIZE - NUMBER_SIZE - sizeof ", ..]";
    size_t used = (size_t)snprintf(buf, NUMBERS_SIZE, "[");
    int i = 0;
    for (; i < entry->array_len && used < room; i++) {
        char number[NUMBER_SIZE];
        used += (size_t)snprintf(buf + used, NUMBERS_SIZE - used, i ? ", %s" : "%s",
                                 number_text(number, entry->value_array_double[i]));
    }
    snprintf(buf + used, NUMBERS_SIZE - used, i < entry->array_len ? ", ..]" : "]");
    return buf;
}

static char *shape_text(char *buf, const ln_tensor_entry *entry)
{
    return ln_sprint_shape(buf, LN_MAX_SHAPE, entry->tensor->ndim, entry->tensor->dims);
}

static const char *known(const char *name)
{
    return name ? name : "invalid";
}

// The role (arg_name) of tensor `name` in the operator, or the name itself if it has none.
static const char *role_of(const ln_op_arg *op_arg, const char *name)
{
    const ln_tensor_list_entry *tle = ln_tensor_list_find_by_name(op_arg->tensors_in, name);
    if (!tle)
        tle = ln_tensor_list_find_by_name(op_arg->tensors_out, name);
    return tle ? tle->arg_name : name;
}

// Arguments

int ln_opck_exist(ln_op_arg *op_arg, const void *entry, const char *kind, const char *arg_name)
{
    return entry ? 0 : ln_op_fail(op_arg, "%s '%s' is missing", kind, arg_name);
}

int ln_opck_list_len(ln_op_arg *op_arg, const char *kind, int len, ln_opck_cmp cmp, int expect)
{
    if (holds(len, cmp, expect))
        return 0;
    return ln_op_fail(op_arg, "the number of %ss is %d, expected %s%s%d", kind, len,
                      single_symbol(cmp), single_space(cmp), expect);
}

// Parameters

int ln_opck_type(ln_op_arg *op_arg, const ln_param_entry *entry, ln_param_type type)
{
    if (entry->type == type)
        return 0;
    return ln_op_fail(op_arg, "parameter '%s' is %s, expected %s", entry->arg_name,
                      ln_param_type_text(entry->type), ln_param_type_text(type));
}

static int fail_not_int(ln_op_arg *op_arg, const ln_param_entry *entry, const char *value)
{
    return ln_op_fail(op_arg, "parameter '%s' is %s, expected integers from %d to %d",
                      entry->arg_name, value, INT_MIN, INT_MAX);
}

// A number in a view, to compare: with the float view, 0.1 is equal to 0.1f.
static double viewed(double number, ln_opck_view view)
{
    return view == LN_OPCK_FLOAT && fabs(number) <= FLT_MAX ? (float)number : number;
}

int ln_opck_number(ln_op_arg *op_arg, const ln_param_entry *entry, ln_opck_view view,
                   ln_opck_cmp cmp, double expect)
{
    if (ln_opck_type(op_arg, entry, LN_PARAM_NUMBER))
        return -1;
    char value[NUMBER_SIZE], bound[NUMBER_SIZE];
    if (view == LN_OPCK_INT && !ln_param_is_integral(entry, 0))
        return fail_not_int(op_arg, entry, number_text(value, entry->value_double));
    if (holds(viewed(entry->value_double, view), cmp, viewed(expect, view)))
        return 0;
    return ln_op_fail(op_arg, "parameter '%s' is %s, expected %s%s%s", entry->arg_name,
                      number_text(value, entry->value_double), single_symbol(cmp),
                      single_space(cmp), number_text(bound, expect));
}

int ln_opck_array_number(ln_op_arg *op_arg, const ln_param_entry *entry, ln_opck_view view,
                         ln_opck_cmp cmp, double expect)
{
    if (ln_opck_type(op_arg, entry, LN_PARAM_ARRAY_NUMBER))
        return -1;
    char values[NUMBERS_SIZE], bound[NUMBER_SIZE];
    for (int i = 0; i < entry->array_len; i++) {
        if (view == LN_OPCK_INT && !ln_param_is_integral(entry, i))
            return fail_not_int(op_arg, entry, numbers_text(values, entry));
        if (!holds(viewed(entry->value_array_double[i], view), cmp, viewed(expect, view)))
            return ln_op_fail(op_arg, "parameter '%s' is %s, expected every element %s %s",
                              entry->arg_name, numbers_text(values, entry), cmps[cmp].symbol,
                              number_text(bound, expect));
    }
    return 0;
}

int ln_opck_array_len(ln_op_arg *op_arg, const ln_param_entry *entry, ln_opck_cmp cmp, int expect)
{
    if (entry->type < LN_PARAM_ARRAY_STRING || entry->type > LN_PARAM_ARRAY_BOOL)
        return ln_op_fail(op_arg, "parameter '%s' is %s, expected an array", entry->arg_name,
                          ln_param_type_text(entry->type));
    if (holds(entry->array_len, cmp, expect))
        return 0;
    return ln_op_fail(op_arg, "parameter '%s' has length %d, expected %s%s%d", entry->arg_name,
                      entry->array_len, single_symbol(cmp), single_space(cmp), expect);
}

// Tensors

int ln_opck_defined(ln_op_arg *op_arg, const ln_tensor_entry *entry, const char *name, int expect)
{
    if (!entry && expect)
        return ln_op_fail(op_arg, "'%s' is tensor '%s', expected one that is defined before",
                          role_of(op_arg, name), name);
    if (entry && !expect)
        return ln_op_fail(op_arg, "'%s' is tensor '%s', which operator '%s' defines already",
                          role_of(op_arg, name), name, entry->creater ? entry->creater : "");
    return 0;
}

int ln_opck_ndim(ln_op_arg *op_arg, const ln_tensor_entry *entry, int expect)
{
    if (entry->tensor->ndim == expect)
        return 0;
    char shape[LN_MAX_SHAPE];
    return ln_op_fail(op_arg, "'%s' has shape %s, expected %d dimension%s",
                      role_of(op_arg, entry->name), shape_text(shape, entry), expect,
                      expect == 1 ? "" : "s");
}

int ln_opck_len(ln_op_arg *op_arg, const ln_tensor_entry *entry, int expect)
{
    if (entry->tensor->len == expect)
        return 0;
    char shape[LN_MAX_SHAPE];
    return ln_op_fail(op_arg, "'%s' has shape %s, expected %d element%s",
                      role_of(op_arg, entry->name), shape_text(shape, entry), expect,
                      expect == 1 ? "" : "s");
}

int ln_opck_same_shape(ln_op_arg *op_arg, const ln_tensor_entry *entry,
                       const ln_tensor_entry *other)
{
    if (tl_tensor_issameshape(entry->tensor, other->tensor))
        return 0;
    char shape[LN_MAX_SHAPE], expect[LN_MAX_SHAPE];
    return ln_op_fail(op_arg, "'%s' has shape %s, expected the shape of '%s', %s",
                      role_of(op_arg, entry->name), shape_text(shape, entry),
                      role_of(op_arg, other->name), shape_text(expect, other));
}

int ln_opck_same_type(ln_op_arg *op_arg, const ln_tensor_entry *entry, const ln_tensor_entry *other)
{
    if (entry->tensor->dtype == other->tensor->dtype)
        return 0;
    return ln_op_fail(op_arg, "'%s' has type %s, expected the type of '%s', %s",
                      role_of(op_arg, entry->name), known(tl_dtype_name(entry->tensor->dtype)),
                      role_of(op_arg, other->name), known(tl_dtype_name(other->tensor->dtype)));
}

int ln_opck_static(ln_op_arg *op_arg, const ln_tensor_entry *entry, int expect)
{
    if (!entry->isstatic == !expect)
        return 0;
    return ln_op_fail(op_arg, "'%s' is %sstatic, expected a tensor that is%s",
                      role_of(op_arg, entry->name), expect ? "not " : "", expect ? "" : " not");
}

int ln_opck_mtype(ln_op_arg *op_arg, const ln_tensor_entry *entry, ln_mem_type expect)
{
    if (entry->mtype == expect)
        return 0;
    return ln_op_fail(op_arg, "'%s' has memory type %s, expected %s", role_of(op_arg, entry->name),
                      known(ln_mem_type_name(entry->mtype)), known(ln_mem_type_name(expect)));
}

int ln_opck_dtypes(ln_op_arg *op_arg, const ln_tensor_entry *entry, uint32_t dtypes)
{
    static const struct {
        uint32_t dtypes;
        const char *name;
    } sets[] = {
        {LN_DTYPES_FLOAT, "a floating-point type"},
        {LN_DTYPES_NUMBER, "a number type"},
        {LN_DTYPES_COMPUTED, "a type to compute with"},
        {LN_DTYPES_TEXT, "a type to compute with or TL_STRING"},
    };
    const tl_dtype dtype = entry->tensor->dtype;
    char names[LN_MAX_NAME_LEN];
    const char *expected = names;
    if (dtypes >> dtype & 1)
        return 0;
    for (int d = 0, len = 0; d < TL_DTYPE_SIZE; d++) {
        if (dtypes >> d & 1)
            len += snprintf(names + len, sizeof(names) - (size_t)len, "%s%s", len ? " or " : "",
                            tl_dtype_name((tl_dtype)d));
    }
    for (size_t i = 0; i < sizeof(sets) / sizeof(*sets); i++) {
        if (sets[i].dtypes == dtypes)
            expected = sets[i].name;
    }
    return ln_op_fail(op_arg, "'%s' has type %s, expected %s", role_of(op_arg, entry->name),
                      known(tl_dtype_name(dtype)), expected);
}

int ln_opck_dtype(ln_op_arg *op_arg, const ln_tensor_entry *entry, tl_dtype expect)
{
    return ln_opck_dtypes(op_arg, entry, LN_DTYPE_BIT(expect));
}
