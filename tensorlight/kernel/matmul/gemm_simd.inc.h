// SPDX-License-Identifier: Apache-2.0
// Template: the matrix product of floats, see gemm.h.

enum {
#if TL_SIMD_REGISTERS == 32 && TL_SIMD_LANES == 16
    ROWS = 14, /* 28 sums, 2 numbers of src2, 1 of src1 */
    PARTS = 2,
#elif TL_SIMD_REGISTERS == 32
    ROWS = 6, /* 24 sums, 4, 1 */
    PARTS = 4,
#elif TL_SIMD_LANES == 8
    ROWS = 6, /* 12 sums, 2, 1 */
    PARTS = 2,
#else
    ROWS = 2, /* 8 sums, 4, 1 */
    PARTS = 4,
#endif
    TILE_COLS = PARTS * TL_VF_LANES,                                   /* columns of a tile */
    STRIP_ROWS = (ROWS + TL_VF_LANES - 1) / TL_VF_LANES * TL_VF_LANES, /* are turned at once */
    LINE = 16,                                                         /* floats of a cache line */
    AHEAD = 8,       /* rows that are asked for before they are read */
    CONFLICT = 1024, /* floats, whose multiples are bad distances of rows */
    /* Floats from a row of a strip to the next: an odd number of cache lines, so that the rows do
     * not compete for the same places of the cache. */
    ROW_STEP = TL_GEMM_LEN + 16,
};

_Static_assert(TL_GEMM_PANEL % TILE_COLS == 0, "panels hold whole tiles");

/* ---- packing ---- */

/** `n_lines` lines of `len` floats, both at most TL_VF_LANES -> len lines of TL_VF_LANES floats:
 *  src[i][j] becomes dst[j][i]. Lines that are not there become 0. */
static void turn(const float *src, size_t src_step, size_t n_lines, size_t len, float *dst,
                 size_t dst_step)
{
    tl_vf v[TL_VF_LANES];
    if (n_lines == TL_VF_LANES && len == TL_VF_LANES) {
        TL_UNROLL
        for (int i = 0; i < TL_VF_LANES; i++)
            v[i] = tl_vf_load(src + i * src_step);
        tl_vf_transpose(v);
        TL_UNROLL
        for (int i = 0; i < TL_VF_LANES; i++)
            tl_vf_store(dst + i * dst_step, v[i]);
        return;
    }
    for (size_t i = 0; i < TL_VF_LANES; i++)
        v[i] = i >= n_lines         ? tl_vf_zero()
               : len == TL_VF_LANES ? tl_vf_load(src + i * src_step)
                                    : tl_vf_load_part(src + i * src_step, len);
    tl_vf_transpose(v);
    for (size_t i = 0; i < len; i++)
        tl_vf_store(dst + i * dst_step, v[i]);
}

/** Asks for `n` floats that will soon be read. */
TL_INLINE void fetch(const float *p, size_t n)
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
        tl_vf_store_part(dst + i, tl_vf_load_part(src + i, n - i), n - i);
}

/** Rows that lie in memory as they are, to all panels: each is read from end to end. */
static void pack_rows(const float *src, size_t row_step, size_t len, size_t cols, float *panels)
{
    const size_t whole = cols - cols % TL_GEMM_PANEL, panel_step = len * TL_GEMM_PANEL;
    for (size_t k = 0; k < len; k++, src += row_step) {
        float *panel = panels + k * TL_GEMM_PANEL;
        for (size_t j = 0; j < whole; j += TL_GEMM_PANEL, panel += panel_step) {
            if (k + AHEAD < len)
                fetch(src + AHEAD * row_step + j, TL_GEMM_PANEL);
            TL_UNROLL
            for (int v = 0; v < TL_GEMM_PANEL; v += TL_VF_LANES)
                tl_vf_store(panel + v, tl_vf_load(src + j + v));
        }
        if (whole < cols) {
            memset(panel, 0, TL_GEMM_PANEL * sizeof(*panel));
            copy_line(panel, src + whole, cols - whole);
        }
    }
}

/** A panel of columns that lie in memory as they are. */
static void pack_columns(const float *src, size_t col_step, size_t len, size_t cols, float *panel)
{
    for (size_t k = 0; k < len; k += TL_VF_LANES)
        for (size_t j = 0; j < TL_GEMM_PANEL; j += TL_VF_LANES)
            turn(j < cols ? src + j * col_step + k : src, col_step,
                 j < cols ? tl_smaller_size(cols - j, TL_VF_LANES) : 0,
                 tl_smaller_size(len - k, TL_VF_LANES), panel + k * TL_GEMM_PANEL + j,
                 TL_GEMM_PANEL);
}

