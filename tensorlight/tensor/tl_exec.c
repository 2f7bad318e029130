// SPDX-License-Identifier: Apache-2.0
// Work split among threads.

#include "tensorlight/tl_exec.h"

#include <stdatomic.h>

#include "tensor/tl_pool.h"

// Splitting

// More parts than threads, so that others execute the share of a late thread.
enum { PARTS_PER_THREAD = 4 };

// Grains between two checks for a stop: some tenths of a millisecond of most kernels.
enum { GRAINS_PER_CHECK = 64 };

typedef struct split {
    tl_range_func func;
    void *arg;
    size_t n, parts;
    const tl_stop *stop;
    size_t piece; // units between two checks for a stop
} split;

// The first unit of part `i`: the parts differ by one unit at most.
static size_t part_begin(const split *s, size_t i)
{
    const size_t rest = s->n % s->parts;
    return s->n / s->parts * i + (i < rest ? i : rest);
}

static void run_pieces(const split *s, size_t begin, size_t end)
{
    for (size_t next; begin < end && !tl_stop_is_requested(s->stop); begin = next) {
        next = end - begin > s->piece ? begin + s->piece : end;
        s->func(s->arg, begin, next);
    }
}

static void run_part(void *context, size_t i)
{
    const split *const s = context;
    run_pieces(s, part_begin(s, i), part_begin(s, i + 1));
}

void tl_parallel(const tl_exec *exec, size_t n, size_t grain, tl_range_func func, void *arg)
{
    const size_t max = (size_t)tl_pool_size(exec ? exec->pool : NULL) * PARTS_PER_THREAD;
    const size_t min = grain ? grain : 1, fit = n / min;
    split s = {func, arg, n, fit < max ? fit : max, exec ? exec->stop : NULL, n};
    if (s.stop && min < n / GRAINS_PER_CHECK)
        s.piece = min * GRAINS_PER_CHECK;
    if (max == PARTS_PER_THREAD || s.parts <= 1 || tl_pool_is_inside())
        run_pieces(&s, 0, n);
    else
        tl_pool_run(exec->pool, s.parts, run_part, &s);
}

// The units that a slot executes first; others help to finish them.
typedef struct share {
    atomic_size_t next;
    size_t end;
} share;

typedef struct shares {
    tl_slot_func func;
    void *arg;
    size_t slots;
    const tl_stop *stop;
    share of[TL_MAX_SLOTS];
} shares;

// First the slot's own units, then those that others have not begun.
static void run_slot(void *context, size_t slot)
{
    shares *const all = context;
    for (size_t k = 0; k < all->slots; k++) {
        share *const s = &all->of[(slot + k) % all->slots];
        while (atomic_load(&s->next) < s->end && !tl_stop_is_requested(all->stop)) {
            const size_t i = atomic_fetch_add(&s->next, 1);
            if (i < s->end)
                all->func(all->arg, slot, i, i + 1);
        }
    }
}

// Without a stop, all at once: a kernel may reuse results from unit to unit.
static void run_alone(const shares *all, size_t n)
{
    if (!all->stop && n > 0)
        all->func(all->arg, 0, 0, n);
    for (size_t i = 0; all->stop && i < n && !tl_stop_is_requested(all->stop); i++)
        all->func(all->arg, 0, i, i + 1);
}

void tl_parallel_slots(const tl_exec *exec, size_t n, size_t n_slots, tl_slot_func func, void *arg)
{
    const size_t threads = (size_t)tl_pool_size(exec ? exec->pool : NULL);
    shares all = {.func = func,
                  .arg = arg,
                  .slots = n_slots < threads ? n_slots : threads,
                  .stop = exec ? exec->stop : NULL};
    all.slots = all.slots < n ? all.slots : n;
    all.slots = all.slots < TL_MAX_SLOTS ? all.slots : TL_MAX_SLOTS;
    if (all.slots <= 1 || tl_pool_is_inside()) {
        run_alone(&all, n);
        return;
    }
    const split s = {.n = n, .parts = all.slots};
    for (size_t i = 0; i < all.slots; i++)
        all.of[i] = (share){part_begin(&s, i), part_begin(&s, i + 1)};
    tl_pool_run(exec->pool, all.slots, run_slot, &all);
}
