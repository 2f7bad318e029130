// SPDX-License-Identifier: Apache-2.0
// MXNet's operators that move and reduce elements in core's.

#include <limits.h>
#include <string.h>

#include "front/nnvm/ln_nnvm_steps.h"
#include "front/nnvm/mxnet/ln_nnvm_core.h"

// Shapes

// The way before MXNet 0.9: one 0 is inferred.
static void rewrite_target_shape(ln_nnvm_recast *r, const int64_t *target, int len)
{
    const ln_nnvm_entry src = ln_nnvm_recast_in(r, 0);
    const int keeps = ln_attr_bool(&r->node.emit, "keep_highest", 0);
    int codes[LN_NNVM_MAX_TUPLE];
    for (int i = 0; i < len; i++)
        codes[i] = i == 0 && keeps ? 0 : target[i] == 0 ? -1 : (int)target[i];
    ln_nnvm_recast_out(r, 0, LN_RECAST(r, "reshape", LN_ENTRY(src), LN_INTS("shape", len, codes)));
}

static void rewrite_reshape(ln_nnvm_recast *r)
{
    int len, n_target;
    const int64_t *const target = ln_attr_ints(&r->node.emit, "target_shape", &n_target);
    ln_nnvm_recast_lacks(r, ln_attr_bool(&r->node.emit, "reverse", 0)); // core counts from the left
    ln_attr_bool(&r->node.emit, "keep_highest", 0); // means nothing beside `shape`
    ln_attr_ints(&r->node.emit, "shape", &len);
    if (!len && n_target)
        rewrite_target_shape(r, target, n_target);
    else
        ln_nnvm_recast_same(r);
}

// Slices

enum { TO_THE_END = INT_MAX, TO_THE_BEGINNING = INT_MIN };

static int bound_of(int64_t value, int none)
{
    return value == LN_NNVM_NONE ? none
           : value > INT_MAX     ? INT_MAX
           : value < INT_MIN     ? INT_MIN
                                 : (int)value;
}

// `axis`: the only one, which LightNet adds to core's; NULL: the first ones.
static void slice(ln_nnvm_recast *r, int len, const int *begin, const int *end, const int *stride,
                  const int *axis)
{
    const ln_nnvm_entry src = ln_nnvm_recast_in(r, 0);
    ln_nnvm_recast_out(r, 0,
                       LN_RECAST(r, "strided_slice", LN_ENTRY(src), LN_INTS("begin", len, begin),
                                 LN_INTS("end", len, end),
                                 LN_ONLY_IF(stride, LN_INTS("stride", len, stride)),
                                 LN_ONLY_IF(axis, LN_INTS("axis", 1, axis))));
}

// Bounds that are None are those of the whole axis.
static void rewrite_slice(ln_nnvm_recast *r)
{
    int n_begin, n_end, n_step, begin[LN_NNVM_MAX_TUPLE], end[LN_NNVM_MAX_TUPLE],
        step[LN_NNVM_MAX_TUPLE];
    ln_attr_require(&r->node.emit, "begin");
    ln_attr_require(&r->node.emit, "end");
    const int64_t *const begins = ln_attr_ints(&r->node.emit, "begin", &n_begin);
    const int64_t *const ends = ln_attr_ints(&r->node.emit, "end", &n_end);
    const int64_t *const steps = ln_attr_ints(&r->node.emit, "step", &n_step);
    const int len = n_begin > n_end ? n_begin : n_end;
    if (n_step > len)
        ln_emit_fail(&r->node.emit, "%d steps of %d axes", n_step, len);
    for (int i = 0; i < len; i++) {
        step[i] = i < n_step ? bound_of(steps[i], 1) : 1;
        const int turns = step[i] < 0;
        begin[i] = bound_of(i < n_begin ? begins[i] : LN_NNVM_NONE, turns ? TO_THE_END : 0);
        end[i] =
            bound_of(i < n_end ? ends[i] : LN_NNVM_NONE, turns ? TO_THE_BEGINNING : TO_THE_END);
    }
    slice(r, len, begin, end, n_step > 0 ? step : NULL, NULL);
}

