// SPDX-License-Identifier: Apache-2.0
// Tests of the matrix product.

#include "kernel/matmul/matmul.h"

#include <pthread.h>

#include "kernel/tl_nn_test.h"

START_TEST(a_small_product_by_hand)
{
    // [1 2 3; 4 5 6] x [1 0; 0 1; 2 2] = [7 8; 16 17]; times 2 plus 3 * [1, 10]
    for (size_t k = 0; k < NN_LEN(nn_types); k++) {
        if (nn_types[k] == TL_BOOL)
            continue;
        nn_room room = {0};
        tl_tensor *const a =
            nn_given(&room, nn_types[k], 2, (int[]){2, 3}, (double[]){1, 2, 3, 4, 5, 6});
        tl_tensor *const b =
            nn_given(&room, nn_types[k], 2, (int[]){3, 2}, (double[]){1, 0, 0, 1, 2, 2});
        tl_tensor *const bias = nn_given(&room, nn_types[k], 1, (int[]){2}, (double[]){1, 10});
        const tl_matmul_param plain = {.alpha = 1}, scaled = {.alpha = 2, .beta = 3};
        tl_tensor *const dst = tl_tensor_matmul(a, b, NULL, NULL, &plain);
        nn_check_values(dst, (double[]){7, 8, 16, 17});
        ck_assert_ptr_eq(tl_tensor_matmul(a, b, bias, dst, &scaled), dst);
        nn_check_values(dst, (double[]){17, 46, 35, 64});
        tl_tensor_free_data_too(dst);
        nn_close(&room);
    }
}
END_TEST

// Against loops

// The index of element `at` [ndim of dst] of `t`, which is broadcast to it; its last two
// coordinates are given.
static int index_at(const tl_tensor *t, const tl_tensor *dst, const int *at, int row, int col,
                    int is_swapped)
{
    int coords[TL_MAXDIM];
    for (int i = 0; i < t->ndim; i++) {
        const int from_end = t->ndim - 1 - i;
        int c = at[dst->ndim - 1 - from_end];
        if (from_end < 2)
            c = (from_end == 0) != is_swapped ? col : row;
        coords[i] = t->dims[i] == 1 ? 0 : c;
    }
    return tl_tensor_index(t, coords);
}

static double value_at(const tl_tensor *t, const tl_tensor *dst, const int *at, int row, int col)
{
    return t ? nn_at(t, (size_t)index_at(t, dst, at, row, col, 0)) : 0;
}

typedef struct product {
    const tl_tensor *src1, *src2, *bias, *zero1, *zero2;
    tl_matmul_param param;
} product;

// Elements that are multiplied with those of another line.
typedef struct line {
    const tl_tensor *t;
    int first, step;
    double zero;
} line;

static double nth(const line *l, int j)
{
    return nn_at(l->t, (size_t)(l->first + j * l->step)) - l->zero;
}

// A row of the first source, or a column of the second.
static line row_of(const product *p, const tl_tensor *dst, const int *at)
{
    const int row = at[dst->ndim - 2], swap = p->param.trans1;
    const int first = index_at(p->src1, dst, at, row, 0, swap);
    return (line){p->src1, first, index_at(p->src1, dst, at, row, 1, swap) - first,
                  value_at(p->zero1, dst, at, row, 0)};
}

static line column_of(const product *p, const tl_tensor *dst, const int *at)
{
    const int col = at[dst->ndim - 1], swap = p->param.trans2;
    const int first = index_at(p->src2, dst, at, 0, col, swap);
    return (line){p->src2, first, index_at(p->src2, dst, at, 1, col, swap) - first,
                  value_at(p->zero2, dst, at, 0, col)};
}

static void check_product(const product *p, const tl_tensor *dst)
{
    const int k = p->src1->dims[p->src1->ndim - (p->param.trans1 ? 2 : 1)];
    for (int i = 0; i < dst->len; i++) {
        int at[TL_MAXDIM];
        tl_tensor_coords(dst, i, at);
        const line a = k ? row_of(p, dst, at) : (line){0},
                   b = k ? column_of(p, dst, at) : (line){0};
        double sum = 0, magnitude = 0;
        for (int j = 0; j < k; j++) {
            const double term = nth(&a, j) * nth(&b, j);
            sum += term;
            magnitude += fabs(term);
        }
        sum *= p->param.alpha;
        if (p->bias)
            sum += p->param.beta * value_at(p->bias, dst, at, at[dst->ndim - 2], at[dst->ndim - 1]);
        magnitude = fabs(p->param.alpha) * magnitude + fabs(sum);
        nn_check_near(
            dst, (size_t)i, sum,
            tl_dtype_is_float(dst->dtype) ? nn_tolerance(dst->dtype, k + 3, magnitude, sum) : 0);
    }
}

// m, n, k around tiles and blocks.
static const int sizes[][3] = {{1, 1, 1}, {1, 7, 5},    {1, 130, 129}, {3, 9, 131},  {4, 8, 128},
                               {5, 9, 3}, {65, 129, 2}, {64, 128, 1},  {7, 17, 257}, {67, 31, 130}};

