// SPDX-License-Identifier: Apache-2.0
// Tests of the tables of architectures: what is entered, extended and undone.

#include "ir/ln_arch_tables.h"

#include "base/ln_alloc_fail.h"
#include "ln_check.h"
#include "lightnet/ln_context.h"

#define OP(name, of_arch)                                              \
    static ln_op_arg name##_arg = {.optype = #name, .arch = #of_arch}; \
    static ln_op name = {.op_arg = &name##_arg}

OP(old_op, home);
OP(new_op, home);
OP(stray_op, elsewhere);

// Rules: never called, told apart by their addresses.

#define EXPANDER(name)                                                       \
    static ln_list *name(const ln_context *ctx, const ln_op *op, int *match) \
    {                                                                        \
        (void)ctx, (void)op, *match = 0;                                     \
        return NULL;                                                         \
    }

EXPANDER(old_rule)
EXPANDER(new_rule)
EXPANDER(old_early_rule)
EXPANDER(new_early_rule)
EXPANDER(old_late_rule)
EXPANDER(new_late_rule)
EXPANDER(new_last_rule)

static ln_op *old_ops[] = {&old_op, NULL};
static ln_expander_func old_funcs[] = {old_rule, NULL};
static ln_expander_func old_early_funcs[] = {old_early_rule, NULL};
static ln_expander_func old_late_funcs[] = {old_late_rule, NULL};
static const char *old_names[] = {"old_rule", NULL};
static const ln_arch_stage old_early[] = {{old_early_funcs, NULL, NULL}, {NULL, NULL, NULL}};
static const ln_arch_stage old_stages[] = {{old_late_funcs, NULL, NULL}, {NULL, NULL, NULL}};
static ln_arch home = {.arch_name = "home",
                       .reg_ops = old_ops,
                       .ep_funcs = old_funcs,
                       .rule_names = old_names,
                       .early_stages = old_early,
                       .later_stages = old_stages};

static ln_op *new_ops[] = {&new_op, NULL};
static ln_expander_func new_funcs[] = {new_rule, NULL};
static ln_expander_func new_early_funcs[] = {new_early_rule, NULL};
static ln_expander_func new_late_funcs[] = {new_late_rule, NULL};
static ln_expander_func new_last_funcs[] = {new_last_rule, NULL};
static const char *new_names[] = {"new_rule", NULL};
static const ln_arch_stage new_early[] = {{new_early_funcs, NULL, NULL}, {NULL, NULL, NULL}};
static const ln_arch_stage new_stages[] = {
    {new_late_funcs, NULL, NULL}, {new_last_funcs, NULL, NULL}, {NULL, NULL, NULL}};
static const ln_arch more = {.arch_name = "home",
                             .reg_ops = new_ops,
                             .ep_funcs = new_funcs,
                             .rule_names = new_names,
                             .model_stages = new_early,
                             .early_stages = new_early,
                             .later_stages = new_stages};

static void register_home(void)
{
    ck_assert_int_eq(ln_arch_register(&home), 0);
}

// The tables and the architecture are as register_home left them.
static void assert_only_home(void)
{
    ck_assert_int_eq(ln_arch_changes(), 1);
    ck_assert_int_eq(ln_list_length(ln_arch_list()), 1);
    ck_assert_int_eq(ln_hash_size(LN_ARCH.arch_table), 1);
    ck_assert_int_eq(ln_hash_size(LN_ARCH.op_proto_table), 1);
    ck_assert_ptr_eq(ln_hash_find(LN_ARCH.op_proto_table, "old_op"), &old_op);
    ck_assert_ptr_eq(home.reg_ops, old_ops);
    ck_assert_ptr_eq(home.ep_funcs, old_funcs);
    ck_assert_ptr_eq(home.rule_names, old_names);
    ck_assert_ptr_eq(home.early_stages, old_early);
    ck_assert_ptr_eq(home.later_stages, old_stages);
}

START_TEST(added_rules_are_tried_before_existing_ones)
{
    register_home();
    ck_assert_int_eq(ln_arch_extend(&more), 0);
    ck_assert(home.ep_funcs[0] == new_rule && home.ep_funcs[1] == old_rule);
    ck_assert(!home.ep_funcs[2] && !home.cb_funcs);
    const ln_arch_stage *early = home.early_stages, *stages = home.later_stages;
    ck_assert(home.model_stages[0].ep_funcs[0] == new_early_rule && !home.model_stages[1].ep_funcs);
    ck_assert(early[0].ep_funcs[0] == new_early_rule && early[0].ep_funcs[1] == old_early_rule);
    ck_assert(!early[0].ep_funcs[2] && !early[1].ep_funcs);
    ck_assert(stages[0].ep_funcs[0] == new_late_rule && stages[0].ep_funcs[1] == old_late_rule);
    ck_assert(!stages[0].ep_funcs[2] && !stages[0].cb_funcs);
    ck_assert(stages[1].ep_funcs[0] == new_last_rule && !stages[2].ep_funcs);
}
END_TEST

START_TEST(added_operators_and_names_are_listed_after_existing_ones)
{
    register_home();
    ck_assert_int_eq(ln_arch_extend(&more), 0);
    ck_assert(home.reg_ops[0] == &old_op && home.reg_ops[1] == &new_op && !home.reg_ops[2]);
    ck_assert_ptr_eq(ln_hash_find(LN_ARCH.op_proto_table, "new_op"), &new_op);
    ck_assert_str_eq(home.rule_names[0], "old_rule");
    ck_assert_str_eq(home.rule_names[1], "new_rule");
    ck_assert_ptr_null(home.rule_names[2]);
}
END_TEST

START_TEST(undo_restores_the_previous_state)
{
    static ln_arch other = {.arch_name = "other", .base = "home"};
    register_home();
    ck_assert_int_eq(ln_arch_register(&other), 0);
    ck_assert_int_eq(ln_arch_extend(&more), 0);
    ck_assert_int_eq(ln_arch_changes(), 3);
    ln_arch_undo(1);
    assert_only_home();
    ck_assert_int_eq(ln_arch_extend(&more), 0);
    ln_arch_undo(0);
    ck_assert_ptr_null(ln_arch_list());
    ck_assert_int_eq(ln_hash_size(LN_ARCH.op_proto_table), 0);
}
END_TEST

START_TEST(an_extension_without_memory_leaves_all_as_it_was)
{
    ln_bool failed = LN_TRUE;
    register_home();
    for (int n = 0; failed; n++) {
        ln_alloc_fail_after(n);
        const int rc = ln_arch_extend(&more);
        failed = ln_alloc_fail_stop();
        ck_assert_int_eq(rc, failed ? -1 : 0);
        if (failed)
            assert_only_home();
    }
    ck_assert_int_eq(ln_arch_changes(), 2);
}
END_TEST

START_TEST(an_architecture_without_memory_is_not_there)
{
    ln_bool failed = LN_TRUE;
    for (int n = 0; failed; n++) {
        ln_alloc_fail_after(n);
        const int rc = ln_arch_register(&home);
        failed = ln_alloc_fail_stop();
        ck_assert_int_eq(rc, failed ? -1 : 0);
        ck_assert_int_eq(ln_arch_changes(), !failed);
        ck_assert_int_eq(ln_list_length(ln_arch_list()), !failed);
    }
    assert_only_home();
}
END_TEST

START_TEST(rejects_bad_additions_and_changes_nothing)
{
    static ln_op *twice[] = {&new_op, &new_op, NULL}, *stray[] = {&stray_op, NULL};
    static const struct {
        ln_arch more;
        const char *message;
    } cases[] = {
        {{.arch_name = "nowhere"}, "unknown architecture 'nowhere' to extend"},
        {{.arch_name = ""}, "an architecture has no name"},
        {{.arch_name = "home", .reg_ops = old_ops},
         "architecture 'home': operator type 'old_op' is registered already"},
        {{.arch_name = "home", .reg_ops = twice},
         "architecture 'home' has two operators of type 'new_op'"},
        {{.arch_name = "home", .reg_ops = stray},
         "architecture 'home': operator 'stray_op' has 'arch' 'elsewhere', expected 'home'"},
        {{.arch_name = "home", .rule_names = old_names},
         "architecture 'home': architecture 'home' has a rule 'old_rule' already"},
    };
    register_home();
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        ck_assert_int_eq(ln_arch_extend(&cases[i].more), -1);
        ck_assert_str_eq(ln_last_error(), cases[i].message);
        assert_only_home();
    }
}
END_TEST

