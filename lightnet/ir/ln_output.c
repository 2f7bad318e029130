// SPDX-License-Identifier: Apache-2.0
// Files and standard output that operators of a model may write: none, unless the caller allows it.
//
// Operators are checked when a model is read; those that a program adds are trusted.

#include "ir/ln_output.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/ln_beneath.h"
#include "base/ln_error_memory.h"
#include "ir/ln_bodies.h"
#include "ir/ln_context_ops.h"
#include "lightnet/ln_util.h"

// In place of a folder: standard output.
static const char standard_output[] = "-";

int ln_context_allow_output(ln_context *ctx, const char *folder)
{
    ln_context_clear_error(ctx);
    if (ctx->source)
        return ln_fail_as(ctx, LN_BAD_ARGUMENT,
                          "the context holds a model: allow its outputs before it is read");
    const int is_stdout = ln_streq(folder, standard_output);
    if (!is_stdout && ln_beneath_check_folder(folder, ctx->error))
        return -1;
    // Free of links, and still the same after chdir.
    char *resolved = is_stdout ? NULL : realpath(folder, NULL);
    if (!is_stdout && !resolved)
        return ln_fail_as(ctx, ln_status_of_errno(errno), "%s: %s", folder, strerror(errno));
    char *copy = ln_strdup(is_stdout ? folder : resolved);
    free(resolved);
    if (!copy)
        return ln_fail_memory(ctx);
    ln_free(ctx->output_folder);
    ctx->output_folder = copy;
    return 0;
}

// Reading

static int check_op(const ln_op *op, const char *allowed)
{
    static const char *const options[] = {
        [LN_WRITES_STDOUT] = "writes to standard output, which a model may only if that is allowed "
                             "(--allow-output -, option 'allow_output', ln_context_allow_output)",
        [LN_WRITES_FILES] = "writes files, which a model may only in a folder that is allowed "
                            "(--allow-output DIR, option 'allow_output', ln_context_allow_output)",
    };
    ln_op_arg *const op_arg = op->op_arg;
    const int writes = op_arg->info ? op_arg->info->writes : 0;
    if (!writes || (allowed && (writes == LN_WRITES_STDOUT || *allowed == '/')))
        return 0;
    op_arg->failed = 1;
    return ln_fail_as(op_arg->ctx, LN_BAD_ARGUMENT, "operator '%s' (%s): %s", op_arg->name,
                      op_arg->optype, options[writes]);
}

static int check_ops(const ln_context *ctx, const char *allowed)
{
    LN_FOREACH (const ln_op *, op, ctx->ops)
        if (check_op(op, allowed))
            return -1;
    return 0;
}

int ln_output_check(const ln_context *ctx)
{
    if (check_ops(ctx, ctx->output_folder))
        return -1;
    LN_FOREACH (const ln_context *, body, ctx->bodies)
        if (check_ops(body, ctx->output_folder))
            return ln_fail_at(body, "body '%s'", ln_body_name(body));
    return 0;
}

// Runs

// NULL: not restricted.
static const char *folder_of(const ln_op_arg *op_arg)
{
    const ln_context *ctx = op_arg->ctx;
    while (ctx && ctx->outer)
        ctx = ctx->outer;
    return ctx && ctx->output_folder && *ctx->output_folder == '/' ? ctx->output_folder : NULL;
}

FILE *ln_op_open_output(const ln_op_arg *op_arg, const char *file, ln_error *err)
{
    const char *const folder = folder_of(op_arg);
    const int fd = folder ? ln_beneath_create(folder, file, err) : -1;
    if (folder && fd < 0)
        return NULL;
    FILE *stream = folder ? fdopen(fd, "w") : fopen(file, "we");
    if (stream)
        return stream;
    ln_error_set_as(err, errno == ENOENT ? LN_NOT_FOUND : LN_IO_ERROR, "%s", strerror(errno));
    if (folder)
        close(fd);
    return NULL;
}

int ln_op_print_line(const char *text)
{
    for (size_t used, left = strlen(text); left > 0; text += used, left -= used) {
        char shown[8] = {*text};
        size_t len = used = 1;
        if (*text != '\n' && *text != '\t')
            len = ln_escape_char(shown, text, left, &used);
        if (fwrite(shown, 1, len, stdout) != len)
            return -1;
    }
    return putchar('\n') == EOF ? -1 : 0;
}
