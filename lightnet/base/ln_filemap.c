// SPDX-License-Identifier: Apache-2.0
// The bytes of an input file, mapped read-only.

#include "base/ln_filemap.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "lightnet/ln_util.h"

static int cannot_read(ln_error *err, const char *file, int reason)
{
    return ln_error_set(err, "%s: cannot read: %s", file, strerror(reason));
}

static int map_file(ln_filemap *map, FILE *stream, size_t size, const char *file, ln_error *err)
{
    void *data = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fileno(stream), 0);
    if (data == MAP_FAILED)
        return cannot_read(err, file, errno);
    map->data = data;
    map->size = size;
    return 0;
}

static int copy_stream(ln_filemap *map, FILE *stream, const char *file, ln_error *err)
{
    map->copy = ln_read_stream(stream, file, &map->size);
    if (!map->copy)
        return err ? ln_error_set(err, "%s", ln_last_error()) : -1;
    map->data = map->copy;
    return 0;
}

static int open_stream(ln_filemap *map, FILE *stream, const char *file, ln_error *err)
{
    struct stat st;
    if (fstat(fileno(stream), &st))
        return cannot_read(err, file, errno);
    if (S_ISDIR(st.st_mode))
        return cannot_read(err, file, EISDIR);
    const int mapped = S_ISREG(st.st_mode) && st.st_size > 0;
    if (mapped ? map_file(map, stream, (size_t)st.st_size, file, err)
               : copy_stream(map, stream, file, err))
        return -1;
    return map->size ? 0 : ln_error_set(err, "%s: the file is empty", file);
}

int ln_filemap_open(ln_filemap *map, const char *file, ln_error *err)
{
    *map = (ln_filemap){0};
    FILE *stream = fopen(file, "rbe");
    if (!stream)
        return cannot_read(err, file, errno);
    const int rc = open_stream(map, stream, file, err);
    fclose(stream);
    if (rc)
        ln_filemap_close(map);
    return rc;
}

void ln_filemap_rest(const ln_filemap *map)
{
    if (map->data && !map->copy)
        (void)madvise((void *)map->data, map->size, MADV_DONTNEED); // advice: failing costs nothing
}

void ln_filemap_close(ln_filemap *map)
{
    if (map->copy)
        ln_free(map->copy);
    else if (map->data)
        munmap((void *)map->data, map->size);
    *map = (ln_filemap){0};
}
