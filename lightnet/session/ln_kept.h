// SPDX-License-Identifier: Apache-2.0
// The programs that a model keeps while no session uses them, for all its sessions. One with a
// state, such as the numbers that a random operator has drawn, is for the session that it had.

#ifndef LN_KEPT_H
#define LN_KEPT_H

#include "session/ln_program.h"

/** A program that fits (ln_program_fits), which the model keeps no longer, for the session of that
 * number; NULL: there is none. */
ln_program *ln_kept_take(ln_model *model, const ln_value *values, uint64_t session);

/** Lets the model keep the program (takes it; NULL: nothing), which the session of that number (0:
 * none) has used, in place of the one that was used least recently where there are too many. */
void ln_kept_give(ln_model *model, ln_program *program, uint64_t session);

/** Frees the programs that are for that session alone. */
void ln_kept_leave(ln_model *model, uint64_t session);

#endif