static void rewrite_slice_axis(ln_nnvm_recast *r)
{
    int begin[LN_MAXDIM] = {0}, end[LN_MAXDIM];
    ln_attr_require(&r->node.emit, "axis");
    ln_attr_require(&r->node.emit, "begin");
    const int axis = ln_attr_int_in(&r->node.emit, "axis", 0, INT_MIN, INT_MAX);
    const int fits = axis >= 0 && axis < LN_MAXDIM, at = r->is_reading || !fits ? 0 : axis;
    ln_nnvm_recast_lacks(r, !fits); // core counts axes from the front
    for (int i = 0; i < LN_MAXDIM; i++)
        end[i] = TO_THE_END;
    begin[at] = ln_attr_int_in(&r->node.emit, "begin", 0, INT_MIN, INT_MAX);
    end[at] = ln_attr_int_in(&r->node.emit, "end", TO_THE_END, INT_MIN, INT_MAX);
    slice(r, at + 1, begin, end, NULL, r->is_reading ? &axis : NULL);
}

// Rows and columns to given lengths, or those of the second input.
static void rewrite_crop(ln_nnvm_recast *r)
{
    static const int rows_and_columns[] = {2, 3};
    int offset[2], size[2];
    const int is_like = ln_nnvm_num_inputs(&r->node) == 2;
    ln_attr_ints_of(&r->node.emit, "offset", 2, 0, 0, offset);
    ln_attr_ints_of(&r->node.emit, "h_w", 2, 0, 0, size);
    ln_attr_int(&r->node.emit, "num_args", 1);
    // Where it cuts may depend on lengths.
    ln_nnvm_recast_lacks(r, ln_attr_bool(&r->node.emit, "center_crop", 0) ||
                                (is_like && (offset[0] || offset[1])));
    if (is_like) {
        const ln_nnvm_entry src = ln_nnvm_recast_in(r, 0), like = ln_nnvm_recast_in(r, 1);
        ln_nnvm_recast_out(r, 0,
                           LN_RECAST(r, "slice_like", LN_ENTRY(src), LN_ENTRY(like),
                                     LN_INTS("axis", 2, rows_and_columns)));
        return;
    }
    const int begin[] = {0, 0, offset[0], offset[1]};
    const int end[] = {TO_THE_END, TO_THE_END, bound_of((int64_t)offset[0] + size[0], 0),
                       bound_of((int64_t)offset[1] + size[1], 0)};
    slice(r, 4, begin, end, NULL, NULL);
}

// Joins and parts

static void rewrite_concat(ln_nnvm_recast *r)
{
    ln_nnvm_check_args(&r->node);
    ln_nnvm_recast_same(r);
}

static void rewrite_stack(ln_nnvm_recast *r)
{
    const int len = ln_nnvm_check_args(&r->node);
    const int axis = ln_attr_int_in(&r->node.emit, "axis", 0, -LN_MAXDIM, LN_MAXDIM - 1);
    ln_nnvm_entry *parts =
        ln_translation_alloc(&r->draft->base, ((size_t)len + 1) * sizeof(*parts));
    for (int i = 0; parts && i < len; i++) {
        const ln_nnvm_entry src = ln_nnvm_recast_in(r, i);
        parts[i] = LN_RECAST(r, "expand_dims", LN_ENTRY(src), LN_INT("axis", axis));
    }
    ln_nnvm_recast_begin(r, "concatenate", parts ? len : 0, parts);
    ln_nnvm_draft_set(r->draft, LN_INT("axis", axis));
    ln_nnvm_recast_out(r, 0, ln_nnvm_recast_end(r));
}

