// SPDX-License-Identifier: Apache-2.0
// Writing pools, and operators that resize images or any axes. As in the translators of pools, the
// padding at the end reaches exactly to the end of the last window.

#include <limits.h>
#include <string.h>

#include "front/nnvm/write/ln_nnvm_write.h"
#include "tensorlight/tl_nn.h"
#include "tensorlight/tl_shape.h"
#include "tensorlight/tl_util.h"
#include "tensorlight/tl_vision.h"

typedef struct pool {
    int is_max, counts_padding;
    ln_nnvm_windows windows;
    int end[2];        // how far the last window reaches beyond the axis
    ln_nnvm_value src; // an image
    int dims[4];       // of the result
} pool;

static void read_end(ln_nnvm_op *n, pool *p, int i)
{
    const ln_nnvm_windows *const w = &p->windows;
    const int64_t reach = (p->dims[2 + i] - 1) * (int64_t)w->stride[i] + w->size[i];
    const int64_t end = reach - w->padding[i] - p->src.dims[2 + i];
    if (w->dilation[i] != 1)
        ln_nnvm_op_fail(n, "parameter 'dilation' has %d, expected 1: NNVM's pools have none",
                        w->dilation[i]);
    if (end > INT_MAX)
        ln_nnvm_op_fail(n, "padding after axis %d exceeds %d elements", 2 + i, INT_MAX);
    p->end[i] = end > 0 ? (int)end : 0;
    if (p->counts_padding && p->end[i] > w->padding[2 + i])
        ln_nnvm_op_fail(n, "the last window exceeds the padding, which NNVM would count as "
                           "'count_padding' does not");
}

static pool read_pool(ln_nnvm_op *n, int is_max, int counts_padding)
{
    const tl_tensor *const dst = ln_nnvm_op_tensor_of(n, "dst");
    pool p = {is_max, counts_padding, ln_nnvm_op_windows(n, 0), .src = ln_nnvm_op_in(n, "src")};
    if (ln_nnvm_op_failed(n))
        return p;
    const int lines[] = {dst->dims[0], dst->dims[1], 1, dst->dims[2]};
    p.src = ln_put_as_image(n, p.src);
    memcpy(p.dims, p.windows.axes == 1 ? lines : dst->dims, sizeof(p.dims));
    for (int i = 0; i < 2; i++)
        read_end(n, &p, i);
    return p;
}

static int is_global(const pool *p)
{
    int is = !p->counts_padding;
    for (int i = 0; i < 2; i++)
        is &= p->dims[2 + i] == 1 && p->windows.size[i] == p->src.dims[2 + i] &&
              !p->windows.padding[i] && !p->end[i];
    return is;
}

static ln_nnvm_value put_pool(ln_nnvm_op *n, const pool *p, ln_nnvm_value src)
{
    const int padding[] = {p->windows.padding[0], p->windows.padding[1], p->end[0], p->end[1]};
    const ln_nnvm_value dst = ln_nnvm_shaped(src, 4, p->dims);
    if (is_global(p)) {
        return LN_PUT(n, p->is_max ? "global_max_pool2d" : "global_avg_pool2d", dst, LN_SRC(src));
    }
    return LN_PUT(n, p->is_max ? "max_pool2d" : "avg_pool2d", dst, LN_SRC(src),
                  LN_INTS("pool_size", 2, p->windows.size),
                  LN_INTS("strides", 2, p->windows.stride), LN_INTS("padding", 4, padding),
                  LN_ONLY_IF(!p->is_max, LN_BOOL("count_include_pad", p->counts_padding)));
}

static ln_nnvm_value write_pool(ln_nnvm_op *n, int is_max, int counts_padding)
{
    const pool p = read_pool(n, is_max, counts_padding);
    return ln_put_from_image(n, put_pool(n, &p, p.src));
}

static ln_nnvm_value write_pool2d(ln_nnvm_op *n)
{
    return write_pool(n, ln_op_is(n->op, LN_OP_MAXPOOL2D), 0);
}

