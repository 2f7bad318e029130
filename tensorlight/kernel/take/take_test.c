// SPDX-License-Identifier: Apache-2.0
// Tests of picking by index, and of turning sequences round.

#include "kernel/tl_nn_test.h"
#include "tensorlight/tl_shape.h"

static const tl_dtype index_types[] = {TL_INT32, TL_INT64};

START_TEST(slices_are_taken_along_each_axis)
{
    static const double numbers[] = {0, 1, 2, 3, 4, 5};
    for (size_t k = 0; k < NN_LEN(nn_types); k++)
        for (size_t i = 0; i < NN_LEN(index_types) && nn_types[k] != TL_BOOL; i++) {
            nn_room room = {0};
            tl_tensor *const src = nn_given(&room, nn_types[k], 2, (int[]){2, 3}, numbers);
            tl_tensor *const index =
                nn_given(&room, index_types[i], 2, (int[]){1, 2}, (double[]){-1, 0});
            tl_tensor *const rows = nn_blank(&room, nn_types[k], 3, (int[]){1, 2, 3});
            ck_assert_int_eq(tl_exec_take(NULL, src, index, rows, 0), 0);
            nn_check_values(rows, (double[]){3, 4, 5, 0, 1, 2});
            tl_tensor *const cols = nn_blank(&room, nn_types[k], 3, (int[]){2, 1, 2});
            ck_assert_int_eq(tl_exec_take(NULL, src, index, cols, 1), 0);
            nn_check_values(cols, (double[]){2, 0, 5, 3});
            nn_close(&room);
        }
}
END_TEST

START_TEST(a_scalar_index_takes_the_axis_away)
{
    nn_room room = {0};
    tl_tensor *const src = nn_given(&room, TL_FLOAT, 1, (int[]){3}, (double[]){7, 8, 9});
    tl_tensor *const index = nn_given(&room, TL_INT64, 0, NULL, (double[]){1});
    tl_tensor *const dst = nn_blank(&room, TL_FLOAT, 0, NULL);
    ck_assert_int_eq(tl_exec_take(NULL, src, index, dst, 0), 0);
    nn_check_values(dst, (double[]){8});
    nn_close(&room);
}
END_TEST

START_TEST(indices_outside_are_errors)
{
    nn_room room = {0};
    tl_tensor *const src = nn_blank(&room, TL_FLOAT, 2, (int[]){3, 2});
    tl_tensor *const dst = nn_given(&room, TL_FLOAT, 2, (int[]){2, 2}, (double[]){1, 2, 3, 4});
    tl_tensor *const high = nn_given(&room, TL_INT64, 1, (int[]){2}, (double[]){0, 3});
    ck_assert_int_eq(tl_exec_take(NULL, src, high, dst, 0), -1);
    ck_assert_str_eq(tl_last_error(), "index 3 at position 1, expected -3 to 2");
    tl_tensor *const low = nn_given(&room, TL_INT32, 1, (int[]){2}, (double[]){-4, 0});
    ck_assert_int_eq(tl_exec_take(NULL, src, low, dst, 0), -1);
    ck_assert_str_eq(tl_last_error(), "index -4 at position 0, expected -3 to 2");
    tl_tensor *const far = nn_blank(&room, TL_INT64, 2, (int[]){2, 2});
    for (int i = 0; i < 4; i++)
        ((int64_t *)far->data)[i] = i % 2 ? INT64_MIN : INT64_MAX;
    ck_assert_int_eq(tl_exec_take_along(NULL, src, far, dst, 1), -1);
    ck_assert_str_eq(tl_last_error(), "index 9223372036854775807 at position 0, expected -2 to 1");
    ck_assert_int_eq(tl_exec_take_nd(NULL, src, far, dst, 0), -1);
    tl_tensor *const empty = nn_blank(&room, TL_FLOAT, 2, (int[]){0, 2});
    ck_assert_int_eq(tl_exec_take(NULL, empty, high, dst, 0), -1);
    ck_assert_str_eq(tl_last_error(), "index 0 at position 0 of an axis of length 0");
    nn_check_values(dst, (double[]){1, 2, 3, 4});
    nn_close(&room);
}
END_TEST

START_TEST(nothing_is_taken_without_indices)
{
    nn_room room = {0};
    tl_tensor *const src = nn_blank(&room, TL_FLOAT, 2, (int[]){0, 2});
    tl_tensor *const index = nn_blank(&room, TL_INT64, 1, (int[]){0});
    tl_tensor *const dst = nn_blank(&room, TL_FLOAT, 2, (int[]){0, 2});
    ck_assert_int_eq(tl_exec_take(NULL, src, index, dst, 0), 0);
    nn_close(&room);
}
END_TEST

