// SPDX-License-Identifier: Apache-2.0
// Inside the generator of operators: the tables that describe an operator at run time.

#ifndef LN_OPGEN_TABLE_H
#define LN_OPGEN_TABLE_H

#include "gen/ln_opgen_code.h"

/** Writes to `buf` what people want to know of an argument's type: "4-D FLT", "array_number -> int
 * [2]". */
void ln_opgen_arg_type(const ln_argdesc *arg, char *buf, size_t size);

/** Writes the tables of the arguments and the information. */
void ln_opgen_write_tables(const generator *g);

/** Writes ln_opimpl_OPTYPE, the prototype that names the tables and the functions. */
void ln_opgen_write_prototype(const generator *g);

#endif
