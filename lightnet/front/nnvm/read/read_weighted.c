// SPDX-License-Identifier: Apache-2.0
// Convolution, and matrix multiplication with weights and of two tensors.

#include <limits.h>
#include <string.h>

#include "front/nnvm/ln_nnvm_steps.h"
#include "tensorlight/tl_util.h"

// Arguments of a convolution.
typedef struct conv {
    int axes; // 1 to 3 spatial ones
    int channels, groups, has_bias;
    int size[3], stride[3], padding[3], dilation[3], adj[3];
    ln_nnvm_layout layout, weight_layout, out_layout; // of the file
    tl_dtype dtype, out_dtype;                        // to compute in, and of the result
} conv;

static int count_axes(ln_nnvm_node *n)
{
    int axes;
    ln_attr_ints(&n->emit, "kernel_size", &axes);
    if (axes >= 1 && axes <= 3)
        return axes;
    ln_emit_fail(&n->emit, "attribute '%s' has %d numbers, expected 1 to 3",
                 ln_nnvm_key(n, "kernel_size"), axes);
    return 1;
}

static conv read_conv(ln_nnvm_node *n)
{
    static const char *const weights[] = {"OIW", "OIHW", "OIDHW"};
    conv c = {.axes = count_axes(n)};
    const char *const plain = weights[c.axes - 1], *const data = ln_nnvm_plain_layout(c.axes);
    c.channels = ln_attr_int_in(&n->emit, "channels", 1, 1, INT_MAX);
    c.groups = ln_attr_int_in(&n->emit, "groups", 1, 1, INT_MAX);
    c.has_bias = ln_nnvm_has_bias(n, 0);
    ln_attr_ints_of(&n->emit, "kernel_size", c.axes, 1, 1, c.size);
    ln_attr_ints_of(&n->emit, "strides", c.axes, 1, 1, c.stride);
    ln_attr_ints_of(&n->emit, "padding", c.axes, 0, 0, c.padding);
    ln_attr_ints_of(&n->emit, "dilation", c.axes, 1, 1, c.dilation);
    c.layout = ln_nnvm_layout_of(n, ln_attr_text(&n->emit, "layout", data), data);
    c.weight_layout = ln_nnvm_layout_of(n, ln_attr_text(&n->emit, "kernel_layout", plain), plain);
    c.out_layout = c.layout;
    if (c.channels % c.groups)
        ln_emit_fail(&n->emit, "%d channels, expected a multiple of the %d groups", c.channels,
                     c.groups);
    return c;
}

// The weights as [first, second, kernel], converted from the file's layout.
static const char *read_weight(ln_nnvm_node *n, const conv *c, int first, int second)
{
    int dims[5] = {first, second}, there[LN_MAXDIM];
    const int ndim = c->weight_layout.ndim;
    memcpy(dims + 2, c->size, (size_t)c->axes * sizeof(int));
    ln_nnvm_layout_dims(n, &c->weight_layout, dims, there);
    const char *const weight = ln_nnvm_weight(n, 1, "weight", ndim, there);
    const tl_tensor *const t = ln_nnvm_tensor_of(n, weight);
    char text[LN_MAX_SHAPE], wanted[LN_MAX_SHAPE];
    if (!ln_nnvm_failed(n) &&
        (t->ndim != ndim || memcmp(t->dims, there, (size_t)t->ndim * sizeof(int)) != 0))
        ln_emit_fail(&n->emit, "the weight has shape %s, expected %s",
                     ln_sprint_shape(text, sizeof(text), t->ndim, t->dims),
                     ln_sprint_shape(wanted, sizeof(wanted), ndim, there));
    return ln_nnvm_to_plain(n, weight, &c->weight_layout);
}

// Attribute 'out_dtype' of core: the result may have another type than the data, `own`. Dot
// products of 8- or 16-bit integers are exact in double, and then wrap to 32 bits.
static void read_types(ln_nnvm_node *n, conv *c, tl_dtype own)
{
    const char *const text = ln_attr_text(&n->emit, "out_dtype", "same");
    c->out_dtype = strcmp(text, "same") ? ln_attr_dtype(&n->emit, "out_dtype", own) : own;
    const int is_float = tl_dtype_is_float(own) && tl_dtype_is_float(c->out_dtype);
    c->dtype = is_float ? c->out_dtype : TL_DOUBLE;
}

