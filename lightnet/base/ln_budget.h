// SPDX-License-Identifier: Apache-2.0
// A budget of memory: what the calling thread allocates counts against one, while it is in use.
//
//     ln_budget *before = ln_budget_use(&budget);
//     ... ln_alloc, ln_realloc, ln_free ...
//     ln_budget_use(before);

#ifndef LN_BUDGET_H
#define LN_BUDGET_H

#include <stddef.h>

typedef struct ln_budget {
    size_t limit;   /* bytes; 0: none, and nothing is counted */
    size_t held;    /* bytes that are allocated */
    size_t refused; /* the size of the first allocation that was too large since it was set to 0 */
    struct ln_slabs *slabs; /* for small objects (base/ln_slab.h); NULL: none */
} ln_budget;

/** From now on allocations of this thread count against `budget` (keeps), or against none (NULL).
 *  Returns the one before. */
ln_budget *ln_budget_use(ln_budget *budget);

/** The slabs of the budget in use, or NULL. */
struct ln_slabs *ln_budget_slabs(void);

/** Counts `size` bytes no longer. */
void ln_budget_give(ln_budget *budget, size_t size);

/* For ln_alloc and its kin: the budget in use. */

/** Whether memory counts that is not taken explicitly: the sizes of what malloc gave are known. */
int ln_budget_knows_sizes(void);

/** Whether `size` bytes more fit. */
int ln_budget_allows(size_t size);

/** Counts memory that malloc gave; NULL: nothing. Returns it. */
void *ln_budget_count(void *ptr);

/** Counts no longer what is about to be freed; NULL: nothing. */
void ln_budget_uncount(void *ptr);

#endif
