// SPDX-License-Identifier: Apache-2.0
// Tests of ln_cuda_excite, against pooling and convolutions of the CPU in double.

#include "arch/cuda/ln_cuda_test.h"

#include <math.h>

static const int to_nhwc[] = {0, 2, 3, 1};

// {N, C, H, W}, and the numbers of hidden results and of outputs.
typedef struct excite {
    int dims[4], hidden, outputs;
} excite;

static const excite excites[] = {
    {{1, 1, 1, 1}, 1, 1},        {{1, 8, 1, 1}, 4, 8},         {{2, 96, 56, 56}, 4, 96},
    {{1, 144, 28, 28}, 6, 144},  {{3, 240, 14, 14}, 10, 240},  {{1, 480, 14, 14}, 20, 480},
    {{2, 672, 7, 7}, 28, 672},   {{33, 1152, 7, 7}, 48, 1152}, {{1, 32, 112, 112}, 8, 32},
    {{5, 7, 3, 5}, 3, 7},        {{2, 33, 9, 11}, 5, 65},      {{1, 130, 5, 5}, 130, 10},
    {{1, 4096, 2, 3}, 64, 4096}, {{2, 12, 4, 4}, 1, 12},       {{1, 513, 6, 5}, 7, 1},
    {{1, 256, 33, 31}, 1024, 9}, {{2, 2048, 7, 7}, 128, 2048}, {{0, 8, 4, 4}, 2, 8},
};

// act(weight x src + bias) of images of one pixel.
static tl_tensor *pixelwise(cu_case *c, const tl_tensor *src, const tl_tensor *weight,
                            const tl_tensor *bias, tl_activation act)
{
    const tl_conv2d_param param = {
        .group = 1, .size = {1, 1}, .stride = {1, 1}, .dilation = {1, 1}};
    tl_tensor *const dst =
        cu_host_blank(c, TL_DOUBLE, 4, (int[]){src->dims[0], weight->dims[0], 1, 1});
    tl_exec_conv2d(cu_exec(0), src, cu_host_double(c, weight), cu_double(c, bias), dst, &param);
    cu_add_and_act(dst, NULL, act);
    return dst;
}

// The mean of each channel of an image of so many pixels, whose elements may be sums of them.
static tl_tensor *mean_of(cu_case *c, const tl_tensor *image, int pixels)
{
    const int *const d = image->dims;
    const tl_pool2d_param param = {.size = {d[2], d[3]}, .stride = {1, 1}};
    tl_tensor *const mean = cu_host_blank(c, TL_DOUBLE, 4, (int[]){d[0], d[1], 1, 1});
    tl_exec_avgpool2d(cu_exec(0), cu_host_double(c, image), mean, &param);
    for (int i = 0; i < mean->len; i++)
        ((double *)mean->data)[i] *= (double)(d[2] * d[3]) / pixels;
    return mean;
}

// The job of these tensors of a device, src in NHWC, without activations.
static ln_cuda_excite_job job_of(const tl_tensor *src, const tl_tensor *weight1,
                                 const tl_tensor *bias1, const tl_tensor *weight2,
                                 const tl_tensor *bias2, const tl_tensor *dst)
{
    const int rows = src->dims[1] * src->dims[2];
    return (ln_cuda_excite_job){
        .src = src->data,
        .weight1 = weight1->data,
        .bias1 = bias1->data,
        .weight2 = weight2->data,
        .bias2 = bias2->data,
        .dst = dst->data,
        .dtype = dst->dtype,
        .src_dtype = src->dtype,
        .images = dst->dims[0],
        .rows = rows,
        .pixels = rows,
        .channels = src->dims[3],
        .hidden = weight1->dims[0],
        .outputs = dst->dims[1],
    };
}