START_TEST(the_base_of_an_architecture_must_exist)
{
    static ln_arch loop = {.arch_name = "loop", .base = "loop"};
    register_home();
    ck_assert_int_eq(ln_arch_register(&loop), -1);
    ck_assert_str_eq(ln_last_error(),
                     "architecture 'loop' builds on 'loop', which is not registered");
    assert_only_home();
}
END_TEST

START_TEST(tables_change_only_while_there_is_no_context)
{
    ln_context *ctx = ln_context_create();
    ck_assert_int_eq(ln_arch_begin_change(), -1);
    ck_assert_str_eq(ln_last_error(),
                     "a context exists already; load plug-ins before the first context");
    ln_context_free(ctx);
    ck_assert_int_eq(ln_arch_begin_change(), 0);
    ck_assert_int_eq(ln_arch_begin_change(), -1);
    ck_assert_str_eq(ln_last_error(), "another plug-in is being loaded; load one after the other");
    ck_assert_ptr_null(ln_context_create());
    ck_assert_str_eq(ln_last_error(), "a plug-in is being loaded; create contexts after that");
    ln_arch_end_change();
    ctx = ln_context_create();
    ck_assert_ptr_nonnull(ctx);
    ln_context_free(ctx);
}
END_TEST

START_TEST(a_context_without_memory_does_not_count)
{
    ln_bool failed = LN_TRUE;
    for (int n = 0; failed; n++) {
        ln_alloc_fail_after(n);
        ln_context *ctx = ln_context_create();
        failed = ln_alloc_fail_stop();
        ln_context_free(ctx);
    }
    ck_assert_int_eq(ln_arch_begin_change(), 0);
    ln_arch_end_change();
}
END_TEST

