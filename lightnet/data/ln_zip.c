// SPDX-License-Identifier: Apache-2.0
// Members of a zip archive.
//
//     member: header, name, extra, packed bytes    ...
//     directory: entry, name, extra, comment       ...
//     end record: number of entries, size and offset of the directory, comment
//
// The directory is authoritative. A header in front of packed bytes repeats an entry; writers of
// streams, and NumPy, leave its sizes out.

#include "data/ln_zip.h"

#include <stdlib.h>
#include <string.h>

#include "base/ln_budget.h"
#include "base/ln_error_memory.h"
#include "base/ln_utf8.h"
#include "lightnet/ln_util.h"

#ifdef LN_HAVE_ZLIB
#include <zlib.h>
#endif

enum {
    IS_ENCRYPTED = 1 << 0,
    SIZES_FOLLOW = 1 << 3, // the header lacks CRC and sizes
    STORED = 0,
    DEFLATED = 8,
    MAX_EXPANSION = 1032, // of deflate: 258 bytes for 2 bits
    MAX_COMMENT = 0xffff,
    INPUT_SIZE = 1 << 16,
};

static unsigned read16(const unsigned char *p)
{
    return p[0] | (unsigned)p[1] << 8;
}

static uint32_t read32(const unsigned char *p)
{
    return read16(p) | (uint32_t)read16(p + 2) << 16;
}

// The directory

// The archive while it is read.
typedef struct archive {
    const ln_infile *in;
    const char *file;
    ln_error *err;
    size_t directory, directory_size; // offset and bytes
    unsigned n;                       // entries
} archive;

static int read_bytes(const archive *a, size_t offset, void *data, size_t size)
{
    return ln_infile_read(a->in, offset, data, size, a->err)
               ? ln_error_prefix(a->err, "%s", a->file)
               : 0;
}

// The offset of the end record in the last `size` bytes of the file, whose comment ends where the
// file ends; -1: none.
static long find_end(const unsigned char *tail, size_t size)
{
    for (long at = (long)size - LN_ZIP_END_SIZE; at >= 0; at--)
        if (read32(tail + at) == LN_ZIP_END &&
            read16(tail + at + 20) == size - (size_t)at - LN_ZIP_END_SIZE)
            return at;
    return -1;
}

static int take_end(archive *a, const unsigned char *end, size_t offset)
{
    const unsigned disk = read16(end + 4), first_disk = read16(end + 6), here = read16(end + 8);
    a->n = read16(end + 10);
    a->directory_size = read32(end + 12);
    a->directory = read32(end + 16);
    if (a->n > LN_ZIP_MAX_MEMBERS || a->directory == LN_ZIP_LIMIT ||
        a->directory_size == LN_ZIP_LIMIT)
        return ln_error_set(
            a->err, "%s: a zip64 archive, expected less than 4 GiB and 65535 arrays", a->file);
    if (disk || first_disk || here != a->n)
        return ln_error_set(a->err, "%s: a part of an archive in several files", a->file);
    if (a->directory > offset || offset - a->directory != a->directory_size)
        return ln_error_set(a->err,
                            "%s: the directory has %zu bytes at %zu, expected its end at %zu",
                            a->file, a->directory_size, a->directory, offset);
    return 0;
}

static int read_end(archive *a)
{
    const size_t max = LN_ZIP_END_SIZE + MAX_COMMENT;
    const size_t size = a->in->size < max ? a->in->size : max;
    unsigned char *tail = ln_alloc(size + 1);
    if (!tail)
        return ln_error_memory_at(a->err, a->file);
    int status = read_bytes(a, a->in->size - size, tail, size);
    const long at = status ? -1 : find_end(tail, size);
    if (!status)
        status =
            at < 0 ? ln_error_set(a->err, "%s: the archive has no end, so it is truncated", a->file)
                   : take_end(a, tail + at, a->in->size - size + (size_t)at);
    ln_free(tail);
    return status;
}

// The length of the UTF-8 character at `p`; 0: invalid, or a control character.
static size_t character(const unsigned char *p, size_t size)
{
    const int is_control = *p < 0x20 || *p == 0x7f || (*p == 0xc2 && size > 1 && p[1] < 0xa0);
    return is_control ? 0 : ln_utf8_length(p, size);
}

