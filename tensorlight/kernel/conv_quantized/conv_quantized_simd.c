// SPDX-License-Identifier: Apache-2.0
// Tiles of 8-bit convolutions and matrix multiplications, see conv_quantized.h.

#include "kernel/conv_quantized/conv_quantized.h"

#include "kernel/simd/tl_simd_dot.h"

enum {
    PARTS = TL_BLOCK / TL_VF_LANES, // vectors of a block
#if TL_SIMD_LANES == 16
    BLOCKS = 2, // of output channels in a tile: with 14 pixels 28 sums, 2 weights, 1 source
    PIXELS = 14,
#elif TL_SIMD_REGISTERS == 32 && TL_VS_REGISTERS == 1
    BLOCKS = 1, // 24 sums, 4 weights, 1 source
    PIXELS = 6,
#elif TL_SIMD_LANES == 8
    BLOCKS = 1, // 12 sums, 2 weights, 1 source, 1 product
    PIXELS = 6,
#else
    BLOCKS = 1, // 8 sums, 4 weights, 1 source, 2 products
    PIXELS = 2,
#endif
};

enum {
    QUADS = TL_BLOCK / TL_QUAD,
    PIXEL_BYTES = TL_BLOCK * TL_VX_BYTES,
    QUAD_BYTES = TL_BLOCK * TL_QUAD, // of weights
    WEIGHTS_AHEAD = 1024,            // bytes: prefetch from memory
    SOURCE_AHEAD = 4,                // blocks of channels
};

#include "kernel/conv_quantized/conv_quantized_results.inc.h"

// Loads the weights of each block that multiply a quad of channels of all pixels.
TL_INLINE void load_weights(tl_vw *w, const int n_blocks, const int8_t *weight, size_t weight_step,
                            const int part)
{
    TL_UNROLL
    for (int v = 0; v < n_blocks * PARTS; v++)
        w[v] =
            tl_vw_load(weight + v / PARTS * weight_step + v % PARTS * TL_VF_LANES * TL_QUAD, part);
}

// sum += `quads` times four channels of the `n` pixels from `src`.
TL_INLINE void add_quads(sums *sum, const int n, const int n_blocks, const uint8_t *src,
                         const int8_t *weight, size_t weight_step, const int quads)
{
    for (int q = 0; q < quads; q++, src += TL_QUAD, weight += QUAD_BYTES) {
        TL_UNROLL
        for (int b = 0; b < n_blocks; b++)
            __builtin_prefetch(weight + b * weight_step + WEIGHTS_AHEAD);
        TL_UNROLL
        for (int part = 0; part < TL_VX_PARTS; part++) {
            tl_vw w[BLOCKS * PARTS];
            load_weights(w, n_blocks, weight, weight_step, part);
            TL_UNROLL
            for (int m = 0; m < n; m++) {
                const tl_vx x = tl_vx_load(src + m * PIXEL_BYTES, part);
                TL_UNROLL
                for (int v = 0; v < n_blocks * PARTS; v++)
                    sum[m][v] = tl_vs_add(sum[m][v], x, w[v]);
            }
        }
    }
}

TL_INLINE void prefetch_pixels(const uint8_t *src, const int n)
{
    TL_UNROLL
    for (int m = 0; m < n; m += 64 / PIXEL_BYTES)
        __builtin_prefetch(src + m * PIXEL_BYTES);
}

// Adds the products of a tap: of the `channels` channels from the blocks at `src` on.
TL_INLINE void add_tap(sums *sum, const int n, const int n_blocks, const tl_quad_job *job,
                       const uint8_t *src, const int8_t *weight, int channels)
{
    const size_t block_step = job->src_block_step * TL_VX_BYTES;
    for (; channels > 0; channels -= TL_BLOCK, src += block_step) {
        const int rest = (channels + TL_QUAD - 1) / TL_QUAD;
        const int quads = rest < QUADS ? rest : QUADS;
        prefetch_pixels(src + SOURCE_AHEAD * block_step, n);
        add_quads(sum, n, n_blocks, src, weight, job->weight_step, quads);
        weight += quads * QUAD_BYTES;
    }
}

// Adds all products, group by group (tl_quad_groups). Those of one tap are a single group.
TL_INLINE void add_taps(sums *sum, const int n, const int n_blocks, const tl_quad_job *job,
                        const uint8_t *src, const int8_t *weight)
{
    const int width = job->n_taps > 1 ? job->group_blocks * TL_BLOCK : job->channels;
    const size_t group_step = (size_t)job->group_blocks * job->src_block_step * TL_VX_BYTES;
    for (int c = 0; c < job->channels; c += width, src += group_step)
        for (int t = 0; t < job->n_taps; t++, weight += job->tap_step)
            add_tap(sum, n, n_blocks, job, src + job->taps[t] * TL_VX_BYTES, weight,
                    tl_min(job->channels - c, width));
}

// Writes bytes whose activation, if any, only clamps. Without `clamps`, dst_factor is 1, and the
// saturation to bytes does all the clamping.
TL_INLINE void finish_bytes(const line *l, sums *sum, const int n, const int n_blocks,
                            const int clamps, uint8_t *dst)
{
    TL_UNROLL
    for (int b = 0; b < n_blocks; b++) {
        uint8_t *const to = dst + b * l->job->dst_block_step;
        TL_UNROLL
        for (int m = 0; m < n; m += PIXELS_OF_BYTES)
            finish_vector(l, sum, m, n - m, b, clamps, to + m * l->job->dst_step);
    }
}

