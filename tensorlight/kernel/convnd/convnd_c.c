// SPDX-License-Identifier: Apache-2.0
// Convolution, deconvolution and integer convolution over any number of axes in plain C: the
// definition.
//
// A line of dst is summed piece by piece, on the stack in the type of the sums. Along one axis, tap
// k joins
//
//     convolution:    src position = dst position * stride + k * dilation - padding
//     deconvolution:  dst position = src position * stride + k * dilation - padding
//
// so on all axes but the last a tap meets one line of src, or none; the last axis is multiplied and
// added along that line. A sum begins with the bias and runs over the taps of the first axes, the
// channels, and the taps of the last axis.

#ifndef T // once

#include "kernel/convnd/convnd.h"
#include "kernel/tl_window.h"
#include "kernel/tl_windows.h"

enum { PIECE = 1024 };

/** Where a line of dst lies. */
typedef struct line {
    size_t image;
    int channel;
    int at[TL_MAX_SPATIAL]; /* on all axes but the last */
} line;

static line line_at(const tl_convnd_job *job, size_t index)
{
    line l = {0};
    for (int i = job->windows.n - 2; i >= 0; i--) {
        l.at[i] = (int)(index % job->out[i]);
        index /= job->out[i];
    }
    const size_t channels = (size_t)job->oc * job->group;
    l.channel = (int)(index % channels);
    l.image = index / channels;
    return l;
}

/** The position of src along axis `i` that a tap joins with position `at` of dst, or -1. */
static int joined(const tl_convnd_job *job, int is_transposed, int i, int at, int tap)
{
    const int stride = job->windows.stride[i];
    const int64_t shift = (int64_t)tap * job->windows.dilation[i] - job->windows.padding[i];
    int64_t position = (int64_t)at * stride + shift;
    if (is_transposed) {
        if ((at - shift) % stride != 0)
            return -1;
        position = (at - shift) / stride;
    }
    return position >= 0 && position < job->in[i] ? (int)position : -1;
}

/** The line of a plane of src that the taps of all axes but the last join with `l`, or -1. */
static ptrdiff_t joined_line(const tl_convnd_job *job, int is_transposed, const line *l,
                             const int *taps)
{
    ptrdiff_t index = 0;
    for (int i = 0; i < job->windows.n - 1; i++) {
        const int position = joined(job, is_transposed, i, l->at[i], taps[i]);
        if (position < 0)
            return -1;
        index = index * job->in[i] + position;
    }
    return index;
}

/** Along the last axis: the piece of a line of dst has `len` positions from `start`. */
static tl_window_meeting meet(const tl_convnd_job *job, int is_transposed, int start, int len,
                              int tap)
{
    const int last = job->windows.n - 1;
    const int64_t shift = (int64_t)tap * job->windows.dilation[last] - job->windows.padding[last];
    return tl_window_meet(is_transposed, job->in[last], job->windows.stride[last], shift, start,
                          len);
}

/** The index of the first weight of the last axis, behind the taps of the others, between channel
 *  `c` of a group and channel `oc` of dst. */
static size_t weight_index(const tl_convnd_job *job, int is_transposed, int c, int oc,
                           const int *taps)
{
    const size_t group = (size_t)(oc / job->oc);
    size_t index =
        is_transposed ? (group * job->ic + c) * job->oc + oc % job->oc : (size_t)oc * job->ic + c;
    for (int i = 0; i < job->windows.n - 1; i++)
        index = index * job->windows.size[i] + taps[i];
    return index * job->windows.size[job->windows.n - 1];
}

static int32_t load_8(const void *data, size_t i, int is_signed)
{
    return is_signed ? ((const int8_t *)data)[i] : ((const uint8_t *)data)[i];
}

/** A weight of channel `oc`, less its zero point. */
static int32_t weight_less_zero(const tl_convnd_job *job, int oc, size_t i)
{
    const int32_t weight = load_8(job->weight, i, job->is_weight_signed);
    if (!job->weight_zero)
        return weight;
    return weight -
           load_8(job->weight_zero, (size_t)oc * job->weight_zero_step, job->is_weight_signed);
}

// The template takes: R the type of a line of dst, A that of sums, the first sum, an element of src
// and a weight as A, a sum as R.

#define LOCAL_(work, name) work##_##name
#define LOCAL2(work, name) LOCAL_(work, name)
#define LOCAL(name)        NAME(LOCAL2(WORK, name), c)

