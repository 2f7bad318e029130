// SPDX-License-Identifier: Apache-2.0
// Tests of compiling as a whole: random models give the same results with and without rewrites and
// shared memory, and every allocation may fail.

#include "lightnet/ln_pass.h"

#include <stdlib.h>
#include <string.h>

#include "base/ln_alloc_fail.h"
#include "plan/ln_lifetime.h"
#include "ln_check.h"
#include "ln_test_ops.h"

// Rewrites of all kinds, none of which changes a result.

static const ln_tensor_list_entry *first_in(const ln_op *op)
{
    return op->op_arg->tensors_in->data;
}

static const ln_tensor_list_entry *first_out(const ln_op *op)
{
    return op->op_arg->tensors_out->data;
}

static int is_type(const ln_op *op, const char *optype)
{
    return ln_op_is(op, optype);
}

// One operator from `first`'s input to `last`'s output; NULL: no memory, which is recorded.
static ln_list *one(const ln_context *ctx, const char *optype, const ln_op *first,
                    const ln_op *last, const char *params)
{
    ln_op *op = ln_test_new_op(last->op_arg->name, optype, first_in(first)->name,
                               first_out(last)->name, params);
    ln_list *ops = op ? ln_list_append(NULL, op) : NULL;
    if (!ops) {
        ln_op_free_lists_too(op);
        ln_fail_last(ctx);
    }
    return ops;
}

// twice -> double, which the reference program needs, too
static ln_list *lower(const ln_context *ctx, const ln_op *op, int *match)
{
    *match = is_type(op, "twice") && ln_pass_lowering_begins(ctx, "first_rule");
    ln_list *new_ops = *match ? one(ctx, "double", op, op, "") : NULL;
    if (new_ops)
        ln_pass_rule_fires(ctx, "first_rule", new_ops);
    return new_ops;
}

// add1 after another producer of its input -> work with scratch memory
static ln_list *add1_to_work(const ln_context *ctx, const ln_list *win_ops, size_t win_size,
                             int *match)
{
    const ln_op *first = win_ops->data, *second = win_ops->next->data;
    if (win_size != 2 || !ln_pass_rule_begins(ctx, "second_rule") || !is_type(second, "add1") ||
        !is_type(first, "double") || strcmp(first_in(second)->name, first_out(first)->name))
        return NULL;
    if (ln_context_num_uses(ctx, first_out(first)->name) != 1)
        return NULL;
    ln_list *new_ops = one(ctx, "double", first, first, "");
    ln_list *work = new_ops ? one(ctx, "work", second, second, "scratch 100") : NULL;
    if (!work) {
        ln_op_list_free_lists_too(new_ops);
        return NULL;
    }
    new_ops->next = work;
    *match = 1;
    ln_pass_rule_fires(ctx, "second_rule", new_ops);
    return new_ops;
}

// A part of a part -> one part
static ln_list *part_of_part(const ln_context *ctx, ln_list **old_ops)
{
    const ln_op *last = ln_pass_anchor(ctx);
    const ln_op *first =
        is_type(last, "part") ? ln_dfg_prev(ctx->dfg, last, first_in(last)->name) : NULL;
    if (!first || !is_type(first, "part") || !ln_pass_rule_begins(ctx, "second_rule"))
        return NULL;
    char params[64];
    snprintf(params, sizeof(params), "from %d len %d",
             ln_op_int(first, "from") + ln_param_list_find(last->op_arg->params, "from")->value_int,
             ln_param_list_find(last->op_arg->params, "len")->value_int);
    ln_list *new_ops = one(ctx, "part", first, last, params);
    *old_ops = new_ops ? ln_list_append(NULL, (void *)last) : NULL;
    if (new_ops && !*old_ops) {
        ln_op_list_free_lists_too(new_ops);
        ln_fail_last(ctx);
        return NULL;
    }
    ln_pass_rule_fires(ctx, "second_rule", new_ops);
    return new_ops;
}

