// SPDX-License-Identifier: Apache-2.0
// The interface of the thread pool for tl_exec.c.

#pragma once

#include "tensorlight/tl_exec.h"

/** Calls func(arg, 0 .. n-1) on the calling thread and the workers of `pool` that are free; returns
 *  when all calls have returned. Any number of threads may call it at a time: the workers divide
 *  themselves among the calls, and the caller does the rest. Each thread begins with the
 *  same share of the items each time. A call from inside `func` runs on its thread alone. */
void tl_pool_run(tl_pool *pool, size_t n, void (*func)(void *arg, size_t i), void *arg);

/** Whether the calling thread is inside tl_pool_run. */
int tl_pool_is_inside(void);

/** The number of existing threads, including the caller: fewer than tl_pool_size where there
 *  are fewer cores, where the system refused threads, and in a child before its first call. */
int tl_pool_threads(const tl_pool *pool);
