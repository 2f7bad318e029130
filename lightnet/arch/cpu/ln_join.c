// SPDX-License-Identifier: Apache-2.0
// Joins that need no copy (graph.opt), and joins of quantized tensors (quantized_blocked.opt):
// handwritten rules, since joins have any number of inputs.

#include "ln_rules_cpu.h"

#include "lightnet/ln_hash.h"
#include "lightnet/ln_pass.h"
#include "lightnet/ln_rule.h"
#include "lightnet/ln_util.h"

enum { LINE = 64 };     // bytes of a cache line: kernels read whole lines
enum { MAX_SRCS = 64 }; // of a quantized join

// Without a copy

// Whether the tensor can be a part of another: it is the output of an operator, and its memory has
// no other use.
static int may_be_part(const ln_tensor_entry *te)
{
    const ln_op *const producer = ln_entry_creater(te);
    return producer && ln_op_num_in(producer) > 0 && !te->isstatic && !te->isconst && !te->owner &&
           !te->has_views && !ln_entry_is_mutated(te) && !ln_entry_is_output(te) &&
           tl_tensor_size(te->tensor) % LINE == 0;
}

// Whether the sources of a join along `axis` are contiguous in its result.
static int is_one_row(const tl_tensor *dst, int axis)
{
    for (int i = 0; i < axis; i++)
        if (dst->dims[i] != 1)
            return 0;
    return 1;
}

// Whether all tensors differ; also 0 if memory for the check runs out.
static int are_different(const ln_list *tensors)
{
    ln_hash *const names = ln_hash_create(ln_str_hash, ln_str_cmp, NULL, NULL);
    int differ = names != NULL;
    LN_FOREACH (const ln_tensor_list_entry *, tle, names ? tensors : NULL) {
        if (ln_hash_insert(names, tle->name, NULL) != 1) {
            differ = 0;
            break;
        }
    }
    ln_hash_free(names);
    return differ;
}

static int needs_no_copy(const ln_op *op)
{
    const ln_tensor_entry *y = NULL;
    if (!ln_op_is(op, LN_OP_JOIN_CPU) || ln_op_is_dynamic(op) || !ln_op_makes(op, "dst", &y) ||
        y->isstatic || ln_entry_is_mutated(y) || !is_one_row(y->tensor, ln_op_int(op, "axis")))
        return 0;
    for (const ln_list *node = op->op_arg->tensors_in; node; node = node->next) {
        const ln_tensor_list_entry *const tle = node->data;
        if (!may_be_part(ln_entry_of(tle, op->op_arg->tensor_table)))
            return 0;
    }
    return are_different(op->op_arg->tensors_in);
}

// Replaces join_cpu by join_nocopy_cpu, whose inputs are parts of its output, if they are
// contiguous there, consist of whole cache lines, and are not views already.
ln_list *ln_join_without_copy(const ln_context *ctx, ln_list **old_ops)
{
    const ln_tensor_entry *y = NULL;
    ln_rule_made made = {.ctx = ctx, .rule = "join_without_copy"};
    const ln_op *op = ln_pass_rule_begins(ctx, made.rule) ? ln_rule_anchor(ctx, NULL) : NULL;
    while (op && !needs_no_copy(op))
        op = ln_rule_anchor(ctx, op);
    *old_ops = NULL;
    if (!op || !ln_op_makes(op, "dst", &y))
        return NULL;
    ln_rule_op(&made, LN_OP_JOIN_NOCOPY_CPU);
    ln_rule_all_inputs(&made, op);
    ln_rule_all_params(&made, op);
    ln_rule_output(&made, "dst", y->name);
    return ln_rule_end_subgraph(&made, (const ln_op *const[]){op, NULL}, old_ops);
}

// Quantized

// Whether `op` quantizes to unsigned bytes with one scale.
static int has_one_scale(const ln_op *op)
{
    const ln_tensor_entry *s = NULL;
    return ln_op_is(op, LN_OP_QUANTIZE_CPU) && ln_op_has_string(op, "dtype", "TL_UINT8") &&
           ln_op_has_number(op, "block", 0) && ln_op_reads(op, "scale", &s) &&
           s->tensor->len == 1 && !ln_op_is_dynamic_beyond_batch(op);
}

// Whether the tensor has no other readers, and owns the memory that its producer writes.
static int is_read_once(const ln_tensor_entry *te)
{
    return ln_entry_num_uses(te) == 1 && !ln_entry_is_output(te) && !ln_entry_is_mutated(te);
}

// The operator that joins the source of the quantization `op`, or NULL. Only it reads its sources,
// so nothing is quantized that was not before.
static const ln_op *join_of(const ln_op *op)
{
    const ln_tensor_entry *x = NULL;
    const ln_tensor_entry *te;
    if (!has_one_scale(op) || !ln_op_reads(op, "src", &x) || !is_read_once(x))
        return NULL;
    const ln_op *const join = ln_entry_creater(x);
    if (!ln_op_is(join, LN_OP_JOIN_CPU) || ln_op_is_dynamic_beyond_batch(join) ||
        ln_op_num_in(join) > MAX_SRCS)
        return NULL;
    LN_INPUTS_FOREACH (te, join->op_arg)
        if (te->tensor->dtype != TL_FLOAT || te->isconst || !is_read_once(te))
            return NULL;
    return join;
}

// Adds the quantization `op` of `src`. Returns the result's name.
static const char *add_quantize(ln_rule_made *made, const ln_op *op, const char *src)
{
    const char *const dst = ln_rule_tensor(made, "q");
    ln_rule_op(made, LN_OP_QUANTIZE_CPU);
    ln_rule_all_inputs(made, op);
    ln_rule_input(made, "src", src);
    ln_rule_all_params(made, op);
    ln_rule_output(made, "dst", dst);
    return dst;
}

// Adds a join of the quantized sources of `join`.
static void add_joined(ln_rule_made *made, const ln_op *op, const ln_op *join, const char *dst)
{
    const char *parts[MAX_SRCS];
    int n = 0;
    LN_FOREACH (const ln_tensor_list_entry *, tle, join->op_arg->tensors_in)
        parts[n++] = add_quantize(made, op, tle->name);
    n = 0;
    ln_rule_op(made, LN_OP_JOIN_CPU);
    LN_FOREACH (const ln_tensor_list_entry *, tle, join->op_arg->tensors_in)
        ln_rule_input(made, tle->arg_name, parts[n++]);
    ln_rule_all_params(made, join);
    ln_rule_output(made, "dst", dst);
}

// Moves a quantization with one scale from the result of a join to its sources: their producers
// can then write bytes. Does not apply if other operators read a source.
ln_list *ln_quantize_joined(const ln_context *ctx, ln_list **old_ops)
{
    const ln_tensor_entry *y = NULL;
    ln_rule_made made = {.ctx = ctx, .rule = "quantize_joined"};
    const ln_op *op = ln_pass_rule_begins(ctx, made.rule) ? ln_rule_anchor(ctx, NULL) : NULL;
    while (op && !join_of(op))
        op = ln_rule_anchor(ctx, op);
    *old_ops = NULL;
    if (!op || !ln_op_makes(op, "dst", &y))
        return NULL;
    add_joined(&made, op, join_of(op), y->name);
    return ln_rule_end_subgraph(&made, (const ln_op *const[]){join_of(op), op, NULL}, old_ops);
}
