// SPDX-License-Identifier: Apache-2.0
// Tests of tensors filled with a value, a progression, or random numbers.

#include <math.h>

#include "kernel/tl_map_test.h"
#include "tensorlight/tensorlight.h"

START_TEST(a_progression_excludes_its_stop)
{
    tl_tensor *const t = tl_tensor_arange(0, 1, 0.3, TL_FLOAT);
    const float expected[] = {0, 0.3f, 0.6f, (float)(3 * 0.3)};
    ck_assert_int_eq(t->len, 4);
    ck_assert_mem_eq(t->data, expected, sizeof(expected));
    ck_assert_ptr_eq(t->owner, t);
    tl_tensor_free_data_too(t);
}
END_TEST

START_TEST(a_progression_is_converted)
{
    tl_tensor *const t = tl_tensor_arange(-2.7, 2.7, 0.9, TL_INT8);
    const int8_t expected[] = {-2, -1, 0, 0, 0, 1};
    ck_assert_int_eq(t->len, 6);
    ck_assert_mem_eq(t->data, expected, sizeof(expected));
    tl_tensor_free_data_too(t);
}
END_TEST

START_TEST(arange_rejects_impossible_progressions)
{
    static const struct {
        double start, stop, step;
        tl_dtype dtype;
        const char *reason;
    } rows[] = {
        {0, 1, 0, TL_FLOAT, "from 0 to 1 by 0, expected stop > start and step > 0"},
        {0, 1, -1, TL_FLOAT, "from 0 to 1 by -1, expected stop > start and step > 0"},
        {1, 1, 1, TL_FLOAT, "from 1 to 1 by 1, expected stop > start and step > 0"},
        {0, 300, 1, TL_UINT8, "'stop' is 300, expected a number in the range of TL_UINT8"},
        {-1, 3, 1, TL_UINT8, "'start' is -1, expected a number in the range of TL_UINT8"},
        {0, NAN, 1, TL_FLOAT, "'stop' is nan, expected a number in the range of TL_FLOAT"},
        {0, 3e9, 1, TL_DOUBLE,
         "from 0 to 3e+09 by 1 has 3e+09 elements, expected at most 2147483647"},
        {-1e308, 1e308, 1, TL_DOUBLE,
         "from -1e+308 to 1e+308 by 1 has inf elements, expected at most 2147483647"},
        {0, 1, 1, TL_DTYPE_SIZE, "dtype 24, expected 0 to 23"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        ck_assert_ptr_null(
            tl_tensor_arange(rows[i].start, rows[i].stop, rows[i].step, rows[i].dtype));
        ck_assert_str_eq(tl_last_error(), rows[i].reason);
    }
}
END_TEST

START_TEST(a_tensor_is_filled_with_a_progression_again)
{
    tl_tensor *const t = tl_tensor_zeros(1, (int[]){3}, TL_UINT16);
    ck_assert_int_eq(tl_tensor_rearange(t, 5, 8, 1), 0);
    const uint16_t expected[] = {5, 6, 7};
    ck_assert_mem_eq(t->data, expected, sizeof(expected));
    ck_assert_int_eq(tl_tensor_rearange(t, 5, 9, 1), -1);
    ck_assert_str_eq(tl_last_error(), "'src' has shape [3], expected [4]");
    ck_assert_int_eq(tl_tensor_rearange(NULL, 5, 8, 1), -1);
    tl_tensor_free_data_too(t);
}
END_TEST

START_TEST(every_element_gets_the_value_and_no_other_byte)
{
    static const int lens[] = {0, 1, 2, 3, 7, 64, 65, 997};
    for (int dtype = 0; dtype < TL_DTYPE_SIZE; dtype++) {
        for (size_t k = 0; k < sizeof(lens) / sizeof(*lens); k++) {
            const size_t size = tl_size_of((tl_dtype)dtype);
            ln_guard guard;
            void *const data = ln_guard_alloc(&guard, (size_t)lens[k] * size);
            tl_tensor *const t = tl_tensor_create(data, 1, &lens[k], (tl_dtype)dtype);
            const char value[] = "ABCDEFGH";
            ck_assert_int_eq(tl_exec_fill(NULL, t, value), 0);
            for (int i = 0; i < lens[k]; i++)
                ck_assert_mem_eq(tl_padd(data, i, size), value, size);
            ck_assert_int_eq(tl_exec_zeros(NULL, t), 0);
            for (size_t i = 0; i < tl_tensor_size(t); i++)
                ck_assert_int_eq(((char *)data)[i], 0);
            ck_assert(ln_guard_is_intact(&guard));
            tl_tensor_free(t);
            ln_guard_free(&guard);
        }
    }
}
END_TEST

START_TEST(threads_do_not_change_the_result)
{
    tl_pool *const pool = tl_pool_create(3);
    const tl_exec exec = {.pool = pool, .isa = tl_isa_best()};
    tl_tensor *const one = tl_tensor_zeros(1, (int[]){200003}, TL_FLOAT);
    tl_tensor *const three = tl_tensor_clone(one);
    ck_assert_int_eq(tl_exec_arange(NULL, one, -3, 0.1), 0);
    ck_assert_int_eq(tl_exec_arange(&exec, three, -3, 0.1), 0);
    ck_assert_mem_eq(one->data, three->data, tl_tensor_size(one));
    const float value = 2;
    ck_assert_int_eq(tl_exec_fill(NULL, one, &value), 0);
    ck_assert_int_eq(tl_exec_fill(&exec, three, &value), 0);
    ck_assert_mem_eq(one->data, three->data, tl_tensor_size(one));
    tl_tensor_free_data_too(one);
    tl_tensor_free_data_too(three);
    tl_pool_free(pool);
}
END_TEST

START_TEST(random_numbers_stay_in_range_and_repeat)
{
    tl_tensor *const a = tl_tensor_zeros(1, (int[]){1000}, TL_FLOAT);
    tl_tensor *const b = tl_tensor_zeros(1, (int[]){1000}, TL_FLOAT);
    uint64_t state = 42, again = 42;
    ck_assert_int_eq(tl_tensor_fill_uniform(a, -2, 3, &state), 0);
    ck_assert_int_eq(tl_tensor_fill_uniform(b, -2, 3, &again), 0);
    ck_assert_mem_eq(a->data, b->data, tl_tensor_size(a));
    double sum = 0;
    for (int i = 0; i < 1000; i++) {
        const float x = ((float *)a->data)[i];
        ck_assert(x >= -2 && x <= 3);
        sum += (double)x;
    }
    // The mean of 1000 has a standard deviation of 5 / sqrt(12000).
    ck_assert_double_eq_tol(sum / 1000, 0.5, 5 * 5 / sqrt(12000));
    ck_assert_int_eq(tl_tensor_fill_uniform(b, -2, 3, &again), 0);
    ck_assert_mem_ne(a->data, b->data, tl_tensor_size(a));
    ck_assert_int_eq(tl_tensor_fill_uniform(a, -1.7e308, 1.7e308, &state), 0);
    ck_assert_int_eq(tl_tensor_fill_uniform(a, 1, 0, &state), -1);
    ck_assert_int_eq(tl_tensor_fill_uniform(a, 0, NAN, &state), -1);
    ck_assert_int_eq(tl_tensor_fill_uniform(a, 0, 1, NULL), -1);
    ck_assert_str_eq(tl_last_error(), "'state' is NULL, expected a state");
    tl_tensor_free_data_too(a);
    tl_tensor_free_data_too(b);
}
END_TEST

START_TEST(rejects_impossible_distributions)
{
    uint64_t state = 0;
    tl_tensor *const t = tl_tensor_zeros(1, (int[]){3}, TL_FLOAT);
    ck_assert_int_eq(tl_distribution_check(TL_NORMAL, 0, -1), -1);
    ck_assert_str_eq(tl_last_error(), "normal distribution with mean 0 and deviation -1, expected "
                                      "finite numbers, the deviation at least 0");
    ck_assert_int_eq(tl_distribution_check(TL_NORMAL, INFINITY, 1), -1);
    ck_assert_int_eq(tl_tensor_fill_uniform(t, 1, 0, &state), -1);
    ck_assert_str_eq(tl_last_error(),
                     "uniform distribution from 1 to 0, expected finite min <= max");
    ck_assert_int_eq(tl_distribution_check(TL_DISTRIBUTION_SIZE, 0, 1), -1);
    ck_assert_str_eq(tl_last_error(), "distribution 2, expected 0 to 1");
    ck_assert_int_eq(tl_distribution_from_str("TL_NORMAL"), TL_NORMAL);
    ck_assert_str_eq(tl_distribution_name(TL_UNIFORM), "TL_UNIFORM");
    tl_tensor_free_data_too(t);
}
END_TEST

LN_TEST_MAIN("fill", a_progression_excludes_its_stop, a_progression_is_converted,
             arange_rejects_impossible_progressions, a_tensor_is_filled_with_a_progression_again,
             every_element_gets_the_value_and_no_other_byte, threads_do_not_change_the_result,
             random_numbers_stay_in_range_and_repeat, rejects_impossible_distributions)
