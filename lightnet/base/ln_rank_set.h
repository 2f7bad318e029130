// SPDX-License-Identifier: Apache-2.0
// A set of numbers below a bound, which finds the neighbours of a number: O(log n) each.

#pragma once

#include <stddef.h>
#include <stdint.h>

enum { LN_RANK_SET_LEVELS = 11 }; // 64^11 exceeds a size_t

/** Level 0 has a bit for each number; each bit of a further level is set if its word of the level
 * below is not 0. */
typedef struct ln_rank_set {
    uint64_t *levels[LN_RANK_SET_LEVELS];
    int n_levels;
    size_t n;
} ln_rank_set;

/** No neighbour. */
#define LN_RANK_NONE SIZE_MAX

/** Creates an empty set of numbers below `n` (ln_rank_set_end). -1 with the thread's last error: no
 * memory; it is ended then. */
int ln_rank_set_begin(ln_rank_set *set, size_t n);

void ln_rank_set_end(ln_rank_set *set);

/** `rank` is below the bound; adding a member, or removing a non-member, changes nothing. */
void ln_rank_set_add(ln_rank_set *set, size_t rank);
void ln_rank_set_remove(ln_rank_set *set, size_t rank);

/** The max member below `rank`, and the min member above it; or LN_RANK_NONE. */
size_t ln_rank_set_below(const ln_rank_set *set, size_t rank);
size_t ln_rank_set_above(const ln_rank_set *set, size_t rank);
