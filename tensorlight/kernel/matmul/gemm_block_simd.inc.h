// SPDX-License-Identifier: Apache-2.0
// A template of the tiles of matrix multiplications: see gemm.h. The including file defines, for
// its type of matrix elements:
//
//     BLOCK_FUNC                          the name of the tl_gemm_block_func
//     PACK_PANEL(src, len, cols, panel)   packs a panel of an unpacked matrix; without it, all
//                                         matrices are packed
//     TILES_FILE                          a file that defines the max rows of a tile, ROWS, whether
//                                         it supports is_split, HAS_PARTS, and tails, HAS_TAIL, the
//                                         max chunks that it prefetches with LINE terms, PASSES, a
//                                         type tile_state, which is {0} at first, and
//
//         multiply(state, p, rows, cols)
//
//     which computes `rows` rows and at least `cols` columns of a product, with its tail if
//     HAS_TAIL; and
//
//         release(state)
//
//     which is called once after the last product

#include "kernel/matmul/gemm.h"

#include <assert.h>
#include <math.h>

#include "kernel/simd/tl_simd_act.h"

#ifndef PACK_PANEL
#define PACK_PANEL(src, len, cols, panel) ((void)(src), (void)(len), (void)(cols), assert(!(panel)))
#endif

enum {
    LINE = 16, // floats of a cache line
    AHEAD = 8, // distance of prefetches
};

// Prefetches `n` floats.
TL_INLINE void prefetch_floats(const float *p, size_t n)
{
    for (size_t i = 0; i < n; i += LINE)
        __builtin_prefetch(p + i);
}

static void copy_line(float *dst, const float *src, size_t n)
{
    size_t i = 0;
    for (; i + TL_VF_LANES <= n; i += TL_VF_LANES)
        tl_vf_store(dst + i, tl_vf_load(src + i));
    if (i < n)
        tl_vf_store_partial(dst + i, tl_vf_load_partial(src + i, n - i), n - i);
}

// Results from sums. adds: dst has the sums of the earlier parts, which are added; is_last: the
// sums are complete, so results are written, else sums. simple: is_simple, a constant.

// A row of results, and its operands.
typedef struct result_row {
    const float *bias, *add;
    float *dst;
} result_row;

// Whether results before the activation are the sums, or the sums plus a bias: the omitted factors
// are 1.
static int is_simple(const tl_gemm *g)
{
    return g->alpha == 1 && (!g->bias.data || g->beta == 1) && !g->add.data &&
           g->low == -INFINITY && g->high == INFINITY;
}

// The results of a vector of sums before tl_vf_activate, clamped.
TL_INLINE tl_vf result(const tl_gemm *g, tl_vf sum, const result_row *at, size_t j, const size_t n,
                       const int simple)
{
    const int is_whole = n == TL_VF_LANES;
    tl_vf y = simple ? sum : tl_vf_mul(tl_vf_set1(g->alpha), sum);
    if (at->bias) {
        const tl_vf bias = g->bias.col == 0 ? tl_vf_set1(*at->bias)
                           : is_whole       ? tl_vf_load(at->bias + j)
                                            : tl_vf_load_partial(at->bias + j, n);
        y = tl_vf_add(y, simple ? bias : tl_vf_mul(tl_vf_set1(g->beta), bias));
    }
    if (simple)
        return y;
    if (at->add)
        y = tl_vf_add(y, is_whole ? tl_vf_load(at->add + j) : tl_vf_load_partial(at->add + j, n));
    return tl_vf_min(tl_vf_set1(g->high), tl_vf_max(tl_vf_set1(g->low), y));
}

TL_INLINE void finish_vector(const tl_gemm *g, const float *sums, const result_row *at, size_t j,
                             const size_t n, const int simple, int adds, int is_last)
{
    const int is_whole = n == TL_VF_LANES;
    tl_vf y = tl_vf_load(sums + j);
    if (adds)
        y = tl_vf_add(is_whole ? tl_vf_load(at->dst + j) : tl_vf_load_partial(at->dst + j, n), y);
    if (is_last)
        y = result(g, y, at, j, n, simple);
    if (is_whole)
        tl_vf_store(at->dst + j, y);
    else
        tl_vf_store_partial(at->dst + j, y, n);
}

