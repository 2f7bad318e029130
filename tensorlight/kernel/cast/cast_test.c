// SPDX-License-Identifier: Apache-2.0
// Tests of the conversion between types that does not saturate floats and integers.

#include <float.h>
#include <math.h>

#include "kernel/cast/cast.h"
#include "kernel/tl_map_test.h"
#include "tensor/tl_half.h"
#include "tensorlight/tensorlight.h"

/** `value`, of `from`, as `to`. Both are read and written as doubles; NaN and infinities too. */
static double cast(tl_dtype from, double value, tl_dtype to)
{
    uint64_t src = 0, dst = 0;
    const float narrow = (float)value;
    if (from == TL_FLOAT)
        memcpy(&src, &narrow, sizeof(narrow));
    else
        tl_convert(&src, from, &value, TL_DOUBLE);
    tl_tensor *const s = tl_tensor_create(&src, 0, NULL, from);
    tl_tensor *const d = tl_tensor_create(&dst, 0, NULL, to);
    ck_assert_ptr_eq(tl_tensor_cast(s, d, to), d);
    double result;
    tl_convert(&result, TL_DOUBLE, &dst, to);
    tl_tensor_free(s);
    tl_tensor_free(d);
    return result;
}

START_TEST(values_become_what_computers_make_of_them)
{
    static const struct {
        tl_dtype from;
        double value;
        tl_dtype to;
        double expected;
    } rows[] = {
        {TL_FLOAT, 1.5, TL_DOUBLE, 1.5},
        {TL_DOUBLE, 0.1, TL_FLOAT, 0.1f},
        {TL_DOUBLE, 1e300, TL_FLOAT, INFINITY},
        {TL_DOUBLE, -INFINITY, TL_FLOAT, -INFINITY},
        {TL_FLOAT, 65519, TL_FLOAT16, 65504},
        {TL_FLOAT, 65520, TL_FLOAT16, INFINITY},
        {TL_DOUBLE, -1e300, TL_FLOAT16, -INFINITY},
        {TL_DOUBLE, 1e300, TL_BFLOAT16, INFINITY},
        {TL_FLOAT, 3.4e38, TL_BFLOAT16, INFINITY},
        {TL_FLOAT, INFINITY, TL_BFLOAT16, INFINITY},
        {TL_DOUBLE, 1 + 0x1p-11 + 0x1p-40, TL_FLOAT16, 1 + 0x1p-10}, // a float of it is a tie
        {TL_DOUBLE, 1 + 0x1p-11, TL_FLOAT16, 1},
        {TL_INT32, 70000, TL_FLOAT16, INFINITY},
        {TL_INT32, -70000, TL_FLOAT16, -INFINITY},
        {TL_UINT16, 65535, TL_FLOAT16, INFINITY},
        {TL_INT32, 2049, TL_FLOAT16, 2048},
        {TL_INT32, 2051, TL_FLOAT16, 2052},
        {TL_UINT64, 0x1p64, TL_BFLOAT16, 0x1p64},
        {TL_INT64, -0x1p63, TL_FLOAT, -0x1p63},
        {TL_UINT64, 0x1p63, TL_DOUBLE, 0x1p63},
        {TL_BOOL, 1, TL_FLOAT16, 1},
        {TL_BOOL, 1, TL_INT64, 1},
        {TL_INT32, 300, TL_UINT8, 44},
        {TL_INT32, 200, TL_INT8, -56},
        {TL_INT8, -1, TL_UINT64, 0x1p64},
        {TL_INT8, -1, TL_UINT16, 65535},
        {TL_INT64, 0x1p32 + 5, TL_INT32, 5},
        {TL_UINT32, 4294967295, TL_INT32, -1},
        {TL_FLOAT, -1.9, TL_INT32, -1},
        {TL_FLOAT, 1e10, TL_INT32, INT32_MAX},
        {TL_FLOAT, -INFINITY, TL_INT64, -0x1p63},
        {TL_FLOAT, -1, TL_UINT8, 0},
        {TL_FLOAT, NAN, TL_INT16, 0},
        {TL_FLOAT, NAN, TL_BOOL, 1},
        {TL_FLOAT, 0x1p-149, TL_BOOL, 1},
        {TL_FLOAT, -0.0, TL_BOOL, 0},
        {TL_INT64, 0x1p32, TL_BOOL, 1},
        {TL_FLOAT16, 0x1p-24, TL_BOOL, 1},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        const double got = cast(rows[i].from, rows[i].value, rows[i].to);
        const double expected = rows[i].expected;
        ck_assert_msg(got == expected, "%s %g to %s: %g, expected %g", tl_dtype_name(rows[i].from),
                      rows[i].value, tl_dtype_name(rows[i].to), got, expected);
    }
    ck_assert(isnan(cast(TL_FLOAT, NAN, TL_FLOAT16)));
    ck_assert(isnan(cast(TL_FLOAT, NAN, TL_BFLOAT16)));
    ck_assert(isnan(cast(TL_FLOAT, NAN, TL_DOUBLE)));
}
END_TEST

