// SPDX-License-Identifier: Apache-2.0
// Checks and extents of windows over any number of axes.

#include "kernel/tl_windows.h"

#include <limits.h>
#include <string.h>

#include "kernel/tl_nn_check.h"

tl_windows tl_windows_of(int n, const int *size, const int *stride, const int *dilation,
                         const int *padding)
{
    tl_windows windows = {0};
    if (n < 0 || n > TL_MAX_SPATIAL)
        return windows;
    windows.n = n;
    memcpy(windows.size, size, (size_t)n * sizeof(int));
    memcpy(windows.stride, stride, (size_t)n * sizeof(int));
    memcpy(windows.dilation, dilation, (size_t)n * sizeof(int));
    memcpy(windows.padding, padding, (size_t)n * 2 * sizeof(int));
    return windows;
}

int tl_check_windows(const tl_windows *windows, const tl_tensor *src)
{
    if (!windows)
        return tl_fail("'windows' is NULL, expected windows");
    if (windows->n < 1 || windows->n > TL_MAX_SPATIAL)
        return tl_fail("windows over %d axes, expected 1 to %d", windows->n, TL_MAX_SPATIAL);
    if (src->ndim != windows->n + 2)
        return tl_fail("'src' has %d dimensions, expected batch, channels and the %d of the window",
                       src->ndim, windows->n);
    if (tl_check_at_least("size", windows->size, windows->n, 1) < 0 ||
        tl_check_at_least("stride", windows->stride, windows->n, 1) < 0)
        return -1;
    return tl_check_at_least("dilation", windows->dilation, windows->n, 1);
}

static int64_t extent_of(const tl_windows *windows, int i)
{
    return (int64_t)(windows->size[i] - 1) * windows->dilation[i] + 1;
}

static int check_length(int64_t len, int i)
{
    if (len < 1 || len > INT_MAX)
        return tl_fail("the result has length %lld along spatial axis %d, expected 1 to %d",
                       (long long)len, i, INT_MAX);
    return (int)len;
}

int tl_windows_length(const tl_windows *windows, int i, int in, int is_ceil)
{
    const int begin = windows->padding[i], end = windows->padding[windows->n + i];
    const int64_t window = extent_of(windows, i), padded = (int64_t)in + begin + end;
    if (padded < window)
        return tl_fail("length %d with padding %d and %d along spatial axis %d, expected at least "
                       "the window's %lld",
                       in, begin, end, i, (long long)window);
    const int stride = windows->stride[i];
    int64_t len = (padded - window + (is_ceil ? stride - 1 : 0)) / stride + 1;
    if (is_ceil && (len - 1) * stride >= (int64_t)in + begin)
        len--;
    return check_length(len, i);
}

int tl_windows_transposed_length(const tl_windows *windows, int i, int in, int output_padding)
{
    const int64_t padding = (int64_t)windows->padding[i] + windows->padding[windows->n + i];
    return check_length((int64_t)windows->stride[i] * ((int64_t)in - 1) + output_padding +
                            extent_of(windows, i) - padding,
                        i);
}
