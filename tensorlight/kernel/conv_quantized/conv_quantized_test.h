// SPDX-License-Identifier: Apache-2.0
// Helpers of the tests of 8-bit convolutions and products: random layers and zero points, and loops
// of 64-bit integers, whose sums get the epilogue of tl_quantized.h in floats.

#pragma once

#include "kernel/tl_nn_test.h"

static inline int between(nn_room *room, int low, int high)
{
    return low + (int)(tl_random_uniform(&room->seed) * (high - low + 1));
}

/** The weights of a layer, and its epilogue. */
typedef struct layer {
    tl_tensor *weight, *bias, *factor, *addend;
    tl_quantized_param q;
    tl_exec exec; // of activations: their bits are those of an instruction set
} layer;

static inline layer random_layer(nn_room *room, int ndim, const int *dims, int outputs, tl_isa isa)
{
    layer l = {.weight = nn_random(room, TL_INT8, ndim, dims, -128, 127)};
    if (between(room, 0, 1))
        l.bias = nn_random(room, TL_INT32, 1, &outputs, -5000, 5000);
    if (between(room, 0, 3))
        l.factor =
            nn_random(room, TL_FLOAT, 1, between(room, 0, 1) ? &outputs : &(int){1}, 0.001, 0.01);
    if (between(room, 0, 1))
        l.addend = nn_random(room, TL_FLOAT, 1, &outputs, -50, 50);
    l.q = (tl_quantized_param){.zero = between(room, 0, 255),
                               .scale = between(room, 0, 1) ? 1 : 0.37f,
                               .dst_factor = between(room, 0, 1) ? 1 : 0.7f,
                               .dst_zero = between(room, 0, 255)};
    static const tl_activation acts[] = {{TL_ACT_RELU, 0, 0},
                                         {TL_ACT_RELU, 0, 0},
                                         {TL_ACT_CLIP, 0, 6},
                                         {TL_ACT_CLIP, -3.5f, 999},
                                         {TL_ACT_CLIP, 300, 301},
                                         {TL_ACT_CLIP, -301, -300},
                                         {TL_ACT_HARDSWISH, 1.0f / 6, 0.5f},
                                         {TL_ACT_LRELU, 0.1f, 0},
                                         {TL_ACT_SIGMOID, 0, 0}};
    if (between(room, 0, 1))
        l.q.act = acts[between(room, 0, (int)NN_LEN(acts) - 1)];
    l.exec = (tl_exec){.isa = isa};
    return l;
}

static inline float activated(const layer *l, float v)
{
    if (l->q.act.act == TL_ACT_RELU)
        return v > 0 || isnan(v) ? v : 0;
    if (l->q.act.act != TL_ACT_NONE) {
        tl_tensor t = {.dtype = TL_FLOAT, .len = 1, .ndim = 1, .dims = &(int){1}, .data = &v};
        ck_assert_int_eq(tl_exec_act(&l->exec, &t, &t, l->q.act), 0);
    }
    return v;
}

/** The zero point of the weights of output channel `c`. */
static inline int weight_zero(const layer *l, int c)
{
    const tl_tensor *const zero = l->q.weight_zero;
    return zero ? ((const int8_t *)zero->data)[zero->len > 1 ? c : 0] : 0;
}

/** A type of results, and perhaps zero points of the weights; integers have no activation. */
static inline tl_dtype random_results(nn_room *room, layer *l, int outputs, int may_have_zeros)
{
    static const tl_dtype dtypes[] = {TL_FLOAT, TL_UINT8, TL_INT32};
    const tl_dtype dtype = dtypes[between(room, 0, 2)];
    if (may_have_zeros && between(room, 0, 1))
        l->q.weight_zero =
            nn_random(room, TL_INT8, 1, between(room, 0, 1) ? &outputs : &(int){1}, -128, 127);
    if (dtype == TL_INT32)
        l->q.act = (tl_activation){TL_ACT_NONE, 0, 0};
    return dtype;
}

/** The result for the sum of channel `c`, in the type of dst. */
static inline double expected(const layer *l, int64_t sum, int c, tl_dtype dtype)
{
    if (dtype == TL_INT32)
        return (double)(sum + (l->bias ? ((const int32_t *)l->bias->data)[c] : 0));
    const float *const factor = l->factor ? l->factor->data : NULL;
    const float own = factor ? factor[l->factor->len > 1 ? c : 0] : 1;
    const float scale = own * l->q.scale;
    float v = (float)(sum + (l->bias ? ((const int32_t *)l->bias->data)[c] : 0));
    v = v * scale;
    v = v + (l->addend ? ((const float *)l->addend->data)[c] : 0);
    v = activated(l, v);
    if (dtype == TL_FLOAT)
        return (double)v;
    v = v * l->q.dst_factor;
    const double rounded = (double)rintf(v) + l->q.dst_zero;
    return isnan(v) || rounded < 0 ? 0 : rounded > 255 ? 255 : rounded;
}

