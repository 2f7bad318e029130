// SPDX-License-Identifier: Apache-2.0
// Tests of convolutions and products by cuDNN, cuBLASLt and ln_cuda_gemm. With LN_TEST_VERBOSE, it
// prints what runs and how long it takes for each case.

#include "arch/cuda/ln_cuda_libs.h"

#include <math.h>

#include "arch/cuda/ln_cuda_test.h"

// Weights are scaled so that results are about 1, whatever the length k of a sum: within -2 and 2
// over sqrt(k). Unscaled, these tolerances are 2e-5 and 2e-3 times sqrt(k). TF32 rounds factors to
// 11 bits; Winograd's algorithm and half precision between the steps of a fused kernel cost some
// more bits.
static const double FLOAT_SUM = 4e-5, TF32_SUM = 4e-3, FLOAT16_SUM = 8e-3;

// TL_FLOAT, TL_FLOAT with TF32, and the types of 16 bits.
static const struct {
    tl_dtype dtype;
    int allow_tf32;
} modes[] = {{TL_FLOAT16, 0}, {TL_FLOAT, 0}, {TL_FLOAT, 1}, {TL_BFLOAT16, 0}};

static ln_cuda_libs *libs;

static double tolerance_of(int mode)
{
    return modes[mode].dtype == TL_FLOAT16
               ? FLOAT16_SUM
               : cu_tolerance(modes[mode].dtype, modes[mode].allow_tf32 ? TF32_SUM : FLOAT_SUM);
}

// Creates the libraries' handles once, for all tests.
static void open_libs(void)
{
    if (!libs && !(libs = ln_cuda_libs_create()))
        ck_abort_msg("ln_cuda_libs_create: %s", tl_last_error());
}

enum { ARGS = 7 }; // arguments of plans; most have no src1_more and no factors

// Runs a plan, which was made from time `began` on with this status, and adds its name to c->what.
static void run_plan(cu_case *c, int status, const ln_cuda_plan *plan, tl_tensor *const *tensors,
                     uint64_t began)
{
    void *data[ARGS];
    const double planned = (double)(tl_clock() - began) * 1e-9;
    if (status != 0) {
        cu_fail(c, "no plan: returned %d: %s", status, tl_last_error());
        cu_start(c);
        cu_finish(c, 0);
        return;
    }
    const size_t used = strlen(c->what), size = ln_cuda_plan_work(plan);
    const double seconds = ln_cuda_plan_seconds(plan);
    snprintf(c->what + used, sizeof(c->what) - used, "; by %s", ln_cuda_plan_name(plan));
    if (getenv("LN_TEST_VERBOSE"))
        cu_note_case(c, "%.1f us, work %zu, planned in %.2f s", seconds * 1e6, size, planned);
    if (size > LN_CUDA_WORK)
        cu_fail(c, "needs %zu bytes of work memory, expected at most %d", size, LN_CUDA_WORK);
    if (!(seconds >= 0 && seconds < 1))
        cu_fail(c, "ln_cuda_plan_seconds returns %g", seconds);
    tl_tensor *const work = cu_work(c, size);
    for (int i = 0; i < ARGS; i++)
        data[i] = tensors[i] ? tensors[i]->data : NULL;
    cu_finish(c, ln_cuda_run_plan(plan, libs, cu_start(c), data, work->data));
}

// Convolutions

static const int to_nhwc[] = {0, 2, 3, 1};

typedef struct conv {
    int dims[4], channels; // of src, and the number of dst's
    tl_conv2d_param param; // the activation is set later
} conv;

