// SPDX-License-Identifier: Apache-2.0
// Pooling of floats in rows: for each column of src, the elements of windows that are below each
// other, or in other planes, in vectors; then those of columns.
//
// A max ignores NaN so, while one at the start of a window propagates: a plane with NaN is left to
// the kernel of tiles, which reads elements in the order of the axes. Sums are in double.

#include <math.h>

#include "kernel/pool/poolnd.h"
#include "kernel/simd/tl_simd.h"
#include "kernel/tl_poll.h"

// Max results of a part of a row of dst, and the columns of src that it reads. Whole vectors are
// computed: of up to ROOM columns.
enum { WIDTH = 512, COLUMNS = 2 * TL_POOL_SPAN, ROOM = COLUMNS + 4 * TL_VF_LANES };

// A part of row tile.y of a plane of dst: the results tile.x .. tile.x + tile.width - 1, from
// `columns` columns of src from `left` on, of which begin .. end-1 are inside.
typedef struct pool_part {
    tl_window_tile tile;
    int64_t left;
    int columns, begin, end;
} pool_part;

static pool_part part_at(const tl_poolnd_job *job, const tl_window_tile *plane, int x)
{
    const tl_windows *const w = &job->axes.windows;
    const int last = w->n - 1, stride = w->stride[last];
    const int span = (w->size[last] - 1) * w->dilation[last] + 1;
    pool_part part = {.tile = *plane, .left = (int64_t)x * stride - w->padding[last]};
    part.tile.x = x;
    part.tile.width = tl_min(tl_min(WIDTH, (COLUMNS - span) / stride + 1), job->axes.out[last] - x);
    part.columns = (part.tile.width - 1) * stride + span;
    tl_window_hits(part.columns, 1, part.left, job->axes.in[last], &part.begin, &part.end);
    return part;
}

// Planes of src that the windows of a plane of dst read.
typedef struct pool_planes {
    const float *begin[TL_POOL_ROWS];
    int n;
} pool_planes;

static void find_planes(const tl_poolnd_job *job, const tl_window_tile *tile, pool_planes *planes)
{
    const int row = job->axes.windows.n - 2, *const in = job->axes.in;
    const float *const src = (const float *)job->src + tile->channel * job->in_plane;
    int taps[TL_MAX_SPATIAL] = {0};
    planes->n = 0;
    do {
        const ptrdiff_t plane = tl_window_plane(&job->axes, tile, taps);
        if (plane >= 0)
            planes->begin[planes->n++] = src + plane * in[row] * in[row + 1];
    } while (tl_next_tap(taps, job->axes.windows.size, row));
}

// Writes the rows of src that the part's windows have, from its column `begin` on. Returns their
// number.
static int rows_of(const tl_poolnd_job *job, const pool_part *part, const pool_planes *planes,
                   const float **rows)
{
    const int row = job->axes.windows.n - 2, width = job->axes.in[row + 1];
    int top, bottom, n = 0;
    const int64_t start = tl_pool_taps(job, row, part->tile.y, &top, &bottom);
    for (int k = 0; k < planes->n; k++)
        for (int i = top; i < bottom; i++)
            rows[n++] = planes->begin[k] + part->left + part->begin +
                        (start + (int64_t)i * job->axes.windows.dilation[row]) * width;
    return n;
}

TL_INLINE tl_vf load(const float *x, size_t n)
{
    return n >= TL_VF_LANES ? tl_vf_load(x) : tl_vf_load_partial(x, n);
}

// The max elements of `n` rows. Returns 0 if there is a NaN.
static int max_of_rows(const float *const *rows, int n, size_t len, float *columns)
{
    tl_vf nan = tl_vf_zero();
    for (size_t x = 0; x < len; x += TL_VF_LANES) {
        tl_vf best = tl_vf_set1(-INFINITY);
        for (int r = 0; r < n; r++) {
            const tl_vf v = load(rows[r] + x, len - x);
            best = tl_vf_max(v, best);
            nan = tl_vf_select(tl_vf_eq(v, v), nan, v);
        }
        tl_vf_store(columns + x, best);
    }
    return !isnan(tl_vf_sum(nan));
}

static int sum_of_rows(const float *const *rows, int n, size_t len, double *columns)
{
    for (size_t x = 0; x < len; x += TL_VF_LANES) {
        tl_vf64 sums[2] = {tl_vf64_zero(), tl_vf64_zero()};
        for (int r = 0; r < n; r++) {
            const tl_vf v = load(rows[r] + x, len - x);
            sums[0] = tl_vf64_add(sums[0], tl_vf64_half(v, 0));
            sums[1] = tl_vf64_add(sums[1], tl_vf64_half(v, 1));
        }
        tl_vf64_store(columns + x, sums[0]);
        tl_vf64_store(columns + x + TL_VF_LANES / 2, sums[1]);
    }
    return 1;
}

// The max of the columns x, x + dilation, .. for each x, in vectors.
static void max_adjacent(const float *columns, int size, int dilation, int width, float *max)
{
    for (int x = 0; x < width; x += TL_VF_LANES) {
        tl_vf best = tl_vf_load(columns + x);
        for (int j = 1; j < size; j++)
            best = tl_vf_max(tl_vf_load(columns + x + (ptrdiff_t)j * dilation), best);
        tl_vf_store(max + x, best);
    }
}

static void sum_adjacent(const double *columns, int size, int dilation, int width, double *sums)
{
    for (int x = 0; x < width; x += TL_VF_LANES / 2) {
        tl_vf64 sum = tl_vf64_load(columns + x);
        for (int j = 1; j < size; j++)
            sum = tl_vf64_add(sum, tl_vf64_load(columns + x + (ptrdiff_t)j * dilation));
        tl_vf64_store(sums + x, sum);
    }
}

