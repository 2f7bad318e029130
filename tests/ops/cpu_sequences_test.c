// SPDX-License-Identifier: Apache-2.0
// Random sequences of calls on a context: whatever their order, each succeeds or gives a reason,
// and the context is of use afterwards. Memory errors are found by the build with sanitizers.

#include <stdio.h>
#include <unistd.h>

#include "cpu_model.h"
#include "lightnet/ln_arch.h"

enum { SEQUENCES = 300, CALLS = 40 };

static const char *const models[] = {
    // With an input, without any, without operators, with in-place writers and views.
    MODEL("'x'", "'y'",
          FLOATS("x", "[2,2]", "[0]") "," FLOATS("w", "[2,2]", "[1,2,3,4]") "," OP(
              "m", "matmul", TENSOR("src1", "x") "," TENSOR("src2", "w"), TENSOR("dst", "p"),
              "") "," OP("r", "relu", TENSOR("src", "p"), TENSOR("dst", "y"), "")),
    MODEL("", "'y'",
          FLOATS("x", "[2,2]", "[5]") "," FLOATS("w", "[2,2]", "[1,2,3,4]") "," OP(
              "m", "matmul", TENSOR("src1", "x") "," TENSOR("src2", "w"), TENSOR("dst", "p"),
              "") "," OP("r", "transpose", TENSOR("src", "p"), TENSOR("dst", "y"),
                         PARAM("axes", "[1,0]"))),
    MODEL("", "", ""),
    MODEL("'x'", "'y','p'",
          FLOATS("x", "[4]", "[0]") "," OP(
              "m", "relu", TENSOR("src", "x"), TENSOR("dst", "w"),
              "") "," OP("s", "sort1d", TENSOR("src_key", "w"), TENSOR("dst_key", "p"),
                         PARAM("dir",
                               "'TL_SORT_DIR_ASCENDING'")) "," OP("r", "slice", TENSOR("src", "p"),
                                                                  TENSOR("dst", "y"),
                                                                  PARAM("axis", "0") "," PARAM(
                                                                      "start",
                                                                      "1") "," PARAM("len", "2"))),
};

static const char *const tensors[] = {"x", "w", "p", "y", "none"};
static const char *const operators[] = {"create_x", "m", "r", "s", "none"};

// A context and what its calls draw from.
typedef struct sequence {
    ln_context *ctx;
    uint64_t state;
} sequence;

static int draw(sequence *s, int n)
{
    s->state = s->state * 6364136223846793005U + 1442695040888963407U;
    return (int)((s->state >> 33) % (uint64_t)n);
}

#define DRAW(s, array) (array)[draw(s, (int)(sizeof(array) / sizeof((array)[0])))]

static int init(sequence *s)
{
    char text[4096];
    snprintf(text, sizeof(text), "%s", DRAW(s, models));
    for (char *p = text; *p; p++)
        *p = *p == '\'' ? '"' : *p;
    return ln_context_init_text(s->ctx, "model", text, strlen(text));
}

static int compile_model(sequence *s)
{
    static const char *const targets[] = {"cpu", "cpu", "cpu", "none", "moon"};
    return ln_context_compile(s->ctx, DRAW(s, targets));
}

static int load_model(sequence *s)
{
    return ln_context_load(s->ctx, draw(s, 8) ? NULL : "/none");
}

static int set_data(sequence *s)
{
    static const float data[4] = {-1, 2, -3, 4};
    return ln_context_set_data(s->ctx, DRAW(s, tensors), draw(s, 8) ? data : NULL);
}

static int get_data(sequence *s)
{
    void *data = ln_context_get_data(s->ctx, DRAW(s, tensors), NULL);
    free(data);
    return data ? 0 : -1;
}

static int data_size(sequence *s)
{
    return ln_context_data_size(s->ctx, DRAW(s, tensors)) ? 0 : -1;
}

static int set_param(sequence *s)
{
    static const double numbers[] = {0, 1, 9};
    return ln_context_set_param(s->ctx, DRAW(s, operators), draw(s, 2) ? "start" : "axis",
                                DRAW(s, numbers));
}

static int run_model(sequence *s)
{
    return ln_context_run(s->ctx);
}

static int run_timed(sequence *s)
{
    uint64_t ns[32] = {0};
    return ln_list_length(s->ctx->ops) <= 32 ? ln_context_run_timed(s->ctx, ns) : 0;
}

