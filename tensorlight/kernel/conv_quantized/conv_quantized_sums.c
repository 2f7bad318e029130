// SPDX-License-Identifier: Apache-2.0
// Sums of source - zero over the windows of a convolution, or over rows, modulo 2^32: the factors
// of the zero points of weights.

#include <string.h>

#include "kernel/conv_quantized/conv_quantized.h"
#include "kernel/tl_axis.h"
#include "tensor/tl_result.h"

size_t tl_quad_sums_size(size_t groups, size_t pixels, size_t windows)
{
    const double bytes = (double)groups * ((double)pixels + (double)windows) * sizeof(int32_t);
    if (bytes > (double)(SIZE_MAX / 4))
        return SIZE_MAX;
    return tl_ceil_div(groups * (pixels + windows) * sizeof(int32_t), 64) * 64;
}

int tl_quad_split_scratch(const tl_exec *exec, size_t size, tl_exec *rest)
{
    if (tl_check_scratch(exec, size, "for the sums of windows") < 0)
        return -1;
    *rest = *exec;
    rest->scratch = (char *)exec->scratch + size;
    rest->scratch_size -= size;
    return 0;
}

// Sums of bytes

enum { WORDS = TL_BLOCK / sizeof(uint64_t), MAX_WORDS = 128 }; // max whose pair sums fit 16 bits

// The sums of four pairs of bytes, of 16 bits each.
static inline uint64_t sum_pairs(uint64_t bytes)
{
    const uint64_t even = 0x00ff00ff00ff00ff;
    return (bytes & even) + (bytes >> 8 & even);
}

// The sum of four 16-bit integers.
static inline uint32_t sum_quarters(uint64_t sums)
{
    const uint64_t even = 0x0000ffff0000ffff;
    const uint64_t halves = (sums & even) + (sums >> 16 & even);
    return (uint32_t)((halves & 0xffffffff) + (halves >> 32));
}

static uint32_t sum_bytes(const uint8_t *src, size_t n)
{
    uint32_t sum = 0;
    while (n >= sizeof(uint64_t)) {
        const size_t words = tl_min_size(n / sizeof(uint64_t), MAX_WORDS);
        uint64_t pairs = 0, word;
        for (size_t i = 0; i < words; i++, src += sizeof(word)) {
            memcpy(&word, src, sizeof(word));
            pairs += sum_pairs(word);
        }
        sum += sum_quarters(pairs);
        n -= words * sizeof(uint64_t);
    }
    for (size_t i = 0; i < n; i++)
        sum += src[i];
    return sum;
}

// Rows

typedef struct rows {
    const uint8_t *src;
    size_t k;
    uint32_t offset;
    uint32_t *sums;
} rows;

static void sum_some_rows(void *arg, size_t begin, size_t end)
{
    const rows *const r = arg;
    for (size_t i = begin; i < end; i++)
        r->sums[i] = sum_bytes(r->src + i * r->k, r->k) - r->offset;
}

void tl_quad_sum_rows(const tl_exec *exec, const uint8_t *src, size_t n, size_t k, int zero,
                      int32_t *sums)
{
    rows r = {src, k, (uint32_t)zero * (uint32_t)k, (uint32_t *)sums};
    tl_parallel(exec, n, tl_axis_grain(k), sum_some_rows, &r);
}

// Windows

typedef struct windows {
    const uint8_t *src;
    int blocks, h, w, oh, ow;
    int groups, in; // channels of a group
    size_t images;
    int zero;
    const tl_conv2d_param *param;
    uint32_t *pixels, *sums; // [group, N, H, W] and [group, N, OH, OW]
} windows;

// sum_quarters for a sum below 2^16: the top quarter of the product adds all quarters of `sums`.
static inline uint32_t sum_small_quarters(uint64_t sums)
{
    return (uint32_t)(sums * 0x0001000100010001 >> 48);
}

// Adds a block of channels of one group, those of `mask`, to the sums of a line of pixels.
static void add_block(const uint8_t *src, const uint64_t mask[WORDS], uint32_t *sums, int n)
{
    // Copies, as the compiler must assume that writes to `sums` change the mask.
    const uint64_t first = mask[0], second = mask[1];
    for (int x = 0; x < n; x++, src += TL_BLOCK) {
        uint64_t word[WORDS];
        memcpy(word, src, sizeof(word));
        sums[x] += sum_small_quarters(sum_pairs(word[0] & first) + sum_pairs(word[1] & second));
    }
}

// The same for one channel.
static void add_channel(const uint8_t *src, uint32_t *sums, int n)
{
    for (int x = 0; x < n; x++)
        sums[x] += src[(size_t)x * TL_BLOCK];
}

