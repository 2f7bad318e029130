// SPDX-License-Identifier: Apache-2.0
// Messages about an operator, which name it: failures, warnings.

#include <stdarg.h>
#include <stdio.h>

#include "lightnet/ln_context.h"
#include "lightnet/ln_op.h"
#include "tensorlight/tl_util.h"

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

int ln_op_fail_tl(ln_op_arg *op_arg)
{
    return fail_with(op_arg, LN_OK, tl_last_error());
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
