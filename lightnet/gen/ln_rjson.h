// SPDX-License-Identifier: Apache-2.0
// Relaxed JSON: the reader of operator and optimizer descriptions, which records locations.
//
// Descriptions are JSON with five additions: comments from `//` to the end of the line; a comma
// after the last item of an array or object; keys that are words without quotes; strings that
// continue in the strings after them; strings over several lines between two ''', the first of
// which ends its line, while the text between the lines is taken literally. Jansson, which reads
// models, keeps no positions, and errors in a description are reported as FILE:LINE:COLUMN.
//
//     ln_rjson *root = ln_rjson_read("conv.op", NULL);
//     const ln_rjson *ops = ln_rjson_get(root, "ops");
//     if (ops->type != LN_RJSON_ARRAY)
//         return ln_rjson_fail(ops, NULL, "\"ops\" is %s, expected an array",
//         ln_rjson_type_name(ops->type));
//     ln_rjson_free(root);

#pragma once

#include <stddef.h>
#include <stdio.h>

#include "lightnet/ln_msg.h"

/** Deepest nesting of arrays and objects. */
#define LN_RJSON_MAX_DEPTH 64

typedef enum ln_rjson_type {
    LN_RJSON_NULL,
    LN_RJSON_BOOL,
    LN_RJSON_NUMBER,
    LN_RJSON_STRING,
    LN_RJSON_ARRAY,
    LN_RJSON_OBJECT,
} ln_rjson_type;

/** A value, its location, and its key if it is a member of an object. Lines and columns count from
 * 1, columns in characters. */
typedef struct ln_rjson {
    ln_rjson_type type;
    const char *file; // the name given to the reader; borrowed from the root
    int line;         // where the value begins
    int column;
    char *key; // members of objects: the key; else NULL
    int key_line;
    int key_column;

    int boolean;   // LN_RJSON_BOOL: 0 or 1
    double number; // LN_RJSON_NUMBER
    char *text;    // LN_RJSON_STRING: its content; LN_RJSON_NUMBER: as written; else NULL
    int text_line; // LN_RJSON_STRING: the line of the first character of the content
    int is_block;  // LN_RJSON_STRING: it was written between '''

    struct ln_rjson **items; // LN_RJSON_ARRAY, LN_RJSON_OBJECT: in the order of the text
    size_t len;              // the number of items
} ln_rjson;

/** Parses `len` bytes of text; `name` is the file's name in messages. Returns new (ln_rjson_free).
 * NULL with "NAME:LINE:COLUMN: reason" in `err` (NULL: the thread's last error): a syntax error,
 * invalid UTF-8, a duplicate key, a number beyond double, nesting deeper than
 * LN_RJSON_MAX_DEPTH. */
ln_rjson *ln_rjson_parse(const char *name, const char *text, size_t len, ln_error *err);

/** ln_rjson_parse for the content of a file. */
ln_rjson *ln_rjson_read(const char *file, ln_error *err);

/** Frees a root with everything below it. Ignores NULL. */
void ln_rjson_free(ln_rjson *root);

/** The member of an object with that key; NULL: none, or `object` is not an object. Returns
 * borrowed (until the root is freed). */
ln_rjson *ln_rjson_get(const ln_rjson *object, const char *key);

/** "null", "a bool", "a number", "a string", "an array" or "an object", for messages. */
const char *ln_rjson_type_name(ln_rjson_type type);

/** Records "FILE:LINE:COLUMN: reason" for the location of a value; returns -1. */
int ln_rjson_fail(const ln_rjson *node, ln_error *err, const char *fmt, ...) LN_PRINTF(3, 4);

/** ln_rjson_fail for the location of a member's key. */
int ln_rjson_fail_key(const ln_rjson *node, ln_error *err, const char *fmt, ...) LN_PRINTF(3, 4);

/** Prints a value as strict JSON on one line, without a newline at the end. */
void ln_rjson_print(FILE *stream, const ln_rjson *node);

// The notations of the first LightNet, recognized to name the new ones

/** Whether the text is an operator description in the old notation: `relu_cpu : relu {` or `relu
 * {`, keys without quotes, values in backquotes. For texts that are not relaxed JSON. */
int ln_oldnote_is_op(const char *text);

/** Whether the file is an old optimizer description, which names its author. */
int ln_oldnote_is_opt(const ln_rjson *root);
