// SPDX-License-Identifier: Apache-2.0
// Products with weights of few bits in vectors, see matmul_lowbit.h: a panel's columns are lanes,
// and the weights are unpacked once for some rows.

#include "kernel/matmul_lowbit/matmul_lowbit.h"

#include "kernel/matmul_lowbit/matmul_lowbit_units.h"
#include "kernel/simd/tl_simd_quad.h"
#include "kernel/simd/tl_simd_small.h"

#include "kernel/matmul_lowbit/matmul_lowbit_results.inc.h"

enum {
    VECTORS = 2, // of columns whose sums are in registers
    SPAN = VECTORS * TL_VF_LANES,
    PANEL_VECTORS = TL_LOWBIT_PANEL / TL_VF_LANES,
#if TL_VN_REGISTERS > 1
    ROWS = 1,       // of three limbs: 12 sums
    SHORT_ROWS = 4, // of one limb: 16 sums
#elif TL_SIMD_REGISTERS == 32
    ROWS = 4,       // 24 sums, 2 weights, 2 stored weights
    SHORT_ROWS = 8, // 16 sums
#else
    ROWS = 2,       // 12 sums, 2 weights
    SHORT_ROWS = 4, // 8 sums, 2 weights, 2 stored weights
#endif
    MAX_LINES = SHORT_ROWS, // of results: rows of a panel, or a row of a pair of panels
    LIMBS = TL_LOWBIT_MAX_LIMBS,
    QUAD = TL_LOWBIT_QUAD,
    QUAD_BYTES = QUAD * TL_LOWBIT_PANEL, // of a panel's columns
    AHEAD = 16 << 10, // bytes of all panels that are read at once: prefetch from memory
    FEW_ROWS = 3,     // at most so many are memory-bound: weights are prefetched
    TO_L2 = 2,        // prefetch there: few lines can be on their way to the L1 cache
};

// The sums of a row by limb (of one limb, [v][0]); small_sums may have 16 bits for a few products.
typedef tl_vn small_sums[VECTORS][LIMBS];
typedef tl_vi sums[VECTORS][LIMBS];

// The constants of a template: rows, panels, bits of weights, limbs.
typedef struct shape {
    int rows, panels, bits, limbs;
} shape;

// s += the products of the rows at x with the weights in the bytes at `weights`.
TL_INLINE void add_bytes(const shape f, small_sums *s, const uint8_t *weights, const char *x,
                         size_t row_size, size_t block)
{
    tl_vb bytes[VECTORS];
    TL_UNROLL
    for (int v = 0; v < VECTORS; v++)
        bytes[v] = tl_vb_load(weights + v * TL_VF_LANES * QUAD);
    TL_UNROLL
    for (int j = 0; j < 8 / f.bits; j++) {
        tl_vb q[VECTORS];
        TL_UNROLL
        for (int v = 0; v < VECTORS; v++)
            q[v] = tl_vb_bits(bytes[v], j * f.bits, f.bits);
        TL_UNROLL
        for (int r = 0; r < f.rows; r++) {
            TL_UNROLL
            for (int l = 0; l < f.limbs; l++) {
                const tl_vb limb = tl_vb_fours(x + r * row_size + l * block + j * QUAD);
                TL_UNROLL
                for (int v = 0; v < VECTORS; v++)
                    s[r][v][l] = tl_vn_dot(s[r][v][l], q[v], limb);
            }
        }
    }
}

// Adds the products of `len` rows of weights of a block; i counts rows of x, vectors and limbs.
TL_INLINE void add_rows(const shape f, sums *sum, const uint8_t *weights, const char *x,
                        size_t row_size, size_t block, size_t len)
{
    const size_t rows = QUAD * 8 / f.bits;
    const int per_row = VECTORS * f.limbs;
    small_sums s[MAX_LINES];
    TL_UNROLL
    for (int i = 0; i < f.rows * per_row; i++)
        s[i / per_row][i / f.limbs % VECTORS][i % f.limbs] =
            tl_vn_begin(sum[i / per_row][i / f.limbs % VECTORS][i % f.limbs]);
    for (size_t k = 0; k < len; k += rows, weights += QUAD_BYTES)
        add_bytes(f, s, weights, x + k, row_size, block);
    TL_UNROLL
    for (int i = 0; i < f.rows * per_row; i++) {
        tl_vi *const to = &sum[i / per_row][i / f.limbs % VECTORS][i % f.limbs];
        *to = tl_vn_end(*to, s[i / per_row][i / f.limbs % VECTORS][i % f.limbs]);
    }
}

