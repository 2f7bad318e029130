// SPDX-License-Identifier: Apache-2.0
// The results of 8-bit convolutions and products from their sums, in vectors. Define before this
// file BLOCKS, PIXELS and PARTS: the most blocks and pixels of a tile, and the vectors of a block.

#include "kernel/act/act.h"
#include "kernel/simd/tl_simd_act.h"
#include "kernel/simd/tl_simd_dot.h"
#include "kernel/simd/tl_simd_small.h"

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

// Prepares `starts` for a line whose first block is block `first` of the job, if it has zero
// points.
static void start_line(line *l, int first, int n_blocks, pixel_starts *starts)
{
    l->starts = l->job->zeros.sums ? starts : NULL;
    starts->is_one_group = 1;
    for (int k = 0; l->starts && k < n_blocks; k++)
        load_zeros(&l->job->zeros, first, k, starts);
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
