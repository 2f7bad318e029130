// SPDX-License-Identifier: Apache-2.0
// Tests of convolutions over any number of axes: straightforward loops over odd shapes, every type,
// threads, errors.

#include "kernel/tl_nn_test.h"

// Against plain loops

typedef struct conv_case {
    int batch, group, ic, oc; // channels of a group
    int in[TL_MAX_SPATIAL];
    tl_windows windows;
    int output_padding[TL_MAX_SPATIAL];
} conv_case;

static const conv_case cases[] = {
    {2, 1, 2, 3, {9}, {1, {3}, {1}, {1}, {1, 1}}, {0}},
    {1, 3, 1, 2, {2050}, {1, {5}, {2}, {3}, {4, 0}}, {1}},
    {1, 2, 2, 1, {5, 6}, {2, {3, 2}, {2, 1}, {1, 2}, {1, 0, 2, 1}}, {1, 0}},
    {2, 1, 3, 2, {4, 3, 5}, {3, {2, 3, 3}, {1, 2, 1}, {2, 1, 1}, {0, 1, 1, 1, 1, 0}}, {0, 1, 2}},
    {1, 1, 1, 1, {3, 4, 5}, {3, {2, 2, 2}, {2, 2, 2}, {1, 1, 1}, {0, 0, 0, 0, 0, 0}}, {0}},
    {1, 1, 2, 1, {2, 3, 2, 3}, {4, {1, 2, 2, 1}, {1, 1, 1, 2}, {1, 1, 1, 1}, {0}}, {0}},
    {1, 1, 1, 2, {8}, {1, {2}, {1}, {1}, {-2, -1}}, {0}},
    {0, 1, 1, 2, {8}, {1, {2}, {1}, {1}, {0, 0}}, {0}},
    {1, 1, 1, 1, {1, 1}, {2, {1, 1}, {1, 1}, {1, 1}, {0}}, {0}},
    {2, 1, 3, 4, {5, 7}, {2, {1, 1}, {1, 1}, {1, 1}, {0}}, {0}},             // one long row
    {2, 1, 5, 2, {3, 5, 4}, {3, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {0}}, {0}}, // the same
    {1, 1, 5, 3, {13, 11}, {2, {3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}}, {1, 2}},
    {1, 2, 2, 3, {9, 10}, {2, {3, 2}, {2, 1}, {1, 3}, {0, 3, 2, 1}}, {0, 1}},
    {1, 6, 1, 1, {7, 17}, {2, {5, 3}, {1, 2}, {1, 2}, {2, 1, 3, 0}}, {0}}, // depthwise
    {1, 3, 1, 3, {8, 8}, {2, {2, 4}, {3, 3}, {2, 1}, {1, 2, 0, 3}}, {0}},
    {1, 1, 1, 2, {3, 1500}, {2, {2, 5}, {1, 1}, {1, 1}, {0, 2, 1, 2}}, {0}}, // wider than a tile
    {1, 1, 2, 1, {70, 33}, {2, {3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}}, {0}},  // higher than a tile
    {1, 1, 2, 2, {2, 2}, {2, {3, 3}, {2, 2}, {4, 4}, {4, 5, 4, 5}}, {0}},    // taps outside src
    {1, 1, 2, 2, {5, 4}, {2, {1, 1}, {2, 3}, {1, 1}, {0}}, {1, 1}},          // gaps between taps
};

static int count(const int *extents, int n)
{
    int result = 1;
    for (int i = 0; i < n; i++)
        result *= extents[i];
    return result;
}

static void coords_of(int index, const int *extents, int n, int *coords)
{
    for (int i = n - 1; i >= 0; i--) {
        coords[i] = index % extents[i];
        index /= extents[i];
    }
}

// Whether the tap joins position `at` of the windows with a position inside `limit`, which it
// writes as an index in a plane.
static int joins(const tl_windows *w, const int *at, const int *tap, const int *limit, int *index)
{
    *index = 0;
    for (int i = 0; i < w->n; i++) {
        const int position = at[i] * w->stride[i] + tap[i] * w->dilation[i] - w->padding[i];
        if (position < 0 || position >= limit[i])
            return 0;
        *index = *index * limit[i] + position;
    }
    return 1;
}

typedef double value_of(const tl_tensor *t, size_t i, void *arg);

static double plain(const tl_tensor *t, size_t i, void *arg)
{
    (void)arg;
    return nn_at(t, i);
}

typedef struct tensors {
    tl_tensor *src, *weight, *bias;
} tensors;

