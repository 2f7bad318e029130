// SPDX-License-Identifier: Apache-2.0
// Tests of the shapes of new programs, and of rejected inputs, without a model.

#include <limits.h>

#include "ln_check.h"
#include "session/ln_ranges.h"

// As the cache of a decoder, and its mask for one token more.
START_TEST(sizes_that_grow_together_get_the_same_room)
{
    ln_port past = {.dims = {LN_PORT_OPEN}, .max = {INT_MAX}}, total = past;
    ln_port *const ports[] = {&past, &total};
    ln_changes changes[2] = {{0}};
    ln_value values[2] = {{.is_given = 1, .ndim = 1}, {.is_given = 1, .ndim = 1}};
    ln_range ranges[2];
    for (int len = 5; len < 8; len++) {
        values[0].dims[0] = len;
        values[1].dims[0] = len + 1;
        ln_changes_note(changes, values, 2, 1);
    }
    ck_assert_int_eq(ln_ranges_choose(ranges, changes, ports, values, 2, 0), 1);
    ck_assert_int_eq(ranges[0].max[0], 256);
    ck_assert_int_eq(ranges[1].max[0], 257);
    ck_assert_int_eq(ln_ranges_halve(ranges, values, 2), 128);
    ck_assert_int_eq(ranges[0].max[0], 128);
    ck_assert_int_eq(ranges[1].max[0], 129);
}
END_TEST

// The capacity of an axis whose size has changed repeatedly, the last time from `before` to `now`,
// in a model that allows sizes up to `max`.
static int capacity_after(int before, int now, int axis, int max)
{
    ln_port port = {.dims = {LN_PORT_OPEN, LN_PORT_OPEN}, .max = {max, max}};
    ln_port *const ports[] = {&port};
    ln_changes changes = {0};
    ln_value value = {.is_given = 1, .ndim = 2, .dims = {3, 3}};
    ln_range range;
    changes.times[axis] = 2;
    changes.steps[axis] = now - before;
    value.dims[axis] = now;
    ln_ranges_choose(&range, &changes, ports, &value, 1, 0);
    return range.max[axis];
}

START_TEST(sizes_that_grow_like_a_cache_get_room)
{
    ck_assert_int_eq(capacity_after(255, 256, 1, INT_MAX), 512); // grows by one
    ck_assert_int_eq(capacity_after(0, 512, 1, INT_MAX), 1024);  // was empty
    ck_assert_int_eq(capacity_after(0, 512, 1, 600), 600);       // at most that of the model
    ck_assert_int_eq(capacity_after(257, 256, 1, INT_MAX), 256); // shrinks
    ck_assert_int_eq(capacity_after(1, 512, 1, INT_MAX), 512);   // another length, as of prompts
    ck_assert_int_eq(capacity_after(255, 256, 0, INT_MAX), 256); // a batch
    ck_assert_int_eq(capacity_after(INT_MAX - 1, INT_MAX, 1, INT_MAX), INT_MAX);
}
END_TEST

static ln_sum sum_of_mask(const ln_range *ranges)
{
    return ranges[0].sums[0];
}

// As a decoder: a prompt, then a token at a time. The mask is as long as the cache and the tokens.
START_TEST(a_mask_is_the_sum_of_a_cache_and_new_tokens)
{
    ln_port mask = {.dims = {LN_PORT_OPEN}, .max = {INT_MAX}, .symbols = {1}}, ids = mask,
            cache = {.dims = {7, LN_PORT_OPEN}, .max = {7, INT_MAX}, .symbols = {0, 2}};
    ids.symbols[0] = 3;
    ln_port *const ports[] = {&mask, &ids, &cache, &cache};
    static const int runs[][3] = {{40, 40, 0}, {41, 1, 40}, {42, 1, 41}};
    ln_changes changes[4] = {{0}};
    ln_value values[4] = {{.is_given = 1, .ndim = 1},
                          {.is_given = 1, .ndim = 1},
                          {.is_given = 1, .ndim = 2},
                          {.is_given = 1, .ndim = 2}};
    ln_range ranges[4];
    char text[LN_MAXDIM][LN_SUM_LEN];
    const char *names[LN_MAXDIM];
    for (int run = 0; run < 3; run++) {
        values[0].dims[0] = runs[run][0];
        values[1].dims[0] = runs[run][1];
        values[2].dims[0] = values[3].dims[0] = 7;
        values[2].dims[1] = values[3].dims[1] = runs[run][2];
        ln_changes_note(changes, values, 4, 2);
        ck_assert_int_eq(ln_ranges_choose(ranges, changes, ports, values, 4, 0), run > 0);
    }
    ck_assert_int_eq(sum_of_mask(ranges).n, 2);
    ck_assert_int_eq(ranges[1].max[0], 1); // a token at a time
    ck_assert_int_eq(ranges[0].max[0], ranges[2].max[1] + 1);
    ln_ranges_name(ranges, 0, 1, text, names);
    ck_assert_str_eq(names[0], "s2.1+1");
    ln_ranges_name(ranges, 3, 2, text, names);
    ck_assert_str_eq(names[0], "");
    ck_assert_str_eq(names[1], "s2.1");
    values[0].dims[0]++; // the sum holds no more
    ck_assert_int_eq(ln_ranges_have(ranges, values, values, 4), 0);
    values[2].dims[1]++;
    ck_assert_int_eq(ln_ranges_have(ranges, values, values, 4), 0); // nor are the caches equal
    values[3].dims[1]++;
    ck_assert_int_eq(ln_ranges_have(ranges, values, values, 4), 1);
    values[0].dims[0]++;
    ln_changes_note(changes, values, 4, 2);
    ck_assert_int_eq(ln_ranges_choose(ranges, changes, ports, values, 4, 0), 1);
    ck_assert_int_eq(sum_of_mask(ranges).n, 0);
}
END_TEST

// Programs for open and for fixed sizes may fail in different checks: the first one says nothing
// about data that passes the second.
START_TEST(failures_are_alike_where_the_reasons_are_but_for_numbers)
{
    static const struct {
        const char *open, *fixed;
        int is_same;
    } rows[] = {
        {"operator 'a_1' (take_cpu): index 7, expected -5 to 4",
         "operator 'a' (take_cpu): index 12, expected -5 to 4", 1},
        {"operator 'a' (take_cpu): index 7, expected -5 to 4",
         "operator 'a' (take_cpu): position 7, expected -5 to 4", 0},
        {"operator 'c' (conv2d_blocked_cpu): 'add' has another shape than 'dst'",
         "operator 'a' (take_cpu): index 7, expected -5 to 4", 0},
        {"no reason of an operator", "no reason of an operator", 1},
        {"no reason of an operator", "another one", 0},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        ln_error open = {.status = LN_OK}, fixed = {.status = LN_OK};
        ln_error_set(&open, "%s", rows[i].open);
        ln_error_set(&fixed, "%s", rows[i].fixed);
        ck_assert_msg(ln_rejection_is_same_check(&open, &fixed) == rows[i].is_same, "row %zu", i);
    }
}
END_TEST

LN_TEST_MAIN("ranges", sizes_that_grow_together_get_the_same_room,
             sizes_that_grow_like_a_cache_get_room, a_mask_is_the_sum_of_a_cache_and_new_tokens,
             failures_are_alike_where_the_reasons_are_but_for_numbers)
