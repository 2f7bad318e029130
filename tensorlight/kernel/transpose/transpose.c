// SPDX-License-Identifier: Apache-2.0
// Permutation of axes: reduced to the copy of rows, or to the transposition of matrices.
//
// First the plan: axes of length 1 are dropped, and axes that follow each other in dst as in src
// become one. Then either the last axis of dst is the last of src too, and dst is made of rows of
// src:
//
//     [a, b, c] -> [b, a, c]     b * a rows of c elements
//
// or another axis of dst runs along src's last, and with dst's last axis spans matrices to
// transpose:
//
//     [a, b, c] -> [a, c, b]     a matrices, [b, c] -> [c, b]
//
// A unit of work is a row, or a band of rows of such a matrix.

#include "kernel/transpose/transpose.h"

#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "tensor/tl_result.h"

TL_KERNEL_TABLE(pick, tl_transpose_kernel, TL_TRANSPOSE_KERNELS)

// An axis of dst: its length, and the distance of its elements in src and dst, in elements.
typedef struct axis {
    size_t len, src_stride, dst_stride;
} axis;

// The rows of a matrix that make a unit.
enum { BAND = 32 };

typedef struct plan {
    tl_transpose_kernel *func; // NULL: copy rows
    const char *src;
    char *dst;
    size_t size;           // of an element
    axis outer[TL_MAXDIM]; // the axes that units are counted along, the last fastest
    int n_outer;
    axis rows, cols; // of the matrices; for rows to copy, cols is the row
    size_t bands;    // per matrix
} plan;

// Axes of dst in order, without those of length 1, and merged where src has them side by side too.
static int merge_axes(axis *merged, const tl_tensor *src, const tl_tensor *dst, const int *axes)
{
    size_t src_strides[TL_MAXDIM];
    size_t stride = 1;
    for (int i = src->ndim - 1; i >= 0; i--) {
        src_strides[i] = stride;
        stride *= (size_t)src->dims[i];
    }
    int n = 0;
    for (int i = 0; i < dst->ndim; i++) {
        const axis a = {(size_t)dst->dims[i], src_strides[axes[i]], 0};
        if (a.len == 1)
            continue;
        if (n > 0 && merged[n - 1].src_stride == a.src_stride * a.len)
            merged[n - 1] = (axis){merged[n - 1].len * a.len, a.src_stride, 0};
        else
            merged[n++] = a;
    }
    stride = 1;
    for (int i = n - 1; i >= 0; i--) {
        merged[i].dst_stride = stride;
        stride *= merged[i].len;
    }
    return n;
}

static void plan_init(plan *p, const tl_exec *exec, const tl_tensor *src, tl_tensor *dst,
                      const int *axes)
{
    *p = (plan){.src = src->data, .dst = dst->data, .size = tl_size_of(src->dtype), .bands = 1};
    axis merged[TL_MAXDIM];
    const int n = merge_axes(merged, src, dst, axes);
    p->rows = (axis){1, 1, 1};
    p->cols = n ? merged[n - 1] : (axis){1, 1, 1};
    const int is_matrix = p->cols.src_stride != 1;
    for (int i = 0; i < n - 1; i++) {
        if (is_matrix && merged[i].src_stride == 1)
            p->rows = merged[i];
        else
            p->outer[p->n_outer++] = merged[i];
    }
    if (!is_matrix)
        return;
    p->func = pick(exec, tl_dtype_of_size(p->size));
    p->bands = (p->rows.len + BAND - 1) / BAND;
}

// The place of a unit: its coordinates along the outer axes, and the offsets they make.
typedef struct place {
    size_t coords[TL_MAXDIM];
    size_t src_offset, dst_offset;
} place;

static void place_init(place *at, const plan *p, size_t index)
{
    *at = (place){.src_offset = 0};
    for (int i = p->n_outer - 1; i >= 0; i--) {
        const axis *const a = &p->outer[i];
        at->coords[i] = index % a->len;
        index /= a->len;
        at->src_offset += at->coords[i] * a->src_stride;
        at->dst_offset += at->coords[i] * a->dst_stride;
    }
}

static void place_next(place *at, const plan *p)
{
    for (int i = p->n_outer - 1; i >= 0; i--) {
        const axis *const a = &p->outer[i];
        at->src_offset += a->src_stride;
        at->dst_offset += a->dst_stride;
        if (++at->coords[i] < a->len)
            return;
        at->coords[i] = 0;
        at->src_offset -= a->len * a->src_stride;
        at->dst_offset -= a->len * a->dst_stride;
    }
}

static void copy_rows(void *arg, size_t begin, size_t end)
{
    const plan *const p = arg;
    place at;
    place_init(&at, p, begin);
    for (size_t i = begin; i < end; i++, place_next(&at, p))
        memcpy(p->dst + at.dst_offset * p->size, p->src + at.src_offset * p->size,
               p->cols.len * p->size);
}

static void transpose_bands(void *arg, size_t begin, size_t end)
{
    const plan *const p = arg;
    for (size_t i = begin; i < end; i++) {
        place at;
        place_init(&at, p, i / p->bands);
        const size_t row = i % p->bands * BAND;
        const size_t rest = p->rows.len - row;
        p->func(p->src + (at.src_offset + row) * p->size, p->cols.src_stride,
                p->dst + (at.dst_offset + row * p->rows.dst_stride) * p->size, p->rows.dst_stride,
                rest < BAND ? rest : BAND, p->cols.len);
    }
}

// Min bytes of a thread.
enum { GRAIN = 65536 };

int tl_exec_transpose(const tl_exec *exec, const tl_tensor *src, tl_tensor *dst, const int *axes)
{
    assert(src->dtype == dst->dtype && src->ndim == dst->ndim && src->len == dst->len);
    if (src->len == 0)
        return 0;
    plan p;
    plan_init(&p, exec, src, dst, axes);
    const size_t matrices = (size_t)src->len / (p.rows.len * p.cols.len);
    const size_t unit_size = tl_tensor_size(src) / (matrices * p.bands);
    tl_parallel(exec, matrices * p.bands, GRAIN / unit_size + 1,
                p.func ? transpose_bands : copy_rows, &p);
    return 0;
}

int tl_transpose_dims(const tl_tensor *src, const int *axes, int *dims)
{
    if (!axes && src->ndim > 0)
        return tl_fail("'axes' is NULL, expected %d axes", src->ndim);
    unsigned seen = 0;
    for (int i = 0; i < src->ndim; i++) {
        if (axes[i] < 0 || axes[i] >= src->ndim || (seen & 1u << axes[i]))
            return tl_fail("axes[%d] is %d, expected each of 0 to %d once", i, axes[i],
                           src->ndim - 1);
        seen |= 1u << axes[i];
        dims[i] = src->dims[axes[i]];
    }
    return 0;
}

tl_tensor *tl_tensor_transpose(const tl_tensor *src, tl_tensor *dst, const int *axes)
{
    int dims[TL_MAXDIM] = {0};
    if (tl_check_elements(src, "src") < 0 || tl_transpose_dims(src, axes, dims) < 0 ||
        tl_check_apart(dst, src) < 0)
        return NULL;
    tl_tensor *const result = tl_result_begin(dst, src->ndim, dims, src->dtype);
    return tl_result_end(result, dst, result ? tl_exec_transpose(NULL, src, result, axes) : -1);
}
