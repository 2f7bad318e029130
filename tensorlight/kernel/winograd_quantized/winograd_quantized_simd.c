// SPDX-License-Identifier: Apache-2.0
// 8-bit convolutions by Winograd's algorithm in vectors, see winograd_quantized.h.
//
// A transform processes one axis after the other, with a table of vectors between them. Its
// arithmetic is that of compilers' vectors of unsigned integers, modulo 2^16 and 2^32.

#include "kernel/winograd_quantized/winograd_quantized.h"

#include <string.h>

#include "kernel/conv_quantized/requantize.h"
#include "kernel/simd/tl_simd_act.h"
#include "kernel/simd/tl_simd_pair.h"

enum {
    TILE = TL_WINO_U8_TILE,
    PATCH = TL_WINO_U8_PATCH,
    PARTS = TL_BLOCK / TL_VF_LANES,            // vectors of a block
    PAIR_SIZE = TL_BLOCK * TL_WINO_U8_PAIR,    // weights of a pair of channels
    SHORTS = TL_SIMD_LANES < 8 ? 8 : TL_BLOCK, // lanes of a transformed source
    WEIGHTS_AHEAD = 512,                       // prefetch from memory
};

// The source

typedef uint16_t shorts __attribute__((vector_size(2 * SHORTS)));
typedef uint8_t pixels __attribute__((vector_size(SHORTS)));

static inline shorts shorts_of(const uint8_t *src)
{
    pixels p;
    memcpy(&p, src, sizeof(p));
    return __builtin_convertvector(p, shorts);
}

// B' times d, to v[0], v[step], ..
TL_INLINE void source_line(const shorts *d, shorts *v, const int step)
{
    const shorts even = d[4] - (d[2] << 2), odd = d[3] - (d[1] << 2);
    const shorts far = d[4] - d[2], near = d[3] - d[1], twice = near << 1;
    v[0] = far + ((d[0] - d[2]) << 2);
    v[step] = even + odd;
    v[2 * step] = even - odd;
    v[3 * step] = far + twice;
    v[4 * step] = far - twice;
    v[5 * step] = d[5] - d[3] - (near << 2);
}

static void transform_source(const uint8_t *src, size_t row, int16_t *dst, size_t step)
{
    const int offset = TL_WINO_U8_AT_1 * TL_WINO_U8_AT_1 * TL_WINO_U8_OFFSET;
    for (int part = 0; part < TL_BLOCK; part += SHORTS) {
        shorts table[PATCH * PATCH], line[PATCH];
        for (int x = 0; x < PATCH; x++) {
            TL_UNROLL
            for (int y = 0; y < PATCH; y++)
                line[y] = shorts_of(src + part + y * row + (size_t)x * TL_BLOCK);
            source_line(line, table + x, PATCH);
        }
        for (int y = 0; y < PATCH; y++) {
            source_line(table + y * PATCH, line, 1);
            line[1] -= (uint16_t)(y == 1 ? offset : 0);
            TL_UNROLL
            for (int x = 0; x < PATCH; x++)
                memcpy(dst + part + (size_t)(y * PATCH + x) * step, &line[x], sizeof(line[x]));
        }
    }
}

// Products

enum {
#if TL_SIMD_LANES == 16
    BLOCKS = 2, // with 12 tiles 24 sums, 2 weights, 1 source, 2 products
    TILES = 12,
#elif TL_SIMD_LANES == 8
    BLOCKS = 1, // 12 sums, 2 weights, 1 source, 1 product
    TILES = 6,
#else
    BLOCKS = 1, // 16 sums, 8 weights, 1 source
    TILES = 4,
#endif
};

// Computes `n` tiles by `n_blocks` blocks, both constants.
TL_INLINE void sum_tiles(const int n, const int n_blocks, const tl_wino_u8_sum *sum,
                         const int16_t *src, const int16_t *weight, uint32_t *dst)
{
    tl_vd s[TILES][BLOCKS * PARTS];
    TL_UNROLL
    for (int m = 0; m < n; m++) {
        TL_UNROLL
        for (int v = 0; v < n_blocks * PARTS; v++)
            s[m][v] = tl_vd_zero();
    }
    for (int c = 0; c < sum->channels; c += TL_BLOCK, src += sum->src_step) {
        const int rest = tl_min(TL_BLOCK, sum->channels - c);
        for (int k = 0; k < rest; k += TL_WINO_U8_PAIR, weight += PAIR_SIZE) {
            tl_vdw w[BLOCKS * PARTS];
            TL_UNROLL
            for (int v = 0; v < n_blocks * PARTS; v++)
                w[v] = tl_vdw_load(weight + v / PARTS * sum->weight_step +
                                   v % PARTS * TL_VF_LANES * TL_WINO_U8_PAIR);
            TL_UNROLL
            for (int b = 0; b < n_blocks; b++)
                __builtin_prefetch(weight + b * sum->weight_step + WEIGHTS_AHEAD);
            TL_UNROLL
            for (int m = 0; m < n; m++) {
                const tl_vdx x = tl_vdx_load(src + m * TL_BLOCK + k);
                TL_UNROLL
                for (int v = 0; v < n_blocks * PARTS; v++)
                    s[m][v] = tl_vd_add(s[m][v], x, w[v]);
            }
        }
    }
    TL_UNROLL
    for (int m = 0; m < n; m++) {
        TL_UNROLL
        for (int v = 0; v < n_blocks * PARTS; v++)
            tl_vd_store(dst + v / PARTS * sum->dst_step + m * TL_BLOCK + v % PARTS * TL_VF_LANES,
                        s[m][v]);
    }
}

