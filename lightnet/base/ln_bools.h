// SPDX-License-Identifier: Apache-2.0
// Checks that bytes of a file are bools.

#ifndef LN_BOOLS_H
#define LN_BOOLS_H

#include <stddef.h>

#include "base/ln_infile.h"
#include "lightnet/ln_msg.h"

/** 0 if the `size` bytes are elements of type TL_BOOL, each 0 or 1, beginning with element `first`;
 * -1 with a reason that names the first invalid element. */
int ln_bools_check(const unsigned char *data, size_t size, size_t first, ln_error *err);

/** The same for `size` bytes of the file at `offset`, which it has, from element 0 on. -1 also if
 * the file cannot be read, see ln_infile_read. */
int ln_bools_check_in(const ln_infile *file, size_t offset, size_t size, ln_error *err);

#endif
