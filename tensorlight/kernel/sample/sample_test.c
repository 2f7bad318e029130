// SPDX-License-Identifier: Apache-2.0
// Tests of sampling: known results, plain loops, NaN and infinite positions, absent regions, every
// float, threads.

#include "kernel/tl_nn_test.h"

// Grid_sample

START_TEST(positions_of_elements_give_the_elements)
{
    for (size_t k = 0; k < NN_LEN(nn_floats); k++)
        for (int mode = 0; mode < TL_RESAMPLE_MODE_SIZE; mode++)
            for (int outside = 0; outside < TL_OUTSIDE_SIZE; outside++) {
                nn_room room = {.seed = 41};
                tl_tensor *const src =
                    nn_random(&room, nn_floats[k], 4, (int[]){2, 3, 5, 5}, -9, 9);
                tl_tensor *const grid = nn_blank(&room, TL_FLOAT, 4, (int[]){2, 5, 5, 2});
                for (int i = 0; i < 50; i++) {
                    ((float *)grid->data)[2 * i] = (float)(i % 5) / 2 - 1;
                    ((float *)grid->data)[2 * i + 1] = (float)(i / 5 % 5) / 2 - 1;
                }
                tl_tensor *const dst = nn_blank(&room, nn_floats[k], 4, (int[]){2, 3, 5, 5});
                ck_assert_ptr_eq(tl_tensor_grid_sample(src, grid, dst, mode, outside, 1), dst);
                ck_assert_int_eq(memcmp(src->data, dst->data, tl_tensor_size(src)), 0);
                nn_close(&room);
            }
}
END_TEST

START_TEST(positions_outside_are_0_the_border_or_mirrored)
{
    // A quarter of an element outside, three of them, and between elements.
    static const struct {
        tl_resample_mode mode;
        double expected[TL_OUTSIDE_SIZE][3];
    } rows[] = {
        {TL_RESAMPLE_NEAREST, {{1, 0, 4}, {1, 1, 4}, {1, 4, 4}}},
        {TL_RESAMPLE_LINEAR, {{0.75, 0, 3.5}, {1, 1, 3.5}, {1, 4, 3.5}}},
    };
    static const double positions[] = {-0.25, -3, 1.75};
    for (size_t r = 0; r < NN_LEN(rows); r++)
        for (int outside = 0; outside < TL_OUTSIDE_SIZE; outside++) {
            nn_room room = {0};
            tl_tensor *const src =
                nn_given(&room, TL_DOUBLE, 3, (int[]){1, 1, 4}, (double[]){1, 2, 4, 8});
            tl_tensor *const grid = nn_blank(&room, TL_DOUBLE, 3, (int[]){1, 3, 1});
            for (int i = 0; i < 3; i++)
                ((double *)grid->data)[i] = (positions[i] + 0.5) / 2 - 1;
            tl_tensor *const dst = nn_blank(&room, TL_DOUBLE, 3, (int[]){1, 1, 3});
            ck_assert_ptr_eq(tl_tensor_grid_sample(src, grid, dst, rows[r].mode, outside, 0), dst);
            for (size_t i = 0; i < 3; i++)
                nn_check_near(dst, i, rows[r].expected[outside][i], 1e-6);
            nn_close(&room);
        }
}
END_TEST

// The index that replaces index `i` of 3, at most one element outside, plus 1; 0: none.
static int stands_for(int i, tl_outside outside, int aligns_corners)
{
    static const int mirrored[2][5] = {{1, 1, 2, 3, 3}, {2, 1, 2, 3, 2}};
    static const int rows[][5] = {{0, 1, 2, 3, 0}, {1, 1, 2, 3, 3}};
    return (outside == TL_OUTSIDE_REFLECT ? mirrored[aligns_corners] : rows[outside])[i + 1];
}

