// SPDX-License-Identifier: Apache-2.0
// ONNX operators that reshape, transpose, slice and join tensors.

#include <limits.h>
#include <math.h>

#include "front/onnx/ln_onnx.h"
#include "front/onnx/ln_onnx_body.h"
#include "tensorlight/tl_shape.h"

// ONNX writes "from here to the end" as the largest integers.
static int clamp_to_int(int64_t value)
{
    return value < INT_MIN ? INT_MIN : value > INT_MAX ? INT_MAX : (int)value;
}

// A list of numbers as ints, at most LN_MAXDIM of them.
static int to_ints(ln_onnx_node *n, const char *what, const int64_t *values, int len, int *ints)
{
    if (len > LN_MAXDIM) {
        ln_emit_fail(&n->emit, "%d %s, expected at most %d", len, what, LN_MAXDIM);
        return 0;
    }
    for (int i = 0; i < len; i++)
        ints[i] = clamp_to_int(values[i]);
    return len;
}

// A list of axes: an attribute, or since an opset an input. NULL: not given.
static const int64_t *given_axes(ln_onnx_node *n, int since, int input, int *len)
{
    return n->opset >= since ? ln_onnx_ints_in(n, input, len) : ln_attr_ints(&n->emit, "axes", len);
}

// Views

// Converts the shape of Reshape to `dims`: 0 becomes -2 (the length in src), unless allowzero is
// set.
static int wanted_dims(ln_onnx_node *n, const int64_t *given, int len, int *dims)
{
    const int allowzero = ln_attr_bool(&n->emit, "allowzero", 0);
    const int ndim = to_ints(n, "dimensions", given, len, dims);
    for (int i = 0; i < ndim; i++) {
        if (dims[i] < -1)
            ln_emit_fail(&n->emit, "the new shape has %d at index %d, expected at least -1",
                         dims[i], i);
        if (dims[i] == 0 && !allowzero)
            dims[i] = -2;
    }
    return ndim;
}

static void emit_reshape(ln_onnx_node *n, const int64_t *given, int len)
{
    const char *const src = ln_onnx_in(n, 0);
    int dims[LN_MAXDIM];
    const int ndim = wanted_dims(n, given, len, dims);
    if (ln_onnx_is_dynamic(n, src)) {
        ln_emit_view(&n->emit, src, ndim, dims, 0);
        return;
    }
    if (!ln_onnx_failed(n) && tl_reshape_dims(ln_onnx_tensor_of(n, src), ndim, dims, 0, dims))
        ln_emit_fail(&n->emit, "%s", tl_last_error());
    ln_emit_reshape(&n->emit, src, ndim, dims, 0);
}

// The `dims` of a view with a shape known only at run time: at most one length is neither a
// constant nor that of the same axis of src. 0: a view cannot express the shape.
static int view_dims(ln_onnx_node *n, const char *src, int ndim, int *dims)
{
    const int src_ndim = ln_onnx_tensor_of(n, src)->ndim,
              allowzero = ln_attr_bool(&n->emit, "allowzero", 0);
    int n_rest = 0;
    for (int i = 0; i < ndim; i++) {
        const ln_dim wanted = ln_onnx_element_size(n, ln_onnx_in(n, 1), i);
        const ln_dim own = i < src_ndim ? ln_onnx_axis_size(n, src, i) : ln_dim_unknown();
        if (ln_dim_is_constant(&wanted) && (wanted.constant || allowzero))
            dims[i] = wanted.constant < INT_MAX ? (int)wanted.constant : INT_MAX;
        else if (ln_dim_is_constant(&wanted) || ln_dim_equals(&wanted, &own))
            dims[i] = -2;
        else if (ln_dim_is_known(&wanted) && ln_onnx_min(n, &wanted) > 0)
            dims[i] = -1;
        else
            return 0;
        n_rest += dims[i] == -1;
    }
    return n_rest <= 1;
}

