// SPDX-License-Identifier: Apache-2.0
// Tests of pooling over any number of axes: straightforward loops over odd shapes, every type,
// known results, threads, errors.

#include "kernel/tl_nn_test.h"

START_TEST(windows_of_padding_alone_give_the_min_value_or_0)
{
    tl_poolnd_param param = {.windows = {1, {1}, {1}, {1}, {1, 0}}};
    nn_room room = {0};
    tl_tensor *const src = nn_given(&room, TL_INT16, 3, (int[]){1, 1, 1}, (double[]){5});
    tl_tensor *const dst = nn_blank(&room, TL_INT16, 3, (int[]){1, 1, 2});
    tl_tensor *const arg = nn_blank(&room, TL_INT64, 3, (int[]){1, 1, 2});
    ck_assert_ptr_eq(tl_tensor_poolnd(src, dst, arg, &param), dst);
    nn_check_values(dst, (double[]){INT16_MIN, 5});
    nn_check_values(arg, (double[]){-1, 0});
    tl_tensor *const floats = nn_given(&room, TL_FLOAT, 3, (int[]){1, 1, 1}, (double[]){5});
    tl_tensor *const mean = nn_blank(&room, TL_FLOAT, 3, (int[]){1, 1, 2});
    param.kind = TL_POOL_MEAN;
    ck_assert_ptr_eq(tl_tensor_poolnd(floats, mean, NULL, &param), mean);
    nn_check_values(mean, (double[]){0, 5});
    nn_close(&room);
}
END_TEST

START_TEST(a_nan_propagates_only_from_the_start_of_a_window)
{
    const tl_poolnd_param param = {.windows = {1, {2}, {1}, {1}, {0}}};
    nn_room room = {0};
    tl_tensor *const src = nn_given(&room, TL_FLOAT16, 3, (int[]){1, 1, 3}, (double[]){1, NAN, 2});
    tl_tensor *const dst = nn_blank(&room, TL_FLOAT16, 3, (int[]){1, 1, 2});
    ck_assert_ptr_eq(tl_tensor_poolnd(src, dst, NULL, &param), dst);
    nn_check_values(dst, (double[]){1, NAN});
    nn_close(&room);
}
END_TEST

START_TEST(no_images_give_no_results)
{
    const tl_poolnd_param param = {.windows = {1, {2}, {1}, {1}, {0}}};
    nn_room room = {0};
    tl_tensor *const src = nn_blank(&room, TL_FLOAT, 3, (int[]){0, 3, 4});
    tl_tensor *const dst = nn_blank(&room, TL_FLOAT, 3, (int[]){0, 3, 3});
    ck_assert_ptr_eq(tl_tensor_poolnd(src, dst, NULL, &param), dst);
    nn_close(&room);
}
END_TEST

// Against plain loops

typedef struct pool_case {
    int dims[TL_MAXDIM];
    tl_poolnd_param param;
} pool_case;

