// SPDX-License-Identifier: Apache-2.0
// Tests of the CUDA kernels of images: ln_cuda_pool2d, ln_cuda_resample, ln_cuda_depthwise,
// ln_cuda_depthwise_tiles, ln_cuda_direct_conv and ln_cuda_first_conv.

#include "arch/cuda/ln_cuda_test.h"

#include <math.h>

// ln_cuda_pool2d: images [N, C, H, W], or [N, H, W, C]

static const int to_nhwc[] = {0, 2, 3, 1};

typedef struct pool {
    int dims[4];
    tl_pool2d_param param;
} pool;

static const pool pools[] = {
    {{1, 3, 7, 9}, {{3, 3}, {2, 2}, {1, 1, 1, 1}}},
    {{2, 5, 17, 13}, {{2, 2}, {2, 2}, {0}}},
    {{1, 64, 56, 57}, {{3, 3}, {2, 2}, {1, 1, 1, 1}}},
    {{1, 7, 8, 8}, {{8, 8}, {1, 1}, {0}}},
    {{3, 58, 7, 7}, {{7, 7}, {7, 7}, {0}}},
    {{1, 1000, 7, 7}, {{7, 7}, {1, 1}, {0}}},
    {{2, 33, 31, 33}, {{31, 33}, {1, 1}, {0}}},
    {{1, 1, 1, 1}, {{1, 1}, {1, 1}, {0}}},
    {{1, 3, 10, 12}, {{3, 2}, {1, 2}, {1, 0, 0, 1}}},
    {{2, 3, 9, 9}, {{5, 5}, {1, 1}, {2, 2, 2, 2}}},
    {{1, 2, 33, 65}, {{3, 3}, {3, 3}, {0}}},
    {{1, 16, 12, 14}, {{3, 3}, {2, 2}, {0, 0, 1, 1}}},
    {{1, 3, 9, 9}, {{2, 2}, {4, 3}, {0}}},
    {{1, 8, 13, 13}, {{13, 13}, {1, 1}, {12, 0, 0, 12}}},
    {{1, 65, 1, 129}, {{1, 3}, {1, 1}, {0, 1, 0, 1}}},
    {{0, 3, 4, 4}, {{2, 2}, {2, 2}, {0}}},
};

static void check_pool(cu_case *c, const tl_tensor *image, const tl_pool2d_param *param, int is_max,
                       int is_nhwc)
{
    int dims[] = {image->dims[0], image->dims[1], 0, 0};
    ck_assert_int_eq(tl_pool2d_extents(image, param, dims + 2), 0);
    tl_tensor *expected = cu_host_blank(c, TL_DOUBLE, 4, dims);
    if (expected->len) {
        (is_max ? tl_exec_maxpool2d : tl_exec_avgpool2d)(cu_exec(0), cu_host_double(c, image),
                                                         expected, param);
        expected = is_nhwc ? cu_host_permuted(c, expected, to_nhwc) : expected;
        image = is_nhwc ? cu_host_permuted(c, image, to_nhwc) : image;
    }
    tl_tensor *const src = cu_given(c, image);
    tl_tensor *const dst = cu_output(c, image->dtype, 4, expected->dims);
    cu_finish(c, ln_cuda_pool2d(cu_start(c), src, dst, param, is_max, is_nhwc));
    cu_check_near(c, dst, expected, is_max ? CU_EXACT : cu_tolerance(image->dtype, CU_NEAR));
    cu_close(c);
}

static void open_pool(cu_case *c, tl_dtype dtype, const tl_pool2d_param *p, int is_max, int is_nhwc)
{
    cu_open(c, "ln_cuda_pool2d", dtype, "%s %s size [%s] stride [%s] padding [%s]",
            is_max ? "max" : "mean", is_nhwc ? "nhwc" : "nchw", cu_list(2, p->size),
            cu_list(2, p->stride), cu_list(4, p->padding));
}

CU_TEST(pool2d_of_both_kinds_and_layouts)
{
    cu_case c;
    CU_EACH_FLOAT(dtype)
    for (int i = 0; i < CU_LEN(pools); i++)
        for (int way = 0; way < 4; way++) {
            open_pool(&c, dtype, &pools[i].param, way & 1, way >> 1);
            check_pool(&c, cu_host_random(&c, dtype, 4, pools[i].dims, -5, 3), &pools[i].param,
                       way & 1, way >> 1);
        }
}

