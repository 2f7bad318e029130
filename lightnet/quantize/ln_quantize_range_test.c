// SPDX-License-Identifier: Apache-2.0
// Tests of ranges and of the quantization of weights.

#include "quantize/ln_quantize_range.h"

#include <math.h>

#include "ln_check.h"

#define LEN(array) (sizeof(array) / sizeof((array)[0]))

static ln_quantize_step step_of(const float *data, size_t len, ln_quantize_kind kind,
                                double percentile)
{
    ln_quantize_stats stats = {0};
    ln_quantize_stats_extend(&stats, data, len);
    ck_assert_int_eq(ln_quantize_stats_begin_bins(&stats), 0);
    ln_quantize_stats_count(&stats, data, len);
    const ln_quantize_step step =
        ln_quantize_step_of(&stats, &(ln_quantize_method){kind, percentile});
    ln_quantize_stats_clear(&stats);
    return step;
}

static void check_step(ln_quantize_step step, double scale, int zero)
{
    ck_assert_double_eq_tol(step.scale, scale, 1e-6 * scale);
    ck_assert_int_eq(step.zero, zero);
}

START_TEST(min_and_max_become_the_ends_of_8_bits)
{
    static const float both[] = {-51, 10, 204}, above[] = {255, 510}, below[] = {-510, -3};
    check_step(step_of(both, LEN(both), LN_QUANTIZE_MINMAX, 0), 1, 51);
    check_step(step_of(above, LEN(above), LN_QUANTIZE_MINMAX, 0), 2, 0);
    check_step(step_of(below, LEN(below), LN_QUANTIZE_MINMAX, 0), 2, 255);
}
END_TEST

START_TEST(nothing_but_0_has_scale_1)
{
    static const float zeros[] = {0, -0.0f};
    for (int kind = LN_QUANTIZE_MINMAX; kind <= LN_QUANTIZE_ENTROPY; kind++)
        check_step(step_of(zeros, LEN(zeros), (ln_quantize_kind)kind, 99), 1, 0);
}
END_TEST

START_TEST(nan_and_infinity_are_noted_and_do_not_extend_the_range)
{
    static const float data[] = {1, NAN, -INFINITY, 255};
    ln_quantize_stats stats = {0};
    ln_quantize_stats_extend(&stats, data, LEN(data));
    ck_assert_int_eq(stats.is_not_finite, 1);
    ck_assert_float_eq(stats.min, 0);
    ck_assert_float_eq(stats.max, 255);
    ck_assert_uint_eq(stats.n, 4);
}
END_TEST

START_TEST(the_widest_range_of_floats_has_a_finite_scale)
{
    static const float data[] = {-3.4e38f, 3.4e38f};
    check_step(step_of(data, LEN(data), LN_QUANTIZE_MINMAX, 0), 6.8e38 / 255, 128);
}
END_TEST

// 1000 values from 0 to 0.999, and two far away: 0.2 % of the values.
static void fill_with_outliers(float data[1002])
{
    for (int i = 0; i < 1000; i++)
        data[i] = (float)i / 1000;
    data[1000] = 1000;
    data[1001] = 500;
}

// The bins are 1000 / 2048 wide.
START_TEST(percentiles_leave_out_what_is_far_away)
{
    float data[1002];
    fill_with_outliers(data);
    check_step(step_of(data, LEN(data), LN_QUANTIZE_PERCENTILE, 99.5), 3 * 1000.0 / 2048 / 255, 0);
    check_step(step_of(data, LEN(data), LN_QUANTIZE_PERCENTILE, 100), 1000.0 / 255, 0);
}
END_TEST

START_TEST(percentiles_cut_both_ends)
{
    float data[4002];
    for (int i = 0; i < 4000; i++)
        data[i] = (float)(i - 2000) / 2000; // -1 to 1
    data[4000] = -7;
    data[4001] = 9;
    const ln_quantize_step step = step_of(data, LEN(data), LN_QUANTIZE_PERCENTILE, 99.9);
    ck_assert_double_eq_tol(step.scale, 2.0 / 255, 0.05 / 255);
    ck_assert_int_ge(step.zero, 126);
    ck_assert_int_le(step.zero, 129);
}
END_TEST