static void check_sizes(tl_dtype dtype, const int *size, int trans1, int trans2)
{
    const int m = size[0], n = size[1], k = size[2];
    // The lower bits of the sums of narrow integers must be theirs: their elements are small.
    const double max = tl_size_of(dtype) == 1 ? 0.6 : 2;
    nn_room room = {.seed = (uint64_t)(m + n + k)};
    product p = {.param = {trans1, trans2, 1, 1}};
    p.src1 = nn_random(&room, dtype, 2, (int[]){trans1 ? k : m, trans1 ? m : k}, -max, max);
    p.src2 = nn_random(&room, dtype, 2, (int[]){trans2 ? n : k, trans2 ? k : n}, -max, max);
    p.bias = nn_random(&room, dtype, 2, (int[]){n % 2 ? m : 1, n}, -max, max);
    tl_tensor *const dst = nn_blank(&room, dtype, 2, (int[]){m, n});
    ck_assert_ptr_eq(tl_tensor_matmul(p.src1, p.src2, p.bias, dst, &p.param), dst);
    check_product(&p, dst);
    nn_close(&room);
}

START_TEST(every_size_type_and_transposition_agrees_with_loops)
{
    for (size_t t = 0; t < NN_LEN(nn_types); t++)
        for (size_t i = 0; i < NN_LEN(sizes) && nn_types[t] != TL_BOOL; i++)
            for (int trans = 0; trans < 4; trans++)
                if (nn_types[t] == TL_FLOAT || (i + t + (size_t)trans) % 4 == 0)
                    check_sizes(nn_types[t], sizes[i], trans % 2, trans / 2);
}
END_TEST

// Every instruction set

static void run_matmul(const tl_exec *exec, tl_tensor *dst, void *arg)
{
    const product *const p = arg;
    tl_exec_matmul(exec, p->src1, p->src2, p->bias, dst, &p->param);
}

// The bias of a product: none, a number, for each column, for each row, for each element.
static tl_tensor *bias_of_kind(nn_room *room, int kind, int m, int n)
{
    const int dims[][2] = {{1, 1}, {1, n}, {m, 1}, {m, n}};
    return kind == 0 ? NULL : nn_random(room, TL_FLOAT, 2, dims[kind - 1], -1, 1);
}

static void check_floats(tl_isa isa, int m, int n, int k, int variant)
{
    const int trans1 = variant % 2, trans2 = variant / 2 % 2;
    nn_room room = {.seed = (uint64_t)(m * n + k)};
    product p = {.param = {trans1, trans2, variant % 3 ? 1 : -0.5, variant % 3 == 1 ? 1 : 3}};
    p.src1 = nn_random(&room, TL_FLOAT, 2, (int[]){trans1 ? k : m, trans1 ? m : k}, -1, 1);
    p.src2 = nn_random(&room, TL_FLOAT, 2, (int[]){trans2 ? n : k, trans2 ? k : n}, -1, 1);
    p.bias = bias_of_kind(&room, variant % 5, m, n);
    tl_tensor *const dst = nn_blank(&room, TL_FLOAT, 2, (int[]){m, n});
    const tl_exec exec = {.isa = isa};
    tl_exec_matmul(&exec, p.src1, p.src2, p.bias, dst, &p.param);
    check_product(&p, dst);
    nn_close(&room);
}

START_TEST(every_tail_agrees_at_every_instruction_set)
{
    static const int ms[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 29, 57};
    static const int ns[] = {1, 2, 8, 9, 15, 16, 17, 31, 32, 33, 48, 49, 97};
    static const int ks[] = {1, 3, 4, 7, 8, 15, 16, 17, 33, 65};
    TL_ISA_EACH_USABLE (isa)
        for (size_t i = 0, variant = 0; i < NN_LEN(ms); i++)
            for (size_t j = 0; j < NN_LEN(ns); j++, variant += 7) // all variants in turn
                check_floats(isa, ms[i], ns[j], ks[(i + 3 * j) % NN_LEN(ks)], (int)(variant % 60));
}
END_TEST

// Large matrices

static int threads_of(const tl_exec *exec)
{
    return tl_pool_size(exec ? exec->pool : NULL);
}

// exec with `size` bytes of scratch memory, and one after them that must not be written.
static tl_exec open_scratch(const tl_exec *exec, size_t size)
{
    tl_exec with = exec ? *exec : (tl_exec){.isa = tl_isa_best()};
    char *const scratch = aligned_alloc(64, (size + 127) / 64 * 64);
    ck_assert_ptr_nonnull(scratch);
    scratch[size] = 77;
    with.scratch = scratch;
    with.scratch_size = size;
    return with;
}

static void close_scratch(const tl_exec *with)
{
    ck_assert_int_eq(((char *)with->scratch)[with->scratch_size], 77);
    free(with->scratch);
}

