// SPDX-License-Identifier: Apache-2.0
// Lowers layers of MXNet to NNVM core operators. Source: the format's description, sections 9.2
// to 9.4.

#include <limits.h>
#include <string.h>

#include "front/nnvm/mxnet/ln_nnvm_core.h"
#include "front/nnvm/ln_nnvm_steps.h"

// With weights

// The number of spatial axes, 1 to 3; core has 2 only.
static int count_axes(ln_nnvm_op *n)
{
    ln_attr_require(n->e, "kernel");
    int axes;
    ln_attr_ints(n->e, "kernel", &axes);
    ln_nnvm_recast_lacks(n, axes != 2); // core's windows are over 2 axes
    if (axes >= 1 && axes <= 3)
        return axes;
    ln_emit_fail(n->e, "attribute 'kernel' has %d numbers, expected 1 to 3", axes);
    return 1;
}

// Core lacks attribute `key`, unless all its numbers are 0, without effect.
static void lacks_unless_zeros(ln_nnvm_op *n, const char *key)
{
    int len;
    const int64_t *const given = ln_attr_ints(n->e, key, &len);
    for (int i = 0; i < len; i++)
        ln_nnvm_recast_lacks(n, given[i] != 0); // core computes no output padding
}

// Begins a node with weight and bias. `no_bias`: the default of that attribute.
static void begin_weighted(ln_nnvm_op *n, const char *op, ln_nnvm_value src, int no_bias)
{
    const int with_bias = ln_nnvm_has_bias(ln_nnvm_recast_node(n), no_bias);
    const ln_nnvm_value weight = ln_nnvm_recast_weight(n, 1, "weight"), none = {.ndim = 0};
    const ln_nnvm_value bias = with_bias ? ln_nnvm_recast_weight(n, 2, "bias") : none;
    ln_put_begin(n, op);
    ln_put_set(n, LN_SRC(src));
    ln_put_set(n, LN_SRC(weight));
    ln_put_set(n, LN_ONLY_IF(with_bias, LN_SRC(bias)));
    ln_put_set(n, LN_BOOL("use_bias", with_bias));
}

// `with`: its name in core. Weights have the layout of the data, with filters for the batch.
static ln_nnvm_value rewrite_conv(ln_nnvm_op *n)
{
    static const char *const by_channel_last[] = {"OWI", "OHWI", "ODHWI"};
    const int is_transposed = !strcmp(n->row->with, "conv2d_transpose"), axes = count_axes(n);
    const char *layout = ln_attr_text(n->e, "layout", "NCHW");
    if (is_transposed) {
        lacks_unless_zeros(n, "adj");
        lacks_unless_zeros(n, "target_shape");
    }
    begin_weighted(n, n->row->with, ln_nnvm_recast_in(n, 0), is_transposed);
    if (layout[0] && layout[1] != 'C')
        ln_put_set(n, LN_TEXT("kernel_layout", by_channel_last[axes - 1]));
    return ln_nnvm_recast_end(n, 1);
}

// Whether the value is known to be a matrix: from flatten, by way of operators that keep matrices.
static int is_matrix(const ln_nnvm_op *n, ln_nnvm_value v)
{
    const char *op = ln_nnvm_draft_op(n->draft, v.entry);
    while (!strcmp(op, "dense") || !strcmp(op, "relu") || !strcmp(op, "batch_norm") ||
           !strcmp(op, "dropout")) {
        v.entry = ln_nnvm_draft_input(n->draft, v.entry, 0);
        op = ln_nnvm_draft_op(n->draft, v.entry);
    }
    return !strcmp(op, "flatten");
}

// Flattens, unless it is a matrix; readers have shapes and omit that themselves.
static ln_nnvm_value flattened(ln_nnvm_op *n, ln_nnvm_value src)
{
    return !n->is_reading && is_matrix(n, src) ? src : ln_put(n, "flatten", src);
}

