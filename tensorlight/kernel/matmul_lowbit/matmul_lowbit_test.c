// SPDX-License-Identifier: Apache-2.0
// Tests of products with weights of few bits: random shapes, blocks and zero points against loops
// of doubles, and each instruction set against plain C, to the bit.

#include <stdlib.h>

#include "kernel/matmul_lowbit/matmul_lowbit.h"
#include "kernel/tl_nn_test.h"
#include "tensor/tl_half.h"

static int between(nn_room *room, int low, int high)
{
    return low + (int)(tl_random_uniform(&room->seed) * (high - low + 1));
}

static int pick_one(nn_room *room, const int *from, size_t n)
{
    return from[between(room, 0, (int)n - 1)];
}
#define PICK(room, ...) \
    pick_one(room, (const int[]){__VA_ARGS__}, NN_LEN(((const int[]){__VA_ARGS__})))

// A product, and what its packed weights are.
typedef struct product {
    int batch, m, k, n;
    int scale_block, is_transposed;
    tl_lowbit_param param;
    tl_tensor *weight, *scale, *zero, *bias, *src, *packed;
} product;

// [rows, cols] of the weight's orientation.
static tl_tensor *random_matrix(nn_room *room, const product *p, tl_dtype dtype, int rows,
                                double lo, double hi)
{
    const int dims[] = {p->is_transposed ? p->n : rows, p->is_transposed ? rows : p->n};
    return nn_random(room, dtype, 2, dims, lo, hi);
}

// Scales, or zero points: by blocks, one for each column, or one.
static tl_tensor *random_for_blocks(nn_room *room, const product *p, int kind, tl_dtype dtype,
                                    double lo, double hi)
{
    const int blocks = (p->k + p->scale_block - 1) / p->scale_block;
    if (kind == 0)
        return random_matrix(room, p, dtype, blocks, lo, hi);
    return nn_random(room, dtype, 1, kind == 1 ? &p->n : &(int){1}, lo, hi);
}

static tl_tensor *blank_packed(nn_room *room, const product *p)
{
    return nn_blank(room, TL_UINT8, 1, (int[]){(int)tl_lowbit_packed(p->k, p->n, &p->param)});
}

// Scales that are binary16, half of them subnormal.
static void round_scales(tl_tensor *scale)
{
    float *const x = scale->data;
    for (int i = 0; i < scale->len; i++)
        x[i] = tl_half_to_float(tl_half_from_float(i % 2 ? x[i] : x[i] * 0x1p-12f));
}

static void random_weights(nn_room *room, product *p)
{
    const int bits = PICK(room, 2, 4, 8), half = 1 << (bits - 1), is_signed = between(room, 0, 1);
    const int kind = between(room, 0, 4) - 2; // mostly by blocks
    const double lo = is_signed ? -half : 0, hi = lo + 2 * half - 1;
    const tl_dtype dtype = is_signed ? TL_INT8 : TL_UINT8;
    p->is_transposed = between(room, 0, 1);
    p->scale_block = kind > 0 ? p->k : PICK(room, 16, 32, 32, 48, 64, 128, 144, 256);
    p->param = (tl_lowbit_param){.bits = bits,
                                 .block = tl_lowbit_block(p->k, p->scale_block),
                                 .has_zeros = between(room, 0, 1),
                                 .zero = is_signed ? half : 0,
                                 .src_bits = PICK(room, 0, 8)};
    p->weight = random_matrix(room, p, dtype, p->k, lo, hi);
    p->scale = random_for_blocks(room, p, kind > 0 ? kind : 0, TL_FLOAT, 0.001, 0.1);
    if (between(room, 0, 1))
        round_scales(p->scale);
    if (p->param.has_zeros)
        p->zero = random_for_blocks(room, p, kind > 0 ? kind : 0, dtype, lo,
                                    between(room, 0, 3) ? hi
                                    : is_signed         ? INT8_MAX
                                                        : UINT8_MAX);
    p->packed = blank_packed(room, p);
}

