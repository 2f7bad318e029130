// SPDX-License-Identifier: Apache-2.0
// Tests of the virtual memory pools.

#include "lightnet/ln_mem.h"

#include <stdint.h>
#include <string.h>

#include "base/ln_alloc_fail.h"
#include "lightnet/ln_msg.h"
#include "ln_check.h"

START_TEST(pool_allocates_offsets_in_order_and_never_0)
{
    const size_t sizes[] = {10, 8, 2, 4, 6}, offsets[] = {1, 11, 19, 21, 25};
    ln_mem_pool *pool = ln_mem_pool_create(4096, 1);
    for (int i = 0; i < 5; i++)
        ck_assert_uint_eq(ln_mem_pool_alloc(pool, sizes[i]), offsets[i]);
    ck_assert_uint_eq(ln_mem_pool_peak(pool), 31);
    ck_assert(ln_mem_pool_is_valid(pool));
    ln_mem_pool_free(pool);
}
END_TEST

START_TEST(pool_selects_the_smallest_then_lowest_hole)
{
    // Blocks of 10, 8, 2, 4, 6, 4 at 1, 11, 19, 21, 25, 31; the holes will be 8, 4, 4 and the rest.
    const size_t sizes[] = {10, 8, 2, 4, 6, 4, 1};
    ln_mem_pool *pool = ln_mem_pool_create(4096, 1);
    for (int i = 0; i < 7; i++)
        ln_mem_pool_alloc(pool, sizes[i]);
    ck_assert_int_eq(ln_mem_pool_dealloc(pool, 31), 0);
    ck_assert_int_eq(ln_mem_pool_dealloc(pool, 11), 0);
    ck_assert_int_eq(ln_mem_pool_dealloc(pool, 21), 0);
    ck_assert(ln_mem_pool_is_valid(pool));
    ck_assert_uint_eq(ln_mem_pool_alloc(pool, 3), 21);
    ck_assert_uint_eq(ln_mem_pool_alloc(pool, 4), 31);
    ck_assert_uint_eq(ln_mem_pool_alloc(pool, 5), 11);
    ck_assert_uint_eq(ln_mem_pool_alloc(pool, 1), 24);
    ck_assert_uint_eq(ln_mem_pool_alloc(pool, 9), 36);
    ck_assert(ln_mem_pool_is_valid(pool));
    ln_mem_pool_free(pool);
}
END_TEST

START_TEST(pool_merges_freed_blocks_with_their_neighbours)
{
    // The middle block goes first, then the left and the right one, in both orders.
    for (int order = 0; order < 2; order++) {
        ln_mem_pool *pool = ln_mem_pool_create(100, 1);
        for (int i = 0; i < 4; i++)
            ln_mem_pool_alloc(pool, 10);
        ln_mem_pool_dealloc(pool, 11);
        ln_mem_pool_dealloc(pool, order ? 1 : 21);
        ln_mem_pool_dealloc(pool, order ? 21 : 1);
        ck_assert(ln_mem_pool_is_valid(pool));
        ck_assert_uint_eq(ln_mem_pool_alloc(pool, 30), 1);
        ln_mem_pool_free(pool);
    }
}
END_TEST

START_TEST(pool_rounds_to_its_alignment)
{
    ln_mem_pool *pool = ln_mem_pool_create(4096, 64);
    ck_assert_uint_eq(ln_mem_pool_alloc(pool, 1000), 64);
    ck_assert_uint_eq(ln_mem_pool_alloc(pool, 40), 1088);
    ck_assert_uint_eq(ln_mem_pool_alloc(pool, 0), 1152);
    ck_assert_uint_eq(ln_mem_pool_alloc(pool, 64), 1216);
    ck_assert_uint_eq(ln_mem_pool_alloc(pool, 1), 1280);
    ck_assert(ln_mem_pool_is_valid(pool));
    ln_mem_pool_free(pool);
}
END_TEST

