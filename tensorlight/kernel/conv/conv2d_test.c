// SPDX-License-Identifier: Apache-2.0
// Tests of convolution and deconvolution of images: known results, special values, fused
// activations, threads, and errors. convnd_test.c compares with loops in double.

#include <limits.h>

#include "kernel/tl_nn_test.h"

#define PLAIN(kh, kw)                                                        \
    {                                                                        \
        .group = 1, .size = {kh, kw}, .stride = {1, 1}, .dilation = { 1, 1 } \
    }

// Known results

START_TEST(conv2d_gives_the_known_result)
{
    nn_room room = {0};
    tl_tensor *const src =
        nn_given(&room, TL_FLOAT, 4, (int[]){1, 1, 3, 3}, (double[]){1, 2, 3, 4, 5, 6, 7, 8, 9});
    tl_tensor *const weight =
        nn_given(&room, TL_FLOAT, 4, (int[]){1, 1, 2, 2}, (double[]){1, 0, 0, -1});
    tl_tensor *const bias = nn_given(&room, TL_FLOAT, 1, (int[]){1}, (double[]){10});
    const tl_conv2d_param param = PLAIN(2, 2);
    tl_tensor *const dst = tl_tensor_conv2d(src, weight, bias, NULL, &param);
    ck_assert_ptr_nonnull(dst);
    ck_assert(dst->dims[2] == 2 && dst->dims[3] == 2);
    nn_check_values(dst, (double[]){6, 6, 6, 6});
    tl_tensor_free_data_too(dst);
    nn_close(&room);
}
END_TEST

START_TEST(deconv2d_gives_the_known_result)
{
    nn_room room = {0};
    const double values[] = {1, 2, 3, 4};
    tl_tensor *const src = nn_given(&room, TL_FLOAT, 4, (int[]){1, 1, 2, 2}, values);
    tl_tensor *const weight = nn_given(&room, TL_FLOAT, 4, (int[]){1, 1, 2, 2}, values);
    tl_tensor *const bias = nn_given(&room, TL_FLOAT, 1, (int[]){1}, (double[]){0});
    const tl_conv2d_param param = PLAIN(2, 2);
    tl_tensor *const dst = tl_tensor_deconv2d(src, weight, bias, NULL, &param);
    ck_assert_ptr_nonnull(dst);
    nn_check_values(dst, (double[]){1, 4, 4, 6, 20, 16, 9, 24, 16});
    tl_tensor_free_data_too(dst);
    nn_close(&room);
}
END_TEST

START_TEST(lengths_follow_the_formula)
{
    static const struct {
        int in, size, stride, dilation, begin, end, conv, deconv;
    } cases[] = {
        {6, 3, 2, 1, 0, 1, 3, 12},
        {5, 3, 2, 1, 1, 1, 3, 9},
        {7, 3, 1, 2, 2, 2, 7, 7},
        {4, 1, 2, 1, 0, 0, 2, 7},
        {3, 3, 2, 1, 0, 1, 1, 6},
        {2, 3, 1, 1, 0, 0, -1, 4},
        {0, 1, 1, 1, 1, 1, -1, -1},
        {1, 1, 1, 1, 0, 1, 2, -1},
        {3, 2, 0, 1, 0, 0, -1, -1},
        {INT_MAX, 1, 1, 1, 1, 1, -1, INT_MAX - 2},
        {INT_MAX, INT_MAX, INT_MAX, INT_MAX, INT_MAX, INT_MAX, -1, -1},
        {INT_MAX, INT_MAX, INT_MAX, INT_MAX, INT_MIN, INT_MIN, -1, -1},
    };
    for (size_t i = 0; i < NN_LEN(cases); i++) {
        ck_assert_int_eq(tl_conv2d_length(cases[i].in, cases[i].size, cases[i].stride,
                                          cases[i].dilation, cases[i].begin, cases[i].end),
                         cases[i].conv);
        ck_assert_int_eq(tl_deconv2d_length(cases[i].in, cases[i].size, cases[i].stride,
                                            cases[i].dilation, cases[i].begin, cases[i].end, 0),
                         cases[i].deconv);
    }
}
END_TEST