// Magnitudes of rows differ, as do those of their elements; those of row 23 are infinite.
static void random_source(nn_room *room, product *p)
{
    p->src = nn_random(room, TL_FLOAT, 3, (int[]){p->batch, p->m, p->k}, -1, 1);
    for (int i = 0; i < p->src->len; i++) {
        const int row = i / p->k % 24;
        ((float *)p->src->data)[i] *= ldexpf(1, row == 23 ? 200 : row * 5 - between(room, 0, 7));
    }
}

static product random_product_of(nn_room *room, int batch, int m, int k, int n)
{
    product p = {.batch = batch, .m = m, .k = k, .n = n};
    random_weights(room, &p);
    random_source(room, &p);
    if (between(room, 0, 1))
        p.bias = nn_random(room, TL_FLOAT, 1, &p.n, -1, 1);
    return p;
}

static product random_product(nn_room *room)
{
    const int batch = between(room, 1, 2), k = between(room, 1, 300);
    const int m = PICK(room, 1, 1, 2, 3, 4, 5, 7, 8, 9, 16, 17, 40);
    return random_product_of(room, batch, m, k,
                             PICK(room, 1, 2, 15, 16, 17, 31, 32, 33, 63, 64, 65, 100));
}

// The weights as bits.
static tl_tensor *packed_bits(nn_room *room, const product *p)
{
    const size_t bits = (size_t)p->param.bits, len = (size_t)p->k * p->n;
    tl_tensor *const t = nn_blank(room, TL_UINT8, 1, (int[]){(int)((len * bits + 7) / 8)});
    uint8_t *const bytes = t->data;
    memset(bytes, 0, (size_t)t->len);
    for (size_t i = 0; i < len; i++) {
        const int x = (int)nn_at(p->weight, i) & ((1 << bits) - 1);
        bytes[i * bits / 8] = (uint8_t)(bytes[i * bits / 8] | x << i * bits % 8);
    }
    return t;
}

static int pack(const tl_exec *exec, const product *p)
{
    nn_room own = {.seed = 1};
    const tl_lowbit_layout layout = {p->k, p->n, p->is_transposed, p->weight->dtype == TL_INT8,
                                     p->scale_block};
    const int status = tl_exec_lowbit_pack(exec, packed_bits(&own, p), p->scale, p->zero, p->packed,
                                           &p->param, &layout);
    nn_close(&own);
    return status;
}

static double element(const tl_tensor *t, const product *p, int row, int col)
{
    if (t->ndim == 1)
        return nn_at(t, t->len == 1 ? 0 : (size_t)col);
    return nn_at(t, p->is_transposed ? (size_t)col * t->dims[1] + row
                                     : (size_t)row * t->dims[1] + col);
}

static double weight_at(const product *p, int k, int col)
{
    const int block = k / p->scale_block;
    const double zero = p->zero ? element(p->zero, p, block, col) : 0;
    return (element(p->weight, p, k, col) - zero) * element(p->scale, p, block, col);
}

// All weights, [k, n].
static double *weights_of(const product *p)
{
    double *const weights = malloc(sizeof(*weights) * (size_t)p->k * (size_t)p->n);
    for (int i = 0; i < p->k * p->n; i++)
        weights[i] = weight_at(p, i / p->n, i % p->n);
    return weights;
}

// The expected value of an element, and its tolerance.
typedef struct range {
    double value, tolerance;
} range;

