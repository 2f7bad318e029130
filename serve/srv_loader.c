// SPDX-License-Identifier: Apache-2.0
// One thread has the queue of jobs, and looks for changes. Each load has a thread of its own: the
// next one begins when it has ended, or has taken long.

#include "srv_loader.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "srv_schedule.h"
#include "tensorlight/tl_util.h"

#define PATIENCE_NS UINT64_C(5000000000) // a load that takes longer has others beside it
#define PAUSE_NS    UINT64_C(100000000)  // between looks at models that were replaced
#define END_NS      UINT64_C(2000000000) // that loads have to end

// A load, in its thread.
typedef struct task {
    srv_loader *loader;
    pthread_t thread;
    char *name;   // of the model that a client asks for; NULL: one that has changed
    srv_job *job; // of the client, until it is done
    int has_ended;
    struct task *next;
} task;

struct srv_loader {
    srv_server *server;
    double poll_s;
    pthread_t thread;
    int has_thread;
    pthread_mutex_t lock; // protects all below
    pthread_cond_t changed;
    srv_job *first, **end;
    task *tasks;
    uint64_t last_begin; // of a load
    int is_asked;        // to look at once
    int is_ending;
};

static void note(void *data, const char *name, const srv_error *err)
{
    const srv_loader *const loader = data;
    if (!name)
        srv_log_event(loader->server->log, "error", "models stay as they are: %s", err->text);
    else if (err->status)
        srv_log_event(loader->server->log, "error", "model '%s' is not loaded: %s", name,
                      err->text);
    else
        srv_log_event(loader->server->log, "info", "loaded model '%s'", name);
}

static void note_access(void *data, const char *what, const srv_error *err)
{
    const srv_loader *const loader = data;
    if (err->status)
        srv_log_event(loader->server->log, "error", "the new %s is not used: %s", what, err->text);
    else
        srv_log_event(loader->server->log, "info", "read a new %s", what);
}

static void look(srv_loader *loader)
{
    srv_access_poll(loader->server->access, note_access, loader);
    srv_repository_look(loader->server->repository, note, loader);
}

// Tasks

// Without the lock.
static void end_job(srv_job *job, const srv_error *err)
{
    job->error = *err;
    job->done(job);
}

static void finish(task *t, const srv_error *err)
{
    srv_loader *const loader = t->loader;
    pthread_mutex_lock(&loader->lock);
    srv_job *const job = t->job;
    t->job = NULL;
    pthread_mutex_unlock(&loader->lock);
    if (job)
        end_job(job, err);
    pthread_mutex_lock(&loader->lock);
    t->has_ended = 1; // the loader may be freed as soon as it has the lock
    pthread_cond_broadcast(&loader->changed);
    pthread_mutex_unlock(&loader->lock);
}

// The threads that a load starts compute, too: they run the model.
static void *run_task(void *data)
{
    task *const t = data;
    srv_schedule_computes();
    srv_repository *const repo = t->loader->server->repository;
    srv_error err = {.status = SRV_OK};
    if (t->name) {
        srv_repository_load(repo, t->name, &err);
        note(t->loader, t->name, &err);
    } else {
        srv_repository_load_next(repo, note, t->loader);
    }
    finish(t, &err);
    return NULL;
}

static void free_task(task *t)
{
    free(t->name);
    free(t);
}

// `job` NULL: a model that has changed. -1: no memory, or no thread.
static int begin_task(srv_loader *loader, srv_job *job)
{
    task *const t = calloc(1, sizeof(*t));
    if (!t)
        return -1;
    t->loader = loader;
    t->job = job;
    t->name = job ? strdup(job->name) : NULL;
    if ((job && !t->name) || pthread_create(&t->thread, NULL, run_task, t)) {
        free_task(t);
        return -1;
    }
    t->next = loader->tasks;
    loader->tasks = t;
    return 0;
}

// Tasks that have ended.
static void reap(srv_loader *loader)
{
    for (task **link = &loader->tasks; *link;) {
        task *const t = *link;
        if (!t->has_ended) {
            link = &t->next;
            continue;
        }
        *link = t->next;
        pthread_join(t->thread, NULL);
        free_task(t);
    }
}

// Jobs

static srv_job *take(srv_loader *loader)
{
    srv_job *const job = loader->first;
    if (!job)
        return NULL;
    loader->first = job->next;
    if (!loader->first)
        loader->end = &loader->first;
    job->next = NULL;
    return job;
}

static void unload(srv_loader *loader, srv_job *job)
{
    srv_error err = {.status = SRV_OK};
    srv_repository_unload(loader->server->repository, job->name, &err);
    if (!err.status)
        srv_log_event(loader->server->log, "info", "unloaded model '%s'", job->name);
    end_job(job, &err);
}

static void refuse(srv_job *job)
{
    srv_error err = {.status = SRV_OK};
    srv_fail(&err, SRV_UNAVAILABLE, "the server stops");
    end_job(job, &err);
}

// Without a thread.
static void fail_task(srv_loader *loader, srv_job *job)
{
    srv_error err = {.status = SRV_OK};
    srv_fail(&err, SRV_OUT_OF_MEMORY, "the server has no thread to load a model; try again");
    srv_log_event(loader->server->log, "error", "%s", err.text);
    if (job)
        end_job(job, &err);
}

// The thread

// Jobs of clients first. Whether something was begun.
static int begin_next(srv_loader *loader)
{
    const int is_free = !loader->tasks || tl_clock() >= loader->last_begin + PATIENCE_NS;
    const int is_unload = loader->first && loader->first->is_unload;
    if (!is_unload &&
        (!is_free || (!loader->first && !srv_repository_is_due(loader->server->repository))))
        return 0;
    srv_job *const job = take(loader);
    const int status = is_unload ? 0 : begin_task(loader, job);
    loader->last_begin = is_unload ? loader->last_begin : tl_clock();
    pthread_mutex_unlock(&loader->lock);
    if (is_unload)
        unload(loader, job);
    else if (status)
        fail_task(loader, job);
    pthread_mutex_lock(&loader->lock);
    return !status;
}

