// SPDX-License-Identifier: Apache-2.0
// The operators of a model that a front end can neither read nor write: one message names all.
//
//     ln_missing missing = {.translation = t};
//     ln_missing_note(&missing, "Foo", "nodes[3] \"x\"", NULL); // for each such node
//     ln_missing_report(&missing, "operators that are not supported");

#ifndef LN_MISSING_H
#define LN_MISSING_H

#include "front/ln_emit.h"

typedef struct ln_missing {
    ln_translation *translation;
    struct ln_missing_kind *first, *last;
    ln_hash *kinds; /* the same, by name */
} ln_missing;

/** Counts a node of the operator `kind`. The message has `place` of the first one (NULL: no name)
 *  and `why` (NULL: unknown). Texts are copied. */
void ln_missing_note(ln_missing *m, const char *kind, const char *place, const char *why);

/** Fails with "WHAT: KIND (N nodes, first PLACE; WHY), ..", if there are such. Frees the record. */
void ln_missing_report(ln_missing *m, const char *what);

#endif
