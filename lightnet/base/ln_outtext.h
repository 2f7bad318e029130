// SPDX-License-Identifier: Apache-2.0
// Text in memory, written as to a file.

#ifndef LN_OUTTEXT_H
#define LN_OUTTEXT_H

#include "lightnet/ln_outfile.h"

/** What `func` writes (`arg` is handed to it), with a NUL behind it. Returns new (free), of *len
 *  bytes; NULL with a reason: that of `func`, or no memory. */
char *ln_outtext(ln_outfile_func func, const void *arg, size_t *len, ln_error *err);

#endif
