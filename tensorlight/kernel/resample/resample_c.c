// SPDX-License-Identifier: Apache-2.0
// Resampling in plain C: the definition. TL_RESAMPLE_NEAREST resamples all axes at once, a filter
// one axis after another, the middle one of [outer, in, inner].

#ifndef T // once

#include <math.h>

#include "kernel/resample/resample.h"

// The row of src that `row` of dst is copied from, or -1 for the fill value.
static ptrdiff_t nearest_src_row(const tl_nearest_job *job, size_t row)
{
    ptrdiff_t src_row = 0, step = 1;
    for (int i = job->ndim - 2; i >= 0; i--) {
        const int at = (int)(row % (size_t)job->out[i]);
        const int index = job->indices[i] ? job->indices[i][at] : at;
        if (index < 0)
            return -1;
        row /= (size_t)job->out[i];
        src_row += index * step;
        step *= job->in[i];
    }
    return src_row;
}

// A copy serves all types of its size, so those of TL_FLOAT are among them. Filters compute
// integers of more than 8 bits in double.
#define TL_TUNED_ALL
#define TL_TEMPLATE "kernel/resample/resample_c.c"
#include "tensor/tl_each_uint.inc.h"
#define TL_TAG f64
#include "tensor/tl_one_type.inc.h"
#define TL_TAG f32
#include "tensor/tl_one_type.inc.h"

#else // for each type

#if !TL_IS_FLOAT

// Nearest neighbour, for one element size

static void NAME(nearest_row, c)(const tl_nearest_job *job, ptrdiff_t src_row, T *restrict dst,
                                 T fill)
{
    const int last = job->ndim - 1, out = job->out[last];
    const int *const indices = job->indices[last];
    const T *const src = (const T *)job->src + src_row * job->in[last];
    if (src_row < 0)
        for (int x = 0; x < out; x++)
            dst[x] = fill;
    else if (!indices)
        memcpy(dst, src, (size_t)out * sizeof(T));
    else
        for (int x = 0; x < out; x++)
            dst[x] = indices[x] < 0 ? fill : src[indices[x]];
}

void NAME(tl_resample_nearest, c)(void *arg, size_t begin, size_t end)
{
    const tl_nearest_job *const job = arg;
    const size_t out = (size_t)job->out[job->ndim - 1];
    T fill;
    memcpy(&fill, &job->fill, sizeof(T));
    T *dst = (T *)job->dst + begin * out;
    ptrdiff_t last_row = -2;
    for (size_t row = begin; row < end; row++, dst += out) {
        const ptrdiff_t src_row = nearest_src_row(job, row);
        if (src_row == last_row)
            memcpy(dst, dst - out, out * sizeof(T));
        else
            NAME(nearest_row, c)(job, src_row, dst, fill);
        last_row = src_row;
    }
}

#else

// Filters along one axis

// dst [n] = the sum of weights[k] * src [indices[k], n]; elements of weight 0 are not read.
static void NAME(mix_lines, c)(const T *src, T *restrict dst, size_t n, const int *indices,
                               const double *weights, int n_taps)
{
    int is_first = 1;
    for (int k = 0; k < n_taps; k++) {
        if (weights[k] == 0)
            continue;
        const T *restrict const line = src + (size_t)indices[k] * n;
        const T weight = (T)weights[k];
        if (is_first)
            for (size_t x = 0; x < n; x++)
                dst[x] = weight * line[x];
        else
            for (size_t x = 0; x < n; x++)
                dst[x] += weight * line[x];
        is_first = 0;
    }
    for (size_t x = 0; x < n && is_first; x++)
        dst[x] = 0;
}

// The same along the last axis, for adjacent elements.
static void NAME(mix_elements, c)(const T *src, T *restrict dst, const tl_filter_job *job)
{
    const int n = job->table.n;
    const int *indices = job->table.indices;
    const double *weights = job->table.weights;
    for (size_t x = 0; x < job->out; x++, indices += n, weights += n) {
        T sum = 0;
        for (int k = 0; k < n; k++)
            if (weights[k] != 0)
                sum += (T)weights[k] * src[indices[k]];
        dst[x] = sum;
    }
}

void NAME(tl_resample_filter, c)(void *arg, size_t begin, size_t end)
{
    const tl_filter_job *const job = arg;
    const int n = job->table.n;
    for (size_t unit = begin; unit < end; unit++) {
        if (job->inner == 1) {
            NAME(mix_elements, c)
            ((const T *)job->src + unit * job->in, (T *)job->dst + unit * job->out, job);
            continue;
        }
        const size_t outer = unit / job->out, at = unit % job->out * n;
        NAME(mix_lines, c)
        ((const T *)job->src + outer * job->in * job->inner, (T *)job->dst + unit * job->inner,
         job->inner, job->table.indices + at, job->table.weights + at, n);
    }
}

void NAME(tl_resample_away_from_0, c)(T *sums, size_t n)
{
    // Exceeds the rounding error of 8-bit integers in float and of up to 32-bit ones in double.
    // For wider ones it is at most a unit in the last place.
    const double more = sizeof(T) == sizeof(float) ? 0x1p-10 : 0x1p-18;
    for (size_t i = 0; i < n; i++)
        sums[i] += (T)copysign(more, (double)sums[i]);
}

#endif

#endif
