// SPDX-License-Identifier: Apache-2.0
// Products with weights of few bits in vectors, see matmul_lowbit.h: a panel's columns are lanes,
// and the weights are unpacked once for some rows.

#include "kernel/matmul_lowbit/matmul_lowbit.h"

#include "kernel/matmul_lowbit/matmul_lowbit_rows.inc.h"
#include "kernel/simd/tl_simd_quad.h"
#include "kernel/simd/tl_simd_small.h"

enum {
    VECTORS = 2, // of columns whose sums are in registers
    SPAN = VECTORS * TL_VF_LANES,
#if TL_VN_REGISTERS > 1
    ROWS = 1, // 12 sums
#elif TL_SIMD_REGISTERS == 32
    ROWS = 4, // 24 sums, 2 weights, 2 stored weights
#else
    ROWS = 2, // 12 sums, 2 weights
#endif
    LIMBS = TL_LOWBIT_LIMBS,
    QUAD = TL_LOWBIT_QUAD,
    QUAD_BYTES = QUAD * TL_LOWBIT_PANEL, // of a panel's columns
    AHEAD = 2048,                        // bytes: prefetch from memory
};

typedef tl_vn small_sums[VECTORS][LIMBS];
typedef tl_vi sums[VECTORS][LIMBS];

// s += the products of the rows at x with the weights in the bytes at `weights`.
TL_INLINE void add_bytes(const int n, const int bits, small_sums *s, const uint8_t *weights,
                         const char *x, size_t row_size, size_t block)
{
    tl_vb bytes[VECTORS];
    TL_UNROLL
    for (int v = 0; v < VECTORS; v++)
        bytes[v] = tl_vb_load(weights + v * TL_VF_LANES * QUAD);
    TL_UNROLL
    for (int j = 0; j < 8 / bits; j++) {
        tl_vb q[VECTORS];
        TL_UNROLL
        for (int v = 0; v < VECTORS; v++)
            q[v] = tl_vb_bits(bytes[v], j * bits, bits);
        TL_UNROLL
        for (int r = 0; r < n; r++) {
            TL_UNROLL
            for (int l = 0; l < LIMBS; l++) {
                const tl_vb limb = tl_vb_fours(x + r * row_size + l * block + j * QUAD);
                TL_UNROLL
                for (int v = 0; v < VECTORS; v++)
                    s[r][v][l] = tl_vn_dot(s[r][v][l], q[v], limb);
            }
        }
    }
}

// The sums of a block.
TL_INLINE void add_block(const int n, const int bits, sums *sum, const uint8_t *weights,
                         const char *x, size_t row_size, size_t block)
{
    const size_t rows = QUAD * 8 / bits, max = TL_VN_DOTS * QUAD;
    for (size_t done = 0; done < block; done += max) {
        const size_t end = done + max < block ? done + max : block;
        small_sums s[ROWS];
        TL_UNROLL
        for (int i = 0; i < n * VECTORS * LIMBS; i++)
            s[i / (VECTORS * LIMBS)][i / LIMBS % VECTORS][i % LIMBS] =
                tl_vn_begin(sum[i / (VECTORS * LIMBS)][i / LIMBS % VECTORS][i % LIMBS]);
        for (size_t k = done; k < end; k += rows, weights += QUAD_BYTES) {
            TL_UNROLL
            for (int line = 0; line < VECTORS * TL_VF_LANES * QUAD; line += 64)
                __builtin_prefetch(weights + AHEAD + line);
            add_bytes(n, bits, s, weights, x + k, row_size, block);
        }
        TL_UNROLL
        for (int i = 0; i < n * VECTORS * LIMBS; i++) {
            tl_vi *const to = &sum[i / (VECTORS * LIMBS)][i / LIMBS % VECTORS][i % LIMBS];
            *to = tl_vn_end(*to, s[i / (VECTORS * LIMBS)][i / LIMBS % VECTORS][i % LIMBS]);
        }
    }
}

// Initializes a block's sums with minus the zero points' share.
TL_INLINE void begin_sums(const tl_lowbit_job *job, const tl_lowbit_head *head,
                          const uint8_t *zeros, sums *sum)
{
    TL_UNROLL
    for (int v = 0; v < VECTORS; v++) {
        const tl_vi zero = job->param.has_zeros ? tl_vi_load_u8(zeros + v * TL_VF_LANES)
                                                : tl_vi_set1(job->param.zero);
        (*sum)[v][0] = tl_vi_mul(zero, tl_vi_set1(-head->high));
        (*sum)[v][1] = tl_vi_set1(0);
        (*sum)[v][2] = tl_vi_mul(zero, tl_vi_set1(-head->low));
    }
}

// total += a block's sums.
TL_INLINE void add_sums(const tl_lowbit_head *head, const float *scales, sums *sum, float *total)
{
    TL_UNROLL
    for (int v = 0; v < VECTORS; v++) {
        const tl_vi low = tl_vi_add(tl_vi_shift_left((*sum)[v][1], 8), (*sum)[v][2]);
        const tl_vf high = tl_vf_mul(tl_vi_to_vf((*sum)[v][0]), tl_vf_set1(65536));
        const tl_vf value = tl_vf_add(high, tl_vi_to_vf(low));
        const tl_vf factor =
            tl_vf_mul(tl_vf_load(scales + v * TL_VF_LANES), tl_vf_set1(head->unit));
        float *const to = total + v * TL_VF_LANES;
        tl_vf_store(to, tl_vf_add(tl_vf_load(to), tl_vf_mul(value, factor)));
    }
}