// The same for weights of 8 bits, as words, where tl_vn is too narrow for their products.
TL_INLINE void add_words(const shape f, sums *sum, const uint8_t *weights, const char *x,
                         size_t row_size, size_t block)
{
    for (size_t k = 0; k < block; k += QUAD, weights += QUAD_BYTES) {
        tl_vq q[VECTORS];
        TL_UNROLL
        for (int v = 0; v < VECTORS; v++)
            q[v] = tl_vq_of(tl_vb_load(weights + v * TL_VF_LANES * QUAD));
        TL_UNROLL
        for (int i = 0; i < f.rows * f.limbs; i++) {
            const int r = i / f.limbs, l = i % f.limbs;
            const tl_vk limb = tl_vk_of(tl_vb_fours(x + r * row_size + l * block + k));
            TL_UNROLL
            for (int v = 0; v < VECTORS; v++)
                sum[r][v][l] = tl_vi_dot(sum[r][v][l], q[v], limb);
        }
    }
}

// The sums of a block.
TL_INLINE void add_block(const shape f, sums *sum, const uint8_t *weights, const char *x,
                         size_t row_size, size_t block)
{
    const size_t max = (size_t)TL_VN_DOTS * QUAD;
    if (f.bits == 8 && !TL_VN_BYTES) {
        add_words(f, sum, weights, x, row_size, block);
        return;
    }
    if (max >= TL_LOWBIT_MAX_BLOCK) {
        add_rows(f, sum, weights, x, row_size, block, block);
        return;
    }
    for (size_t k = 0; k < block; k += max)
        add_rows(f, sum, weights + k * (size_t)f.bits / 8 * TL_LOWBIT_PANEL, x + k, row_size, block,
                 max < block - k ? max : block - k);
}

// The initial sum of a vector of columns: its zero points times x, which is high or low of a head.
TL_INLINE tl_vi begin_sum(const tl_lowbit_job *job, const uint8_t *zeros, int32_t x)
{
    const tl_vi share = tl_vi_set1(x);
    return job->param.has_zeros ? tl_vi_mul(tl_vi_load_u8(zeros), share) : share;
}

TL_INLINE void begin_sums(const shape f, const tl_lowbit_job *job, const tl_lowbit_head *head,
                          const uint8_t *zeros, sums *sum)
{
    TL_UNROLL
    for (int v = 0; v < VECTORS; v++) {
        (*sum)[v][f.limbs - 1] = begin_sum(job, zeros + v * TL_VF_LANES, head->low);
        if (f.limbs == 1)
            continue;
        (*sum)[v][0] = begin_sum(job, zeros + v * TL_VF_LANES, head->high);
        (*sum)[v][1] = tl_vi_set1(0);
    }
}

// The sum of the limbs' sums, by their powers of 256.
TL_INLINE tl_vf value_of(const shape f, const tl_vi *sum)
{
    if (f.limbs == 1)
        return tl_vi_to_vf(sum[0]);
    const tl_vi low = tl_vi_add(tl_vi_shift_left(sum[1], 8), sum[2]);
    const tl_vf high = tl_vf_mul(tl_vi_to_vf(sum[0]), tl_vf_set1(65536));
    return tl_vf_add(high, tl_vi_to_vf(low));
}

// total += a block's sums, whose columns begin at `col`.
TL_INLINE void add_sums(const shape f, const tl_lowbit_job *job, const tl_lowbit_head *head,
                        const uint8_t *scales, size_t col, sums *sum, tl_vf *total)
{
    TL_UNROLL
    for (int v = 0; v < VECTORS; v++) {
        const tl_vf value = value_of(f, (*sum)[v]);
        const tl_vf scale = load_scales(job, scales, col + (size_t)v * TL_VF_LANES);
        const tl_vf factor = tl_vf_mul(scale, tl_vf_set1(head->unit));
        total[v] = tl_vf_add(total[v], tl_vf_mul(value, factor));
    }
}

