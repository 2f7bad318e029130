// SPDX-License-Identifier: Apache-2.0
// Tiles of convolutions in the blocked layout, see conv_blocked.h: a template.
//
//     LINE_FUNC             the function's name
//     LANES                 floats of a pixel of a block, of which MULTIPLY_ADD reads one
//     MULTIPLY_ADD(a, b, c) a * b + c, of floats or of pairs
//     STORE_ROUNDED(p, v)   writes a vector as bfloat16
//     TILES_ROUND           1: tiles that write results read and write bfloat16, too; 0: only
//                           floats, which is half the code: bfloat16 goes through a buffer
//     HAS_PLANES            1: supports sources in planes, groups within a block and, where a
//                           vector is a block, half blocks of results

#include "kernel/conv_blocked/conv_blocked.h"

#include <math.h>

#include "kernel/simd/tl_simd.h"

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

#include "kernel/conv_blocked/conv_blocked_results.inc.h"

// Distances of software prefetches from memory or the L3 cache: hardware prefetching stops at the
// end of a page.
enum {
    WEIGHTS_AHEAD = 512, // floats
    SOURCE_AHEAD = 4,    // blocks of channels, of the same tile and then of the next one
};

// Where a vector is a block, the half blocks of two pixels share a vector.
#define HAS_HALVES (HAS_PLANES && TL_SIMD_LANES == 16)
#if HAS_HALVES
_Static_assert((int)BLOCKS == 2 && (int)PARTS == 1, "two blocks of one vector each");
#endif

_Static_assert((int)PIXELS <= (int)TL_TILE_PIXELS, "the largest tile");

// Hides from the compiler that the result equals `p`, and how it was computed.
TL_INLINE const float *opaque(const float *p)
{
    __asm__("" : "+r"(p));
    return p;
}

// sum += the source's lanes first .. depth-1 at the `n` pixels from `src` times the weights.
TL_INLINE void add_lanes(tl_vf (*sum)[BLOCKS * PARTS], const int n, const int n_blocks,
                         const int lanes, const float *src, const float *weight, size_t weight_step,
                         int first, int depth)
{
    const float *const end = src + depth, *row = weight + first * TL_BLOCK;
    for (const float *x = src + first; x < end; x++, row += TL_BLOCK) {
        // One pointer to the weights of all blocks, where the compiler prefers one for each: on
        // Golden Cove, their additions use ports of multiplications.
        row = opaque(row);
        tl_vf w[BLOCKS * PARTS];
        TL_UNROLL
        for (int v = 0; v < n_blocks * PARTS; v++)
            w[v] = tl_vf_load(row + v / PARTS * weight_step + v % PARTS * TL_VF_LANES);
        TL_UNROLL
        for (int b = 0; b < n_blocks; b++)
            __builtin_prefetch(row + b * weight_step + WEIGHTS_AHEAD);
        TL_UNROLL
        for (int m = 0; m < n; m++) {
            const tl_vf pixel = tl_vf_set1(x[m * lanes]);
            TL_UNROLL
            for (int v = 0; v < n_blocks * PARTS; v++)
                sum[m][v] = MULTIPLY_ADD(pixel, w[v], sum[m][v]);
        }
    }
}

#if HAS_HALVES
// The same if the last block has only its lower half: the sums of two pixels share the vector of
// the first one.
TL_INLINE void add_halves(tl_vf (*sum)[BLOCKS * PARTS], const int n, const int n_blocks,
                          const int lanes, const float *src, const float *weight,
                          size_t weight_step, int first, int depth)
{
    const int last = n_blocks - 1;
    // Broadcasts from memory as part of the multiplication and not from a register, which would
    // occupy a multiply port of Zen 4.
    const float *const opaque_src = opaque(src);
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
            sum[m][last] =
                MULTIPLY_ADD(tl_vf_set2(opaque_src[m * lanes + c], *y), half, sum[m][last]);
        }
    }
}

// Copies the initial sums of each half block to both halves of its vector.
TL_INLINE void duplicate_halves(tl_vf (*sum)[BLOCKS * PARTS], const int n, const int last)
{
    TL_UNROLL
    for (int m = 0; m < n; m += 2)
        sum[m][last] = tl_vf_twice(sum[m][last]);
}

// Splits each vector of two pixels' half blocks into one vector for each pixel.
TL_INLINE void split_halves(tl_vf (*sum)[BLOCKS * PARTS], const int n, const int last)
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

