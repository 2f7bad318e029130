// SPDX-License-Identifier: Apache-2.0
// Operators that move elements: shapes, joins and parts.

#include <inttypes.h>
#include <limits.h>
#include <string.h>

#include "front/nnvm/ln_nnvm_rows.h"

static int copy_dims(ln_nnvm_node *n, const char *tensor, int dims[LN_MAXDIM])
{
    const tl_tensor *const t = ln_nnvm_tensor_of(n, tensor);
    memcpy(dims, t->dims, (size_t)t->ndim * sizeof(int));
    return t->ndim;
}

/* ---- reshape ---- */

/* The codes of a shape that is asked for: see the operator's documentation. */
enum { COPY = 0, INFER = -1, COPY_REST = -2, MERGE = -3, SPLIT = -4 };

/* A shape that is being made: the source's dimensions are used up one after the other. */
typedef struct reshaping {
    const int *src;
    int n_src, at;
    int64_t dims[LN_NNVM_MAX_TUPLE];
    int ndim;
} reshaping;

static int64_t next_dim(reshaping *r)
{
    return r->at < r->n_src ? r->src[r->at++] : -2;
}

// The two parts of a dimension, one of which may be -1. Returns -1: they do not make it up.
static int split_dim(reshaping *r, int64_t a, int64_t b)
{
    const int64_t dim = next_dim(r);
    if (a == -1 && b > 0 && dim >= 0 && dim % b == 0)
        a = dim / b;
    else if (b == -1 && a > 0 && dim >= 0 && dim % a == 0)
        b = dim / a;
    if (a < 0 || b < 0 || a > INT_MAX || b > INT_MAX || a * b != dim)
        return -1;
    r->dims[r->ndim++] = a;
    r->dims[r->ndim++] = b;
    return 0;
}

// One code; `*i` moves over those that it takes. -1: it cannot be.
static int apply_code(reshaping *r, const int64_t *codes, int len, int *i)
{
    const int64_t code = codes[*i];
    if (r->ndim > LN_NNVM_MAX_TUPLE - LN_MAXDIM)
        return -1;
    if (code == COPY_REST) {
        while (r->at < r->n_src)
            r->dims[r->ndim++] = r->src[r->at++];
        return 0;
    }
    if (code == SPLIT) {
        *i += 2;
        return *i < len ? split_dim(r, codes[*i - 1], codes[*i]) : -1;
    }
    int64_t dim = next_dim(r);
    if (code == MERGE) {
        const int64_t second = next_dim(r);
        dim = dim < 0 || second < 0 ? -2 : dim * second;
    } else if (code != COPY) {
        dim = code >= INFER ? code : -2;
    }
    r->dims[r->ndim++] = dim;
    return dim < INFER || dim > INT_MAX ? -1 : 0;
}

static void reverse(int *dims, int len)
{
    for (int i = 0; i < len / 2; i++) {
        const int other = dims[i];
        dims[i] = dims[len - 1 - i];
        dims[len - 1 - i] = other;
    }
}

/** The shape that the codes ask for, with what is to be inferred. Returns the number of dimensions;
 *  0 after a failure. */
static int finish_shape(ln_nnvm_node *n, reshaping *r, int len, int dims[LN_MAXDIM])
{
    int64_t product = 1;
    int open = -1;
    if (r->ndim > LN_MAXDIM) {
        ln_emit_fail(&n->emit, "a shape of %d dimensions, expected at most %d", r->ndim, LN_MAXDIM);
        return 0;
    }
    for (int i = 0; i < r->ndim; i++) {
        if (r->dims[i] == INFER && open >= 0)
            ln_emit_fail(&n->emit, "attribute 'shape' leaves two dimensions open");
        if (r->dims[i] == INFER)
            open = i;
        else if (product > INT_MAX)
            ln_emit_fail(&n->emit, "attribute 'shape' has too many elements");
        else
            product *= r->dims[i];
    }
    if (open >= 0)
        r->dims[open] = product ? len / product : 0;
    product *= open >= 0 ? r->dims[open] : 1;
    for (int i = 0; i < r->ndim; i++)
        dims[i] = (int)r->dims[i];
    if (product != len)
        ln_emit_fail(&n->emit, "a shape of %" PRId64 " elements, expected the data's %d", product,
                     len);
    return ln_nnvm_failed(n) ? 0 : r->ndim;
}

