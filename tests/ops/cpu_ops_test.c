// SPDX-License-Identifier: Apache-2.0
// Tests of the CPU's operators beyond single examples: several runs, side effects, memory shared
// between tensors, failures while running.

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lightnet/ln_context.h"
#include "ln_check.h"

// A tensor of numbers; a `create` of the model's arrays.
#define CREATE(op, name, dtype, dims, data)                                          \
    "{'name':'create_" name "','optype':'" op "','tensors_in':[],"                   \
    "'tensors_out':[{'arg_name':'dst','name':'" name "'}],'params':["                \
    "{'arg_name':'dtype','value':'" dtype "'},{'arg_name':'dims','value':" dims "}," \
    "{'arg_name':'ran','value':[0,0]},{'arg_name':'data','value':" data "},"         \
    "{'arg_name':'from_file','value':false}]}"
#define FLOATS(name, dims, data) CREATE("create", name, "TL_FLOAT", dims, data)
#define TENSOR(arg_name, name)   "{'arg_name':'" arg_name "','name':'" name "'}"
#define PARAM(arg_name, value)   "{'arg_name':'" arg_name "','value':" value "}"
#define OP(name, optype, in, out, params)                                                     \
    "{'name':'" name "','optype':'" optype "','tensors_in':[" in "],'tensors_out':[" out "]," \
    "'params':[" params "]}"
#define RELU_CPU(name, src, dst) OP(name, "relu_cpu", TENSOR("src", src), TENSOR("dst", dst), "")
#define MODEL(inputs, outputs, ops) \
    "{'inputs':[" inputs "],'outputs':[" outputs "],'ops':[" ops "]}"

/** Reads a model from JSON with ' for ". -1 with the reason in `*ctx`. */
static int read_model(ln_context **ctx, const char *model)
{
    char *text = strdup(model);
    for (char *p = text; *p; p++) {
        if (*p == '\'')
            *p = '"';
    }
    *ctx = ln_context_create();
    ck_assert_ptr_nonnull(*ctx);
    const int status = ln_context_init_text(*ctx, "model", text, strlen(text));
    free(text);
    return status;
}

static int compile(ln_context **ctx, const char *model)
{
    return read_model(ctx, model) || ln_context_compile(*ctx, "cpu") ? -1 : 0;
}

/** A compiled and loaded model. */
static ln_context *load_seeded(const char *model, uint64_t seed)
{
    ln_context *ctx;
    const int status = compile(&ctx, model);
    ck_assert_msg(!status, "%s", ln_context_error(ctx));
    ln_context_set_seed(ctx, seed);
    ck_assert_msg(!ln_context_load(ctx, NULL), "%s", ln_context_error(ctx));
    return ctx;
}

static ln_context *load(const char *model)
{
    return load_seeded(model, 0);
}

static void run(ln_context *ctx)
{
    ck_assert_msg(!ln_context_run(ctx), "%s", ln_context_error(ctx));
}

static void assert_refused(const char *model, const char *reason)
{
    ln_context *ctx;
    ck_assert_msg(compile(&ctx, model), "accepted, expected: %s", reason);
    ck_assert_msg(strstr(ln_context_error(ctx), reason) != NULL, "'%s', expected '%s'",
                  ln_context_error(ctx), reason);
    ln_context_free(ctx);
}

static void assert_run_fails(const char *model, const char *reason)
{
    ln_context *ctx = load(model);
    ck_assert_msg(ln_context_run(ctx), "ran, expected: %s", reason);
    ck_assert_msg(strstr(ln_context_error(ctx), reason) != NULL, "'%s', expected '%s'",
                  ln_context_error(ctx), reason);
    ln_context_free(ctx);
}

static void assert_floats(ln_context *ctx, const char *name, int len, const float *expected)
{
    float *data = ln_context_get_data(ctx, name, NULL);
    ck_assert_msg(data != NULL, "%s", ln_context_error(ctx));
    ck_assert_uint_eq(ln_context_data_size(ctx, name), (size_t)len * sizeof(float));
    for (int i = 0; i < len; i++)
        ck_assert_msg(data[i] == expected[i], "%s[%d] is %g, expected %g", name, i, data[i],
                      expected[i]);
    free(data);
}

#define ASSERT_FLOATS(ctx, name, ...)                                               \
    assert_floats(ctx, name, (int)(sizeof((float[]){__VA_ARGS__}) / sizeof(float)), \
                  (const float[]){__VA_ARGS__})

/* Random tensors */

