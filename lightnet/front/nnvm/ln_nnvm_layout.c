// SPDX-License-Identifier: Apache-2.0
// Layouts: in which order a file has the axes that operators want in theirs.

#include "front/nnvm/ln_nnvm_layout.h"

#include <limits.h>
#include <string.h>

#include "front/nnvm/ln_nnvm_steps.h"

/* Reading */

static int is_upper(char c)
{
    return c >= 'A' && c <= 'Z';
}

static int is_digit(char c)
{
    return c >= '0' && c <= '9';
}

// The axes in the order of the text. -1: it is no layout.
static int read_axes(const char *text, ln_nnvm_layout *layout)
{
    for (; *text; text++) {
        int size = 0;
        for (; is_digit(*text) && size < INT_MAX / 10 - 1; text++)
            size = size * 10 + *text - '0';
        const char axis = size ? (char)(*text - 'a' + 'A') : *text;
        if (!is_upper(axis) || layout->ndim == LN_MAXDIM)
            return -1;
        layout->axes[layout->ndim] = axis;
        layout->sizes[layout->ndim++] = size;
    }
    return 0;
}

// The places of the axis: that of the outer part, then those of the inner ones. Returns how many
// outer ones there are.
static int place_axis(ln_nnvm_layout *layout, char axis, int *n_placed, int *n_parts)
{
    int n_outer = 0;
    for (int inner = 0; inner < 2; inner++)
        for (int i = 0; i < layout->ndim; i++)
            if (layout->axes[i] == axis && (layout->sizes[i] > 0) == inner) {
                layout->places[(*n_placed)++] = i;
                ++*n_parts;
                n_outer += !inner;
            }
    return n_outer;
}

ln_nnvm_layout ln_nnvm_layout_of(ln_nnvm_node *n, const char *text, const char *plain)
{
    ln_nnvm_layout layout = {0};
    int n_placed = 0, fits = !read_axes(text, &layout);
    for (int i = 0; fits && plain[i]; i++)
        fits = place_axis(&layout, plain[i], &n_placed, &layout.n_parts[i]) == 1;
    if (!fits || n_placed != layout.ndim) {
        ln_emit_fail(&n->emit,
                     "layout \"%.64s\", expected an order of %s, of at most %d axes with their "
                     "inner parts",
                     text, plain, LN_MAXDIM);
        return (ln_nnvm_layout){0};
    }
    return layout;
}

int ln_nnvm_is_plain(const ln_nnvm_layout *layout)
{
    for (int i = 0; i < layout->ndim; i++)
        if (layout->places[i] != i || layout->sizes[i])
            return 0;
    return 1;
}

/* Moving */

// The lengths of an axis' parts, from the outer to the inner.
static void split_axis(ln_nnvm_node *n, const ln_nnvm_layout *layout, int first, int n_parts,
                       int dim, int *lens)
{
    int64_t inner = 1;
    for (int k = 1; k < n_parts; k++) {
        lens[k] = layout->sizes[layout->places[first + k]];
        inner = inner * lens[k] > INT_MAX ? INT_MAX : inner * lens[k];
    }
    lens[0] = (int)(dim / inner);
    if (dim % inner)
        ln_emit_fail(&n->emit, "axis %c has length %d, expected a multiple of its inner part, %d",
                     layout->axes[layout->places[first]], dim, (int)inner);
}

// The plain shape with its axes split; returns the number of plain axes.
static int split_dims(ln_nnvm_node *n, const ln_nnvm_layout *layout, const int *dims,
                      int split[LN_MAXDIM])
{
    int axis = 0;
    for (int at = 0; at < layout->ndim && layout->n_parts[axis]; at += layout->n_parts[axis++])
        split_axis(n, layout, at, layout->n_parts[axis], dims[axis], split + at);
    return axis;
}

void ln_nnvm_layout_dims(ln_nnvm_node *n, const ln_nnvm_layout *layout, const int *dims,
                         int there[LN_MAXDIM])
{
    int split[LN_MAXDIM] = {0};
    split_dims(n, layout, dims, split);
    for (int i = 0; i < layout->ndim; i++)
        there[layout->places[i]] = split[i];
}

static int is_ordered(const ln_nnvm_layout *layout)
{
    for (int i = 0; i < layout->ndim; i++)
        if (layout->places[i] != i)
            return 0;
    return 1;
}

// The product of the parts of each axis of the plain layout; returns how many axes there are. Inner
// parts have the length that the layout says.
static int merge_dims(ln_nnvm_node *n, const ln_nnvm_layout *layout, const int *own, int *dims)
{
    int axis = 0;
    for (int i = 0; i < layout->ndim; i++)
        if (layout->sizes[i] && own[i] != layout->sizes[i])
            ln_emit_fail(&n->emit, "inner part %d of its data has length %d, expected %d", i,
                         own[i], layout->sizes[i]);
    for (int at = 0; at < layout->ndim && !ln_nnvm_failed(n); axis++) {
        int64_t dim = 1;
        for (int k = layout->n_parts[axis]; k > 0; k--)
            dim = dim > INT_MAX ? dim : dim * own[layout->places[at++]];
        if (dim > INT_MAX)
            ln_emit_fail(&n->emit, "an axis of its data is longer than %d", INT_MAX);
        dims[axis] = (int)dim;
    }
    return axis;
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
