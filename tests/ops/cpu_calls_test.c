// SPDX-License-Identifier: Apache-2.0
// Tests of the CPU's operators in small models: the order of calls, constants that are set or
// cannot be, several runs, and runs that fail.

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cpu_model.h"
#include "lightnet/ln_context.h"
#include "ln_check.h"

// The order of calls

START_TEST(rejects_calls_after_compiling_and_changes_nothing)
{
    static float before[24 * 9 * 11], after[24 * 9 * 11];
    ln_context *ctx = load(CONVOLUTIONS);
    run(ctx);
    ck_assert_ptr_nonnull(ln_context_get_data(ctx, "y", before));
    ck_assert_int_eq(ln_context_set_threads(ctx, 2), -1);
    ck_assert_str_eq(ln_context_error(ctx),
                     "the context is loaded; unload it to change the number of threads");
    ck_assert_int_eq(ln_context_load(ctx, NULL), -1);
    ck_assert_str_eq(ln_context_error(ctx), "the context is loaded already; unload it first");
    ck_assert_int_eq(ln_context_set_tuning(ctx), -1);
    ck_assert_str_eq(ln_context_error(ctx), "the model is compiled already, for 'cpu'");
    ck_assert_int_eq(ln_context_disable_rule(ctx, "lower_cpu"), -1);
    ck_assert_int_eq(ln_context_set_data(ctx, "y", NULL), -1);
    ck_assert_str_eq(ln_context_error(ctx), "the data for tensor 'y' is NULL");
    run(ctx);
    ck_assert_ptr_nonnull(ln_context_get_data(ctx, "y", after));
    ck_assert_int_eq(memcmp(before, after, sizeof(before)), 0);
    ln_context_unload(ctx);
    ck_assert_int_eq(ln_context_set_threads(ctx, 2), 0);
    ck_assert_msg(!ln_context_load(ctx, NULL), "%s", ln_context_error(ctx));
    run(ctx);
    ln_context_free(ctx);
}
END_TEST

// Constants that loading alone reads

// clang-format off
#define FROM_FILE(name, dims)                                                            \
    "{'name':'create_" name "','optype':'create','tensors_in':[],"                       \
    "'tensors_out':[{'arg_name':'dst','name':'" name "'}],'params':["                    \
    "{'arg_name':'dtype','value':'TL_FLOAT'},{'arg_name':'dims','value':" dims "},"      \
    "{'arg_name':'ran','value':[0,0]},{'arg_name':'data','value':[0]},"                  \
    "{'arg_name':'from_file','value':true}]}"
#define LOADED                                                                           \
    MODEL("'x'", "'y','z'",                                                              \
          RANDOMS("x", "[1,24,9,11]") "," FROM_FILE("w", "[24,24,3,3]") ","              \
          FROM_FILE("b", "[24]") "," FROM_FILE("m", "[24,24]") ","                       \
          OP("view", "reshape", TENSOR("src", "m"), TENSOR("dst", "v"),                  \
             PARAM("dims", "[24,24,1,1]")) ","                                           \
          CONV2D("c1", "x", "w", "3", "y") "," CONV2D("c2", "x", "v", "1", "z"))
// clang-format on

// Gives constant `name` numbers that differ.
static void set_numbers(ln_context *ctx, const char *name)
{
    const size_t size = ln_context_data_size(ctx, name);
    float *const data = malloc(size);
    for (size_t i = 0; i < size / sizeof(float); i++)
        data[i] = (float)(i * 37 % 101) / 101;
    ck_assert_msg(!ln_context_set_data(ctx, name, data), "%s", ln_context_error(ctx));
    free(data);
}

START_TEST(a_rejected_parameter_keeps_the_memory_of_constants)
{
    static float before[24 * 9 * 11], after[24 * 9 * 11];
    ln_context *ctx = load(LOADED);
    set_numbers(ctx, "w");
    set_numbers(ctx, "b");
    set_numbers(ctx, "m");
    run(ctx);
    ck_assert_ptr_nonnull(ln_context_get_data(ctx, "y", before));
    const char *const producer = ln_context_creater(ctx, "x")->op_arg->name;
    ck_assert_int_ne(ln_context_set_param(ctx, producer, "dims", 2, (double[]){3, 4}), 0);
    set_numbers(ctx, "b"); // so that the next run packs all weights anew
    run(ctx);
    ck_assert_ptr_nonnull(ln_context_get_data(ctx, "y", after));
    ck_assert(memcmp(before, after, sizeof(before)) == 0);
    ln_context_free(ctx);
}
END_TEST

