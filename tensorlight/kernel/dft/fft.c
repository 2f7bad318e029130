// SPDX-License-Identifier: Apache-2.0
// The fast Fourier transform (FFT) of one line: mixed-radix Stockham, and Bluestein.

#include "kernel/dft/fft.h"

#include <math.h>
#include <string.h>

#include "kernel/tl_poll.h"

// Lengths with a larger prime factor are faster with Bluestein's three longer transforms.
enum { MAX_RADIX = 31 };

// The cost of a sine and a cosine in simple operations, for tl_poll_after.
enum { SINCOS_WORK = 32 };

static const double pi = 3.14159265358979323846;

// The plan

// Writes the factors of `n`, fours first, to `factors` (unless NULL), and returns how many; -1: one
// exceeds MAX_RADIX.
static int factorize(size_t n, size_t *factors)
{
    int n_factors = 0;
    for (size_t p = 4; n > 1; p = p == 4 ? 2 : p == 2 ? 3 : p + 2) {
        if (p > MAX_RADIX)
            return -1;
        for (; n % p == 0; n /= p, n_factors++)
            if (factors)
                factors[n_factors] = p;
    }
    return n_factors;
}

// The length of the mixed-radix transforms for length `n`: n, or for Bluestein a power of 2.
static size_t transform_length(size_t n)
{
    if (factorize(n, NULL) >= 0)
        return n;
    size_t m = 1;
    while (m < 2 * n - 1)
        m *= 2;
    return m;
}

size_t tl_fft_table_len(size_t n)
{
    const size_t m = transform_length(n);
    return m == n ? 2 * m : 4 * m + 2 * n;
}

size_t tl_fft_work_len(size_t n)
{
    const size_t m = transform_length(n);
    return m == n ? 2 * m : 4 * m;
}

// Mixed radix

// A line of complex numbers as two arrays.
typedef struct line {
    double *re, *im;
} line;

// A Stockham stage of radix p: x [p, m, s] -> y [m, p, s]. For each (i, q) of m and s, transforms
// x[.., i, q] and multiplies by the twiddle factors. s: the product of the radices so far.
typedef struct stage {
    const tl_fft *fft;
    size_t p, m, s;
    line x, y;
} stage;

static void radix_2(const stage *t)
{
    const size_t m = t->m, s = t->s;
    for (size_t i = 0; i < m; i++) {
        const double wr = t->fft->cos[i * s], wi = t->fft->sin[i * s];
        const double *const ar = t->x.re + i * s, *const br = ar + m * s;
        const double *const ai = t->x.im + i * s, *const bi = ai + m * s;
        double *const yr = t->y.re + 2 * i * s, *const yi = t->y.im + 2 * i * s;
        for (size_t q = 0; q < s; q++) {
            const double dr = ar[q] - br[q], di = ai[q] - bi[q];
            yr[q] = ar[q] + br[q];
            yi[q] = ai[q] + bi[q];
            yr[q + s] = dr * wr - di * wi;
            yi[q + s] = dr * wi + di * wr;
        }
    }
}

static void radix_4(const stage *t)
{
    const size_t m = t->m, s = t->s;
    const double *const cosine = t->fft->cos, *const sine = t->fft->sin;
    for (size_t i = 0; i < m; i++) {
        const double w1r = cosine[i * s], w1i = sine[i * s];
        const double w2r = cosine[2 * i * s], w2i = sine[2 * i * s];
        const double w3r = cosine[3 * i * s], w3i = sine[3 * i * s];
        const double *const xr = t->x.re + i * s, *const xi = t->x.im + i * s;
        double *const yr = t->y.re + 4 * i * s, *const yi = t->y.im + 4 * i * s;
        for (size_t q = 0; q < s; q++) {
            const size_t b = q + m * s, c = b + m * s, d = c + m * s;
            const double acr = xr[q] + xr[c], aci = xi[q] + xi[c];
            const double a_cr = xr[q] - xr[c], a_ci = xi[q] - xi[c];
            const double bdr = xr[b] + xr[d], bdi = xi[b] + xi[d];
            const double b_dr = xr[b] - xr[d], b_di = xi[b] - xi[d];
            const double z1r = a_cr + b_di, z1i = a_ci - b_dr; // a - c - i (b - d)
            const double z2r = acr - bdr, z2i = aci - bdi;
            const double z3r = a_cr - b_di, z3i = a_ci + b_dr;
            yr[q] = acr + bdr;
            yi[q] = aci + bdi;
            yr[q + s] = z1r * w1r - z1i * w1i;
            yi[q + s] = z1r * w1i + z1i * w1r;
            yr[q + 2 * s] = z2r * w2r - z2i * w2i;
            yi[q + 2 * s] = z2r * w2i + z2i * w2r;
            yr[q + 3 * s] = z3r * w3r - z3i * w3i;
            yi[q + 3 * s] = z3r * w3i + z3i * w3r;
        }
    }
}

