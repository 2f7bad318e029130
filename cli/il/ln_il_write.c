// SPDX-License-Identifier: Apache-2.0
// Writes JSON IR as IL: another spelling of the same tree.
//
// The caller checks for stream errors at the end.

#include "il/ln_il.h"

#include <ctype.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ln_error_memory.h"
#include "base/ln_json_load.h"
#include "base/ln_number.h"
#include "base/ln_outtext.h"
#include "lightnet/ln_util.h"

// Lines break at this column; the preprocessor's limit is 64 KiB.
enum { WIDTH = 100, MAX_STRING_LINE = 1000 };

typedef struct writer {
    FILE *fp;
    int indent;
    int column;
} writer;

static void begin_line(writer *w)
{
    fprintf(w->fp, "\n%*s", w->indent, "");
    w->column = w->indent;
}

static void put(writer *w, const char *text)
{
    fputs(text, w->fp);
    w->column += (int)strlen(text);
}

// After a comma, and between groups.
static void put_blank(writer *w)
{
    if (w->column > WIDTH - 20)
        begin_line(w);
    else
        put(w, " ");
}

// Names and values

// Words that need no quotes, whatever macros are defined.
static int is_identifier(const char *text)
{
    static const char *const words[] = {"true", "false", "null", "body", "defined"};
    if (!isalpha((unsigned char)*text))
        return 0;
    for (const char *p = text; *p; p++)
        if (!isalnum((unsigned char)*p) && *p != '_')
            return 0;
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (!strcmp(words[i], text))
            return 0;
    return 1;
}

static void put_char(writer *w, const char *at)
{
    static const char plain[] = "\"\\\b\f\n\r\t", letters[] = "\"\\bfnrt";
    char text[8] = {*at};
    const char *special = strchr(plain, *at);
    if (special)
        snprintf(text, sizeof(text), "\\%c", letters[special - plain]);
    else if (iscntrl((unsigned char)*at))
        snprintf(text, sizeof(text), "\\x%02x", (unsigned char)*at);
    else if ((at[0] == '$' && at[1] == '{') || (at[0] == '?' && at[1] == '?'))
        snprintf(text, sizeof(text), "\\%c", *at);
    put(w, text);
}

static int continues_character(char c)
{
    return ((unsigned char)c & 0xc0) == 0x80;
}

// Splits long strings into adjacent ones.
static void put_string(writer *w, const char *text)
{
    put(w, "\"");
    for (const char *p = text; *p; p++) {
        if (w->column > MAX_STRING_LINE && !continues_character(*p)) {
            put(w, "\"");
            begin_line(w);
            put(w, "\"");
        }
        put_char(w, p);
    }
    put(w, "\"");
}

static void put_name(writer *w, const char *name)
{
    if (is_identifier(name))
        put(w, name);
    else
        put_string(w, name);
}

static void put_number(writer *w, double number)
{
    char text[LN_NUMBER_SIZE];
    put(w, ln_number_print(text, sizeof(text), number));
}

static void put_separator(writer *w, int is_first)
{
    if (is_first)
        return;
    put(w, ",");
    put_blank(w);
}

static void put_value(writer *w, const json_t *value);

static void put_array(writer *w, const json_t *array)
{
    size_t i;
    const json_t *element;
    put(w, "[");
    json_array_foreach (array, i, element) {
        put_separator(w, i == 0);
        put_value(w, element);
    }
    put(w, "]");
}

// `sign` separates a key and its value.
static void put_members(writer *w, const json_t *object, const char *sign)
{
    int is_first = 1;
    const char *key;
    json_t *value;
    json_object_foreach ((json_t *)object, key, value) {
        put_separator(w, is_first);
        put_name(w, key);
        put(w, sign);
        put_value(w, value);
        is_first = 0;
    }
}

static void put_value(writer *w, const json_t *value)
{
    if (json_is_array(value)) {
        put_array(w, value);
    } else if (json_is_object(value)) {
        put(w, "{");
        put_members(w, value, ": ");
        put(w, "}");
    } else if (json_is_string(value)) {
        put_name(w, json_string_value(value));
    } else if (json_is_number(value)) {
        put_number(w, json_number_value(value));
    } else {
        put(w, json_is_true(value) ? "true" : json_is_false(value) ? "false" : "null");
    }
}

// Operators

// A tensor, perhaps at an offset, or a parameter.
static void put_argument(writer *w, const json_t *argument)
{
    const json_t *name = json_object_get(argument, "name");
    const json_t *offset = json_object_get(argument, "offset");
    put_name(w, json_string_value(json_object_get(argument, "arg_name")));
    put(w, "=");
    if (!name) {
        put_value(w, json_object_get(argument, "value"));
        return;
    }
    put_name(w, json_string_value(name));
    if (offset) {
        put(w, "@");
        put_number(w, json_number_value(offset));
    }
}

