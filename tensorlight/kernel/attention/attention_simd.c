// SPDX-License-Identifier: Apache-2.0
// Attention in the vectors of tl_simd.h, whose lanes are queries.
//
//     queries          ot  sums of values, transposed
//     one qt  [d][rows]        [e][rows]
//     keys             p   scores, then weights
//     some at a time       [keys][rows]
//
// Keys and values are read in place, one element for a vector of queries, so neither is packed, and
// nothing is summed across lanes: the max scores and the sums of weights are vectors, too.
//
// Both matrix multiplications use one tile: STREAMS rows (keys along d; values along the keys) by a
// few vectors of queries, summed in registers. With each block of keys, the sums so far are scaled
// to the max score so far. If queries are too few to fill a vector, lanes are elements of keys and
// of values. Source: Milakov & Gimelshein, "Online normalizer calculation for softmax", 2018; Dao
// et al., "FlashAttention", 2022, here transposed: lanes are queries.

#include "kernel/attention/attention.h"

#include "kernel/simd/tl_simd_math.h"

#if TL_SIMD_REGISTERS >= 32
enum { STREAMS = 8, VECTORS = 3 };
#else
enum { STREAMS = 6, VECTORS = 2 };
#endif

// For functions that do not gain from a constant number of vectors: they read block.vectors.
#define ONCE static __attribute__((noinline))

enum {
    ROWS = VECTORS * TL_VF_LANES,
    KEYS = TL_ATTENTION_KEYS / STREAMS * STREAMS, // that p has room for
};

// A block of queries; the last one is repeated to fill the vectors.
typedef struct block {
    const tl_attention_job *job;
    const float *k, *v; // of their head
    const float *q[ROWS], *mask[ROWS];
    float *dst[ROWS];
    size_t rows;
    int vectors;
    float *qt, *ot, *p;
    tl_vf max[VECTORS], sum[VECTORS];
} block;

// Products

// sum[s][i] += a[s * stream + t * step] * b[t][i] over t in 0 .. len-1.
TL_INLINE void multiply(tl_vf sum[STREAMS][VECTORS], int streams, int vectors, const float *a,
                        size_t stream, size_t step, const float *b, size_t len)
{
    for (size_t t = 0; t < len; t++, a += step, b += vectors * TL_VF_LANES) {
        tl_vf row[VECTORS];
        TL_UNROLL
        for (int i = 0; i < vectors; i++)
            row[i] = tl_vf_load(b + i * TL_VF_LANES);
        TL_UNROLL
        for (int s = 0; s < streams; s++) {
            const tl_vf x = tl_vf_set1(a[s * stream]);
            TL_UNROLL
            for (int i = 0; i < vectors; i++)
                sum[s][i] = tl_vf_fma(x, row[i], sum[s][i]);
        }
    }
}

// p[s] = the scores of `streams` keys from `k` on.
TL_INLINE void score_tile(const block *b, int streams, int vectors, const float *k, float *p)
{
    tl_vf sum[STREAMS][VECTORS];
    TL_UNROLL
    for (int s = 0; s < streams; s++) {
        TL_UNROLL
        for (int i = 0; i < vectors; i++)
            sum[s][i] = tl_vf_zero();
    }
    multiply(sum, streams, vectors, k, b->job->k.row, 1, b->qt, b->job->d);
    TL_UNROLL
    for (int s = 0; s < streams; s++) {
        TL_UNROLL
        for (int i = 0; i < vectors; i++)
            tl_vf_store(p + (s * vectors + i) * TL_VF_LANES, sum[s][i]);
    }
}

// The scores of the keys first .. first+n-1.
TL_INLINE void score_keys(const block *b, int vectors, size_t first, size_t n)
{
    const size_t row = b->job->k.row, width = (size_t)vectors * TL_VF_LANES;
    const float *const k = b->k + first * row;
    size_t j = 0;
    for (; j + STREAMS <= n; j += STREAMS)
        score_tile(b, STREAMS, vectors, k + j * row, b->p + j * width);
    for (; j < n; j++)
        score_tile(b, 1, vectors, k + j * row, b->p + j * width);
}

