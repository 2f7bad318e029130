// SPDX-License-Identifier: Apache-2.0
// States of a session: outputs of a run that are inputs of the next one.
//
// A link has two blocks of memory. A run reads the state from one of them and writes the next state
// to the other one, in place where the program can, so no state is copied. A state that grows in
// place (ln_state_rows.h) stays in its block, and a run writes the new rows only.

#pragma once

#include <stddef.h>

#include "session/ln_state_rows.h"
#include "session/ln_session_program.h"

/** A block of a state; all zero: none. */
typedef struct ln_state_block {
    void *data; // aligned as CPU memory is
    size_t size;
} ln_state_block;

struct ln_link {
    size_t output, input; // numbers in the interface
    ln_state_block now, next;
    int axis, rows;   // of the state in `now`, if it has memory for more rows; rows 0: it has not
    ln_value shape;   // of `next`, after a run
    tl_tensor *view;  // a copy without these rows, for the caller, until the next run; or NULL
    const void *lent; // the caller's value, which this run has moved to `now`; or NULL
    int is_initial;   // `now` has the zeros of a first run, which has not succeeded yet
    // In the current program:
    const ln_program *program; // for which `in_place` was found; NULL: none
    ln_state_rows in_place;
};

/** Frees all links. */
void ln_links_free(ln_session *session);

/** The link of an output, by its number; NULL: none. */
ln_link *ln_links_of_output(const ln_session *session, size_t output);

/** Before a run: sets inputs without a value to their initial state. -1 with a reason: it has open
 * sizes that no other input has. */
int ln_links_begin(ln_session *session);

/** Provides memory for the next states, for the session's program. -1: no memory. */
int ln_links_prepare(ln_session *session);

/** Call before the session's program leaves it. */
void ln_links_leave_program(ln_session *session);

/** The tensor of an output, without memory for more rows. NULL with a reason: no memory. */
const tl_tensor *ln_links_output(ln_session *session, size_t output);

/** After ln_program_fill: -1 with a reason if a state that grows in place is elsewhere. */
int ln_links_check(ln_session *session);

/** After a failed run: restores the values that the caller has bound. */
void ln_links_restore(ln_session *session);

/** After a successful run: the outputs become values of inputs. -1 with a reason, and unchanged
 * states: an input does not allow the shape of its output; no memory. */
int ln_links_commit(ln_session *session);
