// SPDX-License-Identifier: Apache-2.0
// Tests of slabs: where objects lie, and when slabs are freed.

#include "base/ln_slab.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/ln_budget.h"
#include "lightnet/ln_msg.h"
#include "lightnet/ln_util.h"
#include "ln_check.h"

enum { N = 20000, SIZE = 24, MANY_BYTES = 1 << 30 };

typedef struct object {
    unsigned char *bytes;
    ln_slab *home;
} object;

// Each test has these in use from its beginning to its end.
static ln_slabs slabs;
static ln_budget budget;

static void begin(size_t limit)
{
    memset(&slabs, 0, sizeof(slabs));
    budget = (ln_budget){.limit = limit, .slabs = &slabs};
    ln_budget_use(&budget);
}

static void end(void)
{
    ln_slabs_close(&slabs);
    ck_assert_uint_eq(budget.held, 0); // all slabs are freed
    ln_budget_use(NULL);
}

static object make(ln_slab_kind kind, size_t size)
{
    object made;
    made.bytes = ln_slab_alloc(kind, size, &made.home);
    ck_assert_ptr_nonnull(made.bytes);
    return made;
}

static void drop(object made)
{
    ln_slab_free(made.bytes, 0, made.home);
}

// A sanitizer that watches each object has each alone.
static int has_slabs(void)
{
    const object made = make(LN_SLAB_OPS, SIZE);
    const int has = made.home != NULL;
    drop(made);
    if (!has)
        puts("# skipped: each object is allocated alone in this build");
    return has;
}

START_TEST(objects_of_a_kind_lie_one_behind_the_other)
{
    static object ops[N], lists[N];
    size_t n_apart = 0;
    begin(MANY_BYTES);
    const int has = has_slabs();
    for (int i = 0; i < N; i++) {
        ops[i] = make(LN_SLAB_OPS, SIZE);
        lists[i] = make(LN_SLAB_TENSOR_LISTS, 17);
    }
    for (int i = 1; i < N; i++) {
        n_apart += ops[i].bytes != ops[i - 1].bytes + SIZE;
        n_apart += lists[i].bytes != lists[i - 1].bytes + 24; // a multiple of 8
    }
    if (has)
        ck_assert_uint_le(n_apart, 80); // slabs
    for (int i = 0; i < N; i++) {
        drop(ops[i]);
        drop(lists[i]);
    }
    end();
}
END_TEST

START_TEST(an_object_is_zero_and_aligned)
{
    static const unsigned char zeros[100];
    begin(MANY_BYTES);
    for (size_t size = 0; size <= sizeof(zeros); size++) {
        object before = make(LN_SLAB_PARAMS, size);
        ck_assert_uint_eq((uintptr_t)before.bytes % 8, 0);
        memset(before.bytes, 0xff, size);
        ln_slab_free(before.bytes, size, before.home);
        const object made = make(LN_SLAB_PARAMS, size); // in its place
        ck_assert_int_eq(memcmp(made.bytes, zeros, size), 0);
        drop(made);
    }
    end();
}
END_TEST

START_TEST(the_next_object_takes_the_place_of_the_last)
{
    begin(MANY_BYTES);
    if (has_slabs()) {
        const object stays = make(LN_SLAB_LIST_NODES, SIZE);
        const object goes = make(LN_SLAB_LIST_NODES, SIZE);
        ln_slab_free(goes.bytes, SIZE, goes.home);
        const object next = make(LN_SLAB_LIST_NODES, SIZE);
        ck_assert_ptr_eq(next.bytes, goes.bytes);
        ln_slab_free(stays.bytes, SIZE, stays.home); // not the last: its place stays free
        const object behind = make(LN_SLAB_LIST_NODES, SIZE);
        ck_assert_ptr_eq(behind.bytes, next.bytes + SIZE);
        drop(next);
        drop(behind);
    }
    end();
}
END_TEST

