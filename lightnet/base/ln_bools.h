// SPDX-License-Identifier: Apache-2.0
// Whether bytes of a file are bools.

#ifndef LN_BOOLS_H
#define LN_BOOLS_H

#include <stddef.h>

#include "base/ln_infile.h"
#include "lightnet/ln_msg.h"

/** Whether the `size` bytes are elements of type TL_BOOL, each 0 or 1, of which the first one is
 *  element `first`. -1 with a reason that names the element that is none. */
int ln_bools_check(const unsigned char *data, size_t size, size_t first, ln_error *err);

/** The same of `size` bytes of the file at `offset`, which are in it; from element 0 on. -1 also
 *  where the file cannot be read, see ln_infile_read. */
int ln_bools_check_in(const ln_infile *file, size_t offset, size_t size, ln_error *err);

#endif
