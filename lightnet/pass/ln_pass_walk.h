// SPDX-License-Identifier: Apache-2.0
// The walk over the operators that the drivers of rewrites share.

#ifndef LN_PASS_WALK_H
#define LN_PASS_WALK_H

#include "lightnet/ln_pass.h"

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

/** Whether a rule function failed: it then left a reason. */
int ln_pass_has_failed(const ln_context *ctx);

/** Puts `new_ops` (takes them) in place of `old_ops` unless that is unsafe. Returns 1 when it did,
 * 0 when not, -1 on failure, including that of the rule function. */
int ln_pass_apply(ln_context *ctx, ln_list *old_ops, ln_list *new_ops, ln_list **next);

/** Offers each operator in list order, continuing at what was rewritten. Returns the number of
 *  rewrites, or -1. */
int ln_pass_walk(ln_context *ctx, const ln_pass_rewriter *with);

#endif
