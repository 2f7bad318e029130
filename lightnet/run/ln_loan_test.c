// SPDX-License-Identifier: Apache-2.0
// Tests of inputs and outputs that lie in memory of others: which ones may, and that results are
// right there.

#include "run/ln_loan.h"

#include <string.h>

#include "base/ln_alloc_fail.h"
#include "ln_check.h"
#include "ln_test_ops.h"
#include "run/ln_load.h"
#include "run/ln_sharing.h"
#include "run/ln_store.h"

enum { X, Y, Z, S, V, N_NAMES };

static const char *const names[N_NAMES] = {"x", NULL, "z", "s", "v"};
static const char *const all_names[N_NAMES] = {"x", "y", "z", "s", "v"};

// y = x[0..4] + 2 w, w being 10, 11 .., z = y + 1 in its memory, s = 2 x, v = the last half of x
// (which `has_view` keeps where it is planned).
static ln_context *model_of(int has_view, int has_writer)
{
    ln_test_model m;
    ln_test_begin(&m, has_view ? "\"inputs\": [\"x\"], \"outputs\": [\"z\", \"s\", \"v\"],"
                               : "\"inputs\": [\"x\"], \"outputs\": [\"z\", \"s\"],");
    ln_test_op(&m, "ox", "create_test", "", "x", "len 8 value 1");
    ln_test_op(&m, "ow", "create_test", "", "w", "len 4 value 10");
    if (has_writer)
        ln_test_op(&m, "ob", "bump", "x", "b", "");
    ln_test_op(&m, "op", "double", "w", "p", "");
    ln_test_op(&m, "oa", "part", has_writer ? "b" : "x", "a", "from 0 len 4");
    ln_test_op(&m, "oy", "add", "a p", "y", "");
    ln_test_op(&m, "oz", "add1", "y", "z", "");
    ln_test_op(&m, "os", "double", has_writer ? "b" : "x", "s", "");
    ln_test_op(&m, "ov", "part", has_writer ? "b" : "x", "v", "from 4 len 4");
    ln_context *ctx = ln_test_end(&m);
    ck_assert_msg(!*ln_context_error(ctx) && !ln_context_compile(ctx, "test"), "%s",
                  ln_context_error(ctx));
    return ctx;
}

static void load(ln_context *ctx, ln_store *store, ln_loan **loans)
{
    ctx->store = store;
    ck_assert_msg(!ln_context_load(ctx, NULL) && !ln_loans_find(ctx, names, N_NAMES, loans), "%s",
                  ln_context_error(ctx));
    ck_assert_ptr_null((*loans)[Y].root);
}

static void run(ln_context *ctx)
{
    ck_assert_msg(!ln_context_run(ctx), "%s", ln_context_error(ctx));
}

