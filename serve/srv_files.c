// SPDX-License-Identifier: Apache-2.0
// Finds models in folders, by the names of files and folders.

#include "srv_files.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "srv_foreign.h"

// Endings of models, the preferred one first: compiled models start fast.
static const char *const endings[] = {".safetensors", ".onnx", ".json", ".net", NULL};

static int rank_of(const char *file)
{
    const char *const dot = strrchr(file, '.');
    int i = 0;
    while (endings[i] && (!dot || strcmp(dot, endings[i])))
        i++;
    return endings[i] ? i : -1;
}

static int is_version(const char *name)
{
    size_t n = strspn(name, "0123456789");
    return n > 0 && n < 10 && !name[n];
}

static int is_folder(const char *path)
{
    struct stat st;
    return !stat(path, &st) && S_ISDIR(st.st_mode);
}

// `folder`/`name`; empty: too long.
static const char *join(char path[PATH_MAX], const char *folder, const char *name)
{
    const int n = snprintf(path, PATH_MAX, "%s/%s", folder, name);
    return n < PATH_MAX ? path : "";
}

static uint64_t mix(uint64_t hash, uint64_t value)
{
    return (hash ^ value) * 1099511628211u; // FNV-1a, of words
}

// Folders

// Calls func for each entry that is not hidden, in order. -1 with a reason: it cannot be read.
static int each_entry(const char *folder,
                      int (*func)(void *data, const char *path, const char *name), void *data,
                      srv_error *err)
{
    struct dirent **entries;
    char path[PATH_MAX];
    const int n = scandir(folder, &entries, NULL, alphasort);
    int status =
        n < 0 ? srv_fail(err, SRV_NOT_FOUND, "%s: cannot read: %s", folder, strerror(errno)) : 0;
    for (int i = 0; i < n; i++) {
        if (!status && entries[i]->d_name[0] != '.')
            status = func(data, join(path, folder, entries[i]->d_name), entries[i]->d_name);
        free(entries[i]);
    }
    if (n >= 0)
        free(entries);
    return status;
}

static int ignore(srv_files *files, srv_error *err, const char *fmt, ...) LN_PRINTF(3, 4);

static int ignore(srv_files *files, srv_error *err, const char *fmt, ...)
{
    char text[PATH_MAX + 128];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    char **const ignored =
        realloc(files->ignored, sizeof(*ignored) * ((size_t)files->n_ignored + 1));
    if (ignored)
        files->ignored = ignored;
    char *const line = ignored ? strdup(text) : NULL;
    if (!line)
        return srv_fail(err, SRV_OUT_OF_MEMORY, "no memory");
    files->ignored[files->n_ignored++] = line;
    return 0;
}

static int add(srv_files *files, const char *name, size_t name_size, long version, const char *path,
               uint64_t stamp, srv_error *err)
{
    srv_file *const at = realloc(files->at, sizeof(*at) * ((size_t)files->n + 1));
    if (at)
        files->at = at;
    const srv_file file = {strndup(name, name_size), strdup(path), version, stamp, -1};
    if (!at || !file.name || !file.path) {
        free(file.name);
        free(file.path);
        return srv_fail(err, SRV_OUT_OF_MEMORY, "no memory");
    }
    files->at[files->n++] = file;
    return 0;
}

static int add_file(srv_files *files, const char *path, srv_error *err)
{
    const char *const slash = strrchr(path, '/'), *const name = slash ? slash + 1 : path;
    const char *const dot = strrchr(name, '.');
    return add(files, name, dot && dot > name ? (size_t)(dot - name) : strlen(name), 1, path,
               srv_files_stamp(path, 0), err);
}

// A file in a folder of models.
static int add_listed(srv_files *files, const char *path, int rank, srv_error *err)
{
    if (srv_foreign_is(path))
        return ignore(files, err, "%s: this is no model of LightNet", path);
    if (add_file(files, path, err))
        return -1;
    files->at[files->n - 1].rank = rank;
    return 0;
}

// The model in a version's folder: the file "model" with the preferred ending, or the only model.
typedef struct choice {
    char path[PATH_MAX];
    int rank, n;
    uint64_t stamp; // of all files
} choice;

static int look_at(void *data, const char *path, const char *name)
{
    choice *const c = data;
    const int rank = rank_of(name);
    c->stamp = srv_files_stamp(path, c->stamp);
    if (rank < 0 || is_folder(path) || srv_foreign_is(path))
        return 0;
    const int is_named = !strncmp(name, "model.", 6);
    c->n++;
    if (c->n == 1 || (is_named && (rank < c->rank || c->rank < 0))) {
        snprintf(c->path, sizeof(c->path), "%s", path);
        c->rank = is_named ? rank : -1;
    }
    return 0;
}

