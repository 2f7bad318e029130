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

/** Whether all models that are wanted have a version that is loaded. */
int srv_repository_is_ready(srv_repository *repo);

/** Looks for versions of the model, and loads what is new or has changed: takes as long as that.
 *  -1 with a reason: no such model, it cannot be loaded. */
int srv_repository_load(srv_repository *repo, const char *name, srv_error *err);

/** Requests for the model are rejected from now on. -1 with a reason: no such model. */
int srv_repository_unload(srv_repository *repo, const char *name, srv_error *err);

/** Loads models whose files are new, or have changed and are the same as in the last call. Calls
 *  note(data, name, error) for each that was tried; an error's status is SRV_OK after success.
 *  `name` NULL: the folders cannot be read, so all models stay as they are. */
void srv_repository_poll(srv_repository *repo,
                         void (*note)(void *data, const char *name, const srv_error *err),
                         void *data);

/** Ends requests that wait beyond their deadlines, and frees models that were replaced. */
void srv_repository_tick(srv_repository *repo, uint64_t now);

/** Models accept no more requests. */
void srv_repository_close(srv_repository *repo);
