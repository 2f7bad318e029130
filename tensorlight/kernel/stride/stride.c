// SPDX-License-Identifier: Apache-2.0
// Copies with strides, and functions based on them: slices with steps, broadcasting, tiling.
//
// Axes of length 1 are dropped, and adjacent axes are merged where both src and dst have no gap
// between them. The last axis is a line; a task copies pieces of lines.

#include "kernel/stride/stride.h"

#include <assert.h>
#include <limits.h>
#include <string.h>

#include "kernel/move/move.h"
#include "kernel/tl_axis.h"
#include "tensor/tl_result.h"
#include "tensorlight/tl_shape.h"

TL_KERNEL_TABLE(pick, tl_stride_kernel, TL_STRIDE_KERNELS)

tl_stride_kernel *tl_stride_pick(const tl_exec *exec, size_t size)
{
    return pick(exec, tl_dtype_of_size(size));
}

// Min elements of a task, and max length of a piece of a line.
enum { GRAIN = 16384 };

// Adjacent lines that are worth a call, and bytes of a line that are worth one.
enum { MIN_BLOCKS = 8, MIN_LINE = 256 };

typedef struct plan {
    tl_stride_kernel *func; // NULL: the line is contiguous in both
    const char *src;
    char *dst;
    size_t size;                         // of an element
    tl_stride_axis outer[TL_STRIDE_MAX]; // the axes that lines are counted along
    int n_outer;
    tl_stride_axis line;
    size_t lines, pieces; // pieces of each line
} plan;

int tl_stride_merge(tl_stride_axis *merged, const tl_stride_axis *axes, int n)
{
    int count = 0;
    for (int i = 0; i < n; i++) {
        const tl_stride_axis a = axes[i];
        if (a.len == 1)
            continue;
        tl_stride_axis *const last = count ? &merged[count - 1] : NULL;
        if (last && last->src == a.src * (ptrdiff_t)a.len && last->dst == a.dst * (ptrdiff_t)a.len)
            *last = (tl_stride_axis){last->len * a.len, a.src, a.dst};
        else
            merged[count++] = a;
    }
    return count;
}

// Short lines are copied in many calls if the axis before them is short, too.
static void move_longest_last(plan *p)
{
    int longest = 0;
    for (int i = 1; i < p->n_outer; i++)
        if (p->outer[i].len >= p->outer[longest].len)
            longest = i;
    const tl_stride_axis last = p->outer[p->n_outer - 1];
    p->outer[p->n_outer - 1] = p->outer[longest];
    p->outer[longest] = last;
}

static void plan_init(plan *p, const tl_exec *exec, const tl_stride_axis *axes, int n)
{
    p->n_outer = tl_stride_merge(p->outer, axes, n);
    p->line = p->n_outer ? p->outer[--p->n_outer] : (tl_stride_axis){1, 1, 1};
    p->lines = 1;
    for (int i = 0; i < p->n_outer; i++)
        p->lines *= p->outer[i].len;
    if (p->n_outer > 1 && p->line.len * p->size < MIN_LINE &&
        p->outer[p->n_outer - 1].len < MIN_BLOCKS)
        move_longest_last(p);
    p->pieces = (p->line.len + GRAIN - 1) / GRAIN;
    if (p->line.src != 1 || p->line.dst != 1)
        p->func = tl_stride_pick(exec, p->size);
}

static void copy_piece(const plan *p, const tl_stride_iter *at, size_t piece)
{
    const size_t first = piece * GRAIN;
    const size_t len = tl_min_size(GRAIN, p->line.len - first);
    const void *const src = tl_padd(p->src, at->src + (ptrdiff_t)first * p->line.src, p->size);
    void *const dst = tl_padd(p->dst, at->dst + (ptrdiff_t)first * p->line.dst, p->size);
    if (p->func)
        p->func(src, p->line.src, dst, p->line.dst, len);
    else
        memcpy(dst, src, len * p->size);
}

void tl_stride_copy_lines(const void *src, void *dst, size_t size, const tl_stride_axis *axes,
                          int n, size_t len, size_t begin, size_t end)
{
    const tl_stride_axis last = n ? axes[n - 1] : (tl_stride_axis){1, 0, 0};
    const ptrdiff_t step = (ptrdiff_t)size;
    tl_stride_iter at;
    for (size_t i = begin, blocks; i < end; i += blocks) {
        blocks = tl_axis_span(i, end, last.len, end);
        tl_stride_iter_init(&at, axes, n, i);
        tl_copy_blocks((tl_strided){(char *)dst + at.dst * step, last.dst * step},
                       (tl_strided){(char *)src + at.src * step, last.src * step}, blocks,
                       len * size);
    }
}

