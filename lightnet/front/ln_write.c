// SPDX-License-Identifier: Apache-2.0
// Writing an uncompiled model in any format that has a writer.

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/ln_infile.h"
#include "data/ln_data_give.h"
#include "ir/ln_context_ops.h"
#include "front/ln_front.h"
#include "front/json/ln_ir_json.h"
#include "ir/ln_limits.h"
#include "lightnet/ln_context.h"
#include "lightnet/ln_util.h"

// LightNet IR, which has no front end.
static const char ir_name[] = "ir";

int ln_context_print(const ln_context *ctx, const char *outfile)
{
    ln_context_clear_error(ctx);
    return ln_ir_write_file(ctx, outfile);
}

// The suffix of a format with external data.
static const char external_suffix[] = "-external";

typedef int write_func(ln_context *ctx, const char *file);

// The function of the front end that writes the format, NULL: none.
static write_func *find_writer(const char *format)
{
    LN_FOREACH (const ln_front *, front, ln_front_list()) {
        const size_t len = strlen(front->format);
        if (front->write && !strcasecmp(front->format, format))
            return front->write;
        if (front->write_external && !strncasecmp(front->format, format, len) &&
            !strcasecmp(format + len, external_suffix))
            return front->write_external;
    }
    return NULL;
}

static int fail_format(const ln_context *ctx, const char *format)
{
    char known[LN_MAXLINE];
    size_t len = (size_t)snprintf(known, sizeof(known), "'%s'", ir_name);
    LN_FOREACH (const ln_front *, front, ln_front_list()) {
        if (front->write && len < sizeof(known))
            len += (size_t)snprintf(known + len, sizeof(known) - len, ", '%s'", front->format);
        if (front->write_external && len < sizeof(known))
            len += (size_t)snprintf(known + len, sizeof(known) - len, ", '%s%s'", front->format,
                                    external_suffix);
    }
    for (char *p = known; *p; p++) // as users write them
        *p = (char)tolower((unsigned char)*p);
    return ln_fail(ctx, "the format '%.64s' cannot be written, expected one of %s", format, known);
}

// Prepares writing an uncompiled model, with the given weights.
static int prepare(ln_context *ctx, const char *datafile)
{
    if (!ctx->source)
        return ln_fail(ctx, "the context has no model to write");
    if (ctx->target)
        return ln_fail(ctx, "the model is compiled, for '%s'; convert the original model",
                       ctx->target);
    return datafile ? ln_data_give(ctx, datafile) : 0;
}

int ln_context_write_ir(ln_context *ctx, const char *datafile, FILE *stream)
{
    ln_context_clear_error(ctx);
    ln_budget *const before = ln_limits_enter(ctx);
    return ln_limits_leave(ctx, before,
                           prepare(ctx, datafile) || ln_ir_write(ctx, stream) ? -1 : 0);
}

static int write_format(ln_context *ctx, const char *datafile, const char *format, const char *file)
{
    ln_context_clear_error(ctx);
    const int is_ir = !strcasecmp(format, ir_name);
    write_func *const write = is_ir ? NULL : find_writer(format);
    if (!is_ir && !write)
        return fail_format(ctx, format);
    if (prepare(ctx, datafile))
        return -1;
    return is_ir ? ln_context_print(ctx, file) : write(ctx, file);
}

int ln_context_write(ln_context *ctx, const char *datafile, const char *format, const char *file)
{
    ln_budget *const before = ln_limits_enter(ctx);
    return ln_limits_leave(ctx, before, write_format(ctx, datafile, format, file));
}

// From one file to another

// 1: the model must be read.
static int rewrite(ln_context *ctx, const char *name, ln_infile *in, const char *format,
                   const char *file)
{
    const ln_front *front;
    ln_context_clear_error(ctx);
    if (ln_front_of(in, &front, ctx->error))
        return -1;
    return front && front->rewrite && !ctx->source && !strcasecmp(front->format, format)
               ? front->rewrite(ctx, name, in, file)
               : 1;
}

// Writes the model that the context has read.
static int write_read(ln_context *ctx, const char *format, const char *file)
{
    return write_format(ctx, ctx->datafile, format, file);
}

static int convert_text(ln_context *ctx, const char *name, const char *text, size_t len,
                        const char *format, const char *file)
{
    ln_infile in = {.data = (const unsigned char *)text, .size = len};
    const int status = rewrite(ctx, name, &in, format, file);
    if (status < 1)
        return status;
    return ln_context_init_text(ctx, name, text, len) ? -1 : write_read(ctx, format, file);
}

int ln_context_convert_text(ln_context *ctx, const char *name, const char *text, size_t len,
                            const char *format, const char *file)
{
    ln_budget *const before = ln_limits_enter(ctx);
    return ln_limits_leave(ctx, before, convert_text(ctx, name, text, len, format, file));
}

static int convert(ln_context *ctx, const char *source, const char *format, const char *file)
{
    ln_infile in = {0};
    ln_context_clear_error(ctx);
    if (ln_infile_open(&in, source, ctx->error))
        return -1;
    int status = rewrite(ctx, source, &in, format, file);
    if (status == 1)
        status = -(ln_context_init_file(ctx, source, &in) || write_read(ctx, format, file));
    ln_infile_close(&in);
    return status;
}

int ln_context_convert(ln_context *ctx, const char *source, const char *format, const char *file)
{
    ln_budget *const before = ln_limits_enter(ctx);
    return ln_limits_leave(ctx, before, convert(ctx, source, format, file));
}