// ot[s] = ot[s] * scale + the weighted values of `streams` of their elements, from `v` on.
TL_INLINE void value_tile(const block *b, int streams, int vectors, const tl_vf *scale,
                          const float *v, float *ot, size_t n)
{
    tl_vf sum[STREAMS][VECTORS];
    TL_UNROLL
    for (int s = 0; s < streams; s++) {
        TL_UNROLL
        for (int i = 0; i < vectors; i++)
            sum[s][i] = tl_vf_mul(tl_vf_load(ot + (s * vectors + i) * TL_VF_LANES), scale[i]);
    }
    multiply(sum, streams, vectors, v, 1, b->job->v.row, b->p, n);
    TL_UNROLL
    for (int s = 0; s < streams; s++) {
        TL_UNROLL
        for (int i = 0; i < vectors; i++)
            tl_vf_store(ot + (s * vectors + i) * TL_VF_LANES, sum[s][i]);
    }
}

// Scales the sums so far and adds the values first .. first+n-1, times their weights.
TL_INLINE void add_values(const block *b, int vectors, const tl_vf *scale, size_t first, size_t n)
{
    const size_t width = (size_t)vectors * TL_VF_LANES;
    const float *const v = b->v + first * b->job->v.row;
    size_t j = 0;
    for (; j + STREAMS <= b->job->e; j += STREAMS)
        value_tile(b, STREAMS, vectors, scale, v + j, b->ot + j * width, n);
    for (; j < b->job->e; j++)
        value_tile(b, 1, vectors, scale, v + j, b->ot + j * width, n);
}

// Softmax

// Adds the mask of n keys, at most TL_VF_LANES, to the scores of one vector of queries.
ONCE void mask_square(const block *b, int i, size_t key, size_t n, float *p)
{
    const int vectors = b->vectors;
    tl_vf square[TL_VF_LANES];
    for (int lane = 0; lane < TL_VF_LANES; lane++) {
        const float *const row = b->mask[i * TL_VF_LANES + lane];
        square[lane] = b->job->mask_key == 0 ? tl_vf_set1(*row)
                       : n == TL_VF_LANES    ? tl_vf_load(row + key)
                                             : tl_vf_load_partial(row + key, n);
    }
    tl_vf_transpose(square);
    p += i * TL_VF_LANES;
    for (size_t j = 0; j < n; j++, p += vectors * TL_VF_LANES)
        tl_vf_store(p, tl_vf_add(tl_vf_load(p), square[j]));
}

ONCE void add_mask(const block *b, size_t first, size_t n)
{
    const int vectors = b->vectors;
    const size_t width = (size_t)vectors * TL_VF_LANES;
    for (size_t j = 0; j < n; j += TL_VF_LANES) {
        const size_t part = tl_min_size(n - j, TL_VF_LANES);
        for (int i = 0; i < vectors; i++)
            mask_square(b, i, first + j, part, b->p + j * width);
    }
}

// Converts scores of n keys to weights: exp(score - max). *scale: the factor of earlier sums.
TL_INLINE void weigh_keys(block *b, int vectors, size_t n, tl_vf *scale)
{
    const size_t width = (size_t)vectors * TL_VF_LANES;
    const tl_vf lowest = tl_vf_set1(-INFINITY);
    tl_vf origin[VECTORS];
    TL_UNROLL
    for (int i = 0; i < vectors; i++) {
        tl_vf max = b->max[i];
        for (size_t j = 0; j < n; j++)
            max = tl_vf_max(tl_vf_load(b->p + j * width + i * TL_VF_LANES), max); // NaN loses
        // While all scores are -infinity, max - max would be NaN, and stay in the sums.
        origin[i] = tl_vf_select(tl_vf_lt(lowest, max), max, tl_vf_zero());
        scale[i] = tl_vf_exp_weight(tl_vf_sub(b->max[i], origin[i]));
        b->max[i] = max;
        b->sum[i] = tl_vf_mul(b->sum[i], scale[i]);
    }
    for (float *p = b->p; p < b->p + n * width; p += width)
        TL_UNROLL
    for (int i = 0; i < vectors; i++) {
        const tl_vf weight =
            tl_vf_exp_weight(tl_vf_sub(tl_vf_load(p + i * TL_VF_LANES), origin[i]));
        tl_vf_store(p + i * TL_VF_LANES, weight);
        b->sum[i] = tl_vf_add(b->sum[i], weight);
    }
}

