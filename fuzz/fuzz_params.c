// SPDX-License-Identifier: Apache-2.0
// Fuzz target: the reader of files of parameters, which a graph with one parameter looks into.

#include "fuzz_file.h"

#include <string.h>

#include "lightnet/lightnet.h"

static const char graph[] = "{\"nodes\": [{\"op\": \"null\", \"name\": \"a\", \"inputs\": []},"
                            "{\"op\": \"negative\", \"name\": \"b\", \"inputs\": [[0, 0, 0]]}],"
                            "\"arg_nodes\": [0], \"heads\": [[1, 0, 0]]}";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *file = fuzz_file(data, size);
    ln_context *ctx = ln_context_create();
    if (ctx && !ln_context_bind_file(ctx, file) &&
        !ln_context_init_text(ctx, "fuzz", graph, strlen(graph)) && !ctx->target &&
        !ln_context_compile(ctx, "cpu"))
        ln_context_load(ctx, file);
    ln_context_free(ctx);
    return 0;
}
