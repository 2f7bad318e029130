// SPDX-License-Identifier: Apache-2.0
// Tests of sets of ranks: neighbours in sets from empty to full.

#include "base/ln_rank_set.h"

#include <stdlib.h>
#include <string.h>

#include "ln_check.h"

static size_t nearest(const char *is_in, size_t n, size_t rank, int step)
{
    for (size_t at = rank + (size_t)step; at < n; at += (size_t)step)
        if (is_in[at])
            return at;
    return LN_RANK_NONE;
}

// Against a search through all numbers, with sets from empty to full.
START_TEST(neighbours_are_the_nearest_members)
{
    static const size_t sizes[] = {1, 2, 63, 64, 65, 127, 4095, 4096, 4097, 9000};
    static char is_in[9000];
    srand(1);
    for (size_t k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++) {
        ln_rank_set set;
        const size_t n = sizes[k];
        memset(is_in, 0, sizeof(is_in));
        ck_assert_int_eq(ln_rank_set_begin(&set, n), 0);
        for (int turn = 0; turn < 3000; turn++) {
            const size_t rank = (size_t)rand() % n, other = (size_t)rand() % n;
            is_in[rank] = rand() % 3000 > turn;
            (is_in[rank] ? ln_rank_set_add : ln_rank_set_remove)(&set, rank);
            if (ln_rank_set_below(&set, other) != nearest(is_in, n, other, -1) ||
                ln_rank_set_above(&set, other) != nearest(is_in, n, other, 1))
                ck_abort_msg("wrong neighbours of %zu of %zu", other, n);
        }
        ln_rank_set_end(&set);
    }
}
END_TEST

LN_TEST_MAIN("rank_set", neighbours_are_the_nearest_members)