static ln_nnvm_value rewrite_fully_connected(ln_nnvm_op *n)
{
    ln_nnvm_value src = ln_nnvm_recast_in(n, 0);
    if (ln_attr_bool(n->e, "flatten", 1))
        src = flattened(n, src);
    begin_weighted(n, "dense", src, 0);
    return ln_nnvm_recast_end(n, 1);
}

static ln_nnvm_value rewrite_embedding(ln_nnvm_op *n)
{
    const ln_nnvm_value index = ln_nnvm_recast_in(n, 0);
    const ln_nnvm_value weight = ln_nnvm_recast_weight(n, 1, "weight");
    ln_attr_require(n->e, "input_dim");
    ln_attr_require(n->e, "output_dim");
    ln_attr_dtype(n->e, "dtype", TL_FLOAT);
    return ln_nnvm_recast_take(n, weight, index, 0);
}

// Normalization

static ln_nnvm_value rewrite_batchnorm(ln_nnvm_op *n)
{
    static const char *const args[] = {"gamma", "beta", "moving_mean", "moving_var"};
    ln_nnvm_value inputs[5] = {ln_nnvm_recast_in(n, 0)};
    for (int i = 0; i < 4; i++)
        inputs[1 + i] = ln_nnvm_recast_weight(n, 1 + i, args[i]);
    if (ln_attr_bool(n->e, "output_mean_var", 0))
        ln_emit_fail(n->e, "attribute 'output_mean_var' is True, expected False");
    ln_put_begin(n, "batch_norm");
    for (int i = 0; i < 5; i++)
        ln_put_set(n, LN_SRC(inputs[i]));
    ln_put_set(n, LN_BOOL("scale", !ln_attr_bool(n->e, "fix_gamma", 1)));
    return ln_nnvm_recast_end(n, 3);
}

static ln_nnvm_value rewrite_layernorm(ln_nnvm_op *n)
{
    static const ln_put_axes last = {1, {-1}, .keeps = 1};
    const double epsilon = ln_attr_number(n->e, "eps", 1e-5);
    const ln_nnvm_value gamma = ln_nnvm_recast_weight(n, 1, "gamma");
    const ln_nnvm_value beta = ln_nnvm_recast_weight(n, 2, "beta");
    ln_nnvm_value x = ln_nnvm_recast_in(n, 0);
    ln_nnvm_recast_lacks(n, ln_attr_int(n->e, "axis", -1) != -1 ||
                                ln_attr_bool(n->e, "output_mean_var", 0));
    x = ln_put_formula(n, "normal(x, a)", x, epsilon, 0, &last);
    x = ln_put_pair(n, "broadcast_mul", x, gamma);
    return ln_put_pair(n, "broadcast_add", x, beta);
}

// Core's l2_normalize divides by sqrt(max(sum, epsilon)), MXNet by sqrt(sum + epsilon). The sum is
// along axis 1 (channel), or along all but 0 (instance) or 0 and 1 (spatial).
static ln_nnvm_value rewrite_l2(ln_nnvm_op *n)
{
    static const ln_attr_word modes[] = {{"instance"}, {"channel"}, {"spatial"}, {0}};
    const char *mode = ln_attr_choose(n->e, "mode", "instance", modes);
    static const int axes[] = {0, 1};
    const int n_axes = strcmp(mode, "spatial") ? 1 : 2, is_channel = !strcmp(mode, "channel");
    const ln_nnvm_value src = ln_nnvm_recast_in(n, 0);
    ln_nnvm_value x = ln_put_pair(n, "elemwise_mul", src, src);
    x = LN_PUT(n, "sum", x, LN_SRC(x), LN_INTS("axis", n_axes, axes + is_channel),
               LN_BOOL("exclude", !is_channel), LN_BOOL("keepdims", 1));
    x = ln_put_formula(n, "sqrt(x + a)", x, ln_attr_number(n->e, "eps", 1e-10), 0, NULL);
    return ln_put_pair(n, "broadcast_div", src, x);
}

// Pooling