// A product with the scratch memory that it asks for, which it does not leave.
static void run_with_scratch(const tl_exec *exec, tl_tensor *dst, void *arg)
{
    const product *const p = arg;
    const tl_exec with = open_scratch(
        exec, tl_matmul_scratch(p->src1, p->src2, p->bias, dst, &p->param, threads_of(exec)));
    ck_assert(with.scratch_size > 0);
    tl_exec_matmul(&with, p->src1, p->src2, p->bias, dst, &p->param);
    close_scratch(&with);
}

// Without and with scratch memory, on one thread and on three: the same bits, and right where it
// is looked at.
static void check_large(const tl_exec *exec, int m, int n, int k, int trans1, int trans2)
{
    nn_room room = {.seed = (uint64_t)(m * n + k)};
    product p = {.param = {trans1, trans2, 1, 1}};
    p.src1 = nn_random(&room, TL_FLOAT, 2, (int[]){trans1 ? k : m, trans1 ? m : k}, -1, 1);
    p.src2 = nn_random(&room, TL_FLOAT, 2, (int[]){trans2 ? n : k, trans2 ? k : n}, -1, 1);
    tl_tensor *const bare = nn_blank(&room, TL_FLOAT, 2, (int[]){m, n});
    tl_tensor *const dst = nn_blank(&room, TL_FLOAT, 2, (int[]){m, n});
    run_matmul(exec, bare, &p);
    run_with_scratch(exec, dst, &p);
    ck_assert_int_eq(memcmp(bare->data, dst->data, tl_tensor_size(dst)), 0);
    if (exec->isa == tl_isa_best())
        nn_check_threads(run_with_scratch, dst, &p);
    for (size_t i = 0; i < (size_t)dst->len; i += 997) {
        const size_t row = i / (size_t)n, col = i % (size_t)n;
        double sum = 0, magnitude = 0;
        for (size_t j = 0; j < (size_t)k; j++) {
            const double a = nn_at(p.src1, trans1 ? j * (size_t)m + row : row * (size_t)k + j);
            const double b = nn_at(p.src2, trans2 ? col * (size_t)k + j : j * (size_t)n + col);
            sum += a * b;
            magnitude += fabs(a * b);
        }
        nn_check_near(dst, i, sum, nn_tolerance(TL_FLOAT, k + 3, magnitude, sum));
    }
    nn_close(&room);
}

START_TEST(groups_of_rows_and_scratch_memory_change_no_bit)
{
    // Several groups, several parts of the sum; copied where rows are 1024 apart or transposed.
    static const int shapes[][3] = {{300, 70, 600}, {250, 100, 1024}, {1024, 65, 130}};
    NN_EACH_ISA(exec)
    for (size_t i = 0; exec.isa != TL_ISA_C && i < NN_LEN(shapes); i++)
        for (int trans = 0; trans < 4; trans++)
            check_large(&exec, shapes[i][0], shapes[i][1], shapes[i][2], trans % 2, trans / 2);
}
END_TEST

START_TEST(scratch_memory_is_asked_for_where_it_helps)
{
    nn_room room = {0};
    tl_tensor *const a = nn_blank(&room, TL_FLOAT, 2, (int[]){1024, 1024});
    tl_tensor *const b = nn_blank(&room, TL_FLOAT, 2, (int[]){1024, 192});
    tl_tensor *const dst = nn_blank(&room, TL_FLOAT, 2, (int[]){1024, 192});
    tl_tensor *const row = nn_blank(&room, TL_FLOAT, 2, (int[]){1, 1024});
    tl_tensor *const few = nn_blank(&room, TL_FLOAT, 2, (int[]){1, 192});
    tl_tensor *const i = nn_blank(&room, TL_INT32, 2, (int[]){1024, 192});
    const tl_matmul_param one = {.alpha = 1};
    // A copy of a group of strips, since rows are 1024 apart, and all panels of a part of the sum.
    ck_assert_uint_eq(tl_matmul_scratch(a, b, NULL, dst, &one, 1), (80 * 1024 + 192 * 512) * 4);
    ck_assert_uint_eq(tl_matmul_packed_scratch(a, a, NULL, dst, &one, 1), 80 * 1024 * 4);
    ck_assert_uint_eq(tl_matmul_scratch(row, b, NULL, few, &one, 1), 0);
    ck_assert_uint_eq(tl_matmul_scratch(a, b, NULL, i, &one, 1), 0);
    nn_close(&room);
}
END_TEST

START_TEST(long_sums_and_wide_results_agree)
{
    // Parts of the sum, several blocks of columns, sums that few rows make at once.
    // 1024: rows that compete for the same places of the cache.
    static const int shapes[][3] = {{17, 40, 513}, {9, 33, 1100}, {15, 200, 520}, {16, 17, 1024},
                                    {1, 5000, 5},  {1, 9, 3000},  {7, 700, 34},   {8, 70, 600},
                                    {200, 1, 70},  {113, 31, 0},  {2, 3, 0}};
    TL_ISA_EACH_USABLE (isa)
        for (size_t i = 0; i < NN_LEN(shapes); i++)
            for (int variant = 0; variant < 4; variant++)
                check_floats(isa, shapes[i][0], shapes[i][1], shapes[i][2], variant + 4 * (int)i);
}
END_TEST

