// SPDX-License-Identifier: Apache-2.0
// Tests of tensors: types, shapes, the binary form.

#include "srv_tensor.h"

#include <limits.h>
#include <stdint.h>
#include <string.h>

#include "ln_check.h"

static srv_error err;

static srv_tensor tensor(tl_dtype dtype, int ndim, const long long *dims)
{
    srv_tensor t = {.name = strdup("x")};
    err = (srv_error){.status = SRV_OK};
    ck_assert_msg(!srv_tensor_shape(&t, dtype, ndim, dims, &err), "%s", err.text);
    return t;
}

START_TEST(types_have_the_names_of_the_protocol)
{
    static const char *const names[] = {"BOOL", "UINT8", "UINT16", "UINT32", "UINT64",
                                        "INT8", "INT16", "INT32",  "INT64",  "FP16",
                                        "FP32", "FP64",  "BF16",   "BYTES"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        ck_assert_str_eq(srv_datatype_name(srv_datatype_find(names[i])), names[i]);
    ck_assert_int_eq((int)srv_datatype_find("FP32"), TL_FLOAT);
    ck_assert_int_eq((int)srv_datatype_find("fp32"), TL_DTYPE_INVALID);
    ck_assert_ptr_null(srv_datatype_name(TL_DTYPE_INVALID));
}
END_TEST

START_TEST(shape_gives_len_and_size)
{
    srv_tensor t = tensor(TL_INT16, 3, (const long long[]){2, 3, 4});
    ck_assert_uint_eq(t.len, 24);
    ck_assert_uint_eq(t.size, 48);
    srv_tensor_clear(&t);
    t = tensor(TL_FLOAT, 0, NULL);
    ck_assert_uint_eq(t.len, 1);
    srv_tensor_clear(&t);
    t = tensor(TL_FLOAT, 3, (const long long[]){INT_MAX, 0, INT_MAX});
    ck_assert_uint_eq(t.len, 0);
    srv_tensor_clear(&t);
}
END_TEST

START_TEST(shapes_beyond_limits_are_rejected)
{
    static const struct {
        int ndim;
        long long dims[SRV_MAX_DIMS + 1];
        srv_status status;
    } rows[] = {
        {1, {-1}, SRV_INVALID},
        {1, {INT_MAX + 1ll}, SRV_INVALID},
        {1, {LLONG_MIN}, SRV_INVALID},
        {2, {INT_MAX, 2}, SRV_TOO_LARGE},
        {4, {65536, 65536, 65536, 65536}, SRV_TOO_LARGE},
        {SRV_MAX_DIMS + 1, {1}, SRV_INVALID},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        srv_tensor t = {.name = (char *)"x"};
        srv_error why = {.status = SRV_OK};
        ck_assert_int_eq(srv_tensor_shape(&t, TL_INT8, rows[i].ndim, rows[i].dims, &why), -1);
        ck_assert_int_eq((int)why.status, (int)rows[i].status);
    }
}
END_TEST

START_TEST(binary_data_have_the_size_of_the_shape)
{
    const float values[] = {1, 2, 3};
    srv_tensor t = tensor(TL_FLOAT, 1, (const long long[]){3});
    ck_assert_int_eq(srv_tensor_from_binary(&t, values, 11, &err), -1);
    ck_assert_str_eq(err.text, "the data of 'x' has 11 bytes; its shape and type need 12");
    ck_assert_int_eq(srv_tensor_from_binary(&t, values, 12, &err), 0);
    ck_assert_mem_eq(t.data, values, 12);
    ck_assert_uint_eq((uintptr_t)t.data % 64, 0);
    srv_buffer b = {.data = NULL};
    srv_tensor_to_binary(&t, &b);
    ck_assert_uint_eq(b.size, srv_tensor_binary_size(&t));
    ck_assert_mem_eq(b.data, values, 12);
    srv_buffer_clear(&b);
    srv_tensor_clear(&t);
}
END_TEST

START_TEST(strings_return_as_they_came)
{
    static const char bytes[] = "\3\0\0\0a\0b\0\0\0\0\1\0\0\0z";
    srv_tensor t = tensor(TL_STRING, 1, (const long long[]){3});
    ck_assert_msg(!srv_tensor_from_binary(&t, bytes, sizeof(bytes) - 1, &err), "%s", err.text);
    ck_assert_uint_eq(t.sizes[0], 3);
    ck_assert_mem_eq(t.strings[0], "a\0b", 4);
    ck_assert_uint_eq(t.sizes[1], 0);
    ck_assert_str_eq(t.strings[2], "z");
    srv_buffer b = {.data = NULL};
    srv_tensor_to_binary(&t, &b);
    ck_assert_uint_eq(b.size, sizeof(bytes) - 1);
    ck_assert_mem_eq(b.data, bytes, b.size);
    srv_buffer_clear(&b);
    srv_tensor_clear(&t);
}
END_TEST

START_TEST(wrong_strings_are_rejected)
{
    static const struct {
        const char *bytes;
        size_t size;
    } rows[] = {{"", 0},
                {"\0\0\0", 3},
                {"\0\0\0\0", 4}, // one of two
                {"\1\0\0\0\0\0\0\0", 8},
                {"\0\0\0\0\xff\xff\xff\xff", 8},
                {"\0\0\0\0\0\0\0\0x", 9}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        srv_tensor t = tensor(TL_STRING, 1, (const long long[]){2});
        ck_assert_int_eq(srv_tensor_from_binary(&t, rows[i].bytes, rows[i].size, &err), -1);
        ck_assert_int_eq((int)err.status, SRV_INVALID);
        srv_tensor_clear(&t);
    }
}
END_TEST

START_TEST(boxes_are_copied_between_arrays)
{
    static const int from_dims[] = {9, 3, 4}, to_dims[] = {9, 2, 3}, dims[] = {2, 2, 3};
    short from[24], to[13];
    static const short wanted[] = {0, 1, 2, 4, 5, 6, 12, 13, 14, 16, 17, 18, -1};
    for (short i = 0; i < 24; i++)
        from[i] = i;
    to[12] = -1;
    srv_tensor_copy_box(to, to_dims, from, from_dims, dims, 3, sizeof(short));
    ck_assert_mem_eq(to, wanted, sizeof(wanted));
    memset(from, 0, sizeof(from));
    srv_tensor_copy_box(from, from_dims, to, to_dims, dims, 3, sizeof(short));
    static const short spread[] = {0,  1,  2,  0, 4,  5,  6,  0, 0, 0, 0, 0,
                                   12, 13, 14, 0, 16, 17, 18, 0, 0, 0, 0, 0};
    ck_assert_mem_eq(from, spread, sizeof(spread));
}
END_TEST

START_TEST(boxes_of_scalars_and_whole_arrays_are_copied)
{
    const int from[] = {1, 2, 3, 4};
    int to[4] = {0};
    srv_tensor_copy_box(to, NULL, from, NULL, NULL, 0, sizeof(int));
    ck_assert_int_eq(to[0], 1);
    ck_assert_int_eq(to[1], 0);
    srv_tensor_copy_box(to, (const int[]){2, 2}, from, (const int[]){2, 2}, (const int[]){2, 2}, 2,
                        sizeof(int));
    ck_assert_mem_eq(to, from, sizeof(from));
}
END_TEST

LN_TEST_MAIN("tensors of requests", types_have_the_names_of_the_protocol, shape_gives_len_and_size,
             shapes_beyond_limits_are_rejected, binary_data_have_the_size_of_the_shape,
             strings_return_as_they_came, wrong_strings_are_rejected,
             boxes_are_copied_between_arrays, boxes_of_scalars_and_whole_arrays_are_copied)
