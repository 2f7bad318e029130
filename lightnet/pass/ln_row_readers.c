// SPDX-License-Identifier: Apache-2.0
// Tensors whose memory may have more rows than they have.

#include "pass/ln_row_readers.h"

#include "ir/ln_context_ops.h"
#include "lightnet/ln_optypes.h"
#include "lightnet/ln_util.h"

// Whether an operator reads the shape of the tensor only, or is attention that reads it along
// `axis`, as keys or values.
static int attends(const ln_op *op, const ln_tensor_entry *te, int axis)
{
    if (ln_op_is(op, LN_OP_SHAPE_CPU))
        return 1;
    if (!ln_op_is(op, LN_OP_ATTENTION_CPU))
        return 0;
    LN_FOREACH (const ln_tensor_list_entry *, tle, op->op_arg->tensors_in) {
        const int is_key = ln_streq(tle->arg_name, "k"), is_value = ln_streq(tle->arg_name, "v");
        if (ln_entry_of(tle, op->op_arg->tensor_table) != te)
            continue;
        if (!is_key && !is_value)
            return 0;
        if (3 - ln_op_int(op, is_key ? "k_axis" : "v_axis") != axis)
            return 0;
    }
    return 1;
}

int ln_only_attention_reads(const ln_context *ctx, const ln_tensor_entry *te, int axis)
{
    ln_list *readers = NULL;
    if (ln_context_readers(ctx, te, &readers))
        return -1;
    int result = 1;
    LN_FOREACH (const ln_op *, op, readers)
        result &= attends(op, te, axis);
    ln_list_free(readers);
    return result;
}

int ln_only_reads(const ln_context *ctx, const ln_tensor_entry *te, const ln_op *op)
{
    ln_list *readers = NULL;
    if (ln_context_readers(ctx, te, &readers))
        return -1;
    int result = 1;
    LN_FOREACH (const ln_op *, reader, readers)
        result &= reader == op || ln_op_is(reader, LN_OP_SHAPE_CPU);
    ln_list_free(readers);
    return result;
}
