// SPDX-License-Identifier: Apache-2.0
// The types of parameters, as messages call them. Their names in C: see ln_param.h.

#ifndef LN_PARAM_TYPE_H
#define LN_PARAM_TYPE_H

#include "lightnet/ln_param.h"

/** What messages call a value of the type: "a string"; "invalid" for what is no type. */
const char *ln_param_type_text(ln_param_type type);

#endif
