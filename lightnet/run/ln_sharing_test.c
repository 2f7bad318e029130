// SPDX-License-Identifier: Apache-2.0
// Tests of constants that several contexts share: what is computed, its address, and that it is
// right.

#include "run/ln_sharing.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ln_alloc_fail.h"
#include "ln_check.h"
#include "ln_test_ops.h"
#include "run/ln_load.h"
#include "run/ln_store.h"

// y = x + 2 (w + 1), z = the last 4 elements of v; 2 (w + 1) stands for a packed weight.
static ln_context *model_of(int w, int x_len)
{
    char value[32], len[32];
    ln_test_model m;
    snprintf(value, sizeof(value), "len 4 value %d", w);
    snprintf(len, sizeof(len), "len %d value 1", x_len);
    ln_test_begin(&m, "\"inputs\": [\"x\"], \"outputs\": [\"y\", \"z\", \"s\"],");
    ln_test_op(&m, "ox", "create_test", "", "x", len);
    ln_test_op(&m, "ow", "create_test", "", "w", value);
    ln_test_op(&m, "ov", "create_test", "", "v", "len 8 value 7");
    ln_test_op(&m, "oi", "add1", "w", "i", "");
    ln_test_op(&m, "op", "double", "i", "p", "");
    ln_test_op(&m, "oe", "part", "v", "z", "from 4 len 4");
    ln_test_op(&m, "os", "double", "x", "s", "");
    ln_test_op(&m, "oa", "part", "x", "a", "from 0 len 4");
    ln_test_op(&m, "oy", "add", "a p", "y", "");
    ln_context *ctx = ln_test_end(&m);
    ck_assert_msg(!*ln_context_error(ctx) && !ln_context_compile(ctx, "test"), "%s",
                  ln_context_error(ctx));
    return ctx;
}

// Returns how many operators loading has run.
static int load(ln_context *ctx, ln_store *store)
{
    ctx->store = store;
    ln_test_runs = 0;
    ck_assert_msg(!ln_context_load(ctx, NULL), "%s", ln_context_error(ctx));
    return ln_test_runs;
}

static const void *data_of(const ln_context *ctx, const char *tname)
{
    return ln_tensor_table_find(ctx->tensor_table, tname)->tensor->data;
}

static void check_run(ln_context *ctx, double y)
{
    static const float x[] = {5, 5, 5, 5, 5, 5, 5, 5};
    ck_assert_msg(!ln_context_set_data(ctx, "x", x) && !ln_context_run(ctx), "%s",
                  ln_context_error(ctx));
    ck_assert_double_eq(ln_test_get(ctx, "y"), y);
    ck_assert_double_eq(ln_test_get(ctx, "z"), 11); // 7, 8, .. from 4 on
    ck_assert_double_eq(ln_test_get(ctx, "s"), 10);
}

START_TEST(a_second_context_computes_nothing_and_holds_nothing)
{
    ln_store *store = ln_store_create();
    ln_context *one = model_of(10, 4), *two = model_of(10, 8);
    ck_assert_int_eq(load(one, store), 2);
    ck_assert_int_eq(load(two, store), 0);
    ck_assert_ptr_eq(data_of(one, "p"), data_of(two, "p"));
    ck_assert_ptr_eq(data_of(one, "z"), data_of(two, "z"));
    check_run(one, 27);
    check_run(two, 27);
    ln_context_free(one);
    check_run(two, 27); // what it shares outlives the one that computed it
    ck_assert_int_gt(ln_store_size(store), 0);
    ln_context_free(two);
    ck_assert_int_eq(ln_store_size(store), 0);
    ln_store_free(store);
}
END_TEST

START_TEST(constants_of_different_inputs_are_different)
{
    ln_store *store = ln_store_create();
    ln_context *one = model_of(10, 4), *two = model_of(11, 4);
    ck_assert_int_eq(load(one, store), 2);
    ck_assert_int_eq(load(two, store), 2);
    ck_assert_ptr_ne(data_of(one, "p"), data_of(two, "p"));
    ck_assert_ptr_eq(data_of(one, "z"), data_of(two, "z"));
    check_run(one, 27);
    check_run(two, 29);
    ln_context_free(two);
    ln_context_free(one);
    ln_store_free(store);
}
END_TEST

