// SPDX-License-Identifier: Apache-2.0
// Normalizations of com.microsoft: of layers after a sum with a skip connection, of embeddings, of
// groups of channels.
//
// Source: ContribOperators.md of ONNX Runtime.

#include "front/onnx/ln_onnx.h"
#include "front/onnx/ln_onnx_steps.h"

static const char *add(ln_onnx_node *n, const char *a, const char *b, int i)
{
    return ln_emit_binary(&n->emit, "TL_BINARY_ADD", a, b, i);
}

// `i` if the node names output `i`, otherwise a temporary tensor.
static int if_wanted(const ln_onnx_node *n, int i)
{
    return ln_onnx_wants(n, i) ? i : LN_EMIT_TEMP;
}

// Layers

// Input 0 plus input 1, plus the optional bias; the node's output 3.
static const char *sum_with_skip(ln_onnx_node *n, int bias_input)
{
    const char *const src = ln_onnx_in(n, 0), *const skip = ln_onnx_in(n, 1);
    const tl_tensor *const t = ln_onnx_tensor_of(n, src), *const s = ln_onnx_tensor_of(n, skip);
    const char *const bias = ln_onnx_optional(n, bias_input);
    const int one[] = {1, t->ndim > 1 ? t->dims[1] : 1, t->ndim > 2 ? t->dims[2] : 1};
    if (ln_onnx_failed(n))
        return src;
    if (t->ndim != 2 && t->ndim != 3)
        ln_emit_fail(&n->emit, "input 0 has %d dimensions, expected 2 or 3", t->ndim);
    if (bias && !ln_onnx_failed(n))
        ln_onnx_want_shape(n, bias_input, "bias", 1, &t->dims[t->ndim - 1]);
    // A skip with a batch of 1, or without that axis, broadcasts.
    if (t->ndim == 3 && s->ndim == 2)
        ln_onnx_want_shape(n, 1, "skip", 2, t->dims + 1);
    else if (t->ndim == 3 && s->ndim == 3 && s->dims[0] == 1)
        ln_onnx_want_shape(n, 1, "skip", 3, one);
    else
        ln_onnx_want_shape(n, 1, "skip", t->ndim, t->dims);
    const char *const sum = add(n, src, skip, bias ? LN_EMIT_TEMP : if_wanted(n, 3));
    return bias ? add(n, sum, bias, if_wanted(n, 3)) : sum;
}

// The epsilon; its default is that of ONNX Runtime's kernels.
static double small_epsilon(ln_onnx_node *n)
{
    return ln_attr_number(&n->emit, "epsilon", (double)1e-12F);
}

// Elements of input `i` as floats: inputs 2 to 6 of QEmbedLayerNormalization are integers, with
// scales in inputs 8 to 12, and zero points in inputs 13 to 17.
static const char *as_floats(ln_onnx_node *n, int i, const char *elements)
{
    if (!n->row->with)
        return elements;
    const int scale = i + 6, zero = i + 11;
    for (int k = scale; k <= zero; k += zero - scale)
        if (ln_onnx_tensor_of(n, ln_onnx_in(n, k))->len != 1)
            ln_emit_fail(&n->emit, "input %d has %d elements, expected 1", k,
                         ln_onnx_tensor_of(n, ln_onnx_in(n, k))->len);
    return LN_EMIT(&n->emit, LN_EMIT_TEMP, LN_OP_DEQUANTIZE, LN_ARG("src", elements),
                   LN_ARG("scale", ln_onnx_scalar_in(n, scale)),
                   LN_ARG("zero", ln_onnx_zero_point(n, zero, elements, 0)));
}

static const char *norm_factor(ln_onnx_node *n, int i, const char *name, const char *src)
{
    const tl_tensor *const t = ln_onnx_tensor_of(n, src);
    const tl_dtype dtype = t->dtype;
    const char *const factor = ln_onnx_in(n, i);
    if (!ln_onnx_failed(n) && t->ndim > 0)
        ln_onnx_want_shape(n, i, name, 1, &t->dims[t->ndim - 1]);
    return ln_emit_cast(&n->emit, as_floats(n, i, factor), dtype, LN_EMIT_TEMP);
}

static void translate_skip_layernorm(ln_onnx_node *n)
{
    const char *const sum = sum_with_skip(n, 4);
    const ln_onnx_layernorm norm = {.optype = LN_OP_LAYERNORM,
                                    .src = sum,
                                    .scale = norm_factor(n, 2, "gamma", sum),
                                    .bias = ln_onnx_has_input(n, 3) ? norm_factor(n, 3, "beta", sum)
                                                                    : NULL,
                                    .axis = ln_onnx_tensor_of(n, sum)->ndim - 1,
                                    .epsilon = small_epsilon(n)};
    ln_onnx_emit_layernorm(n, &norm, 0);
}

