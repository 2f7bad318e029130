// SPDX-License-Identifier: Apache-2.0
// Tests of the drivers of rewrites and of compiling.

#include "ir/ln_arch_tables.h"
#include "lightnet/ln_pass.h"
#include "lightnet/ln_rule.h"

#include <stdlib.h>
#include <string.h>

#include "ln_check.h"
#include "ln_test_ops.h"

static ln_context *end_model(ln_test_model *m)
{
    ln_context *ctx = ln_test_end(m);
    ck_assert_str_eq(ln_context_error(ctx), "");
    return ctx;
}

static void check_valid(const ln_context *ctx)
{
    ck_assert_msg(ln_context_check(ctx) == 0, "%s", ln_context_error(ctx));
    ck_assert(ln_dfg_is_valid(ctx->dfg));
}

static void end_test(ln_context *ctx)
{
    ln_context_free(ctx);
    ck_assert_int_eq(ln_test_alive, 0);
}

static const char *in_of(const ln_op *op)
{
    return ((ln_tensor_list_entry *)op->op_arg->tensors_in->data)->name;
}

static const char *out_of(const ln_op *op)
{
    return ((ln_tensor_list_entry *)op->op_arg->tensors_out->data)->name;
}

static int is_type(const ln_op *op, const char *optype)
{
    return ln_op_is(op, optype);
}

static ln_list *one(const char *optype, const ln_op *first, const ln_op *last)
{
    return ln_list_append(
        NULL, ln_test_new_op(last->op_arg->name, optype, in_of(first), out_of(last), ""));
}

// x -> add1 -> a -> add1 -> b -> add1 -> c -> twice -> y
static ln_context *chain_model(void)
{
    ln_test_model m;
    ln_test_begin(&m, "\"inputs\": [\"x\"],");
    ln_test_op(&m, "ox", "create_test", "", "x", "len 4 value 1");
    ln_test_op(&m, "oa", "add1", "x", "a", "");
    ln_test_op(&m, "ob", "add1", "a", "b", "");
    ln_test_op(&m, "oc", "add1", "b", "c", "");
    ln_test_op(&m, "oy", "twice", "c", "y", "");
    return end_model(&m);
}

// Expanders

// twice -> double
static ln_list *lower_twice(const ln_context *ctx, const ln_op *op, int *match)
{
    if (!is_type(op, "twice") || !ln_pass_lowering_begins(ctx, "first_rule"))
        return NULL;
    *match = 1;
    ln_list *new_ops = one("double", op, op);
    ln_pass_rule_fires(ctx, "first_rule", new_ops);
    return new_ops;
}

static ln_list *drop_add1(const ln_context *ctx, const ln_op *op, int *match)
{
    *match = is_type(op, "add1") && ln_context_is_output(ctx, out_of(op));
    return NULL;
}

static ln_list *same_again(const ln_context *ctx, const ln_op *op, int *match)
{
    *match = is_type(op, "add1");
    ln_list *new_ops = *match ? one("add1", op, op) : NULL;
    if (*match)
        ln_pass_rule_fires(ctx, "second_rule", new_ops);
    return new_ops;
}

static ln_list *wrong_op(const ln_context *ctx, const ln_op *op, int *match)
{
    *match = is_type(op, "twice");
    ln_list *new_ops =
        *match ? ln_list_append(NULL, ln_test_new_op("n", "add", "x q", "y", "")) : NULL;
    if (*match)
        ln_pass_rule_fires(ctx, "second_rule", new_ops);
    return new_ops;
}

static ln_list *fails(const ln_context *ctx, const ln_op *op, int *match)
{
    (void)match;
    if (is_type(op, "twice"))
        ln_fail(ctx, "out of memory");
    return NULL;
}

