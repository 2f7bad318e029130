// SPDX-License-Identifier: Apache-2.0
// Tests of the reductions.

#include "kernel/tl_nn_test.h"

START_TEST(every_operation_gives_its_number)
{
    // Of 3, -4, 1: computed by hand.
    static const struct {
        tl_reduce_op op;
        double result, integer;
    } rows[] = {
        {TL_REDUCE_SUM, 0, 0},
        {TL_REDUCE_MEAN, 0, 0},
        {TL_REDUCE_PROD, -12, -12},
        {TL_REDUCE_MAX, 3, 3},
        {TL_REDUCE_MIN, -4, -4},
        {TL_REDUCE_L1, 8, 8},
        {TL_REDUCE_L2, 5.0990195135927845, 5},
        {TL_REDUCE_SUM_SQUARE, 26, 26},
        {TL_REDUCE_LOG_SUM, -INFINITY, INT32_MIN},
        {TL_REDUCE_LOG_SUM_EXP, 3.127730871634859, 3},
    };
    for (size_t i = 0; i < NN_LEN(rows); i++) {
        nn_room room = {0};
        const double values[] = {3, -4, 1};
        tl_tensor *const real = nn_given(&room, TL_DOUBLE, 1, (int[]){3}, values);
        tl_tensor *const whole = nn_given(&room, TL_INT32, 1, (int[]){3}, values);
        tl_tensor *const a = tl_tensor_reduce(real, NULL, rows[i].op, (int[]){0}, 1, 0);
        tl_tensor *const b = tl_tensor_reduce(whole, NULL, rows[i].op, (int[]){0}, 1, 1);
        ck_assert(a->ndim == 0 && b->ndim == 1 && b->dims[0] == 1);
        nn_check_near(a, 0, rows[i].result, 1e-15);
        nn_check_near(b, 0, rows[i].integer, 0);
        tl_tensor_free_data_too(a);
        tl_tensor_free_data_too(b);
        nn_close(&room);
    }
}
END_TEST

// Whether elements of the type can be reduced so, which tl_reduce_check must know.
static int takes(tl_reduce_op op, tl_dtype dtype)
{
    const int takes = dtype != TL_BOOL || op == TL_REDUCE_MAX || op == TL_REDUCE_MIN;
    ck_assert_int_eq(tl_reduce_check(op, dtype), takes ? 0 : -1);
    return takes;
}

START_TEST(empty_input_gives_the_neutral_element)
{
    static const struct {
        tl_dtype dtype;
        double results[TL_REDUCE_OP_SIZE];
    } rows[] = {
        {TL_FLOAT, {0, NAN, 1, -INFINITY, INFINITY, 0, 0, 0, -INFINITY, -INFINITY}},
        {TL_INT8, {0, 0, 1, -128, 127, 0, 0, 0, -128, -128}},
        {TL_UINT64, {0, 0, 1, 0, 0x1p64, 0, 0, 0, 0, 0}},
        {TL_BOOL, {[TL_REDUCE_MAX] = 0, [TL_REDUCE_MIN] = 1}},
    };
    for (size_t i = 0; i < NN_LEN(rows); i++)
        for (int op = 0; op < TL_REDUCE_OP_SIZE; op++) {
            if (!takes((tl_reduce_op)op, rows[i].dtype))
                continue;
            nn_room room = {0};
            tl_tensor *const src = nn_blank(&room, rows[i].dtype, 3, (int[]){2, 0, 3});
            tl_tensor *const dst = nn_blank(&room, rows[i].dtype, 2, (int[]){2, 3});
            ck_assert_ptr_eq(tl_tensor_reduce(src, dst, (tl_reduce_op)op, (int[]){1}, 1, 0), dst);
            for (size_t k = 0; k < 6; k++)
                nn_check_near(dst, k, rows[i].results[op], 0);
            tl_tensor *const none = tl_tensor_reduce(src, NULL, (tl_reduce_op)op, (int[]){0}, 1, 1);
            ck_assert_int_eq(none->len, 0);
            tl_tensor_free_data_too(none);
            nn_close(&room);
        }
}
END_TEST