START_TEST(each_element_is_taken_along_the_axis)
{
    nn_room room = {0};
    tl_tensor *const src =
        nn_given(&room, TL_BFLOAT16, 2, (int[]){3, 3}, (double[]){1, 2, 3, 4, 5, 6, 7, 8, 9});
    tl_tensor *const index =
        nn_given(&room, TL_INT32, 2, (int[]){2, 3}, (double[]){1, 2, 0, 2, 0, -3});
    tl_tensor *const dst = nn_blank(&room, TL_BFLOAT16, 2, (int[]){2, 3});
    ck_assert_int_eq(tl_exec_take_along(NULL, src, index, dst, 0), 0);
    nn_check_values(dst, (double[]){4, 8, 3, 7, 2, 3});
    tl_tensor *const wide =
        nn_given(&room, TL_INT64, 2, (int[]){2, 4}, (double[]){0, 1, 2, 2, 2, -1, 0, 0});
    tl_tensor *const more = nn_blank(&room, TL_BFLOAT16, 2, (int[]){2, 4});
    ck_assert_int_eq(tl_exec_take_along(NULL, src, wide, more, 1), 0);
    nn_check_values(more, (double[]){1, 2, 3, 3, 6, 6, 4, 4});
    nn_close(&room);
}
END_TEST

START_TEST(rows_of_coordinates_take_slices)
{
    nn_room room = {0};
    tl_tensor *const src =
        nn_given(&room, TL_INT16, 3, (int[]){2, 2, 2}, (double[]){0, 1, 2, 3, 4, 5, 6, 7});
    tl_tensor *const pairs = nn_given(&room, TL_INT64, 2, (int[]){2, 2}, (double[]){0, 1, -1, 0});
    tl_tensor *const dst = nn_blank(&room, TL_INT16, 2, (int[]){2, 2});
    ck_assert_int_eq(tl_exec_take_nd(NULL, src, pairs, dst, 0), 0);
    nn_check_values(dst, (double[]){2, 3, 4, 5});
    tl_tensor *const each = nn_given(&room, TL_INT64, 2, (int[]){2, 1}, (double[]){1, 0});
    ck_assert_int_eq(tl_exec_take_nd(NULL, src, each, dst, 1), 0);
    nn_check_values(dst, (double[]){2, 3, 4, 5});
    tl_tensor *const full = nn_given(&room, TL_INT64, 1, (int[]){3}, (double[]){1, 0, 1});
    tl_tensor *const one = nn_blank(&room, TL_INT16, 0, NULL);
    ck_assert_int_eq(tl_exec_take_nd(NULL, src, full, one, 0), 0);
    nn_check_values(one, (double[]){5});
    nn_close(&room);
}
END_TEST

START_TEST(sequences_are_turned_round_on_either_axis)
{
    nn_room room = {0};
    tl_tensor *const src =
        nn_given(&room, TL_FLOAT, 2, (int[]){3, 2}, (double[]){0, 1, 2, 3, 4, 5});
    tl_tensor *const dst = nn_blank(&room, TL_FLOAT, 2, (int[]){3, 2});
    tl_tensor *const lens = nn_given(&room, TL_INT64, 1, (int[]){2}, (double[]){3, 2});
    ck_assert_int_eq(tl_exec_reverse_sequence(NULL, src, lens, dst, 0, 1), 0);
    nn_check_values(dst, (double[]){4, 3, 2, 1, 0, 5});
    tl_tensor *const three = nn_given(&room, TL_INT64, 1, (int[]){3}, (double[]){0, 1, 2});
    ck_assert_int_eq(tl_exec_reverse_sequence(NULL, src, three, dst, 1, 0), 0);
    nn_check_values(dst, (double[]){0, 1, 2, 3, 5, 4});
    tl_tensor *const far = nn_given(&room, TL_INT64, 1, (int[]){2}, (double[]){3, 4});
    ck_assert_int_eq(tl_exec_reverse_sequence(NULL, src, far, dst, 0, 1), -1);
    ck_assert_str_eq(tl_last_error(), "length 4 at position 1, expected 0 to 3");
    nn_close(&room);
}
END_TEST

START_TEST(groups_are_picked_in_every_type)
{
    for (size_t k = 0; k < NN_LEN(nn_types); k++) {
        nn_room room = {0};
        tl_tensor *const src =
            nn_given(&room, nn_types[k], 1, (int[]){6}, (double[]){10, 11, 12, 13, 14, 15});
        tl_tensor *const index = nn_given(&room, TL_INT32, 1, (int[]){3}, (double[]){2, 0, 99});
        tl_tensor *const dst = tl_tensor_pick1d(src, index, NULL, 2, 2); // 99 is not read
        ck_assert_msg(dst && dst->len == 4, "%s", tl_last_error());
        if (nn_types[k] != TL_BOOL)
            nn_check_values(dst, (double[]){14, 15, 10, 11});
        tl_tensor_free_data_too(dst);
        nn_close(&room);
    }
}
END_TEST

