// SPDX-License-Identifier: Apache-2.0
// Local response normalization in plain C, up to PLACES neighbouring places at a time.

#ifndef T // once

#include "kernel/lrn/lrn.h"

#include <math.h>

enum { PLACES = 256 };

#define pow_of(x, y) _Generic((x), float : powf, double : pow)(x, y)

#define TL_TEMPLATE "kernel/lrn/lrn_c.c"
#include "tensor/tl_each_float.inc.h"

#else // for each type

/** The places from `place` on, `n` of them, of channel `channel` in the image at `src`. */
static void NAME(normalize, c)(const tl_lrn_job *job, const T *src, T *dst, size_t channel,
                               size_t place, size_t n)
{
    const tl_lrn_param *const p = job->param;
    const size_t before = (size_t)(p->size - 1) / 2, after = (size_t)p->size / 2;
    const size_t begin = channel > before ? channel - before : 0;
    const size_t end = tl_smaller_size(job->axis.len, channel + after + 1);
    C sum[PLACES] = {0};
    for (size_t k = begin; k < end; k++)
        for (size_t j = 0; j < n; j++) {
            const C x = LOAD(src[k * job->axis.inner + place + j]);
            sum[j] += x * x;
        }
    const C factor = (C)(p->alpha / p->size);
    for (size_t j = 0; j < n; j++) {
        const size_t at = channel * job->axis.inner + place + j;
        const C base = (C)p->bias + factor * sum[j];
        dst[at] = STORE(LOAD(src[at]) / pow_of(base, (C)p->beta));
    }
}

void NAME(tl_lrn, c)(void *arg, size_t begin, size_t end)
{
    const tl_lrn_job *const job = arg;
    const size_t image = job->axis.len * job->axis.inner;
    for (size_t row = begin; row < end; row++) {
        const size_t first = row / job->axis.len * image;
        for (size_t place = 0; place < job->axis.inner; place += PLACES)
            NAME(normalize, c)
        (job, (const T *)job->src + first, (T *)job->dst + first, row % job->axis.len, place,
         tl_smaller_size(PLACES, job->axis.inner - place));
    }
}

#endif
