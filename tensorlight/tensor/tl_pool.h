// SPDX-License-Identifier: Apache-2.0
// What tl_exec.c asks of the thread pool.

#ifndef TL_POOL_H
#define TL_POOL_H

#include "tensorlight/tl_exec.h"

/** Calls func(arg, 0 .. n-1) on the threads of `pool`, the caller among them; returns when all are
 *  done. Not from inside such a call. Calls from different threads wait for each other. Where all
 *  is done long before the others come, as when other processes have their cores, the caller works
 *  alone for a while. */
void tl_pool_run(tl_pool *pool, size_t n, void (*func)(void *arg, size_t i), void *arg);

#endif
