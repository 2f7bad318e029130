// SPDX-License-Identifier: Apache-2.0
// Tests of static work of bodies, with all parts: where it is done, and that results stay the same.

#include "pass/ln_rewriting.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/ln_alloc_fail.h"
#include "ir/ln_bodies.h"
#include "lightnet/ln_context.h"
#include "lightnet/ln_util.h"
#include "ln_check.h"

enum { N = 4, LEN = N * N };

// Models in JSON. Matrices are [4, 4], of small integers: every sum is exact.

#define MADE_BY(optype, dst, ins, dst_arg, params)                                   \
    "{\"name\": \"make_" dst "\", \"optype\": \"" optype "\", \"tensors_in\": [" ins \
    "], \"tensors_out\": [{\"arg_name\": \"" dst_arg "\", \"name\": \"" dst "\"}], " \
    "\"params\": [" params "]}"
#define IN(arg, name)     "{\"arg_name\": \"" arg "\", \"name\": \"" name "\"}"
#define PARAM(arg, value) "{\"arg_name\": \"" arg "\", \"value\": " value "}"
#define SOURCE(name, dtype, dims, data) \
    MADE_BY(                            \
        "source", name, "", "dst",      \
        PARAM("dtype", "\"" dtype "\"") ", " PARAM("dims", dims) ", " PARAM("data", "[" data "]"))
#define MATRIX(name, data) SOURCE(name, "TL_FLOAT", "[4, 4]", data)
#define GIVEN(name)        MATRIX(name, "")
#define NUMBER(name, data) SOURCE(name, "TL_FLOAT", "[1]", data)
#define MATMUL(src1, src2, dst) \
    MADE_BY("matmul", dst, IN("src1", src1) ", " IN("src2", src2), "dst", "")
#define BINARY(op, src1, src2, dst)                                       \
    MADE_BY("binary", dst, IN("src1", src1) ", " IN("src2", src2), "dst", \
            PARAM("op", "\"TL_BINARY_" op "\""))
#define UNARY(func, src, dst) \
    MADE_BY("unary", dst, IN("src", src), "dst", PARAM("func", "\"TL_UNARY_" func "\""))
#define BODY(name, inputs, output, ops) \
    "\"" name "\": {\"inputs\": [" inputs "], \"outputs\": [\"" output "\"], \"ops\": [" ops "]}"
#define MODEL(inputs, outputs, bodies, ops)                                       \
    "{\"inputs\": [" inputs "], \"outputs\": [" outputs "], \"bodies\": {" bodies \
    "}, \"ops\": [" ops "]}"
#define LOOP(body, state, src, dst)                                         \
    MADE_BY("loop", dst, IN("state0", state) ", " IN("src0", src), "last0", \
            PARAM("body", "\"" body "\"") ", " PARAM("most", "2"))

#define COUNTER SOURCE("i", "TL_INT64", "[]", "")
#define SOME    "1, 0, -2, 1, 0, 3, 1, 0, -1, 0, 0, 2, 1, 1, 0, 0"
#define OTHERS  "0, 1, 1, 0, 2, 0, 0, -1, 0, 0, 1, 1, -3, 0, 1, 0"

// inner: p (m + m); then: that twice, times v - w; else: relu(a w).
#define INNER                                                                 \
    BODY("inner", "\"i\", \"p\", \"m\"", "r",                                 \
         COUNTER ", " GIVEN("p") ", " GIVEN("m") ", " BINARY("ADD", "m", "m", \
                                                             "u") ", " MATMUL("p", "u", "r"))
#define THEN                                                                                       \
    BODY("then", "\"a\", \"w\", \"v\"", "y1",                                                      \
         GIVEN("a") ", " GIVEN("w") ", " GIVEN("v") ", " LOOP("inner", "a", "w", "t") ", " BINARY( \
             "SUB", "v", "w", "d") ", " MATMUL("t", "d", "y1"))
#define ELSE                                                                               \
    BODY("else", "\"a\", \"w\", \"v\"", "y2",                                              \
         GIVEN("a") ", " GIVEN("w") ", " GIVEN("v") ", " MATMUL("a", "w", "b") ", " UNARY( \
             "RELU", "b", "y2"))
#define BRANCH                                                                              \
    MADE_BY("branch", "y",                                                                  \
            IN("cond", "c") ", " IN("src0", "x") ", " IN("src1", "w") ", " IN("src2", "v"), \
            "dst0", PARAM("then_body", "\"then\"") ", " PARAM("else_body", "\"else\""))