typedef struct walk {
    srv_files *files;
    const char *name; // of the model whose folder this is
    int with_names;   // also folders NAME and files of models
    int is_given;     // NAME=PATH: the folder need not have versions
    srv_error *err;
} walk;

static int add_version(walk *w, const char *path, long version)
{
    choice c = {.rank = -1};
    if (each_entry(path, look_at, &c, w->err))
        return -1;
    if (c.n > 1 && c.rank < 0)
        return w->is_given ? 0
                           : ignore(w->files, w->err, "%s: none of %d models has the name 'model'",
                                    path, c.n);
    if (!c.n)
        return 0; // a folder may be filled later
    return add(w->files, w->name, strlen(w->name), version, c.path, c.stamp, w->err);
}

static int count_model(void *data, const char *path, const char *name)
{
    *(int *)data += rank_of(name) >= 0 && !is_folder(path) && !srv_foreign_is(path);
    return 0;
}

// What lies in the folder of a model and is no version.
static int note_stray(const walk *w, const char *path, const char *name)
{
    int n = 0;
    if (!is_folder(path))
        count_model(&n, path, name);
    else if (each_entry(path, count_model, &n, w->err))
        return -1;
    return n ? ignore(w->files, w->err,
                      "%s: has no version; expected NAME/VERSION/model.onnx, as "
                      "in %s/1",
                      path, w->name)
             : 0;
}

static int visit(void *data, const char *path, const char *name)
{
    walk *const w = data;
    if (is_folder(path) && is_version(name))
        return w->name ? add_version(w, path, strtol(name, NULL, 10)) : 0;
    if (!w->with_names)
        return w->is_given ? 0 : note_stray(w, path, name);
    if (is_folder(path)) {
        walk inner = {w->files, name, 0, 0, w->err};
        return each_entry(path, visit, &inner, w->err);
    }
    return rank_of(name) < 0 ? 0 : add_listed(w->files, path, rank_of(name), w->err);
}

// The last part of a path without slashes at its end.
static const char *last_part(char name[PATH_MAX], const char *path)
{
    char whole[PATH_MAX];
    snprintf(name, PATH_MAX, "%s", realpath(path, whole) ? whole : path);
    const char *const slash = strrchr(name, '/');
    return slash ? slash + 1 : name;
}

// The model of a folder, by whatever name: its versions, or else the one that is in it.
static int find_in_folder(srv_files *files, const char *name, const char *path, srv_error *err)
{
    const int n = files->n;
    walk w = {files, name, 0, 1, err};
    if (each_entry(path, visit, &w, err) || (files->n == n && add_version(&w, path, 1)))
        return -1;
    return files->n > n ? 0
                        : srv_fail(err, SRV_NOT_FOUND,
                                   "%s: no model; expected VERSION/model.onnx, model.onnx, or one "
                                   "file of a model",
                                   path);
}

// NAME=PATH.
static int find_named(srv_files *files, const char *text, const char *path, srv_error *err)
{
    char name[NAME_MAX + 1];
    struct stat st;
    const size_t size = (size_t)(path - 1 - text);
    if (!size || size > NAME_MAX)
        return srv_fail(err, SRV_INVALID, "'%s': expected NAME=PATH with a name of 1 to %d bytes",
                        text, NAME_MAX);
    memcpy(name, text, size);
    name[size] = '\0';
    if (stat(path, &st))
        return srv_fail(err, SRV_NOT_FOUND, "%s: cannot read: %s", path, strerror(errno));
    return S_ISDIR(st.st_mode) ? find_in_folder(files, name, path, err)
                               : add(files, name, size, 1, path, srv_files_stamp(path, 0), err);
}

int srv_files_find(srv_files *files, const char *path, srv_error *err)
{
    char name[PATH_MAX];
    struct stat st;
    const int n = files->n;
    const char *const equals = strchr(path, '=');
    const int is_there = !stat(path, &st);
    if (!is_there && equals && !memchr(path, '/', (size_t)(equals - path)))
        return find_named(files, path, equals + 1, err);
    if (!is_there)
        return srv_fail(err, SRV_NOT_FOUND, "%s: cannot read: %s", path, strerror(errno));
    if (!S_ISDIR(st.st_mode))
        return add_file(files, path, err);
    walk w = {files, last_part(name, path), 1, 0, err};
    const int n_ignored = files->n_ignored;
    if (each_entry(path, visit, &w, err))
        return -1;
    if (files->n > n)
        return 0;
    const char *const last =
        files->n_ignored > n_ignored ? files->ignored[files->n_ignored - 1] : NULL;
    return srv_fail(err, SRV_NOT_FOUND,
                    "%s: no model; expected files of models, or NAME/VERSION/model.onnx%s%s", path,
                    last ? "; ignored " : "", last ? last : "");
}

