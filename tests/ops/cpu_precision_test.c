// SPDX-License-Identifier: Apache-2.0
// Tests of models whose products may compute in bfloat16 on the CPU (ln_context_set_precision).

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cpu_model.h"
#include "ln_check.h"

// y = relu(x w + b), all numbers of a small generator.
enum { M = 20, K = 37, N = 50 };

static float x[M][K], w[K][N], b[N];

static void fill(float *data, int n, unsigned *state)
{
    for (int i = 0; i < n; i++) {
        *state = *state * 1664525u + 1013904223u;
        data[i] = (float)(int)(*state >> 8) / (1 << 23) - 1;
    }
}

// clang-format off
#define CREATE_BEGIN                                                                            \
    "{'name':'create_%s','optype':'create','tensors_in':[],'tensors_out':[" TENSOR("dst", "%s") \
    "],'params':[" PARAM("dtype", "'TL_FLOAT'") "," PARAM("dims", "[%s]") ","                   \
    PARAM("ran", "[0,0]") "," PARAM("from_file", "false") ",{'arg_name':'data','value':["
static const char layers[] =
    OP("product", "matmul", TENSOR("src1", "x") "," TENSOR("src2", "w"), TENSOR("dst", "p"), "") ","
    OP("sum", "binary", TENSOR("src1", "p") "," TENSOR("src2", "b"), TENSOR("dst", "s"),
       PARAM("op", "'TL_BINARY_ADD'")) ","
    OP("relu", "relu", TENSOR("src", "s"), TENSOR("dst", "y"), "");
// clang-format on

static void print_create(FILE *fp, const char *name, const char *dims, const float *data, int n)
{
    fprintf(fp, CREATE_BEGIN, name, name, dims);
    for (int i = 0; i < n; i++)
        fprintf(fp, "%s%.9g", i ? "," : "", (double)data[i]);
    fputs("]}]},", fp);
}

// The model with the first `rows` rows of x, to be compiled.
static ln_context *read_rows(int rows)
{
    char dims[16];
    char *text;
    size_t size;
    unsigned seed = 5;
    ln_context *ctx;
    FILE *const fp = open_memstream(&text, &size);
    fill(&x[0][0], M * K, &seed);
    fill(&w[0][0], K * N, &seed);
    fill(b, N, &seed);
    fputs("{'inputs':['x'],'outputs':['y'],'ops':[", fp);
    snprintf(dims, sizeof(dims), "%d,%d", rows, K);
    print_create(fp, "x", dims, &x[0][0], rows * K);
    print_create(fp, "w", "37,50", &w[0][0], K * N);
    print_create(fp, "b", "50", b, N);
    fprintf(fp, "%s]}", layers);
    fclose(fp);
    ck_assert_int_eq(read_model(&ctx, text), 0);
    free(text);
    return ctx;
}

static ln_context *read_product(void)
{
    return read_rows(M);
}

static void finish(ln_context *ctx)
{
    ck_assert_msg(!ln_context_compile(ctx, "cpu") && !ln_context_load(ctx, NULL) &&
                      !ln_context_run(ctx),
                  "%s", ln_context_error(ctx));
}

// A product of two rounded numbers is off by 2^-8 of it at most, and some rounding of the sum.
static void assert_near(ln_context *ctx, double rounding)
{
    float y[M][N];
    const int rows = (int)(ln_context_data_size(ctx, "y") / sizeof(y[0]));
    ck_assert_ptr_nonnull(ln_context_get_data(ctx, "y", y));
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < N; j++) {
            double sum = b[j], magnitude = fabs((double)b[j]);
            for (int k = 0; k < K; k++) {
                sum += (double)x[i][k] * w[k][j];
                magnitude += fabs((double)x[i][k] * w[k][j]);
            }
            ck_assert_msg(fabs(y[i][j] - fmax(sum, 0)) <= (rounding + 1e-5) * magnitude,
                          "y[%d, %d] is %.9g, expected %.9g", i, j, (double)y[i][j], sum);
        }
}

static int count_algorithm(const ln_context *ctx, const char *name)
{
    const ln_op *op;
    int n = 0;
    LN_LIST_FOREACH (op, ctx->ops) {
        const char *const algorithm = op->op_arg->algorithm;
        n += algorithm && !strcmp(algorithm, name);
    }
    return n;
}

