// SPDX-License-Identifier: Apache-2.0
// The walk over the operators that the drivers of rewrites share, and what they and the rules keep.

#ifndef LN_PASS_WALK_H
#define LN_PASS_WALK_H

#include "lightnet/ln_pass.h"

/** What is kept while rewrites are at work, as ctx->rewriting; NULL at other times. */
typedef struct ln_rewriting {
    int depth;           /* how often it has begun and not ended */
    const ln_op *anchor; /* where a subgraph rule is to match; NULL: anywhere */
    const char *fired;   /* the rule that matched last (a constant string), or NULL */
    ln_list *inspected;  /* ln_fixed_value: the constants that the rule at work has read */
    ln_hash *warned;     /* "RULE OPERATOR" of the warnings that rules have given */
} ln_rewriting;

/** ln_pass_anchor, for those that ask it for each rule and operator. */
static inline const ln_op *ln_rewriting_anchor(const ln_context *ctx)
{
    return ctx->rewriting ? ctx->rewriting->anchor : NULL;
}

/** Creates ctx->rewriting, unless it has begun already. -1 with a reason: no memory. */
int ln_rewriting_begin(ln_context *ctx);

/** Frees it when all have ended that began. */
void ln_rewriting_end(ln_context *ctx);

/** Counts the rule that matched last, and notes the constants that it has read. -1 with a reason:
 * no memory. */
int ln_rewriting_count(ln_context *ctx);

/** What a driver offers the operators to: one of the three kinds of functions, and how. `offer`
 *  returns 1 when a function rewrote (*next is where to continue), 0 when none applies, -1 on
 *  failure. */
typedef struct ln_pass_rewriter {
    int (*offer)(ln_context *ctx, ln_list *node, const struct ln_pass_rewriter *with,
                 ln_list **next);
    const ln_expander_func *ep_funcs;
    const ln_combiner_func *cb_funcs;
    const ln_subgraph_func *sg_funcs;
    size_t win_size;
} ln_pass_rewriter;

/** Replaces operators by general ones, such as relu by unary; other rules match only these. -1 with
 *  a reason. In ln_compile.c. */
int ln_canonicalize(ln_context *ctx);

/** Whether a rule function failed: it then left a reason. */
static inline int ln_pass_has_failed(const ln_context *ctx)
{
    return *ctx->error->text != 0;
}

/** Puts `new_ops` (takes them) in place of `old_ops` unless that is unsafe. Returns 1 when it did,
 * 0 when not, -1 on failure, including that of the rule function. */
int ln_pass_apply(ln_context *ctx, ln_list *old_ops, ln_list *new_ops, ln_list **next);

/** Offers each operator in list order, continuing at what was rewritten. Returns the number of
 *  rewrites, or -1. */
int ln_pass_walk(ln_context *ctx, const ln_pass_rewriter *with);

#endif