static int by_name(const void *a, const void *b)
{
    const srv_file *const x = a, *const y = b;
    const int order = strcmp(x->name, y->name);
    return order ? order : (x->version < y->version) - (x->version > y->version);
}

static int by_rank(const void *a, const void *b)
{
    const int order = by_name(a, b);
    return order ? order : ((const srv_file *)a)->rank - ((const srv_file *)b)->rank;
}

// Whether the two were found in one folder, where the first is preferred.
static int is_alternative(const srv_file *a, const srv_file *b)
{
    const char *const x = strrchr(a->path, '/'), *const y = strrchr(b->path, '/');
    return a->rank >= 0 && b->rank > a->rank && x && y && x - a->path == y - b->path &&
           !strncmp(a->path, b->path, (size_t)(x - a->path));
}

static void clear_file(srv_file *file)
{
    free(file->name);
    free(file->path);
    *file = (srv_file){.name = NULL};
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

int srv_files_has_ignored(const srv_files *files, const char *line)
{
    return files->n_ignored && bsearch(&line, files->ignored, (size_t)files->n_ignored,
                                       sizeof(*files->ignored), by_text);
}

int srv_files_sort(srv_files *files, srv_error *err)
{
    int n = 0, status = 0;
    if (files->n)
        qsort(files->at, (size_t)files->n, sizeof(*files->at), by_rank);
    for (int i = 0; i < files->n; i++) {
        srv_file *const last = n ? &files->at[n - 1] : NULL, *const file = &files->at[i];
        if (!last || by_name(last, file)) {
            files->at[n++] = *file;
            continue;
        }
        if (!is_alternative(last, file))
            status = srv_fail(err, SRV_INVALID, "%s and %s are both version %ld of model '%s'",
                              last->path, file->path, file->version, file->name);
        else if (ignore(files, err, "%s: %s comes before it", file->path, last->path))
            status = -1;
        clear_file(file);
    }
    files->n = n;
    if (files->n_ignored)
        qsort(files->ignored, (size_t)files->n_ignored, sizeof(*files->ignored), by_text);
    return status;
}

void srv_files_clear(srv_files *files)
{
    for (int i = 0; i < files->n; i++)
        clear_file(&files->at[i]);
    for (int i = 0; i < files->n_ignored; i++)
        free(files->ignored[i]);
    free(files->at);
    free(files->ignored);
    *files = (srv_files){.at = NULL};
}

uint64_t srv_files_stamp(const char *path, uint64_t stamp)
{
    struct stat st;
    if (stat(path, &st) || !S_ISREG(st.st_mode))
        return stamp;
    stamp = mix(mix(stamp, (uint64_t)st.st_mtim.tv_sec), (uint64_t)st.st_mtim.tv_nsec);
    return mix(mix(stamp, (uint64_t)st.st_size), (uint64_t)st.st_ino);
}

// The size; -1 with a reason.
static long size_of(FILE *file, const char *path, size_t max, srv_error *err)
{
    struct stat st;
    if (fstat(fileno(file), &st) || !S_ISREG(st.st_mode))
        return srv_fail(err, SRV_INVALID, "%s: is no regular file", path);
    if (!st.st_size)
        return srv_fail(err, SRV_INVALID, "%s: is empty", path);
    if ((size_t)st.st_size > max)
        return srv_fail(err, SRV_INVALID, "%s: has %lld bytes, expected up to %zu", path,
                        (long long)st.st_size, max);
    return (long)st.st_size;
}

static char *read_text(FILE *file, const char *path, size_t size, srv_error *err)
{
    char *const text = malloc(size + 1);
    if (!text)
        return srv_fail(err, SRV_OUT_OF_MEMORY, "no memory"), NULL;
    const int is_whole = fread(text, 1, size, file) == size && !memchr(text, 0, size);
    text[size] = '\0';
    if (is_whole)
        return text;
    free(text);
    return srv_fail(err, SRV_INVALID, "%s: is no text, or changes", path), NULL;
}

char *srv_files_read(const char *path, size_t max, srv_error *err)
{
    FILE *const file = fopen(path, "rb");
    if (!file)
        return srv_fail(err, SRV_NOT_FOUND, "%s: cannot read: %s", path, strerror(errno)), NULL;
    const long size = size_of(file, path, max, err);
    char *const text = size > 0 ? read_text(file, path, (size_t)size, err) : NULL;
    fclose(file);
    return text;
}
