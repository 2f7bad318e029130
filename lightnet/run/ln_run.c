// SPDX-License-Identifier: Apache-2.0
// Running the operators of a loaded context.

#include "ir/ln_context_ops.h"
#include "ir/ln_limits.h"
#include "ir/ln_sizes.h"
#include "lightnet/ln_util.h"
#include "run/ln_load.h"
#include "run/ln_update.h"

// Frees the strings of the last run, and updates constants, whose strings count as those of load.
static int begin_run(ln_context *ctx)
{
    ctx->run_number++;
    ln_texts_forget_replaced(ctx);
    ln_strings_begin(ctx, 0);
    if (ctx->stale && ln_update_run(ctx))
        return -1;
    if (ctx->has_new_shapes && ln_sizes_check_inputs(ctx))
        return -1;
    ctx->has_new_shapes = 0;
    ln_strings_begin(ctx, 1);
    return 0;
}

// Checks that the context can run, and begins the run.
static int prepare_run(const ln_context *ctx)
{
    ln_context_clear_error(ctx);
    if (!ln_context_is_loaded(ctx))
        return ln_fail(ctx, "the context is not loaded");
    const char *missing = ctx->missing ? ctx->missing->data : NULL;
    if (missing && ln_hash_find(ctx->input_names, missing))
        return ln_fail_as(ctx, LN_BAD_ARGUMENT,
                          "input '%s' has no data; set it before the first run", missing);
    if (missing)
        return ln_fail_missing(ctx, missing);
    if (ln_limits_check(ctx))
        return -1;
    return begin_run((ln_context *)ctx);
}

int ln_context_run(const ln_context *ctx)
{
    if (prepare_run(ctx))
        return -1;
    for (ln_op *const *step = ctx->steps; *step; step++)
        if (ln_dynamic_run(*step))
            return -1;
    return 0;
}

// Runs operator by operator, each done before the next begins, after prepare_run.
static int run_stepwise(ln_context *ctx, int (*seen)(void *data, const ln_op *op), void *data)
{
    int status = 0;
    ctx->is_stepwise = 1;
    ctx->device_ns = 0;
    for (const ln_list *node = ctx->ops; node && !status; node = node->next) {
        ln_op *op = node->data;
        status = -((!op->op_arg->at_load && ln_dynamic_run(op)) || seen(data, op));
    }
    ctx->is_stepwise = 0;
    return status;
}

// The time of each operator in turn.
typedef struct timing {
    ln_context *ctx;
    uint64_t *ns; // where that of the next one is added
    uint64_t start;
} timing;

static int take_time(void *data, const ln_op *op)
{
    timing *const t = data;
    const uint64_t now = tl_clock();
    (void)op;
    *t->ns++ += t->ctx->device_ns ? t->ctx->device_ns : now - t->start;
    t->ctx->device_ns = 0;
    t->start = tl_clock();
    return 0;
}

int ln_context_run_timed(const ln_context *ctx, uint64_t *ns)
{
    if (prepare_run(ctx))
        return -1;
    timing t = {(ln_context *)ctx, ns, tl_clock()};
    return run_stepwise(t.ctx, take_time, &t);
}

int ln_context_run_each(const ln_context *ctx, int (*seen)(void *data, const ln_op *op), void *data)
{
    return prepare_run(ctx) ? -1 : run_stepwise((ln_context *)ctx, seen, data);
}