static const pool_case cases[] = {
    {{2, 3, 9}, {.windows = {1, {3}, {2}, {1}, {1, 1}}}},
    {{1, 2, 11}, {.windows = {1, {3}, {3}, {2}, {2, 1}}, .is_ceil = 1, .p = 1}},
    {{1, 2, 7, 5},
     {.windows = {2, {2, 3}, {3, 2}, {1, 2}, {1, 0, 0, 3}}, .counts_padding = 1, .p = 2}},
    {{1, 1, 6, 7},
     {.windows = {2, {3, 3}, {2, 2}, {1, 1}, {0, 1, 0, 1}},
      .is_ceil = 1,
      .counts_padding = 1,
      .is_column_major = 1,
      .p = 3}},
    {{2, 1, 4, 3, 5},
     {.windows = {3, {2, 3, 3}, {1, 2, 1}, {2, 1, 1}, {0, 1, 1, 1, 1, 0}},
      .is_column_major = 1,
      .p = 0.5}},
    {{1, 2, 2, 3, 2, 3}, {.windows = {4, {1, 2, 2, 1}, {1, 1, 1, 2}, {1, 1, 1, 1}, {0}}, .p = 2}},
    // Wider and higher than a tile.
    {{1, 1, 2, 1500}, {.windows = {2, {2, 3}, {1, 1}, {1, 2}, {0, 1, 1, 1}}, .p = 1}},
    {{1, 1, 70, 33}, {.windows = {2, {3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}}, .p = 2}},
    // Few windows of many taps, and of all elements.
    {{1, 2, 5, 19}, {.windows = {2, {2, 9}, {2, 10}, {2, 1}, {0, 0, 1, 0}}, .p = 2}},
    {{1, 2, 9, 17},
     {.windows = {2, {3, 8}, {1, 1}, {2, 2}, {4, 1, 4, 1}}, .counts_padding = 1, .p = 3}},
    {{2, 3, 7, 7}, {.windows = {2, {7, 7}, {1, 1}, {1, 1}, {0}}, .is_column_major = 1, .p = 1}},
    // Strides and dilations of rows of several vectors, and one beyond src.
    {{1, 2, 9, 77}, {.windows = {2, {3, 3}, {2, 2}, {1, 1}, {1, 1, 1, 1}}, .p = 1}},
    {{1, 1, 6, 4200}, {.windows = {2, {2, 4}, {1, 4}, {2, 1}, {0, 2, 0, 1}}, .p = 2}},
    {{2, 1, 3000}, {.windows = {1, {5}, {1}, {7}, {9, 14}}, .counts_padding = 1, .p = 2}},
    {{1, 2, 4, 6, 35},
     {.windows = {3, {3, 3, 3}, {1, 2, 1}, {1, 1, 2}, {1, 1, 2, 1, 1, 2}}, .p = 1}},
    {{1, 1, 5, 40}, {.windows = {2, {2, 3}, {1, 3}, {1, 1}, {0, 2, 0, 1}}, .is_ceil = 1, .p = 1}},
    {{1, 2, 3, 4, 12}, {.windows = {3, {3, 4, 12}, {1, 1, 1}, {1, 1, 1}, {0}}, .p = 2}},
    // Small planes: rows of less than a vector, of one and of several, whose last ones overlap.
    {{1, 3, 7, 7}, {.windows = {2, {3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}}}},
    {{1, 2, 14, 14}, {.windows = {2, {2, 2}, {2, 2}, {1, 1}, {0}}}},
    {{1, 2, 20, 20}, {.windows = {2, {5, 5}, {1, 1}, {1, 1}, {2, 2, 2, 2}}}},
    {{1, 2, 35, 35}, {.windows = {2, {3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}}}},
    {{1, 2, 6, 53}, {.windows = {2, {2, 13}, {1, 1}, {1, 1}, {0, 6, 0, 6}}, .counts_padding = 1}},
    {{1, 1, 150, 5}, {.windows = {2, {3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}}}},
    // Strides of 2 and 4, in phases, from odd columns too, and others.
    {{1, 2, 4, 28, 28}, {.windows = {3, {2, 2, 2}, {2, 2, 2}, {1, 1, 1}, {0}}}},
    {{1, 2, 15, 57}, {.windows = {2, {3, 5}, {2, 2}, {1, 3}, {1, 3, 1, 2}}, .is_ceil = 1}},
    {{1, 2, 11, 131}, {.windows = {2, {3, 6}, {4, 4}, {1, 3}, {1, 5, 0, 3}}, .is_ceil = 1}},
    {{1, 2, 9, 18}, {.windows = {2, {3, 4}, {3, 4}, {1, 1}, {0}}}},
    {{1, 2, 9, 78}, {.windows = {2, {3, 3}, {3, 3}, {1, 1}, {0, 1, 0, 1}}}},
    {{1, 3, 2100}, {.windows = {1, {4}, {4}, {1}, {0}}}},
    // Parts of rows; the last one is narrow.
    {{1, 1, 3, 514}, {.windows = {2, {2, 2}, {1, 1}, {1, 1}, {0}}}},
    {{1, 1, 3, 1031}, {.windows = {2, {2, 3}, {1, 2}, {1, 1}, {0, 1, 0, 0}}}},
    {{1, 1, 3, 2057}, {.windows = {2, {2, 6}, {1, 4}, {1, 1}, {0, 1, 0, 0}}}},
};

