// SPDX-License-Identifier: Apache-2.0
// Steps shared by many translators.

#include "front/nnvm/ln_nnvm_steps.h"

#include <limits.h>
#include <string.h>

int ln_nnvm_copy_dims(const ln_nnvm_node *n, const char *tensor, int dims[LN_MAXDIM])
{
    const tl_tensor *const t = ln_nnvm_tensor_of(n, tensor);
    for (int i = 0; i < LN_MAXDIM; i++)
        dims[i] = i < t->ndim ? t->dims[i] : 1;
    return t->ndim;
}

int ln_nnvm_in_dims(ln_nnvm_node *n, int i, int dims[LN_MAXDIM])
{
    return ln_nnvm_copy_dims(n, ln_nnvm_in(n, i), dims);
}

void ln_nnvm_image_dims(ln_nnvm_node *n, const char *tensor, int dims[LN_MAXDIM])
{
    const int ndim = ln_nnvm_copy_dims(n, tensor, dims);
    if (ndim != 4)
        ln_emit_fail(&n->emit, "its data has %d dimensions, expected 4", ndim);
}

int ln_nnvm_axes(ln_nnvm_node *n, const char *key, int ndim, int excludes, int axes[LN_MAXDIM])
{
    int named[LN_MAXDIM] = {0}, n_axes = 0;
    int len;
    const int64_t *const given = ln_attr_ints(&n->emit, key, &len);
    for (int i = 0; i < len && !ln_nnvm_failed(n); i++)
        named[ln_attr_to_axis(&n->emit, given[i], ndim)] = 1;
    for (int i = 0; i < ndim; i++)
        if (named[i] != excludes)
            axes[n_axes++] = i;
    return n_axes;
}

int ln_nnvm_has_bias(ln_nnvm_node *n, int no_bias)
{
    const char *const key = ln_nnvm_is_mxnet(n) ? "no_bias" : "use_bias";
    const int has_bias = ln_nnvm_is_mxnet(n) ? !ln_attr_bool(&n->emit, key, no_bias)
                                             : ln_attr_bool(&n->emit, key, 1);
    if (!has_bias && ln_nnvm_num_inputs(n) > 2)
        ln_emit_fail(&n->emit, "%d inputs, expected 2: attribute '%s' disables the bias",
                     ln_nnvm_num_inputs(n), key);
    return has_bias;
}

int ln_nnvm_check_args(ln_nnvm_node *n)
{
    const int len = ln_nnvm_num_inputs(n);
    const int64_t n_args = ln_attr_int(&n->emit, "num_args", len);
    if (n_args != len)
        ln_emit_fail(&n->emit, "%d inputs, expected 'num_args', %lld", len, (long long)n_args);
    return len;
}

const char *ln_nnvm_scalar_like(ln_nnvm_node *n, const char *like, double value)
{
    return ln_emit_scalar(&n->emit, ln_nnvm_tensor_of(n, like)->dtype, value);
}

const char *ln_nnvm_is_set(ln_nnvm_node *n, const char *src)
{
    return ln_emit_compare(&n->emit, "TL_COMPARE_NOT_EQUAL", src, ln_nnvm_scalar_like(n, src, 0));
}

// `unary` clips floats only.
const char *ln_nnvm_clip(ln_nnvm_node *n, const char *src, double min, double max, int i)
{
    if (tl_dtype_is_float(ln_nnvm_tensor_of(n, src)->dtype))
        return ln_emit_unary_with(&n->emit, "TL_UNARY_CLIP", src, min, max, i);
    src = ln_emit_binary(&n->emit, "TL_BINARY_MAX", src, ln_nnvm_scalar_like(n, src, min),
                         LN_EMIT_TEMP);
    return ln_emit_binary(&n->emit, "TL_BINARY_MIN", src, ln_nnvm_scalar_like(n, src, max), i);
}

const char *ln_nnvm_matmul(ln_nnvm_node *n, const char *a, const char *b, int trans1, int trans2,
                           int i)
{
    return LN_EMIT(&n->emit, i, LN_OP_MATMUL, LN_ARG("src1", a), LN_ARG("src2", b),
                   LN_BOOL("trans1", trans1), LN_BOOL("trans2", trans2));
}

