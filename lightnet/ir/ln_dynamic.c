// SPDX-License-Identifier: Apache-2.0
// Tensors whose sizes are known only at run time.
//
// What is planned for a dynamic tensor is its largest size. Before an operator with dynamic inputs
// runs, its shapes are inferred anew if those of its inputs differ from the last time: its pre_run
// is called in a mode in which ln_op_define_output changes the entries that are there. So every
// check of a description holds for the true shapes, too. The inputs come first in the list, so
// their shapes are the true ones by then. An input that sets a parameter does the same by its
// elements: no operator needs another form for what is known only at run time.

#include "ir/ln_dynamic.h"

#include <string.h>

#include "ir/ln_lifetime.h"
#include "ir/ln_limits.h"
#include "lightnet/ln_context.h"
#include "lightnet/ln_util.h"
#include "tensorlight/tl_type.h"

/* Numbers that hold the shape of one input in op_arg->shapes: ndim, then the dimensions. */
enum { SHAPE_LEN = 1 + LN_MAXDIM, NO_SHAPE = -1 };

/* Beginning and end */

static int has_dynamic_input(const ln_op_arg *op_arg)
{
    const ln_tensor_list_entry *tle;
    LN_LIST_FOREACH(tle, op_arg->tensors_in)
    {
        const ln_tensor_entry *te = ln_tensor_table_find(op_arg->tensor_table, tle->name);
        if (te && te->isdynamic)
            return 1;
    }
    return 0;
}

/* The parameter that the input sets; NULL: none. */
static const char *param_of(const ln_op_arg *op_arg, const ln_tensor_list_entry *tle)
{
    const ln_arg_info *info = op_arg->info ? op_arg->info->tensors_in : NULL;
    for (; info && info->arg_name; info++)
        if (info->sets && ln_streq(info->arg_name, tle->arg_name))
            return info->sets;
    return NULL;
}

static int sets_params(const ln_op_arg *op_arg)
{
    const ln_tensor_list_entry *tle;
    LN_LIST_FOREACH(tle, op_arg->tensors_in)
    {
        if (param_of(op_arg, tle))
            return 1;
    }
    return 0;
}

/* What a run sets is a copy, so that the model and its plan stay what they are. */
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
    for (; info && info->arg_name; info++)
        if (info->dynamic > 0)
            return 1;
    return 0;
}

static void forget_shapes(ln_op_arg *op_arg)
{
    if (op_arg->shapes)
        op_arg->shapes[0] = NO_SHAPE;
}

int ln_dynamic_begin(ln_op *op)
{
    ln_op_arg *op_arg = op->op_arg;
    const int has_setter = sets_params(op_arg);
    op_arg->isdynamic = sets_shapes(op_arg) ? LN_DYNAMIC_OUT : 0;
    if (!has_setter && !has_dynamic_input(op_arg))
        return 0;
    op_arg->isdynamic |= LN_DYNAMIC_IN;
    op_arg->shapes =
        ln_alloc_array((size_t)ln_tensor_list_length(op_arg->tensors_in), sizeof(int) * SHAPE_LEN);
    if (!op_arg->shapes || (has_setter && copy_params(op_arg))) {
        ln_dynamic_end(op);
        return ln_op_fail_last(op_arg);
    }
    forget_shapes(op_arg);
    return 0;
}