static void wait_until(srv_loader *loader, uint64_t ns)
{
    const struct timespec t = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)};
    if (ns < UINT64_MAX)
        pthread_cond_timedwait(&loader->changed, &loader->lock, &t);
    else
        pthread_cond_wait(&loader->changed, &loader->lock);
}

// When the thread has something to do, if nothing changes.
static uint64_t next_time(const srv_loader *loader, uint64_t next_look, int has_replaced)
{
    uint64_t next = loader->poll_s > 0 ? next_look : UINT64_MAX;
    if (has_replaced && tl_clock() + PAUSE_NS < next)
        next = tl_clock() + PAUSE_NS;
    if ((loader->first || srv_repository_is_due(loader->server->repository)) &&
        loader->last_begin + PATIENCE_NS < next)
        next = loader->last_begin + PATIENCE_NS;
    return next;
}

// Looks twice if that was asked for: what changed before the first look is the same in the second.
static void look_again(srv_loader *loader, int is_asked)
{
    pthread_mutex_unlock(&loader->lock);
    look(loader);
    if (is_asked)
        look(loader);
    pthread_mutex_lock(&loader->lock);
}

static void *work(void *data)
{
    srv_loader *const loader = data;
    uint64_t next = 0; // when to look for changes
    pthread_mutex_lock(&loader->lock);
    while (!loader->is_ending) {
        reap(loader);
        if (begin_next(loader))
            continue;
        const int is_asked = loader->is_asked;
        if (is_asked || (tl_clock() >= next && (loader->poll_s > 0 || !next))) {
            loader->is_asked = 0;
            look_again(loader, is_asked);
            next = tl_clock() + (uint64_t)(loader->poll_s * 1e9) + 1;
            continue;
        }
        pthread_mutex_unlock(&loader->lock);
        const int has_replaced = srv_repository_free_replaced(loader->server->repository);
        pthread_mutex_lock(&loader->lock);
        if (!loader->is_ending && !loader->is_asked)
            wait_until(loader, next_time(loader, next, has_replaced));
    }
    pthread_mutex_unlock(&loader->lock);
    return NULL;
}

srv_loader *srv_loader_create(srv_server *server, double poll_s)
{
    srv_loader *const loader = calloc(1, sizeof(*loader));
    pthread_condattr_t attr;
    if (!loader)
        return NULL;
    loader->server = server;
    loader->poll_s = poll_s;
    loader->end = &loader->first;
    pthread_mutex_init(&loader->lock, NULL);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&loader->changed, &attr);
    pthread_condattr_destroy(&attr);
    return loader;
}

int srv_loader_start(srv_loader *loader, srv_error *err)
{
    if (pthread_create(&loader->thread, NULL, work, loader))
        return srv_fail(err, SRV_UNAVAILABLE, "cannot start a thread");
    loader->has_thread = 1;
    return 0;
}

void srv_loader_add(srv_loader *loader, srv_job *job)
{
    pthread_mutex_lock(&loader->lock);
    const int is_ending = loader->is_ending;
    job->next = NULL;
    if (!is_ending) {
        *loader->end = job;
        loader->end = &job->next;
        pthread_cond_broadcast(&loader->changed);
    }
    pthread_mutex_unlock(&loader->lock);
    if (is_ending)
        refuse(job);
}

void srv_loader_look(srv_loader *loader)
{
    pthread_mutex_lock(&loader->lock);
    loader->is_asked = 1;
    pthread_cond_broadcast(&loader->changed);
    pthread_mutex_unlock(&loader->lock);
}

// The end

static void refuse_all(srv_loader *loader, srv_job *(*next)(srv_loader *loader))
{
    pthread_mutex_lock(&loader->lock);
    for (srv_job *job; (job = next(loader));) {
        pthread_mutex_unlock(&loader->lock);
        refuse(job);
        pthread_mutex_lock(&loader->lock);
    }
    pthread_mutex_unlock(&loader->lock);
}

void srv_loader_end(srv_loader *loader)
{
    pthread_mutex_lock(&loader->lock);
    loader->is_ending = 1;
    pthread_cond_broadcast(&loader->changed);
    pthread_mutex_unlock(&loader->lock);
    srv_repository_cancel_loads(loader->server->repository);
    refuse_all(loader, take);
}

static int count_tasks(srv_loader *loader)
{
    int n = 0;
    reap(loader);
    for (const task *t = loader->tasks; t; t = t->next)
        n++;
    return n;
}

// The job of a task that does not end in time.
static srv_job *take_begun(srv_loader *loader)
{
    for (task *t = loader->tasks; t; t = t->next)
        if (t->job) {
            srv_job *const job = t->job;
            t->job = NULL;
            return job;
        }
    return NULL;
}

int srv_loader_stop(srv_loader *loader)
{
    const uint64_t limit = tl_clock() + END_NS;
    int n;
    srv_loader_end(loader);
    if (loader->has_thread)
        pthread_join(loader->thread, NULL);
    loader->has_thread = 0;
    pthread_mutex_lock(&loader->lock);
    while ((n = count_tasks(loader)) && tl_clock() < limit)
        wait_until(loader, limit);
    pthread_mutex_unlock(&loader->lock);
    refuse_all(loader, take_begun);
    return n;
}

void srv_loader_free(srv_loader *loader)
{
    if (!loader)
        return;
    pthread_cond_destroy(&loader->changed);
    pthread_mutex_destroy(&loader->lock);
    free(loader);
}
