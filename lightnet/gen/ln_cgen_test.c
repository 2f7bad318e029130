// SPDX-License-Identifier: Apache-2.0
// Tests of writing and reading generated C.

#include "gen/ln_cgen.h"

#include <string.h>

#include "ln_check.h"

START_TEST(long_lines_are_broken_where_c_allows_it)
{
    ln_cgen out = {.file = "a.c"};
    ln_cgen_line(&out, 4, "call(%s, %s, %s);", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
                 "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb", "cccccccccccccccccccccccccccc");
    ck_assert_str_eq(out.text, "    call(aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa, "
                               "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb,\n"
                               "         cccccccccccccccccccccccccccc);\n");
    ck_assert_int_eq(out.line, 2);
    ln_cgen_free(&out);
}
END_TEST

START_TEST(long_strings_are_broken_into_several)
{
    ln_cgen out = {.file = "a.c"};
    ln_cgen_line(&out, 4, ".doc = \"%s %s %s\",", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
                 "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb", "cccccccccccccccccccccccccccc");
    ck_assert_str_eq(out.text, "    .doc = \"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa "
                               "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb \"\n"
                               "        \"cccccccccccccccccccccccccccc\",\n");
    ln_cgen_free(&out);
}
END_TEST

START_TEST(long_comments_stay_comments)
{
    ln_cgen out = {.file = "a.c"};
    ln_cgen_comment(&out, "one, two three "
                          "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
                          "aaaaaaaaaaaaaaaaaa, end");
    ck_assert_str_eq(out.text, "// one, two three\n"
                               "// "
                               "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
                               "aaaaaaaaaaaaaaaaaaaaaaa, "
                               "end\n");
    ln_cgen_free(&out);
}
END_TEST

START_TEST(a_snippet_points_to_its_place_and_back)
{
    const char text[] = "{\"run\":\n'''\n\n      one();\n\n        two();\n'''}";
    ln_rjson *root = ln_rjson_parse("my \"x\".op", text, strlen(text), NULL);
    ln_cgen out = {.file = "my.c"};
    ln_cgen_print(&out, "{\n");
    ln_cgen_snippet(&out, 4, ln_rjson_get(root, "run"));
    ln_cgen_print(&out, "}\n");
    ck_assert_str_eq(out.text, "{\n"
                               "#line 4 \"my \\\"x\\\".op\"\n"
                               "    one();\n"
                               "\n"
                               "      two();\n"
                               "#line 7 \"my.c\"\n"
                               "}\n");
    ln_cgen_free(&out);
    ln_rjson_free(root);
}
END_TEST

START_TEST(a_line_that_follows_in_its_file_too_needs_no_directive)
{
    const char text[] = "[\"one\",\n\"two\",\n\n\"three\"]";
    ln_rjson *root = ln_rjson_parse("my.op", text, strlen(text), NULL);
    ln_cgen out = {.file = "my.c"};
    for (size_t i = 0; i < root->len; i++)
        ln_cgen_line_of(&out, 4, root->items[i], "%s();", root->items[i]->text);
    ln_cgen_print(&out, "\n");
    ln_cgen_print(&out, "    // three more\n");
    ln_cgen_line_of(&out, 4, root->items[2], "more();");
    ln_cgen_print(&out, "}\n");
    ck_assert_str_eq(out.text, "#line 1 \"my.op\"\n"
                               "    one();\n"
                               "    two();\n"
                               "#line 4 \"my.op\"\n"
                               "    three();\n"
                               "\n"
                               "    // three more\n"
                               "#line 4 \"my.op\"\n"
                               "    more();\n"
                               "#line 11 \"my.c\"\n"
                               "}\n");
    ln_cgen_free(&out);
    ln_rjson_free(root);
}
END_TEST