START_TEST(positions_at_halves_round_to_even_over_any_number_of_axes)
{
    // Positions -1, -0.5, .., 3 and what they round to. As coordinates of 3 elements, in double,
    // they come back exactly.
    static const int nearest[] = {-1, 0, 0, 0, 1, 2, 2, 2, 3};
    enum { N = 9, IN = 3 };
    for (int mode = 0; mode < 2 * TL_OUTSIDE_SIZE; mode++)
        for (int n = 1; n <= 3; n++)
            for (size_t k = 0; k < NN_LEN(nn_floats); k++) {
                const int aligns_corners = mode % 2;
                const tl_outside outside = mode / 2;
                const int in[] = {1, 1, IN, IN, IN};
                int shape[] = {1, N, n, n, n}, len = N;
                for (int i = 1; i < n; i++, len *= N)
                    shape[1 + i] = N;
                shape[n + 1] = n;
                double numbers[IN * IN * IN];
                for (int i = 0; i < IN * IN * IN; i++)
                    numbers[i] = i + 1;
                nn_room room = {0};
                tl_tensor *const src = nn_given(&room, nn_floats[k], n + 2, in, numbers);
                tl_tensor *const grid = nn_blank(&room, TL_DOUBLE, n + 2, shape);
                for (int p = 0; p < len; p++)
                    for (int axis = 0, rest = p; axis < n; axis++, rest /= N) {
                        const double x = rest % N * 0.5 - 1;
                        ((double *)grid->data)[p * n + axis] =
                            aligns_corners ? x - 1 : (2 * x + 1) / IN - 1;
                    }
                tl_tensor *const dst = tl_tensor_grid_sample(src, grid, NULL, TL_RESAMPLE_NEAREST,
                                                             outside, aligns_corners);
                ck_assert_msg(dst != NULL, "%s", tl_last_error());
                for (int p = 0; p < len; p++) {
                    int index = 0, step = 1, is_inside = 1;
                    for (int axis = 0, rest = p; axis < n; axis++, rest /= N, step *= IN) {
                        const int at = stands_for(nearest[rest % N], outside, aligns_corners);
                        is_inside &= at > 0;
                        index += (at - 1) * step;
                    }
                    nn_check_near(dst, (size_t)p, is_inside ? index + 1 : 0, 0);
                }
                tl_tensor_free_data_too(dst);
                nn_close(&room);
            }
}
END_TEST

START_TEST(a_mirror_repeats_and_what_is_no_number_stays_inside)
{
    nn_room room = {0};
    tl_tensor *const src = nn_given(&room, TL_FLOAT, 3, (int[]){1, 1, 3}, (double[]){1, 2, 3});
    // Centers are -2/3, 0, 2/3: one period of the mirror is 4 coordinates long.
    tl_tensor *const grid =
        nn_given(&room, TL_DOUBLE, 3, (int[]){1, 6, 1},
                 (double[]){-2.0 / 3 + 4, -2.0 / 3 - 4, 2 + 2.0 / 3, NAN, 1e300, -1e300});
    tl_tensor *const dst = nn_blank(&room, TL_FLOAT, 3, (int[]){1, 1, 6});
    for (int outside = 0; outside < TL_OUTSIDE_SIZE; outside++)
        for (int mode = 0; mode < TL_RESAMPLE_MODE_SIZE; mode++) {
            ck_assert_ptr_eq(tl_tensor_grid_sample(src, grid, dst, mode, outside, 0), dst);
            for (size_t i = 3; i < 6 && mode != TL_RESAMPLE_CUBIC; i++)
                ck_assert(nn_at(dst, i) >= 0 && nn_at(dst, i) <= 3);
        }
    tl_tensor_grid_sample(src, grid, dst, TL_RESAMPLE_LINEAR, TL_OUTSIDE_REFLECT, 0);
    nn_check_near(dst, 0, 1, 1e-6);
    nn_check_near(dst, 1, 1, 1e-6);
    nn_check_near(dst, 2, 1, 1e-6);
    nn_close(&room);
}
END_TEST

static void run_grid_sample(const tl_exec *exec, tl_tensor *dst, void *arg)
{
    tl_tensor *const *const tensors = arg;
    tl_exec_grid_sample(exec, tensors[0], tensors[1], dst, TL_RESAMPLE_CUBIC, TL_OUTSIDE_REFLECT,
                        0);
}

START_TEST(threads_do_not_change_the_result)
{
    nn_room room = {.seed = 42};
    tl_tensor *const tensors[] = {nn_random(&room, TL_FLOAT, 5, (int[]){2, 3, 4, 5, 6}, -1, 1),
                                  nn_random(&room, TL_FLOAT, 5, (int[]){2, 7, 8, 9, 3}, -2, 2)};
    tl_tensor *const dst = nn_blank(&room, TL_FLOAT, 5, (int[]){2, 3, 7, 8, 9});
    nn_check_threads(run_grid_sample, dst, (void *)tensors);
    nn_close(&room);
}
END_TEST

