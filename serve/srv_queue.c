// SPDX-License-Identifier: Apache-2.0
// A list of requests and a list of batches that wait for more, under one lock.

#include "srv_queue.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tensorlight/tl_util.h"

// A thread that waits for requests.
typedef struct worker {
    pthread_cond_t wake;
    int is_woken;
    struct worker *next; // that waits longer
} worker;

struct srv_queue {
    srv_queue_limits limits;
    srv_end_func end_request;
    void *owner;
    pthread_mutex_t lock;      // protects all below, and the queue's members of requests
    pthread_cond_t changed;    // for batches that collect
    worker *idle;              // the first one ran last: its memory is still in caches
    srv_request *first, **end; // linked by `next`
    int n, is_closed;
    uint64_t run_ns;       // of the last batch that ended
    srv_batch *collecting; // batches that wait for more requests
    srv_batch *running;
};

srv_queue *srv_queue_create(const srv_queue_limits *limits, srv_end_func end, void *owner)
{
    srv_queue *const q = calloc(1, sizeof(*q));
    pthread_condattr_t attr;
    if (!q)
        return NULL;
    q->limits = *limits;
    q->end_request = end;
    q->owner = owner;
    q->end = &q->first;
    pthread_mutex_init(&q->lock, NULL);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&q->changed, &attr);
    pthread_condattr_destroy(&attr);
    return q;
}

void srv_queue_free(srv_queue *q)
{
    if (!q)
        return;
    pthread_cond_destroy(&q->changed);
    pthread_mutex_destroy(&q->lock);
    free(q);
}

// Twins

// Moves what a run needs and makes from one request to another.
static void move(srv_request *to, srv_request *from)
{
    to->inputs = from->inputs;
    to->n_inputs = from->n_inputs;
    to->wanted = from->wanted;
    to->n_wanted = from->n_wanted;
    to->outputs = from->outputs;
    to->n_outputs = from->n_outputs;
    from->inputs = from->outputs = NULL;
    from->wanted = NULL;
    from->n_inputs = from->n_outputs = from->n_wanted = 0;
}

static void drop_twin(srv_request *r)
{
    free(r->twin);
    r->twin = NULL;
}

static srv_request *twin_of(srv_request *r)
{
    srv_request *const twin = r->twin;
    *twin = (srv_request){.arrival = r->arrival,
                          .deadline = r->deadline,
                          .queued = r->queued,
                          .rows = r->rows,
                          .twin = r};
    memcpy(twin->lengths, r->lengths, sizeof(r->lengths));
    move(twin, r);
    return twin;
}

// Parts a request from its twin, which runs on, or has run.
static void part(srv_request *r, srv_request *twin)
{
    r->batch = NULL;
    r->twin = NULL;
    twin->twin = NULL;
}

// The request of a twin that has run; NULL: it has ended before. Frees the twin.
static srv_request *take_results(srv_request *twin)
{
    srv_request *const r = twin->twin;
    if (r) {
        part(r, twin);
        move(r, twin);
        r->error = twin->error;
        r->queue_ns = twin->queue_ns;
        r->run_ns = twin->run_ns;
    }
    srv_request_clear(twin);
    free(twin);
    return r;
}

// Batches

// `port` NULL: no axis is padded.
static int is_same_kind(const srv_tensor *a, const srv_tensor *b, const srv_pad_port *port)
{
    if (a->dtype != b->dtype || a->ndim != b->ndim)
        return 0;
    for (int i = 1; i < a->ndim; i++)
        if (a->dims[i] != b->dims[i] && (!port || port->length_of[i] < 0))
            return 0;
    return 1;
}

static int has_same_kinds(const srv_pad *pad, const srv_request *a, const srv_request *b)
{
    if (a->n_inputs != b->n_inputs)
        return 0;
    for (int i = 0; i < a->n_inputs; i++)
        if (strcmp(a->inputs[i].name, b->inputs[i].name) ||
            !is_same_kind(&a->inputs[i], &b->inputs[i], pad ? &pad->inputs[i] : NULL))
            return 0;
    return 1;
}