static const char nested[] = MODEL("\"c\", \"x\"", "\"y\"", INNER ", " THEN ", " ELSE,
                                   SOURCE("c", "TL_BOOL", "[]", "") ", " GIVEN("x") ", " MATRIX(
                                       "w", SOME) ", " MATRIX("v", OTHERS) ", " BRANCH);

// Two loops run one body.
static const char shared[] =
    MODEL("\"x\"", "\"y\", \"z\"", INNER,
          GIVEN("x") ", " MATRIX("w", SOME) ", " MATRIX("v", OTHERS) ", " LOOP(
              "inner", "x", "w", "y") ", " LOOP("inner", "x", "v", "z"));

// The body is GELU, by constants that it is given.
#define GELU                                                                                        \
    BODY(                                                                                           \
        "gelu", "\"i\", \"p\", \"root\", \"one\", \"half\"", "r",                                   \
        COUNTER ", " GIVEN("p") ", " NUMBER("root", "") ", " NUMBER("one", "") ", " NUMBER(         \
            "half",                                                                                 \
            "") ", " BINARY("DIV", "p", "root",                                                     \
                            "t") ", " UNARY("ERF", "t",                                             \
                                            "e") ", " BINARY("ADD", "e", "one",                     \
                                                             "s") ", " BINARY("MUL", "p", "s",      \
                                                                              "u") ", " BINARY("M"  \
                                                                                               "U"  \
                                                                                               "L", \
                                                                                               "u", \
                                                                                               "h"  \
                                                                                               "a"  \
                                                                                               "l"  \
                                                                                               "f", \
                                                                                               "r"))
static const char scalars[] = MODEL(
    "\"x\"", "\"y\"", GELU,
    GIVEN("x") ", " NUMBER("root", "1.4142135381698608") ", " NUMBER("one", "1") ", " NUMBER(
        "half", "0.5") ", " MADE_BY("loop", "y",
                                    IN("state0", "x") ", " IN("src0", "root") ", " IN(
                                        "src1", "one") ", " IN("src2", "half"),
                                    "last0", PARAM("body", "\"gelu\"") ", " PARAM("most", "3")));

// A branch, or a loop, of a body that divides the whole numbers n by others that it is given, m.
#define WHOLE(name, data) SOURCE(name, "TL_INT64", "[2]", data)
#define QUOTIENT(name, inputs, sources, dst) \
    BODY(name, inputs "\"n\", \"m\"", dst,   \
         sources WHOLE("n", "") ", " WHOLE("m", "") ", " BINARY("DIV", "n", "m", dst))
#define SUM                          \
    BODY("sum", "\"n\", \"m\"", "s", \
         WHOLE("n", "") ", " WHOLE("m", "") ", " BINARY("ADD", "n", "m", "s"))
#define DIVIDING(divisors)                                                                         \
    MODEL(                                                                                         \
        "\"c\"", "\"y\"", QUOTIENT("quotient", "", "", "q") ", " SUM,                              \
        SOURCE("c", "TL_BOOL", "[]", "") ", " WHOLE("n", "7, 8") ", " WHOLE(                       \
            "m", divisors) ", " MADE_BY("branch", "y",                                             \
                                        IN("cond", "c") ", " IN("src0", "n") ", " IN("src1", "m"), \
                                        "dst0",                                                    \
                                        PARAM("then_body", "\"quotient\"") ", " PARAM("else_body", \
                                                                                      "\"sum\"")))
static const char division[] = DIVIDING("2, 0");
static const char repeated[] = MODEL(
    "\"k\"", "\"y\"", QUOTIENT("quotient", "\"i\", \"t\", ", COUNTER ", " WHOLE("t", "") ", ", "q"),
    SOURCE("k", "TL_INT64", "[]", "") ", " WHOLE("n", "7, 8") ", " WHOLE("m", "2, 0") ", " MADE_BY(
        "loop", "y",
        IN("trips", "k") ", " IN("state0", "n") ", " IN("src0", "n") ", " IN("src1", "m"), "last0",
        PARAM("body", "\"quotient\"")));

static ln_context *compiled(const char *model)
{
    ln_context *ctx = ln_context_create();
    ck_assert_ptr_nonnull(ctx);
    ck_assert_msg(!ln_context_init_text(ctx, "model", model, strlen(model)) &&
                      !ln_context_compile(ctx, "cpu"),
                  "%s", ln_context_error(ctx));
    return ctx;
}

static int count(const ln_context *ctx, const char *optype)
{
    const ln_op *op;
    int n = 0;
    LN_LIST_FOREACH (op, ctx->ops)
        n += ln_op_is(op, optype);
    return n;
}

// Expected results, computed here.

static void multiply(const float *a, const float *b, float *dst)
{
    float made[LEN] = {0};
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            for (int k = 0; k < N; k++)
                made[i * N + j] += a[i * N + k] * b[k * N + j];
    memcpy(dst, made, sizeof(made));
}

