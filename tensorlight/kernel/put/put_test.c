// SPDX-License-Identifier: Apache-2.0
// Tests of placing by index.

#include "kernel/tl_nn_test.h"
#include "tensorlight/tl_shape.h"

static const struct {
    tl_put_op op;
    double expected[4]; // 1 2 3 4, updated at 1 by 5, 1 by 3, 2 by 2
} ops[] = {
    {TL_PUT_SET, {1, 3, 2, 4}}, {TL_PUT_SUM, {1, 10, 5, 4}}, {TL_PUT_MUL, {1, 30, 6, 4}},
    {TL_PUT_MAX, {1, 5, 3, 4}}, {TL_PUT_MIN, {1, 2, 2, 4}},
};

START_TEST(updates_apply_in_order_in_every_type)
{
    for (size_t k = 0; k < NN_LEN(nn_types); k++)
        for (size_t i = 0; i < NN_LEN(ops) && nn_types[k] != TL_BOOL; i++) {
            nn_room room = {0};
            const tl_dtype dtype = nn_types[k];
            tl_tensor *const src = nn_given(&room, dtype, 1, (int[]){4}, (double[]){1, 2, 3, 4});
            tl_tensor *const index = nn_given(&room, TL_INT64, 1, (int[]){3}, (double[]){1, -3, 2});
            tl_tensor *const update = nn_given(&room, dtype, 1, (int[]){3}, (double[]){5, 3, 2});
            tl_tensor *const dst = nn_blank(&room, dtype, 1, (int[]){4});
            ck_assert_int_eq(tl_exec_put_along(NULL, src, index, update, dst, 0, ops[i].op), 0);
            nn_check_values(dst, ops[i].expected);
            tl_tensor *const column = tl_tensor_reshape(index, 2, (int[]){3, 1});
            ck_assert_int_eq(tl_exec_put_nd(NULL, src, column, update, src, ops[i].op), 0);
            nn_check_values(src, ops[i].expected);
            tl_tensor_free(column);
            nn_close(&room);
        }
}
END_TEST

START_TEST(bools_combine_as_logic)
{
    nn_room room = {0};
    tl_tensor *const src = nn_given(&room, TL_BOOL, 1, (int[]){2}, (double[]){0, 1});
    tl_tensor *const index = nn_given(&room, TL_INT32, 1, (int[]){2}, (double[]){0, 1});
    tl_tensor *const update = nn_given(&room, TL_BOOL, 1, (int[]){2}, (double[]){1, 0});
    tl_tensor *const dst = nn_blank(&room, TL_BOOL, 1, (int[]){2});
    ck_assert_int_eq(tl_exec_put_along(NULL, src, index, update, dst, 0, TL_PUT_SUM), 0);
    nn_check_values(dst, (double[]){1, 1});
    ck_assert_int_eq(tl_exec_put_along(NULL, src, index, update, dst, 0, TL_PUT_MUL), 0);
    nn_check_values(dst, (double[]){0, 0});
    nn_close(&room);
}
END_TEST

START_TEST(elements_are_put_along_either_axis)
{
    nn_room room = {0};
    tl_tensor *const src = nn_given(&room, TL_FLOAT, 2, (int[]){3, 3}, (double[9]){0});
    tl_tensor *const index =
        nn_given(&room, TL_INT64, 2, (int[]){2, 3}, (double[]){1, 0, 2, 0, 2, 1});
    tl_tensor *const update =
        nn_given(&room, TL_FLOAT, 2, (int[]){2, 3}, (double[]){1, 1.1, 1.2, 2, 2.1, 2.2});
    tl_tensor *const dst = nn_blank(&room, TL_FLOAT, 2, (int[]){3, 3});
    ck_assert_int_eq(tl_exec_put_along(NULL, src, index, update, dst, 0, TL_PUT_SET), 0);
    nn_check_values(dst, (double[]){2, 1.1, 0, 1, 0, 2.2, 0, 2.1, 1.2});
    ck_assert_int_eq(tl_exec_put_along(NULL, src, index, update, dst, 1, TL_PUT_SET), 0);
    nn_check_values(dst, (double[]){1.1, 1, 1.2, 2, 2.2, 2.1, 0, 0, 0});
    nn_close(&room);
}
END_TEST

