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

// How the elements of a line are arranged.
typedef enum arrangement {
    ANY,
    FEW_VALUES,
    ASCENDING,
    DESCENDING,
    EQUAL,
    BEST_AT_END,
    ARRANGEMENTS
} arrangement;

static double arranged(arrangement order, int i, int len)
{
    const double mixed = (double)(i * 7919LL % 10007 - 5000);
    const double values[ARRANGEMENTS] = {mixed, i * 31 % 7, i, len - i, 3, i >= len - 5 ? 4 : 3};
    return values[order];
}

static int is_before(double a, int i, double b, int j, int is_smallest)
{
    return (is_smallest ? a < b : a > b) || (a == b && i < j);
}

// The line at `at` is in order, and only its first elements precede the last one.
static void check_line(const tl_tensor *src, const tl_tensor *values, const tl_tensor *indices,
                       int *at, int axis, int is_smallest)
{
    const int k = values->dims[axis];
    double value = 0;
    int index = 0, before = 0;
    for (int p = 0; p < k; p++) {
        const double last = value;
        const int last_index = index;
        at[axis] = p;
        const size_t to = (size_t)tl_tensor_index(values, at);
        value = ordered_at(values, to);
        index = (int)nn_at(indices, to);
        ck_assert(p == 0 || is_before(last, last_index, value, index, is_smallest));
        at[axis] = index;
        ck_assert(ordered_at(src, (size_t)tl_tensor_index(src, at)) == value);
    }
    for (at[axis] = 0; at[axis] < src->dims[axis]; at[axis]++)
        before += is_before(ordered_at(src, (size_t)tl_tensor_index(src, at)), at[axis], value,
                            index, is_smallest);
    ck_assert_int_eq(before, k - 1);
}

static void check_arranged(tl_dtype dtype, const int *dims, int axis, int k, arrangement order)
{
    nn_room room = {0};
    tl_tensor *const src = nn_blank(&room, dtype, 3, dims);
    int new_dims[3] = {dims[0], dims[1], dims[2]}, at[3];
    new_dims[axis] = k;
    for (int i = 0; i < src->len; i++) {
        tl_tensor_coords(src, i, at);
        const double x = arranged(order, at[axis], dims[axis]);
        if (dtype == TL_FLOAT)
            ((float *)src->data)[i] = order == ANY && i % 97 == 5 ? NAN : (float)x;
        else
            ((int64_t *)src->data)[i] = (int64_t)(order == ANY ? x * 1e15 : x);
    }
    tl_tensor *const values = nn_blank(&room, dtype, 3, new_dims);
    tl_tensor *const indices = nn_blank(&room, TL_INT64, 3, new_dims);
    void *const scratch = malloc(tl_topk_scratch(src, axis, k, 1));
    NN_EACH_ISA(exec)
    for (int is_smallest = 0; is_smallest < 2; is_smallest++) {
        exec.scratch = scratch;
        exec.scratch_size = tl_topk_scratch(src, axis, k, 1);
        ck_assert_int_eq(tl_exec_topk(&exec, src, values, indices, axis, is_smallest), 0);
        for (int line = 0; line < values->len; line++) {
            tl_tensor_coords(values, line, at);
            if (at[axis] == 0)
                check_line(src, values, indices, at, axis, is_smallest);
        }
    }
    free(scratch);
    nn_close(&room);
}

START_TEST(lines_of_any_order_are_selected_by_every_instruction_set)
{
    // Lines alone and side by side, a few and whole vectors of them, short and long; a k that few
    // and many candidates precede.
    static const struct {
        int dims[3], axis, k;
    } rows[] = {
        {{1, 70, 8}, 2, 3},     {{1, 35, 64}, 2, 64},  {{2, 65, 37}, 1, 16},
        {{1, 1100, 9}, 1, 5},   {{2, 130, 37}, 1, 17}, {{1, 2000, 3}, 1, 2},
        {{1, 1, 65}, 2, 16},    {{1, 3, 128}, 2, 32},  {{1, 1, 1025}, 2, 60},
        {{1, 1, 9000}, 2, 100}, {{1, 2, 5000}, 2, 7},  {{1, 1, 9000}, 2, 2500},
    };
    for (size_t i = 0; i < NN_LEN(rows); i++)
        for (int order = 0; order < ARRANGEMENTS; order++) {
            check_arranged(TL_FLOAT, rows[i].dims, rows[i].axis, rows[i].k, (arrangement)order);
            check_arranged(TL_INT64, rows[i].dims, rows[i].axis, rows[i].k, (arrangement)order);
        }
}
END_TEST

// A model with open sizes plans memory for the largest ones.
START_TEST(fewer_and_shorter_lines_need_no_more_memory)
{
    static const int lens[] = {1, 2, 63, 64, 65, 300, 4096, 16384, 16385, 70000};
    for (size_t i = 1; i < NN_LEN(lens); i++)
        for (int inner = 1; inner < 40; inner += 3)
            for (int k = 1; k <= lens[i]; k += k / 2 + 1) {
                const tl_tensor most = {.ndim = 2, .dims = (int[]){lens[i], inner}};
                const tl_tensor shorter = {.ndim = 2, .dims = (int[]){lens[i - 1], inner}};
                const tl_tensor fewer = {.ndim = 2, .dims = (int[]){lens[i], 1}};
                const size_t size = tl_topk_scratch(&most, 0, k, 1);
                ck_assert(tl_topk_scratch(&shorter, 0, k, 1) <= size);
                ck_assert(tl_topk_scratch(&fewer, 0, k, 1) <= size);
                ck_assert(tl_topk_scratch(&most, 0, k - 1, 1) <= size);
            }
}
END_TEST

LN_TEST_MAIN("topk", equal_elements_keep_their_order_and_nan_is_max,
             every_axis_and_type_gives_the_ranks, few_and_many_of_long_lines_have_the_ranks,
             integers_of_all_bits_are_in_order,
             lines_of_any_order_are_selected_by_every_instruction_set,
             fewer_and_shorter_lines_need_no_more_memory,
             topk_rejects_more_elements_than_the_axis_has)