// (sum of |x|^p)^(1/p), the sum being the mean times the size of the windows.
static ln_nnvm_value write_norm_pool(ln_nnvm_op *n)
{
    const double power = ln_op_number(n->op, "p");
    pool p = read_pool(n, 0, 0);
    p.counts_padding = 1; // zeros add nothing
    ln_nnvm_value v = ln_put_scalar(n, "pow", ln_put(n, "abs", p.src), power);
    v = ln_put_scalar(n, "mul", put_pool(n, &p, v), (double)p.windows.size[0] * p.windows.size[1]);
    return ln_put_from_image(n, ln_put_scalar(n, "pow", v, 1 / power));
}

static ln_nnvm_value write_poolnd(ln_nnvm_op *n)
{
    const int is_max = ln_op_has_string(n->op, "kind", "TL_POOL_MAX");
    if (ln_op_has_string(n->op, "kind", "TL_POOL_NORM"))
        return write_norm_pool(n);
    return write_pool(n, is_max, !is_max && ln_op_bool(n->op, "count_padding"));
}

// Cases of core's resize

// ONNX coordinate_transformation_mode along both axes: the source coordinate of output index i.
typedef enum coordinates {
    ASYMMETRIC,    // i in / out
    ALIGN_CORNERS, // i (in - 1) / (out - 1)
    OTHER          // unsupported by core
} coordinates;

static ln_nnvm_value put_resize(ln_nnvm_op *n, ln_nnvm_value src, int is_linear, coordinates at)
{
    const tl_tensor *const dst = ln_nnvm_op_tensor_of(n, "dst");
    if (ln_nnvm_op_failed(n))
        return src;
    return LN_PUT(n, "resize", ln_nnvm_shaped(src, dst->ndim, dst->dims), LN_SRC(src),
                  LN_INTS("size", 2, dst->dims + 2),
                  LN_TEXT("method", is_linear ? "BILINEAR" : "NEAREST_NEIGHBOR"),
                  LN_ONLY_IF(at == ALIGN_CORNERS, LN_BOOL("align_corners", 1)));
}

// Whether only rows and columns of images change.
static int is_of_images(const tl_tensor *src, const tl_tensor *dst)
{
    return src->ndim == 4 && src->dims[0] == dst->dims[0] && src->dims[1] == dst->dims[1];
}

// Resample

// The element of a parameter of `resample` that has one for each axis.
static double at_axis(const ln_nnvm_op *n, const char *param, int axis)
{
    return ln_op_param(n->op, param)->value_array_double[axis];
}

// Whether the operator has these coordinates along an axis.
static int has_coordinates(const ln_nnvm_op *n, int axis, int in, int out, coordinates at)
{
    const int corner = at == ALIGN_CORNERS && out > 1;
    return at_axis(n, "shift", axis) == 0 && at_axis(n, "start", axis) == 0 &&
           at_axis(n, "stretch", axis) == 1 &&
           at_axis(n, "span", axis) * (out - corner) == at_axis(n, "steps", axis) * (in - corner);
}

// Other cases: one axis after the other

// Max elements of a matrix that resamples an axis.
enum { MAX_ELEMENTS = 1 << 24 };

static int is_nearest(const ln_nnvm_op *n)
{
    return ln_op_has_string(n->op, "mode", "TL_RESAMPLE_NEAREST") ||
           ln_op_has_string(n->op, "mode", "TL_NEAREST");
}

