// SPDX-License-Identifier: Apache-2.0
// Tests of limits and of cancelling: what ends, with which message, and what is right afterwards.

#include "ir/ln_limits.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "ln_check.h"
#include "ln_test_ops.h"

static const float ones[] = {1, 1, 1, 1}, fives[] = {5, 5, 5, 5};

// x is the input, w a constant of 2; y = (x + 1) + (w + 1).
static void begin_model(ln_test_model *m)
{
    ln_test_begin(m, "\"inputs\": [\"x\"],");
    ln_test_op(m, "ox", "create_test", "", "x", "len 4 value 1");
    ln_test_op(m, "ow", "create_test", "", "w", "len 4 value 2");
    ln_test_op(m, "oa", "add1", "x", "a", "");
    ln_test_op(m, "ob", "add1", "w", "b", "");
    ln_test_op(m, "oy", "add", "a b", "y", "");
}

static ln_context *small_model(void)
{
    ln_test_model m;
    begin_model(&m);
    ln_context *ctx = ln_test_end(&m);
    ck_assert_str_eq(ln_context_error(ctx), "");
    return ctx;
}

static ln_context *compiled_model(void)
{
    ln_context *ctx = small_model();
    ck_assert_msg(ln_context_compile(ctx, "test") == 0, "%s", ln_context_error(ctx));
    return ctx;
}

static ln_context *loaded_model(void)
{
    ln_context *ctx = compiled_model();
    ck_assert_msg(ln_context_load(ctx, NULL) == 0, "%s", ln_context_error(ctx));
    ck_assert_int_eq(ln_context_set_data(ctx, "x", ones), 0);
    return ctx;
}

static void check_result(ln_context *ctx, double expected)
{
    ck_assert_msg(ln_context_run(ctx) == 0, "%s", ln_context_error(ctx));
    ck_assert_double_eq(ln_test_get(ctx, "y"), expected);
}

// The side effect of an operator while it runs

static void (*meanwhile)(ln_context *ctx);
static ln_op_func work;

static void work_and_more(ln_op_arg *op_arg)
{
    meanwhile(op_arg->ctx);
    work(op_arg);
}

static void disturb(const ln_context *ctx, const char *opname, void (*how)(ln_context *ctx))
{
    ln_op *op = ln_op_table_find(ctx->op_table, opname);
    meanwhile = how;
    work = op->run;
    op->run = work_and_more;
}

static void *cancel(void *ctx)
{
    ln_context_cancel(ctx);
    return NULL;
}

static void cancel_in_another_thread(ln_context *ctx)
{
    pthread_t thread;
    ck_assert_int_eq(pthread_create(&thread, NULL, cancel, ctx), 0);
    pthread_join(thread, NULL);
}

static void sleep_5_ms(ln_context *ctx)
{
    (void)ctx;
    usleep(5000);
}

// Cancelling

START_TEST(a_run_that_another_thread_cancels_ends_behind_its_operator)
{
    ln_context *ctx = loaded_model();
    disturb(ctx, "oa", cancel_in_another_thread);
    ln_test_runs = 0;
    ck_assert_int_eq(ln_context_run(ctx), -1);
    ck_assert_str_eq(ln_context_error(ctx), "operator 'oa' (add1): cancelled");
    ck_assert_int_eq(ln_test_runs, 1);
    ck_assert_int_eq(ln_context_run(ctx), -1); // until it is resumed
    ck_assert_str_eq(ln_context_error(ctx), "cancelled");
    ck_assert_int_eq(ln_test_runs, 1);
    ln_context_resume(ctx);
    ln_op_table_find(ctx->op_table, "oa")->run = work;
    check_result(ctx, 5);
    ln_context_free(ctx);
}
END_TEST

START_TEST(a_cancelled_context_begins_nothing)
{
    ln_context *ctx = ln_context_create();
    ln_test_model m;
    begin_model(&m);
    char *text = ln_test_text(&m);
    ln_context_cancel(ctx);
    ck_assert_int_eq(ln_context_init_text(ctx, "model", text, strlen(text)), -1);
    ck_assert_str_eq(ln_context_error(ctx), "model: cancelled");
    ln_context_resume(ctx);
    ck_assert_int_eq(ln_context_init_text(ctx, "model", text, strlen(text)), 0);
    ln_context_cancel(ctx);
    ck_assert_int_eq(ln_context_compile(ctx, "test"), -1);
    ck_assert_str_eq(ln_context_error(ctx), "model: cancelled");
    ck_assert_ptr_null(ctx->ops); // as after any compilation that fails
    ln_context_resume(ctx);
    ck_assert_int_eq(ln_context_init_text(ctx, "model", text, strlen(text)), 0);
    ck_assert_int_eq(ln_context_compile(ctx, "test"), 0);
    ck_assert_int_eq(ln_context_load(ctx, NULL), 0);
    check_result(ctx, 5);
    free(text);
    ln_context_free(ctx);
}
END_TEST

