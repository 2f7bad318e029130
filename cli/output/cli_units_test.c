// SPDX-License-Identifier: Apache-2.0
// Tests of cli_units: three digits of bytes, also at the borders of units.

#include "output/cli_units.h"

#include "ln_check.h"

static const struct {
    double bytes;
    const char *text;
} rows[] = {
    {0, "0 B"},         {1, "1 B"},           {999, "999 B"},         {1000, "1 kB"},
    {1234, "1.23 kB"},  {97656, "97.7 kB"},   {999400, "999 kB"},     {999499, "999 kB"},
    {999500, "1 MB"},   {999900, "1 MB"},     {178e6, "178 MB"},      {999.5e6, "1 GB"},
    {1.5e12, "1.5 TB"}, {999.4e12, "999 TB"}, {1234.5e12, "1234 TB"},
};

START_TEST(bytes_have_three_digits_and_no_exponent)
{
    char text[CLI_BYTES_TEXT];
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        ck_assert_str_eq(cli_bytes_text(text, rows[i].bytes), rows[i].text);
}
END_TEST

LN_TEST_MAIN("units", bytes_have_three_digits_and_no_exponent)
