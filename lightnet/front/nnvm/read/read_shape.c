// SPDX-License-Identifier: Apache-2.0
// Operators that reshape and transpose.

#include <inttypes.h>
#include <limits.h>
#include <string.h>

#include "front/nnvm/ln_nnvm_steps.h"

// Reshape

// The codes of a requested shape: see the operator's documentation.
enum { COPY = 0, INFER = -1, COPY_REST = -2, MERGE = -3, SPLIT = -4 };

// A shape under construction, from the source's dimensions in order.
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

// Splits the next dimension into a and b, one of which may be -1. -1: a * b is not the dimension.
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

// Applies a code; `*i` moves past the lengths that it consumes. -1: invalid.
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
    return -(dim < INFER || dim > INT_MAX);
}

static void reverse(int *dims, int len)
{
    for (int i = 0; i < len / 2; i++) {
        const int other = dims[i];
        dims[i] = dims[len - 1 - i];
        dims[len - 1 - i] = other;
    }
}

// Infers the remaining length of the shape. Returns the number of dimensions; 0 after a failure.
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
            ln_emit_fail(&n->emit, "attribute 'shape' has two unknown lengths, expected one");
        if (r->dims[i] == INFER)
            open = i;
        else if (product > INT_MAX)
            ln_emit_fail(&n->emit, "attribute 'shape' has more than %d elements", INT_MAX);
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
    reshaping r = {.src = src_dims, .n_src = ln_nnvm_copy_dims(n, src, src_dims)};
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
    ln_emit_reshape(&n->emit, src, ndim, dims, 0);
}

static void translate_reshape(ln_nnvm_node *n)
{
    const char *const src = ln_nnvm_in(n, 0);
    const int is_reverse = ln_nnvm_was_mxnet(n) && ln_attr_bool(&n->emit, "reverse", 0);
    int len;
    const int64_t *const codes = ln_attr_ints(&n->emit, "shape", &len);
    emit_codes(n, src, codes, len, is_reverse);
}

// Reshapes of operators that MXNet defines on matrices are omitted if the source is a matrix.
static void emit_shape(ln_nnvm_node *n, const char *src, int ndim, const int *dims)
{
    const tl_tensor *const t = ln_nnvm_tensor_of(n, src);
    if (ln_nnvm_was_mxnet(n) && t->ndim == ndim &&
        !memcmp(t->dims, dims, (size_t)ndim * sizeof(int)))
        ln_nnvm_alias(n, 0, src);
    else
        ln_emit_reshape(&n->emit, src, ndim, dims, 0);
}

static void translate_reshape_like(ln_nnvm_node *n)
{
    int dims[LN_MAXDIM];
    const int ndim = ln_nnvm_in_dims(n, 1, dims);
    emit_shape(n, ln_nnvm_in(n, 0), ndim, dims);
}

static void translate_flatten(ln_nnvm_node *n)
{
    const char *const src = ln_nnvm_in(n, 0);
    const tl_tensor *const t = ln_nnvm_tensor_of(n, src);
    const int rows = t->ndim ? t->dims[0] : 1, dims[] = {rows, rows ? t->len / rows : 0};
    emit_shape(n, src, 2, dims);
}

static void translate_expand_dims(ln_nnvm_node *n)
{
    const char *const src = ln_nnvm_in(n, 0);
    int dims[2 * LN_MAXDIM];
    const int ndim = ln_nnvm_copy_dims(n, src, dims);
    const int axis = ln_attr_axis(&n->emit, "axis", 0, ndim + 1);
    const int more = ln_attr_int_in(&n->emit, "num_newaxis", 1, 0, LN_MAXDIM);
    if (ndim + more > LN_MAXDIM)
        ln_emit_fail(&n->emit, "a shape of %d dimensions, expected at most %d", ndim + more,
                     LN_MAXDIM);
    memmove(dims + axis + more, dims + axis, (size_t)(ndim - axis) * sizeof(int));
    for (int i = 0; i < more; i++)
        dims[axis + i] = 1;
    ln_emit_reshape(&n->emit, src, ndim + more, dims, 0);
}

