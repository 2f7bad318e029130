// SPDX-License-Identifier: Apache-2.0
// Attention without a tensor of scores: blocks of keys, with the softmax computed as they come.
//
// A score is s = scale * (q . k) + mask. A query keeps the `max` of its scores so far, the `sum` of
// p = exp(s - max), and `o`, the sum of p v over the values v. When a block of keys has a larger
// score, `sum` and `o` are multiplied by alpha = exp(old max - new max). The result is o / sum.
// Sources: Milakov, Gimelshein: Online normalizer calculation for softmax, 2018, algorithm 3; Dao:
// FlashAttention-2: Faster Attention with Better Parallelism and Work Partitioning, 2023, alg. 1.
//
//     attend_halves   16 bits, tensor cores      attend_few   few queries, a block for each
//     attend_tf32     float, tensor cores        attend_any   the rest, a warp per query
//     attend_floats   float
//
// In the first three, block head * tiles + i computes the i-th tile of queries of a head. Shared
// memory holds it, a tile of KEYS keys and one of their values, or two of each. Once keys are used,
// the next ones are copied over them while values are used, and vice versa.

#include "arch/cuda/ln_cuda_mma.cuh"

#define LOG2_E 1.44269504088896340736f

enum {
    MAX_TILED = 128, // max length of a key or value of the kernels with tiles
    MAX_LEN = 256,   // of the others
    FEW_QUERIES = 8, // at most, for attend_few
    ANY_WARPS = 4,   // of a block of attend_any
    FEW_WARPS = 16,  // at most, of attend_few
    FEW_STEP = 4     // keys that a group of its threads loads at a time
};

// The distances of batches, heads and rows, in elements.
struct row_view {
    int batch, head, row;
};

template <class T> struct attention_job {
    const T *q, *k, *v, *mask; // `mask` may be NULL
    T *dst;
    row_view q_at, k_at, v_at, dst_at, mask_at;
    int mask_key;       // from the mask's element of a key to the next: 1, or 0
    int batches, heads; // of the queries
    int group;          // heads of queries that share one of keys and values
    int n_queries, n_keys;
    int d, e; // elements of a key, and of a value
    float scale;
    int zero_empty; // a query whose scores are all -infinity results in 0, not NaN
    int tiles;      // of queries of a head
    int is_aligned; // rows of the sources begin at multiples of 16 bytes
};

// The first row of each tensor for head index % heads of batch index / heads.
template <class T> struct head_of {
    const T *q, *k, *v, *mask;
    T *dst;

    __device__ head_of(const attention_job<T> &job, int index)
    {
        const size_t b = index / job.heads, h = index % job.heads, g = h / job.group;
        q = job.q + b * job.q_at.batch + h * job.q_at.head;
        k = job.k + b * job.k_at.batch + g * job.k_at.head;
        v = job.v + b * job.v_at.batch + g * job.v_at.head;
        dst = job.dst + b * job.dst_at.batch + h * job.dst_at.head;
        mask = job.mask ? job.mask + b * job.mask_at.batch + h * job.mask_at.head : NULL;
    }
};

// What normalizes o.
static __device__ __forceinline__ float factor_of(float sum, int zero_empty)
{
    return sum == 0 && zero_empty ? 0 : 1 / sum;
}

// Asynchronous loads

// Begins to copy n rows of HD elements, by all threads of a block: dst[r * STRIDE + c] becomes
// src[(first + r) * src_stride + c], or 0 where src, `rows` rows of `len` elements, ends. SIZE
// bytes at a time, of which `len`, strides and addresses are multiples.
template <int SIZE, int HD, int STRIDE, class T>
static __device__ __forceinline__ void load_rows(T *dst, const T *src, int src_stride, int first,
                                                 int n, int rows, int len)
{
    constexpr int W = SIZE / (int)sizeof(T), PER_ROW = HD / W;
    for (int i = threadIdx.x; i < n * PER_ROW; i += blockDim.x) {
        const int r = i / PER_ROW, c = i % PER_ROW * W;
        const bool ok = first + r < rows && c < len;
        ln_copy_async<SIZE>(dst + r * STRIDE + c,
                            ok ? src + (size_t)(first + r) * src_stride + c : src, ok);
    }
}

// Tensor cores