// Whether the request may run with those of the batch, which has one.
static int fits(const srv_queue *q, const srv_batch *batch, const srv_request *r)
{
    const srv_pad *const pad = q->limits.pad;
    return !r->is_alone && !batch->first->is_alone && r->rows <= q->limits.max_rows - batch->rows &&
           has_same_kinds(pad, batch->first, r) && (!pad || srv_pad_allows(pad, batch->first, r));
}

static int is_full(const srv_queue *q, const srv_batch *batch)
{
    return batch->rows >= q->limits.max_rows || (batch->first && batch->first->is_alone);
}

static void append(srv_batch *batch, srv_request *r)
{
    srv_request **end = &batch->first;
    while (*end)
        end = &(*end)->next;
    *end = r;
    r->next = NULL;
    r->batch = batch;
    batch->n++;
    batch->rows += r->rows;
}

// Whether the request found a batch that waits for it.
static int join(srv_queue *q, srv_request *r)
{
    for (srv_batch *batch = q->collecting; batch; batch = batch->next)
        if (batch->first && fits(q, batch, r)) {
            append(batch, r);
            return 1;
        }
    return 0;
}

static int wait_in_line(srv_queue *q, srv_request *r)
{
    if (q->n >= q->limits.max_requests)
        return srv_fail(&r->error, SRV_BUSY,
                        "%d requests wait for the model, the max; try again later", q->n);
    r->next = NULL;
    r->is_queued = 1;
    *q->end = r;
    q->end = &r->next;
    q->n++;
    return 0;
}

static void wake_worker(srv_queue *q)
{
    worker *const w = q->idle;
    if (!w)
        return;
    q->idle = w->next;
    w->is_woken = 1;
    pthread_cond_signal(&w->wake);
}

static void wait_for_requests(srv_queue *q)
{
    worker w = {.next = q->idle};
    pthread_cond_init(&w.wake, NULL);
    q->idle = &w;
    while (!w.is_woken)
        pthread_cond_wait(&w.wake, &q->lock);
    pthread_cond_destroy(&w.wake);
}

int srv_queue_push(srv_queue *q, srv_request *r)
{
    int status = 0;
    srv_request *const twin = calloc(1, sizeof(*twin));
    if (!twin)
        return srv_fail(&r->error, SRV_OUT_OF_MEMORY, "the server has no memory for the request");
    r->twin = twin;
    pthread_mutex_lock(&q->lock);
    r->queued = tl_clock();
    if (q->is_closed)
        status = srv_fail(&r->error, SRV_UNAVAILABLE, "the model is being unloaded; try again");
    else if (!join(q, r))
        status = wait_in_line(q, r);
    if (!status) {
        wake_worker(q);
        pthread_cond_broadcast(&q->changed);
    } else {
        drop_twin(r);
    }
    pthread_mutex_unlock(&q->lock);
    return status;
}

// Removes the request that `link` points to.
static srv_request *unlink_at(srv_queue *q, srv_request **link)
{
    srv_request *const r = *link;
    *link = r->next;
    if (q->end == &r->next)
        q->end = link;
    r->next = NULL;
    r->is_queued = 0;
    q->n--;
    return r;
}

// Moves requests that fit to the batch, until it is full.
static void fill(srv_queue *q, srv_batch *batch)
{
    for (srv_request **link = &q->first; *link && !is_full(q, batch);) {
        srv_request *r = *link;
        if (batch->first && !fits(q, batch, r)) {
            link = &r->next;
            continue;
        }
        append(batch, unlink_at(q, link));
    }
}

static void wait_until(srv_queue *q, uint64_t ns)
{
    const struct timespec t = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)};
    pthread_cond_timedwait(&q->changed, &q->lock, &t);
}

