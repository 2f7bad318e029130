// SPDX-License-Identifier: Apache-2.0
// Lowers layers of MXNet to NNVM core operators. Source: the format's description, sections 9.2
// to 9.4.

#include <limits.h>
#include <string.h>

#include "front/nnvm/mxnet/ln_nnvm_core.h"
#include "front/nnvm/ln_nnvm_steps.h"

// With weights

// How many axes the windows have, 1 to 3; core alone has those of images.
static int count_axes(ln_nnvm_recast *r)
{
    ln_attr_require(&r->node.emit, "kernel");
    int axes;
    ln_attr_ints(&r->node.emit, "kernel", &axes);
    ln_nnvm_recast_lacks(r, axes != 2); // core's windows are over 2 axes
    if (axes >= 1 && axes <= 3)
        return axes;
    ln_emit_fail(&r->node.emit, "attribute 'kernel' has %d numbers, expected 1 to 3", axes);
    return 1;
}

// LightNet adds attribute `key` to core's, which means nothing where it has zeros.
static void lacks_unless_zeros(ln_nnvm_recast *r, const char *key)
{
    int len;
    const int64_t *const given = ln_attr_ints(&r->node.emit, key, &len);
    for (int i = 0; i < len; i++)
        ln_nnvm_recast_lacks(r, given[i] != 0); // core computes no further rows
}

// Weight and, unless attribute no_bias is set, bias.
static void begin_weighted(ln_nnvm_recast *r, const char *op, ln_nnvm_entry src, int without_bias)
{
    const int with_bias = ln_nnvm_has_bias(&r->node, without_bias);
    ln_nnvm_entry inputs[3] = {src, ln_nnvm_recast_weight(r, 1, "weight")};
    if (with_bias)
        inputs[2] = ln_nnvm_recast_weight(r, 2, "bias");
    ln_nnvm_recast_begin(r, op, 2 + with_bias, inputs);
    ln_nnvm_draft_set(r->draft, LN_BOOL("use_bias", with_bias));
    ln_nnvm_recast_attrs(r);
}

// `with`: its name in core. Weights have the layout of the data, with filters for the batch.
static void rewrite_conv(ln_nnvm_recast *r)
{
    static const char *const by_channel_last[] = {"OWI", "OHWI", "ODHWI"};
    const int is_transposed = !strcmp(r->row->with, "conv2d_transpose"), axes = count_axes(r);
    const char *layout = ln_attr_text(&r->node.emit, "layout", "NCHW");
    if (is_transposed) {
        lacks_unless_zeros(r, "adj");
        lacks_unless_zeros(r, "target_shape");
    }
    begin_weighted(r, r->row->with, ln_nnvm_recast_in(r, 0), is_transposed);
    if (layout[0] && layout[1] != 'C')
        ln_nnvm_draft_set(r->draft, LN_TEXT("kernel_layout", by_channel_last[axes - 1]));
    ln_nnvm_recast_out(r, 0, ln_nnvm_recast_end(r));
}

// Whether it is known to be a matrix: the result of a flatten, or of operators on one.
static int is_matrix(const ln_nnvm_recast *r, ln_nnvm_entry entry)
{
    const char *op = ln_nnvm_draft_op(r->draft, entry);
    while (!strcmp(op, "dense") || !strcmp(op, "relu") || !strcmp(op, "batch_norm") ||
           !strcmp(op, "dropout")) {
        entry = ln_nnvm_draft_input(r->draft, entry, 0);
        op = ln_nnvm_draft_op(r->draft, entry);
    }
    return !strcmp(op, "flatten");
}

// Flattens, unless it is a matrix; readers know shapes and omit that themselves.
static ln_nnvm_entry flattened(ln_nnvm_recast *r, ln_nnvm_entry src)
{
    return !r->is_reading && is_matrix(r, src) ? src : ln_nnvm_recast_unary(r, "flatten", src);
}

static void rewrite_fully_connected(ln_nnvm_recast *r)
{
    ln_nnvm_entry src = ln_nnvm_recast_in(r, 0);
    if (ln_attr_bool(&r->node.emit, "flatten", 1))
        src = flattened(r, src);
    begin_weighted(r, "dense", src, 0);
    ln_nnvm_recast_out(r, 0, ln_nnvm_recast_end(r));
}

