// SPDX-License-Identifier: Apache-2.0
// Operators that make few elements of many: reductions, and where the greatest is.

#include <string.h>

#include "front/nnvm/ln_nnvm_rows.h"
#include "front/nnvm/ln_nnvm_steps.h"

/** The axes that attribute 'axis' names, in order: all without it, the others with 'exclude'. */
static int read_axes(ln_nnvm_node *n, int ndim, int axes[LN_MAXDIM])
{
    int64_t given[LN_NNVM_MAX_TUPLE];
    const int excludes = ln_nnvm_bool(n, "exclude", 0),
              is_all = ln_nnvm_ints(n, "axis", given) <= 0;
    return ln_nnvm_axes(n, "axis", ndim, is_all || excludes, axes);
}

static void emit_reduce(ln_nnvm_node *n, const char *op, const char *src)
{
    int axes[LN_MAXDIM];
    const int ndim = ln_nnvm_tensor_of(n, src)->ndim, n_axes = read_axes(n, ndim, axes);
    const int keeps = ln_nnvm_bool(n, "keepdims", 0), is_all = !keeps && n_axes == ndim;
    static const int one = 1;
    const char *const dst =
        ln_nnvm_reduce(n, op, src, n_axes, axes, keeps, is_all ? LN_EMIT_TEMP : 0);
    if (is_all)
        ln_emit_reshape(&n->emit, dst, 1, &one, 0);
}

static void translate_reduce(ln_nnvm_node *n)
{
    emit_reduce(n, n->row->with, ln_nnvm_in(n, 0));
}

/** `with` names the operation; what is no number counts as its neutral element. */
static void translate_nan_reduce(ln_nnvm_node *n)
{
    const char *src = ln_nnvm_in(n, 0);
    const int is_sum = !strcmp(n->row->with, "TL_REDUCE_SUM");
    const char *const neutral = ln_nnvm_scalar_like(n, src, is_sum ? 0 : 1);
    const char *const is_number = ln_nnvm_compare(n, "TL_COMPARE_EQUAL", src, src);
    src = ln_nnvm_where(n, is_number, src, neutral, LN_EMIT_TEMP);
    emit_reduce(n, n->row->with, src);
}

static void translate_norm(ln_nnvm_node *n)
{
    const int ord = ln_nnvm_int_in(n, "ord", 2, 1, 2);
    emit_reduce(n, ord == 1 ? "TL_REDUCE_L1" : "TL_REDUCE_L2", ln_nnvm_in(n, 0));
}

/* Among which elements the greatest is looked for. */
typedef struct search {
    int axes[LN_MAXDIM];
    int n_axes, keeps;
    tl_dtype dtype; /* of the index */
} search;

static search read_search(ln_nnvm_node *n, int ndim)
{
    search s = {.keeps = ln_nnvm_bool(n, "keepdims", 0)};
    s.dtype = ln_nnvm_dtype(n, "dtype", TL_INT32);
    s.n_axes = read_axes(n, ndim, s.axes);
    return s;
}

/** Several axes as one, the last: the others come before them. */
static const char *merge_axes(ln_nnvm_node *n, const char *src, const search *s)
{
    int dims[LN_MAXDIM], order[LN_MAXDIM], merged[LN_MAXDIM], n_stay = 0, len = 1;
    const int ndim = ln_nnvm_copy_dims(n, src, dims);
    for (int i = 0, k = 0; i < ndim; i++) {
        const int goes = k < s->n_axes && s->axes[k] == i;
        order[goes ? ndim - s->n_axes + k : n_stay] = i;
        if (goes)
            len *= dims[i];
        else
            merged[n_stay++] = dims[i];
        k += goes;
    }
    merged[n_stay] = len; // no more than the tensor has
    if (s->n_axes < ndim)
        src = ln_emit_transpose(&n->emit, src, order, LN_EMIT_TEMP);
    return ln_emit_reshape(&n->emit, src, n_stay + 1, merged, LN_EMIT_TEMP);
}

