// SPDX-License-Identifier: Apache-2.0
// The C preprocessor, before IL is read.
//
// mcpp's library does it, in a process of its own: the library has one state for all its callers,
// changes the locale, leaks, and on some input reads freed memory (its bug 14). There it can do no
// harm whatever it is given: the process ends when it runs too long or writes too much, and then
// the model is refused.

#ifndef LN_IL_PRE_H
#define LN_IL_PRE_H

#include <stddef.h>

#include "lightnet/ln_msg.h"

/** Preprocesses `size` bytes; what they include is looked for in the folder of the file `name`.
 * *out: returns new (ln_free) text of *out_size bytes with line marks. -1 with a reason, with file
 * and line where the text is at fault. Threads may call it at the same time. */
int ln_il_preprocess(const char *name, const void *text, size_t size, char **out, size_t *out_size,
                     ln_error *err);

/** Writes the name by which the user knows the file that a line mark or message of the preprocessor
 * names with `len` bytes: `model` for the text itself, else a file that was found from the folder
 * of `model`. Cut to `size` bytes with its NUL. */
void ln_il_file_name(const char *model, const char *mark, size_t len, char *buf, size_t size);

#endif