static void copy_range(void *arg, size_t begin, size_t end)
{
    const plan *const p = arg;
    if (p->pieces == 1 && !p->func) {
        tl_stride_copy_lines(p->src, p->dst, p->size, p->outer, p->n_outer, p->line.len, begin,
                             end);
        return;
    }
    tl_stride_iter at;
    tl_stride_iter_init(&at, p->outer, p->n_outer, begin / p->pieces);
    for (size_t i = begin; i < end; i++) {
        copy_piece(p, &at, i % p->pieces);
        if ((i + 1) % p->pieces == 0)
            tl_stride_iter_next(&at, p->outer, p->n_outer);
    }
}

void tl_stride_copy(const tl_exec *exec, const void *src, void *dst, size_t size,
                    const tl_stride_axis *axes, int n)
{
    for (int i = 0; i < n; i++)
        if (axes[i].len == 0)
            return;
    plan p = {.src = src, .dst = dst, .size = size};
    plan_init(&p, exec, axes, n);
    tl_parallel(exec, p.lines * p.pieces, GRAIN / p.line.len + 1, copy_range, &p);
}

void tl_strides_of(const tl_tensor *t, ptrdiff_t *strides)
{
    ptrdiff_t stride = 1;
    for (int i = t->ndim - 1; i >= 0; i--) {
        strides[i] = stride;
        stride *= t->dims[i];
    }
}

// Shapes

// A new shape, apart from the length of the axis that is inferred.
typedef struct new_shape {
    int inferred;          // that axis, or -1
    int64_t known;         // elements of the other axes
    unsigned copied_zeros; // bit i: axis i copies the length 0 of src's axis i
} new_shape;

static int read_axis(new_shape *s, const tl_tensor *src, int axis, int wanted, int *dim)
{
    const int copies = wanted == -2;
    if (wanted < -2 || (copies && axis >= src->ndim) || (wanted == -1 && s->inferred >= 0))
        return tl_fail("%d at %d of the new shape, expected a length%s%s", wanted, axis,
                       s->inferred < 0 ? ", -1 for the rest" : "",
                       axis < src->ndim ? ", -2 for the one in the source" : "");
    *dim = copies ? src->dims[axis] : wanted;
    if (wanted == -1)
        s->inferred = axis;
    else if (copies && *dim == 0)
        s->copied_zeros |= 1u << axis;
    else
        s->known = s->known > INT_MAX ? s->known : s->known * *dim;
    return 0;
}

int tl_reshape_dims(const tl_tensor *src, int ndim, const int *wanted, int is_max, int *dims)
{
    new_shape s = {-1, 1, 0};
    int64_t len = 1; // at most INT_MAX, also without the copied zeros
    for (int i = 0; i < ndim; i++)
        if (read_axis(&s, src, i, wanted[i], &dims[i]) < 0)
            return -1;
    for (int i = 0; i < src->ndim; i++)
        len *= s.copied_zeros & 1u << i ? 1 : src->dims[i];
    if (s.inferred >= 0 && (s.known == 0 || (!is_max && len % s.known != 0)))
        return tl_fail(
            "-1 in the new shape, expected the other axes, of %lld elements, to divide %lld",
            (long long)s.known, (long long)len);
    if (s.inferred >= 0)
        dims[s.inferred] = (int)(len / s.known);
    char text[TL_SHAPE_TEXT_SIZE];
    const int new_len = tl_compute_length(ndim, dims);
    if (new_len != src->len && !(is_max && new_len >= 0 && new_len < src->len))
        return tl_fail("new shape %s, expected %d elements", tl_shape_text(text, ndim, dims),
                       src->len);
    return 0;
}

// Slices with steps

static int64_t clamp(int64_t value, int64_t low, int64_t high)
{
    return value < low ? low : value > high ? high : value;
}

int tl_slice_length(int dim, int start, int end, int step, int *first)
{
    const int64_t low = step < 0 ? -1 : 0, high = step < 0 ? (int64_t)dim - 1 : dim;
    const int64_t lowest_start = high < 0 ? high : 0;
    const int64_t from = clamp(start < 0 ? (int64_t)start + dim : start, lowest_start, high);
    const int64_t to = clamp(end < 0 ? (int64_t)end + dim : end, low, high);
    const int64_t span = step < 0 ? from - to : to - from;
    const int64_t width = step < 0 ? -(int64_t)step : step;
    *first = (int)from;
    return span <= 0 ? 0 : (int)((span + width - 1) / width);
}

