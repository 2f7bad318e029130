// SPDX-License-Identifier: Apache-2.0
// Writing a compiled model as one file: its IR is text in the metadata of its weights.

#include <stdio.h>
#include <stdlib.h>

#include "base/ln_outtext.h"
#include "data/ln_compiled_file.h"
#include "data/ln_data_save.h"
#include "ir/ln_context_ops.h"
#include "front/json/ln_ir_json.h"
#include "ir/ln_limits.h"
#include "lightnet/ln_context.h"
#include "lightnet/ln_version.h"
#include "pass/ln_freeze.h"

static int write_ir(FILE *stream, const void *ctx, ln_error *err)
{
    (void)err; // the reason is in the context
    return ln_ir_write(ctx, stream);
}

static int write_file(const ln_context *ctx, const char *file)
{
    char version[16];
    size_t len;
    char *ir = ln_outtext(write_ir, ctx, &len, ctx->error);
    snprintf(version, sizeof(version), "%d", LN_COMPILED_VERSION);
    const char *const metadata[] = {LN_COMPILED_KEY_VERSION,
                                    version,
                                    LN_COMPILED_KEY_ISA,
                                    tl_isa_name(ctx->isa),
                                    LN_COMPILED_KEY_BY,
                                    LN_VERSION,
                                    LN_COMPILED_KEY_IR,
                                    ir,
                                    NULL};
    const int status = ir ? ln_data_save_with(ctx, metadata, file) : -1;
    free(ir);
    return status;
}

int ln_context_save(ln_context *ctx, const char *datafile, const char *file)
{
    ln_context_clear_error(ctx);
    if (!ctx->target)
        return ln_fail(ctx, "the model is not compiled");
    if (ln_context_is_loaded(ctx))
        return ln_fail(ctx, "the context is loaded; unload it to save the model");
    ln_budget *const before = ln_limits_enter(ctx);
    const int status = ln_freeze(ctx, datafile) || write_file(ctx, file) ? -1 : 0;
    return ln_limits_leave(ctx, before, status);
}
