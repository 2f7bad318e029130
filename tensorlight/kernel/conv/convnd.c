// SPDX-License-Identifier: Apache-2.0
// Convolution, deconvolution and integer convolution over any number of axes.
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

#include <assert.h>
#include <limits.h>
#include <stdint.h>

#include "kernel/tl_axis.h"
#include "kernel/tl_kernel.h"
#include "kernel/tl_poll.h"
#include "kernel/tl_windows.h"
#include "tensor/tl_result.h"
#include "tensorlight/tl_vision.h"

// Shapes: src [n, group * ic, in..], dst [n, group * oc, out..]; weight [group * oc, ic, size..],
// of a deconvolution [group * ic, oc, size..]; bias [group * oc] or NULL.
typedef struct convnd_job {
    const void *src, *weight, *bias;
    void *dst;
    int group, ic, oc; // channels of a group
    int in[TL_MAX_SPATIAL], out[TL_MAX_SPATIAL];
    tl_windows windows;
    const tl_stop *stop;
    // of conv_int:
    int32_t src_zero;
    const void *weight_zero; // [1] or [group * oc], or NULL
    int weight_zero_step;    // 0 or 1
    int is_weight_signed;
} convnd_job;

// Computes the lines (all axes but the last) begin .. end-1 of dst for the convnd_job at `arg`.
typedef void convnd_func(void *arg, size_t begin, size_t end);

#define TL_CONV_INT_KERNELS(ROW, arg)          \
    ROW(arg, conv_int_i8_c, TL_INT8, TL_ISA_C) \
    ROW(arg, conv_int_u8_c, TL_UINT8, TL_ISA_C)

enum { PIECE = 1024 };

// Where a line of dst lies.
typedef struct line {
    size_t image;
    int channel;
    int at[TL_MAX_SPATIAL]; // on all axes but the last
} line;

static line line_at(const convnd_job *job, size_t index)
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

// The position of src along axis `i` that a tap joins with position `at` of dst, or -1.
static int joined(const convnd_job *job, int is_transposed, int i, int at, int tap)
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