// `param` is {group, size, stride, dilation, padding, ..}.
static const conv convs[] = {
    {{1, 3, 32, 32}, 16, {1, {3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}, {0}, {0}}},
    {{1, 3, 112, 112}, 64, {1, {7, 7}, {2, 2}, {1, 1}, {3, 3, 3, 3}, {0}, {0}}},
    {{1, 64, 28, 28}, 64, {1, {3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}, {0}, {0}}},
    {{3, 64, 14, 14}, 128, {1, {1, 1}, {1, 1}, {1, 1}, {0}, {0}, {0}}},
    {{1, 58, 28, 28}, 58, {58, {3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}, {0}, {0}}},
    {{1, 16, 15, 15}, 24, {1, {3, 3}, {2, 2}, {1, 1}, {0, 0, 1, 1}, {0}, {0}}},
    {{3, 5, 17, 13}, 7, {1, {3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}, {0}, {0}}},
    {{1, 58, 28, 28}, 58, {1, {1, 1}, {1, 1}, {1, 1}, {0}, {0}, {0}}},
    {{3, 58, 28, 28}, 58, {58, {3, 3}, {2, 2}, {1, 1}, {1, 1, 1, 1}, {0}, {0}}},
    {{1, 32, 20, 20}, 48, {1, {5, 5}, {1, 1}, {1, 1}, {2, 2, 2, 2}, {0}, {0}}},
    {{1, 64, 14, 14}, 64, {2, {3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}, {0}, {0}}},
    {{1, 16, 14, 14}, 32, {4, {3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}, {0}, {0}}},
    {{3, 58, 14, 14}, 58, {2, {1, 1}, {1, 1}, {1, 1}, {0}, {0}, {0}}},
    {{1, 32, 28, 28}, 32, {1, {3, 3}, {1, 1}, {2, 2}, {2, 2, 2, 2}, {0}, {0}}},
    {{1, 20, 12, 9}, 10, {1, {3, 1}, {1, 2}, {1, 1}, {2, 0, 1, 0}, {0}, {0}}},
    {{1, 96, 14, 14}, 96, {96, {7, 7}, {1, 1}, {1, 1}, {3, 3, 3, 3}, {0}, {0}}},
    {{1, 33, 17, 17}, 33, {33, {5, 5}, {2, 2}, {1, 1}, {1, 2, 2, 1}, {0}, {0}}},
    {{1, 8, 9, 9}, 16, {8, {3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}, {0}, {0}}}, // two of each channel
    {{1, 128, 7, 7}, 1000, {1, {1, 1}, {1, 1}, {1, 1}, {0}, {0}, {0}}},
    {{1, 256, 1, 1}, 64, {1, {1, 1}, {1, 1}, {1, 1}, {0}, {0}, {0}}},
    {{1, 512, 7, 7}, 128, {1, {3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}, {0}, {0}}},
    {{1, 1, 5, 5}, 1, {1, {3, 3}, {1, 1}, {1, 1}, {0}, {0}, {0}}},
    {{1, 3, 32, 32}, 96, {1, {4, 4}, {4, 4}, {1, 1}, {0}, {0}, {0}}}, // patches
};

static const conv with_sums = {
    {3, 64, 28, 28}, 64, {64, {3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}, {0}, {0}}};

// The weights of a depthwise convolution as [KH, KW, C].
static tl_tensor *taps_of(cu_case *c, const tl_tensor *weight)
{
    const tl_tensor *const moved = cu_host_permuted(c, weight, (int[]){2, 3, 0, 1});
    return cu_given(c, cu_host_reshaped(c, moved, 3, moved->dims));
}