// Sums of updates of the rows and of the columns of src, in each type of index.
static void check_sums(tl_dtype dtype, tl_dtype index_dtype, const int *dims,
                       const int *update_dims, int axis)
{
    nn_room room = {.seed = 8};
    tl_tensor *const src = nn_random(&room, dtype, 3, dims, 0, 9);
    tl_tensor *const update = nn_random(&room, dtype, 3, update_dims, 0, 9);
    tl_tensor *const index =
        nn_random(&room, index_dtype, 3, update_dims, -dims[axis], dims[axis] - 1);
    tl_tensor *const dst = nn_blank(&room, dtype, 3, dims);
    tl_tensor *const taken = nn_blank(&room, dtype, 3, update_dims);
    double expected[64];
    for (int i = 0; i < src->len; i++)
        expected[i] = nn_at(src, (size_t)i);
    ck_assert_int_eq(tl_exec_put_along(NULL, src, index, update, dst, axis, TL_PUT_SUM), 0);
    ck_assert_int_eq(tl_exec_take_along(NULL, dst, index, taken, axis), 0);
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < update->len; i++) {
            int at[3];
            tl_tensor_coords(update, i, at);
            const int k = (int)nn_at(index, (size_t)i);
            at[axis] = k < 0 ? k + dims[axis] : k;
            const int to = tl_tensor_index(src, at);
            if (pass == 0)
                expected[to] += nn_at(update, (size_t)i);
            else
                nn_check_near(taken, (size_t)i, expected[to], 1e-5);
        }
    for (int i = 0; i < dst->len; i++)
        nn_check_near(dst, (size_t)i, expected[i], 1e-5);
    nn_close(&room);
}

START_TEST(sums_and_elements_along_each_axis_agree_with_loops)
{
    static const tl_dtype dtypes[] = {TL_FLOAT, TL_INT64, TL_DOUBLE, TL_INT16};
    for (size_t k = 0; k < NN_LEN(dtypes); k++)
        for (int i = 0; i < 6; i++) {
            const tl_dtype index = i % 2 ? TL_INT64 : TL_INT32;
            check_sums(dtypes[k], index, (int[]){3, 4, 5}, (int[]){3, 4, 5}, i / 2);
            check_sums(dtypes[k], index, (int[]){3, 4, 5}, (int[]){2, 3, 1}, i / 2);
            check_sums(dtypes[k], index, (int[]){9, 2, 1}, (int[]){9, 1, 1}, i / 2);
        }
}
END_TEST

START_TEST(slices_are_put_by_coordinates)
{
    nn_room room = {0};
    tl_tensor *const src = nn_given(&room, TL_INT8, 2, (int[]){3, 2}, (double[]){1, 1, 2, 2, 3, 3});
    tl_tensor *const index = nn_given(&room, TL_INT64, 2, (int[]){2, 1}, (double[]){2, 0});
    tl_tensor *const update = nn_given(&room, TL_INT8, 2, (int[]){2, 2}, (double[]){5, 6, 7, 8});
    tl_tensor *const dst = nn_blank(&room, TL_INT8, 2, (int[]){3, 2});
    ck_assert_int_eq(tl_exec_put_nd(NULL, src, index, update, dst, TL_PUT_SUM), 0);
    nn_check_values(dst, (double[]){8, 9, 2, 2, 8, 9});
    nn_close(&room);
}
END_TEST

START_TEST(an_index_outside_leaves_dst_as_it_is)
{
    nn_room room = {0};
    tl_tensor *const src = nn_blank(&room, TL_FLOAT, 1, (int[]){3});
    tl_tensor *const dst = nn_given(&room, TL_FLOAT, 1, (int[]){3}, (double[]){1, 2, 3});
    tl_tensor *const update = nn_blank(&room, TL_FLOAT, 1, (int[]){1});
    tl_tensor *const index = nn_given(&room, TL_INT64, 1, (int[]){1}, (double[]){3});
    tl_tensor *const row = nn_given(&room, TL_INT64, 2, (int[]){1, 1}, (double[]){-4});
    ck_assert_int_eq(tl_exec_put_along(NULL, src, index, update, dst, 0, TL_PUT_SET), -1);
    ck_assert_str_eq(tl_last_error(), "index 3 at position 0, expected -3 to 2");
    ck_assert_int_eq(tl_exec_put_nd(NULL, src, row, update, dst, TL_PUT_SET), -1);
    ck_assert_str_eq(tl_last_error(), "index -4 at position 0, expected -3 to 2");
    nn_check_values(dst, (double[]){1, 2, 3});
    nn_close(&room);
}
END_TEST

