// SPDX-License-Identifier: Apache-2.0
// Checks, extents and taps of windows over any number of axes (tl_windows), and the arithmetic of
// strides and borders along one.

#pragma once

#include <stddef.h>
#include <stdint.h>

#include "kernel/tl_kernel.h"
#include "tensorlight/tl_vision.h"

/** -1 with a reason: invalid (tl_vision.h), or src [N, C, ..] has not windows->n spatial axes. */
int tl_check_windows(const tl_windows *windows, const tl_tensor *src);

/** -1 with a reason: the weights of a convolution by `windows` have not the channels, groups and
 *  sizes that src needs, for any dtypes. dims: sets images and channels of the result. */
int tl_check_channels(const tl_tensor *src, const tl_tensor *weight, const tl_windows *windows,
                      int group, int *dims);

/** -1 with a reason: bias, if not NULL, is not [channels] of this dtype. */
int tl_check_conv_bias(const tl_tensor *bias, int channels, tl_dtype dtype);

/** The same for all of a convolution, or a transposed one, of floats of one dtype. */
int tl_check_conv(const tl_tensor *src, const tl_tensor *weight, const tl_tensor *bias,
                  const tl_windows *windows, int group, int is_transposed, int *dims);

/** -1 with a reason: one of them (bias may be NULL) has no data, or overlaps dst. */
int tl_check_conv_data(const tl_tensor *src, const tl_tensor *weight, const tl_tensor *bias,
                       const tl_tensor *dst);

/** The output length along spatial axis `i` of windows over `in` positions, or of the transpose; -1
 *  with a reason: no window fits, or more than INT_MAX. */
int tl_windows_length(const tl_windows *windows, int i, int in, int is_ceil);
int tl_windows_transposed_length(const tl_windows *windows, int i, int in, int output_padding);

/** Counts taps[0 .. n-1] from 0 up to end[i], last axis first; 0 after the last one. */
static inline int tl_next_tap(int *taps, const int *end, int n)
{
    for (int i = n - 1; i >= 0; i--) {
        if (++taps[i] < end[i])
            return 1;
        taps[i] = 0;
    }
    return 0;
}

// Along one axis

/** The smallest k >= 0 with k * stride >= x. */
static inline int64_t tl_window_first(int64_t x, int stride)
{
    if (x <= 0)
        return 0;
    return stride == 1 ? x : (x - 1) / stride + 1; // stride 1 is frequent and a division slow
}

/** The k of 0 .. n-1 with 0 <= k * stride + offset < limit are *begin .. *end-1 (none: *begin ==
 *  *end). */
static inline void tl_window_hits(int n, int stride, int64_t offset, int64_t limit, int *begin,
                                  int *end)
{
    const int64_t first = tl_window_first(-offset, stride);
    const int64_t last = tl_window_first(limit - offset, stride);
    *end = (int)(last < n ? last : n);
    *begin = (int)(first < *end ? first : *end);
}

/** The elements of src and dst for a tap along one axis: for k = begin .. end-1 the element
 * k * src_step + src_offset of src adds to the element k * acc_step + acc_offset of the
 * tile. */
typedef struct tl_window_overlap {
    int begin, end;
    int64_t src_step, src_offset;
    int64_t acc_step, acc_offset;
} tl_window_overlap;

/** Of `len` positions from `start`, over `in` elements of src. shift: tap * dilation - padding.
 * Transposed, the windows slide over dst. */
static inline tl_window_overlap tl_window_overlap_of(int is_transposed, int in, int stride,
                                                     int64_t shift, int start, int len)
{
    const int64_t offset = is_transposed ? shift - start : (int64_t)start * stride + shift;
    tl_window_overlap m = {.src_step = is_transposed ? 1 : stride,
                           .src_offset = is_transposed ? 0 : offset,
                           .acc_step = is_transposed ? stride : 1,
                           .acc_offset = is_transposed ? offset : 0};
    tl_window_hits(is_transposed ? in : len, stride, offset, is_transposed ? len : in, &m.begin,
                   &m.end);
    return m;
}

// Tiles of planes

/** Windows between src [.., in..] and dst [.., out..], over two axes or more. */
typedef struct tl_window_job {
    tl_windows windows;
    int in[TL_MAX_SPATIAL], out[TL_MAX_SPATIAL];
    int is_transposed;
} tl_window_job;

/** Of tensors [N, C, ..]. One axis becomes one row and, if `is_row`, so do all of them together. */
tl_window_job tl_window_job_of(const tl_windows *windows, const tl_tensor *src,
                               const tl_tensor *dst, int is_transposed, int is_row);

/** A rectangle of a plane of dst, over the last two axes. */
typedef struct tl_window_tile {
    size_t channel;            // counted over all images
    int outer[TL_MAX_SPATIAL]; // position of the plane on the other axes
    int y, x, height, width;
} tl_window_tile;

/** Of plane `plane` of dst, without a rectangle. */
tl_window_tile tl_window_tile_of(const tl_window_job *job, size_t plane);

/** The elements for tap `tap` along axis `i`, with `len` positions of dst from `start`. */
TL_INLINE tl_window_overlap tl_window_overlap_on(const tl_window_job *job, int i, int start,
                                                 int len, int tap)
{
    const tl_windows *const w = &job->windows;
    const int64_t shift = (int64_t)tap * w->dilation[i] - w->padding[i];
    return tl_window_overlap_of(job->is_transposed, job->in[i], w->stride[i], shift, start, len);
}

/** The plane of a channel of src that a tile reads for these taps of all axes but the last two, or
 *  -1. */
ptrdiff_t tl_window_plane(const tl_window_job *job, const tl_window_tile *tile, const int *taps);
