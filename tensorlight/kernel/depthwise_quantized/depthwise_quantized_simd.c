// SPDX-License-Identifier: Apache-2.0
// Windows over single channels of 8-bit images in vectors.
//
// A permutation interleaves the channels of four adjacent pixels of a row, so that a dot product of
// four bytes covers four taps of a channel (a quad). With stride 1 the pixels of a quad serve two
// results: with the weights of a row of taps, and with these weights shifted by one tap.
//
//     pixels        x   x+1  x+2  x+3  (x+4 ..)        a row of 3 taps, stride 1
//     result x      w0  w1   w2   0
//     result x+1    0   w0   w1   w2
//
// The rows of a plane are copied before they are read, with padding columns of zero points at both
// sides; rows above and below the image are zero points. Of an image that is too wide for the ring,
// only the pixels of tiles at the edges are copied.

#include "kernel/depthwise_quantized/depthwise_quantized.h"

#include <limits.h>
#include <string.h>

#include "kernel/conv_quantized/requantize.h"
#include "kernel/simd/tl_simd_act.h"
#include "kernel/tl_windows.h"

enum {
    PARTS = TL_BLOCK / TL_VF_LANES,    // vectors of a pixel
    QUAD_SIZE = TL_BLOCK * TL_QUAD,    // bytes of the weights of four taps
    MAX_TILE = 8,                      // results of a tile
    MAX_SUMS = (MAX_TILE + 3) / 4 * 4, // MAX_TILE rounded up to four, the width of a store
    MAX_KERNEL_ROWS = 8,               // of kernels that quad_line supports
    MAX_KERNEL_COLUMNS = 7,
    SLOTS = MAX_KERNEL_ROWS, // rows of a ring, a power of two
    MAX_COLUMNS = 144,       // pixels of a buffered row, with its padding
};

// The weights of a row of taps for a vector of channels, in quads: for the result at the first
// pixel of a quad (now), and for the result at its second pixel (later).
typedef struct row_taps {
    tl_vk now[2], later[2];
} row_taps;

// Parameters of all lines of a plane.
typedef struct plane_job {
    tl_requantize requantize[PARTS];
    row_taps taps[PARTS][MAX_KERNEL_ROWS]; // for quad_line
    int has_zeros;                         // weights have zero points
    tl_vi zeros[PARTS];                    // negated zero points, times the sum of the window
    row_taps ones;                         // weights 1: the sum of a row of the window
} plane_job;

// The position of a tile: its results, and its first window.
typedef struct tile_pos {
    const uint8_t *plane;
    const int8_t *row; // of packed weights
    size_t offset;     // of the first result in dst, in elements
    ptrdiff_t top, left;
    int len; // results, at most those of the tile function
} tile_pos;

static inline int is_inside(ptrdiff_t index, int extent)
{
    return (size_t)index < (size_t)extent;
}

// Results

// Stores values of result `m` of a tile. If the activation is not a clamp, they are stored as
// floats in `scratch` (in dst if it has floats), and activate() completes them.
static inline void put(const tl_depthwise_job *job, int m, tl_vf v, size_t offset, int lane,
                       float *scratch, const tl_requantize *e)
{
    float *const floats = job->dtype == TL_FLOAT ? (float *)job->dst + offset : scratch;
    if (floats)
        tl_vf_store(floats + m * TL_BLOCK + lane, v);
    else
        tl_quantized_store((uint8_t *)job->dst + offset + m * TL_BLOCK + lane, v, e);
}

// Applies the activation to a tile of floats in `scratch` or in dst; quantizes those in `scratch`.
static void activate(const tl_depthwise_job *job, int len, size_t offset, float *scratch)
{
    const size_t n = (size_t)len * TL_BLOCK;
    float *const floats = job->dtype == TL_FLOAT ? (float *)job->dst + offset : scratch;
    tl_vf_activate(job->q.act, floats, n);
    if (job->dtype == TL_FLOAT)
        return;
    const tl_requantize e = tl_requantize_of(&job->q, job->low, job->high);
    for (size_t i = 0; i < n; i += TL_VF_LANES)
        tl_quantized_store((uint8_t *)job->dst + offset + i, tl_vf_load(floats + i), &e);
}

