// SPDX-License-Identifier: Apache-2.0
// Tests of windows over single channels of 8-bit images: random shapes, zero points and scales on
// every instruction set against loops of 64-bit integers, whose sums get the operations of
// tl_quantized.h in floats.

#include "kernel/tl_nn_test.h"
#include "tensorlight/tl_quantized.h"

static int between(nn_room *room, int low, int high)
{
    return low + (int)(tl_random_uniform(&room->seed) * (high - low + 1));
}

// A random shape, of which at least one window meets the image.
typedef struct shape {
    int n, channels, in[2], out[2], size[2], stride[2], dilation[2], padding[4];
} shape;

// Mostly what tiles take, and sometimes any.
static int some_size(nn_room *room)
{
    return between(room, 0, 9) ? between(room, 1, 5) : between(room, 1, 11);
}

static shape random_shape(nn_room *room, int is_pool)
{
    shape s = {.out = {0}};
    while (s.out[0] < 1 || s.out[1] < 1) {
        s.n = between(room, 1, 2);
        s.channels = between(room, 1, 35);
        for (int i = 0; i < 2; i++) {
            s.in[i] = between(room, 1, i ? 31 : 9);
            s.size[i] = some_size(room);
            s.stride[i] = between(room, 0, 5) ? between(room, 1, 2) : 3;
            s.dilation[i] = is_pool || between(room, 0, 5) ? 1 : between(room, 2, 3);
            const int max = is_pool ? s.size[i] - 1 : 6;
            s.padding[i] = between(room, 0, max < 3 ? max : 3);
            s.padding[2 + i] = between(room, 0, max < 3 ? max : 3);
            s.out[i] = tl_conv2d_length(s.in[i], s.size[i], s.stride[i], s.dilation[i],
                                        s.padding[i], s.padding[2 + i]);
            // Each window of a pool meets the image.
            if (is_pool && (s.out[i] - 1) * s.stride[i] - s.padding[i] >= s.in[i])
                s.out[i] = 0;
        }
    }
    return s;
}

static tl_activation random_act(nn_room *room)
{
    static const tl_activation acts[] = {
        {TL_ACT_NONE, 0, 0},  {TL_ACT_NONE, 0, 0},      {TL_ACT_RELU, 0, 0},
        {TL_ACT_CLIP, -1, 6}, {TL_ACT_LRELU, 0.25f, 0}, {TL_ACT_HARDSWISH, 1.0f / 6, 0.5f},
    };
    return acts[between(room, 0, NN_LEN(acts) - 1)];
}

static tl_quantized_param random_param(nn_room *room)
{
    return (tl_quantized_param){.zero = between(room, 0, 255),
                                .scale = between(room, 0, 1) ? 1 : 0.37f,
                                .act = random_act(room),
                                .dst_factor = between(room, 0, 1) ? 1 : 0.7f,
                                .dst_zero = between(room, 0, 255)};
}

static tl_tensor *blocked(nn_room *room, tl_dtype dtype, const shape *s, const int *extents)
{
    return nn_random(room, dtype, 5,
                     (int[]){s->n, tl_blocks(s->channels), extents[0], extents[1], TL_BLOCK}, 0,
                     255);
}

// The source element of a tap of a window, counted over all planes; -1 in the padding.
static int64_t source_at(const shape *s, int plane, int y, int x, int ky, int kx, int lane)
{
    const int sy = y * s->stride[0] - s->padding[0] + ky * s->dilation[0];
    const int sx = x * s->stride[1] - s->padding[1] + kx * s->dilation[1];
    if (sy < 0 || sy >= s->in[0] || sx < 0 || sx >= s->in[1])
        return -1;
    return (((int64_t)plane * s->in[0] + sy) * s->in[1] + sx) * TL_BLOCK + lane;
}

static float activated(tl_activation act, float v)
{
    int dim = 1;
    const tl_exec plain = {.isa = TL_ISA_C};
    tl_tensor t = {.dtype = TL_FLOAT, .len = 1, .ndim = 1, .dims = &dim, .data = &v};
    tl_exec_act(&plain, &t, &t, act);
    return v;
}

// The result of a number after activation and quantization.
static double finished(float v, tl_dtype dtype, const tl_quantized_param *q)
{
    v = activated(q->act, v);
    if (dtype == TL_FLOAT)
        return (double)v;
    v = v * q->dst_factor;
    const double rounded = (double)rintf(v) + q->dst_zero;
    return rounded > 0 ? fmin(rounded, 255) : 0;
}