START_TEST(a_cancelled_load_leaves_the_context_unloaded)
{
    ln_context *ctx = compiled_model();
    disturb(ctx, "ob", cancel_in_another_thread);
    ck_assert_int_eq(ln_context_load(ctx, NULL), -1);
    ck_assert_str_eq(ln_context_error(ctx), "operator 'ob' (add1): cancelled");
    ck_assert_ptr_null(ctx->mem_starts[LN_MEM_CPU]);
    ln_op_table_find(ctx->op_table, "ob")->run = work;
    ln_context_resume(ctx);
    ck_assert_int_eq(ln_context_load(ctx, NULL), 0);
    ck_assert_int_eq(ln_context_set_data(ctx, "x", ones), 0);
    check_result(ctx, 5);
    ln_context_free(ctx);
}
END_TEST

START_TEST(constants_whose_computation_was_cancelled_are_computed_by_the_next_run)
{
    ln_context *ctx = loaded_model();
    check_result(ctx, 5);
    ck_assert_int_eq(ln_context_set_data(ctx, "w", fives), 0);
    disturb(ctx, "ob", cancel_in_another_thread);
    ck_assert_int_eq(ln_context_run(ctx), -1);
    ck_assert_str_eq(ln_context_error(ctx), "operator 'ob' (add1): cancelled");
    ln_op_table_find(ctx->op_table, "ob")->run = work;
    ln_context_resume(ctx);
    check_result(ctx, 8);
    ln_context_free(ctx);
}
END_TEST

START_TEST(no_parameter_is_set_while_the_context_is_cancelled)
{
    ln_context *ctx = loaded_model();
    ln_context_cancel(ctx);
    ck_assert_int_eq(ln_context_set_param(ctx, "ox", "value", 3.0), -1);
    ck_assert_str_eq(ln_context_error(ctx), "cancelled");
    ln_context_resume(ctx);
    check_result(ctx, 5); // nothing is lost
    ck_assert_int_eq(ln_context_set_param(ctx, "ox", "value", 1.0), 0);
    check_result(ctx, 5);
    ln_context_free(ctx);
}
END_TEST

// Time

START_TEST(a_run_ends_at_the_time_limit)
{
    ln_context *ctx = loaded_model();
    disturb(ctx, "oa", sleep_5_ms);
    ck_assert_int_eq(ln_context_set_limit(ctx, LN_LIMIT_TIME, 1), 0);
    ck_assert_uint_eq(ln_context_limit(ctx, LN_LIMIT_TIME), 1);
    ck_assert_int_eq(ln_context_run(ctx), -1);
    ck_assert_ptr_nonnull(strstr(ln_context_error(ctx), "stopped at the time limit of 1 ms"));
    ln_context_resume(ctx); // takes back what ln_context_cancel asked for alone
    ck_assert_int_eq(ln_context_run(ctx), -1);
    ck_assert_str_eq(ln_context_error(ctx), "stopped at the time limit of 1 ms");
    ck_assert_int_eq(ln_context_set_limit(ctx, LN_LIMIT_TIME, 0), 0);
    check_result(ctx, 5);
    ck_assert_int_eq(ln_context_set_limit(ctx, LN_LIMIT_TIME, UINT64_MAX), 0);
    check_result(ctx, 5);
    ln_context_free(ctx);
}
END_TEST

// Operators

static int read_with(ln_context *ctx, ln_limit limit, uint64_t value)
{
    ln_test_model m;
    begin_model(&m);
    char *text = ln_test_text(&m);
    ck_assert_int_eq(ln_context_set_limit(ctx, limit, value), 0);
    const int status = ln_context_init_text(ctx, "model", text, strlen(text));
    free(text);
    return status;
}

START_TEST(existing_operators_are_counted)
{
    ln_context *ctx = ln_context_create();
    ck_assert_int_eq(read_with(ctx, LN_LIMIT_OPS, 4), -1);
    ck_assert_str_eq(ln_context_error(ctx),
                     "model: operator 'oy' (add): the model exceeds the limit of 4 operators");
    for (int i = 0; i < 3; i++) {
        ck_assert_msg(read_with(ctx, LN_LIMIT_OPS, 5) == 0, "%s", ln_context_error(ctx));
        ln_context_cleanup(ctx);
    }
    ck_assert_int_eq(read_with(ctx, LN_LIMIT_OPS, 0), 0); // no limit
    ln_context_free(ctx);
}
END_TEST

