// SPDX-License-Identifier: Apache-2.0
// Tests of determinants.

#include "kernel/tl_nn_test.h"

START_TEST(determinants_of_small_matrices)
{
    for (size_t k = 0; k < NN_LEN(nn_floats); k++) {
        nn_room room = {0};
        tl_tensor *const src = nn_given(&room, nn_floats[k], 3, (int[]){3, 2, 2},
                                        (double[]){1, 2, 3, 4, 0, 2, 3, 0, 1, 2, 2, 4});
        tl_tensor *const dst = tl_tensor_det(src, NULL);
        ck_assert(dst->ndim == 1 && dst->dims[0] == 3);
        const double expected[] = {-2, -6, 0};
        for (size_t i = 0; i < 3; i++)
            nn_check_near(dst, i, expected[i], 1e-15);
        tl_tensor_free_data_too(dst);
        nn_close(&room);
    }
}
END_TEST

START_TEST(a_permutation_has_its_sign_and_nothing_has_1)
{
    nn_room room = {0};
    tl_tensor *const src = nn_given(&room, TL_FLOAT, 2, (int[]){4, 4},
                                    (double[]){0, 0, 0, 2, 0, 3, 0, 0, 5, 0, 0, 0, 0, 0, 7, 0});
    tl_tensor *const dst = tl_tensor_det(src, NULL); // rows 4 2 1 3: two swaps
    ck_assert_int_eq(dst->ndim, 0);
    nn_check_values(dst, (double[]){210});
    tl_tensor *const nothing = nn_blank(&room, TL_FLOAT, 3, (int[]){2, 0, 0});
    tl_tensor *const ones = tl_tensor_det(nothing, NULL);
    nn_check_values(ones, (double[]){1, 1});
    tl_tensor_free_data_too(dst);
    tl_tensor_free_data_too(ones);
    nn_close(&room);
}
END_TEST

START_TEST(det_rejects_matrices_that_are_not_square)
{
    nn_room room = {0};
    ck_assert_ptr_null(tl_tensor_det(nn_blank(&room, TL_FLOAT, 2, (int[]){2, 3}), NULL));
    ck_assert_str_eq(tl_last_error(), "'src' has shape [2, 3], expected [.., n, n]");
    ck_assert_ptr_null(tl_tensor_det(nn_blank(&room, TL_INT32, 2, (int[]){2, 2}), NULL));
    tl_tensor *const src = nn_blank(&room, TL_FLOAT, 2, (int[]){2, 2});
    ck_assert_int_eq(tl_exec_det(NULL, src, nn_blank(&room, TL_FLOAT, 0, NULL)), -1);
    ck_assert_str_eq(tl_last_error(), "0 bytes of scratch memory, expected 32 for determinants");
    nn_close(&room);
}
END_TEST

LN_TEST_MAIN("det", determinants_of_small_matrices, a_permutation_has_its_sign_and_nothing_has_1,
             det_rejects_matrices_that_are_not_square)