// Transposition

// qt = the queries, transposed and scaled.
ONCE void transpose_queries(const block *b)
{
    const int vectors = b->vectors;
    const size_t d = b->job->d;
    const tl_vf scale = tl_vf_set1((float)b->job->scale);
    tl_vf square[TL_VF_LANES];
    for (size_t j = 0; j < d; j += TL_VF_LANES) {
        const size_t n = tl_min_size(d - j, TL_VF_LANES);
        for (int i = 0; i < vectors; i++) {
            float *to = b->qt + (j * vectors + i) * TL_VF_LANES;
            for (int lane = 0; lane < TL_VF_LANES; lane++) {
                const float *const q = b->q[i * TL_VF_LANES + lane] + j;
                square[lane] = n == TL_VF_LANES ? tl_vf_load(q) : tl_vf_load_partial(q, n);
            }
            tl_vf_transpose(square);
            for (size_t k = 0; k < n; k++, to += vectors * TL_VF_LANES)
                tl_vf_store(to, tl_vf_mul(square[k], scale));
        }
    }
}

// Stores the results: ot, transposed and divided by the sums of weights.
ONCE void store_results(const block *b)
{
    const int vectors = b->vectors;
    const size_t e = b->job->e;
    tl_vf square[TL_VF_LANES];
    for (int i = 0; i < vectors; i++) {
        tl_vf factor = tl_vf_div(tl_vf_set1(1), b->sum[i]);
        if (b->job->zero_empty)
            factor = tl_vf_select(tl_vf_eq(b->sum[i], tl_vf_zero()), tl_vf_zero(), factor);
        for (size_t j = 0; j < e; j += TL_VF_LANES) {
            const size_t n = tl_min_size(e - j, TL_VF_LANES);
            for (size_t k = 0; k < TL_VF_LANES; k++) {
                const size_t at = j + (k < n ? k : 0);
                square[k] = tl_vf_mul(tl_vf_load(b->ot + (at * vectors + i) * TL_VF_LANES), factor);
            }
            tl_vf_transpose(square);
            for (size_t lane = 0, row = (size_t)i * TL_VF_LANES;
                 lane < TL_VF_LANES && row < b->rows; lane++, row++) {
                if (n == TL_VF_LANES)
                    tl_vf_store(b->dst[row] + j, square[lane]);
                else
                    tl_vf_store_partial(b->dst[row] + j, square[lane], n);
            }
        }
    }
}

// Blocks

TL_INLINE void attend(block *b, int vectors)
{
    const size_t len = b->job->kv_len, parts = (len + KEYS - 1) / KEYS;
    // Keys of a block: blocks are nearly equal, and all but the last one are whole tiles.
    const size_t n = ((len + parts - 1) / parts + STREAMS - 1) / STREAMS * STREAMS;
    memset(b->ot, 0, b->job->e * vectors * TL_VF_LANES * sizeof(*b->ot));
    for (int i = 0; i < vectors; i++) {
        b->max[i] = tl_vf_set1(-INFINITY);
        b->sum[i] = tl_vf_zero();
    }
    transpose_queries(b);
    for (size_t j = 0; j < len; j += n) {
        tl_vf scale[VECTORS];
        const size_t part = tl_min_size(n, len - j);
        score_keys(b, vectors, j, part);
        if (b->job->mask.data)
            add_mask(b, j, part);
        weigh_keys(b, vectors, part, scale);
        add_values(b, vectors, scale, j, part);
    }
    store_results(b);
}

