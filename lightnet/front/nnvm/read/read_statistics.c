// SPDX-License-Identifier: Apache-2.0
// Normalizations, softmax, reductions, argmax and argmin.

#include <limits.h>
#include <string.h>

#include "front/nnvm/ln_nnvm_steps.h"

// Batch normalization

static void translate_batchnorm(ln_nnvm_node *n)
{
    static const char *const args[] = {"gamma", "beta", "moving_mean", "moving_var"};
    static const char *const uses[] = {"scale", "center"};
    const char *const src = ln_nnvm_in(n, 0), *vectors[4];
    const tl_tensor *const t = ln_nnvm_tensor_of(n, src);
    const int axis = ln_attr_axis(&n->emit, "axis", 1, t->ndim);
    const double epsilon = ln_attr_epsilon(&n->emit, "epsilon", 1e-5);
    const int channels = ln_nnvm_failed(n) ? 1 : t->dims[axis];
    for (int i = 0; i < 4; i++)
        vectors[i] = ln_nnvm_weight(n, 1 + i, args[i], 1, &channels);
    for (int i = 0; i < 2; i++)
        if (!ln_attr_bool(&n->emit, uses[i], 1))
            vectors[i] = ln_emit_filled(&n->emit, t->dtype, 1, &channels, 1 - i);
    ln_emit_batchnorm(&n->emit, src, axis, vectors, epsilon, 0);
}

// Group and layer normalization

// Instance normalization has one group per channel.
static void translate_groupnorm(ln_nnvm_node *n)
{
    const int is_instance = !strcmp(n->row->with, "instance");
    const char *const src = ln_nnvm_in(n, 0);
    const tl_tensor *const t = ln_nnvm_tensor_of(n, src);
    const int channels = t->ndim > 1 ? t->dims[1] : 1;
    const int groups =
        is_instance ? channels : ln_attr_int_in(&n->emit, "num_groups", 1, 1, INT_MAX);
    const double epsilon = ln_attr_epsilon(&n->emit, "eps", is_instance ? 1e-3 : 1e-5);
    const char *const gamma = ln_nnvm_weight(n, 1, "gamma", 1, &channels);
    const char *const beta = ln_nnvm_weight(n, 2, "beta", 1, &channels);
    LN_EMIT(&n->emit, 0, LN_OP_GROUPNORM, LN_ARG("src", src), LN_ARG("scale", gamma),
            LN_ARG("bias", beta), LN_INT("groups", groups), LN_NUMBER("epsilon", epsilon));
    if (!is_instance && ln_attr_bool(&n->emit, "output_mean_var", 0))
        ln_emit_fail(&n->emit, "attribute 'output_mean_var' is True, expected False");
}

// Swaps an axis with the last one; returns `src` if it is that.
static const char *swap_last(ln_nnvm_node *n, const char *src, int axis, int i)
{
    const int ndim = ln_nnvm_tensor_of(n, src)->ndim;
    int axes[LN_MAXDIM];
    for (int k = 0; k < ndim; k++)
        axes[k] = k;
    if (axis == ndim - 1 || ln_nnvm_failed(n))
        return src;
    axes[axis] = ndim - 1;
    axes[ndim - 1] = axis;
    return ln_emit_transpose(&n->emit, src, axes, i);
}

static void translate_layernorm(ln_nnvm_node *n)
{
    const char *src = ln_nnvm_in(n, 0);
    const tl_tensor *const t = ln_nnvm_tensor_of(n, src);
    const int ndim = t->ndim, axis = ln_attr_axis(&n->emit, "axis", -1, ndim);
    const int len = ndim ? t->dims[axis] : 1, is_last = axis == ndim - 1;
    const char *const gamma = ln_nnvm_weight(n, 1, "gamma", 1, &len);
    const char *const beta = ln_nnvm_weight(n, 2, "beta", 1, &len);
    const double epsilon = ln_attr_epsilon(&n->emit, "eps", 1e-5);
    src = swap_last(n, src, axis, LN_EMIT_TEMP);
    const char *const dst =
        LN_EMIT(&n->emit, is_last ? 0 : LN_EMIT_TEMP, LN_OP_LAYERNORM, LN_ARG("src", src),
                LN_ARG("scale", gamma), LN_ARG("bias", beta), LN_INT("axis", ndim - 1),
                LN_NUMBER("epsilon", epsilon));
    if (!is_last)
        swap_last(n, dst, axis, 0);
    if (ln_attr_bool(&n->emit, "output_mean_var", 0))
        ln_emit_fail(&n->emit, "attribute 'output_mean_var' is True, expected False");
}