// The sums of a line of pixels, of channels begin .. end-1.
static void sum_line(const windows *s, const uint8_t *src, int begin, int end, uint32_t *sums)
{
    const size_t step = (size_t)s->h * s->w * TL_BLOCK;
    const uint32_t start = -(uint32_t)s->zero * (uint32_t)(end - begin);
    for (int x = 0, w = s->w; x < w; x++)
        sums[x] = start;
    if (end - begin == 1) {
        add_channel(src + begin / TL_BLOCK * step + begin % TL_BLOCK, sums, s->w);
        return;
    }
    for (int b = begin / TL_BLOCK; b * TL_BLOCK < end; b++) {
        uint8_t lanes[TL_BLOCK];
        uint64_t mask[WORDS];
        for (int i = 0, c = b * TL_BLOCK; i < TL_BLOCK; i++, c++)
            lanes[i] = c >= begin && c < end ? 0xff : 0;
        memcpy(mask, lanes, sizeof(mask));
        add_block(src + b * step, mask, sums, s->w);
    }
}

static void sum_lines(void *arg, size_t begin, size_t end)
{
    const windows *const s = arg;
    const size_t lines = s->images * s->h, image = (size_t)s->blocks * s->h * s->w * TL_BLOCK;
    for (size_t i = begin; i < end; i++) {
        const size_t n = i % lines / s->h, y = i % s->h;
        const int first = (int)(i / lines) * s->in;
        sum_line(s, s->src + n * image + y * s->w * TL_BLOCK, first, first + s->in,
                 s->pixels + i * s->w);
    }
}

typedef uint32_t four __attribute__((vector_size(16)));

// sums[0 .. n-1] += every `stride`-th of the pixels.
static void add_pixels(const uint32_t *pixels, int stride, uint32_t *sums, int n)
{
    int x = 0;
    for (; stride == 1 && x + 4 <= n; x += 4) {
        four a, b;
        memcpy(&a, pixels + x, sizeof(a));
        memcpy(&b, sums + x, sizeof(b));
        b += a;
        memcpy(sums + x, &b, sizeof(b));
    }
    for (; x < n; x++)
        sums[x] += pixels[(size_t)x * stride];
}

// Adds tap `k` of the last axis from a line of pixels to the sums of a line of windows.
static void add_tap(const windows *s, int k, const uint32_t *pixels, uint32_t *sums)
{
    const tl_conv2d_param *const p = s->param;
    const int64_t shift = (int64_t)k * p->dilation[1] - p->padding[1], stride = p->stride[1];
    const int64_t begin = shift < 0 ? (-shift + stride - 1) / stride : 0;
    const int64_t last = s->w > shift ? (s->w - shift - 1) / stride : -1;
    const int64_t end = last + 1 < s->ow ? last + 1 : s->ow;
    if (begin < end)
        add_pixels(pixels + begin * stride + shift, (int)stride, sums + begin, (int)(end - begin));
}

// The sums of lines of windows; pixels outside of the source add nothing.
static void sum_line_windows(void *arg, size_t begin, size_t end)
{
    const windows *const s = arg;
    const tl_conv2d_param *const p = s->param;
    for (size_t i = begin; i < end; i++) {
        uint32_t *const sums = s->sums + i * s->ow;
        const uint32_t *const plane = s->pixels + i / s->oh * s->h * s->w;
        memset(sums, 0, (size_t)s->ow * sizeof(*sums));
        for (int j = 0; j < p->size[0]; j++) {
            const int64_t y =
                (int64_t)(i % s->oh) * p->stride[0] + (int64_t)j * p->dilation[0] - p->padding[0];
            for (int k = 0; y >= 0 && y < s->h && k < p->size[1]; k++)
                add_tap(s, k, plane + y * s->w, sums);
        }
    }
}

void tl_quad_sum_windows(const tl_exec *exec, const tl_tensor *src, const tl_tensor *dst,
                         const tl_conv2d_param *param, const int channels[2], int zero,
                         int32_t *sums)
{
    const int *const d = src->dims;
    windows s = {.src = src->data,
                 .blocks = d[1],
                 .h = d[2],
                 .w = d[3],
                 .oh = dst->dims[2],
                 .ow = dst->dims[3],
                 .groups = param->group,
                 .in = channels[0] / param->group,
                 .images = (size_t)d[0],
                 .zero = zero,
                 .param = param,
                 .sums = (uint32_t *)sums};
    const size_t planes = (size_t)s.groups * s.images;
    const size_t taps = (size_t)param->size[0] * param->size[1];
    s.pixels = s.sums + planes * s.oh * s.ow;
    tl_parallel(exec, planes * s.h, tl_axis_grain((size_t)s.w * s.in), sum_lines, &s);
    tl_parallel(exec, planes * s.oh, tl_axis_grain((size_t)s.ow * taps), sum_line_windows, &s);
}
