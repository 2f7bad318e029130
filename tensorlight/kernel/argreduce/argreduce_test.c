// SPDX-License-Identifier: Apache-2.0
// Tests of the extreme along an axis and of its index.

#include "kernel/tl_nn_test.h"

// Argreduce

START_TEST(the_first_or_the_last_of_equal_elements_is_selected)
{
    nn_room room = {0};
    tl_tensor *const src =
        nn_given(&room, TL_FLOAT, 2, (int[]){2, 4}, (double[]){1, 5, 5, 1, 2, 2, 2, 2});
    static const double expected[2][2][2] = {{{1, 0}, {2, 3}}, {{0, 0}, {3, 3}}};
    for (int is_min = 0; is_min < 2; is_min++)
        for (int is_last = 0; is_last < 2; is_last++) {
            tl_tensor *const dst = tl_tensor_argreduce(src, NULL, 1, is_min, is_last, 0);
            ck_assert(dst->ndim == 1 && dst->dtype == TL_INT64);
            nn_check_values(dst, expected[is_min][is_last]);
            tl_tensor_free_data_too(dst);
        }
    nn_close(&room);
}
END_TEST

START_TEST(a_nan_is_max_and_min)
{
    nn_room room = {0};
    tl_tensor *const src =
        nn_given(&room, TL_BFLOAT16, 1, (int[]){5}, (double[]){1, NAN, 9, NAN, -9});
    for (int is_min = 0; is_min < 2; is_min++)
        for (int is_last = 0; is_last < 2; is_last++) {
            tl_tensor *const dst = tl_tensor_argreduce(src, NULL, 0, is_min, is_last, 1);
            nn_check_values(dst, (double[]){is_last ? 3 : 1});
            tl_tensor_free_data_too(dst);
        }
    nn_close(&room);
}
END_TEST

static void check_axis(tl_dtype dtype, const int *dims, int axis, int is_min, int is_last)
{
    nn_room room = {.seed = 51};
    tl_tensor *const src = nn_random(&room, dtype, 4, dims, -9, 9);
    int new_dims[4];
    memcpy(new_dims, dims, sizeof(new_dims));
    new_dims[axis] = 1;
    tl_tensor *const dst = nn_blank(&room, TL_INT64, 4, new_dims);
    ck_assert_ptr_eq(tl_tensor_argreduce(src, dst, axis, is_min, is_last, 1), dst);
    NN_EACH_ISA(exec)
    {
        tl_tensor *const same = nn_blank(&room, TL_INT64, 4, new_dims);
        tl_exec_argreduce(&exec, src, same, axis, is_min, is_last);
        ck_assert_int_eq(memcmp(same->data, dst->data, tl_tensor_size(dst)), 0);
    }
    for (int k = 0; k < dst->len; k++) {
        int coords[4], best = 0;
        tl_tensor_coords(dst, k, coords);
        double value = nn_at(src, (size_t)tl_tensor_index(src, coords));
        for (coords[axis] = 1; coords[axis] < dims[axis]; coords[axis]++) {
            const double x = nn_at(src, (size_t)tl_tensor_index(src, coords));
            if ((is_min ? x < value : x > value) || (is_last && x == value)) {
                value = x;
                best = coords[axis];
            }
        }
        nn_check_near(dst, (size_t)k, best, 0);
    }
    nn_close(&room);
}

START_TEST(every_axis_and_type_agrees_with_loops)
{
    for (size_t k = 0; k < NN_LEN(nn_types); k++)
        for (int i = 0; i < 16; i++) {
            check_axis(nn_types[k], (int[]){3, 5, 2, 7}, i / 4, i % 2, i / 2 % 2);
            check_axis(nn_types[k], (int[]){2, 3, 1, 521}, i / 4, i % 2, i / 2 % 2);
            check_axis(nn_types[k], (int[]){1, 5, 14, 41}, i / 4, i % 2, i / 2 % 2);
        }
}
END_TEST

// The max of `rows` equal lines with NaN at `at` and at `at` + 1.
static void check_nan(const tl_exec *exec, int rows, int at, int is_min, int is_last)
{
    enum { LEN = 101 };
    nn_room room = {.seed = 17};
    tl_tensor *const src = nn_random(&room, TL_FLOAT, 2, (int[]){rows, LEN}, -9, 9);
    tl_tensor *const dst = nn_blank(&room, TL_INT64, 1, (int[]){rows});
    tl_tensor *const max = nn_blank(&room, TL_FLOAT, 1, (int[]){rows});
    tl_tensor *const arg = nn_blank(&room, TL_INT32, 1, (int[]){rows});
    for (int r = 0; r < rows; r++)
        for (int i = at; i < at + 2; i++)
            ((float *)src->data)[r * LEN + i] = NAN;
    tl_exec_argreduce(exec, src, dst, 1, is_min, is_last);
    tl_exec_maxreduce(exec, src, max, arg, 1);
    for (int r = 0; r < rows; r++) {
        nn_check_near(dst, (size_t)r, is_last ? at + 1 : at, 0);
        ck_assert(at == 0 ? isnan(nn_at(max, (size_t)r)) : nn_at(max, (size_t)r) <= 9);
        ck_assert(at > 0 || nn_at(arg, (size_t)r) == 0);
    }
    nn_close(&room);
}

