// SPDX-License-Identifier: Apache-2.0
// The forms of valid UTF-8: table 3-7 of the Unicode Standard.

#include "base/ln_utf8.h"

size_t ln_utf8_length(const unsigned char *p, size_t left)
{
    static const struct {
        unsigned char first_low, first_high, second_low, second_high;
        size_t len;
    } forms[] = {
        {0x00, 0x7F, 0, 0, 1},       {0xC2, 0xDF, 0x80, 0xBF, 2}, {0xE0, 0xE0, 0xA0, 0xBF, 3},
        {0xE1, 0xEC, 0x80, 0xBF, 3}, {0xED, 0xED, 0x80, 0x9F, 3}, {0xEE, 0xEF, 0x80, 0xBF, 3},
        {0xF0, 0xF0, 0x90, 0xBF, 4}, {0xF1, 0xF3, 0x80, 0xBF, 4}, {0xF4, 0xF4, 0x80, 0x8F, 4},
    };
    for (size_t i = 0; i < sizeof(forms) / sizeof(*forms); i++) {
        if (p[0] < forms[i].first_low || p[0] > forms[i].first_high)
            continue;
        if (forms[i].len > left)
            return 0;
        if (forms[i].len > 1 && (p[1] < forms[i].second_low || p[1] > forms[i].second_high))
            return 0;
        for (size_t k = 2; k < forms[i].len; k++) {
            if ((p[k] & 0xC0) != 0x80)
                return 0;
        }
        return forms[i].len;
    }
    return 0;
}

size_t ln_utf8_prefix(const char *bytes, size_t size)
{
    size_t at = 0;
    for (size_t n = 1; at < size && n; at += n)
        n = ln_utf8_length((const unsigned char *)bytes + at, size - at);
    return at;
}

uint32_t ln_utf8_get(const unsigned char *p, size_t left, size_t *n)
{
    static const unsigned char masks[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    *n = ln_utf8_length(p, left);
    if (!*n)
        *n = 1;
    uint32_t c = *n == 1 ? p[0] : (uint32_t)(p[0] & masks[*n]);
    for (size_t i = 1; i < *n; i++)
        c = c << 6 | (p[i] & 0x3f);
    return c;
}

size_t ln_utf8_put(char bytes[4], uint32_t c)
{
    if (c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
        return 0;
    const size_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    static const unsigned char firsts[] = {0, 0, 0xc0, 0xe0, 0xf0};
    for (size_t i = n - 1; i > 0; i--, c >>= 6)
        bytes[i] = (char)(0x80 | (c & 0x3f));
    bytes[0] = (char)(firsts[n] | c);
    return n;
}