// Elements are rounded by 2^-22 of their block's largest at most, or by half of 1 / 127 of it to 8
// bits, where the quotient is rounded, too; three sums of a block are rounded, two factors, a
// product, and the sum of the blocks before. Of more than two rows the weights may be floats
// instead, and each sum is rounded.
static range range_of(const product *p, const double *weights, int row, int col)
{
    const float *const src = (const float *)p->src->data + (size_t)row * p->k;
    double sum = p->bias ? nn_at(p->bias, (size_t)col) : 0, magnitude = fabs(sum), rounding = 0;
    const double half = p->param.src_bits == 8 ? (0.5 + 0x1p-15) / 127 : 0x1p-22;
    int blocks = 1;
    for (int k = 0; k < p->k; k += p->param.block, blocks++) {
        double largest = 0, all = 0;
        for (int i = k; i < p->k && i < k + p->param.block; i++) {
            const double x = (double)src[i], w = weights[i * p->n + col];
            sum += x * w;
            magnitude += fabs(x * w);
            all += fabs(w);
            largest = fmax(largest, fabs(x));
        }
        rounding += half * largest * all;
        sum = p->param.src_bits == 8 && isinf(largest) ? NAN : sum;
    }
    const int is_float = p->param.src_bits == 0 && p->batch * p->m > 2;
    const int roundings = (is_float ? p->k : blocks) + 6;
    return (range){sum, rounding + nn_tolerance(TL_FLOAT, roundings, magnitude + rounding, sum)};
}

// Those of all elements; free it.
static range *ranges_of(const product *p)
{
    const int len = p->batch * p->m * p->n;
    double *const weights = weights_of(p);
    range *const ranges = malloc(sizeof(*ranges) * (size_t)len);
    for (int i = 0; i < len; i++)
        ranges[i] = range_of(p, weights, i / p->n, i % p->n);
    free(weights);
    return ranges;
}

static void check_all(const tl_tensor *dst, const range *ranges)
{
    for (int i = 0; i < dst->len; i++)
        nn_check_near(dst, (size_t)i, ranges[i].value, ranges[i].tolerance);
}

static void multiply(const product *p, tl_tensor *dst, tl_isa isa, tl_pool *pool)
{
    const size_t size = tl_lowbit_matmul_scratch(p->src, p->n, &p->param, tl_pool_size(pool));
    ln_guard guard;
    const tl_exec exec = {pool, ln_guard_alloc(&guard, size), size, isa, NULL};
    ck_assert_int_eq(pack(&exec, p), 0);
    ck_assert_int_eq(tl_exec_lowbit_matmul(&exec, p->src, p->packed, p->bias, dst, &p->param), 0);
    ck_assert(ln_guard_is_intact(&guard));
    ln_guard_free(&guard);
}

static void check_product(nn_room *room, product p, uint64_t seed, tl_pool *pool)
{
    const int dims[] = {p.batch, p.m, p.n};
    tl_tensor *const want = nn_blank(room, TL_FLOAT, 3, dims);
    range *const ranges = ranges_of(&p);
    multiply(&p, want, TL_ISA_C, NULL);
    NN_EACH_TILED(isa)
    {
        nn_room own = {.seed = 1};
        tl_tensor *const dst = nn_blank(&own, TL_FLOAT, 3, dims);
        multiply(&p, dst, isa, pool);
        check_all(dst, ranges);
        if (p.batch * p.m <= 2 || p.param.src_bits == 8)
            ck_assert_msg(memcmp(dst->data, want->data, tl_tensor_size(dst)) == 0,
                          "%s, %d threads, seed %d: differs from plain C", tl_isa_name(isa),
                          tl_pool_size(pool), (int)seed);
        nn_close(&own);
    }
    free(ranges);
}

START_TEST(products_agree_with_loops_of_doubles)
{
    tl_pool *const pools[] = {NULL, tl_pool_create(2)};
    ck_assert_ptr_nonnull(pools[1]);
    for (uint64_t seed = 1; seed <= 1000; seed++) {
        nn_room room = {.seed = seed};
        check_product(&room, random_product(&room), seed, pools[seed % 2]);
        nn_close(&room);
    }
    NN_CHECK_AMX();
    tl_pool_free(pools[1]);
}
END_TEST

// Panels become floats several at a time, and rows are divided.
START_TEST(large_products_agree_with_loops_of_doubles)
{
    static const int rows[][3] = {{70, 40, 1061}, {3, 100, 1024}, {1030, 20, 40}, {1100, 17, 1030}};
    tl_pool *const pool = tl_pool_create(2);
    for (size_t i = 0; i < NN_LEN(rows); i++) {
        nn_room room = {.seed = 1 + i};
        const int *const r = rows[i];
        check_product(&room, random_product_of(&room, 1, r[0], r[1], r[2]), 1 + i, pool);
        nn_close(&room);
    }
    tl_pool_free(pool);
}
END_TEST