static void split(ln_nnvm_recast *r, int len, const int *points, int is_uneven)
{
    const ln_nnvm_entry src = ln_nnvm_recast_in(r, 0);
    const int axis = ln_attr_int_in(&r->node.emit, "axis", 1, -LN_MAXDIM, LN_MAXDIM - 1);
    const int squeezes = ln_attr_bool(&r->node.emit, "squeeze_axis", 0);
    const char *const key = "indices_or_sections";
    ln_nnvm_recast_begin(r, "split", 1, &src);
    ln_nnvm_draft_set(r->draft, points ? LN_INTS(key, len - 1, points) : LN_INT(key, len));
    if (is_uneven)
        ln_nnvm_draft_set(r->draft, LN_BOOL("is_uneven", 1));
    ln_nnvm_draft_set(r->draft, LN_INT("axis", axis));
    ln_nnvm_entry part = ln_nnvm_draft_end(r->draft, (uint32_t)len);
    for (int i = 0; i < len; i++, part.index++) {
        ln_nnvm_entry own = part;
        if (squeezes) {
            own = LN_RECAST(r, "squeeze", LN_ENTRY(part), LN_INTS("axis", 1, &axis));
        }
        ln_nnvm_recast_out(r, (uint32_t)i, own);
    }
}

static void rewrite_slice_channel(ln_nnvm_recast *r)
{
    ln_attr_require(&r->node.emit, "num_outputs");
    split(r, ln_attr_int_in(&r->node.emit, "num_outputs", 1, 1, 1 << 16), NULL, 0);
}

// By the points of cuts; or in parts of which the first ones are longer by one, if need be.
static void rewrite_split_v2(ln_nnvm_recast *r)
{
    int len, points[LN_NNVM_MAX_TUPLE];
    const int parts = ln_attr_int_in(&r->node.emit, "sections", 0, 0, 1 << 16);
    const int64_t *const given = ln_attr_ints(&r->node.emit, "indices", &len);
    ln_nnvm_recast_lacks(r, parts); // core has it for the points of cuts only
    if (!parts && (len < 1 || given[0]))
        ln_emit_fail(&r->node.emit, "attribute 'indices' does not begin with 0");
    for (int i = 1; i < len; i++)
        points[i - 1] = bound_of(given[i], 0);
    if (!ln_nnvm_failed(&r->node))
        split(r, parts ? parts : len, parts ? NULL : points, parts > 0);
}

// Order

static void rewrite_flip(ln_nnvm_recast *r)
{
    ln_nnvm_entry x = ln_nnvm_recast_in(r, 0);
    ln_attr_require(&r->node.emit, "axis");
    int len;
    const int64_t *const axes = ln_attr_ints(&r->node.emit, "axis", &len);
    for (int i = 0; i < len; i++) {
        x = LN_RECAST(r, "flip", LN_ENTRY(x), LN_INT("axis", axes[i]));
    }
    ln_nnvm_recast_out(r, 0, x);
}

static void rewrite_pad(ln_nnvm_recast *r)
{
    const ln_nnvm_entry src = ln_nnvm_recast_in(r, 0);
    int before[LN_NNVM_MAX_TUPLE / 2], after[LN_NNVM_MAX_TUPLE / 2];
    ln_attr_require(&r->node.emit, "mode");
    ln_attr_require(&r->node.emit, "pad_width");
    int len;
    const int64_t *const given = ln_attr_ints(&r->node.emit, "pad_width", &len);
    // Core pads with a number only.
    ln_nnvm_recast_lacks(r, strcmp(ln_attr_text(&r->node.emit, "mode", ""), "constant"));
    if (len % 2)
        ln_emit_fail(&r->node.emit, "attribute 'pad_width' has %d numbers, expected pairs", len);
    for (int i = 0; i + 1 < len; i += 2) {
        before[i / 2] = bound_of(given[i], 0);
        after[i / 2] = bound_of(given[i + 1], 0);
    }
    ln_nnvm_recast_begin(r, "pad", 1, &src);
    ln_nnvm_draft_set(r->draft, LN_PAIRS("pad_width", len / 2, before, after));
    ln_nnvm_draft_set(r->draft,
                      LN_NUMBER("pad_value", ln_attr_number(&r->node.emit, "constant_value", 0)));
    ln_nnvm_recast_attrs(r);
    ln_nnvm_recast_out(r, 0, ln_nnvm_recast_end(r));
}

