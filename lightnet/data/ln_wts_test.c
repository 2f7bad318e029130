// SPDX-License-Identifier: Apache-2.0
// Tests of wts files.

#include "data/ln_wts.h"

#include <locale.h>

#include "ln_data_check.h"
#include "lightnet/ln_data.h"
#include "lightnet/ln_tensor.h"
#include "tensorlight/tl_type.h"

static char folder[32];

static void make_text(const char *file, const char *text)
{
    make_file(file, text, strlen(text));
}

static void check_text(const char *file, const char *expected)
{
    size_t size;
    char *text = file_bytes(file, &size);
    ck_assert_str_eq(text, expected);
    free(text);
}

static int parse(ln_bundle *bundle, const char *file, ln_error *err)
{
    ln_infile in;
    *bundle = (ln_bundle){0};
    if (ln_infile_open(&in, file, err))
        return -1;
    const int rc = ln_wts_parse(bundle, &in, file, err);
    ln_infile_close(&in);
    return rc;
}

static int try_wts(const char *file, ln_error *err)
{
    ln_bundle bundle;
    const int rc = parse(&bundle, file, err);
    ln_bundle_clear(&bundle);
    return rc;
}

START_TEST(arrays_of_all_types_are_read)
{
    enter_new_folder(folder);
    make_text("a", "4\nf 0 3 3f800000 0 BF800000 \nh 1 1 3c00\r\n_i2\t2 2 ff 7\nnone 0 0\n\n");
    ln_bundle bundle;
    ln_error err = {0};
    if (parse(&bundle, "a", &err))
        ck_abort_msg("%s", ln_error_text(&err));
    ck_assert_int_eq(bundle.len, 4);
    const float *f = ln_bundle_find(&bundle, "f")->data;
    ck_assert(f[0] == 1 && f[1] == 0 && f[2] == -1);
    ck_assert_int_eq(*(uint16_t *)ln_bundle_find(&bundle, "h")->data, 0x3c00);
    const tl_tensor *i2 = ln_bundle_find(&bundle, "_i2");
    ck_assert_int_eq(i2->dtype, TL_INT8);
    ck_assert_int_eq(((const int8_t *)i2->data)[0], -1);
    ck_assert_int_eq(((const int8_t *)i2->data)[1], 7);
    ck_assert_int_eq(ln_bundle_find(&bundle, "none")->len, 0);
    ln_bundle_clear(&bundle);
    leave_folder(folder);
}
END_TEST

START_TEST(rejects_bad_files)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"x", "a:1: the number of arrays is 'x', expected a number from 0 to 2147483647"},
        {"99999999999", "a:1: the number of arrays is '99999999999', expected a number from 0 to "
                        "2147483647"},
        {"1 2\n", "a:1: the line continues with '2', expected its end"},
        {"2\na 0 1 0\n", "a: the file ends after 1 of 2 arrays"},
        {"1\na 0 1 0\n\n b 0 1 0\n", "a:4: the file has more than the 1 arrays of line 1"},
        {"1\n3a 0 1 0\n",
         "a:2: the name is '3a', expected a C identifier of at most 511 characters"},
        {"1\na.b 0 1 0\n",
         "a:2: the name is 'a.b', expected a C identifier of at most 511 characters"},
        {"1\n\n", "a:2: the name is '', expected a C identifier of at most 511 characters"},
        {"1\na 3 1 0\n", "a:2: the type is '3', expected a number from 0 to 2"},
        {"1\na 0 -1 0\n", "a:2: the count is '-1', expected a number from 0 to 2147483647"},
        {"1\na 0\n", "a:2: the count is '', expected a number from 0 to 2147483647"},
        {"1\na 0 2147483647 0\n",
         "a:2: array 'a' has 2147483647 elements, more than the rest of the file can hold"},
        {"1\na 0 2 0\n    \n", "a:2: array 'a' ends after 1 elements"},
        {"1\na 0 1 0 0\n", "a:2: the line continues with '0', expected its end"},
        {"1\na 0 1 0x1\n",
         "a:2: array 'a': element 0 is '0x1', expected 1 to 8 hexadecimal digits"},
        {"1\na 2 1 100\n",
         "a:2: array 'a': element 0 is '100', expected 1 to 2 hexadecimal digits"},
        {"2\na 0 1 0\na 0 1 0\n",
         "a:3: array 'a': the name is taken, expected one that is unique in the file"},
    };
    enter_new_folder(folder);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        ln_error err = {0};
        make_text("a", cases[i].text);
        ck_assert_int_eq(try_wts("a", &err), -1);
        ck_assert_str_eq(ln_error_text(&err), cases[i].message);
    }
    leave_folder(folder);
}
END_TEST

