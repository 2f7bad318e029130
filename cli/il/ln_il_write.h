// SPDX-License-Identifier: Apache-2.0
// Writes JSON IR as IL.

#ifndef LN_IL_WRITE_H
#define LN_IL_WRITE_H

#include "lightnet/ln_outfile.h"

/** Writes the JSON IR that `print` lets the library write (`arg` is handed to it) as IL to `file`
 * ("-": standard output), without macros; reading it gives the same again. -1 with a reason, which
 * may be that of `print`: the file is as before. */
int ln_il_write(ln_outfile_func print, const void *arg, const char *file, ln_error *err);

#endif
