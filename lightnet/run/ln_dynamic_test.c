// SPDX-License-Identifier: Apache-2.0
// Tests of tensors whose sizes are known only at run time: planned for the largest, run with the
// true ones.

#include "ir/ln_dynamic.h"

#include <stdlib.h>
#include <string.h>

#include "base/ln_alloc_fail.h"
#include "lightnet/ln_context.h"
#include "ln_check.h"
#include "ln_test_ops.h"

enum { LEN = 8 };

static ln_test_model m;

static void begin_model(void)
{
    ln_test_begin(&m, "\"inputs\": [\"x\"],");
    ln_test_op(&m, "ox", "create_test", "", "x", "len 8 value 1");
}

static ln_context *end_model(void)
{
    ln_context *ctx = ln_test_end(&m);
    ck_assert_str_eq(ln_context_error(ctx), "");
    ck_assert_msg(ln_context_compile(ctx, "test") == 0, "%s", ln_context_error(ctx));
    ck_assert_msg(ln_test_load(ctx) == 0, "%s", ln_context_error(ctx));
    return ctx;
}

static void run_with(ln_context *ctx, const float *x)
{
    ck_assert_int_eq(ln_context_set_data(ctx, "x", x), 0);
    ck_assert_msg(ln_test_run_poisoned(ctx) == 0, "%s", ln_context_error(ctx));
}

static const ln_tensor_entry *entry(const ln_context *ctx, const char *tname)
{
    const ln_tensor_entry *te = ln_tensor_table_find(ctx->tensor_table, tname);
    ck_assert_ptr_nonnull(te);
    return te;
}

static void check(ln_context *ctx, const char *tname, int len, const float *expected)
{
    float data[2 * LEN];
    ck_assert_int_eq(entry(ctx, tname)->tensor->len, len);
    ck_assert_int_eq(entry(ctx, tname)->tensor->dims[0], len);
    ck_assert_uint_eq(ln_context_data_size(ctx, tname), sizeof(float) * (size_t)len);
    ck_assert_ptr_nonnull(ln_context_get_data(ctx, tname, data));
    for (int i = 0; i < len; i++)
        ck_assert_msg(data[i] == expected[i], "'%s'[%d] is %g, expected %g", tname, i,
                      (double)data[i], (double)expected[i]);
}

static const float three[LEN] = {-1, 4, 0, 5, -2, -3, 6, -7};
static const float none[LEN] = {-1};
static const float all[LEN] = {1, 2, 3, 4, 5, 6, 7, 8};

START_TEST(sizes_go_up_and_down_from_run_to_run)
{
    begin_model();
    ln_test_op(&m, "op", "positive", "x", "p", "");
    ln_test_op(&m, "oa", "add1", "p", "a", "");
    ln_test_op(&m, "oc", "chain", "a p", "c", "");
    ln_test_op(&m, "on", "count", "c", "n", "");
    ln_test_op(&m, "ow", "watch", "c", "", "");
    ln_context *ctx = end_model();
    ck_assert_int_eq(entry(ctx, "p")->tensor->len, 8); // at most
    for (int i = 0; i < 2; i++) {
        run_with(ctx, three);
        check(ctx, "n", 1, (const float[]){6});
        run_with(ctx, none);
        check(ctx, "n", 1, (const float[]){0});
        run_with(ctx, all);
        check(ctx, "n", 1, (const float[]){16});
    }
    ln_context_free(ctx);
    ck_assert_int_eq(ln_test_alive, 0);
}
END_TEST

