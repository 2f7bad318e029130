// SPDX-License-Identifier: Apache-2.0
// Rewriting within compiling: what drivers and rules keep, and the passes between rules.

#ifndef LN_REWRITING_H
#define LN_REWRITING_H

#include "lightnet/ln_context.h"
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

/** Replaces operators by general ones, such as relu by unary; other rules match only these. -1 with
 *  a reason. In ln_compile.c. */
int ln_canonicalize(ln_context *ctx);

/* ---- clean-up: dead operators, equal operators, views that change nothing ---- */

/* See ln_pass_preprocess. All return how much they changed, 0 for nothing, or -1 with a reason. */

/** All of them, where the context is to be optimized. */
int ln_cleanup(ln_context *ctx);

/** Removes operators that no output, no effect and no input of the model needs. */
int ln_cleanup_dead(ln_context *ctx);

/* ---- hoisting ---- */

/* Static work of bodies: it moves into the program that runs them, where it is done once, at load.
 *
 * A body has no constants: what it reads comes from the operator that runs it, its runner. While a
 * body is rewritten, however, an input that its runner always gives the same constant counts as
 * constant, so rules pack weights there as anywhere. What then stands in the body and depends on
 * constants alone moves in front of the runner, and its results become inputs of the body in place
 * of what only it had read.
 *
 *     lower(program);
 *     ln_hoist_note_runners(program);
 *     ... for each body, backwards: ln_hoist_mark(body), lower(body), ln_hoist_note_runners(body)
 *     ... for each body, forwards, and the program at last: ln_hoist(ctx) */

/** Notes which operators of `ctx` run which bodies. */
void ln_hoist_note_runners(const ln_context *ctx);

/** Lets the inputs of the body count as constant that its runner, which has been noted, gives it as
 * constants. Those of a body with several runners stay what they are. -1 with a reason. */
int ln_hoist_mark(ln_context *body);

/** Moves the static work of the bodies that operators of `ctx` run in front of these operators,
 * after that of bodies within the bodies. -1 with a reason. */
int ln_hoist(ln_context *ctx);

/** No input of the body counts as constant any more. */
void ln_hoist_end(const ln_context *body);

/* ---- freezing ---- */

/* A compiled program gets the results of its static work in place of that work.
 *
 *     weight ─▶ fold ─▶ pack ─▶ conv2d ─▶ ...        weight, folded: only loading reads them
 *     packed ─────────────────▶ conv2d ─▶ ...        frozen: `packed` comes from the model's own
 *     file
 *
 * An operator that runs at load becomes a source of its results, unless these are much larger than
 * what it reads, as transformed weights are: then it stays, since computing takes less time than
 * reading. Whatever nothing reads any more leaves the program, and the memory is planned anew.
 *
 * Left as they are: results that depend on the seed of random numbers, whose sizes are known when
 * they are computed only, or that are outputs of the model. What has left the program is noted,
 * with a hash of its value, as what the program was made for (ln_fixed.h). */

/** Freezes a compiled context that is not loaded; `datafile` as for ln_context_load. Afterwards
 * ctx->weights has copies of all data that the program takes from files. -1 with a reason: the
 * context is as before, or empty. */
int ln_freeze(ln_context *ctx, const char *datafile);

#endif
