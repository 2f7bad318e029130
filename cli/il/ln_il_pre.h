// SPDX-License-Identifier: Apache-2.0
// The C preprocessor, before IL is read: macros, conditions, included files.
//
// It has no state beside its arguments, bounded depths, and bounds on what it reads, makes and
// writes. Nothing depends on when or where it runs: __DATE__ and __TIME__ are refused.

#ifndef LN_IL_PRE_H
#define LN_IL_PRE_H

#include "il/ln_il_host.h"
#include "il/ln_il_text.h"
#include "lightnet/ln_list.h"

/** Preprocesses `size` bytes, a model that messages call `name`, and appends to `out`. *names: what
 * the places of `out` borrow (ln_il_names_free), also after a failure. -1 with a reason, with file
 * and line where the text is at fault. */
int ln_il_preprocess(const char *name, const void *bytes, size_t size, const ln_il_host *host,
                     ln_il_text *out, ln_list **names, ln_error *err);

void ln_il_names_free(ln_list *names);

#endif
