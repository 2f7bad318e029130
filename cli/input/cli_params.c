// SPDX-License-Identifier: Apache-2.0
// The parameters of operators.

#include "input/cli_params.h"

#include "output/cli_msg.h"

static int push_producers(const cli_params *counted, const ln_op *op, ln_list **todo)
{
    const ln_hash *const table = counted->ctx->tensor_table;
    LN_FOREACH (const ln_tensor_list_entry *, tle, op->op_arg->tensors_in) {
        const ln_op *producer = ln_entry_creater(ln_entry_of(tle, table));
        if (!ln_entry_of(tle, table)->isconst || !producer ||
            ln_hash_find(counted->seen, producer->op_arg->name))
            continue;
        ln_list *longer = ln_list_prepend(*todo, (void *)producer);
        if (!longer || ln_hash_insert(counted->seen, producer->op_arg->name, (void *)producer) < 0)
            return cli_fail_memory();
        *todo = longer;
    }
    return 0;
}

int cli_params_count(const cli_params *counted, const ln_op *op, double *n)
{
    ln_list *todo = NULL;
    int status = push_producers(counted, op, &todo);
    *n = 0;
    while (todo && !status) {
        const ln_op *producer = todo->data;
        todo = ln_list_remove_nth(todo, 0);
        LN_FOREACH (const ln_tensor_list_entry *, tle,
                    producer->op_arg->tensors_in ? NULL : producer->op_arg->tensors_out)
            *n += (double)ln_context_num_params(counted->ctx,
                                                ln_entry_of(tle, counted->ctx->tensor_table));
        status = push_producers(counted, producer, &todo);
    }
    ln_list_free(todo);
    return status;
}

int cli_params_begin(cli_params *counted, const ln_context *ctx)
{
    *counted = (cli_params){ctx, ln_hash_create(ln_str_hash, ln_str_cmp, NULL, NULL)};
    return counted->seen ? 0 : cli_fail_memory();
}

void cli_params_end(cli_params *counted)
{
    ln_hash_free(counted->seen);
}
