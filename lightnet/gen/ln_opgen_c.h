// SPDX-License-Identifier: Apache-2.0
// From checked operator descriptions to the C that defines the operators.

#ifndef LN_OPGEN_C_H
#define LN_OPGEN_C_H

#include "gen/ln_cgen.h"
#include "gen/ln_opdesc.h"

/** Writes the definitions of all own operators (those with "autogen" false left out) as one C file.
 * -1 with a reason: arguments whose declarations need each other in a circle, no memory. */
int ln_opgen_c(ln_cgen *out, const ln_opdescs *descs, ln_error *err);

/** Writes a header with `ops_ARCH`, the NULL-terminated array of those operators of architecture
 * `arch`, in order. */
void ln_opgen_list(ln_cgen *out, const ln_opdescs *descs, const char *arch);

/** The first own operator's file name and those of the others, once each: "conv.op, pool.op", for
 * the first line of what is generated. */
void ln_opgen_print_sources(ln_cgen *out, const ln_opdescs *descs);

#endif
