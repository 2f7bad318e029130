// SPDX-License-Identifier: Apache-2.0
// Relaxed JSON: a recursive-descent parser with positions.

#include "gen/ln_rjson.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lightnet/ln_util.h"

typedef struct parser {
    const char *file; /* owned by the root once there is one */
    const char *p;    /* the next byte */
    const char *end;
    int line; /* the place of the next byte */
    int column;
    int depth;
    ln_error *err;
} parser;

/** A string that grows; `text` is NULL until something is added. */
typedef struct buffer {
    char *text;
    size_t len;
    size_t capacity;
} buffer;

/* ---- places and mistakes ---- */

static int fail_at(const char *file, int line, int column, ln_error *err, const char *fmt,
                   va_list args)
{
    char reason[LN_MAXLINE];
    vsnprintf(reason, sizeof(reason), fmt, args);
    return ln_error_set(err, "%s:%d:%d: %s", file, line, column, reason);
}

static int fail_here(const parser *ps, const char *fmt, ...) LN_PRINTF(2, 3);

static int fail_here(const parser *ps, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    fail_at(ps->file, ps->line, ps->column, ps->err, fmt, args);
    va_end(args);
    return -1;
}

static int at_end(const parser *ps)
{
    return ps->p == ps->end;
}

/** The byte `n` places ahead, '\0' behind the end; a NUL in the text is no valid byte anywhere
 * either. */
static char peek(const parser *ps, size_t n)
{
    return (size_t)(ps->end - ps->p) > n ? ps->p[n] : '\0';
}

static int looking_at(const parser *ps, const char *word)
{
    const size_t len = strlen(word);
    return (size_t)(ps->end - ps->p) >= len && memcmp(ps->p, word, len) == 0;
}

/** Steps over `n` bytes that exist. */
static void advance(parser *ps, size_t n)
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

static void skip_blanks(parser *ps)
{
    for (;;) {
        if (looking_at(ps, "//")) {
            while (!at_end(ps) && *ps->p != '\n')
                advance(ps, 1);
        } else if (!at_end(ps) && strchr(" \t\r\n", *ps->p) && *ps->p) {
            advance(ps, 1);
        } else {
            return;
        }
    }
}

