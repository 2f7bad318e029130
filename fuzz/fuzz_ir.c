// SPDX-License-Identifier: Apache-2.0
// Fuzz target: the IR reader, the operators' checks, the writer of NNVM graphs, and the passes.

#include "fuzz_file.h"

#include "lightnet/lightnet.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ln_context *ctx = ln_context_create();
    if (ctx && !ln_context_init_text(ctx, "fuzz", (const char *)data, size) && !ctx->target) {
        (void)ln_context_write(ctx, NULL, "nnvm", "/dev/null"); // whether it goes or not
        ln_context_compile(ctx, "cpu");
    }
    ln_context_free(ctx);
    return 0;
}