// Few queries, one by one

enum {
    FEW = TL_VF_LANES / 2, // max rows for which this is faster
    ROW_KEYS = 1024,       // keys at a time: at most the size of p
    PARTS = 4,             // vectors of a value at a time
    AHEAD = 16,            // rows of keys and values between a prefetch and its use
};

// Long caches are in memory: hardware prefetches too few of the rows of a head.
TL_INLINE void prefetch_row(const float *row, size_t len)
{
    for (size_t i = 0; i < len; i += 16) // a cache line
        __builtin_prefetch(row + i);
}

// Loads n elements, at most a vector, and 0 after them.
TL_INLINE tl_vf load_up_to(const float *p, size_t n)
{
    return n >= TL_VF_LANES ? tl_vf_load(p) : tl_vf_load_partial(p, n);
}

TL_INLINE void store_up_to(float *p, tl_vf a, size_t n)
{
    if (n >= TL_VF_LANES)
        tl_vf_store(p, a);
    else
        tl_vf_store_partial(p, a, n);
}

// The dot products of a query with TL_VF_LANES keys; those after the n-th repeat it.
TL_INLINE tl_vf score_some(const tl_attention_job *job, const float *q, const float *k, size_t n)
{
    const size_t d = job->d, whole = d - d % TL_VF_LANES;
    const float *key[TL_VF_LANES];
    tl_vf sum[TL_VF_LANES];
    for (size_t j = 0; j < TL_VF_LANES; j++)
        key[j] = k + (j < n ? j : n - 1) * job->k.row;
    for (size_t j = 0; j < TL_VF_LANES; j++)
        prefetch_row(key[j] + AHEAD * job->k.row, d);
    TL_UNROLL
    for (int j = 0; j < TL_VF_LANES; j++)
        sum[j] = tl_vf_zero();
    for (size_t i = 0; i < whole; i += TL_VF_LANES) {
        const tl_vf x = tl_vf_load(q + i);
        TL_UNROLL
        for (int j = 0; j < TL_VF_LANES; j++)
            sum[j] = tl_vf_fma(x, tl_vf_load(key[j] + i), sum[j]);
    }
    if (whole < d) {
        const tl_vf x = tl_vf_load_partial(q + whole, d - whole);
        TL_UNROLL
        for (int j = 0; j < TL_VF_LANES; j++)
            sum[j] = tl_vf_fma(x, tl_vf_load_partial(key[j] + whole, d - whole), sum[j]);
    }
    tl_vf_transpose(sum); // a lane is a key now
    TL_UNROLL
    for (int half = TL_VF_LANES / 2; half > 0; half /= 2) {
        TL_UNROLL
        for (int j = 0; j < half; j++)
            sum[j] = tl_vf_add(sum[j], sum[j + half]);
    }
    return tl_vf_mul(sum[0], tl_vf_set1((float)job->scale));
}

// p = the scores of a query with n keys, padded to whole vectors with -infinity. Returns the max.
static float score_row(const tl_attention_job *job, const float *q, const float *k,
                       const float *mask, float *p, size_t n)
{
    tl_vf max = tl_vf_set1(-INFINITY);
    for (size_t j = 0; j < n; j += TL_VF_LANES) {
        const size_t part = tl_min_size(n - j, TL_VF_LANES);
        tl_vf score = score_some(job, q, k + j * job->k.row, part);
        if (mask)
            score =
                tl_vf_add(score, job->mask_key ? load_up_to(mask + j, part) : tl_vf_set1(*mask));
        tl_vf_store(p + j, tl_vf_set1(-INFINITY));
        store_up_to(p + j, score, part);
        max = tl_vf_max(tl_vf_load(p + j), max); // NaN loses
    }
    return tl_vf_reduce_max(max);
}

