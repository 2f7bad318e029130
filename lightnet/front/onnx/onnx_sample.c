// SPDX-License-Identifier: Apache-2.0
// ONNX's operators on images: AffineGrid, RoiAlign, DeformConv, Col2Im, DepthToSpace, SpaceToDepth.

#include <limits.h>

#include "front/onnx/ln_onnx.h"
#include "front/onnx/ln_onnx_steps.h"

// A tensor that must have `ndim` dimensions; the node fails otherwise.
static const tl_tensor *of_ndim(ln_onnx_node *n, const char *tensor, int ndim)
{
    const tl_tensor *const t = ln_onnx_tensor_of(n, tensor);
    if (t->ndim != ndim)
        ln_emit_fail(&n->emit, "'%s' has %d dimensions, expected %d", tensor ? tensor : "", t->ndim,
                     ndim);
    return t;
}

// AffineGrid

// Coordinate -1 .. 1 of index `i` of `len`.
static double coordinate(int i, int len, int aligns_corners)
{
    if (aligns_corners)
        return len > 1 ? 2.0 * i / (len - 1) - 1 : 0;
    return (2.0 * i + 1) / len - 1;
}

// Homogeneous coordinates of all elements, the last axis first: [1, elements, axes + 1].
static const char *base_grid(ln_onnx_node *n, tl_dtype dtype, const int *extents, int axes,
                             int aligns_corners)
{
    const int elements = tl_compute_length(axes, extents);
    const int dims[] = {1, elements, axes + 1};
    if (elements < 0)
        return ln_emit_fail(&n->emit, "input 'size': %s", tl_last_error()), NULL;
    const size_t len = (size_t)elements * (size_t)(axes + 1);
    if (!ln_emit_allows(&n->emit, len, sizeof(double)))
        return NULL;
    double *const numbers = tl_alloc(len * sizeof(double));
    if (!numbers)
        return ln_emit_fail_memory(&n->emit), NULL;
    for (int e = 0; e < elements; e++) {
        double *const row = numbers + (size_t)e * (size_t)(axes + 1);
        for (int i = axes - 1, rest = e; i >= 0; rest /= extents[i], i--)
            row[axes - 1 - i] = coordinate(rest % extents[i], extents[i], aligns_corners);
        row[axes] = 1;
    }
    tl_convert_array(numbers, dtype, numbers, TL_DOUBLE, len);
    const char *const name = ln_emit_constant(&n->emit, dtype, 3, dims, numbers);
    tl_free(numbers);
    return name;
}

// Each position is theta x (x, y, .., 1).
static void translate_affine_grid(ln_onnx_node *n)
{
    const char *const theta = ln_onnx_in(n, 0);
    const tl_tensor *const t = of_ndim(n, theta, 3);
    int len, dims[TL_MAXDIM];
    const int64_t *const size = ln_onnx_ints_in(n, 1, &len);
    const int axes = len - 2;
    if (axes != 2 && axes != 3)
        ln_emit_fail(&n->emit, "input 'size' has %d numbers, expected 4 or 5", len);
    if (ln_onnx_failed(n))
        return;
    if (t->dims[1] != axes || t->dims[2] != axes + 1 || !tl_dtype_is_float(t->dtype))
        ln_emit_fail(&n->emit,
                     "input 'theta' has matrices of %d x %d of type %s, expected %d x %d floats",
                     t->dims[1], t->dims[2], tl_dtype_name(t->dtype), axes, axes + 1);
    else if (size[0] != t->dims[0])
        ln_emit_fail(&n->emit, "input 'size' is for %lld images, expected as many as matrices, %d",
                     (long long)size[0], t->dims[0]);
    for (int i = 0; i < axes; i++) {
        if (size[2 + i] < 1 || size[2 + i] > INT_MAX)
            ln_emit_fail(&n->emit, "input 'size' has %lld, expected 1 to %d",
                         (long long)size[2 + i], INT_MAX);
        dims[1 + i] = (int)size[2 + i];
    }
    if (ln_onnx_failed(n))
        return;
    dims[0] = t->dims[0];
    dims[axes + 1] = axes;
    const char *const base =
        base_grid(n, t->dtype, dims + 1, axes, ln_attr_bool(&n->emit, "align_corners", 0));
    const char *const grid = LN_EMIT(&n->emit, LN_EMIT_TEMP, LN_OP_MATMUL, LN_ARG("src1", base),
                                     LN_ARG("src2", theta), LN_BOOL("trans2", 1));
    ln_emit_reshape(&n->emit, grid, axes + 2, dims, 0);
}

// Regions

// Before opset 16, coordinates are not shifted by half a pixel.
static void translate_roi_align(ln_onnx_node *n)
{
    const int size[] = {ln_attr_int_in(&n->emit, "output_height", 1, 0, INT_MAX),
                        ln_attr_int_in(&n->emit, "output_width", 1, 0, INT_MAX)};
    LN_ONNX_FORM(n, 0, LN_INTS("size", 2, size),
                 LN_ONLY_IF(n->opset < 16, LN_BOOL("half_pixel", 0)));
}

// DeformConv, Col2Im

// Multiplies the weights by the columns of each group, [N, group, .., windows].
static void multiply_columns(ln_onnx_node *n, const char *columns, const char *weight,
                             const char *bias, int group, const int *dst_dims)
{
    const tl_tensor *const c = ln_onnx_tensor_of(n, columns);
    const tl_tensor *const w = ln_onnx_tensor_of(n, weight);
    const int rows = c->dims[1] / group, channels = w->dims[0] / group;
    const char *const src2 = ln_emit_reshape(
        &n->emit, columns, 4, (int[]){c->dims[0], group, rows, c->dims[2]}, LN_EMIT_TEMP);
    const char *const src1 =
        ln_emit_reshape(&n->emit, weight, 4, (int[]){1, group, channels, rows}, LN_EMIT_TEMP);
    const char *const added =
        bias ? ln_emit_reshape(&n->emit, bias, 3, (int[]){group, channels, 1}, LN_EMIT_TEMP) : NULL;
    const char *const dst = LN_EMIT(&n->emit, LN_EMIT_TEMP, LN_OP_MATMUL, LN_ARG("src1", src1),
                                    LN_ARG("src2", src2), LN_ARG("bias", added));
    ln_emit_reshape(&n->emit, dst, 4, dst_dims, 0);
}