// Either of these: `is_half` if the last block is a half.
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

// What a tile prefetches while it sums: the block of channels SOURCE_AHEAD blocks ahead, and after
// the last one the first blocks of the next tile, whose pixels follow.
typedef struct ahead {
    const float *block, *next;
    int left; // blocks before those of the next tile
} ahead;

TL_INLINE ahead ahead_of(const tl_tile_job *job, const float *src, const int n, const int lanes)
{
    const int blocks = (job->channels + lanes - 1) / lanes;
    const int skipped = blocks < SOURCE_AHEAD ? blocks : SOURCE_AHEAD;
    const float *const next = src + n * lanes;
    return (ahead){blocks > skipped ? src + skipped * job->src_block_step : next, next,
                   blocks - skipped};
}

TL_INLINE void prefetch_block(ahead *a, const tl_tile_job *job, const int n)
{
    TL_UNROLL
    for (int m = 0; m < n; m += TL_BLOCK / LANES)
        __builtin_prefetch(a->block + m * LANES);
    a->block = --a->left == 0 ? a->next : a->block + job->src_block_step;
}

TL_INLINE void add_taps(tl_vf (*sum)[BLOCKS * PARTS], const int n, const int n_blocks,
                        const int lanes, const int is_half, const tl_tile_job *job,
                        const float *src, const float *weight)
{
    ahead a = ahead_of(job, src, n, lanes);
    for (int c = 0; c < job->channels; c += lanes, src += job->src_block_step) {
        const int first = lanes > 1 && c == 0 ? job->first : 0;
        const int depth = lanes == 1 || lanes < job->channels - c ? lanes : job->channels - c;
        if (lanes > 1)
            prefetch_block(&a, job, n);
        for (int t = 0; t < job->n_taps; t++, weight += lanes * TL_BLOCK)
            add_products(sum, n, n_blocks, lanes, is_half, src + job->taps[t], weight,
                         job->weight_step, first, depth);
    }
}

enum { GROUPED = -1 }; // the value of `lanes` for groups within a block

#if HAS_PLANES
// Vector `part` of a pixel; `swaps` exchanges the 128-bit lanes of each 256 bits of the pixel.
TL_INLINE tl_vf load_fours(const float *pixel, const int part, const int swaps)
{
#if TL_SIMD_LANES == 4
    return tl_vf_load(pixel + (part ^ swaps) * TL_VF_LANES);
#else
    const tl_vf v = tl_vf_load(pixel + part * TL_VF_LANES);
    return swaps ? tl_vf_swap_128(v) : v;
#endif
}

// sum += for each lane, the source lanes of its 128 bits, or, if `swaps`, of the other 128 of its
// 256 bits, times the weights, at the `n` pixels from `src`.
TL_INLINE void add_fours(tl_vf (*sum)[BLOCKS * PARTS], const int n, const float *src,
                         const float *weight, const int swaps)
{
    TL_UNROLL
    for (int v = 0; v < PARTS; v++) {
        tl_vf x[PIXELS];
        TL_UNROLL
        for (int m = 0; m < n; m++)
            x[m] = load_fours(src + m * TL_BLOCK, v, swaps);
        TL_UNROLL
        for (int k = 0; k < 4; k++) {
            const tl_vf w = tl_vf_load(weight + k * TL_BLOCK + v * TL_VF_LANES);
            TL_UNROLL
            for (int m = 0; m < n; m++)
                sum[m][v] = tl_vf_fma(tl_vf_broadcast_lane4(x[m], k), w, sum[m][v]);
        }
    }
}

// Adds the taps of groups within a block.
TL_INLINE void add_grouped(tl_vf (*sum)[BLOCKS * PARTS], const int n, const tl_tile_job *job,
                           const float *src, const float *weight)
{
    for (int t = 0; t < job->n_taps; t++, weight += job->group_lanes * TL_BLOCK) {
        add_fours(sum, n, src + job->taps[t], weight, 0);
        if (job->group_lanes > 4)
            add_fours(sum, n, src + job->taps[t], weight + 4 * TL_BLOCK, 1);
    }
}

#endif

// Adds the addends to the sums.
TL_INLINE void add_addends(tl_vf (*sum)[BLOCKS * PARTS], const int n, const int n_blocks,
                           const tile_place *from, const int is_bf16)
{
    TL_UNROLL
    for (int m = 0; m < n; m++) {
        TL_UNROLL
        for (int v = 0; v < n_blocks * PARTS; v++)
            sum[m][v] = plus_addend(sum[m][v], from, offset_of(m, v, from->step, from->block_step),
                                    is_bf16);
    }
}