static void use_rewrites(void)
{
    static ln_expander_func expanders[] = {lower, NULL};
    static ln_combiner_func combiners[] = {add1_to_work, NULL};
    static ln_subgraph_func subgraphs[] = {part_of_part, NULL};
    ln_test_arch.ep_funcs = expanders;
    ln_test_arch.cb_funcs = combiners;
    ln_test_arch.sg_funcs = subgraphs;
}

// Random models

enum { LEN = 8, MAX_TENSORS = 64 };

typedef struct generator {
    ln_test_model m;
    unsigned seed;
    int n;                   // tensors so far, t0, t1, ..
    int len[MAX_TENSORS];    // their elements
    int varies[MAX_TENSORS]; // whether it is sure not to be constant
    int origin[MAX_TENSORS]; // what it is a view of, or itself
    int joined[MAX_TENSORS]; // whether it is a part of a joined tensor: then it is not written
} generator;

static int pick(generator *g)
{
    return (int)ln_test_random(&g->seed, (unsigned)g->n);
}

// A tensor as long as t`a`.
static int pick_same(generator *g, int a)
{
    for (int tries = 0; tries < 10; tries++) {
        const int b = pick(g);
        if (g->len[b] == g->len[a])
            return b;
    }
    return a;
}

static int is_view(const char *optype)
{
    return !strcmp(optype, "view") || !strcmp(optype, "part") || !strcmp(optype, "bump");
}

static void add_op(generator *g, const char *optype, const char *ins, const char *params, int len)
{
    char name[16], out[16];
    const int makes = len > 0;
    int first = 1;
    sscanf(ins, "t%d", &first);
    snprintf(name, sizeof(name), "o%d", g->m.n);
    snprintf(out, sizeof(out), "t%d", g->n);
    ln_test_op(&g->m, name, optype, ins, makes ? out : "", params);
    if (!makes)
        return;
    g->len[g->n] = len;
    g->varies[g->n] = g->n == 0 || (*ins && g->varies[first]);
    g->origin[g->n] = is_view(optype) ? g->origin[first] : g->n;
    g->n++;
}

static void add_pair(generator *g, const char *optype, int a, int b, int len)
{
    char ins[32];
    snprintf(ins, sizeof(ins), "t%d t%d", a, b);
    add_op(g, optype, ins, "", len);
}

static void add_part(generator *g, int a)
{
    char ins[16], params[32];
    const int len = g->len[a] > 2 ? g->len[a] / 2 : 1;
    const int from = (int)ln_test_random(&g->seed, (unsigned)(g->len[a] - len + 1));
    snprintf(ins, sizeof(ins), "t%d", a);
    snprintf(params, sizeof(params), "from %d len %d", from, len);
    add_op(g, "part", ins, params, len);
}

// The pattern of a combiner.
static void add_doubled(generator *g, int a)
{
    char ins[16];
    snprintf(ins, sizeof(ins), "t%d", a);
    add_op(g, "double", ins, "", g->len[a]);
    snprintf(ins, sizeof(ins), "t%d", g->n - 1);
    add_op(g, "add1", ins, "", g->len[a]);
}

static int pick_varying(generator *g)
{
    int a = pick(g);
    while (!g->varies[a])
        a = pick(g);
    return a;
}

// Two results of their own, right before they are joined; not constants, which have their own
// place.
static void add_join(generator *g)
{
    static const char *const optypes[] = {"double", "work"};
    for (int i = 0; i < 2; i++) {
        char ins[16];
        const int a = pick_varying(g);
        snprintf(ins, sizeof(ins), "t%d", a);
        add_op(g, optypes[i], ins, i ? "scratch 24" : "", g->len[a]);
    }
    g->joined[g->n - 2] = g->joined[g->n - 1] = 1;
    add_pair(g, "join", g->n - 2, g->n - 1, g->len[g->n - 2] + g->len[g->n - 1]);
}