START_TEST(pool_uses_the_last_bytes_of_its_region)
{
    ln_mem_pool *pool = ln_mem_pool_create(100, 64);
    ck_assert_uint_eq(ln_mem_pool_alloc(pool, 37), 0);
    ck_assert_uint_eq(ln_mem_pool_alloc(pool, 36), 64);
    ck_assert_uint_eq(ln_mem_pool_peak(pool), 100);
    ck_assert(ln_mem_pool_is_valid(pool));
    ck_assert_int_eq(ln_mem_pool_dealloc(pool, 64), 0);
    ck_assert_uint_eq(ln_mem_pool_alloc(pool, 36), 64);
    ln_mem_pool_free(pool);
}
END_TEST

START_TEST(peak_stays_after_deallocation)
{
    ln_mem_pool *pool = ln_mem_pool_create(4096, 64);
    ck_assert_uint_eq(ln_mem_pool_peak(pool), 0);
    ln_mem_pool_dealloc(pool, ln_mem_pool_alloc(pool, 1000));
    ln_mem_pool_alloc(pool, 10);
    ck_assert_uint_eq(ln_mem_pool_peak(pool), 1064);
    ln_mem_pool_free(pool);
}
END_TEST

START_TEST(requests_that_do_not_fit_are_errors)
{
    const size_t sizes[] = {100, 1000, SIZE_MAX - 63, SIZE_MAX};
    ln_mem_pool *pool = ln_mem_pool_create(100, 1);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        ck_assert_uint_eq(ln_mem_pool_alloc(pool, sizes[i]), 0);
    ck_assert_uint_eq(ln_mem_pool_alloc(pool, 100), 0);
    ck_assert_str_eq(ln_last_error(),
                     "no room for 100 bytes: the largest hole has 99 of the pool's "
                     "100 bytes");
    ck_assert_uint_eq(ln_mem_pool_alloc(pool, 99), 1);
    ln_mem_pool_free(pool);
}
END_TEST

START_TEST(extreme_pools_are_valid)
{
    const size_t shapes[][2] = {{0, 1},   {1, 1},         {64, 64},
                                {10, 64}, {SIZE_MAX, 64}, {4096, SIZE_MAX}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        ln_mem_pool *pool = ln_mem_pool_create(shapes[i][0], shapes[i][1]);
        ck_assert(ln_mem_pool_is_valid(pool));
        const int has_room = shapes[i][0] > shapes[i][1];
        ck_assert_uint_eq(ln_mem_pool_alloc(pool, 1), has_room ? shapes[i][1] : 0);
        ck_assert(ln_mem_pool_is_valid(pool));
        ln_mem_pool_free(pool);
    }
    ck_assert_ptr_null(ln_mem_pool_create(4096, 0));
    ck_assert_str_eq(ln_last_error(), "a memory pool has alignment 0, expected at least 1");
    ln_mem_pool_free(NULL);
}
END_TEST

START_TEST(only_allocated_offsets_exist_and_can_be_deallocated)
{
    ln_mem_pool *pool = ln_mem_pool_create(4096, 1);
    ln_mem_pool_alloc(pool, 10);
    ck_assert_int_eq(ln_mem_pool_exist(pool, 1), 1);
    const size_t others[] = {0, 2, 11, 4096, SIZE_MAX};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        ck_assert_int_eq(ln_mem_pool_exist(pool, others[i]), 0);
        ck_assert_int_eq(ln_mem_pool_dealloc(pool, others[i]), -1);
    }
    ck_assert_int_eq(ln_mem_pool_dealloc(pool, 1), 0);
    ck_assert_int_eq(ln_mem_pool_exist(pool, 1), 0);
    ck_assert_int_eq(ln_mem_pool_dealloc(pool, 1), -1);
    ck_assert_str_eq(ln_last_error(),
                     "offset 1 of a memory pool is deallocated, but not allocated");
    ln_mem_pool_free(pool);
}
END_TEST

