// SPDX-License-Identifier: Apache-2.0
// Tests of convolutions over three axes whose batch is known only at run time: each batch gives
// what a program for just this batch does.

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lightnet/ln_context.h"
#include "lightnet/ln_util.h"
#include "ln_check.h"

enum { MAX = 4, MANY = 18, RESULTS = 17, TEXT = 1 << 14 };

// One convolution of x [N, channels, 4, 6, 7].
typedef struct conv_case {
    const char *optype;
    int channels, size[3], stride[3], padding[6];
    const char *more; // parameters, with a comma before
} conv_case;

static const conv_case cases[] = {
    {"convnd", 5, {3, 3, 3}, {1, 1, 1}, {1, 1, 1, 1, 1, 1}, ""},
    {"convnd", 5, {3, 2, 3}, {2, 1, 2}, {2, 0, 1, 0, 1, 1}, ""},
    {"convnd", MANY, {3, 3, 3}, {1, 1, 1}, {1, 1, 1, 1, 1, 1}, ""},
    {"convnd", MANY, {3, 2, 3}, {2, 1, 2}, {2, 0, 1, 0, 1, 1}, ""},
    {"convnd", MANY, {1, 3, 3}, {1, 1, 1}, {0, 1, 1, 0, 1, 1}, ""},
    {"convnd", MANY, {3, 1, 1}, {1, 1, 1}, {1, 0, 0, 1, 0, 0}, ""},
    {"convnd", MANY, {1, 1, 1}, {1, 1, 1}, {0, 0, 0, 0, 0, 0}, ""},
    {"deconvnd",
     MANY,
     {2, 2, 2},
     {2, 2, 2},
     {0, 0, 0, 0, 0, 0},
     ", {\"arg_name\": \"output_padding\", \"value\": [0, 0, 0]}"},
    {"deconvnd",
     MANY,
     {4, 3, 2},
     {2, 2, 1},
     {1, 0, 1, 2, 1, 0},
     ", {\"arg_name\": \"output_padding\", \"value\": [1, 1, 0]}"},
};

static int out_dim(const conv_case *c, int axis, int in)
{
    const int padding = c->padding[axis] + c->padding[3 + axis];
    if (!strcmp(c->optype, "deconvnd"))
        return c->stride[axis] * (in - 1) + c->size[axis] - padding + (c->size[0] == 4 && axis < 2);
    return (in + padding - c->size[axis]) / c->stride[axis] + 1;
}

static int out_len(const conv_case *c)
{
    return RESULTS * out_dim(c, 0, 4) * out_dim(c, 1, 6) * out_dim(c, 2, 7);
}

// A batch of `n`, or where it is 0, of 1 to MAX.
static char *model_of(const conv_case *c, int n)
{
    static char text[TEXT];
    const int is_deconv = !strcmp(c->optype, "deconvnd");
    char min[128];
    snprintf(min, sizeof(min), ", {\"arg_name\": \"least\", \"value\": [1, %d, 4, 6, 7]}",
             c->channels);
    snprintf(
        text, sizeof(text),
        "{\"inputs\": [\"x\"], \"outputs\": [\"y\"], \"ops\": ["
        "{\"name\": \"make_x\", \"optype\": \"%s\", \"tensors_in\": [], \"tensors_out\": "
        "[{\"arg_name\": \"dst\", \"name\": \"x\"}], \"params\": [{\"arg_name\": \"dtype\", "
        "\"value\": \"TL_FLOAT\"}, {\"arg_name\": \"dims\", \"value\": [%d, %d, 4, 6, 7]}%s]}, "
        "{\"name\": \"make_w\", \"optype\": \"create\", \"tensors_in\": [], \"tensors_out\": "
        "[{\"arg_name\": \"dst\", \"name\": \"w\"}], \"params\": [{\"arg_name\": \"dtype\", "
        "\"value\": \"TL_FLOAT\"}, {\"arg_name\": \"dims\", \"value\": [%d, %d, %d, %d, %d]}, "
        "{\"arg_name\": \"ran\", \"value\": [-1, 1]}, {\"arg_name\": \"data\", \"value\": [0]}, "
        "{\"arg_name\": \"from_file\", \"value\": false}]}, "
        "{\"name\": \"conv\", \"optype\": \"%s\", \"tensors_in\": [{\"arg_name\": \"src\", "
        "\"name\": \"x\"}, {\"arg_name\": \"weight\", \"name\": \"w\"}], \"tensors_out\": "
        "[{\"arg_name\": \"dst\", \"name\": \"y\"}], \"params\": [{\"arg_name\": \"size\", "
        "\"value\": [%d, %d, %d]}, {\"arg_name\": \"stride\", \"value\": [%d, %d, %d]}, "
        "{\"arg_name\": \"dilation\", \"value\": [1, 1, 1]}, {\"arg_name\": \"padding\", "
        "\"value\": [%d, %d, %d, %d, %d, %d]}%s]}]}",
        n ? "source" : "placeholder", n ? n : MAX, c->channels, n ? "" : min,
        is_deconv ? c->channels : RESULTS, is_deconv ? RESULTS : c->channels, c->size[0],
        c->size[1], c->size[2], c->optype, c->size[0], c->size[1], c->size[2], c->stride[0],
        c->stride[1], c->stride[2], c->padding[0], c->padding[1], c->padding[2], c->padding[3],
        c->padding[4], c->padding[5], c->more);
    return text;
}

