// SPDX-License-Identifier: Apache-2.0
// Tests of the functions of one number.

#include <math.h>

#include "kernel/unary/unary.h"
#include "kernel/tl_map_test.h"
#include "tensor/tl_half.h"
#include "tensorlight/tensorlight.h"

START_TEST(sigmoid_has_the_values_of_its_formula)
{
    // ln 3 gives 3/4; one rounding each of exp, sum and quotient is at most 2 units in the last
    // place.
    double data[] = {0, 1.0986122886681098, -1.0986122886681098};
    const double expected[] = {0.5, 0.75, 0.25};
    tl_tensor *const src = tl_tensor_create(data, 1, (int[]){3}, TL_DOUBLE);
    for (int dtype = 0; dtype < TL_DTYPE_SIZE; dtype++) {
        if (!tl_dtype_is_float((tl_dtype)dtype))
            continue;
        tl_tensor *const narrow = tl_tensor_convert(src, NULL, (tl_dtype)dtype);
        ck_assert_ptr_eq(tl_tensor_sigmoid(narrow, narrow), narrow);
        tl_tensor *const result = tl_tensor_convert(narrow, NULL, TL_DOUBLE);
        const double tolerance = dtype == TL_DOUBLE    ? 0x1p-51
                                 : dtype == TL_FLOAT   ? 0x1p-22
                                 : dtype == TL_FLOAT16 ? 0x1p-9
                                                       : 0x1p-7;
        for (int i = 0; i < 3; i++)
            ck_assert_double_eq_tol(((double *)result->data)[i], expected[i], tolerance);
        tl_tensor_free_data_too(narrow);
        tl_tensor_free_data_too(result);
    }
    tl_tensor_free(src);
}
END_TEST

START_TEST(far_out_sigmoid_is_0_and_1)
{
    float data[] = {-1000, 1000, -INFINITY, INFINITY, NAN};
    tl_tensor *const src = tl_tensor_create(data, 1, (int[]){5}, TL_FLOAT);
    ck_assert_ptr_eq(tl_tensor_sigmoid(src, src), src);
    const float expected[] = {0, 1, 0, 1};
    ck_assert_mem_eq(data, expected, sizeof(expected));
    ck_assert(isnan(data[4]));
    tl_tensor_free(src);
}
END_TEST

/** A row of the list with its kernels. */
typedef struct function {
    const char *name;
    tl_tensor *(*func)(const tl_tensor *src, tl_tensor *dst);
    const tl_map_variant *variants;
    size_t variants_n;
} function;

#define TL_KERNEL(name, dtype, isa) {#name, name, dtype, dtype, isa},
#define TL_UNARY(name, grain) \
    static const tl_map_variant name##_variants[] = {TL_KERNELS_FLT(tl_##name, c, TL_ISA_C)};
#include "kernel/unary/unary.def"
#undef TL_UNARY
#undef TL_KERNEL

static const function functions[] = {
#define TL_UNARY(name, grain) \
    {#name, tl_tensor_##name, name##_variants, sizeof(name##_variants) / sizeof(*name##_variants)},
#include "kernel/unary/unary.def"
#undef TL_UNARY
};

enum { FUNCTIONS_N = sizeof(functions) / sizeof(*functions) };

START_TEST(integers_are_refused)
{
    tl_tensor *const src = tl_tensor_zeros(1, (int[]){2}, TL_INT32);
    for (int i = 0; i < FUNCTIONS_N; i++) {
        ck_assert_msg(!functions[i].func(src, NULL), "%s of integers", functions[i].name);
        ck_assert_str_eq(tl_last_error(), "'src' has dtype TL_INT32, expected a float");
    }
    tl_tensor_free_data_too(src);
}
END_TEST

START_TEST(every_kernel_equals_plain_c)
{
    for (int i = 0; i < FUNCTIONS_N; i++)
        tl_map_check_variants(functions[i].variants, functions[i].variants_n, NULL);
}
END_TEST

START_TEST(threads_do_not_change_the_result)
{
    for (int i = 0; i < FUNCTIONS_N; i++)
        tl_map_check_threads(functions[i].variants, functions[i].variants_n, NULL);
}
END_TEST

LN_TEST_MAIN("unary", sigmoid_has_the_values_of_its_formula, far_out_sigmoid_is_0_and_1,
             integers_are_refused, every_kernel_equals_plain_c, threads_do_not_change_the_result)
