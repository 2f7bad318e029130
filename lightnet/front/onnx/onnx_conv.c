// SPDX-License-Identifier: Apache-2.0
// ONNX's convolutions. Those over one axis or two use conv2d and deconv2d, which are optimized.

#include <limits.h>

#include "front/onnx/ln_onnx.h"
#include "front/onnx/ln_onnx_steps.h"

// Arguments of a convolution.
typedef struct convolution {
    const char *src, *weight, *bias; // bias may be NULL
    int group;
    tl_windows windows;
} convolution;

static convolution read_convolution(ln_onnx_node *n, const char *src, int bias)
{
    convolution c = {.src = src, .weight = ln_onnx_in(n, 1)};
    if (bias >= 0)
        c.bias = ln_onnx_optional(n, bias);
    c.group = ln_attr_int_in(&n->emit, "group", 1, 1, INT_MAX);
    c.windows = ln_onnx_windows(n, c.src, c.weight);
    return c;
}

// Begins conv2d or deconv2d with their common parameters.
static void begin_image(ln_onnx_node *n, const char *optype, const convolution *c,
                        const ln_dim *channels)
{
    const tl_windows *const w = &c->windows;
    const char *const src = ln_onnx_as_image(n, c->src);
    const char *const weight = ln_onnx_as_image(n, c->weight);
    const tl_dtype dtype = ln_onnx_tensor_of(n, c->src)->dtype;
    const char *const bias =
        c->bias ? c->bias : ln_emit_filled_dims(&n->emit, dtype, 1, channels, 0);
    LN_EMIT_BEGIN(&n->emit, optype, LN_ARG("src", src), LN_ARG("weight", weight),
                  LN_ARG("bias", bias), LN_INT("group", c->group));
    ln_onnx_set_image_ints(n, "size", w, 1, w->size, 1);
    ln_onnx_set_image_ints(n, "stride", w, 1, w->stride, 1);
    ln_onnx_set_image_ints(n, "dilation", w, 1, w->dilation, 1);
    ln_onnx_set_image_ints(n, "padding", w, 2, w->padding, 0);
    ln_emit_set(&n->emit, LN_TEXT("autopad", "NOTSET"));
}

// Begins a convolution over any number of axes with the common parameters.
static void begin_nd(ln_onnx_node *n, const char *optype, const convolution *c)
{
    LN_EMIT_BEGIN(&n->emit, optype, LN_ARG("src", c->src), LN_ARG("weight", c->weight),
                  LN_ARG("bias", c->bias), LN_INT("group", c->group), LN_ONNX_WINDOWS(&c->windows));
}

// Conv

const char *ln_onnx_emit_conv(ln_onnx_node *n, const char *src, int i)
{
    convolution c = read_convolution(n, src, 2);
    ln_onnx_auto_pad(n, c.src, &c.windows);
    const tl_tensor *const weight = ln_onnx_tensor_of(n, c.weight);
    if (weight->len > 0 && ln_onnx_is_image(n, c.src, &c.windows, 1)) {
        const ln_dim channels = ln_onnx_axis_size(n, c.weight, 0);
        begin_image(n, LN_OP_CONV2D, &c, &channels);
        return ln_onnx_end_image(n, &c.windows, i);
    }
    begin_nd(n, LN_OP_CONVND, &c);
    return ln_emit_end(&n->emit, "dst", i);
}

static void translate_conv(ln_onnx_node *n)
{
    ln_onnx_emit_conv(n, ln_onnx_in(n, 0), 0);
}

// ConvTranspose

// Splits the total cropping of an axis; negative: padding.
static void cut(tl_windows *w, int i, int64_t total, int is_upper)
{
    const int64_t half = total >= 0 ? total / 2 : -((1 - total) / 2); // rounded down
    w->padding[i] = (int)(is_upper ? half : total - half);
    w->padding[w->n + i] = (int)(is_upper ? total - half : half);
}

