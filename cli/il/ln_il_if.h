// SPDX-License-Identifier: Apache-2.0
// The constant expressions of #if (C11, 6.10.1).

#ifndef LN_IL_IF_H
#define LN_IL_IF_H

#include "il/ln_il_scan.h"

/** Evaluates an expression in which macros and `defined` are replaced already: integers of 64 bits,
 * characters, names, which are 0, and all operators of C on them. *is_true: whether it is not 0. -1
 * with a reason at `place`. */
int ln_il_if(const ln_il_tokens *tokens, ln_il_place place, int *is_true, ln_error *err);

#endif
