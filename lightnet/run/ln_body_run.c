// SPDX-License-Identifier: Apache-2.0
// Running bodies: programs that an operator of another program runs.

#include "ir/ln_bodies.h"
#include "ir/ln_context_ops.h"
#include "ir/ln_limits.h"
#include "lightnet/ln_util.h"
#include "run/ln_load.h"
#include "plan/ln_plan.h"

// The address of a tensor of the body in a run.
typedef struct ln_body_place {
    tl_tensor *tensor;
    int given;     // number of the input whose memory it uses; -1: the body's own
    size_t offset; // in that memory
} ln_body_place;

static void forget_places(ln_context *body)
{
    ln_free(body->body->places);
    body->body->places = NULL;
    body->body->n_places = 0;
}

void ln_bodies_unload(ln_context *ctx)
{
    LN_FOREACH (ln_context *, body, ctx->bodies) {
        forget_places(body);
        ln_steps_forget(body);
    }
}

static int find_places(ln_context *body)
{
    ln_body_place *at = ln_alloc_array((size_t)ln_hash_size(body->tensor_table), sizeof(*at));
    if (!at)
        return ln_fail_last(body);
    forget_places(body);
    body->body->places = at;
    LN_FOREACH (const ln_op *, op, body->ops) {
        const ln_tensor_entry *te;
        LN_OUTPUTS_FOREACH (te, op->op_arg) {
            const ln_tensor_entry *root = ln_tensor_table_root(body->tensor_table, te);
            const int given = ln_body_given_number(body, te);
            at[body->body->n_places++] = (ln_body_place){
                te->tensor, given, given < 0 ? te->offset : te->offset - root->offset};
        }
    }
    return 0;
}

static int fail_in(ln_op_arg *op_arg, const ln_context *body)
{
    ln_fail_at(body, "body '%s'", body->body->name);
    return ln_op_fail(op_arg, "its body fails");
}

int ln_body_prepare(ln_op_arg *op_arg, ln_context *body)
{
    body->pool = body->outer->pool;
    if (!body->target)
        return ln_op_fail(op_arg, "body '%s' is not compiled", body->body->name);
    if (ln_body_check_ops(body) || ln_dynamic_forget_runs(body) || ln_context_check_plan(body) ||
        find_places(body) || ln_steps_find(body))
        return fail_in(op_arg, body);
    LN_FOREACH (ln_op *, op, body->ops) {
        // Such as operators that run other bodies.
        if (op->run && ln_op_call(op, op->static_run))
            return fail_in(op_arg, body);
    }
    return 0;
}

int ln_body_run(ln_op_arg *op_arg, ln_context *body, void *memory, const void *const *given)
{
    const struct ln_body *b = body->body;
    int status = ln_limits_check(body);
    body->mem_starts[LN_MEM_CPU] = memory;
    for (const ln_body_place *at = b->places; at < b->places + b->n_places; at++)
        at->tensor->data =
            at->given < 0 ? (char *)memory + at->offset : (char *)given[at->given] + at->offset;
    for (ln_op *const *step = body->steps; !status && *step; step++)
        status = ln_dynamic_run(*step);
    body->mem_starts[LN_MEM_CPU] = NULL; // the runner owns it
    return status ? fail_in(op_arg, body) : 0;
}
