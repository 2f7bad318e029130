// SPDX-License-Identifier: Apache-2.0
// Tests of pooling: known results, straightforward loops over odd shapes and every type.

#include "kernel/tl_nn_test.h"

START_TEST(padding_counts_neither_for_the_mean_nor_for_the_maximum)
{
    const tl_pool2d_param param = {{2, 2}, {1, 1}, {1, 1, 0, 0}};
    nn_room room = {0};
    tl_tensor *const src =
        nn_given(&room, TL_FLOAT, 4, (int[]){1, 1, 2, 2}, (double[]){1, 2, 3, 4});
    tl_tensor *const mean = tl_tensor_avgpool2d(src, NULL, &param);
    nn_check_values(mean, (double[]){1, 1.5, 2, 2.5});
    tl_tensor *const max = tl_tensor_maxpool2d(src, NULL, &param);
    nn_check_values(max, (double[]){1, 2, 3, 4});
    tl_tensor_free_data_too(mean);
    tl_tensor_free_data_too(max);
    nn_close(&room);
}
END_TEST

START_TEST(a_maximum_below_0_wins_over_padding)
{
    const tl_pool2d_param param = {{2, 2}, {2, 2}, {1, 1, 1, 1}};
    nn_room room = {0};
    tl_tensor *const src =
        nn_given(&room, TL_INT8, 4, (int[]){1, 1, 2, 2}, (double[]){-1, -128, -3, -4});
    tl_tensor *const dst = nn_blank(&room, TL_INT8, 4, (int[]){1, 1, 2, 2});
    ck_assert_ptr_eq(tl_tensor_maxpool2d(src, dst, &param), dst);
    nn_check_values(dst, (double[]){-1, -128, -3, -4});
    nn_close(&room);
}
END_TEST

START_TEST(a_nan_propagates_only_from_the_start_of_a_window)
{
    const tl_pool2d_param param = {{1, 2}, {1, 1}, {0, 0, 0, 0}};
    nn_room room = {0};
    tl_tensor *const src = nn_given(&room, TL_FLOAT, 4, (int[]){1, 1, 1, 3}, (double[]){1, NAN, 2});
    tl_tensor *const dst = nn_blank(&room, TL_FLOAT, 4, (int[]){1, 1, 1, 2});
    ck_assert_ptr_eq(tl_tensor_maxpool2d(src, dst, &param), dst);
    nn_check_values(dst, (double[]){1, NAN});
    ck_assert_ptr_eq(tl_tensor_avgpool2d(src, dst, &param), dst);
    nn_check_values(dst, (double[]){NAN, NAN});
    nn_close(&room);
}
END_TEST

// Against plain loops

typedef struct pool_case {
    int n, c, h, w;
    tl_pool2d_param param;
} pool_case;

static const pool_case cases[] = {
    {1, 1, 1, 1, {{1, 1}, {1, 1}, {0, 0, 0, 0}}}, {2, 3, 9, 11, {{3, 3}, {2, 2}, {1, 1, 1, 1}}},
    {1, 2, 7, 5, {{2, 4}, {3, 1}, {1, 0, 0, 3}}}, {3, 1, 8, 13, {{5, 2}, {1, 3}, {4, 1, 2, 0}}},
    {1, 2, 6, 6, {{6, 6}, {1, 1}, {0, 0, 0, 0}}}, {1, 1, 4, 9, {{1, 2}, {3, 4}, {0, 1, 0, 1}}},
};

// The largest, or the mean, of what a window meets.
static double pool_at(const tl_tensor *src, const tl_pool2d_param *p, const int *at, int is_mean)
{
    double max = -INFINITY, sum = 0;
    int count = 0;
    for (int i = 0; i < p->size[0]; i++)
        for (int j = 0; j < p->size[1]; j++) {
            const int y = at[2] * p->stride[0] - p->padding[0] + i;
            const int x = at[3] * p->stride[1] - p->padding[1] + j;
            if (y < 0 || y >= src->dims[2] || x < 0 || x >= src->dims[3])
                continue;
            const double value =
                nn_at(src, (size_t)tl_tensor_index(src, (int[]){at[0], at[1], y, x}));
            max = value > max ? value : max;
            sum += value;
            count++;
        }
    return is_mean ? sum / count : max;
}

static void check_case(const pool_case *c, tl_dtype dtype, int is_mean)
{
    const tl_pool2d_param *const p = &c->param;
    nn_room room = {.seed = 11};
    tl_tensor *const src = nn_random(&room, dtype, 4, (int[]){c->n, c->c, c->h, c->w}, -90, 90);
    int dims[4] = {c->n, c->c};
    for (int i = 0; i < 2; i++)
        dims[2 + i] = tl_conv2d_length(src->dims[2 + i], p->size[i], p->stride[i], 1, p->padding[i],
                                       p->padding[2 + i]);
    tl_tensor *const dst = nn_blank(&room, dtype, 4, dims);
    ck_assert_ptr_eq((is_mean ? tl_tensor_avgpool2d : tl_tensor_maxpool2d)(src, dst, p), dst);
    for (int k = 0; k < dst->len; k++) {
        int coords[4];
        tl_tensor_coords(dst, k, coords);
        const double expected = pool_at(src, p, coords, is_mean);
        // The sum is as exact as the expected one; converting rounds to float, then to storage.
        nn_check_near(dst, (size_t)k, expected,
                      is_mean ? nn_tolerance(dtype, 1, fabs(expected), expected) : 0);
    }
    nn_close(&room);
}

