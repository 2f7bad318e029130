// SPDX-License-Identifier: Apache-2.0
// Writing normalizations, reductions and losses.

#include <string.h>

#include "base/ln_name.h"
#include "front/onnx/write/ln_onnx_write.h"
#include "tensorlight/tl_shape.h"
#include "tensorlight/tl_type.h"

// Normalizations

// The axes of a normalization: all from `axis` on.
typedef struct norm_axes {
    const tl_tensor *src;
    int axis, n_axes;
} norm_axes;

static norm_axes read_axes(ln_onnx_op *n)
{
    const tl_tensor *const src = ln_onnx_op_tensor(n, "src");
    const int axis = ln_op_axis(n->op, src->ndim);
    return (norm_axes){src, axis, src->ndim - axis};
}

// An optional scale or bias in the shape of the normalized axes; absent: NULL.
static const char *weights(ln_onnx_op *n, const norm_axes *l, const char *arg)
{
    const char *const value = ln_onnx_op_optional(n, arg);
    const tl_tensor *const t = ln_onnx_op_tensor(n, arg);
    const int *const dims = l->src->dims + l->axis;
    const int is_same =
        t->ndim == l->n_axes && !memcmp(t->dims, dims, (size_t)t->ndim * sizeof(*dims));
    return !value || is_same ? value : ln_onnx_put_reshape(n, value, l->n_axes, dims);
}

// ONNX's operator computes in floats of 32 bits.
static int has_layernorm(const ln_op *op)
{
    return ln_op_input(op, "src")->tensor->dtype != TL_DOUBLE;
}

// LayerNormalization requires a scale.
static void write_layernorm(ln_onnx_op *n)
{
    const norm_axes l = read_axes(n);
    const char *const x = ln_onnx_op_in(n, "src");
    const char *scale = weights(n, &l, "scale");
    const char *const bias = weights(n, &l, "bias");
    if (!scale)
        scale = ln_onnx_put_filled(n, l.src->dtype, l.n_axes, l.src->dims + l.axis, 1);
    LN_ONNX_WRITE_FORM(n, LN_ARG("src", x), LN_ARG("scale", scale), LN_ARG("bias", bias),
                       LN_INT("axis", l.axis));
}

static int is_instancenorm(const ln_op *op)
{
    const tl_tensor *const src = ln_op_input(op, "src")->tensor;
    return ln_op_int(op, "groups") == src->dims[1] && src->ndim > 2;
}

static void write_groupnorm(ln_onnx_op *n)
{
    LN_ONNX_PUT_AS(n, "dst", "InstanceNormalization", LN_ONNX_IN(n, "src"), LN_ONNX_IN(n, "scale"),
                   LN_ONNX_IN(n, "bias"), LN_NUMBER("epsilon", ln_op_number(n->op, "epsilon")));
}

// Reductions

static const struct reduction {
    const char *name, *op_type;
} reductions[] = {
    {"TL_REDUCE_SUM", "ReduceSum"},        {"TL_REDUCE_MEAN", "ReduceMean"},
    {"TL_REDUCE_PROD", "ReduceProd"},      {"TL_REDUCE_MAX", "ReduceMax"},
    {"TL_REDUCE_MIN", "ReduceMin"},        {"TL_REDUCE_L1", "ReduceL1"},
    {"TL_REDUCE_L2", "ReduceL2"},          {"TL_REDUCE_SUM_SQUARE", "ReduceSumSquare"},
    {"TL_REDUCE_LOG_SUM", "ReduceLogSum"}, {"TL_REDUCE_LOG_SUM_EXP", "ReduceLogSumExp"},
};

// Reduces integers of 8 and 16 bits that ONNX's operator may lack in int32, and casts back: sums
// and products keep the low bits.
static const char *put_reduction(ln_onnx_op *n, const char *op_type, const char *src,
                                 tl_dtype dtype, int n_axes, const int *axes, int keeps)
{
    const int is_few = !tl_dtype_is_float(dtype) && tl_size_of(dtype) < 4;
    if (!is_few || ln_onnx_supports(n, op_type, dtype))
        return ln_onnx_put_reduce(n, op_type, src, n_axes, axes, keeps);
    const char *const wide = ln_onnx_put_cast(n, src, TL_INT32);
    return ln_onnx_put_cast(n, ln_onnx_put_reduce(n, op_type, wide, n_axes, axes, keeps), dtype);
}

// Without axes each element is reduced by itself: along a new axis of length 1.
static void write_reduce(ln_onnx_op *n)
{
    const char *const op = ln_op_string(n->op, "op");
    const struct reduction *const row = LN_ROW_NAMED(reductions, op);
    const int keeps = ln_op_bool(n->op, "keepdims");
    const char *src = ln_onnx_op_in(n, "src");
    int len, first = 0;
    const int *const axes = ln_op_ints(n->op, "axes", &len);
    if (!row) {
        ln_onnx_op_reject(n, "parameter 'op' is %s", op);
        return;
    }
    if (!len)
        src = LN_ONNX_PUT(n, "Unsqueeze", LN_ONNX_SRC(src), LN_ONNX_SRC(ln_onnx_put_int(n, 0)));
    ln_onnx_op_ends_with(n, "dst",
                         put_reduction(n, row->op_type, src, ln_onnx_op_tensor(n, "src")->dtype,
                                       len ? len : 1, len ? axes : &first, len && keeps));
}

// Input 'src', bools as uint8: ArgMax and ArgMin lack bool.
static const char *ordered(ln_onnx_op *n)
{
    const char *const src = ln_onnx_op_in(n, "src");
    return ln_onnx_op_tensor(n, "src")->dtype == TL_BOOL ? ln_onnx_put_cast(n, src, TL_UINT8) : src;
}

static void write_argreduce(ln_onnx_op *n)
{
    LN_ONNX_WRITE_FORM(n, LN_ARG("src", ordered(n)));
}

static void write_nllloss(ln_onnx_op *n)
{
    LN_ONNX_WRITE_FORM(n, LN_ONLY_IF(ln_op_bool(n->op, "is_ignoring"),
                                     LN_INT("ignore_index", ln_op_int(n->op, "ignored"))));
}

const ln_onnx_op_row ln_onnx_write_rows_statistics[] = {
    {LN_OP_LAYERNORM, write_layernorm, has_layernorm},
    {LN_OP_GROUPNORM, write_groupnorm, is_instancenorm},
    {LN_OP_REDUCE, write_reduce},
    {LN_OP_ARGREDUCE, write_argreduce},
    {LN_OP_NLLLOSS, write_nllloss},
    {NULL},
};
