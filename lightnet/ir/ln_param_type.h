// SPDX-License-Identifier: Apache-2.0
// Internal functions for parameters, in addition to ln_param.h.

#pragma once

#include "lightnet/ln_param.h"

/** The name of a value of the type in messages: "a string"; "invalid" for an invalid type. */
const char *ln_param_type_text(ln_param_type type);

/** Returns new (ln_param_entry_free): the value of `pe`, as parameter `arg_name`. */
ln_param_entry *ln_param_entry_copy_as(const ln_param_entry *pe, const char *arg_name);

/** Swaps the values of the entries; each keeps its arg_name. */
void ln_param_entry_exchange(ln_param_entry *a, ln_param_entry *b);