static void emit_codes(ln_nnvm_node *n, const char *src, const int64_t *given, int len,
                       int is_reverse)
{
    int64_t codes[LN_NNVM_MAX_TUPLE];
    int src_dims[LN_MAXDIM], dims[LN_MAXDIM];
    reshaping r = {.src = src_dims, .n_src = copy_dims(n, src, src_dims)};
    for (int i = 0; i < len; i++)
        codes[i] = given[is_reverse ? len - 1 - i : i];
    if (is_reverse)
        reverse(src_dims, r.n_src);
    for (int i = 0; i < len && !ln_nnvm_failed(n); i++)
        if (apply_code(&r, codes, len, &i))
            ln_emit_fail(&n->emit, "attribute 'shape' does not fit the data at index %d", i);
    const int ndim =
        ln_nnvm_failed(n) ? 0 : finish_shape(n, &r, ln_nnvm_tensor_of(n, src)->len, dims);
    if (is_reverse)
        reverse(dims, ndim);
    if (!ln_nnvm_failed(n))
        ln_emit_reshape(&n->emit, src, ndim, dims, 0);
}

/** The way before MXNet 0.9: one 0 is inferred. */
static void emit_target_shape(ln_nnvm_node *n, const char *src, int64_t *codes, int len)
{
    const int keeps = ln_nnvm_bool(n, "keep_highest", 0);
    for (int i = 0; i < len; i++)
        codes[i] = i == 0 && keeps ? COPY : codes[i] == 0 ? INFER : codes[i];
    emit_codes(n, src, codes, len, 0);
}

static void translate_reshape(ln_nnvm_node *n)
{
    int64_t codes[LN_NNVM_MAX_TUPLE];
    const char *const src = ln_nnvm_in(n, 0);
    const int is_reverse = ln_nnvm_is_mxnet(n) && ln_nnvm_bool(n, "reverse", 0);
    int64_t target[LN_NNVM_MAX_TUPLE];
    const int n_target = ln_nnvm_is_mxnet(n) ? ln_nnvm_ints(n, "target_shape", target) : -1;
    const int len = ln_nnvm_ints(n, "shape", codes);
    const int keeps = ln_nnvm_is_mxnet(n) && ln_nnvm_bool(n, "keep_highest", 0);
    (void)keeps; // means nothing beside `shape`
    if (len <= 0 && n_target > 0)
        emit_target_shape(n, src, target, n_target);
    else if (len < 0)
        ln_nnvm_require(n, "shape");
    else
        emit_codes(n, src, codes, len, is_reverse);
}

static void translate_reshape_like(ln_nnvm_node *n)
{
    int dims[LN_MAXDIM];
    const int ndim = copy_dims(n, ln_nnvm_in(n, 1), dims);
    ln_emit_reshape(&n->emit, ln_nnvm_in(n, 0), ndim, dims, 0);
}

static void translate_flatten(ln_nnvm_node *n)
{
    const char *const src = ln_nnvm_in(n, 0);
    const tl_tensor *const t = ln_nnvm_tensor_of(n, src);
    const int rows = t->ndim ? t->dims[0] : 1, dims[] = {rows, rows ? t->len / rows : 0};
    ln_emit_reshape(&n->emit, src, 2, dims, 0);
}

static void translate_expand_dims(ln_nnvm_node *n)
{
    const char *const src = ln_nnvm_in(n, 0);
    int dims[2 * LN_MAXDIM];
    const int ndim = copy_dims(n, src, dims);
    ln_nnvm_require(n, "axis");
    const int axis = ln_nnvm_axis(n, ln_nnvm_int(n, "axis", 0), ndim + 1);
    const int more = ln_nnvm_is_mxnet(n) ? 1 : ln_nnvm_int_in(n, "num_newaxis", 1, 0, LN_MAXDIM);
    if (ndim + more > LN_MAXDIM)
        ln_emit_fail(&n->emit, "a shape of %d dimensions, expected at most %d", ndim + more,
                     LN_MAXDIM);
    memmove(dims + axis + more, dims + axis, (size_t)(ndim - axis) * sizeof(int));
    for (int i = 0; i < more; i++)
        dims[axis + i] = 1;
    if (!ln_nnvm_failed(n))
        ln_emit_reshape(&n->emit, src, ndim + more, dims, 0);
}

