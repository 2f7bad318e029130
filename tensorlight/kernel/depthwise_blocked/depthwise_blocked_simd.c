// SPDX-License-Identifier: Apache-2.0
// Depthwise convolution and pooling in the blocked layout, see depthwise_blocked.h.

#include "kernel/depthwise_blocked/depthwise_blocked.h"

#include "kernel/simd/tl_simd_act.h"
#include "kernel/tl_windows.h"

enum {
    PARTS = TL_BLOCK / TL_VF_LANES, // vectors of a pixel
    PIXELS = 7,                     // of a tile: the widths of most images are multiples of it
    MAX_WIDTH = 5,                  // of a window whose row of weights is kept in registers
};

// A tile: its results, and the first of its windows.
typedef struct tile_place {
    const float *plane, *weight, *bias, *add;
    float *dst;
    ptrdiff_t top, left;    // the first row and column of the first window
    int tap_begin, tap_end; // the window's rows inside the source
} tile_place;

static inline int is_inside(ptrdiff_t column, int width)
{
    return (size_t)column < (size_t)width;
}

// One row of taps of `n` windows: each column j of the source is read once, as tap k of the windows
// (j - k) / stride. Arguments from n to is_edge are constants.
TL_INLINE void add_row(tl_vf *sum, const int n, const int width, const int stride,
                       const int is_edge, const float *row, ptrdiff_t left, int iw,
                       const float *weight)
{
    tl_vf w[MAX_WIDTH];
    TL_UNROLL
    for (int k = 0; k < width; k++)
        w[k] = tl_vf_load(weight + k * TL_BLOCK);
    TL_UNROLL
    for (int j = 0; j < (n - 1) * stride + width; j++) {
        if (is_edge && !is_inside(left + j, iw))
            continue;
        const tl_vf x = tl_vf_opaque(tl_vf_load(row + (left + j) * TL_BLOCK));
        TL_UNROLL
        for (int k = 0; k < width; k++)
            if (k <= j && (j - k) % stride == 0 && (j - k) / stride < n)
                sum[(j - k) / stride] = tl_vf_fma(x, w[k], sum[(j - k) / stride]);
    }
}

// One row of taps of any width, stride and dilation. The first two arguments are constants.
TL_INLINE void add_any_row(const tl_depthwise_kind kind, const int n, tl_vf *sum,
                           const tl_depthwise_job *job, const float *row, ptrdiff_t left,
                           const float *weight)
{
    for (int k = 0; k < job->size[1]; k++, left += job->dilation[1]) {
        const tl_vf w =
            kind == TL_DEPTHWISE_CONV ? tl_vf_load(weight + k * TL_BLOCK) : tl_vf_zero();
        TL_UNROLL
        for (int m = 0; m < n; m++) {
            const ptrdiff_t column = left + (ptrdiff_t)m * job->stride[1];
            if (!is_inside(column, job->iw))
                continue;
            const tl_vf x = tl_vf_load(row + column * TL_BLOCK);
            sum[m] = kind == TL_DEPTHWISE_CONV  ? tl_vf_fma(x, w, sum[m])
                     : kind == TL_DEPTHWISE_MAX ? tl_vf_max(x, sum[m])
                                                : tl_vf_add(sum[m], x);
        }
    }
}

// The initial value of a sum; that of a maximum is the window's first element, so that a NaN there
// stays and later ones lose.
TL_INLINE tl_vf first_sum(const tl_depthwise_kind kind, const tl_depthwise_job *job,
                          const tile_place *at, int m, int lane)
{
    if (kind == TL_DEPTHWISE_CONV)
        return tl_vf_load(at->bias + lane);
    if (kind == TL_DEPTHWISE_MEAN)
        return tl_vf_zero();
    const ptrdiff_t column = at->left + (ptrdiff_t)m * job->stride[1];
    const ptrdiff_t y = at->top + at->tap_begin, x = column < 0 ? 0 : column;
    return tl_vf_load(at->plane + (y * job->iw + x) * TL_BLOCK + lane);
}

// The number of elements that the mean of result `m` counts.
static inline float mean_count(const tl_depthwise_job *job, const tile_place *at, int m)
{
    const ptrdiff_t left = at->left + (ptrdiff_t)m * job->stride[1];
    return (float)(tl_depthwise_count(at->top, job->size[0], job->begin[0], job->end[0]) *
                   tl_depthwise_count(left, job->size[1], job->begin[1], job->end[1]));
}

