// SPDX-License-Identifier: Apache-2.0
// Tests of the clean-up between rewrites.

#include "pass/ln_rewriting.h"

#include <stdlib.h>

#include "ln_check.h"
#include "ln_test_ops.h"

static ln_test_model m;

static void begin_model(const char *interface)
{
    ln_test_begin(&m, interface);
    ln_test_op(&m, "ox", "create_test", "", "x", "len 4 value 1");
}

static ln_context *end_model(void)
{
    ln_context *ctx = ln_test_end(&m);
    ck_assert_str_eq(ln_context_error(ctx), "");
    return ctx;
}

static void end_test(ln_context *ctx, const char *types)
{
    ck_assert_str_eq(ln_test_types(ctx), types);
    ck_assert_msg(ln_context_check(ctx) == 0, "%s", ln_context_error(ctx));
    ln_context_free(ctx);
    ck_assert_int_eq(ln_test_alive, 0);
}

START_TEST(removes_operators_that_no_output_needs)
{
    begin_model("\"inputs\": [\"x\"], \"outputs\": [\"y\"],");
    ln_test_op(&m, "ow", "create_test", "", "w", "len 4 value 1"); // for c alone
    ln_test_op(&m, "oy", "add1", "x", "y", "");
    ln_test_op(&m, "oc", "add", "x w", "c", "");
    ln_test_op(&m, "od", "double", "c", "d", "");
    ln_context *ctx = end_model();
    ck_assert_int_eq(ln_cleanup_dead(ctx), 3);
    ck_assert_int_eq(ln_cleanup(ctx), 0);
    end_test(ctx, "create_test add1");
}
END_TEST

START_TEST(inputs_effects_and_writers_stay)
{
    begin_model("\"inputs\": [\"x\"], \"outputs\": [\"y\"],");
    ln_test_op(&m, "oy", "create_test", "", "y", "len 4 value 1");
    ln_test_op(&m, "oa", "double", "y", "a", "");
    ln_test_op(&m, "ow", "watch", "a", "", "");
    ln_test_op(&m, "os", "bump", "y", "s", "");
    ln_context *ctx = end_model();
    ck_assert_int_eq(ln_cleanup_dead(ctx), 0);
    end_test(ctx, "create_test create_test double watch bump");
}
END_TEST

START_TEST(equal_operators_become_one)
{
    begin_model("\"inputs\": [\"x\"], \"outputs\": [\"y\"],");
    ln_test_op(&m, "oa", "add1", "x", "a", "");
    ln_test_op(&m, "ob", "add1", "x", "b", "");
    ln_test_op(&m, "oc", "double", "a", "c", "");
    ln_test_op(&m, "od", "double", "b", "d", ""); // equal once b is a
    ln_test_op(&m, "oy", "add", "c d", "y", "");
    ln_context *ctx = end_model();
    ck_assert_int_eq(ln_pass_preprocess(ctx), 0);
    ck_assert_int_eq(ln_context_num_uses(ctx, "c"), 2);
    end_test(ctx, "create_test add1 double add");
}
END_TEST

START_TEST(a_reader_of_thousands_of_equal_operators_is_checked_once)
{
    // Checking it anew for each of them would exceed the test's time limit.
    enum { LEN = 20000 };
    char name[32], *ins;
    size_t size;
    FILE *fp = open_memstream(&ins, &size);
    begin_model("\"inputs\": [\"x\"], \"outputs\": [\"y\"],");
    for (int i = 0; i < LEN; i++) {
        snprintf(name, sizeof(name), "t%d", i);
        ln_test_op(&m, name, "add1", "x", name, "");
        fprintf(fp, "%s ", name);
    }
    fclose(fp);
    ln_test_op(&m, "oy", "stack", ins, "y", "");
    free(ins);
    ln_context *ctx = end_model();
    ck_assert_int_eq(ln_pass_preprocess(ctx), 0);
    ck_assert_int_eq(ln_context_num_uses(ctx, "t0"), LEN);
    end_test(ctx, "create_test add1 stack");
}
END_TEST

