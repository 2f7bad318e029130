// SPDX-License-Identifier: Apache-2.0
// Slots for versions of models. Files are opened without locks.

#include "srv_repository.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "srv_files.h"
#include "tensorlight/tl_util.h"

enum { VERSION_TEXT = 24, MAX_DOUBLINGS = 8 };

#define FIRST_PAUSE_NS UINT64_C(1000000000) // before another attempt to load, twice as long

// A model, and its place among those that were replaced.
typedef struct loaded {
    srv_model *model;
    struct loaded *next;
} loaded;

// A version of a model that was found.
typedef struct slot {
    srv_file file;
    char version[VERSION_TEXT];
    srv_model *model;        // NULL: not loaded
    loaded *node;            // its node, NULL without a model
    int is_wanted;           // it should be loaded
    int is_due;              // srv_repository_load_next loads it
    int is_loading;          // one thread does
    srv_opening *opening;    // of that load
    int is_found, was_found; // in the last scan, and in the one before
    uint64_t seen_stamp;     // of its file before the last look
    uint64_t loaded_stamp;   // of the file that was loaded, or failed
    srv_error error;         // of the last attempt
    int n_failures;          // one after the other
    uint64_t next_try;       // tl_clock
} slot;

struct srv_repository {
    char **paths; // [n_paths], owned
    int n_paths, max_versions;
    srv_model_settings settings;
    srv_error scan;           // of the last look
    pthread_mutex_t scanning; // one scan at a time; before `lock`; protects `ignored`
    srv_files ignored;        // the lines of the last scan
    pthread_mutex_t lock;     // protects all below
    pthread_cond_t loaded;    // a load has ended
    slot **slots;             // [n_slots], sorted by name, newest first
    int n_slots;
    loaded *retired; // closed; they still have users
    int was_ready;   // all models that were wanted have been loaded once
    int is_stopping; // no loads
    int is_closed;   // models accept no requests
};

// Slots

static void free_slot(slot *s)
{
    srv_model_free(s->model);
    free(s->node);
    free(s->file.name);
    free(s->file.path);
    free(s);
}

static slot *find_slot(srv_repository *repo, const srv_file *file)
{
    for (int i = 0; i < repo->n_slots; i++)
        if (!strcmp(repo->slots[i]->file.name, file->name) &&
            repo->slots[i]->file.version == file->version)
            return repo->slots[i];
    return NULL;
}

static int by_file(const void *a, const void *b)
{
    const srv_file *const x = &(*(slot *const *)a)->file, *const y = &(*(slot *const *)b)->file;
    const int order = strcmp(x->name, y->name);
    return order ? order : (x->version < y->version) - (x->version > y->version);
}

// Takes the strings of `file`.
static int add_slot(srv_repository *repo, srv_file *file, srv_error *err)
{
    slot **const slots = realloc(repo->slots, sizeof(slot *) * ((size_t)repo->n_slots + 1));
    slot *const s = calloc(1, sizeof(*s));
    if (slots)
        repo->slots = slots;
    if (!slots || !s) {
        free(s);
        return srv_fail(err, SRV_OUT_OF_MEMORY, "no memory");
    }
    s->file = *file;
    s->is_found = s->is_wanted = 1;
    *file = (srv_file){.name = NULL};
    snprintf(s->version, sizeof(s->version), "%ld", s->file.version);
    repo->slots[repo->n_slots++] = s;
    qsort(repo->slots, (size_t)repo->n_slots, sizeof(slot *), by_file);
    return 0;
}

static void retire(srv_repository *repo, slot *s)
{
    if (!s->model)
        return;
    srv_model_close(s->model);
    s->node->next = repo->retired;
    repo->retired = s->node;
    s->model = NULL;
    s->node = NULL;
}

// Scans

static int scan(const srv_repository *repo, srv_files *files, srv_error *err)
{
    for (int i = 0; i < repo->n_paths; i++)
        if (srv_files_find(files, repo->paths[i], err))
            return -1;
    return srv_files_sort(files, err);
}

