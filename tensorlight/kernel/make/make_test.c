// SPDX-License-Identifier: Apache-2.0
// Tests of ranges, diagonals and rows in which one element stands out.

#include <limits.h>

#include "kernel/tl_nn_test.h"
#include "tensorlight/tl_shape.h"

START_TEST(ranges_go_up_and_down_in_every_type)
{
    for (size_t k = 0; k < NN_LEN(nn_types); k++) {
        if (nn_types[k] == TL_BOOL)
            continue;
        nn_room room = {0};
        const tl_dtype dtype = nn_types[k];
        const int goes_down = tl_dtype_min_double(dtype) < 0;
        tl_tensor *const start = nn_given(&room, dtype, 0, NULL, (double[]){goes_down ? 10 : 1});
        tl_tensor *const limit = nn_given(&room, dtype, 0, NULL, (double[]){goes_down ? 3 : 8});
        tl_tensor *const delta = nn_given(&room, dtype, 0, NULL, (double[]){goes_down ? -3 : 3});
        ck_assert_int_eq(tl_range_length(start, limit, delta), 3);
        tl_tensor *const dst = nn_blank(&room, dtype, 1, (int[]){3});
        ck_assert_int_eq(tl_exec_range(NULL, start, delta, dst), 0);
        nn_check_values(dst, goes_down ? (double[]){10, 7, 4} : (double[]){1, 4, 7});
        ck_assert_int_eq(tl_range_length(limit, start, delta), 0);
        nn_close(&room);
    }
}
END_TEST

static int length_of(tl_dtype dtype, int64_t start, int64_t limit, int64_t delta)
{
    tl_tensor *const t = tl_tensor_zeros(1, (int[]){3}, dtype);
    tl_convert_array(t->data, dtype, (int64_t[]){start, limit, delta}, TL_INT64, 3);
    tl_tensor scalars[3];
    for (int i = 0; i < 3; i++)
        scalars[i] =
            (tl_tensor){.dtype = dtype, .len = 1, .data = tl_pointer_add(t->data, i, dtype)};
    const int len = tl_range_length(&scalars[0], &scalars[1], &scalars[2]);
    tl_tensor_free_data_too(t);
    return len;
}

START_TEST(lengths_are_exact_to_the_limits)
{
    ck_assert_int_eq(length_of(TL_INT64, INT64_MAX - 3, INT64_MAX, 2), 2);
    ck_assert_int_eq(length_of(TL_INT64, INT64_MIN, INT64_MAX, INT64_MAX), 3);
    ck_assert_int_eq(length_of(TL_INT64, INT64_MAX, INT64_MIN, INT64_MIN), 2);
    ck_assert_int_eq(length_of(TL_INT64, 0, INT64_MAX, 1), -1);
    ck_assert_str_eq(tl_last_error(),
                     "range from 0 to 9.22337e+18 by 1, expected at most 2147483647 elements");
    ck_assert_int_eq(length_of(TL_DOUBLE, 0, INT64_MAX, 1), -1);
    ck_assert_int_eq(length_of(TL_FLOAT, 5, 5, 1), 0);
    ck_assert_int_eq(length_of(TL_INT32, 5, 5, 0), -1);
    ck_assert_str_eq(tl_last_error(), "'delta' is 0, expected another value");
}
END_TEST

START_TEST(a_diagonal_may_lie_anywhere)
{
    static const struct {
        int64_t k;
        double expected[6];
    } rows[] = {
        {0, {1, 0, 0, 0, 1, 0}},         {1, {0, 1, 0, 0, 0, 1}},         {2, {0, 0, 1, 0, 0, 0}},
        {-1, {0, 0, 0, 1, 0, 0}},        {-2, {0, 0, 0, 0, 0, 0}},        {3, {0, 0, 0, 0, 0, 0}},
        {INT64_MAX, {0, 0, 0, 0, 0, 0}}, {INT64_MIN, {0, 0, 0, 0, 0, 0}},
    };
    for (size_t k = 0; k < NN_LEN(nn_types); k++)
        for (size_t i = 0; i < NN_LEN(rows); i++) {
            nn_room room = {0};
            tl_tensor *const dst = nn_blank(&room, nn_types[k], 2, (int[]){2, 3});
            ck_assert_int_eq(tl_exec_eye(NULL, dst, rows[i].k), 0);
            nn_check_values(dst, rows[i].expected);
            nn_close(&room);
        }
}
END_TEST

