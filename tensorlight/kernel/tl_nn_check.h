// SPDX-License-Identifier: Apache-2.0
// Checks shared by public neural-network functions. All return 0, or -1 with a reason that names
// the argument.

#ifndef TL_NN_CHECK_H
#define TL_NN_CHECK_H

#include "tensorlight/tl_nn.h"

/** `t` is a tensor with data and `ndim` dimensions. */
int tl_check_input(const tl_tensor *t, const char *name, int ndim);

/** `t` is a tensor with data, the dtype of `like` and shape [len]. */
int tl_check_vector(const tl_tensor *t, const char *name, const tl_tensor *like, int len);

/** Each of the `n` values is at least `least`. */
int tl_check_at_least(const char *name, const int *values, int n, int least);

#endif
