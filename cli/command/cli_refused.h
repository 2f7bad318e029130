// SPDX-License-Identifier: Apache-2.0
// Rules that were not applied to operators which their patterns match, and why.
//
//     cli_refusals r;
//     if (!cli_refusals_watch(&r, ctx) && !ln_context_compile(ctx, "cpu") &&
//         !cli_refusals_find(&r, ctx))
//         for (const cli_refused *item = r.items; item < r.items + r.n; item++) ...
//     cli_refusals_free(&r);
//
// Rules see operators that later rewrites replace. These become those that produce the same tensor
// or, if that is gone or only another layout of the result, that compute the same node of the
// model.

#pragma once

#include "cli_options.h"
#include "lightnet/lightnet.h"

typedef struct cli_refused {
    const ln_op *op; // of the compiled program, or of a subgraph of it
    const char *rule;
    ln_rule_outcome outcome; // not LN_RULE_APPLIED
    char *text;              // as that of ln_rule_event; or NULL
    char *tensor;            // the first output of the operator that the rule saw; or NULL
    int node;                // a node that it computed; 0: unknown
    int is_movement;         // of data: its kind
    int position, number;    // of `op` among those of a run, and of the item, for sorting
    const ln_context *ctx;   // of the operator that the rule saw; may be gone
} cli_refused;

typedef struct cli_refusals {
    cli_refused *items; // by operators in their order, of each in the order of the rules' first try
    int n, capacity;
    int n_left_out; // beyond the max number
    ln_hash *index; // "CONTEXT RULE TENSOR" -> number + 1; owns the keys
    int failed;     // no memory
} cli_refusals;

/** Notes what rules do while the context and its subgraphs are compiled. Returns 0, or CLI_FAILED
 * after a message; free in any case. */
int cli_refusals_watch(cli_refusals *r, ln_context *ctx);

/** Ends watching, and keeps the items whose operators runs of the compiled program compute. Returns
 * 0, or CLI_FAILED after a message. */
int cli_refusals_find(cli_refusals *r, ln_context *ctx);

void cli_refusals_free(cli_refusals *r);

/** The outcome as one word, such as "condition". */
const char *cli_refused_word(const cli_refused *item);

/** Why the rule was not applied, as a phrase in `text`. Returns text. */
const char *cli_refused_why(const cli_refused *item, char text[LN_MAXLINE]);