START_TEST(a_view_of_a_constant_that_only_loading_reads_cannot_be_set)
{
    float numbers[24 * 24] = {0};
    ln_context *ctx = load(LOADED);
    ck_assert_int_ne(ln_context_set_data(ctx, "v", numbers), 0);
    ck_assert_str_eq(ln_context_error(ctx), "tensor 'v' is a view of constant 'm'; set that one");
    ln_context_free(ctx);
}
END_TEST

// clang-format off
#define SQUARE                                                                                     \
    MODEL("'x'", "'y','z'",                                                                        \
          FLOATS("x", "[4]", "[5]") "," FLOATS("k", "[1]", "[2]") ","                              \
          OP("view", "reshape", TENSOR("src", "k"), TENSOR("dst", "v"), PARAM("dims", "[1,1]")) ","\
          OP("square", "binary", TENSOR("src1", "x") "," TENSOR("src2", "k"), TENSOR("dst", "y"),  \
             PARAM("op", "'TL_BINARY_POW'")) ","                                                   \
          OP("twice", "binary", TENSOR("src1", "x") "," TENSOR("src2", "v"), TENSOR("dst", "z"),   \
             PARAM("op", "'TL_BINARY_MUL'")))
// clang-format on

static void assert_fixed_by_square(const ln_context *ctx)
{
    ck_assert_msg(strstr(ln_context_error(ctx), "rule 'square_as_product' has made the value of "
                                                "'k' part of an operator") != NULL,
                  "%s", ln_context_error(ctx));
}

static void assert_two_stays(ln_context *ctx, const char *name)
{
    const float two = 2, three = 3;
    ck_assert_int_ne(ln_context_set_data(ctx, name, &three), 0);
    assert_fixed_by_square(ctx);
    ck_assert_msg(!ln_context_set_data(ctx, name, &two), "%s", ln_context_error(ctx));
    run(ctx);
    ASSERT_FLOATS(ctx, "y", 25, 25, 25, 25);
    ASSERT_FLOATS(ctx, "z", 10, 10, 10, 10);
}

START_TEST(a_number_that_a_rule_has_used_cannot_become_another)
{
    ln_context *ctx = load(SQUARE);
    assert_two_stays(ctx, "k");
    assert_two_stays(ctx, "v");
    ln_context_free(ctx);
}
END_TEST

// The compiled model as text. Returns new (free).
static char *compiled_text(ln_context *ctx)
{
    char file[] = "/tmp/cpu_memory_test_XXXXXX";
    close(mkstemp(file));
    ck_assert_msg(!ln_context_print(ctx, file), "%s", ln_context_error(ctx));
    char *const text = calloc(1, 1 << 16);
    FILE *stream = fopen(file, "r");
    ck_assert_uint_gt(fread(text, 1, (1 << 16) - 1, stream), 0);
    fclose(stream);
    unlink(file);
    return text;
}

static void read_compiled(ln_context *ctx, const char *text)
{
    ln_context_cleanup(ctx);
    ck_assert_msg(!ln_context_init_text(ctx, "compiled", text, strlen(text)), "%s",
                  ln_context_error(ctx));
}

START_TEST(compiled_model_rejects_changed_constant)
{
    ln_context *ctx = load(SQUARE);
    char *const text = compiled_text(ctx), *const two = strstr(text, "\"value\": [2]");
    read_compiled(ctx, text);
    ck_assert_msg(!ln_context_load(ctx, NULL), "%s", ln_context_error(ctx));
    assert_two_stays(ctx, "k");
    ck_assert_ptr_nonnull(two);
    two[strlen("\"value\": [")] = '3';
    read_compiled(ctx, text);
    ck_assert_int_ne(ln_context_load(ctx, NULL), 0);
    assert_fixed_by_square(ctx);
    ln_context_free(ctx);
    free(text);
}
END_TEST

START_TEST(nor_by_the_parameter_that_it_came_from)
{
    ln_context *ctx = load(SQUARE);
    const char *const producer = ln_context_creater(ctx, "k")->op_arg->name;
    ck_assert_int_ne(ln_context_set_param(ctx, producer, "data", 1, (double[]){3}), 0);
    assert_fixed_by_square(ctx);
    ck_assert_msg(!ln_context_set_param(ctx, producer, "data", 1, (double[]){2}), "%s",
                  ln_context_error(ctx));
    assert_two_stays(ctx, "k");
    ln_context_free(ctx);
}
END_TEST