// The mean, which this normalization does not use, is not computed.
static void translate_skip_simplified(ln_onnx_node *n)
{
    const char *const sum = sum_with_skip(n, 3);
    const ln_onnx_layernorm norm = {.optype = LN_OP_RMSNORM,
                                    .src = sum,
                                    .scale = norm_factor(n, 2, "gamma", sum),
                                    .axis = ln_onnx_tensor_of(n, sum)->ndim - 1,
                                    .epsilon = small_epsilon(n)};
    ln_onnx_emit_inverse_rms(n, sum, norm.axis, norm.epsilon, 2);
    ln_onnx_emit_layernorm(n, &norm, 0);
}

// Embeddings

static const char *look_up(ln_onnx_node *n, int table, const char *index)
{
    const char *const rows =
        LN_EMIT(&n->emit, LN_EMIT_TEMP, LN_OP_TAKE, LN_ARG("src", ln_onnx_in(n, table)),
                LN_ARG("index", index), LN_INT("axis", 0));
    return as_floats(n, table, rows);
}

// The embeddings of the positions in input position_ids, otherwise of 0, 1, ..
static const char *position_embedding(ln_onnx_node *n, const char *ids)
{
    enum { POSITIONS = 3, POSITION_IDS = 8 };
    const char *const positions = n->row->with ? NULL : ln_onnx_optional(n, POSITION_IDS);
    if (positions)
        return look_up(n, POSITIONS, positions);
    const char *const table = ln_onnx_in(n, POSITIONS);
    const int len = ln_onnx_tensor_of(n, ids)->dims[1];
    const tl_tensor *const t = ln_onnx_tensor_of(n, table);
    const ln_dim size = ln_onnx_axis_size(n, ids, 1);
    if (!ln_onnx_failed(n) && (t->ndim != 2 || t->dims[0] < len))
        ln_emit_fail(&n->emit, "input %d, 'position_embedding', has %d rows, expected at least %d",
                     POSITIONS, t->ndim ? t->dims[0] : 1, len);
    if (ln_dim_is_constant(&size))
        return as_floats(n, POSITIONS,
                         LN_EMIT(&n->emit, LN_EMIT_TEMP, LN_OP_SLICE, LN_ARG("src", table),
                                 LN_INT("axis", 0), LN_INT("start", 0), LN_INT("len", len)));
    const int axis = 0, start = 0, step = 1;
    const char *const end = LN_EMIT(&n->emit, LN_EMIT_TEMP, LN_OP_SHAPE, LN_ARG("src", ids),
                                    LN_INT("start", 1), LN_INT("end", 2));
    return as_floats(n, POSITIONS,
                     LN_EMIT(&n->emit, LN_EMIT_TEMP, LN_OP_STRIDE_SLICE, LN_ARG("src", table),
                             LN_ARG("ends_now", end), LN_INTS("axes", 1, &axis),
                             LN_INTS("starts", 1, &start), LN_INTS("ends", 1, &len),
                             LN_INTS("steps", 1, &step)));
}

// The length of each sequence, the sum of its mask; without a mask, 0.
static void emit_mask_index(ln_onnx_node *n, const char *ids)
{
    enum { MASK = 7 };
    const char *const mask = ln_onnx_optional(n, MASK);
    const int axis = 1, batch = ln_onnx_tensor_of(n, ids)->dims[0];
    if (!ln_onnx_wants(n, 1))
        return;
    if (mask)
        ln_emit_reduce(&n->emit, "TL_REDUCE_SUM", mask, 1, &axis, 0, 1);
    else
        ln_emit_full(&n->emit, TL_INT32, 1, &batch, 0, 1);
}

static void translate_embed_layernorm(ln_onnx_node *n)
{
    enum { IDS, SEGMENT_IDS, WORDS, POSITIONS, SEGMENTS, GAMMA, BETA };
    const char *const ids = ln_onnx_in(n, IDS), *const segments = ln_onnx_optional(n, SEGMENT_IDS);
    if (ln_onnx_tensor_of(n, ids)->ndim != 2)
        ln_emit_fail(&n->emit, "input 0, 'input_ids', has %d dimensions, expected 2",
                     ln_onnx_tensor_of(n, ids)->ndim);
    if (ln_onnx_failed(n))
        return;
    const char *const words = look_up(n, WORDS, ids);
    const char *sum =
        add(n, words, position_embedding(n, ids), segments ? LN_EMIT_TEMP : if_wanted(n, 2));
    if (segments)
        sum = add(n, sum, look_up(n, SEGMENTS, segments), if_wanted(n, 2));
    const ln_onnx_layernorm norm = {.optype = LN_OP_LAYERNORM,
                                    .src = sum,
                                    .scale = norm_factor(n, GAMMA, "gamma", sum),
                                    .bias = norm_factor(n, BETA, "beta", sum),
                                    .axis = 2,
                                    .epsilon = small_epsilon(n)};
    LN_EMIT(&n->emit, 0, norm.optype, LN_ARG("src", norm.src), LN_ARG("scale", norm.scale),
            LN_ARG("bias", norm.bias), LN_INT("axis", norm.axis),
            LN_NUMBER("epsilon", norm.epsilon));
    emit_mask_index(n, ids);
}

// Groups of channels

