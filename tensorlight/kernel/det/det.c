// SPDX-License-Identifier: Apache-2.0
// Determinants, by elimination with partial pivoting in double.

#include <assert.h>

#include "kernel/det/elimination.h"
#include "kernel/tl_kernel.h"
#include "tensor/tl_result.h"
#include "tensorlight/tl_linalg.h"

// Overwrites `a` [n, n].
static double determinant(double *a, size_t n, const tl_stop *stop)
{
    double det = 1;
    for (size_t i = 0; i < n && !tl_stop_is_requested(stop); i++) {
        const size_t pivot = tl_pivot_of(a, n, i);
        if (pivot != i) {
            tl_swap_rows(a, n, pivot, i);
            det = -det;
        }
        const double head = a[i * n + i];
        det *= head;
        if (head == 0)
            return det;
        for (size_t r = i + 1; r < n; r++)
            tl_subtract_row(a, n, r, i, i, a[r * n + i] / head);
    }
    return det;
}

size_t tl_det_scratch(const tl_tensor *src)
{
    const size_t n = (size_t)src->dims[src->ndim - 1];
    return n * n * sizeof(double);
}

int tl_exec_det(const tl_exec *exec, const tl_tensor *src, tl_tensor *dst)
{
    assert(src->ndim >= 2 && src->dims[src->ndim - 1] == src->dims[src->ndim - 2]);
    assert(tl_dtype_is_float(src->dtype) && dst->dtype == src->dtype);
    const size_t n = (size_t)src->dims[src->ndim - 1];
    if (dst->len > 0 && tl_check_scratch(exec, tl_det_scratch(src), "for determinants") < 0)
        return -1;
    for (int i = 0; i < dst->len && !tl_stop_is_requested(exec->stop); i++) {
        tl_convert_array(exec->scratch, TL_DOUBLE,
                         tl_pointer_add(src->data, (ptrdiff_t)(n * n) * i, src->dtype), src->dtype,
                         n * n);
        const double det = determinant(exec->scratch, n, exec->stop);
        tl_convert_array(tl_pointer_add(dst->data, i, dst->dtype), dst->dtype, &det, TL_DOUBLE, 1);
    }
    return 0;
}

tl_tensor *tl_tensor_det(const tl_tensor *src, tl_tensor *dst)
{
    if (tl_check_operand(src, "src", dst) < 0 || tl_check_float(src, "src") < 0 ||
        tl_check_shape(src, "src", "[.., n, n]") < 0)
        return NULL;
    const tl_exec exec = tl_result_exec(tl_det_scratch(src));
    if (!exec.scratch)
        return NULL;
    tl_tensor *const result = tl_result_begin(dst, src->ndim - 2, src->dims, src->dtype);
    const int status = result ? tl_exec_det(&exec, src, result) : -1;
    tl_free(exec.scratch);
    return tl_result_end(result, dst, status);
}
