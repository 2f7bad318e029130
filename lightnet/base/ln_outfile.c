// SPDX-License-Identifier: Apache-2.0
// Output files that are written whole or not at all.

#include "lightnet/ln_outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/ln_beneath.h"
#include "base/ln_fnv.h"
#include "base/ln_outtext.h"
#include "lightnet/ln_util.h"

// The target of the write: messages have the caller's name of it, not the target of links.
typedef struct target {
    const char *file;
    int folder;             // descriptor
    const char *base;       // the file's name in the folder
    const struct stat *old; // the file to replace, or NULL
    int is_result;          // not synced where nothing is replaced
    ln_outfile_func func;
    const void *arg;
    ln_error *err;
} target;

static int cannot_write(ln_error *err, const char *file)
{
    const ln_status status = errno == ENOMEM ? LN_OUT_OF_MEMORY : LN_IO_ERROR;
    return ln_error_set_as(err, status, "%s: cannot write: %s", file,
                           errno ? strerror(errno) : "unknown reason");
}

// Temporary names

// A temporary name while a file replaces another, short for any name of the target. It depends only
// on the target, so the next writer finds the file of a writer that was killed.
typedef char temporary_name[48];

// The max number of concurrent writers of a target, and of names to check for killed ones.
enum { MAX_WRITERS = 100, MAX_KILLED = 4 };

static void print_temporary(temporary_name name, const char *base, int k)
{
    snprintf(name, sizeof(temporary_name), ".lightnet-%016llx-%d.tmp",
             (unsigned long long)ln_fnv64(base, strlen(base)), k);
}

static int is_same_file(int fd, int folder, const char *name)
{
    struct stat open_one, named_one;
    return !fstat(fd, &open_one) && !fstatat(folder, name, &named_one, AT_SYMLINK_NOFOLLOW) &&
           open_one.st_dev == named_one.st_dev && open_one.st_ino == named_one.st_ino;
}

// A writer holds a lock on its file while it lives: a file that can be locked has no writer.
static void remove_dead(int folder, const char *name)
{
    struct stat about;
    const int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return;
    if (!fstat(fd, &about) && S_ISREG(about.st_mode) && about.st_uid == geteuid() &&
        !flock(fd, LOCK_EX | LOCK_NB) && is_same_file(fd, folder, name))
        unlinkat(folder, name, 0);
    close(fd);
}

// The content

// Writes the content to disk before the rename: a power failure leaves the old file or the
// new one. Syncing the folder is left to the system.
static int sync_file(const target *t, int fd)
{
    if ((t->is_result && !t->old) || !fsync(fd) || errno == EINVAL || errno == ENOSYS ||
        errno == EOPNOTSUPP)
        return 0; // a file system without fsync
    return cannot_write(t->err, t->file);
}

// Takes the descriptor. Returns the stream with everything written; NULL with a reason. The new
// file keeps the permissions of the old one, so that a private file stays private.
static FILE *fill(const target *t, int fd)
{
    errno = 0;
    FILE *stream = t->old && fchmod(fd, t->old->st_mode & 0777) ? NULL : fdopen(fd, "w");
    if (!stream) {
        cannot_write(t->err, t->file);
        close(fd);
        return NULL;
    }
    if (!ln_outfile_print(stream, t->file, t->func, t->arg, t->err) && !sync_file(t, fd))
        return stream;
    fclose(stream);
    return NULL;
}

// An unnamed file (O_TMPFILE), which vanishes with its writer

// The outcome of a step; FAILED with a reason, IMPOSSIBLE: the file system does not support it.
typedef enum outcome { DONE, FAILED, IMPOSSIBLE } outcome;

static int link_as(int fd, int folder, const char *name)
{
    char path[64];
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    return linkat(AT_FDCWD, path, folder, name, AT_SYMLINK_FOLLOW);
}

static outcome replace(const target *t, const char *temporary)
{
    if (!renameat(t->folder, temporary, t->folder, t->base))
        return DONE;
    cannot_write(t->err, t->file);
    unlinkat(t->folder, temporary, 0);
    return FAILED;
}

// linkat cannot replace a file: links a temporary name, and renames that.
static outcome link_and_replace(const target *t, int fd)
{
    (void)flock(fd, LOCK_EX | LOCK_NB); // without locks no writer counts as dead
    for (int k = 0; k < MAX_WRITERS; k++) {
        temporary_name name;
        print_temporary(name, t->base, k);
        if (!link_as(fd, t->folder, name))
            return replace(t, name);
        if (errno != EEXIST)
            return IMPOSSIBLE;
    }
    return IMPOSSIBLE;
}

