// SPDX-License-Identifier: Apache-2.0
// Tests of 8-bit convolutions and products: random shapes, zero points and scales.

#include "kernel/conv_quantized/conv_quantized_test.h"

// A random one, of which at least one window fits.
static conv random_conv(nn_room *room)
{
    conv c = {.oh = -1, .ow = -1};
    while (c.oh < 1 || c.ow < 1) {
        const int group = between(room, 0, 1) ? 1 : between(room, 2, 9);
        const int is_whole = between(room, 0, 3) == 0; // groups of whole blocks
        const int blocks = group == 1 ? 12 : 4, max = group == 1 ? 40 : 12;
        c = (conv){between(room, 1, 2),
                   between(room, 1, 7),
                   between(room, 1, between(room, 0, 7) ? 19 : 70),
                   (is_whole ? between(room, 1, blocks) * TL_BLOCK : between(room, 1, max)) * group,
                   (is_whole ? between(room, 1, 3) * TL_BLOCK : between(room, 1, max)) * group,
                   between(room, 0, 2) == 0,
                   0,
                   0,
                   {.group = group}};
        for (int i = 0; i < 2; i++) {
            c.param.size[i] = between(room, 1, 4);
            c.param.stride[i] = between(room, 1, 3);
            c.param.dilation[i] = between(room, 1, 2);
            c.param.padding[i] = between(room, 0, 2);
            c.param.padding[2 + i] = between(room, 0, 2);
        }
        c.oh = length_of(&c, 0);
        c.ow = length_of(&c, 1);
    }
    return c;
}

static void run_conv(tl_isa isa, tl_pool *pool, uint64_t seed)
{
    nn_room room = {.seed = seed};
    const conv c = random_conv(&room);
    const int channels[] = {c.channels, c.outputs};
    const int *const size = c.param.size, group = c.param.group;
    const int dims[] = {c.is_transposed ? c.channels : c.outputs,
                        (c.is_transposed ? c.outputs : c.channels) / group, size[0], size[1]};
    layer l = random_layer(&room, 4, dims, c.outputs, isa);
    const tl_dtype dtype = random_results(&room, &l, c.outputs, !c.is_transposed);
    tl_tensor *const src = nn_random(
        &room, TL_UINT8, 5, (int[]){c.n, tl_blocks(c.channels), c.h, c.w, TL_BLOCK}, 0, 255);
    const int row = (int)tl_quantized_conv2d_packed(channels, &c.param, c.is_transposed);
    tl_tensor *const packed = nn_blank(&room, TL_INT8, 2, (int[]){tl_blocks(c.outputs), row});
    tl_tensor *const dst =
        nn_blank(&room, dtype, 5, (int[]){c.n, tl_blocks(c.outputs), c.oh, c.ow, TL_BLOCK});
    const int threads = tl_pool_size(pool);
    const size_t sums = l.q.weight_zero ? tl_quantized_conv2d_sums(src, dst, group) : 0;
    const size_t bytes =
        sums + tl_quantized_conv2d_scratch(src, dst, &c.param, channels, c.is_transposed, threads);
    void *const scratch = aligned_alloc(64, (bytes + 64) / 64 * 64);
    const tl_exec exec = {pool, scratch, bytes, isa, NULL};
    char what[80];
    snprintf(what, sizeof(what), "%s, %d threads, seed %d", tl_isa_name(isa), threads, (int)seed);
    ck_assert_int_eq(tl_exec_quantized_conv2d_pack(&exec, l.weight, l.bias, l.factor, l.addend,
                                                   packed, &c.param, c.is_transposed),
                     0);
    ck_assert_int_eq(tl_exec_quantized_conv2d(&exec, src, packed, dst, &c.param, channels,
                                              c.is_transposed, &l.q),
                     0);
    check_conv(&c, &l, src, dst, what);
    free(scratch);
    nn_close(&room);
}

// Products

