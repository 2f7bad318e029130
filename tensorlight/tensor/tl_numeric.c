// SPDX-License-Identifier: Apache-2.0
// Numbers as text with a decimal point.

#include "tensor/tl_numeric.h"

#include <pthread.h>

static locale_t c_locale = (locale_t)0;

static void make_c_locale(void)
{
    c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

locale_t tl_numeric_begin(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make_c_locale);
    return uselocale(c_locale); // without memory for it, 0: changes nothing
}

void tl_numeric_end(locale_t before)
{
    uselocale(before);
}