// Unsynced data may still fail to be written, such as on a network file system.
static outcome close_named(const target *t, FILE *stream, outcome end)
{
    errno = 0;
    if (!fclose(stream) || end != DONE)
        return end;
    cannot_write(t->err, t->file);
    return FAILED;
}

static outcome write_unnamed(const target *t)
{
    const int fd = openat(t->folder, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
    if (fd < 0)
        return IMPOSSIBLE;
    FILE *stream = fill(t, fd);
    if (!stream)
        return FAILED;
    if (!t->old && !link_as(fd, t->folder, t->base))
        return close_named(t, stream, DONE);
    const int exists = t->old || errno == EEXIST;
    return close_named(t, stream, exists ? link_and_replace(t, fd) : IMPOSSIBLE);
}

// A file with a temporary name, on file systems without unnamed files

// -1: the name exists, or was removed again before the file was locked.
static int create_locked(int folder, const char *name)
{
    const int fd = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0)
        return -1;
    (void)flock(fd, LOCK_EX);
    if (is_same_file(fd, folder, name))
        return fd;
    close(fd);
    errno = EEXIST;
    return -1;
}

static outcome write_named(const target *t)
{
    temporary_name name;
    int fd = -1;
    errno = EEXIST;
    for (int k = 0; fd < 0 && errno == EEXIST && k < MAX_WRITERS; k++) {
        print_temporary(name, t->base, k);
        fd = create_locked(t->folder, name);
    }
    if (fd < 0) {
        cannot_write(t->err, t->file);
        return FAILED;
    }
    FILE *stream = fill(t, fd);
    if (!stream) {
        unlinkat(t->folder, name, 0);
        return FAILED;
    }
    return close_named(t, stream, replace(t, name));
}

// The file

static int open_folder(const char *path)
{
    const size_t len = ln_beneath_folder_len(path);
    char *folder = len ? ln_strdup(path) : ln_strdup(".");
    if (!folder) {
        errno = ENOMEM;
        return -1;
    }
    if (len)
        folder[len] = '\0';
    const int fd = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
    ln_free(folder);
    return fd;
}

static int write_at(const target *t)
{
    for (int k = 0; k < MAX_KILLED; k++) {
        temporary_name name;
        print_temporary(name, t->base, k);
        remove_dead(t->folder, name);
    }
    outcome end = write_unnamed(t);
    if (end == IMPOSSIBLE)
        end = write_named(t);
    return end == DONE ? 0 : -1;
}

// `path` is free of links if an old file exists.
static int write_then_rename(const char *path, const target *like)
{
    target t = *like;
    t.folder = open_folder(path);
    t.base = path + ln_beneath_folder_len(path);
    if (t.folder < 0)
        return cannot_write(t.err, t.file);
    errno = ENOENT;
    const int rc = *t.base ? write_at(&t) : cannot_write(t.err, t.file);
    close(t.folder);
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

static int write_in_place(const target *t)
{
    FILE *stream = fopen(t->file, "we");
    if (!stream)
        return cannot_write(t->err, t->file);
    const int rc = ln_outfile_print(stream, t->file, t->func, t->arg, t->err);
    errno = 0;
    return fclose(stream) && !rc ? cannot_write(t->err, t->file) : rc;
}

static int write_file(target *t)
{
    struct stat st;
    if (stat(t->file, &st))
        return write_then_rename(t->file, t);
    if (S_ISDIR(st.st_mode)) {
        errno = EISDIR;
        return cannot_write(t->err, t->file);
    }
    if (!S_ISREG(st.st_mode))
        return write_in_place(t);
    // "/dev/stdout" and the like: a replaced file would no longer be the open one.
    struct stat out;
    if (!fstat(STDOUT_FILENO, &out) && out.st_dev == st.st_dev && out.st_ino == st.st_ino)
        return ln_outfile_print(stdout, t->file, t->func, t->arg, t->err);
    t->old = &st;
    char *resolved = realpath(t->file, NULL);
    if (!resolved)
        return cannot_write(t->err, t->file);
    const int rc = write_then_rename(resolved, t);
    free(resolved);
    return rc;
}

int ln_outfile_write(const char *file, ln_outfile_func func, const void *arg, ln_error *err)
{
    return write_file(&(target){.file = file, .func = func, .arg = arg, .err = err});
}

int ln_outfile_write_result(const char *file, ln_outfile_func func, const void *arg, ln_error *err)
{
    return write_file(
        &(target){.file = file, .is_result = 1, .func = func, .arg = arg, .err = err});
}