// Local response and L2 normalization

static void translate_lrn(ln_nnvm_node *n)
{
    const int64_t axis = ln_attr_int(&n->emit, "axis", 1);
    const int len = ln_attr_int_in(&n->emit, "size", 1, 1, INT_MAX);
    if (len % 2 == 0)
        ln_emit_fail(&n->emit, "attribute '%s' is %d, expected an odd number",
                     ln_nnvm_key(n, "size"), len);
    if (axis != 1 && axis != 3)
        ln_emit_fail(&n->emit, "attribute 'axis' is %lld, expected 1 or 3", (long long)axis);
    const char *src = ln_nnvm_in(n, 0);
    int dims[LN_MAXDIM];
    ln_nnvm_image_dims(n, src, dims);
    static const int there[] = {0, 3, 1, 2}, back[] = {0, 2, 3, 1};
    if (axis == 3)
        src = ln_emit_transpose(&n->emit, src, there, LN_EMIT_TEMP);
    const char *const dst =
        LN_EMIT(&n->emit, axis == 3 ? LN_EMIT_TEMP : 0, LN_OP_LRN, LN_ARG("src", src),
                LN_INT("size", len), LN_NUMBER("alpha", ln_attr_number(&n->emit, "alpha", 1e-4)),
                LN_NUMBER("beta", ln_attr_number(&n->emit, "beta", 0.75)),
                LN_NUMBER("bias", ln_attr_number(&n->emit, "bias", 2)));
    if (axis == 3)
        ln_emit_transpose(&n->emit, dst, back, 0);
}

// src / sqrt(the maximum of the sum of squares and epsilon).
static void translate_l2_normalize(ln_nnvm_node *n)
{
    int axes[LN_MAXDIM];
    const char *const src = ln_nnvm_in(n, 0);
    const int len = ln_nnvm_axes(n, "axis", ln_nnvm_tensor_of(n, src)->ndim, 0, axes);
    const char *const sum =
        ln_emit_reduce(&n->emit, "TL_REDUCE_SUM_SQUARE", src, len, axes, 1, LN_EMIT_TEMP);
    const char *const epsilon = ln_nnvm_scalar_like(n, src, ln_attr_number(&n->emit, "eps", 0));
    ln_emit_formula(&n->emit, "x / sqrt(max(a, b))", src, sum, epsilon, 0);
}

// Softmax

// `with`: softmax or logsoftmax.
static void translate_softmax(ln_nnvm_node *n)
{
    const char *const src = ln_nnvm_in(n, 0);
    const int ndim = ln_nnvm_tensor_of(n, src)->ndim;
    const int axis = ln_attr_axis(&n->emit, "axis", -1, ndim);
    LN_EMIT(&n->emit, 0, n->row->with, LN_ARG("src", src), LN_INT("axis", axis));
}

// The axes that attribute 'axis' names, in order: all without it, the others with 'exclude'.
static int read_axes(ln_nnvm_node *n, int ndim, int axes[LN_MAXDIM])
{
    int len;
    const int excludes = ln_attr_bool(&n->emit, "exclude", 0);
    ln_attr_ints(&n->emit, "axis", &len);
    return ln_nnvm_axes(n, "axis", ndim, !len || excludes, axes);
}

