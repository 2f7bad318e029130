// SPDX-License-Identifier: Apache-2.0
// Windows, shapes, stacks of tensors, and operands of matrix products.

#include "front/onnx/ln_onnx_steps.h"

#include <inttypes.h>
#include <limits.h>
#include <string.h>

#include "front/onnx/ln_onnx_body.h"
#include "front/onnx/ln_onnx_model.h"
#include "ir/ln_limits.h"
#include "lightnet/ln_msg.h"

// Windows

tl_windows ln_onnx_windows(ln_onnx_node *n, const char *src, const char *weight)
{
    const tl_windows nothing = {.n = 1, .size = {1}, .stride = {1}, .dilation = {1}};
    const int ndim = ln_onnx_tensor_of(n, src)->ndim;
    const tl_tensor *const like = ln_onnx_tensor_of(n, weight);
    tl_windows w = {.n = ndim - 2};
    if (w.n < 1 || w.n > TL_MAX_SPATIAL)
        ln_emit_fail(&n->emit, "its input has %d dimensions, expected 3 to %d", ndim, TL_MAXDIM);
    else if (weight && like->ndim != ndim)
        ln_emit_fail(&n->emit, "its weight has %d dimensions, expected %d as its input", like->ndim,
                     ndim);
    else if (!weight)
        ln_attr_require(&n->emit, "kernel_shape");
    if (ln_onnx_failed(n))
        return nothing;
    ln_attr_ints_of(&n->emit, "kernel_shape", w.n, 1, 1, w.size);
    if (weight && !ln_attr_has(&n->emit, "kernel_shape"))
        memcpy(w.size, like->dims + 2, (size_t)w.n * sizeof(int));
    ln_attr_ints_of(&n->emit, "strides", w.n, 1, 1, w.stride);
    ln_attr_ints_of(&n->emit, "dilations", w.n, 1, 1, w.dilation);
    ln_attr_ints_of(&n->emit, "pads", 2 * w.n, 0, -INT_MAX, w.padding);
    return ln_onnx_failed(n) ? nothing : w;
}

void ln_onnx_auto_pad(ln_onnx_node *n, const char *src, tl_windows *windows)
{
    const char *const mode = ln_attr_text(&n->emit, "auto_pad", "NOTSET");
    if (ln_onnx_failed(n) || ln_streq(mode, "NOTSET") || ln_streq(mode, ""))
        return;
    // The padding for an output of ceil(size / stride) depends on the size, unless the stride is 1.
    for (int i = 0; i < windows->n && !ln_streq(mode, "VALID"); i++)
        if (windows->stride[i] > 1)
            ln_onnx_want_fixed_axis(n, src, 2 + i);
    if (ln_autopadding_conv(windows->padding, ln_onnx_tensor_of(n, src)->dims + 2, windows->size,
                            windows->stride, windows->dilation, windows->n, mode) < 0)
        ln_emit_fail(&n->emit, "attribute 'auto_pad' is \"%s\": %s", mode, ln_last_error());
}

int ln_onnx_is_image(const ln_onnx_node *n, const char *src, const tl_windows *windows,
                     int has_dilation)
{
    if (windows->n > 2 || ln_onnx_tensor_of(n, src)->len == 0)
        return 0;
    for (int i = 0; i < 2 * windows->n; i++)
        if (windows->padding[i] < 0 || (!has_dilation && windows->dilation[i / 2] != 1))
            return 0;
    return 1;
}

const char *ln_onnx_as_image(ln_onnx_node *n, const char *src)
{
    ln_dim d[LN_MAXDIM];
    if (ln_onnx_tensor_of(n, src)->ndim != 3)
        return src;
    ln_emit_dims(&n->emit, src, d);
    const ln_dim dims[] = {d[0], d[1], ln_dim_constant(1), d[2]};
    return ln_emit_reshape_dims(&n->emit, src, 4, dims, LN_EMIT_TEMP);
}

void ln_onnx_set_image_ints(ln_onnx_node *n, const char *param, const tl_windows *windows,
                            int groups, const int *values, int first)
{
    int all[4], len = 0;
    for (int g = 0; g < groups; g++) {
        if (windows->n == 1)
            all[len++] = first;
        for (int i = 0; i < windows->n; i++)
            all[len++] = values[g * windows->n + i];
    }
    ln_emit_set(&n->emit, LN_INTS(param, len, all));
}

const char *ln_onnx_end_image(ln_onnx_node *n, const tl_windows *windows, int i)
{
    const char *const image = ln_emit_end(&n->emit, "dst", windows->n == 2 ? i : LN_EMIT_TEMP);
    if (windows->n == 2)
        return image;
    ln_dim d[LN_MAXDIM];
    ln_emit_dims(&n->emit, image, d);
    const ln_dim dims[] = {d[0], d[1], d[3]};
    return ln_emit_reshape_dims(&n->emit, image, 3, dims, i);
}

// Shapes