static void translate_squeeze(ln_nnvm_node *n)
{
    const char *const src = ln_nnvm_in(n, 0);
    const tl_tensor *const t = ln_nnvm_tensor_of(n, src);
    int64_t given[LN_NNVM_MAX_TUPLE];
    const int len = ln_nnvm_ints(n, "axis", given);
    int goes[LN_MAXDIM] = {0}, dims[LN_MAXDIM] = {1}, ndim = 0;
    for (int i = 0; i < len && !ln_nnvm_failed(n); i++) {
        const int axis = ln_nnvm_axis(n, given[i], t->ndim);
        goes[axis] = 1;
        if (t->ndim && t->dims[axis] != 1)
            ln_emit_fail(&n->emit, "axis %d has length %d, expected 1", axis, t->dims[axis]);
    }
    for (int i = 0; i < t->ndim; i++)
        if (len > 0 ? !goes[i] : t->dims[i] != 1)
            dims[ndim++] = t->dims[i];
    ln_emit_reshape(&n->emit, src, ndim ? ndim : 1, dims, 0);
}

/* ---- order ---- */

static void translate_transpose(ln_nnvm_node *n)
{
    const char *const src = ln_nnvm_in(n, 0);
    const int ndim = ln_nnvm_tensor_of(n, src)->ndim;
    int64_t given[LN_NNVM_MAX_TUPLE];
    int axes[LN_MAXDIM];
    const int len = ln_nnvm_ints(n, "axes", given);
    if (len > 0 && len != ndim)
        ln_emit_fail(&n->emit, "attribute 'axes' has %d numbers, expected %d", len, ndim);
    for (int i = 0; i < ndim && !ln_nnvm_failed(n); i++)
        axes[i] = len > 0 ? ln_nnvm_axis(n, given[i], ndim) : ndim - 1 - i;
    if (!ln_nnvm_failed(n))
        ln_emit_transpose(&n->emit, src, axes, 0);
}

static void translate_swap_axis(ln_nnvm_node *n)
{
    const char *const src = ln_nnvm_in(n, 0);
    const int ndim = ln_nnvm_tensor_of(n, src)->ndim;
    int axes[LN_MAXDIM];
    const int a = ln_nnvm_axis(n, ln_nnvm_int(n, "dim1", 0), ndim);
    const int b = ln_nnvm_axis(n, ln_nnvm_int(n, "dim2", 0), ndim);
    for (int i = 0; i < ndim; i++)
        axes[i] = i == a ? b : i == b ? a : i;
    ln_emit_transpose(&n->emit, src, axes, 0);
}

/* ---- slices ---- */

static void emit_slice(ln_nnvm_node *n, const char *src, int len, const int *axes,
                       const int *starts, const int *ends, const int *steps, int i)
{
    ln_emit_begin(&n->emit, "stride_slice");
    ln_emit_arg(&n->emit, "src", src);
    ln_emit_set_ints(&n->emit, "axes", len, axes);
    ln_emit_set_ints(&n->emit, "starts", len, starts);
    ln_emit_set_ints(&n->emit, "ends", len, ends);
    ln_emit_set_ints(&n->emit, "steps", len, steps);
    const char *const dst = ln_emit_end(&n->emit, "dst", i);
    if (!ln_nnvm_failed(n) && !ln_nnvm_tensor_of(n, dst)->len)
        ln_emit_fail(&n->emit, "the slice is empty");
}

static void translate_flip(ln_nnvm_node *n)
{
    static const int first[LN_MAXDIM] = {-1, -1, -1, -1, -1, -1, -1, -1};
    static const int last[LN_MAXDIM] = {INT_MIN + 1, INT_MIN + 1, INT_MIN + 1, INT_MIN + 1,
                                        INT_MIN + 1, INT_MIN + 1, INT_MIN + 1, INT_MIN + 1};
    const char *const src = ln_nnvm_in(n, 0);
    const int ndim = ln_nnvm_tensor_of(n, src)->ndim;
    int64_t given[LN_NNVM_MAX_TUPLE] = {0};
    int axes[LN_MAXDIM], len = ln_nnvm_ints(n, "axis", given);
    len = len < 0 ? 1 : len;
    if (len > ndim)
        ln_emit_fail(&n->emit, "%d axes, expected at most %d", len, ndim);
    for (int i = 0; i < len && !ln_nnvm_failed(n); i++)
        axes[i] = ln_nnvm_axis(n, given[i], ndim);
    if (!ln_nnvm_failed(n))
        emit_slice(n, src, len, axes, first, last, first, 0);
}

