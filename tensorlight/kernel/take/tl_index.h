// SPDX-License-Identifier: Apache-2.0
// Tensors of indices: TL_INT32 or TL_INT64, negative ones count from the end.

#pragma once

#include <string.h>

#include "tensorlight/tl_tensor.h"

/** Index `i` of the tensor, as stored. */
static inline int64_t tl_index_at(const tl_tensor *index, size_t i)
{
    return index->dtype == TL_INT64 ? ((const int64_t *)index->data)[i]
                                    : ((const int32_t *)index->data)[i];
}

/** The same along an axis of `dim`, 0 .. dim-1 for a valid one. */
static inline int64_t tl_index_in(const tl_tensor *index, size_t i, int dim)
{
    const int64_t at = tl_index_at(index, i);
    return at < 0 ? at + dim : at;
}

/** -1 with a reason: one of all indices is outside -dim .. dim-1. */
int tl_check_indices(const tl_tensor *index, int dim);

/** The same for the last axis of index [.., K], where index k is one along a dim of dims[k]. */
int tl_check_index_rows(const tl_tensor *index, const int *dims);

/** The last axis from `axis` on that a tensor has: axes of length 1 do not lengthen its rows. */
static inline int tl_last_axis(const tl_tensor *t, int axis)
{
    int last = t->ndim - 1;
    while (last > axis && t->dims[last] == 1)
        last--;
    return last;
}

/** Copies `size` bytes, which are mostly few. */
static inline void tl_copy_block(void *dst, const void *src, size_t size)
{
    switch (size) {
    case 1:
        memcpy(dst, src, 1);
        return;
    case 2:
        memcpy(dst, src, 2);
        return;
    case 4:
        memcpy(dst, src, 4);
        return;
    case 8:
        memcpy(dst, src, 8);
        return;
    default:
        memcpy(dst, src, size);
    }
}
