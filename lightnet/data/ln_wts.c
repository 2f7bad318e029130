// SPDX-License-Identifier: Apache-2.0
// wts: reading.

#include "data/ln_wts.h"

#include <limits.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "lightnet/ln_util.h"
#include "tensorlight/tl_util.h"

const ln_wts_type ln_wts_types[LN_WTS_NUM_TYPES] = {
    {TL_FLOAT, 8},
    {TL_FLOAT16, 4},
    {TL_INT8, 2},
};

static int is_digit(char ch)
{
    return ch >= '0' && ch <= '9';
}

// Not isalpha, which follows the locale.
static int is_letter(char ch)
{
    return (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z') || ch == '_';
}

size_t ln_wts_identifier(const char *text, size_t len)
{
    size_t i = 0;
    while (i < len && (is_letter(text[i]) || (i && is_digit(text[i]))))
        i++;
    return i;
}

// The position of the reader in the text, of which a window is in memory.
typedef struct cursor {
    const char *at, *end;
    size_t next; // the offset in the file of the end of the window
    size_t line;
    const char *file;
    ln_error *err;
    int has_failed; // the reason is recorded, and nothing more is read
    ln_view view;
} cursor;

// The max length of a word: that of a name.
enum { LONGEST_WORD = LN_MAX_NAME_LEN };

static size_t rest(const cursor *c)
{
    return (size_t)(c->end - c->at) + (c->view.file->size - c->next);
}

// Moves the window if it may not contain the whole next word.
static void refill(cursor *c)
{
    const size_t seen = (size_t)(c->end - c->at), all = rest(c);
    if (seen > LONGEST_WORD || seen == all)
        return;
    const size_t begin = c->next - seen, size = all < LN_VIEW_SIZE ? all : LN_VIEW_SIZE;
    const unsigned char *text = ln_view_at(&c->view, begin, size, c->err);
    if (!text) {
        ln_error_prefix(c->err, "%s", c->file);
        c->has_failed = 1;
        c->at = c->end;
        c->next = c->view.file->size;
        return;
    }
    c->at = (const char *)text;
    c->end = c->at + size;
    c->next = begin + size;
}

static int is_end(cursor *c)
{
    refill(c);
    return c->at == c->end;
}

static int LN_PRINTF(2, 3) fail(const cursor *c, const char *fmt, ...)
{
    char reason[LN_MAXLINE];
    va_list args;
    if (c->has_failed)
        return -1;
    va_start(args, fmt);
    vsnprintf(reason, sizeof(reason), fmt, args);
    va_end(args);
    return ln_error_set(c->err, "%s:%zu: %s", c->file, c->line, reason);
}

static int is_blank(char ch)
{
    return ch == ' ' || ch == '\t' || ch == '\r';
}

static void skip_blanks(cursor *c)
{
    while (!is_end(c) && is_blank(*c->at))
        c->at++;
}

// The next word of the line and its length; 0: the line ends.
static size_t take_word(cursor *c, const char **word)
{
    skip_blanks(c);
    *word = c->at;
    while (c->at < c->end && !is_blank(*c->at) && *c->at != '\n')
        c->at++;
    if (c->at == c->end && rest(c)) {
        fail(c, "a word has more than %d bytes", LONGEST_WORD);
        c->has_failed = 1;
        return 0;
    }
    return (size_t)(c->at - *word);
}

static int end_line(cursor *c)
{
    skip_blanks(c);
    if (c->at < c->end && *c->at != '\n')
        return fail(c, "the line continues with '%c', expected its end", *c->at);
    if (c->at < c->end)
        c->at++;
    c->line++;
    return 0;
}

static int take_number(cursor *c, const char *what, int max, int *number)
{
    const char *word;
    const size_t len = take_word(c, &word);
    int64_t value = 0;
    size_t i = 0;
    for (; i < len && is_digit(word[i]) && value <= max; i++)
        value = 10 * value + (word[i] - '0');
    if (!len || i < len || value > max)
        return fail(c, "%s is '%.*s', expected a number from 0 to %d", what,
                    (int)(len < 32 ? len : 32), word, max);
    *number = (int)value;
    return 0;
}

static int take_name(cursor *c, char *name)
{
    const char *word;
    const size_t len = take_word(c, &word);
    if (!len || ln_wts_identifier(word, len) < len || len >= LN_MAX_NAME_LEN)
        return fail(c, "the name is '%.*s', expected a C identifier of at most %d characters",
                    (int)(len < 32 ? len : 32), word, LN_MAX_NAME_LEN - 1);
    memcpy(name, word, len);
    name[len] = '\0';
    return 0;
}

static int hex_digit(char ch)
{
    if (is_digit(ch))
        return ch - '0';
    if ((ch >= 'a' && ch <= 'f') || (ch >= 'A' && ch <= 'F'))
        return (ch | 0x20) - 'a' + 10;
    return -1;
}

static int take_bits(cursor *c, const char *name, int i, int digits, uint32_t *bits)
{
    const char *word;
    const size_t len = take_word(c, &word);
    if (!len)
        return fail(c, "array '%s' ends after %d elements", name, i);
    *bits = 0;
    size_t k = 0;
    for (; k < len && k < (size_t)digits && hex_digit(word[k]) >= 0; k++)
        *bits = *bits << 4 | (uint32_t)hex_digit(word[k]);
    if (k < len)
        return fail(c, "array '%s': element %d is '%.*s', expected 1 to %d hexadecimal digits",
                    name, i, (int)(len < 32 ? len : 32), word, digits);
    return 0;
}

static int take_elements(cursor *c, const char *name, const ln_wts_type *type, tl_tensor *tensor)
{
    const size_t size = tl_size_of(type->dtype);
    for (int i = 0; i < tensor->len; i++) {
        uint32_t bits = 0;
        if (take_bits(c, name, i, type->digits, &bits))
            return -1;
        memcpy((char *)tensor->data + (size_t)i * size, &bits, size); // little-endian hosts
    }
    return end_line(c);
}

// Fails for an array with the thread's last error.
static int fail_last(const cursor *c, const char *name)
{
    ln_error_set_last(c->err);
    return ln_error_prefix(c->err, "%s:%zu: array '%s'", c->file, c->line, name);
}

// Memory of ln_alloc, which counts against a limit: the file decides the size. NULL with a reason.
static tl_tensor *make_array(const cursor *c, const char *name, int count, tl_dtype dtype)
{
    void *data = ln_alloc_array((size_t)count, tl_size_of(dtype));
    if (!data)
        return fail_last(c, name), NULL;
    tl_tensor *tensor = tl_tensor_create(data, 1, &count, dtype);
    if (!tensor) {
        fail(c, "array '%s': %s", name, tl_last_error());
        ln_free(data);
    }
    return tensor;
}

static void free_array(tl_tensor *tensor)
{
    ln_free(tensor->data);
    tl_tensor_free(tensor);
}

static int take_array(cursor *c, ln_bundle *bundle)
{
    char name[LN_MAX_NAME_LEN];
    int type, count;
    if (take_name(c, name) || take_number(c, "the type", LN_WTS_NUM_TYPES - 1, &type) ||
        take_number(c, "the count", INT_MAX, &count))
        return -1;
    // A word has two characters at least: allocates no memory that the file cannot fill.
    if ((size_t)count > rest(c) / 2)
        return fail(c, "array '%s' has %d elements, more than the rest of the file can hold", name,
                    count);
    tl_tensor *tensor = make_array(c, name, count, ln_wts_types[type].dtype);
    if (!tensor)
        return -1;
    if (take_elements(c, name, &ln_wts_types[type], tensor)) {
        free_array(tensor);
        return -1;
    }
    if (ln_bundle_add(bundle, name, tensor, 0)) {
        free_array(tensor);
        c->line--; // the line of the array
        return fail_last(c, name);
    }
    return 0;
}

int ln_wts_is(const ln_infile *in)
{
    size_t size;
    const unsigned char *head = ln_infile_head(in, &size);
    return size && is_digit((char)head[0]);
}

int ln_wts_parse(ln_bundle *bundle, const ln_infile *in, const char *file, ln_error *err)
{
    cursor c = {.line = 1, .file = file, .err = err, .view.file = in};
    int n;
    if (take_number(&c, "the number of arrays", INT_MAX, &n) || end_line(&c))
        return -1;
    for (int i = 0; i < n; i++) {
        if (is_end(&c) && !c.has_failed)
            return ln_error_set(err, "%s: the file ends after %d of %d arrays", file, i, n);
        if (take_array(&c, bundle))
            return -1;
    }
    while (!is_end(&c)) {
        if (*c.at != '\n' && !is_blank(*c.at))
            return fail(&c, "the file has more than the %d arrays of line 1", n);
        c.line += *c.at++ == '\n';
    }
    return c.has_failed ? -1 : 0;
}
