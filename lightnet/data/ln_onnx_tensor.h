// SPDX-License-Identifier: Apache-2.0
// ONNX tensors (TensorProto) as tl_tensors.

#ifndef LN_ONNX_TENSOR_H
#define LN_ONNX_TENSOR_H

#include "data/ln_onnx_file.h"
#include "ln_onnx.pb-c.h"
#include "lightnet/ln_msg.h"
#include "tensorlight/tl_tensor.h"

/* Bytes that lean tensors point into, and where their data may be beside it. */
typedef struct ln_onnx_source {
    const unsigned char *data; /* of the file that the message comes from */
    size_t size;
    const char *file; /* its name: external data is looked for in its folder */
    /* Gives the bytes of the external file `path`, mapped as long as the tensors live; NULL with a
     * reason in `err`. A source without this function refuses external data. */
    const ln_filemap *(*open)(void *owner, const char *path, ln_error *err);
    void *owner;
} ln_onnx_source;

/** The dtype of an ONNX data type (TensorProto.DataType); TL_DTYPE_INVALID: LightNet has no such
 * type. */
tl_dtype ln_onnx_dtype(int data_type);

/** The name of an ONNX data type: "FLOAT8E4M3FN" and the like; "type 99" is written to `buf` for an
 * unknown one. */
const char *ln_onnx_dtype_name(int data_type, char buf[32]);

/** Returns new: the tensor. `*owned` 1: its data is its own (tl_tensor_free_data_too); 0: its data
 * lies in the source's bytes, perhaps at an odd address (tl_tensor_free). NULL with a reason that
 * begins with the tensor's name: a type that LightNet does not have, dims and data that do not fit
 * each other, data that lies outside of its file. */
tl_tensor *ln_onnx_tensor(const LnOnnx__Tensor *proto, const ln_onnx_source *source, int *owned,
                          ln_error *err);

#endif
