// SPDX-License-Identifier: Apache-2.0
// What all front ends share.
#pragma once

#include <stdatomic.h>

#include "srv_access.h"
#include "srv_log.h"
#include "srv_repository.h"

typedef struct srv_server {
    srv_repository *repository;
    srv_log *log;
    srv_access *access;     // tokens, certificates
    size_t max_request;     // bytes of a request
    int allows_control;     // clients may load and unload models
    atomic_int is_draining; // the server stops: it is not ready, but answers
    atomic_int n_calls;     // that are being answered
    uint64_t start;         // tl_clock
} srv_server;

/** Whether all models are loaded, and the server does not stop. */
int srv_server_is_ready(srv_server *server);

/** After a submission has failed: whether the model was replaced since it was found. Then *model
 * (kept) is the new one, and the request has no error. */
int srv_server_finds_newer(srv_server *server, const char *name, const char *version,
                           srv_model **model, srv_request *r);

/** Appends what GET v2 answers, and the metadata of a model. */
void srv_server_write_metadata(srv_buffer *b);
int srv_server_write_model(srv_server *server, const char *name, const char *version, srv_buffer *b,
                           srv_error *err);

/** Appends the list of models; `only_ready`: those that are loaded. */
void srv_server_write_index(srv_server *server, int only_ready, srv_buffer *b);

/** Appends the figures of all models as Prometheus reads them. */
void srv_server_write_metrics(srv_server *server, srv_buffer *b);