CU_TEST(pool2d_of_what_is_not_finite)
{
    static const tl_pool2d_param param = {{3, 3}, {2, 2}, {1, 1, 1, 1}};
    cu_case c;
    CU_EACH_FLOAT(dtype)
    for (int way = 0; way < 4; way++) {
        open_pool(&c, dtype, &param, way & 1, way >> 1);
        tl_tensor *const image = cu_host_random(&c, dtype, 4, (int[]){1, 3, 17, 17}, -5, -1);
        for (int i = 0; i < image->len; i += 1 + i % 7) {
            if (i < 289)
                cu_set(image, i, -INFINITY);
            else if (i % 3 == 0)
                cu_set(image, i, i % 2 ? NAN : INFINITY);
        }
        check_pool(&c, image, &param, way & 1, way >> 1);
    }
}

// ln_cuda_resample

enum { HALF_PIXEL, CORNERS, ASYMMETRIC, TRANSFORMS };
static const char *const transforms[] = {"half pixel", "corners", "asymmetric"};

typedef struct resizing {
    int ndim, in[5], out[5];
} resizing;

static const resizing resizings[] = {
    {4, {1, 3, 7, 9}, {1, 3, 14, 18}},
    {4, {2, 3, 17, 13}, {2, 3, 9, 26}},
    {4, {1, 16, 20, 20}, {1, 16, 40, 40}},
    {4, {1, 3, 33, 65}, {1, 3, 17, 33}},
    {4, {1, 3, 33, 65}, {1, 3, 100, 129}},
    {4, {1, 1, 2, 2}, {1, 1, 7, 5}},
    {4, {1, 5, 6, 6}, {1, 5, 3, 2}},
    {4, {1, 14, 18, 5}, {1, 28, 9, 5}},
    {4, {1, 13, 13, 64}, {1, 26, 26, 64}},
    {1, {5}, {13}},
    {2, {3, 4}, {7, 9}},
    {3, {3, 4, 9}, {6, 2, 4}},
    {3, {2, 9, 33}, {2, 18, 33}},
    {4, {2, 3, 8, 8}, {2, 3, 8, 8}},
    {4, {3, 4, 5, 6}, {2, 6, 4, 9}},
    {4, {1, 1, 1, 1}, {1, 1, 4, 5}},
    {4, {0, 3, 2, 2}, {0, 3, 4, 4}},
    {5, {2, 3, 4, 5, 6}, {2, 3, 8, 5, 9}},
    {5, {1, 2, 3, 4, 5}, {1, 2, 2, 7, 10}},
};

// As of ONNX Resize: x = (i + shift) * span / steps + start, for index i of the result.
static tl_resample_axis axis_of(int transform, int in, int out)
{
    if (in == out)
        return (tl_resample_axis){0.5, 1, 1, -0.5, 1};
    return transform == HALF_PIXEL ? (tl_resample_axis){0.5, in, out, -0.5, 1}
           : transform == CORNERS  ? (tl_resample_axis){0, in - 1, out - 1, 0, 1}
                                   : (tl_resample_axis){0, in, out, 0, 1};
}

