// SPDX-License-Identifier: Apache-2.0
// Numbers in files, which have a decimal point whatever locale the program has chosen.

#include "base/ln_number.h"

#include <locale.h>
#include <pthread.h>
#include <stdlib.h>

static locale_t c_locale = (locale_t)0;

static void make_c_locale(void)
{
    c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

double ln_number_read(const char *text, char **end)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make_c_locale);
    *end = (char *)text;
    return c_locale ? strtod_l(text, end, c_locale) : 0;
}
