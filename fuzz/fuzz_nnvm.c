// SPDX-License-Identifier: Apache-2.0
// Fuzz target: the NNVM front end, the operators' checks and the passes; converting to NNVM, with
// shapes and without. What has no shape gets one to be compiled.

#include "fuzz_file.h"

#include "lightnet/lightnet.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const int dims[] = {2, 6, 4, 4};
    ln_stats stats;
    ln_context *ctx = ln_context_create();
    if (ctx) { // whether it goes or not
        (void)ln_context_convert_text(ctx, "fuzz", (const char *)data, size, "nnvm", "/dev/null");
        ln_context_cleanup(ctx);
    }
    if (ctx && !ln_context_bind_shape(ctx, "data", 4, dims) &&
        !ln_context_init_text(ctx, "fuzz", (const char *)data, size) && !ctx->target &&
        !ln_context_compile(ctx, "cpu"))
        ln_context_stats(ctx, &stats);
    ln_context_free(ctx);
    return 0;
}