// Writes the results of the sums.
TL_INLINE void finish(const tl_depthwise_kind kind, const int n, const tl_depthwise_job *job,
                      const tile_place *at, tl_vf *sum, int lane)
{
    float *const dst = at->dst + lane;
    if (kind == TL_DEPTHWISE_MEAN) {
        TL_UNROLL
        for (int m = 0; m < n; m++)
            sum[m] = tl_vf_div(sum[m], tl_vf_set1(mean_count(job, at, m)));
    }
    if (kind == TL_DEPTHWISE_CONV) {
        const tl_vf low = tl_vf_set1(job->low), high = tl_vf_set1(job->high);
        if (at->add) {
            TL_UNROLL
            for (int m = 0; m < n; m++)
                sum[m] = tl_vf_add(sum[m], tl_vf_load(at->add + m * TL_BLOCK + lane));
        }
        TL_UNROLL
        for (int m = 0; m < n; m++)
            sum[m] = tl_vf_min(high, tl_vf_max(low, sum[m]));
    }
    TL_UNROLL
    for (int m = 0; m < n; m++)
        tl_vf_store(dst + m * TL_BLOCK, sum[m]);
}

// One tile. The first five arguments are constants: each combination is compiled separately.
// width 0: any width and stride.
TL_INLINE void tile(const tl_depthwise_kind kind, const int n, const int width, const int stride,
                    const int is_edge, const tl_depthwise_job *job, const tile_place *at)
{
    for (int lane = 0; lane < TL_BLOCK; lane += TL_VF_LANES) {
        tl_vf sum[PIXELS];
        TL_UNROLL
        for (int m = 0; m < n; m++)
            sum[m] = first_sum(kind, job, at, m, lane);
        for (int t = at->tap_begin; t < at->tap_end; t++) {
            const ptrdiff_t y = at->top + (ptrdiff_t)t * job->dilation[0];
            const float *const row = at->plane + y * job->iw * TL_BLOCK + lane;
            const float *weight = NULL;
            if (kind == TL_DEPTHWISE_CONV)
                weight = at->weight + (size_t)t * job->size[1] * TL_BLOCK + lane;
            if (width == 0)
                add_any_row(kind, n, sum, job, row, at->left, weight);
            else
                add_row(sum, n, width, stride, is_edge, row, at->left, job->iw, weight);
        }
        finish(kind, n, job, at, sum, lane);
    }
}

typedef void tile_func(const tl_depthwise_job *job, const tile_place *at);

// Tiles of one kind, by size: `inner` has PIXELS results whose windows are inside the source.
typedef struct tile_set {
    tile_func *inner, *any[PIXELS + 1];
} tile_set;

#define TILE(name, n, kind, width, stride, is_edge)                           \
    static void name##_##n(const tl_depthwise_job *job, const tile_place *at) \
    {                                                                         \
        tile(kind, n, width, stride, is_edge, job, at);                       \
    }
#define TILES(name, kind, width, stride)  \
    TILE(name, 1, kind, width, stride, 1) \
    TILE(name, 2, kind, width, stride, 1) \
    TILE(name, 3, kind, width, stride, 1) \
    TILE(name, 4, kind, width, stride, 1) \
    TILE(name, 7, kind, width, stride, 1)