// Adds src * weight, and its magnitude, to sums: over the planes of `narrow`, whose positions are
// windows, and of `wide`, over which these slide.
static void add_all(const conv_case *c, const tensors *t, int is_transposed, const int *out,
                    value_of *src_value, value_of *weight_value, void *arg, double *sums,
                    double *magnitudes)
{
    const int n = c->windows.n;
    const int *const narrow = is_transposed ? c->in : out, *const wide =
                                                               is_transposed ? out : c->in;
    const int taps = count(c->windows.size, n), in_plane = count(c->in, n);
    for (int image = 0; image < c->batch; image++)
        for (int oc = 0; oc < c->oc * c->group; oc++)
            for (int ic = 0; ic < c->ic; ic++) {
                const int g = oc / c->oc;
                const int channel = (image * c->group + g) * c->ic + ic;
                const int pair =
                    is_transposed ? (g * c->ic + ic) * c->oc + oc % c->oc : oc * c->ic + ic;
                for (int k = 0; k < taps; k++)
                    for (int p = 0; p < count(narrow, n); p++) {
                        int tap[TL_MAX_SPATIAL], at[TL_MAX_SPATIAL], q;
                        coords_of(k, c->windows.size, n, tap);
                        coords_of(p, narrow, n, at);
                        if (!joins(&c->windows, at, tap, wide, &q))
                            continue;
                        const int from = channel * in_plane + (is_transposed ? p : q);
                        const int to = (image * c->group * c->oc + oc) * count(out, n) +
                                       (is_transposed ? q : p);
                        const double product =
                            src_value(t->src, (size_t)from, arg) *
                            weight_value(t->weight, (size_t)pair * taps + k, arg);
                        sums[to] += product;
                        magnitudes[to] += fabs(product);
                    }
            }
}

static void shape_with(int *dims, int first, int second, const int *rest, int n)
{
    dims[0] = first;
    dims[1] = second;
    memcpy(dims + 2, rest, (size_t)n * sizeof(int));
}

static void check_case(const conv_case *c, tl_dtype dtype, int is_transposed, int has_bias)
{
    const int n = c->windows.n, ndim = n + 2;
    nn_room room = {.seed = 3};
    tensors t = {NULL, NULL, NULL};
    int dims[TL_MAXDIM];
    shape_with(dims, c->batch, c->group * c->ic, c->in, n);
    t.src = nn_random(&room, dtype, ndim, dims, -1, 1);
    shape_with(dims, c->group * (is_transposed ? c->ic : c->oc), is_transposed ? c->oc : c->ic,
               c->windows.size, n);
    t.weight = nn_random(&room, dtype, ndim, dims, -1, 1);
    if (has_bias)
        t.bias = nn_random(&room, dtype, 1, (int[]){c->group * c->oc}, -1, 1);
    ck_assert_int_eq(is_transposed
                         ? tl_deconvnd_shape(t.src, t.weight, t.bias, &c->windows, c->group,
                                             c->output_padding, dims)
                         : tl_convnd_shape(t.src, t.weight, t.bias, &c->windows, c->group, dims),
                     0);
    tl_tensor *const dst = nn_blank(&room, dtype, ndim, dims);
    if (is_transposed)
        ck_assert_ptr_eq(tl_tensor_deconvnd(t.src, t.weight, t.bias, dst, &c->windows, c->group,
                                            c->output_padding),
                         dst);
    else
        ck_assert_ptr_eq(tl_tensor_convnd(t.src, t.weight, t.bias, dst, &c->windows, c->group),
                         dst);
    double *const sums = calloc((size_t)dst->len + 1, sizeof(double));
    double *const magnitudes = calloc((size_t)dst->len + 1, sizeof(double));
    add_all(c, &t, is_transposed, dst->dims + 2, plain, plain, NULL, sums, magnitudes);
    const int terms = c->ic * count(c->windows.size, n) + 1;
    for (int k = 0; k < dst->len; k++) {
        const int oc = k / count(dst->dims + 2, n) % (c->group * c->oc);
        const double bias = has_bias ? nn_at(t.bias, (size_t)oc) : 0;
        nn_check_near(dst, (size_t)k, sums[k] + bias,
                      nn_tolerance(dtype, terms, magnitudes[k] + fabs(bias), sums[k] + bias));
    }
    free(sums);
    free(magnitudes);
    nn_close(&room);
}

START_TEST(convnd_agrees_with_loops_on_every_float)
{
    for (size_t i = 0; i < NN_LEN(cases); i++)
        for (size_t k = 0; k < NN_LEN(nn_floats); k++)
            check_case(&cases[i], nn_floats[k], 0, k % 2);
}
END_TEST

START_TEST(deconvnd_agrees_with_loops_on_every_float)
{
    for (size_t i = 0; i < NN_LEN(cases); i++)
        for (size_t k = 0; k < NN_LEN(nn_floats); k++)
            check_case(&cases[i], nn_floats[k], 1, k % 2);
}
END_TEST