typedef void tiles_func(const tl_wino_u8_sum *sum, const int16_t *src, const int16_t *weight,
                        uint32_t *dst);

#define TILES_BY(n, n_blocks)                                                         \
    static void tiles_##n##_##n_blocks(const tl_wino_u8_sum *sum, const int16_t *src, \
                                       const int16_t *weight, uint32_t *dst)          \
    {                                                                                 \
        sum_tiles(n, n_blocks, sum, src, weight, dst);                                \
    }
#define TILES_OF(n) TILES_BY(n, 1) SECOND(TILES_BY(n, 2))
#define ROW_OF(n)   [n] = {tiles_##n##_1, SECOND(tiles_##n##_2)},

#define FOUR(X) X(1) X(2) X(3) X(4)
#define SIX(X)  FOUR(X) X(5) X(6)
#if TL_SIMD_LANES == 16
#define SECOND(...)    __VA_ARGS__
#define EACH_NUMBER(X) SIX(X) X(7) X(8) X(9) X(10) X(11) X(12)
#elif TL_SIMD_LANES == 8
#define SECOND(...)
#define EACH_NUMBER(X) SIX(X)
#else
#define SECOND(...)
#define EACH_NUMBER(X) FOUR(X)
#endif

EACH_NUMBER(TILES_OF)

static tiles_func *const tiles[TILES + 1][BLOCKS] = {EACH_NUMBER(ROW_OF)};

static void multiply(const tl_wino_u8_sum *sum, const int16_t *src, const int16_t *weight,
                     uint32_t *dst, int n, int n_blocks)
{
    const int n_runs = (n + TILES - 1) / TILES;
    for (int b = 0; b < n_blocks; b += BLOCKS) {
        const int blocks = tl_min(BLOCKS, n_blocks - b);
        for (int i = 0, m = 0; i < n_runs; i++) {
            const int run = n / n_runs + (i < n % n_runs);
            tiles[run][blocks - 1](sum, src + (size_t)m * TL_BLOCK, weight + b * sum->weight_step,
                                   dst + b * sum->dst_step + (size_t)m * TL_BLOCK);
            m += run;
        }
    }
}

// Results

typedef uint32_t words __attribute__((vector_size(4 * TL_VF_LANES)));
typedef int32_t signed_words __attribute__((vector_size(4 * TL_VF_LANES)));

// A' times p, to y[0], y[step], ..
TL_INLINE void result_line(const words *p, words *y, const int step)
{
    const words sum = p[1] + p[2], difference = p[1] - p[2];
    const words far_sum = p[3] + p[4], far_difference = p[3] - p[4];
    y[0] = ((p[0] + sum) << 2) + (p[0] << 1) + far_sum;
    y[step] = (difference << 1) + far_difference;
    y[2 * step] = sum + far_sum;
    y[3 * step] = difference + ((far_difference + p[5]) << 1) + (p[5] << 2);
}

// Computes the sums of a group for a tile, a vector of channels per result, or adds them if `adds`,
// a constant.
TL_INLINE void sum_group(const uint32_t *products, size_t step, const int adds, words *sums)
{
    words table[TILE * PATCH], line[PATCH];
    for (int x = 0; x < PATCH; x++) {
        TL_UNROLL
        for (int y = 0; y < PATCH; y++)
            memcpy(&line[y], products + (size_t)(y * PATCH + x) * step, sizeof(*line));
        result_line(line, table + x, PATCH);
    }
    TL_UNROLL
    for (int i = 0; i < TILE; i++) {
        result_line(table + i * PATCH, line, 1);
        TL_UNROLL
        for (int j = 0; j < TILE; j++) {
            const int shift = tl_wino_u8_shift[i] + tl_wino_u8_shift[j];
            const words sum = (words)((signed_words)(line[j] * TL_WINO_U8_NINTH) >> shift);
            sums[i * TILE + j] = adds ? sums[i * TILE + j] + sum : sum;
        }
    }
}

