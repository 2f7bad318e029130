// SPDX-License-Identifier: Apache-2.0
// A load of a model that another thread may cancel. It runs the model by sessions, one at a time:
//
//     srv_opening_enter(&opening, session); // ends the runs of the session if it is cancelled
//     ...
//     srv_opening_leave(&opening);          // before the session is freed
//     if (srv_opening_check(&opening, err))
//         return -1;
#pragma once

#include <pthread.h>

#include "lightnet/ln_session.h"
#include "srv_status.h"

typedef struct srv_opening {
    pthread_mutex_t lock; // protects the others
    ln_session *session;  // borrowed; NULL: none
    int is_cancelled;
} srv_opening;

void srv_opening_init(srv_opening *o);
void srv_opening_clear(srv_opening *o);

/** Runs of `session` (borrows until srv_opening_leave) end when the load is cancelled, or was. */
void srv_opening_enter(srv_opening *o, ln_session *session);
void srv_opening_leave(srv_opening *o);

/** In any thread, between srv_opening_init and srv_opening_clear. */
void srv_opening_cancel(srv_opening *o);

/** 0; -1 with a reason: the load is cancelled. */
int srv_opening_check(srv_opening *o, srv_error *err);
