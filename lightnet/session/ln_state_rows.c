// SPDX-License-Identifier: Apache-2.0
// States that grow in place: a cache to which each run appends rows.

#include "session/ln_state_rows.h"

#include <stdint.h>

#include "ir/ln_context_ops.h"
#include "ir/ln_sizes.h"
#include "lightnet/ln_optypes.h"
#include "pass/ln_row_readers.h"

// Whether the operator is a join of `past`, as its first source and no other, with new rows.
static int joins(const ln_op *op, const ln_tensor_entry *past)
{
    int n = 0, is_first = 0, i = 0;
    if (!op || !ln_op_is(op, LN_OP_JOIN_CPU))
        return 0;
    LN_FOREACH (const ln_tensor_list_entry *, tle, op->op_arg->tensors_in) {
        const int is_past = ln_entry_of(tle, op->op_arg->tensor_table) == past;
        is_first |= is_past && i == 0;
        n += is_past;
        i++;
    }
    return is_first && n == 1;
}

// Whether a tensor has memory of its own, which can be anywhere.
static int is_alone(const ln_loan *loan, const ln_tensor_entry *te)
{
    return loan->root == te && loan->n_members == 1 && !te->owner && te->mtype == LN_MEM_CPU;
}

int ln_state_rows_find(const ln_program *program, size_t input, size_t output, ln_state_rows *state)
{
    const ln_context *const ctx = program->ctx;
    const char *const from = program->names[input];
    const char *const to = program->names[program->n_inputs + output];
    ln_tensor_entry *const past = from ? ln_tensor_table_find(ctx->tensor_table, from) : NULL;
    ln_tensor_entry *const present = to ? ln_tensor_table_find(ctx->tensor_table, to) : NULL;
    const ln_op *const join = present ? ln_entry_creater(present) : NULL;
    *state = (ln_state_rows){0};
    if (!past || !joins(join, past) || !past->isdynamic || !present->isdynamic ||
        !is_alone(&program->loans[input], past) ||
        !is_alone(&program->loans[program->n_inputs + output], present))
        return 0;
    const int axis = ln_op_int(join, "axis");
    const ln_dim len = ln_sizes_axis(present, axis);
    const int is_read_once = ln_only_reads(ctx, past, join);
    const int is_attended = ln_only_attention_reads(ctx, present, axis);
    if (is_read_once < 0 || is_attended < 0)
        return -1;
    if (!is_read_once || !is_attended || !ln_dim_is_known(&len))
        return 0;
    const int64_t rows = ln_dim_upper(ctx->symbols, &len);
    if (rows > 0 && rows <= INT32_MAX)
        *state = (ln_state_rows){past, present, axis, (int)rows};
    return 0;
}

void ln_state_rows_set(const ln_state_rows *state, int is_set)
{
    if (!state->rows)
        return;
    state->past->rows = state->present->rows = is_set ? state->rows : 0;
    state->past->rows_axis = state->present->rows_axis = state->axis;
}

size_t ln_state_rows_size(const ln_value *shape, tl_dtype dtype, int axis, int rows)
{
    size_t size = tl_size_of(dtype);
    for (int i = 0; i < shape->ndim; i++)
        if (ln_size_mul(size, (size_t)(i == axis ? rows : shape->dims[i]), &size))
            return SIZE_MAX;
    return size;
}