// Replaces the scores of n keys by their weights. Returns the sum of the weights.
static float weigh_row(float *p, size_t n, float origin)
{
    tl_vf sum = tl_vf_zero();
    for (size_t j = 0; j < n; j += TL_VF_LANES) {
        const tl_vf weight = tl_vf_exp_weight(tl_vf_sub(tl_vf_load(p + j), tl_vf_set1(origin)));
        tl_vf_store(p + j, weight);
        sum = tl_vf_add(sum, weight);
    }
    return tl_vf_sum(sum);
}

// o += PARTS vectors of the values from `v` on, times their n weights.
static void add_parts(const tl_attention_job *job, const float *v, const float *p, size_t n,
                      float *o)
{
    tl_vf sum[PARTS];
    TL_UNROLL
    for (int i = 0; i < PARTS; i++)
        sum[i] = tl_vf_load(o + i * TL_VF_LANES);
    for (size_t j = 0; j < n; j++, v += job->v.row) {
        const tl_vf weight = tl_vf_set1(p[j]);
        prefetch_row(v + AHEAD * job->v.row, PARTS * TL_VF_LANES);
        TL_UNROLL
        for (int i = 0; i < PARTS; i++)
            sum[i] = tl_vf_fma(weight, tl_vf_load(v + i * TL_VF_LANES), sum[i]);
    }
    TL_UNROLL
    for (int i = 0; i < PARTS; i++)
        tl_vf_store(o + i * TL_VF_LANES, sum[i]);
}

// The same for up to one vector, of `len` elements, in PARTS independent sums.
static void add_part(const tl_attention_job *job, const float *v, const float *p, size_t n,
                     float *o, size_t len)
{
    const size_t row = job->v.row;
    tl_vf sum[PARTS], all = tl_vf_load(o);
    size_t j = 0;
    TL_UNROLL
    for (int i = 0; i < PARTS; i++)
        sum[i] = tl_vf_zero();
    for (; j + PARTS <= n; j += PARTS)
        TL_UNROLL
    for (int i = 0; i < PARTS; i++)
        sum[i] = tl_vf_fma(tl_vf_set1(p[j + i]), load_up_to(v + (j + i) * row, len), sum[i]);
    for (; j < n; j++)
        all = tl_vf_fma(tl_vf_set1(p[j]), load_up_to(v + j * row, len), all);
    TL_UNROLL
    for (int i = 0; i < PARTS; i++)
        all = tl_vf_add(all, sum[i]);
    tl_vf_store(o, all);
}

// o = o * scale + the values from `v` on, times their n weights.
static void add_row(const tl_attention_job *job, const float *v, const float *p, size_t n,
                    float scale, float *o)
{
    size_t at = 0;
    for (size_t i = 0; i < job->e; i += TL_VF_LANES)
        tl_vf_store(o + i, tl_vf_mul(tl_vf_load(o + i), tl_vf_set1(scale)));
    for (; at + PARTS * TL_VF_LANES <= job->e; at += PARTS * TL_VF_LANES)
        add_parts(job, v + at, p, n, o + at);
    for (; at < job->e; at += TL_VF_LANES)
        add_part(job, v + at, p, n, o + at, job->e - at);
}

// Computes one query. `ot` has room for a value, rounded up to whole vectors.
ONCE void attend_row(const block *b, const float *q, const float *mask, float *dst)
{
    const tl_attention_job *const job = b->job;
    float max = -INFINITY, sum = 0;
    float *const o = b->ot;
    for (size_t i = 0; i < job->e; i += TL_VF_LANES)
        tl_vf_store(o + i, tl_vf_zero());
    for (size_t j = 0; j < job->kv_len; j += ROW_KEYS) {
        const size_t n = tl_min_size(ROW_KEYS, job->kv_len - j);
        const float *const keys_mask = mask ? mask + j * job->mask_key : NULL;
        const float block_max = score_row(job, q, b->k + j * job->k.row, keys_mask, b->p, n);
        const float new_max = block_max > max ? block_max : max;
        const float origin = new_max > -INFINITY ? new_max : 0;
        const float scale = expf(max - origin);
        sum = sum * scale + weigh_row(b->p, n, origin);
        add_row(job, b->v + j * job->v.row, b->p, n, scale, o);
        max = new_max;
    }
    const float factor = sum == 0 && job->zero_empty ? 0 : 1 / sum;
    for (size_t i = 0; i < job->e; i += TL_VF_LANES)
        store_up_to(dst + i, tl_vf_mul(tl_vf_load(o + i), tl_vf_set1(factor)), job->e - i);
}

