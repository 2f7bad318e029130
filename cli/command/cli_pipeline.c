// SPDX-License-Identifier: Apache-2.0
// A pipeline that decodes, runs and writes numbered items; steps of different items overlap.
//
//     items   0 ..         next_write ..    next_decode ..         n
//             written      one of:          not started
//                          DECODING, DECODED, DONE
//
// with next_decode <= next_write + capacity. states[item % capacity] is the state of an item.

#include "command/cli_pipeline.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

typedef enum state { DECODING, DECODED, DONE } state;

struct cli_pipeline {
    cli_pipeline_steps steps;
    pthread_mutex_t lock;   // guards the members below
    pthread_cond_t changed; // one of them has changed
    state *states;          // [capacity]
    int n;                  // items; the most, until the source has ended
    int is_asking;          // a thread asks the source for next_decode
    int is_waiting;         // and the source does not have it yet
    int next_decode;        // the first item whose decoding has not started
    int next_write;         // the first item that is not written
    int is_stopped;         // cli_pipeline_stop was called, or `write` has failed
    int is_finishing;       // cli_pipeline_finish was called: no further item becomes DONE
    int has_failed;         // `write` has failed
    int has_writer;         // a thread writes; otherwise the runners do
    int is_writing;         // a call of `write` is in progress
    int n_threads;          // the writer first, if there is one
    pthread_t threads[];    // [1 + n_decoders]
};

static state *state_of(cli_pipeline *p, int item)
{
    return &p->states[item % p->steps.capacity];
}

static int can_decode(const cli_pipeline *p)
{
    return !p->is_asking && p->next_decode < p->n &&
           p->next_decode - p->next_write < p->steps.capacity;
}

// The caller holds the lock, which a step releases while its function runs.

static void set_state(cli_pipeline *p, int item, state s)
{
    *state_of(p, item) = s;
    pthread_cond_broadcast(&p->changed);
}

static int ask(cli_pipeline *p, int may_wait)
{
    const int item = p->next_decode;
    pthread_mutex_unlock(&p->lock);
    const int found = p->steps.next(p->steps.data, item, may_wait);
    pthread_mutex_lock(&p->lock);
    return found;
}

// Whether the source has a next item; waits for it only after having told the others.
static int find_next(cli_pipeline *p, int may_wait)
{
    if (!p->steps.next)
        return 1;
    p->is_asking = 1;
    int found = ask(p, 0);
    if (found < 0 && may_wait) {
        p->is_waiting = 1;
        pthread_cond_broadcast(&p->changed);
        found = ask(p, 1);
    }
    p->is_asking = p->is_waiting = 0;
    if (!found)
        p->n = p->next_decode;
    pthread_cond_broadcast(&p->changed);
    return found > 0;
}

// Returns whether there was one.
static int decode_next(cli_pipeline *p, int may_wait)
{
    if (!find_next(p, may_wait))
        return 0;
    const int item = p->next_decode++;
    *state_of(p, item) = DECODING;
    pthread_mutex_unlock(&p->lock);
    p->steps.decode(p->steps.data, item);
    pthread_mutex_lock(&p->lock);
    set_state(p, item, DECODED);
    return 1;
}

static void stop(cli_pipeline *p)
{
    p->is_stopped = 1;
    if (p->steps.stop)
        p->steps.stop(p->steps.data);
    pthread_cond_broadcast(&p->changed);
}

static int can_write(cli_pipeline *p)
{
    return p->next_write < p->next_decode && *state_of(p, p->next_write) == DONE;
}

// Returns 0, or the status of a failed `write`, after which nothing more is written.
static int write_next(cli_pipeline *p)
{
    const int item = p->next_write;
    p->is_writing = 1;
    pthread_mutex_unlock(&p->lock);
    const int status = p->steps.write(p->steps.data, item);
    pthread_mutex_lock(&p->lock);
    p->is_writing = 0;
    p->has_failed = status != 0;
    if (status)
        stop(p);
    else
        p->next_write++;
    pthread_cond_broadcast(&p->changed);
    return status;
}

// Threads

