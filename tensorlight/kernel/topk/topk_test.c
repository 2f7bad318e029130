// SPDX-License-Identifier: Apache-2.0
// Tests of the largest or smallest elements along an axis.

#include "kernel/tl_nn_test.h"

START_TEST(equal_elements_keep_their_order_and_nan_is_max)
{
    nn_room room = {0};
    tl_tensor *const src =
        nn_given(&room, TL_FLOAT, 1, (int[]){6}, (double[]){2, 7, NAN, 2, 7, -1});
    tl_tensor *const values = nn_blank(&room, TL_FLOAT, 1, (int[]){4});
    tl_tensor *const indices = nn_blank(&room, TL_INT64, 1, (int[]){4});
    ck_assert_int_eq(tl_tensor_topk(src, values, indices, 0, 0), 0);
    nn_check_values(values, (double[]){NAN, 7, 7, 2});
    nn_check_values(indices, (double[]){2, 1, 4, 0});
    ck_assert_int_eq(tl_tensor_topk(src, values, indices, 0, 1), 0);
    nn_check_values(values, (double[]){-1, 2, 2, 7});
    nn_check_values(indices, (double[]){5, 0, 3, 1});
    nn_close(&room);
}
END_TEST

// NaN is larger than all numbers.
static double ordered_at(const tl_tensor *t, size_t i)
{
    const double x = nn_at(t, i);
    return isnan(x) ? INFINITY : x;
}

static void check_axis(tl_dtype dtype, const int *dims, int axis, int k, int is_smallest)
{
    nn_room room = {.seed = 51};
    tl_tensor *const src = nn_random(&room, dtype, 4, dims, -9, 9);
    int new_dims[4];
    memcpy(new_dims, dims, sizeof(new_dims));
    for (int i = 5; i < src->len && dtype == TL_FLOAT; i += 7)
        ((float *)src->data)[i] = i % 3 ? -0.0f : i % 2 ? NAN : 0;
    new_dims[axis] = k < dims[axis] ? k : dims[axis];
    tl_tensor *const values = nn_blank(&room, dtype, 4, new_dims);
    tl_tensor *const indices = nn_blank(&room, TL_INT64, 4, new_dims);
    ck_assert_int_eq(tl_tensor_topk(src, values, indices, axis, is_smallest), 0);
    for (int i = 0; i < values->len; i++) {
        int at[4];
        tl_tensor_coords(values, i, at);
        const int rank = at[axis], index = (int)nn_at(indices, (size_t)i);
        const double value = ordered_at(values, (size_t)i);
        int before = 0; // how many of the line come before it
        for (int j = 0; j < dims[axis]; j++) {
            at[axis] = j;
            const double x = ordered_at(src, (size_t)tl_tensor_index(src, at));
            before += (is_smallest ? x < value : x > value) || (x == value && j < index);
        }
        at[axis] = index;
        ck_assert(ordered_at(src, (size_t)tl_tensor_index(src, at)) == value);
        ck_assert_int_eq(before, rank);
    }
    nn_close(&room);
}

START_TEST(every_axis_and_type_gives_the_ranks)
{
    for (size_t t = 0; t < NN_LEN(nn_types); t++)
        for (int axis = 0; axis < 4; axis++)
            for (int k = 1; k < 18; k += 4) {
                check_axis(nn_types[t], (int[]){3, 17, 2, 5}, axis, k, 0);
                check_axis(nn_types[t], (int[]){3, 17, 2, 5}, axis, k, 1);
            }
}
END_TEST

START_TEST(few_and_many_of_long_lines_have_the_ranks)
{
    static const int ks[] = {1, 2, 30, 74, 75, 76, 150, 299, 300};
    for (size_t t = 0; t < NN_LEN(nn_types); t++)
        for (size_t k = 0; k < NN_LEN(ks); k++)
            for (int is_smallest = 0; is_smallest < 2; is_smallest++) {
                check_axis(nn_types[t], (int[]){2, 1, 1, 300}, 3, ks[k], is_smallest);
                check_axis(nn_types[t], (int[]){1, 300, 1, 3}, 1, ks[k], is_smallest);
            }
}
END_TEST

START_TEST(integers_of_all_bits_are_in_order)
{
    nn_room room = {0};
    enum { N = 100 };
    tl_tensor *const src = nn_blank(&room, TL_INT64, 1, (int[]){N});
    tl_tensor *const values = nn_blank(&room, TL_INT64, 1, (int[]){N});
    tl_tensor *const indices = nn_blank(&room, TL_INT64, 1, (int[]){N});
    for (int i = 0; i < N; i++)
        ((uint64_t *)src->data)[i] = (uint64_t)i * 0x9e3779b97f4a7c15;
    ck_assert_int_eq(tl_tensor_topk(src, values, indices, 0, 0), 0);
    for (int i = 0; i + 1 < N; i++)
        ck_assert(((int64_t *)values->data)[i] > ((int64_t *)values->data)[i + 1]);
    nn_close(&room);
}
END_TEST

START_TEST(topk_rejects_more_elements_than_the_axis_has)
{
    nn_room room = {0};
    tl_tensor *const src = nn_blank(&room, TL_FLOAT, 2, (int[]){2, 3});
    tl_tensor *const values = nn_blank(&room, TL_FLOAT, 2, (int[]){2, 4});
    tl_tensor *const indices = nn_blank(&room, TL_INT64, 2, (int[]){2, 4});
    tl_tensor *const none = nn_blank(&room, TL_FLOAT, 2, (int[]){2, 0});
    tl_tensor *const no_indices = nn_blank(&room, TL_INT64, 2, (int[]){2, 0});
    ck_assert_int_eq(tl_tensor_topk(src, values, indices, 1, 0), -1);
    ck_assert_str_eq(tl_last_error(), "'values' has length 4 along axis 1, expected at most 3");
    ck_assert_int_eq(tl_tensor_topk(src, values, src, 1, 0), -1);
    ck_assert_int_eq(tl_tensor_topk(src, values, indices, 2, 0), -1);
    ck_assert_int_eq(tl_tensor_topk(src, none, no_indices, 1, 0), 0);
    nn_close(&room);
}
END_TEST

LN_TEST_MAIN("topk", equal_elements_keep_their_order_and_nan_is_max,
             every_axis_and_type_gives_the_ranks, few_and_many_of_long_lines_have_the_ranks,
             integers_of_all_bits_are_in_order, topk_rejects_more_elements_than_the_axis_has)
