// SPDX-License-Identifier: Apache-2.0
// Text as UTF-8.

#include "output/cli_utf8.h"

int cli_utf8_decode(const char *text, uint32_t *c)
{
    static const uint32_t min_char[] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char *at = (const unsigned char *)text;
    const int n = *at < 0x80   ? 1
                  : *at < 0xc2 ? 0
                  : *at < 0xe0 ? 2
                  : *at < 0xf0 ? 3
                  : *at < 0xf5 ? 4
                               : 0;
    *c = n == 1 ? *at : n ? *at & (0x7fu >> n) : 0;
    for (int i = 1; i < n; i++) {
        if ((at[i] & 0xc0) != 0x80) {
            *c = 0;
            return 1;
        }
        *c = *c << 6 | (at[i] & 0x3f);
    }
    if (n == 0 || *c < min_char[n] || *c > 0x10ffff || (*c >= 0xd800 && *c < 0xe000))
        *c = 0;
    return *c ? n : 1;
}
