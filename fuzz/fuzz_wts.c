// SPDX-License-Identifier: Apache-2.0
// Fuzz target: the reader of wts files.

#include "fuzz_file.h"

#include "lightnet/ln_tensor.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ln_hash *table = ln_tensor_table_create();
    if (table)
        ln_tensor_table_load_trt_weight_file(table, fuzz_file(data, size));
    ln_tensor_table_free(table);
    return 0;
}