// The parameters that resample axis 0 of rows [in, width] as the operator does `axis`.
static tl_resample_param axis_param(const ln_nnvm_op *n, int axis, int width)
{
    const tl_resample_axis unchanged = {0, width, width, 0, 1};
    const tl_resample_axis own = {at_axis(n, "shift", axis), at_axis(n, "span", axis),
                                  at_axis(n, "steps", axis), at_axis(n, "start", axis),
                                  at_axis(n, "stretch", axis)};
    return (tl_resample_param){.mode = tl_resample_mode_from_str(ln_op_string(n->op, "mode")),
                               .rounding = tl_rounding_from_str(ln_op_string(n->op, "rounding")),
                               .cubic_a = ln_op_number(n->op, "cubic_a"),
                               .excludes_outside = ln_op_bool(n->op, "exclude_outside"),
                               .axes = {own, unchanged}};
}

// Resamples rows [in, width] as the operator does the axis, by its kernel. Returns new
// (tl_tensor_free_data_too).
static tl_tensor *resample_rows(const ln_nnvm_op *n, const tl_tensor *rows, int axis, int out)
{
    const int dims[] = {out, rows->dims[1]};
    if (!ln_op_is(n->op, LN_OP_RESAMPLE))
        return tl_tensor_resize(rows, NULL, dims,
                                tl_resize_type_from_str(ln_op_string(n->op, "mode")));
    const tl_resample_param param = axis_param(n, axis, rows->dims[1]);
    return tl_tensor_resample(rows, NULL, dims, &param);
}

// 0, 1, .. as a column. Returns new (tl_tensor_free_data_too).
static tl_tensor *counting(int len)
{
    const int dims[] = {len, 1};
    tl_tensor *t = tl_tensor_zeros(2, dims, TL_INT64);
    for (int i = 0; t && i < len; i++)
        ((int64_t *)t->data)[i] = i;
    return t;
}

static tl_tensor *identity(int len, tl_dtype dtype)
{
    const int dims[] = {len, len};
    tl_tensor *t = tl_tensor_zeros(2, dims, dtype);
    if (t && tl_exec_eye(NULL, t, 0)) {
        tl_tensor_free_data_too(t);
        return NULL;
    }
    return t;
}

// Takes the elements that the kernel picks.
static ln_nnvm_value put_picks(ln_nnvm_op *n, ln_nnvm_value v, int axis, const tl_tensor *picks)
{
    const ln_nnvm_value index = ln_put_constant(n, TL_INT64, 1, picks->dims, picks->data);
    const ln_part src = LN_SRC(v);
    v.dims[axis] = picks->dims[0];
    return LN_PUT(n, "take", v, src, LN_SRC(index), LN_INT("axis", axis));
}

// Multiplies each line along the axis by a matrix [out, in].
static ln_nnvm_value put_products(ln_nnvm_op *n, ln_nnvm_value v, int axis, const tl_tensor *matrix)
{
    int axes[LN_MAXDIM], dims[LN_MAXDIM], last = v.ndim - 1;
    for (int i = 0; i < v.ndim; i++)
        axes[i] = i;
    axes[axis] = last;
    axes[last] = axis;
    v = axis == last ? v : ln_put_transpose(n, v, axes);
    const int in = v.dims[last], rows[] = {ln_nnvm_value_len(v) / in, in};
    const int products[] = {rows[0], matrix->dims[0]};
    memcpy(dims, v.dims, sizeof(dims));
    dims[last] = matrix->dims[0];
    const ln_nnvm_value lines = ln_put_reshape(n, v, 2, rows);
    const ln_nnvm_value weight = ln_put_constant(n, v.dtype, 2, matrix->dims, matrix->data);
    const ln_nnvm_value sums =
        LN_PUT(n, "dense", ln_nnvm_shaped(v, 2, products), LN_SRC(lines), LN_SRC(weight),
               LN_INT("units", matrix->dims[0]), LN_BOOL("use_bias", 0));
    v = ln_put_reshape(n, sums, v.ndim, dims);
    return axis == last ? v : ln_put_transpose(n, v, axes);
}