START_TEST(items_fill_lines)
{
    ln_cgen out = {.file = "a.c"};
    ln_cgen_filled(&out, "&aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa, "
                         "&bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb, &c, NULL");
    ck_assert_str_eq(out.text, "    &aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa,\n"
                               "    &bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb, &c, NULL,\n");
    ln_cgen_free(&out);
}
END_TEST

START_TEST(operands_bind_at_least_as_tightly_as_and)
{
    ck_assert(ln_c_is_operand("a == b"));
    ck_assert(ln_c_is_operand("a && b <= c"));
    ck_assert(ln_c_is_operand("f(a || b, c ? d : e)"));
    ck_assert(ln_c_is_operand("strcmp(a, \"?|=\") != 0"));
    ck_assert(!ln_c_is_operand("a || b"));
    ck_assert(!ln_c_is_operand("a ? b : c"));
    ck_assert(!ln_c_is_operand("f(a), b"));
    ck_assert(!ln_c_is_operand("a = b"));
}
END_TEST

START_TEST(names_are_found_as_identifiers_only)
{
    static const struct {
        const char *code;
        int names;
    } cases[] = {
        {"src", 1},           {"f(src)", 1},
        {"src->dims[0]", 1},  {"a - src", 1},
        {"a > src", 1},       {"x ? .5 : src", 1},
        {"src2", 0},          {"my_src", 0},
        {"a->src", 0},        {"a.src", 0},
        {"a -> src", 0},      {"\"src\"", 0},
        {"'\\'' + src", 1},   {"// src", 0},
        {"/* src */ dst", 0}, {"// x\nsrc", 1},
        {"\"\\\"\" src", 1},  {"1e+src", 0},
        {"/* src", 0},        {"\"src", 0},
        {"a->b, src->c", 1},  {"", 0},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        ck_assert_msg(ln_c_names(cases[i].code, "src") == cases[i].names, "%s", cases[i].code);
}
END_TEST

START_TEST(arguments_are_counted_as_a_macro_sees_them)
{
    ck_assert_int_eq(ln_c_count_arguments("a"), 1);
    ck_assert_int_eq(ln_c_count_arguments("a == f(b, c)"), 1);
    ck_assert_int_eq(ln_c_count_arguments("a, \"%d, %d\", b"), 3);
    ck_assert_int_eq(ln_c_count_arguments("a[b, c]"), 2);
    ck_assert_int_eq(ln_c_count_arguments("a, ',' /* , */"), 2);
}
END_TEST

START_TEST(keywords_are_no_identifiers)
{
    ck_assert_int_eq(ln_c_is_identifier("conv2d_cpu"), 1);
    ck_assert_int_eq(ln_c_is_identifier("_x"), 1);
    ck_assert_int_eq(ln_c_is_identifier("2d"), 0);
    ck_assert_int_eq(ln_c_is_identifier("a-b"), 0);
    ck_assert_int_eq(ln_c_is_identifier(""), 0);
    ck_assert_int_eq(ln_c_is_identifier("int"), 0);
}
END_TEST

START_TEST(a_file_that_cannot_be_written_is_an_error)
{
    ln_cgen out = {.file = "no/such/folder/a.c"};
    ln_cgen_print(&out, "x\n");
    ck_assert_int_eq(ln_cgen_save(&out, NULL), -1);
    ck_assert_ptr_nonnull(strstr(ln_last_error(), "no/such/folder/a.c: cannot write: "));
    ln_cgen_free(&out);
}
END_TEST

LN_TEST_MAIN("generated C", long_lines_are_broken_where_c_allows_it,
             long_strings_are_broken_into_several, long_comments_stay_comments,
             a_snippet_points_to_its_place_and_back,
             a_line_that_follows_in_its_file_too_needs_no_directive, items_fill_lines,
             operands_bind_at_least_as_tightly_as_and, names_are_found_as_identifiers_only,
             arguments_are_counted_as_a_macro_sees_them, keywords_are_no_identifiers,
             a_file_that_cannot_be_written_is_an_error)