static int check_setter(ln_op_arg *op_arg, const char *arg_name, const ln_tensor_entry *te,
                        const ln_param_entry *param)
{
    if (!param || (param->type != LN_PARAM_ARRAY_NUMBER && param->type != LN_PARAM_NUMBER))
        return ln_op_fail(op_arg, "'%s' sets no parameter that is a number or some", arg_name);
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
    const ln_tensor_list_entry *tle;
    ln_op_arg *op_arg = op->op_arg;
    LN_LIST_FOREACH(tle, op_arg->planned ? op_arg->tensors_in : NULL)
    {
        const char *name = param_of(op_arg, tle);
        const ln_tensor_entry *te = ln_tensor_table_find(op_arg->tensor_table, tle->name);
        if (name && !te->isdynamic &&
            check_setter(op_arg, tle->arg_name, te, ln_param_list_find(op_arg->params, name)))
            return -1;
    }
    return 0;
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

/* Running */

static int has_shape(const int *shape, const tl_tensor *tensor)
{
    if (shape[0] != tensor->ndim)
        return 0;
    for (int i = 0; i < tensor->ndim; i++)
        if (shape[1 + i] != tensor->dims[i])
            return 0;
    return 1;
}

static void set_shape(int *shape, const tl_tensor *tensor)
{
    shape[0] = tensor->ndim;
    for (int i = 0; i < tensor->ndim; i++)
        shape[1 + i] = tensor->dims[i];
}

// Notes the shapes of the inputs. Returns 1 when one differs from what was noted before.
static int note_shapes(ln_op_arg *op_arg)
{
    const ln_tensor_list_entry *tle;
    int *shape = op_arg->shapes;
    int changed = 0;
    LN_LIST_FOREACH(tle, op_arg->tensors_in)
    {
        const tl_tensor *tensor = ln_tensor_table_find(op_arg->tensor_table, tle->name)->tensor;
        changed |= !has_shape(shape, tensor);
        set_shape(shape, tensor);
        shape += SHAPE_LEN;
    }
    return changed;
}

/* Element `i` of a tensor of integers as an int: the nearest one. */
static int int_at(const ln_tensor_entry *te, int i)
{
    const size_t size = tl_size_of(te->tensor->dtype);
    char element[TL_DTYPE_MAX_SIZE];
    int value;
    ln_mem_type_copy_func(LN_MEM_CPU, te->mtype)(
        element, (const char *)te->tensor->data + (size_t)i * size, size);
    tl_convert(&value, TL_INT32, element, te->tensor->dtype);
    return value;
}

/* Sets a number, or number `i` of an array, in all its views. Returns 1 when it was another. */
static int set_number(ln_param_entry *param, int i, int value)
{
    const int is_array = param->type == LN_PARAM_ARRAY_NUMBER;
    int *as_int = is_array ? &param->value_array_int[i] : &param->value_int;
    const int changed = *as_int != value;
    *as_int = value;
    *(is_array ? &param->value_array_float[i] : &param->value_float) = (float)value;
    *(is_array ? &param->value_array_double[i] : &param->value_double) = value;
    return changed;
}

// Sets the parameters that inputs decide. Returns 1 when one has changed, 0 when not, -1 after
// ln_op_fail.
static int read_params(ln_op_arg *op_arg)
{
    const ln_tensor_list_entry *tle;
    int changed = 0;
    LN_LIST_FOREACH(tle, op_arg->planned ? op_arg->tensors_in : NULL)
    {
        const char *name = param_of(op_arg, tle);
        const ln_tensor_entry *te = ln_tensor_table_find(op_arg->tensor_table, tle->name);
        ln_param_entry *param = name ? ln_param_list_find(op_arg->params, name) : NULL;
        if (!name)
            continue;
        if (check_setter(op_arg, tle->arg_name, te, param))
            return -1;
        for (int i = 0; i < te->tensor->len; i++)
            changed |= set_number(param, i, int_at(te, i));
    }
    return changed;
}

// Scratch memory stays as it is planned, for the largest shapes: kernels do with less, or say so.
static int infer_shapes(ln_op *op)
{
    ln_op_arg *op_arg = op->op_arg;
    const size_t planned = op_arg->scratch_size;
    op_arg->infers = 1;
    if (op->post_run)
        op->post_run(op_arg);
    int status = ln_op_call(op, op->pre_run);
    op_arg->infers = 0;
    op_arg->scratch_size = planned;
    return status || ln_op_call(op, op->static_run) ? -1 : 0;
}

// `run` finds its dynamic outputs as large as they can become.
static void set_bounds(const ln_op_arg *op_arg)
{
    const ln_tensor_list_entry *tle;
    LN_LIST_FOREACH(tle, op_arg->tensors_out)
    {
        ln_tensor_entry *te = ln_tensor_table_find(op_arg->tensor_table, tle->name);
        for (int i = 0; te->isdynamic && i < te->tensor->ndim; i++)
            te->tensor->dims[i] = te->bound[i];
        te->tensor->len = tl_compute_length(te->tensor->ndim, te->tensor->dims);
    }
}

// Where a view lies in its owner may depend on the owner's shape; the planned offsets are those for
// the largest one, and stay.
static void place_views(const ln_op_arg *op_arg)
{
    const ln_tensor_list_entry *tle;
    LN_LIST_FOREACH(tle, op_arg->tensors_out)
    {
        ln_tensor_entry *te = ln_tensor_table_find(op_arg->tensor_table, tle->name);
        const ln_tensor_entry *owner = ln_tensor_table_find(op_arg->tensor_table, te->owner);
        if (owner)
            te->tensor->data = (char *)owner->tensor->data +
                               (ln_lifetime_view_offset(op_arg->ctx, te) - owner->offset);
    }
}

static int prepare(ln_op *op)
{
    ln_op_arg *op_arg = op->op_arg;
    const int changed = read_params(op_arg);
    if (changed < 0 || (op_arg->shapes && (note_shapes(op_arg) | changed) && infer_shapes(op))) {
        forget_shapes(op_arg);
        return -1;
    }
    if (op_arg->isdynamic & LN_DYNAMIC_OUT)
        set_bounds(op_arg);
    place_views(op_arg);
    return 0;
}

int ln_dynamic_run(ln_op *op)
{
    if (op->op_arg->isdynamic && prepare(op))
        return -1;
    const int status = ln_op_call(op, op->run);
    if (!ln_limits_check_op(op->op_arg))
        return status;
    forget_shapes(op->op_arg); // what was prepared for them may be unfinished
    return -1;
}
