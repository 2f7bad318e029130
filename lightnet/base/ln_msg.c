// SPDX-License-Identifier: Apache-2.0
// Messages, and the bounded record of why a call failed.

#include "lightnet/ln_msg.h"

#include <stdio.h>
#include <string.h>

#include "base/ln_utf8.h"

static _Thread_local ln_error thread_error;

/* ---- escapes ---- */

// Ranges that a terminal, or the reader of a line, takes for other than a character of a name.
// Source: Unicode 16, general categories Cc, Zl, Zp, and the characters of Bidi_Control.
static int is_special(uint32_t c)
{
    static const struct {
        uint32_t first, last;
    } ranges[] = {{0x00, 0x1f},     {0x7f, 0x9f},     {0x61c, 0x61c},
                  {0x200e, 0x200f}, {0x2028, 0x202e}, {0x2066, 0x2069}};
    for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++)
        if (c >= ranges[i].first && c <= ranges[i].last)
            return 1;
    return 0;
}

size_t ln_escape_char(char buf[8], const char *text, size_t left, size_t *used)
{
    const unsigned char *const p = (const unsigned char *)text;
    const uint32_t c = ln_utf8_get(p, left, used);
    const int is_byte = *used == 1 && (c >= 0x80 || is_special(c));
    if (is_byte)
        return (size_t)snprintf(buf, 8, "\\x%02x", (unsigned)c);
    if (is_special(c))
        return (size_t)snprintf(buf, 8, "\\u%04x", (unsigned)c);
    memcpy(buf, text, *used);
    return *used;
}

size_t ln_escape(char *buf, size_t size, const char *text)
{
    size_t total = 0, end = 0; // `end`: of what fits
    char part[8];
    for (size_t used, left = strlen(text); left > 0; text += used, left -= used) {
        const size_t len = ln_escape_char(part, text, left, &used);
        if (end == total && total + len < size) {
            memcpy(buf + total, part, len);
            end += len;
        }
        total += len;
    }
    if (size > 0)
        buf[end] = '\0';
    return total;
}

/* ---- records ---- */

static ln_error *record(ln_error *err)
{
    return err ? err : &thread_error;
}

// Formats into an escaped line; one that is too long is cut and ends in "...".
static void format_line(char line[LN_MAXLINE], const char *fmt, va_list args)
{
    static const char dots[] = "...";
    char text[LN_MAXLINE];
    const int len = vsnprintf(text, sizeof(text), fmt, args);
    if (len < 0)
        strcpy(text, "a message could not be formatted");
    if (ln_escape(line, LN_MAXLINE, text) < LN_MAXLINE && len < LN_MAXLINE)
        return;
    ln_escape(line, LN_MAXLINE - sizeof(dots) + 1, text);
    strcat(line, dots);
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