static void begin_global_pool(ln_nnvm_op *n, int is_max)
{
    static const char *const unread[] = {"kernel", "stride", "pad", "pooling_convention",
                                         "count_include_pad"};
    for (size_t i = 0; i < sizeof(unread) / sizeof(unread[0]); i++)
        ln_attr_has(n->e, unread[i]); // ignored
    ln_nnvm_recast_begin(n, is_max ? "global_max_pool2d" : "global_avg_pool2d");
    ln_nnvm_recast_attr(n, "layout", "layout");
}

// A mean counts padding, but not elements of a window beyond it; up to 0.9.4 it is over the whole
// window, with zeros as padding.
static void begin_windows(ln_nnvm_op *n, int is_max)
{
    static const ln_attr_word conventions[] = {{"valid", ""}, {"full"}, {0}};
    const char *full = ln_attr_choose(n->e, "pooling_convention", "valid", conventions);
    const ln_nnvm_graph *g = &ln_nnvm_recast_node(n)->model->graph;
    const int is_old = n->row->with || g->is_oldest || (g->version && g->version < 905);
    const int is_full = *full != '\0', axes = count_axes(n);
    const int counts = ln_attr_bool(n->e, "count_include_pad", 1);
    ln_nnvm_value src = ln_nnvm_recast_in(n, 0);
    int padding[3] = {0};
    ln_attr_ints_of(n->e, "pad", axes, 0, 0, padding);
    // Core's means differ for windows that exceed the end.
    ln_nnvm_recast_lacks(n, !is_max && counts && is_full && !is_old);
    if (is_max && is_old && !n->is_reading && (padding[0] || padding[1])) {
        const int around[] = {0, 0, padding[0], padding[1]}; // zeros, which old maxima include
        src = LN_PUT(n, "pad", src, LN_SRC(src), LN_PAIRS("pad_width", 4, around, around));
        padding[0] = padding[1] = 0;
    }
    ln_put_begin(n, is_max ? "max_pool2d" : "avg_pool2d");
    ln_put_set(n, LN_SRC(src));
    ln_nnvm_recast_attrs(n);
    ln_put_set(n, LN_INTS("padding", axes, padding));
    ln_put_set(n, LN_BOOL("ceil_mode", is_full));
    if (!is_max)
        ln_put_set(n, LN_BOOL("count_include_pad", counts));
    if (n->is_reading)
        ln_put_set(n, is_old ? LN_BOOL("pads_zeros", 1) : LN_BOOL("is_padded", 1));
}

static ln_nnvm_value rewrite_pool(ln_nnvm_op *n)
{
    static const ln_attr_word types[] = {{"max"}, {"avg"}, {"sum"}, {"lp"}, {0}};
    const char *type = ln_attr_choose(n->e, "pool_type", "max", types);
    const int power = ln_attr_int_in(n->e, "p_value", 2, 1, INT_MAX);
    const int is_max = !strcmp(type, "max"), is_mean = !strcmp(type, "avg");
    ln_nnvm_recast_lacks(n, !is_max && !is_mean); // core pools maxima and means only
    if (ln_attr_bool(n->e, "global_pool", 0))
        begin_global_pool(n, is_max);
    else
        begin_windows(n, is_max);
    if (!is_max && !is_mean) {
        ln_put_set(n, LN_TEXT("pool_type", type));
        ln_put_set(n, LN_INT("p_value", power));
    }
    return ln_put_end(n, ln_nnvm_recast_in(n, 0), 1);
}

static ln_nnvm_value rewrite_adaptive_pool(ln_nnvm_op *n)
{
    int size[2];
    ln_attr_ints_of(n->e, "output_size", 2, 1, 1, size);
    ln_nnvm_recast_lacks(n, size[0] != 1 || size[1] != 1); // core has only global pooling
    return ln_nnvm_recast_same(n);
}

// Resizing

