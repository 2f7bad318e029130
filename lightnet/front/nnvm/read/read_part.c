// SPDX-License-Identifier: Apache-2.0
// Operators that slice, concatenate and split tensors.

#include <inttypes.h>
#include <limits.h>
#include <string.h>

#include "front/nnvm/ln_nnvm_steps.h"

// Slices

static void translate_flip(ln_nnvm_node *n)
{
    int axes[LN_MAXDIM] = {0}, first[LN_MAXDIM], last[LN_MAXDIM], len;
    const int ndim = ln_nnvm_tensor_of(n, ln_nnvm_in(n, 0))->ndim;
    const int64_t *const given = ln_attr_ints(&n->emit, "axis", &len);
    len = given ? len : 1;
    if (len > ndim)
        ln_emit_fail(&n->emit, "%d axes, expected at most %d", len, ndim);
    for (int i = 0; i < len && !ln_nnvm_failed(n); i++) {
        axes[i] = ln_attr_to_axis(&n->emit, given ? given[i] : 0, ndim);
        first[i] = -1;
        last[i] = INT_MIN + 1;
    }
    ln_nnvm_slice(n, ln_nnvm_in(n, 0), len, axes, first, last, first, 0);
}

// A bound of a slice; `deflt` if it is missing or None.
static int bound_of(const int64_t *given, int len, int i, int deflt)
{
    const int64_t value = i < len ? given[i] : LN_NNVM_NONE;
    return value == LN_NNVM_NONE ? deflt
           : value > INT_MAX - 1 ? INT_MAX - 1
           : value < INT_MIN + 2 ? INT_MIN + 2
                                 : (int)value;
}

static void translate_slice(ln_nnvm_node *n)
{
    const char *const src = ln_nnvm_in(n, 0);
    const int has_axis = ln_nnvm_was_mxnet(n) && ln_attr_has(&n->emit, "axis");
    int n_begin, n_end, n_step, axes[LN_MAXDIM], starts[LN_MAXDIM], ends[LN_MAXDIM],
        steps[LN_MAXDIM];
    const int ndim =
        ln_nnvm_axes(n, has_axis ? "axis" : "", ln_nnvm_tensor_of(n, src)->ndim, !has_axis, axes);
    const int64_t *const begin = ln_attr_ints(&n->emit, "begin", &n_begin);
    const int64_t *const end = ln_attr_ints(&n->emit, "end", &n_end);
    const int64_t *const step = ln_attr_ints(&n->emit, "stride", &n_step);
    if (n_begin > ndim || n_end > ndim || n_step > ndim)
        ln_emit_fail(&n->emit, "a slice of more than %d axes", ndim);
    for (int i = 0; i < ndim && !ln_nnvm_failed(n); i++) {
        steps[i] = bound_of(step, n_step, i, 1);
        starts[i] = bound_of(begin, n_begin, i, steps[i] < 0 ? INT_MAX - 1 : 0);
        ends[i] = bound_of(end, n_end, i, steps[i] < 0 ? INT_MIN + 2 : INT_MAX - 1);
        if (!steps[i])
            ln_emit_fail(&n->emit, "attribute '%s' has 0, expected another number",
                         ln_nnvm_key(n, "stride"));
    }
    ln_nnvm_slice(n, src, ndim, axes, starts, ends, steps, 0);
}

// Cuts axes to the lengths of another tensor.
static void translate_slice_like(ln_nnvm_node *n)
{
    int dims[LN_MAXDIM], ends[LN_MAXDIM], axes[LN_MAXDIM] = {0}, starts[LN_MAXDIM] = {0},
                                          steps[LN_MAXDIM], like[LN_MAXDIM], len;
    const int ndim = ln_nnvm_in_dims(n, 0, dims), n_like = ln_nnvm_in_dims(n, 1, like);
    const int64_t *const given = ln_attr_ints(&n->emit, "axis", &len);
    const int is_all = !len, min = ndim < n_like ? ndim : n_like;
    len = is_all ? min : len;
    if (len > min)
        ln_emit_fail(&n->emit, "%d axes, expected at most %d", len, min);
    for (int i = 0; i < len && !ln_nnvm_failed(n); i++) {
        const int axis = is_all ? i : ln_attr_to_axis(&n->emit, given[i], ndim);
        axes[i] = axis;
        ends[i] = like[axis];
        steps[i] = 1;
        if (axis >= n_like)
            ln_emit_fail(&n->emit, "axis %d of input 1, expected at most %d", axis, n_like - 1);
        if (ends[i] > dims[axis])
            ln_emit_fail(&n->emit, "axis %d has length %d, expected at least %d", axis, dims[axis],
                         ends[i]);
    }
    ln_nnvm_slice(n, ln_nnvm_in(n, 0), len, axes, starts, ends, steps, 0);
}

