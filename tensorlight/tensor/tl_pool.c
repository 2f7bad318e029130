// SPDX-License-Identifier: Apache-2.0
// The thread pool: pthreadpool, with workers that wait awake for a while before they sleep.

#include "tensor/tl_pool.h"

#include <pthreadpool.h>

#include "tensorlight/tl_util.h"

/** Far more than help, few enough to be had. */
enum { MAX_THREADS = 1024 };

struct tl_pool {
    pthreadpool_t threads;
    int size;
};

tl_pool *tl_pool_create(int n)
{
    if (n < 0 || n > MAX_THREADS) {
        tl_fail("%d threads, expected 0 to %d", n, MAX_THREADS);
        return NULL;
    }
    tl_pool *const pool = tl_alloc(sizeof(*pool));
    if (!pool)
        return NULL;
    pool->size = n ? n : tl_cpu_count();
    pool->threads = pthreadpool_create((size_t)pool->size);
    if (!pool->threads) {
        tl_fail("cannot start %d threads", pool->size);
        tl_free(pool);
        return NULL;
    }
    return pool;
}

void tl_pool_free(tl_pool *pool)
{
    if (!pool)
        return;
    pthreadpool_destroy(pool->threads);
    tl_free(pool);
}

int tl_pool_size(const tl_pool *pool)
{
    return pool ? pool->size : 1;
}

void tl_pool_run(tl_pool *pool, size_t n, void (*func)(void *arg, size_t i), void *arg)
{
    // With PTHREADPOOL_FLAG_YIELD_WORKERS they would sleep at once, and each layer wake them anew.
    pthreadpool_parallelize_1d(pool->threads, func, arg, n, 0);
}