// Tiles of quads of taps

// Adds one row of taps to `n` sums, stride 1: `quads` quads of weights per result, 1 or 2, as
// weights shifted by one tap need room. The pixels 2 j .. 2 j + 3 meet the first quad of results 2
// j and 2 j + 1, and the second quad of the results four before. n and quads are constants.
TL_INLINE void add_row_1(tl_vi *sum, const int n, const int quads, const uint8_t *row,
                         const row_taps *taps)
{
    TL_UNROLL
    for (int j = 0; j < n / 2 + 2 * (quads - 1); j++) {
        const tl_vq q = tl_vq_pixels(row + 2 * j * TL_BLOCK);
        if (j < n / 2) {
            sum[2 * j] = tl_vi_dot(sum[2 * j], q, taps->now[0]);
            sum[2 * j + 1] = tl_vi_dot(sum[2 * j + 1], q, taps->later[0]);
        }
        if (quads > 1 && j >= 2) {
            sum[2 * j - 4] = tl_vi_dot(sum[2 * j - 4], q, taps->now[1]);
            sum[2 * j - 3] = tl_vi_dot(sum[2 * j - 3], q, taps->later[1]);
        }
    }
}

// The same with stride 2: these pixels meet the first quad of result j, and the second of j - 2.
TL_INLINE void add_row_2(tl_vi *sum, const int n, const int quads, const uint8_t *row,
                         const row_taps *taps)
{
    TL_UNROLL
    for (int j = 0; j < n + 2 * (quads - 1); j++) {
        const tl_vq q = tl_vq_pixels(row + 2 * j * TL_BLOCK);
        if (j < n)
            sum[j] = tl_vi_dot(sum[j], q, taps->now[0]);
        if (quads > 1 && j >= 2)
            sum[j - 2] = tl_vi_dot(sum[j - 2], q, taps->now[1]);
    }
}

// Stores a tile as bytes, if e->is_small. n and is_plain are constants; pos->len is n or n - 1.
TL_INLINE void put_small(const tl_depthwise_job *job, const int n, const int is_plain,
                         const tile_pos *pos, int lane, const tl_vi *sum, const tl_requantize *e)
{
    uint8_t *const dst = (uint8_t *)job->dst + pos->offset + lane;
    const int len = pos->len;
    TL_UNROLL
    for (int m = 0; m < n; m += 4)
        if (m + 4 < n || (m + 4 == n && len == n))
            tl_quantized_store_sums(dst + m * TL_BLOCK, sum + m, 4, is_plain, e);
        else
            tl_quantized_store_sums(dst + m * TL_BLOCK, sum + m, len - m, is_plain, e);
}

// Stores result `m`: the sum as it is for TL_INT32, otherwise requantized.
static inline void put_sum(const tl_depthwise_job *job, int m, tl_vi sum, size_t offset, int lane,
                           float *scratch, const tl_requantize *e)
{
    if (job->dtype == TL_INT32)
        memcpy((int32_t *)job->dst + offset + m * TL_BLOCK + lane, &sum, sizeof(sum));
    else
        put(job, m, tl_quantized_values(sum, e), offset, lane, scratch, e);
}

// Stores any results, one by one. Not inlined in the tile functions, as it is rarely needed.
static void put_sums(const tl_depthwise_job *job, const tile_pos *pos, int lane, const tl_vi *sum,
                     float *scratch, const tl_requantize *e)
{
    for (int m = 0; m < pos->len; m++)
        put_sum(job, m, sum[m], pos->offset, lane, scratch, e);
}