// Values that rise linearly to 1 lose nothing by their ends; a bell with one outlier should lose
// it.
START_TEST(entropy_clips_outliers_and_keeps_what_is_full)
{
    static float bell[20001], even[20000];
    for (int i = 0; i < 20000; i++) {
        even[i] = (float)i / 20000;
        const double u = (i + 0.5) / 10000 - 1; // atanh of evenly spread values is bell-shaped
        bell[i] = (float)atanh(u * 0.9999);
    }
    bell[20000] = 200;
    check_step(step_of(even, LEN(even), LN_QUANTIZE_ENTROPY, 0), even[19999] / 255.0, 0);
    ck_assert_double_lt(step_of(bell, LEN(bell), LN_QUANTIZE_ENTROPY, 0).scale, 30.0 / 255);
    ck_assert_double_gt(step_of(bell, LEN(bell), LN_QUANTIZE_ENTROPY, 0).scale, 4.0 / 255);
}
END_TEST

// ReLU makes half of the values 0, which each range represents exactly.
START_TEST(entropy_does_not_count_zeros)
{
    static float values[40000];
    for (int i = 0; i < 20000; i++)
        values[i] = (float)atanh((i + 0.5) / 20000 * 0.9999);
    const float largest = values[19999];
    const double scale = step_of(values, LEN(values), LN_QUANTIZE_ENTROPY, 0).scale;
    ck_assert_double_gt(scale, 0.6 * largest / 255);
}
END_TEST

START_TEST(scales_of_channels_that_are_nearly_0_stay_large)
{
    static const float weight[] = {127, 1e-9f, 0, 0.5f};
    float scale[4];
    int8_t dst[4];
    ln_quantize_weight(weight, 1, 4, 1, scale, dst);
    ck_assert_float_eq(scale[1], 0x1p-12f);
    ck_assert_float_eq(scale[2], 1);
    ck_assert_int_eq(dst[1], 0);
    ck_assert_int_eq(dst[3], 127);
}
END_TEST

START_TEST(each_channel_of_a_weight_has_its_scale)
{
    // [2, 3]: channels are rows, then columns.
    static const float weight[] = {127, -63.5f, 1, 0, 0.5f, -254};
    float scale[3];
    int8_t dst[6];
    ln_quantize_weight(weight, 1, 2, 3, scale, dst);
    ck_assert_float_eq(scale[0], 1);
    ck_assert_float_eq(scale[1], 2);
    static const int8_t rows[] = {127, -64, 1, 0, 0, -127};
    for (int i = 0; i < 6; i++)
        ck_assert_int_eq(dst[i], rows[i]);
    ln_quantize_weight(weight, 2, 3, 1, scale, dst);
    ck_assert_float_eq(scale[0], 1);
    ck_assert_float_eq(scale[1], 0.5f);
    ck_assert_float_eq(scale[2], 2);
    static const int8_t columns[] = {127, -127, 0, 0, 1, -127};
    for (int i = 0; i < 6; i++)
        ck_assert_int_eq(dst[i], columns[i]);
}
END_TEST

START_TEST(a_channel_of_zeros_has_scale_1)
{
    static const float weight[] = {0, 0};
    float scale[1];
    int8_t dst[2] = {5, 5};
    ln_quantize_weight(weight, 1, 1, 2, scale, dst);
    ck_assert_float_eq(scale[0], 1);
    ck_assert_int_eq(dst[0] | dst[1], 0);
}
END_TEST

LN_TEST_MAIN("quantize range", min_and_max_become_the_ends_of_8_bits, nothing_but_0_has_scale_1,
             nan_and_infinity_are_noted_and_do_not_extend_the_range,
             the_widest_range_of_floats_has_a_finite_scale, percentiles_leave_out_what_is_far_away,
             percentiles_cut_both_ends, entropy_clips_outliers_and_keeps_what_is_full,
             entropy_does_not_count_zeros, scales_of_channels_that_are_nearly_0_stay_large,
             each_channel_of_a_weight_has_its_scale, a_channel_of_zeros_has_scale_1)
