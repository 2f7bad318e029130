// SPDX-License-Identifier: Apache-2.0
// A version of a model that is loaded: its inputs and outputs, its queue, and threads that run it.
#pragma once

#include "srv_histogram.h"
#include "srv_log.h"
#include "srv_opening.h"
#include "srv_queue.h"

/** How models are opened and run; the defaults are those of `lightnet serve --help`. */
typedef struct srv_model_settings {
    const ln_options *options; // borrowed
    int instances;             // threads that run batches, each with its session
    int max_batch;             // rows; 0: up to 8, as long as more rows raise the throughput
    uint64_t wait_ns;          // of a batch that is not full
    int max_queue;             // requests that wait
    uint64_t timeout_ns;       // of all requests; 0: none
    srv_log *log;              // borrowed, for warnings; NULL: none
} srv_model_settings;

/** An input or output. */
typedef struct srv_port {
    const char *name, *datatype;
    tl_dtype dtype;
    int ndim;                                                     // -1: unknown
    int dims[SRV_MAX_DIMS], min[SRV_MAX_DIMS], max[SRV_MAX_DIMS]; // dims: -1 for an open size
} srv_port;

/** What a model has done since it was loaded. */
typedef struct srv_model_figures {
    uint64_t requests[SRV_STATUS_SIZE]; // that ended with the status
    uint64_t runs, rows;                // of the network; rows are those of all runs
    srv_histogram request_s, receive_s, queue_s, run_s; // seconds: the first is the sum of others
    srv_histogram batch_rows;
} srv_model_figures;

typedef struct srv_model srv_model;

/** Opens `path` and starts its threads. `opening` (borrows) ends the runs that this takes. Returns
 *  new (srv_model_free); NULL with a reason. */
srv_model *srv_model_open(const char *name, const char *version, const char *path,
                          const srv_model_settings *settings, srv_opening *opening, srv_error *err);

/** Waits for the threads, and frees the model, which has no users. Ignores NULL. */
void srv_model_free(srv_model *m);

/** One more user of the model: a request, or a thread that reads about it. */
srv_model *srv_model_keep(srv_model *m);
void srv_model_release(srv_model *m);
int srv_model_has_users(const srv_model *m);

/** Accepts no more requests; those that wait still run. */
void srv_model_close(srv_model *m);

const char *srv_model_name(const srv_model *m);
const char *srv_model_version(const srv_model *m);
const char *srv_model_path(const srv_model *m);
const char *srv_model_format(const srv_model *m);

/** Its inputs and outputs, borrowed as long as the model is kept. */
const srv_port *srv_model_inputs(const srv_model *m, int *n);
const srv_port *srv_model_outputs(const srv_model *m, int *n);

/** The max rows of a batch; 1: requests do not run together. */
int srv_model_max_batch(const srv_model *m);

/** Checks the request against the model's inputs and outputs, and lets it wait for a worker (keeps
 *  the model until `done`). -1 with a reason in r->error: it is not submitted. */
int srv_model_submit(srv_model *m, srv_request *r);

/** The request's client has gone. Call it only before `done` has returned. */
void srv_model_cancel(srv_model *m, srv_request *r);

/** The server stops: ends all requests of a model that is closed, those that run, too. */
void srv_model_cancel_all(srv_model *m);

/** Ends requests that wait beyond their deadlines. */
void srv_model_expire(srv_model *m, uint64_t now);

/** The number of requests that wait; figures so far. */
int srv_model_queue_length(srv_model *m);
void srv_model_get_figures(srv_model *m, srv_model_figures *figures);

/** Counts a request that was rejected before it waited. */
void srv_model_count(srv_model *m, srv_status status);
