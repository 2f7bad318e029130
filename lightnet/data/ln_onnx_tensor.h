// SPDX-License-Identifier: Apache-2.0
// ONNX tensors (TensorProto) as tl_tensors.

#pragma once

#include "data/ln_raw.h"
#include "ln_onnx.pb-c.h"
#include "lightnet/ln_msg.h"
#include "tensorlight/tl_tensor.h"

/** The file with the data of lean tensors, and the source of external data. */
typedef struct ln_onnx_source {
    const ln_infile *file; // of the message
    // Opens the external file `location`, beneath the folder of the model, as long as the tensors
    // live; NULL with a reason in `err`. A source without this function rejects external data.
    const ln_infile *(*open)(void *owner, const char *location, ln_error *err);
    void *owner;
} ln_onnx_source;

/** Data that stays in a file. */
typedef struct ln_onnx_place {
    const ln_infile *file; // NULL: the tensor has its data
    size_t offset;
} ln_onnx_place;

/** Elements of fewer than 8 bits, packed in bytes, the first in the lowest bits. */
typedef struct ln_onnx_packing {
    int bits;       // of an element; 0: the tensor's elements are not packed
    tl_dtype dtype; // of the elements
    int ndim;
    int dims[LN_MAXDIM];
} ln_onnx_packing;

/** The dtype of an ONNX data type (TensorProto.DataType); TL_DTYPE_INVALID: not supported. */
tl_dtype ln_onnx_dtype(int data_type);

/** The name of an ONNX data type: "FLOAT8E4M3FN" and the like; "type 99" is written to `buf` for an
 * unknown one. */
const char *ln_onnx_dtype_name(int data_type, char buf[32]);

/** Returns new (tl_tensor_free_data_too): the tensor, with its data, or for much data in a file
 * without: at `*place`. Packed elements: the bytes, TL_UINT8, and their format in `*packing`. NULL
 * with a reason that begins with the tensor's name: an unsupported type, dims that do not match the
 * data, data outside of its file, or a read error. */
tl_tensor *ln_onnx_tensor(const LnOnnx__Tensor *proto, const ln_onnx_source *source,
                          ln_onnx_place *place, ln_onnx_packing *packing, ln_error *err);