static void run_matmul(tl_isa isa, tl_pool *pool, uint64_t seed)
{
    nn_room room = {.seed = seed};
    const int m = between(&room, 1, 40), n = between(&room, 1, 70);
    const int k = between(&room, 0, 9) ? between(&room, 1, 300) : 0;
    const int is_transposed = between(&room, 0, 1), has_both = between(&room, 0, 1);
    const int dims[] = {2, is_transposed ? n : k, is_transposed ? k : n};
    layer l = random_layer(&room, 2 + has_both, dims + 1 - has_both, n, isa);
    const tl_dtype dtype = random_results(&room, &l, n, 1);
    tl_tensor *const src = nn_random(&room, TL_UINT8, 3, (int[]){2, m, k}, 0, 255);
    const int row = (int)tl_quantized_matmul_packed(k);
    const int blocks[] = {2, tl_blocks(n), row};
    tl_tensor *const packed = nn_blank(&room, TL_INT8, 2 + has_both, blocks + 1 - has_both);
    tl_tensor *const dst = nn_blank(&room, dtype, 3, (int[]){2, m, n});
    const int threads = tl_pool_size(pool);
    const size_t sums = l.q.weight_zero ? tl_quantized_matmul_sums(dst) : 0;
    const size_t bytes = sums + tl_quantized_matmul_scratch(src, dst, threads);
    void *const scratch = aligned_alloc(64, (bytes + 64) / 64 * 64);
    const tl_exec exec = {pool, scratch, bytes, isa, NULL};
    char what[80];
    snprintf(what, sizeof(what), "%s, %d threads, seed %d", tl_isa_name(isa), threads, (int)seed);
    ck_assert_int_eq(tl_exec_quantized_matmul_pack(&exec, l.weight, l.bias, l.factor, l.addend,
                                                   packed, is_transposed),
                     0);
    ck_assert_int_eq(tl_exec_quantized_matmul(&exec, src, packed, dst, &l.q), 0);
    const uint8_t *const a = src->data;
    for (int i = 0; i < 2 * m; i++)
        for (int j = 0; j < n; j++) {
            const int8_t *const b = (const int8_t *)l.weight->data + (has_both ? i / m * k * n : 0);
            int64_t sum = 0;
            for (int x = 0; x < k; x++)
                sum += (int64_t)(a[i * k + x] - l.q.zero) *
                       (b[is_transposed ? j * k + x : x * n + j] - weight_zero(&l, j));
            check(dst, (size_t)i * n + j, expected(&l, sum, j, dst->dtype), what);
        }
    free(scratch);
    nn_close(&room);
}

// Packed weights

START_TEST(all_bytes_of_packed_weights_are_written)
{
    nn_room room = {.seed = 5};
    const int channels[] = {100, 80}; // groups of 20 and 16: rows of 32 channels, the others of 48
    const tl_conv2d_param param = {
        .group = 5, .size = {3, 3}, .stride = {1, 1}, .dilation = {1, 1}};
    tl_tensor *const weight = nn_random(&room, TL_INT8, 4, (int[]){80, 20, 3, 3}, -128, 127);
    const int row = (int)tl_quantized_conv2d_packed(channels, &param, 0);
    tl_tensor *const packed[] = {nn_blank(&room, TL_INT8, 2, (int[]){5, row}),
                                 nn_blank(&room, TL_INT8, 2, (int[]){5, row})};
    for (int i = 0; i < 2; i++) {
        memset(packed[i]->data, i ? 0x55 : 0xAA, 5 * (size_t)row);
        tl_exec_quantized_conv2d_pack(NULL, weight, NULL, NULL, NULL, packed[i], &param, 0);
    }
    ck_assert_mem_eq(packed[0]->data, packed[1]->data, 5 * (size_t)row);
    nn_close(&room);
}
END_TEST

// Numbers that are no ordinary ones

// Rows of one element by one row, 127 * 200: sums are 25,400 before factors.
static void check_rows(tl_isa isa, int rows, float factor, float addend, tl_quantized_param q,
                       int expect)
{
    nn_room room = {.seed = 1};
    int8_t w = 127;
    enum { COLUMNS = 16, MAX_ROWS = 17 }; // a whole block: kernels have separate code for less
    tl_tensor *const src = nn_blank(&room, TL_UINT8, 2, (int[]){rows, 1});
    tl_tensor *const weight = nn_blank(&room, TL_INT8, 2, (int[]){1, COLUMNS});
    tl_tensor *const factors = nn_blank(&room, TL_FLOAT, 1, (int[]){1});
    tl_tensor *const addends = nn_blank(&room, TL_FLOAT, 1, (int[]){COLUMNS});
    tl_tensor *const packed =
        nn_blank(&room, TL_INT8, 2, (int[]){1, (int)tl_quantized_matmul_packed(1)});
    tl_tensor *const dst = nn_blank(&room, TL_UINT8, 2, (int[]){rows, COLUMNS});
    memset(weight->data, w, COLUMNS);
    memset(src->data, 200, (size_t)rows);
    *(float *)factors->data = factor;
    for (int i = 0; i < COLUMNS; i++)
        ((float *)addends->data)[i] = addend;
    _Alignas(64) char scratch[64 * MAX_ROWS];
    const tl_exec exec = {.isa = isa, .scratch = scratch, .scratch_size = sizeof(scratch)};
    ck_assert_int_eq(
        tl_exec_quantized_matmul_pack(&exec, weight, NULL, factors, addends, packed, 0), 0);
    ck_assert_int_eq(tl_exec_quantized_matmul(&exec, src, packed, dst, &q), 0);
    for (int i = 0; i < rows * COLUMNS; i++)
        ck_assert_msg(((uint8_t *)dst->data)[i] == expect, "%s, %g, %g: %d, expected %d",
                      tl_isa_name(isa), factor, addend, ((uint8_t *)dst->data)[i], expect);
    nn_close(&room);
}