START_TEST(readers_of_dynamic_tensors_are_dynamic_unless_declared_otherwise)
{
    begin_model();
    ln_test_op(&m, "op", "positive", "x", "p", "");
    ln_test_op(&m, "oa", "double", "p", "a", "");
    ln_test_op(&m, "ov", "view", "a", "v", "");
    ln_test_op(&m, "on", "count", "v", "n", "");
    ln_test_op(&m, "ob", "double", "n", "b", "");
    ln_context *ctx = end_model();
    ck_assert_int_eq(entry(ctx, "x")->isdynamic, 0);
    ck_assert_int_eq(entry(ctx, "p")->isdynamic, 1);
    ck_assert_int_eq(entry(ctx, "a")->isdynamic, 1);
    ck_assert_int_eq(entry(ctx, "n")->isdynamic, 0);
    ck_assert_int_eq(entry(ctx, "b")->isdynamic, 0);
    ck_assert_int_eq(ln_op_table_find(ctx->op_table, "op")->op_arg->isdynamic, LN_DYNAMIC_OUT);
    ck_assert_int_eq(ln_op_table_find(ctx->op_table, "oa")->op_arg->isdynamic, LN_DYNAMIC_IN);
    ck_assert_int_eq(ln_op_table_find(ctx->op_table, "on")->op_arg->isdynamic, LN_DYNAMIC_IN);
    ck_assert_int_eq(ln_op_table_find(ctx->op_table, "ob")->op_arg->isdynamic, 0);
    ln_context_free(ctx);
}
END_TEST

START_TEST(a_view_lies_where_the_true_size_puts_it)
{
    begin_model();
    ln_test_op(&m, "op", "positive", "x", "p", "");
    ln_test_op(&m, "oh", "half", "p", "h", "");
    ln_test_op(&m, "oq", "half", "h", "q", "");
    ln_test_op(&m, "oy", "double", "q", "y", "");
    ln_context *ctx = end_model();
    run_with(ctx, all);
    check(ctx, "y", 2, (const float[]){14, 16});
    run_with(ctx, (const float[LEN]){1, 2, 3, 4});
    check(ctx, "y", 1, (const float[]){8});
    run_with(ctx, none);
    check(ctx, "y", 0, NULL);
    ck_assert_uint_eq(entry(ctx, "h")->offset, entry(ctx, "p")->offset + 4 * sizeof(float));
    ln_context_free(ctx);
}
END_TEST

START_TEST(shapes_are_inferred_again_only_when_they_changed)
{
    begin_model();
    ln_test_op(&m, "op", "positive", "x", "p", "");
    ln_test_op(&m, "oy", "double", "p", "y", "");
    ln_context *ctx = end_model();
    run_with(ctx, three);
    const ln_op *op = ln_op_table_find(ctx->op_table, "oy");
    const void *priv = op->op_arg->priv;
    ln_alloc_fail_after(0); // nothing is allocated
    ck_assert_int_eq(ln_context_run(ctx), 0);
    ck_assert(!ln_alloc_fail_stop());
    ck_assert_ptr_eq(op->op_arg->priv, priv);
    ck_assert_int_eq(ln_context_set_data(ctx, "x", all), 0);
    ln_alloc_fail_after(0);
    ck_assert_int_eq(ln_context_run(ctx), -1);
    ck_assert(ln_alloc_fail_stop());
    ck_assert_str_eq(ln_context_error(ctx),
                     "operator 'oy' (double): out of memory: cannot get 24 bytes");
    ck_assert_int_eq(ln_context_run(ctx), 0); // the next run makes up for it
    check(ctx, "y", 8, (const float[]){2, 4, 6, 8, 10, 12, 14, 16});
    ln_context_free(ctx);
    ck_assert_int_eq(ln_test_alive, 0);
}
END_TEST

START_TEST(rejects_results_larger_than_planned)
{
    begin_model();
    ln_test_op(&m, "op", "positive", "x", "p", "extra 2");
    ln_test_op(&m, "oy", "double", "p", "y", "");
    ln_context *ctx = end_model();
    run_with(ctx, three);
    ck_assert_int_eq(entry(ctx, "y")->tensor->len, 5);
    ck_assert_int_eq(ln_context_set_data(ctx, "x", all), 0);
    ck_assert_int_eq(ln_context_run(ctx), -1);
    ck_assert_str_eq(ln_context_error(ctx),
                     "operator 'op' (positive): 'dst' would have shape [10] of 40 bytes at run "
                     "time, expected at most the 32 that are planned");
    ck_assert_int_eq(ln_context_set_param(ctx, "op", "extra", -100.0), 0);
    ck_assert_int_eq(ln_context_run(ctx), -1);
    ck_assert_str_eq(ln_context_error(ctx), "operator 'op' (positive): 'dst' would have shape "
                                            "[-92], expected every dimension >= 0");
    ck_assert_int_eq(ln_context_set_param(ctx, "op", "extra", 0.0), 0);
    run_with(ctx, none);
    check(ctx, "y", 0, NULL);
    ln_context_free(ctx);
}
END_TEST

