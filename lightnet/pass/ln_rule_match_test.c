// SPDX-License-Identifier: Apache-2.0
// Tests of rules as tables: which operators a pattern matches, and which a replacement creates.

#include <string.h>

#include "lightnet/ln_rule.h"
#include "ln_check.h"
#include "ln_test_ops.h"

// x -> double -> d; h + d -> y; y -> part -> z
static ln_context *sum_model(void)
{
    ln_test_model m;
    ln_test_begin(&m, "\"inputs\": [\"x\"],");
    ln_test_op(&m, "ox", "create_test", "", "x", "len 4 value 1");
    ln_test_op(&m, "oh", "create_test", "", "h", "len 4 value 2");
    ln_test_op(&m, "od", "double", "x", "d", "");
    ln_test_op(&m, "oy", "add", "h d", "y", "");
    ln_test_op(&m, "oz", "part", "y", "z", "from 1 len 2");
    ln_context *ctx = ln_test_end(&m);
    ck_assert_str_eq(ln_context_error(ctx), "");
    ctx->optimize = 1;
    return ctx;
}

static const ln_op *op_named(const ln_context *ctx, const char *name)
{
    return ln_op_list_find_by_name(ctx->ops, name);
}

static const char *name_at(const ln_list *ops, int n)
{
    return ((const ln_op *)ln_list_nth_data(ops, n))->op_arg->name;
}

START_TEST(a_pattern_is_found_against_the_data)
{
    static const ln_rule rule = {.name = "sum_of_double",
                                 .match = "add sum(src1=d <-> src2=h |dst=y);"
                                          "d={add1|double} twice(src=x |dst=d);",
                                 .removed = "d 1",
                                 .swaps = 1,
                                 .replace = "add(src1=x, src2=h | dst=t);"
                                            "sum.optype(sum.*, src1=t, src2=x | dst=y);"};
    ln_list *old_ops;
    ln_context *ctx = sum_model();
    ln_list *ops = ln_rule_substitute(&rule, ctx, &old_ops);
    ck_assert_int_eq(ln_list_length(ops), 2);
    ck_assert_int_eq(ln_list_length(old_ops), 2);
    ck_assert_str_eq(name_at(old_ops, 0), "od");
    ck_assert_str_eq(name_at(old_ops, 1), "oy");
    const ln_op *const first = ln_list_nth_data(ops, 0), *const last = ln_list_nth_data(ops, 1);
    const char *const t = ln_op_output_name(first, "dst");
    ck_assert_str_eq(ln_op_input_name(first, "src2"), "h");
    ck_assert_str_eq(last->op_arg->optype, "add");
    ck_assert_str_eq(ln_tensor_list_find_name(last->op_arg->tensors_in, "src1"), t);
    ck_assert_str_eq(ln_tensor_list_find_name(last->op_arg->tensors_in, "src2"), "x");
    ck_assert_str_eq(ln_tensor_list_find_name(last->op_arg->tensors_out, "dst"), "y");
    ln_list_free(old_ops);
    ln_op_list_free_lists_too(ops);
    ln_context_free(ctx);
}
END_TEST

