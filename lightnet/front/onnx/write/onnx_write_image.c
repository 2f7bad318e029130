// SPDX-License-Identifier: Apache-2.0
// Writing operators that sample images and signals.

#include <math.h>
#include <string.h>

#include "base/ln_name.h"
#include "front/onnx/ln_onnx_resize.h"
#include "front/onnx/write/ln_onnx_write.h"
#include "tensorlight/tl_shape.h"
#include "tensorlight/tl_type.h"

// Resampling

// ONNX's word for a parameter.
static const char *word_of(const ln_onnx_op *n, const char *param, const ln_attr_word *words)
{
    return ln_attr_word_for(words, ln_op_string(n->op, param))->name;
}

// What determines the scale of an axis: its lengths, the step, or the step between the corners.
typedef enum scaling { BY_SIZE, BY_STEP, BY_ENDS } scaling;

// A resampling, and the attributes that express it.
typedef struct resampling {
    int ndim;
    ln_onnx_resize_axis axes[LN_MAXDIM];
    double first[LN_MAXDIM], step[LN_MAXDIM]; // output i is at source coordinate first + i * step
    double stretch[LN_MAXDIM];
    int is_open, fills, antialiases;
    const char *rounding;
    const ln_onnx_resize_row *row;
    scaling scaling;
} resampling;

static const double *numbers(const ln_onnx_op *n, const char *param)
{
    return ln_op_param(n->op, param)->value_array_double;
}

static resampling read_resampling(ln_onnx_op *n)
{
    const tl_tensor *const src = ln_onnx_op_tensor(n, "src"), *const dst =
                                                                  ln_onnx_op_tensor(n, "dst");
    const double *const shift = numbers(n, "shift"), *const span = numbers(n, "span");
    const double *const steps = numbers(n, "steps"), *const start = numbers(n, "start");
    const double *const stretch = numbers(n, "stretch");
    resampling r = {.ndim = src->ndim,
                    .is_open = ln_onnx_op_is_dynamic(n, "dst"),
                    .fills = ln_op_bool(n->op, "fill_outside"),
                    .rounding = word_of(n, "rounding", ln_onnx_resize_roundings)};
    for (int i = 0; i < r.ndim; i++) {
        r.axes[i] = (ln_onnx_resize_axis){.in = src->dims[i], .out = dst->dims[i], .end = 1};
        r.step[i] = span[i] / steps[i];
        r.first[i] = shift[i] * r.step[i] + start[i];
        r.stretch[i] = stretch[i];
        r.antialiases |= stretch[i] != 1;
    }
    return r;
}

// Whether numbers are equal within the precision of a float.
static int is_near(double a, double b)
{
    return fabs(a - b) <= 1e-6 * (1 + fabs(a) + fabs(b));
}

// Whether the axis is unchanged, as in every mode.
static int is_unchanged(const resampling *r, int i)
{
    return r->axes[i].in == r->axes[i].out && r->step[i] == 1 && r->first[i] == 0;
}

// Sets the scale of an axis, as a float unless it is the ratio of its lengths. 0: Resize computes
// another length from that scale.
static int set_scale(resampling *r, int i)
{
    ln_onnx_resize_axis *const a = &r->axes[i];
    const double ratio = a->in ? (double)a->out / a->in : 1, step = r->step[i];
    a->is_by_size = r->scaling == BY_SIZE;
    a->scale = ratio;
    if (a->is_by_size)
        return 1;
    if (step > 0)
        a->scale = r->scaling == BY_STEP ? 1 / step : ((a->in - 1) / step + 1) / a->in;
    a->scale = (double)(float)a->scale;
    return floor(ln_onnx_resize_length(a)) == a->out;
}

// Whether Resize stretches the antialiasing filter as the operator does.
static int has_stretch(const resampling *r, int i)
{
    const ln_onnx_resize_axis *const a = &r->axes[i];
    const double wanted = r->antialiases && a->scale < 1 ? fmin(1 / a->scale, a->in) : 1;
    return is_near(wanted, r->stretch[i]);
}

// Whether mode r->row of Resize has the coordinates of the operator.
static int has_coordinates(resampling *r)
{
    for (int i = 0; i < r->ndim; i++) {
        if (is_unchanged(r, i) && !r->fills) {
            r->axes[i].scale = 1;
            continue;
        }
        if (!set_scale(r, i) || !has_stretch(r, i))
            return 0;
        const ln_onnx_resize_map m = r->row->func(&r->axes[i]);
        const double step = m.span / m.steps;
        if (!is_near(m.shift * step + m.start, r->first[i]) ||
            (r->axes[i].out > 1 && !is_near(step, r->step[i])))
            return 0;
    }
    return 1;
}

