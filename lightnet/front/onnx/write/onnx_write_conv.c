// SPDX-License-Identifier: Apache-2.0
// Writing convolutions and pools.

#include <limits.h>
#include <string.h>

#include "front/onnx/write/ln_onnx_write.h"
#include "ir/ln_sizes.h"
#include "lightnet/ln_util.h"
#include "tensorlight/tl_shape.h"

enum { AXES = LN_MAXDIM - 2 };

// Windows over the axes after the first two.
typedef struct windows {
    int n;
    int size[AXES], stride[AXES], dilation[AXES];
    int output_padding[AXES]; // of a transposed convolution
    int padding[2 * AXES];    // before each axis, then after each
    const char *autopad;      // SAME_*, where open sizes determine the padding; or NULL
} windows;

static void read_ints(const ln_onnx_op *n, const char *param, int deflt, int len, int *values)
{
    int n_given;
    const int *const given = ln_op_ints(n->op, param, &n_given);
    for (int i = 0; i < len; i++)
        values[i] = given && i < n_given ? given[i] : deflt;
}

static int is_open(const ln_onnx_op *n, int is_transposed)
{
    const tl_tensor *const src = ln_onnx_op_tensor(n, "src");
    const ln_tensor_entry *const te = ln_op_input(n->op, "src");
    int opens = 0;
    for (int i = 2; te && i < src->ndim; i++)
        opens |= ln_sizes_is_open(te, i);
    return opens && !is_transposed;
}

// Only operators of images have the parameter `autopad`.
static void read_padding(ln_onnx_op *n, windows *w, int is_transposed)
{
    const char *const mode = ln_op_string(n->op, "autopad");
    const int *const in = ln_onnx_op_tensor(n, "src")->dims + 2;
    const int *const out = ln_onnx_op_tensor(n, "dst")->dims + 2;
    read_ints(n, "padding", 0, 2 * w->n, w->padding);
    if (!*mode)
        return;
    if (strstr(mode, "SAME") == mode && is_open(n, is_transposed)) {
        w->autopad = mode;
        return;
    }
    // Cannot fail: the operator has computed the same.
    if (is_transposed)
        ln_autopadding_deconv(w->padding, in, w->size, w->stride, w->output_padding, w->dilation,
                              out, w->n, mode);
    else
        ln_autopadding_conv(w->padding, in, w->size, w->stride, w->dilation, w->n, mode);
}

static windows read_windows(ln_onnx_op *n, int is_transposed)
{
    windows w = {.n = ln_onnx_op_tensor(n, "src")->ndim - 2};
    read_ints(n, "size", 1, w.n, w.size);
    read_ints(n, "stride", 1, w.n, w.stride);
    read_ints(n, "dilation", 1, w.n, w.dilation);
    read_ints(n, "output_padding", 0, w.n, w.output_padding);
    read_padding(n, &w, is_transposed);
    return w;
}

static int has_dilation(const windows *w)
{
    for (int i = 0; i < w->n; i++)
        if (w->dilation[i] != 1)
            return 1;
    return 0;
}

// The attributes of windows.
#define WINDOWS(w)                                                                       \
    LN_INTS("kernel_shape", (w)->n, (w)->size), LN_INTS("strides", (w)->n, (w)->stride), \
        LN_ONLY_IF(has_dilation(w), LN_INTS("dilations", (w)->n, (w)->dilation)),        \
        (w)->autopad ? LN_TEXT("auto_pad", (w)->autopad)                                 \
                     : LN_INTS("pads", 2 * (w)->n, (w)->padding)

// Convolutions

// Crops the elements that negative padding removes, and sets that padding to 0.
static const char *crop(ln_onnx_op *n, const char *src, windows *w)
{
    for (int i = 0; i < w->n; i++) {
        int *const before = &w->padding[i], *const after = &w->padding[w->n + i];
        if (*before < 0 || *after < 0)
            src = ln_onnx_put_slice(n, src, 2 + i, *before < 0 ? -*before : 0,
                                    *after < 0 ? *after : INT_MAX);
        *before = *before > 0 ? *before : 0;
        *after = *after > 0 ? *after : 0;
    }
    return src;
}