static void emit_reduce(ln_nnvm_node *n, const char *op, const char *src)
{
    int axes[LN_MAXDIM];
    const int ndim = ln_nnvm_tensor_of(n, src)->ndim, n_axes = read_axes(n, ndim, axes);
    const int keeps = ln_attr_bool(&n->emit, "keepdims", 0), is_all = !keeps && n_axes == ndim;
    static const int one = 1;
    const char *const dst =
        ln_emit_reduce(&n->emit, op, src, n_axes, axes, keeps, is_all ? LN_EMIT_TEMP : 0);
    if (is_all)
        ln_emit_reshape(&n->emit, dst, 1, &one, 0);
}

static void translate_reduce(ln_nnvm_node *n)
{
    const int64_t norm = ln_nnvm_was_mxnet(n) ? ln_attr_int(&n->emit, "ord", 0) : 0;
    const char *const op = norm == 1 ? "TL_REDUCE_L1" : norm == 2 ? "TL_REDUCE_L2" : n->row->with;
    emit_reduce(n, op, ln_nnvm_in(n, 0));
}

// `with` names the operation; NaN counts as its neutral element.
static void translate_nan_reduce(ln_nnvm_node *n)
{
    const char *src = ln_nnvm_in(n, 0);
    const int is_sum = !strcmp(n->row->with, "TL_REDUCE_SUM");
    const char *const neutral = ln_nnvm_scalar_like(n, src, is_sum ? 0 : 1);
    const char *const is_number = ln_emit_compare(&n->emit, "TL_COMPARE_EQUAL", src, src);
    src = ln_emit_where(&n->emit, is_number, src, neutral, LN_EMIT_TEMP);
    emit_reduce(n, n->row->with, src);
}

// The attributes of argmax and argmin.
typedef struct search {
    int axes[LN_MAXDIM];
    int n_axes, keeps;
    tl_dtype dtype; // of the index
} search;

static search read_search(ln_nnvm_node *n, int ndim)
{
    search s = {.keeps = ln_attr_bool(&n->emit, "keepdims", 0)};
    s.dtype = ln_attr_dtype(&n->emit, "dtype", TL_INT32);
    s.n_axes = read_axes(n, ndim, s.axes);
    return s;
}

// Merges the axes of the search into one, after the others.
static const char *merge_axes(ln_nnvm_node *n, const char *src, const search *s)
{
    int dims[LN_MAXDIM], order[LN_MAXDIM], merged[LN_MAXDIM], n_others = 0, len = 1;
    const int ndim = ln_nnvm_copy_dims(n, src, dims);
    for (int i = 0, k = 0; i < ndim; i++) {
        const int is_merged = k < s->n_axes && s->axes[k] == i;
        order[is_merged ? ndim - s->n_axes + k : n_others] = i;
        if (is_merged)
            len *= dims[i];
        else
            merged[n_others++] = dims[i];
        k += is_merged;
    }
    merged[n_others] = len; // at most the length of the tensor
    if (s->n_axes < ndim)
        src = ln_emit_transpose(&n->emit, src, order, LN_EMIT_TEMP);
    return ln_emit_reshape(&n->emit, src, n_others + 1, merged, LN_EMIT_TEMP);
}

// `with`: max or min. Returns the first index of equal elements.
static void translate_arg(ln_nnvm_node *n)
{
    const char *src = ln_nnvm_in(n, 0);
    int dims[LN_MAXDIM], n_left = 0, axis;
    const int ndim = ln_nnvm_copy_dims(n, src, dims);
    const search s = read_search(n, ndim);
    if (!s.n_axes || ln_nnvm_failed(n)) {
        ln_emit_fail(&n->emit, "attribute 'axis' selects no axis, expected at least one");
        return;
    }
    axis = s.axes[0];
    if (s.n_axes > 1) {
        src = merge_axes(n, src, &s);
        axis = ndim - s.n_axes;
    }
    for (int i = 0, k = 0; i < ndim; i++) {
        const int is_reduced = k < s.n_axes && s.axes[k] == i;
        if (!is_reduced || s.keeps)
            dims[n_left++] = is_reduced ? 1 : dims[i];
        k += is_reduced;
    }
    if (!n_left) // NNVM has no scalars
        dims[n_left++] = 1;
    const char *const index =
        LN_EMIT(&n->emit, LN_EMIT_TEMP, LN_OP_ARGREDUCE, LN_ARG("src", src), LN_INT("axis", axis),
                LN_BOOL("is_min", !strcmp(n->row->with, "min")), LN_BOOL("keepdims", 1));
    ln_emit_cast(&n->emit, ln_emit_reshape(&n->emit, index, n_left, dims, LN_EMIT_TEMP), s.dtype,
                 0);
}

