// SPDX-License-Identifier: Apache-2.0
// Tests of numbers in files.

#include "base/ln_number.h"

#include <locale.h>
#include <stdio.h>

#include "ln_check.h"

static void check_number(const char *text, double number, const char *rest)
{
    char *end;
    ck_assert_double_eq(ln_number_read(text, &end), number);
    ck_assert_str_eq(end, rest);
}

START_TEST(a_number_ends_where_no_digit_follows)
{
    check_number("1.5, 2", 1.5, ", 2");
    check_number(" -1e-05)", -1e-05, ")");
    check_number("7", 7, "");
}
END_TEST

START_TEST(text_that_is_no_number_is_not_consumed)
{
    check_number("", 0, "");
    check_number("x1", 0, "x1");
}
END_TEST

START_TEST(the_point_is_read_in_a_locale_with_a_comma)
{
    if (!ln_check_comma_locale())
        return;
    check_number("1.5", 1.5, "");
    check_number("1,5", 1, ",5");
    setlocale(LC_ALL, "C");
}
END_TEST

START_TEST(a_number_is_printed_with_the_fewest_digits_that_read_back)
{
    static const struct {
        double number;
        const char *text;
    } cases[] = {
        {0, "0"},
        {-3, "-3"},
        {123456789012345, "123456789012345"},
        {0.1, "0.1"},
        {1e15, "1e+15"},
        {5e-324, "5e-324"},
        {0.1f, "0.10000000149011612"},
        {-2.5e-7, "-2.5e-07"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char text[LN_NUMBER_SIZE];
        ck_assert_str_eq(ln_number_print(text, sizeof(text), cases[i].number), cases[i].text);
    }
}
END_TEST

LN_TEST_MAIN("number", a_number_is_printed_with_the_fewest_digits_that_read_back,
             a_number_ends_where_no_digit_follows, text_that_is_no_number_is_not_consumed,
             the_point_is_read_in_a_locale_with_a_comma)
