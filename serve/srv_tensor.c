// SPDX-License-Identifier: Apache-2.0
// Tensors from and to bytes, with checked sizes.

#include "srv_tensor.h"

#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ALIGNMENT = 64, PREFIX = 4 }; // bytes; those of a string's size

static const struct {
    const char *name;
    tl_dtype dtype;
} datatypes[] = {
    {"BOOL", TL_BOOL},     {"UINT8", TL_UINT8},  {"UINT16", TL_UINT16}, {"UINT32", TL_UINT32},
    {"UINT64", TL_UINT64}, {"INT8", TL_INT8},    {"INT16", TL_INT16},   {"INT32", TL_INT32},
    {"INT64", TL_INT64},   {"FP16", TL_FLOAT16}, {"FP32", TL_FLOAT},    {"FP64", TL_DOUBLE},
    {"BF16", TL_BFLOAT16}, {"BYTES", TL_STRING},
};
enum { N_DATATYPES = sizeof(datatypes) / sizeof(datatypes[0]) };

const char *srv_datatype_name(tl_dtype dtype)
{
    for (int i = 0; i < N_DATATYPES; i++)
        if (datatypes[i].dtype == dtype)
            return datatypes[i].name;
    return NULL;
}

tl_dtype srv_datatype_find(const char *name)
{
    for (int i = 0; i < N_DATATYPES; i++)
        if (!strcmp(datatypes[i].name, name))
            return datatypes[i].dtype;
    return TL_DTYPE_INVALID;
}

int srv_datatype_fail(const char *input, const char *datatype, srv_error *err)
{
    char names[N_DATATYPES * 8]; // with ", " before each
    size_t n = 0;
    for (int i = 0; i < N_DATATYPES; i++)
        n += (size_t)snprintf(names + n, sizeof(names) - n, i ? ", %s" : "%s", datatypes[i].name);
    return datatype ? srv_fail(err, SRV_INVALID,
                               "input '%s' has the unknown datatype '%s'; expected one of %s",
                               input, datatype, names)
                    : srv_fail(err, SRV_INVALID, "input '%s' has no 'datatype'; expected one of %s",
                               input, names);
}

int srv_tensor_shape(srv_tensor *t, tl_dtype dtype, int ndim, const long long *dims, srv_error *err)
{
    size_t len = 1;
    if (ndim > SRV_MAX_DIMS)
        return srv_fail(err, SRV_INVALID, "'%s' has %d dimensions; the max is %d", t->name, ndim,
                        SRV_MAX_DIMS);
    for (int i = 0; i < ndim; i++) {
        if (dims[i] < 0 || dims[i] > INT_MAX)
            return srv_fail(err, SRV_INVALID, "'%s' has the size %lld in axis %d; expected 0 to %d",
                            t->name, dims[i], i, INT_MAX);
        t->dims[i] = (int)dims[i];
    }
    for (int i = 0; i < ndim; i++)
        len = len > INT_MAX ? len : len * (size_t)t->dims[i];
    for (int i = 0; i < ndim; i++)
        len = t->dims[i] ? len : 0;
    if (len > INT_MAX)
        return srv_fail(err, SRV_TOO_LARGE, "'%s' has more than %d elements", t->name, INT_MAX);
    t->dtype = dtype;
    t->ndim = ndim;
    t->len = len;
    t->size = dtype == TL_STRING ? 0 : len * tl_size_of(dtype);
    return 0;
}

static void *alloc(size_t size, srv_error *err)
{
    void *const data = aligned_alloc(ALIGNMENT, size / ALIGNMENT * ALIGNMENT + ALIGNMENT);
    if (!data)
        srv_fail(err, SRV_OUT_OF_MEMORY, "the server has no memory for %zu bytes", size);
    return data;
}

int srv_tensor_alloc(srv_tensor *t, srv_error *err)
{
    t->data = alloc(t->size, err);
    return t->data ? 0 : -1;
}

// Memory for `len` strings of `size` bytes in all, each followed by a 0.
static int alloc_strings(srv_tensor *t, size_t size, srv_error *err)
{
    t->size = size + t->len;
    t->data = alloc(t->size, err);
    t->strings = calloc(t->len + 1, sizeof(*t->strings));
    t->sizes = calloc(t->len + 1, sizeof(*t->sizes));
    if (t->data && t->strings && t->sizes)
        return 0;
    return srv_fail(err, SRV_OUT_OF_MEMORY, "the server has no memory for %zu strings", t->len);
}

int srv_tensor_from_strings(srv_tensor *t, const char *const *strings, const size_t *sizes,
                            srv_error *err)
{
    size_t size = 0;
    for (size_t i = 0; i < t->len; i++)
        size += sizes[i]; // all are in memory: no overflow
    if (alloc_strings(t, size, err))
        return -1;
    char *to = t->data;
    for (size_t i = 0; i < t->len; i++) {
        memcpy(to, strings[i], sizes[i]);
        to[sizes[i]] = '\0';
        t->strings[i] = to;
        t->sizes[i] = sizes[i];
        to += sizes[i] + 1;
    }
    return 0;
}

