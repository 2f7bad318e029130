// SPDX-License-Identifier: Apache-2.0
// Tests of the sum of products.

#include "kernel/tl_nn_test.h"

START_TEST(dot_product_is_a_sum_of_products_in_every_type)
{
    // 3*1 + 2*4 + 1*2 = 13; as bools 1.
    for (size_t k = 0; k < NN_LEN(nn_types); k++) {
        nn_room room = {0};
        tl_tensor *const a = nn_given(&room, nn_types[k], 1, (int[]){3}, (double[]){3, 2, 1});
        tl_tensor *const b = nn_given(&room, nn_types[k], 1, (int[]){3}, (double[]){1, 4, 2});
        tl_tensor *const dst = tl_tensor_dot_product(a, b, NULL);
        ck_assert(dst->ndim == 1 && dst->dims[0] == 1);
        nn_check_values(dst, (double[]){nn_types[k] == TL_BOOL ? 1 : 13});
        tl_tensor_free_data_too(dst);
        nn_close(&room);
    }
}
END_TEST

START_TEST(integers_wrap)
{
    static const struct {
        tl_dtype dtype;
        double a[2], b[2], sum;
    } cases[] = {
        {TL_UINT8, {16, 3}, {16, 1}, 3},
        {TL_INT8, {127, 1}, {1, 1}, -128},
        {TL_INT16, {-32768, 0}, {-1, 0}, -32768},
        {TL_INT32, {65536, 1}, {65536, 7}, 7},
        {TL_UINT64, {4294967296.0, 5}, {4294967296.0, 1}, 5},
        {TL_INT64, {-4294967296.0, -5}, {4294967296.0, 1}, -5},
    };
    for (size_t i = 0; i < NN_LEN(cases); i++) {
        nn_room room = {0};
        tl_tensor *const a = nn_given(&room, cases[i].dtype, 1, (int[]){2}, cases[i].a);
        tl_tensor *const b = nn_given(&room, cases[i].dtype, 1, (int[]){2}, cases[i].b);
        tl_tensor *const dst = nn_blank(&room, cases[i].dtype, 1, (int[]){1});
        ck_assert_ptr_eq(tl_tensor_dot_product(a, b, dst), dst);
        nn_check_near(dst, 0, cases[i].sum, 0);
        nn_close(&room);
    }
}
END_TEST

START_TEST(bools_need_one_pair_of_ones)
{
    nn_room room = {0};
    tl_tensor *const a = nn_given(&room, TL_BOOL, 1, (int[]){2}, (double[]){1, 0});
    tl_tensor *const b = nn_given(&room, TL_BOOL, 1, (int[]){2}, (double[]){0, 1});
    tl_tensor *const dst = nn_blank(&room, TL_BOOL, 1, (int[]){1});
    ck_assert_ptr_eq(tl_tensor_dot_product(a, b, dst), dst);
    nn_check_values(dst, (double[]){0});
    ck_assert_ptr_eq(tl_tensor_dot_product(a, a, dst), dst);
    nn_check_values(dst, (double[]){1});
    nn_close(&room);
}
END_TEST

START_TEST(floats_sum_in_double)
{
    // In float 1e8 + 1 is 1e8.
    nn_room room = {0};
    tl_tensor *const a = nn_given(&room, TL_FLOAT, 1, (int[]){3}, (double[]){1e8, 1, -1e8});
    tl_tensor *const b = nn_given(&room, TL_FLOAT, 1, (int[]){3}, (double[]){1, 1, 1});
    tl_tensor *const dst = nn_blank(&room, TL_FLOAT, 1, (int[]){1});
    ck_assert_ptr_eq(tl_tensor_dot_product(a, b, dst), dst);
    nn_check_values(dst, (double[]){1});
    nn_close(&room);
}
END_TEST

START_TEST(a_sum_of_nothing_is_0)
{
    nn_room room = {0};
    tl_tensor *const a = nn_blank(&room, TL_FLOAT, 1, (int[]){0});
    tl_tensor *const dst = nn_blank(&room, TL_FLOAT, 1, (int[]){1});
    ck_assert_ptr_eq(tl_tensor_dot_product(a, a, dst), dst);
    nn_check_values(dst, (double[]){0});
    nn_close(&room);
}
END_TEST

START_TEST(dot_product_rejects_different_shapes_and_dtypes)
{
    nn_room room = {0};
    tl_tensor *const a = nn_blank(&room, TL_FLOAT, 1, (int[]){2});
    tl_tensor *const longer = nn_blank(&room, TL_FLOAT, 1, (int[]){3});
    tl_tensor *const ints = nn_blank(&room, TL_INT32, 1, (int[]){2});
    ck_assert_ptr_null(tl_tensor_dot_product(a, longer, NULL));
    ck_assert_str_eq(tl_last_error(), "shapes [2] and [3], expected the same");
    ck_assert_ptr_null(tl_tensor_dot_product(a, ints, NULL));
    ck_assert_str_eq(tl_last_error(), "dtypes TL_FLOAT and TL_INT32, expected the same");
    ck_assert_ptr_null(tl_tensor_dot_product(a, a, longer));
    ck_assert_str_eq(tl_last_error(), "'dst' is TL_FLOAT [3], expected TL_FLOAT [1]");
    nn_close(&room);
}
END_TEST

LN_TEST_MAIN("dot product", dot_product_is_a_sum_of_products_in_every_type, integers_wrap,
             bools_need_one_pair_of_ones, floats_sum_in_double, a_sum_of_nothing_is_0,
             dot_product_rejects_different_shapes_and_dtypes)
