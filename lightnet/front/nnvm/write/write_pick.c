// SPDX-License-Identifier: Apache-2.0
// Writing generated constants, as parameters, and operators that pick elements by indices.

#include <math.h>
#include <string.h>

#include "front/nnvm/write/ln_nnvm_write.h"
#include "tensorlight/tl_shape.h"
#include "tensorlight/tl_util.h"

static ln_nnvm_value put_filled(ln_nnvm_op *n, tl_tensor *filled)
{
    const tl_tensor *const dst = ln_nnvm_op_tensor_of(n, "dst");
    const ln_nnvm_value none = {.dtype = dst->dtype};
    if (!filled)
        ln_nnvm_op_fail(n, "%s", tl_last_error());
    const ln_nnvm_value v =
        filled ? ln_put_constant(n, dst->dtype, dst->ndim, dst->dims, filled->data) : none;
    tl_tensor_free_data_too(filled);
    return v;
}

static ln_nnvm_value write_zeros(ln_nnvm_op *n)
{
    const tl_tensor *const dst = ln_nnvm_op_tensor_of(n, "dst");
    return ln_put_full(n, n->label, dst->dtype, dst->ndim, dst->dims, 0);
}

static ln_nnvm_value write_arange(ln_nnvm_op *n)
{
    return put_filled(n, tl_tensor_arange(ln_op_number(n->op, "start"), ln_op_number(n->op, "stop"),
                                          ln_op_number(n->op, "step"),
                                          ln_nnvm_op_tensor_of(n, "dst")->dtype));
}

// `start` and `delta` must be constants of the model.
static ln_nnvm_value write_range(ln_nnvm_op *n)
{
    const tl_tensor *const dst = ln_nnvm_op_tensor_of(n, "dst");
    const tl_tensor *const start = ln_nnvm_own_constant(n, ln_op_input_name(n->op, "start"));
    const tl_tensor *const delta = ln_nnvm_own_constant(n, ln_op_input_name(n->op, "delta"));
    tl_tensor *const filled = tl_tensor_zeros(dst->ndim, dst->dims, dst->dtype);
    if (!start || !delta)
        ln_nnvm_op_fail(n,
                        "inputs 'start' and 'delta' are not constants, expected these, as NNVM's "
                        "core has no ranges");
    else if (filled && tl_exec_range(NULL, start, delta, filled))
        ln_nnvm_op_fail(n, "%s", tl_last_error());
    return put_filled(n, filled);
}

static ln_nnvm_value write_eye(ln_nnvm_op *n)
{
    const tl_tensor *const dst = ln_nnvm_op_tensor_of(n, "dst");
    tl_tensor *const filled = tl_tensor_zeros(dst->ndim, dst->dims, dst->dtype);
    if (filled && tl_exec_eye(NULL, filled, ln_op_int(n->op, "k")))
        ln_nnvm_op_fail(n, "%s", tl_last_error());
    return put_filled(n, filled);
}

// The source of a cast to another type, or the tensor itself.
static const char *before_cast(ln_nnvm_op *n, const char *tensor)
{
    const ln_op *const cast = ln_nnvm_producer(n, tensor, LN_OP_CAST, NULL, NULL);
    const char *const src = cast ? ln_op_input_name(cast, "src") : tensor;
    const tl_dtype dtype = ln_translation_tensor(&n->draft->base, src)->dtype;
    return dtype == TL_BOOL ? tensor : src;
}

// The constant bound, `src2`, of a max or min; NAN: not constant, or no operator.
static double bound_of(ln_nnvm_op *n, const ln_op *binary)
{
    double bound;
    return binary && ln_nnvm_own_scalar(n, ln_op_input_name(binary, "src2"), &bound) ? bound : NAN;
}

// The indices x of min(max(x, 0), len - 1), which the translator of take emits: core clamps
// indices itself. NULL: other indices.
static const char *clamped(ln_nnvm_op *n, const char *index, int len)
{
    const ln_op *const min = ln_nnvm_producer(n, index, LN_OP_BINARY, "op", "TL_BINARY_MIN");
    const char *const inner = ln_op_input_name(min, "src1");
    const ln_op *const max = ln_nnvm_producer(n, inner, LN_OP_BINARY, "op", "TL_BINARY_MAX");
    if (bound_of(n, min) != len - 1 || bound_of(n, max) != 0)
        return NULL;
    return before_cast(n, ln_op_input_name(max, "src1"));
}