START_TEST(triangles_keep_their_side_of_a_diagonal)
{
    static const struct {
        int64_t k;
        double upper[6], lower[6]; // of 1 2 3, 4 5 6
    } rows[] = {
        {0, {1, 2, 3, 0, 5, 6}, {1, 0, 0, 4, 5, 0}},  {1, {0, 2, 3, 0, 0, 6}, {1, 2, 0, 4, 5, 6}},
        {-1, {1, 2, 3, 4, 5, 6}, {0, 0, 0, 4, 0, 0}}, {-5, {1, 2, 3, 4, 5, 6}, {0}},
        {INT64_MAX, {0}, {1, 2, 3, 4, 5, 6}},         {INT64_MIN, {1, 2, 3, 4, 5, 6}, {0}},
    };
    for (size_t i = 0; i < NN_LEN(rows); i++) {
        nn_room room = {0};
        tl_tensor *const src =
            nn_given(&room, TL_INT16, 3, (int[]){1, 2, 3}, (double[]){1, 2, 3, 4, 5, 6});
        tl_tensor *const dst = nn_blank(&room, TL_INT16, 3, (int[]){1, 2, 3});
        ck_assert_int_eq(tl_exec_trilu(NULL, src, dst, rows[i].k, 1), 0);
        nn_check_values(dst, rows[i].upper);
        ck_assert_int_eq(tl_exec_trilu(NULL, src, dst, rows[i].k, 0), 0);
        nn_check_values(dst, rows[i].lower);
        nn_close(&room);
    }
}
END_TEST

START_TEST(one_element_stands_out_along_the_new_axis)
{
    for (size_t k = 0; k < NN_LEN(nn_types); k++) {
        if (tl_dtype_min_double(nn_types[k]) >= 0)
            continue;
        nn_room room = {0};
        tl_tensor *const index =
            nn_given(&room, nn_types[k], 2, (int[]){2, 2}, (double[]){0, -1, 3, 1});
        tl_tensor *const values = nn_given(&room, TL_UINT8, 1, (int[]){2}, (double[]){5, 9});
        tl_tensor *const last = nn_blank(&room, TL_UINT8, 3, (int[]){2, 2, 3});
        ck_assert_int_eq(tl_exec_onehot(NULL, index, values, last, 2), 0);
        nn_check_values(last, (double[]){9, 5, 5, 5, 5, 9, 5, 5, 5, 5, 9, 5});
        tl_tensor *const first = nn_blank(&room, TL_UINT8, 3, (int[]){3, 2, 2});
        ck_assert_int_eq(tl_exec_onehot(NULL, index, values, first, 0), 0);
        nn_check_values(first, (double[]){9, 5, 5, 5, 5, 5, 5, 9, 5, 9, 5, 5});
        nn_close(&room);
    }
}
END_TEST

START_TEST(ignores_indices_out_of_range)
{
    nn_room room = {0};
    tl_tensor *const index = nn_blank(&room, TL_INT64, 1, (int[]){2});
    ((int64_t *)index->data)[0] = INT64_MIN;
    ((int64_t *)index->data)[1] = INT64_MAX;
    tl_tensor *const values = nn_given(&room, TL_FLOAT, 1, (int[]){2}, (double[]){0, 1});
    tl_tensor *const dst = nn_blank(&room, TL_FLOAT, 2, (int[]){2, 2});
    ck_assert_int_eq(tl_exec_onehot(NULL, index, values, dst, 1), 0);
    nn_check_values(dst, (double[]){0, 0, 0, 0});
    nn_close(&room);
}
END_TEST

LN_TEST_MAIN("make", ranges_go_up_and_down_in_every_type, lengths_are_exact_to_the_limits,
             a_diagonal_may_lie_anywhere, triangles_keep_their_side_of_a_diagonal,
             one_element_stands_out_along_the_new_axis, ignores_indices_out_of_range)
