// SPDX-License-Identifier: Apache-2.0
// Tests of decoding UTF-8: the ends of each row of table 3-7 of the Unicode Standard, and beyond.

#include "output/cli_utf8.h"

#include <string.h>

#include "ln_check.h"

typedef struct row {
    const char *text;
    uint32_t c; // 0: invalid
} row;

START_TEST(valid_characters_have_their_code)
{
    static const row rows[] = {
        {"\x01", 1},
        {"\x7f", 0x7f},
        {"\xc2\x80", 0x80},
        {"\xdf\xbf", 0x7ff},
        {"\xe0\xa0\x80", 0x800},
        {"\xec\xbf\xbf", 0xcfff},
        {"\xed\x80\x80", 0xd000},
        {"\xed\x9f\xbf", 0xd7ff},
        {"\xee\x80\x80", 0xe000},
        {"\xef\xbf\xbf", 0xffff},
        {"\xf0\x90\x80\x80", 0x10000},
        {"\xf3\xbf\xbf\xbf", 0xfffff},
        {"\xf4\x8f\xbf\xbf", 0x10ffff},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        uint32_t c;
        ck_assert_int_eq(cli_utf8_decode(rows[i].text, &c), (int)strlen(rows[i].text));
        ck_assert_uint_eq(c, rows[i].c);
    }
}
END_TEST

START_TEST(other_bytes_are_invalid)
{
    static const char *const texts[] = {
        "",
        "\x80",
        "\xbf",
        "\xc0\x80",
        "\xc1\xbf",
        "\xc2",
        "\xc2\x7f",
        "\xdf\xc0",
        "\xe0\x9f\xbf",
        "\xe1\x80",
        "\xed\xa0\x80",
        "\xed\xbf\xbf",
        "\xf0\x8f\xbf\xbf",
        "\xf1\x80\x80",
        "\xf4\x90\x80\x80",
        "\xf5\x80\x80\x80",
        "\xf8\x90\x80\x80",
        "\xfb\xbf\xbf\xbf",
        "\xfc\x90\x80\x80",
        "\xfe",
        "\xff",
    };
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
        uint32_t c = 1;
        ck_assert_int_eq(cli_utf8_decode(texts[i], &c), 1);
        ck_assert_msg(c == 0, "text %zu is U+%04x", i, (unsigned)c);
    }
}
END_TEST

LN_TEST_MAIN("utf8", valid_characters_have_their_code, other_bytes_are_invalid)
