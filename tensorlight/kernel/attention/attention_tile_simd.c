// SPDX-License-Identifier: Apache-2.0
// Attention by matrix units, with factors rounded to bfloat16: see attention.h.
//
//     queries   [row][pairs of elements]                 left factors of the scores
//     keys      [tile of keys][pairs of elements][16]    right factors
//     scores    [row][key], floats; then weights, in bfloat16: left factors of the results
//     values    [pair of keys][element]                  right factors
//     results   [row][element], floats
//
// Rows, keys and elements are padded to whole tiles with 0. A block of keys at a time has its
// scores, weights and products with values; the results so far are scaled to the max score so far.

#include <math.h>

#include "kernel/attention/attention.h"
#include "kernel/simd/tl_simd_math.h"
#include "kernel/simd/tl_tile.h"

enum {
    ROWS = TL_ATTENTION_TILED_ROWS,
    KEYS = TL_ATTENTION_TILED_KEYS, // of a block
    TILE = TL_TILE_ROWS,
    WORD = 2, // bfloat16 in a word
};

_Static_assert((int)TL_TILE_BYTES / 4 == (int)TILE, "a tile of words is a square");

// A block of queries of a head, and a block of its keys.
typedef struct block {
    const tl_attention_job *job;
    const float *k, *v;
    const float *q[ROWS], *mask[ROWS];
    float *dst[ROWS];
    size_t rows;           // and those with padding:
    size_t all_rows;       // whole tiles
    size_t d, e;           // words of a query and of a value: whole tiles
    size_t keys, all_keys; // of the block; two whole tiles
    float *queries, *pairs, *key_tiles, *scores, *values, *results; // pairs: of a tile of keys
    float max[ROWS], sum[ROWS];
} block;

static size_t round_up(size_t n, size_t to)
{
    return (n + to - 1) / to * to;
}

// Loads n elements, at most a vector, and 0 after them.
TL_INLINE tl_vf load_up_to(const float *p, size_t n)
{
    return n >= TL_VF_LANES ? tl_vf_load(p) : n > 0 ? tl_vf_load_partial(p, n) : tl_vf_zero();
}

// dst [words] = n elements times `scale` as pairs, and 0 after them.
static void write_pairs(float *dst, const float *src, size_t n, float scale, size_t words)
{
    const tl_vf factor = tl_vf_set1(scale);
    for (size_t i = 0; i < words * WORD; i += WORD * TL_VF_LANES, dst += TL_VF_LANES) {
        const size_t next = i + TL_VF_LANES;
        const tl_vf low = load_up_to(i < n ? src + i : src, i < n ? n - i : 0);
        const tl_vf high = load_up_to(next < n ? src + next : src, next < n ? n - next : 0);
        tl_vf_store(dst, tl_vf_to_pairs(tl_vf_mul(low, factor), tl_vf_mul(high, factor)));
    }
}

static void write_queries(const block *b)
{
    const float scale = (float)b->job->scale;
    for (size_t r = 0; r < b->all_rows; r++)
        write_pairs(b->queries + r * b->d, b->q[r < b->rows ? r : 0], r < b->rows ? b->job->d : 0,
                    scale, b->d);
}

// Transposes a square of words.
static void transpose(const float *src, size_t src_step, float *dst)
{
    for (size_t i = 0; i < TILE; i += TL_VF_LANES)
        for (size_t j = 0; j < TILE; j += TL_VF_LANES) {
            tl_vf square[TL_VF_LANES];
            for (size_t k = 0; k < TL_VF_LANES; k++)
                square[k] = tl_vf_load(src + (i + k) * src_step + j);
            tl_vf_transpose(square);
            for (size_t k = 0; k < TL_VF_LANES; k++)
                tl_vf_store(dst + (j + k) * TILE + i, square[k]);
        }
}

// Writes the keys from `first` on as tiles.
static void write_keys(const block *b, size_t first)
{
    const size_t row = b->job->k.row;
    for (size_t t = 0; t < b->all_keys; t += TILE) {
        for (size_t i = 0; i < TILE; i++) {
            const int is_key = t + i < b->keys;
            write_pairs(b->pairs + i * b->d, b->k + (is_key ? first + t + i : first) * row,
                        is_key ? b->job->d : 0, 1, b->d);
        }
        for (size_t c = 0; c < b->d; c += TILE)
            transpose(b->pairs + c, b->d, b->key_tiles + t * b->d + c * TILE);
    }
}

typedef uint32_t words __attribute__((vector_size(sizeof(tl_vf))));

// The bits of bfloat16 numbers, rounded to nearest even, in the upper halves of words; the lower
// halves have no meaning.
TL_INLINE words rounded(tl_vf v)
{
    words x;
    memcpy(&x, &v, sizeof(x));
    const words is_nan = (words)((x & 0x7fffffff) > 0x7f800000);
    return ((x + 0x7fff + (x >> 16 & 1)) & ~is_nan) | (0x7fc00000 & is_nan);
}

