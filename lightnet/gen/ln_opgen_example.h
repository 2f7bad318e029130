// SPDX-License-Identifier: Apache-2.0
// From the examples of checked operator descriptions to a test program.

#ifndef LN_OPGEN_EXAMPLE_H
#define LN_OPGEN_EXAMPLE_H

#include "gen/ln_cgen.h"
#include "gen/ln_opdesc.h"

/** Writes a C program that runs the examples of all own operators; see tests/support/ln_example.h.
 * -1 with a reason: a mistake in an example. */
int ln_opgen_tests(ln_cgen *out, const ln_opdescs *descs, ln_error *err);

#endif
