// SPDX-License-Identifier: Apache-2.0
// Models in the intermediate language: to and from the library as JSON IR.

#include "input/cli_il.h"

#include <strings.h>

int cli_il_is_format(const char *format)
{
    return !strcasecmp(format, "il");
}

#ifdef CLI_HAVE_IL

#include <stdio.h>
#include <string.h>

#include "il/ln_il.h"
#include "lightnet/ln_util.h"

// Bytes that are inspected to recognize a file.
enum { LOOK_SIZE = 64 << 10 };

// Reading

// Text to read, and its origin.
typedef struct il_source {
    const ln_context *ctx;
    const char *name, *text;
    size_t len;
    const char *folder; // NULL: it is no file
    FILE *stream;       // the file, before it is read
    int is_stopped;     // by a limit or a request
} il_source;

static int pass_to_context(ln_context *ctx, const char *name, const ln_il_model *m)
{
    size_t len;
    char *json = ln_il_json(m, &len, ctx->error);
    const int status = json ? ln_context_init_ir(ctx, name, json, len, ln_il_place_of, m) : -1;
    ln_free(json);
    return status;
}

static int check_limits(void *data)
{
    il_source *in = data;
    if (!ln_context_check_limits(in->ctx))
        return 0;
    in->is_stopped = 1;
    const ln_error error = *in->ctx->error;
    ln_context_clear_error(in->ctx);
    return ln_fail(in->ctx, "%s: %s", in->name, ln_error_text(&error));
}

static int is_out_of_memory(const char *reason)
{
    static const char end[] = ": out of memory";
    const size_t len = strlen(reason);
    return len >= sizeof(end) - 1 && !strcmp(reason + len - (sizeof(end) - 1), end);
}

// A text that resembles IL may have another format.
static int fail_text(const ln_context *ctx, const il_source *in)
{
    const ln_error error = *ctx->error;
    if (ln_il_is_named(in->name) || in->is_stopped || is_out_of_memory(ln_error_text(&error)))
        return -1;
    ln_context_clear_error(ctx);
    return ln_fail(ctx, "%s; the text was read as IL", ln_error_text(&error));
}

static int read_il(ln_context *ctx, void *data)
{
    il_source *in = data;
    const ln_il_host host = {
        .model = in->folder, .allowed = ctx->folders, .check = check_limits, .data = in};
    ln_il_model m = {0};
    ln_context_clear_error(ctx);
    const int status = ln_il_read(&m, in->name, in->text, in->len, &host, ctx->error)
                           ? fail_text(ctx, in)
                           : pass_to_context(ctx, in->name, &m);
    ln_il_model_free(&m);
    return status;
}

int cli_il_read_text(ln_context *ctx, const char *name, const char *text, size_t len)
{
    il_source in = {.ctx = ctx, .name = name, .text = text, .len = len};
    return ln_il_is(name, text, len) ? ln_context_do(ctx, read_il, &in) : 1;
}

static int read_file(ln_context *ctx, void *data)
{
    il_source *in = data;
    char *folder = ln_il_folder_of(in->name);
    char *text = folder ? ln_read_stream(in->stream, in->name, &in->len) : NULL;
    in->folder = folder;
    in->text = text;
    const int status = text ? read_il(ctx, in) : ln_fail_last(ctx);
    ln_free(text);
    ln_free(folder);
    return status;
}

// Reads the beginning only, then rewinds the stream.
static int looks_like_il(const char *source, FILE *stream)
{
    char *begin = ln_alloc(LOOK_SIZE);
    const size_t len = begin ? fread(begin, 1, LOOK_SIZE, stream) : 0;
    const int is_il = len && ln_il_is(source, begin, len);
    ln_free(begin);
    rewind(stream);
    return is_il;
}

int cli_il_is_file(const char *source)
{
    FILE *stream = fopen(source, "rbe");
    const int is_il = stream && looks_like_il(source, stream);
    if (stream)
        fclose(stream);
    return is_il;
}

int cli_il_read_file(ln_context *ctx, const char *source)
{
    il_source in = {.ctx = ctx, .name = source, .stream = fopen(source, "rbe")};
    if (!in.stream)
        return 1;
    const int is_il = looks_like_il(source, in.stream);
    const int status = is_il ? ln_context_do(ctx, read_file, &in) : 1;
    fclose(in.stream);
    return status;
}

// Writing

int cli_il_can_write(void)
{
    return 1;
}

static int write_ir(FILE *stream, const void *arg, ln_error *err)
{
    ln_context *const *ctx = arg;
    (void)err; // the reason is in the context
    return ln_context_write_ir(*ctx, (*ctx)->datafile, stream);
}

int cli_il_write(ln_context *ctx, const char *file)
{
    return ln_il_write(write_ir, &ctx, file, ctx->error);
}

#else

int cli_il_read_file(ln_context *ctx, const char *source)
{
    (void)ctx;
    (void)source;
    return 1;
}

int cli_il_read_text(ln_context *ctx, const char *name, const char *text, size_t len)
{
    (void)ctx;
    (void)name;
    (void)text;
    (void)len;
    return 1;
}

int cli_il_is_file(const char *source)
{
    (void)source;
    return 0;
}

int cli_il_can_write(void)
{
    return 0;
}

int cli_il_write(ln_context *ctx, const char *file)
{
    return ln_fail(ctx, "%s: this build cannot write the intermediate language", file);
}

#endif
