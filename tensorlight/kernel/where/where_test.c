// SPDX-License-Identifier: Apache-2.0
// Tests of the choice between two tensors.

#include "kernel/where/where.h"

#include "kernel/tl_broadcast_test.h"
#include "tensorlight/tensorlight.h"

START_TEST(each_element_is_chosen)
{
    uint8_t yes[] = {1, 0, 1};
    for (int i = 0; i < TL_DTYPE_COMPUTED_SIZE; i++) {
        const tl_dtype dtype = (tl_dtype)i;
        tl_tensor *const cond = tl_tensor_create(yes, 1, (int[]){3}, TL_BOOL);
        tl_tensor *const src1 = tl_tensor_zeros(1, (int[]){3}, dtype);
        tl_tensor *const src2 = tl_tensor_zeros(1, (int[]){3}, dtype);
        memset(src1->data, 1, tl_tensor_size(src1));
        tl_tensor *const dst = tl_tensor_where(cond, src1, src2, NULL);
        const size_t size = tl_size_of(dtype);
        ck_assert_int_eq(dst->dtype, dtype);
        ck_assert_mem_eq(dst->data, src1->data, size);
        ck_assert_mem_eq(tl_padd(dst->data, 1, size), src2->data, size);
        ck_assert_mem_eq(tl_padd(dst->data, 2, size), src1->data, size);
        tl_tensor_free(cond);
        tl_tensor_free_data_too(src1);
        tl_tensor_free_data_too(src2);
        tl_tensor_free_data_too(dst);
    }
}
END_TEST

START_TEST(all_three_are_broadcast)
{
    uint8_t yes[] = {1, 0};
    int32_t a[] = {1, 2, 3}, b = 9;
    tl_tensor *const cond = tl_tensor_create(yes, 2, (int[]){2, 1}, TL_BOOL);
    tl_tensor *const src1 = tl_tensor_create(a, 1, (int[]){3}, TL_INT32);
    tl_tensor *const src2 = tl_tensor_create(&b, 0, NULL, TL_INT32);
    tl_tensor *const dst = tl_tensor_where(cond, src1, src2, NULL);
    const int32_t expected[] = {1, 2, 3, 9, 9, 9};
    ck_assert_int_eq(dst->ndim, 2);
    ck_assert_mem_eq(dst->data, expected, sizeof(expected));
    tl_tensor_free(cond);
    tl_tensor_free(src1);
    tl_tensor_free(src2);
    tl_tensor_free_data_too(dst);
}
END_TEST

START_TEST(where_rejects_bad_shapes_and_dtypes)
{
    tl_tensor *const cond = tl_tensor_zeros(1, (int[]){2}, TL_BOOL);
    tl_tensor *const a = tl_tensor_zeros(1, (int[]){3}, TL_FLOAT);
    tl_tensor *const b = tl_tensor_zeros(1, (int[]){3}, TL_INT32);
    ck_assert_ptr_null(tl_tensor_where(cond, a, a, NULL));
    ck_assert_str_eq(tl_last_error(), "shapes [2] and [3], expected ones that broadcast to one");
    ck_assert_ptr_null(tl_tensor_where(a, a, a, NULL));
    ck_assert_str_eq(tl_last_error(), "'cond' has dtype TL_FLOAT, expected TL_BOOL");
    ck_assert_ptr_null(tl_tensor_where(cond, a, b, NULL));
    ck_assert_str_eq(tl_last_error(), "dtypes TL_FLOAT and TL_INT32, expected the same");
    tl_tensor_free_data_too(cond);
    tl_tensor_free_data_too(a);
    tl_tensor_free_data_too(b);
}
END_TEST

#define VARIANT(arg, function, dtype, isa) \
    {#function, function, 3, {TL_BOOL, dtype, dtype}, dtype, isa},
static const tl_broadcast_variant variants[] = {TL_WHERE_KERNELS(VARIANT, )};

START_TEST(every_kernel_equals_element_by_element)
{
    tl_broadcast_check_variants(variants, sizeof(variants) / sizeof(*variants));
}
END_TEST

LN_TEST_MAIN("where", each_element_is_chosen, all_three_are_broadcast,
             where_rejects_bad_shapes_and_dtypes, every_kernel_equals_element_by_element)
