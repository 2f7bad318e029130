// SPDX-License-Identifier: Apache-2.0
// N-D convolution, transposed convolution (deconvolution) and integer convolution.
//
// A plane of dst, over the last two axes, is computed tile by tile: up to TILE_SIZE sums, kept on
// the stack in their type. Each tap of the kernel multiplies a rectangle of src and adds it to a
// rectangle of the tile, row by row, BLOCK channels at a time, so that a sum is loaded once for
// four products. Along one axis, tap k relates
//
//     convolution:    src position = dst position * stride + k * dilation - padding
//     deconvolution:  dst position = src position * stride + k * dilation - padding
//
// so each is the other with src and dst exchanged. A sum starts with the bias and adds blocks of
// channels, within a block the taps, the first axis outermost, and for a tap the channels: all
// tiles have the same order of additions. A single spatial axis is computed as one row of a plane.

#ifndef T // included without a type: what all types share

#include "kernel/conv/conv.h"

#include <assert.h>
#include <limits.h>
#include <stdint.h>

#include "kernel/act/act.h"
#include "kernel/tl_axis.h"
#include "kernel/tl_kernel.h"
#include "kernel/tl_poll.h"
#include "kernel/tl_windows.h"
#include "tensor/tl_result.h"

// Shapes: src [n, group * ic, in..], dst [n, group * oc, out..]; weight [group * oc, ic, size..],
// of a deconvolution [group * ic, oc, size..]; bias [group * oc] or NULL. At least two axes.
typedef struct conv_job {
    const void *src, *weight, *bias;
    void *dst;
    int group, ic, oc; // channels of a group
    tl_window_job axes;
    size_t channel_len; // elements of a channel of src
    size_t taps;        // of the kernel
    size_t weight_step; // from the weights of a channel of src to those of the next
    const tl_stop *stop;
    // of conv_int:
    int32_t src_zero;
    const void *weight_zero; // [1] or [group * oc], or NULL
    int weight_zero_step;    // 0 or 1
    int is_weight_signed;
} conv_job;

// Computes the planes (image, channel, position on all axes but the last two) begin .. end-1 of dst
// for the conv_job at `arg`, without the activation.
typedef void conv_func(void *arg, size_t begin, size_t end);

#define TL_CONV_INT_KERNELS(ROW, arg)          \
    ROW(arg, conv_int_i8_c, TL_INT8, TL_ISA_C) \
    ROW(arg, conv_int_u8_c, TL_UINT8, TL_ISA_C)

enum { TILE_SIZE = 1024, BLOCK = 4 };

// The first source channel of a tile's group, counted over all images.
static size_t source_channel(const conv_job *job, const tl_window_tile *t)
{
    return t->channel / job->oc * job->ic;
}

// The channel of a tile in its image.
static int channel_of(const conv_job *job, const tl_window_tile *t)
{
    return (int)(t->channel % ((size_t)job->oc * job->group));
}

// The index of the first weight of output channel `oc` for the first source channel of its group.
static size_t first_weight(const conv_job *job, int oc)
{
    const size_t group = (size_t)(oc / job->oc);
    return (job->axes.is_transposed ? group * job->ic * job->oc + oc % job->oc
                                    : (size_t)oc * job->ic) *
           job->taps;
}

static int32_t load_8(const void *data, size_t i, int is_signed)
{
    return is_signed ? ((const int8_t *)data)[i] : ((const uint8_t *)data)[i];
}

// A weight of output channel `oc` minus its zero point.
static int32_t weight_minus_zero(const conv_job *job, int oc, size_t i)
{
    const int32_t weight = load_8(job->weight, i, job->is_weight_signed);
    if (!job->weight_zero)
        return weight;
    return weight -
           load_8(job->weight_zero, (size_t)oc * job->weight_zero_step, job->is_weight_signed);
}

// Parameters of the template: R, the type of dst, and A, that of sums; FIRST, the initial sum,
// ELEMENT, of src, and WEIGHT, all as A; RESULT, a sum as R.