static void check(const tl_tensor *dst, size_t i, double value, const tl_exec *exec, int turn)
{
    ck_assert_msg(nn_at(dst, i) == value, "turn %d, %s, %s, element %zu: %.9g, expected %.9g", turn,
                  tl_isa_name(exec->isa), tl_dtype_name(dst->dtype), i, nn_at(dst, i), value);
}

typedef struct window_case {
    int turn;
    shape s;
    tl_quantized_param q;
    tl_conv2d_param conv;
    tl_pool2d_param pool;
    tl_tensor *src, *weight, *packed, *bias, *factor, *addend;
    int counts_padding;
} window_case;

static void copy_shape(window_case *c)
{
    c->conv.group = c->s.channels;
    for (int i = 0; i < 4; i++) {
        c->conv.padding[i] = c->pool.padding[i] = c->s.padding[i];
        c->conv.size[i % 2] = c->pool.size[i % 2] = c->s.size[i % 2];
        c->conv.stride[i % 2] = c->pool.stride[i % 2] = c->s.stride[i % 2];
        c->conv.dilation[i % 2] = c->s.dilation[i % 2];
    }
}

// Element `i` of dst as plane, line, column and lane; a lane that stands for no channel: 0.
static int place_of(const window_case *c, int i, int at[4])
{
    const int blocks = tl_blocks(c->s.channels);
    at[3] = i % TL_BLOCK;
    at[2] = i / TL_BLOCK % c->s.out[1];
    at[1] = i / TL_BLOCK / c->s.out[1] % c->s.out[0];
    at[0] = i / TL_BLOCK / c->s.out[1] / c->s.out[0];
    return at[0] % blocks * TL_BLOCK + at[3] < c->s.channels;
}

// Depthwise convolution

static void run_conv(const tl_exec *exec, tl_tensor *dst, void *arg)
{
    const window_case *const c = arg;
    tl_exec_quantized_depthwise2d(exec, c->src, c->packed, dst, &c->conv, &c->q);
}

static double conv_value(const window_case *c, const int *at, tl_dtype dtype)
{
    const uint8_t *const src = c->src->data;
    const int channel = at[0] % tl_blocks(c->s.channels) * TL_BLOCK + at[3];
    const int8_t *w = (const int8_t *)c->weight->data + channel * c->s.size[0] * c->s.size[1];
    const tl_tensor *const zeros = c->q.weight_zero;
    const int zero = zeros ? ((const int8_t *)zeros->data)[zeros->len > 1 ? channel : 0] : 0;
    int64_t sum = c->bias ? ((const int32_t *)c->bias->data)[channel] : 0;
    for (int ky = 0; ky < c->s.size[0]; ky++)
        for (int kx = 0; kx < c->s.size[1]; kx++) {
            const int64_t from = source_at(&c->s, at[0], at[1], at[2], ky, kx, at[3]);
            sum += from < 0 ? 0 : (int64_t)(src[from] - c->q.zero) * (*w - zero);
            w++;
        }
    if (dtype == TL_INT32)
        return (double)sum;
    const float *const factors = c->factor ? c->factor->data : NULL;
    const float factor = (factors ? factors[c->factor->len > 1 ? channel : 0] : 1) * c->q.scale;
    float v = (float)sum * factor;
    v = v + (c->addend ? ((const float *)c->addend->data)[channel] : 0);
    return finished(v, dtype, &c->q);
}

static void random_weights(nn_room *room, window_case *c)
{
    const int n = c->s.channels;
    c->weight = nn_random(room, TL_INT8, 4, (int[]){n, 1, c->s.size[0], c->s.size[1]}, -128, 127);
    if (between(room, 0, 1))
        c->bias = nn_random(room, TL_INT32, 1, &n, -5000, 5000);
    if (between(room, 0, 3))
        c->factor = nn_random(room, TL_FLOAT, 1, between(room, 0, 1) ? &n : &(int){1}, 0.001, 0.02);
    if (between(room, 0, 1))
        c->addend = nn_random(room, TL_FLOAT, 1, &n, -50, 50);
    if (between(room, 0, 1))
        c->q.weight_zero =
            nn_random(room, TL_INT8, 1, between(room, 0, 1) ? &n : &(int){1}, -128, 127);
    c->packed = nn_blank(room, TL_INT8, 2,
                         (int[]){tl_blocks(n), (int)tl_quantized_depthwise2d_packed(c->s.size)});
    tl_exec_quantized_depthwise2d_pack(NULL, c->weight, c->bias, c->factor, c->addend, c->packed);
}

