// SPDX-License-Identifier: Apache-2.0
// Which program's message some bytes are, by the numbers and types of its fields.

#ifndef LN_PROTOBUF_KIND_H
#define LN_PROTOBUF_KIND_H

#include <stddef.h>

/** Whether the bytes are a whole message of any type. */
int ln_protobuf_is_message(const unsigned char *data, size_t size);

/** Whether the bytes begin like an ONNX model and not like text: every field up to the end or to
 *  where the file is cut off has a number and a type of ModelProto. */
int ln_protobuf_is_onnx_model(const unsigned char *data, size_t size);

/** The same of TensorProto. */
int ln_protobuf_is_onnx_tensor(const unsigned char *data, size_t size);

/** The name of the message with an article, if it is a model of another program, else NULL. */
const char *ln_protobuf_foreign(const unsigned char *data, size_t size);

#endif