static void rewrite_embedding(ln_nnvm_recast *r)
{
    const ln_nnvm_entry index = ln_nnvm_recast_in(r, 0);
    const ln_nnvm_entry weight = ln_nnvm_recast_weight(r, 1, "weight");
    ln_attr_require(&r->node.emit, "input_dim");
    ln_attr_require(&r->node.emit, "output_dim");
    ln_attr_dtype(&r->node.emit, "dtype", TL_FLOAT);
    ln_nnvm_recast_take(r, weight, index, 0);
}

// Normalization

static void rewrite_batchnorm(ln_nnvm_recast *r)
{
    static const char *const args[] = {"gamma", "beta", "moving_mean", "moving_var"};
    ln_nnvm_entry inputs[5] = {ln_nnvm_recast_in(r, 0)};
    for (int i = 0; i < 4; i++)
        inputs[1 + i] = ln_nnvm_recast_weight(r, 1 + i, args[i]);
    if (ln_attr_bool(&r->node.emit, "output_mean_var", 0))
        ln_emit_fail(&r->node.emit, "attribute 'output_mean_var' is True, expected False");
    ln_nnvm_recast_begin(r, "batch_norm", 5, inputs);
    ln_nnvm_draft_set(r->draft, LN_BOOL("scale", !ln_attr_bool(&r->node.emit, "fix_gamma", 1)));
    ln_nnvm_recast_attrs(r);
    ln_nnvm_recast_out(r, 0, ln_nnvm_draft_end(r->draft, 3));
}

static void rewrite_layernorm(ln_nnvm_recast *r)
{
    const double epsilon = ln_attr_number(&r->node.emit, "eps", 1e-5);
    const ln_nnvm_entry gamma = ln_nnvm_recast_weight(r, 1, "gamma");
    const ln_nnvm_entry beta = ln_nnvm_recast_weight(r, 2, "beta");
    ln_nnvm_entry x = ln_nnvm_recast_in(r, 0);
    ln_nnvm_recast_lacks(r, ln_attr_int(&r->node.emit, "axis", -1) != -1 ||
                                ln_attr_bool(&r->node.emit, "output_mean_var", 0));
    x = ln_nnvm_recast_formula(r, "normal(x, a)", x, epsilon, 0);
    x = ln_nnvm_recast_binary(r, "broadcast_mul", x, gamma);
    ln_nnvm_recast_out(r, 0, ln_nnvm_recast_binary(r, "broadcast_add", x, beta));
}

// Core's l2_normalize takes the maximum of the sum and epsilon, MXNet's adds them. The sum is
// along axis 1 (channel), or along all but 0 (instance) or 0 and 1 (spatial).
static void rewrite_l2(ln_nnvm_recast *r)
{
    static const ln_attr_word modes[] = {{"instance"}, {"channel"}, {"spatial"}, {0}};
    const char *mode = ln_attr_choose(&r->node.emit, "mode", "instance", modes);
    static const int axes[] = {0, 1};
    const int n_axes = strcmp(mode, "spatial") ? 1 : 2, is_channel = !strcmp(mode, "channel");
    const ln_nnvm_entry src = ln_nnvm_recast_in(r, 0);
    ln_nnvm_entry x = ln_nnvm_recast_binary(r, "elemwise_mul", src, src);
    x = LN_RECAST(r, "sum", LN_ENTRY(x), LN_INTS("axis", n_axes, axes + is_channel),
                  LN_BOOL("exclude", !is_channel), LN_BOOL("keepdims", 1));
    x = ln_nnvm_recast_formula(r, "sqrt(x + a)", x, ln_attr_number(&r->node.emit, "eps", 1e-10), 0);
    ln_nnvm_recast_out(r, 0, ln_nnvm_recast_binary(r, "broadcast_div", src, x));
}

// Pooling

static void begin_global_pool(ln_nnvm_recast *r, int is_max)
{
    const ln_nnvm_entry src = ln_nnvm_recast_in(r, 0);
    static const char *const unread[] = {"kernel", "stride", "pad", "pooling_convention",
                                         "count_include_pad"};
    for (size_t i = 0; i < sizeof(unread) / sizeof(unread[0]); i++)
        ln_attr_has(&r->node.emit, unread[i]); // ignored
    ln_nnvm_recast_begin(r, is_max ? "global_max_pool2d" : "global_avg_pool2d", 1, &src);
    ln_nnvm_recast_attr(r, "layout", "layout");
}

