// SPDX-License-Identifier: Apache-2.0
// Tests of the generator of operators, on the descriptions in test/: their C against the expected
// one, and mistakes against the expected messages. Runs in the folder test/.

#include "gen/ln_opgen.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lightnet/ln_util.h"
#include "ln_cases.h"
#include "ln_check.h"

typedef int (*generate_func)(ln_cgen *out, const ln_opdescs *descs, ln_error *err);

// Returns new: what is generated from a file, or NULL with the thread's last error.
static char *generate(const char *file, const char *with, const char *output, generate_func func)
{
    ln_opdescs *descs = ln_opdescs_create();
    ln_cgen out = {.file = output};
    int failed = ln_opdescs_read(descs, file, 1, NULL);
    if (!failed && with)
        failed = ln_opdescs_read(descs, with, 0, NULL);
    if (!failed)
        failed = ln_opdescs_check(descs, NULL) || func(&out, descs, NULL);
    char *text = failed ? NULL : ln_strdup(out.text);
    ln_cgen_free(&out);
    ln_opdescs_free(descs);
    return text;
}

// ln_opgen_c as a generate_func, with documentation.
static int generate_c(ln_cgen *out, const ln_opdescs *descs, ln_error *err)
{
    return ln_opgen_c(out, descs, 1, err);
}

// The same without it, with a table of it after.
static int generate_apart(ln_cgen *out, const ln_opdescs *descs, ln_error *err)
{
    const int result = ln_opgen_c(out, descs, 0, err);
    ln_opgen_doc_table(out, descs);
    return result;
}

START_TEST(generated_c_is_as_expected)
{
    char *text = generate("good.op", NULL, "good.c", generate_c);
    ln_assert_golden(text, "good.expected.c");
    ln_free(text);
}
END_TEST

// ln_opgen_docs as a generate_func.
static int generate_docs(ln_cgen *out, const ln_opdescs *descs, ln_error *err)
{
    (void)err;
    ln_opgen_docs(out, descs);
    return 0;
}

START_TEST(generated_page_is_as_expected)
{
    char *text = generate("good.op", NULL, "good.md", generate_docs);
    ln_assert_golden(text, "good.expected.md");
    ln_free(text);
}
END_TEST

START_TEST(documentation_is_left_out_for_a_table)
{
    char *text = generate("good.op", NULL, "good.c", generate_apart);
    char *table = strstr(text, "// Generated from good.op: the documentation");
    ck_assert_ptr_nonnull(table);
    ck_assert_ptr_nonnull(strstr(table, "{\"one per line\", \"1-D TL_FLOAT\", NULL},\n"));
    ck_assert_ptr_nonnull(strstr(table, "{\"\", \"number -> int\", \"3\"},\n"));
    ck_assert_ptr_nonnull(strstr(table, "    {\"blur\", &blur_docs},\n"));
    *table = '\0';
    ck_assert_ptr_null(strstr(text, "one per line"));
    ck_assert_ptr_null(strstr(text, "docs"));
    ln_free(text);
}
END_TEST

START_TEST(no_line_is_too_long_except_the_authors)
{
    char *text = generate("good.op", NULL, "good.c", generate_c);
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
        ck_assert_msg(strlen(line) <= LN_CGEN_COLUMNS, "%s", line);
    ln_free(text);
}
END_TEST

START_TEST(an_operator_inherits_from_another_file)
{
    char *text = generate("child.op", "good.op", "child.c", generate_c);
    ck_assert_msg(text != NULL, "%s", ln_last_error());
    ck_assert_ptr_nonnull(strstr(text, "LN_GENOP(blur_cpu, blur_cpu, \"cpu\", LN_MEM_CPU,"));
    ck_assert_ptr_nonnull(strstr(text, "#include <math.h>"));
    ck_assert_ptr_nonnull(
        strstr(text, "#line 10 \"child.op\"\n    if (blur(src, bias, dst, width, weights))"));
    ck_assert_ptr_null(strstr(text, "LN_GENOP(split_cpu"));
    ln_free(text);

    ck_assert_ptr_null(generate("child.op", NULL, "child.c", generate_c));
    ck_assert_str_eq(
        ln_last_error(),
        "child.op:7:25: operator 'blur_cpu': inherits 'blur', which is described nowhere");
}
END_TEST

