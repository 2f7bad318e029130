// SPDX-License-Identifier: Apache-2.0
// Tests of the counter-based generator, and of the distributions of its numbers. Seeds are fixed,
// so a test of a distribution passes always or never.

#include "kernel/fill/random.h"

#include <stdlib.h>

#include "kernel/tl_nn_test.h"

START_TEST(philox_gives_the_published_blocks)
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
        tl_philox(known[i].counter, known[i].key, block);
        for (int k = 0; k < 4; k++)
            ck_assert_uint_eq(block[k], known[i].block[k]);
    }
}
END_TEST

START_TEST(normal_quantiles_invert_the_distribution)
{
    static const double at[] = {1e-16, 1e-9, 0.001, 0.0749, 0.0751, 0.3, 0.5, 0.8, 0.93, 0.9999};
    ck_assert_double_eq(tl_normal_quantile(0.5), 0);
    for (size_t i = 0; i < NN_LEN(at); i++) {
        const double x = tl_normal_quantile(at[i]), p = 0.5 * erfc(-x / sqrt(2));
        // An error of x by e gives one of p by a factor of 1 + x e.
        ck_assert_msg(fabs(p - at[i]) <= 1e-14 * (1 + x * x) * at[i], "of %.17g: %.17g, so %.17g",
                      at[i], x, p);
    }
    ck_assert_double_eq_tol(tl_normal_quantile(0.975), 1.959963984540054, 1e-15);
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

LN_TEST_MAIN("random", philox_gives_the_published_blocks, normal_quantiles_invert_the_distribution,
             numbers_have_their_distribution, neighbours_are_independent,
             uniform_numbers_stay_below_the_upper_end, threads_and_parts_give_the_same_bits,
             each_tensor_moves_the_state_on)
