// SPDX-License-Identifier: Apache-2.0
// The limits of a call: counts the allocations of the calling thread while the budget is in use,
// and stops readers beyond a limit.
//
//     ln_budget *before = ln_budget_use(&budget);
//     ... ln_alloc, ln_realloc, ln_free ...
//     ln_budget_use(before);

#pragma once

#include <stddef.h>

#include "lightnet/ln_msg.h"

/** Whether to stop: LN_OK to continue, or the status, with the reason as text unless it is NULL. */
typedef ln_status (*ln_budget_stop_func)(void *data, char *reason, size_t size);

typedef struct ln_budget {
    size_t limit;    // the max bytes; 0: no limit, and nothing is counted
    size_t held;     // bytes that are allocated
    size_t rejected; // the size of the first allocation that did not fit since this was set to 0
    struct ln_slabs *slabs;   // for small objects (base/ln_slab.h); NULL: none
    ln_budget_stop_func stop; // NULL: nothing stops the call
    void *stop_data;
} ln_budget;

/** From now on counts allocations of this thread in `budget` (keeps), or in none (NULL). Returns
 * the one before. */
ln_budget *ln_budget_use(ln_budget *budget);

/** The slabs of the budget in use, or NULL. */
struct ln_slabs *ln_budget_slabs(void);

/** Whether the call has to stop. Loops whose length only the input determines ask from time to
 * time; a call costs about as much as reading the clock. */
int ln_budget_is_over(void);

/** As ln_budget_is_over: 0, or -1 with the reason. */
int ln_budget_check(ln_error *err);

/** Stops counting `size` bytes. */
void ln_budget_give(ln_budget *budget, size_t size);

// For ln_alloc and its kin: the budget in use.

/** Whether memory that libraries allocate counts, too: malloc reports sizes of allocations. */
int ln_budget_knows_sizes(void);

/** Whether `size` more bytes fit. */
int ln_budget_allows(size_t size);

/** Counts memory from malloc; NULL: nothing. Returns it. */
void *ln_budget_count(void *ptr);

/** Stops counting memory before it is freed; NULL: nothing. */
void ln_budget_uncount(void *ptr);