// total[r] += the products of row r with a block of a panel.
TL_INLINE void add_columns(const shape f, const tl_lowbit_job *job, const char *prepared,
                           const uint8_t *panel, const uint8_t *zeros,
                           tl_vf (*total)[PANEL_VECTORS])
{
    const size_t block = (size_t)job->param.block;
    const size_t scales_at = block * (size_t)f.bits / 8 * TL_LOWBIT_PANEL;
    for (size_t line = 0; line < job->block_size && f.rows <= FEW_ROWS; line += 64)
        __builtin_prefetch(panel + AHEAD / f.panels + line, 0, TO_L2);
    TL_UNROLL
    for (int c = 0; c < TL_LOWBIT_PANEL; c += SPAN) {
        sums sum[MAX_LINES];
        TL_UNROLL
        for (int r = 0; r < f.rows; r++)
            begin_sums(f, job, (const void *)(prepared + r * job->row_size), zeros + c, sum + r);
        add_block(f, sum, panel + c * QUAD, prepared + sizeof(tl_lowbit_head), job->row_size,
                  block);
        TL_UNROLL
        for (int r = 0; r < f.rows; r++)
            add_sums(f, job, (const void *)(prepared + r * job->row_size), panel + scales_at, c,
                     sum + r, total[r] + c / TL_VF_LANES);
    }
}

// Totals of all columns: a line for each row of a panel, or for the row of each of two panels. The
// first argument is constant.
TL_INLINE void add_panels(const shape f, const tl_lowbit_job *job, const char *prepared,
                          const tl_lowbit_cols *cols, float (*dst)[TL_LOWBIT_PANEL])
{
    const int lines = f.rows * f.panels;
    const uint8_t *panel = cols[0].panel, *other = cols[f.panels - 1].panel;
    const uint8_t *zeros = panel + job->zeros_at;
    tl_vf total[MAX_LINES][PANEL_VECTORS];
    TL_UNROLL
    for (int i = 0; i < lines * PANEL_VECTORS; i++)
        total[i / PANEL_VECTORS][i % PANEL_VECTORS] = tl_vf_zero();
    for (size_t b = 0; b < job->blocks; b++) {
        add_columns(f, job, prepared, panel, zeros, total);
        if (f.panels > 1)
            add_columns(f, job, prepared, other, other - panel + zeros, total + 1);
        panel += job->block_size;
        other += job->block_size;
        prepared += sizeof(tl_lowbit_head) + (size_t)f.limbs * (size_t)job->param.block;
        zeros += TL_LOWBIT_PANEL;
    }
    TL_UNROLL
    for (int i = 0; i < lines * PANEL_VECTORS; i++)
        tl_vf_store(dst[i / PANEL_VECTORS] + i % PANEL_VECTORS * TL_VF_LANES,
                    total[i / PANEL_VECTORS][i % PANEL_VECTORS]);
}

typedef void panels_func(const tl_lowbit_job *job, const char *prepared, const tl_lowbit_cols *cols,
                         float (*total)[TL_LOWBIT_PANEL]);

#define LINES(rows, panels, bits, limbs)                                            \
    static void lines_##rows##_##panels##_##bits##_##limbs(                         \
        const tl_lowbit_job *job, const char *prepared, const tl_lowbit_cols *cols, \
        float(*total)[TL_LOWBIT_PANEL])                                             \
    {                                                                               \
        add_panels((shape){rows, panels, bits, limbs}, job, prepared, cols, total); \
    }
#define PANELS(n, limbs) LINES(n, 1, 2, limbs) LINES(n, 1, 4, limbs) LINES(n, 1, 8, limbs)
#define PAIRS(limbs)     LINES(1, 2, 2, limbs) LINES(1, 2, 4, limbs) LINES(1, 2, 8, limbs)
#define OF_BITS(rows, panels, limbs)                                                          \
    {                                                                                         \
        [2] = lines_##rows##_##panels##_2_##limbs, [4] = lines_##rows##_##panels##_4_##limbs, \
        [8] = lines_##rows##_##panels##_8_##limbs                                             \
    }
