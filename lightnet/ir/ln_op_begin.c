// SPDX-License-Identifier: Apache-2.0
// The beginning of a generated pre_run, which checks arguments by the tables of the description,
// and the end of a post_run.

#include <limits.h>
#include <string.h>

#include "lightnet/ln_genop.h"

// Stores a value in the private data of the operator, at offset info->at - 1; `at` 0: nowhere.
static void store(const ln_op_arg *op_arg, const ln_arg_info *info, const void *value, size_t size)
{
    if (info->at)
        memcpy((char *)op_arg->priv + info->at - 1, value, size);
}

// Inputs

// An absent input is optional: ln_op_check_args has checked that.
static int begin_input(ln_op_arg *op_arg, const ln_arg_info *info)
{
    const char *name = ln_tensor_list_find_name(op_arg->tensors_in, info->arg_name);
    if (!name)
        return 0;
    const ln_tensor_entry *entry = ln_op_find_input(op_arg, info->arg_name);
    if (ln_opck_defined(op_arg, entry, name, 1))
        return -1;
    store(op_arg, info, &entry->tensor, sizeof(entry->tensor));
    if (op_arg->mtype != LN_MEM_NONE && !info->anywhere &&
        ln_opck_mtype(op_arg, entry, op_arg->mtype))
        return -1;
    if (info->dtypes && ln_opck_dtypes(op_arg, entry, info->dtypes))
        return -1;
    if (info->ndim && ln_opck_ndim(op_arg, entry, info->ndim))
        return -1;
    return info->isstatic ? ln_opck_static(op_arg, entry, 1) : 0;
}

// Compares type and shape with those of another input, if both are present.
static int compare_input(ln_op_arg *op_arg, const ln_arg_info *info)
{
    const char *const same_shape = info->is_setter ? NULL : info->same_shape;
    if (!info->same_type && !same_shape)
        return 0;
    const ln_tensor_entry *entry = ln_op_find_input(op_arg, info->arg_name);
    const ln_tensor_entry *type =
        info->same_type ? ln_op_find_input(op_arg, info->same_type) : NULL;
    const ln_tensor_entry *shape = same_shape ? ln_op_find_input(op_arg, same_shape) : NULL;
    if (entry && type && ln_opck_same_type(op_arg, entry, type))
        return -1;
    return entry && shape ? ln_opck_same_shape(op_arg, entry, shape) : 0;
}

static int begin_inputs(ln_op_arg *op_arg, const ln_arg_info *infos)
{
    for (const ln_arg_info *info = infos; info; info = ln_arg_info_next(info)) {
        if (!info->variadic && begin_input(op_arg, info))
            return -1;
    }
    for (const ln_arg_info *info = infos; info; info = ln_arg_info_next(info)) {
        if (!info->variadic && compare_input(op_arg, info))
            return -1;
    }
    return 0;
}

// Parameters

// Whether the operator needs the default: it has no such parameter, or an empty string or array
// (ln_param_list_append_empty), which is removed unless the default is empty, too.
static int needs_default(ln_op_arg *op_arg, const ln_arg_info *info, ln_param_type type)
{
    ln_param_entry *entry = ln_param_list_find(op_arg->params, info->arg_name);
    if (!entry || entry->type != type)
        return !entry;
    const int is_empty = type >= LN_PARAM_ARRAY_STRING
                             ? entry->array_len == 0 && info->n_default > 0
                             : type == LN_PARAM_STRING && !entry->value_string;
    if (!is_empty)
        return 0;
    op_arg->params = ln_list_remove(op_arg->params, entry);
    ln_param_entry_free(entry);
    return 1;
}

static ln_list *append_bools(ln_list *params, const ln_arg_info *info)
{
    ln_bool *values = ln_alloc_array(info->n_default, sizeof(*values));
    if (!values)
        return NULL;
    for (int i = 0; i < info->n_default; i++)
        values[i] = info->numbers[i] != 0 ? LN_TRUE : LN_FALSE;
    ln_list *longer =
        ln_param_list_append_array_bool(params, info->arg_name, info->n_default, values);
    ln_free(values);
    return longer;
}

static ln_list *append_default(ln_list *params, const ln_arg_info *info, ln_param_type type)
{
    switch (type) {
    case LN_PARAM_NUMBER:
        return ln_param_list_append_number(params, info->arg_name, info->numbers[0]);
    case LN_PARAM_BOOL:
        return ln_param_list_append_bool(params, info->arg_name,
                                         info->numbers[0] != 0 ? LN_TRUE : LN_FALSE);
    case LN_PARAM_STRING:
        return ln_param_list_append_string(params, info->arg_name, info->strings[0]);
    case LN_PARAM_ARRAY_NUMBER:
        return ln_param_list_append_array_number(params, info->arg_name, info->n_default,
                                                 info->numbers);
    case LN_PARAM_ARRAY_STRING:
        return ln_param_list_append_array_string(params, info->arg_name, info->n_default,
                                                 info->strings);
    default:
        return append_bools(params, info);
    }
}