// Sets the roi of tf_crop_and_resize.
static void set_roi(resampling *r)
{
    for (int i = 0; i < r->ndim; i++) {
        ln_onnx_resize_axis *const a = &r->axes[i];
        const double last = a->in > 1 ? a->in - 1 : 1;
        a->begin = r->first[i] / last;
        a->end = a->out > 1 ? (r->first[i] + r->step[i] * (a->out - 1)) / last : a->begin;
    }
}

// Finds the coordinate_transformation_mode of these coordinates, by sizes if possible.
static int find_mode(ln_onnx_op *n, resampling *r)
{
    for (r->row = ln_onnx_resize_rows; r->row->name; r->row++) {
        const int is_crop = r->row->func == ln_onnx_resize_crop;
        if (r->row->until || is_crop != r->fills)
            continue;
        for (r->scaling = r->is_open ? BY_STEP : BY_SIZE; r->scaling <= BY_ENDS; r->scaling++) {
            if (is_crop)
                set_roi(r);
            if (!has_coordinates(r))
                continue;
            ln_onnx_op_since(n, r->row->since);
            return 1;
        }
    }
    return 0;
}

// Coordinates of tf_half_pixel_for_nn, which newer operator sets lack, are those of half_pixel plus
// 0.5: the nearest elements are the same with another rounding.
static int find_shifted(ln_onnx_op *n, resampling *r)
{
    static const char *const others[][2] = {{"round_prefer_floor", "ceil"},
                                            {"floor", "round_prefer_ceil"}};
    const int k = !strcmp(r->rounding, others[0][0]) ? 0 : 1;
    if (!ln_op_has_string(n->op, "mode", "TL_RESAMPLE_NEAREST") ||
        strcmp(r->rounding, others[k][0]) != 0)
        return 0;
    for (int i = 0; i < r->ndim; i++)
        r->first[i] -= is_unchanged(r, i) ? 0 : 0.5;
    r->rounding = others[k][1];
    return find_mode(n, r);
}

// Writes Resize with the scales or the sizes of all axes, and with a roi for crops.
static void put_resize(ln_onnx_op *n, const resampling *r)
{
    float scales[LN_MAXDIM], rois[2 * LN_MAXDIM];
    int sizes[LN_MAXDIM];
    const int twice = 2 * r->ndim;
    for (int i = 0; i < r->ndim; i++) {
        sizes[i] = r->axes[i].out;
        scales[i] = (float)r->axes[i].scale;
        rois[i] = (float)r->axes[i].begin;
        rois[r->ndim + i] = (float)r->axes[i].end;
    }
    const char *const roi = r->fills ? ln_onnx_put_constant(n, TL_FLOAT, 1, &twice, rois) : NULL;
    const char *const scale =
        r->scaling == BY_SIZE ? NULL : ln_onnx_put_constant(n, TL_FLOAT, 1, &r->ndim, scales);
    const char *const size = r->scaling == BY_SIZE ? ln_onnx_put_ints(n, r->ndim, sizes) : NULL;
    const char *const mode = word_of(n, "mode", ln_onnx_resize_modes);
    if (r->antialiases)
        ln_onnx_op_since(n, 18);
    LN_ONNX_PUT_AS(n, "dst", "Resize", LN_ONNX_IN(n, "src"), LN_ONNX_SRC(roi), LN_ONNX_SRC(scale),
                   LN_ONNX_SRC(size), LN_TEXT("mode", mode),
                   LN_TEXT("coordinate_transformation_mode", r->row->name),
                   LN_TEXT("nearest_mode", r->rounding),
                   LN_NUMBER("cubic_coeff_a", ln_op_number(n->op, "cubic_a")),
                   LN_INT("exclude_outside", ln_op_bool(n->op, "exclude_outside")),
                   LN_NUMBER("extrapolation_value", ln_op_number(n->op, "fill")),
                   LN_ONLY_IF(r->antialiases, LN_INT("antialias", 1)));
}

