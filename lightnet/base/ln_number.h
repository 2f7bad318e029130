// SPDX-License-Identifier: Apache-2.0
// Numbers in files, which have a decimal point whatever locale the program has chosen.

#ifndef LN_NUMBER_H
#define LN_NUMBER_H

/** As strtod in the locale "C": the number at the beginning of `text`; `*end` (not NULL) is what
 *  follows, `text` itself where there is none, or no memory for that locale. */
double ln_number_read(const char *text, char **end);

#endif
