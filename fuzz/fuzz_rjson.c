// SPDX-License-Identifier: Apache-2.0
// Fuzz target: the reader of relaxed JSON, in which descriptions are written.

#include "fuzz_file.h"

#include "gen/ln_rjson.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ln_error err = {0};
    ln_rjson_free(ln_rjson_parse("fuzz", (const char *)data, size, &err));
    return 0;
}