// Packed matrices

typedef struct packed_product {
    const tl_tensor *src1, *packed, *bias, *add;
    tl_matmul_param param;
    tl_activation act;
} packed_product;

static void run_packed(const tl_exec *exec, tl_tensor *dst, void *arg)
{
    const packed_product *const p = arg;
    const tl_exec with =
        open_scratch(exec, tl_matmul_packed_scratch(p->src1, p->packed, p->bias, dst, &p->param,
                                                    threads_of(exec)));
    tl_exec_matmul_packed(&with, p->src1, p->packed, p->bias, p->add, dst, &p->param, p->act);
    close_scratch(&with);
}

// The options of a packed product.
typedef struct packed_form {
    int trans1, trans2, bias_kind, has_add;
    double alpha, beta;
    tl_activation act;
} packed_form;

// The packed product is that of the same level, then the sum and the activation.
static void check_packed(tl_isa isa, const int *mnk, const packed_form *form)
{
    const int m = mnk[0], n = mnk[1], k = mnk[2], trans1 = form->trans1, trans2 = form->trans2;
    const int dims[] = {2, m, n};
    nn_room room = {.seed = (uint64_t)(m + n + k)};
    const tl_exec exec = {.isa = isa}, plain = {.isa = TL_ISA_C};
    packed_product p = {.param = {trans1, trans2, form->alpha, form->beta}, .act = form->act};
    p.src1 = nn_random(&room, TL_FLOAT, 3, (int[]){2, trans1 ? k : m, trans1 ? m : k}, -1, 1);
    tl_tensor *const src2 =
        nn_random(&room, TL_FLOAT, 2, (int[]){trans2 ? n : k, trans2 ? k : n}, -1, 1);
    p.bias = bias_of_kind(&room, form->bias_kind, m, n);
    p.add = form->has_add ? nn_random(&room, TL_FLOAT, 3, dims, -1, 1) : NULL;
    tl_tensor *const packed =
        nn_blank(&room, TL_FLOAT, 3, (int[]){tl_matmul_panels(n), k, TL_MATMUL_PANEL});
    tl_exec_matmul_pack(&exec, src2, packed, trans2);
    p.packed = packed;
    tl_tensor *const want = nn_blank(&room, TL_FLOAT, 3, dims);
    tl_tensor *const got = nn_blank(&room, TL_FLOAT, 3, dims);
    tl_exec_matmul(&plain, p.src1, src2, p.bias, want, &p.param);
    if (p.add)
        tl_exec_elew(&plain, want, p.add, want, TL_SUM);
    tl_exec_act(&plain, want, want, p.act);
    tl_exec_matmul_packed(&exec, p.src1, packed, p.bias, p.add, got, &p.param, p.act);
    for (size_t i = 0; i < (size_t)want->len; i++) // both sum at most k + 3 terms of at most 2
        nn_check_near(got, i, nn_at(want, i), 2 * nn_tolerance(TL_FLOAT, k + 3, k + 3, 2));
    run_packed(&exec, want, &p);
    ck_assert_int_eq(memcmp(want->data, got->data, tl_tensor_size(got)), 0);
    if (isa == tl_isa_best())
        nn_check_threads(run_packed, got, &p);
    nn_close(&room);
}

static const tl_activation packed_acts[] = {
    {TL_ACT_NONE}, {TL_ACT_RELU}, {TL_ACT_LRELU, 0.25f}, {TL_ACT_CLIP, -0.5f, 1.5f},
    {TL_ACT_TANH}, {TL_ACT_GELU}, {TL_ACT_SIGMOID}};

START_TEST(packed_matrices_agree_at_every_instruction_set)
{
    static const int shapes[][3] = {{1, 1, 1},   {1, 40, 33},    {9, 64, 17},   {13, 100, 530},
                                    {15, 31, 5}, {29, 33, 1024}, {113, 96, 64}, {6, 300, 0}};
    TL_ISA_EACH_USABLE (isa)
        for (size_t i = 0; i < NN_LEN(shapes); i++)
            for (int variant = 0; variant < 4; variant++) {
                const int v = variant + 4 * (int)i;
                check_packed(isa, shapes[i],
                             &(packed_form){v / 2 % 2, v % 2, v % 5, v % 4 != 0, v % 3 ? 1 : 0.5,
                                            v / 2 % 2 ? 1 : 2,
                                            packed_acts[v % NN_LEN(packed_acts)]});
            }
}
END_TEST

START_TEST(a_packed_product_supports_all_epilogues)
{
    // Whole panels and a part of one, in one part of the sum and in two.
    static const int shapes[][3] = {{1, 64, 7}, {15, 70, 33}, {16, 64, 520}};
    TL_ISA_EACH_USABLE (isa)
        for (size_t i = 0; i < NN_LEN(shapes); i++)
            for (size_t act = 0; act < NN_LEN(packed_acts); act++)
                for (int follows = 0; follows < 8; follows++)
                    check_packed(isa, shapes[i],
                                 &(packed_form){0, 0, follows % 2 ? 2 : 0, follows / 2 % 2, 1,
                                                follows / 4 + 1, packed_acts[act]});
}
END_TEST