// Begins the operator: `image`, the fast one, for 2 spatial axes, or else `any`.
static void begin_conv(ln_nnvm_node *n, const conv *c, const char *image, const char *any,
                       const char *src, const char *weight)
{
    const char *bias = c->has_bias ? ln_nnvm_weight(n, 2, "bias", 1, &c->channels) : NULL;
    src = ln_emit_cast(&n->emit, src, c->dtype, LN_EMIT_TEMP);
    weight = ln_emit_cast(&n->emit, weight, c->dtype, LN_EMIT_TEMP);
    if (bias)
        bias = ln_emit_cast(&n->emit, bias, c->dtype, LN_EMIT_TEMP);
    else if (c->axes == 2)
        bias = ln_emit_filled(&n->emit, c->dtype, 1, &c->channels, 0);
    int padding[6];
    for (int i = 0; i < c->axes; i++)
        padding[i] = padding[c->axes + i] = c->padding[i];
    LN_EMIT_BEGIN(&n->emit, c->axes == 2 ? image : any, LN_ARG("src", src),
                  LN_ARG("weight", weight), LN_ARG("bias", bias), LN_INT("group", c->groups),
                  LN_INTS("size", c->axes, c->size), LN_INTS("stride", c->axes, c->stride),
                  LN_INTS("dilation", c->axes, c->dilation),
                  LN_INTS("padding", 2 * c->axes, padding),
                  LN_ONLY_IF(c->axes == 2, LN_TEXT("autopad", "NOTSET")));
}

// Whether the result needs neither a cast nor another layout.
static int ends_plain(const conv *c)
{
    return c->dtype == c->out_dtype && ln_nnvm_is_plain(&c->out_layout);
}

// Converts `dst` to output 0, in the layout and the type of the result.
static void end_conv(ln_nnvm_node *n, const conv *c, const char *dst)
{
    const int casts = c->dtype != c->out_dtype;
    if (ends_plain(c))
        return;
    dst = ln_nnvm_from_plain(n, dst, &c->out_layout, casts ? LN_EMIT_TEMP : 0);
    if (casts && !tl_dtype_is_float(c->out_dtype)) // wraps
        dst = ln_emit_cast(&n->emit, dst, TL_INT64, LN_EMIT_TEMP);
    if (casts)
        ln_emit_cast(&n->emit, dst, c->out_dtype, 0);
}

static void translate_conv(ln_nnvm_node *n)
{
    conv c = read_conv(n);
    // The result of core's conv2d may have another layout.
    const char *const out_layout = ln_attr_text(&n->emit, "out_layout", "__undef__");
    if (*out_layout && strcmp(out_layout, "__undef__"))
        c.out_layout = ln_nnvm_layout_of(n, out_layout, ln_nnvm_plain_layout(c.axes));
    const char *const src = ln_nnvm_to_plain(n, ln_nnvm_in(n, 0), &c.layout);
    const tl_tensor *const t = ln_nnvm_tensor_of(n, src);
    read_types(n, &c, t->dtype);
    if (ln_nnvm_failed(n))
        return;
    if (t->dims[1] % c.groups)
        ln_emit_fail(&n->emit, "its data has %d channels, expected a multiple of the %d groups",
                     t->dims[1], c.groups);
    const char *const weight = read_weight(n, &c, c.channels, t->dims[1] / c.groups);
    begin_conv(n, &c, LN_OP_CONV2D, LN_OP_CONVND, src, weight);
    end_conv(n, &c, ln_emit_end(&n->emit, "dst", ends_plain(&c) ? 0 : LN_EMIT_TEMP));
}

// Sets the padding that results in MXNet's target_shape.
static void apply_target(ln_nnvm_node *n, conv *c, const tl_tensor *src)
{
    int target[3];
    ln_attr_ints_of(&n->emit, "target_shape", c->axes, 0, 0, target);
    for (int i = 0; i < c->axes && !ln_nnvm_failed(n); i++) {
        if (!target[i])
            continue;
        const int64_t total = (int64_t)c->stride[i] * (src->dims[2 + i] - 1) +
                              (int64_t)c->dilation[i] * (c->size[i] - 1) + 1 - target[i];
        if (total < 0 || total > INT_MAX - 1) {
            ln_emit_fail(&n->emit, "attribute 'target_shape' has %d, expected at most %lld",
                         target[i], (long long)total + target[i]);
            return;
        }
        c->adj[i] = (int)(total % 2);
        c->padding[i] = (int)((total + 1) / 2);
    }
}

