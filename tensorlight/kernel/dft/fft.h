// SPDX-License-Identifier: Apache-2.0
// The fast Fourier transform of one line of complex numbers of any length, in double.
//
//     X[k] = sum of x[j] e^(-2 pi i j k / n) over j, in O(n log n)
//
// Lengths with small prime factors are decomposed factor by factor (Stockham's form, which needs
// no reordering). All others become a convolution, which is computed by transforms of a power of
// two (Bluestein). Sources: Cochran et al.: What is the fast Fourier transform?, 1967;
// Bluestein: A linear filtering approach to the computation of the discrete Fourier transform,
// 1970.
//
// The inverse is the same with real and imaginary parts swapped, before and after, and divided by
// n.

#pragma once

#include <stddef.h>

#include "tensorlight/tl_exec.h"

enum { TL_FFT_MAX_FACTORS = 32 };

typedef struct tl_fft {
    size_t n;                           // the length of a line
    size_t m;                           // of the transforms: n, or a power of 2 (Bluestein)
    int n_factors;                      // of m
    size_t factors[TL_FFT_MAX_FACTORS]; // their product is m
    double *cos, *sin;                  // [m]: of -2 pi j / m
    double *chirp_re, *chirp_im;        // [n]: e^(-pi i j^2 / n); NULL where m is n
    double *kernel_re, *kernel_im;      // [m]: the transform of the convolution kernel
    const tl_stop *stop;                // polled in long lines; then the result is garbage
} tl_fft;

/** The number of doubles that tl_fft_init needs as `table`, and tl_fft_run as `work`. n >= 1. */
size_t tl_fft_table_len(size_t n);
size_t tl_fft_work_len(size_t n);

/** Prepares transforms of lines of `n` >= 1 numbers; `table` stays in use, `work` does not. `stop`
 * may be NULL. */
void tl_fft_init(tl_fft *fft, size_t n, double *table, double *work, const tl_stop *stop);

/** Transforms re, im [n] in place. */
void tl_fft_run(const tl_fft *fft, double *re, double *im, double *work);
