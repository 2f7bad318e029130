// SPDX-License-Identifier: Apache-2.0
// Fuzz target: compiled models, with their weights in one file or as JSON, and a run.

#include "fuzz_file.h"
#include "fuzz_run.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ln_context *ctx = ln_context_create();
    // Of several programs, the seed's second.
    if (ctx && !ln_context_bind_shape(ctx, "batch", 1, (const int[]){4}) &&
        !ln_context_init(ctx, fuzz_file(data, size)) && ctx->target)
        fuzz_run(ctx);
    ln_context_free(ctx);
    return 0;
}
