// SPDX-License-Identifier: Apache-2.0
// A template of the tiles of matrix multiplications: see gemm.h. The including file defines, for
// its type of matrix elements:
//
//     BLOCK_FUNC                          the name of the tl_gemm_block_func
//     PACK_PANEL(src, len, cols, panel)   packs a panel of an unpacked matrix; without it, all
//                                         matrices are packed
//     TILES_FILE                          a file that defines the max rows of a tile, ROWS, whether
//                                         it supports is_split, HAS_PARTS, and tails, HAS_TAIL, the
//                                         max lines that it prefetches for each term, PASSES, a
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

#include "kernel/act/act.h"
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

// Some rows of src1: element [i, k] is data[i * row + k * col].
typedef struct strip {
    const float *data;
    size_t row, col;
    int is_split; // of tl_gemm
} strip;

// What tiles prefetch to the L2 cache while they sum: n_runs runs, run_step floats apart, of an
// address that moves by `step` bytes with each of `n` terms. Each of the next n_tiles tiles
// prefetches as much, tile_step floats behind the tile before it.
typedef struct prefetch {
    const float *first;
    size_t step, n, run_step, n_runs, tile_step, n_tiles;
} prefetch;

// The prefetches of a tile, the most important first, since a tile drops what exceeds its terms:
// what the tiles after it read, its own addends and results.
enum { NEXT_PANEL, NEXT_ROWS, ADDENDS, RESULTS, N_PREFETCHES };

// The next terms of a tile: from term `term` of run `run` of `p` on.
typedef struct cursor {
    const prefetch *p, *end;
    size_t run, term;
} cursor;

// An address that moves by `step` bytes with each of `n` terms.
typedef struct lines_ahead {
    const char *first;
    size_t step, n;
} lines_ahead;

// Those of 1 to `max` terms. After the last run the line at `idle`, which is read or written soon:
// cheaper than a branch.
TL_INLINE lines_ahead next_lines(cursor *c, size_t max, const float *idle)
{
    for (; c->p < c->end; c->p++, c->run = 0) {
        const prefetch *const p = c->p;
        if (p->n_tiles == 0 || c->run == p->n_runs)
            continue;
        const char *const first = (const char *)(p->first + c->run * p->run_step);
        const size_t term = c->term, n = tl_min_size(p->n - term, max);
        c->term = term + n;
        if (c->term == p->n) {
            c->term = 0;
            c->run++;
        }
        return (lines_ahead){first + term * p->step, p->step, n};
    }
    return (lines_ahead){(const char *)idle, 0, max};
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
    prefetch next[N_PREFETCHES];
    float *dst;
    size_t dst_row;
} product;

TL_INLINE cursor cursor_of(const product *p)
{
    return (cursor){p->next, p->next + N_PREFETCHES, 0, 0};
}

#include TILES_FILE

// Groups

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

// A copied strip is [ROWS][COPY_LEN], or, of a transposed src1, [k][COPY_ROWS].
enum {
    COPY_LEN = TL_GEMM_LEN + LINE, // floats between copied rows: no cache conflicts
    COPY_ROWS = (ROWS + TL_VF_LANES - 1) / TL_VF_LANES * TL_VF_LANES, // of a copied column
    COPY_STEP = COPY_LEN * COPY_ROWS + LINE, // floats between copied strips
    COPY_AHEAD = 4,                          // prefetched rows of a transposed src1
};

// Copies a row of src1 to a copied strip, and prefetches `ahead` floats ahead.
static void copy_row(float *dst, const float *src, size_t len, size_t ahead)
{
    size_t k = 0;
    for (; k + LINE <= len; k += LINE) {
        __builtin_prefetch(src + k + ahead);
        __builtin_prefetch(dst + k + AHEAD * LINE, 1);
        TL_UNROLL
        for (int v = 0; v < LINE; v += TL_VF_LANES)
            tl_vf_store(dst + k + v, tl_vf_load(src + k + v));
    }
    copy_line(dst + k, src + k, len - k);
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
            copy_row(s->part->copy + (i - s->begin) * COPY_STEP + (r - row) * COPY_LEN,
                     src + r * src1->row, s->part->len, 2 * src1->row);
}

