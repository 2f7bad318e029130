// SPDX-License-Identifier: Apache-2.0
// Tests of normalization by layers and groups.

#include "kernel/tl_nn_test.h"

START_TEST(a_layer_by_hand)
{
    // 1 and 3: mean 2, variance 1; 0 and 6: mean 3, variance 9. epsilon 0.
    for (size_t k = 0; k < NN_LEN(nn_floats); k++) {
        nn_room room = {0};
        tl_tensor *const src =
            nn_given(&room, nn_floats[k], 2, (int[]){2, 2}, (double[]){1, 3, 0, 6});
        tl_tensor *const scale = nn_given(&room, nn_floats[k], 1, (int[]){2}, (double[]){2, 4});
        tl_tensor *const bias = nn_given(&room, nn_floats[k], 1, (int[]){2}, (double[]){10, 20});
        tl_tensor *const mean =
            nn_blank(&room, tl_layernorm_stats_dtype(nn_floats[k]), 2, (int[]){2, 1});
        tl_tensor *const inv_std = nn_blank(&room, mean->dtype, 2, mean->dims);
        tl_tensor *const dst = nn_blank(&room, nn_floats[k], 2, src->dims);
        tl_exec_layernorm(NULL, src, scale, bias, dst, mean, inv_std, 1, 0);
        nn_check_values(dst, (double[]){8, 24, 8, 24});
        nn_check_values(mean, (double[]){2, 3});
        nn_check_values(inv_std, (double[]){1, 1.0 / 3});
        ck_assert_ptr_eq(tl_tensor_layernorm(src, NULL, NULL, src, 1, 0), src); // in place
        nn_check_values(src, (double[]){-1, 1, -1, 1});
        nn_close(&room);
    }
}
END_TEST

START_TEST(the_root_of_the_mean_of_squares_by_hand)
{
    nn_room room = {0}; // squares 1 and 49: mean 25
    tl_tensor *const src = nn_given(&room, TL_FLOAT, 2, (int[]){1, 2}, (double[]){-1, 7});
    tl_tensor *const scale = nn_given(&room, TL_FLOAT, 1, (int[]){2}, (double[]){10, 5});
    tl_tensor *const dst = nn_blank(&room, TL_FLOAT, 2, src->dims);
    ck_assert_ptr_eq(tl_tensor_rmsnorm(src, scale, dst, 1, 0), dst);
    nn_check_values(dst, (double[]){-2, 7});
    nn_close(&room);
}
END_TEST

START_TEST(groups_have_scales_of_channels_or_their_own)
{
    nn_room room = {0};
    tl_tensor *const src =
        nn_given(&room, TL_FLOAT, 3, (int[]){1, 4, 2}, (double[]){1, 1, 3, 3, 0, 6, 6, 0});
    tl_tensor *const scale = nn_given(&room, TL_FLOAT, 1, (int[]){4}, (double[]){1, 2, 3, 4});
    tl_tensor *const bias = nn_given(&room, TL_FLOAT, 1, (int[]){4}, (double[]){0, 0, 10, 20});
    tl_tensor *const by_group = nn_given(&room, TL_FLOAT, 1, (int[]){2}, (double[]){1, 100});
    tl_tensor *const dst = nn_blank(&room, TL_FLOAT, 3, src->dims);
    ck_assert_ptr_eq(tl_tensor_groupnorm(src, scale, bias, dst, 2, 0), dst);
    nn_check_values(dst, (double[]){-1, -1, 2, 2, 7, 13, 24, 16});
    ck_assert_ptr_eq(tl_tensor_groupnorm(src, by_group, NULL, dst, 2, 0), dst);
    nn_check_values(dst, (double[]){-1, -1, 1, 1, -100, 100, 100, -100});
    nn_close(&room);
}
END_TEST

START_TEST(a_large_mean_does_no_harm)
{
    nn_room room = {0};
    tl_tensor *const t = nn_given(&room, TL_FLOAT, 1, (int[]){4},
                                  (double[]){16777214, 16777216, 16777214, 16777216});
    tl_tensor *const dst = nn_blank(&room, TL_FLOAT, 1, t->dims);
    NN_EACH_ISA(exec)
    {
        tl_exec_layernorm(&exec, t, NULL, NULL, dst, NULL, NULL, 0, 0);
        nn_check_values(dst, (double[]){-1, 1, -1, 1});
    }
    nn_close(&room);
}
END_TEST

static void mean_and_variance(const tl_tensor *t, int first, int len, double *mean,
                              double *variance)
{
    *mean = *variance = 0;
    for (int i = first; i < first + len; i++)
        *mean += nn_at(t, (size_t)i) / len;
    for (int i = first; i < first + len; i++)
        *variance += pow(nn_at(t, (size_t)i) - *mean, 2) / len;
}