static void check_resample(const resizing *r, tl_dtype dtype, int transform, tl_resample_mode mode,
                           tl_rounding rounding)
{
    const int is_nearest = mode == TL_RESAMPLE_NEAREST;
    tl_resample_param param = {.mode = mode, .rounding = rounding};
    int resized = 0;
    cu_case c;
    for (int k = 0; k < r->ndim; k++) {
        param.axes[k] = axis_of(transform, r->in[k], r->out[k]);
        resized += r->in[k] != r->out[k];
    }
    if (!ln_cuda_has_resample(&param, r->ndim) && (r->ndim > 4 || resized > 2)) {
        if (dtype == TL_FLOAT && transform == HALF_PIXEL && rounding == TL_ROUND_HALF_DOWN)
            cu_note("not supported: ln_cuda_resample %s of %d of %d axes",
                    tl_resample_mode_name(mode), resized, r->ndim);
        return;
    }
    cu_open(&c, "ln_cuda_resample", dtype, "%s %s %s", tl_resample_mode_name(mode),
            is_nearest ? tl_rounding_name(rounding) : "", transforms[transform]);
    if (!ln_cuda_has_resample(&param, r->ndim))
        cu_fail(&c, "ln_cuda_has_resample returns 0");
    tl_tensor *const src = cu_random(&c, dtype, r->ndim, r->in, -2, 2);
    tl_tensor *const dst = cu_output(&c, dtype, r->ndim, r->out);
    cu_finish(&c, ln_cuda_resample(cu_start(&c), src, dst, &param));
    const tl_tensor *const from = is_nearest ? cu_host(src) : cu_double(&c, src);
    tl_tensor *const expected = cu_host_blank(&c, from->dtype, r->ndim, r->out);
    if (expected->len)
        ck_assert_msg(tl_exec_resample(cu_exec(tl_resample_scratch(from, r->out, &param)), from,
                                       expected, &param) == 0,
                      "%s", tl_last_error());
    cu_check_near(&c, dst, expected, is_nearest ? CU_EXACT : cu_tolerance(dtype, CU_SUM));
    cu_close(&c);
}

CU_TEST(resample_nearest_with_every_rounding)
{
    for (int i = 0; i < CU_LEN(resizings); i++)
        CU_EACH_FLOAT(dtype)
    for (int way = 0; way < TRANSFORMS * TL_ROUNDING_SIZE; way++)
        check_resample(&resizings[i], dtype, way % TRANSFORMS, TL_RESAMPLE_NEAREST,
                       (tl_rounding)(way / TRANSFORMS));
}

CU_TEST(resample_linear_up_and_down)
{
    for (int i = 0; i < CU_LEN(resizings); i++)
        CU_EACH_FLOAT(dtype)
    for (int way = 0; way < TRANSFORMS; way++)
        check_resample(&resizings[i], dtype, way, TL_RESAMPLE_LINEAR, TL_ROUND_HALF_DOWN);
}

// ln_cuda_depthwise, ln_cuda_depthwise_tiles

typedef struct depthwise {
    int dims[4];
    tl_conv2d_param param; // group and activation are set later
} depthwise;

static const depthwise depthwises[] = {
    {{1, 3, 7, 9}, {0, {3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}, {0}, {0}}},
    {{2, 5, 9, 8}, {0, {1, 1}, {1, 1}, {1, 1}, {0}, {0}, {0}}},
    {{1, 58, 28, 28}, {0, {3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}, {0}, {0}}},
    {{2, 58, 28, 28}, {0, {3, 3}, {2, 2}, {1, 1}, {1, 1, 1, 1}, {0}, {0}}},
    {{1, 64, 56, 56}, {0, {3, 3}, {2, 2}, {1, 1}, {0, 0, 1, 1}, {0}, {0}}},
    {{1, 32, 33, 31}, {0, {5, 5}, {1, 1}, {1, 1}, {2, 2, 2, 2}, {0}, {0}}},
    {{1, 33, 17, 17}, {0, {5, 5}, {2, 2}, {1, 1}, {1, 2, 2, 1}, {0}, {0}}},
    {{3, 7, 14, 14}, {0, {7, 7}, {1, 1}, {1, 1}, {3, 3, 3, 3}, {0}, {0}}},
    {{1, 96, 14, 14}, {0, {7, 7}, {1, 1}, {1, 1}, {3, 3, 3, 3}, {0}, {0}}},
    {{1, 17, 15, 15}, {0, {3, 3}, {1, 1}, {2, 2}, {2, 2, 2, 2}, {0}, {0}}},
    {{1, 16, 13, 9}, {0, {3, 3}, {2, 1}, {1, 2}, {0, 3, 2, 1}, {0}, {0}}},
    {{1, 1000, 7, 7}, {0, {3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}, {0}, {0}}},
    {{1, 1, 1, 1}, {0, {3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}, {0}, {0}}},
    {{1, 8, 5, 65}, {0, {1, 9}, {1, 1}, {1, 1}, {0, 4, 0, 4}, {0}, {0}}},
    {{1, 9, 65, 5}, {0, {3, 1}, {1, 1}, {1, 1}, {1, 0, 1, 0}, {0}, {0}}},
    {{1, 24, 7, 7}, {0, {7, 7}, {1, 1}, {1, 1}, {0}, {0}, {0}}},
    {{1, 12, 10, 10}, {0, {2, 4}, {3, 3}, {1, 1}, {0, 1, 1, 2}, {0}, {0}}},
    {{0, 3, 4, 4}, {0, {3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}, {0}, {0}}},
};

