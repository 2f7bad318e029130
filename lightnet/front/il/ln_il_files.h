// SPDX-License-Identifier: Apache-2.0
// The files that preprocessed IL comes from, by the preprocessor's line marks.
//
// A mark names a file as #include does, which is from the folder of the file that includes it. So
// the path of a file depends on those that are being read:
//
//     #line 1 "<stdin>"         nets/model.net
//     #line 1 "parts/all.inc"   nets/parts/all.inc
//     #line 1 "conv.inc"        nets/parts/conv.inc
//     #line 2 "parts/all.inc"   nets/parts/all.inc again
//
// Marks of the first line begin a file; later lines are those of a file that is being read, or of
// none, where the user has written #line.

#ifndef LN_IL_FILES_H
#define LN_IL_FILES_H

#include <stddef.h>

#include "lightnet/ln_hash.h"
#include "lightnet/ln_list.h"

typedef struct ln_il_files {
    const char *model;
    ln_hash *paths; /* of all files so far */
    ln_list *open;  /* files that are being read, each before the one that includes it */
} ln_il_files;

/** Begins with the model's own file, whose name is kept. -1: no memory (ln_il_files_end). */
int ln_il_files_begin(ln_il_files *f, const char *model);

/** Takes what was not begun, too: all zero. */
void ln_il_files_end(ln_il_files *f);

/** The path, for messages, of the file of a mark for `line`, which has `len` bytes as its name.
 *  Returns borrowed, until ln_il_files_end; NULL: no memory. */
const char *ln_il_files_at(ln_il_files *f, int line, const char *mark, size_t len);

#endif