static void *decode_all(void *data)
{
    cli_pipeline *p = data;
    pthread_mutex_lock(&p->lock);
    while (!p->is_finishing && !p->is_stopped && p->next_decode < p->n) {
        if (can_decode(p))
            decode_next(p, 1);
        else
            pthread_cond_wait(&p->changed, &p->lock);
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

static void *write_all(void *data)
{
    cli_pipeline *p = data;
    int status = 0;
    pthread_mutex_lock(&p->lock);
    while (!status && (can_write(p) || !p->is_finishing)) {
        if (can_write(p))
            status = write_next(p);
        else
            pthread_cond_wait(&p->changed, &p->lock);
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

// Starts a thread that calls func(data). Returns whether the system has one.
static int start_thread(pthread_t *thread, void *(*func)(void *), void *data)
{
    sigset_t all, before;
    sigfillset(&all);
    sigdelset(&all, SIGPIPE); // a write to a closed pipe raises it in the writing thread
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const int error = pthread_create(thread, NULL, func, data);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return !error;
}

static int start_step(cli_pipeline *p, void *(*func)(void *))
{
    const int is_started = start_thread(&p->threads[p->n_threads], func, p);
    p->n_threads += is_started;
    return is_started;
}

cli_pipeline *cli_pipeline_start(const cli_pipeline_steps *steps)
{
    const size_t n_threads = 1 + (size_t)steps->n_decoders;
    cli_pipeline *p = calloc(1, sizeof(*p) + n_threads * sizeof(p->threads[0]));
    state *states = calloc((size_t)steps->capacity, sizeof(*states));
    if (!p || !states) {
        free(states);
        free(p);
        return NULL;
    }
    p->steps = *steps;
    p->n = steps->n;
    p->states = states;
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->changed, NULL);
    p->has_writer = start_step(p, write_all);
    for (int i = 0; i < steps->n_decoders && start_step(p, decode_all); i++)
        ;
    return p;
}

// Runners

typedef struct runner {
    void (*run)(void *data, int runner);
    void *data;
    int index;
    pthread_t thread;
} runner;

static void *run_one(void *data)
{
    const runner *r = data;
    r->run(r->data, r->index);
    return NULL;
}

void cli_pipeline_run(cli_pipeline *p, int n, void (*run)(void *data, int runner))
{
    int n_started = 0;
    runner *others = calloc((size_t)n, sizeof(*others)); // NULL: the caller runs alone
    for (int i = 1; others && i < n; i++) {
        others[n_started] = (runner){.run = run, .data = p->steps.data, .index = i};
        n_started += start_thread(&others[n_started].thread, run_one, &others[n_started]);
    }
    run(p->steps.data, 0);
    for (int i = 0; i < n_started; i++)
        pthread_join(others[i].thread, NULL);
    free(others);
}

int cli_pipeline_wait(cli_pipeline *p, int item)
{
    pthread_mutex_lock(&p->lock);
    while (!p->is_stopped && item < p->n &&
           (item >= p->next_decode || *state_of(p, item) == DECODING)) {
        // Decodes the next item here rather than waiting for a decoder.
        if (item >= p->next_decode && can_decode(p))
            decode_next(p, 1);
        else
            pthread_cond_wait(&p->changed, &p->lock);
    }
    const int status = p->is_stopped || item >= p->n ? -1 : 0;
    pthread_mutex_unlock(&p->lock);
    return status;
}

int cli_pipeline_has(cli_pipeline *p, int item)
{
    int is_missing = 0; // the source has no further item now
    pthread_mutex_lock(&p->lock);
    while (!p->is_stopped && item < p->n && item >= p->next_decode && !is_missing) {
        if (can_decode(p))
            is_missing = !decode_next(p, 0);
        else if (p->is_waiting)
            is_missing = 1;
        else
            pthread_cond_wait(&p->changed, &p->lock);
    }
    const int has = !p->is_stopped && item < p->next_decode;
    pthread_mutex_unlock(&p->lock);
    return has;
}

int cli_pipeline_done(cli_pipeline *p, int item)
{
    pthread_mutex_lock(&p->lock);
    set_state(p, item, DONE);
    while (!p->has_writer && !p->has_failed && !p->is_writing && can_write(p))
        write_next(p);
    const int status = p->is_stopped ? -1 : 0;
    pthread_mutex_unlock(&p->lock);
    return status;
}

void cli_pipeline_stop(cli_pipeline *p)
{
    pthread_mutex_lock(&p->lock);
    stop(p);
    pthread_mutex_unlock(&p->lock);
}

int cli_pipeline_finish(cli_pipeline *p)
{
    if (!p)
        return 0;
    pthread_mutex_lock(&p->lock);
    p->is_finishing = 1;
    pthread_cond_broadcast(&p->changed);
    pthread_mutex_unlock(&p->lock);
    for (int i = 0; i < p->n_threads; i++)
        pthread_join(p->threads[i], NULL);
    const int n = p->next_write;
    pthread_cond_destroy(&p->changed);
    pthread_mutex_destroy(&p->lock);
    free(p->states);
    free(p);
    return n;
}
