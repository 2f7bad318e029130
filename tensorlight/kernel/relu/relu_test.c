// SPDX-License-Identifier: Apache-2.0
// Tests of the rectifier.

#include <math.h>

#include "kernel/relu/relu.h"
#include "kernel/tl_map_test.h"
#include "tensorlight/tensorlight.h"

START_TEST(negative_numbers_become_0)
{
    float data[] = {-2, -0.5f, 0, 3};
    tl_tensor *const src = tl_tensor_create(data, 1, (int[]){4}, TL_FLOAT);
    tl_tensor *const dst = tl_tensor_relu(src, NULL);
    const float expected[] = {0, 0, 0, 3};
    ck_assert_mem_eq(dst->data, expected, sizeof(expected));
    ck_assert_ptr_eq(tl_tensor_relu(src, src), src);
    ck_assert_mem_eq(data, expected, sizeof(expected));
    tl_tensor_free_data_too(dst);
    tl_tensor_free(src);
}
END_TEST

START_TEST(nan_stays)
{
    float data[] = {NAN, -INFINITY, INFINITY};
    tl_tensor *const src = tl_tensor_create(data, 1, (int[]){3}, TL_FLOAT);
    ck_assert_ptr_eq(tl_tensor_relu(src, src), src);
    ck_assert(isnan(data[0]));
    ck_assert_float_eq(data[1], 0);
    ck_assert_float_eq(data[2], INFINITY);
    tl_tensor_free(src);
}
END_TEST

START_TEST(unsigned_numbers_stay)
{
    uint8_t data[] = {0, 127, 128, 255};
    const uint8_t expected[] = {0, 127, 128, 255};
    tl_tensor *const src = tl_tensor_create(data, 1, (int[]){4}, TL_UINT8);
    ck_assert_ptr_eq(tl_tensor_relu(src, src), src);
    ck_assert_mem_eq(data, expected, sizeof(expected));
    tl_tensor_free(src);
}
END_TEST

START_TEST(a_dst_of_another_shape_is_refused)
{
    tl_tensor *const src = tl_tensor_zeros(2, (int[]){2, 3}, TL_FLOAT);
    tl_tensor *const dst = tl_tensor_zeros(2, (int[]){3, 2}, TL_FLOAT);
    ck_assert_ptr_null(tl_tensor_relu(src, dst));
    ck_assert_str_eq(tl_last_error(), "'dst' is TL_FLOAT [3, 2], expected TL_FLOAT [2, 3]");
    tl_tensor_free_data_too(src);
    tl_tensor_free_data_too(dst);
}
END_TEST

#define VARIANT(arg, name, dtype, isa) {#name, name, dtype, dtype, isa},
static const tl_map_variant variants[] = {TL_RELU_KERNELS(VARIANT, )};

TL_MAP_TESTS(variants, NULL)

LN_TEST_MAIN("relu", negative_numbers_become_0, nan_stays, unsigned_numbers_stay,
             a_dst_of_another_shape_is_refused, every_kernel_equals_plain_c,
             threads_do_not_change_the_result)
