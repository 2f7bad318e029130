// SPDX-License-Identifier: Apache-2.0
// Compiling a context for a target: the passes in their order.

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "ir/ln_arch_tables.h"
#include "ir/ln_bodies.h"
#include "ir/ln_context_ops.h"
#include "ir/ln_limits.h"
#include "ir/ln_origin.h"
#include "lightnet/ln_arch.h"
#include "lightnet/ln_context.h"
#include "lightnet/ln_pass.h"
#include "lightnet/ln_util.h"
#include "pass/ln_rewriting.h"
#include "plan/ln_plan.h"
#include "run/ln_load.h"

// Max rounds over all rewrites, which are then assumed not to terminate.
enum { MAX_ROUNDS = 100 };

static const char none_name[] = "none";

static ln_arch *find_target(const ln_context *ctx, const char *target)
{
    ln_arch *arch = ln_hash_find(LN_ARCH.arch_table, target);
    if (arch && !ln_streq(target, none_name))
        return arch;
    char known[LN_MAXLINE];
    if (ln_arch_is_loadable(target))
        ln_fail_as(
            ctx, LN_BAD_ARGUMENT,
            "target '%s' is a plug-in that is not loaded: call ln_plugin_load_target(\"%s\") "
            "before you create a context",
            target, target);
    ln_fail_as(ctx, LN_BAD_ARGUMENT, "unknown target '%s'; known targets: %s", target,
               ln_sprint_targets(known, sizeof(known)));
    return NULL;
}

// One round of a stage's rewrites. Returns their number, or -1.
static int rewrite(ln_context *ctx, const ln_arch_stage *stage)
{
    int total = ln_pass_expander(ctx, stage->ep_funcs);
    for (size_t size = 2; total >= 0 && stage->cb_funcs && size <= LN_MAX_WINDOW; size++) {
        const int n = ln_pass_combiner(ctx, size, stage->cb_funcs);
        total = n < 0 ? -1 : total + n;
    }
    const int n = total < 0 ? -1 : ln_pass_subgraph(ctx, stage->sg_funcs);
    return n < 0 ? -1 : total + n;
}

// Cleans up after changes. `*is_clean`: the last clean-up found nothing, and nothing has changed
// since.
static int clean_up(ln_context *ctx, int *is_clean)
{
    if (*is_clean)
        return 0;
    const int n = ln_cleanup(ctx);
    *is_clean = n == 0;
    return n < 0 ? -1 : 0;
}

static int fail_endless(const ln_context *ctx, const ln_arch *arch)
{
    return ln_fail(ctx, "the rewrites for '%s' do not terminate", arch->arch_name);
}

static int rewrite_until_nothing_changes(ln_context *ctx, const ln_arch *arch,
                                         const ln_arch_stage *stage, int *is_clean)
{
    for (int round = 0; round < MAX_ROUNDS; round++) {
        const int n = rewrite(ctx, stage);
        *is_clean = *is_clean && n == 0;
        if (n < 0 || clean_up(ctx, is_clean))
            return -1;
        if (n == 0)
            return 0;
        ln_debug(ctx, "round %d for %s: %d rewrites", round + 1, arch->arch_name, n);
    }
    return fail_endless(ctx, arch);
}

static int is_stage(const ln_arch_stage *stage)
{
    return stage && (stage->ep_funcs || stage->cb_funcs || stage->sg_funcs);
}

// An array of stages, one after the other.
static int rewrite_stages(ln_context *ctx, const ln_arch *arch, const ln_arch_stage *stages,
                          int *is_clean)
{
    for (const ln_arch_stage *stage = stages; is_stage(stage); stage++) {
        if (rewrite_until_nothing_changes(ctx, arch, stage, is_clean))
            return -1;
    }
    return 0;
}

// The architecture that this one builds on, which was registered before it, or NULL.
static const ln_arch *base_of(const ln_arch *arch)
{
    return arch->base ? ln_hash_find(LN_ARCH.arch_table, arch->base) : NULL;
}

// The stages of the architecture and of those that it builds on, in the member of ln_arch at offset
// `field`.
static int rewrite_field(ln_context *ctx, const ln_arch *arch, size_t field, int *is_clean)
{
    for (; arch; arch = base_of(arch)) {
        const ln_arch_stage *const *stages = (const void *)((const char *)arch + field);
        if (rewrite_stages(ctx, arch, *stages, is_clean))
            return -1;
    }
    return 0;
}

// Operators of a model in IR are nodes of their own types, not of those that replace them.
int ln_canonicalize(ln_context *ctx)
{
    const ln_arch *none = ln_hash_find(LN_ARCH.arch_table, none_name);
    if (ln_origin_note_all(ctx))
        return -1;
    for (const ln_arch_stage *stage = none ? none->early_stages : NULL; is_stage(stage); stage++) {
        int n = 1;
        for (int round = 0; n > 0; round++) {
            n = round < MAX_ROUNDS ? rewrite(ctx, stage) : fail_endless(ctx, none);
            if (n < 0)
                return -1;
        }
    }
    return 0;
}

