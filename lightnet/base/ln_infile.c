// SPDX-License-Identifier: Apache-2.0
// Input files, read through an open descriptor.

#include "base/ln_infile.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/ln_alloc_fail.h"
#include "base/ln_error_memory.h"
#include "lightnet/ln_util.h"

// The bytes that are kept of a file that stays open: enough to detect its format.
enum { HEAD_SIZE = 4096 };

static int cannot_read(ln_error *err, const char *name, int reason)
{
    return ln_error_set_as(err, ln_status_of_errno(reason), "%s: cannot read: %s", name,
                           strerror(reason));
}

static void close_descriptor(ln_infile *file)
{
    if (file->handle)
        close(file->handle - 1);
    file->handle = 0;
}

// Files that are opened again

typedef struct ln_parked {
    dev_t device;
    ino_t number;
    char path[]; // free of links
} ln_parked;

// A descriptor; -1 with a reason.
static int open_parked(const ln_parked *parked, ln_error *err)
{
    struct stat about;
    const int fd = open(parked->path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return ln_error_set_as(err, ln_status_of_errno(errno), "cannot read: %s", strerror(errno));
    if (!fstat(fd, &about) && about.st_dev == parked->device && about.st_ino == parked->number)
        return fd;
    close(fd);
    return ln_error_set_as(err, LN_IO_ERROR,
                           "another file has its name; it changed while it was in use");
}

int ln_infile_park(ln_infile *file, ln_error *err)
{
    char name[64], path[PATH_MAX];
    struct stat about;
    if (!file->handle)
        return 0;
    snprintf(name, sizeof(name), "/proc/self/fd/%d", file->handle - 1);
    const ssize_t len = readlink(name, path, sizeof(path));
    if (len < 0 || len == sizeof(path) || fstat(file->handle - 1, &about))
        return cannot_read(err, file->name, len < 0 ? errno : ENAMETOOLONG);
    ln_parked *parked = ln_alloc(sizeof(*parked) + (size_t)len + 1);
    if (!parked)
        return ln_error_set_last(err);
    parked->device = about.st_dev;
    parked->number = about.st_ino;
    memcpy(parked->path, path, (size_t)len);
    file->parked = parked;
    close_descriptor(file);
    return 0;
}

// Reading

static int fail_truncated(const ln_infile *file, int fd, ln_error *err)
{
    struct stat about;
    const int status = fstat(fd, &about);
    return status
               ? ln_error_set_as(err, ln_status_of_errno(errno), "cannot read: %s", strerror(errno))
               : ln_error_set_as(err, LN_IO_ERROR,
                                 "the file ended at byte %lld, expected %zu; it changed while it "
                                 "was in use",
                                 (long long)about.st_size, file->size);
}

static int read_from(const ln_infile *file, int fd, size_t offset, unsigned char *data, size_t size,
                     ln_error *err)
{
    while (size) {
        const ssize_t n = pread(fd, data, size, (off_t)offset);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return ln_error_set_as(err, ln_status_of_errno(errno), "cannot read: %s",
                                   strerror(errno));
        if (!n)
            return fail_truncated(file, fd, err);
        data += n;
        offset += (size_t)n;
        size -= (size_t)n;
    }
    return 0;
}

static int read_part(const ln_infile *file, size_t offset, unsigned char *data, size_t size,
                     ln_error *err)
{
    if (!file->parked)
        return read_from(file, file->handle - 1, offset, data, size, err);
    const int fd = open_parked(file->parked, err);
    const int status = fd < 0 ? -1 : read_from(file, fd, offset, data, size, err);
    if (fd >= 0)
        close(fd);
    return status;
}

int ln_infile_read(const ln_infile *file, size_t offset, void *data, size_t size, ln_error *err)
{
    if (offset > file->size || size > file->size - offset)
        return ln_error_set(err, "%zu bytes at %zu are outside of the %zu bytes of the file", size,
                            offset, file->size);
    if (!file->data)
        return read_part(file, offset, data, size, err);
    if (size)
        memcpy(data, file->data + offset, size);
    return 0;
}

const unsigned char *ln_infile_head(const ln_infile *file, size_t *size)
{
    *size = file->data || file->size < HEAD_SIZE ? file->size : HEAD_SIZE;
    return file->data ? file->data : file->copy;
}

const unsigned char *ln_view_at(ln_view *view, size_t offset, size_t size, ln_error *err)
{
    const ln_infile *const file = view->file;
    if (file->data)
        return file->data + offset;
    if (offset >= view->begin && offset - view->begin <= view->size &&
        size <= view->size - (offset - view->begin))
        return view->bytes + (offset - view->begin);
    const size_t rest = file->size - offset, n = rest < LN_VIEW_SIZE ? rest : LN_VIEW_SIZE;
    view->begin = offset;
    view->size = 0;
    if (ln_infile_read(file, offset, view->bytes, n, err))
        return NULL;
    view->size = n;
    return view->bytes;
}

// Opening

// Reads the first `size` bytes into file->copy.
static int read_copy(ln_infile *file, size_t size, ln_error *err)
{
    unsigned char *const copy = ln_alloc(size);
    if (!copy) {
        ln_error_set_last(err);
        return ln_error_prefix(err, "%s", file->name);
    }
    if (read_part(file, 0, copy, size, err)) {
        ln_free(copy);
        return ln_error_prefix(err, "%s", file->name);
    }
    ln_free(file->copy);
    file->copy = copy;
    return 0;
}

int ln_infile_load(ln_infile *file, ln_error *err)
{
    if (file->data)
        return 0;
    if (read_copy(file, file->size, err))
        return -1;
    file->data = file->copy;
    close_descriptor(file);
    return 0;
}

// Takes the descriptor.
static int copy_stream(ln_infile *file, ln_error *err)
{
    FILE *stream = fdopen(file->handle - 1, "rb");
    if (!stream)
        return cannot_read(err, file->name, errno);
    file->handle = 0;
    file->copy = ln_read_stream(stream, file->name, &file->size);
    file->data = file->copy;
    fclose(stream);
    if (!file->copy)
        return ln_error_set_last(err);
    return file->size ? 0 : ln_error_set(err, "%s: the file is empty", file->name);
}

// Files of /proc and the like are regular and report 0 bytes.
static int open_descriptor(ln_infile *file, ln_error *err)
{
    struct stat about;
    if (fstat(file->handle - 1, &about))
        return cannot_read(err, file->name, errno);
    if (S_ISDIR(about.st_mode))
        return cannot_read(err, file->name, EISDIR);
    if (!S_ISREG(about.st_mode) || about.st_size <= 0)
        return copy_stream(file, err);
    file->size = (size_t)about.st_size;
    if (file->size <= LN_INFILE_SMALL)
        return ln_infile_load(file, err);
    return read_copy(file, file->size < HEAD_SIZE ? file->size : HEAD_SIZE, err);
}

// Takes the descriptor.
static int begin(ln_infile *file, const char *name, int fd, ln_error *err)
{
    *file = (ln_infile){.name = ln_strdup(name), .handle = fd + 1};
    if (file->name ? !open_descriptor(file, err) : !ln_error_set_last(err))
        return 0;
    ln_infile_close(file);
    return -1;
}

int ln_infile_open(ln_infile *file, const char *name, ln_error *err)
{
    *file = (ln_infile){0};
    const int fd = open(name, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    return fd < 0 ? cannot_read(err, name, errno) : begin(file, name, fd, err);
}

int ln_infile_open_whole(ln_infile *file, const char *name, ln_error *err)
{
    if (ln_infile_open(file, name, err))
        return -1;
    if (!ln_infile_load(file, err))
        return 0;
    ln_infile_close(file);
    return -1;
}

// Mapping

static int cannot_map(ln_error *err, const char *name, int reason)
{
    return ln_error_set_as(err, ln_status_of_errno(reason), "%s: cannot map: %s", name,
                           strerror(reason));
}

// Maps the file privately: written pages are copied.
static int map_descriptor(ln_infile *file, int fd, ln_error *err)
{
    struct stat about;
    if (fstat(fd, &about))
        return cannot_map(err, file->name, errno);
    if (!S_ISREG(about.st_mode))
        return ln_error_set_as(err, LN_BAD_ARGUMENT, "%s: cannot map: not a regular file",
                               file->name);
    if (!about.st_size)
        return ln_error_set(err, "%s: the file is empty", file->name);
    file->size = (size_t)about.st_size;
    void *map = ln_alloc_fail_now()
                    ? (errno = ENOMEM, MAP_FAILED)
                    : mmap(NULL, file->size, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
    if (map == MAP_FAILED)
        return cannot_map(err, file->name, errno);
#ifdef MADV_HUGEPAGE
    (void)madvise(map, file->size, MADV_HUGEPAGE); // large pages, where the system has them
#endif
    file->map = map;
    file->data = map;
    return 0;
}

int ln_infile_open_mapped(ln_infile *file, const char *name, ln_error *err)
{
    *file = (ln_infile){.name = ln_strdup(name)};
    if (!file->name)
        return ln_error_set_last(err);
    const int fd = open(name, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    const int status = fd < 0 ? cannot_read(err, name, errno) : map_descriptor(file, fd, err);
    if (fd >= 0)
        close(fd);
    if (status)
        ln_infile_close(file);
    return status;
}

int ln_infile_open_beneath(ln_infile *file, const ln_beneath *folders, const char *path,
                           ln_error *err)
{
    const char *in;
    *file = (ln_infile){0};
    const int fd = ln_beneath_open(folders, path, &in, err);
    return fd < 0 ? -1 : begin(file, path, fd, err);
}

// Sharing

typedef struct ln_shared_file {
    atomic_int n; // copies that are open
} ln_shared_file;

int ln_infile_share(ln_infile *file, ln_infile *copy, ln_error *err)
{
    *copy = (ln_infile){0};
    if (!file->sharing) {
        file->sharing = ln_alloc(sizeof(*file->sharing));
        if (!file->sharing)
            return ln_error_set_last(err);
        atomic_init(&file->sharing->n, 1);
    }
    atomic_fetch_add(&file->sharing->n, 1);
    *copy = *file;
    return 0;
}

void ln_infile_close(ln_infile *file)
{
    const int is_still_used = file->sharing && atomic_fetch_sub(&file->sharing->n, 1) > 1;
    if (is_still_used) {
        *file = (ln_infile){0};
        return;
    }
    ln_free(file->sharing);
    close_descriptor(file);
    if (file->map)
        munmap(file->map, file->size);
    ln_free(file->copy);
    ln_free(file->name);
    ln_free(file->parked);
    *file = (ln_infile){0};
}
