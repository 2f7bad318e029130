// SPDX-License-Identifier: Apache-2.0
// Kernels of the Fourier transform: lines of a tensor are read, transformed and written.

#ifndef DFT_H
#define DFT_H

#include "kernel/dft/fft.h"
#include "kernel/tl_kernel.h"

/** Where the lines [.., inner] of numbers lie in a tensor; distances in elements. */
typedef struct tl_dft_lines {
    size_t outer, inner; /* from a line to the next one of that axis */
    size_t step;         /* from a number to the next one */
    size_t len;          /* numbers of a line */
    size_t parts;        /* of a number: 1 or 2 */
} tl_dft_lines;

typedef struct tl_dft_job {
    const void *src, *window; /* window [src_lines.len] or NULL */
    void *dst;
    tl_dft_lines src_lines, dst_lines; /* at most fft->n numbers; those that src lacks are 0, */
    size_t n_inner;                    /* of the lines of both */
    int inverse, mirrored;             /* or, mirrored, conjugates of those on the other side */
    const tl_fft *fft;
    const tl_stop *stop; /* looked at before each line */
} tl_dft_job;

/** Transforms the lines begin .. end-1; `work` [2 * fft->n + tl_fft_work_len(fft->n)]. */
typedef void tl_dft_func(const tl_dft_job *job, size_t begin, size_t end, double *work);

#define TL_DFT_KERNELS(ROW, arg) TL_KERNELS(ROW, arg, tl_dft, FLT, PLAIN)
TL_DFT_KERNELS(TL_KERNEL_DECLARE, tl_dft_func)

#endif
