// SPDX-License-Identifier: Apache-2.0
// Reading an operator: its type, tensors and parameters.

#include "lightnet/ln_op.h"

#include <string.h>

int ln_op_is(const ln_op *op, const char *optype)
{
    return op && strcmp(op->op_arg->optype, optype) == 0;
}

const ln_tensor_entry *ln_op_input(const ln_op *op, const char *arg_name)
{
    return op ? ln_op_find_input(op->op_arg, arg_name) : NULL;
}

static int bind(const ln_tensor_entry *found, const ln_tensor_entry **te)
{
    if (!found || (*te && *te != found))
        return 0;
    *te = found;
    return 1;
}

int ln_op_reads(const ln_op *op, const char *arg_name, const ln_tensor_entry **te)
{
    return bind(ln_op_input(op, arg_name), te);
}

int ln_op_makes(const ln_op *op, const char *arg_name, const ln_tensor_entry **te)
{
    return bind(ln_op_output(op, arg_name), te);
}

// Parameters

const ln_param_entry *ln_op_param(const ln_op *op, const char *arg_name)
{
    return op ? ln_param_list_find(op->op_arg->params, arg_name) : NULL;
}

// The parameter if it exists with this type, or NULL.
static const ln_param_entry *find_param(const ln_op *op, const char *arg_name, ln_param_type type)
{
    const ln_param_entry *pe = ln_op_param(op, arg_name);
    return pe && pe->type == type ? pe : NULL;
}

int ln_op_has_bool(const ln_op *op, const char *arg_name, ln_bool value)
{
    const ln_param_entry *pe = find_param(op, arg_name, LN_PARAM_BOOL);
    return pe && pe->value_bool == value;
}

int ln_op_has_number(const ln_op *op, const char *arg_name, double value)
{
    const ln_param_entry *pe = find_param(op, arg_name, LN_PARAM_NUMBER);
    return pe && pe->value_double == value;
}

int ln_op_has_string(const ln_op *op, const char *arg_name, const char *value)
{
    const ln_param_entry *pe = find_param(op, arg_name, LN_PARAM_STRING);
    return pe && ln_streq(pe->value_string, value);
}

int ln_op_has_bools(const ln_op *op, const char *arg_name, int len, const ln_bool *values)
{
    const ln_param_entry *pe = find_param(op, arg_name, LN_PARAM_ARRAY_BOOL);
    int same = pe && pe->array_len == len;
    for (int i = 0; same && i < len; i++)
        same = pe->value_array_bool[i] == values[i];
    return same;
}

int ln_op_has_numbers(const ln_op *op, const char *arg_name, int len, const double *values)
{
    const ln_param_entry *pe = find_param(op, arg_name, LN_PARAM_ARRAY_NUMBER);
    int same = pe && pe->array_len == len;
    for (int i = 0; same && i < len; i++)
        same = pe->value_array_double[i] == values[i];
    return same;
}

int ln_op_has_strings(const ln_op *op, const char *arg_name, int len, const char *const *values)
{
    const ln_param_entry *pe = find_param(op, arg_name, LN_PARAM_ARRAY_STRING);
    int same = pe && pe->array_len == len;
    for (int i = 0; same && i < len; i++)
        same = ln_streq(pe->value_array_string[i], values[i]);
    return same;
}

int ln_op_same_param(const ln_op *op, const char *arg_name, const ln_op *op2, const char *arg_name2)
{
    const ln_param_entry *pe = ln_op_param(op, arg_name);
    const ln_param_entry *pe2 = ln_op_param(op2, arg_name2);
    return pe && pe2 && ln_param_entry_equal(pe, pe2);
}

double ln_op_number(const ln_op *op, const char *arg_name)
{
    const ln_param_entry *pe = find_param(op, arg_name, LN_PARAM_NUMBER);
    return pe ? pe->value_double : 0;
}

int ln_op_int(const ln_op *op, const char *arg_name)
{
    const ln_param_entry *pe = find_param(op, arg_name, LN_PARAM_NUMBER);
    return pe ? pe->value_int : 0;
}

const int *ln_op_ints(const ln_op *op, const char *arg_name, int *len)
{
    const ln_param_entry *pe = find_param(op, arg_name, LN_PARAM_ARRAY_NUMBER);
    if (len)
        *len = pe ? pe->array_len : 0;
    return pe ? pe->value_array_int : NULL;
}

const char *ln_op_string(const ln_op *op, const char *arg_name)
{
    const ln_param_entry *pe = find_param(op, arg_name, LN_PARAM_STRING);
    return pe && pe->value_string ? pe->value_string : "";
}
