// SPDX-License-Identifier: Apache-2.0
// Operators that put elements in order, and find the first of them.

#include <limits.h>
#include <string.h>

#include "front/nnvm/ln_nnvm_rows.h"
#include "front/nnvm/ln_nnvm_steps.h"

/* What is wanted of the first elements of an order. */
typedef struct ranking {
    const char *src;
    int axis, k, is_smallest;
} ranking;

/** The data, flat where 'axis' is None, and the axis; `k` all. */
static ranking read_ranking(ln_nnvm_node *n, int is_ascending)
{
    ranking r = {.src = ln_nnvm_in(n, 0)};
    const tl_tensor *t = ln_nnvm_tensor_of(n, r.src);
    if (ln_nnvm_has_none(n, "axis")) {
        r.src = ln_emit_reshape(&n->emit, r.src, 1, &t->len, LN_EMIT_TEMP);
        t = ln_nnvm_tensor_of(n, r.src);
    } else {
        r.axis = ln_nnvm_axis(n, ln_nnvm_int(n, "axis", -1), t->ndim);
    }
    r.k = t->ndim ? t->dims[r.axis] : 1;
    r.is_smallest = ln_nnvm_bool(n, "is_ascend", is_ascending);
    return r;
}

static void emit_topk(ln_nnvm_node *n, const ranking *r, const char **values, const char **indices)
{
    ln_emit_begin(&n->emit, "topk");
    ln_emit_arg(&n->emit, "src", r->src);
    ln_emit_set(&n->emit, LN_INT("k", r->k));
    ln_emit_set(&n->emit, LN_INT("axis", r->axis));
    ln_emit_set(&n->emit, LN_BOOL("is_smallest", r->is_smallest));
    *values = ln_emit_out(&n->emit, "values", LN_EMIT_TEMP);
    *indices = ln_emit_end(&n->emit, "indices", LN_EMIT_TEMP);
}

/** 1 at the indices, else 0, in the data's type and shape. */
static void emit_mask(ln_nnvm_node *n, const ranking *r, const char *values, const char *indices)
{
    int dims[LN_MAXDIM], own[LN_MAXDIM], marks[LN_MAXDIM];
    const int ndim = ln_nnvm_copy_dims(n, r->src, dims);
    const int n_own = ln_nnvm_copy_dims(n, ln_nnvm_in(n, 0), own);
    const tl_dtype dtype = ln_nnvm_tensor_of(n, r->src)->dtype;
    ln_nnvm_copy_dims(n, values, marks);
    const char *const zeros = ln_emit_filled(&n->emit, dtype, ndim, dims, 0);
    const char *const ones = ln_emit_filled(&n->emit, dtype, ndim, marks, 1);
    const char *const mask =
        LN_EMIT(&n->emit, n_own == ndim ? 0 : LN_EMIT_TEMP, "put_along", LN_ARG("src", zeros),
                LN_ARG("index", indices), LN_ARG("update", ones), LN_INT("axis", r->axis));
    if (n_own != ndim)
        ln_emit_reshape(&n->emit, mask, n_own, own, 0);
}

/** The values of the first k, their indices, both, or where they are. */
static void translate_topk(ln_nnvm_node *n)
{
    static const char *const wanted[][2] = {
        {"value", "v"}, {"indices", "i"}, {"both", "vi"}, {"mask", "m"}, {NULL, NULL}};
    ranking r = read_ranking(n, 0);
    const int k = ln_nnvm_int_in(n, "k", 1, INT_MIN, INT_MAX);
    const char *const wants = ln_nnvm_choose(n, "ret_typ", "indices", wanted);
    const tl_dtype dtype = ln_nnvm_dtype(n, "dtype", TL_FLOAT);
    if (k > r.k)
        ln_emit_fail(&n->emit, "attribute 'k' is %d, expected at most %d", k, r.k);
    r.k = k < 1 ? r.k : k;
    if (ln_nnvm_failed(n))
        return;
    const char *values, *indices;
    emit_topk(n, &r, &values, &indices);
    if (*wants == 'm')
        emit_mask(n, &r, values, indices);
    for (int i = 0; wants[i] && *wants != 'm'; i++)
        ln_nnvm_alias(
            n, i, wants[i] == 'v' ? values : ln_emit_cast(&n->emit, indices, dtype, LN_EMIT_TEMP));
}

/** `with`: the values or the indices of all elements in order. */
static void translate_sort(ln_nnvm_node *n)
{
    const int wants_indices = !strcmp(n->row->with, "indices");
    const ranking r = read_ranking(n, 1);
    const tl_dtype dtype = wants_indices ? ln_nnvm_dtype(n, "dtype", TL_FLOAT) : TL_FLOAT;
    const char *values, *indices;
    emit_topk(n, &r, &values, &indices);
    ln_nnvm_alias(n, 0,
                  wants_indices ? ln_emit_cast(&n->emit, indices, dtype, LN_EMIT_TEMP) : values);
}

const ln_nnvm_row ln_nnvm_rows_order[] = {
    {"topk", LN_NNVM_IN_MXNET, translate_topk, NULL, 1, 1},
    {"sort", LN_NNVM_IN_MXNET, translate_sort, "values", 1, 1},
    {"argsort", LN_NNVM_IN_MXNET, translate_sort, "indices", 1, 1},
    {NULL},
};
