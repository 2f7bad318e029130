// SPDX-License-Identifier: Apache-2.0
// The tokens of the preprocessor, and preprocessed text, which grows line by line.

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/ln_array.h"
#include "base/ln_error_memory.h"
#include "il/ln_il.h"
#include "il/ln_il_pre.h"
#include "lightnet/ln_util.h"

int ln_il_fail(ln_error *err, ln_il_place place, const char *fmt, ...)
{
    char reason[LN_MAXLINE];
    va_list args;
    va_start(args, fmt);
    vsnprintf(reason, sizeof(reason), fmt, args);
    va_end(args);
    return ln_error_set(err, "%s:%d: %s", place.file, place.line, reason);
}

int ln_il_fail_memory(ln_error *err, ln_il_place place)
{
    return ln_il_fail(err, place, LN_MEMORY_REASON);
}

int ln_il_text_append(ln_il_text *t, const char *bytes, size_t len)
{
    if (len >= t->capacity - t->len) {
        const size_t capacity = 2 * t->capacity + len + 256;
        char *text = ln_realloc(t->text, capacity);
        if (!text)
            return -1;
        t->text = text;
        t->capacity = capacity;
    }
    memcpy(t->text + t->len, bytes, len);
    t->len += len;
    t->text[t->len] = '\0';
    return 0;
}

int ln_il_text_begin_line(ln_il_text *t, ln_il_place place)
{
    if (ln_array_grow(&t->lines, t->n_lines, sizeof(*t->lines)))
        return -1;
    t->lines[t->n_lines++] = place;
    return t->n_lines > 1 ? ln_il_text_append(t, "\n", 1) : 0;
}

void ln_il_text_free(ln_il_text *t)
{
    ln_free(t->text);
    ln_free(t->lines);
    *t = (ln_il_text){0};
}

// Lines

// Bytes of the line ending at `p`: 0, 1, or 2 for "\r\n".
static size_t newline_at(const char *p, const char *end)
{
    if (p < end && *p == '\n')
        return 1;
    return end - p > 1 && p[0] == '\r' && p[1] == '\n' ? 2 : 0;
}

size_t ln_il_join_lines(char *text, size_t len)
{
    static const char mark[] = "\xef\xbb\xbf";
    const char *from = text, *const end = text + len;
    char *to = text;
    size_t joined = 0, newline;
    if (len >= 3 && !memcmp(text, mark, 3))
        from += 3;
    while (from < end) {
        if (*from == '\\' && (newline = newline_at(from + 1, end))) {
            from += 1 + newline;
            joined++;
        } else if ((newline = newline_at(from, end))) {
            from += newline;
            *to++ = '\n';
            for (; joined; joined--)
                *to++ = '\n';
        } else {
            *to++ = *from++;
        }
    }
    return (size_t)(to - text);
}

// Characters

