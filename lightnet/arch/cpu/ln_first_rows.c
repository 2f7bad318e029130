// SPDX-License-Identifier: Apache-2.0
// Rule: the first rows of a cache are a view.
//
// A cache [B, G, P, D] of which the first T rows of each head are keys, as onnxruntime-genai keeps
// it, was copied to [B, G, T, D] in each step. Attention can step over the other rows instead.

#include "ln_rules_cpu.h"

#include "lightnet/ln_optypes.h"
#include "lightnet/ln_pass.h"
#include "lightnet/ln_rule.h"
#include "pass/ln_row_readers.h"

static int has_one_number(const ln_op *op, const char *param, int number)
{
    const ln_param_entry *const p = ln_op_param(op, param);
    return p && p->array_len == 1 && p->value_array_int[0] == number;
}

// Whether the operator slices the first indices of one axis, other than the first, for attention.
static int slices_rows(const ln_context *ctx, const ln_op *op, const ln_tensor_entry **dst)
{
    const ln_tensor_entry *src = NULL, *starts = NULL;
    const ln_param_entry *const axes = ln_op_param(op, "axes");
    if (!ln_op_is(op, LN_OP_STRIDE_SLICE_CPU) || !axes || axes->array_len != 1 ||
        axes->value_array_int[0] < 1 || ln_op_reads(op, "starts_now", &starts) ||
        !has_one_number(op, "starts", 0) || !has_one_number(op, "steps", 1) ||
        !ln_op_reads(op, "src", &src) || !ln_op_makes(op, "dst", dst))
        return 0;
    return !ln_entry_is_output(*dst) && !ln_entry_is_mutated(*dst) && !ln_entry_is_mutated(src) &&
           !src->isconst && ln_entry_num_uses(*dst) > 0 &&
           ln_only_attention_reads(ctx, *dst, axes->value_array_int[0]) > 0;
}

ln_list *ln_view_first_rows(const ln_context *ctx, ln_list **old_ops)
{
    const ln_tensor_entry *dst = NULL;
    ln_rule_made made = {.ctx = ctx, .rule = "view_first_rows"};
    const ln_op *op = ln_pass_rule_begins(ctx, made.rule) ? ln_rule_anchor(ctx, NULL) : NULL;
    while (op && !slices_rows(ctx, op, &dst))
        op = ln_rule_anchor(ctx, op);
    *old_ops = NULL;
    if (!op)
        return NULL;
    ln_rule_op(&made, LN_OP_FIRST_ROWS_CPU);
    ln_rule_all_inputs(&made, op);
    ln_rule_all_params(&made, op);
    ln_rule_output(&made, "dst", dst->name);
    return ln_rule_end_subgraph(&made, (const ln_op *const[]){op, NULL}, old_ops);
}
