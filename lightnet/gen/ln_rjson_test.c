// SPDX-License-Identifier: Apache-2.0
// Tests of the relaxed JSON reader.

#include "gen/ln_rjson.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lightnet/ln_util.h"
#include "ln_check.h"

static ln_rjson *parse(const char *text)
{
    ln_rjson *root = ln_rjson_parse("t.op", text, strlen(text), NULL);
    ck_assert_msg(root != NULL, "%s", ln_last_error());
    return root;
}

// Fails unless `node` prints as `expected`.
static void assert_prints(const ln_rjson *node, const char *expected)
{
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    ln_rjson_print(stream, node);
    fclose(stream);
    ck_assert_str_eq(text, expected);
    free(text);
}

START_TEST(values_come_back_as_strict_json)
{
    static const struct {
        const char *text;
        const char *printed;
    } cases[] = {
        {"null", "null"},
        {" true ", "true"},
        {"false", "false"},
        {"-12.50e+1", "-12.50e+1"},
        {"0", "0"},
        {"\"\"", "\"\""},
        {"\"a\\\"\\\\\\/\\n\\u0009\"", "\"a\\\"\\\\/\\n\\u0009\""},
        {"[]", "[]"},
        {"[1, [2,], ]", "[1, [2]]"},
        {"{}", "{}"},
        {"{\"a\": 1, \"b\": {\"c\": [true, null],},}", "{\"a\": 1, \"b\": {\"c\": [true, null]}}"},
        {"// one\n[ // two\n 1 // three\n , 2 ] // four", "[1, 2]"},
        {"\"// no comment\"", "\"// no comment\""},
        {"'''\nif (a)\n    \"b\\n\";\n'''", "\"if (a)\\n    \\\"b\\\\n\\\";\\n\""},
        {"['''  \t\nx''', '''\n''']", "[\"x\", \"\"]"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        ln_rjson *root = parse(cases[i].text);
        assert_prints(root, cases[i].printed);
        ln_rjson_free(root);
    }
}
END_TEST

START_TEST(escapes_beyond_ascii_become_utf8)
{
    ln_rjson *root = parse("\"\\u00e9 \\u20AC \\uD83D\\uDE00\"");
    ck_assert_str_eq(root->text, "\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80");
    ln_rjson_free(root);
}
END_TEST

START_TEST(nodes_know_where_they_stand)
{
    ln_rjson *root = parse("{\n"
                           "  // the first\n"
                           "  \"a\": [10, \"\xC3\xA9\", true],\n"
                           "  \"run\":\n"
                           "    '''\n"
                           "    go();\n"
                           "    ''',\n"
                           "}\n");
    const ln_rjson *a = ln_rjson_get(root, "a");
    ck_assert_str_eq(a->file, "t.op");
    ck_assert_int_eq(a->key_line, 3);
    ck_assert_int_eq(a->key_column, 3);
    ck_assert_int_eq(a->line, 3);
    ck_assert_int_eq(a->column, 8);
    ck_assert_int_eq(a->items[2]->line, 3);
    ck_assert_int_eq(a->items[2]->column, 18); // the accented letter is one character of two bytes

    const ln_rjson *run = ln_rjson_get(root, "run");
    ck_assert_int_eq(run->is_block, 1);
    ck_assert_int_eq(run->key_line, 4);
    ck_assert_int_eq(run->line, 5);
    ck_assert_int_eq(run->text_line, 6);
    ck_assert_str_eq(run->text, "    go();\n    ");

    ck_assert_ptr_null(ln_rjson_get(root, "b"));
    ck_assert_ptr_null(ln_rjson_get(a, "a"));
    ln_rjson_free(root);
}
END_TEST

START_TEST(keys_may_be_words_and_strings_continue)
{
    ln_rjson *root = parse("{run_1: \"go \" // here\n \"on\", \"a\": \"\" \"b\"}");
    ck_assert_str_eq(ln_rjson_get(root, "run_1")->text, "go on");
    ck_assert_str_eq(ln_rjson_get(root, "a")->text, "b");
    ln_rjson_free(root);
}
END_TEST

START_TEST(numbers_are_given_in_both_forms)
{
    ln_rjson *root = parse("[-0.5, 1e3, 16777217]");
    ck_assert_double_eq(root->items[0]->number, -0.5);
    ck_assert_double_eq(root->items[1]->number, 1000);
    ck_assert_str_eq(root->items[1]->text, "1e3");
    ck_assert_double_eq(root->items[2]->number, 16777217);
    ln_rjson_free(root);
}
END_TEST

START_TEST(errors_name_their_position)
{
    static const struct {
        const char *text;
        const char *message;
    } cases[] = {
        {"", "t.op:1:1: the end of the text, expected a value"},
        {"  // only this", "t.op:1:15: the end of the text, expected a value"},
        {"[1 2]", "t.op:1:4: '2', expected ',' or ']'"},
        {"[1,\n 2", "t.op:2:3: the end of the text, expected ',' or ']'"},
        {"[,]", "t.op:1:2: ',', expected a value"},
        {"{\"a\" 1}", "t.op:1:6: '1', expected ':' after the key"},
        {"{a: 1,\n \"a\": 3}", "t.op:2:2: key \"a\" occurs twice"},
        {"{\"a\": \"1\" \"b\": 2}", "t.op:1:11: '\"', expected ',' or '}'"},
        {"{\"a\": 1 \"b\": 2}", "t.op:1:9: '\"', expected ',' or '}'"},
        {"{-: 1}", "t.op:1:2: '-', expected a key"},
        {"{a b: 1}", "t.op:1:4: 'b', expected ':' after the key"},
        {"[\"a\" \"b]", "t.op:1:9: the end of the text, expected '\"' to end the string"},
        {"{\"a\":}", "t.op:1:6: '}', expected a value"},
        {"1 1", "t.op:1:3: '1', expected the end of the text"},
        {"truth", "t.op:1:1: 't', expected a value"},
        {"01", "t.op:1:1: not a JSON number"},
        {"-", "t.op:1:1: not a JSON number"},
        {"1.", "t.op:1:1: not a JSON number"},
        {"1e+", "t.op:1:1: not a JSON number"},
        {"[1e999]", "t.op:1:2: number 1e999 is beyond the range of double"},
        {"\"a\nb\"", "t.op:1:3: the end of the line, expected '\"' to end the string"},
        {"\"a", "t.op:1:3: the end of the text, expected '\"' to end the string"},
        {"\"a\tb\"", "t.op:1:3: control character 0x09 in a string"},
        {"\"\\x\"", "t.op:1:2: unknown escape sequence in a string"},
        {"\"\\u12g4\"", "t.op:1:2: \\u without 4 hexadecimal digits"},
        {"\"\\u0000\"", "t.op:1:2: \\u0000 in a string"},
        {"\"\\ud800x\"", "t.op:1:2: half of a surrogate pair"},
        {"\"\\udc00\"", "t.op:1:2: half of a surrogate pair"},
        {"\"\\ud800\\u0041\"", "t.op:1:2: half of a surrogate pair"},
        {"'''a\n'''", "t.op:1:4: 'a', expected the end of the line after the opening '''"},
        {"[\n'''\n text", "t.op:2:1: no closing ''' for this one"},
        {"'a'", "t.op:1:1: ''', expected a value"},
        {"/ no", "t.op:1:1: '/', expected a value"},
        {"\"\xFF\"", "t.op:1:2: byte 0xFF is not UTF-8 here"},
        {"\"\xC0\x80\"", "t.op:1:2: byte 0xC0 is not UTF-8 here"},
        {"\"\xED\xA0\x80\"", "t.op:1:2: byte 0xED is not UTF-8 here"},
        {"// \xE2\x82", "t.op:1:4: byte 0xE2 is not UTF-8 here"},
        {"{\"a\": 1,\n \"b\": 2,\n  \"a\": 3}", "t.op:3:3: key \"a\" occurs twice"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        ck_assert_ptr_null(ln_rjson_parse("t.op", cases[i].text, strlen(cases[i].text), NULL));
        ck_assert_str_eq(ln_last_error(), cases[i].message);
    }
}
END_TEST

START_TEST(a_nul_byte_is_a_mistake_everywhere)
{
    static const char *const texts[] = {"[1,\0 2]", "\"a\0b\"", "'''\na\0'''", "\0", "1\0"};
    static const size_t lens[] = {7, 5, 9, 1, 2};
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
        ck_assert_ptr_null(ln_rjson_parse("t.op", texts[i], lens[i], NULL));
}
END_TEST

START_TEST(the_text_need_not_end_in_a_nul)
{
    static const char *const texts[] = {"1234", "-1",      "tru", "true",
                                        "\"ab", "'''\n''", "//",  "[1.5e3"};
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
        const size_t len = strlen(texts[i]);
        char *copy = malloc(len); // so that a sanitizer sees a read after the end
        memcpy(copy, texts[i], len);
        ln_rjson_free(ln_rjson_parse("t.op", copy, len, NULL));
        free(copy);
    }
}
END_TEST

START_TEST(nesting_is_bounded)
{
    char text[2 * LN_RJSON_MAX_DEPTH + 3] = "";
    memset(text, '[', LN_RJSON_MAX_DEPTH);
    memset(text + LN_RJSON_MAX_DEPTH, ']', LN_RJSON_MAX_DEPTH);
    ln_rjson_free(parse(text));

    memset(text, '[', LN_RJSON_MAX_DEPTH + 1);
    ck_assert_ptr_null(ln_rjson_parse("t.op", text, strlen(text), NULL));
    ck_assert_str_eq(ln_last_error(), "t.op:1:65: nested deeper than 64 levels");
}
END_TEST

START_TEST(many_members_are_checked_in_little_time)
{
    enum { n = 100000 };
    char *text = malloc(n * 16 + 2), *p = text;
    *p++ = '{';
    for (int i = 0; i < n; i++)
        p += sprintf(p, "\"%d\":0,", i);
    strcpy(p, "}");
    ln_rjson *root = parse(text);
    ck_assert_uint_eq(root->len, n);
    ln_rjson_free(root);
    free(text);
}
END_TEST

START_TEST(a_record_can_be_given_for_the_reason)
{
    ln_error err = {0};
    ck_assert_ptr_null(ln_rjson_parse("a.op", "[", 1, &err));
    ck_assert_str_eq(ln_error_text(&err), "a.op:1:2: the end of the text, expected a value");

    ln_error_clear(&err);
    ck_assert_ptr_null(ln_rjson_read("no-such-file.op", &err));
    ck_assert_ptr_nonnull(strstr(ln_error_text(&err), "no-such-file.op"));
}
END_TEST

START_TEST(a_reader_of_the_tree_fails_at_a_place)
{
    ln_rjson *root = parse("{\n \"a\":  1}");
    const ln_rjson *a = ln_rjson_get(root, "a");
    ck_assert_int_eq(ln_rjson_fail(a, NULL, "is %s", ln_rjson_type_name(a->type)), -1);
    ck_assert_str_eq(ln_last_error(), "t.op:2:8: is a number");
    ck_assert_int_eq(ln_rjson_fail_key(a, NULL, "unknown key"), -1);
    ck_assert_str_eq(ln_last_error(), "t.op:2:2: unknown key");
    ln_rjson_free(root);
}
END_TEST

LN_TEST_MAIN("relaxed JSON", values_come_back_as_strict_json, escapes_beyond_ascii_become_utf8,
             nodes_know_where_they_stand, keys_may_be_words_and_strings_continue,
             numbers_are_given_in_both_forms, errors_name_their_position,
             a_nul_byte_is_a_mistake_everywhere, the_text_need_not_end_in_a_nul, nesting_is_bounded,
             many_members_are_checked_in_little_time, a_record_can_be_given_for_the_reason,
             a_reader_of_the_tree_fails_at_a_place)
