// SPDX-License-Identifier: Apache-2.0
// Tests of the negative log likelihood.

#include "kernel/tl_nn_test.h"

// Three targets of two images; losses -1 -4 -6 with weights 1, 10.
static void check_reduction(tl_loss_reduction reduction, int ignored, const double *expected)
{
    for (size_t k = 0; k < NN_LEN(nn_floats); k++)
        for (int is_wide = 0; is_wide < 2; is_wide++) {
            nn_room room = {0};
            tl_tensor *const src = nn_given(&room, nn_floats[k], 3, (int[]){2, 2, 2},
                                            (double[]){1, 2, 3, 4, 5, 6, 7, 8});
            tl_tensor *const target = nn_given(&room, is_wide ? TL_INT64 : TL_INT32, 2,
                                               (int[]){2, 2}, (double[]){0, 1, -7, 0});
            tl_tensor *const weight =
                nn_given(&room, nn_floats[k], 1, (int[]){2}, (double[]){1, 10});
            const tl_nllloss_param param = {reduction, ignored, -7};
            tl_tensor *const dst = tl_tensor_nllloss(src, target, weight, NULL, &param);
            if (!ignored) {
                ck_assert_ptr_null(dst);
                ck_assert_str_eq(tl_last_error(), "'target' has -7, expected 0 to 1");
            } else {
                ck_assert_int_eq(dst->ndim, reduction == TL_LOSS_NONE ? 2 : 0);
                nn_check_values(dst, expected);
            }
            tl_tensor_free_data_too(dst);
            nn_close(&room);
        }
}

START_TEST(losses_are_single_summed_or_averaged)
{
    check_reduction(TL_LOSS_NONE, 1, (double[]){-1, -40, 0, -6});
    check_reduction(TL_LOSS_SUM, 1, (double[]){-47});
    check_reduction(TL_LOSS_MEAN, 1, (double[]){-47.0 / 12});
    check_reduction(TL_LOSS_SUM, 0, NULL);
}
END_TEST

START_TEST(without_weights_the_mean_is_that_of_the_losses)
{
    nn_room room = {0};
    tl_tensor *const src = nn_given(&room, TL_FLOAT, 2, (int[]){2, 2}, (double[]){1, 2, 3, 4});
    tl_tensor *const target = nn_given(&room, TL_INT32, 1, (int[]){2}, (double[]){1, 0});
    const tl_nllloss_param param = {TL_LOSS_MEAN, 0, 0}, ignoring = {TL_LOSS_MEAN, 1, 1};
    tl_tensor *const dst = nn_blank(&room, TL_FLOAT, 0, NULL);
    ck_assert_ptr_eq(tl_tensor_nllloss(src, target, NULL, dst, &param), dst);
    nn_check_values(dst, (double[]){-2.5});
    tl_tensor_nllloss(src, target, NULL, dst, &ignoring);
    nn_check_values(dst, (double[]){-3});
    nn_close(&room);
}
END_TEST

START_TEST(nllloss_rejects_bad_shapes_and_dtypes)
{
    nn_room room = {0};
    const tl_nllloss_param param = {TL_LOSS_SUM, 0, 0};
    tl_tensor *const src = nn_blank(&room, TL_FLOAT, 3, (int[]){2, 3, 4});
    tl_tensor *const target = nn_blank(&room, TL_INT64, 2, (int[]){2, 3});
    tl_tensor *const fit = nn_blank(&room, TL_INT64, 2, (int[]){2, 4});
    tl_tensor *const weight = nn_blank(&room, TL_FLOAT, 1, (int[]){2});
    ck_assert_ptr_null(tl_tensor_nllloss(src, target, NULL, NULL, &param));
    ck_assert_str_eq(
        tl_last_error(),
        "'src' has shape [2, 3, 4] and 'target' [2, 3], expected [N, C, ..] and [N, ..]");
    ck_assert_ptr_null(tl_tensor_nllloss(src, fit, weight, NULL, &param));
    ck_assert_str_eq(tl_last_error(), "'weight' has shape [2], expected [3]");
    ck_assert_ptr_null(tl_tensor_nllloss(src, weight, NULL, NULL, &param));
    ck_assert_str_eq(tl_last_error(), "'target' has dtype TL_FLOAT, expected TL_INT32 or TL_INT64");
    ck_assert_int_eq(tl_loss_reduction_from_str("TL_LOSS_MEAN"), TL_LOSS_MEAN);
    ck_assert_int_eq(tl_loss_reduction_from_str("MEAN"), TL_LOSS_REDUCTION_INVALID);
    ck_assert_str_eq(tl_loss_reduction_name(TL_LOSS_NONE), "TL_LOSS_NONE");
    nn_close(&room);
}
END_TEST

LN_TEST_MAIN("nllloss", losses_are_single_summed_or_averaged,
             without_weights_the_mean_is_that_of_the_losses, nllloss_rejects_bad_shapes_and_dtypes)