// A mean counts padding, but not elements of a window beyond it; up to 0.9.4 it is over the whole
// window, with zeros as padding.
static void begin_windows(ln_nnvm_recast *r, int is_max)
{
    static const ln_attr_word conventions[] = {{"valid", ""}, {"full"}, {0}};
    const char *full = ln_attr_choose(&r->node.emit, "pooling_convention", "valid", conventions);
    const ln_nnvm_graph *g = &r->node.model->graph;
    const int is_old = r->row->with || g->is_oldest || (g->version && g->version < 905);
    const int is_full = *full != '\0', axes = count_axes(r);
    const int counts = ln_attr_bool(&r->node.emit, "count_include_pad", 1);
    ln_nnvm_entry src = ln_nnvm_recast_in(r, 0);
    int padding[3] = {0};
    ln_attr_ints_of(&r->node.emit, "pad", axes, 0, 0, padding);
    // Where core's windows reach over the end, their means are others.
    ln_nnvm_recast_lacks(r, !is_max && counts && is_full && !is_old);
    if (is_max && is_old && !r->is_reading && (padding[0] || padding[1])) {
        const int around[] = {0, 0, padding[0], padding[1]}; // zeros, which old maxima include
        src = LN_RECAST(r, "pad", LN_ENTRY(src), LN_PAIRS("pad_width", 4, around, around));
        padding[0] = padding[1] = 0;
    }
    ln_nnvm_recast_begin(r, is_max ? "max_pool2d" : "avg_pool2d", 1, &src);
    ln_nnvm_recast_attrs(r);
    ln_nnvm_draft_set(r->draft, LN_INTS("padding", axes, padding));
    ln_nnvm_draft_set(r->draft, LN_BOOL("ceil_mode", is_full));
    if (!is_max)
        ln_nnvm_draft_set(r->draft, LN_BOOL("count_include_pad", counts));
    if (r->is_reading)
        ln_nnvm_draft_set(r->draft, is_old ? LN_BOOL("pads_zeros", 1) : LN_BOOL("is_padded", 1));
}

static void rewrite_pool(ln_nnvm_recast *r)
{
    static const ln_attr_word types[] = {{"max"}, {"avg"}, {"sum"}, {"lp"}, {0}};
    const char *type = ln_attr_choose(&r->node.emit, "pool_type", "max", types);
    const int power = ln_attr_int_in(&r->node.emit, "p_value", 2, 1, INT_MAX);
    const int is_max = !strcmp(type, "max"), is_mean = !strcmp(type, "avg");
    ln_nnvm_recast_lacks(r, !is_max && !is_mean); // core pools maxima and means only
    if (ln_attr_bool(&r->node.emit, "global_pool", 0))
        begin_global_pool(r, is_max);
    else
        begin_windows(r, is_max);
    if (!is_max && !is_mean) {
        ln_nnvm_draft_set(r->draft, LN_TEXT("pool_type", type));
        ln_nnvm_draft_set(r->draft, LN_INT("p_value", power));
    }
    ln_nnvm_recast_out(r, 0, ln_nnvm_recast_end(r));
}

static void rewrite_adaptive_pool(ln_nnvm_recast *r)
{
    int size[2];
    ln_attr_ints_of(&r->node.emit, "output_size", 2, 1, 1, size);
    ln_nnvm_recast_lacks(r, size[0] != 1 || size[1] != 1); // core's is over the whole image
    ln_nnvm_recast_same(r);
}

// Resizing

static void rewrite_upsampling(ln_nnvm_recast *r)
{
    const char *type = ln_attr_text(&r->node.emit, "sample_type", "");
    ln_nnvm_recast_lacks(r, strcmp(type, "nearest") || ln_nnvm_num_inputs(&r->node) != 1);
    ln_attr_int(&r->node.emit, "num_args", 1);
    ln_attr_text(&r->node.emit, "multi_input_mode", "concat");
    ln_attr_int(&r->node.emit, "num_filter", 0);
    ln_nnvm_recast_same(r);
}

