// SPDX-License-Identifier: Apache-2.0
// Gather: copies elements by index. All indices are checked before the first element moves.

#include <assert.h>
#include <limits.h>
#include <string.h>

#include "kernel/stride/stride.h"
#include "kernel/take/tl_index.h"
#include "kernel/tl_axis.h"
#include "tensor/tl_result.h"
#include "tensorlight/tl_shape.h"
#include "tensorlight/tl_nn.h"

// Checks index `i` along an axis of `dim`.
static inline int check_index(const tl_tensor *index, size_t i, int dim)
{
    const int64_t value = tl_index_at(index, i);
    if (value >= -(int64_t)dim && value < dim)
        return 0;
    return dim == 0
               ? tl_fail("index %lld at position %zu of an axis of length 0", (long long)value, i)
               : tl_fail("index %lld at position %zu, expected %d to %d", (long long)value, i, -dim,
                         dim - 1);
}

// Whether all indices are inside: bounds are compared by signs, which compilers vectorize.
static int are_inside(const int64_t *index, size_t n, int dim)
{
    uint64_t outside = 0;
    for (size_t i = 0; i < n; i++)
        outside |= ((uint64_t)index[i] + (uint64_t)dim) | ((uint64_t)dim - 1 - (uint64_t)index[i]);
    return (int64_t)outside >= 0;
}

int tl_check_indices(const tl_tensor *index, int dim)
{
    if (index->dtype == TL_INT64 && are_inside(index->data, (size_t)index->len, dim))
        return 0;
    for (size_t i = 0; i < (size_t)index->len; i++)
        if (check_index(index, i, dim) < 0)
            return -1;
    return 0;
}

int tl_check_index_rows(const tl_tensor *index, const int *dims)
{
    const size_t width = (size_t)index->dims[index->ndim - 1];
    for (size_t i = 0, k = 0; i < (size_t)index->len; i++) {
        if (check_index(index, i, dims[k]) < 0)
            return -1;
        k = k + 1 == width ? 0 : k + 1;
    }
    return 0;
}

// Slices along an axis

typedef struct take {
    const char *src;
    char *dst;
    const tl_tensor *index;
    int dim;      // of the axis of src
    size_t n;     // indices
    size_t block; // bytes of the slice that an index selects
} take;

// Unit i is index i % n of outer index i / n.
static void take_range(void *arg, size_t begin, size_t end)
{
    const take *const t = arg;
    const size_t slice = (size_t)t->dim * t->block;
    for (size_t i = begin; i < end;) {
        const char *const src = t->src + i / t->n * slice;
        const size_t stop = i + tl_axis_span(i, end, t->n, t->n);
        for (; i < stop; i++)
            tl_copy_block(t->dst + i * t->block,
                          src + (size_t)tl_index_in(t->index, i % t->n, t->dim) * t->block,
                          t->block);
    }
}

int tl_exec_take(const tl_exec *exec, const tl_tensor *src, const tl_tensor *index, tl_tensor *dst,
                 int axis)
{
    assert(src->dtype == dst->dtype && axis >= 0 && axis < src->ndim);
    if (tl_check_indices(index, src->dims[axis]) < 0)
        return -1;
    if (dst->len == 0)
        return 0;
    const tl_axis a = tl_axis_of(src, axis);
    take t = {.src = src->data,
              .dst = dst->data,
              .index = index,
              .dim = src->dims[axis],
              .n = (size_t)index->len,
              .block = a.inner * tl_size_of(src->dtype)};
    tl_parallel(exec, a.outer * t.n, tl_axis_grain(t.block / 8), take_range, &t);
    return 0;
}

// Groups of a flat tensor