START_TEST(there_are_no_other_limits)
{
    ln_context *ctx = ln_context_create();
    ck_assert_int_eq(ln_context_set_limit(ctx, (ln_limit)99, 1), -1);
    ck_assert_str_eq(ln_context_error(ctx), "unknown limit 99, expected 0 to 4");
    ck_assert_uint_eq(ln_context_limit(ctx, (ln_limit)99), 0);
    ck_assert_uint_eq(ln_context_limit(ctx, LN_LIMIT_MEMORY), 0);
    ck_assert_uint_eq(ln_context_limit(ctx, LN_LIMIT_TIME), 0);
    ck_assert_uint_eq(ln_context_limit(ctx, LN_LIMIT_OPS), 250000);
    ck_assert_uint_eq(ln_context_limit(ctx, LN_LIMIT_FOLD_MEMORY), 64 << 20);
    ck_assert_uint_eq(ln_context_limit(ctx, LN_LIMIT_FOLD_TIME), 100);
    ln_context_free(ctx);
}
END_TEST

START_TEST(time_for_folding_may_be_any_number)
{
    static const uint64_t rows[] = {0, 100000, (uint64_t)1 << 58, UINT64_MAX};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        ln_context *ctx = ln_context_create(), *fold = ln_context_create();
        ck_assert_int_eq(ln_context_set_limit(ctx, LN_LIMIT_FOLD_TIME, rows[i]), 0);
        ln_limits_begin_fold(fold, ctx);
        ck_assert_msg(ln_limits_check(fold) == 0, "%" PRIu64 " ms: %s", rows[i],
                      ln_context_error(fold));
        ln_limits_end_fold(fold);
        ln_context_free(fold);
        ln_context_free(ctx);
    }
}
END_TEST

// Memory

START_TEST(rejects_a_plan_above_the_limit_before_allocation)
{
    ln_test_model m;
    ln_test_begin(&m, "\"inputs\": [\"x\"],");
    ln_test_op(&m, "ox", "create_test", "", "x", "len 4000 value 1");
    ln_test_op(&m, "oj", "stack", "x x", "j", "");
    ln_test_op(&m, "oy", "work", "j", "y", "scratch 100");
    ln_context *ctx = ln_test_end(&m);
    ck_assert_int_eq(ln_context_compile(ctx, "test"), 0);
    const size_t planned = ctx->mem_sizes[LN_MEM_CPU];
    char expected[256];
    snprintf(expected, sizeof(expected),
             "operator 'oj' (stack): tensor 'j' needs 32000 of the %zu bytes of memory planned, "
             "which exceed the limit of %zu bytes",
             planned, planned - 1);
    ck_assert_int_eq(ln_context_set_limit(ctx, LN_LIMIT_MEMORY, planned - 1), 0);
    ck_assert_int_eq(ln_context_load(ctx, NULL), -1);
    ck_assert_str_eq(ln_context_error(ctx), expected);
    ck_assert_int_eq(ln_context_set_limit(ctx, LN_LIMIT_MEMORY, planned + 2000), 0);
    for (int i = 0; i < 3; i++) { // it is given back
        ck_assert_msg(ln_context_load(ctx, NULL) == 0, "%s", ln_context_error(ctx));
        ln_context_unload(ctx);
    }
    ln_context_free(ctx);
}
END_TEST

START_TEST(scratch_memory_is_named_where_it_is_the_largest)
{
    ln_test_model m;
    ln_test_begin(&m, "\"inputs\": [\"x\"],");
    ln_test_op(&m, "ox", "create_test", "", "x", "len 4 value 1");
    ln_test_op(&m, "oy", "work", "x", "y", "scratch 5000");
    ln_context *ctx = ln_test_end(&m);
    ck_assert_int_eq(ln_context_compile(ctx, "test"), 0);
    ck_assert_int_eq(ln_context_set_limit(ctx, LN_LIMIT_MEMORY, 5000), 0);
    ck_assert_int_eq(ln_context_load(ctx, NULL), -1);
    ck_assert_ptr_nonnull(
        strstr(ln_context_error(ctx), "operator 'oy' (work): scratch memory needs 5000 of the "));
    ln_context_free(ctx);
}
END_TEST