int ln_zip_check_name(const char *file, int i, const char *name, size_t len, ln_error *err)
{
    size_t at = 0, step = 1;
    if (!len || len >= LN_MAX_NAME_LEN)
        return ln_error_set(err, "%s: member %d has a name of %zu bytes, expected 1 to %d", file, i,
                            len, LN_MAX_NAME_LEN - 1);
    while (at < len && step) {
        step = character((const unsigned char *)name + at, len - at);
        at += step;
    }
    return step ? 0
                : ln_error_set(err,
                               "%s: the name of member %d has no valid character at byte %zu, "
                               "expected UTF-8",
                               file, i, at);
}

static int check_form(const archive *a, const ln_zip_member *m, unsigned flags, unsigned method)
{
    if (flags & IS_ENCRYPTED)
        return ln_error_set(a->err, "%s: member '%s' is encrypted", a->file, m->name);
    if (method != STORED && method != DEFLATED)
        return ln_error_set(a->err,
                            "%s: member '%s' has compression method %u, expected stored or "
                            "deflated",
                            a->file, m->name, method);
    if (m->packed == LN_ZIP_LIMIT || m->size == LN_ZIP_LIMIT || m->header == LN_ZIP_LIMIT)
        return ln_error_set(a->err, "%s: member '%s' is a zip64 member, expected less than 4 GiB",
                            a->file, m->name);
    if (m->is_deflated ? m->size / MAX_EXPANSION > m->packed : m->size != m->packed)
        return ln_error_set(
            a->err, "%s: member '%s' has %zu bytes, which its %zu %s bytes cannot hold", a->file,
            m->name, m->size, m->packed, m->is_deflated ? "deflated" : "stored");
    return 0;
}

// Reads the entry at *at of the directory, which has `size` bytes, and moves *at past it.
static int read_entry(const archive *a, ln_zip_member *m, int i, const unsigned char *directory,
                      size_t *at)
{
    const unsigned char *p = directory + *at;
    const size_t rest = a->directory_size - *at;
    if (rest < LN_ZIP_CENTRAL_SIZE || read32(p) != LN_ZIP_CENTRAL)
        return ln_error_set(a->err, "%s: the directory has no entry %d of %u", a->file, i, a->n);
    const size_t name_len = read16(p + 28);
    const size_t size = LN_ZIP_CENTRAL_SIZE + name_len + read16(p + 30) + read16(p + 32);
    if (size > rest)
        return ln_error_set(a->err, "%s: entry %d of the directory has %zu bytes, %zu remain",
                            a->file, i, size, rest);
    const unsigned char *name = p + LN_ZIP_CENTRAL_SIZE;
    if (ln_zip_check_name(a->file, i, (const char *)name, name_len, a->err))
        return -1;
    m->name = ln_alloc(name_len + 1);
    if (!m->name)
        return ln_error_memory_at(a->err, a->file);
    memcpy(m->name, name, name_len);
    m->name[name_len] = '\0';
    m->is_deflated = read16(p + 10) == DEFLATED;
    m->crc = read32(p + 16);
    m->packed = read32(p + 20);
    m->size = read32(p + 24);
    m->header = read32(p + 42);
    *at += size;
    return check_form(a, m, read16(p + 8), read16(p + 10));
}

// The members

// Whether the CRC or a size of a local header matches the directory, or is left out: LN_ZIP_LIMIT
// if a zip64 record has it, 0 if it follows the packed bytes (SIZES_FOLLOW).
static int is_like(uint32_t got, size_t expected, unsigned flags)
{
    return got == expected || got == LN_ZIP_LIMIT || (!got && flags & SIZES_FOLLOW);
}

