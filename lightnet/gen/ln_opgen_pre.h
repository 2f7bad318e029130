// SPDX-License-Identifier: Apache-2.0
// Inside the generator of operators: pre_run, the function that declares and checks the arguments
// and infers the outputs.

#ifndef LN_OPGEN_PRE_H
#define LN_OPGEN_PRE_H

#include "gen/ln_opgen_code.h"

/** Fills `steps`. */
void ln_opgen_collect_steps(generator *g);

/** Writes the function. -1 with a reason: arguments whose declarations need each other in a circle.
 */
int ln_opgen_write_pre_run(generator *g, ln_error *err);

/** Writes what stands at the end of pre_run: scratch memory, custom code, what reports need. */
void ln_opgen_write_last(const generator *g);

/* An argument's declaration, with the checks that its fields say. */

void ln_opgen_write_input(const generator *g, const ln_argdesc *arg);
void ln_opgen_write_output(const generator *g, const ln_argdesc *arg);
void ln_opgen_write_param(const generator *g, const ln_argdesc *arg);

/** The function that gives the `i`th name that a parameter can have; none without "name_func". */
void ln_opgen_write_name_func(const generator *g, const ln_argdesc *arg);

#endif
