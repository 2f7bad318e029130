// SPDX-License-Identifier: Apache-2.0
// ONNX messages without their large data.
//
// protobuf-c copies every byte of a message. A lean message is the same one in which the data of
// tensors (raw_data, packed float_data and double_data) is replaced by its offset in the file:
// unpacking needs no memory for weights, which are not read. This also limits the nesting of
// messages, so that unpacking cannot exhaust the stack.

#ifndef LN_ONNX_LEAN_H
#define LN_ONNX_LEAN_H

#include <protobuf-c/protobuf-c.h>
#include <stddef.h>

#include "base/ln_infile.h"
#include "lightnet/ln_msg.h"

/* The type of a message. */
typedef enum ln_onnx_kind { LN_ONNX_MODEL, LN_ONNX_TENSOR } ln_onnx_kind;

/** Returns new (ln_free) lean message of `*lean_size` bytes; NULL with a reason: a field reaches
 * past the end of its message, messages nest too deep, the file cannot be read, no memory. */
unsigned char *ln_onnx_lean(ln_onnx_kind kind, const ln_infile *file, size_t *lean_size,
                            ln_error *err);

/** ln_alloc and ln_free for protobuf-c, so that messages count against the budget of the thread,
 * and failures in ln_alloc_failures. */
ProtobufCAllocator *ln_onnx_allocator(void);

/** Records why protobuf-c could not unpack a message: no memory, if ln_alloc_failures has grown
 *  since it was `failures`; else `what`. Returns -1. */
int ln_onnx_unpack_fail(ln_error *err, unsigned long failures, const char *what);

#endif