static const depthwise tiled[] = {
    {{2, 16, 9, 11}, {0, {3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}, {0}, {0}}},
    {{1, 144, 70, 33}, {0, {3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}, {0}, {0}}},
    {{2, 232, 7, 7}, {0, {3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}, {0}, {0}}},
    {{3, 8, 1, 1}, {0, {3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}, {0}, {0}}},
    {{1, 64, 70, 33}, {0, {3, 3}, {2, 2}, {1, 1}, {0, 0, 1, 1}, {0}, {0}}},
    {{1, 8, 3, 65}, {0, {3, 3}, {2, 2}, {1, 1}, {1, 1, 1, 1}, {0}, {0}}},
    {{1, 40, 80, 6}, {0, {5, 5}, {1, 1}, {1, 1}, {2, 2, 2, 2}, {0}, {0}}},
    {{1, 136, 14, 14}, {0, {5, 5}, {1, 1}, {1, 1}, {2, 2, 2, 2}, {0}, {0}}},
    {{1, 64, 33, 31}, {0, {5, 5}, {2, 2}, {1, 1}, {1, 2, 2, 1}, {0}, {0}}},
};

// Checks that the sums [N, any, C] of `dst` [N, H, W, C] add up to those of its pixels.
static void check_sums(cu_case *c, const tl_tensor *sums, const tl_tensor *dst)
{
    const int n = sums->dims[1], channels = sums->dims[2], pixels = dst->dims[1] * dst->dims[2];
    const float *const found = cu_found(sums);
    const double *const results = dst->data;
    for (int i = 0; i < dst->dims[0] * channels; i++) {
        const int image = i / channels, channel = i % channels;
        double sum = 0, expected = 0;
        for (int k = 0; k < n; k++)
            sum += found[(image * n + k) * channels + channel];
        for (int k = 0; k < pixels; k++)
            expected += results[(image * pixels + k) * channels + channel];
        if (!(fabs(sum - expected) <= CU_SUM * pixels)) {
            cu_fail(c, "sums of image %d, channel %d are %g, expected %g", image, channel, sum,
                    expected);
            return;
        }
    }
}