// Writes the values from `first` on as pairs of keys.
static void write_values(const block *b, size_t first)
{
    const size_t row = b->job->v.row, e = b->job->e;
    for (size_t k = 0; k < b->all_keys; k += WORD) {
        const float *const even = b->v + (first + k) * row, *const odd = even + row;
        for (size_t c = 0; c < b->e; c += TL_VF_LANES) {
            const size_t n = c < e ? e - c : 0;
            const words low = rounded(load_up_to(even + c, k < b->keys ? n : 0));
            const words high = rounded(load_up_to(odd + c, k + 1 < b->keys ? n : 0));
            const words pair = low >> 16 | (high & 0xffff0000);
            memcpy(b->values + k / WORD * b->e + c, &pair, sizeof(pair));
        }
    }
}

// Products

// Two by two tiles: sums [row][column] with `row` floats from row to row, left factors with
// left_row and right ones with right_row words. From a chunk of 16 words of the left factors to the
// next, the right ones advance by right_chunk, and to the second tile of columns by right_tile
// words.
typedef struct product {
    float *sums;
    const float *left, *right;
    size_t row, left_row, right_row, right_chunk, right_tile;
    size_t chunks;
    int has_rows, has_columns; // a second tile of rows, of columns
} product;

static void store_sums(tl_tiles *t, const product *p)
{
    const size_t step = p->row * sizeof(float);
    float *const next = p->sums + TILE * p->row;
    tl_tile_store(t, 0, p->sums, step);
    if (p->has_columns)
        tl_tile_store(t, 1, p->sums + TILE, step);
    if (p->has_rows)
        tl_tile_store(t, 2, next, step);
    if (p->has_rows && p->has_columns)
        tl_tile_store(t, 3, next + TILE, step);
}

// Adds the products of all chunks to the sums.
static void add_product(tl_tiles *t, const product *p)
{
    const size_t left_step = p->left_row * sizeof(float), right_step = p->right_row * sizeof(float);
    const size_t step = p->row * sizeof(float), next = TILE * step;
    const size_t column = p->has_columns ? TL_TILE_BYTES : 0;
    tl_tile_load_sums(t, p->sums, step, next, p->has_rows, column);
    for (size_t c = 0; c < p->chunks; c++) {
        const float *const left = p->left + c * TILE, *const right = p->right + c * p->right_chunk;
        TL_TILE_MULTIPLY(pairs, t, left, left + TILE * p->left_row, left_step, p->has_rows, right,
                         right + p->right_tile, right_step, p->has_columns);
    }
    store_sums(t, p);
}

// sums [all_rows][columns] += left x right: `p` is the product of the first tiles.
static void add_products(tl_tiles *t, product p, size_t all_rows, size_t columns)
{
    float *const sums = p.sums;
    const float *const left = p.left, *const right = p.right;
    for (size_t c = 0; c < columns; c += 2 * TILE)
        for (size_t r = 0; r < all_rows; r += 2 * TILE) {
            p.sums = sums + r * p.row + c;
            p.left = left + r * p.left_row;
            p.right = right + c / TILE * p.right_tile;
            p.has_rows = r + TILE < all_rows;
            p.has_columns = c + TILE < columns;
            add_product(t, &p);
        }
}

static void score(tl_tiles *t, const block *b)
{
    memset(b->scores, 0, b->all_rows * KEYS * sizeof(*b->scores));
    add_products(t,
                 (product){.sums = b->scores,
                           .left = b->queries,
                           .right = b->key_tiles,
                           .row = KEYS,
                           .left_row = b->d,
                           .right_row = TILE,
                           .right_chunk = (size_t)TILE * TILE,
                           .right_tile = TILE * b->d,
                           .chunks = b->d / TILE},
                 b->all_rows, b->all_keys);
}

static void add_values(tl_tiles *t, const block *b)
{
    add_products(t,
                 (product){.sums = b->results,
                           .left = b->scores,
                           .right = b->values,
                           .row = b->e,
                           .left_row = KEYS,
                           .right_row = b->e,
                           .right_chunk = TILE * b->e,
                           .right_tile = TILE,
                           .chunks = b->all_keys / WORD / TILE},
                 b->all_rows, b->e);
}

// Softmax

// Adds the mask of the keys from `first` on to the scores of row r.
static void add_mask(const block *b, size_t r, size_t first)
{
    float *const scores = b->scores + r * KEYS;
    const float *const mask = b->mask[r] + first * b->job->mask_key;
    for (size_t j = 0; j < b->keys; j += TL_VF_LANES) {
        const size_t n = b->keys - j;
        const tl_vf m = b->job->mask_key ? load_up_to(mask + j, n) : tl_vf_set1(*mask);
        tl_vf_store(scores + j, tl_vf_add(tl_vf_load(scores + j), m));
    }
}

