// SPDX-License-Identifier: Apache-2.0
// Checks the operators of a context again after a parameter changed, also in a loaded context.

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "ir/ln_context_ops.h"
#include "ir/ln_fixed.h"
#include "ir/ln_limits.h"
#include "ir/ln_param_type.h"
#include "lightnet/ln_util.h"
#include "plan/ln_plan.h"
#include "run/ln_load.h"
#include "run/ln_update.h"

// The properties of a tensor that must not change once its memory is planned. Excludes dimensions
// of a dynamic tensor, which are those of the last run.
typedef struct shape {
    int ndim;
    int dims[LN_MAXDIM];
    tl_dtype dtype;
    size_t size;
} shape;

static shape shape_of(const ln_tensor_entry *te)
{
    const tl_tensor *tensor = te->tensor;
    shape s;
    memset(&s, 0, sizeof(s));
    s.ndim = tensor->ndim;
    s.dtype = tensor->dtype;
    s.size = ln_tensor_entry_capacity(te);
    for (int i = 0; i < s.ndim && i < LN_MAXDIM && !te->isdynamic; i++)
        s.dims[i] = tensor->dims[i];
    return s;
}

// Calls `visit` with each tensor and its element of an array of shapes, up to the first failure.
static int visit_shapes(const ln_context *ctx, shape *shapes,
                        int (*visit)(const ln_context *, const ln_tensor_entry *, shape *))
{
    LN_FOREACH (const ln_op *, op, ctx->ops) {
        ln_tensor_entry *te;
        LN_OUTPUTS_FOREACH (te, op->op_arg)
            if (visit(ctx, te, shapes++))
                return -1;
    }
    return 0;
}

static int note_shape(const ln_context *ctx, const ln_tensor_entry *te, shape *before)
{
    (void)ctx;
    *before = shape_of(te);
    return 0;
}

static int compare_shape(const ln_context *ctx, const ln_tensor_entry *te, shape *before)
{
    const shape now = shape_of(te);
    if (!memcmp(&now, before, sizeof(now)))
        return 0;
    char was[LN_MAX_SHAPE], is[LN_MAX_SHAPE];
    ln_sprint_shape(was, sizeof(was), before->ndim, before->dims);
    ln_sprint_shape(is, sizeof(is), now.ndim, now.dims);
    if (te->isdynamic)
        return ln_fail(ctx,
                       "tensor '%s' would need up to %zu bytes of %s, but the model is compiled "
                       "with %zu of %s",
                       te->name, now.size, tl_dtype_name(now.dtype), before->size,
                       tl_dtype_name(before->dtype));
    return ln_fail(ctx, "tensor '%s' would become %s %s, but the model is compiled with %s %s",
                   te->name, tl_dtype_name(now.dtype), is, tl_dtype_name(before->dtype), was);
}

// Checks all operators again; a compiled model must keep its shapes and its plan.
static int check_anew(ln_context *ctx)
{
    if (!ctx->target)
        return ln_context_recheck(ctx);
    shape *shapes = ln_alloc_array((size_t)ln_hash_size(ctx->tensor_table), sizeof(*shapes));
    if (!shapes)
        return ln_fail_last(ctx);
    visit_shapes(ctx, shapes, note_shape);
    const int status = -(ln_context_recheck(ctx) || visit_shapes(ctx, shapes, compare_shape) ||
                         ln_context_check_plan(ctx));
    ln_free(shapes);
    return status;
}

// Checks the operators of a context again, with the former parameters.
static int check_unchanged(ln_context *ctx)
{
    return -(ln_context_recheck(ctx) || (ctx->target && ln_context_check_plan(ctx)));
}

// After all operators were checked again with this status, which replaced the tensor entries: sets
// their addresses, finds the steps, and lets the next run prepare all operators. Status not 0, or
// no memory: empties the context.
static int bind_again(ln_context *ctx, int status)
{
    if (status || (ln_context_is_loaded(ctx) && ln_steps_find(ctx))) {
        ln_context_cleanup(ctx);
        return -1;
    }
    ln_memory_bind(ctx);
    if (ln_context_is_loaded(ctx))
        ctx->stale |= LN_STALE_ALL;
    return 0;
}

int ln_context_rebind(ln_context *ctx)
{
    if (!ln_context_is_loaded(ctx))
        return ln_context_recheck(ctx);
    ln_context_clear_error(ctx);
    ln_update_forget(ctx);
    return bind_again(ctx, check_unchanged(ctx));
}

// Sets a parameter and checks the operators; on failure, restores the old value.
static int apply_param(ln_context *ctx, ln_param_entry *entry, va_list ap)
{
    ln_param_entry *old = ln_param_entry_copy(entry);
    if (!old)
        return ln_fail_last(ctx);
    if (ln_param_vset(entry, ap) < 0) {
        ln_param_entry_free(old);
        return ln_fail_last(ctx);
    }
    ln_update_forget(ctx);
    const int status = -(check_anew(ctx) || ln_fixed_check_params(ctx));
    if (status)
        ln_param_entry_exchange(entry, old);
    ln_param_entry_free(old);
    return bind_again(ctx, status ? check_unchanged(ctx) : 0) ? -1 : status;
}

// Compiling replaces operators by others, whose parameters have other names.
static int fail_no_param(const ln_context *ctx, const ln_op *op, const char *pname)
{
    char known[LN_MAXLINE] = "none";
    size_t len = 0;
    LN_FOREACH (const ln_param_entry *, pe, ln_op_params(op->op_arg))
        if (len < sizeof(known))
            len += (size_t)snprintf(known + len, sizeof(known) - len, "%s%s", len ? ", " : "",
                                    pe->arg_name);
    return ln_fail_as(ctx, LN_NOT_FOUND,
                      "operator '%s' (%s) has no parameter '%s'; its parameters%s: %s",
                      op->op_arg->name, op->op_arg->optype, pname,
                      ctx->target ? " in the compiled program" : "", known);
}

int ln_context_set_param(ln_context *ctx, const char *opname, const char *pname, ...)
{
    ln_context_clear_error(ctx);
    const ln_op *op = ln_op_table_find(ctx->op_table, opname);
    if (!op)
        return ln_fail_as(ctx, LN_NOT_FOUND,
                          ctx->target ? "the compiled program has no operator '%s': if the model "
                                        "has it, set its parameters before compiling"
                                      : "the model has no operator '%s'",
                          opname);
    ln_param_entry *entry = ln_param_list_find(ln_op_params(op->op_arg), pname);
    if (!entry)
        return fail_no_param(ctx, op, pname);
    if (ln_limits_check(ctx))
        return -1;
    va_list ap;
    va_start(ap, pname);
    ln_budget *const before = ln_limits_enter(ctx);
    const int status = ln_limits_leave(ctx, before, apply_param(ctx, entry, ap));
    va_end(ap);
    if (status || !ln_context_is_loaded(ctx))
        return status;
    if (op->op_arg->tensors_in)
        return 0;
    return -(ln_op_call((ln_op *)op, op->static_run) || ln_limits_check_op(op->op_arg));
}
