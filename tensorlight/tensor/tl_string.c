// SPDX-License-Identifier: Apache-2.0
// Strings: decoding of UTF-8, comparison, and allocation in blocks and arenas.

#include "tensorlight/tl_string.h"

#include <stdint.h>
#include <string.h>

#include "tensor/tl_char.h"
#include "tensorlight/tl_util.h"

// Characters

// The length of the UTF-8 sequence at `p`; 1 if it is not valid: truncated, overlong, a surrogate
// or beyond 0x10ffff.
static size_t sequence_length(const unsigned char *p, size_t left)
{
    const unsigned first = p[0];
    const size_t n = first < 0x80                     ? 1
                     : first >= 0xc2 && first <= 0xdf ? 2
                     : (first & 0xf0) == 0xe0         ? 3
                     : first >= 0xf0 && first <= 0xf4 ? 4
                                                      : 1;
    const unsigned min = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
    const unsigned max = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
    if (n > left || (n > 1 && (p[1] < min || p[1] > max)))
        return 1;
    for (size_t i = 2; i < n; i++)
        if ((p[i] & 0xc0) != 0x80)
            return 1;
    return n;
}

uint32_t tl_char_at(const char *p, const char *end, size_t *n)
{
    static const unsigned char masks[] = {0, 0xff, 0x1f, 0x0f, 0x07};
    const unsigned char *const bytes = (const unsigned char *)p;
    *n = sequence_length(bytes, (size_t)(end - p));
    uint32_t c = bytes[0] & masks[*n];
    for (size_t i = 1; i < *n; i++)
        c = c << 6 | (bytes[i] & 0x3f);
    return c;
}

int tl_string_cmp(const tl_string *a, const tl_string *b)
{
    const size_t m = tl_string_size(a), n = tl_string_size(b);
    const int cmp = a == b ? 0 : memcmp(tl_string_bytes(a), tl_string_bytes(b), m < n ? m : n);
    return cmp ? (cmp > 0) - (cmp < 0) : (m > n) - (m < n);
}

// Memory of a string: tl_string, its bytes and a 0, rounded up to a multiple of sizeof(tl_string)

// The size of the memory of a string of `size` bytes. -1 with a reason: too large.
static int size_of_string(size_t size, size_t *ret)
{
    size_t total;
    if (tl_size_add(size, 2 * sizeof(tl_string), &total))
        return -1;
    *ret = total / sizeof(tl_string) * sizeof(tl_string);
    return 0;
}

// Initializes a string of `size` > 0 bytes at `memory`, except its bytes.
static tl_string *init_string(void *memory, size_t size)
{
    tl_string *const s = memory;
    s->size = size;
    ((char *)(s + 1))[size] = '\0';
    return s;
}

// Blocks

// The size of the memory of a block. -1 with a reason: too large.
static int size_of_block(const size_t *sizes, size_t len, size_t *ret)
{
    size_t total = 0;
    if (tl_size_mul(len, sizeof(tl_string *), &total))
        return -1;
    for (size_t i = 0; i < len; i++) {
        size_t size = 0;
        if (sizes[i] && (size_of_string(sizes[i], &size) || tl_size_add(total, size, &total)))
            return -1;
    }
    *ret = total;
    return 0;
}

const tl_string **tl_strings_block(const size_t *sizes, size_t len)
{
    size_t total;
    if (size_of_block(sizes, len, &total))
        return NULL;
    const tl_string **const block = tl_alloc(total);
    if (!block)
        return NULL;
    char *next = (char *)(block + len);
    for (size_t i = 0; i < len; i++) {
        size_t size = 0;
        block[i] = sizes[i] ? init_string(next, sizes[i]) : NULL;
        if (sizes[i])
            size_of_string(sizes[i], &size);
        next += size;
    }
    return block;
}

