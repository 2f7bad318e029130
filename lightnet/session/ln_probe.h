// SPDX-License-Identifier: Apache-2.0
// Runs that are invented for a model, to see which sizes it accepts: nothing is loaded.
//
// A model accepts lengths only if those that have to be sums of others are (a mask as long as a
// cache and the new tokens). Prime numbers for all sizes show whether there is such a sum.

#pragma once

#include <stdint.h>

#include "session/ln_model.h"
#include "session/ln_program.h"

/** The max number of open sizes. */
enum {
    LN_PROBE_SIZES = 64,
    LN_PROBE_CONSTANT = 1 << 20, // max constant of a sum
};

/** The sum of `n` other sizes, independent ones, and a constant; n 0: none. */
typedef struct ln_probe_sum {
    int n, terms[2], constant;
} ln_probe_sum;

/** An open size of the inputs; "x[1]" is axis 1 of input x, without a name. */
typedef struct ln_probe_size {
    ln_axis at; // its first axis
    char name[LN_MAX_NAME_LEN];
    ln_probe_sum sum; // that it has to be; without one, it is independent
    int len;          // in the current run
} ln_probe_size;

/** An error, and the operator that causes it; op and optype "": none, or unknown. */
typedef struct ln_culprit {
    char op[LN_MAX_NAME_LEN], optype[LN_MAX_NAME_LEN], reason[LN_MAXLINE];
} ln_culprit;

typedef struct ln_probe {
    const ln_model *model;
    uint64_t began; // on tl_clock()
    ln_probe_size sizes[LN_PROBE_SIZES];
    int n_sizes;
    int scale;              // of lengths, except of batches (axis 0)
    int wants_values;       // the model cannot be read without values of inputs
    int is_late;            // the time limit was reached
    int has_no_memory;      // an allocation failed, not by a limit: results may be wrong
    unsigned long failures; // before the current program was created
    ln_value *values;       // of the current run, for each input of the interface
    ln_culprit culprit;     // of the last failure
} ln_probe;

/** Begins, without sums. -1: no memory, too many open sizes, or the number of dimensions of an
 * input is unknown. */
int ln_probe_init(ln_probe *p, const ln_model *model);

/** Frees what it has allocated. */
void ln_probe_clear(ln_probe *p);

/** Sets the values to prime numbers, ascending or descending; to those of a run (from 0) in which
 * the independent size `opened` (-1: all) has another length than in other runs, and others are 1.
 * Bounds hold, and sums. */
void ln_probe_set_primes(ln_probe *p, int is_descending);
void ln_probe_set_run(ln_probe *p, int opened, int run);

/** Returns new (ln_program_free), without messages; NULL with `has_no_memory`. */
ln_program *ln_probe_create(ln_probe *p);

/** Notes failed allocations, unless a limit was reached, and the culprit if `status`, of reading or
 * compiling, is not 0. Returns it. */
int ln_probe_note(ln_probe *p, const ln_context *ctx, int status);

/** Reads the model for the current values. Returns new (ln_program_free); NULL with the culprit: it
 * rejects them. */
ln_program *ln_probe_read(ln_probe *p);

/** Finds the scale, and the sums that the model needs (ln_probe_sums.c). Without sums and lengths
 * that it accepts, all sizes are independent. */
void ln_probe_find_sums(ln_probe *p);

/** Whether a size is independent. */
int ln_probe_is_independent(const ln_probe *p, int i);