static void put_arguments(writer *w, const json_t *list)
{
    size_t i;
    const json_t *element;
    json_array_foreach (list, i, element) {
        put_separator(w, i == 0);
        put_argument(w, element);
    }
}

static void put_group(writer *w, const json_t *list, const json_t *before)
{
    if (json_array_size(before))
        put_blank(w);
    put(w, json_array_size(list) ? "| " : "|");
    put_arguments(w, list);
}

// Omits the name that the operator would have by default.
static int put_op_name(writer *w, const json_t *op, json_t *counts)
{
    char numbered[LN_MAX_NAME_LEN + 32];
    const char *optype = json_string_value(json_object_get(op, "optype"));
    const char *name = json_string_value(json_object_get(op, "name"));
    const json_int_t n = json_integer_value(json_object_get(counts, optype));
    snprintf(numbered, sizeof(numbered), "%s%lld", optype, (long long)n);
    if (strcmp(name, numbered) != 0) {
        put_name(w, name);
        put(w, ": ");
    }
    return json_object_set_new(counts, optype, json_integer(n + 1));
}

static int put_op(writer *w, const json_t *op, json_t *counts)
{
    const json_t *ins = json_object_get(op, "tensors_in");
    const json_t *outs = json_object_get(op, "tensors_out");
    const json_t *params = json_object_get(op, "params");
    const json_t *scratch = json_object_get(op, "scratch");
    const json_t *nodes = json_object_get(op, "nodes");
    begin_line(w);
    w->indent += 4;
    const int rc = put_op_name(w, op, counts);
    put_name(w, json_string_value(json_object_get(op, "optype")));
    put(w, "(");
    put_arguments(w, ins);
    put_group(w, outs, ins);
    if (json_array_size(params) || scratch || nodes)
        put_group(w, params, outs);
    if (scratch || nodes)
        put(w, " | ");
    if (scratch)
        put_members(w, scratch, "=");
    if (nodes) {
        put_separator(w, !scratch);
        put(w, "nodes=");
        put_value(w, nodes);
    }
    put(w, ");");
    w->indent -= 4;
    return rc;
}

// Programs

static void put_key(writer *w, const char *key, const json_t *value)
{
    begin_line(w);
    w->indent += 4;
    put(w, key);
    put(w, " = ");
    put_value(w, value);
    put(w, ";");
    w->indent -= 4;
}

static int put_program(writer *w, const json_t *program);

static int put_bodies(writer *w, const json_t *bodies)
{
    const char *name;
    json_t *body;
    json_object_foreach ((json_t *)bodies, name, body) {
        begin_line(w);
        put(w, "body ");
        put_name(w, name);
        put(w, " {");
        w->indent += 4;
        if (put_program(w, body))
            return -1;
        w->indent -= 4;
        begin_line(w);
        put(w, "}");
    }
    return 0;
}

static int put_ops(writer *w, const json_t *ops)
{
    json_t *counts = json_object();
    size_t i;
    const json_t *op;
    int rc = counts ? 0 : -1;
    json_array_foreach (ops, i, op)
        if (!rc)
            rc = put_op(w, op, counts);
    json_decref(counts);
    return rc;
}

static int put_program(writer *w, const json_t *program)
{
    const char *key;
    json_t *value;
    json_object_foreach ((json_t *)program, key, value) {
        if (!strcmp(key, "bodies")) {
            if (put_bodies(w, value))
                return -1;
        } else if (strcmp(key, "ops") != 0) {
            put_key(w, key, value);
        }
    }
    return put_ops(w, json_object_get(program, "ops"));
}

static int write_tree(FILE *fp, const void *arg, ln_error *err)
{
    writer w = {.fp = fp};
    fputs("// LightNet IL", fp);
    if (put_program(&w, arg))
        return ln_error_memory(err);
    fputs("\n", fp);
    return 0;
}

int ln_il_write(ln_outfile_func print, const void *arg, const char *file, ln_error *err)
{
    size_t len;
    char *json = ln_outtext(print, arg, &len, err);
    if (!json)
        return -1;
    json_t *tree = ln_json_load(json, len, JSON_DECODE_INT_AS_REAL, file, "JSON", err);
    free(json);
    if (!tree)
        return -1;
    const int rc = ln_outfile_write_or_print(file, write_tree, tree, err);
    json_decref(tree);
    return rc;
}