TL_INLINE void finish_row(const tl_gemm *g, const float *sums, const result_row *at, size_t cols,
                          const int simple, int adds, int is_last)
{
    const size_t whole = cols - cols % TL_VF_LANES;
    for (size_t j = 0; j < whole; j += TL_VF_LANES)
        finish_vector(g, sums, at, j, TL_VF_LANES, simple, adds, is_last);
    if (whole < cols)
        finish_vector(g, sums, at, whole, cols - whole, simple, adds, is_last);
}

// Writes the results of sums (whole vectors) to dst: `rows` rows of `cols` columns.
static void finish(const tl_gemm *g, const float *sums, size_t sums_row, size_t row, size_t rows,
                   size_t col, size_t cols, int adds, int is_last)
{
    const int simple = is_simple(g);
    for (size_t i = 0; i < rows; i++, row++, sums += sums_row) {
        const result_row at = {g->bias.data ? g->bias.data + row * g->bias.row + col * g->bias.col
                                            : NULL,
                               g->add.data ? g->add.data + row * g->add.row + col : NULL,
                               g->dst + row * g->dst_row + col};
        if (simple)
            finish_row(g, sums, &at, cols, 1, adds, is_last);
        else
            finish_row(g, sums, &at, cols, 0, adds, is_last);
        if (is_last)
            tl_vf_activate(g->act, at.dst, cols);
    }
}

// Tiles

// Some rows of src1: element [i, k] is data[i * row + k % LINE * col + k / LINE * line].
typedef struct strip {
    const float *data;
    size_t row, col, line;
    int is_split; // of tl_gemm
} strip;

// What a tile prefetches to the L2 cache while it sums: chunks of LINE lines, one line with each
// term. `n_runs` runs of `n` chunks, the lines of a chunk line_step floats apart.
typedef struct prefetch {
    const float *first;
    size_t line_step, n, chunk_step, n_runs, run_step;
} prefetch;

// Those of a tile, the most important first, since a tile drops what exceeds its terms: what the
// tiles after it read, its own addends and results.
enum { NEXT_PANEL, NEXT_ROWS, ADDENDS, RESULTS, N_PREFETCHES };

// The first line of chunk `c` of all prefetches together, and the step to its next lines. After
// the last chunk: the line at `idle`, which is read or written soon, again and again: cheaper than
// a branch.
TL_INLINE const float *chunk_at(const prefetch next[N_PREFETCHES], size_t c, const float *idle,
                                size_t *step)
{
    for (const prefetch *p = next; p < next + N_PREFETCHES; p++) {
        const size_t n = p->n * p->n_runs;
        if (c < n) {
            // Few chunks: 32 bits are divided faster.
            const size_t run = p->n_runs > 1 ? (uint32_t)c / (uint32_t)p->n : 0;
            *step = p->line_step;
            return p->first + run * p->run_step + (c - run * p->n) * p->chunk_step;
        }
        c -= n;
    }
    *step = 0;
    return idle;
}

// Spreads chunks evenly over the terms of a pass.
typedef struct pace {
    const prefetch *next;
    size_t chunk, n_chunks; // the next one's index; the number of all
    size_t n;               // LINE terms in the pass, at a time
    size_t due;             // grows by n_chunks with LINE terms; a chunk is due at n
} pace;

TL_INLINE pace pace_of(const prefetch *next, size_t chunk, size_t len)
{
    const size_t n = tl_ceil_div(len, LINE);
    size_t n_chunks = 0;
    for (int i = 0; i < N_PREFETCHES; i++)
        n_chunks += next[i].n * next[i].n_runs;
    return (pace){next, chunk, n_chunks, n, n - 1};
}

// As chunk_at, with each LINE terms; the line at `idle` as long as no chunk is due.
TL_INLINE const float *next_chunk(pace *p, const float *idle, size_t *step)
{
    *step = 0;
    p->due += p->n_chunks;
    if (p->due < p->n)
        return idle;
    p->due -= p->n;
    return chunk_at(p->next, p->chunk++, idle, step);
}

// Rows that are added to those of a tile.
typedef struct addend {
    const float *data;
    size_t row; // floats between rows
} addend;

// What a tile does with its sums before it writes them: as finish() without factors.
typedef struct tail {
    addend addends[3]; // the first `n`
    int n;
    int clamps;
    float low, high;
} tail;

// dst [rows][TL_GEMM_PANEL], whose rows are dst_row floats apart, = strip [rows][len] x panel
// [len][TL_GEMM_PANEL].
typedef struct product {
    strip strip;
    const float *panel;
    size_t len;
    tail tail;
    const prefetch *next; // N_PREFETCHES
    float *dst;
    size_t dst_row;
} product;