static ln_nnvm_value rewrite_upsampling(ln_nnvm_op *n)
{
    const char *type = ln_attr_text(n->e, "sample_type", "");
    ln_nnvm_recast_lacks(n, strcmp(type, "nearest") ||
                                ln_nnvm_num_inputs(ln_nnvm_recast_node(n)) != 1);
    ln_attr_int(n->e, "num_args", 1);
    ln_attr_text(n->e, "multi_input_mode", "concat");
    ln_attr_int(n->e, "num_filter", 0);
    return ln_nnvm_recast_same(n);
}

static ln_nnvm_value rewrite_bilinear_resize(ln_nnvm_op *n)
{
    const ln_nnvm_value src = ln_nnvm_recast_in(n, 0);
    const int size[] = {ln_attr_int_in(n->e, "height", 1, 1, INT_MAX),
                        ln_attr_int_in(n->e, "width", 1, 1, INT_MAX)};
    const int aligns = ln_attr_bool(n->e, "align_corners", 1);
    // Core resizes to given sizes.
    ln_nnvm_recast_lacks(n, ln_attr_has(n->e, "scale_height") || ln_attr_has(n->e, "scale_width") ||
                                strcmp(ln_attr_text(n->e, "mode", "size"), "size"));
    return LN_PUT(n, "resize", src, LN_SRC(src), LN_INTS("size", 2, size),
                  LN_TEXT("method", "BILINEAR"), LN_BOOL("align_corners", aligns));
}

// Softmax, and the outputs of losses

static ln_nnvm_value softmax(ln_nnvm_op *n, const char *op, ln_nnvm_value src, int axis)
{
    return LN_PUT(n, op, src, LN_SRC(src), LN_INT("axis", axis));
}

// softmin is softmax of the negated input.
static ln_nnvm_value rewrite_softmax(ln_nnvm_op *n)
{
    const char *const op = ln_nnvm_recast_node(n)->vertex->op;
    const int is_min = !strcmp(op, "softmin");
    const double heat = ln_attr_number(n->e, "temperature", 1);
    const int axis = ln_attr_int_in(n->e, "axis", -1, -LN_MAXDIM, LN_MAXDIM - 1);
    ln_nnvm_value x = ln_nnvm_recast_in(n, 0);
    if (ln_attr_bool(n->e, "use_length", 0))
        ln_emit_fail(n->e, "attribute 'use_length' is True, expected False");
    if (heat != 1)
        x = ln_put_scalar(n, "div", x, heat);
    if (is_min)
        x = ln_put(n, "negative", x);
    x = softmax(n, is_min ? "softmax" : op, x, axis);
    if (!ln_attr_has(n->e, "dtype"))
        return x;
    ln_put_begin(n, "cast");
    ln_put_set(n, LN_SRC(x));
    ln_nnvm_recast_attr(n, "dtype", "dtype");
    return ln_put_end(n, x, 1);
}

// Softmax over all axes but the first.
static ln_nnvm_value softmax_of_rest(ln_nnvm_op *n, ln_nnvm_value src)
{
    const ln_nnvm_value rows = flattened(n, src), x = softmax(n, "softmax", rows, 1);
    const int is_same = rows.entry.node == src.entry.node && rows.entry.index == src.entry.index;
    return is_same ? x : ln_put_pair(n, "reshape_like", x, src);
}

static ln_nnvm_value rewrite_softmax_activation(ln_nnvm_op *n)
{
    static const ln_attr_word modes[] = {{"instance"}, {"channel"}, {0}};
    const char *mode = ln_attr_choose(n->e, "mode", "instance", modes);
    const ln_nnvm_value src = ln_nnvm_recast_in(n, 0);
    return strcmp(mode, "channel") ? softmax_of_rest(n, src) : softmax(n, "softmax", src, 1);
}

static ln_nnvm_value rewrite_softmax_output(ln_nnvm_op *n)
{
    const int many = ln_attr_bool(n->e, "multi_output", 0);
    const int keeps = ln_attr_bool(n->e, "preserve_shape", 0);
    const ln_nnvm_value src = ln_nnvm_recast_in(n, 0);
    return many || keeps ? softmax(n, "softmax", src, many ? 1 : -1) : softmax_of_rest(n, src);
}

