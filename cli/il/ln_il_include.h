// SPDX-License-Identifier: Apache-2.0
// Files that IL includes: beneath the model's folder or one that the user allows.

#ifndef LN_IL_INCLUDE_H
#define LN_IL_INCLUDE_H

#include "il/ln_il_pre.h"
#include "il/ln_il_text.h"

/* A file that was read. */
typedef struct ln_il_included {
    char *text; /* for the caller to free (ln_free) */
    size_t len;
    const char *name;   /* for messages */
    const char *folder; /* it is in, beneath the one where it was found: "parts/" */
} ln_il_included;

/* All zero but for the first two: nothing is included yet. */
typedef struct ln_il_includer {
    const ln_il_host *host;
    ln_list **names; /* keeps the names of files */
    ln_list *open;   /* files that are being read, the innermost first */
    ln_list *once;   /* files that say `#pragma once` */
    int n;           /* files that were read */
} ln_il_includer;

/** Reads the file that `#include "path"` at `place` names, in a file in `folder`: that folder comes
 *  first. Returns 0; 1: it was read before, and is to be read once only; -1 with a reason, and
 *  *file is as before. */
int ln_il_include(ln_il_includer *in, const char *folder, const char *path, ln_il_place place,
                  ln_il_included *file, ln_error *err);

/** The innermost file ends. */
void ln_il_include_ends(ln_il_includer *in);

/** The innermost file is to be read once only; of the model itself this says nothing. -1: no
 * memory.
 */
int ln_il_include_once(ln_il_includer *in, ln_error *err);

void ln_il_includer_end(ln_il_includer *in);

#endif
