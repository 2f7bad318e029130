// SPDX-License-Identifier: Apache-2.0
// Template: few rows times an unpacked matrix, see gemm.h; included by gemm_simd.c.

enum {
    SUMS = TL_SIMD_REGISTERS / 2, // registers for sums, or for elements of src1
};

// Copies `n` lines of `len` floats, less than a vector, `step` apart, padded to vectors with 0.
static __attribute__((noinline)) void copy_ends(float *ends, int n, const float *src, size_t step,
                                                size_t len)
{
    for (int i = 0; i < n; i++)
        tl_vf_store(ends + i * TL_VF_LANES, tl_vf_load_partial(src + i * step, len));
}

// sums [n][lines] = dot products of the rows of src1 at `a` and the contiguous columns of src2 at
// `b`. The elements after the last whole vector are padded in `ends`, which a second pass adds.
TL_INLINE void dot_lines(const int n, const int lines, const float *a, size_t a_row, const float *b,
                         size_t b_step, size_t len, float *sums, size_t sums_row)
{
    _Alignas(64) float ends[(TL_GEMM_FEW + SUMS) * TL_VF_LANES];
    tl_vf sum[TL_GEMM_FEW][SUMS];
    TL_UNROLL
    for (int i = 0; i < n; i++) {
        TL_UNROLL
        for (int j = 0; j < lines; j++)
            sum[i][j] = tl_vf_zero();
    }
    const float *line[SUMS];
    TL_UNROLL
    for (int j = 0; j < lines; j++)
        line[j] = b + j * b_step;
    size_t left = len % TL_VF_LANES, whole = len - left;
    for (;;) {
        for (size_t k = 0; k < whole; k += TL_VF_LANES) {
            tl_vf y[SUMS];
            TL_UNROLL
            for (int j = 0; j < lines; j++)
                y[j] = tl_vf_load(line[j] + k);
            TL_UNROLL
            for (int i = 0; i < n; i++) {
                const tl_vf x = tl_vf_load(a + i * a_row + k);
                TL_UNROLL
                for (int j = 0; j < lines; j++)
                    sum[i][j] = tl_vf_fma(x, y[j], sum[i][j]);
            }
        }
        if (left == 0)
            break;
        copy_ends(ends, n, a + whole, a_row, left);
        copy_ends(ends + n * TL_VF_LANES, lines, b + whole, b_step, left);
        a = ends;
        a_row = TL_VF_LANES;
        TL_UNROLL
        for (int j = 0; j < lines; j++)
            line[j] = ends + (n + j) * TL_VF_LANES;
        whole = TL_VF_LANES;
        left = 0;
    }
    TL_UNROLL
    for (int i = 0; i < n; i++) {
        TL_UNROLL
        for (int j = 0; j < lines; j++)
            sums[i * sums_row + j] = tl_vf_sum(sum[i][j]);
    }
}

// sums [n][cols] += a [n][lines] x b [lines][cols]: columns of src1 times contiguous rows of src2,
// in which b + ahead is prefetched.
TL_INLINE void add_lines(const int n, const int lines, const float *a, size_t a_row, size_t a_col,
                         const float *b, size_t b_step, size_t ahead, size_t cols, float *sums,
                         size_t sums_row)
{
    tl_vf x[TL_GEMM_FEW][SUMS];
    TL_UNROLL
    for (int i = 0; i < n; i++) {
        TL_UNROLL
        for (int r = 0; r < lines; r++)
            x[i][r] = tl_vf_set1(a[i * a_row + r * a_col]);
    }
    for (size_t j = 0; j < cols; j += TL_VF_LANES) {
        const int is_whole = j + TL_VF_LANES <= cols;
        tl_vf sum[TL_GEMM_FEW];
        TL_UNROLL
        for (int i = 0; i < n; i++)
            sum[i] = tl_vf_load(sums + i * sums_row + j);
        TL_UNROLL
        for (int r = 0; r < lines; r++) {
            const float *const line = b + r * b_step + j;
            if (lines < 4) // with more of them, the CPU has enough independent operations
                __builtin_prefetch(line + ahead);
            const tl_vf y = is_whole ? tl_vf_load(line) : tl_vf_load_partial(line, cols - j);
            TL_UNROLL
            for (int i = 0; i < n; i++)
                sum[i] = tl_vf_fma(x[i][r], y, sum[i]);
        }
        TL_UNROLL
        for (int i = 0; i < n; i++)
            tl_vf_store(sums + i * sums_row + j, sum[i]);
    }
}

