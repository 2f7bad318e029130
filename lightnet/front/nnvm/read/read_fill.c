// SPDX-License-Identifier: Apache-2.0
// Operators that create constants, pad, broadcast and repeat.

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <string.h>

#include "front/nnvm/ln_nnvm_steps.h"
#include "tensorlight/tl_util.h"

// Attribute 'shape'. MXNet's may begin with 0 for the batch size, as initial states of cells do,
// which is the first length of all inputs. Returns the number of dimensions.
static int read_shape(ln_nnvm_node *n, int dims[LN_MAXDIM])
{
    int len;
    const int64_t *const given = ln_attr_ints(&n->emit, "shape", &len);
    if (len > LN_MAXDIM)
        ln_emit_fail(&n->emit, "a shape of %d dimensions, expected at most %d", len, LN_MAXDIM);
    for (int i = 0; i < len && !ln_nnvm_failed(n); i++) {
        const int is_open = ln_nnvm_was_mxnet(n) && i == 0 && given[i] == 0;
        const int64_t dim = is_open ? n->model->batch_size : given[i];
        if (dim < 1 || dim > INT_MAX)
            ln_emit_fail(&n->emit,
                         is_open
                             ? "attribute 'shape' begins with %" PRId64
                               ", the batch size: unknown shape of the inputs; set it by --shape "
                               "NAME=1x3x224x224 (option 'shape')"
                             : "attribute 'shape' has %" PRId64 ", expected 1 to %d",
                         given[i], INT_MAX);
        dims[i] = (int)dim;
    }
    if (!ln_nnvm_failed(n) && tl_compute_length(len, dims) < 0)
        ln_emit_fail(&n->emit, "%s", tl_last_error());
    return ln_nnvm_failed(n) ? 0 : len;
}

// `with`: the value; NULL: that of an attribute. The type and the shape are those of the input, if
// any.
static void translate_full(ln_nnvm_node *n)
{
    int dims[LN_MAXDIM];
    const char *const with = n->row->with, *const like = n->row->min ? ln_nnvm_in(n, 0) : NULL;
    const int ndim = like ? ln_nnvm_copy_dims(n, like, dims) : read_shape(n, dims);
    const tl_dtype dtype =
        like ? ln_nnvm_tensor_of(n, like)->dtype : ln_attr_dtype(&n->emit, "dtype", TL_FLOAT);
    const double value = with ? *with - '0' : ln_attr_number(&n->emit, "fill_value", 0);
    ln_emit_full(&n->emit, dtype, ndim, dims, value, 0);
}

// From 'start' to before 'stop', or from 0 to before 'start', each number 'repeat' times.
static void translate_arange(ln_nnvm_node *n)
{
    const double from = ln_attr_number(&n->emit, "start", 0);
    const double stop = ln_attr_number(&n->emit, "stop", from);
    const double start = ln_attr_has(&n->emit, "stop") ? from : 0;
    const double step = ln_attr_number(&n->emit, "step", 1);
    const tl_dtype dtype = ln_attr_dtype(&n->emit, "dtype", TL_FLOAT);
    const int repeats = ln_attr_int_in(&n->emit, "repeat", 1, 1, INT_MAX);
    if (ln_attr_bool(&n->emit, "infer_range", 0))
        ln_emit_fail(&n->emit, "attribute 'infer_range' is True, expected False");
    const double len = ceil((stop - start) / step);
    const int fits = len >= 1 && len <= INT_MAX / repeats;
    if (!fits)
        ln_emit_fail(&n->emit,
                     "from %g to %g in steps of %g, each %d times: expected 1 to %d numbers", start,
                     stop, step, repeats, INT_MAX);
    const char *const first = ln_emit_scalar(&n->emit, dtype, start);
    const char *const delta = ln_emit_scalar(&n->emit, dtype, step);
    const char *dst = LN_EMIT(&n->emit, LN_EMIT_TEMP, LN_OP_RANGE, LN_ARG("start", first),
                              LN_ARG("delta", delta), LN_INT("len", fits ? (int64_t)len : 1));
    if (repeats > 1)
        dst = ln_nnvm_repeat(n, dst, 0, repeats, LN_EMIT_TEMP);
    ln_nnvm_alias(n, 0, dst);
}

// `with`: shape, the lengths of the axes, or size, the number of elements.
static void translate_shape_array(ln_nnvm_node *n)
{
    const tl_tensor *const t = ln_nnvm_tensor_of(n, ln_nnvm_in(n, 0));
    int64_t values[LN_MAXDIM] = {t->len};
    const int is_shape = !strcmp(n->row->with, "shape");
    for (int i = 0; i < t->ndim && is_shape; i++)
        values[i] = t->dims[i];
    ln_nnvm_alias(n, 0, ln_emit_int64s(&n->emit, is_shape ? t->ndim : 1, values));
}