// Replaces `*plan`. Odd activations of depthwise convolutions have taps.
static void check_conv(ln_cuda_plan **plan, const conv *v, int mode, int is_nhwc, tl_act act,
                       int has_addend)
{
    const tl_dtype dtype = modes[mode].dtype;
    const int in = v->dims[1] / v->param.group;
    const int weight_dims[] = {v->channels, in, v->param.size[0], v->param.size[1]};
    const int has_taps = is_nhwc && in == 1 && v->channels == v->dims[1] && act % 2;
    const double max = 2 / sqrt(in * v->param.size[0] * v->param.size[1]);
    int dims[4] = {v->dims[0], v->channels};
    ln_cuda_conv how = {.has_addend = has_addend,
                        .param = v->param,
                        .is_nhwc = is_nhwc,
                        .allow_tf32 = modes[mode].allow_tf32,
                        .wants_sums = v == &with_sums};
    how.param.act = cu_act(act);
    cu_case c;
    cu_open(&c, "ln_cuda_plan_conv2d", dtype,
            "%s group %d size [%s] stride [%s] dilation [%s] padding [%s] %s%s%s",
            is_nhwc ? "nhwc" : "nchw", how.param.group, cu_list(2, how.param.size),
            cu_list(2, how.param.stride), cu_list(2, how.param.dilation),
            cu_list(4, how.param.padding), tl_act_name(act), has_addend ? ", addend" : "",
            how.allow_tf32 ? ", tf32" : "");
    c.is_aligned = 1;
    const tl_tensor *image = cu_host_random(&c, dtype, 4, v->dims, -1, 1);
    const tl_tensor *weight = cu_host_random(&c, dtype, 4, weight_dims, -max, max);
    tl_tensor *const bias = cu_random(&c, dtype, 1, &v->channels, -1, 1);
    ck_assert_int_eq(tl_conv2d_extents(image, &v->param, 0, dims + 2), 0);
    const tl_tensor *more = has_addend ? cu_host_random(&c, dtype, 4, dims, -1, 1) : NULL;
    tl_tensor *expected = cu_host_blank(&c, TL_DOUBLE, 4, dims);
    tl_exec_conv2d(cu_exec(0), cu_host_double(&c, image), cu_host_double(&c, weight),
                   cu_double(&c, bias), expected, &v->param);
    cu_add_and_act(expected, more ? cu_host_double(&c, more) : NULL, how.param.act);
    tl_tensor *const taps = has_taps ? taps_of(&c, weight) : NULL;
    if (is_nhwc) {
        image = cu_host_permuted(&c, image, to_nhwc);
        weight = cu_host_permuted(&c, weight, to_nhwc);
        more = more ? cu_host_permuted(&c, more, to_nhwc) : NULL;
        expected = cu_host_permuted(&c, expected, to_nhwc);
    }
    tl_tensor *tensors[ARGS] = {cu_given(&c, image), cu_given(&c, weight), bias,
                                more ? cu_given(&c, more) : NULL,
                                cu_output(&c, dtype, 4, expected->dims)};
    how.src = tensors[0], how.weight = tensors[1], how.taps = taps, how.dst = tensors[4];
    const uint64_t began = tl_clock();
    const int status = ln_cuda_plan_conv2d(libs, plan, &how);
    if (status == 0 && ln_cuda_plan_reads_taps(*plan))
        tensors[1] = taps;
    run_plan(&c, status, *plan, tensors, began);
    if (status == 0 && (ln_cuda_plan_sums(*plan) > 0) != (how.wants_sums && dtype != TL_FLOAT))
        cu_fail(&c, "ln_cuda_plan_sums returns %d", ln_cuda_plan_sums(*plan));
    cu_check_near(&c, tensors[4], expected, tolerance_of(mode));
    cu_close(&c);
}

// Each type in one layout, and each third shape in both.
CU_TEST(conv2d_of_every_shape)
{
    ln_cuda_plan *plan = NULL;
    int n = 0;
    open_libs();
    for (int i = 0; i < CU_LEN(convs); i++)
        for (int m = 0; m < CU_LEN(modes); m++)
            for (int is_nhwc = 0; is_nhwc < 2; is_nhwc++)
                if (i % 3 == 0 || is_nhwc == (modes[m].dtype != TL_FLOAT)) {
                    check_conv(&plan, &convs[i], m, is_nhwc, n % TL_ACT_SIZE, n / 2 % 2);
                    n++;
                }
    ln_cuda_free_plan(plan);
}