// The normalization of `src` with its activation, as output 0.
static void emit_groupnorm(ln_onnx_node *n, const char *src)
{
    const int is_last = ln_attr_bool(&n->emit, "channels_last", 1);
    ln_attr_require(&n->emit, "activation");
    ln_attr_require(&n->emit, "groups");
    const int has_silu = ln_attr_int_in(&n->emit, "activation", 0, 0, 1);
    const tl_dtype dtype = ln_onnx_tensor_of(n, src)->dtype;
    const int after = is_last ? LN_EMIT_TEMP : 0;
    const char *const x = is_last ? ln_onnx_channels_first(n, src, LN_EMIT_TEMP) : src;
    const char *y =
        LN_EMIT(&n->emit, has_silu ? LN_EMIT_TEMP : after, LN_OP_GROUPNORM, LN_ARG("src", x),
                LN_ARG("scale", ln_emit_cast(&n->emit, ln_onnx_in(n, 1), dtype, LN_EMIT_TEMP)),
                LN_ARG("bias", ln_emit_cast(&n->emit, ln_onnx_in(n, 2), dtype, LN_EMIT_TEMP)),
                LN_INT("groups", ln_attr_int(&n->emit, "groups", 1)),
                LN_NUMBER("epsilon", ln_attr_number(&n->emit, "epsilon", (double)1e-5F)));
    if (has_silu)
        y = ln_emit_unary_with(&n->emit, "TL_UNARY_SWISH", y, 1, 0, after);
    if (is_last)
        ln_onnx_channels_last(n, y, 0);
}

// The channels of input 0, which scale and offset must have.
static int read_channels(ln_onnx_node *n)
{
    const tl_tensor *const t = ln_onnx_tensor_of(n, ln_onnx_in_of(n, 0, 4));
    const int channels =
        ln_onnx_failed(n) ? 1 : t->dims[ln_attr_bool(&n->emit, "channels_last", 1) ? 3 : 1];
    ln_onnx_want_shape(n, 1, "gamma", 1, &channels);
    ln_onnx_want_shape(n, 2, "beta", 1, &channels);
    return channels;
}

static void translate_groupnorm(ln_onnx_node *n)
{
    read_channels(n);
    emit_groupnorm(n, ln_onnx_in(n, 0));
}

// A tensor [C], [N, C] or of 4 dimensions as one that broadcasts to images.
static const char *for_images(ln_onnx_node *n, const char *tensor)
{
    const tl_tensor *const t = ln_onnx_tensor_of(n, tensor);
    const int is_last = ln_attr_bool(&n->emit, "channels_last", 1);
    if (t->ndim != 1 && t->ndim != 2)
        return tensor;
    const int batch = t->ndim == 2 ? t->dims[0] : 1, channels = t->dims[t->ndim - 1];
    const int last[] = {batch, 1, 1, channels}, first[] = {batch, channels, 1, 1};
    return ln_emit_reshape(&n->emit, tensor, 4, is_last ? last : first, LN_EMIT_TEMP);
}

// The node fails unless `image`, made of its input `i`, broadcasts to `src`.
static void want_broadcast(ln_onnx_node *n, int i, const char *image, const char *src)
{
    const tl_tensor *const s = ln_onnx_tensor_of(n, image), *const t = ln_onnx_tensor_of(n, src);
    char text[TL_SHAPE_TEXT_SIZE], to[TL_SHAPE_TEXT_SIZE];
    int fits = s->ndim == t->ndim;
    for (int k = 0; k < t->ndim && fits; k++)
        fits = s->dims[k] == t->dims[k] || s->dims[k] == 1;
    if (!fits)
        ln_emit_fail(&n->emit,
                     "input %d, 'skip', is of shape %s, expected one that broadcasts to %s", i,
                     tl_shape_text(text, s->ndim, s->dims), tl_shape_text(to, t->ndim, t->dims));
}

static void translate_skip_groupnorm(ln_onnx_node *n)
{
    enum { SKIP = 3, BIAS };
    const char *const src = ln_onnx_in(n, 0), *const skip = ln_onnx_in(n, SKIP);
    const char *const bias = ln_onnx_optional(n, BIAS);
    const int channels = read_channels(n);
    if (bias)
        ln_onnx_want_shape(n, BIAS, "bias", 1, &channels);
    if (ln_onnx_failed(n))
        return;
    const char *const image = for_images(n, skip);
    want_broadcast(n, SKIP, image, src);
    const char *sum = add(n, src, image, bias ? LN_EMIT_TEMP : if_wanted(n, 1));
    if (bias)
        sum = add(n, sum, for_images(n, bias), if_wanted(n, 1));
    emit_groupnorm(n, sum);
}

const ln_onnx_row ln_onnx_rows_contrib_norm[] = {
    {"EmbedLayerNormalization", 1, translate_embed_layernorm},
    {"GroupNorm", 1, translate_groupnorm},
    {"QEmbedLayerNormalization", 1, translate_embed_layernorm, "quantized"},
    {"SkipGroupNorm", 1, translate_skip_groupnorm},
    {"SkipLayerNormalization", 1, translate_skip_layernorm},
    {"SkipSimplifiedLayerNormalization", 1, translate_skip_simplified},
    {NULL},
};