START_TEST(a_nan_is_found_at_each_index_of_one_line_or_many)
{
    NN_EACH_ISA(exec)
    for (int at = 0; at < 100; at++)
        for (int i = 0; i < 4; i++) {
            check_nan(&exec, 1, at, i % 2, i / 2);
            check_nan(&exec, 9, at, i % 2, i / 2);
        }
}
END_TEST

static void run_argreduce(const tl_exec *exec, tl_tensor *dst, void *arg)
{
    tl_exec_argreduce(exec, arg, dst, 1, 0, 0);
}

START_TEST(threads_do_not_change_the_result)
{
    nn_room room = {.seed = 52};
    tl_tensor *const src = nn_random(&room, TL_INT8, 3, (int[]){7, 9, 4999}, -100, 100);
    nn_check_threads(run_argreduce, nn_blank(&room, TL_INT64, 3, (int[]){7, 1, 4999}), src);
    nn_close(&room);
}
END_TEST

START_TEST(argreduce_rejects_bad_axes)
{
    nn_room room = {0};
    tl_tensor *const src = nn_blank(&room, TL_FLOAT, 2, (int[]){2, 3});
    tl_tensor *const empty = nn_blank(&room, TL_FLOAT, 2, (int[]){2, 0});
    ck_assert_ptr_null(tl_tensor_argreduce(src, NULL, 2, 0, 0, 0));
    ck_assert_str_eq(tl_last_error(), "axis 2, expected 0 to 1");
    ck_assert_ptr_null(tl_tensor_argreduce(empty, NULL, 1, 0, 0, 0));
    ck_assert_str_eq(tl_last_error(), "'src' has length 0 along axis 1, expected at least 1");
    ck_assert_ptr_null(tl_tensor_argreduce(src, src, 1, 0, 0, 0));
    nn_close(&room);
}
END_TEST

// Maxreduce

START_TEST(maxreduce_finds_the_lowest_index_of_equal_maxima)
{
    nn_room room = {0};
    tl_tensor *const src = nn_given(&room, TL_FLOAT, 1, (int[]){3}, (double[]){0.1f, 0.9f, 0.9f});
    tl_tensor *const arg = nn_blank(&room, TL_INT32, 1, (int[]){1});
    tl_tensor *const dst = tl_tensor_maxreduce(src, NULL, arg, 0);
    nn_check_values(dst, (double[]){0.9f});
    nn_check_values(arg, (double[]){1});
    tl_tensor_free_data_too(dst);
    nn_close(&room);
}
END_TEST

START_TEST(maxreduce_propagates_a_nan_only_from_index_0)
{
    nn_room room = {0};
    tl_tensor *const src =
        nn_given(&room, TL_FLOAT16, 2, (int[]){3, 2}, (double[]){NAN, 1, 5, NAN, 7, 2});
    tl_tensor *const dst = nn_blank(&room, TL_FLOAT16, 2, (int[]){1, 2});
    tl_tensor *const arg = nn_blank(&room, TL_INT32, 2, (int[]){1, 2});
    ck_assert_ptr_eq(tl_tensor_maxreduce(src, dst, arg, 0), dst);
    nn_check_values(dst, (double[]){NAN, 2});
    nn_check_values(arg, (double[]){0, 2});
    nn_close(&room);
}
END_TEST

START_TEST(maxreduce_compares_unsigned_numbers_beyond_the_int_range)
{
    nn_room room = {0};
    tl_tensor *const src = nn_given(&room, TL_UINT32, 1, (int[]){2}, (double[]){1, 4e9});
    tl_tensor *const dst = nn_blank(&room, TL_UINT32, 1, (int[]){1});
    ck_assert_ptr_eq(tl_tensor_maxreduce(src, dst, NULL, 0), dst);
    nn_check_values(dst, (double[]){4e9});
    nn_close(&room);
}
END_TEST

