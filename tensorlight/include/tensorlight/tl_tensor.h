// SPDX-License-Identifier: Apache-2.0
// The tensor record, and functions to create, print, move and convert tensors.
//
//     tl_tensor *a = tl_tensor_arange(0, 6, 1, TL_FLOAT);
//     tl_tensor *m = tl_tensor_reshape(a, 2, (int[]){2, 3});
//     tl_tensor *t = tl_tensor_transpose(m, NULL, (int[]){1, 0});
//     tl_tensor_print(t, NULL);
//     tl_tensor_free_data_too(t);
//     tl_tensor_free(m);
//     tl_tensor_free_data_too(a);
//
// A shape is [d0, d1, ..], row-major, the last axis contiguous, no strides. ndim is 0 (a scalar) to
// TL_MAXDIM, a dim may be 0.
//
// On failure, functions that return a tensor return NULL, and int functions -1 unless documented
// otherwise, with the reason in tl_last_error(). They check arguments, including NULL tensors;
// only the queries of a record (tl_tensor_size to tl_tensor_issameshape) trust their caller.
//
// The D rule, for a function tl_tensor_X with an argument `dst`: dst NULL: returns new (free with
// tl_tensor_free_data_too). Given: it has data and the dtype and shape of the result, is
// overwritten, and is returned. After a failure a given `dst` may be partly overwritten. Other
// tensors are never modified. `dst` may not overlap a source unless the function allows it.
//
// Beside it, tl_exec_X computes into a given `dst` with the threads and
// kernels of `exec` (tl_exec.h; NULL: one thread, the best kernels). It
// trusts its caller: dtypes and shapes fit, data exists (asserts in a
// debug build). It returns 0, or -1 with a reason for invalid data.

#ifndef TL_TENSOR_H
#define TL_TENSOR_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "tensorlight/tl_api.h"
#include "tensorlight/tl_exec.h"
#include "tensorlight/tl_string.h"
#include "tensorlight/tl_type.h"
#include "tensorlight/tl_util.h"

TL_BEGIN_DECLS

/** A record never frees its data by itself; see tl_tensor_free and tl_tensor_free_data_too. */
struct tl_tensor {
    tl_dtype dtype;          // type of an element
    int len;                 // number of elements
    int ndim;                // number of dimensions
    int *dims;               // the dimensions, owned by the record
    void *data;              // the elements, or NULL; of TL_STRING: const tl_string *
    struct tl_tensor *owner; // the owner of the data: itself, another tensor, NULL: external
    void *backend_data;      // free for use, NULL at first
};
typedef struct tl_tensor tl_tensor;

/** Element `i` of a tensor of TL_STRING; see tl_string_bytes. Returns borrowed. */
static inline const tl_string *tl_tensor_string(const tl_tensor *t, int i)
{
    return ((const tl_string *const *)t->data)[i];
}

// Records

/** Returns new (tl_tensor_free): a record over `data`, which stays the caller's and may be NULL.
 *  owner is NULL. */
TL_API tl_tensor *tl_tensor_create(void *data, int ndim, const int *dims, tl_dtype dtype);

/** Frees the record and its dims, not the data. Ignores NULL. */
TL_API void tl_tensor_free(tl_tensor *t);

/** Frees the data too, also without owning it: not for views or external data. Ignores NULL. */
TL_API void tl_tensor_free_data_too(tl_tensor *t);

/** Bytes of the elements. */
TL_API size_t tl_tensor_size(const tl_tensor *t);

/** The row-major index of the element at `coords` [ndim], which is inside the shape. */
TL_API int tl_tensor_index(const tl_tensor *t, const int *coords);

/** The inverse: writes the ndim coordinates of element `index`. */
TL_API void tl_tensor_coords(const tl_tensor *t, int index, int *coords);

/** 1 when ndim and dims are equal; the dtype does not matter. */
TL_API int tl_tensor_issameshape(const tl_tensor *t1, const tl_tensor *t2);

/** -1 with a reason: the shape of `t`, called `name`, does not have the form `form`: "[.., n, n,
 * 3]" has numbers, letters for any length, the same one for equal lengths, and, first or last, ".."
 * for any other axes. */
TL_API int tl_check_shape(const tl_tensor *t, const char *name, const char *form);

/** -1 with a reason: one of the `n_axes` axes is outside 0 .. t->ndim-1, or occurs twice. */
TL_API int tl_check_axes(const tl_tensor *t, const int *axes, int n_axes);

// New tensors (tl_tensor_free_data_too)

/** All elements 0. */
TL_API tl_tensor *tl_tensor_zeros(int ndim, const int *dims, tl_dtype dtype);

/** A copy with own data; strings too are copied (tl_strings_clone). */
TL_API tl_tensor *tl_tensor_clone(const tl_tensor *src);

/** src [..] -> [times, ..], copies back to back; times >= 1. */
TL_API tl_tensor *tl_tensor_repeat(const tl_tensor *src, int times);