void SIMD(tl_gemm_pack)(const tl_gemm_matrix *src, size_t len, size_t cols, float *panels)
{
    if (src->col == 1 || cols == 1) {
        pack_rows(src->data, src->row, len, cols, panels);
        return;
    }
    for (size_t j = 0; j < cols; j += TL_GEMM_PANEL, panels += len * TL_GEMM_PANEL) {
        const size_t n = tl_smaller_size(cols - j, TL_GEMM_PANEL);
        pack_columns(src->data + j * src->col, src->col, len, n, panels);
    }
}

/** A strip: `rows` rows and `len` columns of src1 from `src` on, as rows of ROW_STEP floats. */
static void copy_strip(const tl_gemm_matrix *src1, const float *src, size_t rows, size_t len,
                       float *strip)
{
    if (src1->col == 1 || len == 1) {
        for (size_t i = 0; i < rows; i++)
            copy_line(strip + i * ROW_STEP, src + i * src1->row, len);
        return;
    }
    for (size_t i = 0; i < rows; i += TL_VF_LANES)
        for (size_t k = 0; k < len; k += TL_VF_LANES)
            turn(src + i + k * src1->col, src1->col, tl_smaller_size(len - k, TL_VF_LANES),
                 tl_smaller_size(rows - i, TL_VF_LANES), strip + i * ROW_STEP + k, ROW_STEP);
}

/* ---- what becomes of sums ---- */

typedef struct place {
    const float *bias, *add;
    float *dst;
} place;

/** Whether results are sums, or those with a bias: what is left out would change no bit. */
static int is_simple(const tl_gemm *g)
{
    return g->alpha == 1 && (!g->bias.data || g->beta == 1) && !g->add.data &&
           g->low == -INFINITY && g->high == INFINITY;
}

/** The result of a vector of sums, but for activations that need more than two bounds. */
TL_INLINE tl_vf result(const tl_gemm *g, tl_vf sum, const place *at, size_t j, const size_t n,
                       const int simple)
{
    const int is_whole = n == TL_VF_LANES;
    tl_vf y = simple ? sum : tl_vf_mul(tl_vf_set1(g->alpha), sum);
    if (at->bias) {
        const tl_vf bias = g->bias.col == 0 ? tl_vf_set1(*at->bias)
                           : is_whole       ? tl_vf_load(at->bias + j)
                                            : tl_vf_load_part(at->bias + j, n);
        y = tl_vf_add(y, simple ? bias : tl_vf_mul(tl_vf_set1(g->beta), bias));
    }
    if (simple)
        return y;
    if (at->add)
        y = tl_vf_add(y, is_whole ? tl_vf_load(at->add + j) : tl_vf_load_part(at->add + j, n));
    return tl_vf_min(tl_vf_set1(g->high), tl_vf_max(tl_vf_set1(g->low), y));
}

TL_INLINE void finish_vector(const tl_gemm *g, const float *sums, const place *at, size_t j,
                             const size_t n, const int simple, int adds, int is_last)
{
    const int is_whole = n == TL_VF_LANES;
    tl_vf y = tl_vf_load(sums + j);
    if (adds)
        y = tl_vf_add(is_whole ? tl_vf_load(at->dst + j) : tl_vf_load_part(at->dst + j, n), y);
    if (is_last)
        y = result(g, y, at, j, n, simple);
    if (is_whole)
        tl_vf_store(at->dst + j, y);
    else
        tl_vf_store_part(at->dst + j, y, n);
}

TL_INLINE void finish_row(const tl_gemm *g, const float *sums, const place *at, size_t cols,
                          const int simple, int adds, int is_last)
{
    const size_t whole = cols - cols % TL_VF_LANES;
    for (size_t j = 0; j < whole; j += TL_VF_LANES)
        finish_vector(g, sums, at, j, TL_VF_LANES, simple, adds, is_last);
    if (whole < cols)
        finish_vector(g, sums, at, whole, cols - whole, simple, adds, is_last);
}

