// SPDX-License-Identifier: Apache-2.0
// Shared by readers and writers of JSON, beyond the JSON library.

#ifndef LN_JSON_H
#define LN_JSON_H

#include <jansson.h>
#include <stdio.h>

#include "lightnet/ln_msg.h"

/** The type of a value, for messages: "a string", "a number", "an array", "an object", "a bool" or
 * "null". */
const char *ln_json_describe(const json_t *json);

/** As json_loadb, in every locale: the JSON library uses the locale's decimal point, and aborts if
 * that has several bytes. NULL: the reason is in `error`; without memory its line is
 * LN_JSON_NO_MEMORY. */
json_t *ln_json_load(const char *text, size_t len, size_t flags, json_error_t *error);

/* The line of an error without a location in the text. */
enum { LN_JSON_NO_MEMORY = -2 };

/** Records why ln_json_load failed: "FILE:LINE:COLUMN: WHAT: reason", or "FILE: out of memory".
 *  Returns -1. */
int ln_json_load_fail(ln_error *err, const char *file, const char *what, const json_error_t *error);

/** Writes a string in quotes, with escapes. -1 with a reason: it is NULL or not UTF-8, or there is
 * no memory. The caller checks the stream's errors. */
int ln_json_write_string(FILE *fp, const char *str, ln_error *err);

/** Writes a number; NaN and infinities as strings. The caller checks the stream's errors. */
void ln_json_write_number(FILE *fp, double number);

#endif
