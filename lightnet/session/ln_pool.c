// SPDX-License-Identifier: Apache-2.0
// Pools of threads that models share, and the lock over data that threads share.

#include "session/ln_pool.h"

#include <pthread.h>

#include "lightnet/ln_msg.h"
#include "lightnet/ln_util.h"
#include "tensorlight/tl_util.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void acquire(void)
{
    pthread_mutex_lock(&lock);
}

static void release(void)
{
    pthread_mutex_unlock(&lock);
}

// If this fails for lack of memory, a fork is safe only while no other thread holds the lock.
static void hold_at_fork(void)
{
    pthread_atfork(acquire, release, release);
}

void ln_session_lock(void)
{
    pthread_once(&once, hold_at_fork);
    acquire();
}

void ln_session_unlock(void)
{
    release();
}

struct ln_pool {
    int refs;
    int n;
    tl_pool *threads; // NULL: n is 1
    ln_pool *next;    // in shared_pools
    int is_shared;    // in shared_pools
};

// The process-wide pools: one for each number of threads in use.
static ln_pool *shared_pools;

static ln_pool *create(int n, int is_shared)
{
    ln_pool *pool = ln_alloc(sizeof(*pool));
    if (!pool)
        return NULL;
    *pool = (ln_pool){.refs = 1, .n = n, .is_shared = is_shared};
    pool->threads = n == 1 ? NULL : tl_pool_create(n);
    if (pool->threads || n == 1)
        return pool;
    ln_error_set_as(NULL, LN_OUT_OF_MEMORY, "%s", tl_last_error());
    ln_free(pool);
    return NULL;
}

ln_pool *ln_pool_create(int n)
{
    if (n >= 0 && n <= TL_MAX_THREADS)
        return create(n ? n : tl_cpu_count(), 0);
    ln_error_set_as(NULL, LN_BAD_ARGUMENT, "a pool of %d threads, expected 1 to %d, or 0 for all",
                    n, TL_MAX_THREADS);
    return NULL;
}

ln_pool *ln_pool_keep(ln_pool *pool)
{
    ln_session_lock();
    if (pool)
        pool->refs++;
    ln_session_unlock();
    return pool;
}

void ln_pool_free(ln_pool *pool)
{
    if (!pool)
        return;
    ln_session_lock();
    const int is_last = --pool->refs == 0;
    if (is_last && pool->is_shared) {
        ln_pool **link = &shared_pools;
        while (*link != pool)
            link = &(*link)->next;
        *link = pool->next;
    }
    ln_session_unlock();
    if (!is_last)
        return;
    tl_pool_free(pool->threads);
    ln_free(pool);
}

static ln_pool *find_shared(int n)
{
    ln_pool *pool = shared_pools;
    while (pool && pool->n != n)
        pool = pool->next;
    if (pool)
        pool->refs++;
    return pool;
}

// Shares *made, which becomes NULL, or returns a pool that another thread has shared meanwhile.
static ln_pool *share(ln_pool **made)
{
    ln_session_lock();
    ln_pool *pool = find_shared((*made)->n);
    if (!pool) {
        pool = *made;
        pool->next = shared_pools;
        shared_pools = pool;
        *made = NULL;
    }
    ln_session_unlock();
    return pool;
}

ln_pool *ln_pool_shared(int n)
{
    ln_session_lock();
    ln_pool *pool = find_shared(n);
    ln_session_unlock();
    if (pool)
        return pool;
    ln_pool *made = create(n, 1);
    if (!made)
        return NULL;
    pool = share(&made);
    if (made)
        made->is_shared = 0;
    ln_pool_free(made);
    return pool;
}

int ln_pool_size(const ln_pool *pool)
{
    return pool->n;
}

tl_pool *ln_pool_threads(const ln_pool *pool)
{
    return pool->threads;
}