// way: the tiles, or -1: ln_cuda_depthwise.
static void check_depthwise(const depthwise *d, tl_dtype dtype, tl_act act, int has_addend,
                            int is_nhwc, int way, int has_sums)
{
    const int channels = d->dims[1],
              dims_of_weight[] = {channels, 1, d->param.size[0], d->param.size[1]};
    const int nhwc_weight[] = {d->param.size[0], d->param.size[1], channels};
    tl_conv2d_param param = d->param, plain;
    int dims[4] = {d->dims[0], channels};
    cu_case c;
    param.group = channels;
    plain = param;
    param.act = cu_act(act);
    cu_open(&c, way < 0 ? "ln_cuda_depthwise" : "ln_cuda_depthwise_tiles", dtype,
            "%s size [%s] stride [%s] dilation [%s] padding [%s] %s", is_nhwc ? "nhwc" : "nchw",
            cu_list(2, param.size), cu_list(2, param.stride), cu_list(2, param.dilation),
            cu_list(4, param.padding), tl_act_name(act));
    c.is_aligned |= way >= 0;
    const tl_tensor *image = cu_host_random(&c, dtype, 4, d->dims, -1, 1);
    const tl_tensor *weight = cu_host_random(&c, dtype, 4, dims_of_weight, -0.5, 0.5);
    tl_tensor *const bias = cu_random(&c, dtype, 1, &channels, -1, 1);
    ck_assert_int_eq(tl_conv2d_extents(image, &plain, 0, dims + 2), 0);
    const tl_tensor *more = has_addend ? cu_host_random(&c, dtype, 4, dims, -1, 1) : NULL;
    tl_tensor *expected = cu_host_blank(&c, TL_DOUBLE, 4, dims);
    if (expected->len) {
        tl_exec_conv2d(cu_exec(0), cu_host_double(&c, image), cu_host_double(&c, weight),
                       cu_double(&c, bias), expected, &plain);
        cu_add_and_act(expected, more ? cu_host_double(&c, more) : NULL, param.act);
        if (is_nhwc) {
            image = cu_host_permuted(&c, image, to_nhwc);
            more = more ? cu_host_permuted(&c, more, to_nhwc) : NULL;
            expected = cu_host_permuted(&c, expected, to_nhwc);
        }
    }
    if (is_nhwc)
        weight =
            cu_host_reshaped(&c, cu_host_permuted(&c, weight, (int[]){2, 3, 0, 1}), 3, nhwc_weight);
    tl_tensor *const src = cu_given(&c, image), *const weights = cu_given(&c, weight);
    tl_tensor *const addend = more ? cu_given(&c, more) : NULL;
    tl_tensor *const dst = cu_output(&c, dtype, 4, expected->dims);
    const int n_sums = has_sums ? ln_cuda_depthwise_sums(src, dst, &param, way) : 0;
    tl_tensor *const sums =
        has_sums ? cu_output(&c, TL_FLOAT, 3, (int[]){dst->dims[0], n_sums, channels}) : NULL;
    const ln_cuda_stream stream = cu_start(&c);
    cu_finish(&c, way < 0
                      ? ln_cuda_depthwise(stream, src, weights, bias, addend, dst, &param, is_nhwc)
                      : ln_cuda_depthwise_tiles(stream, src, weights, bias, addend, dst, &param,
                                                way, sums ? sums->data : NULL));
    if (sums)
        check_sums(&c, sums, expected);
    cu_check_near(&c, dst, expected, cu_tolerance(dtype, CU_SUM));
    cu_close(&c);
}

CU_TEST(depthwise_of_every_shape)
{
    int n = 0;
    for (int i = 0; i < CU_LEN(depthwises); i++)
        CU_EACH_FLOAT(dtype)
    for (int way = 0; way < 4; way++)
        check_depthwise(&depthwises[i], dtype, n++ % TL_ACT_SIZE, way & 1, way >> 1, -1, 0);
}

CU_TEST(depthwise_by_tiles)
{
    static const tl_act acts[] = {TL_ACT_NONE, TL_ACT_RELU, TL_ACT_CLIP, TL_ACT_SILU,
                                  TL_ACT_HARDSWISH};
    int n = 0;
    for (int i = 0; i < CU_LEN(tiled); i++)
        for (int way = 0; way < LN_CUDA_TILE_WAYS; way++)
            for (int k = 0; k < 3; k++, n++)
                check_depthwise(&tiled[i], n % 2 ? TL_BFLOAT16 : TL_FLOAT16, acts[n % 5],
                                n % 3 == 0, 1, way, n % 4 > 1);
}

CU_TEST(depthwise_with_every_activation)
{
    for (int act = 0; act < TL_ACT_SIZE; act++)
        CU_EACH_FLOAT(dtype)
    for (int way = 0; way < 4; way++)
        check_depthwise(&depthwises[way & 2 ? 5 : 0], dtype, (tl_act)act, way & 1, way >> 1, -1, 0);
}

// ln_cuda_direct_conv

// {N, C, H, W}, and the number of dst's channels.
static const struct dense {
    int dims[4], channels;
    tl_conv2d_param param;
} denses[] = {
    {{2, 3, 7, 9}, 5, {1, {3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}, {0}, {0}}},
    {{1, 12, 9, 8}, 8, {4, {1, 1}, {2, 2}, {1, 1}, {0}, {0}, {0}}},
    {{1, 6, 15, 13}, 9, {3, {3, 5}, {2, 1}, {1, 2}, {0, 3, 2, 1}, {0}, {0}}},
    {{3, 1, 5, 5}, 1, {1, {5, 5}, {1, 1}, {1, 1}, {0}, {0}, {0}}},
    {{1, 64, 33, 31}, 130, {1, {3, 3}, {1, 1}, {3, 3}, {3, 3, 3, 3}, {0}, {0}}},
    {{0, 3, 4, 4}, 2, {1, {3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}, {0}, {0}}},
};