int tl_exec_pick1d(const tl_exec *exec, const tl_tensor *src, const tl_tensor *index,
                   tl_tensor *dst, int stride, int len)
{
    assert(index->dtype == TL_INT32 && len >= 0 && len <= index->len && stride >= 1);
    assert(src->dtype == dst->dtype && src->len % stride == 0 && dst->len == len * stride);
    const int32_t *const indices = index->data;
    const int groups = src->len / stride;
    for (int i = 0; i < len; i++)
        if (indices[i] < 0 || indices[i] >= groups)
            return tl_fail("index %d at position %d, expected 0 to %d", (int)indices[i], i,
                           groups - 1);
    tl_tensor rows = *src, chosen = *index;
    rows.ndim = 2;
    rows.dims = (int[]){groups, stride};
    chosen.dims = &chosen.len;
    chosen.len = len;
    return tl_exec_take(exec, &rows, &chosen, dst, 0);
}

int tl_pick1d_length(const tl_tensor *src, const tl_tensor *index, int stride, int len)
{
    int new_len;
    if (tl_check_at_least("stride", &stride, 1, 1) < 0 || tl_check_at_least("len", &len, 1, 1) < 0)
        return -1;
    if (src->len % stride != 0)
        return tl_fail("'src' has %d elements, expected a multiple of 'stride', %d", src->len,
                       stride);
    if (len > index->len)
        return tl_fail("'len' is %d, expected at most the %d elements of 'index'", len, index->len);
    if (__builtin_mul_overflow(len, stride, &new_len))
        return tl_fail("%d groups of %d elements, expected at most %d elements", len, stride,
                       INT_MAX);
    return new_len;
}

tl_tensor *tl_tensor_pick1d(const tl_tensor *src, const tl_tensor *index, tl_tensor *dst,
                            int stride, int len)
{
    if (tl_check_input(src, "src", 1) < 0 || tl_check_input(index, "index", 1) < 0)
        return NULL;
    if (index->dtype != TL_INT32) {
        tl_fail("'index' has dtype %s, expected TL_INT32", tl_dtype_name(index->dtype));
        return NULL;
    }
    const int new_len = tl_pick1d_length(src, index, stride, len);
    if (new_len < 0 || tl_check_apart(dst, src) < 0 || tl_check_apart(dst, index) < 0)
        return NULL;
    tl_tensor *const result = tl_result_begin(dst, 1, &new_len, src->dtype);
    return tl_result_end(result, dst,
                         result ? tl_exec_pick1d(NULL, src, index, result, stride, len) : -1);
}

// Elements along an axis

typedef struct along {
    const tl_tensor *src, *index;
    tl_tensor *dst;
    int axis;
    size_t size;                      // of an element
    ptrdiff_t src_strides[TL_MAXDIM]; // in elements
} along;

// `n` elements of `size` bytes, a constant: element i is at position i * step + index[i] * stride.
TL_INLINE void along_row(const char *src, char *dst, const int64_t *index, size_t n, int dim,
                         ptrdiff_t stride, ptrdiff_t step, size_t size)
{
    for (size_t i = 0; i < n; i++) {
        const int64_t at = index[i] < 0 ? index[i] + dim : index[i];
        memcpy(dst + i * size,
               src + ((ptrdiff_t)i * step + (ptrdiff_t)at * stride) * (ptrdiff_t)size, size);
    }
}

// Copies a row of elements of 4 or 8 bytes, by indices of TL_INT64. Returns 0 for others.
static int copy_frequent(const along *a, size_t first, size_t n, ptrdiff_t offset, ptrdiff_t step)
{
    const int dim = a->src->dims[a->axis];
    const ptrdiff_t stride = a->src_strides[a->axis];
    if (a->index->dtype != TL_INT64)
        return 0;
    const int64_t *const index = (const int64_t *)a->index->data + first;
    const char *const src = (const char *)a->src->data + offset * (ptrdiff_t)a->size;
    char *const dst = (char *)a->dst->data + first * a->size;
    if (a->size == 4)
        along_row(src, dst, index, n, dim, stride, step, 4);
    else if (a->size == 8)
        along_row(src, dst, index, n, dim, stride, step, 8);
    else
        return 0;
    return 1;
}