START_TEST(a_number_that_a_rule_only_moves_can_become_another)
{
    const float seven = 7;
    ln_context *ctx = load(MODEL("'x'", "'y'",
                                 FLOATS("x", "[2]", "[5,6]") "," FLOATS("k", "[1]", "[2]") "," OP(
                                     "sum", "binary", TENSOR("src1", "k") "," TENSOR("src2", "x"),
                                     TENSOR("dst", "y"), PARAM("op", "'TL_BINARY_ADD'"))));
    ck_assert_msg(!ln_context_set_data(ctx, "k", &seven), "%s", ln_context_error(ctx));
    run(ctx);
    ASSERT_FLOATS(ctx, "y", 12, 13);
    ln_context_free(ctx);
}
END_TEST

// Several runs

START_TEST(zeros_are_zero_at_every_run)
{
    ln_context *ctx = load(MODEL(
        "", "'before','after'",
        OP("z", "zeros", "", TENSOR("dst", "z"),
           PARAM("dtype", "'TL_FLOAT'") "," PARAM(
               "dims",
               "[3]")) "," OP("before", "relu", TENSOR("src", "z"), TENSOR("dst", "before"),
                              "") "," OP("fill", "rearange", TENSOR("src", "z"),
                                         TENSOR("dst", "filled"),
                                         PARAM("start", "1") "," PARAM("stop", "4") "," PARAM(
                                             "step", "1")) "," OP("after", "relu",
                                                                  TENSOR("src", "filled"),
                                                                  TENSOR("dst", "after"), "")));
    for (int k = 0; k < 2; k++) {
        run(ctx);
        ASSERT_FLOATS(ctx, "before", 0, 0, 0);
        ASSERT_FLOATS(ctx, "after", 1, 2, 3);
    }
    ln_context_free(ctx);
}
END_TEST

START_TEST(a_tensor_is_read_before_it_is_sorted_through_a_view)
{
    ln_context *ctx = load(MODEL(
        "'x'", "'sum','sorted'",
        FLOATS("x", "[2,2]", "[3,1,4,2]") "," OP(
            "sum", "elew", TENSOR("src1", "x") "," TENSOR("src2", "x"), TENSOR("dst", "sum"),
            PARAM("elew_op",
                  "'TL_SUM'")) "," OP("flat", "reshape", TENSOR("src", "x"), TENSOR("dst", "flat"),
                                      PARAM("dims",
                                            "[4]")) "," OP("sort", "sort1d",
                                                           TENSOR("src_key", "flat"),
                                                           TENSOR("dst_key", "sorted"),
                                                           PARAM("dir",
                                                                 "'TL_SORT_DIR_ASCENDING'"))));
    run(ctx);
    ASSERT_FLOATS(ctx, "sum", 6, 2, 8, 4);
    ASSERT_FLOATS(ctx, "sorted", 1, 2, 3, 4);
    run(ctx); // the input was sorted in place
    ASSERT_FLOATS(ctx, "sum", 2, 4, 6, 8);
    ln_context_set_data(ctx, "x", (const float[]){9, 8, 7, 6});
    run(ctx);
    ASSERT_FLOATS(ctx, "sum", 18, 16, 14, 12);
    ASSERT_FLOATS(ctx, "sorted", 6, 7, 8, 9);
    ln_context_free(ctx);
}
END_TEST

START_TEST(folded_batchnorm_weights_follow_inputs_set_between_runs)
{
    ln_context *ctx = load(MODEL(
        "'m','v','s','o'", "'scale','shift','power'",
        CREATE("create_cpu", "m", "TL_FLOAT", "[1]", "[0]") "," CREATE(
            "create_cpu", "v", "TL_FLOAT", "[1]",
            "[3]") "," CREATE("create_cpu", "s", "TL_FLOAT", "[1]",
                              "[4]") "," CREATE("create_cpu", "o", "TL_FLOAT", "[1]",
                                                "[1]") "," OP("fold", "bn2scale_wts_cpu",
                                                              TENSOR("src_mean", "m") "," TENSOR(
                                                                  "src_var",
                                                                  "v") "," TENSOR("src_scale",
                                                                                  "s") "," TENSOR("src_offset",
                                                                                                  "o"),
                                                              TENSOR("dst_scale", "scale") "," TENSOR(
                                                                  "dst_shift",
                                                                  "shift") "," TENSOR("dst_power",
                                                                                      "power"),
                                                              PARAM("epsilon", "1"))));
    run(ctx);
    ASSERT_FLOATS(ctx, "scale", 2);
    ASSERT_FLOATS(ctx, "shift", 1);
    ln_context_set_data(ctx, "m", (const float[]){5});
    run(ctx);
    ASSERT_FLOATS(ctx, "shift", -9);
    ASSERT_FLOATS(ctx, "power", 1);
    ln_context_free(ctx);
}
END_TEST

