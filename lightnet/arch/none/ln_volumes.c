// SPDX-License-Identifier: Apache-2.0
// 3-D convolutions as sums of 2-D convolutions: a handwritten rule, since it creates one operator
// per depth index of the kernel (lines.opt).
//
// The slices of a volume, one for each depth, are images of a batch: [N, C, D, H, W] becomes [N, D,
// C, H, W]. A kernel of depth K is K 2-D kernels; each convolves as many slices as the result
// has:
//
//     slices      0 0 1 2 3 4 0 0     with padding, D + 4
//     kernel 0   [. . . . .]          D results each, which are added up
//     kernel 1     [. . . . .]
//     kernel 2       [. . . . .]
//
// For few channels, one convolution has the joined channels of all kernels' images, so
// that the result is written once.
//
// These are usual 2-D convolutions: with blocks of channels, algorithms with fewer multiplications,
// and fused sums.
//
// A kernel of width and height 1 needs less: [N, C, D, H * W] is an image.
//
// A transposed convolution with the stride S along the depth computes each S-th slice of the result
// from each S-th kernel. These are S sums as above, whose results alternate:
//
//     result      0 1 2 3 4 5         S = 2, a kernel of depth 4
//     even        . - . - . -         kernels 0 and 2
//     odd         - . - . - .         kernels 1 and 3

#include "ln_rules_none.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "lightnet/ln_pass.h"
#include "lightnet/ln_rule.h"
#include "lightnet/ln_util.h"

enum { AXES = 3, MAX_PHASES = 16, MAX_CHANNELS = 16, MAX_KERNELS = 32 };

// A 3-D convolution.
typedef struct volume {
    const ln_op *op;
    const ln_tensor_entry *x, *w, *bias, *y; // bias: or NULL
    const int *size, *stride, *dilation;     // [AXES]
    const int *padding;                      // [2 * AXES]
    const int *output_padding;               // [AXES], of a transposed one; or NULL
    int is_open;                             // the batch is known only at run time
} volume;

static int read_params(volume *v)
{
    int n[4] = {0};
    v->size = ln_op_ints(v->op, "size", &n[0]);
    v->stride = ln_op_ints(v->op, "stride", &n[1]);
    v->dilation = ln_op_ints(v->op, "dilation", &n[2]);
    v->padding = ln_op_ints(v->op, "padding", &n[3]);
    return v->size && v->stride && v->dilation && v->padding && n[0] == AXES && n[1] == AXES &&
           n[2] == AXES && n[3] == 2 * AXES;
}

// Negative padding crops.
static int only_pads(const volume *v)
{
    for (int i = 0; i < 2 * AXES; i++)
        if (v->padding[i] < 0)
            return 0;
    return 1;
}

static int is_transposed(const volume *v)
{
    return ln_op_is(v->op, LN_OP_DECONVND);
}

// Whether each slice of the result depends on the source: not on padding alone, or, if transposed,
// on nothing. Reads output_padding.
static int is_depth_supported(volume *v)
{
    int n = 0;
    const int64_t reach = (v->size[0] - 1) * (int64_t)v->dilation[0];
    // Each kernel costs operators, and padding costs memory.
    if (v->size[0] > MAX_KERNELS || v->padding[0] > MAX_KERNELS || v->padding[AXES] > MAX_KERNELS)
        return 0;
    if (!is_transposed(v))
        return v->padding[0] <= reach && v->padding[AXES] <= reach;
    v->output_padding = ln_op_ints(v->op, "output_padding", &n);
    return v->output_padding && n == AXES && v->dilation[0] == 1 && v->size[0] >= v->stride[0] &&
           v->stride[0] <= MAX_PHASES;
}

