// SPDX-License-Identifier: Apache-2.0
// Writing operators that pick elements by indices.

#include <math.h>
#include <string.h>

#include "front/nnvm/ln_nnvm_put.h"

// What a cast to another type reads, or the tensor itself.
static const char *before_cast(ln_nnvm_op *n, const char *tensor)
{
    const ln_op *const cast = ln_nnvm_maker(n, tensor, "cast", NULL, NULL);
    const char *const src = cast ? ln_nnvm_src_of(cast, "src") : tensor;
    const tl_dtype dtype = ln_translation_tensor(&n->writer->draft.base, src)->dtype;
    return dtype == TL_BOOL ? tensor : src;
}

// The bound of a binary with a number of the model's own, or NAN: it is none.
static double bound_of(ln_nnvm_op *n, const ln_op *binary)
{
    double bound;
    return binary && ln_nnvm_own_scalar(n, ln_nnvm_src_of(binary, "src2"), &bound) ? bound : NAN;
}

/** The indices of min(max(x, 0), len - 1), which the translator of take makes: x, as core moves
 *  what is out of range itself. NULL: they are others. */
static const char *clamped(ln_nnvm_op *n, const char *index, int len)
{
    const ln_op *const min = ln_nnvm_maker(n, index, "binary", "op", "TL_BINARY_MIN");
    const char *const inner = min ? ln_nnvm_src_of(min, "src1") : NULL;
    const ln_op *const max = ln_nnvm_maker(n, inner, "binary", "op", "TL_BINARY_MAX");
    if (bound_of(n, min) != len - 1 || bound_of(n, max) != 0)
        return NULL;
    return before_cast(n, ln_nnvm_src_of(max, "src1"));
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

/** i < 0 ? i + len : i. */
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
    const char *const tensor = ln_nnvm_src_of(n->op, "index");
    const int axis = ln_nnvm_op_axis(n, src.ndim, 0);
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
    ln_put_begin(n, "take");
    ln_put_arg(n, src);
    ln_put_arg(n, index);
    ln_nnvm_draft_set_int(&n->writer->draft, "axis", axis);
    return ln_put_reshape(n, ln_put_end(n, src.dtype, ndim, dims, 1), dst->ndim, dst->dims);
}

/** Core's rows of coordinates lie along the first axis of the indices. The translator of gather_nd
 *  turns them round. */
static ln_nnvm_value write_take_nd(ln_nnvm_op *n)
{
    const tl_tensor *const dst = ln_nnvm_op_tensor_of(n, "dst");
    const ln_nnvm_value src = ln_nnvm_op_in(n, "src");
    const char *const tensor = ln_nnvm_src_of(n->op, "index");
    const ln_op *const turn = ln_nnvm_maker(n, tensor, "transpose", NULL, NULL);
    const int ndim = ln_nnvm_op_tensor_of(n, "index")->ndim;
    int axes[LN_MAXDIM], is_turned = turn != NULL;
    if (ln_nnvm_op_int(n, "batch", 0))
        ln_nnvm_op_fail(n, "parameter 'batch' is %d, expected 0", ln_nnvm_op_int(n, "batch", 0));
    const ln_param_entry *pe = turn ? ln_param_list_find(turn->op_arg->params, "axes") : NULL;
    for (int i = 0; i < ndim; i++) {
        axes[i] = (i + ndim - 1) % ndim;
        is_turned &= pe && i < pe->array_len && pe->value_array_int[i] == (i + 1) % ndim;
    }
    ln_nnvm_value index = is_turned
                              ? ln_nnvm_op_tensor(n, before_cast(n, ln_nnvm_src_of(turn, "src")))
                              : ln_nnvm_op_tensor(n, ndim > 1 ? tensor : before_cast(n, tensor));
    if (!is_turned && ndim > 1)
        index = ln_put_transpose(n, index, axes);
    ln_put_begin(n, "gather_nd");
    ln_put_arg(n, src);
    ln_put_arg(n, index);
    return ln_put_end(n, src.dtype, dst->ndim, dst->dims, 1);
}

/* ---- the best of boxes that overlap ---- */

// Core counts from -1 what LightNet counts from 0: all of them.
static void set_most(ln_nnvm_op *n, const char *key, const char *param)
{
    const int most = ln_nnvm_op_int(n, param, 0);
    ln_nnvm_draft_set_int(&n->writer->draft, key, most ? most : -1);
}

// One of the two outputs.
static ln_nnvm_value put_suppression(ln_nnvm_op *n, ln_nnvm_value rows, ln_nnvm_value count,
                                     int gives_index)
{
    ln_nnvm_draft *const d = &n->writer->draft;
    ln_put_begin(n, "non_max_suppression");
    ln_put_arg(n, rows);
    ln_put_arg(n, count);
    ln_nnvm_draft_set_bool(d, "return_indices", gives_index);
    ln_nnvm_draft_set_int(d, "coord_start", ln_nnvm_op_int(n, "box", 2));
    ln_nnvm_draft_set_int(d, "score_index", ln_nnvm_op_int(n, "score", 1));
    ln_nnvm_draft_set_int(d, "id_index", ln_nnvm_op_int(n, "label", 0));
    ln_nnvm_draft_set_number(d, "iou_threshold", ln_nnvm_op_number(n, "overlap", 0));
    ln_nnvm_draft_set_bool(d, "force_suppress", ln_nnvm_op_bool(n, "across_labels", 0));
    ln_nnvm_draft_set_bool(d, "invalid_to_bottom", ln_nnvm_op_bool(n, "packs", 0));
    set_most(n, "top_k", "most_compared");
    set_most(n, "max_output_size", "most");
    return ln_put_end(n, gives_index ? TL_INT32 : rows.dtype, gives_index ? 2 : 3, rows.dims, 1);
}

static ln_nnvm_value write_nms_rows(ln_nnvm_op *n)
{
    const ln_nnvm_value rows = ln_nnvm_op_in(n, "src");
    const ln_nnvm_value count = ln_nnvm_op_has_in(n, "count")
                                    ? ln_nnvm_op_in(n, "count")
                                    : ln_put_full(n, NULL, TL_INT32, 1, rows.dims, rows.dims[1]);
    const char *const dst = ln_tensor_list_find_name(n->op->op_arg->tensors_out, "dst");
    const char *const index = ln_tensor_list_find_name(n->op->op_arg->tensors_out, "index");
    const ln_nnvm_value best = put_suppression(n, rows, count, 0);
    if (!index)
        return best;
    ln_nnvm_op_give(n, dst, best);
    const ln_nnvm_value places = put_suppression(n, rows, count, 1);
    ln_nnvm_op_give(n, index, places);
    return strcmp(n->label, index) ? best : places;
}

const ln_nnvm_op_row ln_nnvm_write_rows_index[] = {
    {"take", write_take},
    {"take_nd", write_take_nd},
    {"nms_rows", write_nms_rows},
    {NULL},
};