// QUERIES queries that share keys, at once: each key and value is read from memory once.
//
//     p   scores, then weights: [keys][QUERIES], SHARED_KEYS keys in a vector

enum {
    QUERIES = 4,
    SHARED_KEYS = TL_VF_LANES / QUERIES,
    BLOCK_KEYS = 512, // at a time: p has QUERIES * BLOCK_KEYS elements
    SHARED_VECTORS = TL_SIMD_REGISTERS >= 32 ? 4 : 2, // vectors of a value at a time
};

// The scores of QUERIES queries with SHARED_KEYS keys; those after the n-th repeat it.
TL_INLINE tl_vf score_shared(const tl_attention_job *job, const float *const *q, const float *k,
                             size_t n)
{
    const float *key[SHARED_KEYS];
    tl_vf sum[TL_VF_LANES];
    for (size_t j = 0; j < SHARED_KEYS; j++)
        key[j] = k + (j < n ? j : n - 1) * job->k.row;
    for (size_t j = 0; j < SHARED_KEYS; j++)
        prefetch_row(key[j] + AHEAD * job->k.row, job->d);
    TL_UNROLL
    for (int c = 0; c < TL_VF_LANES; c++)
        sum[c] = tl_vf_zero();
    for (size_t i = 0; i < job->d; i += TL_VF_LANES) {
        const size_t rest = job->d - i;
        tl_vf x[SHARED_KEYS];
        TL_UNROLL
        for (int j = 0; j < SHARED_KEYS; j++)
            x[j] = load_up_to(key[j] + i, rest);
        TL_UNROLL
        for (int r = 0; r < QUERIES; r++) {
            const tl_vf y = load_up_to(q[r] + i, rest);
            TL_UNROLL
            for (int j = 0; j < SHARED_KEYS; j++)
                sum[j * QUERIES + r] = tl_vf_fma(x[j], y, sum[j * QUERIES + r]);
        }
    }
    tl_vf_transpose(sum); // a lane is a key with a query now
    TL_UNROLL
    for (int half = TL_VF_LANES / 2; half > 0; half /= 2) {
        TL_UNROLL
        for (int c = 0; c < half; c++)
            sum[c] = tl_vf_add(sum[c], sum[c + half]);
    }
    return tl_vf_mul(sum[0], tl_vf_set1((float)job->scale));
}

// The masks of SHARED_KEYS keys from `key` on, as score_shared.
ONCE tl_vf shared_mask(const tl_attention_job *job, const float *const *mask, size_t key, size_t n)
{
    float lanes[TL_VF_LANES];
    for (size_t j = 0; j < SHARED_KEYS; j++)
        for (int r = 0; r < QUERIES; r++)
            lanes[j * QUERIES + r] = mask[r][(key + (j < n ? j : n - 1)) * job->mask_key];
    return tl_vf_load(lanes);
}

// `of`: a number for each query, for each key of a vector.
TL_INLINE tl_vf repeated(const float *of)
{
    float lanes[TL_VF_LANES];
    for (int c = 0; c < TL_VF_LANES; c++)
        lanes[c] = of[c % QUERIES];
    return tl_vf_load(lanes);
}

