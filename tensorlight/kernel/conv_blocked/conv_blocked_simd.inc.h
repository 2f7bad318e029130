// SPDX-License-Identifier: Apache-2.0
// Tiles of convolutions in the blocked layout, see conv_blocked.h: a template.
//
//     LINE_FUNC             the function's name
//     LANES                 floats of a pixel of a block, of which MULTIPLY_ADD reads one
//     MULTIPLY_ADD(a, b, c) c and the products of a and b
//     STORE_ROUNDED(p, v)   writes a vector as bfloat16
//     TILES_ROUND           1: tiles that write results read and write bfloat16; 0: floats alone,
//                           which is half the code, and a buffer is between them and bfloat16
//     HAS_PLANES            1: sources in planes, groups within a block, and, by sets with vectors
//                           of a block, half blocks of results are computed, too

#include "kernel/conv_blocked/conv_blocked.h"

#include <math.h>

#include "kernel/act/act.h"
#include "kernel/simd/tl_simd_act.h"
#include "kernel/simd/tl_simd_small.h"

enum {
    PARTS = TL_BLOCK / TL_VF_LANES, // vectors of a block
#if TL_SIMD_REGISTERS == 32 && TL_SIMD_LANES == 16
    BLOCKS = 2, // of output channels in a tile: with 14 pixels 28 sums, 2 weights, 1 source
    PIXELS = 14,
#elif TL_SIMD_REGISTERS == 32
    BLOCKS = 1, // 24 sums, 4 weights, 1 source
    PIXELS = 6,
#elif TL_SIMD_LANES == 8
    BLOCKS = 1, // 12 sums, 2 weights, 1 source
    PIXELS = 6,
#else
    BLOCKS = 1, // 8 sums, 4 weights, 1 source
    PIXELS = 2,
#endif
};

// Distances of software prefetches from memory or the L3 cache: hardware prefetching stops at the
// end of a page.
enum {
    WEIGHTS_AHEAD = 512, // floats
    SOURCE_AHEAD = 4,    // blocks of channels
};

// A half of a block shares its vector with that of another pixel, where blocks are vectors.
#define HAS_HALVES (HAS_PLANES && TL_SIMD_LANES == 16)
#if HAS_HALVES
_Static_assert((int)BLOCKS == 2 && (int)PARTS == 1, "two blocks of one vector each");
#endif

_Static_assert((int)PIXELS <= (int)TL_TILE_PIXELS, "the largest tile");

// The addresses of a tile, and its results: as in its job, or sums in a buffer.
typedef struct tile_place {
    const float *src, *weight, *bias;
    const void *add; // or NULL
    void *dst;
    size_t step, block_step; // of dst and add
    int rounds, adds_halves;
    float low, high; // bounds of results
} tile_place;

// sum += the source's lanes first .. depth-1 at the `n` pixels from `src` times the weights.
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
                sum[m][v] = MULTIPLY_ADD(x, w[v], sum[m][v]);
        }
    }
}

#if HAS_HALVES
// Hides from the compiler that the result equals `p`, so that it broadcasts from memory within a
// multiplication and not from a register: to fill that register occupies a multiply port of Zen 4.
TL_INLINE const float *read_again(const float *p)
{
    __asm__("" : "+r"(p));
    return p;
}

// The same where the last block has a lower half alone: sums of two pixels share a vector, that of
// the first one.
TL_INLINE void add_halves(tl_vf (*sum)[BLOCKS * PARTS], const int n, const int n_blocks,
                          const int lanes, const float *src, const float *weight,
                          size_t weight_step, int first, int depth)
{
    const int last = n_blocks - 1;
    const float *const again = read_again(src);
    for (int c = first; c < depth; c++) {
        const float *const w = weight + c * TL_BLOCK;
        const tl_vf whole = tl_vf_load(w);
        const tl_vf half = tl_vf_twice(tl_vf_load(w + last * weight_step));
        TL_UNROLL
        for (int b = 0; b < n_blocks; b++)
            __builtin_prefetch(w + b * weight_step + WEIGHTS_AHEAD);
        TL_UNROLL
        for (int m = 0; m < n; m += 2) {
            const int has_next = m + 1 < n;
            const float *const x = src + m * lanes + c, *const y = has_next ? x + lanes : x;
            if (n_blocks > 1)
                sum[m][0] = MULTIPLY_ADD(tl_vf_set1(*x), whole, sum[m][0]);
            if (n_blocks > 1 && has_next)
                sum[m + 1][0] = MULTIPLY_ADD(tl_vf_set1(*y), whole, sum[m + 1][0]);
            sum[m][last] = MULTIPLY_ADD(tl_vf_set2(again[m * lanes + c], *y), half, sum[m][last]);
        }
    }
}