const char *ln_onnx_channels_first(ln_onnx_node *n, const char *src, int i)
{
    const int ndim = ln_onnx_tensor_of(n, src)->ndim;
    int axes[TL_MAXDIM];
    for (int k = 0; k < ndim; k++)
        axes[k] = k == 0 ? 0 : k == 1 ? ndim - 1 : k - 1;
    return ln_emit_transpose(&n->emit, src, axes, i);
}

const char *ln_onnx_channels_last(ln_onnx_node *n, const char *src, int i)
{
    const int ndim = ln_onnx_tensor_of(n, src)->ndim;
    int axes[TL_MAXDIM];
    for (int k = 0; k < ndim; k++)
        axes[k] = k == 0 ? 0 : k == ndim - 1 ? 1 : k + 1;
    return ln_emit_transpose(&n->emit, src, axes, i);
}

// Whether an axis of `dim` can have the length `wanted` in some run.
static int can_be(const ln_symbols *symbols, const ln_dim *dim, const ln_dim *wanted)
{
    return !ln_dim_is_known(dim) || !ln_dim_is_known(wanted) ||
           (ln_dim_lower(symbols, dim) <= ln_dim_upper(symbols, wanted) &&
            ln_dim_upper(symbols, dim) >= ln_dim_lower(symbols, wanted));
}

void ln_onnx_want_dims(ln_onnx_node *n, int i, const char *name, int ndim, const ln_dim *dims)
{
    const char *const src = ln_onnx_in(n, i);
    const tl_tensor *const t = ln_onnx_tensor_of(n, src);
    char text[TL_SHAPE_TEXT_SIZE], wanted[TL_SHAPE_TEXT_SIZE];
    ln_dim own[LN_MAXDIM];
    int max[LN_MAXDIM], is_same = t->ndim == ndim;
    if (ln_onnx_failed(n) || ln_emit_max_dims(&n->emit, ndim, dims, max) < 0)
        return;
    ln_emit_dims(&n->emit, src, own);
    for (int k = 0; k < ndim && is_same; k++)
        is_same = can_be(ln_emit_symbols(&n->emit), &own[k], &dims[k]);
    if (!is_same)
        ln_emit_fail(&n->emit, "input %d, '%s', has shape %s, expected %s", i, name,
                     tl_shape_text(text, t->ndim, t->dims), tl_shape_text(wanted, ndim, max));
}

void ln_onnx_want_shape(ln_onnx_node *n, int i, const char *name, int ndim, const int *dims)
{
    ln_dim numbers[LN_MAXDIM];
    for (int k = 0; k < ndim; k++)
        numbers[k] = ln_dim_constant(dims[k]);
    ln_onnx_want_dims(n, i, name, ndim, numbers);
}

const char *ln_onnx_as_scalar(ln_onnx_node *n, const char *tensor)
{
    const tl_tensor *const t = ln_onnx_tensor_of(n, tensor);
    return t->len == 1 && t->ndim > 0 ? ln_emit_reshape(&n->emit, tensor, 0, NULL, LN_EMIT_TEMP)
                                      : tensor;
}

const char *ln_onnx_scalar_in(ln_onnx_node *n, int i)
{
    return ln_onnx_as_scalar(n, ln_onnx_in(n, i));
}

// Operators

const char *ln_onnx_add(ln_onnx_node *n, const char *a, const char *b)
{
    return a && b ? ln_emit_binary(&n->emit, "TL_BINARY_ADD", a, b, LN_EMIT_TEMP) : a ? a : b;
}

const char *ln_onnx_slice(ln_onnx_node *n, const char *src, int axis, int start, int len)
{
    return LN_EMIT(&n->emit, LN_EMIT_TEMP, LN_OP_SLICE, LN_ARG("src", src), LN_INT("axis", axis),
                   LN_INT("start", start), LN_INT("len", len));
}

const char *ln_onnx_with_axes(ln_onnx_node *n, const char *src, int n_axes, const int *axes)
{
    return LN_EMIT(&n->emit, LN_EMIT_TEMP, LN_OP_UNSQUEEZE, LN_ARG("src", src),
                   LN_INTS("axes", n_axes, axes));
}

void ln_onnx_refuse_input(ln_onnx_node *n, int i, const char *name)
{
    if (ln_onnx_has_input(n, i))
        ln_emit_fail_as(&n->emit, LN_UNSUPPORTED, "input %d, '%s', is not supported", i, name);
}

void ln_onnx_refuse_attr(ln_onnx_node *n, const char *name, int64_t value)
{
    const int64_t given = ln_attr_int(&n->emit, name, value);
    if (given != value)
        ln_emit_fail_as(&n->emit, LN_UNSUPPORTED, "attribute '%s' is %lld, expected %lld", name,
                        (long long)given, (long long)value);
}

void ln_onnx_want_multiple(ln_onnx_node *n, int i, int len, int count)
{
    if (len % count != 0)
        ln_emit_fail(&n->emit, "input %d has a last axis of length %d, expected a multiple of %d",
                     i, len, count);
}

