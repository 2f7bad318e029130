// SPDX-License-Identifier: Apache-2.0
// ONNX operators that carry a state from one call to the next: LinearAttention and
// CausalConvWithState. Source: ONNX 27.

#include <math.h>

#include "front/onnx/ln_onnx.h"
#include "front/onnx/ln_onnx_attention.h"
#include "front/onnx/ln_onnx_steps.h"

// LinearAttention

// [B, T, heads * D] as [B, T, heads, D], in float32.
static const char *by_head(ln_onnx_node *n, const char *src, int heads)
{
    const char *const wide = ln_emit_cast(&n->emit, src, TL_FLOAT, LN_EMIT_TEMP);
    return ln_onnx_split_heads(n, wide, heads);
}

// The decay as floats: [B, T, G] of heads, or [B, T, G * D] of elements as [B, T, G, D].
static const char *decay_of(ln_onnx_node *n, int heads)
{
    const char *const decay = ln_onnx_optional(n, 4);
    const tl_tensor *const t = ln_onnx_tensor_of(n, decay);
    if (!decay || t->ndim != 3 || t->dims[2] == heads)
        return decay ? ln_emit_cast(&n->emit, decay, TL_FLOAT, LN_EMIT_TEMP) : NULL;
    if (t->dims[2] % heads)
        ln_emit_fail(&n->emit, "input 4, 'decay', has a last axis of %d, expected a multiple of %d",
                     t->dims[2], heads);
    return by_head(n, decay, heads);
}

static const char *to_float(ln_onnx_node *n, const char *src)
{
    return src ? ln_emit_cast(&n->emit, src, TL_FLOAT, LN_EMIT_TEMP) : NULL;
}

// Whether the update rule uses decay, and beta (the delta rule).
typedef struct update_rule {
    int has_decay, is_delta;
} update_rule;

static update_rule read_rule(ln_onnx_node *n)
{
    static const ln_attr_word rules[] = {{"linear"}, {"gated"}, {"delta"}, {"gated_delta"}, {0}};
    const char *const name = ln_attr_choose(&n->emit, "update_rule", "gated_delta", rules);
    const update_rule rule = {ln_streq(name, "gated") || ln_streq(name, "gated_delta"),
                              ln_streq(name, "delta") || ln_streq(name, "gated_delta")};
    static const char *const inputs[] = {"decay", "beta"};
    for (int i = 0; i < 2; i++) {
        const int wants = i ? rule.is_delta : rule.has_decay;
        if (wants != ln_onnx_has_input(n, 4 + i))
            ln_emit_fail(&n->emit, "input %d, '%s', is %s, which update_rule '%s' %s", 4 + i,
                         inputs[i], wants ? "missing" : "present", name,
                         wants ? "requires" : "does not use");
    }
    return rule;
}

static void translate_linear_attention(ln_onnx_node *n)
{
    const char *const query = ln_onnx_in(n, 0), *const value = ln_onnx_in(n, 2);
    const tl_dtype dtype = ln_onnx_tensor_of(n, query)->dtype;
    const char *const past = ln_onnx_optional(n, 3);
    const tl_dtype state_dtype = past ? ln_onnx_tensor_of(n, past)->dtype : dtype;
    const update_rule rule = read_rule(n);
    const int heads = ln_onnx_heads_of(n, "q_num_heads", query);
    const int kv_heads = ln_onnx_heads_of(n, "kv_num_heads", ln_onnx_in(n, 1));
    const char *const q = by_head(n, query, heads), *const k =
                                                        by_head(n, ln_onnx_in(n, 1), kv_heads);
    const char *const v = by_head(n, value, kv_heads), *const decay = decay_of(n, kv_heads);
    if (ln_onnx_failed(n))
        return;
    const int d = ln_onnx_tensor_of(n, q)->dims[3], e = ln_onnx_tensor_of(n, v)->dims[3];
    const double scale = ln_attr_number(&n->emit, "scale", 0);
    const char *const past_float = to_float(n, past), *const beta =
                                                          to_float(n, ln_onnx_optional(n, 5));
    LN_EMIT_BEGIN(&n->emit, LN_OP_LINEAR_ATTENTION, LN_ARG("q", q), LN_ARG("k", k), LN_ARG("v", v),
                  LN_ARG("past", past_float), LN_ARG("decay", decay), LN_ARG("beta", beta),
                  LN_NUMBER("scale", scale != 0 ? scale : 1 / sqrt(d ? d : 1)),
                  LN_BOOL("delta", rule.is_delta));
    const char *dst = ln_emit_out(&n->emit, "dst", LN_EMIT_TEMP);
    const char *const state = ln_emit_end(&n->emit, "state", LN_EMIT_TEMP);
    const tl_tensor *const t = ln_onnx_tensor_of(n, query);
    const int dims[] = {t->dims[0], t->dims[1], heads * e};
    dst = ln_emit_cast(&n->emit, dst, dtype, LN_EMIT_TEMP);
    ln_emit_reshape(&n->emit, dst, 3, dims, 0);
    ln_onnx_alias(n, 1, ln_emit_cast(&n->emit, state, state_dtype, LN_EMIT_TEMP));
}