// Writes the sums, clamped.
TL_INLINE void write_all(tl_vf (*sum)[BLOCKS * PARTS], const int n, const int n_blocks,
                         const tile_place *at, const int is_bf16)
{
    const tile_place copy = *at, *const to = &copy; // in registers: results might overlap *at
    const tl_vf low = tl_vf_set1(to->low), high = tl_vf_set1(to->high);
    TL_UNROLL
    for (int m = 0; m < n; m++) {
        TL_UNROLL
        for (int v = 0; v < n_blocks * PARTS; v++)
            write(tl_vf_min(high, tl_vf_max(low, sum[m][v])), to,
                  offset_of(m, v, to->step, to->block_step), is_bf16);
    }
}

// Writes the results of the sums.
TL_INLINE void finish(tl_vf (*sum)[BLOCKS * PARTS], const int n, const int n_blocks,
                      const tile_place *at)
{
    if (TILES_ROUND && at->add && at->is_add_bf16)
        add_addends(sum, n, n_blocks, at, 1);
    else if (at->add)
        add_addends(sum, n, n_blocks, at, 0);
    if (TILES_ROUND && at->is_dst_bf16)
        write_all(sum, n, n_blocks, at, 1);
    else
        write_all(sum, n, n_blocks, at, 0);
}

// Sets the sums to the biases, or 0.
TL_INLINE void set_biases(tl_vf (*sum)[BLOCKS * PARTS], const int n, const int n_blocks,
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
    set_biases(sum, n, n_blocks, job, at);
#if HAS_HALVES
    if (is_half)
        duplicate_halves(sum, n, n_blocks - 1);
#endif
#if HAS_PLANES
    if (lanes == GROUPED)
        add_grouped(sum, n, job, at->src, at->weight);
#endif
    if (lanes != GROUPED)
        add_taps(sum, n, n_blocks, lanes, is_half, job, at->src, at->weight);
#if HAS_HALVES
    if (is_half)
        split_halves(sum, n, n_blocks - 1);
#endif
    if (tl_tile_is_common(n, PIXELS))
        finish(sum, n, n_blocks, at);
    else
        write_all(sum, n, n_blocks, at, 0);
}

typedef void tile_func(const tl_tile_job *job, const tile_place *at);

// Kinds of tiles: the source is in blocks, in planes, or has groups within blocks. OF_HALVES is
// added to the first two if the last block of the result is a half.
enum { OF_BLOCKS, OF_PLANES, OF_GROUPED, OF_HALVES, KINDS = OF_HALVES + 2 };

// Tiles of `n` pixels, X(n, n_blocks, name, kind, lanes, is_half). Planes and groups within blocks
// have only a few sizes: networks read them in few layers, whose lines are wide. Half blocks have
// two: the lines of most networks have tiles of 7 and 14 pixels.
#define TILES(X, n)                      \
    X(n, 1, blocks, OF_BLOCKS, LANES, 0) \
    TL_SECOND(X(n, 2, blocks, OF_BLOCKS, LANES, 0))
#define FEW_TILES(X, n)                      \
    X(n, 1, planes, OF_PLANES, 1, 0)         \
    X(n, 1, grouped, OF_GROUPED, GROUPED, 0) \
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

// Whether tiles can write the results themselves; an activation then runs on floats in place.
static int can_write(const tl_tile_job *job)
{
    return TILES_ROUND ? !job->is_dst_bf16 || tl_act_is_bounds(job->act)
                       : !job->is_dst_bf16 && !job->is_add_bf16;
}

// Runs a tile that writes its results, and activates them in place.
static void run_direct(const tl_tile_job *job, tile_func *run, const tile_place *at, int pixels,
                       int blocks)
{
    const int n = at->step == TL_BLOCK ? pixels : 1; // contiguous pixels
    run(job, at);
    for (int b = 0; b < blocks && !tl_act_is_bounds(job->act); b++)
        for (int m = 0; m < pixels; m += n)
            tl_vf_activate(job->act, (float *)at->dst + b * at->block_step + m * at->step,
                           (size_t)n * TL_BLOCK);
}