// What is not given, or None, is what a slice of the whole axis has.
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
    const char *const stride = ln_nnvm_is_mxnet(n) ? "step" : "stride";
    const char *const src = ln_nnvm_in(n, 0);
    const int ndim = ln_nnvm_tensor_of(n, src)->ndim;
    int64_t begin[LN_NNVM_MAX_TUPLE], end[LN_NNVM_MAX_TUPLE], step[LN_NNVM_MAX_TUPLE];
    int axes[LN_MAXDIM], starts[LN_MAXDIM], ends[LN_MAXDIM], steps[LN_MAXDIM];
    ln_nnvm_require(n, "begin");
    ln_nnvm_require(n, "end");
    const int n_begin = ln_nnvm_ints(n, "begin", begin), n_end = ln_nnvm_ints(n, "end", end);
    const int n_step = ln_nnvm_ints(n, stride, step);
    if (n_begin > ndim || n_end > ndim || n_step > ndim)
        ln_emit_fail(&n->emit, "a slice of more axes than the data's %d", ndim);
    for (int i = 0; i < ndim && !ln_nnvm_failed(n); i++) {
        axes[i] = i;
        steps[i] = bound_of(step, n_step, i, 1);
        starts[i] = bound_of(begin, n_begin, i, steps[i] < 0 ? INT_MAX - 1 : 0);
        ends[i] = bound_of(end, n_end, i, steps[i] < 0 ? INT_MIN + 2 : INT_MAX - 1);
        if (!steps[i])
            ln_emit_fail(&n->emit, "attribute '%s' has 0, expected another number", stride);
    }
    if (!ln_nnvm_failed(n))
        emit_slice(n, src, ndim, axes, starts, ends, steps, 0);
}

static void translate_slice_axis(ln_nnvm_node *n)
{
    static const int one = 1;
    const char *const src = ln_nnvm_in(n, 0);
    ln_nnvm_require(n, "axis");
    ln_nnvm_require(n, "begin");
    const int axis = ln_nnvm_axis(n, ln_nnvm_int(n, "axis", 0), ln_nnvm_tensor_of(n, src)->ndim);
    const int begin = ln_nnvm_int_in(n, "begin", 0, INT_MIN + 2, INT_MAX);
    const int end = ln_nnvm_int_in(n, "end", INT_MAX, INT_MIN + 2, INT_MAX);
    if (!ln_nnvm_failed(n))
        emit_slice(n, src, 1, &axis, &begin, &end, &one, 0);
}

/** Cuts axes to the lengths of another tensor. */
static void translate_slice_like(ln_nnvm_node *n)
{
    const char *const src = ln_nnvm_in(n, 0);
    const tl_tensor *const t = ln_nnvm_tensor_of(n, src);
    const tl_tensor *const like = ln_nnvm_tensor_of(n, ln_nnvm_in(n, 1));
    int64_t given[LN_NNVM_MAX_TUPLE];
    int axes[LN_MAXDIM], starts[LN_MAXDIM] = {0}, ends[LN_MAXDIM], steps[LN_MAXDIM];
    int len = ln_nnvm_ints(n, ln_nnvm_is_mxnet(n) ? "axes" : "axis", given);
    const int is_all = len <= 0, least = t->ndim < like->ndim ? t->ndim : like->ndim;
    len = is_all ? least : len;
    if (len > least)
        ln_emit_fail(&n->emit, "%d axes, expected at most %d", len, least);
    for (int i = 0; i < len && !ln_nnvm_failed(n); i++) {
        axes[i] = is_all ? i : ln_nnvm_axis(n, given[i], t->ndim);
        if (axes[i] >= like->ndim) {
            ln_emit_fail(&n->emit, "axis %d of a tensor with %d dimensions", axes[i], like->ndim);
            return;
        }
        ends[i] = like->dims[axes[i]];
        steps[i] = 1;
        if (ends[i] > t->dims[axes[i]])
            ln_emit_fail(&n->emit, "axis %d has length %d, expected at least %d", axes[i],
                         t->dims[axes[i]], ends[i]);
    }
    if (!ln_nnvm_failed(n))
        emit_slice(n, src, len, axes, starts, ends, steps, 0);
}

/* ---- joins and parts ---- */

