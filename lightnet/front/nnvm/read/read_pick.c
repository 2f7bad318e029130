// SPDX-License-Identifier: Apache-2.0
// Operators that gather elements by index, and those that sort them.

#include <limits.h>
#include <string.h>

#include "front/nnvm/ln_nnvm_steps.h"
#include "tensorlight/tl_util.h"

// Casts indices of an axis of length `len` to TL_INT64. Indices out of range: clipped, taken modulo
// `len`, or unchanged, so that the operator rejects them, by attribute 'mode'.
static const char *emit_index(ln_nnvm_node *n, const char *index, int len)
{
    static const ln_attr_word modes[] = {{"clip"}, {"wrap"}, {"raise"}, {0}};
    const char *const mode =
        ln_nnvm_was_mxnet(n) ? ln_attr_choose(&n->emit, "mode", "clip", modes) : "clip";
    index = ln_emit_cast(&n->emit, index, TL_INT64, LN_EMIT_TEMP);
    if (!strcmp(mode, "raise"))
        return index;
    return strcmp(mode, "wrap") || !len
               ? ln_nnvm_clip(n, index, 0, len - 1, LN_EMIT_TEMP)
               : ln_emit_binary(&n->emit, "TL_BINARY_MOD", index,
                                ln_emit_scalar(&n->emit, TL_INT64, len), LN_EMIT_TEMP);
}

static void emit_take(ln_nnvm_node *n, const char *src, const char *index, int axis)
{
    const char *const inside = emit_index(n, index, ln_nnvm_tensor_of(n, src)->dims[axis]);
    LN_EMIT(&n->emit, 0, LN_OP_TAKE, LN_ARG("src", src), LN_ARG("index", inside),
            LN_INT("axis", axis));
}

// Returns `src` and *axis, attribute 'axis'. Without one, or if `has_default` with None, flattens
// `src`, as NumPy does for axis=None.
static const char *read_axis(ln_nnvm_node *n, const char *src, int has_default, int *axis)
{
    const tl_tensor *const t = ln_nnvm_tensor_of(n, src);
    const int is_flat = has_default ? ln_nnvm_has_none(n, "axis") : !ln_attr_has(&n->emit, "axis");
    *axis = is_flat ? 0 : ln_attr_axis(&n->emit, "axis", -1, t->ndim);
    return is_flat ? ln_emit_reshape(&n->emit, src, 1, &t->len, LN_EMIT_TEMP) : src;
}

static void translate_take(ln_nnvm_node *n)
{
    int axis;
    const char *const src = read_axis(n, ln_nnvm_in(n, 0), 0, &axis);
    emit_take(n, src, ln_nnvm_in(n, 1), axis);
}

// MXNet pick: TAKE_ALONG (GatherElements) with one index per line along the axis, which keepdims
// retains with length 1.
static void translate_pick(ln_nnvm_node *n)
{
    int dims[LN_MAXDIM], axis;
    const char *const src = read_axis(n, ln_nnvm_in(n, 0), 1, &axis), *index = ln_nnvm_in(n, 1);
    const int ndim = ln_nnvm_copy_dims(n, src, dims), n_index = ln_nnvm_tensor_of(n, index)->len;
    const int keepdims = ln_attr_bool(&n->emit, "keepdims", 0) || ndim == 1, len = dims[axis];
    dims[axis] = 1;
    const int n_lines = tl_compute_length(ndim, dims);
    if (n_index != n_lines)
        ln_emit_fail(&n->emit, "%d indices, expected %d, one per line of the axis", n_index,
                     n_lines);
    index = ln_emit_reshape(&n->emit, emit_index(n, index, len), ndim, dims, LN_EMIT_TEMP);
    const char *const dst =
        LN_EMIT(&n->emit, keepdims ? 0 : LN_EMIT_TEMP, LN_OP_TAKE_ALONG, LN_ARG("src", src),
                LN_ARG("index", index), LN_INT("axis", axis));
    for (int i = axis; i + 1 < ndim; i++)
        dims[i] = dims[i + 1];
    if (!keepdims)
        ln_emit_reshape(&n->emit, dst, ndim - 1, dims, 0);
}