// The line of a plane of src that the taps of all axes but the last join with `l`, or -1.
static ptrdiff_t joined_line(const convnd_job *job, int is_transposed, const line *l,
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

// Along the last axis: the piece of a line of dst has `len` positions from `start`.
static tl_window_meeting meet(const convnd_job *job, int is_transposed, int start, int len, int tap)
{
    const int last = job->windows.n - 1;
    const int64_t shift = (int64_t)tap * job->windows.dilation[last] - job->windows.padding[last];
    return tl_window_meet(is_transposed, job->in[last], job->windows.stride[last], shift, start,
                          len);
}

// The index of the first weight of the last axis, after the taps of the others, between channel
// `c` of a group and channel `oc` of dst.
static size_t weight_index(const convnd_job *job, int is_transposed, int c, int oc, const int *taps)
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

// A weight of channel `oc`, less its zero point.
static int32_t weight_less_zero(const convnd_job *job, int oc, size_t i)
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

#define TL_TEMPLATE        "kernel/conv/convnd.c"
#define R                  T
#define A                  C
#define FIRST(job, oc)     (A)((job)->bias ? LOAD(((const T *)(job)->bias)[oc]) : 0)
#define ELEMENT(job, t)    LOAD(t)
#define WEIGHT(job, oc, i) LOAD(((const T *)(job)->weight)[i])
#define RESULT(a)          STORE(a)
#define WORK               convnd
#define TRANSPOSED         0
#include "tensor/tl_each_float.inc.h"
#undef WORK
#undef TRANSPOSED
#define WORK       deconvnd
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
#define WORK               conv_int
#define TRANSPOSED         0
#define TL_TAG             i8
#include "tensor/tl_one_type.inc.h"
#define TL_TAG u8
#include "tensor/tl_one_type.inc.h"

TL_PLAIN_TABLE(pick_conv, convnd_func, convnd, FLT)
TL_PLAIN_TABLE(pick_deconv, convnd_func, deconvnd, FLT)
TL_KERNEL_TABLE(pick_int, convnd_func, TL_CONV_INT_KERNELS)

// Shared by all of them

static convnd_job make_job(const tl_exec *exec, const tl_tensor *src, const tl_tensor *weight,
                           const tl_tensor *bias, tl_tensor *dst, const tl_windows *windows,
                           int group)
{
    convnd_job job = {.src = src->data,
                      .weight = weight->data,
                      .bias = bias ? bias->data : NULL,
                      .dst = dst->data,
                      .group = group,
                      .ic = src->dims[1] / group,
                      .oc = dst->dims[1] / group,
                      .windows = *windows,
                      .stop = exec ? exec->stop : NULL};
    memcpy(job.in, src->dims + 2, (size_t)windows->n * sizeof(int));
    memcpy(job.out, dst->dims + 2, (size_t)windows->n * sizeof(int));
    return job;
}

static void run(const tl_exec *exec, convnd_func *func, convnd_job *job, const tl_tensor *dst)
{
    if (dst->len == 0)
        return;
    const size_t width = (size_t)dst->dims[dst->ndim - 1];
    double sums = (double)job->ic * width;
    for (int i = 0; i < job->windows.n; i++)
        sums *= job->windows.size[i];
    tl_parallel(exec, (size_t)dst->len / width, tl_axis_grain(sums < 1e6 ? (size_t)sums : 1000000),
                func, job);
}

// Convolution

int tl_exec_convnd(const tl_exec *exec, const tl_tensor *src, const tl_tensor *weight,
                   const tl_tensor *bias, tl_tensor *dst, const tl_windows *windows, int group)
{
    assert(src->dtype == dst->dtype && src->dtype == weight->dtype);
    convnd_job job = make_job(exec, src, weight, bias, dst, windows, group);
    run(exec, pick_conv(exec, src->dtype), &job, dst);
    return 0;
}

static int set_extents(const tl_tensor *src, const tl_windows *windows, int *dims)
{
    for (int i = 0; i < windows->n; i++)
        if ((dims[2 + i] = tl_windows_length(windows, i, src->dims[2 + i], 0)) < 0)
            return -1;
    return 0;
}

int tl_convnd_shape(const tl_tensor *src, const tl_tensor *weight, const tl_tensor *bias,
                    const tl_windows *windows, int group, int *dims)
{
    return tl_check_conv(src, weight, bias, windows, group, 0, dims) < 0
               ? -1
               : set_extents(src, windows, dims);
}

tl_tensor *tl_tensor_convnd(const tl_tensor *src, const tl_tensor *weight, const tl_tensor *bias,
                            tl_tensor *dst, const tl_windows *windows, int group)
{
    int dims[TL_MAXDIM];
    if (tl_check_conv_data(src, weight, bias, dst) < 0 ||
        tl_convnd_shape(src, weight, bias, windows, group, dims) < 0)
        return NULL;
    tl_tensor *const result = tl_result_begin(dst, src->ndim, dims, src->dtype);
    return tl_result_end(
        result, dst, result ? tl_exec_convnd(NULL, src, weight, bias, result, windows, group) : -1);
}

// Deconvolution

int tl_exec_deconvnd(const tl_exec *exec, const tl_tensor *src, const tl_tensor *weight,
                     const tl_tensor *bias, tl_tensor *dst, const tl_windows *windows, int group)
{
    assert(src->dtype == dst->dtype && src->dtype == weight->dtype);
    convnd_job job = make_job(exec, src, weight, bias, dst, windows, group);
    run(exec, pick_deconv(exec, src->dtype), &job, dst);
    return 0;
}

int tl_deconvnd_shape(const tl_tensor *src, const tl_tensor *weight, const tl_tensor *bias,
                      const tl_windows *windows, int group, const int *output_padding, int *dims)
{
    if (tl_check_conv(src, weight, bias, windows, group, 1, dims) < 0 ||
        (output_padding && tl_check_at_least("output_padding", output_padding, windows->n, 0) < 0))
        return -1;
    for (int i = 0; i < windows->n; i++) {
        const int more = output_padding ? output_padding[i] : 0;
        dims[2 + i] = tl_windows_transposed_length(windows, i, src->dims[2 + i], more);
        if (dims[2 + i] < 0)
            return -1;
    }
    return 0;
}

tl_tensor *tl_tensor_deconvnd(const tl_tensor *src, const tl_tensor *weight, const tl_tensor *bias,
                              tl_tensor *dst, const tl_windows *windows, int group,
                              const int *output_padding)
{
    int dims[TL_MAXDIM];
    if (tl_check_conv_data(src, weight, bias, dst) < 0 ||
        tl_deconvnd_shape(src, weight, bias, windows, group, output_padding, dims) < 0)
        return NULL;
    tl_tensor *const result = tl_result_begin(dst, src->ndim, dims, src->dtype);
    return tl_result_end(result, dst,
                         result ? tl_exec_deconvnd(NULL, src, weight, bias, result, windows, group)
                                : -1);
}

// Convolution of integers

int tl_exec_conv_int(const tl_exec *exec, const tl_conv_int_args *args, tl_tensor *dst,
                     const tl_windows *windows, int group)
{
    const tl_tensor *const zero = args->src_zero, *const weight_zero = args->weight_zero;
    assert(dst->dtype == TL_INT32);
    convnd_job job = make_job(exec, args->src, args->weight, args->bias, dst, windows, group);
    if (zero)
        tl_convert(&job.src_zero, TL_INT32, zero->data, zero->dtype);
    job.weight_zero = weight_zero ? weight_zero->data : NULL;
    job.weight_zero_step = weight_zero && weight_zero->len > 1;
    job.is_weight_signed = args->weight->dtype == TL_INT8;
    run(exec, pick_int(exec, args->src->dtype), &job, dst);
    return 0;
}

static int check_8_bits(const tl_tensor *t, const char *name)
{
    if (t->dtype != TL_INT8 && t->dtype != TL_UINT8)
        return tl_fail("'%s' has dtype %s, expected TL_INT8 or TL_UINT8", name,
                       tl_dtype_name(t->dtype));
    return 0;
}

// -1 with a reason: a zero point (NULL: none) that is not one for `of`.
static int check_zero(const tl_tensor *zero, const char *name, const tl_tensor *of, int channels)
{
    if (!zero)
        return 0;
    if (zero->dtype != of->dtype)
        return tl_fail("'%s' has dtype %s, expected %s", name, tl_dtype_name(zero->dtype),
                       tl_dtype_name(of->dtype));
    if (zero->len != 1 && zero->len != channels)
        return channels == 1
                   ? tl_fail("'%s' has %d elements, expected 1", name, zero->len)
                   : tl_fail("'%s' has %d elements, expected 1 or %d", name, zero->len, channels);
    return 0;
}

int tl_conv_int_shape(const tl_conv_int_args *args, const tl_windows *windows, int group, int *dims)
{
    if (check_8_bits(args->src, "src") < 0 || check_8_bits(args->weight, "weight") < 0 ||
        tl_check_channels(args->src, args->weight, windows, group, dims) < 0 ||
        check_zero(args->src_zero, "src_zero", args->src, 1) < 0 ||
        check_zero(args->weight_zero, "weight_zero", args->weight, dims[1]) < 0 ||
        tl_check_conv_bias(args->bias, dims[1], TL_INT32) < 0)
        return -1;
    return set_extents(args->src, windows, dims);
}

tl_tensor *tl_tensor_conv_int(const tl_conv_int_args *args, tl_tensor *dst,
                              const tl_windows *windows, int group)
{
    int dims[TL_MAXDIM];
    if (tl_check_conv_data(args->src, args->weight, args->bias, dst) < 0 ||
        (args->src_zero && tl_check_data(args->src_zero, "src_zero") < 0) ||
        (args->weight_zero && tl_check_data(args->weight_zero, "weight_zero") < 0) ||
        tl_conv_int_shape(args, windows, group, dims) < 0)
        return NULL;
    tl_tensor *const result = tl_result_begin(dst, args->src->ndim, dims, TL_INT32);
    return tl_result_end(result, dst,
                         result ? tl_exec_conv_int(NULL, args, result, windows, group) : -1);
}

#else // for each type

// Adds the contribution of one tap of the last axis from a line of src.
static void LOCAL(add)(const convnd_job *job, A *restrict acc, const T *restrict src,
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

// Adds the contributions of line `index` of a group's planes, which taps of the outer axes select,
// to the piece.
static void LOCAL(add_line)(const convnd_job *job, A *acc, int start, int len, const line *l,
                            ptrdiff_t index, const int *taps, tl_poll *poll)
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
            if (tl_poll_after(poll, (size_t)len))
                return;
            if (m.begin < m.end)
                LOCAL(add)(job, acc, src, m, WEIGHT(job, l->channel, first + j));
        }
    }
}

