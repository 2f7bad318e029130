// SPDX-License-Identifier: Apache-2.0
// Tests of the counter-based generator, and of the distributions of its numbers. Seeds are fixed,
// so a test of a distribution passes always or never.

#include "kernel/fill/random.h"

#include <stdlib.h>

#include "kernel/tl_nn_test.h"

// Rows of the lists of kernels
#define QUANTILES(ROW, arg) TL_RANDOM_KERNELS(ROW, arg, tl_normal_quantiles)
#define BITS(ROW, arg)      TL_RANDOM_KERNELS(ROW, arg, tl_random_bits_of)
#define NUMBERS(ROW, arg)   TL_RANDOM_KERNELS(ROW, arg, tl_random_numbers)
TL_KERNEL_TABLE(pick_quantiles, tl_quantile_func, QUANTILES)
TL_KERNEL_TABLE(pick_bits, tl_random_bits_func, BITS)
TL_KERNEL_TABLE(pick_numbers, tl_random_func, NUMBERS)

// Philox4x32 by its definition.
static void philox(const uint32_t counter[4], const uint32_t key[2], uint32_t block[4])
{
    uint32_t k[2] = {key[0], key[1]}, x[4];
    memcpy(block, counter, sizeof(x));
    for (int i = 0; i < 10; i++, k[0] += 0x9e3779b9u, k[1] += 0xbb67ae85u) {
        const uint64_t a = UINT64_C(0xd2511f53) * block[0], b = UINT64_C(0xcd9e8d57) * block[2];
        x[0] = (uint32_t)(b >> 32) ^ block[1] ^ k[0];
        x[1] = (uint32_t)b;
        x[2] = (uint32_t)(a >> 32) ^ block[3] ^ k[1];
        x[3] = (uint32_t)a;
        memcpy(block, x, sizeof(x));
    }
}

