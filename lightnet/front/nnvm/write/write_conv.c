// SPDX-License-Identifier: Apache-2.0
// Writing convolutions and matrix multiplication.

#include <limits.h>
#include <string.h>

#include "front/nnvm/write/ln_nnvm_write.h"
#include "ir/ln_from_file.h"
#include "lightnet/ln_hash.h"

static ln_nnvm_windows read_windows(ln_nnvm_op *n, int is_transposed)
{
    const ln_nnvm_windows w = ln_nnvm_op_windows(n, is_transposed);
    for (int i = 0; i < 2; i++) {
        const long long sum = (long long)w.padding[i] + w.padding[2 + i];
        if (w.padding[i] < 0 || w.padding[2 + i] < 0)
            ln_nnvm_op_fail(n, "parameter 'padding' has %d and %d, expected at least 0",
                            w.padding[i], w.padding[2 + i]);
        if (sum > INT_MAX / 2)
            ln_nnvm_op_fail(n, "parameter 'padding' has %lld in sum, expected at most %d", sum,
                            INT_MAX / 2);
    }
    return w;
}

// Whether the bias exists and is not a constant of zeros.
static int has_bias(ln_nnvm_op *n)
{
    const char *const bias = ln_op_input_name(n->op, "bias");
    const tl_tensor *const t = bias ? ln_nnvm_own_constant(n, bias) : NULL;
    if (!t || !t->data)
        return bias != NULL;
    const unsigned char *const bytes = t->data;
    const size_t size = tl_tensor_size(t);
    return !size || bytes[0] || memcmp(bytes, bytes + 1, size - 1) != 0;
}

// The bias as a vector, if `has`.
static ln_nnvm_value bias_of(ln_nnvm_op *n, int has)
{
    const ln_nnvm_value none = {.dtype = TL_FLOAT};
    return has ? ln_nnvm_op_in(n, "bias") : none;
}

static ln_nnvm_value put_conv(ln_nnvm_op *n, const char *op, const ln_nnvm_windows *c,
                              ln_nnvm_value src, int channels, const int padding[2], int with_bias,
                              const int *dims)
{
    const ln_nnvm_value weight = ln_put_as_image(n, ln_nnvm_op_in(n, "weight"));
    const ln_nnvm_value bias = bias_of(n, with_bias);
    return LN_PUT(n, op, ln_nnvm_shaped(src, 4, dims), LN_SRC(src), LN_SRC(weight),
                  LN_ONLY_IF(with_bias, LN_SRC(bias)), LN_INT("channels", channels),
                  LN_INTS("kernel_size", 2, c->size), LN_INTS("strides", 2, c->stride),
                  LN_INTS("padding", 2, padding), LN_INTS("dilation", 2, c->dilation),
                  LN_INT("groups", ln_op_int(n->op, "group")), LN_BOOL("use_bias", with_bias));
}

// Core has the same padding at both ends: writes the rest as a pad.
static ln_nnvm_value write_conv(ln_nnvm_op *n)
{
    const tl_tensor *const dst = ln_nnvm_op_tensor_of(n, "dst");
    const ln_nnvm_windows c = read_windows(n, 0);
    int before[4] = {0}, after[4] = {0}, padding[2];
    for (int i = 0; i < 2; i++) {
        padding[i] = c.padding[i] < c.padding[2 + i] ? c.padding[i] : c.padding[2 + i];
        before[2 + i] = c.padding[i] - padding[i];
        after[2 + i] = c.padding[2 + i] - padding[i];
    }
    if (ln_nnvm_op_failed(n))
        return ln_nnvm_op_raw(n, "src");
    const int dims[] = {dst->dims[0], dst->dims[1], c.axes == 2 ? dst->dims[2] : 1,
                        dst->dims[c.axes + 1]};
    const ln_nnvm_value src =
        ln_put_pad(n, ln_put_as_image(n, ln_nnvm_op_in(n, "src")), before, after, 0);
    return ln_put_from_image(n,
                             put_conv(n, "conv2d", &c, src, dims[1], padding, has_bias(n), dims));
}

// Cropping of the result of a transposed convolution. Core crops both ends alike; a slice then
// crops the rest at one end.
typedef struct cropping {
    int padding[2];       // at both ends
    int dims[4];          // of core's result
    int begin[4], end[4]; // of the slice
    int extra[4];         // elements after the end, which are the bias
    int is_extended;      // `extra` is not 0
} cropping;

