// SPDX-License-Identifier: Apache-2.0
// Resizing of images: how they cover a tensor, and the weights of samples along an axis.
//
// Each axis is resized separately: `in` samples become `size` elements, of which the tensor shows
// `out` from number `offset`. A crop has out < size; a letterbox has out > size, with a border.
// Element d of the resized axis has its center at (d + 0.5) * in / size.

#include "data/ln_image_resize.h"

#include <math.h>
#include <string.h>

#include "lightnet/ln_util.h"

// Axes

// n * to / from, rounded down, at least 1.
static int scaled(int n, int to, int from)
{
    const int64_t size = (int64_t)n * to / from;
    return size < 1 ? 1 : (int)(size < INT32_MAX ? size : INT32_MAX);
}

// The same, rounded to the nearest integer, halves to even, at most `max`.
static int scaled_to_nearest(int n, int to, int from, int max)
{
    const int64_t whole = (int64_t)n * to / from, twice = (int64_t)n * to % from * 2;
    const int64_t size = whole + (twice > from || (twice == from && whole % 2));
    return size < 1 ? 1 : (int)(size < max ? size : max);
}

static void stretch(const ln_image_format *format, ln_image_axis axes[2])
{
    (void)format;
    for (int i = 0; i < 2; i++)
        axes[i].size = axes[i].out;
}

// As torchvision's Resize and CenterCrop: the longer side is rounded down, half of the margin to
// the nearest integer, halves to even.
static void crop(const ln_image_format *format, ln_image_axis axes[2])
{
    const double share = format->share > 0 && format->share < 1 ? format->share : 1;
    int want[2];
    for (int i = 0; i < 2; i++)
        want[i] = (int)fmin(round(axes[i].out / share), INT32_MAX);
    // The axis that needs the larger scale gets exactly the wanted size, the other one more.
    const int limiting = (int64_t)want[0] * axes[1].in < (int64_t)want[1] * axes[0].in;
    axes[limiting].size = want[limiting];
    axes[!limiting].size = scaled(axes[!limiting].in, want[limiting], axes[limiting].in);
    for (int i = 0; i < 2; i++) {
        const int margin = axes[i].size - axes[i].out, half = margin / 2;
        axes[i].offset = half + (margin & half & 1);
    }
}

// The axis that needs the smaller scale, which fills the tensor, if all of the image is shown.
static int limiting_axis(const ln_image_axis axes[2])
{
    return (int64_t)axes[0].out * axes[1].in > (int64_t)axes[1].out * axes[0].in;
}

// As Ultralytics' LetterBox: the shorter side is rounded to the nearest size, halves to even, and
// the first border is not larger than the second one.
static void letterbox(const ln_image_format *format, ln_image_axis axes[2])
{
    const int limiting = limiting_axis(axes);
    (void)format;
    axes[limiting].size = axes[limiting].out;
    axes[!limiting].size = scaled_to_nearest(axes[!limiting].in, axes[limiting].out,
                                             axes[limiting].in, axes[!limiting].out);
    for (int i = 0; i < 2; i++)
        axes[i].offset = -((axes[i].out - axes[i].size) / 2);
}

// As the preprocessing of YOLOX and of insightface's SCRFD: the shorter side is rounded down.
static void pad(const ln_image_format *format, ln_image_axis axes[2])
{
    const int limiting = limiting_axis(axes);
    (void)format;
    axes[limiting].size = axes[limiting].out;
    axes[!limiting].size = scaled(axes[!limiting].in, axes[limiting].out, axes[limiting].in);
}

void ln_image_axes(const ln_image_format *format, int height, int width, int out_height,
                   int out_width, ln_image_axis axes[2])
{
    static void (*const fits[])(const ln_image_format *, ln_image_axis *) = {
        [LN_IMAGE_STRETCH] = stretch,
        [LN_IMAGE_CROP] = crop,
        [LN_IMAGE_LETTERBOX] = letterbox,
        [LN_IMAGE_PAD] = pad,
    };
    axes[0] = (ln_image_axis){.in = height, .out = out_height};
    axes[1] = (ln_image_axis){.in = width, .out = out_width};
    fits[format->fit](format, axes);
}

