// SPDX-License-Identifier: Apache-2.0
// Tests of the types that only store values: properties, limits, order, text, packing.

#include "tensor/tl_storage.h"

#include <math.h>
#include <string.h>

#include "ln_check.h"
#include "tensorlight/tensorlight.h"

START_TEST(types_say_what_they_are)
{
    static const struct {
        tl_dtype dtype, carrier;
        int bits, has_fractions;
    } rows[] = {
        {TL_FLOAT8E4M3FN, TL_FLOAT, 8, 1}, {TL_FLOAT8E4M3FNUZ, TL_FLOAT, 8, 1},
        {TL_FLOAT8E5M2, TL_FLOAT, 8, 1},   {TL_FLOAT8E5M2FNUZ, TL_FLOAT, 8, 1},
        {TL_FLOAT8E8M0, TL_FLOAT, 8, 1},   {TL_FLOAT4E2M1, TL_FLOAT, 4, 1},
        {TL_INT4, TL_INT8, 4, 0},          {TL_UINT4, TL_UINT8, 4, 0},
        {TL_INT2, TL_INT8, 2, 0},          {TL_UINT2, TL_UINT8, 2, 0},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        const tl_dtype dtype = rows[i].dtype;
        ck_assert_int_eq(tl_storage_carrier(dtype), rows[i].carrier);
        ck_assert_int_eq(tl_dtype_bits(dtype), rows[i].bits);
        ck_assert_int_eq(tl_dtype_has_fractions(dtype), rows[i].has_fractions);
        ck_assert(!tl_dtype_is_float(dtype) && !tl_dtype_is_computed(dtype));
        ck_assert_uint_eq(tl_size_of(dtype), 1);
    }
    ck_assert_int_eq(tl_storage_carrier(TL_FLOAT16), TL_FLOAT16);
    ck_assert_int_eq(tl_dtype_bits(TL_FLOAT16), 16);
    ck_assert(tl_dtype_is_computed(TL_BOOL) && tl_dtype_has_fractions(TL_BFLOAT16));
}
END_TEST

// The output of tl_fprintf.
static const char *text_of(const char *fmt, uint8_t element, tl_dtype dtype)
{
    static char text[64];
    FILE *const stream = fmemopen(text, sizeof(text), "w");
    const int n = tl_fprintf(stream, fmt, &element, dtype);
    fclose(stream);
    return n < 0 ? NULL : text;
}

START_TEST(elements_print_as_values)
{
    ck_assert_str_eq(text_of(NULL, 0x7e, TL_FLOAT8E4M3FN), "448");
    ck_assert_str_eq(text_of("%.1f", 0xff, TL_FLOAT8E5M2FNUZ), "-57344.0");
    ck_assert_str_eq(text_of(NULL, 0xfc, TL_FLOAT8E5M2), "-inf");
    ck_assert_str_eq(text_of(NULL, 0x80, TL_FLOAT8E4M3FNUZ), "nan");
    ck_assert_str_eq(text_of(NULL, 0x00, TL_FLOAT8E8M0), "5.87747e-39");
    ck_assert_str_eq(text_of(NULL, 0x0b, TL_FLOAT4E2M1), "-1.5");
    ck_assert_str_eq(text_of(NULL, 0xf8, TL_INT4), "-8");
    ck_assert_str_eq(text_of("%3d", 15, TL_UINT4), " 15");
    ck_assert_str_eq(text_of(NULL, 0xfe, TL_INT2), "-2");
    ck_assert_str_eq(text_of(NULL, 3, TL_UINT2), "3");
    ck_assert_ptr_null(text_of("%d", 3, TL_FLOAT4E2M1));
    ck_assert_ptr_null(text_of("%f", 3, TL_INT2));
}
END_TEST

START_TEST(elements_have_an_order_and_limits)
{
    const uint8_t minus_two = 0xc0, half = 0x30, not_a_number = 0x7f, minus_one = 0xff, seven = 7;
    ck_assert_int_lt(tl_cmp(&minus_two, &half, TL_FLOAT8E4M3FN), 0);
    ck_assert_int_gt(tl_cmp_getfunc(TL_FLOAT8E4M3FN)(&half, &minus_two), 0);
    ck_assert_int_eq(tl_cmp(&half, &not_a_number, TL_FLOAT8E4M3FN), 0);
    ck_assert_int_lt(tl_cmp(&minus_one, &seven, TL_INT4), 0);
    static const uint8_t limits[][3] = {
        {TL_FLOAT8E4M3FN, 0xfe, 0x7e},
        {TL_FLOAT8E4M3FNUZ, 0xff, 0x7f},
        {TL_FLOAT8E5M2, 0xfb, 0x7b},
        {TL_FLOAT8E5M2FNUZ, 0xff, 0x7f},
        {TL_FLOAT8E8M0, 0x00, 0xfe},
        {TL_FLOAT4E2M1, 0x0f, 0x07},
        {TL_INT4, 0xf8, 7},
        {TL_UINT4, 0, 15},
        {TL_INT2, 0xfe, 1},
        {TL_UINT2, 0, 3},
    };
    for (size_t i = 0; i < sizeof(limits) / sizeof(*limits); i++) {
        uint8_t element;
        tl_dtype_min((tl_dtype)limits[i][0], &element);
        ck_assert_uint_eq(element, limits[i][1]);
        tl_dtype_max((tl_dtype)limits[i][0], &element);
        ck_assert_uint_eq(element, limits[i][2]);
    }
}
END_TEST