START_TEST(a_check_that_fails_at_run_time_names_the_operator)
{
    begin_model();
    ln_test_op(&m, "op", "positive", "x", "p", "");
    ln_test_op(&m, "or", "part", "p", "r", "from 2 len 4");
    ln_test_op(&m, "oy", "double", "r", "y", "");
    ln_context *ctx = end_model();
    run_with(ctx, all);
    check(ctx, "y", 4, (const float[]){6, 8, 10, 12});
    ck_assert_int_eq(ln_context_set_data(ctx, "x", three), 0);
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(ln_context_run(ctx), -1);
        ck_assert_str_eq(ln_context_error(ctx),
                         "operator 'or' (part): the part ends after the 3 elements of 'src'");
    }
    run_with(ctx, all);
    check(ctx, "y", 4, (const float[]){6, 8, 10, 12});
    ln_context_free(ctx);
    ck_assert_int_eq(ln_test_alive, 0);
}
END_TEST

// For the least size, 0, "part" fails. No allocation does, whatever the thread's last error is.
START_TEST(a_least_size_that_an_operator_rejects_is_no_failure)
{
    begin_model();
    ln_test_op(&m, "op", "positive", "x", "p", "");
    ln_test_op(&m, "or", "part", "p", "r", "from 2 len 4");
    ln_error_set_as(NULL, LN_OUT_OF_MEMORY, "out of memory: an earlier call");
    ln_context *ctx = end_model();
    ck_assert_str_eq(ln_last_error(), "out of memory: an earlier call");
    ln_error_clear(NULL);
    run_with(ctx, all);
    check(ctx, "r", 4, (const float[]){3, 4, 5, 6});
    ln_context_free(ctx);
}
END_TEST

START_TEST(sizes_of_constants_are_found_at_load)
{
    begin_model();
    ln_test_op(&m, "oc", "create_test", "", "c", "len 6 value -2");
    ln_test_op(&m, "op", "positive", "c", "p", "");
    ln_test_op(&m, "oh", "half", "p", "h", "");
    ln_test_op(&m, "ok", "chain", "h x", "k", "");
    ln_context *ctx = end_model();
    ck_assert_int_eq(ln_op_table_find(ctx->op_table, "oh")->op_arg->at_load, 1);
    check(ctx, "p", 3, (const float[]){1, 2, 3});
    for (int i = 0; i < 2; i++) {
        run_with(ctx, none);
        check(ctx, "p", 3, (const float[]){1, 2, 3});
        check(ctx, "k", 9, (const float[]){3, -1, 0, 0, 0, 0, 0, 0, 0});
        // A constant may be set; values computed at load are then computed again.
    }
    ck_assert_int_eq(ln_context_set_data(ctx, "c", (const float[]){7, 8, 9, 1, 0, 0}), 0);
    run_with(ctx, none);
    check(ctx, "p", 4, (const float[]){7, 8, 9, 1});
    check(ctx, "k", 10, (const float[]){9, 1, -1, 0, 0, 0, 0, 0, 0, 0});
    ln_context_free(ctx);
}
END_TEST

START_TEST(a_context_can_be_loaded_again_and_parameters_set)
{
    begin_model();
    ln_test_op(&m, "op", "positive", "x", "p", "extra 0");
    ln_test_op(&m, "oh", "half", "p", "h", "");
    ln_test_op(&m, "oy", "double", "h", "y", "");
    ln_context *ctx = end_model();
    run_with(ctx, three);
    check(ctx, "y", 1, (const float[]){12});
    ln_context_unload(ctx);
    ck_assert_msg(ln_test_load(ctx) == 0, "%s", ln_context_error(ctx));
    run_with(ctx, three);
    check(ctx, "y", 1, (const float[]){12});
    ck_assert_int_eq(ln_context_set_param(ctx, "op", "extra", -1.0), 0);
    run_with(ctx, (const float[LEN]){1, 2, 3, 4, 5});
    check(ctx, "y", 2, (const float[]){6, 8});
    ck_assert_int_eq(ln_context_check(ctx), 0);
    ln_context_free(ctx);
    ck_assert_int_eq(ln_test_alive, 0);
}
END_TEST

