// SPDX-License-Identifier: Apache-2.0
// Tiles of convolutions in the blocked layout, see blockconv.h.

#include "kernel/blockconv/blockconv.h"

#include "kernel/simd/tl_simd_act.h"

enum {
    PARTS = TL_BLOCK / TL_VF_LANES, /* vectors of a block */
#if TL_SIMD_REGISTERS == 32 && TL_SIMD_LANES == 16
    BLOCKS = 2, /* of output channels in a tile: with 14 pixels 28 sums, 2 weights, 1 source */
    PIXELS = 14,
#elif TL_SIMD_REGISTERS == 32
    BLOCKS = 1, /* 24 sums, 4 weights, 1 source */
    PIXELS = 6,
#elif TL_SIMD_LANES == 8
    BLOCKS = 1, /* 12 sums, 2 weights, 1 source */
    PIXELS = 6,
#else
    BLOCKS = 1, /* 8 sums, 4 weights, 1 source */
    PIXELS = 2,
#endif
};

/** What comes from memory or the third cache is asked for early, since streams end with each page,
 *  and what prefetches by itself stops there. */
enum {
    WEIGHTS_AHEAD = 512, /* floats */
    SOURCE_AHEAD = 4,    /* blocks of channels */
};

_Static_assert((int)PIXELS <= (int)TL_TILE_PIXELS, "the largest tile");

/** Where a tile lies. */
typedef struct tile_place {
    const float *src, *weight, *bias, *add;
    float *dst;
} tile_place;

/** sum += the source's lanes first .. depth-1 at the `n` pixels from `src` times the weights. */
TL_INLINE void add_lanes(tl_vf (*sum)[BLOCKS * PARTS], const int n, const int n_blocks,
                         const int lanes, const float *src, const float *weight, size_t weight_step,
                         int first, int depth)
{
    for (int c = first; c < depth; c++) {
        tl_vf w[BLOCKS * PARTS];
        TL_UNROLL
        for (int v = 0; v < n_blocks * PARTS; v++)
            w[v] = tl_vf_load(weight + v / PARTS * weight_step + c * TL_BLOCK +
                              v % PARTS * TL_VF_LANES);
        TL_UNROLL
        for (int b = 0; b < n_blocks; b++)
            __builtin_prefetch(weight + b * weight_step + c * TL_BLOCK + WEIGHTS_AHEAD);
        TL_UNROLL
        for (int m = 0; m < n; m++) {
            const tl_vf x = tl_vf_set1(src[m * lanes + c]);
            TL_UNROLL
            for (int v = 0; v < n_blocks * PARTS; v++)
                sum[m][v] = tl_vf_fma(x, w[v], sum[m][v]);
        }
    }
}

TL_INLINE void prefetch_pixels(const float *src, const int n)
{
    TL_UNROLL
    for (int m = 0; m < n; m++)
        __builtin_prefetch(src + m * TL_BLOCK);
}

TL_INLINE void add_taps(tl_vf (*sum)[BLOCKS * PARTS], const int n, const int n_blocks,
                        const int lanes, const tl_tile_job *job, const float *src,
                        const float *weight)
{
    for (int c = 0; c < job->channels; c += lanes, src += job->src_block_step) {
        const int first = c == 0 ? job->first : 0;
        const int depth = lanes < job->channels - c ? lanes : job->channels - c;
        if (lanes > 1)
            prefetch_pixels(src + SOURCE_AHEAD * job->src_block_step, n);
        for (int t = 0; t < job->n_taps; t++, weight += lanes * TL_BLOCK)
            add_lanes(sum, n, n_blocks, lanes, src + job->taps[t], weight, job->weight_step, first,
                      depth);
    }
}

/** Vector `part` of a pixel's lanes; if `other`, each four of them from the other half of eight. */
TL_INLINE tl_vf fours(const float *pixel, const int part, const int other)
{
#if TL_SIMD_LANES == 4
    return tl_vf_load(pixel + (part ^ other) * TL_VF_LANES);
#else
    const tl_vf v = tl_vf_load(pixel + part * TL_VF_LANES);
    return other ? tl_vf_swap_fours(v) : v;
#endif
}

/** sum += the four lanes beside each lane at the `n` pixels from `src`, or, if `other`, those of
 * the other half of eight, times the weights. */
TL_INLINE void add_fours(tl_vf (*sum)[BLOCKS * PARTS], const int n, const float *src,
                         const float *weight, const int other)
{
    TL_UNROLL
    for (int v = 0; v < PARTS; v++) {
        tl_vf x[PIXELS];
        TL_UNROLL
        for (int m = 0; m < n; m++)
            x[m] = fours(src + m * TL_BLOCK, v, other);
        TL_UNROLL
        for (int k = 0; k < 4; k++) {
            const tl_vf w = tl_vf_load(weight + k * TL_BLOCK + v * TL_VF_LANES);
            TL_UNROLL
            for (int m = 0; m < n; m++)
                sum[m][v] = tl_vf_fma(tl_vf_spread(x[m], k), w, sum[m][v]);
        }
    }
}

/** The taps of groups within a block. */
TL_INLINE void add_shared(tl_vf (*sum)[BLOCKS * PARTS], const int n, const tl_tile_job *job,
                          const float *src, const float *weight)
{
    for (int t = 0; t < job->n_taps; t++, weight += job->shared * TL_BLOCK) {
        add_fours(sum, n, src + job->taps[t], weight, 0);
        if (job->shared > 4)
            add_fours(sum, n, src + job->taps[t], weight + 4 * TL_BLOCK, 1);
    }
}

