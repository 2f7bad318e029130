// SPDX-License-Identifier: Apache-2.0
// Tests of npy files.

#include "ln_data_check.h"
#include "data/ln_raw.h"
#include "lightnet/ln_data.h"
#include "tensorlight/tl_type.h"

static char folder[32];

// A file of version 1 from a header and data.
static void make_npy(const char *file, const char *header, const void *data, size_t size)
{
    char bytes[1024] = "\x93NUMPY\x01";
    const size_t len = strlen(header);
    bytes[8] = (char)len;
    memcpy(bytes + 10, header, len);
    memcpy(bytes + 10 + len, data, size);
    make_file(file, bytes, 10 + len + size);
}

static int try_npy(const char *file, ln_error *err)
{
    tl_tensor *t = ln_npy_read(file, err);
    tl_tensor_free_data_too(t);
    return t ? 0 : -1;
}

static void check_values(const char *file, int ndim, const int *dims, const int *expected)
{
    ln_error err = {0};
    tl_tensor *t = ln_npy_read(file, &err);
    if (!t)
        ck_abort_msg("%s", ln_error_text(&err));
    ck_assert_int_eq(t->ndim, ndim);
    for (int i = 0; i < ndim; i++)
        ck_assert_int_eq(t->dims[i], dims[i]);
    for (int i = 0; i < t->len; i++) {
        int value;
        tl_convert(&value, TL_INT32, tl_pointer_add(t->data, i, t->dtype), t->dtype);
        ck_assert_int_eq(value, expected[i]);
    }
    tl_tensor_free_data_too(t);
}

START_TEST(both_byte_orders_are_read)
{
    enter_new_folder(folder);
    const int expected[] = {1, -2};
    make_npy("a", "{'descr': '<i2', 'fortran_order': False, 'shape': (2,), }", "\1\0\xfe\xff", 4);
    check_values("a", 1, (int[]){2}, expected);
    make_npy("a", "{'descr': '>i2', 'fortran_order': False, 'shape': (2,), }", "\0\1\xff\xfe", 4);
    check_values("a", 1, (int[]){2}, expected);
    leave_folder(folder);
}
END_TEST

START_TEST(both_orders_of_axes_are_read)
{
    enter_new_folder(folder);
    make_npy("a", "{'descr': '|u1', 'fortran_order': False, 'shape': (2, 3), }", "\0\1\2\3\4\5", 6);
    check_values("a", 2, (int[]){2, 3}, (int[]){0, 1, 2, 3, 4, 5});
    make_npy("a", "{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3), }", "\0\1\2\3\4\5", 6);
    check_values("a", 2, (int[]){2, 3}, (int[]){0, 2, 4, 1, 3, 5});
    leave_folder(folder);
}
END_TEST

START_TEST(scalars_and_empty_arrays_are_read)
{
    enter_new_folder(folder);
    make_npy("a", "{'descr': '|i1', 'fortran_order': True, 'shape': ()}\n", "\7", 1);
    check_values("a", 0, NULL, (int[]){7});
    make_npy("a", "{\"shape\": (0, 3), \"fortran_order\": True, \"descr\": \"<f4\"}", "", 0);
    check_values("a", 2, (int[]){0, 3}, NULL);
    leave_folder(folder);
}
END_TEST

START_TEST(version_2_is_read)
{
    enter_new_folder(folder);
    const char bytes[] = "\x93NUMPY\x02\0\x37\0\0\0"
                         "{'descr': '|u1', 'fortran_order': False, 'shape': (1,)}\x09";
    make_file("a", bytes, sizeof(bytes) - 1);
    check_values("a", 1, (int[]){1}, (int[]){9});
    leave_folder(folder);
}
END_TEST

START_TEST(written_bytes_are_numpys)
{
    enter_new_folder(folder);
    float data[] = {1, -2};
    tl_tensor *t = tl_tensor_create(data, 2, (int[]){1, 2}, TL_FLOAT);
    ln_error err = {0};
    ck_assert_int_eq(ln_npy_write("a", t, &err), 0);
    size_t size;
    char *bytes = file_bytes("a", &size);
    ck_assert_uint_eq(size, 128 + 8);
    ck_assert_mem_eq(bytes, "\x93NUMPY\x01\0\x76\0", 10);
    ck_assert_mem_eq(bytes + 10, "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2), }  ",
                     61);
    ck_assert_mem_eq(bytes + 126, " \n\0\0\x80\x3f\0\0\0\xc0", 10);
    free(bytes);
    tl_tensor_free(t);
    leave_folder(folder);
}
END_TEST

