// SPDX-License-Identifier: Apache-2.0
// Files that a model names, opened only below its folder.
//
// A path is first opened with O_PATH, which follows links but neither waits nor reads. Then
// /proc/self/fd has the path of that open file, free of links, and that of each folder. Only a file
// beneath one of them is opened again, through the descriptor: a change of the folders in the
// meantime cannot replace it. openat2(RESOLVE_BENEATH) would reject
// links between allowed folders, and older kernels lack it.
//
// Files that a model writes are opened part by part from the one folder that is allowed, without
// following links.

#include "base/ln_beneath.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/ln_error_memory.h"
#include "lightnet/ln_util.h"

// Names

size_t ln_beneath_folder_len(const char *file)
{
    const char *slash = strrchr(file, '/');
    return slash ? (size_t)(slash - file) + 1 : 0;
}

int ln_beneath_is_inner(const char *path)
{
    if (*path == '/' || !*path)
        return 0;
    for (const char *part = path; part; part = strchr(part, '/')) {
        part += *part == '/';
        if (!strncmp(part, "..", 2) && (part[2] == '/' || !part[2]))
            return 0;
    }
    return 1;
}

// Paths of open files, free of links

typedef struct real_path {
    char text[PATH_MAX];
} real_path;

static void name_descriptor(int fd, char *name, size_t size)
{
    snprintf(name, size, "/proc/self/fd/%d", fd);
}

static int find_path(int fd, real_path *path)
{
    char name[64];
    name_descriptor(fd, name, sizeof(name));
    const ssize_t len = readlink(name, path->text, sizeof(path->text) - 1);
    if (len < 0)
        return -1;
    path->text[len] = '\0';
    return 0;
}

