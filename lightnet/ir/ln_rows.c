// SPDX-License-Identifier: Apache-2.0
// Tensors whose memory has more rows in each head than they have.

#include "ir/ln_rows.h"

#include <string.h>

// A shape as heads of rows.
typedef struct heads {
    size_t n, rows, row; // row: bytes
} heads;

static heads heads_of(const int *dims, int axis, size_t size)
{
    heads h = {1, (size_t)dims[axis], 1};
    for (int i = 0; i < axis; i++)
        h.n *= (size_t)dims[i];
    if (h.n && h.rows)
        h.row = size / h.n / h.rows;
    return h;
}

void ln_rows_copy(void *to, int to_rows, const void *from, int from_rows, const int *dims, int axis,
                  size_t size)
{
    if (!to_rows && !from_rows && size)
        memcpy(to, from, size);
    if (!to_rows && !from_rows)
        return;
    const heads h = heads_of(dims, axis, size);
    const size_t to_step = (to_rows ? (size_t)to_rows : h.rows) * h.row;
    const size_t from_step = (from_rows ? (size_t)from_rows : h.rows) * h.row;
    for (size_t i = 0; i < h.n && size; i++)
        memcpy((char *)to + i * to_step, (const char *)from + i * from_step, h.rows * h.row);
}

void ln_rows_read(const ln_tensor_entry *te, void *data)
{
    const tl_tensor *const t = te->tensor;
    ln_rows_copy(data, 0, t->data, te->rows, t->dims, te->rows_axis, tl_tensor_size(t));
}
