// SPDX-License-Identifier: Apache-2.0
// Permutation of axes: reduced to the copy of rows, or to the transposition of matrices.
//
// First the plan: axes of length 1 are dropped, and axes that are adjacent in dst and in src are
// merged. Then either the last axis of dst is the last of src, too, and dst has rows of src:
//
//     [a, b, c] -> [b, a, c]     b * a rows of c elements
//
// or another axis of dst is src's last, and spans matrices to transpose with dst's last axis:
//
//     [a, b, c] -> [a, c, b]     a matrices, [b, c] -> [c, b]
//
// A task copies rows, or transposes bands of rows of such a matrix.

#include "kernel/transpose/transpose.h"

#include <assert.h>
#include <stdint.h>

#include "kernel/stride/stride.h"
#include "tensor/tl_result.h"

TL_KERNEL_TABLE(pick, tl_transpose_kernel, TL_TRANSPOSE_KERNELS)

tl_transpose_kernel *tl_transpose_pick(const tl_exec *exec, size_t size)
{
    return pick(exec, tl_dtype_of_size(size));
}

// Rows of a matrix per band; more if they are short: at least that many elements.
enum { BAND = 32, ELEMENTS = 4096 };

typedef struct plan {
    tl_transpose_kernel *func; // NULL: copy rows
    const char *src;
    char *dst;
    size_t size;                     // of an element
    tl_stride_axis outer[TL_MAXDIM]; // the axes that units are counted along, the last fastest
    int n_outer;
    tl_stride_axis rows, cols; // of the matrices; for rows to copy, cols is the row
    size_t bands, band;        // per matrix; rows of each but the last
} plan;

static void plan_init(plan *p, const tl_exec *exec, const tl_tensor *src, tl_tensor *dst,
                      const int *axes)
{
    *p = (plan){.src = src->data, .dst = dst->data, .size = tl_size_of(src->dtype), .bands = 1};
    ptrdiff_t src_strides[TL_MAXDIM], dst_strides[TL_MAXDIM];
    tl_stride_axis all[TL_MAXDIM], merged[TL_MAXDIM];
    tl_strides_of(src, src_strides);
    tl_strides_of(dst, dst_strides);
    for (int i = 0; i < dst->ndim; i++)
        all[i] = (tl_stride_axis){(size_t)dst->dims[i], src_strides[axes[i]], dst_strides[i]};
    const int n = tl_stride_merge(merged, all, dst->ndim);
    p->rows = (tl_stride_axis){1, 1, 1};
    p->cols = n ? merged[n - 1] : p->rows;
    const int is_matrix = p->cols.src != 1;
    for (int i = 0; i < n - 1; i++) {
        if (is_matrix && merged[i].src == 1)
            p->rows = merged[i];
        else
            p->outer[p->n_outer++] = merged[i];
    }
    if (!is_matrix)
        return;
    p->func = tl_transpose_pick(exec, p->size);
    p->band = p->cols.len < ELEMENTS / BAND ? ELEMENTS / p->cols.len : BAND;
    p->bands = tl_ceil_div(p->rows.len, p->band);
}

static void copy_rows(void *arg, size_t begin, size_t end)
{
    const plan *const p = arg;
    tl_stride_copy_lines(p->src, p->dst, p->size, p->outer, p->n_outer, p->cols.len, begin, end);
}

static void transpose_bands(void *arg, size_t begin, size_t end)
{
    const plan *const p = arg;
    for (size_t i = begin; i < end; i++) {
        tl_stride_iter at;
        tl_stride_iter_init(&at, p->outer, p->n_outer, i / p->bands);
        const size_t row = i % p->bands * p->band;
        const size_t rest = p->rows.len - row;
        const size_t step = (size_t)p->rows.dst;
        p->func(p->src + ((size_t)at.src + row) * p->size, (size_t)p->cols.src,
                p->dst + ((size_t)at.dst + row * step) * p->size, step, tl_min_size(rest, p->band),
                p->cols.len);
    }
}

// Min bytes of a task.
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
