// SPDX-License-Identifier: Apache-2.0
// Tests of local response normalization.

#include "kernel/tl_nn_test.h"

START_TEST(neighbouring_channels_count)
{
    // Squares 1 4 9 16; of two channels each and the next: 5 13 25 16; factor 2 / 2.
    for (size_t k = 0; k < NN_LEN(nn_floats); k++) {
        nn_room room = {0};
        tl_tensor *const src =
            nn_given(&room, nn_floats[k], 3, (int[]){1, 4, 1}, (double[]){1, 2, 3, 4});
        const tl_lrn_param param = {.size = 2, .alpha = 2, .beta = 1, .bias = 3};
        tl_tensor *const dst = tl_tensor_lrn(src, NULL, &param);
        nn_check_values(dst, (double[]){1.0 / 8, 2.0 / 16, 3.0 / 28, 4.0 / 19});
        tl_tensor_free_data_too(dst);
        nn_close(&room);
    }
}
END_TEST

START_TEST(random_numbers_agree_with_double)
{
    for (int size = 1; size < 9; size++)
        for (size_t k = 0; k < NN_LEN(nn_floats); k++) {
            nn_room room = {.seed = 4};
            const int dims[] = {2, 5, 3, 101};
            tl_tensor *const src = nn_random(&room, nn_floats[k], 4, dims, -1, 1);
            tl_tensor *const dst = nn_blank(&room, nn_floats[k], 4, dims);
            const tl_lrn_param param = {.size = size, .alpha = 0.5, .beta = 0.75, .bias = 1.25};
            ck_assert_ptr_eq(tl_tensor_lrn(src, dst, &param), dst);
            for (int i = 0; i < src->len; i++) {
                const int c = i / 303 % 5, first = i - c * 303;
                double sum = 0;
                for (int j = c - (size - 1) / 2; j <= c + size / 2; j++)
                    if (j >= 0 && j < 5)
                        sum += pow(nn_at(src, (size_t)(first + j * 303)), 2);
                const double expected = nn_at(src, (size_t)i) / pow(1.25 + 0.5 / size * sum, 0.75);
                nn_check_near(dst, (size_t)i, expected,
                              nn_tolerance(nn_floats[k], 12, 1, expected));
            }
            nn_close(&room);
        }
}
END_TEST

START_TEST(lrn_rejects_too_few_dimensions)
{
    nn_room room = {0};
    tl_tensor *const src = nn_blank(&room, TL_FLOAT, 1, (int[]){2});
    ck_assert_ptr_null(tl_tensor_lrn(src, NULL, &(tl_lrn_param){.size = 1}));
    ck_assert_str_eq(tl_last_error(), "'src' has shape [2], expected [N, C, ..]");
    nn_close(&room);
}
END_TEST

LN_TEST_MAIN("lrn", neighbouring_channels_count, random_numbers_agree_with_double,
             lrn_rejects_too_few_dimensions)
