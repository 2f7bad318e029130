// SPDX-License-Identifier: Apache-2.0
// Checks a plan against the memory limit: names the largest consumer before the allocation.

#include "ir/ln_limits.h"
#include "lightnet/ln_util.h"
#include "run/ln_load.h"

/* The largest consumer of a plan: a tensor, or an operator's scratch memory. */
typedef struct largest {
    const ln_op *op;
    const ln_tensor_entry *te; /* NULL: scratch memory */
    size_t size;
} largest;

static void find_largest_of(const ln_context *ctx, const ln_op *op, largest *l)
{
    const ln_tensor_list_entry *tle;
    if (op->op_arg->scratch_size > l->size)
        *l = (largest){op, NULL, op->op_arg->scratch_size};
    LN_LIST_FOREACH(tle, op->op_arg->tensors_out)
    {
        const ln_tensor_entry *te = ln_entry_of(tle, ctx->tensor_table);
        if (!te->owner && ln_tensor_entry_capacity(te) > l->size)
            *l = (largest){op, te, ln_tensor_entry_capacity(te)};
    }
}

int ln_memory_fail_limit(const ln_context *ctx, size_t total)
{
    largest l = {0};
    const ln_op *op;
    LN_LIST_FOREACH(op, ctx->ops)
    {
        find_largest_of(ctx, op, &l);
    }
    if (!l.op)
        return ln_fail_as(ctx, LN_LIMIT_REACHED,
                          "%zu bytes of memory exceed the limit of %zu bytes", total,
                          ln_limits_memory(ctx));
    return ln_fail_as(
        ctx, LN_LIMIT_REACHED,
        "operator '%s' (%s): %s%s%s takes %zu of the %zu bytes of memory planned, which "
        "exceed the limit of %zu bytes",
        l.op->op_arg->name, l.op->op_arg->optype, l.te ? "tensor '" : "scratch memory",
        l.te ? l.te->name : "", l.te ? "'" : "", l.size, total, ln_limits_memory(ctx));
}

int ln_memory_check_limit(const ln_context *ctx)
{
    size_t total = 0;
    for (int m = LN_MEM_NONE + 1; m < LN_MEM_TYPE_SIZE && total < SIZE_MAX; m++)
        if (ln_size_add(total, ctx->mem_sizes[m], &total))
            total = SIZE_MAX;
    return ln_limits_forbid(ctx, total) ? ln_memory_fail_limit(ctx, total) : 0;
}