START_TEST(operators_that_differ_in_a_parameter_stay_two)
{
    begin_model("\"inputs\": [\"x\"], \"outputs\": [\"y\"],");
    ln_test_op(&m, "oa", "part", "x", "a", "from 0 len 2");
    ln_test_op(&m, "ob", "part", "x", "b", "from 2 len 2");
    ln_test_op(&m, "oy", "add", "a b", "y", "");
    ln_context *ctx = end_model();
    ck_assert_int_eq(ln_pass_preprocess(ctx), 0);
    end_test(ctx, "create_test part part add");
}
END_TEST

START_TEST(readers_before_and_after_a_writer_stay_two)
{
    begin_model("\"outputs\": [\"y\"],");
    ln_test_op(&m, "oa", "double", "x", "a", "");
    ln_test_op(&m, "os", "bump", "x", "s", "");
    ln_test_op(&m, "ob", "double", "x", "b", "");
    ln_test_op(&m, "oy", "add", "a b", "y", "");
    ln_context *ctx = end_model();
    ck_assert_int_eq(ln_pass_preprocess(ctx), 0);
    end_test(ctx, "create_test double bump double add");
}
END_TEST

START_TEST(outputs_of_the_model_keep_their_producers)
{
    begin_model("\"inputs\": [\"x\"], \"outputs\": [\"a\", \"b\", \"v\"],");
    ln_test_op(&m, "oa", "add1", "x", "a", "");
    ln_test_op(&m, "ob", "add1", "x", "b", "");
    ln_test_op(&m, "ov", "view", "a", "v", "");
    ln_context *ctx = end_model();
    ck_assert_int_eq(ln_pass_preprocess(ctx), 0);
    end_test(ctx, "create_test add1 add1 view");
}
END_TEST

START_TEST(views_that_change_nothing_go)
{
    begin_model("\"inputs\": [\"x\"], \"outputs\": [\"y\"],");
    ln_test_op(&m, "ov", "view", "x", "v", "");
    ln_test_op(&m, "ow", "view", "v", "w", "");
    ln_test_op(&m, "op", "part", "w", "p", "from 0 len 2");
    ln_test_op(&m, "oy", "add", "p p", "y", "");
    ln_context *ctx = end_model();
    ck_assert_int_eq(ln_pass_preprocess(ctx), 0);
    end_test(ctx, "create_test part add");
}
END_TEST

START_TEST(equal_parts_of_a_join_are_not_merged)
{
    begin_model("\"inputs\": [\"x\"], \"outputs\": [\"y\"],");
    ln_test_op(&m, "oa", "add1", "x", "a", "");
    ln_test_op(&m, "ob", "add1", "x", "b", "");
    ln_test_op(&m, "oy", "join", "a b", "y", "");
    ln_context *ctx = end_model();
    ck_assert_int_eq(ln_pass_preprocess(ctx), 0);
    end_test(ctx, "create_test add1 add1 join");
}
END_TEST

START_TEST(the_reference_program_is_not_cleaned)
{
    begin_model("\"inputs\": [\"x\"], \"outputs\": [\"x\"],");
    ln_test_op(&m, "oa", "add1", "x", "a", "");
    ln_context *ctx = end_model();
    ln_context_set_reference(ctx);
    ck_assert_int_eq(ln_pass_preprocess(ctx), 0);
    end_test(ctx, "create_test add1");
}
END_TEST

LN_TEST_MAIN("cleanup", removes_operators_that_no_output_needs, inputs_effects_and_writers_stay,
             equal_operators_become_one, a_reader_of_thousands_of_equal_operators_is_checked_once,
             operators_that_differ_in_a_parameter_stay_two,
             readers_before_and_after_a_writer_stay_two, outputs_of_the_model_keep_their_producers,
             views_that_change_nothing_go, equal_parts_of_a_join_are_not_merged,
             the_reference_program_is_not_cleaned)