// Stacks of tensors

const char *ln_onnx_move_axis(ln_onnx_node *n, const char *src, int from, int to, int i)
{
    const int ndim = ln_onnx_tensor_of(n, src)->ndim;
    int axes[LN_MAXDIM];
    for (int k = 0, next = 0; k < ndim; k++) { // next: of the other axes, which keep their order
        next += next == from;
        axes[k] = k == to ? from : next++;
    }
    return ln_emit_transpose(&n->emit, src, axes, i);
}

const char *ln_onnx_stack(ln_onnx_node *n, const char *const *parts, int len, const char *like,
                          int axis)
{
    const tl_tensor *part = ln_onnx_tensor_of(n, like);
    const char *stacked;
    if (part->ndim >= LN_MAXDIM) {
        ln_emit_fail(&n->emit, "tensors with %d dimensions are stacked, expected at most %d",
                     part->ndim, LN_MAXDIM - 1);
        return NULL;
    }
    if (len) {
        stacked = LN_EMIT(&n->emit, LN_EMIT_TEMP, LN_OP_GATHER, LN_ARGS("src", len, parts));
    } else {
        int dims[LN_MAXDIM] = {0};
        memcpy(dims + 1, part->dims, (size_t)part->ndim * sizeof(int));
        stacked = ln_emit_constant(&n->emit, part->dtype, part->ndim + 1, dims, NULL);
    }
    return axis ? ln_onnx_move_axis(n, stacked, 0, axis, LN_EMIT_TEMP) : stacked;
}

const char **ln_onnx_unstack(ln_onnx_node *n, const char *src, int axis, int *len)
{
    const tl_tensor *whole = ln_onnx_tensor_of(n, src);
    *len = whole->dims[axis];
    const int is_line = whole->ndim == 1;
    const uint64_t max = ln_limits_max(n->model->base.ctx, LN_LIMIT_OPS);
    if (max && (uint64_t)*len > max)
        ln_emit_fail_as(&n->emit, LN_LIMIT_REACHED,
                        "%d parts exceed the limit of %" PRIu64 " operators", *len, max);
    const char **parts = ln_onnx_new_names(n, (size_t)*len);
    if (!parts || !*len)
        return parts;
    const char *rows = axis      ? ln_onnx_move_axis(n, src, axis, 0, LN_EMIT_TEMP)
                       : is_line ? ln_emit_reshape(&n->emit, src, 2, (int[]){*len, 1}, LN_EMIT_TEMP)
                                 : src;
    ln_emit_begin(&n->emit, LN_OP_SCATTER);
    ln_emit_arg(&n->emit, "src", rows);
    ln_onnx_emit_outs(n, "dst", *len, -1, 1, parts);
    for (int k = 0; is_line && k < *len; k++)
        parts[k] = ln_emit_reshape(&n->emit, parts[k], 0, NULL, LN_EMIT_TEMP);
    return ln_onnx_failed(n) ? NULL : parts;
}

// Nodes

void ln_onnx_translate_standard(ln_onnx_node *n)
{
    enum { OPSET = 18 };
    n->row = ln_onnx_find_row("", n->row->op_type, OPSET);
    n->opset = OPSET;
    n->row->translate(n);
}

// Products

const char *ln_onnx_as_matrix(ln_onnx_node *n, const char *tensor, int is_column)
{
    const tl_tensor *const t = ln_onnx_tensor_of(n, tensor);
    if (t->ndim != 1)
        return tensor;
    const int row[] = {1, t->dims[0]}, column[] = {t->dims[0], 1};
    return ln_emit_reshape(&n->emit, tensor, 2, is_column ? column : row, LN_EMIT_TEMP);
}

ln_onnx_operands ln_onnx_operands_of(ln_onnx_node *n, int input1, int input2)
{
    const char *const src1 = ln_onnx_in(n, input1), *const src2 = ln_onnx_in(n, input2);
    return (ln_onnx_operands){.rows = ln_onnx_as_matrix(n, src1, 0),
                              .cols = ln_onnx_as_matrix(n, src2, 1),
                              .has_row = ln_onnx_tensor_of(n, src1)->ndim != 1,
                              .has_col = ln_onnx_tensor_of(n, src2)->ndim != 1};
}

int ln_onnx_product_output(const ln_onnx_operands *m)
{
    return m->has_row && m->has_col ? 0 : LN_EMIT_TEMP;
}

void ln_onnx_drop_axes(ln_onnx_node *n, const char *dst, const ln_onnx_operands *m)
{
    const tl_tensor *const t = ln_onnx_tensor_of(n, dst);
    if (m->has_row && m->has_col)
        return;
    int dims[TL_MAXDIM], ndim = 0;
    for (int i = 0; i < t->ndim; i++)
        if (!(i == t->ndim - 2 && !m->has_row) && !(i == t->ndim - 1 && !m->has_col))
            dims[ndim++] = t->dims[i];
    ln_emit_reshape(&n->emit, dst, ndim, dims, 0);
}
