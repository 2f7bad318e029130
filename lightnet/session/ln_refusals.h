// SPDX-License-Identifier: Apache-2.0
// What a model has been found to refuse: sizes, and data that a check of a run finds bad. Programs
// for open sizes may fail where one for fixed sizes does not, so each failure is tried with fixed
// ones. What fails there, too, need not be tried again.

#ifndef LN_REFUSALS_H
#define LN_REFUSALS_H

#include <stddef.h>
#include <stdint.h>

#include "lightnet/ln_msg.h"
#include "session/ln_value.h"

enum { LN_MOST_REFUSALS = 32 };

/* The last ones; all zero: none. */
typedef struct ln_refusals {
    uint64_t keys[LN_MOST_REFUSALS];
    unsigned n; /* that there have been */
} ln_refusals;

/** The key of the sizes of `n` values. */
uint64_t ln_refusal_of_sizes(const ln_value *values, size_t n);

/** The key of a check in a run: the file, the operator, and what is wrong but for its numbers. */
uint64_t ln_refusal_of_check(const ln_error *err);

/** Whether two programs failed in the same check: the reasons are the same but for their numbers.
 * The operators may have other names. */
int ln_refusal_is_same_check(const ln_error *a, const ln_error *b);

void ln_refusals_note(ln_refusals *refusals, uint64_t key);

int ln_refusals_have(const ln_refusals *refusals, uint64_t key);

#endif