#define PANEL_ROW(n, limbs) [n] = OF_BITS(n, 1, limbs),
#if TL_VN_REGISTERS > 1
#define EACH_ROWS(X)  X(1, 3)
#define EACH_SHORT(X) X(1, 1) X(2, 1) X(4, 1)
#elif TL_SIMD_REGISTERS == 32
#define EACH_ROWS(X)  X(1, 3) X(2, 3) X(3, 3) X(4, 3)
#define EACH_SHORT(X) X(1, 1) X(2, 1) X(4, 1) X(8, 1)
#else
#define EACH_ROWS(X)  X(1, 3) X(2, 3)
#define EACH_SHORT(X) X(1, 1) X(2, 1) X(4, 1)
#endif

EACH_ROWS(PANELS)
EACH_SHORT(PANELS)
PAIRS(1)
PAIRS(3)

static panels_func *const panels[ROWS + 1][9] = {EACH_ROWS(PANEL_ROW)};
static panels_func *const short_panels[SHORT_ROWS + 1][9] = {EACH_SHORT(PANEL_ROW)};
static panels_func *const pairs[LIMBS + 1][9] = {[1] = OF_BITS(1, 2, 1), [3] = OF_BITS(1, 2, 3)};

// The number of rows that one function multiplies, of those that remain: with one limb a power
// of 2.
static size_t rows_at_once(const tl_lowbit_job *job, size_t rows)
{
    size_t n = job->limbs == 1 ? SHORT_ROWS : ROWS;
    if (job->limbs != 1)
        return rows < n ? rows : n;
    while (n > rows)
        n /= 2;
    return n;
}

static void run_pair(const tl_lowbit_job *job, const char *prepared, const tl_lowbit_cols *cols)
{
    _Alignas(64) float total[2][TL_LOWBIT_PANEL];
    pairs[job->limbs][job->param.bits](job, prepared, cols, total);
    for (int i = 0; i < 2; i++)
        write_row(total[i], cols + i, 0);
}

void SIMD_OF(tl_lowbit_u8)(const tl_lowbit_job *job, const char *prepared, size_t rows,
                           const tl_lowbit_cols *cols, int pair, size_t dst_row)
{
    if (pair) {
        run_pair(job, prepared, cols);
        return;
    }
    for (size_t r = 0, n; r < rows; r += n) {
        _Alignas(64) float total[MAX_LINES][TL_LOWBIT_PANEL];
        n = rows_at_once(job, rows - r);
        panels_func *const add = (job->limbs == 1 ? short_panels : panels)[n][job->param.bits];
        add(job, prepared + r * job->row_size, cols, total);
        for (size_t i = 0; i < n; i++)
            write_row(total[i], cols, (r + i) * dst_row);
    }
}

// Rows as integers: the bits of matmul_lowbit_c.c

// The bits of the max magnitude; any infinity or NaN: those of infinity.
static uint32_t largest_bits(const float *src, size_t n)
{
    tl_vf max = tl_vf_zero(), zero = tl_vf_zero();
    for (size_t i = 0; i < n; i += TL_VF_LANES) {
        const tl_vf x = tl_vf_load(src + i);
        max = tl_vf_max(tl_vf_abs(x), max);
        zero = tl_vf_fma(x, tl_vf_zero(), zero);
    }
    return tl_vf_sum(zero) == 0 ? tl_bits_of_float(tl_vf_reduce_max(max)) : 0x7f800000;
}

// The integer nearest to x / 256 that leaves -128 .. 127.
TL_INLINE tl_vf next_limb(tl_vf x)
{
    return tl_vf_round(tl_vf_mul(tl_vf_add(x, tl_vf_set1(0.5f)), tl_vf_set1(0x1p-8f)));
}

