// SPDX-License-Identifier: Apache-2.0
// Tests of the sizes of batches.

#include "srv_probe.h"

#include "ln_check.h"

// Times of one row and of eight, in any unit.
START_TEST(a_batch_is_as_large_as_it_pays)
{
    static const struct {
        double one, all;
        int rows;
    } cases[] = {
        {10, 10, 8},  // rows beyond the first cost nothing
        {10, 9, 8},   // less than nothing: noise
        {11, 18, 8},  // a run costs 10, a row 1
        {10, 45, 6},  // both 5: 6 rows take 35, 5.83 each, 8 rows 5.625
        {10, 73, 2},  // 1 and 9: 9.5 each, of 9.125
        {10, 77, 1},  // 0.43 and 9.57
        {10, 80, 1},  // rows one by one
        {10, 100, 1}, // a batch is slower
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        ck_assert_int_eq(srv_probe_enough(cases[i].one, cases[i].all, 8), cases[i].rows);
}
END_TEST

START_TEST(no_other_size_is_enough)
{
    for (int max = 2; max <= 64; max++)
        for (double fixed = 0; fixed < 4; fixed += 0.25) {
            const double all = fixed + max; // a row takes 1
            const int rows = srv_probe_enough(fixed + 1, all, max);
            ck_assert(rows >= 1 && rows <= max);
            ck_assert(fixed / rows + 1 <= 1.05 * all / max + 1e-9);
            ck_assert(rows == 1 || fixed / (rows - 1) + 1 > 1.05 * all / max - 1e-9);
        }
}
END_TEST

LN_TEST_MAIN("srv_probe", a_batch_is_as_large_as_it_pays, no_other_size_is_enough)