// Runs a tile that writes sums to a contiguous buffer, and computes the results from them.
static void run_buffered(const tl_tile_job *job, tile_func *run, const tile_place *at, int pixels,
                         int blocks)
{
    float sums[BLOCKS * PIXELS * TL_BLOCK];
    tile_place buffer = {.src = at->src, .weight = at->weight, .bias = at->bias, .dst = sums};
    buffer.step = TL_BLOCK;
    buffer.block_step = (size_t)pixels * TL_BLOCK;
    buffer.low = -INFINITY;
    buffer.high = INFINITY;
    run(job, &buffer);
    write_results(job, sums, buffer.block_step, at, pixels, blocks);
}

// The kind of a tile; `is_last`: it contains the last block.
static int kind_of(const tl_tile_job *job, int is_last)
{
    if (!HAS_PLANES)
        return OF_BLOCKS;
    if (job->group_lanes)
        return OF_GROUPED;
    return (job->lanes == 1 ? OF_PLANES : OF_BLOCKS) +
           (HAS_HALVES && is_last && job->has_half_block ? OF_HALVES : 0);
}

// The pixels of the next tile of OF_BLOCKS, of `left` remaining ones: tl_tile_pixels or, if no tile
// has that size, the next larger size, or about half.
static int block_pixels(int blocks, int left)
{
    int n = tl_tile_pixels(left, PIXELS);
    while (!tiles[n][blocks - 1][OF_BLOCKS])
        n = n < left ? n + 1 : (n + 1) / 2;
    return n;
}

// The same of other kinds: the largest size that fits.
static int other_pixels(int blocks, int kind, int left)
{
    int n = tl_min(left, PIXELS);
    while (!tiles[n][blocks - 1][kind])
        n--;
    return n;
}

// The next tile of a line with `left` remaining pixels, and its size. A size without a tile of half
// blocks uses that of whole blocks: the weights of absent channels are 0.
static tile_func *tile_of(int kind, int blocks, int left, int *pixels)
{
    const int whole = kind % OF_HALVES;
    const int n =
        whole == OF_BLOCKS ? block_pixels(blocks, left) : other_pixels(blocks, whole, left);
    tile_func *const run = tiles[n][blocks - 1][kind];
    *pixels = n;
    return run ? run : tiles[n][blocks - 1][whole];
}

// The place of the first tile of a line, of the blocks from `b` on.
static tile_place place_of(const tl_tile_job *job, const float *src, const float *weight,
                           const float *bias, const void *add, void *dst, int b)
{
    const size_t first = b * job->dst_block_step;
    return (tile_place){src,
                        weight + b * job->weight_step,
                        bias ? bias + b * job->weight_step : NULL,
                        add ? element(add, first, job->is_add_bf16) : NULL,
                        element(dst, first, job->is_dst_bf16),
                        job->dst_step,
                        job->dst_block_step,
                        job->is_dst_bf16,
                        job->is_add_bf16,
                        job->low,
                        job->high};
}

static void move(const tl_tile_job *job, tile_place *at, int pixels)
{
    const size_t step = (size_t)pixels * job->dst_step;
    at->src += (size_t)pixels * job->lanes;
    at->add = at->add ? element(at->add, step, job->is_add_bf16) : NULL;
    at->dst = element(at->dst, step, job->is_dst_bf16);
}

// Whether the next tile of `n` remaining pixels may be smaller than the one before it.
static int is_near_end(int n)
{
    return n <= TL_EQUAL_TILES * PIXELS;
}

void LINE_FUNC(const tl_tile_job *job, const float *src, const float *weight, const float *bias,
               const void *add, void *dst, int n, int n_blocks)
{
    // is_plain: tiles of all sizes can write such results, others only those of common sizes.
    const int is_direct = can_write(job), is_plain = is_direct && !add && !job->is_dst_bf16;
    for (int b = 0; b < n_blocks; b += BLOCKS) {
        const int blocks = BLOCKS < n_blocks - b ? BLOCKS : n_blocks - b;
        const int kind = kind_of(job, b + blocks == n_blocks);
        tile_place at = place_of(job, src, weight, bias, add, dst, b);
        tile_func *run = NULL;
        for (int m = 0, pixels = 0; m < n; m += pixels) {
            if (!run || is_near_end(n - m))
                run = tile_of(kind, blocks, n - m, &pixels);
            if (is_plain || (is_direct && tl_tile_is_common(pixels, PIXELS)))
                run_direct(job, run, &at, pixels, blocks);
            else
                run_buffered(job, run, &at, pixels, blocks);
            move(job, &at, pixels);
        }
    }
}