// Pairs of bfloat16

// A copy whose numbers are rounded to bfloat16.
static tl_tensor *rounded(nn_room *room, const tl_tensor *src)
{
    tl_tensor *const dst = nn_blank(room, TL_FLOAT, src->ndim, src->dims);
    for (int i = 0; i < src->len; i++) {
        uint16_t bits;
        tl_convert(&bits, TL_BFLOAT16, (const float *)src->data + i, TL_FLOAT);
        tl_convert((float *)dst->data + i, TL_FLOAT, &bits, TL_BFLOAT16);
    }
    return dst;
}

static tl_tensor *packed_pairs(nn_room *room, const tl_exec *exec, const tl_tensor *src, int trans,
                               int k, int n)
{
    int dims[3];
    ck_assert_int_eq(tl_matmul_packed_dims(k, n, TL_BFLOAT16, dims), 0);
    tl_tensor *const packed = nn_blank(room, TL_BFLOAT16, 3, dims);
    tl_exec_matmul_pack(exec, src, packed, trans);
    return packed;
}

// The product of pairs is that of the rounded sources, whose terms are exact in floats; the sum,
// the bias and the rest are those of floats.
static void check_pairs(tl_isa isa, const int *mnk, const packed_form *form)
{
    const int m = mnk[0], n = mnk[1], k = mnk[2], trans2 = form->trans2, dims[] = {2, m, n};
    nn_room room = {.seed = (uint64_t)(m + n + k)};
    const tl_exec exec = {.isa = isa}, plain = {.isa = TL_ISA_C};
    packed_product p = {.param = {0, trans2, form->alpha, form->beta}, .act = form->act};
    p.src1 = nn_random(&room, TL_FLOAT, 3, (int[]){2, m, k}, -1, 1);
    tl_tensor *const src2 =
        nn_random(&room, TL_FLOAT, 2, (int[]){trans2 ? n : k, trans2 ? k : n}, -1, 1);
    p.bias = bias_of_kind(&room, form->bias_kind, m, n);
    p.add = form->has_add ? nn_random(&room, TL_FLOAT, 3, dims, -1, 1) : NULL;
    p.packed = packed_pairs(&room, &exec, src2, trans2, k, n);
    tl_tensor *const want = nn_blank(&room, TL_FLOAT, 3, dims);
    tl_tensor *const got = nn_blank(&room, TL_FLOAT, 3, dims);
    tl_exec_matmul(&plain, rounded(&room, p.src1), rounded(&room, src2), p.bias, want, &p.param);
    if (p.add)
        tl_exec_elew(&plain, want, p.add, want, TL_SUM);
    tl_exec_act(&plain, want, want, p.act);
    run_packed(&exec, got, &p);
    if (tl_isa_contains(isa, TL_ISA_AMXBF16) && p.act.act == TL_ACT_NONE) { // as in plain C
        tl_tensor *const tiles = nn_blank(&room, TL_FLOAT, 3, dims);
        run_packed(&(tl_exec){.isa = TL_ISA_TILES}, tiles, &p);
        ck_assert_int_eq(memcmp(got->data, tiles->data, tl_tensor_size(got)), 0);
    }
    for (size_t i = 0; i < (size_t)want->len; i++) // both sum at most k + 3 terms of at most 2
        nn_check_near(got, i, nn_at(want, i), 2 * nn_tolerance(TL_FLOAT, k + 3, k + 3, 2));
    if (isa == tl_isa_best())
        nn_check_threads(run_packed, got, &p);
    nn_close(&room);
}

START_TEST(pairs_of_bfloat16_agree_at_every_instruction_set)
{
    static const int shapes[][3] = {{1, 1, 1},    {1, 40, 33},    {9, 64, 17},   {13, 100, 1061},
                                    {15, 31, 5},  {29, 33, 2048}, {113, 96, 64}, {6, 300, 0},
                                    {28, 64, 32}, {14, 32, 31},   {197, 70, 191}};
    NN_EACH_TILED(isa)
    for (size_t i = 0; i < NN_LEN(shapes); i++)
        for (int variant = 0; variant < 4; variant++) {
            const int v = variant + 4 * (int)i;
            check_pairs(isa, shapes[i],
                        &(packed_form){0, v % 2, v % 5, v % 4 != 0, v % 3 ? 1 : 0.5,
                                       v / 2 % 2 ? 1 : 2, packed_acts[v % NN_LEN(packed_acts)]});
        }
    NN_CHECK_AMX();
}
END_TEST