// Adds all rows of taps; taps of consecutive rows are `step` elements apart (0: the same taps).
TL_INLINE void add_rows(tl_vi *sum, const int n, const int stride, const int quads,
                        const tl_depthwise_job *job, const uint8_t *const *rows, int lane,
                        const row_taps *taps, int step)
{
    for (int t = 0; t < job->size[0]; t++, taps += step) {
        if (stride == 1)
            add_row_1(sum, n, quads, rows[t] + lane, taps);
        else
            add_row_2(sum, n, quads, rows[t] + lane, taps);
    }
}

// Computes a tile. n, stride and quads are constants: each combination is compiled separately.
TL_INLINE void quad_tile(const int n, const int stride, const int quads,
                         const tl_depthwise_job *job, const tile_pos *pos,
                         const uint8_t *const *rows, float *scratch, const plane_job *plane)
{
    for (int lane = 0; lane < TL_BLOCK; lane += TL_VF_LANES) {
        const tl_requantize *const e = &plane->requantize[lane / TL_VF_LANES];
        const row_taps *const taps = plane->taps[lane / TL_VF_LANES];
        tl_vi sum[MAX_SUMS];
        TL_UNROLL
        for (int m = 0; m < MAX_SUMS; m++)
            sum[m] = plane->has_zeros ? tl_vi_set1(0) : e->start;
        if (plane->has_zeros) {
            const tl_vi zeros = plane->zeros[lane / TL_VF_LANES];
            add_rows(sum, n, stride, quads, job, rows, lane, &plane->ones, 0);
            TL_UNROLL
            for (int m = 0; m < MAX_SUMS; m++)
                sum[m] = tl_vi_add(e->start, tl_vi_mul(sum[m], zeros));
        }
        add_rows(sum, n, stride, quads, job, rows, lane, taps, 1);
        if (!e->is_small || scratch || job->dtype != TL_UINT8) {
            tl_vi copy[MAX_TILE]; // `sum` stays in registers, as its address is not passed
            TL_UNROLL
            for (int m = 0; m < n; m++)
                copy[m] = sum[m];
            put_sums(job, pos, lane, copy, scratch, e);
        } else if (e->is_plain) {
            put_small(job, n, 1, pos, lane, sum, e);
        } else {
            put_small(job, n, 0, pos, lane, sum, e);
        }
    }
}

typedef void tile_func(const tl_depthwise_job *job, const tile_pos *pos, const uint8_t *const *rows,
                       float *scratch, const plane_job *plane);

#define TILE(n, stride, quads)                                                                  \
    static void tile_##n##_##stride##_##quads(const tl_depthwise_job *job, const tile_pos *pos, \
                                              const uint8_t *const *rows, float *scratch,       \
                                              const plane_job *plane)                           \
    {                                                                                           \
        quad_tile(n, stride, quads, job, pos, rows, scratch, plane);                            \
    }