START_TEST(no_bias_is_a_bias_of_0)
{
    const tl_conv2d_param param = PLAIN(2, 2);
    nn_room room = {.seed = 3};
    tl_tensor *const src = nn_random(&room, TL_FLOAT, 4, (int[]){1, 2, 4, 4}, -1, 1);
    tl_tensor *const weight = nn_random(&room, TL_FLOAT, 4, (int[]){2, 2, 2, 2}, -1, 1);
    tl_tensor *const bias = nn_given(&room, TL_FLOAT, 1, (int[]){2}, (double[]){0, 0});
    tl_tensor *const with = tl_tensor_conv2d(src, weight, bias, NULL, &param);
    tl_tensor *const without = tl_tensor_conv2d(src, weight, NULL, NULL, &param);
    ck_assert_mem_eq(with->data, without->data, tl_tensor_size(with));
    tl_tensor_free_data_too(with);
    tl_tensor_free_data_too(without);
    nn_close(&room);
}
END_TEST

// Special numbers

START_TEST(nan_and_infinity_spread_over_their_windows_only)
{
    const tl_conv2d_param param = {
        .group = 1, .size = {1, 3}, .stride = {1, 1}, .dilation = {1, 1}, .padding = {0, 1, 0, 1}};
    nn_room room = {0};
    float data[] = {0, NAN, 0, 0, 0, INFINITY, 0};
    tl_tensor *const src = nn_blank(&room, TL_FLOAT, 4, (int[]){1, 1, 1, 7});
    memcpy(src->data, data, sizeof(data));
    tl_tensor *const weight =
        nn_given(&room, TL_FLOAT, 4, (int[]){1, 1, 1, 3}, (double[]){1, 1, 1});
    tl_tensor *const dst = nn_blank(&room, TL_FLOAT, 4, (int[]){1, 1, 1, 7});
    ck_assert_ptr_eq(tl_tensor_conv2d(src, weight, NULL, dst, &param), dst);
    nn_check_values(dst, (double[]){NAN, NAN, NAN, 0, INFINITY, INFINITY, INFINITY});
    nn_close(&room);
}
END_TEST

// Activations

START_TEST(a_fused_activation_gives_the_bits_of_a_separate_one)
{
    for (size_t k = 0; k < NN_LEN(nn_floats); k++)
        for (int act = 0; act < TL_ACT_SIZE; act++) {
            tl_conv2d_param param = PLAIN(3, 3);
            nn_room room = {.seed = 5};
            tl_tensor *const src = nn_random(&room, nn_floats[k], 4, (int[]){2, 3, 9, 8}, -2, 2);
            tl_tensor *const weight = nn_random(&room, nn_floats[k], 4, (int[]){5, 3, 3, 3}, -1, 1);
            tl_tensor *const separate = nn_blank(&room, nn_floats[k], 4, (int[]){2, 5, 7, 6});
            tl_tensor *const fused = nn_blank(&room, nn_floats[k], 4, (int[]){2, 5, 7, 6});
            ck_assert_ptr_nonnull(tl_tensor_conv2d(src, weight, NULL, separate, &param));
            param.act = (tl_activation){(tl_act)act, 0.1f, 0.6f};
            tl_exec_act(NULL, separate, separate, param.act);
            ck_assert_ptr_nonnull(tl_tensor_conv2d(src, weight, NULL, fused, &param));
            ck_assert_msg(memcmp(fused->data, separate->data, tl_tensor_size(fused)) == 0,
                          "%s with %s", tl_dtype_name(nn_floats[k]), tl_act_name((tl_act)act));
            nn_close(&room);
        }
}
END_TEST

START_TEST(an_activation_is_known_by_its_name)
{
    for (int act = 0; act < TL_ACT_SIZE; act++)
        ck_assert_int_eq(tl_act_from_str(tl_act_name((tl_act)act)), act);
    ck_assert_int_eq(tl_act_from_str("TL_ACT_SINH"), TL_ACT_INVALID);
    ck_assert_int_eq(tl_act_from_str(NULL), TL_ACT_INVALID);
    ck_assert_ptr_null(tl_act_name(TL_ACT_SIZE));
}
END_TEST

