// SPDX-License-Identifier: Apache-2.0
// Tests of the binary operations, and of broadcasting.

#include <math.h>

#include "kernel/binary/binary.h"
#include "kernel/tl_broadcast_test.h"
#include "tensorlight/tensorlight.h"

// a op b in `dtype`, with numbers that it holds. Fails the test when the operation does.
static double result_of(tl_binary_op op, tl_dtype dtype, double a, double b)
{
    tl_tensor *const t1 = tl_tensor_zeros(0, NULL, dtype);
    tl_tensor *const t2 = tl_tensor_zeros(0, NULL, dtype);
    tl_convert(t1->data, dtype, &a, TL_DOUBLE);
    tl_convert(t2->data, dtype, &b, TL_DOUBLE);
    ck_assert_ptr_eq(tl_tensor_binary(t1, t2, t1, op), t1);
    double result;
    tl_convert(&result, TL_DOUBLE, t1->data, dtype);
    tl_tensor_free_data_too(t1);
    tl_tensor_free_data_too(t2);
    return result;
}

START_TEST(results_are_those_of_the_definitions)
{
    static const struct {
        tl_binary_op op;
        tl_dtype dtype;
        double a, b, expected;
    } rows[] = {
        {TL_BINARY_ADD, TL_DOUBLE, 0.5, 0.25, 0.75},
        {TL_BINARY_ADD, TL_INT32, INT32_MAX, 1, INT32_MIN},
        {TL_BINARY_ADD, TL_UINT8, 200, 100, 44},
        {TL_BINARY_SUB, TL_FLOAT16, 3, 5, -2},
        {TL_BINARY_SUB, TL_UINT16, 0, 1, 65535},
        {TL_BINARY_MUL, TL_BFLOAT16, 1.5, -2, -3},
        {TL_BINARY_MUL, TL_INT8, 100, 3, 44},
        {TL_BINARY_MUL, TL_UINT16, 65535, 65535, 1},
        {TL_BINARY_DIV, TL_FLOAT, 1, -4, -0.25},
        {TL_BINARY_DIV, TL_INT32, -7, 2, -3},
        {TL_BINARY_DIV, TL_INT8, -128, -1, -128},
        {TL_BINARY_DIV, TL_INT32, INT32_MIN, -1, INT32_MIN},
        {TL_BINARY_DIV, TL_INT64, -0x1p63, -1, -0x1p63},
        {TL_BINARY_DIV, TL_UINT8, 200, 255, 0},
        {TL_BINARY_MOD, TL_FLOAT, -7, 3, 2},
        {TL_BINARY_MOD, TL_FLOAT, 7, -3, -2},
        {TL_BINARY_MOD, TL_INT16, -7, 3, 2},
        {TL_BINARY_MOD, TL_INT16, 7, -3, -2},
        {TL_BINARY_MOD, TL_INT16, -6, 3, 0},
        {TL_BINARY_MOD, TL_INT32, INT32_MIN, -1, 0},
        {TL_BINARY_MOD, TL_UINT64, 7, 3, 1},
        {TL_BINARY_FMOD, TL_DOUBLE, -7.5, 3, -1.5},
        {TL_BINARY_FMOD, TL_INT64, -7, 3, -1},
        {TL_BINARY_FMOD, TL_INT64, -0x1p63, -1, 0},
        {TL_BINARY_POW, TL_FLOAT, 2, -1, 0.5},
        {TL_BINARY_POW, TL_FLOAT16, 4, 0.5, 2},
        {TL_BINARY_POW, TL_INT32, 3, 4, 81},
        {TL_BINARY_POW, TL_INT32, 2, 32, 0},
        {TL_BINARY_POW, TL_INT32, 2, -1, 0},
        {TL_BINARY_POW, TL_INT32, -1, -3, -1},
        {TL_BINARY_POW, TL_INT8, -1, -2, 1},
        {TL_BINARY_POW, TL_INT8, -2, 7, -128},
        {TL_BINARY_POW, TL_INT16, 0, 0, 1},
        {TL_BINARY_POW, TL_UINT8, 3, 6, 217},
        {TL_BINARY_MAX, TL_FLOAT, -1, 2, 2},
        {TL_BINARY_MIN, TL_FLOAT, -1, 2, -1},
        {TL_BINARY_MAX, TL_UINT32, 1, 4000000000, 4000000000},
        {TL_BINARY_MIN, TL_INT64, -5, 3, -5},
        {TL_BINARY_PRELU, TL_FLOAT, -3, 0.5, -1.5},
        {TL_BINARY_PRELU, TL_FLOAT, 3, 0.5, 3},
        {TL_BINARY_PRELU, TL_INT32, -3, 2, -6},
        {TL_BINARY_PRELU, TL_UINT64, 3, 2, 3},
        {TL_BINARY_AND, TL_UINT8, 12, 10, 8},
        {TL_BINARY_OR, TL_INT32, 12, 10, 14},
        {TL_BINARY_XOR, TL_INT64, 12, -1, -13},
        {TL_BINARY_SHIFT_LEFT, TL_UINT8, 129, 1, 2},
        {TL_BINARY_SHIFT_LEFT, TL_UINT32, 1, 31, 0x1p31},
        {TL_BINARY_SHIFT_LEFT, TL_UINT32, 1, 32, 0},
        {TL_BINARY_SHIFT_LEFT, TL_UINT64, 1, 64, 0},
        {TL_BINARY_SHIFT_LEFT, TL_INT32, 1, -1, 0},
        {TL_BINARY_SHIFT_RIGHT, TL_UINT16, 32768, 15, 1},
        {TL_BINARY_SHIFT_RIGHT, TL_UINT16, 32768, 16, 0},
        {TL_BINARY_SHIFT_RIGHT, TL_INT8, -128, 3, -16},
        {TL_BINARY_SHIFT_RIGHT, TL_INT8, -128, 8, -1},
        {TL_BINARY_PICK_MAX, TL_FLOAT, -1, 2, 2},
        {TL_BINARY_PICK_MAX, TL_FLOAT16, NAN, 2, 2},
        {TL_BINARY_PICK_MIN, TL_DOUBLE, NAN, 2, 2},
        {TL_BINARY_POW_DOUBLE, TL_INT32, 10, 20, INT32_MAX},
        {TL_BINARY_POW_DOUBLE, TL_INT8, 0, -1, 127},
    };
    unsigned char seen[TL_BINARY_OP_SIZE] = {0};
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        const double got = result_of(rows[i].op, rows[i].dtype, rows[i].a, rows[i].b);
        ck_assert_msg(got == rows[i].expected, "%s of %g and %g in %s: %g, expected %g",
                      tl_binary_op_name(rows[i].op), rows[i].a, rows[i].b,
                      tl_dtype_name(rows[i].dtype), got, rows[i].expected);
        seen[rows[i].op] = 1;
    }
    for (int op = 0; op < TL_BINARY_OP_SIZE; op++)
        ck_assert_msg(seen[op], "%s is not tested", tl_binary_op_name((tl_binary_op)op));
}
END_TEST