#include TILES_FILE

// Groups

enum { COPY_ROWS = (ROWS + TL_VF_LANES - 1) / TL_VF_LANES * TL_VF_LANES }; // of a copied column

// Strips of a part that stay in the L2 cache.
typedef struct group {
    const tl_gemm *gemm;
    const tl_gemm_part *part;
    size_t n_strips; // of the part
    size_t min_rows; // of a strip; the first `longer` strips have one more
    size_t longer;
    size_t begin, end;  // the strips of the group
    int is_packing;     // packs each panel before its first use
    size_t buffer_step; // floats between the panels in the part's buffer
    tile_state *state;
} group;

// The first row of the part's strip `i`: strips differ by at most one row.
static size_t strip_row(const group *s, size_t i)
{
    return s->part->row + i * s->min_rows + tl_min_size(i, s->longer);
}

// A copied strip is [k / LINE][ROWS][LINE], or, of a transposed src1, [k][COPY_ROWS].
enum {
    COPY_STEP = TL_GEMM_LEN * COPY_ROWS + LINE, // between copied strips: no cache conflicts
    COPY_AHEAD = 4,                             // prefetched rows of a transposed src1
};

// Copies a row of src1 to its place in a copied strip, and prefetches `ahead` floats ahead.
static void copy_row(float *dst, const float *src, size_t len, size_t ahead)
{
    size_t k = 0;
    for (; k + LINE <= len; k += LINE, dst += ROWS * LINE) {
        __builtin_prefetch(src + k + ahead);
        __builtin_prefetch(dst + AHEAD * ROWS * LINE, 1);
        TL_UNROLL
        for (int v = 0; v < LINE; v += TL_VF_LANES)
            tl_vf_store(dst + v, tl_vf_load(src + k + v));
    }
    copy_line(dst, src + k, len - k);
}

// Copies columns of src1, which are contiguous, to the columns of copied strips.
static void copy_columns(const group *s, const float *src, size_t col)
{
    const size_t first = strip_row(s, s->begin), all = strip_row(s, s->end) - first;
    for (size_t k = 0; k < s->part->len; k++, src += col) {
        float *dst = s->part->copy + k * COPY_ROWS;
        if (k + COPY_AHEAD < s->part->len)
            prefetch_floats(src + first + COPY_AHEAD * col, all);
        for (size_t i = s->begin; i < s->end; i++, dst += COPY_STEP) {
            const size_t row = strip_row(s, i); // elements beyond the strip are copied, too
            copy_line(dst, src + row, tl_min_size(COPY_ROWS, s->gemm->m - row));
        }
    }
}

static void copy_strips(const group *s)
{
    const tl_gemm_matrix *const src1 = &s->gemm->src1;
    const float *const src = src1->data + s->part->begin * src1->col;
    if (src1->col != 1) {
        copy_columns(s, src, src1->col);
        return;
    }
    for (size_t i = s->begin; i < s->end; i++)
        for (size_t row = strip_row(s, i), r = row; r < strip_row(s, i + 1); r++)
            copy_row(s->part->copy + (i - s->begin) * COPY_STEP + (r - row) * LINE,
                     src + r * src1->row, s->part->len, 2 * src1->row);
}

static strip strip_of(const group *s, size_t i)
{
    const tl_gemm_matrix *const src1 = &s->gemm->src1;
    if (!s->gemm->is_copied)
        return (strip){src1->data + strip_row(s, i) * src1->row + s->part->begin * src1->col,
                       src1->row, src1->col, LINE * src1->col, s->gemm->is_split};
    const float *const copy = s->part->copy + (i - s->begin) * COPY_STEP;
    return src1->col == 1 ? (strip){copy, LINE, 1, ROWS * LINE, 0}
                          : (strip){copy, 1, COPY_ROWS, LINE * COPY_ROWS, 0};
}

// The source of the panel from column `j` of the part on.
static tl_gemm_matrix panel_source(const group *s, size_t j)
{
    const tl_gemm_matrix *const src2 = &s->gemm->src2;
    return (tl_gemm_matrix){src2->data + s->part->begin * src2->row +
                                (s->part->col + j) * src2->col,
                            src2->row, src2->col};
}