static void add_any(generator *g)
{
    enum { VIEW = 5, BUMP = 6 };
    static const char *const unary[] = {"add1", "add1", "double", "twice",
                                        "work", "view", "bump",   "watch"};
    char ins[16];
    const int a = pick(g);
    unsigned kind = ln_test_random(&g->seed, 15);
    if (kind == BUMP && g->joined[g->origin[a]])
        kind = VIEW;
    snprintf(ins, sizeof(ins), "t%d", a);
    if (kind < 8)
        add_op(g, unary[kind], ins, kind == 4 ? "scratch 40" : "", kind == 7 ? 0 : g->len[a]);
    else if (kind < 11)
        add_pair(g, "add", a, pick_same(g, a), g->len[a]);
    else if (kind < 13 || g->len[a] > 100)
        add_part(g, a);
    else if (kind < 14)
        add_doubled(g, a);
    else
        add_join(g);
}

// t0 is the input, t1 a constant.
static ln_context *random_model(unsigned seed)
{
    generator g = {.seed = seed * 2654435761u + 1};
    ln_test_begin(&g.m, "\"inputs\": [\"t0\"],");
    add_op(&g, "create_test", "", "len 8 value 3", LEN);
    add_op(&g, "create_test", "", "len 8 value 5", LEN);
    add_pair(&g, "add", 0, 1, LEN);
    while (g.n < 40)
        add_any(&g);
    return ln_test_end(&g.m);
}

// Runs the model twice, so that what a run leaves behind meets the next one. Returns the sum over
// all outputs, and what was seen.
static double run_model(ln_context *ctx, int with_poison)
{
    const char *name;
    double sum = 0;
    ln_test_seen = 0;
    if (ln_test_load(ctx))
        ck_abort_msg("%s", ln_context_error(ctx));
    for (int run = 0; run < 2; run++) {
        const int status = with_poison ? ln_test_run_poisoned(ctx) : ln_context_run(ctx);
        ck_assert_msg(status == 0, "%s", ln_context_error(ctx));
        LN_LIST_FOREACH (name, ctx->outputs) {
            const size_t n = ln_context_data_size(ctx, name) / sizeof(float);
            float *data = ln_context_get_data(ctx, name, NULL);
            ck_assert_msg(data != NULL, "%s", ln_context_error(ctx));
            for (size_t i = 0; i < n; i++)
                sum = sum * 0.5 + (double)data[i] * (1 + (double)i);
            free(data);
        }
    }
    return sum + 1e-3 * ln_test_seen;
}

START_TEST(random_models_compute_the_same_however_they_are_compiled)
{
    int compiled = 0, rewritten = 0;
    use_rewrites();
    for (unsigned seed = 1; seed <= 300; seed++) {
        ln_context *plain = random_model(seed), *optimized = random_model(seed);
        ck_assert_msg(plain->ops != NULL, "seed %u: %s", seed, ln_context_error(plain));
        ln_context_set_reference(plain);
        ln_context_keep_all(plain);
        ck_assert_msg(ln_context_compile(plain, "test") == 0, "seed %u: %s", seed,
                      ln_context_error(plain));
        ck_assert_msg(ln_context_compile(optimized, "test") == 0, "seed %u: %s", seed,
                      ln_context_error(optimized));
        rewritten += optimized->rules && optimized->rules->next;
        const double expected = run_model(plain, 0), result = run_model(optimized, 1);
        ck_assert_msg(expected == result, "seed %u: %.9g, expected %.9g", seed, result, expected);
        ln_context_free(plain);
        ln_context_free(optimized);
        ck_assert_int_eq(ln_test_alive, 0);
        compiled++;
    }
    ck_assert_int_eq(compiled, 300);
    ck_assert_int_gt(rewritten, 100);
}
END_TEST

// Allocations that fail

