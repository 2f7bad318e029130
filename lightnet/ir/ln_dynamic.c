// SPDX-License-Identifier: Apache-2.0
// Operators on tensors whose sizes are known only at run time.
//
// Memory is planned for the max size of a dynamic tensor. Before an operator with dynamic inputs
// runs, its shapes are inferred again if those of its inputs differ from the last time: its pre_run
// is called in a mode in which ln_op_define_output changes existing entries. So every check of a
// description applies to the actual shapes, too. Producers come first in the list, so the shapes of
// inputs are up to date by then. What no shape decides, such as names of arguments, is not checked
// again. Shapes are also inferred again if an input that sets a parameter changes: no operator
// needs another variant for run-time values.

#include "ir/ln_dynamic.h"

#include <string.h>

#include "ir/ln_sizes.h"
#include "lightnet/ln_context.h"
#include "lightnet/ln_util.h"
#include "tensorlight/tl_type.h"
#include "tensorlight/tl_util.h"

// Beginning and end

const char *ln_dynamic_param(const ln_op_arg *op_arg, const ln_tensor_list_entry *tle)
{
    const ln_arg_info *info = op_arg->info ? op_arg->info->tensors_in : NULL;
    for (; info; info = ln_arg_info_next(info))
        if (info->is_setter && ln_streq(info->arg_name, tle->arg_name))
            return info->sets;
    return NULL;
}

// Runs set copies of the parameters, so that the model and its plan stay unchanged.
static int copy_params(ln_op_arg *op_arg)
{
    ln_list *copy = ln_param_list_copy(op_arg->params);
    if (op_arg->params && !copy)
        return -1;
    op_arg->planned = op_arg->params;
    op_arg->params = copy;
    return 0;
}

static int sets_shapes(const ln_op_arg *op_arg)
{
    const ln_arg_info *info = op_arg->info ? op_arg->info->tensors_out : NULL;
    for (; info; info = ln_arg_info_next(info))
        if (info->dynamic > 0)
            return 1;
    return 0;
}

void ln_dynamic_forget_shapes(ln_op_arg *op_arg)
{
    if (op_arg->shapes)
        op_arg->shapes[0] = LN_NO_SHAPE;
}

int ln_dynamic_begin(ln_op *op)
{
    ln_op_arg *op_arg = op->op_arg;
    int has_setter = 0, has_dynamic = 0;
    LN_FOREACH (const ln_tensor_list_entry *, tle, op_arg->tensors_in) {
        const ln_tensor_entry *te = ln_entry_of(tle, op_arg->tensor_table);
        has_setter |= ln_dynamic_param(op_arg, tle) != NULL;
        has_dynamic |= te && te->isdynamic;
    }
    op_arg->isdynamic = sets_shapes(op_arg) ? LN_DYNAMIC_OUT : 0;
    if (!has_setter && !has_dynamic)
        return 0;
    op_arg->isdynamic |= LN_DYNAMIC_IN;
    op_arg->shapes = ln_alloc_array((size_t)ln_tensor_list_length(op_arg->tensors_in),
                                    sizeof(int) * LN_SHAPE_LEN);
    if (!op_arg->shapes || (has_setter && copy_params(op_arg))) {
        ln_dynamic_end(op);
        return ln_op_fail_last(op_arg);
    }
    ln_dynamic_forget_shapes(op_arg);
    return 0;
}

int ln_dynamic_check_setter(ln_op_arg *op_arg, const char *arg_name, const ln_tensor_entry *te,
                            const ln_param_entry *param)
{
    if (!param || (param->type != LN_PARAM_ARRAY_NUMBER && param->type != LN_PARAM_NUMBER))
        return ln_op_fail(op_arg,
                          "'%s' sets a parameter that is neither a number nor an array of numbers",
                          arg_name);
    const int wanted = param->type == LN_PARAM_ARRAY_NUMBER ? param->array_len : 1;
    if (te->tensor->dtype != TL_INT64 && te->tensor->dtype != TL_INT32)
        return ln_op_fail(op_arg, "'%s' has type %s, expected TL_INT64 or TL_INT32", arg_name,
                          tl_dtype_name(te->tensor->dtype));
    if (te->tensor->len != wanted)
        return ln_op_fail(op_arg, "'%s' has %d elements, expected %d, as parameter '%s'", arg_name,
                          te->tensor->len, wanted, param->arg_name);
    return 0;
}

int ln_dynamic_check(ln_op *op)
{
    ln_op_arg *op_arg = op->op_arg;
    LN_FOREACH (const ln_tensor_list_entry *, tle, op_arg->planned ? op_arg->tensors_in : NULL) {
        const char *name = ln_dynamic_param(op_arg, tle);
        const ln_tensor_entry *te = ln_entry_of(tle, op_arg->tensor_table);
        if (name && !te->isdynamic &&
            ln_dynamic_check_setter(op_arg, tle->arg_name, te,
                                    ln_param_list_find(op_arg->params, name)))
            return -1;
    }
    return 0;
}

// Shape inference, and its results before any run

void ln_dynamic_note_shape(int *shape, const tl_tensor *tensor)
{
    shape[0] = tensor->ndim;
    for (int i = 0; i < tensor->ndim; i++)
        shape[1 + i] = tensor->dims[i];
}

int ln_dynamic_infer(ln_op *op)
{
    ln_op_arg *op_arg = op->op_arg;
    const size_t planned = op_arg->scratch_size;
    op_arg->infers = 1;
    if (op->post_run)
        op->post_run(op_arg);
    const int status = ln_op_call(op, op->pre_run);
    op_arg->infers = 0;
    op_arg->scratch_size = planned;
    return status;
}

void ln_dynamic_end(ln_op *op)
{
    ln_op_arg *op_arg = op->op_arg;
    ln_free(op_arg->shapes);
    op_arg->shapes = NULL;
    op_arg->isdynamic = 0;
    if (!op_arg->planned)
        return;
    ln_param_list_free(op_arg->params);
    op_arg->params = op_arg->planned;
    op_arg->planned = NULL;
}

static int has_open_axis_after_batch(const ln_op *op, const ln_list *list)
{
    LN_FOREACH (const ln_tensor_list_entry *, tle, list) {
        const ln_tensor_entry *te = ln_entry_of(tle, op->op_arg->tensor_table);
        for (int i = 1; i < te->tensor->ndim; i++)
            if (ln_sizes_is_open(te, i))
                return 1;
    }
    return 0;
}

int ln_op_is_dynamic_beyond_batch(const ln_op *op)
{
    const ln_op_arg *op_arg = op->op_arg;
    return op_arg->planned || (op_arg->isdynamic & LN_DYNAMIC_OUT) ||
           (op_arg->isdynamic && (has_open_axis_after_batch(op, op_arg->tensors_in) ||
                                  has_open_axis_after_batch(op, op_arg->tensors_out)));
}