// When a request should run at the latest: at half its time, or earlier if runs take longer.
static uint64_t latest_start(const srv_queue *q, const srv_request *r)
{
    const uint64_t time = r->deadline > r->queued ? r->deadline - r->queued : 0;
    const uint64_t rest = time > q->run_ns ? time - q->run_ns : 0;
    return r->queued + (rest < time / 2 ? rest : time / 2);
}

// When a batch that has requests waits no longer.
static uint64_t end_of_wait(const srv_queue *q, const srv_batch *batch)
{
    uint64_t end = batch->first->queued + q->limits.wait_ns;
    for (const srv_request *r = batch->first; r; r = r->next)
        if (r->deadline && latest_start(q, r) < end)
            end = latest_start(q, r);
    return end;
}

static void remove_batch(srv_batch **link, const srv_batch *batch)
{
    while (*link != batch)
        link = &(*link)->next;
    *link = batch->next;
}

// Fills a batch; waits until more have joined it, unless it becomes empty meanwhile.
static void collect(srv_queue *q, srv_batch *batch)
{
    fill(q, batch);
    batch->next = q->collecting;
    q->collecting = batch;
    while (batch->first && !is_full(q, batch) && !q->is_closed &&
           tl_clock() < end_of_wait(q, batch))
        wait_until(q, end_of_wait(q, batch));
    remove_batch(&q->collecting, batch);
}

static void begin_run(srv_queue *q, srv_batch *batch)
{
    for (srv_request **link = &batch->first, *last = NULL; *link; link = &(*link)->next) {
        srv_request *const r = *link;
        *link = twin_of(r);
        (*link)->next = r->next;
        r->next = NULL;
        if (last)
            last->next_twin = *link;
        last = *link;
    }
    batch->is_running = 1;
    batch->start = tl_clock();
    batch->next = q->running;
    q->running = batch;
}

static void end_run(srv_queue *q, srv_batch *batch)
{
    remove_batch(&q->running, batch);
    q->run_ns = tl_clock() - batch->start;
}

int srv_queue_take(srv_queue *q, ln_session *session, srv_batch *batch)
{
    *batch = (srv_batch){.session = session};
    pthread_mutex_lock(&q->lock);
    while (!batch->first && (q->first || !q->is_closed)) {
        while (!q->first && !q->is_closed)
            wait_for_requests(q);
        collect(q, batch);
    }
    if (batch->first)
        begin_run(q, batch);
    pthread_mutex_unlock(&q->lock);
    return batch->first ? 0 : -1;
}

// Ends

static void end_all(const srv_queue *q, srv_request *first)
{
    while (first) {
        srv_request *const r = first;
        first = r->next;
        r->next = NULL;
        q->end_request(q->owner, r);
    }
}

void srv_queue_finish(srv_queue *q, srv_batch *batch)
{
    srv_request *ended = NULL, **end = &ended;
    pthread_mutex_lock(&q->lock);
    end_run(q, batch);
    for (srv_request *twin = batch->first, *next; twin; twin = next) {
        next = twin->next;
        srv_request *const r = take_results(twin);
        if (r) {
            *end = r;
            end = &r->next;
        }
    }
    batch->first = NULL;
    pthread_mutex_unlock(&q->lock);
    ln_session_resume(batch->session);
    end_all(q, ended);
}

static srv_request **find_link(srv_request **link, const srv_request *r)
{
    while (*link != r)
        link = &(*link)->next;
    return link;
}

// Removes a request from the queue, or from a batch that does not run yet.
static void take_out(srv_queue *q, srv_request *r)
{
    srv_batch *const batch = r->batch;
    drop_twin(r);
    if (!batch) {
        unlink_at(q, find_link(&q->first, r));
        return;
    }
    *find_link(&batch->first, r) = r->next;
    r->next = NULL;
    r->batch = NULL;
    batch->n--;
    batch->rows -= r->rows;
    pthread_cond_broadcast(&q->changed); // its worker has nothing to wait for if it is empty
}