START_TEST(bool_is_logic)
{
    static const struct {
        tl_binary_op op;
        double expected[4]; // for 0 0, 0 1, 1 0, 1 1
    } rows[] = {
        {TL_BINARY_AND, {0, 0, 0, 1}}, {TL_BINARY_OR, {0, 1, 1, 1}}, {TL_BINARY_XOR, {0, 1, 1, 0}}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        for (int k = 0; k < 4; k++)
            ck_assert_double_eq(result_of(rows[i].op, TL_BOOL, k / 2, k % 2), rows[i].expected[k]);
    ck_assert(!tl_binary_op_takes(TL_BINARY_ADD, TL_BOOL));
}
END_TEST

START_TEST(max_min_and_arithmetic_propagate_nan)
{
    for (int i = 0; i < TL_BINARY_OP_SIZE; i++) {
        const tl_binary_op op = (tl_binary_op)i;
        if (!tl_binary_op_takes(op, TL_FLOAT) || op == TL_BINARY_PICK_MAX ||
            op == TL_BINARY_PICK_MIN)
            continue;
        ck_assert_msg(isnan(result_of(op, TL_FLOAT, NAN, 2)), "%s", tl_binary_op_name(op));
        // Of a positive a, the slope does not matter.
        if (op != TL_BINARY_PRELU)
            ck_assert_msg(isnan(result_of(op, TL_BFLOAT16, 2, NAN)), "%s", tl_binary_op_name(op));
    }
}
END_TEST

START_TEST(an_integer_division_by_zero_is_an_error)
{
    static const tl_binary_op ops[] = {TL_BINARY_DIV, TL_BINARY_MOD, TL_BINARY_FMOD};
    for (int i = 0; i < TL_DTYPE_COMPUTED_SIZE; i++) {
        const tl_dtype dtype = (tl_dtype)i;
        if (!tl_binary_op_takes(TL_BINARY_DIV, dtype))
            continue;
        tl_tensor *const zero = tl_tensor_zeros(1, (int[]){1}, dtype);
        tl_tensor *const some = tl_tensor_arange(1, 8, 1, dtype);
        for (size_t k = 0; k < sizeof(ops) / sizeof(*ops); k++) {
            tl_tensor *const result = tl_tensor_binary(some, zero, NULL, ops[k]);
            ck_assert_int_eq(result != NULL, tl_dtype_is_float(dtype));
            tl_tensor_free_data_too(result);
        }
        tl_tensor_free_data_too(zero);
        tl_tensor_free_data_too(some);
    }
    int8_t zero = 0, minus_1 = -1;
    tl_tensor *const t1 = tl_tensor_create(&zero, 0, NULL, TL_INT8);
    tl_tensor *const t2 = tl_tensor_create(&minus_1, 0, NULL, TL_INT8);
    ck_assert_ptr_null(tl_tensor_binary(t1, t2, NULL, TL_BINARY_POW));
    ck_assert_str_eq(tl_last_error(), "division by zero in TL_INT8");
    tl_tensor_free(t1);
    tl_tensor_free(t2);
}
END_TEST

// Broadcasting

// The element at `coords` of the result by NumPy's broadcasting.
static int32_t element_at(const tl_tensor *t, const int *coords, int ndim)
{
    int index = 0;
    for (int i = 0; i < t->ndim; i++)
        index = index * t->dims[i] + (t->dims[i] == 1 ? 0 : coords[ndim - t->ndim + i]);
    return ((int32_t *)t->data)[index];
}

static void check_broadcast(const tl_exec *exec, const tl_tensor *src1, const tl_tensor *src2,
                            tl_tensor *dst)
{
    memset(dst->data, 0xaa, tl_tensor_size(dst));
    ck_assert_int_eq(tl_exec_binary(exec, src1, src2, dst, TL_BINARY_SUB), 0);
    for (int i = 0; i < dst->len; i++) {
        int coords[TL_MAXDIM];
        tl_tensor_coords(dst, i, coords);
        const int32_t expected =
            element_at(src1, coords, dst->ndim) - element_at(src2, coords, dst->ndim);
        ck_assert_int_eq(((int32_t *)dst->data)[i], expected);
    }
}

// A tensor of distinct numbers.
static tl_tensor *numbers(int ndim, const int *dims, int first)
{
    tl_tensor *const t = tl_tensor_zeros(ndim, dims, TL_INT32);
    for (int i = 0; i < t->len; i++)
        ((int32_t *)t->data)[i] = first + 7 * i;
    return t;
}

// Any shape of up to `ndim` axes that can be broadcast to `dims`.
static tl_tensor *random_part(const int *dims, int ndim, uint64_t *seed, int first)
{
    const int n = (int)(tl_random_uniform(seed) * (ndim + 1));
    int part[TL_MAXDIM];
    for (int i = 0; i < n; i++)
        part[i] = tl_random_uniform(seed) < 0.4 ? 1 : dims[ndim - n + i];
    return numbers(n, part, first);
}

START_TEST(every_pattern_of_shapes_is_broadcast)
{
    tl_pool *const pool = tl_pool_create(3);
    const tl_exec threads = {.pool = pool, .isa = tl_isa_best()};
    uint64_t seed = 20241121;
    for (int turn = 0; turn < 3000; turn++) {
        int dims[TL_MAXDIM];
        const int ndim = (int)(tl_random_uniform(&seed) * (TL_MAXDIM + 1));
        for (int i = 0; i < ndim; i++)
            dims[i] = (int)(tl_random_uniform(&seed) * 4) + (turn % 8 != 0);
        tl_tensor *const src1 = random_part(dims, ndim, &seed, 1000000);
        tl_tensor *const src2 = random_part(dims, ndim, &seed, 0);
        tl_tensor *const dst = tl_tensor_binary(src1, src2, NULL, TL_BINARY_SUB);
        ck_assert_ptr_nonnull(dst);
        check_broadcast(NULL, src1, src2, dst);
        check_broadcast(&threads, src1, src2, dst);
        tl_tensor_free_data_too(src1);
        tl_tensor_free_data_too(src2);
        tl_tensor_free_data_too(dst);
    }
    tl_pool_free(pool);
}
END_TEST

START_TEST(threads_begin_inside_of_rows)
{
    tl_pool *const pool = tl_pool_create(3);
    const tl_exec exec = {.pool = pool, .isa = tl_isa_best()};
    static const int shapes[][2][3] = {
        {{300, 1, 1001}, {1, 1, 1001}}, {{300, 1, 1001}, {300, 1, 1}},
        {{3, 500, 201}, {3, 1, 201}},   {{7, 5003, 16}, {7, 1, 16}}, // short rows are joined
        {{1, 40001, 3}, {1, 1, 3}},     {{5, 3001, 64}, {1, 1, 64}}};
    for (size_t i = 0; i < sizeof(shapes) / sizeof(*shapes); i++) {
        tl_tensor *const src1 = numbers(3, shapes[i][0], 5);
        tl_tensor *const src2 = numbers(3, shapes[i][1], 9);
        tl_tensor *const dst = tl_tensor_zeros(3, shapes[i][0], TL_INT32);
        check_broadcast(&exec, src1, src2, dst);
        check_broadcast(&exec, src2, src1, dst);
        tl_tensor_free_data_too(src1);
        tl_tensor_free_data_too(src2);
        tl_tensor_free_data_too(dst);
    }
    tl_pool_free(pool);
}
END_TEST

START_TEST(a_source_of_the_result_s_shape_may_be_overwritten)
{
    tl_tensor *const big = numbers(2, (int[]){2, 3}, 0);
    tl_tensor *const row = numbers(1, (int[]){3}, 100);
    ck_assert_ptr_eq(tl_tensor_binary(row, big, big, TL_BINARY_SUB), big);
    const int32_t expected[] = {100, 100, 100, 79, 79, 79};
    ck_assert_mem_eq(big->data, expected, sizeof(expected));
    tl_tensor *const over_row = tl_tensor_create(row->data, 2, (int[]){2, 3}, TL_INT32);
    ck_assert_ptr_null(tl_tensor_binary(row, big, over_row, TL_BINARY_SUB));
    ck_assert_str_eq(tl_last_error(), "'dst' overlaps a source, expected separate data");
    tl_tensor_free(over_row);
    tl_tensor_free_data_too(big);
    tl_tensor_free_data_too(row);
}
END_TEST

START_TEST(binary_rejects_bad_shapes_and_dtypes)
{
    tl_tensor *const a = tl_tensor_zeros(2, (int[]){2, 3}, TL_FLOAT);
    tl_tensor *const b = tl_tensor_zeros(1, (int[]){2}, TL_FLOAT);
    tl_tensor *const c = tl_tensor_zeros(1, (int[]){3}, TL_INT32);
    ck_assert_ptr_null(tl_tensor_binary(a, b, NULL, TL_BINARY_ADD));
    ck_assert_str_eq(tl_last_error(), "shapes [2, 3] and [2], expected ones that broadcast to one");
    ck_assert_ptr_null(tl_tensor_binary(a, c, NULL, TL_BINARY_ADD));
    ck_assert_str_eq(tl_last_error(), "dtypes TL_FLOAT and TL_INT32, expected the same");
    ck_assert_ptr_null(tl_tensor_binary(a, a, NULL, TL_BINARY_AND));
    ck_assert_str_eq(tl_last_error(),
                     "'src1' has dtype TL_FLOAT, which TL_BINARY_AND does not support");
    ck_assert_ptr_null(tl_tensor_binary(a, a, NULL, TL_BINARY_OP_SIZE));
    ck_assert_ptr_null(tl_tensor_binary(a, NULL, NULL, TL_BINARY_ADD));
    ck_assert_ptr_null(tl_tensor_binary(a, a, b, TL_BINARY_ADD));
    tl_tensor_free_data_too(a);
    tl_tensor_free_data_too(b);
    tl_tensor_free_data_too(c);
}
END_TEST

START_TEST(names_and_values_correspond)
{
    for (int i = 0; i < TL_BINARY_OP_SIZE; i++)
        ck_assert_int_eq(tl_binary_op_from_str(tl_binary_op_name((tl_binary_op)i)), i);
    ck_assert_str_eq(tl_binary_op_name(TL_BINARY_SHIFT_LEFT), "TL_BINARY_SHIFT_LEFT");
    ck_assert_int_eq(tl_binary_op_from_str("TL_ADD"), TL_BINARY_OP_INVALID);
}
END_TEST

// The kernels

#define VARIANT(arg, function, dtype, isa) {#function, function, 2, {dtype, dtype}, dtype, isa},
#define VARIANTS(arg, NAME, name, types, cost, sets, ...)   \
    static const tl_broadcast_variant name##_variants[] = { \
        TL_BINARY_KERNELS(VARIANT, , name, types, sets)};