// Stores the values of `n` pixels, clamped, as floats if `floats` is not NULL, or as bytes.
TL_INLINE void store_values(const tl_vi *sum, int n, uint8_t *bytes, float *floats,
                            const tl_requantize *e)
{
    for (int j = 0; j < n; j++) {
        const tl_vf v = tl_quantized_values(sum[j], e);
        if (floats)
            tl_vf_store(floats + j * TL_BLOCK, v);
        else
            tl_quantized_store(bytes + j * TL_BLOCK, v, e);
    }
}

// Stores the results of the first `n` sums of a line.
TL_INLINE void store_line(const words *sums, int n, uint8_t *bytes, float *floats,
                          const tl_requantize *e)
{
    tl_vi sum[TILE];
    TL_UNROLL
    for (int j = 0; j < TILE; j++)
        sum[j] = tl_vi_add(tl_vi_load((const void *)(sums + j)), e->start);
    if (floats || !e->is_small)
        store_values(sum, n, bytes, floats, e);
    else if (e->is_plain)
        tl_quantized_store_sums(bytes, sum, n, 1, e);
    else
        tl_quantized_store_sums(bytes, sum, n, 0, e);
}

// The output of a tile; bytes whose activation does more than clamp are floats first.
typedef struct output {
    uint8_t *bytes;         // or NULL
    float *floats;          // or NULL
    size_t row, floats_row; // from a line to the next, of either
    int rows, cols;
} output;

// The output at element `at` of dst. Intermediate floats go to `buffer`.
static output output_of(const tl_wino_u8_job *job, size_t at, int rows, int cols, float *buffer)
{
    output to = {.row = job->row, .floats_row = job->row, .rows = rows, .cols = cols};
    if (job->is_float) {
        to.floats = (float *)job->dst + at;
        return to;
    }
    to.bytes = (uint8_t *)job->dst + at;
    if (!tl_act_is_bounds(job->q.act)) {
        to.floats = buffer;
        to.floats_row = TILE * TL_BLOCK;
    }
    return to;
}

// Computes the results of a vector of channels of a tile.
TL_INLINE void transform_lanes(const tl_wino_u8_job *job, const uint32_t *products, int lane,
                               const output *to, const tl_requantize *e)
{
    words sums[TILE * TILE];
    sum_group(products + lane, job->step, 0, sums);
    for (int g = 1; g < job->groups; g++)
        sum_group(products + lane + (size_t)g * TL_WINO_U8_POINTS * job->step, job->step, 1, sums);
    for (int i = 0; i < to->rows; i++)
        store_line(sums + i * TILE, to->cols, to->bytes ? to->bytes + i * to->row + lane : NULL,
                   to->floats ? to->floats + i * to->floats_row + lane : NULL, e);
}

// Activates a tile of floats, and quantizes them if the output is bytes: of `requantize`, only
// dst_factor and dst_zero are used, which all channels share.
static void activate(const tl_wino_u8_job *job, const output *to, const tl_requantize *requantize)
{
    const size_t len = (size_t)to->cols * TL_BLOCK;
    for (int i = 0; i < to->rows; i++) {
        float *const line = to->floats + i * to->floats_row;
        tl_vf_activate(job->q.act, line, len);
        for (size_t k = 0; to->bytes && k < len; k += TL_VF_LANES)
            tl_quantized_store(to->bytes + i * to->row + k, tl_vf_load(line + k), requantize);
    }
}

static void transform_products(const tl_wino_u8_job *job, const uint32_t *products,
                               const int8_t *head, size_t at, int n, int rows, int cols)
{
    float buffer[TILE * TILE * TL_BLOCK];
    tl_requantize requantize[PARTS];
    for (int p = 0; p < PARTS; p++)
        requantize[p] = tl_requantize_at(head, p * TL_VF_LANES, &job->q, job->low, job->high,
                                         job->bounds, job->max);
    for (int t = 0; t < n; t++, products += TL_BLOCK, at += TILE * TL_BLOCK, cols -= TILE) {
        const output to = output_of(job, at, rows, tl_min(TILE, cols), buffer);
        for (int p = 0; p < PARTS; p++)
            transform_lanes(job, products, p * TL_VF_LANES, &to, &requantize[p]);
        if (!tl_act_is_bounds(job->q.act))
            activate(job, &to, requantize);
    }
}

const tl_wino_u8_kernel SIMD_OF(tl_wino_u8) = {transform_source, multiply, transform_products};
