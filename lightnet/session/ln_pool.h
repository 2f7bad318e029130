// SPDX-License-Identifier: Apache-2.0
// Pools of threads that models share: those that callers make, and one of the process for each
// number of threads. The lock over what threads share.

#ifndef LN_POOL_H
#define LN_POOL_H

#include "lightnet/ln_session.h"
#include "tensorlight/tl_exec.h"

/** The pool, once more: to be freed with ln_pool_free. Takes NULL. */
ln_pool *ln_pool_keep(ln_pool *pool);

/** The pool of the process with `n` >= 1 threads (ln_pool_free). NULL with the thread's last error.
 */
ln_pool *ln_pool_shared(int n);

/** Its threads, the caller's included. */
int ln_pool_size(const ln_pool *pool);

/** What computations use; NULL: the calling thread alone. Returns borrowed. */
tl_pool *ln_pool_threads(const ln_pool *pool);

/** The lock over what threads share: the programs of models, pools, the program that a session
 * runs. There is one for the process, held for some assignments at a time, so that fork() finds it
 * free: a child begins with everything whole. */
void ln_session_lock(void);
void ln_session_unlock(void);

#endif
