// SPDX-License-Identifier: Apache-2.0
// Tensor records: creation, release, views, shapes.

#include "tensorlight/tl_tensor.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "tensor/tl_result.h"
#include "tensorlight/tl_string.h"

// Records

// A record and its initial dims share an allocation.
typedef struct block {
    tl_tensor t;
    int dims[];
} block;

static void free_dims(tl_tensor *t)
{
    if (t->dims != ((block *)t)->dims)
        tl_free(t->dims);
}

tl_tensor *tl_tensor_create(void *data, int ndim, const int *dims, tl_dtype dtype)
{
    if (!tl_dtype_is_valid(dtype))
        return tl_fail("dtype %d, expected 0 to %d", dtype, TL_DTYPE_SIZE - 1), NULL;
    const int len = tl_compute_length(ndim, dims);
    size_t size; // where a size_t is as narrow as an int, it may be too large
    if (len < 0 || tl_size_mul((size_t)len, tl_size_of(dtype), &size) < 0)
        return NULL;
    const size_t dims_size = (size_t)ndim * sizeof(int);
    block *const b = tl_alloc(sizeof(*b) + dims_size);
    if (!b)
        return NULL;
    b->t = (tl_tensor){.dtype = dtype, .len = len, .ndim = ndim, .dims = b->dims, .data = data};
    if (dims_size)
        memcpy(b->dims, dims, dims_size);
    return &b->t;
}

void tl_tensor_free(tl_tensor *t)
{
    if (!t)
        return;
    free_dims(t);
    tl_free(t);
}

void tl_tensor_free_data_too(tl_tensor *t)
{
    if (!t)
        return;
    tl_free(t->data);
    tl_tensor_free(t);
}

size_t tl_tensor_size(const tl_tensor *t)
{
    return (size_t)t->len * tl_size_of(t->dtype);
}

int tl_tensor_index(const tl_tensor *t, const int *coords)
{
    int index = 0;
    for (int i = 0; i < t->ndim; i++) {
        assert(coords[i] >= 0 && coords[i] < t->dims[i]);
        index = index * t->dims[i] + coords[i];
    }
    return index;
}

void tl_tensor_coords(const tl_tensor *t, int index, int *coords)
{
    assert(index >= 0 && index < t->len);
    for (int i = t->ndim - 1; i >= 0; i--) {
        coords[i] = index % t->dims[i];
        index /= t->dims[i];
    }
}

int tl_tensor_issameshape(const tl_tensor *t1, const tl_tensor *t2)
{
    if (t1->ndim != t2->ndim)
        return 0;
    for (int i = 0; i < t1->ndim; i++)
        if (t1->dims[i] != t2->dims[i])
            return 0;
    return 1;
}

// New tensors

// Allocates zeroed data for `t` and returns it; frees it on failure. Accepts NULL.
static tl_tensor *with_zeros(tl_tensor *t)
{
    if (!t)
        return NULL;
    const size_t size = tl_tensor_size(t);
    t->data = calloc(size ? size : 1, 1);
    t->owner = t;
    if (t->data)
        return t;
    tl_fail_memory(size);
    tl_tensor_free(t);
    return NULL;
}

tl_tensor *tl_tensor_zeros(int ndim, const int *dims, tl_dtype dtype)
{
    return with_zeros(tl_tensor_create(NULL, ndim, dims, dtype));
}

// The data is a block: the copy has separate strings.
static tl_tensor *clone_strings(const tl_tensor *src)
{
    tl_tensor *const t = tl_tensor_create(NULL, src->ndim, src->dims, src->dtype);
    if (!t)
        return NULL;
    t->data = tl_strings_clone(src->data, (size_t)src->len);
    t->owner = t;
    if (t->data)
        return t;
    tl_tensor_free(t);
    return NULL;
}

tl_tensor *tl_tensor_clone(const tl_tensor *src)
{
    if (tl_check_elements(src, "src") < 0)
        return NULL;
    if (src->dtype == TL_STRING)
        return clone_strings(src);
    tl_tensor *const result = tl_result_begin(NULL, src->ndim, src->dims, src->dtype);
    return tl_result_end(result, NULL, result ? tl_exec_copy(NULL, src, result) : -1);
}

