// SPDX-License-Identifier: Apache-2.0
// The operators of patterns and replacements, in the syntax of the IL and a little more.
//
//     [keep] [NAME:] OPTYPE(ARG=TENSOR, .. | ARG=TENSOR, .. | PARAM=VALUE, ..);

#ifndef LN_OPTPAT_H
#define LN_OPTPAT_H

#include "gen/ln_optdesc.h"

/** Reads all operators of the string `node` into `*ops`, in their order. -1 with a reason in `err`.
 */
int ln_optpat_parse(ln_arena *arena, const ln_optrule *rule, const ln_rjson *node, ln_optop **ops,
                    ln_error *err);

/** Reads all tests of the string `node`, which belong to a rule,
 *
 *     OPERATOR(ARG=TENSOR, .. | .. | PARAM=VALUE, ..), ..,
 *     TENSOR=[const] DTYPE [DIM, ..] [in LOW .. HIGH], .., SIZE=LEAST .. LARGEST, ..
 *     [unchanged] [within TOLERANCE] [as PRECISION];
 *
 * into `*tests`, in their order. -1 with a reason in `err`. */
int ln_optpat_parse_tests(ln_arena *arena, const ln_optrule *rule, const ln_rjson *node,
                          ln_opttest **tests, ln_error *err);

/** Reads all examples of the string `node`,
 *
 *     ["DOC":] (ARG=[DTYPE] [DIMS] {DATA}, .. | .. | PARAM=VALUE, ..) [within N | fails "MESSAGE"];
 *
 * into `*examples`, in their order. -1 with a reason in `err`, behind the place and `subject`. */
int ln_optpat_parse_examples(ln_arena *arena, const char *subject, const ln_rjson *node,
                             ln_optexample **examples, ln_error *err);

#endif
