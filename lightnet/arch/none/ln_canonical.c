// SPDX-License-Identifier: Apache-2.0
// The rule that replaces operators that are aliases of others, such as relu of unary with
// func=TL_UNARY_RELU. The reference program applies it, too (identity.opt).

#include "ln_rules_none.h"

#include "lightnet/ln_pass.h"
#include "lightnet/ln_rule.h"
#include "pass/ln_rewriting.h"

ln_list *ln_canonical(const ln_context *ctx, ln_list **old_ops)
{
    static const char rule[] = "canonical";
    const ln_op *op = ln_pass_lowering_begins(ctx, rule) ? ln_rule_anchor(ctx, NULL) : NULL;
    ln_list *ops = NULL;
    int match = 0;
    *old_ops = NULL;
    for (; op && !match; op = ln_rule_anchor(ctx, op)) {
        if (!ln_op_has_trait(op, LN_TRAIT_ALIAS))
            continue;
        ops = ln_rule_mean(ctx, rule, op, &match);
        if (match && !(*old_ops = ln_list_append(NULL, (ln_op *)op)))
            ln_fail_last(ctx);
    }
    return ops;
}
