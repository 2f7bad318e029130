// SPDX-License-Identifier: Apache-2.0
// Tests of batch normalization and of its folded weights.

#include "kernel/tl_nn_test.h"

// The weights of `channels` channels.
typedef struct weights {
    tl_tensor *scale, *offset, *mean, *var;
} weights;

static weights random_weights(nn_room *room, tl_dtype dtype, int channels)
{
    return (weights){
        nn_random(room, dtype, 1, &channels, -1, 1), nn_random(room, dtype, 1, &channels, -1, 1),
        nn_random(room, dtype, 1, &channels, -1, 1), nn_random(room, dtype, 1, &channels, 0.5, 2)};
}

static weights given_weights(nn_room *room, double scale, double offset, double mean, double var)
{
    const int one = 1;
    return (weights){
        nn_given(room, TL_FLOAT, 1, &one, &scale), nn_given(room, TL_FLOAT, 1, &one, &offset),
        nn_given(room, TL_FLOAT, 1, &one, &mean), nn_given(room, TL_FLOAT, 1, &one, &var)};
}

START_TEST(batchnorm_gives_the_known_result)
{
    nn_room room = {0};
    const weights w = given_weights(&room, 2, 1, 3, 3.99);
    tl_tensor *const src = nn_given(&room, TL_FLOAT, 4, (int[]){1, 1, 1, 1}, (double[]){4});
    ck_assert_ptr_eq(tl_tensor_batchnorm(src, w.scale, w.offset, w.mean, w.var, src, 0.01f), src);
    nn_check_near(src, 0, 2, 4 * FLT_EPSILON);
    nn_close(&room);
}
END_TEST

START_TEST(a_negative_variance_gives_nan)
{
    nn_room room = {0};
    const weights w = given_weights(&room, 2, 1, 3, -1);
    tl_tensor *const src = nn_given(&room, TL_FLOAT, 4, (int[]){1, 1, 1, 1}, (double[]){4});
    ck_assert_ptr_eq(tl_tensor_batchnorm(src, w.scale, w.offset, w.mean, w.var, src, 0.01f), src);
    nn_check_values(src, (double[]){NAN});
    nn_close(&room);
}
END_TEST

static void check_shape(tl_dtype dtype, int ndim, const int *dims)
{
    nn_room room = {.seed = 31};
    const weights w = random_weights(&room, dtype, dims[1]);
    tl_tensor *const src = nn_random(&room, dtype, ndim, dims, -1, 1);
    tl_tensor *const dst = nn_blank(&room, dtype, ndim, dims);
    ck_assert_ptr_eq(tl_tensor_batchnorm(src, w.scale, w.offset, w.mean, w.var, dst, 1e-3f), dst);
    for (int k = 0; k < dst->len; k++) {
        int coords[4];
        tl_tensor_coords(dst, k, coords);
        const size_t c = (size_t)coords[1];
        const double deviation = sqrt(nn_at(w.var, c) + (double)1e-3f);
        const double x = nn_at(src, (size_t)k), scale = nn_at(w.scale, c);
        const double expected = scale * (x - nn_at(w.mean, c)) / deviation + nn_at(w.offset, c);
        const double magnitude =
            fabs(scale) * (fabs(x) + fabs(nn_at(w.mean, c))) / deviation + fabs(nn_at(w.offset, c));
        nn_check_near(dst, (size_t)k, expected, nn_tolerance(dtype, 6, magnitude, expected));
    }
    nn_close(&room);
}

START_TEST(every_float_agrees_with_double)
{
    for (size_t k = 0; k < NN_LEN(nn_floats); k++) {
        check_shape(nn_floats[k], 4, (int[]){2, 5, 7, 3});
        check_shape(nn_floats[k], 2, (int[]){9, 4});
    }
}
END_TEST

START_TEST(folded_weights_agree_with_double)
{
    enum { CHANNELS = 17 };
    for (size_t k = 0; k < NN_LEN(nn_floats); k++) {
        nn_room room = {.seed = 32};
        const int channels = CHANNELS;
        const weights w = random_weights(&room, nn_floats[k], channels);
        tl_tensor *const scale = nn_blank(&room, nn_floats[k], 1, &channels);
        tl_tensor *const shift = nn_blank(&room, nn_floats[k], 1, &channels);
        tl_tensor *const power = nn_blank(&room, nn_floats[k], 1, &channels);
        ck_assert_int_eq(
            tl_exec_bn2scale(NULL, w.mean, w.var, w.scale, w.offset, scale, shift, NULL, 0.01f), 0);
        ck_assert_int_eq(
            tl_exec_bn2scale(NULL, w.mean, w.var, w.scale, w.offset, scale, shift, power, 0.01f),
            0);
        for (size_t c = 0; c < CHANNELS; c++) {
            const double s = nn_at(w.scale, c) / sqrt(nn_at(w.var, c) + (double)0.01f);
            const double t = nn_at(w.offset, c) - nn_at(w.mean, c) * s;
            // In double, so only the rounding to float and to storage counts.
            nn_check_near(scale, c, s, nn_tolerance(nn_floats[k], 1, fabs(s), s));
            nn_check_near(shift, c, t, nn_tolerance(nn_floats[k], 1, fabs(t), t));
            nn_check_near(power, c, 1, 0);
        }
        nn_close(&room);
    }
}
END_TEST

typedef struct threads_arg {
    const tl_tensor *src;
    weights w;
} threads_arg;

static void run_batchnorm(const tl_exec *exec, tl_tensor *dst, void *arg)
{
    const threads_arg *const a = arg;
    tl_exec_batchnorm(exec, a->src, a->w.scale, a->w.offset, a->w.mean, a->w.var, dst, 1e-5f);
}

START_TEST(threads_do_not_change_the_result)
{
    nn_room room = {.seed = 33};
    threads_arg arg = {nn_random(&room, TL_FLOAT, 4, (int[]){2, 7, 100, 101}, -1, 1),
                       random_weights(&room, TL_FLOAT, 7)};
    nn_check_threads(run_batchnorm, nn_blank(&room, TL_FLOAT, 4, arg.src->dims), &arg);
    nn_close(&room);
}
END_TEST

START_TEST(batchnorm_rejects_bad_axes_and_shapes)
{
    nn_room room = {0};
    const weights w = random_weights(&room, TL_FLOAT, 2);
    tl_tensor *const src = nn_blank(&room, TL_FLOAT, 4, (int[]){1, 3, 1, 1});
    tl_tensor *const flat = nn_blank(&room, TL_FLOAT, 1, (int[]){2});
    ck_assert_ptr_null(tl_tensor_batchnorm(src, w.scale, w.offset, w.mean, w.var, NULL, 1e-5f));
    ck_assert_str_eq(tl_last_error(), "'scale' is TL_FLOAT [2], expected TL_FLOAT [3]");
    ck_assert_ptr_null(tl_tensor_batchnorm(flat, w.scale, w.offset, w.mean, w.var, NULL, 1e-5f));
    ck_assert_str_eq(tl_last_error(), "axis 1, expected 0 to 0");
    ck_assert_ptr_null(tl_tensor_batchnorm(src, NULL, w.offset, w.mean, w.var, NULL, 1e-5f));
    ck_assert_str_eq(tl_last_error(), "'scale' is NULL, expected a tensor");
    nn_close(&room);
}
END_TEST

LN_TEST_MAIN("batchnorm", batchnorm_gives_the_known_result, a_negative_variance_gives_nan,
             every_float_agrees_with_double, folded_weights_agree_with_double,
             threads_do_not_change_the_result, batchnorm_rejects_bad_axes_and_shapes)
