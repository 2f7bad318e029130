// SPDX-License-Identifier: Apache-2.0
// Threads that sleep until a word in memory changes: Linux's futex.

#ifndef TL_FUTEX_H
#define TL_FUTEX_H

#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The interface of the system, as <linux/futex.h> has it; C libraries such as musl come without
 * Linux's headers. */
enum {
    TL_FUTEX_WAIT = 0,      /* FUTEX_WAIT */
    TL_FUTEX_WAKE = 1,      /* FUTEX_WAKE */
    TL_FUTEX_PRIVATE = 128, /* FUTEX_PRIVATE_FLAG: the word belongs to this process alone */
};

/** Sleeps until tl_futex_wake if *word is `value`. It may return earlier. */
static inline void tl_futex_wait(atomic_uint *word, unsigned value)
{
    syscall(SYS_futex, word, TL_FUTEX_WAIT | TL_FUTEX_PRIVATE, value, NULL, NULL, 0);
}

/** Wakes at most `n` threads that sleep on `word`. */
static inline void tl_futex_wake(atomic_uint *word, int n)
{
    syscall(SYS_futex, word, TL_FUTEX_WAKE | TL_FUTEX_PRIVATE, n, NULL, NULL, 0);
}

#endif