#define TWO_RANDOMS                                                                   \
    MODEL("", "'a','b'",                                                              \
          OP("a", "create", "", TENSOR("dst", "a"), RANDOM) "," OP("b", "create", "", \
                                                                   TENSOR("dst", "b"), RANDOM))
#define RANDOM                                                                                \
    PARAM("dtype", "'TL_FLOAT'")                                                              \
    "," PARAM("dims", "[100]") "," PARAM("ran", "[-2,3]") "," PARAM("data", "[0]") "," PARAM( \
        "from_file", "false")

START_TEST(random_tensors_differ_and_stay_in_their_range)
{
    ln_context *ctx = load(TWO_RANDOMS);
    float a[100], b[100];
    ln_context_get_data(ctx, "a", a);
    ln_context_get_data(ctx, "b", b);
    ck_assert(memcmp(a, b, sizeof(a)) != 0);
    for (int i = 0; i < 100; i++)
        ck_assert(a[i] >= -2 && a[i] <= 3);
    ln_context_free(ctx);
}
END_TEST

START_TEST(the_seed_decides_the_random_numbers)
{
    float data[3][100];
    const uint64_t seeds[] = {7, 7, 8};
    for (int k = 0; k < 3; k++) {
        ln_context *ctx = load_seeded(TWO_RANDOMS, seeds[k]);
        ln_context_get_data(ctx, "b", data[k]);
        ln_context_free(ctx);
    }
    ck_assert(memcmp(data[0], data[1], sizeof(data[0])) == 0);
    ck_assert(memcmp(data[0], data[2], sizeof(data[0])) != 0);
}
END_TEST

#define ONE_OF_TWO_RANDOMS                                                    \
    MODEL("", "'y'",                                                          \
          OP("unused", "create", "", TENSOR("dst", "unused"), RANDOM) "," OP( \
              "b", "create", "", TENSOR("dst", "b"),                          \
              RANDOM) "," OP("relu", "relu", TENSOR("src", "b"), TENSOR("dst", "y"), ""))

START_TEST(an_unused_constant_does_not_change_the_random_numbers_of_others)
{
    float optimized[100], reference[100];
    ln_context *ctx = load(ONE_OF_TWO_RANDOMS);
    ck_assert_ptr_null(ln_context_get_data(ctx, "unused", NULL)); // it is gone
    run(ctx);
    ck_assert_ptr_nonnull(ln_context_get_data(ctx, "y", optimized));
    ln_context_free(ctx);

    ck_assert_msg(!read_model(&ctx, ONE_OF_TWO_RANDOMS), "%s", ln_context_error(ctx));
    ln_context_set_reference(ctx);
    ck_assert_msg(!ln_context_compile(ctx, "cpu"), "%s", ln_context_error(ctx));
    ck_assert_msg(!ln_context_load(ctx, NULL), "%s", ln_context_error(ctx));
    run(ctx);
    ck_assert_ptr_nonnull(ln_context_get_data(ctx, "unused", reference)); // it is not
    ck_assert_ptr_nonnull(ln_context_get_data(ctx, "y", reference));
    ln_context_free(ctx);
    ck_assert_mem_eq(optimized, reference, sizeof(optimized));
}
END_TEST

/* Rewrites */

/** x, and n scales and shifts by constants behind it, to y. The caller frees the text. */
static char *affine_chain(int n)
{
    char *text;
    size_t size;
    FILE *const fp = open_memstream(&text, &size);
    fputs("{'inputs':['x0'],'outputs':['y'],'ops':[" FLOATS("x0", "[1,2]", "[0]"), fp);
    for (int i = 1; i <= n; i++) {
        fprintf(fp,
                "," CREATE("create", "k%d", "TL_FLOAT", "[2]",
                           "[1]") "," CREATE("create", "h%d", "TL_FLOAT", "[2]", "[1]"),
                i, i, i, i);
        fprintf(
            fp,
            ",{'name':'affine%d','optype':'affine','tensors_in':[" TENSOR("src", "x%d") "," TENSOR(
                "scale", "k%d") "," TENSOR("shift", "h%d") "],'tensors_out':[",
            i, i - 1, i, i);
        if (i < n)
            fprintf(fp, TENSOR("dst", "x%d"), i);
        else
            fputs(TENSOR("dst", "y"), fp);
        fputs("],'params':[" PARAM("axis", "1") "]}", fp);
    }
    fputs("]}", fp);
    fclose(fp);
    return text;
}