// CausalConvWithState

static const char *join_in_time(ln_onnx_node *n, const char *first, const char *second)
{
    return LN_EMIT(&n->emit, LN_EMIT_TEMP, LN_OP_JOIN, LN_ARG_AT("src", 0, first),
                   LN_ARG_AT("src", 1, second), LN_INT("axis", 2));
}

// The last `len` positions of src [B, C, T].
static const char *last_of(ln_onnx_node *n, const char *src, int len)
{
    const int axis = 2, step = 1, end = ln_onnx_tensor_of(n, src)->dims[2], start = end - len;
    return LN_EMIT(&n->emit, LN_EMIT_TEMP, LN_OP_STRIDE_SLICE, LN_ARG("src", src),
                   LN_INTS("axes", 1, &axis), LN_INTS("starts", 1, &start),
                   LN_INTS("ends", 1, &end), LN_INTS("steps", 1, &step));
}

// A depthwise convolution along the last axis, without padding.
static const char *convolve(ln_onnx_node *n, const char *src, const char *weight, const char *bias)
{
    const tl_tensor *const s = ln_onnx_tensor_of(n, src), *const w = ln_onnx_tensor_of(n, weight);
    const int channels = w->dims[0], len = s->dims[2] - w->dims[2] + 1;
    const int image[] = {s->dims[0], channels, 1, s->dims[2]},
              taps[] = {channels, 1, 1, w->dims[2]}, dims[] = {s->dims[0], channels, len};
    const char *const as_image = ln_emit_reshape(&n->emit, src, 4, image, LN_EMIT_TEMP);
    const char *const as_taps = ln_emit_reshape(&n->emit, weight, 4, taps, LN_EMIT_TEMP);
    if (!bias)
        bias = ln_emit_filled(&n->emit, s->dtype, 1, &channels, 0);
    const char *const dst = LN_EMIT(
        &n->emit, LN_EMIT_TEMP, LN_OP_CONV2D, LN_ARG("src", as_image), LN_ARG("weight", as_taps),
        LN_ARG("bias", bias), LN_INT("group", channels), LN_INTS("size", 2, &taps[2]),
        LN_INTS("stride", 2, (int[]){1, 1}), LN_INTS("dilation", 2, (int[]){1, 1}),
        LN_INTS("padding", 4, (int[]){0, 0, 0, 0}), LN_TEXT("autopad", "NOTSET"));
    return ln_emit_reshape(&n->emit, dst, 3, dims, LN_EMIT_TEMP);
}

// Whether weight [C, 1, k] belongs to src [B, C, T].
static int check_convolution(ln_onnx_node *n, const char *src, const char *weight)
{
    const tl_tensor *const s = ln_onnx_tensor_of(n, src), *const w = ln_onnx_tensor_of(n, weight);
    char texts[2][TL_SHAPE_TEXT_SIZE];
    if (ln_onnx_failed(n))
        return 0;
    if (s->ndim == 3 && w->ndim == 3 && w->dims[0] == s->dims[1] && w->dims[1] == 1 &&
        w->dims[2] > 0)
        return 1;
    ln_emit_fail(&n->emit, "inputs of shapes %s and %s, expected [B, C, T] and [C, 1, k]",
                 tl_shape_text(texts[0], s->ndim, s->dims),
                 tl_shape_text(texts[1], w->ndim, w->dims));
    return 0;
}

static void translate_causal_conv(ln_onnx_node *n)
{
    static const ln_attr_word acts[] = {{"none"}, {"silu"}, {"swish", "silu"}, {0}};
    const char *const src = ln_onnx_in(n, 0), *const weight = ln_onnx_in(n, 1);
    const char *past = ln_onnx_optional(n, 3);
    const char *const act = ln_attr_choose(&n->emit, "activation", "none", acts);
    if (!check_convolution(n, src, weight))
        return;
    const tl_tensor *const s = ln_onnx_tensor_of(n, src);
    const tl_dtype dtype = s->dtype;
    const int before = ln_onnx_tensor_of(n, weight)->dims[2] - 1;
    const int state[] = {s->dims[0], s->dims[1], before}, is_empty = s->len == 0;
    if (past)
        ln_onnx_want_shape(n, 3, "past_state", 3, state);
    if (ln_onnx_failed(n))
        return;
    if (!past)
        past = ln_emit_filled(&n->emit, dtype, 3, state, 0);
    const char *const whole = before ? join_in_time(n, past, src) : src;
    const char *const dst = is_empty ? src : convolve(n, whole, weight, ln_onnx_optional(n, 2));
    if (ln_streq(act, "silu") && !is_empty)
        ln_emit_unary_with(&n->emit, "TL_UNARY_SWISH", dst, 1, 0, 0);
    else
        ln_onnx_alias(n, 0, dst);
    ln_onnx_alias(n, 1, before ? last_of(n, whole, before) : past);
}

const ln_onnx_row ln_onnx_rows_state[] = {
    {"CausalConvWithState", 27, translate_causal_conv},
    {"LinearAttention", 27, translate_linear_attention},
    {NULL},
};