#define TILES(n) TILE(n, 1, 1) TILE(n, 1, 2) TILE(n, 2, 1) TILE(n, 2, 2)
#define SET(n)                             \
    {                                      \
        {tile_##n##_1_1, tile_##n##_1_2},  \
        {                                  \
            tile_##n##_2_1, tile_##n##_2_2 \
        }                                  \
    }
TILES(2)
TILES(4)
TILES(6)
TILES(8)

// Indices: (results - 1) / 2, stride - 1, quads - 1.
static tile_func *const tiles[MAX_TILE / 2][2][2] = {
    SET(2),
    SET(4),
    SET(6),
    SET(8),
};

// Whether quad_line supports a convolution.
static int supports_quads(const tl_depthwise_job *job)
{
    return job->stride[1] <= 2 && job->dilation[1] == 1 && job->size[0] <= MAX_KERNEL_ROWS &&
           job->size[1] <= MAX_KERNEL_COLUMNS;
}

// Columns of the source that a tile of `n` results reads, n even.
static int columns_of(const tl_depthwise_job *job, int n)
{
    const int stride = job->stride[1], taps = job->size[1];
    return stride == 1 ? n - 2 + TL_QUAD * tl_depthwise_u8_quads(taps + 1)
                       : 2 * n - 2 + TL_QUAD * tl_depthwise_u8_quads(taps);
}

enum { NO_ROW = INT_MIN };

// A ring buffer of the rows of a plane with their padding: each row is copied once for all lines of
// results that read it. The padding columns remain zero points.
typedef struct ring {
    int columns;
    ptrdiff_t top;         // of the line of windows whose rows are in the ring, or NO_ROW
    ptrdiff_t held[SLOTS]; // the index of the row in each slot, or NO_ROW
    _Alignas(64) uint8_t rows[SLOTS][MAX_COLUMNS * TL_BLOCK];
} ring;

static inline void fill_pixels(uint8_t *to, int zero, int n)
{
    const tl_v16 z = tl_v16_set1((uint8_t)zero);
    for (int k = 0; k < n; k++)
        tl_v16_store(to + k * TL_BLOCK, z);
}

static inline void copy_pixels(uint8_t *to, const uint8_t *from, int n)
{
    for (int k = 0; k < n; k++)
        tl_v16_store(to + k * TL_BLOCK, tl_v16_load(from + k * TL_BLOCK));
}

static void ring_begin(ring *r, const tl_depthwise_job *job, int columns)
{
    r->columns = columns;
    for (int k = 0; k < SLOTS; k++) {
        fill_pixels(r->rows[k], job->q.zero, columns);
        r->held[k] = NO_ROW;
    }
}

static void ring_next_plane(ring *r)
{
    r->top = NO_ROW;
    for (int k = 0; k < SLOTS; k++)
        r->held[k] = NO_ROW;
}

// Copies row `y` of the plane; outside of the image, fills the row with zero points.
static void ring_load(uint8_t *to, const tl_depthwise_job *job, const uint8_t *plane, ptrdiff_t y,
                      int columns)
{
    const int left = job->padding[1], n = tl_min(job->iw, columns - left);
    if (!is_inside(y, job->ih))
        fill_pixels(to, job->q.zero, columns);
    else if (n > 0)
        copy_pixels(to + left * TL_BLOCK, plane + y * job->iw * TL_BLOCK, n);
}

// The slot of row `y`, the row of tap `t`: SLOTS consecutive rows have different slots.
static inline size_t slot_of(const tl_depthwise_job *job, ptrdiff_t y, int t)
{
    return job->dilation[0] == 1 ? (size_t)y % SLOTS : (size_t)t;
}

// Copies the rows of the line of windows at `top` that are not in the ring yet.
static void ring_hold(ring *r, const tl_depthwise_job *job, const uint8_t *plane, ptrdiff_t top)
{
    for (int t = 0; t < job->size[0]; t++) {
        const ptrdiff_t y = top + (ptrdiff_t)t * job->dilation[0];
        const size_t slot = slot_of(job, y, t);
        if (r->held[slot] != y)
            ring_load(r->rows[slot], job, plane, y, r->columns);
        r->held[slot] = y;
    }
}

// Finds the rows of a line of windows. Copies the rows of the next line, too, if they fit: wide
// loads right after narrow stores to the same bytes stall.
static void ring_rows(ring *r, const tl_depthwise_job *job, const tile_pos *pos,
                      const uint8_t **rows)
{
    const ptrdiff_t next = pos->top + job->stride[0];
    const ptrdiff_t last = (ptrdiff_t)(job->oh - 1) * job->stride[0] - job->padding[0];
    const int fits = job->dilation[0] == 1 && job->size[0] + job->stride[0] <= SLOTS;
    if (r->top != pos->top)
        ring_hold(r, job, pos->plane, pos->top);
    r->top = fits && next <= last ? next : NO_ROW;
    if (r->top == next)
        ring_hold(r, job, pos->plane, next);
    for (int t = 0; t < job->size[0]; t++)
        rows[t] = r->rows[slot_of(job, pos->top + (ptrdiff_t)t * job->dilation[0], t)];
}

// Finds the rows of a tile of a wide image: in place or, at its edges, copied to `copies`.
static void tile_rows(const tl_depthwise_job *job, const tile_pos *pos, int columns,
                      const uint8_t **rows, uint8_t (*copies)[MAX_COLUMNS * TL_BLOCK])
{
    const int is_within = pos->left >= 0 && pos->left + columns <= job->iw;
    for (int t = 0; t < job->size[0]; t++) {
        const ptrdiff_t y = pos->top + (ptrdiff_t)t * job->dilation[0];
        const uint8_t *const row =
            is_inside(y, job->ih) ? pos->plane + y * job->iw * TL_BLOCK : NULL;
        rows[t] = row && is_within ? row + pos->left * TL_BLOCK : copies[t];
        for (int x = 0; rows[t] == copies[t] && x < columns; x++)
            if (row && is_inside(pos->left + x, job->iw))
                copy_pixels(copies[t] + x * TL_BLOCK, row + (pos->left + x) * TL_BLOCK, 1);
            else
                fill_pixels(copies[t] + x * TL_BLOCK, job->q.zero, 1);
    }
}

// Computes a line of results by tiles of quads; r->columns 0: the image is wide.
static void quad_line(const tl_depthwise_job *job, tile_pos pos, const plane_job *plane, ring *r)
{
    const int stride = job->stride[1], quads = tl_depthwise_u8_quads(job->size[1] + (stride == 1));
    const int needs_floats = !tl_act_is_bounds(job->q.act);
    const uint8_t *rows[MAX_KERNEL_ROWS];
    float scratch[MAX_TILE * TL_BLOCK];
    if (r->columns)
        ring_rows(r, job, &pos, rows);
    for (int x = 0; x < job->ow; x += MAX_TILE) {
        pos.len = tl_min(MAX_TILE, job->ow - x);
        const int half = (pos.len - 1) / 2;
        if (!r->columns)
            tile_rows(job, &pos, columns_of(job, 2 * half + 2), rows, r->rows);
        tiles[half][stride - 1][quads - 1](job, &pos, rows, needs_floats ? scratch : NULL, plane);
        if (needs_floats)
            activate(job, pos.len, pos.offset, scratch);
        pos.left += (ptrdiff_t)pos.len * stride;
        pos.offset += (size_t)pos.len * TL_BLOCK;
        for (int t = 0; t < job->size[0]; t++)
            rows[t] += pos.len * stride * TL_BLOCK;
    }
}

// Windows of any shape, result by result

// The pixel at row y and column x, `outside` in the padding.
static inline const uint8_t *pixel_at(const tl_depthwise_job *job, const tile_pos *pos, ptrdiff_t y,
                                      ptrdiff_t x, const uint8_t *outside)
{
    return is_inside(y, job->ih) && is_inside(x, job->iw)
               ? pos->plane + (y * job->iw + x) * TL_BLOCK
               : outside;
}

// The sum of a window for a vector of channels, tap by tap: of each quad of pixels only byte 0 is
// not 0, so the weight of the tap is moved there.
static tl_vi sum_products(const tl_depthwise_job *job, const tile_pos *pos, int lane,
                          const plane_job *plane)
{
    tl_vi sum = plane->requantize[lane / TL_VF_LANES].start, pixels = tl_vi_set1(0);
    uint8_t outside[TL_BLOCK];
    fill_pixels(outside, job->q.zero, 1);
    const int8_t *quad = pos->row + sizeof(tl_quantized_head) + lane * TL_QUAD;
    for (int ky = 0; ky < job->size[0]; ky++)
        for (int kx = 0; kx < job->size[1]; kx++) {
            const uint8_t *const pixel =
                pixel_at(job, pos, pos->top + (ptrdiff_t)ky * job->dilation[0],
                         pos->left + (ptrdiff_t)kx * job->dilation[1], outside);
            const int k = kx % TL_QUAD, is_last = k == TL_QUAD - 1 || kx == job->size[1] - 1;
            sum = tl_vi_dot(sum, tl_vq_of(tl_vb_pixel(pixel + lane)),
                            tl_vk_of(tl_vb_tap(tl_vb_load(quad), k)));
            pixels = tl_vi_add(pixels, tl_vi_load_u8(pixel + lane));
            quad += is_last ? QUAD_SIZE : 0;
        }
    return plane->has_zeros ? tl_vi_add(sum, tl_vi_mul(pixels, plane->zeros[lane / TL_VF_LANES]))
                            : sum;
}

// The part of a window inside the image.
typedef struct clipped_window {
    int row, rows, column, columns;
} clipped_window;

static clipped_window clip_window(const tl_depthwise_job *job, const tile_pos *pos)
{
    int row_end, column_end;
    clipped_window w;
    tl_window_hits(job->size[0], 1, pos->top, job->ih, &w.row, &row_end);
    tl_window_hits(job->size[1], 1, pos->left, job->iw, &w.column, &column_end);
    w.rows = row_end - w.row;
    w.columns = column_end - w.column;
    w.row += (int)pos->top;
    w.column += (int)pos->left;
    return w;
}

// The sum of pixel - zero point over a clipped window.
static tl_vi sum_pixels(const tl_depthwise_job *job, const tile_pos *pos, const clipped_window *w,
                        int lane)
{
    tl_vi sum = tl_vi_set1(-job->q.zero * w->rows * w->columns);
    for (int y = 0; y < w->rows; y++) {
        const uint8_t *const row =
            pos->plane + ((size_t)(w->row + y) * job->iw + w->column) * TL_BLOCK + lane;
        for (int x = 0; x < w->columns; x++)
            sum = tl_vi_add(sum, tl_vi_load_u8(row + x * TL_BLOCK));
    }
    return sum;
}

// The means of a window over a vector of channels from `lane` on.
static tl_vf mean_of(const tl_depthwise_job *job, const tile_pos *pos, int lane,
                     const tl_requantize *e)
{
    const clipped_window w = clip_window(job, pos);
    const float count =
        (float)(tl_depthwise_count(pos->top, job->size[0], job->begin[0], job->end[0]) *
                tl_depthwise_count(pos->left, job->size[1], job->begin[1], job->end[1]));
    const tl_vf mean = tl_vf_div(tl_vi_to_vf(sum_pixels(job, pos, &w, lane)), tl_vf_set1(count));
    return tl_quantized_clamp(tl_vf_mul(mean, e->factor), e);
}

static void any_line(const tl_depthwise_job *job, tile_pos pos, const plane_job *plane, ring *r)
{
    (void)r;
    const int needs_floats = !tl_act_is_bounds(job->q.act);
    float scratch[TL_BLOCK];
    for (int x = 0; x < job->ow; x++) {
        for (int lane = 0; lane < TL_BLOCK; lane += TL_VF_LANES) {
            const tl_requantize *const e = &plane->requantize[lane / TL_VF_LANES];
            float *const to = needs_floats ? scratch : NULL;
            if (job->kind == TL_DEPTHWISE_CONV)
                put_sum(job, 0, sum_products(job, &pos, lane, plane), pos.offset, lane, to, e);
            else
                put(job, 0, mean_of(job, &pos, lane, e), pos.offset, lane, to, e);
        }
        if (needs_floats)
            activate(job, 1, pos.offset, scratch);
        pos.left += job->stride[1];
        pos.offset += TL_BLOCK;
    }
}

// Max pooling

// to[i] = the max of `count` >= 1 pixels that are `apart` bytes apart, the first one at
// from + i * step. Each pass over the n results reads three pixels per result.
static void max_pixels(uint8_t *to, int n, const uint8_t *from, ptrdiff_t step, ptrdiff_t apart,
                       int count)
{
    for (int k = 0; k < count; k += 3) {
        const uint8_t *const first = from + k * apart;
        const ptrdiff_t second = k + 1 < count ? apart : 0, third = k + 2 < count ? 2 * apart : 0;
        const uint8_t *const before = k > 0 ? to : first;
        const ptrdiff_t before_step = k > 0 ? TL_BLOCK : step;
        for (ptrdiff_t i = 0; i < n; i++) {
            const uint8_t *const at = first + i * step;
            const tl_v16 two = tl_v16_max(tl_v16_load(at), tl_v16_load(at + second));
            const tl_v16 others =
                tl_v16_max(tl_v16_load(at + third), tl_v16_load(before + i * before_step));
            tl_v16_store(to + i * TL_BLOCK, tl_v16_max(two, others));
        }
    }
}

// The max of each of n columns from `left` on over the rows of the window; 0 outside of the image.
static void find_columns(const tl_depthwise_job *job, const tile_pos *pos, const clipped_window *w,
                         int n, uint8_t *columns)
{
    const ptrdiff_t row = (ptrdiff_t)job->iw * TL_BLOCK;
    const int begin = pos->left < 0 ? tl_min((int)-pos->left, n) : 0;
    const int end = tl_min((int)(job->iw - pos->left), n);
    fill_pixels(columns, 0, begin);
    fill_pixels(columns + (size_t)end * TL_BLOCK, 0, n - end);
    max_pixels(columns + (size_t)begin * TL_BLOCK, end - begin,
               pos->plane + w->row * row + (pos->left + begin) * TL_BLOCK, TL_BLOCK, row, w->rows);
}

// A line of results, at most `max` at a time: as many as the buffer of columns permits.
static void max_line(const tl_depthwise_job *job, tile_pos pos, const plane_job *plane, ring *r)
{
    (void)plane, (void)r;
    const clipped_window w = clip_window(job, &pos);
    const int stride = job->stride[1], size = job->size[1], max = (MAX_COLUMNS - size) / stride + 1;
    uint8_t columns[MAX_COLUMNS * TL_BLOCK];
    for (int x = 0; x < job->ow; x += max) {
        const int n = tl_min(max, job->ow - x);
        find_columns(job, &pos, &w, (n - 1) * stride + size, columns);
        max_pixels((uint8_t *)job->dst + pos.offset, n, columns, (ptrdiff_t)stride * TL_BLOCK,
                   TL_BLOCK, size);
        pos.left += (ptrdiff_t)n * stride;
        pos.offset += (size_t)n * TL_BLOCK;
    }
}

// The same for windows wider than the buffer of columns.
static void wide_max_line(const tl_depthwise_job *job, tile_pos pos, const plane_job *plane,
                          ring *r)
{
    (void)plane, (void)r;
    for (int x = 0; x < job->ow; x++, pos.left += job->stride[1], pos.offset += TL_BLOCK) {
        const clipped_window w = clip_window(job, &pos);
        tl_v16 max = tl_v16_zero();
        for (int y = 0; y < w.rows; y++) {
            const uint8_t *const row =
                pos.plane + ((size_t)(w.row + y) * job->iw + w.column) * TL_BLOCK;
            for (int k = 0; k < w.columns; k++)
                max = tl_v16_max(max, tl_v16_load(row + k * TL_BLOCK));
        }
        tl_v16_store((uint8_t *)job->dst + pos.offset, max);
    }
}

// All

// Computes the line of results at `pos`.
typedef void line_func(const tl_depthwise_job *job, tile_pos pos, const plane_job *plane, ring *r);

static line_func *line_of(const tl_depthwise_job *job)
{
    if (job->kind == TL_DEPTHWISE_MAX)
        return job->size[1] <= MAX_COLUMNS ? max_line : wide_max_line;
    return job->kind == TL_DEPTHWISE_CONV && supports_quads(job) ? quad_line : any_line;
}

// Finds the requantization of a block of channels.
static void find_requantize(const tl_depthwise_job *job, const int8_t *row,
                            tl_requantize *requantize)
{
    const float factors = job->q.weight_zero ? 2 * 128 : 128; // max |weight - zero point|
    const float max = 255 * factors * (float)(job->size[0] * job->size[1]);
    for (int p = 0; p < PARTS; p++)
        requantize[p] = row ? tl_requantize_at(row, p * TL_VF_LANES, &job->q, job->low, job->high,
                                               job->bounds, max)
                            : tl_requantize_of(&job->q, job->low, job->high);
}

// The taps of a row whose packed weights are at `weight`.
static row_taps taps_of(const tl_depthwise_job *job, const int8_t *weight)
{
    const tl_vb none = tl_vb_zero(), first = tl_vb_load(weight);
    const tl_vb second =
        tl_depthwise_u8_quads(job->size[1]) > 1 ? tl_vb_load(weight + QUAD_SIZE) : none;
    return (row_taps){
        .now = {tl_vk_of(first), tl_vk_of(second)},
        .later = {tl_vk_of(tl_vb_later(none, first)), tl_vk_of(tl_vb_later(first, second))}};
}

// The taps of a row whose weights are 1.
static row_taps ones_of(const tl_depthwise_job *job)
{
    int8_t ones[2 * QUAD_SIZE];
    for (int i = 0; i < 2 * QUAD_SIZE; i++)
        ones[i] = i / QUAD_SIZE * TL_QUAD + i % TL_QUAD < job->size[1];
    return taps_of(job, ones);
}

// Loads the zero points wz of the weights of a block. Corrects the initial sums: the kernel adds
// -wz * sum(x), but -wz * sum(x - zx) is needed, zx the zero point of the source.
static void find_zeros(const tl_depthwise_job *job, int block, plane_job *p)
{
    const int32_t shift = -job->q.zero * job->size[0] * job->size[1];
    int32_t zeros[TL_BLOCK];
    p->has_zeros = job->q.weight_zero != NULL;
    if (!p->has_zeros)
        return;
    tl_depthwise_u8_zeros(job, block, zeros);
    for (int part = 0; part < PARTS; part++) {
        const tl_vi own = tl_vi_load(zeros + part * TL_VF_LANES);
        p->zeros[part] = tl_vi_mul(own, tl_vi_set1(-1));
        p->requantize[part].start =
            tl_vi_add(p->requantize[part].start, tl_vi_mul(p->zeros[part], tl_vi_set1(shift)));
    }
    p->ones = ones_of(job);
}

// Fills the parameters of a plane of channel block `block`, whose packed weights are `row`.
static void find_plane(const tl_depthwise_job *job, int block, const int8_t *row, int has_quads,
                       plane_job *p)
{
    const size_t step = (size_t)tl_depthwise_u8_quads(job->size[1]) * QUAD_SIZE;
    find_requantize(job, row, p->requantize);
    find_zeros(job, block, p);
    for (int part = 0; has_quads && part < PARTS; part++)
        for (int t = 0; t < job->size[0]; t++)
            p->taps[part][t] = taps_of(job, row + sizeof(tl_quantized_head) + t * step +
                                                part * TL_VF_LANES * TL_QUAD);
}

void SIMD_OF(tl_depthwise_u8)(void *arg, size_t begin, size_t end)
{
    const tl_depthwise_job *const job = arg;
    line_func *const line = line_of(job);
    plane_job params;
    ring r;
    const int columns = columns_of(job, (job->ow + 1) / 2 * 2);
    ring_begin(&r, job, line == quad_line && columns <= MAX_COLUMNS ? columns : 0);
    size_t plane = begin / job->oh, y = begin % job->oh;
    for (size_t u = begin; u < end; u++, y++) {
        plane += y == (size_t)job->oh;
        y = y == (size_t)job->oh ? 0 : y;
        tile_pos pos = {.plane = (const uint8_t *)job->src + plane * job->ih * job->iw * TL_BLOCK,
                        .row = job->weight
                                   ? (const int8_t *)job->weight + plane % job->blocks * job->row
                                   : NULL,
                        .offset = u * job->ow * TL_BLOCK,
                        .top = (ptrdiff_t)y * job->stride[0] - job->padding[0],
                        .left = -(ptrdiff_t)job->padding[1]};
        if (u == begin || y == 0) {
            find_plane(job, (int)(plane % job->blocks), pos.row, line == quad_line, &params);
            ring_next_plane(&r);
        }
        line(job, pos, &params, &r);
    }
}
