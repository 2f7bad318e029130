// SPDX-License-Identifier: Apache-2.0
// Comparison of tensors within a tolerance, and of indices of elements that tie.

#ifndef CLI_COMPARE_H
#define CLI_COMPARE_H

#include "cli_options.h"
#include "lightnet/lightnet.h"

typedef struct difference {
    double abs; // largest absolute difference
    double rel; // the same, relative to the scale
    int index;  // of the first element outside the tolerance, -1: none
    double got, expected;
} difference;

/* The max difference from the expected number: atol + rtol * scale. */
typedef struct tolerance {
    double rtol; // below 0: integers must be the same
    double atol;
    double scale; // 0: the magnitude of each expected number
} tolerance;

/** Element `i` of the tensor, whatever its dtype. */
double cli_element(const tl_tensor *t, int i);

/** The tolerance for a stored result: --rtol, or else the default of the type. */
tolerance cli_stored_tolerance(const cli_options *opt, tl_dtype dtype);

/** The tolerance for the result of another program, relative to the max element of the tensor.
 * `is_coarse`: it is computed from 16-bit floats and has their accuracy. */
tolerance cli_reference_tolerance(const cli_options *opt, const tl_tensor *expected, int is_coarse);

/** Compares the elements of two tensors of one type and shape. */
void cli_compare(const tl_tensor *got, const tl_tensor *expected, const tolerance *tol,
                 difference *diff);

/** Whether the numbers agree. Equal infinities do, and NaN with NaN. */
int cli_agree(double got, double expected, const tolerance *tol);

/* ---- ties ---- */

/* Indices from sorting: where keys are equal but for rounding, two programs may order them
 * differently, and both are right. */

/** Whether output `name` of `op`, an operator of `ctx`, holds indices (or values moved along with
 * keys) that are those of `reference` but for the order of elements that agree. They become those
 * of `reference` then, so that what is computed from them can be compared. */
int cli_ties_take_over(ln_context *ctx, ln_context *reference, const cli_options *opt,
                       const ln_op *op, const char *name);

#endif
