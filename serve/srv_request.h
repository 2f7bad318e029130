// SPDX-License-Identifier: Apache-2.0
// A request to run a model: from a front end (HTTP, gRPC) through a queue to a worker, and back.
#pragma once

#include <stdint.h>

#include "srv_status.h"
#include "srv_tensor.h"

struct srv_batch;

enum { SRV_MAX_LENGTHS = 4 };

typedef struct srv_request {
    srv_tensor *inputs; // [n_inputs], owned; once submitted in the order of the model
    int n_inputs;
    char **wanted; // [n_wanted], owned: names of outputs; n_wanted 0: all
    int n_wanted;
    uint64_t arrival, deadline; // tl_clock: of its head; deadline 0: none

    // Called once after a submission that succeeded, in any thread: outputs or error are set, and
    // the request belongs to the front end again.
    void (*done)(struct srv_request *r);
    void *owner; // of the front end

    srv_error error;
    srv_tensor *outputs; // [n_outputs], owned: those wanted, in that order
    int n_outputs;
    uint64_t queue_ns, run_ns;

    // Of the queue, which protects them
    struct srv_request *next;
    struct srv_batch *batch; // that waits for more, or runs it; NULL: none
    // While it runs, a *twin* has its tensors and names, so that it can end before the run. Of the
    // twin: the request, NULL once it has ended; the next twin of the batch (`next` is the run's).
    struct srv_request *twin, *next_twin;
    uint64_t queued; // tl_clock: it is read, and waits
    int is_queued, is_cancelled;
    int is_alone;                 // it joins no batch
    int rows;                     // along axis 0, if the model's batches grow along it; else 1
    int lengths[SRV_MAX_LENGTHS]; // of padded axes, srv_pad
} srv_request;

/** Allocates inputs, each without a name. -1: no memory. */
int srv_request_inputs(srv_request *r, size_t n);

/** Appends the name of an output that is wanted. -1: no memory. */
int srv_request_want(srv_request *r, const char *name);

/** The bytes that its inputs, outputs and names keep. */
size_t srv_request_size(const srv_request *r);

/** Frees inputs and outputs alone. */
void srv_request_drop_tensors(srv_request *r);

/** Frees inputs, outputs and names, not the request. */
void srv_request_clear(srv_request *r);
