// SPDX-License-Identifier: Apache-2.0
// Fuzz target: the ONNX front end, the operators' checks, the passes, and a run.

#include "fuzz_file.h"

#include "lightnet/lightnet.h"

// Models that ask for more than this are not run: they are right, and take their time.
enum { LARGEST = 1 << 26 };
static const double most_macs = 1e8;

static void run(ln_context *ctx)
{
    ln_stats stats;
    if (ln_context_compile(ctx, "cpu") || ln_context_stats(ctx, &stats) || stats.memory > LARGEST ||
        stats.macs > most_macs)
        return;
    if (!ln_context_load(ctx, NULL))
        ln_context_run(ctx);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ln_context *ctx = ln_context_create();
    if (ctx && !ln_context_init_text(ctx, "fuzz", (const char *)data, size) && !ctx->target)
        run(ctx);
    ln_context_free(ctx);
    return 0;
}