START_TEST(functions_are_activations_where_their_numbers_fit)
{
    tl_activation act;
    ck_assert_int_eq(tl_activation_of(&act, TL_UNARY_CLIP, -1, 6), 0);
    ck_assert(act.act == TL_ACT_CLIP && act.alpha == -1 && act.beta == 6);
    ck_assert_int_eq(tl_activation_of(&act, TL_UNARY_SWISH, 1, 0), 0);
    ck_assert_int_eq(act.act, TL_ACT_SILU);
    double alpha, beta;
    ck_assert_int_eq(tl_activation_func(act, &alpha, &beta), TL_UNARY_SWISH);
    ck_assert(alpha == 1 && beta == 0);
    ck_assert_int_eq(tl_activation_func((tl_activation){TL_ACT_CLIP, -1, 6}, &alpha, &beta),
                     TL_UNARY_CLIP);
    ck_assert(alpha == -1 && beta == 6);
    ck_assert_int_eq(tl_activation_func((tl_activation){0}, &alpha, &beta), TL_UNARY_FUNC_INVALID);
    ck_assert_int_eq(tl_activation_of(&act, TL_UNARY_SWISH, 1.5, 0), -1);
    ck_assert_int_eq(tl_activation_of(&act, TL_UNARY_EXP, 0, 0), -1);
    ck_assert_int_eq(tl_activation_of(&act, TL_UNARY_FUNC_INVALID, 0, 0), -1);
}
END_TEST

// Threads

typedef struct threads_arg {
    const tl_tensor *src, *weight, *bias;
    tl_conv2d_param param;
} threads_arg;

static void run_conv2d(const tl_exec *exec, tl_tensor *dst, void *arg)
{
    const threads_arg *const a = arg;
    tl_exec_conv2d(exec, a->src, a->weight, a->bias, dst, &a->param);
}

static void run_deconv2d(const tl_exec *exec, tl_tensor *dst, void *arg)
{
    const threads_arg *const a = arg;
    tl_exec_deconv2d(exec, a->src, a->weight, a->bias, dst, &a->param);
}

START_TEST(threads_do_not_change_the_result)
{
    for (size_t k = 0; k < NN_LEN(nn_floats); k++) {
        nn_room room = {.seed = 9};
        threads_arg arg = {
            .src = nn_random(&room, nn_floats[k], 4, (int[]){2, 8, 30, 31}, -1, 1),
            .weight = nn_random(&room, nn_floats[k], 4, (int[]){8, 8, 3, 3}, -1, 1),
            .bias = nn_random(&room, nn_floats[k], 1, (int[]){8}, -1, 1),
            .param = {.group = 1,
                      .size = {3, 3},
                      .stride = {1, 1},
                      .dilation = {1, 1},
                      .padding = {1, 1, 1, 1},
                      .act = {TL_ACT_LRELU, 0.25f}},
        };
        tl_tensor *const dst = nn_blank(&room, nn_floats[k], 4, (int[]){2, 8, 30, 31});
        nn_check_threads(run_conv2d, dst, &arg);
        nn_check_threads(run_deconv2d, dst, &arg);
        nn_close(&room);
    }
}
END_TEST

// What is rejected

START_TEST(an_empty_batch_gives_an_empty_result)
{
    const tl_conv2d_param param = PLAIN(2, 2);
    tl_tensor *const src = tl_tensor_zeros(4, (int[]){0, 2, 4, 4}, TL_FLOAT);
    tl_tensor *const weight = tl_tensor_zeros(4, (int[]){2, 2, 2, 2}, TL_FLOAT);
    tl_tensor *const dst = tl_tensor_conv2d(src, weight, NULL, NULL, &param);
    ck_assert_ptr_nonnull(dst);
    ck_assert_int_eq(dst->len, 0);
    tl_tensor_free_data_too(src);
    tl_tensor_free_data_too(weight);
    tl_tensor_free_data_too(dst);
}
END_TEST

