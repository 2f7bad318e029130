// SPDX-License-Identifier: Apache-2.0
// Checks and extents of windows over any number of axes.

#include "kernel/tl_windows.h"

#include <limits.h>
#include <string.h>

#include "tensor/tl_result.h"

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

// -1 with a reason: `weight` is not [.., .., size..], with the sizes of the windows.
static int check_weight(const tl_tensor *weight, const tl_windows *windows, int group)
{
    if (tl_check_at_least("group", &group, 1, 1) < 0)
        return -1;
    if (weight->ndim != windows->n + 2)
        return tl_fail("'weight' has %d dimensions, expected %d as 'src'", weight->ndim,
                       windows->n + 2);
    char given[TL_SHAPE_TEXT_SIZE], size[TL_SHAPE_TEXT_SIZE];
    if (memcmp(weight->dims + 2, windows->size, (size_t)windows->n * sizeof(int)) != 0)
        return tl_fail("'weight' has kernels of %s, expected 'size', %s",
                       tl_shape_text(given, windows->n, weight->dims + 2),
                       tl_shape_text(size, windows->n, windows->size));
    return 0;
}

int tl_check_channels(const tl_tensor *src, const tl_tensor *weight, const tl_windows *windows,
                      int group, int *dims)
{
    if (tl_check_windows(windows, src) < 0 || check_weight(weight, windows, group) < 0)
        return -1;
    if ((int64_t)weight->dims[1] * group != src->dims[1])
        return tl_fail("'weight' has %d input channels in each of %d groups, expected the %d of "
                       "'src' together",
                       weight->dims[1], group, src->dims[1]);
    if (weight->dims[0] % group != 0)
        return tl_fail("'weight' has %d output channels, expected a multiple of 'group', %d",
                       weight->dims[0], group);
    dims[0] = src->dims[0];
    dims[1] = weight->dims[0];
    return 0;
}

// The same of a deconvolution.
static int check_transposed_channels(const tl_tensor *src, const tl_tensor *weight,
                                     const tl_windows *windows, int group, int *dims)
{
    if (tl_check_windows(windows, src) < 0 || check_weight(weight, windows, group) < 0)
        return -1;
    if (weight->dims[0] != src->dims[1])
        return tl_fail("'weight' has %d input channels, expected the %d of 'src'", weight->dims[0],
                       src->dims[1]);
    if (src->dims[1] % group != 0)
        return tl_fail("'src' has %d channels, expected a multiple of 'group', %d", src->dims[1],
                       group);
    if (weight->dims[1] > INT_MAX / group)
        return tl_fail("%d groups of %d channels, expected at most %d channels", group,
                       weight->dims[1], INT_MAX);
    dims[0] = src->dims[0];
    dims[1] = weight->dims[1] * group;
    return 0;
}

int tl_check_conv_bias(const tl_tensor *bias, int channels, tl_dtype dtype)
{
    if (!bias)
        return 0;
    if (bias->ndim != 1)
        return tl_fail("'bias' has %d dimensions, expected 1", bias->ndim);
    if (bias->len != channels)
        return tl_fail("'bias' has %d elements, expected the %d output channels of 'weight'",
                       bias->len, channels);
    if (bias->dtype != dtype)
        return tl_fail("'bias' has dtype %s, expected %s", tl_dtype_name(bias->dtype),
                       tl_dtype_name(dtype));
    return 0;
}

int tl_check_conv(const tl_tensor *src, const tl_tensor *weight, const tl_tensor *bias,
                  const tl_windows *windows, int group, int is_transposed, int *dims)
{
    if (tl_check_float(src, "src") < 0)
        return -1;
    if (weight->dtype != src->dtype)
        return tl_fail("'weight' has dtype %s, expected %s as 'src'", tl_dtype_name(weight->dtype),
                       tl_dtype_name(src->dtype));
    if ((is_transposed ? check_transposed_channels : tl_check_channels)(src, weight, windows, group,
                                                                        dims) < 0)
        return -1;
    return tl_check_conv_bias(bias, dims[1], src->dtype);
}

int tl_check_conv_data(const tl_tensor *src, const tl_tensor *weight, const tl_tensor *bias,
                       const tl_tensor *dst)
{
    if (tl_check_data(src, "src") < 0 || tl_check_data(weight, "weight") < 0 ||
        (bias && tl_check_data(bias, "bias") < 0))
        return -1;
    if (tl_check_apart(dst, src) < 0 || tl_check_apart(dst, weight) < 0)
        return -1;
    return bias ? tl_check_apart(dst, bias) : 0;
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

tl_window_job tl_window_job_of(const tl_windows *windows, const tl_tensor *src,
                               const tl_tensor *dst, int is_transposed, int is_row)
{
    const tl_windows *const w = windows;
    tl_window_job job = {*w, {1, 1}, {1, 1}, is_transposed};
    is_row |= w->n == 1;
    if (is_row)
        job.windows = (tl_windows){.n = 2,
                                   .size = {1, w->size[0]},
                                   .stride = {1, w->stride[0]},
                                   .dilation = {1, w->dilation[0]},
                                   .padding = {0, w->padding[0], 0, w->padding[w->n]}};
    for (int i = 0; i < w->n; i++) {
        int *const in = &job.in[is_row ? 1 : i], *const out = &job.out[is_row ? 1 : i];
        *in = src->dims[2 + i] * (is_row ? *in : 1);
        *out = dst->dims[2 + i] * (is_row ? *out : 1);
    }
    return job;
}

tl_window_tile tl_window_tile_of(const tl_window_job *job, size_t plane)
{
    tl_window_tile tile = {.channel = 0};
    for (int i = job->windows.n - 3; i >= 0; i--) {
        tile.outer[i] = (int)(plane % job->out[i]);
        plane /= job->out[i];
    }
    tile.channel = plane;
    return tile;
}

ptrdiff_t tl_window_plane(const tl_window_job *job, const tl_window_tile *tile, const int *taps)
{
    ptrdiff_t index = 0;
    for (int i = 0; i < job->windows.n - 2; i++) {
        const tl_window_overlap m = tl_window_overlap_on(job, i, tile->outer[i], 1, taps[i]);
        if (m.begin == m.end)
            return -1;
        index = index * job->in[i] + m.begin * m.src_step + m.src_offset;
    }
    return index;
}
