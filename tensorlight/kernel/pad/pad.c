// SPDX-License-Identifier: Apache-2.0
// Padding: each element of dst is one of src, or a constant.
//
// Along an axis, dst = |before| kept elements of src |after|. Axes without padding or cropping
// merge with the axis before them, so that rows are as long as possible. The inside
// of adjacent rows is copied as blocks, and so are constant borders. Other borders are repeated or
// reversed parts of the row, or the source of each of their elements is computed.

#include <assert.h>
#include <string.h>

#include "kernel/move/move.h"
#include "kernel/stride/stride.h"
#include "kernel/tl_axis.h"
#include "tensor/tl_name.h"
#include "tensor/tl_result.h"
#include "tensorlight/tl_shape.h"

static const char *const mode_names[TL_PAD_MODE_SIZE] = {
    [TL_PAD_CONSTANT] = "TL_PAD_CONSTANT",
    [TL_PAD_EDGE] = "TL_PAD_EDGE",
    [TL_PAD_REFLECT] = "TL_PAD_REFLECT",
    [TL_PAD_WRAP] = "TL_PAD_WRAP",
};
TL_NAME_AND_FROM_STR(tl_pad_mode, mode_names, TL_PAD_MODE_SIZE)

// An axis of dst: `before` elements, then `kept` ones, of src from `first` on, then the others.
typedef struct pad_axis {
    int64_t len, before, first, kept;
    ptrdiff_t src_stride;
    int is_whole; // neither padded nor cropped
} pad_axis;

// Bytes of a border that is copied as a block.
enum { MAX_BORDER = 256 };

typedef struct pad {
    const char *src;
    char *dst;
    size_t size; // of an element; without constants, of all those of whole last axes
    tl_pad_mode mode;
    const void *value;
    int ndim; // at least 1
    pad_axis axes[TL_MAXDIM];
    int64_t piece;           // elements of a row that are computed at a time
    size_t pieces;           // of a row
    tl_stride_kernel *line;  // of elements; NULL: these are larger
    char border[MAX_BORDER]; // constants
} pad;

static inline int64_t remainder_of(int64_t a, int64_t b)
{
    const int64_t r = a % b;
    return r < 0 ? r + b : r;
}

// The index of src for index `i` of dst; -1: none.
static inline int64_t source_of(const pad_axis *axis, tl_pad_mode mode, int64_t i)
{
    const int64_t at = i - axis->before, n = axis->kept;
    if (at >= 0 && at < n)
        return axis->first + at;
    if (mode == TL_PAD_CONSTANT)
        return -1;
    if (mode == TL_PAD_WRAP)
        return axis->first + remainder_of(at, n);
    if (mode == TL_PAD_EDGE || n == 1)
        return axis->first + (at < 0 ? 0 : n - 1);
    const int64_t mirrored = remainder_of(at, 2 * (n - 1));
    return axis->first + (mirrored < n ? mirrored : 2 * (n - 1) - mirrored);
}

static void fill(const pad *p, char *dst, int64_t n)
{
    const size_t size = (size_t)n * p->size;
    size_t done = tl_min_size(size, MAX_BORDER);
    memcpy(dst, p->border, done);
    for (; done < size; done *= 2)
        memcpy(dst + done, dst, done < size - done ? done : size - done);
}

// The step from one index of src to the next for `n` elements of a border, from `from` to `to`; 2
// if they turn round between.
static int64_t step_of(tl_pad_mode mode, int64_t from, int64_t to, int64_t n)
{
    if (mode == TL_PAD_EDGE || n == 1)
        return 0;
    if (to - from == n - 1)
        return 1;
    return mode == TL_PAD_REFLECT && from - to == n - 1 ? -1 : 2;
}

// Writes the elements begin .. end-1 of a border of a row of dst. `src` is its source row, or NULL
// if the row is constant.
static void pad_border(const pad *p, const char *src, char *dst, int64_t begin, int64_t end)
{
    const pad_axis *const line = &p->axes[p->ndim - 1];
    if (begin >= end)
        return;
    if (!src || p->mode == TL_PAD_CONSTANT) {
        fill(p, dst + (size_t)begin * p->size, end - begin);
        return;
    }
    const int64_t n = end - begin, from = source_of(line, p->mode, begin);
    const int64_t step = step_of(p->mode, from, source_of(line, p->mode, end - 1), n);
    if (p->line && step <= 1) {
        p->line(src + (size_t)from * p->size, (ptrdiff_t)step, dst + (size_t)begin * p->size, 1,
                (size_t)n);
        return;
    }
    for (int64_t i = begin; i < end; i++)
        memcpy(dst + (size_t)i * p->size, src + (size_t)source_of(line, p->mode, i) * p->size,
               p->size);
}