// Emits Reshape with a shape known only at run time, of which the max must be known.
static void reshape_to(ln_onnx_node *n)
{
    const char *const src = ln_onnx_in(n, 0);
    int as_view[LN_MAXDIM];
    const int n_dims = ln_onnx_tensor_of(n, ln_onnx_in(n, 1))->len;
    if (n_dims <= LN_MAXDIM && view_dims(n, src, n_dims, as_view)) {
        ln_emit_view(&n->emit, src, n_dims, as_view, 0);
        return;
    }
    int len, dims[LN_MAXDIM];
    const int64_t *const largest = ln_onnx_largest_ints_in(n, 1, &len);
    const int ndim = wanted_dims(n, largest, len, dims);
    int rest = -1;
    for (int i = 0; i < ndim; i++)
        rest = dims[i] == -1 ? i : rest;
    if (ln_onnx_failed(n))
        return;
    const tl_tensor *const t = ln_onnx_tensor_of(n, src);
    if (tl_reshape_dims(t, ndim, dims, 1, dims) < 0)
        ln_emit_fail(&n->emit, "%s", tl_last_error());
    else if (rest >= 0 && tl_compute_length(ndim, dims) < t->len)
        dims[rest]++; // room for all elements where the other axes turn out to be shorter
    LN_EMIT(&n->emit, 0, LN_OP_RESHAPE_TO, LN_ARG("src", src),
            LN_ARG("shape", ln_emit_cast(&n->emit, ln_onnx_in(n, 1), TL_INT64, LN_EMIT_TEMP)),
            LN_INTS("dims", ndim, dims),
            LN_BOOL("zero_is_a_length", ln_attr_bool(&n->emit, "allowzero", 0)));
}

// The shape is an attribute, since opset 5 an input.
static void translate_reshape(ln_onnx_node *n)
{
    int len;
    if (n->opset >= 5)
        ln_onnx_in(n, 1);
    if (n->opset >= 5 && ln_onnx_varies(n, 1)) {
        reshape_to(n);
        return;
    }
    const int64_t *const shape =
        n->opset < 5 ? ln_attr_ints(&n->emit, "shape", &len) : ln_onnx_ints_in(n, 1, &len);
    emit_reshape(n, shape, len);
}

// The axes start .. end-1 as one, also of open lengths.
static const char *flatten(ln_onnx_node *n, const char *src, int start, int end, int i)
{
    return LN_EMIT(&n->emit, i, LN_OP_FLATTEN, LN_ARG("src", src), LN_INT("start", start),
                   LN_INT("end", end));
}

static void translate_flatten(ln_onnx_node *n)
{
    const char *const src = ln_onnx_in(n, 0);
    const tl_tensor *const t = ln_onnx_tensor_of(n, src);
    const int64_t given = ln_attr_int(&n->emit, "axis", 1);
    const int axis = given == t->ndim ? t->ndim : ln_attr_to_axis(&n->emit, given, t->ndim);
    const int dims[] = {tl_compute_length(axis, t->dims),
                        tl_compute_length(t->ndim - axis, t->dims + axis)};
    if (!ln_onnx_is_dynamic(n, src))
        ln_emit_reshape(&n->emit, src, 2, dims, 0);
    else
        flatten(n, flatten(n, src, axis, t->ndim, LN_EMIT_TEMP), 0, axis, 0);
}

// Emits `squeeze` or `unsqueeze`, or where all lengths are known, the view that it is.
static void emit_axes(ln_onnx_node *n, const char *optype, const char *src, int n_axes,
                      const int *axes, int ndim, const int *dims)
{
    if (!ln_onnx_is_dynamic(n, src)) {
        ln_emit_reshape(&n->emit, src, ndim, dims, 0);
        return;
    }
    LN_EMIT(&n->emit, 0, optype, LN_ARG("src", src), LN_INTS("axes", n_axes, axes));
}

static void translate_squeeze(ln_onnx_node *n)
{
    const char *const src = ln_onnx_in(n, 0);
    const tl_tensor *const t = ln_onnx_tensor_of(n, src);
    int len, axes[LN_MAXDIM] = {0}, dims[LN_MAXDIM], ndim = 0, is_removed[LN_MAXDIM] = {0},
             n_axes = 0;
    const int64_t *const given = given_axes(n, 13, 1, &len);
    ln_onnx_axes(n, given, len, t->ndim, axes);
    if (ln_onnx_failed(n))
        return;
    for (int k = 0; k < len; k++)
        is_removed[axes[k]] = 1;
    for (int i = 0; i < t->ndim; i++) {
        if (is_removed[i] && t->dims[i] != 1)
            ln_emit_fail(&n->emit, "axis %d has length %d, expected 1", i, t->dims[i]);
        if (is_removed[i] || (!given && t->dims[i] == 1))
            axes[n_axes++] = i;
        else
            dims[ndim++] = t->dims[i];
    }
    emit_axes(n, LN_OP_SQUEEZE, src, n_axes, axes, ndim, dims);
}

