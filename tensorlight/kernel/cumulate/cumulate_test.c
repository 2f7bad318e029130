// SPDX-License-Identifier: Apache-2.0
// Tests of the sums and products up to each element.

#include "kernel/tl_nn_test.h"

START_TEST(results_are_those_of_the_definition)
{
    static const struct {
        tl_cumulate_param param;
        double expected[3];
    } rows[] = {
        {{0, 0, 0, 0}, {2, 5, 9}},   {{0, 0, 1, 0}, {0, 2, 5}},  {{0, 0, 0, 1}, {9, 7, 4}},
        {{0, 0, 1, 1}, {7, 4, 0}},   {{0, 1, 0, 0}, {2, 6, 24}}, {{0, 1, 1, 0}, {1, 2, 6}},
        {{0, 1, 0, 1}, {24, 12, 4}}, {{0, 1, 1, 1}, {12, 4, 1}},
    };
    for (size_t i = 0; i < NN_LEN(rows); i++)
        for (size_t k = 0; k < NN_LEN(nn_types); k++) {
            if (nn_types[k] == TL_BOOL)
                continue;
            nn_room room = {0};
            tl_tensor *const src = nn_given(&room, nn_types[k], 1, (int[]){3}, (double[]){2, 3, 4});
            ck_assert_ptr_eq(tl_tensor_cumulate(src, src, &rows[i].param), src); // in place
            nn_check_values(src, rows[i].expected);
            nn_close(&room);
        }
}
END_TEST

START_TEST(every_axis_agrees_with_loops)
{
    const int dims[] = {3, 35, 2, 67}; // rows of several vectors and a rest
    for (int axis = 0; axis < 4; axis++) {
        nn_room room = {.seed = 9};
        tl_tensor *const src = nn_random(&room, TL_FLOAT, 4, dims, -1, 1);
        tl_tensor *const dst = nn_blank(&room, TL_FLOAT, 4, dims);
        const tl_cumulate_param param = {.axis = axis};
        ck_assert_ptr_eq(tl_tensor_cumulate(src, dst, &param), dst);
        NN_EACH_ISA(exec)
        {
            tl_tensor *const same = nn_blank(&room, TL_FLOAT, 4, dims);
            tl_exec_cumulate(&exec, src, same, &param);
            ck_assert_int_eq(memcmp(same->data, dst->data, tl_tensor_size(dst)), 0);
        }
        for (int k = 0; k < dst->len; k++) {
            int coords[4];
            double sum = 0;
            tl_tensor_coords(dst, k, coords);
            for (; coords[axis] >= 0; coords[axis]--)
                sum += nn_at(src, (size_t)tl_tensor_index(src, coords));
            nn_check_near(dst, (size_t)k, sum, nn_tolerance(TL_FLOAT, 1, 70, sum));
        }
        nn_close(&room);
    }
}
END_TEST

START_TEST(integers_wrap_and_empty_tensors_stay_empty)
{
    nn_room room = {0};
    const tl_cumulate_param param = {.axis = 0};
    tl_tensor *const src = nn_given(&room, TL_UINT8, 1, (int[]){2}, (double[]){200, 100});
    tl_tensor_cumulate(src, src, &param);
    nn_check_values(src, (double[]){200, 44});
    tl_tensor *const empty = nn_blank(&room, TL_INT64, 2, (int[]){0, 3});
    ck_assert_ptr_eq(tl_tensor_cumulate(empty, empty, &param), empty);
    nn_close(&room);
}
END_TEST

static void run_cumulate(const tl_exec *exec, tl_tensor *dst, void *arg)
{
    tl_exec_cumulate(exec, arg, dst, &(tl_cumulate_param){.axis = 1});
}

START_TEST(threads_do_not_change_the_result)
{
    nn_room room = {.seed = 52};
    tl_tensor *const src = nn_random(&room, TL_FLOAT16, 3, (int[]){7, 9, 4999}, -1, 1);
    nn_check_threads(run_cumulate, nn_blank(&room, TL_FLOAT16, 3, (int[]){7, 9, 4999}), src);
    nn_close(&room);
}
END_TEST

START_TEST(cumulate_rejects_bad_axes_and_dtypes)
{
    nn_room room = {0};
    tl_tensor *const src = nn_blank(&room, TL_FLOAT, 1, (int[]){2});
    tl_tensor *const bools = nn_blank(&room, TL_BOOL, 1, (int[]){2});
    ck_assert_ptr_null(tl_tensor_cumulate(src, NULL, &(tl_cumulate_param){.axis = 1}));
    ck_assert_str_eq(tl_last_error(), "axis 1, expected 0 to 0");
    ck_assert_ptr_null(tl_tensor_cumulate(bools, NULL, &(tl_cumulate_param){.axis = 0}));
    ck_assert_str_eq(tl_last_error(), "'src' has dtype TL_BOOL, expected a number type");
    ck_assert_ptr_null(tl_tensor_cumulate(src, NULL, NULL));
    nn_close(&room);
}
END_TEST

LN_TEST_MAIN("cumulate", results_are_those_of_the_definition, every_axis_agrees_with_loops,
             integers_wrap_and_empty_tensors_stay_empty, threads_do_not_change_the_result,
             cumulate_rejects_bad_axes_and_dtypes)