START_TEST(an_expander_rewrites_each_operator_that_it_matches)
{
    static const ln_expander_func funcs[] = {lower_twice, NULL};
    ln_context *ctx = chain_model();
    ck_assert_int_eq(ln_pass_expander(ctx, funcs), 1);
    ck_assert_str_eq(ln_test_types(ctx), "create_test add1 add1 add1 double");
    const ln_rule_count *count = ctx->rules->data;
    ck_assert_str_eq(count->name, "first_rule");
    ck_assert_int_eq(count->count, 1);
    ck_assert_str_eq(((ln_op *)ctx->last->data)->op_arg->rule, "first_rule");
    ck_assert_int_eq(ln_pass_expander(ctx, funcs), 0);
    ck_assert_int_eq(ln_pass_expander(ctx, NULL), 0);
    check_valid(ctx);
    end_test(ctx);
}
END_TEST

START_TEST(an_expander_may_leave_nothing)
{
    static const ln_expander_func funcs[] = {drop_add1, NULL};
    ln_test_model m;
    ln_test_begin(&m, "\"inputs\": [\"x\"],");
    ln_test_op(&m, "ox", "create_test", "", "x", "len 4 value 1");
    ln_test_op(&m, "oa", "add1", "x", "a", "");
    ln_context *ctx = end_model(&m);
    ck_assert_int_eq(ln_pass_expander(ctx, funcs), 1);
    ck_assert_str_eq(ln_test_types(ctx), "create_test");
    check_valid(ctx);
    end_test(ctx);
}
END_TEST

START_TEST(rewrites_without_an_end_are_an_error)
{
    static const ln_expander_func funcs[] = {same_again, NULL};
    ln_context *ctx = chain_model();
    ck_assert_int_eq(ln_pass_expander(ctx, funcs), -1);
    ck_assert_str_eq(ln_context_error(ctx),
                     "the rewrites do not terminate; the last one was 'second_rule'");
    end_test(ctx);
}
END_TEST

START_TEST(the_message_about_a_rejected_operator_names_its_rule)
{
    static const ln_expander_func funcs[] = {wrong_op, NULL};
    ln_context *ctx = chain_model();
    ck_assert_int_eq(ln_pass_expander(ctx, funcs), -1);
    ck_assert_str_eq(ln_context_error(ctx), "rule 'second_rule': operator 'n' (add): input 'src2' "
                                            "reads tensor 'q', which no earlier operator produces");
    end_test(ctx);
}
END_TEST

START_TEST(a_function_that_fails_ends_the_pass)
{
    static const ln_expander_func funcs[] = {fails, lower_twice, NULL};
    ln_context *ctx = chain_model();
    ck_assert_int_eq(ln_pass_expander(ctx, funcs), -1);
    ck_assert_str_eq(ln_context_error(ctx), "out of memory");
    end_test(ctx);
}
END_TEST

// Combiners

// add1, add1 -> work
static ln_list *two_to_work(const ln_context *ctx, const ln_list *win_ops, size_t win_size,
                            int *match)
{
    const ln_op *first = win_ops->data, *second = win_ops->next->data;
    if (win_size != 2 || !ln_pass_rule_begins(ctx, "first_rule"))
        return NULL;
    ck_assert_int_eq(ln_list_length(win_ops), 2);
    *match = is_type(first, "add1") && is_type(second, "add1");
    ln_list *new_ops =
        *match ? ln_list_append(NULL, ln_test_new_op(second->op_arg->name, "work", in_of(first),
                                                     out_of(second), "scratch 8"))
               : NULL;
    if (*match)
        ln_pass_rule_fires(ctx, "first_rule", new_ops);
    return new_ops;
}

START_TEST(a_combiner_sees_windows_of_its_size)
{
    static const ln_combiner_func funcs[] = {two_to_work, NULL};
    ln_context *ctx = chain_model();
    ck_assert_int_eq(ln_pass_combiner(ctx, 3, funcs), 0);
    ck_assert_int_eq(ln_pass_combiner(ctx, 2, funcs), 1);
    ck_assert_str_eq(ln_test_types(ctx), "create_test work add1 twice");
    ck_assert_int_eq(ln_pass_combiner(ctx, 9, funcs), 0);
    check_valid(ctx);
    end_test(ctx);
}
END_TEST

