// SPDX-License-Identifier: Apache-2.0
// Shapes: their text form, and the extents and paddings of sliding windows (operator catalogue, 5.1
// and 5.2).
//
// All sums are taken in 64 bits: a product of two ints and a few more ints always fit.

#include "lightnet/ln_util.h"

#include <limits.h>
#include <string.h>

#include "lightnet/ln_msg.h"

char *ln_sprint_shape(char *buf, size_t size, int ndim, const int *dims)
{
    size_t used = (size_t)snprintf(buf, size, "[");
    for (int i = 0; i < ndim && used < size; i++)
        used += (size_t)snprintf(buf + used, size - used, i ? ", %d" : "%d", dims[i]);
    if (used < size)
        snprintf(buf + used, size - used, "]");
    return buf;
}

/* One axis of a window sliding over `in` elements, or of its transpose producing from them. */
struct axis {
    int in, size, stride, dilation;
};

static int64_t effective_size(const struct axis *axis)
{
    return ((int64_t)axis->size - 1) * axis->dilation + 1;
}

static int check_axis(const struct axis *axis)
{
    if (axis->in < 1 || axis->size < 1 || axis->stride < 1 || axis->dilation < 1)
        return ln_error_set(NULL,
                            "window has input %d, size %d, stride %d, dilation %d, expected all "
                            "at least 1",
                            axis->in, axis->size, axis->stride, axis->dilation);
    return 0;
}

/* Floor division and ceiling division coincide with C's for the non-negative numerators here. */
static int64_t conv_out(const struct axis *axis, int64_t total_padding)
{
    return (axis->in + total_padding - effective_size(axis)) / axis->stride + 1;
}

static int64_t deconv_out(const struct axis *axis, int output_padding)
{
    return (int64_t)axis->stride * (axis->in - 1) + output_padding + effective_size(axis);
}

static int checked_extent(int64_t extent)
{
    if (extent < 1 || extent > INT_MAX)
        return ln_error_set(NULL, "output extent would be %lld, expected 1 to %d",
                            (long long)extent, INT_MAX);
    return (int)extent;
}

int ln_output_dim_conv(int input, int size, int stride, int total_padding, int dilation)
{
    const struct axis axis = {input, size, stride, dilation};
    if (check_axis(&axis) < 0)
        return -1;
    const int64_t padded = (int64_t)input + total_padding;
    if (padded < effective_size(&axis))
        return ln_error_set(NULL, "window covers %lld elements, the padded input has only %lld",
                            (long long)effective_size(&axis), (long long)padded);
    return checked_extent(conv_out(&axis, total_padding));
}

int ln_output_dim_deconv(int input, int size, int stride, int output_padding, int total_padding,
                         int dilation)
{
    const struct axis axis = {input, size, stride, dilation};
    if (check_axis(&axis) < 0)
        return -1;
    if (output_padding < 0)
        return ln_error_set(NULL, "output padding is %d, expected at least 0", output_padding);
    return checked_extent(deconv_out(&axis, output_padding) - total_padding);
}
