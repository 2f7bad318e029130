// SPDX-License-Identifier: Apache-2.0
// Numbers as text with a decimal point, in every locale.
//
//     const locale_t before = tl_numeric_begin();
//     fprintf(stream, "%.3f", value);
//     tl_numeric_end(before);

#pragma once

#include <locale.h>

/** From now on the calling thread's printf and strtof use the decimal point. Returns the argument
 * for tl_numeric_end. */
locale_t tl_numeric_begin(void);

/** Restores the thread's locale. */
void tl_numeric_end(locale_t before);
