// SPDX-License-Identifier: Apache-2.0
// Slots for versions of models, under two locks: one to load, which takes long, and one to look.

#include "srv_repository.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "srv_files.h"

enum { VERSION_TEXT = 24 };

// A model, and its place among those that were replaced.
typedef struct loaded {
    srv_model *model;
    struct loaded *next;
} loaded;

// A version of a model that was found.
typedef struct slot {
    srv_file file;
    char version[VERSION_TEXT];
    srv_model *model; // NULL: not loaded
    loaded *node;     // its node, NULL without a model
    int is_wanted;    // it should be loaded
    int is_loading;
    int is_found, was_found; // in the last scan, and in the one before
    uint64_t loaded_stamp;   // of the file that was loaded, or failed
    srv_error error;         // of the last attempt
} slot;

struct srv_repository {
    char **paths; // [n_paths], owned
    int n_paths, max_versions;
    srv_model_settings settings;
    pthread_mutex_t loading; // one load at a time; before `lock`
    pthread_mutex_t lock;    // protects all below
    slot **slots;            // [n_slots], sorted by name, newest first
    int n_slots;
    loaded *retired; // closed; they still have users
    int is_closed;   // models accept no requests
    srv_error scan;  // of the last scan
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

static int rescan(srv_repository *repo, srv_error *err)
{
    srv_files files = {.at = NULL};
    int status = scan(repo, &files, err);
    if (!status) {
        pthread_mutex_lock(&repo->lock);
        status = update(repo, &files, err);
        pthread_mutex_unlock(&repo->lock);
    }
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

// Loading: the caller holds `loading`, so that slots neither appear nor go.

// Opens without `lock`: requests go on.
static int load_slot(srv_repository *repo, slot *s, srv_error *err)
{
    srv_error failure = {.status = SRV_OK};
    pthread_mutex_lock(&repo->lock);
    s->is_loading = 1;
    s->loaded_stamp = s->file.stamp;
    pthread_mutex_unlock(&repo->lock);
    loaded *const node = calloc(1, sizeof(*node));
    srv_model *const model =
        node ? srv_model_open(s->file.name, s->version, s->file.path, &repo->settings, &failure)
             : NULL;
    if (!node)
        srv_fail(&failure, SRV_OUT_OF_MEMORY, "no memory");
    pthread_mutex_lock(&repo->lock);
    s->is_loading = 0;
    s->error = failure;
    if (model) {
        retire(repo, s);
        *node = (loaded){model, NULL};
        s->node = node;
        s->model = model;
        if (repo->is_closed)
            srv_model_close(model);
    }
    pthread_mutex_unlock(&repo->lock);
    if (!model)
        free(node);
    return model ? 0 : srv_fail(err, failure.status, "%s", failure.text);
}

static int needs_load(const srv_repository *repo, const slot *s)
{
    return s->is_found && s->is_wanted && age_of(repo, s) < repo->max_versions &&
           (!s->model || s->loaded_stamp != s->file.stamp);
}

// Versions that are gone, or that newer ones have replaced: after those were loaded.
static void retire_old(srv_repository *repo)
{
    pthread_mutex_lock(&repo->lock);
    for (int i = 0; i < repo->n_slots; i++) {
        slot *const s = repo->slots[i];
        int newer = 0;
        for (int k = 0; k < i; k++)
            newer += !strcmp(repo->slots[k]->file.name, s->file.name) && repo->slots[k]->is_found &&
                     repo->slots[k]->model;
        if (newer >= repo->max_versions || !s->is_found)
            retire(repo, s);
    }
    pthread_mutex_unlock(&repo->lock);
}

srv_repository *srv_repository_create(const char *const *paths, int n, int max_versions,
                                      const srv_model_settings *settings, srv_error *err)
{
    srv_repository *const repo = calloc(1, sizeof(*repo));
    if (!repo)
        return srv_fail(err, SRV_OUT_OF_MEMORY, "no memory"), NULL;
    pthread_mutex_init(&repo->loading, NULL);
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
    free(repo->slots);
    free(repo->paths);
    pthread_mutex_destroy(&repo->lock);
    pthread_mutex_destroy(&repo->loading);
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
        if (strcmp(s->file.name, name) || (version && strcmp(s->version, version)))
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
    int is_ready = 1;
    pthread_mutex_lock(&repo->lock);
    for (int i = 0; i < repo->n_slots; i++) {
        const slot *const s = repo->slots[i];
        is_ready &=
            s->model || !s->is_found || !s->is_wanted || age_of(repo, s) >= repo->max_versions;
    }
    pthread_mutex_unlock(&repo->lock);
    return is_ready;
}

static void want(srv_repository *repo, slot *s)
{
    pthread_mutex_lock(&repo->lock);
    s->is_wanted = 1;
    pthread_mutex_unlock(&repo->lock);
}

int srv_repository_load(srv_repository *repo, const char *name, srv_error *err)
{
    int n = 0, status = 0;
    pthread_mutex_lock(&repo->loading);
    if (rescan(repo, err))
        status = -1;
    for (int i = 0; i < repo->n_slots && !status; i++) {
        slot *const s = repo->slots[i];
        if (strcmp(s->file.name, name) || !s->is_found)
            continue;
        n++;
        if (age_of(repo, s) >= repo->max_versions)
            continue;
        want(repo, s);
        if (!s->model || s->loaded_stamp != s->file.stamp)
            status = load_slot(repo, s, err);
    }
    if (!n && !status)
        status = srv_fail(err, SRV_NOT_FOUND, "no model '%s'", name);
    retire_old(repo);
    pthread_mutex_unlock(&repo->loading);
    return status;
}

int srv_repository_unload(srv_repository *repo, const char *name, srv_error *err)
{
    int n = 0;
    pthread_mutex_lock(&repo->loading);
    pthread_mutex_lock(&repo->lock);
    for (int i = 0; i < repo->n_slots; i++) {
        slot *const s = repo->slots[i];
        if (strcmp(s->file.name, name))
            continue;
        n++;
        s->is_wanted = 0;
        s->error = (srv_error){.status = SRV_OK};
        retire(repo, s);
    }
    pthread_mutex_unlock(&repo->lock);
    pthread_mutex_unlock(&repo->loading);
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

void srv_repository_poll(srv_repository *repo,
                         void (*note)(void *data, const char *name, const srv_error *err),
                         void *data)
{
    srv_error err = {.status = SRV_OK};
    pthread_mutex_lock(&repo->loading);
    uint64_t *const before = calloc((size_t)repo->n_slots + 1, sizeof(*before));
    slot **const known = calloc((size_t)repo->n_slots + 1, sizeof(*known));
    const int n = before && known ? repo->n_slots : 0;
    for (int i = 0; i < n; i++) {
        known[i] = repo->slots[i];
        before[i] = repo->slots[i]->file.stamp;
    }
    rescan(repo, &err);
    note_scan(repo, &err, note, data);
    if (!err.status)
        for (int i = 0; i < n; i++) { // files that were the same in the last call
            srv_error failure = {.status = SRV_OK};
            slot *const s = known[i];
            if (before[i] != s->file.stamp || !needs_load(repo, s) ||
                (s->error.status && s->loaded_stamp == s->file.stamp))
                continue;
            load_slot(repo, s, &failure);
            note(data, s->file.name, &failure);
        }
    retire_old(repo);
    free(known);
    free(before);
    pthread_mutex_unlock(&repo->loading);
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

static void free_retired(srv_repository *repo)
{
    loaded *gone = NULL;
    pthread_mutex_lock(&repo->lock);
    for (loaded **link = &repo->retired; *link; link = &(*link)->next)
        if (!srv_model_has_users((*link)->model)) {
            gone = *link;
            *link = gone->next;
            break;
        }
    pthread_mutex_unlock(&repo->lock);
    if (gone)
        srv_model_free(gone->model);
    free(gone);
}

void srv_repository_tick(srv_repository *repo, uint64_t now)
{
    srv_model *m;
    for (int i = 0; keep_model(repo, i, &m); i++) {
        if (m) {
            srv_model_expire(m, now);
            srv_model_release(m);
        }
    }
    free_retired(repo);
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
