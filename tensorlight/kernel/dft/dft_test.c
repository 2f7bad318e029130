// SPDX-License-Identifier: Apache-2.0
// Tests of the Fourier transforms.

#include "kernel/tl_nn_test.h"

// The transform from its definition, of n numbers x [n][2] -> y [n][2]; sign -1, or 1 with 1/n.
static void transform_slowly(const double (*x)[2], double (*y)[2], int n, int sign)
{
    for (int k = 0; k < n; k++) {
        double re = 0, im = 0;
        for (int j = 0; j < n; j++) {
            const double angle = sign * 2 * 3.14159265358979323846 * (double)((long)j * k % n) / n;
            re += x[j][0] * cos(angle) - x[j][1] * sin(angle);
            im += x[j][0] * sin(angle) + x[j][1] * cos(angle);
        }
        y[k][0] = sign < 0 ? re : re / n;
        y[k][1] = sign < 0 ? im : im / n;
    }
}

// Roundings of a sum of n terms of at most `max` each; a fast transform makes fewer.
static double sum_tolerance(tl_dtype dtype, int n, double max, double value)
{
    return 4 * n * DBL_EPSILON * max * n + nn_store_unit(dtype) * fabs(value) * (1 + 1e-9) +
           (dtype == TL_FLOAT16 ? 0x1p-25 : 0);
}

START_TEST(four_numbers_by_hand)
{
    nn_room room = {0};
    tl_tensor *const src = nn_given(&room, TL_FLOAT, 2, (int[]){4, 1}, (double[]){1, 2, 3, 4});
    tl_tensor *const full = tl_tensor_dft(src, NULL, &(tl_dft_param){0});
    ck_assert(full->ndim == 2 && full->dims[0] == 4 && full->dims[1] == 2);
    nn_check_values(full, (double[]){10, 0, -2, 2, -2, 0, -2, -2});
    tl_tensor *const half = tl_tensor_dft(src, NULL, &(tl_dft_param){.onesided = 1});
    ck_assert(half->dims[0] == 3 && half->dims[1] == 2);
    nn_check_values(half, (double[]){10, 0, -2, 2, -2, 0});
    tl_tensor *const back = tl_tensor_dft(half, NULL, &(tl_dft_param){.onesided = 1, .inverse = 1});
    ck_assert(back->dims[0] == 4 && back->dims[1] == 1);
    nn_check_values(back, (double[]){1, 2, 3, 4});
    tl_tensor_free_data_too(full);
    tl_tensor_free_data_too(half);
    tl_tensor_free_data_too(back);
    nn_close(&room);
}
END_TEST

static void check_length(tl_dtype dtype, int n)
{
    nn_room room = {.seed = (uint64_t)n};
    tl_tensor *const src = nn_random(&room, dtype, 2, (int[]){n, 2}, -1, 1);
    tl_tensor *const dst = nn_blank(&room, dtype, 2, (int[]){n, 2});
    double(*const x)[2] = tl_alloc((size_t)n * sizeof(*x));
    double(*const y)[2] = tl_alloc((size_t)n * sizeof(*y));
    for (int i = 0; i < 2 * n; i++)
        x[i / 2][i % 2] = nn_at(src, (size_t)i);
    for (int inverse = 0; inverse < 2; inverse++) {
        const tl_dft_param param = {.inverse = inverse};
        ck_assert_ptr_eq(tl_tensor_dft(src, dst, &param), dst);
        transform_slowly((const double(*)[2])x, y, n, inverse ? 1 : -1);
        for (int i = 0; i < 2 * n; i++) {
            const double expected = y[i / 2][i % 2];
            nn_check_near(dst, (size_t)i, expected, sum_tolerance(dtype, n, 2, expected));
        }
    }
    tl_free(x);
    tl_free(y);
    nn_close(&room);
}

START_TEST(every_length_agrees_with_the_definition)
{
    for (int n = 1; n <= 130; n++)
        check_length(TL_DOUBLE, n);
    // 2^a 3^b .., products of large primes, and primes
    static const int lengths[] = {256, 360, 400, 961, 962, 1009, 1024, 1369};
    for (size_t i = 0; i < NN_LEN(lengths); i++)
        check_length(TL_DOUBLE, lengths[i]);
}
END_TEST

