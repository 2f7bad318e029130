// SPDX-License-Identifier: Apache-2.0
// Ranges of tensors, by min and max, percentiles, or entropy; and the quantization of weights.

#include "quantize/ln_quantize_range.h"

#include <math.h>

#include "lightnet/ln_util.h"

/* Steps of unsigned 8 bits; magnitudes of signed ones, symmetric. */
enum { STEPS = 255, MAX_WEIGHT = 127 };

/* ---- what is seen ---- */

void ln_quantize_see(ln_quantize_seen *seen, const float *data, size_t len)
{
    seen->n += len;
    for (size_t i = 0; i < len; i++) {
        if (!isfinite(data[i]))
            seen->is_not_finite = 1;
        else if (data[i] < seen->least)
            seen->least = data[i];
        else if (data[i] > seen->most)
            seen->most = data[i];
    }
}

int ln_quantize_begin_bins(ln_quantize_seen *seen)
{
    seen->bins = ln_alloc_array(LN_QUANTIZE_BINS, sizeof(*seen->bins));
    return seen->bins ? 0 : -1;
}

// In double: the difference of two floats may exceed their range.
static double width_of_bin(const ln_quantize_seen *seen)
{
    return ((double)seen->most - seen->least) / LN_QUANTIZE_BINS;
}

static int bin_of(const ln_quantize_seen *seen, double width, double value)
{
    const double at = width > 0 ? (value - seen->least) / width : 0;
    return at <= 0 ? 0 : at >= LN_QUANTIZE_BINS ? LN_QUANTIZE_BINS - 1 : (int)at;
}

void ln_quantize_count(ln_quantize_seen *seen, const float *data, size_t len)
{
    const double width = width_of_bin(seen);
    for (size_t i = 0; i < len; i++)
        if (isfinite(data[i]))
            seen->bins[bin_of(seen, width, data[i])]++;
}

void ln_quantize_seen_clear(ln_quantize_seen *seen)
{
    ln_free(seen->bins);
    *seen = (ln_quantize_seen){0};
}

/* ---- ranges ---- */

typedef struct range {
    double least, most;
} range;

// At least 0 alone, which quantizes to a number exactly.
static ln_quantize_step step_of_range(range r)
{
    const double width = fmax(r.most, 0) - fmin(r.least, 0);
    const float scale = (float)(width / STEPS);
    if (!(scale > 0) || !isfinite(scale))
        return (ln_quantize_step){.scale = 1};
    const double zero = nearbyint(-fmin(r.least, 0) / scale);
    return (ln_quantize_step){.scale = scale, .zero = (int)fmin(fmax(zero, 0), STEPS)};
}

static double sum_of(const double *bins, int from, int to)
{
    double sum = 0;
    for (int i = from; i < to; i++)
        sum += bins[i];
    return sum;
}

// The bins from `*first` to before `*end` leave out at most a share of the values at each end.
static range percentile_range(const ln_quantize_seen *seen, double percentile)
{
    const double width = width_of_bin(seen);
    const double allowed =
        sum_of(seen->bins, 0, LN_QUANTIZE_BINS) * (1 - fmin(percentile, 100) / 100);
    int first = 0, end = LN_QUANTIZE_BINS;
    double below = seen->bins[0], above = seen->bins[end - 1];
    while (first < end - 1 && below <= allowed)
        below += seen->bins[++first];
    while (end - 1 > first && above <= allowed)
        above += seen->bins[--end - 1];
    return (range){seen->least + first * width, seen->least + end * width};
}

/* ---- entropy ---- */

/* Thresholds of this share of the largest magnitude are tried, in as many steps. */
enum { LEAST_SHARE = 16, SHARES = 128 };

/* A part of the histogram. */
typedef struct part {
    int first, end;
} part;

// The range of values up to a threshold, k / SHARES of the largest magnitude.
static range range_within(const ln_quantize_seen *seen, int k)
{
    const double threshold = (double)fmaxf(seen->most, -seen->least) * k / SHARES;
    return (range){fmax(seen->least, -threshold), fmin(seen->most, threshold)};
}