// Crops images to the size of the second input, or to 'h_w', at 'offset' or in the center.
static void translate_crop(ln_nnvm_node *n)
{
    static const int axes[] = {2, 3}, ones[] = {1, 1};
    int size[2], starts[2], ends[2] = {0}, dims[LN_MAXDIM], like[LN_MAXDIM];
    const int has_like = ln_nnvm_num_inputs(n) == 2;
    ln_attr_ints_of(&n->emit, "h_w", 2, 0, 0, size);
    ln_attr_ints_of(&n->emit, "offset", 2, 0, 0, starts);
    const int is_central = ln_attr_bool(&n->emit, "center_crop", 0);
    ln_nnvm_check_args(n);
    ln_nnvm_image_dims(n, ln_nnvm_in(n, 0), dims);
    ln_nnvm_image_dims(n, ln_nnvm_in(n, has_like), like);
    for (int i = 0; i < 2; i++) {
        const int len = dims[2 + i], wanted = has_like ? like[2 + i] : size[i];
        starts[i] = is_central && wanted <= len ? (len - wanted) / 2 : starts[i];
        if (wanted < 1 || wanted > len - starts[i])
            ln_emit_fail(&n->emit, "%d %s from offset %d on, expected 1 to %d", wanted,
                         i ? "columns" : "rows", starts[i], len - starts[i]);
        ends[i] = ln_nnvm_failed(n) ? 0 : starts[i] + wanted;
    }
    ln_nnvm_slice(n, ln_nnvm_in(n, 0), 2, axes, starts, ends, ones, 0);
}

// Concatenation and split

static void translate_concat(ln_nnvm_node *n)
{
    const char *const first = ln_nnvm_in(n, 0);
    const int len = ln_nnvm_num_inputs(n);
    const int axis = ln_attr_axis(&n->emit, "axis", 1, ln_nnvm_tensor_of(n, first)->ndim);
    const char **parts = ln_translation_alloc(&n->model->base, ((size_t)len + 1) * sizeof(*parts));
    for (int i = 0; parts && i < len; i++)
        parts[i] = ln_nnvm_in(n, i);
    if (len == 1)
        ln_nnvm_alias(n, 0, first);
    else if (parts)
        ln_nnvm_join(n, len, parts, axis, 0);
}

// Splits into the lengths `lens`.
static void emit_split(ln_nnvm_node *n, const char *src, int axis, int len, const int *lens)
{
    LN_EMIT_BEGIN(&n->emit, LN_OP_SPLIT, LN_ARG("src", src), LN_INT("axis", axis),
                  LN_INTS("lens", len, lens));
    for (int i = 0; i < len && !ln_nnvm_failed(n); i++) {
        char arg[32];
        snprintf(arg, sizeof(arg), "dst%d", i);
        (i < len - 1 ? ln_emit_out : ln_emit_end)(&n->emit, arg, i);
    }
}

// Splits into `n_parts` equal parts; if `is_uneven`, the first ones may be longer by one.
static void emit_even_split(ln_nnvm_node *n, const char *src, int axis, int n_parts, int is_uneven)
{
    const int dim = ln_nnvm_tensor_of(n, src)->dims[axis];
    if (n_parts > dim || (!is_uneven && dim % n_parts))
        ln_emit_fail(&n->emit, "axis %d has length %d, expected a multiple of %d", axis, dim,
                     n_parts);
    int *const lens = ln_translation_alloc(&n->model->base, (size_t)n_parts * sizeof(*lens));
    for (int i = 0; lens && i < n_parts; i++)
        lens[i] = dim / n_parts + (i < dim % n_parts);
    emit_split(n, src, axis, n_parts, lens);
}

// Splits at the points.
static void split_at(ln_nnvm_node *n, const char *src, int axis, const int64_t *points, int len)
{
    int lens[LN_NNVM_MAX_TUPLE + 1];
    const int dim = ln_nnvm_tensor_of(n, src)->dims[axis];
    int64_t begin = 0;
    for (int i = 0; i <= len && !ln_nnvm_failed(n); i++) {
        const int64_t end = i < len ? points[i] : dim;
        if (end <= begin || end > dim)
            ln_emit_fail(&n->emit,
                         "point %" PRId64 " of an axis of length %d, expected %" PRId64 " to %d",
                         end, dim, begin + 1, dim - 1);
        lens[i] = (int)(end - begin);
        begin = end;
    }
    emit_split(n, src, axis, len + 1, lens);
}

// An attribute that begins with a digit is the number of parts, otherwise the points to split at.
static void translate_split(ln_nnvm_node *n)
{
    const char *const src = ln_nnvm_in(n, 0), *const key = "indices_or_sections";
    const int axis = ln_attr_axis(&n->emit, "axis", 1, ln_nnvm_tensor_of(n, src)->ndim);
    const int is_uneven = ln_nnvm_was_mxnet(n) && ln_attr_bool(&n->emit, "is_uneven", 0);
    const char *const text = ln_attr_text(&n->emit, key, "");
    int len;
    if (*text >= '0' && *text <= '9') {
        emit_even_split(n, src, axis, ln_attr_int_in(&n->emit, key, 1, 1, INT_MAX), is_uneven);
        return;
    }
    const int64_t *const points = ln_attr_ints(&n->emit, key, &len);
    split_at(n, src, axis, points, len);
}

const ln_nnvm_row ln_nnvm_rows_part[] = {
    {"flip", LN_IN_CORE, translate_flip, NULL, 1, 1},
    {"strided_slice", LN_IN_CORE, translate_slice, NULL, 1, 1, .needs = "begin end"},
    {"Crop", LN_IN_MXNET, translate_crop, NULL, 1, 2, .needs = "num_args"},
    {"slice_like", LN_IN_CORE, translate_slice_like, NULL, 2, 2},
    {"concatenate", LN_IN_CORE, translate_concat, NULL, 1},
    {"split", LN_IN_CORE, translate_split, NULL, 1, 1, .needs = "indices_or_sections"},
    {NULL},
};