CU_TEST(conv2d_with_every_activation)
{
    ln_cuda_plan *plan = NULL;
    open_libs();
    for (int act = 0; act < TL_ACT_SIZE; act++)
        for (int way = 0; way < 3; way++) {
            const int m = way < 2 ? act % 3 : (act + 1) % 4;
            const int is_nhwc = way < 2 ? modes[m].dtype != TL_FLOAT : act % 2;
            check_conv(&plan, &convs[way < 2 ? 2 : 4], m, is_nhwc, (tl_act)act, way % 2);
        }
    ln_cuda_free_plan(plan);
}

// Only a depthwise kernel of 16 bits adds up its results.
CU_TEST(conv2d_with_sums)
{
    ln_cuda_plan *plan = NULL;
    open_libs();
    for (int m = 0; m < CU_LEN(modes); m++)
        check_conv(&plan, &with_sums, m, 1, TL_ACT_RELU, m % 2);
    ln_cuda_free_plan(plan);
}

// {N, C, H, W}, and the number of dst's channels.
static const struct scaled {
    int dims[4], channels;
} scaleds[] = {
    {{1, 1, 1, 1}, 1},      {{2, 32, 28, 28}, 16}, {{3, 96, 14, 14}, 24},
    {{2, 480, 14, 14}, 80}, {{5, 672, 7, 7}, 192}, {{1, 144, 56, 56}, 40},
    {{4, 33, 9, 7}, 20},    {{3, 12, 5, 5}, 13},   {{33, 1152, 1, 1}, 48},
};

static void check_scaled(ln_cuda_plan **plan, const struct scaled *v, int mode, tl_act act,
                         int has_addend)
{
    const tl_dtype dtype = modes[mode].dtype;
    const int n = v->dims[0], in = v->dims[1], weight_dims[] = {v->channels, in, 1, 1},
              factor_dims[] = {n, in, 1, 1}, dims[] = {n, v->channels, v->dims[2], v->dims[3]};
    const double max = 2 / sqrt(in);
    ln_cuda_conv how = {.has_addend = has_addend,
                        .param = {1, {1, 1}, {1, 1}, {1, 1}, {0}, {0}, cu_act(act)},
                        .is_nhwc = 1,
                        .allow_tf32 = modes[mode].allow_tf32};
    tl_conv2d_param param = how.param;
    param.act = (tl_activation){0};
    cu_case c;
    cu_open(&c, "ln_cuda_plan_scaled", dtype, "%s%s%s", tl_act_name(act),
            has_addend ? ", addend" : "", how.allow_tf32 ? ", tf32" : "");
    c.is_aligned = 1;
    const tl_tensor *const image = cu_host_random(&c, dtype, 4, v->dims, -1, 1),
                           *const weight = cu_host_random(&c, dtype, 4, weight_dims, -max, max),
                           *const factors = cu_host_random(&c, dtype, 4, factor_dims, 0, 1),
                           *const more =
                               has_addend ? cu_host_random(&c, dtype, 4, dims, -1, 1) : NULL;
    tl_tensor *const bias = cu_random(&c, dtype, 1, &v->channels, -1, 1);
    tl_tensor *const images = cu_host_double(&c, image);
    const double *const scales = cu_host_double(&c, factors)->data;
    for (int i = 0; i < images->len; i++)
        ((double *)images->data)[i] *= scales[i / (v->dims[2] * v->dims[3])];
    tl_tensor *const expected = cu_host_blank(&c, TL_DOUBLE, 4, dims);
    tl_exec_conv2d(cu_exec(0), images, cu_host_double(&c, weight), cu_double(&c, bias), expected,
                   &param);
    cu_add_and_act(expected, more ? cu_host_double(&c, more) : NULL, how.param.act);
    const tl_tensor *const permuted = cu_host_permuted(&c, expected, to_nhwc);
    tl_tensor *const tensors[ARGS] = {
        cu_given(&c, cu_host_permuted(&c, image, to_nhwc)),
        cu_given(&c, cu_host_permuted(&c, weight, to_nhwc)),
        bias,
        more ? cu_given(&c, cu_host_permuted(&c, more, to_nhwc)) : NULL,
        cu_output(&c, dtype, 4, permuted->dims),
        NULL,
        cu_given(&c, cu_host_permuted(&c, factors, to_nhwc)),
    };
    how.src = tensors[0], how.weight = tensors[1], how.dst = tensors[4];
    const uint64_t began = tl_clock();
    const int status = ln_cuda_plan_scaled(libs, plan, &how);
    run_plan(&c, status, *plan, tensors, began);
    cu_check_near(&c, tensors[4], permuted, tolerance_of(mode));
    cu_close(&c);
}