static void translate_unsqueeze(ln_onnx_node *n)
{
    const char *const src = ln_onnx_in(n, 0);
    const tl_tensor *const t = ln_onnx_tensor_of(n, src);
    int len, axes[LN_MAXDIM] = {0}, dims[LN_MAXDIM] = {0};
    if (n->opset >= 13)
        ln_onnx_in(n, 1);
    else
        ln_attr_require(&n->emit, "axes");
    const int64_t *const given = given_axes(n, 13, 1, &len);
    if (len > LN_MAXDIM - t->ndim) {
        ln_emit_fail(&n->emit, "the result would have %d dimensions, expected at most %d",
                     t->ndim + len, LN_MAXDIM);
        return;
    }
    const int ndim = t->ndim + len;
    ln_onnx_axes(n, given, len, ndim, axes);
    for (int k = 0; k < len; k++)
        dims[axes[k]] = -1;
    for (int i = 0, own = 0; i < ndim; i++)
        dims[i] = dims[i] == -1 || own == t->ndim ? 1 : t->dims[own++];
    emit_axes(n, LN_OP_UNSQUEEZE, src, len, axes, ndim, dims);
}

static void translate_transpose(ln_onnx_node *n)
{
    const char *const src = ln_onnx_in(n, 0);
    const int ndim = ln_onnx_tensor_of(n, src)->ndim;
    int len, axes[LN_MAXDIM] = {0};
    const int64_t *const perm = ln_attr_ints(&n->emit, "perm", &len);
    if (perm && len != ndim)
        ln_emit_fail(&n->emit, "attribute 'perm' has %d axes, expected %d", len, ndim);
    if (perm)
        ln_onnx_axes(n, perm, len, ndim, axes);
    else
        for (int i = 0; i < ndim; i++)
            axes[i] = ndim - 1 - i;
    ln_emit_transpose(&n->emit, src, axes, 0);
}

// Shapes as numbers

static int64_t clamp_axis(int64_t axis, int ndim)
{
    const int64_t from_start = axis < 0 ? axis + ndim : axis;
    return from_start < 0 ? 0 : from_start > ndim ? ndim : from_start;
}

// The lengths of the axes begin .. end-1: constants, unless they are known only at run time.
static const char *shape_of(ln_onnx_node *n, const char *src, int begin, int end)
{
    const tl_tensor *const t = ln_onnx_tensor_of(n, src);
    int64_t dims[LN_MAXDIM] = {0};
    for (int i = begin; i < end; i++)
        dims[i - begin] = t->dims[i];
    int is_open = 0;
    for (int i = begin; i < end; i++) {
        const ln_dim size = ln_onnx_axis_size(n, src, i);
        is_open |= !ln_dim_is_constant(&size);
    }
    if (!is_open)
        return ln_emit_int64s(&n->emit, end - begin, dims);
    return LN_EMIT(&n->emit, LN_EMIT_TEMP, LN_OP_SHAPE, LN_ARG("src", src), LN_INT("start", begin),
                   LN_INT("end", end));
}

static void translate_shape(ln_onnx_node *n)
{
    const char *const src = ln_onnx_in(n, 0);
    const int ndim = ln_onnx_tensor_of(n, src)->ndim;
    const int begin = (int)clamp_axis(ln_attr_int(&n->emit, "start", 0), ndim);
    const int end = (int)clamp_axis(ln_attr_int(&n->emit, "end", INT_MAX), ndim);
    ln_onnx_alias(n, 0, shape_of(n, src, begin, end > begin ? end : begin));
}

// The length of the tensor as a line.
static void translate_size(ln_onnx_node *n)
{
    const char *src = ln_onnx_in(n, 0);
    const int64_t len = ln_onnx_tensor_of(n, src)->len;
    if (!ln_onnx_is_dynamic(n, src)) {
        ln_onnx_alias(n, 0, ln_emit_constant(&n->emit, TL_INT64, 0, NULL, &len));
        return;
    }
    src = ln_emit_view(&n->emit, src, 1, (int[]){-1}, LN_EMIT_TEMP);
    ln_emit_view(&n->emit, shape_of(n, src, 0, 1), 0, NULL, 0);
}

