// SPDX-License-Identifier: Apache-2.0
// ONNX operators that normalize: softmax, batch, layer and group normalization, norms.

#include <string.h>

#include "front/onnx/ln_onnx.h"
#include "front/onnx/ln_onnx_steps.h"

// Softmax, logsoftmax, hardmax

// 1 at the first max along the axis, else 0.
static const char *emit_hardmax(ln_onnx_node *n, const char *src, int axis, int i)
{
    const tl_tensor *const t = ln_onnx_tensor_of(n, src);
    const int depth = t->ndim ? t->dims[axis] : 1, two = 2;
    const tl_dtype dtype = t->dtype;
    const double choice[] = {0, 1};
    if (t->len == 0)
        return ln_emit_simple(&n->emit, LN_OP_FORWARD, src, i); // an empty axis has no max
    const ln_dim open_depth = t->ndim ? ln_onnx_axis_size(n, src, axis) : ln_dim_constant(1);
    const char *const best = LN_EMIT(&n->emit, LN_EMIT_TEMP, LN_OP_ARGREDUCE, LN_ARG("src", src),
                                     LN_INT("axis", axis), LN_BOOL("keepdims", 0));
    uint64_t values[2];
    tl_convert_array(values, dtype, choice, TL_DOUBLE, 2);
    const char *const off_on = ln_emit_constant(&n->emit, dtype, 1, &two, values);
    return LN_EMIT(&n->emit, i, LN_OP_ONEHOT, LN_ARG("src", best), LN_ARG("values", off_on),
                   LN_ARG("depth_now", ln_dim_is_constant(&open_depth)
                                           ? NULL
                                           : ln_emit_length(&n->emit, &open_depth)),
                   LN_INT("depth", depth), LN_INT("axis", axis));
}

static const char *emit_along(ln_onnx_node *n, const char *optype, const char *src, int axis, int i)
{
    if (strcmp(optype, "hardmax") == 0)
        return emit_hardmax(n, src, axis, i);
    return LN_EMIT(&n->emit, i, optype, LN_ARG("src", src), LN_INT("axis", axis));
}

static void translate_along_axis(ln_onnx_node *n)
{
    const char *const src = ln_onnx_in(n, 0);
    const int ndim = ln_onnx_tensor_of(n, src)->ndim;
    emit_along(n, n->row->with, src, ln_attr_axis(&n->emit, "axis", -1, ndim), 0);
}

// Before opset 13 the axes from `axis` on count as one, as do those before.
static const char *emit_along_rest(ln_onnx_node *n, const char *optype, const char *src, int i)
{
    const int ndim = ln_onnx_tensor_of(n, src)->ndim;
    const int axis = ln_attr_axis(&n->emit, "axis", 1, ndim);
    ln_dim dims[TL_MAXDIM];
    ln_emit_dims(&n->emit, src, dims);
    const ln_dim flat[] = {ln_emit_product(&n->emit, dims, axis),
                           ln_emit_product(&n->emit, dims + axis, ndim - axis)};
    const char *const rows = ln_emit_reshape_dims(&n->emit, src, 2, flat, LN_EMIT_TEMP);
    const char *const dst = emit_along(n, optype, rows, 1, LN_EMIT_TEMP);
    return ln_emit_reshape_dims(&n->emit, dst, ndim, dims, i);
}

static void translate_along_rest(ln_onnx_node *n)
{
    emit_along_rest(n, n->row->with, ln_onnx_in(n, 0), 0);
}

const char *ln_onnx_emit_softmax(ln_onnx_node *n, const char *src, int opset, int i)
{
    const int ndim = ln_onnx_tensor_of(n, src)->ndim;
    if (opset < 13)
        return emit_along_rest(n, LN_OP_SOFTMAX, src, i);
    return emit_along(n, LN_OP_SOFTMAX, src, ln_attr_axis(&n->emit, "axis", -1, ndim), i);
}

// Batch normalization

// The operands of a batch normalization, all of one dtype.
typedef struct batch_stats {
    const char *src, *scale, *offset, *mean, *var;
} batch_stats;

// With one value for each channel.
static const char *emit_by_channel(ln_onnx_node *n, const batch_stats *s)
{
    const char *const vectors[] = {s->scale, s->offset, s->mean, s->var};
    const double epsilon = ln_attr_epsilon(&n->emit, "epsilon", 1e-5);
    return ln_emit_batchnorm(&n->emit, s->src, 1, vectors, epsilon, LN_EMIT_TEMP);
}