// The functions of a max or sum: a part of a row from the rows that it reads, with FIRST outside of
// src; 0 if there is a NaN that has to propagate. Results have room for whole vectors.
#define PART(name, A, FIRST, JOINED)                                                              \
    TL_INLINE void name##_strided(const A *restrict columns, const tl_windows *w, ptrdiff_t step, \
                                  ptrdiff_t width, A *restrict result)                            \
    {                                                                                             \
        const int last = w->n - 1;                                                                \
        for (ptrdiff_t x = 0; x < width; x++)                                                     \
            result[x] = columns[x * step];                                                        \
        for (int j = 1; j < w->size[last]; j++) {                                                 \
            const A *const from = columns + (ptrdiff_t)j * w->dilation[last];                     \
            for (ptrdiff_t x = 0; x < width; x++)                                                 \
                result[x] = JOINED(result[x], from[x * step]);                                    \
        }                                                                                         \
    }                                                                                             \
                                                                                                  \
    static int name##_part(const tl_windows *w, const pool_part *part, const float *const *rows,  \
                           int n, A *result)                                                      \
    {                                                                                             \
        const int last = w->n - 1, stride = w->stride[last];                                      \
        const int width = (part->tile.width + TL_VF_LANES - 1) / TL_VF_LANES * TL_VF_LANES;       \
        _Alignas(64) A columns[ROOM];                                                             \
        if (!name##_of_rows(rows, n, (size_t)(part->end - part->begin), columns + part->begin))   \
            return 0;                                                                             \
        for (int x = 0; x < part->begin; x++)                                                     \
            columns[x] = (FIRST);                                                                 \
        for (int x = part->end; x < part->columns; x++)                                           \
            columns[x] = (FIRST);                                                                 \
        if (stride == 1)                                                                          \
            name##_adjacent(columns, w->size[last], w->dilation[last], width, result);            \
        else if (stride == 2)                                                                     \
            name##_strided(columns, w, 2, width, result);                                         \
        else                                                                                      \
            name##_strided(columns, w, stride, part->tile.width, result);                         \
        return 1;                                                                                 \
    }

#define MAX_OF(a, b) ((b) > (a) ? (b) : (a))
#define SUM_OF(a, b) ((a) + (b))
PART(max, float, -INFINITY, MAX_OF)
PART(sum, double, 0, SUM_OF)

// The factors that turn sums of the part into means, but for the row.
static void find_factors(const tl_poolnd_job *job, const pool_part *part, double *factors)
{
    const int last = job->axes.windows.n - 1;
    double planes = 1;
    for (int i = 0; i < last - 1; i++)
        planes *= tl_pool_count(job, i, part->tile.outer[i]);
    for (int x = 0; x < part->tile.width; x++)
        factors[x] = 1 / (planes * tl_pool_count(job, last, part->tile.x + x));
}

static int max_row(const tl_poolnd_job *job, const pool_part *part, const pool_planes *planes,
                   float *dst)
{
    const float *rows[TL_POOL_ROWS];
    _Alignas(64) float max[WIDTH];
    if (!max_part(&job->axes.windows, part, rows, rows_of(job, part, planes, rows), max))
        return 0;
    memcpy(dst, max, (size_t)part->tile.width * sizeof(*dst));
    return 1;
}

static void mean_row(const tl_poolnd_job *job, const pool_part *part, const pool_planes *planes,
                     const double *factors, float *dst)
{
    const float *rows[TL_POOL_ROWS];
    _Alignas(64) double sums[WIDTH];
    sum_part(&job->axes.windows, part, rows, rows_of(job, part, planes, rows), sums);
    const double factor = 1 / tl_pool_count(job, job->axes.windows.n - 2, part->tile.y);
    for (int x = 0; x < part->tile.width; x++)
        dst[x] = (float)(sums[x] * (factor * factors[x]));
}

// Plane `p` of dst. 0: it has NaN.
TL_INLINE int pool_plane(const tl_poolnd_job *job, size_t p, tl_poll *poll, int is_max)
{
    const int last = job->axes.windows.n - 1, height = job->axes.out[last - 1];
    const size_t width = (size_t)job->axes.out[last];
    const tl_window_tile tile = tl_window_tile_of(&job->axes, p);
    pool_planes planes;
    double factors[WIDTH];
    find_planes(job, &tile, &planes);
    for (int x = 0, n; x < job->axes.out[last]; x += n) {
        pool_part part = part_at(job, &tile, x);
        n = part.tile.width;
        if (!is_max)
            find_factors(job, &part, factors);
        const size_t work = (size_t)part.columns * planes.n * job->axes.windows.size[last - 1] +
                            (size_t)n * job->axes.windows.size[last];
        for (int y = 0; y < height && !tl_poll_after(poll, work); y++) {
            float *const dst = (float *)job->dst + (p * height + y) * width + x;
            part.tile.y = y;
            if (!is_max)
                mean_row(job, &part, &planes, factors, dst);
            else if (!max_row(job, &part, &planes, dst))
                return 0;
        }
    }
    return 1;
}

void SIMD(tl_pool_rows_max)(void *arg, size_t begin, size_t end)
{
    const tl_poolnd_job *const job = arg;
    tl_poll poll = tl_poll_of(job->stop);
    for (size_t p = begin; p < end && !poll.is_stopped; p++)
        if (!pool_plane(job, p, &poll, 1))
            job->tiles(arg, p, p + 1);
}

void SIMD(tl_pool_rows_mean)(void *arg, size_t begin, size_t end)
{
    const tl_poolnd_job *const job = arg;
    tl_poll poll = tl_poll_of(job->stop);
    for (size_t p = begin; p < end && !poll.is_stopped; p++)
        pool_plane(job, p, &poll, 0);
}
