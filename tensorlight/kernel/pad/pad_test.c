// SPDX-License-Identifier: Apache-2.0
// Tests of padding.

#include "kernel/tl_nn_test.h"
#include "tensorlight/tl_shape.h"

START_TEST(lines_are_padded_by_the_mode)
{
    static const struct {
        tl_pad_mode mode;
        int begin, n;
        double expected[10];
    } rows[] = {
        {TL_PAD_CONSTANT, 2, 7, {9, 9, 1, 2, 3, 9, 9}},
        {TL_PAD_EDGE, 2, 7, {1, 1, 1, 2, 3, 3, 3}},
        {TL_PAD_REFLECT, 2, 7, {3, 2, 1, 2, 3, 2, 1}},
        {TL_PAD_WRAP, 2, 7, {2, 3, 1, 2, 3, 1, 2}},
        // farther than the line is long
        {TL_PAD_REFLECT, 5, 10, {2, 1, 2, 3, 2, 1, 2, 3, 2, 1}},
        {TL_PAD_WRAP, 4, 10, {3, 1, 2, 3, 1, 2, 3, 1, 2, 3}},
        // cropped at the front, at the end, to nothing
        {TL_PAD_CONSTANT, -1, 4, {2, 3, 9, 9}},
        {TL_PAD_EDGE, -1, 4, {2, 3, 3, 3}},
        {TL_PAD_REFLECT, -1, 4, {2, 3, 2, 3}},
        {TL_PAD_WRAP, 2, 4, {1, 2, 1, 2}},
        {TL_PAD_CONSTANT, -2, 1, {3}},
        {TL_PAD_CONSTANT, -5, 2, {9, 9}},
        {TL_PAD_CONSTANT, 9, 2, {9, 9}},
    };
    for (size_t k = 0; k < NN_LEN(nn_types); k++)
        for (size_t i = 0; i < NN_LEN(rows) && nn_types[k] != TL_BOOL; i++) {
            nn_room room = {0};
            tl_tensor *const src = nn_given(&room, nn_types[k], 1, (int[]){3}, (double[]){1, 2, 3});
            tl_tensor *const value = nn_given(&room, nn_types[k], 0, NULL, (double[]){9});
            tl_tensor *const dst = nn_blank(&room, nn_types[k], 1, &rows[i].n);
            tl_exec_pad(NULL, src, dst, &rows[i].begin, rows[i].mode, value->data);
            nn_check_values(dst, rows[i].expected);
            nn_close(&room);
        }
}
END_TEST

START_TEST(every_axis_is_padded)
{
    nn_room room = {0};
    tl_tensor *const src = nn_given(&room, TL_FLOAT, 2, (int[]){2, 2}, (double[]){1, 2, 3, 4});
    tl_tensor *const dst = nn_blank(&room, TL_FLOAT, 2, (int[]){4, 3});
    tl_exec_pad(NULL, src, dst, (int[]){1, 0}, TL_PAD_CONSTANT, NULL);
    nn_check_values(dst, (double[]){0, 0, 0, 1, 2, 0, 3, 4, 0, 0, 0, 0});
    tl_exec_pad(NULL, src, dst, (int[]){1, 1}, TL_PAD_REFLECT, NULL);
    nn_check_values(dst, (double[]){4, 3, 4, 2, 1, 2, 4, 3, 4, 2, 1, 2});
    nn_close(&room);
}
END_TEST

START_TEST(scalars_and_empty_tensors_are_padded_too)
{
    nn_room room = {0};
    tl_tensor *const five = nn_given(&room, TL_INT32, 0, NULL, (double[]){5});
    tl_tensor *const copy = nn_blank(&room, TL_INT32, 0, NULL);
    tl_exec_pad(NULL, five, copy, NULL, TL_PAD_EDGE, NULL);
    nn_check_values(copy, (double[]){5});
    tl_tensor *const none = nn_blank(&room, TL_INT32, 2, (int[]){0, 2});
    tl_tensor *const full = nn_blank(&room, TL_INT32, 2, (int[]){1, 3});
    tl_exec_pad(NULL, none, full, (int[]){1, 0}, TL_PAD_CONSTANT, five->data);
    nn_check_values(full, (double[]){5, 5, 5});
    tl_exec_pad(NULL, full, none, (int[]){-1, 0}, TL_PAD_CONSTANT, five->data);
    nn_close(&room);
}
END_TEST

static void run_pad(const tl_exec *exec, tl_tensor *dst, void *arg)
{
    tl_exec_pad(exec, arg, dst, (int[]){1, 3, 2}, TL_PAD_REFLECT, NULL);
}

START_TEST(threads_do_not_change_the_result)
{
    nn_room room = {.seed = 5};
    tl_tensor *const src = nn_random(&room, TL_FLOAT, 3, (int[]){20, 30, 200}, -1, 1);
    nn_check_threads(run_pad, nn_blank(&room, TL_FLOAT, 3, (int[]){22, 40, 205}), src);
    nn_close(&room);
}
END_TEST

START_TEST(modes_have_names)
{
    for (int mode = 0; mode < TL_PAD_MODE_SIZE; mode++)
        ck_assert_int_eq(tl_pad_mode_from_str(tl_pad_mode_name((tl_pad_mode)mode)), mode);
    ck_assert_int_eq(tl_pad_mode_from_str("reflect"), TL_PAD_MODE_INVALID);
    ck_assert_int_eq(tl_pad_mode_from_str(NULL), TL_PAD_MODE_INVALID);
    ck_assert_ptr_null(tl_pad_mode_name(TL_PAD_MODE_SIZE));
}
END_TEST

LN_TEST_MAIN("pad", lines_are_padded_by_the_mode, every_axis_is_padded,
             scalars_and_empty_tensors_are_padded_too, threads_do_not_change_the_result,
             modes_have_names)
