// SPDX-License-Identifier: Apache-2.0
// Work on numbered items in three steps that overlap.
//
//     items   0 ..         next_write ..    next_decode ..         n
//             written      one of:          not begun
//                          WAITS, DECODED, DONE
//
// with next_decode <= next_write + capacity. States of items are kept in slots, item % capacity.

#include "command/cli_pipeline.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

typedef enum state { WAITS, DECODED, DONE } state;

struct cli_pipeline {
    cli_pipeline_steps steps;
    pthread_mutex_t lock;   // of all that follows
    pthread_cond_t changed; // any of it
    state *states;          // [capacity]
    int next_decode;        // the first item that no thread decodes or has decoded
    int next_write;         // the first item that is not written
    int is_stopped;         // by cli_pipeline_stop, or by `write`
    int is_over;            // no further item becomes DONE
    int has_failed;         // `write`
    int has_writer;         // a thread
    int is_writing;         // it, or one that runs
    int n_threads;          // the writer, if any, is the first one
    pthread_t threads[];    // [1 + n_decoders]
};

static state *state_of(cli_pipeline *p, int item)
{
    return &p->states[item % p->steps.capacity];
}

static int can_decode(const cli_pipeline *p)
{
    return p->next_decode < p->steps.n && p->next_decode - p->next_write < p->steps.capacity;
}

// All of these hold the lock, and release it during the step.

static void set(cli_pipeline *p, int item, state s)
{
    *state_of(p, item) = s;
    pthread_cond_broadcast(&p->changed);
}

static void decode_next(cli_pipeline *p)
{
    const int item = p->next_decode++;
    *state_of(p, item) = WAITS;
    pthread_mutex_unlock(&p->lock);
    p->steps.decode(p->steps.data, item);
    pthread_mutex_lock(&p->lock);
    set(p, item, DECODED);
}

static int can_write(cli_pipeline *p)
{
    return p->next_write < p->next_decode && *state_of(p, p->next_write) == DONE;
}

// Returns 0; or else `write` has failed, and nothing is written any more.
static int write_next(cli_pipeline *p)
{
    const int item = p->next_write;
    p->is_writing = 1;
    pthread_mutex_unlock(&p->lock);
    const int status = p->steps.write(p->steps.data, item);
    pthread_mutex_lock(&p->lock);
    p->is_writing = 0;
    if (status)
        p->is_stopped = p->has_failed = 1;
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
    while (!p->is_over && !p->is_stopped && p->next_decode < p->steps.n) {
        if (can_decode(p))
            decode_next(p);
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
    while (!status && (can_write(p) || !p->is_over)) {
        if (can_write(p))
            status = write_next(p);
        else
            pthread_cond_wait(&p->changed, &p->lock);
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

// Whether the system has a thread for func(data).
static int begin(pthread_t *thread, void *(*func)(void *), void *data)
{
    sigset_t all, before;
    sigfillset(&all);
    sigdelset(&all, SIGPIPE); // concerns the thread that writes
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const int error = pthread_create(thread, NULL, func, data);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return !error;
}

static int begin_step(cli_pipeline *p, void *(*func)(void *))
{
    const int has_begun = begin(&p->threads[p->n_threads], func, p);
    p->n_threads += has_begun;
    return has_begun;
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
    p->states = states;
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->changed, NULL);
    p->has_writer = begin_step(p, write_all);
    for (int i = 0; i < steps->n_decoders && begin_step(p, decode_all); i++)
        ;
    return p;
}

// The caller, and those that run

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
    int n_begun = 0;
    runner *others = calloc((size_t)n, sizeof(*others)); // those it has no memory for are left out
    for (int i = 1; others && i < n; i++) {
        others[n_begun] = (runner){.run = run, .data = p->steps.data, .index = i};
        n_begun += begin(&others[n_begun].thread, run_one, &others[n_begun]);
    }
    run(p->steps.data, 0);
    for (int i = 0; i < n_begun; i++)
        pthread_join(others[i].thread, NULL);
    free(others);
}

int cli_pipeline_wait(cli_pipeline *p, int item)
{
    pthread_mutex_lock(&p->lock);
    while (!p->is_stopped && (item >= p->next_decode || *state_of(p, item) == WAITS)) {
        // Instead of waiting for an item that no thread has begun.
        if (item >= p->next_decode && can_decode(p))
            decode_next(p);
        else
            pthread_cond_wait(&p->changed, &p->lock);
    }
    const int status = p->is_stopped ? -1 : 0;
    pthread_mutex_unlock(&p->lock);
    return status;
}

int cli_pipeline_done(cli_pipeline *p, int item)
{
    pthread_mutex_lock(&p->lock);
    set(p, item, DONE);
    while (!p->has_writer && !p->has_failed && !p->is_writing && can_write(p))
        write_next(p);
    const int status = p->is_stopped ? -1 : 0;
    pthread_mutex_unlock(&p->lock);
    return status;
}

void cli_pipeline_stop(cli_pipeline *p)
{
    pthread_mutex_lock(&p->lock);
    p->is_stopped = 1;
    pthread_cond_broadcast(&p->changed);
    pthread_mutex_unlock(&p->lock);
}

int cli_pipeline_finish(cli_pipeline *p)
{
    if (!p)
        return 0;
    pthread_mutex_lock(&p->lock);
    p->is_over = 1;
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