static void translate_concat(ln_nnvm_node *n)
{
    const int len = ln_nnvm_num_inputs(n), mxnet = ln_nnvm_is_mxnet(n);
    const int64_t given = ln_nnvm_int(n, mxnet ? "dim" : "axis", 1);
    if (mxnet && ln_nnvm_int(n, "num_args", len) != len)
        ln_emit_fail(&n->emit, "%d inputs, expected 'num_args', %lld", len,
                     (long long)ln_nnvm_int(n, "num_args", len));
    const int axis = ln_nnvm_axis(n, given, ln_nnvm_tensor_of(n, ln_nnvm_in(n, 0))->ndim);
    if (len == 1) {
        ln_nnvm_alias(n, 0, ln_nnvm_in(n, 0));
        return;
    }
    ln_emit_begin(&n->emit, "join");
    for (int i = 0; i < len && !ln_nnvm_failed(n); i++)
        ln_emit_arg_at(&n->emit, "src", i, ln_nnvm_in(n, i));
    ln_emit_set_int(&n->emit, "axis", axis);
    ln_emit_end(&n->emit, "dst", 0);
}

/** Parts of the lengths `lens`, of which the axis goes where they are 1 and `squeezes`. */
static void emit_split(ln_nnvm_node *n, const char *src, int axis, int len, const int *lens,
                       int squeezes)
{
    const char **parts = ln_translation_alloc(&n->model->base, ((size_t)len + 1) * sizeof(*parts));
    if (!parts || ln_nnvm_failed(n))
        return;
    ln_emit_begin(&n->emit, "split");
    ln_emit_arg(&n->emit, "src", src);
    ln_emit_set_int(&n->emit, "axis", axis);
    ln_emit_set_ints(&n->emit, "lens", len, lens);
    for (int i = 0; i < len; i++) {
        char arg[32];
        snprintf(arg, sizeof(arg), "dst%d", i);
        parts[i] =
            (i < len - 1 ? ln_emit_out : ln_emit_end)(&n->emit, arg, squeezes ? LN_EMIT_TEMP : i);
    }
    for (int i = 0; squeezes && i < len && !ln_nnvm_failed(n); i++) {
        ln_emit_begin(&n->emit, "squeeze");
        ln_emit_arg(&n->emit, "src", parts[i]);
        ln_emit_set_ints(&n->emit, "axes", 1, &axis);
        ln_emit_end(&n->emit, "dst", i);
    }
}

/** `n_parts` parts; those that `dim` leaves over make the first ones longer by one, if `is_uneven`.
 */
static void emit_even_split(ln_nnvm_node *n, const char *src, int axis, int n_parts, int is_uneven,
                            int squeezes)
{
    const int dim = ln_nnvm_tensor_of(n, src)->dims[axis];
    int *lens = n_parts <= dim
                    ? ln_translation_alloc(&n->model->base, (size_t)n_parts * sizeof(*lens))
                    : NULL;
    if (n_parts > dim || (!is_uneven && dim % n_parts) || (squeezes && dim != n_parts))
        ln_emit_fail(&n->emit, "axis %d has length %d, expected %s %d", axis, dim,
                     squeezes ? "" : "a multiple of", n_parts);
    for (int i = 0; lens && i < n_parts; i++)
        lens[i] = dim / n_parts + (i < dim % n_parts);
    if (lens && !ln_nnvm_failed(n))
        emit_split(n, src, axis, n_parts, lens, squeezes);
}

/** Parts that begin at the points; `points` has the beginning of the first, 0, too. */
static void emit_cuts(ln_nnvm_node *n, const char *src, int axis, const int64_t *points, int len,
                      int squeezes)
{
    int lens[LN_NNVM_MAX_TUPLE + 1];
    const int dim = ln_nnvm_tensor_of(n, src)->dims[axis];
    for (int i = 0; i < len && !ln_nnvm_failed(n); i++) {
        const int64_t end = i + 1 < len ? points[i + 1] : dim;
        if (end <= points[i] || end > dim)
            ln_emit_fail(&n->emit,
                         "a cut at %" PRId64 " of an axis of length %d, expected %" PRId64 " to %d",
                         end, dim, points[i] + 1, dim - 1);
        lens[i] = (int)(end - points[i]);
    }
    if (!ln_nnvm_failed(n))
        emit_split(n, src, axis, len, lens, squeezes);
}

/** Text that starts with a digit is a number of parts, other text the points of cuts. */
static void translate_core_split(ln_nnvm_node *n)
{
    const char *const src = ln_nnvm_in(n, 0);
    const int axis = ln_nnvm_axis(n, ln_nnvm_int(n, "axis", 1), ln_nnvm_tensor_of(n, src)->ndim);
    int64_t points[LN_NNVM_MAX_TUPLE + 1] = {0};
    const char *const text = ln_nnvm_text(n, "indices_or_sections", "");
    ln_nnvm_require(n, "indices_or_sections");
    if (ln_nnvm_failed(n))
        return;
    if (*text >= '0' && *text <= '9')
        emit_even_split(n, src, axis, ln_nnvm_int_in(n, "indices_or_sections", 1, 1, INT_MAX), 0,
                        0);
    else
        emit_cuts(n, src, axis, points, 1 + ln_nnvm_ints(n, "indices_or_sections", points + 1), 0);
}