// p = the scores of n keys from `first` on, padded to whole vectors with -infinity. max[r]: the max
// of query r and max[r].
static void score_block(const block *b, const float *const *q, const float *const *mask,
                        size_t first, size_t n, float *max)
{
    const tl_attention_job *const job = b->job;
    tl_vf all = tl_vf_set1(-INFINITY);
    float lanes[TL_VF_LANES];
    for (size_t j = 0; j < n; j += SHARED_KEYS) {
        const size_t part = tl_min_size(n - j, SHARED_KEYS);
        float *const p = b->p + j * QUERIES;
        tl_vf score = score_shared(job, q, b->k + (first + j) * job->k.row, part);
        if (mask)
            score = tl_vf_add(score, shared_mask(job, mask, first + j, part));
        tl_vf_store(p, tl_vf_set1(-INFINITY));
        store_up_to(p, score, part * QUERIES);
        all = tl_vf_max(tl_vf_load(p), all); // NaN loses
    }
    tl_vf_store(lanes, all);
    for (int c = 0; c < TL_VF_LANES; c++)
        max[c % QUERIES] = lanes[c] > max[c % QUERIES] ? lanes[c] : max[c % QUERIES];
}

// Replaces the scores of n keys by their weights, and adds these to sum[r] of each query r.
static void weigh_block(float *p, size_t n, const float *origin, float *sum)
{
    const tl_vf origins = repeated(origin);
    tl_vf all = tl_vf_zero();
    float lanes[TL_VF_LANES];
    for (size_t j = 0; j < n; j += SHARED_KEYS, p += TL_VF_LANES) {
        const tl_vf weight = tl_vf_exp_weight(tl_vf_sub(tl_vf_load(p), origins));
        tl_vf_store(p, weight);
        all = tl_vf_add(all, weight);
    }
    tl_vf_store(lanes, all);
    for (int c = 0; c < TL_VF_LANES; c++)
        sum[c % QUERIES] += lanes[c];
}

// o[r] = o[r] * scale[r] + `vectors` vectors of the values from `v` on, the last one up to `len`
// elements, times the n weights of query r. `step`: from o[r] to o[r + 1].
TL_INLINE void add_shared(const tl_attention_job *job, int vectors, const float *v, const float *p,
                          size_t n, const float *scale, float *o, size_t step, size_t len)
{
    tl_vf sum[QUERIES][SHARED_VECTORS];
    TL_UNROLL
    for (int r = 0; r < QUERIES; r++) {
        TL_UNROLL
        for (int i = 0; i < vectors; i++)
            sum[r][i] = tl_vf_mul(tl_vf_load(o + r * step + i * TL_VF_LANES), tl_vf_set1(scale[r]));
    }
    for (size_t j = 0; j < n; j++, v += job->v.row, p += QUERIES) {
        tl_vf x[SHARED_VECTORS];
        prefetch_row(v + AHEAD * job->v.row, (size_t)vectors * TL_VF_LANES);
        TL_UNROLL
        for (int i = 0; i < vectors; i++)
            x[i] = vectors > 1 ? tl_vf_load(v + i * TL_VF_LANES) : load_up_to(v, len);
        TL_UNROLL
        for (int r = 0; r < QUERIES; r++) {
            const tl_vf weight = tl_vf_set1(p[r]);
            TL_UNROLL
            for (int i = 0; i < vectors; i++)
                sum[r][i] = tl_vf_fma(weight, x[i], sum[r][i]);
        }
    }
    TL_UNROLL
    for (int r = 0; r < QUERIES; r++) {
        TL_UNROLL
        for (int i = 0; i < vectors; i++)
            tl_vf_store(o + r * step + i * TL_VF_LANES, sum[r][i]);
    }
}

static void add_block(const tl_attention_job *job, const float *v, const float *p, size_t n,
                      const float *scale, float *o, size_t step)
{
    size_t at = 0;
    for (; at + SHARED_VECTORS * TL_VF_LANES <= job->e; at += SHARED_VECTORS * TL_VF_LANES)
        add_shared(job, SHARED_VECTORS, v + at, p, n, scale, o + at, step, 0);
    for (; at < job->e; at += TL_VF_LANES)
        add_shared(job, 1, v + at, p, n, scale, o + at, step, job->e - at);
}

