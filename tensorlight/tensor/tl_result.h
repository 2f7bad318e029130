// SPDX-License-Identifier: Apache-2.0
// The D rule (tl_tensor.h) in three calls, the checks that every public function begins with, and
// the shape of most results.
//
//     tl_tensor *tl_tensor_relu(const tl_tensor *src, tl_tensor *dst)
//     {
//         if (tl_check_data(src, "src") < 0)
//             return NULL;
//         tl_tensor *result = tl_result_begin(dst, src->ndim, src->dims, src->dtype);
//         return tl_result_end(result, dst, result ? tl_exec_relu(NULL, src, result) : -1);
//     }

#pragma once

#include "tensorlight/tl_exec.h"
#include "tensorlight/tl_tensor.h"

/** -1 with a reason that names the argument: `t` NULL, an invalid dtype, or without data. For
 *  functions that move or print elements: strings, too. */
int tl_check_elements(const tl_tensor *t, const char *name);

/** As tl_check_elements, also rejects strings. For functions that convert numbers. */
int tl_check_stored(const tl_tensor *t, const char *name);

/** As tl_check_stored, also rejects types that only store values. For functions that compute. */
int tl_check_data(const tl_tensor *t, const char *name);

/** -1 with a reason: `axis` outside 0 .. t->ndim-1. */
int tl_check_axis(const tl_tensor *t, int axis);

/** -1 with a reason: not 0 <= start, 1 <= len, start + len <= t->dims[axis] (axis is valid). */
int tl_check_range(const tl_tensor *t, int axis, int start, int len);

/** Writes the dims of `t` with dims[axis] = len to `dims` [TL_MAXDIM] and returns it. */
const int *tl_dims_with(int *dims, const tl_tensor *t, int axis, int len);

/** -1 with a reason: dtypes (shapes) differ. */
int tl_check_same_dtype(const tl_tensor *t1, const tl_tensor *t2);
int tl_check_same_shape(const tl_tensor *t1, const tl_tensor *t2);

/** -1 with a reason: the dtype is not a float. */
int tl_check_float(const tl_tensor *t, const char *name);

/** -1 with a reason: `t` is not a tensor with data, this shape and dtype (which may be invalid). */
int tl_check_given(const tl_tensor *t, const char *name, int ndim, const int *dims, tl_dtype dtype);

/** As tl_check_given, but ignores the data, which may be NULL. */
int tl_check_record(const tl_tensor *t, const char *name, int ndim, const int *dims,
                    tl_dtype dtype);

/** -1 with a reason: `t` has another number of dimensions, or other dimensions. */
int tl_check_ndim(const tl_tensor *t, const char *name, int ndim);
int tl_check_dims(const tl_tensor *t, const char *name, int ndim, const int *dims);

/** -1 with a reason: the dtype is not TL_INT8 or TL_UINT8. */
int tl_check_bytes(const tl_tensor *t, const char *name);

/** -1 with a reason: `t` is not a tensor with data to compute with and `ndim` dimensions. */
int tl_check_input(const tl_tensor *t, const char *name, int ndim);

/** -1 with a reason: `t` is not a tensor with data, the dtype of `like` and shape [len]. */
int tl_check_vector(const tl_tensor *t, const char *name, const tl_tensor *like, int len);

/** -1 with a reason: one of the `n` values is less than `min`. */
int tl_check_at_least(const char *name, const int *values, int n, int min);

/** -1 with a reason: the data of `dst` and `src` overlap. `dst` may be NULL or without data. */
int tl_check_apart(const tl_tensor *dst, const tl_tensor *src);

/** Both for a source: tl_check_data and tl_check_apart. */
int tl_check_operand(const tl_tensor *src, const char *name, const tl_tensor *dst);

/** As tl_check_apart, but allows the same data of the same dtype: in place. */
int tl_check_in_place(const tl_tensor *dst, const tl_tensor *src);

/** -1 with a reason that ends with the purpose `what`, such as "to sort": `exec`, which may be
 * NULL, has less scratch memory than `needed` bytes. */
int tl_check_scratch(const tl_exec *exec, size_t needed, const char *what);

/** For a tl_tensor_X: the largest instruction set, and `size` bytes of scratch memory, or NULL,
 *  which the caller frees. */
tl_exec tl_result_exec(size_t size);

/** dst NULL: returns new, zeroed. Given: `dst` when it has data, this dtype and shape. Else NULL
 *  with a reason. */
tl_tensor *tl_result_begin(tl_tensor *dst, int ndim, const int *dims, tl_dtype dtype);

/** Returns `result`; for status -1 frees it unless it is `dst`, and returns NULL. Accepts NULL. */
tl_tensor *tl_result_end(tl_tensor *result, const tl_tensor *dst, int status);
