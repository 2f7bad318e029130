// SPDX-License-Identifier: Apache-2.0
// Tests of comparing: which orders of elements that tie are right, and which numbers agree.

#include "output/cli_compare.h"

#include <math.h>
#include <string.h>

#include "ln_check.h"
#include "tensorlight/tl_elementwise.h"

#define TENSOR(arg, name) "{\"arg_name\": \"" arg "\", \"name\": \"" name "\"}"
#define PARAM(arg, value) "{\"arg_name\": \"" arg "\", \"value\": " value "}"
#define OP(name, type, in, out, params)                                       \
    "{\"name\": \"" name "\", \"optype\": \"" type "\", \"tensors_in\": [" in \
    "], \"tensors_out\": [" out "], \"params\": [" params "]}"
#define SOURCE(name, dtype, dims)                                           \
    OP(name, "source", "", TENSOR("dst", name),                             \
       PARAM("dtype", "\"" dtype "\"") ", " PARAM("dims", dims) ", " PARAM( \
           "from_file", "false") ", " PARAM("data", "[]"))

static const char model[] = "{\"inputs\": [\"x\", \"key\", \"val\"], \"ops\": [" //
    SOURCE("x", "TL_FLOAT", "[2, 4]") ", "                                       //
    SOURCE("key", "TL_FLOAT", "[4]") ", "                                        //
    SOURCE("val", "TL_INT32", "[4]") ", "                                        //
    OP("top", "topk", TENSOR("src", "x"), TENSOR("values", "v") ", " TENSOR("indices", "i"),
       PARAM("k", "3") ", " PARAM(
           "axis",
           "1")) ", " OP("best", "argreduce", TENSOR("src", "x"), TENSOR("dst", "b"),
                         PARAM("axis",
                               "1")) ", " OP("sort", "sort1d_by_key",
                                             TENSOR("src_key", "key") ", " TENSOR("src_val", "val"),
                                             TENSOR("dst_key", "keys") ", " TENSOR("dst_val",
                                                                                   "vals"),
                                             PARAM("dir", "\"TL_SORT_DIR_DESCENDING\"")) "]}";

static const cli_tolerances options = CLI_TOLERANCES;

static ln_context *run_model(void)
{
    const float x[] = {4, 3, 3, 1, 7, 7, 7, 0}, key[] = {5, 9, 5, 1};
    const int val[] = {10, 11, 12, 13};
    ln_context *ctx = ln_context_create();
    ln_context_keep_all(ctx);
    ck_assert_msg(!ln_context_init_text(ctx, "model", model, strlen(model)) &&
                      !ln_context_compile(ctx, "cpu") && !ln_context_load(ctx, NULL) &&
                      !ln_context_set_data(ctx, "x", x) && !ln_context_set_data(ctx, "key", key) &&
                      !ln_context_set_data(ctx, "val", val) && !ln_context_run(ctx),
                  "%s", ln_context_error(ctx));
    return ctx;
}

// An output as another program might have it, and whether that is right.
typedef struct order {
    const char *op, *tensor;
    int n;
    double elements[6];
    int is_right;
} order;

static const order orders[] = {
    {"top", "i", 6, {0, 2, 1, 2, 1, 0}, 1},
    {"top", "i", 6, {0, 1, 2, 1, 0, 2}, 1},
    {"top", "i", 6, {1, 0, 2, 0, 1, 2}, 0}, // 3 is not the largest
    {"top", "i", 6, {0, 1, 1, 0, 1, 2}, 0}, // an element twice
    {"top", "i", 6, {0, 1, 4, 0, 1, 2}, 0}, // none
    {"top", "i", 6, {0, 1, -1, 0, 1, 2}, 0},
    {"best", "b", 2, {0, 2}, 1},
    {"best", "b", 2, {1, 0}, 0},
    {"sort", "vals", 4, {11, 12, 10, 13}, 1},
    {"sort", "vals", 4, {11, 10, 13, 12}, 0}, // 13 has key 1
    {"sort", "vals", 4, {11, 10, 10, 13}, 0},
};

static void set_elements(const tl_tensor *t, const order *o)
{
    ck_assert_int_eq(t->len, o->n);
    for (int i = 0; i < o->n; i++)
        tl_convert((char *)t->data + (size_t)i * tl_size_of(t->dtype), t->dtype, &o->elements[i],
                   TL_DOUBLE);
}

static void check_order(const order *o)
{
    ln_context *ctx = run_model(), *reference = run_model();
    const tl_tensor *got = ln_tensor_table_find(ctx->tensor_table, o->tensor)->tensor;
    const tl_tensor *want = ln_tensor_table_find(reference->tensor_table, o->tensor)->tensor;
    const ln_op *op = ln_context_creater(ctx, o->tensor);
    set_elements(got, o);
    const int is_right = cli_ties_replace(ctx, reference, &options, op, o->tensor);
    ck_assert_msg(is_right == o->is_right, "case %td: %d", o - orders, is_right);
    // Later operators get the results of the reference.
    ck_assert_int_eq(!memcmp(got->data, want->data, tl_tensor_size(got)), is_right);
    ln_context_free(ctx);
    ln_context_free(reference);
}

