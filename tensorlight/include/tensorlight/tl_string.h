// SPDX-License-Identifier: Apache-2.0
// Strings, the elements of TL_STRING: pointers to immutable bytes with their length.
//
//     const char *names[] = {"red", "green"};
//     const tl_string **data = tl_strings_from_text(names, 2);
//     tl_tensor *t = tl_tensor_create(data, 1, (int[]){2}, TL_STRING);
//     tl_tensor_print(t, NULL);  // ["red" "green"]
//     tl_tensor_free_data_too(t);
//
// An element is a `const tl_string *`; NULL is the empty string. So kernels that only move elements
// move strings like 64-bit numbers. The bytes are UTF-8 in tensors of models and sessions, and may
// contain 0; one 0 follows them. A string lives in one of two places:
//
//     block   pointers and then their strings, in one piece of memory: the data of a tensor of
//             its own. One tl_free releases it, so tl_tensor_free_data_too does, too
//     arena   tl_strings: strings that operators create, all released together

#ifndef TL_STRING_H
#define TL_STRING_H

#include <stddef.h>

#include "tensorlight/tl_api.h"

TL_BEGIN_DECLS

typedef struct tl_string {
    size_t size; // bytes, which follow this record
} tl_string;

/** The bytes of a string, with a 0 after the last; "" for NULL. Returns borrowed. */
static inline const char *tl_string_bytes(const tl_string *s)
{
    return s ? (const char *)(s + 1) : "";
}

/** The number of bytes; 0 for NULL. */
static inline size_t tl_string_size(const tl_string *s)
{
    return s ? s->size : 0;
}

/** -1, 0 or 1: compares the bytes, which is the order of the code points of UTF-8. */
TL_API int tl_string_cmp(const tl_string *a, const tl_string *b);

// Blocks

/** Returns new (tl_free): a block of `len` strings of these sizes, whose bytes the caller writes
 *  before others read them; empty strings are NULL. NULL with a reason: no memory, too large. */
TL_API const tl_string **tl_strings_block(const size_t *sizes, size_t len);

/** Returns new (tl_free): a block with copies of `len` strings. NULL as above. */
TL_API const tl_string **tl_strings_clone(const tl_string *const *src, size_t len);

/** Returns new (tl_free): a block with copies of `len` texts that end with a 0; a NULL is the empty
 *  string. NULL as above. */
TL_API const tl_string **tl_strings_from_text(const char *const *texts, size_t len);

// Arenas

/** Strings that are released together; all 0 is an empty arena without a limit. */
typedef struct tl_strings {
    struct tl_strings_chunk *chunks; // the newest first
    size_t used;                     // bytes in use in the newest
    size_t held;                     // allocated bytes of all
    size_t limit;                    // the max bytes of all; 0: none
    int is_over;                     // a string did not fit into the limit
} tl_strings;

/** A string of `size` bytes in the arena, which the caller writes before others read them; *bytes:
 *  their address; NULL and an empty *string for size 0. -1 with a reason: no memory, or the
 *  limit. */
TL_API int tl_strings_add(tl_strings *arena, size_t size, const tl_string **string, char **bytes);

/** A copy of `size` bytes in the arena. -1 as above. */
TL_API int tl_strings_copy(tl_strings *arena, const char *src, size_t size,
                           const tl_string **string);

/** Releases all strings, but keeps some memory for the next ones, and the limit. */
TL_API void tl_strings_clear(tl_strings *arena);

/** Releases all memory. */
TL_API void tl_strings_free(tl_strings *arena);

TL_END_DECLS

#endif