START_TEST(maxpool2d_agrees_with_loops_on_every_type)
{
    for (size_t i = 0; i < NN_LEN(cases); i++)
        for (size_t k = 0; k < NN_LEN(nn_types); k++)
            check_case(&cases[i], nn_types[k], 0);
}
END_TEST

START_TEST(avgpool2d_agrees_with_loops_on_every_float)
{
    for (size_t i = 0; i < NN_LEN(cases); i++)
        for (size_t k = 0; k < NN_LEN(nn_floats); k++)
            check_case(&cases[i], nn_floats[k], 1);
}
END_TEST

// Threads, errors

typedef struct threads_arg {
    const tl_tensor *src;
    tl_pool2d_param param;
} threads_arg;

static void run_maxpool2d(const tl_exec *exec, tl_tensor *dst, void *arg)
{
    const threads_arg *const a = arg;
    tl_exec_maxpool2d(exec, a->src, dst, &a->param);
}

static void run_avgpool2d(const tl_exec *exec, tl_tensor *dst, void *arg)
{
    const threads_arg *const a = arg;
    tl_exec_avgpool2d(exec, a->src, dst, &a->param);
}

START_TEST(threads_do_not_change_the_result)
{
    nn_room room = {.seed = 12};
    threads_arg arg = {nn_random(&room, TL_FLOAT, 4, (int[]){3, 7, 64, 64}, -1, 1),
                       {{2, 2}, {2, 2}, {0, 0, 0, 0}}};
    tl_tensor *const dst = nn_blank(&room, TL_FLOAT, 4, (int[]){3, 7, 32, 32});
    nn_check_threads(run_maxpool2d, dst, &arg);
    nn_check_threads(run_avgpool2d, dst, &arg);
    nn_close(&room);
}
END_TEST

START_TEST(pool2d_rejects_bad_windows)
{
    static const struct {
        int dims[4];
        tl_dtype dtype;
        tl_pool2d_param param;
        const char *reason;
    } bad[] = {
        {{1, 1, 4, 4},
         TL_FLOAT,
         {{2, 2}, {1, 1}, {0, 2, 0, 0}},
         "the padding of axis 3 is 2 and 0, expected less than its 'size', 2"},
        {{1, 1, 4, 4},
         TL_FLOAT,
         {{2, 2}, {1, 1}, {0, 0, -1, 0}},
         "'padding' has -1 at index 2, expected at least 0"},
        {{1, 1, 4, 4},
         TL_FLOAT,
         {{0, 2}, {1, 1}, {0, 0, 0, 0}},
         "'size' has 0 at index 0, expected at least 1"},
        {{1, 1, 4, 4},
         TL_FLOAT,
         {{2, 2}, {1, 0}, {0, 0, 0, 0}},
         "'stride' has 0 at index 1, expected at least 1"},
        {{1, 1, 4, 2},
         TL_FLOAT,
         {{2, 3}, {1, 1}, {0, 0, 0, 0}},
         "length 2 with padding 0 and 0 along spatial axis 0, expected at least the window's 3"},
        {{1, 1, 0, 2},
         TL_FLOAT,
         {{2, 2}, {1, 1}, {1, 1, 1, 1}},
         "length 0, size 2, stride 1, dilation 1, expected all at least 1"},
        {{1, 1, 4, 4},
         TL_INT32,
         {{2, 2}, {1, 1}, {0, 0, 0, 0}},
         "'src' has dtype TL_INT32, expected a float"},
    };
    for (size_t i = 0; i < NN_LEN(bad); i++) {
        tl_tensor *const src = tl_tensor_zeros(4, bad[i].dims, bad[i].dtype);
        ck_assert_ptr_null(tl_tensor_avgpool2d(src, NULL, &bad[i].param));
        ck_assert_str_eq(tl_last_error(), bad[i].reason);
        tl_tensor_free_data_too(src);
    }
}
END_TEST

LN_TEST_MAIN("pool2d", padding_counts_neither_for_the_mean_nor_for_the_maximum,
             a_maximum_below_0_wins_over_padding, a_nan_propagates_only_from_the_start_of_a_window,
             maxpool2d_agrees_with_loops_on_every_type, avgpool2d_agrees_with_loops_on_every_float,
             threads_do_not_change_the_result, pool2d_rejects_bad_windows)
