// SPDX-License-Identifier: Apache-2.0
// Tests of the leaky rectifier.

#include <math.h>

#include "kernel/lrelu/lrelu.h"
#include "kernel/tl_map_test.h"
#include "tensorlight/tensorlight.h"

START_TEST(negative_numbers_are_scaled)
{
    float data[] = {-2, 0, 3, -INFINITY};
    tl_tensor *const src = tl_tensor_create(data, 1, (int[]){4}, TL_FLOAT);
    const float expected[] = {-1, 0, 3, -INFINITY};
    ck_assert_ptr_eq(tl_tensor_lrelu(src, src, 0.5f), src);
    ck_assert_mem_eq(data, expected, sizeof(expected));
    tl_tensor_free(src);
}
END_TEST

START_TEST(nan_stays)
{
    const float src = NAN;
    float dst = 0;
    tl_lrelu(&dst, &src, 0.1f, TL_FLOAT);
    ck_assert(isnan(dst));
}
END_TEST

START_TEST(a_double_takes_the_slope_of_a_float)
{
    const double src = -1;
    double dst;
    tl_lrelu(&dst, &src, 0.1f, TL_DOUBLE);
    ck_assert_double_eq(dst, -(double)0.1f);
}
END_TEST

START_TEST(integers_multiply_in_double)
{
    static const struct {
        int8_t x;
        float slope;
        int8_t expected;
    } rows[] = {{-25, 0.1f, -2}, {-128, -2, 127}, {-128, 2, -128}, {25, 0.1f, 25}, {-1, NAN, 0}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        int8_t dst;
        tl_lrelu(&dst, &rows[i].x, rows[i].slope, TL_INT8);
        ck_assert_int_eq(dst, rows[i].expected);
    }
    const uint64_t large = UINT64_MAX;
    uint64_t same;
    tl_lrelu(&same, &large, 0.1f, TL_UINT64);
    ck_assert(same == UINT64_MAX);
}
END_TEST

START_TEST(wrong_arguments_are_refused)
{
    tl_tensor *const no_data = tl_tensor_create(NULL, 1, (int[]){4}, TL_FLOAT);
    ck_assert_ptr_null(tl_tensor_lrelu(no_data, NULL, 0.1f));
    ck_assert_str_eq(tl_last_error(), "'src' has no data");
    ck_assert_ptr_null(tl_tensor_lrelu(NULL, NULL, 0.1f));
    ck_assert_str_eq(tl_last_error(), "'src' is NULL, expected a tensor");
    tl_tensor_free(no_data);
}
END_TEST

#define VARIANT(arg, name, dtype, isa) {#name, name, dtype, dtype, isa},
static const tl_map_variant variants[] = {TL_LRELU_KERNELS(VARIANT, )};

static const float slope = 0.1f;

TL_MAP_TESTS(variants, &slope)

LN_TEST_MAIN("lrelu", negative_numbers_are_scaled, nan_stays, a_double_takes_the_slope_of_a_float,
             integers_multiply_in_double, wrong_arguments_are_refused, every_kernel_equals_plain_c,
             threads_do_not_change_the_result)
