// SPDX-License-Identifier: Apache-2.0
// A session, and the program that it runs: one for its inputs' shapes, which the model keeps or
// which is made. A session is its program's only user. Which program that is only changes under the
// lock, as ln_session_cancel reaches for it from other threads.

#ifndef LN_SESSION_PROGRAM_H
#define LN_SESSION_PROGRAM_H

#include <stddef.h>

#include "lightnet/ln_session.h"
#include "session/ln_model.h"
#include "session/ln_program.h"
#include "session/ln_value.h"

/* All zero: no memory. */
typedef struct ln_region {
    void *memory; /* aligned as CPU memory is */
    size_t size;
    size_t
        used; /* bytes from the first one on that may have been used: the system has the others */
    size_t most; /* that was needed since `used` was looked at */
    int n;       /* times that memory was needed since then */
} ln_region;

/** Makes room for a program that needs `size` bytes. What was there is lost. Now and then gives
 * memory back that has not been needed for long. -1: no memory, and the region has none then. */
int ln_region_fit(ln_region *region, size_t size);

/** Frees its memory. */
void ln_region_clear(ln_region *region);

/* The size that a run has for a name, and the input that has it. */
typedef struct ln_session_symbol {
    int dim;
    const ln_port *port; /* NULL: none yet */
} ln_session_symbol;

struct ln_session {
    ln_model *model;
    uint64_t number;            /* among those of the model, from 1 */
    ln_value *values;           /* of each input of the interface */
    ln_place *places;           /* of each output */
    ln_session_symbol *symbols; /* for checks */
    ln_program *program;        /* for the shapes of the last run, or NULL */
    ln_region region;           /* that it runs in */
    uint64_t random;            /* the state of random numbers of the model's seed */
    int has_outputs;
    uint64_t timeout; /* ms */
    uint64_t began;   /* the run, on tl_clock(); where there is a timeout */
    ln_error error;

    /* ln_session_lock */
    ln_context *running; /* what works for the session: the program's, or one in the making */
    int is_cancelled;
};

/** Lets the session have a program for its values, in its memory, with the time of a run that began
 * at session->began. -1 with the session's error: it has none then. */
int ln_session_choose_program(ln_session *session);

/** Whether the session's error, of a program for open sizes that has failed, would be that of a
 * program for just these sizes, too: it has been tried before. */
int ln_session_is_refused(const ln_session *session);

/** Gives the session a program for just its sizes, in place of one for open sizes that has failed,
 * which is *open then, for one of the two functions below. -1 with the session's error: it has none
 * then. */
int ln_session_make_fixed(ln_session *session, ln_program **open);

/** The fixed program has done what `open` could not (takes it): the model's programs are for fixed
 * shapes from now on. */
void ln_session_keep_fixed(ln_session *session, ln_program *open);

/** The fixed program has failed, or could not be made, too: the session has `open` (takes it)
 * again. Its error is `failure`, why that one failed, unless something else ended the trial, such
 * as an allocation that failed since `failures` was noted (ln_call.h). */
void ln_session_take_back(ln_session *session, ln_program *open, const ln_error *failure,
                          unsigned long failures);

/** Gives the program, if there is one, back to the model; outputs are gone then. */
void ln_session_drop_program(ln_session *session);

/** Takes over the context's reason. Returns -1. */
int ln_session_take_error(ln_session *session, const ln_context *ctx);

#endif
