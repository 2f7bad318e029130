// SPDX-License-Identifier: Apache-2.0
// Slabs: objects of one kind, which are walked one after the other, lie one behind the other.
//
// A model has a dozen objects for each operator. Where malloc has them side by side, a walk over
// all operators that needs one of the dozen touches another page for each, and a model that exceeds
// the caches is slow. In slabs the processor sees a stream of addresses and fetches ahead.
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

#ifndef LN_SLAB_H
#define LN_SLAB_H

#include <stddef.h>

/** What is walked together. */
typedef enum ln_slab_kind {
    LN_SLAB_LIST_NODES,
    LN_SLAB_OPS,
    LN_SLAB_TENSORS,      /* tensor entries */
    LN_SLAB_TENSOR_LISTS, /* entries of tensor lists */
    LN_SLAB_PARAMS,
    LN_SLAB_VALUES,
    LN_SLAB_GRAPH_NODES,
    LN_SLAB_GRAPH_EDGES,
    LN_SLAB_PORTS,
    LN_SLAB_KINDS
} ln_slab_kind;

typedef struct ln_slab ln_slab;

/** The slabs that are being filled; zeroed: none yet. */
typedef struct ln_slabs {
    ln_slab *filling[LN_SLAB_KINDS];
} ln_slabs;

/** Returns new (ln_slab_free): `size` zero bytes, aligned for pointers and doubles. *home: what
 * ln_slab_free is given. NULL with a reason: no memory. */
void *ln_slab_alloc(ln_slab_kind kind, size_t size, ln_slab **home);

/** Frees an object. size: as it was allocated, so that the next one can take its place if it was
 * the last; or 0, where that is not known. NULL is ignored. */
void ln_slab_free(void *object, size_t size, ln_slab *home);

/** Nothing is put into the slabs any more; each is freed with its last object. */
void ln_slabs_close(ln_slabs *slabs);

#endif
