// SPDX-License-Identifier: Apache-2.0
// Writing normalizations, softmax and its kin.

#include "front/nnvm/ln_nnvm_put.h"

static ln_nnvm_value write_batchnorm(ln_nnvm_op *n)
{
    static const char *const args[] = {"src", "scale", "offset", "mean", "var"};
    ln_nnvm_value srcs[5];
    for (int i = 0; i < 5; i++)
        srcs[i] = ln_nnvm_op_in(n, args[i]);
    ln_put_begin(n, "batch_norm");
    for (int i = 0; i < 5; i++)
        ln_put_arg(n, srcs[i]);
    ln_nnvm_draft_set(&n->writer->draft,
                      LN_NUMBER("epsilon", ln_nnvm_op_number(n, "epsilon", 1e-5)));
    return ln_put_end(n, srcs[0].dtype, srcs[0].ndim, srcs[0].dims, 3);
}

// A vector as one number for each index along the axis of a tensor.
static ln_nnvm_value along(ln_nnvm_op *n, const char *arg, int axis, int ndim)
{
    const ln_nnvm_value v = ln_nnvm_op_in(n, arg);
    int dims[LN_MAXDIM] = {ln_nnvm_value_len(v), 1, 1, 1, 1, 1, 1, 1};
    return ln_put_reshape(n, v, ndim - axis, dims);
}

static ln_nnvm_value write_affine(ln_nnvm_op *n)
{
    const ln_nnvm_value x = ln_nnvm_op_in(n, "src");
    const int axis = ln_nnvm_op_axis(n, x.ndim, 1);
    const ln_nnvm_value v = ln_put_binary(n, "mul", x, along(n, "scale", axis, x.ndim));
    return ln_nnvm_op_has_in(n, "shift")
               ? ln_put_binary(n, "add", v, along(n, "shift", axis, x.ndim))
               : v;
}

/* ---- means and variances ---- */

// x / sqrt(mean of x^2 + epsilon) over the axes.
static ln_nnvm_value put_rms(ln_nnvm_op *n, ln_nnvm_value x, int n_axes, const int *axes)
{
    const ln_nnvm_value square = ln_put_binary(n, "mul", x, x);
    const ln_nnvm_value mean = ln_put_reduce(n, "mean", square, n_axes, axes, 1);
    const ln_nnvm_value sum = ln_put_scalar(n, "add", mean, ln_nnvm_op_number(n, "epsilon", 0));
    return ln_put_binary(n, "div", x, ln_put(n, "sqrt", sum));
}

static ln_nnvm_value put_normal(ln_nnvm_op *n, ln_nnvm_value x, int n_axes, const int *axes)
{
    const ln_nnvm_value mean = ln_put_reduce(n, "mean", x, n_axes, axes, 1);
    return put_rms(n, ln_put_binary(n, "sub", x, mean), n_axes, axes);
}

// v times scale plus bias, where there are these, with the axes of v from `axis` on.
static ln_nnvm_value scaled(ln_nnvm_op *n, ln_nnvm_value v, int axis)
{
    static const char *const args[][2] = {{"scale", "mul"}, {"bias", "add"}};
    for (int i = 0; i < 2; i++)
        if (ln_nnvm_op_has_in(n, args[i][0])) {
            const ln_nnvm_value w =
                ln_put_reshape(n, ln_nnvm_op_in(n, args[i][0]), v.ndim - axis, v.dims + axis);
            v = ln_put_binary(n, args[i][1], v, w);
        }
    return v;
}

/** Over the axes from one on; `with`: of which mean. */
static ln_nnvm_value write_layers(ln_nnvm_op *n,
                                  ln_nnvm_value (*put)(ln_nnvm_op *n, ln_nnvm_value x, int n_axes,
                                                       const int *axes))
{
    const ln_nnvm_value x = ln_nnvm_op_in(n, "src");
    const int axis = ln_nnvm_op_axis(n, x.ndim, -1);
    int axes[LN_MAXDIM];
    for (int i = axis; i < x.ndim && i >= 0; i++)
        axes[i - axis] = i;
    return scaled(n, put(n, x, x.ndim - axis, axes), axis);
}