static void check_direct(const struct dense *d, tl_dtype dtype, tl_act act, int has_addend,
                         int is_nhwc)
{
    const int weight_dims[] = {d->channels, d->dims[1] / d->param.group, d->param.size[0],
                               d->param.size[1]};
    tl_conv2d_param param = d->param;
    int dims[4] = {d->dims[0], d->channels};
    cu_case c;
    param.act = cu_act(act);
    cu_open(&c, "ln_cuda_direct_conv", dtype,
            "%s group %d size [%s] stride [%s] dilation [%s] padding [%s] %s",
            is_nhwc ? "nhwc" : "nchw", param.group, cu_list(2, param.size),
            cu_list(2, param.stride), cu_list(2, param.dilation), cu_list(4, param.padding),
            tl_act_name(act));
    const tl_tensor *image = cu_host_random(&c, dtype, 4, d->dims, -1, 1);
    const tl_tensor *weight = cu_host_random(&c, dtype, 4, weight_dims, -0.1, 0.1);
    tl_tensor *const bias = cu_random(&c, dtype, 1, &d->channels, -1, 1);
    ck_assert_int_eq(tl_conv2d_extents(image, &d->param, 0, dims + 2), 0);
    const tl_tensor *more = has_addend ? cu_host_random(&c, dtype, 4, dims, -1, 1) : NULL;
    tl_tensor *expected = cu_host_blank(&c, TL_DOUBLE, 4, dims);
    if (expected->len) {
        tl_exec_conv2d(cu_exec(0), cu_host_double(&c, image), cu_host_double(&c, weight),
                       cu_double(&c, bias), expected, &d->param);
        cu_add_and_act(expected, more ? cu_host_double(&c, more) : NULL, param.act);
    }
    if (is_nhwc && expected->len) {
        image = cu_host_permuted(&c, image, to_nhwc);
        weight = cu_host_permuted(&c, weight, to_nhwc);
        more = more ? cu_host_permuted(&c, more, to_nhwc) : NULL;
        expected = cu_host_permuted(&c, expected, to_nhwc);
    }
    tl_tensor *const src = cu_given(&c, image), *const weights = cu_given(&c, weight);
    tl_tensor *const addend = more ? cu_given(&c, more) : NULL;
    tl_tensor *const dst = cu_output(&c, dtype, 4, expected->dims);
    cu_finish(&c,
              ln_cuda_direct_conv(cu_start(&c), src, weights, bias, addend, dst, &param, is_nhwc));
    cu_check_near(&c, dst, expected, cu_tolerance(dtype, CU_SUM));
    cu_close(&c);
}

CU_TEST(direct_conv_of_every_shape)
{
    int n = 0;
    for (int i = 0; i < CU_LEN(denses); i++)
        CU_EACH_FLOAT(dtype)
    for (int way = 0; way < 4; way++)
        check_direct(&denses[i], dtype, n++ % TL_ACT_SIZE, way & 1, way >> 1);
}

// ln_cuda_first_conv

// {N, C, H, W}, and the number of dst's channels.
static const struct first {
    int dims[4], channels;
    tl_conv2d_param param;
} firsts[] = {
    {{1, 3, 32, 32}, 32, {1, {3, 3}, {2, 2}, {1, 1}, {1, 1, 1, 1}, {0}, {0}}},
    {{3, 3, 17, 19}, 24, {1, {3, 3}, {2, 2}, {1, 1}, {0, 0, 1, 1}, {0}, {0}}},
    {{1, 4, 33, 31}, 64, {1, {3, 3}, {2, 2}, {1, 1}, {2, 0, 1, 3}, {0}, {0}}},
    {{3, 1, 33, 31}, 8, {1, {3, 3}, {2, 2}, {1, 1}, {1, 1, 1, 1}, {0}, {0}}},
    {{1, 3, 33, 70}, 16, {1, {3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}, {0}, {0}}},
    {{3, 1, 17, 19}, 32, {1, {3, 3}, {1, 1}, {1, 1}, {0, 1, 2, 0}, {0}, {0}}},
    {{1, 4, 17, 19}, 24, {1, {3, 3}, {1, 1}, {1, 1}, {0}, {0}, {0}}},
    {{3, 3, 33, 31}, 64, {1, {3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}, {0}, {0}}},
    {{1, 3, 112, 112}, 64, {1, {7, 7}, {2, 2}, {1, 1}, {3, 3, 3, 3}, {0}, {0}}},
    {{3, 1, 17, 19}, 16, {1, {7, 7}, {2, 2}, {1, 1}, {2, 2, 3, 3}, {0}, {0}}},
    {{1, 4, 33, 31}, 32, {1, {7, 7}, {2, 2}, {1, 1}, {0, 3, 3, 1}, {0}, {0}}},
    {{3, 3, 7, 7}, 40, {1, {7, 7}, {2, 2}, {1, 1}, {0}, {0}, {0}}},
    {{1, 3, 1, 1}, 8, {1, {3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}, {0}, {0}}},
    {{200, 3, 40, 40}, 32, {1, {3, 3}, {2, 2}, {1, 1}, {1, 1, 1, 1}, {0}, {0}}}, // tiles in turn
};

