// SPDX-License-Identifier: Apache-2.0
// Tests of constants that a caller sets: how much is computed again, and that it is right. They
// need a memory plan, hence their place.

#include "run/ln_update.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ln_alloc_fail.h"
#include "lightnet/ln_util.h"
#include "ln_check.h"
#include "ln_test_ops.h"

// Between loading and a run, and between runs, other tensors may use the memory of tensors that
// only loading reads.
static void poison(const ln_context *ctx)
{
    const ln_op *op;
    LN_LIST_FOREACH (op, ctx->ops) {
        const ln_tensor_list_entry *tle;
        LN_LIST_FOREACH (tle, op->op_arg->tensors_out) {
            const ln_tensor_entry *te = ln_tensor_table_find(ctx->tensor_table, tle->name);
            if (te->isload)
                memset((char *)ctx->mem_starts[te->mtype] + te->offset, 0x7f,
                       ln_tensor_entry_capacity(te));
        }
    }
}

static ln_context *loaded(ln_test_model *m)
{
    ln_context *ctx = ln_test_end(m);
    ck_assert_msg(!*ln_context_error(ctx) && !ln_context_compile(ctx, "test") && !ln_test_load(ctx),
                  "%s", ln_context_error(ctx));
    poison(ctx);
    return ctx;
}

static void set(ln_context *ctx, const char *name, float value)
{
    const float data[4] = {value, value, value, value};
    ck_assert_msg(!ln_context_set_data(ctx, name, data), "%s", ln_context_error(ctx));
}

// Returns how many operators ran.
static int run(ln_context *ctx)
{
    ln_test_runs = 0;
    ck_assert_msg(!ln_context_run(ctx), "%s", ln_context_error(ctx));
    poison(ctx);
    return ln_test_runs;
}

// y = x + 2 w + 2 v + 1, of constants alone; 2 w stands for a packed weight.
static ln_context *weighted_sum(void)
{
    ln_test_model m;
    ln_test_begin(&m, "\"inputs\": [],");
    ln_test_op(&m, "ox", "create_test", "", "x", "len 4 value 1");
    ln_test_op(&m, "ow", "create_test", "", "w", "len 4 value 10");
    ln_test_op(&m, "ov", "create_test", "", "v", "len 4 value 100");
    ln_test_op(&m, "op", "double", "w", "p", "");
    ln_test_op(&m, "oq", "double", "v", "q", "");
    ln_test_op(&m, "oa", "add", "x p", "a", "");
    ln_test_op(&m, "ob", "add", "a q", "b", "");
    ln_test_op(&m, "oy", "add1", "b", "y", "");
    return loaded(&m);
}

START_TEST(only_dependents_of_a_set_tensor_are_recomputed)
{
    ln_context *ctx = weighted_sum();
    ck_assert_int_eq(run(ctx), 0);
    ck_assert_double_eq(ln_test_get(ctx, "y"), 222);
    set(ctx, "x", 2);
    ck_assert_int_eq(run(ctx), 5); // p and q, whose memory was lost, once more
    ck_assert_double_eq(ln_test_get(ctx, "y"), 223);
    for (int i = 3; i < 6; i++) {
        set(ctx, "x", (float)i);
        ck_assert_int_eq(run(ctx), 3);
        ck_assert_double_eq(ln_test_get(ctx, "y"), 221 + i);
        ck_assert_int_eq(run(ctx), 0);
    }
    ln_context_free(ctx);
}
END_TEST

START_TEST(a_weight_that_is_set_is_packed_again_and_no_other)
{
    ln_context *ctx = weighted_sum();
    set(ctx, "x", 5);
    run(ctx);
    set(ctx, "w", 20);
    ck_assert_int_eq(run(ctx), 4); // p, a, b, y
    ck_assert_double_eq(ln_test_get(ctx, "y"), 5 + 40 + 200 + 1);
    set(ctx, "x", 6);
    ck_assert_int_eq(run(ctx), 4); // p is kept from now on
    ck_assert_double_eq(ln_test_get(ctx, "y"), 6 + 40 + 200 + 1);
    set(ctx, "x", 7);
    ck_assert_int_eq(run(ctx), 3);
    ck_assert_double_eq(ln_test_get(ctx, "y"), 7 + 40 + 200 + 1);
    ln_context_free(ctx);
}
END_TEST