START_TEST(a_nan_propagates_from_any_index)
{
    for (int at = 0; at < 37; at++)
        for (int op = 0; op < TL_REDUCE_OP_SIZE; op++) {
            nn_room room = {.seed = 3};
            tl_tensor *const src = nn_random(&room, TL_FLOAT, 2, (int[]){37, 2}, 1, 2);
            ((float *)src->data)[at * 2] = NAN;
            tl_tensor *const dst = nn_blank(&room, TL_FLOAT, 1, (int[]){2});
            ck_assert_ptr_eq(tl_tensor_reduce(src, dst, (tl_reduce_op)op, (int[]){0}, 1, 0), dst);
            ck_assert(isnan(nn_at(dst, 0)) && !isnan(nn_at(dst, 1)));
            tl_tensor *const all = nn_blank(&room, TL_FLOAT, 0, NULL);
            tl_tensor_reduce(src, all, (tl_reduce_op)op, (int[]){0, 1}, 2, 0);
            ck_assert(isnan(nn_at(all, 0)));
            nn_close(&room);
        }
}
END_TEST

START_TEST(large_exponents_do_not_overflow)
{
    nn_room room = {0};
    tl_tensor *const src = nn_given(&room, TL_FLOAT, 2, (int[]){3, 2},
                                    (double[]){1000, 1000, -INFINITY, -INFINITY, INFINITY, 0});
    tl_tensor *const dst = tl_tensor_reduce(src, NULL, TL_REDUCE_LOG_SUM_EXP, (int[]){1}, 1, 0);
    nn_check_values(dst, (double[]){1000.69314718056, -INFINITY, INFINITY});
    tl_tensor_free_data_too(dst);
    nn_close(&room);
}
END_TEST

START_TEST(floats_sum_in_double)
{
    nn_room room = {0}; // in float 1e8 + 1 is 1e8
    tl_tensor *const src = nn_given(&room, TL_FLOAT, 2, (int[]){3, 1}, (double[]){1e8, 1, -1e8});
    tl_tensor *const dst = tl_tensor_reduce(src, NULL, TL_REDUCE_SUM, (int[]){0}, 1, 0);
    nn_check_values(dst, (double[]){1});
    tl_tensor_free_data_too(dst);
    nn_close(&room);
}
END_TEST

// Against loops

// The operation on `n` numbers in double.
static double expect(tl_reduce_op op, const double *x, int n)
{
    double sum = 0, prod = 1, max = -INFINITY, min = INFINITY, l1 = 0, square = 0, exps = 0;
    for (int i = 0; i < n; i++) {
        sum += x[i];
        prod *= x[i];
        max = x[i] > max ? x[i] : max;
        min = x[i] < min ? x[i] : min;
        l1 += fabs(x[i]);
        square += x[i] * x[i];
        exps += exp(x[i]);
    }
    const double results[] = {sum, sum / n,      prod,   max,      min,
                              l1,  sqrt(square), square, log(sum), log(exps)};
    return results[op];
}

// Reduces `src` along the axes of `mask` and compares each result.
static void check_mask(nn_room *room, tl_dtype dtype, const tl_tensor *src, unsigned mask,
                       tl_reduce_op op)
{
    static double elements[4096];
    int axes[TL_MAXDIM], dims[TL_MAXDIM], n_axes = 0;
    for (int i = src->ndim - 1; i >= 0; i--) // in any order
        if (mask & 1u << i)
            axes[n_axes++] = i;
    const int ndim = tl_reduce_dims(src, axes, n_axes, 1, dims);
    tl_tensor *const dst = nn_blank(room, dtype, ndim, dims);
    ck_assert_ptr_eq(tl_tensor_reduce(src, dst, op, axes, n_axes, 1), dst);
    tl_tensor *const same = nn_blank(room, dtype, ndim, dims);
    NN_EACH_ISA(exec)
    {
        tl_exec_reduce(&exec, src, same, op, axes, n_axes);
        ck_assert_int_eq(memcmp(same->data, dst->data, tl_tensor_size(dst)), 0);
    }
    for (int k = 0; k < dst->len; k++) {
        int coords[TL_MAXDIM], at[TL_MAXDIM], n = 0;
        tl_tensor_coords(dst, k, coords);
        for (int i = 0; i < src->len; i++) {
            int is_part = 1;
            tl_tensor_coords(src, i, at);
            for (int d = 0; d < src->ndim; d++)
                is_part &= (mask & 1u << d) || at[d] == coords[d];
            if (is_part)
                elements[n++] = nn_at(src, (size_t)i);
        }
        double expected = expect(op, elements, n);
        if (!tl_dtype_is_float(dtype))
            expected = trunc(expected + (op == TL_REDUCE_LOG_SUM_EXP ? 1e-9 : 0));
        nn_check_near(dst, (size_t)k, expected,
                      tl_dtype_is_float(dtype)
                          ? nn_tolerance(dtype, n + 2, fabs(expected) + 1, expected)
                          : 0);
    }
}

