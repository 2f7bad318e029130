// SPDX-License-Identifier: Apache-2.0
// Running what a fuzz target has read.

#include "fuzz_run.h"

#include <string.h>

// Programs that ask for more than this are not run.
enum { LARGEST = 1 << 26, LONGEST = 100 };
static const double most_macs = 1e8;

// Loops without end are right, too.
static int is_long_loop(const ln_op *op)
{
    const ln_param_entry *most = ln_param_list_find(op->op_arg->params, "most");
    const ln_tensor_entry *row =
        ln_tensor_list_find_entry(op->op_arg->tensors_in, op->op_arg->tensor_table, "row0");
    if (strncmp(op->op_arg->optype, "loop", 4) != 0)
        return 0;
    return row ? row->tensor->dims[0] > LONGEST : most->value_int < 0 || most->value_int > LONGEST;
}

// What prints is not wanted here, least of all to files that the input names.
static int prints(const ln_op *op)
{
    return strstr(op->op_arg->optype, "print") != NULL;
}

static int may_run(const ln_context *ctx)
{
    const ln_op *op;
    const ln_context *body;
    LN_LIST_FOREACH(op, ctx->ops)
    {
        if (is_long_loop(op) || prints(op))
            return 0;
    }
    LN_LIST_FOREACH(body, ctx->bodies)
    {
        if (!may_run(body))
            return 0;
    }
    return 1;
}

void fuzz_run(ln_context *ctx)
{
    ln_stats stats;
    if (ln_context_stats(ctx, &stats) || stats.memory > LARGEST || stats.macs > most_macs ||
        !may_run(ctx))
        return;
    if (!ln_context_load(ctx, NULL))
        ln_context_run(ctx);
}
