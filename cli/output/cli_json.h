// SPDX-License-Identifier: Apache-2.0
// Prints a JSON document, member by member.
//
//     cli_json json = {0};
//     cli_json_open(&json, NULL, '{');
//     cli_json_text(&json, "model", "digits.onnx");
//     cli_json_shape(&json, "shape", t->ndim, t->dims);
//     cli_json_close(&json);
//
// The key is NULL for the document itself and for elements of arrays.

#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { CLI_JSON_DEPTH = 10 };

/** All zero: a document for standard output, at its beginning. */
typedef struct cli_json {
    FILE *fp;                  // NULL: standard output
    int is_line;               // the document is one line; else the members of the document, and
                               // theirs, begin lines
    int depth;                 // open objects and arrays, at most CLI_JSON_DEPTH
    char ends[CLI_JSON_DEPTH]; // the closing bracket of each
    int n[CLI_JSON_DEPTH + 1]; // members so far, at each depth
} cli_json;

/** Begins an object, '{', or an array, '['. */
void cli_json_open(cli_json *json, const char *key, char what);

/** Ends the last one that is open; the document ends with a line break. */
void cli_json_close(cli_json *json);

/** A string; NULL: null. A byte that is not UTF-8 becomes the surrogate U+DC80 + byte - 0x80
 * (PEP 383). */
void cli_json_text(cli_json *json, const char *key, const char *text);

/** The same, of a longer text the characters in its first `max` bytes, and "...". */
void cli_json_start(cli_json *json, const char *key, const char *text, size_t max);

/** A string of `len` bytes, with a 0 after them, which may contain 0. */
void cli_json_bytes(cli_json *json, const char *key, const char *text, size_t len);

/** An integer. */
void cli_json_count(cli_json *json, const char *key, uint64_t value);

/** A number, a fraction with 9 digits; null: NaN or infinite. */
void cli_json_number(cli_json *json, const char *key, double value);

/** A finite number with the given number of decimals. */
void cli_json_fixed(cli_json *json, const char *key, double value, int decimals);

/** true or false. */
void cli_json_flag(cli_json *json, const char *key, int value);

/** null. */
void cli_json_null(cli_json *json, const char *key);

/** An array of sizes, null for those that are open; null: the number of dimensions is unknown. */
void cli_json_shape(cli_json *json, const char *key, int ndim, const int *dims);

/** A value that the caller prints to the returned stream, as JSON. */
FILE *cli_json_value(cli_json *json, const char *key);
