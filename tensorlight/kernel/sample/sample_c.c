// SPDX-License-Identifier: Apache-2.0
// Sampling at given positions in plain C: the definition.

#ifndef T // once

#include <math.h>

#include "kernel/sample/sample.h"
#include "kernel/tl_poll.h"
#include "kernel/tl_windows.h"

// Positions on a grid

// Converts a normalized coordinate -1 .. 1 to a position in src. Each step rounds to the type of
// the grid, as in other runtimes: rounding determines whether a position is a tie of nearest mode.
static double denormalized(const tl_grid_job *job, double x, int in)
{
    if (job->grid->dtype == TL_DOUBLE)
        return job->aligns_corners ? (x + 1) / 2 * (in - 1) : ((x + 1) * in - 1) / 2;
    const float f = (float)x + 1;
    return (double)(job->aligns_corners ? f / 2 * (float)(in - 1) : (f * (float)in - 1) / 2);
}

// Mirrors at low and high as often as needed.
static double reflected(double x, double low, double high)
{
    const double range = high - low;
    if (!(range > 0) || !isfinite(x))
        return low;
    const double distance = fmod(fabs(x - low), 2 * range);
    return distance <= range ? low + distance : high - (distance - range);
}

// Clamps or mirrors a position by the padding mode. Taps outside matter for zeros, and for the
// border of TL_RESAMPLE_CUBIC: there, clamps 8 elements outside, beyond all taps, to fit an int.
static double to_padded_range(const tl_grid_job *job, double x, int in)
{
    const double half = job->aligns_corners ? 0 : 0.5;
    if (job->outside == TL_OUTSIDE_BORDER && job->mode != TL_RESAMPLE_CUBIC)
        return x > 0 ? (x < in - 1 ? x : in - 1) : 0; // NaN is 0
    if (job->outside == TL_OUTSIDE_REFLECT)
        return x >= -half && x <= in - 1 + half ? x : reflected(x, -half, in - 1 + half);
    return x > -8 ? (x < in + 8.0 ? x : in + 8.0) : -8;
}

// The index of the element that replaces index `i` of to_padded_range; -1: it is 0.
static int index_inside(const tl_grid_job *job, int i, int in)
{
    const double half = job->aligns_corners ? 0 : 0.5;
    if (i >= 0 && i < in)
        return i;
    if (job->outside == TL_OUTSIDE_ZERO)
        return -1;
    if (job->outside == TL_OUTSIDE_BORDER)
        return i < 0 ? 0 : in - 1;
    const int index = (int)reflected(i, -half, in - 1 + half);
    return index < 0 ? 0 : index < in ? index : in - 1;
}

// The cubic convolution kernel (Keys) with a = -0.75.
static double cubic(double x)
{
    const double a = -0.75;
    x = fabs(x);
    if (x <= 1)
        return ((a + 2) * x - (a + 3)) * x * x + 1;
    return x < 2 ? ((x - 5) * x + 8) * x * a - 4 * a : 0;
}

// Indices and weights of the taps along one axis.
typedef struct axis_taps {
    int n, indices[4];
    double weights[4];
} axis_taps;

static axis_taps taps_at(const tl_grid_job *job, double coordinate, int in)
{
    double x = denormalized(job, coordinate, in);
    if (job->mode == TL_RESAMPLE_NEAREST) { // ties to even, for any number of axes
        x = to_padded_range(job, rint(x), in);
        return (axis_taps){1, {index_inside(job, (int)x, in)}, {1}};
    }
    x = to_padded_range(job, x, in);
    const int base = (int)floor(x);
    const double part = x - base;
    if (job->mode == TL_RESAMPLE_LINEAR)
        return (axis_taps){
            2, {index_inside(job, base, in), index_inside(job, base + 1, in)}, {1 - part, part}};
    axis_taps t = {.n = 4};
    for (int k = 0; k < 4; k++) {
        t.indices[k] = index_inside(job, base - 1 + k, in);
        t.weights[k] = cubic(k - 1 - part);
    }
    return t;
}

// An element of a plane, and its weight.
typedef struct sample {
    size_t index;
    double weight;
} sample;

enum { MAX_SAMPLES = 64 };

