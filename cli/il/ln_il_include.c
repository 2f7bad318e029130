// SPDX-License-Identifier: Apache-2.0
// Files that IL includes.

#include "il/ln_il_pre.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/ln_beneath.h"
#include "base/ln_error_memory.h"
#include "lightnet/ln_util.h"

// Files within each other, files in all, and bytes of one.
enum { MAX_DEPTH = 64, MAX_FILES = 10000, MAX_SIZE = 64 << 20 };

// Identifies the file under any name.
typedef struct identity {
    dev_t device;
    ino_t number;
} identity;

static int is_same(const identity *a, const identity *b)
{
    return a->device == b->device && a->number == b->number;
}

// Names

// Returns new (ln_free): `len` bytes of `a`, then `b`; NULL: no memory.
static char *join(const char *a, size_t len, const char *b)
{
    char *whole = ln_alloc(len + strlen(b) + 1);
    if (whole) {
        memcpy(whole, a, len);
        strcpy(whole + len, b);
    }
    return whole;
}

// Puts the string into the includer's names, or frees it; NULL: no memory.
static const char *keep(const ln_il_includer *in, char *name)
{
    ln_list *longer = name ? ln_list_prepend(*in->names, name) : NULL;
    if (!longer) {
        ln_free(name);
        return NULL;
    }
    *in->names = longer;
    return name;
}

static int has_identity(const char *name, const identity *wanted)
{
    struct stat st;
    return !stat(name, &st) && is_same(&(identity){st.st_dev, st.st_ino}, wanted);
}

// The name of the file for the user: with the folder in which it was found.
static char *full_name(const ln_il_includer *in, const char *path, const identity *id)
{
    const char *model = in->host->model;
    char *name = join(model ? model : "", model ? strlen(model) : 0, path);
    for (const ln_list *at = in->host->allowed; at && name && !has_identity(name, id);
         at = at->next) {
        ln_free(name);
        char *folder = join(at->data, strlen(at->data), "/");
        name = folder ? join(folder, strlen(folder), path) : NULL;
        ln_free(folder);
    }
    return name;
}

// Opening

// Beside the file that includes it, else from the folders themselves. Sets *found, which is new
// (ln_free), to the name beneath them.
static int open_file(const ln_il_includer *in, const char *folder, const char *path, char **found,
                     ln_error *reason)
{
    // A model without a folder has the first one that is allowed.
    const char *model = in->host->model;
    const ln_list *allowed = in->host->allowed;
    const ln_beneath folders = model ? (ln_beneath){.folder = model, .allowed = allowed}
                                     : (ln_beneath){allowed->data, allowed->next};
    ln_error other = {0};
    *found = join(folder, strlen(folder), path);
    if (!*found)
        return ln_error_memory(reason);
    // The name itself is looked at, which a folder before it would hide.
    if (!ln_beneath_is_inner(path))
        return ln_beneath_open(&folders, path, reason);
    int fd = ln_beneath_open(&folders, *found, reason);
    if (fd < 0 && *folder && (fd = ln_beneath_open(&folders, path, &other)) >= 0)
        memmove(*found, path, strlen(path) + 1);
    return fd;
}

static int check_bounds(const ln_il_includer *in, ln_il_place place, ln_error *err)
{
    if (!in->host->model && !in->host->allowed)
        return ln_il_fail(err, place,
                          "#include: a model without a file has no folder to search; add one with "
                          "--include");
    if (ln_list_length(in->open) >= MAX_DEPTH)
        return ln_il_fail(err, place, "#include: files include each other more than %d deep",
                          MAX_DEPTH);
    if (in->n == MAX_FILES)
        return ln_il_fail(err, place, "#include: more than %d files", MAX_FILES);
    return 0;
}

// Reading

// Closes the descriptor.
static char *read_text(int fd, const char *path, size_t *len, ln_error *reason)
{
    struct stat st;
    FILE *stream = fdopen(fd, "rb");
    if (!stream) {
        close(fd);
        ln_error_set(reason, "%s: cannot be read", path);
        return NULL;
    }
    char *text = NULL;
    if (fstat(fd, &st) || st.st_size > MAX_SIZE)
        ln_error_set(reason, "%s: the file has more than %d bytes", path, MAX_SIZE);
    else if (!(text = ln_read_stream(stream, path, len)))
        ln_error_set(reason, "%s", ln_last_error());
    fclose(stream);
    return text;
}

// Pushes an opened file: it becomes the innermost one.
static int enter(ln_il_includer *in, const char *path, const identity *id, ln_il_included *file)
{
    identity *own = ln_clone(id, sizeof(*id));
    file->name = keep(in, full_name(in, path, id));
    file->folder = keep(in, join(path, ln_beneath_folder_len(path), ""));
    ln_list *longer = own && file->name && file->folder ? ln_list_prepend(in->open, own) : NULL;
    if (!longer) {
        ln_free(own);
        return -1;
    }
    in->open = longer;
    in->n++;
    return 0;
}

static int read_opened(ln_il_includer *in, int fd, const char *path, ln_il_included *file,
                       ln_error *reason)
{
    struct stat st;
    if (fstat(fd, &st)) {
        close(fd);
        return ln_error_set(reason, "%s: cannot be read", path);
    }
    const identity id = {st.st_dev, st.st_ino}, *known;
    LN_LIST_FOREACH(known, in->once)
    {
        if (is_same(known, &id)) {
            close(fd);
            return 1;
        }
    }
    ln_il_included read = {0};
    read.text = read_text(fd, path, &read.len, reason);
    if (!read.text)
        return -1;
    if (enter(in, path, &id, &read)) {
        ln_free(read.text);
        return ln_error_memory(reason);
    }
    *file = read;
    return 0;
}

int ln_il_include(ln_il_includer *in, const char *folder, const char *path, ln_il_place place,
                  ln_il_included *file, ln_error *err)
{
    ln_error reason = {0};
    char *found;
    if (check_bounds(in, place, err))
        return -1;
    const int fd = open_file(in, folder, path, &found, &reason);
    const int rc = fd < 0 ? -1 : read_opened(in, fd, found, file, &reason);
    ln_free(found);
    return rc < 0 ? ln_il_fail(err, place, "#include: %s", reason.text) : rc;
}

void ln_il_include_ends(ln_il_includer *in)
{
    ln_free(in->open->data);
    in->open = ln_list_remove_nth(in->open, 0);
}

int ln_il_include_once(ln_il_includer *in, ln_error *err)
{
    identity *copy = in->open ? ln_clone(in->open->data, sizeof(*copy)) : NULL;
    ln_list *longer = copy ? ln_list_prepend(in->once, copy) : NULL;
    if (in->open && !longer) {
        ln_free(copy);
        return ln_error_memory(err);
    }
    in->once = in->open ? longer : in->once;
    return 0;
}

void ln_il_includer_end(ln_il_includer *in)
{
    ln_list_free_deep(in->open, ln_free);
    ln_list_free_deep(in->once, ln_free);
    *in = (ln_il_includer){0};
}
