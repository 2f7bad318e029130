// SPDX-License-Identifier: Apache-2.0
// Operators of com.microsoft that ONNX Runtime fuses: MatMul, Gemm and Conv with activations, Gelu
// and its variants, sums with biases; and counterparts of ONNX operators.
//
// Each becomes the operators that it was fused from, so the rules of LightNet fuse them again.
// Source: ContribOperators.md of ONNX Runtime.

#include <float.h>
#include <limits.h>

#include "front/onnx/ln_onnx.h"
#include "front/onnx/ln_onnx_steps.h"
#include "tensorlight/tl_shape.h"

// Activations

// A function that can be fused, with its parameters.
typedef struct activation {
    const char *func;
    int n_params;
    double params[2];     // defaults
    const char *names[2]; // attributes
} activation;

static const ln_attr_word activation_words[] = {
    {"", ""},
    {"Relu", "TL_UNARY_RELU"},
    {"Tanh", "TL_UNARY_TANH"},
    {"Sigmoid", "TL_UNARY_SIGMOID"},
    {"LeakyRelu", "TL_UNARY_LRELU"},
    {"Clip", "TL_UNARY_CLIP"},
    {"HardSigmoid", "TL_UNARY_HARDSIGMOID"},
    {"Elu", "TL_UNARY_ELU"},
    {"Selu", "TL_UNARY_SELU"},
    {"Softplus", "TL_UNARY_SOFTPLUS"},
    {"Softsign", "TL_UNARY_SOFTSIGN"},
    {"ThresholdedRelu", "TL_UNARY_THRESHOLDEDRELU"},
    {0},
};

#define ALPHA "activation_alpha"
#define BETA  "activation_beta"
#define GAMMA "activation_gamma"

// The functions with parameters.
static const activation activations[] = {
    {"TL_UNARY_LRELU", 1, {0.01}, {ALPHA}},
    {"TL_UNARY_CLIP", 2, {-FLT_MAX, FLT_MAX}, {ALPHA, BETA}},
    {"TL_UNARY_HARDSIGMOID", 2, {0.2, 0.5}, {ALPHA, BETA}},
    {"TL_UNARY_ELU", 1, {1}, {ALPHA}},
    {"TL_UNARY_SELU", 2, {1.67326319217681884765625, 1.05070102214813232421875}, {ALPHA, GAMMA}},
    {"TL_UNARY_THRESHOLDEDRELU", 1, {1}, {ALPHA}},
};

// The function in attribute `activation`, with its default parameters; `func` "": none.
static activation find_activation(ln_onnx_node *n)
{
    const char *const func = ln_attr_choose(&n->emit, "activation", "", activation_words);
    for (size_t i = 0; i < sizeof(activations) / sizeof(activations[0]); i++)
        if (ln_streq(activations[i].func, func))
            return activations[i];
    return (activation){.func = func};
}

// The activation, with parameters from activation_alpha, _beta and _gamma.
static activation named_activation(ln_onnx_node *n)
{
    activation a = find_activation(n);
    for (int i = 0; i < a.n_params; i++)
        a.params[i] = ln_attr_number(&n->emit, a.names[i], a.params[i]);
    return a;
}

// The activation, with parameters from activation_params.
static activation listed_activation(ln_onnx_node *n)
{
    int len;
    activation a = find_activation(n);
    const float *const params = ln_onnx_floats(n, "activation_params", &len);
    if (len != a.n_params && (len > 0 || a.n_params > 0))
        ln_emit_fail(&n->emit, "attribute 'activation_params' has %d numbers, expected %d", len,
                     a.n_params);
    for (int i = 0; i < a.n_params && i < len; i++)
        a.params[i] = params[i];
    return a;
}

// The output of the operator before the activation, which has output `i`: the same without one.
static int before_activation(const activation *a, int i)
{
    return *a->func ? LN_EMIT_TEMP : i;
}

// Applies the activation to `src`; returns `src` without one.
static const char *emit_activation(ln_onnx_node *n, const char *src, const activation *a, int i)
{
    return *a->func ? ln_emit_unary_with(&n->emit, a->func, src, a->params[0], a->params[1], i)
                    : src;
}

// Matrix multiplications

// Moves the first axis before the last one if `attr`, transBatchA or transBatchB, is set.
static const char *move_batch(ln_onnx_node *n, const char *src, const char *attr)
{
    const int ndim = ln_onnx_tensor_of(n, src)->ndim;
    int axes[TL_MAXDIM];
    if (!ln_attr_bool(&n->emit, attr, 0) || ndim < 3)
        return src;
    for (int i = 0; i < ndim; i++)
        axes[i] = i < ndim - 2 ? i + 1 : i == ndim - 2 ? 0 : i;
    return ln_emit_transpose(&n->emit, src, axes, LN_EMIT_TEMP);
}

