// SPDX-License-Identifier: Apache-2.0
// Where the data of tensors that no other makes comes from.

#include "ir/ln_from_file.h"

#include <string.h>

#include "lightnet/ln_param.h"
#include "lightnet/ln_tensor.h"

// NULL: it makes none.
static const char *first_output(const ln_op *op)
{
    const ln_list *outs = op->op_arg->tensors_out;
    return outs ? ((const ln_tensor_list_entry *)outs->data)->name : NULL;
}

const char *ln_from_file_name(const ln_op *op)
{
    const ln_param_entry *from_file = ln_param_list_find(op->op_arg->params, "from_file");
    if (!from_file || from_file->type != LN_PARAM_BOOL || !from_file->value_bool)
        return NULL;
    return first_output(op);
}

// Whether it is `base`, or what a target makes of it: base_cpu.
static int is_form_of(const char *optype, const char *base)
{
    const size_t len = strlen(base);
    return !strncmp(optype, base, len) && (optype[len] == '\0' || optype[len] == '_');
}

int ln_makes_inputs(const char *optype)
{
    return is_form_of(optype, "create") || is_form_of(optype, "source");
}

int ln_makes_random(const ln_op *op)
{
    const ln_param_entry *range = ln_param_list_find(op->op_arg->params, "ran");
    return range && range->type == LN_PARAM_ARRAY_NUMBER && range->array_len == 2 &&
           (range->value_array_double[0] != 0 || range->value_array_double[1] != 0);
}

const char *ln_empty_source(const ln_op *op)
{
    const ln_param_entry *data = ln_param_list_find(op->op_arg->params, "data");
    return is_form_of(op->op_arg->optype, "source") && (!data || data->array_len == 0)
               ? first_output(op)
               : NULL;
}