START_TEST(a_tensor_sets_a_parameter)
{
    begin_model();
    ln_test_op(&m, "op", "positive", "x", "p", "");
    ln_test_op(&m, "on", "number", "p", "n", "");
    ln_test_op(&m, "of", "first", "x n", "f", "len 6");
    ln_test_op(&m, "oh", "half", "f", "h", "");
    ln_test_op(&m, "oy", "double", "h", "y", "");
    ln_context *ctx = end_model();
    const ln_op_arg *op_arg = ln_op_table_find(ctx->op_table, "of")->op_arg;
    ck_assert_int_eq(entry(ctx, "f")->isdynamic, 1);
    ck_assert_int_eq(entry(ctx, "f")->tensor->len, 6);
    for (int i = 0; i < 2; i++) {
        run_with(ctx, (const float[LEN]){-1, 1, 1, 9, 8, 7, -1, -1});
        check(ctx, "y", 2, (const float[]){18, 16});
        run_with(ctx, none);
        check(ctx, "y", 0, NULL);
        ck_assert_int_eq(ln_param_list_find(op_arg->params, "len")->value_int, 0);
        ck_assert_int_eq(ln_param_list_find(ln_op_params(op_arg), "len")->value_int, 6);
        run_with(ctx, (const float[LEN]){1, 2, 3, 4, 5, 6});
        check(ctx, "y", 3, (const float[]){8, 10, 12});
        ck_assert_int_eq(ln_context_set_data(ctx, "x", all), 0);
        ck_assert_int_eq(ln_context_run(ctx), -1);
        ck_assert_str_eq(ln_context_error(ctx),
                         "operator 'of' (first): 'dst' would have shape [8] of 32 bytes at run "
                         "time, expected at most the 24 that are planned");
        ln_context_unload(ctx); // what a run has set is not the model's
        ck_assert_int_eq(ln_test_load(ctx), 0);
        ck_assert_int_eq(entry(ctx, "f")->tensor->len, 6);
    }
    ln_context_free(ctx);
    ck_assert_int_eq(ln_test_alive, 0);
}
END_TEST

START_TEST(an_input_that_sets_a_parameter_is_checked)
{
    begin_model();
    ln_test_op(&m, "of", "first", "x x", "f", "len 6");
    ln_context *ctx = ln_test_end(&m);
    ck_assert_str_eq(ln_context_error(ctx),
                     "model: operator 'of' (first): 'src2' has type TL_FLOAT, "
                     "expected TL_INT64 or TL_INT32");
    ln_context_free(ctx);
    ck_assert_int_eq(ln_test_alive, 0);
}
END_TEST

START_TEST(two_inputs_of_equal_bounds_are_not_reused)
{
    begin_model();
    ln_test_op(&m, "op", "positive", "x", "p", "");
    ln_test_op(&m, "oa", "double", "p", "a", "");
    ln_test_op(&m, "ob", "work", "p", "b", "scratch 8");
    ln_test_op(&m, "os", "add", "a b", "s", "");
    ln_test_op(&m, "ot", "add1", "s", "t", "");
    ln_test_op(&m, "oy", "double", "t", "y", "");
    ln_context *ctx = end_model();
    ck_assert_uint_ne(entry(ctx, "s")->offset, entry(ctx, "a")->offset);
    ck_assert_uint_ne(entry(ctx, "s")->offset, entry(ctx, "b")->offset);
    ck_assert_uint_eq(entry(ctx, "t")->offset, entry(ctx, "s")->offset);
    run_with(ctx, three);
    check(ctx, "y", 3, (const float[]){28, 34, 40});
    ln_context_free(ctx);
}
END_TEST

