// SPDX-License-Identifier: Apache-2.0
// Products with weights of few bits in plain C, see matmul_lowbit.h.

#include "kernel/matmul_lowbit/matmul_lowbit.h"

#include <string.h>

#include "kernel/matmul_lowbit/matmul_lowbit_units.h"

// The nearest integer, ties to even: the fraction after adding 1.5 * 2^23.
static int32_t rounded(float x)
{
    return (int32_t)(tl_bits_of_float(x + 0x1.8p23f) - 0x4b400000);
}

static uint32_t largest_bits(const float *src, size_t n)
{
    return tl_lowbit_largest(src, n);
}

// Limbs of src[i] * factor, i < n.
static void write_limbs(const float *src, size_t n, float factor, int8_t *limbs,
                        tl_lowbit_head *head)
{
    int32_t highs = 0, lows = 0;
    for (size_t i = 0; i < n; i++) {
        const int32_t x = rounded(src[i] * factor);
        const int32_t low = (int8_t)x, rest = (x - low) / 256;
        const int32_t middle = (int8_t)rest, high = (rest - middle) / 256;
        limbs[i] = (int8_t)high;
        limbs[n + i] = (int8_t)middle;
        limbs[2 * n + i] = (int8_t)low;
        highs += high;
        lows += 256 * middle + low;
    }
    head->high = highs;
    head->low = lows;
}

// The same with one limb.
static void write_bytes(const float *src, size_t n, float factor, int8_t *bytes,
                        tl_lowbit_head *head)
{
    int32_t sum = 0;
    for (size_t i = 0; i < n; i++) {
        bytes[i] = (int8_t)rounded(src[i] * factor);
        sum += bytes[i];
    }
    head->low = sum;
}

#include "kernel/matmul_lowbit/matmul_lowbit_rows.inc.h"

void tl_lowbit_rows_u8_c(const tl_lowbit_job *job, const float *src, char *dst)
{
    prepare_row(job, src, dst);
}

// The stored bits of a weight.
static int stored_at(const tl_lowbit_job *job, const uint8_t *panel, size_t k, size_t col)
{
    int bit;
    const size_t at = tl_lowbit_weight_at(job, k, col, &bit);
    return panel[at] >> bit & ((1 << job->param.bits) - 1);
}

static int zero_at(const tl_lowbit_job *job, const uint8_t *panel, size_t block, size_t col)
{
    return job->param.has_zeros ? panel[job->zeros_at + block * TL_LOWBIT_PANEL + col]
                                : job->param.zero;
}

static float scale_at(const tl_lowbit_job *job, const uint8_t *panel, size_t block, size_t col)
{
    const uint8_t *const scales = panel + block * job->block_size + job->scales_at;
    const uint8_t *const from = scales + col * tl_lowbit_scale_size(job);
    float scale;
    uint16_t half;
    memcpy(&half, from, sizeof(half));
    if (job->has_halves)
        return tl_half_to_float(half);
    memcpy(&scale, from, sizeof(scale));
    return scale;
}

enum { ROWS = 8 };

// The weights of a block, without their scales: bits minus zero points.
static void unpack_block(const tl_lowbit_job *job, const uint8_t *panel, size_t block,
                         int16_t (*weight)[TL_LOWBIT_PANEL])
{
    const int bits = job->param.bits, mask = (1 << bits) - 1;
    const size_t size = (size_t)job->param.block;
    int bit;
    int16_t zeros[TL_LOWBIT_PANEL];
    for (size_t c = 0; c < TL_LOWBIT_PANEL; c++)
        zeros[c] = (int16_t)zero_at(job, panel, block, c);
    for (size_t i = 0; i < size; i++) {
        const uint8_t *const bytes = panel + tl_lowbit_weight_at(job, block * size + i, 0, &bit);
        for (size_t c = 0; c < TL_LOWBIT_PANEL; c++)
            weight[i][c] = (int16_t)((bytes[c * TL_LOWBIT_QUAD] >> bit & mask) - zeros[c]);
    }
}