static void expect_loop(const float *x, const float *w, float *dst)
{
    float twice[LEN];
    for (int i = 0; i < LEN; i++)
        twice[i] = 2 * w[i];
    multiply(x, twice, dst);
    multiply(dst, twice, dst);
}

static void expect_branch(int c, const float *x, const float *w, const float *v, float *dst)
{
    float difference[LEN];
    for (int i = 0; i < LEN; i++)
        difference[i] = v[i] - w[i];
    if (c) {
        expect_loop(x, w, dst);
        multiply(dst, difference, dst);
        return;
    }
    multiply(x, w, dst);
    for (int i = 0; i < LEN; i++)
        dst[i] = dst[i] > 0 ? dst[i] : 0;
}

static const float some[LEN] = {1, 0, -2, 1, 0, 3, 1, 0, -1, 0, 0, 2, 1, 1, 0, 0};
static const float others[LEN] = {0, 1, 1, 0, 2, 0, 0, -1, 0, 0, 1, 1, -3, 0, 1, 0};
static const float image[LEN] = {1, 2, -1, 0, 3, 1, 0, 1, -2, 0, 1, 1, 0, 1, 2, -1};

static void check_run(ln_context *ctx, int c, const float *w, const float *v)
{
    const unsigned char cond = (unsigned char)c;
    float expected[LEN], got[LEN];
    expect_branch(c, image, w, v, expected);
    ck_assert_int_eq(ln_context_set_data(ctx, "c", &cond), 0);
    ck_assert_int_eq(ln_context_set_data(ctx, "x", image), 0);
    ck_assert_msg(!ln_context_run(ctx), "%s", ln_context_error(ctx));
    ck_assert_ptr_nonnull(ln_context_get_data(ctx, "y", got));
    ck_assert_mem_eq(got, expected, sizeof(got));
}

START_TEST(static_work_moves_through_all_bodies_to_the_program)
{
    ln_context *ctx = compiled(nested);
    const ln_context *inner = ln_body_named(ctx, "inner"), *then = ln_body_named(ctx, "then");
    ck_assert_int_eq(count(ctx, "binary_cpu"), 2);
    ck_assert_int_eq(count(inner, "binary_cpu") + count(then, "binary_cpu"), 0);
    // The number of the iteration, the state, and what m + m has become.
    ck_assert_int_eq(ln_body_num_inputs(inner), 3);
    ln_context_free(ctx);
}
END_TEST

START_TEST(both_branches_compute_what_they_did)
{
    ln_context *ctx = compiled(nested);
    ck_assert_int_eq(ln_context_load(ctx, NULL), 0);
    for (int turn = 0; turn < 2; turn++) {
        check_run(ctx, 1, some, others);
        check_run(ctx, 0, some, others);
    }
    ln_context_free(ctx);
}
END_TEST

START_TEST(constants_that_are_set_reach_the_bodies)
{
    ln_context *ctx = compiled(nested);
    ck_assert_int_eq(ln_context_load(ctx, NULL), 0);
    ck_assert_int_eq(ln_context_set_data(ctx, "w", others), 0);
    check_run(ctx, 1, others, others);
    check_run(ctx, 0, others, others);
    ck_assert_int_eq(ln_context_set_data(ctx, "v", some), 0);
    check_run(ctx, 1, others, some);
    ck_assert_int_eq(ln_context_set_data(ctx, "w", some), 0);
    ck_assert_int_eq(ln_context_set_data(ctx, "v", others), 0);
    check_run(ctx, 1, some, others);
    ln_context_free(ctx);
}
END_TEST

START_TEST(a_compiled_model_has_them_in_the_program)
{
    char file[] = "/tmp/ln_hoist_XXXXXX";
    const int fd = mkstemp(file);
    ln_context *ctx = compiled(nested);
    ck_assert_int_ge(fd, 0);
    close(fd);
    ck_assert_msg(!ln_context_save(ctx, NULL, file), "%s", ln_context_error(ctx));
    ln_context_free(ctx);
    ctx = ln_context_create();
    ck_assert_msg(!ln_context_init(ctx, file) && !ln_context_load(ctx, NULL), "%s",
                  ln_context_error(ctx));
    ck_assert_int_eq(count(ctx, "binary_cpu"), 0);
    check_run(ctx, 1, some, others);
    check_run(ctx, 0, some, others);
    ln_context_free(ctx);
    unlink(file);
}
END_TEST