/** 1-D: start + step * i, computed in double and converted; `stop` is excluded, so the length is
 *  ceil((stop - start) / step), at most INT32_MAX. stop > start, step > 0, all in dtype's range. */
TL_API tl_tensor *tl_tensor_arange(double start, double stop, double step, tl_dtype dtype);

// Filling

/** Overwrites the 1-D `src` with tl_tensor_arange's elements; its len must be theirs. */
TL_API int tl_tensor_rearange(tl_tensor *src, double start, double stop, double step);

/** Distributions of random numbers. */
typedef enum tl_distribution {
    TL_DISTRIBUTION_INVALID = -1,
    TL_UNIFORM = 0, // uniform in [a, b), or a if a equals b
    TL_NORMAL,      // a normal distribution of mean a and standard deviation b
    TL_DISTRIBUTION_SIZE
} tl_distribution;
TL_API const char *tl_distribution_name(tl_distribution distribution);
TL_API tl_distribution tl_distribution_from_str(const char *str);

/** Fills with random numbers, computed in double and converted to the dtype, on all threads.
 * `state` advances by one tl_random_bits, the key of this tensor: equal states produce equal
 * tensors on all machines, instruction sets and numbers of threads. Uniform floats have the bits of
 * the type: none rounds to 1 in [0, 1). Sources: Salmon, Moraes, Dror, Shaw: Parallel random
 * numbers: as easy as 1, 2, 3 (Philox4x32-10), 2011; of normal ones also Wichura: Algorithm AS 241,
 * 1988. -1 with a reason: the distribution is not valid (tl_distribution_check); `dst` has no
 * elements of numbers; `state` is NULL. */
TL_API int tl_exec_random(const tl_exec *exec, tl_tensor *dst, tl_distribution distribution,
                          double a, double b, uint64_t *state);

/** 0 if the parameters are valid, else -1 with a reason. */
TL_API int tl_distribution_check(tl_distribution distribution, double a, double b);

/** Fills with random numbers from lo to hi, which rounding may return, computed in double and
 * converted to the dtype; `state` as in tl_random_uniform. -1 with a reason: lo or hi is not
 * finite, or hi < lo; `t` has no elements of numbers; `state` is NULL. */
TL_API int tl_tensor_fill_uniform(tl_tensor *t, double lo, double hi, uint64_t *state);

/** tl_tensor_fill_uniform, on one thread; a stop of `exec` leaves the rest of `t` and `state`
 *  unspecified. */
TL_API int tl_exec_fill_uniform(const tl_exec *exec, tl_tensor *t, double lo, double hi,
                                uint64_t *state);

/** The length of an arange, or -1 with a reason; the same checks as tl_tensor_arange. */
TL_API int tl_arange_length(double start, double stop, double step, tl_dtype dtype);

/** dst[i] = start + step * i, converted. */
TL_API int tl_exec_arange(const tl_exec *exec, tl_tensor *dst, double start, double step);

/** Sets all elements to the one at `value`, of dst's dtype. */
TL_API int tl_exec_fill(const tl_exec *exec, tl_tensor *dst, const void *value);

/** Sets all bytes to 0. */
TL_API int tl_exec_zeros(const tl_exec *exec, tl_tensor *dst);

// Text

/** Nested brackets, a line per innermost row, elements separated by a space, a final newline. `fmt`
 * as in tl_fprintf. Source: operator catalogue, 5.6. */
TL_API int tl_tensor_fprint(FILE *stream, const tl_tensor *t, const char *fmt);

/** To standard output. */
TL_API int tl_tensor_print(const tl_tensor *t, const char *fmt);

/** To a file, which is replaced. */
TL_API int tl_tensor_save(const char *file, const tl_tensor *t, const char *fmt);

// Views and shapes

/** Returns new (tl_tensor_free): a record over `data` (borrowed, may be NULL) with src's dims,
 *  except dims[axis] = len, 1 .. src->dims[axis]. */
TL_API tl_tensor *tl_tensor_create_slice(void *data, const tl_tensor *src, int axis, int len,
                                         tl_dtype dtype);

/** The same with new zeroed data (tl_tensor_free_data_too). */
TL_API tl_tensor *tl_tensor_zeros_slice(const tl_tensor *src, int axis, int len, tl_dtype dtype);

/** A view of the rows start .. start+len-1 of axis 0, the only axis allowed; owner = src. dst NULL:
 *  returns new (tl_tensor_free). Given: its dtype and shape fit, and its data pointer is replaced,
 *  the old data not freed. src outlives the view. */
TL_API tl_tensor *tl_tensor_slice_nocopy(tl_tensor *src, tl_tensor *dst, int axis, int start,
                                         int len);

/** Returns new (tl_tensor_free): the same data in another shape of the same len; owner = src, which
 *  outlives it. */
TL_API tl_tensor *tl_tensor_reshape(tl_tensor *src, int ndim, const int *dims);

/** Changes the shape of `src` itself; the len stays. src is as before after a failure. */
TL_API int tl_tensor_reshape_src(tl_tensor *src, int ndim, const int *dims);

