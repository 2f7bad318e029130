// SPDX-License-Identifier: Apache-2.0
// Decomposes operators that a target or a format lacks.

#include <stdio.h>

#include "lightnet/ln_arch.h"
#include "lightnet/ln_pass.h"
#include "lightnet/ln_rule.h"
#include "lightnet/ln_util.h"
#include "pass/ln_rewriting.h"

ln_list *ln_rule_lower(const ln_context *ctx, const char *rule, const char *suffix, const ln_op *op,
                       int *match)
{
    char optype[LN_MAX_NAME_LEN];
    *match = 0;
    snprintf(optype, sizeof(optype), "%s%s", op->op_arg->optype, suffix);
    if (!ln_streq(op->op_arg->arch, "none") || !ln_pass_lowering_begins(ctx, rule))
        return NULL;
    const int has_type = ln_hash_find(LN_ARCH.op_proto_table, optype) != NULL;
    // An operator whose optype is disabled is lowered all the same if no meaning applies.
    if (!has_type || !ln_pass_lowering_begins(ctx, optype)) {
        ln_list *const meaning = ln_rule_mean(ctx, NULL, op, match);
        if (!has_type || *match)
            return meaning;
    }
    ln_op *lowered = ln_op_copy_to_optype(LN_ARCH.op_proto_table, op, optype);
    ln_list *ops = lowered ? ln_list_append(NULL, lowered) : NULL;
    if (!ops) {
        ln_op_free_lists_too(lowered);
        return ln_fail_last(ctx), NULL;
    }
    *match = 1;
    ln_pass_rule_fires(ctx, rule, ops);
    return ops;
}

static ln_list *lower_lacking(const ln_context *ctx, const ln_op *op, int *match)
{
    return ctx->rewriting->has(op) ? NULL : ln_rule_mean(ctx, NULL, op, match);
}

int ln_pass_lower(ln_context *ctx, int (*has)(const ln_op *op))
{
    static const ln_expander_func funcs[] = {lower_lacking, NULL};
    LN_FOREACH (ln_context *, body, ctx->bodies)
        if (ln_pass_lower(body, has))
            return -1;
    if (ln_rewriting_begin(ctx))
        return -1;
    ctx->rewriting->has = has;
    const int n = ln_pass_expander(ctx, funcs);
    ln_rewriting_end(ctx);
    return n < 0 ? -1 : 0;
}