static void check_conv(int turn)
{
    nn_room room = {.seed = (uint64_t)turn};
    window_case c = {.turn = turn, .s = random_shape(&room, 0), .q = random_param(&room)};
    copy_shape(&c);
    c.src = blocked(&room, TL_UINT8, &c.s, c.s.in);
    random_weights(&room, &c);
    static const tl_dtype dtypes[] = {TL_UINT8, TL_FLOAT, TL_INT32};
    tl_tensor *const dst = blocked(&room, dtypes[turn % NN_LEN(dtypes)], &c.s, c.s.out);
    NN_EACH_ISA(exec)
    {
        memset(dst->data, 0xa5, tl_tensor_size(dst));
        run_conv(&exec, dst, &c);
        for (int i = 0, at[4]; i < dst->len; i++)
            if (place_of(&c, i, at))
                check(dst, (size_t)i, conv_value(&c, at, dst->dtype), &exec, turn);
    }
    if (turn % 50 == 0)
        nn_check_threads(run_conv, dst, &c);
    nn_close(&room);
}

START_TEST(depthwise_convolutions_agree_with_64_bit_loops)
{
    for (int turn = 1; turn <= 1000; turn++)
        check_conv(turn);
}
END_TEST

// Weights and pixels of the largest magnitude: what would saturate 16 bits.
START_TEST(no_sum_is_saturated)
{
    nn_room room = {.seed = 1};
    window_case c = {.s = {.n = 1,
                           .channels = 16,
                           .in = {9, 12},
                           .out = {9, 12},
                           .size = {5, 5},
                           .stride = {1, 1},
                           .dilation = {1, 1},
                           .padding = {2, 2, 2, 2}},
                     .q = {.scale = 1, .dst_factor = 1}};
    copy_shape(&c);
    c.src = blocked(&room, TL_UINT8, &c.s, c.s.in);
    memset(c.src->data, 255, tl_tensor_size(c.src));
    random_weights(&room, &c);
    memset(c.weight->data, -128, tl_tensor_size(c.weight));
    c.bias = c.factor = c.addend = NULL;
    c.q.weight_zero = NULL;
    tl_exec_quantized_depthwise2d_pack(NULL, c.weight, NULL, NULL, NULL, c.packed);
    tl_tensor *const dst = blocked(&room, TL_FLOAT, &c.s, c.s.out);
    NN_EACH_ISA(exec)
    {
        run_conv(&exec, dst, &c);
        ck_assert_float_eq(((const float *)dst->data)[(4 * 12 + 5) * TL_BLOCK], -25 * 255 * 128.0f);
        ck_assert_float_eq(((const float *)dst->data)[0], -9 * 255 * 128.0f);
    }
    tl_tensor *const sums = blocked(&room, TL_INT32, &c.s, c.s.out);
    tl_tensor *const bias = nn_random(&room, TL_INT32, 1, &(int){16}, 0, 0);
    for (int i = 0; i < bias->len; i++)
        ((int32_t *)bias->data)[i] = INT32_MIN;
    tl_exec_quantized_depthwise2d_pack(NULL, c.weight, bias, NULL, NULL, c.packed);
    NN_EACH_ISA(exec) // modulo 2^32
    {
        run_conv(&exec, sums, &c);
        ck_assert_int_eq(((const int32_t *)sums->data)[0], INT32_MAX - 9 * 255 * 128 + 1);
    }
    tl_exec_quantized_depthwise2d_pack(NULL, c.weight, NULL, NULL, NULL, c.packed);
    tl_tensor *const zero = nn_random(&room, TL_INT8, 1, &(int){1}, 127, 127);
    c.q.weight_zero = zero;
    NN_EACH_ISA(exec)
    {
        run_conv(&exec, dst, &c);
        ck_assert_float_eq(((const float *)dst->data)[(4 * 12 + 5) * TL_BLOCK], -25 * 255 * 255.0f);
        ck_assert_float_eq(((const float *)dst->data)[0], -9 * 255 * 255.0f);
    }
    nn_close(&room);
}
END_TEST

// Pools

static void run_max(const tl_exec *exec, tl_tensor *dst, void *arg)
{
    const window_case *const c = arg;
    tl_exec_quantized_maxpool2d(exec, c->src, dst, &c->pool);
}

static void run_mean(const tl_exec *exec, tl_tensor *dst, void *arg)
{
    const window_case *const c = arg;
    tl_exec_quantized_avgpool2d(exec, c->src, dst, &c->pool, c->counts_padding, &c->q);
}

