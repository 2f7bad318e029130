// SPDX-License-Identifier: Apache-2.0
// Rewriting within compiling: the state of drivers and rules, and the passes between rules.

#pragma once

#include "lightnet/ln_context.h"
#include "lightnet/ln_pass.h"

/** The state of active rewrites, as ctx->rewriting; NULL at other times. */
typedef struct ln_rewriting {
    int depth;                   // the nesting depth
    const ln_op *anchor;         // where a subgraph rule must match; NULL: anywhere
    const char *fired;           // the rule that matched last (a constant string), or NULL
    ln_list *inspected;          // ln_fixed_value: the constants that the current rule has read
    ln_hash *warned;             // "RULE OPERATOR" of each warning of a rule
    int (*has)(const ln_op *op); // the argument of ln_pass_lower
    const char *winner;          // the rule that matched, while others are asked whether they would
                                 // match, too; else NULL
} ln_rewriting;

/** ln_pass_anchor, inlined for calls per rule and operator. */
static inline const ln_op *ln_rewriting_anchor(const ln_context *ctx)
{
    return ctx->rewriting ? ctx->rewriting->anchor : NULL;
}

/** Calls the function of ln_context_watch_rules, if there is one. */
static inline void ln_rewriting_report(const ln_context *ctx, const char *rule,
                                       ln_rule_outcome outcome, const ln_op *op, const char *text)
{
    if (ctx->rule_func)
        ctx->rule_func(ctx->rule_data, &(ln_rule_event){rule, outcome, op, text});
}

/** As ln_pass_rule_begins, for rules that only match while there is a winner. */
int ln_rewriting_rule_begins(const ln_context *ctx, const char *name);

/** Creates ctx->rewriting, unless it has begun already. -1 with a reason: no memory. */
int ln_rewriting_begin(ln_context *ctx);

/** Ends one level; the outermost one frees ctx->rewriting. */
void ln_rewriting_end(ln_context *ctx);

/** Replaces operators by general ones, such as relu by unary; other rules match only these. -1 with
 *  a reason. In ln_compile.c. */
int ln_canonicalize(ln_context *ctx);

/** An expander that replaces an operator by the first of its meanings that applies (ln_op_info),
 * floats of 16 bits possibly by ones of 32 bits first. `rule`: the name of the rewrite; NULL: that
 * of the meaning. */
ln_list *ln_rule_mean(const ln_context *ctx, const char *rule, const ln_op *op, int *match);

/** Replaces operators that a format or a target lacks by their meanings, until it has all, or no
 *  meaning applies; also in bodies. -1 with a reason. */
int ln_pass_lower(ln_context *ctx, int (*has)(const ln_op *op));

// Clean-up: dead operators, equal operators, views that change nothing

// See ln_pass_preprocess. All return the number of changes, or -1 with a reason.

/** All of them, if the context is to be optimized. */
int ln_cleanup(ln_context *ctx);

/** Removes operators that no output, side effect or input of the model needs. */
int ln_cleanup_dead(ln_context *ctx);

// Hoisting

// Moves static operators of bodies to the program that runs them, where they run once, at load.
//
// A body has no constants: its inputs come from the operator that runs it, its runner. While a body
// is rewritten, however, an input counts as constant if its runner always passes the same constant,
// so rules pack weights there, too. Operators of the body that depend only on constants then move
// in front of the runner, and their results replace their inputs as inputs of the body.
//
//     lower(program);
//     ln_hoist_note_runners(program);
//     ... for each body, backwards: ln_hoist_mark(body), lower(body), ln_hoist_note_runners(body)
//     ... for each body, forwards, and the program at last: ln_hoist(ctx)

/** Records the runners in `ctx` of each body. */
void ln_hoist_note_runners(const ln_context *ctx);

/** Marks the inputs of the body as constant that its recorded runner, a branch or loop, passes as
 * constants. Does nothing for a body with several or other runners. -1 with a reason. */
int ln_hoist_mark(ln_context *body);

/** Moves static operators out of the bodies that operators of `ctx` run, to before these operators.
 * Bodies nested in them come first, in calls of their own. -1 with a reason. */
int ln_hoist(ln_context *ctx);

/** Unmarks the constant inputs of the body. */
void ln_hoist_end(const ln_context *body);

// Freezing

// Replaces operators at load of a compiled program by their results.
//
//     weight ─▶ fold ─▶ pack ─▶ conv2d ─▶ ...        weight, folded: only loading reads them
//     packed ─────────────────▶ conv2d ─▶ ...        frozen: `packed` comes from the model's own
//     file
//
// An operator that runs at load becomes a source of its results, unless these are much larger than
// its inputs, such as transformed weights: then it stays, since computing is faster than
// reading. Tensors without readers are removed, and the memory is planned again.
//
// Not frozen: results that depend on the seed of random numbers, results of dynamic size, and
// outputs of the model. Removed constants are recorded with hashes of their values, which the
// program depends on (ln_fixed.h).

/** Freezes a compiled context that is not loaded; `datafile` as for ln_context_load. Afterwards
 * ctx->weights has copies of all data that the program reads from files. -1 with a reason: the
 * context is as before, or empty. */
int ln_freeze(ln_context *ctx, const char *datafile);

/** ln_op_free_lists_too as an ln_free_func. */
static inline void ln_rewriting_free_op(void *op)
{
    ln_op_free_lists_too(op);
}

/** Replaces the operator at *position by sources of all its outputs, in the CPU's memory; *position
 * becomes the node after them. -1 with the reason in the context. */
int ln_context_replace_by_sources(ln_context *ctx, ln_list **position, int from_file);
