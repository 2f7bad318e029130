// SPDX-License-Identifier: Apache-2.0
// Measures the machine's peak rates: arithmetic in registers, copies of large memory.

#include "kernel/peak_rates/peak_rates.h"

#include <math.h>
#include <string.h>

#include "tensorlight/tl_peak.h"
#include "tensorlight/tl_util.h"

TL_KERNEL_TABLE(pick, tl_peak_func, TL_PEAK_KERNELS)
TL_KERNEL_TABLE(pick_pairs, tl_peak_pairs_func, TL_PEAK_PAIRS_KERNELS)
TL_KERNEL_TABLE(pick_bytes, tl_peak_bytes_func, TL_PEAK_BYTES_KERNELS)

enum {
    ROUNDS = 1 << 17,             // about a millisecond
    TRIES = 20,                   // the min counts: others were interrupted
    COPY_SIZE = 64 * 1024 * 1024, // exceeds all caches
    PIECE_SIZE = 2 * 1024 * 1024, // bytes per thread of one measurement
    COPY_ROUNDS = 3,              // the first one faults in the pages
};

// Seconds of one unit per thread.
static double seconds_of(const tl_exec *exec, int threads, tl_range_func func, void *arg)
{
    const uint64_t start = tl_clock();
    tl_parallel(exec, (size_t)threads, 1, func, arg);
    return (double)(tl_clock() - start) * 1e-9;
}

static int threads_of(const tl_exec *exec)
{
    return tl_pool_size(exec ? exec->pool : NULL);
}

// Arithmetic

static void compute(void *arg, size_t begin, size_t end)
{
    tl_peak_func *const *const func = arg;
    for (size_t i = begin; i < end; i++) {
        float result;
        (*func)(ROUNDS, 0.5f, 0.5f, &result);
    }
}

// Operations per second of one unit of `work` per thread, `ops` operations each.
static double rate_of(const tl_exec *exec, double ops, tl_range_func work, void *arg)
{
    const int threads = threads_of(exec);
    double min = INFINITY;
    for (int i = 0; i < TRIES; i++)
        min = fmin(min, seconds_of(exec, threads, work, arg));
    return ops * threads / min;
}

double tl_peak_flops(const tl_exec *exec)
{
    tl_peak_func *func = pick(exec, TL_FLOAT);
    float result;
    return rate_of(exec, func(ROUNDS, 0.5f, 0.5f, &result), compute, &func);
}

double tl_peak_bfloat16_flops(const tl_exec *exec)
{
    tl_peak_pairs_func *func = pick_pairs(exec, TL_BFLOAT16);
    float result;
    return rate_of(exec, func(ROUNDS, 0.5f, 0.5f, &result), compute, &func);
}

static const uint8_t some_bytes[4] = {1, 0, 255, 3};
static const int8_t some_weights[64] = {1, -1, 2, -2};

static void compute_bytes(void *arg, size_t begin, size_t end)
{
    tl_peak_bytes_func *const *const func = arg;
    for (size_t i = begin; i < end; i++) {
        float result;
        (*func)(ROUNDS, some_bytes, some_weights, &result);
    }
}

double tl_peak_byte_ops(const tl_exec *exec)
{
    tl_peak_bytes_func *func = pick_bytes(exec, TL_UINT8);
    float result;
    return rate_of(exec, func(ROUNDS, some_bytes, some_weights, &result), compute_bytes, &func);
}

// Memory

typedef struct copy_job {
    const char *from;
    char *to;
    size_t share; // bytes per thread
} copy_job;

static void copy(void *arg, size_t begin, size_t end)
{
    const copy_job *const c = arg;
    memcpy(c->to + begin * c->share, c->from + begin * c->share, (end - begin) * c->share);
}

// The min time to copy a piece, over all offsets and rounds.
static double min_copy_seconds(const tl_exec *exec, int threads, const char *from, char *to,
                               size_t piece)
{
    double min = INFINITY;
    for (int i = 0; i < COPY_ROUNDS; i++)
        for (size_t at = 0; at + piece <= COPY_SIZE; at += piece) {
            copy_job c = {from + at, to + at, piece / (size_t)threads};
            min = fmin(min, seconds_of(exec, threads, copy, &c));
        }
    return min;
}

double tl_peak_bandwidth(const tl_exec *exec)
{
    const int threads = threads_of(exec);
    const size_t piece = tl_min_size((size_t)threads * PIECE_SIZE, COPY_SIZE);
    char *const from = tl_alloc(COPY_SIZE), *const to = tl_alloc(COPY_SIZE);
    double bandwidth = 0;
    if (from && to) {
        memset(from, 1, COPY_SIZE); // unwritten pages all share the zero page
        const size_t share = piece / (size_t)threads;
        bandwidth =
            2.0 * (double)share * threads / min_copy_seconds(exec, threads, from, to, piece);
    }
    tl_free(from);
    tl_free(to);
    return bandwidth;
}