// In MXNet, negative indices are out of range; for `onehot`, they count from the end.
static void translate_one_hot(ln_nnvm_node *n)
{
    static const int two = 2;
    const int depth = ln_attr_int_in(&n->emit, "depth", 1, 1, INT_MAX);
    const double values[] = {ln_attr_number(&n->emit, "off_value", 0),
                             ln_attr_number(&n->emit, "on_value", 1)};
    const tl_dtype dtype = ln_attr_dtype(&n->emit, "dtype", TL_FLOAT);
    const char *index = ln_emit_cast(&n->emit, ln_nnvm_in(n, 0), TL_INT64, LN_EMIT_TEMP);
    const int ndim = ln_nnvm_tensor_of(n, index)->ndim;
    const char *const beyond = ln_emit_scalar(&n->emit, TL_INT64, depth);
    const char *const is_negative =
        ln_emit_compare(&n->emit, "TL_COMPARE_LESS", index, ln_emit_scalar(&n->emit, TL_INT64, 0));
    index = ln_emit_where(&n->emit, is_negative, beyond, index, LN_EMIT_TEMP);
    const char *const values_cast = ln_emit_cast(
        &n->emit, ln_emit_constant(&n->emit, TL_DOUBLE, 1, &two, values), dtype, LN_EMIT_TEMP);
    LN_EMIT(&n->emit, 0, LN_OP_ONEHOT, LN_ARG("src", index), LN_ARG("values", values_cast),
            LN_INT("depth", depth), LN_INT("axis", ndim));
}

static void translate_embedding(ln_nnvm_node *n)
{
    const int dims[] = {ln_attr_int_in(&n->emit, "input_dim", 1, 1, INT_MAX),
                        ln_attr_int_in(&n->emit, "output_dim", 1, 1, INT_MAX)};
    ln_attr_dtype(&n->emit, "dtype", TL_FLOAT);
    const char *const weight = ln_nnvm_weight(n, 1, "weight", 2, dims);
    if (ln_nnvm_tensor_of(n, weight)->ndim != 2)
        ln_emit_fail(&n->emit, "the weight has %d dimensions, expected 2",
                     ln_nnvm_tensor_of(n, weight)->ndim);
    emit_take(n, weight, ln_nnvm_in(n, 0), 0);
}

// The indices are [K, ..]; TAKE_ND expects [.., K].
static void translate_gather_nd(ln_nnvm_node *n)
{
    const char *const src = ln_nnvm_in(n, 0), *index = ln_nnvm_in(n, 1);
    const int ndim = ln_nnvm_tensor_of(n, index)->ndim;
    int axes[LN_MAXDIM];
    if (!ndim)
        ln_emit_fail(&n->emit, "the indices are a scalar, expected [K, ..]");
    for (int i = 0; i < ndim; i++)
        axes[i] = (i + 1) % ndim;
    index = ln_emit_cast(&n->emit, index, TL_INT64, LN_EMIT_TEMP);
    if (ndim > 1)
        index = ln_emit_transpose(&n->emit, index, axes, LN_EMIT_TEMP);
    LN_EMIT(&n->emit, 0, LN_OP_TAKE_ND, LN_ARG("src", src), LN_ARG("index", index));
}

// Parameters of topk.
typedef struct topk_param {
    const char *src;
    int axis, k, is_smallest;
} topk_param;

// Reads the attributes; `src` is flat if 'axis' is None, and `k` is the length of the axis.
static topk_param read_topk_param(ln_nnvm_node *n, int is_ascending)
{
    topk_param r;
    r.src = read_axis(n, ln_nnvm_in(n, 0), 1, &r.axis);
    const tl_tensor *const t = ln_nnvm_tensor_of(n, r.src);
    r.k = t->ndim ? t->dims[r.axis] : 1;
    r.is_smallest = ln_attr_bool(&n->emit, "is_ascend", is_ascending);
    return r;
}

static void emit_topk(ln_nnvm_node *n, const topk_param *r, const char **values,
                      const char **indices)
{
    LN_EMIT_BEGIN(&n->emit, LN_OP_TOPK, LN_ARG("src", r->src), LN_INT("k", r->k),
                  LN_INT("axis", r->axis), LN_BOOL("is_smallest", r->is_smallest));
    *values = ln_emit_out(&n->emit, "values", LN_EMIT_TEMP);
    *indices = ln_emit_end(&n->emit, "indices", LN_EMIT_TEMP);
}

