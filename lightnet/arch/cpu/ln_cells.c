// SPDX-License-Identifier: Apache-2.0
// Recurrent networks with constant weights: a handwritten rule, since any of their outputs may be
// absent (graph.opt).

#include "ln_rules_cpu.h"

#include "lightnet/ln_pass.h"
#include "lightnet/ln_rule.h"
#include "lightnet/ln_util.h"
#include "tensorlight/tl_recurrent.h"

// Whether the kernel for packed weights supports the activations.
static int has_usual_acts(const ln_op *op)
{
    const ln_param_entry *const acts = ln_op_param(op, "acts");
    tl_recurrent_param param = {.cell = tl_cell_from_str(ln_op_string(op, "cell"))};
    const int n = tl_cell_acts(param.cell), directions = acts->array_len / n;
    for (int i = 0; i < directions * n; i++)
        param.acts[i / n][i % n].func = tl_unary_func_from_str(acts->value_array_string[i]);
    return tl_recurrent_takes_packed(&param, directions);
}

// Whether the rule applies. Packing narrower weights would make them much larger.
static int fits(const ln_op *op, const ln_tensor_entry **weights)
{
    *weights = NULL;
    return ln_op_is(op, LN_OP_RECURRENT_CPU) && ln_op_reads(op, "recurrence", weights) &&
           (*weights)->isconst && (*weights)->tensor->dtype == TL_FLOAT &&
           (*weights)->tensor->dims[3] >= TL_CELL_BLOCK / 2 && has_usual_acts(op);
}

// Replaces recurrent_cpu of floats with constant weights and default activations by
// recurrent_pack_cpu and recurrent_packed_cpu.
ln_list *ln_cells_in_blocks(const ln_context *ctx, ln_list **old_ops)
{
    const ln_tensor_entry *weights = NULL;
    ln_rule_made made = {.ctx = ctx, .rule = "recurrent_in_blocks"};
    const ln_op *op = ln_pass_rule_begins(ctx, made.rule) ? ln_rule_anchor(ctx, NULL) : NULL;
    while (op && !fits(op, &weights))
        op = ln_rule_anchor(ctx, op);
    *old_ops = NULL;
    if (!op)
        return NULL;
    const char *const packed = ln_rule_tensor(&made, "packed");
    ln_rule_op(&made, LN_OP_RECURRENT_PACK_CPU);
    ln_rule_input(&made, "src", weights->name);
    ln_rule_output(&made, "dst", packed);
    ln_rule_op(&made, LN_OP_RECURRENT_PACKED_CPU);
    ln_rule_all_inputs(&made, op);
    ln_rule_input(&made, "recurrence", packed);
    LN_FOREACH (const ln_tensor_list_entry *, tle, op->op_arg->tensors_out)
        ln_rule_output(&made, tle->arg_name, tle->name);
    ln_rule_all_params(&made, op);
    return ln_rule_end_subgraph(&made, (const ln_op *const[]){op, NULL}, old_ops);
}
