// SPDX-License-Identifier: Apache-2.0
// npz: named arrays in a zip archive, as NumPy's savez and savez_compressed write them. The member
// "NAME.npy" is the array NAME, an npy file.

#include "lightnet/ln_data.h"
#include "lightnet/ln_input.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/ln_error_memory.h"
#include "base/ln_little_endian.h"
#include "base/ln_name.h"
#include "base/ln_outtext.h"
#include "data/ln_raw.h"
#include "data/ln_zip.h"
#include "lightnet/ln_hash.h"
#include "lightnet/ln_util.h"
#include "tensorlight/tl_util.h"

#define SUFFIX     ".npy"
#define SUFFIX_LEN (sizeof(SUFFIX) - 1)

// Bytes to read of a member for its npy header: more than NumPy writes.
enum { HEAD_SIZE = 4096 };

struct ln_npz {
    ln_infile in;
    char *file;
    ln_zip zip; // names are those of the arrays, without the suffix
};

// Reading

static int name_arrays(ln_npz *npz, ln_error *err)
{
    for (int i = 0; i < npz->zip.n; i++) {
        char *const name = npz->zip.members[i].name;
        const size_t len = strlen(name);
        if (len <= SUFFIX_LEN || !ln_ends_with(name, len, SUFFIX))
            return ln_error_set(err, "%s: member '%s', expected arrays with names that end in %s",
                                npz->file, name, SUFFIX);
        name[len - SUFFIX_LEN] = '\0';
    }
    return 0;
}

static int open_npz(ln_npz *npz, const char *file, ln_error *err)
{
    npz->file = ln_strdup(file);
    if (!npz->file)
        return ln_error_memory_at(err, file);
    if (ln_infile_open(&npz->in, file, err))
        return -1;
    if (!ln_zip_is(&npz->in))
        return ln_error_set(err, "%s: not an npz file", file);
    return ln_zip_read(&npz->zip, &npz->in, file, err) ? -1 : name_arrays(npz, err);
}

ln_npz *ln_npz_open(const char *file, ln_error *err)
{
    ln_npz *npz = ln_alloc(sizeof(*npz));
    if (!npz)
        return ln_error_memory_at(err, file), NULL;
    *npz = (ln_npz){0};
    if (!open_npz(npz, file, err))
        return npz;
    ln_npz_close(npz);
    return NULL;
}

void ln_npz_close(ln_npz *npz)
{
    if (!npz)
        return;
    ln_zip_clear(&npz->zip);
    ln_infile_close(&npz->in);
    ln_free(npz->file);
    ln_free(npz);
}

int ln_npz_count(const ln_npz *npz)
{
    return npz->zip.n;
}

const char *ln_npz_name(const ln_npz *npz, int i)
{
    return npz->zip.members[i].name;
}

static const ln_zip_member *find(const ln_npz *npz, const char *name)
{
    for (int i = 0; i < npz->zip.n; i++)
        if (!strcmp(npz->zip.members[i].name, name))
            return &npz->zip.members[i];
    return NULL;
}

// Whether the array can be read as `like`, by its first bytes alone: the rest may be large.
static int check_head(const ln_npz *npz, const ln_zip_member *member, const char *where,
                      const tl_tensor *like, ln_error *err)
{
    unsigned char head[HEAD_SIZE];
    const size_t size = member->size < HEAD_SIZE ? member->size : HEAD_SIZE;
    if (ln_zip_read_head(member, &npz->in, head, size, where, err))
        return -1;
    return ln_npy_is(&(ln_infile){.data = head, .size = size})
               ? ln_npy_check(head, size, member->size, where, like, err)
               : 0;
}

tl_tensor *ln_npz_read(const ln_npz *npz, const char *name, const tl_tensor *like, ln_error *err)
{
    char where[LN_MAXLINE];
    const ln_zip_member *const member = find(npz, name);
    if (!member)
        return ln_error_set(err, "%s: no array '%s'", npz->file, name), NULL;
    snprintf(where, sizeof(where), "%s: array '%s'", npz->file, name);
    if (check_head(npz, member, where, like, err))
        return NULL;
    void *bytes = ln_zip_extract(member, &npz->in, where, err);
    if (!bytes)
        return NULL;
    const ln_infile in = {.data = bytes, .size = member->size};
    tl_tensor *tensor = ln_npy_from_file(&in, where, err);
    ln_free(bytes);
    return tensor && like ? ln_input_fit(where, tensor, like, err) : tensor;
}

// Writing

// An array as a member.
typedef struct member {
    unsigned char npy[LN_NPY_HEADER_SIZE];
    size_t npy_size;
    size_t size; // of the npy file
    size_t offset;
    uint32_t crc;
    ln_npy_array array;
} member;

// The arrays to write.
typedef struct archive {
    int n;
    const char *const *names;
    const tl_tensor *const *tensors;
    member *members;
    size_t directory, end; // offsets
} archive;

static size_t name_len(const archive *a, int i)
{
    return strlen(a->names[i]) + SUFFIX_LEN;
}

static int check_names(const archive *a, const char *file, ln_error *err)
{
    ln_hash *seen = ln_hash_create(ln_str_hash, ln_str_cmp, NULL, NULL);
    int status = seen ? 0 : ln_error_memory_at(err, file);
    for (int i = 0; i < a->n && !status; i++) {
        if (!*a->names[i] || name_len(a, i) >= LN_MAX_NAME_LEN)
            status = ln_error_set(err, "%s: array %d has a name of %zu bytes, expected 1 to %zu",
                                  file, i, strlen(a->names[i]), LN_MAX_NAME_LEN - 1 - SUFFIX_LEN);
        else if (ln_zip_check_name(file, i, a->names[i], strlen(a->names[i]), err))
            status = -1;
        else if (ln_hash_find_extended(seen, a->names[i], NULL, NULL))
            status = ln_error_set(err, "%s: two arrays have the name '%s'", file, a->names[i]);
        else if (ln_hash_insert(seen, a->names[i], (void *)a->names[i]) < 0)
            status = ln_error_memory_at(err, file);
    }
    ln_hash_free(seen);
    return status;
}