static void translate_pad(ln_nnvm_node *n)
{
    static const ln_attr_word modes[] = {{"constant", "TL_PAD_CONSTANT"},
                                         {"edge", "TL_PAD_EDGE"},
                                         {"reflect", "TL_PAD_REFLECT"},
                                         {0}};
    const char *const mode = ln_nnvm_was_mxnet(n)
                                 ? ln_attr_choose(&n->emit, "mode", "constant", modes)
                                 : "TL_PAD_CONSTANT";
    int len;
    const int64_t *const given = ln_attr_ints(&n->emit, "pad_width", &len);
    const double value = ln_attr_number(&n->emit, "pad_value", 0);
    const char *const src = ln_nnvm_in(n, 0);
    const tl_tensor *const t = ln_nnvm_tensor_of(n, src);
    const int ndim = t->ndim;
    int before[LN_MAXDIM] = {0}, after[LN_MAXDIM] = {0};
    if (len != 2 * ndim)
        ln_emit_fail(&n->emit, "attribute 'pad_width' has %d numbers, expected %d", len, 2 * ndim);
    for (int i = 0; i < ndim && !ln_nnvm_failed(n); i++) {
        before[i] = ln_attr_element(&n->emit, "pad_width", given[2 * i], 0, INT_MAX);
        after[i] = ln_attr_element(&n->emit, "pad_width", given[2 * i + 1], 0, INT_MAX);
    }
    const char *const number = value != 0 ? ln_emit_scalar(&n->emit, t->dtype, value) : NULL;
    LN_EMIT(&n->emit, 0, LN_OP_PAD, LN_ARG("src", src), LN_ARG("value", number),
            LN_INTS("before", ndim, before), LN_INTS("after", ndim, after), LN_TEXT("mode", mode));
}

// The rank stays the same; 0 keeps a length.
static void translate_broadcast_to(ln_nnvm_node *n)
{
    int dims[LN_MAXDIM], len;
    const int ndim = ln_nnvm_in_dims(n, 0, dims);
    const int64_t *const given = ln_attr_ints(&n->emit, "shape", &len);
    if (!given || len != ndim)
        ln_emit_fail(&n->emit, "attribute 'shape' has %d numbers, expected %d", len, ndim);
    for (int i = 0; i < ndim && !ln_nnvm_failed(n); i++) {
        if (given[i] < 0 || given[i] > INT_MAX || (given[i] && dims[i] != 1 && given[i] != dims[i]))
            ln_emit_fail(&n->emit,
                         "attribute 'shape' has %" PRId64 " for length %d, expected it, or 0",
                         given[i], dims[i]);
        dims[i] = given[i] ? (int)given[i] : dims[i];
    }
    ln_emit_expand(&n->emit, ln_nnvm_in(n, 0), ndim, dims, 0);
}

static void translate_broadcast_like(ln_nnvm_node *n)
{
    int dims[LN_MAXDIM];
    const char *const src = ln_nnvm_in(n, 0);
    ln_emit_expand(&n->emit, src, ln_nnvm_in_dims(n, 1, dims), dims, 0);
}

// Inserts axes at 'axis', or at all others, and broadcasts to the shape of the second input.
static void translate_expand_like(ln_nnvm_node *n)
{
    const char *src = ln_nnvm_in(n, 0);
    int own[LN_MAXDIM], like[LN_MAXDIM], dims[LN_MAXDIM] = {0}, axes[LN_MAXDIM], from = 0;
    const int n_own = ln_nnvm_copy_dims(n, src, own);
    const int ndim = ln_nnvm_in_dims(n, 1, like);
    const int n_new = ln_nnvm_axes(n, "axis", ndim, ln_attr_bool(&n->emit, "exclude", 0), axes);
    if (n_own + n_new != ndim)
        ln_emit_fail(&n->emit, "%d dimensions and %d new ones, expected %d together", n_own, n_new,
                     ndim);
    for (int i = 0, k = 0; i < ndim && !ln_nnvm_failed(n); i++) {
        const int is_new = k < n_new && axes[k] == i;
        k += is_new;
        dims[i] = is_new ? 1 : own[from++];
        if (dims[i] != 1 && dims[i] != like[i])
            ln_emit_fail(&n->emit, "axis %d has length %d, expected 1 or %d", i, dims[i], like[i]);
    }
    if (n_new)
        src = ln_emit_reshape(&n->emit, src, ndim, dims, LN_EMIT_TEMP);
    ln_emit_expand(&n->emit, src, ndim, like, 0);
}

