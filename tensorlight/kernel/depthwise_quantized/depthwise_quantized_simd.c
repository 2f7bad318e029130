// SPDX-License-Identifier: Apache-2.0
// Windows over single channels of 8-bit images in vectors.
//
// A dot product of four bytes reads four neighbouring pixels of a row, whose channels come together
// by a permutation. With stride 1 these pixels serve two results: with the weights of a row of
// taps, and with the same one tap later.
//
//     pixels        x   x+1  x+2  x+3  (x+4 ..)        a row of 3 taps, stride 1
//     result x      w0  w1   w2   0
//     result x+1    0   w0   w1   w2
//
// The rows of a plane are copied before they are read, with columns of zero points at both sides; a
// row above or below the image is one of zero points. Of wide images only columns for tiles at
// the edges are copied.

#include "kernel/depthwise_quantized/depthwise_quantized.h"

#include <limits.h>
#include <string.h>

#include "kernel/conv_quantized/requantize.h"
#include "kernel/simd/tl_simd_act.h"
#include "kernel/tl_windows.h"

enum {
    PARTS = TL_BLOCK / TL_VF_LANES,  // vectors of a pixel
    QUAD_SIZE = TL_BLOCK * TL_QUAD,  // bytes of the weights of four taps
    PIXELS = 8,                      // of a tile
    MAX_ROWS = 8,                    // of taps of the tiles of quads
    MAX_SUMS = (PIXELS + 3) / 4 * 4, // of a tile, and some more that are stored with them
    MAX_TAPS = 7,                    // of their rows
    SLOTS = MAX_ROWS,                // for rows: a power of two
    WIDE = 144,                      // columns of such a row, with its padding
};

// The weights of a row of taps, for some channels of a block: of quads of taps from a pixel on,
// and of the same one pixel later.
typedef struct row_taps {
    tl_vk now[2], later[2];
} row_taps;

// Parameters of all lines of a plane.
typedef struct plane_job {
    tl_requantize requantize[PARTS];
    row_taps taps[PARTS][MAX_ROWS]; // for tiles of quads
    int has_zeros;                  // of weights: zeros times the sum of a window is added
    tl_vi zeros[PARTS];             // those zero points, negated
    row_taps ones;                  // which sum a row of a window
} plane_job;

// A tile: its results, and the first of its windows.
typedef struct tile_place {
    const uint8_t *plane;
    const int8_t *row; // of packed weights
    size_t at;         // the first result, an element of dst
    ptrdiff_t top, left;
    int len; // results, no more than the tile's
} tile_place;

static inline int is_inside(ptrdiff_t at, int extent)
{
    return (size_t)at < (size_t)extent;
}

// Results

// Writes the values of result `m` of a tile. With a function as activation they become floats in
// `room`, or in dst, first.
static inline void put(const tl_depthwise_job *job, int m, tl_vf v, size_t at, int lane,
                       float *room, const tl_requantize *e)
{
    float *const floats = job->dtype == TL_FLOAT ? (float *)job->dst + at : room;
    if (floats)
        tl_vf_store(floats + m * TL_BLOCK + lane, v);
    else
        tl_quantized_store((uint8_t *)job->dst + at + m * TL_BLOCK + lane, v, e);
}

// Applies the activation to a tile of floats in `room` or in dst; quantizes those in `room`.
static void activate(const tl_depthwise_job *job, int len, size_t at, float *room)
{
    const size_t n = (size_t)len * TL_BLOCK;
    float *const floats = job->dtype == TL_FLOAT ? (float *)job->dst + at : room;
    tl_vf_activate(job->q.act, floats, n);
    if (job->dtype == TL_FLOAT)
        return;
    const tl_requantize e = tl_requantize_of(&job->q, job->low, job->high);
    for (size_t i = 0; i < n; i += TL_VF_LANES)
        tl_quantized_store((uint8_t *)job->dst + at + i, tl_vf_load(floats + i), &e);
}

// Tiles of quads of taps

