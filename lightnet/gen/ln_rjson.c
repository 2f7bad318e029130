// SPDX-License-Identifier: Apache-2.0
// Relaxed JSON: asking, complaining about and printing values; a recursive-descent parser with
// positions.

#include "gen/ln_rjson.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/ln_array.h"
#include "base/ln_error_memory.h"
#include "base/ln_scan.h"
#include "lightnet/ln_util.h"

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
    const ln_scan at = {.file = node->file, .line = node->line, .column = node->column, .err = err};
    va_list args;
    va_start(args, fmt);
    ln_scan_vfail(&at, fmt, args);
    va_end(args);
    return -1;
}

int ln_rjson_fail_key(const ln_rjson *node, ln_error *err, const char *fmt, ...)
{
    const ln_scan at = {
        .file = node->file, .line = node->key_line, .column = node->key_column, .err = err};
    va_list args;
    va_start(args, fmt);
    ln_scan_vfail(&at, fmt, args);
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

// Nodes

static ln_rjson *node_create(const ln_scan *ps, ln_rjson_type type)
{
    ln_rjson *node = ln_alloc(sizeof(*node));
    if (!node)
        return ln_scan_fail_memory(ps), NULL;
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

// Appends `item` (takes it) to an array or object.
static int node_append(const ln_scan *ps, ln_rjson *node, ln_rjson *item)
{
    if (ln_array_grow(&node->items, node->len, sizeof(*node->items)))
        return ln_scan_fail_memory(ps);
    node->items[node->len++] = item;
    return 0;
}

// Strings and numbers

// The content of a string and those that follow it, up to a key. Returns new; NULL on failure.
static char *parse_quoted(ln_scan *ps)
{
    ln_scan_text text = {0};
    ln_scan next = *ps;
    for (int n = 0; n == 0 || ln_scan_peek(&next, 0) == '"'; n++) {
        const size_t len = text.len;
        if (ln_scan_string(&next, &text, 0)) {
            ln_free(text.at);
            return NULL;
        }
        const ln_scan end = next;
        ln_scan_blanks(&next);
        if (n > 0 && ln_scan_peek(&next, 0) == ':') {
            text.at[len] = '\0';
            break;
        }
        *ps = end;
    }
    return text.at;
}

static int parse_string(ln_scan *ps, ln_rjson *node)
{
    node->is_block = ln_scan_at(ps, "'''");
    node->text_line = ps->line;
    if (node->is_block)
        node->text = ln_scan_block(ps, &node->text_line);
    else
        node->text = parse_quoted(ps);
    return node->text ? 0 : -1;
}

static size_t count_digits(const ln_scan *ps, size_t from)
{
    size_t n = 0;
    while (ln_scan_peek(ps, from + n) >= '0' && ln_scan_peek(ps, from + n) <= '9')
        n++;
    return n;
}

// The length of the number at the parser's place by JSON's grammar; 0: there is none.
static size_t number_length(const ln_scan *ps)
{
    size_t len = ln_scan_peek(ps, 0) == '-';
    size_t digits = count_digits(ps, len);
    if (digits == 0 || (digits > 1 && ln_scan_peek(ps, len) == '0'))
        return 0;
    len += digits;
    if (ln_scan_peek(ps, len) == '.') {
        digits = count_digits(ps, len + 1);
        if (digits == 0)
            return 0;
        len += 1 + digits;
    }
    if (ln_scan_peek(ps, len) == 'e' || ln_scan_peek(ps, len) == 'E') {
        const size_t sign = ln_scan_peek(ps, len + 1) == '+' || ln_scan_peek(ps, len + 1) == '-';
        digits = count_digits(ps, len + 1 + sign);
        if (digits == 0)
            return 0;
        len += 1 + sign + digits;
    }
    return len;
}

static int parse_number(ln_scan *ps, ln_rjson *node)
{
    const size_t len = number_length(ps);
    if (len == 0)
        return ln_scan_fail(ps, "not a JSON number");
    node->text = ln_scan_copy(ps, len);
    if (!node->text)
        return -1;
    node->number = strtod(node->text, NULL);
    if (!isfinite(node->number))
        return ln_scan_fail(ps, "number %.64s is beyond the range of double", node->text);
    ln_scan_step(ps, len);
    return 0;
}

static ln_rjson *parse_value(ln_scan *ps);

static int parse_item(ln_scan *ps, ln_rjson *array)
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

// A word, or a string. Returns new; NULL on failure.
static char *parse_key(ln_scan *ps)
{
    if (ln_scan_peek(ps, 0) == '"')
        return ln_scan_quoted(ps);
    size_t len = 0;
    while (isalnum((unsigned char)ln_scan_peek(ps, len)) || ln_scan_peek(ps, len) == '_')
        len++;
    char *key = len > 0 ? ln_scan_copy(ps, len) : NULL;
    if (key)
        ln_scan_step(ps, len);
    else if (len == 0)
        ln_scan_expected(ps, "a key");
    return key;
}

static int parse_member(ln_scan *ps, ln_rjson *object)
{
    const int key_line = ps->line, key_column = ps->column;
    char *key = parse_key(ps);
    if (!key)
        return -1;
    ln_scan_blanks(ps);
    if (ln_scan_peek(ps, 0) != ':') {
        ln_free(key);
        return ln_scan_expected(ps, "':' after the key");
    }
    ln_scan_step(ps, 1);
    ln_scan_blanks(ps);
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

// Orders members by key, equal keys by place.
static int compare_members(const void *a, const void *b)
{
    const ln_rjson *m1 = *(ln_rjson *const *)a, *m2 = *(ln_rjson *const *)b;
    const int order = strcmp(m1->key, m2->key);
    if (order)
        return order;
    return m1->key_line != m2->key_line ? m1->key_line - m2->key_line
                                        : m1->key_column - m2->key_column;
}

// -1 if a key occurs twice. Sorts them, so that the time stays bounded for any text.
static int check_keys(const ln_scan *ps, const ln_rjson *object)
{
    if (object->len < 2)
        return 0;
    ln_rjson **sorted = ln_clone(object->items, object->len * sizeof(ln_rjson *));
    if (!sorted)
        return ln_scan_fail_memory(ps);
    qsort(sorted, object->len, sizeof(ln_rjson *), compare_members);
    int result = 0;
    for (size_t i = 1; i < object->len && !result; i++) {
        if (strcmp(sorted[i - 1]->key, sorted[i]->key) == 0)
            result =
                ln_rjson_fail_key(sorted[i], ps->err, "key \"%s\" occurs twice", sorted[i]->key);
    }
    ln_free(sorted);
    return result;
}

// Parses the items of an array or object after its opening bracket, and the closing one.
static int parse_items(ln_scan *ps, ln_rjson *node)
{
    const int is_object = node->type == LN_RJSON_OBJECT;
    const char close = is_object ? '}' : ']';
    if (++ps->depth > LN_RJSON_MAX_DEPTH)
        return ln_scan_fail(ps, "nested deeper than %d levels", LN_RJSON_MAX_DEPTH);
    ln_scan_step(ps, 1);
    ln_scan_blanks(ps);
    while (ln_scan_peek(ps, 0) != close) {
        if (is_object ? parse_member(ps, node) : parse_item(ps, node))
            return -1;
        ln_scan_blanks(ps);
        if (ln_scan_peek(ps, 0) == ',') {
            ln_scan_step(ps, 1);
            ln_scan_blanks(ps);
        } else if (ln_scan_peek(ps, 0) != close) {
            return ln_scan_expected(ps, is_object ? "',' or '}'" : "',' or ']'");
        }
    }
    ln_scan_step(ps, 1);
    ps->depth--;
    return is_object ? check_keys(ps, node) : 0;
}

// The first character determines the type of a value.
typedef struct value_start {
    const char *first; // one of these characters
    ln_rjson_type type;
    int (*parse)(ln_scan *ps, ln_rjson *node);
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

static ln_rjson *parse_node(ln_scan *ps, ln_rjson_type type, int (*parse)(ln_scan *, ln_rjson *))
{
    ln_rjson *node = node_create(ps, type);
    if (node && parse(ps, node)) {
        node_free(node);
        return NULL;
    }
    return node;
}

static ln_rjson *parse_value(ln_scan *ps)
{
    if (ln_scan_at(ps, "'''"))
        return parse_node(ps, LN_RJSON_STRING, parse_string);
    for (size_t i = 0; i < sizeof(value_starts) / sizeof(*value_starts); i++) {
        const char c = ln_scan_peek(ps, 0);
        if (c && strchr(value_starts[i].first, c))
            return parse_node(ps, value_starts[i].type, value_starts[i].parse);
    }
    for (size_t i = 0; i < sizeof(value_words) / sizeof(*value_words); i++) {
        if (ln_scan_at(ps, value_words[i].word)) {
            ln_rjson *node = node_create(ps, value_words[i].type);
            if (node)
                node->boolean = value_words[i].boolean;
            ln_scan_step(ps, strlen(value_words[i].word));
            return node;
        }
    }
    ln_scan_expected(ps, "a value");
    return NULL;
}

// The public functions

static ln_rjson *parse_text(ln_scan *ps)
{
    if (ln_scan_check_utf8(*ps))
        return NULL;
    ln_scan_blanks(ps);
    ln_rjson *root = parse_value(ps);
    if (!root)
        return NULL;
    ln_scan_blanks(ps);
    if (!ln_scan_is_end(ps)) {
        ln_scan_expected(ps, "the end of the text");
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
    if (!file)
        return ln_error_memory_at(err, name), NULL;
    ln_scan ps = {.file = file, .p = text, .end = text + len, .line = 1, .column = 1, .err = err};
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

// The notations of the first LightNet

static const char *skip_to(const char *p, const char *end)
{
    const char *found = strstr(p, end);
    return found ? found + strlen(end) : p + strlen(p);
}

static const char *skip_blanks(const char *p)
{
    for (;;) {
        p += strspn(p, " \t\r\n");
        if (*p == '#' || !strncmp(p, "//", 2))
            p = skip_to(p, "\n");
        else if (!strncmp(p, "/*", 2))
            p = skip_to(p + 2, "*/");
        else
            return p;
    }
}

// The text after an identifier and blanks; NULL: there is none.
static const char *skip_word(const char *p)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789";
    const size_t len = strspn(p, letters);
    return len ? skip_blanks(p + len) : NULL;
}

// "run: `...`", also with a quoted key
static int has_backquoted_value(const char *text)
{
    for (const char *p = strchr(text, ':'); p; p = strchr(p + 1, ':'))
        if (*skip_blanks(p + 1) == '`')
            return 1;
    return 0;
}

int ln_oldnote_is_op(const char *text)
{
    const char *const begin = skip_blanks(text);
    const char *p = skip_word(begin); // "relu {" or "relu_cpu : relu {"
    if (p && *p == ':')
        p = skip_word(skip_blanks(p + 1));
    if (p && *p == '{')
        return 1;
    p = *begin == '{' ? skip_word(skip_blanks(begin + 1)) : NULL; // "{ optype:"
    return (p && *p == ':') || has_backquoted_value(begin);
}

int ln_oldnote_is_opt(const ln_rjson *root)
{
    return root->type == LN_RJSON_OBJECT && ln_rjson_get(root, "author");
}
