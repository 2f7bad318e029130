// SPDX-License-Identifier: Apache-2.0
// 8-bit convolutions by Winograd's algorithm in vectors, see quantwino.h.
//
// Both axes of a transform come one after the other, with a table of vectors between them. Its
// arithmetic is that of the compilers' vectors of integers without sign, modulo 2^16 and 2^32.

#include "kernel/quantwino/quantwino.h"

#include <string.h>

#include "kernel/quantized/quantized_ends.h"
#include "kernel/simd/tl_simd_act.h"
#include "kernel/simd/tl_simd_pair.h"

enum {
    TILE = TL_QUANTWINO_TILE,
    PATCH = TL_QUANTWINO_PATCH,
    PARTS = TL_BLOCK / TL_VF_LANES,            /* vectors of a block */
    PAIR_SIZE = TL_BLOCK * TL_QUANTWINO_PAIR,  /* weights of a pair of channels */
    SHORTS = TL_SIMD_LANES < 8 ? 8 : TL_BLOCK, /* lanes of a transformed source */
    WEIGHTS_AHEAD = 512,                       /* what comes from memory is asked for early */
};

/* ---- the source ---- */

typedef uint16_t shorts __attribute__((vector_size(2 * SHORTS)));
typedef uint8_t pixels __attribute__((vector_size(SHORTS)));

static inline shorts shorts_of(const uint8_t *src)
{
    pixels p;
    memcpy(&p, src, sizeof(p));
    return __builtin_convertvector(p, shorts);
}

/** B' times d, to v[0], v[step], .. */
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
    const int offset = TL_QUANTWINO_AT_1 * TL_QUANTWINO_AT_1 * TL_QUANTWINO_OFFSET;
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

/* ---- products ---- */

enum {
#if TL_SIMD_LANES == 16
    BLOCKS = 2, /* with 12 tiles 24 sums, 2 weights, 1 source, 2 products */
    TILES = 12,
#elif TL_SIMD_LANES == 8
    BLOCKS = 1, /* 12 sums, 2 weights, 1 source, 1 product */
    TILES = 6,
#else
    BLOCKS = 1, /* 16 sums, 8 weights, 1 source */
    TILES = 4,
#endif
};

