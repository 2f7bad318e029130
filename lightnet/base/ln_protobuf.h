// SPDX-License-Identifier: Apache-2.0
// Which program's message some bytes are, by the numbers and types of its fields.

#ifndef LN_PROTOBUF_H
#define LN_PROTOBUF_H

#include <stddef.h>
#include <stdint.h>

/** Whether the bytes are a whole message of any type. */
int ln_protobuf_is_message(const unsigned char *data, size_t size);

/** Whether the bytes are a message with the fields of an ONNX model. */
int ln_protobuf_is_onnx(const unsigned char *data, size_t size);

/** The name of the message with an article, if it is a model of another program, else NULL. */
const char *ln_protobuf_foreign(const unsigned char *data, size_t size);

#endif
