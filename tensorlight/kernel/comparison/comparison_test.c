// SPDX-License-Identifier: Apache-2.0
// Tests of the comparisons.

#include <math.h>

#include "kernel/comparison/comparison.h"
#include "kernel/tl_broadcast_test.h"
#include "tensorlight/tensorlight.h"

// For a < b, a == b, a > b, and where one is NaN.
static const struct {
    tl_compare_op op;
    uint8_t expected[4];
} rows[] = {
    {TL_COMPARE_EQUAL, {0, 1, 0, 0}},   {TL_COMPARE_NOT_EQUAL, {1, 0, 1, 1}},
    {TL_COMPARE_LESS, {1, 0, 0, 0}},    {TL_COMPARE_LESS_EQUAL, {1, 1, 0, 0}},
    {TL_COMPARE_GREATER, {0, 0, 1, 0}}, {TL_COMPARE_GREATER_EQUAL, {0, 1, 1, 0}},
};
enum { ROWS = sizeof(rows) / sizeof(*rows) };

START_TEST(every_type_is_compared)
{
    ck_assert_int_eq(ROWS, TL_COMPARE_OP_SIZE);
    for (int i = 0; i < TL_DTYPE_COMPUTED_SIZE; i++) {
        const tl_dtype dtype = (tl_dtype)i;
        uint64_t low = 0, high = 0, pair[4];
        tl_dtype_min(dtype, &low);
        tl_dtype_max(dtype, &high);
        void *const a = &pair[0], *const b = &pair[2];
        const size_t size = tl_size_of(dtype);
        tl_passign(a, 0, &low, 0, size), tl_passign(b, 0, &high, 0, size);
        tl_passign(a, 1, &high, 0, size), tl_passign(b, 1, &high, 0, size);
        tl_tensor *const t1 = tl_tensor_create(a, 1, (int[]){2}, dtype);
        tl_tensor *const t2 = tl_tensor_create(b, 1, (int[]){2}, dtype);
        for (int k = 0; k < ROWS; k++) {
            uint8_t got[2], swapped[2];
            tl_tensor *const dst = tl_tensor_create(got, 1, (int[]){2}, TL_BOOL);
            ck_assert_ptr_eq(tl_tensor_compare(t1, t2, dst, rows[k].op), dst);
            dst->data = swapped;
            ck_assert_ptr_eq(tl_tensor_compare(t2, t1, dst, rows[k].op), dst);
            ck_assert_msg(got[0] == rows[k].expected[0] && got[1] == rows[k].expected[1] &&
                              swapped[0] == rows[k].expected[2] &&
                              swapped[1] == rows[k].expected[1],
                          "%s of %s", tl_compare_op_name(rows[k].op), tl_dtype_name(dtype));
            tl_tensor_free(dst);
        }
        tl_tensor_free(t1);
        tl_tensor_free(t2);
    }
}
END_TEST

START_TEST(nan_is_unequal_and_zeros_are_equal)
{
    float a[] = {NAN, 1, NAN, -0.0f}, b[] = {1, NAN, NAN, 0};
    tl_tensor *const t1 = tl_tensor_create(a, 1, (int[]){4}, TL_FLOAT);
    tl_tensor *const t2 = tl_tensor_create(b, 1, (int[]){4}, TL_FLOAT);
    for (int k = 0; k < ROWS; k++) {
        tl_tensor *const dst = tl_tensor_compare(t1, t2, NULL, rows[k].op);
        const uint8_t nan = rows[k].expected[3], equal = rows[k].expected[1];
        ck_assert_mem_eq(dst->data, ((uint8_t[]){nan, nan, nan, equal}), 4);
        tl_tensor_free_data_too(dst);
    }
    tl_tensor_free(t1);
    tl_tensor_free(t2);
}
END_TEST

START_TEST(a_column_and_a_row_make_a_table)
{
    int16_t a[] = {1, 2, 3}, b[] = {2, 3};
    tl_tensor *const column = tl_tensor_create(a, 2, (int[]){3, 1}, TL_INT16);
    tl_tensor *const row = tl_tensor_create(b, 1, (int[]){2}, TL_INT16);
    tl_tensor *const dst = tl_tensor_compare(column, row, NULL, TL_COMPARE_GREATER_EQUAL);
    ck_assert_int_eq(dst->ndim, 2);
    ck_assert_mem_eq(dst->data, ((uint8_t[]){0, 0, 1, 0, 1, 1}), 6);
    tl_tensor_free_data_too(dst);
    tl_tensor_free(column);
    tl_tensor_free(row);
}
END_TEST

START_TEST(compare_rejects_bad_shapes_and_operations)
{
    tl_tensor *const a = tl_tensor_zeros(1, (int[]){2}, TL_FLOAT);
    tl_tensor *const b = tl_tensor_zeros(1, (int[]){3}, TL_FLOAT);
    ck_assert_ptr_null(tl_tensor_compare(a, b, NULL, TL_COMPARE_LESS));
    ck_assert_str_eq(tl_last_error(), "shapes [2] and [3], expected ones that broadcast to one");
    ck_assert_ptr_null(tl_tensor_compare(a, a, b, TL_COMPARE_LESS));
    ck_assert_str_eq(tl_last_error(), "'dst' is TL_FLOAT [3], expected TL_BOOL [2]");
    ck_assert_ptr_null(tl_tensor_compare(a, a, NULL, TL_COMPARE_OP_SIZE));
    ck_assert_str_eq(tl_last_error(), "compare op 6, expected 0 to 5");
    ck_assert_int_eq(tl_compare_op_from_str("TL_COMPARE_LESS"), TL_COMPARE_LESS);
    tl_tensor_free_data_too(a);
    tl_tensor_free_data_too(b);
}
END_TEST

#define VARIANT(arg, function, dtype, isa) {#function, function, 2, {dtype, dtype}, TL_BOOL, isa},
#define VARIANTS(arg, op, name, swaps) \
    static const tl_broadcast_variant op##_variants[] = {TL_COMPARISON_KERNELS(VARIANT, , name)};
TL_COMPARISONS(VARIANTS, )

#define CHECK(arg, op, name, swaps) \
    tl_broadcast_check_variants(op##_variants, sizeof(op##_variants) / sizeof(*op##_variants));
START_TEST(every_kernel_equals_element_by_element){TL_COMPARISONS(CHECK, )} END_TEST

    LN_TEST_MAIN("comparison", every_type_is_compared, nan_is_unequal_and_zeros_are_equal,
                 a_column_and_a_row_make_a_table, compare_rejects_bad_shapes_and_operations,
                 every_kernel_equals_element_by_element)
