// SPDX-License-Identifier: Apache-2.0
// Tests of the CPU's operators in small models: convolutions that leave little to compute, and what
// they count.

#include "cpu_model.h"
#include "lightnet/ln_context.h"
#include "ln_check.h"

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

// Convolutions that leave little to compute

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

// A convolution of [n, ic, 8, 8] to oc channels, numbers that may be 0, since all tensors are
// sliced off others.
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
        int len; // of the result, all elements of which are biases
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

// Tensors of more than INT_MAX elements in whole blocks of channels keep their layout.
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

LN_TEST_MAIN("cpu convolutions", convolution_counts_multiply_accumulates,
             convolutions_of_nothing_or_to_nothing_run, windows_with_far_taps_run,
             convolutions_too_large_for_blocks_compile)