START_TEST(every_float_is_rounded_only_at_the_end)
{
    for (size_t k = 0; k < NN_LEN(nn_floats); k++) {
        check_length(nn_floats[k], 12);
        check_length(nn_floats[k], 37);
    }
}
END_TEST

// src [3, d, 2, parts] along axis 1, each line against tl_tensor_dft of that line alone.
static void check_axis(int d, int parts, tl_dft_param param)
{
    nn_room room = {.seed = 5};
    param.axis = 1;
    tl_tensor *const src = nn_random(&room, TL_DOUBLE, 4, (int[]){3, d, 2, parts}, -1, 1);
    tl_tensor *const dst = tl_tensor_dft(src, NULL, &param);
    ck_assert_msg(dst != NULL, "%s", tl_last_error());
    const int n = dst->dims[1], dst_parts = dst->dims[3];
    param.axis = 0;
    for (int o = 0; o < 3; o++)
        for (int i = 0; i < 2; i++) {
            tl_tensor *const line = tl_tensor_zeros(2, (int[]){d, parts}, TL_DOUBLE);
            for (int j = 0; j < d * parts; j++)
                ((double *)line->data)[j] =
                    nn_at(src, (size_t)(((o * d + j / parts) * 2 + i) * parts + j % parts));
            tl_tensor *const result = tl_tensor_dft(line, NULL, &param);
            for (int j = 0; j < n * dst_parts; j++)
                nn_check_near(
                    dst, (size_t)(((o * n + j / dst_parts) * 2 + i) * dst_parts + j % dst_parts),
                    nn_at(result, (size_t)j), 0);
            tl_tensor_free_data_too(line);
            tl_tensor_free_data_too(result);
        }
    tl_tensor_free_data_too(dst);
    nn_close(&room);
}

START_TEST(any_axis_but_the_last_is_transformed)
{
    for (int parts = 1; parts <= 2; parts++)
        for (int inverse = 0; inverse < 2; inverse++) {
            check_axis(5, parts, (tl_dft_param){.inverse = inverse});
            check_axis(5, parts, (tl_dft_param){.inverse = inverse, .len = 3});
            check_axis(5, parts, (tl_dft_param){.inverse = inverse, .len = 8});
        }
    check_axis(5, 1, (tl_dft_param){.onesided = 1});
    check_axis(5, 2, (tl_dft_param){.onesided = 1, .inverse = 1, .len = 9});
}
END_TEST

START_TEST(a_length_cuts_the_signal_or_adds_zeros)
{
    nn_room room = {.seed = 6};
    tl_tensor *const src = nn_random(&room, TL_DOUBLE, 2, (int[]){7, 1}, -1, 1);
    for (int n = 1; n < 12; n++) {
        tl_tensor *const same = tl_tensor_zeros(2, (int[]){n, 1}, TL_DOUBLE);
        for (int j = 0; j < n && j < 7; j++)
            ((double *)same->data)[j] = nn_at(src, (size_t)j);
        tl_tensor *const expected = tl_tensor_dft(same, NULL, &(tl_dft_param){0});
        tl_tensor *const dst = tl_tensor_dft(src, NULL, &(tl_dft_param){.len = n});
        ck_assert(tl_tensor_issameshape(dst, expected));
        ck_assert_mem_eq(dst->data, expected->data, tl_tensor_size(dst));
        tl_tensor_free_data_too(same);
        tl_tensor_free_data_too(expected);
        tl_tensor_free_data_too(dst);
    }
    nn_close(&room);
}
END_TEST

START_TEST(the_inverse_of_a_one_sided_dft_gives_the_signal)
{
    for (int n = 1; n <= 70; n++) {
        nn_room room = {.seed = (uint64_t)n};
        tl_tensor *const src = nn_random(&room, TL_FLOAT, 3, (int[]){2, n, 1}, -1, 1);
        tl_tensor *const half = nn_blank(&room, TL_FLOAT, 3, (int[]){2, n / 2 + 1, 2});
        tl_tensor *const back = nn_blank(&room, TL_FLOAT, 3, (int[]){2, n, 1});
        const tl_dft_param there = {.axis = 1, .onesided = 1};
        const tl_dft_param again = {.axis = 1, .onesided = 1, .inverse = 1, .len = n};
        ck_assert_ptr_eq(tl_tensor_dft(src, half, &there), half);
        ck_assert_ptr_eq(tl_tensor_dft(half, back, &again), back);
        for (int i = 0; i < 2 * n; i++)
            nn_check_near(back, (size_t)i, nn_at(src, (size_t)i), FLT_EPSILON * (1 + sqrt(n)));
        nn_close(&room);
    }
}
END_TEST

