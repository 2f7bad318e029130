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

#define TL_TEMPLATE        "kernel/convnd/convnd_c.inc.h"
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
