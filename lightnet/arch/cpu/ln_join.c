// SPDX-License-Identifier: Apache-2.0
// Joins that need no copy.

#include "arch/cpu/ln_join.h"

#include "lightnet/ln_hash.h"
#include "lightnet/ln_pass.h"
#include "lightnet/ln_rule.h"
#include "lightnet/ln_util.h"

enum { LINE = 64 }; // of a cache: kernels read whole ones

/** Whether the tensor can be a part of another: its memory is what an operator computes into, and
 *  nothing else. */
static int may_be_taken(const ln_tensor_entry *te)
{
    const ln_op *const maker = ln_entry_creater(te);
    return maker && ln_rule_num_in(maker) > 0 && !te->isstatic && !te->isconst && !te->owner &&
           !te->has_views && !ln_entry_is_mutated(te) && !ln_entry_is_output(te) &&
           tl_tensor_size(te->tensor) % LINE == 0;
}

/** Whether the sources of a join along `axis` lie one behind the other in its result. */
static int is_one_row(const tl_tensor *dst, int axis)
{
    for (int i = 0; i < axis; i++)
        if (dst->dims[i] != 1)
            return 0;
    return 1;
}

/** Whether no tensor is read twice; 0 also when there is no memory to tell. */
static int are_different(const ln_list *tensors)
{
    const ln_tensor_list_entry *tle;
    ln_hash *const names = ln_hash_create(ln_str_hash, ln_str_cmp, NULL, NULL);
    int differ = names != NULL;
    LN_LIST_FOREACH(tle, names ? tensors : NULL)
    {
        if (ln_hash_insert(names, tle->name, NULL) != 1) {
            differ = 0;
            break;
        }
    }
    ln_hash_free(names);
    return differ;
}

static int can_take(const ln_op *op)
{
    const ln_tensor_entry *y = NULL;
    if (!ln_rule_is(op, "join_cpu") || ln_rule_is_dynamic(op) || !ln_rule_makes(op, "dst", &y) ||
        y->isstatic || ln_entry_is_mutated(y) ||
        !is_one_row(y->tensor, ln_rule_get_int(op, "axis")))
        return 0;
    for (const ln_list *node = op->op_arg->tensors_in; node; node = node->next) {
        const ln_tensor_list_entry *const tle = node->data;
        if (!may_be_taken(ln_entry_of(tle, op->op_arg->tensor_table)))
            return 0;
    }
    return are_different(op->op_arg->tensors_in);
}

ln_list *ln_join_without_copy(const ln_context *ctx, ln_list **old_ops)
{
    const ln_tensor_entry *y = NULL;
    ln_rule_made made = {.ctx = ctx, .rule = "join_without_copy"};
    const ln_op *op = ln_pass_rule_begins(ctx, made.rule) ? ln_rule_anchor(ctx, NULL) : NULL;
    while (op && !can_take(op))
        op = ln_rule_anchor(ctx, op);
    *old_ops = NULL;
    if (!op || !ln_rule_makes(op, "dst", &y))
        return NULL;
    ln_rule_op(&made, "join_nocopy_cpu");
    ln_rule_all_inputs(&made, op);
    ln_rule_all_params(&made, op);
    ln_rule_output(&made, "dst", y->name);
    return ln_rule_end_subgraph(&made, (const ln_op *const[]){op, NULL}, old_ops);
}
