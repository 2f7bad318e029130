// SPDX-License-Identifier: Apache-2.0
// Tests of softmax.

#include "kernel/tl_nn_test.h"

START_TEST(softmax_gives_the_known_result)
{
    nn_room room = {0};
    tl_tensor *const src =
        nn_given(&room, TL_DOUBLE, 1, (int[]){2}, (double[]){0, 1.0986122886681098});
    tl_tensor *const dst = tl_tensor_softmax(src, NULL, 0);
    nn_check_values(dst, (double[]){0.25, 0.75});
    tl_tensor_free_data_too(dst);
    nn_close(&room);
}
END_TEST

START_TEST(large_numbers_do_not_overflow)
{
    nn_room room = {0};
    tl_tensor *const t = nn_given(&room, TL_FLOAT, 1, (int[]){4}, (double[]){3e38, 3e38, -3e38, 0});
    ck_assert_ptr_eq(tl_tensor_softmax(t, t, 0), t);
    nn_check_values(t, (double[]){0.5, 0.5, 0, 0});
    nn_close(&room);
}
END_TEST

START_TEST(nan_and_infinity_spoil_their_line_only)
{
    nn_room room = {0};
    const float rows[5][2] = {
        {0, NAN}, {NAN, 0}, {INFINITY, 0}, {-INFINITY, -INFINITY}, {-INFINITY, 7}};
    tl_tensor *const t = nn_blank(&room, TL_FLOAT, 2, (int[]){5, 2});
    NN_EACH_ISA(exec)
    {
        memcpy(t->data, rows, sizeof(rows));
        tl_exec_softmax(&exec, t, t, 1);
        nn_check_values(t, (double[]){NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, 0, 1});
    }
    nn_close(&room);
}
END_TEST

static void check_axis(const tl_exec *exec, tl_dtype dtype, const int *dims, int axis)
{
    nn_room room = {.seed = 41};
    tl_tensor *const src = nn_random(&room, dtype, 4, dims, -8, 8);
    tl_tensor *const dst = nn_blank(&room, dtype, 4, dims);
    tl_exec_softmax(exec, src, dst, axis);
    for (int k = 0; k < dst->len; k++) {
        int coords[4];
        tl_tensor_coords(dst, k, coords);
        double sum = 0;
        for (coords[axis] = 0; coords[axis] < dims[axis]; coords[axis]++)
            sum += exp(nn_at(src, (size_t)tl_tensor_index(src, coords)));
        const double expected = exp(nn_at(src, (size_t)k)) / sum;
        // The difference x - m, at most 16, rounds to 16 units, the exponential to 1; both again
        // for the sum.
        nn_check_near(dst, (size_t)k, expected, nn_tolerance(dtype, 40, expected, expected));
    }
    nn_close(&room);
}

START_TEST(every_axis_and_float_agrees_with_double)
{
    NN_EACH_ISA(exec)
    for (size_t k = 0; k < NN_LEN(nn_floats); k++)
        for (int axis = 0; axis < 4; axis++) {
            check_axis(&exec, nn_floats[k], (int[]){3, 5, 2, 7}, axis);
            check_axis(&exec, nn_floats[k], (int[]){2, 3, 1, 131},
                       axis); // more lines than at a time
            check_axis(&exec, nn_floats[k], (int[]){1, 1, 577, 2}, axis); // longer than a part
            check_axis(&exec, nn_floats[k], (int[]){1, 1, 2, 577}, axis);
        }
}
END_TEST

static void run_softmax(const tl_exec *exec, tl_tensor *dst, void *arg)
{
    tl_exec_softmax(exec, arg, dst, 1);
}

START_TEST(threads_do_not_change_the_result)
{
    nn_room room = {.seed = 42};
    tl_tensor *const src = nn_random(&room, TL_FLOAT, 3, (int[]){5, 6, 997}, -5, 5);
    nn_check_threads(run_softmax, nn_blank(&room, TL_FLOAT, 3, src->dims), src);
    nn_close(&room);
}
END_TEST

START_TEST(the_logarithm_is_that_of_softmax)
{
    NN_EACH_ISA(exec)
    for (size_t k = 0; k < NN_LEN(nn_floats); k++)
        for (int axis = 0; axis < 3; axis++) {
            nn_room room = {.seed = 43};
            tl_tensor *const src = nn_random(&room, nn_floats[k], 3, (int[]){3, 131, 2}, -8, 8);
            tl_tensor *const dst = nn_blank(&room, nn_floats[k], 3, src->dims);
            tl_tensor *const wide = tl_tensor_convert(src, NULL, TL_DOUBLE);
            tl_exec_logsoftmax(&exec, src, dst, axis);
            ck_assert_ptr_eq(tl_tensor_softmax(wide, wide, axis), wide);
            for (int i = 0; i < dst->len; i++) {
                const double expected = log(nn_at(wide, (size_t)i));
                nn_check_near(dst, (size_t)i, expected,
                              nn_tolerance(nn_floats[k], 40, 1, expected));
            }
            tl_tensor_free_data_too(wide);
            nn_close(&room);
        }
    nn_room room = {0};
    tl_tensor *const t = nn_given(&room, TL_FLOAT, 1, (int[]){2}, (double[]){1000, 0});
    tl_tensor_logsoftmax(t, t, 0); // no log of 0
    nn_check_values(t, (double[]){0, -1000});
    nn_close(&room);
}
END_TEST