START_TEST(every_set_of_axes_agrees_with_loops)
{
    static const int shapes[][4] = {{2, 3, 1, 4}, {3, 1, 2, 67}, {65, 2, 2, 1}, {2, 35, 2, 3}};
    for (size_t s = 0; s < NN_LEN(shapes); s++)
        for (size_t k = 0; k < NN_LEN(nn_types); k++)
            for (unsigned mask = 0; mask < 16; mask++)
                for (int op = 0; op < TL_REDUCE_OP_SIZE; op++) {
                    const tl_reduce_op reduce = (tl_reduce_op)op;
                    if (!takes(reduce, nn_types[k]) || (op == TL_REDUCE_PROD && s > 0) ||
                        (nn_types[k] != TL_FLOAT && (mask + s + (unsigned)op) % 3 > 0))
                        continue;
                    nn_room room = {.seed = 7 + mask};
                    tl_tensor *const src = nn_random(&room, nn_types[k], 4, shapes[s], 0.5, 2);
                    if (nn_types[k] == TL_INT8 || nn_types[k] == TL_UINT8)
                        memset(src->data, 0, tl_tensor_size(src)); // sums stay small
                    if (op != TL_REDUCE_LOG_SUM || tl_dtype_is_float(nn_types[k]))
                        check_mask(&room, nn_types[k], src, mask, reduce);
                    nn_close(&room);
                }
}
END_TEST

// Lines along the last axis, of all lengths around vectors; a NaN in one of them.
static void check_lines(int rows, int len, tl_reduce_op op, tl_dtype dtype)
{
    nn_room room = {.seed = 91 + len};
    const int is_float = tl_dtype_is_float(dtype);
    tl_tensor *const src = nn_random(&room, dtype, 2, (int[]){rows, len}, is_float ? -2 : 0, 2);
    tl_tensor *const dst = nn_blank(&room, dtype, 1, (int[]){rows});
    const int bad = is_float ? len * (rows / 2) + len / 3 : -1;
    if (dtype == TL_FLOAT)
        ((float *)src->data)[bad] = NAN;
    NN_EACH_ISA(exec)
    {
        tl_exec_reduce(&exec, src, dst, op, (int[]){1}, 1);
        for (int r = 0; r < rows; r++) {
            double elements[300];
            for (int i = 0; i < len; i++)
                elements[i] = nn_at(src, (size_t)r * len + i);
            if (dtype == TL_FLOAT && r == rows / 2)
                ck_assert(isnan(nn_at(dst, (size_t)r)));
            else
                nn_check_near(dst, (size_t)r, expect(op, elements, len),
                              is_float ? nn_tolerance(dtype, len, 4, 4 * len) : 0);
        }
    }
    nn_close(&room);
}

START_TEST(lines_of_each_length_agree_with_loops)
{
    static const int lens[] = {2, 3, 4, 7, 8, 9, 15, 16, 17, 31, 33, 63, 64, 65, 80, 131, 257};
    static const tl_reduce_op ops[] = {TL_REDUCE_SUM, TL_REDUCE_MAX, TL_REDUCE_MIN,
                                       TL_REDUCE_L1,  TL_REDUCE_L2,  TL_REDUCE_SUM_SQUARE};
    for (size_t i = 0; i < NN_LEN(lens); i++)
        for (size_t op = 0; op < NN_LEN(ops); op++)
            for (int rows = 1; rows < 40; rows += 6) {
                check_lines(rows, lens[i], ops[op], TL_FLOAT);
                check_lines(rows, lens[i], ops[op], TL_DOUBLE);
                if (ops[op] != TL_REDUCE_L2)
                    check_lines(rows, lens[i], ops[op], TL_INT64);
            }
}
END_TEST

