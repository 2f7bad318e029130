// SPDX-License-Identifier: Apache-2.0
// Other destinations for ln_outfile.h: memory, standard output by the name "-", and files that can
// be recomputed.

#pragma once

#include <string.h>

#include "lightnet/ln_outfile.h"

/** The output of func(.., arg) as a string. Returns new (free), of *len bytes and a NUL; NULL with
 * a reason: that of `func`, or no memory. */
char *ln_outtext(ln_outfile_func func, const void *arg, size_t *len, ln_error *err);

/** As ln_outfile_write; as ln_outfile_print to standard output if `file` is "-". */
static inline int ln_outfile_write_or_print(const char *file, ln_outfile_func func, const void *arg,
                                            ln_error *err)
{
    return strcmp(file, "-") != 0 ? ln_outfile_write(file, func, arg, err)
                                  : ln_outfile_print(stdout, "standard output", func, arg, err);
}

/** As ln_outfile_write, for many files that can be recomputed: waits for the disk only when it
 * replaces a file, so a power failure can leave a new file empty, but not a replaced one. Saves
 * some 4 ms for each file. */
int ln_outfile_write_result(const char *file, ln_outfile_func func, const void *arg, ln_error *err);