CU_TEST(scaled_conv2d_of_every_shape)
{
    ln_cuda_plan *plan = NULL;
    int n = 0;
    open_libs();
    for (int i = 0; i < CU_LEN(scaleds); i++)
        for (int m = 0; m < CU_LEN(modes); m++, n++)
            check_scaled(&plan, &scaleds[i], m, n % TL_ACT_SIZE, n % 3 == 0);
    ln_cuda_free_plan(plan);
}

CU_TEST(conv2d_planned_again)
{
    ln_cuda_plan *plan = NULL, *other = NULL;
    open_libs();
    for (int i = 0; i < 3; i++) {
        check_conv(i % 2 ? &other : &plan, &convs[0], 0, 1, TL_ACT_RELU, 0);
        check_conv(i % 2 ? &other : &plan, &convs[0], 1, 0, TL_ACT_RELU, 0);
    }
    ln_cuda_free_plan(plan);
    ln_cuda_free_plan(other);
    ln_cuda_free_plan(NULL);
}

// Products

typedef struct product {
    int m, n, k;
    int n_batches, batches[3]; // axes before the last two
    int shared;                // src2: 0: has these axes; 1: has none; 2: has axes of 1
} product;

static const product products[] = {
    {65, 256, 256, 0, {0}, 0},   {1, 1000, 512, 0, {0}, 0},    {128, 128, 64, 1, {12}, 0},
    {197, 384, 128, 1, {2}, 1},  {1, 1, 1, 0, {0}, 0},         {3, 5, 7, 0, {0}, 0},
    {17, 33, 65, 1, {3}, 0},     {129, 127, 63, 0, {0}, 0},    {1000, 1, 33, 0, {0}, 0},
    {33, 1000, 1, 0, {0}, 0},    {1, 64, 1025, 1, {4}, 1},     {17, 9, 33, 2, {2, 3}, 2},
    {64, 64, 64, 2, {2, 3}, 0},  {7, 24, 16, 3, {2, 1, 3}, 1}, {1, 40, 24, 2, {3, 2}, 0},
    {50, 50, 64, 2, {1, 12}, 2}, {8, 16, 2048, 0, {0}, 0},     {3001, 144, 24, 0, {0}, 0},
};

// Writes the shape [batches.., rows, columns], of the last two swapped when `trans`.
static int write_dims(int *dims, const product *p, int shared, int rows, int columns, int trans)
{
    int n = 0;
    for (int i = 0; i < p->n_batches && shared != 1; i++)
        dims[n++] = shared == 2 ? 1 : p->batches[i];
    dims[n++] = trans ? columns : rows;
    dims[n++] = trans ? rows : columns;
    return n;
}