// The packed panel from column `j` of the part on.
static const float *panel_at(const group *s, size_t j)
{
    return s->part->panels ? s->part->panels + j / TL_GEMM_PANEL * s->part->panel_step
                           : s->part->buffer + j / TL_GEMM_PANEL * s->buffer_step;
}

// The chunks that contiguous floats take.
static size_t chunks_of(size_t floats)
{
    return tl_ceil_div(floats, LINE * LINE);
}

// `rows` rows of `cols` floats, `step` apart: the same line of LINE rows, then their next one.
static prefetch prefetch_columns(const float *first, size_t step, size_t rows, size_t cols)
{
    return (prefetch){first, step, tl_ceil_div(rows, LINE), LINE * step, tl_ceil_div(cols, LINE),
                      LINE};
}

// The same: row by row, if that takes fewer chunks.
static prefetch prefetch_rows(const float *first, size_t step, size_t rows, size_t cols)
{
    if (step == cols)
        return (prefetch){first, LINE, chunks_of(rows * cols), LINE * LINE, 1, 0};
    if (tl_ceil_div(rows, LINE) * tl_ceil_div(cols, LINE) < rows * chunks_of(cols))
        return prefetch_columns(first, step, rows, cols);
    return (prefetch){first, LINE, chunks_of(cols), LINE * LINE, rows, step};
}

// A prefetch that tiles share: that of the first one, those of the next ones are `step` floats
// apart, `n` in all.
typedef struct share {
    prefetch first;
    size_t step, n;
} share;

static prefetch share_of(const share *s, size_t i)
{
    prefetch own = s->first;
    if (i >= s->n)
        return (prefetch){0};
    own.first += i * s->step;
    return own;
}

// The prefetch of the panel from column `j` on by the `n` tiles before it.
static share prefetch_of_panel(const group *s, size_t j, size_t n)
{
    const size_t len = s->part->len;
    if (len == 0 || j >= s->part->cols || s->part->rows <= ROWS / 2) // few rows are memory-bound
        return (share){.n = 0};
    if (!s->is_packing) {
        // A tile has fewer chunks than a panel: if it is the only one, the CPU adds the second line
        // of each pair.
        const size_t lines = n * PASSES > 1 ? 1 : 2;
        const size_t all = tl_ceil_div(chunks_of(len * TL_GEMM_PANEL), lines);
        const size_t each = tl_ceil_div(all, n), step = lines * LINE * LINE;
        return (share){
            {panel_at(s, j), lines * LINE, each, step, 1, 0}, each * step, tl_ceil_div(all, each)};
    }
    const tl_gemm_matrix src = panel_source(s, j);
    const size_t cols = tl_min_size(s->part->cols - j, TL_GEMM_PANEL);
    const int has_rows = src.col == 1; // else contiguous columns
    const size_t all = has_rows ? len : cols, step = has_rows ? src.row : src.col;
    const size_t each = has_rows ? tl_ceil_div(all, n * LINE) * LINE : tl_ceil_div(all, n);
    return (share){prefetch_rows(src.data, step, each, has_rows ? cols : len), each * step,
                   tl_ceil_div(all, each)};
}

// What tile `i` of the `n` tiles of a group prefetches of the next rows of src1: those of the next
// group, or of the first group in the next part of the sum.
static prefetch prefetch_of_rows(const group *s, size_t i, size_t n)
{
    const tl_gemm_matrix *const src1 = &s->gemm->src1;
    const int is_end = s->end == s->n_strips;
    const size_t k = s->part->begin + (is_end ? s->part->len : 0);
    if (k >= s->gemm->k)
        return (prefetch){0};
    const size_t row = strip_row(s, is_end ? 0 : s->end);
    const size_t rows = tl_min_size(strip_row(s, s->end) - strip_row(s, s->begin),
                                    s->part->row + s->part->rows - row);
    const size_t len = tl_min_size(s->part->len, s->gemm->k - k);
    const float *const data = src1->data + row * src1->row + k * src1->col;
    if (src1->col == 1) {
        const size_t first = i * rows / n, end = (i + 1) * rows / n;
        return prefetch_rows(data + first * src1->row, src1->row, end - first, len);
    }
    const size_t first = i * len / n, end = (i + 1) * len / n;
    return prefetch_rows(data + first * src1->col, src1->col, end - first, rows);
}

// Parts

