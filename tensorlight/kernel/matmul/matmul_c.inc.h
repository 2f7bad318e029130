// SPDX-License-Identifier: Apache-2.0
// Template: the product of packed blocks for one type of sums, see matmul.h.

/** One tile: acc += panel1 [len, TILE_ROWS] x panel2 [len, TILE_COLS]. Compilers keep it in vector
 *  registers. */
static void NAME(multiply_tile, c)(const T *panel1, const T *panel2, T *acc, size_t len)
{
    T tile[TL_MATMUL_TILE_ROWS][TL_MATMUL_TILE_COLS];
    memset(tile, 0, sizeof(tile));
    for (size_t k = 0; k < len; k++) {
        for (int r = 0; r < TL_MATMUL_TILE_ROWS; r++)
            for (int c = 0; c < TL_MATMUL_TILE_COLS; c++)
                tile[r][c] += panel1[r] * panel2[c];
        panel1 += TL_MATMUL_TILE_ROWS;
        panel2 += TL_MATMUL_TILE_COLS;
    }
    for (int r = 0; r < TL_MATMUL_TILE_ROWS; r++)
        for (int c = 0; c < TL_MATMUL_TILE_COLS; c++)
            acc[r * TL_MATMUL_COLS + c] += tile[r][c];
}

void NAME(tl_matmul, c)(const void *panels1, const void *panels2, void *acc, size_t rows,
                        size_t cols, size_t len)
{
    for (size_t c = 0; c < cols; c += TL_MATMUL_TILE_COLS)
        for (size_t r = 0; r < rows; r += TL_MATMUL_TILE_ROWS)
            NAME(multiply_tile, c)
    ((const T *)panels1 + r * len, (const T *)panels2 + c * len, (T *)acc + r * TL_MATMUL_COLS + c,
     len);
}