typedef struct bad_call {
    int src[4], weight[4], bias; // shapes; bias 0: none
    tl_conv2d_param param;
    const char *reason;
} bad_call;

typedef tl_tensor *conv_func(const tl_tensor *src, const tl_tensor *weight, const tl_tensor *bias,
                             tl_tensor *dst, const tl_conv2d_param *param);

static void check_rejected(const bad_call *bad, size_t n, conv_func *func)
{
    for (size_t i = 0; i < n; i++) {
        const bad_call *const r = &bad[i];
        tl_tensor *const src = tl_tensor_zeros(4, r->src, TL_FLOAT);
        tl_tensor *const weight = tl_tensor_zeros(4, r->weight, TL_FLOAT);
        tl_tensor *const bias = r->bias ? tl_tensor_zeros(1, &r->bias, TL_FLOAT) : NULL;
        ck_assert_ptr_null(func(src, weight, bias, NULL, &r->param));
        ck_assert_str_eq(tl_last_error(), r->reason);
        tl_tensor_free_data_too(src);
        tl_tensor_free_data_too(weight);
        tl_tensor_free_data_too(bias);
    }
}

START_TEST(conv2d_rejects_bad_windows_and_channels)
{
    static const bad_call bad[] = {
        {{1, 3, 4, 4},
         {2, 2, 1, 1},
         2,
         PLAIN(1, 1),
         "'weight' has 2 input channels in each of 1 groups, expected the 3 of 'src' together"},
        {{1, 4, 4, 4},
         {3, 2, 1, 1},
         3,
         {2, {1, 1}, {1, 1}, {1, 1}},
         "'weight' has 3 output channels, expected a multiple of 'group', 2"},
        {{1, 2, 4, 4},
         {2, 2, 1, 1},
         3,
         PLAIN(1, 1),
         "'bias' has 3 elements, expected the 2 output channels of 'weight'"},
        {{1, 2, 4, 4},
         {2, 2, 3, 3},
         2,
         PLAIN(3, 2),
         "'weight' has kernels of [3, 3], expected 'size', [3, 2]"},
        {{1, 2, 2, 4},
         {2, 2, 3, 3},
         2,
         PLAIN(3, 3),
         "length 2 with padding 0 and 0 along spatial axis 0, expected at least the window's 3"},
        {{1, 2, 4, 4},
         {2, 2, 1, 1},
         2,
         {0, {1, 1}, {1, 1}, {1, 1}},
         "'group' is 0, expected at least 1"},
        {{1, 2, 4, 4},
         {2, 2, 1, 1},
         2,
         {1, {1, 1}, {1, 0}, {1, 1}},
         "'stride' has 0 at index 1, expected at least 1"},
        {{1, 2, 4, 4},
         {2, 2, 1, 1},
         2,
         {1, {1, 1}, {1, 1}, {-1, 1}},
         "'dilation' has -1 at index 0, expected at least 1"},
        {{1, 2, 4, 4},
         {2, 2, 1, 1},
         2,
         {1, {1, 1}, {1, 1}, {1, 1}, {0, 0, -1, 0}},
         "'padding' has -1 at index 2, expected at least 0"},
        {{1, 2, 4, 4},
         {2, 2, 1, 1},
         2,
         {1, {1, 1}, {1, 1}, {1, 1}, .act = {(tl_act)99}},
         "activation 99 is none of tl_act"},
        {{1, 2, 0, 4},
         {2, 2, 1, 1},
         2,
         {1, {1, 1}, {1, 1}, {1, 1}, {1, 1, 1, 1}},
         "length 0, size 1, stride 1, dilation 1, expected all at least 1"},
    };
    check_rejected(bad, NN_LEN(bad), tl_tensor_conv2d);
}
END_TEST

