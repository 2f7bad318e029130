// SPDX-License-Identifier: Apache-2.0
// Sources of resampled elements: positions, filters, tables of indices and weights.
//
// A filter is centered at the position x. With base = ceil(x) - 1, tap k reads src[base + k], k =
// first .. 1 - first, with weight filter((base + k - x) / stretch).

#include <math.h>

#include "kernel/resample/resample.h"

static double position_of(const tl_resample_axis *axis, int i)
{
    return (i + axis->shift) * axis->span / axis->steps + axis->start;
}

// The same in float, which restores ties that double misses: only in float is 1.5 / 0.6f 2.5.
static float float_position_of(const tl_resample_axis *axis, int i)
{
    return (float)((i + axis->shift) * axis->span / axis->steps) + (float)axis->start;
}

static int64_t first_tap(const tl_resample_param *param, int axis)
{
    // Half the width of the filter.
    const double reach = param->axes[axis].stretch * (param->mode == TL_RESAMPLE_CUBIC ? 2 : 1);
    return (int64_t)floor(-reach) + 1;
}

int64_t tl_resample_taps(const tl_resample_param *param, int axis)
{
    return param->mode == TL_RESAMPLE_NEAREST ? 1 : 2 - 2 * first_tap(param, axis);
}

int tl_resample_is_identity(const tl_resample_param *param, int axis, int in, int out)
{
    const tl_resample_axis *const a = &param->axes[axis];
    return in == out && a->span == a->steps && a->shift + a->start == 0 && a->stretch == 1;
}

int tl_resample_is_outside(const tl_resample_param *param, int axis, int in, int i)
{
    // In float, a position that is beyond the border only by rounding is inside.
    const float x = float_position_of(&param->axes[axis], i);
    return !(x >= 0 && x <= (float)(in - 1));
}

static double rounded(double x, tl_rounding rounding)
{
    return rounding == TL_ROUND_HALF_DOWN ? ceil(x - 0.5)
           : rounding == TL_ROUND_HALF_UP ? floor(x + 0.5)
           : rounding == TL_ROUND_DOWN    ? floor(x)
                                          : ceil(x);
}

// The triangle (linear), and Keys' cubic convolution kernel.
static double filter(const tl_resample_param *param, double x)
{
    const double a = param->cubic_a;
    x = fabs(x);
    if (param->mode == TL_RESAMPLE_LINEAR)
        return x < 1 ? 1 - x : 0;
    if (x <= 1)
        return ((a + 2) * x - (a + 3)) * x * x + 1;
    return x < 2 ? ((x - 5) * x + 8) * x * a - 4 * a : 0;
}

static int clamped(double x, int in)
{
    return x > 0 ? x < in - 1 ? (int)x : in - 1 : 0;
}

// Scales the weights to the sum 1.
static void normalize(double *weights, int n)
{
    double sum = 0;
    for (int k = 0; k < n; k++)
        sum += weights[k];
    for (int k = 0; k < n; k++)
        weights[k] /= sum;
}

// Zeroes the weights of taps outside src, unless the others sum to 0.
static void exclude_outside(double *weights, int n, double first, int in)
{
    double inside = 0;
    for (int k = 0; k < n; k++)
        if (first + k >= 0 && first + k < in)
            inside += weights[k];
    for (int k = 0; k < n && inside != 0; k++)
        if (first + k < 0 || first + k >= in)
            weights[k] = 0;
}

// Computes the taps of a filter at position `x`.
static void fill_taps(const tl_resample_param *param, int axis, double x, int in, int n,
                      int *indices, double *weights)
{
    // Farther outside, all taps read the border element.
    x = x < -n ? -n : x > (double)in + n ? (double)in + n : x;
    const double base = ceil(x) - 1, first = base + (double)first_tap(param, axis);
    const double stretch = param->axes[axis].stretch;
    for (int k = 0; k < n; k++) {
        indices[k] = clamped(first + k, in);
        weights[k] = filter(param, (first + k - x) / stretch);
    }
    if (stretch > 1)
        normalize(weights, n);
    if (param->excludes_outside) {
        exclude_outside(weights, n, first, in);
        normalize(weights, n);
    }
}

void tl_resample_fill_table(const tl_resample_table *table, const tl_resample_param *param,
                            int axis, int in, int out)
{
    for (int i = 0; i < out; i++) {
        const size_t at = (size_t)i * table->n;
        if (table->weights)
            fill_taps(param, axis, position_of(&param->axes[axis], i), in, table->n,
                      table->indices + at, table->weights + at);
        else if (param->fills_outside && tl_resample_is_outside(param, axis, in, i))
            table->indices[at] = -1;
        else
            table->indices[at] =
                clamped(rounded(float_position_of(&param->axes[axis], i), param->rounding), in);
    }
}