// n rows of totals of all of a panel's columns. The first two arguments are constants.
TL_INLINE void add_panel(const int n, const int bits, const tl_lowbit_job *job,
                         const char *prepared, const uint8_t *panel,
                         float (*total)[TL_LOWBIT_PANEL])
{
    const size_t block = (size_t)job->param.block;
    const size_t weights_size = block * (size_t)bits / 8 * TL_LOWBIT_PANEL;
    const float *scales = (const float *)(const void *)(panel + job->scales_at);
    const uint8_t *zeros = panel + job->zeros_at;
    for (size_t b = 0; b < job->blocks; b++) {
        TL_UNROLL
        for (int c = 0; c < TL_LOWBIT_PANEL; c += SPAN) {
            sums sum[ROWS];
            TL_UNROLL
            for (int r = 0; r < n; r++)
                begin_sums(job, (const void *)(prepared + r * job->row_size), zeros + c, sum + r);
            add_block(n, bits, sum, panel + c * QUAD, prepared + sizeof(tl_lowbit_head),
                      job->row_size, block);
            TL_UNROLL
            for (int r = 0; r < n; r++)
                add_sums((const void *)(prepared + r * job->row_size), scales + c, sum + r,
                         total[r] + c);
        }
        panel += weights_size;
        prepared += tl_lowbit_block_size(job);
        scales += TL_LOWBIT_PANEL;
        zeros += TL_LOWBIT_PANEL;
    }
}

static void write_row(const float *total, const float *bias, float *dst, size_t cols)
{
    for (size_t c = 0; c < cols; c += TL_VF_LANES) {
        const size_t n = cols - c;
        const int is_whole = n >= TL_VF_LANES;
        tl_vf v = tl_vf_load(total + c);
        if (bias)
            v = tl_vf_add(v, is_whole ? tl_vf_load(bias + c) : tl_vf_load_partial(bias + c, n));
        if (is_whole)
            tl_vf_store(dst + c, v);
        else
            tl_vf_store_partial(dst + c, v, n);
    }
}

typedef void panel_func(const tl_lowbit_job *job, const char *prepared, const uint8_t *panel,
                        float (*total)[TL_LOWBIT_PANEL]);

#define PANEL(n, bits)                                                                   \
    static void panel_##n##_##bits(const tl_lowbit_job *job, const char *prepared,       \
                                   const uint8_t *panel, float(*total)[TL_LOWBIT_PANEL]) \
    {                                                                                    \
        add_panel(n, bits, job, prepared, panel, total);                                 \
    }
#define PANELS(n)    PANEL(n, 2) PANEL(n, 4)
#define PANEL_ROW(n) [n] = {[2] = panel_##n##_2, [4] = panel_##n##_4},
#if TL_VN_REGISTERS > 1
#define EACH_ROWS(X) X(1)
#elif TL_SIMD_REGISTERS == 32
#define EACH_ROWS(X) X(1) X(2) X(3) X(4)
#else
#define EACH_ROWS(X) X(1) X(2)
#endif

EACH_ROWS(PANELS)

static panel_func *const panels[ROWS + 1][5] = {EACH_ROWS(PANEL_ROW)};

void SIMD_OF(tl_lowbit_u8)(const tl_lowbit_job *job, const char *prepared, size_t rows,
                           const uint8_t *panel, const float *bias, float *dst, size_t dst_row,
                           size_t cols)
{
    for (size_t r = 0; r < rows; r += ROWS) {
        _Alignas(64) float total[ROWS][TL_LOWBIT_PANEL] = {{0}};
        const int n = rows - r < ROWS ? (int)(rows - r) : ROWS;
        panels[n][job->param.bits](job, prepared + r * job->row_size, panel, total);
        for (int i = 0; i < n; i++)
            write_row(total[i], bias, dst + (r + (size_t)i) * dst_row, cols);
    }
}

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
    const float *scales = (const float *)(const void *)(panel + job->scales_at);
    const uint8_t *zeros = panel + job->zeros_at;
    for (size_t b = 0; b < job->blocks; b++) {
        for (int c = 0; c < TL_LOWBIT_PANEL; c += TL_VF_LANES) {
            const tl_vf zero = job->param.has_zeros ? tl_vi_to_vf(tl_vi_load_u8(zeros + c))
                                                    : tl_vf_set1((float)job->param.zero);
            widen_block(bits, block, panel + c * QUAD, zero, tl_vf_load(scales + c), dst + c);
        }
        panel += block * bits / 8 * TL_LOWBIT_PANEL;
        dst += block * TL_LOWBIT_PANEL;
        scales += TL_LOWBIT_PANEL;
        zeros += TL_LOWBIT_PANEL;
    }
}

void SIMD_OF(tl_lowbit_widen_u8)(const tl_lowbit_job *job, const uint8_t *panel, float *dst)
{
    if (job->param.bits == 2)
        widen(2, job, panel, dst);
    else
        widen(4, job, panel, dst);
}