static uint32_t prefix_at(const char *bytes)
{
    uint32_t size;
    memcpy(&size, bytes, sizeof(size));
    return size;
}

// -1 unless `bytes` has `len` strings and nothing else; the sum of their sizes to *sum.
static int check_strings(const srv_tensor *t, const char *bytes, size_t size, size_t *sum,
                         srv_error *err)
{
    const char *const end = bytes + size;
    *sum = 0;
    for (size_t i = 0; i < t->len; i++) {
        if (end - bytes < PREFIX || (size_t)(end - bytes - PREFIX) < prefix_at(bytes))
            return srv_fail(
                err, SRV_INVALID,
                "the data of '%s' ends within string %zu of %zu; each is 4 bytes of its "
                "size, then its bytes",
                t->name, i, t->len);
        *sum += prefix_at(bytes);
        bytes += PREFIX + prefix_at(bytes);
    }
    return bytes == end
               ? 0
               : srv_fail(err, SRV_INVALID, "the data of '%s' has %td bytes after its %zu strings",
                          t->name, end - bytes, t->len);
}

static int strings_from_binary(srv_tensor *t, const char *bytes, size_t size, srv_error *err)
{
    size_t sum;
    if (check_strings(t, bytes, size, &sum, err) || alloc_strings(t, sum, err))
        return -1;
    char *to = t->data;
    for (size_t i = 0; i < t->len; i++) {
        t->sizes[i] = prefix_at(bytes);
        t->strings[i] = to;
        memcpy(to, bytes + PREFIX, t->sizes[i]);
        to[t->sizes[i]] = '\0';
        to += t->sizes[i] + 1;
        bytes += PREFIX + t->sizes[i];
    }
    return 0;
}

int srv_tensor_from_binary(srv_tensor *t, const void *bytes, size_t size, srv_error *err)
{
    if (t->dtype == TL_STRING)
        return strings_from_binary(t, bytes, size, err);
    if (size != t->size)
        return srv_fail(err, SRV_INVALID,
                        "the data of '%s' has %zu bytes; its shape and type need %zu", t->name,
                        size, t->size);
    if (srv_tensor_alloc(t, err))
        return -1;
    memcpy(t->data, bytes, size);
    return 0;
}

size_t srv_tensor_binary_size(const srv_tensor *t)
{
    size_t size = t->size;
    if (t->dtype != TL_STRING)
        return size;
    size = PREFIX * t->len;
    for (size_t i = 0; i < t->len; i++)
        size += t->sizes[i];
    return size;
}

size_t srv_tensor_memory(const srv_tensor *t)
{
    const size_t name = t->name ? strlen(t->name) + 1 : 0;
    const size_t strings = t->strings ? t->len * (sizeof(*t->strings) + sizeof(*t->sizes)) : 0;
    return sizeof(*t) + ALIGNMENT + name + t->size + strings;
}

void srv_tensor_to_binary(const srv_tensor *t, srv_buffer *b)
{
    if (t->dtype != TL_STRING) {
        srv_buffer_add(b, t->data, t->size);
        return;
    }
    for (size_t i = 0; i < t->len; i++) {
        const uint32_t prefix = (uint32_t)t->sizes[i];
        srv_buffer_add(b, &prefix, sizeof(prefix));
        srv_buffer_add(b, t->strings[i], t->sizes[i]);
    }
}

// Whether the box has all of both arrays beyond axis 0.
static int is_whole(const int *to_dims, const int *from_dims, const int *dims, int ndim)
{
    for (int k = 1; k < ndim; k++)
        if (to_dims[k] != dims[k] || from_dims[k] != dims[k])
            return 0;
    return 1;
}

// The bytes of a step along axis 0.
static size_t step_of(const int *dims, int ndim, size_t size)
{
    for (int k = 1; k < ndim; k++)
        size *= (size_t)dims[k];
    return size;
}

void srv_tensor_copy_box(void *to, const int *to_dims, const void *from, const int *from_dims,
                         const int *dims, int ndim, size_t size)
{
    const size_t to_step = step_of(to_dims, ndim, size), from_step = step_of(from_dims, ndim, size);
    if (is_whole(to_dims, from_dims, dims, ndim)) {
        const size_t all = ndim ? to_step * (size_t)dims[0] : size;
        if (all)
            memcpy(to, from, all);
        return;
    }
    for (int i = 0; i < dims[0]; i++)
        srv_tensor_copy_box((char *)to + (size_t)i * to_step, to_dims + 1,
                            (const char *)from + (size_t)i * from_step, from_dims + 1, dims + 1,
                            ndim - 1, size);
}

void srv_tensor_clear(srv_tensor *t)
{
    free(t->name);
    free(t->data);
    free(t->strings);
    free(t->sizes);
    *t = (srv_tensor){.name = NULL};
}