START_TEST(integers_wrap_and_means_round_toward_zero)
{
    nn_room room = {0};
    tl_tensor *const src = nn_given(&room, TL_INT8, 1, (int[]){3}, (double[]){-100, -100, 1});
    tl_tensor *const dst = nn_blank(&room, TL_INT8, 1, (int[]){1});
    tl_tensor_reduce(src, dst, TL_REDUCE_SUM, (int[]){0}, 1, 1);
    nn_check_values(dst, (double[]){57});
    tl_tensor_reduce(src, dst, TL_REDUCE_MEAN, (int[]){0}, 1, 1);
    nn_check_values(dst, (double[]){-66});
    tl_tensor_reduce(src, dst, TL_REDUCE_L1, (int[]){0}, 1, 1);
    nn_check_values(dst, (double[]){-55});
    nn_close(&room);
}
END_TEST

static void run_reduce(const tl_exec *exec, tl_tensor *dst, void *arg)
{
    tl_exec_reduce(exec, arg, dst, TL_REDUCE_SUM, (int[]){1}, 1);
}

START_TEST(threads_do_not_change_the_result)
{
    nn_room room = {.seed = 52};
    tl_tensor *const src = nn_random(&room, TL_FLOAT, 3, (int[]){7, 9, 4999}, -1, 1);
    nn_check_threads(run_reduce, nn_blank(&room, TL_FLOAT, 3, (int[]){7, 1, 4999}), src);
    nn_close(&room);
}
END_TEST

START_TEST(reduce_rejects_bad_axes_and_dtypes)
{
    nn_room room = {0};
    tl_tensor *const src = nn_blank(&room, TL_FLOAT, 2, (int[]){2, 3});
    tl_tensor *const bools = nn_blank(&room, TL_BOOL, 1, (int[]){2});
    ck_assert_ptr_null(tl_tensor_reduce(src, NULL, TL_REDUCE_SUM, (int[]){2}, 1, 1));
    ck_assert_str_eq(tl_last_error(), "axis 2, expected 0 to 1");
    ck_assert_ptr_null(tl_tensor_reduce(src, NULL, TL_REDUCE_SUM, (int[]){1, 1}, 2, 1));
    ck_assert_str_eq(tl_last_error(), "axis 1 occurs twice");
    ck_assert_ptr_null(tl_tensor_reduce(bools, NULL, TL_REDUCE_SUM, NULL, 0, 1));
    ck_assert_str_eq(tl_last_error(),
                     "'src' has type TL_BOOL, expected a number type for TL_REDUCE_SUM");
    ck_assert_ptr_null(tl_tensor_reduce(src, NULL, TL_REDUCE_OP_SIZE, NULL, 0, 1));
    ck_assert_str_eq(tl_last_error(), "reduce op 10, expected 0 to 9");
    ck_assert_int_eq(tl_reduce_op_from_str("TL_REDUCE_L2"), TL_REDUCE_L2);
    ck_assert_int_eq(tl_reduce_op_from_str("L2"), TL_REDUCE_OP_INVALID);
    ck_assert_str_eq(tl_reduce_op_name(TL_REDUCE_LOG_SUM_EXP), "TL_REDUCE_LOG_SUM_EXP");
    ck_assert_ptr_null(tl_reduce_op_name(TL_REDUCE_OP_SIZE));
    nn_close(&room);
}
END_TEST

LN_TEST_MAIN("reduce", every_operation_gives_its_number, empty_input_gives_the_neutral_element,
             a_nan_propagates_from_any_index, large_exponents_do_not_overflow, floats_sum_in_double,
             every_set_of_axes_agrees_with_loops, lines_of_each_length_agree_with_loops,
             integers_wrap_and_means_round_toward_zero, threads_do_not_change_the_result,
             reduce_rejects_bad_axes_and_dtypes)
