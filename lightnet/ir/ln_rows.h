// SPDX-License-Identifier: Apache-2.0
// Tensors whose memory has more rows in each head than they have (ln_tensor_entry.rows).
//
//     rows 4, shape [2, 3, D], rows_axis 1
//     head 0   0 1 2 .
//     head 1   0 1 2 .

#pragma once

#include "lightnet/ln_tensor.h"

/** Copies `size` bytes of shape `dims` from memory with `from_rows` rows along `axis` in each head
 *  to one with `to_rows`, at least those of the shape; 0: those of the shape. */
void ln_rows_copy(void *to, int to_rows, const void *from, int from_rows, const int *dims, int axis,
                  size_t size);

/** Copies the elements of a tensor in the CPU's memory, side by side, to `data`. */
void ln_rows_read(const ln_tensor_entry *te, void *data);