/** `n` tiles by `n_blocks` blocks, both constants. */
TL_INLINE void sum_tiles(const int n, const int n_blocks, const tl_quantwino_sum *sum,
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
        const int rest = tl_smaller(TL_BLOCK, sum->channels - c);
        for (int k = 0; k < rest; k += TL_QUANTWINO_PAIR, weight += PAIR_SIZE) {
            tl_vdw w[BLOCKS * PARTS];
            TL_UNROLL
            for (int v = 0; v < n_blocks * PARTS; v++)
                w[v] = tl_vdw_load(weight + v / PARTS * sum->weight_step +
                                   v % PARTS * TL_VF_LANES * TL_QUANTWINO_PAIR);
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

typedef void tiles_func(const tl_quantwino_sum *sum, const int16_t *src, const int16_t *weight,
                        uint32_t *dst);

#define TILES_BY(n, n_blocks)                                                           \
    static void tiles_##n##_##n_blocks(const tl_quantwino_sum *sum, const int16_t *src, \
                                       const int16_t *weight, uint32_t *dst)            \
    {                                                                                   \
        sum_tiles(n, n_blocks, sum, src, weight, dst);                                  \
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

static void multiply(const tl_quantwino_sum *sum, const int16_t *src, const int16_t *weight,
                     uint32_t *dst, int n, int n_blocks)
{
    const int n_runs = (n + TILES - 1) / TILES;
    for (int b = 0; b < n_blocks; b += BLOCKS) {
        const int blocks = tl_smaller(BLOCKS, n_blocks - b);
        for (int i = 0, m = 0; i < n_runs; i++) {
            const int run = n / n_runs + (i < n % n_runs);
            tiles[run][blocks - 1](sum, src + (size_t)m * TL_BLOCK, weight + b * sum->weight_step,
                                   dst + b * sum->dst_step + (size_t)m * TL_BLOCK);
            m += run;
        }
    }
}

/* ---- results ---- */

typedef uint32_t words __attribute__((vector_size(4 * TL_VF_LANES)));
typedef int32_t signed_words __attribute__((vector_size(4 * TL_VF_LANES)));

/** A' times p, to y[0], y[step], .. */
TL_INLINE void result_line(const words *p, words *y, const int step)
{
    const words sum = p[1] + p[2], difference = p[1] - p[2];
    const words far_sum = p[3] + p[4], far_difference = p[3] - p[4];
    y[0] = ((p[0] + sum) << 2) + (p[0] << 1) + far_sum;
    y[step] = (difference << 1) + far_difference;
    y[2 * step] = sum + far_sum;
    y[3 * step] = difference + ((far_difference + p[5]) << 1) + (p[5] << 2);
}

/** Adds the results of a group to `sums`, from a lane on. */
TL_INLINE void add_group(const uint32_t *products, size_t step, uint32_t (*sums)[TL_BLOCK],
                         int lane)
{
    words table[TILE * PATCH], line[PATCH];
    for (int x = 0; x < PATCH; x++) {
        TL_UNROLL
        for (int y = 0; y < PATCH; y++)
            memcpy(&line[y], products + lane + (size_t)(y * PATCH + x) * step, sizeof(*line));
        result_line(line, table + x, PATCH);
    }
    TL_UNROLL
    for (int i = 0; i < TILE; i++) {
        result_line(table + i * PATCH, line, 1);
        TL_UNROLL
        for (int j = 0; j < TILE; j++) {
            const int shift = tl_quantwino_shift[i] + tl_quantwino_shift[j];
            words sum;
            memcpy(&sum, sums[i * TILE + j] + lane, sizeof(sum));
            sum += (words)((signed_words)(line[j] * TL_QUANTWINO_NINTH) >> shift);
            memcpy(sums[i * TILE + j] + lane, &sum, sizeof(sum));
        }
    }
}

/** The vectors of sums of `n` pixels, from a lane on, with what they begin with. */
TL_INLINE void load_sums(uint32_t (*sums)[TL_BLOCK], int lane, const tl_quantized_ends *e,
                         tl_vi *loaded)
{
    TL_UNROLL
    for (int j = 0; j < TILE; j++)
        loaded[j] = tl_vi_add(tl_vi_load((const void *)(sums[j] + lane)), e->start);
}

/** A line of at most four pixels, those of `floats` activated by bounds alone. */
TL_INLINE void store_line(uint32_t (*sums)[TL_BLOCK], int n, uint8_t *bytes, float *floats,
                          const tl_quantized_ends *ends)
{
    for (int p = 0; p < PARTS; p++) {
        const tl_quantized_ends *const e = &ends[p];
        const int lane = p * TL_VF_LANES;
        tl_vi sum[TILE];
        load_sums(sums, lane, e, sum);
        if (!floats && e->is_small && e->is_plain)
            tl_quantized_store_sums(bytes + lane, sum, n, 1, e);
        else if (!floats && e->is_small)
            tl_quantized_store_sums(bytes + lane, sum, n, 0, e);
        else
            for (int j = 0; j < n; j++) {
                const tl_vf v = tl_quantized_numbers(sum[j], e);
                if (floats)
                    tl_vf_store(floats + j * TL_BLOCK + lane, v);
                else
                    tl_quantized_store(bytes + j * TL_BLOCK + lane, v, e);
            }
    }
}

/** The results of a line of a tile, from element `at` of dst on. */
static void finish_line(const tl_quantwino_job *job, uint32_t (*sums)[TL_BLOCK], int n, size_t at,
                        const tl_quantized_ends *ends)
{
    float room[TILE * TL_BLOCK];
    const size_t len = (size_t)n * TL_BLOCK;
    uint8_t *const bytes = job->is_float ? NULL : (uint8_t *)job->dst + at;
    const int has_function = tl_quantized_has_function(job->q.act);
    float *const floats = job->is_float ? (float *)job->dst + at : has_function ? room : NULL;
    store_line(sums, n, bytes, floats, ends);
    if (!has_function)
        return;
    tl_vf_activate(job->q.act, floats, len);
    for (size_t i = 0; bytes && i < len; i += TL_VF_LANES)
        tl_quantized_store(bytes + i, tl_vf_load(floats + i), ends);
}

static void transform_products(const tl_quantwino_job *job, const uint32_t *products,
                               const int8_t *head, size_t at, int n, int rows, int cols)
{
    tl_quantized_ends ends[PARTS];
    for (int p = 0; p < PARTS; p++)
        ends[p] = tl_quantized_ends_at(head, p * TL_VF_LANES, &job->q, job->low, job->high,
                                       job->bounds, job->most);
    for (int t = 0; t < n; t++, at += TILE * TL_BLOCK, cols -= TILE) {
        uint32_t sums[TILE * TILE][TL_BLOCK] = {{0}};
        const uint32_t *group = products + (size_t)t * TL_BLOCK;
        for (int g = 0; g < job->groups; g++, group += TL_QUANTWINO_POINTS * job->step)
            for (int lane = 0; lane < TL_BLOCK; lane += TL_VF_LANES)
                add_group(group, job->step, sums, lane);
        for (int i = 0; i < rows; i++)
            finish_line(job, sums + i * TILE, tl_smaller(TILE, cols), at + i * job->row, ends);
    }
}

const tl_quantwino_kernel SIMD_OF(tl_quantwino_u8) = {transform_source, multiply,
                                                      transform_products};