// Core pads output_padding with zeros after the bias; MXNet computes those elements.
static void end_deconv(ln_nnvm_node *n, const conv *c)
{
    const int computed = ln_nnvm_was_mxnet(n), none[5] = {0};
    int after[5] = {0}, pads = 0;
    ln_emit_set(&n->emit, LN_INTS("output_padding", c->axes, computed ? c->adj : none));
    if (c->axes == 2)
        ln_emit_set(&n->emit, LN_INTS("output_dims", 4, none));
    for (int i = 0; i < c->axes; i++)
        pads |= (after[2 + i] = computed ? 0 : c->adj[i]) != 0;
    const int is_last = ends_plain(c);
    const char *dst = ln_emit_end(&n->emit, "dst", pads || !is_last ? LN_EMIT_TEMP : 0);
    if (pads) {
        dst = LN_EMIT(&n->emit, is_last ? 0 : LN_EMIT_TEMP, LN_OP_PAD, LN_ARG("src", dst),
                      LN_INTS("before", c->axes + 2, none), LN_INTS("after", c->axes + 2, after));
    }
    end_conv(n, c, dst);
}

static void translate_deconv(ln_nnvm_node *n)
{
    conv c = read_conv(n);
    ln_attr_ints_of(&n->emit, ln_nnvm_was_mxnet(n) ? "adj" : "output_padding", c.axes, 0, 0, c.adj);
    const char *const src = ln_nnvm_to_plain(n, ln_nnvm_in(n, 0), &c.layout);
    const tl_tensor *const t = ln_nnvm_tensor_of(n, src);
    if (ln_nnvm_failed(n))
        return;
    if (ln_nnvm_was_mxnet(n))
        apply_target(n, &c, t);
    read_types(n, &c, t->dtype);
    const char *const weight = read_weight(n, &c, t->dims[1], c.channels / c.groups);
    begin_conv(n, &c, LN_OP_DECONV2D, LN_OP_DECONVND, src, weight);
    end_deconv(n, &c);
}

// data x weight^T + bias along the last axis.
static void emit_dense(ln_nnvm_node *n, const char *src, int units, int with_bias)
{
    const tl_tensor *t = ln_nnvm_tensor_of(n, src);
    const tl_dtype own = t->dtype, dtype = !tl_dtype_is_float(own) ? TL_DOUBLE : own;
    const int ndim = t->ndim;
    int dims[LN_MAXDIM];
    if (ln_nnvm_failed(n))
        return;
    if (!ndim) {
        ln_emit_fail(&n->emit, "its data is a scalar, expected at least 1 dimension");
        return;
    }
    memcpy(dims, t->dims, (size_t)ndim * sizeof(int));
    const int rest = dims[ndim - 1] ? t->len / dims[ndim - 1] : 0;
    const int weight_dims[] = {units, dims[ndim - 1]}, flat[] = {rest, dims[ndim - 1]};
    const char *weight = ln_nnvm_weight(n, 1, "weight", 2, weight_dims);
    const char *bias = with_bias ? ln_nnvm_weight(n, 2, "bias", 1, &units) : NULL;
    const int needs_shape = ndim != 2, needs_cast = dtype != own;
    src = needs_shape ? ln_emit_reshape(&n->emit, src, 2, flat, LN_EMIT_TEMP) : src;
    src = ln_emit_cast(&n->emit, src, dtype, LN_EMIT_TEMP);
    weight = ln_emit_cast(&n->emit, weight, dtype, LN_EMIT_TEMP);
    bias = bias ? ln_emit_cast(&n->emit, bias, dtype, LN_EMIT_TEMP) : NULL;
    const char *dst = LN_EMIT(&n->emit, needs_shape || needs_cast ? LN_EMIT_TEMP : 0, LN_OP_MATMUL,
                              LN_ARG("src1", src), LN_ARG("src2", weight), LN_ARG("bias", bias),
                              LN_BOOL("trans2", 1));
    dims[ndim - 1] = units;
    if (needs_cast) {
        dst = ln_emit_cast(&n->emit, dst, TL_INT64, LN_EMIT_TEMP); // wraps
        dst = ln_emit_cast(&n->emit, dst, own, needs_shape ? LN_EMIT_TEMP : 0);
    }
    if (needs_shape)
        ln_emit_reshape(&n->emit, dst, ndim, dims, 0);
}

static void translate_dense(ln_nnvm_node *n)
{
    emit_dense(n, ln_nnvm_in(n, 0), ln_attr_int_in(&n->emit, "units", 1, 1, INT_MAX),
               ln_nnvm_has_bias(n, 0));
}

