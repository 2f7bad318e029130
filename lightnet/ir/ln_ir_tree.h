// SPDX-License-Identifier: Apache-2.0
// The intermediate representation as a tree of JSON values, for front ends whose formats are other
// spellings of it: they share the reader's checks, and the numbers and strings of its writer.

#ifndef LN_IR_TREE_H
#define LN_IR_TREE_H

#include <jansson.h>

#include "lightnet/ln_context.h"
#include "lightnet/ln_hash.h"
#include "lightnet/ln_list.h"

/** As ln_ir_read (ln_ir_json.h), from a tree, in which every number is a JSON_REAL. `places`: maps
 * elements of the tree (operators, bodies, values of keys at the top) to the places, "FILE:LINE",
 * that messages about them begin with; NULL: they begin with `name`. */
int ln_ir_read_tree(ln_context *ctx, const char *name, const json_t *tree, const ln_hash *places,
                    ln_list **ops);

/** Enters the operators that a context and its bodies were read with, and infers the inputs and
 *  outputs that the model leaves open. -1 with the reason in the context, without the model's name.
 */
int ln_context_enter_read(ln_context *ctx);

#endif