#define TL_TEMPLATE        "kernel/conv/convnd.c"
#define WORK               convnd
#define R                  T
#define A                  C
#define FIRST(job, oc)     (A)((job)->bias ? LOAD(((const T *)(job)->bias)[oc]) : 0)
#define ELEMENT(job, t)    LOAD(t)
#define WEIGHT(job, oc, i) LOAD(((const T *)(job)->weight)[i])
#define RESULT(a)          STORE(a)
#include "tensor/tl_each_float.inc.h"
#undef WORK
#undef R
#undef A
#undef FIRST
#undef ELEMENT
#undef WEIGHT
#undef RESULT

// Unsigned sums wrap; overflow of signed ones would be undefined.
#define WORK               conv_int
#define R                  int32_t
#define A                  uint32_t
#define FIRST(job, oc)     (A)((job)->bias ? ((const int32_t *)(job)->bias)[oc] : 0)
#define ELEMENT(job, t)    (A)((int32_t)(t) - (job)->src_zero)
#define WEIGHT(job, oc, i) (A) weight_minus_zero(job, oc, i)
#define RESULT(a)          (R)(a)
#define TL_TAG             i8
#include "tensor/tl_one_type.inc.h"
#define TL_TAG u8
#include "tensor/tl_one_type.inc.h"

TL_PLAIN_TABLE(pick, conv_func, convnd, FLT)
TL_KERNEL_TABLE(pick_int, conv_func, TL_CONV_INT_KERNELS)

// Shared by all types

// Whether each output element depends on one position: kernel and stride 1, no padding.
static int is_pointwise(const tl_windows *w, const tl_tensor *src, const tl_tensor *dst)
{
    for (int i = 0; i < w->n; i++)
        if (w->size[i] != 1 || w->stride[i] != 1 || w->padding[i] != 0 ||
            src->dims[2 + i] != dst->dims[2 + i])
            return 0;
    return 1;
}

static conv_job make_job(const tl_exec *exec, const tl_tensor *src, const tl_tensor *weight,
                         const tl_tensor *bias, tl_tensor *dst, const tl_windows *windows,
                         int group, int is_transposed)
{
    conv_job job = {
        .src = src->data,
        .weight = weight->data,
        .bias = bias ? bias->data : NULL,
        .dst = dst->data,
        .group = group,
        .ic = src->dims[1] / group,
        .oc = dst->dims[1] / group,
        .channel_len = 1,
        .taps = 1,
        .axes = tl_window_job_of(windows, src, dst, is_transposed, is_pointwise(windows, src, dst)),
        .stop = exec ? exec->stop : NULL};
    for (int i = 0; i < job.axes.windows.n; i++) {
        job.channel_len *= job.axes.in[i];
        job.taps *= job.axes.windows.size[i];
    }
    job.weight_step = (is_transposed ? job.oc : 1) * job.taps;
    return job;
}

static void run(const tl_exec *exec, conv_func *func, conv_job *job, const tl_tensor *dst,
                tl_activation act)
{
    if (dst->len == 0)
        return;
    const int last = job->axes.windows.n - 1;
    const size_t plane = (size_t)job->axes.out[last - 1] * job->axes.out[last];
    const double sums = (double)job->ic * (double)plane * (double)job->taps;
    tl_act_parallel(exec, (size_t)dst->len / plane,
                    tl_axis_grain(sums < 1e6 ? (size_t)sums : 1000000), func, job, dst, act);
}

int tl_convnd_run(const tl_exec *exec, const tl_tensor *src, const tl_tensor *weight,
                  const tl_tensor *bias, tl_tensor *dst, const tl_windows *windows, int group,
                  int is_transposed, tl_activation act)
{
    assert(src->dtype == dst->dtype && src->dtype == weight->dtype);
    assert(src->ndim == windows->n + 2 && dst->ndim == src->ndim && weight->ndim == src->ndim);
    assert(dst->dims[0] == src->dims[0]);
    assert(weight->dims[0] == (is_transposed ? src : dst)->dims[1]);
    assert(weight->dims[1] * group == (is_transposed ? dst : src)->dims[1]);
    assert(!bias || (bias->dtype == src->dtype && bias->len == dst->dims[1]));
    conv_job job = make_job(exec, src, weight, bias, dst, windows, group, is_transposed);
    run(exec, pick(exec, src->dtype), &job, dst, act);
    return 0;
}