enum { SHARED = -1 }; /* in the place of lanes: of groups within a block */

/** Where result `m` of vector `v` lies. */
TL_INLINE size_t offset_of(const int m, const int v, size_t step, size_t block_step)
{
    return v / PARTS * block_step + m * step + v % PARTS * TL_VF_LANES;
}

/** Writes what becomes of the sums. */
TL_INLINE void finish(tl_vf (*sum)[BLOCKS * PARTS], const int n, const int n_blocks,
                      const tl_tile_job *job, const float *add, float *dst)
{
    const size_t step = job->dst_step, block_step = job->dst_block_step;
    const tl_vf low = tl_vf_set1(job->low), high = tl_vf_set1(job->high);
    if (add) {
        TL_UNROLL
        for (int m = 0; m < n; m++) {
            TL_UNROLL
            for (int v = 0; v < n_blocks * PARTS; v++)
                sum[m][v] =
                    tl_vf_add(sum[m][v], tl_vf_load(add + offset_of(m, v, step, block_step)));
        }
    }
    TL_UNROLL
    for (int m = 0; m < n; m++) {
        TL_UNROLL
        for (int v = 0; v < n_blocks * PARTS; v++)
            tl_vf_store(dst + offset_of(m, v, step, block_step),
                        tl_vf_min(high, tl_vf_max(low, sum[m][v])));
    }
}

/** One tile. The first four arguments are constants: each choice becomes a function of its own. */
TL_INLINE void tile(const int n, const int n_blocks, const int lanes, const tl_tile_job *job,
                    const tile_place *at)
{
    tl_vf sum[PIXELS][BLOCKS * PARTS];
    TL_UNROLL
    for (int v = 0; v < n_blocks * PARTS; v++) {
        const tl_vf bias =
            at->bias ? tl_vf_load(at->bias + v / PARTS * job->weight_step + v % PARTS * TL_VF_LANES)
                     : tl_vf_zero();
        TL_UNROLL
        for (int m = 0; m < n; m++)
            sum[m][v] = bias;
    }
    if (lanes == SHARED)
        add_shared(sum, n, job, at->src, at->weight);
    else
        add_taps(sum, n, n_blocks, lanes, job, at->src, at->weight);
    finish(sum, n, n_blocks, job, at->add, at->dst);
}

typedef void tile_func(const tl_tile_job *job, const tile_place *at);

#define TILE(n, n_blocks, name, lanes)                                                       \
    static void tile_##n##_##n_blocks##_##name(const tl_tile_job *job, const tile_place *at) \
    {                                                                                        \
        tile(n, n_blocks, lanes, job, at);                                                   \
    }
#define TILES(n)                 \
    TILE(n, 1, planes, 1)        \
    TILE(n, 1, blocks, TL_BLOCK) \
    TILE(n, 1, shared, SHARED)   \
    TL_SECOND(TILE(n, 2, planes, 1) TILE(n, 2, blocks, TL_BLOCK))
#define TILE_ROW(n)                                                         \
    [n] = {{tile_##n##_1_planes, tile_##n##_1_blocks, tile_##n##_1_shared}, \
           TL_SECOND({tile_##n##_2_planes, tile_##n##_2_blocks})},

#if TL_SIMD_LANES == 16
#define TL_SECOND(...) __VA_ARGS__
#define EACH_TILE(X)   X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) X(12) X(13) X(14)
#elif TL_SIMD_LANES == 8 || TL_SIMD_REGISTERS == 32
#define TL_SECOND(...)
#define EACH_TILE(X) X(1) X(2) X(3) X(4) X(5) X(6)
#else
#define TL_SECOND(...)
#define EACH_TILE(X) X(1) X(2)
#endif

EACH_TILE(TILES)

static tile_func *const tiles[PIXELS + 1][BLOCKS][3] = {EACH_TILE(TILE_ROW)};

static void activate(const tl_tile_job *job, float *dst, int pixels)
{
    if (job->dst_step == TL_BLOCK)
        tl_vf_activate(job->act, dst, (size_t)pixels * TL_BLOCK);
    else
        for (int m = 0; m < pixels; m++)
            tl_vf_activate(job->act, dst + m * job->dst_step, TL_BLOCK);
}

void SIMD(tl_tile_line)(const tl_tile_job *job, const float *src, const float *weight,
                        const float *bias, const float *add, float *dst, int n, int n_blocks)
{
    const int n_tiles = (n + PIXELS - 1) / PIXELS;
    const int kind = job->lanes == 1 ? 0 : job->shared ? 2 : 1;
    for (int b = 0; b < n_blocks; b += BLOCKS) {
        const int blocks = BLOCKS < n_blocks - b ? BLOCKS : n_blocks - b;
        for (int i = 0, m = 0; i < n_tiles; i++) {
            const int pixels = n / n_tiles + (i < n % n_tiles);
            const size_t first = b * job->dst_block_step + m * job->dst_step;
            const tile_place at = {src + (size_t)m * job->lanes, weight + b * job->weight_step,
                                   bias ? bias + b * job->weight_step : NULL,
                                   add ? add + first : NULL, dst + first};
            tiles[pixels][blocks - 1][kind](job, &at);
            for (int k = 0; k < blocks; k++)
                activate(job, at.dst + k * job->dst_block_step, pixels);
            m += pixels;
        }
    }
}