// Finds the taps of position `p` of all images; returns their number.
static int samples_at(const tl_grid_job *job, size_t p, sample *samples)
{
    double x[TL_GRID_AXES];
    const tl_dtype dtype = job->grid->dtype;
    tl_convert_array(x, TL_DOUBLE, tl_pointer_add(job->grid->data, (ptrdiff_t)(p * job->n), dtype),
                     dtype, (size_t)job->n);
    int n = 1;
    samples[0] = (sample){0, 1};
    for (int i = 0; i < job->n; i++) {
        const axis_taps t = taps_at(job, x[job->n - 1 - i], job->in[i]);
        sample old[MAX_SAMPLES];
        const int n_old = n;
        memcpy(old, samples, (size_t)n * sizeof(sample));
        n = 0;
        for (int j = 0; j < n_old; j++)
            for (int k = 0; k < t.n; k++)
                if (t.indices[k] >= 0 && t.weights[k] != 0)
                    samples[n++] = (sample){old[j].index * job->in[i] + t.indices[k],
                                            old[j].weight * t.weights[k]};
    }
    return n;
}

// Bilinear interpolation

// The four elements around a position, clamped to the image, and their bilinear weights.
static void corners_at(double y, double x, int height, int width, sample *corners)
{
    y = y > 0 ? (y < height - 1 ? y : height - 1) : 0;
    x = x > 0 ? (x < width - 1 ? x : width - 1) : 0;
    const int y0 = (int)y, x0 = (int)x;
    const int y1 = y0 + 1 < height ? y0 + 1 : y0, x1 = x0 + 1 < width ? x0 + 1 : x0;
    const double v = y - y0, u = x - x0;
    const size_t row0 = (size_t)y0 * width, row1 = (size_t)y1 * width;
    corners[0] = (sample){row0 + x0, (1 - v) * (1 - u)};
    corners[1] = (sample){row0 + x1, (1 - v) * u};
    corners[2] = (sample){row1 + x0, v * (1 - u)};
    corners[3] = (sample){row1 + x1, v * u};
}

// Regions

// A region along one axis: bins of `bin` elements from `start`, each sampled `samples` times.
typedef struct extent {
    double start, bin;
    int samples;
} extent;

// The rows or columns begin .. end-1 of bin `k` of a rounded region, clamped to the image.
static void pooled_bin(double start, double bin, int k, int in, int *begin, int *end)
{
    const double from = floor(k * bin) + start, to = ceil((k + 1) * bin) + start;
    *begin = from > 0 ? (from < in ? (int)from : in) : 0;
    *end = to > 0 ? (to < in ? (int)to : in) : 0;
}

// The number of elements in rows y[0] .. y[1]-1 and columns x[0] .. x[1]-1.
static size_t area_of(const int *y, const int *x)
{
    return y[0] < y[1] && x[0] < x[1] ? (size_t)(y[1] - y[0]) * (size_t)(x[1] - x[0]) : 0;
}

// col2im

// The index of the window whose element `taps` is at position `at`, or -1.
static ptrdiff_t window_at(const tl_col2im_job *job, const int *at, const int *taps)
{
    ptrdiff_t index = 0;
    const tl_windows *const w = &job->windows;
    for (int i = 0; i < w->n; i++) {
        const int64_t start = (int64_t)at[i] + w->padding[i] - (int64_t)taps[i] * w->dilation[i];
        if (start < 0 || start % w->stride[i] != 0 || start / w->stride[i] >= job->n_along[i])
            return -1;
        index = index * job->n_along[i] + (ptrdiff_t)(start / w->stride[i]);
    }
    return index;
}

#define TL_TEMPLATE "kernel/sample/sample_c.c"
#include "tensor/tl_each_float.inc.h"

#else // for each type

static double NAME(weighted_sum, c)(const T *plane, const sample *samples, int n)
{
    double sum = 0;
    for (int k = 0; k < n; k++)
        if (samples[k].weight != 0)
            sum += samples[k].weight * (double)LOAD(plane[samples[k].index]);
    return sum;
}

void NAME(tl_grid_sample, c)(void *arg, size_t begin, size_t end)
{
    const tl_grid_job *const job = arg;
    for (size_t p = begin; p < end; p++) {
        sample samples[MAX_SAMPLES];
        const int n = samples_at(job, p, samples);
        const size_t first = p / job->positions * job->channels;
        for (size_t c = first; c < first + job->channels; c++)
            ((T *)job->dst)[c * job->positions + p % job->positions] = STORE(
                (C)NAME(weighted_sum, c)((const T *)job->src + c * job->in_plane, samples, n));
    }
}

// A RoiAlign sample: interpolated bilinearly or, for is_max, the max of the four weighted elements.
static double NAME(roi_sample, c)(const tl_roi_job *job, const T *plane, double y, double x)
{
    sample corners[4];
    if (!(y >= -1 && y <= job->in[0] && x >= -1 && x <= job->in[1]))
        return 0;
    corners_at(y, x, job->in[0], job->in[1], corners);
    if (!job->param.is_max)
        return NAME(weighted_sum, c)(plane, corners, 4);
    double max = -INFINITY;
    for (int k = 0; k < 4; k++)
        max = fmax(max, corners[k].weight * (double)LOAD(plane[corners[k].index]));
    return max;
}