// The pooling of an image, in its place; `pooling` NULL: none.
static tl_tensor *pooled(cu_case *c, tl_tensor *image, const tl_pool2d_param *pooling)
{
    int dims[] = {image->dims[0], image->dims[1], 0, 0};
    if (!pooling)
        return image;
    ck_assert_int_eq(tl_pool2d_extents(image, pooling, dims + 2), 0);
    tl_tensor *const dst = cu_host_blank(c, TL_DOUBLE, 4, dims);
    tl_exec_maxpool2d(cu_exec(0), image, dst, pooling);
    return dst;
}

// is_finite: else one element of the image is infinite. `pooling` may be NULL.
static void check_first(const struct first *f, tl_dtype dtype, tl_act act, int has_bias,
                        int is_finite, const tl_pool2d_param *pooling)
{
    const int size = f->dims[1] * f->param.size[0] * f->param.size[1];
    const int weight_dims[] = {f->channels, f->dims[1], f->param.size[0], f->param.size[1]};
    const double max = 2 / sqrt(size); // results are about 1
    tl_conv2d_param param = f->param;
    int dims[4] = {f->dims[0], f->channels};
    cu_case c;
    param.act = cu_act(act);
    cu_open(&c, "ln_cuda_first_conv", dtype, "size [%s] stride [%s] padding [%s] %s%s%s%s",
            cu_list(2, param.size), cu_list(2, param.stride), cu_list(4, param.padding),
            tl_act_name(act), has_bias ? ", bias" : "", is_finite ? "" : ", infinite",
            pooling ? ", pooled" : "");
    c.is_aligned = 1;
    tl_tensor *const image = cu_host_random(&c, dtype, 4, f->dims, -1, 1);
    tl_tensor *const weight = cu_host_random(&c, dtype, 4, weight_dims, -max, max);
    tl_tensor *const bias = has_bias ? cu_random(&c, dtype, 1, &f->channels, -1, 1) : NULL;
    if (!is_finite)
        cu_set(image, image->len / 2, INFINITY);
    ck_assert_int_eq(tl_conv2d_extents(image, &f->param, 0, dims + 2), 0);
    tl_tensor *const expected = cu_host_blank(&c, TL_DOUBLE, 4, dims);
    tl_exec_conv2d(cu_exec(0), cu_host_double(&c, image), cu_host_double(&c, weight),
                   bias ? cu_double(&c, bias) : NULL, expected, &f->param);
    cu_add_and_act(expected, NULL, param.act);
    tl_tensor *const src = cu_given(&c, cu_host_permuted(&c, image, to_nhwc));
    tl_tensor *const weights = cu_given(&c, cu_host_permuted(&c, weight, to_nhwc));
    const tl_tensor *const permuted = cu_host_permuted(&c, pooled(&c, expected, pooling), to_nhwc);
    tl_tensor *const dst = cu_output(&c, dtype, 4, permuted->dims);
    if (!ln_cuda_has_first_conv(src, weights, &param))
        cu_fail(&c, "ln_cuda_has_first_conv returns 0");
    cu_finish(&c, ln_cuda_first_conv(cu_start(&c), src, weights, bias, dst, &param, pooling));
    cu_check_near(&c, dst, permuted, cu_tolerance(dtype, CU_SUM));
    cu_close(&c);
}

