// SPDX-License-Identifier: Apache-2.0
// The tiles of gemm_block_simd.inc.h in registers of vectors. The including file defines
//
//     MULTIPLY_ADD(a, b, c)   a * b + c, for each element

enum {
    HAS_PARTS = 0,
    HAS_TAIL = 1,
#if TL_SIMD_REGISTERS == 32 && TL_SIMD_LANES == 16
    ROWS = 14, // 28 sums, 2 vectors of src2, 1 of src1
    PARTS = 2,
#elif TL_SIMD_REGISTERS == 32
    ROWS = 6, // 24 sums, 4, 1
    PARTS = 4,
#elif TL_SIMD_LANES == 8
    ROWS = 6, // 12 sums, 2, 1
    PARTS = 2,
#else
    ROWS = 2, // 8 sums, 4, 1
    PARTS = 4,
#endif
    TILE_COLS = PARTS * TL_VF_LANES, // columns of a tile
    PASSES = TL_GEMM_PANEL / TILE_COLS,
    PANEL_AHEAD = 4 << 10, // floats, for TL_GEMM_STREAMED rows
};

_Static_assert(TL_GEMM_PANEL % TILE_COLS == 0, "panels hold whole tiles");

// The tail of a product, for the sums from column `col` of its panel on.
TL_INLINE void finish_sums(const int n, const int parts, const tail *t, size_t col,
                           tl_vf sum[ROWS][PARTS])
{
    for (int k = 0; k < t->n; k++) {
        const float *rows = t->addends[k].data + col;
        const size_t step = t->addends[k].row;
        TL_UNROLL
        for (int i = 0; i < n; i++) {
            TL_UNROLL
            for (int v = 0; v < parts; v++)
                sum[i][v] = tl_vf_add(sum[i][v], tl_vf_load(rows + i % 3 * step + v * TL_VF_LANES));
            rows += i % 3 == 2 ? 3 * step : 0;
        }
    }
    if (!t->clamps)
        return;
    const tl_vf low = tl_vf_set1(t->low), high = tl_vf_set1(t->high);
    TL_UNROLL
    for (int i = 0; i < n; i++) {
        TL_UNROLL
        for (int v = 0; v < parts; v++)
            sum[i][v] = tl_vf_min(high, tl_vf_max(low, sum[i][v]));
    }
}

// Computes n rows of a product, and parts * TL_VF_LANES columns from `first` on. The first two
// arguments are constants: each choice becomes a separate function. To save registers, rows[i / 3]
// addresses rows i, i + 1 and i + 2 of the strip, `step` apart.
TL_INLINE void tile(const int n, const int parts, const product *p, size_t first, cursor *next)
{
    const size_t step = p->strip.row, col = p->strip.col, dst_row = p->dst_row;
    const float *panel = p->panel + first, *const end = panel + p->len * TL_GEMM_PANEL;
    float *dst = p->dst + first;
    const float *rows[(ROWS + 2) / 3];
    TL_UNROLL
    for (int i = 0; i < n; i += 3)
        rows[i / 3] = p->strip.data + i * step;
    tl_vf sum[ROWS][PARTS];
    TL_UNROLL
    for (int i = 0; i < n; i++) {
        TL_UNROLL
        for (int v = 0; v < parts; v++)
            sum[i][v] = tl_vf_zero();
    }
    while (panel < end) {
        const size_t left = (size_t)(end - panel) / TL_GEMM_PANEL;
        lines_ahead ahead = {NULL, 0, left};
        if (n > TL_GEMM_STREAMED)
            ahead = next_lines(next, left, dst);
        const float *const stop = panel + ahead.n * TL_GEMM_PANEL;
        for (; panel < stop; panel += TL_GEMM_PANEL) {
            tl_vf b[PARTS];
            if (n <= TL_GEMM_STREAMED) {
                prefetch_floats(panel + PANEL_AHEAD, (size_t)parts * TL_VF_LANES);
            } else {
                __builtin_prefetch(ahead.first, 0, 2);
                ahead.first += ahead.step;
            }
            TL_UNROLL
            for (int v = 0; v < parts; v++)
                b[v] = tl_vf_load(panel + v * TL_VF_LANES);
            TL_UNROLL
            for (int i = 0; i < n; i++) {
                const tl_vf a = tl_vf_set1(rows[i / 3][i % 3 * step]);
                TL_UNROLL
                for (int v = 0; v < parts; v++)
                    sum[i][v] = MULTIPLY_ADD(a, b[v], sum[i][v]);
            }
            TL_UNROLL
            for (int i = 0; i < n; i += 3)
                rows[i / 3] += col;
        }
    }
    if (parts == PARTS) // only whole panels have a tail
        finish_sums(n, parts, &p->tail, first, sum);
    TL_UNROLL
    for (int i = 0; i < n; i++) {
        TL_UNROLL
        for (int v = 0; v < parts; v++)
            tl_vf_store(dst + i % 3 * dst_row + v * TL_VF_LANES, sum[i][v]);
        dst += i % 3 == 2 ? 3 * dst_row : 0;
    }
}

typedef void tile_func(const product *p, size_t first, cursor *next);

// Tiles of n rows: tile_n_half of half the columns, tile_n_whole of all, TILE_COLS.
#define TILE(n, name, parts)                                                    \
    static void tile_##n##_##name(const product *p, size_t first, cursor *next) \
    {                                                                           \
        tile(n, parts, p, first, next);                                         \
    }
#define WHOLE(n)     TILE(n, whole, PARTS)
#define TILES(n)     TILE(n, half, PARTS / 2) WHOLE(n)
#define WHOLE_ROW(n) [n] = {tile_##n##_whole, tile_##n##_whole},
#define TILE_ROW(n)  [n] = {tile_##n##_half, tile_##n##_whole},

// Most strips have 12 to 14 rows, or few in a small matrix. Other sizes have no tile of half the
// columns, and also compute the columns of padding.
#if TL_SIMD_LANES == 16
#define EACH_TILE(X)  X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(12) X(13) X(14)
#define EACH_WHOLE(X) X(8) X(9) X(10) X(11)
#elif TL_SIMD_LANES == 8 || TL_SIMD_REGISTERS == 32
#define EACH_TILE(X) X(1) X(2) X(3) X(4) X(5) X(6)
#define EACH_WHOLE(X)
#else
#define EACH_TILE(X) X(1) X(2)
#define EACH_WHOLE(X)
#endif

EACH_TILE(TILES)
EACH_WHOLE(WHOLE)

// By rows, and by whether more than half of the columns are needed.
static tile_func *const tiles[ROWS + 1][2] = {EACH_TILE(TILE_ROW) EACH_WHOLE(WHOLE_ROW)};

typedef struct tile_state {
    char nothing;
} tile_state;

static void multiply(tile_state *t, const product *p, size_t rows, size_t cols)
{
    cursor next = cursor_of(p);
    (void)t;
    for (size_t c = 0; c < cols; c += TILE_COLS)
        tiles[rows][cols - c > TILE_COLS / 2](p, c, &next);
}

static void release(tile_state *t)
{
    (void)t;
}