// Takes over what is new about the file of a version; one that was gone is wanted again.
static void renew(slot *s, srv_file *file)
{
    char *const path = s->file.path;
    s->file.path = file->path; // of another format, maybe
    file->path = path;
    s->file.stamp = file->stamp;
    s->is_wanted |= !s->was_found;
    s->is_found = 1;
}

// Takes over what a scan has found: new versions are wanted, those that are gone are not.
static int update(srv_repository *repo, srv_files *files, srv_error *err)
{
    int status = 0;
    for (int i = 0; i < repo->n_slots; i++) {
        repo->slots[i]->was_found = repo->slots[i]->is_found;
        repo->slots[i]->is_found = 0;
    }
    for (int i = 0; i < files->n && !status; i++) {
        slot *const s = find_slot(repo, &files->at[i]);
        if (s)
            renew(s, &files->at[i]);
        else
            status = add_slot(repo, &files->at[i], err);
    }
    for (int i = 0; i < repo->n_slots && !status; i++)
        repo->slots[i]->is_wanted &= repo->slots[i]->is_found;
    return status;
}

// Each file that is ignored has one line in the log. Takes over those of `files`.
static void log_ignored(srv_repository *repo, srv_files *files)
{
    const srv_files before = repo->ignored;
    for (int i = 0; i < files->n_ignored && repo->settings.log; i++)
        if (!srv_files_has_ignored(&before, files->ignored[i]))
            srv_log_event(repo->settings.log, "warning", "ignored %s", files->ignored[i]);
    repo->ignored = (srv_files){.ignored = files->ignored, .n_ignored = files->n_ignored};
    files->ignored = before.ignored;
    files->n_ignored = before.n_ignored;
}

static int rescan(srv_repository *repo, srv_error *err)
{
    srv_files files = {.at = NULL};
    pthread_mutex_lock(&repo->scanning);
    int status = scan(repo, &files, err);
    if (!status) {
        pthread_mutex_lock(&repo->lock);
        status = update(repo, &files, err);
        pthread_mutex_unlock(&repo->lock);
        log_ignored(repo, &files);
    }
    pthread_mutex_unlock(&repo->scanning);
    srv_files_clear(&files);
    return status;
}

// How many newer versions of the model exist.
static int age_of(const srv_repository *repo, const slot *s)
{
    int age = 0;
    for (int i = 0; i < repo->n_slots; i++)
        age += !strcmp(repo->slots[i]->file.name, s->file.name) && repo->slots[i]->is_found &&
               repo->slots[i]->file.version > s->file.version;
    return age;
}

// Loading. Slots stay where they are until the end, so that loads keep them without `lock`.

// Whether the file is not the one that is loaded.
static int is_outdated(const slot *s)
{
    return !s->model || s->loaded_stamp != s->file.stamp || s->error.status;
}

static int needs_load(const srv_repository *repo, const slot *s)
{
    return s->is_found && s->is_wanted && age_of(repo, s) < repo->max_versions && is_outdated(s);
}

// Another attempt with the same file may succeed if the reason may pass: memory, or weights that
// arrive later. Pauses grow, so that attempts take a tenth of the time at most.
static void plan_retry(slot *s, uint64_t begin)
{
    const uint64_t now = tl_clock(), took = now - begin;
    const int may_pass = s->error.status != SRV_INVALID && s->error.status != SRV_UNSUPPORTED;
    s->n_failures = s->error.status ? s->n_failures + 1 : 0;
    const int doublings = s->n_failures < MAX_DOUBLINGS ? s->n_failures : MAX_DOUBLINGS;
    const uint64_t pause = FIRST_PAUSE_NS << doublings;
    s->next_try = may_pass ? now + (pause > 9 * took ? pause : 9 * took) : UINT64_MAX;
}

static int may_try(const slot *s, uint64_t now)
{
    return !s->error.status || s->loaded_stamp != s->file.stamp || now >= s->next_try;
}