START_TEST(a_text_matches_the_operators_that_it_describes)
{
    static const struct {
        const char *name, *match;
        int matches;
    } rows[] = {
        {"oz", "part(src=y |dst=z);", 1},
        {"oz", "{join|part} p(src=y |dst=z);", 1},
        {"oz", "{join|parts} p(src=y |dst=z);", 0},
        {"oz", "par(src=y |dst=z);", 0},
        {"oz", "part(* |*);", 1},
        {"oz", "part( |dst=z);", 0},               // it has an input
        {"oz", "part(src=y, mask?=m |dst=z);", 1}, // which may be absent
        {"oz", "part(src=y, mask=m |dst=z);", 0},  // which must be there
        {"oz", "part(src=y, mask?=y |dst=z);", 1},
        {"oz", "part(src=y |dst=y);", 0}, // two tensors
        {"oz", "part(src=y |dst=z |len=2);", 1},
        {"oz", "part(src=y |dst=z |len=-2);", 0},
        {"oz", "part(src=y |dst=z |len=TWO);", 0}, // a number
        {"oz", "part p(src=y |dst=z |len=p.len);", 1},
        {"oz", "part p(src=y |dst=z |from=p.len);", 0},
        {"oy", "add(src1=a |dst=y);", 0}, // it has two inputs
        {"oy", "add(src1=a, * |dst=y);", 1},
        {"oy", "add(src1=a, src2=a |dst=y);", 0},
        {"oy", "add(src1=a, other?=a |dst=y);", 0}, // it has another input
    };
    ln_context *ctx = sum_model();
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        const ln_rule rule = {.name = "row", .match = rows[i].match};
        int match = -1;
        ck_assert_ptr_null(ln_rule_expand(&rule, ctx, op_named(ctx, rows[i].name), &match));
        ck_assert_msg(match == rows[i].matches, "'%s' %s", rows[i].match,
                      match ? "matches" : "does not match");
        ck_assert_ptr_null(ln_rule_combine(&rule, ctx, NULL, 0, &match));
        ck_assert_int_eq(match, 0);
    }
    ln_context_free(ctx);
}
END_TEST

START_TEST(a_rule_does_not_remove_tensors_with_other_readers)
{
    ln_rule rule = {.name = "row", .match = "add(src1=h, src2=d |dst=y);", .removed = "d 1, h 1"};
    int match;
    ln_context *ctx = sum_model();
    ln_rule_expand(&rule, ctx, op_named(ctx, "oy"), &match);
    ck_assert_int_eq(match, 1);
    rule.removed = "d 1, h 2";
    ln_rule_expand(&rule, ctx, op_named(ctx, "oy"), &match);
    ck_assert_int_eq(match, 0);
    ln_context_free(ctx);
}
END_TEST

// What an observer was told.

typedef struct told {
    int n;
    ln_rule_outcome outcome;
    const char *rule, *text, *op;
} told;

static void note(void *data, const ln_rule_event *event)
{
    told *const t = data;
    *t = (told){t->n + 1, event->outcome, event->rule, event->text, event->op->op_arg->name};
}

static int refuses_by_the_second(const ln_rule_match *m)
{
    (void)m;
    return 2;
}

static int differs(const ln_rule_match *m)
{
    (void)m;
    return LN_RULE_DIFFERS;
}

static int aborts(const ln_rule_match *m)
{
    (void)m;
    ck_abort_msg("conditions may need sizes that are not open");
}

