// SPDX-License-Identifier: Apache-2.0
// Tests of what rewrite rules are made of.

#include "lightnet/ln_rule.h"

#include <math.h>
#include <string.h>

#include "ir/ln_weights.h"
#include "ln_check.h"
#include "ln_test_ops.h"
#include "pass/ln_rewriting.h"

// x -> part -> y
static ln_context *part_model(void)
{
    ln_test_model m;
    ln_test_begin(&m, "\"inputs\": [\"x\"],");
    ln_test_op(&m, "ox", "create_test", "", "x", "len 4 value 1");
    ln_test_op(&m, "oy", "part", "x", "y", "from 1 len 2");
    ln_context *ctx = ln_test_end(&m);
    ck_assert_str_eq(ln_context_error(ctx), "");
    return ctx;
}

static const ln_op *part_of(const ln_context *ctx)
{
    return ctx->last->data;
}

static void count_message(void *data, ln_msg_level level, const char *text)
{
    ck_assert_int_eq(level, LN_MSG_WARN);
    ck_assert_ptr_nonnull(strstr(text, "operator 'oy' (part): it is"));
    ++*(int *)data;
}

START_TEST(each_rule_warns_once_about_an_operator)
{
    int n = 0;
    ln_context *ctx = part_model();
    ctx->msg_func = count_message;
    ctx->msg_data = &n;
    ck_assert_int_eq(ln_rewriting_begin(ctx), 0);
    for (int round = 0; round < 3; round++) {
        ln_rule_warn(ctx, "short", part_of(ctx), "it is short");
        ln_rule_warn(ctx, "late", part_of(ctx), "it is late");
    }
    ln_rewriting_end(ctx);
    ck_assert_int_eq(n, 2);
    ck_assert_ptr_null(part_of(ctx)->op_arg->rule); // no rule has made it
    ln_context_free(ctx);
}
END_TEST

START_TEST(later_arguments_replace_copied_ones)
{
    int match;
    ln_context *ctx = part_model();
    ln_rule_made made = {.ctx = ctx, .rule = "first_rule"};
    ln_rule_op(&made, "part");
    ln_rule_all_inputs(&made, part_of(ctx));
    ln_rule_input(&made, "src", "other");
    ln_rule_all_params(&made, part_of(ctx));
    ln_rule_number(&made, "len", 3);
    ln_list *ops = ln_rule_end(&made, &match);
    ck_assert_int_eq(match, 1);
    const ln_op_arg *op_arg = ((ln_op *)ops->data)->op_arg;
    ck_assert_str_eq(op_arg->rule, "first_rule");
    ck_assert_int_eq(ln_tensor_list_length(op_arg->tensors_in), 1);
    ck_assert_str_eq(ln_tensor_list_find_name(op_arg->tensors_in, "src"), "other");
    ck_assert_int_eq(ln_list_length(op_arg->params), ln_list_length(part_of(ctx)->op_arg->params));
    ck_assert_int_eq(ln_op_int(ops->data, "from"), 1);
    ck_assert_int_eq(ln_op_int(ops->data, "len"), 3);
    ln_op_list_free_lists_too(ops);
    ln_context_free(ctx);
}
END_TEST

// Ends a making that has failed: nothing is left, and the reason is known.
static void check_failed(ln_rule_made *made, const char *reason)
{
    int match = 1;
    ln_rule_number(made, "len", 3); // calls after the failure do nothing
    ck_assert_ptr_null(ln_rule_end(made, &match));
    ck_assert_int_eq(match, 0);
    ck_assert_str_eq(ln_context_error(made->ctx), reason);
}

START_TEST(a_replacement_of_unknown_type_fails)
{
    ln_context *ctx = part_model();
    ln_rule_made made = {.ctx = ctx, .rule = "first_rule"};
    ln_rule_op(&made, "part");
    ln_rule_op(&made, "nothing");
    check_failed(&made, "rule 'first_rule' creates an operator of unknown type 'nothing'");
    ln_context_free(ctx);
}
END_TEST

START_TEST(a_parameter_must_be_there_to_be_copied)
{
    ln_context *ctx = part_model();
    ln_rule_made made = {.ctx = ctx, .rule = "first_rule"};
    ln_rule_op(&made, "part");
    ln_rule_param(&made, "from", part_of(ctx), "begin");
    check_failed(&made, "rule 'first_rule' copies parameter 'begin' of operator 'oy' (part), which "
                        "lacks it");
    ln_context_free(ctx);
}
END_TEST

START_TEST(an_input_that_may_be_absent_is_the_same_where_it_is_there)
{
    ln_context *ctx = part_model();
    const ln_tensor_entry *x = NULL, *y = ln_tensor_table_find(ctx->tensor_table, "y");
    ck_assert(ln_op_may_read(part_of(ctx), "mask", &x));
    ck_assert_ptr_null(x);
    ck_assert(ln_op_may_read(part_of(ctx), "src", &x));
    ck_assert_str_eq(x->name, "x");
    ck_assert(!ln_op_may_read(part_of(ctx), "src", &y));
    ck_assert(!ln_op_may_read(NULL, "src", &x));
    ln_context_free(ctx);
}
END_TEST

START_TEST(a_number_in_the_models_file_is_known)
{
    static const float numbers[] = {0.25f, 2};
    ln_context *ctx = part_model();
    const ln_tensor_entry *x = ln_tensor_table_find(ctx->tensor_table, "x");
    const ln_tensor_entry *y = ln_tensor_table_find(ctx->tensor_table, "y");
    ln_tensor_entry one = *x;
    tl_tensor *const record = tl_tensor_create((void *)numbers, 1, (int[]){1}, TL_FLOAT);
    one.tensor = record;
    one.isconst = 1;
    ck_assert(isnan(ln_rule_scalar(ctx, &one))); // its producer does not say
    ctx->weights = ln_weights_create();
    ck_assert_int_eq(ln_weights_add(ctx->weights, "x", record, 0), 0);
    ck_assert_double_eq(ln_rule_scalar(ctx, &one), 0.25);
    one.isconst = 0;
    ck_assert(isnan(ln_rule_scalar(ctx, &one)));
    ck_assert(isnan(ln_rule_scalar(ctx, x))); // 4 elements
    ck_assert(isnan(ln_rule_scalar(ctx, y)));
    ln_context_free(ctx);
}
END_TEST

LN_TEST_MAIN("rules", each_rule_warns_once_about_an_operator, later_arguments_replace_copied_ones,
             a_replacement_of_unknown_type_fails, a_parameter_must_be_there_to_be_copied,
             an_input_that_may_be_absent_is_the_same_where_it_is_there,
             a_number_in_the_models_file_is_known)
