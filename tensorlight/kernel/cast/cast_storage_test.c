// SPDX-License-Identifier: Apache-2.0
// Tests of the conversions from and to floats and integers of 8 bits and less: each pair, against a
// search among all values that a type has.

#include <math.h>

#include "kernel/cast/cast.h"
#include "kernel/tl_map_test.h"
#include "tensor/tl_half.h"
#include "tensorlight/tensorlight.h"

// The values, from the standard's formulas

typedef struct format {
    int exponent, fraction, bias; // bits; 0 bits of exponent: an integer
    int is_signed;
} format;

static const format formats[TL_DTYPE_SIZE] = {
    [TL_FLOAT8E4M3FN] = {4, 3, 7, 1}, [TL_FLOAT8E4M3FNUZ] = {4, 3, 8, 1},
    [TL_FLOAT8E5M2] = {5, 2, 15, 1},  [TL_FLOAT8E5M2FNUZ] = {5, 2, 16, 1},
    [TL_FLOAT4E2M1] = {2, 1, 1, 1},   [TL_INT4] = {0, 3, 0, 1},
    [TL_UINT4] = {0, 4, 0, 0},        [TL_INT2] = {0, 1, 0, 1},
    [TL_UINT2] = {0, 2, 0, 0},
};

static long double value_of_bits(tl_dtype dtype, uint8_t byte)
{
    const format f = formats[dtype];
    if (dtype == TL_FLOAT8E8M0)
        return byte == 255 ? (long double)NAN : ldexpl(1, byte - 127);
    if (!f.exponent)
        return f.is_signed ? (int8_t)byte : byte;
    const int sign = byte >> (f.exponent + f.fraction) & 1;
    const int exponent = byte >> f.fraction & ((1 << f.exponent) - 1);
    const int fraction = byte & ((1 << f.fraction) - 1);
    const int is_uz = dtype == TL_FLOAT8E4M3FNUZ || dtype == TL_FLOAT8E5M2FNUZ;
    if ((is_uz && byte == 0x80) || (dtype == TL_FLOAT8E4M3FN && (byte & 0x7f) == 0x7f) ||
        (dtype == TL_FLOAT8E5M2 && (byte & 0x7f) > 0x7c))
        return (long double)NAN;
    if (dtype == TL_FLOAT8E5M2 && (byte & 0x7f) == 0x7c)
        return sign ? -(long double)INFINITY : (long double)INFINITY;
    const long double size =
        exponent ? ldexpl((1 << f.fraction) + fraction, exponent - f.bias - f.fraction)
                 : ldexpl(fraction, 1 - f.bias - f.fraction);
    return sign ? -size : size;
}

// The bytes that are elements: all of floats of 8 bits; each pattern of the others.
static int elements_of(tl_dtype dtype, uint8_t bytes[256])
{
    const int n = 1 << tl_dtype_bits(dtype);
    const int first = !tl_dtype_has_fractions(dtype) && formats[dtype].is_signed ? -n / 2 : 0;
    for (int i = 0; i < n; i++)
        bytes[i] = (uint8_t)(first + i);
    return n;
}

static long double value_of(const void *p, tl_dtype dtype)
{
    if (!tl_dtype_is_computed(dtype))
        return value_of_bits(dtype, *(const uint8_t *)p);
    if (dtype == TL_INT64)
        return (long double)*(const int64_t *)p;
    if (dtype == TL_UINT64)
        return (long double)*(const uint64_t *)p;
    if (dtype == TL_FLOAT16)
        return (long double)tl_half_to_float(*(const uint16_t *)p);
    double value; // exact
    tl_convert(&value, TL_DOUBLE, p, dtype);
    return (long double)value;
}

// The nearest element

typedef struct rule {
    int is_convert, saturates;
    tl_power_rounding rounding;
} rule;

// The finite element nearest to `value`; of two, the one whose last bit is 0.
static uint8_t nearest(tl_dtype dtype, long double value)
{
    uint8_t bytes[256], best = 0;
    const int n = elements_of(dtype, bytes);
    long double distance = (long double)INFINITY;
    for (int i = 0; i < n; i++) {
        const long double x = value_of_bits(dtype, bytes[i]), d = fabsl(x - value);
        if (!isfinite(x) || d > distance || (d == distance && bytes[i] & 1))
            continue;
        if (d == distance && x == 0 && !signbit(value) == !!signbit(x))
            continue; // zeros: the one with the sign
        best = bytes[i];
        distance = d;
    }
    return best;
}