START_TEST(parameters_and_rebinding_recompute_everything)
{
    ln_context *ctx = weighted_sum();
    set(ctx, "x", 5);
    run(ctx);
    set(ctx, "x", 6); // and before the run:
    ck_assert_int_eq(ln_context_set_param(ctx, "ow", "value", 30.0), 0);
    ck_assert_int_eq(run(ctx), 5);
    ck_assert_double_eq(ln_test_get(ctx, "y"), 6 + 60 + 200 + 1);
    set(ctx, "x", 7);
    ck_assert_int_eq(ln_context_set_param(ctx, "ow", "len", 3.0), -1);
    ck_assert_int_eq(ln_context_rebind(ctx), 0);
    ck_assert_int_eq(run(ctx), 5);
    ck_assert_double_eq(ln_test_get(ctx, "y"), 7 + 60 + 200 + 1);
    set(ctx, "x", 8); // nothing of which survives
    ln_context_unload(ctx);
    ck_assert_int_eq(ln_test_load(ctx), 0);
    poison(ctx);
    ck_assert_int_eq(run(ctx), 0);
    ck_assert_double_eq(ln_test_get(ctx, "y"), 1 + 60 + 200 + 1);
    set(ctx, "v", 1);
    ck_assert_int_eq(run(ctx), 5); // q, b, y, and what they need: p, a
    ck_assert_double_eq(ln_test_get(ctx, "y"), 1 + 60 + 2 + 1);
    ln_context_free(ctx);
}
END_TEST

// y = 2 (x1 + f), z = 2 [x2, v]; v is the second element of f and lies where f is planned.
START_TEST(kept_results_are_restored_for_their_views)
{
    ln_test_model m;
    ln_test_begin(&m, "\"inputs\": [],");
    ln_test_op(&m, "o1", "create_test", "", "x1", "len 4 value 1");
    ln_test_op(&m, "o2", "create_test", "", "x2", "len 4 value 2");
    ln_test_op(&m, "ow", "create_test", "", "w", "len 4 value 10");
    ln_test_op(&m, "of", "double", "w", "f", "");
    ln_test_op(&m, "oa", "add", "x1 f", "a", "");
    ln_test_op(&m, "oy", "double", "a", "y", "");
    ln_test_op(&m, "ov", "part", "f", "v", "from 1 len 1");
    ln_test_op(&m, "ob", "chain", "x2 v", "b", "");
    ln_test_op(&m, "oz", "double", "b", "z", "");
    ln_context *ctx = loaded(&m);
    set(ctx, "x1", 3);
    ck_assert_int_eq(run(ctx), 3); // f is kept
    ck_assert_double_eq(ln_test_get(ctx, "y"), 2 * (3 + 20));
    for (int i = 0; i < 3; i++) {
        float z[5];
        set(ctx, "x2", (float)i);
        ck_assert_int_eq(run(ctx), 2);
        ck_assert_ptr_nonnull(ln_context_get_data(ctx, "z", z));
        ck_assert_float_eq(z[3], 2 * (float)i);
        ck_assert_float_eq(z[4], 2 * (2 * 11));
    }
    ln_context_free(ctx);
}
END_TEST

// Random models

enum { MAX_TENSORS = 40, MAX_CREATES = 4 };

// Operations that a tensor permits.
typedef struct made {
    int len;
    int is_dynamic;
    int is_part; // a view, or joined, or a create: no join may take it
} made;

typedef struct random_model {
    ln_test_model m;
    unsigned seed;
    made tensors[MAX_TENSORS];
    int n, n_creates;
    char *text;
} random_model;