// A model of all operators; as text, since building it is not what shall fail.
static char *all_kinds(size_t *len)
{
    ln_test_model m;
    ln_test_begin(&m, "\"inputs\": [\"x\"],");
    ln_test_op(&m, "ox", "create_test", "", "x", "len 4 value 1");
    ln_test_op(&m, "ow", "create_test", "", "w", "len 4 value 1");
    ln_test_op(&m, "ob", "work", "w", "b", "scratch 16");
    ln_test_op(&m, "oa", "twice", "x", "a", "");
    ln_test_op(&m, "oc", "add1", "a", "c", "");
    ln_test_op(&m, "od", "add", "c b", "d", "");
    ln_test_op(&m, "oe", "add", "b c", "e", "");
    ln_test_op(&m, "oj", "join", "d e", "j", "");
    ln_test_op(&m, "op", "part", "j", "p", "from 1 len 4");
    ln_test_op(&m, "oq", "part", "p", "q", "from 1 len 2");
    ln_test_op(&m, "os", "bump", "q", "s", "");
    ln_test_op(&m, "ov", "view", "s", "v", "");
    ln_test_op(&m, "oz", "watch", "v", "", "");
    ln_test_op(&m, "o1", "double", "x", "d1", "");
    ln_test_op(&m, "o2", "double", "x", "d2", "");
    ln_test_op(&m, "oy", "add", "d1 d2", "y", "");
    char *text = ln_test_text(&m);
    *len = m.size;
    return text;
}

static int work(const char *text, size_t len)
{
    const float data[4] = {1, 2, 3, 4};
    ln_stats stats;
    ln_context *ctx = ln_context_create();
    if (!ctx)
        return -1;
    float *result = NULL;
    int status = ln_context_init_text(ctx, "model", text, len) || ln_context_add_output(ctx, "b") ||
                 ln_context_compile(ctx, "test") || ln_context_stats(ctx, &stats) ||
                 ln_test_load(ctx) || ln_context_set_data(ctx, "x", data) || ln_context_run(ctx) ||
                 ln_context_set_param(ctx, "ow", "value", 2.0) || ln_context_run(ctx);
    if (!status) {
        result = ln_context_get_data(ctx, "y", NULL);
        status = !result;
    }
    if (status)
        ck_assert_str_ne(ln_context_error(ctx), "");
    free(result);
    ln_context_free(ctx);
    ck_assert_int_eq(ln_test_alive, 0);
    return status ? -1 : 0;
}

START_TEST(every_allocation_may_fail)
{
    size_t len;
    int failed = 1, n = 0;
    char *text = all_kinds(&len);
    use_rewrites();
    ck_assert_int_eq(work(text, len), 0);
    for (; failed; n++) {
        ln_alloc_fail_after(n);
        const int status = work(text, len);
        failed = ln_alloc_fail_stop();
        // A hash table that cannot grow keeps its size; any other failure is an error.
        ck_assert_msg(failed || status == 0, "allocation %d", n);
    }
    ck_assert_int_gt(n, 500);
    free(text);
}
END_TEST

START_TEST(the_base_architecture_rewrites_remaining_operators)
{
    static ln_arch upper = {.arch_name = "upper", .base = "test"};
    ln_test_model m;
    float y[4];
    use_rewrites();
    ln_test_register();
    ck_assert_int_eq(ln_arch_register(&upper), 0);
    ln_test_begin(&m, "\"outputs\": [\"y\"],");
    ln_test_op(&m, "ox", "create_test", "", "x", "len 4 value 3");
    ln_test_op(&m, "oy", "twice", "x", "y", "");
    ln_context *ctx = ln_test_end(&m);
    ck_assert_msg(!ln_context_compile(ctx, "upper"), "%s", ln_context_error(ctx));
    ck_assert_str_eq(ctx->target, "upper");
    ck_assert_msg(!ln_test_load(ctx) && !ln_context_run(ctx), "%s", ln_context_error(ctx));
    ck_assert_ptr_nonnull(ln_context_get_data(ctx, "y", y));
    ck_assert_double_eq(y[0], 6);
    ln_context_free(ctx);
}
END_TEST