// Root of unity and twiddle factor together are one element of the table.
static void radix_any(const stage *t)
{
    const size_t p = t->p, m = t->m, s = t->s, n = t->fft->m;
    for (size_t k = 0; k < m * p; k++) {
        const size_t i = k / p, r = k % p;
        double *const yr = t->y.re + k * s, *const yi = t->y.im + k * s;
        memcpy(yr, t->x.re + i * s, s * sizeof(*yr));
        memcpy(yi, t->x.im + i * s, s * sizeof(*yi));
        const double w0r = t->fft->cos[r * i * s % n], w0i = t->fft->sin[r * i * s % n];
        for (size_t q = 0; q < s; q++) {
            const double xr = yr[q], xi = yi[q];
            yr[q] = xr * w0r - xi * w0i;
            yi[q] = xr * w0i + xi * w0r;
        }
        for (size_t j = 1; j < p; j++) {
            const size_t at = r * (i * s + j * (n / p)) % n;
            const double wr = t->fft->cos[at], wi = t->fft->sin[at];
            const double *const xr = t->x.re + (i + m * j) * s, *const xi =
                                                                    t->x.im + (i + m * j) * s;
            for (size_t q = 0; q < s; q++) {
                yr[q] += xr[q] * wr - xi[q] * wi;
                yi[q] += xr[q] * wi + xi[q] * wr;
            }
        }
    }
}

// Transforms `x` [m] in place; `y` [m] is scratch memory.
static void transform(const tl_fft *fft, line x, line y)
{
    const line result = x;
    stage t = {fft, 1, fft->m, 1, x, y};
    for (int f = 0; f < fft->n_factors && !tl_stop_is_requested(fft->stop); f++) {
        t.p = fft->factors[f];
        t.m /= t.p;
        (t.p == 4 ? radix_4 : t.p == 2 ? radix_2 : radix_any)(&t);
        t.s *= t.p;
        const line swapped = t.x;
        t.x = t.y;
        t.y = swapped;
    }
    if (t.x.re != result.re) {
        memcpy(result.re, t.x.re, fft->m * sizeof(*result.re));
        memcpy(result.im, t.x.im, fft->m * sizeof(*result.im));
    }
}

// Bluestein

// 2 j k = j^2 + k^2 - (k - j)^2 makes X[k] = c[k] * sum of (x[j] c[j]) / c[k - j], where
// c[j] = e^(-pi i j^2 / n), the chirp: a convolution with the kernel 1 / c. Computes c, and the
// transform of the kernel, circular with length m.
static void init_bluestein(tl_fft *fft, double *work)
{
    const size_t n = fft->n, m = fft->m;
    memset(fft->kernel_re, 0, m * sizeof(double));
    memset(fft->kernel_im, 0, m * sizeof(double));
    tl_poll poll = tl_poll_of(fft->stop);
    for (size_t j = 0; j < n && !tl_poll_after(&poll, SINCOS_WORK); j++) {
        // The angle repeats every 2 n, and small angles are exact.
        const double angle = -pi * (double)((unsigned long long)j * j % (2 * n)) / (double)n;
        fft->chirp_re[j] = cos(angle);
        fft->chirp_im[j] = sin(angle);
        const size_t mirrored = j ? m - j : 0;
        fft->kernel_re[j] = fft->kernel_re[mirrored] = fft->chirp_re[j];
        fft->kernel_im[j] = fft->kernel_im[mirrored] = -fft->chirp_im[j];
    }
    transform(fft, (line){fft->kernel_re, fft->kernel_im}, (line){work, work + m});
}

// dst[j] = (re[j], im[j]) * (factor_re[j], factor_im[j]) for j < n; in place is allowed.
static void multiply(const double *re, const double *im, const double *factor_re,
                     const double *factor_im, line dst, size_t n)
{
    for (size_t j = 0; j < n; j++) {
        const double xr = re[j], xi = im[j];
        dst.re[j] = xr * factor_re[j] - xi * factor_im[j];
        dst.im[j] = xr * factor_im[j] + xi * factor_re[j];
    }
}

// Transforms re, im [n] in place; work: [4 * m].
static void transform_bluestein(const tl_fft *fft, double *re, double *im, double *work)
{
    const size_t n = fft->n, m = fft->m;
    const line a = {work, work + m}, scratch = {work + 2 * m, work + 3 * m};
    memset(work, 0, 2 * m * sizeof(*work));
    multiply(re, im, fft->chirp_re, fft->chirp_im, a, n);
    transform(fft, a, scratch);
    multiply(a.re, a.im, fft->kernel_re, fft->kernel_im, a, m);
    transform(fft, (line){a.im, a.re}, scratch); // the inverse, but for the factor 1 / m
    for (size_t j = 0; j < n; j++) {
        a.re[j] /= (double)m;
        a.im[j] /= (double)m;
    }
    multiply(a.re, a.im, fft->chirp_re, fft->chirp_im, (line){re, im}, n);
}

// Public functions

void tl_fft_init(tl_fft *fft, size_t n, double *table, double *work, const tl_stop *stop)
{
    const size_t m = transform_length(n);
    *fft = (tl_fft){.n = n, .m = m, .cos = table, .sin = table + m, .stop = stop};
    tl_poll poll = tl_poll_of(stop);
    fft->n_factors = factorize(m, fft->factors);
    for (size_t j = 0; j < m && !tl_poll_after(&poll, SINCOS_WORK); j++) {
        const double angle = -2 * pi * (double)j / (double)m;
        fft->cos[j] = cos(angle);
        fft->sin[j] = sin(angle);
    }
    if (m == n)
        return;
    fft->kernel_re = table + 2 * m;
    fft->kernel_im = table + 3 * m;
    fft->chirp_re = table + 4 * m;
    fft->chirp_im = table + 4 * m + n;
    init_bluestein(fft, work);
}

void tl_fft_run(const tl_fft *fft, double *re, double *im, double *work)
{
    if (fft->m == fft->n)
        transform(fft, (line){re, im}, (line){work, work + fft->m});
    else
        transform_bluestein(fft, re, im, work);
}
