// SPDX-License-Identifier: Apache-2.0
// Shared by readers and writers of JSON, beyond the JSON library.

#pragma once

#include <jansson.h>
#include <stdio.h>

#include "lightnet/ln_msg.h"

/** The type of a value, for messages: "a string", "a number", "an array", "an object", "a bool" or
 * "null". */
const char *ln_json_describe(const json_t *json);

/** Writes a string in quotes, with escapes. -1 with a reason: it is NULL or not UTF-8, or no
 * memory. The caller checks the stream's errors. */
int ln_json_write_string(FILE *fp, const char *str, ln_error *err);

/** Returns new (free): the value as compact text of *len bytes and a NUL; NULL with a reason: no
 * memory. */
char *ln_json_text(const json_t *json, size_t *len, ln_error *err);

/** Writes a number; NaN and infinities as strings. The caller checks the stream's errors. */
void ln_json_write_number(FILE *fp, double number);