// Computes the sums of a row that are not finite again, in order.
static void mend_row(const uint16_t *row, const uint16_t *panel, size_t k, float *sums)
{
    float again[TL_GEMM_PANEL] = {0}, y[2 * TL_GEMM_PANEL];
    for (size_t i = 0; i < k; i++) {
        const uint16_t *const x = row + tl_gemm_split_index(i);
        const float first = tl_gemm_join((uint32_t)x[0] << 16, (uint32_t)x[TL_GEMM_CHUNK] << 16,
                                         (uint32_t)x[2 * TL_GEMM_CHUNK] << 16);
        if (i % 2 == 0)
            tl_gemm_join_rows(panel, i, y);
        for (int c = 0; c < TL_GEMM_PANEL; c++)
            again[c] = fmaf(first, y[i % 2 * TL_GEMM_PANEL + c], again[c]);
    }
    for (int c = 0; c < TL_GEMM_PANEL; c++)
        sums[c] = isfinite(sums[c]) ? sums[c] : again[c];
}

// The same for the rows of a tile; `panel` begins with the sums.
static void mend(const tl_gemm *g, size_t row, size_t rows, const float *panel, float *sums)
{
    const size_t k = g->k / TL_GEMM_SPLIT * TL_GEMM_CHUNK; // with padding
    for (size_t r = row; r < row + rows; r++, sums += TL_GEMM_PANEL) {
        int is_finite = 1;
        for (size_t c = 0; c < TL_GEMM_PANEL; c++)
            is_finite &= isfinite(sums[c]) != 0;
        if (tl_stop_is_requested(g->stop))
            return;
        if (!is_finite)
            mend_row((const uint16_t *)(g->src1.data + r * g->src1.row), (const uint16_t *)panel, k,
                     sums);
    }
}

// Adds the sums of the earlier parts at `dst`, if any, to whole rows of sums. Returns whether all
// are finite.
static int complete(float *sums, size_t rows, const float *dst, size_t dst_row, size_t cols)
{
    tl_vf rest = tl_vf_zero(); // 0 times each sum: NaN if one of them is not finite
    for (size_t r = 0; r < rows; r++)
        for (size_t c = 0; c < TL_GEMM_PANEL; c += TL_VF_LANES, sums += TL_VF_LANES) {
            tl_vf sum = tl_vf_load(sums);
            if (dst && c + TL_VF_LANES <= cols)
                sum = tl_vf_add(tl_vf_load(dst + r * dst_row + c), sum);
            else if (dst && c < cols)
                sum = tl_vf_add(tl_vf_load_partial(dst + r * dst_row + c, cols - c), sum);
            tl_vf_store(sums, sum);
            rest = tl_vf_fma(sum, tl_vf_zero(), rest);
        }
    return tl_vf_sum(rest) == 0;
}

// Whether a tile can write its results, without finish().
static int is_direct(const tl_gemm *g, size_t cols, int is_first, int is_last)
{
    if (cols < TL_GEMM_PANEL)
        return 0;
    if (!HAS_TAIL)
        return is_first &&
               (!is_last || (is_simple(g) && !g->bias.data && g->act.act == TL_ACT_NONE));
    return !is_last || (g->alpha == 1 && (!g->bias.data || (g->beta == 1 && g->bias.col == 1)));
}

static void add_addend(tail *t, const float *data, size_t row)
{
    t->addends[t->n++] = (addend){data, row};
}

static tail tail_of(const tl_gemm *g, size_t row, size_t col, int is_first, int is_last)
{
    tail t = {.low = g->low, .high = g->high};
    if (!is_first)
        add_addend(&t, g->dst + row * g->dst_row + col, g->dst_row);
    if (!is_last)
        return t;
    if (g->bias.data)
        add_addend(&t, g->bias.data + row * g->bias.row + col * g->bias.col, g->bias.row);
    if (g->add.data)
        add_addend(&t, g->add.data + row * g->add.row + col, g->add.row);
    t.clamps = g->low != -INFINITY || g->high != INFINITY;
    return t;
}