// transA and transB do not apply to vectors.
static void emit_fused_product(ln_onnx_node *n, const activation *a)
{
    ln_onnx_operands m = ln_onnx_operands_of(n, 0, 1);
    m.rows = move_batch(n, m.rows, "transBatchA");
    m.cols = move_batch(n, m.cols, "transBatchB");
    const int out = ln_onnx_product_output(&m);
    const char *const dst = LN_EMIT(
        &n->emit, before_activation(a, out), LN_OP_MATMUL, LN_ARG("src1", m.rows),
        LN_ARG("src2", m.cols), LN_BOOL("trans1", ln_attr_bool(&n->emit, "transA", 0) && m.has_row),
        LN_BOOL("trans2", ln_attr_bool(&n->emit, "transB", 0) && m.has_col),
        LN_NUMBER("alpha", ln_attr_number(&n->emit, "alpha", 1)));
    ln_onnx_drop_axes(n, emit_activation(n, dst, a, out), &m);
}

static void translate_fused_matmul(ln_onnx_node *n)
{
    const activation none = {.func = ""};
    emit_fused_product(n, &none);
}

static void translate_fused_matmul_activation(ln_onnx_node *n)
{
    ln_attr_require(&n->emit, "activation");
    const activation a = named_activation(n);
    emit_fused_product(n, &a);
}

static void translate_fused_gemm(ln_onnx_node *n)
{
    const activation a = named_activation(n);
    emit_activation(n, ln_onnx_emit_gemm(n, before_activation(&a, 0)), &a, 0);
}

// Convolutions

// Adds input 3, Z, to `src` [N, C, ..]. Z has the same shape, or [N, .., C] if `is_nhwc`.
static const char *add_z(ln_onnx_node *n, const char *src, int is_nhwc, int i)
{
    const char *const z = ln_onnx_in(n, 3);
    const tl_tensor *const t = ln_onnx_tensor_of(n, src);
    int dims[TL_MAXDIM];
    for (int k = 0; k < t->ndim; k++)
        dims[k] = t->dims[!is_nhwc || k == 0 ? k : k == t->ndim - 1 ? 1 : k + 1];
    ln_onnx_want_shape(n, 3, "Z", t->ndim, dims);
    return ln_emit_binary(&n->emit, "TL_BINARY_ADD", src,
                          is_nhwc ? ln_onnx_channels_first(n, z, LN_EMIT_TEMP) : z, i);
}

// The activation follows the sum with Z. Row `with`: the layout of the input, Z and the output; the
// weight is as in Conv.
static void translate_fused_conv(ln_onnx_node *n)
{
    const activation a = listed_activation(n);
    const int is_nhwc = n->row->with != NULL, has_z = ln_onnx_has_input(n, 3);
    const int out = is_nhwc ? LN_EMIT_TEMP : 0, before = before_activation(&a, out);
    const char *src = ln_onnx_in(n, 0);
    if (is_nhwc)
        src = ln_onnx_channels_first(n, src, LN_EMIT_TEMP);
    const char *dst = ln_onnx_emit_conv(n, src, has_z ? LN_EMIT_TEMP : before);
    if (has_z)
        dst = add_z(n, dst, is_nhwc, before);
    dst = emit_activation(n, dst, &a, out);
    if (is_nhwc)
        ln_onnx_channels_last(n, dst, 0);
}

// Biases and GELU

// Adds input 1, the bias, a vector along the last axis, to input 0, if present.
static const char *add_bias(ln_onnx_node *n)
{
    const char *const src = ln_onnx_in(n, 0), *const bias = ln_onnx_optional(n, 1);
    const tl_tensor *const t = ln_onnx_tensor_of(n, src);
    if (!bias || ln_onnx_failed(n))
        return src;
    ln_onnx_want_shape(n, 1, "bias", 1, t->ndim ? &t->dims[t->ndim - 1] : (int[]){1});
    return ln_emit_binary(&n->emit, "TL_BINARY_ADD", src, bias, LN_EMIT_TEMP);
}

// Gelu, BiasGelu and FastGelu. Row `with`: the function.
static void translate_gelu(ln_onnx_node *n)
{
    ln_emit_unary(&n->emit, n->row->with, add_bias(n), 0);
}

