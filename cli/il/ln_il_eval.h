// SPDX-License-Identifier: Apache-2.0
// The arithmetic of ${eval EXPR} in IL.
//
//     char value[LN_IL_VALUE_SIZE];
//     ln_il_eval("2 ** 10 / 4", 11, value, &reason); // "256"

#ifndef LN_IL_EVAL_H
#define LN_IL_EVAL_H

#include <stddef.h>

#include "il/ln_il_text.h"
#include "lightnet/ln_msg.h"

/* Size of a buffer for a value as text, with its NUL. */
enum { LN_IL_VALUE_SIZE = 32 };

/** Evaluates `len` bytes of text: decimal and hexadecimal numbers, and from the loosest to the
 * tightest `?:`, `== !=`, `< <= > >=`, `+ -`, `* / %`, signs, `**`; parentheses, and as such ${eval
 * EXPR}, which arguments of macros may bring; int, ceil, floor, sqrt, min, max. Integers are exact
 * (64 bits), and stay so in `+ - * % **`, in min and max, and in `/` where nothing is left over; a
 * number with a point or exponent is a double. `a % b`, of integers, has the sign of b, as in Perl,
 * whose expressions IL used before; comparisons give 1 or 0; of `?:` one side is computed. value
 * [LN_IL_VALUE_SIZE]: an integer without a point, also one that a double holds; any other double
 * with the fewest digits that read back as the same. -1 with a reason: anything else in the text,
 * no integer in 64 bits, no finite number. */
int ln_il_eval(const char *text, size_t len, char *value, ln_error *err);

/** Appends a text with the value of each ${eval EXPR}, also within names and strings, unless a '\\'
 * precedes it. Keeps the locations of lines. -1 with a reason. */
int ln_il_eval_text(const ln_il_text *from, ln_il_text *to, ln_error *err);

#endif
