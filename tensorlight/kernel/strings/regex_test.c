// SPDX-License-Identifier: Apache-2.0
// Tests of regular expressions: the time of hostile ones, limits, damaged patterns.

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "ln_check.h"
#include "tensorlight/tl_text.h"
#include "tensorlight/tl_util.h"

// Whether `pattern` matches `text`; -1: a bad pattern.
static int match(const char *pattern, const char *text)
{
    tl_regex *const regex = tl_regex_create(pattern);
    if (!regex)
        return -1;
    const tl_string **const block = tl_strings_from_text(&text, 1);
    unsigned char result = 7;
    tl_tensor *const src = tl_tensor_create((void *)block, 0, NULL, TL_STRING);
    tl_tensor *const dst = tl_tensor_create(&result, 0, NULL, TL_BOOL);
    const size_t size = tl_regex_scratch(regex);
    void *const scratch = malloc(size); // of exactly this size: sanitizers watch its end
    const tl_exec exec = {.scratch = scratch, .scratch_size = size};
    ck_assert_int_eq(tl_exec_regex_match(&exec, src, dst, regex), 0);
    free(scratch);
    tl_tensor_free(src);
    tl_tensor_free(dst);
    tl_free(block);
    tl_regex_free(regex);
    return result;
}

START_TEST(patterns_match_whole_texts)
{
    static const struct {
        const char *pattern, *text;
        int result;
    } rows[] = {
        {"a|b|c", "b", 1},
        {"a|b|c", "d", 0},
        {"(a|b)c|d", "bc", 1},
        {"(a|b)c|d", "d", 1},
        {"a?b*c+", "bbc", 1},
        {"a?b*c+", "aac", 0},
        {"x{0}", "", 1},
        {"x{0}", "x", 0},
        {"x{2}", "xx", 1},
        {"x{2,3}", "xxxx", 0},
        {"(xy){2,}", "xyxyxy", 1},
        {"(xy){2,}", "xy", 0},
        {"[^a-c]", "d", 1},
        {"[^a-c]", "b", 0},
        {"(?i)straSSe", "STRAsse", 1},
        {"(?i)[^a]", "A", 0},
        {"(?s).", "\n", 1},
        {".", "\n", 0},
        {"a(?i)b", "aB", 1},
        {"(?i:a)b", "aB", 0},
        {"\\.", ".", 1},
        {"\\.", "x", 0},
        {"a\\b b", "a b", 1},
        {"a\\Bb", "ab", 1},
        {"(?m)a$\n^b", "a\nb", 1},
        {"a$b", "ab", 0},
        {"\\Qa+b\\E+", "a+bb", 1},
        {"\\Qa+b\\E+", "a+ba+b", 0},
        {"\xff", "\xff", 1},
        {"\xc3\xa4+", "\xc3\xa4\xc3\xa4", 1},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        ck_assert_msg(match(rows[i].pattern, rows[i].text) == rows[i].result, "%s: %s",
                      rows[i].pattern, rows[i].text);
}
END_TEST

START_TEST(hostile_patterns_take_linear_time)
{
    static const char *const patterns[] = {
        "(a*)*b", "(a+)+b", "(a|a)*b", "(a|aa)+b", "(.*)*.*=.*", "((a{0,30}){0,30})b", "(x+x+)+y"};
    static char text[20001];
    memset(text, 'a', 20000);
    const uint64_t begin = tl_clock();
    for (size_t i = 0; i < sizeof(patterns) / sizeof(*patterns); i++)
        ck_assert_int_eq(match(patterns[i], text), 0);
    ck_assert_uint_lt(tl_clock() - begin, 60000000000);
}
END_TEST

START_TEST(large_programs_are_rejected)
{
    ck_assert_int_eq(match("((a{1000}){1000}){1000}", ""), -1);
    ck_assert_ptr_nonnull(strstr(tl_last_error(), "too large"));
    ck_assert_int_eq(match("(a{100}){100}", "a"), 0);
    char *const text = malloc(100001);
    memset(text, '(', 100000);
    text[100000] = '\0';
    ck_assert_int_eq(match(text, ""), -1);
    ck_assert_ptr_nonnull(strstr(tl_last_error(), "nest too deeply"));
    for (int i = 0; i < 20000; i++)
        text[i] = i % 2 ? '|' : 'a';
    text[20000] = '\0';
    ck_assert_int_eq(match(text, "a"), 1);
    free(text);
}
END_TEST

START_TEST(any_bytes_are_a_pattern_or_not)
{
    static const char alphabet[] = "ab()[]{}|*+?.^$\\-:=!<>Pp{LdDsSwWxQEABz019,\xc3\xa4\xff";
    unsigned state = 1;
    for (int i = 0; i < 20000; i++) {
        char pattern[24];
        int len = 0;
        state = state * 1103515245 + 12345;
        for (const int wanted = (int)(state >> 16) % 20; len < wanted; len++) {
            state = state * 1103515245 + 12345;
            pattern[len] = alphabet[(state >> 16) % (sizeof(alphabet) - 1)];
        }
        pattern[len] = '\0';
        match(pattern, "aab");
    }
}
END_TEST

LN_TEST_MAIN("regular expressions", patterns_match_whole_texts, hostile_patterns_take_linear_time,
             large_programs_are_rejected, any_bytes_are_a_pattern_or_not)
