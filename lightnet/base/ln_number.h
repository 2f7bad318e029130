// SPDX-License-Identifier: Apache-2.0
// Numbers in files, which have a decimal point whatever locale the program has chosen.

#ifndef LN_NUMBER_H
#define LN_NUMBER_H

#include <locale.h>
#include <stddef.h>

/** As strtod in the locale "C": the number at the beginning of `text`; `*end` (not NULL) is what
 *  follows, `text` itself where there is none, or no memory for that locale. */
double ln_number_read(const char *text, char **end);

/** From now on, whatever the calling thread reads and prints has a decimal point. Returns what
 *  ln_number_end takes to make it as before. Without memory for the locale "C" nothing changes. */
locale_t ln_number_begin(void);

void ln_number_end(locale_t before);

/* Size of a buffer for a number as text, with its NUL. */
enum { LN_NUMBER_SIZE = 32 };

/** Prints a finite number to `buf` of `size` bytes, LN_NUMBER_SIZE or more, with the fewest
 * digits that read back as the same double; an integer of up to 15 digits without a point. Returns
 * buf. */
char *ln_number_print(char *buf, size_t size, double number);

#endif