START_TEST(a_context_runs_in_memory_that_is_lent)
{
    ln_store *store = ln_store_create();
    ln_context *one = model_of(10, 4), *two = model_of(10, 8);
    load(one, store);
    load(two, store);
    const size_t size = ln_sharing_run_size(one) + ln_sharing_run_size(two);
    void *region = ln_mem_type_info(LN_MEM_CPU).alloc_func(size);
    ln_memory_move(one, region);
    ln_memory_move(two, region);
    for (int i = 0; i < 3; i++) {
        memset(region, 0x7f, size);
        check_run(one, 27);
        memset(region, 0x7f, size);
        check_run(two, 27);
    }
    ln_context_free(one);
    ln_context_free(two);
    ln_mem_type_info(LN_MEM_CPU).free_func(region);
    ln_store_free(store);
}
END_TEST

START_TEST(a_context_is_loaded_again)
{
    ln_store *store = ln_store_create();
    ln_context *ctx = model_of(10, 4);
    for (int i = 0; i < 3; i++) {
        ck_assert_int_eq(load(ctx, store), 2);
        check_run(ctx, 27);
        ln_context_unload(ctx);
        ck_assert_int_eq(ln_store_size(store), 0);
    }
    ln_context_free(ctx);
    ln_store_free(store);
}
END_TEST

START_TEST(without_memory_nothing_is_lost)
{
    ln_store *store = ln_store_create();
    ln_context *one = model_of(10, 4), *two = model_of(10, 8);
    load(one, store);
    two->store = store;
    int status = -1;
    for (int n = 0; status; n++) {
        ln_alloc_fail_after(n);
        status = ln_context_load(two, NULL);
        ln_alloc_fail_stop();
        ck_assert(!status || *ln_context_error(two));
    }
    check_run(two, 27);
    ln_context_unload(one);
    one->store = store;
    ln_context_unload(two);
    status = -1;
    for (int n = 0; status; n++) { // now it has to compute
        ln_alloc_fail_after(n);
        status = ln_context_load(one, NULL);
        ln_alloc_fail_stop();
    }
    check_run(one, 27);
    ln_context_free(one);
    ln_context_free(two);
    ln_store_free(store);
}
END_TEST

START_TEST(a_large_constant_leaves_memory_that_a_small_one_keeps)
{
    enum { LARGE = 1 << 20, SMALL = 64 };
    ln_store *store = ln_store_create();
    ln_storage *storage = ln_storage_create(LARGE + SMALL);
    ln_stored *large = ln_stored_create(storage, 0, LARGE),
              *small = ln_stored_create(storage, LARGE, SMALL);
    ln_storage_release(storage);
    char *data = ln_stored_place(large), *kept = ln_stored_place(small);
    memset(data, 1, LARGE);
    memset(kept, 2, SMALL);
    ln_store_give_back(store, large);
    ck_assert_int_eq(data[LARGE / 2], 0); // what the system has taken reads as zero
    for (int i = 0; i < SMALL; i++)
        ck_assert_int_eq(kept[i], 2);
    ln_store_give_back(store, small);
    ln_store_free(store);
}
END_TEST

static void *load_and_run(void *store)
{
    static const float x[8] = {5, 5, 5, 5, 5, 5, 5, 5};
    float y[4] = {0};
    for (int i = 0; i < 50; i++) {
        ln_context *ctx = model_of(10 + i % 3, 4 + i % 5);
        ctx->store = store;
        const int failed = ln_context_load(ctx, NULL) || ln_context_set_data(ctx, "x", x) ||
                           ln_context_run(ctx) || !ln_context_get_data(ctx, "y", y);
        ln_context_free(ctx);
        if (failed || y[0] != 27 + 2 * (float)(i % 3))
            return store;
    }
    return NULL;
}

START_TEST(threads_share_what_any_of_them_computes)
{
    enum { N = 4 };
    pthread_t threads[N];
    void *failed;
    ln_store *store = ln_store_create();
    ln_test_register();
    for (int i = 0; i < N; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, load_and_run, store), 0);
    for (int i = 0; i < N; i++) {
        pthread_join(threads[i], &failed);
        ck_assert_ptr_null(failed);
    }
    ck_assert_int_eq(ln_store_size(store), 0);
    ln_store_free(store);
}
END_TEST

LN_TEST_MAIN("sharing", a_second_context_computes_nothing_and_holds_nothing,
             constants_of_different_inputs_are_different, a_context_runs_in_memory_that_is_lent,
             a_context_is_loaded_again, without_memory_nothing_is_lost,
             a_large_constant_leaves_memory_that_a_small_one_keeps,
             threads_share_what_any_of_them_computes)