// Reductions

// MXNet's index is a float.
static void rewrite_arg(ln_nnvm_recast *r)
{
    const ln_nnvm_entry src = ln_nnvm_recast_in(r, 0);
    const int is_channel = !strcmp(r->node.vertex->op, "argmax_channel");
    const int version = (int)r->node.model->graph.version;
    const int axis =
        is_channel ? 1 : ln_attr_int_in(&r->node.emit, "axis", 0, -LN_MAXDIM, LN_MAXDIM - 1);
    // Up to 0.9.4, -1 is how an axis that is not given is written.
    const int is_all =
        !is_channel && (!ln_attr_has(&r->node.emit, "axis") || (axis == -1 && version < 905));
    ln_nnvm_recast_begin(r, r->row->with, 1, &src);
    if (!is_all)
        ln_nnvm_draft_set(r->draft, LN_INTS("axis", 1, &axis));
    ln_nnvm_recast_attr(r, "keepdims", "keepdims");
    const ln_nnvm_entry index = ln_nnvm_recast_end(r);
    ln_nnvm_recast_out(r, 0, LN_RECAST(r, "cast", LN_ENTRY(index), LN_DTYPE("dtype", TL_FLOAT)));
}

// The sum of sizes, or the root of the sum of squares.
static void rewrite_norm(ln_nnvm_recast *r)
{
    const ln_nnvm_entry src = ln_nnvm_recast_in(r, 0);
    const int ord = ln_attr_int_in(&r->node.emit, "ord", 2, 1, 2);
    const ln_nnvm_entry terms = r->is_reading ? src
                                : ord == 1    ? ln_nnvm_recast_unary(r, "abs", src)
                                              : ln_nnvm_recast_binary(r, "elemwise_mul", src, src);
    ln_nnvm_recast_begin(r, "sum", 1, &terms);
    ln_nnvm_recast_attrs(r);
    const ln_nnvm_entry sum = ln_nnvm_recast_end(r);
    const int is_root = ord == 2 && !r->is_reading;
    ln_nnvm_recast_out(r, 0, is_root ? ln_nnvm_recast_unary(r, "sqrt", sum) : sum);
}

static void rewrite_take(ln_nnvm_recast *r)
{
    const ln_nnvm_entry src = ln_nnvm_recast_in(r, 0), index = ln_nnvm_recast_in(r, 1);
    const int axis = ln_attr_int_in(&r->node.emit, "axis", 0, INT_MIN, INT_MAX);
    ln_nnvm_recast_lacks(r, axis < -LN_MAXDIM || axis >= LN_MAXDIM);
    // Core moves indices out of range to the nearest.
    ln_nnvm_recast_lacks(r, strcmp(ln_attr_text(&r->node.emit, "mode", "clip"), "clip"));
    ln_nnvm_recast_take(r, src, index, axis);
}

// Core reverses all axes to transpose, MXNet does not: without shapes, the two agree only without
// transposition.
static void rewrite_dot(ln_nnvm_recast *r)
{
    ln_nnvm_recast_lacks(r, ln_attr_bool(&r->node.emit, "transpose_a", 0) ||
                                ln_attr_bool(&r->node.emit, "transpose_b", 0));
    ln_nnvm_recast_same(r);
}

// A constant; its device is ignored. Core has no open lengths.
static void rewrite_full(ln_nnvm_recast *r)
{
    int len;
    const int64_t *const dims = ln_attr_ints(&r->node.emit, "shape", &len);
    for (int i = 0; i < len; i++)
        ln_nnvm_recast_lacks(r, dims[i] < 1); // core has no unknown lengths
    ln_nnvm_recast_same(r);
}

#define SAME(op, core, len, ...) \
    LN_MXNET_ROW(op, core, len, .rewrite = ln_nnvm_recast_same, __VA_ARGS__)
#define REDUCE(op, core) SAME(op, core, 1, .attrs = "axis keepdims exclude")
#define FILL(op, core)                                                     \
    LN_MXNET_ROW(op, core, 0, .ignored = " ctx ", .rewrite = rewrite_full, \
                 .attrs = "shape dtype value=fill_value")
