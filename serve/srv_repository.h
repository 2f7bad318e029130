// SPDX-License-Identifier: Apache-2.0
// The models of a server: files, or folders with NAME/VERSION/model.onnx, as Triton has them.
//
// Files are read when the server starts, when a client asks, and when they change. A model that is
// replaced answers what it has accepted; requests meanwhile find the old or the new one.
#pragma once

#include "srv_model.h"

typedef struct srv_repository srv_repository;

/** A version of a model, whether it is loaded or not. Strings are borrowed, during the call. */
typedef struct srv_version {
    const char *name, *version;
    const char *state;  // "READY", "LOADING", "UNAVAILABLE"
    const char *reason; // why it is unavailable; "": it was unloaded, or is older than those loaded
    srv_model *model;   // borrowed; NULL: not loaded
} srv_version;

/** Finds the models in `paths` (borrows), and loads the newest `max_versions` of each. Models that
 *  cannot be loaded are unavailable. Returns new (srv_repository_free); NULL with a reason: a path
 *  cannot be read, has no model, two models have one name, no memory. */
srv_repository *srv_repository_create(const char *const *paths, int n, int max_versions,
                                      const srv_model_settings *settings, srv_error *err);

/** All requests have ended. Ignores NULL. */
void srv_repository_free(srv_repository *repo);

/** The model of that name; `version` NULL or "": the newest that is loaded. Returns it kept
 *  (srv_model_release); NULL with a reason. */
srv_model *srv_repository_find(srv_repository *repo, const char *name, const char *version,
                               srv_error *err);

/** Calls func(data, ..) for each version, sorted by name, newest first, until it returns not 0,
 *  which is returned. The repository stays locked: func is short. */
int srv_repository_each(srv_repository *repo, int (*func)(void *data, const srv_version *version),
                        void *data);

/** Whether all models that are wanted have been loaded: once they were, it stays 1. A model that is
 *  added later and cannot be loaded does not make those that serve unready. */
int srv_repository_is_ready(srv_repository *repo);

/** Looks for versions of the model, and loads what is new or has changed: takes as long as that.
 *  Threads may load several models at a time. -1 with a reason: no such model, it cannot be loaded.
 */
int srv_repository_load(srv_repository *repo, const char *name, srv_error *err);

/** Requests for the model are rejected from now on. -1 with a reason: no such model. */
int srv_repository_unload(srv_repository *repo, const char *name, srv_error *err);

/** Looks for models whose files are new, or have changed, and are the same as in the last call; and
 *  for those that failed for a reason that may pass, after pauses that grow. Others are removed.
 *  Calls note(data, NULL, error) if the folders cannot be read: all models stay as they are. */
void srv_repository_look(srv_repository *repo,
                         void (*note)(void *data, const char *name, const srv_error *err),
                         void *data);

/** Whether the last look has found a model to load. */
int srv_repository_is_due(srv_repository *repo);

/** Loads one of them, if there is one, and calls note(data, name, error); the error's status is
 *  SRV_OK after success. A failure for the same reason as before is not noted again. */
void srv_repository_load_next(srv_repository *repo,
                              void (*note)(void *data, const char *name, const srv_error *err),
                              void *data);

/** The server stops: runs of models that are being loaded end, and no load begins. The reading of a
 *  file does not end early. */
void srv_repository_cancel_loads(srv_repository *repo);

/** Frees models that were replaced, if their requests have ended. Whether some are left. */
int srv_repository_free_replaced(srv_repository *repo);

/** Ends requests that wait beyond their deadlines. */
void srv_repository_tick(srv_repository *repo, uint64_t now);

/** Models accept no more requests. */
void srv_repository_close(srv_repository *repo);

/** Ends all requests, also those that run: of models that are closed. */
void srv_repository_cancel_all(srv_repository *repo);
