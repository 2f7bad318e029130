// SPDX-License-Identifier: Apache-2.0
// Indices of nonzero elements (ONNX NonZero), slices that a condition selects (ONNX Compress).

#ifndef T // once

#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "kernel/tl_axis.h"
#include "kernel/tl_kernel.h"
#include "tensorlight/tl_shape.h"

// Writes the flat indices of the nonzero elements to `to`, unless that is NULL. Returns their
// number.
typedef size_t nonzero_kernel(const void *src, size_t len, int64_t *to);

#define TL_TEMPLATE "kernel/select/select.c"
#include "tensor/tl_each_type.inc.h"

TL_PLAIN_TABLE(pick, nonzero_kernel, nonzero, ALL)

// The coordinates along an axis: flat indices have 31 bits, whose division is faster than that
// of 64.
static void find_coords(const int64_t *indices, size_t n, uint32_t stride, uint32_t dim,
                        int is_first, int64_t *coords)
{
    if (dim == 1)
        memset(coords, 0, n * sizeof(*coords));
    else if (is_first)
        for (size_t i = 0; i < n; i++)
            coords[i] = (uint32_t)indices[i] / stride;
    else if (stride == 1)
        for (size_t i = 0; i < n; i++)
            coords[i] = (uint32_t)indices[i] % dim;
    else
        for (size_t i = 0; i < n; i++)
            coords[i] = (uint32_t)indices[i] / stride % dim;
}

int tl_exec_nonzero(const tl_exec *exec, const tl_tensor *src, tl_tensor *dst, int *n)
{
    assert(src->ndim > 0 && dst->dtype == TL_INT64);
    nonzero_kernel *const find = pick(exec, src->dtype);
    const size_t count = find(src->data, (size_t)src->len, NULL);
    *n = (int)count;
    // The last row stores the flat indices until its own coordinates overwrite them.
    int64_t *const indices = (int64_t *)dst->data + (size_t)(src->ndim - 1) * count;
    find(src->data, (size_t)src->len, indices);
    int64_t stride = src->len;
    for (int axis = 0; axis < src->ndim; axis++) {
        const int64_t dim = src->dims[axis];
        int64_t *const coords = (int64_t *)dst->data + (size_t)axis * count;
        stride = count ? stride / dim : stride;
        find_coords(indices, count, (uint32_t)stride, (uint32_t)dim, axis == 0, coords);
    }
    return 0;
}

int tl_exec_compress(const tl_exec *exec, const tl_tensor *src, const tl_tensor *condition,
                     tl_tensor *dst, int axis, int *n)
{
    (void)exec;
    const tl_axis a = tl_axis_of(src, axis);
    assert(condition->dtype == TL_BOOL && (size_t)condition->len <= a.len);
    const uint8_t *const selects = condition->data;
    const size_t block = a.inner * tl_size_of(src->dtype);
    char *to = dst->data;
    *n = 0;
    for (int i = 0; i < condition->len; i++)
        *n += selects[i] != 0;
    for (size_t o = 0; o < a.outer; o++)
        for (size_t i = 0; i < (size_t)condition->len; i++) {
            if (!selects[i])
                continue;
            memcpy(to, (const char *)src->data + (o * a.len + i) * block, block);
            to += block;
        }
    return 0;
}

#else // for each type

static size_t NAME(nonzero, c)(const void *src, size_t len, int64_t *to)
{
    const T *const s = src;
    size_t n = 0;
    if (!to) {
        for (size_t i = 0; i < len; i++)
            n += LOAD(s[i]) != 0;
        return n;
    }
    for (size_t i = 0; i < len; i++)
        if (LOAD(s[i]) != 0)
            to[n++] = (int64_t)i;
    return n;
}

#endif