// A request needs the run of its batch no longer.
static void leave(srv_batch *batch, srv_request *r)
{
    if (r->is_cancelled)
        return;
    r->is_cancelled = 1;
    if (++batch->n_cancelled == batch->n)
        ln_session_cancel(batch->session);
}

void srv_queue_cancel(srv_queue *q, srv_request *r)
{
    srv_request *ended = NULL;
    pthread_mutex_lock(&q->lock);
    if (r->is_queued || (r->batch && !r->batch->is_running)) {
        take_out(q, r);
        ended = r;
        srv_fail(&r->error, SRV_CANCELLED, "the client has gone");
    } else if (r->batch) {
        leave(r->batch, r);
    }
    pthread_mutex_unlock(&q->lock);
    end_all(q, ended);
}

// Moves all requests from `first` on to `end`. Returns the new end.
static srv_request **take_all(srv_queue *q, srv_request **first, srv_request **end)
{
    while (*first) {
        srv_request *const r = *first;
        take_out(q, r);
        srv_fail(&r->error, SRV_UNAVAILABLE, "the server stops");
        *end = r;
        end = &r->next;
    }
    return end;
}

void srv_queue_cancel_all(srv_queue *q)
{
    srv_request *ended = NULL, **end = &ended;
    pthread_mutex_lock(&q->lock);
    end = take_all(q, &q->first, end);
    for (srv_batch *batch = q->collecting; batch; batch = batch->next)
        end = take_all(q, &batch->first, end);
    for (srv_batch *batch = q->running; batch; batch = batch->next)
        ln_session_cancel(batch->session);
    pthread_mutex_unlock(&q->lock);
    end_all(q, ended);
}

// Moves requests whose deadlines have passed to `end`. Returns the new end.
static srv_request **take_late(srv_queue *q, srv_request *first, uint64_t now, srv_request **end)
{
    for (srv_request *r = first, *next; r; r = next) {
        next = r->next;
        if (!r->deadline || r->deadline > now)
            continue;
        take_out(q, r);
        srv_fail(&r->error, SRV_TIMEOUT, "the request waited beyond its deadline");
        *end = r;
        end = &r->next;
    }
    return end;
}

// The same for requests that run: they end, and their twins run on.
static srv_request **part_late(srv_batch *batch, uint64_t now, srv_request **end)
{
    for (srv_request *twin = batch->first; twin; twin = twin->next_twin) {
        srv_request *const r = twin->twin;
        if (!r || !r->deadline || r->deadline > now)
            continue;
        leave(batch, r);
        part(r, twin);
        r->queue_ns = batch->start - r->queued;
        r->run_ns = now > batch->start ? now - batch->start : 1;
        srv_fail(&r->error, SRV_TIMEOUT, "the deadline passed while the request ran");
        *end = r;
        end = &r->next;
    }
    return end;
}

void srv_queue_expire(srv_queue *q, uint64_t now)
{
    srv_request *ended = NULL, **end = &ended;
    pthread_mutex_lock(&q->lock);
    end = take_late(q, q->first, now, end);
    for (srv_batch *batch = q->collecting; batch; batch = batch->next)
        end = take_late(q, batch->first, now, end);
    for (srv_batch *batch = q->running; batch; batch = batch->next)
        end = part_late(batch, now, end);
    pthread_mutex_unlock(&q->lock);
    end_all(q, ended);
}

void srv_queue_close(srv_queue *q)
{
    pthread_mutex_lock(&q->lock);
    q->is_closed = 1;
    while (q->idle)
        wake_worker(q);
    pthread_cond_broadcast(&q->changed);
    pthread_mutex_unlock(&q->lock);
}

int srv_queue_length(srv_queue *q)
{
    pthread_mutex_lock(&q->lock);
    const int n = q->n;
    pthread_mutex_unlock(&q->lock);
    return n;
}