// Kernels: all give the bits of plain C

#define KERNEL(arg, name, dtype, isa) {isa, name},
static const struct {
    tl_isa isa;
    tl_lowbit_rows_func *prepare;
} rows_kernels[] = {TL_LOWBIT_ROWS_KERNELS(KERNEL, )};
static const struct {
    tl_isa isa;
    tl_lowbit_func *multiply;
} kernels[] = {TL_LOWBIT_KERNELS(KERNEL, )};
static const struct {
    tl_isa isa;
    tl_lowbit_widen_func *widen;
} widen_kernels[] = {TL_LOWBIT_WIDEN_KERNELS(KERNEL, )};

// Results of the kernels of one set: prepared rows, results of the first panel, and its weights
// as floats.
typedef struct made {
    tl_tensor *rows, *dst, *floats;
} made;

static made make(nn_room *room, const product *p, size_t kernel)
{
    const uint8_t *const packed = p->packed->data, *const panels = packed + TL_LOWBIT_HEAD;
    const tl_lowbit_job job = tl_lowbit_job_of((size_t)p->k, &p->param, packed[0]);
    const int rows = p->batch * p->m, cols = p->n < TL_LOWBIT_PANEL ? p->n : TL_LOWBIT_PANEL;
    made m = {.rows = nn_blank(room, TL_UINT8, 2, (int[]){rows, (int)job.row_size}),
              .dst = nn_blank(room, TL_FLOAT, 2, (int[]){rows, cols}),
              .floats = nn_blank(room, TL_FLOAT, 2,
                                 (int[]){(int)job.blocks * job.param.block, TL_LOWBIT_PANEL})};
    for (int r = 0; r < rows; r++)
        rows_kernels[kernel].prepare(&job, (const float *)p->src->data + (size_t)r * p->k,
                                     (char *)m.rows->data + (size_t)r * job.row_size);
    const tl_lowbit_cols first = {panels, p->bias ? p->bias->data : NULL, m.dst->data,
                                  (size_t)cols};
    kernels[kernel].multiply(&job, m.rows->data, (size_t)rows, &first, 0, (size_t)cols);
    widen_kernels[kernel].widen(&job, panels, m.floats->data);
    return m;
}

static void check_same(const tl_tensor *got, const tl_tensor *want, size_t kernel, uint64_t seed)
{
    ck_assert_msg(memcmp(got->data, want->data, tl_tensor_size(want)) == 0,
                  "%s, seed %d: differs from plain C", tl_isa_name(kernels[kernel].isa), (int)seed);
}

static void check_kernels(uint64_t seed)
{
    nn_room room = {.seed = seed};
    const product p = random_product(&room);
    ck_assert_int_eq(pack(NULL, &p), 0);
    const made want = make(&room, &p, 0);
    for (size_t i = 1; i < NN_LEN(kernels); i++) {
        nn_room own = {.seed = 1};
        if (!tl_isa_is_usable(kernels[i].isa))
            continue;
        const made got = make(&own, &p, i);
        check_same(got.rows, want.rows, i, seed);
        check_same(got.dst, want.dst, i, seed);
        check_same(got.floats, want.floats, i, seed);
        nn_close(&own);
    }
    nn_close(&room);
}

START_TEST(kernels_give_the_bits_of_plain_c)
{
    for (uint64_t seed = 1; seed <= 300; seed++)
        check_kernels(seed);
}
END_TEST

// By hand

