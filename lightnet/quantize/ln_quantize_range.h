// SPDX-License-Identifier: Apache-2.0
// The range of a tensor's values in the calibration samples, and its scale and zero point.
//
//     ln_quantize_stats stats = {0};
//     for (each sample)
//         ln_quantize_stats_extend(&stats, data, len); // first pass: min and max
//     if (!ln_quantize_stats_begin_bins(&stats))
//         for (each sample)
//             ln_quantize_stats_count(&stats, data, len); // second pass: the histogram
//     const ln_quantize_method method = {LN_QUANTIZE_ENTROPY};
//     ln_quantize_step step = ln_quantize_step_of(&stats, &method);
//     ln_quantize_stats_clear(&stats);

#pragma once

#include <stddef.h>
#include <stdint.h>

/** Bins of a histogram, of equal width, from the minimum to the maximum; the min number of values
 * that fill them. */
enum { LN_QUANTIZE_BINS = 2048, LN_QUANTIZE_FEW = 8 * LN_QUANTIZE_BINS };

typedef enum ln_quantize_kind {
    LN_QUANTIZE_MINMAX,     // from the minimum to the maximum
    LN_QUANTIZE_PERCENTILE, // leaves out a share of the values at each end
    LN_QUANTIZE_ENTROPY,    // min Kullback-Leibler divergence of the distributions
} ln_quantize_kind;

typedef struct ln_quantize_method {
    ln_quantize_kind kind;
    double percentile; // of the values, at each end: 50 to 100
} ln_quantize_method;

/** Statistics of the values so far. All zero: no values. */
typedef struct ln_quantize_stats {
    float min, max;    // both include 0
    size_t n;          // values
    int is_not_finite; // a value was NaN or infinite
    double *bins;      // LN_QUANTIZE_BINS counts, or NULL
    double n_zero;     // of these, values that are 0
} ln_quantize_stats;

/** Scale and zero point: an 8-bit value q means (q - zero) * scale. */
typedef struct ln_quantize_step {
    float scale;
    int zero; // 0 to 255
} ln_quantize_step;

/** Extends the range to include the `len` values. */
void ln_quantize_stats_extend(ln_quantize_stats *stats, const float *data, size_t len);

/** Allocates the histogram of the range. -1 with the thread's last error: no memory. */
int ln_quantize_stats_begin_bins(ln_quantize_stats *stats);

/** Adds values, which must be within the range, to the histogram. */
void ln_quantize_stats_count(ln_quantize_stats *stats, const float *data, size_t len);

/** Scale and zero point of unsigned 8 bits. 0 is represented exactly. A range of 0 alone has scale
 * 1. Methods other than LN_QUANTIZE_MINMAX need the histogram. Source of the entropy method: S.
 * Migacz, "8-bit inference with TensorRT", GTC 2017; the threshold clips both ends of the range.
 * Zeros, which each range represents exactly, do not count; with fewer than LN_QUANTIZE_FEW other
 * values, the range is from min to max. */
ln_quantize_step ln_quantize_step_of(const ln_quantize_stats *stats,
                                     const ln_quantize_method *method);

/** Quantizes a weight of `n` channels, [before, n, after], to signed 8 bits: scale[c] is the max
 * absolute value of channel c divided by 127, or 1 where all are 0; values are rounded half to
 * even. Scales are at least 2^-12 of the largest one: the bias, as 32-bit integers of the product
 * of the scales of source and channel, does not exceed these in channels that are nearly 0. */
void ln_quantize_weight(const float *weight, size_t before, size_t n, size_t after, float *scale,
                        int8_t *dst);

/** Frees the histogram. */
void ln_quantize_stats_clear(ln_quantize_stats *stats);