static int times_fired(const ln_context *ctx, const char *rule)
{
    for (const ln_list *l = ctx->rules; l; l = l->next)
        if (strcmp(((const ln_rule_count *)l->data)->name, rule) == 0)
            return ((const ln_rule_count *)l->data)->count;
    return 0;
}

START_TEST(a_chain_of_scales_and_shifts_folds_in_as_many_rewrites)
{
    for (int n = 2; n <= 200; n *= 10) {
        char *const model = affine_chain(n);
        ln_context *const ctx = load(model);
        ck_assert_int_eq(times_fired(ctx, "affine_affine"), n - 1);
        ln_context_set_data(ctx, "x0", (const float[]){1, 2});
        run(ctx);
        ASSERT_FLOATS(ctx, "y", (float)n + 1, (float)n + 2);
        ln_context_free(ctx);
        free(model);
    }
}
END_TEST

/* Algorithms that are measured */

#define RANDOMS(name, dims)                                                         \
    "{'name':'create_" name "','optype':'create','tensors_in':[],"                  \
    "'tensors_out':[{'arg_name':'dst','name':'" name "'}],'params':["               \
    "{'arg_name':'dtype','value':'TL_FLOAT'},{'arg_name':'dims','value':" dims "}," \
    "{'arg_name':'ran','value':[-1,1]},{'arg_name':'data','value':[0]},"            \
    "{'arg_name':'from_file','value':false}]}"
#define CONV2D(name, src, weight, size, dst)                                                    \
    OP(name, "conv2d", TENSOR("src", src) "," TENSOR("weight", weight) "," TENSOR("bias", "b"), \
       TENSOR("dst", dst),                                                                      \
       PARAM("group", "1") "," PARAM("size", "[" size "," size "]") "," PARAM(                  \
           "stride", "[1,1]") "," PARAM("dilation",                                             \
                                        "[1,1]") "," PARAM("padding",                           \
                                                           "[0,0,0,0]") "," PARAM("autopad",    \
                                                                                  "'SAME_UPPER'"))
/* Two convolutions of one shape, and one with which there is nothing to choose. */
#define CONVOLUTIONS                                                                              \
    MODEL("'x'", "'y'",                                                                           \
          RANDOMS("x", "[1,24,9,11]") "," RANDOMS("w", "[24,24,3,3]") "," RANDOMS(                \
              "v",                                                                                \
              "[24,24,1,1]") "," RANDOMS("b",                                                     \
                                         "[24]") "," CONV2D("c1", "x", "w", "3",                  \
                                                            "p") "," CONV2D("c2", "p", "v", "1",  \
                                                                            "q") "," CONV2D("c3", \
                                                                                            "q",  \
                                                                                            "w",  \
                                                                                            "3",  \
                                                                                            "y"))

/** How many operators compute 3x3 convolutions with these tiles; 0: without tiles. */
static int num_tiled(const ln_context *ctx, int tile)
{
    int n = 0;
    const ln_op *op;
    LN_LIST_FOREACH(op, ctx->ops)
    {
        const ln_param_entry *size = ln_param_list_find(op->op_arg->params, "size");
        if (!strcmp(op->op_arg->optype, "conv2d_winograd_cpu"))
            n += ln_param_list_find(op->op_arg->params, "tile")->value_int == tile;
        else if (!strcmp(op->op_arg->optype, "conv2d_blocked_cpu"))
            n += tile == 0 && size->value_array_int[0] == 3;
    }
    return n;
}

START_TEST(tuning_measures_each_shape_once_and_its_choice_is_compiled)
{
    const char *const key = "conv2d 1 x [24, 9, 11] to [24, 9, 11]";
    void *tile;
    float expected[24 * 9 * 11], got[24 * 9 * 11];
    ln_context *estimated = load(CONVOLUTIONS);
    run(estimated);
    ck_assert_ptr_nonnull(ln_context_get_data(estimated, "y", expected));
    ck_assert_ptr_null(estimated->tuned);
    for (int threads = 1; threads <= 2; threads++) {
        ln_context *ctx;
        ck_assert_int_eq(read_model(&ctx, CONVOLUTIONS), 0);
        ck_assert_int_eq(ln_context_set_threads(ctx, threads), 0);
        ck_assert_int_eq(ln_context_set_tuning(ctx), 0);
        ck_assert_msg(!ln_context_compile(ctx, "cpu"), "%s", ln_context_error(ctx));
        ck_assert_int_eq(ln_hash_size(ctx->tuned), 1);
        ck_assert(ln_hash_find_extended(ctx->tuned, key, NULL, &tile));
        ck_assert_int_eq(num_tiled(ctx, (int)(intptr_t)tile), 2);
        ck_assert_int_eq(tl_pool_size(ctx->pool), threads);
        ck_assert_msg(!ln_context_load(ctx, NULL), "%s", ln_context_error(ctx));
        run(ctx);
        ck_assert_ptr_nonnull(ln_context_get_data(ctx, "y", got));
        float largest = 0;
        for (int i = 0; i < 24 * 9 * 11; i++)
            largest = fmaxf(largest, fabsf(expected[i]));
        for (int i = 0; i < 24 * 9 * 11; i++)
            ck_assert_msg(fabsf(got[i] - expected[i]) <= 5e-5F * largest,
                          "y[%d] is %g, expected %g", i, got[i], expected[i]);
        ln_context_cleanup(ctx); // the next model may have other threads
        ck_assert_int_eq(ln_hash_size(ctx->tuned), 0);
        ln_context_free(ctx);
    }
    ln_context_free(estimated);
}
END_TEST

