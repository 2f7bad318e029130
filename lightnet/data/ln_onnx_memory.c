// SPDX-License-Identifier: Apache-2.0
// The memory of unpacked ONNX messages.

#include "data/ln_onnx_memory.h"

#include "base/ln_alloc_fail.h"
#include "base/ln_error_memory.h"
#include "lightnet/ln_util.h"

static void *allocate(void *data, size_t size)
{
    (void)data;
    return ln_alloc(size);
}

static void release(void *data, void *ptr)
{
    (void)data;
    ln_free(ptr);
}

ProtobufCAllocator *ln_onnx_allocator(void)
{
    static ProtobufCAllocator allocator = {allocate, release, NULL};
    return &allocator;
}

int ln_onnx_unpack_fail(ln_error *err, unsigned long failures, const char *what)
{
    return ln_alloc_failures() > failures ? ln_error_memory(err) : ln_error_set(err, "%s", what);
}