// Bits of `way`: trans1, trans2, a bias, an addend.
static void check_product(ln_cuda_plan **plan, const product *p, int mode, int way, tl_act act,
                          double alpha)
{
    const tl_dtype dtype = modes[mode].dtype;
    const double max = 2 / sqrt(p->k);
    const tl_matmul_param param = {way & 1, way >> 1 & 1, alpha, 1};
    ln_cuda_product how = {.trans1 = param.trans1,
                           .trans2 = param.trans2,
                           .alpha = alpha,
                           .has_addend = way >> 3 & 1,
                           .act = cu_act(act),
                           .allow_tf32 = modes[mode].allow_tf32};
    int dims[TL_MAXDIM];
    cu_case c;
    cu_open(&c, "ln_cuda_plan_product", dtype, "m %d n %d k %d%s%s%s%s alpha %g %s%s", p->m, p->n,
            p->k, way & 1 ? ", trans1" : "", way & 2 ? ", trans2" : "", way & 4 ? ", bias" : "",
            way & 8 ? ", addend" : "", alpha, tl_act_name(act), how.allow_tf32 ? ", tf32" : "");
    c.is_aligned = 1;
    const int n1 = write_dims(dims, p, 0, p->m, p->k, param.trans1);
    tl_tensor *const src1 = cu_random(&c, dtype, n1, dims, -1, 1);
    const int n2 = write_dims(dims, p, p->shared, p->k, p->n, param.trans2);
    tl_tensor *const src2 = cu_random(&c, dtype, n2, dims, -max, max);
    tl_tensor *const bias = way & 4 ? cu_random(&c, dtype, 1, &p->n, -1, 1) : NULL;
    const int ndim = write_dims(dims, p, 0, p->m, p->n, 0);
    tl_tensor *const addend = way & 8 ? cu_random(&c, dtype, ndim, dims, -1, 1) : NULL;
    tl_tensor *const tensors[ARGS] = {src1, src2, bias, addend, cu_output(&c, dtype, ndim, dims)};
    how.src1 = src1, how.src2 = src2, how.bias = bias, how.dst = tensors[4];
    if (!ln_cuda_has_product(src1, src2, bias, how.dst))
        cu_fail(&c, "ln_cuda_has_product returns 0");
    const uint64_t began = tl_clock();
    const int status = ln_cuda_plan_product(libs, plan, &how);
    run_plan(&c, status, *plan, tensors, began);
    const tl_tensor *const a = cu_double(&c, src1), *const b = cu_double(&c, src2);
    const tl_tensor *const row = bias ? cu_double(&c, bias) : NULL;
    tl_tensor *const expected = cu_host_blank(&c, TL_DOUBLE, ndim, dims);
    ck_assert_int_eq(tl_exec_matmul(cu_exec(tl_matmul_scratch(a, b, row, expected, &param, 8)), a,
                                    b, row, expected, &param),
                     0);
    cu_add_and_act(expected, addend ? cu_double(&c, addend) : NULL, how.act);
    cu_check_near(&c, how.dst, expected, tolerance_of(mode));
    cu_close(&c);
}

// Products by ln_cuda_gemm

// Shapes for all its tiles: m, n, k, batch, is_shared, k_more.
static const int gemms[][6] = {
    {1, 8, 16, 1, 1},          {31, 16, 24, 1, 1},       {257, 24, 144, 1, 1},
    {1003, 144, 24, 1, 1},     {65, 96, 40, 3, 1},       {300, 40, 96, 1, 1},
    {129, 264, 32, 1, 1},      {4099, 72, 16, 1, 1},     {50, 136, 384, 1, 1},
    {97, 1000, 8, 1, 1},       {33, 64, 64, 3, 0},       {197, 1000, 1152, 1, 1},
    {97, 16, 128, 1, 1, 64},   {700, 48, 104, 1, 1, 40}, {65, 72, 192, 2, 0, 128},
    {33, 264, 576, 3, 1, 512},
};

// The matrix whose last columns are `more`, or NULL: then `src`.
static const tl_tensor *with_more(cu_case *c, const tl_tensor *src, const tl_tensor *more)
{
    const tl_tensor *const a = cu_double(c, src);
    if (!more)
        return a;
    const tl_tensor *const parts[] = {a, cu_double(c, more)};
    const int dims[] = {src->dims[0], src->dims[1], src->dims[2] + more->dims[2]};
    tl_tensor *const both = cu_host_blank(c, TL_DOUBLE, 3, dims);
    ck_assert_int_eq(tl_exec_concat(cu_exec(0), parts, 2, both, 2), 0);
    return both;
}

