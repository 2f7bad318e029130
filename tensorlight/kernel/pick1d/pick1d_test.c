// SPDX-License-Identifier: Apache-2.0
// Tests of picking groups by index.

#include "kernel/tl_nn_test.h"

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

START_TEST(an_index_outside_is_an_error_and_leaves_dst)
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

typedef struct threads_arg {
    const tl_tensor *src, *index;
} threads_arg;

static void run_pick1d(const tl_exec *exec, tl_tensor *dst, void *arg)
{
    const threads_arg *const a = arg;
    tl_exec_pick1d(exec, a->src, a->index, dst, 3, 100003);
}

START_TEST(threads_do_not_change_the_result)
{
    nn_room room = {.seed = 81};
    threads_arg arg = {nn_random(&room, TL_INT16, 1, (int[]){30}, -99, 99),
                       nn_random(&room, TL_INT32, 1, (int[]){100003}, 0, 9.99)};
    nn_check_threads(run_pick1d, nn_blank(&room, TL_INT16, 1, (int[]){300009}), &arg);
    nn_close(&room);
}
END_TEST

START_TEST(what_does_not_fit_is_refused)
{
    static const struct {
        int src, index;
        tl_dtype index_dtype;
        int stride, len;
        const char *reason;
    } refusals[] = {
        {5, 2, TL_INT32, 2, 2, "'src' has 5 elements, expected a multiple of 'stride', 2"},
        {6, 2, TL_INT64, 2, 2, "'index' has dtype TL_INT64, expected TL_INT32"},
        {6, 2, TL_INT32, 2, 3, "'len' is 3, expected at most the 2 elements of 'index'"},
        {6, 2, TL_INT32, 0, 2, "'stride' is 0, expected at least 1"},
        {6, 2, TL_INT32, 2, 0, "'len' is 0, expected at least 1"},
        {0, 2, TL_INT32, 2000000000, 2,
         "2 groups of 2000000000 elements, expected at most 2147483647 elements"},
        {0, 2, TL_INT32, 1, 1, "index 0 at position 0, expected 0 to -1"},
    };
    for (size_t i = 0; i < NN_LEN(refusals); i++) {
        tl_tensor *const src = tl_tensor_zeros(1, &refusals[i].src, TL_FLOAT);
        tl_tensor *const index = tl_tensor_zeros(1, &refusals[i].index, refusals[i].index_dtype);
        ck_assert_ptr_null(tl_tensor_pick1d(src, index, NULL, refusals[i].stride, refusals[i].len));
        ck_assert_str_eq(tl_last_error(), refusals[i].reason);
        tl_tensor_free_data_too(src);
        tl_tensor_free_data_too(index);
    }
}
END_TEST

LN_TEST_MAIN("pick1d", groups_are_picked_in_every_type, an_index_outside_is_an_error_and_leaves_dst,
             threads_do_not_change_the_result, what_does_not_fit_is_refused)