static void translate_broadcast_axis(ln_nnvm_node *n)
{
    int dims[LN_MAXDIM], len, n_sizes;
    const int ndim = ln_nnvm_in_dims(n, 0, dims);
    const int64_t *const axes = ln_attr_ints(&n->emit, "axis", &len);
    const int64_t *const sizes = ln_attr_ints(&n->emit, "size", &n_sizes);
    if (len != n_sizes)
        ln_emit_fail(&n->emit, "%d axes and %d sizes, expected equal numbers", len, n_sizes);
    for (int i = 0; i < len && !ln_nnvm_failed(n); i++) {
        const int axis = ln_attr_to_axis(&n->emit, axes[i], ndim);
        if (sizes[i] < 1 || sizes[i] > INT_MAX || dims[axis] != 1)
            ln_emit_fail(&n->emit, "axis %d of length %d to %" PRId64 ", expected length 1", axis,
                         dims[axis], sizes[i]);
        else
            dims[axis] = (int)sizes[i];
    }
    ln_emit_expand(&n->emit, ln_nnvm_in(n, 0), ndim, dims, 0);
}

static void translate_tile(ln_nnvm_node *n)
{
    const char *src = ln_nnvm_in(n, 0);
    int dims[LN_MAXDIM] = {0}, own[LN_MAXDIM], reps[LN_MAXDIM] = {0}, len;
    const int n_own = ln_nnvm_copy_dims(n, src, own);
    const int64_t *const given = ln_attr_ints(&n->emit, "reps", &len);
    const int ndim = len > n_own ? len : n_own;
    if (ndim > LN_MAXDIM)
        ln_emit_fail(&n->emit, "attribute 'reps' has %d numbers, expected at most %d", len,
                     LN_MAXDIM);
    for (int i = 0; i < ndim && !ln_nnvm_failed(n); i++) {
        const int64_t rep = i < ndim - len ? 1 : given[i - (ndim - len)];
        dims[i] = i < ndim - n_own ? 1 : own[i - (ndim - n_own)];
        reps[i] = ln_attr_element(&n->emit, "reps", rep, 1, INT_MAX);
    }
    if (ndim > n_own)
        src = ln_emit_reshape(&n->emit, src, ndim, dims, LN_EMIT_TEMP);
    LN_EMIT(&n->emit, 0, LN_OP_TILE, LN_ARG("src", src), LN_INTS("repeats", ndim, reps));
}

// Without 'axis', repeats the elements of the flattened input.
static void translate_repeat(ln_nnvm_node *n)
{
    const char *src = ln_nnvm_in(n, 0);
    const tl_tensor *const t = ln_nnvm_tensor_of(n, src);
    const int is_flat = !ln_attr_has(&n->emit, "axis");
    const int axis = is_flat ? 0 : ln_attr_axis(&n->emit, "axis", 0, t->ndim);
    const int repeats = ln_attr_int_in(&n->emit, "repeats", 1, 1, INT_MAX);
    if (is_flat)
        src = ln_emit_reshape(&n->emit, src, 1, &t->len, LN_EMIT_TEMP);
    ln_nnvm_repeat(n, src, axis, repeats, 0);
}

const ln_nnvm_row ln_nnvm_rows_fill[] = {
    {"full", LN_IN_CORE, translate_full, NULL, .needs = "fill_value"},
    {"zeros", LN_IN_CORE, translate_full, "0"},
    {"ones", LN_IN_CORE, translate_full, "1"},
    {"_arange", LN_IN_MXNET, translate_arange, NULL, .ignored = "ctx", .needs = "start"},
    {"shape_array", LN_IN_MXNET, translate_shape_array, "shape", 1, 1},
    {"size_array", LN_IN_MXNET, translate_shape_array, "size", 1, 1},
    {"full_like", LN_IN_CORE, translate_full, NULL, 1, 1, .needs = "fill_value"},
    {"zeros_like", LN_IN_CORE, translate_full, "0", 1, 1},
    {"ones_like", LN_IN_CORE, translate_full, "1", 1, 1},
    {"pad", LN_IN_CORE, translate_pad, NULL, 1, 1, .needs = "pad_width"},
    {"broadcast_to", LN_IN_CORE, translate_broadcast_to, NULL, 1, 1},
    {"broadcast_like", LN_IN_MXNET, translate_broadcast_like, NULL, 2, 2},
    {"expand_like", LN_IN_CORE, translate_expand_like, NULL, 2, 2},
    {"broadcast_axis broadcast_axes", LN_IN_MXNET, translate_broadcast_axis, NULL, 1, 1},
    {"tile", LN_IN_MXNET, translate_tile, NULL, 1, 1, .needs = "reps"},
    {"repeat", LN_IN_MXNET, translate_repeat, NULL, 1, 1, .needs = "repeats"},
    {NULL},
};