#define CONVOLUTION(op, core, added)                                                            \
    {                                                                                           \
        op, LN_IN_MXNET, NULL, core, 2, 3,                                                      \
            .weights = 6, .ignored = "workspace cudnn_tune cudnn_off", .rewrite = rewrite_conv, \
            .attrs = "!num_filter=channels !kernel=kernel_size stride=strides pad=padding "     \
                     "dilate=dilation num_group=groups layout" added                            \
    }
// Ignores the label.
#define OTHER_LOSS(op, formula)                                                  \
    {                                                                            \
        op, LN_IN_MXNET, NULL, formula, 1, 2,                                    \
            .unread = 2, .rewrite = ln_nnvm_recast_with,                         \
            .ignored = "grad_scale margin regularization_coefficient use_linear" \
    }

const ln_nnvm_row ln_nnvm_mxnet_rows_layers[] = {
    CONVOLUTION("Convolution Convolution_v1", "conv2d", ""),
    CONVOLUTION("Deconvolution", "conv2d_transpose", " +adj +target_shape"),
    {"FullyConnected", LN_IN_MXNET, NULL, NULL, 2, 3, .weights = 6,
     .rewrite = rewrite_fully_connected, .attrs = "!num_hidden=units"},
    LN_MXNET_ROW("Embedding", NULL, 2, .rewrite = rewrite_embedding),
    LN_MXNET_ROW("BatchNorm BatchNorm_v1 CuDNNBatchNorm", NULL, 5, .weights = 30,
                 .rewrite = rewrite_batchnorm, .attrs = "eps=epsilon:1e-3 axis",
                 .ignored = "momentum use_global_stats cudnn_off min_calib_range max_calib_range"),
    LN_MXNET_ROW("LayerNorm", NULL, 3, .rewrite = rewrite_layernorm),
    LN_MXNET_ROW("LRN", "lrn", 1, .rewrite = ln_nnvm_recast_same,
                 .attrs = "!nsize=size alpha:1e-4 beta:0.75 knorm=bias:2 =axis:1"),
    LN_MXNET_ROW("L2Normalization", NULL, 1, .rewrite = rewrite_l2),
    LN_MXNET_ROW("Pooling", NULL, 1, .ignored = "cudnn_off", .rewrite = rewrite_pool,
                 .attrs = "kernel=pool_size stride=strides layout"),
    LN_MXNET_ROW("Pooling_v1", "v1", 1, .rewrite = rewrite_pool,
                 .attrs = "kernel=pool_size stride=strides layout"),
    LN_MXNET_ROW("_contrib_AdaptiveAvgPooling2D", "global_avg_pool2d", 1,
                 .rewrite = rewrite_adaptive_pool),
    LN_MXNET_ROW("UpSampling", "upsampling", 1, .rewrite = rewrite_upsampling, .attrs = "!scale"),
    LN_MXNET_ROW("_contrib_BilinearResize2D", NULL, 1, .rewrite = rewrite_bilinear_resize),
    LN_MXNET_ROW("softmax log_softmax softmin", NULL, 1, .rewrite = rewrite_softmax),
    LN_MXNET_ROW("SoftmaxActivation", NULL, 1, .rewrite = rewrite_softmax_activation),
    {"SoftmaxOutput Softmax", LN_IN_MXNET, NULL, NULL, 1, 2, .unread = 2,
     .rewrite = rewrite_softmax_output,
     .ignored = "grad_scale ignore_label use_ignore normalization out_grad smooth_alpha"},
    OTHER_LOSS("LogisticRegressionOutput", "sigmoid(x)"),
    OTHER_LOSS("LinearRegressionOutput MAERegressionOutput SVMOutput", "x"),
    LN_MXNET_ROW("_contrib_MultiBoxPrior", "multibox_prior", 1, .rewrite = ln_nnvm_recast_same,
                 .attrs = "sizes ratios steps offsets clip"),
    {NULL},
};