// With one value for each element of an image: spatial 0, before opset 9.
static const char *emit_by_element(ln_onnx_node *n, const batch_stats *s)
{
    const tl_dtype dtype = ln_onnx_tensor_of(n, s->src)->dtype;
    const char *const epsilon =
        ln_emit_scalar(&n->emit, dtype, ln_attr_number(&n->emit, "epsilon", 1e-5));
    const char *const deviation =
        ln_emit_formula(&n->emit, "sqrt(x + a)", s->var, epsilon, NULL, LN_EMIT_TEMP);
    const char *const x =
        ln_emit_formula(&n->emit, "(x - a) / b", s->src, s->mean, deviation, LN_EMIT_TEMP);
    return ln_emit_formula(&n->emit, "x * a + b", x, s->scale, s->offset, LN_EMIT_TEMP);
}

// The dtype to compute in: that of src, or the wider one of the other operands.
static tl_dtype batch_dtype(ln_onnx_node *n, const batch_stats *s)
{
    const char *const others[] = {s->scale, s->offset, s->mean, s->var};
    tl_dtype dtype = ln_onnx_tensor_of(n, s->src)->dtype;
    for (int i = 0; i < 4; i++) {
        const tl_dtype other = ln_onnx_tensor_of(n, others[i])->dtype;
        if (other != dtype)
            dtype = other == TL_DOUBLE || dtype == TL_DOUBLE ? TL_DOUBLE : TL_FLOAT;
    }
    return dtype;
}

static batch_stats batch_in(ln_onnx_node *n, tl_dtype *src_dtype)
{
    batch_stats s = {ln_onnx_in(n, 0), ln_onnx_in(n, 1), ln_onnx_in(n, 2), ln_onnx_in(n, 3),
                     ln_onnx_in(n, 4)};
    *src_dtype = ln_onnx_tensor_of(n, s.src)->dtype;
    const tl_dtype dtype = batch_dtype(n, &s);
    s.src = ln_emit_cast(&n->emit, s.src, dtype, LN_EMIT_TEMP);
    s.scale = ln_emit_cast(&n->emit, s.scale, dtype, LN_EMIT_TEMP);
    s.offset = ln_emit_cast(&n->emit, s.offset, dtype, LN_EMIT_TEMP);
    s.mean = ln_emit_cast(&n->emit, s.mean, dtype, LN_EMIT_TEMP);
    s.var = ln_emit_cast(&n->emit, s.var, dtype, LN_EMIT_TEMP);
    return s;
}

// old * momentum + new * (1 - momentum), as the node's output `i` of the dtype of input `in`.
static void emit_running(ln_onnx_node *n, const char *old, const char *new, int in, int i)
{
    if (!ln_onnx_wants(n, i))
        return;
    const double momentum = ln_attr_number(&n->emit, "momentum", 0.9);
    const tl_dtype dtype = ln_onnx_tensor_of(n, old)->dtype;
    const tl_dtype out = ln_onnx_tensor_of(n, ln_onnx_in(n, in))->dtype;
    const char *const part = ln_emit_formula(
        &n->emit, "x * a", old, ln_emit_scalar(&n->emit, dtype, momentum), NULL, LN_EMIT_TEMP);
    const char *const sum =
        ln_emit_formula(&n->emit, "b + x * a", new, ln_emit_scalar(&n->emit, dtype, 1 - momentum),
                        part, LN_EMIT_TEMP);
    ln_emit_cast(&n->emit, sum, out, i);
}

// Replaces mean and variance by those of the batch, and emits the updated running ones.
static void use_batch_stats(ln_onnx_node *n, batch_stats *s)
{
    const tl_tensor *const t = ln_onnx_tensor_of(n, s->src);
    const ln_dim channels = ln_onnx_axis_size(n, s->scale, 0);
    int axes[TL_MAXDIM], n_axes = 0;
    for (int i = 0; i < t->ndim; i++)
        if (i != 1)
            axes[n_axes++] = i;
    const char *const mean =
        ln_emit_reduce(&n->emit, "TL_REDUCE_MEAN", s->src, n_axes, axes, 1, LN_EMIT_TEMP);
    const char *const square =
        ln_emit_formula(&n->emit, "(x - a) * (x - a)", s->src, mean, NULL, LN_EMIT_TEMP);
    const char *const var =
        ln_emit_reduce(&n->emit, "TL_REDUCE_MEAN", square, n_axes, axes, 1, LN_EMIT_TEMP);
    const char *const old_mean = s->mean, *const old_var = s->var;
    s->mean = ln_emit_reshape_dims(&n->emit, mean, 1, &channels, LN_EMIT_TEMP);
    s->var = ln_emit_reshape_dims(&n->emit, var, 1, &channels, LN_EMIT_TEMP);
    emit_running(n, old_mean, s->mean, 3, 1);
    emit_running(n, old_var, s->var, 4, 2);
}