// Whether ln_cuda_gemm must support the shape: the last two tiles keep src2 in shared memory.
static int has_gemm(const int *v, int tile)
{
    return tile < LN_CUDA_GEMM_TILES - 2 ? !v[5] || (v[2] - v[5]) % 64 == 0 : v[4] && v[2] < 200;
}

// Bits of `way`: trans2, a bias, an addend, which is dst itself.
static void check_gemm(const int *v, tl_dtype dtype, int tile, int way, tl_act act, double alpha)
{
    const int batch2 = v[4] ? 1 : v[3], trans2 = way & 1;
    const double max = 2 / sqrt(v[2]);
    const tl_matmul_param param = {0, trans2, alpha, 1};
    const int dims[] = {v[3], v[0], v[1]};
    ln_cuda_gemm_job job = {.dtype = dtype,
                            .m = v[0],
                            .n = v[1],
                            .k = v[2],
                            .k_more = v[5],
                            .batch = v[3],
                            .is_shared = v[4],
                            .trans2 = trans2,
                            .alpha = (float)alpha,
                            .act = cu_act(act),
                            .tile = tile};
    cu_case c;
    cu_open(&c, "ln_cuda_gemm", dtype, "%s batch %d m %d n %d k %d more %d%s%s%s%s alpha %g %s",
            ln_cuda_gemm_name(tile), v[3], v[0], v[1], v[2], v[5], v[4] ? ", shared" : "",
            trans2 ? ", trans2" : "", way & 2 ? ", bias" : "", way & 4 ? ", addend" : "", alpha,
            tl_act_name(act));
    c.is_aligned = 1;
    tl_tensor *const src1 = cu_random(&c, dtype, 3, (int[]){v[3], v[0], v[2] - v[5]}, -1, 1);
    tl_tensor *const more = v[5] ? cu_random(&c, dtype, 3, (int[]){v[3], v[0], v[5]}, -1, 1) : NULL;
    tl_tensor *const src2 =
        cu_random(&c, dtype, 3, (int[]){batch2, v[trans2 ? 1 : 2], v[trans2 ? 2 : 1]}, -max, max);
    tl_tensor *const bias = way & 2 ? cu_random(&c, dtype, 1, v + 1, -1, 1) : NULL;
    const tl_tensor *const addend = way & 4 ? cu_host_random(&c, dtype, 3, dims, -1, 1) : NULL;
    tl_tensor *const dst = addend ? cu_updated(&c, addend) : cu_output(&c, dtype, 3, dims);
    job.src1 = src1->data, job.src2 = src2->data, job.dst = dst->data;
    job.src1_more = more ? more->data : NULL;
    job.bias = bias ? bias->data : NULL;
    job.addend = addend ? dst->data : NULL;
    if (ln_cuda_has_gemm(&job) != has_gemm(v, tile))
        cu_fail(&c, "ln_cuda_has_gemm returns %d", !has_gemm(v, tile));
    cu_finish(&c, ln_cuda_gemm(cu_start(&c), &job));
    const tl_tensor *const a = with_more(&c, src1, more), *const b = cu_double(&c, src2);
    const tl_tensor *const row = bias ? cu_double(&c, bias) : NULL;
    tl_tensor *const expected = cu_host_blank(&c, TL_DOUBLE, 3, dims);
    ck_assert_int_eq(tl_exec_matmul(cu_exec(tl_matmul_scratch(a, b, row, expected, &param, 8)), a,
                                    b, row, expected, &param),
                     0);
    cu_add_and_act(expected, addend ? cu_host_double(&c, addend) : NULL, job.act);
    cu_check_near(&c, dst, expected, cu_tolerance(dtype, FLOAT_SUM));
    cu_close(&c);
}