// twice -> add1: not the same, so that the result tells which rule was first
static ln_list *to_add1(const ln_context *ctx, const ln_op *op, int *match)
{
    *match = is_type(op, "twice");
    return *match ? one(ctx, "add1", op, op, "") : NULL;
}

static ln_expander_func lower_funcs[] = {lower, NULL}, add1_funcs[] = {to_add1, NULL};
static const ln_arch_stage lower_stages[] = {{lower_funcs, NULL, NULL}, {NULL, NULL, NULL}};
static const ln_arch_stage add1_stages[] = {{add1_funcs, NULL, NULL}, {NULL, NULL, NULL}};

// Compiles twice(5) for a target that builds on `middle`; `expected`: the result of the first rule.
static void assert_first_rule(ln_arch *none, ln_arch *middle, double expected)
{
    static ln_arch upper = {.arch_name = "upper", .base = "middle"};
    ln_test_model m;
    float y[4];
    use_rewrites();
    ln_test_register();
    ck_assert(!ln_arch_register(none) && !ln_arch_register(middle) && !ln_arch_register(&upper));
    ln_test_begin(&m, "\"outputs\": [\"y\"],");
    ln_test_op(&m, "ox", "create_test", "", "x", "len 4 value 5");
    ln_test_op(&m, "oy", "twice", "x", "y", "");
    ln_context *ctx = ln_test_end(&m);
    ck_assert_msg(!ln_context_compile(ctx, "upper"), "%s", ln_context_error(ctx));
    ck_assert_msg(!ln_test_load(ctx) && !ln_context_run(ctx), "%s", ln_context_error(ctx));
    ck_assert_ptr_nonnull(ln_context_get_data(ctx, "y", y));
    ck_assert_double_eq(y[0], expected);
    ln_context_free(ctx);
}

START_TEST(early_stages_come_before_the_rules_of_abstract_operators)
{
    static ln_arch none = {.arch_name = "none", .ep_funcs = lower_funcs};
    static ln_arch middle = {.arch_name = "middle", .base = "test", .early_stages = add1_stages};
    assert_first_rule(&none, &middle, 6);
}
END_TEST

START_TEST(early_stages_come_after_general_operators_replace_others)
{
    static ln_arch none = {.arch_name = "none", .early_stages = lower_stages};
    static ln_arch middle = {.arch_name = "middle", .base = "test", .early_stages = add1_stages};
    assert_first_rule(&none, &middle, 10);
}
END_TEST

START_TEST(model_stages_come_before_general_operators_replace_others)
{
    static ln_arch none = {.arch_name = "none", .early_stages = lower_stages};
    static ln_arch middle = {.arch_name = "middle", .base = "test", .model_stages = add1_stages};
    assert_first_rule(&none, &middle, 6);
}
END_TEST

static void assert_runs_nothing(ln_context *ctx)
{
    ck_assert_msg(!ln_test_load(ctx), "%s", ln_context_error(ctx));
    ck_assert_int_eq(ln_test_load(ctx), -1);
    ck_assert_str_eq(ln_context_error(ctx), "the context is loaded already; unload it first");
    ck_assert_int_eq(ln_context_run(ctx), 0);
    ln_context_unload(ctx);
    ck_assert_int_eq(ln_context_run(ctx), -1);
    ck_assert_str_eq(ln_context_error(ctx), "the context is not loaded");
    ln_context_free(ctx);
}

START_TEST(a_model_without_operators_runs_and_does_nothing)
{
    ln_test_model m;
    ln_test_begin(&m, "");
    ln_context *ctx = ln_test_end(&m);
    ck_assert_msg(!ln_context_compile(ctx, "test"), "%s", ln_context_error(ctx));
    assert_runs_nothing(ctx);
    assert_runs_nothing(ln_context_create());
}
END_TEST

