// SPDX-License-Identifier: Apache-2.0
// Preloaded into a program: real malloc and its kin fail, as where a host limits memory.
//
// usage: LD_PRELOAD=fail_malloc.so LN_FAIL_AT=N [LN_FAIL_EVER=1] [LN_FAIL_FROM=BYTES] PROGRAM
//
// The N-th allocation fails, from 1, or all from it on. Counted are those of at least BYTES bytes,
// and none before main, where the dynamic linker and libc's start-up would end the process. N 0:
// none fails; a program may call ln_fail_malloc, too. LN_FAIL_COUNT=FILE: the number of allocations
// is written there at the end.

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t len, size_t size);
extern void *__libc_realloc(void *ptr, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);

static atomic_long n_made;
static long failing;
static size_t min;
static int for_ever, is_on;

static long number_of(const char *name)
{
    const char *const text = getenv(name);
    return text ? atol(text) : 0;
}

__attribute__((constructor)) static void begin(void)
{
    failing = number_of("LN_FAIL_AT");
    min = (size_t)number_of("LN_FAIL_FROM");
    for_ever = number_of("LN_FAIL_EVER") != 0;
    is_on = 1;
}

__attribute__((destructor)) static void end(void)
{
    char text[32];
    const char *const file = getenv("LN_FAIL_COUNT");
    is_on = 0;
    const int fd = file ? open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600) : -1;
    if (fd < 0)
        return;
    const int len = snprintf(text, sizeof(text), "%ld\n", atomic_load(&n_made));
    if (write(fd, text, (size_t)len) != len)
        unlink(file);
    close(fd);
}

// Programs see them only if they are visible.
#pragma GCC visibility push(default)

// The n-th allocation from now on of at least `from` bytes fails, or all from it on; n 0: none.
void ln_fail_malloc(long n, int ever, size_t from);

void ln_fail_malloc(long n, int ever, size_t from)
{
    is_on = 0;
    failing = n;
    for_ever = ever;
    min = from;
    atomic_store(&n_made, 0);
    is_on = 1;
}

#pragma GCC visibility pop

static int fails(size_t size)
{
    if (!is_on || size < min)
        return 0;
    const long n = atomic_fetch_add(&n_made, 1) + 1;
    if (!failing || (for_ever ? n < failing : n != failing))
        return 0;
    errno = ENOMEM;
    return 1;
}

#pragma GCC visibility push(default)

void *malloc(size_t size)
{
    return fails(size) ? NULL : __libc_malloc(size);
}

void *calloc(size_t len, size_t size)
{
    return fails(len * size) ? NULL : __libc_calloc(len, size);
}

void *realloc(void *ptr, size_t size)
{
    return fails(size) ? NULL : __libc_realloc(ptr, size);
}

void *memalign(size_t alignment, size_t size)
{
    return fails(size) ? NULL : __libc_memalign(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return memalign(alignment, size);
}

int posix_memalign(void **ptr, size_t alignment, size_t size)
{
    *ptr = memalign(alignment, size);
    return *ptr ? 0 : ENOMEM;
}

#pragma GCC visibility pop