TL_BINARY_OPS(VARIANTS, )

#define CHECK(arg, NAME, name, ...)              \
    tl_broadcast_check_variants(name##_variants, \
                                sizeof(name##_variants) / sizeof(*name##_variants));
START_TEST(every_kernel_equals_element_by_element){TL_BINARY_OPS(CHECK, )} END_TEST

    // ---- the operations of the catalogue ----

    // a op b in `dtype`, with numbers that it holds. NaN also for a failure.
    static double elew_of(tl_elew_op op, tl_dtype dtype, double a, double b)
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
        const double got = elew_of(rows[i].op, rows[i].dtype, rows[i].a, rows[i].b);
        ck_assert_msg(got == rows[i].expected, "%s %g and %g in %s: %g, expected %g",
                      tl_elew_op_name(rows[i].op), rows[i].a, rows[i].b,
                      tl_dtype_name(rows[i].dtype), got, rows[i].expected);
    }
    ck_assert(isnan(elew_of(TL_MAX, TL_FLOAT, 2, NAN)));
    ck_assert(isnan(elew_of(TL_MIN, TL_FLOAT, 2, NAN)));
}
END_TEST

START_TEST(elew_of_bool_is_logic)
{
    static const struct {
        tl_elew_op op;
        double expected[4]; // for 0 0, 0 1, 1 0, 1 1
    } rows[] = {{TL_MUL, {0, 0, 0, 1}}, {TL_SUM, {0, 1, 1, 1}}, {TL_SUB, {0, 1, 1, 0}},
                {TL_MAX, {0, 1, 1, 1}}, {TL_MIN, {0, 0, 0, 1}}, {TL_POW, {1, 0, 1, 1}}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        for (int k = 0; k < 4; k++) {
            const int a = k / 2, b = k % 2;
            ck_assert_double_eq(elew_of(rows[i].op, TL_BOOL, a, b), rows[i].expected[k]);
        }
    ck_assert_double_eq(elew_of(TL_DIV, TL_BOOL, 0, 1), 0);
    ck_assert_double_eq(elew_of(TL_DIV, TL_BOOL, 1, 1), 1);
}
END_TEST

START_TEST(division_by_zero_fails_for_all_but_floats)
{
    for (int dtype = 0; dtype < TL_DTYPE_COMPUTED_SIZE; dtype++) {
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

START_TEST(elew_rejects_bad_shapes_and_dtypes)
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

START_TEST(threads_do_not_change_elew)
{
    enum { LEN = 200003 };
    tl_pool *const pool = tl_pool_create(3);
    const tl_exec exec = {.pool = pool, .isa = tl_isa_best()};
    for (int i = 0; i < TL_DTYPE_COMPUTED_SIZE; i++) {
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

LN_TEST_MAIN("binary", results_are_those_of_the_definitions, bool_is_logic,
             max_min_and_arithmetic_propagate_nan, an_integer_division_by_zero_is_an_error,
             every_pattern_of_shapes_is_broadcast, threads_begin_inside_of_rows,
             a_source_of_the_result_s_shape_may_be_overwritten,
             binary_rejects_bad_shapes_and_dtypes, names_and_values_correspond,
             every_kernel_equals_element_by_element, results_are_those_of_the_catalogue,
             elew_of_bool_is_logic, division_by_zero_fails_for_all_but_floats, tensors_are_combined,
             elew_rejects_bad_shapes_and_dtypes, threads_do_not_change_elew,
             a_division_by_zero_in_any_thread_is_found)