static int fits(const ln_op *op, volume *v)
{
    *v = (volume){.op = op, .is_open = ln_op_is_dynamic(op)};
    return (ln_op_is(op, LN_OP_CONVND) || is_transposed(v)) && !ln_op_is_dynamic_beyond_batch(op) &&
           ln_op_reads(op, "src", &v->x) && ln_op_reads(op, "weight", &v->w) &&
           ln_op_may_read(op, "bias", &v->bias) && ln_op_makes(op, "dst", &v->y) &&
           v->x->tensor->dtype == TL_FLOAT && v->x->tensor->ndim == 2 + AXES && v->w->isconst &&
           (!v->bias || v->bias->isconst) && v->x->tensor->len > 0 && v->y->tensor->len > 0 &&
           read_params(v) && only_pads(v) && is_depth_supported(v);
}

// Whether the kernel has size 1, stride 1 and no padding along the axis.
static int is_point(const volume *v, int axis)
{
    return v->size[axis] == 1 && v->stride[axis] == 1 && v->padding[axis] == 0 &&
           v->padding[AXES + axis] == 0;
}

// Creating operators: each function returns the name of the output, `dst` or, if NULL, a new one

static const char *output(ln_rule_made *made, const char *dst)
{
    const char *const name = dst ? dst : ln_rule_tensor(made, "volume");
    ln_rule_output(made, "dst", name);
    return name;
}

// For constants and fixed batch sizes.
static const char *make_reshape(ln_rule_made *made, const char *src, const char *dst, int ndim,
                                const int *dims)
{
    ln_rule_op(made, LN_OP_RESHAPE);
    ln_rule_input(made, "src", src);
    ln_rule_ints(made, "dims", ndim, dims);
    return output(made, dst);
}

// dims[0] is for the max batch size; an open one is inferred from the other dimensions.
static const char *make_view(ln_rule_made *made, const volume *v, const char *src, const char *dst,
                             int ndim, const int *dims)
{
    int open[LN_MAXDIM] = {-1};
    if (!v->is_open)
        return make_reshape(made, src, dst, ndim, dims);
    memcpy(open + 1, dims + 1, (size_t)(ndim - 1) * sizeof(*dims));
    ln_rule_op(made, LN_OP_VIEW);
    ln_rule_input(made, "src", src);
    ln_rule_ints(made, "dims", ndim, open);
    return output(made, dst);
}

static const char *make_transpose(ln_rule_made *made, const char *src, const char *dst,
                                  const int axes[2 + AXES])
{
    ln_rule_op(made, LN_OP_TRANSPOSE);
    ln_rule_input(made, "src", src);
    ln_rule_ints(made, "axes", 2 + AXES, axes);
    return output(made, dst);
}

static const char *make_slice(ln_rule_made *made, const char *src, int axis, int start, int len)
{
    ln_rule_op(made, LN_OP_SLICE);
    ln_rule_input(made, "src", src);
    ln_rule_number(made, "axis", axis);
    ln_rule_number(made, "start", start);
    ln_rule_number(made, "len", len);
    return output(made, NULL);
}

// Of axis 1, the depth of [N, D, ..].
static const char *make_strided_slice(ln_rule_made *made, const char *src, int start, int len,
                                      int step)
{
    ln_rule_op(made, LN_OP_STRIDE_SLICE);
    ln_rule_input(made, "src", src);
    ln_rule_ints(made, "axes", 1, (int[]){1});
    ln_rule_ints(made, "starts", 1, (int[]){start});
    ln_rule_ints(made, "ends", 1, (int[]){start + (len - 1) * step + 1});
    ln_rule_ints(made, "steps", 1, &step);
    return output(made, NULL);
}

static const char *make_sum(ln_rule_made *made, const char *src1, const char *src2)
{
    ln_rule_op(made, LN_OP_BINARY);
    ln_rule_input(made, "src1", src1);
    ln_rule_input(made, "src2", src2);
    ln_rule_string(made, "op", "TL_BINARY_ADD");
    return output(made, NULL);
}

