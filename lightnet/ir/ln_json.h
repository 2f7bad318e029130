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

/** As json_loadb, in whatever locale the program is: the JSON library looks for the locale's
 * decimal point, and ends the process where that is a character of several bytes. */
json_t *ln_json_load(const char *text, size_t len, size_t flags, json_error_t *error);

/** Writes a string in quotes with what must be escaped. -1 with a reason: it is NULL or not UTF-8,
 *  or there is no memory. The stream's errors are found by the caller. */
int ln_json_write_string(FILE *fp, const char *str, ln_error *err);

/** Writes a number; the three that JSON lacks as strings. The stream's errors are found by the
 * caller. */
void ln_json_write_number(FILE *fp, double number);

#endif
