// SPDX-License-Identifier: Apache-2.0
// Sizes of a model that change from run to run, the shapes of new programs, and rejected inputs.
//
// A size with a few values gets a program for each. One that has changed repeatedly is left open:
// its program supports sizes up to a capacity: the next power of two; for small inputs at least
// 256; for a cache that grows, at least an eighth more than it has. A batch of one row, the most
// common one, still has a program of its own: mobilenet_v2 is 5 % faster than with buffers as far
// apart as a large batch needs. A program for open sizes must use the same kernels as one for fixed
// shapes; otherwise, or if the model cannot be read with open sizes, all programs are for fixed
// shapes.
//
// A program may rely on a sum of sizes that held in the last runs (ln_changes.h); it does not fit a
// run in which the sum does not hold.

#pragma once

#include <stddef.h>
#include <stdint.h>

#include "lightnet/ln_context.h"
#include "lightnet/ln_msg.h"
#include "lightnet/ln_util.h"
#include "session/ln_changes.h"
#include "session/ln_value.h"

/** The shapes of one input. Sizes that last changed by the same `steps` grow together, as a cache
 * and its mask, so their capacities allow the same growth. */
typedef struct ln_range {
    int min[LN_MAXDIM], max[LN_MAXDIM];
    int steps[LN_MAXDIM];
    ln_sum sums[LN_MAXDIM];
} ln_range;

/** The shapes for a new program, with capacities of at most `max` (0: any) if the values are not
 * larger. Returns whether any size is open. */
int ln_ranges_choose(ln_range *ranges, ln_changes *changes, ln_port *const *ports,
                     const ln_value *values, size_t n, int max);

/** Halves the capacities, as far as the values allow. Returns the max remaining one; 0: they could
 * not be halved. */
int ln_ranges_halve(ln_range *ranges, const ln_value *values, size_t n);

/** Whether the `n` input values have shapes within the ranges, and sums hold. */
int ln_ranges_have(const ln_range *ranges, const ln_value *made_for, const ln_value *values,
                   size_t n);

/** The names of the sizes of input `i` (ln_bind_name_sizes): equal ones are equal sizes. They are
 * in `text`; `names` has a pointer for each axis. */
enum { LN_SUM_LEN = 64 };
void ln_ranges_name(const ln_range *ranges, int i, int ndim, char text[LN_MAXDIM][LN_SUM_LEN],
                    const char *names[LN_MAXDIM]);

/** Whether a size is open. */
int ln_range_is_open(const ln_range *range, int ndim);

/** The kernels of a program: a hash of the types with multiply-accumulates, and the number of
 * others that write more than vectors, except on sizes, which a fixed program runs at load. */
typedef struct ln_kernels {
    uint64_t products;
    int n;
} ln_kernels;

ln_kernels ln_kernels_of(const ln_context *ctx);

/** Whether an open program with the kernels `open` is as good as a fixed one. */
int ln_kernels_suffice(const ln_kernels *open, const ln_kernels *fixed);

/** The first operator with multiply-accumulates of whose type `ctx` has more than `other`; NULL:
 * none. Returns borrowed. */
const ln_op *ln_kernels_find_other(const ln_context *ctx, const ln_context *other);

// Rejections

// Inputs that a model has rejected: sizes, and data that fails a check in a run. Programs for open
// sizes may fail where one for fixed sizes does not, so each failure is retried with fixed ones.
// Inputs that fail there, too, are not retried again.

enum { LN_MAX_REJECTIONS = 32 };

/** The most recent ones; all zero: none. */
typedef struct ln_rejections {
    uint64_t keys[LN_MAX_REJECTIONS];
    unsigned n; // the number of records so far
} ln_rejections;

/** The key of the sizes of `n` input values. */
uint64_t ln_rejection_of_sizes(const ln_value *values, size_t n);

/** The key of a check in a run: the file, the operator, and the reason without its numbers. */
uint64_t ln_rejection_of_check(const ln_error *err);

/** Whether two programs failed in the same check: the reasons are equal except for numbers. Names
 * of operators may differ. */
int ln_rejection_is_same_check(const ln_error *a, const ln_error *b);

void ln_rejections_note(ln_rejections *rejections, uint64_t key);

int ln_rejections_have(const ln_rejections *rejections, uint64_t key);