static ln_op *no_ops[] = {NULL};
static ln_arch abstract_arch = {.arch_name = "none", .reg_ops = no_ops};
static ln_arch there_arch = {.arch_name = "there", .reg_ops = no_ops};

static void list_two(int (*add)(void *arg, const char *name), void *arg)
{
    if (!add(arg, "there") && !add(arg, "loadable"))
        add(arg, "more");
}

START_TEST(loadable_targets_are_listed_with_existing_ones)
{
    char text[64], small[10];
    const int before = ln_arch_changes();
    ck_assert(!ln_arch_register(&abstract_arch) && !ln_arch_register(&there_arch));
    ck_assert_str_eq(ln_sprint_targets(text, sizeof(text)), "there");
    ln_arch_set_loadable(list_two);
    ck_assert_str_eq(ln_sprint_targets(text, sizeof(text)), "there, loadable, more");
    ck_assert_str_eq(ln_sprint_targets(small, sizeof(small)), "there, lo");
    ln_arch_set_loadable(NULL);
    ln_arch_undo(before);
}
END_TEST

START_TEST(an_architecture_has_its_precisions_or_those_of_its_base)
{
    static const char *const names[] = {"bf16", "fp16", NULL};
    ln_arch base = {.arch_name = "base", .precisions = names};
    const ln_arch derived = {.arch_name = "derived", .base = "base"},
                  plain = {.arch_name = "plain"};
    char buf[LN_MAXLINE], cut[12];
    const int before = ln_arch_changes();
    ck_assert_int_eq(ln_arch_register(&base), 0);
    ck_assert(ln_arch_has_precision(&derived, "fp16"));
    ck_assert(ln_arch_has_precision(&derived, "float32"));
    ck_assert(!ln_arch_has_precision(&derived, "tf32"));
    ck_assert(ln_arch_has_precision(&plain, "float32"));
    ck_assert(!ln_arch_has_precision(&plain, "bf16"));
    ck_assert_str_eq(ln_sprint_precisions(&derived, buf, sizeof(buf)), "float32, bf16, fp16");
    ck_assert_str_eq(ln_sprint_precisions(&plain, buf, sizeof(buf)), "float32");
    ck_assert_str_eq(ln_sprint_precisions(&derived, cut, sizeof(cut)), "float32, bf");
    ln_arch_undo(before);
}
END_TEST

LN_TEST_MAIN("arch", added_rules_are_tried_before_existing_ones,
             added_operators_and_names_are_listed_after_existing_ones,
             undo_restores_the_previous_state, an_extension_without_memory_leaves_all_as_it_was,
             an_architecture_without_memory_is_not_there, rejects_bad_additions_and_changes_nothing,
             the_base_of_an_architecture_must_exist, tables_change_only_while_there_is_no_context,
             a_context_without_memory_does_not_count,
             loadable_targets_are_listed_with_existing_ones,
             an_architecture_has_its_precisions_or_those_of_its_base)