static unsigned draw(random_model *r, int limit)
{
    return ln_test_random(&r->seed, (unsigned)limit);
}

static void add_op(random_model *r, const char *optype, int src1, int src2, const char *params,
                   made t)
{
    char name[16], ins[32], outs[16];
    snprintf(name, sizeof(name), "o%d", r->n);
    snprintf(outs, sizeof(outs), "t%d", r->n);
    if (src1 < 0)
        ins[0] = '\0';
    else if (src2 < 0)
        snprintf(ins, sizeof(ins), "t%d", src1);
    else
        snprintf(ins, sizeof(ins), "t%d t%d", src1, src2);
    ln_test_op(&r->m, name, optype, ins, outs, params);
    r->tensors[r->n++] = t;
}

static void add_create(random_model *r)
{
    char params[32];
    snprintf(params, sizeof(params), "len 4 value %u", draw(r, 9));
    add_op(r, "create_test", -1, -1, params, (made){4, 0, 1});
    r->n_creates++;
}

static int may_join(const random_model *r, int i)
{
    return !r->tensors[i].is_part && !r->tensors[i].is_dynamic;
}

// One more operator on tensors that are there, if the ones drawn fit.
static void add_random_op(random_model *r)
{
    const int i = (int)draw(r, r->n), k = (int)draw(r, r->n);
    const made a = r->tensors[i], b = r->tensors[k];
    const int len = a.len, is_dynamic = a.is_dynamic || b.is_dynamic;
    switch (draw(r, 13)) {
    case 0:
        add_op(r, "add1", i, -1, "", (made){len, a.is_dynamic, 0});
        break;
    case 1:
        add_op(r, "double", i, -1, "", (made){len, a.is_dynamic, 0});
        break;
    case 2:
    case 3:
        if (len == b.len && !is_dynamic)
            add_op(r, "add", i, k, "", (made){len, 0, 0});
        break;
    case 4:
        add_op(r, "work", i, -1, "scratch 64", (made){len, a.is_dynamic, 0});
        break;
    case 5:
        add_op(r, "view", i, -1, "", (made){len, a.is_dynamic, 1});
        r->tensors[i].is_part = 1;
        break;
    case 6:
        if (len > 1 && !a.is_dynamic) {
            char params[32];
            const unsigned from = draw(r, len - 1);
            snprintf(params, sizeof(params), "from %u len 1", from);
            add_op(r, "part", i, -1, params, (made){1, 0, 1});
            r->tensors[i].is_part = 1;
        }
        break;
    case 7:
    case 11:
    case 12:
        if (i != k && may_join(r, i) && may_join(r, k) && len + b.len < 50) {
            add_op(r, "join", i, k, "", (made){len + b.len, 0, 0});
            r->tensors[i].is_part = r->tensors[k].is_part = 1;
        }
        break;
    case 8:
        if (len + b.len < 50)
            add_op(r, "chain", i, k, "", (made){len + b.len, is_dynamic, 0});
        break;
    case 9:
        add_op(r, "positive", i, -1, "extra 0", (made){len, 1, 0});
        break;
    case 10:
        add_op(r, "count", i, -1, "", (made){1, 0, 0});
        break;
    default:
        break;
    }
}

static void make_model(random_model *r, unsigned seed)
{
    *r = (random_model){.seed = seed};
    // The first tensor may be an input, so that runs compute too.
    ln_test_begin(&r->m, draw(r, 2) ? "\"inputs\": [\"t0\"]," : "\"inputs\": [],");
    while (r->n_creates < MAX_CREATES)
        add_create(r);
    const int n = 8 + (int)draw(r, MAX_TENSORS - 8);
    for (int i = 0; i < 4 * n && r->n < n; i++)
        add_random_op(r);
    r->text = ln_test_text(&r->m);
}