const char *ln_nnvm_slice(ln_nnvm_node *n, const char *src, int len, const int *axes,
                          const int *starts, const int *ends, const int *steps, int i)
{
    const char *const dst = LN_EMIT(&n->emit, i, LN_OP_STRIDE_SLICE, LN_ARG("src", src),
                                    LN_INTS("axes", len, axes), LN_INTS("starts", len, starts),
                                    LN_INTS("ends", len, ends), LN_INTS("steps", len, steps));
    if (!ln_nnvm_failed(n) && !ln_nnvm_tensor_of(n, dst)->len)
        ln_emit_fail(&n->emit, "the slice is empty, expected at least one element");
    return dst;
}

const char *ln_nnvm_join(ln_nnvm_node *n, int len, const char *const *src, int axis, int i)
{
    ln_emit_begin(&n->emit, LN_OP_JOIN);
    for (int k = 0; k < len; k++)
        ln_emit_arg_at(&n->emit, "src", k, src[k]);
    ln_emit_set(&n->emit, LN_INT("axis", axis));
    return ln_emit_end(&n->emit, "dst", i);
}

const char *ln_nnvm_repeat(ln_nnvm_node *n, const char *src, int axis, int repeats, int i)
{
    int own[LN_MAXDIM], dims[LN_MAXDIM + 1];
    const int ndim = ln_nnvm_copy_dims(n, src, own);
    if (ndim == LN_MAXDIM || own[axis] > INT_MAX / repeats)
        ln_emit_fail(&n->emit, "attribute 'repeats' is %d for axis %d of length %d, of %d axes",
                     repeats, axis, own[axis], ndim);
    for (int k = 0; k <= ndim; k++)
        dims[k] = k <= axis ? own[k] : own[k - 1];
    dims[axis + 1] = 1; // [.., D, 1, ..] to [.., D, repeats, ..] to [.., D repeats, ..]
    src = ln_emit_reshape(&n->emit, src, ndim + 1, dims, LN_EMIT_TEMP);
    dims[axis + 1] = repeats;
    src = ln_emit_expand(&n->emit, src, ndim + 1, dims, LN_EMIT_TEMP);
    own[axis] = ln_nnvm_failed(n) ? 1 : own[axis] * repeats;
    return ln_emit_reshape(&n->emit, src, ndim, own, i);
}

// Layouts

// Parses the axes in the order of the text. -1: invalid.
static int read_axes(const char *text, ln_nnvm_layout *layout)
{
    for (; *text; text++) {
        int size = 0;
        for (; *text >= '0' && *text <= '9' && size < INT_MAX / 10 - 1; text++)
            size = size * 10 + *text - '0';
        const char axis = size ? (char)(*text - 'a' + 'A') : *text;
        if (axis < 'A' || axis > 'Z' || layout->ndim == LN_MAXDIM)
            return -1;
        layout->axes[layout->ndim] = axis;
        layout->sizes[layout->ndim++] = size;
    }
    return 0;
}

// Adds the positions of the axis: of the outer part, then of the inner ones. Returns the number of
// outer parts.
static int place_axis(ln_nnvm_layout *layout, char axis, int *n_placed)
{
    int n_outer = 0;
    for (int inner = 0; inner < 2; inner++)
        for (int i = 0; i < layout->ndim; i++)
            if (layout->axes[i] == axis && (layout->sizes[i] > 0) == inner) {
                layout->places[(*n_placed)++] = i;
                n_outer += !inner;
            }
    return n_outer;
}

const char *ln_nnvm_plain_layout(int axes)
{
    static const char *const layouts[] = {"NCW", "NCHW", "NCDHW"};
    return layouts[axes - 1];
}

ln_nnvm_layout ln_nnvm_layout_of(ln_nnvm_node *n, const char *text, const char *plain)
{
    ln_nnvm_layout layout = {0};
    int n_placed = 0, fits = !read_axes(text, &layout);
    for (int i = 0; fits && plain[i]; i++)
        fits = place_axis(&layout, plain[i], &n_placed) == 1;
    if (!fits || n_placed != layout.ndim) {
        ln_emit_fail(&n->emit,
                     "layout \"%.64s\", expected an order of %s, of at most %d axes with their "
                     "inner parts",
                     text, plain, LN_MAXDIM);
        return (ln_nnvm_layout){0};
    }
    return layout;
}

