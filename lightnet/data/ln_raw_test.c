// SPDX-License-Identifier: Apache-2.0
// Tests of raw data, and of opening files at all.

#include "data/ln_raw.h"

#include <sys/stat.h>

#include "ln_data_check.h"
#include "lightnet/ln_data.h"
#include "tensorlight/tl_type.h"

static char folder[32];

START_TEST(bytes_become_elements)
{
    enter_new_folder(folder);
    make_file("a.bin", "\x01\x00\xff\xff\x00\x80", 6);
    ln_error err = {0};
    tl_tensor *t = ln_bin_read("a.bin", TL_INT16, 2, (int[]){3, 1}, &err);
    ck_assert_ptr_nonnull(t);
    ck_assert_int_eq(t->ndim, 2);
    ck_assert_int_eq(((int16_t *)t->data)[0], 1);
    ck_assert_int_eq(((int16_t *)t->data)[1], -1);
    ck_assert_int_eq(((int16_t *)t->data)[2], -32768);
    tl_tensor_free_data_too(t);
    leave_folder(folder);
}
END_TEST

START_TEST(written_files_can_be_read)
{
    enter_new_folder(folder);
    ln_error err = {0};
    uint16_t bits[] = {0x3f80, 0xc000, 0x7fc0}; // 1, -2, NaN
    tl_tensor *t = tl_tensor_create(bits, 1, (int[]){3}, TL_BFLOAT16);
    ck_assert_ptr_nonnull(t);
    ck_assert_int_eq(ln_bin_write("a.bin", t, &err), 0);
    tl_tensor *back = ln_bin_read("a.bin", TL_BFLOAT16, 1, (int[]){3}, &err);
    ck_assert_ptr_nonnull(back);
    ck_assert_mem_eq(back->data, "\x80\x3f\x00\xc0\xc0\x7f", 6);
    ck_assert_int_eq(ln_bin_write("none/a.bin", t, &err), -1);
    ck_assert_str_eq(ln_error_text(&err), "none/a.bin: cannot write: No such file or directory");
    tl_tensor_free_data_too(back);
    tl_tensor_free(t);
    leave_folder(folder);
}
END_TEST

START_TEST(pipe_is_read_like_a_file)
{
    enter_new_folder(folder);
    ln_error err = {0};
    int ends[2];
    char file[32];
    ck_assert_int_eq(pipe(ends), 0);
    ck_assert_int_eq(write(ends[1], "\x05", 1), 1);
    close(ends[1]);
    snprintf(file, sizeof(file), "/dev/fd/%d", ends[0]);
    tl_tensor *t = ln_bin_read(file, TL_UINT8, 0, NULL, &err);
    ck_assert_ptr_nonnull(t);
    ck_assert_int_eq(*(uint8_t *)t->data, 5);
    tl_tensor_free_data_too(t);
    close(ends[0]);
    leave_folder(folder);
}
END_TEST

START_TEST(rejects_data_of_another_size)
{
    enter_new_folder(folder);
    make_file("a.bin", "\x01\x00\xff\xff", 4);
    make_file("empty", "", 0);
    ck_assert_int_eq(mkdir("d", 0777), 0);
    const int dims[] = {1 << 20, 1 << 20, 2, -1};
    const struct {
        const char *file;
        int dtype, ndim;
        const int *dims;
        const char *message;
    } cases[] = {
        {"a.bin", TL_FLOAT, 1, &dims[2], "a.bin: 4 bytes of data, expected 8 for TL_FLOAT [2]"},
        {"a.bin", TL_INT8, 0, NULL, "a.bin: 4 bytes of data, expected 1 for TL_INT8 []"},
        {"a.bin", 99, 0, NULL, "a.bin: dtype 99 does not exist"},
        {"empty", TL_INT8, 0, NULL, "empty: the file is empty"},
        {"none", TL_INT8, 0, NULL, "none: cannot read: No such file or directory"},
        {"d", TL_INT8, 0, NULL, "d: cannot read: Is a directory"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        ln_error err = {0};
        ck_assert_ptr_null(ln_bin_read(cases[i].file, (tl_dtype)cases[i].dtype, cases[i].ndim,
                                       cases[i].dims, &err));
        ck_assert_str_eq(ln_error_text(&err), cases[i].message);
    }
    ln_error err = {0};
    ck_assert_ptr_null(ln_bin_read("a.bin", TL_INT8, 2, dims, &err));
    ck_assert_ptr_null(ln_bin_read("a.bin", TL_INT8, 1, &dims[3], &err));
    ck_assert_ptr_null(ln_bin_read("a.bin", TL_INT8, 9, dims, &err));
    leave_folder(folder);
}
END_TEST

START_TEST(bool_is_0_or_1)
{
    enter_new_folder(folder);
    ln_error err = {0};
    make_file("a.bin", "\x00\x01\x02", 3);
    ck_assert_ptr_null(ln_bin_read("a.bin", TL_BOOL, 1, (int[]){3}, &err));
    ck_assert_str_eq(ln_error_text(&err),
                     "a.bin: element 2 is the byte 2, expected a bool: 0 or 1");
    leave_folder(folder);
}
END_TEST

START_TEST(no_record_means_the_threads)
{
    ck_assert_ptr_null(ln_bin_read("/nowhere", TL_BOOL, 0, NULL, NULL));
    ck_assert_str_eq(ln_last_error(), "/nowhere: cannot read: No such file or directory");
}
END_TEST

LN_TEST_MAIN("raw data", bytes_become_elements, written_files_can_be_read, pipe_is_read_like_a_file,
             rejects_data_of_another_size, bool_is_0_or_1, no_record_means_the_threads)
