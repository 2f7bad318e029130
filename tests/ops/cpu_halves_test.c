// SPDX-License-Identifier: Apache-2.0
// Tests of models in 16-bit floats on the CPU, which computes in 32 bits: against double precision,
// and what is left of the 16 bits.

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cpu_model.h"
#include "ln_check.h"

// A small network: a convolution with padding, relu, another one that is added to it, the mean of
// each channel, a matrix product and softmax. All constants are multiples of 1/16 below 2, which
// both types of 16 bits hold.

enum { IN = 3, SIDE = 8, MAPS = 20, CLASSES = 10, AREA = SIDE * SIDE };

typedef struct network {
    double x[IN][SIDE][SIDE];
    double w[MAPS][IN][3][3], h[MAPS];
    double v[MAPS][MAPS][3][3], g[MAPS];
    double m[MAPS][CLASSES];
} network;

static void fill(double *data, size_t n, unsigned *state)
{
    for (size_t i = 0; i < n; i++) {
        *state = *state * 1664525u + 1013904223u;
        data[i] = ((int)(*state >> 16) % 33 - 16) / 16.0;
    }
}

static network make_network(unsigned seed)
{
    network n;
    fill(&n.x[0][0][0], sizeof(n.x) / sizeof(double), &seed);
    fill(&n.w[0][0][0][0], sizeof(n.w) / sizeof(double), &seed);
    fill(n.h, MAPS, &seed);
    fill(&n.v[0][0][0][0], sizeof(n.v) / sizeof(double), &seed);
    fill(n.g, MAPS, &seed);
    fill(&n.m[0][0], sizeof(n.m) / sizeof(double), &seed);
    return n;
}

// In double precision

static double pixel(const double *maps, int c, int y, int x)
{
    return y < 0 || x < 0 || y >= SIDE || x >= SIDE ? 0 : maps[c * AREA + y * SIDE + x];
}

static void convolve(const double *src, int n_in, const double *weight, const double *bias,
                     double *dst)
{
    for (int o = 0; o < MAPS; o++)
        for (int p = 0; p < AREA; p++) {
            double sum = bias[o];
            for (int i = 0; i < n_in * 9; i++)
                sum += weight[o * n_in * 9 + i] *
                       pixel(src, i / 9, p / SIDE + i % 9 / 3 - 1, p % SIDE + i % 3 - 1);
            dst[o * AREA + p] = sum;
        }
}

static void compute(const network *n, double *y)
{
    static double a[MAPS * AREA], b[MAPS * AREA];
    double total = 0;
    convolve(&n->x[0][0][0], IN, &n->w[0][0][0][0], n->h, a);
    for (int i = 0; i < MAPS * AREA; i++)
        a[i] = fmax(a[i], 0);
    convolve(a, MAPS, &n->v[0][0][0][0], n->g, b);
    for (int k = 0; k < CLASSES; k++)
        y[k] = 0;
    for (int i = 0; i < MAPS * AREA; i++)
        for (int k = 0; k < CLASSES; k++)
            y[k] += (a[i] + b[i]) / AREA * n->m[i / AREA][k] / 16;
    for (int k = 0; k < CLASSES; k++)
        total += y[k] = exp(y[k]);
    for (int k = 0; k < CLASSES; k++)
        y[k] /= total;
}

// As a model

// clang-format off
#define CREATE_BEGIN                                                                           \
    "{'name':'create_%s','optype':'create','tensors_in':[],'tensors_out':[" TENSOR("dst", "%s") \
    "],'params':[" PARAM("dtype", "'%s'") "," PARAM("dims", "[%s]") ","                        \
    PARAM("ran", "[0,0]") "," PARAM("from_file", "%s") ",{'arg_name':'data','value':["
#define CAST(src, dst, dtype) \
    OP("cast_" dst, "cast", TENSOR("src", src), TENSOR("dst", dst), PARAM("dtype", "'" dtype "'"))
#define WINDOW(size, padding)                                                                     \
    PARAM("size", size) "," PARAM("stride", "[1,1]") "," PARAM("padding", padding) ","            \
    PARAM("autopad", "'NOTSET'")
#define CONV(name, src, weight, bias, dst)                                                        \
    OP(name, "conv2d", TENSOR("src", src) "," TENSOR("weight", weight) "," TENSOR("bias", bias),  \
       TENSOR("dst", dst),                                                                        \
       PARAM("group", "1") "," PARAM("dilation", "[1,1]") "," WINDOW("[3,3]", "[1,1,1,1]"))