// The reader sees 8 KB at a time: where a window ended, two words came of one.
START_TEST(rejects_long_words)
{
    enum { BLANKS = 8192 - 513 - 6 };
    char text[8300];
    ln_error err = {0};
    snprintf(text, sizeof(text), "1\na 0 %*s%0513d0000001\n", BLANKS, "", 1);
    enter_new_folder(folder);
    make_text("a", text);
    ck_assert_int_eq(try_wts("a", &err), -1);
    ck_assert_str_eq(ln_error_text(&err), "a:2: a word has more than 512 bytes");
    leave_folder(folder);
}
END_TEST

START_TEST(damaged_files_are_survived)
{
    // The last line has one digit: every truncation lacks something.
    static const char text[] = "2\nf 0 3 3f800000 0 BF800000\nh 1 2 3c00 1";
    enter_new_folder(folder);
    check_mutations(text, sizeof(text) - 1, try_wts);
    leave_folder(folder);
}
END_TEST

START_TEST(a_written_file_reads_back_the_same)
{
    enter_new_folder(folder);
    float f[] = {1, -0.0f};
    int8_t i8[] = {-1, 7};
    tl_tensor *tensors[] = {tl_tensor_create(f, 1, (int[]){2}, TL_FLOAT),
                            tl_tensor_create(i8, 2, (int[]){2, 1}, TL_INT8)};
    ln_error err = {0};
    ck_assert_int_eq(ln_wts_write("a", 2, (const char *const[]){"f", "i"},
                                  (const tl_tensor *const *)tensors, &err),
                     0);
    check_text("a", "2\nf 0 2 3f800000 80000000\ni 2 2 ff 07\n");
    ck_assert_int_eq(try_wts("a", &err), 0);

    ck_assert_int_eq(ln_wts_write("a", 2, (const char *const[]){"f", "f"},
                                  (const tl_tensor *const *)tensors, &err),
                     -1);
    ck_assert_str_eq(ln_error_text(&err), "a: two arrays are named 'f'");
    ln_error_clear(&err);
    ck_assert_int_eq(
        ln_wts_write("a", 1, (const char *const[]){"f.1"}, (const tl_tensor *const *)tensors, &err),
        -1);
    ck_assert_str_eq(ln_error_text(&err), "a: array 'f.1' is not named by a C identifier");
    tl_tensor_free(tensors[0]);
    tl_tensor_free(tensors[1]);
    leave_folder(folder);
}
END_TEST

START_TEST(texts_of_numbers_become_arrays)
{
    enter_new_folder(folder);
    make_text("bias.first.txt", "1, -2.5;\n{+.5} 1e3-4 inf");
    make_text("empty.txt", "\n");
    ln_error err = {0};
    const char *const texts[] = {"./bias.first.txt", "empty.txt"};
    ck_assert_int_eq(ln_wts_write_from_texts("a", TL_FLOAT, 2, texts, &err), 0);
    check_text("a",
               "2\nbias 0 6 3f800000 c0200000 3f000000 447a0000 c0800000 7f800000\nempty 0 0\n");
    ck_assert_int_eq(ln_wts_write_from_texts("a", TL_FLOAT16, 1, texts, &err), 0);
    check_text("a", "1\nbias 1 6 3c00 c100 3800 63d0 c400 7c00\n");
    make_text("i", "-128 127 0");
    ck_assert_int_eq(ln_wts_write_from_texts("a", TL_INT8, 1, (const char *const[]){"i"}, &err), 0);
    check_text("a", "1\ni 2 3 80 7f 00\n");
    leave_folder(folder);
}
END_TEST