START_TEST(indices_are_right_that_name_equal_elements)
{
    for (size_t i = 0; i < sizeof(orders) / sizeof(orders[0]); i++)
        check_order(&orders[i]);
}
END_TEST

START_TEST(other_outputs_are_no_indices)
{
    ln_context *ctx = run_model(), *reference = run_model();
    const ln_op *op = ln_context_creater(ctx, "v");
    ck_assert_int_eq(cli_ties_replace(ctx, reference, &options, op, "v"), 0);
    ln_context_free(ctx);
    ln_context_free(reference);
}
END_TEST

// Whether a number agrees with another of the type, by the tolerance of stored data and by that of
// the reference program.
static int agree(tl_dtype dtype, double got, double expected)
{
    double a, b;
    const int dims[] = {1};
    difference stored, reference;
    // tl_convert would make infinities finite.
    const float numbers[] = {(float)got, (float)expected};
    tl_tensor *x = tl_tensor_create((void *)&numbers[0], 1, dims, TL_FLOAT);
    tl_tensor *y = tl_tensor_create((void *)&numbers[1], 1, dims, TL_FLOAT);
    tl_tensor *g = tl_tensor_create(&a, 1, dims, dtype), *e = tl_tensor_create(&b, 1, dims, dtype);
    ck_assert(tl_tensor_cast(x, g, dtype) && tl_tensor_cast(y, e, dtype));
    const tolerance near = cli_stored_tolerance(&options, dtype);
    const tolerance of_reference = cli_reference_tolerance(&options, e, 0);
    cli_compare(g, e, &near, &stored);
    cli_compare(g, e, &of_reference, &reference);
    tl_tensor_free(x);
    tl_tensor_free(y);
    tl_tensor_free(g);
    tl_tensor_free(e);
    ck_assert_int_eq(stored.index, reference.index);
    return stored.index < 0;
}

START_TEST(infinity_agrees_with_itself_alone)
{
    static const tl_dtype dtypes[] = {TL_FLOAT, TL_DOUBLE, TL_FLOAT16, TL_BFLOAT16};
    for (int i = 0; i < 4; i++) {
        ck_assert(agree(dtypes[i], INFINITY, INFINITY));
        ck_assert(agree(dtypes[i], -INFINITY, -INFINITY));
        ck_assert(!agree(dtypes[i], INFINITY, -INFINITY));
        ck_assert(!agree(dtypes[i], 1, INFINITY));
        ck_assert(!agree(dtypes[i], -6e4, -INFINITY));
        ck_assert(!agree(dtypes[i], INFINITY, 6e4));
        ck_assert(!agree(dtypes[i], NAN, INFINITY));
        ck_assert(agree(dtypes[i], NAN, NAN));
        ck_assert(agree(dtypes[i], 1, 1));
        ck_assert(!agree(dtypes[i], 1, 1.125));
    }
}
END_TEST

START_TEST(elements_that_are_finite_on_one_side_are_counted_and_do_not_hide_in_the_error)
{
    float x[] = {1, NAN, INFINITY, INFINITY, NAN, 7}, y[] = {1.5, 2, INFINITY, -INFINITY, NAN, -8};
    const int dims[] = {6};
    tl_tensor *const got = tl_tensor_create(x, 1, dims, TL_FLOAT);
    tl_tensor *const expected = tl_tensor_create(y, 1, dims, TL_FLOAT);
    int n_beyond;
    ck_assert_double_eq(cli_relative_error(got, expected, &n_beyond), 15.0 / 8);
    ck_assert_int_eq(n_beyond, 2); // NaN and 2, and two infinities
    x[5] = -8;
    ck_assert_double_eq(cli_relative_error(got, expected, &n_beyond), 0.5 / 8);
    tl_tensor_free(got);
    tl_tensor_free(expected);
}
END_TEST

START_TEST(the_error_is_not_divided_by_zeros)
{
    float x[] = {0.25f, -0.5f}, y[] = {0, 0};
    const int dims[] = {2};
    tl_tensor *const got = tl_tensor_create(x, 1, dims, TL_FLOAT);
    tl_tensor *const expected = tl_tensor_create(y, 1, dims, TL_FLOAT);
    int n_beyond;
    ck_assert_double_eq(cli_relative_error(got, expected, &n_beyond), 0.5);
    ck_assert_int_eq(n_beyond, 0);
    tl_tensor_free(got);
    tl_tensor_free(expected);
}
END_TEST

LN_TEST_MAIN("ties", indices_are_right_that_name_equal_elements, other_outputs_are_no_indices,
             infinity_agrees_with_itself_alone,
             elements_that_are_finite_on_one_side_are_counted_and_do_not_hide_in_the_error,
             the_error_is_not_divided_by_zeros)
