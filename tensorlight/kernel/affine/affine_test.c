// SPDX-License-Identifier: Apache-2.0
// Tests of scale and shift per channel.

#include "kernel/tl_nn_test.h"

START_TEST(each_channel_has_its_scale_and_shift)
{
    nn_room room = {0};
    tl_tensor *const src = nn_given(&room, TL_FLOAT, 3, (int[]){1, 2, 2}, (double[]){1, 2, 3, 4});
    tl_tensor *const scale = nn_given(&room, TL_FLOAT, 1, (int[]){2}, (double[]){10, -1});
    tl_tensor *const shift = nn_given(&room, TL_FLOAT, 1, (int[]){2}, (double[]){5, 1});
    tl_tensor *const dst =
        tl_tensor_affine(src, scale, shift, NULL, 1, (tl_activation){TL_ACT_NONE});
    nn_check_values(dst, (double[]){15, 25, -2, -3});
    tl_tensor_free_data_too(dst);
    ck_assert_ptr_eq(tl_tensor_affine(src, scale, NULL, src, 2, (tl_activation){TL_ACT_RELU}), src);
    nn_check_values(src, (double[]){10, 0, 30, 0});
    nn_close(&room);
}
END_TEST

START_TEST(without_a_shift_nothing_is_added_to_minus_0)
{
    nn_room room = {0};
    for (int axis = 0; axis < 2; axis++) { // rows of a channel, and rows of channels
        tl_tensor *const src =
            nn_given(&room, TL_FLOAT, 2, (int[]){2, 2}, (double[]){-0.0, NAN, -INFINITY, 0});
        tl_tensor *const scale = nn_given(&room, TL_FLOAT, 1, (int[]){2}, (double[]){1, 1});
        tl_tensor *const dst = nn_blank(&room, TL_FLOAT, 2, (int[]){2, 2});
        ck_assert_ptr_eq(
            tl_tensor_affine(src, scale, NULL, dst, axis, (tl_activation){TL_ACT_NONE}), dst);
        ck_assert(signbit(nn_at(dst, 0)) && isnan(nn_at(dst, 1)) && !signbit(nn_at(dst, 3)));
    }
    nn_close(&room);
}
END_TEST

static void check_axis(const tl_exec *exec, tl_dtype dtype, int axis)
{
    static const int dims[] = {3, 5, 7, 2};
    nn_room room = {.seed = 21};
    tl_tensor *const src = nn_random(&room, dtype, 4, dims, -1, 1);
    tl_tensor *const scale = nn_random(&room, dtype, 1, &dims[axis], -1, 1);
    tl_tensor *const shift = nn_random(&room, dtype, 1, &dims[axis], -1, 1);
    tl_tensor *const dst = nn_blank(&room, dtype, 4, dims);
    tl_exec_affine(exec, src, scale, shift, dst, axis, (tl_activation){TL_ACT_NONE});
    for (int k = 0; k < dst->len; k++) {
        int coords[4];
        tl_tensor_coords(dst, k, coords);
        const size_t c = (size_t)coords[axis];
        const double product = nn_at(src, (size_t)k) * nn_at(scale, c);
        const double expected = product + nn_at(shift, c);
        nn_check_near(dst, (size_t)k, expected,
                      nn_tolerance(dtype, 2, fabs(product) + fabs(nn_at(shift, c)), expected));
    }
    nn_close(&room);
}

START_TEST(every_axis_and_float_agrees_with_double)
{
    NN_EACH_ISA(exec)
    for (size_t k = 0; k < NN_LEN(nn_floats); k++)
        for (int axis = 0; axis < 4; axis++)
            check_axis(&exec, nn_floats[k], axis);
}
END_TEST

