// SPDX-License-Identifier: Apache-2.0
// Tests of windows over single channels in blocks: every kernel against the plain one on shapes
// with all tails and edges, NaN and infinities, lanes that stand for no channel, threads.

#include "kernel/tl_nn_test.h"

typedef struct shape {
    int n, channels, ih, iw, kh, kw;
    int stride[2], dilation[2], padding[4];
} shape;

static const shape convs[] = {
    {1, 1, 1, 1, 1, 1, {1, 1}, {1, 1}, {0, 0, 0, 0}},     // the smallest
    {1, 16, 7, 7, 3, 3, {1, 1}, {1, 1}, {1, 1, 1, 1}},    // edges on both sides of a tile
    {2, 33, 9, 14, 3, 3, {1, 1}, {1, 1}, {1, 1, 1, 1}},   // lanes left over, images
    {1, 20, 11, 29, 3, 3, {1, 1}, {1, 1}, {1, 1, 1, 1}},  // tiles of several sizes, some inside
    {1, 16, 13, 58, 3, 3, {2, 2}, {1, 1}, {1, 1, 1, 1}},  // the same with stride 2
    {1, 24, 14, 14, 3, 3, {2, 2}, {1, 1}, {0, 0, 1, 1}},  // padding after only
    {1, 18, 12, 43, 5, 5, {1, 1}, {1, 1}, {2, 2, 2, 2}},  // the larger kernel
    {1, 16, 15, 61, 5, 5, {2, 2}, {1, 1}, {2, 2, 2, 2}},  // with stride 2
    {1, 16, 2, 2, 5, 5, {1, 1}, {1, 1}, {2, 2, 2, 2}},    // larger than the image
    {1, 16, 3, 1, 3, 3, {1, 1}, {1, 1}, {4, 5, 4, 5}},    // windows that meet nothing
    {1, 17, 20, 23, 7, 7, {1, 1}, {1, 1}, {3, 3, 3, 3}},  // any size
    {1, 16, 20, 40, 3, 3, {1, 1}, {2, 3}, {2, 3, 2, 3}},  // dilation
    {1, 16, 20, 40, 3, 3, {1, 1}, {2, 1}, {2, 1, 2, 1}},  // of lines alone
    {1, 20, 19, 50, 3, 5, {3, 2}, {1, 1}, {1, 2, 0, 2}},  // not square
    {1, 20, 19, 31, 2, 3, {1, 3}, {1, 1}, {1, 0, 0, 2}},  // another stride
    {1, 8, 6, 10, 1, 1, {1, 1}, {1, 1}, {0, 0, 0, 0}},    // nothing but a factor
    {1, 32, 40, 112, 3, 3, {1, 1}, {1, 1}, {1, 1, 1, 1}}, // several threads
};

static const shape pools[] = {
    {1, 16, 5, 5, 2, 2, {2, 2}, {1, 1}, {0, 0, 0, 0}},
    {2, 33, 23, 29, 3, 3, {2, 2}, {1, 1}, {1, 1, 1, 1}},
    {1, 20, 13, 13, 2, 2, {1, 1}, {1, 1}, {0, 0, 1, 1}},
    {1, 17, 9, 31, 3, 3, {1, 1}, {1, 1}, {1, 1, 1, 1}},
    {1, 3, 12, 10, 5, 3, {2, 3}, {1, 1}, {4, 2, 3, 1}},
    {1, 40, 7, 7, 7, 7, {1, 1}, {1, 1}, {0, 0, 0, 0}}, // the whole image
    {1, 16, 1, 5, 1, 5, {1, 1}, {1, 1}, {0, 0, 0, 0}},
    {1, 16, 3, 3, 4, 4, {3, 3}, {1, 1}, {1, 1, 1, 1}}, // more than the whole image
    {1, 48, 60, 61, 3, 3, {2, 2}, {1, 1}, {0, 0, 0, 0}},
};

static void result_dims(const shape *s, int *dims)
{
    dims[0] = s->n;
    dims[1] = s->channels;
    dims[2] =
        tl_conv2d_length(s->ih, s->kh, s->stride[0], s->dilation[0], s->padding[0], s->padding[2]);
    dims[3] =
        tl_conv2d_length(s->iw, s->kw, s->stride[1], s->dilation[1], s->padding[1], s->padding[3]);
}

static tl_tensor *blocked_like(nn_room *room, const int *dims)
{
    return nn_blank(room, TL_FLOAT, 5,
                    (int[]){dims[0], tl_blocks(dims[1]), dims[2], dims[3], TL_BLOCK});
}