START_TEST(reading_ends_at_each_limit_of_memory_until_it_is_enough)
{
    size_t limit = 100;
    ln_context *ctx = ln_context_create();
    ck_assert_int_eq(ln_budget_knows_sizes(), 1); // as the GNU C library and musl do
    for (; read_with(ctx, LN_LIMIT_MEMORY, limit); limit += 100) {
        char expected[64];
        snprintf(expected, sizeof(expected), "the limit of %zu bytes of memory", limit);
        ck_assert_msg(strstr(ln_context_error(ctx), expected) != NULL, "%zu: %s", limit,
                      ln_context_error(ctx));
        ck_assert_ptr_null(ctx->ops);
    }
    ck_assert_uint_gt(limit, 2000);
    ck_assert_uint_lt(limit, 50000);
    limit += limit / 4;           // malloc may give some bytes more than before
    for (int i = 0; i < 5; i++) { // it is given back
        ln_context_cleanup(ctx);
        ck_assert_msg(read_with(ctx, LN_LIMIT_MEMORY, limit) == 0, "%s", ln_context_error(ctx));
    }
    ck_assert_int_eq(ln_context_set_limit(ctx, LN_LIMIT_MEMORY, 100), 0);
    ck_assert_int_eq(ln_context_compile(ctx, "test"), -1);
    ck_assert_ptr_nonnull(strstr(ln_context_error(ctx), "the limit of 100 bytes"));
    ln_context_free(ctx);
}
END_TEST

static size_t max_resident(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (size_t)usage.ru_maxrss * 1024;
}

// The JSON library doubles the block of the string, and holds both meanwhile.
START_TEST(a_long_string_takes_no_more_than_the_limit)
{
    enum { LEN = 33 << 20, LIMIT = 34 << 20, OTHER = 8 << 20 };
    char *const text = malloc(LEN + 1);
    ln_context *ctx = ln_context_create();
    memset(text, 'A', LEN);
    memcpy(text, "[\"", 2);
    memcpy(text + LEN - 2, "\"]", 3);
    ck_assert_int_eq(ln_context_set_limit(ctx, LN_LIMIT_MEMORY, LIMIT), 0);
    const size_t before = max_resident();
    ck_assert_int_eq(ln_context_init_text(ctx, "m.json", text, LEN), -1);
    const size_t taken = max_resident() - before;
    ck_assert_ptr_nonnull(strstr(ln_context_error(ctx), "the limit of 35651584 bytes of memory"));
    ck_assert_msg(LN_IS_SANITIZED || taken < LIMIT + OTHER, "%zu bytes", taken);
    ln_context_free(ctx);
    free(text);
}
END_TEST

static void *allocate_much(void *expected)
{
    void *much = ln_alloc(1 << 20);
    *(int *)expected = much != NULL;
    ln_free(much);
    return NULL;
}

START_TEST(a_budget_counts_for_its_thread_alone)
{
    int allocated = 0;
    pthread_t thread;
    ln_budget budget = {.limit = 1000};
    ln_budget *const before = ln_budget_use(&budget);
    ck_assert_ptr_null(before);
    ck_assert_ptr_null(ln_alloc(1001));
    ck_assert_str_eq(ln_last_error(), "out of memory: cannot get 1001 bytes");
    ck_assert_uint_eq(budget.rejected, 1001);
    ck_assert_int_eq(pthread_create(&thread, NULL, allocate_much, &allocated), 0);
    pthread_join(thread, NULL);
    ck_assert_int_eq(allocated, 1);
    void *some = ln_alloc(500);
    ck_assert_ptr_nonnull(some);
    ck_assert_ptr_null(ln_realloc(some, 1100));
    ln_free(some);
    ck_assert_uint_eq(budget.held, 0);
    ln_budget_use(before);
    allocate_much(&allocated);
    ck_assert_int_eq(allocated, 1);
}
END_TEST

LN_TEST_MAIN("limits", a_run_that_another_thread_cancels_ends_behind_its_operator,
             a_cancelled_context_begins_nothing, a_cancelled_load_leaves_the_context_unloaded,
             constants_whose_computation_was_cancelled_are_computed_by_the_next_run,
             no_parameter_is_set_while_the_context_is_cancelled, a_run_ends_at_the_time_limit,
             existing_operators_are_counted, there_are_no_other_limits,
             time_for_folding_may_be_any_number, rejects_a_plan_above_the_limit_before_allocation,
             scratch_memory_is_named_where_it_is_the_largest,
             reading_ends_at_each_limit_of_memory_until_it_is_enough,
             a_long_string_takes_no_more_than_the_limit, a_budget_counts_for_its_thread_alone)
