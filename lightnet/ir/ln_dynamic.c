// SPDX-License-Identifier: Apache-2.0
// Tensors whose sizes are known only at run time.
//
// What is planned for a dynamic tensor is its largest size. Before an operator with dynamic inputs
// runs, its shapes are inferred anew if those of its inputs differ from the last time: its pre_run
// is called in a mode in which ln_op_define_output changes the entries that are there. So every
// check of a description holds for the true shapes, too. The inputs come first in the list, so
// their shapes are the true ones by then.

#include "ir/ln_dynamic.h"

#include <string.h>

#include "ir/ln_lifetime.h"
#include "lightnet/ln_context.h"
#include "lightnet/ln_util.h"

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
    op_arg->isdynamic = sets_shapes(op_arg) ? LN_DYNAMIC_OUT : 0;
    if (!has_dynamic_input(op_arg))
        return 0;
    op_arg->isdynamic |= LN_DYNAMIC_IN;
    op_arg->shapes =
        ln_alloc_array((size_t)ln_tensor_list_length(op_arg->tensors_in), sizeof(int) * SHAPE_LEN);
    if (!op_arg->shapes)
        return ln_op_fail_last(op_arg);
    forget_shapes(op_arg);
    return 0;
}

void ln_dynamic_end(ln_op *op)
{
    ln_free(op->op_arg->shapes);
    op->op_arg->shapes = NULL;
    op->op_arg->isdynamic = 0;
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

// Scratch memory stays as it is planned.
static int infer_shapes(ln_op *op)
{
    ln_op_arg *op_arg = op->op_arg;
    const size_t planned = op_arg->scratch_size;
    op_arg->infers = 1;
    if (op->post_run)
        op->post_run(op_arg);
    int status = ln_op_call(op, op->pre_run);
    op_arg->infers = 0;
    if (!status && op_arg->scratch_size > planned)
        status = ln_op_fail(op_arg,
                            "needs %zu bytes of scratch memory for the shapes at run time; only "
                            "%zu are planned",
                            op_arg->scratch_size, planned);
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
    if (op_arg->shapes && note_shapes(op_arg) && infer_shapes(op)) {
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
    return ln_op_call(op, op->run);
}
