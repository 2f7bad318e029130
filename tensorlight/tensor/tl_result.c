// SPDX-License-Identifier: Apache-2.0
// The D rule and the checks that the public tensor functions share.

#include "tensor/tl_result.h"

int tl_check_elements(const tl_tensor *t, const char *name)
{
    if (!t)
        return tl_fail("'%s' is NULL, expected a tensor", name);
    if (!tl_dtype_is_valid(t->dtype))
        return tl_fail("'%s' has dtype %d, expected 0 to %d", name, t->dtype, TL_DTYPE_SIZE - 1);
    if (!t->data)
        return tl_fail("'%s' has no data", name);
    return 0;
}

int tl_check_stored(const tl_tensor *t, const char *name)
{
    if (tl_check_elements(t, name) < 0)
        return -1;
    return t->dtype == TL_STRING ? tl_fail("'%s' has dtype TL_STRING, expected numbers", name) : 0;
}

int tl_check_data(const tl_tensor *t, const char *name)
{
    if (tl_check_stored(t, name) < 0)
        return -1;
    if (!tl_dtype_is_computed(t->dtype))
        return tl_fail("'%s' has dtype %s, expected a type to compute with", name,
                       tl_dtype_name(t->dtype));
    return 0;
}

// Whether the shape of a tensor has a form such as "[.., n, n]".
static int has_form(const tl_tensor *t, const char *form)
{
    int lens[128], n = !strstr(form, ".."), axis = 0; // lengths of letters, the number of axes
    const char *at = form + 1;
    for (const char *p = form; *p; p++)
        n += *p == ',';
    if (t->ndim < n || (t->ndim > n && !strstr(form, "..")))
        return 0;
    memset(lens, -1, sizeof(lens));
    if (strncmp(at, "..", 2) == 0) {
        axis = t->ndim - n;
        at += strlen(".., ");
    }
    for (; axis < t->ndim && *at != '.'; axis++) {
        int *const len = &lens[(unsigned char)*at & 127];
        if (*len < 0)
            *len = *at >= '0' && *at <= '9' ? (int)strtol(at, NULL, 10) : t->dims[axis];
        if (*len != t->dims[axis])
            return 0;
        at += strcspn(at, ",]") + strlen(", ");
    }
    return 1;
}

int tl_check_shape(const tl_tensor *t, const char *name, const char *form)
{
    char text[TL_SHAPE_TEXT_SIZE];
    if (!has_form(t, form))
        return tl_fail("'%s' has shape %s, expected %s", name,
                       tl_shape_text(text, t->ndim, t->dims), form);
    return 0;
}

int tl_check_axis(const tl_tensor *t, int axis)
{
    if (t->ndim == 0)
        return tl_fail("axis %d of a scalar, which has none", axis);
    if (axis < 0 || axis >= t->ndim)
        return tl_fail("axis %d, expected 0 to %d", axis, t->ndim - 1);
    return 0;
}

int tl_check_axes(const tl_tensor *t, const int *axes, int n_axes)
{
    unsigned seen = 0;
    if (n_axes < 0 || (n_axes > 0 && !axes))
        return tl_fail("%d axes, expected an array of 0 or more", n_axes);
    for (int i = 0; i < n_axes; i++) {
        if (tl_check_axis(t, axes[i]) < 0)
            return -1;
        if (seen & 1u << axes[i])
            return tl_fail("axis %d occurs twice", axes[i]);
        seen |= 1u << axes[i];
    }
    return 0;
}

int tl_check_range(const tl_tensor *t, int axis, int start, int len)
{
    const int dim = t->dims[axis];
    if (start < 0 || len < 1 || start > dim || len > dim - start)
        return tl_fail("range of %d from %d on, expected one inside 0 to %d", len, start, dim - 1);
    return 0;
}

const int *tl_dims_with(int *dims, const tl_tensor *t, int axis, int len)
{
    memcpy(dims, t->dims, (size_t)t->ndim * sizeof(int));
    dims[axis] = len;
    return dims;
}

int tl_check_same_dtype(const tl_tensor *t1, const tl_tensor *t2)
{
    if (t1->dtype != t2->dtype)
        return tl_fail("dtypes %s and %s, expected the same", tl_dtype_name(t1->dtype),
                       tl_dtype_name(t2->dtype));
    return 0;
}

int tl_check_same_shape(const tl_tensor *t1, const tl_tensor *t2)
{
    char text1[TL_SHAPE_TEXT_SIZE], text2[TL_SHAPE_TEXT_SIZE];
    if (!tl_tensor_issameshape(t1, t2))
        return tl_fail("shapes %s and %s, expected the same",
                       tl_shape_text(text1, t1->ndim, t1->dims),
                       tl_shape_text(text2, t2->ndim, t2->dims));
    return 0;
}

int tl_check_float(const tl_tensor *t, const char *name)
{
    if (!tl_dtype_is_float(t->dtype))
        return tl_fail("'%s' has dtype %s, expected a float", name, tl_dtype_name(t->dtype));
    return 0;
}

