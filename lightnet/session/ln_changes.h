// SPDX-License-Identifier: Apache-2.0
// How the sizes of a model's inputs change from run to run, and which are sums of others.
//
// Sizes depend on each other: those of one name are equal, and a decoder's mask is as long as its
// cache and the new tokens together. A sum counts as known while it holds in the last runs, at
// least two of which differ.

#pragma once

#include <stddef.h>

#include "front/ln_interface.h"
#include "lightnet/ln_util.h"
#include "session/ln_value.h"

/** An axis of an input. */
typedef struct ln_axis {
    int input, axis;
} ln_axis;

/** The sum of other sizes that a size equals: n 0: none known; else of one or two axes, whose own
 * sums are unknown, and a constant. */
typedef struct ln_sum {
    int n;
    ln_axis terms[2];
    int constant;
} ln_sum;

/** The number of runs by which sums of sizes are found. */
enum { LN_PAST_RUNS = 4 };

/** The sizes of one input in the last runs for which a program was made, the last one first, how
 * often each changed from such a run to the next, and by how much at last. */
typedef struct ln_changes {
    int n_runs; // at most LN_PAST_RUNS
    int dims[LN_PAST_RUNS][LN_MAXDIM];
    int times[LN_MAXDIM];
    int steps[LN_MAXDIM];
    ln_sum sums[LN_MAXDIM]; // ln_changes_find_sums
} ln_changes;

/** Records that a program is needed for these input values, one for each of the `n` inputs. A
 * change within one session counts twice (`weight` 2). */
void ln_changes_note(ln_changes *changes, const ln_value *values, size_t n, int weight);

/** Finds the sums of open sizes by these runs; afterwards, changes of a size count for all that
 * equal it. `values`: the inputs of the last run. */
void ln_changes_find_sums(ln_changes *changes, ln_port *const *ports, const ln_value *values,
                          size_t n);