static cropping read_cropping(ln_nnvm_op *n, const ln_nnvm_windows *c, ln_nnvm_value src)
{
    const tl_tensor *const dst = ln_nnvm_op_tensor_of(n, "dst");
    cropping k = {.dims = {dst->dims[0], dst->dims[1]}, .end = {dst->dims[0], dst->dims[1]}};
    for (int i = 0; i < 2; i++) {
        const int64_t all = (src.dims[2 + i] - 1) * (int64_t)c->stride[i] +
                            (c->size[i] - 1) * (int64_t)c->dilation[i] + 1;
        const int last = c->padding[2 + i] - c->output_padding[i], cut = last > 0 ? last : 0;
        if (all > INT_MAX)
            ln_nnvm_op_fail(n, "axis %d of the result has %lld elements, expected at most %d",
                            2 + i, (long long)all, INT_MAX);
        k.padding[i] = c->padding[i] < cut ? c->padding[i] : cut;
        k.dims[2 + i] = (int)(all - 2 * (int64_t)k.padding[i]);
        k.begin[2 + i] = c->padding[i] - k.padding[i];
        k.end[2 + i] = k.dims[2 + i] - (cut - k.padding[i]);
        k.extra[2 + i] = last < 0 ? -last : 0;
        k.is_extended |= last < 0;
    }
    return k;
}

// Adds the bias last if elements are added after the end.
static ln_nnvm_value write_deconv(ln_nnvm_op *n)
{
    static const int step[] = {1, 1, 1, 1}, none[4] = {0};
    const ln_nnvm_windows c = read_windows(n, 1);
    if (ln_nnvm_op_failed(n))
        return ln_nnvm_op_raw(n, "src");
    const ln_nnvm_value src = ln_put_as_image(n, ln_nnvm_op_in(n, "src"));
    const cropping k = read_cropping(n, &c, src);
    const int with_bias = has_bias(n), bias_dims[] = {k.dims[1], 1, 1};
    ln_nnvm_value v = put_conv(n, "conv2d_transpose", &c, src, k.dims[1], k.padding,
                               with_bias && !k.is_extended, k.dims);
    v = ln_put_pad(n, ln_put_slice(n, v, k.begin, k.end, step), none, k.extra, 0);
    if (with_bias && k.is_extended)
        v = ln_put_binary(n, "add", v, ln_put_reshape(n, bias_of(n, 1), 3, bias_dims));
    return ln_put_from_image(n, v);
}

// Matrix multiplication

static ln_nnvm_value scaled(ln_nnvm_op *n, ln_nnvm_value v, const char *param)
{
    const double factor = ln_op_number(n->op, param);
    return factor == 1 ? v : ln_put_scalar(n, "mul", v, factor);
}

// Whether the bias is a vector that is added to each row unchanged.
static int has_row_bias(ln_nnvm_op *n, int units)
{
    const tl_tensor *const bias = ln_nnvm_op_tensor_of(n, "bias");
    return ln_op_input_name(n->op, "bias") && bias->ndim == 1 && bias->dims[0] == units &&
           ln_op_number(n->op, "alpha") == 1 && ln_op_number(n->op, "beta") == 1;
}

// Max operators between a constant and the weight that they compute from it.
enum { MAX_STEPS = 16 };

// Whether the input is a constant of the model, itself or through operators of one input.
static int is_weight(const ln_nnvm_op *n, const char *arg)
{
    const ln_context *const ctx = n->draft->base.ctx;
    const char *tensor = ln_op_input_name(n->op, arg);
    for (int i = 0; tensor && i < MAX_STEPS; i++) {
        const ln_op *const producer = ln_context_creater(ctx, tensor);
        if (!producer || ln_list_length(producer->op_arg->tensors_in) > 1)
            return 0;
        if (ln_produces_inputs(producer->op_arg->optype))
            return !ln_hash_find(ctx->input_names, tensor);
        tensor = ln_op_input_name(producer, "src");
    }
    return 0;
}

// The product of two matrices: dense for a transposed constant, as its translator reads weights.
static ln_nnvm_value put_product(ln_nnvm_op *n, ln_nnvm_value a, ln_nnvm_value b, int with_bias)
{
    const int trans_a = ln_op_bool(n->op, "trans1"), trans_b = ln_op_bool(n->op, "trans2");
    const int dims[] = {a.dims[trans_a], b.dims[!trans_b]};
    const ln_nnvm_value dst = ln_nnvm_shaped(a, 2, dims);
    if (!trans_a && trans_b && is_weight(n, "src2")) {
        const ln_nnvm_value bias = bias_of(n, with_bias);
        return LN_PUT(n, "dense", dst, LN_SRC(a), LN_SRC(b), LN_ONLY_IF(with_bias, LN_SRC(bias)),
                      LN_INT("units", dims[1]), LN_BOOL("use_bias", with_bias));
    }
    return LN_PUT(n, "matmul", dst, LN_SRC(a), LN_SRC(b),
                  LN_ONLY_IF(trans_a, LN_BOOL("transpose_a", 1)),
                  LN_ONLY_IF(trans_b, LN_BOOL("transpose_b", 1)));
}