// Positions of a window's axis inside the image or, if `counts_padding`, near it.
static int counted(const window_case *c, int axis, int at)
{
    const shape *const s = &c->s;
    int n = 0;
    for (int k = 0; k < s->size[axis]; k++) {
        const int x = at * s->stride[axis] - s->padding[axis] + k;
        n += c->counts_padding ? x < s->in[axis] + s->padding[2 + axis] : x >= 0 && x < s->in[axis];
    }
    return n;
}

static double pool_value(const window_case *c, const int *at, tl_dtype dtype, int is_mean)
{
    const uint8_t *const src = c->src->data;
    int64_t sum = 0, max = 0;
    for (int ky = 0; ky < c->s.size[0]; ky++)
        for (int kx = 0; kx < c->s.size[1]; kx++) {
            const int64_t from = source_at(&c->s, at[0], at[1], at[2], ky, kx, at[3]);
            if (from < 0)
                continue;
            sum += src[from] - c->q.zero;
            max = src[from] > max ? src[from] : max;
        }
    if (!is_mean)
        return (double)max;
    const float mean = (float)sum / (float)(counted(c, 0, at[1]) * counted(c, 1, at[2]));
    return finished(mean * c->q.scale, dtype, &c->q);
}

static void check_pool(int turn)
{
    nn_room room = {.seed = (uint64_t)turn};
    window_case c = {.turn = turn, .s = random_shape(&room, 1), .q = random_param(&room)};
    const int is_mean = between(&room, 0, 1);
    const tl_dtype dtype = is_mean && turn % 3 == 0 ? TL_FLOAT : TL_UINT8;
    if (turn % 10 == 0) // the whole image
        for (int i = 0; i < 2; i++) {
            c.s.size[i] = c.s.in[i];
            c.s.out[i] = 1;
            c.s.padding[i] = c.s.padding[2 + i] = 0;
        }
    copy_shape(&c);
    c.counts_padding = between(&room, 0, 1);
    c.src = blocked(&room, TL_UINT8, &c.s, c.s.in);
    tl_tensor *const dst = blocked(&room, dtype, &c.s, c.s.out);
    NN_EACH_ISA(exec)
    {
        memset(dst->data, 0xa5, tl_tensor_size(dst));
        (is_mean ? run_mean : run_max)(&exec, dst, &c);
        for (int i = 0, at[4]; i < dst->len; i++)
            if (place_of(&c, i, at))
                check(dst, (size_t)i, pool_value(&c, at, dtype, is_mean), &exec, turn);
    }
    if (turn % 50 == 0)
        nn_check_threads(is_mean ? run_mean : run_max, dst, &c);
    nn_close(&room);
}

START_TEST(pools_agree_with_64_bit_loops)
{
    for (int turn = 1; turn <= 1000; turn++)
        check_pool(turn);
}
END_TEST

// Lines and windows that are wider than what kernels keep of them.
START_TEST(wide_images_are_pooled_and_convolved)
{
    static const int sizes[] = {2, 5, 150, 299};
    for (size_t i = 0; i < NN_LEN(sizes); i++) {
        nn_room room = {.seed = i + 1};
        window_case c = {.s = {.n = 1,
                               .channels = 20,
                               .in = {3, 300},
                               .size = {2, sizes[i]},
                               .stride = {1, 1 + (int)i % 2},
                               .dilation = {1, 1},
                               .padding = {0, 1, 1, 1}},
                         .q = random_param(&room)};
        for (int k = 0; k < 2; k++)
            c.s.out[k] = tl_conv2d_length(c.s.in[k], c.s.size[k], c.s.stride[k], 1, c.s.padding[k],
                                          c.s.padding[2 + k]);
        copy_shape(&c);
        c.src = blocked(&room, TL_UINT8, &c.s, c.s.in);
        random_weights(&room, &c);
        tl_tensor *const dst = blocked(&room, TL_UINT8, &c.s, c.s.out);
        NN_EACH_ISA(exec)
        for (int kind = 0; kind < 3; kind++) {
            (kind == 0 ? run_conv : kind == 1 ? run_max : run_mean)(&exec, dst, &c);
            for (int k = 0, at[4]; k < dst->len; k += 7)
                if (place_of(&c, k, at))
                    check(dst, (size_t)k,
                          kind == 0 ? conv_value(&c, at, dst->dtype)
                                    : pool_value(&c, at, dst->dtype, kind == 2),
                          &exec, (int)i);
        }
        nn_close(&room);
    }
}
END_TEST

LN_TEST_MAIN("depthwise_quantized", depthwise_convolutions_agree_with_64_bit_loops,
             no_sum_is_saturated, pools_agree_with_64_bit_loops,
             wide_images_are_pooled_and_convolved)