// The first strip of the group.
static strip first_strip(const group *s)
{
    const tl_gemm_matrix *const src1 = &s->gemm->src1;
    if (!s->gemm->is_copied)
        return (strip){src1->data + strip_row(s, s->begin) * src1->row + s->part->begin * src1->col,
                       src1->row, src1->col, s->gemm->is_split};
    return src1->col == 1 ? (strip){s->part->copy, COPY_LEN, 1, 0}
                          : (strip){s->part->copy, 1, COPY_ROWS, 0};
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

// Prefetches

enum { LINE_BYTES = LINE * sizeof(float) };

// `n` lines, `step` floats apart: each of the first of `n_tiles` tiles has an equal share.
static prefetch share_lines(const float *first, size_t step, size_t n, size_t n_tiles)
{
    const size_t each = tl_ceil_div(n, n_tiles), bytes = step * sizeof(float);
    return (prefetch){first, bytes, each, 0, 1, each * step, tl_ceil_div(n, each)};
}

// `rows` rows of `cols` floats, `step` apart: each of the first tiles has some. All are at least 1.
static prefetch share_rows(const float *first, size_t step, size_t rows, size_t cols,
                           size_t n_tiles)
{
    if (step == cols)
        return share_lines(first, LINE, tl_ceil_div(rows * cols, LINE), n_tiles);
    const size_t each = tl_ceil_div(rows, n_tiles), n_lines = tl_ceil_div(cols, LINE);
    prefetch p = {first, LINE_BYTES, n_lines, step, each, each * step, tl_ceil_div(rows, each)};
    if (each > n_lines) // fewer runs
        p = (prefetch){first, step * sizeof(float), each, LINE, n_lines, p.tile_step, p.n_tiles};
    return p;
}

// `rows` rows of a tile's own addends or results, `step` floats apart.
static prefetch prefetch_own(const float *first, size_t step, size_t rows, size_t cols)
{
    return (prefetch){first, step * sizeof(float), rows, LINE, tl_ceil_div(cols, LINE), 0, 1};
}

// The terms of a tile that `p` takes.
static size_t terms_of(const prefetch *p)
{
    return p->n_tiles ? p->n * p->n_runs : 0;
}

// Spreads runs of lines that follow one another over the `terms` terms of a tile, so that they do
// not delay its own reads: the address moves by a part of a line with each term.
static void spread(prefetch next[N_PREFETCHES], size_t terms)
{
    size_t following = 0, others = 0;
    for (int i = 0; i < N_PREFETCHES; i++) {
        const int follows = i < ADDENDS && next[i].step == LINE_BYTES;
        following += follows ? terms_of(&next[i]) : 0;
        others += follows ? 0 : terms_of(&next[i]);
    }
    if (following == 0 || others + following >= terms)
        return;
    const size_t step = tl_ceil_div(following * LINE_BYTES, terms - others);
    for (int i = 0; i < ADDENDS; i++)
        if (next[i].step == LINE_BYTES) {
            next[i].n = tl_ceil_div(next[i].n * LINE_BYTES, step);
            next[i].step = step;
        }
}

// Skips the prefetches of `n_tiles` tiles.
static void skip_tiles(prefetch *p, size_t n_tiles)
{
    const size_t n = tl_min_size(n_tiles, p->n_tiles);
    if (n == 0)
        return;
    p->first += n * p->tile_step;
    p->n_tiles -= n;
}

// The prefetch of the panel from column `j` on by the `n_tiles` tiles before it.
static prefetch prefetch_of_panel(const group *s, size_t j, size_t n_tiles)
{
    const size_t len = s->part->len;
    if (len == 0 || j >= s->part->cols || s->part->rows <= ROWS / 2) // few rows are memory-bound
        return (prefetch){0};
    if (!s->is_packing) {
        // A tile has fewer terms than a panel has lines: if it is the only one, the CPU adds the
        // second line of each pair.
        const size_t every = n_tiles * PASSES > 1 ? 1 : 2;
        return share_lines(panel_at(s, j), every * LINE,
                           tl_ceil_div(len * TL_GEMM_PANEL, every * LINE), n_tiles);
    }
    const tl_gemm_matrix src = panel_source(s, j);
    const size_t cols = tl_min_size(s->part->cols - j, TL_GEMM_PANEL);
    return src.col == 1 ? share_rows(src.data, src.row, len, cols, n_tiles)
                        : share_rows(src.data, src.col, cols, len, n_tiles);
}

// What the `n_tiles` tiles of a group prefetch of the next rows of src1: those of the next group,
// or of the first group in the next part of the sum.
static prefetch prefetch_of_rows(const group *s, size_t n_tiles)
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
    return src1->col == 1 ? share_rows(data, src1->row, rows, len, n_tiles)
                          : share_rows(data, src1->col, len, rows, n_tiles);
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

// Whether a tail completes the sums of a tile, without finish() but for the activation.
static int has_tail(const tl_gemm *g, size_t cols, int is_first, int is_last)
{
    if (cols < TL_GEMM_PANEL)
        return 0;
    if (!HAS_TAIL)
        return is_first && (!is_last || (is_simple(g) && !g->bias.data));
    return !is_last || (g->alpha == 1 && (!g->bias.data || (g->beta == 1 && g->bias.col == 1)));
}

static void add_addend(tail *t, const float *data, size_t row)
{
    t->addends[t->n++] = (addend){data, row};
}

// From element [row, col] of the product on.
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

// The products of a panel, strip by strip.
typedef struct column {
    size_t col, cols;  // of the product
    int adds, is_last; // of finish()
    int is_checked;    // sums may be wrong: see mend()
    int has_tail;      // multiply() completes the sums, but for the activation
    int is_written;    // it writes them to dst, else to a buffer
    product p;         // of the next strip
} column;

// Sets the prefetches of the tiles of the panel from column `j` on; `dst`: their first result.
static void set_prefetches(const group *s, size_t j, column *c, const float *dst)
{
    const tl_gemm *const g = s->gemm;
    const size_t n = s->end - s->begin, row = strip_row(s, s->begin);
    prefetch *const next = c->p.next;
    next[NEXT_PANEL] = prefetch_of_panel(s, j + TL_GEMM_PANEL, n);
    next[NEXT_ROWS] = prefetch_of_rows(s, n * tl_ceil_div(s->part->cols, TL_GEMM_PANEL));
    skip_tiles(&next[NEXT_ROWS], n * (j / TL_GEMM_PANEL));
    if (g->add.data)
        next[ADDENDS] =
            prefetch_own(g->add.data + row * g->add.row + c->col, g->add.row, s->min_rows, c->cols);
    next[RESULTS] = prefetch_own(dst, g->dst_row, s->min_rows, c->cols);
    spread(next, s->part->len * PASSES);
}

// The column of the group's first strip and the panel from column `j` of the part on. `sums`: the
// buffer.
static column column_of(const group *s, size_t j, float *sums)
{
    const tl_gemm *const g = s->gemm;
    const tl_gemm_part *const part = s->part;
    const size_t row = strip_row(s, s->begin);
    column c = {.col = part->col + j,
                .cols = tl_min_size(TL_GEMM_PANEL, part->cols - j),
                .adds = part->begin > 0,
                .is_last = part->begin + part->len == g->k};
    float *const dst = g->dst + row * g->dst_row + c.col;
    c.is_checked = HAS_PARTS && g->is_split && c.is_last;
    c.has_tail = !c.is_checked && has_tail(g, c.cols, !c.adds, c.is_last);
    c.is_written = c.has_tail && (!c.is_last || tl_act_is_bounds(g->act));
    c.p = (product){.strip = first_strip(s), .panel = panel_at(s, j), .len = part->len};
    if (c.has_tail)
        c.p.tail = tail_of(g, row, c.col, !c.adds, c.is_last);
    c.p.dst = c.is_written ? dst : sums;
    c.p.dst_row = c.is_written ? g->dst_row : TL_GEMM_PANEL;
    set_prefetches(s, j, &c, dst);
    return c;
}

// Moves a column to the next strip.
static void next_strip(const group *s, column *c, size_t rows)
{
    const tl_gemm *const g = s->gemm;
    product *const p = &c->p;
    p->strip.data += g->is_copied ? COPY_STEP : rows * p->strip.row;
    p->dst += c->is_written ? rows * p->dst_row : 0;
    for (int k = 0; k < p->tail.n; k++)
        p->tail.addends[k].data += rows * p->tail.addends[k].row;
    skip_tiles(&p->next[NEXT_PANEL], 1);
    skip_tiles(&p->next[NEXT_ROWS], 1);
    if (g->add.data)
        p->next[ADDENDS].first += rows * g->add.row;
    p->next[RESULTS].first += rows * g->dst_row;
}

// Writes the results of a tile whose sums are in the buffer.
static void finish_tile(const group *s, const column *c, size_t row, size_t rows)
{
    const tl_gemm *const g = s->gemm;
    float *const dst = g->dst + row * g->dst_row + c->col, *const sums = c->p.dst;
    if (c->has_tail) {
        tl_vf_activate(g->act, sums, rows * TL_GEMM_PANEL);
        for (size_t r = 0; r < rows; r++)
            copy_line(dst + r * g->dst_row, sums + r * TL_GEMM_PANEL, TL_GEMM_PANEL);
        return;
    }
    if (c->is_checked && !complete(sums, rows, c->adds ? dst : NULL, g->dst_row, c->cols))
        mend(g, row, rows, c->p.panel - s->part->begin * TL_GEMM_PANEL, sums);
    finish(g, sums, TL_GEMM_PANEL, row, rows, c->col, c->cols, c->adds && !c->is_checked,
           c->is_last);
}

// Multiplies all strips of the group by the panel from column `j` on.
static void run_panel(const group *s, size_t j)
{
    _Alignas(64) float sums[ROWS * TL_GEMM_PANEL];
    if (s->is_packing) {
        const tl_gemm_matrix src = panel_source(s, j);
        const size_t cols = tl_min_size(TL_GEMM_PANEL, s->part->cols - j);
        PACK_PANEL(&src, s->part->len, cols, s->part->buffer + j / TL_GEMM_PANEL * s->buffer_step);
    }
    column c = column_of(s, j, sums);
    for (size_t i = s->begin, row = strip_row(s, i); i < s->end; i++) {
        const size_t rows = strip_row(s, i + 1) - row;
        c.p.next[ADDENDS].n = c.p.next[RESULTS].n = rows;
        multiply(s->state, &c.p, rows, c.cols);
        if (!c.is_written)
            finish_tile(s, &c, row, rows);
        next_strip(s, &c, rows);
        row += rows;
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
