// SPDX-License-Identifier: Apache-2.0
// Tests of the element types and enumerations.

#include "tensorlight/tl_type.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "ln_check.h"
#include "tensorlight/tl_string.h"
#include "tensor/tl_half.h"
#include "tensorlight/tl_util.h"

START_TEST(documented_types_keep_their_numbers)
{
    static const char *const names[] = {"TL_DOUBLE", "TL_FLOAT",  "TL_INT32", "TL_INT16", "TL_INT8",
                                        "TL_UINT32", "TL_UINT16", "TL_UINT8", "TL_BOOL"};
    for (int i = 0; i < 9; i++) {
        ck_assert_str_eq(tl_dtype_name((tl_dtype)i), names[i]);
        ck_assert_int_eq(tl_dtype_from_str(names[i]), i);
    }
    ck_assert_int_eq(TL_DTYPE_COMPUTED_SIZE, 13);
}
END_TEST

START_TEST(every_name_is_read_back)
{
    for (int i = 0; i < TL_DTYPE_SIZE; i++)
        ck_assert_int_eq(tl_dtype_from_str(tl_dtype_name((tl_dtype)i)), i);
    for (int i = 0; i < TL_ELEW_OP_SIZE; i++)
        ck_assert_int_eq(tl_elew_op_from_str(tl_elew_op_name((tl_elew_op)i)), i);
    for (int i = 0; i < TL_RESIZE_TYPE_SIZE; i++)
        ck_assert_int_eq(tl_resize_type_from_str(tl_resize_type_name((tl_resize_type)i)), i);
    for (int i = 0; i < TL_SORT_DIR_SIZE; i++)
        ck_assert_int_eq(tl_sort_dir_from_str(tl_sort_dir_name((tl_sort_dir)i)), i);
}
END_TEST

START_TEST(unknown_names_are_invalid)
{
    ck_assert_int_eq(tl_dtype_from_str("TL_DTYPE_INVALID"), -1);
    ck_assert_int_eq(tl_dtype_from_str("tl_float"), -1);
    ck_assert_int_eq(tl_dtype_from_str(NULL), -1);
    ck_assert_int_eq(tl_elew_op_from_str("TL_ADD"), -1);
    ck_assert_ptr_null(tl_dtype_name(TL_DTYPE_SIZE));
    ck_assert_ptr_null(tl_dtype_name(TL_DTYPE_INVALID));
}
END_TEST

START_TEST(sizes_and_formats_are_as_documented)
{
    static const struct {
        tl_dtype dtype;
        size_t size;
        const char *fmt;
        double min, max;
    } rows[TL_DTYPE_SIZE] = {
        {TL_DOUBLE, 8, "%.3f", -DBL_MAX, DBL_MAX},
        {TL_FLOAT, 4, "%.3f", -FLT_MAX, FLT_MAX},
        {TL_INT32, 4, "%d", INT32_MIN, INT32_MAX},
        {TL_INT16, 2, "%d", INT16_MIN, INT16_MAX},
        {TL_INT8, 1, "%d", INT8_MIN, INT8_MAX},
        {TL_UINT32, 4, "%u", 0, UINT32_MAX},
        {TL_UINT16, 2, "%u", 0, UINT16_MAX},
        {TL_UINT8, 1, "%u", 0, UINT8_MAX},
        {TL_BOOL, 1, "%d", 0, 1},
        {TL_INT64, 8, "%" PRId64, (double)INT64_MIN, (double)INT64_MAX},
        {TL_UINT64, 8, "%" PRIu64, 0, (double)UINT64_MAX},
        {TL_FLOAT16, 2, "%.3f", -65504, 65504},
        {TL_BFLOAT16, 2, "%.3f", -0x1.fep127, 0x1.fep127},
        {TL_FLOAT8E4M3FN, 1, "%g", -448, 448},
        {TL_FLOAT8E4M3FNUZ, 1, "%g", -240, 240},
        {TL_FLOAT8E5M2, 1, "%g", -57344, 57344},
        {TL_FLOAT8E5M2FNUZ, 1, "%g", -57344, 57344},
        {TL_FLOAT8E8M0, 1, "%g", 0x1p-127, 0x1p127},
        {TL_FLOAT4E2M1, 1, "%g", -6, 6},
        {TL_INT4, 1, "%d", -8, 7},
        {TL_UINT4, 1, "%u", 0, 15},
        {TL_INT2, 1, "%d", -2, 1},
        {TL_UINT2, 1, "%u", 0, 3},
        {TL_STRING, sizeof(tl_string *), "%s", 0, 0},
    };
    for (int i = 0; i < TL_DTYPE_SIZE; i++) {
        ck_assert_int_eq(rows[i].dtype, i);
        ck_assert_uint_eq(tl_size_of(rows[i].dtype), rows[i].size);
        ck_assert_str_eq(tl_dtype_fmt(rows[i].dtype), rows[i].fmt);
        ck_assert_double_eq(tl_dtype_min_double(rows[i].dtype), rows[i].min);
        ck_assert_double_eq(tl_dtype_max_double(rows[i].dtype), rows[i].max);
    }
}
END_TEST

START_TEST(limits_are_elements)
{
    int8_t i8;
    tl_dtype_min(TL_INT8, &i8);
    ck_assert_int_eq(i8, -128);
    uint64_t u64;
    tl_dtype_max(TL_UINT64, &u64);
    ck_assert(u64 == UINT64_MAX);
    uint16_t half;
    tl_dtype_max(TL_FLOAT16, &half);
    ck_assert_uint_eq(half, 0x7bff);
    tl_dtype_min(TL_BFLOAT16, &half);
    ck_assert_uint_eq(half, 0xff7f);
}
END_TEST

