// SPDX-License-Identifier: Apache-2.0
// Tests of the classes of numbers.

#include <math.h>

#include "kernel/classify/classify.h"
#include "kernel/tl_map_test.h"
#include "tensorlight/tensorlight.h"

START_TEST(each_class_is_found)
{
    float data[] = {NAN, INFINITY, -INFINITY, 0, 3.4e38f};
    static const struct {
        int classes;
        uint8_t expected[5];
    } rows[] = {
        {TL_CLASS_NAN, {1, 0, 0, 0, 0}},
        {TL_CLASS_POSITIVE_INF, {0, 1, 0, 0, 0}},
        {TL_CLASS_NEGATIVE_INF, {0, 0, 1, 0, 0}},
        {TL_CLASS_POSITIVE_INF | TL_CLASS_NEGATIVE_INF, {0, 1, 1, 0, 0}},
        {TL_CLASS_NAN | TL_CLASS_POSITIVE_INF | TL_CLASS_NEGATIVE_INF, {1, 1, 1, 0, 0}},
        {0, {0, 0, 0, 0, 0}},
    };
    tl_tensor *const numbers = tl_tensor_create(data, 1, (int[]){5}, TL_FLOAT);
    for (int i = 0; i < TL_DTYPE_COMPUTED_SIZE; i++) {
        const tl_dtype dtype = (tl_dtype)i;
        if (!tl_dtype_is_float(dtype))
            continue;
        tl_tensor *const src = tl_tensor_cast(numbers, NULL, dtype);
        // In the 16-bit floats the last number is too large.
        const int n = tl_size_of(dtype) == 2 ? 4 : 5;
        for (size_t k = 0; k < sizeof(rows) / sizeof(*rows); k++) {
            tl_tensor *const dst = tl_tensor_classify(src, NULL, rows[k].classes);
            ck_assert_int_eq(dst->dtype, TL_BOOL);
            ck_assert_mem_eq(dst->data, rows[k].expected, (size_t)n);
            tl_tensor_free_data_too(dst);
        }
        tl_tensor_free_data_too(src);
    }
    tl_tensor_free(numbers);
}
END_TEST

START_TEST(rejects_integers)
{
    tl_tensor *const src = tl_tensor_zeros(1, (int[]){2}, TL_INT32);
    ck_assert_ptr_null(tl_tensor_classify(src, NULL, TL_CLASS_NAN));
    ck_assert_str_eq(tl_last_error(), "'src' has dtype TL_INT32, expected a float");
    tl_tensor_free_data_too(src);
}
END_TEST

#define VARIANT(arg, name, dtype, isa) {#name, name, dtype, TL_BOOL, isa},
static const tl_map_variant variants[] = {TL_CLASSIFY_KERNELS(VARIANT, )};

static const int some_classes = TL_CLASS_NAN | TL_CLASS_NEGATIVE_INF;
TL_MAP_TESTS(variants, &some_classes)

LN_TEST_MAIN("classify", each_class_is_found, rejects_integers, every_kernel_equals_plain_c,
             threads_do_not_change_the_result)
