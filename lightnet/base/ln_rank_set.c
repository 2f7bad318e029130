// SPDX-License-Identifier: Apache-2.0
// A set of numbers below a bound, which finds the neighbours of a number.

#include "base/ln_rank_set.h"

#include "lightnet/ln_util.h"

enum { WORD_BITS = 64 };

int ln_rank_set_begin(ln_rank_set *set, size_t n)
{
    *set = (ln_rank_set){.n = n};
    size_t words = n;
    do {
        words = words / WORD_BITS + 1;
        uint64_t *level = ln_alloc_array(words, sizeof(*level));
        if (!level) {
            ln_rank_set_end(set);
            return -1;
        }
        set->levels[set->n_levels++] = level;
    } while (words > 1);
    return 0;
}

void ln_rank_set_end(ln_rank_set *set)
{
    for (int i = 0; i < set->n_levels; i++)
        ln_free(set->levels[i]);
    *set = (ln_rank_set){.n = 0};
}

static uint64_t bit_of(size_t rank)
{
    return (uint64_t)1 << rank % WORD_BITS;
}

void ln_rank_set_add(ln_rank_set *set, size_t rank)
{
    for (int i = 0; i < set->n_levels; i++, rank /= WORD_BITS)
        set->levels[i][rank / WORD_BITS] |= bit_of(rank);
}

void ln_rank_set_remove(ln_rank_set *set, size_t rank)
{
    for (int i = 0; i < set->n_levels; i++, rank /= WORD_BITS)
        if (set->levels[i][rank / WORD_BITS] &= ~bit_of(rank))
            return;
}

// The largest, or the smallest, number of level 0 beneath number `at` of a level.
static size_t descend(const ln_rank_set *set, int level, size_t at, int to_largest)
{
    while (level-- > 0) {
        const uint64_t word = set->levels[level][at];
        const int bit = to_largest ? WORD_BITS - 1 - __builtin_clzll(word) : __builtin_ctzll(word);
        at = at * WORD_BITS + (size_t)bit;
    }
    return at;
}

// Climbs to the first level whose word has a bit on that side of the rank's, then descends from it.
size_t ln_rank_set_below(const ln_rank_set *set, size_t rank)
{
    for (int i = 0; i < set->n_levels; i++, rank /= WORD_BITS) {
        const uint64_t word = set->levels[i][rank / WORD_BITS] & (bit_of(rank) - 1);
        if (word)
            return descend(
                set, i,
                rank / WORD_BITS * WORD_BITS + WORD_BITS - 1 - (size_t)__builtin_clzll(word), 1);
    }
    return LN_RANK_NONE;
}

size_t ln_rank_set_above(const ln_rank_set *set, size_t rank)
{
    for (int i = 0; i < set->n_levels; i++, rank /= WORD_BITS) {
        const uint64_t word =
            set->levels[i][rank / WORD_BITS] & ~(bit_of(rank) | (bit_of(rank) - 1));
        if (word)
            return descend(set, i, rank / WORD_BITS * WORD_BITS + (size_t)__builtin_ctzll(word), 0);
    }
    return LN_RANK_NONE;
}