static void translate_squeeze(ln_nnvm_node *n)
{
    const char *const src = ln_nnvm_in(n, 0);
    const tl_tensor *const t = ln_nnvm_tensor_of(n, src);
    int len;
    const int64_t *const given = ln_attr_ints(&n->emit, "axis", &len);
    int is_removed[LN_MAXDIM] = {0}, dims[LN_MAXDIM] = {1}, ndim = 0;
    for (int i = 0; i < len && !ln_nnvm_failed(n); i++) {
        const int axis = ln_attr_to_axis(&n->emit, given[i], t->ndim);
        is_removed[axis] = 1;
        if (t->ndim && t->dims[axis] != 1)
            ln_emit_fail(&n->emit, "axis %d has length %d, expected 1", axis, t->dims[axis]);
    }
    for (int i = 0; i < t->ndim; i++)
        if (len > 0 ? !is_removed[i] : t->dims[i] != 1)
            dims[ndim++] = t->dims[i];
    ln_emit_reshape(&n->emit, src, ndim ? ndim : 1, dims, 0);
}

// Transpose

static void translate_transpose(ln_nnvm_node *n)
{
    const char *const src = ln_nnvm_in(n, 0);
    const int ndim = ln_nnvm_tensor_of(n, src)->ndim;
    int axes[LN_MAXDIM], len;
    const int64_t *const given = ln_attr_ints(&n->emit, "axes", &len);
    if (len > 0 && len != ndim)
        ln_emit_fail(&n->emit, "attribute 'axes' has %d numbers, expected %d", len, ndim);
    for (int i = 0; i < ndim && !ln_nnvm_failed(n); i++)
        axes[i] = len > 0 ? ln_attr_to_axis(&n->emit, given[i], ndim) : ndim - 1 - i;
    ln_emit_transpose(&n->emit, src, axes, 0);
}

static void translate_swap_axis(ln_nnvm_node *n)
{
    const char *const src = ln_nnvm_in(n, 0);
    const int ndim = ln_nnvm_tensor_of(n, src)->ndim;
    int axes[LN_MAXDIM];
    const int a = ln_attr_axis(&n->emit, "dim1", 0, ndim);
    const int b = ln_attr_axis(&n->emit, "dim2", 0, ndim);
    for (int i = 0; i < ndim; i++)
        axes[i] = i == a ? b : i == b ? a : i;
    ln_emit_transpose(&n->emit, src, axes, 0);
}

// `with`: depth, blocks of b x b pixels become channels, or space, the opposite.
static void translate_blocks(ln_nnvm_node *n)
{
    const int is_depth = !strcmp(n->row->with, "depth");
    const int b = ln_attr_int_in(&n->emit, "block_size", 1, 1, 1 << 12);
    ln_emit_blocks(&n->emit, ln_nnvm_in(n, 0), b, is_depth ? LN_SPACE_TO_DEPTH : LN_DEPTH_TO_SPACE,
                   0);
}

// Converts from one layout to another, by way of the plain one.
static void translate_layout(ln_nnvm_node *n)
{
    char plain[LN_MAXDIM + 1] = "";
    int len = 0;
    const char *const from = ln_attr_text(&n->emit, "src_layout", "");
    for (const char *at = from; *at && len < LN_MAXDIM; at++)
        if (*at >= 'A' && *at <= 'Z')
            plain[len++] = *at;
    const ln_nnvm_layout src = ln_nnvm_layout_of(n, from, plain);
    const ln_nnvm_layout dst =
        ln_nnvm_layout_of(n, ln_attr_text(&n->emit, "dst_layout", ""), plain);
    ln_nnvm_from_plain(n, ln_nnvm_to_plain(n, ln_nnvm_in(n, 0), &src), &dst, 0);
}

const ln_nnvm_row ln_nnvm_rows_shape[] = {
    {"reshape", LN_IN_CORE, translate_reshape, NULL, 1, 1, .needs = "shape"},
    {"reshape_like", LN_IN_CORE, translate_reshape_like, NULL, 2, 2},
    {"flatten", LN_IN_CORE, translate_flatten, NULL, 1, 1},
    {"expand_dims", LN_IN_CORE, translate_expand_dims, NULL, 1, 1, .needs = "axis"},
    {"squeeze", LN_IN_CORE, translate_squeeze, NULL, 1, 1},
    {"transpose", LN_IN_CORE, translate_transpose, NULL, 1, 1},
    {"__layout_transform__", LN_IN_CORE, translate_layout, NULL, 1, 1,
     .needs = "src_layout dst_layout"},
    {"space_to_depth", LN_IN_MXNET, translate_blocks, "depth", 1, 1, .needs = "block_size"},
    {"depth_to_space", LN_IN_MXNET, translate_blocks, "space", 1, 1, .needs = "block_size"},
    {"swapaxes SwapAxis", LN_IN_MXNET, translate_swap_axis, NULL, 1, 1},
    {NULL},
};
