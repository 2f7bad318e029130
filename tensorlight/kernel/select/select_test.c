// SPDX-License-Identifier: Apache-2.0
// Tests of selections: what is not 0, what a condition holds for, what is different.

#include "kernel/tl_nn_test.h"
#include "tensorlight/tl_shape.h"

START_TEST(the_coordinates_of_all_but_zeros_come_out)
{
    for (size_t k = 0; k < NN_LEN(nn_types); k++) {
        nn_room room = {0};
        tl_tensor *const src =
            nn_given(&room, nn_types[k], 2, (int[]){2, 3}, (double[]){1, 0, 3, -0.0, 0, 1});
        tl_tensor *const dst = nn_blank(&room, TL_INT64, 2, (int[]){2, 6});
        int n = -1;
        ck_assert_int_eq(tl_exec_nonzero(NULL, src, dst, &n), 0);
        ck_assert_int_eq(n, 3);
        const int64_t expected[] = {0, 0, 1, 0, 2, 2};
        ck_assert_mem_eq(dst->data, expected, sizeof expected);
        nn_close(&room);
    }
}
END_TEST

START_TEST(nothing_is_not_zero_in_zeros)
{
    nn_room room = {0};
    tl_tensor *const src = nn_given(&room, TL_FLOAT, 1, (int[]){2}, (double[]){0, 0});
    tl_tensor *const dst = nn_blank(&room, TL_INT64, 2, (int[]){1, 2});
    tl_tensor *const empty = nn_blank(&room, TL_FLOAT, 2, (int[]){0, 2});
    int n = -1;
    ck_assert_int_eq(tl_exec_nonzero(NULL, src, dst, &n), 0);
    ck_assert_int_eq(n, 0);
    ck_assert_int_eq(tl_exec_nonzero(NULL, empty, dst, &n), 0);
    ck_assert_int_eq(n, 0);
    nn_close(&room);
}
END_TEST

START_TEST(a_condition_keeps_slices)
{
    nn_room room = {0};
    tl_tensor *const src =
        nn_given(&room, TL_INT16, 2, (int[]){2, 3}, (double[]){1, 2, 3, 4, 5, 6});
    tl_tensor *const dst = nn_blank(&room, TL_INT16, 2, (int[]){2, 3});
    tl_tensor *const which = nn_given(&room, TL_BOOL, 1, (int[]){3}, (double[]){1, 0, 1});
    int n = -1;
    ck_assert_int_eq(tl_exec_compress(NULL, src, which, dst, 1, &n), 0);
    ck_assert_int_eq(n, 2);
    const int16_t cols[] = {1, 3, 4, 6};
    ck_assert_mem_eq(dst->data, cols, sizeof cols);
    tl_tensor *const second = nn_given(&room, TL_BOOL, 1, (int[]){2}, (double[]){0, 1});
    ck_assert_int_eq(tl_exec_compress(NULL, src, second, dst, 0, &n), 0);
    ck_assert_int_eq(n, 1);
    const int16_t row[] = {4, 5, 6};
    ck_assert_mem_eq(dst->data, row, sizeof row);
    nn_close(&room);
}
END_TEST

// The results of tl_exec_unique on `src` along `axis`, which has `n` different slices.
static tl_unique find_unique(nn_room *room, const tl_tensor *src, int axis, int sorted, int n)
{
    const int len = src->dims[axis];
    const tl_unique to = {nn_blank(room, src->dtype, src->ndim, src->dims),
                          nn_blank(room, TL_INT64, 1, &len), nn_blank(room, TL_INT64, 1, &len),
                          nn_blank(room, TL_INT64, 1, &len)};
    tl_exec exec = {.scratch_size = tl_unique_scratch(src, axis), .isa = tl_isa_best()};
    ln_guard guard;
    exec.scratch = ln_guard_alloc(&guard, exec.scratch_size);
    int count = -1;
    ck_assert_int_eq(tl_exec_unique(&exec, src, &to, axis, sorted, &count), 0);
    ck_assert_int_eq(count, n);
    ck_assert(ln_guard_is_intact(&guard));
    ln_guard_free(&guard);
    return to;
}

static void check_front(const tl_tensor *t, int n, const double *expected)
{
    for (int i = 0; i < n; i++)
        nn_check_near(t, (size_t)i, expected[i], 0);
}