static void translate_bias_gelu(ln_onnx_node *n)
{
    ln_onnx_in(n, 1);
    translate_gelu(n);
}

static void translate_gemm_fast_gelu(ln_onnx_node *n)
{
    const ln_onnx_operands m = ln_onnx_operands_of(n, 0, 1);
    const char *const dst = LN_EMIT(&n->emit, LN_EMIT_TEMP, LN_OP_MATMUL, LN_ARG("src1", m.rows),
                                    LN_ARG("src2", m.cols), LN_ARG("bias", ln_onnx_optional(n, 2)));
    const int out = ln_onnx_product_output(&m);
    ln_onnx_drop_axes(n, ln_emit_unary(&n->emit, LN_ORT_FAST_GELU, dst, out), &m);
}

static void translate_bias_add(ln_onnx_node *n)
{
    ln_onnx_in(n, 1);
    ln_emit_binary(&n->emit, "TL_BINARY_ADD", add_bias(n), ln_onnx_in(n, 2), 0);
}

// The first half of the last axis times the GELU of the second.
static void translate_bias_split_gelu(ln_onnx_node *n)
{
    ln_onnx_in(n, 1);
    const char *const sum = add_bias(n);
    const tl_tensor *const t = ln_onnx_tensor_of(n, sum);
    const int axis = t->ndim - 1, half = t->ndim ? t->dims[axis] / 2 : 0;
    if (t->ndim < 1 || t->dims[axis] % 2 != 0)
        ln_emit_fail(&n->emit, "input 0 has a last axis of length %d, expected an even one",
                     t->ndim ? t->dims[axis] : 1);
    const char *const first =
        LN_EMIT(&n->emit, LN_EMIT_TEMP, LN_OP_SLICE, LN_ARG("src", sum), LN_INT("axis", axis),
                LN_INT("start", 0), LN_INT("len", half));
    const char *const second =
        LN_EMIT(&n->emit, LN_EMIT_TEMP, LN_OP_SLICE, LN_ARG("src", sum), LN_INT("axis", axis),
                LN_INT("start", half), LN_INT("len", half));
    ln_emit_binary(&n->emit, "TL_BINARY_MUL", first,
                   ln_emit_unary(&n->emit, "TL_UNARY_GELU", second, LN_EMIT_TEMP), 0);
}

// Softmax of the sum, over all axes from `axis` on.
static void translate_bias_softmax(ln_onnx_node *n)
{
    ln_attr_require(&n->emit, "is_inner_broadcast");
    // Read only to check its type: the shape of the bias determines how it broadcasts.
    ln_attr_bool(&n->emit, "is_inner_broadcast", 0);
    const char *const src = ln_onnx_in(n, 0);
    const char *const sum =
        ln_emit_binary(&n->emit, "TL_BINARY_ADD", src, ln_onnx_in(n, 1), LN_EMIT_TEMP);
    ln_onnx_emit_softmax(n, sum, 1, 0);
}

// Counterparts of ONNX operators

// As Range of ONNX, but delta is optional: 1.
static void translate_range(ln_onnx_node *n)
{
    if (ln_onnx_has_input(n, 2)) {
        ln_onnx_translate_standard(n);
        return;
    }
    double numbers[] = {ln_onnx_number_in(n, 0, 0), ln_onnx_number_in(n, 1, 0), 1};
    tl_tensor t[3];
    for (int i = 0; i < 3; i++)
        t[i] = (tl_tensor){.dtype = TL_DOUBLE, .len = 1, .data = &numbers[i]};
    const char *const start = ln_onnx_in(n, 0);
    ln_onnx_in(n, 1);
    const int len = ln_onnx_failed(n) ? 0 : tl_range_length(&t[0], &t[1], &t[2]);
    if (len < 0)
        ln_emit_fail(&n->emit, "%s", tl_last_error());
    LN_EMIT(&n->emit, 0, LN_OP_RANGE, LN_ARG("start", start),
            LN_ARG("delta", ln_emit_scalar(&n->emit, ln_onnx_tensor_of(n, start)->dtype, 1)),
            LN_INT("len", len));
}

static void translate_expand_dims(ln_onnx_node *n)
{
    const char *const src = ln_onnx_in(n, 0);
    ln_onnx_in(n, 1);
    const int axis =
        ln_attr_to_axis(&n->emit, ln_onnx_int_in(n, 1, 0), ln_onnx_tensor_of(n, src)->ndim + 1);
    LN_EMIT(&n->emit, 0, LN_OP_UNSQUEEZE, LN_ARG("src", src), LN_INTS("axes", 1, &axis));
}