#define BINARY(name, op, a, b, dst)                                                               \
    OP(name, "binary", TENSOR("src1", a) "," TENSOR("src2", b), TENSOR("dst", dst),               \
       PARAM("op", "'TL_BINARY_" op "'"))

static const char layers[] =
    CONV("conv1", "x", "w", "h", "c") ","
    OP("relu", "relu", TENSOR("src", "c"), TENSOR("dst", "a"), "") ","
    CONV("conv2", "a", "v", "g", "b") ","
    BINARY("add", "ADD", "a", "b", "s") ","
    OP("mean", "avgpool2d", TENSOR("src", "s"), TENSOR("dst", "p"), WINDOW("[8,8]", "[0,0,0,0]")) ","
    OP("view", "reshape", TENSOR("src", "p"), TENSOR("dst", "r"), PARAM("dims", "[1,20]")) ","
    OP("product", "matmul", TENSOR("src1", "r") "," TENSOR("src2", "m"), TENSOR("dst", "l"),
       PARAM("alpha", "0.0625")) ","
    OP("softmax", "softmax", TENSOR("src", "l"), TENSOR("dst", "y"), PARAM("axis", "1"));
// clang-format on

// A constant of the model: its type in the file, and what the layers call it.
typedef struct constant {
    const char *name, *dims;
    size_t offset, n;
} constant;

static const constant constants[] = {
    {"w", "20,3,3,3", offsetof(network, w), MAPS *IN * 9},
    {"h", "20", offsetof(network, h), MAPS},
    {"v", "20,20,3,3", offsetof(network, v), MAPS *MAPS * 9},
    {"g", "20", offsetof(network, g), MAPS},
    {"m", "20,10", offsetof(network, m), MAPS *CLASSES},
};

enum { N_CONSTANTS = sizeof(constants) / sizeof(constants[0]), N_LAYERS = 3 };

static void print_create(FILE *fp, const char *name, const char *dtype, const char *dims,
                         const double *data, size_t n, int from_file)
{
    fprintf(fp, CREATE_BEGIN, name, name, dtype, dims, from_file ? "true" : "false");
    n = from_file ? 1 : n;
    for (size_t i = 0; i < n; i++)
        fprintf(fp, "%s%g", i ? "," : "", data[i]);
    fputs("]}]},", fp);
}

// Ways to write the network.
enum {
    FLOATS_INSIDE = 1, // it computes with floats, to which the model casts its constants
    FROM_FILE = 2,     // its constants come from a file
};

// The network in numbers of type `dtype`. The caller frees the text.
static char *print_network(const network *n, const char *dtype, int how)
{
    const int floats = how & FLOATS_INSIDE;
    char *text;
    size_t size;
    FILE *const fp = open_memstream(&text, &size);
    fputs("{'inputs':['x'],'outputs':['y'],'ops':[", fp);
    print_create(fp, "x", floats ? "TL_FLOAT" : dtype, "1,3,8,8", &n->x[0][0][0], IN * AREA, 0);
    for (int i = 0; i < N_CONSTANTS; i++) {
        const constant *c = &constants[i];
        char name[8];
        snprintf(name, sizeof(name), "%s%s", c->name, floats ? "16" : "");
        print_create(fp, name, dtype, c->dims, (const double *)((const char *)n + c->offset), c->n,
                     how & FROM_FILE);
        if (floats)
            fprintf(fp, CAST("%s", "%s", "TL_FLOAT") ",", c->name, name, c->name);
    }
    fprintf(fp, "%s]}", layers);
    fclose(fp);
    return text;
}

// Results

static void get_doubles(ln_context *ctx, const char *name, double *data, int n)
{
    char *const got = ln_context_get_data(ctx, name, NULL);
    const tl_tensor *t = ln_tensor_table_find(ctx->tensor_table, name)->tensor;
    ck_assert_msg(got != NULL, "%s", ln_context_error(ctx));
    ck_assert_int_eq(t->len, n);
    for (int i = 0; i < n; i++)
        tl_convert(&data[i], TL_DOUBLE, got + (size_t)i * tl_size_of(t->dtype), t->dtype);
    free(got);
}