// The padding of a transposed convolution, where output_shape or auto_pad decide it.
static void pad_transposed(ln_onnx_node *n, const convolution *c, tl_windows *w,
                           const int *output_padding)
{
    static const ln_attr_word modes[] = {{"NOTSET"},     {"VALID"},      {"SAME_UPPER"},
                                         {"SAME_LOWER"}, {"", "NOTSET"}, {0}};
    const char *const mode = ln_attr_choose(&n->emit, "auto_pad", "NOTSET", modes);
    const int is_upper = ln_streq(mode, "SAME_UPPER"),
              is_same = is_upper || ln_streq(mode, "SAME_LOWER");
    int len;
    const int64_t *shape = ln_attr_ints(&n->emit, "output_shape", &len);
    if (len == w->n + 2) { // batch and channels, too
        shape += 2;
        len = w->n;
    }
    if (len > 0 && len != w->n)
        ln_emit_fail(&n->emit, "attribute 'output_shape' has %d numbers, expected %d", len, w->n);
    if (ln_onnx_failed(n))
        return;
    const int *const in = ln_onnx_tensor_of(n, c->src)->dims + 2;
    for (int i = 0; i < w->n; i++) {
        const int64_t whole = (int64_t)w->stride[i] * (in[i] - 1) + output_padding[i] +
                              (int64_t)(w->size[i] - 1) * w->dilation[i] + 1;
        const int64_t wanted = len > 0 ? shape[i] : (int64_t)in[i] * w->stride[i];
        if (wanted < 1 || wanted > INT64_MAX / 2 || whole - wanted > INT_MAX ||
            whole - wanted < -INT_MAX)
            ln_emit_fail(&n->emit,
                         "the result has length %lld along spatial axis %d, expected 1 to %d",
                         (long long)wanted, i, INT_MAX);
        else if (len > 0 || is_same)
            cut(w, i, len > 0 || whole > wanted ? whole - wanted : 0, is_upper);
        else if (ln_streq(mode, "VALID"))
            w->padding[i] = w->padding[w->n + i] = 0;
    }
}

static void translate_conv_transpose(ln_onnx_node *n)
{
    convolution c = read_convolution(n, ln_onnx_in(n, 0), 2);
    int output_padding[TL_MAX_SPATIAL];
    ln_attr_ints_of(&n->emit, "output_padding", c.windows.n, 0, 0, output_padding);
    pad_transposed(n, &c, &c.windows, output_padding);
    const tl_tensor *const weight = ln_onnx_tensor_of(n, c.weight);
    if (weight->len > 0 && weight->dims[1] <= INT_MAX / c.group &&
        ln_onnx_is_image(n, c.src, &c.windows, 1)) {
        const ln_dim each = ln_onnx_axis_size(n, c.weight, 1), group = ln_dim_constant(c.group);
        const ln_dim channels = ln_dim_mul(ln_emit_symbols(&n->emit), &each, &group);
        begin_image(n, LN_OP_DECONV2D, &c, &channels);
        ln_onnx_set_image_ints(n, "output_padding", &c.windows, 1, output_padding, 0);
        ln_emit_set(&n->emit, LN_INTS("output_dims", 4, (int[]){0, 0, 0, 0}));
        ln_onnx_end_image(n, &c.windows, 0);
    } else {
        begin_nd(n, LN_OP_DECONVND, &c);
        ln_emit_set(&n->emit, LN_INTS("output_padding", c.windows.n, output_padding));
        ln_emit_end(&n->emit, "dst", 0);
    }
}

// Integers

static void translate_conv_integer(ln_onnx_node *n)
{
    convolution c = read_convolution(n, ln_onnx_in(n, 0), -1);
    ln_onnx_auto_pad(n, c.src, &c.windows);
    const char *const src_zero = ln_onnx_zero_point(n, 2, c.src, 0);
    const char *const weight_zero = ln_onnx_zero_point(n, 3, c.weight, 0);
    begin_nd(n, LN_OP_CONV_INT, &c);
    ln_emit_arg(&n->emit, "src_zero", src_zero);
    ln_emit_arg(&n->emit, "weight_zero", weight_zero);
    ln_emit_end(&n->emit, "dst", 0);
}

const ln_onnx_row ln_onnx_rows_conv[] = {
    {"Conv", 1, translate_conv},
    {"ConvTranspose", 1, translate_conv_transpose},
    {"ConvInteger", 10, translate_conv_integer},
    {NULL},
};
