// SPDX-License-Identifier: Apache-2.0
// Operators that pick elements by indices.

#include <limits.h>
#include <string.h>

#include "front/nnvm/ln_nnvm_rows.h"
#include "front/nnvm/ln_nnvm_steps.h"

/** Indices of any numeric type as integers; out of range they are moved to the nearest. */
static const char *clamped(ln_nnvm_node *n, const char *index, int len)
{
    index = ln_emit_cast(&n->emit, index, TL_INT64, LN_EMIT_TEMP);
    return ln_nnvm_clip(n, index, 0, len - 1, LN_EMIT_TEMP);
}

static void emit_take(ln_nnvm_node *n, const char *src, const char *index, int axis)
{
    const char *const inside = clamped(n, index, ln_nnvm_tensor_of(n, src)->dims[axis]);
    ln_emit_begin(&n->emit, "take");
    ln_emit_arg(&n->emit, "src", src);
    ln_emit_arg(&n->emit, "index", inside);
    ln_emit_set_int(&n->emit, "axis", axis);
    ln_emit_end(&n->emit, "dst", 0);
}

static void translate_take(ln_nnvm_node *n)
{
    const char *src = ln_nnvm_in(n, 0), *const index = ln_nnvm_in(n, 1);
    const tl_tensor *const t = ln_nnvm_tensor_of(n, src);
    const int mxnet = ln_nnvm_is_mxnet(n), is_flat = !mxnet && !ln_nnvm_has(n, "axis");
    const int axis = is_flat ? 0 : ln_nnvm_axis(n, ln_nnvm_int(n, "axis", 0), t->ndim);
    const char *const mode = mxnet ? ln_nnvm_text(n, "mode", "clip") : "clip";
    if (strcmp(mode, "clip"))
        ln_emit_fail(&n->emit, "attribute 'mode' is \"%.32s\", expected clip", mode);
    if (is_flat)
        src = ln_emit_reshape(&n->emit, src, 1, &t->len, LN_EMIT_TEMP);
    if (!ln_nnvm_failed(n))
        emit_take(n, src, index, axis);
}

static void translate_embedding(ln_nnvm_node *n)
{
    ln_nnvm_require(n, "input_dim");
    ln_nnvm_require(n, "output_dim");
    const int dims[] = {ln_nnvm_int_in(n, "input_dim", 1, 1, INT_MAX),
                        ln_nnvm_int_in(n, "output_dim", 1, 1, INT_MAX)};
    ln_nnvm_dtype(n, "dtype", TL_FLOAT);
    const char *const weight = ln_nnvm_weight(n, 1, "weight", 2, dims);
    const char *const index = ln_nnvm_in(n, 0);
    if (!ln_nnvm_failed(n) && ln_nnvm_tensor_of(n, weight)->ndim != 2)
        ln_emit_fail(&n->emit, "the weight has %d dimensions, expected 2",
                     ln_nnvm_tensor_of(n, weight)->ndim);
    if (!ln_nnvm_failed(n))
        emit_take(n, weight, index, 0);
}

/** Indices [K, ..] as rows [.., K]. */
static void translate_gather_nd(ln_nnvm_node *n)
{
    const char *const src = ln_nnvm_in(n, 0), *index = ln_nnvm_in(n, 1);
    const int ndim = ln_nnvm_tensor_of(n, index)->ndim;
    int axes[LN_MAXDIM];
    if (!ndim)
        ln_emit_fail(&n->emit, "its indices are a scalar, expected at least 1 dimension");
    for (int i = 0; i < ndim; i++)
        axes[i] = (i + 1) % ndim;
    index = ln_emit_cast(&n->emit, index, TL_INT64, LN_EMIT_TEMP);
    if (ndim > 1)
        index = ln_emit_transpose(&n->emit, index, axes, LN_EMIT_TEMP);
    ln_emit_begin(&n->emit, "take_nd");
    ln_emit_arg(&n->emit, "src", src);
    ln_emit_arg(&n->emit, "index", index);
    ln_emit_end(&n->emit, "dst", 0);
}

const ln_nnvm_row ln_nnvm_rows_index[] = {
    {"take", LN_NNVM_IN_BOTH, translate_take, NULL, 2, 2},
    {"Embedding", LN_NNVM_IN_MXNET, translate_embedding, NULL, 2, 2, .weights = 2,
     .ignored = " sparse_grad "},
    {"gather_nd", LN_NNVM_IN_BOTH, translate_gather_nd, NULL, 2, 2},
    {NULL},
};