static int is_never_negative(ln_nnvm_op *n, const char *index)
{
    const tl_tensor *const t = ln_nnvm_own_constant(n, index);
    for (int i = 0; t && t->data && i < t->len; i++) {
        char own[TL_DTYPE_MAX_SIZE];
        double value;
        memcpy(own, (const char *)t->data + (size_t)i * tl_size_of(t->dtype), tl_size_of(t->dtype));
        tl_convert(&value, TL_DOUBLE, own, t->dtype);
        if (value < 0)
            return 0;
    }
    return t && t->data;
}

// i < 0 ? i + len : i.
static ln_nnvm_value from_front(ln_nnvm_op *n, ln_nnvm_value index, int len)
{
    const ln_nnvm_value size = ln_put_clip(n, index, -1, 0);
    const ln_nnvm_value more = ln_put_scalar(n, "mul", size, -len);
    return ln_put_binary(n, "add", index, more);
}

static ln_nnvm_value write_take(ln_nnvm_op *n)
{
    const ln_nnvm_value src = ln_nnvm_op_in(n, "src");
    const tl_tensor *const dst = ln_nnvm_op_tensor_of(n, "dst");
    const char *const tensor = ln_op_input_name(n->op, "index");
    const int axis = ln_op_axis(n->op, src.ndim);
    if (ln_nnvm_op_failed(n))
        return src;
    const char *const within = clamped(n, tensor, src.dims[axis]);
    ln_nnvm_value index = within ? ln_nnvm_op_tensor(n, within) : ln_nnvm_op_raw(n, "index");
    if (!within && !is_never_negative(n, tensor))
        index = from_front(n, index, src.dims[axis]);
    int dims[LN_MAXDIM], ndim = 0;
    for (int i = 0; i < axis; i++)
        dims[ndim++] = src.dims[i];
    for (int i = 0; i < index.ndim; i++)
        dims[ndim++] = index.dims[i];
    for (int i = axis + 1; i < src.ndim && ndim < LN_MAXDIM; i++)
        dims[ndim++] = src.dims[i];
    const ln_nnvm_value v = LN_PUT(n, "take", ln_nnvm_shaped(src, ndim, dims), LN_SRC(src),
                                   LN_SRC(index), LN_INT("axis", axis));
    return ln_put_reshape(n, v, dst->ndim, dst->dims);
}

// Core has coordinates along the first axis of the indices, LightNet along the last: the translator
// of gather_nd transposes them.
static ln_nnvm_value write_take_nd(ln_nnvm_op *n)
{
    const tl_tensor *const dst = ln_nnvm_op_tensor_of(n, "dst");
    const ln_nnvm_value src = ln_nnvm_op_in(n, "src");
    const char *const tensor = ln_op_input_name(n->op, "index");
    const ln_op *const transpose = ln_nnvm_producer(n, tensor, LN_OP_TRANSPOSE, NULL, NULL);
    const int ndim = ln_nnvm_op_tensor_of(n, "index")->ndim;
    int axes[LN_MAXDIM], is_transposed = transpose != NULL;
    if (ln_op_int(n->op, "batch"))
        ln_nnvm_op_fail(n, "parameter 'batch' is %d, expected 0", ln_op_int(n->op, "batch"));
    int len;
    const int *const order = ln_op_ints(transpose, "axes", &len);
    for (int i = 0; i < ndim; i++) {
        axes[i] = (i + ndim - 1) % ndim;
        is_transposed &= i < len && order[i] == (i + 1) % ndim;
    }
    ln_nnvm_value index =
        is_transposed ? ln_nnvm_op_tensor(n, before_cast(n, ln_op_input_name(transpose, "src")))
                      : ln_nnvm_op_tensor(n, ndim > 1 ? tensor : before_cast(n, tensor));
    if (!is_transposed && ndim > 1)
        index = ln_put_transpose(n, index, axes);
    return LN_PUT(n, "gather_nd", ln_nnvm_shaped(src, dst->ndim, dst->dims), LN_SRC(src),
                  LN_SRC(index));
}

// Elements along an axis

// 0, 1, .. along one of `ndim` axes, repeated along the others.
static ln_nnvm_value put_counting(ln_nnvm_op *n, int ndim, const int *dims, int axis)
{
    const int len = dims[axis];
    int own[LN_MAXDIM] = {1, 1, 1, 1, 1, 1, 1, 1};
    int64_t *const numbers =
        ln_translation_alloc(&n->draft->base, ((size_t)len + 1) * sizeof(*numbers));
    own[axis] = len;
    for (int i = 0; numbers && i < len; i++)
        numbers[i] = i;
    const ln_nnvm_value v = ln_put_constant(n, TL_INT64, ndim, own, numbers);
    return ln_put_expand(n, v, ndim, dims);
}

