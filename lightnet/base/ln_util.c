// SPDX-License-Identifier: Apache-2.0
// Common helpers: comparing and hashing, memory, checked sizes, text files.

#include "lightnet/ln_util.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/ln_alloc_fail.h"
#include "base/ln_budget.h"
#include "base/ln_error_memory.h"
#include "base/ln_fnv.h"
#include "lightnet/ln_msg.h"

int ln_direct_cmp(const void *a, const void *b)
{
    const uintptr_t x = (uintptr_t)a, y = (uintptr_t)b;
    return (x > y) - (x < y);
}

uint32_t ln_direct_hash(const void *p)
{
    const uint64_t bits = (uintptr_t)p;
    return (uint32_t)(bits ^ bits >> 32);
}

int ln_str_cmp(const void *a, const void *b)
{
    if (!a || !b)
        return (a != NULL) - (b != NULL);
    return strcmp(a, b);
}

uint32_t ln_str_hash(const void *str)
{
    return ln_fnv32(str, str ? strlen(str) : 0);
}

ln_bool ln_streq(const char *a, const char *b)
{
    return ln_str_cmp(a, b) == 0;
}

// Records the reason of a failed allocation. Returns NULL.
static void *out_of_memory(size_t size)
{
    ln_alloc_note_failure();
    ln_error_set_as(NULL, LN_OUT_OF_MEMORY, "out of memory: cannot get %zu bytes", size);
    return NULL;
}

static int may_allocate(size_t size)
{
    return !ln_alloc_fail_now() && ln_budget_allows(size);
}

// glibc caches small blocks of each thread (tcache), for malloc but not for calloc.
enum { SMALL = 1024 };

void *ln_alloc(size_t size)
{
    void *ptr = NULL;
    if (may_allocate(size))
        ptr = size > SMALL ? calloc(1, size) : malloc(size ? size : 1);
    if (ptr && size <= SMALL)
        memset(ptr, 0, size);
    return ptr ? ln_budget_count(ptr) : out_of_memory(size);
}

void *ln_alloc_array(size_t len, size_t size)
{
    size_t total;
    if (ln_size_mul(len, size, &total) < 0) {
        ln_error_set_as(NULL, LN_OUT_OF_MEMORY,
                        "out of memory: cannot get %zu elements of %zu bytes", len, size);
        return NULL;
    }
    return ln_alloc(total);
}

void *ln_realloc(void *ptr, size_t size)
{
    if (!may_allocate(size))
        return out_of_memory(size);
    ln_budget_uncount(ptr);
    void *resized = realloc(ptr, size ? size : 1);
    ln_budget_count(resized ? resized : ptr);
    return resized ? resized : out_of_memory(size);
}

void ln_free(void *ptr)
{
    if (!ptr)
        return;
    ln_budget_uncount(ptr);
    free(ptr);
}

void *ln_clone(const void *ptr, size_t size)
{
    void *copy = ln_alloc(size);
    return copy && size ? memcpy(copy, ptr, size) : copy;
}

char *ln_strdup(const char *str)
{
    return str ? ln_clone(str, strlen(str) + 1) : NULL;
}

int ln_size_add(size_t a, size_t b, size_t *sum)
{
    if (a > SIZE_MAX - b)
        return -1;
    *sum = a + b;
    return 0;
}

int ln_size_mul(size_t a, size_t b, size_t *product)
{
    if (b && a > SIZE_MAX / b)
        return -1;
    *product = a * b;
    return 0;
}

// Bytes read so far, with room for at least one more and the NUL.
struct text {
    char *bytes;
    size_t size;
    size_t room;
};

static int read_all(struct text *text, FILE *stream, const char *name)
{
    size_t got;
    do {
        if (text->size + 1 >= text->room) {
            const size_t room = text->room ? text->room * 2 : 4096; // below 4 * LN_MAX_TEXT: fits
            char *bytes = ln_realloc(text->bytes, room);
            if (!bytes)
                return -1;
            text->bytes = bytes;
            text->room = room;
        }
        errno = 0;
        got = fread(text->bytes + text->size, 1, text->room - 1 - text->size, stream);
        text->size += got;
        if (text->size > LN_MAX_TEXT)
            return ln_error_set(NULL, "%s: more than %zu bytes, too large for text", name,
                                LN_MAX_TEXT);
    } while (got);
    if (ferror(stream))
        return ln_error_set_as(NULL, ln_status_of_errno(errno), "%s: cannot read: %s", name,
                               strerror(errno));
    text->bytes[text->size] = '\0';
    return 0;
}

char *ln_read_stream(FILE *stream, const char *name, size_t *size)
{
    struct text text = {0};
    if (read_all(&text, stream, name) < 0) {
        ln_free(text.bytes);
        return NULL;
    }
    if (size)
        *size = text.size;
    return text.bytes;
}

char *ln_read_text(const char *file)
{
    FILE *stream = fopen(file, "rb");
    if (!stream) {
        ln_error_set_as(NULL, ln_status_of_errno(errno), "%s: cannot read: %s", file,
                        strerror(errno));
        return NULL;
    }
    size_t size = 0;
    char *text = ln_read_stream(stream, file, &size);
    fclose(stream);
    if (text && strlen(text) != size) {
        ln_error_set(NULL, "%s: NUL byte at offset %zu, expected text", file, strlen(text));
        ln_free(text);
        return NULL;
    }
    return text;
}

// Similar names

// Longer names are not compared.
enum { LONGEST = 64 };

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

// Whether two letters are the same, up to their case.
static int is_same(char a, char b)
{
    return tolower((unsigned char)a) == tolower((unsigned char)b);
}

// How many letters to change, insert, delete or swap with the next to get from `a` to `b`, both at
// most LONGEST long. The three rows are the last ones of the matrix, rows[i % 3] for the first i
// letters of `a`. Source: optimal string alignment, after Wagner, Fischer: The string-to-string
// correction problem, 1974.
static size_t distance(const char *a, const char *b)
{
    size_t rows[3][LONGEST + 1];
    const size_t len_a = strlen(a), len_b = strlen(b);
    for (size_t j = 0; j <= len_b; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= len_a; i++) {
        size_t *row = rows[i % 3];
        const size_t *above = rows[(i - 1) % 3], *two_above = rows[(i + 1) % 3];
        row[0] = i;
        for (size_t j = 1; j <= len_b; j++) {
            row[j] = smaller(above[j - 1] + !is_same(a[i - 1], b[j - 1]),
                             smaller(above[j], row[j - 1]) + 1);
            if (i > 1 && j > 1 && is_same(a[i - 1], b[j - 2]) && is_same(a[i - 2], b[j - 1]))
                row[j] = smaller(row[j], two_above[j - 2] + 1);
        }
    }
    return rows[len_a % 3][len_b];
}

// From this distance on, names are not similar.
static size_t limit(const char *name)
{
    return (strlen(name) + 1) / 3 + 1;
}

static size_t distance_or_limit(const char *name, const char *known)
{
    if (!known || strlen(known) > LONGEST)
        return limit(name);
    return distance(name, known);
}

const char *ln_closer_name(const char *name, const char *best, const char *known)
{
    if (strlen(name) > LONGEST)
        return NULL;
    const size_t max = smaller(limit(name), distance_or_limit(name, best));
    return distance_or_limit(name, known) < max ? known : best;
}
