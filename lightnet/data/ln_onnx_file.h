// SPDX-License-Identifier: Apache-2.0
// Files that hold one ONNX tensor (TensorProto).

#ifndef LN_ONNX_FILE_H
#define LN_ONNX_FILE_H

#include "base/ln_infile.h"
#include "lightnet/ln_msg.h"
#include "tensorlight/tl_tensor.h"

/** Whether the bytes are a TensorProto. */
int ln_onnx_tensor_is(const ln_infile *in);

/** Returns new (tl_tensor_free_data_too): the tensor of a file that holds one TensorProto. NULL
 * with a reason that names the file. */
tl_tensor *ln_onnx_tensor_from_file(const ln_infile *in, const char *file, ln_error *err);

#endif
