// SPDX-License-Identifier: Apache-2.0
// Checks, extents and taps of windows over any number of axes (tl_windows).

#ifndef TL_WINDOWS_H
#define TL_WINDOWS_H

#include <stdint.h>

#include "tensorlight/tl_vision.h"

/** -1 with a reason: not as tl_vision.h says, or src [N, C, ..] has not windows->n spatial axes. */
int tl_check_windows(const tl_windows *windows, const tl_tensor *src);

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