#define JOIN(op, rewrite_it, names)                                                    \
    {                                                                                  \
        op, LN_IN_MXNET, NULL, "concatenate", 1, .rewrite = rewrite_it, .attrs = names \
    }

const ln_nnvm_row ln_nnvm_mxnet_rows_shape[] = {
    SAME("Flatten", "flatten", 1, .attrs = NULL),
    SAME("flatten", NULL, 1, .attrs = NULL),
    LN_MXNET_ROW("Reshape", "reshape", 1, .rewrite = rewrite_reshape, .attrs = "!shape +reverse"),
    LN_MXNET_ROW("reshape", NULL, 1, .rewrite = rewrite_reshape, .attrs = "!shape +reverse"),
    SAME("reshape_like", NULL, 2, .attrs = NULL),
    SAME("transpose", NULL, 1, .attrs = "axes"),
    SAME("expand_dims", NULL, 1, .attrs = "!axis"),
    SAME("squeeze", NULL, 1, .attrs = "axis"),
    LN_MXNET_ROW("slice", NULL, 1, .rewrite = rewrite_slice, .attrs = "step=stride"),
    LN_MXNET_ROW("crop", NULL, 1, .rewrite = rewrite_slice, .attrs = "step=stride"),
    LN_MXNET_ROW("slice_axis", NULL, 1, .rewrite = rewrite_slice_axis),
    SAME("slice_like", NULL, 2, .attrs = "axes=axis"),
    {"Crop", LN_IN_MXNET, NULL, NULL, 1, 2, .rewrite = rewrite_crop},
    JOIN("Concat", rewrite_concat, "dim=axis"),
    JOIN("concat", rewrite_concat, "dim=axis"),
    JOIN("stack", rewrite_stack, NULL),
    LN_MXNET_ROW("SliceChannel", NULL, 1, .rewrite = rewrite_slice_channel),
    LN_MXNET_ROW("split", NULL, 1, .rewrite = rewrite_slice_channel),
    LN_MXNET_ROW("_split_v2", NULL, 1, .rewrite = rewrite_split_v2),
    LN_MXNET_ROW("reverse", NULL, 1, .rewrite = rewrite_flip),
    LN_MXNET_ROW("flip", NULL, 1, .rewrite = rewrite_flip),
    LN_MXNET_ROW("Pad", NULL, 1, .rewrite = rewrite_pad, .attrs = "+mode"),
    LN_MXNET_ROW("pad", NULL, 1, .rewrite = rewrite_pad, .attrs = "+mode"),
    SAME("broadcast_to", NULL, 1, .attrs = "shape"),
    LN_MXNET_ROW("take", NULL, 2, .rewrite = rewrite_take, .attrs = "+mode"),
    SAME("gather_nd", NULL, 2, .attrs = NULL),
    LN_MXNET_ROW("dot", "matmul", 2, .ignored = " forward_stype ", .rewrite = rewrite_dot,
                 .attrs = "+transpose_a +transpose_b"),
    REDUCE("sum", NULL),
    REDUCE("mean", NULL),
    REDUCE("prod", NULL),
    REDUCE("max", NULL),
    REDUCE("min", NULL),
    REDUCE("sum_axis", "sum"),
    REDUCE("max_axis", "max"),
    REDUCE("min_axis", "min"),
    LN_MXNET_ROW("norm", NULL, 1, .rewrite = rewrite_norm, .attrs = "axis keepdims +ord:2"),
    LN_MXNET_ROW("argmax", "argmax", 1, .rewrite = rewrite_arg),
    LN_MXNET_ROW("argmin", "argmin", 1, .rewrite = rewrite_arg),
    LN_MXNET_ROW("argmax_channel", "argmax", 1, .rewrite = rewrite_arg),
    FILL("_zeros", "zeros"),
    FILL("_ones", "ones"),
    FILL("_full", "full"),
    {NULL},
};