static void rewrite_bilinear_resize(ln_nnvm_recast *r)
{
    const ln_nnvm_entry src = ln_nnvm_recast_in(r, 0);
    const int size[] = {ln_attr_int_in(&r->node.emit, "height", 1, 1, INT_MAX),
                        ln_attr_int_in(&r->node.emit, "width", 1, 1, INT_MAX)};
    // Core resizes to given sizes.
    ln_nnvm_recast_lacks(r, ln_attr_has(&r->node.emit, "scale_height") ||
                                ln_attr_has(&r->node.emit, "scale_width") ||
                                strcmp(ln_attr_text(&r->node.emit, "mode", "size"), "size"));
    ln_nnvm_recast_out(
        r, 0,
        LN_RECAST(r, "resize", LN_ENTRY(src), LN_INTS("size", 2, size),
                  LN_TEXT("method", "BILINEAR"),
                  LN_BOOL("align_corners", ln_attr_bool(&r->node.emit, "align_corners", 1))));
}

// Softmax, and the outputs of losses

static ln_nnvm_entry softmax(ln_nnvm_recast *r, const char *op, ln_nnvm_entry src, int axis)
{
    return LN_RECAST(r, op, LN_ENTRY(src), LN_INT("axis", axis));
}

// `with`: its name in core; NULL: softmax of the negated input.
static void rewrite_softmax(ln_nnvm_recast *r)
{
    const double heat = ln_attr_number(&r->node.emit, "temperature", 1);
    const int axis = ln_attr_int_in(&r->node.emit, "axis", -1, -LN_MAXDIM, LN_MAXDIM - 1);
    ln_nnvm_entry x = ln_nnvm_recast_in(r, 0);
    if (ln_attr_bool(&r->node.emit, "use_length", 0))
        ln_emit_fail(&r->node.emit, "attribute 'use_length' is True, expected False");
    if (heat != 1)
        x = ln_nnvm_recast_scalar(r, "__div_scalar__", x, heat);
    if (!r->row->with)
        x = ln_nnvm_recast_unary(r, "negative", x);
    x = softmax(r, r->row->with ? r->row->with : "softmax", x, axis);
    if (ln_attr_has(&r->node.emit, "dtype")) {
        ln_nnvm_recast_begin(r, "cast", 1, &x);
        ln_nnvm_recast_attr(r, "dtype", "dtype");
        x = ln_nnvm_recast_end(r);
    }
    ln_nnvm_recast_out(r, 0, x);
}

// Over all but the first axis as one.
static void rewrite_softmax_of_rest(ln_nnvm_recast *r, ln_nnvm_entry src)
{
    const ln_nnvm_entry rows = flattened(r, src), x = softmax(r, "softmax", rows, 1);
    const int is_same = rows.node == src.node && rows.index == src.index;
    ln_nnvm_recast_out(r, 0, is_same ? x : ln_nnvm_recast_binary(r, "reshape_like", x, src));
}

static void rewrite_softmax_activation(ln_nnvm_recast *r)
{
    static const ln_attr_word modes[] = {{"instance"}, {"channel"}, {0}};
    const char *mode = ln_attr_choose(&r->node.emit, "mode", "instance", modes);
    const ln_nnvm_entry src = ln_nnvm_recast_in(r, 0);
    if (!strcmp(mode, "channel"))
        ln_nnvm_recast_out(r, 0, softmax(r, "softmax", src, 1));
    else
        rewrite_softmax_of_rest(r, src);
}

static void rewrite_softmax_output(ln_nnvm_recast *r)
{
    const int many = ln_attr_bool(&r->node.emit, "multi_output", 0);
    const int keeps = ln_attr_bool(&r->node.emit, "preserve_shape", 0);
    const ln_nnvm_entry src = ln_nnvm_recast_in(r, 0);
    if (many || keeps)
        ln_nnvm_recast_out(r, 0, softmax(r, "softmax", src, many ? 1 : -1));
    else
        rewrite_softmax_of_rest(r, src);
}

#define CONVOLUTION(op, core, added)                                                              \
    {                                                                                             \
        op, LN_IN_MXNET, NULL, core, 2, 3,                                                        \
            .weights = 6, .ignored = " workspace cudnn_tune cudnn_off ", .rewrite = rewrite_conv, \
            .attrs = "!num_filter=channels !kernel=kernel_size stride=strides pad=padding "       \
                     "dilate=dilation num_group=groups layout" added                              \
    }