START_TEST(packing_and_unpacking_are_inverse)
{
    const uint8_t int4[] = {0xff, 7, 0xf8, 1, 0}, int2[] = {0xff, 1, 0xfe, 0, 1};
    const uint8_t packed4[] = {0x7f, 0x18, 0x00}, packed2[] = {0x27, 0x01};
    uint8_t bytes[8], back[8];
    ck_assert_uint_eq(tl_packed_size(TL_INT4, 5), 3);
    ck_assert_uint_eq(tl_packed_size(TL_UINT2, 5), 2);
    ck_assert_uint_eq(tl_packed_size(TL_UINT2, 0), 0);
    ck_assert_uint_eq(tl_packed_size(TL_FLOAT16, 5), 10);
    ck_assert_uint_eq(tl_packed_size(TL_INT4, SIZE_MAX), SIZE_MAX / 2 + 1);
    tl_pack(bytes, int4, TL_INT4, 5);
    ck_assert_mem_eq(bytes, packed4, 3);
    tl_unpack(back, bytes, TL_INT4, 5);
    ck_assert_mem_eq(back, int4, 5);
    tl_unpack(back, bytes, TL_FLOAT4E2M1, 5);
    ck_assert_mem_eq(back, ((uint8_t[]){15, 7, 8, 1, 0}), 5);
    tl_pack(bytes, int2, TL_INT2, 5);
    ck_assert_mem_eq(bytes, packed2, 2);
    tl_unpack(back, bytes, TL_INT2, 5);
    ck_assert_mem_eq(back, int2, 5);
    tl_unpack(back, bytes, TL_UINT2, 5);
    ck_assert_mem_eq(back, ((uint8_t[]){3, 1, 2, 0, 1}), 5);
    tl_pack(bytes, int4, TL_FLOAT8E5M2, 5);
    ck_assert_mem_eq(bytes, int4, 5);
    tl_unpack(back, bytes, TL_UINT8, 5);
    ck_assert_mem_eq(back, int4, 5);
    tl_pack(bytes, NULL, TL_INT4, 0);
    tl_unpack(bytes, NULL, TL_INT4, 0);
}
END_TEST

// Tensors of these types are moved, and nothing computes with them.
START_TEST(functions_move_elements_and_refuse_to_compute)
{
    uint8_t data[] = {1, 2, 3, 4, 5, 6};
    tl_tensor *const t = tl_tensor_create(data, 2, (int[]){2, 3}, TL_FLOAT4E2M1);
    tl_tensor *const turned = tl_tensor_transpose(t, NULL, (int[]){1, 0});
    ck_assert_int_eq(turned->dtype, TL_FLOAT4E2M1);
    ck_assert_mem_eq(turned->data, ((uint8_t[]){1, 4, 2, 5, 3, 6}), 6);
    tl_tensor *const part = tl_tensor_slice(t, NULL, 1, 1, 2);
    ck_assert_mem_eq(part->data, ((uint8_t[]){2, 3, 5, 6}), 4);
    ck_assert_ptr_null(tl_tensor_elew(t, t, NULL, TL_SUM));
    ck_assert_str_eq(tl_last_error(),
                     "'src1' has dtype TL_FLOAT4E2M1, expected a type to compute with");
    ck_assert_ptr_null(tl_tensor_unary(t, NULL, TL_UNARY_ABS, 0, 0));
    ck_assert_ptr_null(tl_tensor_maxreduce(t, NULL, NULL, 0));
    ck_assert_int_eq(tl_elew(&data[0], &data[1], &data[2], TL_SUM, TL_FLOAT4E2M1), -1);
    ck_assert_int_eq(tl_elew_getfunc(TL_INT4)(&data[0], &data[1], &data[2], TL_SUM), -1);
    ck_assert_str_eq(tl_last_error(), "dtype TL_INT4, expected a type to compute with");
    ck_assert_uint_eq(data[2], 3);
    tl_tensor_free(t);
    tl_tensor_free_data_too(turned);
    tl_tensor_free_data_too(part);
}
END_TEST

START_TEST(random_numbers_are_elements)
{
    uint64_t state = 5;
    for (int dtype = TL_DTYPE_COMPUTED_SIZE; dtype < TL_STRING; dtype++) {
        tl_tensor *const t = tl_tensor_zeros(1, (int[]){100}, (tl_dtype)dtype);
        ck_assert_int_eq(tl_tensor_fill_uniform(t, 0, 2, &state), 0);
        for (int i = 0; i < t->len; i++) {
            double value;
            tl_convert(&value, TL_DOUBLE, (uint8_t *)t->data + i, t->dtype);
            ck_assert_msg(value >= 0 && value <= 2, "%s: %g", tl_dtype_name(t->dtype), value);
        }
        tl_tensor_free_data_too(t);
    }
}
END_TEST

LN_TEST_MAIN("tl_storage", types_say_what_they_are, elements_print_as_values,
             elements_have_an_order_and_limits, packing_and_unpacking_are_inverse,
             functions_move_elements_and_refuse_to_compute, random_numbers_are_elements)