// Puts the sums of a half block that a pixel begins with into both halves of its vector.
TL_INLINE void pair_halves(tl_vf (*sum)[BLOCKS * PARTS], const int n, const int last)
{
    TL_UNROLL
    for (int m = 0; m < n; m += 2)
        sum[m][last] = tl_vf_twice(sum[m][last]);
}

// Separates the sums of a half block by pixels: those of two are in the first one's vector.
TL_INLINE void part_halves(tl_vf (*sum)[BLOCKS * PARTS], const int n, const int last)
{
    TL_UNROLL
    for (int m = 0; m < n; m += 2) {
        const tl_vf both = sum[m][last];
        sum[m][last] = tl_vf_half(both, 0);
        if (m + 1 < n)
            sum[m + 1][last] = tl_vf_half(both, 1);
    }
}
#endif

// The same of whole blocks, or where the last one is a half.
TL_INLINE void add_products(tl_vf (*sum)[BLOCKS * PARTS], const int n, const int n_blocks,
                            const int lanes, const int is_half, const float *src,
                            const float *weight, size_t weight_step, int first, int depth)
{
#if HAS_HALVES
    if (is_half)
        add_halves(sum, n, n_blocks, lanes, src, weight, weight_step, first, depth);
#endif
    if (!is_half)
        add_lanes(sum, n, n_blocks, lanes, src, weight, weight_step, first, depth);
}

TL_INLINE void prefetch_pixels(const float *src, const int n)
{
    TL_UNROLL
    for (int m = 0; m < n; m += TL_BLOCK / LANES)
        __builtin_prefetch(src + m * LANES);
}

TL_INLINE void add_taps(tl_vf (*sum)[BLOCKS * PARTS], const int n, const int n_blocks,
                        const int lanes, const int is_half, const tl_tile_job *job,
                        const float *src, const float *weight)
{
    for (int c = 0; c < job->channels; c += lanes, src += job->src_block_step) {
        const int first = c == 0 ? job->first : 0;
        const int depth = lanes < job->channels - c ? lanes : job->channels - c;
        if (lanes > 1)
            prefetch_pixels(src + SOURCE_AHEAD * job->src_block_step, n);
        for (int t = 0; t < job->n_taps; t++, weight += lanes * TL_BLOCK)
            add_products(sum, n, n_blocks, lanes, is_half, src + job->taps[t], weight,
                         job->weight_step, first, depth);
    }
}

enum { SHARED = -1 }; // in the place of lanes: of groups within a block

#if HAS_PLANES
// Vector `part` of a pixel's lanes; if `other`, each four of them from the other half of eight.
TL_INLINE tl_vf fours(const float *pixel, const int part, const int other)
{
#if TL_SIMD_LANES == 4
    return tl_vf_load(pixel + (part ^ other) * TL_VF_LANES);
#else
    const tl_vf v = tl_vf_load(pixel + part * TL_VF_LANES);
    return other ? tl_vf_swap_128(v) : v;
#endif
}

// sum += the four lanes around each lane at the `n` pixels from `src`, or, if `other`, those of
// the other half of eight, times the weights.
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
                sum[m][v] = tl_vf_fma(tl_vf_broadcast_lane4(x[m], k), w, sum[m][v]);
        }
    }
}

// The taps of groups within a block.
TL_INLINE void add_shared(tl_vf (*sum)[BLOCKS * PARTS], const int n, const tl_tile_job *job,
                          const float *src, const float *weight)
{
    for (int t = 0; t < job->n_taps; t++, weight += job->shared * TL_BLOCK) {
        add_fours(sum, n, src + job->taps[t], weight, 0);
        if (job->shared > 4)
            add_fours(sum, n, src + job->taps[t], weight + 4 * TL_BLOCK, 1);
    }
}

#endif

// The address of result `m` of vector `v`.
TL_INLINE size_t offset_of(const int m, const int v, size_t step, size_t block_step)
{
    return v / PARTS * block_step + m * step + v % PARTS * TL_VF_LANES;
}