/** Each ck_assert writes to a file, which took most of the time here. */
static inline void check(const tl_tensor *dst, size_t at, double value, const char *what)
{
    if (nn_at(dst, at) != value)
        ck_abort_msg("%s: element %zu is %.9g, expected %.9g", what, at, nn_at(dst, at), value);
}

typedef struct conv {
    int n, h, w, channels, outputs;
    int is_transposed, oh, ow;
    tl_conv2d_param param;
} conv;

/** The length of the result along an axis. */
static inline int length_of(const conv *c, int axis)
{
    const tl_conv2d_param *const p = &c->param;
    const int n = axis ? c->w : c->h;
    return c->is_transposed
               ? tl_deconv2d_length(n, p->size[axis], p->stride[axis], p->dilation[axis],
                                    p->padding[axis], p->padding[2 + axis], axis)
               : tl_conv2d_length(n, p->size[axis], p->stride[axis], p->dilation[axis],
                                  p->padding[axis], p->padding[2 + axis]);
}

/** Element [n, c, y, x] of images in blocks. */
static inline size_t blocked_at(const tl_tensor *t, int n, int c, int y, int x)
{
    const int *const d = t->dims;
    return ((((size_t)n * d[1] + c / TL_BLOCK) * d[2] + y) * d[3] + x) * TL_BLOCK + c % TL_BLOCK;
}

/** Where in the source a tap meets place `at` of the result, along an axis; -1: nowhere. */
static inline int source_of(const conv *c, int axis, int at, int tap)
{
    const tl_conv2d_param *const p = &c->param;
    const int n = axis ? c->w : c->h;
    int from = at * p->stride[axis] + tap * p->dilation[axis] - p->padding[axis];
    if (c->is_transposed) {
        const int far = at + p->padding[axis] - tap * p->dilation[axis];
        from = far >= 0 && far % p->stride[axis] == 0 ? far / p->stride[axis] : -1;
    }
    return from >= 0 && from < n ? from : -1;
}

/** A tap's sum at a position of the source, over the channels of o's group. */
static inline int64_t tap_sum(const conv *c, const layer *l, const tl_tensor *src, int n, int o,
                              int y, int x, int tap)
{
    const int in = c->channels / c->param.group, out = c->outputs / c->param.group;
    const int taps = c->param.size[0] * c->param.size[1], first = o / out * in;
    const int8_t *w = (const int8_t *)l->weight->data + tap;
    w += c->is_transposed ? ((size_t)first * out + o % out) * taps : (size_t)o * in * taps;
    const size_t step = (size_t)(c->is_transposed ? out : 1) * taps;
    int64_t sum = 0;
    for (int k = 0; k < in; k++, w += step) {
        const int q = ((const uint8_t *)src->data)[blocked_at(src, n, first + k, y, x)];
        sum += (int64_t)(q - l->q.zero) * (*w - weight_zero(l, o));
    }
    return sum;
}

static inline int64_t conv_sum(const conv *c, const layer *l, const tl_tensor *src, int n, int o,
                               int oy, int ox)
{
    int64_t sum = 0;
    for (int i = 0; i < c->param.size[0]; i++)
        for (int j = 0; j < c->param.size[1]; j++) {
            const int y = source_of(c, 0, oy, i), x = source_of(c, 1, ox, j);
            if (y >= 0 && x >= 0) // padding is worth the zero point
                sum += tap_sum(c, l, src, n, o, y, x, i * c->param.size[1] + j);
        }
    return sum;
}

static inline void check_conv(const conv *c, const layer *l, const tl_tensor *src,
                              const tl_tensor *dst, const char *what)
{
    for (int n = 0; n < c->n; n++)
        for (int o = 0; o < c->outputs; o++)
            for (int y = 0; y < c->oh; y++)
                for (int x = 0; x < c->ow; x++)
                    check(dst, blocked_at(dst, n, o, y, x),
                          expected(l, conv_sum(c, l, src, n, o, y, x), o, dst->dtype), what);
}