static void LOCAL(sum_piece)(const convnd_job *job, A *acc, int start, int len, const line *l,
                             tl_poll *poll)
{
    static const int zeros[TL_MAX_SPATIAL];
    int taps[TL_MAX_SPATIAL] = {0};
    for (int k = 0; k < len; k++)
        acc[k] = FIRST(job, l->channel);
    do {
        const ptrdiff_t index = joined_line(job, TRANSPOSED, l, taps);
        if (index >= 0)
            LOCAL(add_line)(job, acc, start, len, l, index, taps, poll);
    } while (!tl_poll_after(poll, 1) &&
             tl_next_tap(taps, zeros, job->windows.size, job->windows.n - 1));
}

static void NAME(WORK, c)(void *arg, size_t begin, size_t end)
{
    const convnd_job *const job = arg;
    const int width = job->out[job->windows.n - 1];
    tl_poll poll = tl_poll_of(job->stop);
    A acc[PIECE];
    for (size_t k = begin; k < end && !poll.is_stopped; k++) {
        const line l = line_at(job, k);
        R *const dst = (R *)job->dst + k * width;
        for (int start = 0; start < width && !poll.is_stopped;) {
            const int len = tl_min(PIECE, width - start);
            LOCAL(sum_piece)(job, acc, start, len, &l, &poll);
            for (int x = 0; x < len; x++)
                dst[start + x] = RESULT(acc[x]);
            start += len;
        }
    }
}

#endif