static int computes_in_bfloat16(const ln_context *ctx)
{
    return count_algorithm(ctx, "bfloat16");
}

static void check_rows(int rows)
{
    ln_context *ctx = read_rows(rows);
    ck_assert_int_eq(ln_context_set_precision(ctx, "bf16"), 0);
    finish(ctx);
    if (!tl_isa_contains(tl_isa_best(), TL_ISA_AVX512BF16))
        ln_check_skip("this CPU has no bfloat16");
    else
        ck_assert_int_eq(computes_in_bfloat16(ctx), 1);
    assert_near(ctx, 0x1p-8);
    ln_context_free(ctx);
}

START_TEST(products_compute_in_bfloat16_where_it_is_allowed)
{
    check_rows(M);
}
END_TEST

START_TEST(products_of_one_row_do_so_too_since_they_read_less)
{
    check_rows(1);
}
END_TEST

START_TEST(by_default_they_compute_with_floats)
{
    ln_context *ctx = read_product();
    finish(ctx);
    ck_assert_int_eq(computes_in_bfloat16(ctx), 0);
    assert_near(ctx, 0);
    ln_context_free(ctx);
    ctx = read_product();
    ck_assert_int_eq(ln_context_set_precision(ctx, "bf16"), 0);
    ck_assert_int_eq(ln_context_set_precision(ctx, "float32"), 0);
    finish(ctx);
    assert_near(ctx, 0);
    ln_context_free(ctx);
}
END_TEST

START_TEST(they_do_so_too_without_the_instructions_and_as_the_reference)
{
    ln_context *ctx = read_product();
    ck_assert_int_eq(ln_context_set_precision(ctx, "bf16"), 0);
    ctx->isa = TL_ISA_AVX512;
    finish(ctx);
    ck_assert_int_eq(computes_in_bfloat16(ctx), 0);
    assert_near(ctx, 0);
    ln_context_free(ctx);
    ctx = read_product();
    ck_assert_int_eq(ln_context_set_precision(ctx, "bf16"), 0);
    ln_context_set_reference(ctx);
    finish(ctx);
    assert_near(ctx, 0);
    ln_context_free(ctx);
}
END_TEST

START_TEST(rejects_unknown_precisions_and_precisions_of_compiled_models)
{
    ln_context *ctx = read_product();
    ck_assert_int_eq(ln_context_set_precision(ctx, "float16"), -1);
    ck_assert_str_eq(ln_context_error(ctx),
                     "the precision is 'float16', expected float32, tf32, fp16 or bf16");
    finish(ctx);
    ck_assert_int_eq(ln_context_set_precision(ctx, "bf16"), -1);
    ck_assert_str_eq(ln_context_error(ctx), "the model is compiled already, for 'cpu'");
    ln_context_free(ctx);
}
END_TEST

// Floats in three parts

// Whether x w is computed in parts, with matrix units, of which plain C stands in.
static int is_split(int rows, const char *precision, int many_shapes)
{
    ln_context *ctx = read_rows(rows);
    ck_assert_int_eq(ln_context_set_precision(ctx, precision), 0);
    ctx->isa = TL_ISA_TILES;
    ctx->many_shapes = many_shapes;
    finish(ctx);
    const int n = count_algorithm(ctx, "bfloat16x3");
    assert_near(ctx, strcmp(precision, "bf16") ? 0 : 0x1p-8);
    ln_context_free(ctx);
    return n;
}

START_TEST(matrix_units_multiply_floats_in_three_parts)
{
    ck_assert_int_eq(is_split(M, "float32", 0), 1);
    ck_assert_int_eq(is_split(16, "float32", 0), 1);
    ck_assert_int_eq(is_split(M, "bf16", 0), 0);
}
END_TEST

START_TEST(they_do_not_if_rows_are_few_or_may_be)
{
    ck_assert_int_eq(is_split(15, "float32", 0), 0);
    ck_assert_int_eq(is_split(1, "float32", 0), 0);
    ck_assert_int_eq(is_split(M, "float32", 1), 0);
}
END_TEST

// Convolutions