START_TEST(a_no_copy_gather_takes_no_dynamic_tensors)
{
    begin_model();
    ln_test_op(&m, "op", "positive", "x", "p", "");
    ln_test_op(&m, "oa", "double", "p", "a", "");
    ln_test_op(&m, "oj", "join", "p a", "j", "");
    ln_context *ctx = ln_test_end(&m);
    ck_assert_str_eq(ln_context_error(ctx),
                     "model: operator 'oj' (join): its inputs are parts of its output, so their "
                     "sizes must be known before the run");
    ln_context_free(ctx);
    ck_assert_int_eq(ln_test_alive, 0);
}
END_TEST

// Random models, beside what they are to compute.

enum { MAX_TENSORS = 24, MAX_LEN = 64 };

// How a tensor is made of others; `kin` is the same for tensors that always have the same size.
typedef struct step {
    const char *optype;
    int a, b;
    int bound, kin;
} step;

typedef struct network {
    step steps[MAX_TENSORS];
    int n;
} network;

typedef struct value {
    float at[MAX_LEN];
    int len;
} value;

static void add_step(network *net, const char *optype, int a, int b)
{
    const step *src = &net->steps[a];
    step s = {optype, a, b, src->bound, net->n};
    if (!strcmp(optype, "half"))
        s.bound = src->bound / 2;
    else if (!strcmp(optype, "chain"))
        s.bound = src->bound + net->steps[b].bound;
    else if (!strcmp(optype, "count"))
        s.bound = 1;
    else if (strcmp(optype, "positive") != 0)
        s.kin = src->kin;
    if (s.bound <= MAX_LEN)
        net->steps[net->n++] = s;
}

static int pick_kin(const network *net, unsigned *seed, int a)
{
    int b = (int)ln_test_random(seed, (unsigned)net->n);
    while (net->steps[b].kin != net->steps[a].kin)
        b = (b + 1) % net->n;
    return b;
}

static void make_network(network *net, unsigned seed)
{
    static const char *const optypes[] = {"add1",     "add1",  "double", "work", "view", "positive",
                                          "positive", "chain", "half",   "add",  "add",  "count"};
    seed = seed * 2654435761u + 1;
    *net = (network){.n = 1};
    net->steps[0] = (step){"create_test", 0, 0, LEN, 0};
    add_step(net, "positive", 0, 0);
    while (net->n < MAX_TENSORS) {
        const char *optype = optypes[ln_test_random(&seed, sizeof(optypes) / sizeof(*optypes))];
        const int a = (int)ln_test_random(&seed, (unsigned)net->n);
        const int b = strcmp(optype, "add") ? (int)ln_test_random(&seed, (unsigned)net->n)
                                            : pick_kin(net, &seed, a);
        add_step(net, optype, a, b);
    }
}

static ln_context *build(const network *net)
{
    begin_model();
    for (int i = 1; i < net->n; i++) {
        const step *s = &net->steps[i];
        char name[16], ins[32], a[16], b[16], out[16];
        const int is_pair = !strcmp(s->optype, "add") || !strcmp(s->optype, "chain");
        snprintf(name, sizeof(name), "o%d", i);
        snprintf(out, sizeof(out), "t%d", i);
        snprintf(a, sizeof(a), s->a ? "t%d" : "x", s->a);
        snprintf(b, sizeof(b), s->b ? "t%d" : "x", s->b);
        snprintf(ins, sizeof(ins), "%s%s%s", a, is_pair ? " " : "", is_pair ? b : "");
        ln_test_op(&m, name, s->optype, ins, out, strcmp(s->optype, "work") ? "" : "scratch 32");
    }
    return end_model();
}

static void compute(const step *s, const value *values, value *result)
{
    const value *a = &values[s->a], *b = &values[s->b];
    const int from = strcmp(s->optype, "half") ? 0 : a->len - a->len / 2;
    result->len = 0;
    if (!strcmp(s->optype, "count"))
        result->at[result->len++] = (float)a->len;
    for (int i = from; i < a->len && strcmp(s->optype, "count"); i++) {
        const float x = a->at[i];
        if (strcmp(s->optype, "positive") || x > 0)
            result->at[result->len++] = !strcmp(s->optype, "add")      ? x + b->at[i]
                                        : !strcmp(s->optype, "double") ? 2 * x
                                        : !strcmp(s->optype, "add1") || !strcmp(s->optype, "work")
                                            ? x + 1
                                            : x;
    }
    for (int i = 0; i < b->len && !strcmp(s->optype, "chain"); i++)
        result->at[result->len++] = b->at[i];
}