// Parts and wholes

static void translate_concat(ln_onnx_node *n)
{
    const char *const first = ln_onnx_in(n, 0);
    const int n_inputs = ln_onnx_num_inputs(n);
    if (n->opset >= 4)
        ln_attr_require(&n->emit, "axis");
    const int axis = ln_attr_axis(&n->emit, "axis", 1, ln_onnx_tensor_of(n, first)->ndim);
    if (n_inputs == 1) {
        ln_onnx_alias(n, 0, first);
        return;
    }
    ln_emit_begin(&n->emit, LN_OP_JOIN);
    for (int i = 0; i < n_inputs; i++)
        ln_emit_arg_at(&n->emit, "src", i, ln_onnx_in(n, i));
    ln_emit_set(&n->emit, LN_INT("axis", axis));
    ln_emit_end(&n->emit, "dst", 0);
}

// The lengths of `parts` parts of `dim`: ceil(dim / parts), except for the last one.
static void even_lens(ln_onnx_node *n, int dim, int parts, int may_differ, int *lens)
{
    const int max = parts > 0 ? (int)(((int64_t)dim + parts - 1) / parts) : 0;
    if (parts < 1 || (!may_differ && dim % parts != 0) || (int64_t)max * (parts - 1) > dim) {
        ln_emit_fail(&n->emit, "an axis of length %d in %d parts, expected equal parts%s", dim,
                     parts, may_differ ? " but for a shorter last one" : "");
        return;
    }
    for (int i = 0; i < parts; i++)
        lens[i] = i < parts - 1 ? max : dim - max * (parts - 1);
}

// The lengths of the parts of an axis of length `dim`: the `len` given ones; `dim`, the max of
// each, if they are known only at run time; otherwise equal ones.
static void split_lens(ln_onnx_node *n, const char *lens_now, const int64_t *given, int len,
                       int dim, int parts, int *lens)
{
    const int64_t wanted = given || lens_now ? len : ln_attr_int(&n->emit, "num_outputs", parts);
    if (wanted != parts || ln_attr_int(&n->emit, "num_outputs", parts) != parts)
        ln_emit_fail(&n->emit, "%d outputs, expected %lld", parts, (long long)wanted);
    else if (!given && !lens_now)
        even_lens(n, dim, parts, n->opset >= 18, lens);
    else
        for (int i = 0; i < parts; i++)
            lens[i] = lens_now ? dim : clamp_to_int(given[i]);
}

static void translate_split(ln_onnx_node *n)
{
    const tl_tensor *const t = ln_onnx_tensor_of(n, ln_onnx_in(n, 0));
    const int axis = ln_attr_axis(&n->emit, "axis", 0, t->ndim);
    const int parts = (int)n->proto->n_output;
    const int by_input = n->opset >= 13 || ln_onnx_has_input(n, 1);
    const char *const lens_now = by_input ? ln_onnx_runtime_input(n, 1) : NULL;
    const int64_t *given = NULL;
    int len = lens_now ? ln_onnx_tensor_of(n, lens_now)->len : 0;
    if (!lens_now)
        given = by_input ? ln_onnx_ints_in(n, 1, &len) : ln_attr_ints(&n->emit, "split", &len);
    int *const lens =
        ln_translation_alloc(n->emit.translation, sizeof(*lens) * ((size_t)parts + 1));
    if (!lens)
        return;
    split_lens(n, lens_now, given, len, t->dims[axis], parts, lens);
    if (ln_onnx_failed(n))
        return;
    LN_EMIT_BEGIN(&n->emit, LN_OP_SPLIT, LN_ARG("src", ln_onnx_in(n, 0)),
                  LN_ARG("lens_now", lens_now), LN_INT("axis", axis), LN_INTS("lens", parts, lens));
    ln_onnx_emit_outs(n, "dst", parts, 0, 1, NULL);
}

// The arguments of Slice, one number for each of `len` axes.
typedef struct slice {
    int len;
    int axes[LN_MAXDIM], starts[LN_MAXDIM], ends[LN_MAXDIM], steps[LN_MAXDIM];
    const char *starts_now, *ends_now; // where they are known only at run time
} slice;

