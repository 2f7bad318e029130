// SPDX-License-Identifier: Apache-2.0
// Runs batches with one session: joins the inputs of requests, and splits the outputs.
#pragma once

#include "srv_model.h"

typedef struct srv_run {
    ln_session *session;
    const srv_port *outputs; // [n_outputs], borrowed
    int n_outputs;
    const srv_pad *pad; // borrowed; NULL: none
    void *owner;
    void **joined; // [n_joined], the inputs of a batch
    size_t *joined_size;
    int n_joined;
    uint64_t time_limit;          // of the current run, tl_clock; 0: none
    int longest[SRV_MAX_LENGTHS]; // of its requests
} srv_run;

/** Returns new (srv_run_free); NULL with a reason. */
srv_run *srv_run_create(ln_model *model, const srv_port *outputs, int n_outputs, void *owner,
                        srv_error *err);

/** Ignores NULL. */
void srv_run_free(srv_run *run);

/** Runs the requests of a batch together, and sets their outputs. -1 with a reason: the run failed.
 */
int srv_run_together(srv_run *run, const srv_batch *batch, srv_error *err);

/** Forgets the inputs that the session has borrowed from a request. */
void srv_run_forget(srv_run *run, const srv_request *r);

/** Sets outputs or the error of each request. If a batch of several fails, runs each alone: one
 *  request with wrong values does not fail the others. Requests whose deadlines have passed
 * meanwhile fail. Returns 1: they ran together; more: the number of requests, which ran alone. */
int srv_run_batch(srv_run *run, srv_batch *batch);