static uint8_t power_of(long double value, rule r)
{
    const long double min = ldexpl(1, -127), max = ldexpl(1, 127);
    if (isnan(value))
        return 255;
    if (!(value >= min && value <= max))
        return !r.saturates ? 255 : value > max ? 254 : 0;
    int exponent;
    const long double half = frexpl(value, &exponent); // value = half * 2^exponent
    const int above = r.rounding == TL_POWER_UP        ? half > 0.5L
                      : r.rounding == TL_POWER_NEAREST ? half >= 0.75L
                                                       : 0;
    return (uint8_t)(exponent - 1 + above + 127);
}

static uint8_t float_of(tl_dtype dtype, long double value, rule r)
{
    const int is_uz = dtype == TL_FLOAT8E4M3FNUZ || dtype == TL_FLOAT8E5M2FNUZ;
    const uint8_t sign = signbit(value) ? 0x80 : 0;
    if (dtype == TL_FLOAT8E8M0)
        return power_of(value, r);
    if (isnan(value)) // its sign is not compared
        return dtype == TL_FLOAT4E2M1 ? 7 : is_uz ? 0x80 : 0x7f;
    const format f = formats[dtype];
    const long double max = (long double)tl_dtype_max_double(dtype);
    const int exponent = ilogbl(max);
    const long double limit = max + ldexpl(1, exponent - f.fraction - 1); // a tie that rounds up
    const int max_is_odd = nearest(dtype, max) & 1;
    const int is_beyond = max_is_odd ? fabsl(value) >= limit : fabsl(value) > limit;
    if (is_beyond && !r.saturates && dtype != TL_FLOAT4E2M1)
        return is_uz ? 0x80 : (uint8_t)(sign | (dtype == TL_FLOAT8E5M2 ? 0x7c : 0x7f));
    return nearest(dtype, value > max ? max : value < -max ? -max : value);
}

static uint8_t integer_of(tl_dtype dtype, long double value, tl_dtype from, rule r)
{
    const long double min = (long double)tl_dtype_min_double(dtype);
    const long double max = (long double)tl_dtype_max_double(dtype);
    const int bits = tl_dtype_bits(dtype);
    if (isnan(value))
        return 0;
    if (!r.is_convert && !tl_dtype_has_fractions(from)) { // the low bits
        const uint64_t all = value < 0 ? 0 - (uint64_t)-value : (uint64_t)value;
        const int low = (int)(all & ((1U << bits) - 1));
        return (uint8_t)(min < 0 && low >> (bits - 1) ? low - (1 << bits) : low);
    }
    const long double whole = r.is_convert ? truncl(value) : nearbyintl(value);
    return (uint8_t)(int)(whole < min ? min : whole > max ? max : whole);
}

static uint8_t expected(tl_dtype to, long double value, tl_dtype from, rule r)
{
    return tl_dtype_has_fractions(to) ? float_of(to, value, r) : integer_of(to, value, from, r);
}

// Sources: all elements, or numbers around every value and every tie of the result

enum { MAX = 3000 };

static int make_numbers(tl_dtype from, tl_dtype to, void *src)
{
    static const double edges[] = {0,      -0.0,     NAN,        INFINITY,   -INFINITY, 1e300,
                                   -1e300, 1e-300,   -1e-300,    0x1p127,    0x1.8p127, 0x1p128,
                                   -1,     0x1p-149, 0x1.8p-127, 0x1.7p-127, 0x1p-128,  0x1p63,
                                   3,      6,        61440,      61439,      464,       465};
    double numbers[MAX];
    int n = sizeof(edges) / sizeof(*edges);
    uint8_t bytes[256];
    if (!tl_dtype_is_computed(from))
        return elements_of(from, src);
    memcpy(numbers, edges, sizeof(edges));
    const int elements = elements_of(to, bytes);
    for (int i = 0; i + 1 < elements; i++) {
        const double x = (double)value_of_bits(to, bytes[i]);
        const double tie = x + ((double)value_of_bits(to, bytes[i + 1]) - x) / 2;
        const double around[] = {x,
                                 tie,
                                 nextafter(tie, HUGE_VAL),
                                 nextafter(tie, -HUGE_VAL),
                                 nextafter(x, HUGE_VAL),
                                 x * 1.25,
                                 x * 0.75};
        for (size_t k = 0; k < sizeof(around) / sizeof(*around); k++)
            numbers[n++] = around[k];
    }
    tl_tensor *const s = tl_tensor_create(numbers, 1, &n, TL_DOUBLE);
    tl_tensor *const d = tl_tensor_create(src, 1, &n, from);
    ck_assert_ptr_eq(tl_tensor_cast(s, d, from), d);
    tl_tensor_free(s);
    tl_tensor_free(d);
    for (int i = 0; i < n && from == TL_INT64; i += 3) // bits that a double does not have
        ((int64_t *)src)[i] += ((int64_t *)src)[i] > INT64_C(1) << 60 ? -1 : i % 2;
    return n;
}

