// SPDX-License-Identifier: Apache-2.0
// Reads the tokens of preprocessed IL.

#include "il/ln_il_lex.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

#include "base/ln_number.h"
#include "lightnet/ln_util.h"

/* ---- characters ---- */

static int fail_memory(const ln_il_lexer *l)
{
    return ln_il_fail_memory(l->err, l->next);
}

// A newline goes by.
static void begin_line(ln_il_lexer *l)
{
    l->n_lines++;
    l->next = l->source->lines[l->n_lines];
}

static int is_eval(const ln_il_lexer *l)
{
    return l->end - l->at > 6 && !memcmp(l->at, "${eval", 6) &&
           (isspace((unsigned char)l->at[6]) || l->at[6] == '(');
}

// The `}` that ends an expression, in which others may stand; NULL: there is none.
static const char *find_close(const char *expr, const char *end)
{
    int depth = 1;
    for (const char *p = expr; p < end; p++) {
        depth += *p == '{';
        depth -= *p == '}';
        if (!depth)
            return p;
    }
    return NULL;
}

// Its value is read next.
static int read_eval(ln_il_lexer *l)
{
    const char *expr = l->at + 6;
    const char *close = find_close(expr, l->end);
    if (!close)
        return ln_il_fail(l->err, l->next, "'${eval' without '}'");
    l->value_at = 0;
    if (ln_il_eval(expr, (size_t)(close - expr), l->value, l->err))
        return ln_error_prefix(l->err, "%s:%d: ${eval}", l->next.file, l->next.line);
    for (const char *p = expr; p < close; p++)
        if (*p == '\n')
            begin_line(l);
    l->at = close + 1;
    return 0;
}

// The next character, which advance() takes; -1: there is none; -2 after a failure.
static int peek(ln_il_lexer *l)
{
    while (!l->value[l->value_at]) {
        if (l->at == l->end)
            return -1;
        if (*l->at != '$' || !is_eval(l))
            return (unsigned char)*l->at;
        if (read_eval(l))
            return -2;
    }
    return (unsigned char)l->value[l->value_at];
}

static void advance(ln_il_lexer *l)
{
    if (l->value[l->value_at]) {
        l->value_at++;
        return;
    }
    if (*l->at++ == '\n')
        begin_line(l);
}

/* ---- tokens ---- */

static int append(ln_il_lexer *l, int c)
{
    if (l->len + 1 >= l->room) {
        const size_t room = 2 * l->room;
        char *text = ln_realloc(l->text, room);
        if (!text)
            return fail_memory(l);
        l->text = text;
        l->room = room;
    }
    l->text[l->len++] = (char)c;
    l->text[l->len] = '\0';
    return 0;
}

static int take(ln_il_lexer *l, int c)
{
    advance(l);
    return append(l, c);
}

static int append_utf8(ln_il_lexer *l, unsigned code)
{
    if (code < 0x80)
        return append(l, (int)code);
    if (code < 0x800)
        return append(l, (int)(0xc0 | code >> 6)) || append(l, (int)(0x80 | (code & 0x3f)));
    if (code < 0x10000)
        return append(l, (int)(0xe0 | code >> 12)) || append(l, (int)(0x80 | (code >> 6 & 0x3f))) ||
               append(l, (int)(0x80 | (code & 0x3f)));
    return append(l, (int)(0xf0 | code >> 18)) || append(l, (int)(0x80 | (code >> 12 & 0x3f))) ||
           append(l, (int)(0x80 | (code >> 6 & 0x3f))) || append(l, (int)(0x80 | (code & 0x3f)));
}

// The hexadecimal digits after \u or \x.
static int read_digits(ln_il_lexer *l, int n, unsigned *unit)
{
    *unit = 0;
    for (int i = 0; i < n; i++) {
        const int c = peek(l);
        if (c == -2)
            return -1;
        if (c < 0 || !isxdigit(c))
            return ln_il_fail(l->err, l->next, "an escape sequence without %d hexadecimal digits",
                              n);
        *unit = 16 * *unit + (unsigned)(isdigit(c) ? c - '0' : tolower(c) - 'a' + 10);
        advance(l);
    }
    return 0;
}

static int take_char(ln_il_lexer *l, int wanted)
{
    if (peek(l) != wanted)
        return 0;
    advance(l);
    return 1;
}

static int append_code(ln_il_lexer *l, unsigned code)
{
    if (code == 0 || (code >= 0xd800 && code < 0xe000))
        return ln_il_fail(l->err, l->next, "'\\u%04x' is no character of a string", code);
    return append_utf8(l, code);
}

// What follows \u; of characters beyond 16 bits two such (RFC 8259, 7).
static int read_unicode(ln_il_lexer *l)
{
    unsigned code, low;
    if (read_digits(l, 4, &code))
        return -1;
    if (code >= 0xd800 && code < 0xdc00 && take_char(l, '\\') && take_char(l, 'u')) {
        if (read_digits(l, 4, &low))
            return -1;
        if (low >= 0xdc00 && low < 0xe000)
            code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
    }
    return append_code(l, code);
}

static int read_hexadecimal(ln_il_lexer *l)
{
    unsigned code;
    return read_digits(l, 2, &code) ? -1 : append_code(l, code);
}

// After `\`, a `$` begins no ${eval}.
static int take_dollar(ln_il_lexer *l)
{
    if (l->value[l->value_at] || l->at == l->end || *l->at != '$')
        return 0;
    advance(l);
    return 1;
}