// 1 at the indices and 0 elsewhere, of the type and shape of input 0.
static void emit_mask(ln_nnvm_node *n, const topk_param *r, const char *values, const char *indices)
{
    int dims[LN_MAXDIM], in_dims[LN_MAXDIM], ones_dims[LN_MAXDIM];
    const int ndim = ln_nnvm_copy_dims(n, r->src, dims);
    const int in_ndim = ln_nnvm_in_dims(n, 0, in_dims);
    const tl_dtype dtype = ln_nnvm_tensor_of(n, r->src)->dtype;
    ln_nnvm_copy_dims(n, values, ones_dims);
    const char *const zeros = ln_emit_filled(&n->emit, dtype, ndim, dims, 0);
    const char *const ones = ln_emit_filled(&n->emit, dtype, ndim, ones_dims, 1);
    const char *const mask =
        LN_EMIT(&n->emit, in_ndim == ndim ? 0 : LN_EMIT_TEMP, LN_OP_PUT_ALONG, LN_ARG("src", zeros),
                LN_ARG("index", indices), LN_ARG("update", ones), LN_INT("axis", r->axis));
    if (in_ndim != ndim)
        ln_emit_reshape(&n->emit, mask, in_ndim, in_dims, 0);
}

// Attribute 'ret_typ' selects the outputs: values, indices, both, or a mask.
static void translate_topk(ln_nnvm_node *n)
{
    static const ln_attr_word wanted[] = {
        {"value", "v"}, {"indices", "i"}, {"both", "vi"}, {"mask", "m"}, {0}};
    topk_param r = read_topk_param(n, 0);
    const int k = ln_attr_int_in(&n->emit, "k", 1, INT_MIN, r.k);
    const char *const wants = ln_attr_choose(&n->emit, "ret_typ", "indices", wanted);
    const tl_dtype dtype = ln_attr_dtype(&n->emit, "dtype", TL_FLOAT);
    r.k = k < 1 ? r.k : k;
    const char *values, *indices;
    emit_topk(n, &r, &values, &indices);
    if (*wants == 'm')
        emit_mask(n, &r, values, indices);
    for (int i = 0; wants[i] && *wants != 'm'; i++)
        ln_nnvm_alias(
            n, i, wants[i] == 'v' ? values : ln_emit_cast(&n->emit, indices, dtype, LN_EMIT_TEMP));
}

// sort and argsort: topk of all elements; row->with: the output.
static void translate_sort(ln_nnvm_node *n)
{
    const int wants_indices = !strcmp(n->row->with, "indices");
    const topk_param r = read_topk_param(n, 1);
    const tl_dtype dtype = wants_indices ? ln_attr_dtype(&n->emit, "dtype", TL_FLOAT) : TL_FLOAT;
    const char *values, *indices;
    emit_topk(n, &r, &values, &indices);
    ln_nnvm_alias(n, 0,
                  wants_indices ? ln_emit_cast(&n->emit, indices, dtype, LN_EMIT_TEMP) : values);
}

const ln_nnvm_row ln_nnvm_rows_pick[] = {
    {"take", LN_IN_CORE, translate_take, NULL, 2, 2},
    {"pick choose_element_0index", LN_IN_MXNET, translate_pick, NULL, 2, 2},
    {"one_hot", LN_IN_MXNET, translate_one_hot, NULL, 1, 1, .needs = "depth"},
    {"Embedding", LN_IN_MXNET, translate_embedding, NULL, 2, 2, .weights = 2,
     .ignored = "sparse_grad", .needs = "input_dim output_dim"},
    {"gather_nd", LN_IN_CORE, translate_gather_nd, NULL, 2, 2},
    {"topk", LN_IN_MXNET, translate_topk, NULL, 1, 1},
    {"sort", LN_IN_MXNET, translate_sort, "values", 1, 1},
    {"argsort", LN_IN_MXNET, translate_sort, "indices", 1, 1},
    {NULL},
};
