// SPDX-License-Identifier: Apache-2.0
// Output files that are written whole or not at all.
//
//     static int write_greeting(FILE *stream, const void *name, ln_error *err) { ... }
//     ln_outfile_write("greeting.txt", write_greeting, "world", err);
//
// The content goes to a file without a name in the folder of the wanted one, and gets its name when
// everything is on the disk: a reader never sees half a file, and a failure, a crash or a power
// failure leaves what was there before. File systems that lack such files, and the moment in which
// a file replaces another, take a name `.lightnet-*.tmp`; what a crash leaves of that is removed
// when the same file is written again.

#ifndef LN_OUTFILE_H
#define LN_OUTFILE_H

#include <stdio.h>

#include "lightnet/ln_api.h"
#include "lightnet/ln_msg.h"

LN_BEGIN_DECLS

/** Writes the content to `stream`; -1 with the reason in `err`. The stream's own errors are found
 * by the caller. */
typedef int (*ln_outfile_func)(FILE *stream, const void *arg, ln_error *err);

/** Replaces `file` by what `func` writes (`arg` is handed to it); its permissions stay. What is not
 * a regular file, such as a pipe or /dev/null, is written in place, and so is the file on which
 * standard output is open; a symbolic link to a file is followed, one that leads nowhere replaced.
 * `func` is called once more where the first file cannot get a name.
 * Returns 0; -1 with the reason, which names the file unless it is `func`'s. */
LN_API int ln_outfile_write(const char *file, ln_outfile_func func, const void *arg, ln_error *err);

/** As ln_outfile_write, to a stream that stays open; `name` stands for it in messages. */
LN_API int ln_outfile_print(FILE *stream, const char *name, ln_outfile_func func, const void *arg,
                            ln_error *err);

LN_END_DECLS

#endif
