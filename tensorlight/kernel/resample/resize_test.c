// SPDX-License-Identifier: Apache-2.0
// Tests of resampling.

#include "kernel/tl_nn_test.h"

// Known results

START_TEST(one_axis_gives_the_known_results)
{
    static const struct {
        tl_resize_type rtype;
        int in, out;
        double src[4], dst[8];
    } cases[] = {
        {TL_NEAREST, 4, 2, {0, 1, 2, 3}, {1, 3}},
        {TL_NEAREST, 3, 5, {0, 1, 2}, {0, 0, 1, 2, 2}},
        {TL_NEAREST, 2, 1, {0, 1}, {1}},
        {TL_NEAREST, 2, 8, {0, 1}, {0, 0, 0, 0, 1, 1, 1, 1}},
        {TL_NEAREST, 1, 3, {7}, {7, 7, 7}},
        {TL_LINEAR, 2, 4, {0, 10}, {0, 2.5, 7.5, 10}},
        {TL_LINEAR, 4, 2, {0, 1, 2, 3}, {0.5, 2.5}},
        {TL_LINEAR, 1, 3, {7}, {7, 7, 7}},
        {TL_LINEAR, 3, 3, {1, NAN, 2}, {1, NAN, 2}},
    };
    for (size_t i = 0; i < NN_LEN(cases); i++) {
        nn_room room = {0};
        tl_tensor *const src = nn_given(&room, TL_FLOAT, 1, &cases[i].in, cases[i].src);
        tl_tensor *const dst = tl_tensor_resize(src, NULL, &cases[i].out, cases[i].rtype);
        ck_assert_ptr_nonnull(dst);
        nn_check_values(dst, cases[i].dst);
        tl_tensor_free_data_too(dst);
        nn_close(&room);
    }
}
END_TEST

START_TEST(linear_integers_round_half_away_from_zero)
{
    nn_room room = {0};
    tl_tensor *const src = nn_given(&room, TL_INT8, 1, (int[]){2}, (double[]){-1, -2});
    tl_tensor *const dst = nn_blank(&room, TL_INT8, 1, (int[]){1});
    ck_assert_ptr_eq(tl_tensor_resize(src, dst, (int[]){1}, TL_LINEAR), dst);
    nn_check_values(dst, (double[]){-2}); // of -1.5
    nn_close(&room);
}
END_TEST

START_TEST(an_infinity_beside_the_position_does_not_count)
{
    nn_room room = {0};
    tl_tensor *const src = nn_given(&room, TL_DOUBLE, 2, (int[]){2, 2}, (double[]){0, 4, 1, 1});
    ((double *)src->data)[2] = INFINITY;
    tl_tensor *const dst = nn_blank(&room, TL_DOUBLE, 2, (int[]){2, 4});
    ck_assert_ptr_eq(tl_tensor_resize(src, dst, (int[]){2, 4}, TL_LINEAR), dst);
    const double *const d = dst->data;
    ck_assert(d[0] == 0 && d[1] == 1 && d[2] == 3 && d[3] == 4);
    ck_assert(isinf(d[4]) && isinf(d[5]) && isinf(d[6]) && d[7] == 1);
    nn_close(&room);
}
END_TEST

START_TEST(the_same_shape_is_a_copy_to_the_last_bit)
{
    const int64_t data[] = {INT64_MAX, INT64_MIN, INT64_MAX - 1};
    nn_room room = {0};
    tl_tensor *const src = nn_blank(&room, TL_INT64, 1, (int[]){3});
    memcpy(src->data, data, sizeof(data));
    tl_tensor *const dst = nn_blank(&room, TL_INT64, 1, (int[]){3});
    ck_assert_ptr_eq(tl_tensor_resize(src, dst, (int[]){3}, TL_LINEAR), dst);
    ck_assert_mem_eq(dst->data, data, sizeof(data));
    nn_close(&room);
}
END_TEST

// Against loops

static int clamped(double c, int in)
{
    return c < 0 ? 0 : c > in - 1 ? in - 1 : (int)c;
}

static double nearest_at(const tl_tensor *src, const tl_tensor *dst, const int *at)
{
    int coords[TL_MAXDIM];
    for (int i = 0; i < src->ndim; i++) {
        const float scale = (float)src->dims[i] / (float)dst->dims[i];
        const float c = (float)((at[i] + 0.5) * (double)scale - 0.5);
        coords[i] = clamped(round((double)c), src->dims[i]);
    }
    return nn_at(src, (size_t)tl_tensor_index(src, coords));
}

// The weighted sum over the corners, one axis after the other.
static double linear_at(const tl_tensor *src, const tl_tensor *dst, const int *at, int axis,
                        int *coords)
{
    if (axis == src->ndim)
        return nn_at(src, (size_t)tl_tensor_index(src, coords));
    const int in = src->dims[axis];
    double c = (at[axis] + 0.5) * ((double)in / dst->dims[axis]) - 0.5;
    c = c < 0 ? 0 : c > in - 1 ? in - 1 : c;
    const int low = (int)c;
    const double part = c - low;
    coords[axis] = low;
    double sum = (1 - part) * linear_at(src, dst, at, axis + 1, coords);
    coords[axis] = clamped(low + 1, in);
    return sum + part * linear_at(src, dst, at, axis + 1, coords);
}

static const struct {
    int ndim;
    int in[4], out[4];
} shapes[] = {
    {1, {5}, {13}},
    {1, {3}, {700}},
    {2, {4, 9}, {7, 3}},
    {3, {2, 5, 4}, {2, 3, 9}},
    {4, {1, 3, 6, 5}, {1, 3, 12, 10}},
    {4, {2, 2, 3, 3}, {3, 1, 2, 5}},
};