static int is_nan_of(tl_dtype dtype, uint8_t byte)
{
    return isnan(value_of_bits(dtype, byte));
}

static void check_pair(tl_dtype from, tl_dtype to, rule r)
{
    uint64_t src[MAX];
    uint8_t dst[MAX];
    const int n = make_numbers(from, to, src);
    tl_tensor *const s = tl_tensor_create(src, 1, &n, from), *d;
    tl_tensor *const room = tl_tensor_create(dst, 1, &n, to);
    if (r.is_convert)
        d = tl_tensor_convert(s, room, to);
    else if (tl_dtype_has_fractions(to))
        d = tl_tensor_cast_float8(s, room, to, r.saturates, r.rounding);
    else
        d = tl_tensor_cast(s, room, to);
    ck_assert_ptr_eq(d, room);
    for (int i = 0; i < n; i++) {
        const long double x = value_of(tl_pointer_add(src, i, from), from);
        const uint8_t want = expected(to, x, from, r);
        const int is_same = dst[i] == want || (is_nan_of(to, want) && is_nan_of(to, dst[i]));
        ck_assert_msg(is_same, "%s %.20Lg to %s: %02x, expected %02x (%d %d %d)",
                      tl_dtype_name(from), x, tl_dtype_name(to), dst[i], want, r.is_convert,
                      r.saturates, (int)r.rounding);
    }
    tl_tensor_free(s);
    tl_tensor_free(room);
}

START_TEST(each_type_converts_to_the_nearest_element)
{
    static const rule rules[] = {{1, 1, TL_POWER_NEAREST}, {0, 1, TL_POWER_UP},
                                 {0, 0, TL_POWER_UP},      {0, 1, TL_POWER_DOWN},
                                 {0, 0, TL_POWER_DOWN},    {0, 1, TL_POWER_NEAREST},
                                 {0, 0, TL_POWER_NEAREST}};
    for (int from = 0; from < TL_STRING; from++)
        for (int to = TL_DTYPE_COMPUTED_SIZE; to < TL_STRING; to++)
            for (size_t i = 0; from != to && i < sizeof(rules) / sizeof(*rules); i++)
                check_pair((tl_dtype)from, (tl_dtype)to, rules[i]);
}
END_TEST

// To types to compute with: as from a double with the same value.
START_TEST(each_element_converts_as_its_value)
{
    for (int from = TL_DTYPE_COMPUTED_SIZE; from < TL_STRING; from++) {
        uint8_t src[256];
        const tl_dtype carrier = tl_dtype_has_fractions((tl_dtype)from) ? TL_DOUBLE
                                 : formats[from].is_signed              ? TL_INT64
                                                                        : TL_UINT64;
        const int n = elements_of((tl_dtype)from, src);
        for (int i = 0; i < n; i++) {
            uint64_t wide = 0;
            const long double x = value_of_bits((tl_dtype)from, src[i]);
            if (carrier == TL_DOUBLE)
                memcpy(&wide, &(double){(double)x}, sizeof(double));
            else
                wide = (uint64_t)(int64_t)x;
            for (int to = 0; to < TL_DTYPE_COMPUTED_SIZE; to++) {
                uint64_t got[2] = {0}, want[2] = {0};
                tl_tensor s = {.dtype = (tl_dtype)from, .len = 1, .data = &src[i]};
                tl_tensor w = {.dtype = carrier, .len = 1, .data = &wide};
                for (int k = 0; k < 2; k++) {
                    tl_tensor g = {.dtype = (tl_dtype)to, .len = 1, .data = &got[k]};
                    tl_tensor e = {.dtype = (tl_dtype)to, .len = 1, .data = &want[k]};
                    (k ? tl_tensor_convert : tl_tensor_cast)(&s, &g, (tl_dtype)to);
                    (k ? tl_tensor_convert : tl_tensor_cast)(&w, &e, (tl_dtype)to);
                    // tl_convert saturates the infinities of a double, but those of the source
                    // are values of wider floats.
                    if (isinf(x) && tl_dtype_is_float((tl_dtype)to))
                        want[k] = got[k];
                }
                const int is_nan = isnan(x) && tl_dtype_is_float((tl_dtype)to);
                ck_assert_msg(is_nan || memcmp(got, want, sizeof(got)) == 0, "%s %02x to %s",
                              tl_dtype_name((tl_dtype)from), src[i], tl_dtype_name((tl_dtype)to));
            }
        }
    }
}
END_TEST

