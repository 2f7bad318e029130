// SPDX-License-Identifier: Apache-2.0
// Which tensors of a context are constant: kept up to date while operators come and go. The rules
// stand in docs/dev/design.md, "Constants and static work".

#ifndef LN_CONTEXT_CONST_H
#define LN_CONTEXT_CONST_H

#include "lightnet/ln_context.h"

/* Values of op_arg->at_load: whether an operator runs when the context is loaded, and what of that
 * is to be done again. */
enum {
    LN_AT_LOAD_NOT = 0,      /* it runs per inference */
    LN_AT_LOAD_DONE = 1,     /* its results are those of what it reads, once loading has run it */
    LN_AT_LOAD_OUTDATED = 2, /* it depends on what has been set */
    LN_AT_LOAD_PULLED = 3,   /* an outdated operator needs its result, which has lost its memory */
    LN_AT_LOAD_SHARED = 4,   /* while loading: others have its results (run/ln_sharing.h) */
};

/** For an operator whose outputs have just been made: sets their isconst and isstatic and its
 *  at_load, and when it writes memory that others made, revokes what was constant there, and what
 *  was computed from that. -1: no memory. */
int ln_context_settle_constants(const ln_context *ctx, ln_op *op);

/** Marks as mutated what the operator writes in place, and what of its outputs, and of the
 * inputs that it has made parts of them, lies in such memory, with all that shares it. -1: no
 * memory. */
int ln_context_mark_mutated(const ln_context *ctx, const ln_op *op);

/** The operator cannot run at load any more: its outputs, and all that is computed from them, are
 *  not constant. -1: no memory. */
int ln_context_revoke_outputs(const ln_context *ctx, ln_op *op);

/** Marks the tensors that are written in place, and no others, from the operators, which must all
 * be checked. -1: no memory. */
int ln_context_find_mutated(const ln_context *ctx);

#endif