#define CONV_TILES(name, width, stride)           \
    TILES(name, TL_DEPTHWISE_CONV, width, stride) \
    TILE(name##_inner, 7, TL_DEPTHWISE_CONV, width, stride, 0)
#define SET(name, inner)                                                       \
    {                                                                          \
        inner,                                                                 \
        {                                                                      \
            NULL, name##_1, name##_2, name##_3, name##_4, NULL, NULL, name##_7 \
        }                                                                      \
    }

TILES(conv, TL_DEPTHWISE_CONV, 0, 0)
TILES(max, TL_DEPTHWISE_MAX, 0, 0)
TILES(mean, TL_DEPTHWISE_MEAN, 0, 0)
CONV_TILES(conv_3_1, 3, 1)
CONV_TILES(conv_3_2, 3, 2)
CONV_TILES(conv_5_1, 5, 1)
CONV_TILES(conv_5_2, 5, 2)

// The first matching row applies; width 0: any.
static const struct {
    tl_depthwise_kind kind;
    int width, stride;
    tile_set tiles;
} sets[] = {
    {TL_DEPTHWISE_CONV, 3, 1, SET(conv_3_1, conv_3_1_inner_7)},
    {TL_DEPTHWISE_CONV, 3, 2, SET(conv_3_2, conv_3_2_inner_7)},
    {TL_DEPTHWISE_CONV, 5, 1, SET(conv_5_1, conv_5_1_inner_7)},
    {TL_DEPTHWISE_CONV, 5, 2, SET(conv_5_2, conv_5_2_inner_7)},
    {TL_DEPTHWISE_CONV, 0, 0, SET(conv, conv_7)},
    {TL_DEPTHWISE_MAX, 0, 0, SET(max, max_7)},
    {TL_DEPTHWISE_MEAN, 0, 0, SET(mean, mean_7)},
};

static const tile_set *tiles_of(const tl_depthwise_job *job)
{
    size_t i = 0;
    while (sets[i].kind != job->kind ||
           (sets[i].width && (job->dilation[1] != 1 || job->size[1] != sets[i].width ||
                              job->stride[1] != sets[i].stride)))
        i++;
    return &sets[i].tiles;
}

// Moves a tile by `n` results.
static void move(tile_place *at, ptrdiff_t n, int stride)
{
    at->left += n * stride;
    at->dst += n * TL_BLOCK;
    at->add = at->add ? at->add + n * TL_BLOCK : NULL;
}

// Computes a line of results, from its first tile `at` on. If no tile has the number of remaining
// results, a full one recomputes some, unless they may have overwritten their addends.
static void run_line(const tl_depthwise_job *job, const tile_set *tiles, tile_place at)
{
    const int stride = job->stride[1], can_repeat = job->ow >= PIXELS && !at.add;
    const ptrdiff_t reach = (ptrdiff_t)(PIXELS - 1) * stride + // to the last tap of a full tile
                            (ptrdiff_t)(job->size[1] - 1) * job->dilation[1];
    for (int x = 0, n; x < job->ow; x += n) {
        n = tl_min(PIXELS, job->ow - x);
        if (!tiles->any[n] && can_repeat) {
            move(&at, n - PIXELS, stride);
            x -= PIXELS - n;
            n = PIXELS;
        }
        while (!tiles->any[n])
            n--;
        if (n == PIXELS && at.left >= 0 && at.left + reach < job->iw)
            tiles->inner(job, &at);
        else
            tiles->any[n](job, &at);
        if (job->kind == TL_DEPTHWISE_CONV)
            tl_vf_activate(job->act, at.dst, (size_t)n * TL_BLOCK);
        move(&at, n, stride);
    }
}

// Whether the single window covers the source: global pooling.
static int is_global(const tl_depthwise_job *job)
{
    return job->oh == 1 && job->ow == 1 && job->size[0] - job->padding[0] >= job->ih &&
           job->size[1] - job->padding[1] >= job->iw;
}

// The sum of `n` pixels, as eight independent partial sums.
TL_INLINE tl_vf sum_pixels(const float *src, size_t n)
{
    tl_vf sum[8];
    TL_UNROLL
    for (int k = 0; k < 8; k++)
        sum[k] = tl_vf_zero();
    size_t i = 0;
    for (; i + 8 <= n; i += 8) {
        TL_UNROLL
        for (int k = 0; k < 8; k++)
            sum[k] = tl_vf_add(sum[k], tl_vf_load(src + (i + k) * TL_BLOCK));
    }
    for (; i < n; i++)
        sum[0] = tl_vf_add(sum[0], tl_vf_load(src + i * TL_BLOCK));
    TL_UNROLL
    for (int k = 4; k >= 1; k /= 2) {
        TL_UNROLL
        for (int m = 0; m < k; m++)
            sum[m] = tl_vf_add(sum[m], sum[m + k]);
    }
    return sum[0];
}

// The mean of whole planes.
static void mean_planes(const tl_depthwise_job *job, size_t begin, size_t end)
{
    const size_t pixels = (size_t)job->ih * job->iw;
    tile_place at = {.top = -(ptrdiff_t)job->padding[0], .left = -(ptrdiff_t)job->padding[1]};
    for (size_t p = begin; p < end; p++) {
        at.dst = (float *)job->dst + p * TL_BLOCK;
        for (int lane = 0; lane < TL_BLOCK; lane += TL_VF_LANES) {
            tl_vf sum = sum_pixels((const float *)job->src + p * pixels * TL_BLOCK + lane, pixels);
            finish(TL_DEPTHWISE_MEAN, 1, job, &at, &sum, lane);
        }
    }
}

void SIMD(tl_depthwise)(void *arg, size_t begin, size_t end)
{
    const tl_depthwise_job *const job = arg;
    if (job->kind == TL_DEPTHWISE_MEAN && is_global(job)) {
        mean_planes(job, begin, end);
        return;
    }
    const tile_set *const tiles = tiles_of(job);
    const size_t packed = TL_BLOCK + (size_t)job->size[0] * job->size[1] * TL_BLOCK;
    for (size_t u = begin; u < end; u++) {
        const size_t plane = u / job->oh, first = u * job->ow * TL_BLOCK;
        const ptrdiff_t top = (ptrdiff_t)(u % job->oh) * job->stride[0] - job->padding[0];
        tile_place at = {.plane = (const float *)job->src + plane * job->ih * job->iw * TL_BLOCK,
                         .add = job->add ? job->add + first : NULL,
                         .dst = (float *)job->dst + first,
                         .top = top,
                         .left = -(ptrdiff_t)job->padding[1]};
        tl_window_hits(job->size[0], job->dilation[0], top, job->ih, &at.tap_begin, &at.tap_end);
        if (job->weight) {
            at.bias = (const float *)job->weight + plane % job->blocks * packed;
            at.weight = at.bias + TL_BLOCK;
        }
        run_line(job, tiles, at);
    }
}