// The sum plus the addend at `offset`.
TL_INLINE tl_vf plus_other(tl_vf sum, const tile_place *from, size_t offset, const int are_halves)
{
    return tl_vf_add(sum, are_halves ? tl_vf_load_bf16((const uint16_t *)from->add + offset)
                                     : tl_vf_load((const float *)from->add + offset));
}

// Writes a result to `offset`.
TL_INLINE void write(tl_vf result, const tile_place *to, size_t offset, const int rounds)
{
    if (rounds)
        STORE_ROUNDED((uint16_t *)to->dst + offset, result);
    else
        tl_vf_store((float *)to->dst + offset, result);
}

// Adds the addends at `add`.
TL_INLINE void add_others(tl_vf (*sum)[BLOCKS * PARTS], const int n, const int n_blocks,
                          const tile_place *from, const int are_halves)
{
    TL_UNROLL
    for (int m = 0; m < n; m++) {
        TL_UNROLL
        for (int v = 0; v < n_blocks * PARTS; v++)
            sum[m][v] = plus_other(sum[m][v], from, offset_of(m, v, from->step, from->block_step),
                                   are_halves);
    }
}

// Writes the sums, clamped.
TL_INLINE void write_all(tl_vf (*sum)[BLOCKS * PARTS], const int n, const int n_blocks,
                         const tile_place *to, const int rounds)
{
    const tl_vf low = tl_vf_set1(to->low), high = tl_vf_set1(to->high);
    TL_UNROLL
    for (int m = 0; m < n; m++) {
        TL_UNROLL
        for (int v = 0; v < n_blocks * PARTS; v++)
            write(tl_vf_min(high, tl_vf_max(low, sum[m][v])), to,
                  offset_of(m, v, to->step, to->block_step), rounds);
    }
}

// Writes the results of the sums.
TL_INLINE void finish(tl_vf (*sum)[BLOCKS * PARTS], const int n, const int n_blocks,
                      const tile_place *at)
{
    if (TILES_ROUND && at->add && at->adds_halves)
        add_others(sum, n, n_blocks, at, 1);
    else if (at->add)
        add_others(sum, n, n_blocks, at, 0);
    if (TILES_ROUND && at->rounds)
        write_all(sum, n, n_blocks, at, 1);
    else
        write_all(sum, n, n_blocks, at, 0);
}

// The biases.
TL_INLINE void begin(tl_vf (*sum)[BLOCKS * PARTS], const int n, const int n_blocks,
                     const tl_tile_job *job, const tile_place *at)
{
    TL_UNROLL
    for (int v = 0; v < n_blocks * PARTS; v++) {
        const tl_vf bias =
            at->bias ? tl_vf_load(at->bias + v / PARTS * job->weight_step + v % PARTS * TL_VF_LANES)
                     : tl_vf_zero();
        TL_UNROLL
        for (int m = 0; m < n; m++)
            sum[m][v] = bias;
    }
}

// One tile. The first four arguments are constants: each combination is compiled separately.
TL_INLINE void tile(const int n, const int n_blocks, const int lanes, const int is_half,
                    const tl_tile_job *job, const tile_place *at)
{
    tl_vf sum[PIXELS][BLOCKS * PARTS];
    begin(sum, n, n_blocks, job, at);
#if HAS_HALVES
    if (is_half)
        pair_halves(sum, n, n_blocks - 1);
#endif
#if HAS_PLANES
    if (lanes == SHARED)
        add_shared(sum, n, job, at->src, at->weight);
#endif
    if (lanes != SHARED)
        add_taps(sum, n, n_blocks, lanes, is_half, job, at->src, at->weight);
#if HAS_HALVES
    if (is_half)
        part_halves(sum, n, n_blocks - 1);
#endif
    if (tl_tile_is_common(n, PIXELS))
        finish(sum, n, n_blocks, at);
    else
        write_all(sum, n, n_blocks, at, 0);
}

typedef void tile_func(const tl_tile_job *job, const tile_place *at);

// Tiles of blocks, planes and groups within blocks, and where the last block is a half.
enum { OF_BLOCKS, OF_PLANES, OF_SHARED, OF_HALVES, KINDS = OF_HALVES + 2 };

// The tiles of each number of pixels, X(n, n_blocks, name, kind, lanes, is_half), and those of a
// few numbers: networks read planes and groups within blocks in few layers, whose lines are wide.
// Of half blocks, the lines of most networks have tiles of 7 and 14 pixels.
#define TILES(X, n)                      \
    X(n, 1, blocks, OF_BLOCKS, LANES, 0) \
    TL_SECOND(X(n, 2, blocks, OF_BLOCKS, LANES, 0))
