// SPDX-License-Identifier: Apache-2.0
// Memory of a generator: everything it reads and builds lives until the end and is freed at once.
//
//     ln_arena arena = {0};
//     char *name = ln_arena_printf(&arena, "match_%s", rule);
//     ln_arena_free(&arena);

#pragma once

#include <stdarg.h>
#include <stddef.h>

#include "lightnet/ln_util.h"

/** Zeroed, it is an empty arena. */
typedef struct ln_arena {
    struct ln_arena_block *blocks; // newest first
} ln_arena;

/** Returns borrowed (until ln_arena_free): `size` zeroed bytes. Generators are host programs: for
 * lack of memory the process prints a message and exits 1, here and below. */
void *ln_arena_alloc(ln_arena *arena, size_t size);

/** The first `len` bytes of `s` as a string. Returns borrowed (until ln_arena_free). */
char *ln_arena_strndup(ln_arena *arena, const char *s, size_t len);

/** Returns borrowed (until ln_arena_free). */
char *ln_arena_printf(ln_arena *arena, const char *fmt, ...) LN_PRINTF(2, 3);

/** The same for a list of arguments. */
char *ln_arena_vprintf(ln_arena *arena, const char *fmt, va_list args);

/** Returns borrowed (until ln_arena_free): the `len` items of a list, each of `size` bytes, with
 * room for one more. */
void *ln_arena_grow(ln_arena *arena, const void *items, size_t len, size_t size);

/** Makes `*text` a new text: the old one, then formatted text. Borrowed (until ln_arena_free). */
void ln_arena_extend(ln_arena *arena, const char **text, const char *fmt, ...) LN_PRINTF(3, 4);

/** Frees all memory of the arena; it is empty then. */
void ln_arena_free(ln_arena *arena);
