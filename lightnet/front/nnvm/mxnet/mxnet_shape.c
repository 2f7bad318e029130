// SPDX-License-Identifier: Apache-2.0
// Rewrites MXNet's operators that move and reduce elements to core's.

#include <limits.h>
#include <string.h>

#include "front/nnvm/ln_nnvm_steps.h"
#include "front/nnvm/mxnet/ln_nnvm_core.h"

// Shapes

// Attribute target_shape, from before MXNet 0.9: a 0 is inferred.
static ln_nnvm_value target_shape(ln_nnvm_op *n, const int64_t *target, int len)
{
    const ln_nnvm_value src = ln_nnvm_recast_in(n, 0);
    const int keeps = ln_attr_bool(n->e, "keep_highest", 0);
    int codes[LN_NNVM_MAX_TUPLE];
    for (int i = 0; i < len; i++)
        codes[i] = i == 0 && keeps ? 0 : target[i] == 0 ? -1 : (int)target[i];
    return LN_PUT(n, "reshape", src, LN_SRC(src), LN_INTS("shape", len, codes));
}

static ln_nnvm_value rewrite_reshape(ln_nnvm_op *n)
{
    int len, n_target;
    const int64_t *const target = ln_attr_ints(n->e, "target_shape", &n_target);
    ln_nnvm_recast_lacks(n, ln_attr_bool(n->e, "reverse", 0)); // core counts from the left
    ln_attr_bool(n->e, "keep_highest", 0);                     // no effect beside `shape`
    ln_attr_ints(n->e, "shape", &len);
    return !len && n_target ? target_shape(n, target, n_target) : ln_nnvm_recast_same(n);
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

// Slices `axis`, an attribute that LightNet adds to core's; NULL: the first axes.
static ln_nnvm_value slice(ln_nnvm_op *n, int len, const int *begin, const int *end,
                           const int *stride, const int *axis)
{
    const ln_nnvm_value src = ln_nnvm_recast_in(n, 0);
    return LN_PUT(n, "strided_slice", src, LN_SRC(src), LN_INTS("begin", len, begin),
                  LN_INTS("end", len, end), LN_ONLY_IF(stride, LN_INTS("stride", len, stride)),
                  LN_ONLY_IF(axis, LN_INTS("axis", 1, axis)));
}

// A bound of None is that of the whole axis.
static ln_nnvm_value rewrite_slice(ln_nnvm_op *n)
{
    int n_begin, n_end, n_step, begin[LN_NNVM_MAX_TUPLE], end[LN_NNVM_MAX_TUPLE],
        step[LN_NNVM_MAX_TUPLE];
    ln_attr_require(n->e, "begin");
    ln_attr_require(n->e, "end");
    const int64_t *const begins = ln_attr_ints(n->e, "begin", &n_begin);
    const int64_t *const ends = ln_attr_ints(n->e, "end", &n_end);
    const int64_t *const steps = ln_attr_ints(n->e, "step", &n_step);
    const int len = n_begin > n_end ? n_begin : n_end;
    if (n_step > len)
        ln_emit_fail(n->e, "attribute 'step' has %d numbers, expected at most %d", n_step, len);
    for (int i = 0; i < len; i++) {
        step[i] = i < n_step ? bound_of(steps[i], 1) : 1;
        const int is_backward = step[i] < 0;
        begin[i] = bound_of(i < n_begin ? begins[i] : LN_NNVM_NONE, is_backward ? TO_THE_END : 0);
        end[i] = bound_of(i < n_end ? ends[i] : LN_NNVM_NONE,
                          is_backward ? TO_THE_BEGINNING : TO_THE_END);
    }
    return slice(n, len, begin, end, n_step > 0 ? step : NULL, NULL);
}

static ln_nnvm_value rewrite_slice_axis(ln_nnvm_op *n)
{
    int begin[LN_MAXDIM] = {0}, end[LN_MAXDIM];
    ln_attr_require(n->e, "axis");
    ln_attr_require(n->e, "begin");
    const int axis = ln_attr_int_in(n->e, "axis", 0, INT_MIN, INT_MAX);
    const int fits = axis >= 0 && axis < LN_MAXDIM, at = n->is_reading || !fits ? 0 : axis;
    ln_nnvm_recast_lacks(n, !fits); // core counts axes from the front
    for (int i = 0; i < LN_MAXDIM; i++)
        end[i] = TO_THE_END;
    begin[at] = ln_attr_int_in(n->e, "begin", 0, INT_MIN, INT_MAX);
    end[at] = ln_attr_int_in(n->e, "end", TO_THE_END, INT_MIN, INT_MAX);
    return slice(n, at + 1, begin, end, NULL, n->is_reading ? &axis : NULL);
}

// Crops images to the given size, or to that of the second input.
static ln_nnvm_value rewrite_crop(ln_nnvm_op *n)
{
    static const int rows_and_columns[] = {2, 3};
    int offset[2], size[2];
    const int is_like = ln_nnvm_num_inputs(ln_nnvm_recast_node(n)) == 2;
    ln_attr_ints_of(n->e, "offset", 2, 0, 0, offset);
    ln_attr_ints_of(n->e, "h_w", 2, 0, 0, size);
    ln_attr_int(n->e, "num_args", 1);
    // The offset may depend on lengths.
    ln_nnvm_recast_lacks(n, ln_attr_bool(n->e, "center_crop", 0) ||
                                (is_like && (offset[0] || offset[1])));
    if (is_like) {
        const ln_nnvm_value src = ln_nnvm_recast_in(n, 0), like = ln_nnvm_recast_in(n, 1);
        return LN_PUT(n, "slice_like", src, LN_SRC(src), LN_SRC(like),
                      LN_INTS("axis", 2, rows_and_columns));
    }
    const int begin[] = {0, 0, offset[0], offset[1]};
    const int end[] = {TO_THE_END, TO_THE_END, bound_of((int64_t)offset[0] + size[0], 0),
                       bound_of((int64_t)offset[1] + size[1], 0)};
    return slice(n, 4, begin, end, NULL, NULL);
}

// Concatenation and split

static ln_nnvm_value rewrite_stack(ln_nnvm_op *n)
{
    const int len = ln_nnvm_check_args(ln_nnvm_recast_node(n));
    const int axis = ln_attr_int_in(n->e, "axis", 0, -LN_MAXDIM, LN_MAXDIM - 1);
    ln_nnvm_value *parts =
        ln_translation_alloc(&n->draft->base, ((size_t)len + 1) * sizeof(*parts));
    for (int i = 0; parts && i < len; i++) {
        const ln_nnvm_value src = ln_nnvm_recast_in(n, i);
        parts[i] = LN_PUT(n, "expand_dims", src, LN_SRC(src), LN_INT("axis", axis));
    }
    ln_put_begin(n, "concatenate");
    for (int i = 0; parts && i < len; i++)
        ln_put_set(n, LN_SRC(parts[i]));
    ln_put_set(n, LN_INT("axis", axis));
    return ln_nnvm_recast_end(n, 1);
}

static ln_nnvm_value split(ln_nnvm_op *n, int len, const int *points, int is_uneven)
{
    const int axis = ln_attr_int_in(n->e, "axis", 1, -LN_MAXDIM, LN_MAXDIM - 1);
    const int squeezes = ln_attr_bool(n->e, "squeeze_axis", 0);
    const char *const key = "indices_or_sections";
    ln_nnvm_recast_begin(n, "split");
    ln_put_set(n, points ? LN_INTS(key, len - 1, points) : LN_INT(key, len));
    ln_put_set(n, LN_ONLY_IF(is_uneven, LN_BOOL("is_uneven", 1)));
    ln_put_set(n, LN_INT("axis", axis));
    ln_nnvm_value part = ln_nnvm_recast_end(n, (uint32_t)len);
    for (int i = 0; i < len; i++, part.entry.index++)
        ln_nnvm_recast_out(
            n, (uint32_t)i,
            squeezes ? LN_PUT(n, "squeeze", part, LN_SRC(part), LN_INTS("axis", 1, &axis)) : part);
    return part;
}

static ln_nnvm_value rewrite_slice_channel(ln_nnvm_op *n)
{
    ln_attr_require(n->e, "num_outputs");
    return split(n, ln_attr_int_in(n->e, "num_outputs", 1, 1, 1 << 16), NULL, 0);
}

// Splits at points; or in parts, of which the first ones may be longer by one.
static ln_nnvm_value rewrite_split_v2(ln_nnvm_op *n)
{
    int len, points[LN_NNVM_MAX_TUPLE] = {0};
    const int parts = ln_attr_int_in(n->e, "sections", 0, 0, 1 << 16);
    const int64_t *const given = ln_attr_ints(n->e, "indices", &len);
    ln_nnvm_recast_lacks(n, parts); // core splits unevenly at points only
    if (!parts && (len < 1 || given[0]))
        ln_emit_fail(n->e, "attribute 'indices' does not begin with 0, as expected");
    for (int i = 1; i < len; i++)
        points[i - 1] = bound_of(given[i], 0);
    return split(n, parts ? parts : len ? len : 1, parts ? NULL : points, parts > 0);
}

// Flip and pad

static ln_nnvm_value rewrite_flip(ln_nnvm_op *n)
{
    ln_nnvm_value x = ln_nnvm_recast_in(n, 0);
    ln_attr_require(n->e, "axis");
    int len;
    const int64_t *const axes = ln_attr_ints(n->e, "axis", &len);
    for (int i = 0; i < len; i++)
        x = LN_PUT(n, "flip", x, LN_SRC(x), LN_INT("axis", axes[i]));
    return x;
}

static ln_nnvm_value rewrite_pad(ln_nnvm_op *n)
{
    int before[LN_NNVM_MAX_TUPLE / 2], after[LN_NNVM_MAX_TUPLE / 2], len;
    ln_attr_require(n->e, "mode");
    ln_attr_require(n->e, "pad_width");
    const int64_t *const given = ln_attr_ints(n->e, "pad_width", &len);
    // Core pads with a number only.
    ln_nnvm_recast_lacks(n, strcmp(ln_attr_text(n->e, "mode", ""), "constant"));
    if (len % 2)
        ln_emit_fail(n->e, "attribute 'pad_width' has %d numbers, expected pairs", len);
    for (int i = 0; i + 1 < len; i += 2) {
        before[i / 2] = bound_of(given[i], 0);
        after[i / 2] = bound_of(given[i + 1], 0);
    }
    ln_nnvm_recast_begin(n, "pad");
    ln_put_set(n, LN_PAIRS("pad_width", len / 2, before, after));
    ln_put_set(n, LN_NUMBER("pad_value", ln_attr_number(n->e, "constant_value", 0)));
    return ln_nnvm_recast_end(n, 1);
}

// Reductions

// MXNet's index is a float.
static ln_nnvm_value rewrite_arg(ln_nnvm_op *n)
{
    const int is_channel = !strcmp(ln_nnvm_recast_node(n)->vertex->op, "argmax_channel");
    const int version = (int)ln_nnvm_recast_node(n)->model->graph.version;
    const int axis = is_channel ? 1 : ln_attr_int_in(n->e, "axis", 0, -LN_MAXDIM, LN_MAXDIM - 1);
    // Up to 0.9.4, a missing axis is written as -1.
    const int is_all = !is_channel && (!ln_attr_has(n->e, "axis") || (axis == -1 && version < 905));
    ln_nnvm_recast_begin(n, n->row->with);
    ln_put_set(n, LN_ONLY_IF(!is_all, LN_INTS("axis", 1, &axis)));
    const ln_nnvm_value index = ln_nnvm_recast_end(n, 1);
    return LN_PUT(n, "cast", index, LN_SRC(index), LN_DTYPE("dtype", TL_FLOAT));
}

// The L1 norm, or the L2 norm.
static ln_nnvm_value rewrite_norm(ln_nnvm_op *n)
{
    const ln_nnvm_value src = ln_nnvm_recast_in(n, 0);
    const int ord = ln_attr_int_in(n->e, "ord", 2, 1, 2), is_root = ord == 2 && !n->is_reading;
    const ln_nnvm_value terms = n->is_reading ? src
                                : ord == 1    ? ln_put(n, "abs", src)
                                              : ln_put_pair(n, "elemwise_mul", src, src);
    ln_put_begin(n, "sum");
    ln_put_set(n, LN_SRC(terms));
    const ln_nnvm_value sum = ln_nnvm_recast_end(n, 1);
    return is_root ? ln_put(n, "sqrt", sum) : sum;
}

static ln_nnvm_value rewrite_take(ln_nnvm_op *n)
{
    const ln_nnvm_value src = ln_nnvm_recast_in(n, 0), index = ln_nnvm_recast_in(n, 1);
    const int axis = ln_attr_int_in(n->e, "axis", 0, INT_MIN, INT_MAX);
    ln_nnvm_recast_lacks(n, axis < -LN_MAXDIM || axis >= LN_MAXDIM);
    // Core clips indices.
    ln_nnvm_recast_lacks(n, strcmp(ln_attr_text(n->e, "mode", "clip"), "clip"));
    return ln_nnvm_recast_take(n, src, index, axis);
}

// Core reverses all axes to transpose, MXNet does not: without shapes, the two agree only without
// transposition.
static ln_nnvm_value rewrite_dot(ln_nnvm_op *n)
{
    ln_nnvm_recast_lacks(n, ln_attr_bool(n->e, "transpose_a", 0) ||
                                ln_attr_bool(n->e, "transpose_b", 0));
    return ln_nnvm_recast_same(n);
}

// Creates a constant; ignores its device.
static ln_nnvm_value rewrite_full(ln_nnvm_op *n)
{
    int len;
    const int64_t *const dims = ln_attr_ints(n->e, "shape", &len);
    for (int i = 0; i < len; i++)
        ln_nnvm_recast_lacks(n, dims[i] < 1); // core has no unknown lengths
    return ln_nnvm_recast_same(n);
}

#define SAME(op, core, len, ...) \
    LN_MXNET_ROW(op, core, len, .rewrite = ln_nnvm_recast_same, __VA_ARGS__)
#define REDUCE(op, core) SAME(op, core, 1, .attrs = "axis keepdims exclude")
#define FILL(op, core)                                                   \
    LN_MXNET_ROW(op, core, 0, .ignored = "ctx", .rewrite = rewrite_full, \
                 .attrs = "shape dtype value=fill_value")
#define JOIN(op, rewrite_it, names)                                                    \
    {                                                                                  \
        op, LN_IN_MXNET, NULL, "concatenate", 1, .rewrite = rewrite_it, .attrs = names \
    }

const ln_nnvm_row ln_nnvm_mxnet_rows_shape[] = {
    SAME("Flatten flatten", "flatten", 1, .attrs = NULL),
    LN_MXNET_ROW("Reshape reshape", "reshape", 1, .rewrite = rewrite_reshape,
                 .attrs = "!shape +reverse"),
    SAME("reshape_like gather_nd", NULL, 2, .attrs = NULL),
    SAME("transpose", NULL, 1, .attrs = "axes"),
    SAME("expand_dims", NULL, 1, .attrs = "!axis"),
    SAME("squeeze", NULL, 1, .attrs = "axis"),
    LN_MXNET_ROW("slice crop", NULL, 1, .rewrite = rewrite_slice, .attrs = "step=stride"),
    LN_MXNET_ROW("slice_axis", NULL, 1, .rewrite = rewrite_slice_axis),
    SAME("slice_like", NULL, 2, .attrs = "axes=axis"),
    {"Crop", LN_IN_MXNET, NULL, NULL, 1, 2, .rewrite = rewrite_crop},
    JOIN("Concat concat", ln_nnvm_recast_many, "dim=axis"),
    JOIN("stack", rewrite_stack, NULL),
    LN_MXNET_ROW("SliceChannel split", NULL, 1, .rewrite = rewrite_slice_channel),
    LN_MXNET_ROW("_split_v2", NULL, 1, .rewrite = rewrite_split_v2),
    LN_MXNET_ROW("reverse flip", NULL, 1, .rewrite = rewrite_flip),
    LN_MXNET_ROW("Pad pad", NULL, 1, .rewrite = rewrite_pad, .attrs = "+mode"),
    SAME("broadcast_to", NULL, 1, .attrs = "shape"),
    LN_MXNET_ROW("take", NULL, 2, .rewrite = rewrite_take, .attrs = "+mode"),
    LN_MXNET_ROW("dot", "matmul", 2, .ignored = "forward_stype", .rewrite = rewrite_dot,
                 .attrs = "+transpose_a +transpose_b"),
    REDUCE("sum mean prod max min", NULL),
    REDUCE("sum_axis", "sum"),
    REDUCE("max_axis", "max"),
    REDUCE("min_axis", "min"),
    LN_MXNET_ROW("norm", NULL, 1, .rewrite = rewrite_norm, .attrs = "axis keepdims +ord:2"),
    LN_MXNET_ROW("argmin", "argmin", 1, .rewrite = rewrite_arg, .attrs = "keepdims"),
    LN_MXNET_ROW("argmax argmax_channel", "argmax", 1, .rewrite = rewrite_arg, .attrs = "keepdims"),
    FILL("_zeros", "zeros"),
    FILL("_ones", "ones"),
    FILL("_full", "full"),
    {NULL},
};
