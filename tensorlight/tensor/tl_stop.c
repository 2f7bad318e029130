// SPDX-License-Identifier: Apache-2.0
// Requests to stop: a flag and a deadline that any thread may set.
//
// Without a deadline, a check reads two words; with one, also the clock.

#include "tensor/tl_stop.h"

#include <stdatomic.h>

#include "tensorlight/tl_util.h"

// A deadline that no clock reaches: checks are counted instead.
#define COUNTED UINT64_MAX

typedef struct counter {
    atomic_size_t done;
    size_t last; // the check that requests the stop, or 0
} counter;

struct tl_stop {
    atomic_int is_requested;
    _Atomic uint64_t deadline; // on tl_clock(), 0: none, COUNTED: see `checks`
    counter *checks;           // NULL but in tests
};

tl_stop *tl_stop_create(void)
{
    tl_stop *const stop = tl_alloc(sizeof(*stop));
    if (!stop)
        return NULL;
    atomic_init(&stop->is_requested, 0);
    atomic_init(&stop->deadline, 0);
    stop->checks = NULL;
    return stop;
}

void tl_stop_free(tl_stop *stop)
{
    if (!stop)
        return;
    tl_free(stop->checks);
    tl_free(stop);
}

void tl_stop_request(tl_stop *stop)
{
    atomic_store(&stop->is_requested, 1);
}

void tl_stop_set_deadline(tl_stop *stop, uint64_t ns)
{
    atomic_store(&stop->deadline, ns < COUNTED ? ns : COUNTED - 1);
}

void tl_stop_clear(tl_stop *stop)
{
    atomic_store(&stop->is_requested, 0);
    atomic_store(&stop->deadline, 0);
}

int tl_stop_is_requested(const tl_stop *stop)
{
    if (!stop)
        return 0;
    if (atomic_load_explicit(&stop->is_requested, memory_order_relaxed))
        return 1;
    const uint64_t deadline = atomic_load_explicit(&stop->deadline, memory_order_relaxed);
    if (deadline == 0)
        return 0;
    if (deadline != COUNTED)
        return tl_clock() >= deadline;
    const size_t done = atomic_fetch_add(&stop->checks->done, 1) + 1;
    return stop->checks->last && done >= stop->checks->last;
}

void tl_stop_request_at(tl_stop *stop, size_t n)
{
    if (!stop->checks)
        stop->checks = tl_alloc(sizeof(*stop->checks));
    if (!stop->checks)
        return;
    atomic_init(&stop->checks->done, 0);
    stop->checks->last = n;
    atomic_store(&stop->deadline, COUNTED);
}

size_t tl_stop_checks(const tl_stop *stop)
{
    return stop->checks ? atomic_load(&stop->checks->done) : 0;
}
