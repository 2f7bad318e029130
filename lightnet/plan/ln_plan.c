// SPDX-License-Identifier: Apache-2.0
// Plans an unloaded context and its bodies, checks plans (from files, or after a parameter was
// set), and counts the costs of a run.

#include "plan/ln_plan.h"

#include <string.h>

#include "ir/ln_bodies.h"
#include "ir/ln_context_ops.h"
#include "ir/ln_limits.h"
#include "lightnet/ln_context.h"
#include "plan/ln_lifetime.h"

int ln_plan(ln_context *ctx)
{
    return -(ln_limits_check(ctx) || ln_context_recheck(ctx) || ln_limits_check(ctx) ||
             ln_plan_memory(ctx) || ln_context_check(ctx));
}

int ln_plan_all(ln_context *ctx)
{
    LN_FOREACH (ln_context *, body, ctx->bodies)
        if (ln_plan(body))
            return ln_fail_at(ctx, "body '%s'", ln_body_name(body));
    return ln_plan(ctx);
}

static int check_range(const ln_context *ctx, const char *what, const char *name, ln_mem_type mtype,
                       size_t offset, size_t size)
{
    size_t end;
    if (mtype == LN_MEM_NONE)
        return ln_fail(ctx, "%s '%s' has no memory type: the model is not compiled", what, name);
    if (offset && !ln_size_add(offset, size, &end) && end <= ctx->mem_sizes[mtype])
        return 0;
    return ln_fail(ctx,
                   "%s '%s' of %zu bytes is planned at offset %zu, outside the %zu bytes of %s",
                   what, name, size, offset, ctx->mem_sizes[mtype], ln_mem_type_name(mtype));
}

static int check_tensor(const ln_context *ctx, const ln_tensor_entry *te)
{
    const size_t element_size = tl_size_of(te->tensor->dtype);
    const ln_tensor_entry *root = ln_tensor_table_root(ctx->tensor_table, te);
    if (ln_body_is_given(ctx, root)) // in memory of the outer program
        return 0;
    if (check_range(ctx, "tensor", te->name, te->mtype, te->offset, ln_tensor_entry_capacity(te)))
        return -1;
    if (te->offset % element_size)
        return ln_fail(ctx,
                       "tensor '%s' is planned at offset %zu, expected a multiple of its element "
                       "size, %zu",
                       te->name, te->offset, element_size);
    return 0;
}

static int check_scratch(const ln_context *ctx, const ln_op_arg *op_arg)
{
    const ln_mem_type mtype = ln_op_scratch_type(op_arg);
    const size_t align = ln_mem_type_info(mtype).align_size;
    if (check_range(ctx, "scratch memory of operator", op_arg->name, mtype, op_arg->scratch_offset,
                    op_arg->scratch_size))
        return -1;
    if (op_arg->scratch_offset % align)
        return ln_fail(ctx,
                       "scratch memory of operator '%s' is planned at offset %zu, expected a "
                       "multiple of %zu",
                       op_arg->name, op_arg->scratch_offset, align);
    return 0;
}

// Tensors and scratch memory must be within their memory.
static int check_offsets(const ln_context *ctx)
{
    LN_FOREACH (const ln_op *, op, ctx->ops) {
        ln_tensor_entry *te;
        LN_OUTPUTS_FOREACH (te, op->op_arg)
            if (check_tensor(ctx, te))
                return -1;
        if (op->op_arg->scratch_size && check_scratch(ctx, op->op_arg))
            return -1;
    }
    return 0;
}

static int check_view(const ln_context *ctx, const ln_tensor_entry *te)
{
    const ln_tensor_entry *owner = ln_entry_owner(te, ctx->tensor_table);
    const size_t size = ln_tensor_entry_capacity(te), room = ln_tensor_entry_capacity(owner);
    if (te->offset >= owner->offset && size <= room && te->offset - owner->offset <= room - size)
        return 0;
    return ln_fail(ctx,
                   "tensor '%s' of %zu bytes is planned at offset %zu, outside its owner '%s' of "
                   "%zu bytes at offset %zu; 'calc_offset' of its operator must return the owner's "
                   "offset plus a position in it",
                   te->name, size, te->offset, owner->name, room, owner->offset);
}

