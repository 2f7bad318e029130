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

enum { MAX_SIZE = 64 << 20 }; // of one file

// Returns new (ln_free): `len` bytes of `a`, then `b` and `c`; NULL: no memory.
static char *join(const char *a, size_t len, const char *b, const char *c)
{
    char *whole = ln_alloc(len + strlen(b) + strlen(c) + 1);
    if (whole) {
        memcpy(whole, a, len);
        strcpy(stpcpy(whole + len, b), c);
    }
    return whole;
}

// Closes the descriptor. Returns new (ln_free).
static char *read_text(int fd, const char *path, size_t *len, ln_error *err)
{
    struct stat st;
    FILE *stream = fdopen(fd, "rb");
    if (!stream) {
        close(fd);
        return ln_error_set(err, "%s: cannot be read", path), NULL;
    }
    char *text = NULL;
    if (fstat(fd, &st) || st.st_size > MAX_SIZE)
        ln_error_set(err, "%s: the file has more than %d bytes", path, MAX_SIZE);
    else if (!(text = ln_read_stream(stream, path, len)))
        ln_error_set(err, "%s", ln_last_error());
    fclose(stream);
    return text;
}

// Searches beside the including file, else from the search folders themselves. `path` becomes the
// name beneath the folder *in. Returns a descriptor.
static int open_file(const ln_beneath *folders, char *path, size_t folder_len, const char **in,
                     ln_error *err)
{
    char *const name = path + folder_len;
    ln_error other = {0};
    // The name itself is checked, which a folder before it would hide.
    if (!folder_len || !ln_beneath_is_inner(name))
        return ln_beneath_open(folders, name, in, err);
    int fd = ln_beneath_open(folders, path, in, err);
    if (fd < 0 && (fd = ln_beneath_open(folders, name, in, &other)) >= 0)
        memmove(path, name, strlen(name) + 1);
    return fd;
}

// `path`: beneath the folder `in`.
static int read_file(int fd, const char *in, const char *path, ln_il_included *file, ln_error *err)
{
    const size_t len = strlen(in);
    *file = (ln_il_included){0};
    file->text = read_text(fd, path, &file->len, err);
    if (!file->text)
        return -1;
    file->name = join(in, len, len && in[len - 1] != '/' ? "/" : "", path);
    file->folder = join(path, ln_beneath_folder_len(path), "", "");
    if (file->name && file->folder)
        return 0;
    ln_free(file->text);
    ln_free(file->name);
    ln_free(file->folder);
    return ln_error_memory(err);
}

int ln_il_include(const ln_il_host *host, const char *folder, const char *path,
                  ln_il_included *file, ln_error *err)
{
    if (!host->model && !host->allowed)
        return ln_error_set(
            err, "a model without a file has no folder to search; add one with --include");
    // A model without a folder has the first one that is allowed.
    const ln_beneath folders = host->model ? (ln_beneath){host->model, host->allowed}
                                           : (ln_beneath){host->allowed->data, host->allowed->next};
    const char *in;
    char *found = join(folder, strlen(folder), path, "");
    if (!found)
        return ln_error_memory(err);
    const int fd = open_file(&folders, found, strlen(folder), &in, err);
    const int rc = fd < 0 ? -1 : read_file(fd, in, found, file, err);
    ln_free(found);
    return rc;
}