// The position of sample `s` of bin `i`. Each step rounds to type C, as in other runtimes: rounding
// determines whether a sample at the border of the image is inside.
static double NAME(position_in_bin, c)(extent e, int i, int s)
{
    const C bin = (C)e.bin, offset = ((C)s + (C)0.5) * bin / (C)e.samples;
    return (double)((C)e.start + (C)i * bin + offset);
}

static double NAME(roi_bin, c)(const tl_roi_job *job, const T *plane, extent rows, extent columns,
                               int i, int j, tl_poll *poll)
{
    double result = job->param.is_max ? -INFINITY : 0;
    for (int v = 0; v < rows.samples; v++) {
        const double y = NAME(position_in_bin, c)(rows, i, v);
        if (tl_poll_after(poll, (size_t)columns.samples * 8))
            break;
        for (int u = 0; u < columns.samples; u++) {
            const double x = NAME(position_in_bin, c)(columns, j, u);
            const double value = NAME(roi_sample, c)(job, plane, y, x);
            result = job->param.is_max ? fmax(result, value) : result + value;
        }
    }
    const double count = (double)rows.samples * columns.samples;
    return count == 0 ? 0 : job->param.is_max ? result : result / count;
}

// Computes in type C, as other runtimes do: ceil(bin) jumps at whole lengths of a bin, and a scale
// in double precision can be on the other side of the jump.
static extent NAME(extent_of, c)(const tl_roi_param *param, C from, C to, int size)
{
    const C shift = param->is_half_pixel ? (C)0.5 : 0, scale = (C)param->scale;
    const C start = from * scale - shift, end = to * scale - shift;
    const C whole = end - start, len = !param->is_half_pixel && whole < 1 ? 1 : whole;
    const C bin = len / (C)size;
    const double samples = param->samples > 0 ? param->samples : ceil((double)bin);
    return (extent){(double)start, (double)bin, samples > 0 ? (int)samples : 0};
}

void NAME(tl_roi_align, c)(void *arg, size_t begin, size_t end)
{
    const tl_roi_job *const job = arg;
    const int *const size = job->param.size;
    tl_poll poll = tl_poll_of(job->stop);
    for (size_t unit = begin; unit < end && !poll.is_stopped; unit++) {
        const size_t r = unit / job->channels, c = unit % job->channels;
        const T *const roi = (const T *)job->rois + r * 4;
        int64_t image;
        tl_convert(&image, TL_INT64,
                   tl_pointer_add(job->batch->data, (ptrdiff_t)r, job->batch->dtype),
                   job->batch->dtype);
        const T *const plane =
            (const T *)job->src + ((size_t)image * job->channels + c) * job->in[0] * job->in[1];
        T *dst = (T *)job->dst + unit * size[0] * size[1];
        const extent columns =
            NAME(extent_of, c)(&job->param, (C)LOAD(roi[0]), (C)LOAD(roi[2]), size[1]);
        const extent rows =
            NAME(extent_of, c)(&job->param, (C)LOAD(roi[1]), (C)LOAD(roi[3]), size[0]);
        for (int i = 0; i < size[0]; i++)
            for (int j = 0; j < size[1] && !tl_poll_after(&poll, 8); j++)
                *dst++ = STORE((C)NAME(roi_bin, c)(job, plane, rows, columns, i, j, &poll));
    }
}

static T NAME(max_of, c)(const T *plane, int width, const int *y, const int *x)
{
    if (y[0] >= y[1] || x[0] >= x[1])
        return STORE((C)0);
    C max = LOAD(plane[(size_t)y[0] * width + x[0]]);
    for (int i = y[0]; i < y[1]; i++)
        for (int j = x[0]; j < x[1]; j++) {
            const C value = LOAD(plane[(size_t)i * width + j]);
            max = value > max ? value : max;
        }
    return STORE(max);
}

void NAME(tl_roi_maxpool, c)(void *arg, size_t begin, size_t end)
{
    const tl_roi_job *const job = arg;
    const int *const size = job->param.size;
    tl_poll poll = tl_poll_of(job->stop);
    for (size_t unit = begin; unit < end; unit++) {
        const T *const roi = (const T *)job->rois + unit / job->channels * 5;
        const size_t c = (size_t)LOAD(roi[0]) * job->channels + unit % job->channels;
        const T *const plane = (const T *)job->src + c * job->in[0] * job->in[1];
        T *dst = (T *)job->dst + unit * size[0] * size[1];
        double start[2], bin[2];
        for (int i = 0; i < 2; i++) {
            start[i] = round((double)LOAD(roi[2 - i]) * job->param.scale);
            const double last = round((double)LOAD(roi[4 - i]) * job->param.scale);
            bin[i] = fmax(last - start[i] + 1, 1) / size[i];
        }
        for (int i = 0; i < size[0]; i++)
            for (int j = 0; j < size[1]; j++) {
                int y[2], x[2];
                pooled_bin(start[0], bin[0], i, job->in[0], &y[0], &y[1]);
                pooled_bin(start[1], bin[1], j, job->in[1], &x[0], &x[1]);
                if (tl_poll_after(&poll, area_of(y, x) + 8))
                    return;
                *dst++ = NAME(max_of, c)(plane, job->in[1], y, x);
            }
    }
}

