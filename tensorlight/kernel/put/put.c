// SPDX-License-Identifier: Apache-2.0
// Scatter: sets elements by index, or combines them with the old ones. All indices are checked
// before the first element changes.
//
// Updates of one element apply in order, so threads share work only where no element is common.

#include <assert.h>
#include <string.h>

#include "kernel/binary/binary.h"
#include "kernel/stride/stride.h"
#include "kernel/take/tl_index.h"
#include "kernel/tl_axis.h"
#include "tensor/tl_name.h"
#include "tensorlight/tl_shape.h"

static const char *const names[TL_PUT_OP_SIZE] = {
    [TL_PUT_SET] = "TL_PUT_SET", [TL_PUT_SUM] = "TL_PUT_SUM", [TL_PUT_MUL] = "TL_PUT_MUL",
    [TL_PUT_MAX] = "TL_PUT_MAX", [TL_PUT_MIN] = "TL_PUT_MIN",
};
TL_NAME_AND_FROM_STR(tl_put_op, names, TL_PUT_OP_SIZE)

// The operations that combine the old and the new value.
static const tl_elew_op elew_ops[TL_PUT_OP_SIZE] = {
    [TL_PUT_SET] = TL_ELEW_OP_INVALID, // the new value replaces the old one
    [TL_PUT_SUM] = TL_SUM,
    [TL_PUT_MUL] = TL_MUL,
    [TL_PUT_MAX] = TL_MAX,
    [TL_PUT_MIN] = TL_MIN,
};

// The combination of new and old values.
typedef struct combine {
    tl_broadcast_func *func; // NULL: set
    size_t size;             // of an element
} combine;

static combine combine_of(const tl_exec *exec, tl_dtype dtype, tl_put_op op)
{
    const tl_elew_op elew = elew_ops[op];
    const size_t size = tl_size_of(dtype);
    if (elew == TL_ELEW_OP_INVALID)
        return (combine){NULL, size};
    return (combine){tl_binary_kernel(exec, tl_elew_op_as_binary(elew, dtype), dtype), size};
}

static void put(const combine *c, char *old, const char *update, size_t len)
{
    if (c->func)
        c->func((const void *[]){old, update}, (int[]){1, 1}, old, len);
    else
        tl_copy_block(old, update, len * c->size);
}

// Along an axis

typedef struct along {
    combine how;
    const tl_tensor *index, *update;
    tl_tensor *dst;
    tl_put_op op;
    int axis;
    size_t per_outer; // elements of index per outer index, of the axes before `axis`
    ptrdiff_t strides[TL_MAXDIM];
} along;

// The offset in dst for element `i` of index, without the term of `axis`.
static ptrdiff_t offset_of(const along *a, size_t i)
{
    ptrdiff_t offset = 0;
    for (int k = a->index->ndim - 1; k >= 0; k--) {
        const size_t dim = (size_t)a->index->dims[k];
        if (k != a->axis)
            offset += (ptrdiff_t)(i % dim) * a->strides[k];
        i /= dim;
    }
    return offset;
}

// The frequent ways to put elements: of 4 or 8 bytes, and sums.
typedef enum put_way { SET_4, SET_8, ADD_FLOAT, ADD_INT64, OTHER_WAY } put_way;

static put_way way_of(const along *a)
{
    if (a->index->dtype != TL_INT64)
        return OTHER_WAY;
    if (a->op == TL_PUT_SUM && a->dst->dtype == TL_FLOAT)
        return ADD_FLOAT;
    if (a->op == TL_PUT_SUM && a->dst->dtype == TL_INT64)
        return ADD_INT64;
    return a->how.func || a->how.size < 4 ? OTHER_WAY : a->how.size == 4 ? SET_4 : SET_8;
}