static ln_nnvm_value write_layernorm(ln_nnvm_op *n)
{
    return write_layers(n, put_normal);
}

static ln_nnvm_value write_rmsnorm(ln_nnvm_op *n)
{
    return write_layers(n, put_rms);
}

/** [N, G, C / G, rest]; scale and bias are one number for each channel, or for each group. */
static ln_nnvm_value write_groupnorm(ln_nnvm_op *n)
{
    static const int axes[] = {2, 3};
    const ln_nnvm_value x = ln_nnvm_op_in(n, "src");
    const int groups = ln_nnvm_op_int(n, "groups", 1), len = ln_nnvm_op_tensor_of(n, "scale")->len;
    if (ln_nnvm_op_failed(n))
        return x;
    const int batch = x.dims[0], channels = x.dims[1];
    const int rest = ln_nnvm_value_len(x) / batch / channels;
    const int dims[] = {batch, groups, channels / groups, rest};
    const ln_nnvm_value v = put_normal(n, ln_put_reshape(n, x, 4, dims), 2, axes);
    const int weights[] = {groups, len == groups && len != channels ? 1 : channels / groups, 1};
    const ln_nnvm_value scale = ln_put_reshape(n, ln_nnvm_op_in(n, "scale"), 3, weights);
    const ln_nnvm_value bias = ln_put_reshape(n, ln_nnvm_op_in(n, "bias"), 3, weights);
    const ln_nnvm_value dst = ln_put_binary(n, "add", ln_put_binary(n, "mul", v, scale), bias);
    return ln_put_reshape(n, dst, x.ndim, x.dims);
}

/** Core's window has an odd size, with as many channels before as behind. */
static ln_nnvm_value write_lrn(ln_nnvm_op *n)
{
    static const char *const keys[] = {"alpha", "beta", "bias"};
    const ln_nnvm_value x = ln_nnvm_op_in(n, "src");
    const int size = ln_nnvm_op_int(n, "size", 1);
    if (size % 2 == 0 || x.ndim != 4)
        ln_nnvm_op_fail(n,
                        "parameter 'size' is %d, of %d dimensions, expected an odd number, of "
                        "images",
                        size, x.ndim);
    ln_put_begin(n, "lrn");
    ln_put_arg(n, x);
    ln_nnvm_draft_set(&n->writer->draft, LN_INT("size", size));
    ln_nnvm_draft_set(&n->writer->draft, LN_INT("axis", 1));
    for (int i = 0; i < 3; i++)
        ln_nnvm_draft_set(&n->writer->draft, LN_NUMBER(keys[i], ln_nnvm_op_number(n, keys[i], 1)));
    return ln_put_end(n, x.dtype, x.ndim, x.dims, 1);
}

static ln_nnvm_value write_along(ln_nnvm_op *n, const char *op)
{
    const ln_nnvm_value x = ln_nnvm_op_in(n, "src");
    return LN_PUT(n, op, x.dtype, x.ndim, x.dims, LN_SRC(x),
                  LN_INT("axis", ln_nnvm_op_axis(n, x.ndim, -1)));
}

static ln_nnvm_value write_softmax(ln_nnvm_op *n)
{
    return write_along(n, "softmax");
}

static ln_nnvm_value write_logsoftmax(ln_nnvm_op *n)
{
    return write_along(n, "log_softmax");
}

const ln_nnvm_op_row ln_nnvm_write_rows_norm[] = {
    {"batchnorm", write_batchnorm},
    {"affine", write_affine},
    {"layernorm", write_layernorm},
    {"rmsnorm", write_rmsnorm},
    {"groupnorm", write_groupnorm},
    {"lrn", write_lrn},
    {"softmax", write_softmax},
    {"logsoftmax", write_logsoftmax},
    {NULL},
};