// The elements of a window.
typedef struct meeting {
    double max, sum, norm;
    int count, padded; // elements inside src; inside src and its padding
    long long arg;
} meeting;

static meeting meet(const tl_tensor *src, const tl_poolnd_param *p, const int *at)
{
    const tl_windows *const w = &p->windows;
    meeting m = {.max = -INFINITY, .arg = -1};
    int taps = 1;
    for (int i = 0; i < w->n; i++)
        taps *= w->size[i];
    for (int k = 0; k < taps; k++) {
        int place[TL_MAXDIM] = {at[0], at[1]}, is_inside = 1, is_padded = 1;
        for (int i = w->n - 1, rest = k; i >= 0; rest /= w->size[i], i--) {
            const int position =
                at[2 + i] * w->stride[i] - w->padding[i] + rest % w->size[i] * w->dilation[i];
            is_inside &= position >= 0 && position < src->dims[2 + i];
            is_padded &= position < src->dims[2 + i] + w->padding[w->n + i];
            place[2 + i] = position;
        }
        m.padded += is_padded;
        if (!is_inside)
            continue;
        const double value = nn_at(src, (size_t)tl_tensor_index(src, place));
        m.count++;
        m.sum += value;
        m.norm += pow(fabs(value), p->p);
        if (value > m.max) {
            m.max = value;
            m.arg = tl_tensor_index(src, place);
            if (p->is_column_major) {
                m.arg = 0;
                for (int i = w->n - 1; i >= 0; i--)
                    m.arg = m.arg * src->dims[2 + i] + place[2 + i];
                for (int i = 0, plane = at[0] * src->dims[1] + at[1]; i <= w->n; i++) {
                    if (i == w->n)
                        m.arg += plane;
                    else
                        plane *= src->dims[2 + i];
                }
            }
        }
    }
    return m;
}

static double expected_of(const meeting *m, const tl_poolnd_param *p)
{
    if (p->kind == TL_POOL_MAX)
        return m->max;
    if (p->kind == TL_POOL_NORM)
        return pow(m->norm, 1 / p->p);
    return m->count ? m->sum / (p->counts_padding ? m->padded : m->count) : 0;
}

static void check_case(const pool_case *c, tl_dtype dtype, tl_pool_kind kind)
{
    nn_room room = {.seed = 21};
    tl_poolnd_param param = c->param;
    param.kind = kind;
    const int ndim = param.windows.n + 2;
    tl_tensor *const src = nn_random(&room, dtype, ndim, c->dims, -90, 90);
    int dims[TL_MAXDIM];
    ck_assert_int_eq(tl_poolnd_shape(src, &param, dims), 0);
    tl_tensor *const dst = nn_blank(&room, dtype, ndim, dims);
    tl_tensor *const arg = kind == TL_POOL_MAX ? nn_blank(&room, TL_INT64, ndim, dims) : NULL;
    ck_assert_ptr_eq(tl_tensor_poolnd(src, dst, arg, &param), dst);
    NN_EACH_ISA(exec)
    {
        tl_tensor *const same = nn_blank(&room, dtype, ndim, dims);
        tl_exec_poolnd(&exec, src, same, NULL, &param);
        for (int k = 0; k < dst->len; k++)
            nn_check_near(same, (size_t)k, nn_at(dst, (size_t)k),
                          arg ? 0 : nn_tolerance(dtype, 1, fabs(nn_at(dst, (size_t)k)), 0));
    }
    for (int k = 0; k < dst->len; k++) {
        int coords[TL_MAXDIM];
        tl_tensor_coords(dst, k, coords);
        const meeting m = meet(src, &param, coords);
        const double expected = expected_of(&m, &param);
        // Sums are as exact as the expected ones; converting rounds to float, then to storage.
        nn_check_near(dst, (size_t)k, expected,
                      arg ? 0 : nn_tolerance(dtype, 20, fabs(expected), expected));
        if (arg)
            ck_assert_int_eq(((int64_t *)arg->data)[k], m.arg);
    }
    nn_close(&room);
}

