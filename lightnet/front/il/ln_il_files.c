// SPDX-License-Identifier: Apache-2.0
// The files that preprocessed IL comes from, by the preprocessor's line marks.

#include "front/il/ln_il_files.h"

#include <string.h>

#include "front/il/ln_il_pre.h"
#include "lightnet/ln_util.h"

/* How deeply files include each other; the preprocessor refuses more. */
enum { MAX_NESTING = 256 };

/* A file that is being read. */
typedef struct source {
    const char *path;
    char mark[]; // what marks call it
} source;

// The path of the file that is read at the moment.
static const char *innermost(const ln_il_files *f)
{
    return f->open ? ((const source *)f->open->data)->path : f->model;
}

// Of each path one copy is kept, which places borrow.
static const char *keep_path(const ln_il_files *f, const char *mark, size_t len)
{
    char path[LN_MAXLINE];
    ln_il_file_name(innermost(f), mark, len, path, sizeof(path));
    const char *known = ln_hash_find(f->paths, path);
    if (known)
        return known;
    char *copy = ln_strdup(path);
    if (copy && ln_hash_insert(f->paths, copy, copy) >= 0)
        return copy;
    ln_free(copy);
    return NULL;
}

static int open_file(ln_il_files *f, const char *path, const char *mark, size_t len)
{
    source *file = ln_alloc(sizeof(*file) + len + 1);
    ln_list *longer = file ? ln_list_prepend(f->open, file) : NULL;
    if (!longer) {
        ln_free(file);
        return -1;
    }
    file->path = path;
    memcpy(file->mark, mark, len);
    file->mark[len] = '\0';
    f->open = longer;
    return 0;
}

static int is_called(const source *file, const char *mark, size_t len)
{
    return strlen(file->mark) == len && !memcmp(file->mark, mark, len);
}

// Closes the files within the one of the mark. Returns whether there is such a one; without it
// nothing changes.
static int return_to(ln_il_files *f, const char *mark, size_t len)
{
    const ln_list *found = f->open;
    while (found && !is_called(found->data, mark, len))
        found = found->next;
    while (found && f->open != found) {
        ln_free(f->open->data);
        f->open = ln_list_remove_nth(f->open, 0);
    }
    return found != NULL;
}

const char *ln_il_files_at(ln_il_files *f, int line, const char *mark, size_t len)
{
    if (line != 1 && return_to(f, mark, len))
        return innermost(f);
    const char *path = keep_path(f, mark, len);
    const int begins = line == 1 && ln_list_length(f->open) < MAX_NESTING;
    return path && begins && open_file(f, path, mark, len) ? NULL : path;
}

int ln_il_files_begin(ln_il_files *f, const char *model)
{
    *f = (ln_il_files){.model = model,
                       .paths = ln_hash_create(ln_str_hash, ln_str_cmp, ln_free, NULL)};
    return f->paths ? 0 : -1;
}

void ln_il_files_end(ln_il_files *f)
{
    ln_list_free_deep(f->open, ln_free);
    ln_hash_free(f->paths);
    *f = (ln_il_files){0};
}