// The base architecture rewrites remaining operators.
static int rewrite_all(ln_context *ctx, const ln_arch *arch, int *is_clean)
{
    for (; arch; arch = base_of(arch)) {
        const ln_arch_stage first = {arch->ep_funcs, arch->cb_funcs, arch->sg_funcs};
        if (rewrite_until_nothing_changes(ctx, arch, &first, is_clean) ||
            rewrite_stages(ctx, arch, arch->later_stages, is_clean))
            return -1;
    }
    return 0;
}

// Applies the rules of abstract operators, with LN_OPTIMIZE_TARGET only those that lower: then the
// target's rules select kernels for the operators of the model.
static int rewrite_abstract(ln_context *ctx, const ln_arch *none, int *is_clean)
{
    const int optimize = ctx->optimize;
    if (optimize == LN_OPTIMIZE_TARGET)
        ctx->optimize = 0;
    const int status = rewrite_all(ctx, none, is_clean);
    ctx->optimize = optimize;
    return status;
}

// Replaces the operators of `ctx` by operators of the target.
static int lower(ln_context *ctx, const ln_arch *arch)
{
    const ln_arch *none = ln_hash_find(LN_ARCH.arch_table, none_name);
    int is_clean = 0;
    if (ln_origin_note_all(ctx) || ln_rewriting_begin(ctx))
        return -1;
    const int status = rewrite_field(ctx, arch, offsetof(ln_arch, model_stages), &is_clean) ||
                       ln_canonicalize(ctx) || clean_up(ctx, &is_clean) ||
                       rewrite_field(ctx, arch, offsetof(ln_arch, early_stages), &is_clean) ||
                       (none && rewrite_abstract(ctx, none, &is_clean)) ||
                       rewrite_all(ctx, arch, &is_clean);
    ln_rewriting_end(ctx);
    return status ? -1 : 0;
}

static int set_target(ln_context *ctx, const ln_arch *arch)
{
    ctx->target = ln_strdup(arch->arch_name);
    return ctx->target ? 0 : ln_fail_last(ctx);
}

static int fail_in_body(const ln_context *ctx, const ln_context *body)
{
    return ln_fail_at(ctx, "body '%s'", ln_body_name(body));
}

// Outer bodies before nested ones: the operators that run a body determine its constant inputs.
static int lower_bodies(ln_context *ctx, const ln_arch *arch)
{
    int status = 0;
    const ln_list *node;
    ctx->bodies = ln_list_reverse(ctx->bodies);
    for (node = ctx->bodies; node && !status; node = node->next) {
        ln_context *const body = node->data;
        if (set_target(body, arch) || ln_hoist_mark(body) || lower(body, arch))
            status = fail_in_body(ctx, body);
        else
            ln_hoist_note_runners(body);
    }
    ctx->bodies = ln_list_reverse(ctx->bodies);
    return status;
}

static int hoist(ln_context *ctx)
{
    if (!ctx->bodies)
        return 0;
    LN_FOREACH (ln_context *, body, ctx->bodies)
        if (ln_hoist(body))
            return fail_in_body(ctx, body);
    return ln_hoist(ctx);
}

// The last steps, for the final operator list.
static int finish(ln_context *ctx, const ln_arch *arch)
{
    if (ln_pass_schedule(ctx, ctx->optimize ? arch->sd_funcs : NULL) || ln_plan(ctx))
        return -1;
    // Inference from the rewritten operators might find other inputs and outputs.
    ctx->declared = LN_DECLARES_INPUTS | LN_DECLARES_OUTPUTS;
    LN_FOREACH (const ln_rule_count *, rule, ctx->rules)
        ln_debug(ctx, "rule %s: %d time%s", rule->name, rule->count, rule->count == 1 ? "" : "s");
    return 0;
}

// Before the operators that run the bodies, since these provide their memory.
static int finish_bodies(ln_context *ctx, const ln_arch *arch)
{
    LN_FOREACH (ln_context *, body, ctx->bodies) {
        ln_hoist_end(body);
        if (finish(body, arch) || ln_body_check_ops(body))
            return fail_in_body(ctx, body);
    }
    return 0;
}

static int compile(ln_context *ctx, const ln_arch *arch)
{
    ln_bodies_share_settings(ctx);
    if (set_target(ctx, arch) || lower(ctx, arch))
        return -1;
    ln_hoist_note_runners(ctx);
    return -(lower_bodies(ctx, arch) || hoist(ctx) || finish_bodies(ctx, arch) ||
             finish(ctx, arch));
}

int ln_context_compile(ln_context *ctx, const char *target)
{
    ln_context_clear_error(ctx);
    const ln_arch *arch = find_target(ctx, target);
    if (!arch)
        return -1;
    if (!ctx->ops && !ctx->source)
        return ln_fail(ctx, "the context has no model to compile");
    if (ctx->target)
        return ln_fail(ctx, "the model is compiled already, for '%s'", ctx->target);
    ln_context_fit_precision(ctx, arch, ctx->source ? ctx->source : "model");
    ln_budget *const before = ln_limits_enter(ctx);
    // Measurements use the threads of the runs.
    int status = -(ln_context_threads(ctx, &ctx->planned_threads) ||
                   (ctx->tuned && ln_context_start_threads(ctx)) || compile(ctx, arch));
    if (status && ctx->source)
        ln_fail_at(ctx, "%s", ctx->source);
    status = ln_limits_leave(ctx, before, status);
    if (status)
        ln_context_cleanup(ctx);
    return status;
}
