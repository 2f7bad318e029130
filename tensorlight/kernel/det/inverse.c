// SPDX-License-Identifier: Apache-2.0
// Inverse matrices, by elimination with partial pivoting in double.

#include <assert.h>

#include "kernel/det/elimination.h"
#include "kernel/tl_kernel.h"
#include "tensor/tl_result.h"
#include "tensorlight/tl_elementwise.h"
#include "tensorlight/tl_linalg.h"

static void set_identity(double *x, size_t n)
{
    for (size_t i = 0; i < n * n; i++)
        x[i] = i % (n + 1) == 0;
}

// `a` [n, n] becomes an upper triangular matrix, and `x` the product of the same steps with it. A
// column without a pivot is skipped.
static void eliminate(double *a, double *x, size_t n, const tl_stop *stop)
{
    for (size_t i = 0; i < n && !tl_stop_is_requested(stop); i++) {
        const size_t pivot = tl_pivot_of(a, n, i);
        if (pivot != i) {
            tl_swap_rows(a, n, pivot, i);
            tl_swap_rows(x, n, pivot, i);
        }
        const double head = a[i * n + i];
        for (size_t r = i + 1; head != 0 && r < n; r++) {
            const double factor = a[r * n + i] / head;
            tl_subtract_row(a, n, r, i, i, factor);
            tl_subtract_row(x, n, r, i, 0, factor);
        }
    }
}

// `x` = the inverse of the upper triangular matrix `a`, times `x`.
static void substitute(const double *a, double *x, size_t n, const tl_stop *stop)
{
    for (size_t i = n; i-- > 0 && !tl_stop_is_requested(stop);) {
        for (size_t c = 0; c < n; c++)
            x[i * n + c] /= a[i * n + i];
        for (size_t r = 0; r < i; r++)
            tl_subtract_row(x, n, r, i, 0, a[r * n + i]);
    }
}

// Writes the inverse to `dst`; numbers out of the range of its type become infinite.
static int store(const double *x, int len, tl_dtype dtype, void *dst)
{
    const tl_tensor from = {
        .dtype = TL_DOUBLE, .ndim = 1, .dims = &len, .len = len, .data = (void *)x};
    tl_tensor to = {.dtype = dtype, .ndim = 1, .dims = &len, .len = len, .data = dst};
    return tl_exec_cast(NULL, &from, &to);
}

size_t tl_inverse_scratch(const tl_tensor *src)
{
    return 2 * tl_det_scratch(src);
}

int tl_exec_inverse(const tl_exec *exec, const tl_tensor *src, tl_tensor *dst)
{
    assert(src->ndim >= 2 && src->dims[src->ndim - 1] == src->dims[src->ndim - 2]);
    assert(tl_dtype_is_float(src->dtype) && dst->dtype == src->dtype && dst->len == src->len);
    const size_t n = (size_t)src->dims[src->ndim - 1];
    if (dst->len > 0 && tl_check_scratch(exec, tl_inverse_scratch(src), "for inverses") < 0)
        return -1;
    const ptrdiff_t size = (ptrdiff_t)(n * n);
    for (ptrdiff_t at = 0; at < dst->len && !tl_stop_is_requested(exec->stop); at += size) {
        double *const a = exec->scratch, *const x = a + size;
        tl_convert_array(a, TL_DOUBLE, tl_pointer_add(src->data, at, src->dtype), src->dtype,
                         n * n);
        set_identity(x, n);
        eliminate(a, x, n, exec->stop);
        substitute(a, x, n, exec->stop);
        if (store(x, (int)size, dst->dtype, tl_pointer_add(dst->data, at, dst->dtype)) < 0)
            return -1;
    }
    return 0;
}

tl_tensor *tl_tensor_inverse(const tl_tensor *src, tl_tensor *dst)
{
    if (tl_check_data(src, "src") < 0 || tl_check_float(src, "src") < 0 ||
        tl_check_shape(src, "src", "[.., n, n]") < 0)
        return NULL;
    const tl_exec exec = tl_result_exec(tl_inverse_scratch(src));
    if (!exec.scratch)
        return NULL;
    tl_tensor *const result = tl_result_begin(dst, src->ndim, src->dims, src->dtype);
    const int status = result ? tl_exec_inverse(&exec, src, result) : -1;
    tl_free(exec.scratch);
    return tl_result_end(result, dst, status);
}