START_TEST(a_list_holds_the_operators_of_one_architecture_and_types_those_of_all)
{
    ln_opdescs *descs = ln_opdescs_create();
    ln_cgen out = {.file = "-"};
    ck_assert_int_eq(ln_opdescs_read(descs, "good.op", 1, NULL), 0);
    ck_assert_int_eq(ln_opdescs_check(descs, NULL), 0);
    ln_opgen_list(&out, descs, "none");
    ck_assert_ptr_nonnull(strstr(out.text,
                                 "extern ln_op ln_opimpl_blur, ln_opimpl_count, ln_opimpl_cut, "
                                 "ln_opimpl_watch;\n\n"
                                 "static ln_op *ops_none[] = {\n"
                                 "    &ln_opimpl_blur, &ln_opimpl_count, &ln_opimpl_cut, "
                                 "&ln_opimpl_watch, NULL,\n};\n"));
    ln_opgen_list(&out, descs, "far");
    ck_assert_ptr_nonnull(strstr(out.text, "ops_far[] = {\n    &ln_opimpl_count_far, NULL,\n"));
    ln_opgen_types(&out, descs);
    ck_assert_ptr_nonnull(strstr(out.text, "\n\n#define LN_OP_BLUR \"blur\"\n"));
    ck_assert_ptr_nonnull(strstr(out.text, "#define LN_OP_COUNT_FAR \"count_far\"\n"));
    ck_assert_ptr_null(strstr(out.text, "template")); // "autogen": false
    ln_cgen_free(&out);
    ln_opdescs_free(descs);
}
END_TEST

START_TEST(forms_in_another_format_become_tables)
{
    static const char *const expected[] = {
        "static const ln_attr_word words_0_0[] = {{\"mirror\", \"mirror\", 0}, {\"zero\", "
        "\"none\", "
        "5}, {0}};\n",
        "{LN_FORM_IN, \"src\", .is_required = 1, .dtype = TL_FLOAT, .is_cast = 1},\n"
        "    {LN_FORM_IN, \"bias\"},\n    {LN_FORM_INT, \"width\", .is_required = 1},\n"
        "    {LN_FORM_NUMBER, \"sigma\", .name = \"sigma\", .is_required = 1},\n",
        "{LN_FORM_BOOL, \"wrap\", .name = \"wrapped\", .is_not = 1, .since = 4, .has_default = 1,\n"
        "     .number = 1},\n",
        "    {LN_FORM_IS_TEXT, \"edge\", .text = \"mirror\", .number = 0},\n",
        "    {LN_FORM_IS_NUMBER, \"width\", .text = \"3\", .number = 3},\n",
        "    {\"blur\", \"com.acme:Soften\", 1, items_1},\n",
        "ROW(0, \"Blur\", 3, \"3\", \"1\", \"sigma:f old:i<3 wrapped:i>=4 border:s weights:F\", "
        "\"blur\")\n",
        "#define LN_FORMS_COM_ACME(ROW) \\\n    ROW(1, \"Soften\", 1, \"1\", \"1\", \"\", "
        "\"blur\")\n"};
    char *text = generate("good.op", NULL, "forms.h", ln_opgen_forms);
    ck_assert_msg(text != NULL, "%s", ln_last_error());
    for (size_t i = 0; i < LENGTH_OF(expected); i++)
        ck_assert_msg(strstr(text, expected[i]) != NULL, "%s\n%s", expected[i], text);
    ln_free(text);
}
END_TEST

static void reject(const char *file, char *message, size_t size)
{
    char *text = generate(file, NULL, "bad.c", generate_c);
    if (text) { // a mistake in a form
        ln_free(text);
        text = generate(file, NULL, "bad.h", ln_opgen_forms);
    }
    if (text) { // in an example
        ln_free(text);
        text = generate(file, NULL, "bad.c", ln_opgen_tests);
    }
    snprintf(message, size, "%s", text ? "no mistake was found" : ln_last_error());
    ln_free(text);
}

START_TEST(errors_have_the_expected_messages)
{
    ck_assert_int_gt(ln_cases_check("bad_op.cases", ".op", reject), 50);
}
END_TEST

LN_TEST_MAIN("operator generator", generated_c_is_as_expected, generated_page_is_as_expected,
             documentation_is_left_out_for_a_table, no_line_is_too_long_except_the_authors,
             an_operator_inherits_from_another_file,
             a_list_holds_the_operators_of_one_architecture_and_types_those_of_all,
             forms_in_another_format_become_tables, errors_have_the_expected_messages)