static void check_max_along(tl_dtype dtype, const int *dims, int axis)
{
    nn_room room = {.seed = 51};
    tl_tensor *const src = nn_random(&room, dtype, 4, dims, -9, 9);
    int new_dims[4];
    memcpy(new_dims, dims, sizeof(new_dims));
    new_dims[axis] = 1;
    tl_tensor *const dst = nn_blank(&room, dtype, 4, new_dims);
    tl_tensor *const arg = nn_blank(&room, TL_INT32, 4, new_dims);
    ck_assert_ptr_eq(tl_tensor_maxreduce(src, dst, arg, axis), dst);
    for (int k = 0; k < dst->len; k++) {
        int coords[4], best = 0;
        tl_tensor_coords(dst, k, coords);
        double max = nn_at(src, (size_t)tl_tensor_index(src, coords));
        for (coords[axis] = 1; coords[axis] < dims[axis]; coords[axis]++) {
            const double value = nn_at(src, (size_t)tl_tensor_index(src, coords));
            if (value > max) {
                max = value;
                best = coords[axis];
            }
        }
        nn_check_near(dst, (size_t)k, max, 0);
        nn_check_near(arg, (size_t)k, best, 0);
    }
    nn_close(&room);
}

START_TEST(maxreduce_agrees_with_loops_on_every_axis_and_type)
{
    for (size_t k = 0; k < NN_LEN(nn_types); k++)
        for (int axis = 0; axis < 4; axis++) {
            check_max_along(nn_types[k], (int[]){3, 5, 2, 7}, axis);
            check_max_along(nn_types[k], (int[]){2, 3, 1, 521}, axis); // more lines than at a time
        }
}
END_TEST

typedef struct threads_arg {
    const tl_tensor *src;
    tl_tensor *arg;
} threads_arg;

static void run_maxreduce(const tl_exec *exec, tl_tensor *dst, void *arg)
{
    const threads_arg *const a = arg;
    tl_exec_maxreduce(exec, a->src, dst, a->arg, 1);
}

static void run_arg(const tl_exec *exec, tl_tensor *arg, void *a)
{
    threads_arg both = *(threads_arg *)a;
    tl_exec_maxreduce(exec, both.src, both.arg, arg, 1);
}

START_TEST(threads_do_not_change_maxreduce)
{
    nn_room room = {.seed = 52};
    threads_arg arg = {nn_random(&room, TL_INT8, 3, (int[]){7, 9, 4999}, -100, 100),
                       nn_blank(&room, TL_INT32, 3, (int[]){7, 1, 4999})};
    tl_tensor *const dst = nn_blank(&room, TL_INT8, 3, (int[]){7, 1, 4999});
    nn_check_threads(run_maxreduce, dst, &arg);
    tl_tensor *const args = arg.arg;
    arg.arg = dst;
    nn_check_threads(run_arg, args, &arg);
    nn_close(&room);
}
END_TEST

START_TEST(maxreduce_rejects_bad_axes_and_indices)
{
    nn_room room = {0};
    tl_tensor *const src = nn_blank(&room, TL_FLOAT, 2, (int[]){2, 3});
    tl_tensor *const empty = nn_blank(&room, TL_FLOAT, 2, (int[]){2, 0});
    tl_tensor *const arg = nn_blank(&room, TL_INT32, 2, (int[]){1, 2});
    ck_assert_ptr_null(tl_tensor_maxreduce(src, NULL, NULL, 2));
    ck_assert_str_eq(tl_last_error(), "axis 2, expected 0 to 1");
    ck_assert_ptr_null(tl_tensor_maxreduce(empty, NULL, NULL, 1));
    ck_assert_str_eq(tl_last_error(), "'src' has length 0 along axis 1, expected at least 1");
    ck_assert_ptr_null(tl_tensor_maxreduce(src, NULL, arg, 0));
    ck_assert_str_eq(tl_last_error(), "'arg' is TL_INT32 [1, 2], expected TL_INT32 [1, 3]");
    ck_assert_ptr_null(tl_tensor_maxreduce(src, NULL, src, 0));
    ck_assert_str_eq(tl_last_error(), "'arg' is TL_FLOAT [2, 3], expected TL_INT32 [1, 3]");
    tl_tensor *const ints = nn_blank(&room, TL_INT32, 2, (int[]){1, 3});
    ck_assert_ptr_null(tl_tensor_maxreduce(ints, NULL, ints, 0));
    ck_assert_str_eq(tl_last_error(), "'arg' overlaps 'src' or 'dst', expected separate data");
    nn_close(&room);
}
END_TEST

LN_TEST_MAIN("argreduce", the_first_or_the_last_of_equal_elements_is_selected, a_nan_is_max_and_min,
             every_axis_and_type_agrees_with_loops,
             a_nan_is_found_at_each_index_of_one_line_or_many, threads_do_not_change_the_result,
             argreduce_rejects_bad_axes, maxreduce_finds_the_lowest_index_of_equal_maxima,
             maxreduce_propagates_a_nan_only_from_index_0,
             maxreduce_compares_unsigned_numbers_beyond_the_int_range,
             maxreduce_agrees_with_loops_on_every_axis_and_type, threads_do_not_change_maxreduce,
             maxreduce_rejects_bad_axes_and_indices)