// One row of taps for `n` results, stride 1; `quads` are those of the taps and one more. n and
// quads are constants.
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

// The same with stride 2: each result has its own quads.
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

// Writes results that are small; n and is_plain are constants, and no more than one result of the
// tile is not written.
TL_INLINE void put_small(const tl_depthwise_job *job, const int n, const int is_plain,
                         const tile_place *at, int lane, const tl_vi *sum, const tl_requantize *e)
{
    uint8_t *const dst = (uint8_t *)job->dst + at->at + lane;
    const int len = at->len;
    TL_UNROLL
    for (int m = 0; m < n; m += 4)
        if (m + 4 < n || (m + 4 == n && len == n))
            tl_quantized_store_sums(dst + m * TL_BLOCK, sum + m, 4, is_plain, e);
        else
            tl_quantized_store_sums(dst + m * TL_BLOCK, sum + m, len - m, is_plain, e);
}

// Writes result `m` from its sum; a TL_INT32 is the sum.
static inline void put_sum(const tl_depthwise_job *job, int m, tl_vi sum, size_t at, int lane,
                           float *room, const tl_requantize *e)
{
    if (job->dtype == TL_INT32)
        memcpy((int32_t *)job->dst + at + m * TL_BLOCK + lane, &sum, sizeof(sum));
    else
        put(job, m, tl_quantized_numbers(sum, e), at, lane, room, e);
}

// Writes any results, one by one: they are rare, and so not part of each tile.
static void put_sums(const tl_depthwise_job *job, const tile_place *at, int lane, const tl_vi *sum,
                     float *room, const tl_requantize *e)
{
    for (int m = 0; m < at->len; m++)
        put_sum(job, m, sum[m], at->at, lane, room, e);
}

// All rows of taps, `step` apart.
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

// One tile. n, stride and quads are constants: each combination is compiled separately.
TL_INLINE void quad_tile(const int n, const int stride, const int quads,
                         const tl_depthwise_job *job, const tile_place *at,
                         const uint8_t *const *rows, float *room, const plane_job *plane)
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
        if (!e->is_small || room || job->dtype != TL_UINT8) {
            tl_vi kept[PIXELS];
            TL_UNROLL
            for (int m = 0; m < n; m++)
                kept[m] = sum[m];
            put_sums(job, at, lane, kept, room, e);
        } else if (e->is_plain) {
            put_small(job, n, 1, at, lane, sum, e);
        } else {
            put_small(job, n, 0, at, lane, sum, e);
        }
    }
}

typedef void tile_func(const tl_depthwise_job *job, const tile_place *at,
                       const uint8_t *const *rows, float *room, const plane_job *plane);