static int is_whole(const slice *s, const tl_tensor *t)
{
    for (int i = 0; i < s->len; i++) {
        int first;
        const int dim = t->dims[s->axes[i]];
        if (s->steps[i] != 1 ||
            tl_slice_length(dim, s->starts[i], s->ends[i], s->steps[i], &first) != dim)
            return 0;
    }
    return !s->starts_now && !s->ends_now;
}

static void emit_slice(ln_onnx_node *n, const char *src, const slice *s)
{
    if (is_whole(s, ln_onnx_tensor_of(n, src))) {
        ln_onnx_alias(n, 0, src);
        return;
    }
    LN_EMIT(&n->emit, 0, LN_OP_STRIDE_SLICE, LN_ARG("src", src),
            LN_ARG("starts_now", s->starts_now), LN_ARG("ends_now", s->ends_now),
            LN_INTS("axes", s->len, s->axes), LN_INTS("starts", s->len, s->starts),
            LN_INTS("ends", s->len, s->ends), LN_INTS("steps", s->len, s->steps));
}

// One of Slice's lists: an attribute, or since opset 10 an input. NULL: not given.
static const int64_t *slice_list(ln_onnx_node *n, const char *name, int input, int *len)
{
    return n->opset >= 10 ? ln_onnx_ints_in(n, input, len) : ln_attr_ints(&n->emit, name, len);
}

// Limits the planned lengths of a slice with run-time bounds to the max of end - start, if that
// follows from sizes. Returns 1 if all lengths are constant.
static int limit_lengths(ln_onnx_node *n, slice *s)
{
    int is_fixed = 1;
    for (int i = 0; i < s->len; i++) {
        const ln_dim start = ln_onnx_element_size(n, ln_onnx_in(n, 1), i);
        const ln_dim end = ln_onnx_element_size(n, ln_onnx_in(n, 2), i);
        const ln_dim len = ln_dim_sub(ln_emit_symbols(&n->emit), &end, &start);
        if (!ln_dim_is_known(&len) || s->steps[i] != 1 || ln_onnx_min(n, &start) < 0 ||
            ln_onnx_min(n, &end) < 0)
            return 0;
        const int max = (int)(ln_onnx_max(n, &len) > 0 ? ln_onnx_max(n, &len) : 0);
        if (s->starts_now)
            s->starts[i] = s->ends_now || s->ends[i] < max ? 0 : s->ends[i] - max;
        if (s->ends_now)
            s->ends[i] = s->starts[i] > INT_MAX - max ? INT_MAX : s->starts[i] + max;
        is_fixed = is_fixed && ln_dim_is_constant(&len) && max == len.constant &&
                   max <= ln_onnx_tensor_of(n, ln_onnx_in(n, 0))->dims[s->axes[i]];
    }
    return is_fixed && s->len > 0;
}

// Emits a slice of constant lengths from run-time starts, which keeps the shapes of its consumers
// constant.
static void emit_slice_from(ln_onnx_node *n, const char *src, const slice *s)
{
    int lens[LN_MAXDIM];
    const char *const start = ln_emit_cast(&n->emit, ln_onnx_in(n, 1), TL_INT64, LN_EMIT_TEMP);
    for (int i = 0; i < s->len; i++)
        lens[i] = s->ends[i] - s->starts[i];
    LN_EMIT(&n->emit, 0, LN_OP_SLICE_FROM, LN_ARG("src", src), LN_ARG("start", start),
            LN_INTS("axes", s->len, s->axes), LN_INTS("lens", s->len, lens));
}

// Reads the starts or ends and returns their number, -1: not given. Run-time bounds, `*now`, are
// set to those of the whole axis in the direction of the step.
static int slice_bounds(ln_onnx_node *n, const char *name, int input, const int *steps, int *bounds,
                        const char **now)
{
    int len;
    const int is_end = input == 2;
    *now = n->opset >= 10 ? ln_onnx_runtime_input(n, input) : NULL;
    if (!*now) {
        const int64_t *const given = slice_list(n, name, input, &len);
        return given ? to_ints(n, name, given, len, bounds) : -1;
    }
    len = ln_onnx_tensor_of(n, *now)->len;
    for (int i = 0; i < len && i < LN_MAXDIM; i++)
        bounds[i] = (steps[i] > 0) == is_end ? INT_MAX : INT_MIN;
    return len;
}