// Puts `n` elements: element i to position i * step + index[i] * stride. `way` is a constant.
TL_INLINE void put_row(char *dst, const char *update, const int64_t *index, size_t n, int dim,
                       ptrdiff_t stride, ptrdiff_t step, put_way way)
{
    const ptrdiff_t size = way == SET_8 || way == ADD_INT64 ? 8 : 4;
    for (size_t i = 0; i < n; i++) {
        const int64_t at = index[i] < 0 ? index[i] + dim : index[i];
        char *const to = dst + ((ptrdiff_t)i * step + (ptrdiff_t)at * stride) * size;
        if (way == ADD_FLOAT)
            *(float *)to += ((const float *)update)[i];
        else if (way == ADD_INT64)
            *(uint64_t *)to += ((const uint64_t *)update)[i]; // wraps
        else
            memcpy(to, update + (ptrdiff_t)i * size, (size_t)size);
    }
}

// Puts a row of elements in a frequent way. Returns 0 for others.
static int put_frequent(const along *a, put_way way, size_t first, size_t n, ptrdiff_t offset,
                        ptrdiff_t step)
{
    const int64_t *const index = (const int64_t *)a->index->data + first;
    const char *const update = (const char *)a->update->data + first * a->how.size;
    char *const dst = (char *)a->dst->data + offset * (ptrdiff_t)a->how.size;
    const int dim = a->dst->dims[a->axis];
    const ptrdiff_t stride = a->strides[a->axis];
    if (way == SET_4)
        put_row(dst, update, index, n, dim, stride, step, SET_4);
    else if (way == SET_8)
        put_row(dst, update, index, n, dim, stride, step, SET_8);
    else if (way == ADD_FLOAT)
        put_row(dst, update, index, n, dim, stride, step, ADD_FLOAT);
    else if (way == ADD_INT64)
        put_row(dst, update, index, n, dim, stride, step, ADD_INT64);
    return way != OTHER_WAY;
}

static void put_along_range(void *arg, size_t begin, size_t end)
{
    const along *const a = arg;
    const int last = tl_last_axis(a->index, a->axis);
    const size_t row_len = (size_t)a->index->dims[last];
    const ptrdiff_t step = a->axis == last ? 0 : a->strides[last];
    const put_way way = way_of(a);
    for (size_t row = begin * a->per_outer; row < end * a->per_outer; row += row_len) {
        const ptrdiff_t offset = offset_of(a, row);
        if (put_frequent(a, way, row, row_len, offset, step))
            continue;
        for (size_t i = 0; i < row_len; i++) {
            const ptrdiff_t at = offset + (ptrdiff_t)i * step +
                                 (ptrdiff_t)tl_index_in(a->index, row + i, a->dst->dims[a->axis]) *
                                     a->strides[a->axis];
            put(&a->how, (char *)a->dst->data + (size_t)at * a->how.size,
                (const char *)a->update->data + (row + i) * a->how.size, 1);
        }
    }
}

int tl_exec_put_along(const tl_exec *exec, const tl_tensor *src, const tl_tensor *index,
                      const tl_tensor *update, tl_tensor *dst, int axis, tl_put_op op)
{
    assert(src->dtype == dst->dtype && update->dtype == dst->dtype && src->len == dst->len &&
           index->ndim == dst->ndim && index->len == update->len);
    if (tl_check_indices(index, dst->dims[axis]) < 0 || tl_exec_copy(exec, src, dst) < 0)
        return -1;
    if (index->len == 0)
        return 0;
    along a = {.how = combine_of(exec, dst->dtype, op),
               .index = index,
               .update = update,
               .dst = dst,
               .op = op,
               .axis = axis};
    tl_strides_of(dst, a.strides);
    const tl_axis view = tl_axis_of(index, axis);
    a.per_outer = view.len * view.inner;
    tl_parallel(exec, view.outer, tl_axis_grain(a.per_outer), put_along_range, &a);
    return 0;
}

// By several coordinates

typedef struct put_nd {
    combine how;
    const tl_tensor *index;
    const char *update;
    tl_tensor *dst;
    size_t width, rows, block; // length and number of index rows; elements that a row selects
} put_nd;