// NULL: the model is none, as where a join comes too late.
static ln_context *load_text(const random_model *r)
{
    ln_context *ctx = ln_context_create();
    if (!ln_context_init_text(ctx, "model", r->text, strlen(r->text)) &&
        !ln_context_compile(ctx, "test") && !ln_test_load(ctx)) {
        poison(ctx);
        return ctx;
    }
    ln_context_free(ctx);
    return NULL;
}

static void assert_same_outputs(unsigned seed, ln_context *a, ln_context *b)
{
    const char *name;
    LN_LIST_FOREACH (name, a->outputs) {
        float *x = ln_context_get_data(a, name, NULL), *y = ln_context_get_data(b, name, NULL);
        const size_t size = ln_context_data_size(a, name);
        ck_assert_msg(x && y && size == ln_context_data_size(b, name) && !memcmp(x, y, size),
                      "seed %u: %s is %g, expected %g", seed, name, x ? x[0] : -1, y ? y[0] : -1);
        ln_free(x);
        ln_free(y);
    }
}

static void set_one(ln_context *ctx, int i, float value)
{
    char name[16];
    snprintf(name, sizeof(name), "t%d", i);
    if (ln_tensor_table_find(ctx->tensor_table, name)) // something reads it
        set(ctx, name, value);
}

static void set_all(ln_context *ctx, const float values[MAX_CREATES])
{
    for (int i = 0; i < MAX_CREATES; i++)
        set_one(ctx, i, values[i]);
}

// A context that computes everything again has the expected values.
static void compare_with_new(const random_model *r, unsigned seed, ln_context *ctx,
                             const float values[MAX_CREATES])
{
    ln_context *other = load_text(r);
    set_all(other, values);
    other->stale = LN_STALE_ALL;
    run(other);
    assert_same_outputs(seed, ctx, other);
    ln_context_free(other);
}

static void set_some(random_model *r, ln_context *ctx, float values[MAX_CREATES])
{
    for (int n = 1 + (int)draw(r, 2); n > 0; n--) {
        const int i = (int)draw(r, MAX_CREATES);
        values[i] = (float)draw(r, 19) - 9;
        set_one(ctx, i, values[i]);
    }
}

static int check_model(unsigned seed)
{
    random_model r;
    float values[MAX_CREATES] = {0};
    make_model(&r, seed);
    ln_context *ctx = load_text(&r);
    if (ctx)
        set_all(ctx, values);
    for (int step = 0; ctx && step < 12; step++) {
        if (step == 7)
            ck_assert_int_eq(ln_context_rebind(ctx), 0);
        set_some(&r, ctx, values);
        run(ctx);
        compare_with_new(&r, seed, ctx, values);
    }
    ln_context_free(ctx);
    free(r.text);
    return ctx != NULL;
}

START_TEST(random_models_compute_what_they_would_from_the_start)
{
    int good = 0;
    for (unsigned seed = 1; seed <= 400; seed++)
        good += check_model(seed);
    ck_assert_int_gt(good, 200);
}
END_TEST

START_TEST(every_allocation_of_an_update_may_fail)
{
    int failed = 1;
    for (int n = 0; failed; n++) {
        ln_context *ctx = weighted_sum();
        ln_alloc_fail_after(n);
        const float data[4] = {2, 2, 2, 2};
        const int status = ln_context_set_data(ctx, "x", data) || ln_context_run(ctx);
        failed = ln_alloc_fail_stop();
        if (status) { // the next attempt finds all that was marked
            ck_assert_str_ne(ln_context_error(ctx), "");
            set(ctx, "x", 2);
            run(ctx);
        }
        ck_assert_double_eq(ln_test_get(ctx, "y"), 223);
        ln_context_free(ctx);
    }
}
END_TEST

LN_TEST_MAIN("updates", only_dependents_of_a_set_tensor_are_recomputed,
             a_weight_that_is_set_is_packed_again_and_no_other,
             parameters_and_rebinding_recompute_everything,
             kept_results_are_restored_for_their_views,
             random_models_compute_what_they_would_from_the_start,
             every_allocation_of_an_update_may_fail)
