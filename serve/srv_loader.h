// SPDX-License-Identifier: Apache-2.0
// Threads that load and unload models, since that takes long: at the start, when clients ask, and
// when files change.
#pragma once

#include "srv_server.h"

typedef struct srv_loader srv_loader;

/** A request to load or unload a model; the caller owns it until `done`. */
typedef struct srv_job {
    int is_unload;
    const char *name; // of the model
    srv_error error;  // set before `done`
    void (*done)(struct srv_job *job);
    void *owner;
    struct srv_job *next;
} srv_job;

/** Looks for changes of models, tokens and certificates every `poll_s` seconds; 0: never. Returns
 *  new (srv_loader_free); NULL: no memory. */
srv_loader *srv_loader_create(srv_server *server, double poll_s);

/** Starts the thread, which loads all models first. A load that takes long has others beside it. -1
 *  with a reason. */
int srv_loader_start(srv_loader *loader, srv_error *err);

/** Appends a job (takes it until `done`, which a thread calls; the caller's after the end). */
void srv_loader_add(srv_loader *loader, srv_job *job);

/** Looks for changes at once, and reads what has changed even if it was seen for the first time. */
void srv_loader_look(srv_loader *loader);

/** Begins no load, and cancels those that run: it does not wait. Jobs that come later fail. */
void srv_loader_end(srv_loader *loader);

/** Ends as above, and waits some seconds for loads that run; jobs fail. Returns the number of loads
 *  that have not ended, since the reading of a file cannot be cancelled: they use the loader and
 *  the server until the process ends. No other thread may call it. */
int srv_loader_stop(srv_loader *loader);

/** Frees a loader that has stopped, without loads, or was not started. Ignores NULL. */
void srv_loader_free(srv_loader *loader);