START_TEST(a_rule_that_is_left_out_does_not_fire)
{
    static const ln_combiner_func funcs[] = {two_to_work, NULL};
    ln_context *ctx = chain_model();
    ck_assert_int_eq(ln_context_disable_rule(ctx, "first_rule"), 0);
    ck_assert_int_eq(ln_pass_combiner(ctx, 2, funcs), 0);
    end_test(ctx);
    ctx = chain_model();
    ln_context_set_reference(ctx);
    ck_assert_int_eq(ln_pass_combiner(ctx, 2, funcs), 0);
    end_test(ctx);
}
END_TEST

// Subgraphs

// (u -> add1 -> v), (v -> add1 -> w), v used only there: -> (u -> double -> w).
static ln_list *ending_with(const ln_context *ctx, const ln_op *last, ln_list **old_ops)
{
    if (!is_type(last, "add1"))
        return NULL;
    ln_op *first = ln_dfg_prev(ctx->dfg, last, in_of(last));
    if (!is_type(first, "add1") || ln_context_num_uses(ctx, out_of(first)) != 1)
        return NULL;
    *old_ops = ln_list_append(ln_list_append(NULL, first), (void *)last);
    return one("double", first, last);
}

static ln_list *anchored(const ln_context *ctx, ln_list **old_ops)
{
    return ending_with(ctx, ln_pass_anchor(ctx), old_ops);
}

// The same for the first place in the whole model.
static ln_list *anywhere(const ln_context *ctx, ln_list **old_ops)
{
    ln_list *new_ops = NULL;
    for (const ln_list *node = ctx->ops; node && !*old_ops; node = node->next)
        new_ops = ending_with(ctx, node->data, old_ops);
    return new_ops;
}

static void check_subgraph(ln_subgraph_func func)
{
    const ln_subgraph_func funcs[] = {func, NULL};
    ln_test_model m;
    ln_test_begin(&m, "\"inputs\": [\"x\"],");
    ln_test_op(&m, "ox", "create_test", "", "x", "len 4 value 1");
    ln_test_op(&m, "oa", "add1", "x", "a", "");
    ln_test_op(&m, "oq", "double", "x", "q", "");
    ln_test_op(&m, "ob", "add1", "a", "b", "");
    ln_test_op(&m, "oc", "add1", "q", "c", "");
    ln_test_op(&m, "od", "add1", "c", "d", "");
    ln_test_op(&m, "oe", "add1", "d", "e", "");
    ln_context *ctx = end_model(&m);
    ck_assert_int_eq(ln_pass_subgraph(ctx, funcs), 2);
    ck_assert_str_eq(ln_test_types(ctx), "create_test double double double add1");
    check_valid(ctx);
    end_test(ctx);
}

START_TEST(a_subgraph_function_matches_at_the_anchor)
{
    check_subgraph(anchored);
}
END_TEST

START_TEST(a_subgraph_function_may_ignore_the_anchor)
{
    check_subgraph(anywhere);
}
END_TEST

START_TEST(nothing_is_moved_past_a_writer_in_place)
{
    static const ln_subgraph_func funcs[] = {anchored, NULL};
    ln_test_model m;
    ln_test_begin(&m, "\"inputs\": [\"x\"],");
    ln_test_op(&m, "ox", "create_test", "", "x", "len 4 value 1");
    ln_test_op(&m, "oa", "add1", "x", "a", "");
    ln_test_op(&m, "os", "bump", "x", "s", "");
    ln_test_op(&m, "ob", "add1", "a", "b", "");
    ln_context *ctx = end_model(&m);
    ck_assert_int_eq(ln_pass_subgraph(ctx, funcs), 0);
    ck_assert_str_eq(ln_test_types(ctx), "create_test add1 bump add1");
    end_test(ctx);
}
END_TEST

// An observer of rules

typedef struct told {
    int n;
    char text[256]; // "RULE OUTCOME OPERATOR TEXT;" of each event
} told;

static void note(void *data, const ln_rule_event *event)
{
    told *const t = data;
    const size_t len = strlen(t->text);
    t->n++;
    snprintf(t->text + len, sizeof(t->text) - len, "%s %d %s %s;", event->rule, (int)event->outcome,
             event->op->op_arg->name, event->text ? event->text : "-");
}

LN_EXPANDER_RULE(by_double, .match = "twice(src=x |dst=y);",
                 .replace = "double(src=x | dst=t);add1(src=t | dst=y);")
