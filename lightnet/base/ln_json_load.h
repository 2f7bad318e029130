// SPDX-License-Identifier: Apache-2.0
// JSON text as a tree of the JSON library, within the limits of memory and time.
//
//     json_t *json = ln_json_load(text, len, JSON_REJECT_DUPLICATES, "model.json", "JSON", err);

#pragma once

#include <jansson.h>
#include <stddef.h>

#include "lightnet/ln_msg.h"

/** Returns new (json_decref) tree, as json_loadb with these flags, in every locale: the JSON
 * library uses the locale's decimal point, and aborts if that has several bytes. NULL with a
 * reason: "FILE:LINE:COLUMN: WHAT: reason", "FILE: out of memory", or that of ln_budget_check. */
json_t *ln_json_load(const char *text, size_t len, size_t flags, const char *file, const char *what,
                     ln_error *err);