// Adds a missing parameter with its default, so that checks, rewrites and a printed model include
// the value.
static int add_default(ln_op_arg *op_arg, const ln_arg_info *info, ln_param_type type)
{
    if (!info->has_default || !needs_default(op_arg, info, type))
        return 0;
    ln_list *longer = append_default(op_arg->params, info, type);
    if (!longer)
        return ln_op_fail_last(op_arg);
    op_arg->params = longer;
    return 0;
}

static int check_number(ln_op_arg *op_arg, const ln_param_entry *entry, ln_opck_view view,
                        ln_opck_cmp cmp, double value)
{
    return entry->type >= LN_PARAM_ARRAY_STRING
               ? ln_opck_array_number(op_arg, entry, view, cmp, value)
               : ln_opck_number(op_arg, entry, view, cmp, value);
}

// Checks the bounds, and that a number with the int view is an int.
static int check_bounds(ln_op_arg *op_arg, const ln_arg_info *info, const ln_param_entry *entry)
{
    const int is_number = entry->type == LN_PARAM_NUMBER || entry->type == LN_PARAM_ARRAY_NUMBER;
    int is_bounded = 0;
    for (const ln_bound *b = info->bounds; b && b->what; b++) {
        const int is_length = b->what == LN_BOUND_LENGTH;
        if (is_length ? ln_opck_array_len(op_arg, entry, b->cmp, (int)b->value)
                      : check_number(op_arg, entry, info->view, b->cmp, b->value))
            return -1;
        is_bounded |= !is_length;
    }
    if (is_number && info->view == LN_OPCK_INT && !is_bounded)
        return check_number(op_arg, entry, LN_OPCK_INT, LN_OPCK_GE, INT_MIN);
    return 0;
}

static void store_number(const ln_op_arg *op_arg, const ln_arg_info *info,
                         const ln_param_entry *entry)
{
    switch (info->view) {
    case LN_OPCK_INT:
        store(op_arg, info, &entry->value_int, sizeof(entry->value_int));
        break;
    case LN_OPCK_FLOAT:
        store(op_arg, info, &entry->value_float, sizeof(entry->value_float));
        break;
    case LN_OPCK_DOUBLE:
        store(op_arg, info, &entry->value_double, sizeof(entry->value_double));
        break;
    }
}

static void store_value(const ln_op_arg *op_arg, const ln_arg_info *info,
                        const ln_param_entry *entry)
{
    const void *array;
    switch (entry->type) {
    case LN_PARAM_NUMBER:
        store_number(op_arg, info, entry);
        break;
    case LN_PARAM_BOOL:
        store(op_arg, info, &entry->value_bool, sizeof(entry->value_bool));
        break;
    case LN_PARAM_STRING:
        store(op_arg, info, &entry->value_string, sizeof(entry->value_string));
        break;
    case LN_PARAM_ARRAY_NUMBER:
        array = info->view == LN_OPCK_INT     ? (const void *)entry->value_array_int
                : info->view == LN_OPCK_FLOAT ? (const void *)entry->value_array_float
                                              : (const void *)entry->value_array_double;
        store(op_arg, info, &array, sizeof(array));
        break;
    case LN_PARAM_ARRAY_STRING:
        store(op_arg, info, &entry->value_array_string, sizeof(entry->value_array_string));
        break;
    case LN_PARAM_ARRAY_BOOL:
        store(op_arg, info, &entry->value_array_bool, sizeof(entry->value_array_bool));
        break;
    default:
        break;
    }
}

// When shapes are inferred again, parameters are new only if inputs set them.
static int begin_param(ln_op_arg *op_arg, const ln_arg_info *info, ln_param_type type)
{
    const int is_checked = op_arg->infers && !op_arg->planned;
    if (!is_checked && add_default(op_arg, info, type))
        return -1;
    const ln_param_entry *entry = ln_param_list_find(op_arg->params, info->arg_name);
    if (!is_checked && (ln_opck_type(op_arg, entry, type) || check_bounds(op_arg, info, entry)))
        return -1;
    store_value(op_arg, info, entry);
    return 0;
}

int ln_op_begin(ln_op_arg *op_arg, size_t size)
{
    const ln_op_info *info = op_arg->info;
    // Names do not change with shapes.
    if (!op_arg->infers && ln_op_check_args(op_arg))
        return -1;
    if (size) {
        op_arg->priv = ln_alloc(size);
        if (!op_arg->priv)
            return ln_op_fail_last(op_arg);
    }
    if (begin_inputs(op_arg, info->tensors_in))
        return -1;
    const ln_param_type *type = op_arg->param_ptypes;
    for (const ln_arg_info *param = info->params; param; param = ln_arg_info_next(param), type++)
        if (begin_param(op_arg, param, *type))
            return -1;
    return 0;
}

void ln_op_end(ln_op_arg *op_arg)
{
    ln_op_undefine_outputs(op_arg);
    ln_free(op_arg->priv);
    op_arg->priv = NULL;
    op_arg->algorithm = NULL; // it may have been in what post_run has freed
}
