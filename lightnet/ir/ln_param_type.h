// SPDX-License-Identifier: Apache-2.0
// What the library needs of parameters beyond ln_param.h.

#ifndef LN_PARAM_TYPE_H
#define LN_PARAM_TYPE_H

#include "lightnet/ln_param.h"

/** What messages call a value of the type: "a string"; "invalid" for what is no type. */
const char *ln_param_type_text(ln_param_type type);

/** Returns new (ln_param_entry_free): the value of `pe`, as parameter `arg_name`. */
ln_param_entry *ln_param_entry_copy_as(const ln_param_entry *pe, const char *arg_name);

/** Lets the entries have each other's value; each keeps its arg_name. */
void ln_param_entry_exchange(ln_param_entry *a, ln_param_entry *b);

#endif