static void check_one(tl_isa isa, float factor, float addend, tl_quantized_param q, int expect)
{
    check_rows(isa, 1, factor, addend, q, expect);
    check_rows(isa, 17, factor, addend, q, expect); // more than a tile
}

START_TEST(results_saturate_and_nan_becomes_the_lowest)
{
    const tl_quantized_param q = {.scale = 1, .dst_factor = 1, .dst_zero = 10};
    tl_quantized_param relu = q, tenth = q;
    relu.act = (tl_activation){TL_ACT_RELU, 0, 0};
    tenth.dst_factor = 0.1f;
    NN_EACH_TILED(isa)
    {
        check_one(isa, 1, 0, q, 255);
        check_one(isa, -1, 0, q, 0);
        check_one(isa, 1e30f, 0, q, 255); // beyond all integers
        check_one(isa, -1e30f, 0, q, 0);
        check_one(isa, INFINITY, 0, q, 255);
        check_one(isa, -INFINITY, 0, q, 0);
        check_one(isa, NAN, 0, q, 0);
        check_one(isa, INFINITY, -INFINITY, q, 0);
        check_one(isa, 0, NAN, relu, 0);
        check_one(isa, -1, 0, relu, 10);
        check_one(isa, 1e30f, 0, tenth, 255);
        check_one(isa, 0, 2.5f, q, 12); // ties to even
        check_one(isa, 0, 3.5f, q, 14);
        check_one(isa, 0, -2.5f, q, 8);
        check_one(isa, 0, 244.5f, q, 254);
        check_one(isa, 0, 245.5f, q, 255);
        check_one(isa, 0, -10.5f, q, 0);
        check_one(isa, 0, 25, tenth, 12); // 2.5, as a float
    }
}
END_TEST

START_TEST(sums_are_exact_where_16_bits_would_saturate)
{
    NN_EACH_TILED(isa)
    {
        nn_room room = {.seed = 3};
        enum { ROWS = 5, K = 4096, COLUMNS = 17 };
        tl_tensor *const src = nn_blank(&room, TL_UINT8, 2, (int[]){ROWS, K});
        tl_tensor *const weight = nn_blank(&room, TL_INT8, 2, (int[]){K, COLUMNS});
        tl_tensor *const packed =
            nn_blank(&room, TL_INT8, 2, (int[]){2, (int)tl_quantized_matmul_packed(K)});
        tl_tensor *const dst = nn_blank(&room, TL_FLOAT, 2, (int[]){ROWS, COLUMNS});
        memset(src->data, 255, ROWS * K);
        memset(weight->data, -128, (size_t)K * COLUMNS);
        _Alignas(64) char scratch[ROWS * 2 * K]; // some kernels read words
        ck_assert_uint_le(tl_quantized_matmul_scratch(src, dst, 1), sizeof(scratch));
        const tl_exec exec = {.isa = isa, .scratch = scratch, .scratch_size = sizeof(scratch)};
        const tl_quantized_param q = {.scale = 1, .dst_factor = 1};
        tl_exec_quantized_matmul_pack(&exec, weight, NULL, NULL, NULL, packed, 0);
        ck_assert_int_eq(tl_exec_quantized_matmul(&exec, src, packed, dst, &q), 0);
        for (int i = 0; i < ROWS * COLUMNS; i++)
            ck_assert_double_eq(nn_at(dst, (size_t)i), -128.0 * 255 * K);
        nn_close(&room);
    }
}
END_TEST

