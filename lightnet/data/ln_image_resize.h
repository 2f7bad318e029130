// SPDX-License-Identifier: Apache-2.0
// Resizing of images: the samples along an axis of which an element is computed, and their weights.

#pragma once

#include "lightnet/ln_image.h"

/** The samples of which an element is the weighted sum: `n` from `first`; n 0: it is border. */
typedef struct ln_image_span {
    int first;
    int n;
    const double *weights;
} ln_image_span;

/** The spans of all elements along an axis. */
typedef struct ln_image_taps {
    ln_image_span *spans;
    double *weights;
} ln_image_taps;

/** The spans of the axis. Sources: ln_image_filter. Returns 0, or -1 with a reason: no memory. Free
 * with ln_image_taps_free, also after a failure. */
int ln_image_taps_init(ln_image_taps *taps, const ln_image_axis *axis, ln_image_filter filter,
                       ln_error *err);

void ln_image_taps_free(ln_image_taps *taps);

/** Whether weights of the filter are negative, so that results may exceed the samples' range. */
int ln_image_filter_overshoots(ln_image_filter filter);
