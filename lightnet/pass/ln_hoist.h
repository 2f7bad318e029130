// SPDX-License-Identifier: Apache-2.0
// Static work of bodies: it moves into the program that runs them, where it is done once, at load.
//
// A body has no constants: what it reads comes from the operator that runs it, its runner. While a
// body is rewritten, however, an input that its runner always gives the same constant counts as
// constant, so rules pack weights there as anywhere. What then stands in the body and depends on
// constants alone moves in front of the runner, and its results become inputs of the body in place
// of what only it had read.
//
//     lower(program);
//     ln_hoist_note_runners(program);
//     ... for each body, backwards: ln_hoist_mark(body), lower(body), ln_hoist_note_runners(body)
//     ... for each body, forwards, and the program at last: ln_hoist(ctx)

#ifndef LN_HOIST_H
#define LN_HOIST_H

#include "lightnet/ln_context.h"

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

#endif