// Replaces the scores of row r by weights: words in the places of the first half of the scores.
static void weigh(block *b, size_t r)
{
    float *const scores = b->scores + r * KEYS;
    tl_vf max = tl_vf_set1(-INFINITY), sum = tl_vf_zero();
    for (size_t j = b->keys; j < b->all_keys; j++)
        scores[j] = -INFINITY;
    for (size_t j = 0; j < b->all_keys; j += TL_VF_LANES)
        max = tl_vf_max(tl_vf_load(scores + j), max); // NaN loses
    const float before = b->max[r], block_max = tl_vf_reduce_max(max);
    b->max[r] = block_max > before ? block_max : before;
    const float start = b->max[r] > -INFINITY ? b->max[r] : 0, scale = expf(before - start);
    const tl_vf origin = tl_vf_set1(start);
    for (size_t j = 0; j < b->all_keys; j += WORD * TL_VF_LANES) {
        const tl_vf low = tl_vf_exp_weight(tl_vf_sub(tl_vf_load(scores + j), origin));
        const tl_vf high =
            tl_vf_exp_weight(tl_vf_sub(tl_vf_load(scores + j + TL_VF_LANES), origin));
        sum = tl_vf_add(sum, tl_vf_add(low, high));
        tl_vf_store(scores + j / WORD, tl_vf_to_pairs(low, high));
    }
    b->sum[r] = b->sum[r] * scale + tl_vf_sum(sum);
    for (size_t c = 0; c < b->e && scale != 1; c += TL_VF_LANES) {
        float *const at = b->results + r * b->e + c;
        tl_vf_store(at, tl_vf_mul(tl_vf_load(at), tl_vf_set1(scale)));
    }
}

// Blocks

static void attend(block *b)
{
    tl_tiles t = {0};
    memset(b->results, 0, b->all_rows * b->e * sizeof(*b->results));
    write_queries(b);
    tl_tile_begin(&t, TILE, TL_TILE_BYTES);
    for (size_t first = 0; first < b->job->kv_len; first += KEYS) {
        b->keys = tl_min_size(KEYS, b->job->kv_len - first);
        b->all_keys = round_up(b->keys, WORD * TILE);
        write_keys(b, first);
        write_values(b, first);
        score(&t, b);
        for (size_t r = 0; r < b->rows; r++) {
            if (b->job->mask.data)
                add_mask(b, r, first);
            weigh(b, r);
        }
        add_values(&t, b);
    }
    tl_tile_end();
}

static void store_results(const block *b)
{
    const size_t e = b->job->e;
    for (size_t r = 0; r < b->rows; r++) {
        const float factor = b->sum[r] == 0 && b->job->zero_empty ? 0 : 1 / b->sum[r];
        for (size_t c = 0; c < e; c += TL_VF_LANES) {
            const tl_vf v = tl_vf_mul(tl_vf_load(b->results + r * b->e + c), tl_vf_set1(factor));
            if (e - c >= TL_VF_LANES)
                tl_vf_store(b->dst[r] + c, v);
            else
                tl_vf_store_partial(b->dst[r] + c, v, e - c);
        }
    }
}

void SIMD(tl_attention_tile)(const tl_attention_job *job, size_t batch, size_t head, size_t first,
                             size_t n, void *scratch)
{
    block b = {.job = job,
               .k = (const float *)job->k.data + batch * job->k.batch + head * job->k.head,
               .v = (const float *)job->v.data + batch * job->v.batch + head * job->v.head,
               .rows = n,
               .all_rows = round_up(n, TILE),
               .d = round_up(tl_ceil_div(job->d, WORD), TILE),
               .e = round_up(job->e, TILE),
               .queries = scratch};
    b.pairs = b.queries + ROWS * b.d;
    b.key_tiles = b.pairs + TILE * b.d;
    b.scores = b.key_tiles + KEYS * b.d;
    b.values = b.scores + ROWS * KEYS;
    b.results = b.values + KEYS / WORD * b.e;
    for (size_t i = 0; i < n; i++) {
        b.q[i] =
            (const float *)job->q.data + tl_attention_row(job, &job->q, batch, head, first + i);
        b.dst[i] =
            (float *)job->dst.data + tl_attention_row(job, &job->dst, batch, head, first + i);
        if (job->mask.data)
            b.mask[i] = (const float *)job->mask.data +
                        tl_attention_row(job, &job->mask, batch, head, first + i);
        b.max[i] = -INFINITY;
        b.sum[i] = 0;
    }
    attend(&b);
    store_results(&b);
}
