// SPDX-License-Identifier: Apache-2.0
// ONNX operators whose result is as large as the data make it.

#include <limits.h>

#include "front/onnx/ln_onnx_rows.h"

/** The tensor as a line, where the node names no axis; `*axis` is that of the operator. */
static const char *along_axis(ln_onnx_node *n, const char *src, int *axis)
{
    *axis = 0;
    if (!ln_onnx_has_attr(n, "axis"))
        return ln_emit_view(&n->emit, src, 1, (int[]){-1}, LN_EMIT_TEMP);
    *axis = ln_onnx_axis(n, ln_onnx_int(n, "axis", 0), ln_onnx_tensor_of(n, src)->ndim);
    return src;
}

/** A scalar counts as a tensor with one dimension. */
static void translate_nonzero(ln_onnx_node *n)
{
    const char *src = ln_onnx_in(n, 0);
    if (ln_onnx_tensor_of(n, src)->ndim == 0)
        src = ln_emit_view(&n->emit, src, 1, (int[]){1}, LN_EMIT_TEMP);
    ln_emit_simple(&n->emit, "nonzero", src, 0);
}

static void translate_compress(ln_onnx_node *n)
{
    int axis;
    const char *const src = along_axis(n, ln_onnx_in(n, 0), &axis);
    LN_EMIT(&n->emit, 0, "compress", LN_ARG("src", src), LN_ARG("condition", ln_onnx_in(n, 1)),
            LN_INT("axis", axis));
}

static void translate_unique(ln_onnx_node *n)
{
    static const char *const outs[] = {"dst", "first", "inverse", "counts"};
    int axis;
    const char *const src = along_axis(n, ln_onnx_in(n, 0), &axis);
    ln_emit_begin(&n->emit, "unique");
    ln_emit_arg(&n->emit, "src", src);
    ln_emit_set(&n->emit, LN_INT("axis", axis));
    ln_emit_set(&n->emit, LN_BOOL("sorted", ln_onnx_flag(n, "sorted", 1)));
    for (int i = 1; i < 4; i++)
        if (ln_onnx_wants(n, i))
            ln_emit_out(&n->emit, outs[i], i);
    ln_emit_end(&n->emit, outs[0], 0);
}

/** For how many boxes there is to be room: the number that is asked for, where it is known; without
 *  it none is. */
static int limit_of_boxes(ln_onnx_node *n, const char *most)
{
    const tl_tensor *const value = ln_onnx_value(n, most);
    if (!most)
        return 0;
    if (!value || value->dtype != TL_INT64 || value->len != 1)
        return INT_MAX;
    const int64_t asked = *(const int64_t *)value->data;
    return asked < 0 ? 0 : asked > INT_MAX ? INT_MAX : (int)asked;
}

static void translate_nms(ln_onnx_node *n)
{
    const char *const most = ln_onnx_optional(n, 2);
    const int limit = limit_of_boxes(n, most);
    LN_EMIT(&n->emit, 0, "nms", LN_ARG("boxes", ln_onnx_in(n, 0)),
            LN_ARG("scores", ln_onnx_in(n, 1)), LN_ARG("most", most),
            LN_ARG("overlap", ln_onnx_optional(n, 3)), LN_ARG("score", ln_onnx_optional(n, 4)),
            LN_INT("limit", limit), LN_BOOL("center", ln_onnx_flag(n, "center_point_box", 0)));
}

const ln_onnx_row ln_onnx_rows_select[] = {
    {"Compress", 9, translate_compress},
    {"NonMaxSuppression", 10, translate_nms},
    {"NonZero", 9, translate_nonzero},
    {"Unique", 11, translate_unique},
    {NULL},
};
