// SPDX-License-Identifier: Apache-2.0
// Tests of tensors as text.

#include <locale.h>
#include <string.h>

#include "ln_check.h"
#include "tensorlight/tl_tensor.h"

// The output of tl_tensor_fprint.
static const char *text_of(const tl_tensor *t, const char *fmt)
{
    static char text[1024];
    FILE *const stream = fmemopen(text, sizeof(text), "w");
    const int status = tl_tensor_fprint(stream, t, fmt);
    fclose(stream);
    return status < 0 ? NULL : text;
}

START_TEST(brackets_line_up)
{
    static const struct {
        int ndim, dims[4], len;
        const char *text;
    } rows[] = {
        {4,
         {2, 2, 1, 2},
         8,
         "[[[[0 1]]\n"
         "  [[2 3]]]\n"
         " [[[4 5]]\n"
         "  [[6 7]]]]\n"},
        {1, {3}, 3, "[0 1 2]\n"},
        {2, {2, 3}, 6, "[[0 1 2]\n [3 4 5]]\n"},
        {3, {2, 2, 1}, 4, "[[[0]\n  [1]]\n [[2]\n  [3]]]\n"},
        {1, {1}, 1, "[0]\n"},
        {0, {0}, 1, "0\n"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        tl_tensor *const t = tl_tensor_arange(0, rows[i].len, 1, TL_INT32);
        ck_assert_int_eq(tl_tensor_reshape_src(t, rows[i].ndim, rows[i].dims), 0);
        ck_assert_str_eq(text_of(t, NULL), rows[i].text);
        tl_tensor_free_data_too(t);
    }
}
END_TEST

START_TEST(an_empty_tensor_is_its_brackets)
{
    tl_tensor *const t = tl_tensor_zeros(2, (int[]){2, 0}, TL_FLOAT);
    ck_assert_str_eq(text_of(t, NULL), "[[]]\n");
    tl_tensor_free_data_too(t);
}
END_TEST

START_TEST(formats_apply_to_every_element)
{
    tl_tensor *const t = tl_tensor_arange(0, 1, 0.5, TL_BFLOAT16);
    ck_assert_str_eq(text_of(t, NULL), "[0.000 0.500]\n");
    ck_assert_str_eq(text_of(t, "%.1e"), "[0.0e+00 5.0e-01]\n");
    ck_assert_ptr_null(text_of(t, "%d"));
    ck_assert_ptr_null(text_of(NULL, NULL));
    tl_tensor_free_data_too(t);
}
END_TEST

START_TEST(numbers_have_a_point_in_every_locale)
{
    static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "fr_FR.utf8"};
    const char *name = NULL;
    for (size_t i = 0; !name && i < sizeof(names) / sizeof(*names); i++)
        name = setlocale(LC_NUMERIC, names[i]);
    // musl accepts every name, and has a decimal point in all locales.
    if (!name || strcmp(localeconv()->decimal_point, ",")) {
        ln_check_skip("no locale with a decimal comma");
        return;
    }
    char path[] = "/tmp/tl_print_test_XXXXXX";
    fclose(fdopen(mkstemp(path), "w"));
    tl_tensor *const t = tl_tensor_arange(0, 1, 0.5, TL_FLOAT);
    ck_assert_str_eq(text_of(t, NULL), "[0.000 0.500]\n");
    ck_assert_int_eq(tl_tensor_save(path, t, NULL), 0);
    float numbers[2];
    ck_assert_int_eq(tl_read_floats(path, 2, numbers), 2);
    ck_assert(numbers[1] == 0.5f);
    char text[8];
    snprintf(text, sizeof(text), "%.1f", 0.5);
    ck_assert_str_eq(text, "0,5"); // the program's locale is as before
    remove(path);
    tl_tensor_free_data_too(t);
}
END_TEST

START_TEST(a_saved_file_is_replaced)
{
    char path[] = "/tmp/tl_print_test_XXXXXX";
    fclose(fdopen(mkstemp(path), "w"));
    tl_tensor *const t = tl_tensor_arange(0, 100, 1, TL_INT8);
    ck_assert_int_eq(tl_tensor_save(path, t, NULL), 0);
    tl_tensor *const one = tl_tensor_arange(7, 8, 1, TL_INT8);
    ck_assert_int_eq(tl_tensor_save(path, one, NULL), 0);
    FILE *const stream = fopen(path, "r");
    char text[64] = "";
    ck_assert_uint_eq(fread(text, 1, sizeof(text), stream), 4);
    ck_assert_mem_eq(text, "[7]\n", 4);
    fclose(stream);
    remove(path);
    ck_assert_int_eq(tl_tensor_save("/nonexistent/file", t, NULL), -1);
    ck_assert_str_eq(tl_last_error(), "cannot open '/nonexistent/file': No such file or directory");
    ck_assert_int_eq(tl_tensor_save("/dev/full", t, NULL), -1);
    ck_assert_str_eq(tl_last_error(), "cannot write '/dev/full': No space left on device");
    ck_assert_int_eq(tl_tensor_save("/dev/null", t, "%f"), -1);
    ck_assert_str_eq(tl_last_error(),
                     "'/dev/null': format '%f', expected one conversion out of 'diouxX'");
    ck_assert_int_eq(tl_tensor_fprint(NULL, t, NULL), -1);
    ck_assert_str_eq(tl_last_error(), "'stream' is NULL, expected a stream");
    tl_tensor_free_data_too(t);
    tl_tensor_free_data_too(one);
}
END_TEST

LN_TEST_MAIN("tl_print", brackets_line_up, an_empty_tensor_is_its_brackets,
             formats_apply_to_every_element, numbers_have_a_point_in_every_locale,
             a_saved_file_is_replaced)
