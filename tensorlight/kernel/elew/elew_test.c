// SPDX-License-Identifier: Apache-2.0
// Tests of the binary operations.

#include <math.h>

#include "kernel/elew/elew.h"
#include "kernel/tl_map_test.h"
#include "tensorlight/tensorlight.h"

/** a op b in `dtype`, with numbers that it holds. NaN also for a failure. */
static double result_of(tl_elew_op op, tl_dtype dtype, double a, double b)
{
    uint64_t p1, p2, ret;
    tl_convert(&p1, dtype, &a, TL_DOUBLE);
    tl_convert(&p2, dtype, &b, TL_DOUBLE);
    if (tl_elew(&p1, &p2, &ret, op, dtype) < 0)
        return NAN;
    double result;
    tl_convert(&result, TL_DOUBLE, &ret, dtype);
    return result;
}

START_TEST(results_are_those_of_the_catalogue)
{
    static const struct {
        tl_elew_op op;
        tl_dtype dtype;
        double a, b, expected;
    } rows[] = {
        {TL_MUL, TL_FLOAT, 1.5, -2, -3},
        {TL_DIV, TL_FLOAT, 1, -4, -0.25},
        {TL_DIV, TL_FLOAT, 1, 0, INFINITY},
        {TL_SUM, TL_DOUBLE, 0.5, 0.25, 0.75},
        {TL_SUB, TL_FLOAT16, 3, 5, -2},
        {TL_POW, TL_BFLOAT16, 2, -1, 0.5},
        {TL_POW, TL_FLOAT, 2, 10, 1024},
        {TL_MAX, TL_FLOAT, -1, 2, 2},
        {TL_MIN, TL_FLOAT, -1, 2, -1},
        {TL_MAX, TL_FLOAT, NAN, 2, 2},
        {TL_MIN, TL_FLOAT, NAN, 2, 2},
        {TL_SUM, TL_FLOAT16, 65504, 65504, INFINITY},
        {TL_MUL, TL_INT8, 100, 3, 44},
        {TL_MUL, TL_INT32, 65536, 32768, INT32_MIN},
        {TL_MUL, TL_UINT16, 65535, 65535, 1},
        {TL_DIV, TL_INT16, -7, 2, -3},
        {TL_DIV, TL_INT8, -128, -1, -128},
        {TL_DIV, TL_INT32, INT32_MIN, -1, INT32_MIN},
        {TL_DIV, TL_INT64, (double)INT64_MIN, -1, (double)INT64_MIN},
        {TL_DIV, TL_UINT8, 200, 255, 0},
        {TL_SUM, TL_UINT8, 200, 100, 44},
        {TL_SUM, TL_INT32, INT32_MAX, 1, INT32_MIN},
        {TL_SUB, TL_UINT8, 10, 20, 246},
        {TL_SUB, TL_INT64, (double)INT64_MIN, 0, (double)INT64_MIN},
        {TL_POW, TL_INT32, 10, 20, INT32_MAX},
        {TL_POW, TL_INT32, 2, -1, 0},
        {TL_POW, TL_INT8, -2, 7, -128},
        {TL_POW, TL_UINT64, 2, 40, 0x1p40},
        {TL_POW, TL_INT16, 0, 0, 1},
        {TL_MAX, TL_UINT32, 1, 4000000000, 4000000000},
        {TL_MIN, TL_INT64, -5, 3, -5},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        const double got = result_of(rows[i].op, rows[i].dtype, rows[i].a, rows[i].b);
        ck_assert_msg(got == rows[i].expected, "%s %g and %g in %s: %g, expected %g",
                      tl_elew_op_name(rows[i].op), rows[i].a, rows[i].b,
                      tl_dtype_name(rows[i].dtype), got, rows[i].expected);
    }
    ck_assert(isnan(result_of(TL_MAX, TL_FLOAT, 2, NAN)));
    ck_assert(isnan(result_of(TL_MIN, TL_FLOAT, 2, NAN)));
}
END_TEST

