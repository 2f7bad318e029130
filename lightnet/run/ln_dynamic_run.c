// SPDX-License-Identifier: Apache-2.0
// Runs operators whose sizes are known only at run time: infers their shapes first.

#include "run/ln_load.h"

#include "ir/ln_context_ops.h"
#include "ir/ln_dynamic.h"
#include "ir/ln_limits.h"
#include "lightnet/ln_context.h"
#include "lightnet/ln_util.h"
#include "plan/ln_lifetime.h"
#include "tensorlight/tl_type.h"

static int has_shape(const int *shape, const tl_tensor *tensor)
{
    if (shape[0] != tensor->ndim)
        return 0;
    for (int i = 0; i < tensor->ndim; i++)
        if (shape[1 + i] != tensor->dims[i])
            return 0;
    return 1;
}

// Records the shapes of the inputs. Returns 1 if one differs from the last recorded ones.
static int note_shapes(ln_op_arg *op_arg)
{
    const ln_tensor_entry *te;
    int *shape = op_arg->shapes;
    int changed = 0;
    LN_INPUTS_FOREACH (te, op_arg) {
        const tl_tensor *tensor = te->tensor;
        changed |= !has_shape(shape, tensor);
        ln_dynamic_note_shape(shape, tensor);
        shape += LN_SHAPE_LEN;
    }
    return changed;
}

// Element `i` of a tensor of integers as an int, saturated.
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

// Sets a number, or element `i` of an array, as int, float and double. Returns 1 if it changed.
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

// Sets the parameters that inputs set. Returns 1 if one has changed, else 0; -1 after ln_op_fail.
static int read_params(ln_op_arg *op_arg)
{
    int changed = 0;
    LN_FOREACH (const ln_tensor_list_entry *, tle, op_arg->planned ? op_arg->tensors_in : NULL) {
        const char *name = ln_dynamic_param(op_arg, tle);
        const ln_tensor_entry *te = ln_entry_of(tle, op_arg->tensor_table);
        ln_param_entry *param = name ? ln_param_list_find(op_arg->params, name) : NULL;
        if (!name)
            continue;
        if (ln_dynamic_check_setter(op_arg, tle->arg_name, te, param))
            return -1;
        for (int i = 0; i < te->tensor->len; i++)
            changed |= set_number(param, i, int_at(te, i));
    }
    return changed;
}

// Resets dynamic outputs, whose sizes `run` sets, to their max shapes.
static void set_bounds(const ln_op_arg *op_arg)
{
    ln_tensor_entry *te;
    LN_OUTPUTS_FOREACH (te, op_arg) {
        for (int i = 0; te->isdynamic && i < te->tensor->ndim; i++)
            te->tensor->dims[i] = te->bound[i];
        te->tensor->len = tl_compute_length(te->tensor->ndim, te->tensor->dims);
    }
}

// The offset of a view in its owner may depend on the owner's shape; the planned offsets are those
// for the largest one, and stay.
static void place_views(const ln_op_arg *op_arg)
{
    ln_tensor_entry *te;
    LN_OUTPUTS_FOREACH (te, op_arg) {
        const ln_tensor_entry *owner = ln_entry_owner(te, op_arg->tensor_table);
        if (owner)
            te->tensor->data = (char *)owner->tensor->data +
                               (ln_lifetime_view_offset(op_arg->ctx, te) - owner->offset);
    }
}

static int prepare(ln_op *op)
{
    ln_op_arg *op_arg = op->op_arg;
    const int changed = read_params(op_arg);
    // `|`, not `||`: always records the shapes.
    const int infers = changed >= 0 && op_arg->shapes && (note_shapes(op_arg) | changed);
    if (changed < 0 || (infers && (ln_dynamic_infer(op) || ln_op_call(op, op->static_run)))) {
        ln_dynamic_forget_shapes(op_arg);
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
    ln_dynamic_forget_shapes(op->op_arg); // preparations for them may be unfinished
    return -1;
}

int ln_dynamic_forget_runs(ln_context *ctx)
{
    LN_FOREACH (const ln_op *, op, ctx->ops)
        if (op->op_arg->isdynamic)
            return ln_context_recheck(ctx);
    return 0;
}