/** "'x'" for a visible next character, else words; for messages. */
static const char *next_text(const parser *ps, char buf[16])
{
    if (at_end(ps))
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

static int fail_expected(const parser *ps, const char *what)
{
    char buf[16];
    return fail_here(ps, "%s, expected %s", next_text(ps, buf), what);
}

/* ---- nodes ---- */

static ln_rjson *node_create(const parser *ps, ln_rjson_type type)
{
    ln_rjson *node = ln_alloc(sizeof(*node));
    if (!node) {
        fail_here(ps, "out of memory");
        return NULL;
    }
    node->type = type;
    node->file = ps->file;
    node->line = ps->line;
    node->column = ps->column;
    return node;
}

static void node_free(ln_rjson *node)
{
    if (!node)
        return;
    for (size_t i = 0; i < node->len; i++)
        node_free(node->items[i]);
    ln_free(node->items);
    ln_free(node->text);
    ln_free(node->key);
    ln_free(node);
}

/** Appends `item` (takes it) to an array or object whose capacity is the next power of two. */
static int node_append(const parser *ps, ln_rjson *node, ln_rjson *item)
{
    if ((node->len & (node->len - 1)) == 0) {
        const size_t capacity = node->len ? node->len * 2 : 1;
        ln_rjson **items = ln_realloc(node->items, capacity * sizeof(ln_rjson *));
        if (!items)
            return fail_here(ps, "out of memory");
        node->items = items;
    }
    node->items[node->len++] = item;
    return 0;
}

/* ---- strings ---- */

static int buffer_add(const parser *ps, buffer *buf, const char *bytes, size_t len)
{
    if (buf->capacity - buf->len <= len) {
        const size_t capacity = (buf->len + len + 1) * 2;
        char *text = ln_realloc(buf->text, capacity);
        if (!text)
            return fail_here(ps, "out of memory");
        buf->text = text;
        buf->capacity = capacity;
    }
    memcpy(buf->text + buf->len, bytes, len);
    buf->len += len;
    buf->text[buf->len] = '\0';
    return 0;
}

static int buffer_add_code_point(const parser *ps, buffer *buf, uint32_t cp)
{
    char utf8[4];
    size_t len;
    if (cp < 0x80) {
        utf8[0] = (char)cp;
        len = 1;
    } else if (cp < 0x800) {
        utf8[0] = (char)(0xC0 | cp >> 6);
        utf8[1] = (char)(0x80 | (cp & 0x3F));
        len = 2;
    } else if (cp < 0x10000) {
        utf8[0] = (char)(0xE0 | cp >> 12);
        utf8[1] = (char)(0x80 | (cp >> 6 & 0x3F));
        utf8[2] = (char)(0x80 | (cp & 0x3F));
        len = 3;
    } else {
        utf8[0] = (char)(0xF0 | cp >> 18);
        utf8[1] = (char)(0x80 | (cp >> 12 & 0x3F));
        utf8[2] = (char)(0x80 | (cp >> 6 & 0x3F));
        utf8[3] = (char)(0x80 | (cp & 0x3F));
        len = 4;
    }
    return buffer_add(ps, buf, utf8, len);
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

/** Reads "\uXXXX" at the parser's place to *unit without stepping over it; -1 without a message. */
static int peek_utf16_unit(const parser *ps, uint32_t *unit)
{
    *unit = 0;
    if (peek(ps, 0) != '\\' || peek(ps, 1) != 'u')
        return -1;
    for (size_t i = 2; i < 6; i++) {
        const int digit = hex_digit(peek(ps, i));
        if (digit < 0)
            return -1;
        *unit = *unit << 4 | (uint32_t)digit;
    }
    return 0;
}

static int parse_unicode_escape(parser *ps, buffer *buf)
{
    uint32_t cp, low;
    if (peek_utf16_unit(ps, &cp))
        return fail_here(ps, "\\u without four hexadecimal digits");
    if (cp == 0)
        return fail_here(ps, "\\u0000 in a string");
    parser at_low = *ps;
    at_low.p += 6;
    if (cp >= 0xD800 && cp < 0xDC00 && !peek_utf16_unit(&at_low, &low) && low >= 0xDC00 &&
        low < 0xE000) {
        cp = 0x10000 + ((cp - 0xD800) << 10) + (low - 0xDC00);
        advance(ps, 6);
    } else if (cp >= 0xD800 && cp < 0xE000) {
        return fail_here(ps, "half of a surrogate pair");
    }
    advance(ps, 6);
    return buffer_add_code_point(ps, buf, cp);
}

static int parse_escape(parser *ps, buffer *buf)
{
    static const char letters[] = "\"\\/bfnrt";
    static const char values[] = "\"\\/\b\f\n\r\t";
    const char letter = peek(ps, 1);
    if (letter == 'u')
        return parse_unicode_escape(ps, buf);
    const char *found = letter ? strchr(letters, letter) : NULL;
    if (!found)
        return fail_here(ps, "unknown escape sequence in a string");
    advance(ps, 2);
    return buffer_add(ps, buf, &values[found - letters], 1);
}

/** Parses the content of a string behind its opening quote, and the closing one. */
static int parse_quoted(parser *ps, buffer *buf)
{
    while (peek(ps, 0) != '"') {
        const char c = peek(ps, 0);
        if (at_end(ps) || c == '\n' || c == '\r')
            return fail_expected(ps, "'\"' to end the string");
        if ((unsigned char)c < ' ')
            return fail_here(ps, "control character 0x%02X in a string", (unsigned)c);
        if (c == '\\') {
            if (parse_escape(ps, buf))
                return -1;
        } else {
            if (buffer_add(ps, buf, ps->p, 1))
                return -1;
            advance(ps, 1);
        }
    }
    advance(ps, 1);
    return 0;
}

/** Returns new: the content of the string at the parser's place. */
static char *parse_quoted_text(parser *ps)
{
    buffer buf = {0};
    advance(ps, 1);
    if (buffer_add(ps, &buf, "", 0) || parse_quoted(ps, &buf)) {
        ln_free(buf.text);
        return NULL;
    }
    return buf.text;
}

/** Returns new: the content of the ''' string at the parser's place; *first_line is its line. */
static char *parse_block_text(parser *ps, int *first_line)
{
    const parser start = *ps;
    advance(ps, 3);
    while (peek(ps, 0) == ' ' || peek(ps, 0) == '\t' || peek(ps, 0) == '\r')
        advance(ps, 1);
    if (peek(ps, 0) != '\n') {
        fail_expected(ps, "the end of the line behind the opening '''");
        return NULL;
    }
    advance(ps, 1);
    *first_line = ps->line;
    const char *text = ps->p;
    while (!looking_at(ps, "'''")) {
        if (at_end(ps)) {
            fail_here(&start, "no closing ''' for this one");
            return NULL;
        }
        if (*ps->p == '\0') {
            fail_expected(ps, "text");
            return NULL;
        }
        advance(ps, 1);
    }
    buffer buf = {0};
    if (buffer_add(ps, &buf, text, (size_t)(ps->p - text)))
        return NULL;
    advance(ps, 3);
    return buf.text;
}

static int parse_string(parser *ps, ln_rjson *node)
{
    node->is_block = looking_at(ps, "'''");
    node->text_line = ps->line;
    node->text = node->is_block ? parse_block_text(ps, &node->text_line) : parse_quoted_text(ps);
    return node->text ? 0 : -1;
}

/* ---- other values ---- */

static size_t count_digits(const parser *ps, size_t from)
{
    size_t n = 0;
    while (peek(ps, from + n) >= '0' && peek(ps, from + n) <= '9')
        n++;
    return n;
}

/** The length of the number at the parser's place by JSON's grammar; 0: there is none. */
static size_t number_length(const parser *ps)
{
    size_t len = peek(ps, 0) == '-';
    size_t digits = count_digits(ps, len);
    if (digits == 0 || (digits > 1 && peek(ps, len) == '0'))
        return 0;
    len += digits;
    if (peek(ps, len) == '.') {
        digits = count_digits(ps, len + 1);
        if (digits == 0)
            return 0;
        len += 1 + digits;
    }
    if (peek(ps, len) == 'e' || peek(ps, len) == 'E') {
        const size_t sign = peek(ps, len + 1) == '+' || peek(ps, len + 1) == '-';
        digits = count_digits(ps, len + 1 + sign);
        if (digits == 0)
            return 0;
        len += 1 + sign + digits;
    }
    return len;
}

static int parse_number(parser *ps, ln_rjson *node)
{
    const size_t len = number_length(ps);
    if (len == 0)
        return fail_here(ps, "not a number of JSON");
    buffer buf = {0};
    if (buffer_add(ps, &buf, ps->p, len))
        return -1;
    node->text = buf.text;
    node->number = strtod(node->text, NULL);
    if (!isfinite(node->number))
        return fail_here(ps, "number %.64s is beyond the range of double", node->text);
    advance(ps, len);
    return 0;
}

static ln_rjson *parse_value(parser *ps);

static int parse_item(parser *ps, ln_rjson *array)
{
    ln_rjson *item = parse_value(ps);
    if (!item)
        return -1;
    if (node_append(ps, array, item)) {
        node_free(item);
        return -1;
    }
    return 0;
}

static int parse_member(parser *ps, ln_rjson *object)
{
    const int key_line = ps->line, key_column = ps->column;
    if (peek(ps, 0) != '"')
        return fail_expected(ps, "a key in '\"'");
    char *key = parse_quoted_text(ps);
    if (!key)
        return -1;
    skip_blanks(ps);
    if (peek(ps, 0) != ':') {
        ln_free(key);
        return fail_expected(ps, "':' behind the key");
    }
    advance(ps, 1);
    skip_blanks(ps);
    if (parse_item(ps, object)) {
        ln_free(key);
        return -1;
    }
    ln_rjson *item = object->items[object->len - 1];
    item->key = key;
    item->key_line = key_line;
    item->key_column = key_column;
    return 0;
}

/** Orders members by key, equal keys by place. */
static int compare_members(const void *a, const void *b)
{
    const ln_rjson *m1 = *(ln_rjson *const *)a, *m2 = *(ln_rjson *const *)b;
    const int order = strcmp(m1->key, m2->key);
    if (order)
        return order;
    return m1->key_line != m2->key_line ? m1->key_line - m2->key_line
                                        : m1->key_column - m2->key_column;
}

/** -1 when a key stands twice. Sorted, so that the time stays in bounds for any text. */
static int check_keys(const parser *ps, const ln_rjson *object)
{
    if (object->len < 2)
        return 0;
    ln_rjson **sorted = ln_clone(object->items, object->len * sizeof(ln_rjson *));
    if (!sorted)
        return fail_here(ps, "out of memory");
    qsort(sorted, object->len, sizeof(ln_rjson *), compare_members);
    int result = 0;
    for (size_t i = 1; i < object->len && !result; i++) {
        if (strcmp(sorted[i - 1]->key, sorted[i]->key) == 0)
            result = ln_rjson_fail_key(
                sorted[i], ps->err, "key \"%s\" stands here for the second time", sorted[i]->key);
    }
    ln_free(sorted);
    return result;
}

/** Parses the items of an array or object behind its opening bracket, and the closing one. */
static int parse_items(parser *ps, ln_rjson *node)
{
    const int is_object = node->type == LN_RJSON_OBJECT;
    const char close = is_object ? '}' : ']';
    if (++ps->depth > LN_RJSON_MAX_DEPTH)
        return fail_here(ps, "nested deeper than %d levels", LN_RJSON_MAX_DEPTH);
    advance(ps, 1);
    skip_blanks(ps);
    while (peek(ps, 0) != close) {
        if (is_object ? parse_member(ps, node) : parse_item(ps, node))
            return -1;
        skip_blanks(ps);
        if (peek(ps, 0) == ',') {
            advance(ps, 1);
            skip_blanks(ps);
        } else if (peek(ps, 0) != close) {
            return fail_expected(ps, is_object ? "',' or '}'" : "',' or ']'");
        }
    }
    advance(ps, 1);
    ps->depth--;
    return is_object ? check_keys(ps, node) : 0;
}

/* What a value begins with, decides what it is. */
typedef struct value_start {
    const char *first; /* one of these characters */
    ln_rjson_type type;
    int (*parse)(parser *ps, ln_rjson *node);
} value_start;

static const value_start value_starts[] = {
    {"{", LN_RJSON_OBJECT, parse_items},
    {"[", LN_RJSON_ARRAY, parse_items},
    {"\"", LN_RJSON_STRING, parse_string},
    {"-0123456789", LN_RJSON_NUMBER, parse_number},
};

typedef struct value_word {
    const char *word;
    ln_rjson_type type;
    int boolean;
} value_word;

static const value_word value_words[] = {
    {"true", LN_RJSON_BOOL, 1},
    {"false", LN_RJSON_BOOL, 0},
    {"null", LN_RJSON_NULL, 0},
};

static ln_rjson *parse_node(parser *ps, ln_rjson_type type, int (*parse)(parser *, ln_rjson *))
{
    ln_rjson *node = node_create(ps, type);
    if (node && parse(ps, node)) {
        node_free(node);
        return NULL;
    }
    return node;
}

static ln_rjson *parse_value(parser *ps)
{
    if (looking_at(ps, "'''"))
        return parse_node(ps, LN_RJSON_STRING, parse_string);
    for (size_t i = 0; i < sizeof(value_starts) / sizeof(*value_starts); i++) {
        const char c = peek(ps, 0);
        if (c && strchr(value_starts[i].first, c))
            return parse_node(ps, value_starts[i].type, value_starts[i].parse);
    }
    for (size_t i = 0; i < sizeof(value_words) / sizeof(*value_words); i++) {
        if (looking_at(ps, value_words[i].word)) {
            ln_rjson *node = node_create(ps, value_words[i].type);
            if (node)
                node->boolean = value_words[i].boolean;
            advance(ps, strlen(value_words[i].word));
            return node;
        }
    }
    fail_expected(ps, "a value");
    return NULL;
}

/* ---- UTF-8 ---- */

/** The length of the valid UTF-8 sequence at `p`, 0 when there is none (also for surrogates and
 * overlong forms). */
static size_t utf8_length(const unsigned char *p, size_t left)
{
    static const struct {
        unsigned char first_low, first_high, second_low, second_high;
        size_t len;
    } forms[] = {
        {0x00, 0x7F, 0, 0, 1},       {0xC2, 0xDF, 0x80, 0xBF, 2}, {0xE0, 0xE0, 0xA0, 0xBF, 3},
        {0xE1, 0xEC, 0x80, 0xBF, 3}, {0xED, 0xED, 0x80, 0x9F, 3}, {0xEE, 0xEF, 0x80, 0xBF, 3},
        {0xF0, 0xF0, 0x90, 0xBF, 4}, {0xF1, 0xF3, 0x80, 0xBF, 4}, {0xF4, 0xF4, 0x80, 0x8F, 4},
    };
    for (size_t i = 0; i < sizeof(forms) / sizeof(*forms); i++) {
        if (p[0] < forms[i].first_low || p[0] > forms[i].first_high)
            continue;
        if (forms[i].len > left)
            return 0;
        if (forms[i].len > 1 && (p[1] < forms[i].second_low || p[1] > forms[i].second_high))
            return 0;
        for (size_t k = 2; k < forms[i].len; k++) {
            if ((p[k] & 0xC0) != 0x80)
                return 0;
        }
        return forms[i].len;
    }
    return 0;
}

static int check_utf8(parser ps)
{
    while (!at_end(&ps)) {
        const size_t len = utf8_length((const unsigned char *)ps.p, (size_t)(ps.end - ps.p));
        if (len == 0)
            return fail_here(&ps, "byte 0x%02X is not UTF-8 here", (unsigned)(unsigned char)*ps.p);
        advance(&ps, len);
    }
    return 0;
}

/* ---- the public functions ---- */

static ln_rjson *parse_text(parser *ps)
{
    if (check_utf8(*ps))
        return NULL;
    skip_blanks(ps);
    ln_rjson *root = parse_value(ps);
    if (!root)
        return NULL;
    skip_blanks(ps);
    if (!at_end(ps)) {
        fail_expected(ps, "the end of the text");
        node_free(root);
        return NULL;
    }
    return root;
}

ln_rjson *ln_rjson_parse(const char *name, const char *text, size_t len, ln_error *err)
{
    if (len > LN_MAX_TEXT) {
        ln_error_set(err, "%s: %zu bytes, expected at most %zu", name, len, LN_MAX_TEXT);
        return NULL;
    }
    char *file = ln_strdup(name);
    if (!file) {
        ln_error_set(err, "%s: out of memory", name);
        return NULL;
    }
    parser ps = {.file = file, .p = text, .end = text + len, .line = 1, .column = 1, .err = err};
    ln_rjson *root = parse_text(&ps);
    if (!root)
        ln_free(file);
    return root;
}

ln_rjson *ln_rjson_read(const char *file, ln_error *err)
{
    char *text = ln_read_text(file);
    if (!text) {
        if (err)
            ln_error_set(err, "%s", ln_last_error());
        return NULL;
    }
    ln_rjson *root = ln_rjson_parse(file, text, strlen(text), err);
    ln_free(text);
    return root;
}

void ln_rjson_free(ln_rjson *root)
{
    if (!root)
        return;
    char *file = (char *)root->file; // every node borrows it, the root owns it
    node_free(root);
    ln_free(file);
}

ln_rjson *ln_rjson_get(const ln_rjson *object, const char *key)
{
    if (object->type != LN_RJSON_OBJECT)
        return NULL;
    for (size_t i = 0; i < object->len; i++) {
        if (strcmp(object->items[i]->key, key) == 0)
            return object->items[i];
    }
    return NULL;
}

const char *ln_rjson_type_name(ln_rjson_type type)
{
    static const char *const names[] = {
        [LN_RJSON_NULL] = "null",       [LN_RJSON_BOOL] = "a bool",
        [LN_RJSON_NUMBER] = "a number", [LN_RJSON_STRING] = "a string",
        [LN_RJSON_ARRAY] = "an array",  [LN_RJSON_OBJECT] = "an object",
    };
    return names[type];
}

int ln_rjson_fail(const ln_rjson *node, ln_error *err, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    fail_at(node->file, node->line, node->column, err, fmt, args);
    va_end(args);
    return -1;
}

int ln_rjson_fail_key(const ln_rjson *node, ln_error *err, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    fail_at(node->file, node->key_line, node->key_column, err, fmt, args);
    va_end(args);
    return -1;
}

static void print_string(FILE *stream, const char *text)
{
    fputc('"', stream);
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            fprintf(stream, "\\%c", *text);
        else if (*text == '\n')
            fputs("\\n", stream);
        else if ((unsigned char)*text < ' ')
            fprintf(stream, "\\u%04x", (unsigned)*text);
        else
            fputc(*text, stream);
    }
    fputc('"', stream);
}

void ln_rjson_print(FILE *stream, const ln_rjson *node)
{
    const int is_object = node->type == LN_RJSON_OBJECT;
    switch (node->type) {
    case LN_RJSON_NULL:
        fputs("null", stream);
        break;
    case LN_RJSON_BOOL:
        fputs(node->boolean ? "true" : "false", stream);
        break;
    case LN_RJSON_NUMBER:
        fputs(node->text, stream);
        break;
    case LN_RJSON_STRING:
        print_string(stream, node->text);
        break;
    case LN_RJSON_ARRAY:
    case LN_RJSON_OBJECT:
        fputc(is_object ? '{' : '[', stream);
        for (size_t i = 0; i < node->len; i++) {
            fputs(i ? ", " : "", stream);
            if (is_object) {
                print_string(stream, node->items[i]->key);
                fputs(": ", stream);
            }
            ln_rjson_print(stream, node->items[i]);
        }
        fputc(is_object ? '}' : ']', stream);
        break;
    }
}
