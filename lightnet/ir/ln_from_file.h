// SPDX-License-Identifier: Apache-2.0
// Which tensors of a model get their data from a file.

#ifndef LN_FROM_FILE_H
#define LN_FROM_FILE_H

#include "lightnet/ln_op.h"

/** The tensor whose data the operator wants from a file, as its parameter `from_file` says; NULL:
 * it wants none. Returns borrowed. */
const char *ln_from_file_name(const ln_op *op);

#endif
