// SPDX-License-Identifier: Apache-2.0
// Pooling of floats in rows: for each column of src, the elements of windows that are below each
// other, or in other planes, in vectors; then those of columns, also in vectors. With a stride of 2
// or 4, columns are stored in phases, each of which has the columns that many apart.
//
// The columns of many rows of results are computed before the first are read: vectors that overlap
// recent stores would wait for them.
//
// A max ignores NaN so, while one at the start of a window propagates: a plane with NaN is left to
// the kernel of tiles, which reads elements in the order of the axes. Sums are in double.

#include <math.h>

#include "kernel/pool/poolnd.h"
#include "kernel/simd/tl_simd.h"
#include "kernel/tl_poll.h"

// Max results of a part of a row of dst, the columns of src that parts of some rows read, and rows.
// Whole vectors are read and written, in up to 4 phases.
enum { WIDTH = 512, COLUMNS = 2 * TL_POOL_SPAN, ROOM = COLUMNS + 8 * TL_VF_LANES, HEIGHT = 64 };

// The results x .. x + width - 1 of each row of a plane of dst, from `columns` columns of src from
// `left` on, of which begin .. end-1 are inside.
typedef struct pool_part {
    int x, width;
    int64_t left;
    int columns, begin, end;
    int is_whole;                 // whole rows
    int phases, phase;            // how many, and the columns of one with room for a vector
    int step;                     // of the columns of adjacent results in a phase
    int size, taps[TL_POOL_SPAN]; // of windows along the row: where the columns of taps are
    int pitch, height; // of the columns of rows of results, and how many of these have room
    int full[2];       // rows of results full[0] .. full[1]-1: their windows are inside src
} pool_part;

// Where column `x` of a row is.
TL_INLINE ptrdiff_t phase_of(const pool_part *part, int x)
{
    return (x & (part->phases - 1)) * (ptrdiff_t)part->phase + (x >> part->phases / 2);
}