static void translate_batch_dot(ln_nnvm_node *n)
{
    const char *const a = ln_nnvm_in(n, 0), *const b = ln_nnvm_in(n, 1);
    if (ln_nnvm_tensor_of(n, a)->ndim != 3 || ln_nnvm_tensor_of(n, b)->ndim != 3)
        ln_emit_fail(&n->emit, "operands of %d and %d dimensions, expected 3",
                     ln_nnvm_tensor_of(n, a)->ndim, ln_nnvm_tensor_of(n, b)->ndim);
    const int trans1 = ln_attr_bool(&n->emit, "transpose_a", 0),
              trans2 = ln_attr_bool(&n->emit, "transpose_b", 0);
    ln_nnvm_matmul(n, a, b, trans1, trans2, 0);
}

// An operand of `dot` as a matrix: the contracted axis, and all others as one.
typedef struct operand {
    const char *matrix;
    int is_first; // the contracted axis comes first
    int n_others, others[LN_MAXDIM];
} operand;

// The contracted axis is the first or the last, if transposed the other of the two. To transpose,
// core reverses all axes, MXNet swaps the contracted axis and the group of all others.
static operand read_operand(ln_nnvm_node *n, int i, int is_first, const char *key)
{
    const char *src = ln_nnvm_in(n, i);
    int dims[LN_MAXDIM], reversed[LN_MAXDIM];
    const int ndim = ln_nnvm_copy_dims(n, src, dims), transposed = ln_attr_bool(&n->emit, key, 0);
    operand o = {.is_first = transposed ? !is_first : is_first};
    if (!ndim) {
        ln_emit_fail(&n->emit, "operand %d is a scalar, expected at least 1 dimension", i);
        return o;
    }
    if (transposed && ndim > 2 && !ln_nnvm_was_mxnet(n)) {
        for (int k = 0; k < ndim; k++)
            reversed[k] = ndim - 1 - k;
        src = ln_emit_transpose(&n->emit, src, reversed, LN_EMIT_TEMP);
        ln_nnvm_copy_dims(n, src, dims);
        o.is_first = is_first;
    }
    o.n_others = ndim - 1;
    memcpy(o.others, dims + o.is_first, (size_t)o.n_others * sizeof(int));
    const int len = dims[o.is_first ? 0 : ndim - 1], rest = tl_compute_length(ndim - 1, o.others);
    const int flat[] = {o.is_first ? len : rest, o.is_first ? rest : len};
    o.matrix = ndim == 2 ? src : ln_emit_reshape(&n->emit, src, 2, flat, LN_EMIT_TEMP);
    return o;
}

// Contracts the last axis of a and the first of b.
static void translate_dot(ln_nnvm_node *n)
{
    const operand a = read_operand(n, 0, 0, "transpose_a"),
                  b = read_operand(n, 1, 1, "transpose_b");
    int dims[2 * LN_MAXDIM] = {1};
    const int ndim = a.n_others + b.n_others;
    if (ndim > LN_MAXDIM)
        ln_emit_fail(&n->emit, "a product of %d dimensions, expected at most %d", ndim, LN_MAXDIM);
    if (ln_nnvm_failed(n))
        return;
    memcpy(dims, a.others, (size_t)a.n_others * sizeof(int));
    memcpy(dims + a.n_others, b.others, (size_t)b.n_others * sizeof(int));
    const int is_matrix = a.n_others == 1 && b.n_others == 1;
    const char *const dst = ln_nnvm_matmul(n, a.matrix, b.matrix, a.is_first, !b.is_first,
                                           is_matrix ? 0 : LN_EMIT_TEMP);
    if (!is_matrix)
        ln_emit_reshape(&n->emit, dst, ndim ? ndim : 1, dims, 0);
}

const ln_nnvm_row ln_nnvm_rows_weighted[] = {
    {"conv2d", LN_IN_CORE, translate_conv, NULL, 2, 3, .weights = 6,
     .needs = "kernel_size channels"},
    {"conv2d_transpose", LN_IN_CORE, translate_deconv, NULL, 2, 3, .weights = 6,
     .needs = "kernel_size channels"},
    {"dense", LN_IN_CORE, translate_dense, NULL, 2, 3, .weights = 6, .needs = "units"},
    {"matmul", LN_IN_CORE, translate_dot, NULL, 2, 2},
    {"batch_dot", LN_IN_MXNET, translate_batch_dot, NULL, 2, 2, .ignored = "forward_stype"},
    {NULL},
};