#define FEW_TILES(X, n)                   \
    X(n, 1, planes, OF_PLANES, 1, 0)      \
    X(n, 1, shared, OF_SHARED, SHARED, 0) \
    TL_SECOND(X(n, 2, planes, OF_PLANES, 1, 0))
#define HALF_TILES(X, n)                                  \
    X(n, 1, half_blocks, OF_HALVES + OF_BLOCKS, LANES, 1) \
    X(n, 2, half_blocks, OF_HALVES + OF_BLOCKS, LANES, 1) \
    X(n, 1, half_planes, OF_HALVES + OF_PLANES, 1, 1)     \
    X(n, 2, half_planes, OF_HALVES + OF_PLANES, 1, 1)

#if TL_SIMD_LANES == 16
#define TL_SECOND(...) __VA_ARGS__
#define EACH_MORE(X) \
    TILES(X, 3) TILES(X, 5) TILES(X, 6) TILES(X, 8) TILES(X, 10) TILES(X, 12) TILES(X, 13)
#define EACH_FEW(ROWS, X) ROWS(X, 1) ROWS(X, 2) ROWS(X, 4) ROWS(X, 7) ROWS(X, 14)
#elif TL_SIMD_LANES == 8 || TL_SIMD_REGISTERS == 32
#define TL_SECOND(...)
#define EACH_MORE(X)      TILES(X, 3) TILES(X, 5)
#define EACH_FEW(ROWS, X) ROWS(X, 1) ROWS(X, 2) ROWS(X, 4) ROWS(X, 6)
#else
#define TL_SECOND(...)
#define EACH_MORE(X)
#define EACH_FEW(ROWS, X) ROWS(X, 1) ROWS(X, 2)
#endif

#if HAS_HALVES
#define EACH_HALF(X) HALF_TILES(X, 7) HALF_TILES(X, 14)
#else
#define EACH_HALF(X)
#endif

#if HAS_PLANES
#define EACH_TILE(X) EACH_FEW(TILES, X) EACH_MORE(X) EACH_FEW(FEW_TILES, X) EACH_HALF(X)
#else
#define EACH_TILE(X) EACH_FEW(TILES, X) EACH_MORE(X)
#endif

#define TILE(n, n_blocks, name, kind, lanes, is_half)                                        \
    static void tile_##n##_##n_blocks##_##name(const tl_tile_job *job, const tile_place *at) \
    {                                                                                        \
        tile(n, n_blocks, lanes, is_half, job, at);                                          \
    }
EACH_TILE(TILE)

#define ELEMENT(n, n_blocks, name, kind, lanes, is_half) \
    [n][(n_blocks)-1][kind] = tile_##n##_##n_blocks##_##name,
static tile_func *const tiles[PIXELS + 1][BLOCKS][KINDS] = {EACH_TILE(ELEMENT)};

// Whether tiles can write these results, in types of the tiles; floats are activated in place.
static int can_write(const tl_tile_job *job)
{
    return TILES_ROUND ? !job->rounds || tl_act_is_bounds(job->act)
                       : !job->rounds && !job->adds_halves;
}

// A tile that writes its results, which are activated where they are.
static void run_direct(const tl_tile_job *job, tile_func *run, const tile_place *at, int pixels,
                       int blocks)
{
    const int n = at->step == TL_BLOCK ? pixels : 1; // pixels that are neighbours
    run(job, at);
    for (int b = 0; b < blocks && !tl_act_is_bounds(job->act); b++)
        for (int m = 0; m < pixels; m += n)
            tl_vf_activate(job->act, (float *)at->dst + b * at->block_step + m * at->step,
                           (size_t)n * TL_BLOCK);
}

// Adds the addends at `add` to sums in a buffer.
static void add_to_sums(float *sums, const tile_place *at, int pixels, int blocks)
{
    for (int v = 0; v < blocks * PARTS; v++)
        for (int m = 0; m < pixels; m++) {
            float *const sum = sums + offset_of(m, v, TL_BLOCK, (size_t)pixels * TL_BLOCK);
            const size_t offset = offset_of(m, v, at->step, at->block_step);
            tl_vf_store(sum, plus_other(tl_vf_load(sum), at, offset, at->adds_halves));
        }
}

