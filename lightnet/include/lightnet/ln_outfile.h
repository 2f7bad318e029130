// SPDX-License-Identifier: Apache-2.0
// Output files that are written completely or not at all.
//
//     static int write_greeting(FILE *stream, const void *name, ln_error *err) { ... }
//     ln_outfile_write("greeting.txt", write_greeting, "world", err);
//
// The content goes to an unnamed file in the target folder, which gets its name
// when all data is on the disk: readers never see a partial file, and after an
// error, a crash or a power failure the previous file remains. On file systems
// without unnamed files, and while one file replaces another, the name is
// `.lightnet-*.tmp`; writing the same file again removes leftovers of a crash.

#ifndef LN_OUTFILE_H
#define LN_OUTFILE_H

#include <stdio.h>

#include "lightnet/ln_api.h"
#include "lightnet/ln_msg.h"

LN_BEGIN_DECLS

/** Writes the content to `stream`; -1 with the reason in
 * `err`. The caller checks the stream's own errors. */
typedef int (*ln_outfile_func)(FILE *stream, const void *arg, ln_error *err);

/** Replaces `file` by the output of `func`, called with `arg`; its permissions
 * stay. Anything but a regular file, such as a pipe or /dev/null, is written in
 * place, as is the file of standard output. Follows symbolic links to files, and
 * replaces broken ones. Calls `func` once more if the first file cannot be named.
 * Returns 0; -1 with the reason, which names the file unless it is `func`'s. */
LN_API int ln_outfile_write(const char *file, ln_outfile_func func, const void *arg, ln_error *err);

/** As ln_outfile_write, to a stream that stays open; `name` is its name in messages. */
LN_API int ln_outfile_print(FILE *stream, const char *name, ln_outfile_func func, const void *arg,
                            ln_error *err);

LN_END_DECLS

#endif