// Regions

START_TEST(rejects_regions_of_missing_images)
{
    static const struct {
        double image, roi[4];
        const char *reason;
    } rows[] = {
        {2, {0, 0, 1, 1}, "region 0 is of image 2, expected 0 to 1"},
        {-1, {0, 0, 1, 1}, "region 0 is of image -1, expected 0 to 1"},
        {0,
         {0, 0, NAN, 1},
         "region 0 reaches from 0 to nan of 4 elements, expected at most 320 elements"},
        {0,
         {0, -1e30, 0, 1},
         "region 0 reaches from -1e+30 to 1 of 3 elements, expected at most 304 elements"},
        {0,
         {0, 0, 1, 999},
         "region 0 reaches from 0 to 999 of 3 elements, expected at most 304 elements"},
    };
    const tl_roi_param param = {.size = {1, 1}, .scale = 1};
    for (size_t i = 0; i < NN_LEN(rows); i++) {
        nn_room room = {0};
        const double *const r = rows[i].roi;
        tl_tensor *const src = nn_random(&room, TL_DOUBLE, 4, (int[]){2, 1, 3, 4}, 0, 1);
        tl_tensor *const rois = nn_given(&room, TL_DOUBLE, 2, (int[]){1, 4}, r);
        tl_tensor *const batch = nn_given(&room, TL_INT64, 1, (int[]){1}, &rows[i].image);
        tl_tensor *const rows5 = nn_given(&room, TL_DOUBLE, 2, (int[]){1, 5},
                                          (double[]){rows[i].image, r[0], r[1], r[2], r[3]});
        ck_assert_ptr_null(tl_tensor_roi_align(src, rois, batch, NULL, &param));
        ck_assert_str_eq(tl_last_error(), rows[i].reason);
        ck_assert_ptr_null(tl_tensor_roi_maxpool(src, rows5, NULL, &param));
        ck_assert_str_eq(tl_last_error(), rows[i].reason);
        nn_close(&room);
    }
}
END_TEST

START_TEST(a_region_of_a_ramp_is_a_ramp)
{
    // Linear sampling of y * 10 + x gives the mean position of a bin's samples: its center.
    for (size_t k = 0; k < NN_LEN(nn_floats); k++) {
        const tl_roi_param param = {.size = {2, 3}, .scale = 0.5, .is_half_pixel = 1};
        nn_room room = {0};
        double ramp[48];
        for (int i = 0; i < 48; i++)
            ramp[i] = i / 8 * 10 + i % 8;
        tl_tensor *const src = nn_given(&room, nn_floats[k], 4, (int[]){1, 1, 6, 8}, ramp);
        tl_tensor *const rois =
            nn_given(&room, nn_floats[k], 2, (int[]){1, 4}, (double[]){3, 2, 9, 10});
        tl_tensor *const batch = nn_given(&room, TL_INT32, 1, (int[]){1}, (double[]){0});
        tl_tensor *const dst = nn_blank(&room, nn_floats[k], 4, (int[]){1, 1, 2, 3});
        ck_assert_ptr_eq(tl_tensor_roi_align(src, rois, batch, dst, &param), dst);
        for (size_t i = 0; i < 6; i++) {
            const double y = 1 - 0.5 + (i / 3 + 0.5) * 2, x = 1.5 - 0.5 + (i % 3 + 0.5);
            nn_check_near(dst, i, y * 10 + x, nn_tolerance(nn_floats[k], 4, 60, y * 10 + x));
        }
        nn_close(&room);
    }
}
END_TEST

START_TEST(whole_bins_of_a_region_take_one_sample_each)
{
    // 5 * 0.8 is 4 in floats, and more than 4 where the float 0.8 meets more digits: then each bin
    // would take two samples. One sample hits the elements.
    const tl_roi_param param = {.size = {1, 4}, .scale = (double)0.8F, .is_half_pixel = 1};
    nn_room room = {0};
    const double squares[] = {0, 1, 4, 9, 16, 25};
    tl_tensor *const src = nn_given(&room, TL_FLOAT, 4, (int[]){1, 1, 1, 6}, squares);
    tl_tensor *const rois = nn_given(&room, TL_FLOAT, 2, (int[]){1, 4}, (double[]){0, 0, 5, 1});
    tl_tensor *const batch = nn_given(&room, TL_INT32, 1, (int[]){1}, (double[]){0});
    tl_tensor *const dst = nn_blank(&room, TL_FLOAT, 4, (int[]){1, 1, 1, 4});
    ck_assert_ptr_eq(tl_tensor_roi_align(src, rois, batch, dst, &param), dst);
    for (size_t i = 0; i < 4; i++)
        nn_check_near(dst, i, squares[i], 1e-5);
    nn_close(&room);
}
END_TEST