START_TEST(pairs_keep_infinities_and_need_their_scratch_memory)
{
    nn_room room = {0};
    const tl_exec none = {.isa = tl_isa_best()};
    float memory[64];
    const tl_exec exec = {.isa = tl_isa_best(), .scratch = memory, .scratch_size = sizeof(memory)};
    const tl_matmul_param one = {.alpha = 1};
    const tl_activation act = {0};
    tl_tensor *const a =
        nn_given(&room, TL_FLOAT, 2, (int[]){2, 2}, (double[]){INFINITY, 1, 3e38, 2});
    tl_tensor *const b = nn_given(&room, TL_FLOAT, 2, (int[]){2, 2}, (double[]){1, 0, 2, -1});
    tl_tensor *const packed = packed_pairs(&room, &exec, b, 0, 2, 2);
    tl_tensor *const dst = nn_blank(&room, TL_FLOAT, 2, (int[]){2, 2});
    ck_assert_int_eq(tl_exec_matmul_packed(&none, a, packed, NULL, NULL, dst, &one, act), -1);
    ck_assert_str_eq(tl_last_error(), "a product in TL_BFLOAT16 needs 128 bytes of scratch memory, "
                                      "got 0");
    ck_assert_int_eq(tl_exec_matmul_packed(&exec, a, packed, NULL, NULL, dst, &one, act), 0);
    const float *const y = dst->data; // infinity times 0 is NaN
    ck_assert(y[0] == INFINITY && isnan(y[1]) && y[2] > 2.9e38f && y[3] == -2);
    ck_assert_int_eq(tl_matmul_packed_dims(3, 3, TL_INT8, (int[3]){0}), -1);
    nn_close(&room);
}
END_TEST

START_TEST(small_matrices_of_a_batch_agree)
{
    for (int variant = 0; variant < 4; variant++) {
        const int t1 = variant % 2, t2 = variant / 2;
        nn_room room = {.seed = 3};
        product p = {.param = {t1, t2, 0.125, 1}};
        p.src1 = nn_random(&room, TL_FLOAT, 4, (int[]){2, 3, t1 ? 7 : 50, t1 ? 50 : 7}, -1, 1);
        p.src2 = nn_random(&room, TL_FLOAT, 3, (int[]){3, t2 ? 37 : 7, t2 ? 7 : 37}, -1, 1);
        p.bias = nn_random(&room, TL_FLOAT, 4, (int[]){2, 1, 50, 37}, -1, 1);
        tl_tensor *const dst = nn_blank(&room, TL_FLOAT, 4, (int[]){2, 3, 50, 37});
        ck_assert_ptr_eq(tl_tensor_matmul(p.src1, p.src2, p.bias, dst, &p.param), dst);
        check_product(&p, dst);
        nn_check_threads(run_matmul, dst, &p);
        nn_close(&room);
    }
}
END_TEST

START_TEST(nan_and_infinity_stay_in_their_columns)
{
    TL_ISA_EACH_USABLE (isa)
        for (int m = 1; m < 20; m += 9) {
            nn_room room = {.seed = 4};
            tl_tensor *const a = nn_random(&room, TL_FLOAT, 2, (int[]){m, 21}, 1, 2);
            tl_tensor *const b = nn_random(&room, TL_FLOAT, 2, (int[]){21, 35}, 1, 2);
            tl_tensor *const dst = nn_blank(&room, TL_FLOAT, 2, (int[]){m, 35});
            const tl_exec exec = {.isa = isa};
            ((float *)b->data)[20 * 35 + 34] = NAN;
            ((float *)b->data)[3 * 35 + 1] = -INFINITY;
            tl_exec_matmul(&exec, a, b, NULL, dst, &(tl_matmul_param){.alpha = 1});
            for (int i = 0; i < dst->len; i++) {
                const double y = nn_at(dst, (size_t)i);
                ck_assert_int_eq(isnan(y), i % 35 == 34);
                ck_assert_int_eq(isinf(y) && y < 0, i % 35 == 1);
            }
            nn_close(&room);
        }
}
END_TEST

START_TEST(batches_broadcast)
{
    static const struct {
        int ndim1, dims1[5], ndim2, dims2[5], n_bias, bias[5], ndim, dims[5];
    } rows[] = {
        {3, {5, 2, 3}, 2, {3, 4}, 1, {4}, 3, {5, 2, 4}},
        {3, {5, 2, 3}, 2, {3, 4}, 3, {5, 1, 1}, 3, {5, 2, 4}},
        {4, {2, 1, 2, 3}, 3, {6, 3, 4}, 0, {0}, 4, {2, 6, 2, 4}},
        {3, {1, 2, 3}, 4, {2, 6, 3, 4}, 2, {2, 1}, 4, {2, 6, 2, 4}},
        {5, {2, 3, 1, 7, 3}, 3, {4, 3, 9}, 5, {2, 1, 4, 7, 9}, 5, {2, 3, 4, 7, 9}},
        {2, {2, 3}, 3, {5, 3, 1}, 0, {0}, 3, {5, 2, 1}},
        {3, {70, 1, 3}, 2, {3, 4}, 2, {1, 4}, 3, {70, 1, 4}},
    };
    for (size_t i = 0; i < NN_LEN(rows); i++) {
        nn_room room = {.seed = i};
        product p = {.param = {0, 0, 0.5, -2}};
        p.src1 = nn_random(&room, TL_FLOAT, rows[i].ndim1, rows[i].dims1, -1, 1);
        p.src2 = nn_random(&room, TL_FLOAT, rows[i].ndim2, rows[i].dims2, -1, 1);
        if (rows[i].n_bias)
            p.bias = nn_random(&room, TL_FLOAT, rows[i].n_bias, rows[i].bias, -1, 1);
        tl_tensor *const dst = nn_blank(&room, TL_FLOAT, rows[i].ndim, rows[i].dims);
        ck_assert_ptr_eq(tl_tensor_matmul(p.src1, p.src2, p.bias, dst, &p.param), dst);
        check_product(&p, dst);
        nn_close(&room);
    }
}
END_TEST

