// SPDX-License-Identifier: Apache-2.0
// Tests of resampling: each element as the sum over all of src, every type, threads, errors.

#include "kernel/tl_nn_test.h"

typedef struct resample_case {
    int ndim, in[4], out[4];
    tl_resample_param param;
} resample_case;

#define AXIS_SAME          \
    {                      \
        0.5, 1, 1, -0.5, 1 \
    }
#define AXIS_HALF(n, out)    \
    {                        \
        0.5, n, out, -0.5, 1 \
    }
static const resample_case cases[] = {
    {1, {7}, {17}, {.axes = {AXIS_HALF(7, 17)}}},
    {2, {5, 1}, {3, 4}, {.rounding = TL_ROUND_DOWN, .axes = {AXIS_HALF(5, 3), AXIS_HALF(1, 4)}}},
    {4,
     {2, 3, 4, 5},
     {2, 3, 8, 10},
     {.rounding = TL_ROUND_UP,
      .cubic_a = -0.75,
      .axes = {AXIS_SAME, AXIS_SAME, AXIS_HALF(1, 2), AXIS_HALF(1, 2)}}},
    {3,
     {3, 4, 9},
     {6, 4, 4},
     {.rounding = TL_ROUND_HALF_UP,
      .cubic_a = -0.5,
      .excludes_outside = 1,
      .axes = {{0, 2, 5, 0, 1}, AXIS_SAME, {0.5, 9, 4, -0.5, 2.25}}}},
    {2,
     {6, 5},
     {5, 7},
     {.cubic_a = -0.75,
      .fills_outside = 1,
      .fill = 11,
      .axes = {{0, 3, 2, -1, 1}, {0, 1, 1, -1.25, 1}}}},
    {2, {1, 6}, {1, 6}, {.axes = {AXIS_SAME, AXIS_SAME}}},
    {3,
     {9, 2, 3},
     {2, 4, 3},
     {.cubic_a = -0.75, .axes = {{0.5, 4.5, 1, -0.5, 4.5}, AXIS_HALF(2, 4), AXIS_SAME}}},
};

static double keys(double x, double a)
{
    const double t = fabs(x);
    return t <= 1  ? (a + 2) * t * t * t - (a + 3) * t * t + 1
           : t < 2 ? a * (t * t * t - 5 * t * t + 8 * t - 4)
                   : 0;
}

// How much of each of `in` positions makes index `i`, and whether it looks outside.
static int weigh(const tl_resample_param *p, int axis, int in, int i, double *weights)
{
    const tl_resample_axis *const a = &p->axes[axis];
    const double x = (i + a->shift) * a->span / a->steps + a->start;
    for (int k = 0; k < in; k++)
        weights[k] = 0;
    if (p->mode == TL_RESAMPLE_NEAREST) {
        const double nearest = p->rounding == TL_ROUND_DOWN      ? floor(x)
                               : p->rounding == TL_ROUND_UP      ? ceil(x)
                               : p->rounding == TL_ROUND_HALF_UP ? floor(x + 0.5)
                                                                 : ceil(x - 0.5);
        weights[(int)fmin(fmax(nearest, 0), in - 1)] = 1;
    } else {
        double sum = 0;
        for (int k = -20; k < in + 20; k++) {
            const double t = (k - x) / a->stretch;
            const double w =
                p->mode == TL_RESAMPLE_LINEAR ? fmax(0, 1 - fabs(t)) : keys(t, p->cubic_a);
            if (p->excludes_outside && (k < 0 || k >= in))
                continue;
            weights[(int)fmin(fmax(k, 0), in - 1)] += w;
            sum += w;
        }
        for (int k = 0; k < in; k++)
            weights[k] /= sum;
    }
    return p->fills_outside && (x < 0 || x > in - 1);
}

static double expected_at(const tl_tensor *src, const tl_resample_param *p, const int *at,
                          double *magnitude)
{
    double weights[4][16], sum = 0;
    *magnitude = 0;
    for (int i = 0; i < src->ndim; i++)
        if (weigh(p, i, src->dims[i], at[i], weights[i]))
            return src->dtype == TL_BOOL ? 1 : p->fill;
    for (int k = 0; k < src->len; k++) {
        int coords[TL_MAXDIM];
        tl_tensor_coords(src, k, coords);
        double product = nn_at(src, (size_t)k);
        for (int i = 0; i < src->ndim; i++)
            product *= weights[i][coords[i]];
        sum += product;
        *magnitude += fabs(product);
    }
    return sum;
}

