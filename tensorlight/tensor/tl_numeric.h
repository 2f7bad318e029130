// SPDX-License-Identifier: Apache-2.0
// Numbers as text with a decimal point, whatever locale the program has chosen.
//
//     const locale_t before = tl_numeric_begin();
//     fprintf(stream, "%.3f", value);
//     tl_numeric_end(before);

#ifndef TL_NUMERIC_H
#define TL_NUMERIC_H

#include <locale.h>

/** From here on the calling thread's printf and strtof know the decimal point only. Returns what
 *  tl_numeric_end takes. */
locale_t tl_numeric_begin(void);

/** Gives the thread back the locale it had. */
void tl_numeric_end(locale_t before);

#endif
