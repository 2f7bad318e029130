// SPDX-License-Identifier: Apache-2.0
// Fuzz target: the ONNX front end, the operators' checks, the passes, and a run.

#include "fuzz_file.h"
#include "fuzz_run.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ln_context *ctx = ln_context_create();
    if (ctx && !ln_context_init_text(ctx, "fuzz", (const char *)data, size) && !ctx->target &&
        !ln_context_compile(ctx, "cpu"))
        fuzz_run(ctx);
    ln_context_free(ctx);
    return 0;
}