START_TEST(the_reference_computes_the_published_blocks)
{
    // Of the authors' library Random123.
    static const struct {
        uint32_t counter[4], key[2], block[4];
    } known[] = {
        {{0}, {0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
        {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
         {0xffffffff, 0xffffffff},
         {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
        {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
         {0xa4093822, 0x299f31d0},
         {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
    };
    for (size_t i = 0; i < NN_LEN(known); i++) {
        uint32_t block[4];
        philox(known[i].counter, known[i].key, block);
        ck_assert_mem_eq(block, known[i].block, sizeof(block));
    }
}
END_TEST

START_TEST(each_block_is_that_of_its_counter)
{
    enum { N = 21 };
    static const uint64_t starts[] = {0, 5, 0xfffffff8, 0xfffffffffffffff0};
    const uint64_t key = 0x82efa98ec4e6c894;
    NN_EACH_ISA(exec)
    for (size_t k = 0; k < NN_LEN(starts); k++) {
        uint64_t bits[2 * N];
        pick_bits(&exec, TL_DOUBLE)(key, starts[k], N, bits);
        for (size_t i = 0; i < N; i++) {
            const uint64_t at = starts[k] + i;
            uint32_t block[4];
            philox((const uint32_t[]){(uint32_t)at, (uint32_t)(at >> 32), 0, 0},
                   (const uint32_t[]){(uint32_t)key, (uint32_t)(key >> 32)}, block);
            ck_assert_uint_eq(bits[2 * i], (uint64_t)block[1] << 32 | block[0]);
            ck_assert_uint_eq(bits[2 * i + 1], (uint64_t)block[3] << 32 | block[2]);
        }
    }
}
END_TEST

START_TEST(normal_quantiles_invert_the_distribution)
{
    // Tails, the borders between three formulas (0.075, and exp(-25)), and the middle.
    static const double at[] = {0x1p-53, 1e-16, 1e-12,  1.38e-11, 1.4e-11,
                                1e-9,    0.001, 0.0749, 0.0751,   0.3,
                                0.5,     0.8,   0.93,   0.9999,   1 - 0x1p-53};
    NN_EACH_ISA(exec)
    {
        double x[NN_LEN(at)];
        pick_quantiles(&exec, TL_DOUBLE)(at, x, NN_LEN(at));
        for (size_t i = 0; i < NN_LEN(at); i++) {
            // Of the smaller side, as 1 - p rounds; an error of x by e gives one of p by a factor
            // of 1 + x e.
            const double side = fmin(at[i], 1 - at[i]), p = 0.5 * erfc(fabs(x[i]) / sqrt(2));
            ck_assert_msg(fabs(p - side) <= 1e-14 * (1 + x[i] * x[i]) * side,
                          "of %.17g: %.17g, so %.17g", at[i], x[i], p);
            ck_assert((x[i] < 0) == (at[i] < 0.5));
            ck_assert(at[i] != 0.5 || x[i] == 0);
        }
    }
}
END_TEST

START_TEST(instruction_sets_compute_the_same_bits)
{
    enum { LEN = 30001 };
    for (size_t k = 0; k < 2 * NN_LEN(nn_floats); k++) {
        const tl_distribution distribution = k % 2 ? TL_NORMAL : TL_UNIFORM;
        const tl_dtype dtype = nn_floats[k / 2];
        nn_room room = {0};
        tl_tensor *const plain = nn_blank(&room, dtype, 1, (int[]){LEN});
        tl_tensor *const t = nn_blank(&room, dtype, 1, (int[]){LEN});
        const tl_exec c = {.isa = TL_ISA_C};
        uint64_t state = 7;
        tl_exec_random(&c, plain, distribution, -1, 2, &state);
        NN_EACH_ISA(exec)
        {
            state = 7;
            tl_exec_random(&exec, t, distribution, -1, 2, &state);
            ck_assert_mem_eq(t->data, plain->data, tl_tensor_size(t));
        }
        nn_close(&room);
    }
}
END_TEST

START_TEST(numbers_are_those_of_earlier_versions)
{
    // Elements 0, 1, 2 and 6 of a seed: models that draw numbers keep their results.
    static const double known[TL_DISTRIBUTION_SIZE][4] = {
        {-0x1.13cc010003e0ep-2, 0x1.c1db73ec073d3p-1, 0x1.25e57b8d60f8p-4, 0x1.416bbf8a89c49p-1},
        {-0x1.31e5a75b73514p+1, -0x1.6ce48e70efadcp-2, -0x1.bb4c69835ee04p+0,
         -0x1.9277b38cae528p-1}};
    for (int d = 0; d < TL_DISTRIBUTION_SIZE; d++) {
        nn_room room = {0};
        uint64_t state = 2026;
        tl_tensor *const t = nn_blank(&room, TL_DOUBLE, 1, (int[]){7});
        ck_assert_int_eq(tl_exec_random(NULL, t, (tl_distribution)d, -1, 2, &state), 0);
        for (size_t i = 0; i < 4; i++)
            ck_assert_double_eq(nn_at(t, i < 3 ? i : 6), known[d][i]);
        nn_close(&room);
    }
}
END_TEST

START_TEST(parts_may_begin_with_any_number)
{
    static const size_t lens[] = {0, 1, 2, 255, TL_RANDOM_CHUNK};
    tl_random_job job = {.a = 0, .b = 1, .key = 99, .n_bits = 24};
    NN_EACH_ISA(exec)
    for (int d = 0; d < TL_DISTRIBUTION_SIZE; d++) {
        tl_random_func *const make = pick_numbers(&exec, TL_DOUBLE);
        double all[TL_RANDOM_CHUNK + 4], part[TL_RANDOM_CHUNK + 1];
        job.distribution = (tl_distribution)d;
        for (size_t i = 0; i < NN_LEN(all); i += 2)
            make(&job, i, 2, all + i);
        for (size_t first = 0; first < 4; first++)
            for (size_t k = 0; k < NN_LEN(lens); k++) {
                part[lens[k]] = -5;
                make(&job, first, lens[k], part);
                ck_assert_mem_eq(part, all + first, lens[k] * sizeof(part[0]));
                ck_assert_double_eq(part[lens[k]], -5);
            }
    }
}
END_TEST

START_TEST(rejects_impossible_distributions)
{
    nn_room room = {0};
    uint64_t state = 1;
    tl_tensor *const t = nn_blank(&room, TL_FLOAT, 1, (int[]){3});
    ck_assert_int_eq(tl_exec_random(NULL, t, TL_NORMAL, 0, -1, &state), -1);
    ck_assert_int_eq(tl_exec_random(NULL, t, TL_UNIFORM, 0, 1, NULL), -1);
    ck_assert_str_eq(tl_last_error(), "'state' is NULL, expected a state");
    nn_close(&room);
}
END_TEST

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// The Kolmogorov-Smirnov statistic of the numbers: the greatest distance of their empirical
// distribution from the one of the tensor, times sqrt(n).
static double distance_from(const tl_tensor *t, tl_distribution distribution, double a, double b)
{
    const size_t n = (size_t)t->len;
    double *const sorted = malloc(n * sizeof(*sorted)), worst = 0;
    for (size_t i = 0; i < n; i++)
        sorted[i] = nn_at(t, i);
    qsort(sorted, n, sizeof(*sorted), compare);
    for (size_t i = 0; i < n; i++) {
        const double x = (sorted[i] - a) / b;
        const double p = distribution == TL_UNIFORM ? x : 0.5 * erfc(-x / sqrt(2));
        worst = fmax(worst, fmax((double)(i + 1) / (double)n - p, p - (double)i / (double)n));
    }
    free(sorted);
    return worst * sqrt((double)n);
}

START_TEST(numbers_have_their_distribution)
{
    // 1.95: exceeded by one in a thousand sets of numbers.
    for (uint64_t seed = 0; seed < 10; seed++)
        for (size_t k = 0; k < 2; k++) {
            nn_room room = {0};
            uint64_t state = seed;
            tl_tensor *const t = nn_blank(&room, nn_floats[k], 1, (int[]){20000});
            tl_exec_random(NULL, t, TL_UNIFORM, -2, 3, &state);
            ck_assert_double_lt(distance_from(t, TL_UNIFORM, -2, 5), 1.95);
            tl_exec_random(NULL, t, TL_NORMAL, 4, 0.5, &state);
            ck_assert_double_lt(distance_from(t, TL_NORMAL, 4, 0.5), 1.95);
            nn_close(&room);
        }
}
END_TEST

START_TEST(neighbours_are_independent)
{
    enum { CELLS = 16, N = 100000 };
    static int count[CELLS][CELLS];
    nn_room room = {0};
    uint64_t state = 1;
    tl_tensor *const t = nn_blank(&room, TL_DOUBLE, 1, (int[]){N + 1});
    tl_exec_random(NULL, t, TL_UNIFORM, 0, CELLS, &state);
    for (size_t i = 0; i < N; i++)
        count[(int)nn_at(t, i)][(int)nn_at(t, i + 1)]++;
    const double expected = (double)N / (CELLS * CELLS);
    double chi_square = 0;
    for (int i = 0; i < CELLS * CELLS; i++)
        chi_square += pow(count[i / CELLS][i % CELLS] - expected, 2) / expected;
    // 255 degrees of freedom: from 190 to 330 but for one in a thousand.
    ck_assert_double_gt(chi_square, 190);
    ck_assert_double_lt(chi_square, 330);
    nn_close(&room);
}
END_TEST

START_TEST(uniform_numbers_stay_below_the_upper_end)
{
    for (size_t k = 0; k < NN_LEN(nn_floats); k++) {
        nn_room room = {0};
        uint64_t state = 2;
        tl_tensor *const t = nn_blank(&room, nn_floats[k], 1, (int[]){100000});
        tl_exec_random(NULL, t, TL_UNIFORM, 0, 1, &state);
        for (size_t i = 0; i < (size_t)t->len; i++)
            ck_assert(nn_at(t, i) >= 0 && nn_at(t, i) < 1);
        nn_close(&room);
    }
}
END_TEST

static void run_random(const tl_exec *exec, tl_tensor *dst, void *arg)
{
    uint64_t state = 3;
    tl_exec_random(exec, dst, *(const tl_distribution *)arg, 0, 1, &state);
}

START_TEST(threads_and_parts_give_the_same_bits)
{
    for (tl_distribution d = TL_UNIFORM; d < TL_DISTRIBUTION_SIZE;
         d = (tl_distribution)((int)d + 1))
        for (size_t k = 0; k < NN_LEN(nn_floats); k++) {
            nn_room room = {0};
            uint64_t state = 3;
            tl_tensor *const all = nn_blank(&room, nn_floats[k], 1, (int[]){9999});
            nn_check_threads(run_random, all, &d);
            tl_tensor *const few = nn_blank(&room, nn_floats[k], 1, (int[]){301});
            tl_exec_random(NULL, few, d, 0, 1, &state);
            ck_assert_mem_eq(all->data, few->data, tl_tensor_size(few));
            nn_close(&room);
        }
}
END_TEST

START_TEST(each_tensor_moves_the_state_on)
{
    nn_room room = {0};
    uint64_t state = 4, bits = 4;
    tl_tensor *const t = nn_blank(&room, TL_DOUBLE, 1, (int[]){3});
    tl_exec_random(NULL, t, TL_UNIFORM, 0, 1, &state);
    const double first = nn_at(t, 0);
    tl_random_bits(&bits);
    ck_assert_uint_eq(state, bits);
    tl_exec_random(NULL, t, TL_UNIFORM, 0, 1, &state);
    ck_assert_double_ne(nn_at(t, 0), first);
    nn_close(&room);
}
END_TEST

LN_TEST_MAIN("random", the_reference_computes_the_published_blocks,
             each_block_is_that_of_its_counter, normal_quantiles_invert_the_distribution,
             instruction_sets_compute_the_same_bits, numbers_are_those_of_earlier_versions,
             parts_may_begin_with_any_number, rejects_impossible_distributions,
             numbers_have_their_distribution, neighbours_are_independent,
             uniform_numbers_stay_below_the_upper_end, threads_and_parts_give_the_same_bits,
             each_tensor_moves_the_state_on)