// A product of equal rows with columns of equal weights, one block: of one row, or as many as
// matrix units multiply. Returns the first result.
static float multiply_equal(tl_isa isa, int bits, const float *x, int k, int n, int weight,
                            int zero)
{
    nn_room room = {.seed = 1};
    const int has_tiles = isa == TL_ISA_TILES || tl_isa_contains(isa, TL_ISA_AMXINT8);
    product p = {.batch = 1, .m = has_tiles ? 9 : 1, .k = k, .n = n, .scale_block = k};
    p.param = (tl_lowbit_param){.bits = bits, .block = tl_lowbit_block(k, k), .has_zeros = 1};
    p.weight = nn_blank(&room, TL_UINT8, 2, (int[]){k, n});
    p.scale = nn_given(&room, TL_FLOAT, 1, (int[]){1}, (double[]){1});
    p.zero = nn_given(&room, TL_UINT8, 1, (int[]){1}, (double[]){zero});
    p.src = nn_blank(&room, TL_FLOAT, 2, (int[]){p.m, k});
    p.packed = blank_packed(&room, &p);
    tl_tensor *const dst = nn_blank(&room, TL_FLOAT, 2, (int[]){p.m, n});
    memset(p.weight->data, weight, (size_t)k * n);
    for (int r = 0; r < p.m; r++)
        memcpy((float *)p.src->data + r * k, x, (size_t)k * sizeof(*x));
    multiply(&p, dst, isa, NULL);
    const float first = *(const float *)dst->data;
    for (int i = 1; i < dst->len; i++)
        ck_assert(memcmp((const float *)dst->data + i, &first, sizeof(first)) == 0);
    nn_close(&room);
    return first;
}

START_TEST(sums_are_exact_where_16_bits_are_full)
{
    enum { K = 128, N = 33 };
    const int integer = -(32 << 16) - (128 << 8) - 128; // two limbs of -128
    float x[K];
    for (int i = 0; i < K; i++)
        x[i] = ldexpf((float)integer, -22);
    NN_EACH_TILED(isa)
    {
        ck_assert_float_eq(multiply_equal(isa, 4, x, K, N, 15, 0),
                           ldexpf((float)integer * 15 * K, -22));
        ck_assert_float_eq(multiply_equal(isa, 4, x, K, N, 0, 15),
                           ldexpf((float)integer * -15 * K, -22));
        ck_assert_float_eq(multiply_equal(isa, 8, x, K, N, 255, 0),
                           ldexpf((float)((double)integer * 255 * K), -22));
        ck_assert_float_eq(multiply_equal(isa, 8, x, K, N, 0, 255),
                           ldexpf((float)((double)integer * -255 * K), -22));
    }
}
END_TEST

// Integers whose largest is 127 are their own 8 bits, so sums are exact.
START_TEST(integers_of_8_bits_are_exact)
{
    enum { M = 21, K = 256, N = 70 };
    nn_room room = {.seed = 1};
    product p = {.batch = 1, .m = M, .k = K, .n = N, .scale_block = 32};
    p.param = (tl_lowbit_param){.bits = 4, .block = 32, .zero = 8, .src_bits = 8};
    p.weight = nn_random(&room, TL_INT8, 2, (int[]){K, N}, -8, 7);
    p.scale = nn_given(&room, TL_FLOAT, 1, (int[]){1}, (double[]){0.25});
    p.src = nn_random(&room, TL_INT8, 3, (int[]){1, M, K}, -127, 127);
    tl_tensor *const floats = nn_blank(&room, TL_FLOAT, 3, (int[]){1, M, K});
    for (int i = 0; i < M * K; i++)
        ((float *)floats->data)[i] = i % 32 ? (float)nn_at(p.src, (size_t)i) : -127;
    p.src = floats;
    p.packed = blank_packed(&room, &p);
    tl_tensor *const dst = nn_blank(&room, TL_FLOAT, 3, (int[]){1, M, N});
    NN_EACH_TILED(isa)
    {
        multiply(&p, dst, isa, NULL);
        for (int i = 0; i < M * N; i++) {
            int64_t sum = 0;
            for (int k = 0; k < K; k++)
                sum += (int64_t)nn_at(floats, (size_t)(i / N * K + k)) *
                       (int64_t)nn_at(p.weight, (size_t)(k * N + i % N));
            ck_assert_double_eq(nn_at(dst, (size_t)i), (double)sum * 0.25);
        }
    }
    nn_close(&room);
}
END_TEST