LN_EXPANDER_RULE(by_add1, .match = "twice(src=x |dst=y);", .replace = "add1(src=x | dst=y);")
LN_SUBGRAPH_RULE(two_add1, .removed = "v 1",
                 .match = "add1 second(src=v |dst=w);"
                          "v=add1 first(src=u |dst=v);",
                 .replace = "double(src=u | dst=w);")
LN_SUBGRAPH_RULE(add1_add1, .removed = "v 1",
                 .match = "add1 second(src=v |dst=w);"
                          "v=add1 first(src=u |dst=v);",
                 .replace = "double(src=u | dst=w);")
LN_EXPANDER_RULE(of_add1, .match = "add1(src=x |dst=y |axis=1);",
                 .replace = "twice(src=x | dst=y);")

// The rules that also match are told, and the program is the same as without an observer.
START_TEST(an_observer_learns_which_rules_lose)
{
    static const ln_expander_func funcs[] = {apply_by_double, apply_of_add1, lower_twice,
                                             apply_by_add1, NULL};
    told t = {0};
    ln_context *const plain = chain_model(), *const ctx = chain_model();
    plain->optimize = ctx->optimize = 1;
    ln_context_watch_rules(ctx, note, &t);
    ck_assert_int_eq(ln_pass_expander(plain, funcs), 1);
    ck_assert_int_eq(ln_pass_expander(ctx, funcs), 1);
    char expected[256];
    snprintf(expected, sizeof(expected), "by_add1 %d oy by_double;by_double %d oy -;",
             LN_RULE_OUTRANKED, LN_RULE_APPLIED);
    ck_assert_str_eq(t.text, expected);
    ck_assert_str_eq(ln_test_types(ctx), "create_test add1 add1 add1 double add1");
    const ln_list *node = plain->ops;
    LN_FOREACH (const ln_op *, op, ctx->ops) {
        const ln_op *const other = node->data;
        ck_assert_str_eq(op->op_arg->name, other->op_arg->name);
        ck_assert_str_eq(out_of(op), out_of(other));
        node = node->next;
    }
    ck_assert_int_eq(ln_list_length(ctx->rules), 1);
    check_valid(ctx);
    ln_context_free(plain);
    end_test(ctx);
}
END_TEST

START_TEST(an_observer_learns_of_moves_past_a_writer_in_place)
{
    static const ln_subgraph_func funcs[] = {apply_two_add1, apply_add1_add1, NULL};
    ln_test_model m;
    told t = {0};
    ln_test_begin(&m, "\"inputs\": [\"x\"],");
    ln_test_op(&m, "ox", "create_test", "", "x", "len 4 value 1");
    ln_test_op(&m, "oa", "add1", "x", "a", "");
    ln_test_op(&m, "os", "bump", "x", "s", "");
    ln_test_op(&m, "ob", "add1", "a", "b", "");
    ln_context *ctx = end_model(&m);
    ctx->optimize = 1;
    ln_context_watch_rules(ctx, note, &t);
    ck_assert_int_eq(ln_pass_subgraph(ctx, funcs), 0);
    char expected[256];
    snprintf(expected, sizeof(expected), "two_add1 %d ob -;add1_add1 %d ob -;", LN_RULE_ORDER,
             LN_RULE_ORDER);
    ck_assert_str_eq(t.text, expected);
    ck_assert_str_eq(ln_test_types(ctx), "create_test add1 bump add1");
    end_test(ctx);
}
END_TEST

// Schedules

static ln_list *last_first(const ln_context *ctx)
{
    return ln_list_reverse(ln_list_copy(ctx->ops));
}

static ln_list *all_but_one(const ln_context *ctx)
{
    return ln_list_remove_nth(ln_list_copy(ctx->ops), 0);
}

static ln_list *one_twice(const ln_context *ctx)
{
    ln_list *ops = ln_list_copy(ctx->ops);
    ops->next->data = ops->data;
    return ops;
}

static ln_list *nothing(const ln_context *ctx)
{
    (void)ctx;
    return NULL;
}

