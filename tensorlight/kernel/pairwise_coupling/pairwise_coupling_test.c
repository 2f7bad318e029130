// SPDX-License-Identifier: Apache-2.0
// Tests of pairwise coupling.

#include <math.h>

#include "kernel/tl_nn_test.h"

// dst for one row of `pairs`.
static tl_tensor *coupled(nn_room *room, tl_dtype dtype, int n_pairs, const double *pairs)
{
    return tl_tensor_couple(nn_given(room, dtype, 2, (int[]){1, n_pairs}, pairs), NULL);
}

START_TEST(equal_pairs_give_equal_probabilities)
{
    for (size_t i = 0; i < NN_LEN(nn_floats); i++) {
        nn_room room = {0};
        tl_tensor *const dst = coupled(&room, nn_floats[i], 3, (double[]){0.5, 0.5, 0.5});
        ck_assert(dst->ndim == 2 && dst->dims[0] == 1 && dst->dims[1] == 3);
        for (size_t k = 0; k < 3; k++)
            nn_check_near(dst, k, 1.0 / 3, nn_tolerance(nn_floats[i], 1, 1, 1.0 / 3));
        tl_tensor_free_data_too(dst);
        nn_close(&room);
    }
}
END_TEST

START_TEST(two_classes_have_the_probabilities_of_their_pair)
{
    // p^T Q p is 0 there; the rounds end when Qp is known to 0.0025.
    nn_room room = {0};
    for (double r = 0.05; r < 1; r += 0.1) {
        tl_tensor *const dst = coupled(&room, TL_DOUBLE, 1, &r);
        nn_check_near(dst, 0, r, 0.01);
        nn_check_near(dst, 1, 1 - r, 0.01);
        tl_tensor_free_data_too(dst);
    }
    nn_close(&room);
}
END_TEST

START_TEST(pairs_of_given_probabilities_lead_back_to_them)
{
    // r[i][j] = p[i] / (p[i] + p[j]) for p = 0.5, 0.3, 0.2; rows are independent.
    nn_room room = {0};
    const double p[] = {0.5, 0.3, 0.2}, pairs[] = {5.0 / 8, 5.0 / 7, 3.0 / 5, 0.5, 0.5, 0.5};
    tl_tensor *const src = nn_given(&room, TL_DOUBLE, 2, (int[]){2, 3}, pairs);
    tl_tensor *const dst = tl_tensor_couple(src, NULL);
    double sum = 0;
    for (size_t i = 0; i < 3; i++) {
        nn_check_near(dst, i, p[i], 0.01);
        nn_check_near(dst, 3 + i, 1.0 / 3, 1e-15);
        sum += ((const double *)dst->data)[i];
    }
    ck_assert_double_eq_tol(sum, 1, 1e-12);
    tl_tensor_free_data_too(dst);
    nn_close(&room);
}
END_TEST

START_TEST(nan_ends_at_once_and_no_rows_give_no_rows)
{
    nn_room room = {0};
    tl_tensor *const dst = coupled(&room, TL_FLOAT, 3, (double[]){NAN, 0.5, 0.5});
    ck_assert_int_eq(dst->len, 3);
    tl_tensor *const none = tl_tensor_couple(nn_blank(&room, TL_FLOAT, 2, (int[]){0, 6}), NULL);
    ck_assert(none->dims[0] == 0 && none->dims[1] == 4);
    tl_tensor_free_data_too(dst);
    tl_tensor_free_data_too(none);
    nn_close(&room);
}
END_TEST

START_TEST(couple_rejects_numbers_that_no_pairs_have)
{
    nn_room room = {0};
    for (int n = 0; n < 6; n++)
        if (n != 1 && n != 3)
            ck_assert_ptr_null(tl_tensor_couple(nn_blank(&room, TL_FLOAT, 2, (int[]){2, n}), NULL));
    ck_assert_str_eq(tl_last_error(), "'src' has 2 dimensions and a last axis of length 5, "
                                      "expected [n, k (k - 1) / 2] with k of at least 2");
    ck_assert_ptr_null(tl_tensor_couple(nn_blank(&room, TL_INT32, 2, (int[]){2, 3}), NULL));
    ck_assert_int_eq(tl_exec_couple(NULL, nn_blank(&room, TL_FLOAT, 2, (int[]){2, 3}),
                                    nn_blank(&room, TL_FLOAT, 2, (int[]){2, 3})),
                     -1);
    ck_assert_str_eq(tl_last_error(), "0 bytes of scratch memory, expected 144 for coupling");
    nn_close(&room);
}
END_TEST

LN_TEST_MAIN("couple", equal_pairs_give_equal_probabilities,
             two_classes_have_the_probabilities_of_their_pair,
             pairs_of_given_probabilities_lead_back_to_them,
             nan_ends_at_once_and_no_rows_give_no_rows, couple_rejects_numbers_that_no_pairs_have)
