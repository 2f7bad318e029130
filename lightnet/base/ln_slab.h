// SPDX-License-Identifier: Apache-2.0
// Slabs: contiguous memory for objects of one kind that are walked in order.
//
// A model has a dozen objects for each operator. If malloc places them side by side, a walk over
// all operators that reads one of the dozen touches another page for each, and a model that exceeds
// the caches is slow. In slabs the CPU sees a stream of addresses and prefetches.
//
//     struct thing { ln_slab *home; ... };
//     ln_slab *home;
//     struct thing *thing = ln_slab_alloc(LN_SLAB_OPS, sizeof(*thing), &home);
//     thing->home = home;
//     ln_slab_free(thing, 0, thing->home);
//
// The slabs that are being filled belong to the budget in use (base/ln_budget.h), which each
// context has; without one, and under a sanitizer that watches each object, objects come from
// ln_alloc. A slab is freed with its last object, on any thread.

#pragma once

#include <stddef.h>

/** The kinds of objects that are walked together. */
typedef enum ln_slab_kind {
    LN_SLAB_LIST_NODES,
    LN_SLAB_OPS,
    LN_SLAB_TENSORS,      // tensor entries
    LN_SLAB_TENSOR_LISTS, // entries of tensor lists
    LN_SLAB_PARAMS,
    LN_SLAB_VALUES,
    LN_SLAB_GRAPH_NODES,
    LN_SLAB_GRAPH_EDGES,
    LN_SLAB_USES,
    LN_SLAB_KINDS
} ln_slab_kind;

typedef struct ln_slab ln_slab;

/** The slabs that are being filled; zeroed: none yet. */
typedef struct ln_slabs {
    ln_slab *filling[LN_SLAB_KINDS];
} ln_slabs;

/** Returns new (ln_slab_free): `size` zero bytes, aligned for pointers and doubles. *home: the
 * slab, for ln_slab_free. NULL with a reason: no memory. */
void *ln_slab_alloc(ln_slab_kind kind, size_t size, ln_slab **home);

/** Frees an object. size: as allocated, so that the next object can reuse its memory if it was the
 * last one; or 0 if unknown. Ignores NULL. */
void ln_slab_free(void *object, size_t size, ln_slab *home);

/** Ends allocation in the slabs; each is freed with its last object. */
void ln_slabs_close(ln_slabs *slabs);