CU_TEST(first_conv_of_every_shape)
{
    for (int i = 0; i < CU_LEN(firsts); i++)
        for (int way = 0; way < 2; way++)
            check_first(&firsts[i], way ? TL_BFLOAT16 : TL_FLOAT16, (tl_act)(i % TL_ACT_SIZE),
                        (i + way) % 3 > 0, 1, NULL);
}

CU_TEST(first_conv_that_is_pooled)
{
    static const int paddings[][4] = {{1, 1, 1, 1}, {0}, {1, 0, 0, 1}, {0, 1, 1, 0}};
    for (int i = 0; i < CU_LEN(firsts); i++)
        for (int way = 0; way < 4; way++) {
            const int size = firsts[i].param.stride[0] == 2 ? 3 : 2, *p = paddings[way];
            const int is_small = firsts[i].dims[2] < 8; // one pixel is left
            const tl_pool2d_param pooling = {{size, size}, {2, 2}, {p[0], p[1], p[2], p[3]}};
            if (way && is_small)
                continue;
            const tl_act act = way == 2 ? TL_ACT_NONE : (tl_act)((i + way) % TL_ACT_SIZE);
            check_first(&firsts[i], way % 2 ? TL_BFLOAT16 : TL_FLOAT16, act, (i + way) % 3 > 0,
                        way != 2, &pooling);
        }
}

CU_TEST(first_conv_with_every_activation)
{
    for (int act = 0; act < TL_ACT_SIZE; act++)
        for (int way = 0; way < 2; way++)
            check_first(&firsts[way ? 1 : 10], act % 2 ? TL_BFLOAT16 : TL_FLOAT16, (tl_act)act, 1,
                        1, NULL);
}

// An infinite element changes only the pixels that it belongs to.
CU_TEST(first_conv_of_what_is_infinite)
{
    for (int i = 0; i < CU_LEN(firsts); i++)
        check_first(&firsts[i], i % 2 ? TL_BFLOAT16 : TL_FLOAT16, TL_ACT_NONE, 1, 0, NULL);
}

START_TEST(first_conv_that_is_unsupported)
{
    int src_dims[] = {1, 8, 8, 3}, weight_dims[] = {16, 3, 3, 3};
    const tl_tensor src = {.dtype = TL_FLOAT16, .len = 192, .ndim = 4, .dims = src_dims};
    const tl_tensor weight = {.dtype = TL_FLOAT16, .len = 432, .ndim = 4, .dims = weight_dims};
    tl_conv2d_param param = firsts[0].param;
    tl_pool2d_param pooling = {{3, 3}, {2, 2}, {0}};
    ck_assert_int_eq(ln_cuda_has_first_conv(&src, &weight, &param), 1);
    ck_assert_int_eq(ln_cuda_has_first_pool(&param, &pooling), 1);
    pooling.padding[3] = 3;
    ck_assert_int_eq(ln_cuda_has_first_pool(&param, &pooling), 0);
    pooling.padding[3] = 0, pooling.size[1] = 2;
    ck_assert_int_eq(ln_cuda_has_first_pool(&param, &pooling), 0);
    param.dilation[1] = 2;
    ck_assert_int_eq(ln_cuda_has_first_conv(&src, &weight, &param), 0);
    param.dilation[1] = 1, weight_dims[0] = 12;
    ck_assert_int_eq(ln_cuda_has_first_conv(&src, &weight, &param), 0);
    weight_dims[0] = 72;
    ck_assert_int_eq(ln_cuda_has_first_conv(&src, &weight, &param), 0);
    weight_dims[0] = 16, weight_dims[3] = src_dims[3] = 5;
    ck_assert_int_eq(ln_cuda_has_first_conv(&src, &weight, &param), 0);
}
END_TEST

CU_TEST_MAIN("cuda image", pool2d_of_both_kinds_and_layouts, pool2d_of_what_is_not_finite,
             resample_nearest_with_every_rounding, resample_linear_up_and_down,
             depthwise_of_every_shape, depthwise_by_tiles, depthwise_with_every_activation,
             direct_conv_of_every_shape, first_conv_of_every_shape, first_conv_that_is_pooled,
             first_conv_with_every_activation, first_conv_of_what_is_infinite,
             first_conv_that_is_unsupported)
