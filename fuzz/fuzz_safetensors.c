// SPDX-License-Identifier: Apache-2.0
// Fuzz target: the reader of safetensors files.

#include "fuzz_file.h"

#include "lightnet/ln_data.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ln_error err = {0};
    ln_safetensors *st = ln_safetensors_open(fuzz_file(data, size), &err);
    for (int i = 0; st && i < ln_safetensors_count(st); i++)
        ln_safetensors_find(st, ln_safetensors_name(st, i));
    ln_safetensors_close(st);
    return 0;
}