static void translate_batchnorm(ln_onnx_node *n)
{
    tl_dtype dtype;
    const int is_training = n->opset >= 14 && ln_attr_bool(&n->emit, "training_mode", 0);
    const int is_by_element = n->opset < 9 && !ln_attr_bool(&n->emit, "spatial", 1);
    batch_stats s = batch_in(n, &dtype);
    for (int i = 1; i < ln_onnx_num_outputs(n) && !is_training; i++)
        if (ln_onnx_is_read(n, i))
            ln_emit_fail(&n->emit,
                         "output %d is read, expected output 0 only: training before "
                         "opset 14 is not supported",
                         i);
    if (is_training)
        use_batch_stats(n, &s);
    ln_emit_cast(&n->emit, is_by_element ? emit_by_element(n, &s) : emit_by_channel(n, &s), dtype,
                 0);
}

// Layers, groups

// `factor` broadcast to the axes of `src` from `axis` on. NULL: it is absent, or varies along other
// axes.
static const char *factor_of_layer(ln_onnx_node *n, const char *factor, const char *src, int axis)
{
    const int src_ndim = ln_onnx_tensor_of(n, src)->ndim;
    ln_dim dims[TL_MAXDIM], given[TL_MAXDIM], flat[TL_MAXDIM];
    int is_same = 1;
    if (!factor || axis >= src_ndim)
        return factor;
    const int ndim = src_ndim - axis, extra = ln_onnx_tensor_of(n, factor)->ndim - ndim;
    ln_emit_dims(&n->emit, src, dims);
    ln_emit_dims(&n->emit, factor, given);
    for (int i = 0; i < ndim; i++) {
        flat[i] = i + extra >= 0 ? given[i + extra] : ln_dim_constant(1);
        is_same &= ln_dim_equals(&flat[i], &dims[axis + i]);
    }
    for (int i = 0; i < extra; i++)
        if (!ln_dim_is(&given[i], 1))
            return NULL;
    factor = ln_emit_reshape_dims(&n->emit, factor, ndim, flat, LN_EMIT_TEMP);
    return is_same ? factor
                   : ln_emit_expand_dims(&n->emit, factor, ndim, dims + axis, LN_EMIT_TEMP);
}

// Mean or inverse deviation, in the type that stash_type names.
static void emit_stats(ln_onnx_node *n, const char *stats, int i)
{
    const tl_dtype dtype = ln_attr_int(&n->emit, "stash_type", 1) == 16 ? TL_BFLOAT16 : TL_FLOAT;
    ln_emit_cast(&n->emit, stats, dtype, i);
}

void ln_onnx_emit_inverse_rms(ln_onnx_node *n, const char *src, int axis, double epsilon, int i)
{
    const int ndim = ln_onnx_tensor_of(n, src)->ndim;
    const tl_dtype dtype = ln_onnx_tensor_of(n, src)->dtype == TL_DOUBLE ? TL_DOUBLE : TL_FLOAT;
    int axes[TL_MAXDIM];
    if (!ln_onnx_wants(n, i))
        return;
    for (int k = axis; k < ndim; k++)
        axes[k - axis] = k;
    const char *const wide = ln_emit_cast(&n->emit, src, dtype, LN_EMIT_TEMP);
    const char *const square = ln_emit_binary(&n->emit, "TL_BINARY_MUL", wide, wide, LN_EMIT_TEMP);
    const char *const mean =
        ln_emit_reduce(&n->emit, "TL_REDUCE_MEAN", square, ndim - axis, axes, 1, LN_EMIT_TEMP);
    const char *const inverse =
        ln_emit_formula(&n->emit, "reciprocal(sqrt(x + a))", mean,
                        ln_emit_scalar(&n->emit, dtype, epsilon), NULL, LN_EMIT_TEMP);
    emit_stats(n, inverse, i);
}

