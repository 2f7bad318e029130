// SPDX-License-Identifier: Apache-2.0
// Fuzz target: the ONNX front end, the operators' checks, the passes, and a run.

#include "fuzz_file.h"

#include <string.h>

#include "lightnet/lightnet.h"

// Models that ask for more than this are not run: they are right, and take their time.
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

static int ends_soon(const ln_context *ctx)
{
    const ln_op *op;
    const ln_context *body;
    LN_LIST_FOREACH(op, ctx->ops)
    {
        if (is_long_loop(op))
            return 0;
    }
    LN_LIST_FOREACH(body, ctx->bodies)
    {
        if (!ends_soon(body))
            return 0;
    }
    return 1;
}

static void run(ln_context *ctx)
{
    ln_stats stats;
    if (ln_context_compile(ctx, "cpu") || ln_context_stats(ctx, &stats) || stats.memory > LARGEST ||
        stats.macs > most_macs || !ends_soon(ctx))
        return;
    if (!ln_context_load(ctx, NULL))
        ln_context_run(ctx);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ln_context *ctx = ln_context_create();
    if (ctx && !ln_context_init_text(ctx, "fuzz", (const char *)data, size) && !ctx->target)
        run(ctx);
    ln_context_free(ctx);
    return 0;
}
