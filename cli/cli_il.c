// SPDX-License-Identifier: Apache-2.0
// Models in the intermediate language: to and from the library as JSON IR.

#include "cli_il.h"

#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include "il/ln_il.h"
#include "il/ln_il_write.h"
#include "lightnet/ln_util.h"

/* How much of a file is looked at to recognise it. */
enum { LOOK_SIZE = 64 << 10 };

/* ---- reading ---- */

static int give_to_context(ln_context *ctx, const char *name, const ln_il_model *m)
{
    size_t len;
    char *json = ln_il_json(m, &len, ctx->error);
    const int status = json ? ln_context_init_ir(ctx, name, json, len, ln_il_place_of, m) : -1;
    ln_free(json);
    return status;
}

static int read_il(ln_context *ctx, const char *name, const ln_il_folders *folders,
                   const char *text, size_t len)
{
    ln_il_model m = {0};
    ln_context_clear_error(ctx);
    const int failed =
        ln_il_read(&m, name, text, len, folders, ctx->error) || give_to_context(ctx, name, &m);
    ln_il_model_free(&m);
    return failed ? -1 : 0;
}

int cli_il_read_text(ln_context *ctx, const char *name, const char *text, size_t len)
{
    const ln_il_folders folders = {.model = NULL, .allowed = ctx->folders};
    return ln_il_is(name, text, len) ? read_il(ctx, name, &folders, text, len) : 1;
}

static int read_bytes(ln_context *ctx, const char *source, const char *text, size_t len)
{
    char *folder = ln_il_folder_of(source);
    const ln_il_folders folders = {.model = folder, .allowed = ctx->folders};
    const int status = folder ? read_il(ctx, source, &folders, text, len) : ln_fail_last(ctx);
    ln_free(folder);
    return status;
}

// Looks at the beginning only, and goes back to it.
static int looks_like_il(const char *source, FILE *stream)
{
    char *begin = ln_alloc(LOOK_SIZE);
    const size_t len = begin ? fread(begin, 1, LOOK_SIZE, stream) : 0;
    const int is_il = len && ln_il_is(source, begin, len);
    ln_free(begin);
    rewind(stream);
    return is_il;
}

int cli_il_read_file(ln_context *ctx, const char *source)
{
    size_t len;
    FILE *stream = fopen(source, "rbe");
    if (!stream)
        return 1;
    int status = 1;
    if (looks_like_il(source, stream)) {
        char *text = ln_read_stream(stream, source, &len);
        status = text ? read_bytes(ctx, source, text, len) : ln_fail_last(ctx);
        ln_free(text);
    }
    fclose(stream);
    return status;
}

/* ---- writing ---- */

int cli_il_is_format(const char *format)
{
    return !strcasecmp(format, "il");
}

int cli_il_write(ln_context *ctx, const char *file)
{
    char *json = NULL;
    size_t len;
    FILE *stream = open_memstream(&json, &len);
    if (!stream)
        return ln_fail(ctx, "out of memory");
    int status = ln_context_write_ir(ctx, ctx->datafile, stream);
    if (fclose(stream) && !status)
        status = ln_fail(ctx, "out of memory");
    if (!status)
        status = ln_il_write(json, len, file, ctx->error);
    free(json);
    return status;
}
