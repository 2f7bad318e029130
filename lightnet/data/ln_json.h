// SPDX-License-Identifier: Apache-2.0
// What every reader and writer of JSON needs beside the JSON library.

#ifndef LN_JSON_H
#define LN_JSON_H

#include <jansson.h>
#include <stdio.h>

#include "lightnet/ln_msg.h"

/** What a value is, for messages: "a string", "a number", "an array", "an object", "a bool"
 *  or "null". */
const char *ln_json_describe(const json_t *json);

/** As json_loadb, in every locale: the JSON library looks for the locale's decimal point, and ends
 * the process where that has several bytes. NULL: the reason is in `error`; without memory its line
 * is LN_JSON_NO_MEMORY. */
json_t *ln_json_load(const char *text, size_t len, size_t flags, json_error_t *error);

/* The line of an error that is not the text's. */
enum { LN_JSON_NO_MEMORY = -2 };

/** Records why ln_json_load failed: "FILE:LINE:COLUMN: WHAT: reason", or "FILE: out of memory".
 *  Returns -1. */
int ln_json_load_fail(ln_error *err, const char *file, const char *what, const json_error_t *error);

/** Writes a string in quotes with what must be escaped. -1 with a reason: it is NULL or not UTF-8,
 *  or there is no memory. The stream's errors are found by the caller. */
int ln_json_write_string(FILE *fp, const char *str, ln_error *err);

/** Writes a number; the three that JSON lacks as strings. The stream's errors are found by the
 * caller. */
void ln_json_write_number(FILE *fp, double number);

#endif