int tl_exec_stride_slice(const tl_exec *exec, const tl_tensor *src, tl_tensor *dst, int n,
                         const int *axes, const int *first, const int *steps)
{
    assert(src->dtype == dst->dtype && src->ndim == dst->ndim);
    ptrdiff_t src_strides[TL_MAXDIM], dst_strides[TL_MAXDIM];
    tl_strides_of(src, src_strides);
    tl_strides_of(dst, dst_strides);
    tl_stride_axis copy[TL_MAXDIM];
    for (int i = 0; i < dst->ndim; i++)
        copy[i] = (tl_stride_axis){(size_t)dst->dims[i], src_strides[i], dst_strides[i]};
    ptrdiff_t offset = 0;
    for (int i = 0; i < n; i++) {
        offset += first[i] * src_strides[axes[i]];
        copy[axes[i]].src *= steps[i];
    }
    if (dst->len > 0)
        tl_stride_copy(exec, tl_pointer_add(src->data, offset, src->dtype), dst->data,
                       tl_size_of(src->dtype), copy, dst->ndim);
    return 0;
}

// Repetition

// The dim at `axis` of a shape right-aligned to `ndim` axes: 1 before its first axis.
static int aligned_dim(int own_ndim, const int *dims, int ndim, int axis)
{
    const int own = axis - (ndim - own_ndim);
    return own < 0 ? 1 : dims[own];
}

int tl_broadcast_dims(int a_ndim, const int *a_dims, int b_ndim, const int *b_dims, int *dims)
{
    const int ndim = a_ndim > b_ndim ? a_ndim : b_ndim;
    for (int i = 0; i < ndim; i++) {
        const int a = aligned_dim(a_ndim, a_dims, ndim, i);
        const int b = aligned_dim(b_ndim, b_dims, ndim, i);
        char a_text[TL_SHAPE_TEXT_SIZE], b_text[TL_SHAPE_TEXT_SIZE];
        if (a != b && a != 1 && b != 1)
            return tl_fail("shapes %s and %s, expected ones that broadcast to one",
                           tl_shape_text(a_text, a_ndim, a_dims),
                           tl_shape_text(b_text, b_ndim, b_dims));
        dims[i] = a == 1 ? b : a;
    }
    return ndim;
}

int tl_exec_expand(const tl_exec *exec, const tl_tensor *src, tl_tensor *dst)
{
    assert(src->dtype == dst->dtype && src->ndim <= dst->ndim);
    ptrdiff_t src_strides[TL_MAXDIM], dst_strides[TL_MAXDIM];
    tl_strides_of(src, src_strides);
    tl_strides_of(dst, dst_strides);
    tl_stride_axis copy[TL_MAXDIM];
    for (int i = 0; i < dst->ndim; i++) {
        const int own = i - (dst->ndim - src->ndim);
        const int repeats = own < 0 || src->dims[own] == 1;
        copy[i] =
            (tl_stride_axis){(size_t)dst->dims[i], repeats ? 0 : src_strides[own], dst_strides[i]};
    }
    tl_stride_copy(exec, src->data, dst->data, tl_size_of(src->dtype), copy, dst->ndim);
    return 0;
}

int tl_exec_tile(const tl_exec *exec, const tl_tensor *src, tl_tensor *dst, const int *repeats)
{
    assert(src->dtype == dst->dtype && src->ndim == dst->ndim);
    ptrdiff_t src_strides[TL_MAXDIM], dst_strides[TL_MAXDIM];
    tl_strides_of(src, src_strides);
    tl_strides_of(dst, dst_strides);
    tl_stride_axis copy[TL_STRIDE_MAX];
    for (int i = 0; i < src->ndim; i++) {
        assert(dst->dims[i] == src->dims[i] * repeats[i]);
        copy[2 * i] = (tl_stride_axis){(size_t)repeats[i], 0, src->dims[i] * dst_strides[i]};
        copy[2 * i + 1] = (tl_stride_axis){(size_t)src->dims[i], src_strides[i], dst_strides[i]};
    }
    tl_stride_copy(exec, src->data, dst->data, tl_size_of(src->dtype), copy, 2 * src->ndim);
    return 0;
}
