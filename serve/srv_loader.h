// SPDX-License-Identifier: Apache-2.0
// A thread that loads and unloads models, since that takes long: at the start, when clients ask,
// and when files change.
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

/** Starts the thread, which loads all models first, and then looks for changes of models, tokens
 * and certificates every `poll_s` seconds; 0: never. Returns new (srv_loader_free); NULL: no
 * memory. */
srv_loader *srv_loader_create(srv_server *server, double poll_s);

/** Appends a job (takes it until `done`, which the thread calls; the caller's after a stop). */
void srv_loader_add(srv_loader *loader, srv_job *job);

/** Looks for changes at once, and reads what has changed even if it was seen for the first time. */
void srv_loader_look(srv_loader *loader);

/** Ends the thread; jobs that wait, or come later, fail. No other thread may call it. */
void srv_loader_stop(srv_loader *loader);

/** Stops, and frees the loader, which nobody uses. Ignores NULL. */
void srv_loader_free(srv_loader *loader);
