// SPDX-License-Identifier: Apache-2.0
// Contexts and their bodies: creates, empties and frees them; settings.

#include "lightnet/ln_context.h"

#include <string.h>

#include "base/ln_list_end.h"
#include "ir/ln_arch_tables.h"
#include "ir/ln_bind.h"
#include "ir/ln_bodies.h"
#include "ir/ln_context_ops.h"
#include "ir/ln_dim.h"
#include "ir/ln_fixed.h"
#include "ir/ln_limits.h"
#include "ir/ln_weights.h"
#include "lightnet/ln_arch.h"
#include "lightnet/ln_util.h"

static int has_tables(const ln_context *ctx)
{
    return ctx->tensor_table && ctx->op_table && ctx->dfg && ctx->unique && ctx->input_names &&
           ctx->output_names && ctx->fixed;
}

// ln_context_cleanup empties these tables; settings of the caller stay.
static int create_tables(ln_context *ctx)
{
    ctx->tensor_table = ln_tensor_table_create();
    ctx->op_table = ln_op_table_create();
    ctx->dfg = ln_dfg_create();
    ctx->unique = ln_hash_create(ln_str_hash, ln_str_cmp, ln_free, NULL);
    ctx->input_names = ln_hash_create(ln_str_hash, ln_str_cmp, NULL, NULL);
    ctx->output_names = ln_hash_create(ln_str_hash, ln_str_cmp, NULL, NULL);
    ctx->fixed = ln_fixed_create();
    return has_tables(ctx) ? 0 : ln_fail_as(ctx, LN_OUT_OF_MEMORY, "out of memory for a context");
}

ln_context *ln_context_create(void)
{
    if (ln_arch_begin_use())
        return NULL;
    ln_context *ctx = ln_alloc(sizeof(*ctx));
    if (!ctx) {
        ln_arch_end_use();
        return NULL;
    }
    memset(ctx, 0, sizeof(*ctx));
    ctx->threads = -1;
    ctx->planned_threads = 1;
    ctx->isa = tl_isa_best();
    ctx->precision = TL_FLOAT;
    ctx->optimize = LN_OPTIMIZE_ALL;
    ctx->error = ln_alloc(sizeof(*ctx->error));
    if (!ctx->error)
        goto fail;
    ln_error_clear(ctx->error);
    ctx->limits = ln_limits_create();
    if (!ctx->limits || create_tables(ctx))
        goto fail;
    return ctx;
fail:
    ln_context_destroy(ctx);
    return ln_error_set_as(NULL, LN_OUT_OF_MEMORY, "out of memory for a context"), NULL;
}

// Emptying and freeing

static void free_body(ln_context *body)
{
    struct ln_body *own = body->body;
    ln_body_forget_names(body);
    ln_context_destroy(body);
    ln_free(own->is_constant);
    ln_free(own->name);
    ln_free(own);
}

void ln_bodies_free(ln_context *ctx)
{
    LN_FOREACH (ln_context *, body, ctx->bodies)
        free_body(body);
    ln_list_free(ctx->bodies);
    ln_hash_free(ctx->body_names);
    ctx->bodies = ctx->last_body = NULL;
    ctx->body_names = NULL;
}

void ln_context_drop_model(ln_context *ctx)
{
    ln_context_leave_ops(ctx);
    ln_bodies_free(ctx);
    ln_hash_clear(ctx->input_names);
    ln_hash_clear(ctx->output_names);
    ln_hash_clear(ctx->unique);
    ln_fixed_clear(ctx->fixed);
    if (ctx->tuned && !ctx->outer) // the next model may be compiled with other settings
        ln_hash_clear(ctx->tuned);
    ln_weights_free(ctx->weights);
    ln_weights_free(ctx->given);
    ctx->weights = ctx->given = NULL;
    ln_list_free_deep(ctx->inputs, ln_free);
    ln_list_free_deep(ctx->outputs, ln_free);
    ln_list_free_deep(ctx->rules, ln_free);
    ctx->inputs = ctx->outputs = ctx->rules = NULL;
    ctx->last_input = ctx->last_output = NULL;
    ln_free(ctx->source);
    ln_free(ctx->target);
    ctx->source = ctx->target = NULL;
    ln_symbols_free(ctx->symbols);
    ctx->symbols = NULL;
    ctx->declared = 0;
    memset(ctx->mem_sizes, 0, sizeof(ctx->mem_sizes));
    ln_limits_reset(ctx);
}

