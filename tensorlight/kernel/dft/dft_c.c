// SPDX-License-Identifier: Apache-2.0
// The Fourier transform of lines in plain C.

#ifndef T // once

#include "kernel/dft/dft.h"

#include <string.h>

#define TL_TEMPLATE "kernel/dft/dft_c.c"
#include "tensor/tl_each_float.inc.h"

#else // for each type

static void NAME(read_line, c)(const tl_dft_job *job, const T *src, double *re, double *im)
{
    const tl_dft_lines *const lines = &job->src_lines;
    const T *const window = job->window;
    const size_t n = job->fft->n;
    memset(re, 0, n * sizeof(*re));
    memset(im, 0, n * sizeof(*im));
    for (size_t j = 0; j < lines->len; j++)
        re[j] = (double)LOAD(src[j * lines->step]);
    for (size_t j = 0; lines->parts == 2 && j < lines->len; j++)
        im[j] = (double)LOAD(src[j * lines->step + 1]);
    for (size_t j = 0; window && j < lines->len; j++) {
        re[j] *= (double)LOAD(window[j]);
        im[j] *= (double)LOAD(window[j]);
    }
    for (size_t j = 1; job->mirrored && j < n - n / 2; j++) {
        re[n - j] = re[j];
        im[n - j] = -im[j];
    }
}

static void NAME(write_line, c)(const tl_dft_job *job, const double *re, const double *im, T *dst)
{
    const tl_dft_lines *const lines = &job->dst_lines;
    const double n = job->inverse ? (double)job->fft->n : 1;
    for (size_t k = 0; k < lines->len; k++)
        dst[k * lines->step] = STORE((C)(re[k] / n));
    for (size_t k = 0; lines->parts == 2 && k < lines->len; k++)
        dst[k * lines->step + 1] = STORE((C)(im[k] / n));
}

void NAME(tl_dft, c)(const tl_dft_job *job, size_t begin, size_t end, double *work)
{
    double *const re = work, *const im = work + job->fft->n, *const rest = im + job->fft->n;
    for (size_t i = begin; i < end && !tl_stop_is_requested(job->stop); i++) {
        const size_t outer = i / job->n_inner, inner = i % job->n_inner;
        const tl_dft_lines *const s = &job->src_lines, *const d = &job->dst_lines;
        const T *const src = (const T *)job->src + outer * s->outer + inner * s->inner;
        T *const dst = (T *)job->dst + outer * d->outer + inner * d->inner;
        NAME(read_line, c)(job, src, re, im);
        tl_fft_run(job->fft, job->inverse ? im : re, job->inverse ? re : im, rest);
        NAME(write_line, c)(job, re, im, dst);
    }
}

#endif