static void check_case(const resample_case *c, tl_resample_mode mode, tl_dtype dtype)
{
    nn_room room = {.seed = 8};
    tl_resample_param param = c->param;
    param.mode = mode;
    tl_tensor *const src = nn_random(&room, dtype, c->ndim, c->in, -100, 100);
    tl_tensor *const dst = nn_blank(&room, dtype, c->ndim, c->out);
    ck_assert_ptr_eq(tl_tensor_resample(src, dst, c->out, &param), dst);
    for (int k = 0; k < dst->len; k++) {
        int coords[TL_MAXDIM];
        double magnitude;
        tl_tensor_coords(dst, k, coords);
        const double expected = expected_at(src, &param, coords, &magnitude);
        if (mode == TL_RESAMPLE_NEAREST || tl_dtype_is_float(dtype))
            nn_check_near(
                dst, (size_t)k, expected,
                mode == TL_RESAMPLE_NEAREST ? 0 : nn_tolerance(dtype, 60, magnitude, expected));
        else { // truncated toward zero, unless whole but for rounding
            const double limited =
                fmin(fmax(expected, tl_dtype_min_double(dtype)), tl_dtype_max_double(dtype));
            const int is_whole = fabs(limited - round(limited)) < 1e-6;
            nn_check_near(dst, (size_t)k, is_whole ? round(limited) : trunc(limited), 0);
        }
    }
    nn_close(&room);
}

START_TEST(each_element_is_a_weighted_sum_over_src)
{
    for (size_t i = 0; i < NN_LEN(cases); i++)
        for (size_t k = 0; k < NN_LEN(nn_types); k++)
            for (int mode = 0; mode < TL_RESAMPLE_MODE_SIZE; mode++)
                if (mode == TL_RESAMPLE_NEAREST || nn_types[k] != TL_BOOL)
                    check_case(&cases[i], mode, nn_types[k]);
}
END_TEST

START_TEST(an_integer_image_of_one_color_is_unchanged)
{
    static const double scales[] = {1.5, 2, 3, 0.6, 0.7, 1 / 3.0, 2.3, (double)0.6F};
    static const tl_dtype dtypes[] = {TL_UINT8, TL_INT8, TL_UINT16, TL_INT16, TL_INT32, TL_INT64};
    for (size_t i = 0; i < NN_LEN(scales) * NN_LEN(dtypes); i++)
        for (int mode = TL_RESAMPLE_LINEAR; mode < TL_RESAMPLE_MODE_SIZE; mode++) {
            const double scale = scales[i / NN_LEN(dtypes)];
            const tl_dtype dtype = dtypes[i % NN_LEN(dtypes)];
            const tl_resample_axis axis = {0.5, 1, scale, -0.5, fmax(1, 1 / scale)};
            const tl_resample_param param = {.mode = mode, .cubic_a = -0.75, .axes = {axis, axis}};
            const int out = (int)floor(7 * scale);
            nn_room room = {0};
            tl_tensor *const src = nn_blank(&room, dtype, 2, (int[]){7, 7});
            tl_tensor *const dst = nn_blank(&room, dtype, 2, (int[]){out, out});
            for (int color = 93; color <= 127; color += 34) {
                for (int k = 0; k < src->len; k++)
                    tl_convert(tl_pointer_add(src->data, k, dtype), dtype, &(double){color},
                               TL_DOUBLE);
                ck_assert_ptr_eq(tl_tensor_resample(src, dst, dst->dims, &param), dst);
                for (int k = 0; k < dst->len; k++)
                    nn_check_near(dst, (size_t)k, color, 0);
            }
            nn_close(&room);
        }
}
END_TEST

START_TEST(positions_at_exact_halves_round_by_the_mode_along_each_axis)
{
    // Positions -0.5, 0.5, 1.5, 2.5 of three elements, as of 0, 1, 2 or 3 axes.
    static const int expected[TL_ROUNDING_SIZE][4] = {
        {0, 0, 1, 2}, {0, 1, 2, 2}, {0, 0, 1, 2}, {0, 1, 2, 2}};
    for (int rounding = 0; rounding < TL_ROUNDING_SIZE; rounding++)
        for (int ndim = 1; ndim <= 3; ndim++)
            for (size_t k = 0; k < NN_LEN(nn_types); k++) {
                if (nn_types[k] == TL_BOOL)
                    continue;
                tl_resample_param param = {.rounding = rounding};
                const int in[] = {3, 3, 3}, out[] = {4, 4, 4};
                double numbers[27];
                for (int i = 0; i < 27; i++)
                    numbers[i] = i;
                for (int i = 0; i < ndim; i++)
                    param.axes[i] = (tl_resample_axis){0, 1, 1, -0.5, 1};
                nn_room room = {0};
                tl_tensor *const src = nn_given(&room, nn_types[k], ndim, in, numbers);
                tl_tensor *const dst = nn_blank(&room, nn_types[k], ndim, out);
                ck_assert_ptr_eq(tl_tensor_resample(src, dst, out, &param), dst);
                for (int i = 0; i < dst->len; i++) {
                    int at[TL_MAXDIM], index = 0;
                    tl_tensor_coords(dst, i, at);
                    for (int axis = 0; axis < ndim; axis++)
                        index = 3 * index + expected[rounding][at[axis]];
                    nn_check_near(dst, (size_t)i, index, 0);
                }
                nn_close(&room);
            }
}
END_TEST