const char *ln_onnx_emit_layernorm(ln_onnx_node *n, const ln_onnx_layernorm *norm, int i)
{
    const char *mean = NULL, *inv_std = NULL;
    const int is_centered = ln_streq(norm->optype, LN_OP_LAYERNORM);
    LN_EMIT_BEGIN(&n->emit, norm->optype, LN_ARG("src", norm->src), LN_ARG("scale", norm->scale),
                  LN_ARG("bias", norm->bias), LN_INT("axis", norm->axis),
                  LN_NUMBER("epsilon", norm->epsilon));
    if (is_centered && ln_onnx_wants(n, 1))
        mean = ln_emit_out(&n->emit, "mean", LN_EMIT_TEMP);
    if (is_centered && ln_onnx_wants(n, 2))
        inv_std = ln_emit_out(&n->emit, "inv_std", LN_EMIT_TEMP);
    const char *const dst = ln_emit_end(&n->emit, "dst", i);
    if (mean)
        emit_stats(n, mean, 1);
    if (inv_std)
        emit_stats(n, inv_std, 2);
    return dst;
}

// The type to compute in: that of both tensors, or one that holds either.
static tl_dtype common_dtype(tl_dtype a, tl_dtype b)
{
    return a == b ? a : a == TL_DOUBLE || b == TL_DOUBLE ? TL_DOUBLE : TL_FLOAT;
}

// Layer normalization with scale and bias, as output `i`. Factors that vary along the axes before
// `axis` are applied by separate operators.
static const char *emit_with_factors(ln_onnx_node *n, ln_onnx_layernorm *norm, int i)
{
    const char *const scale = norm->scale, *const bias = norm->bias;
    norm->scale = factor_of_layer(n, scale, norm->src, norm->axis);
    norm->bias = bias ? factor_of_layer(n, bias, norm->src, norm->axis) : NULL;
    if (norm->scale && (norm->bias || !bias))
        return ln_onnx_emit_layernorm(n, norm, i);
    norm->scale = norm->bias = NULL;
    const char *const plain = ln_onnx_emit_layernorm(n, norm, LN_EMIT_TEMP);
    const char *const scaled =
        ln_emit_binary(&n->emit, "TL_BINARY_MUL", plain, scale, bias ? LN_EMIT_TEMP : i);
    return bias ? ln_emit_binary(&n->emit, "TL_BINARY_ADD", scaled, bias, i) : scaled;
}

// LayerNormalization, RMSNormalization, SimplifiedLayerNormalization: the row names the operator.
// The result has the type of the scale.
static void translate_layernorm(ln_onnx_node *n)
{
    const char *const src = ln_onnx_in(n, 0), *const scale = ln_onnx_in(n, 1);
    const tl_dtype out = ln_onnx_tensor_of(n, scale)->dtype;
    const tl_dtype dtype = common_dtype(ln_onnx_tensor_of(n, src)->dtype, out);
    const char *const bias = ln_onnx_optional(n, 2);
    ln_onnx_layernorm norm = {
        .optype = n->row->with,
        .src = ln_emit_cast(&n->emit, src, dtype, LN_EMIT_TEMP),
        .scale = ln_emit_cast(&n->emit, scale, dtype, LN_EMIT_TEMP),
        .bias = bias ? ln_emit_cast(&n->emit, bias, dtype, LN_EMIT_TEMP) : NULL,
        .axis = ln_attr_axis(&n->emit, "axis", -1, ln_onnx_tensor_of(n, src)->ndim),
        .epsilon = ln_attr_number(&n->emit, "epsilon", 1e-5)};
    if (ln_streq(norm.optype, LN_OP_RMSNORM))
        ln_onnx_emit_inverse_rms(n, norm.src, norm.axis, norm.epsilon, 1);
    const char *const dst = emit_with_factors(n, &norm, out == dtype ? 0 : LN_EMIT_TEMP);
    if (out != dtype)
        ln_emit_cast(&n->emit, dst, out, 0);
}

static void emit_groupnorm(ln_onnx_node *n, int64_t groups)
{
    const char *const src = ln_onnx_in(n, 0);
    const tl_dtype dtype = ln_onnx_tensor_of(n, src)->dtype;
    const char *const scale = ln_emit_cast(&n->emit, ln_onnx_in(n, 1), dtype, LN_EMIT_TEMP);
    const char *const bias = ln_emit_cast(&n->emit, ln_onnx_in(n, 2), dtype, LN_EMIT_TEMP);
    LN_EMIT(&n->emit, 0, LN_OP_GROUPNORM, LN_ARG("src", src), LN_ARG("scale", scale),
            LN_ARG("bias", bias), LN_INT("groups", groups),
            LN_NUMBER("epsilon", ln_attr_number(&n->emit, "epsilon", 1e-5)));
}