#define TL_TEMPLATE        "kernel/convnd/convnd_c.c"
#define R                  T
#define A                  C
#define FIRST(job, oc)     (A)((job)->bias ? LOAD(((const T *)(job)->bias)[oc]) : 0)
#define ELEMENT(job, t)    LOAD(t)
#define WEIGHT(job, oc, i) LOAD(((const T *)(job)->weight)[i])
#define RESULT(a)          STORE(a)
#define WORK               tl_convnd
#define TRANSPOSED         0
#include "tensor/tl_each_float.inc.h"
#undef WORK
#undef TRANSPOSED
#define WORK       tl_deconvnd
#define TRANSPOSED 1
#include "tensor/tl_each_float.inc.h"
#undef WORK
#undef TRANSPOSED
#undef R
#undef A
#undef FIRST
#undef ELEMENT
#undef WEIGHT
#undef RESULT

// Sums wrap, which signed integers may not.
#define R                  int32_t
#define A                  uint32_t
#define FIRST(job, oc)     (A)((job)->bias ? ((const int32_t *)(job)->bias)[oc] : 0)
#define ELEMENT(job, t)    (A)((int32_t)(t) - (job)->src_zero)
#define WEIGHT(job, oc, i) (A) weight_less_zero(job, oc, i)
#define RESULT(a)          (R)(a)
#define WORK               tl_conv_int
#define TRANSPOSED         0
#define TL_TAG             i8
#include "tensor/tl_one_type.inc.h"
#define TL_TAG u8
#include "tensor/tl_one_type.inc.h"

#else // for each type

/** Adds what one tap of the last axis contributes from a line of src. */
static void LOCAL(add)(const tl_convnd_job *job, A *restrict acc, const T *restrict src,
                       tl_window_meeting m, A w)
{
    acc += m.begin * m.acc_step + m.acc_offset;
    src += m.begin * m.src_step + m.src_offset;
    const ptrdiff_t n = m.end - m.begin, acc_step = m.acc_step, src_step = m.src_step;
    if (acc_step == 1 && src_step == 1) // becomes vector code
        for (ptrdiff_t k = 0; k < n; k++)
            acc[k] += w * ELEMENT(job, src[k]);
    else
        for (ptrdiff_t k = 0; k < n; k++)
            acc[k * acc_step] += w * ELEMENT(job, src[k * src_step]);
    (void)job;
}

/** Adds what the taps of all axes but the last join with the piece: line `index` of the planes of
 *  a group. */
static void LOCAL(add_line)(const tl_convnd_job *job, A *acc, int start, int len, const line *l,
                            ptrdiff_t index, const int *taps)
{
    const int last = job->windows.n - 1;
    const size_t width = (size_t)job->in[last];
    size_t plane = width;
    for (int i = 0; i < last; i++)
        plane *= job->in[i];
    const size_t group = l->image * job->group + l->channel / job->oc;
    const T *src = (const T *)job->src + group * job->ic * plane + index * width;
    for (int c = 0; c < job->ic; c++, src += plane) {
        const size_t first = weight_index(job, TRANSPOSED, c, l->channel, taps);
        for (int j = 0; j < job->windows.size[last]; j++) {
            const tl_window_meeting m = meet(job, TRANSPOSED, start, len, j);
            if (m.begin < m.end)
                LOCAL(add)(job, acc, src, m, WEIGHT(job, l->channel, first + j));
        }
    }
}

static void LOCAL(sum_piece)(const tl_convnd_job *job, A *acc, int start, int len, const line *l)
{
    static const int zeros[TL_MAX_SPATIAL];
    int taps[TL_MAX_SPATIAL] = {0};
    for (int k = 0; k < len; k++)
        acc[k] = FIRST(job, l->channel);
    do {
        const ptrdiff_t index = joined_line(job, TRANSPOSED, l, taps);
        if (index >= 0)
            LOCAL(add_line)(job, acc, start, len, l, index, taps);
    } while (tl_next_tap(taps, zeros, job->windows.size, job->windows.n - 1));
}

void NAME(WORK, c)(void *arg, size_t begin, size_t end)
{
    const tl_convnd_job *const job = arg;
    const int width = job->out[job->windows.n - 1];
    A acc[PIECE];
    for (size_t k = begin; k < end; k++) {
        const line l = line_at(job, k);
        R *const dst = (R *)job->dst + k * width;
        for (int start = 0; start < width;) {
            const int len = tl_smaller(PIECE, width - start);
            LOCAL(sum_piece)(job, acc, start, len, &l);
            for (int x = 0; x < len; x++)
                dst[start + x] = RESULT(acc[x]);
            start += len;
        }
    }
}

#endif