static int is_ordered(const ln_nnvm_layout *layout)
{
    for (int i = 0; i < layout->ndim; i++)
        if (layout->places[i] != i)
            return 0;
    return 1;
}

int ln_nnvm_is_plain(const ln_nnvm_layout *layout)
{
    for (int i = 0; i < layout->ndim; i++)
        if (layout->sizes[i])
            return 0;
    return is_ordered(layout);
}

// Conversion

// Splits the axes of a plain shape, the outer part before the inner ones. Returns the number of
// plain axes.
static int split_dims(ln_nnvm_node *n, const ln_nnvm_layout *layout, const int *dims,
                      int split[LN_MAXDIM])
{
    int n_axes = 0, outer = 0;
    for (int at = 0; at < layout->ndim; at++) {
        const int part = layout->places[at], size = layout->sizes[part];
        if (!size)
            outer = at;
        split[at] = size ? size : dims[n_axes++];
        if (size && split[outer] % size)
            ln_emit_fail(&n->emit,
                         "axis %c has length %d, expected a multiple of its inner part, %d",
                         layout->axes[part], dims[n_axes - 1], size);
        split[outer] /= size ? size : 1;
    }
    return n_axes;
}

void ln_nnvm_layout_dims(ln_nnvm_node *n, const ln_nnvm_layout *layout, const int *dims,
                         int there[LN_MAXDIM])
{
    int split[LN_MAXDIM] = {0};
    split_dims(n, layout, dims, split);
    for (int i = 0; i < layout->ndim; i++)
        there[layout->places[i]] = split[i];
}

// Multiplies the parts of each axis to the plain shape. Returns the number of axes. Inner parts
// must have their lengths in the layout.
static int merge_dims(ln_nnvm_node *n, const ln_nnvm_layout *layout, const int *own, int *dims)
{
    int n_axes = 0;
    for (int at = 0; at < layout->ndim; at++) {
        const int part = layout->places[at], size = layout->sizes[part];
        const int64_t dim = size ? (int64_t)dims[n_axes - 1] * size : own[part];
        n_axes += !size;
        dims[n_axes - 1] = dim > INT_MAX ? 1 : (int)dim;
        if (size && own[part] != size)
            ln_emit_fail(&n->emit, "inner part %d of its data has length %d, expected %d", part,
                         own[part], size);
        if (dim > INT_MAX)
            ln_emit_fail(&n->emit, "an axis of its data is longer than %d", INT_MAX);
    }
    return n_axes;
}

const char *ln_nnvm_to_plain(ln_nnvm_node *n, const char *src, const ln_nnvm_layout *layout)
{
    int own[LN_MAXDIM], dims[LN_MAXDIM];
    const int ndim = ln_nnvm_copy_dims(n, src, own);
    if (ndim != layout->ndim)
        ln_emit_fail(&n->emit, "its data has %d dimensions, expected %d", ndim, layout->ndim);
    if (ln_nnvm_failed(n))
        return NULL;
    const int n_axes = merge_dims(n, layout, own, dims);
    if (!is_ordered(layout))
        src = ln_emit_transpose(&n->emit, src, layout->places, LN_EMIT_TEMP);
    return n_axes < ndim ? ln_emit_reshape(&n->emit, src, n_axes, dims, LN_EMIT_TEMP) : src;
}

const char *ln_nnvm_from_plain(ln_nnvm_node *n, const char *src, const ln_nnvm_layout *layout,
                               int i)
{
    int own[LN_MAXDIM], split[LN_MAXDIM], back[LN_MAXDIM];
    ln_nnvm_copy_dims(n, src, own);
    if (ln_nnvm_failed(n))
        return NULL;
    const int n_axes = split_dims(n, layout, own, split), is_last = is_ordered(layout);
    for (int k = 0; k < layout->ndim; k++)
        back[layout->places[k]] = k;
    if (n_axes < layout->ndim)
        src = ln_emit_reshape(&n->emit, src, layout->ndim, split, is_last ? i : LN_EMIT_TEMP);
    if (!is_last)
        return ln_emit_transpose(&n->emit, src, back, i);
    if (n_axes == layout->ndim && i >= 0)
        ln_nnvm_alias(n, i, src);
    return src;
}
