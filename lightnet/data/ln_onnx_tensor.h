// SPDX-License-Identifier: Apache-2.0
// ONNX tensors (TensorProto) as tl_tensors.

#ifndef LN_ONNX_TENSOR_H
#define LN_ONNX_TENSOR_H

#include "data/ln_onnx_file.h"
#include "ln_onnx.pb-c.h"
#include "lightnet/ln_msg.h"
#include "tensorlight/tl_tensor.h"

/* The file that lean tensors have their data in, and where it may be beside it. */
typedef struct ln_onnx_source {
    const ln_infile *file; /* that the message comes from */
    /* Opens the external file `location`, beneath the folder of the model, as long as the tensors
     * live; NULL with a reason in `err`. A source without this function refuses external data. */
    const ln_infile *(*open)(void *owner, const char *location, ln_error *err);
    void *owner;
} ln_onnx_source;

/* Data that stays in a file. */
typedef struct ln_onnx_place {
    const ln_infile *file; /* NULL: the tensor has its data itself */
    size_t offset;
} ln_onnx_place;

/* Elements of fewer than 8 bits, which lie side by side in bytes, the first in the lowest bits. */
typedef struct ln_onnx_packing {
    int bits;       /* of an element; 0: the tensor's elements are not packed */
    tl_dtype dtype; /* that holds them: TL_INT8 or TL_UINT8 */
    int ndim;
    int dims[LN_MAXDIM];
} ln_onnx_packing;

/** The dtype of an ONNX data type (TensorProto.DataType); TL_DTYPE_INVALID: LightNet has no such
 * type. */
tl_dtype ln_onnx_dtype(int data_type);

/** The name of an ONNX data type: "FLOAT8E4M3FN" and the like; "type 99" is written to `buf` for an
 * unknown one. */
const char *ln_onnx_dtype_name(int data_type, char buf[32]);

/** Returns new (tl_tensor_free_data_too): the tensor, with its data, or without where there is much
 * of it in a file: at `*place`. Of packed elements the bytes, TL_UINT8, and in `*packing` what they
 * are; packing NULL: they are a type that LightNet does not have. NULL with a reason that begins
 * with the tensor's name: a type that LightNet does not have, dims and data that do not fit each
 * other, data that lies outside of its file, or cannot be read. */
tl_tensor *ln_onnx_tensor(const LnOnnx__Tensor *proto, const ln_onnx_source *source,
                          ln_onnx_place *place, ln_onnx_packing *packing, ln_error *err);

#endif