static void translate_groupnorm(ln_onnx_node *n)
{
    ln_attr_require(&n->emit, "num_groups");
    emit_groupnorm(n, ln_attr_int(&n->emit, "num_groups", 1));
}

// Each channel is a group.
static void translate_instancenorm(ln_onnx_node *n)
{
    const tl_tensor *const t = ln_onnx_tensor_of(n, ln_onnx_in(n, 0));
    const int len = ln_onnx_tensor_of(n, ln_onnx_in(n, 1))->len;
    if (t->ndim >= 2 && len != t->dims[1])
        ln_emit_fail(&n->emit,
                     "input 1, 'scale', has %d elements, expected one for each of %d channels", len,
                     t->dims[1]);
    emit_groupnorm(n, len > 0 ? len : 1); // without channels: one empty group
}

// Norms

// (x - mean) / (deviation + 1e-9), as layer normalization of the axes, transposed to the end.
static void translate_mvn(ln_onnx_node *n)
{
    static const int64_t images[] = {0, 2, 3};
    const char *const src = ln_onnx_in(n, 0);
    const int ndim = ln_onnx_tensor_of(n, src)->ndim;
    int len, is_normalized[TL_MAXDIM] = {0}, order[TL_MAXDIM], back[TL_MAXDIM], at = 0;
    const int64_t *given = ln_attr_ints(&n->emit, "axes", &len);
    if (!given) {
        given = images;
        len = 3;
    }
    for (int i = 0; i < len; i++)
        is_normalized[ln_attr_to_axis(&n->emit, given[i], ndim)] = 1;
    for (int kind = 0; kind < 2; kind++)
        for (int i = 0; i < ndim; i++)
            if (is_normalized[i] == kind) {
                back[i] = at;
                order[at++] = i;
            }
    int axis = 0;
    while (axis < ndim && !is_normalized[order[axis]])
        axis++;
    const char *const moved = ln_emit_transpose(&n->emit, src, order, LN_EMIT_TEMP);
    const char *const dst =
        LN_EMIT(&n->emit, LN_EMIT_TEMP, LN_OP_LAYERNORM, LN_ARG("src", moved), LN_INT("axis", axis),
                LN_NUMBER("epsilon", 1e-18)); // the square of 1e-9
    ln_emit_transpose(&n->emit, dst, back, 0);
}

// x / norm, or 0 if the norm is 0: divides by the min positive number instead.
static void translate_lp_norm(ln_onnx_node *n)
{
    static const double min[TL_DTYPE_SIZE] = {[TL_DOUBLE] = 0x1p-1074,
                                              [TL_FLOAT] = 0x1p-149,
                                              [TL_FLOAT16] = 0x1p-24,
                                              [TL_BFLOAT16] = 0x1p-133};
    const char *const src = ln_onnx_in(n, 0);
    const tl_tensor *const t = ln_onnx_tensor_of(n, src);
    const tl_dtype dtype = t->dtype;
    const int axis = ln_attr_axis(&n->emit, "axis", -1, t->ndim);
    const int p = ln_attr_int_in(&n->emit, "p", 2, 1, 2);
    const char *const norm = ln_emit_reduce(&n->emit, p == 1 ? "TL_REDUCE_L1" : "TL_REDUCE_L2", src,
                                            1, &axis, 1, LN_EMIT_TEMP);
    ln_emit_formula(&n->emit, "x / max(a, b)", src, norm,
                    ln_emit_scalar(&n->emit, dtype, min[dtype]), 0);
}

const ln_onnx_row ln_onnx_rows_norm[] = {
    {"BatchNormalization", 1, translate_batchnorm},
    {"GroupNormalization", 18, translate_groupnorm},
    {"Hardmax", 1, translate_along_rest, "hardmax"},
    {"Hardmax", 13, translate_along_axis, "hardmax"},
    {"InstanceNormalization", 1, translate_instancenorm},
    // Before opset 17 as ONNX Runtime writes it, in ONNX's own domain.
    {"LayerNormalization", 1, translate_layernorm, LN_OP_LAYERNORM},
    {"LogSoftmax", 1, translate_along_rest, LN_OP_LOGSOFTMAX},
    {"LpNormalization", 1, translate_lp_norm},
    {"MeanVarianceNormalization", 9, translate_mvn},
    {"RMSNormalization", 23, translate_layernorm, LN_OP_RMSNORM},
    {"SimplifiedLayerNormalization", 1, translate_layernorm, LN_OP_RMSNORM}, // of ONNX Runtime
    {"Softmax", 1, translate_along_rest, LN_OP_SOFTMAX},
    {NULL},
};