static int check_header(const archive *a, ln_zip_member *m)
{
    unsigned char p[LN_ZIP_LOCAL_SIZE], name[LN_MAX_NAME_LEN];
    const size_t len = strlen(m->name);
    if (m->header > a->directory || a->directory - m->header < sizeof(p) + len)
        return ln_error_set(a->err, "%s: member '%s' begins at %zu, the directory at %zu", a->file,
                            m->name, m->header, a->directory);
    if (read_bytes(a, m->header, p, sizeof(p)) || read_bytes(a, m->header + sizeof(p), name, len))
        return -1;
    const unsigned flags = read16(p + 6);
    const int is_same =
        read32(p) == LN_ZIP_LOCAL && read16(p + 26) == len && !memcmp(name, m->name, len) &&
        read16(p + 8) == (m->is_deflated ? DEFLATED : STORED) &&
        is_like(read32(p + 14), m->crc, flags) && is_like(read32(p + 18), m->packed, flags) &&
        is_like(read32(p + 22), m->size, flags);
    if (!is_same)
        return ln_error_set(a->err, "%s: member '%s' differs from its entry in the directory",
                            a->file, m->name);
    m->begin = m->header + sizeof(p) + len + read16(p + 28);
    if (m->begin > a->directory || m->packed > a->directory - m->begin)
        return ln_error_set(a->err,
                            "%s: member '%s' has %zu bytes at %zu, the directory begins at "
                            "%zu",
                            a->file, m->name, m->packed, m->begin, a->directory);
    return 0;
}

static int by_offset(const void *a, const void *b)
{
    const ln_zip_member *x = *(ln_zip_member *const *)a, *y = *(ln_zip_member *const *)b;
    return (x->header > y->header) - (x->header < y->header);
}

static int by_name(const void *a, const void *b)
{
    const ln_zip_member *x = *(ln_zip_member *const *)a, *y = *(ln_zip_member *const *)b;
    return strcmp(x->name, y->name);
}

// Names differ, and no byte of the file belongs to two members.
static int check_together(const archive *a, const ln_zip *zip)
{
    ln_zip_member **sorted = ln_alloc_array((size_t)zip->n + 1, sizeof(*sorted));
    if (!sorted)
        return ln_error_memory_at(a->err, a->file);
    int status = 0;
    for (int i = 0; i < zip->n; i++)
        sorted[i] = &zip->members[i];
    qsort(sorted, (size_t)zip->n, sizeof(*sorted), by_name);
    for (int i = 1; i < zip->n && !status; i++)
        if (!by_name(&sorted[i - 1], &sorted[i]))
            status = ln_error_set(a->err, "%s: two members have the name '%s'", a->file,
                                  sorted[i]->name);
    qsort(sorted, (size_t)zip->n, sizeof(*sorted), by_offset);
    for (int i = 1; i < zip->n && !status; i++)
        if (sorted[i]->header < sorted[i - 1]->begin + sorted[i - 1]->packed)
            status = ln_error_set(a->err, "%s: members '%s' and '%s' overlap", a->file,
                                  sorted[i - 1]->name, sorted[i]->name);
    ln_free(sorted);
    return status;
}

static int read_members(const archive *a, ln_zip *zip, const unsigned char *directory)
{
    size_t at = 0;
    for (unsigned i = 0; i < a->n; i++) {
        ln_zip_member *m = &zip->members[zip->n++];
        *m = (ln_zip_member){0};
        if (ln_budget_check(a->err) || read_entry(a, m, (int)i, directory, &at) ||
            check_header(a, m))
            return -1;
    }
    if (at != a->directory_size)
        return ln_error_set(a->err, "%s: the directory has %zu bytes after its %u entries", a->file,
                            a->directory_size - at, a->n);
    return check_together(a, zip);
}

int ln_zip_is(const ln_infile *in)
{
    size_t size;
    const unsigned char *head = ln_infile_head(in, &size);
    return size >= 4 && (read32(head) == LN_ZIP_LOCAL || read32(head) == LN_ZIP_END);
}

int ln_zip_read(ln_zip *zip, const ln_infile *in, const char *file, ln_error *err)
{
    archive a = {.in = in, .file = file, .err = err};
    *zip = (ln_zip){0};
    if (read_end(&a))
        return -1;
    // Allocates no more entries than the directory can have.
    if (a.n > a.directory_size / LN_ZIP_CENTRAL_SIZE)
        return ln_error_set(err, "%s: the directory has %zu bytes, too few for %u entries", file,
                            a.directory_size, a.n);
    unsigned char *directory = ln_alloc(a.directory_size + 1);
    zip->members = ln_alloc_array((size_t)a.n + 1, sizeof(*zip->members));
    const int status = !directory || !zip->members ? ln_error_memory_at(err, file)
                       : read_bytes(&a, a.directory, directory, a.directory_size)
                           ? -1
                           : read_members(&a, zip, directory);
    ln_free(directory);
    return status;
}