// Integers

typedef struct zeros {
    const tl_tensor *src, *weight;
    size_t weights_per_channel;
} zeros;

static double src_less_zero(const tl_tensor *t, size_t i, void *arg)
{
    const zeros *const z = arg;
    return nn_at(t, i) - (z->src ? nn_at(z->src, 0) : 0);
}

static double weight_less_zero(const tl_tensor *t, size_t i, void *arg)
{
    const zeros *const z = arg;
    if (!z->weight)
        return nn_at(t, i);
    return nn_at(t, i) - nn_at(z->weight, z->weight->len > 1 ? i / z->weights_per_channel : 0);
}

// `zero_len` 0: no zero points; else the elements of the weight's, -1 for one per channel.
static void check_int_case(const conv_case *c, tl_dtype src_type, tl_dtype weight_type,
                           int zero_len)
{
    const int n = c->windows.n, oc = c->group * c->oc;
    nn_room room = {.seed = 4};
    tensors t = {NULL, NULL, NULL};
    int dims[TL_MAXDIM];
    shape_with(dims, c->batch, c->group * c->ic, c->in, n);
    t.src = nn_random(&room, src_type, n + 2, dims, -128, 255);
    shape_with(dims, oc, c->ic, c->windows.size, n);
    t.weight = nn_random(&room, weight_type, n + 2, dims, -128, 255);
    t.bias = zero_len ? nn_random(&room, TL_INT32, 1, (int[]){oc}, -1e6, 1e6) : NULL;
    zeros z = {.weights_per_channel = (size_t)(c->ic * count(c->windows.size, n))};
    if (zero_len) {
        z.src = nn_random(&room, src_type, 0, NULL, -128, 255);
        z.weight =
            nn_random(&room, weight_type, 1, (int[]){zero_len < 0 ? oc : zero_len}, -128, 255);
    }
    const tl_conv_int_args args = {t.src, t.weight, z.src, z.weight, t.bias};
    ck_assert_int_eq(tl_conv_int_shape(&args, &c->windows, c->group, dims), 0);
    tl_tensor *const dst = nn_blank(&room, TL_INT32, n + 2, dims);
    ck_assert_ptr_eq(tl_tensor_conv_int(&args, dst, &c->windows, c->group), dst);
    double *const sums = calloc((size_t)dst->len * 2 + 1, sizeof(double));
    add_all(c, &t, 0, dst->dims + 2, src_less_zero, weight_less_zero, &z, sums, sums + dst->len);
    for (int k = 0; k < dst->len; k++) {
        const size_t channel = (size_t)(k / count(dst->dims + 2, n) % oc);
        nn_check_near(dst, (size_t)k, sums[k] + (t.bias ? nn_at(t.bias, channel) : 0), 0);
    }
    free(sums);
    nn_close(&room);
}

START_TEST(conv_int_agrees_with_loops_on_all_pairs_of_types)
{
    static const tl_dtype types[] = {TL_INT8, TL_UINT8};
    for (size_t i = 0; i < NN_LEN(cases); i++)
        for (int k = 0; k < 4; k++)
            for (int zero_len = -1; zero_len <= 1; zero_len++)
                check_int_case(&cases[i], types[k / 2], types[k % 2], zero_len);
}
END_TEST

START_TEST(sums_of_integers_wrap)
{
    const tl_windows windows = {1, {1}, {1}, {1}, {0}};
    nn_room room = {0};
    const tl_conv_int_args args = {
        .src = nn_given(&room, TL_INT8, 3, (int[]){1, 1, 1}, (double[]){1}),
        .weight = nn_given(&room, TL_INT8, 3, (int[]){1, 1, 1}, (double[]){1}),
        .bias = nn_given(&room, TL_INT32, 1, (int[]){1}, (double[]){INT32_MAX})};
    tl_tensor *const dst = nn_blank(&room, TL_INT32, 3, (int[]){1, 1, 1});
    ck_assert_ptr_eq(tl_tensor_conv_int(&args, dst, &windows, 1), dst);
    nn_check_values(dst, (double[]){INT32_MIN});
    nn_close(&room);
}
END_TEST

// Threads, errors

typedef struct threads_arg {
    const tl_tensor *src, *weight;
    tl_windows windows;
} threads_arg;

static void run_convnd(const tl_exec *exec, tl_tensor *dst, void *arg)
{
    const threads_arg *const a = arg;
    tl_exec_convnd(exec, a->src, a->weight, NULL, dst, &a->windows, 1);
}

