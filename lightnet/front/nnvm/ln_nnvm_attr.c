// SPDX-License-Identifier: Apache-2.0
// Attributes of a node: the syntax of their values, and reading them.

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ln_name.h"
#include "base/ln_number.h"
#include "front/nnvm/ln_nnvm.h"

// Syntax

static const char *skip_blanks(const char *at)
{
    return at + strspn(at, " \t\r\n");
}

// Parses an integer. Returns the text after it; NULL: invalid.
static const char *scan_int(const char *at, int64_t *value)
{
    char *end;
    errno = 0;
    const long long number = strtoll(at, &end, 10);
    if (end == at || errno)
        return NULL;
    *value = number;
    return end + (*end == 'L'); // as Python 2 wrote long integers
}

static const char *scan_float(const char *at, double *value)
{
    char *end;
    *value = ln_number_read(at, &end);
    return end == at ? NULL : end;
}

int ln_nnvm_parse_int(const char *text, int64_t *value)
{
    const char *end = scan_int(text, value);
    return end && !*skip_blanks(end) ? 0 : -1;
}

static int parse_float(const char *text, double *value)
{
    const char *end = scan_float(text, value);
    return end && !*skip_blanks(end) ? 0 : -1;
}

static int parse_bool(const char *text, int *value)
{
    static const char *const words[] = {"false", "true"};
    char word[8] = "";
    size_t len = 0;
    for (; text[len] && len + 1 < sizeof(word); len++)
        word[len] = (char)(text[len] >= 'A' && text[len] <= 'Z' ? text[len] + 32 : text[len]);
    for (int i = 0; i < 2; i++)
        if (!text[len] && (!strcmp(word, words[i]) || (len == 1 && word[0] == '0' + i))) {
            *value = i;
            return 0;
        }
    return -1;
}

static const char *scan_element(const char *at, int64_t *ints, double *floats)
{
    if (ints && !strncmp(at, "None", 4)) {
        *ints = LN_NNVM_NONE;
        return at + 4;
    }
    return ints ? scan_int(at, ints) : scan_float(at, floats);
}

int ln_nnvm_parse_tuple(const char *text, int64_t *ints, double *floats)
{
    int depth = 0, len = 0, expected = 1; // a number or a bracket may come next
    const char *at = skip_blanks(text);
    for (; *at; at = skip_blanks(at)) {
        if (*at == '(' || *at == '[') {
            if (!expected || depth++ == 2)
                return -1;
            at++;
        } else if (*at == ')' || *at == ']') {
            if (depth-- == 0)
                return -1;
            expected = 0;
            at++;
        } else if (*at == ',') {
            if (expected || !depth)
                return -1;
            expected = 1;
            at++;
        } else {
            if (!expected || len == LN_NNVM_MAX_TUPLE)
                return -1;
            at = scan_element(at, ints ? ints + len : NULL, floats ? floats + len : NULL);
            if (!at)
                return -1;
            len++;
            expected = 0;
        }
    }
    return depth == 0 && (len || strpbrk(text, "([")) ? len : -1;
}

static const struct dtype {
    const char *name;
    tl_dtype dtype;
} dtypes[] = {
    {"float32", TL_FLOAT},     {"float64", TL_DOUBLE}, {"float16", TL_FLOAT16},
    {"uint8", TL_UINT8},       {"int32", TL_INT32},    {"int8", TL_INT8},
    {"int64", TL_INT64},       {"bool", TL_BOOL},      {"int16", TL_INT16},
    {"uint16", TL_UINT16},     {"uint32", TL_UINT32},  {"uint64", TL_UINT64},
    {"bfloat16", TL_BFLOAT16},
};

tl_dtype ln_nnvm_parse_dtype(const char *text)
{
    const struct dtype *const row = LN_ROW_NAMED(dtypes, text);
    return row ? row->dtype : TL_DTYPE_INVALID;
}

const char *ln_nnvm_dtype_name(tl_dtype dtype)
{
    for (size_t i = 0; i < sizeof(dtypes) / sizeof(dtypes[0]); i++)
        if (dtypes[i].dtype == dtype)
            return dtypes[i].name;
    return NULL;
}

// The attributes of a node

// The emitter is the node's first member.
static const char *find(const ln_emit *e, const char *key)
{
    const char *text = ln_nnvm_graph_attr(((const ln_nnvm_node *)e)->vertex, key);
    return text && strcmp(text, "None") != 0 ? text : NULL;
}

