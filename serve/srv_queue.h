// SPDX-License-Identifier: Apache-2.0
// The bounded queue of a model. Workers take batches: requests of equal types and shapes beyond
// axis 0, or beyond padded axes, at most so many rows together, in the order of their arrival.
#pragma once

#include "lightnet/ln_session.h"
#include "srv_pad.h"

typedef struct srv_queue srv_queue;

typedef struct srv_queue_limits {
    int max_requests;   // that wait
    int max_rows;       // of a batch; 1: no batches
    uint64_t wait_ns;   // that a batch which is not full waits, less where a deadline is near
    const srv_pad *pad; // borrowed; NULL: requests of different lengths do not run together
} srv_queue_limits;

/** Requests that run together: their twins, once it runs. */
typedef struct srv_batch {
    srv_request *first; // linked by `next`
    int n, rows;
    int is_running; // 0: more requests may join
    uint64_t start; // tl_clock: of the run
    int n_cancelled;
    ln_session *session;    // that runs it
    struct srv_batch *next; // that collects requests, or runs, too
} srv_batch;

/** Each request ends once, whether it ran or not, in any thread and without locks: end(owner, r).
 */
typedef void (*srv_end_func)(void *owner, srv_request *r);

/** Returns new (srv_queue_free); NULL: no memory. */
srv_queue *srv_queue_create(const srv_queue_limits *limits, srv_end_func end, void *owner);

/** The queue is empty, and no thread uses it. Ignores NULL. */
void srv_queue_free(srv_queue *q);

/** Appends a request (takes it until it ends). -1 with a reason: full, closed, no memory. */
int srv_queue_push(srv_queue *q, srv_request *r);

/** Waits for requests, and takes a batch to run with `session`. Returns 0; -1: the queue is closed
 *  and empty. */
int srv_queue_take(srv_queue *q, ln_session *session, srv_batch *batch);

/** Ends the requests of a batch that has run, and have not ended before. */
void srv_queue_finish(srv_queue *q, srv_batch *batch);

/** Ends a request that waits; ends the run of a batch of which all requests are cancelled. Does
 *  nothing once the request has ended. */
void srv_queue_cancel(srv_queue *q, srv_request *r);

/** Ends all requests of a queue that is closed: those that wait, and the runs of the others. */
void srv_queue_cancel_all(srv_queue *q);

/** Ends requests whose deadlines have passed, whether they wait or run; ends the run of a batch of
 *  which no request is left. */
void srv_queue_expire(srv_queue *q, uint64_t now);

/** Accepts no more requests; those that wait still run. */
void srv_queue_close(srv_queue *q);

/** The number of requests that wait. */
int srv_queue_length(srv_queue *q);
