// SPDX-License-Identifier: Apache-2.0
// Tests of sorting.

#include "kernel/tl_nn_test.h"

START_TEST(values_follow_their_keys_and_equal_keys_keep_their_order)
{
    static const struct {
        tl_sort_dir dir;
        double keys[4], vals[4];
    } cases[] = {
        {TL_SORT_DIR_DESCENDING, {0.9, 0.5, 0.5, 0.1}, {1, 0, 2, 3}},
        {TL_SORT_DIR_ASCENDING, {0.1, 0.5, 0.5, 0.9}, {3, 0, 2, 1}},
    };
    for (size_t i = 0; i < NN_LEN(cases); i++) {
        nn_room room = {0};
        const int len = 4;
        tl_tensor *const key = nn_given(&room, TL_FLOAT, 1, &len, (double[]){.5, .9, .5, .1});
        tl_tensor *const val = nn_given(&room, TL_INT32, 1, &len, (double[]){0, 1, 2, 3});
        ck_assert_int_eq(tl_tensor_sort1d_by_key(key, val, cases[i].dir), 0);
        nn_check_values(key, cases[i].keys);
        nn_check_values(val, cases[i].vals);
        nn_close(&room);
    }
}
END_TEST

START_TEST(nan_comes_last_in_both_directions)
{
    for (int dir = 0; dir < TL_SORT_DIR_SIZE; dir++) {
        nn_room room = {0};
        const int len = 5;
        const double up[] = {-INFINITY, 1, INFINITY, NAN, NAN};
        const double down[] = {INFINITY, 1, -INFINITY, NAN, NAN};
        tl_tensor *const key = nn_blank(&room, TL_DOUBLE, 1, &len);
        memcpy(key->data, (double[]){NAN, INFINITY, NAN, -INFINITY, 1}, sizeof(up));
        ck_assert_int_eq(tl_tensor_sort1d(key, (tl_sort_dir)dir), 0);
        nn_check_values(key, dir == TL_SORT_DIR_ASCENDING ? up : down);
        nn_close(&room);
    }
}
END_TEST

// Sorts `len` keys with few different values, and checks order and stability by their indices.
static void check_sort(tl_dtype dtype, tl_dtype val_dtype, int len, tl_sort_dir dir)
{
    nn_room room = {.seed = (uint64_t)len};
    tl_tensor *const key = nn_random(&room, dtype, 1, &len, -20, 20);
    tl_tensor *const val = nn_blank(&room, val_dtype, 1, &len);
    tl_tensor *const original = tl_tensor_clone(key);
    for (int i = 0; i < len; i++)
        tl_convert(tl_pointer_add(val->data, i, val_dtype), val_dtype, &i, TL_INT32);
    ck_assert_int_eq(tl_tensor_sort1d_by_key(key, val, dir), 0);
    for (int i = 0; i < len; i++) {
        const size_t index = (size_t)nn_at(val, (size_t)i);
        ck_assert(nn_at(key, (size_t)i) == nn_at(original, index));
        if (i == 0)
            continue;
        const double before = nn_at(key, (size_t)i - 1), after = nn_at(key, (size_t)i);
        ck_assert(dir == TL_SORT_DIR_ASCENDING ? before <= after : before >= after);
        ck_assert(before != after || nn_at(val, (size_t)i - 1) < nn_at(val, (size_t)i));
    }
    tl_tensor_free_data_too(original);
    nn_close(&room);
}

START_TEST(every_type_and_length_is_sorted_stably)
{
    static const int lens[] = {0, 1, 2, 15, 16, 17, 31, 32, 33, 48, 65, 997, 5000};
    for (size_t k = 0; k < NN_LEN(nn_types); k++)
        for (size_t i = 0; i < NN_LEN(lens); i++)
            for (int dir = 0; dir < TL_SORT_DIR_SIZE; dir++)
                check_sort(nn_types[k], TL_INT32, lens[i], (tl_sort_dir)dir);
}
END_TEST

START_TEST(values_may_be_narrower_or_wider_than_keys)
{
    check_sort(TL_UINT8, TL_DOUBLE, 999, TL_SORT_DIR_ASCENDING);
    check_sort(TL_DOUBLE, TL_UINT16, 999, TL_SORT_DIR_DESCENDING);
}
END_TEST

START_TEST(given_scratch_memory_is_enough_and_needed)
{
    nn_room room = {.seed = 71};
    const int len = 100;
    tl_tensor *const key = nn_random(&room, TL_UINT8, 1, &len, 0, 255);
    tl_tensor *const val = nn_random(&room, TL_DOUBLE, 1, &len, 0, 1);
    const int size = (int)tl_sort1d_scratch(key, val);
    ck_assert_int_eq(size, 100 * (4 + 4 + 8));
    tl_tensor *const scratch = nn_blank(&room, TL_UINT8, 1, &size);
    tl_exec exec = {.scratch = scratch->data, .scratch_size = (size_t)size};
    ck_assert_int_eq(tl_exec_sort1d_by_key(&exec, key, val, TL_SORT_DIR_ASCENDING), 0);
    ck_assert_int_eq(tl_exec_sort1d(&exec, key, TL_SORT_DIR_DESCENDING), 0);
    exec.scratch_size--;
    ck_assert_int_eq(tl_exec_sort1d_by_key(&exec, key, val, TL_SORT_DIR_ASCENDING), -1);
    ck_assert_str_eq(tl_last_error(), "1599 bytes of scratch memory, expected 1600 to sort");
    ck_assert_int_eq(tl_exec_sort1d(NULL, key, TL_SORT_DIR_ASCENDING), -1);
    ck_assert_str_eq(tl_last_error(), "0 bytes of scratch memory, expected 900 to sort");
    nn_close(&room);
}
END_TEST

START_TEST(sort1d_rejects_bad_keys_and_values)
{
    nn_room room = {0};
    tl_tensor *const key = nn_blank(&room, TL_UINT8, 1, (int[]){2});
    tl_tensor *const longer = nn_blank(&room, TL_INT32, 1, (int[]){3});
    tl_tensor *const square = nn_blank(&room, TL_INT32, 2, (int[]){1, 2});
    ck_assert_int_eq(tl_tensor_sort1d(NULL, TL_SORT_DIR_ASCENDING), -1);
    ck_assert_str_eq(tl_last_error(), "'key' is NULL, expected a tensor");
    ck_assert_int_eq(tl_tensor_sort1d(square, TL_SORT_DIR_ASCENDING), -1);
    ck_assert_str_eq(tl_last_error(), "'key' has shape [1, 2], expected 1 dimensions");
    ck_assert_int_eq(tl_tensor_sort1d(key, TL_SORT_DIR_SIZE), -1);
    ck_assert_str_eq(tl_last_error(), "sort direction 2, expected 0 to 1");
    ck_assert_int_eq(tl_tensor_sort1d_by_key(key, longer, TL_SORT_DIR_ASCENDING), -1);
    ck_assert_str_eq(tl_last_error(), "'val' has 3 elements, expected those of 'key', 2");
    ck_assert_int_eq(tl_tensor_sort1d_by_key(key, key, TL_SORT_DIR_ASCENDING), -1);
    ck_assert_str_eq(tl_last_error(), "'val' overlaps 'key', expected separate data");
    nn_close(&room);
}
END_TEST

LN_TEST_MAIN("sort1d", values_follow_their_keys_and_equal_keys_keep_their_order,
             nan_comes_last_in_both_directions, every_type_and_length_is_sorted_stably,
             values_may_be_narrower_or_wider_than_keys, given_scratch_memory_is_enough_and_needed,
             sort1d_rejects_bad_keys_and_values)