static void write_resample(ln_onnx_op *n)
{
    resampling r = read_resampling(n);
    if (find_mode(n, &r) || find_shifted(n, &r))
        put_resize(n, &r);
    else
        ln_onnx_op_reject(n, "no coordinate_transformation_mode of Resize has its coordinates");
}

// Rounds to the nearest integer, halves away from 0.
static const char *round_away(ln_onnx_op *n, const char *x)
{
    const char *const half = ln_onnx_put_scalar(n, TL_DOUBLE, 0.5);
    const char *const sum = ln_onnx_put_pair(n, "Add", ln_onnx_put(n, "Abs", x), half);
    return ln_onnx_put_pair(n, "Mul", ln_onnx_put(n, "Sign", x), ln_onnx_put(n, "Floor", sum));
}

// Rounds integers here, as Resize truncates them.
static void write_resize(ln_onnx_op *n)
{
    const tl_tensor *const dst = ln_onnx_op_tensor(n, "dst");
    const int is_linear = ln_op_has_string(n->op, "mode", "TL_LINEAR");
    const int rounds = is_linear && !tl_dtype_is_float(dst->dtype);
    const char *const src = ln_onnx_op_in(n, "src");
    if (ln_onnx_op_is_dynamic(n, "dst"))
        ln_onnx_op_reject(n, "the size of 'dst' is known only at run time");
    const char *const v =
        LN_ONNX_PUT(n, "Resize", LN_ONNX_SRC(rounds ? ln_onnx_put_cast(n, src, TL_DOUBLE) : src),
                    LN_ONNX_SRC(NULL), LN_ONNX_SRC(NULL),
                    LN_ONNX_SRC(ln_onnx_put_ints(n, dst->ndim, dst->dims)),
                    LN_TEXT("mode", is_linear ? "linear" : "nearest"),
                    LN_TEXT("coordinate_transformation_mode", "half_pixel"),
                    LN_TEXT("nearest_mode", "round_prefer_ceil"));
    ln_onnx_op_ends_with(n, "dst", rounds ? ln_onnx_put_cast(n, round_away(n, v), dst->dtype) : v);
}

// Positions and regions

// Up to operator set 19, GridSample is of images only, and its modes have other names.
static void write_grid_sample(ln_onnx_op *n)
{
    const int is_cubic = ln_op_has_string(n->op, "mode", "TL_RESAMPLE_CUBIC");
    const int is_nearest = ln_op_has_string(n->op, "mode", "TL_RESAMPLE_NEAREST");
    if (ln_onnx_op_tensor(n, "src")->ndim != 4)
        ln_onnx_op_since(n, 20);
    LN_ONNX_WRITE_FORM(n, LN_ONLY_IF(ln_onnx_op_opset(n) < 20 && !is_nearest,
                                     LN_TEXT("mode", is_cubic ? "bicubic" : "bilinear")));
}

static void write_roi_align(ln_onnx_op *n)
{
    const int *const size = ln_op_ints(n->op, "size", NULL);
    LN_ONNX_WRITE_FORM(n, LN_INT("output_height", size[0]), LN_INT("output_width", size[1]));
}

// Signals

// The axis is an attribute, since operator set 20 an input.
static void write_dft(ln_onnx_op *n)
{
    const int axis = ln_onnx_op_axis(n);
    const int inverse = ln_op_bool(n->op, "inverse");
    const int onesided = ln_op_bool(n->op, "onesided");
    const int as_input = ln_onnx_op_opset(n) >= 20, len = ln_op_int(n->op, "len");
    const char *const length = len ? ln_onnx_put_scalar(n, TL_INT64, len) : NULL;
    const char *const along = as_input ? ln_onnx_put_scalar(n, TL_INT64, axis) : NULL;
    if (inverse && onesided)
        ln_onnx_op_since(n, 20);
    LN_ONNX_PUT_AS(n, "dst", "DFT", LN_ONNX_IN(n, "src"), LN_ONNX_SRC(length), LN_ONNX_SRC(along),
                   LN_ONLY_IF(!as_input, LN_INT("axis", axis)), LN_INT("inverse", inverse),
                   LN_INT("onesided", onesided));
}

const ln_onnx_op_row ln_onnx_write_rows_image[] = {
    {LN_OP_RESAMPLE, write_resample},
    {LN_OP_RESIZE, write_resize},
    {LN_OP_GRID_SAMPLE, write_grid_sample},
    {LN_OP_ROI_ALIGN, write_roi_align},
    {LN_OP_DFT, write_dft},
    {NULL},
};
