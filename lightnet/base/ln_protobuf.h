// SPDX-License-Identifier: Apache-2.0
// The wire format of Protocol Buffers, read field by field.
//
//     ln_protobuf in = {.view.file = file, .err = err};
//     ln_protobuf_part part = {0, file->size};
//     while (part.at < part.end) {
//         ln_protobuf_field f;
//         if (ln_protobuf_read(&in, &part, &f))
//             ...
//     }
//
// Source: Protocol Buffers, "Encoding". A message is a sequence of fields: a tag (number * 8 +
// type) as a varint, and a value of that type: a varint, 4 or 8 bytes, or a length as a varint
// with as many bytes after it.

#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/ln_infile.h"
#include "lightnet/ln_msg.h"

/** The types of fields. */
enum {
    LN_PROTOBUF_VARINT = 0,
    LN_PROTOBUF_FIXED64 = 1,
    LN_PROTOBUF_BYTES = 2,
    LN_PROTOBUF_FIXED32 = 5
};

/** Reads only the bytes of the structure, so large values cost nothing. */
typedef struct ln_protobuf {
    ln_view view;
    ln_error *err; // the reason if the file cannot be read; a damaged message sets none
    int is_broken; // the file cannot be read
} ln_protobuf;

/** A part of the file that is read from front to back, by offsets. */
typedef struct ln_protobuf_part {
    size_t at, end;
} ln_protobuf_part;

typedef struct ln_protobuf_field {
    size_t begin; // of the tag
    uint32_t number;
    int type;
    ln_protobuf_part value; // the value's bytes, without the length of LN_PROTOBUF_BYTES
    uint64_t missing;       // bytes of LN_PROTOBUF_BYTES past the end of the part
} ln_protobuf_field;

/** Reads the next field of a part that has bytes left. -1: the field is damaged or reaches past the
 * end of the part, or the file cannot be read; its number and type are set if they are valid,
 * otherwise the number is 0. */
int ln_protobuf_read(ln_protobuf *in, ln_protobuf_part *part, ln_protobuf_field *field);

// Which program wrote a message

/** Whether the bytes are a complete message of any type. */
int ln_protobuf_is_message(const unsigned char *data, size_t size);

/** Whether the bytes begin like an ONNX model and not like text: every field up to the end of the
 * bytes has a number and a type of ModelProto. */
int ln_protobuf_is_onnx_model(const unsigned char *data, size_t size);

/** The same for TensorProto. */
int ln_protobuf_is_onnx_tensor(const unsigned char *data, size_t size);

/** Whether the file is an ONNX SequenceProto of tensors, or an OptionalProto of a tensor or of such
 * a sequence. Their fields are also some of TensorProto, which differs in its values. */
int ln_protobuf_is_onnx_sequence(const ln_infile *file);

/** The name of the message with an article, if it is a model of another program, else NULL. */
const char *ln_protobuf_foreign(const unsigned char *data, size_t size);