// Outputs: unique elements in order of occurrence, the index of each element among them, counts.
static void translate_unique(ln_onnx_node *n)
{
    const char *const src = ln_onnx_in_of(n, 0, 1);
    LN_EMIT_BEGIN(&n->emit, LN_OP_UNIQUE, LN_ARG("src", src), LN_INT("axis", 0),
                  LN_BOOL("sorted", 0));
    if (ln_onnx_wants(n, 1))
        ln_emit_out(&n->emit, "inverse", 1);
    if (ln_onnx_wants(n, 2))
        ln_emit_out(&n->emit, "counts", 2);
    ln_emit_end(&n->emit, "dst", 0);
}

// Indices [windows, size]: row i has i * step, .., i * step + size - 1.
static const char *window_indices(ln_onnx_node *n, int windows, int size, int step)
{
    const int dims[] = {windows, size}, len = windows * size;
    int64_t *const index =
        ln_translation_alloc(n->emit.translation, (size_t)len * sizeof(*index) + 1);
    for (int i = 0; index && i < len; i++)
        index[i] = (int64_t)(i / size) * step + i % size;
    return index ? ln_emit_constant(&n->emit, TL_INT64, 2, dims, index) : NULL;
}

// Sliding windows of `size` elements along an axis, with stride `step`, as a new last axis.
static void translate_unfold(ln_onnx_node *n)
{
    const char *const src = ln_onnx_in(n, 0);
    const tl_tensor *const t = ln_onnx_tensor_of(n, src);
    const int ndim = t->ndim, axis = ln_attr_axis(&n->emit, "dim", -1, ndim);
    ln_attr_require(&n->emit, "size");
    const int step = ln_attr_int_in(&n->emit, "step", 1, 1, INT_MAX);
    const int size = ln_attr_int_in(&n->emit, "size", 1, 1, ndim ? t->dims[axis] : 1);
    if (!ln_onnx_failed(n))
        ln_onnx_want_fixed_axis(n, src, axis);
    if (ln_onnx_failed(n))
        return;
    const int windows = (t->dims[axis] - size) / step + 1;
    if (tl_compute_length(2, (int[]){windows, size}) < 0)
        ln_emit_fail(&n->emit, "%s", tl_last_error());
    if (!ln_emit_allows(&n->emit, (size_t)windows * (size_t)size, sizeof(int64_t)))
        return;
    const char *const all =
        LN_EMIT(&n->emit, LN_EMIT_TEMP, LN_OP_TAKE, LN_ARG("src", src),
                LN_ARG("index", window_indices(n, windows, size, step)), LN_INT("axis", axis));
    int axes[TL_MAXDIM] = {0};
    for (int i = 0; i <= ndim && ndim < TL_MAXDIM; i++)
        axes[i] = i <= axis ? i : i < ndim ? i + 1 : axis + 1;
    ln_emit_transpose(&n->emit, all, axes, 0);
}

const ln_onnx_row ln_onnx_rows_contrib_fused[] = {
    {"BiasAdd", 1, translate_bias_add},
    {"BiasGelu", 1, translate_bias_gelu, "TL_UNARY_GELU"},
    {"BiasSoftmax", 1, translate_bias_softmax},
    {"BiasSplitGelu", 1, translate_bias_split_gelu},
    {"ExpandDims", 1, translate_expand_dims},
    {"FastGelu", 1, translate_gelu, LN_ORT_FAST_GELU},
    {"FusedConv", 1, translate_fused_conv},
    {"FusedGemm", 1, translate_fused_gemm},
    {"FusedMatMul", 1, translate_fused_matmul},
    {"FusedMatMulActivation", 1, translate_fused_matmul_activation},
    {"GatherND", 1, ln_onnx_translate_standard},
    {"Gelu", 1, translate_gelu, "TL_UNARY_GELU"},
    {"GemmFastGelu", 1, translate_gemm_fast_gelu},
    {"GridSample", 1, ln_onnx_translate_standard},
    {"NhwcConv", 1, translate_fused_conv, "NHWC"},
    {"NhwcFusedConv", 1, translate_fused_conv, "NHWC"},
    {"Pad", 1, ln_onnx_translate_standard},
    {"Range", 1, translate_range},
    {"TransposeMatMul", 1, translate_fused_matmul},
    {"Trilu", 1, ln_onnx_translate_standard},
    {"UnfoldTensor", 1, translate_unfold},
    {"Unique", 1, translate_unique},
    {NULL},
};
