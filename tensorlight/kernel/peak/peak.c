// SPDX-License-Identifier: Apache-2.0
// What the machine can do at most: arithmetic in registers, copies of large memory.

#include "kernel/peak/peak.h"

#include <string.h>
#include <time.h>

#include "tensorlight/tl_peak.h"
#include "tensorlight/tl_util.h"

#define TL_KERNEL(name, dtype, isa) [isa][dtype] = name,
static tl_peak_func *const table[TL_ISA_SIZE][TL_DTYPE_SIZE] = {
#include "kernel/peak/peak.def"
};
#undef TL_KERNEL
TL_KERNEL_PICK(pick, tl_peak_func, table)

enum {
    ROUNDS = 1 << 17,             // about a millisecond
    TRIES = 20,                   // the best counts: the others were interrupted
    COPY_TRIES = 6,               // of which the first finds new memory
    COPY_SIZE = 64 * 1024 * 1024, // more than the caches hold
};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/** The shortest time of `tries` calls of tl_parallel: one unit for each thread. */
static double least_seconds(const tl_exec *exec, int threads, tl_range_func func, void *arg,
                            int tries)
{
    double least = 0;
    for (int i = 0; i < tries; i++) {
        const double start = now();
        tl_parallel(exec, (size_t)threads, 1, func, arg);
        const double seconds = now() - start;
        if (i == 0 || seconds < least)
            least = seconds;
    }
    return least;
}

static int threads_of(const tl_exec *exec)
{
    return tl_pool_size(exec ? exec->pool : NULL);
}

/* ---- arithmetic ---- */

static void compute(void *arg, size_t begin, size_t end)
{
    tl_peak_func *const *const func = arg;
    for (size_t i = begin; i < end; i++) {
        float result;
        (*func)(ROUNDS, 0.5f, 0.5f, &result);
    }
}

double tl_peak_flops(const tl_exec *exec)
{
    const int threads = threads_of(exec);
    tl_peak_func *func = pick(exec, TL_FLOAT);
    float result;
    const double flops = func(ROUNDS, 0.5f, 0.5f, &result);
    return flops * threads / least_seconds(exec, threads, compute, &func, TRIES);
}

/* ---- memory ---- */

typedef struct copying {
    char *from, *to;
    size_t share; // bytes of a unit
} copying;

static void copy(void *arg, size_t begin, size_t end)
{
    const copying *const c = arg;
    memcpy(c->to + begin * c->share, c->from + begin * c->share, (end - begin) * c->share);
}

double tl_peak_bandwidth(const tl_exec *exec)
{
    const int threads = threads_of(exec);
    copying c = {tl_alloc(COPY_SIZE), tl_alloc(COPY_SIZE), COPY_SIZE / (size_t)threads};
    double bandwidth = 0;
    if (c.from && c.to) {
        memset(c.from, 1, COPY_SIZE); // pages that were never written are all the same one
        bandwidth = 2.0 * (double)(c.share * (size_t)threads) /
                    least_seconds(exec, threads, copy, &c, COPY_TRIES);
    }
    tl_free(c.from);
    tl_free(c.to);
    return bandwidth;
}