// Sets the npy header, the offset and the CRC of each member.
static int lay_out(archive *a, const char *file, ln_error *err)
{
    size_t at = 0, directory_size = 0;
    for (int i = 0; i < a->n; i++) {
        const tl_tensor *const t = a->tensors[i];
        member *const m = &a->members[i];
        if (ln_npy_begin(&m->array, t, err))
            return ln_error_prefix(err, "%s: array '%s'", file, a->names[i]);
        m->npy_size = ln_npy_header(m->npy, t, &m->array);
        m->size = m->npy_size + m->array.size;
        m->offset = at;
        if (m->size >= LN_ZIP_LIMIT || at >= LN_ZIP_LIMIT)
            return ln_error_set(err, "%s: array '%s' ends beyond 4 GiB; write several files", file,
                                a->names[i]);
        m->crc = ln_zip_crc(ln_zip_crc(0, m->npy, m->npy_size), m->array.data, m->array.size);
        at += LN_ZIP_LOCAL_SIZE + name_len(a, i) + m->size;
        directory_size += LN_ZIP_CENTRAL_SIZE + name_len(a, i);
    }
    a->directory = at;
    a->end = at + directory_size;
    return a->end < LN_ZIP_LIMIT ? 0
                                 : ln_error_set(err,
                                                "%s: the arrays have %zu bytes, expected less "
                                                "than 4 GiB",
                                                file, at);
}

static int is_ascii(const char *text)
{
    while (*text && !(*text & 0x80))
        text++;
    return !*text;
}

// The common fields of both headers of a member: from the version needed to the length of the extra
// field.
static void put_common(FILE *stream, const archive *a, int i)
{
    const member *const m = &a->members[i];
    ln_little_endian_put(stream, 20, 2); // version 2.0
    ln_little_endian_put(stream, is_ascii(a->names[i]) ? 0 : LN_ZIP_IS_UTF8, 2);
    ln_little_endian_put(stream, 0, 2);          // stored
    ln_little_endian_put(stream, 0, 2);          // 00:00
    ln_little_endian_put(stream, 1 << 5 | 1, 2); // 1 January 1980
    ln_little_endian_put(stream, m->crc, 4);
    ln_little_endian_put(stream, m->size, 4);
    ln_little_endian_put(stream, m->size, 4);
    ln_little_endian_put(stream, name_len(a, i), 2);
    ln_little_endian_put(stream, 0, 2);
}

static void put_member(FILE *stream, const archive *a, int i)
{
    const member *const m = &a->members[i];
    ln_little_endian_put(stream, LN_ZIP_LOCAL, 4);
    put_common(stream, a, i);
    fprintf(stream, "%s" SUFFIX, a->names[i]);
    fwrite(m->npy, 1, m->npy_size, stream);
    fwrite(m->array.data, 1, m->array.size, stream);
}

static void put_entry(FILE *stream, const archive *a, int i)
{
    ln_little_endian_put(stream, LN_ZIP_CENTRAL, 4);
    ln_little_endian_put(stream, 3 << 8 | 20, 2); // made by version 2.0 on Unix
    put_common(stream, a, i);
    ln_little_endian_put(stream, 0, 2);                     // length of the comment
    ln_little_endian_put(stream, 0, 2);                     // number of the disk
    ln_little_endian_put(stream, 0, 2);                     // internal attributes
    ln_little_endian_put(stream, (size_t)0100644 << 16, 4); // a regular file, rw-r--r--
    ln_little_endian_put(stream, a->members[i].offset, 4);
    fprintf(stream, "%s" SUFFIX, a->names[i]);
}

static int write_archive(FILE *stream, const void *arg, ln_error *err)
{
    const archive *const a = arg;
    (void)err;
    for (int i = 0; i < a->n; i++)
        put_member(stream, a, i);
    for (int i = 0; i < a->n; i++)
        put_entry(stream, a, i);
    ln_little_endian_put(stream, LN_ZIP_END, 4);
    ln_little_endian_put(stream, 0, 4); // numbers of disks
    ln_little_endian_put(stream, (size_t)a->n, 2);
    ln_little_endian_put(stream, (size_t)a->n, 2);
    ln_little_endian_put(stream, a->end - a->directory, 4);
    ln_little_endian_put(stream, a->directory, 4);
    ln_little_endian_put(stream, 0, 2); // length of the comment
    return 0;
}

int ln_npz_write(const char *file, int n, const char *const *names, const tl_tensor *const *tensors,
                 ln_error *err)
{
    archive a = {.n = n, .names = names, .tensors = tensors};
    if (n < 0 || n > LN_ZIP_MAX_MEMBERS)
        return ln_error_set(err, "%s: %d arrays, expected 0 to %d", file, n, LN_ZIP_MAX_MEMBERS);
    a.members = ln_alloc_array((size_t)n + 1, sizeof(*a.members));
    if (!a.members)
        return ln_error_memory_at(err, file);
    const int status = check_names(&a, file, err) || lay_out(&a, file, err)
                           ? -1
                           : ln_outfile_write_result(file, write_archive, &a, err);
    for (int i = 0; i < n; i++)
        ln_npy_end(&a.members[i].array);
    ln_free(a.members);
    return status;
}