// Reads up to one of the characters `ends`. Returns the rest.
static const char *scan_word(const char *at, const char *ends, char word[40])
{
    const size_t len = strcspn(at, ends);
    snprintf(word, 40, "%.*s", (int)len, at);
    return at + len;
}

const char *ln_nnvm_next_rename(const char *attrs, ln_nnvm_rename *r)
{
    *r = (ln_nnvm_rename){.is_needed = 0};
    if (!attrs)
        return NULL;
    attrs += strspn(attrs, " ");
    if (!*attrs)
        return NULL;
    r->is_needed = *attrs == '!';
    r->is_added = *attrs == '+';
    attrs = scan_word(attrs + (r->is_needed || r->is_added), "=: ", r->key);
    memcpy(r->core_key, r->key, sizeof(r->key));
    if (*attrs == '=')
        attrs = scan_word(attrs + 1, ": ", r->core_key);
    return *attrs == ':' ? scan_word(attrs + 1, " ", r->deflt) : attrs;
}

const char *ln_nnvm_key(ln_nnvm_node *n, const char *key)
{
    const ln_nnvm_vertex *origin = n->vertex->origin;
    ln_nnvm_rename r;
    for (const char *at = origin ? origin->row->attrs : NULL; (at = ln_nnvm_next_rename(at, &r));)
        if (r.key[0] && !strcmp(r.core_key, key)) {
            const char *own = ln_translation_print(&n->model->base, "%s", r.key);
            return own ? own : key;
        }
    return key;
}

static void fail_value(ln_emit *e, const char *key, const char *text, const char *expected)
{
    ln_emit_fail(e, "attribute '%s' is \"%.200s\", expected %s",
                 ln_nnvm_key((ln_nnvm_node *)e, key), text, expected);
}

int ln_nnvm_has_none(ln_nnvm_node *n, const char *key)
{
    return ln_nnvm_graph_attr(n->vertex, key) && !find(&n->emit, key);
}

int ln_nnvm_floats(ln_nnvm_node *n, const char *key, double values[LN_NNVM_MAX_TUPLE])
{
    const char *text = find(&n->emit, key);
    const int len = text ? ln_nnvm_parse_tuple(text, NULL, values) : -1;
    if (text && len < 0)
        fail_value(&n->emit, key, text, "a tuple of numbers");
    return len;
}

// The reader

static int has(const ln_emit *e, const char *key)
{
    return find(e, key) != NULL;
}

static int64_t integer(ln_emit *e, const char *key, int64_t deflt)
{
    const char *const text = find(e, key);
    int64_t value = deflt;
    if (text && ln_nnvm_parse_int(text, &value))
        fail_value(e, key, text, "an integer");
    return value;
}

static double number(ln_emit *e, const char *key, double deflt)
{
    const char *const text = find(e, key);
    double value = deflt;
    if (text && parse_float(text, &value))
        fail_value(e, key, text, "a number");
    return value;
}

static int flag(ln_emit *e, const char *key, int deflt)
{
    const char *const text = find(e, key);
    int value = deflt;
    if (text && parse_bool(text, &value))
        fail_value(e, key, text, "True or False");
    return value;
}

static const char *text_of(ln_emit *e, const char *key, const char *deflt)
{
    const char *const text = find(e, key);
    return text ? text : deflt;
}

static tl_dtype dtype_of(ln_emit *e, const char *key, tl_dtype deflt)
{
    const char *const text = find(e, key);
    const tl_dtype dtype = text ? ln_nnvm_parse_dtype(text) : deflt;
    if (dtype == TL_DTYPE_INVALID)
        fail_value(e, key, text, "a data type, such as float32");
    return dtype == TL_DTYPE_INVALID ? TL_FLOAT : dtype;
}

static const int64_t *integers(ln_emit *e, const char *key, int *len)
{
    const char *const text = find(e, key);
    int64_t *const values =
        text ? ln_translation_alloc(e->translation, LN_NNVM_MAX_TUPLE * sizeof(*values)) : NULL;
    *len = values ? ln_nnvm_parse_tuple(text, values, NULL) : 0;
    if (*len >= 0)
        return values;
    fail_value(e, key, text, "a tuple of integers");
    *len = 0;
    return NULL;
}

static const char *name(ln_emit *e, const char *key)
{
    return ln_nnvm_key((ln_nnvm_node *)e, key);
}

const ln_attr_reader ln_nnvm_attrs = {has,     integer,  number,   flag,
                                      text_of, dtype_of, integers, name};
