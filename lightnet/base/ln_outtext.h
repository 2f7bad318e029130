// SPDX-License-Identifier: Apache-2.0
// What ln_outfile.h writes to files, elsewhere: to memory, to standard output by the name "-", and
// to files that can be made again.

#ifndef LN_OUTTEXT_H
#define LN_OUTTEXT_H

#include <string.h>

#include "lightnet/ln_outfile.h"

/** What `func` writes (`arg` is handed to it), with a NUL behind it. Returns new (free), of *len
 *  bytes; NULL with a reason: that of `func`, or no memory. */
char *ln_outtext(ln_outfile_func func, const void *arg, size_t *len, ln_error *err);

/** As ln_outfile_write; "-": to standard output, as ln_outfile_print. */
static inline int ln_outname_write(const char *file, ln_outfile_func func, const void *arg,
                                   ln_error *err)
{
    return strcmp(file, "-") != 0 ? ln_outfile_write(file, func, arg, err)
                                  : ln_outfile_print(stdout, "standard output", func, arg, err);
}

/** As ln_outfile_write, for what can be computed again and may be many files: waits for the disk
 * only where a file is replaced, so a power failure can leave a new file empty, but none in place
 * of an old one. Some 4 ms less for each file. */
int ln_outfile_write_result(const char *file, ln_outfile_func func, const void *arg, ln_error *err);

#endif