void ln_context_destroy(ln_context *ctx)
{
    if (!ctx)
        return;
    if (has_tables(ctx))
        ln_context_drop_model(ctx);
    ln_op_table_free(ctx->op_table);
    ln_tensor_table_free(ctx->tensor_table);
    ln_dfg_free(ctx->dfg); // last, since operators and tensors point to its values
    ln_hash_free(ctx->unique);
    ln_hash_free(ctx->input_names);
    ln_hash_free(ctx->output_names);
    ln_fixed_free(ctx->fixed);
    ln_bind_free(ctx);
    if (!ctx->outer) { // a body borrows these
        ln_list_free_deep(ctx->disabled, ln_free);
        ln_hash_free(ctx->tuned);
        tl_pool_free(ctx->pool);
        ln_limits_free(ctx->limits);
        ln_free(ctx->error);
    }
    ln_free(ctx);
    ln_arch_end_use();
}

// Bodies

// Takes `ctx`, `body` and `name` on success only.
static int enter(ln_context *root, ln_context *ctx, struct ln_body *body, char *name)
{
    if (!root->body_names)
        root->body_names = ln_hash_create(ln_str_hash, ln_str_cmp, NULL, NULL);
    ln_list *node = root->body_names ? ln_list_prepend(NULL, ctx) : NULL;
    if (!node)
        return -1;
    if (ln_hash_insert(root->body_names, name, ctx) < 0) {
        ln_list_free(node);
        return -1;
    }
    ln_list_extend(&root->bodies, &root->last_body, node);
    *body = (struct ln_body){.name = name, .number = ln_hash_size(root->body_names)};
    ln_free(ctx->error);
    ln_limits_free(ctx->limits);
    ctx->error = root->error;
    ctx->limits = root->limits;
    ctx->outer = root;
    ctx->body = body;
    ctx->declared = LN_DECLARES_INPUTS | LN_DECLARES_OUTPUTS;
    return 0;
}

ln_context *ln_body_create(ln_context *ctx, const char *name)
{
    ln_context *root = ln_body_outermost(ctx);
    if (ln_body_named(root, name))
        return ln_fail(root, "the model has a body '%s' already", name), NULL;
    ln_context *made = ln_context_create();
    struct ln_body *body = made ? ln_alloc(sizeof(*body)) : NULL;
    char *copy = body ? ln_strdup(name) : NULL;
    if (copy && !enter(root, made, body, copy))
        return made;
    ln_free(copy);
    ln_free(body);
    ln_context_destroy(made);
    return ln_fail_memory(root), NULL;
}

int ln_bodies_count(const ln_context *ctx)
{
    return ctx->body_names ? ln_hash_size(ctx->body_names) : 0;
}

void ln_context_watch_rules(ln_context *ctx, ln_rule_func func, void *data)
{
    ctx->rule_func = func;
    ctx->rule_data = data;
}

void ln_bodies_share_settings(ln_context *ctx)
{
    LN_FOREACH (ln_context *, body, ctx->bodies) {
        body->msg_func = ctx->msg_func;
        body->msg_data = ctx->msg_data;
        body->rule_func = ctx->rule_func;
        body->rule_data = ctx->rule_data;
        body->isa = ctx->isa;
        body->precision = ctx->precision;
        body->allows_tf32 = ctx->allows_tf32;
        body->optimize = ctx->optimize;
        body->keep = ctx->keep;
        body->disabled = ctx->disabled;
        body->tuned = ctx->tuned;
        body->pool = ctx->pool;
        body->seed = ctx->seed;
    }
}

static void mark_used(const ln_context *root, const ln_context *program)
{
    LN_FOREACH (const ln_op *, op, program->ops) {
        LN_FOREACH (const ln_param_entry *, param, op->op_arg->params) {
            const int is_text = param->type == LN_PARAM_STRING && param->value_string;
            ln_context *body = is_text ? ln_body_named(root, param->value_string) : NULL;
            if (body)
                body->body->used = 1;
        }
    }
}

void ln_bodies_prune(ln_context *ctx)
{
    ln_context *body;
    mark_used(ctx, ctx);
    ctx->bodies = ln_list_reverse(ctx->bodies);
    LN_LIST_FOREACH (body, ctx->bodies)
        if (body->body->used)
            mark_used(ctx, body);
    ctx->bodies = ln_list_reverse(ctx->bodies);
    for (ln_list **link = &ctx->bodies; *link;) {
        ln_list *node = *link;
        body = node->data;
        if (body->body->used) {
            link = &node->next;
            continue;
        }
        *link = node->next;
        node->next = NULL;
        ln_list_free(node);
        ln_hash_remove(ctx->body_names, body->body->name);
        free_body(body);
    }
    ctx->last_body = ln_list_end(ctx->bodies);
}