// Writes the elements begin .. end-1 of a row of dst.
static void pad_row(const pad *p, const char *src, char *dst, int64_t begin, int64_t end)
{
    const pad_axis *const line = &p->axes[p->ndim - 1];
    const int64_t inside = src ? line->before : line->len;
    const int64_t after = src ? line->before + line->kept : line->len;
    const int64_t from = begin > inside ? begin : inside, to = end < after ? end : after;
    pad_border(p, src, dst, begin, end < inside ? end : inside);
    if (from < to)
        memcpy(dst + (size_t)from * p->size,
               src + (size_t)(line->first + from - line->before) * p->size,
               (size_t)(to - from) * p->size);
    pad_border(p, src, dst, begin > after ? begin : after, end);
}

// The source of a row; NULL: the row is constant.
static const char *source_row(const pad *p, size_t row)
{
    ptrdiff_t offset = 0;
    for (int i = p->ndim - 2; i >= 0; i--) {
        const pad_axis *const axis = &p->axes[i];
        const int64_t at = source_of(axis, p->mode, (int64_t)(row % (size_t)axis->len));
        if (at < 0)
            return NULL;
        row /= (size_t)axis->len;
        offset += at * axis->src_stride;
    }
    return p->src + (size_t)offset * p->size;
}

// Writes a border of `len` constants of `n` rows.
static void pad_borders(const pad *p, char *dst, size_t n, int64_t len)
{
    const size_t row = (size_t)p->axes[p->ndim - 1].len * p->size, size = (size_t)len * p->size;
    if (size <= MAX_BORDER)
        tl_copy_blocks((tl_strided){dst, (ptrdiff_t)row}, (tl_strided){(char *)p->border, 0}, n,
                       size);
    for (size_t i = 0; i < n && size > MAX_BORDER; i++)
        fill(p, dst + i * row, len);
}

// Writes `n` adjacent rows from `row` on whose sources are adjacent, too.
static void pad_rows(const pad *p, const char *src, size_t row, size_t n)
{
    const pad_axis *const line = &p->axes[p->ndim - 1], *const outer = line - 1;
    const int64_t after = line->before + line->kept;
    const ptrdiff_t step = (ptrdiff_t)((size_t)line->len * p->size);
    const ptrdiff_t src_step = p->ndim > 1 ? outer->src_stride * (ptrdiff_t)p->size : 0;
    char *const dst = p->dst + (ptrdiff_t)row * step;
    tl_copy_blocks((tl_strided){dst + (size_t)line->before * p->size, step},
                   (tl_strided){(char *)src + (size_t)line->first * p->size, src_step}, n,
                   (size_t)line->kept * p->size);
    if (p->mode == TL_PAD_CONSTANT) {
        pad_borders(p, dst, n, line->before);
        pad_borders(p, dst + (size_t)after * p->size, n, line->len - after);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        pad_border(p, src + (ptrdiff_t)i * src_step, dst + (ptrdiff_t)i * step, 0, line->before);
        pad_border(p, src + (ptrdiff_t)i * src_step, dst + (ptrdiff_t)i * step, after, line->len);
    }
}

// The number of rows from `row` to `end` that are constant or, as their axis is inside src, have
// adjacent sources.
static size_t adjacent_rows(const pad *p, size_t row, size_t end)
{
    if (p->ndim == 1)
        return 1;
    const pad_axis *const axis = &p->axes[p->ndim - 2];
    const int64_t i = (int64_t)(row % (size_t)axis->len), after = axis->before + axis->kept;
    if (i >= axis->before && i < after)
        return tl_min_size(end - row, (size_t)(after - i));
    if (p->mode != TL_PAD_CONSTANT)
        return 1;
    return tl_min_size(end - row, (size_t)((i < axis->before ? axis->before : axis->len) - i));
}

static void pad_whole_rows(const pad *p, size_t begin, size_t end)
{
    const int64_t len = p->axes[p->ndim - 1].len;
    for (size_t row = begin, n; row < end; row += n) {
        const char *const src = source_row(p, row);
        n = adjacent_rows(p, row, end);
        if (src)
            pad_rows(p, src, row, n);
        else
            fill(p, p->dst + row * (size_t)len * p->size, (int64_t)n * len);
    }
}