START_TEST(frames_are_slices_times_the_window)
{
    enum { LEN = 23, FRAME = 6, STEP = 4, FRAMES = (LEN - FRAME) / STEP + 1 };
    for (int parts = 1; parts <= 2; parts++)
        for (int has_window = 0; has_window < 2; has_window++) {
            nn_room room = {.seed = 9};
            tl_tensor *const src = nn_random(&room, TL_DOUBLE, 3, (int[]){2, LEN, parts}, -1, 1);
            tl_tensor *const window = nn_random(&room, TL_DOUBLE, 1, (int[]){FRAME}, -1, 1);
            tl_tensor *const dst = nn_blank(&room, TL_DOUBLE, 4, (int[]){2, FRAMES, FRAME, 2});
            const tl_stft_param param = {.step = STEP, .len = FRAME};
            ck_assert_ptr_eq(tl_tensor_stft(src, has_window ? window : NULL, dst, &param), dst);
            for (int f = 0; f < 2 * FRAMES; f++) {
                double x[FRAME][2] = {0}, y[FRAME][2];
                for (int j = 0; j < FRAME * parts; j++)
                    x[j / parts][j % parts] =
                        nn_at(src, (size_t)((f / FRAMES * LEN + f % FRAMES * STEP) * parts + j)) *
                        (has_window ? nn_at(window, (size_t)(j / parts)) : 1);
                transform_slowly((const double(*)[2])x, y, FRAME, -1);
                for (int j = 0; j < FRAME * 2; j++)
                    nn_check_near(dst, (size_t)(f * FRAME * 2 + j), y[j / 2][j % 2], 1e-14);
            }
            nn_close(&room);
        }
}
END_TEST

START_TEST(frames_of_a_real_signal_may_be_one_sided)
{
    nn_room room = {0};
    tl_tensor *const src =
        nn_given(&room, TL_FLOAT, 3, (int[]){1, 6, 1}, (double[]){1, 2, 3, 4, 0, 0});
    tl_tensor *const dst =
        tl_tensor_stft(src, NULL, NULL, &(tl_stft_param){.step = 2, .len = 4, .onesided = 1});
    ck_assert(dst->ndim == 4 && dst->dims[1] == 2 && dst->dims[2] == 3);
    nn_check_values(dst, (double[]){10, 0, -2, 2, -2, 0, 7, 0, 3, -4, -1, 0});
    tl_tensor_free_data_too(dst);
    nn_close(&room);
}
END_TEST

START_TEST(nothing_becomes_nothing)
{
    nn_room room = {0};
    tl_tensor *const src = nn_blank(&room, TL_FLOAT, 3, (int[]){0, 4, 1});
    tl_tensor *const dst = tl_tensor_dft(src, NULL, &(tl_dft_param){.axis = 1});
    ck_assert(dst->dims[0] == 0 && dst->dims[1] == 4 && dst->dims[2] == 2);
    tl_tensor *const frames =
        tl_tensor_stft(src, NULL, NULL, &(tl_stft_param){.step = 1, .len = 2});
    ck_assert(frames->dims[0] == 0 && frames->dims[1] == 3);
    tl_tensor_free_data_too(dst);
    tl_tensor_free_data_too(frames);
    nn_close(&room);
}
END_TEST

static void run_dft(const tl_exec *exec, tl_tensor *dst, void *arg)
{
    const tl_tensor *const src = arg;
    const tl_dft_param param = {.axis = 1};
    tl_exec own = exec ? *exec : (tl_exec){.isa = tl_isa_best()};
    own.scratch_size = tl_dft_scratch(src, &param);
    own.scratch = tl_alloc(own.scratch_size);
    ck_assert_int_eq(tl_exec_dft(&own, src, dst, &param), 0);
    tl_free(own.scratch);
}

START_TEST(threads_do_not_change_the_result)
{
    nn_room room = {.seed = 3};
    tl_tensor *const src = nn_random(&room, TL_FLOAT, 3, (int[]){61, 160, 1}, -1, 1);
    nn_check_threads(run_dft, nn_blank(&room, TL_FLOAT, 3, (int[]){61, 160, 2}), src);
    nn_close(&room);
}
END_TEST