int ln_il_is_name_char(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

static int is_digit(char c)
{
    return isdigit((unsigned char)c) != 0;
}

// Whether `c` after `last` would continue a name, or begin a comment.
static int would_merge(char last, char c)
{
    return (ln_il_is_name_char(last) && ln_il_is_name_char(c)) ||
           (last == '/' && (c == '/' || c == '*'));
}

int ln_il_text_append_apart(ln_il_text *t, const char *bytes, size_t len, int after_blank)
{
    const char last = t->len ? t->text[t->len - 1] : '\n';
    const int is_apart = last != '\n' && (after_blank || (len && would_merge(last, *bytes)));
    if (is_apart && ln_il_text_append(t, " ", 1))
        return -1;
    return len ? ln_il_text_append(t, bytes, len) : 0;
}

// Blanks

static int starts(const ln_il_scanner *s, const char *text)
{
    const size_t len = strlen(text);
    return (size_t)(s->end - s->at) >= len && !memcmp(s->at, text, len);
}

static int skip_comment(ln_il_scanner *s)
{
    const ln_il_place begin = s->place;
    for (s->at += 2; !starts(s, "*/"); s->at++) {
        if (s->at == s->end)
            return ln_il_fail(s->err, begin, "unterminated comment");
        s->place.line += *s->at == '\n';
    }
    s->at += 2;
    return 0;
}

// Returns 1 at a token, 0 at the end, -1 with a reason.
static int skip_blanks(ln_il_scanner *s, int within_line, ln_il_token *t)
{
    while (s->at < s->end) {
        if (*s->at == '\n' && within_line)
            return 0;
        if (*s->at == '\n') {
            s->place.line++;
            t->flags |= LN_IL_FIRST_OF_LINE;
        }
        if (isspace((unsigned char)*s->at)) {
            s->at++;
        } else if (starts(s, "//")) {
            const char *newline = memchr(s->at, '\n', (size_t)(s->end - s->at));
            s->at = newline ? newline : s->end;
        } else if (!starts(s, "/*")) {
            return 1;
        } else if (skip_comment(s)) {
            return -1;
        }
        t->flags |= LN_IL_AFTER_BLANK;
    }
    return 0;
}

// Tokens

static void scan_number(ln_il_scanner *s, ln_il_token *t)
{
    t->kind = LN_IL_TOKEN_NUMBER;
    while (s->at < s->end) {
        const int is_exponent = strchr("eEpP", *s->at) != NULL;
        if (!ln_il_is_name_char(*s->at) && *s->at != '.')
            break;
        s->at++;
        if (is_exponent && s->at < s->end && (*s->at == '+' || *s->at == '-'))
            s->at++;
    }
}

// The end of a string, after the closing quote; NULL: its line has none.
static const char *find_quote(const ln_il_scanner *s)
{
    for (const char *p = s->at + 1; p < s->end && *p != '\n'; p++) {
        if (*p == '"')
            return p + 1;
        p += *p == '\\' && p + 1 < s->end && p[1] != '\n';
    }
    return NULL;
}

static int scan_string(ln_il_scanner *s, ln_il_token *t)
{
    const char *end = find_quote(s);
    if (!end && !s->skips)
        return ln_il_fail(s->err, s->place, "a string without its closing '\"'");
    t->kind = end ? LN_IL_TOKEN_STRING : LN_IL_TOKEN_OTHER;
    s->at = end ? end : s->at + 1;
    return 0;
}

static int scan_token(ln_il_scanner *s, ln_il_token *t)
{
    if (*s->at == '\0' && s->end - s->at > 1) {
        t->flags |= LN_IL_NOT_EXPANDED;
        t->text = ++s->at;
    }
    const char c = *s->at;
    if (c == '"')
        return scan_string(s, t);
    if (is_digit(c) || (c == '.' && s->end - s->at > 1 && is_digit(s->at[1]))) {
        scan_number(s, t);
    } else if (ln_il_is_name_char(c)) {
        t->kind = LN_IL_TOKEN_NAME;
        while (s->at < s->end && ln_il_is_name_char(*s->at))
            s->at++;
    } else {
        t->kind = LN_IL_TOKEN_OTHER;
        s->at += starts(s, "##") ? 2 : starts(s, "...") ? 3 : 1;
    }
    return 0;
}

int ln_il_scan(ln_il_scanner *s, int within_line, ln_il_token *t)
{
    *t = (ln_il_token){
        .kind = LN_IL_TOKEN_END,
        .flags = s->begins_line ? LN_IL_FIRST_OF_LINE | LN_IL_AFTER_BLANK : 0,
    };
    const int found = skip_blanks(s, within_line, t);
    t->text = s->at;
    if (found <= 0)
        return found;
    s->begins_line = 0;
    if (scan_token(s, t))
        return -1;
    t->len = (uint32_t)(s->at - t->text);
    return 0;
}

int ln_il_token_is(const ln_il_token *t, const char *text)
{
    return t->len == strlen(text) && !memcmp(t->text, text, t->len);
}

int ln_il_token_is_directive(const ln_il_token *t)
{
    return t->flags & LN_IL_FIRST_OF_LINE && ln_il_token_is(t, "#");
}