// The sums of products with one limb of each element.
static void add_limbs(const int8_t *limbs, size_t n, int16_t (*weight)[TL_LOWBIT_PANEL],
                      int32_t *sums)
{
    for (size_t i = 0; i < n; i++)
        for (size_t c = 0; c < TL_LOWBIT_PANEL; c++)
            sums[c] += (int16_t)limbs[i] * weight[i][c];
}

// total += the contribution of block `block` to each column.
static void add_block(const tl_lowbit_job *job, const char *prepared, const uint8_t *panel,
                      size_t block, int16_t (*weight)[TL_LOWBIT_PANEL], float *total)
{
    const size_t size = (size_t)job->param.block;
    int32_t sums[TL_LOWBIT_MAX_LIMBS][TL_LOWBIT_PANEL] = {{0}};
    tl_lowbit_head head;
    memcpy(&head, prepared, sizeof(head));
    for (size_t l = 0; l < job->limbs; l++)
        add_limbs((const int8_t *)prepared + sizeof(head) + l * size, size, weight, sums[l]);
    for (size_t c = 0; c < TL_LOWBIT_PANEL; c++) {
        const float value =
            job->limbs == 1 ? (float)sums[0][c]
                            : (float)sums[0][c] * 65536 + (float)(sums[1][c] * 256 + sums[2][c]);
        total[c] += value * (scale_at(job, panel, block, c) * head.unit);
    }
}

static void multiply(const tl_lowbit_job *job, const char *prepared, size_t rows,
                     const uint8_t *panel, float (*total)[TL_LOWBIT_PANEL])
{
    int16_t weight[TL_LOWBIT_MAX_BLOCK][TL_LOWBIT_PANEL];
    for (size_t b = 0; b < job->blocks; b++, prepared += tl_lowbit_block_size(job)) {
        unpack_block(job, panel, b, weight);
        for (size_t r = 0; r < rows; r++)
            add_block(job, prepared + r * job->row_size, panel, b, weight, total[r]);
    }
}

static void run_cols(const tl_lowbit_job *job, const char *prepared, size_t rows,
                     const tl_lowbit_cols *cols, size_t dst_row)
{
    for (size_t r = 0; r < rows; r += ROWS) {
        float total[ROWS][TL_LOWBIT_PANEL] = {{0}};
        const size_t n = tl_min_size(ROWS, rows - r);
        multiply(job, prepared + r * job->row_size, n, cols->panel, total);
        for (size_t i = 0; i < n; i++)
            for (size_t c = 0; c < cols->n; c++)
                cols->dst[(r + i) * dst_row + c] =
                    cols->bias ? total[i][c] + cols->bias[c] : total[i][c];
    }
}

void tl_lowbit_u8_c(const tl_lowbit_job *job, const char *prepared, size_t rows,
                    const tl_lowbit_cols *cols, int pair, size_t dst_row)
{
    for (int i = 0; i <= pair; i++)
        run_cols(job, prepared, rows, cols + i, dst_row);
}

void tl_lowbit_widen_u8_c(const tl_lowbit_job *job, const uint8_t *panel, float *dst)
{
    const size_t block = (size_t)job->param.block;
    int16_t weight[TL_LOWBIT_MAX_BLOCK][TL_LOWBIT_PANEL];
    for (size_t b = 0; b < job->blocks; b++) {
        unpack_block(job, panel, b, weight);
        for (size_t i = 0; i < block; i++)
            for (size_t c = 0; c < TL_LOWBIT_PANEL; c++)
                *dst++ = (float)weight[i][c] * scale_at(job, panel, b, c);
    }
}

void tl_lowbit_reference(const tl_lowbit_job *job, const float *src, const uint8_t *panel,
                         const float *bias, float *dst, size_t cols)
{
    for (size_t c = 0; c < cols; c++) {
        float sum = 0;
        for (size_t k = 0; k < job->k; k++) {
            const size_t block = k / (size_t)job->param.block;
            const int q = stored_at(job, panel, k, c) - zero_at(job, panel, block, c);
            sum += src[k] * ((float)q * scale_at(job, panel, block, c));
        }
        dst[c] = bias ? sum + bias[c] : sum;
    }
}
