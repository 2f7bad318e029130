// SPDX-License-Identifier: Apache-2.0
// Slabs: see ln_slab.h. Each is filled from its beginning to its end, and holes are not reused:
// rewriting frees objects in the order of their creation, so that whole slabs become free.

#include "base/ln_slab.h"

#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

#include "base/ln_budget.h"
#include "lightnet/ln_util.h"

#if defined(__SANITIZE_ADDRESS__)
#define EACH_ALONE 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define EACH_ALONE 1
#endif
#endif
#ifndef EACH_ALONE
#define EACH_ALONE 0
#endif

enum {
    ALIGNMENT = 8,
    FIRST_SIZE = 1 << 10, // for small models; each further slab has twice the size
    MAX_SIZE = 1 << 14,
    PARTS = 8, // an object has at most 1 / PARTS of the largest slab
};

struct ln_slab {
    // Live objects; while the slab is filled, also RESERVED - n_made for further ones. So adding an
    // object changes only n_made, which no other thread reads.
    atomic_size_t references;
    size_t n_made;
    size_t used, size; // bytes, of `bytes`
    ln_slab_kind kind;
    _Alignas(ALIGNMENT) unsigned char bytes[];
};

#define RESERVED (SIZE_MAX / 2)

static void drop(ln_slab *slab, size_t n)
{
    if (atomic_fetch_sub_explicit(&slab->references, n, memory_order_acq_rel) == n)
        ln_free(slab);
}

// Ends filling: drops the references that no object has.
static void close_slab(ln_slab *slab)
{
    if (slab)
        drop(slab, RESERVED - slab->n_made);
}

// Reuses a slab from its beginning if all its objects are freed. Returns whether it does.
static int reuse_if_empty(ln_slab *slab)
{
    const size_t n = RESERVED - slab->n_made;
    if (atomic_load_explicit(&slab->references, memory_order_acquire) != n)
        return 0;
    atomic_store_explicit(&slab->references, RESERVED, memory_order_relaxed);
    slab->n_made = slab->used = 0;
    return 1;
}

static size_t round_up(size_t size)
{
    return (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

// The slab with room for `size` bytes; NULL: no memory.
static ln_slab *slab_for(ln_slabs *slabs, ln_slab_kind kind, size_t size)
{
    ln_slab **filling = &slabs->filling[kind];
    if (*filling && (*filling)->size - (*filling)->used >= size)
        return *filling;
    if (*filling && (*filling)->size >= size && reuse_if_empty(*filling))
        return *filling;
    size_t next_size = *filling ? 2 * ((*filling)->size + sizeof(**filling)) : FIRST_SIZE;
    while (next_size < PARTS * size)
        next_size *= 2;
    if (next_size > MAX_SIZE)
        next_size = MAX_SIZE;
    ln_slab *slab = ln_alloc(next_size);
    if (!slab)
        return NULL;
    atomic_init(&slab->references, RESERVED);
    slab->size = next_size - sizeof(*slab);
    slab->kind = kind;
    close_slab(*filling);
    *filling = slab;
    return slab;
}

void *ln_slab_alloc(ln_slab_kind kind, size_t size, ln_slab **home)
{
    ln_slabs *slabs = ln_budget_slabs();
    size = round_up(size);
    *home = NULL;
    if (EACH_ALONE || !slabs || size > MAX_SIZE / PARTS)
        return ln_alloc(size);
    ln_slab *slab = slab_for(slabs, kind, size);
    if (!slab)
        return NULL;
    void *object = memset(slab->bytes + slab->used, 0, size);
    slab->used += size;
    slab->n_made++;
    *home = slab;
    return object;
}

void ln_slab_free(void *object, size_t size, ln_slab *home)
{
    if (!home) {
        ln_free(object);
        return;
    }
    const ln_slabs *slabs = ln_budget_slabs();
    const int is_filled_now = slabs && slabs->filling[home->kind] == home;
    // Reuses the memory of the last object, such as a temporary one.
    size = round_up(size);
    if (size && is_filled_now && (unsigned char *)object + size == home->bytes + home->used) {
        home->used -= size;
        home->n_made--;
        return;
    }
    drop(home, 1);
}

void ln_slabs_close(ln_slabs *slabs)
{
    for (int kind = 0; kind < LN_SLAB_KINDS; kind++) {
        close_slab(slabs->filling[kind]);
        slabs->filling[kind] = NULL;
    }
}
