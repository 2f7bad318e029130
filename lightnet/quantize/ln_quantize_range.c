// SPDX-License-Identifier: Apache-2.0
// Ranges of tensors, by min and max, percentiles, or entropy; and the quantization of weights.

#include "quantize/ln_quantize_range.h"

#include <math.h>

#include "lightnet/ln_util.h"

// The max of unsigned 8 bits, and of symmetric signed ones.
enum { STEPS = 255, MAX_WEIGHT = 127 };

// Of the largest scale of a channel.
static const float least_scale = 0x1p-12f;

// Statistics

void ln_quantize_stats_extend(ln_quantize_stats *stats, const float *data, size_t len)
{
    stats->n += len;
    for (size_t i = 0; i < len; i++) {
        if (!isfinite(data[i]))
            stats->is_not_finite = 1;
        else if (data[i] < stats->min)
            stats->min = data[i];
        else if (data[i] > stats->max)
            stats->max = data[i];
    }
}

int ln_quantize_stats_begin_bins(ln_quantize_stats *stats)
{
    stats->bins = ln_alloc_array(LN_QUANTIZE_BINS, sizeof(*stats->bins));
    return stats->bins ? 0 : -1;
}

// In double: the difference of two floats may exceed their range.
static double width_of_bin(const ln_quantize_stats *stats)
{
    return ((double)stats->max - stats->min) / LN_QUANTIZE_BINS;
}

static int bin_of(const ln_quantize_stats *stats, double width, double value)
{
    const double at = width > 0 ? (value - stats->min) / width : 0;
    return at <= 0 ? 0 : at >= LN_QUANTIZE_BINS ? LN_QUANTIZE_BINS - 1 : (int)at;
}

void ln_quantize_stats_count(ln_quantize_stats *stats, const float *data, size_t len)
{
    const double width = width_of_bin(stats);
    for (size_t i = 0; i < len; i++)
        if (isfinite(data[i])) {
            stats->bins[bin_of(stats, width, data[i])]++;
            stats->n_zero += data[i] == 0;
        }
}

void ln_quantize_stats_clear(ln_quantize_stats *stats)
{
    ln_free(stats->bins);
    *stats = (ln_quantize_stats){0};
}

// Ranges

typedef struct range {
    double min, max;
} range;

// Extends the range to include 0, which must be represented exactly.
static ln_quantize_step step_of_range(range r)
{
    const double width = fmax(r.max, 0) - fmin(r.min, 0);
    const float scale = (float)(width / STEPS);
    if (!(scale > 0) || !isfinite(scale))
        return (ln_quantize_step){.scale = 1};
    const double zero = nearbyint(-fmin(r.min, 0) / scale);
    return (ln_quantize_step){.scale = scale, .zero = (int)fmin(fmax(zero, 0), STEPS)};
}

static double sum_of(const double *bins, int from, int to)
{
    double sum = 0;
    for (int i = from; i < to; i++)
        sum += bins[i];
    return sum;
}

// The bins from `first` to before `end`, which leave out at most a share of the values at each end.
static range percentile_range(const ln_quantize_stats *stats, double percentile)
{
    const double width = width_of_bin(stats);
    const double allowed =
        sum_of(stats->bins, 0, LN_QUANTIZE_BINS) * (1 - fmin(percentile, 100) / 100);
    int first = 0, end = LN_QUANTIZE_BINS;
    double below = stats->bins[0], above = stats->bins[end - 1];
    while (first < end - 1 && below <= allowed)
        below += stats->bins[++first];
    while (end - 1 > first && above <= allowed)
        above += stats->bins[--end - 1];
    return (range){stats->min + first * width, stats->min + end * width};
}

// Entropy

// The thresholds k / SHARES of the largest magnitude are tried, from MIN_SHARE / SHARES on.
enum { MIN_SHARE = 16, SHARES = 128 };

// The bins from `first` to before `end`.
typedef struct part {
    int first, end;
} part;

