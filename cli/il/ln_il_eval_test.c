// SPDX-License-Identifier: Apache-2.0
// Tests the arithmetic of ${eval} and #if.

#include "il/ln_il.h"

#include <stdlib.h>
#include <string.h>

#include "ln_check.h"

START_TEST(expressions_have_their_values)
{
    // Those of Perl 5 where it has them.
    static const struct {
        const char *expr, *value;
    } cases[] = {
        {"1 + 2 * 3", "7"},
        {" ( 1+2 )*3 ", "9"},
        {"7 / 2", "3.5"},
        {"6 / 2", "3"},
        {"-7 % 3", "2"},
        {"7 % -3", "-2"},
        {"2 ** 3 ** 2", "512"},
        {"-2 ** 2", "-4"},
        {"2 ** -1", "0.5"},
        {"2 ** 62", "4611686018427387904"},
        {"0.5 * 4", "2"},
        {"0.1 + 0.2", "0.30000000000000004"},
        {"1e3", "1000"},
        {"2.5e-1", "0.25"},
        {"0x1F + 0", "31"},
        {"0xe-1", "13"},
        {"10 - 2 - 3", "5"},
        {"- - 3", "3"},
        {"3 > 2", "1"},
        {"3 <= 2", "0"},
        {"1 + 1 == 2", "1"},
        {"2 != 2.0", "0"},
        {"1 < 2 ? 10 : 20", "10"},
        {"0 ? 1 : 0 ? 2 : 3", "3"},
        {"0 ? 1 / 0 : 4", "4"},
        {"!0 + !2.5", "1"},
        {"1 || 0 && 0", "1"},
        {"0 || 3 > 2 && 1 == 1", "1"},
        {"1 || 1 / 0", "1"},
        {"0 && unknown > 2", "0"},
        {"1 ? 4 : 2 ** 64 % 0", "4"},
        {"int(-3.7)", "-3"},
        {"ceil(416 / 32 + 0.1)", "14"},
        {"floor(-0.5)", "-1"},
        {"sqrt(16)", "4"},
        {"min(3, 1, 2)", "1"},
        {"max(3, 4.5)", "4.5"},
        {"max(7)", "7"},
        {"2 * ${eval 1 + ${eval 2}}", "6"},
        {"9223372036854775807", "9223372036854775807"},
        {"-9223372036854775807 - 1", "-9223372036854775808"},
        {"9007199254740993 + 0", "9007199254740993"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char value[LN_IL_VALUE_SIZE];
        ln_error err = {0};
        ck_assert_msg(!ln_il_eval(cases[i].expr, strlen(cases[i].expr), value, &err), "%s: %s",
                      cases[i].expr, err.text);
        ck_assert_msg(!strcmp(value, cases[i].value), "%s is %s, expected %s", cases[i].expr, value,
                      cases[i].value);
    }
}
END_TEST

START_TEST(rejects_invalid_expressions)
{
    static const struct {
        const char *expr, *reason;
    } cases[] = {
        {"", "the expression ends, expected a number"},
        {"1 +", "the expression ends, expected a number"},
        {"1 2", "'2' is unexpected, expected an operator"},
        {"(1", "the expression ends, expected ')'"},
        {"(1 2)", "'2' is unexpected, expected ')'"},
        {"1 ? 2", "the expression ends, expected ':'"},
        {"1 / 0", "division by zero"},
        {"1 % 0", "division by zero"},
        {"1 / 0.0", "division by zero"},
        {"2.5 % 2", "'%' has a fraction, expected integers"},
        {"9223372036854775807 + 1", "a sum is beyond the integers of 64 bits"},
        {"-9223372036854775807 - 2", "a difference is beyond the integers of 64 bits"},
        {"(-9223372036854775807 - 1) / -1", "a difference is beyond the integers of 64 bits"},
        {"4294967296 * 4294967296", "a product is beyond the integers of 64 bits"},
        {"2 ** 63", "a power is beyond the integers of 64 bits"},
        {"9223372036854775808", "'9223372036854775808' is beyond the integers of 64 bits"},
        {"sqrt(-1)", "sqrt() is not a finite number"},
        {"1e308 * 10.0", "a product is not a finite number"},
        {"0 ** -1", "a power is not a finite number"},
        {"1e999", "1e999 is not a finite number"},
        {"int(1e300)", "a rounded number is beyond the integers of 64 bits"},
        {"1x", "'1x' is not a number"},
        {"1.2.3", "'1.2.3' is not a number"},
        {"0x", "'0x' is not a number"},
        {"system(1)", "'system' is unknown, expected int, ceil"},
        {"1 && unknown", "'unknown' is unknown, expected int, ceil"},
        {"0 && (1", "the expression ends, expected ')'"},
        {"${eval 1", "the expression ends, expected '}'"},
        {"$x", "'$' is unexpected, expected a number"},
        {"min()", "')' is unexpected, expected a number"},
        {"int(1, 2)", "',' is unexpected, expected ')'"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char value[LN_IL_VALUE_SIZE];
        ln_error err = {0};
        ck_assert_msg(ln_il_eval(cases[i].expr, strlen(cases[i].expr), value, &err) == -1,
                      "%s is %s, expected a failure", cases[i].expr, value);
        ck_assert_msg(strstr(err.text, cases[i].reason), "%s: %s, expected %s", cases[i].expr,
                      err.text, cases[i].reason);
    }
}
END_TEST

START_TEST(nesting_is_limited)
{
    static const char *const units[] = {"(", "-", "1?", "int(", "2**", "!"};
    enum { N = 200000 };
    for (size_t u = 0; u < sizeof(units) / sizeof(units[0]); u++) {
        char value[LN_IL_VALUE_SIZE], *expr = malloc(4 * N + 1);
        ln_error err = {0};
        ck_assert_ptr_nonnull(expr);
        expr[0] = '\0';
        for (size_t at = 0, i = 0; i < N; i++, at += strlen(units[u]))
            strcpy(expr + at, units[u]);
        ck_assert_int_eq(ln_il_eval(expr, strlen(expr), value, &err), -1);
        ck_assert_ptr_nonnull(strstr(err.text, "nested too deeply"));
        free(expr);
    }
}
END_TEST

LN_TEST_MAIN("il eval", expressions_have_their_values, rejects_invalid_expressions,
             nesting_is_limited)