static void write_conv(ln_onnx_op *n)
{
    windows w = read_windows(n, 0);
    const char *const src = crop(n, ln_onnx_op_in(n, "src"), &w);
    LN_ONNX_WRITE_FORM(n, LN_ARG("src", src), WINDOWS(&w));
}

// Pads the source with zeros in place of negative padding, which enlarges the result.
static const char *enlarge(ln_onnx_op *n, const char *src, windows *w)
{
    int pads[2 * LN_MAXDIM] = {0}, adds = 0;
    const int ndim = w->n + 2;
    for (int i = 0; i < 2 * w->n; i++) {
        const int axis = i % w->n, stride = w->stride[axis];
        const int64_t lack = w->padding[i] < 0 ? -(int64_t)w->padding[i] : 0;
        const int64_t count = (lack + stride - 1) / stride;
        pads[(i < w->n ? 0 : ndim) + 2 + axis] = (int)count;
        w->padding[i] = (int)(w->padding[i] + count * stride);
        adds |= count > 0;
    }
    if (!adds)
        return src;
    return LN_ONNX_PUT(n, "Pad", LN_ONNX_SRC(src),
                       LN_ONNX_SRC(ln_onnx_put_ints(n, 2 * ndim, pads)));
}

static void write_deconv(ln_onnx_op *n)
{
    windows w = read_windows(n, 1);
    const char *const src = enlarge(n, ln_onnx_op_in(n, "src"), &w);
    LN_ONNX_WRITE_FORM(n, LN_ARG("src", src), WINDOWS(&w),
                       LN_INTS("output_padding", w.n, w.output_padding));
}

static void write_conv_int(ln_onnx_op *n)
{
    windows w = read_windows(n, 0);
    const char *const src = crop(n, ln_onnx_op_in(n, "src"), &w);
    const char *const bias = ln_onnx_op_optional(n, "bias");
    const char *const sums =
        LN_ONNX_PUT(n, "ConvInteger", LN_ONNX_SRC(src), LN_ONNX_IN(n, "weight"),
                    LN_ONNX_SRC(ln_onnx_op_optional(n, "src_zero")),
                    LN_ONNX_SRC(ln_onnx_op_optional(n, "weight_zero")), WINDOWS(&w),
                    LN_INT("group", ln_op_int(n->op, "group")));
    const int dims[LN_MAXDIM] = {ln_onnx_op_tensor(n, "bias")->len, 1, 1, 1, 1, 1, 1, 1};
    ln_onnx_op_ends_with(
        n, "dst",
        bias ? ln_onnx_put_pair(n, "Add", sums, ln_onnx_put_reshape(n, bias, w.n + 1, dims))
             : sums);
}

// DeformConv with a weight for each tap of each channel: 1 there, and 0 elsewhere.
static void write_deform_columns(ln_onnx_op *n)
{
    const windows w = read_windows(n, 0);
    const int channels = ln_onnx_op_tensor(n, "src")->dims[1], taps = w.size[0] * w.size[1];
    const int square[] = {taps, taps}, kernel[] = {taps, 1, w.size[0], w.size[1]};
    const int repeats[] = {channels, 1, 1, 1};
    const char *const one_hot = ln_onnx_put(
        n, "EyeLike", ln_onnx_put_filled(n, ln_onnx_op_tensor(n, "src")->dtype, 2, square, 0));
    const char *const weight = ln_onnx_put_pair(
        n, "Tile", ln_onnx_put_reshape(n, one_hot, 4, kernel), ln_onnx_put_ints(n, 4, repeats));
    const char *const src = ln_onnx_op_in(n, "src"), *const offset = ln_onnx_op_in(n, "offset");
    const char *const mask = ln_onnx_op_optional(n, "mask");
    const char *const columns = ln_onnx_put_name(n, "DeformConv");
    ln_onnx_op_since(n, 19);
    LN_ONNX_PUT_OUTS(n, 1, &columns, "DeformConv", LN_ONNX_SRC(src), LN_ONNX_SRC(weight),
                     LN_ONNX_SRC(offset), LN_ONNX_SRC(NULL), LN_ONNX_SRC(mask), WINDOWS(&w),
                     LN_INT("group", channels), LN_INT("offset_group", ln_op_int(n->op, "group")));
    ln_onnx_op_ends_with(n, "dst",
                         ln_onnx_put_view(n, columns, 3, (int[]){0, channels * taps, -1}));
}