// A view has the offset within its owner, an output that reuses memory the offset of its block.
static int check_sharing(const ln_context *ctx, const ln_lifetime *life)
{
    LN_FOREACH (const ln_op *, op, ctx->ops) {
        ln_tensor_entry *te;
        LN_OUTPUTS_FOREACH (te, op->op_arg) {
            const size_t expected = te->owner ? ln_lifetime_view_offset(ctx, te)
                                              : ln_lifetime_block(ctx, life, te)->offset;
            if (te->offset != expected)
                return ln_fail(ctx,
                               "tensor '%s' is planned at offset %zu, expected %zu in the memory "
                               "that it shares",
                               te->name, te->offset, expected);
            if (te->owner && check_view(ctx, te))
                return -1;
        }
    }
    return 0;
}

int ln_plan_find_checked(const ln_context *ctx, ln_lifetime *life)
{
    if (check_offsets(ctx) || ln_lifetime_find(ctx, life))
        return -1;
    if (!check_sharing(ctx, life) && !ln_lifetime_check(ctx, life))
        return 0;
    ln_lifetime_free(life);
    return -1;
}

int ln_context_check_plan(const ln_context *ctx)
{
    ln_lifetime life;
    if (ln_plan_find_checked(ctx, &life))
        return -1;
    ln_lifetime_free(&life);
    return 0;
}

// The output that has the bytes of input `te`, moved or changed one by one; or NULL.
static const ln_tensor_entry *same_bytes(const ln_op *op, const ln_tensor_entry *te)
{
    if (!ln_op_has_trait(op, LN_TRAIT_MOVES | LN_TRAIT_ELEMENTWISE) || !op->op_arg->tensors_out)
        return NULL;
    const ln_tensor_entry *const out =
        ln_entry_of(op->op_arg->tensors_out->data, op->op_arg->tensor_table);
    const int moves = ln_op_has_trait(op, LN_TRAIT_MOVES) || out->tensor->len == te->tensor->len;
    return moves && out->tensor->dtype == te->tensor->dtype ? out : NULL;
}

static int is_first_input(const ln_op *op, const ln_tensor_entry *te)
{
    const ln_list *const in = op->op_arg->tensors_in;
    return in && ln_entry_of(in->data, op->op_arg->tensor_table) == te;
}

// Bytes may be moved, or their signs changed, before they are unpacked.
size_t ln_context_num_params(const ln_context *ctx, const ln_tensor_entry *te)
{
    enum { MAX_OPERATORS = 8 };
    const size_t len = (size_t)te->tensor->len;
    const ln_tensor_entry *at = tl_size_of(te->tensor->dtype) == 1 ? te : NULL;
    for (int i = 0; at && i < MAX_OPERATORS; i++) {
        const ln_op *const writer = ln_entry_creater(at);
        const ln_op *const op = writer ? ln_dfg_next(ctx->dfg, writer, at->name) : NULL;
        const int bits = ln_op_has_trait(op, LN_TRAIT_UNPACKS) && is_first_input(op, at)
                             ? ln_op_int(op, "bits")
                             : 0;
        if (bits > 0)
            return len * 8 / (size_t)bits;
        at = op ? same_bytes(op, at) : NULL;
    }
    return len;
}

static void count_constants(const ln_context *ctx, const ln_op *op, ln_stats *stats)
{
    const ln_tensor_entry *te;
    LN_OUTPUTS_FOREACH (te, op->op_arg) {
        if (!te->isconst || op->op_arg->tensors_in)
            continue;
        stats->params += ln_context_num_params(ctx, te);
        stats->param_size += tl_tensor_size(te->tensor);
    }
}

static void count_ops(const ln_context *ctx, ln_stats *stats)
{
    LN_FOREACH (const ln_op *, op, ctx->ops) {
        stats->ops++;
        stats->ops_at_load += op->op_arg->at_load && op->run;
        stats->views += !op->run && !op->static_run;
        count_constants(ctx, op, stats);
    }
}

int ln_context_stats(const ln_context *ctx, ln_stats *stats)
{
    ln_lifetime life;
    memset(stats, 0, sizeof(*stats));
    count_ops(ctx, stats);
    LN_FOREACH (const ln_context *, body, ctx->bodies)
        count_ops(body, stats);
    // The macs of an operator include its bodies.
    LN_FOREACH (const ln_op *, op, ctx->ops)
        stats->macs += op->op_arg->at_load ? 0 : op->op_arg->macs;
    if (!ctx->target)
        return 0;
    if (ln_lifetime_find(ctx, &life))
        return -1;
    stats->memory = ctx->mem_sizes[LN_MEM_CPU];
    const int status = ln_lifetime_bound(ctx, &life, LN_MEM_CPU, &stats->memory_bound);
    ln_lifetime_free(&life);
    return status;
}