START_TEST(dump_shows_the_blocks_in_order_of_address)
{
    ln_mem_pool *pool = ln_mem_pool_create(4096, 64);
    ln_mem_pool_alloc(pool, 1000);
    ln_mem_pool_alloc(pool, 10);
    ln_mem_pool_dealloc(pool, 64);
    char *text = NULL;
    size_t size = 0;
    FILE *fp = open_memstream(&text, &size);
    ck_assert_int_eq(ln_mem_pool_dump(pool, fp), 0);
    fclose(fp);
    ck_assert_str_eq(text, "[64, 1088) free\n[1088, 1152) used\n[1152, 4096) free\n");
    free(text);
    ln_mem_pool_free(pool);
}
END_TEST

START_TEST(pool_table_has_a_pool_for_each_real_memory_type)
{
    ln_hash *table = ln_mem_pool_table_create();
    ck_assert_int_eq(ln_hash_size(table), LN_MEM_TYPE_SIZE - 1);
    ck_assert_ptr_null(ln_mem_pool_table_find(table, LN_MEM_NONE));
    ck_assert_uint_eq(ln_mem_pool_alloc(ln_mem_pool_table_find(table, LN_MEM_CPU), 10), 64);
    ln_mem_pool_table_free(table);
    ln_mem_pool_table_free(NULL);
}
END_TEST

// A reference that looks at every byte of a small pool.
static size_t best_fit(const char *taken, size_t size, size_t want)
{
    size_t best = 0, best_size = SIZE_MAX;
    for (size_t start = 1, end; start < size; start = end + 1) {
        for (end = start; end < size && !taken[end]; end++)
            ;
        if (end - start >= want && end - start < best_size) {
            best = start;
            best_size = end - start;
        }
    }
    return best;
}

START_TEST(pool_agrees_with_a_map_of_every_byte)
{
    enum { SIZE = 200, STEPS = 20000 };
    char taken[SIZE] = {1};
    size_t lens[SIZE] = {0};
    unsigned random = 1;
    ln_mem_pool *pool = ln_mem_pool_create(SIZE, 1);
    for (int step = 0; step < STEPS; step++) {
        random = random * 1103515245u + 12345u;
        const size_t at = random >> 16 & 127, len = 1 + (random >> 24 & 15);
        if (lens[at]) {
            ck_assert_int_eq(ln_mem_pool_dealloc(pool, at), 0);
            memset(taken + at, 0, lens[at]);
            lens[at] = 0;
        } else {
            const size_t expect = best_fit(taken, SIZE, len);
            ck_assert_uint_eq(ln_mem_pool_alloc(pool, len), expect);
            if (expect) {
                memset(taken + expect, 1, len);
                lens[expect] = len;
            }
        }
        ck_assert(ln_mem_pool_is_valid(pool));
    }
    ln_mem_pool_free(pool);
}
END_TEST

// Returns the number of allocations that worked; all memory is given back.
static int use_pool(void)
{
    ln_hash *table = ln_mem_pool_table_create();
    if (!table)
        return 0;
    ln_mem_pool *pool = ln_mem_pool_table_find(table, LN_MEM_CPU);
    int worked = 0;
    for (int i = 0; i < 10; i++)
        worked += ln_mem_pool_alloc(pool, 10) > 0;
    ck_assert(ln_mem_pool_is_valid(pool));
    ln_mem_pool_table_free(table);
    return worked;
}

START_TEST(survives_every_failing_allocation)
{
    ln_bool failed = LN_TRUE;
    for (int n = 0; failed; n++) {
        ln_alloc_fail_after(n);
        const int worked = use_pool();
        failed = ln_alloc_fail_stop();
        ck_assert_int_eq(worked == 10, !failed);
    }
}
END_TEST

LN_TEST_MAIN("memory pools", pool_allocates_offsets_in_order_and_never_0,
             pool_selects_the_smallest_then_lowest_hole,
             pool_merges_freed_blocks_with_their_neighbours, pool_rounds_to_its_alignment,
             pool_uses_the_last_bytes_of_its_region, peak_stays_after_deallocation,
             requests_that_do_not_fit_are_errors, extreme_pools_are_valid,
             only_allocated_offsets_exist_and_can_be_deallocated,
             dump_shows_the_blocks_in_order_of_address,
             pool_table_has_a_pool_for_each_real_memory_type, pool_agrees_with_a_map_of_every_byte,
             survives_every_failing_allocation)