// Sets the window of an image convolution to that of the volume along axes `a` and `b`.
static void set_window(ln_rule_made *made, const volume *v, int a, int b)
{
    ln_rule_param(made, "group", v->op, "group");
    ln_rule_ints(made, "size", 2, (int[]){v->size[a], v->size[b]});
    ln_rule_ints(made, "stride", 2, (int[]){v->stride[a], v->stride[b]});
    ln_rule_ints(made, "dilation", 2, (int[]){v->dilation[a], v->dilation[b]});
    ln_rule_ints(made, "padding", 4,
                 (int[]){v->padding[a], v->padding[b], v->padding[AXES + a], v->padding[AXES + b]});
    ln_rule_string(made, "autopad", "NOTSET");
}

// A 2-D convolution along `axis` and the width: of slices if `axis` is 1; if it is 0, of images
// whose height is the depth.
static const char *make_conv(ln_rule_made *made, const volume *v, const char *src,
                             const char *weight, const char *bias, int axis)
{
    ln_rule_op(made, is_transposed(v) ? LN_OP_DECONV2D : LN_OP_CONV2D);
    ln_rule_input(made, "src", src);
    ln_rule_input(made, "weight", weight);
    ln_rule_input(made, "bias", bias);
    set_window(made, v, axis, 2);
    if (is_transposed(v)) {
        ln_rule_ints(made, "output_padding", 2,
                     (int[]){v->output_padding[axis], v->output_padding[2]});
        ln_rule_ints(made, "output_dims", 4, (int[]){0, 0, 0, 0});
    }
    return output(made, NULL);
}

static const char *zero_bias(ln_rule_made *made, const volume *v)
{
    ln_rule_op(made, LN_OP_SOURCE);
    ln_rule_string(made, "dtype", "TL_FLOAT");
    ln_rule_ints(made, "dims", 1, &v->y->tensor->dims[1]);
    ln_rule_numbers(made, "data", 1, (double[]){0});
    return output(made, NULL);
}

static const char *bias_of(ln_rule_made *made, const volume *v)
{
    return v->bias ? v->bias->name : zero_bias(made, v);
}

// Kernels [K, 1, 1]

static void make_deep_images(ln_rule_made *made, const volume *v)
{
    const int *const x = v->x->tensor->dims, *const w = v->w->tensor->dims;
    const char *const src =
        make_view(made, v, v->x->name, NULL, 4, (int[]){x[0], x[1], x[2], x[3] * x[4]});
    const char *const weight = make_reshape(made, v->w->name, NULL, 4, w);
    const char *const sum = make_conv(made, v, src, weight, bias_of(made, v), 0);
    make_view(made, v, sum, v->y->name, 2 + AXES, v->y->tensor->dims);
}

// Slices

static const int depth_first[2 + AXES] = {0, 2, 1, 3, 4}; // swaps depth and channels

// The slices of the source with padding, [N, n, C, H, W].
typedef struct slices {
    const char *name;
    int n;
} slices;

static slices make_slices(ln_rule_made *made, const volume *v, int n_before, int n_after)
{
    const int before[2 + AXES] = {0, n_before}, after[2 + AXES] = {0, n_after};
    const char *const swapped = make_transpose(made, v->x->name, NULL, depth_first);
    const int n = v->x->tensor->dims[2] + n_before + n_after;
    if (!n_before && !n_after)
        return (slices){swapped, n};
    ln_rule_op(made, LN_OP_PAD);
    ln_rule_input(made, "src", swapped);
    ln_rule_ints(made, "before", 2 + AXES, before);
    ln_rule_ints(made, "after", 2 + AXES, after);
    ln_rule_string(made, "mode", "TL_PAD_CONSTANT");
    return (slices){output(made, NULL), n};
}

// The images of `len` slices, `step` apart. Those of a single volume are contiguous: a slice of all
// its images is inserted, so that these are converted to blocks of channels only once.
static const char *images_of(ln_rule_made *made, const volume *v, const slices *all, int start,
                             int len, int step)
{
    const int *const x = v->x->tensor->dims;
    const int images[] = {len * x[0], x[1], x[3], x[4]};
    if (step != 1)
        return make_view(made, v, make_strided_slice(made, all->name, start, len, step), NULL, 4,
                         images);
    if (len == all->n)
        return make_view(made, v, all->name, NULL, 4, images);
    if (x[0] > 1 || v->is_open)
        return make_view(made, v, make_slice(made, all->name, 1, start, len), NULL, 4, images);
    const char *const whole =
        make_view(made, v, all->name, NULL, 4, (int[]){all->n, x[1], x[3], x[4]});
    return make_slice(made, whole, 0, start, len);
}

