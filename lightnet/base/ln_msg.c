// SPDX-License-Identifier: Apache-2.0
// Messages, and the bounded record of why a call failed.

#include "lightnet/ln_msg.h"

#include <stdio.h>
#include <string.h>

static _Thread_local ln_error thread_error;

static ln_error *record(ln_error *err)
{
    return err ? err : &thread_error;
}

// Formats into a line; one that is too long is cut between characters (UTF-8) and ends in "...".
static void format_line(char line[LN_MAXLINE], const char *fmt, va_list args)
{
    static const char dots[] = "...";
    const int len = vsnprintf(line, LN_MAXLINE, fmt, args);
    if (len < 0)
        strcpy(line, "a message could not be formatted");
    for (char *at = line; *at; at++) // control characters would break the line
        if ((unsigned char)*at < 0x20 || *at == 0x7f)
            *at = '?';
    if (len < LN_MAXLINE)
        return;
    size_t cut = LN_MAXLINE - sizeof(dots);
    while (cut > 0 && ((unsigned char)line[cut] & 0xc0) == 0x80)
        cut--;
    strcpy(line + cut, dots);
}

const char *ln_msg_level_name(ln_msg_level level)
{
    static const char *const names[] = {"debug", "info", "warning", "error", "internal error"};
    return (size_t)level < sizeof(names) / sizeof(names[0]) ? names[level] : "message";
}

void ln_msg_send(ln_msg_func func, void *data, ln_msg_level level, const char *fmt, ...)
{
    char line[LN_MAXLINE];
    va_list args;
    if (!func)
        return;
    va_start(args, fmt);
    format_line(line, fmt, args);
    va_end(args);
    func(data, level, line);
}

int ln_error_vset_as(ln_error *err, ln_status status, const char *fmt, va_list args)
{
    char line[LN_MAXLINE];
    if (err && *err->text)
        return -1;
    format_line(line, fmt, args);
    strcpy(record(err)->text, *line ? line : "unknown reason");
    record(err)->status = status;
    return -1;
}

int ln_error_vset(ln_error *err, const char *fmt, va_list args)
{
    return ln_error_vset_as(err, LN_OK, fmt, args);
}

int ln_error_set(ln_error *err, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    ln_error_vset(err, fmt, args);
    va_end(args);
    return -1;
}

int ln_error_set_as(ln_error *err, ln_status status, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    ln_error_vset_as(err, status, fmt, args);
    va_end(args);
    return -1;
}

int ln_error_set_last(ln_error *err)
{
    return err ? ln_error_set_as(err, thread_error.status, "%s", thread_error.text) : -1;
}

// "PREFIX: TEXT", cut like every reason.
static void join(char line[LN_MAXLINE], const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    format_line(line, fmt, args);
    va_end(args);
}

int ln_error_prefix(ln_error *err, const char *fmt, ...)
{
    char prefix[LN_MAXLINE], line[LN_MAXLINE];
    va_list args;
    va_start(args, fmt);
    format_line(prefix, fmt, args);
    va_end(args);
    const char *reason = record(err)->text;
    join(line, "%s%s%s", prefix, *reason ? ": " : "", reason);
    strcpy(record(err)->text, line);
    return -1;
}

void ln_error_clear(ln_error *err)
{
    *record(err)->text = '\0';
    record(err)->status = LN_OK;
}

const char *ln_error_text(const ln_error *err)
{
    return err ? err->text : thread_error.text;
}

ln_status ln_error_status(const ln_error *err)
{
    return err ? err->status : thread_error.status;
}

const char *ln_last_error(void)
{
    return thread_error.text;
}