static void check_run(ln_context *ctx, const network *net, unsigned *seed)
{
    static value values[MAX_TENSORS];
    const unsigned range = 1 + ln_test_random(seed, 12);
    values[0].len = LEN;
    for (int i = 0; i < LEN; i++)
        values[0].at[i] = (float)ln_test_random(seed, range) - 4;
    for (int i = 1; i < net->n; i++)
        compute(&net->steps[i], values, &values[i]);
    run_with(ctx, values[0].at);
    for (int i = 1; i < net->n; i++) {
        char name[16];
        snprintf(name, sizeof(name), "t%d", i);
        if (!ln_tensor_table_find(ctx->tensor_table, name) || !ln_context_is_output(ctx, name))
            continue;
        float data[MAX_LEN];
        ck_assert_int_eq(entry(ctx, name)->tensor->len, values[i].len);
        ck_assert_ptr_nonnull(ln_context_get_data(ctx, name, data));
        for (int k = 0; k < values[i].len; k++)
            ck_assert_msg(data[k] == values[i].at[k], "'%s'[%d] is %g, expected %g", name, k,
                          (double)data[k], (double)values[i].at[k]);
    }
}

START_TEST(random_models_compute_with_true_sizes)
{
    for (unsigned seed = 1; seed <= 200; seed++) {
        static network net;
        unsigned of_data = seed * 48271u;
        make_network(&net, seed);
        ln_context *ctx = build(&net);
        for (int run = 0; run < 6; run++)
            check_run(ctx, &net, &of_data);
        ln_context_free(ctx);
        ck_assert_int_eq(ln_test_alive, 0);
    }
}
END_TEST

// Allocations that fail

static int work(const char *text, size_t len)
{
    ln_context *ctx = ln_context_create();
    if (!ctx)
        return -1;
    float *result = NULL;
    int status = ln_context_init_text(ctx, "model", text, len) || ln_context_compile(ctx, "test") ||
                 ln_test_load(ctx) || ln_context_set_data(ctx, "x", three) || ln_context_run(ctx) ||
                 ln_context_set_data(ctx, "x", all) || ln_context_run(ctx);
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
    begin_model();
    ln_test_op(&m, "op", "positive", "x", "p", "");
    ln_test_op(&m, "oh", "half", "p", "h", "");
    ln_test_op(&m, "oc", "chain", "h p", "c", "");
    ln_test_op(&m, "on", "count", "c", "n", "");
    ln_test_op(&m, "ol", "number", "h", "l", "");
    ln_test_op(&m, "of", "first", "c l", "f", "len 4");
    ln_test_op(&m, "oy", "chain", "f n", "y", "");
    char *text = ln_test_text(&m);
    int failed = 1, n = 0;
    ck_assert_int_eq(work(text, m.size), 0);
    for (; failed; n++) {
        ln_alloc_fail_after(n);
        const int status = work(text, m.size);
        failed = ln_alloc_fail_stop();
        ck_assert_msg(failed || status == 0, "allocation %d", n);
    }
    ck_assert_int_gt(n, 100);
    free(text);
}
END_TEST

LN_TEST_MAIN("dynamic tensors", sizes_go_up_and_down_from_run_to_run,
             readers_of_dynamic_tensors_are_dynamic_unless_declared_otherwise,
             a_view_lies_where_the_true_size_puts_it,
             shapes_are_inferred_again_only_when_they_changed, rejects_results_larger_than_planned,
             a_check_that_fails_at_run_time_names_the_operator,
             a_least_size_that_an_operator_rejects_is_no_failure,
             sizes_of_constants_are_found_at_load, a_context_can_be_loaded_again_and_parameters_set,
             a_tensor_sets_a_parameter, an_input_that_sets_a_parameter_is_checked,
             two_inputs_of_equal_bounds_are_not_reused, a_no_copy_gather_takes_no_dynamic_tensors,
             random_models_compute_with_true_sizes, every_allocation_may_fail)
