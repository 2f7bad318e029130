// SPDX-License-Identifier: Apache-2.0
// Numbers in files, which have a decimal point in every locale.

#pragma once

#include <locale.h>
#include <stddef.h>

/** As strtod in the locale "C": the number at the beginning of `text`; `*end` (not NULL) is the
 * text after it, `text` itself without a number, or without memory for that locale. */
double ln_number_read(const char *text, char **end);

/** From now on, numbers that the calling thread reads and prints have a decimal point. Returns the
 * locale for ln_number_end to restore. Without memory for the locale "C" nothing changes. */
locale_t ln_number_begin(void);

void ln_number_end(locale_t before);

/** Size of a buffer for a number as text, with its NUL. */
enum { LN_NUMBER_SIZE = 32 };

/** Prints a finite number to `buf` of `size` bytes, LN_NUMBER_SIZE or more, with the fewest
 * digits that read back as the same double; an integer of up to 15 digits without a point. Returns
 * buf. */
char *ln_number_print(char *buf, size_t size, double number);