static ln_list *swapped(const ln_context *ctx, int n)
{
    ln_list *ops = ln_list_copy(ctx->ops), *node = ln_list_nth(ops, n);
    void *op = node->data;
    node->data = node->next->data;
    node->next->data = op;
    return ops;
}

static ln_list *swap_second(const ln_context *ctx)
{
    return swapped(ctx, 1);
}

static ln_list *swap_third(const ln_context *ctx)
{
    return swapped(ctx, 2);
}

static ln_context *wide_model(void)
{
    ln_test_model m;
    ln_test_begin(&m, "\"inputs\": [\"x\"],");
    ln_test_op(&m, "ox", "create_test", "", "x", "len 4 value 1");
    ln_test_op(&m, "oa", "add1", "x", "a", "");
    ln_test_op(&m, "ob", "double", "x", "b", "");
    ln_test_op(&m, "os", "bump", "x", "s", "");
    return end_model(&m);
}

START_TEST(a_schedule_brings_operators_into_another_order)
{
    static const ln_schedule_func funcs[] = {swap_second, NULL};
    ln_context *ctx = wide_model();
    ck_assert_int_eq(ln_pass_schedule(ctx, funcs), 0);
    ck_assert_str_eq(ln_test_types(ctx), "create_test double add1 bump");
    check_valid(ctx);
    end_test(ctx);
}
END_TEST

static const struct {
    ln_schedule_func func;
    const char *reason;
} wrong[] = {
    {last_first, "a schedule function broke the order: operator 'os' (bump) reads tensor 'x' "
                 "before it is produced"},
    {all_but_one, "a schedule function returned other operators than it was given"},
    {one_twice, "a schedule function returned other operators than it was given"},
    {nothing, "a schedule function returned other operators than it was given"},
    {swap_third, "a schedule function broke the order: operator 'ob' (double) is moved before an "
                 "operator that must precede it"},
};

START_TEST(rejects_a_wrong_schedule_and_keeps_the_order)
{
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        const ln_schedule_func funcs[] = {wrong[i].func, NULL};
        ln_context *ctx = wide_model();
        ck_assert_int_eq(ln_pass_schedule(ctx, funcs), -1);
        ck_assert_str_eq(ln_context_error(ctx), wrong[i].reason);
        ck_assert_str_eq(ln_test_types(ctx), "create_test add1 double bump");
        ln_context_clear_error(ctx);
        check_valid(ctx);
        end_test(ctx);
    }
}
END_TEST

START_TEST(effects_keep_their_order)
{
    static const ln_schedule_func funcs[] = {swap_second, NULL};
    ln_test_model m;
    ln_test_begin(&m, "");
    ln_test_op(&m, "ox", "create_test", "", "x", "len 4 value 1");
    ln_test_op(&m, "o1", "watch", "x", "", "");
    ln_test_op(&m, "o2", "watch", "x", "", "");
    ln_context *ctx = end_model(&m);
    ck_assert_int_eq(ln_pass_schedule(ctx, funcs), -1);
    end_test(ctx);
}
END_TEST

// Compiling

static void set_arch(ln_expander_func *ep, ln_combiner_func *cb, ln_subgraph_func *sg,
                     ln_schedule_func *sd)
{
    ln_test_arch.ep_funcs = ep;
    ln_test_arch.cb_funcs = cb;
    ln_test_arch.sg_funcs = sg;
    ln_test_arch.sd_funcs = sd;
}

START_TEST(a_compiled_model_runs_again_and_again)
{
    static ln_expander_func expanders[] = {lower_twice, NULL};
    static ln_combiner_func combiners[] = {two_to_work, NULL};
    set_arch(expanders, combiners, NULL, NULL);
    ln_context *ctx = chain_model();
    ck_assert_msg(ln_context_compile(ctx, "test") == 0, "%s", ln_context_error(ctx));
    ck_assert_str_eq(ctx->target, "test");
    for (int load = 0; load < 2; load++) {
        ck_assert_double_eq(ln_test_result(ctx, "y"), 2 * (1 + 1 + 1));
        for (int run = 0; run < 3; run++) {
            const float data[4] = {(float)run, 0, 0, 0};
            ck_assert_int_eq(ln_context_set_data(ctx, "x", data), 0);
            ck_assert_int_eq(ln_context_run(ctx), 0);
            ck_assert_double_eq(ln_test_get(ctx, "y"), 2 * (run + 2));
        }
        ln_context_unload(ctx);
        ln_context_unload(ctx);
    }
    ck_assert_int_eq(ln_context_compile(ctx, "test"), -1);
    ck_assert_str_eq(ln_context_error(ctx), "the model is compiled already, for 'test'");
    end_test(ctx);
}
END_TEST