static void translate_slice(ln_onnx_node *n)
{
    const char *const src = ln_onnx_in(n, 0);
    const tl_tensor *const t = ln_onnx_tensor_of(n, src);
    slice s = {0};
    int n_axes, n_steps;
    const int64_t *const axes = slice_list(n, "axes", 3, &n_axes);
    const int64_t *const steps = slice_list(n, "steps", 4, &n_steps);
    for (int i = 0; i < LN_MAXDIM; i++) {
        s.axes[i] = i;
        s.steps[i] = i < n_steps ? clamp_to_int(steps[i]) : 1;
        if (s.steps[i] == 0)
            ln_emit_fail(&n->emit, "'steps' has 0 at index %d, expected another value", i);
    }
    s.len = slice_bounds(n, "starts", 1, s.steps, s.starts, &s.starts_now);
    const int n_ends = slice_bounds(n, "ends", 2, s.steps, s.ends, &s.ends_now);
    if (s.len < 0 || n_ends != s.len || (axes && n_axes != s.len) || (steps && n_steps != s.len) ||
        s.len > t->ndim) {
        ln_emit_fail(&n->emit, "%d starts, %d ends, %d axes and %d steps, expected as many of each",
                     s.len < 0 ? 0 : s.len, n_ends < 0 ? 0 : n_ends, n_axes, n_steps);
        return;
    }
    if (axes)
        ln_onnx_axes(n, axes, n_axes, t->ndim, s.axes);
    if (ln_onnx_failed(n))
        return;
    const int is_fixed = (s.starts_now || s.ends_now) && limit_lengths(n, &s);
    if (is_fixed && s.starts_now && !ln_onnx_is_dynamic(n, src))
        emit_slice_from(n, src, &s);
    else
        emit_slice(n, src, &s);
}

// Padding and repetition

const ln_attr_word ln_onnx_pad_modes[] = {
    {"constant", "TL_PAD_CONSTANT", 0},
    {"edge", "TL_PAD_EDGE", 0},
    {"reflect", "TL_PAD_REFLECT", 0},
    {"wrap", "TL_PAD_WRAP", 19},
    {0},
};

// `pads`: those before each axis, then those after each axis.
static void emit_pads(ln_onnx_node *n, const ln_dim *pads, int n_pads, const int64_t *given,
                      int n_given, const char *value)
{
    const char *const src = ln_onnx_in(n, 0);
    const int ndim = ln_onnx_tensor_of(n, src)->ndim;
    const int n_axes = given ? n_given : ndim;
    int axes[LN_MAXDIM];
    ln_dim before[LN_MAXDIM] = {{0}}, after[LN_MAXDIM] = {{0}};
    if (n_pads != 2 * n_axes)
        ln_emit_fail(&n->emit, "%d pads, expected two for each of %d axes", n_pads, n_axes);
    for (int i = 0; i < ndim; i++)
        axes[i] = i;
    if (given)
        ln_onnx_axes(n, given, n_given, ndim, axes);
    if (ln_onnx_failed(n))
        return;
    for (int i = 0; i < n_axes; i++) {
        before[axes[i]] = pads[i];
        after[axes[i]] = pads[n_axes + i];
    }
    ln_emit_pad(&n->emit, src, before, after,
                ln_attr_choose(&n->emit, "mode", "constant", ln_onnx_pad_modes), value, 0);
}

// Until opset 10 all is given by attributes; the pads have another name in opset 1.
static void translate_pad_1(ln_onnx_node *n)
{
    int n_pads;
    const int64_t *const given = ln_attr_ints(&n->emit, n->row->with, &n_pads);
    const tl_dtype dtype = ln_onnx_tensor_of(n, ln_onnx_in(n, 0))->dtype;
    ln_dim pads[2 * LN_MAXDIM];
    for (int i = 0; i < n_pads && i < 2 * LN_MAXDIM; i++)
        pads[i] = ln_dim_constant(given[i]);
    emit_pads(n, pads, n_pads, NULL, 0,
              ln_emit_scalar(&n->emit, dtype, ln_attr_number(&n->emit, "value", 0)));
}