tl_tensor *tl_tensor_repeat(const tl_tensor *src, int times)
{
    if (tl_check_elements(src, "src") < 0)
        return NULL;
    if (times < 1 || src->ndim >= TL_MAXDIM) {
        tl_fail("%d times %d dimensions, expected at least once and at most %d dimensions", times,
                src->ndim, TL_MAXDIM - 1);
        return NULL;
    }
    int dims[TL_MAXDIM] = {times};
    for (int i = 0; i < src->ndim; i++)
        dims[i + 1] = src->dims[i];
    tl_tensor *const result = tl_result_begin(NULL, src->ndim + 1, dims, src->dtype);
    return tl_result_end(result, NULL, result ? tl_exec_repeat(NULL, src, result) : -1);
}

// Views and shapes

tl_tensor *tl_tensor_create_slice(void *data, const tl_tensor *src, int axis, int len,
                                  tl_dtype dtype)
{
    if (!src)
        return tl_fail("'src' is NULL, expected a tensor"), NULL;
    if (tl_check_axis(src, axis) < 0)
        return NULL;
    if (len < 1 || len > src->dims[axis])
        return tl_fail("slice of length %d, expected 1 to %d", len, src->dims[axis]), NULL;
    int dims[TL_MAXDIM];
    return tl_tensor_create(data, src->ndim, tl_dims_with(dims, src, axis, len), dtype);
}

tl_tensor *tl_tensor_zeros_slice(const tl_tensor *src, int axis, int len, tl_dtype dtype)
{
    return with_zeros(tl_tensor_create_slice(NULL, src, axis, len, dtype));
}

tl_tensor *tl_tensor_slice_nocopy(tl_tensor *src, tl_tensor *dst, int axis, int start, int len)
{
    if (tl_check_elements(src, "src") < 0 || tl_check_axis(src, axis) < 0)
        return NULL;
    if (axis != 0)
        return tl_fail("view along axis %d, expected axis 0", axis), NULL;
    if (tl_check_range(src, axis, start, len) < 0)
        return NULL;
    int dims[TL_MAXDIM];
    tl_dims_with(dims, src, axis, len);
    if (dst && tl_check_record(dst, "dst", src->ndim, dims, src->dtype) < 0)
        return NULL;
    tl_tensor *const view = dst ? dst : tl_tensor_create(NULL, src->ndim, dims, src->dtype);
    if (!view)
        return NULL;
    const size_t row_size = tl_tensor_size(src) / (size_t)src->dims[0];
    view->data = tl_padd(src->data, start, row_size);
    view->owner = src;
    return view;
}

static int check_same_len(const tl_tensor *t, int ndim, const int *dims)
{
    if (!t)
        return tl_fail("'src' is NULL, expected a tensor");
    const int len = tl_compute_length(ndim, dims);
    if (len < 0)
        return -1;
    char text[TL_SHAPE_TEXT_SIZE];
    if (len != t->len)
        return tl_fail("shape %s has %d elements, expected %d", tl_shape_text(text, ndim, dims),
                       len, t->len);
    return 0;
}

tl_tensor *tl_tensor_reshape(tl_tensor *src, int ndim, const int *dims)
{
    if (check_same_len(src, ndim, dims) < 0)
        return NULL;
    tl_tensor *const view = tl_tensor_create(src->data, ndim, dims, src->dtype);
    if (view)
        view->owner = src;
    return view;
}

int tl_tensor_reshape_src(tl_tensor *src, int ndim, const int *dims)
{
    if (check_same_len(src, ndim, dims) < 0)
        return -1;
    int *const own_dims = tl_clone(dims, (size_t)ndim * sizeof(int));
    if (!own_dims)
        return -1;
    free_dims(src);
    src->dims = own_dims;
    src->ndim = ndim;
    return 0;
}
