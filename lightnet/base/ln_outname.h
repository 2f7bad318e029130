// SPDX-License-Identifier: Apache-2.0
// Output files of which "-" is standard output.

#ifndef LN_OUTNAME_H
#define LN_OUTNAME_H

#include <string.h>

#include "lightnet/ln_outfile.h"

/** As ln_outfile_write; "-": to standard output, as ln_outfile_print. */
static inline int ln_outname_write(const char *file, ln_outfile_func func, const void *arg,
                                   ln_error *err)
{
    return strcmp(file, "-") != 0 ? ln_outfile_write(file, func, arg, err)
                                  : ln_outfile_print(stdout, "standard output", func, arg, err);
}

#endif
