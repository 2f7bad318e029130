// SPDX-License-Identifier: Apache-2.0
// Shapes: their text form, and the extents and paddings of sliding windows (operator catalogue, 5.1
// and 5.2).
//
// Sums have 64 bits, which hold two products of two ints and a few more ints.

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

// One axis of a convolution of `in` elements, or of a transposed one; `size` of the kernel.
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
    // The numerator is not negative, so C's division is the floor of ONNX.
    return checked_extent((padded - effective_size(&axis)) / stride + 1);
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

enum autopad { NOTSET, VALID, SAME_UPPER, SAME_LOWER, AUTOPAD_SIZE };

static const char *const autopad_names[AUTOPAD_SIZE] = {"NOTSET", "VALID", "SAME_UPPER",
                                                        "SAME_LOWER"};

static int parse_autopad(const char *mode)
{
    for (int i = 0; i < AUTOPAD_SIZE; i++) {
        if (ln_streq(mode, autopad_names[i]))
            return i;
    }
    return ln_error_set(NULL, "autopad is '%s', expected NOTSET, VALID, SAME_UPPER or SAME_LOWER",
                        mode ? mode : "");
}

// Splits the total padding of an axis. An odd element goes to the end for SAME_UPPER, else to the
// beginning (ONNX auto_pad).
static int split_padding(int64_t total, enum autopad mode, int *begin, int *end)
{
    if (total < INT_MIN || total > INT_MAX)
        return ln_error_set(NULL, "padding would be %lld, beyond the range of int",
                            (long long)total);
    const int half = (int)total / 2;
    const int rest = (int)total - half;
    *begin = mode == SAME_UPPER ? half : rest;
    *end = mode == SAME_UPPER ? rest : half;
    return 0;
}

// The total padding for ceil(in / stride) output elements (ONNX SAME_UPPER and SAME_LOWER).
static int64_t same_conv_total(const struct axis *axis)
{
    const int64_t out = ((int64_t)axis->in - 1) / axis->stride + 1;
    const int64_t total = (out - 1) * axis->stride + effective_size(axis) - axis->in;
    return total > 0 ? total : 0;
}

int ln_autopadding_conv(int *padding, const int *input_dims, const int *size, const int *stride,
                        const int *dilations, int ndim, const char *mode)
{
    const int autopad = parse_autopad(mode);
    if (autopad < 0)
        return -1;
    for (int i = 0; i < ndim && autopad != NOTSET; i++) {
        const struct axis axis = {input_dims[i], size[i], stride[i], dilations ? dilations[i] : 1};
        if (check_axis(&axis) < 0)
            return -1;
        const int64_t total = autopad == VALID ? 0 : same_conv_total(&axis);
        if (split_padding(total, (enum autopad)autopad, &padding[i], &padding[ndim + i]) < 0)
            return -1;
    }
    return 0;
}

int ln_autopadding_deconv(int *padding, const int *input_dims, const int *size, const int *stride,
                          const int *output_padding, const int *dilations, const int *output_dims,
                          int ndim, const char *mode)
{
    const int autopad = parse_autopad(mode);
    if (autopad < 0)
        return -1;
    for (int i = 0; i < ndim && autopad != NOTSET; i++) {
        const struct axis axis = {input_dims[i], size[i], stride[i], dilations ? dilations[i] : 1};
        if (check_axis(&axis) < 0)
            return -1;
        if (autopad != VALID && output_dims[i] < 1)
            return ln_error_set(NULL, "autopad %s has output_dims of %d, expected at least 1", mode,
                                output_dims[i]);
        const int64_t unpadded = deconv_out(&axis, output_padding ? output_padding[i] : 0);
        const int64_t total = autopad == VALID ? 0 : unpadded - output_dims[i];
        if (split_padding(total, (enum autopad)autopad, &padding[i], &padding[ndim + i]) < 0)
            return -1;
    }
    return 0;
}