static void pad_pieces(void *arg, size_t begin, size_t end)
{
    const pad *const p = arg;
    const int64_t len = p->axes[p->ndim - 1].len;
    if (p->pieces == 1) {
        pad_whole_rows(p, begin, end);
        return;
    }
    for (size_t i = begin; i < end; i++) {
        const size_t row = i / p->pieces;
        const int64_t from = (int64_t)(i % p->pieces) * p->piece;
        const int64_t to = from + p->piece < len ? from + p->piece : len;
        pad_row(p, source_row(p, row), p->dst + row * (size_t)len * p->size, from, to);
    }
}

static pad_axis axis_of(int src_dim, int dst_dim, int begin, ptrdiff_t stride)
{
    const int64_t end = (int64_t)dst_dim - src_dim - begin;
    const int64_t first = begin < 0 ? -(int64_t)begin : 0;
    const int64_t kept = src_dim - first + (end < 0 ? end : 0);
    if (kept <= 0)
        return (pad_axis){dst_dim, dst_dim, 0, 0, stride, 0};
    return (pad_axis){dst_dim, begin > 0 ? begin : 0, first, kept, stride, begin == 0 && end == 0};
}

// Merges the whole axis `inner` into `outer`, the one before it.
static void merge(pad_axis *outer, const pad_axis *inner)
{
    outer->len *= inner->len;
    outer->before *= inner->len;
    outer->first *= inner->len;
    outer->kept *= inner->len;
    outer->src_stride = inner->src_stride;
}

// Merges whole axes with the one before: with a whole one, or with any one if the padding is
// constant. Another whole last axis becomes part of the elements.
static void merge_axes(pad *p)
{
    int n = 1;
    for (int i = 1; i < p->ndim; i++) {
        pad_axis *const outer = &p->axes[n - 1];
        if (p->axes[i].is_whole && (outer->is_whole || p->mode == TL_PAD_CONSTANT))
            merge(outer, &p->axes[i]);
        else
            p->axes[n++] = p->axes[i];
    }
    p->ndim = n;
    if (p->mode == TL_PAD_CONSTANT || n == 1 || !p->axes[n - 1].is_whole)
        return;
    const pad_axis *const last = &p->axes[n - 1];
    p->size *= (size_t)last->len;
    p->ndim--;
    for (int i = 0; i < p->ndim; i++)
        p->axes[i].src_stride /= last->len;
}

// Min bytes of a task.
enum { GRAIN = 65536 };

// Divides long rows into pieces.
static void divide(pad *p)
{
    const int64_t len = p->axes[p->ndim - 1].len, max = (int64_t)(GRAIN / p->size) + 1;
    p->pieces = (size_t)((len + max - 1) / max);
    p->piece = (len + (int64_t)p->pieces - 1) / (int64_t)p->pieces;
}

int tl_exec_pad(const tl_exec *exec, const tl_tensor *src, tl_tensor *dst, const int *begin,
                tl_pad_mode mode, const void *value)
{
    static const char zero[TL_DTYPE_MAX_SIZE];
    assert(src->dtype == dst->dtype && src->ndim == dst->ndim);
    if (dst->len == 0)
        return 0;
    if (src->ndim == 0)
        return tl_exec_copy(exec, src, dst);
    pad p = {.src = src->data,
             .dst = dst->data,
             .size = tl_size_of(src->dtype),
             .mode = mode,
             .value = value ? value : zero,
             .ndim = src->ndim};
    ptrdiff_t strides[TL_MAXDIM];
    tl_strides_of(src, strides);
    for (int i = 0; i < src->ndim; i++) {
        p.axes[i] = axis_of(src->dims[i], dst->dims[i], begin[i], strides[i]);
        assert(mode == TL_PAD_CONSTANT || p.axes[i].kept > 0);
    }
    const size_t size = (size_t)dst->len * p.size;
    for (size_t i = 0; i < MAX_BORDER; i += p.size)
        memcpy(p.border + i, p.value, p.size);
    merge_axes(&p);
    divide(&p);
    if (p.size <= TL_DTYPE_MAX_SIZE && (p.size & (p.size - 1)) == 0)
        p.line = tl_stride_pick(exec, p.size);
    const size_t rows = size / ((size_t)p.axes[p.ndim - 1].len * p.size);
    tl_parallel(exec, rows * p.pieces, GRAIN / ((size_t)p.piece * p.size) + 1, pad_pieces, &p);
    return 0;
}
