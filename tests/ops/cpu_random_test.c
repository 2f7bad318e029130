// SPDX-License-Identifier: Apache-2.0
// Tests of the CPU's operators in small models: random tensors.

#include <stdint.h>
#include <string.h>

#include "cpu_model.h"
#include "lightnet/ln_context.h"
#include "ln_check.h"

// Random tensors

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

LN_TEST_MAIN("cpu random", random_tensors_differ_and_stay_in_their_range,
             the_seed_decides_the_random_numbers,
             an_unused_constant_does_not_change_the_random_numbers_of_others)