START_TEST(bool_is_logic)
{
    static const struct {
        tl_elew_op op;
        double expected[4]; /* for 0 0, 0 1, 1 0, 1 1 */
    } rows[] = {{TL_MUL, {0, 0, 0, 1}}, {TL_SUM, {0, 1, 1, 1}}, {TL_SUB, {0, 1, 1, 0}},
                {TL_MAX, {0, 1, 1, 1}}, {TL_MIN, {0, 0, 0, 1}}, {TL_POW, {1, 0, 1, 1}}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        for (int k = 0; k < 4; k++) {
            const int a = k / 2, b = k % 2;
            ck_assert_double_eq(result_of(rows[i].op, TL_BOOL, a, b), rows[i].expected[k]);
        }
    ck_assert_double_eq(result_of(TL_DIV, TL_BOOL, 0, 1), 0);
    ck_assert_double_eq(result_of(TL_DIV, TL_BOOL, 1, 1), 1);
}
END_TEST

START_TEST(division_by_zero_fails_for_all_but_floats)
{
    for (int dtype = 0; dtype < TL_DTYPE_SIZE; dtype++) {
        const uint64_t one = 1, zero = 0;
        uint64_t ret;
        const int status = tl_elew_getfunc((tl_dtype)dtype)(&one, &zero, &ret, TL_DIV);
        ck_assert_int_eq(status, tl_dtype_is_float((tl_dtype)dtype) ? 0 : -1);
    }
    ck_assert_int_eq(tl_elew(NULL, NULL, NULL, TL_ELEW_OP_SIZE, TL_FLOAT), -1);
}
END_TEST

START_TEST(tensors_are_combined)
{
    tl_tensor *const a = tl_tensor_arange(1, 5, 1, TL_INT16);
    tl_tensor *const b = tl_tensor_arange(4, 8, 1, TL_INT16);
    tl_tensor *const c = tl_tensor_elew(a, b, NULL, TL_MUL);
    const int16_t products[] = {4, 10, 18, 28};
    ck_assert_mem_eq(c->data, products, sizeof(products));
    ck_assert_ptr_eq(tl_tensor_elew(b, a, a, TL_SUB), a);
    const int16_t differences[] = {3, 3, 3, 3};
    ck_assert_mem_eq(a->data, differences, sizeof(differences));
    ck_assert_ptr_eq(tl_tensor_elew_param(b, -2.9, b, TL_SUM), b);
    const int16_t sums[] = {2, 3, 4, 5};
    ck_assert_mem_eq(b->data, sums, sizeof(sums));
    tl_tensor_free_data_too(a);
    tl_tensor_free_data_too(b);
    tl_tensor_free_data_too(c);
}
END_TEST

START_TEST(what_does_not_fit_is_refused)
{
    tl_tensor *const a = tl_tensor_zeros(2, (int[]){2, 3}, TL_INT32);
    tl_tensor *const b = tl_tensor_zeros(2, (int[]){3, 2}, TL_INT32);
    tl_tensor *const c = tl_tensor_zeros(2, (int[]){2, 3}, TL_FLOAT);
    ck_assert_ptr_null(tl_tensor_elew(a, b, NULL, TL_SUM));
    ck_assert_str_eq(tl_last_error(), "shapes [2, 3] and [3, 2], expected the same");
    ck_assert_ptr_null(tl_tensor_elew(a, c, NULL, TL_SUM));
    ck_assert_str_eq(tl_last_error(), "dtypes TL_INT32 and TL_FLOAT, expected the same");
    ck_assert_ptr_null(tl_tensor_elew(a, a, NULL, TL_ELEW_OP_INVALID));
    ck_assert_str_eq(tl_last_error(), "elew op -1, expected 0 to 6");
    ck_assert_ptr_null(tl_tensor_elew(a, a, NULL, TL_DIV));
    ck_assert_str_eq(tl_last_error(), "division by zero in TL_INT32");
    ck_assert_ptr_null(tl_tensor_elew_param(a, 0.5, NULL, TL_DIV));
    ck_assert_ptr_null(tl_tensor_elew(NULL, a, NULL, TL_DIV));
    tl_tensor_free_data_too(a);
    tl_tensor_free_data_too(b);
    tl_tensor_free_data_too(c);
}
END_TEST

/* ---- the kernels ---- */

typedef struct variant {
    const char *name;
    tl_elew_kernel *func;
    tl_dtype dtype;
    tl_isa isa;
} variant;

#define VARIANT(arg, name, dtype, isa) {#name, name, dtype, isa},
static const variant variants[] = {TL_ELEW_KERNELS(VARIANT, )};
enum { VARIANTS = sizeof(variants) / sizeof(*variants) };

/** The plain C kernel for a type. */
static tl_elew_kernel *plain(tl_dtype dtype)
{
    int i = 0;
    while (variants[i].dtype != dtype || variants[i].isa != TL_ISA_C)
        i++;
    return variants[i].func;
}

/** What plain C gives for one element after the other; -1 as the kernel. */
static int expect(tl_elew_op op, const void *src1, const void *src2, void *dst, size_t len,
                  tl_dtype dtype)
{
    int status = 0;
    for (size_t i = 0; i < len; i++) {
        const ptrdiff_t k = (ptrdiff_t)i;
        if (plain(dtype)(op, tl_pointer_add(src1, k, dtype), tl_pointer_add(src2, k, dtype),
                         tl_pointer_add(dst, k, dtype), 1) < 0)
            status = -1;
    }
    return status;
}

static void check_kernel(const variant *v, tl_elew_op op, size_t len)
{
    const size_t size = len * tl_size_of(v->dtype);
    ln_guard guards[3];
    void *const src1 = ln_guard_alloc(&guards[0], size);
    void *const src2 = ln_guard_alloc(&guards[1], size);
    void *const dst = ln_guard_alloc(&guards[2], size);
    void *const expected = tl_alloc(size);
    tl_map_fill(src1, size, len);
    tl_map_fill(src2, size, len + 1);
    const int status = expect(op, src1, src2, expected, len, v->dtype);
    ck_assert_int_eq(v->func(op, src1, src2, dst, len), status);
    if (status == 0) {
        ck_assert_msg(tl_map_is_same(dst, expected, len, v->dtype), "%s %s on %zu elements",
                      v->name, tl_elew_op_name(op), len);
        v->func(op, src1, src2, src1, len);
        ck_assert_msg(tl_map_is_same(src1, expected, len, v->dtype),
                      "%s %s in place on %zu elements", v->name, tl_elew_op_name(op), len);
    }
    for (int i = 0; i < 3; i++) {
        ck_assert(ln_guard_is_intact(&guards[i]));
        ln_guard_free(&guards[i]);
    }
    tl_free(expected);
}

START_TEST(every_kernel_equals_element_by_element)
{
    static const size_t lens[] = {0, 1, 3, 7, 8, 9, 15, 16, 17, 33, 65, 257};
    for (int i = 0; i < VARIANTS; i++) {
        if (!tl_isa_is_usable(variants[i].isa)) {
            ln_check_skip(variants[i].name);
            continue;
        }
        for (int op = 0; op < TL_ELEW_OP_SIZE; op++)
            for (size_t k = 0; k < sizeof(lens) / sizeof(*lens); k++)
                check_kernel(&variants[i], (tl_elew_op)op, lens[k]);
    }
}
END_TEST

START_TEST(threads_do_not_change_the_result)
{
    enum { LEN = 200003 };
    tl_pool *const pool = tl_pool_create(3);
    const tl_exec exec = {.pool = pool, .isa = tl_isa_best()};
    for (int i = 0; i < TL_DTYPE_SIZE; i++) {
        const tl_dtype dtype = (tl_dtype)i;
        tl_tensor *const src = tl_tensor_zeros(1, (int[]){LEN}, dtype);
        tl_tensor *const one = tl_tensor_zeros(1, (int[]){LEN}, dtype);
        tl_tensor *const three = tl_tensor_zeros(1, (int[]){LEN}, dtype);
        tl_map_fill(src->data, tl_tensor_size(src), 3);
        ck_assert_int_eq(tl_exec_elew_param(NULL, src, 3, one, TL_MUL), 0);
        ck_assert_int_eq(tl_exec_elew_param(&exec, src, 3, three, TL_MUL), 0);
        ck_assert_mem_eq(one->data, three->data, tl_tensor_size(one));
        ck_assert_int_eq(tl_exec_elew(NULL, src, one, one, TL_SUB), 0);
        ck_assert_int_eq(tl_exec_elew(&exec, src, three, three, TL_SUB), 0);
        ck_assert_mem_eq(one->data, three->data, tl_tensor_size(one));
        tl_tensor_free_data_too(src);
        tl_tensor_free_data_too(one);
        tl_tensor_free_data_too(three);
    }
    tl_pool_free(pool);
}
END_TEST

START_TEST(a_division_by_zero_in_any_thread_is_found)
{
    enum { LEN = 200003 };
    tl_pool *const pool = tl_pool_create(3);
    const tl_exec exec = {.pool = pool, .isa = tl_isa_best()};
    tl_tensor *const src = tl_tensor_arange(1, LEN + 1, 1, TL_INT32);
    ck_assert_int_eq(tl_exec_elew(&exec, src, src, src, TL_DIV), 0);
    ((int32_t *)src->data)[LEN - 1] = 0;
    ck_assert_int_eq(tl_exec_elew(&exec, src, src, src, TL_DIV), -1);
    ck_assert_str_eq(tl_last_error(), "division by zero in TL_INT32");
    tl_tensor_free_data_too(src);
    tl_pool_free(pool);
}
END_TEST

LN_TEST_MAIN("elew", results_are_those_of_the_catalogue, bool_is_logic,
             division_by_zero_fails_for_all_but_floats, tensors_are_combined,
             what_does_not_fit_is_refused, every_kernel_equals_element_by_element,
             threads_do_not_change_the_result, a_division_by_zero_in_any_thread_is_found)