static int see(void *data, const ln_op *op)
{
    sequence *s = data;
    return !op->op_arg->name || !draw(s, 20);
}

static int run_each(sequence *s)
{
    (void)ln_context_run_each(s->ctx, see, s); // `see` may be what ends it
    return 0;
}

static int stats(sequence *s)
{
    ln_stats stats;
    return ln_context_stats(s->ctx, &stats);
}

static int unload(sequence *s)
{
    ln_context_unload(s->ctx);
    return 0;
}

static int cleanup(sequence *s)
{
    ln_context_cleanup(s->ctx);
    return 0;
}

static int set_threads(sequence *s)
{
    return ln_context_set_threads(s->ctx, draw(s, 4) - 1);
}

static int settings(sequence *s)
{
    ln_context_set_seed(s->ctx, 3);
    if (!draw(s, 4))
        ln_context_keep_all(s->ctx);
    if (!draw(s, 8))
        ln_context_set_reference(s->ctx);
    return ln_context_disable_rule(s->ctx, draw(s, 2) ? "lower_cpu" : "none");
}

static int add_output(sequence *s)
{
    return ln_context_add_output(s->ctx, DRAW(s, tensors));
}

static int rebind(sequence *s)
{
    return ln_context_rebind(s->ctx);
}

static int alloc_mem(sequence *s)
{
    return ln_context_alloc_mem(s->ctx);
}

static int dealloc_mem(sequence *s)
{
    ln_context_dealloc_mem(s->ctx);
    return 0;
}

// After an edit that failed, or left operators without inputs, a context can only be cleaned up.
static int end_edit(sequence *s, int status)
{
    if (status || ln_context_check(s->ctx))
        ln_context_cleanup(s->ctx);
    return 0;
}

static int remove_op(sequence *s)
{
    ln_list *position = s->ctx->last;
    return position ? end_edit(s, ln_context_remove_op(s->ctx, &position)) : 0;
}

static int add_op(sequence *s)
{
    const ln_op *proto = ln_hash_find(LN_ARCH.op_proto_table, "relu");
    ln_op *op = ln_op_create_with_names(proto, s->ctx->ops, s->ctx->tensor_table);
    ln_list *position = NULL;
    if (ln_tensor_list_entry_set_name(op->op_arg->tensors_in->data, "y"))
        return -1;
    return end_edit(s, ln_context_add_op(s->ctx, &position, op));
}

static int init_ops(sequence *s)
{
    return end_edit(s, ln_context_init_ops(s->ctx));
}

static int cleanup_ops(sequence *s)
{
    ln_context_cleanup_ops(s->ctx);
    return 0;
}

static int print(sequence *s)
{
    return ln_context_print(s->ctx, "/dev/null");
}

static int save(sequence *s)
{
    char file[] = "/tmp/cpu_sequences_test_XXXXXX";
    close(mkstemp(file));
    const int status = ln_context_save(s->ctx, NULL, file);
    unlink(file);
    return status;
}

#ifdef LN_TEST_NNVM
static const char *const formats[] = {"nnvm", "ir"};
#else
static const char *const formats[] = {"ir", "ir"};
#endif

static int write_model(sequence *s)
{
    char file[] = "/tmp/cpu_sequences_test_XXXXXX";
    close(mkstemp(file));
    const int status = ln_context_write(s->ctx, NULL, formats[draw(s, 2)], file);
    char params[64];
    snprintf(params, sizeof(params), "%s.params", file);
    unlink(params);
    unlink(file);
    return status;
}

static int bind_shape(sequence *s)
{
    return ln_context_bind_shape(s->ctx, DRAW(s, tensors), 2, (int[]){2, 2});
}

static int ask(sequence *s)
{
    const char *name = DRAW(s, tensors);
    char buf[LN_MAX_NAME_LEN];
    const int known = ln_context_num_uses(s->ctx, name) + ln_context_is_output(s->ctx, name) +
                      ln_context_is_mutated(s->ctx, name);
    return known < 0 || ln_context_unique_name(s->ctx, buf, name) ? -1 : 0;
}