START_TEST(integers_round_to_bfloat16_once)
{
    // 2^60 + 2^52 lies halfway between two bfloat16; one more decides, but a double does not see
    // it.
    int64_t above = -((INT64_C(1) << 60) + (INT64_C(1) << 52) + 1);
    uint16_t bits = 0;
    tl_tensor *const src = tl_tensor_create(&above, 0, NULL, TL_INT64);
    tl_tensor *const dst = tl_tensor_create(&bits, 0, NULL, TL_BFLOAT16);
    ck_assert_ptr_eq(tl_tensor_cast(src, dst, TL_BFLOAT16), dst);
    ck_assert_uint_eq(bits, 0xdd81);
    tl_tensor_free(src);
    tl_tensor_free(dst);
}
END_TEST

/** Where no value is out of range or infinite, cast and convert agree. */
START_TEST(small_numbers_are_converted_as_by_convert)
{
    enum { LEN = 101 };
    tl_tensor *const numbers = tl_tensor_arange(0, LEN, 1, TL_DOUBLE);
    for (int from = 0; from < TL_DTYPE_SIZE; from++) {
        tl_tensor *const src = tl_tensor_convert(numbers, NULL, (tl_dtype)from);
        for (int to = 0; to < TL_DTYPE_SIZE; to++) {
            tl_tensor *const a = tl_tensor_cast(src, NULL, (tl_dtype)to);
            tl_tensor *const b = tl_tensor_convert(src, NULL, (tl_dtype)to);
            ck_assert_msg(memcmp(a->data, b->data, tl_tensor_size(a)) == 0, "%s to %s",
                          tl_dtype_name((tl_dtype)from), tl_dtype_name((tl_dtype)to));
            tl_tensor_free_data_too(a);
            tl_tensor_free_data_too(b);
        }
        tl_tensor_free_data_too(src);
    }
    tl_tensor_free_data_too(numbers);
}
END_TEST

START_TEST(what_does_not_fit_is_refused)
{
    tl_tensor *const src = tl_tensor_zeros(1, (int[]){2}, TL_FLOAT);
    ck_assert_ptr_null(tl_tensor_cast(src, NULL, TL_DTYPE_INVALID));
    ck_assert_ptr_null(tl_tensor_cast(NULL, NULL, TL_INT8));
    ck_assert_ptr_null(tl_tensor_cast(src, src, TL_INT8));
    ck_assert_ptr_eq(tl_tensor_cast(src, src, TL_FLOAT), src);
    tl_tensor_free_data_too(src);
}
END_TEST

#define VARIANT(arg, name, from, to, isa) {#name, name, from, to, isa},
static const tl_map_variant variants[] = {TL_CAST_KERNELS(VARIANT, )};

TL_MAP_TESTS(variants, NULL)

LN_TEST_MAIN("cast", values_become_what_computers_make_of_them, integers_round_to_bfloat16_once,
             small_numbers_are_converted_as_by_convert, what_does_not_fit_is_refused,
             every_kernel_equals_plain_c, threads_do_not_change_the_result)