// Multiplies strip `i` by the panel from column `j` on, and writes the tile to dst: directly, or
// by finish(). Completes `next` by the tile's own lines.
static void run_tile(const group *s, size_t i, size_t j, prefetch next[N_PREFETCHES])
{
    _Alignas(64) float sums[ROWS * TL_GEMM_PANEL];
    const tl_gemm *const g = s->gemm;
    const tl_gemm_part *const part = s->part;
    const size_t row = strip_row(s, i), rows = strip_row(s, i + 1) - row, col = part->col + j;
    const size_t cols = tl_min_size(TL_GEMM_PANEL, part->cols - j);
    const int is_first = part->begin == 0, is_last = part->begin + part->len == g->k;
    const int is_checked = HAS_PARTS && g->is_split && is_last;
    const int direct = !is_checked && is_direct(g, cols, is_first, is_last);
    const float *const panel = panel_at(s, j);
    float *const dst = g->dst + row * g->dst_row + col;
    next[RESULTS] = prefetch_columns(dst, g->dst_row, rows, cols);
    next[ADDENDS] = (prefetch){0};
    if (g->add.data)
        next[ADDENDS] =
            prefetch_columns(g->add.data + row * g->add.row + col, g->add.row, rows, cols);
    product p = {.strip = strip_of(s, i),
                 .panel = panel,
                 .len = part->len,
                 .next = next,
                 .dst = sums,
                 .dst_row = TL_GEMM_PANEL};
    if (direct) {
        p.tail = tail_of(g, row, col, is_first, is_last);
        p.dst = dst;
        p.dst_row = g->dst_row;
    }
    multiply(s->state, &p, rows, cols);
    int adds = !is_first;
    if (is_checked) {
        if (!complete(sums, rows, adds ? dst : NULL, g->dst_row, cols))
            mend(g, row, rows, panel - part->begin * TL_GEMM_PANEL, sums);
        adds = 0;
    }
    if (!direct)
        finish(g, sums, TL_GEMM_PANEL, row, rows, col, cols, adds, is_last);
    else if (is_last && g->act.act != TL_ACT_NONE)
        for (size_t r = 0; r < rows; r++)
            tl_vf_activate(g->act, dst + r * g->dst_row, cols);
}

// Multiplies all strips of the group by the panel from column `j` on.
static void run_panel(const group *s, size_t j)
{
    const tl_gemm_part *const part = s->part;
    if (s->is_packing) {
        const tl_gemm_matrix src = panel_source(s, j);
        const size_t cols = tl_min_size(TL_GEMM_PANEL, part->cols - j);
        PACK_PANEL(&src, part->len, cols, part->buffer + j / TL_GEMM_PANEL * s->buffer_step);
    }
    const size_t n = s->end - s->begin, n_before = j / TL_GEMM_PANEL * n; // tiles of the group
    const size_t n_tiles = (part->cols + TL_GEMM_PANEL - 1) / TL_GEMM_PANEL * n;
    const share panel = prefetch_of_panel(s, j + TL_GEMM_PANEL, n);
    prefetch next[N_PREFETCHES];
    for (size_t i = 0; i < n; i++) {
        next[NEXT_PANEL] = share_of(&panel, i);
        next[NEXT_ROWS] = prefetch_of_rows(s, n_before + i, n_tiles);
        run_tile(s, s->begin + i, j, next);
    }
}

// The number of groups of a part's strips.
static size_t count_groups(const tl_gemm *g, const tl_gemm_part *part, size_t n_strips)
{
    const size_t max = tl_gemm_group(g->is_copied);
    const size_t n = (part->rows * part->len + max - 1) / max;
    const size_t copies = TL_GEMM_COPY / COPY_STEP;
    const size_t min = g->is_copied ? (n_strips + copies - 1) / copies : 1;
    return n < min ? min : n;
}

void BLOCK_FUNC(const tl_gemm *g, const tl_gemm_part *part)
{
    tile_state state = {0};
    group s = {
        .gemm = g, .part = part, .state = &state, .n_strips = (part->rows + ROWS - 1) / ROWS};
    s.min_rows = part->rows / s.n_strips;
    s.longer = part->rows % s.n_strips;
    const size_t n = count_groups(g, part, s.n_strips);
    const size_t n_panels = (part->cols + TL_GEMM_PANEL - 1) / TL_GEMM_PANEL;
    const size_t panel = part->len * TL_GEMM_PANEL;
    s.buffer_step = n > 1 && n_panels * panel <= part->buffer_floats ? panel : 0;
    for (size_t i = 0; i < n; i++) {
        s.begin = s.n_strips * i / n;
        s.end = s.n_strips * (i + 1) / n;
        s.is_packing = !part->panels && (i == 0 || s.buffer_step == 0);
        if (g->is_copied)
            copy_strips(&s);
        for (size_t j = 0; j < part->cols; j += TL_GEMM_PANEL)
            run_panel(&s, j);
    }
    release(&state);
}
