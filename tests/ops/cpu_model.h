// SPDX-License-Identifier: Apache-2.0
// Models written within tests of operators, how they are run, and what is expected of them.
//
//     ln_context *ctx = load(MODEL("'x'", "'y'", FLOATS("x", "[2]", "[1,-2]") "," RELU_CPU("r",
//     "x", "y"))); run(ctx); ASSERT_FLOATS(ctx, "y", 1, 0);

#pragma once

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

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
#define RELU_CPU(name, src, dst) \
    OP(name, "unary_cpu", TENSOR("src", src), TENSOR("dst", dst), PARAM("func", "'TL_UNARY_RELU'"))
#define MODEL(inputs, outputs, ops) \
    "{'inputs':[" inputs "],'outputs':[" outputs "],'ops':[" ops "]}"
#define MATRIX FLOATS("x", "[2,2]", "[1,2,3,4]")

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
/** Two convolutions of one shape, and one with which there is nothing to choose. */
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

/** Reads a model from JSON with ' for ", which may write to `output` (ln_context_allow_output;
 *  NULL: nothing). -1 with the reason in `*ctx`. */
static inline int read_allowing(ln_context **ctx, const char *model, const char *output)
{
    char *text = strdup(model);
    for (char *p = text; *p; p++) {
        if (*p == '\'')
            *p = '"';
    }
    *ctx = ln_context_create();
    ck_assert_ptr_nonnull(*ctx);
    if (output)
        ck_assert_msg(!ln_context_allow_output(*ctx, output), "%s", ln_context_error(*ctx));
    const int status = ln_context_init_text(*ctx, "model", text, strlen(text));
    free(text);
    return status;
}

static inline int read_model(ln_context **ctx, const char *model)
{
    return read_allowing(ctx, model, NULL);
}

static inline int compile(ln_context **ctx, const char *model)
{
    return read_model(ctx, model) || ln_context_compile(*ctx, "cpu") ? -1 : 0;
}

/** A compiled and loaded model that may write to `output`. */
static inline ln_context *load_allowing(const char *model, const char *output)
{
    ln_context *ctx;
    const int failed = read_allowing(&ctx, model, output) || ln_context_compile(ctx, "cpu") ||
                       ln_context_load(ctx, NULL);
    ck_assert_msg(!failed, "%s", ln_context_error(ctx));
    return ctx;
}

/** A compiled and loaded model. */
static inline ln_context *load_seeded(const char *model, uint64_t seed)
{
    ln_context *ctx;
    const int status = compile(&ctx, model);
    ck_assert_msg(!status, "%s", ln_context_error(ctx));
    ln_context_set_seed(ctx, seed);
    ck_assert_msg(!ln_context_load(ctx, NULL), "%s", ln_context_error(ctx));
    return ctx;
}

static inline ln_context *load(const char *model)
{
    return load_seeded(model, 0);
}

static inline void run(ln_context *ctx)
{
    ck_assert_msg(!ln_context_run(ctx), "%s", ln_context_error(ctx));
}

static inline void assert_rejected(const char *model, const char *reason)
{
    ln_context *ctx;
    ck_assert_msg(compile(&ctx, model), "accepted, expected: %s", reason);
    ck_assert_msg(strstr(ln_context_error(ctx), reason) != NULL, "'%s', expected '%s'",
                  ln_context_error(ctx), reason);
    ln_context_free(ctx);
}

static inline void assert_run_fails(const char *model, const char *reason)
{
    ln_context *ctx = load(model);
    ck_assert_msg(ln_context_run(ctx), "ran, expected: %s", reason);
    ck_assert_msg(strstr(ln_context_error(ctx), reason) != NULL, "'%s', expected '%s'",
                  ln_context_error(ctx), reason);
    ln_context_free(ctx);
}

static inline void assert_floats(ln_context *ctx, const char *name, int len, const float *expected)
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