START_TEST(a_slab_is_freed_with_its_last_object)
{
    static object objects[N];
    begin(MANY_BYTES);
    for (int i = 0; i < N; i++)
        objects[i] = make(LN_SLAB_VALUES, SIZE);
    const size_t all = budget.held;
    ck_assert_uint_ge(all, (size_t)N * SIZE);
    for (int i = 0; i < N / 2; i++)
        drop(objects[i]);
    ck_assert_uint_le(budget.held, all / 2 + 65536); // whole slabs, and the first of the rest
    ln_slabs_close(&slabs);
    ck_assert_uint_gt(budget.held, 0);
    for (int i = N / 2; i < N; i++) {
        objects[i].bytes[SIZE - 1] = 1;
        drop(objects[i]);
    }
    end();
}
END_TEST

// The oldest first, so that none takes the place of the last.
START_TEST(a_slab_whose_objects_are_gone_is_filled_again)
{
    object objects[10];
    begin(MANY_BYTES);
    if (has_slabs()) {
        for (int turn = 0; turn < N; turn++) {
            for (int i = 0; i < 10; i++)
                objects[i] = make(LN_SLAB_LIST_NODES, SIZE);
            for (int i = 0; i < 10; i++)
                drop(objects[i]);
        }
        ck_assert_uint_le(budget.held, 65536);
    }
    end();
}
END_TEST

START_TEST(large_objects_and_those_without_a_budget_are_alone)
{
    begin(MANY_BYTES);
    const object large = make(LN_SLAB_OPS, 5000);
    ck_assert_ptr_null(large.home);
    large.bytes[4999] = 1;
    drop(large);
    ln_budget_use(NULL);
    const object small = make(LN_SLAB_OPS, SIZE);
    ck_assert_ptr_null(small.home);
    drop(small);
    drop((object){NULL, NULL});
    ln_budget_use(&budget);
    end();
}
END_TEST

static void *drop_all(void *objects)
{
    ln_budget own = {.limit = MANY_BYTES, .held = MANY_BYTES / 2};
    ln_budget_use(&own);
    for (const object *each = objects; each < (const object *)objects + N; each++)
        drop(*each);
    ln_budget_use(NULL);
    return (void *)(MANY_BYTES / 2 - own.held);
}

START_TEST(another_thread_may_free_while_slabs_are_filled)
{
    static object theirs[N], ours[N];
    pthread_t thread;
    void *freed;
    begin(MANY_BYTES);
    for (int i = 0; i < N; i++) {
        theirs[i] = make(LN_SLAB_OPS, SIZE);
        ours[i] = make(LN_SLAB_OPS, SIZE); // the same slabs
    }
    ck_assert_int_eq(pthread_create(&thread, NULL, drop_all, theirs), 0);
    for (int i = 0; i < N; i++) {
        const object more = make(LN_SLAB_OPS, SIZE);
        drop(ours[i]);
        drop(more);
    }
    pthread_join(thread, &freed);
    ck_assert_uint_ge(budget.held, (size_t)freed); // what the thread freed, it did not count here
    budget.held -= (size_t)freed;
    end();
}
END_TEST

START_TEST(without_memory_there_is_a_reason)
{
    ln_slab *home = NULL;
    begin(10);
    ck_assert_ptr_null(ln_slab_alloc(LN_SLAB_OPS, SIZE, &home));
    ck_assert_ptr_null(home);
    ck_assert_int_eq(strncmp(ln_last_error(), "out of memory: cannot get ", 26), 0);
    end();
}
END_TEST

LN_TEST_MAIN("slab", objects_of_a_kind_lie_one_behind_the_other, an_object_is_zero_and_aligned,
             the_next_object_takes_the_place_of_the_last, a_slab_is_freed_with_its_last_object,
             a_slab_whose_objects_are_gone_is_filled_again,
             large_objects_and_those_without_a_budget_are_alone,
             another_thread_may_free_while_slabs_are_filled, without_memory_there_is_a_reason)