// The range of values up to a threshold, k / SHARES of the largest magnitude.
static range range_within(const ln_quantize_stats *stats, int k)
{
    const double threshold = (double)fmaxf(stats->max, -stats->min) * k / SHARES;
    return (range){fmax(stats->min, -threshold), fmin(stats->max, threshold)};
}

// The bins of the range: a bin that begins at r.max is not in it.
static part part_of(const ln_quantize_stats *stats, range r)
{
    const double width = width_of_bin(stats);
    return (part){bin_of(stats, width, r.min), bin_of(stats, width, nextafter(r.max, r.min)) + 1};
}

// The count of a bin of the part, after values outside are clipped to its ends.
static double clipped(const double *bins, part p, double below, double above, int i)
{
    return bins[i] + (i == p.first ? below : 0) + (i == p.end - 1 ? above : 0);
}

// Quantization replaces the bins of a step, `a` to before `b`, by the mean q of those that are not
// empty. Returns their sum of p log(p / q), p being the clipped count of a bin.
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
        // A bin of clipped values alone has mean 0: the min of 1 keeps the divergence finite.
        if (count > 0)
            divergence += count * log(count / fmax(sum / n, 1));
    }
    return divergence;
}

// The Kullback-Leibler divergence of the clipped histogram from the quantized one, times `all`: the
// sum of p log((p / all) / (q / inside)), since the p sum up to `all`, the q to `inside`.
static double divergence(const ln_quantize_stats *stats, part p)
{
    const double below = sum_of(stats->bins, 0, p.first);
    const double above = sum_of(stats->bins, p.end, LN_QUANTIZE_BINS);
    const double inside = sum_of(stats->bins, p.first, p.end), all = below + inside + above;
    const int n = p.end - p.first;
    double sum = inside > 0 ? all * log(inside / all) : 0;
    for (int step = 0; step <= STEPS; step++)
        sum += divergence_of_step(stats->bins, p, below, above, p.first + n * step / (STEPS + 1),
                                  p.first + n * (step + 1) / (STEPS + 1));
    return sum;
}

// The threshold with the least divergence, of bins without zeros.
static range best_threshold(const ln_quantize_stats *stats)
{
    range best = range_within(stats, SHARES);
    double min = divergence(stats, part_of(stats, best));
    for (int k = SHARES - 1; k >= MIN_SHARE; k--) {
        const range r = range_within(stats, k);
        const double d = divergence(stats, part_of(stats, r));
        if (d < min) {
            min = d;
            best = r;
        }
    }
    return best;
}

static range entropy_range(const ln_quantize_stats *stats)
{
    double *const at_zero = &stats->bins[bin_of(stats, width_of_bin(stats), 0)];
    if (sum_of(stats->bins, 0, LN_QUANTIZE_BINS) - stats->n_zero < LN_QUANTIZE_FEW)
        return (range){stats->min, stats->max};
    *at_zero -= stats->n_zero;
    const range best = best_threshold(stats);
    *at_zero += stats->n_zero;
    return best;
}

ln_quantize_step ln_quantize_step_of(const ln_quantize_stats *stats,
                                     const ln_quantize_method *method)
{
    if (stats->bins && method->kind == LN_QUANTIZE_PERCENTILE)
        return step_of_range(percentile_range(stats, method->percentile));
    if (stats->bins && method->kind == LN_QUANTIZE_ENTROPY)
        return step_of_range(entropy_range(stats));
    return step_of_range((range){stats->min, stats->max});
}

// Weights

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
    float largest = 0;
    for (size_t c = 0; c < n; c++) {
        scale[c] = largest_of(weight, before, n, after, c) / MAX_WEIGHT;
        largest = fmaxf(largest, scale[c]);
    }
    for (size_t c = 0; c < n; c++)
        scale[c] = scale[c] > 0 ? fmaxf(scale[c], largest * least_scale) : 1;
    for (size_t b = 0; b < before; b++)
        for (size_t c = 0; c < n; c++)
            for (size_t a = 0; a < after; a++) {
                const size_t i = (b * n + c) * after + a;
                dst[i] = quantized(weight[i], scale[c]);
            }
}