START_TEST(blocks_are_rounded_to_8_bits)
{
    enum { BLOCK = 16, N = 4 * BLOCK };
    nn_room room = {.seed = 1};
    tl_tensor *const src = nn_random(&room, TL_FLOAT, 2, (int[]){2, N / 2}, -3, 3);
    tl_tensor *const dst = nn_blank(&room, TL_FLOAT, 2, (int[]){2, N / 2});
    float *const x = src->data, *const y = dst->data;
    for (int i = 0; i < BLOCK; i++) {
        x[i] = 0;
        x[BLOCK + i] = 2.0f * i;      // max 30
        x[2 * BLOCK + i] = 0x1p-120f; // below the min
    }
    x[3 * BLOCK] = INFINITY;
    ck_assert_int_eq(tl_exec_round_blocks(NULL, src, dst, BLOCK), 0);
    for (int i = 0; i < BLOCK; i++) {
        ck_assert_float_eq(y[i], 0);
        ck_assert_float_eq_tol(y[BLOCK + i], rint(x[BLOCK + i] * 127 / 30) * 30 / 127, 1e-5f);
        ck_assert_float_eq(y[2 * BLOCK + i], 0);
        ck_assert_float_nan(y[3 * BLOCK + i]);
    }
    ck_assert_float_eq_tol(y[2 * BLOCK - 1], 30, 1e-5f);
    nn_close(&room);
}
END_TEST

START_TEST(extreme_numbers_follow_the_definition)
{
    enum { N = 40 };
    NN_EACH_TILED(isa)
    {
        ck_assert_float_eq(multiply_equal(isa, 4, (float[]){INFINITY, 1}, 2, N, 9, 8), INFINITY);
        ck_assert_float_eq(multiply_equal(isa, 4, (float[]){1, -INFINITY}, 2, N, 9, 8), -INFINITY);
        ck_assert_float_nan(multiply_equal(isa, 4, (float[]){INFINITY, 1}, 2, N, 8, 8));
        ck_assert_float_nan(multiply_equal(isa, 4, (float[]){INFINITY, -INFINITY}, 2, N, 9, 8));
        ck_assert_float_nan(multiply_equal(isa, 4, (float[]){1, NAN}, 2, N, 9, 8));
        ck_assert_float_eq(multiply_equal(isa, 4, (float[]){0, -0.0f}, 2, N, 9, 8), 0);
        ck_assert_float_eq(multiply_equal(isa, 4, (float[]){0x1p127f, 0}, 2, N, 9, 8), 0x1p127f);
        ck_assert_float_eq(multiply_equal(isa, 4, (float[]){0x1p127f, -0x1p127f}, 2, N, 15, 0), 0);
        ck_assert_float_eq(multiply_equal(isa, 4, (float[]){0x1p-104f, 0}, 2, N, 9, 8), 0x1p-104f);
    }
}
END_TEST

START_TEST(blocks_divide_what_shares_a_scale)
{
    static const int rows[][3] = {
        // k, rows that share a scale, block
        {4096, 32, 32}, {4096, 128, 128}, {4096, 256, 128}, {4096, 4096, 128},
        {300, 48, 48},  {300, 144, 48},   {300, 300, 128},  {20, 20, 32},
        {1, 1, 16},     {0, 0, 16},       {300, 8, 0},      {300, 100, 0},
    };
    for (size_t i = 0; i < NN_LEN(rows); i++)
        ck_assert_int_eq(tl_lowbit_block(rows[i][0], rows[i][1]), rows[i][2]);
}
END_TEST

