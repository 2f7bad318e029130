// SPDX-License-Identifier: Apache-2.0
// Fuzz target: the intermediate language, from the preprocessor to the operators' checks, and back.

#include <stdlib.h>

#include "fuzz_file.h"
#include "il/ln_il.h"
#include "il/ln_il_write.h"
#include "lightnet/lightnet.h"

static void write_back(ln_context *ctx)
{
    char *json = NULL;
    size_t len;
    FILE *stream = open_memstream(&json, &len);
    const int failed = !stream || ln_context_write_ir(ctx, NULL, stream);
    if (stream && !fclose(stream) && !failed)
        ln_il_write(json, len, "/dev/null", ctx->error);
    free(json);
}

static void check(const ln_il_model *m)
{
    ln_error err = {0};
    size_t len;
    char *json = ln_il_json(m, &len, &err);
    ln_context *ctx = json ? ln_context_create() : NULL;
    if (ctx && !ln_context_init_ir(ctx, "fuzz.net", json, len, ln_il_place_of, m) && !ctx->target)
        write_back(ctx);
    ln_context_free(ctx);
    ln_free(json);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const ln_il_host host = {.model = NULL};
    ln_il_model m = {0};
    ln_error err = {0};
    if (!ln_il_read(&m, "fuzz.net", data, size, &host, &err))
        check(&m);
    ln_il_model_free(&m);
    return 0;
}
