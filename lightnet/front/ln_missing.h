// SPDX-License-Identifier: Apache-2.0
// The operators of a model that a front end can neither read nor write: one message names all.
//
//     ln_missing missing = {.translation = t, .shows_first = 1};
//     ln_missing_note(&missing, "Foo", &(ln_missing_op){.optype = "Foo", .first = "nodes[3]"});
//     ln_missing_report(&missing, "operators that are not supported");

#pragma once

#include "front/ln_emit.h"

typedef struct ln_missing {
    ln_translation *translation;
    int shows_first; // the message names the first node of each operator
    int is_writer;   // does not report them to ln_context_set_missing, only in the message
    struct ln_missing_kind *first, *last;
    ln_hash *kinds; // the same, by name
} ln_missing;

/** Counts a node of the operator that the message calls `name`. Copies the texts of `op` (NULL: "")
 *  for the first node; the reason may be unknown. */
void ln_missing_note(ln_missing *m, const char *name, const ln_missing_op *op);

/** Fails with "WHAT: NAME (N nodes, first PLACE; REASON), ..", if any, after passing
 * them on to the caller (ln_context_set_missing). Frees the record. */
void ln_missing_report(ln_missing *m, const char *what);