// Once all models that are wanted have been loaded, it stays so.
static void note_ready(srv_repository *repo)
{
    int is_ready = 1;
    for (int i = 0; i < repo->n_slots; i++) {
        const slot *const s = repo->slots[i];
        is_ready &=
            s->model || !s->is_found || !s->is_wanted || age_of(repo, s) >= repo->max_versions;
    }
    repo->was_ready |= is_ready;
}

// Opens the file of the slot, without locks.
static loaded *open_slot(const srv_repository *repo, const slot *s, const char *path,
                         srv_opening *opening, srv_error *err)
{
    loaded *const node = path ? calloc(1, sizeof(*node)) : NULL;
    if (!node)
        return srv_fail(err, SRV_OUT_OF_MEMORY, "no memory"), NULL;
    node->model = srv_model_open(s->file.name, s->version, path, &repo->settings, opening, err);
    if (node->model)
        return node;
    free(node);
    return NULL;
}

// The model replaces the one before, unless it was unloaded meanwhile.
static void place(srv_repository *repo, slot *s, loaded *node)
{
    retire(repo, s);
    s->node = node;
    s->model = node->model;
    if (repo->is_closed)
        srv_model_close(s->model);
    if (!s->is_wanted)
        retire(repo, s);
}

// The caller holds `lock`, which is free during the load: requests and other loads go on.
static int load_slot(srv_repository *repo, slot *s, srv_error *err)
{
    srv_error failure = {.status = SRV_OK};
    srv_opening opening;
    const uint64_t begin = tl_clock();
    char *const path = strdup(s->file.path);
    srv_opening_init(&opening);
    if (repo->is_stopping)
        srv_opening_cancel(&opening);
    s->is_due = 0;
    s->is_loading = 1;
    s->opening = &opening;
    s->loaded_stamp = s->file.stamp;
    pthread_mutex_unlock(&repo->lock);
    loaded *const node = open_slot(repo, s, path, &opening, &failure);
    free(path);
    pthread_mutex_lock(&repo->lock);
    s->opening = NULL;
    s->is_loading = 0;
    s->error = failure;
    if (node)
        place(repo, s, node);
    plan_retry(s, begin);
    note_ready(repo);
    srv_opening_clear(&opening);
    pthread_cond_broadcast(&repo->loaded);
    return node ? 0 : srv_fail(err, failure.status, "%s", failure.text);
}

// Whether a version of the model is being loaded, or will be.
static int is_busy(const srv_repository *repo, const char *name)
{
    int is_busy = 0;
    for (int i = 0; i < repo->n_slots; i++)
        is_busy |= !strcmp(repo->slots[i]->file.name, name) &&
                   (repo->slots[i]->is_due || repo->slots[i]->is_loading);
    return is_busy;
}

static int newer_loaded(const srv_repository *repo, int i)
{
    int newer = 0;
    for (int k = 0; k < i; k++)
        newer += !strcmp(repo->slots[k]->file.name, repo->slots[i]->file.name) &&
                 repo->slots[k]->is_found && repo->slots[k]->model;
    return newer;
}

static void log_removed(const srv_repository *repo, const slot *s)
{
    if (repo->settings.log)
        srv_log_event(repo->settings.log, "info", "removed model '%s', version %s: no file",
                      s->file.name, s->version);
}

// Versions that are gone, or that newer ones have replaced: after those were loaded.
static void retire_old(srv_repository *repo)
{
    for (int i = 0; i < repo->n_slots; i++) {
        slot *const s = repo->slots[i];
        const int is_gone = !s->is_found && !is_busy(repo, s->file.name);
        if (s->model && is_gone)
            log_removed(repo, s);
        if (is_gone || newer_loaded(repo, i) >= repo->max_versions)
            retire(repo, s);
    }
}