void ln_zip_clear(ln_zip *zip)
{
    for (int i = 0; i < zip->n; i++)
        ln_free(zip->members[i].name);
    ln_free(zip->members);
    *zip = (ln_zip){0};
}

// The content

#ifdef LN_HAVE_ZLIB

uint32_t ln_zip_crc(uint32_t crc, const void *data, size_t size)
{
    return size ? (uint32_t)crc32_z(crc, data, size) : crc; // zlib forgets `crc` without data
}

static int fail_deflated(const ln_zip_member *m, const char *where, ln_error *err)
{
    return ln_error_set(err, "%s: not %zu deflated bytes", where, m->size);
}

// Inflates all packed bytes to exactly the content, or the first bytes of it.
static int inflate_all(z_stream *z, const ln_zip_member *m, const ln_infile *in, void *input,
                       const char *where, ln_error *err)
{
    const int is_part = z->avail_out < m->size;
    size_t done = 0;
    int result = Z_OK;
    while (result == Z_OK && (z->avail_out || !is_part)) {
        if (ln_budget_check(err))
            return -1;
        if (!z->avail_in && done < m->packed) {
            const size_t rest = m->packed - done, size = rest < INPUT_SIZE ? rest : INPUT_SIZE;
            if (ln_infile_read(in, m->begin + done, input, size, err))
                return ln_error_prefix(err, "%s", where);
            z->next_in = input;
            z->avail_in = (uInt)size;
            done += size;
        }
        result = inflate(z, Z_NO_FLUSH);
    }
    if (result == Z_MEM_ERROR)
        return ln_error_memory_at(err, where);
    if (is_part && !z->avail_out)
        return 0;
    const int is_whole =
        result == Z_STREAM_END && !z->avail_out && !z->avail_in && done == m->packed;
    return is_whole ? 0 : fail_deflated(m, where, err);
}

static int inflate_member(const ln_zip_member *m, const ln_infile *in, void *content, size_t size,
                          const char *where, ln_error *err)
{
    unsigned char *input = ln_alloc(INPUT_SIZE);
    z_stream z = {.next_out = content, .avail_out = (uInt)size};
    if (!input || inflateInit2(&z, -MAX_WBITS) != Z_OK) {
        ln_free(input);
        return ln_error_memory_at(err, where);
    }
    const int status = inflate_all(&z, m, in, input, where, err);
    inflateEnd(&z);
    ln_free(input);
    return status;
}

#else

// A table of the values of bytes would be faster; this build reads no more than stored arrays.
uint32_t ln_zip_crc(uint32_t crc, const void *data, size_t size)
{
    const unsigned char *p = data;
    crc = ~crc;
    for (; size; size--, p++) {
        crc ^= *p;
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (0xedb88320u & (0u - (crc & 1)));
    }
    return ~crc;
}

static int inflate_member(const ln_zip_member *m, const ln_infile *in, void *content, size_t size,
                          const char *where, ln_error *err)
{
    (void)m;
    (void)in;
    (void)content;
    (void)size;
    return ln_error_set(err, "%s: the array is compressed, and this LightNet is built without zlib",
                        where);
}

#endif

static int read_stored(const ln_zip_member *m, const ln_infile *in, void *content, size_t size,
                       const char *where, ln_error *err)
{
    return ln_infile_read(in, m->begin, content, size, err) ? ln_error_prefix(err, "%s", where) : 0;
}

int ln_zip_read_head(const ln_zip_member *m, const ln_infile *in, void *head, size_t size,
                     const char *where, ln_error *err)
{
    return (m->is_deflated ? inflate_member : read_stored)(m, in, head, size, where, err);
}

void *ln_zip_extract(const ln_zip_member *m, const ln_infile *in, const char *where, ln_error *err)
{
    void *content = ln_alloc(m->size + 1);
    if (!content)
        return ln_error_memory_at(err, where), NULL;
    int status = ln_zip_read_head(m, in, content, m->size, where, err);
    if (!status && ln_zip_crc(0, content, m->size) != m->crc)
        status = ln_error_set(err, "%s: wrong CRC, so it is damaged", where);
    if (!status)
        return content;
    ln_free(content);
    return NULL;
}