// Against the max with indices, which are in the order of the axes.
static void check_like_indices(const tl_tensor *src, const tl_poolnd_param *param)
{
    nn_room room = {0};
    int dims[4];
    ck_assert_int_eq(tl_poolnd_shape(src, param, dims), 0);
    tl_tensor *const dst = nn_blank(&room, TL_FLOAT, 4, dims);
    tl_tensor *const same = nn_blank(&room, TL_FLOAT, 4, dims);
    tl_tensor *const arg = nn_blank(&room, TL_INT64, 4, dims);
    ck_assert_ptr_eq(tl_tensor_poolnd(src, dst, arg, param), dst);
    NN_EACH_ISA(exec)
    {
        tl_exec_poolnd(&exec, src, same, NULL, param);
        for (int k = 0; k < dst->len; k++)
            nn_check_near(same, (size_t)k, nn_at(dst, (size_t)k), 0);
    }
    nn_close(&room);
}

START_TEST(a_nan_propagates_alike_with_and_without_indices)
{
    static const pool_case nans[] = {
        {{1, 2, 7, 40}, {.windows = {2, {2, 3}, {1, 2}, {1, 1}, {1, 1, 0, 0}}}},
        {{1, 2, 7, 40}, {.windows = {2, {7, 40}, {1, 1}, {1, 1}, {0}}}},
        {{1, 2, 7, 40}, {.windows = {2, {2, 2}, {3, 1}, {2, 1}, {0}}}},
        {{1, 1, 4, 1100}, {.windows = {2, {2, 2}, {1, 1}, {1, 1}, {0, 1, 0, 0}}}},
    };
    for (size_t i = 0; i < NN_LEN(nans); i++) {
        const int len = nans[i].dims[1] * nans[i].dims[2] * nans[i].dims[3];
        for (int at = 0; at < len; at += len < 1000 ? 3 : 37) {
            nn_room room = {.seed = 5};
            tl_tensor *const src = nn_random(&room, TL_FLOAT, 4, nans[i].dims, -9, 9);
            ((float *)src->data)[at] = NAN;
            check_like_indices(src, &nans[i].param);
            nn_close(&room);
        }
    }
}
END_TEST

START_TEST(infinities_of_both_signs_are_no_nan)
{
    const tl_poolnd_param param = {.windows = {2, {3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}}};
    nn_room room = {.seed = 6};
    tl_tensor *const src = nn_random(&room, TL_FLOAT, 4, (int[]){1, 2, 7, 40}, -9, 9);
    for (int at = 0; at < src->len; at += 5)
        ((float *)src->data)[at] = at % 2 ? INFINITY : -INFINITY;
    check_like_indices(src, &param);
    ((float *)src->data)[100] = NAN;
    check_like_indices(src, &param);
    nn_close(&room);
}
END_TEST

START_TEST(the_maximum_agrees_with_loops_on_every_type)
{
    for (size_t i = 0; i < NN_LEN(cases); i++)
        for (size_t k = 0; k < NN_LEN(nn_types); k++)
            check_case(&cases[i], nn_types[k], TL_POOL_MAX);
}
END_TEST

START_TEST(mean_and_norm_agree_with_loops_on_every_float)
{
    for (size_t i = 0; i < NN_LEN(cases); i++)
        for (size_t k = 0; k < NN_LEN(nn_floats); k++) {
            check_case(&cases[i], nn_floats[k], TL_POOL_MEAN);
            if (cases[i].param.p > 0)
                check_case(&cases[i], nn_floats[k], TL_POOL_NORM);
        }
}
END_TEST