static void translate_pad(ln_onnx_node *n)
{
    int n_axes;
    ln_dim pads[2 * LN_MAXDIM];
    const int n_pads = ln_onnx_dims_in(n, 1, 2 * LN_MAXDIM, pads);
    const int64_t *const axes = ln_onnx_ints_in(n, 3, &n_axes);
    emit_pads(n, pads, n_pads, axes, n_axes, ln_onnx_optional(n, 2));
}

// `more` / 2, rounded toward 0.
static ln_dim halved(ln_symbols *symbols, const ln_dim *more)
{
    const ln_dim zero = ln_dim_constant(0), two = ln_dim_constant(2);
    const ln_dim less = ln_dim_sub(symbols, &zero, more);
    const ln_dim padded = ln_dim_max(symbols, more, &zero);
    const ln_dim cropped = ln_dim_max(symbols, &less, &zero);
    const ln_dim half = ln_dim_div(symbols, &padded, &two);
    const ln_dim other = ln_dim_div(symbols, &cropped, &two);
    return ln_dim_sub(symbols, &half, &other);
}

// Crops or pads on both sides; the larger half of an odd difference is at the end.
static void translate_center_crop_pad(ln_onnx_node *n)
{
    ln_symbols *const symbols = ln_emit_symbols(&n->emit);
    const char *const src = ln_onnx_in(n, 0);
    const int ndim = ln_onnx_tensor_of(n, src)->ndim;
    int n_axes, axes[LN_MAXDIM];
    ln_dim wanted[LN_MAXDIM], before[LN_MAXDIM] = {{0}}, after[LN_MAXDIM] = {{0}};
    const int n_wanted = ln_onnx_dims_in(n, 1, LN_MAXDIM, wanted);
    const int64_t *const given = ln_attr_ints(&n->emit, "axes", &n_axes);
    for (int i = 0; i < ndim; i++)
        axes[i] = i;
    if (n_wanted != (given ? n_axes : ndim))
        ln_emit_fail(&n->emit, "%d lengths, expected one for each of %d axes", n_wanted,
                     given ? n_axes : ndim);
    if (given)
        ln_onnx_axes(n, given, n_axes, ndim, axes);
    for (int i = 0; i < n_wanted && !ln_onnx_failed(n); i++) {
        const ln_dim own = ln_onnx_axis_size(n, src, axes[i]);
        const ln_dim more = ln_dim_sub(symbols, &wanted[i], &own);
        if (ln_onnx_max(n, &wanted[i]) < 0)
            ln_emit_fail(&n->emit, "a length of %lld, expected at least 0",
                         (long long)ln_onnx_max(n, &wanted[i]));
        before[axes[i]] = halved(symbols, &more);
        after[axes[i]] = ln_dim_sub(symbols, &more, &before[axes[i]]);
    }
    if (!ln_onnx_failed(n))
        ln_emit_pad(&n->emit, src, before, after, "TL_PAD_CONSTANT", NULL, 0);
}

// The `dims` of an expand to the run-time shape in input `i`: 1 where the length is that of src. 0:
// a length is neither that nor constant.
static int expand_dims(ln_onnx_node *n, const char *src, int i, int len, int *dims)
{
    const int shift = len - ln_onnx_tensor_of(n, src)->ndim;
    for (int k = 0; k < len; k++) {
        const ln_dim wanted = ln_onnx_element_size(n, ln_onnx_in(n, i), k);
        const ln_dim own = k < shift ? ln_dim_unknown() : ln_onnx_axis_size(n, src, k - shift);
        const int is_number =
            ln_dim_is_constant(&wanted) && wanted.constant >= 0 && wanted.constant <= INT_MAX;
        if (!is_number && !ln_dim_equals(&wanted, &own))
            return 0;
        dims[k] = is_number ? (int)wanted.constant : 1;
    }
    return 1;
}

