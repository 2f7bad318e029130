// SPDX-License-Identifier: Apache-2.0
// Where operators come from: the nodes of the model's file that an operator computes, all or parts
// of them. A front end notes the node of each operator that it emits; operators that replace others
// have the nodes of all of these.

#pragma once

#include "lightnet/ln_context.h"

/** Returns new (ln_origin_free): that of a single node, the next one of the context's model. NULL:
 *  no memory. */
ln_origin *ln_origin_create(ln_context *ctx, const char *name, const char *type);

/** Returns new (ln_origin_free): that of node `number`, from 1, of the model that a compiled
 * program was made of. NULL: no memory. */
ln_origin *ln_origin_of_node(const char *name, const char *type, int number);

/** Returns new (ln_origin_free): the nodes of `n` origins of one node each, at most LN_MAX_ORIGINS,
 *  by increasing numbers. NULL: no memory. */
ln_origin *ln_origin_of_nodes(ln_origin *const *origins, int n);

/** Shares it. Accepts NULL. */
ln_origin *ln_origin_keep(ln_origin *origin);
void ln_origin_free(ln_origin *origin);

/** Sets the nodes of an operator that has none. Shares `origin`. */
void ln_origin_give(ln_op *op, ln_origin *origin);

/** Returns new: the nodes of all of the operators; NULL: none, or no memory (then they are lost,
 *  as nothing but reports depends on them). */
ln_origin *ln_origin_join(const ln_list *ops);

/** Sets the nodes of all operators of the context that have none: each operator is a node, as in a
 *  model in IR. -1 with a reason: no memory. */
int ln_origin_note_all(ln_context *ctx);