// gather_nd by all coordinates of each element, of which `index` is one, along a new first axis.
static ln_nnvm_value write_take_along(ln_nnvm_op *n)
{
    const ln_nnvm_value src = ln_nnvm_op_in(n, "src"), given = ln_nnvm_op_in(n, "index");
    const int ndim = src.ndim, axis = ln_op_axis(n->op, ndim);
    ln_nnvm_value rows[LN_MAXDIM];
    int dims[LN_MAXDIM] = {1};
    if (ndim >= LN_MAXDIM)
        ln_nnvm_op_fail(n, "'src' has %d dimensions, expected at most %d", ndim, LN_MAXDIM - 1);
    if (ln_nnvm_op_failed(n))
        return src;
    memcpy(dims + 1, given.dims, (size_t)ndim * sizeof(int));
    const ln_nnvm_value index = from_front(n, ln_put_cast(n, given, TL_INT64), src.dims[axis]);
    for (int i = 0; i < ndim; i++)
        rows[i] = i == axis ? ln_put_reshape(n, index, ndim + 1, dims)
                            : put_counting(n, ndim + 1, dims, i + 1);
    const ln_nnvm_value coordinates = ln_put_join(n, ndim, rows, 0);
    return LN_PUT(n, "gather_nd", ln_nnvm_shaped(src, ndim, given.dims), LN_SRC(src),
                  LN_SRC(coordinates));
}

// Non-maximum suppression

// "No limit" is -1 in core, 0 in LightNet.
static int max_of(const ln_nnvm_op *n, const char *param)
{
    const int max = ln_op_int(n->op, param);
    return max ? max : -1;
}

// non_max_suppression, which returns the rows or their indices.
static ln_nnvm_value put_suppression(ln_nnvm_op *n, ln_nnvm_value rows, ln_nnvm_value count,
                                     int is_index)
{
    const ln_nnvm_value index = ln_nnvm_typed(ln_nnvm_shaped(rows, 2, rows.dims), TL_INT32);
    return LN_PUT(
        n, "non_max_suppression", is_index ? index : rows, LN_SRC(rows), LN_SRC(count),
        LN_BOOL("return_indices", is_index), LN_INT("coord_start", ln_op_int(n->op, "box")),
        LN_INT("score_index", ln_op_int(n->op, "score")),
        LN_INT("id_index", ln_op_int(n->op, "label")),
        LN_NUMBER("iou_threshold", ln_op_number(n->op, "overlap")),
        LN_BOOL("force_suppress", ln_op_bool(n->op, "across_labels")),
        LN_BOOL("invalid_to_bottom", ln_op_bool(n->op, "packs")),
        LN_INT("top_k", max_of(n, "most_compared")), LN_INT("max_output_size", max_of(n, "most")));
}

static ln_nnvm_value write_nms_rows(ln_nnvm_op *n)
{
    const ln_nnvm_value rows = ln_nnvm_op_in(n, "src");
    const ln_nnvm_value count = ln_op_input_name(n->op, "count")
                                    ? ln_nnvm_op_in(n, "count")
                                    : ln_put_full(n, NULL, TL_INT32, 1, rows.dims, rows.dims[1]);
    const char *const dst = ln_op_output_name(n->op, "dst");
    const char *const index = ln_op_output_name(n->op, "index");
    const ln_nnvm_value best = put_suppression(n, rows, count, 0);
    if (!index)
        return best;
    ln_nnvm_op_set_out(n, dst, best);
    const ln_nnvm_value places = put_suppression(n, rows, count, 1);
    ln_nnvm_op_set_out(n, index, places);
    return strcmp(n->label, index) ? best : places;
}

const ln_nnvm_op_row ln_nnvm_write_rows_pick[] = {
    {LN_OP_ZEROS, write_zeros},
    {LN_OP_ARANGE, write_arange},
    {LN_OP_RANGE, write_range},
    {LN_OP_EYE, write_eye},
    {LN_OP_TAKE, write_take},
    {LN_OP_TAKE_ND, write_take_nd},
    {LN_OP_TAKE_ALONG, write_take_along},
    {LN_OP_NMS_ROWS, write_nms_rows},
    {NULL},
};