// Interpolates bilinearly at a position; elements outside are 0.
static double NAME(linear_at, c)(const T *plane, int height, int width, double y, double x)
{
    if (!(y > -1 && y < height && x > -1 && x < width))
        return 0;
    const int y0 = (int)floor(y), x0 = (int)floor(x);
    double sum = 0;
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++) {
            const double weight = (i ? y - y0 : y0 + 1 - y) * (j ? x - x0 : x0 + 1 - x);
            const int row = y0 + i, column = x0 + j;
            if (weight != 0 && row >= 0 && row < height && column >= 0 && column < width)
                sum += weight * (double)LOAD(plane[(size_t)row * width + column]);
        }
    return sum;
}

// Interpolates the elements of one channel at one kernel position.
static void NAME(deform_tap, c)(const tl_deform_job *job, const T *plane, const T *offset,
                                const T *mask, int i, int j, T *dst)
{
    const tl_windows *const w = &job->windows;
    const size_t len = (size_t)job->out[0] * job->out[1];
    for (size_t p = 0; p < len; p++) {
        const int64_t oy = (int64_t)(p / job->out[1]), ox = (int64_t)(p % job->out[1]);
        const double y = (double)(oy * w->stride[0] - w->padding[0] + (int64_t)i * w->dilation[0]) +
                         (double)LOAD(offset[p]);
        const double x = (double)(ox * w->stride[1] - w->padding[1] + (int64_t)j * w->dilation[1]) +
                         (double)LOAD(offset[len + p]);
        const double value = NAME(linear_at, c)(plane, job->in[0], job->in[1], y, x);
        dst[p] = STORE((C)(mask ? value * (double)LOAD(mask[p]) : value));
    }
}

void NAME(tl_deform_columns, c)(void *arg, size_t begin, size_t end)
{
    const tl_deform_job *const job = arg;
    const int kh = job->windows.size[0], kw = job->windows.size[1];
    const size_t taps = (size_t)kh * kw, len = (size_t)job->out[0] * job->out[1];
    for (size_t unit = begin; unit < end; unit++) {
        const size_t image = unit / job->channels, c = unit % job->channels;
        const size_t group = image * job->group + c / (job->channels / job->group);
        const T *const plane = (const T *)job->src + unit * job->in[0] * job->in[1];
        const T *const offset = (const T *)job->offset + group * taps * 2 * len;
        const T *const mask = job->mask ? (const T *)job->mask + group * taps * len : NULL;
        T *const dst = (T *)job->dst + unit * taps * len;
        for (size_t k = 0; k < taps && !tl_stop_is_requested(job->stop); k++)
            NAME(deform_tap, c)
        (job, plane, offset + k * 2 * len, mask ? mask + k * len : NULL, (int)(k / kw),
         (int)(k % kw), dst + k * len);
    }
}

// The sum of the elements of all windows at position `at`.
static double NAME(sum_at, c)(const tl_col2im_job *job, const T *src, const int *at, tl_poll *poll)
{
    int taps[TL_MAX_SPATIAL] = {0};
    double sum = 0;
    do {
        const ptrdiff_t window = window_at(job, at, taps);
        if (window >= 0)
            sum += (double)LOAD(src[window]);
        src += job->n_windows;
    } while (!tl_poll_after(poll, 8) && tl_next_tap(taps, job->windows.size, job->windows.n));
    return sum;
}

void NAME(tl_col2im, c)(void *arg, size_t begin, size_t end)
{
    const tl_col2im_job *const job = arg;
    tl_poll poll = tl_poll_of(job->stop);
    for (size_t p = begin; p < end; p++) {
        const T *const src = (const T *)job->src + p * job->taps * job->n_windows;
        T *dst = (T *)job->dst + p * job->out_plane;
        int at[TL_MAX_SPATIAL] = {0};
        do
            *dst++ = STORE((C)NAME(sum_at, c)(job, src, at, &poll));
        while (!poll.is_stopped && tl_next_tap(at, job->out, job->windows.n));
    }
}

#endif