// Expands to the shape in input `i`, at run time if it is not known before.
static void emit_expand(ln_onnx_node *n, const char *src, int i)
{
    int len, dims[LN_MAXDIM];
    const int n_dims = ln_onnx_tensor_of(n, ln_onnx_in(n, i))->len;
    if (ln_onnx_varies(n, i) && n_dims > 0 && n_dims <= LN_MAXDIM &&
        expand_dims(n, src, i, n_dims, dims)) {
        LN_EMIT(&n->emit, 0, LN_OP_EXPAND, LN_ARG("src", src), LN_INTS("dims", n_dims, dims));
        return;
    }
    ln_onnx_in(n, i);
    const int64_t *const largest = ln_onnx_largest_ints_in(n, i, &len);
    const int ndim = to_ints(n, "dimensions", largest, len, dims);
    LN_EMIT(&n->emit, 0, LN_OP_EXPAND, LN_ARG("src", src),
            LN_ARG("dims_now", ln_onnx_runtime_input(n, i)), LN_INTS("dims", ndim, dims));
}

static void translate_expand(ln_onnx_node *n)
{
    emit_expand(n, ln_onnx_in(n, 0), 1);
}

static void translate_constant_of_shape(ln_onnx_node *n)
{
    const char *const value = ln_onnx_attr_tensor(n, "value");
    if (ln_onnx_tensor_of(n, value)->len != 1)
        ln_emit_fail(&n->emit, "attribute 'value' has %d elements, expected 1",
                     ln_onnx_tensor_of(n, value)->len);
    emit_expand(n,
                value ? ln_emit_reshape(&n->emit, value, 0, NULL, LN_EMIT_TEMP)
                      : ln_emit_scalar(&n->emit, TL_FLOAT, 0),
                0);
}

static void emit_tile(ln_onnx_node *n, const char *src, const int *repeats)
{
    LN_EMIT(&n->emit, 0, LN_OP_TILE, LN_ARG("src", src),
            LN_INTS("repeats", ln_onnx_tensor_of(n, src)->ndim, repeats));
}

// Opset 1: inputs 1 and 2, of the type of input 0, are the number of copies and the axis.
static void translate_tile_1(ln_onnx_node *n)
{
    const char *const src = ln_onnx_in(n, 0);
    const double copies = ln_onnx_number_in(n, 1, 1), given = ln_onnx_number_in(n, 2, 0);
    const int64_t far = LN_MAXDIM + 1; // the conversion of larger numbers is not defined
    const int axis = ln_attr_to_axis(&n->emit, fabs(given) < far ? (int64_t)given : far,
                                     ln_onnx_tensor_of(n, src)->ndim);
    int repeats[LN_MAXDIM] = {1, 1, 1, 1, 1, 1, 1, 1};
    if (!(copies >= 0 && copies <= INT_MAX))
        ln_emit_fail(&n->emit, "%g copies, expected 0 to %d", copies, INT_MAX);
    else
        repeats[axis] = (int)copies;
    emit_tile(n, src, repeats);
}

static void translate_tile(ln_onnx_node *n)
{
    const char *const src = ln_onnx_in(n, 0);
    int len, repeats[LN_MAXDIM];
    const int64_t *const given = ln_onnx_ints_in(n, 1, &len);
    if (len != ln_onnx_tensor_of(n, src)->ndim)
        ln_emit_fail(&n->emit, "%d repeats, expected one for each of %d axes", len,
                     ln_onnx_tensor_of(n, src)->ndim);
    to_ints(n, "repeats", given, len, repeats);
    emit_tile(n, src, repeats);
}

const ln_onnx_row ln_onnx_rows_shape[] = {
    {"CenterCropPad", 18, translate_center_crop_pad},
    {"Concat", 1, translate_concat},
    {"ConstantOfShape", 9, translate_constant_of_shape},
    {"Expand", 8, translate_expand},
    {"Flatten", 1, translate_flatten},
    {"Pad", 1, translate_pad_1, "paddings"},
    {"Pad", 2, translate_pad_1, "pads"},
    {"Pad", 11, translate_pad},
    {"Reshape", 1, translate_reshape},
    {"Reshape", 5, translate_reshape},
    {"Shape", 1, translate_shape},
    {"Size", 1, translate_size},
    {"Slice", 1, translate_slice},
    {"Split", 1, translate_split},
    {"Squeeze", 1, translate_squeeze},
    {"Tile", 1, translate_tile_1},
    {"Tile", 6, translate_tile},
    {"Transpose", 1, translate_transpose},
    {"Unsqueeze", 1, translate_unsqueeze},
    {"Unsqueeze", 13, translate_unsqueeze},
    {NULL},
};