// Convolution

int tl_exec_convnd(const tl_exec *exec, const tl_tensor *src, const tl_tensor *weight,
                   const tl_tensor *bias, tl_tensor *dst, const tl_windows *windows, int group)
{
    return tl_convnd_run(exec, src, weight, bias, dst, windows, group, 0, (tl_activation){0});
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
    return tl_convnd_run(exec, src, weight, bias, dst, windows, group, 1, (tl_activation){0});
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
    conv_job job = make_job(exec, args->src, args->weight, args->bias, dst, windows, group, 0);
    if (zero)
        tl_convert(&job.src_zero, TL_INT32, zero->data, zero->dtype);
    job.weight_zero = weight_zero ? weight_zero->data : NULL;
    job.weight_zero_step = weight_zero && weight_zero->len > 1;
    job.is_weight_signed = args->weight->dtype == TL_INT8;
    run(exec, pick_int(exec, args->src->dtype), &job, dst, (tl_activation){0});
    return 0;
}

// Checks the zero point of `of`: its dtype, and 1 or `channels` elements. NULL: none.
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
    if (tl_check_bytes(args->src, "src") < 0 || tl_check_bytes(args->weight, "weight") < 0 ||
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

// acc[k * acc_step] += the sum of w[b] * src[k * src_step] of channels b < n_channels, one after
// the other, for k < n.
static void NAME(add_row, c)(const conv_job *job, A *restrict acc, ptrdiff_t acc_step,
                             const T *restrict src, ptrdiff_t src_step, ptrdiff_t n, const A *w,
                             int n_channels)
{
    const size_t channel_len = job->channel_len;
    if (n_channels == BLOCK && acc_step == 1 && src_step == 1) { // vectorized by the compiler
        const T *restrict src1 = src + channel_len, *restrict src2 = src1 + channel_len;
        const T *restrict src3 = src2 + channel_len;
        const A w0 = w[0], w1 = w[1], w2 = w[2], w3 = w[3];
        for (ptrdiff_t k = 0; k < n; k++)
            acc[k] = acc[k] + w0 * ELEMENT(job, src[k]) + w1 * ELEMENT(job, src1[k]) +
                     w2 * ELEMENT(job, src2[k]) + w3 * ELEMENT(job, src3[k]);
        return;
    }
    for (int b = 0; b < n_channels; b++, src += channel_len) {
        if (acc_step == 1 && src_step == 1)
            for (ptrdiff_t k = 0; k < n; k++)
                acc[k] += w[b] * ELEMENT(job, src[k]);
        else if (acc_step == 1)
            for (ptrdiff_t k = 0; k < n; k++)
                acc[k] += w[b] * ELEMENT(job, src[k * src_step]);
        else // transposed: src_step is 1
            for (ptrdiff_t k = 0; k < n; k++)
                acc[k * acc_step] += w[b] * ELEMENT(job, src[k]);
    }
}

// Adds the contribution of one tap to the tile from `n_channels` planes of src.
static void NAME(add_tap, c)(const conv_job *job, A *acc, int acc_width, const T *src,
                             tl_window_overlap rows, tl_window_overlap columns, const A *w,
                             int n_channels)
{
    const int width = job->axes.in[job->axes.windows.n - 1];
    acc += columns.begin * columns.acc_step + columns.acc_offset;
    src += columns.begin * columns.src_step + columns.src_offset;
    const ptrdiff_t n = columns.end - columns.begin;
    for (int64_t y = rows.begin; y < rows.end; y++) {
        A *const to = acc + (y * rows.acc_step + rows.acc_offset) * acc_width;
        const T *const from = src + (y * rows.src_step + rows.src_offset) * width;
        NAME(add_row, c)
        (job, to, columns.acc_step, from, columns.src_step, n, w, n_channels);
    }
}

// Adds the contribution of the taps of the last two axes, from `n_channels` planes of src. The
// weights of the first begin at `weight`.
static void NAME(add_plane, c)(const conv_job *job, const tl_window_tile *t, const T *src,
                               size_t weight, int n_channels, A *acc, tl_poll *poll)
{
    const int last = job->axes.windows.n - 1, *const size = job->axes.windows.size;
    const int oc = channel_of(job, t);
    (void)oc; // unless weights have zero points
    for (int i = 0; i < size[last - 1]; i++) {
        const tl_window_overlap rows =
            tl_window_overlap_on(&job->axes, last - 1, t->y, t->height, i);
        for (int j = 0; j < size[last]; j++, weight++) {
            const tl_window_overlap columns =
                tl_window_overlap_on(&job->axes, last, t->x, t->width, j);
            if (tl_poll_after(poll, (size_t)t->height * t->width))
                return;
            if (columns.begin == columns.end)
                continue;
            A w[BLOCK];
            for (int b = 0; b < n_channels; b++)
                w[b] = WEIGHT(job, oc, weight + b * job->weight_step);
            NAME(add_tap, c)(job, acc, t->width, src, rows, columns, w, n_channels);
        }
    }
}

// Sums a tile: the bias, then block after block of channels.
static void NAME(sum_tile, c)(const conv_job *job, const tl_window_tile *t, A *acc, tl_poll *poll)
{
    const int outer = job->axes.windows.n - 2, oc = channel_of(job, t);
    const int *const size = job->axes.windows.size, *const in = job->axes.in;
    const A first = FIRST(job, oc);
    for (int k = 0; k < t->height * t->width; k++)
        acc[k] = first;
    const size_t plane = (size_t)in[outer] * in[outer + 1];
    const T *src = (const T *)job->src + source_channel(job, t) * job->channel_len;
    for (int c = 0; c < job->ic; c += BLOCK, src += BLOCK * job->channel_len) {
        size_t weight = first_weight(job, oc) + c * job->weight_step;
        int taps[TL_MAX_SPATIAL] = {0};
        do {
            const ptrdiff_t index = tl_window_plane(&job->axes, t, taps);
            if (index >= 0)
                NAME(add_plane, c)
            (job, t, src + (size_t)index * plane, weight, tl_min(BLOCK, job->ic - c), acc, poll);
            weight += (size_t)size[outer] * size[outer + 1];
        } while (!tl_poll_after(poll, 1) && tl_next_tap(taps, size, outer));
    }
}

static void NAME(WORK, c)(void *arg, size_t begin, size_t end)
{
    const conv_job *const job = arg;
    const int last = job->axes.windows.n - 1;
    const int oh = job->axes.out[last - 1], ow = job->axes.out[last];
    const int width = tl_min(ow, TILE_SIZE), height = TILE_SIZE / width;
    tl_poll poll = tl_poll_of(job->stop);
    A acc[TILE_SIZE];
    for (size_t p = begin; p < end && !poll.is_stopped; p++) {
        tl_window_tile t = tl_window_tile_of(&job->axes, p);
        for (t.y = 0; t.y < oh && !poll.is_stopped; t.y += height)
            for (t.x = 0; t.x < ow; t.x += width) {
                t.height = tl_min(height, oh - t.y);
                t.width = tl_min(width, ow - t.x);
                NAME(sum_tile, c)(job, &t, acc, &poll);
                R *const dst = (R *)job->dst + (p * oh + t.y) * ow + t.x;
                for (int k = 0; k < t.height * t.width; k++) // whole rows, or a part of one
                    dst[k] = RESULT(acc[k]);
            }
    }
}

#endif
