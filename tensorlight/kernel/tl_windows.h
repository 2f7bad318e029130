// SPDX-License-Identifier: Apache-2.0
// Checks, extents and taps of windows over any number of axes (tl_windows).

#ifndef TL_WINDOWS_H
#define TL_WINDOWS_H

#include <stdint.h>

#include "tensorlight/tl_vision.h"

/** -1 with a reason: not as tl_vision.h says, or src [N, C, ..] has not windows->n spatial axes. */
int tl_check_windows(const tl_windows *windows, const tl_tensor *src);

/** -1 with a reason: the weights of a convolution by `windows` have not the channels, groups and
 *  sizes that src needs, whatever the dtypes. dims: sets images and channels of the result. */
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

/** The extent along spatial axis `i` of what slides over `in` positions, or its transpose; -1 with
 *  a reason: no window fits, or more than INT_MAX. */
int tl_windows_length(const tl_windows *windows, int i, int in, int is_ceil);
int tl_windows_transposed_length(const tl_windows *windows, int i, int in, int output_padding);

/** Counts taps[0 .. n-1], each up to end[i], last axis first; 0 after the last one. */
static inline int tl_next_tap(int *taps, const int *begin, const int *end, int n)
{
    for (int i = n - 1; i >= 0; i--) {
        if (++taps[i] < end[i])
            return 1;
        taps[i] = begin[i];
    }
    return 0;
}

#endif