// All values, and the sums in a head, are exact in floats.
static void write_limbs(const float *src, size_t n, float factor, int8_t *limbs,
                        tl_lowbit_head *head)
{
    tl_vf highs = tl_vf_zero(), lows = tl_vf_zero();
    const tl_vf share = tl_vf_set1(256);
    for (size_t i = 0; i < n; i += TL_VF_LANES) {
        const tl_vf x = tl_vf_round(tl_vf_mul(tl_vf_load(src + i), tl_vf_set1(factor)));
        const tl_vf upper = next_limb(x), high = next_limb(upper);
        const tl_vf middle = tl_vf_fnma(high, share, upper), low = tl_vf_fnma(upper, share, x);
        tl_vf_store_i8(limbs + i, high);
        tl_vf_store_i8(limbs + n + i, middle);
        tl_vf_store_i8(limbs + 2 * n + i, low);
        highs = tl_vf_add(highs, high);
        lows = tl_vf_add(lows, tl_vf_fma(middle, share, low));
    }
    head->high = (int32_t)tl_vf_sum(highs);
    head->low = (int32_t)tl_vf_sum(lows);
}

static void write_bytes(const float *src, size_t n, float factor, int8_t *bytes,
                        tl_lowbit_head *head)
{
    tl_vf sum = tl_vf_zero();
    for (size_t i = 0; i < n; i += TL_VF_LANES) {
        const tl_vf x = tl_vf_round(tl_vf_mul(tl_vf_load(src + i), tl_vf_set1(factor)));
        tl_vf_store_i8(bytes + i, x);
        sum = tl_vf_add(sum, x);
    }
    head->low = (int32_t)tl_vf_sum(sum);
}

#include "kernel/matmul_lowbit/matmul_lowbit_rows.inc.h"

void SIMD_OF(tl_lowbit_rows_u8)(const tl_lowbit_job *job, const float *src, char *dst)
{
    prepare_row(job, src, dst);
}

// Panels as floats

// The four rows of weights in bits from `from` on, of a vector of columns.
TL_INLINE void widen_quad(tl_vb bytes, int from, const int bits, tl_vf zero, tl_vf scale,
                          float *dst)
{
    TL_UNROLL
    for (int i = 0; i < QUAD; i++) {
        const tl_vf q = tl_vi_to_vf(tl_vi_bits(bytes, 8 * i + from, bits));
        tl_vf_store(dst + i * TL_LOWBIT_PANEL, tl_vf_mul(tl_vf_sub(q, zero), scale));
    }
}

TL_INLINE void widen_block(const int bits, size_t block, const uint8_t *weights, tl_vf zero,
                           tl_vf scale, float *dst)
{
    for (size_t k = 0; k < block; k += QUAD * 8 / bits, weights += QUAD_BYTES) {
        const tl_vb bytes = tl_vb_load(weights);
        TL_UNROLL
        for (int j = 0; j < 8 / bits; j++)
            widen_quad(bytes, j * bits, bits, zero, scale,
                       dst + (k + (size_t)j * QUAD) * TL_LOWBIT_PANEL);
    }
}

TL_INLINE void widen(const int bits, const tl_lowbit_job *job, const uint8_t *panel, float *dst)
{
    const size_t block = (size_t)job->param.block;
    const uint8_t *zeros = panel + job->zeros_at;
    for (size_t b = 0; b < job->blocks; b++) {
        const uint8_t *const scales = panel + job->scales_at;
        for (size_t c = 0; c < TL_LOWBIT_PANEL; c += TL_VF_LANES) {
            const tl_vf zero = job->param.has_zeros ? tl_vi_to_vf(tl_vi_load_u8(zeros + c))
                                                    : tl_vf_set1((float)job->param.zero);
            widen_block(bits, block, panel + c * QUAD, zero, load_scales(job, scales, c), dst + c);
        }
        panel += job->block_size;
        dst += block * TL_LOWBIT_PANEL;
        zeros += TL_LOWBIT_PANEL;
    }
}

void SIMD_OF(tl_lowbit_widen_u8)(const tl_lowbit_job *job, const uint8_t *panel, float *dst)
{
    if (job->param.bits == 2)
        widen(2, job, panel, dst);
    else if (job->param.bits == 4)
        widen(4, job, panel, dst);
    else
        widen(8, job, panel, dst);
}