static ln_context *loaded(const conv_case *c, int n)
{
    const char *const text = model_of(c, n);
    ln_context *ctx = ln_context_create();
    ck_assert_ptr_nonnull(ctx);
    ck_assert_msg(!ln_context_init_text(ctx, "model", text, strlen(text)) &&
                      !ln_context_compile(ctx, "cpu") && !ln_context_load(ctx, NULL),
                  "%s", ln_context_error(ctx));
    return ctx;
}

static int count(const ln_context *ctx, const char *optype)
{
    const ln_op *op;
    int n = 0;
    LN_LIST_FOREACH (op, ctx->ops)
        n += !strncmp(op->op_arg->optype, optype, strlen(optype));
    return n;
}

static void run(ln_context *ctx, const float *x, float *y)
{
    ck_assert_msg(!ln_context_set_data(ctx, "x", x) && !ln_context_run(ctx) &&
                      ln_context_get_data(ctx, "y", y),
                  "%s", ln_context_error(ctx));
}

static void check_case(const conv_case *c)
{
    const int len = MAX * c->channels * 4 * 6 * 7;
    float *const x = ln_alloc_array((size_t)len, sizeof(*x));
    float *const y = ln_alloc_array((size_t)(MAX * out_len(c)), sizeof(*y));
    float *const expected = ln_alloc_array((size_t)(MAX * out_len(c)), sizeof(*y));
    ln_context *open = loaded(c, 0);
    ck_assert_int_eq(count(open, "convnd") + count(open, "deconvnd"), 0);
    for (int i = 0; i < len; i++)
        x[i] = (float)(i * 37 % 101) / 50 - 1;
    static const int batches[] = {3, 1, 4, 2};
    for (size_t k = 0; k < sizeof(batches) / sizeof(*batches); k++) {
        ln_context *fixed = loaded(c, batches[k]);
        const int dims[] = {batches[k], c->channels, 4, 6, 7};
        ck_assert_int_eq(ln_context_set_shape(open, "x", 5, dims), 0);
        run(open, x, y);
        run(fixed, x, expected);
        for (int i = 0; i < batches[k] * out_len(c); i++)
            ck_assert_msg(fabsf(y[i] - expected[i]) <= 5e-5f * (1 + fabsf(expected[i])),
                          "%s, batch %d, element %d is %g, expected %g", c->optype, batches[k], i,
                          (double)y[i], (double)expected[i]);
        ln_context_free(fixed);
    }
    ln_context_free(open);
    ln_free(x);
    ln_free(y);
    ln_free(expected);
}

START_TEST(each_batch_gives_what_a_program_for_it_does)
{
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        check_case(&cases[i]);
}
END_TEST

LN_TEST_MAIN("volumes of an open batch", each_batch_gives_what_a_program_for_it_does)