START_TEST(the_same_model_compiles_to_the_same_bytes)
{
    static ln_expander_func expanders[] = {lower_twice, NULL};
    char *texts[2];
    set_arch(expanders, NULL, NULL, NULL);
    for (int i = 0; i < 2; i++) {
        size_t size;
        ln_context *ctx = chain_model();
        ck_assert_int_eq(ln_context_compile(ctx, "test"), 0);
        FILE *fp = open_memstream(&texts[i], &size);
        const ln_op *op;
        LN_LIST_FOREACH (op, ctx->ops)
            fprintf(fp, "%s %zu\n", op->op_arg->name,
                    ln_tensor_table_find(ctx->tensor_table, out_of(op))->offset);
        fclose(fp);
        end_test(ctx);
    }
    ck_assert_str_eq(texts[0], texts[1]);
    free(texts[0]);
    free(texts[1]);
}
END_TEST

static void list_moon(int (*add)(void *arg, const char *name), void *arg)
{
    if (!add(arg, "earth"))
        add(arg, "moon");
}

START_TEST(a_target_that_is_not_loaded_names_the_call)
{
    set_arch(NULL, NULL, NULL, NULL);
    ln_arch_set_loadable(list_moon);
    ln_context *ctx = chain_model();
    ck_assert_int_eq(ln_context_compile(ctx, "moon"), -1);
    ck_assert_str_eq(ln_context_error(ctx),
                     "target 'moon' is a plug-in that is not loaded: call "
                     "ln_plugin_load_target(\"moon\") before you create a context");
    ck_assert_int_eq(ln_context_compile(ctx, "sun"), -1);
    ck_assert_str_eq(ln_context_error(ctx),
                     "unknown target 'sun'; known targets: test, earth, moon");
    end_test(ctx);
}
END_TEST

START_TEST(a_failed_compilation_has_a_reason)
{
    set_arch(NULL, NULL, NULL, NULL);
    ln_context *ctx = chain_model();
    ck_assert_int_eq(ln_context_compile(ctx, "q"), -1);
    ck_assert_str_eq(ln_context_error(ctx), "unknown target 'q'; known targets: test");
    ck_assert_int_eq(ln_list_length(ctx->ops), 5);
    ck_assert_int_eq(ln_context_compile(ctx, "test"), -1);
    ck_assert_str_eq(
        ln_context_error(ctx),
        "model: operator 'oy' (twice) cannot run on target "
        "'test': no rewrite sets the memory type of its tensor 'y'; a general operator "
        "may replace one of the model, such as unary for relu: rules of "
        "'model_stages' inspect that one");
    ck_assert_ptr_null(ctx->ops);
    ck_assert_int_eq(ln_context_compile(ctx, "test"), -1);
    ck_assert_str_eq(ln_context_error(ctx), "the context has no model to compile");
    ck_assert_int_eq(ln_context_load(ctx, NULL), -1);
    ck_assert_str_eq(ln_context_error(ctx), "the context has no model to load");
    end_test(ctx);
}
END_TEST

START_TEST(endless_rounds_leave_an_empty_context)
{
    static ln_expander_func expanders[] = {same_again, NULL};
    set_arch(expanders, NULL, NULL, NULL);
    ln_context *ctx = chain_model();
    ck_assert_int_eq(ln_context_compile(ctx, "test"), -1);
    ck_assert_str_eq(ln_context_error(ctx),
                     "model: the rewrites do not terminate; the last one was 'second_rule'");
    ck_assert_ptr_null(ctx->ops);
    end_test(ctx);
}
END_TEST

