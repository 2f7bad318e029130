// SPDX-License-Identifier: Apache-2.0
// The memory planner: offsets of all tensors and scratch memory, before anything runs.

#include "lightnet/ln_context.h"
#include "base/ln_list_end.h"
#include "lightnet/ln_util.h"
#include "plan/ln_plan.h"

static int is_resolved(const ln_tensor_entry *te)
{
    return te->offset != 0;
}

// A function or mode that distinguishes operators of one type, such as "TL_UNARY_RELU"; "": none.
static const char *variant_of(const ln_op *op)
{
    LN_FOREACH (const ln_param_entry *, pe, ln_op_params(op->op_arg))
        if (pe->type == LN_PARAM_STRING && pe->value_string)
            return pe->value_string;
    return "";
}

static int fail_abstract(const ln_context *ctx, const ln_op *op, const ln_tensor_entry *te)
{
    const char *const variant = variant_of(op);
    return ln_fail(ctx,
                   "operator '%s' (%s%s%s) cannot run on target '%s': no rewrite sets the memory "
                   "type of its tensor '%s'; a general operator may replace one of the model, such "
                   "as unary for relu: rules of 'model_stages' inspect that one",
                   op->op_arg->name, op->op_arg->optype, *variant ? " with " : "", variant,
                   ctx->target, te->name);
}

// Clears the offsets of an earlier plan. -1: an operator cannot run.
static int clear_offsets(const ln_context *ctx)
{
    LN_FOREACH (const ln_op *, op, ctx->ops) {
        ln_tensor_entry *te;
        LN_OUTPUTS_FOREACH (te, op->op_arg) {
            if (te->mtype == LN_MEM_NONE)
                return fail_abstract(ctx, op, te);
            te->offset = 0;
        }
    }
    return 0;
}

static void set_list_offsets(ln_context *ctx, const ln_list *tensors)
{
    LN_FOREACH (ln_tensor_list_entry *, tle, tensors)
        tle->offset = ln_entry_of(tle, ctx->tensor_table)->offset;
}

// Sets the tensor's offset, after those of its owners.
static int resolve(const ln_context *ctx, const ln_lifetime *life, ln_tensor_entry *te)
{
    ln_list *chain = NULL;
    for (; te->owner && !is_resolved(te); te = ln_entry_owner(te, ctx->tensor_table))
        if (ln_list_push(&chain, te, NULL)) {
            ln_list_free(chain);
            return ln_fail_last(ctx);
        }
    if (!is_resolved(te))
        te->offset = ln_lifetime_block(ctx, life, te)->offset;
    LN_LIST_FOREACH (te, chain)
        te->offset = ln_lifetime_view_offset(ctx, te);
    ln_list_free(chain);
    return 0;
}

// Inputs have offsets already, since their producers precede the operator.
static int set_tensor_offsets(ln_context *ctx, const ln_lifetime *life)
{
    LN_FOREACH (const ln_op *, op, ctx->ops) {
        ln_tensor_entry *te;
        LN_OUTPUTS_FOREACH (te, op->op_arg)
            if (resolve(ctx, life, te))
                return -1;
        set_list_offsets(ctx, op->op_arg->tensors_in);
        set_list_offsets(ctx, op->op_arg->tensors_out);
    }
    return 0;
}

static void set_scratch_offsets(const ln_context *ctx, const ln_lifetime *life)
{
    for (const ln_block *block = life->blocks; block < life->blocks + life->n; block++)
        if (block->scratch)
            block->scratch->op_arg->scratch_offset = block->offset;
    LN_FOREACH (const ln_op *, op, ctx->ops)
        if (op->op_arg->at_load && op->op_arg->scratch_size)
            op->op_arg->scratch_offset = ln_lifetime_load_scratch(life, op->op_arg)->offset;
}

static int write_offsets(ln_context *ctx, ln_lifetime *life)
{
    for (ln_block *block = life->blocks; block < life->blocks + life->n; block++)
        block->offset = life->blocks[block->part_of].offset;
    set_scratch_offsets(ctx, life);
    return set_tensor_offsets(ctx, life);
}

int ln_plan_memory(ln_context *ctx)
{
    ln_lifetime life;
    if (clear_offsets(ctx) || ln_lifetime_find(ctx, &life))
        return -1;
    const int failed = ln_mem_blocks_place(ctx, &life) || write_offsets(ctx, &life) ||
                       ln_lifetime_check(ctx, &life);
    ln_lifetime_free(&life);
    return failed ? -1 : 0;
}