START_TEST(groups_outside_are_errors_and_leave_dst)
{
    static const struct {
        double index;
        const char *reason;
    } cases[] = {
        {3, "index 3 at position 1, expected 0 to 2"},
        {-1, "index -1 at position 1, expected 0 to 2"},
        {INT32_MIN, "index -2147483648 at position 1, expected 0 to 2"},
    };
    for (size_t i = 0; i < NN_LEN(cases); i++) {
        nn_room room = {0};
        tl_tensor *const src = nn_blank(&room, TL_FLOAT, 1, (int[]){6});
        tl_tensor *const index =
            nn_given(&room, TL_INT32, 1, (int[]){2}, (double[]){0, cases[i].index});
        tl_tensor *const dst = nn_given(&room, TL_FLOAT, 1, (int[]){4}, (double[]){1, 2, 3, 4});
        ck_assert_int_eq(tl_exec_pick1d(NULL, src, index, dst, 2, 2), -1);
        ck_assert_str_eq(tl_last_error(), cases[i].reason);
        nn_check_values(dst, (double[]){1, 2, 3, 4});
        ck_assert_ptr_null(tl_tensor_pick1d(src, index, NULL, 2, 2));
        nn_close(&room);
    }
}
END_TEST

START_TEST(pick1d_rejects_bad_groups)
{
    static const struct {
        int src, index;
        tl_dtype index_dtype;
        int stride, len;
        const char *reason;
    } bad[] = {
        {5, 2, TL_INT32, 2, 2, "'src' has 5 elements, expected a multiple of 'stride', 2"},
        {6, 2, TL_INT64, 2, 2, "'index' has dtype TL_INT64, expected TL_INT32"},
        {6, 2, TL_INT32, 2, 3, "'len' is 3, expected at most the 2 elements of 'index'"},
        {6, 2, TL_INT32, 0, 2, "'stride' is 0, expected at least 1"},
        {6, 2, TL_INT32, 2, 0, "'len' is 0, expected at least 1"},
        {0, 2, TL_INT32, 2000000000, 2,
         "2 groups of 2000000000 elements, expected at most 2147483647 elements"},
        {0, 2, TL_INT32, 1, 1, "index 0 at position 0, expected 0 to -1"},
    };
    for (size_t i = 0; i < NN_LEN(bad); i++) {
        tl_tensor *const src = tl_tensor_zeros(1, &bad[i].src, TL_FLOAT);
        tl_tensor *const index = tl_tensor_zeros(1, &bad[i].index, bad[i].index_dtype);
        ck_assert_ptr_null(tl_tensor_pick1d(src, index, NULL, bad[i].stride, bad[i].len));
        ck_assert_str_eq(tl_last_error(), bad[i].reason);
        tl_tensor_free_data_too(src);
        tl_tensor_free_data_too(index);
    }
}
END_TEST

typedef struct threads_arg {
    const tl_tensor *src, *index;
    int axis;
} threads_arg;

static void run_take(const tl_exec *exec, tl_tensor *dst, void *arg)
{
    const threads_arg *const a = arg;
    tl_exec_take(exec, a->src, a->index, dst, a->axis);
}

static void run_along(const tl_exec *exec, tl_tensor *dst, void *arg)
{
    const threads_arg *const a = arg;
    tl_exec_take_along(exec, a->src, a->index, dst, a->axis);
}

static void run_pick1d(const tl_exec *exec, tl_tensor *dst, void *arg)
{
    const threads_arg *const a = arg;
    tl_exec_pick1d(exec, a->src, a->index, dst, 3, a->index->len);
}

START_TEST(threads_do_not_change_the_result)
{
    nn_room room = {.seed = 8};
    threads_arg arg = {nn_random(&room, TL_FLOAT, 3, (int[]){5, 40, 30}, -1, 1),
                       nn_random(&room, TL_INT32, 1, (int[]){3001}, 0, 39.99), 1};
    nn_check_threads(run_take, nn_blank(&room, TL_FLOAT, 3, (int[]){5, 3001, 30}), &arg);
    arg.index = nn_random(&room, TL_INT32, 3, (int[]){5, 3001, 30}, 0, 39.99);
    nn_check_threads(run_along, nn_blank(&room, TL_FLOAT, 3, (int[]){5, 3001, 30}), &arg);
    arg.src = nn_random(&room, TL_INT16, 1, (int[]){30}, -99, 99);
    arg.index = nn_random(&room, TL_INT32, 1, (int[]){100003}, 0, 9.99);
    nn_check_threads(run_pick1d, nn_blank(&room, TL_INT16, 1, (int[]){300009}), &arg);
    nn_close(&room);
}
END_TEST

LN_TEST_MAIN("take", slices_are_taken_along_each_axis, a_scalar_index_takes_the_axis_away,
             indices_outside_are_errors, nothing_is_taken_without_indices,
             each_element_is_taken_along_the_axis, rows_of_coordinates_take_slices,
             sequences_are_turned_round_on_either_axis, groups_are_picked_in_every_type,
             groups_outside_are_errors_and_leave_dst, pick1d_rejects_bad_groups,
             threads_do_not_change_the_result)
