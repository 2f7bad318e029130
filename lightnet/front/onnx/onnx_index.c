// SPDX-License-Identifier: Apache-2.0
// ONNX operators that gather and scatter by index, count, or have results of data-dependent size.

#include <limits.h>

#include "front/onnx/ln_onnx.h"
#include "tensorlight/tl_shape.h"

static void translate_onehot(ln_onnx_node *n)
{
    const char *const src = ln_onnx_in(n, 0);
    const double depth = ln_onnx_required_number(n, 1);
    if (!(depth >= 0 && depth <= INT_MAX))
        ln_emit_fail(&n->emit, "a depth of %g, expected 0 to %d", depth, INT_MAX);
    LN_ONNX_FORM(
        n, 0, LN_INT("depth", ln_onnx_failed(n) ? 0 : (int)depth),
        LN_INT("axis", ln_attr_axis(&n->emit, "axis", -1, ln_onnx_tensor_of(n, src)->ndim + 1)));
}

// Counting

// The length of Range with delta 1, if limit - start follows from sizes; else unknown.
static ln_dim counted_length(ln_onnx_node *n)
{
    ln_symbols *const symbols = ln_emit_symbols(&n->emit);
    const ln_dim start = ln_onnx_element_size(n, ln_onnx_in(n, 0), 0), zero = ln_dim_constant(0);
    const ln_dim limit = ln_onnx_element_size(n, ln_onnx_in(n, 1), 0);
    const ln_dim delta = ln_onnx_element_size(n, ln_onnx_in(n, 2), 0);
    const ln_dim length = ln_dim_sub(symbols, &limit, &start);
    return ln_dim_is(&delta, 1) ? ln_dim_max(symbols, &length, &zero) : ln_dim_unknown();
}

// The length of Range, or its max if inputs are known only at run time. Exact for integers.
static int range_length(ln_onnx_node *n)
{
    int64_t integers[3];
    double numbers[3];
    tl_tensor t[3];
    const tl_dtype dtype = ln_onnx_tensor_of(n, ln_onnx_in(n, 0))->dtype;
    const int is_integer = dtype == TL_INT64 || dtype == TL_INT32;
    const ln_dim counted = counted_length(n);
    if (is_integer && ln_dim_is_known(&counted) && ln_onnx_max(n, &counted) <= INT_MAX)
        return (int)ln_onnx_max(n, &counted);
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

static void translate_range(ln_onnx_node *n)
{
    const int len = range_length(n);
    const int varies = ln_onnx_varies(n, 0) || ln_onnx_varies(n, 1) || ln_onnx_varies(n, 2);
    if (varies)
        LN_EMIT(&n->emit, 0, LN_OP_RANGE_TO, LN_ARG("start", ln_onnx_in(n, 0)),
                LN_ARG("limit", ln_onnx_in(n, 1)), LN_ARG("delta", ln_onnx_in(n, 2)),
                LN_INT("len", len));
    else
        LN_EMIT(&n->emit, 0, LN_OP_RANGE, LN_ARG("start", ln_onnx_in(n, 0)),
                LN_ARG("delta", ln_onnx_in(n, 2)), LN_INT("len", len));
}

static void translate_eye_like(ln_onnx_node *n)
{
    const char *const src = ln_onnx_in_of(n, 0, 2);
    const tl_tensor *const like = ln_onnx_tensor_of(n, src);
    const int64_t k = ln_attr_int(&n->emit, "k", 0);
    const tl_dtype dtype = ln_attr_dtype(&n->emit, "dtype", like->dtype);
    ln_onnx_want_fixed(n, src);
    if (ln_onnx_failed(n))
        return;
    LN_EMIT(&n->emit, 0, LN_OP_EYE, LN_DTYPE("dtype", dtype), LN_INTS("dims", 2, like->dims),
            LN_INT("k", k < -INT_MAX  ? -INT_MAX
                        : k > INT_MAX ? INT_MAX
                                      : k));
}

// The tensor flattened, if the node has no attribute `axis`; `*axis`: that of the operator.
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
    LN_ONNX_FORM(n, 0, LN_ARG("src", src));
}

// Compress, Unique.
static void translate_along_axis(ln_onnx_node *n)
{
    int axis;
    const char *const src = along_axis(n, ln_onnx_in(n, 0), &axis);
    LN_ONNX_FORM(n, 0, LN_ARG("src", src), LN_INT("axis", axis));
}

static void translate_nms(ln_onnx_node *n)
{
    const char *const max = ln_onnx_optional(n, 2);
    const tl_tensor *const value = ln_onnx_value(n, max);
    const int is_known = value && value->dtype == TL_INT64 && value->len == 1;
    const int64_t asked = is_known ? *(const int64_t *)value->data : INT_MAX;
    // The max number of boxes; without the input no box is wanted.
    const int limit = !max || asked < 0 ? 0 : asked > INT_MAX ? INT_MAX : (int)asked;
    LN_ONNX_FORM(n, 0, LN_INT("limit", limit));
}

const ln_onnx_row ln_onnx_rows_index[] = {
    {"EyeLike", 9, translate_eye_like},       {"OneHot", 9, translate_onehot},
    {"Range", 11, translate_range},           {"Compress", 9, translate_along_axis},
    {"NonMaxSuppression", 10, translate_nms}, {"NonZero", 9, translate_nonzero},
    {"Unique", 11, translate_along_axis},     {NULL},
};