START_TEST(infinities_with_weight_0_are_ignored)
{
    const tl_resample_param param = {.mode = TL_RESAMPLE_LINEAR, .axes = {{0, 1, 2, 0, 1}}};
    nn_room room = {0};
    tl_tensor *const src = nn_given(&room, TL_FLOAT16, 1, (int[]){2}, (double[]){1, 0});
    ((uint16_t *)src->data)[1] = 0x7c00; // an infinity
    tl_tensor *const dst = nn_blank(&room, TL_FLOAT16, 1, (int[]){3});
    ck_assert_ptr_eq(tl_tensor_resample(src, dst, dst->dims, &param), dst);
    nn_check_values(dst, (double[]){1, INFINITY, INFINITY});
    nn_close(&room);
}
END_TEST

START_TEST(scalars_and_empty_tensors_stay)
{
    const tl_resample_param param = {.mode = TL_RESAMPLE_LINEAR, .axes = {{0, 1, 2, 0, 1}}};
    nn_room room = {0};
    tl_tensor *const scalar = nn_given(&room, TL_FLOAT, 0, NULL, (double[]){3});
    tl_tensor *const dst = nn_blank(&room, TL_FLOAT, 0, NULL);
    ck_assert_ptr_eq(tl_tensor_resample(scalar, dst, NULL, &param), dst);
    nn_check_values(dst, (double[]){3});
    tl_tensor *const empty = nn_blank(&room, TL_FLOAT, 1, (int[]){0});
    tl_tensor *const empty_dst = nn_blank(&room, TL_FLOAT, 1, (int[]){0});
    ck_assert_ptr_eq(tl_tensor_resample(empty, empty_dst, (int[]){0}, &param), empty_dst);
    ck_assert_ptr_null(tl_tensor_resample(empty, NULL, (int[]){2}, &param));
    ck_assert_str_eq(tl_last_error(), "'src' is empty, expected elements to make 2 of");
    nn_close(&room);
}
END_TEST

typedef struct threads_arg {
    const tl_tensor *src;
    tl_resample_param param;
} threads_arg;

static void run_resample(const tl_exec *exec, tl_tensor *dst, void *arg)
{
    const threads_arg *const a = arg;
    tl_exec own = exec ? *exec : (tl_exec){.isa = tl_isa_best()};
    own.scratch_size = tl_resample_scratch(a->src, dst->dims, &a->param);
    own.scratch = tl_alloc(own.scratch_size);
    ck_assert_int_eq(tl_exec_resample(&own, a->src, dst, &a->param), 0);
    tl_free(own.scratch);
}

START_TEST(threads_do_not_change_the_result)
{
    nn_room room = {.seed = 9};
    threads_arg arg = {nn_random(&room, TL_FLOAT, 3, (int[]){3, 64, 65}, -1, 1),
                       {.cubic_a = -0.75, .axes = {AXIS_SAME, AXIS_HALF(1, 2), AXIS_HALF(1, 2)}}};
    tl_tensor *const dst = nn_blank(&room, TL_FLOAT, 3, (int[]){3, 128, 130});
    for (arg.param.mode = 0; arg.param.mode < TL_RESAMPLE_MODE_SIZE; arg.param.mode++)
        nn_check_threads(run_resample, dst, &arg);
    nn_close(&room);
}
END_TEST

START_TEST(rejects_missing_scratch_memory)
{
    const tl_resample_param param = {.axes = {{0, 1, 2, 0, 1}}};
    nn_room room = {0};
    tl_tensor *const src = nn_given(&room, TL_FLOAT, 1, (int[]){2}, (double[]){1, 0});
    tl_tensor *const dst = nn_blank(&room, TL_FLOAT, 1, (int[]){4});
    ck_assert_int_eq(tl_exec_resample(NULL, src, dst, &param), -1);
    ck_assert_str_eq(tl_last_error(), "0 bytes of scratch memory, expected 64 to resample");
    nn_close(&room);
}
END_TEST

LN_TEST_MAIN("resample", each_element_is_a_weighted_sum_over_src,
             an_integer_image_of_one_color_is_unchanged,
             positions_at_exact_halves_round_by_the_mode_along_each_axis,
             infinities_with_weight_0_are_ignored, scalars_and_empty_tensors_stay,
             threads_do_not_change_the_result, rejects_missing_scratch_memory)
