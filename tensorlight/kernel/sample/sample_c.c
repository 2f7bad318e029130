// SPDX-License-Identifier: Apache-2.0
// Sampling at given positions in plain C: the definition.

#include <math.h>

#include "kernel/sample/sample.h"
#include "kernel/tl_windows.h"

/* ---- positions on a grid ---- */

/** The coordinate -1 .. 1 as a position. Each step rounds to the type of the grid, which decides
 *  whether a position that no float expresses counts as a tie. */
static double denormalized(const tl_grid_job *job, double x, int in)
{
    if (job->grid->dtype == TL_DOUBLE)
        return job->aligns_corners ? (x + 1) / 2 * (in - 1) : ((x + 1) * in - 1) / 2;
    const float f = (float)x + 1;
    return (double)(job->aligns_corners ? f / 2 * (float)(in - 1) : (f * (float)in - 1) / 2);
}

/** Mirrors at low and high as often as it takes. */
static double reflected(double x, double low, double high)
{
    const double range = high - low;
    if (!(range > 0) || !isfinite(x))
        return low;
    const double way = fmod(fabs(x - low), 2 * range);
    return way <= range ? low + way : high - (way - range);
}

/** A position as one inside src, or, of TL_OUTSIDE_ZERO and between the taps of TL_RESAMPLE_CUBIC,
 *  at most a few elements outside. */
static double brought_inside(const tl_grid_job *job, double x, int in)
{
    const double half = job->aligns_corners ? 0 : 0.5;
    if (job->outside == TL_OUTSIDE_BORDER && job->mode != TL_RESAMPLE_CUBIC)
        return x > 0 ? (x < in - 1 ? x : in - 1) : 0; // NaN is 0
    if (job->outside == TL_OUTSIDE_REFLECT)
        return x >= -half && x <= in - 1 + half ? x : reflected(x, -half, in - 1 + half);
    return x > -8 ? (x < in + 8.0 ? x : in + 8.0) : -8;
}

/** The element that index `i`, a few elements outside at most, stands for; -1: none. */
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

/** Keys' kernel with a = -0.75. */
static double cubic(double x)
{
    const double a = -0.75;
    x = fabs(x);
    if (x <= 1)
        return ((a + 2) * x - (a + 3)) * x * x + 1;
    return x < 2 ? ((x - 5) * x + 8) * x * a - 4 * a : 0;
}

/** What is sampled along one axis. */
typedef struct axis_taps {
    int n, indices[4];
    double weights[4];
} axis_taps;

static axis_taps taps_at(const tl_grid_job *job, double coordinate, int in)
{
    double x = denormalized(job, coordinate, in);
    if (job->mode == TL_RESAMPLE_NEAREST) { // ties to even, for any number of axes
        x = brought_inside(job, rint(x), in);
        return (axis_taps){1, {index_inside(job, (int)x, in)}, {1}};
    }
    x = brought_inside(job, x, in);
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

/** An element of a plane, and its weight. */
typedef struct sample {
    size_t index;
    double weight;
} sample;

enum { MAX_SAMPLES = 64 };

/** What position `p` of all images samples; returns how many. */
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

/* ---- linear between the elements of an image ---- */

/** The corners around a position inside, clamped, and their weights. */
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

/* ---- regions ---- */

/** A region along one axis: bins of `bin` elements from `start`, each sampled `samples` times. */
typedef struct extent {
    double start, bin;
    int samples;
} extent;

/** Where bin `k` of a rounded region begins and ends, cut at the image. */
static void pooled_bin(double start, double bin, int k, int in, int *begin, int *end)
{
    const double from = floor(k * bin) + start, to = ceil((k + 1) * bin) + start;
    *begin = from > 0 ? (from < in ? (int)from : in) : 0;
    *end = to > 0 ? (to < in ? (int)to : in) : 0;
}

/* ---- windows put back ---- */

/** The window along axis `i` whose tap `tap` meets position `at`, or -1. */
static int window_with(const tl_col2im_job *job, int i, int at, int tap)
{
    const tl_windows *const w = &job->windows;
    const int64_t start = (int64_t)at + w->padding[i] - (int64_t)tap * w->dilation[i];
    if (start < 0 || start % w->stride[i] != 0 || start / w->stride[i] >= job->n_along[i])
        return -1;
    return (int)(start / w->stride[i]);
}

/** The window whose taps meet position `at`, or -1. */
static ptrdiff_t window_at(const tl_col2im_job *job, const int *at, const int *taps)
{
    ptrdiff_t index = 0;
    for (int i = 0; i < job->windows.n; i++) {
        const int window = window_with(job, i, at[i], taps[i]);
        if (window < 0)
            return -1;
        index = index * job->n_along[i] + window;
    }
    return index;
}

#define TL_TEMPLATE "kernel/sample/sample_c.inc.h"
#include "tensor/tl_each_float.inc.h"
