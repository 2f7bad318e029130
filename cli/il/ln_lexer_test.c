// SPDX-License-Identifier: Apache-2.0
// The syntax of operators: tokens, groups and failures.

#include "il/ln_lexer.h"

#include <string.h>

#include "ln_check.h"

static void begin(ln_lexer *l, const char *text, ln_error *err)
{
    const ln_scan at = {
        .file = "t", .p = text, .end = text + strlen(text), .line = 1, .column = 1, .err = err};
    *err = (ln_error){0};
    ln_lexer_begin(l, &at);
}

START_TEST(tokens_are_names_strings_numbers_and_characters)
{
    ln_error err;
    ln_lexer l;
    begin(&l, "conv2d // a comment\n \"a\\n\\x41\" \"\\u00e4\" 0x1f 1.5e-1 .. -?", &err);
    ck_assert(ln_lexer_is_word(&l, "conv2d"));
    ln_lexer_next(&l);
    ck_assert_int_eq(l.kind, LN_TOKEN_STRING);
    ck_assert_str_eq(l.text.at, "a\nA\xc3\xa4");
    ck_assert_int_eq(l.token.line, 2);
    ck_assert_int_eq(l.token.column, 2);
    ln_lexer_next(&l);
    ck_assert_int_eq(l.kind, LN_TOKEN_NUMBER);
    ck_assert_double_eq(l.number, 31);
    ln_lexer_next(&l);
    ck_assert_double_eq(l.number, 0.15);
    ck_assert_str_eq(l.text.at, "1.5e-1");
    ln_lexer_next(&l);
    for (const char *c = "..-?"; *c; c++)
        ck_assert(ln_lexer_accept(&l, *c));
    ck_assert(ln_lexer_is(&l, LN_TOKEN_END));
    ck_assert_int_eq(ln_lexer_end(&l), 0);
}
END_TEST

// Counts the elements of each group.
static int count(ln_lexer *l, int *n)
{
    ++*n;
    return ln_lexer_accept(l, LN_TOKEN_NAME) ? 0 : ln_lexer_unexpected(l, "a name");
}

static int read_first(ln_lexer *l, void *n)
{
    return count(l, &((int *)n)[0]);
}

static int read_second(ln_lexer *l, void *n)
{
    return count(l, &((int *)n)[1]);
}

static int read_third(ln_lexer *l, void *n)
{
    return count(l, &((int *)n)[2]);
}

START_TEST(groups_may_be_empty_and_left_out)
{
    static ln_lexer_func *const read[] = {read_first, read_second, read_third};
    static const struct {
        const char *text;
        int n[3];
    } cases[] = {{"a, b, | c)", {2, 1, 0}},
                 {")", {0, 0, 0}},
                 {"| | a)", {0, 0, 1}},
                 {"a | | b, c)", {1, 0, 2}}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int n[3] = {0};
        ln_error err;
        ln_lexer l;
        begin(&l, cases[i].text, &err);
        ck_assert_int_eq(ln_lexer_groups(&l, read, 3, n), 0);
        ck_assert_int_eq(ln_lexer_expect(&l, ')'), 0);
        ck_assert_mem_eq(n, cases[i].n, sizeof(n));
        ck_assert_int_eq(ln_lexer_end(&l), 0);
    }
}
END_TEST

START_TEST(the_first_failure_ends_the_text)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"[a b]", "t:1:4: 'b' is unexpected, expected ',' or ']'"},
        {"[a,\n 1]", "t:2:2: '1' is unexpected, expected a name"},
        {"[a", "t:1:3: the end is unexpected, expected ',' or ']'"},
        {"[a, 1x]", "t:1:5: '1x' is not a number"},
        {"[1e999]", "t:1:2: '1e999' is too large"},
        {"[\"\\q\"]", "t:1:3: unknown escape sequence in a string"},
        {"[\"\\x4\"]", "t:1:3: \\x without 2 hexadecimal digits"},
        {"[\"a", "t:1:4: the end of the text, expected '\"' to end the string"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int n = 0;
        ln_error err;
        ln_lexer l;
        begin(&l, cases[i].text, &err);
        ck_assert(ln_lexer_accept(&l, '['));
        ln_lexer_list(&l, ']', read_first, &n);
        ck_assert(ln_lexer_is(&l, LN_TOKEN_END));
        ck_assert_int_eq(ln_lexer_fail(&l, "another"), -1);
        ck_assert_int_eq(ln_lexer_end(&l), -1);
        ck_assert_str_eq(ln_error_text(&err), cases[i].message);
    }
}
END_TEST

LN_TEST_MAIN("the syntax of operators", tokens_are_names_strings_numbers_and_characters,
             groups_may_be_empty_and_left_out, the_first_failure_ends_the_text)