START_TEST(infinities_and_nan_stay_in_wider_floats)
{
    const uint8_t inf = 0xfc, nan = 0x7d;
    float value;
    uint16_t half;
    tl_convert(&value, TL_FLOAT, &inf, TL_FLOAT8E5M2);
    ck_assert(isinf(value) && value < 0);
    tl_convert(&value, TL_FLOAT, &nan, TL_FLOAT8E5M2);
    ck_assert(isnan(value));
    tl_tensor s = {.dtype = TL_FLOAT8E5M2, .len = 1, .data = (void *)&inf};
    tl_tensor d = {.dtype = TL_FLOAT16, .len = 1, .data = &half};
    tl_tensor_cast(&s, &d, TL_FLOAT16);
    ck_assert_uint_eq(half, 0xfc00);
}
END_TEST

START_TEST(many_elements_are_cast_by_threads)
{
    enum { LEN = 100003 };
    tl_tensor *const src = tl_tensor_zeros(1, (int[]){LEN}, TL_FLOAT);
    tl_tensor *const dst = tl_tensor_zeros(1, (int[]){LEN}, TL_FLOAT8E5M2);
    tl_pool *const pool = tl_pool_create(3);
    const tl_exec exec = {.pool = pool, .isa = tl_isa_best()};
    for (int i = 0; i < LEN; i++)
        ((float *)src->data)[i] = (float)(i % 2000 - 1000);
    ck_assert_int_eq(tl_exec_cast(&exec, src, dst), 0);
    for (int i = 0; i < LEN; i++) {
        uint8_t want;
        tl_convert(&want, TL_FLOAT8E5M2, (float *)src->data + i, TL_FLOAT);
        ck_assert_uint_eq(((uint8_t *)dst->data)[i], want);
    }
    tl_pool_free(pool);
    tl_tensor_free_data_too(src);
    tl_tensor_free_data_too(dst);
}
END_TEST

START_TEST(a_cast_to_float8_rejects_bad_arguments)
{
    tl_tensor *const src = tl_tensor_zeros(1, (int[]){2}, TL_FLOAT);
    ck_assert_ptr_null(tl_tensor_cast_float8(src, NULL, TL_FLOAT16, 1, TL_POWER_UP));
    ck_assert_str_eq(tl_last_error(),
                     "'dst' has dtype TL_FLOAT16, expected a float of 8 bits or less");
    ck_assert_ptr_null(tl_tensor_cast_float8(src, NULL, TL_INT4, 1, TL_POWER_UP));
    ck_assert_ptr_null(tl_tensor_cast_float8(src, NULL, TL_DTYPE_INVALID, 1, TL_POWER_UP));
    ck_assert_ptr_null(tl_tensor_cast_float8(src, NULL, TL_FLOAT8E8M0, 1,
                                             (tl_power_rounding)TL_POWER_ROUNDING_SIZE));
    ck_assert_str_eq(tl_last_error(), "rounding 3, expected 0 to 2");
    ck_assert_ptr_null(tl_tensor_cast_float8(NULL, NULL, TL_FLOAT8E8M0, 1, TL_POWER_UP));
    ck_assert_int_eq(tl_power_rounding_from_str("TL_POWER_DOWN"), TL_POWER_DOWN);
    ck_assert_int_eq(tl_power_rounding_from_str("down"), TL_POWER_ROUNDING_INVALID);
    ck_assert_str_eq(tl_power_rounding_name(TL_POWER_NEAREST), "TL_POWER_NEAREST");
    tl_tensor_free_data_too(src);
}
END_TEST

LN_TEST_MAIN("cast_storage", each_type_converts_to_the_nearest_element,
             each_element_converts_as_its_value, infinities_and_nan_stay_in_wider_floats,
             many_elements_are_cast_by_threads, a_cast_to_float8_rejects_bad_arguments)
