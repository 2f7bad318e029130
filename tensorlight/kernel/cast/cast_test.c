// SPDX-License-Identifier: Apache-2.0
// Tests of the conversions between types: cast, and convert, which saturates.

#include <float.h>
#include <limits.h>
#include <math.h>

#include "kernel/cast/cast.h"
#include "kernel/tl_map_test.h"
#include "tensor/tl_half.h"
#include "tensorlight/tensorlight.h"

// Cast

// `value`, of `from`, as `to`. Both are read and written as doubles; NaN and infinities too.
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

START_TEST(values_are_rounded_saturated_or_wrapped)
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
    // 2^60 + 2^52 is halfway between two bfloat16; one more decides, but a double does not see
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

// Where no value is out of range or infinite, cast and convert agree.
START_TEST(small_numbers_are_converted_as_by_convert)
{
    enum { LEN = 101 };
    tl_tensor *const numbers = tl_tensor_arange(0, LEN, 1, TL_DOUBLE);
    for (int from = 0; from < TL_DTYPE_COMPUTED_SIZE; from++) {
        tl_tensor *const src = tl_tensor_convert(numbers, NULL, (tl_dtype)from);
        for (int to = 0; to < TL_DTYPE_COMPUTED_SIZE; to++) {
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

START_TEST(cast_rejects_bad_arguments)
{
    tl_tensor *const src = tl_tensor_zeros(1, (int[]){2}, TL_FLOAT);
    ck_assert_ptr_null(tl_tensor_cast(src, NULL, TL_DTYPE_INVALID));
    ck_assert_ptr_null(tl_tensor_cast(NULL, NULL, TL_INT8));
    ck_assert_ptr_null(tl_tensor_cast(src, src, TL_INT8));
    ck_assert_ptr_eq(tl_tensor_cast(src, src, TL_FLOAT), src);
    tl_tensor_free_data_too(src);
}
END_TEST

// Convert: each of the 169 pairs against long double, which holds every value of every type
// exactly (64 bits of fraction or more) ----

static long double value_of(const void *p, tl_dtype dtype)
{
    switch (dtype) {
    case TL_DOUBLE:
        return *(const double *)p;
    case TL_FLOAT:
        return *(const float *)p;
    case TL_INT64:
        return *(const int64_t *)p;
    case TL_INT32:
        return *(const int32_t *)p;
    case TL_INT16:
        return *(const int16_t *)p;
    case TL_INT8:
        return *(const int8_t *)p;
    case TL_UINT64:
        return *(const uint64_t *)p;
    case TL_UINT32:
        return *(const uint32_t *)p;
    case TL_UINT16:
        return *(const uint16_t *)p;
    case TL_UINT8:
        return *(const uint8_t *)p;
    case TL_BOOL:
        return *(const uint8_t *)p != 0;
    case TL_FLOAT16:
        return tl_half_to_float(*(const uint16_t *)p);
    default:
        return tl_bfloat_to_float(*(const uint16_t *)p);
    }
}

// The range of a float type: fraction bits, min exponent, max value.
typedef struct float_type {
    int bits, min_exponent;
    long double max;
} float_type;

// The nearest number that the type has, ties to even, between -max and max.
static long double rounded(long double value, float_type type)
{
    if (value != value)
        return value;
    if (fabsl(value) >= type.max)
        return copysignl(type.max, value);
    int exponent;
    frexpl(value, &exponent);
    const int unit = exponent - 1 < type.min_exponent ? type.min_exponent : exponent - 1;
    return ldexpl(nearbyintl(ldexpl(value, type.bits - unit)), unit - type.bits);
}

static const float_type float_types[TL_DTYPE_SIZE] = {
    [TL_FLOAT] = {23, -126, FLT_MAX},
    [TL_FLOAT16] = {10, -14, 65504},
    [TL_BFLOAT16] = {7, -126, 0x1.fep127L},
};

static long double limit(tl_dtype dtype, void (*get)(tl_dtype, void *))
{
    uint64_t element;
    get(dtype, &element);
    return value_of(&element, dtype);
}

// The value that `value` becomes in `to`.
static long double converted(long double value, tl_dtype from, tl_dtype to)
{
    if (to == TL_BOOL)
        return value < 0 || value > 0;
    if (to == TL_DOUBLE)
        return (double)value;
    const int is_wider = to == TL_FLOAT && (from == TL_FLOAT16 || from == TL_BFLOAT16);
    if (tl_dtype_is_float(to))
        return is_wider ? value : rounded(value, float_types[to]);
    if (value != value)
        return 0;
    const long double max = limit(to, tl_dtype_max), min = limit(to, tl_dtype_min);
    return value >= max ? max : value <= min ? min : truncl(value);
}

// The numbers: limits, ties, halves, and random bits of every size

enum { LEN = 4000 };

static void make_numbers(void *data, tl_dtype dtype)
{
    static const double edges[] = {
        0,          -0.0,       1,           -1,           0.5,         -0.5,
        1.5,        -1.9,       127,         128,          -128,        -129,
        255,        256,        32767,       32768,        -32769,      65503,
        65504,      65519,      65520,       65535,        65536,       2147483647,
        0x1p31,     -0x1p31,    0x1p32,      4294967295,   0x1p63,      -0x1p63,
        0x1p64,     0x1p65,     FLT_MAX,     -FLT_MAX,     0x1p128,     DBL_MAX,
        0x1p-24,    0x1p-25,    0x3p-25,     DBL_MIN,      FLT_MIN,     0x1p-149,
        0x1p-150,   INFINITY,   -INFINITY,   NAN,          2049,        2051,
        257,        259,        0x1p-14,     0x1.ffcp-15,  1 + 0x1p-11, 1 + 0x1.001p-11,
        0x1.fep127, 0x1.ffp127, -0x1.ffp127, 0x1.fefffp127};
    enum { EDGES = sizeof(edges) / sizeof(*edges) };
    const size_t size = tl_size_of(dtype);
    tl_map_fill(data, LEN * size, 7);
    tl_convert_array(data, dtype, edges, TL_DOUBLE, EDGES);
    for (int i = EDGES; i < LEN && !tl_dtype_is_float(dtype); i += 2) {
        // Integers of all magnitudes: the high bits cut off.
        uint64_t bits = 0;
        memcpy(&bits, tl_padd(data, i, size), size);
        bits >>= (unsigned)i % (8 * (unsigned)size);
        memcpy(tl_padd(data, i, size), &bits, size);
    }
}

static int is_same(long double a, long double b)
{
    return a == b || (a != a && b != b);
}

START_TEST(every_pair_agrees_with_long_double)
{
    for (int from = 0; from < TL_DTYPE_COMPUTED_SIZE; from++) {
        void *const src = tl_alloc(LEN * TL_DTYPE_MAX_SIZE);
        make_numbers(src, (tl_dtype)from);
        for (int to = 0; to < TL_DTYPE_COMPUTED_SIZE; to++) {
            if (from == to)
                continue;
            void *const dst = tl_alloc(LEN * TL_DTYPE_MAX_SIZE);
            tl_convert_array(dst, (tl_dtype)to, src, (tl_dtype)from, LEN);
            for (int i = 0; i < LEN; i++) {
                const long double x = value_of(tl_pointer_add(src, i, (tl_dtype)from), from);
                const long double got = value_of(tl_pointer_add(dst, i, (tl_dtype)to), to);
                const long double expected = converted(x, (tl_dtype)from, (tl_dtype)to);
                ck_assert_msg(is_same(got, expected), "%s %.20Lg to %s: %.20Lg, expected %.20Lg",
                              tl_dtype_name(from), x, tl_dtype_name(to), got, expected);
            }
            tl_free(dst);
        }
        tl_free(src);
    }
}
END_TEST

START_TEST(the_same_type_is_a_copy_of_the_bits)
{
    for (int dtype = 0; dtype < TL_DTYPE_SIZE; dtype++) {
        uint8_t src[TL_DTYPE_MAX_SIZE], dst[TL_DTYPE_MAX_SIZE] = {0};
        memset(src, 0xff, sizeof(src));
        tl_convert(dst, (tl_dtype)dtype, src, (tl_dtype)dtype);
        ck_assert_mem_eq(dst, src, tl_size_of((tl_dtype)dtype));
    }
}
END_TEST

START_TEST(integers_convert_to_bfloat16_with_one_rounding)
{
    // 2^60 + 2^52 is halfway between two bfloat16; one more decides, but a double does not see
    // it.
    const int64_t above = (INT64_C(1) << 60) + (INT64_C(1) << 52) + 1;
    uint16_t bits;
    tl_convert(&bits, TL_BFLOAT16, &above, TL_INT64);
    ck_assert_uint_eq(bits, 0x5d81);
    const int64_t tie = above - 1;
    tl_convert(&bits, TL_BFLOAT16, &tie, TL_INT64);
    ck_assert_uint_eq(bits, 0x5d80);
}
END_TEST

START_TEST(an_element_may_convert_in_its_place)
{
    union {
        double number;
        int8_t small;
    } u = {.number = -300};
    tl_convert(&u.small, TL_INT8, &u.number, TL_DOUBLE);
    ck_assert_int_eq(u.small, -128);
}
END_TEST

START_TEST(tensors_convert)
{
    float data[] = {-1.5f, 300, NAN, 0.9f};
    tl_tensor *const src = tl_tensor_create(data, 2, (int[]){2, 2}, TL_FLOAT);
    tl_tensor *const dst = tl_tensor_convert(src, NULL, TL_UINT8);
    const uint8_t expected[] = {0, 255, 0, 0};
    ck_assert_mem_eq(dst->data, expected, sizeof(expected));
    ck_assert_ptr_eq(tl_tensor_convert(src, src, TL_FLOAT), src);
    ck_assert_ptr_null(tl_tensor_convert(src, dst, TL_INT8));
    ck_assert_str_eq(tl_last_error(), "'dst' is TL_UINT8 [2, 2], expected TL_INT8 [2, 2]");
    ck_assert_ptr_null(tl_tensor_convert(src, NULL, TL_DTYPE_INVALID));
    ck_assert_ptr_null(tl_tensor_convert(src, dst, TL_DTYPE_INVALID));
    ck_assert_str_eq(tl_last_error(), "dtype -1, expected 0 to 23");
    tl_tensor *const same_data = tl_tensor_create(data, 2, (int[]){2, 2}, TL_UINT8);
    ck_assert_ptr_null(tl_tensor_convert(src, same_data, TL_UINT8));
    tl_tensor_free_data_too(dst);
    tl_tensor_free(same_data);
    tl_tensor_free(src);
}
END_TEST

// The kernels of both

#define VARIANT(arg, name, from, to, isa) {#name, name, from, to, isa},
static const tl_map_variant casts[] = {TL_CAST_PLAIN(VARIANT, ) TL_CAST_SIMD(VARIANT, )};
static const tl_map_variant conversions[] = {TL_CONVERT_PLAIN(VARIANT, )
                                                 TL_CONVERT_SIMD(VARIANT, )};
enum { CASTS = sizeof(casts) / sizeof(*casts) };
enum { CONVERSIONS = sizeof(conversions) / sizeof(*conversions) };

START_TEST(every_kernel_equals_plain_c)
{
    tl_map_check_variants(casts, CASTS, NULL);
    tl_map_check_variants(conversions, CONVERSIONS, NULL);
}
END_TEST

START_TEST(threads_do_not_change_the_result)
{
    tl_map_check_threads(casts, CASTS, NULL);
    tl_map_check_threads(conversions, CONVERSIONS, NULL);
}
END_TEST

LN_TEST_MAIN("cast", values_are_rounded_saturated_or_wrapped, integers_round_to_bfloat16_once,
             small_numbers_are_converted_as_by_convert, cast_rejects_bad_arguments,
             every_pair_agrees_with_long_double, the_same_type_is_a_copy_of_the_bits,
             integers_convert_to_bfloat16_with_one_rounding, an_element_may_convert_in_its_place,
             tensors_convert, every_kernel_equals_plain_c, threads_do_not_change_the_result)
