// SPDX-License-Identifier: Apache-2.0
// A parser of JSON by recursive descent. Values are in one array: no file has more of them than
// commas and opening brackets, plus one. Strings are unescaped in a copy of the text.

#include "json_reader.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_DEPTH = 100 };

struct json_document {
    char *text;
    json *values;
    size_t n_values;
};

typedef struct parser {
    char *at, *end; // \0 is at `end`
    const char *begin;
    json_document *document;
    const char *why; // the first error
} parser;

static json *parse_value(parser *p, int depth);

static json *reject(parser *p, const char *why)
{
    if (!p->why)
        p->why = why;
    return NULL;
}

static void skip_spaces(parser *p)
{
    p->at += strspn(p->at, " \t\r\n");
}

// Whether the next character is `c`; skips it.
static int accept(parser *p, char c)
{
    const int is_next = p->at < p->end && *p->at == c;
    p->at += is_next;
    return is_next;
}

// The value of four hexadecimal digits; -1: they are none.
static int32_t hex4(const char *digits)
{
    int32_t value = 0;
    for (int i = 0; i < 4; i++) {
        static const char all[] = "0123456789abcdef0123456789ABCDEF";
        const char *const digit = digits[i] ? strchr(all, digits[i]) : NULL;
        if (!digit)
            return -1;
        value = value * 16 + (int32_t)((digit - all) % 16);
    }
    return value;
}

// Writes a code point as UTF-8; returns the end.
static char *put_utf8(char *to, uint32_t code)
{
    static const uint8_t first[] = {0, 0, 0xC0, 0xE0, 0xF0};
    const int n = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    *to++ = (char)(n == 1 ? code : (first[n] | code >> 6 * (n - 1)));
    for (int i = n - 2; i >= 0; i--)
        *to++ = (char)(0x80 | (code >> 6 * i & 0x3F));
    return to;
}

// Resolves \uXXXX, or two of them for code points beyond 0xffff, after the `u`.
static char *parse_code_point(parser *p, char *to)
{
    int32_t code = hex4(p->at);
    if (code < 0)
        return (void)reject(p, "expected four hexadecimal digits after \\u"), NULL;
    p->at += 4;
    if (code >= 0xD800 && code < 0xE000) {
        const int32_t low = p->at[0] == '\\' && p->at[1] == 'u' ? hex4(p->at + 2) : -1;
        if (code >= 0xDC00 || low < 0xDC00 || low >= 0xE000)
            return (void)reject(p, "surrogate without a partner"), NULL;
        p->at += 6;
        code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
    }
    return put_utf8(to, (uint32_t)code);
}

// Resolves an escape after its backslash; returns the end of what it writes.
static char *parse_escape(parser *p, char *to)
{
    static const char names[] = "\"\\/bfnrtu", values[] = "\"\\/\b\f\n\r\t";
    const char *const name = *p->at ? strchr(names, *p->at) : NULL;
    if (!name)
        return (void)reject(p, "unknown escape"), NULL;
    p->at++;
    if (*name == 'u')
        return parse_code_point(p, to);
    *to++ = values[name - names];
    return to;
}

// A string after its first quote, unescaped in place, which never makes it longer.
static const char *parse_string(parser *p, size_t *len)
{
    char *const begin = p->at, *to = begin;
    while (p->at < p->end && *p->at != '"') {
        if ((unsigned char)*p->at < 0x20)
            return (void)reject(p, "control character in a string"), NULL;
        if (*p->at != '\\')
            *to++ = *p->at++;
        else if (p->at++, !(to = parse_escape(p, to)))
            return NULL;
    }
    if (!accept(p, '"'))
        return (void)reject(p, "string without an end"), NULL;
    *to = 0; // at most where the quote was
    *len = (size_t)(to - begin);
    return begin;
}

static size_t n_digits(const char *at)
{
    return strspn(at, "0123456789");
}

static json *parse_number(parser *p, json *value)
{
    const char *at = p->at + (*p->at == '-');
    size_t n = *at == '0' ? 1 : n_digits(at);
    int is_valid = n > 0;
    at += n;
    if (*at == '.') {
        n = n_digits(++at);
        is_valid &= n > 0;
        at += n;
    }
    if (*at == 'e' || *at == 'E') {
        at += 1 + (at[1] == '+' || at[1] == '-');
        is_valid &= n_digits(at) > 0;
        at += n_digits(at);
    }
    if (!is_valid)
        return reject(p, "expected a value");
    value->type = JSON_NUMBER;
    value->number = strtod(p->at, NULL);
    p->at += at - p->at;
    return value;
}

static json *parse_word(parser *p, json *value)
{
    static const struct {
        const char *word;
        json_type type;
    } words[] = {{"null", JSON_NULL}, {"false", JSON_FALSE}, {"true", JSON_TRUE}};
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        const size_t len = strlen(words[i].word);
        if (!strncmp(p->at, words[i].word, len)) {
            p->at += len;
            value->type = words[i].type;
            return value;
        }
    }
    return parse_number(p, value);
}