// Computes the QUERIES queries from row `first` of the block on. `ot` has room for a value of each,
// rounded up to whole vectors: e is at least a vector.
ONCE void attend_shared(const block *b, size_t first)
{
    const tl_attention_job *const job = b->job;
    const float *const *const mask = job->mask.data ? b->mask + first : NULL;
    const size_t step = (job->e + TL_VF_LANES - 1) / TL_VF_LANES * TL_VF_LANES;
    float max[QUERIES], sum[QUERIES] = {0}, origin[QUERIES], scale[QUERIES];
    for (int r = 0; r < QUERIES; r++)
        max[r] = -INFINITY;
    memset(b->ot, 0, QUERIES * step * sizeof(*b->ot));
    for (size_t j = 0; j < job->kv_len; j += BLOCK_KEYS) {
        const size_t n = tl_min_size(BLOCK_KEYS, job->kv_len - j);
        float before[QUERIES];
        memcpy(before, max, sizeof(max));
        score_block(b, b->q + first, mask, j, n, max);
        for (int r = 0; r < QUERIES; r++) {
            origin[r] = max[r] > -INFINITY ? max[r] : 0;
            scale[r] = expf(before[r] - origin[r]);
            sum[r] *= scale[r];
        }
        weigh_block(b->p, n, origin, sum);
        add_block(job, b->v + j * job->v.row, b->p, n, scale, b->ot, step);
    }
    for (int r = 0; r < QUERIES; r++) {
        const float factor = sum[r] == 0 && job->zero_empty ? 0 : 1 / sum[r];
        for (size_t i = 0; i < job->e; i += TL_VF_LANES)
            store_up_to(b->dst[first + r] + i,
                        tl_vf_mul(tl_vf_load(b->ot + r * step + i), tl_vf_set1(factor)),
                        job->e - i);
    }
}

// Up to FEW queries. The last ones of many are not shared: they are too few to matter.
static void attend_few(const block *b)
{
    const size_t all = b->job->group * b->job->q_len;
    const int are_shared = all <= FEW && b->job->e >= TL_VF_LANES;
    size_t i = 0;
    for (; are_shared && i + QUERIES <= b->rows; i += QUERIES)
        attend_shared(b, i);
    for (; i < b->rows; i++)
        attend_row(b, b->q[i], b->job->mask.data ? b->mask[i] : NULL, b->dst[i]);
}

// Rows

// Sets the addresses of the rows from `first` on. Returns the number of vectors.
static int set_rows(block *b, size_t batch, size_t head, size_t first, size_t n)
{
    const tl_attention_job *const job = b->job;
    const int vectors = (int)((n + TL_VF_LANES - 1) / TL_VF_LANES);
    b->rows = n;
    b->vectors = vectors;
    for (size_t i = 0; i < (size_t)vectors * TL_VF_LANES; i++) {
        const size_t row = first + (i < n ? i : n - 1);
        b->q[i] = (const float *)job->q.data + tl_attention_row(job, &job->q, batch, head, row);
        b->dst[i] = (float *)job->dst.data + tl_attention_row(job, &job->dst, batch, head, row);
        if (job->mask.data)
            b->mask[i] =
                (const float *)job->mask.data + tl_attention_row(job, &job->mask, batch, head, row);
    }
    return vectors;
}

void SIMD(tl_attention)(const tl_attention_job *job, size_t batch, size_t head, size_t first,
                        size_t n, void *scratch)
{
    block b = {.job = job,
               .k = (const float *)job->k.data + batch * job->k.batch + head * job->k.head,
               .v = (const float *)job->v.data + batch * job->v.batch + head * job->v.head,
               .qt = scratch};
    b.ot = b.qt + ROWS * job->d;
    b.p = b.ot + ROWS * job->e;
    for (const size_t end = first + n; first < end; first += ROWS) {
        const int vectors = set_rows(&b, batch, head, first, tl_min_size(ROWS, end - first));
        if (b.rows <= FEW)
            attend_few(&b);
        else if (vectors == 1)
            attend(&b, 1);
        else if (VECTORS > 2 && vectors == 2)
            attend(&b, 2);
        else
            attend(&b, VECTORS);
    }
}
