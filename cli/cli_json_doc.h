// SPDX-License-Identifier: Apache-2.0
// Prints one JSON document to standard output, member by member.
//
//     cli_json_doc doc = {0};
//     cli_json_open(&doc, NULL, '{');
//     cli_json_text(&doc, "model", "digits.onnx");
//     cli_json_shape(&doc, "shape", t->ndim, t->dims);
//     cli_json_close(&doc);
//
// The key is NULL for the document itself and for elements of arrays.

#ifndef CLI_JSON_DOC_H
#define CLI_JSON_DOC_H

#include <stdint.h>

#include "tensorlight/tl_tensor.h"

enum { CLI_JSON_DEPTH = 8 };

/* All zero: at its beginning. */
typedef struct cli_json_doc {
    int depth;                 /* open objects and arrays, at most CLI_JSON_DEPTH */
    char ends[CLI_JSON_DEPTH]; /* the closing bracket of each */
    int n[CLI_JSON_DEPTH + 1]; /* members so far, at each depth */
} cli_json_doc;

/** Begins an object, '{', or an array, '['. */
void cli_json_open(cli_json_doc *doc, const char *key, char what);

/** Ends the last one that is open; the document ends with a line break. */
void cli_json_close(cli_json_doc *doc);

/** A string; NULL: null. See cli_json_string. */
void cli_json_text(cli_json_doc *doc, const char *key, const char *text);

/** An integer. */
void cli_json_count(cli_json_doc *doc, const char *key, uint64_t value);

/** A number with 9 digits; null: NaN or infinite. */
void cli_json_number(cli_json_doc *doc, const char *key, double value);

/** true or false. */
void cli_json_flag(cli_json_doc *doc, const char *key, int value);

/** null. */
void cli_json_null(cli_json_doc *doc, const char *key);

/** An array of sizes, null for those that are open; null: the number of dimensions is unknown. */
void cli_json_shape(cli_json_doc *doc, const char *key, int ndim, const int *dims);

#endif