START_TEST(comparison_is_three_way)
{
    const float tenth = 0.1f, nine_tenths = 0.9f, not_a_number = NAN;
    ck_assert_int_lt(tl_cmp(&tenth, &nine_tenths, TL_FLOAT), 0);
    ck_assert_int_gt(tl_cmp(&nine_tenths, &tenth, TL_FLOAT), 0);
    ck_assert_int_eq(tl_cmp(&tenth, &tenth, TL_FLOAT), 0);
    ck_assert_int_eq(tl_cmp(&tenth, &not_a_number, TL_FLOAT), 0);
    const uint32_t one = 1, large = 4000000000u;
    ck_assert_int_lt(tl_cmp(&one, &large, TL_UINT32), 0);
    const int64_t lowest = INT64_MIN, highest = INT64_MAX;
    ck_assert_int_lt(tl_cmp_getfunc(TL_INT64)(&lowest, &highest), 0);
    const uint16_t minus_two = 0xc000, half = 0x3800;
    ck_assert_int_lt(tl_cmp(&minus_two, &half, TL_FLOAT16), 0);
}
END_TEST

START_TEST(half_floats_survive_the_way_to_float_and_back)
{
    for (uint32_t bits = 0; bits < 0x10000; bits++) {
        const uint16_t value = (uint16_t)bits;
        const int is_half_nan = (value & 0x7fff) > 0x7c00;
        const int is_bfloat_nan = (value & 0x7fff) > 0x7f80;
        const uint16_t half = tl_half_from_float(tl_half_to_float(value));
        const uint16_t bfloat = tl_bfloat_from_float(tl_bfloat_to_float(value));
        ck_assert_uint_eq(half, is_half_nan ? (value | 0x200) : value);
        ck_assert_uint_eq(bfloat, is_bfloat_nan ? (value | 0x40) : value);
    }
}
END_TEST

START_TEST(half_floats_round_half_to_even)
{
    ck_assert_uint_eq(tl_half_from_float(1 + 0x1p-11f), 0x3c00);
    ck_assert_uint_eq(tl_half_from_float(1 + 0x3p-11f), 0x3c02);
    ck_assert_uint_eq(tl_half_from_float(0x1p-25f), 0x0000);
    ck_assert_uint_eq(tl_half_from_float(0x1.8p-24f), 0x0002);
    ck_assert_uint_eq(tl_half_from_float(65519), 0x7bff);
    ck_assert_uint_eq(tl_half_from_float(65520), 0x7c00);
    ck_assert_uint_eq(tl_bfloat_from_float(1 + 0x1p-8f), 0x3f80);
    ck_assert_uint_eq(tl_bfloat_from_float(1 + 0x3p-8f), 0x3f82);
}
END_TEST

// The output of tl_fprintf.
static const char *text_of(const char *fmt, const void *p, tl_dtype dtype)
{
    static char text[64];
    FILE *const stream = fmemopen(text, sizeof(text), "w");
    const int n = tl_fprintf(stream, fmt, p, dtype);
    fclose(stream);
    return n < 0 ? NULL : text;
}

START_TEST(elements_print_in_full)
{
    const float f = -1.0625f;
    ck_assert_str_eq(text_of(NULL, &f, TL_FLOAT), "-1.062");
    ck_assert_str_eq(text_of("<%+.1Lf%%>", &f, TL_FLOAT), "<-1.1%>");
    const uint32_t u32 = 4000000000u;
    ck_assert_str_eq(text_of(NULL, &u32, TL_UINT32), "4000000000");
    ck_assert_str_eq(text_of("%12d", &u32, TL_UINT32), "  4000000000");
    const int64_t i64 = INT64_MIN;
    ck_assert_str_eq(text_of(NULL, &i64, TL_INT64), "-9223372036854775808");
    ck_assert_str_eq(text_of("%hd", &i64, TL_INT64), "-9223372036854775808");
    const int8_t i8 = -1;
    ck_assert_str_eq(text_of("%x", &i8, TL_INT8), "ffffffff");
    const uint8_t yes = 7;
    ck_assert_str_eq(text_of(NULL, &yes, TL_BOOL), "1");
    const uint16_t half = 0xc100;
    ck_assert_str_eq(text_of(NULL, &half, TL_FLOAT16), "-2.500");
}
END_TEST

START_TEST(rejects_formats_of_other_types)
{
    const float f = 1;
    static const char *const bad[] = {"", "x", "%d", "%s", "%n", "%f%f", "%*f", "%", "%.3"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
        ck_assert_ptr_null(text_of(bad[i], &f, TL_FLOAT));
    const int32_t i = 1;
    ck_assert_ptr_null(text_of("%f", &i, TL_INT32));
    ck_assert_str_eq(tl_last_error(), "format '%f', expected one conversion out of 'diouxX'");
    char long_format[300];
    memset(long_format, ' ', sizeof(long_format));
    memcpy(long_format + sizeof(long_format) - 3, "%d", 3);
    ck_assert_ptr_null(text_of(long_format, &i, TL_INT32));
}
END_TEST

LN_TEST_MAIN("tl_type", documented_types_keep_their_numbers, every_name_is_read_back,
             unknown_names_are_invalid, sizes_and_formats_are_as_documented, limits_are_elements,
             comparison_is_three_way, half_floats_survive_the_way_to_float_and_back,
             half_floats_round_half_to_even, elements_print_in_full, rejects_formats_of_other_types)
