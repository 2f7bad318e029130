// SPDX-License-Identifier: Apache-2.0
// Output files that are written whole or not at all.

#include "lightnet/ln_outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lightnet/ln_util.h"

#define MAX_ATTEMPTS 100

static int cannot_write(ln_error *err, const char *file)
{
    return ln_error_set(err, "%s: cannot write: %s", file,
                        errno ? strerror(errno) : "unknown reason");
}

// Tries names until one is new, so that no file and no link of others is written through. The mode
// is what the process gives to any new file.
static int create_beside(char *temporary, size_t size, const char *file)
{
    int fd = -1;
    for (int i = 0; fd < 0 && i < MAX_ATTEMPTS; i++) {
        snprintf(temporary, size, "%s.%ld-%d.tmp", file, (long)getpid(), i);
        fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd < 0 && errno != EEXIST)
            break;
    }
    return fd;
}

static int close_stream(FILE *stream, const char *file, int rc, ln_error *err)
{
    errno = 0;
    if (fclose(stream) && !rc)
        return cannot_write(err, file);
    return rc;
}

static int write_in_place(const char *file, ln_outfile_func func, const void *arg, ln_error *err)
{
    FILE *stream = fopen(file, "we");
    if (!stream)
        return cannot_write(err, file);
    return close_stream(stream, file, ln_outfile_print(stream, file, func, arg, err), err);
}

// `old` is the file to replace, or NULL: the new one keeps its permissions, so that what was
// private stays private. Messages have the caller's name of it, whatever links lead to.
static int write_then_rename(const char *file, const struct stat *old, ln_outfile_func func,
                             const void *arg, ln_error *err)
{
    int rc = -1;
    char *resolved = old ? realpath(file, NULL) : NULL;
    if (old && !resolved)
        return cannot_write(err, file);
    const char *target = old ? resolved : file;
    const size_t size = strlen(target) + 64;
    char *temporary = ln_alloc(size);
    if (!temporary) {
        free(resolved);
        return ln_error_set(err, "%s", ln_last_error());
    }
    const int fd = create_beside(temporary, size, target);
    const int is_ready = fd >= 0 && (!old || !fchmod(fd, old->st_mode & 0777));
    FILE *stream = is_ready ? fdopen(fd, "w") : NULL;
    if (!stream) {
        cannot_write(err, file);
        if (fd >= 0)
            close(fd);
    } else {
        rc = ln_outfile_print(stream, file, func, arg, err);
        rc = close_stream(stream, file, rc, err);
    }
    if (!rc && rename(temporary, target))
        rc = cannot_write(err, file);
    if (rc && fd >= 0)
        unlink(temporary);
    ln_free(temporary);
    free(resolved);
    return rc;
}

int ln_outfile_print(FILE *stream, const char *name, ln_outfile_func func, const void *arg,
                     ln_error *err)
{
    errno = 0;
    if (func(stream, arg, err))
        return -1;
    if (ferror(stream) || fflush(stream))
        return cannot_write(err, name);
    return 0;
}

int ln_outfile_write(const char *file, ln_outfile_func func, const void *arg, ln_error *err)
{
    struct stat st;
    const int exists = !stat(file, &st);
    if (!exists)
        return write_then_rename(file, NULL, func, arg, err);
    if (S_ISDIR(st.st_mode)) {
        errno = EISDIR;
        return cannot_write(err, file);
    }
    if (!S_ISREG(st.st_mode))
        return write_in_place(file, func, arg, err);
    return write_then_rename(file, &st, func, arg, err);
}
