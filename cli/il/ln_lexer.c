// SPDX-License-Identifier: Apache-2.0
// The syntax of operators: tokens and lists.

#include "il/ln_lexer.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/ln_number.h"
#include "lightnet/ln_util.h"

// Failures

static int vfail(ln_lexer *l, const ln_scan *place, const char *fmt, va_list args)
{
    if (!l->failed)
        ln_scan_vfail(place, fmt, args);
    l->failed = 1;
    l->kind = LN_TOKEN_END;
    return -1;
}

int ln_lexer_fail(ln_lexer *l, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    vfail(l, &l->token, fmt, args);
    va_end(args);
    return -1;
}

int ln_lexer_fail_at(ln_lexer *l, const ln_scan *place, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    vfail(l, place, fmt, args);
    va_end(args);
    return -1;
}

static const char *describe(const ln_lexer *l, char *buf, size_t size)
{
    if (l->kind == LN_TOKEN_END)
        snprintf(buf, size, "the end");
    else if (l->kind == LN_TOKEN_NAME || l->kind == LN_TOKEN_NUMBER)
        snprintf(buf, size, "'%.60s'", l->text.at);
    else if (l->kind == LN_TOKEN_STRING)
        snprintf(buf, size, "\"%.60s\"", l->text.at);
    else
        snprintf(buf, size, isprint(l->kind) ? "'%c'" : "byte 0x%02x", l->kind);
    return buf;
}

int ln_lexer_unexpected(ln_lexer *l, const char *expected)
{
    char token[80];
    return ln_lexer_fail(l, "%s is unexpected, expected %s", describe(l, token, sizeof(token)),
                         expected);
}

// Tokens

static int peek(const ln_lexer *l, size_t n)
{
    return (unsigned char)ln_scan_peek(&l->at, n);
}

static int take(ln_lexer *l, size_t len)
{
    if (ln_scan_add(&l->at, &l->text, l->at.p, len))
        return -1;
    ln_scan_step(&l->at, len);
    return 0;
}

// The length of a run of digits, letters, points and exponent signs; ".." ends it.
static size_t number_length(const ln_lexer *l)
{
    const int is_hex = tolower(peek(l, 1)) == 'x';
    for (size_t len = 0;; len++) {
        const int c = peek(l, len);
        if (c == '.' && peek(l, len + 1) != '.')
            continue;
        if ((c == '+' || c == '-') && len && !is_hex && tolower(peek(l, len - 1)) == 'e')
            continue;
        if (!isalnum(c))
            return len;
    }
}

static int read_number(ln_lexer *l)
{
    char *end;
    l->kind = LN_TOKEN_NUMBER;
    if (take(l, number_length(l)))
        return -1;
    l->number = ln_number_read(l->text.at, &end);
    if (*end)
        return ln_scan_fail(&l->token, "'%.40s' is not a number", l->text.at);
    return isfinite(l->number) ? 0 : ln_scan_fail(&l->token, "'%.40s' is too large", l->text.at);
}

static int read_token(ln_lexer *l)
{
    const int c = peek(l, 0);
    if (c == '"') {
        l->kind = LN_TOKEN_STRING;
        do { // adjacent strings are concatenated, as in C
            if (ln_scan_string(&l->at, &l->text))
                return -1;
            ln_scan_blanks(&l->at);
        } while (peek(l, 0) == '"');
        return 0;
    }
    if (isalpha(c) || c == '_') {
        size_t len = 1;
        while (isalnum(peek(l, len)) || peek(l, len) == '_')
            len++;
        l->kind = LN_TOKEN_NAME;
        return take(l, len);
    }
    if (isdigit(c) || (c == '.' && isdigit(peek(l, 1))))
        return read_number(l);
    l->kind = ln_scan_is_end(&l->at) ? LN_TOKEN_END : c;
    if (!ln_scan_is_end(&l->at))
        ln_scan_step(&l->at, 1);
    return 0;
}

void ln_lexer_next(ln_lexer *l)
{
    if (l->failed)
        return;
    l->text.len = 0;
    ln_scan_blanks(&l->at);
    l->token = l->at;
    if (read_token(l)) {
        l->failed = 1;
        l->kind = LN_TOKEN_END;
    }
}

void ln_lexer_begin(ln_lexer *l, const ln_scan *at)
{
    *l = (ln_lexer){.at = *at};
    ln_lexer_next(l);
}

int ln_lexer_end(ln_lexer *l)
{
    ln_free(l->text.at);
    l->text = (ln_scan_text){0};
    return l->failed ? -1 : 0;
}

int ln_lexer_is_word(const ln_lexer *l, const char *word)
{
    return l->kind == LN_TOKEN_NAME && strcmp(l->text.at, word) == 0;
}

int ln_lexer_accept(ln_lexer *l, int kind)
{
    if (l->kind != kind)
        return 0;
    ln_lexer_next(l);
    return 1;
}

int ln_lexer_expect(ln_lexer *l, int kind)
{
    const char text[] = {'\'', (char)kind, '\'', '\0'};
    return ln_lexer_accept(l, kind) ? 0 : ln_lexer_unexpected(l, text);
}

// Lists

static int is_one_of(const ln_lexer *l, const char *kinds)
{
    return l->kind != LN_TOKEN_END && strchr(kinds, l->kind) != NULL;
}

// Elements up to one of the characters in `closes`.
static int read_elements(ln_lexer *l, const char *closes, const char *expected, ln_lexer_func *read,
                         void *to)
{
    while (!is_one_of(l, closes)) {
        if (read(l, to))
            return -1;
        if (!ln_lexer_accept(l, ',') && !is_one_of(l, closes))
            return ln_lexer_unexpected(l, expected);
    }
    return 0;
}

int ln_lexer_list(ln_lexer *l, int close, ln_lexer_func *read, void *to)
{
    const char closes[] = {(char)close, '\0'};
    char expected[16];
    snprintf(expected, sizeof(expected), "',' or '%c'", close);
    return read_elements(l, closes, expected, read, to) ? -1 : ln_lexer_expect(l, close);
}

int ln_lexer_groups(ln_lexer *l, ln_lexer_func *const *read, int n, void *to)
{
    for (int i = 0; i < n; i++) {
        if (i && !ln_lexer_accept(l, '|'))
            break;
        if (read_elements(l, "|)", "',', '|' or ')'", read[i], to))
            return -1;
    }
    return 0;
}