static void run_deconvnd(const tl_exec *exec, tl_tensor *dst, void *arg)
{
    const threads_arg *const a = arg;
    tl_exec_deconvnd(exec, a->src, a->weight, NULL, dst, &a->windows, 1);
}

START_TEST(threads_do_not_change_the_result)
{
    nn_room room = {.seed = 5};
    threads_arg arg = {nn_random(&room, TL_FLOAT, 5, (int[]){2, 6, 12, 13, 14}, -1, 1),
                       nn_random(&room, TL_FLOAT, 5, (int[]){6, 6, 3, 3, 3}, -1, 1),
                       {3, {3, 3, 3}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1, 1, 1, 1}}};
    tl_tensor *const dst = nn_blank(&room, TL_FLOAT, 5, (int[]){2, 6, 12, 13, 14});
    nn_check_threads(run_convnd, dst, &arg);
    nn_check_threads(run_deconvnd, dst, &arg);
    nn_close(&room);
}
END_TEST

START_TEST(convnd_rejects_bad_windows_and_channels)
{
    static const struct {
        int src[3], weight[3], bias, group;
        tl_windows windows;
        const char *reason, *transposed_reason;
    } bad[] = {
        {{1, 2, 4},
         {2, 2, 2},
         2,
         0,
         {1, {2}, {1}, {1}, {0}},
         "'group' is 0, expected at least 1",
         NULL},
        {{1, 2, 4},
         {2, 2, 2},
         2,
         1,
         {2, {2}, {1}, {1}, {0}},
         "'src' has 3 dimensions, expected batch",
         NULL},
        {{1, 2, 4},
         {2, 2, 2},
         2,
         1,
         {7, {2}, {1}, {1}, {0}},
         "windows over 7 axes, expected 1 to 6",
         NULL},
        {{1, 2, 4},
         {2, 2, 2},
         2,
         1,
         {1, {2}, {0}, {1}, {0}},
         "'stride' is 0, expected at least 1",
         NULL},
        {{1, 2, 4},
         {2, 2, 2},
         2,
         1,
         {1, {2}, {1}, {0}, {0}},
         "'dilation' is 0, expected at least 1",
         NULL},
        {{1, 2, 4},
         {2, 2, 2},
         2,
         1,
         {1, {3}, {1}, {1}, {0}},
         "'weight' has kernels of [2], expected 'size', [3]",
         NULL},
        {{1, 2, 4},
         {2, 2, 2},
         3,
         1,
         {1, {2}, {1}, {1}, {0}},
         "'bias' has 3 elements, expected the 2 output channels",
         NULL},
        {{1, 2, 4},
         {3, 1, 2},
         3,
         2,
         {1, {2}, {1}, {1}, {0}},
         "'weight' has 3 output channels, expected a multiple",
         "'weight' has 3 input channels, expected the 2"},
        {{1, 3, 4},
         {3, 1, 2},
         2,
         2,
         {1, {2}, {1}, {1}, {0}},
         "'weight' has 1 input channels in each of 2",
         "'src' has 3 channels, expected a multiple"},
        {{1, 2, 1},
         {2, 2, 2},
         2,
         1,
         {1, {2}, {1}, {1}, {0}},
         "length 1 with padding 0 and 0",
         NULL},
    };
    for (size_t i = 0; i < NN_LEN(bad); i++) {
        tl_tensor *const src = tl_tensor_zeros(3, bad[i].src, TL_FLOAT);
        tl_tensor *const weight = tl_tensor_zeros(3, bad[i].weight, TL_FLOAT);
        tl_tensor *const bias = tl_tensor_zeros(1, &bad[i].bias, TL_FLOAT);
        ck_assert_ptr_null(
            tl_tensor_convnd(src, weight, bias, NULL, &bad[i].windows, bad[i].group));
        ck_assert_msg(strstr(tl_last_error(), bad[i].reason), "%s", tl_last_error());
        if (bad[i].transposed_reason) {
            ck_assert_ptr_null(
                tl_tensor_deconvnd(src, weight, bias, NULL, &bad[i].windows, bad[i].group, NULL));
            ck_assert_msg(strstr(tl_last_error(), bad[i].transposed_reason), "%s", tl_last_error());
        }
        tl_tensor_free_data_too(src);
        tl_tensor_free_data_too(weight);
        tl_tensor_free_data_too(bias);
    }
}
END_TEST

LN_TEST_MAIN("convnd", convnd_agrees_with_loops_on_every_float,
             deconvnd_agrees_with_loops_on_every_float,
             conv_int_agrees_with_loops_on_all_pairs_of_types, sums_of_integers_wrap,
             threads_do_not_change_the_result, convnd_rejects_bad_windows_and_channels)
