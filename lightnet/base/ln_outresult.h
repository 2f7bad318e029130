// SPDX-License-Identifier: Apache-2.0
// Output files that hold results of a run.

#ifndef LN_OUTRESULT_H
#define LN_OUTRESULT_H

#include "lightnet/ln_outfile.h"

/** As ln_outfile_write, for what can be computed again and may be many files: waits for the disk
 * only where a file is replaced, so a power failure can leave a new file empty, but none in place
 * of an old one. Some 4 ms less for each file. */
int ln_outfile_write_result(const char *file, ln_outfile_func func, const void *arg, ln_error *err);

#endif