START_TEST(sums_of_rows_are_exact_where_16_bits_would_overflow)
{
    enum { ROWS = 5, K = 5003, COLUMNS = 17 };
    NN_EACH_TILED(isa)
    {
        nn_room room = {.seed = 6};
        tl_tensor *const src = nn_blank(&room, TL_UINT8, 2, (int[]){ROWS, K});
        tl_tensor *const weight = nn_blank(&room, TL_INT8, 2, (int[]){K, COLUMNS});
        tl_tensor *const zero = nn_blank(&room, TL_INT8, 1, (int[]){1});
        tl_tensor *const packed =
            nn_blank(&room, TL_INT8, 2, (int[]){2, (int)tl_quantized_matmul_packed(K)});
        tl_tensor *const dst = nn_blank(&room, TL_INT32, 2, (int[]){ROWS, COLUMNS});
        memset(src->data, 255, ROWS * K);
        memset(weight->data, 127, (size_t)K * COLUMNS);
        *(int8_t *)zero->data = -128;
        _Alignas(64) char scratch[ROWS * 2 * 5120 + 64];
        const size_t size =
            tl_quantized_matmul_sums(dst) + tl_quantized_matmul_scratch(src, dst, 1);
        ck_assert_uint_le(size, sizeof(scratch));
        const tl_exec exec = {.isa = isa, .scratch = scratch, .scratch_size = size};
        const tl_quantized_param q = {.scale = 1, .dst_factor = 1, .weight_zero = zero};
        tl_exec_quantized_matmul_pack(&exec, weight, NULL, NULL, NULL, packed, 0);
        ck_assert_int_eq(tl_exec_quantized_matmul(&exec, src, packed, dst, &q), 0);
        for (int i = 0; i < ROWS * COLUMNS; i++)
            ck_assert_double_eq(nn_at(dst, (size_t)i), 255.0 * 255 * K);
        const tl_exec less = {.isa = isa, .scratch = scratch, .scratch_size = 63};
        ck_assert_int_eq(tl_exec_quantized_matmul(&less, src, packed, dst, &q), -1);
        nn_close(&room);
    }
}
END_TEST

START_TEST(scratch_memory_of_a_product_is_enough_for_fewer_rows)
{
    enum { ROWS = 300, K = 1024, COLUMNS = 3 };
    NN_EACH_TILED(isa)
    {
        nn_room room = {.seed = 4};
        tl_tensor *const weight = nn_blank(&room, TL_INT8, 2, (int[]){K, COLUMNS});
        tl_tensor *const packed =
            nn_blank(&room, TL_INT8, 2, (int[]){1, (int)tl_quantized_matmul_packed(K)});
        tl_tensor *const max = nn_blank(&room, TL_UINT8, 2, (int[]){ROWS, K});
        tl_tensor *const max_dst = nn_blank(&room, TL_UINT8, 2, (int[]){ROWS, COLUMNS});
        const size_t size = tl_quantized_matmul_scratch(max, max_dst, 1);
        const tl_exec exec = {
            .isa = isa, .scratch = aligned_alloc(64, (size + 63) / 64 * 64), .scratch_size = size};
        const tl_quantized_param q = {.scale = 1, .dst_factor = 1};
        tl_exec_quantized_matmul_pack(&exec, weight, NULL, NULL, NULL, packed, 0);
        for (int rows = 1; rows <= ROWS; rows++) {
            tl_tensor src = *max, dst = *max_dst;
            src.dims = (int[]){rows, K};
            dst.dims = (int[]){rows, COLUMNS};
            src.len = rows * K;
            dst.len = rows * COLUMNS;
            if (tl_exec_quantized_matmul(&exec, &src, packed, &dst, &q) < 0)
                ck_abort_msg("%d rows need more scratch memory", rows);
        }
        free(exec.scratch);
        nn_close(&room);
    }
}
END_TEST

typedef void run_func(tl_isa isa, tl_pool *pool, uint64_t seed);

// With one thread and with two.
static void try_set(tl_isa isa, run_func *run, int n)
{
    tl_pool *const pools[] = {NULL, tl_pool_create(2)};
    ck_assert_ptr_nonnull(pools[1]);
    for (int i = 0; i < n; i++)
        run(isa, pools[i >= n / 2], 1 + (uint64_t)i);
    tl_pool_free(pools[1]);
}

static void try_all(run_func *run, int n)
{
    NN_EACH_TILED(isa)
    try_set(isa, run, n);
    NN_CHECK_AMX();
}

START_TEST(convolutions_agree_with_64_bit_loops)
{
    try_all(run_conv, 1000);
}
END_TEST

START_TEST(products_agree_with_64_bit_loops)
{
    try_all(run_matmul, 1000);
}
END_TEST

LN_TEST_MAIN("quantized", convolutions_agree_with_64_bit_loops, products_agree_with_64_bit_loops,
             all_bytes_of_packed_weights_are_written, results_saturate_and_nan_becomes_the_lowest,
             sums_are_exact_where_16_bits_would_saturate,
             sums_of_rows_are_exact_where_16_bits_would_overflow,
             scratch_memory_of_a_product_is_enough_for_fewer_rows)
