// SPDX-License-Identifier: Apache-2.0
// Scanning text: locations, blanks, strings.

#include "il/ln_scan.h"

#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/ln_error_memory.h"
#include "base/ln_utf8.h"
#include "lightnet/ln_util.h"

// Locations and errors

int ln_scan_vfail(const ln_scan *ps, const char *fmt, va_list args)
{
    char reason[LN_MAXLINE];
    vsnprintf(reason, sizeof(reason), fmt, args);
    if (ps->fail)
        return ps->fail(ps, reason);
    return ln_error_set(ps->err, "%s:%d:%d: %s", ps->file, ps->line, ps->column, reason);
}

int ln_scan_fail(const ln_scan *ps, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    ln_scan_vfail(ps, fmt, args);
    va_end(args);
    return -1;
}

static int fail_memory(const ln_scan *ps)
{
    return ln_scan_fail(ps, LN_MEMORY_REASON);
}

int ln_scan_is_end(const ln_scan *ps)
{
    return ps->p == ps->end;
}

char ln_scan_peek(const ln_scan *ps, size_t n)
{
    return (size_t)(ps->end - ps->p) > n ? ps->p[n] : '\0';
}

static int is_at(const ln_scan *ps, const char *word)
{
    const size_t len = strlen(word);
    return (size_t)(ps->end - ps->p) >= len && memcmp(ps->p, word, len) == 0;
}

void ln_scan_step(ln_scan *ps, size_t n)
{
    for (; n > 0; n--, ps->p++) {
        if (*ps->p == '\n') {
            ps->line++;
            ps->column = 1;
        } else if ((*ps->p & 0xC0) != 0x80) { // a continuation byte of UTF-8 is no new column
            ps->column++;
        }
    }
}

void ln_scan_blanks(ln_scan *ps)
{
    for (;;) {
        if (is_at(ps, "//")) {
            while (!ln_scan_is_end(ps) && *ps->p != '\n')
                ln_scan_step(ps, 1);
        } else if (!ln_scan_is_end(ps) && strchr(" \t\r\n", *ps->p) && *ps->p) {
            ln_scan_step(ps, 1);
        } else {
            return;
        }
    }
}

// "'x'" for a visible next character, else words; for messages.
static const char *next_text(const ln_scan *ps, char buf[16])
{
    if (ln_scan_is_end(ps))
        return "the end of the text";
    const unsigned char c = (unsigned char)*ps->p;
    if (c == '\n' || c == '\r')
        return "the end of the line";
    if (c > ' ' && c < 0x7F)
        snprintf(buf, 16, "'%c'", c);
    else
        snprintf(buf, 16, "byte 0x%02X", c);
    return buf;
}

static int expected(const ln_scan *ps, const char *what)
{
    char buf[16];
    return ln_scan_fail(ps, "%s, expected %s", next_text(ps, buf), what);
}

// Strings

int ln_scan_add(const ln_scan *ps, ln_scan_text *text, const char *bytes, size_t len)
{
    if (text->room - text->len <= len) {
        const size_t room = (text->len + len + 1) * 2;
        char *at = ln_realloc(text->at, room);
        if (!at)
            return fail_memory(ps);
        text->at = at;
        text->room = room;
    }
    memcpy(text->at + text->len, bytes, len);
    text->len += len;
    text->at[text->len] = '\0';
    return 0;
}

static int add_code_point(const ln_scan *ps, ln_scan_text *text, uint32_t cp)
{
    char utf8[4];
    return ln_scan_add(ps, text, utf8, ln_utf8_put(utf8, cp));
}

// Reads `n` digits after '\' and `letter` at this location to *code, without advancing. -1 without
// a message.
static int peek_code(const ln_scan *ps, char letter, size_t n, uint32_t *code)
{
    *code = 0;
    if (ln_scan_peek(ps, 0) != '\\' || ln_scan_peek(ps, 1) != letter)
        return -1;
    for (size_t i = 2; i < 2 + n; i++) {
        const int c = (unsigned char)ln_scan_peek(ps, i);
        if (!isxdigit(c))
            return -1;
        *code = *code << 4 | (uint32_t)(isdigit(c) ? c - '0' : tolower(c) - 'a' + 10);
    }
    return 0;
}

// '\u' and four digits, of characters beyond 16 bits two such (RFC 8259, 7); '\x' and two.
static int parse_code(ln_scan *ps, ln_scan_text *text, char letter)
{
    const size_t n = letter == 'u' ? 4 : 2;
    uint32_t cp, low;
    if (peek_code(ps, letter, n, &cp))
        return ln_scan_fail(ps, "\\%c without %zu hexadecimal digits", letter, n);
    if (cp == 0)
        return ln_scan_fail(ps, "\\%c%0*d in a string", letter, (int)n, 0);
    ln_scan at_low = *ps;
    at_low.p += 2 + n;
    if (cp >= 0xD800 && cp < 0xDC00 && !peek_code(&at_low, 'u', 4, &low) && low >= 0xDC00 &&
        low < 0xE000) {
        cp = 0x10000 + ((cp - 0xD800) << 10) + (low - 0xDC00);
        ln_scan_step(ps, 6);
    } else if (cp >= 0xD800 && cp < 0xE000) {
        return ln_scan_fail(ps, "half of a surrogate pair");
    }
    ln_scan_step(ps, 2 + n);
    return add_code_point(ps, text, cp);
}

static int parse_escape(ln_scan *ps, ln_scan_text *text)
{
    static const char letters[] = "\"\\/bfnrt'?$";
    static const char values[] = "\"\\/\b\f\n\r\t'?$";
    const char letter = ln_scan_peek(ps, 1);
    if (letter == 'u' || letter == 'x')
        return parse_code(ps, text, letter);
    const char *found = letter ? strchr(letters, letter) : NULL;
    if (!found)
        return ln_scan_fail(ps, "unknown escape sequence in a string");
    ln_scan_step(ps, 2);
    return ln_scan_add(ps, text, &values[found - letters], 1);
}

int ln_scan_string(ln_scan *ps, ln_scan_text *text)
{
    for (ln_scan_step(ps, 1); ln_scan_peek(ps, 0) != '"';) {
        const char c = ln_scan_peek(ps, 0);
        if (ln_scan_is_end(ps) || c == '\n' || c == '\r')
            return expected(ps, "'\"' to end the string");
        if (c == '\\') {
            if (parse_escape(ps, text))
                return -1;
        } else {
            if (ln_scan_add(ps, text, ps->p, 1))
                return -1;
            ln_scan_step(ps, 1);
        }
    }
    ln_scan_step(ps, 1);
    return ln_scan_add(ps, text, "", 0);
}