/* The order of calls */

START_TEST(a_call_that_comes_too_late_is_refused_and_changes_nothing)
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

/* Constants that loading alone reads */

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

/** Gives constant `name` numbers that differ. */
static void set_numbers(ln_context *ctx, const char *name)
{
    const size_t size = ln_context_data_size(ctx, name);
    float *const data = malloc(size);
    for (size_t i = 0; i < size / sizeof(float); i++)
        data[i] = (float)(i * 37 % 101) / 101;
    ck_assert_msg(!ln_context_set_data(ctx, name, data), "%s", ln_context_error(ctx));
    free(data);
}

START_TEST(a_parameter_that_is_refused_leaves_the_memory_of_constants_as_planned)
{
    static float before[24 * 9 * 11], after[24 * 9 * 11];
    ln_context *ctx = load(LOADED);
    set_numbers(ctx, "w");
    set_numbers(ctx, "b");
    set_numbers(ctx, "m");
    run(ctx);
    ck_assert_ptr_nonnull(ln_context_get_data(ctx, "y", before));
    const char *const maker = ln_context_creater(ctx, "x")->op_arg->name;
    ck_assert_int_ne(ln_context_set_param(ctx, maker, "dims", 2, (double[]){3, 4}), 0);
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
    ck_assert_str_eq(ln_context_error(ctx),
                     "tensor 'v' is another shape of constant 'm': set that");
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

/** The compiled model as text. Returns new (free). */
static char *compiled_text(ln_context *ctx)
{
    char file[] = "/tmp/cpu_ops_test_XXXXXX";
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

START_TEST(nor_in_the_compiled_model)
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
    const char *const maker = ln_context_creater(ctx, "k")->op_arg->name;
    ck_assert_int_ne(ln_context_set_param(ctx, maker, "data", 1, (double[]){3}), 0);
    assert_fixed_by_square(ctx);
    ck_assert_msg(!ln_context_set_param(ctx, maker, "data", 1, (double[]){2}), "%s",
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

START_TEST(numbers_kept_below_zero_lose_to_padding_with_zeros)
{
    ln_context *ctx =
        load(MODEL(
            "'x'", "'y'",
            FLOATS("x", "[1,1,2,2]", "[1,2,3,4]") "," FLOATS("zero", "[1]", "[0]") "," OP(
                "clip", "unary", TENSOR("src", "x"), TENSOR("dst", "c"),
                PARAM("func", "'TL_UNARY_CLIP'") "," PARAM("alpha", "0") "," PARAM(
                    "beta",
                    "-5")) "," OP("pad", "pad", TENSOR("src", "c") "," TENSOR("value", "zero"),
                                  TENSOR("dst", "p"),
                                  PARAM("before", "[0,0,1,0]") "," PARAM("after", "[0,0,0,0]") "," PARAM(
                                      "mode",
                                      "'TL_PAD_CONSTANT'")) "," OP("pool", "maxpool2d",
                                                                   TENSOR("src", "p"),
                                                                   TENSOR("dst", "y"),
                                                                   PARAM("size", "[2,2]") "," PARAM("stride", "[1,1]") "," PARAM(
                                                                       "padding",
                                                                       "[0,0,0,0]") "," PARAM("auto"
                                                                                              "pad",
                                                                                              "'NOT"
                                                                                              "SET"
                                                                                              "'"))));
    run(ctx);
    ASSERT_FLOATS(ctx, "y", 0, -5);
    ln_context_free(ctx);
}
END_TEST

/* Sizes known at run time */

START_TEST(steps_on_tensors_of_unknown_size_are_one_operator)
{
    const char few[] = {0, 1, 0, 1};
    ln_context *ctx = load(MODEL(
        "'x','c'", "'y'",
        FLOATS("x", "[4]", "[-1,2,-3,4]") "," CREATE("create", "c", "TL_BOOL", "[4]", "[1]") "," OP(
            "some", "compress", TENSOR("src", "x") "," TENSOR("condition", "c"), TENSOR("dst", "s"),
            PARAM("axis",
                  "0")) "," OP("twice", "binary", TENSOR("src1", "s") "," TENSOR("src2", "s"),
                               TENSOR("dst", "t"),
                               PARAM("op", "'TL_BINARY_ADD'")) "," OP("cut", "relu",
                                                                      TENSOR("src", "t"),
                                                                      TENSOR("dst", "y"), "")));
    ck_assert_str_eq(ln_context_creater(ctx, "y")->op_arg->optype, "chain_cpu");
    run(ctx);
    ASSERT_FLOATS(ctx, "y", 0, 4, 0, 8);
    ck_assert_int_eq(ln_context_set_data(ctx, "c", few), 0);
    run(ctx);
    ASSERT_FLOATS(ctx, "y", 4, 8);
    ln_context_free(ctx);
}
END_TEST

/* Several runs */

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

/* Side effects */

static void assert_file(const char *file, const char *expected)
{
    char text[256] = "";
    FILE *stream = fopen(file, "r");
    ck_assert_ptr_nonnull(stream);
    text[fread(text, 1, sizeof(text) - 1, stream)] = '\0';
    fclose(stream);
    ck_assert_str_eq(text, expected);
}

#define MATRIX      FLOATS("x", "[2,2]", "[1,2,3,4]")
#define MATRIX_TEXT "[[1.000 2.000]\n [3.000 4.000]]\n"

START_TEST(fprint_replaces_the_file_at_every_run)
{
    char file[] = "/tmp/cpu_ops_test_XXXXXX", model[2048];
    close(mkstemp(file));
    snprintf(model, sizeof(model),
             MODEL("", "",
                   MATRIX "," OP("p", "fprint", TENSOR("src", "x"), "",
                                 PARAM("msg", "'x is'") "," PARAM("file", "'%s'"))),
             file);
    ln_context *ctx = load(model);
    run(ctx);
    run(ctx);
    assert_file(file, "x is\n" MATRIX_TEXT);
    ln_context_free(ctx);
    unlink(file);
}
END_TEST

static void keep_message(void *data, ln_msg_level level, const char *text)
{
    if (level == LN_MSG_WARN)
        snprintf(data, LN_MAXLINE, "%s", text);
}

START_TEST(fprint_warns_of_a_file_that_cannot_be_opened_and_goes_on)
{
    char warning[LN_MAXLINE] = "";
    ln_context *ctx =
        load(MODEL("", "",
                   MATRIX "," OP("p", "fprint", TENSOR("src", "x"), "",
                                 PARAM("msg", "'x'") "," PARAM("file", "'/dev/null/a'"))));
    ctx->msg_func = keep_message;
    ctx->msg_data = warning;
    run(ctx);
    ck_assert_msg(strstr(warning, "'p'") && strstr(warning, "'/dev/null/a'") &&
                      strstr(warning, "'x'"),
                  "'%s'", warning);
    ln_context_free(ctx);
}
END_TEST

START_TEST(print_writes_to_standard_output_in_the_order_of_the_list)
{
    char file[] = "/tmp/cpu_ops_test_XXXXXX";
    ln_context *ctx = load(
        MODEL("", "",
              MATRIX "," OP("p", "print", TENSOR("src", "x"), "", PARAM("msg", "'first'")) "," OP(
                  "q", "print", TENSOR("src", "x"), "", PARAM("msg", "'second'"))));
    fflush(stdout);
    const int fd = mkstemp(file), saved = dup(1);
    dup2(fd, 1);
    run(ctx);
    fflush(stdout);
    dup2(saved, 1);
    close(fd);
    close(saved);
    assert_file(file, "first\n" MATRIX_TEXT "second\n" MATRIX_TEXT);
    ln_context_free(ctx);
    unlink(file);
}
END_TEST

/* Shared memory */

#define TWO_RELUS                                            \
    CREATE("create_cpu", "a", "TL_FLOAT", "[3]", "[1,-2,3]") \
    "," CREATE("create_cpu", "b", "TL_FLOAT", "[3]",         \
               "[-4,5,-6]") "," RELU_CPU("r", "a", "x") "," RELU_CPU("s", "b", "y") ","

START_TEST(nocopy_gather_lets_producers_write_into_its_output)
{
    ln_context *ctx = load(
        MODEL("'a','b'", "'g'",
              TWO_RELUS OP("g", "gather_nocopy_cpu", TENSOR("src1", "x") "," TENSOR("src2", "y"),
                           TENSOR("dst", "g"), "")));
    const ln_tensor_entry *x = ln_tensor_table_find(ctx->tensor_table, "x");
    const ln_tensor_entry *y = ln_tensor_table_find(ctx->tensor_table, "y");
    const ln_tensor_entry *g = ln_tensor_table_find(ctx->tensor_table, "g");
    ck_assert_uint_eq(x->offset, g->offset);
    ck_assert_uint_eq(y->offset, g->offset + 3 * sizeof(float));
    run(ctx);
    ASSERT_FLOATS(ctx, "g", 1, 0, 3, 0, 5, 0);
    ln_context_free(ctx);
}
END_TEST

START_TEST(nocopy_gather_refuses_inputs_that_cannot_be_parts)
{
    assert_refused(
        MODEL("'a','b'", "'g'",
              TWO_RELUS OP("g", "gather_nocopy_cpu", TENSOR("src1", "x") "," TENSOR("src2", "x"),
                           TENSOR("dst", "g"), "")),
        "tensor 'x' is an input twice");
    assert_refused(
        MODEL("'a','b'", "'g'",
              TWO_RELUS OP("f", "forward_cpu", TENSOR("src", "x"), TENSOR("dst", "v"), "") "," OP(
                  "g", "gather_nocopy_cpu", TENSOR("src1", "v"), TENSOR("dst", "g"), "")),
        "tensor 'v' lies in the memory of 'x'");
    assert_refused(
        MODEL("'a','b'", "'g','h'",
              TWO_RELUS OP("g", "gather_nocopy_cpu", TENSOR("src1", "x"), TENSOR("dst", "g"),
                           "") "," OP("h", "gather_nocopy_cpu",
                                      TENSOR("src1", "y") "," TENSOR("src2", "x"),
                                      TENSOR("dst", "h"), "")),
        "tensor 'x' lies in the memory of 'g'");
}
END_TEST

START_TEST(nocopy_scatter_gives_views_of_rows)
{
    ln_context *ctx = load(MODEL(
        "'a'", "'sum'",
        CREATE("create_cpu", "a", "TL_FLOAT", "[2,3]", "[1,-2,3,-4,5,-6]") "," RELU_CPU(
            "r", "a", "x") "," OP("rows", "scatter_nocopy_cpu", TENSOR("src", "x"),
                                  TENSOR("dst1", "first") "," TENSOR("dst2", "second"),
                                  "") "," OP("sum", "elew_cpu",
                                             TENSOR("src1", "first") "," TENSOR("src2", "second"),
                                             TENSOR("dst", "sum"), PARAM("elew_op", "'TL_SUM'"))));
    const ln_tensor_entry *x = ln_tensor_table_find(ctx->tensor_table, "x");
    const ln_tensor_entry *second = ln_tensor_table_find(ctx->tensor_table, "second");
    ck_assert_uint_eq(second->offset, x->offset + 3 * sizeof(float));
    run(ctx);
    ASSERT_FLOATS(ctx, "sum", 1, 5, 3);
    ln_context_free(ctx);
}
END_TEST

START_TEST(keys_and_values_of_one_memory_are_not_sorted)
{
    assert_refused(MODEL("'k'", "'a','b'",
                         CREATE("create", "k", "TL_INT32", "[2]", "[1]") "," OP(
                             "v", "forward", TENSOR("src", "k"), TENSOR("dst", "v"),
                             "") "," OP("s", "sort1d_by_key",
                                        TENSOR("src_key", "k") "," TENSOR("src_val", "v"),
                                        TENSOR("dst_key", "a") "," TENSOR("dst_val", "b"),
                                        PARAM("dir", "'TL_SORT_DIR_ASCENDING'"))),
                   "'src_val' and 'src_key' lie in the memory of one tensor");
}
END_TEST

/* Arguments, failures while running, statistics */

START_TEST(variadic_operators_refuse_arguments_of_other_names)
{
    assert_refused(MODEL("'x'", "'g'",
                         MATRIX "," OP("g", "gather", TENSOR("src1", "x") "," TENSOR("other", "x"),
                                       TENSOR("dst", "g"), "")),
                   "other");
    assert_refused(MODEL("'x'", "'a','b'",
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
        "operator 'divide' (elew_cpu): ");
}
END_TEST

START_TEST(convolution_counts_multiply_accumulates)
{
    ln_context *ctx = load(MODEL(
        "'x'", "'y'",
        FLOATS("x", "[1,2,4,4]", "[1]") "," FLOATS("w", "[6,1,3,3]", "[1]") "," FLOATS(
            "b", "[6]",
            "[0]") "," OP("c", "conv2d",
                          TENSOR("src", "x") "," TENSOR("weight", "w") "," TENSOR("bias", "b"),
                          TENSOR("dst", "y"),
                          PARAM("group", "2") "," PARAM("size", "[3,3]") "," PARAM(
                              "stride",
                              "[1,1]") "," PARAM("dilation",
                                                 "[1,1]") "," PARAM("padding",
                                                                    "[0,0,0,0]") "," PARAM("autopa"
                                                                                           "d",
                                                                                           "'VALID"
                                                                                           "'"))));
    ln_stats stats;
    ck_assert_int_eq(ln_context_stats(ctx, &stats), 0);
    ck_assert_double_eq(stats.macs, 6 * 2 * 2 * 3 * 3);
    ln_context_free(ctx);
}
END_TEST

/* Convolutions that leave little to compute */

#define SLICE(src, dst, axis, end)                                           \
    OP("slice_" dst, "stride_slice", TENSOR("src", src), TENSOR("dst", dst), \
       PARAM("axes", "[" axis "]") "," PARAM("starts", "[0]") "," PARAM(     \
           "ends", "[" end "]") "," PARAM("steps", "[1]"))
#define CONV(size, stride, dilation, padding)                                                  \
    OP("conv", "conv2d", TENSOR("src", "x") "," TENSOR("weight", "w") "," TENSOR("bias", "b"), \
       TENSOR("dst", "y"),                                                                     \
       PARAM("group", "1") "," PARAM("size", size) "," PARAM("stride", stride) "," PARAM(      \
           "dilation", dilation) "," PARAM("padding", padding) "," PARAM("autopad", "'NOTSET'"))
#define THREE(a, b, c) a "," b "," c

/** A convolution of [n, ic, 8, 8] to oc channels, numbers that may be 0, since all tensors are
 *  sliced off others. */
#define EMPTY_CONV(n, ic, oc, size, padding)                                                      \
    MODEL("'x0'", "'y'",                                                                          \
          THREE(THREE(FLOATS("x0", "[1,16,8,8]", "[1]"), FLOATS("w0", "[16,16," size "]", "[1]"), \
                      FLOATS("b0", "[16]", "[3]")),                                               \
                THREE(SLICE("x0", "x1", "0", n), SLICE("w0", "w1", "0", oc),                      \
                      SLICE("b0", "b", "0", oc)),                                                 \
                THREE(SLICE("x1", "x", "1", ic), SLICE("w1", "w", "1", ic),                       \
                      CONV("[" size "]", "[1,1]", "[1,1]", padding))))

START_TEST(convolutions_of_nothing_or_to_nothing_run)
{
    static const struct {
        const char *model;
        int len; /* of the result, all elements of which are biases */
    } cases[] = {
        {EMPTY_CONV("1", "16", "0", "1,1", "[0,0,0,0]"), 0},
        {EMPTY_CONV("1", "3", "0", "1,1", "[0,0,0,0]"), 0},
        {EMPTY_CONV("1", "16", "0", "3,3", "[1,1,1,1]"), 0},
        {EMPTY_CONV("1", "0", "0", "3,3", "[1,1,1,1]"), 0},
        {EMPTY_CONV("1", "0", "16", "1,1", "[0,0,0,0]"), 16 * 8 * 8},
        {EMPTY_CONV("1", "0", "16", "3,3", "[1,1,1,1]"), 16 * 8 * 8},
        {EMPTY_CONV("0", "16", "16", "1,1", "[0,0,0,0]"), 0},
        {EMPTY_CONV("0", "16", "16", "3,3", "[1,1,1,1]"), 0},
        {EMPTY_CONV("0", "3", "16", "3,3", "[1,1,1,1]"), 0},
        {EMPTY_CONV("0", "0", "0", "3,3", "[1,1,1,1]"), 0},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        float y[16 * 8 * 8];
        ln_context *ctx = load(cases[i].model);
        run(ctx);
        ck_assert_uint_eq(ln_context_data_size(ctx, "y"), (size_t)cases[i].len * sizeof(float));
        ln_context_get_data(ctx, "y", y);
        for (int k = 0; k < cases[i].len; k++)
            ck_assert_double_eq(y[k], 3);
        ln_context_free(ctx);
    }
}
END_TEST

#define ONE_CONV(x_dims, w_dims, conv)                                  \
    MODEL("'x'", "'y'",                                                 \
          THREE(FLOATS("x", x_dims, "[1]"), FLOATS("w", w_dims, "[1]"), \
                FLOATS("b", "[1]", "[3]")) "," conv)

// Dilations beyond the image leave only the bias; what lies between the taps needs no memory.
START_TEST(windows_with_far_taps_run)
{
    static const char *const models[] = {
        ONE_CONV("[1,16,1,1]", "[1,16,2,2]",
                 CONV("[2,2]", "[1,1]", "[293474945,982129411]",
                      "[146737472,491064705,146737473,491064706]")),
        ONE_CONV("[1,16,1,1]", "[1,16,2,2]",
                 CONV("[2,2]", "[1,1]", "[1073741823,1073741823]", "[1,1073741822,1073741822,1]")),
    };
    for (size_t i = 0; i < sizeof(models) / sizeof(*models); i++) {
        ln_context *ctx = load(models[i]);
        run(ctx);
        ASSERT_FLOATS(ctx, "y", 3);
        ln_context_free(ctx);
    }
}
END_TEST

// What has more than INT_MAX elements in whole blocks of channels is left as it is.
START_TEST(convolutions_too_large_for_blocks_compile)
{
    static const char *const models[] = {
        ONE_CONV("[1,1,12000,12000]", "[1,1,1,1]", CONV("[1,1]", "[1,1]", "[1,1]", "[0,0,0,0]")),
        ONE_CONV("[1,5,6000,6000]", "[1,5,1,1]", CONV("[1,1]", "[9,9]", "[1,1]", "[0,0,0,0]")),
        ONE_CONV("[1,300000,1,1]", "[1,300000,32,32]",
                 CONV("[32,32]", "[1,1]", "[1,1]", "[16,16,15,15]")),
    };
    for (size_t i = 0; i < sizeof(models) / sizeof(*models); i++) {
        ln_context *ctx;
        ck_assert_msg(!compile(&ctx, models[i]), "%s", ln_context_error(ctx));
        ln_context_free(ctx);
    }
}
END_TEST

LN_TEST_MAIN("cpu ops", random_tensors_differ_and_stay_in_their_range,
             the_seed_decides_the_random_numbers,
             an_unused_constant_does_not_change_the_random_numbers_of_others,
             a_chain_of_scales_and_shifts_folds_in_as_many_rewrites,
             tuning_measures_each_shape_once_and_its_choice_is_compiled,
             a_parameter_that_is_refused_leaves_the_memory_of_constants_as_planned,
             a_view_of_a_constant_that_only_loading_reads_cannot_be_set,
             a_number_that_a_rule_has_used_cannot_become_another, nor_in_the_compiled_model,
             nor_by_the_parameter_that_it_came_from,
             a_number_that_a_rule_only_moves_can_become_another,
             numbers_kept_below_zero_lose_to_padding_with_zeros,
             steps_on_tensors_of_unknown_size_are_one_operator, zeros_are_zero_at_every_run,
             a_tensor_is_read_before_it_is_sorted_through_a_view,
             folded_batchnorm_weights_follow_inputs_set_between_runs,
             fprint_replaces_the_file_at_every_run,
             fprint_warns_of_a_file_that_cannot_be_opened_and_goes_on,
             print_writes_to_standard_output_in_the_order_of_the_list,
             nocopy_gather_lets_producers_write_into_its_output,
             nocopy_gather_refuses_inputs_that_cannot_be_parts, nocopy_scatter_gives_views_of_rows,
             keys_and_values_of_one_memory_are_not_sorted,
             variadic_operators_refuse_arguments_of_other_names,
             an_index_outside_fails_the_run_and_is_named, an_integer_division_by_zero_fails_the_run,
             convolution_counts_multiply_accumulates, convolutions_of_nothing_or_to_nothing_run,
             windows_with_far_taps_run, convolutions_too_large_for_blocks_compile,
             a_call_that_comes_too_late_is_refused_and_changes_nothing)