/** Sums, whole vectors of them, -> dst, for `rows` rows of `cols` columns. */
static void finish(const tl_gemm *g, const float *sums, size_t sums_row, size_t row, size_t rows,
                   size_t col, size_t cols, int adds, int is_last)
{
    const int simple = is_simple(g);
    for (size_t i = 0; i < rows; i++, row++, sums += sums_row) {
        const place at = {g->bias.data ? g->bias.data + row * g->bias.row + col * g->bias.col
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

/* ---- tiles ---- */

/** sums [n][TL_GEMM_PANEL] = strip [n][len] x panel [len][parts * TL_VF_LANES]. The first two
 *  arguments are constants: each choice becomes a function of its own. A register for every third
 *  row and one for `step` address all rows. */
TL_INLINE void tile(const int n, const int parts, const float *strip, size_t step,
                    const float *panel, size_t len, float *sums)
{
    const float *rows[(ROWS + 2) / 3];
    TL_UNROLL
    for (int i = 0; i < n; i += 3)
        rows[i / 3] = strip + i * step;
    tl_vf sum[ROWS][PARTS];
    TL_UNROLL
    for (int i = 0; i < n; i++) {
        TL_UNROLL
        for (int v = 0; v < parts; v++)
            sum[i][v] = tl_vf_zero();
    }
    for (size_t k = 0; k < len; k++, panel += TL_GEMM_PANEL) {
        tl_vf b[PARTS];
        TL_UNROLL
        for (int v = 0; v < parts; v++)
            b[v] = tl_vf_load(panel + v * TL_VF_LANES);
        TL_UNROLL
        for (int i = 0; i < n; i++) {
            const tl_vf a = tl_vf_set1(rows[i / 3][i % 3 * step]);
            TL_UNROLL
            for (int v = 0; v < parts; v++)
                sum[i][v] = tl_vf_fma(a, b[v], sum[i][v]);
        }
        TL_UNROLL
        for (int i = 0; i < n; i += 3)
            rows[i / 3]++;
    }
    TL_UNROLL
    for (int i = 0; i < n; i++) {
        TL_UNROLL
        for (int v = 0; v < parts; v++)
            tl_vf_store(sums + i * TL_GEMM_PANEL + v * TL_VF_LANES, sum[i][v]);
    }
}

typedef void tile_func(const float *strip, size_t step, const float *panel, size_t len,
                       float *sums);

#define TILE(n, name, parts)                                                                       \
    static void tile_##n##_##name(const float *strip, size_t step, const float *panel, size_t len, \
                                  float *sums)                                                     \
    {                                                                                              \
        tile(n, parts, strip, step, panel, len, sums);                                             \
    }
#define TILES(n)    TILE(n, half, PARTS / 2) TILE(n, whole, PARTS)
#define TILE_ROW(n) [n] = {tile_##n##_half, tile_##n##_whole},

#if TL_SIMD_LANES == 16
#define EACH_TILE(X) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) X(12) X(13) X(14)
#elif TL_SIMD_LANES == 8 || TL_SIMD_REGISTERS == 32
#define EACH_TILE(X) X(1) X(2) X(3) X(4) X(5) X(6)
#else
#define EACH_TILE(X) X(1) X(2)
#endif

EACH_TILE(TILES)

static tile_func *const tiles[ROWS + 1][2] = {EACH_TILE(TILE_ROW)};

/** The tiles of a strip, panel by panel. */
static void run_strip(const tl_gemm *g, const tl_gemm_part *part, const float *strip, size_t step,
                      size_t row, size_t rows)
{
    _Alignas(64) float sums[ROWS * TL_GEMM_PANEL];
    const int adds = part->begin > 0, is_last = part->begin + part->len == g->k;
    const float *panel = part->panels;
    for (size_t j = 0; j < part->cols; j += TL_GEMM_PANEL, panel += part->panel_step) {
        const size_t cols = tl_smaller_size(TL_GEMM_PANEL, part->cols - j);
        for (size_t i = 0; adds && i < rows; i++)
            fetch(g->dst + (row + i) * g->dst_row + part->col + j, cols);
        for (size_t s = 0; s < cols; s += TILE_COLS)
            tiles[rows][cols - s > TILE_COLS / 2](strip, step, panel + s, part->len, sums + s);
        finish(g, sums, TL_GEMM_PANEL, row, rows, part->col + j, cols, adds, is_last);
    }
}

/** Whether the rows of src1 can be read as they lie: they are contiguous, and do not compete for
 *  the same places of the cache. */
static int is_readable(const tl_gemm_matrix *src1)
{
    return src1->col == 1 && src1->row % CONFLICT != 0;
}

void SIMD(tl_gemm_block)(const tl_gemm *g, const tl_gemm_part *part)
{
    _Alignas(64) float copy[STRIP_ROWS * ROW_STEP];
    const int is_copied = !is_readable(&g->src1);
    const size_t n_strips = (part->rows + ROWS - 1) / ROWS;
    for (size_t i = 0, done = 0; i < n_strips; i++) {
        const size_t rows = part->rows / n_strips + (i < part->rows % n_strips);
        const size_t row = part->row + done;
        const float *const src = g->src1.data + row * g->src1.row + part->begin * g->src1.col;
        if (is_copied)
            copy_strip(&g->src1, src, rows, part->len, copy);
        run_strip(g, part, is_copied ? copy : src, is_copied ? ROW_STEP : g->src1.row, row, rows);
        done += rows;
    }
}
