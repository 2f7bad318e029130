// SPDX-License-Identifier: Apache-2.0
// ONNX operators that pick and place elements by index, those that count, and those whose result is
// as large as the data make it.

#include <limits.h>

#include "front/onnx/ln_onnx.h"
#include "tensorlight/tl_shape.h"

// Picked

// Gather and GatherElements: the operator is the row's.
static void translate_take(ln_onnx_node *n)
{
    const char *const src = ln_onnx_in(n, 0);
    const char *const index = ln_onnx_in(n, 1);
    LN_EMIT(&n->emit, 0, n->row->with, LN_ARG("src", src), LN_ARG("index", index),
            LN_INT("axis", ln_attr_axis(&n->emit, "axis", 0, ln_onnx_tensor_of(n, src)->ndim)));
}

static void translate_gather_nd(ln_onnx_node *n)
{
    LN_EMIT(&n->emit, 0, LN_OP_TAKE_ND, LN_ARG("src", ln_onnx_in(n, 0)),
            LN_ARG("index", ln_onnx_in(n, 1)),
            LN_INT("batch", ln_attr_int(&n->emit, "batch_dims", 0)));
}

// Placed

static const ln_attr_word put_ops[] = {
    {"none", "TL_PUT_SET", 0}, {"add", "TL_PUT_SUM", 16}, {"mul", "TL_PUT_MUL", 16},
    {"max", "TL_PUT_MAX", 18}, {"min", "TL_PUT_MIN", 18}, {0},
};

// Emits the common part of Scatter, ScatterElements and ScatterND.
static void begin_put(ln_onnx_node *n, const char *optype)
{
    const char *const op = ln_attr_choose(&n->emit, "reduction", "none", put_ops);
    ln_emit_begin(&n->emit, optype);
    ln_emit_arg(&n->emit, "src", ln_onnx_in(n, 0));
    ln_emit_arg(&n->emit, "index", ln_onnx_in(n, 1));
    ln_emit_arg(&n->emit, "update", ln_onnx_in(n, 2));
    ln_emit_set(&n->emit, LN_TEXT("op", op));
}

static void translate_scatter_elements(ln_onnx_node *n)
{
    const int ndim = ln_onnx_tensor_of(n, ln_onnx_in(n, 0))->ndim;
    begin_put(n, LN_OP_PUT_ALONG);
    ln_emit_set(&n->emit, LN_INT("axis", ln_attr_axis(&n->emit, "axis", 0, ndim)));
    ln_emit_end(&n->emit, "dst", 0);
}

static void translate_scatter_nd(ln_onnx_node *n)
{
    begin_put(n, LN_OP_PUT_ND);
    ln_emit_end(&n->emit, "dst", 0);
}

static void translate_tensor_scatter(ln_onnx_node *n)
{
    const char *const src = ln_onnx_in(n, 0);
    static const ln_attr_word modes[] = {{"linear"}, {"circular"}, {0}};
    const char *const mode = ln_attr_choose(&n->emit, "mode", "linear", modes);
    LN_EMIT(&n->emit, 0, LN_OP_PUT_RANGE, LN_ARG("src", src), LN_ARG("update", ln_onnx_in(n, 1)),
            LN_ARG("first", ln_onnx_optional(n, 2)),
            LN_INT("axis", ln_attr_axis(&n->emit, "axis", -2, ln_onnx_tensor_of(n, src)->ndim)),
            LN_BOOL("circular", ln_streq(mode, "circular")));
}

static void translate_onehot(ln_onnx_node *n)
{
    const char *const src = ln_onnx_in(n, 0);
    const double depth = ln_onnx_required_number(n, 1);
    if (!(depth >= 0 && depth <= INT_MAX))
        ln_emit_fail(&n->emit, "a depth of %g, expected 0 to %d", depth, INT_MAX);
    LN_EMIT(
        &n->emit, 0, LN_OP_ONEHOT, LN_ARG("src", src), LN_ARG("values", ln_onnx_in(n, 2)),
        LN_INT("depth", ln_onnx_failed(n) ? 0 : (int)depth),
        LN_INT("axis", ln_attr_axis(&n->emit, "axis", -1, ln_onnx_tensor_of(n, src)->ndim + 1)));
}