static void translate_slice_channel(ln_nnvm_node *n)
{
    const char *const src = ln_nnvm_in(n, 0);
    const int axis = ln_nnvm_axis(n, ln_nnvm_int(n, "axis", 1), ln_nnvm_tensor_of(n, src)->ndim);
    ln_nnvm_require(n, "num_outputs");
    const int parts = ln_nnvm_int_in(n, "num_outputs", 1, 1, INT_MAX);
    const int squeezes = ln_nnvm_bool(n, "squeeze_axis", 0);
    if (!ln_nnvm_failed(n))
        emit_even_split(n, src, axis, parts, 0, squeezes);
}

static void translate_split_v2(ln_nnvm_node *n)
{
    const char *const src = ln_nnvm_in(n, 0);
    const int axis = ln_nnvm_axis(n, ln_nnvm_int(n, "axis", 1), ln_nnvm_tensor_of(n, src)->ndim);
    const int parts = ln_nnvm_int_in(n, "sections", 0, 0, INT_MAX);
    const int squeezes = ln_nnvm_bool(n, "squeeze_axis", 0);
    int64_t points[LN_NNVM_MAX_TUPLE];
    const int len = ln_nnvm_ints(n, "indices", points);
    if (ln_nnvm_failed(n))
        return;
    if (parts)
        emit_even_split(n, src, axis, parts, 1, squeezes);
    else if (len > 0 && points[0] == 0)
        emit_cuts(n, src, axis, points, len, squeezes);
    else
        ln_emit_fail(&n->emit, "attribute 'indices' does not begin with 0");
}

/** Stacks along a new axis. */
static void translate_stack(ln_nnvm_node *n)
{
    const int len = ln_nnvm_num_inputs(n);
    const int ndim = ln_nnvm_tensor_of(n, ln_nnvm_in(n, 0))->ndim;
    const int axis = ln_nnvm_axis(n, ln_nnvm_int(n, "axis", 0), ndim + 1);
    const char **parts = ln_translation_alloc(&n->model->base, ((size_t)len + 1) * sizeof(*parts));
    if (ln_nnvm_int(n, "num_args", len) != len)
        ln_emit_fail(&n->emit, "%d inputs, expected as many as 'num_args'", len);
    for (int i = 0; parts && i < len && !ln_nnvm_failed(n); i++) {
        const char *const src = ln_nnvm_in(n, i);
        ln_emit_begin(&n->emit, "unsqueeze");
        ln_emit_arg(&n->emit, "src", src);
        ln_emit_set_ints(&n->emit, "axes", 1, &axis);
        parts[i] = ln_emit_end(&n->emit, "dst", LN_EMIT_TEMP);
    }
    ln_emit_begin(&n->emit, "join");
    for (int i = 0; parts && i < len; i++)
        ln_emit_arg_at(&n->emit, "src", i, parts[i]);
    ln_emit_set_int(&n->emit, "axis", axis);
    ln_emit_end(&n->emit, "dst", 0);
}

/* ---- more elements ---- */

static void emit_pad(ln_nnvm_node *n, const int64_t *given, int len, const char *mode, double value)
{
    const char *const src = ln_nnvm_in(n, 0);
    const tl_tensor *const t = ln_nnvm_tensor_of(n, src);
    const int ndim = t->ndim;
    int before[LN_MAXDIM], after[LN_MAXDIM];
    if (len != 2 * ndim)
        ln_emit_fail(&n->emit, "attribute 'pad_width' has %d numbers, expected %d", len, 2 * ndim);
    for (int i = 0; i < ndim && !ln_nnvm_failed(n); i++) {
        if (given[2 * i] < 0 || given[2 * i] > INT_MAX || given[2 * i + 1] < 0 ||
            given[2 * i + 1] > INT_MAX)
            ln_emit_fail(&n->emit, "attribute 'pad_width' has numbers beyond 0 to %d", INT_MAX);
        before[i] = (int)given[2 * i];
        after[i] = (int)given[2 * i + 1];
    }
    const char *const number = value != 0 ? ln_emit_scalar(&n->emit, t->dtype, value) : NULL;
    if (ln_nnvm_failed(n))
        return;
    ln_emit_begin(&n->emit, "pad");
    ln_emit_arg(&n->emit, "src", src);
    ln_emit_arg(&n->emit, "value", number);
    ln_emit_set_ints(&n->emit, "before", ndim, before);
    ln_emit_set_ints(&n->emit, "after", ndim, after);
    ln_emit_set_string(&n->emit, "mode", mode);
    ln_emit_end(&n->emit, "dst", 0);
}