// Operators of that type in each run, or at load.
static int count(const ln_context *ctx, const char *optype, int at_load)
{
    const ln_op *op;
    int n = 0;
    LN_LIST_FOREACH (op, ctx->ops)
        n += ln_op_is(op, optype) && (op->op_arg->at_load != 0) == at_load;
    return n;
}

// The result is near: sums of floats, and one rounding to the type, whose numbers have `rounding`
// as their unit in parts of themselves.
static void assert_near(const network *n, ln_context *ctx, double rounding)
{
    double expected[CLASSES], got[CLASSES];
    compute(n, expected);
    get_doubles(ctx, "y", got, CLASSES);
    for (int i = 0; i < CLASSES; i++)
        ck_assert_msg(fabs(got[i] - expected[i]) <= (rounding + 1e-5) * expected[i],
                      "y[%d] is %.9g, expected %.9g", i, got[i], expected[i]);
}

static const struct half {
    const char *name;
    tl_dtype dtype;
    double rounding;
} types[] = {{"TL_FLOAT16", TL_FLOAT16, 0x1p-11}, {"TL_BFLOAT16", TL_BFLOAT16, 0x1p-8}};

START_TEST(a_network_rounds_its_result_once)
{
    for (unsigned i = 0; i < 20; i++) {
        const struct half *const type = &types[i % 2];
        const network n = make_network(i);
        char *const model = print_network(&n, type->name, 0);
        ln_context *const ctx = load(model);
        run(ctx);
        assert_near(&n, ctx, type->rounding);
        ln_context_free(ctx);
        free(model);
    }
}
END_TEST

// Whether a constant has memory of its own in runs.
static int stays(const ln_tensor_entry *te)
{
    return te->isconst && !te->isload;
}

// Compiles the network with constants from a file, and expects their 16 bits to have no memory of
// their own in runs, of which each has `n_casts` operators that cast.
static void assert_only_floats_stay(const struct half *type, int how, int n_casts)
{
    const network n = make_network(1);
    char *const model = print_network(&n, type->name, how | FROM_FILE);
    ln_context *ctx;
    const ln_op *op;
    int n_floats = 0;
    ck_assert_msg(!compile(&ctx, model), "%s", ln_context_error(ctx));
    LN_LIST_FOREACH (op, ctx->ops) {
        const ln_tensor_list_entry *tle = op->op_arg->tensors_out->data;
        const ln_tensor_entry *te = ln_tensor_table_find(ctx->tensor_table, tle->name);
        ck_assert_msg(te->tensor->dtype != type->dtype || !stays(te), "%s", te->name);
        n_floats += stays(te);
    }
    ck_assert_int_ge(n_floats, N_LAYERS); // packed, each with its bias
    ck_assert_int_eq(count(ctx, "cast_cpu", 0), n_casts);
    ck_assert_int_eq(count(ctx, "cast_cpu", 1), N_CONSTANTS);
    ln_context_free(ctx);
    free(model);
}

START_TEST(its_constants_are_widened_at_load_and_not_kept)
{
    for (int i = 0; i < 2; i++)
        assert_only_floats_stay(&types[i], 0, 2); // the input and the output
}
END_TEST

static void check_constants_alone(const struct half *type)
{
    const network n = make_network(2);
    char *const model = print_network(&n, type->name, FLOATS_INSIDE);
    ln_context *const ctx = load(model);
    run(ctx);
    assert_near(&n, ctx, 0);
    ln_context_free(ctx);
    free(model);
    assert_only_floats_stay(type, FLOATS_INSIDE, 0);
}

START_TEST(constants_alone_in_16_bits_cost_a_run_nothing)
{
    for (int i = 0; i < 2; i++)
        check_constants_alone(&types[i]);
}
END_TEST

static ln_context *load_without(const char *model, const char *rule)
{
    ln_context *ctx;
    ck_assert_int_eq(read_model(&ctx, model), 0);
    ck_assert_msg(!ln_context_disable_rule(ctx, rule) && !ln_context_compile(ctx, "cpu") &&
                      !ln_context_load(ctx, NULL),
                  "%s", ln_context_error(ctx));
    return ctx;
}

static void check_disabled(const struct half *type)
{
    const network n = make_network(3);
    char *const model = print_network(&n, type->name, 0);
    ln_context *const ctx = load_without(model, "widen_halves");
    ck_assert_int_eq(count(ctx, "cast_cpu", 0) + count(ctx, "cast_cpu", 1), 0);
    ck_assert_int_eq(count(ctx, "conv2d_cpu", 0), 2);
    ln_context_free(ctx);
    free(model);
}

