// SPDX-License-Identifier: Apache-2.0
// Numbers in files, which have a decimal point in every locale.

#include "base/ln_number.h"

#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static locale_t c_locale = (locale_t)0;

static void make_c_locale(void)
{
    c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

// 0: no memory.
static locale_t find_c_locale(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make_c_locale);
    return c_locale;
}

double ln_number_read(const char *text, char **end)
{
    const locale_t c = find_c_locale();
    *end = (char *)text;
    return c ? strtod_l(text, end, c) : 0;
}

locale_t ln_number_begin(void)
{
    return uselocale(find_c_locale());
}

void ln_number_end(locale_t before)
{
    uselocale(before);
}

// Most numbers of models that are no integers need 15 digits, or 17 when they come from floats;
// subnormal ones have fewer.
char *ln_number_print(char *buf, size_t size, double number)
{
    if (fabs(number) < 1e15 && number == floor(number)) {
        snprintf(buf, size, "%.0f", number);
        return buf;
    }
    const locale_t before = ln_number_begin();
    for (int digits = isnormal(number) ? 15 : 1; digits <= 17; digits++) {
        snprintf(buf, size, "%.*g", digits, number);
        if (strtod(buf, NULL) == number)
            break;
    }
    ln_number_end(before);
    return buf;
}
