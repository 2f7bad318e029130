// SPDX-License-Identifier: Apache-2.0
// Thread pools that models share: those of callers, and a process-wide one for each number of
// threads. The lock over data that threads share.

#pragma once

#include "lightnet/ln_session.h"
#include "tensorlight/tl_exec.h"

/** A new reference to the pool (ln_pool_free). Ignores NULL. */
ln_pool *ln_pool_keep(ln_pool *pool);

/** The process-wide pool with `n` >= 1 threads (ln_pool_free). NULL with the thread's last
 * error. */
ln_pool *ln_pool_shared(int n);

/** The number of threads, including the caller. */
int ln_pool_size(const ln_pool *pool);

/** The pool for computations; NULL: only the calling thread. Returns borrowed. */
tl_pool *ln_pool_threads(const ln_pool *pool);

/** The lock for data shared by threads: the programs of models, pools, the current program of a
 * session. There is one per process, held for a few assignments only, and at fork() by the forking
 * thread: a child begins in a consistent state. */
void ln_session_lock(void);
void ln_session_unlock(void);