CU_TEST(gemm_of_every_shape)
{
    int n = 0;
    for (int tile = 0; tile < LN_CUDA_GEMM_TILES; tile++)
        for (int i = 0; i < CU_LEN(gemms); i++)
            for (int trans2 = 0; trans2 < 2 && has_gemm(gemms[i], tile); trans2++, n++)
                check_gemm(gemms[i], n % 3 ? TL_FLOAT16 : TL_BFLOAT16, tile,
                           trans2 + 2 * (n / 2 % 4), (tl_act)(n % TL_ACT_SIZE), n % 4 ? 1 : 0.5);
}

CU_TEST(gemm_with_every_activation)
{
    for (int act = 0; act < TL_ACT_SIZE; act++)
        for (int tile = 0; tile < LN_CUDA_GEMM_TILES; tile++)
            check_gemm(gemms[2 + tile % 2], act % 2 ? TL_FLOAT16 : TL_BFLOAT16, tile,
                       (act + tile) % 8, (tl_act)act, 1);
}

START_TEST(gemm_that_is_unsupported)
{
    ln_cuda_gemm_job job = {.dtype = TL_FLOAT16, .m = 64, .n = 64, .k = 64, .batch = 1};
    int choices[LN_CUDA_GEMM_CHOICES];
    ck_assert_int_eq(ln_cuda_has_gemm(&job), 1);
    ck_assert_int_gt(ln_cuda_gemm_choices(&job, choices), 0);
    job.n = 63;
    ck_assert_int_eq(ln_cuda_has_gemm(&job), 0);
    ck_assert_int_eq(ln_cuda_gemm_choices(&job, choices), 0);
    ck_assert_int_eq(ln_cuda_gemm(NULL, &job), -1);
    job.n = 64, job.dtype = TL_FLOAT;
    ck_assert_int_eq(ln_cuda_has_gemm(&job), 0);
    job.dtype = TL_FLOAT16, job.bias = (const void *)(uintptr_t)8;
    ck_assert_int_eq(ln_cuda_has_gemm(&job), 0);
    job.bias = NULL, job.k_more = 24; // 40 columns are not those of a step
    ck_assert_int_eq(ln_cuda_has_gemm(&job), 0);
    job.k_more = 64; // none are left
    ck_assert_int_eq(ln_cuda_has_gemm(&job), 0);
}
END_TEST

CU_TEST(product_of_every_shape)
{
    ln_cuda_plan *plan = NULL;
    int n = 0;
    open_libs();
    for (int i = 0; i < CU_LEN(products); i++)
        for (int m = 0; m < CU_LEN(modes); m++)
            for (int trans = 0; trans < 4; trans++, n++) {
                const int more = (i + m + trans) % 4;
                check_product(&plan, &products[i], m, trans + 4 * more,
                              n % 3 ? TL_ACT_NONE : (tl_act)(n / 3 % TL_ACT_SIZE),
                              n % 5 == 2 ? 0.125 : 1);
            }
    ln_cuda_free_plan(plan);
}

CU_TEST(product_with_every_activation)
{
    ln_cuda_plan *plan = NULL;
    open_libs();
    for (int act = 0; act < TL_ACT_SIZE; act++)
        for (int m = 0; m < CU_LEN(modes); m++)
            for (int more = (act + m) % 2; more < 4; more += 2)
                check_product(&plan, &products[act % 2 ? 2 : 0], m, 2 * (act % 2) + 4 * more,
                              (tl_act)act, more == 1 ? 0.5 : 1);
    ln_cuda_free_plan(plan);
    ln_cuda_libs_free(libs);
    libs = NULL;
}

CU_TEST_MAIN("cuda libs", conv2d_of_every_shape, conv2d_with_every_activation,
             scaled_conv2d_of_every_shape, conv2d_with_sums, conv2d_planned_again,
             gemm_of_every_shape, gemm_with_every_activation, gemm_that_is_unsupported,
             product_of_every_shape, product_with_every_activation)