srv_repository *srv_repository_create(const char *const *paths, int n, int max_versions,
                                      const srv_model_settings *settings, srv_error *err)
{
    srv_repository *const repo = calloc(1, sizeof(*repo));
    if (!repo)
        return srv_fail(err, SRV_OUT_OF_MEMORY, "no memory"), NULL;
    pthread_mutex_init(&repo->scanning, NULL);
    pthread_cond_init(&repo->loaded, NULL);
    pthread_mutex_init(&repo->lock, NULL);
    repo->settings = *settings;
    repo->max_versions = max_versions;
    repo->paths = calloc((size_t)n + 1, sizeof(*repo->paths));
    for (int i = 0; i < n && repo->paths; i++)
        repo->n_paths += (repo->paths[i] = strdup(paths[i])) != NULL;
    if (repo->n_paths < n)
        srv_fail(err, SRV_OUT_OF_MEMORY, "no memory");
    if (err->status || rescan(repo, err)) {
        srv_repository_free(repo);
        return NULL;
    }
    return repo;
}

void srv_repository_free(srv_repository *repo)
{
    if (!repo)
        return;
    for (int i = 0; i < repo->n_slots; i++)
        free_slot(repo->slots[i]);
    for (loaded *node = repo->retired, *next; node; node = next) {
        next = node->next;
        srv_model_free(node->model);
        free(node);
    }
    for (int i = 0; i < repo->n_paths; i++)
        free(repo->paths[i]);
    srv_files_clear(&repo->ignored);
    free(repo->slots);
    free(repo->paths);
    pthread_mutex_destroy(&repo->lock);
    pthread_cond_destroy(&repo->loaded);
    pthread_mutex_destroy(&repo->scanning);
    free(repo);
}

// Requests

static const char *state_of(const slot *s)
{
    return s->model ? "READY" : s->is_loading ? "LOADING" : "UNAVAILABLE";
}

static int fail_missing(const srv_repository *repo, const char *name, const char *version,
                        srv_error *err)
{
    const slot *known = NULL;
    for (int i = 0; i < repo->n_slots; i++) {
        const slot *const s = repo->slots[i];
        if (strcmp(s->file.name, name) || (version && strcmp(s->version, version)) ||
            (!s->is_found && !s->is_loading))
            continue;
        known = known && known->is_loading ? known : s;
    }
    if (!known)
        return srv_fail(err, SRV_NOT_FOUND, "no model '%s'%s%s", name,
                        version ? " with version " : "", version ? version : "");
    return srv_fail(err, SRV_UNAVAILABLE, "model '%s' is %s%s%s", name,
                    known->is_loading ? "being loaded" : "not loaded",
                    known->error.status ? ": " : "", known->error.text);
}

srv_model *srv_repository_find(srv_repository *repo, const char *name, const char *version,
                               srv_error *err)
{
    srv_model *found = NULL;
    version = version && *version ? version : NULL;
    pthread_mutex_lock(&repo->lock);
    for (int i = 0; i < repo->n_slots && !found; i++) {
        const slot *const s = repo->slots[i];
        if (s->model && !strcmp(s->file.name, name) && (!version || !strcmp(s->version, version)))
            found = srv_model_keep(s->model);
    }
    if (!found)
        fail_missing(repo, name, version, err);
    pthread_mutex_unlock(&repo->lock);
    return found;
}

int srv_repository_each(srv_repository *repo, int (*func)(void *data, const srv_version *version),
                        void *data)
{
    int status = 0;
    pthread_mutex_lock(&repo->lock);
    for (int i = 0; i < repo->n_slots && !status; i++) {
        const slot *const s = repo->slots[i];
        if (s->is_found || s->model)
            status = func(data, &(srv_version){s->file.name, s->version, state_of(s), s->error.text,
                                               s->model});
    }
    pthread_mutex_unlock(&repo->lock);
    return status;
}

int srv_repository_is_ready(srv_repository *repo)
{
    pthread_mutex_lock(&repo->lock);
    note_ready(repo);
    const int is_ready = repo->was_ready;
    pthread_mutex_unlock(&repo->lock);
    return is_ready;
}

