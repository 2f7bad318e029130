// SPDX-License-Identifier: Apache-2.0
// Weight and tensor files: safetensors, wts, npy, npz and raw data.
//
//     ln_error err = {0};
//     tl_tensor *image = ln_npy_read("image.npy", &err);
//     if (!image)
//         fprintf(stderr, "error: %s\n", ln_error_text(&err));
//
//     ln_safetensors *weights = ln_safetensors_open("model.safetensors", &err);
//     const tl_tensor *bias = ln_safetensors_find(weights, "conv1_bias");
//
// Every size in a file is checked against the file before use. Errors go to `err`
// (NULL: the calling thread's record) and name the file, the tensor, the value
// found and the value expected. Files are written completely or not at all.

#ifndef LN_DATA_H
#define LN_DATA_H

#include "lightnet/ln_api.h"
#include "lightnet/ln_context.h"
#include "lightnet/ln_hash.h"
#include "lightnet/ln_msg.h"
#include "tensorlight/tl_tensor.h"

LN_BEGIN_DECLS

// Data of a model

/** Reads the data of every tensor that a `create` with `from_file` produces from a wts
 * or safetensors file, recognized by content. The tensors have memory
 * (ln_context_alloc_mem). Names, dtypes and shapes (wts has none: lengths) must
 * match, but inputs of the model may be missing: they keep their data. Unused
 * tensors cause one warning. -1 with the reason in the context: no data
 * changes, unless reading data fails or is stopped; the next run reads it again. */
LN_API int ln_data_load(ln_context *ctx, const char *file);

/** The number of weights in the model's own file, such as ONNX,
 *  that its operators read. ln_context_print omits them. */
LN_API int ln_data_num_own(const ln_context *ctx);

/** Writes these weights, and those in the file that ln_context_bind_file named, as
 *  safetensors to `file`, for ln_data_load with the model that ln_context_print
 *  writes. -1 with the reason in the context: no file remains. */
LN_API int ln_data_save(ln_context *ctx, const char *file);

/** The name of a weight file beside the model `file`: with `ending` in place of ".json", ".net"
 *  or ".il", appended to any other name. -1 with the thread's last error: `size` is too small.
 */
LN_API int ln_data_name_beside(char *buf, size_t size, const char *file, const char *ending);

// safetensors: named tensors and text

typedef struct ln_safetensors ln_safetensors;

/** Returns new (ln_safetensors_close). The header is checked completely:
 *  the tensors fill the data without overlaps or gaps, and each has the
 *  bytes of its dtype and shape. Data of large files is read on demand. */
LN_API ln_safetensors *ln_safetensors_open(const char *file, ln_error *err);

/** Closes the file, which invalidates its tensors and texts. Ignores NULL. */
LN_API void ln_safetensors_close(ln_safetensors *st);

/** The number of tensors. */
LN_API int ln_safetensors_count(const ln_safetensors *st);

/** The name of tensor `i`, 0 .. count - 1, in the header's order. Returns borrowed (until closing).
 */
LN_API const char *ln_safetensors_name(const ln_safetensors *st, int i);

/** The tensor of that name, with its data, which the first call
 *  reads. Returns borrowed (until closing); NULL: none, or it cannot
 *  be read, with the thread's last error. One thread at a time. */
LN_API const tl_tensor *ln_safetensors_find(const ln_safetensors *st, const char *name);

/** The text of that key in the metadata, or NULL. Returns borrowed (until closing). */
LN_API const char *ln_safetensors_metadata(const ln_safetensors *st, const char *key);

/** Writes `n` tensors with data, names[i] with tensors[i]. metadata: key, value,
 * key, value, .., NULL; or NULL. Equal input is saved as equal bytes. Tensors are sorted
 * by decreasing element size, otherwise in order, and thus aligned to it. */
LN_API int ln_safetensors_write(const char *file, int n, const char *const *names,
                                const tl_tensor *const *tensors, const char *const *metadata,
                                ln_error *err);

// wts: the TensorRT weight text format, named arrays of float32, float16 and int8

/** Writes `n` arrays: TL_FLOAT, TL_FLOAT16 or TL_INT8 tensors with data, names that are different C
 *  identifiers. */
LN_API int ln_wts_write(const char *file, int n, const char *const *names,
                        const tl_tensor *const *tensors, ln_error *err);

/** Writes one array per text file: the numbers in it, separated by white space
 * or punctuation, named after the leading identifier characters of the file's
 * base name. Numbers fit `dtype` (see ln_wts_write), integers for TL_INT8. */
LN_API int ln_wts_write_from_texts(const char *file, tl_dtype dtype, int n,
                                   const char *const *texts, ln_error *err);

// npy: one array, as NumPy saves it

/** Returns new (tl_tensor_free_data_too): the array of an npy file of version 1 or 2, of either
 * byte order, C or Fortran order. */
LN_API tl_tensor *ln_npy_read(const char *file, ln_error *err);

/** Writes a tensor with data as npy version 1, C order. bfloat16,
 * which npy lacks, is written as uint16 with the same bits. */
LN_API int ln_npy_write(const char *file, const tl_tensor *t, ln_error *err);

// npz: named arrays, as NumPy's savez and savez_compressed save them

typedef struct ln_npz ln_npz;

/** Returns new (ln_npz_close); NULL with a reason. The directory of the archive is checked
 *  completely: members are npy files, stored or deflated, with different names, without
 *  overlaps. Archives of 4 GiB or more (zip64) are rejected. Arrays are read on demand. */
LN_API ln_npz *ln_npz_open(const char *file, ln_error *err);

/** Closes the file. Ignores NULL. */
LN_API void ln_npz_close(ln_npz *npz);

/** The number of arrays. */
LN_API int ln_npz_count(const ln_npz *npz);

/** The name of array `i`, 0 .. count - 1, in the archive's order. Returns borrowed (until
 *  closing). */
LN_API const char *ln_npz_name(const ln_npz *npz, int i);

/** Reads the array of that name, and checks its CRC. like NULL: unchanged; else in like's dtype
 *  and shape, as ln_input_read. Returns new (tl_tensor_free_data_too); NULL with a reason. */
LN_API tl_tensor *ln_npz_read(const ln_npz *npz, const char *name, const tl_tensor *like,
                              ln_error *err);

/** Writes `n` tensors with data, names[i] with tensors[i], uncompressed, each as ln_npy_write.
 *  Equal input is saved as equal bytes. -1 with a reason, among others: two names are equal, a name
 *  is empty, or the file would have 4 GiB. */
LN_API int ln_npz_write(const char *file, int n, const char *const *names,
                        const tl_tensor *const *tensors, ln_error *err);

// Raw little-endian elements

/** Returns new (tl_tensor_free_data_too): the file's bytes as a
 * tensor of that dtype and shape; the sizes must be equal. */
LN_API tl_tensor *ln_bin_read(const char *file, tl_dtype dtype, int ndim, const int *dims,
                              ln_error *err);

/** Writes the elements of a tensor with data, of any dtype, and nothing else. */
LN_API int ln_bin_write(const char *file, const tl_tensor *t, ln_error *err);

// Libraries

/** Lists the libraries in use that read files, with their versions: "Jansson 2.14, zlib 1.2.13".
 *  Truncates to `size` bytes with the NUL. Returns `buf`. */
LN_API char *ln_sprint_libraries(char *buf, size_t size);

LN_END_DECLS

#endif