// Weights

static double triangle(double x)
{
    x = fabs(x);
    return x < 1 ? 1 - x : 0;
}

// Source: R. G. Keys, Cubic convolution interpolation for digital image processing, 1981, a = -0.5.
static double cubic(double x)
{
    const double a = -0.5;
    x = fabs(x);
    if (x < 1)
        return ((a + 2) * x - (a + 3)) * x * x + 1;
    return x < 2 ? (((x - 5) * x + 8) * x - 4) * a : 0;
}

static const struct {
    double (*weight)(double x);
    double support; // the weight is 0 from this distance
    int overshoots;
} filters[] = {
    [LN_IMAGE_LINEAR] = {NULL, 1, 0},
    [LN_IMAGE_ANTIALIAS] = {triangle, 1, 0},
    [LN_IMAGE_BICUBIC] = {cubic, 2, 1},
};

int ln_image_filter_overshoots(ln_image_filter filter)
{
    return filters[filter].overshoots;
}

// The two neighbors of element `d`.
static int linear_weights(const ln_image_axis *axis, int d, int *first, double *weights)
{
    const int in = axis->in;
    double c = (d + 0.5) * ((double)in / axis->size) - 0.5;
    if (c < 0)
        c = 0;
    if (c > in - 1)
        c = in - 1;
    *first = (int)c;
    weights[0] = 1 - (c - *first);
    weights[1] = c - *first;
    return *first + 1 < in ? 2 : 1;
}

// The filter is as wide as the samples that an element covers. Its weights inside the image are
// scaled to a sum of 1. Source: Pillow, src/libImaging/Resample.c, precompute_coeffs.
static int wide_weights(const ln_image_axis *axis, ln_image_filter filter, int d, int *first,
                        double *weights)
{
    const double scale = (double)axis->in / axis->size, stretch = fmax(scale, 1);
    const double support = filters[filter].support * stretch, center = (d + 0.5) * scale;
    *first = (int)fmax(center - support + 0.5, 0);
    const int n = (int)fmin(center + support + 0.5, axis->in) - *first;
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += weights[i] = filters[filter].weight((*first + i - center + 0.5) / stretch);
    for (int i = 0; i < n; i++)
        weights[i] /= sum;
    return n;
}

// The max weights of an axis: 0.5 GB.
enum { MAX_WEIGHTS = 1 << 26 };

// The max number of samples of an element.
static size_t max_samples(const ln_image_axis *axis, ln_image_filter filter)
{
    const double scale = fmax((double)axis->in / axis->size, 1);
    const double max = filters[filter].weight ? 2 * filters[filter].support * scale + 2 : 2;
    return (size_t)fmin(max, (double)axis->in + 1);
}

int ln_image_taps_init(ln_image_taps *taps, const ln_image_axis *axis, ln_image_filter filter,
                       ln_error *err)
{
    const size_t max = max_samples(axis, filter), out = (size_t)axis->out;
    *taps = (ln_image_taps){ln_alloc_array(out, sizeof(*taps->spans)), NULL};
    if (out <= MAX_WEIGHTS / max)
        taps->weights = ln_alloc_array(out, max * sizeof(double));
    if (!taps->spans || !taps->weights)
        return ln_error_set_as(err, LN_OUT_OF_MEMORY, "out of memory to resize %d pixels to %d",
                               axis->in, axis->size);
    for (int i = 0; i < axis->out; i++) {
        const int64_t d = (int64_t)i + axis->offset;
        ln_image_span *span = &taps->spans[i];
        double *weights = taps->weights + (size_t)i * max;
        *span = (ln_image_span){.weights = weights};
        if (d < 0 || d >= axis->size)
            continue;
        span->n = filters[filter].weight ? wide_weights(axis, filter, (int)d, &span->first, weights)
                                         : linear_weights(axis, (int)d, &span->first, weights);
    }
    return 0;
}

void ln_image_taps_free(ln_image_taps *taps)
{
    ln_free(taps->spans);
    ln_free(taps->weights);
}