// Whether a matrix of one column is packed with binary16: its scales are 1 but for `x` in row `at`.
static int packs_halves(float x, int at)
{
    enum { K = 64, BLOCK = 16 };
    nn_room room = {.seed = 1};
    product p = {.k = K, .n = 1, .scale_block = BLOCK};
    p.param = (tl_lowbit_param){.bits = 4, .block = BLOCK};
    p.weight = nn_random(&room, TL_UINT8, 2, (int[]){K, 1}, 0, 15);
    p.scale = nn_given(&room, TL_FLOAT, 2, (int[]){K / BLOCK, 1}, (double[]){1, 1, 1, 1});
    ((float *)p.scale->data)[at] = x;
    p.packed = blank_packed(&room, &p);
    ck_assert_int_eq(pack(NULL, &p), 0);
    const int has_halves = ((const uint8_t *)p.packed->data)[0];
    nn_close(&room);
    return has_halves;
}

START_TEST(scales_become_binary16_where_that_changes_none)
{
    static const float halves[] = {0.0f, -0.0f, 0x1p-24f, 1023 * 0x1p-24f, -0x1p-14f, 65504.0f};
    static const float floats[] = {0x1p-25f,  0x1.8p-24f, 1 + 0x1p-11f, 65505.0f,     65536.0f,
                                   0x1p-149f, INFINITY,   NAN,          0x1.002p-14f, -0x1p127f};
    for (size_t i = 0; i < NN_LEN(halves); i++)
        ck_assert(packs_halves(halves[i], (int)i % 4));
    for (size_t i = 0; i < NN_LEN(floats); i++)
        ck_assert(!packs_halves(floats[i], (int)i % 4));
    for (unsigned i = 0; i < 0x10000; i++) { // all of binary16 but infinities and NaN
        const float x = tl_half_to_float((uint16_t)i);
        ck_assert(packs_halves(x, 0) == !!isfinite(x));
    }
}
END_TEST

// The head of packed weights comes from files: any byte leaves reads within them.
START_TEST(any_head_is_read_within_the_weights)
{
    static const uint8_t heads[] = {0, 1, 2, 255};
    for (size_t i = 0; i < NN_LEN(heads) * 2; i++) {
        nn_room room = {.seed = 2};
        product p = random_product_of(&room, 1, 1, 100, 70);
        if (i % 2)
            round_scales(p.scale);
        ck_assert_int_eq(pack(NULL, &p), 0);
        const size_t size = (size_t)p.packed->len;
        ln_guard guard, scratch_guard;
        uint8_t *const copy = ln_guard_alloc(&guard, size);
        memcpy(copy, p.packed->data, size);
        copy[0] = heads[i / 2];
        void *const own = p.packed->data;
        p.packed->data = copy;
        tl_tensor *const dst = nn_blank(&room, TL_FLOAT, 3, (int[]){1, 1, 70});
        const size_t scratch = tl_lowbit_matmul_scratch(p.src, p.n, &p.param, 1);
        const tl_exec exec = {NULL, ln_guard_alloc(&scratch_guard, scratch), scratch, tl_isa_best(),
                              NULL};
        ck_assert_int_eq(tl_exec_lowbit_matmul(&exec, p.src, p.packed, p.bias, dst, &p.param), 0);
        ck_assert(ln_guard_is_intact(&guard) && ln_guard_is_intact(&scratch_guard));
        p.packed->data = own;
        ln_guard_free(&scratch_guard);
        ln_guard_free(&guard);
        nn_close(&room);
    }
}
END_TEST

// A caller may replace scales: the memory of binary16 gets floats, and back.
START_TEST(packing_again_leaves_nothing_behind)
{
    for (uint64_t seed = 1; seed <= 40; seed++) {
        nn_room room = {.seed = seed};
        product p = random_product_of(&room, 1, 1, 80, 50);
        tl_tensor *const again = p.packed, *const fresh = blank_packed(&room, &p);
        for (int i = 0; i < 3; i++) {
            for (int k = 0; k < p.scale->len; k++)
                ((float *)p.scale->data)[k] = i == 1 ? 0.1f * (float)(k + 1) : 0.25f * (float)k;
            p.packed = again;
            ck_assert_int_eq(pack(NULL, &p), 0);
            ck_assert_int_eq(((const uint8_t *)again->data)[0], i != 1);
            p.packed = fresh;
            memset(fresh->data, 0xff, tl_tensor_size(fresh));
            ck_assert_int_eq(pack(NULL, &p), 0);
            ck_assert_mem_eq(again->data, fresh->data, tl_tensor_size(fresh));
        }
        nn_close(&room);
    }
}
END_TEST

