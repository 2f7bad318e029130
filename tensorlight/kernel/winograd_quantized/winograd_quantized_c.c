// SPDX-License-Identifier: Apache-2.0
// 8-bit convolutions by Winograd's algorithm in plain C: the definition.

#include <string.h>

#include "kernel/conv_quantized/requantize_c.h"
#include "kernel/winograd_quantized/winograd_quantized.h"

enum { TILE = TL_WINO_U8_TILE, PATCH = TL_WINO_U8_PATCH };

// B' and A' of winograd_quantized.h.
static const int source_matrix[PATCH][PATCH] = {
    {4, 0, -5, 0, 1, 0},  {0, -4, -4, 1, 1, 0}, {0, 4, -4, -1, 1, 0},
    {0, -2, -1, 2, 1, 0}, {0, 2, -1, -2, 1, 0}, {0, 4, 0, -5, 0, 1},
};

static const int result_matrix[TILE][PATCH] = {
    {6, 4, 4, 1, 1, 0},
    {0, 2, -2, 1, -1, 0},
    {0, 1, 1, 1, 1, 0},
    {0, 1, -1, 2, -2, 6},
};

// The dot product of a row of a matrix and six values, `step` apart.
static uint32_t dot_row(const int *row, const uint32_t *values, size_t step)
{
    uint32_t sum = 0;
    for (int i = 0; i < PATCH; i++)
        sum += (uint32_t)row[i] * values[i * step];
    return sum;
}

static void transform_source(const uint8_t *src, size_t row, int16_t *dst, size_t step)
{
    for (int c = 0; c < TL_BLOCK; c++) {
        uint32_t patch[PATCH][PATCH], lines[PATCH][PATCH];
        for (int y = 0; y < PATCH; y++)
            for (int x = 0; x < PATCH; x++)
                patch[y][x] =
                    (uint32_t)(src[y * row + (size_t)x * TL_BLOCK + c] - TL_WINO_U8_OFFSET);
        for (int y = 0; y < PATCH; y++)
            for (int x = 0; x < PATCH; x++)
                lines[y][x] = dot_row(source_matrix[y], &patch[0][x], PATCH);
        for (int y = 0; y < PATCH; y++)
            for (int x = 0; x < PATCH; x++)
                dst[(size_t)(y * PATCH + x) * step + c] =
                    (int16_t)(int32_t)dot_row(source_matrix[x], lines[y], 1);
    }
}

// The products of a tile and a block of output channels.
static void multiply_tile(const tl_wino_u8_sum *sum, const int16_t *src, const int16_t *weight,
                          uint32_t *dst)
{
    uint32_t sums[TL_BLOCK] = {0};
    for (int c = 0; c < sum->channels; c += TL_WINO_U8_PAIR) {
        const int16_t *const x = src + c / TL_BLOCK * sum->src_step + c % TL_BLOCK;
        for (int i = 0; i < TL_BLOCK; i++, weight += TL_WINO_U8_PAIR)
            sums[i] += (uint32_t)(x[0] * weight[0] + x[1] * weight[1]);
    }
    memcpy(dst, sums, sizeof(sums));
}

static void multiply(const tl_wino_u8_sum *sum, const int16_t *src, const int16_t *weight,
                     uint32_t *dst, int n, int n_blocks)
{
    for (int b = 0; b < n_blocks; b++)
        for (int i = 0; i < n; i++)
            multiply_tile(sum, src + (size_t)i * TL_BLOCK, weight + b * sum->weight_step,
                          dst + b * sum->dst_step + (size_t)i * TL_BLOCK);
}

// Adds the results of channel `c` of a group to `sums`.
static void add_group(const uint32_t *products, size_t step, int c, uint32_t (*sums)[TL_BLOCK])
{
    uint32_t lines[TILE][PATCH];
    for (int i = 0; i < TILE; i++)
        for (int x = 0; x < PATCH; x++)
            lines[i][x] = dot_row(result_matrix[i], products + x * step + c, PATCH * step);
    for (int i = 0; i < TILE; i++)
        for (int j = 0; j < TILE; j++) {
            const uint32_t sum = dot_row(result_matrix[j], lines[i], 1) * TL_WINO_U8_NINTH;
            const int shift = tl_wino_u8_shift[i] + tl_wino_u8_shift[j];
            sums[i * TILE + j][c] += (uint32_t)((int32_t)sum >> shift);
        }
}

static void transform_tile(const tl_wino_u8_job *job, const uint32_t *products,
                           const tl_quantized_head *head, size_t at, int rows, int cols)
{
    uint32_t sums[TILE * TILE][TL_BLOCK] = {{0}};
    float v[TL_BLOCK];
    for (int g = 0; g < job->groups; g++)
        for (int c = 0; c < TL_BLOCK; c++)
            add_group(products + (size_t)g * TL_WINO_U8_POINTS * job->step, job->step, c, sums);
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < cols; j++) {
            tl_quantized_values_c(head, &job->q, sums[i * TILE + j], v);
            tl_quantized_finish_c(&job->q, job->act_exec, v, job->is_float, job->dst,
                                  at + i * job->row + (size_t)j * TL_BLOCK);
        }
}

static void transform_products(const tl_wino_u8_job *job, const uint32_t *products,
                               const int8_t *row, size_t at, int n, int rows, int cols)
{
    tl_quantized_head head;
    memcpy(&head, row, sizeof(head));
    for (int i = 0; i < n; i++, cols -= TILE)
        transform_tile(job, products + (size_t)i * TL_BLOCK, &head,
                       at + (size_t)i * TILE * TL_BLOCK, rows, tl_min(TILE, cols));
}

const tl_wino_u8_kernel tl_wino_u8_c = {transform_source, multiply, transform_products};