// Rows of dst: along the last axis, each element has a separate index.
static void along_range(void *arg, size_t begin, size_t end)
{
    const along *const a = arg;
    const int last = tl_last_axis(a->dst, a->axis);
    const size_t row_len = (size_t)a->dst->dims[last];
    const int dim = a->src->dims[a->axis];
    const size_t size = a->size;
    const ptrdiff_t stride = a->src_strides[a->axis];
    const ptrdiff_t step = a->axis == last ? 0 : a->src_strides[last];
    for (size_t row = begin; row < end; row++) {
        ptrdiff_t offset = 0;
        size_t rest = row;
        for (int i = last - 1; i >= 0; i--) {
            if (i != a->axis)
                offset += (ptrdiff_t)(rest % (size_t)a->dst->dims[i]) * a->src_strides[i];
            rest /= (size_t)a->dst->dims[i];
        }
        const size_t first = row * row_len;
        if (copy_frequent(a, first, row_len, offset, step))
            continue;
        for (size_t i = 0; i < row_len; i++) {
            const ptrdiff_t at = offset + (ptrdiff_t)i * step +
                                 (ptrdiff_t)tl_index_in(a->index, first + i, dim) * stride;
            tl_copy_block((char *)a->dst->data + (first + i) * size,
                          (const char *)a->src->data + (size_t)at * size, size);
        }
    }
}

int tl_exec_take_along(const tl_exec *exec, const tl_tensor *src, const tl_tensor *index,
                       tl_tensor *dst, int axis)
{
    assert(src->dtype == dst->dtype && src->ndim == index->ndim && index->len == dst->len);
    if (tl_check_indices(index, src->dims[axis]) < 0)
        return -1;
    if (dst->len == 0)
        return 0;
    along a = {src, index, dst, axis, tl_size_of(src->dtype), {0}};
    tl_strides_of(src, a.src_strides);
    const size_t row_len = (size_t)dst->dims[tl_last_axis(dst, axis)];
    tl_parallel(exec, (size_t)dst->len / row_len, tl_axis_grain(row_len), along_range, &a);
    return 0;
}

// Slices by several coordinates

typedef struct take_nd {
    const char *src;
    char *dst;
    const tl_tensor *index;
    const int *dims; // of the axes that an index row indexes
    size_t width;    // of an index row
    size_t per_batch, slice,
        block; // index rows, and bytes of src, of a batch; bytes of a result
} take_nd;

static void take_nd_range(void *arg, size_t begin, size_t end)
{
    const take_nd *const t = arg;
    for (size_t i = begin; i < end; i++) {
        size_t at = 0;
        for (size_t k = 0; k < t->width; k++)
            at = at * (size_t)t->dims[k] +
                 (size_t)tl_index_in(t->index, i * t->width + k, t->dims[k]);
        tl_copy_block(t->dst + i * t->block, t->src + i / t->per_batch * t->slice + at * t->block,
                      t->block);
    }
}

int tl_exec_take_nd(const tl_exec *exec, const tl_tensor *src, const tl_tensor *index,
                    tl_tensor *dst, int batch)
{
    const int width = index->dims[index->ndim - 1];
    assert(src->dtype == dst->dtype && batch + width <= src->ndim && batch < index->ndim);
    if (tl_check_index_rows(index, src->dims + batch) < 0)
        return -1;
    if (dst->len == 0)
        return 0;
    const size_t size = tl_size_of(src->dtype);
    take_nd t = {
        .src = src->data,
        .dst = dst->data,
        .index = index,
        .dims = src->dims + batch,
        .width = (size_t)width,
        .per_batch = (size_t)tl_compute_length(index->ndim - 1 - batch, index->dims + batch),
        .slice = (size_t)tl_compute_length(src->ndim - batch, src->dims + batch) * size,
        .block =
            (size_t)tl_compute_length(src->ndim - batch - width, src->dims + batch + width) * size,
    };
    tl_parallel(exec, (size_t)dst->len * size / t.block, tl_axis_grain(t.block / 8 + t.width),
                take_nd_range, &t);
    return 0;
}