// src in blocks, NaN in padding channels, which must not affect results.
static tl_tensor *poisoned(nn_room *room, const tl_tensor *src)
{
    tl_tensor *const t = blocked_like(room, src->dims);
    tl_exec_to_blocked(NULL, src, t);
    const int pixels = t->dims[2] * t->dims[3], rest = src->dims[1] % TL_BLOCK;
    for (int i = 0; rest && i < t->len; i++)
        if (i / TL_BLOCK / pixels % t->dims[1] == t->dims[1] - 1 && i % TL_BLOCK >= rest)
            ((float *)t->data)[i] = NAN;
    return t;
}

static tl_tensor *as_planes(nn_room *room, const tl_tensor *blocked, const int *dims)
{
    tl_tensor *const t = nn_blank(room, TL_FLOAT, 4, dims);
    tl_exec_from_blocked(NULL, blocked, t);
    return t;
}

// NaN where NaN is expected, the same infinities, else within the tolerance.
static void check_near(const tl_tensor *got, const tl_tensor *want, double tolerance, tl_isa isa,
                       size_t row)
{
    for (int i = 0; i < want->len; i++) {
        const double x = nn_at(got, i), y = nn_at(want, i);
        ck_assert_msg(isnan(y) ? isnan(x) : x == y || fabs(x - y) <= tolerance,
                      "%s, shape %zu, element %d: %g, expected %g", tl_isa_name(isa), row, i, x, y);
    }
}

// Depthwise convolution

typedef struct conv_case {
    tl_tensor *src, *weight, *add; // in blocks; add may be NULL
    tl_conv2d_param param;
} conv_case;

static void run_conv(const tl_exec *exec, tl_tensor *dst, void *arg)
{
    conv_case *const c = arg;
    if (c->add) // the result may take its place
        tl_exec_copy(NULL, c->add, dst);
    tl_exec_blocked_depthwise(exec, c->src, c->weight, c->add ? dst : NULL, dst, &c->param);
}

static void check_conv(size_t row, tl_isa isa, tl_act act, int adds)
{
    const shape *const s = &convs[row];
    nn_room room = {.seed = 1};
    int dims[4];
    result_dims(s, dims);
    conv_case c = {
        .param = {.group = s->channels,
                  .size = {s->kh, s->kw},
                  .stride = {s->stride[0], s->stride[1]},
                  .dilation = {s->dilation[0], s->dilation[1]},
                  .padding = {s->padding[0], s->padding[1], s->padding[2], s->padding[3]},
                  .act = {TL_ACT_NONE, 0.25f, 0.75f}}};
    tl_tensor *const src =
        nn_random(&room, TL_FLOAT, 4, (int[]){s->n, s->channels, s->ih, s->iw}, -1, 1);
    ((float *)src->data)[src->len / 2] = NAN;
    ((float *)src->data)[src->len / 3] = INFINITY;
    tl_tensor *const weight =
        nn_random(&room, TL_FLOAT, 4, (int[]){s->channels, 1, s->kh, s->kw}, -1, 1);
    tl_tensor *const bias = nn_random(&room, TL_FLOAT, 1, (int[]){s->channels}, -1, 1);
    tl_tensor *const add = adds ? nn_random(&room, TL_FLOAT, 4, dims, -1, 1) : NULL;
    tl_tensor *const want = nn_blank(&room, TL_FLOAT, 4, dims);
    const tl_exec reference = {.isa = TL_ISA_C}, exec = {.isa = isa};
    tl_exec_conv2d(&reference, src, weight, bias, want, &c.param);
    if (add)
        tl_exec_elew(&reference, want, add, want, TL_SUM);
    c.param.act.act = act;
    tl_exec_act(&reference, want, want, c.param.act);
    c.src = poisoned(&room, src);
    c.add = add ? poisoned(&room, add) : NULL;
    c.weight =
        nn_blank(&room, TL_FLOAT, 2,
                 (int[]){tl_blocks(s->channels), (int)tl_blocked_depthwise_packed(c.param.size)});
    tl_exec_blocked_depthwise_pack(NULL, weight, bias, c.weight);
    tl_tensor *const dst = blocked_like(&room, dims);
    run_conv(&exec, dst, &c);
    // Each of the terms, at most 1, is rounded with its product, unless that is fused.
    check_near(as_planes(&room, dst, dims), want, 2e-7 * (s->kh * s->kw + 2), isa, row);
    if (isa == tl_isa_best())
        nn_check_threads(run_conv, dst, &c);
    nn_close(&room);
}

START_TEST(depthwise_convolution_agrees_with_the_plain_one)
{
    TL_ISA_EACH_USABLE (isa)
        for (size_t i = 0; i < NN_LEN(convs); i++) {
            check_conv(i, isa, TL_ACT_NONE, 0);
            check_conv(i, isa, TL_ACT_RELU, 1);
            check_conv(i, isa, TL_ACT_LRELU, 1);
        }
}
END_TEST