START_TEST(every_dtype_reads_back_bfloat16_and_smaller_ones_as_their_bits)
{
    enter_new_folder(folder);
    uint64_t data[] = {0, 0x0101010101010101};
    for (int dtype = 0; dtype < TL_DTYPE_SIZE; dtype++) {
        ln_error err = {0};
        if (dtype == TL_STRING)
            continue;
        tl_tensor *t = tl_tensor_create(data, 1, (int[]){2}, (tl_dtype)dtype);
        ck_assert_int_eq(ln_npy_write("a", t, &err), 0);
        tl_tensor *back = ln_npy_read("a", &err);
        ck_assert_ptr_nonnull(back);
        ck_assert_int_eq(back->dtype, ln_raw_dtype((tl_dtype)dtype));
        ck_assert_mem_eq(back->data, data, tl_tensor_size(t));
        tl_tensor_free_data_too(back);
        tl_tensor_free(t);
    }
    leave_folder(folder);
}
END_TEST

#define REST "'fortran_order': False, 'shape': (2,)}"

START_TEST(rejects_bad_headers)
{
    static const struct {
        const char *header, *message;
    } cases[] = {
        {"", "a: the header ends where '{' is expected"},
        {"{'descr': '<f4'", "a: the header ends where '}' is expected"},
        {"{'descr' '<f4'}", "a: the header has ''' where ':' is expected"},
        {"{}", "a: the header lacks 'descr', 'fortran_order' or 'shape'"},
        {"{'descr': '<c8', " REST, "a: 'descr' is '<c8', expected a byte order and one of f2 f4 f8 "
                                   "i1 i2 i4 i8 u1 u2 u4 u8 b1, or U and a length"},
        {"{'descr': 'f4', " REST, "a: 'descr' is 'f4', expected a byte order and one of f2 f4 f8 "
                                  "i1 i2 i4 i8 u1 u2 u4 u8 b1, or U and a length"},
        {"{'descr': '', " REST, "a: 'descr' is '', expected a byte order and one of f2 f4 f8 i1 i2 "
                                "i4 i8 u1 u2 u4 u8 b1, or U and a length"},
        {"{'descr': [('x', '<f4')], " REST, "a: 'descr' is a record, expected a type of elements"},
        {"{'descr': '<f4', 'descr': '<f4', " REST, "a: the header has twice the key 'descr'"},
        {"{'colour': 1, " REST, "a: the header has the unknown key 'colour'"},
        {"{'fortran_order': 0}", "a: 'fortran_order' is neither True nor False"},
        {"{'shape': 2}", "a: the header has '2' where '(' is expected"},
        {"{'shape': (x)}", "a: 'shape' is not a tuple of integers"},
        {"{'shape': (-1,)}", "a: 'shape' is not a tuple of integers"},
        {"{'shape': (99999999999999999999,)}", "a: 'shape' has a dimension above 2147483647"},
        {"{'shape': (1,1,1,1,1,1,1,1,1)}", "a: 'shape' has more than 8 dimensions"},
        {"{'descr': '<f4', " REST, "a: 4 bytes of data, expected 8 for TL_FLOAT [2]"},
        {"{'descr': '<i1', " REST, "a: 4 bytes of data, expected 2 for TL_INT8 [2]"},
        {"{'descr': '<i1', " REST "}", "a: the header has '}' after its end"},
    };
    enter_new_folder(folder);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        ln_error err = {0};
        make_npy("a", cases[i].header, "\0\0\0\0", 4);
        ck_assert_ptr_null(ln_npy_read("a", &err));
        ck_assert_str_eq(ln_error_text(&err), cases[i].message);
    }
    leave_folder(folder);
}
END_TEST

START_TEST(rejects_bad_files)
{
    static const struct {
        const char *bytes;
        size_t size;
        const char *message;
    } cases[] = {
        {"\x93NUMPX\1\0\0\0", 10, "a: not an npy file"},
        {"\x93NUMPY\1\0\0", 9, "a: not an npy file"},
        {"\x93NUMPY\3\0\0\0", 10, "a: npy version 3.0, expected 1 or 2"},
        {"\x93NUMPY\2\0\0\0", 10, "a: the file ends in the npy header"},
        {"\x93NUMPY\1\0\2\0{", 11, "a: the header has 2 bytes, the file has 1 after its start"},
        {"\x93NUMPY\2\0\xff\xff\xff\xff{", 13,
         "a: the header has 4294967295 bytes, the file has 1 after its start"},
    };
    enter_new_folder(folder);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        ln_error err = {0};
        make_file("a", cases[i].bytes, cases[i].size);
        ck_assert_ptr_null(ln_npy_read("a", &err));
        ck_assert_str_eq(ln_error_text(&err), cases[i].message);
    }
    leave_folder(folder);
}
END_TEST

