// SPDX-License-Identifier: Apache-2.0
// The thread pool: pthreadpool, with workers that wait awake for a while before they sleep.
//
// The library waits for every worker, also for one that has not begun since another process has
// its core: each layer of a network then takes a time slice of the system. So work that ends late
// is noticed, and some that follows is done by the calling thread alone. Nor does a pool begin more
// threads than there are cores: the work of the others is done by those there are.

#include "tensor/tl_pool.h"

#include <pthreadpool.h>
#include <stdatomic.h>

#include "tensorlight/tl_util.h"

enum {
    LATE = 1000000,    /* nanoseconds that workers must need longer than the caller to be late */
    LATE_TIMES = 2,    /* and how many times what the caller needed */
    PATIENCE = 2,      /* works in a row that may be late */
    LEAST_ALONE = 32,  /* works that the caller then does alone; twice as many each next time, */
    MOST_ALONE = 1024, /* at most */
};

struct tl_pool {
    pthreadpool_t threads;
    int size;
    atomic_int late;  /* works in a row that were late */
    atomic_int alone; /* works that are still to be done alone */
    atomic_int next;  /* how many the next time */
};

tl_pool *tl_pool_create(int n)
{
    if (n < 0 || n > TL_MOST_THREADS) {
        tl_fail("%d threads, expected 0 to %d", n, TL_MOST_THREADS);
        return NULL;
    }
    tl_pool *const pool = tl_alloc(sizeof(*pool));
    if (!pool)
        return NULL;
    const int cores = tl_cpu_count();
    pool->size = n ? n : cores;
    pool->late = 0;
    pool->alone = 0;
    pool->next = LEAST_ALONE;
    const int begun = pool->size < cores ? pool->size : cores;
    pool->threads = pthreadpool_create((size_t)begun);
    if (!pool->threads) {
        tl_fail("cannot start %d threads", begun);
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

/** Its address tells threads apart. */
static _Thread_local char this_thread;

typedef struct work {
    void (*func)(void *arg, size_t i);
    void *arg;
    const char *caller;
    _Alignas(64) uint64_t ended; /* when the caller had done the last of what it took */
} work;

static void run_item(void *context, size_t i)
{
    work *const w = context;
    w->func(w->arg, i);
    if (w->caller == &this_thread)
        w->ended = tl_clock();
}

/** Whether the caller waited for others much longer than it worked. */
static int is_late(const work *w, uint64_t began)
{
    const uint64_t waited = tl_clock() - w->ended;
    return waited > LATE && waited > LATE_TIMES * (w->ended - began);
}

static void learn(tl_pool *pool, int late)
{
    if (!late && !pool->late)
        return;
    if (!late) {
        pool->late = 0;
        pool->next = LEAST_ALONE;
    } else if (++pool->late >= PATIENCE) {
        pool->late = PATIENCE - 1; // the next try decides
        pool->alone = pool->next;
        pool->next = pool->next < MOST_ALONE ? 2 * pool->next : MOST_ALONE;
    }
}

void tl_pool_run(tl_pool *pool, size_t n, void (*func)(void *arg, size_t i), void *arg)
{
    if (pool->alone > 0) {
        pool->alone--;
        for (size_t i = 0; i < n; i++)
            func(arg, i);
        return;
    }
    const uint64_t began = tl_clock();
    work w = {func, arg, &this_thread, began};
    // With PTHREADPOOL_FLAG_YIELD_WORKERS they would sleep at once, and each layer wake them anew.
    pthreadpool_parallelize_1d(pool->threads, run_item, &w, n, 0);
    learn(pool, is_late(&w, began));
}