static int (*const calls[])(sequence *s) = {
    // Those of every program come more often, so that the others meet contexts in each state.
    init,       compile_model, load_model, set_data,  run_model,   init,       compile_model,
    load_model, set_data,      run_model,  set_data,  run_model,   get_data,   data_size,
    set_param,  run_timed,     run_each,   stats,     unload,      cleanup,    set_threads,
    settings,   add_output,    rebind,     alloc_mem, dealloc_mem, remove_op,  add_op,
    init_ops,   cleanup_ops,   print,      save,      write_model, bind_shape, ask};

static void run_sequence(uint64_t seed)
{
    sequence s = {.ctx = ln_context_create(), .state = seed};
    for (int i = 0; i < CALLS; i++)
        if (DRAW(&s, calls)(&s))
            ck_assert_msg(*ln_context_error(s.ctx) || *ln_last_error(),
                          "sequence %d fails silently", (int)seed);
    ln_context_cleanup(s.ctx);
    // Shapes that were bound hold for this model, too, which may have other names and sizes.
    ck_assert_msg(!init(&s) || strstr(ln_context_error(s.ctx), "a shape is given for '") ||
                      strstr(ln_context_error(s.ctx), "is given with shape"),
                  "sequence %d: %s", (int)seed, ln_context_error(s.ctx));
    ln_context_free(s.ctx);
}

START_TEST(calls_in_any_order_succeed_or_say_why)
{
    for (uint64_t seed = 1; seed <= SEQUENCES; seed++)
        run_sequence(seed);
}
END_TEST

// Joins two inputs of up to 4 elements, whose length has a name.
#define INPUT(name)                                                                               \
    OP("make_" name, "placeholder", "", TENSOR("dst", name),                                      \
       PARAM("dtype", "'TL_FLOAT'") "," PARAM("dims", "[4]") "," PARAM("least", "[1]") "," PARAM( \
           "sizes", "['length']"))

static const char named_model[] = MODEL(
    "'a','b'", "'y'",
    INPUT("a") "," INPUT("b") "," OP("join", "join", TENSOR("src0", "a") "," TENSOR("src1", "b"),
                                     TENSOR("dst", "y"), PARAM("axis", "0")));

// 0: the lengths are equal, and y has both inputs.
static int run_lengths(ln_context *ctx, int a, int b)
{
    static const float data[] = {1, 2, 3, 4};
    ck_assert_int_eq(ln_context_set_shape(ctx, "a", 1, &a), 0);
    ck_assert_int_eq(ln_context_set_shape(ctx, "b", 1, &b), 0);
    ck_assert_int_eq(ln_context_set_data(ctx, "a", data), 0);
    ck_assert_int_eq(ln_context_set_data(ctx, "b", data), 0);
    if (ln_context_run(ctx))
        return -1;
    ck_assert_int_eq(ln_tensor_table_find(ctx->tensor_table, "y")->tensor->len, a + b);
    return 0;
}

static void check_lengths(ln_context *ctx)
{
    ck_assert_msg(!run_lengths(ctx, 3, 3), "%s", ln_context_error(ctx));
    ck_assert_int_eq(run_lengths(ctx, 2, 3), -1);
    ck_assert_msg(strstr(ln_context_error(ctx), "'length' is 2 by other inputs") != NULL, "%s",
                  ln_context_error(ctx));
    ck_assert_msg(!run_lengths(ctx, 4, 4), "%s", ln_context_error(ctx));
}

// Rebinding, and parameters that are set or rejected, replace what runs have found.
START_TEST(names_of_sizes_hold_after_rebinding_and_parameters)
{
    ln_context *ctx;
    ck_assert_msg(!read_allowing(&ctx, named_model, NULL) && !ln_context_compile(ctx, "cpu") &&
                      !ln_context_load(ctx, NULL),
                  "%s", ln_context_error(ctx));
    check_lengths(ctx);
    ck_assert_int_eq(ln_context_rebind(ctx), 0);
    check_lengths(ctx);
    const ln_op *const join = ln_entry_creater(ln_tensor_table_find(ctx->tensor_table, "y"));
    ck_assert_int_eq(ln_context_set_param(ctx, join->op_arg->name, "axis", 5.0), -1);
    check_lengths(ctx);
    ck_assert_msg(!ln_context_set_param(ctx, join->op_arg->name, "axis", 0.0), "%s",
                  ln_context_error(ctx));
    check_lengths(ctx);
    ln_context_free(ctx);
}
END_TEST

LN_TEST_MAIN("call sequences", calls_in_any_order_succeed_or_say_why,
             names_of_sizes_hold_after_rebinding_and_parameters)
