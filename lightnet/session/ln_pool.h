// SPDX-License-Identifier: Apache-2.0
// Pools of threads that models share: those that callers make, and one of the process for each
// number of threads.

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

#endif