#define BATCHNORM(op)                                                      \
    LN_MXNET_ROW(op, NULL, 5, .weights = 30, .rewrite = rewrite_batchnorm, \
                 .attrs = "eps=epsilon:1e-3 axis",                         \
                 .ignored =                                                \
                     " momentum use_global_stats cudnn_off min_calib_range max_calib_range ")

// The label is not looked at.
#define LOSS(op, with, rewrite_it, training)                                                       \
    {                                                                                              \
        op, LN_IN_MXNET, NULL, with, 1, 2, .unread = 2, .rewrite = rewrite_it, .ignored = training \
    }
#define SOFTMAX_LOSS(op)                   \
    LOSS(op, NULL, rewrite_softmax_output, \
         " grad_scale ignore_label use_ignore normalization out_grad smooth_alpha ")
#define OTHER_LOSS(op, formula)            \
    LOSS(op, formula, ln_nnvm_recast_with, \
         " grad_scale margin regularization_coefficient use_linear ")

const ln_nnvm_row ln_nnvm_mxnet_rows_layers[] = {
    CONVOLUTION("Convolution", "conv2d", ""),
    CONVOLUTION("Convolution_v1", "conv2d", ""),
    CONVOLUTION("Deconvolution", "conv2d_transpose", " +adj +target_shape"),
    {"FullyConnected", LN_IN_MXNET, NULL, NULL, 2, 3, .weights = 6,
     .rewrite = rewrite_fully_connected, .attrs = "!num_hidden=units"},
    LN_MXNET_ROW("Embedding", NULL, 2, .rewrite = rewrite_embedding),
    BATCHNORM("BatchNorm"),
    BATCHNORM("BatchNorm_v1"),
    BATCHNORM("CuDNNBatchNorm"),
    LN_MXNET_ROW("LayerNorm", NULL, 3, .rewrite = rewrite_layernorm),
    LN_MXNET_ROW("LRN", "lrn", 1, .rewrite = ln_nnvm_recast_same,
                 .attrs = "!nsize=size alpha:1e-4 beta:0.75 knorm=bias:2 =axis:1"),
    LN_MXNET_ROW("L2Normalization", NULL, 1, .rewrite = rewrite_l2),
    LN_MXNET_ROW("Pooling", NULL, 1, .ignored = " cudnn_off ", .rewrite = rewrite_pool,
                 .attrs = "kernel=pool_size stride=strides layout"),
    LN_MXNET_ROW("Pooling_v1", "v1", 1, .rewrite = rewrite_pool,
                 .attrs = "kernel=pool_size stride=strides layout"),
    LN_MXNET_ROW("_contrib_AdaptiveAvgPooling2D", "global_avg_pool2d", 1,
                 .rewrite = rewrite_adaptive_pool),
    LN_MXNET_ROW("UpSampling", "upsampling", 1, .rewrite = rewrite_upsampling, .attrs = "!scale"),
    LN_MXNET_ROW("_contrib_BilinearResize2D", NULL, 1, .rewrite = rewrite_bilinear_resize),
    LN_MXNET_ROW("softmax", "softmax", 1, .rewrite = rewrite_softmax),
    LN_MXNET_ROW("log_softmax", "log_softmax", 1, .rewrite = rewrite_softmax),
    LN_MXNET_ROW("softmin", NULL, 1, .rewrite = rewrite_softmax),
    LN_MXNET_ROW("SoftmaxActivation", NULL, 1, .rewrite = rewrite_softmax_activation),
    SOFTMAX_LOSS("SoftmaxOutput"),
    SOFTMAX_LOSS("Softmax"),
    OTHER_LOSS("LogisticRegressionOutput", "sigmoid(x)"),
    OTHER_LOSS("LinearRegressionOutput", "x"),
    OTHER_LOSS("MAERegressionOutput", "x"),
    OTHER_LOSS("SVMOutput", "x"),
    LN_MXNET_ROW("_contrib_MultiBoxPrior", "multibox_prior", 1, .rewrite = ln_nnvm_recast_same,
                 .attrs = "sizes ratios steps offsets clip"),
    {NULL},
};
