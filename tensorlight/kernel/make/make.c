// SPDX-License-Identifier: Apache-2.0
// ONNX EyeLike, Trilu and OneHot. Diagonal k of a matrix consists of the elements
// [r, r + k].

#include <assert.h>
#include <string.h>

#include "kernel/tl_axis.h"
#include "kernel/tl_kernel.h"
#include "tensorlight/tl_shape.h"

// Diagonals

// The column of diagonal `k` in row `r`, clamped to 0 .. cols.
static size_t column_of(int64_t r, int64_t k, size_t cols)
{
    int64_t column;
    if (__builtin_add_overflow(r, k, &column))
        return k < 0 ? 0 : cols;
    return column < 0 ? 0 : (uint64_t)column > cols ? cols : (size_t)column;
}

int tl_exec_eye(const tl_exec *exec, tl_tensor *dst, int64_t k)
{
    assert(dst->ndim == 2);
    const int64_t rows = dst->dims[0], cols = dst->dims[1];
    const double one = 1;
    char element[TL_DTYPE_MAX_SIZE];
    tl_convert(element, dst->dtype, &one, TL_DOUBLE);
    tl_exec_zeros(exec, dst);
    if (k <= -rows || k >= cols)
        return 0;
    for (int64_t r = k < 0 ? -k : 0; r < rows && r + k < cols; r++)
        tl_pointer_assign(dst->data, r * cols + r + k, element, 0, dst->dtype);
    return 0;
}

typedef struct trilu {
    const char *src;
    char *dst;
    size_t rows, cols, size;
    int64_t k;
    int upper;
} trilu;

static void trilu_rows(void *arg, size_t begin, size_t end)
{
    const trilu *const t = arg;
    for (size_t i = begin; i < end; i++) {
        // The diagonal itself is kept, above and below.
        const int64_t k = t->upper || t->k == INT64_MAX ? t->k : t->k + 1;
        const size_t split = column_of((int64_t)(i % t->rows), k, t->cols) * t->size;
        const size_t row = t->cols * t->size;
        const size_t first = t->upper ? split : 0, last = t->upper ? row : split;
        char *const dst = t->dst + i * row;
        memset(dst, 0, first);
        memcpy(dst + first, t->src + i * row + first, last - first);
        memset(dst + last, 0, row - last);
    }
}

int tl_exec_trilu(const tl_exec *exec, const tl_tensor *src, tl_tensor *dst, int64_t k, int upper)
{
    assert(src->dtype == dst->dtype && src->ndim >= 2 && src->len == dst->len);
    if (src->len == 0)
        return 0;
    trilu t = {src->data,
               dst->data,
               (size_t)src->dims[src->ndim - 2],
               (size_t)src->dims[src->ndim - 1],
               tl_size_of(src->dtype),
               k,
               upper};
    tl_parallel(exec, (size_t)src->len / t.cols, tl_axis_grain(t.cols * t.size / 8), trilu_rows,
                &t);
    return 0;
}

// Indices

enum { BUFFER = 256 };

typedef struct onehot {
    const tl_tensor *index;
    const void *on;
    tl_tensor *dst;
    tl_axis view; // of dst along the new axis
} onehot;

static void mark(const onehot *o, size_t i, int64_t index)
{
    const int64_t depth = (int64_t)o->view.len, at = index < 0 ? index + depth : index;
    if (at < 0 || at >= depth)
        return;
    const size_t place = (i / o->view.inner * o->view.len + (size_t)at) * o->view.inner;
    tl_pointer_assign(o->dst->data, (ptrdiff_t)(place + i % o->view.inner), o->on, 0,
                      o->dst->dtype);
}

static void mark_range(void *arg, size_t begin, size_t end)
{
    const onehot *const o = arg;
    int64_t buffer[BUFFER];
    for (size_t i = begin; i < end; i += BUFFER) {
        const size_t n = end - i < BUFFER ? end - i : BUFFER;
        tl_convert_array(buffer, TL_INT64,
                         tl_pointer_add(o->index->data, (ptrdiff_t)i, o->index->dtype),
                         o->index->dtype, n);
        for (size_t k = 0; k < n; k++)
            mark(o, i + k, buffer[k]);
    }
}

int tl_exec_onehot(const tl_exec *exec, const tl_tensor *index, const tl_tensor *values,
                   tl_tensor *dst, int axis)
{
    assert(values->dtype == dst->dtype && values->len == 2 && index->ndim + 1 == dst->ndim);
    onehot o = {index, tl_pointer_add(values->data, 1, values->dtype), dst, tl_axis_of(dst, axis)};
    tl_exec_fill(exec, dst, values->data);
    if (dst->len > 0)
        tl_parallel(exec, (size_t)index->len, TL_GRAIN_COMPUTE_BOUND, mark_range, &o);
    return 0;
}