// x input, w constant: y = x + (w + 1)
static ln_context *constant_model(void)
{
    ln_test_model m;
    set_arch(NULL, NULL, NULL, NULL);
    ln_test_begin(&m, "\"inputs\": [\"x\"],");
    ln_test_op(&m, "ox", "create_test", "", "x", "len 4 value 1");
    ln_test_op(&m, "ow", "create_test", "", "w", "len 4 value 10");
    ln_test_op(&m, "ob", "work", "w", "b", "scratch 16");
    ln_test_op(&m, "oa", "add1", "x", "a", "");
    ln_test_op(&m, "oc", "add1", "a", "c", "");
    ln_test_op(&m, "od", "double", "c", "d", "");
    ln_test_op(&m, "oy", "add", "d b", "y", "");
    ln_context *ctx = end_model(&m);
    ck_assert_int_eq(ln_context_compile(ctx, "test"), 0);
    return ctx;
}

START_TEST(constants_are_computed_once_and_again_when_set)
{
    ln_context *ctx = constant_model();
    const float w[4] = {20, 20, 20, 20};
    ck_assert_double_eq(ln_test_result(ctx, "y"), 2 * 3 + 11);
    ln_test_runs = 0;
    ck_assert_int_eq(ln_context_run(ctx), 0);
    ck_assert_int_eq(ln_test_runs, 4);
    ck_assert_int_eq(ln_context_set_data(ctx, "w", w), 0);
    ck_assert_int_eq(ln_context_run(ctx), 0);
    ck_assert_int_eq(ln_test_runs, 4 + 5);
    ck_assert_double_eq(ln_test_get(ctx, "y"), 2 * 3 + 21);
    ck_assert_int_eq(ln_context_run(ctx), 0);
    ck_assert_int_eq(ln_test_runs, 4 + 5 + 4);
    ck_assert_int_eq(ln_context_set_data(ctx, "b", w), -1);
    ck_assert_str_eq(ln_context_error(ctx),
                     "tensor 'b' is computed from others when the model is loaded");
    end_test(ctx);
}
END_TEST

START_TEST(only_what_outlives_the_run_can_be_read)
{
    ln_context *ctx = constant_model();
    ck_assert_double_eq(ln_test_result(ctx, "y"), 2 * 3 + 11);
    ck_assert_double_eq(ln_test_get(ctx, "x"), 1);
    ck_assert_double_eq(ln_test_get(ctx, "b"), 11);
    ck_assert_double_eq(ln_test_get(ctx, "c"), 3); // nothing has come to lie there
    ck_assert_ptr_null(ln_context_get_data(ctx, "a", NULL));
    ck_assert_str_eq(ln_context_error(ctx),
                     "tensor 'a' does not outlive the run: make it an output before compiling");
    end_test(ctx);
}
END_TEST

START_TEST(parameters_of_a_loaded_model_keep_its_shapes_and_its_plan)
{
    ln_context *ctx = constant_model();
    ck_assert_double_eq(ln_test_result(ctx, "y"), 2 * 3 + 11);
    ck_assert_int_eq(ln_context_set_param(ctx, "ow", "value", 30.0), 0);
    ck_assert_int_eq(ln_context_run(ctx), 0);
    ck_assert_double_eq(ln_test_get(ctx, "y"), 2 * 3 + 31);
    ck_assert_int_eq(ln_context_set_param(ctx, "ow", "len", 5.0), -1);
    ck_assert_str_eq(ln_context_error(ctx),
                     "operator 'oy' (add): 'src2' has 5 elements, expected 4");
    ck_assert_int_eq(ln_context_set_param(ctx, "ob", "scratch", 1000.0), -1);
    ck_assert_ptr_nonnull(strstr(ln_context_error(ctx), "scratch memory of operator 'ob'"));
    ck_assert_int_eq(ln_context_run(ctx), 0);
    ck_assert_double_eq(ln_test_get(ctx, "y"), 2 * 3 + 31);
    check_valid(ctx);
    end_test(ctx);
}
END_TEST