// Writes the sums.
TL_INLINE void store_sums(sums *sum, const int n, const int n_blocks, sums *dst)
{
    TL_UNROLL
    for (int m = 0; m < n; m++) {
        TL_UNROLL
        for (int v = 0; v < n_blocks * PARTS; v++)
            dst[m][v] = sum[m][v];
    }
}

// Tiles

// Sets the sums of a tile to initial values that differ by pixel.
TL_INLINE void load_starts(sums *sum, const int n, const int n_blocks, const line *l)
{
    TL_UNROLL
    for (int m = 0; m < n; m++) {
        TL_UNROLL
        for (int v = 0; v < n_blocks * PARTS; v++)
            sum[m][v] = tl_vs_begin(l->starts->at[m] + v * TL_VF_LANES);
    }
}

// One tile. The first two arguments are constants: each combination is compiled separately.
TL_INLINE void tile(const int n, const int n_blocks, const line *l, const uint8_t *src, void *dst)
{
    sums sum[PIXELS];
    TL_UNROLL
    for (int v = 0; v < n_blocks * PARTS; v++) {
        const tl_vs start = tl_vs_begin(l->start[v / PARTS] + v % PARTS * TL_VF_LANES);
        TL_UNROLL
        for (int m = 0; m < n; m++)
            sum[m][v] = start;
    }
    if (l->starts)
        load_starts(sum, n, n_blocks, l);
    add_taps(sum, n, n_blocks, l->job, src, l->weight);
    if (tl_tile_is_common(n, PIXELS) && l->result == BYTES)
        finish_bytes(l, sum, n, n_blocks, 0, dst);
    else if (tl_tile_is_common(n, PIXELS) && l->result == CLAMPED_BYTES)
        finish_bytes(l, sum, n, n_blocks, 1, dst);
    else
        store_sums(sum, n, n_blocks, dst);
}

typedef void tile_func(const line *l, const uint8_t *src, void *dst);

#define TILE(n, n_blocks)                                                           \
    static void tile_##n##_##n_blocks(const line *l, const uint8_t *src, void *dst) \
    {                                                                               \
        tile(n, n_blocks, l, src, dst);                                             \
    }
#define TILES(n)    TILE(n, 1) TL_SECOND(TILE(n, 2))
#define TILE_ROW(n) [n] = {tile_##n##_1, TL_SECOND(tile_##n##_2)},

#define TWO(X) X(1) X(2)
#define SIX(X) TWO(X) X(3) X(4) X(5) X(6)
#if TL_SIMD_LANES == 16
#define TL_SECOND(...) __VA_ARGS__
#define EACH_TILE(X)   SIX(X) X(7) X(8) X(9) X(10) X(11) X(12) X(13) X(14)
#elif (TL_SIMD_LANES == 8 || TL_SIMD_REGISTERS == 32) && TL_VS_REGISTERS == 1 && TL_SIMD_LANES > 0
#define TL_SECOND(...)
#define EACH_TILE(X) SIX(X)
#else
#define TL_SECOND(...)
#define EACH_TILE(X) TWO(X)
#endif

EACH_TILE(TILES)

static tile_func *const tiles[PIXELS + 1][BLOCKS] = {EACH_TILE(TILE_ROW)};

// Lines

static void run_tiles(const line *l, const uint8_t *src, char *dst, int n, int n_blocks, int lanes)
{
    const size_t pixel = l->job->dst_step * size_of(l->job);
    for (int m = 0, pixels; m < n; m += pixels, dst += pixels * pixel) {
        pixels = tl_tile_pixels(n - m, PIXELS);
        tile_func *const run = tiles[pixels][n_blocks - 1];
        const uint8_t *const from = src + (size_t)m * PIXEL_BYTES;
        sums sum[PIXELS];
        if (l->starts)
            start_pixels(l, m, pixels, n_blocks);
        if (l->result < FLOATS && tl_tile_is_common(pixels, PIXELS)) {
            run(l, from, dst);
        } else {
            run(l, from, sum);
            write_results(l, sum, pixels, n_blocks, lanes, dst);
        }
    }
}

static void run_line(const tl_quad_job *job, const uint8_t *src, const int8_t *weight, void *dst,
                     int n, int n_blocks, int lanes)
{
    const size_t block = job->dst_block_step * size_of(job);
    pixel_starts starts;
    for (int b = 0; b < n_blocks; b += BLOCKS) {
        const int blocks = BLOCKS < n_blocks - b ? BLOCKS : n_blocks - b;
        const int last = b + blocks < n_blocks ? TL_BLOCK : lanes;
        line l = line_of(job, weight + b * job->weight_step, blocks, last);
        start_line(&l, b, blocks, &starts);
        run_tiles(&l, src, (char *)dst + b * block, n, blocks, last);
    }
}

const tl_quad_kernel SIMD_OF(tl_quad_u8) = {.line = run_line, .bytes = TL_VX_BYTES};