static int parse_key(parser *p, const char **key, size_t *len)
{
    skip_spaces(p);
    if (!accept(p, '"'))
        return !!reject(p, "expected a key");
    *key = parse_string(p, len);
    if (!*key)
        return 0;
    skip_spaces(p);
    return accept(p, ':') || reject(p, "expected ':'");
}

// The values of an array, or of an object, after its opening bracket.
static json *parse_children(parser *p, json *value, char end, int depth)
{
    const json **to = &value->child;
    value->type = end == '}' ? JSON_OBJECT : JSON_ARRAY;
    skip_spaces(p);
    if (accept(p, end))
        return value;
    do {
        const char *key = NULL;
        size_t key_len = 0;
        if (end == '}' && !parse_key(p, &key, &key_len))
            return NULL;
        json *const child = parse_value(p, depth + 1);
        if (!child)
            return NULL;
        child->key = key;
        child->key_len = key_len;
        *to = child;
        to = &child->next;
        skip_spaces(p);
    } while (accept(p, ','));
    return accept(p, end) ? value : reject(p, "expected ',' or the closing bracket");
}

static json *parse_value(parser *p, int depth)
{
    if (depth > MAX_DEPTH)
        return reject(p, "too many nested values");
    json *const value = &p->document->values[p->document->n_values++];
    skip_spaces(p);
    if (accept(p, '{'))
        return parse_children(p, value, '}', depth);
    if (accept(p, '['))
        return parse_children(p, value, ']', depth);
    if (!accept(p, '"'))
        return parse_word(p, value);
    value->type = JSON_STRING;
    value->text = parse_string(p, &value->len);
    return value->text ? value : NULL;
}

static size_t max_values(const char *text, size_t len)
{
    size_t n = 1;
    for (size_t i = 0; i < len; i++)
        n += text[i] == ',' || text[i] == '[' || text[i] == '{';
    return n;
}

static json_document *new_document(const char *text, size_t len)
{
    json_document *const document = calloc(1, sizeof(*document));
    if (!document)
        return NULL;
    document->text = malloc(len + 1);
    document->values = calloc(max_values(text, len), sizeof(json));
    if (!document->text || !document->values) {
        json_free(document);
        return NULL;
    }
    if (len > 0)
        memcpy(document->text, text, len);
    document->text[len] = 0;
    return document;
}

static int line_of(const parser *p)
{
    int line = 1;
    for (const char *c = p->begin; c < p->at; c++)
        line += *c == '\n';
    return line;
}

json_document *json_parse(const char *text, size_t len, char *why, size_t size)
{
    json_document *const document = new_document(text, len);
    if (!document) {
        snprintf(why, size, "out of memory");
        return NULL;
    }
    parser p = {document->text, document->text + len, document->text, document, NULL};
    if (parse_value(&p, 0)) {
        skip_spaces(&p);
        if (p.at != p.end)
            reject(&p, "expected the end");
    }
    if (!p.why)
        return document;
    snprintf(why, size, "line %d: %s", line_of(&p), p.why);
    json_free(document);
    return NULL;
}

// The bytes of a file (free); NULL: it cannot be read.
static char *read_bytes(const char *name, size_t *len)
{
    FILE *const file = fopen(name, "rb");
    char *bytes = NULL, *more = NULL;
    size_t n = 0, room = 0, got = 0;
    if (!file)
        return NULL;
    do {
        if (room - n < 1 + room / 2 && !(more = realloc(bytes, room = 2 * room + 65536)))
            break;
        bytes = more ? more : bytes;
        got = fread(bytes + n, 1, room - n, file);
        n += got;
    } while (got > 0);
    if ((!more && room > 0) || ferror(file)) {
        free(bytes);
        bytes = NULL;
    }
    fclose(file);
    *len = n;
    return bytes;
}

json_document *json_read(const char *file, char *why, size_t size)
{
    size_t len;
    char reason[80];
    char *const bytes = read_bytes(file, &len);
    if (!bytes) {
        snprintf(why, size, "%s: cannot be read", file);
        return NULL;
    }
    json_document *const document = json_parse(bytes, len, reason, sizeof(reason));
    free(bytes);
    if (!document)
        snprintf(why, size, "%s: %s", file, reason);
    return document;
}

void json_free(json_document *document)
{
    if (!document)
        return;
    free(document->text);
    free(document->values);
    free(document);
}

const json *json_root(const json_document *document)
{
    return document->values;
}

const json *json_get(const json *object, const char *key)
{
    const size_t len = strlen(key);
    if (!object || object->type != JSON_OBJECT)
        return NULL;
    for (const json *value = object->child; value; value = value->next)
        if (value->key_len == len && !memcmp(value->key, key, len))
            return value;
    return NULL;
}

const json *json_first(const json *value)
{
    return value ? value->child : NULL;
}

int json_is(const json *value, const char *text)
{
    return value && value->type == JSON_STRING && value->len == strlen(text) &&
           !memcmp(value->text, text, value->len);
}

int json_is_true(const json *value)
{
    return value && value->type == JSON_TRUE;
}