static void find_part(const tl_poolnd_job *job, int x, pool_part *part)
{
    const tl_windows *const w = &job->axes.windows;
    const int last = w->n - 1, stride = w->stride[last];
    const int span = (w->size[last] - 1) * w->dilation[last] + 1;
    part->x = x;
    part->width = tl_min(tl_min(WIDTH, (COLUMNS - span) / stride + 1), job->axes.out[last] - x);
    part->is_whole = part->width == job->axes.out[last];
    part->left = (int64_t)x * stride - w->padding[last];
    part->columns = (part->width - 1) * stride + span;
    tl_window_hits(part->columns, 1, part->left, job->axes.in[last], &part->begin, &part->end);
    part->phases = stride == 2 || stride == 4 ? stride : 1;
    part->phase = (part->columns / part->phases / TL_VF_LANES + 2) * TL_VF_LANES;
    part->step = stride / part->phases;
    part->size = w->size[last];
    for (int j = 0; j < part->size; j++)
        part->taps[j] = (int)phase_of(part, j * w->dilation[last]);
    part->pitch = part->phases * part->phase;
    part->height = part->pitch > COLUMNS ? 1 : tl_min(COLUMNS / part->pitch, HEIGHT);
    tl_pool_full(job, last - 1, &part->full[0], &part->full[1]);
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

// The rows of src, from the part's column `begin` on, of the windows of a row of results. Those of
// the `count` rows of results from there on are `step` apart.
typedef struct pool_rows {
    const float *src[TL_POOL_ROWS];
    int n, count;
    ptrdiff_t step;
} pool_rows;

// Of up to `max` rows of results from `y` on.
static void find_rows(const tl_poolnd_job *job, const pool_part *part, const pool_planes *planes,
                      int y, int max, pool_rows *rows)
{
    const int row = job->axes.windows.n - 2, width = job->axes.in[row + 1];
    const int dilation = job->axes.windows.dilation[row];
    int top, bottom;
    const int64_t start = tl_pool_taps(job, row, y, &top, &bottom);
    rows->n = 0;
    rows->step = (ptrdiff_t)job->axes.windows.stride[row] * width;
    rows->count = y < part->full[0] || y >= part->full[1] ? 1 : tl_min(part->full[1] - y, max);
    const ptrdiff_t first = start + (ptrdiff_t)top * dilation, down = (ptrdiff_t)dilation * width;
    for (int k = 0; k < planes->n; k++) {
        const float *from = planes->begin[k] + part->left + part->begin + first * width;
        for (int i = top; i < bottom; i++, from += down)
            rows->src[rows->n++] = from;
    }
}

// GCC would vectorize loops of few steps wherever it inlines them.
#define POOL_APART __attribute__((noinline))

// NaN

static POOL_APART int has_nan(const float *x, size_t n)
{
    tl_vf sums[4] = {tl_vf_zero(), tl_vf_zero(), tl_vf_zero(), tl_vf_zero()};
    size_t i = 0;
    for (; i + 4 * TL_VF_LANES <= n; i += 4 * TL_VF_LANES) {
        TL_UNROLL
        for (size_t k = 0; k < 4; k++)
            sums[k] = tl_vf_add(sums[k], tl_vf_load(x + i + k * TL_VF_LANES));
    }
    for (; i + TL_VF_LANES <= n; i += TL_VF_LANES)
        sums[0] = tl_vf_add(sums[0], tl_vf_load(x + i));
    if (i < n)
        sums[0] = tl_vf_add(sums[0], tl_vf_load_partial(x + i, n - i));
    if (!isnan(tl_vf_sum(tl_vf_add(tl_vf_add(sums[0], sums[1]), tl_vf_add(sums[2], sums[3])))))
        return 0;
    for (i = 0; i < n; i++) // the sum of infinities may be NaN, too
        if (isnan(x[i]))
            return 1;
    return 0;
}

// Whether there is one where the windows of `count` rows of results from `y` on are, below row
// *from, which becomes the end of the rows that were searched.
static int rows_have_nan(const tl_poolnd_job *job, const pool_part *part, const pool_planes *planes,
                         int y, int count, int *from)
{
    const tl_windows *const w = &job->axes.windows;
    const int row = w->n - 2, height = job->axes.in[row];
    const int64_t width = job->axes.in[row + 1], stride = w->stride[row];
    const int64_t first = y * stride - w->padding[row];
    const int64_t end =
        first + (count - 1) * stride + (int64_t)(w->size[row] - 1) * w->dilation[row] + 1;
    const int begin = first > *from ? (int)first : *from;
    *from = end < height ? (int)end : height;
    for (int k = 0; k < planes->n; k++) {
        const float *const plane = planes->begin[k] + begin * width;
        if (part->is_whole && has_nan(plane, (size_t)((*from - begin) * width)))
            return 1;
        for (int i = 0; i < *from - begin && !part->is_whole; i++)
            if (has_nan(plane + i * width + part->left + part->begin,
                        (size_t)(part->end - part->begin)))
                return 1;
    }
    return 0;
}

// Means

// The factors that turn sums into means: of the columns and rows of results.
typedef struct pool_factors {
    double columns[WIDTH + TL_VF_LANES], rows[HEIGHT];
} pool_factors;

// Of the windows x .. x+n-1 along axis `i`; the columns have those of the plane, too.
static POOL_APART void find_factors(const tl_poolnd_job *job, const tl_window_tile *plane, int i,
                                    int x, int n, double *factors)
{
    const int last = job->axes.windows.n - 1;
    double outer = 1;
    for (int k = 0; k < last - 1 && i == last; k++)
        outer *= tl_pool_count(job, k, plane->outer[k]);
    int begin, end;
    tl_pool_full(job, i, &begin, &end);
    const double full = 1 / (outer * job->axes.windows.size[i]);
    for (int k = 0; k < n; k++)
        factors[k] = full;
    for (int k = x; k < x + n; k++) {
        if (k >= begin && k < end)
            k = end;
        if (k < x + n)
            factors[k - x] = 1 / (outer * tl_pool_count(job, i, k));
    }
}

// The passes of a max, and of sums in double

#define PASS(name)            max_##name
#define A                     float
#define V                     tl_vf
#define LANES                 TL_VF_LANES
#define EMPTY                 (-INFINITY)
#define FIRST                 tl_vf_set1(EMPTY)
#define JOIN                  tl_vf_max
#define LOAD                  tl_vf_load
#define STORE                 tl_vf_store
#define EVENS                 tl_vf_evens
#define ODDS                  tl_vf_odds
#define FROM                  tl_vf_load
#define FROM_SOME             tl_vf_load_partial
#define RESULT(v, columns, y) (v)
#define WRITE                 tl_vf_store
#include "kernel/pool/poolnd_rows.inc.h"

#define PASS(name)            sum_##name
#define A                     double
#define V                     tl_vf64
#define LANES                 (TL_VF_LANES / 2)
#define EMPTY                 0
#define FIRST                 tl_vf64_zero()
#define JOIN                  tl_vf64_add
#define LOAD                  tl_vf64_load
#define STORE                 tl_vf64_store
#define EVENS                 tl_vf64_evens
#define ODDS                  tl_vf64_odds
#define FROM                  tl_vf64_widen
#define FROM_SOME(p, n)       tl_vf64_half(tl_vf_load_partial(p, n), 0)
#define RESULT(v, columns, y) tl_vf64_mul(v, tl_vf64_mul(tl_vf64_set1(y), tl_vf64_load(columns)))
#define WRITE                 tl_vf64_store_floats
#include "kernel/pool/poolnd_rows.inc.h"

// The part's results in plane `p` of dst. 0: it has NaN.
TL_INLINE int pool_part_of(const tl_poolnd_job *job, size_t p, const tl_window_tile *plane,
                           const pool_planes *planes, const pool_part *part, tl_poll *poll,
                           int is_max)
{
    const int last = job->axes.windows.n - 1, height = job->axes.out[last - 1];
    const size_t width = (size_t)job->axes.out[last];
    const size_t work = (size_t)part->columns * planes->n * job->axes.windows.size[last - 1] +
                        (size_t)part->width * job->axes.windows.size[last];
    float *const dst = (float *)job->dst + p * height * width + part->x;
    pool_factors factors;
    if (!is_max)
        find_factors(job, plane, last, part->x, part->width, factors.columns);
    for (int y = 0, n, searched = 0; y < height; y += n) {
        n = tl_min(part->height, height - y);
        if (tl_poll_after(poll, n * work))
            return 1;
        if (is_max && rows_have_nan(job, part, planes, y, n, &searched))
            return 0;
        if (!is_max)
            find_factors(job, plane, last - 1, y, n, factors.rows);
        (is_max ? max_block : sum_block)(job, part, planes, y, n, is_max ? NULL : &factors,
                                         dst + y * width, (height - y) * width - part->x);
    }
    return 1;
}

// The planes begin .. end-1 of dst.
TL_INLINE void pool_planes_of(const tl_poolnd_job *job, size_t begin, size_t end, int is_max)
{
    const int width = job->axes.out[job->axes.windows.n - 1];
    tl_poll poll = tl_poll_of(job->stop);
    pool_part part;
    find_part(job, 0, &part);
    for (size_t p = begin; p < end && !poll.is_stopped; p++) {
        const tl_window_tile plane = tl_window_tile_of(&job->axes, p);
        int is_computed = 1;
        pool_planes planes;
        find_planes(job, &plane, &planes);
        for (int x = 0; x < width && is_computed && !poll.is_stopped; x += part.width) {
            if (!part.is_whole)
                find_part(job, x, &part);
            is_computed = pool_part_of(job, p, &plane, &planes, &part, &poll, is_max);
        }
        if (!is_computed)
            job->tiles((void *)job, p, p + 1);
    }
}

void SIMD(tl_pool_rows_max)(void *arg, size_t begin, size_t end)
{
    pool_planes_of(arg, begin, end, 1);
}

void SIMD(tl_pool_rows_mean)(void *arg, size_t begin, size_t end)
{
    pool_planes_of(arg, begin, end, 0);
}