// c [16, 8] += a [16, 8] x b [8, 8], of TF32. c as in ln_mma; with g = t / 4 and q = t % 4, a is
// [g][q], [g + 8][q], [g][q + 4], [g + 8][q + 4], and b [q][g], [q + 4][g].
static __device__ __forceinline__ void mma_tf32(float (&c)[4], const uint32_t (&a)[4], uint32_t b0,
                                                uint32_t b1)
{
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
                 "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};\n"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

static __device__ __forceinline__ uint32_t to_tf32(float x)
{
    uint32_t r;
    asm("cvt.rna.tf32.f32 %0, %1;\n" : "=r"(r) : "f"(x));
    return r;
}

static __device__ __forceinline__ float exp2_of(float x)
{
    float r;
    asm("ex2.approx.ftz.f32 %0, %1;\n" : "=f"(r) : "f"(x));
    return r;
}

// The state of a thread for its rows `row` and `row` + 8, each of which 4 threads share. Scores and
// `max` are times log2(e), so that p = 2^(s - max).
struct row_state {
    float max[2], sum[2]; // `max` is of all 4 threads, `sum` of this one's keys
};

// The mask's element times log2(e). The lowest finite number, by which models mean "not this key",
// stays finite, so that a row of only such elements has equal weights.
static __device__ __forceinline__ float mask_in_log2(float mask)
{
    const float scaled = LOG2_E * mask;
    return scaled == -INFINITY && mask > -INFINITY ? -FLT_MAX : scaled;
}

// Row `row` of the mask, or the last one for queries past the end, which are computed but not
// stored. NULL: no mask.
template <class T>
static __device__ __forceinline__ const T *mask_row(const attention_job<T> &job,
                                                    const head_of<T> &head, int row)
{
    const int last = job.n_queries - 1;
    return head.mask ? head.mask + (size_t)(row < last ? row : last) * job.mask_at.row : NULL;
}

// One step of the softmax, for N blocks of 8 keys from `first` on: replaces the products s = q . k
// by p, adds these to the sum, and multiplies the sum and o by alpha. In s[n][i] and o[n][i], i / 2
// is the row of row_state.
template <bool IS_MASKED, int N, int M, class T>
static __device__ __forceinline__ void softmax_tile(const attention_job<T> &job,
                                                    const head_of<T> &head, int row, int first,
                                                    float (&s)[N][4], float (&o)[M][4],
                                                    row_state &state)
{
    const float scale = job.scale * LOG2_E;
    float max[2] = {state.max[0], state.max[1]}, origin[2], alpha[2];
    const T *const mask[2] = {mask_row(job, head, row), mask_row(job, head, row + 8)};
#pragma unroll
    for (int n = 0; n < N; n++)
#pragma unroll
        for (int i = 0; i < 4; i++) {
            const int key = first + n * 8 + (threadIdx.x & 3) * 2 + (i & 1);
            float x = s[n][i] * scale;
            if (key >= job.n_keys)
                x = -INFINITY;
            else if (IS_MASKED)
                x += mask_in_log2(ln_load(mask[i >> 1][(size_t)key * job.mask_key]));
            s[n][i] = x;
            max[i >> 1] = fmaxf(max[i >> 1], x);
        }
#pragma unroll
    for (int r = 0; r < 2; r++) {
        max[r] = fmaxf(max[r], __shfl_xor_sync(0xffffffffu, max[r], 1));
        max[r] = fmaxf(max[r], __shfl_xor_sync(0xffffffffu, max[r], 2));
        origin[r] = ln_exp_origin(max[r]);
        alpha[r] = exp2_of(state.max[r] - origin[r]);
        state.max[r] = max[r];
        state.sum[r] *= alpha[r];
    }
#pragma unroll
    for (int n = 0; n < N; n++)
#pragma unroll
        for (int i = 0; i < 4; i++) {
            s[n][i] = exp2_of(s[n][i] - origin[i >> 1]);
            state.sum[i >> 1] += s[n][i];
        }
#pragma unroll
    for (int n = 0; n < M; n++)
#pragma unroll
        for (int i = 0; i < 4; i++)
            o[n][i] *= alpha[i >> 1];
}

// Stores o / sum, with the sum of the 4 threads of each row. Only rows of 16 bits are aligned to
// pairs, and have an even length.
template <int M, class T>
static __device__ __forceinline__ void store_rows(const attention_job<T> &job, T *dst, int row,
                                                  const float (&o)[M][4], const row_state &state)
{
#pragma unroll
    for (int r = 0; r < 2; r++) {
        float sum = state.sum[r];
        sum += __shfl_xor_sync(0xffffffffu, sum, 1);
        sum += __shfl_xor_sync(0xffffffffu, sum, 2);
        const float factor = factor_of(sum, job.zero_empty);
        if (row + 8 * r >= job.n_queries)
            continue;
        T *const to = dst + (size_t)(row + 8 * r) * job.dst_at.row;
#pragma unroll
        for (int n = 0; n < M; n++) {
            const int at = n * 8 + (threadIdx.x & 3) * 2;
            if (at >= job.e)
                continue;
            const float pair[2] = {o[n][2 * r] * factor, o[n][2 * r + 1] * factor};
            if constexpr (sizeof(T) == 2) {
                ln_store_vec<2>(to + at, pair);
            } else {
                to[at] = pair[0];
                if (at + 1 < job.e)
                    to[at + 1] = pair[1];
            }
        }
    }
}

// Elements of 16 bits: a warp for 16 queries, keys and values of up to HD elements. Shared memory:
//
//     queries [queries, stride] | keys [stages, keys, stride] | values [stages, keys, stride]
//
// Rows are an odd number of 16 bytes apart, so that 8 of them are in different banks.
template <class T, int HD> struct halves_layout {
    static constexpr int keys = 64, stride = HD + 8;
    static constexpr int stages = HD <= 64 ? 2 : 1;
    // Launch bound: as many blocks per multiprocessor as registers suffice for, without a mask.
    static constexpr int blocks = HD <= 32 ? 6 : HD <= 64 ? 4 : HD <= 96 ? 3 : 2;
    static constexpr int size(int queries)
    {
        return (queries + 2 * stages * keys) * stride * (int)sizeof(T);
    }
};

// Warp w computes the queries 16 w .. 16 w + 15 of the block; its fragments q, s, o: see ln_mma.
template <class T, int HD, bool IS_MASKED>
static __global__ void __launch_bounds__(128, halves_layout<T, HD>::blocks - IS_MASKED)
    attend_halves(const attention_job<T> job)
{
    ln_begin_early();
    typedef halves_layout<T, HD> layout;
    constexpr int KEYS = layout::keys, STRIDE = layout::stride, STAGES = layout::stages;
    constexpr int TILE = KEYS * STRIDE, WAITING = 2 * STAGES - 1; // later loads
    extern __shared__ __align__(16) unsigned char memory[];
    const int queries = blockDim.x / 2, warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    T *const qs = (T *)memory, *const key_stages = qs + queries * STRIDE;
    T *const value_stages = key_stages + STAGES * TILE;
    const head_of<T> head(job, blockIdx.x / job.tiles);
    const int first = blockIdx.x % job.tiles * queries;
    const int row = first + warp * 16 + lane / 4;

    load_rows<16, HD, STRIDE>(qs, head.q, job.q_at.row, first, queries, job.n_queries, job.d);
#pragma unroll
    for (int i = 0; i < STAGES; i++) {
        if (i * KEYS < job.n_keys)
            load_rows<16, HD, STRIDE>(key_stages + i * TILE, head.k, job.k_at.row, i * KEYS, KEYS,
                                      job.n_keys, job.d);
        ln_commit_copies();
        if (i * KEYS < job.n_keys)
            load_rows<16, HD, STRIDE>(value_stages + i * TILE, head.v, job.v_at.row, i * KEYS, KEYS,
                                      job.n_keys, job.e);
        ln_commit_copies();
    }
    ln_wait_for_copies<WAITING>();
    __syncthreads();
    uint32_t q[HD / 16][4];
#pragma unroll
    for (int i = 0; i < HD / 16; i++)
        ln_load_matrices(q[i], qs + (warp * 16 + lane % 16) * STRIDE + i * 16 + lane / 16 * 8);

    float o[HD / 8][4] = {};
    row_state state = {{-INFINITY, -INFINITY}, {0, 0}};
    for (int key = 0; key < job.n_keys; key += KEYS) {
        float s[KEYS / 8][4] = {};
        T *const ks = key_stages + key / KEYS % STAGES * TILE;
        T *const vs = value_stages + key / KEYS % STAGES * TILE;
        const int next = key + STAGES * KEYS; // the tile that is loaded in place of this one
        ln_wait_for_copies<WAITING>();
        __syncthreads(); // the keys are here
#pragma unroll
        for (int i = 0; i < HD / 16; i++)
#pragma unroll
            for (int n = 0; n < KEYS / 16; n++) {
                uint32_t b[4];
                ln_load_matrices(b, ks + (n * 16 + lane / 16 * 8 + lane % 8) * STRIDE + i * 16 +
                                        lane / 8 % 2 * 8);
                ln_mma(s[2 * n], q[i], b[0], b[1], T());
                ln_mma(s[2 * n + 1], q[i], b[2], b[3], T());
            }
        if (next < job.n_keys) {
            __syncthreads(); // all threads are done with the keys
            load_rows<16, HD, STRIDE>(ks, head.k, job.k_at.row, next, KEYS, job.n_keys, job.d);
        }
        ln_commit_copies();
        softmax_tile<IS_MASKED>(job, head, row, key, s, o, state);
        ln_wait_for_copies<WAITING>();
        __syncthreads(); // the values are here
#pragma unroll
        for (int i = 0; i < KEYS / 16; i++) {
            // p of 16 keys, two results of ln_mma, is the left operand of the next one.
            const float(&low)[4] = s[2 * i], (&high)[4] = s[2 * i + 1];
            const uint32_t p[4] = {ln_pair_of(low[0], low[1], T()), ln_pair_of(low[2], low[3], T()),
                                   ln_pair_of(high[0], high[1], T()),
                                   ln_pair_of(high[2], high[3], T())};
#pragma unroll
            for (int n = 0; n < HD / 16; n++) {
                uint32_t b[4];
                ln_load_transposed(b, vs + (i * 16 + lane % 16) * STRIDE + n * 16 + lane / 16 * 8);
                ln_mma(o[2 * n], p, b[0], b[1], T());
                ln_mma(o[2 * n + 1], p, b[2], b[3], T());
            }
        }
        if (next < job.n_keys) {
            __syncthreads(); // all threads are done with the values
            load_rows<16, HD, STRIDE>(vs, head.v, job.v_at.row, next, KEYS, job.n_keys, job.e);
        }
        ln_commit_copies();
    }
    store_rows(job, head.dst, row, o, state);
}

// Floats in tiles

// Shared memory: queries [queries, stride] | keys [keys, stride] | values [keys, stride], and for
// attend_floats p [queries, p_stride]. Rows begin 4 banks apart, modulo 32.
template <int HD> struct floats_layout {
    static constexpr int keys = HD > 64 ? 32 : 64, stride = HD + 4, p_stride = keys + 4;
    static constexpr int size(int queries)
    {
        return ((queries + 2 * keys) * stride + queries * p_stride) * (int)sizeof(float);
    }
    // As halves_layout::blocks.
    static constexpr int tf32_blocks(bool is_masked)
    {
        return HD <= 32 ? 6 - is_masked : HD <= 64 ? 4 - is_masked : 3;
    }
    static constexpr int tf32_size(int queries)
    {
        return (queries + 2 * keys) * stride * (int)sizeof(float);
    }
};

template <int HD>
static __device__ __forceinline__ void load_floats(const attention_job<float> &job, float *dst,
                                                   const float *src, int src_stride, int first,
                                                   int n, int rows, int len)
{
    constexpr int STRIDE = floats_layout<HD>::stride;
    if (job.is_aligned)
        load_rows<16, HD, STRIDE>(dst, src, src_stride, first, n, rows, len);
    else
        load_rows<4, HD, STRIDE>(dst, src, src_stride, first, n, rows, len);
}

// As attend_halves, with operands rounded to TF32. For o += p v, a thread has p of the keys 2 q and
// 2 q + 1 of 8, where mma_tf32 wants q and q + 4: so both operands have these keys in the order
// 0 2 4 6 1 3 5 7, as the order of a sum is free.
template <int HD, bool IS_MASKED>
static __global__ void __launch_bounds__(128, floats_layout<HD>::tf32_blocks(IS_MASKED))
    attend_tf32(const attention_job<float> job)
{
    ln_begin_early();
    typedef floats_layout<HD> layout;
    constexpr int KEYS = layout::keys, STRIDE = layout::stride;
    extern __shared__ __align__(16) unsigned char memory[];
    const int queries = blockDim.x / 2, warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    float *const qs = (float *)memory, *const ks = qs + queries * STRIDE;
    float *const vs = ks + KEYS * STRIDE;
    const head_of<float> head(job, blockIdx.x / job.tiles);
    const int first = blockIdx.x % job.tiles * queries;
    const int row = first + warp * 16 + lane / 4;

    load_floats<HD>(job, qs, head.q, job.q_at.row, first, queries, job.n_queries, job.d);
    load_floats<HD>(job, ks, head.k, job.k_at.row, 0, KEYS, job.n_keys, job.d);
    ln_commit_copies();
    load_floats<HD>(job, vs, head.v, job.v_at.row, 0, KEYS, job.n_keys, job.e);
    ln_commit_copies();
    ln_wait_for_copies<1>();
    __syncthreads();
    uint32_t q[HD / 8][4];
#pragma unroll
    for (int i = 0; i < HD / 8; i++) {
        const float *const from = qs + (warp * 16 + lane / 4) * STRIDE + i * 8 + lane % 4;
        q[i][0] = to_tf32(from[0]);
        q[i][1] = to_tf32(from[8 * STRIDE]);
        q[i][2] = to_tf32(from[4]);
        q[i][3] = to_tf32(from[8 * STRIDE + 4]);
    }

    float o[HD / 8][4] = {};
    row_state state = {{-INFINITY, -INFINITY}, {0, 0}};
    for (int key = 0; key < job.n_keys; key += KEYS) {
        float s[KEYS / 8][4] = {};
        ln_wait_for_copies<1>();
        __syncthreads(); // the keys are here
#pragma unroll
        for (int i = 0; i < HD / 8; i++)
#pragma unroll
            for (int n = 0; n < KEYS / 8; n++) {
                const float *const from = ks + (n * 8 + lane / 4) * STRIDE + i * 8 + lane % 4;
                mma_tf32(s[n], q[i], to_tf32(from[0]), to_tf32(from[4]));
            }
        __syncthreads(); // all threads are done with the keys
        if (key + KEYS < job.n_keys)
            load_floats<HD>(job, ks, head.k, job.k_at.row, key + KEYS, KEYS, job.n_keys, job.d);
        ln_commit_copies();
        softmax_tile<IS_MASKED>(job, head, row, key, s, o, state);
        ln_wait_for_copies<1>();
        __syncthreads(); // the values are here
#pragma unroll
        for (int i = 0; i < KEYS / 8; i++) {
            const uint32_t p[4] = {to_tf32(s[i][0]), to_tf32(s[i][2]), to_tf32(s[i][1]),
                                   to_tf32(s[i][3])};
#pragma unroll
            for (int n = 0; n < HD / 8; n++) {
                const float *const from = vs + (i * 8 + lane % 4 * 2) * STRIDE + n * 8 + lane / 4;
                mma_tf32(o[n], p, to_tf32(from[0]), to_tf32(from[STRIDE]));
            }
        }
        __syncthreads(); // all threads are done with the values
        if (key + KEYS < job.n_keys)
            load_floats<HD>(job, vs, head.v, job.v_at.row, key + KEYS, KEYS, job.n_keys, job.e);
        ln_commit_copies();
    }
    store_rows(job, head.dst, row, o, state);
}

// 8 x 16 threads: thread (y, x) has the rows y, y + 8, .. (ROWS of them): the scores s of the keys
// x, x + 16, .., and of o W adjacent elements of each 16 W. p moves by shared memory.
template <int HD, int ROWS>
static __global__ void __launch_bounds__(128) attend_floats(const attention_job<float> job)
{
    ln_begin_early();
    typedef floats_layout<HD> layout;
    constexpr int KEYS = layout::keys, STRIDE = layout::stride, P_STRIDE = layout::p_stride;
    constexpr int EACH = HD / 16, W = EACH < 4 ? EACH : 4, QUERIES = 8 * ROWS, COLUMNS = KEYS / 16;
    extern __shared__ __align__(16) unsigned char memory[];
    float *const qs = (float *)memory, *const ks = qs + QUERIES * STRIDE;
    float *const vs = ks + KEYS * STRIDE, *const ps = vs + KEYS * STRIDE;
    const int x = threadIdx.x % 16, y = threadIdx.x / 16;
    const head_of<float> head(job, blockIdx.x / job.tiles);
    const int first = blockIdx.x % job.tiles * QUERIES, d_end = (job.d + 3) / 4 * 4;

    load_floats<HD>(job, qs, head.q, job.q_at.row, first, QUERIES, job.n_queries, job.d);
    load_floats<HD>(job, ks, head.k, job.k_at.row, 0, KEYS, job.n_keys, job.d);
    ln_commit_copies();
    load_floats<HD>(job, vs, head.v, job.v_at.row, 0, KEYS, job.n_keys, job.e);
    ln_commit_copies();

    float o[ROWS][EACH] = {}, max[ROWS], sum[ROWS] = {};
#pragma unroll
    for (int i = 0; i < ROWS; i++)
        max[i] = -INFINITY;
    for (int key = 0; key < job.n_keys; key += KEYS) {
        float s[ROWS][COLUMNS] = {};
        ln_wait_for_copies<1>();
        __syncthreads(); // the keys are here
#pragma unroll 2
        for (int c = 0; c < d_end; c += 4) {
            float a[ROWS][4], b[COLUMNS][4];
#pragma unroll
            for (int i = 0; i < ROWS; i++)
                ln_load_vec<4>(qs + (y + 8 * i) * STRIDE + c, a[i]);
#pragma unroll
            for (int j = 0; j < COLUMNS; j++)
                ln_load_vec<4>(ks + (x + 16 * j) * STRIDE + c, b[j]);
#pragma unroll
            for (int k = 0; k < 4; k++)
#pragma unroll
                for (int i = 0; i < ROWS; i++)
#pragma unroll
                    for (int j = 0; j < COLUMNS; j++)
                        s[i][j] += a[i][k] * b[j][k];
        }
        __syncthreads(); // all threads are done with the keys
        if (key + KEYS < job.n_keys)
            load_floats<HD>(job, ks, head.k, job.k_at.row, key + KEYS, KEYS, job.n_keys, job.d);
        ln_commit_copies();

#pragma unroll
        for (int i = 0; i < ROWS; i++) {
            const float *const mask = mask_row(job, head, first + y + 8 * i);
            float most = max[i], part = 0;
#pragma unroll
            for (int j = 0; j < COLUMNS; j++) {
                const int at = key + x + 16 * j;
                s[i][j] *= job.scale;
                if (at >= job.n_keys)
                    s[i][j] = -INFINITY;
                else if (mask)
                    s[i][j] += mask[(size_t)at * job.mask_key];
                most = fmaxf(most, s[i][j]);
            }
            most = ln_warp_reduce<16>(most, ln_max());
            const float origin = ln_exp_origin(most), alpha = expf(max[i] - origin);
            max[i] = most;
#pragma unroll
            for (int j = 0; j < COLUMNS; j++) {
                const float p = expf(s[i][j] - origin);
                part += p;
                ps[(y + 8 * i) * P_STRIDE + x + 16 * j] = p;
            }
            sum[i] = sum[i] * alpha + part;
#pragma unroll
            for (int j = 0; j < EACH; j++)
                o[i][j] *= alpha;
        }
        ln_wait_for_copies<1>();
        __syncthreads(); // the values and the probabilities are here
#pragma unroll 2
        for (int k = 0; k < KEYS; k += 4) {
            float p[ROWS][4];
#pragma unroll
            for (int i = 0; i < ROWS; i++)
                ln_load_vec<4>(ps + (y + 8 * i) * P_STRIDE + k, p[i]);
#pragma unroll
            for (int c = 0; c < 4; c++)
#pragma unroll
                for (int g = 0; g < EACH / W; g++) {
                    float v[W];
                    ln_load_vec<W>(vs + (k + c) * STRIDE + (g * 16 + x) * W, v);
#pragma unroll
                    for (int i = 0; i < ROWS; i++)
#pragma unroll
                        for (int j = 0; j < W; j++)
                            o[i][g * W + j] += p[i][c] * v[j];
                }
        }
        __syncthreads(); // all threads are done with values and probabilities
        if (key + KEYS < job.n_keys)
            load_floats<HD>(job, vs, head.v, job.v_at.row, key + KEYS, KEYS, job.n_keys, job.e);
        ln_commit_copies();
    }
#pragma unroll
    for (int i = 0; i < ROWS; i++) {
        const float factor = factor_of(ln_warp_reduce<16>(sum[i], ln_sum()), job.zero_empty);
        const int row = first + y + 8 * i;
        if (row >= job.n_queries)
            continue;
        float *const to = head.dst + (size_t)row * job.dst_at.row;
#pragma unroll
        for (int j = 0; j < EACH; j++) {
            const int at = (j / W * 16 + x) * W + j % W;
            if (at < job.e)
                to[at] = o[i][j] * factor;
        }
    }
}

// Few queries

// 8 elements at a multiple of 16 bytes as float; !ok: 0.
template <class T>
static __device__ __forceinline__ void load_eight(const T *p, bool ok, float (&x)[8])
{
    constexpr int W = ln_width<T>;
#pragma unroll
    for (int i = 0; i < 8; i += W) {
        float part[W] = {};
        if (ok)
            ln_load_vec<W>(p + i, part);
#pragma unroll
        for (int j = 0; j < W; j++)
            x[i + j] = part[j];
    }
}

// A block per query. Each group of G threads, of 8 elements each, has a max, sum and o of its keys,
// every groups-th one. In the end, a warp rescales the sums and o of its groups to one max, and
// adds them up; then the block does the same with those of its warps, in shared memory.
template <class T, int G>
static __global__ void __launch_bounds__(32 * FEW_WARPS, 1) attend_few(const attention_job<T> job)
{
    ln_begin_early();
    __shared__ float parts[FEW_WARPS][8 * G], maxima[FEW_WARPS], sums[FEW_WARPS];
    const int groups = blockDim.x / G, group = threadIdx.x / G, at = threadIdx.x % G * 8;
    const int n_warps = blockDim.x / 32, warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int row = blockIdx.x % job.n_queries;
    const head_of<T> head(job, blockIdx.x / job.n_queries);
    const T *const mask = mask_row(job, head, row);
    float q[8], o[8] = {}, max = -INFINITY, sum = 0;
    load_eight(head.q + (size_t)row * job.q_at.row + at, at < job.d, q);
    for (int first = 0; first < job.n_keys; first += groups * FEW_STEP) {
        float k[FEW_STEP][8], v[FEW_STEP][8], s[FEW_STEP], most = max;
#pragma unroll
        for (int i = 0; i < FEW_STEP; i++) {
            const int key = first + i * groups + group;
            const bool ok = key < job.n_keys;
            load_eight(head.k + (size_t)key * job.k_at.row + at, ok && at < job.d, k[i]);
            load_eight(head.v + (size_t)key * job.v_at.row + at, ok && at < job.e, v[i]);
        }
#pragma unroll
        for (int i = 0; i < FEW_STEP; i++) {
            const int key = first + i * groups + group;
            float x = 0;
#pragma unroll
            for (int j = 0; j < 8; j++)
                x += q[j] * k[i][j];
            x = ln_warp_reduce<G>(x, ln_sum()) * job.scale;
            if (key >= job.n_keys)
                x = -INFINITY;
            else if (mask)
                x += ln_load(mask[(size_t)key * job.mask_key]);
            s[i] = x;
            most = fmaxf(most, x);
        }
        const float origin = ln_exp_origin(most), alpha = expf(max - origin);
        max = most;
        sum *= alpha;
#pragma unroll
        for (int j = 0; j < 8; j++)
            o[j] *= alpha;
#pragma unroll
        for (int i = 0; i < FEW_STEP; i++) {
            const float p = expf(s[i] - origin);
            sum += p;
#pragma unroll
            for (int j = 0; j < 8; j++)
                o[j] += p * v[i][j];
        }
    }

    float most = ln_warp_reduce(max, ln_max());
    float factor = expf(max - ln_exp_origin(most));
    sum *= factor;
#pragma unroll
    for (int j = 0; j < 8; j++)
        o[j] *= factor;
#pragma unroll
    for (int distance = G; distance < 32; distance *= 2) {
        sum += __shfl_xor_sync(0xffffffffu, sum, distance);
#pragma unroll
        for (int j = 0; j < 8; j++)
            o[j] += __shfl_xor_sync(0xffffffffu, o[j], distance);
    }
    if (lane < G) {
#pragma unroll
        for (int j = 0; j < 8; j++)
            parts[warp][at + j] = o[j];
    }
    if (lane == 0) {
        maxima[warp] = most;
        sums[warp] = sum;
    }
    __syncthreads();
    most = -INFINITY;
    for (int i = 0; i < n_warps; i++)
        most = fmaxf(most, maxima[i]);
    const float origin = ln_exp_origin(most);
    sum = 0;
    for (int i = 0; i < n_warps; i++)
        sum += sums[i] * expf(maxima[i] - origin);
    factor = factor_of(sum, job.zero_empty);
    T *const to = head.dst + (size_t)row * job.dst_at.row;
    for (int c = threadIdx.x; c < job.e; c += blockDim.x) {
        float x = 0;
        for (int i = 0; i < n_warps; i++)
            x += parts[i][c] * expf(maxima[i] - origin);
        to[c] = ln_store<T>(x * factor);
    }
}

// Any lengths up to MAX_LEN

// A warp per query: of each 32 keys, a thread computes the score of one, then adds all 32 values to
// each 32nd element of o.
template <class T>
static __global__ void __launch_bounds__(32 * ANY_WARPS) attend_any(const attention_job<T> job)
{
    ln_begin_early();
    __shared__ float queries[ANY_WARPS][MAX_LEN];
    constexpr int EACH = MAX_LEN / 32;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int64_t index = (int64_t)blockIdx.x * ANY_WARPS + warp;
    if (index >= (int64_t)job.batches * job.heads * job.n_queries)
        return; // a whole warp
    const int row = (int)(index % job.n_queries);
    const head_of<T> head(job, (int)(index / job.n_queries));
    const T *const mask = mask_row(job, head, row);
    float *const q = queries[warp], o[EACH] = {}, max = -INFINITY, sum = 0;
    for (int i = lane; i < job.d; i += 32)
        q[i] = ln_load(head.q[(size_t)row * job.q_at.row + i]);
    __syncwarp();
    for (int first = 0; first < job.n_keys; first += 32) {
        const int key = first + lane, n = job.n_keys - first < 32 ? job.n_keys - first : 32;
        float x = -INFINITY;
        if (lane < n) {
            const T *const k = head.k + (size_t)key * job.k_at.row;
            x = 0;
#pragma unroll 4
            for (int i = 0; i < job.d; i++)
                x += q[i] * ln_load(k[i]);
            x *= job.scale;
            if (mask)
                x += ln_load(mask[(size_t)key * job.mask_key]);
        }
        const float most = fmaxf(max, ln_warp_reduce(x, ln_max())), origin = ln_exp_origin(most);
        const float p = expf(x - origin), alpha = expf(max - origin);
        max = most;
        sum = sum * alpha + p;
#pragma unroll
        for (int i = 0; i < EACH; i++)
            o[i] *= alpha;
        for (int j = 0; j < n; j++) {
            const float weight = __shfl_sync(0xffffffffu, p, j);
            const T *const v = head.v + (size_t)(first + j) * job.v_at.row;
#pragma unroll
            for (int i = 0; i < EACH; i++)
                if (lane + 32 * i < job.e)
                    o[i] += weight * ln_load(v[lane + 32 * i]);
        }
    }
    const float factor = factor_of(ln_warp_reduce(sum, ln_sum()), job.zero_empty);
    T *const to = head.dst + (size_t)row * job.dst_at.row;
#pragma unroll
    for (int i = 0; i < EACH; i++)
        if (lane + 32 * i < job.e)
            to[lane + 32 * i] = ln_store<T>(o[i] * factor);
}

// Launches

// Launches a kernel of tiles of `queries`, with `size` bytes of shared memory, of all launches at
// most `max_size`. `done`: see ln_cuda_allow_shared.
template <class T, class K>
static int launch_tiles(ln_cuda_stream stream, K *kernel, attention_job<T> job, int queries,
                        int threads, int size, int max_size, uint64_t *done)
{
    if (ln_cuda_allow_shared(kernel, max_size, done, "attention"))
        return -1;
    job.tiles = ln_ceil_div(job.n_queries, queries);
    ln_cuda_launch_early(kernel, job.batches * job.heads * job.tiles, threads, size, stream, job);
    return ln_cuda_launched("attention");
}

// The queries of a tile: 64, or 32 where there would be less than a block per multiprocessor.
template <class T> static int queries_of(const attention_job<T> &job)
{
    const int64_t blocks = (int64_t)job.batches * job.heads * ((job.n_queries + 63) / 64);
    return job.n_queries <= 32 || blocks < ln_cuda_n_sms() ? 32 : 64;
}

template <int HD, class T>
static int launch_halves(ln_cuda_stream stream, const attention_job<T> &job)
{
    typedef halves_layout<T, HD> layout;
    static uint64_t done, masked_done;
    const int queries = queries_of(job);
    if (job.mask)
        return launch_tiles(stream, attend_halves<T, HD, true>, job, queries, 2 * queries,
                            layout::size(queries), layout::size(64), &masked_done);
    return launch_tiles(stream, attend_halves<T, HD, false>, job, queries, 2 * queries,
                        layout::size(queries), layout::size(64), &done);
}

template <int HD>
static int launch_floats(ln_cuda_stream stream, const attention_job<float> &job, int allow_tf32)
{
    typedef floats_layout<HD> layout;
    static uint64_t masked_tf32_done, tf32_done, done, small_done;
    const int queries = queries_of(job);
    if (allow_tf32 && job.mask)
        return launch_tiles(stream, attend_tf32<HD, true>, job, queries, 2 * queries,
                            layout::tf32_size(queries), layout::tf32_size(64), &masked_tf32_done);
    if (allow_tf32)
        return launch_tiles(stream, attend_tf32<HD, false>, job, queries, 2 * queries,
                            layout::tf32_size(queries), layout::tf32_size(64), &tf32_done);
    if (queries == 64)
        return launch_tiles(stream, attend_floats<HD, 8>, job, 64, 128, layout::size(64),
                            layout::size(64), &done);
    return launch_tiles(stream, attend_floats<HD, 4>, job, 32, 128, layout::size(32),
                        layout::size(32), &small_done);
}

static int launch_tiled(ln_cuda_stream stream, const attention_job<float> &job, int len,
                        int allow_tf32)
{
    return len <= 32   ? launch_floats<32>(stream, job, allow_tf32)
           : len <= 64 ? launch_floats<64>(stream, job, allow_tf32)
                       : launch_floats<128>(stream, job, allow_tf32);
}

template <class T>
static int launch_tiled(ln_cuda_stream stream, const attention_job<T> &job, int len, int)
{
    return len <= 32   ? launch_halves<32>(stream, job)
           : len <= 64 ? launch_halves<64>(stream, job)
           : len <= 96 ? launch_halves<96>(stream, job)
                       : launch_halves<128>(stream, job);
}

template <class T>
static int launch_few(ln_cuda_stream stream, const attention_job<T> &job, int len)
{
    const int blocks = job.batches * job.heads * job.n_queries;
    int warps = 4;
    while (warps < FEW_WARPS && warps * 64 < job.n_keys)
        warps *= 2;
    if (len <= 32)
        ln_cuda_launch_early(attend_few<T, 4>, blocks, 32 * warps, 0, stream, job);
    else if (len <= 64)
        ln_cuda_launch_early(attend_few<T, 8>, blocks, 32 * warps, 0, stream, job);
    else if (len <= 128)
        ln_cuda_launch_early(attend_few<T, 16>, blocks, 32 * warps, 0, stream, job);
    else
        ln_cuda_launch_early(attend_few<T, 32>, blocks, 32 * warps, 0, stream, job);
    return ln_cuda_launched("attention");
}

template <class T> static int launch_any(ln_cuda_stream stream, const attention_job<T> &job)
{
    const int64_t rows = (int64_t)job.batches * job.heads * job.n_queries;
    ln_cuda_launch_early(attend_any<T>, (unsigned)((rows + ANY_WARPS - 1) / ANY_WARPS),
                         32 * ANY_WARPS, 0, stream, job);
    return ln_cuda_launched("attention");
}

template <class T>
static int launch_attention(ln_cuda_stream stream, const attention_job<T> &job, int allow_tf32)
{
    const int len = job.d > job.e ? job.d : job.e;
    const int has_eights = job.is_aligned && job.d % 8 == 0 && job.e % 8 == 0;
    if (job.n_queries <= FEW_QUERIES && has_eights)
        return launch_few(stream, job, len);
    if (len <= MAX_TILED && job.d > 0 && (sizeof(T) == sizeof(float) || has_eights))
        return launch_tiled(stream, job, len, allow_tf32);
    return launch_any(stream, job);
}

// The function

// The distances in `t`, whose heads are at `axis`, 1 or 2, and rows at the other of these.
static row_view view_of(const tl_tensor *t, int axis)
{
    const int len = t->dims[3], outer = t->dims[2] * len; // steps of the axes 2 and 1
    return {t->dims[1] * outer, axis == 1 ? outer : len, axis == 1 ? len : outer};
}

// The mask's stride along `axis` of the scores [B, H, S, T]; 0 where it is broadcast.
static int mask_step(const tl_tensor *mask, int axis)
{
    int step = 1;
    const int own = axis - 4 + mask->ndim; // the mask's own axis
    if (own < 0 || mask->dims[own] == 1)
        return 0;
    for (int i = own + 1; i < mask->ndim; i++)
        step *= mask->dims[i];
    return step;
}

// 1: rows of sources begin at multiples of 16 bytes, and those of dst of 2 elements.
template <class T>
static int has_aligned_rows(const tl_tensor *q, const tl_tensor *k, const tl_tensor *v,
                            const tl_tensor *dst)
{
    return q->dims[3] % ln_width<T> == 0 && v->dims[3] % ln_width<T> == 0 &&
           ln_is_aligned(q->data, 16) && ln_is_aligned(k->data, 16) && ln_is_aligned(v->data, 16) &&
           ln_is_aligned(dst->data, 2 * sizeof(T));
}

// Head `first` of the first batch.
template <class T> static const T *head_at(const tl_tensor *t, const row_view &at, int first)
{
    return (const T *)t->data + (size_t)first * at.head;
}

template <class T>
static attention_job<T> job_of(const tl_tensor *q, const tl_tensor *k, const tl_tensor *v,
                               const tl_tensor *mask, tl_tensor *dst,
                               const tl_attention_param *param, const int *heads)
{
    attention_job<T> job = {};
    job.q_at = view_of(q, param->q_axis);
    job.k_at = view_of(k, param->k_axis);
    job.v_at = view_of(v, param->v_axis);
    job.dst_at = view_of(dst, param->dst_axis);
    job.q = head_at<T>(q, job.q_at, heads ? heads[0] : 0);
    job.k = head_at<T>(k, job.k_at, heads ? heads[2] : 0);
    job.v = head_at<T>(v, job.v_at, heads ? heads[4] : 0);
    job.dst = (T *)dst->data;
    if (mask) {
        job.mask = (const T *)mask->data;
        job.mask_at = {mask_step(mask, 0), mask_step(mask, 1), mask_step(mask, 2)};
        job.mask_key = mask_step(mask, 3);
    }
    job.batches = q->dims[0];
    job.heads = heads ? heads[1] : q->dims[param->q_axis];
    job.group = job.heads / (heads ? heads[3] : k->dims[param->k_axis]);
    job.n_queries = q->dims[3 - param->q_axis];
    job.n_keys = k->dims[3 - param->k_axis];
    job.d = q->dims[3];
    job.e = v->dims[3];
    job.scale = (float)param->scale;
    job.zero_empty = param->zero_empty;
    job.is_aligned = has_aligned_rows<T>(q, k, v, dst);
    return job;
}

int ln_cuda_attention(ln_cuda_stream stream, const tl_tensor *q, const tl_tensor *k,
                      const tl_tensor *v, const tl_tensor *mask, tl_tensor *dst,
                      const tl_attention_param *param, const int heads[6], int allow_tf32)
{
    if (dst->len == 0)
        return 0;
    if (!ln_cuda_has_attention(q, k, v, param))
        return tl_fail("CUDA kernel attention: keys of %d elements of %s and values of %d, "
                       "expected floats of 16 or 32 bits and at most %d",
                       k->dims[3], tl_dtype_name(q->dtype), v->dims[3], MAX_LEN);
    return ln_cuda_of_float(q->dtype, "attention", [&](auto zero) {
        using T = decltype(zero);
        if (k->dims[3 - param->k_axis] > 0)
            return launch_attention(stream, job_of<T>(q, k, v, mask, dst, param, heads),
                                    allow_tf32);
        const cudaError_t e = cudaMemsetAsync(dst->data, 0, sizeof(T) * dst->len, stream);
        return e == cudaSuccess ? 0 : tl_fail("CUDA attention: %s", cudaGetErrorString(e));
    });
}

int ln_cuda_has_attention(const tl_tensor *q, const tl_tensor *k, const tl_tensor *v,
                          const tl_attention_param *param)
{
    (void)k, (void)param;
    return (q->dtype == TL_FLOAT || q->dtype == TL_FLOAT16 || q->dtype == TL_BFLOAT16) &&
           q->dims[3] <= MAX_LEN && v->dims[3] <= MAX_LEN;
}
