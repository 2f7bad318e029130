// SPDX-License-Identifier: Apache-2.0
// ONNX messages without their large data.
//
// protobuf-c copies every byte of a message. A lean message is the same one in which the data of
// tensors (raw_data, packed float_data and double_data) is replaced by its offset in the file:
// unpacking needs no memory for weights, which are not read. This also limits the nesting of
// messages, so that unpacking cannot exhaust the stack.

#pragma once

#include <protobuf-c/protobuf-c.h>
#include <stddef.h>

#include "base/ln_infile.h"
#include "lightnet/ln_msg.h"

/** Returns new (ln_free) lean message of `*lean_size` bytes; `kind` is the descriptor of its type.
 * NULL with a reason: a field reaches past the end of its message, a message occurs twice where
 * only one may be, messages nest too deep, the file cannot be read, no memory, that of
 * ln_budget_check. */
unsigned char *ln_onnx_lean(const ProtobufCMessageDescriptor *kind, const ln_infile *file,
                            size_t *lean_size, ln_error *err);

/** Returns new (protobuf_c_message_free_unpacked with ln_onnx_allocator) message, read from its
 * lean one. NULL with a reason: that of ln_onnx_lean, no memory, or `what`. */
void *ln_onnx_unpack(const ProtobufCMessageDescriptor *kind, const ln_infile *file,
                     const char *what, ln_error *err);

/** ln_alloc and ln_free for protobuf-c, so that messages count against the budget of the thread,
 * and failures in ln_alloc_failures. */
ProtobufCAllocator *ln_onnx_allocator(void);
