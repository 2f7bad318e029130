// SPDX-License-Identifier: Apache-2.0
// Tests of text for the terminal: the conversions of printf, and escapes.

#include "output/cli_print.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "ln_check.h"
#include "output/cli_color.h"

// In place of those of cli_color.c.
static const char red[] = "\033[31m";

int cli_color_is(const char *text)
{
    return text == red;
}

__attribute__((format(printf, 1, 2))) static char *printed(const char *fmt, ...)
{
    char *text = NULL;
    size_t size;
    va_list args;
    FILE *stream = open_memstream(&text, &size);
    ck_assert_ptr_nonnull(stream);
    va_start(args, fmt);
    cli_vfprint(stream, fmt, args);
    va_end(args);
    ck_assert_int_eq(fclose(stream), 0);
    return text;
}

// As the C library prints it.
#define CHECK_SAME(...)                                    \
    do {                                                   \
        char expected[256], *text = printed(__VA_ARGS__);  \
        snprintf(expected, sizeof(expected), __VA_ARGS__); \
        ck_assert_str_eq(text, expected);                  \
        free(text);                                        \
    } while (0)

#define CHECK(expected, ...)               \
    do {                                   \
        char *text = printed(__VA_ARGS__); \
        ck_assert_str_eq(text, expected);  \
        free(text);                        \
    } while (0)

START_TEST(conversions_are_those_of_printf)
{
    CHECK_SAME("plain %% text\n");
    CHECK_SAME("%d %i %5d|%-5d|%05d|%+d", 1, -2, 3, 4, -5, 6);
    CHECK_SAME("%u %x %X %o %02x", 4000000000U, 255U, 255U, 8U, 7U);
    CHECK_SAME("%ld %lu %lld %llu", -1L, (unsigned long)-1, -2LL, (unsigned long long)-2);
    CHECK_SAME("%zu %td %jd %" PRIu64 " %" PRId64, (size_t)-1, (ptrdiff_t)-1, (intmax_t)-3,
               UINT64_MAX, INT64_MIN);
    CHECK_SAME("%f %.3f %10.4f|%-10.1f|%g %.9g %e", 1.5, 2.0 / 3, -1e3, 7.0, 1e-9, 0.1, 12345.678);
    CHECK_SAME("%*d|%-*d|%*d|%.*f", 6, 1, 6, 2, -6, 3, 2, 1.0);
    CHECK_SAME("%s|%10s|%-10s|%*s|%-*s|%.2s|%.*s|%-8.3s|", "a", "b", "c", 4, "d", 4, "e", "fgh", 1,
               "ij", "klmn");
    CHECK_SAME("%s%5s|%c%c", "", "", 'x', '"');
    CHECK_SAME("%*.*s|%-*.*s|%.*s", 8, 3, "abcdef", 8, 3, "abcdef", -1, "whole");
}
END_TEST

START_TEST(inserted_text_is_escaped_and_the_format_is_not)
{
    CHECK("\033[K\\x1b[2J\n", "\033[K%s\n", "\033[2J");
    CHECK("a\\x0ab\\u202e|", "%s|", "a\nb\xe2\x80\xae");
    CHECK("\\xe9\xc3\xa4", "%s", "\xe9\xc3\xa4");
    CHECK("\\x1b", "%c", '\033');
}
END_TEST

START_TEST(widths_count_what_is_shown)
{
    CHECK("  \\x1b|\\x1b  |", "%6s|%-6s|", "\033", "\033");
    CHECK("\\x1b|", "%2s|", "\033");
    CHECK("     |", "%-5s|", "");
}
END_TEST

START_TEST(precisions_cut_between_characters)
{
    CHECK("a", "%.2s", "a\xc3\xa4");
    CHECK("ab", "%.5s", "ab\033");
    CHECK("ab\\x1b", "%.6s", "ab\033");
    const char bytes[3] = {'a', 'b', 'c'}; // no end
    CHECK("abc", "%.3s", bytes);
}
END_TEST

START_TEST(colors_stay)
{
    CHECK("\033[31mx", "%s%s", red, "x");
}
END_TEST

LN_TEST_MAIN("text for the terminal", conversions_are_those_of_printf,
             inserted_text_is_escaped_and_the_format_is_not, widths_count_what_is_shown,
             precisions_cut_between_characters, colors_stay)