START_TEST(different_numbers_are_found_in_every_type)
{
    for (size_t k = 0; k < NN_LEN(nn_types); k++) {
        if (nn_types[k] == TL_BOOL)
            continue;
        nn_room room = {0};
        tl_tensor *const src =
            nn_given(&room, nn_types[k], 1, (int[]){6}, (double[]){2, 1, 1, 3, 4, 3});
        tl_unique to = find_unique(&room, src, 0, 1, 4);
        check_front(to.dst, 4, (double[]){1, 2, 3, 4});
        check_front(to.first, 4, (double[]){1, 0, 3, 4});
        check_front(to.inverse, 6, (double[]){1, 0, 0, 2, 3, 2});
        check_front(to.counts, 4, (double[]){2, 1, 2, 1});
        to = find_unique(&room, src, 0, 0, 4);
        check_front(to.dst, 4, (double[]){2, 1, 3, 4});
        check_front(to.first, 4, (double[]){0, 1, 3, 4});
        check_front(to.inverse, 6, (double[]){0, 1, 1, 2, 3, 2});
        check_front(to.counts, 4, (double[]){1, 2, 2, 1});
        nn_close(&room);
    }
}
END_TEST

START_TEST(different_columns_are_found)
{
    nn_room room = {0};
    tl_tensor *const src =
        nn_given(&room, TL_FLOAT, 2, (int[]){2, 4}, (double[]){1, 0, 1, 0, 5, 2, 4, 2});
    const tl_unique to = find_unique(&room, src, 1, 1, 3);
    check_front(to.dst, 6, (double[]){0, 1, 1, 2, 4, 5});
    check_front(to.inverse, 4, (double[]){2, 0, 1, 0});
    check_front(to.counts, 3, (double[]){2, 1, 1});
    nn_close(&room);
}
END_TEST

START_TEST(nans_are_equal_and_sorted_last)
{
    nn_room room = {0};
    tl_tensor *const src =
        nn_given(&room, TL_DOUBLE, 1, (int[]){5}, (double[]){NAN, INFINITY, -0.0, NAN, 0});
    const tl_unique to = find_unique(&room, src, 0, 1, 3);
    check_front(to.dst, 3, (double[]){0, INFINITY, NAN});
    check_front(to.counts, 3, (double[]){2, 1, 2});
    nn_close(&room);
}
END_TEST

START_TEST(nothing_is_different_in_nothing)
{
    nn_room room = {0};
    tl_tensor *const src = nn_blank(&room, TL_FLOAT, 1, (int[]){0});
    int n = -1;
    ck_assert_int_eq(tl_exec_unique(NULL, src, &(tl_unique){.dst = src}, 0, 1, &n), 0);
    ck_assert_int_eq(n, 0);
    tl_tensor *const one = nn_random(&room, TL_FLOAT, 1, (int[]){1}, 0, 1); // needs scratch memory
    ck_assert_int_eq(tl_exec_unique(NULL, one, &(tl_unique){.dst = one}, 0, 1, &n), -1);
    ck_assert_ptr_nonnull(strstr(tl_last_error(), "0 bytes of scratch memory, expected "));
    nn_close(&room);
}
END_TEST

START_TEST(many_numbers_agree_with_counting)
{
    enum { LEN = 1009, MAX = 50 };
    nn_room room = {.seed = 6};
    tl_tensor *const src = nn_random(&room, TL_UINT8, 1, (int[]){LEN}, 0, MAX - 0.01);
    int counts[MAX] = {0}, n = 0;
    double expected[MAX];
    for (int i = 0; i < LEN; i++)
        counts[((uint8_t *)src->data)[i]]++;
    for (int i = 0; i < MAX; i++)
        if (counts[i])
            expected[n++] = i;
    const tl_unique to = find_unique(&room, src, 0, 1, n);
    check_front(to.dst, n, expected);
    for (int i = 0; i < n; i++)
        nn_check_near(to.counts, (size_t)i, counts[(int)expected[i]], 0);
    nn_close(&room);
}
END_TEST

LN_TEST_MAIN("select", the_coordinates_of_all_but_zeros_come_out, nothing_is_not_zero_in_zeros,
             a_condition_keeps_slices, different_numbers_are_found_in_every_type,
             different_columns_are_found, nans_are_equal_and_sorted_last,
             nothing_is_different_in_nothing, many_numbers_agree_with_counting)