START_TEST(packing_rejects_zero_points_below_the_range)
{
    nn_room room = {.seed = 1};
    product p = {.k = 2, .n = 1, .scale_block = 2};
    p.param = (tl_lowbit_param){.bits = 4, .block = 16, .has_zeros = 1};
    p.weight = nn_given(&room, TL_INT8, 2, (int[]){2, 1}, (double[]){1, -8});
    p.scale = nn_given(&room, TL_FLOAT, 1, (int[]){1}, (double[]){1});
    p.packed = blank_packed(&room, &p);
    p.zero = nn_given(&room, TL_INT8, 1, (int[]){1}, (double[]){-8});
    ck_assert_int_eq(pack(NULL, &p), 0);
    p.zero = nn_given(&room, TL_INT8, 1, (int[]){1}, (double[]){-9});
    ck_assert_int_eq(pack(NULL, &p), -1);
    ck_assert_str_eq(tl_last_error(), "element 0 of 'zero' is -9, expected -8 to 127");
    nn_close(&room);
}
END_TEST

// The scratch memory of a source of `rows` rows.
static size_t scratch_of(int rows, int k, int n, int threads)
{
    const tl_lowbit_param param = {.bits = 4, .block = tl_lowbit_block(k, 16)};
    int dims[] = {rows, k};
    const tl_tensor src = {.ndim = 2, .dims = dims, .len = rows * k, .dtype = TL_FLOAT};
    return tl_lowbit_matmul_scratch(&src, n, &param, threads);
}

START_TEST(memory_for_many_rows_serves_fewer)
{
    static const int max[] = {3, 64, 65, 300, 2000};
    for (size_t i = 0; i < NN_LEN(max); i++)
        for (int rows = 1; rows <= max[i]; rows++)
            for (int threads = 1; threads <= 2; threads++)
                ck_assert_uint_le(scratch_of(rows, 512, 100, threads),
                                  scratch_of(max[i], 512, 100, threads));
}
END_TEST

static void check_unpacked(tl_dtype dtype, int bits, int n, const double *expected)
{
    nn_room room = {.seed = 1};
    tl_tensor *const src = nn_given(&room, TL_UINT8, 1, (int[]){2}, (double[]){0x81, 0x2f});
    tl_tensor *const dst = nn_blank(&room, dtype, 1, &n);
    ck_assert_int_eq(tl_exec_lowbit_unpack(NULL, src, dst, bits), 0);
    for (int i = 0; i < n; i++)
        ck_assert_double_eq(nn_at(dst, (size_t)i), expected[i]);
    nn_close(&room);
}

START_TEST(elements_are_unpacked_from_the_lowest_bits_on)
{
    check_unpacked(TL_UINT8, 4, 3, (double[]){1, 8, 15});
    check_unpacked(TL_INT8, 4, 4, (double[]){1, -8, -1, 2});
    check_unpacked(TL_UINT8, 2, 7, (double[]){1, 0, 0, 2, 3, 3, 2});
    check_unpacked(TL_INT8, 2, 8, (double[]){1, 0, 0, -2, -1, -1, -2, 0});
}
END_TEST

LN_TEST_MAIN("lowbit", elements_are_unpacked_from_the_lowest_bits_on,
             products_agree_with_loops_of_doubles, kernels_give_the_bits_of_plain_c,
             large_products_agree_with_loops_of_doubles, sums_are_exact_where_16_bits_are_full,
             integers_of_8_bits_are_exact, blocks_are_rounded_to_8_bits,
             extreme_numbers_follow_the_definition, blocks_divide_what_shares_a_scale,
             scales_become_binary16_where_that_changes_none, any_head_is_read_within_the_weights,
             packing_again_leaves_nothing_behind, packing_rejects_zero_points_below_the_range,
             memory_for_many_rows_serves_fewer)