// Moving elements: any dtype

/** Indices start .. start+len-1 of `axis`: [.., d, ..] -> [.., len, ..]. D. */
TL_API tl_tensor *tl_tensor_slice(const tl_tensor *src, tl_tensor *dst, int axis, int start,
                                  int len);
TL_API int tl_exec_slice(const tl_exec *exec, const tl_tensor *src, tl_tensor *dst, int axis,
                         int start);

/** src1 before src2 along `axis`: [.., d, ..] and [.., e, ..] -> [.., d+e, ..]. D. */
TL_API tl_tensor *tl_tensor_concat(const tl_tensor *src1, const tl_tensor *src2, tl_tensor *dst,
                                   int axis);

/** Concatenates `n` sources along `axis`; all but dims[axis]
 *  equal. Sources or the dst may have a dims[axis] of 0. */
TL_API int tl_exec_concat(const tl_exec *exec, const tl_tensor *const *srcs, int n, tl_tensor *dst,
                          int axis);

/** As tl_exec_concat, where dst and srcs[0] have memory for `rows` indices of `axis`; -1 with a
 *  reason: dst has more. If both have the same memory, only the other sources are copied: O(1) in
 * the length of srcs[0]. */
TL_API int tl_exec_append(const tl_exec *exec, const tl_tensor *const *srcs, int n, tl_tensor *dst,
                          int axis, int rows);

/** The shape of src with its axes permuted, dims[i] = src.dims[axes[i]]. -1 with a reason: `axes`
 *  does not have each axis of src once. */
TL_API int tl_transpose_dims(const tl_tensor *src, const int *axes, int *dims);

/** Axis i of dst runs along axis axes[i] of src. D. */
TL_API tl_tensor *tl_tensor_transpose(const tl_tensor *src, tl_tensor *dst, const int *axes);
TL_API int tl_exec_transpose(const tl_exec *exec, const tl_tensor *src, tl_tensor *dst,
                             const int *axes);

/** dst [times, ..] becomes dst.dims[0] copies of src [..]. */
TL_API int tl_exec_repeat(const tl_exec *exec, const tl_tensor *src, tl_tensor *dst);

/** Stacks the `n` sources [..], in order, in dst [n, ..] (ONNX Concat of unsqueezed inputs). */
TL_API int tl_exec_gather(const tl_exec *exec, const tl_tensor *const *srcs, int n, tl_tensor *dst);

/** Unstacks src [n, ..]: the `n` dsts [..] become src[0 .. n-1]. */
TL_API int tl_exec_scatter(const tl_exec *exec, const tl_tensor *src, tl_tensor *const *dsts,
                           int n);

/** Copies all elements; same dtype and len, the shapes may differ. */
TL_API int tl_exec_copy(const tl_exec *exec, const tl_tensor *src, tl_tensor *dst);

// Element-wise: dst has the shape of src and may be src

/** tl_convert of each element. `dst` may be `src` only when the dtypes are the same. D. */
TL_API tl_tensor *tl_tensor_convert(const tl_tensor *src, tl_tensor *dst, tl_dtype dtype);
TL_API int tl_exec_convert(const tl_exec *exec, const tl_tensor *src, tl_tensor *dst);

/** tl_elew of each pair; same dtype and shape, no broadcasting. `dst` may be a source. D. */
TL_API tl_tensor *tl_tensor_elew(const tl_tensor *src1, const tl_tensor *src2, tl_tensor *dst,
                                 tl_elew_op op);
TL_API int tl_exec_elew(const tl_exec *exec, const tl_tensor *src1, const tl_tensor *src2,
                        tl_tensor *dst, tl_elew_op op);

/** tl_elew of each element with `param` converted to src's dtype. D. */
TL_API tl_tensor *tl_tensor_elew_param(const tl_tensor *src, double param, tl_tensor *dst,
                                       tl_elew_op op);
TL_API int tl_exec_elew_param(const tl_exec *exec, const tl_tensor *src, double param,
                              tl_tensor *dst, tl_elew_op op);

/** x < 0 ? 0 : x; NaN stays. Any dtype. D. */
TL_API tl_tensor *tl_tensor_relu(const tl_tensor *src, tl_tensor *dst);
TL_API int tl_exec_relu(const tl_exec *exec, const tl_tensor *src, tl_tensor *dst);

/** tl_lrelu of each element. Any dtype. D. */
TL_API tl_tensor *tl_tensor_lrelu(const tl_tensor *src, tl_tensor *dst, float negslope);
TL_API int tl_exec_lrelu(const tl_exec *exec, const tl_tensor *src, tl_tensor *dst, float negslope);

/** 1 / (1 + exp(-x)), saturates to 0 and 1, NaN stays. Floats. D. */
TL_API tl_tensor *tl_tensor_sigmoid(const tl_tensor *src, tl_tensor *dst);
TL_API int tl_exec_sigmoid(const tl_exec *exec, const tl_tensor *src, tl_tensor *dst);

TL_END_DECLS

#endif