// Counting

// The length of Range, which its three inputs decide, or the largest; integers are compared as
// such.
static int range_length(ln_onnx_node *n)
{
    int64_t integers[3];
    double numbers[3];
    tl_tensor t[3];
    const tl_dtype dtype = ln_onnx_tensor_of(n, ln_onnx_in(n, 0))->dtype;
    const int is_integer = dtype == TL_INT64 || dtype == TL_INT32;
    for (int i = 0; i < 3; i++) {
        ln_onnx_in(n, i);
        int len = 0;
        const int64_t *const value = is_integer ? ln_onnx_largest_ints_in(n, i, &len) : NULL;
        if (is_integer && len != 1)
            ln_emit_fail(&n->emit, "input %d has %d elements, expected 1", i, len);
        if (is_integer)
            integers[i] = len == 1 ? *value : 0;
        else
            numbers[i] = ln_onnx_number_in(n, i, 0);
        t[i] = (tl_tensor){.dtype = is_integer ? TL_INT64 : TL_DOUBLE,
                           .len = 1,
                           .data = is_integer ? (void *)&integers[i] : (void *)&numbers[i]};
    }
    const int len = ln_onnx_failed(n) ? 0 : tl_range_length(&t[0], &t[1], &t[2]);
    if (len < 0)
        ln_emit_fail(&n->emit, "%s", tl_last_error());
    return len < 0 ? 0 : len;
}

// The min length of Range that sizes determine, in steps of 1; 0: unknown.
static int min_range_length(ln_onnx_node *n, int len)
{
    const ln_dim start = ln_onnx_element_size(n, ln_onnx_in(n, 0), 0);
    const ln_dim limit = ln_onnx_element_size(n, ln_onnx_in(n, 1), 0);
    const ln_dim delta = ln_onnx_element_size(n, ln_onnx_in(n, 2), 0);
    const ln_dim length = ln_dim_sub(ln_emit_symbols(&n->emit), &limit, &start);
    if (!ln_dim_is_number(&delta) || delta.plus != 1 || !ln_dim_is_known(&length))
        return 0;
    const int64_t min = ln_onnx_min(n, &length);
    return min < 0 ? 0 : min > len ? len : (int)min;
}

static void translate_range(ln_onnx_node *n)
{
    const int len = range_length(n);
    const int varies = ln_onnx_varies(n, 0) || ln_onnx_varies(n, 1) || ln_onnx_varies(n, 2);
    if (varies)
        LN_EMIT(&n->emit, 0, LN_OP_RANGE_TO, LN_ARG("start", ln_onnx_in(n, 0)),
                LN_ARG("limit", ln_onnx_in(n, 1)), LN_ARG("delta", ln_onnx_in(n, 2)),
                LN_INT("len", len), LN_INT("least", min_range_length(n, len)));
    else
        LN_EMIT(&n->emit, 0, LN_OP_RANGE, LN_ARG("start", ln_onnx_in(n, 0)),
                LN_ARG("delta", ln_onnx_in(n, 2)), LN_INT("len", len));
}

static void translate_eye_like(ln_onnx_node *n)
{
    const char *const src = ln_onnx_in(n, 0);
    const tl_tensor *const like = ln_onnx_tensor_of(n, src);
    const int64_t k = ln_attr_int(&n->emit, "k", 0);
    const tl_dtype dtype = ln_attr_dtype(&n->emit, "dtype", like->dtype);
    ln_onnx_want_fixed(n, src);
    if (like->ndim != 2)
        ln_emit_fail(&n->emit, "input 0 has %d dimensions, expected 2", like->ndim);
    if (ln_onnx_failed(n))
        return;
    LN_EMIT(&n->emit, 0, LN_OP_EYE, LN_DTYPE("dtype", dtype), LN_INTS("dims", 2, like->dims),
            LN_INT("k", k < -INT_MAX  ? -INT_MAX
                        : k > INT_MAX ? INT_MAX
                                      : k));
}

