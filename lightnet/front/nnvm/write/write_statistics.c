// SPDX-License-Identifier: Apache-2.0
// Writing normalizations and reductions.

#include <string.h>

#include "base/ln_name.h"
#include "front/nnvm/write/ln_nnvm_write.h"

static ln_nnvm_value write_batchnorm(ln_nnvm_op *n)
{
    static const char *const args[] = {"src", "scale", "offset", "mean", "var"};
    ln_nnvm_value srcs[5];
    for (int i = 0; i < 5; i++)
        srcs[i] = ln_nnvm_op_in(n, args[i]);
    ln_put_begin(n, "batch_norm");
    for (int i = 0; i < 5; i++)
        ln_put_set(n, LN_SRC(srcs[i]));
    ln_put_set(n, LN_NUMBER("epsilon", ln_op_number(n->op, "epsilon")));
    return ln_put_end(n, srcs[0], 3);
}

// Core's window has an odd size, with as many channels before as after.
static ln_nnvm_value write_lrn(ln_nnvm_op *n)
{
    const ln_nnvm_value x = ln_nnvm_op_in(n, "src");
    const int size = ln_op_int(n->op, "size");
    if (size % 2 == 0 || x.ndim != 4)
        ln_nnvm_op_fail(n, "parameter 'size' is %d for %d dimensions, expected an odd number for 4",
                        size, x.ndim);
    return LN_PUT(n, "lrn", x, LN_SRC(x), LN_INT("size", size), LN_INT("axis", 1),
                  LN_NUMBER("alpha", ln_op_number(n->op, "alpha")),
                  LN_NUMBER("beta", ln_op_number(n->op, "beta")),
                  LN_NUMBER("bias", ln_op_number(n->op, "bias")));
}

static ln_nnvm_value write_softmax(ln_nnvm_op *n)
{
    const ln_nnvm_value x = ln_nnvm_op_in(n, "src");
    const int is_log = ln_op_is(n->op, LN_OP_LOGSOFTMAX);
    return LN_PUT(n, is_log ? "log_softmax" : "softmax", x, LN_SRC(x),
                  LN_INT("axis", ln_op_axis(n->op, x.ndim)));
}

// Reductions

// m + log(sum of e^(x - m)), m being the maximum, clipped to finite numbers.
static ln_nnvm_value put_log_sum_exp(ln_nnvm_op *n, ln_nnvm_value x, const ln_put_axes *axes)
{
    ln_put_axes kept = *axes;
    kept.keeps = 1;
    const ln_nnvm_value max = ln_put_reduce(n, "max", x, &kept);
    const double largest = tl_dtype_max_double(max.dtype);
    const ln_nnvm_value m = ln_put_clip(n, max, -largest, largest);
    const ln_nnvm_value e = ln_put(n, "exp", ln_put_binary(n, "sub", x, m));
    const ln_nnvm_value v = ln_put_formula(n, "log(sum(x))", e, 0, 0, axes);
    return ln_put_binary(n, "add", v, ln_put_reshape(n, m, v.ndim, v.dims));
}

// Formulas (ln_nnvm_formula.h); NULL: put_log_sum_exp.
static const struct reduction {
    const char *name, *words;
    int is_of_floats; // LightNet has its functions for floats only
} reductions[] = {
    {"TL_REDUCE_SUM", "sum(x)", 0},          {"TL_REDUCE_MEAN", "mean(x)", 0},
    {"TL_REDUCE_PROD", "prod(x)", 0},        {"TL_REDUCE_MAX", "max(x)", 0},
    {"TL_REDUCE_MIN", "min(x)", 0},          {"TL_REDUCE_L1", "sum(fabs(x))", 0},
    {"TL_REDUCE_L2", "sqrt(sum(x * x))", 1}, {"TL_REDUCE_SUM_SQUARE", "sum(x * x)", 0},
    {"TL_REDUCE_LOG_SUM", "log(sum(x))", 1}, {"TL_REDUCE_LOG_SUM_EXP", NULL, 1},
};

// The axes of a reduction of x. Without axes each element is reduced by itself, as along a new axis
// of length 1.
static ln_put_axes read_axes(ln_nnvm_op *n, ln_nnvm_value *x)
{
    ln_put_axes r = {.keeps = ln_op_bool(n->op, "keepdims")};
    int len;
    const int *const axes = ln_op_ints(n->op, "axes", &len);
    for (int i = 0; i < len && i < LN_MAXDIM; i++)
        r.axes[r.len++] = axes[i] < 0 ? axes[i] + x->ndim : axes[i];
    if (r.len)
        return r;
    int dims[LN_MAXDIM] = {1};
    if (x->ndim >= LN_MAXDIM) {
        ln_nnvm_op_fail(n, "parameter 'axes' is empty, expected at least one axis");
        return r;
    }
    memcpy(dims + 1, x->dims, (size_t)x->ndim * sizeof(int));
    *x = ln_put_reshape(n, *x, x->ndim + 1, dims);
    return (ln_put_axes){.len = 1};
}

static ln_nnvm_value write_reduce(ln_nnvm_op *n)
{
    const char *const op = ln_op_string(n->op, "op");
    ln_nnvm_value x = ln_nnvm_op_raw(n, "src");
    const ln_put_axes axes = read_axes(n, &x);
    const struct reduction *const row = LN_ROW_NAMED(reductions, op);
    if (!row) {
        ln_nnvm_op_fail(n, "parameter 'op' is %s, which NNVM's core lacks", op);
        return x;
    }
    if (row->is_of_floats && !tl_dtype_is_float(x.dtype))
        ln_nnvm_op_fail(n, "parameter 'op' is %s, expected floats, not %s", op,
                        tl_dtype_name(x.dtype));
    return row->words ? ln_put_formula(n, row->words, x, 0, 0, &axes)
                      : put_log_sum_exp(n, x, &axes);
}

static ln_nnvm_value write_maxreduce(ln_nnvm_op *n)
{
    const ln_nnvm_value x = ln_nnvm_op_in(n, "src");
    return ln_put_reduce(n, "max", x, &(ln_put_axes){1, {ln_op_axis(n->op, x.ndim)}, 1});
}

// Core's indices are int32. Keeps the axis and removes it afterwards, as the translator does.
static ln_nnvm_value write_argreduce(ln_nnvm_op *n)
{
    const tl_tensor *const dst = ln_nnvm_op_tensor_of(n, "dst");
    const ln_nnvm_value x = ln_nnvm_op_in(n, "src");
    const int is_min = ln_op_bool(n->op, "is_min");
    if (ln_op_bool(n->op, "is_last"))
        ln_nnvm_op_fail(n, "parameter 'is_last' is true, expected false in NNVM");
    if (ln_nnvm_op_failed(n))
        return x;
    const ln_put_axes axes = {1, {ln_op_axis(n->op, x.ndim)}, 1};
    ln_nnvm_value v = ln_put_reduce(n, is_min ? "argmin" : "argmax", x, &axes);
    v.dtype = TL_INT32;
    return ln_put_reshape(n, v, dst->ndim, dst->dims);
}

const ln_nnvm_op_row ln_nnvm_write_rows_statistics[] = {
    {LN_OP_BATCHNORM, write_batchnorm}, {LN_OP_LRN, write_lrn},
    {LN_OP_SOFTMAX, write_softmax},     {LN_OP_LOGSOFTMAX, write_softmax},
    {LN_OP_REDUCE, write_reduce},       {LN_OP_MAXREDUCE, write_maxreduce},
    {LN_OP_ARGREDUCE, write_argreduce}, {NULL},
};
