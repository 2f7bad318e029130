// SPDX-License-Identifier: Apache-2.0
// Tests of inverse matrices.

#include "kernel/tl_nn_test.h"

START_TEST(inverses_of_small_matrices)
{
    for (size_t k = 0; k < NN_LEN(nn_floats); k++) {
        nn_room room = {0};
        tl_tensor *const src =
            nn_given(&room, nn_floats[k], 3, (int[]){2, 2, 2}, (double[]){1, 2, 3, 4, 0, 2, -4, 0});
        tl_tensor *const dst = tl_tensor_inverse(src, NULL);
        ck_assert(dst->ndim == 3 && dst->len == 8);
        nn_check_values(dst, (double[]){-2, 1, 1.5, -0.5, 0, -0.25, 0.5, 0});
        ck_assert_ptr_eq(tl_tensor_inverse(dst, dst), dst); // in place
        for (size_t i = 0; i < 8; i++)
            nn_check_near(dst, i, nn_at(src, i), 20 * nn_store_unit(nn_floats[k]));
        tl_tensor_free_data_too(dst);
        nn_close(&room);
    }
}
END_TEST

// The largest element of |a x - 1| for [n, n].
static double residual(const tl_tensor *a, const tl_tensor *x, size_t n)
{
    double worst = 0;
    for (size_t i = 0; i < n * n; i++) {
        double sum = i % (n + 1) == 0 ? -1 : 0;
        for (size_t k = 0; k < n; k++)
            sum += nn_at(a, i / n * n + k) * nn_at(x, k * n + i % n);
        worst = fmax(worst, fabs(sum));
    }
    return worst;
}

START_TEST(products_with_the_inverse_are_the_identity)
{
    static const int sizes[] = {1, 3, 4, 5, 17, 64};
    for (size_t k = 0; k < NN_LEN(sizes); k++) {
        nn_room room = {.seed = 7};
        const int n = sizes[k];
        tl_tensor *const src = nn_random(&room, TL_DOUBLE, 2, (int[]){n, n}, -1, 1);
        tl_tensor *const dst = tl_tensor_inverse(src, NULL);
        // Elimination of n rows, whose condition is some thousands at most.
        ck_assert_double_lt(residual(src, dst, (size_t)n), n * 1e-12);
        tl_tensor_free_data_too(dst);
        nn_close(&room);
    }
}
END_TEST

START_TEST(a_singular_matrix_has_no_finite_inverse)
{
    static const double singular[][4] = {{0, 0, 0, 0}, {1, 2, 2, 4}, {0, 1, 0, 2}, {0, 0, 0, 1}};
    for (size_t k = 0; k < NN_LEN(singular); k++) {
        nn_room room = {0};
        tl_tensor *const src = nn_given(&room, TL_FLOAT, 2, (int[]){2, 2}, singular[k]);
        tl_tensor *const dst = tl_tensor_inverse(src, NULL);
        int n_finite = 0;
        for (size_t i = 0; i < 4; i++)
            n_finite += isfinite(nn_at(dst, i)) != 0;
        ck_assert_int_lt(n_finite, 4);
        tl_tensor_free_data_too(dst);
        nn_close(&room);
    }
}
END_TEST

START_TEST(inverse_rejects_matrices_that_are_not_square)
{
    nn_room room = {0};
    ck_assert_ptr_null(tl_tensor_inverse(nn_blank(&room, TL_FLOAT, 2, (int[]){2, 3}), NULL));
    ck_assert_str_eq(tl_last_error(), "'src' has shape [2, 3], expected [.., n, n]");
    ck_assert_ptr_null(tl_tensor_inverse(nn_blank(&room, TL_INT32, 2, (int[]){2, 2}), NULL));
    tl_tensor *const src = nn_blank(&room, TL_FLOAT, 2, (int[]){2, 2});
    ck_assert_int_eq(tl_exec_inverse(NULL, src, src), -1);
    ck_assert_str_eq(tl_last_error(), "0 bytes of scratch memory, expected 64 for inverses");
    tl_tensor *const nothing =
        tl_tensor_inverse(nn_blank(&room, TL_FLOAT, 3, (int[]){2, 0, 0}), NULL);
    ck_assert_int_eq(nothing->len, 0);
    tl_tensor_free_data_too(nothing);
    nn_close(&room);
}
END_TEST

LN_TEST_MAIN("inverse", inverses_of_small_matrices, products_with_the_inverse_are_the_identity,
             a_singular_matrix_has_no_finite_inverse, inverse_rejects_matrices_that_are_not_square)