// Pools

// The node of a pool, with attributes that only some operators have.
typedef struct pool {
    const char *op_type;
    int is_ceil, counts_padding;
    int p;                         // 0: none
    int ceil_since, dilated_since; // the first operator sets with ceil_mode, and dilations
} pool;

// The source's type if MaxPool supports it, else a wider one with all its values; unsupported types
// of 8 bytes have none.
static tl_dtype type_of_max(const ln_onnx_op *n, tl_dtype dtype)
{
    if (ln_onnx_supports(n, "MaxPool", dtype) || tl_size_of(dtype) == 8)
        return dtype;
    return dtype == TL_BOOL ? TL_UINT8 : dtype == TL_BFLOAT16 ? TL_FLOAT : TL_DOUBLE;
}

static void put_pool(ln_onnx_op *n, const pool *p)
{
    const windows w = read_windows(n, 0);
    const tl_dtype dtype = ln_onnx_op_tensor(n, "src")->dtype;
    const tl_dtype work = strcmp(p->op_type, "MaxPool") != 0 ? dtype : type_of_max(n, dtype);
    const char *const given = ln_onnx_op_in(n, "src");
    const char *const src = work == dtype ? given : ln_onnx_put_cast(n, given, work);
    const char *const out =
        work == dtype ? ln_onnx_op_out(n, "dst") : ln_onnx_put_name(n, p->op_type);
    if (has_dilation(&w))
        ln_onnx_op_since(n, p->dilated_since);
    if (p->is_ceil)
        ln_onnx_op_since(n, p->ceil_since);
    LN_ONNX_PUT_OUTS(n, 1, &out, p->op_type, LN_ONNX_SRC(src), WINDOWS(&w),
                     LN_ONLY_IF(p->is_ceil, LN_INT("ceil_mode", 1)),
                     LN_ONLY_IF(p->counts_padding, LN_INT("count_include_pad", 1)),
                     LN_ONLY_IF(p->p, LN_INT("p", p->p)));
    if (work != dtype)
        ln_onnx_op_ends_with(n, "dst", ln_onnx_put_cast(n, out, dtype));
}

static void write_maxpool2d(ln_onnx_op *n)
{
    put_pool(n, &(pool){.op_type = "MaxPool"});
}

static void write_avgpool2d(ln_onnx_op *n)
{
    put_pool(n, &(pool){.op_type = "AveragePool", .dilated_since = 19});
}

static void write_poolnd(ln_onnx_op *n)
{
    const char *const kind = ln_op_string(n->op, "kind");
    pool p = {.op_type = "MaxPool", .is_ceil = ln_op_bool(n->op, "ceil")};
    if (!strcmp(kind, "TL_POOL_MEAN")) {
        p.op_type = "AveragePool";
        p.counts_padding = ln_op_bool(n->op, "count_padding");
        p.dilated_since = 19;
    }
    if (!strcmp(kind, "TL_POOL_NORM")) {
        const double exponent = ln_op_number(n->op, "p");
        p.op_type = "LpPool";
        p.p = ln_op_int(n->op, "p");
        p.ceil_since = p.dilated_since = 18;
        if (p.p != exponent || p.p < 1)
            ln_onnx_op_reject(n, "parameter 'p' is %g, expected a positive integer", exponent);
    }
    put_pool(n, &p);
}

static void write_maxpoolnd_arg(ln_onnx_op *n)
{
    const windows w = read_windows(n, 0);
    LN_ONNX_WRITE_FORM(n, WINDOWS(&w));
}

const ln_onnx_op_row ln_onnx_write_rows_conv[] = {
    {LN_OP_CONV2D, write_conv},
    {LN_OP_CONVND, write_conv},
    {LN_OP_DECONV2D, write_deconv},
    {LN_OP_DECONVND, write_deconv},
    {LN_OP_CONV_INT, write_conv_int},
    {LN_OP_DEFORM_COLUMNS, write_deform_columns},
    {LN_OP_MAXPOOL2D, write_maxpool2d},
    {LN_OP_AVGPOOL2D, write_avgpool2d},
    {LN_OP_POOLND, write_poolnd},
    {LN_OP_MAXPOOLND_ARG, write_maxpoolnd_arg},
    {NULL},
};
