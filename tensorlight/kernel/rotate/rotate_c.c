// SPDX-License-Identifier: Apache-2.0
// Rotations by angles in plain C.

#ifndef T // once

#include "kernel/rotate/rotate.h"

#define TL_TEMPLATE "kernel/rotate/rotate_c.c"
#ifdef TL_SIMD_SET
#define TL_TAG f32
#include "tensor/tl_one_type.inc.h"
#else
#include "tensor/tl_each_float.inc.h"
#endif

#else // for each type

// Rotates `n` pairs, `step` apart, of which the second element is `apart` after the first one. The
// arguments after n are constants. The same for cosines c and sines s; without `is_whole` a pair
// shares them.
TL_INLINE void NAME(rotate_pairs, TL_SET)(const T *x, const T *c, const T *s, T *y, size_t n,
                                          size_t step, size_t apart, const int is_whole)
{
    const size_t angle_step = is_whole ? step : 1, angle_apart = is_whole ? apart : 0;
    for (size_t i = 0; i < n; i++) {
        const C x1 = LOAD(x[i * step]), x2 = LOAD(x[i * step + apart]);
        const size_t at = i * angle_step;
        y[i * step] = STORE(x1 * LOAD(c[at]) - x2 * LOAD(s[at]));
        y[i * step + apart] =
            STORE(x2 * LOAD(c[at + angle_apart]) + x1 * LOAD(s[at + angle_apart]));
    }
}

static void NAME(rotate_row, TL_SET)(const tl_rotate_job *job, const T *x, const T *c, const T *s,
                                     T *restrict y)
{
    const size_t half = job->len / 2;
    if (job->is_interleaved && job->is_whole)
        NAME(rotate_pairs, TL_SET)(x, c, s, y, half, 2, 1, 1);
    else if (job->is_interleaved)
        NAME(rotate_pairs, TL_SET)(x, c, s, y, half, 2, 1, 0);
    else if (job->is_whole)
        NAME(rotate_pairs, TL_SET)(x, c, s, y, half, 1, half, 1);
    else
        NAME(rotate_pairs, TL_SET)(x, c, s, y, half, 1, half, 0);
}

void NAME(tl_rotate, TL_SET)(void *arg, size_t begin, size_t end)
{
    const tl_rotate_job *const job = arg;
    const size_t len = job->len, angles = job->is_whole ? len : len / 2;
    for (size_t row = begin; row < end; row++) {
        const size_t at = tl_rotate_row(job, row) * angles;
        NAME(rotate_row, TL_SET)
        (job, (const T *)job->src + row * len, (const T *)job->cosines + at,
         (const T *)job->sines + at, (T *)job->dst + row * len);
    }
}

#endif