static const char *weight_of(ln_rule_made *made, const volume *v, int k)
{
    const int *const w = v->w->tensor->dims;
    const char *const one = v->size[0] == 1 ? v->w->name : make_slice(made, v->w->name, 2, k, 1);
    return make_reshape(made, one, NULL, 4, (int[]){w[0], w[1], w[3], w[4]});
}

// `sum` (NULL: none yet) plus the convolution of the images with kernel `k`.
static const char *add_kernel(ln_rule_made *made, const volume *v, const char *sum,
                              const char *images, int k)
{
    const char *const bias = sum ? zero_bias(made, v) : bias_of(made, v);
    const char *const part = make_conv(made, v, images, weight_of(made, v, k), bias, 1);
    return sum ? make_sum(made, part, sum) : part;
}

// From [N, D, C, H, W].
static void make_volumes(ln_rule_made *made, const volume *v, const char *swapped)
{
    const int *const y = v->y->tensor->dims;
    const char *const volumes =
        make_view(made, v, swapped, NULL, 2 + AXES, (int[]){y[0], y[2], y[1], y[3], y[4]});
    make_transpose(made, volumes, v->y->name, depth_first);
}

// Convolutions

// The images of all kernels, with joined channels.
static const char *all_images(ln_rule_made *made, const volume *v, const slices *all)
{
    const int *const x = v->x->tensor->dims;
    const int depth = v->y->tensor->dims[2], n = v->size[0];
    const char *parts[MAX_CHANNELS];
    char arg_name[16];
    for (int k = 0; k < n; k++)
        parts[k] = v->stride[0] != 1 ? make_strided_slice(made, all->name, k * v->dilation[0],
                                                          depth, v->stride[0])
                                     : make_slice(made, all->name, 1, k * v->dilation[0], depth);
    ln_rule_op(made, LN_OP_JOIN);
    for (int k = 0; k < n; k++) {
        snprintf(arg_name, sizeof(arg_name), "src%d", k);
        ln_rule_input(made, arg_name, parts[k]);
    }
    ln_rule_number(made, "axis", 2);
    return make_view(made, v, output(made, NULL), NULL, 4,
                     (int[]){x[0] * depth, n * x[1], x[3], x[4]});
}

// For few channels: one convolution of the joined channels of all kernels' images.
static void make_joined(ln_rule_made *made, const volume *v)
{
    const int *const w = v->w->tensor->dims;
    const slices all = make_slices(made, v, v->padding[0], v->padding[AXES]);
    const char *const images = all_images(made, v, &all);
    const char *const swapped = make_transpose(made, v->w->name, NULL, depth_first);
    const char *const weight =
        make_reshape(made, swapped, NULL, 4, (int[]){w[0], w[2] * w[1], w[3], w[4]});
    make_volumes(made, v, make_conv(made, v, images, weight, bias_of(made, v), 1));
}

static void make_images(ln_rule_made *made, const volume *v)
{
    const slices all = make_slices(made, v, v->padding[0], v->padding[AXES]);
    const int depth = v->y->tensor->dims[2];
    const char *sum = NULL;
    for (int k = 0; k < v->size[0]; k++) {
        const char *const images =
            images_of(made, v, &all, k * v->dilation[0], depth, v->stride[0]);
        sum = add_kernel(made, v, sum, images, k);
    }
    make_volumes(made, v, sum);
}

// Transposed convolutions

// Slice i of phase k is slice i * stride + k of the result, before the padding crops it. Slices
// first .. first + n - 1 of each phase are computed.
typedef struct phases {
    int first, n;
    slices all;
    int before; // slices of padding before the source's
} phases;