static void translate_deform_conv(ln_onnx_node *n)
{
    const char *const src = ln_onnx_in(n, 0), *const weight = ln_onnx_in(n, 1);
    const char *const offset = ln_onnx_in(n, 2), *const bias = ln_onnx_optional(n, 3);
    const char *const mask = ln_onnx_optional(n, 4);
    const tl_tensor *const s = of_ndim(n, src, 4), *const w = of_ndim(n, weight, 4);
    const tl_tensor *const o = of_ndim(n, offset, 4);
    const tl_windows windows = ln_onnx_windows(n, src, weight);
    const int group = ln_attr_int_in(&n->emit, "group", 1, 0, INT_MAX);
    if (ln_onnx_failed(n))
        return;
    if (group < 1 || w->dims[0] % group != 0 || (int64_t)w->dims[1] * group != s->dims[1] ||
        w->dims[2] != windows.size[0] || w->dims[3] != windows.size[1])
        ln_emit_fail(
            &n->emit,
            "weights [%d, %d, %d, %d] in %d groups do not match the %d channels of input 0",
            w->dims[0], w->dims[1], w->dims[2], w->dims[3], group, s->dims[1]);
    const char *const columns =
        LN_EMIT(&n->emit, LN_EMIT_TEMP, LN_OP_DEFORM_COLUMNS, LN_ARG("src", src),
                LN_ARG("offset", offset), LN_ARG("mask", mask),
                LN_INT("group", ln_attr_int_in(&n->emit, "offset_group", 1, 0, INT_MAX)),
                LN_ONNX_WINDOWS(&windows));
    if (!ln_onnx_failed(n))
        multiply_columns(n, columns, weight, bias, group,
                         (int[]){s->dims[0], w->dims[0], o->dims[2], o->dims[3]});
}

// The numbers of an input as ints of at least 1, at most TL_MAX_SPATIAL; returns how many.
static int read_extents(ln_onnx_node *n, int input, int *extents)
{
    int len;
    const int64_t *const given = ln_onnx_ints_in(n, input, &len);
    if (len < 1 || len > TL_MAX_SPATIAL) {
        ln_emit_fail(&n->emit, "input %d has %d numbers, expected 1 to %d", input, len,
                     TL_MAX_SPATIAL);
        return 1;
    }
    for (int i = 0; i < len; i++) {
        if (given[i] < 1 || given[i] > INT_MAX)
            ln_emit_fail(&n->emit, "input %d has %lld, expected 1 to %d", input,
                         (long long)given[i], INT_MAX);
        extents[i] = (int)given[i];
    }
    return len;
}

static void translate_col2im(ln_onnx_node *n)
{
    int extents[TL_MAX_SPATIAL] = {1}, size[TL_MAX_SPATIAL] = {1};
    int stride[TL_MAX_SPATIAL], dilation[TL_MAX_SPATIAL], padding[2 * TL_MAX_SPATIAL];
    const int len = read_extents(n, 1, extents);
    const int n_size = read_extents(n, 2, size);
    if (n_size != len)
        ln_emit_fail(&n->emit, "an image of %d axes and blocks of %d, expected the same", len,
                     n_size);
    ln_attr_ints_of(&n->emit, "strides", len, 1, 1, stride);
    ln_attr_ints_of(&n->emit, "dilations", len, 1, 1, dilation);
    ln_attr_ints_of(&n->emit, "pads", 2 * len, 0, -INT_MAX, padding);
    LN_EMIT(&n->emit, 0, LN_OP_COL2IM, LN_ARG("src", ln_onnx_in(n, 0)),
            LN_INTS("extents", len, extents), LN_INTS("size", len, size),
            LN_INTS("stride", len, stride), LN_INTS("dilation", len, dilation),
            LN_INTS("padding", 2 * len, padding));
}

// Blocks of elements between channels and space

static void emit_blocks(ln_onnx_node *n, ln_blocks way)
{
    const char *const src = ln_onnx_in(n, 0);
    const int b = ln_attr_int_in(&n->emit, "blocksize", 1, 1, INT_MAX);
    ln_attr_require(&n->emit, "blocksize");
    ln_emit_blocks(&n->emit, src, b, way, 0);
}

static const ln_attr_word orders[] = {{"DCR", "", 0}, {"CRD", "channels first", 0}, {0}};

static void translate_depth_to_space(ln_onnx_node *n)
{
    const int is_crd = *ln_attr_choose(&n->emit, "mode", "DCR", orders) != 0;
    emit_blocks(n, is_crd ? LN_DEPTH_TO_SPACE_CRD : LN_DEPTH_TO_SPACE);
}

static void translate_space_to_depth(ln_onnx_node *n)
{
    emit_blocks(n, LN_SPACE_TO_DEPTH);
}

const ln_onnx_row ln_onnx_rows_sample[] = {
    {"AffineGrid", 20, translate_affine_grid},
    {"RoiAlign", 10, translate_roi_align},
    {"DeformConv", 19, translate_deform_conv},
    {"Col2Im", 18, translate_col2im},
    {"DepthToSpace", 1, translate_depth_to_space},
    {"SpaceToDepth", 1, translate_space_to_depth},
    {NULL},
};
