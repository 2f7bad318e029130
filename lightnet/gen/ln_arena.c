// SPDX-License-Identifier: Apache-2.0
// Memory of a generator: a list of blocks, freed together.

#include "gen/ln_arena.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ln_error_memory.h"

struct ln_arena_block {
    struct ln_arena_block *next;
    max_align_t data[];
};

void *ln_arena_alloc(ln_arena *arena, size_t size)
{
    struct ln_arena_block *block = calloc(1, sizeof(*block) + size);
    if (!block) {
        fputs(LN_MEMORY_REASON "\n", stderr);
        exit(EXIT_FAILURE);
    }
    block->next = arena->blocks;
    arena->blocks = block;
    return block->data;
}

char *ln_arena_strndup(ln_arena *arena, const char *s, size_t len)
{
    return memcpy(ln_arena_alloc(arena, len + 1), s, len);
}

// `before`, then formatted text.
static char *format_behind(ln_arena *arena, const char *before, const char *fmt, va_list ap)
{
    va_list ap2;
    va_copy(ap2, ap);
    const size_t len = strlen(before);
    const size_t added = (size_t)vsnprintf(NULL, 0, fmt, ap) + 1;
    char *text = ln_arena_alloc(arena, len + added);
    memcpy(text, before, len + 1);
    vsnprintf(text + len, added, fmt, ap2);
    va_end(ap2);
    return text;
}

char *ln_arena_vprintf(ln_arena *arena, const char *fmt, va_list args)
{
    return format_behind(arena, "", fmt, args);
}

void *ln_arena_grow(ln_arena *arena, const void *items, size_t len, size_t size)
{
    void *more = ln_arena_alloc(arena, (len + 1) * size);
    return len ? memcpy(more, items, len * size) : more;
}

char *ln_arena_printf(ln_arena *arena, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    char *text = format_behind(arena, "", fmt, ap);
    va_end(ap);
    return text;
}

void ln_arena_extend(ln_arena *arena, const char **text, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    *text = format_behind(arena, *text, fmt, ap);
    va_end(ap);
}

void ln_arena_free(ln_arena *arena)
{
    while (arena->blocks) {
        struct ln_arena_block *next = arena->blocks->next;
        free(arena->blocks);
        arena->blocks = next;
    }
}