// Columns and back

START_TEST(columns_that_are_not_moved_are_windows_and_col2im_counts_them)
{
    static const tl_windows windows = {2, {2, 3}, {2, 1}, {1, 2}, {1, 0, 0, 2}};
    for (size_t k = 0; k < NN_LEN(nn_floats); k++) {
        nn_room room = {.seed = 43};
        tl_tensor *const src = nn_random(&room, nn_floats[k], 4, (int[]){2, 2, 5, 6}, 1, 1);
        for (int i = 0; i < src->len; i++)
            tl_convert(tl_pointer_add(src->data, i, src->dtype), src->dtype, &(double){i % 60},
                       TL_DOUBLE);
        tl_tensor *const offset = nn_random(&room, nn_floats[k], 4, (int[]){2, 24, 3, 4}, 0, 0);
        tl_tensor *const columns = nn_blank(&room, nn_floats[k], 3, (int[]){2, 12, 12});
        ck_assert_ptr_eq(tl_tensor_deform_columns(src, offset, NULL, columns, &windows, 2),
                         columns);
        double counts[120] = {0};
        for (int i = 0; i < columns->len; i++) {
            const int p = i % 12, row = i / 12 % 12, image = i / 144;
            const int y = p / 4 * 2 - 1 + row % 6 / 3, x = p % 4 + row % 3 * 2;
            const int is_inside = y >= 0 && y < 5 && x >= 0 && x < 6;
            const int index = ((image * 2 + row / 6) * 5 + y) * 6 + x;
            nn_check_near(columns, (size_t)i, is_inside ? index % 60 : 0, 0);
            if (is_inside)
                counts[index]++;
        }
        tl_tensor *const back = nn_blank(&room, nn_floats[k], 4, (int[]){2, 2, 5, 6});
        ck_assert_ptr_eq(tl_tensor_col2im(columns, back, &windows, (int[]){5, 6}), back);
        for (int i = 0; i < back->len; i++)
            nn_check_near(back, (size_t)i, counts[i] * (i % 60),
                          nn_store_unit(nn_floats[k]) * counts[i] * (i % 60));
        nn_close(&room);
    }
}
END_TEST

START_TEST(a_tap_that_is_moved_out_of_numbers_gives_0)
{
    static const tl_windows windows = {2, {1, 1}, {1, 1}, {1, 1}, {0}};
    nn_room room = {0};
    tl_tensor *const src = nn_given(&room, TL_FLOAT, 4, (int[]){1, 1, 1, 3}, (double[]){1, 2, 4});
    tl_tensor *const offset =
        nn_given(&room, TL_FLOAT, 4, (int[]){1, 2, 1, 3}, (double[]){NAN, 0.5, 0, 0, 0.5, -3e38});
    tl_tensor *const dst = nn_blank(&room, TL_FLOAT, 3, (int[]){1, 1, 3});
    ck_assert_ptr_eq(tl_tensor_deform_columns(src, offset, NULL, dst, &windows, 1), dst);
    nn_check_values(dst, (double[]){0, 1.5, 0});
    nn_close(&room);
}
END_TEST

LN_TEST_MAIN("sample", positions_of_elements_give_the_elements,
             positions_outside_are_0_the_border_or_mirrored,
             positions_at_halves_round_to_even_over_any_number_of_axes,
             a_mirror_repeats_and_what_is_no_number_stays_inside, threads_do_not_change_the_result,
             rejects_regions_of_missing_images, a_region_of_a_ramp_is_a_ramp,
             whole_bins_of_a_region_take_one_sample_each,
             columns_that_are_not_moved_are_windows_and_col2im_counts_them,
             a_tap_that_is_moved_out_of_numbers_gives_0)
