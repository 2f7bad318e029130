// SPDX-License-Identifier: Apache-2.0
// Threads that sleep until a word in memory changes: Linux's futex.

#ifndef TL_FUTEX_H
#define TL_FUTEX_H

#include <linux/futex.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

/** Sleeps until tl_futex_wake if *word is `value`. It may return earlier. */
static inline void tl_futex_wait(atomic_uint *word, unsigned value)
{
    syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, NULL, NULL, 0);
}

/** Wakes at most `n` threads that sleep on `word`. */
static inline void tl_futex_wake(atomic_uint *word, int n)
{
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, n, NULL, NULL, 0);
}

#endif