START_TEST(softmax_rejects_bad_axes_and_dtypes)
{
    tl_tensor *const ints = tl_tensor_zeros(1, (int[]){2}, TL_INT32);
    tl_tensor *const src = tl_tensor_zeros(1, (int[]){2}, TL_FLOAT);
    ck_assert_ptr_null(tl_tensor_softmax(ints, NULL, 0));
    ck_assert_str_eq(tl_last_error(), "'src' has dtype TL_INT32, expected a float");
    ck_assert_ptr_null(tl_tensor_softmax(src, NULL, -1));
    ck_assert_str_eq(tl_last_error(), "axis -1, expected 0 to 0");
    ck_assert_ptr_null(tl_tensor_softmax(src, ints, 0));
    ck_assert_str_eq(tl_last_error(), "'dst' is TL_INT32 [2], expected TL_FLOAT [2]");
    tl_tensor_free_data_too(ints);
    tl_tensor_free_data_too(src);
}
END_TEST

START_TEST(an_empty_tensor_stays_empty)
{
    tl_tensor *const src = tl_tensor_zeros(2, (int[]){2, 0}, TL_FLOAT);
    tl_tensor *const dst = tl_tensor_softmax(src, NULL, 1);
    ck_assert_ptr_nonnull(dst);
    ck_assert_int_eq(dst->len, 0);
    tl_tensor_free_data_too(src);
    tl_tensor_free_data_too(dst);
}
END_TEST

static void run_last(const tl_exec *exec, tl_tensor *dst, void *arg)
{
    tl_exec_softmax(exec, arg, dst, 1);
}

// Fewer elements than a vector has, and any number of lines.
START_TEST(short_lines_agree_with_long_ones)
{
    for (int len = 1; len < 20; len++)
        for (int lines = 1; lines < 40; lines += len == 4 ? 1 : 6) {
            nn_room room = {.seed = (uint64_t)(len * 100 + lines)};
            const int dims[] = {lines, len};
            tl_tensor *const src = nn_random(&room, TL_FLOAT, 2, dims, -8, 8);
            tl_tensor *const dst = nn_blank(&room, TL_FLOAT, 2, dims);
            tl_tensor *const log_dst = nn_blank(&room, TL_FLOAT, 2, dims);
            ((float *)src->data)[src->len / 3] = NAN;
            NN_EACH_ISA(exec)
            {
                tl_exec_softmax(&exec, src, dst, 1);
                tl_exec_logsoftmax(&exec, src, log_dst, 1);
                for (int i = 0; i < src->len; i++) {
                    double sum = 0;
                    for (int k = 0; k < len; k++)
                        sum += exp(nn_at(src, (size_t)(i / len * len + k)));
                    const double x = nn_at(src, (size_t)i), expected = exp(x) / sum;
                    nn_check_near(dst, (size_t)i, expected,
                                  nn_tolerance(TL_FLOAT, 40, expected, expected));
                    nn_check_near(log_dst, (size_t)i, x - log(sum),
                                  nn_tolerance(TL_FLOAT, 4, 24, x - log(sum)));
                }
            }
            nn_close(&room);
        }
    nn_room room = {.seed = 9};
    tl_tensor *const fours = nn_random(&room, TL_FLOAT, 2, (int[]){5003, 4}, -8, 8);
    tl_tensor *const sevens = nn_random(&room, TL_FLOAT, 2, (int[]){5003, 7}, -8, 8);
    nn_check_threads(run_last, nn_blank(&room, TL_FLOAT, 2, fours->dims), fours);
    nn_check_threads(run_last, nn_blank(&room, TL_FLOAT, 2, sevens->dims), sevens);
    nn_close(&room);
}
END_TEST

// Lines of any length, along the last axis and along the first.
START_TEST(no_weight_is_subnormal)
{
    static const float far[] = {-87.2f, -87.333f, -87.4f, -95, -103.5f, -INFINITY};
    NN_EACH_ISA(exec)
    for (int len = 2; len < 90; len++)
        for (int axis = 0; axis < 2; axis++) {
            nn_room room = {.seed = 44};
            const int dims[] = {axis ? 21 : len, axis ? len : 21};
            tl_tensor *const src = nn_blank(&room, TL_FLOAT, 2, dims);
            tl_tensor *const dst = nn_blank(&room, TL_FLOAT, 2, dims);
            for (int i = 0; i < src->len; i++) {
                const int k = axis ? i % len : i / 21; // in its line
                ((float *)src->data)[i] = k ? 3 + far[k % NN_LEN(far)] : 3;
            }
            tl_exec_softmax(&exec, src, dst, axis);
            for (int i = 0; i < src->len; i++) {
                const float x = ((float *)src->data)[i] - 3;
                const double expected = x < -0x1.5d589ep+6f ? 0 : exp((double)x);
                nn_check_near(dst, (size_t)i, expected,
                              nn_tolerance(TL_FLOAT, 40, expected, expected));
            }
            nn_close(&room);
        }
}
END_TEST

LN_TEST_MAIN("softmax", no_weight_is_subnormal, the_logarithm_is_that_of_softmax,
             softmax_gives_the_known_result, large_numbers_do_not_overflow,
             nan_and_infinity_spoil_their_line_only, every_axis_and_float_agrees_with_double,
             threads_do_not_change_the_result, softmax_rejects_bad_axes_and_dtypes,
             an_empty_tensor_stays_empty, short_lines_agree_with_long_ones)