START_TEST(without_the_rule_a_model_computes_in_its_own_type)
{
    for (int i = 0; i < 2; i++)
        check_disabled(&types[i]);
}
END_TEST

// Parts

// clang-format off
#define HALVES(name, dims, data) CREATE("create", name, "TL_FLOAT16", dims, data)
#define ROWS                                                                                       \
    MODEL("'i'", "'y'",                                                                            \
          HALVES("table", "[3,2]", "[1,2,3,4,5,6]") ","                                            \
          CREATE("create", "i", "TL_INT32", "[1]", "[2]") ","                                      \
          OP("take", "take", TENSOR("src", "table") "," TENSOR("index", "i"), TENSOR("dst", "t"),  \
             PARAM("axis", "0")) ","                                                               \
          BINARY("add", "ADD", "t", "t", "s") "," CAST("s", "y", "TL_FLOAT"))
// A sum of 65504 and 65504 is infinite in 16 bits, and 0 times that is NaN.
#define LARGE_SUM                                                                                  \
    MODEL("'x'", "'s','y'",                                                                        \
          HALVES("x", "[1]", "[65504]") "," BINARY("add", "ADD", "x", "x", "s16") ","              \
          HALVES("zero", "[1]", "[0]") "," BINARY("mul", "MUL", "s16", "zero", "y16") ","          \
          CAST("s16", "s", "TL_INT32") "," CAST("y16", "y", "TL_FLOAT"))
#define GELU                                                                                       \
    MODEL("'x'", "'y','z'",                                                                        \
          HALVES("x", "[2]", "[1,2]") "," HALVES("r", "[1]", "[1.4140625]") ","                    \
          HALVES("one", "[1]", "[1]") "," HALVES("h", "[1]", "[0.5]") ","                          \
          BINARY("scale", "DIV", "x", "r", "t") ","                                                \
          OP("erf", "unary", TENSOR("src", "t"), TENSOR("dst", "e"),                               \
             PARAM("func", "'TL_UNARY_ERF'")) ","                                                  \
          BINARY("sum", "ADD", "e", "one", "s") "," BINARY("product", "MUL", "x", "s", "u") ","    \
          BINARY("half", "MUL", "u", "h", "y") "," BINARY("other", "MUL", "x", "r", "z"))
// clang-format on

START_TEST(rows_are_taken_before_they_are_widened)
{
    ln_context *ctx = load(ROWS);
    run(ctx);
    ASSERT_FLOATS(ctx, "y", 10, 12);
    ck_assert_int_eq(ln_tensor_table_find(ctx->tensor_table, "t")->tensor->dtype, TL_FLOAT16);
    ck_assert_int_eq(count(ctx, "cast_cpu", 0), 1);
    ck_assert_int_eq(count(ctx, "cast_cpu", 1), 0);
    ln_context_free(ctx);
}
END_TEST

START_TEST(a_large_sum_stays_finite_until_it_is_observed)
{
    int sum = 0;
    ln_context *ctx = load(LARGE_SUM);
    run(ctx);
    ASSERT_FLOATS(ctx, "y", 0);
    ck_assert_ptr_nonnull(ln_context_get_data(ctx, "s", &sum));
    ck_assert_int_eq(sum, INT32_MAX); // an integer is made of infinity
    ln_context_free(ctx);
}
END_TEST

START_TEST(a_constant_that_a_rule_has_inspected_through_its_cast_stays)
{
    ln_context *ctx = load(GELU);
    ck_assert_int_eq(count(ctx, "unary_cpu", 0), 1);
    ck_assert_int_eq(ln_context_set_data(ctx, "r", (const uint16_t[]){0x4000}), -1);
    ck_assert_msg(strstr(ln_context_error(ctx),
                         "rule 'recognize_function' has made the value of 'r' part of an operator"),
                  "%s", ln_context_error(ctx));
    ln_context_free(ctx);
}
END_TEST

LN_TEST_MAIN("halves", a_network_rounds_its_result_once,
             its_constants_are_widened_at_load_and_not_kept,
             constants_alone_in_16_bits_cost_a_run_nothing,
             without_the_rule_a_model_computes_in_its_own_type,
             rows_are_taken_before_they_are_widened, a_large_sum_stays_finite_until_it_is_observed,
             a_constant_that_a_rule_has_inspected_through_its_cast_stays)