START_TEST(integers_wrap)
{
    nn_room room = {0};
    tl_tensor *const a = nn_given(&room, TL_INT32, 2, (int[]){1, 2}, (double[]){65536, 3});
    tl_tensor *const b = nn_given(&room, TL_INT32, 2, (int[]){2, 1}, (double[]){65536, -5});
    tl_tensor *const dst = nn_blank(&room, TL_INT32, 2, (int[]){1, 1});
    tl_tensor_matmul(a, b, NULL, dst, &(tl_matmul_param){.alpha = 1});
    nn_check_values(dst, (double[]){-15});
    nn_close(&room);
}
END_TEST

START_TEST(an_empty_inner_dimension_gives_the_bias)
{
    nn_room room = {0};
    tl_tensor *const bias = nn_given(&room, TL_FLOAT, 0, NULL, (double[]){3});
    static const int shapes[][2] = {{5, 2}, {1, 70}, {30, 70}};
    for (size_t s = 0; s < NN_LEN(shapes); s++) {
        const int m = shapes[s][0], n = shapes[s][1];
        tl_tensor *const left = nn_blank(&room, TL_FLOAT, 2, (int[]){m, 0});
        tl_tensor *const right = nn_blank(&room, TL_FLOAT, 2, (int[]){0, n});
        tl_tensor *const dst = nn_blank(&room, TL_FLOAT, 2, (int[]){m, n});
        tl_tensor_matmul(left, right, bias, dst, &(tl_matmul_param){.alpha = 1, .beta = 2});
        for (int i = 0; i < dst->len; i++)
            nn_check_near(dst, (size_t)i, 6, 0);
    }
    tl_tensor *const a = nn_blank(&room, TL_FLOAT, 2, (int[]){5, 0});
    tl_tensor *const b = nn_blank(&room, TL_FLOAT, 2, (int[]){0, 2});
    tl_tensor *const empty = tl_tensor_matmul(b, a, NULL, NULL, &(tl_matmul_param){.alpha = 1});
    ck_assert_ptr_null(empty); // [0, 2] x [5, 0]
    nn_close(&room);
}
END_TEST

START_TEST(zero_points_of_rows_and_columns_are_subtracted)
{
    static const tl_dtype bytes[] = {TL_INT8, TL_UINT8};
    for (int i = 0; i < 16; i++) {
        const tl_dtype d1 = bytes[i % 2], d2 = bytes[i / 2 % 2];
        nn_room room = {.seed = 5};
        product p = {.param = {.alpha = 1}};
        p.src1 = nn_random(&room, d1, 3, (int[]){2, 5, 131}, -128, 255);
        p.src2 = nn_random(&room, d2, 2, (int[]){131, 9}, -128, 255);
        p.zero1 = nn_random(&room, d1, i / 4 % 2 ? 3 : 0, (int[]){2, 5, 1}, -128, 255);
        p.zero2 = nn_random(&room, d2, 1, (int[]){i / 8 ? 9 : 1}, -128, 255);
        tl_tensor *const dst = nn_blank(&room, TL_INT32, 3, (int[]){2, 5, 9});
        ck_assert_ptr_eq(tl_tensor_matmul_int(p.src1, p.src2, p.zero1, p.zero2, dst), dst);
        check_product(&p, dst);
        p.zero1 = p.zero2 = NULL;
        ck_assert_ptr_eq(tl_tensor_matmul_int(p.src1, p.src2, NULL, NULL, dst), dst);
        check_product(&p, dst);
        nn_close(&room);
    }
}
END_TEST

START_TEST(threads_do_not_change_the_result)
{
    static const int shapes[][4] = {{3, 150, 300, 290},
                                    {1, 400, 20, 33},
                                    {1, 3, 700, 500},
                                    {1, 900, 800, 1},
                                    {1, 20, 900, 900}};
    for (size_t i = 0; i < NN_LEN(shapes); i++)
        for (int trans2 = 0; trans2 < 2; trans2++) {
            const int *const s = shapes[i];
            nn_room room = {.seed = 52};
            product p = {.param = {.alpha = 1, .trans2 = trans2}};
            p.src1 = nn_random(&room, TL_FLOAT, 3, (int[]){s[0], s[1], s[2]}, -1, 1);
            p.src2 = nn_random(&room, TL_FLOAT, 3,
                               (int[]){s[0], s[trans2 ? 3 : 2], s[trans2 ? 2 : 3]}, -1, 1);
            nn_check_threads(run_matmul, nn_blank(&room, TL_FLOAT, 3, (int[]){s[0], s[1], s[3]}),
                             &p);
            nn_close(&room);
        }
}
END_TEST

