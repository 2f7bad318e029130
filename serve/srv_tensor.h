// SPDX-License-Identifier: Apache-2.0
// Tensors of requests and responses, and the types of the protocol: "FP32" and others.
#pragma once

#include <stddef.h>

#include "srv_buffer.h"
#include "srv_status.h"
#include "tensorlight/tl_type.h"

enum { SRV_MAX_DIMS = 16 };

/** A value of strings has `strings` and `sizes`; all others have `data`, in the machine's order of
 *  bytes, which is little-endian. */
typedef struct srv_tensor {
    char *name; // owned
    tl_dtype dtype;
    int ndim, dims[SRV_MAX_DIMS];
    size_t len, size; // elements; bytes of `data`
    void *data;       // owned, 64-byte aligned
    char **strings;   // [len], within `data`
    size_t *sizes;    // [len], owned
} srv_tensor;

/** The protocol's name of a type, such as "FP32" for TL_FLOAT; NULL: it has none. */
const char *srv_datatype_name(tl_dtype dtype);

/** The type of that name; TL_DTYPE_INVALID: none. */
tl_dtype srv_datatype_find(const char *name);

/** The reason why `datatype` (NULL: none) of an input is not found. Returns -1. */
int srv_datatype_fail(const char *input, const char *datatype, srv_error *err);

/** Sets dtype, shape, len and size. -1 with a reason: more than SRV_MAX_DIMS dimensions, a negative
 *  size, more than INT_MAX elements. */
int srv_tensor_shape(srv_tensor *t, tl_dtype dtype, int ndim, const long long *dims,
                     srv_error *err);

/** Allocates `data` for the shape, uninitialized; not for strings. -1: no memory. */
int srv_tensor_alloc(srv_tensor *t, srv_error *err);

/** Copies elements in their binary form: strings each follow their size in 4 bytes. -1 with a
 *  reason: their number of bytes differs from the shape's. */
int srv_tensor_from_binary(srv_tensor *t, const void *bytes, size_t size, srv_error *err);

/** Copies `len` strings. -1: no memory. */
int srv_tensor_from_strings(srv_tensor *t, const char *const *strings, const size_t *sizes,
                            srv_error *err);

/** Appends the elements in their binary form. */
void srv_tensor_to_binary(const srv_tensor *t, srv_buffer *b);

/** The bytes of the binary form. */
size_t srv_tensor_binary_size(const srv_tensor *t);

/** The bytes that the tensor keeps, with what it owns. */
size_t srv_tensor_memory(const srv_tensor *t);

/** Copies a box of `dims` elements of `size` bytes from the beginning of an array of `from_dims` to
 *  that of an array of `to_dims`; both are at least as large, and do not overlap. */
void srv_tensor_copy_box(void *to, const int *to_dims, const void *from, const int *from_dims,
                         const int *dims, int ndim, size_t size);

/** Frees what the tensor owns, not the tensor. */
void srv_tensor_clear(srv_tensor *t);
