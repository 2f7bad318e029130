// SPDX-License-Identifier: Apache-2.0
// The thread pool: pthreadpool, with workers that wait awake for a while before they sleep.
//
// The library waits for every worker, also for one that has not begun since another process has
// its core, and whose work others have done: each layer of a network then takes a time slice of the
// system. So such waiting is noticed, and some work that follows is done by the calling thread
// alone. Nor does a pool begin more threads than there are cores: the work of the others is done by
// those there are.

#include "tensor/tl_pool.h"

#include <pthreadpool.h>
#include <stdatomic.h>

#include "tensorlight/tl_util.h"

enum {
    LATE = 1000000,    /* nanoseconds for which nothing but threads must be missing */
    LATE_TIMES = 2,    /* and how many times what the work took */
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

typedef struct work {
    void (*func)(void *arg, size_t i);
    void *arg;
    _Alignas(64) _Atomic uint64_t ended; /* when the last item was done, whoever did it */
} work;

static void run_item(void *context, size_t i)
{
    work *const w = context;
    w->func(w->arg, i);
    w->ended = tl_clock();
}

/** Whether all was done long before all threads had come: a thread that works long is not late. */
static int is_late(work *w, uint64_t began)
{
    const uint64_t ended = w->ended, waited = tl_clock() - ended;
    return waited > LATE && waited > LATE_TIMES * (ended - began);
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
    work w = {func, arg, began};
    // With PTHREADPOOL_FLAG_YIELD_WORKERS they would sleep at once, and each layer wake them anew.
    pthreadpool_parallelize_1d(pool->threads, run_item, &w, n, 0);
    learn(pool, is_late(&w, began));
}
