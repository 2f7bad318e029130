// SPDX-License-Identifier: Apache-2.0
// Tensors of strings as bytes.

#include "data/ln_packed_strings.h"

#include <stdint.h>
#include <string.h>

#include "base/ln_error_memory.h"
#include "base/ln_little_endian.h"
#include "base/ln_utf8.h"
#include "lightnet/ln_util.h"
#include "tensorlight/tl_util.h"

enum { END_SIZE = 8 };

size_t ln_packed_strings_size(const tl_tensor *t)
{
    const tl_string *const *const strings = t->data;
    size_t size = (size_t)t->len * END_SIZE; // no overflow: the strings are in memory
    for (int i = 0; i < t->len; i++)
        size += tl_string_size(strings[i]);
    return size;
}

void ln_packed_strings_write(FILE *stream, const tl_tensor *t)
{
    const tl_string *const *const strings = t->data;
    uint64_t end = 0;
    for (int i = 0; i < t->len; i++) {
        end += tl_string_size(strings[i]);
        ln_little_endian_put(stream, end, END_SIZE);
    }
    for (int i = 0; i < t->len; i++)
        fwrite(tl_string_bytes(strings[i]), 1, tl_string_size(strings[i]), stream);
}

int ln_string_check(const char *bytes, size_t size, size_t number, ln_error *err)
{
    const size_t valid = ln_utf8_prefix(bytes, size);
    return valid == size ? 0
                         : ln_error_set(err, "string %zu is not UTF-8: byte %zu is %d", number,
                                        valid, (unsigned char)bytes[valid]);
}

const tl_string **ln_strings_create(const char *const *bytes, const size_t *sizes, size_t len,
                                    ln_error *err)
{
    for (size_t i = 0; i < len; i++)
        if (ln_string_check(bytes[i], sizes[i], i, err))
            return NULL;
    const tl_string **const block = tl_strings_block(sizes, len);
    if (!block)
        ln_error_memory(err);
    for (size_t i = 0; block && i < len; i++)
        if (sizes[i])
            memcpy((char *)tl_string_bytes(block[i]), bytes[i], sizes[i]);
    return block;
}

// The table has the sizes of the strings, which fill the `room` bytes after it.
static int read_table(const unsigned char *table, size_t room, size_t len, const char **bytes,
                      size_t *sizes, ln_error *err)
{
    uint64_t begin = 0;
    for (size_t i = 0; i < len; i++) {
        const uint64_t end = ln_little_endian_get(table + i * END_SIZE, END_SIZE);
        if (end < begin || end > room)
            return ln_error_set(err, "string %zu is outside of the %zu bytes of strings", i, room);
        bytes[i] = (const char *)table + len * END_SIZE + begin;
        sizes[i] = (size_t)(end - begin);
        begin = end;
    }
    return begin == room
               ? 0
               : ln_error_set(err, "%zu strings do not fill the %zu bytes of strings", len, room);
}

const tl_string **ln_packed_strings_read(const unsigned char *bytes, size_t size, size_t len,
                                         ln_error *err)
{
    const tl_string **block = NULL;
    if (len > size / END_SIZE) {
        ln_error_set(err, "%zu bytes, expected at least %d for each of %zu strings", size, END_SIZE,
                     len);
        return NULL;
    }
    const char **const starts = ln_alloc_array(len + 1, sizeof(*starts));
    size_t *const sizes = ln_alloc_array(len + 1, sizeof(*sizes));
    if (!starts || !sizes)
        ln_error_memory(err);
    else if (!read_table(bytes, size - len * END_SIZE, len, starts, sizes, err))
        block = ln_strings_create(starts, sizes, len, err);
    ln_free(starts);
    ln_free(sizes);
    return block;
}
