// SPDX-License-Identifier: Apache-2.0
// Tests of images made planes less a mean.

#include "kernel/tl_nn_test.h"

static const double mean[] = {1, 2, 3};

START_TEST(pixels_become_planes_less_their_mean)
{
    nn_room room = {0};
    tl_tensor *const src =
        nn_given(&room, TL_UINT8, 3, (int[]){1, 2, 3}, (double[]){10, 20, 30, 0, 0, 255});
    tl_tensor *const dst = tl_tensor_submean(src, NULL, mean);
    ck_assert(dst->dtype == TL_FLOAT && dst->dims[0] == 3 && dst->dims[1] == 1 &&
              dst->dims[2] == 2);
    nn_check_values(dst, (double[]){9, -1, 18, -2, 27, 252});
    tl_tensor_free_data_too(dst);
    nn_close(&room);
}
END_TEST

START_TEST(every_pair_of_types_converts_by_way_of_double)
{
    for (size_t i = 0; i < NN_LEN(nn_types); i++)
        for (size_t k = 0; k < NN_LEN(nn_types); k++) {
            if (nn_types[i] == TL_BOOL || nn_types[k] == TL_BOOL)
                continue;
            nn_room room = {.seed = 91};
            tl_tensor *const src = nn_random(&room, nn_types[i], 3, (int[]){7, 41, 3}, 0, 100);
            tl_tensor *const dst = nn_blank(&room, nn_types[k], 3, (int[]){3, 7, 41});
            ck_assert_ptr_eq(tl_tensor_submean(src, dst, mean), dst);
            for (int c = 0; c < 3; c++)
                for (int p = 0; p < 7 * 41; p++) {
                    const double value = nn_at(src, 3 * (size_t)p + (size_t)c) - mean[c];
                    unsigned char expected[TL_DTYPE_MAX_SIZE];
                    tl_convert(expected, nn_types[k], &value, TL_DOUBLE);
                    ck_assert_mem_eq(tl_pointer_add(dst->data, c * 7 * 41 + p, nn_types[k]),
                                     expected, tl_size_of(nn_types[k]));
                }
            nn_close(&room);
        }
}
END_TEST

static void run_submean(const tl_exec *exec, tl_tensor *dst, void *arg)
{
    tl_exec_submean(exec, arg, dst, mean);
}

START_TEST(threads_do_not_change_the_result)
{
    nn_room room = {.seed = 92};
    tl_tensor *const src = nn_random(&room, TL_UINT8, 3, (int[]){301, 299, 3}, 0, 255);
    nn_check_threads(run_submean, nn_blank(&room, TL_FLOAT, 3, (int[]){3, 301, 299}), src);
    nn_close(&room);
}
END_TEST

START_TEST(submean_rejects_bad_shapes_and_dtypes)
{
    nn_room room = {0};
    tl_tensor *const src = nn_blank(&room, TL_UINT8, 3, (int[]){2, 2, 3});
    tl_tensor *const four = nn_blank(&room, TL_UINT8, 3, (int[]){2, 2, 4});
    tl_tensor *const bools = nn_blank(&room, TL_BOOL, 3, (int[]){2, 2, 3});
    ck_assert_ptr_null(tl_tensor_submean(four, NULL, mean));
    ck_assert_str_eq(tl_last_error(), "'src' has shape [2, 2, 4], expected [H, W, 3]");
    ck_assert_ptr_null(tl_tensor_submean(bools, NULL, mean));
    ck_assert_str_eq(tl_last_error(), "'src' has dtype TL_BOOL, expected a number");
    ck_assert_ptr_null(tl_tensor_submean(src, bools, mean));
    ck_assert_str_eq(tl_last_error(), "'dst' has dtype TL_BOOL, expected a number");
    ck_assert_ptr_null(tl_tensor_submean(src, src, mean));
    ck_assert_str_eq(tl_last_error(), "'dst' overlaps a source, expected separate data");
    ck_assert_ptr_null(tl_tensor_submean(src, four, mean));
    ck_assert_str_eq(tl_last_error(), "'dst' is TL_UINT8 [2, 2, 4], expected TL_UINT8 [3, 2, 2]");
    ck_assert_ptr_null(tl_tensor_submean(src, NULL, NULL));
    ck_assert_str_eq(tl_last_error(), "'mean' is NULL, expected 3 numbers");
    nn_close(&room);
}
END_TEST

LN_TEST_MAIN("submean", pixels_become_planes_less_their_mean,
             every_pair_of_types_converts_by_way_of_double, threads_do_not_change_the_result,
             submean_rejects_bad_shapes_and_dtypes)
