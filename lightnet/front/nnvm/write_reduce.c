// SPDX-License-Identifier: Apache-2.0
// Writing operators that make few elements of many.

#include <string.h>

#include "front/nnvm/ln_nnvm_put.h"

/* What is reduced along which axes. */
typedef struct reduction {
    ln_nnvm_value src;
    int n_axes, axes[LN_MAXDIM], keeps;
} reduction;

static ln_nnvm_value put(ln_nnvm_op *n, const char *op, ln_nnvm_value src, const reduction *r)
{
    return ln_put_reduce(n, op, src, r->n_axes, r->axes, r->keeps);
}

static ln_nnvm_value write_l1(ln_nnvm_op *n, const reduction *r)
{
    return put(n, "sum", ln_put(n, "abs", r->src), r);
}

static ln_nnvm_value write_square_sum(ln_nnvm_op *n, const reduction *r)
{
    return put(n, "sum", ln_put_binary(n, "mul", r->src, r->src), r);
}

static ln_nnvm_value write_l2(ln_nnvm_op *n, const reduction *r)
{
    return ln_put(n, "sqrt", write_square_sum(n, r));
}

static ln_nnvm_value write_log_sum(ln_nnvm_op *n, const reduction *r)
{
    return ln_put(n, "log", put(n, "sum", r->src, r));
}

/** m + log(sum of e^(x - m)), m being the maximum, as far as it is finite. */
static ln_nnvm_value write_log_sum_exp(ln_nnvm_op *n, const reduction *r)
{
    const ln_nnvm_value max = ln_put_reduce(n, "max", r->src, r->n_axes, r->axes, 1);
    const double largest = tl_dtype_max_double(max.dtype);
    const ln_nnvm_value m = ln_put_clip(n, max, -largest, largest);
    const ln_nnvm_value e = ln_put(n, "exp", ln_put_binary(n, "sub", r->src, m));
    const ln_nnvm_value v = ln_put(n, "log", put(n, "sum", e, r));
    return ln_put_binary(n, "add", v, ln_put_reshape(n, m, v.ndim, v.dims));
}

static const struct {
    const char *name, *op;
    ln_nnvm_value (*write)(ln_nnvm_op *n, const reduction *r);
} reductions[] = {
    {"TL_REDUCE_SUM", "sum", NULL},
    {"TL_REDUCE_MEAN", "mean", NULL},
    {"TL_REDUCE_PROD", "prod", NULL},
    {"TL_REDUCE_MAX", "max", NULL},
    {"TL_REDUCE_MIN", "min", NULL},
    {"TL_REDUCE_L1", NULL, write_l1},
    {"TL_REDUCE_L2", NULL, write_l2},
    {"TL_REDUCE_SUM_SQUARE", NULL, write_square_sum},
    {"TL_REDUCE_LOG_SUM", NULL, write_log_sum},
    {"TL_REDUCE_LOG_SUM_EXP", NULL, write_log_sum_exp},
};

// Without axes each element is reduced by itself, as along a new axis of length 1.
static reduction read_reduction(ln_nnvm_op *n)
{
    reduction r = {.src = ln_nnvm_op_raw(n, "src"), .keeps = ln_nnvm_op_bool(n, "keepdims", 1)};
    int len;
    const int *const axes = ln_nnvm_op_ints(n, "axes", &len);
    for (int i = 0; i < len && i < LN_MAXDIM; i++)
        r.axes[r.n_axes++] = axes[i] < 0 ? axes[i] + r.src.ndim : axes[i];
    if (r.n_axes)
        return r;
    int dims[LN_MAXDIM] = {1};
    if (r.src.ndim >= LN_MAXDIM) {
        ln_nnvm_op_fail(n, "parameter 'axes' is empty, expected at least one axis");
        return r;
    }
    memcpy(dims + 1, r.src.dims, (size_t)r.src.ndim * sizeof(int));
    r.src = ln_put_reshape(n, r.src, r.src.ndim + 1, dims);
    r.axes[r.n_axes++] = 0;
    r.keeps = 0;
    return r;
}

static ln_nnvm_value write_reduce(ln_nnvm_op *n)
{
    const char *const op = ln_nnvm_op_text(n, "op", "");
    const reduction r = read_reduction(n);
    for (size_t i = 0; i < sizeof(reductions) / sizeof(reductions[0]); i++)
        if (!strcmp(reductions[i].name, op))
            return reductions[i].write ? reductions[i].write(n, &r)
                                       : put(n, reductions[i].op, r.src, &r);
    ln_nnvm_op_fail(n, "parameter 'op' is %s, which NNVM's core has nothing for", op);
    return r.src;
}

static ln_nnvm_value write_maxreduce(ln_nnvm_op *n)
{
    const ln_nnvm_value x = ln_nnvm_op_in(n, "src");
    const int axis = ln_nnvm_op_axis(n, x.ndim, 0);
    return ln_put_reduce(n, "max", x, 1, &axis, 1);
}

/** Core's indices have 32 bits. The axis stays and is taken out afterwards, as where it is read. */
static ln_nnvm_value write_argreduce(ln_nnvm_op *n)
{
    const tl_tensor *const dst = ln_nnvm_op_tensor_of(n, "dst");
    const ln_nnvm_value x = ln_nnvm_op_in(n, "src");
    const int axis = ln_nnvm_op_axis(n, x.ndim, 0), is_min = ln_nnvm_op_bool(n, "is_min", 0);
    if (ln_nnvm_op_bool(n, "is_last", 0))
        ln_nnvm_op_fail(n, "parameter 'is_last' is true: of equal ones, NNVM finds the first");
    if (ln_nnvm_op_failed(n))
        return x;
    ln_nnvm_value v = ln_put_reduce(n, is_min ? "argmin" : "argmax", x, 1, &axis, 1);
    v.dtype = TL_INT32;
    return ln_put_reshape(n, v, dst->ndim, dst->dims);
}

static ln_nnvm_value write_dot_product(ln_nnvm_op *n)
{
    const ln_nnvm_value a = ln_nnvm_op_in(n, "src1"), b = ln_nnvm_op_in(n, "src2");
    const ln_nnvm_value v = ln_put_binary(n, "mul", a, b);
    int axes[LN_MAXDIM];
    for (int i = 0; i < v.ndim; i++)
        axes[i] = i;
    return v.ndim ? ln_put_reduce(n, "sum", v, v.ndim, axes, 0) : v;
}

const ln_nnvm_op_row ln_nnvm_write_rows_reduce[] = {
    {"reduce", write_reduce},
    {"maxreduce", write_maxreduce},
    {"argreduce", write_argreduce},
    {"dot_product", write_dot_product},
    {NULL},
};
