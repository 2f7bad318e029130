// SPDX-License-Identifier: Apache-2.0
// Tests of distances between points.

#include "kernel/tl_nn_test.h"

START_TEST(distances_by_hand)
{
    for (size_t k = 0; k < NN_LEN(nn_floats); k++) {
        nn_room room = {0};
        tl_tensor *const rows =
            nn_given(&room, nn_floats[k], 2, (int[]){2, 2}, (double[]){0, 0, 3, 4});
        tl_tensor *const columns =
            nn_given(&room, nn_floats[k], 2, (int[]){2, 3}, (double[]){3, 0, 6, 4, 8, 8});
        tl_tensor *const roots = tl_tensor_distance(rows, columns, NULL, 0);
        nn_check_values(roots, (double[]){5, 8, 10, 0, 5, 5});
        tl_tensor *const squares = tl_tensor_distance(rows, columns, NULL, 1);
        nn_check_values(squares, (double[]){25, 64, 100, 0, 25, 25});
        tl_tensor_free_data_too(roots);
        tl_tensor_free_data_too(squares);
        nn_close(&room);
    }
}
END_TEST

START_TEST(random_points_agree_with_double)
{
    static const int sizes[][3] = {{1, 1, 1}, {3, 7, 255}, {2, 5, 256}, {2, 33, 257}, {7, 0, 5}};
    for (size_t s = 0; s < NN_LEN(sizes); s++)
        for (size_t k = 0; k < NN_LEN(nn_floats); k++) {
            nn_room room = {.seed = 5};
            const int m = sizes[s][0], d = sizes[s][1], n = sizes[s][2];
            tl_tensor *const rows = nn_random(&room, nn_floats[k], 2, (int[]){m, d}, -1, 1);
            tl_tensor *const columns = nn_random(&room, nn_floats[k], 2, (int[]){d, n}, -1, 1);
            tl_tensor *const dst = nn_blank(&room, nn_floats[k], 2, (int[]){m, n});
            ck_assert_ptr_eq(tl_tensor_distance(rows, columns, dst, 1), dst);
            for (int i = 0; i < dst->len; i++) {
                double sum = 0;
                for (int c = 0; c < d; c++)
                    sum += pow(nn_at(rows, (size_t)(i / n * d + c)) -
                                   nn_at(columns, (size_t)(c * n + i % n)),
                               2);
                nn_check_near(dst, (size_t)i, sum, nn_tolerance(nn_floats[k], d + 3, sum, sum));
            }
            nn_close(&room);
        }
}
END_TEST

static void run_distance(const tl_exec *exec, tl_tensor *dst, void *arg)
{
    tl_tensor *const *const srcs = arg;
    ck_assert_int_eq(tl_exec_distance(exec, srcs[0], srcs[1], dst, 0), 0);
}

START_TEST(threads_give_the_same_bits)
{
    nn_room room = {.seed = 6};
    tl_tensor *const srcs[] = {nn_random(&room, TL_FLOAT, 2, (int[]){50, 20}, -1, 1),
                               nn_random(&room, TL_FLOAT, 2, (int[]){20, 700}, -1, 1)};
    nn_check_threads(run_distance, nn_blank(&room, TL_FLOAT, 2, (int[]){50, 700}), (void *)srcs);
    nn_close(&room);
}
END_TEST

START_TEST(distance_rejects_points_of_other_spaces)
{
    nn_room room = {0};
    tl_tensor *const rows = nn_blank(&room, TL_FLOAT, 2, (int[]){2, 3});
    ck_assert_ptr_null(tl_tensor_distance(rows, rows, NULL, 0));
    ck_assert_str_eq(
        tl_last_error(),
        "'src1' has rows of 3 elements and 'src2' columns of 2, expected equal lengths");
    nn_close(&room);
}
END_TEST

LN_TEST_MAIN("distance", distances_by_hand, random_points_agree_with_double,
             threads_give_the_same_bits, distance_rejects_points_of_other_spaces)