// Arguments, failures while running

START_TEST(variadic_operators_reject_arguments_of_other_names)
{
    assert_rejected(MODEL("'x'", "'g'",
                          MATRIX "," OP("g", "gather", TENSOR("src1", "x") "," TENSOR("other", "x"),
                                        TENSOR("dst", "g"), "")),
                    "other");
    assert_rejected(MODEL("'x'", "'a','b'",
                          MATRIX "," OP("s", "scatter", TENSOR("src", "x"),
                                        TENSOR("dst1", "a") "," TENSOR("other", "b"), "")),
                    "other");
}
END_TEST

START_TEST(an_index_outside_fails_the_run_and_is_named)
{
    assert_run_fails(
        MODEL("'x','i'", "'p'",
              FLOATS("x", "[4]", "[1,2,3,4]") "," CREATE(
                  "create", "i", "TL_INT32", "[1]",
                  "[2]") "," OP("choose", "pick1d", TENSOR("src", "x") "," TENSOR("src_index", "i"),
                                TENSOR("dst", "p"), PARAM("len", "1") "," PARAM("stride", "2"))),
        "operator 'choose' (pick1d_cpu): ");
}
END_TEST

START_TEST(an_integer_division_by_zero_fails_the_run)
{
    assert_run_fails(
        MODEL("'x','y'", "'q'",
              CREATE("create", "x", "TL_INT8", "[2]", "[1,2]") "," CREATE(
                  "create", "y", "TL_INT8", "[2]",
                  "[1,0]") "," OP("divide", "elew", TENSOR("src1", "x") "," TENSOR("src2", "y"),
                                  TENSOR("dst", "q"), PARAM("elew_op", "'TL_DIV'"))),
        "operator 'divide' (binary_cpu): ");
}
END_TEST

// clang-format off
#define PRODUCT(name, dst) \
    OP(name, "matmul", TENSOR("src1", "x") "," TENSOR("src2", "w"), TENSOR("dst", dst), "")
#define INFINITE                                                                         \
    MODEL("'x'", "'y','z'",                                                              \
          FLOATS("x", "[4,2]", "[0]") "," FLOATS("w", "[2,1]", "[1]") ","                \
          PRODUCT("m", "p") ","                                                          \
          OP("c", "unary", TENSOR("src", "p"), TENSOR("dst", "y"),                       \
             PARAM("func", "'TL_UNARY_CLIP'") "," PARAM("alpha", "'-inf'") ","           \
             PARAM("beta", "'inf'")) ","                                                 \
          PRODUCT("n", "q") ","                                                          \
          OP("l", "unary", TENSOR("src", "q"), TENSOR("dst", "z"),                       \
             PARAM("func", "'TL_UNARY_LRELU'") "," PARAM("alpha", "'inf'")))
// clang-format on

// As parameters of the operator before them, infinite bounds and slopes stay infinite.
START_TEST(infinite_parameters_of_fused_activations_are_infinite)
{
    ln_context *ctx = load(INFINITE);
    const float x[] = {INFINITY, 1, -INFINITY, 1, -1, 0.5f, 2, 3};
    ck_assert_msg(!ln_context_set_data(ctx, "x", x), "%s", ln_context_error(ctx));
    run(ctx);
    ASSERT_FLOATS(ctx, "y", INFINITY, -INFINITY, -0.5f, 5);
    ASSERT_FLOATS(ctx, "z", INFINITY, -INFINITY, -INFINITY, 5);
    ln_context_free(ctx);
}
END_TEST

LN_TEST_MAIN("cpu calls", rejects_calls_after_compiling_and_changes_nothing,
             a_rejected_parameter_keeps_the_memory_of_constants,
             a_view_of_a_constant_that_only_loading_reads_cannot_be_set,
             a_number_that_a_rule_has_used_cannot_become_another,
             compiled_model_rejects_changed_constant, nor_by_the_parameter_that_it_came_from,
             a_number_that_a_rule_only_moves_can_become_another, zeros_are_zero_at_every_run,
             a_tensor_is_read_before_it_is_sorted_through_a_view,
             folded_batchnorm_weights_follow_inputs_set_between_runs,
             variadic_operators_reject_arguments_of_other_names,
             an_index_outside_fails_the_run_and_is_named, an_integer_division_by_zero_fails_the_run,
             infinite_parameters_of_fused_activations_are_infinite)
