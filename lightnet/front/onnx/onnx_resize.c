// SPDX-License-Identifier: Apache-2.0
// ONNX's Resize and Upsample: coordinate transformations become parameters of `resample`.

#include <limits.h>
#include <math.h>
#include <stdlib.h>

#include "front/onnx/ln_onnx.h"
#include "front/onnx/ln_onnx_resize.h"

typedef ln_onnx_resize_axis axis;
typedef ln_onnx_resize_map map;
typedef ln_onnx_resize_func map_func;

double ln_onnx_resize_length(const axis *a)
{
    return (double)((float)a->in * (float)a->scale);
}

static map half_pixel(const axis *a)
{
    // A ratio of sizes is exact, a scale in between has been rounded.
    return a->is_by_size ? (map){0.5, a->in, a->out, -0.5} : (map){0.5, 1, a->scale, -0.5};
}

static map half_pixel_symmetric(const axis *a)
{
    map m = half_pixel(a);
    m.start += a->in / 2.0 * (1 - a->out / ln_onnx_resize_length(a));
    return m;
}

static map pytorch_half_pixel(const axis *a)
{
    return a->out > 1 ? half_pixel(a) : (map){0, 0, 1, 0};
}

static map tf_half_pixel_for_nn(const axis *a)
{
    map m = half_pixel(a);
    m.start = 0;
    return m;
}

static map asymmetric(const axis *a)
{
    map m = half_pixel(a);
    m.shift = m.start = 0;
    return m;
}

static map align_corners(const axis *a)
{
    const double out = a->is_by_size ? a->out : ln_onnx_resize_length(a);
    return out == 1 ? (map){0, 0, 1, 0} : (map){0, a->in - 1, out - 1, 0};
}

map ln_onnx_resize_crop(const axis *a)
{
    const double last = a->in - 1;
    if (a->out <= 1)
        return (map){0, 0, 1, (a->begin + a->end) / 2 * last};
    return (map){0, (a->end - a->begin) * last, a->out - 1, a->begin * last};
}

const ln_onnx_resize_row ln_onnx_resize_rows[] = {
    {"half_pixel", half_pixel, 0, 0},
    {"asymmetric", asymmetric, 0, 0},
    {"align_corners", align_corners, 0, 0},
    {"pytorch_half_pixel", pytorch_half_pixel, 0, 0},
    {"half_pixel_symmetric", half_pixel_symmetric, 19, 0},
    {"tf_half_pixel_for_nn", tf_half_pixel_for_nn, 0, 12},
    {"tf_crop_and_resize", ln_onnx_resize_crop, 0, 0},
    {NULL, NULL, 0, 0},
};

const ln_attr_word ln_onnx_resize_modes[] = {
    {"nearest", "TL_RESAMPLE_NEAREST", 0},
    {"linear", "TL_RESAMPLE_LINEAR", 0},
    {"bilinear", "TL_RESAMPLE_LINEAR", 0},
    {"cubic", "TL_RESAMPLE_CUBIC", 0},
    {0},
};
const ln_attr_word ln_onnx_resize_roundings[] = {
    {"round_prefer_floor", "TL_ROUND_HALF_DOWN", 0},
    {"round_prefer_ceil", "TL_ROUND_HALF_UP", 0},
    {"floor", "TL_ROUND_DOWN", 0},
    {"ceil", "TL_ROUND_UP", 0},
    {0},
};

static map_func *find_map(ln_onnx_node *n, const char *name)
{
    const ln_onnx_resize_row *row = ln_onnx_resize_rows;
    while (row->name && !ln_streq(row->name, name))
        row++;
    if (!row->name)
        ln_emit_fail(&n->emit,
                     "attribute 'coordinate_transformation_mode' is \"%s\", expected half_pixel, "
                     "half_pixel_symmetric, pytorch_half_pixel, align_corners, asymmetric, "
                     "tf_half_pixel_for_nn or tf_crop_and_resize",
                     name);
    return row->name ? row->func : half_pixel;
}

// The arguments of all these operators.
typedef struct resizing {
    const char *src, *mode, *rounding;
    map_func *map;
    int ndim;
    axis axes[TL_MAXDIM];
    int antialias, excludes_outside;
    double cubic_a, fill;
} resizing;

static void set_identity(axis *a, int in)
{
    *a = (axis){.in = in, .out = in, .scale = 1, .is_by_size = 1, .end = 1};
}

static resizing begin_resizing(ln_onnx_node *n)
{
    resizing r = {.src = ln_onnx_in(n, 0), .cubic_a = -0.75};
    const tl_tensor *const src = ln_onnx_tensor_of(n, r.src);
    r.ndim = src->ndim;
    for (int i = 0; i < r.ndim; i++)
        set_identity(&r.axes[i], src->dims[i]);
    r.mode = ln_attr_choose(&n->emit, "mode", "nearest", ln_onnx_resize_modes);
    return r;
}