/** `with`: max or min. The first of equal ones counts, in the order of the elements. */
static void translate_arg(ln_nnvm_node *n)
{
    const char *src = ln_nnvm_in(n, 0);
    int dims[LN_MAXDIM], n_left = 0, axis;
    const int ndim = ln_nnvm_copy_dims(n, src, dims);
    const search s = read_search(n, ndim);
    if (!s.n_axes || ln_nnvm_failed(n)) {
        ln_emit_fail(&n->emit, "attribute 'axis' leaves no axis to search along");
        return;
    }
    axis = s.axes[0];
    if (s.n_axes > 1) {
        src = merge_axes(n, src, &s);
        axis = ndim - s.n_axes;
    }
    for (int i = 0, k = 0; i < ndim; i++) {
        const int goes = k < s.n_axes && s.axes[k] == i;
        if (!goes || s.keeps)
            dims[n_left++] = goes ? 1 : dims[i];
        k += goes;
    }
    if (!n_left) // a number is a tensor of one dimension
        dims[n_left++] = 1;
    const char *const index =
        LN_EMIT(&n->emit, LN_EMIT_TEMP, "argreduce", LN_ARG("src", src), LN_INT("axis", axis),
                LN_BOOL("is_min", !strcmp(n->row->with, "min")), LN_BOOL("keepdims", 1));
    ln_emit_cast(&n->emit, ln_emit_reshape(&n->emit, index, n_left, dims, LN_EMIT_TEMP), s.dtype,
                 0);
}

/** Sums down to the shape of the second input: along the axes that it lacks or has length 1 in. */
static void translate_collapse_sum(ln_nnvm_node *n)
{
    const char *const src = ln_nnvm_in(n, 0);
    const tl_tensor *const t = ln_nnvm_tensor_of(n, src);
    const tl_tensor *const like = ln_nnvm_tensor_of(n, ln_nnvm_in(n, 1));
    const int more = t->ndim - like->ndim;
    int axes[LN_MAXDIM], n_axes = 0, dims[LN_MAXDIM];
    memcpy(dims, like->dims, (size_t)like->ndim * sizeof(int));
    for (int i = 0; i < t->ndim; i++) {
        if (i < more || (more >= 0 && like->dims[i - more] == 1 && t->dims[i] != 1))
            axes[n_axes++] = i;
        else if (more < 0 || like->dims[i - more] != t->dims[i])
            ln_emit_fail(&n->emit, "axis %d has length %d, which does not collapse", i, t->dims[i]);
    }
    const char *const sum = ln_nnvm_reduce(n, "TL_REDUCE_SUM", src, n_axes, axes, 1, LN_EMIT_TEMP);
    if (!ln_nnvm_failed(n))
        ln_emit_reshape(&n->emit, sum, like->ndim, dims, 0);
}

#define CORE  LN_NNVM_IN_CORE
#define MXNET LN_NNVM_IN_MXNET

const ln_nnvm_row ln_nnvm_rows_reduce[] = {
    {"sum", CORE, translate_reduce, "TL_REDUCE_SUM", 1, 1},
    {"mean", CORE, translate_reduce, "TL_REDUCE_MEAN", 1, 1},
    {"prod", CORE, translate_reduce, "TL_REDUCE_PROD", 1, 1},
    {"max", CORE, translate_reduce, "TL_REDUCE_MAX", 1, 1},
    {"min", CORE, translate_reduce, "TL_REDUCE_MIN", 1, 1},
    {"nansum", MXNET, translate_nan_reduce, "TL_REDUCE_SUM", 1, 1},
    {"nanprod", MXNET, translate_nan_reduce, "TL_REDUCE_PROD", 1, 1},
    {"norm", MXNET, translate_norm, NULL, 1, 1},
    {"argmax", CORE, translate_arg, "max", 1, 1},
    {"argmin", CORE, translate_arg, "min", 1, 1},
    {"collapse_sum", CORE, translate_collapse_sum, NULL, 2, 2},
    {NULL},
};