// Sums to the shape of the second input: along the axes that it lacks, or that have length 1 in it.
static void translate_collapse_sum(ln_nnvm_node *n)
{
    const char *const src = ln_nnvm_in(n, 0);
    const tl_tensor *const t = ln_nnvm_tensor_of(n, src);
    int axes[LN_MAXDIM], dims[LN_MAXDIM], n_axes = 0;
    const int n_like = ln_nnvm_in_dims(n, 1, dims), more = t->ndim - n_like;
    for (int i = 0; i < t->ndim; i++) {
        if (i < more || (more >= 0 && dims[i - more] == 1 && t->dims[i] != 1))
            axes[n_axes++] = i;
        else if (more < 0 || dims[i - more] != t->dims[i])
            ln_emit_fail(&n->emit, "axis %d has length %d, which input 1 cannot broadcast to", i,
                         t->dims[i]);
    }
    const char *const sum =
        ln_emit_reduce(&n->emit, "TL_REDUCE_SUM", src, n_axes, axes, 1, LN_EMIT_TEMP);
    ln_emit_reshape(&n->emit, sum, n_like, dims, 0);
}

const ln_nnvm_row ln_nnvm_rows_statistics[] = {
    {"batch_norm", LN_IN_CORE, translate_batchnorm, NULL, 5, 5, .weights = 30,
     .ignored = "momentum"},
    {"InstanceNorm", LN_IN_MXNET, translate_groupnorm, "instance", 3, 3, .weights = 6},
    {"GroupNorm", LN_IN_MXNET, translate_groupnorm, "", 3, 3, .weights = 6},
    {"LayerNorm", LN_IN_MXNET, translate_layernorm, NULL, 3, 3, .weights = 6},
    {"lrn", LN_IN_CORE, translate_lrn, NULL, 1, 1, .needs = "size alpha beta bias axis"},
    {"l2_normalize", LN_IN_CORE, translate_l2_normalize, NULL, 1, 1, .needs = "eps axis"},
    {"softmax", LN_IN_CORE, translate_softmax, LN_OP_SOFTMAX, 1, 1},
    {"log_softmax", LN_IN_CORE, translate_softmax, LN_OP_LOGSOFTMAX, 1, 1},
    {"sum", LN_IN_CORE, translate_reduce, "TL_REDUCE_SUM", 1, 1},
    {"mean", LN_IN_CORE, translate_reduce, "TL_REDUCE_MEAN", 1, 1},
    {"prod", LN_IN_CORE, translate_reduce, "TL_REDUCE_PROD", 1, 1},
    {"max", LN_IN_CORE, translate_reduce, "TL_REDUCE_MAX", 1, 1},
    {"min", LN_IN_CORE, translate_reduce, "TL_REDUCE_MIN", 1, 1},
    {"nansum", LN_IN_MXNET, translate_nan_reduce, "TL_REDUCE_SUM", 1, 1},
    {"nanprod", LN_IN_MXNET, translate_nan_reduce, "TL_REDUCE_PROD", 1, 1},
    {"argmax", LN_IN_CORE, translate_arg, "max", 1, 1},
    {"argmin", LN_IN_CORE, translate_arg, "min", 1, 1},
    {"collapse_sum", LN_IN_CORE, translate_collapse_sum, NULL, 2, 2},
    {NULL},
};
