// SPDX-License-Identifier: Apache-2.0
// The memory of unpacked ONNX messages.

#ifndef LN_ONNX_MEMORY_H
#define LN_ONNX_MEMORY_H

#include <protobuf-c/protobuf-c.h>

#include "lightnet/ln_msg.h"

/** ln_alloc and ln_free for protobuf-c, so that messages count against the budget of the thread,
 * and failures in ln_alloc_failures. */
ProtobufCAllocator *ln_onnx_allocator(void);

/** Records why protobuf-c could not unpack a message: no memory, if ln_alloc_failures is greater
 *  than `failures`, which it was before; else `what`. Returns -1. */
int ln_onnx_unpack_fail(ln_error *err, unsigned long failures, const char *what);

#endif