START_TEST(the_operators_of_a_loaded_context_stay)
{
    static const char rejected[] = "the context is loaded; unload it to change its operators";
    size_t len;
    char *text = all_kinds(&len);
    use_rewrites();
    ln_context *ctx = ln_context_create();
    ck_assert(!ln_context_init_text(ctx, "model", text, len) && !ln_context_compile(ctx, "test") &&
              !ln_test_load(ctx));
    ln_list *position = ctx->ops;
    ck_assert_int_eq(ln_context_remove_op(ctx, &position), -1);
    ck_assert_str_eq(ln_context_error(ctx), rejected);
    ln_context_clear_error(ctx);
    ln_op *new_op = ln_test_new_op("new", "create_test", "", "new", "len 4 value 1");
    ck_assert_int_eq(ln_context_add_op(ctx, &position, new_op), -1);
    ck_assert_str_eq(ln_context_error(ctx), rejected);
    ck_assert_int_eq(ln_context_init_ops(ctx), -1);
    ck_assert_ptr_eq(position, ctx->ops);
    ck_assert_int_eq(ln_context_run(ctx), 0);
    ln_context_cleanup_ops(ctx);
    ck_assert_int_eq(ln_context_run(ctx), -1);
    ln_context_free(ctx);
    free(text);
    ck_assert_int_eq(ln_test_alive, 0);
}
END_TEST

START_TEST(names_that_compiling_removes_are_told_from_others)
{
    static const char no_tensor[] = "the compiled program has no tensor 'm': if the model has it, "
                                    "make it an output before compiling";
    ln_test_model m;
    float data[4];
    ln_test_register();
    ln_test_begin(&m, "\"inputs\": [\"x\"], \"outputs\": [\"y\"],");
    ln_test_op(&m, "ox", "create_test", "", "x", "len 4 value 1");
    ln_test_op(&m, "om", "double", "x", "m", "");
    ln_test_op(&m, "oy", "add1", "x", "y", "");
    ln_context *ctx = ln_test_end(&m);
    ck_assert_int_eq(ln_context_set_param(ctx, "none", "p", 1.0), -1);
    ck_assert_str_eq(ln_context_error(ctx), "the model has no operator 'none'");
    ck_assert_ptr_null(ln_context_get_data(ctx, "none", data));
    ck_assert_str_eq(ln_context_error(ctx), "the model has no tensor 'none'");

    ck_assert_msg(!ln_context_compile(ctx, "test") && !ln_test_load(ctx), "%s",
                  ln_context_error(ctx));
    ck_assert_ptr_null(ln_context_get_data(ctx, "m", data));
    ck_assert_str_eq(ln_context_error(ctx), no_tensor);
    ck_assert_uint_eq(ln_context_data_size(ctx, "m"), 0);
    ck_assert_str_eq(ln_context_error(ctx), no_tensor);
    ck_assert_int_eq(ln_context_set_param(ctx, "om", "p", 1.0), -1);
    ck_assert_str_eq(ln_context_error(ctx), "the compiled program has no operator 'om': if the "
                                            "model has it, set its parameters before compiling");
    ck_assert_int_eq(ln_context_set_param(ctx, "oy", "p", 1.0), -1);
    ck_assert_str_eq(ln_context_error(ctx), "operator 'oy' (add1) has no parameter 'p'; its "
                                            "parameters in the compiled program: none");
    ck_assert_int_eq(ln_context_add_output(ctx, "m"), -1);
    ck_assert_str_eq(ln_context_error(ctx),
                     "the model is compiled already, for 'test': 'm' cannot become an output");
    ln_context_free(ctx);
}
END_TEST

LN_TEST_MAIN("compile", random_models_compute_the_same_however_they_are_compiled,
             every_allocation_may_fail, the_base_architecture_rewrites_remaining_operators,
             early_stages_come_before_the_rules_of_abstract_operators,
             early_stages_come_after_general_operators_replace_others,
             model_stages_come_before_general_operators_replace_others,
             a_model_without_operators_runs_and_does_nothing,
             the_operators_of_a_loaded_context_stay,
             names_that_compiling_removes_are_told_from_others)