static __attribute__((noinline)) void dot_one(const float *a, const float *b, size_t len,
                                              float *sum)
{
    dot_lines(1, 1, a, 0, b, 0, len, sum, 0);
}

// Columns (dot_all) or rows (add_all) of src2 at a time for n rows: n * LINES(n) <= SUMS.
#define LINES(n) (SUMS / (n) >= 8 ? 8 : SUMS / (n) >= 4 ? 4 : SUMS / (n) >= 2 ? 2 : 1)

// All sums as dot products: the columns of src2 are contiguous.
TL_INLINE void dot_all(const int n, const tl_gemm *g, size_t col, size_t cols, float *sums,
                       size_t sums_row)
{
    const int lines = LINES(n);
    const float *b = g->src2.data + col * g->src2.col;
    size_t j = 0;
    for (; j + lines <= cols; j += lines, b += lines * g->src2.col)
        dot_lines(n, lines, g->src1.data, g->src1.row, b, g->src2.col, g->k, sums + j, sums_row);
    for (; j < cols; j++, b += g->src2.col)
        for (int i = 0; i < n; i++)
            dot_one(g->src1.data + i * g->src1.row, b, g->k, sums + i * sums_row + j);
}

// The same row by row of src2, whose rows are contiguous.
TL_INLINE void add_all(const int n, const tl_gemm *g, size_t col, size_t cols, float *sums,
                       size_t sums_row)
{
    const int lines = LINES(n);
    const float *a = g->src1.data, *b = g->src2.data + col;
    memset(sums, 0, n * sums_row * sizeof(*sums));
    size_t k = 0;
    for (; k + lines <= g->k; k += lines, a += lines * g->src1.col, b += lines * g->src2.row) {
        const size_t ahead = k + 2 * lines <= g->k ? lines * g->src2.row : 0;
        add_lines(n, lines, a, g->src1.row, g->src1.col, b, g->src2.row, ahead, cols, sums,
                  sums_row);
    }
    for (; k < g->k; k++, a += g->src1.col, b += g->src2.row)
        add_lines(n, 1, a, g->src1.row, g->src1.col, b, g->src2.row, 0, cols, sums, sums_row);
}

typedef void few_func(const tl_gemm *g, size_t col, size_t cols, float *sums, size_t sums_row);

#define FEW(n)                                                                                   \
    static void dot_##n(const tl_gemm *g, size_t col, size_t cols, float *sums, size_t sums_row) \
    {                                                                                            \
        dot_all(n, g, col, cols, sums, sums_row);                                                \
    }                                                                                            \
    static void add_##n(const tl_gemm *g, size_t col, size_t cols, float *sums, size_t sums_row) \
    {                                                                                            \
        add_all(n, g, col, cols, sums, sums_row);                                                \
    }
#define FEW_ROW(n)  [n] = {dot_##n, add_##n},
#define EACH_FEW(X) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8)

EACH_FEW(FEW)

// By rows of src1, and by whether the rows of src2, and not its columns, are contiguous.
static few_func *const fews[TL_GEMM_FEW + 1][2] = {EACH_FEW(FEW_ROW)};

void SIMD(tl_gemm_few)(const tl_gemm *g, size_t col, size_t cols)
{
    _Alignas(64) float sums[TL_GEMM_FEW_FLOATS];
    const size_t sums_row = (cols + TL_VF_LANES - 1) / TL_VF_LANES * TL_VF_LANES;
    fews[g->m][g->src2.col == 1](g, col, cols, sums, sums_row);
    finish(g, sums, sums_row, 0, g->m, col, cols, 0, 1);
}
