// SPDX-License-Identifier: Apache-2.0
// A session and its current program: one for its inputs' shapes, from the model's cache or new. A
// session is the only user of its program. The pointer to it changes only under the lock, since
// ln_session_cancel reads it from other threads.

#pragma once

#include <stddef.h>

#include "lightnet/ln_session.h"
#include "session/ln_model.h"
#include "session/ln_program.h"
#include "session/ln_value.h"

/** All zero: no memory. */
typedef struct ln_region {
    void *memory; // aligned as CPU memory is
    size_t size;
    size_t touched; // leading bytes that may have been used: the system has the others
    size_t peak;    // max size needed since `touched` was last checked
    int uses;       // since then
} ln_region;

/** Provides `size` bytes for a program, with undefined content. Regularly returns memory that has
 * not been needed for long. -1: no memory, and the region has none then. */
int ln_region_fit(ln_region *region, size_t size);

/** Frees its memory. */
void ln_region_clear(ln_region *region);

/** The value of a named size in a run, and the input that it is from. */
typedef struct ln_session_symbol {
    int dim;
    const ln_port *port; // NULL: none yet
} ln_session_symbol;

typedef struct ln_link ln_link;

struct ln_session {
    ln_model *model;
    uint64_t number;            // among those of the model, from 1
    ln_value *values;           // of each input of the interface
    ln_buffer *buffers;         // of each output
    ln_session_symbol *symbols; // for checks
    ln_link *links;             // its states (session/ln_link.h)
    size_t n_links;
    ln_program *program;  // for the shapes of the last run, or NULL
    ln_program *compared; // while one is chosen: for fixed sizes, not loaded; or NULL
    int has_chosen;       // it has had a program
    ln_region region;     // the memory of runs
    uint64_t random;      // the state of random numbers
    int is_seeded;        // by the option, or by the first run that needs them
    int has_outputs;
    uint64_t timeout; // ms
    uint64_t began;   // start of the run, on tl_clock(); with a timeout
    ln_error error;

    // ln_session_lock
    ln_context *running; // the current context: the program's, or one being created
    int is_cancelled;
};

/** Sets the session's program for its values, in its memory, with the deadline of a run that began
 * at session->began. -1 with the session's error: it has no program then. */
int ln_session_choose_program(ln_session *session);

/** Whether the session's error, of a failed program for open sizes, is known to occur in a program
 * for these fixed sizes, too. */
int ln_session_is_rejected(const ln_session *session);

/** Replaces the session's failed program for open sizes, which becomes *open, by one for its fixed
 * sizes; then call one of the two functions below. -1 with the session's error: it has no program
 * then. */
int ln_session_make_fixed(ln_session *session, ln_program **open);

/** The fixed program succeeded where `open` (takes it) failed: from now on the model's programs are
 * for fixed shapes. */
void ln_session_keep_fixed(ln_session *session, ln_program *open);

/** The fixed program failed, or could not be created, too: restores `open` (takes it) in the
 * session, or drops it without memory. The error is `failure`, that of `open`, unless the trial
 * ended for another reason, such as an allocation that failed since `failures` was read. */
void ln_session_take_back(ln_session *session, ln_program *open, const ln_error *failure,
                          unsigned long failures);

/** Returns the program, if any, to the model's cache; outputs become invalid. */
void ln_session_drop_program(ln_session *session);

/** Copies the context's reason. Returns -1. */
int ln_session_take_error(ln_session *session, const ln_context *ctx);