START_TEST(damaged_files_are_survived)
{
    enter_new_folder(folder);
    make_npy("a", "{'descr': '>f4', 'fortran_order': True, 'shape': (2, 1), }", "\0\1\2\3\4\5\6\7",
             8);
    size_t size;
    char *bytes = file_bytes("a", &size);
    check_mutations(bytes, size, try_npy);
    free(bytes);
    leave_folder(folder);
}
END_TEST

static void check_strings(const char *file, int len, const char *const *expected)
{
    ln_error err = {0};
    tl_tensor *const t = ln_npy_read(file, &err);
    ck_assert_msg(t != NULL, "%s", ln_error_text(&err));
    ck_assert_int_eq(t->dtype, TL_STRING);
    ck_assert_int_eq(t->len, len);
    for (int i = 0; i < len; i++)
        ck_assert_str_eq(tl_string_bytes(tl_tensor_string(t, i)), expected[i]);
    tl_tensor_free_data_too(t);
}

START_TEST(strings_are_ucs_4)
{
    enter_new_folder(folder);
    const char *const words[] = {"a", "\xf0\x9f\x98\x80z", "", "\xc3\xa4"};
    const char *const turned[] = {"a", "", "\xf0\x9f\x98\x80z", "\xc3\xa4"};
    make_npy("a", "{'descr': '<U2', 'fortran_order': False, 'shape': (2, 2), }",
             "a\0\0\0\0\0\0\0\0\xf6\1\0z\0\0\0\0\0\0\0\0\0\0\0\xe4\0\0\0\0\0\0\0", 32);
    check_strings("a", 4, words);
    make_npy("a", "{'descr': '<U2', 'fortran_order': True, 'shape': (2, 2), }",
             "a\0\0\0\0\0\0\0\0\xf6\1\0z\0\0\0\0\0\0\0\0\0\0\0\xe4\0\0\0\0\0\0\0", 32);
    check_strings("a", 4, turned);
    make_npy("a", "{'descr': '>U1', 'fortran_order': False, 'shape': (1,), }", "\0\0\0\xe4", 4);
    check_strings("a", 1, words + 3);
    tl_tensor *const t =
        tl_tensor_create(tl_strings_from_text(words, 4), 1, (const int[]){4}, TL_STRING);
    ln_error err = {0};
    ck_assert_int_eq(ln_npy_write("b", t, &err), 0);
    check_strings("b", 4, words);
    tl_tensor_free_data_too(t);
    leave_folder(folder);
}
END_TEST

START_TEST(bad_strings_are_rejected)
{
    static const struct {
        const char *descr, *message;
    } wrong[] = {
        {"<U1", "string 0 has an invalid code point"},
        {"<U2", "4 bytes of data, expected 1 strings of 8 bytes"},
        {"<U", "'descr' is '<U'"},
        {"<U-1", "'descr' is '<U-1'"},
        {"<U99999999999", "'descr' is '<U9999999999"},
        {"|O", "'descr' is '|O'"},
    };
    enter_new_folder(folder);
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        char header[128];
        ln_error err = {0};
        snprintf(header, sizeof(header), "{'descr': '%s', 'fortran_order': False, 'shape': (1,), }",
                 wrong[i].descr);
        make_npy("a", header, "\0\xd8\0\0", 4);
        ck_assert_int_eq(try_npy("a", &err), -1);
        ck_assert_msg(strstr(ln_error_text(&err), wrong[i].message) != NULL, "%s: expected %s",
                      ln_error_text(&err), wrong[i].message);
    }
    leave_folder(folder);
}
END_TEST

LN_TEST_MAIN("npy", both_byte_orders_are_read, both_orders_of_axes_are_read,
             scalars_and_empty_arrays_are_read, version_2_is_read, written_bytes_are_numpys,
             every_dtype_reads_back_bfloat16_and_smaller_ones_as_their_bits, rejects_bad_headers,
             rejects_bad_files, damaged_files_are_survived, strings_are_ucs_4,
             bad_strings_are_rejected)
