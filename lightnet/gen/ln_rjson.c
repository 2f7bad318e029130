// SPDX-License-Identifier: Apache-2.0
// Relaxed JSON: asking, complaining about and printing values. The parser is ln_rjson_parse.c.

#include "gen/ln_rjson.h"

#include <string.h>

#include "base/ln_scan.h"

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