// Returns new (tl_free): a block with copies of `len` strings; bytes_of(src, i, &size) returns
// string i.
static const tl_string **create_block(const void *src, size_t len,
                                      const char *(*bytes_of)(const void *src, size_t i,
                                                              size_t *size))
{
    size_t bytes;
    if (tl_size_mul(len, sizeof(size_t), &bytes))
        return NULL;
    size_t *const sizes = tl_alloc(bytes);
    if (!sizes)
        return NULL;
    for (size_t i = 0; i < len; i++)
        bytes_of(src, i, &sizes[i]);
    const tl_string **const block = tl_strings_block(sizes, len);
    for (size_t i = 0; block && i < len; i++)
        if (sizes[i])
            memcpy((char *)tl_string_bytes(block[i]), bytes_of(src, i, &sizes[i]), sizes[i]);
    tl_free(sizes);
    return block;
}

static const char *bytes_of_string(const void *src, size_t i, size_t *size)
{
    const tl_string *const s = ((const tl_string *const *)src)[i];
    *size = tl_string_size(s);
    return tl_string_bytes(s);
}

const tl_string **tl_strings_clone(const tl_string *const *src, size_t len)
{
    return create_block(src, len, bytes_of_string);
}

static const char *bytes_of_text(const void *src, size_t i, size_t *size)
{
    const char *const text = ((const char *const *)src)[i];
    *size = text ? strlen(text) : 0;
    return text;
}

const tl_string **tl_strings_from_text(const char *const *texts, size_t len)
{
    return create_block(texts, len, bytes_of_text);
}

// Arenas

// The min size of a chunk, unless the limit leaves less.
enum { CHUNK_SIZE = 16384 };

struct tl_strings_chunk {
    struct tl_strings_chunk *next;
    size_t size; // of its memory, which follows
};

static int add_chunk(tl_strings *arena, size_t needed)
{
    const size_t left = !arena->limit                ? SIZE_MAX
                        : arena->held < arena->limit ? arena->limit - arena->held
                                                     : 0;
    if (needed > left) {
        arena->is_over = 1;
        return tl_fail("%zu bytes more for strings exceed the limit of %zu bytes", needed,
                       arena->limit);
    }
    // Chunks grow with the arena, so that their number stays logarithmic.
    const size_t wanted = arena->held / 8 > CHUNK_SIZE ? arena->held / 8 : CHUNK_SIZE;
    const size_t size = needed > wanted ? needed : wanted < left ? wanted : left;
    size_t total;
    if (tl_size_add(size, sizeof(struct tl_strings_chunk), &total))
        return -1;
    struct tl_strings_chunk *const chunk = tl_alloc(total);
    if (!chunk)
        return -1;
    *chunk = (struct tl_strings_chunk){arena->chunks, size};
    arena->chunks = chunk;
    arena->used = 0;
    arena->held += size;
    return 0;
}

int tl_strings_add(tl_strings *arena, size_t size, const tl_string **string, char **bytes)
{
    size_t needed;
    *string = NULL;
    *bytes = NULL;
    if (!size)
        return 0;
    if (size_of_string(size, &needed))
        return -1;
    const size_t left = arena->chunks ? arena->chunks->size - arena->used : 0;
    if (needed > left && add_chunk(arena, needed))
        return -1;
    tl_string *const s = init_string((char *)(arena->chunks + 1) + arena->used, size);
    arena->used += needed;
    *string = s;
    *bytes = (char *)(s + 1);
    return 0;
}

int tl_strings_copy(tl_strings *arena, const char *src, size_t size, const tl_string **string)
{
    char *bytes;
    if (tl_strings_add(arena, size, string, &bytes))
        return -1;
    if (size)
        memcpy(bytes, src, size);
    return 0;
}

void tl_strings_clear(tl_strings *arena)
{
    struct tl_strings_chunk *kept = NULL;
    for (struct tl_strings_chunk *c = arena->chunks, *next; c; c = next) {
        next = c->next;
        if (!kept && c->size == CHUNK_SIZE) {
            kept = c;
            kept->next = NULL;
        } else {
            tl_free(c);
        }
    }
    arena->chunks = kept;
    arena->held = kept ? kept->size : 0;
    arena->used = 0;
    arena->is_over = 0;
}

void tl_strings_free(tl_strings *arena)
{
    tl_strings_clear(arena);
    tl_free(arena->chunks);
    *arena = (tl_strings){.limit = arena->limit};
}
