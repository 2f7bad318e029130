// SPDX-License-Identifier: Apache-2.0
// Tiles of 8-bit convolutions and matrix multiplications, see conv_quantized.h.

#include "kernel/conv_quantized/conv_quantized.h"

#include <math.h>

#include "kernel/act/act.h"
#include "kernel/simd/tl_simd_act.h"
#include "kernel/simd/tl_simd_dot.h"
#include "kernel/simd/tl_simd_small.h"

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

// The results of a line. Tiles of common sizes (tl_tile_is_common) write bytes themselves; in all
// other cases tiles write sums to a buffer, from which write_results computes the results.
typedef enum result {
    BYTES,         // neither multiplied by dst_factor nor clamped
    CLAMPED_BYTES, // with these steps
    FLOATS,        // of whole blocks, with an activation that only clamps
    ACTIVATED,     // floats or bytes: any activation, a partial last block, possible NaN
    SUMS,          // the sums themselves
} result;

// The initial sums of a tile's pixels, for weights with zero points: the start of a channel minus
// its zero point times the sum of the pixel's window (tl_quad_zeros).
typedef struct pixel_starts {
    uint32_t negated_zeros[BLOCKS][TL_BLOCK];
    size_t sum_offsets[BLOCKS][TL_BLOCK]; // in tl_quad_zeros.sums, of the channel's group
    int is_one_group;                     // the offsets are equal
    uint32_t at[PIXELS][BLOCKS * TL_BLOCK];
} pixel_starts;

// Parameters of all tiles of a line.
typedef struct line {
    const tl_quad_job *job;
    const int8_t *weight;
    uint32_t start[BLOCKS][TL_BLOCK]; // of the sums
    float factor[BLOCKS][TL_BLOCK], addend[BLOCKS][TL_BLOCK];
    float low, high; // bounds of 8-bit results before rounding
    float zero;      // added after rounding
    result result;
    pixel_starts *starts; // of the pixels of a tile; NULL: no zero points
} line;

typedef tl_vs sums[BLOCKS * PARTS];

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

TL_INLINE void add_taps(sums *sum, const int n, const int n_blocks, const tl_quad_job *job,
                        const uint8_t *src, const int8_t *weight)
{
    const size_t block_step = job->src_block_step * TL_VX_BYTES;
    for (int c = 0; c < job->channels; c += TL_BLOCK, src += block_step) {
        const int rest = (job->channels - c + TL_QUAD - 1) / TL_QUAD;
        const int quads = rest < QUADS ? rest : QUADS;
        prefetch_pixels(src + SOURCE_AHEAD * block_step, n);
        for (int t = 0; t < job->n_taps; t++, weight += quads * QUAD_BYTES)
            add_quads(sum, n, n_blocks, src + job->taps[t] * TL_VX_BYTES, weight, job->weight_step,
                      quads);
    }
}

// The initial sums of vector `v` of pixel m.
TL_INLINE const uint32_t *start_of(const line *l, int m, int v)
{
    return l->starts ? l->starts->at[m] + v * TL_VF_LANES
                     : l->start[v / PARTS] + v % PARTS * TL_VF_LANES;
}

// The values of a vector of sums of block b, before the activation.
TL_INLINE tl_vf scaled(const line *l, tl_vs sum, int m, int b, int part)
{
    const int at = part * TL_VF_LANES;
    const tl_vf v = tl_vf_of_sums(sum, start_of(l, m, b * PARTS + part));
    return tl_vf_add(tl_vf_mul(v, tl_vf_load(l->factor[b] + at)), tl_vf_load(l->addend[b] + at));
}

// A vector of 8-bit results before they are rounded.
TL_INLINE tl_vf unrounded(const line *l, tl_vs sum, int m, int v, const int clamps)
{
    const tl_vf x = scaled(l, sum, m, v / PARTS, v % PARTS);
    if (!clamps)
        return x;
    return tl_vf_min(tl_vf_max(tl_vf_mul(x, tl_vf_set1(l->job->q.dst_factor)), tl_vf_set1(l->low)),
                     tl_vf_set1(l->high));
}

enum { PIXELS_OF_BYTES = TL_VB_VECTORS / PARTS }; // pixels of a block in a vector of bytes