// 0 for a folder that does not exist.
static int is_beneath(const char *folder, const real_path *file)
{
    real_path path;
    const int fd = open(*folder ? folder : ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    const int status = find_path(fd, &path);
    close(fd);
    if (status)
        return 0;
    const size_t len = strcmp(path.text, "/") ? strlen(path.text) : 0;
    return !strncmp(file->text, path.text, len) && file->text[len] == '/';
}

static int is_in_any(const ln_beneath *folders, const real_path *file)
{
    if (is_beneath(folders->folder, file))
        return 1;
    LN_FOREACH (const char *, allowed, folders->allowed)
        if (is_beneath(allowed, file))
            return 1;
    return 0;
}

// Opening

static int cannot_read(const char *path, ln_error *err)
{
    return ln_error_set_as(err, ln_status_of_errno(errno), "%s: cannot read: %s", path,
                           strerror(errno));
}

// Opens the file with O_PATH; -1 with errno.
static int find_in(const char *folder, const char *path)
{
    char whole[PATH_MAX];
    const char *const slash = *folder && folder[strlen(folder) - 1] != '/' ? "/" : "";
    if (snprintf(whole, sizeof(whole), "%s%s%s", folder, slash, path) < (int)sizeof(whole))
        return open(whole, O_PATH | O_CLOEXEC);
    errno = ENAMETOOLONG;
    return -1;
}

static int check_file(const ln_beneath *folders, int fd, const char *path, ln_error *err)
{
    struct stat about;
    real_path real;
    if (fstat(fd, &about))
        return cannot_read(path, err);
    if (find_path(fd, &real))
        return ln_error_set(err, "%s: cannot determine its folder: cannot read /proc: %s", path,
                            strerror(errno));
    if (!is_in_any(folders, &real))
        return ln_error_set(
            err,
            "%s: links lead to %s, outside of the model's folder; if that is "
            "meant, allow the folder there (--include, option 'folder', ln_context_allow_folder)",
            path, real.text);
    if (!S_ISREG(about.st_mode))
        return ln_error_set(err, "%s: not a regular file", path);
    return 0;
}

int ln_beneath_check_folder(const char *folder, ln_error *err)
{
    const int fd = open(*folder ? folder : ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return ln_error_set_as(err, ln_status_of_errno(errno),
                               "%s: not a folder that can be used: %s", folder, strerror(errno));
    close(fd);
    return 0;
}

int ln_beneath_open(const ln_beneath *folders, const char *path, const char **in, ln_error *err)
{
    if (!ln_beneath_is_inner(path))
        return ln_error_set(err, "%s: expected a relative path without '..'", path);
    int found = find_in(folders->folder, path);
    *in = folders->folder;
    LN_FOREACH (const char *, allowed, folders->allowed)
        if (found < 0 && (errno == ENOENT || errno == ENOTDIR))
            found = find_in(*in = allowed, path);
    if (found < 0)
        return cannot_read(path, err);
    int fd = -1;
    if (!check_file(folders, found, path, err)) {
        char name[64];
        name_descriptor(found, name, sizeof(name));
        fd = open(name, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
        if (fd < 0)
            cannot_read(path, err);
    }
    close(found);
    return fd;
}

// Writing

static int cannot_write(ln_error *err)
{
    const ln_status status = errno == ENOENT ? LN_NOT_FOUND : LN_IO_ERROR;
    return ln_error_set_as(err, status, "%s", strerror(errno));
}

// The rest of `path` after `folder`, an inner name; NULL with a reason: it is elsewhere.
static const char *name_in(const char *folder, const char *path, ln_error *err)
{
    const size_t len = strcmp(folder, "/") ? strlen(folder) : 0;
    const char *rest = path;
    if (*path == '/')
        rest = !strncmp(path, folder, len) && path[len] == '/' ? path + len + 1 : "";
    if (ln_beneath_is_inner(rest))
        return rest;
    ln_error_set(err, "outside of the folder '%s', in which the model may write", folder);
    return NULL;
}

// A file with several names may be one of another folder.
static int check_writable(const struct stat *about, ln_error *err)
{
    if (S_ISLNK(about->st_mode))
        return ln_error_set(err, "a link leads elsewhere; the model may write regular files only");
    if (S_ISREG(about->st_mode) && about->st_nlink > 1)
        return ln_error_set(err, "the file has several names (hard links)");
    return S_ISREG(about->st_mode) ? 0 : ln_error_set(err, "not a regular file");
}

// Opens the folder `name` in `parent`, which it closes.
static int enter(int parent, const char *name, ln_error *err)
{
    struct stat about;
    const int is_link =
        !fstatat(parent, name, &about, AT_SYMLINK_NOFOLLOW) && S_ISLNK(about.st_mode);
    const int fd =
        is_link ? -1 : openat(parent, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (is_link)
        check_writable(&about, err);
    else if (fd < 0)
        cannot_write(err);
    close(parent);
    return fd;
}

// Checks before opening, which can affect a device, and after it, as it may be another file.
static int create_in(int folder, const char *name, ln_error *err)
{
    struct stat about;
    if (!fstatat(folder, name, &about, AT_SYMLINK_NOFOLLOW) && check_writable(&about, err))
        return -1;
    const int fd = openat(
        folder, name, O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0666);
    if (fd < 0 || fstat(fd, &about)) {
        cannot_write(err);
    } else if (!check_writable(&about, err)) {
        if (!ftruncate(fd, 0))
            return fd;
        cannot_write(err);
    }
    if (fd >= 0)
        close(fd);
    return -1;
}

int ln_beneath_create(const char *folder, const char *path, ln_error *err)
{
    char part[NAME_MAX + 1];
    const char *name = name_in(folder, path, err), *slash;
    int fd = name ? open(folder, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;
    if (name && fd < 0)
        return cannot_write(err);
    while (fd >= 0 && (slash = strchr(name, '/'))) {
        errno = ENAMETOOLONG;
        if (snprintf(part, sizeof(part), "%.*s", (int)(slash - name), name) >= (int)sizeof(part)) {
            close(fd);
            return cannot_write(err);
        }
        fd = *part ? enter(fd, part, err) : fd; // "a//b" has an empty part
        name = slash + 1;
    }
    if (fd < 0)
        return -1;
    const int file = create_in(fd, name, err);
    close(fd);
    return file;
}