START_TEST(rejects_a_shape_that_changes_after_compiling)
{
    ln_test_model m;
    set_arch(NULL, NULL, NULL, NULL);
    ln_test_begin(&m, "\"inputs\": [\"x\"],");
    ln_test_op(&m, "ox", "create_test", "", "x", "len 4 value 1");
    ln_test_op(&m, "oy", "add1", "x", "y", "");
    ln_context *ctx = end_model(&m);
    ck_assert_int_eq(ln_context_compile(ctx, "test"), 0);
    ck_assert_int_eq(ln_context_set_param(ctx, "ox", "len", 3.0), -1);
    ck_assert_str_eq(ln_context_error(ctx),
                     "tensor 'x' would become TL_FLOAT [3], but the model is "
                     "compiled with TL_FLOAT [4]");
    ck_assert_double_eq(ln_test_result(ctx, "y"), 2);
    end_test(ctx);
}
END_TEST

START_TEST(stats_count_what_a_run_costs)
{
    ln_stats stats;
    ln_context *ctx = constant_model();
    ck_assert_int_eq(ln_context_stats(ctx, &stats), 0);
    ck_assert_int_eq(stats.ops, 7);
    ck_assert_int_eq(stats.ops_at_load, 1);
    ck_assert_int_eq(stats.views, 0);
    ck_assert_uint_eq(stats.params, 4);
    ck_assert_uint_eq(stats.param_size, 16);
    ck_assert_double_eq(stats.macs, 0);
    ck_assert_uint_eq(stats.memory_bound, 3 * 16 + 2 * 16);
    ck_assert_uint_eq(stats.memory, ctx->mem_sizes[LN_MEM_CPU]);
    end_test(ctx);
}
END_TEST

START_TEST(effects_are_seen_in_order_and_writers_persist)
{
    ln_test_model m;
    set_arch(NULL, NULL, NULL, NULL);
    ln_test_begin(&m, "");
    ln_test_op(&m, "ox", "create_test", "", "x", "len 4 value 1");
    ln_test_op(&m, "o1", "watch", "x", "", "");
    ln_test_op(&m, "os", "bump", "x", "s", "");
    ln_test_op(&m, "o2", "watch", "x", "", "");
    ln_context *ctx = end_model(&m);
    ck_assert_int_eq(ln_context_compile(ctx, "test"), 0);
    ln_test_seen = 0;
    ck_assert_double_eq(ln_test_result(ctx, "s"), 2);
    ck_assert_double_eq(ln_test_seen, 1 + 2);
    ck_assert_int_eq(ln_context_run(ctx), 0);
    ck_assert_double_eq(ln_test_seen, 1 + 2 + 2 + 3);
    uint64_t ns[4] = {0};
    ck_assert_int_eq(ln_context_run_timed(ctx, ns), 0);
    ck_assert_double_eq(ln_test_get(ctx, "x"), 4);
    end_test(ctx);
}
END_TEST

LN_TEST_MAIN("pass", an_expander_rewrites_each_operator_that_it_matches,
             an_expander_may_leave_nothing, rewrites_without_an_end_are_an_error,
             the_message_about_a_rejected_operator_names_its_rule,
             a_function_that_fails_ends_the_pass, a_combiner_sees_windows_of_its_size,
             a_rule_that_is_left_out_does_not_fire, a_subgraph_function_matches_at_the_anchor,
             a_subgraph_function_may_ignore_the_anchor, nothing_is_moved_past_a_writer_in_place,
             an_observer_learns_which_rules_lose,
             an_observer_learns_of_moves_past_a_writer_in_place,
             a_schedule_brings_operators_into_another_order,
             rejects_a_wrong_schedule_and_keeps_the_order, effects_keep_their_order,
             a_compiled_model_runs_again_and_again, the_same_model_compiles_to_the_same_bytes,
             a_target_that_is_not_loaded_names_the_call, a_failed_compilation_has_a_reason,
             endless_rounds_leave_an_empty_context, constants_are_computed_once_and_again_when_set,
             only_what_outlives_the_run_can_be_read,
             parameters_of_a_loaded_model_keep_its_shapes_and_its_plan,
             rejects_a_shape_that_changes_after_compiling, stats_count_what_a_run_costs,
             effects_are_seen_in_order_and_writers_persist)