static int read_escape(ln_il_lexer *l)
{
    static const char letters[] = "bfnrt\"\\/'?";
    static const char meanings[] = "\b\f\n\r\t\"\\/'?";
    if (take_dollar(l))
        return append(l, '$');
    const int c = peek(l);
    if (c == -2)
        return -1;
    if (c == 'u' || c == 'x') {
        advance(l);
        return c == 'u' ? read_unicode(l) : read_hexadecimal(l);
    }
    const char *letter = c > 0 ? strchr(letters, c) : NULL;
    if (!letter)
        return ln_il_fail(l->err, l->next, "a string has an unknown escape sequence after '\\'");
    advance(l);
    return append(l, meanings[letter - letters]);
}

static int read_string(ln_il_lexer *l)
{
    int c;
    advance(l);
    while ((c = peek(l)) >= 0 && c != '"' && c != '\n') {
        advance(l);
        if (c == '\\' ? read_escape(l) : append(l, c))
            return -1;
    }
    if (c == -2)
        return -1;
    if (c != '"')
        return ln_il_fail(l->err, l->place, "a string without its closing '\"'");
    advance(l);
    return 0;
}

static int skip_blanks(ln_il_lexer *l)
{
    int c;
    while ((c = peek(l)) >= 0 && isspace(c))
        advance(l);
    return c == -2 ? -1 : 0;
}

// Strings beside each other are one, as in C.
static int read_strings(ln_il_lexer *l)
{
    l->kind = LN_IL_STRING;
    do {
        if (read_string(l) || skip_blanks(l))
            return -1;
    } while (peek(l) == '"');
    return peek(l) == -2 ? -1 : 0;
}

static int read_name(ln_il_lexer *l)
{
    int c;
    l->kind = LN_IL_NAME;
    while ((c = peek(l)) >= 0 && (isalnum(c) || c == '_'))
        if (take(l, c))
            return -1;
    return c == -2 ? -1 : 0;
}

// Whether a character continues the number read so far.
static int continues_number(const ln_il_lexer *l, int c)
{
    if (c != '+' && c != '-')
        return isalnum(c) || c == '.';
    const int is_hex = l->len > 1 && tolower(l->text[1]) == 'x';
    return !is_hex && l->len && tolower(l->text[l->len - 1]) == 'e';
}

static int read_number(ln_il_lexer *l)
{
    int c;
    l->kind = LN_IL_NUMBER;
    while ((c = peek(l)) >= 0 && continues_number(l, c))
        if (take(l, c))
            return -1;
    if (c == -2)
        return -1;
    char *end;
    l->number = ln_number_read(l->text, &end);
    if (*end)
        return ln_il_fail(l->err, l->place, "'%.40s' is not a number", l->text);
    return isfinite(l->number) ? 0 : ln_il_fail(l->err, l->place, "'%.40s' is too large", l->text);
}

// A sign, blanks that a macro may leave, and a number, or the word inf, which JSON has as a string.
static int read_negative(ln_il_lexer *l)
{
    advance(l);
    if (skip_blanks(l))
        return -1;
    const int c = peek(l);
    if (c >= 0 && (isdigit(c) || c == '.')) {
        if (read_number(l))
            return -1;
        l->number = -l->number;
        return 0;
    }
    if (c != 'i' || append(l, '-') || read_name(l) || strcmp(l->text, "-inf") != 0)
        return ln_il_fail(l->err, l->place, "'-' is unexpected before what is no number");
    l->kind = LN_IL_STRING;
    return 0;
}

int ln_il_lex_next(ln_il_lexer *l)
{
    l->len = 0;
    l->text[0] = '\0';
    if (skip_blanks(l))
        return -1;
    const int c = peek(l);
    l->place = l->next;
    if (c < 0) {
        l->kind = LN_IL_END;
        return c == -2 ? -1 : 0;
    }
    if (c == '"')
        return read_strings(l);
    if (isalpha(c) || c == '_')
        return read_name(l);
    if (isdigit(c) || c == '.')
        return read_number(l);
    if (c == '-')
        return read_negative(l);
    l->kind = c;
    advance(l);
    return 0;
}

const char *ln_il_lex_describe(const ln_il_lexer *l, char *buf, size_t size)
{
    if (l->kind == LN_IL_END)
        snprintf(buf, size, "the end");
    else if (l->kind == LN_IL_NAME || l->kind == LN_IL_NUMBER)
        snprintf(buf, size, "'%s%.60s'", l->kind == LN_IL_NUMBER && l->number < 0 ? "-" : "",
                 l->text);
    else if (l->kind == LN_IL_STRING)
        snprintf(buf, size, "\"%.60s\"", l->text);
    else
        snprintf(buf, size, isprint(l->kind) ? "'%c'" : "byte 0x%02x", l->kind);
    return buf;
}

int ln_il_lex_begin(ln_il_lexer *l, const char *name, const ln_il_text *source, ln_error *err)
{
    *l = (ln_il_lexer){
        .at = source->text,
        .end = source->len ? source->text + source->len : source->text,
        .source = source,
        .next = source->n_lines ? source->lines[0] : (ln_il_place){.file = name, .line = 1},
        .err = err,
    };
    l->room = 256;
    l->text = ln_alloc(l->room);
    return l->text ? 0 : fail_memory(l);
}

void ln_il_lex_end(ln_il_lexer *l)
{
    ln_free(l->text);
}