// Writes the sums of a buffer, clipped to two bounds.
static void write_sums(const float *sums, const tile_place *at, int pixels, int blocks)
{
    const tl_vf low = tl_vf_set1(at->low), high = tl_vf_set1(at->high);
    for (int v = 0; v < blocks * PARTS; v++)
        for (int m = 0; m < pixels; m++) {
            const float *const sum = sums + offset_of(m, v, TL_BLOCK, (size_t)pixels * TL_BLOCK);
            const tl_vf kept = tl_vf_min(high, tl_vf_max(low, tl_vf_load(sum)));
            write(kept, at, offset_of(m, v, at->step, at->block_step), at->rounds);
        }
}

// A tile whose sums come to a buffer, its pixels and blocks one after the other.
static void run_in_buffer(const tl_tile_job *job, tile_func *run, const tile_place *at, int pixels,
                          int blocks)
{
    float sums[BLOCKS * PIXELS * TL_BLOCK];
    tile_place buffer = {.src = at->src, .weight = at->weight, .bias = at->bias, .dst = sums};
    buffer.step = TL_BLOCK;
    buffer.block_step = (size_t)pixels * TL_BLOCK;
    buffer.low = -INFINITY;
    buffer.high = INFINITY;
    run(job, &buffer);
    if (at->add)
        add_to_sums(sums, at, pixels, blocks);
    tl_vf_activate(job->act, sums, blocks * buffer.block_step);
    write_sums(sums, at, pixels, blocks);
}

// Element `i` of floats, or of bfloat16.
static char *element(const void *p, size_t i, int is_16_bit)
{
    return (char *)p + i * (is_16_bit ? sizeof(uint16_t) : sizeof(float));
}

// The kind of tiles, those of the last blocks or others.
static int kind_of(const tl_tile_job *job, int is_last)
{
    if (!HAS_PLANES)
        return OF_BLOCKS;
    if (job->shared)
        return OF_SHARED;
    return (job->lanes == 1 ? OF_PLANES : OF_BLOCKS) +
           (HAS_HALVES && is_last && job->has_half_block ? OF_HALVES : 0);
}

// The pixels of the next tile of whole blocks where `left` are left: where no tile has as many as
// would make the last ones nearly equal, it has more, or half of what is left.
static int block_pixels(int blocks, int left)
{
    int n = tl_tile_pixels(left, PIXELS);
    while (!tiles[n][blocks - 1][OF_BLOCKS])
        n = n < left ? n + 1 : (n + 1) / 2;
    return n;
}

// The same of other tiles.
static int few_pixels(int blocks, int kind, int left)
{
    int n = tl_min(left, PIXELS);
    while (!tiles[n][blocks - 1][kind])
        n--;
    return n;
}

// The next tile of a line where `left` pixels are left, and how many it has. Without one
// of half blocks, one of whole blocks: weights of absent channels are 0.
static tile_func *tile_of(int kind, int blocks, int left, int *pixels)
{
    const int whole = kind % OF_HALVES;
    const int n = whole == OF_BLOCKS ? block_pixels(blocks, left) : few_pixels(blocks, whole, left);
    tile_func *const run = tiles[n][blocks - 1][kind];
    *pixels = n;
    return run ? run : tiles[n][blocks - 1][whole];
}

void LINE_FUNC(const tl_tile_job *job, const float *src, const float *weight, const float *bias,
               const void *add, void *dst, int n, int n_blocks)
{
    const int is_direct = can_write(job), is_plain = is_direct && !add && !job->rounds;
    for (int b = 0; b < n_blocks; b += BLOCKS) {
        const int blocks = BLOCKS < n_blocks - b ? BLOCKS : n_blocks - b;
        const int kind = kind_of(job, b + blocks == n_blocks);
        for (int m = 0, pixels; m < n; m += pixels) {
            tile_func *const run = tile_of(kind, blocks, n - m, &pixels);
            const size_t first = b * job->dst_block_step + m * job->dst_step;
            const tile_place at = {src + (size_t)m * job->lanes,
                                   weight + b * job->weight_step,
                                   bias ? bias + b * job->weight_step : NULL,
                                   add ? element(add, first, job->adds_halves) : NULL,
                                   element(dst, first, job->rounds),
                                   job->dst_step,
                                   job->dst_block_step,
                                   job->rounds,
                                   job->adds_halves,
                                   job->low,
                                   job->high};
            if (is_plain || (is_direct && tl_tile_is_common(pixels, PIXELS)))
                run_direct(job, run, &at, pixels, blocks);
            else
                run_in_buffer(job, run, &at, pixels, blocks);
        }
    }
}