START_TEST(dft_rejects_bad_shapes_axes_and_lengths)
{
    nn_room room = {0};
    tl_tensor *const real = nn_blank(&room, TL_FLOAT, 3, (int[]){1, 4, 1});
    tl_tensor *const numbers = nn_blank(&room, TL_FLOAT, 3, (int[]){1, 4, 2});
    tl_tensor *const triples = nn_blank(&room, TL_FLOAT, 2, (int[]){4, 3});
    tl_tensor *const ints = nn_blank(&room, TL_INT32, 2, (int[]){4, 1});
    tl_tensor *const none = nn_blank(&room, TL_FLOAT, 2, (int[]){0, 1});
    const struct {
        const tl_tensor *src;
        tl_dft_param param;
        const char *reason;
    } cases[] = {
        {triples,
         {0},
         "'src' has shape [4, 3], expected [.., 1] for real or [.., 2] for complex "
         "numbers"},
        {ints, {0}, "'src' has dtype TL_INT32, expected a float"},
        {real, {.axis = 2}, "axis 2, expected 0 to 1"},
        {real, {.axis = -1}, "axis -1, expected 0 to 1"},
        {numbers,
         {.axis = 1, .onesided = 1},
         "'src' is complex, expected a real signal to take one side of its frequencies"},
        {none, {0}, "a transform of 0 numbers, expected 1 to 2147483647"},
        {real,
         {.axis = 0, .onesided = 1, .inverse = 1},
         "a transform of 0 numbers, expected 1 to 2147483647"},
        {real, {.axis = 1, .len = -3}, "a transform of -3 numbers, expected 1 to 2147483647"},
    };
    for (size_t i = 0; i < NN_LEN(cases); i++) {
        ck_assert_ptr_null(tl_tensor_dft(cases[i].src, NULL, &cases[i].param));
        ck_assert_str_eq(tl_last_error(), cases[i].reason);
    }
    ck_assert_int_eq(tl_exec_dft(NULL, real, numbers, &(tl_dft_param){.axis = 1}), -1);
    ck_assert_ptr_nonnull(strstr(tl_last_error(), "0 bytes of scratch memory, expected "));
    nn_close(&room);
}
END_TEST

START_TEST(stft_rejects_bad_frames)
{
    nn_room room = {0};
    tl_tensor *const real = nn_blank(&room, TL_FLOAT, 3, (int[]){1, 4, 1});
    tl_tensor *const numbers = nn_blank(&room, TL_FLOAT, 3, (int[]){1, 4, 2});
    tl_tensor *const flat = nn_blank(&room, TL_FLOAT, 2, (int[]){4, 1});
    const struct {
        const tl_tensor *src, *window;
        tl_stft_param param;
        const char *reason;
    } cases[] = {
        {flat, NULL, {1, 2, 0}, "'src' has shape [4, 1], expected 3 dimensions"},
        {numbers,
         NULL,
         {1, 2, 1},
         "'src' is complex, expected a real signal to take one side of its frequencies"},
        {real, NULL, {0, 2, 0}, "frames of 2 at a distance of 0, expected both to be at least 1"},
        {real, NULL, {1, 5, 0}, "frames of 5, expected at most the length of 'src', 4"},
        {real, flat, {1, 4, 0}, "'window' is TL_FLOAT [4, 1], expected TL_FLOAT [4]"},
    };
    for (size_t i = 0; i < NN_LEN(cases); i++) {
        ck_assert_ptr_null(tl_tensor_stft(cases[i].src, cases[i].window, NULL, &cases[i].param));
        ck_assert_str_eq(tl_last_error(), cases[i].reason);
    }
    nn_close(&room);
}
END_TEST

LN_TEST_MAIN("dft", four_numbers_by_hand, every_length_agrees_with_the_definition,
             every_float_is_rounded_only_at_the_end, any_axis_but_the_last_is_transformed,
             a_length_cuts_the_signal_or_adds_zeros,
             the_inverse_of_a_one_sided_dft_gives_the_signal, frames_are_slices_times_the_window,
             frames_of_a_real_signal_may_be_one_sided, nothing_becomes_nothing,
             threads_do_not_change_the_result, dft_rejects_bad_shapes_axes_and_lengths,
             stft_rejects_bad_frames)
