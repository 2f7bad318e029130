// SPDX-License-Identifier: Apache-2.0
// Fuzz target: the reader of npy files.

#include "fuzz_file.h"

#include "lightnet/ln_data.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ln_error err = {0};
    tl_tensor_free_data_too(ln_npy_read(fuzz_file(data, size), &err));
    return 0;
}
