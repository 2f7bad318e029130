// SPDX-License-Identifier: Apache-2.0
// Memory for tests in which a kernel that leaves its buffers is caught.
//
//     ln_guard guard;
//     float *dst = ln_guard_alloc(&guard, 7 * sizeof(float));
//     ...
//     ck_assert(ln_guard_is_intact(&guard));
//     ln_guard_free(&guard);
//
//     | canary (0xa5) .................... | size bytes | page without access |
//
// The buffer ends where the last page begins: one byte too far is a segmentation fault. What lies
// before it, at least a page, is compared afterwards.

#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

typedef struct ln_guard {
    unsigned char *map; // the canary, the buffer, and the page without access
    size_t map_size;    // bytes of all three
    size_t canary_size; // bytes before the buffer
} ln_guard;

enum { LN_GUARD_CANARY = 0xa5 };

/** Returns `size` bytes that hold 0xa5, until ln_guard_free. Exits the program without memory. */
static inline void *ln_guard_alloc(ln_guard *guard, size_t size)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const size_t used = page + (size + page - 1) / page * page;
    guard->map_size = used + page;
    guard->canary_size = used - size;
    guard->map =
        mmap(NULL, guard->map_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (guard->map == MAP_FAILED || mprotect(guard->map + used, page, PROT_NONE) != 0) {
        perror("ln_guard_alloc");
        exit(EXIT_FAILURE);
    }
    memset(guard->map, LN_GUARD_CANARY, used);
    return guard->map + guard->canary_size;
}

/** 1 when nothing has written before the buffer. */
static inline int ln_guard_is_intact(const ln_guard *guard)
{
    for (size_t i = 0; i < guard->canary_size; i++)
        if (guard->map[i] != LN_GUARD_CANARY)
            return 0;
    return 1;
}

static inline void ln_guard_free(ln_guard *guard)
{
    munmap(guard->map, guard->map_size);
}