static void translate_core_pad(ln_nnvm_node *n)
{
    int64_t given[LN_NNVM_MAX_TUPLE];
    ln_nnvm_require(n, "pad_width");
    const int len = ln_nnvm_ints(n, "pad_width", given);
    emit_pad(n, given, len, "TL_PAD_CONSTANT", ln_nnvm_float(n, "pad_value", 0));
}

static void translate_mxnet_pad(ln_nnvm_node *n)
{
    static const char *const modes[][2] = {
        {"constant", "TL_PAD_CONSTANT"}, {"edge", "TL_PAD_EDGE"}, {"reflect", "TL_PAD_REFLECT"}};
    int64_t given[LN_NNVM_MAX_TUPLE];
    ln_nnvm_require(n, "mode");
    ln_nnvm_require(n, "pad_width");
    const char *const mode = ln_nnvm_text(n, "mode", "");
    const int len = ln_nnvm_ints(n, "pad_width", given);
    const double value = ln_nnvm_float(n, "constant_value", 0);
    for (int i = 0; i < 3; i++)
        if (!strcmp(mode, modes[i][0])) {
            emit_pad(n, given, len, modes[i][1], value);
            return;
        }
    ln_emit_fail(&n->emit, "attribute 'mode' is \"%.32s\", expected constant, edge or reflect",
                 mode);
}

static void emit_expand(ln_nnvm_node *n, const char *src, int ndim, const int *dims)
{
    ln_emit_begin(&n->emit, "expand");
    ln_emit_arg(&n->emit, "src", src);
    ln_emit_set_ints(&n->emit, "dims", ndim, dims);
    ln_emit_end(&n->emit, "dst", 0);
}

/** The same number of dimensions; 0 keeps one. */
static void translate_broadcast_to(ln_nnvm_node *n)
{
    const char *const src = ln_nnvm_in(n, 0);
    int64_t given[LN_NNVM_MAX_TUPLE];
    int dims[LN_MAXDIM];
    const int ndim = copy_dims(n, src, dims), len = ln_nnvm_ints(n, "shape", given);
    if (len != ndim)
        ln_emit_fail(&n->emit, "attribute 'shape' has %d numbers, expected %d", len, ndim);
    for (int i = 0; i < ndim && !ln_nnvm_failed(n); i++) {
        if (given[i] < 0 || given[i] > INT_MAX || (given[i] && dims[i] != 1 && given[i] != dims[i]))
            ln_emit_fail(&n->emit, "attribute 'shape' has %" PRId64 " for a length of %d", given[i],
                         dims[i]);
        dims[i] = given[i] ? (int)given[i] : dims[i];
    }
    if (!ln_nnvm_failed(n))
        emit_expand(n, src, ndim, dims);
}

static void translate_broadcast_like(ln_nnvm_node *n)
{
    int dims[LN_MAXDIM];
    const char *const src = ln_nnvm_in(n, 0);
    const int ndim = copy_dims(n, ln_nnvm_in(n, 1), dims);
    emit_expand(n, src, ndim, dims);
}

static void translate_broadcast_axis(ln_nnvm_node *n)
{
    const char *const src = ln_nnvm_in(n, 0);
    int64_t axes[LN_NNVM_MAX_TUPLE], sizes[LN_NNVM_MAX_TUPLE];
    int dims[LN_MAXDIM];
    const int ndim = copy_dims(n, src, dims);
    const int len = ln_nnvm_ints(n, "axis", axes), n_sizes = ln_nnvm_ints(n, "size", sizes);
    if (len != n_sizes)
        ln_emit_fail(&n->emit, "%d axes and %d sizes, expected as many", len, n_sizes);
    for (int i = 0; i < len && !ln_nnvm_failed(n); i++) {
        const int axis = ln_nnvm_axis(n, axes[i], ndim);
        if (sizes[i] < 1 || sizes[i] > INT_MAX || dims[axis] != 1)
            ln_emit_fail(&n->emit, "axis %d of length %d to %" PRId64 ", expected 1 to a number",
                         axis, dims[axis], sizes[i]);
        else
            dims[axis] = (int)sizes[i];
    }
    if (!ln_nnvm_failed(n))
        emit_expand(n, src, ndim, dims);
}