START_TEST(the_work_of_a_body_that_several_run_stays)
{
    ln_context *ctx = compiled(shared);
    float expected[LEN], got[LEN];
    ck_assert_int_eq(count(ctx, "binary_cpu"), 0);
    ck_assert_int_eq(count(ln_body_named(ctx, "inner"), "binary_cpu"), 1);
    ck_assert_int_eq(ln_context_load(ctx, NULL), 0);
    ck_assert_int_eq(ln_context_set_data(ctx, "x", image), 0);
    ck_assert_int_eq(ln_context_run(ctx), 0);
    for (int k = 0; k < 2; k++) {
        expect_loop(image, k ? others : some, expected);
        ck_assert_ptr_nonnull(ln_context_get_data(ctx, k ? "z" : "y", got));
        ck_assert_mem_eq(got, expected, sizeof(got));
    }
    ln_context_free(ctx);
}
END_TEST

START_TEST(rules_read_the_scalars_that_a_body_is_given)
{
    static const float two = 2;
    ln_context *ctx = compiled(scalars);
    const ln_context *body = ln_body_named(ctx, "gelu");
    ck_assert_int_eq(count(body, "binary_cpu"), 0);
    ck_assert_int_eq(count(body, "unary_cpu"), 1);
    ck_assert_int_eq(ln_context_load(ctx, NULL), 0);
    ck_assert_int_eq(ln_context_set_data(ctx, "one", &two), -1);
    ck_assert_msg(strstr(ln_context_error(ctx), "recognize_function") != NULL, "%s",
                  ln_context_error(ctx));
    ln_context_free(ctx);
}
END_TEST

// Runs the model with the setting, for which it gives these numbers; NULL: the run fails.
static void check_division(ln_context *ctx, const char *name, const void *setting,
                           const int64_t *expected)
{
    int64_t got[2];
    ck_assert_int_eq(ln_context_set_data(ctx, name, setting), 0);
    const int status = ln_context_run(ctx);
    if (!expected) {
        ck_assert_int_eq(status, -1);
        ck_assert_ptr_nonnull(strstr(ln_context_error(ctx), "division by zero"));
        return;
    }
    ck_assert_msg(!status, "%s", ln_context_error(ctx));
    ck_assert_ptr_nonnull(ln_context_get_data(ctx, "y", got));
    ck_assert_mem_eq(got, expected, sizeof(got));
}

// The division is in its body, and only runs whose setting reaches it fail.
static void check_body(const char *model, const char *name, const void *passes, const void *reaches,
                       const int64_t *expected)
{
    ln_context *ctx = compiled(model);
    ck_assert_int_eq(count(ln_body_named(ctx, "quotient"), "binary_cpu"), 1);
    ck_assert_msg(!ln_context_load(ctx, NULL), "%s", ln_context_error(ctx));
    check_division(ctx, name, passes, expected);
    check_division(ctx, name, reaches, NULL);
    check_division(ctx, name, passes, expected);
    ln_context_free(ctx);
}

START_TEST(what_can_fail_stays_in_its_branch)
{
    static const unsigned char yes = 1, no = 0;
    static const int64_t sums[] = {9, 8};
    check_body(division, "c", &no, &yes, sums);
}
END_TEST

START_TEST(what_can_fail_stays_in_its_loop)
{
    static const int64_t none = 0, one = 1, start[] = {7, 8};
    check_body(repeated, "k", &none, &one, start);
}
END_TEST

static int work(void)
{
    ln_context *ctx = ln_context_create();
    const int status = !ctx || ln_context_init_text(ctx, "model", nested, strlen(nested)) ||
                       ln_context_compile(ctx, "cpu") || ln_context_load(ctx, NULL);
    if (ctx && status)
        ck_assert_str_ne(ln_context_error(ctx), "");
    ln_context_free(ctx);
    return status;
}

START_TEST(every_allocation_may_fail)
{
    int failed = 1, n = 0;
    ck_assert_int_eq(work(), 0);
    for (; failed; n += ln_check_step()) {
        ln_alloc_fail_after(n);
        const int status = work();
        failed = ln_alloc_fail_stop();
        // A hash table that cannot grow keeps its size; any other failure is an error.
        ck_assert_msg(failed || status == 0, "allocation %d", n);
    }
    ck_assert_int_gt(n, 500);
}
END_TEST

LN_TEST_MAIN("hoist", static_work_moves_through_all_bodies_to_the_program,
             both_branches_compute_what_they_did, constants_that_are_set_reach_the_bodies,
             a_compiled_model_has_them_in_the_program, the_work_of_a_body_that_several_run_stays,
             rules_read_the_scalars_that_a_body_is_given, what_can_fail_stays_in_its_branch,
             what_can_fail_stays_in_its_loop, every_allocation_may_fail)