int tl_check_given(const tl_tensor *t, const char *name, int ndim, const int *dims, tl_dtype dtype)
{
    return tl_check_elements(t, name) < 0 ? -1 : tl_check_record(t, name, ndim, dims, dtype);
}

int tl_check_record(const tl_tensor *t, const char *name, int ndim, const int *dims, tl_dtype dtype)
{
    if (!tl_dtype_is_valid(dtype))
        return tl_fail("dtype %d, expected 0 to %d", dtype, TL_DTYPE_SIZE - 1);
    const tl_tensor expected = {.dtype = dtype, .ndim = ndim, .dims = (int *)dims};
    char text[TL_SHAPE_TEXT_SIZE], expected_text[TL_SHAPE_TEXT_SIZE];
    if (t->dtype != dtype || !tl_tensor_issameshape(t, &expected))
        return tl_fail("'%s' is %s %s, expected %s %s", name,
                       tl_dtype_is_valid(t->dtype) ? tl_dtype_name(t->dtype) : "no dtype",
                       tl_shape_text(text, t->ndim, t->dims), tl_dtype_name(dtype),
                       tl_shape_text(expected_text, ndim, dims));
    return 0;
}

int tl_check_ndim(const tl_tensor *t, const char *name, int ndim)
{
    char text[TL_SHAPE_TEXT_SIZE];
    if (t->ndim != ndim)
        return tl_fail("'%s' has shape %s, expected %d dimensions", name,
                       tl_shape_text(text, t->ndim, t->dims), ndim);
    return 0;
}

int tl_check_dims(const tl_tensor *t, const char *name, int ndim, const int *dims)
{
    const tl_tensor expected = {.ndim = ndim, .dims = (int *)dims};
    char text[TL_SHAPE_TEXT_SIZE], expected_text[TL_SHAPE_TEXT_SIZE];
    if (!tl_tensor_issameshape(t, &expected))
        return tl_fail("'%s' has shape %s, expected %s", name,
                       tl_shape_text(text, t->ndim, t->dims),
                       tl_shape_text(expected_text, ndim, dims));
    return 0;
}

int tl_check_bytes(const tl_tensor *t, const char *name)
{
    if (t->dtype != TL_INT8 && t->dtype != TL_UINT8)
        return tl_fail("'%s' has dtype %s, expected TL_INT8 or TL_UINT8", name,
                       tl_dtype_name(t->dtype));
    return 0;
}

int tl_check_input(const tl_tensor *t, const char *name, int ndim)
{
    return tl_check_data(t, name) < 0 ? -1 : tl_check_ndim(t, name, ndim);
}

int tl_check_vector(const tl_tensor *t, const char *name, const tl_tensor *like, int len)
{
    return tl_check_given(t, name, 1, &len, like->dtype);
}

int tl_check_at_least(const char *name, const int *values, int n, int min)
{
    if (n == 1 && *values < min)
        return tl_fail("'%s' is %d, expected at least %d", name, *values, min);
    for (int i = 0; i < n; i++)
        if (values[i] < min)
            return tl_fail("'%s' has %d at index %d, expected at least %d", name, values[i], i,
                           min);
    return 0;
}

int tl_check_apart(const tl_tensor *dst, const tl_tensor *src)
{
    if (!dst || !dst->data || !tl_dtype_is_valid(dst->dtype))
        return 0;
    const uintptr_t d = (uintptr_t)dst->data, s = (uintptr_t)src->data;
    if (d < s + tl_tensor_size(src) && s < d + tl_tensor_size(dst))
        return tl_fail("'dst' overlaps a source, expected separate data");
    return 0;
}

int tl_check_operand(const tl_tensor *src, const char *name, const tl_tensor *dst)
{
    return tl_check_data(src, name) < 0 ? -1 : tl_check_apart(dst, src);
}

int tl_check_in_place(const tl_tensor *dst, const tl_tensor *src)
{
    if (dst && dst->data == src->data && dst->dtype == src->dtype)
        return 0;
    return tl_check_apart(dst, src);
}

int tl_check_scratch(const tl_exec *exec, size_t needed, const char *what)
{
    const size_t size = exec && exec->scratch ? exec->scratch_size : 0;
    if (size < needed)
        return tl_fail("%zu bytes of scratch memory, expected %zu %s", size, needed, what);
    return 0;
}

tl_exec tl_result_exec(size_t size)
{
    return (tl_exec){.scratch = tl_alloc(size), .scratch_size = size, .isa = tl_isa_best()};
}

tl_tensor *tl_result_begin(tl_tensor *dst, int ndim, const int *dims, tl_dtype dtype)
{
    if (!dst)
        return tl_tensor_zeros(ndim, dims, dtype);
    return tl_check_given(dst, "dst", ndim, dims, dtype) < 0 ? NULL : dst;
}

tl_tensor *tl_result_end(tl_tensor *result, const tl_tensor *dst, int status)
{
    if (status == 0)
        return result;
    if (result != dst)
        tl_tensor_free_data_too(result);
    return NULL;
}