// Sets the scale of an axis, and the output length.
static void set_scale(ln_onnx_node *n, axis *a, double scale)
{
    a->scale = scale;
    const double out = floor(ln_onnx_resize_length(a));
    if (!(scale > 0) || !(out <= INT_MAX)) {
        ln_emit_fail(&n->emit,
                     "scale %g of length %d, expected a scale above 0 and at most %d elements",
                     scale, a->in, INT_MAX);
        return;
    }
    a->out = (int)out;
    a->is_by_size = 0;
}

static const char *emit(ln_onnx_node *n, const resizing *r, int output)
{
    double shift[TL_MAXDIM], span[TL_MAXDIM], steps[TL_MAXDIM], start[TL_MAXDIM],
        stretch[TL_MAXDIM];
    int dims[TL_MAXDIM];
    const int crops = r->map == ln_onnx_resize_crop;
    for (int i = 0; i < r->ndim; i++) {
        const axis *const a = &r->axes[i];
        const int is_identity = !crops && a->scale == 1 && a->in == a->out;
        const map m = is_identity ? (map){0.5, 1, 1, -0.5} : r->map(a);
        const ln_dim size = ln_onnx_axis_size(n, r->src, i);
        if (!is_identity)
            ln_onnx_want_fixed_axis(n, r->src, i);
        dims[i] = ln_dim_is_constant(&size) ? a->out : -2;
        shift[i] = m.shift;
        span[i] = m.span;
        steps[i] = m.steps;
        start[i] = m.start;
        stretch[i] = r->antialias && a->scale < 1 ? fmin(1 / a->scale, a->in) : 1;
    }
    return LN_EMIT(&n->emit, output, LN_OP_RESAMPLE, LN_ARG("src", r->src),
                   LN_TEXT("mode", r->mode), LN_TEXT("rounding", r->rounding),
                   LN_INTS("dims", r->ndim, dims), LN_NUMBERS("shift", r->ndim, shift),
                   LN_NUMBERS("span", r->ndim, span), LN_NUMBERS("steps", r->ndim, steps),
                   LN_NUMBERS("start", r->ndim, start), LN_NUMBERS("stretch", r->ndim, stretch),
                   LN_NUMBER("cubic_a", r->cubic_a),
                   LN_BOOL("exclude_outside", r->excludes_outside), LN_BOOL("fill_outside", crops),
                   LN_NUMBER("fill", r->fill));
}

// Upsample, and Resize of opset 10

// Emits the axes that shrink, with coordinates rounded up, and removes them from `r`.
static void shrink(ln_onnx_node *n, resizing *r)
{
    resizing shrinking = *r;
    int shrinks = 0;
    for (int i = 0; i < r->ndim; i++)
        if (r->axes[i].scale < 1) {
            shrinks = 1;
            set_identity(&r->axes[i], r->axes[i].out);
        } else {
            set_identity(&shrinking.axes[i], r->axes[i].in);
        }
    shrinking.rounding = "TL_ROUND_UP";
    if (shrinks)
        r->src = emit(n, &shrinking, LN_EMIT_TEMP);
}

static void emit_scaled(ln_onnx_node *n, const double *scales, int len)
{
    resizing r = begin_resizing(n);
    r.map = asymmetric;
    r.rounding = "TL_ROUND_DOWN";
    if (len != r.ndim)
        ln_emit_fail(&n->emit, "%d scales, expected one for each of %d dimensions", len, r.ndim);
    for (int i = 0; i < r.ndim && !ln_onnx_failed(n); i++)
        set_scale(n, &r.axes[i], scales[i]);
    if (ln_streq(r.mode, "TL_RESAMPLE_NEAREST"))
        shrink(n, &r);
    emit(n, &r, 0);
}

// Scales: height_scale and width_scale, since opset 7 attribute scales, since 9 input 1.
static void translate_upsample(ln_onnx_node *n)
{
    double scales[TL_MAXDIM] = {1, 1, ln_attr_number(&n->emit, "height_scale", 1),
                                ln_attr_number(&n->emit, "width_scale", 1)};
    int len = 4;
    const double *const in = n->opset < 9 ? scales : ln_onnx_numbers_in(n, 1, &len);
    const float *const given =
        n->opset == 7 || n->opset == 8 ? ln_onnx_floats(n, "scales", &len) : NULL;
    for (int i = 0; given && i < len && i < TL_MAXDIM; i++)
        scales[i] = given[i];
    emit_scaled(n, in, len);
}

// Resize since opset 11

