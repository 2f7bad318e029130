// SPDX-License-Identifier: Apache-2.0
// Elements as bytes of a file: size, byte order and valid values. Readers of open files that hold
// one tensor.

#pragma once

#include <stddef.h>

#include "base/ln_infile.h"
#include "lightnet/ln_data.h"
#include "lightnet/ln_msg.h"
#include "tensorlight/tl_tensor.h"

/** 0 if a tensor of this dtype and shape has `size` bytes and all bytes are elements; otherwise
 * -1 with a reason that begins with "WHERE: ". */
int ln_raw_check(const void *data, size_t size, tl_dtype dtype, int ndim, const int *dims,
                 const char *where, ln_error *err);

/** The same for `size` bytes of `in` at `offset`, which it has. */
int ln_raw_check_in(const ln_infile *in, size_t offset, size_t size, tl_dtype dtype, int ndim,
                    const int *dims, const char *where, ln_error *err);

/** Returns new (tl_tensor_free_data_too): the bytes, which ln_raw_check accepts, as a tensor;
 * `swap`: their byte order is not the machine's. NULL with a reason. */
tl_tensor *ln_raw_copy(const void *data, tl_dtype dtype, int ndim, const int *dims, int swap,
                       const char *where, ln_error *err);

/** 0 if such a tensor has `size` bytes; -1 with a reason that begins with "WHERE: ". */
int ln_raw_check_size(size_t size, tl_dtype dtype, int ndim, const int *dims, const char *where,
                      ln_error *err);

/** 0 for the shape of `like`; -1 with a reason that begins with "WHERE: ". */
int ln_raw_check_shape(const char *where, int ndim, const int *dims, const tl_tensor *like,
                       ln_error *err);

/** The type under which a format that lacks `dtype` stores its elements: TL_UINT16 for TL_BFLOAT16,
 * TL_UINT8 for floats of at most 8 bits, TL_UINT8 or TL_INT8 for integers of fewer than 8 bits; any
 * other is itself. */
tl_dtype ln_raw_dtype(tl_dtype dtype);

/** As ln_bin_read with a valid dtype, from the open file `in`, called `file` in messages. */
tl_tensor *ln_bin_from_file(const ln_infile *in, const char *file, tl_dtype dtype, int ndim,
                            const int *dims, ln_error *err);

/** Whether the bytes begin like an npy file. */
int ln_npy_is(const ln_infile *in);

/** 0 if the npy file of `size` bytes that begins with `head` can be read as `like` (NULL: any type
 * and shape), before it is read; -1 with a reason that begins with "WHERE: ". */
int ln_npy_check(const void *head, size_t head_size, size_t size, const char *where,
                 const tl_tensor *like, ln_error *err);

/** As ln_npy_read, from the open file `in`, called `file` in messages. */
tl_tensor *ln_npy_from_file(const ln_infile *in, const char *file, ln_error *err);

/** The bytes of ln_npy_header, at most. */
enum { LN_NPY_HEADER_SIZE = 320 };

/** The elements of a tensor as npy has them. */
typedef struct ln_npy_array {
    const void *data;
    size_t size;
    int width; // of strings: their code points, in 4 bytes each, padded with 0
    void *own; // memory of the data, or NULL
} ln_npy_array;

/** Sets the elements (ln_npy_end). -1 with a reason: no memory, a string that npy cannot hold. */
int ln_npy_begin(ln_npy_array *array, const tl_tensor *t, ln_error *err);
void ln_npy_end(ln_npy_array *array);

/** Writes the header of an npy file of the tensor. Returns the number of bytes. */
size_t ln_npy_header(unsigned char buf[LN_NPY_HEADER_SIZE], const tl_tensor *t,
                     const ln_npy_array *array);

/** Whether the bytes are a TensorProto. */
int ln_onnx_tensor_is(const ln_infile *in);

/** Returns new (tl_tensor_free_data_too): the tensor of a file that holds one TensorProto. NULL
 * with a reason that names the file. */
tl_tensor *ln_onnx_tensor_from_file(const ln_infile *in, const char *file, ln_error *err);

/** The same for one that ln_protobuf_is_onnx_sequence accepts: as ln_input_read_sequence. The whole
 * file is in memory. */
tl_tensor **ln_onnx_sequence_from_file(const ln_infile *in, const char *file, int *n,
                                       ln_error *err);