#define TILE(n, stride, quads)                                                                   \
    static void tile_##n##_##stride##_##quads(const tl_depthwise_job *job, const tile_place *at, \
                                              const uint8_t *const *rows, float *room,           \
                                              const plane_job *plane)                            \
    {                                                                                            \
        quad_tile(n, stride, quads, job, at, rows, room, plane);                                 \
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

// By half of the results, the stride, and the quads.
static tile_func *const tiles[PIXELS / 2][2][2] = {
    SET(2),
    SET(4),
    SET(6),
    SET(8),
};

// Whether tiles of quads compute a convolution.
static int takes_quads(const tl_depthwise_job *job)
{
    return job->stride[1] <= 2 && job->dilation[1] == 1 && job->size[0] <= MAX_ROWS &&
           job->size[1] <= MAX_TAPS;
}

// Columns that the tiles of `n` results read, n even.
static int columns_of(const tl_depthwise_job *job, int n)
{
    const int stride = job->stride[1], taps = job->size[1];
    return stride == 1 ? n - 2 + TL_QUAD * tl_depthwise_u8_quads(taps + 1)
                       : 2 * n - 2 + TL_QUAD * tl_depthwise_u8_quads(taps);
}

enum { NO_ROW = INT_MIN };

// Rows of a plane with their padding, each copied once for all lines of results that read it. The
// columns of padding remain zero points.
typedef struct ring {
    int columns;
    ptrdiff_t top;         // of windows whose rows are there, or NO_ROW
    ptrdiff_t held[SLOTS]; // the rows in the slots
    _Alignas(64) uint8_t rows[SLOTS][WIDE * TL_BLOCK];
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

// Copies row `y` of the plane, or the row of zero points that is there.
static void ring_load(uint8_t *to, const tl_depthwise_job *job, const uint8_t *plane, ptrdiff_t y,
                      int columns)
{
    const int left = job->padding[1], n = tl_min(job->iw, columns - left);
    if (!is_inside(y, job->ih))
        fill_pixels(to, job->q.zero, columns);
    else if (n > 0)
        copy_pixels(to + left * TL_BLOCK, plane + y * job->iw * TL_BLOCK, n);
}

// The slot of the row of tap `t`: of SLOTS consecutive rows no two have the same.
static inline size_t slot_of(const tl_depthwise_job *job, ptrdiff_t y, int t)
{
    return job->dilation[0] == 1 ? (size_t)y % SLOTS : (size_t)t;
}

// Copies the rows of the windows from `top` on, but those that are there.
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

// The rows of a line of windows. Those of the next line are copied, too, if they fit: vector
// loads right after narrower stores of their parts stall.
static void ring_rows(ring *r, const tl_depthwise_job *job, const tile_place *at,
                      const uint8_t **rows)
{
    const ptrdiff_t next = at->top + job->stride[0];
    const ptrdiff_t last = (ptrdiff_t)(job->oh - 1) * job->stride[0] - job->padding[0];
    const int has_room = job->dilation[0] == 1 && job->size[0] + job->stride[0] <= SLOTS;
    if (r->top != at->top)
        ring_hold(r, job, at->plane, at->top);
    r->top = has_room && next <= last ? next : NO_ROW;
    if (r->top == next)
        ring_hold(r, job, at->plane, next);
    for (int t = 0; t < job->size[0]; t++)
        rows[t] = r->rows[slot_of(job, at->top + (ptrdiff_t)t * job->dilation[0], t)];
}

// The rows of one tile of a wide image: in place or, at its edges, copied to `room`.
static void tile_rows(const tl_depthwise_job *job, const tile_place *at, int columns,
                      const uint8_t **rows, uint8_t (*room)[WIDE * TL_BLOCK])
{
    const int is_within = at->left >= 0 && at->left + columns <= job->iw;
    for (int t = 0; t < job->size[0]; t++) {
        const ptrdiff_t y = at->top + (ptrdiff_t)t * job->dilation[0];
        const uint8_t *const row =
            is_inside(y, job->ih) ? at->plane + y * job->iw * TL_BLOCK : NULL;
        rows[t] = row && is_within ? row + at->left * TL_BLOCK : room[t];
        for (int x = 0; rows[t] == room[t] && x < columns; x++)
            if (row && is_inside(at->left + x, job->iw))
                copy_pixels(room[t] + x * TL_BLOCK, row + (at->left + x) * TL_BLOCK, 1);
            else
                fill_pixels(room[t] + x * TL_BLOCK, job->q.zero, 1);
    }
}

// A line of results by tiles of quads; r->columns 0: the image is wide.
static void quad_line(const tl_depthwise_job *job, tile_place at, const plane_job *plane, ring *r)
{
    const int stride = job->stride[1], quads = tl_depthwise_u8_quads(job->size[1] + (stride == 1));
    const int has_function = !tl_act_is_bounds(job->q.act);
    const uint8_t *rows[MAX_ROWS];
    float room[PIXELS * TL_BLOCK];
    if (r->columns)
        ring_rows(r, job, &at, rows);
    for (int x = 0; x < job->ow; x += PIXELS) {
        at.len = tl_min(PIXELS, job->ow - x);
        const int half = (at.len - 1) / 2;
        if (!r->columns)
            tile_rows(job, &at, columns_of(job, 2 * half + 2), rows, r->rows);
        tiles[half][stride - 1][quads - 1](job, &at, rows, has_function ? room : NULL, plane);
        if (has_function)
            activate(job, at.len, at.at, room);
        at.left += (ptrdiff_t)at.len * stride;
        at.at += (size_t)at.len * TL_BLOCK;
        for (int t = 0; t < job->size[0]; t++)
            rows[t] += at.len * stride * TL_BLOCK;
    }
}

// Any window, result by result

// The pixel at a row and a column, `outside` in the padding.
static inline const uint8_t *pixel_at(const tl_depthwise_job *job, const tile_place *at,
                                      ptrdiff_t y, ptrdiff_t x, const uint8_t *outside)
{
    return is_inside(y, job->ih) && is_inside(x, job->iw) ? at->plane + (y * job->iw + x) * TL_BLOCK
                                                          : outside;
}

static tl_vi sum_products(const tl_depthwise_job *job, const tile_place *at, int lane,
                          const plane_job *plane)
{
    tl_vi sum = plane->requantize[lane / TL_VF_LANES].start, pixels = tl_vi_set1(0);
    uint8_t outside[TL_BLOCK];
    fill_pixels(outside, job->q.zero, 1);
    const int8_t *quad = at->row + sizeof(tl_quantized_head) + lane * TL_QUAD;
    for (int ky = 0; ky < job->size[0]; ky++)
        for (int kx = 0; kx < job->size[1]; kx++) {
            const uint8_t *const pixel =
                pixel_at(job, at, at->top + (ptrdiff_t)ky * job->dilation[0],
                         at->left + (ptrdiff_t)kx * job->dilation[1], outside);
            const int k = kx % TL_QUAD, is_last = k == TL_QUAD - 1 || kx == job->size[1] - 1;
            sum = tl_vi_dot(sum, tl_vq_of(tl_vb_pixel(pixel + lane)),
                            tl_vk_of(tl_vb_tap(tl_vb_load(quad), k)));
            pixels = tl_vi_add(pixels, tl_vi_load_u8(pixel + lane));
            quad += is_last ? QUAD_SIZE : 0;
        }
    return plane->has_zeros ? tl_vi_add(sum, tl_vi_mul(pixels, plane->zeros[lane / TL_VF_LANES]))
                            : sum;
}

// The part of a window inside the source.
typedef struct meeting {
    int row, rows, column, columns;
} meeting;

static meeting meeting_at(const tl_depthwise_job *job, const tile_place *at)
{
    int row_end, column_end;
    meeting m;
    tl_window_hits(job->size[0], 1, at->top, job->ih, &m.row, &row_end);
    tl_window_hits(job->size[1], 1, at->left, job->iw, &m.column, &column_end);
    m.rows = row_end - m.row;
    m.columns = column_end - m.column;
    m.row += (int)at->top;
    m.column += (int)at->left;
    return m;
}

static tl_vi sum_pixels(const tl_depthwise_job *job, const tile_place *at, const meeting *m,
                        int lane)
{
    tl_vi sum = tl_vi_set1(-job->q.zero * m->rows * m->columns);
    for (int y = 0; y < m->rows; y++) {
        const uint8_t *const row =
            at->plane + ((size_t)(m->row + y) * job->iw + m->column) * TL_BLOCK + lane;
        for (int x = 0; x < m->columns; x++)
            sum = tl_vi_add(sum, tl_vi_load_u8(row + x * TL_BLOCK));
    }
    return sum;
}

// The means of one window, from `lane` on.
static tl_vf mean_of(const tl_depthwise_job *job, const tile_place *at, int lane,
                     const tl_requantize *e)
{
    const meeting m = meeting_at(job, at);
    const float count =
        (float)(tl_depthwise_u8_count(at->top, job->size[0], job->begin[0], job->end[0]) *
                tl_depthwise_u8_count(at->left, job->size[1], job->begin[1], job->end[1]));
    const tl_vf mean = tl_vf_div(tl_vi_to_vf(sum_pixels(job, at, &m, lane)), tl_vf_set1(count));
    return tl_quantized_keep(tl_vf_mul(mean, e->factor), e);
}

static void any_line(const tl_depthwise_job *job, tile_place at, const plane_job *plane, ring *r)
{
    (void)r;
    const int has_function = !tl_act_is_bounds(job->q.act);
    float room[TL_BLOCK];
    for (int x = 0; x < job->ow; x++) {
        for (int lane = 0; lane < TL_BLOCK; lane += TL_VF_LANES) {
            const tl_requantize *const e = &plane->requantize[lane / TL_VF_LANES];
            float *const to = has_function ? room : NULL;
            if (job->kind == TL_DEPTHWISE_CONV)
                put_sum(job, 0, sum_products(job, &at, lane, plane), at.at, lane, to, e);
            else
                put(job, 0, mean_of(job, &at, lane, e), at.at, lane, to, e);
        }
        if (has_function)
            activate(job, 1, at.at, room);
        at.left += job->stride[1];
        at.at += TL_BLOCK;
    }
}

// Maxima

// to[i] = the maximum of `count` pixels, at least one, `apart` bytes apart, the first one
// at from + i * step: three in each pass over the n results.
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

// The maxima of n columns from `left` on, of the rows of a meeting; 0 outside of the source.
static void find_columns(const tl_depthwise_job *job, const tile_place *at, const meeting *m, int n,
                         uint8_t *columns)
{
    const ptrdiff_t row = (ptrdiff_t)job->iw * TL_BLOCK;
    const int begin = at->left < 0 ? tl_min((int)-at->left, n) : 0;
    const int end = tl_min((int)(job->iw - at->left), n);
    fill_pixels(columns, 0, begin);
    fill_pixels(columns + (size_t)end * TL_BLOCK, 0, n - end);
    max_pixels(columns + (size_t)begin * TL_BLOCK, end - begin,
               at->plane + m->row * row + (at->left + begin) * TL_BLOCK, TL_BLOCK, row, m->rows);
}

// A line of results, as many at a time as columns are available.
static void max_line(const tl_depthwise_job *job, tile_place at, const plane_job *plane, ring *r)
{
    (void)plane, (void)r;
    const meeting m = meeting_at(job, &at);
    const int stride = job->stride[1], size = job->size[1], max = (WIDE - size) / stride + 1;
    uint8_t columns[WIDE * TL_BLOCK];
    for (int x = 0; x < job->ow; x += max) {
        const int n = tl_min(max, job->ow - x);
        find_columns(job, &at, &m, (n - 1) * stride + size, columns);
        max_pixels((uint8_t *)job->dst + at.at, n, columns, (ptrdiff_t)stride * TL_BLOCK, TL_BLOCK,
                   size);
        at.left += (ptrdiff_t)n * stride;
        at.at += (size_t)n * TL_BLOCK;
    }
}

// The same of windows that are too wide.
static void wide_max_line(const tl_depthwise_job *job, tile_place at, const plane_job *plane,
                          ring *r)
{
    (void)plane, (void)r;
    for (int x = 0; x < job->ow; x++, at.left += job->stride[1], at.at += TL_BLOCK) {
        const meeting m = meeting_at(job, &at);
        tl_v16 max = tl_v16_zero();
        for (int y = 0; y < m.rows; y++) {
            const uint8_t *const row =
                at.plane + ((size_t)(m.row + y) * job->iw + m.column) * TL_BLOCK;
            for (int k = 0; k < m.columns; k++)
                max = tl_v16_max(max, tl_v16_load(row + k * TL_BLOCK));
        }
        tl_v16_store((uint8_t *)job->dst + at.at, max);
    }
}

// All

// Computes a line of results from `at` on.
typedef void line_func(const tl_depthwise_job *job, tile_place at, const plane_job *plane, ring *r);

static line_func *line_of(const tl_depthwise_job *job)
{
    if (job->kind == TL_DEPTHWISE_MAX)
        return job->size[1] <= WIDE ? max_line : wide_max_line;
    return job->kind == TL_DEPTHWISE_CONV && takes_quads(job) ? quad_line : any_line;
}

// Finds the epilogues of a block of channels.
static void find_requantize(const tl_depthwise_job *job, const int8_t *row,
                            tl_requantize *requantize)
{
    const float factors = job->q.weight_zero ? 2 * 128 : 128; // a weight, and a zero point
    const float max = 255 * factors * (float)(job->size[0] * job->size[1]);
    for (int p = 0; p < PARTS; p++)
        requantize[p] = row ? tl_requantize_at(row, p * TL_VF_LANES, &job->q, job->low, job->high,
                                               job->bounds, max)
                            : tl_requantize_of(&job->q, job->low, job->high);
}

// The weights of a row of taps, packed at `weight`.
static row_taps taps_of(const tl_depthwise_job *job, const int8_t *weight)
{
    const tl_vb none = tl_vb_zero(), first = tl_vb_load(weight);
    const tl_vb second =
        tl_depthwise_u8_quads(job->size[1]) > 1 ? tl_vb_load(weight + QUAD_SIZE) : none;
    return (row_taps){
        .now = {tl_vk_of(first), tl_vk_of(second)},
        .later = {tl_vk_of(tl_vb_later(none, first)), tl_vk_of(tl_vb_later(first, second))}};
}

// The same of weights 1.
static row_taps ones_of(const tl_depthwise_job *job)
{
    int8_t ones[2 * QUAD_SIZE];
    for (int i = 0; i < 2 * QUAD_SIZE; i++)
        ones[i] = i / QUAD_SIZE * TL_QUAD + i % TL_QUAD < job->size[1];
    return taps_of(job, ones);
}

// Fills the zero points of the weights of a block, and moves the starts of its sums: zeros
// multiply sums of the source, not of the source less its own zero point.
static void find_zeros(const tl_depthwise_job *job, int block, plane_job *p)
{
    const int32_t moved = -job->q.zero * job->size[0] * job->size[1];
    int32_t zeros[TL_BLOCK];
    p->has_zeros = job->q.weight_zero != NULL;
    if (!p->has_zeros)
        return;
    tl_depthwise_u8_zeros(job, block, zeros);
    for (int part = 0; part < PARTS; part++) {
        const tl_vi own = tl_vi_load(zeros + part * TL_VF_LANES);
        p->zeros[part] = tl_vi_mul(own, tl_vi_set1(-1));
        p->requantize[part].start =
            tl_vi_add(p->requantize[part].start, tl_vi_mul(p->zeros[part], tl_vi_set1(moved)));
    }
    p->ones = ones_of(job);
}

// Fills the parameters of a plane of block `block`, whose packed weights are `row`.
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
    plane_job common;
    ring r;
    const int columns = columns_of(job, (job->ow + 1) / 2 * 2);
    ring_begin(&r, job, line == quad_line && columns <= WIDE ? columns : 0);
    size_t plane = begin / job->oh, y = begin % job->oh;
    for (size_t u = begin; u < end; u++, y++) {
        plane += y == (size_t)job->oh;
        y = y == (size_t)job->oh ? 0 : y;
        tile_place at = {.plane = (const uint8_t *)job->src + plane * job->ih * job->iw * TL_BLOCK,
                         .row = job->weight
                                    ? (const int8_t *)job->weight + plane % job->blocks * job->row
                                    : NULL,
                         .at = u * job->ow * TL_BLOCK,
                         .top = (ptrdiff_t)y * job->stride[0] - job->padding[0],
                         .left = -(ptrdiff_t)job->padding[1]};
        if (u == begin || y == 0) {
            find_plane(job, (int)(plane % job->blocks), at.row, line == quad_line, &common);
            ring_next_plane(&r);
        }
        line(job, at, &common, &r);
    }
}