// Settings

void ln_context_set_seed(ln_context *ctx, uint64_t seed)
{
    ctx->seed = seed;
}

// Returns 1 for an existing rule; else 0 and the closest name, or NULL.
static int is_known_rule(const char *rule, const char **closest)
{
    *closest = NULL;
    LN_FOREACH (const ln_arch *, arch, ln_arch_list()) {
        for (const char **name = arch->rule_names; name && *name; name++) {
            if (ln_streq(*name, rule))
                return 1;
            *closest = ln_closer_name(rule, *closest, *name);
        }
    }
    return 0;
}

// Fails if the model is compiled already, too late for compile options.
static int check_uncompiled(ln_context *ctx)
{
    return ctx->target ? ln_fail(ctx, "the model is compiled already, for '%s'", ctx->target) : 0;
}

int ln_context_disable_rule(ln_context *ctx, const char *rule)
{
    ln_context_clear_error(ctx);
    if (check_uncompiled(ctx))
        return -1;
    const char *closest;
    if (!is_known_rule(rule, &closest))
        return closest ? ln_fail(ctx, "unknown rule '%s'; did you mean '%s'?", rule, closest)
                       : ln_fail(ctx, "unknown rule '%s'", rule);
    return ln_context_prepend_name(ctx, &ctx->disabled, rule);
}

void ln_context_keep_all(ln_context *ctx)
{
    ctx->keep = 1;
}

void ln_context_set_reference(ln_context *ctx)
{
    ctx->optimize = 0;
    ctx->isa = TL_ISA_C;
    ln_context_keep_all(ctx);
}

int ln_context_set_tuning(ln_context *ctx)
{
    ln_context_clear_error(ctx);
    if (check_uncompiled(ctx))
        return -1;
    if (!ctx->tuned)
        ctx->tuned = ln_hash_create(ln_str_hash, ln_str_cmp, ln_free, NULL);
    return ctx->tuned ? 0 : ln_fail_last(ctx);
}

static const struct {
    const char *name;
    tl_dtype dtype;
    int allows_tf32;
} precisions[] = {
    {"float32", TL_FLOAT, 0},
    {"tf32", TL_FLOAT, 1},
    {"fp16", TL_FLOAT16, 0},
    {"bf16", TL_BFLOAT16, 0},
};

enum { N_PRECISIONS = sizeof(precisions) / sizeof(*precisions) };

int ln_context_set_precision(ln_context *ctx, const char *name)
{
    ln_context_clear_error(ctx);
    if (check_uncompiled(ctx))
        return -1;
    for (size_t i = 0; i < N_PRECISIONS; i++) {
        if (!ln_streq(name, precisions[i].name))
            continue;
        ctx->precision = precisions[i].dtype;
        ctx->allows_tf32 = precisions[i].allows_tf32;
        return 0;
    }
    return ln_fail_as(ctx, LN_BAD_ARGUMENT,
                      "the precision is '%s', expected float32, tf32, fp16 or bf16", name);
}

static const char *name_of_precision(const ln_context *ctx)
{
    for (size_t i = 0; i < N_PRECISIONS; i++)
        if (precisions[i].dtype == ctx->precision && precisions[i].allows_tf32 == ctx->allows_tf32)
            return precisions[i].name;
    return precisions[0].name;
}

int ln_context_fit_precision(ln_context *ctx, const ln_arch *arch, const char *source)
{
    char known[LN_MAXLINE];
    const char *const wanted = name_of_precision(ctx);
    if (ln_arch_has_precision(arch, wanted))
        return 0;
    ln_warn(ctx, "%s: precision '%s' has no effect: target '%s' computes in %s", source, wanted,
            arch->arch_name, ln_sprint_precisions(arch, known, sizeof(known)));
    ctx->precision = precisions[0].dtype;
    ctx->allows_tf32 = precisions[0].allows_tf32;
    return 1;
}

int ln_context_add_output(ln_context *ctx, const char *tname)
{
    ln_context_clear_error(ctx);
    if (ctx->target)
        return ln_fail_as(ctx, LN_BAD_ARGUMENT,
                          "the model is compiled already, for '%s': '%s' cannot become an output",
                          ctx->target, tname);
    if (!ln_tensor_table_find(ctx->tensor_table, tname))
        return ln_fail_as(ctx, LN_NOT_FOUND, "the model has no tensor '%s'", tname);
    if (ln_context_is_output(ctx, tname))
        return 0;
    return ln_context_push_output(ctx, tname);
}