// sums: src has partial sums in TL_FLOAT, each of so many pixels; 0: src has the pixels.
static void check_excite(const excite *e, tl_dtype dtype, int sums, tl_act act1, tl_act act2)
{
    const int *const d = e->dims, n = d[0], channels = d[1], rows = d[2] * d[3];
    const tl_dtype src_dtype = sums ? TL_FLOAT : dtype;
    const double max1 = 2 / sqrt(channels), max2 = 2 / sqrt(e->hidden);
    cu_case c;
    cu_open(&c, "ln_cuda_excite", dtype, "%d sums, %s, %s", sums, tl_act_name(act1),
            tl_act_name(act2));
    const tl_tensor *const image = cu_host_random(&c, src_dtype, 4, d, -1, 3);
    const tl_tensor *const w1 =
        cu_host_random(&c, dtype, 4, (int[]){e->hidden, channels, 1, 1}, -max1, max1);
    const tl_tensor *const w2 =
        cu_host_random(&c, dtype, 4, (int[]){e->outputs, e->hidden, 1, 1}, -max2, max2);
    const tl_tensor *const src = cu_given(&c, cu_host_permuted(&c, image, to_nhwc)),
                           *const weight1 = cu_given(&c, w1), *const weight2 = cu_given(&c, w2),
                           *const bias1 = cu_random(&c, dtype, 1, &e->hidden, -1, 1),
                           *const bias2 = cu_random(&c, dtype, 1, &e->outputs, -1, 1);
    tl_tensor *const dst = cu_output(&c, dtype, 4, (int[]){n, e->outputs, 1, 1});
    ln_cuda_excite_job job = job_of(src, weight1, bias1, weight2, bias2, dst);
    job.pixels = sums ? rows * sums : rows;
    job.act1 = cu_act(act1);
    job.act2 = cu_act(act2);
    if (!ln_cuda_has_excite(n, channels, e->hidden, e->outputs))
        cu_fail(&c, "ln_cuda_has_excite returns 0");
    cu_finish(&c, ln_cuda_excite(cu_start(&c), &job));
    tl_tensor *expected = cu_host_blank(&c, TL_DOUBLE, 4, dst->dims);
    if (n) {
        expected = pixelwise(&c, mean_of(&c, image, job.pixels), w1, bias1, job.act1);
        expected = pixelwise(&c, expected, w2, bias2, job.act2);
    }
    cu_check_near(&c, dst, expected, cu_tolerance(dtype, CU_SUM));
    cu_close(&c);
}

CU_TEST(excite_of_every_shape)
{
    static const tl_act acts[] = {TL_ACT_SILU, TL_ACT_RELU, TL_ACT_NONE};
    int n = 0;
    for (int i = 0; i < CU_LEN(excites); i++)
        CU_EACH_FLOAT(dtype)
    for (int sums = 0; sums < 4; sums += 3, n++)
        check_excite(&excites[i], dtype, sums, acts[n % 3],
                     n % 2 ? TL_ACT_HARDSIGMOID : TL_ACT_SIGMOID);
}

CU_TEST(excite_with_every_activation)
{
    for (int act = 0; act < TL_ACT_SIZE; act++)
        CU_EACH_FLOAT(dtype)
    check_excite(&excites[act % 2 ? 4 : 9], dtype, 0, (tl_act)act, (tl_act)(TL_ACT_SIZE - 1 - act));
}

// An infinite pixel changes only its image.
CU_TEST(excite_of_what_is_infinite)
{
    enum { N = 3, C = 16, H = 5, R = 4 };
    CU_EACH_FLOAT(dtype)
    {
        cu_case c;
        cu_open(&c, "ln_cuda_excite", dtype, "infinite");
        tl_tensor *const image = cu_host_random(&c, dtype, 4, (int[]){N, C, H, H}, -1, 1);
        tl_tensor *const w1 = cu_host_random(&c, dtype, 4, (int[]){R, C, 1, 1}, 0.1, 1);
        tl_tensor *const w2 = cu_host_random(&c, dtype, 4, (int[]){C, R, 1, 1}, 0.1, 1);
        cu_set(image, C * H * H + 7, INFINITY);
        const tl_tensor *const src = cu_given(&c, cu_host_permuted(&c, image, to_nhwc)),
                               *const weight1 = cu_given(&c, w1), *const weight2 = cu_given(&c, w2),
                               *const bias1 = cu_random(&c, dtype, 1, (int[]){R}, -1, 1),
                               *const bias2 = cu_random(&c, dtype, 1, (int[]){C}, -1, 1);
        tl_tensor *const dst = cu_output(&c, dtype, 4, (int[]){N, C, 1, 1});
        const ln_cuda_excite_job job = job_of(src, weight1, bias1, weight2, bias2, dst);
        cu_finish(&c, ln_cuda_excite(cu_start(&c), &job));
        const tl_tensor *const hidden =
            pixelwise(&c, mean_of(&c, image, H * H), w1, bias1, (tl_activation){0});
        cu_check_near(&c, dst, pixelwise(&c, hidden, w2, bias2, (tl_activation){0}),
                      cu_tolerance(dtype, CU_SUM));
        cu_close(&c);
    }
}

START_TEST(excite_that_is_unsupported)
{
    ck_assert_int_eq(ln_cuda_has_excite(32, 1152, 48, 1152), 1);
    ck_assert_int_eq(ln_cuda_has_excite(32, 4097, 8, 8), 0);
    ck_assert_int_eq(ln_cuda_has_excite(32, 8, 1025, 8), 0);
    ck_assert_int_eq(ln_cuda_has_excite(32, 2048, 256, 8), 0);
    ck_assert_int_eq(ln_cuda_has_excite(32, 8, 256, 2048), 0);
    ck_assert_int_eq(ln_cuda_has_excite(1 << 25, 1, 1, 1), 0);
}
END_TEST

CU_TEST_MAIN("cuda excite", excite_of_every_shape, excite_with_every_activation,
             excite_of_what_is_infinite, excite_that_is_unsupported)