// Groups of random numbers against a straight double computation; layers are one group.
static void check_random(const tl_exec *exec, tl_dtype dtype, const int *dims, int groups,
                         int is_layer)
{
    nn_room room = {.seed = 4};
    tl_tensor *const src = nn_random(&room, dtype, 3, dims, -1, 3);
    tl_tensor *const dst = nn_blank(&room, dtype, 3, dims);
    const int scales = is_layer ? dims[1] * dims[2] : dims[1];
    tl_tensor *const scale = nn_random(&room, dtype, 1, &scales, 1, 2);
    tl_tensor *const bias = nn_random(&room, dtype, 1, &scales, -1, 1);
    if (is_layer)
        tl_exec_layernorm(exec, src, scale, bias, dst, NULL, NULL, 1, 0.01);
    else
        tl_exec_groupnorm(exec, src, scale, bias, dst, groups, 0.01);
    const int len = dims[1] / groups * dims[2];
    double mean = 0, variance = 0;
    for (int i = 0; i < src->len; i++) {
        if (i % len == 0)
            mean_and_variance(src, i, len, &mean, &variance);
        const size_t s = (size_t)(is_layer ? i % scales : i / dims[2] % dims[1]);
        const double value = (nn_at(src, (size_t)i) - mean) / sqrt(variance + 0.01);
        const double expected = value * nn_at(scale, s) + nn_at(bias, s);
        nn_check_near(dst, (size_t)i, expected,
                      nn_tolerance(dtype, 6, 2 * fabs(value) + 6, expected));
    }
    nn_close(&room);
}

START_TEST(random_numbers_agree_with_double)
{
    NN_EACH_ISA(exec)
    for (size_t k = 0; k < NN_LEN(nn_floats); k++) {
        check_random(&exec, nn_floats[k], (int[]){5, 6, 7}, 1, 1);
        check_random(&exec, nn_floats[k], (int[]){2, 1, 129}, 1, 1);
        check_random(&exec, nn_floats[k], (int[]){3, 6, 5}, 2, 0);
        check_random(&exec, nn_floats[k], (int[]){3, 6, 19}, 6, 0);
        check_random(&exec, nn_floats[k], (int[]){2, 8, 1}, 1, 0);
        check_random(&exec, nn_floats[k], (int[]){2, 1, 1500}, 1, 1); // longer than a part
        check_random(&exec, nn_floats[k], (int[]){1, 2, 1500}, 1, 0);
    }
}
END_TEST

static void run_layernorm(const tl_exec *exec, tl_tensor *dst, void *arg)
{
    tl_exec_layernorm(exec, arg, NULL, NULL, dst, NULL, NULL, 1, 1e-5);
}

START_TEST(threads_do_not_change_the_result)
{
    nn_room room = {.seed = 42};
    tl_tensor *const src = nn_random(&room, TL_FLOAT, 2, (int[]){501, 997}, -5, 5);
    nn_check_threads(run_layernorm, nn_blank(&room, TL_FLOAT, 2, src->dims), src);
    nn_close(&room);
}
END_TEST

START_TEST(layernorm_rejects_bad_axes_and_shapes)
{
    nn_room room = {0};
    tl_tensor *const src = nn_blank(&room, TL_FLOAT, 3, (int[]){2, 3, 4});
    tl_tensor *const scale = nn_blank(&room, TL_FLOAT, 1, (int[]){3});
    ck_assert_ptr_null(tl_tensor_layernorm(src, scale, NULL, NULL, 1, 0));
    ck_assert_str_eq(tl_last_error(), "'scale' is 3 elements of TL_FLOAT, expected 12 of TL_FLOAT");
    ck_assert_ptr_null(tl_tensor_rmsnorm(src, NULL, NULL, 3, 0));
    ck_assert_str_eq(tl_last_error(), "axis 3, expected 0 to 2");
    ck_assert_ptr_null(tl_tensor_groupnorm(src, scale, NULL, NULL, 2, 0));
    ck_assert_str_eq(tl_last_error(), "'src' has 3 channels, expected a multiple of 'groups', 2");
    ck_assert_ptr_null(tl_tensor_groupnorm(scale, scale, NULL, NULL, 1, 0));
    ck_assert_str_eq(tl_last_error(), "'src' has shape [3], expected [N, C, ..]");
    nn_close(&room);
}
END_TEST

LN_TEST_MAIN("layernorm", a_layer_by_hand, the_root_of_the_mean_of_squares_by_hand,
             groups_have_scales_of_channels_or_their_own, a_large_mean_does_no_harm,
             random_numbers_agree_with_double, threads_do_not_change_the_result,
             layernorm_rejects_bad_axes_and_shapes)
