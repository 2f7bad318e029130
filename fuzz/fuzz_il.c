// SPDX-License-Identifier: Apache-2.0
// Fuzz target: the intermediate language, from the preprocessor to the operators' checks, and back.

#include "fuzz_file.h"

#include "lightnet/lightnet.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ln_context *ctx = ln_context_create();
    if (ctx && !ln_context_init_text(ctx, "fuzz.net", (const char *)data, size) && !ctx->target)
        ln_context_write(ctx, NULL, "il", "/dev/null");
    ln_context_free(ctx);
    return 0;
}
