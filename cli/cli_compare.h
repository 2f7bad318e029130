// SPDX-License-Identifier: Apache-2.0
// How far numbers may differ: elements of tensors, and indices of elements that tie.

#ifndef CLI_COMPARE_H
#define CLI_COMPARE_H

#include "cli_options.h"
#include "lightnet/lightnet.h"

typedef struct difference {
    double abs; // largest absolute difference
    double rel; // the same, as a part of the scale
    int index;  // of the first element outside the tolerance, -1: none
    double got, expected;
} difference;

/* How far a number may be from the expected one: atol + rtol * scale. */
typedef struct tolerance {
    double rtol; // below 0: integers must be the same
    double atol;
    double scale; // 0: the magnitude of each expected number
} tolerance;

/** Element `i` of the tensor, whatever its dtype. */
double cli_element(const tl_tensor *t, int i);

/** Of a stored result: what --rtol says, or else what the type can hold. */
tolerance cli_stored_tolerance(const cli_options *opt, tl_dtype dtype);

/** Of the result of another program: relative to the largest number of the tensor. `is_coarse`: it
 * is computed from 16-bit floats, so it is no more accurate than these. */
tolerance cli_reference_tolerance(const cli_options *opt, const tl_tensor *expected, int is_coarse);

/** Compares the elements of two tensors of one type and shape. */
void cli_compare(const tl_tensor *got, const tl_tensor *expected, const tolerance *tol,
                 difference *diff);

/** Whether the numbers agree. Equal infinities do, and NaN with NaN. */
int cli_agree(double got, double expected, const tolerance *tol);

#endif