START_TEST(a_fused_activation_gives_the_bits_of_a_separate_one)
{
    for (size_t k = 0; k < NN_LEN(nn_floats); k++)
        for (int act = 0; act < TL_ACT_SIZE; act++) {
            const tl_activation with = {(tl_act)act, 0.3f, 0.6f};
            nn_room room = {.seed = 22};
            tl_tensor *const src = nn_random(&room, nn_floats[k], 2, (int[]){97, 101}, -3, 3);
            tl_tensor *const scale = nn_random(&room, nn_floats[k], 1, (int[]){97}, -1, 1);
            tl_tensor *const separate = nn_blank(&room, nn_floats[k], 2, src->dims);
            tl_tensor *const fused = nn_blank(&room, nn_floats[k], 2, src->dims);
            tl_exec_affine(NULL, src, scale, NULL, separate, 0, (tl_activation){TL_ACT_NONE});
            tl_exec_act(NULL, separate, separate, with);
            tl_exec_affine(NULL, src, scale, NULL, fused, 0, with);
            ck_assert_msg(memcmp(fused->data, separate->data, tl_tensor_size(fused)) == 0,
                          "%s with %s", tl_dtype_name(nn_floats[k]), tl_act_name((tl_act)act));
            nn_close(&room);
        }
}
END_TEST

typedef struct threads_arg {
    const tl_tensor *src, *scale;
    int axis;
} threads_arg;

static void run_affine(const tl_exec *exec, tl_tensor *dst, void *arg)
{
    const threads_arg *const a = arg;
    tl_exec_affine(exec, a->src, a->scale, a->scale, dst, a->axis, (tl_activation){TL_ACT_SIGMOID});
}

START_TEST(threads_do_not_change_the_result)
{
    for (int axis = 0; axis < 2; axis++) {
        nn_room room = {.seed = 23};
        threads_arg arg = {nn_random(&room, TL_FLOAT, 2, (int[]){499, 499}, -1, 1),
                           nn_random(&room, TL_FLOAT, 1, (int[]){499}, -1, 1), axis};
        nn_check_threads(run_affine, nn_blank(&room, TL_FLOAT, 2, (int[]){499, 499}), &arg);
        nn_close(&room);
    }
}
END_TEST

START_TEST(affine_rejects_bad_axes_and_shapes)
{
    tl_tensor *const src = tl_tensor_zeros(2, (int[]){2, 3}, TL_FLOAT);
    tl_tensor *const scale = tl_tensor_zeros(1, (int[]){2}, TL_FLOAT);
    tl_tensor *const ints = tl_tensor_zeros(1, (int[]){2}, TL_INT32);
    ck_assert_ptr_null(tl_tensor_affine(src, scale, NULL, NULL, 1, (tl_activation){TL_ACT_NONE}));
    ck_assert_str_eq(tl_last_error(), "'scale' is TL_FLOAT [2], expected TL_FLOAT [3]");
    ck_assert_ptr_null(tl_tensor_affine(src, scale, ints, NULL, 0, (tl_activation){TL_ACT_NONE}));
    ck_assert_str_eq(tl_last_error(), "'shift' is TL_INT32 [2], expected TL_FLOAT [2]");
    ck_assert_ptr_null(tl_tensor_affine(src, scale, NULL, NULL, 2, (tl_activation){TL_ACT_NONE}));
    ck_assert_str_eq(tl_last_error(), "axis 2, expected 0 to 1");
    ck_assert_ptr_null(
        tl_tensor_affine(src, scale, NULL, NULL, 0, (tl_activation){TL_ACT_INVALID}));
    ck_assert_str_eq(tl_last_error(), "activation -1 is none of tl_act");
    ck_assert_ptr_null(tl_tensor_affine(ints, scale, NULL, NULL, 0, (tl_activation){TL_ACT_NONE}));
    ck_assert_str_eq(tl_last_error(), "'src' has dtype TL_INT32, expected a float");
    tl_tensor_free_data_too(src);
    tl_tensor_free_data_too(scale);
    tl_tensor_free_data_too(ints);
}
END_TEST

LN_TEST_MAIN("affine", each_channel_has_its_scale_and_shift,
             without_a_shift_nothing_is_added_to_minus_0, every_axis_and_float_agrees_with_double,
             a_fused_activation_gives_the_bits_of_a_separate_one, threads_do_not_change_the_result,
             affine_rejects_bad_axes_and_shapes)
