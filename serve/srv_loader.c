// SPDX-License-Identifier: Apache-2.0
// One thread: jobs of clients first, then looks for changes.

#include "srv_loader.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "tensorlight/tl_util.h"

struct srv_loader {
    srv_server *server;
    double poll_s;
    pthread_t thread;
    pthread_mutex_t lock; // protects all below
    pthread_cond_t changed;
    srv_job *first, **end;
    int is_asked; // to look at once
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
    srv_repository_poll(loader->server->repository, note, loader);
}

static void do_job(srv_loader *loader, srv_job *job)
{
    srv_repository *const repo = loader->server->repository;
    if (job->is_unload)
        srv_repository_unload(repo, job->name, &job->error);
    else
        srv_repository_load(repo, job->name, &job->error);
    if (!job->is_unload)
        note(loader, job->name, &job->error);
    else if (!job->error.status)
        srv_log_event(loader->server->log, "info", "unloaded model '%s'", job->name);
    job->done(job);
}

static void wait_until(srv_loader *loader, uint64_t ns)
{
    const struct timespec t = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)};
    if (loader->poll_s > 0)
        pthread_cond_timedwait(&loader->changed, &loader->lock, &t);
    else
        pthread_cond_wait(&loader->changed, &loader->lock);
}

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

static void *work(void *data)
{
    srv_loader *const loader = data;
    uint64_t next = 0; // when to look for changes
    pthread_mutex_lock(&loader->lock);
    while (!loader->is_ending) {
        srv_job *const job = take(loader);
        const int is_asked = !job && loader->is_asked;
        const int is_due = is_asked || (tl_clock() >= next && (loader->poll_s > 0 || !next));
        if (!job && !is_due) {
            wait_until(loader, next);
            continue;
        }
        loader->is_asked &= !is_asked;
        pthread_mutex_unlock(&loader->lock);
        if (job)
            do_job(loader, job);
        else
            look(loader);
        if (is_asked)
            look(loader); // what changed before the first look is the same in the second
        pthread_mutex_lock(&loader->lock);
        if (!job)
            next = tl_clock() + (uint64_t)(loader->poll_s * 1e9) + 1;
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
    if (!pthread_create(&loader->thread, NULL, work, loader))
        return loader;
    pthread_cond_destroy(&loader->changed);
    pthread_mutex_destroy(&loader->lock);
    free(loader);
    return NULL;
}

static void refuse(srv_job *job)
{
    srv_fail(&job->error, SRV_UNAVAILABLE, "the server stops");
    job->done(job);
}

void srv_loader_add(srv_loader *loader, srv_job *job)
{
    pthread_mutex_lock(&loader->lock);
    const int is_ending = loader->is_ending;
    job->next = NULL;
    if (!is_ending) {
        *loader->end = job;
        loader->end = &job->next;
        pthread_cond_signal(&loader->changed);
    }
    pthread_mutex_unlock(&loader->lock);
    if (is_ending)
        refuse(job);
}

void srv_loader_look(srv_loader *loader)
{
    pthread_mutex_lock(&loader->lock);
    loader->is_asked = 1;
    pthread_cond_signal(&loader->changed);
    pthread_mutex_unlock(&loader->lock);
}

void srv_loader_stop(srv_loader *loader)
{
    srv_job *job;
    pthread_mutex_lock(&loader->lock);
    const int is_ending = loader->is_ending;
    loader->is_ending = 1;
    pthread_cond_signal(&loader->changed);
    pthread_mutex_unlock(&loader->lock);
    if (is_ending)
        return;
    pthread_join(loader->thread, NULL);
    while ((job = take(loader)))
        refuse(job);
}

void srv_loader_free(srv_loader *loader)
{
    if (!loader)
        return;
    srv_loader_stop(loader);
    pthread_cond_destroy(&loader->changed);
    pthread_mutex_destroy(&loader->lock);
    free(loader);
}