static phases phases_of(ln_rule_made *made, const volume *v)
{
    const int cut = v->padding[0], stride = v->stride[0], depth = v->y->tensor->dims[2];
    const int first = cut / stride, end = (cut + depth - 1) / stride + 1;
    const int reach = (v->size[0] - 1) / stride; // slices before, read by a phase's last kernel
    const int before = reach > first ? reach - first : 0;
    const int after = end > v->x->tensor->dims[2] ? end - v->x->tensor->dims[2] : 0;
    return (phases){first, end - first, make_slices(made, v, before, after), before};
}

static int slice_size(const volume *v)
{
    const int *const y = v->y->tensor->dims;
    return y[1] * y[3] * y[4];
}

// The sum of kernels k + j * stride, of which slice i reads slice i - j: [N, n, 1, slice size].
static const char *make_phase(ln_rule_made *made, const volume *v, const phases *t, int k)
{
    const char *sum = NULL;
    for (int j = 0; k + j * v->stride[0] < v->size[0]; j++) {
        const char *const images = images_of(made, v, &t->all, t->first - j + t->before, t->n, 1);
        sum = add_kernel(made, v, sum, images, k + j * v->stride[0]);
    }
    return make_view(made, v, sum, NULL, 4, (int[]){v->y->tensor->dims[0], t->n, 1, slice_size(v)});
}

// All phases: [N, n, stride, slice size].
static const char *make_all_phases(ln_rule_made *made, const volume *v, const phases *t)
{
    const char *parts[MAX_PHASES];
    char arg_name[16];
    if (v->stride[0] == 1)
        return make_phase(made, v, t, 0);
    for (int k = 0; k < v->stride[0]; k++)
        parts[k] = make_phase(made, v, t, k);
    ln_rule_op(made, LN_OP_JOIN);
    for (int k = 0; k < v->stride[0]; k++) {
        snprintf(arg_name, sizeof(arg_name), "src%d", k);
        ln_rule_input(made, arg_name, parts[k]);
    }
    ln_rule_number(made, "axis", 2);
    return output(made, NULL);
}

static void make_transposed(ln_rule_made *made, const volume *v)
{
    const int *const y = v->y->tensor->dims;
    const phases t = phases_of(made, v);
    const int n = t.n * v->stride[0], start = v->padding[0] - t.first * v->stride[0];
    const char *const all =
        make_view(made, v, make_all_phases(made, v, &t), NULL, 3, (int[]){y[0], n, slice_size(v)});
    make_volumes(made, v, n == y[2] ? all : make_slice(made, all, 1, start, y[2]));
}

// Replaces convnd and deconvnd of floats over three axes, with constant weights, by 2-D
// convolutions; a transposed one must not have dilation along the depth.
ln_list *ln_volumes_as_images(const ln_context *ctx, ln_list **old_ops)
{
    volume v;
    ln_rule_made made = {.ctx = ctx, .rule = "volumes_as_images"};
    const ln_op *op = ln_pass_rule_begins(ctx, made.rule) ? ln_rule_anchor(ctx, NULL) : NULL;
    while (op && !fits(op, &v))
        op = ln_rule_anchor(ctx, op);
    *old_ops = NULL;
    if (!op)
        return NULL;
    const int has_few_channels = v.size[0] > 1 && v.size[0] <= MAX_CHANNELS &&
                                 ln_op_int(v.op, "group") == 1 &&
                                 v.x->tensor->dims[1] * (int64_t)v.size[0] <= MAX_CHANNELS;
    if (is_transposed(&v))
        make_transposed(&made, &v);
    else if (is_point(&v, 1) && is_point(&v, 2))
        make_deep_images(&made, &v);
    else if (has_few_channels)
        make_joined(&made, &v);
    else
        make_images(&made, &v);
    return ln_rule_end_subgraph(&made, (const ln_op *const[]){op, NULL}, old_ops);
}
