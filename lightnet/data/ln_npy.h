// SPDX-License-Identifier: Apache-2.0
// npy files that are already open, for readers of inputs.

#ifndef LN_NPY_H
#define LN_NPY_H

#include "base/ln_infile.h"
#include "lightnet/ln_data.h"

/** Whether the bytes begin like an npy file. */
int ln_npy_is(const ln_infile *in);

/** As ln_npy_read, from the open file `in`, called `file` in messages. */
tl_tensor *ln_npy_from_file(const ln_infile *in, const char *file, ln_error *err);

#endif