static ln_nnvm_value put_axis(ln_nnvm_op *n, ln_nnvm_value v, int axis, int out)
{
    const int picks = is_nearest(n), in = v.dims[axis];
    if (!picks && (int64_t)in * (in > out ? in : out) > MAX_ELEMENTS)
        ln_nnvm_op_fail(n,
                        "axis %d of length %d becomes one of %d, expected a matrix of at most %d",
                        axis, in, out, MAX_ELEMENTS);
    if (ln_nnvm_op_failed(n))
        return v;
    tl_tensor *const before = picks ? counting(in) : identity(in, v.dtype);
    tl_tensor *const after = before ? resample_rows(n, before, axis, out) : NULL;
    if (!after)
        ln_nnvm_op_fail(n, "%s", tl_last_error());
    else if (before->len != after->len ||
             memcmp(before->data, after->data, tl_tensor_size(before)) != 0)
        v = picks ? put_picks(n, v, axis, after) : put_products(n, v, axis, after);
    tl_tensor_free_data_too(before);
    tl_tensor_free_data_too(after);
    return v;
}

// Resamples one axis after the other, by take (nearest) or by a matrix.
static ln_nnvm_value put_axes(ln_nnvm_op *n)
{
    const tl_tensor *const dst = ln_nnvm_op_tensor_of(n, "dst");
    ln_nnvm_value v = ln_nnvm_op_in(n, "src");
    if (ln_op_bool(n->op, "fill_outside"))
        ln_nnvm_op_fail(n, "parameter 'fill_outside' is true, expected false");
    if (!is_nearest(n) && !tl_dtype_is_float(v.dtype))
        ln_nnvm_op_fail(n,
                        "'src' has type %s, expected floats: matrices round integers differently",
                        tl_dtype_name(v.dtype));
    for (int i = 0; i < v.ndim && !ln_nnvm_op_failed(n); i++)
        v = put_axis(n, v, i, dst->dims[i]);
    return v;
}

// Core rounds coordinates of the nearest element down.
static ln_nnvm_value write_resample(ln_nnvm_op *n)
{
    const tl_tensor *const src = ln_nnvm_op_tensor_of(n, "src");
    const tl_tensor *const dst = ln_nnvm_op_tensor_of(n, "dst");
    const int is_linear = ln_op_has_string(n->op, "mode", "TL_RESAMPLE_LINEAR");
    const int rounds_down = ln_op_has_string(n->op, "rounding", "TL_ROUND_DOWN");
    coordinates at = is_of_images(src, dst) ? ASYMMETRIC : OTHER;
    while (at < OTHER && !(has_coordinates(n, 2, src->dims[2], dst->dims[2], at) &&
                           has_coordinates(n, 3, src->dims[3], dst->dims[3], at)))
        at++;
    if (ln_op_bool(n->op, "fill_outside") ||
        !((is_linear && at != OTHER) || (is_nearest(n) && rounds_down && at == ASYMMETRIC)))
        return put_axes(n);
    return put_resize(n, ln_nnvm_op_in(n, "src"), is_linear, at);
}

// Coordinates are half_pixel, which core has only for nearest elements of integer scales.
static ln_nnvm_value write_resize(ln_nnvm_op *n)
{
    const tl_tensor *const src = ln_nnvm_op_tensor_of(n, "src");
    const tl_tensor *const dst = ln_nnvm_op_tensor_of(n, "dst");
    if (!is_nearest(n) || !is_of_images(src, dst) || dst->dims[2] % src->dims[2] ||
        dst->dims[3] % src->dims[3])
        return put_axes(n);
    return put_resize(n, ln_nnvm_op_in(n, "src"), 0, ASYMMETRIC);
}

const ln_nnvm_op_row ln_nnvm_write_rows_image[] = {
    {LN_OP_MAXPOOL2D, write_pool2d},
    {LN_OP_AVGPOOL2D, write_pool2d},
    {LN_OP_POOLND, write_poolnd},
    {LN_OP_RESAMPLE, write_resample},
    {LN_OP_RESIZE, write_resize},
    {LN_OP_UPSAMPLE, write_resize},
    {NULL},
};