// Reads the axes to which scales, sizes and roi apply. Returns their number.
static int read_axes(ln_onnx_node *n, const resizing *r, int *axes)
{
    int len;
    const int64_t *const given = ln_attr_ints(&n->emit, "axes", &len);
    if (len > r->ndim) {
        ln_emit_fail(&n->emit, "attribute 'axes' has %d numbers, expected at most %d", len,
                     r->ndim);
        return 0;
    }
    if (len == 0)
        for (; len < r->ndim; len++)
            axes[len] = len;
    else
        ln_onnx_axes(n, given, len, r->ndim, axes);
    return len;
}

// Sets the given sizes, or by keep_aspect_ratio_policy, those of one scale for all the axes.
static void set_sizes(ln_onnx_node *n, resizing *r, const int *axes, int len, const int64_t *sizes)
{
    static const ln_attr_word policies[] = {{"stretch"}, {"not_larger"}, {"not_smaller"}, {0}};
    const char *const policy =
        ln_attr_choose(&n->emit, "keep_aspect_ratio_policy", "stretch", policies);
    const int is_larger = ln_streq(policy, "not_smaller");
    const int is_free = ln_streq(policy, "stretch");

    double scale = is_larger ? 0 : INFINITY;
    for (int i = 0; i < len && !ln_onnx_failed(n); i++) {
        axis *const a = &r->axes[axes[i]];
        if (sizes[i] < 0 || sizes[i] > INT_MAX || (a->in == 0 && sizes[i] > 0)) {
            ln_emit_fail(&n->emit, "size %lld along axis %d of length %d, expected 0 to %d",
                         (long long)sizes[i], axes[i], a->in, a->in ? INT_MAX : 0);
            return;
        }
        a->out = (int)sizes[i];
        a->scale = a->in > 0 ? (double)a->out / a->in : 1;
        scale = is_larger ? fmax(scale, a->scale) : fmin(scale, a->scale);
    }
    for (int i = 0; i < len && !is_free && !ln_onnx_failed(n); i++) {
        axis *const a = &r->axes[axes[i]];
        const double out = floor(scale * a->in + 0.5);
        if (out > INT_MAX) {
            ln_emit_fail(&n->emit, "size %g along axis %d, expected at most %d", out, axes[i],
                         INT_MAX);
            return;
        }
        *a = (axis){.in = a->in, .out = (int)out, .scale = scale, .end = 1};
    }
}

// Reads roi: the begins of the axes, then their ends.
static void set_roi(ln_onnx_node *n, resizing *r, const int *axes, int len, int input)
{
    int n_roi;
    const double *const roi = ln_onnx_numbers_in(n, input, &n_roi);
    if (n_roi == 0)
        return;
    if (n_roi != 2 * len) {
        ln_emit_fail(&n->emit, "'roi' has %d numbers, expected %d", n_roi, 2 * len);
        return;
    }
    for (int i = 0; i < len; i++) {
        r->axes[axes[i]].begin = roi[i];
        r->axes[axes[i]].end = roi[len + i];
    }
}

static void translate_resize(ln_onnx_node *n)
{
    resizing r = begin_resizing(n);
    r.map = find_map(n, ln_attr_text(&n->emit, "coordinate_transformation_mode", "half_pixel"));
    r.rounding =
        ln_attr_choose(&n->emit, "nearest_mode", "round_prefer_floor", ln_onnx_resize_roundings);
    r.cubic_a = ln_attr_number(&n->emit, "cubic_coeff_a", -0.75);
    r.excludes_outside = ln_attr_bool(&n->emit, "exclude_outside", 0);
    r.antialias = ln_attr_bool(&n->emit, "antialias", 0);
    r.fill = ln_attr_number(&n->emit, "extrapolation_value", 0);
    int axes[TL_MAXDIM], n_scales = 0, n_sizes = 0;
    const int len = read_axes(n, &r, axes);
    const double *const scales = ln_onnx_numbers_in(n, 2, &n_scales);
    const int64_t *const sizes = ln_onnx_ints_in(n, 3, &n_sizes);
    if (n_scales + n_sizes != len)
        ln_emit_fail(&n->emit, "%d scales and %d sizes, expected one of them for each of %d axes",
                     n_scales, n_sizes, len);
    if (ln_onnx_failed(n))
        return;
    if (n_scales > 0)
        for (int i = 0; i < len; i++)
            set_scale(n, &r.axes[axes[i]], scales[i]);
    else
        set_sizes(n, &r, axes, len, sizes);
    if (r.map == ln_onnx_resize_crop)
        set_roi(n, &r, axes, len, 1);
    emit(n, &r, 0);
}

const ln_onnx_row ln_onnx_rows_resize[] = {
    {"Upsample", 1, translate_upsample}, {"Upsample", 7, translate_upsample},
    {"Upsample", 9, translate_upsample}, {"Resize", 10, translate_upsample},
    {"Resize", 11, translate_resize},    {NULL},
};
