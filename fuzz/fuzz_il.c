// SPDX-License-Identifier: Apache-2.0
// Fuzz target: the intermediate language, from the preprocessor to the operators' checks, and back.

#include "fuzz_file.h"
#include "il/ln_il.h"
#include "il/ln_il_write.h"
#include "lightnet/lightnet.h"

static int write_ir(FILE *stream, const void *arg, ln_error *err)
{
    ln_context *const *ctx = arg;
    (void)err; // the reason is in the context
    return ln_context_write_ir(*ctx, NULL, stream);
}

static void check(const ln_il_model *m)
{
    ln_error err = {0};
    size_t len;
    char *json = ln_il_json(m, &len, &err);
    ln_context *ctx = json ? ln_context_create() : NULL;
    if (ctx && !ln_context_init_ir(ctx, "fuzz.net", json, len, ln_il_place_of, m) && !ctx->target)
        ln_il_write(write_ir, &ctx, "/dev/null", ctx->error);
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