// Writes a vector of bytes: the results of block b of pixel m and those after it, at most `n`.
TL_INLINE void finish_vector(const line *l, const sums *sum, const int m, const int n, const int b,
                             const int clamps, uint8_t *dst)
{
    const size_t step = l->job->dst_step;
    tl_vf v[TL_VB_VECTORS];
    TL_UNROLL
    for (int i = 0; i < TL_VB_VECTORS; i++) {
        const int pixel = m + (i / PARTS < n ? i / PARTS : 0), part = i % PARTS;
        v[i] = unrounded(l, sum[pixel][b * PARTS + part], pixel, b * PARTS + part, clamps);
    }
    const tl_vb bytes = tl_vb_of(v, l->job->q.dst_zero);
    if (PIXELS_OF_BYTES <= n && step == TL_BLOCK) {
        tl_vb_store(dst, bytes);
        return;
    }
    TL_UNROLL
    for (int i = 0; i < PIXELS_OF_BYTES; i++)
        if (i < n)
            tl_vb_store_block(dst + i * step, bytes, i);
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

// Results from a buffer of sums

// finish_bytes for sums in memory.
static void write_bytes(const line *l, const sums *sum, int n, int n_blocks, uint8_t *dst)
{
    for (int b = 0; b < n_blocks; b++)
        for (int m = 0; m < n; m += PIXELS_OF_BYTES)
            finish_vector(l, sum, m, n - m, b, 1,
                          dst + b * l->job->dst_block_step + m * l->job->dst_step);
}

// Converts the sums to floats, clamped: dst[b * block_step + m * step].
static void write_floats(const line *l, sums *sum, int n, int n_blocks, float *dst, size_t step,
                         size_t block_step)
{
    const tl_vf low = tl_vf_set1(l->job->low), high = tl_vf_set1(l->job->high);
    for (int m = 0; m < n; m++)
        for (int v = 0; v < n_blocks * PARTS; v++) {
            const tl_vf x = scaled(l, sum[m][v], m, v / PARTS, v % PARTS);
            tl_vf_store(dst + v / PARTS * block_step + m * step + v % PARTS * TL_VF_LANES,
                        tl_vf_min(high, tl_vf_max(low, x)));
        }
}

// Writes the sums themselves; `lanes` of the last block.
static void write_sums(const line *l, const sums *sum, int n, int n_blocks, int lanes,
                       uint32_t *dst)
{
    const tl_quad_job *const job = l->job;
    for (int m = 0; m < n; m++)
        for (int b = 0; b < n_blocks; b++) {
            const int is_whole = lanes == TL_BLOCK || b < n_blocks - 1;
            uint32_t *const to = dst + b * job->dst_block_step + m * job->dst_step;
            uint32_t block[TL_BLOCK];
            for (int v = b * PARTS; v < (b + 1) * PARTS; v++)
                tl_vs_store((is_whole ? to : block) + v % PARTS * TL_VF_LANES, sum[m][v],
                            start_of(l, m, v));
            if (!is_whole)
                memcpy(to, block, (size_t)lanes * sizeof(*to));
        }
}

// Quantizes a block of a pixel.
static void quantize_block(const line *l, const float *src, uint8_t *dst)
{
    for (int i = 0; i < TL_BLOCK; i += TL_VF_LANES) {
        const tl_vf x = tl_vf_mul(tl_vf_load(src + i), tl_vf_set1(l->job->q.dst_factor));
        const tl_vf shifted = tl_vf_add(tl_vf_round(x), tl_vf_set1(l->zero));
        tl_vf_store_u8(dst + i,
                       tl_vf_min(tl_vf_max(shifted, tl_vf_zero()), tl_vf_set1(255))); // NaN: 0
    }
}

// Writes floats or bytes with any activation; `lanes` of the last block.
static void write_activated(const line *l, sums *sum, int n, int n_blocks, int lanes, void *dst)
{
    const tl_quad_job *const job = l->job;
    float results[PIXELS * BLOCKS * TL_BLOCK], *values = results;
    write_floats(l, sum, n, n_blocks, values, (size_t)n_blocks * TL_BLOCK, TL_BLOCK);
    tl_vf_activate(job->q.act, values, (size_t)n * n_blocks * TL_BLOCK);
    for (int m = 0; m < n; m++)
        for (int b = 0; b < n_blocks; b++, values += TL_BLOCK) {
            const size_t at = b * job->dst_block_step + m * job->dst_step;
            const size_t len = (size_t)(b < n_blocks - 1 ? TL_BLOCK : lanes);
            uint8_t bytes[TL_BLOCK];
            if (job->dtype == TL_FLOAT) {
                memcpy((float *)dst + at, values, len * sizeof(float));
            } else {
                quantize_block(l, values, bytes);
                memcpy((uint8_t *)dst + at, bytes, len);
            }
        }
}

// Tiles

typedef uint32_t start_vector __attribute__((vector_size(sizeof(tl_vf))));

// to = start + sum * negated_zeros, of all channels of a block.
static inline void start_pixel(uint32_t *to, const uint32_t *start, uint32_t sum,
                               const uint32_t *negated_zeros)
{
    for (int i = 0; i < TL_BLOCK; i += TL_VF_LANES) {
        start_vector s, v;
        memcpy(&s, start + i, sizeof(s));
        memcpy(&v, negated_zeros + i, sizeof(v));
        s += sum * v;
        memcpy(to + i, &s, sizeof(s));
    }
}

// Computes the initial sums of a tile of n pixels from pixel m of the line on.
static void start_pixels(const line *l, int m, int n, int n_blocks)
{
    const int32_t *const window_sums = l->job->zeros.sums + m;
    pixel_starts *const s = l->starts;
    for (int k = 0; k < n; k++)
        for (int b = 0; b < n_blocks; b++) {
            uint32_t *const to = s->at[k] + b * TL_BLOCK;
            if (s->is_one_group)
                start_pixel(to, l->start[b], (uint32_t)window_sums[s->sum_offsets[b][0] + k],
                            s->negated_zeros[b]);
            else
                for (int i = 0; i < TL_BLOCK; i++)
                    to[i] = l->start[b][i] + (uint32_t)window_sums[s->sum_offsets[b][i] + k] *
                                                 s->negated_zeros[b][i];
        }
}

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

// Whether no result can be NaN: all factors are finite.
static int excludes_nan(const line *l, int n_blocks)
{
    float sum = 0;
    for (int b = 0; b < n_blocks; b++)
        for (int i = 0; i < TL_BLOCK; i++)
            sum += l->factor[b][i] * 0 + l->addend[b][i] * 0;
    return sum == 0 && l->job->q.dst_factor > 0 && l->job->q.dst_factor < INFINITY;
}

static void load_head(line *l, int b)
{
    const tl_quantized_head *const head =
        (const tl_quantized_head *)(const void *)(l->weight + b * l->job->weight_step);
    const uint32_t zero = (uint32_t)(l->job->q.zero - TL_VX_OFFSET);
    for (int i = 0; i < TL_BLOCK; i++) {
        l->start[b][i] = (uint32_t)head->bias[i] - zero * (uint32_t)head->weight_sum[i];
        l->factor[b][i] = head->factor[i] * l->job->q.scale;
        l->addend[b][i] = head->addend[i];
    }
}

// Sets the zero points and offsets of block first + b of a line.
static void load_zeros(const tl_quad_zeros *z, int first, int b, pixel_starts *s)
{
    const int8_t *const zero = z->zero->data;
    const int last_zero = z->zero->len - 1;
    for (int i = 0; i < TL_BLOCK; i++) {
        const int c = tl_min(z->channel + (first + b) * TL_BLOCK + i, z->outputs - 1);
        s->negated_zeros[b][i] = -(uint32_t)zero[tl_min(c, last_zero)];
        s->sum_offsets[b][i] = (size_t)(c / z->group) * z->group_step;
        s->is_one_group = s->is_one_group && s->sum_offsets[b][i] == s->sum_offsets[b][0];
    }
}

// Clamps `x` to the range of bytes minus the zero point.
static float clamp_to_bytes(const line *l, float x)
{
    return fminf(fmaxf(x, -l->zero), 255 - l->zero);
}

static result result_of(const line *l, int n_blocks, int lanes)
{
    if (l->job->dtype == TL_INT32)
        return SUMS;
    if (lanes < TL_BLOCK || !tl_act_is_bounds(l->job->q.act))
        return ACTIVATED;
    if (l->job->dtype == TL_FLOAT)
        return FLOATS;
    const int clamps = l->job->q.dst_factor != 1 || l->low > -l->zero || l->high < 255 - l->zero;
    return !excludes_nan(l, n_blocks) ? ACTIVATED : clamps ? CLAMPED_BYTES : BYTES;
}

static line line_of(const tl_quad_job *job, const int8_t *weight, int n_blocks, int lanes)
{
    line l = {.job = job, .weight = weight, .zero = (float)job->q.dst_zero};
    for (int b = 0; b < n_blocks; b++)
        load_head(&l, b);
    l.weight += sizeof(tl_quantized_head);
    // Clamping may follow the multiplication: rounding is monotonic.
    l.low = clamp_to_bytes(&l, job->low * job->q.dst_factor);
    l.high = clamp_to_bytes(&l, job->high * job->q.dst_factor);
    l.result = result_of(&l, n_blocks, lanes);
    return l;
}

// Writes the results of a tile from its sums.
static void write_results(const line *l, sums *sum, int n, int n_blocks, int lanes, char *dst)
{
    if (l->result == FLOATS)
        write_floats(l, sum, n, n_blocks, (float *)(void *)dst, l->job->dst_step,
                     l->job->dst_block_step);
    else if (l->result == SUMS)
        write_sums(l, sum, n, n_blocks, lanes, (uint32_t *)(void *)dst);
    else if (l->result == ACTIVATED)
        write_activated(l, sum, n, n_blocks, lanes, dst);
    else
        write_bytes(l, sum, n, n_blocks, (uint8_t *)dst);
}

// Bytes of an element of the result.
static size_t size_of(const tl_quad_job *job)
{
    return job->dtype == TL_UINT8 ? 1 : sizeof(float);
}

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
        l.starts = job->zeros.sums ? &starts : NULL;
        starts.is_one_group = 1;
        for (int k = 0; l.starts && k < blocks; k++)
            load_zeros(&job->zeros, b, k, &starts);
        run_tiles(&l, src, (char *)dst + b * block, n, blocks, last);
    }
}

const tl_quad_kernel SIMD_OF(tl_quad_u8) = {run_line, TL_VX_BYTES};