START_TEST(an_observer_learns_why_a_rule_is_not_applied)
{
    static const char sum[] = "add(src1=h, src2=d |dst=y);"
                              "d=double twice(src=x |dst=d);";
    static const char conditions[] = "h->isconst\0d->tensor->ndim == 2\0x->isconst\0";
    static const struct {
        ln_rule rule;
        int is_open; // the producer of d has open sizes
        told told;
    } rows[] = {
        {{.match = sum, .removed = "h 2"}, 0, {1, LN_RULE_READERS, "row", "h", "oy"}},
        {{.match = sum, .refuses = refuses_by_the_second, .when = conditions},
         0,
         {1, LN_RULE_CONDITION, "row", "d->tensor->ndim == 2", "oy"}},
        {{.match = sum, .removed = "h 2", .refuses = refuses_by_the_second, .when = conditions},
         0,
         {1, LN_RULE_READERS, "row", "h", "oy"}},
        {{.match = sum, .refuses = refuses_by_the_second},
         0,
         {1, LN_RULE_CONDITION, "row", NULL, "oy"}},
        {{.match = sum, .refuses = aborts}, 1, {1, LN_RULE_SIZES, "row", NULL, "oy"}},
        {{.match = sum,
          .sizes = LN_RULE_OPEN,
          .refuses = refuses_by_the_second,
          .when = conditions},
         1,
         {1, LN_RULE_CONDITION, "row", "d->tensor->ndim == 2", "oy"}},
        {{.match = sum, .refuses = differs, .when = conditions}, 0, {0}},
        {{.match = sum, .refuses = refuses_by_the_second, .is_meaning = true}, 0, {0}},
        {{.match = "add(src1=h, src2=d |dst=y |axis=1);", .removed = "h 2"}, 0, {0}},
        {{.match = "add(src1=h, src2=d |dst=y |axis=1);"}, 1, {0}},
        {{.match = "add(src1=d |dst=y);", .refuses = refuses_by_the_second}, 0, {0}},
        // In the other order of its inputs, it matches.
        {{.match = "add(src1=h <-> src2=d |dst=y);", .swaps = 1, .removed = "d 1"}, 0, {0}},
    };
    ln_context *ctx = sum_model();
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        told t = {0};
        int match;
        ln_rule rule = rows[i].rule;
        rule.name = "row";
        ln_context_watch_rules(ctx, note, &t);
        op_named(ctx, "od")->op_arg->isdynamic = rows[i].is_open ? LN_DYNAMIC_IN : 0;
        ln_rule_expand(&rule, ctx, op_named(ctx, "oy"), &match);
        ck_assert_msg(t.n == rows[i].told.n, "row %zu: told %d times", i, t.n);
        ck_assert_int_eq(t.outcome, rows[i].told.outcome);
        ck_assert_pstr_eq(t.rule, rows[i].told.rule);
        ck_assert_pstr_eq(t.text, rows[i].told.text);
        ck_assert_pstr_eq(t.op, rows[i].told.op);
        // It is not applied without an observer either.
        ln_context_watch_rules(ctx, NULL, NULL);
        const int was_told = t.n;
        ck_assert_int_eq(match, i == sizeof(rows) / sizeof(*rows) - 1);
        ln_rule_expand(&rule, ctx, op_named(ctx, "oy"), &match);
        ck_assert_int_eq(t.n, was_told);
        ck_assert_int_eq(match, i == sizeof(rows) / sizeof(*rows) - 1);
    }
    op_named(ctx, "od")->op_arg->isdynamic = 0;
    ln_context_free(ctx);
}
END_TEST

static void make_with_parameters(ln_rule_match *m)
{
    ln_rule_make(m, "part(src=y | dst=z | p.*, exact=true);");
    ln_rule_number(&m->made, "scale", 0.5);
    ln_rule_make_params(m, "sizes=[3, -4], mode=ODD, rest=null, from=p.len");
}

START_TEST(parameters_have_the_order_of_the_text)
{
    static const ln_rule rule = {
        .name = "row", .match = "part p(src=y |dst=z);", .make = make_with_parameters};
    static const char *const names[] = {"from", "len", "exact", "scale", "sizes", "mode", "rest"};
    int match, n = 0;
    const ln_param_entry *pe;
    ln_context *ctx = sum_model();
    ln_list *ops = ln_rule_expand(&rule, ctx, op_named(ctx, "oz"), &match);
    ck_assert_int_eq(ln_list_length(ops), 1);
    const ln_op *const op = ops->data;
    LN_LIST_FOREACH (pe, op->op_arg->params) {
        ck_assert_int_lt(n, 7);
        ck_assert_str_eq(pe->arg_name, names[n++]);
    }
    ck_assert_int_eq(n, 7);
    ck_assert_int_eq(ln_op_int(op, "from"), 2);
    ck_assert(ln_op_bool(op, "exact"));
    ck_assert(ln_op_has_number(op, "scale", 0.5));
    ck_assert(ln_op_has_numbers(op, "sizes", 2, (const double[]){3, -4}));
    ck_assert(ln_op_has_string(op, "mode", "ODD"));
    ck_assert(ln_op_has_null(op, "rest"));
    ln_op_list_free_lists_too(ops);
    ln_context_free(ctx);
}
END_TEST

LN_TEST_MAIN("rules as tables", a_pattern_is_found_against_the_data,
             a_text_matches_the_operators_that_it_describes,
             a_rule_does_not_remove_tensors_with_other_readers,
             an_observer_learns_why_a_rule_is_not_applied, parameters_have_the_order_of_the_text)