START_TEST(deconv2d_rejects_bad_windows_and_channels)
{
    static const bad_call bad[] = {
        {{1, 3, 4, 4},
         {2, 2, 1, 1},
         2,
         PLAIN(1, 1),
         "'weight' has 2 input channels, expected the 3 of 'src'"},
        {{1, 3, 4, 4},
         {3, 2, 1, 1},
         4,
         {2, {1, 1}, {1, 1}, {1, 1}},
         "'src' has 3 channels, expected a multiple of 'group', 2"},
        {{1, 2, 4, 4},
         {2, 2, 1, 1},
         3,
         PLAIN(1, 1),
         "'bias' has 3 elements, expected the 2 output channels of 'weight'"},
        {{1, 2, 4, 4},
         {2, 2, 1, 1},
         2,
         {1, {1, 1}, {1, 1}, {1, 1}, {2, 0, 2, 0}},
         "the result has length 0 along spatial axis 0, expected 1 to 2147483647"},
        {{1, 2, 4, 4},
         {2, 2, 1, 1},
         2,
         {1, {1, 1}, {1, 1}, {1, 1}, .output_padding = {0, -1}},
         "'output_padding' has -1 at index 1, expected at least 0"},
    };
    check_rejected(bad, NN_LEN(bad), tl_tensor_deconv2d);
}
END_TEST

START_TEST(rejects_tensors_of_other_dtypes_and_ranks)
{
    const tl_conv2d_param param = PLAIN(1, 1);
    tl_tensor *const src = tl_tensor_zeros(4, (int[]){1, 1, 2, 2}, TL_FLOAT);
    tl_tensor *const flat = tl_tensor_zeros(1, (int[]){4}, TL_FLOAT);
    tl_tensor *const ints = tl_tensor_zeros(4, (int[]){1, 1, 1, 1}, TL_INT32);
    tl_tensor *const halves = tl_tensor_zeros(4, (int[]){1, 1, 1, 1}, TL_FLOAT16);
    ck_assert_ptr_null(tl_tensor_conv2d(NULL, src, NULL, NULL, &param));
    ck_assert_str_eq(tl_last_error(), "'src' is NULL, expected a tensor");
    ck_assert_ptr_null(tl_tensor_conv2d(src, flat, NULL, NULL, &param));
    ck_assert_str_eq(tl_last_error(), "'weight' has 1 dimensions, expected 4 as 'src'");
    ck_assert_ptr_null(tl_tensor_conv2d(ints, ints, NULL, NULL, &param));
    ck_assert_str_eq(tl_last_error(), "'src' has dtype TL_INT32, expected a float");
    ck_assert_ptr_null(tl_tensor_deconv2d(src, halves, NULL, NULL, &param));
    ck_assert_str_eq(tl_last_error(), "'weight' has dtype TL_FLOAT16, expected TL_FLOAT as 'src'");
    ck_assert_ptr_null(tl_tensor_conv2d(src, src, NULL, NULL, NULL));
    ck_assert_str_eq(tl_last_error(), "'param' is NULL, expected parameters");
    tl_tensor *const pixel = tl_tensor_zeros(4, (int[]){1, 1, 1, 1}, TL_FLOAT);
    ck_assert_ptr_null(tl_tensor_conv2d(src, pixel, NULL, src, &param));
    ck_assert_str_eq(tl_last_error(), "'dst' overlaps a source, expected separate data");
    tl_tensor_free_data_too(pixel);
    tl_tensor_free_data_too(src);
    tl_tensor_free_data_too(flat);
    tl_tensor_free_data_too(ints);
    tl_tensor_free_data_too(halves);
}
END_TEST

LN_TEST_MAIN("conv2d", conv2d_gives_the_known_result, deconv2d_gives_the_known_result,
             lengths_follow_the_formula, no_bias_is_a_bias_of_0,
             nan_and_infinity_spread_over_their_windows_only,
             a_fused_activation_gives_the_bits_of_a_separate_one,
             an_activation_is_known_by_its_name, functions_are_activations_where_their_numbers_fit,
             threads_do_not_change_the_result, an_empty_batch_gives_an_empty_result,
             conv2d_rejects_bad_windows_and_channels, deconv2d_rejects_bad_windows_and_channels,
             rejects_tensors_of_other_dtypes_and_ranks)