static void set_x(ln_context *ctx)
{
    static const float x[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    ck_assert_msg(!ln_context_set_data(ctx, "x", x), "%s", ln_context_error(ctx));
}

START_TEST(an_input_is_read_and_outputs_are_written_where_they_are_lent)
{
    float x[8] = {5, 6, 7, 8, 9, 10, 11, 12}, z[4], s[8];
    ln_loan *loans;
    ln_store *store = ln_store_create();
    ln_context *ctx = model_of(0, 0);
    load(ctx, store, &loans);
    ck_assert_ptr_nonnull(loans[X].root);
    ck_assert_uint_eq(loans[X].size, sizeof(x));
    ck_assert_uint_eq(loans[Z].size, sizeof(z));
    set_x(ctx);
    run(ctx);
    ck_assert_double_eq(ln_test_get(ctx, "z"), 22);
    ln_loan_move(ctx, &loans[X], x);
    ln_loan_move(ctx, &loans[Z], z);
    ln_loan_move(ctx, &loans[S], s);
    run(ctx);
    ck_assert_float_eq(z[0], 26);
    ck_assert_float_eq(z[3], 35);
    ck_assert_float_eq(s[7], 24);
    x[3] = 100;
    run(ctx);
    ck_assert_float_eq(z[3], 127);
    ck_assert_float_eq(x[3], 100);
    ln_loan_move(ctx, &loans[X], NULL); // as it was set
    ln_loan_move(ctx, &loans[Z], NULL);
    run(ctx);
    ck_assert_float_eq(z[0], 26);
    ck_assert_double_eq(ln_test_get(ctx, "z"), 22);
    ln_loans_free(loans, N_NAMES);
    ln_context_free(ctx);
    ln_store_free(store);
}
END_TEST

START_TEST(memory_that_is_lent_ends_loans)
{
    float x[8] = {5, 6, 7, 8, 9, 10, 11, 12}, z[4] = {0};
    ln_loan *loans;
    ln_store *store = ln_store_create();
    ln_context *ctx = model_of(0, 0);
    load(ctx, store, &loans);
    void *region = ln_mem_type_info(LN_MEM_CPU).alloc_func(ln_sharing_run_size(ctx));
    ln_loan_move(ctx, &loans[X], x);
    ln_loan_move(ctx, &loans[Z], z);
    ck_assert(ln_sharing_is_movable(ctx));
    ln_memory_move(ctx, region);
    ln_loans_forget(loans, N_NAMES);
    set_x(ctx);
    run(ctx);
    ck_assert_float_eq(z[0], 0);
    ck_assert_float_eq(x[0], 5);
    ck_assert_double_eq(ln_test_get(ctx, "z"), 22);
    ln_loan_move(ctx, &loans[X], x);
    ln_loan_move(ctx, &loans[Z], z);
    run(ctx);
    ck_assert_float_eq(z[0], 26);
    ln_loans_free(loans, N_NAMES);
    ln_context_free(ctx);
    ln_mem_type_info(LN_MEM_CPU).free_func(region);
    ln_store_free(store);
}
END_TEST

// Of each name, whether it has a loan.
static const struct {
    int has_view, has_writer;
    int has[N_NAMES];
} cases[] = {
    {0, 0, {[X] = 1, [Y] = 1, [S] = 1}}, // z lies in y's block, v in x's
    {1, 0, {[Y] = 1, [S] = 1}},          // an output would change with x
    {0, 1, {[Y] = 1, [S] = 1}},          // x is written
};

START_TEST(constants_and_shared_blocks_have_no_loans)
{
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        ln_loan *loans;
        ln_store *store = ln_store_create();
        ln_context *ctx = model_of(cases[i].has_view, cases[i].has_writer);
        load(ctx, store, &loans);
        ln_loans_free(loans, N_NAMES);
        ck_assert_int_eq(ln_loans_find(ctx, all_names, N_NAMES, &loans), 0);
        for (int j = 0; j < N_NAMES; j++)
            ck_assert_msg(!loans[j].root == !cases[i].has[j], "case %zu, '%s': a loan: %d", i,
                          names[j], loans[j].root != NULL);
        ln_loans_free(loans, N_NAMES);
        ln_context_free(ctx);
        ln_store_free(store);
    }
}
END_TEST

START_TEST(without_memory_there_are_no_loans)
{
    ln_loan *loans;
    ln_store *store = ln_store_create();
    ln_context *ctx = model_of(0, 0);
    load(ctx, store, &loans);
    ln_loans_free(loans, N_NAMES);
    int status = -1;
    for (int n = 0; status; n++) {
        ln_alloc_fail_after(n);
        status = ln_loans_find(ctx, names, N_NAMES, &loans);
        ln_alloc_fail_stop();
        ck_assert_msg(!status || strstr(ln_context_error(ctx), "memory"), "%s",
                      ln_context_error(ctx));
    }
    ln_loans_free(loans, N_NAMES);
    ln_context_free(ctx);
    ln_store_free(store);
}
END_TEST

LN_TEST_MAIN("loans", an_input_is_read_and_outputs_are_written_where_they_are_lent,
             memory_that_is_lent_ends_loans, constants_and_shared_blocks_have_no_loans,
             without_memory_there_are_no_loans)