// Waits while another thread loads the slot, and then loads it if it is not up to date.
static int load_now(srv_repository *repo, slot *s, srv_error *err)
{
    s->is_wanted = 1;
    while (s->is_loading && !repo->is_stopping)
        pthread_cond_wait(&repo->loaded, &repo->lock);
    if (repo->is_stopping)
        return srv_fail(err, SRV_UNAVAILABLE, "the server stops");
    if (!is_outdated(s))
        return 0;
    if (load_slot(repo, s, err))
        return -1;
    return s->model ? 0 : srv_fail(err, SRV_UNAVAILABLE, "it was unloaded meanwhile");
}

// The versions of a model that files have, newest first; NULL with a reason.
static slot **find_versions(const srv_repository *repo, const char *name, int *n, srv_error *err)
{
    slot **const found = calloc((size_t)repo->n_slots + 1, sizeof(*found));
    *n = 0;
    for (int i = 0; i < repo->n_slots && found; i++)
        if (!strcmp(repo->slots[i]->file.name, name) && repo->slots[i]->is_found)
            found[(*n)++] = repo->slots[i];
    if (!found)
        srv_fail(err, SRV_OUT_OF_MEMORY, "no memory");
    else if (!*n)
        srv_fail(err, SRV_NOT_FOUND, "no model '%s'", name);
    return found;
}

int srv_repository_load(srv_repository *repo, const char *name, srv_error *err)
{
    int n = 0, status = 0;
    if (rescan(repo, err))
        return -1;
    pthread_mutex_lock(&repo->lock);
    slot **const found = find_versions(repo, name, &n, err);
    for (int i = 0; i < n && !status; i++)
        if (age_of(repo, found[i]) < repo->max_versions)
            status = load_now(repo, found[i], err);
    retire_old(repo);
    pthread_mutex_unlock(&repo->lock);
    free(found);
    return err->status ? -1 : 0;
}

int srv_repository_unload(srv_repository *repo, const char *name, srv_error *err)
{
    int n = 0;
    pthread_mutex_lock(&repo->lock);
    for (int i = 0; i < repo->n_slots; i++) {
        slot *const s = repo->slots[i];
        if (strcmp(s->file.name, name) || (!s->is_found && !s->model))
            continue;
        n++;
        s->is_wanted = s->is_due = 0;
        s->error = (srv_error){.status = SRV_OK};
        retire(repo, s);
    }
    pthread_mutex_unlock(&repo->lock);
    return n ? 0 : srv_fail(err, SRV_NOT_FOUND, "no model '%s'", name);
}

// A scan that fails as the last one did is not noted again.
static void note_scan(srv_repository *repo, const srv_error *err,
                      void (*note)(void *data, const char *name, const srv_error *err), void *data)
{
    if (err->status && strcmp(err->text, repo->scan.text))
        note(data, NULL, err);
    repo->scan = *err;
}

static void remember_stamps(srv_repository *repo)
{
    pthread_mutex_lock(&repo->lock);
    for (int i = 0; i < repo->n_slots; i++)
        repo->slots[i]->seen_stamp = repo->slots[i]->file.stamp;
    pthread_mutex_unlock(&repo->lock);
}

// Files that were the same in the last look are loaded.
static void find_due(srv_repository *repo)
{
    const uint64_t now = tl_clock();
    pthread_mutex_lock(&repo->lock);
    for (int i = 0; i < repo->n_slots && !repo->is_stopping; i++) {
        slot *const s = repo->slots[i];
        s->is_due = s->seen_stamp == s->file.stamp && !s->is_loading && needs_load(repo, s) &&
                    may_try(s, now);
    }
    retire_old(repo);
    pthread_mutex_unlock(&repo->lock);
}

void srv_repository_look(srv_repository *repo,
                         void (*note)(void *data, const char *name, const srv_error *err),
                         void *data)
{
    srv_error err = {.status = SRV_OK};
    remember_stamps(repo);
    rescan(repo, &err);
    note_scan(repo, &err, note, data);
    if (!err.status)
        find_due(repo);
}