START_TEST(rejects_bad_texts)
{
    static const struct {
        const char *file, *text;
        tl_dtype dtype;
        const char *message;
    } cases[] = {
        {"t", "1\n2 x", TL_FLOAT, "t:2: 'x' is neither a number nor a separator"},
        {"t", "0x10", TL_FLOAT, "t:1: '0x10' is not a decimal number"},
        {"t", "1e", TL_FLOAT, "t:1: '1e' is not a decimal number"},
        {"t", "1e39", TL_FLOAT, "t:1: 9.9999999999999994e+38 does not fit TL_FLOAT"},
        {"t", "70000", TL_FLOAT16, "t:1: 70000 does not fit TL_FLOAT16"},
        {"t", "1 0.5", TL_INT8, "t:1: 0.5 does not fit TL_INT8"},
        {"t", "128", TL_INT8, "t:1: 128 does not fit TL_INT8"},
        {"t", "nan", TL_INT8, "t:1: nan does not fit TL_INT8"},
        {"t", "1", TL_DOUBLE,
         "a: no wts type for dtype 0, expected TL_FLOAT, TL_FLOAT16 or TL_INT8"},
        {"1.txt", "1", TL_FLOAT,
         "1.txt: the file's name does not begin with a C identifier of at most 511 characters, "
         "which would name the array"},
    };
    enter_new_folder(folder);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        ln_error err = {0};
        make_text(cases[i].file, cases[i].text);
        ck_assert_int_eq(ln_wts_write_from_texts("a", cases[i].dtype, 1,
                                                 (const char *const[]){cases[i].file}, &err),
                         -1);
        ck_assert_str_eq(ln_error_text(&err), cases[i].message);
        ck_assert_int_ne(access("a", F_OK), 0);
    }
    ln_error err = {0};
    make_text("t", "1");
    make_text("t.txt", "2");
    ck_assert_int_eq(
        ln_wts_write_from_texts("a", TL_FLOAT, 2, (const char *const[]){"t", "t.txt"}, &err), -1);
    ck_assert_str_eq(
        ln_error_text(&err),
        "t.txt: array 't': the name is taken, expected one that is unique in the file");
    leave_folder(folder);
}
END_TEST

// The documented function

static ln_hash *table_with(const char *name, tl_tensor *tensor)
{
    ln_hash *table = ln_tensor_table_create();
    ck_assert_ptr_nonnull(table);
    ln_tensor_entry *te = ln_tensor_entry_create(name, tensor);
    ck_assert_ptr_nonnull(te);
    te->mtype = LN_MEM_CPU;
    ck_assert_int_eq(ln_tensor_table_insert(table, te), 1);
    return table;
}

START_TEST(weight_file_fills_the_tensor_table)
{
    enter_new_folder(folder);
    float data[2] = {0};
    ln_hash *table = table_with("w", tl_tensor_create(data, 2, (int[]){1, 2}, TL_FLOAT));
    make_text("a", "1\nw 0 2 3f800000 40000000\n");
    ck_assert_int_eq(ln_tensor_table_load_trt_weight_file(table, "a"), 0);
    ck_assert(data[0] == 1 && data[1] == 2);

    ck_assert_str_eq(ln_last_error(), "");
    make_text("a", "2\nv 0 1 0\nw 0 2 40000000 3f800000\n");
    ck_assert_int_eq(ln_tensor_table_load_trt_weight_file(table, "a"), 0);
    ck_assert_str_eq(ln_last_error(), "a: ignored array 'v': no tensor has its name");
    ck_assert(data[0] == 2 && data[1] == 1);
    make_text("a", "1\nw 0 3 0 0 0\n");
    ck_assert_int_eq(ln_tensor_table_load_trt_weight_file(table, "a"), -1);
    ck_assert_str_eq(ln_last_error(),
                     "a: tensor 'w' is TL_FLOAT with 3 elements, expected TL_FLOAT with 2");
    ck_assert(data[0] == 2 && data[1] == 1);
    ln_tensor_table_free(table);
    leave_folder(folder);
}
END_TEST

LN_TEST_MAIN("wts", arrays_of_all_types_are_read, rejects_bad_files, rejects_long_words,
             damaged_files_are_survived, a_written_file_reads_back_the_same,
             texts_of_numbers_become_arrays, rejects_bad_texts, weight_file_fills_the_tensor_table)