static void translate_tile(ln_nnvm_node *n)
{
    const char *src = ln_nnvm_in(n, 0);
    int64_t given[LN_NNVM_MAX_TUPLE];
    int dims[LN_MAXDIM], own[LN_MAXDIM], reps[LN_MAXDIM];
    const int n_own = copy_dims(n, src, own);
    ln_nnvm_require(n, "reps");
    const int len = ln_nnvm_ints(n, "reps", given), ndim = len > n_own ? len : n_own;
    if (ndim > LN_MAXDIM)
        ln_emit_fail(&n->emit, "attribute 'reps' has %d numbers, expected at most %d", len,
                     LN_MAXDIM);
    for (int i = 0; i < ndim && !ln_nnvm_failed(n); i++) {
        const int64_t rep = i < ndim - len ? 1 : given[i - (ndim - len)];
        if (rep < 1 || rep > INT_MAX)
            ln_emit_fail(&n->emit, "attribute 'reps' has %" PRId64 ", expected at least 1", rep);
        dims[i] = i < ndim - n_own ? 1 : own[i - (ndim - n_own)];
        reps[i] = (int)rep;
    }
    if (ln_nnvm_failed(n))
        return;
    if (ndim > n_own)
        src = ln_emit_reshape(&n->emit, src, ndim, dims, LN_EMIT_TEMP);
    ln_emit_begin(&n->emit, "tile");
    ln_emit_arg(&n->emit, "src", src);
    ln_emit_set_ints(&n->emit, "repeats", ndim, reps);
    ln_emit_end(&n->emit, "dst", 0);
}

#define CORE  LN_NNVM_IN_CORE
#define MXNET LN_NNVM_IN_MXNET
#define BOTH  LN_NNVM_IN_BOTH

const ln_nnvm_row ln_nnvm_rows_shape[] = {
    {"reshape", BOTH, translate_reshape, NULL, 1, 1},
    {"Reshape", MXNET, translate_reshape, NULL, 1, 1},
    {"reshape_like", CORE, translate_reshape_like, NULL, 2, 2},
    {"flatten", CORE, translate_flatten, NULL, 1, 1},
    {"Flatten", MXNET, translate_flatten, NULL, 1, 1},
    {"expand_dims", BOTH, translate_expand_dims, NULL, 1, 1},
    {"squeeze", BOTH, translate_squeeze, NULL, 1, 1},
    {"transpose", BOTH, translate_transpose, NULL, 1, 1},
    {"SwapAxis", MXNET, translate_swap_axis, NULL, 1, 1},
    {"flip", BOTH, translate_flip, NULL, 1, 1},
    {"reverse", MXNET, translate_flip, NULL, 1, 1},
    {"strided_slice", CORE, translate_slice, NULL, 1, 1},
    {"slice", MXNET, translate_slice, NULL, 1, 1},
    {"crop", MXNET, translate_slice, NULL, 1, 1},
    {"slice_axis", MXNET, translate_slice_axis, NULL, 1, 1},
    {"slice_like", BOTH, translate_slice_like, NULL, 2, 2},
    {"concatenate", CORE, translate_concat, NULL, 1},
    {"Concat", MXNET, translate_concat, NULL, 1},
    {"concat", MXNET, translate_concat, NULL, 1},
    {"split", CORE, translate_core_split, NULL, 1, 1},
    {"split", MXNET, translate_slice_channel, NULL, 1, 1},
    {"SliceChannel", MXNET, translate_slice_channel, NULL, 1, 1},
    {"_split_v2", MXNET, translate_split_v2, NULL, 1, 1},
    {"stack", MXNET, translate_stack, NULL, 1},
    {"pad", CORE, translate_core_pad, NULL, 1, 1},
    {"pad", MXNET, translate_mxnet_pad, NULL, 1, 1},
    {"Pad", MXNET, translate_mxnet_pad, NULL, 1, 1},
    {"broadcast_to", BOTH, translate_broadcast_to, NULL, 1, 1},
    {"broadcast_like", MXNET, translate_broadcast_like, NULL, 2, 2},
    {"broadcast_axis", MXNET, translate_broadcast_axis, NULL, 1, 1},
    {"broadcast_axes", MXNET, translate_broadcast_axis, NULL, 1, 1},
    {"tile", MXNET, translate_tile, NULL, 1, 1},
    {NULL},
};