static void check_shape(tl_dtype dtype, size_t shape, tl_resize_type rtype)
{
    nn_room room = {.seed = 61};
    const int ndim = shapes[shape].ndim;
    tl_tensor *const src = nn_random(&room, dtype, ndim, shapes[shape].in, -100, 100);
    tl_tensor *const dst = nn_blank(&room, dtype, ndim, shapes[shape].out);
    ck_assert_ptr_eq(tl_tensor_resize(src, dst, shapes[shape].out, rtype), dst);
    for (int k = 0; k < dst->len; k++) {
        int at[TL_MAXDIM], coords[TL_MAXDIM];
        tl_tensor_coords(dst, k, at);
        const double expected =
            rtype == TL_NEAREST ? nearest_at(src, dst, at) : linear_at(src, dst, at, 0, coords);
        // All in double, 2 * 4 roundings of numbers up to 100, then stored. An integer may round
        // the other way only where the expected value is a tie but for such a rounding.
        const double tolerance = rtype == TL_NEAREST        ? 0
                                 : tl_dtype_is_float(dtype) ? nn_tolerance(dtype, 8, 100, expected)
                                                            : 0.5 + 8 * 100 * DBL_EPSILON;
        nn_check_near(dst, (size_t)k, expected, tolerance);
    }
    nn_close(&room);
}

START_TEST(nearest_agrees_with_loops_on_every_type)
{
    for (size_t i = 0; i < NN_LEN(shapes); i++)
        for (size_t k = 0; k < NN_LEN(nn_types); k++)
            check_shape(nn_types[k], i, TL_NEAREST);
}
END_TEST

START_TEST(linear_agrees_with_loops_on_every_number_type)
{
    for (size_t i = 0; i < NN_LEN(shapes); i++)
        for (size_t k = 0; k < NN_LEN(nn_types); k++)
            if (nn_types[k] != TL_BOOL)
                check_shape(nn_types[k], i, TL_LINEAR);
}
END_TEST

// The rest

static void run_nearest(const tl_exec *exec, tl_tensor *dst, void *arg)
{
    tl_exec_resize(exec, arg, dst, TL_NEAREST);
}

static void run_linear(const tl_exec *exec, tl_tensor *dst, void *arg)
{
    tl_exec_resize(exec, arg, dst, TL_LINEAR);
}

START_TEST(threads_do_not_change_the_result)
{
    nn_room room = {.seed = 62};
    tl_tensor *const src = nn_random(&room, TL_FLOAT, 3, (int[]){3, 200, 201}, -1, 1);
    tl_tensor *const dst = nn_blank(&room, TL_FLOAT, 3, (int[]){3, 301, 300});
    nn_check_threads(run_nearest, dst, src);
    nn_check_threads(run_linear, dst, src);
    nn_close(&room);
}
END_TEST

START_TEST(scalars_and_empty_tensors_are_resized)
{
    nn_room room = {0};
    const int none = 0;
    tl_tensor *const scalar = nn_given(&room, TL_FLOAT, 0, &none, (double[]){5});
    tl_tensor *const dst = nn_blank(&room, TL_FLOAT, 0, &none);
    ck_assert_ptr_eq(tl_tensor_resize(scalar, dst, &none, TL_LINEAR), dst);
    nn_check_values(dst, (double[]){5});
    tl_tensor *const empty = nn_blank(&room, TL_FLOAT, 1, &none);
    tl_tensor *const full = nn_blank(&room, TL_FLOAT, 1, (int[]){3});
    ck_assert_ptr_eq(tl_tensor_resize(full, empty, &none, TL_LINEAR), empty);
    ck_assert_ptr_null(tl_tensor_resize(empty, full, (int[]){3}, TL_LINEAR));
    ck_assert_str_eq(tl_last_error(), "'src' is empty, expected elements to make 3 of");
    nn_close(&room);
}
END_TEST

START_TEST(resize_rejects_bad_shapes_and_dtypes)
{
    nn_room room = {0};
    tl_tensor *const src = nn_blank(&room, TL_FLOAT, 1, (int[]){2});
    tl_tensor *const bools = nn_blank(&room, TL_BOOL, 1, (int[]){2});
    ck_assert_ptr_null(tl_tensor_resize(bools, NULL, (int[]){3}, TL_LINEAR));
    ck_assert_str_eq(tl_last_error(),
                     "'src' has type TL_BOOL, expected a number type for TL_LINEAR");
    ck_assert_ptr_null(tl_tensor_resize(src, NULL, (int[]){3}, TL_RESIZE_TYPE_SIZE));
    ck_assert_str_eq(tl_last_error(), "resize type 2, expected 0 to 1");
    ck_assert_ptr_null(tl_tensor_resize(src, NULL, (int[]){-3}, TL_LINEAR));
    ck_assert_str_eq(tl_last_error(), "shape [-3], expected no negative dimension");
    ck_assert_ptr_null(tl_tensor_resize(src, src, (int[]){2}, TL_LINEAR));
    ck_assert_str_eq(tl_last_error(), "'dst' overlaps a source, expected separate data");
    ck_assert_ptr_null(tl_tensor_resize(src, bools, (int[]){3}, TL_LINEAR));
    ck_assert_str_eq(tl_last_error(), "'dst' is TL_BOOL [2], expected TL_FLOAT [3]");
    nn_close(&room);
}
END_TEST

LN_TEST_MAIN("resize", one_axis_gives_the_known_results, linear_integers_round_half_away_from_zero,
             an_infinity_beside_the_position_does_not_count,
             the_same_shape_is_a_copy_to_the_last_bit, nearest_agrees_with_loops_on_every_type,
             linear_agrees_with_loops_on_every_number_type, threads_do_not_change_the_result,
             scalars_and_empty_tensors_are_resized, resize_rejects_bad_shapes_and_dtypes)