// clang-format off
#define CONV1X1(name, src, weight, dst) CONV2D(name, src, weight, "1", dst)
#define RELU(name, src, dst)            OP(name, "relu", TENSOR("src", src), TENSOR("dst", dst), "")
// A first layer, a residual block, and a last layer.
static const char residual[] = MODEL("'x'", "'y'",
    RANDOMS("x", "[1,3,15,17]") "," RANDOMS("w1", "[24,3,3,3]") "," RANDOMS("w2", "[24,24,1,1]") ","
    RANDOMS("w3", "[24,24,1,1]") "," RANDOMS("w4", "[24,24,1,1]") "," RANDOMS("b", "[24]") ","
    CONV2D("first", "x", "w1", "3", "c1") "," RELU("r1", "c1", "a") ","
    CONV1X1("second", "a", "w2", "c2") "," RELU("r2", "c2", "m") ","
    CONV1X1("third", "m", "w3", "c3") ","
    OP("add", "binary", TENSOR("src1", "c3") "," TENSOR("src2", "a"), TENSOR("dst", "s"),
       PARAM("op", "'TL_BINARY_ADD'")) "," RELU("r3", "s", "z") ","
    CONV1X1("last", "z", "w4", "y"));
// clang-format on

enum { RESULTS = 24 * 15 * 17 };

static ln_context *read_residual(void)
{
    ln_context *ctx;
    ck_assert_int_eq(read_model(&ctx, residual), 0);
    return ctx;
}

static int count_ops(const ln_context *ctx, const char *optype)
{
    const ln_op *op;
    int n = 0;
    LN_LIST_FOREACH (op, ctx->ops)
        n += ln_op_is(op, optype);
    return n;
}

// Copies the results of the model to `y`.
static void run_residual(ln_context *ctx, float *y)
{
    finish(ctx);
    ck_assert_uint_eq(ln_context_data_size(ctx, "y"), RESULTS * sizeof(*y));
    ck_assert_ptr_nonnull(ln_context_get_data(ctx, "y", y));
}

START_TEST(between_convolutions_there_are_16_bits_and_no_casts)
{
    static float want[RESULTS], got[RESULTS];
    double largest = 0;
    ln_context *ctx = read_residual();
    ln_context_set_reference(ctx);
    run_residual(ctx, want);
    ln_context_free(ctx);
    ctx = read_residual();
    ck_assert_int_eq(ln_context_set_precision(ctx, "bf16"), 0);
    run_residual(ctx, got);
    if (!tl_isa_contains(tl_isa_best(), TL_ISA_AVX512BF16)) {
        ln_check_skip("this CPU has no bfloat16");
    } else {
        ck_assert_int_eq(computes_in_bfloat16(ctx), 3);
        ck_assert_int_eq(count_ops(ctx, "cast_cpu"), 0);
    }
    for (int i = 0; i < RESULTS; i++) {
        const double one = fabs((double)want[i]);
        largest = one > largest ? one : largest;
    }
    for (int i = 0; i < RESULTS; i++)
        ck_assert_double_eq_tol(got[i], want[i], 0x1p-6 * largest); // four layers of 2^-8 each
    ln_context_free(ctx);
}
END_TEST

START_TEST(outputs_stay_float)
{
    static float y[RESULTS];
    ln_context *ctx = read_residual();
    ck_assert_int_eq(ln_context_add_output(ctx, "a"), 0);
    ck_assert_int_eq(ln_context_set_precision(ctx, "bf16"), 0);
    run_residual(ctx, y);
    const ln_tensor_entry *const a = ln_tensor_table_find(ctx->tensor_table, "a");
    ck_assert_int_eq(a->tensor->dtype, TL_FLOAT);
    if (tl_isa_contains(tl_isa_best(), TL_ISA_AVX512BF16))
        ck_assert_int_eq(count_ops(ctx, "cast_cpu"), 1);
    ln_context_free(ctx);
}
END_TEST

LN_TEST_MAIN("precision", products_compute_in_bfloat16_where_it_is_allowed,
             products_of_one_row_do_so_too_since_they_read_less,
             by_default_they_compute_with_floats,
             they_do_so_too_without_the_instructions_and_as_the_reference,
             rejects_unknown_precisions_and_precisions_of_compiled_models,
             matrix_units_multiply_floats_in_three_parts, they_do_not_if_rows_are_few_or_may_be,
             between_convolutions_there_are_16_bits_and_no_casts, outputs_stay_float)