static part part_of(const ln_quantize_seen *seen, range r)
{
    const double width = width_of_bin(seen);
    return (part){bin_of(seen, width, r.least),
                  bin_of(seen, width, nextafter(r.most, r.least)) + 1};
}

// The count of a bin of the part, to whose ends what lies outside is clipped.
static double clipped(const double *bins, part p, double below, double above, int i)
{
    return bins[i] + (i == p.first ? below : 0) + (i == p.end - 1 ? above : 0);
}

// Bins that share a step of 8 bits have the mean of those that are not empty. Returns the terms of
// the divergence of these bins, from `a` to before `b`.
static double divergence_of_step(const double *bins, part p, double below, double above, int a,
                                 int b)
{
    double sum = 0, divergence = 0;
    int n = 0;
    for (int i = a; i < b; i++) {
        sum += bins[i];
        n += clipped(bins, p, below, above, i) > 0;
    }
    for (int i = a; i < b; i++) {
        const double count = clipped(bins, p, below, above, i);
        // Clipped values alone have no counterpart: one value stands for it.
        if (count > 0)
            divergence += count * log(count / fmax(sum / n, 1));
    }
    return divergence;
}

// Of the values as they are clipped from those inside, each spread over the bins of its step.
static double divergence(const ln_quantize_seen *seen, part p)
{
    const double below = sum_of(seen->bins, 0, p.first);
    const double above = sum_of(seen->bins, p.end, LN_QUANTIZE_BINS);
    const double inside = sum_of(seen->bins, p.first, p.end), all = below + inside + above;
    const int n = p.end - p.first;
    double sum = inside > 0 ? all * log(inside / all) : 0;
    for (int step = 0; step <= STEPS; step++)
        sum += divergence_of_step(seen->bins, p, below, above, p.first + n * step / (STEPS + 1),
                                  p.first + n * (step + 1) / (STEPS + 1));
    return sum;
}

static range entropy_range(const ln_quantize_seen *seen)
{
    range best = range_within(seen, SHARES);
    double least = divergence(seen, part_of(seen, best));
    for (int k = SHARES - 1; k >= LEAST_SHARE; k--) {
        const range r = range_within(seen, k);
        const double d = divergence(seen, part_of(seen, r));
        if (d < least) {
            least = d;
            best = r;
        }
    }
    return best;
}

ln_quantize_step ln_quantize_step_of(const ln_quantize_seen *seen, const ln_quantize_method *method)
{
    if (seen->bins && method->kind == LN_QUANTIZE_PERCENTILE)
        return step_of_range(percentile_range(seen, method->percentile));
    if (seen->bins && method->kind == LN_QUANTIZE_ENTROPY)
        return step_of_range(entropy_range(seen));
    return step_of_range((range){seen->least, seen->most});
}

/* ---- weights ---- */

static float largest_of(const float *weight, size_t before, size_t n, size_t after, size_t c)
{
    float largest = 0;
    for (size_t b = 0; b < before; b++)
        for (size_t a = 0; a < after; a++)
            largest = fmaxf(largest, fabsf(weight[(b * n + c) * after + a]));
    return largest;
}

static int8_t quantized(float value, float scale)
{
    return (int8_t)fmaxf(fminf(nearbyintf(value / scale), MAX_WEIGHT), -MAX_WEIGHT);
}

void ln_quantize_weight(const float *weight, size_t before, size_t n, size_t after, float *scale,
                        int8_t *dst)
{
    for (size_t c = 0; c < n; c++) {
        const float step = largest_of(weight, before, n, after, c) / MAX_WEIGHT;
        scale[c] = step > 0 ? step : 1;
    }
    for (size_t b = 0; b < before; b++)
        for (size_t c = 0; c < n; c++)
            for (size_t a = 0; a < after; a++) {
                const size_t i = (b * n + c) * after + a;
                dst[i] = quantized(weight[i], scale[c]);
            }
}