// Threads, errors

typedef struct threads_arg {
    const tl_tensor *src;
    tl_poolnd_param param;
} threads_arg;

static void run_poolnd(const tl_exec *exec, tl_tensor *dst, void *arg)
{
    const threads_arg *const a = arg;
    tl_exec_poolnd(exec, a->src, dst, NULL, &a->param);
}

START_TEST(threads_do_not_change_the_result)
{
    nn_room room = {.seed = 22};
    threads_arg arg = {nn_random(&room, TL_FLOAT, 5, (int[]){3, 7, 8, 16, 16}, -1, 1),
                       {.windows = {3, {2, 2, 2}, {2, 2, 2}, {1, 1, 1}, {0}}, .p = 2}};
    tl_tensor *const dst = nn_blank(&room, TL_FLOAT, 5, (int[]){3, 7, 4, 8, 8});
    for (arg.param.kind = TL_POOL_MAX; arg.param.kind < TL_POOL_KIND_SIZE; arg.param.kind++)
        nn_check_threads(run_poolnd, dst, &arg);
    nn_close(&room);
}
END_TEST

START_TEST(poolnd_rejects_bad_windows)
{
    static const struct {
        int dims[3];
        tl_dtype dtype;
        tl_poolnd_param param;
        const char *reason;
    } bad[] = {
        {{1, 1, 4},
         TL_FLOAT,
         {.windows = {2, {2, 2}, {1, 1}, {1, 1}, {0}}},
         "'src' has 3 dimensions, expected batch, channels and the 2 of the window"},
        {{1, 1, 4},
         TL_FLOAT,
         {.windows = {1, {0}, {1}, {1}, {0}}},
         "'size' is 0, expected at least 1"},
        {{1, 1, 4},
         TL_FLOAT,
         {.windows = {1, {2}, {1}, {1}, {0, -1}}},
         "'padding' has -1 at index 1, expected at least 0"},
        {{1, 1, 4},
         TL_FLOAT,
         {.windows = {1, {5}, {1}, {1}, {0}}},
         "length 4 with padding 0 and 0 along spatial axis 0, expected at least the window's 5"},
        {{1, 1, 4},
         TL_INT32,
         {.windows = {1, {2}, {1}, {1}, {0}}, .kind = TL_POOL_MEAN},
         "'src' has dtype TL_INT32, expected a float"},
        {{1, 1, 4},
         TL_FLOAT,
         {.windows = {1, {2}, {1}, {1}, {0}}, .kind = TL_POOL_NORM},
         "'p' is 0, expected more than 0"},
        {{1, 1, 4},
         TL_FLOAT,
         {.windows = {1, {2}, {1}, {1}, {0}}, .kind = TL_POOL_KIND_SIZE},
         "pool kind 3, expected 0 to 2"},
    };
    for (size_t i = 0; i < NN_LEN(bad); i++) {
        tl_tensor *const src = tl_tensor_zeros(3, bad[i].dims, bad[i].dtype);
        ck_assert_ptr_null(tl_tensor_poolnd(src, NULL, NULL, &bad[i].param));
        ck_assert_str_eq(tl_last_error(), bad[i].reason);
        tl_tensor_free_data_too(src);
    }
}
END_TEST

LN_TEST_MAIN("poolnd", windows_of_padding_alone_give_the_min_value_or_0,
             a_nan_propagates_only_from_the_start_of_a_window, no_images_give_no_results,
             a_nan_propagates_alike_with_and_without_indices, infinities_of_both_signs_are_no_nan,
             the_maximum_agrees_with_loops_on_every_type,
             mean_and_norm_agree_with_loops_on_every_float, threads_do_not_change_the_result,
             poolnd_rejects_bad_windows)