START_TEST(padding_is_not_multiplied)
{
    nn_room room = {.seed = 1};
    const tl_conv2d_param param = {
        .group = 16, .size = {3, 3}, .stride = {1, 1}, .dilation = {1, 1}, .padding = {1, 1, 1, 1}};
    tl_tensor *const src = nn_random(&room, TL_FLOAT, 5, (int[]){1, 1, 1, 1, 16}, -1, 1);
    tl_tensor *const weight = nn_random(&room, TL_FLOAT, 4, (int[]){16, 1, 3, 3}, -1, 1);
    for (int i = 0; i < weight->len; i++)
        if (i % 9 != 4)
            ((float *)weight->data)[i] = NAN; // meets padding alone
    tl_tensor *const packed =
        nn_blank(&room, TL_FLOAT, 2, (int[]){1, (int)tl_blocked_depthwise_packed(param.size)});
    tl_tensor *const dst = nn_blank(&room, TL_FLOAT, 5, src->dims);
    tl_exec_blocked_depthwise_pack(NULL, weight, NULL, packed);
    tl_exec_blocked_depthwise(NULL, src, packed, NULL, dst, &param);
    for (int c = 0; c < 16; c++)
        ck_assert_float_eq_tol((float)nn_at(dst, c),
                               (float)(nn_at(src, c) * nn_at(weight, c * 9 + 4)), 1e-7f);
    nn_close(&room);
}
END_TEST

// Pooling

typedef struct pool_case {
    tl_tensor *src;
    tl_pool2d_param param;
    int is_mean, counts_padding;
} pool_case;

static void run_pool(const tl_exec *exec, tl_tensor *dst, void *arg)
{
    pool_case *const p = arg;
    if (p->is_mean)
        tl_exec_blocked_avgpool2d(exec, p->src, dst, &p->param, p->counts_padding);
    else
        tl_exec_blocked_maxpool2d(exec, p->src, dst, &p->param);
}

// The same by tl_exec_poolnd, which has both means.
static void run_plain_pool(const tl_tensor *src, tl_tensor *dst, const pool_case *p)
{
    const tl_exec reference = {.isa = TL_ISA_C};
    tl_poolnd_param param = {.kind = p->is_mean ? TL_POOL_MEAN : TL_POOL_MAX,
                             .counts_padding = p->counts_padding,
                             .windows = {.n = 2}};
    for (int i = 0; i < 2; i++) {
        param.windows.size[i] = p->param.size[i];
        param.windows.stride[i] = p->param.stride[i];
        param.windows.dilation[i] = 1;
        param.windows.padding[i] = p->param.padding[i];
        param.windows.padding[2 + i] = p->param.padding[2 + i];
    }
    tl_exec_poolnd(&reference, src, dst, NULL, &param);
}

static void check_pool(size_t row, tl_isa isa, int is_mean, int counts_padding)
{
    const shape *const s = &pools[row];
    nn_room room = {.seed = 1};
    int dims[4];
    result_dims(s, dims);
    pool_case p = {
        .param = {.size = {s->kh, s->kw},
                  .stride = {s->stride[0], s->stride[1]},
                  .padding = {s->padding[0], s->padding[1], s->padding[2], s->padding[3]}},
        .is_mean = is_mean,
        .counts_padding = counts_padding};
    tl_tensor *const src =
        nn_random(&room, TL_FLOAT, 4, (int[]){s->n, s->channels, s->ih, s->iw}, -1, 1);
    for (int i = 7; i < src->len; i += 31)
        ((float *)src->data)[i] = i % 2 ? NAN : i % 3 ? -INFINITY : INFINITY;
    tl_tensor *const want = nn_blank(&room, TL_FLOAT, 4, dims);
    run_plain_pool(src, want, &p);
    p.src = poisoned(&room, src);
    tl_tensor *const dst = blocked_like(&room, dims);
    const tl_exec exec = {.isa = isa};
    run_pool(&exec, dst, &p);
    // A sum of n terms, at most 1, has n roundings; the division leaves one of them and its own.
    check_near(as_planes(&room, dst, dims), want, is_mean ? 2e-7 * (s->kh * s->kw + 1) : 0, isa,
               row);
    if (isa == tl_isa_best())
        nn_check_threads(run_pool, dst, &p);
    nn_close(&room);
}

START_TEST(pools_agree_with_plain_c)
{
    TL_ISA_EACH_USABLE (isa)
        for (size_t i = 0; i < NN_LEN(pools); i++) {
            check_pool(i, isa, 0, 0);
            check_pool(i, isa, 1, 0);
            check_pool(i, isa, 1, 1);
        }
}
END_TEST

LN_TEST_MAIN("depthwise_blocked", depthwise_convolution_agrees_with_the_plain_one,
             padding_is_not_multiplied, pools_agree_with_plain_c)