// Units are elements of the block that an index row selects.
static void put_nd_range(void *arg, size_t begin, size_t end)
{
    const put_nd *const p = arg;
    for (size_t i = 0; i < p->rows; i++) {
        size_t at = 0;
        for (size_t k = 0; k < p->width; k++)
            at = at * (size_t)p->dst->dims[k] +
                 (size_t)tl_index_in(p->index, i * p->width + k, p->dst->dims[k]);
        put(&p->how, (char *)p->dst->data + (at * p->block + begin) * p->how.size,
            p->update + (i * p->block + begin) * p->how.size, end - begin);
    }
}

int tl_exec_put_nd(const tl_exec *exec, const tl_tensor *src, const tl_tensor *index,
                   const tl_tensor *update, tl_tensor *dst, tl_put_op op)
{
    const int width = index->dims[index->ndim - 1];
    assert(src->dtype == dst->dtype && update->dtype == dst->dtype && src->len == dst->len &&
           width <= dst->ndim);
    if (tl_check_index_rows(index, dst->dims) < 0 || tl_exec_copy(exec, src, dst) < 0)
        return -1;
    if (update->len == 0)
        return 0;
    put_nd p = {.how = combine_of(exec, dst->dtype, op),
                .index = index,
                .update = update->data,
                .dst = dst,
                .width = (size_t)width,
                .rows = (size_t)tl_compute_length(index->ndim - 1, index->dims),
                .block = (size_t)tl_compute_length(dst->ndim - width, dst->dims + width)};
    tl_parallel(exec, p.block, tl_axis_grain(p.rows), put_nd_range, &p);
    return 0;
}

// A range for each batch

typedef struct put_range {
    const tl_tensor *update, *first;
    char *dst;
    tl_axis from, to; // update and dst along the axis
    size_t per_batch; // outer indices of a batch
    size_t block;     // bytes
} put_range;

// Units are outer indices: those before the axis.
static void put_ranges(void *arg, size_t begin, size_t end)
{
    const put_range *const p = arg;
    for (size_t i = begin; i < end; i++) {
        const size_t first = p->first ? (size_t)tl_index_at(p->first, i / p->per_batch) : 0;
        for (size_t k = 0; k < p->from.len; k++)
            tl_copy_block(p->dst + (i * p->to.len + (first + k) % p->to.len) * p->block,
                          (const char *)p->update->data + (i * p->from.len + k) * p->block,
                          p->block);
    }
}

static int check_first(const tl_tensor *first, size_t len, size_t room, int circular)
{
    if (len > room)
        return tl_fail("'update' has length %zu along the axis, expected at most %zu", len, room);
    for (int i = 0; first && i < first->len; i++) {
        const int64_t at = tl_index_at(first, (size_t)i);
        const size_t max = circular ? room - 1 : room - len;
        if (at < 0 || (uint64_t)at > max)
            return tl_fail("index %lld at position %d, expected 0 to %zu", (long long)at, i, max);
    }
    return 0;
}

int tl_exec_put_range(const tl_exec *exec, const tl_tensor *src, const tl_tensor *update,
                      const tl_tensor *first, tl_tensor *dst, int axis, int circular)
{
    assert(src->dtype == dst->dtype && update->dtype == dst->dtype && src->len == dst->len &&
           axis > 0 && update->ndim == dst->ndim && (!first || first->len == dst->dims[0]));
    if (update->len == 0 || dst->len == 0)
        return tl_exec_copy(exec, src, dst);
    put_range p = {.update = update,
                   .first = first,
                   .dst = dst->data,
                   .from = tl_axis_of(update, axis),
                   .to = tl_axis_of(dst, axis)};
    if (check_first(first, p.from.len, p.to.len, circular) < 0 || tl_exec_copy(exec, src, dst) < 0)
        return -1;
    p.per_batch = p.to.outer / (size_t)dst->dims[0];
    p.block = p.to.inner * tl_size_of(dst->dtype);
    tl_parallel(exec, p.to.outer, tl_axis_grain(p.from.len * p.block / 8), put_ranges, &p);
    return 0;
}
