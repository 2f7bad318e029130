// SPDX-License-Identifier: Apache-2.0
// Errors, warnings and debug lines of a context, and of an operator, whose name they begin with.

#include <stdarg.h>
#include <stdio.h>

#include "lightnet/ln_context.h"
#include "lightnet/ln_op.h"
#include "lightnet/ln_util.h"
#include "tensorlight/tl_util.h"

int ln_fail(const ln_context *ctx, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    ln_error_vset(ctx ? ctx->error : NULL, fmt, ap);
    va_end(ap);
    return -1;
}

int ln_fail_as(const ln_context *ctx, ln_status status, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    ln_error_vset_as(ctx ? ctx->error : NULL, status, fmt, ap);
    va_end(ap);
    return -1;
}

int ln_fail_last(const ln_context *ctx)
{
    return ln_error_set_last(ctx ? ctx->error : NULL);
}

int ln_fail_tl(const ln_context *ctx)
{
    return ln_error_set(ctx ? ctx->error : NULL, "%s", tl_last_error());
}

int ln_fail_at(const ln_context *ctx, const char *fmt, ...)
{
    char where[LN_MAXLINE];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(where, sizeof(where), fmt, ap);
    va_end(ap);
    return ln_error_prefix(ctx ? ctx->error : NULL, "%s", where);
}

static void send(const ln_context *ctx, ln_msg_level level, const char *fmt, va_list ap)
{
    char text[LN_MAXLINE];
    if (!ctx || !ctx->msg_func)
        return;
    vsnprintf(text, sizeof(text), fmt, ap);
    ln_msg_send(ctx->msg_func, ctx->msg_data, level, "%s", text);
}

void ln_warn(const ln_context *ctx, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    send(ctx, LN_MSG_WARN, fmt, ap);
    va_end(ap);
}

void ln_debug(const ln_context *ctx, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    send(ctx, LN_MSG_DEBUG, fmt, ap);
    va_end(ap);
}

const char *ln_context_error(const ln_context *ctx)
{
    return ctx ? ln_error_text(ctx->error) : ln_last_error();
}

void ln_context_clear_error(const ln_context *ctx)
{
    if (ctx)
        ln_error_clear(ctx->error);
}

static const char *known(const char *str)
{
    return str ? str : "";
}

static int fail_with(ln_op_arg *op_arg, ln_status status, const char *reason)
{
    op_arg->failed = 1;
    return ln_error_set_as(op_arg->ctx ? op_arg->ctx->error : NULL, status,
                           "operator '%s' (%s): %s", known(op_arg->name), known(op_arg->optype),
                           reason);
}

int ln_op_fail(ln_op_arg *op_arg, const char *fmt, ...)
{
    char reason[LN_MAXLINE];
    va_list args;
    va_start(args, fmt);
    vsnprintf(reason, sizeof reason, fmt, args);
    va_end(args);
    return fail_with(op_arg, LN_OK, reason);
}

int ln_op_fail_last(ln_op_arg *op_arg)
{
    return fail_with(op_arg, ln_error_status(NULL), ln_last_error());
}

// Whether strings exceeded the memory limit.
static int is_over_limit(const ln_context *ctx)
{
    while (ctx && ctx->outer)
        ctx = ctx->outer;
    return ctx && ctx->strings[ctx->is_running].is_over;
}

int ln_op_fail_tl(ln_op_arg *op_arg)
{
    return fail_with(op_arg, is_over_limit(op_arg->ctx) ? LN_LIMIT_REACHED : LN_OK,
                     tl_last_error());
}

int ln_op_report(ln_op_arg *op_arg, ln_msg_level level, const char *fmt, ...)
{
    char text[LN_MAXLINE];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    if (level >= LN_MSG_ERROR)
        return fail_with(op_arg, LN_OK, text);
    if (op_arg->ctx)
        ln_msg_send(op_arg->ctx->msg_func, op_arg->ctx->msg_data, level, "operator '%s' (%s): %s",
                    known(op_arg->name), known(op_arg->optype), text);
    return 0;
}