static slot *next_due(const srv_repository *repo)
{
    for (int i = 0; i < repo->n_slots; i++)
        if (repo->slots[i]->is_due && !repo->slots[i]->is_loading)
            return repo->slots[i];
    return NULL;
}

int srv_repository_is_due(srv_repository *repo)
{
    pthread_mutex_lock(&repo->lock);
    const int is_due = next_due(repo) != NULL;
    pthread_mutex_unlock(&repo->lock);
    return is_due;
}

void srv_repository_load_next(srv_repository *repo,
                              void (*note)(void *data, const char *name, const srv_error *err),
                              void *data)
{
    srv_error failure = {.status = SRV_OK};
    pthread_mutex_lock(&repo->lock);
    slot *const s = next_due(repo);
    if (s) {
        const srv_error before = s->error;
        const int is_retry = before.status && s->loaded_stamp == s->file.stamp;
        load_slot(repo, s, &failure);
        retire_old(repo);
        pthread_mutex_unlock(&repo->lock);
        if (!is_retry || strcmp(before.text, failure.text))
            note(data, s->file.name, &failure);
        return;
    }
    pthread_mutex_unlock(&repo->lock);
}

void srv_repository_cancel_loads(srv_repository *repo)
{
    pthread_mutex_lock(&repo->lock);
    repo->is_stopping = 1;
    for (int i = 0; i < repo->n_slots; i++) {
        repo->slots[i]->is_due = 0;
        if (repo->slots[i]->opening)
            srv_opening_cancel(repo->slots[i]->opening);
    }
    pthread_cond_broadcast(&repo->loaded);
    pthread_mutex_unlock(&repo->lock);
}

// The model of slot `i`, or of the following places of those that were replaced, kept; NULL: none
// there. 0: no such place. Requests end without the lock.
static int keep_model(srv_repository *repo, int i, srv_model **model)
{
    *model = NULL;
    pthread_mutex_lock(&repo->lock);
    const int is_slot = i < repo->n_slots;
    const loaded *node = is_slot ? NULL : repo->retired;
    for (int k = repo->n_slots; k < i && node; k++)
        node = node->next;
    srv_model *const m = is_slot ? repo->slots[i]->model : node ? node->model : NULL;
    if (m)
        *model = srv_model_keep(m);
    pthread_mutex_unlock(&repo->lock);
    return is_slot || node;
}

// The first model that was replaced and has no users; NULL: none.
static loaded *take_unused(srv_repository *repo)
{
    loaded *unused = NULL;
    pthread_mutex_lock(&repo->lock);
    for (loaded **link = &repo->retired; *link && !unused;) {
        if (srv_model_has_users((*link)->model)) {
            link = &(*link)->next;
            continue;
        }
        unused = *link;
        *link = unused->next;
    }
    pthread_mutex_unlock(&repo->lock);
    return unused;
}

int srv_repository_free_replaced(srv_repository *repo)
{
    for (loaded *node; (node = take_unused(repo));) {
        srv_model_free(node->model);
        free(node);
    }
    pthread_mutex_lock(&repo->lock);
    const int n_left = repo->retired != NULL;
    pthread_mutex_unlock(&repo->lock);
    return n_left;
}

void srv_repository_tick(srv_repository *repo, uint64_t now)
{
    srv_model *m;
    for (int i = 0; keep_model(repo, i, &m); i++)
        if (m) {
            srv_model_expire(m, now);
            srv_model_release(m);
        }
}

void srv_repository_cancel_all(srv_repository *repo)
{
    srv_model *m;
    for (int i = 0; keep_model(repo, i, &m); i++)
        if (m) {
            srv_model_cancel_all(m);
            srv_model_release(m);
        }
}

void srv_repository_close(srv_repository *repo)
{
    pthread_mutex_lock(&repo->lock);
    repo->is_closed = 1;
    for (int i = 0; i < repo->n_slots; i++)
        if (repo->slots[i]->model)
            srv_model_close(repo->slots[i]->model);
    pthread_mutex_unlock(&repo->lock);
}