// Matrix `i` of a stack of them.
static ln_nnvm_value matrix_at(ln_nnvm_op *n, ln_nnvm_value stack, int i)
{
    const int begin[] = {i, 0, 0}, end[] = {i + 1, stack.dims[1], stack.dims[2]};
    const int step[] = {1, 1, 1};
    return ln_put_reshape(n, ln_put_slice(n, stack, begin, end, step), 2, stack.dims + 1);
}

// Max matrices that are multiplied one by one.
enum { MAX_PRODUCTS = 4096 };

// The axes before the last two, those of dst, as one.
static ln_nnvm_value as_stack(ln_nnvm_op *n, ln_nnvm_value v, const tl_tensor *dst, int len)
{
    int dims[LN_MAXDIM];
    memcpy(dims, dst->dims, (size_t)dst->ndim * sizeof(int));
    memcpy(dims + dst->ndim - 2, v.dims + v.ndim - 2, 2 * sizeof(int));
    const int flat[] = {len, v.dims[v.ndim - 2], v.dims[v.ndim - 1]};
    return ln_put_reshape(n, ln_put_expand(n, v, dst->ndim, dims), 3, flat);
}

// Multiplies stacks of matrices one by one: core multiplies two matrices only.
static ln_nnvm_value put_products(ln_nnvm_op *n, ln_nnvm_value a, ln_nnvm_value b)
{
    const tl_tensor *const dst = ln_nnvm_op_tensor_of(n, "dst");
    const int rows = dst->dims[dst->ndim - 2], columns = dst->dims[dst->ndim - 1];
    const int len = dst->len / rows / columns, dims[] = {1, rows, columns};
    ln_nnvm_value *const parts =
        ln_translation_alloc(&n->draft->base, (size_t)len * sizeof(*parts));
    if (len > MAX_PRODUCTS)
        ln_nnvm_op_fail(n,
                        "a product of %d pairs of matrices, expected at most %d, as NNVM's "
                        "core multiplies only two",
                        len, MAX_PRODUCTS);
    if (!parts || ln_nnvm_op_failed(n))
        return a;
    const ln_nnvm_value as = as_stack(n, a, dst, len), bs = as_stack(n, b, dst, len);
    for (int i = 0; i < len; i++)
        parts[i] =
            ln_put_reshape(n, put_product(n, matrix_at(n, as, i), matrix_at(n, bs, i), 0), 3, dims);
    return ln_put_reshape(n, ln_put_join(n, len, parts, 0), dst->ndim, dst->dims);
}

static ln_nnvm_value write_matmul(ln_nnvm_op *n)
{
    const tl_tensor *const dst = ln_nnvm_op_tensor_of(n, "dst");
    ln_nnvm_value a = ln_nnvm_op_in(n, "src1"), b = ln_nnvm_op_in(n, "src2"), v;
    const int trans_a = ln_op_bool(n->op, "trans1"), is_flat = !trans_a && b.ndim == 2;
    const int with_bias =
        is_flat && ln_op_bool(n->op, "trans2") && has_row_bias(n, b.ndim == 2 ? b.dims[0] : 0);
    if (a.ndim < 2 || b.ndim < 2)
        ln_nnvm_op_fail(n, "operands of %d and %d dimensions, expected at least 2", a.ndim, b.ndim);
    if (ln_nnvm_op_failed(n))
        return a;
    if (is_flat) {
        const int width = a.dims[a.ndim - 1], flat[] = {ln_nnvm_value_len(a) / width, width};
        v = put_product(n, ln_put_reshape(n, a, 2, flat), b, with_bias);
        v = ln_put_reshape(n, v, dst->ndim, dst->dims);
    } else if (a.ndim == 2 && b.ndim == 2) {
        v = put_product(n, a, b, 0);
    } else {
        v = put_products(n, a, b);
    }
    if (with_bias)
        return v;
    v = scaled(n, v, "alpha");
    return ln_op_input_name(n->op, "bias")
               ? ln_put_binary(n, "add", v, scaled(n, ln_nnvm_op_raw(n, "bias"), "beta"))
               : v;
}

const ln_nnvm_op_row ln_nnvm_write_rows_conv[] = {
    {LN_OP_CONV2D, write_conv},     {LN_OP_CONVND, write_conv},   {LN_OP_DECONV2D, write_deconv},
    {LN_OP_DECONVND, write_deconv}, {LN_OP_MATMUL, write_matmul}, {NULL},
};