// A small stack

enum { SMALL_STACK = 128 * 1024 };

static void *multiply_without_scratch(void *arg)
{
    const product *const p = arg;
    return tl_tensor_matmul(p->src1, p->src2, p->bias, NULL, &p->param);
}

// Computes a product on a thread with SMALL_STACK bytes.
static tl_tensor *multiply_on_small_stack(product *p)
{
    pthread_attr_t attr;
    pthread_t thread;
    void *result = NULL;
    ck_assert_int_eq(pthread_attr_init(&attr), 0);
    ck_assert_int_eq(pthread_attr_setstacksize(&attr, SMALL_STACK), 0);
    ck_assert_int_eq(pthread_create(&thread, &attr, multiply_without_scratch, p), 0);
    pthread_join(thread, &result);
    pthread_attr_destroy(&attr);
    ck_assert_ptr_nonnull(result);
    return result;
}

START_TEST(threads_with_a_small_stack_can_multiply)
{
    // Panels that are packed when they come by; strips that scratch memory would copy; plain C.
    static const tl_dtype types[] = {TL_FLOAT, TL_DOUBLE, TL_INT64};
    for (size_t t = 0; t < NN_LEN(types); t++)
        for (int trans = 0; trans < 4; trans++) {
            nn_room room = {.seed = 9};
            product p = {.param = {trans % 2, trans / 2, 1, 1}};
            p.src1 = nn_random(&room, types[t], 2,
                               trans % 2 ? (int[]){1024, 70} : (int[]){70, 1024}, -1, 1);
            p.src2 = nn_random(&room, types[t], 2,
                               trans / 2 ? (int[]){65, 1024} : (int[]){1024, 65}, -1, 1);
            tl_tensor *const dst = multiply_on_small_stack(&p);
            check_product(&p, dst);
            tl_tensor_free_data_too(dst);
            nn_close(&room);
        }
}
END_TEST

START_TEST(matmul_rejects_bad_shapes_and_factors)
{
    nn_room room = {0};
    const tl_matmul_param one = {.alpha = 1}, half = {.alpha = 0.5};
    tl_tensor *const a = nn_blank(&room, TL_FLOAT, 2, (int[]){2, 3});
    tl_tensor *const b = nn_blank(&room, TL_FLOAT, 3, (int[]){5, 2, 3});
    tl_tensor *const v = nn_blank(&room, TL_FLOAT, 1, (int[]){3});
    tl_tensor *const i = nn_blank(&room, TL_INT32, 2, (int[]){2, 2});
    tl_tensor *const flags = nn_blank(&room, TL_BOOL, 2, (int[]){2, 2});
    ck_assert_ptr_null(tl_tensor_matmul(a, b, NULL, NULL, &one));
    ck_assert_str_eq(tl_last_error(),
                     "shapes [2, 3] and [5, 2, 3], expected [.., m, k] and [.., k, n]");
    ck_assert_ptr_null(tl_tensor_matmul(a, v, NULL, NULL, &one));
    ck_assert_str_eq(tl_last_error(), "'src1' has 2 dimensions and 'src2' 1, expected at least 2");
    ck_assert_ptr_null(tl_tensor_matmul(i, i, NULL, NULL, &half));
    ck_assert_str_eq(tl_last_error(),
                     "'alpha' is 0.5 and 'beta' 0, expected integers for TL_INT32");
    ck_assert_ptr_null(
        tl_tensor_matmul(a, b, v, NULL, &(tl_matmul_param){.trans2 = 1, .alpha = 1}));
    ck_assert_str_eq(tl_last_error(),
                     "'bias' has shape [3], expected one that broadcasts to [5, 2, 2]");
    ck_assert_ptr_null(tl_tensor_matmul(flags, flags, NULL, NULL, &one));
    ck_assert_ptr_null(tl_tensor_matmul_int(i, i, NULL, NULL, NULL));
    ck_assert_str_eq(tl_last_error(), "'src1' has dtype TL_INT32, expected TL_INT8 or TL_UINT8");
    nn_close(&room);
}
END_TEST

LN_TEST_MAIN("matmul", a_small_product_by_hand, every_size_type_and_transposition_agrees_with_loops,
             every_tail_agrees_at_every_instruction_set, long_sums_and_wide_results_agree,
             groups_of_rows_and_scratch_memory_change_no_bit,
             scratch_memory_is_asked_for_where_it_helps,
             packed_matrices_agree_at_every_instruction_set,
             a_packed_product_supports_all_epilogues,
             pairs_of_bfloat16_agree_at_every_instruction_set,
             pairs_keep_infinities_and_need_their_scratch_memory, small_matrices_of_a_batch_agree,
             nan_and_infinity_stay_in_their_columns, batches_broadcast, integers_wrap,
             an_empty_inner_dimension_gives_the_bias,
             zero_points_of_rows_and_columns_are_subtracted, threads_do_not_change_the_result,
             threads_with_a_small_stack_can_multiply, matmul_rejects_bad_shapes_and_factors)
