// SPDX-License-Identifier: Apache-2.0
// Tests of the CPU's operators in small models: rewrites, and algorithms that are measured.

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cpu_model.h"
#include "lightnet/ln_context.h"
#include "ln_check.h"

// Rewrites

// x, and n scales and shifts by constants after it, to y. The caller frees the text.
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

// Algorithms that are measured

// How many operators compute 3x3 convolutions with these tiles; 0: without tiles.
static int num_tiled(const ln_context *ctx, int tile)
{
    int n = 0;
    const ln_op *op;
    LN_LIST_FOREACH (op, ctx->ops) {
        const ln_param_entry *size = ln_op_param(op, "size");
        if (ln_op_is(op, "conv2d_winograd_cpu"))
            n += ln_op_int(op, "tile") == tile;
        else if (ln_op_is(op, "conv2d_blocked_cpu"))
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

// Tiles of 8-bit convolutions

// clang-format off
#define RANDOM(name, dtype, dims, range)                                             \
    "{'name':'create_" name "','optype':'create','tensors_in':[],"                   \
    "'tensors_out':[{'arg_name':'dst','name':'" name "'}],'params':["                \
    "{'arg_name':'dtype','value':'" dtype "'},{'arg_name':'dims','value':" dims "}," \
    "{'arg_name':'ran','value':" range "},{'arg_name':'data','value':[0]},"          \
    "{'arg_name':'from_file','value':false}]}"
#define DEQUANTIZE(name, src, dst)                                              \
    OP(name, "dequantize", TENSOR("src", src) "," TENSOR("scale", "s"),         \
       TENSOR("dst", dst), PARAM("axis", "0") "," PARAM("block", "0"))
#define BYTES                                                                   \
    MODEL("'q'", "'y'",                                                         \
          RANDOM("q", "TL_UINT8", "[1,32,12,12]", "[0,255]") ","                \
          RANDOM("p", "TL_INT8", "[32,32,3,3]", "[-128,127]") ","               \
          RANDOM("s", "TL_FLOAT", "[1]", "[0.01,0.02]") ","                     \
          RANDOM("b", "TL_FLOAT", "[32]", "[-1,1]") ","                         \
          DEQUANTIZE("x", "q", "x") "," DEQUANTIZE("w", "p", "w") ","           \
          CONV2D("conv", "x", "w", "3", "y"))
// clang-format on

// Runs a convolution of bytes that was compiled for `isa`. Returns the tile that was chosen.
static int run_bytes(tl_isa isa, float *y)
{
    ln_context *ctx;
    const ln_op *op;
    int tile = -1;
    ck_assert_int_eq(read_model(&ctx, BYTES), 0);
    ctx->isa = isa;
    ck_assert_msg(!ln_context_compile(ctx, "cpu"), "%s", ln_context_error(ctx));
    LN_LIST_FOREACH (op, ctx->ops)
        if (ln_op_is(op, "conv2d_quantized_cpu"))
            tile = ln_op_int(op, "tile");
    ck_assert_msg(!ln_context_load(ctx, NULL), "%s", ln_context_error(ctx));
    run(ctx);
    ck_assert_ptr_nonnull(ln_context_get_data(ctx, "y", y));
    ln_context_free(ctx);
    return tile;
}

// Sets that this machine lacks have kernels of what it has.
START_TEST(bytes_are_convolved_by_tiles_where_no_instruction_multiplies_them)
{
    enum { LEN = 32 * 12 * 12 };
    static const tl_isa direct[] = {TL_ISA_AVXVNNI, TL_ISA_AVX512VNNI, TL_ISA_DOTPROD};
    static const tl_isa tiled[] = {TL_ISA_AVX2, TL_ISA_AVX512, TL_ISA_NEON};
    static float expected[LEN], got[LEN];
    ck_assert_int_eq(run_bytes(TL_ISA_C, expected), 4);
    for (int i = 0; i < 3; i++) {
        ck_assert_int_eq(run_bytes(tiled[i], got), 4);
        ck_assert_mem_eq(got, expected, sizeof(got));
        ck_assert_int_eq(run_bytes(direct[i], got), 0);
        ck_assert_mem_eq(got, expected, sizeof(got));
    }
}
END_TEST

// Sizes known at run time

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

LN_TEST_MAIN("cpu rewrites", a_chain_of_scales_and_shifts_folds_in_as_many_rewrites,
             numbers_kept_below_zero_lose_to_padding_with_zeros,
             tuning_measures_each_shape_once_and_its_choice_is_compiled,
             bytes_are_convolved_by_tiles_where_no_instruction_multiplies_them,
             steps_on_tensors_of_unknown_size_are_one_operator)