// The tensor as a line, where the node names no axis; `*axis` is that of the operator.
static const char *along_axis(ln_onnx_node *n, const char *src, int *axis)
{
    *axis = 0;
    if (!ln_attr_has(&n->emit, "axis"))
        return ln_emit_view(&n->emit, src, 1, (int[]){-1}, LN_EMIT_TEMP);
    *axis = ln_attr_axis(&n->emit, "axis", 0, ln_onnx_tensor_of(n, src)->ndim);
    return src;
}

// A scalar counts as a tensor with one dimension.
static void translate_nonzero(ln_onnx_node *n)
{
    const char *src = ln_onnx_in(n, 0);
    if (ln_onnx_tensor_of(n, src)->ndim == 0)
        src = ln_emit_view(&n->emit, src, 1, (int[]){1}, LN_EMIT_TEMP);
    ln_emit_simple(&n->emit, LN_OP_NONZERO, src, 0);
}

static void translate_compress(ln_onnx_node *n)
{
    int axis;
    const char *const src = along_axis(n, ln_onnx_in(n, 0), &axis);
    LN_EMIT(&n->emit, 0, LN_OP_COMPRESS, LN_ARG("src", src), LN_ARG("condition", ln_onnx_in(n, 1)),
            LN_INT("axis", axis));
}

static void translate_unique(ln_onnx_node *n)
{
    static const char *const outs[] = {"dst", "first", "inverse", "counts"};
    int axis;
    const char *const src = along_axis(n, ln_onnx_in(n, 0), &axis);
    LN_EMIT_BEGIN(&n->emit, LN_OP_UNIQUE, LN_ARG("src", src), LN_INT("axis", axis),
                  LN_BOOL("sorted", ln_attr_bool(&n->emit, "sorted", 1)));
    for (int i = 1; i < 4; i++)
        if (ln_onnx_wants(n, i))
            ln_emit_out(&n->emit, outs[i], i);
    ln_emit_end(&n->emit, outs[0], 0);
}

static void translate_nms(ln_onnx_node *n)
{
    const char *const max = ln_onnx_optional(n, 2);
    const tl_tensor *const value = ln_onnx_value(n, max);
    const int is_known = value && value->dtype == TL_INT64 && value->len == 1;
    const int64_t asked = is_known ? *(const int64_t *)value->data : INT_MAX;
    // For how many boxes there is to be room; without the input no box is wanted.
    const int limit = !max || asked < 0 ? 0 : asked > INT_MAX ? INT_MAX : (int)asked;
    LN_EMIT(&n->emit, 0, LN_OP_NMS, LN_ARG("boxes", ln_onnx_in(n, 0)),
            LN_ARG("scores", ln_onnx_in(n, 1)), LN_ARG("most", max),
            LN_ARG("overlap", ln_onnx_optional(n, 3)), LN_ARG("score", ln_onnx_optional(n, 4)),
            LN_INT("limit", limit),
            LN_BOOL("center", ln_attr_bool(&n->emit, "center_point_box", 0)));
}

const ln_onnx_row ln_onnx_rows_index[] = {
    {"EyeLike", 9, translate_eye_like},
    {"Gather", 1, translate_take, LN_OP_TAKE},
    {"GatherElements", 11, translate_take, LN_OP_TAKE_ALONG},
    {"GatherND", 11, translate_gather_nd},
    {"OneHot", 9, translate_onehot},
    {"Range", 11, translate_range},
    {"Scatter", 9, translate_scatter_elements},
    {"ScatterElements", 11, translate_scatter_elements},
    {"ScatterND", 11, translate_scatter_nd},
    {"TensorScatter", 24, translate_tensor_scatter},
    {"Compress", 9, translate_compress},
    {"NonMaxSuppression", 10, translate_nms},
    {"NonZero", 9, translate_nonzero},
    {"Unique", 11, translate_unique},
    {NULL},
};
