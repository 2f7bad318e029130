// SPDX-License-Identifier: Apache-2.0
// Comparison of tensors within a tolerance, and of indices of equal elements.

#pragma once

#include "lightnet/lightnet.h"

/** --rtol and --atol; below 0: not given. */
typedef struct cli_tolerances {
    double rtol; // the default depends on the type and on the comparison
    double atol; // likewise
} cli_tolerances;

/** None is given. */
#define CLI_TOLERANCES \
    {                  \
        -1, -1         \
    }

typedef struct difference {
    double abs; // largest absolute difference
    double rel; // the same, divided by the scale; not divided if the scale is 0
    int index;  // of the first element outside the tolerance, -1: none
    double got, expected;
    tl_dtype dtype;
    const tl_string *got_text, *expected_text; // of TL_STRING, borrowed from the tensors
} difference;

/** Bytes of an element in a message. */
enum { CLI_ELEMENT_SIZE = 64 };

/** Writes an element of the difference to `buf`, a truncated string in quotes. Returns buf. */
const char *cli_difference_got(char buf[CLI_ELEMENT_SIZE], const difference *diff);
const char *cli_difference_expected(char buf[CLI_ELEMENT_SIZE], const difference *diff);

/** The max difference from the expected number: atol + rtol * scale. */
typedef struct tolerance {
    double rtol; // below 0: elements must have equal bytes
    double atol;
    double scale; // 0: the magnitude of each expected number
} tolerance;

/** Element `i` of a tensor of any dtype. */
double cli_element(const tl_tensor *t, int i);

/** The tolerance for a stored result: --rtol, or else the default of the type. */
tolerance cli_stored_tolerance(const cli_tolerances *given, tl_dtype dtype);

/** The tolerance for the result of another program, relative to the max element of the tensor.
 * `is_coarse`: it is computed from results that were rounded to 16-bit floats. */
tolerance cli_reference_tolerance(const cli_tolerances *given, const tl_tensor *expected,
                                  int is_coarse);

/** Compares the elements of two tensors of one type and shape. */
void cli_compare(const tl_tensor *got, const tl_tensor *expected, const tolerance *tol,
                 difference *diff);

/** The max difference of finite elements of two tensors of one shape, divided by the max magnitude
 * of the expected ones unless that is 0. *n_beyond: elements that disagree otherwise, since one of
 * them is not finite. */
double cli_relative_error(const tl_tensor *got, const tl_tensor *expected, int *n_beyond);

// Ties

// Indices from sorting: if keys differ only by rounding, two programs may order them differently,
// and both are correct.

/** Whether output `name` of `op`, an operator of `ctx`, holds indices (or values moved along with
 * keys) that equal those of `reference` except for the order of equal elements. They are then
 * replaced by those of `reference`, so that later tensors can be compared. */
int cli_ties_replace(ln_context *ctx, ln_context *reference, const cli_tolerances *given,
                     const ln_op *op, const char *name);
