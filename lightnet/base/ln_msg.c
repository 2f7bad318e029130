// SPDX-License-Identifier: Apache-2.0
// Messages, and the bounded record of why a call failed.
//
// A thread's record is allocated on first use, since the C library aborts if it cannot allocate the
// thread-local data of a library that dlopen has loaded.

#include "lightnet/ln_msg.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ln_utf8.h"

static _Thread_local ln_error *thread_error; // NULL: nothing was recorded
static _Thread_local int is_lost;            // the thread's record could not be allocated

static const ln_error no_error, lost_error = {"out of memory", LN_OUT_OF_MEMORY};

static pthread_key_t key; // frees the record of a thread that ends
static int has_key;

static void free_record(void *record)
{
    thread_error = NULL;
    free(record);
}

__attribute__((constructor)) static void create_key(void)
{
    has_key = !pthread_key_create(&key, free_record);
}

__attribute__((destructor)) static void delete_key(void)
{
    if (has_key)
        pthread_key_delete(key);
    has_key = 0;
    free_record(thread_error);
}

static ln_error *create_record(void)
{
    ln_error *const record = has_key ? calloc(1, sizeof(*record)) : NULL;
    if (record && pthread_setspecific(key, record)) {
        free(record);
        return NULL;
    }
    return record;
}

// Escapes

// Control characters, line separators and direction marks change what a terminal shows.
// Source: Unicode 16, general categories Cc, Zl, Zp, and the characters of Bidi_Control.
static int needs_escape(uint32_t c)
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
    const int is_byte = *used == 1 && (c >= 0x80 || needs_escape(c));
    if (is_byte)
        return (size_t)snprintf(buf, 8, "\\x%02x", (unsigned)c);
    if (needs_escape(c))
        return (size_t)snprintf(buf, 8, "\\u%04x", (unsigned)c);
    memcpy(buf, text, *used);
    return *used;
}

size_t ln_escape(char *buf, size_t size, const char *text)
{
    size_t total = 0, end = 0; // `end`: length of the text that fits
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

// Records

// The record to write to: `err`, or the thread's. NULL: out of memory.
static ln_error *writable_record(ln_error *err)
{
    if (err)
        return err;
    if (!thread_error)
        thread_error = create_record();
    is_lost = !thread_error;
    return thread_error;
}

// The record to read from.
static const ln_error *readable_record(const ln_error *err)
{
    if (err)
        return err;
    return is_lost ? &lost_error : thread_error ? thread_error : &no_error;
}

// Formats an escaped line; truncates a long one, which ends in "...".
static void vformat_line(char line[LN_MAXLINE], const char *fmt, va_list args)
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
    vformat_line(line, fmt, args);
    va_end(args);
    func(data, level, line);
}

int ln_error_vset_as(ln_error *err, ln_status status, const char *fmt, va_list args)
{
    char line[LN_MAXLINE];
    if (err && *err->text)
        return -1;
    vformat_line(line, fmt, args);
    ln_error *const r = writable_record(err);
    if (!r)
        return -1;
    strcpy(r->text, *line ? line : "unknown reason");
    r->status = status;
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
    const ln_error *const last = readable_record(NULL);
    return err ? ln_error_set_as(err, last->status, "%s", last->text) : -1;
}

static void format_line(char line[LN_MAXLINE], const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    vformat_line(line, fmt, args);
    va_end(args);
}

int ln_error_prefix(ln_error *err, const char *fmt, ...)
{
    char prefix[LN_MAXLINE], line[LN_MAXLINE];
    va_list args;
    va_start(args, fmt);
    vformat_line(prefix, fmt, args);
    va_end(args);
    const char *reason = readable_record(err)->text;
    format_line(line, "%s%s%s", prefix, *reason ? ": " : "", reason);
    ln_error *const r = writable_record(err);
    if (r)
        strcpy(r->text, line);
    return -1;
}

void ln_error_clear(ln_error *err)
{
    ln_error *const r = err ? err : thread_error;
    if (!err)
        is_lost = 0;
    if (!r)
        return;
    *r->text = '\0';
    r->status = LN_OK;
}

const char *ln_error_text(const ln_error *err)
{
    return readable_record(err)->text;
}

ln_status ln_error_status(const ln_error *err)
{
    return readable_record(err)->status;
}

const char *ln_last_error(void)
{
    return readable_record(NULL)->text;
}
