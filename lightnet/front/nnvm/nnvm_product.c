// SPDX-License-Identifier: Apache-2.0
// Products of matrices: with weights, and of two tensors.

#include <limits.h>
#include <string.h>

#include "front/nnvm/ln_nnvm_rows.h"
#include "front/nnvm/ln_nnvm_steps.h"
#include "tensorlight/tl_util.h"

/** data . weight^T + bias over the last axis. */
static void emit_dense(ln_nnvm_node *n, const char *src, int units, int with_bias)
{
    const tl_tensor *t = ln_nnvm_tensor_of(n, src);
    const tl_dtype own = t->dtype, dtype = !ln_nnvm_is_float(own) ? TL_DOUBLE : own;
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
    const char *dst = LN_EMIT(&n->emit, needs_shape || needs_cast ? LN_EMIT_TEMP : 0, "matmul",
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
    ln_nnvm_require(n, "units");
    emit_dense(n, ln_nnvm_in(n, 0), ln_nnvm_int_in(n, "units", 1, 1, INT_MAX),
               ln_nnvm_has_bias(n, 0));
}

static void translate_batch_dot(ln_nnvm_node *n)
{
    const char *const a = ln_nnvm_in(n, 0), *const b = ln_nnvm_in(n, 1);
    if (ln_nnvm_tensor_of(n, a)->ndim != 3 || ln_nnvm_tensor_of(n, b)->ndim != 3)
        ln_emit_fail(&n->emit, "operands of %d and %d dimensions, expected 3",
                     ln_nnvm_tensor_of(n, a)->ndim, ln_nnvm_tensor_of(n, b)->ndim);
    const int trans1 = ln_nnvm_bool(n, "transpose_a", 0),
              trans2 = ln_nnvm_bool(n, "transpose_b", 0);
    ln_nnvm_matmul(n, a, b, trans1, trans2, 0);
}

/* An operand of a product as a matrix: an axis that is summed along, and all others as one. */
typedef struct operand {
    const char *matrix;
    int is_first; /* the axis that is summed along comes first */
    int n_others, others[LN_MAXDIM];
} operand;

/** The axis is the last one, or the first; transposed, the other way round. Of a vector it is the
 *  only one. Core turns all axes round then, MXNet the axis and all others. */
static operand read_operand(ln_nnvm_node *n, int i, int is_first, const char *transposes)
{
    const char *src = ln_nnvm_in(n, i);
    int dims[LN_MAXDIM], reversed[LN_MAXDIM];
    const int ndim = ln_nnvm_copy_dims(n, src, dims), turns = ln_nnvm_bool(n, transposes, 0);
    operand o = {.is_first = turns ? !is_first : is_first};
    if (!ndim) {
        ln_emit_fail(&n->emit, "operand %d is a scalar, expected at least 1 dimension", i);
        return o;
    }
    if (turns && ndim > 2 && !ln_nnvm_is_mxnet(n)) {
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

/** The sum along the last axis of the one and the first of the other. */
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

const ln_nnvm_row ln_nnvm_rows_product[] = {
    {"dense", LN_NNVM_IN_CORE, translate_dense, NULL, 2, 3, .weights = 6},
    {"matmul", LN_NNVM_IN_CORE, translate_dot, NULL, 2, 2},
    {"dot", LN_NNVM_IN_MXNET, translate_dot, NULL, 2, 2, .ignored = " forward_stype "},
    {"batch_dot", LN_NNVM_IN_MXNET, translate_batch_dot, NULL, 2, 2, .ignored = " forward_stype "},
    {NULL},
};