START_TEST(without_updates_dst_is_src)
{
    nn_room room = {0};
    tl_tensor *const src = nn_given(&room, TL_FLOAT, 1, (int[]){2}, (double[]){1, 2});
    tl_tensor *const dst = nn_blank(&room, TL_FLOAT, 1, (int[]){2});
    tl_tensor *const none = nn_blank(&room, TL_FLOAT, 1, (int[]){0});
    tl_tensor *const index = nn_blank(&room, TL_INT64, 1, (int[]){0});
    ck_assert_int_eq(tl_exec_put_along(NULL, src, index, none, dst, 0, TL_PUT_SUM), 0);
    nn_check_values(dst, (double[]){1, 2});
    nn_close(&room);
}
END_TEST

START_TEST(ranges_are_put_for_each_batch)
{
    nn_room room = {0};
    tl_tensor *const src = nn_given(&room, TL_INT32, 3, (int[]){2, 3, 2},
                                    (double[]){1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6});
    tl_tensor *const update =
        nn_given(&room, TL_INT32, 3, (int[]){2, 2, 2}, (double[]){10, 11, 12, 13, 14, 15, 16, 17});
    tl_tensor *const dst = nn_blank(&room, TL_INT32, 3, (int[]){2, 3, 2});
    tl_tensor *const first = nn_given(&room, TL_INT64, 1, (int[]){2}, (double[]){1, 0});
    ck_assert_int_eq(tl_exec_put_range(NULL, src, update, first, dst, 1, 0), 0);
    nn_check_values(dst, (double[]){1, 1, 10, 11, 12, 13, 14, 15, 16, 17, 6, 6});
    ck_assert_int_eq(tl_exec_put_range(NULL, src, update, NULL, dst, 1, 0), 0);
    nn_check_values(dst, (double[]){10, 11, 12, 13, 3, 3, 14, 15, 16, 17, 6, 6});
    tl_tensor *const late = nn_given(&room, TL_INT64, 1, (int[]){2}, (double[]){2, 0});
    ck_assert_int_eq(tl_exec_put_range(NULL, src, update, late, dst, 1, 0), -1);
    ck_assert_str_eq(tl_last_error(), "index 2 at position 0, expected 0 to 1");
    ck_assert_int_eq(tl_exec_put_range(NULL, src, update, late, dst, 1, 1), 0);
    nn_check_values(dst, (double[]){12, 13, 2, 2, 10, 11, 14, 15, 16, 17, 6, 6});
    nn_close(&room);
}
END_TEST

typedef struct threads_arg {
    tl_tensor *src, *index, *update;
} threads_arg;

static void run_along(const tl_exec *exec, tl_tensor *dst, void *arg)
{
    const threads_arg *const a = arg;
    tl_exec_put_along(exec, a->src, a->index, a->update, dst, 1, TL_PUT_SUM);
}

START_TEST(threads_do_not_change_the_result)
{
    nn_room room = {.seed = 4};
    threads_arg arg = {nn_random(&room, TL_FLOAT, 3, (int[]){64, 5, 30}, -1, 1),
                       nn_random(&room, TL_INT64, 3, (int[]){64, 50, 30}, 0, 4.99),
                       nn_random(&room, TL_FLOAT, 3, (int[]){64, 50, 30}, -1, 1)};
    nn_check_threads(run_along, nn_blank(&room, TL_FLOAT, 3, (int[]){64, 5, 30}), &arg);
    nn_close(&room);
}
END_TEST

START_TEST(operations_have_names)
{
    for (int op = 0; op < TL_PUT_OP_SIZE; op++)
        ck_assert_int_eq(tl_put_op_from_str(tl_put_op_name((tl_put_op)op)), op);
    ck_assert_int_eq(tl_put_op_from_str("add"), TL_PUT_OP_INVALID);
    ck_assert_ptr_null(tl_put_op_name(TL_PUT_OP_INVALID));
}
END_TEST

LN_TEST_MAIN("put", updates_apply_in_order_in_every_type, bools_combine_as_logic,
             elements_are_put_along_either_axis, sums_and_elements_along_each_axis_agree_with_loops,
             slices_are_put_by_coordinates, an_index_outside_leaves_dst_as_it_is,
             without_updates_dst_is_src, ranges_are_put_for_each_batch,
             threads_do_not_change_the_result, operations_have_names)
