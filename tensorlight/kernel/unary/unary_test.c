// SPDX-License-Identifier: Apache-2.0
// Tests of unary element-wise functions.

#include <fenv.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "kernel/tl_map_test.h"
#include "kernel/unary/unary.h"
#include "kernel/unary/unary_accuracy_test.h"
#include "tensorlight/tensorlight.h"

// func(x) in `dtype`, with numbers that it holds.
static double result_of(tl_unary_func func, tl_dtype dtype, double x, double alpha, double beta)
{
    tl_tensor *const t = tl_tensor_zeros(0, NULL, dtype);
    tl_convert(t->data, dtype, &x, TL_DOUBLE);
    ck_assert_ptr_eq(tl_tensor_unary(t, t, func, alpha, beta), t);
    double result;
    tl_convert(&result, TL_DOUBLE, t->data, dtype);
    tl_tensor_free_data_too(t);
    return result;
}

// func(x) in TL_FLOAT, where x may be infinite or NaN.
static float float_result(tl_unary_func func, float x)
{
    tl_tensor *const t = tl_tensor_create(&x, 0, NULL, TL_FLOAT);
    ck_assert_ptr_eq(tl_tensor_unary(t, t, func, 1, 0.5), t);
    tl_tensor_free(t);
    return x;
}

// One unit in the last place of numbers from 1 to 2.
static const double units[TL_DTYPE_SIZE] = {
    [TL_DOUBLE] = 0x1p-52, [TL_FLOAT] = 0x1p-23, [TL_FLOAT16] = 0x1p-10, [TL_BFLOAT16] = 0x1p-7};

// Results to 16 digits, from the formulas in arbitrary precision (mpmath 1.3).
static const struct {
    tl_unary_func func;
    double x, alpha, beta, expected;
} float_rows[] = {
    {TL_UNARY_ABS, -1.5, 0, 0, 1.5},
    {TL_UNARY_NEG, 1.5, 0, 0, -1.5},
    {TL_UNARY_SIGN, -0.25, 0, 0, -1},
    {TL_UNARY_SIGN, 3, 0, 0, 1},
    {TL_UNARY_SIGN, 0, 0, 0, 0},
    {TL_UNARY_RECIPROCAL, -4, 0, 0, -0.25},
    {TL_UNARY_SQRT, 2.25, 0, 0, 1.5},
    {TL_UNARY_EXP, 1, 0, 0, 2.718281828459045},
    {TL_UNARY_LOG, 2, 0, 0, 0.6931471805599453},
    {TL_UNARY_CEIL, -1.5, 0, 0, -1},
    {TL_UNARY_FLOOR, -1.5, 0, 0, -2},
    {TL_UNARY_ROUND, 2.5, 0, 0, 2},
    {TL_UNARY_ROUND, 3.5, 0, 0, 4},
    {TL_UNARY_ROUND, -0.75, 0, 0, -1},
    {TL_UNARY_SIN, 1, 0, 0, 0.8414709848078965},
    {TL_UNARY_AFFINE, 1.5, 2, -0.5, 2.5},
    {TL_UNARY_COS, 1, 0, 0, 0.5403023058681398},
    {TL_UNARY_TAN, 1, 0, 0, 1.557407724654902},
    {TL_UNARY_ASIN, 0.5, 0, 0, 0.5235987755982989},
    {TL_UNARY_ACOS, 0.5, 0, 0, 1.047197551196598},
    {TL_UNARY_ATAN, 1, 0, 0, 0.7853981633974483},
    {TL_UNARY_SINH, 1, 0, 0, 1.175201193643801},
    {TL_UNARY_COSH, 1, 0, 0, 1.543080634815244},
    {TL_UNARY_TANH, 1, 0, 0, 0.7615941559557649},
    {TL_UNARY_SCALEDTANH, 0.5, 3, 2, 2.284782467867294},
    {TL_UNARY_ASINH, 1, 0, 0, 0.881373587019543},
    {TL_UNARY_ACOSH, 2, 0, 0, 1.316957896924817},
    {TL_UNARY_ATANH, 0.5, 0, 0, 0.5493061443340549},
    {TL_UNARY_ERF, 0.5, 0, 0, 0.5204998778130465},
    {TL_UNARY_SIGMOID, 1, 0, 0, 0.7310585786300049},
    {TL_UNARY_SIGMOID, -1, 0, 0, 0.2689414213699951},
    {TL_UNARY_HARDSIGMOID, 0.5, 0.25, 0.5, 0.625},
    {TL_UNARY_HARDSIGMOID, 3, 0.25, 0.5, 1},
    {TL_UNARY_HARDSIGMOID, -3, 0.25, 0.5, 0},
    {TL_UNARY_HARDSWISH, 1.5, 0.25, 0.5, 1.3125},
    {TL_UNARY_HARDSWISH, 3, 0.25, 0.5, 3},
    {TL_UNARY_HARDSWISH, -3, 0.25, 0.5, 0},
    {TL_UNARY_SOFTPLUS, 1, 0, 0, 1.313261687518223},
    {TL_UNARY_SOFTPLUS, -1, 0, 0, 0.3132616875182229},
    {TL_UNARY_SOFTSIGN, -3, 0, 0, -0.75},
    {TL_UNARY_MISH, 1, 0, 0, 0.8650983882673103},
    {TL_UNARY_SWISH, 1, 2, 0, 0.8807970779778824},
    {TL_UNARY_GELU, 1, 0, 0, 0.8413447460685429},
    {TL_UNARY_GELU, -1, 0, 0, -0.1586552539314571},
    {TL_UNARY_GELU_TANH, 1, 0, 0, 0.8411919906082768},
    {TL_UNARY_GELU_TANH, -1, 0, 0, -0.1588080093917233},
    {TL_UNARY_RELU, -1, 0, 0, 0},
    {TL_UNARY_RELU, 1.5, 0, 0, 1.5},
    {TL_UNARY_LRELU, -1, 0.25, 0, -0.25},
    {TL_UNARY_LRELU, 1.5, 0.25, 0, 1.5},
    {TL_UNARY_ELU, -1, 2, 0, -1.264241117657115},
    {TL_UNARY_ELU, 1.5, 2, 0, 1.5},
    {TL_UNARY_ELU, 0, INFINITY, 0, 0},
    {TL_UNARY_CELU, -1, 2, 0, -0.7869386805747332},
    {TL_UNARY_CELU, -1, -1, 0, -1.718281828459045},
    {TL_UNARY_CELU, -0.0078125, -1, 0, -0.00784309720644799},
    {TL_UNARY_CELU, -2, -0.5, 0, -26.79907501657212},
    {TL_UNARY_CELU, -0.99609375, -1, 0, -1.7076842519337898},
    {TL_UNARY_CELU, -1.00390625, -1, 0, -1.728920882726075},
    {TL_UNARY_CELU, 2, -0.5, 0, 2},
    {TL_UNARY_CELU, 0, 0, 0, 0},
    {TL_UNARY_SELU, -1, 2, 3, -3.792723352971346},
    {TL_UNARY_SELU, 1, 2, 3, 3},
    {TL_UNARY_THRESHOLDEDRELU, 2, 1.5, 0, 2},
    {TL_UNARY_THRESHOLDEDRELU, 1.5, 1.5, 0, 0},
    {TL_UNARY_SHRINK, 2, 1.5, 0.25, 1.75},
    {TL_UNARY_SHRINK, -2, 1.5, 0.25, -1.75},
    {TL_UNARY_SHRINK, 1.5, 1.5, 0.25, 0},
    {TL_UNARY_CLIP, -3, -2, 2, -2},
    {TL_UNARY_CLIP, 3, -2, 2, 2},
    {TL_UNARY_CLIP, 0.5, -2, 2, 0.5},
    {TL_UNARY_CLIP, 0, 2, -2, -2},
    {TL_UNARY_PROBIT, 0.5, 0, 0, 0},
    {TL_UNARY_PROBIT, 0.25, 0, 0, -0.6744897501960817},
    {TL_UNARY_PROBIT, 0.9375, 0, 0, 1.5341205443525463},
    {TL_UNARY_PROBIT, 0.015625, 0, 0, -2.153874694061456},
    {TL_UNARY_PROBIT, 0.9921875, 0, 0, 2.4175590162365048},
};
enum { FLOAT_ROWS = sizeof(float_rows) / sizeof(*float_rows) };

START_TEST(floats_have_the_values_of_the_formulas)
{
    // A formula rounds at most four times, a function of the C library is wrong by at most two
    // units, and the result is rounded to the type.
    unsigned char seen[TL_UNARY_FUNC_SIZE] = {0};
    for (int i = 0; i < FLOAT_ROWS; i++) {
        const double expected = float_rows[i].expected;
        seen[float_rows[i].func] = 1;
        for (int dtype = 0; dtype < TL_DTYPE_COMPUTED_SIZE; dtype++) {
            if (!tl_dtype_is_float((tl_dtype)dtype))
                continue;
            const double got = result_of(float_rows[i].func, (tl_dtype)dtype, float_rows[i].x,
                                         float_rows[i].alpha, float_rows[i].beta);
            const double compute_unit = units[dtype == TL_DOUBLE ? TL_DOUBLE : TL_FLOAT];
            const double tolerance = fmax(1, fabs(expected)) * (6 * compute_unit + units[dtype]);
            ck_assert_msg(fabs(got - expected) <= tolerance, "%s(%g) in %s: %.17g, expected %.17g",
                          tl_unary_func_name(float_rows[i].func), float_rows[i].x,
                          tl_dtype_name((tl_dtype)dtype), got, expected);
        }
    }
    for (int func = 0; func < TL_UNARY_FUNC_SIZE; func++)
        ck_assert_msg(seen[func] || !tl_unary_func_takes((tl_unary_func)func, TL_FLOAT),
                      "%s is not tested", tl_unary_func_name((tl_unary_func)func));
}
END_TEST

START_TEST(integers_wrap_and_bool_is_logic)
{
    static const struct {
        tl_unary_func func;
        tl_dtype dtype;
        double x, alpha, expected;
    } rows[] = {
        {TL_UNARY_ABS, TL_INT8, -5, 0, 5},
        {TL_UNARY_ABS, TL_INT8, -128, 0, -128},
        {TL_UNARY_ABS, TL_INT64, -0x1p63, 0, -0x1p63},
        {TL_UNARY_ABS, TL_UINT8, 200, 0, 200},
        {TL_UNARY_NEG, TL_INT32, 7, 0, -7},
        {TL_UNARY_NEG, TL_INT32, -0x1p31, 0, -0x1p31},
        {TL_UNARY_NEG, TL_UINT8, 1, 0, 255},
        {TL_UNARY_SIGN, TL_INT16, -300, 0, -1},
        {TL_UNARY_SIGN, TL_INT16, 300, 0, 1},
        {TL_UNARY_SIGN, TL_INT64, 0, 0, 0},
        {TL_UNARY_SIGN, TL_UINT32, 4000000000, 0, 1},
        {TL_UNARY_SIGN, TL_UINT64, 0, 0, 0},
        {TL_UNARY_NOT, TL_INT8, 5, 0, -6},
        {TL_UNARY_NOT, TL_UINT16, 5, 0, 65530},
        {TL_UNARY_NOT, TL_INT64, -1, 0, 0},
        {TL_UNARY_NOT, TL_BOOL, 0, 0, 1},
        {TL_UNARY_NOT, TL_BOOL, 1, 0, 0},
        {TL_UNARY_RELU, TL_INT8, -128, 0, 0},
        {TL_UNARY_RELU, TL_INT64, 7, 0, 7},
        {TL_UNARY_RELU, TL_UINT8, 255, 0, 255},
        {TL_UNARY_RELU, TL_BOOL, 1, 0, 1},
        {TL_UNARY_LRELU, TL_INT8, -25, 0.1, -2},
        {TL_UNARY_LRELU, TL_INT8, -128, -2, 127},
        {TL_UNARY_LRELU, TL_INT8, -128, 2, -128},
        {TL_UNARY_LRELU, TL_INT8, 25, 0.1, 25},
        {TL_UNARY_LRELU, TL_INT8, -1, NAN, 0},
        {TL_UNARY_LRELU, TL_UINT16, 65535, 0.1, 65535},
        {TL_UNARY_LRELU, TL_BOOL, 1, 0.1, 1},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        const double got = result_of(rows[i].func, rows[i].dtype, rows[i].x, rows[i].alpha, 0);
        ck_assert_msg(got == rows[i].expected, "%s(%g) in %s: %g, expected %g",
                      tl_unary_func_name(rows[i].func), rows[i].x, tl_dtype_name(rows[i].dtype),
                      got, rows[i].expected);
    }
}
END_TEST

START_TEST(far_out_nothing_is_lost)
{
    static const struct {
        tl_unary_func func;
        float x, expected;
    } rows[] = {
        {TL_UNARY_SIGMOID, -1000, 0},       {TL_UNARY_SIGMOID, INFINITY, 1},
        {TL_UNARY_SIGMOID, -INFINITY, 0},   {TL_UNARY_SOFTPLUS, 1000, 1000},
        {TL_UNARY_SOFTPLUS, -1000, 0},      {TL_UNARY_MISH, 1000, 1000},
        {TL_UNARY_SWISH, 1000, 1000},       {TL_UNARY_GELU, 1000, 1000},
        {TL_UNARY_GELU, 3e38f, 3e38f},      {TL_UNARY_GELU, -1000, 0},
        {TL_UNARY_GELU_TANH, 1000, 1000},   {TL_UNARY_ELU, -1000, -1},
        {TL_UNARY_CELU, -INFINITY, -1},     {TL_UNARY_HARDSIGMOID, -INFINITY, 0},
        {TL_UNARY_TANH, INFINITY, 1},       {TL_UNARY_RECIPROCAL, -INFINITY, 0},
        {TL_UNARY_EXP, 1000, INFINITY},     {TL_UNARY_LOG, 0, -INFINITY},
        {TL_UNARY_CLIP, INFINITY, 0.5},     {TL_UNARY_SHRINK, NAN, 0},
        {TL_UNARY_THRESHOLDEDRELU, NAN, 0}, {TL_UNARY_PROBIT, 0, -INFINITY},
        {TL_UNARY_PROBIT, 1, INFINITY},     {TL_UNARY_PROBIT, 1e-30f, -11.4640247f},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        const float got = float_result(rows[i].func, rows[i].x);
        ck_assert_msg(got == rows[i].expected, "%s(%g): %g, expected %g",
                      tl_unary_func_name(rows[i].func), rows[i].x, got, rows[i].expected);
    }
    ck_assert(signbit(float_result(TL_UNARY_SIGN, -0.0f)));
    ck_assert(isnan(float_result(TL_UNARY_SQRT, -1)));
    ck_assert(isnan(float_result(TL_UNARY_PROBIT, -1e-30f)));
    ck_assert(isnan(float_result(TL_UNARY_PROBIT, 1.0000001f)));
}
END_TEST

START_TEST(nan_stays_nan)
{
    for (int i = 0; i < TL_UNARY_FUNC_SIZE; i++) {
        const tl_unary_func func = (tl_unary_func)i;
        if (tl_unary_func_takes(func, TL_FLOAT) && func != TL_UNARY_SHRINK &&
            func != TL_UNARY_THRESHOLDEDRELU)
            ck_assert_msg(isnan(float_result(func, NAN)), "%s(NaN)", tl_unary_func_name(func));
    }
}
END_TEST

START_TEST(the_catalogue_has_functions_of_its_own)
{
    float data[] = {-2, 0.5f, NAN};
    tl_tensor *const src = tl_tensor_create(data, 1, (int[]){3}, TL_FLOAT);
    tl_tensor *const results[] = {tl_tensor_relu(src, NULL), tl_tensor_lrelu(src, NULL, 0.25f),
                                  tl_tensor_sigmoid(src, NULL)};
    const float expected[][2] = {{0, 0.5f}, {-0.5f, 0.5f}, {0.11920292f, 0.6224593f}};
    for (int i = 0; i < 3; i++) {
        const float *const got = results[i]->data;
        ck_assert_float_eq_tol(got[0], expected[i][0], 1e-7f);
        ck_assert_float_eq_tol(got[1], expected[i][1], 1e-7f);
        ck_assert(isnan(got[2]));
        tl_tensor_free_data_too(results[i]);
    }
    ck_assert_ptr_eq(tl_tensor_relu(src, src), src);
    ck_assert_float_eq(data[0], 0);
    tl_tensor_free(src);
}
END_TEST

START_TEST(a_double_takes_the_slope_of_a_float)
{
    const double src = -1;
    double dst;
    tl_lrelu(&dst, &src, 0.1f, TL_DOUBLE);
    ck_assert_double_eq(dst, -(double)0.1f);
}
END_TEST

START_TEST(names_and_values_correspond)
{
    for (int i = 0; i < TL_UNARY_FUNC_SIZE; i++)
        ck_assert_int_eq(tl_unary_func_from_str(tl_unary_func_name((tl_unary_func)i)), i);
    ck_assert_str_eq(tl_unary_func_name(TL_UNARY_GELU_TANH), "TL_UNARY_GELU_TANH");
    ck_assert_ptr_null(tl_unary_func_name(TL_UNARY_FUNC_SIZE));
    ck_assert_int_eq(tl_unary_func_from_str("TL_EXP"), TL_UNARY_FUNC_INVALID);
    ck_assert_int_eq(tl_unary_func_from_str(NULL), TL_UNARY_FUNC_INVALID);
}
END_TEST

START_TEST(unary_rejects_bad_dtypes_and_outputs)
{
    tl_tensor *const src = tl_tensor_zeros(1, (int[]){2}, TL_INT32);
    ck_assert_ptr_null(tl_tensor_unary(src, NULL, TL_UNARY_EXP, 0, 0));
    ck_assert_str_eq(tl_last_error(),
                     "'src' has dtype TL_INT32, which TL_UNARY_EXP does not support");
    ck_assert_ptr_null(tl_tensor_unary(src, NULL, TL_UNARY_FUNC_SIZE, 0, 0));
    ck_assert_ptr_null(tl_tensor_unary(src, NULL, TL_UNARY_FUNC_INVALID, 0, 0));
    ck_assert_ptr_null(tl_tensor_unary(NULL, NULL, TL_UNARY_EXP, 0, 0));
    ck_assert_str_eq(tl_last_error(), "'src' is NULL, expected a tensor");
    tl_tensor *const other = tl_tensor_zeros(2, (int[]){1, 2}, TL_INT32);
    ck_assert_ptr_null(tl_tensor_relu(src, other));
    ck_assert_str_eq(tl_last_error(), "'dst' is TL_INT32 [1, 2], expected TL_INT32 [2]");
    tl_tensor *const no_data = tl_tensor_create(NULL, 1, (int[]){4}, TL_FLOAT);
    ck_assert_ptr_null(tl_tensor_lrelu(no_data, NULL, 0.1f));
    ck_assert_str_eq(tl_last_error(), "'src' has no data");
    tl_tensor_free(no_data);
    tl_tensor_free_data_too(other);
    tl_tensor_free_data_too(src);
}
END_TEST

START_TEST(empty_tensors_stay_empty)
{
    tl_tensor *const src = tl_tensor_zeros(2, (int[]){2, 0}, TL_FLOAT);
    tl_tensor *const dst = tl_tensor_unary(src, NULL, TL_UNARY_EXP, 0, 0);
    ck_assert_ptr_nonnull(dst);
    ck_assert_int_eq(dst->len, 0);
    tl_tensor_free_data_too(src);
    tl_tensor_free_data_too(dst);
}
END_TEST

// The kernels in vectors

static int is_close(tl_unary_func func)
{
    for (int i = 0; i < CLOSE_N; i++)
        if (close_functions[i].func == func)
            return 1;
    return 0;
}

static int is_in_vectors(const tl_map_variant *v)
{
    return v->isa > TL_ISA_C || v->name == vectors_in_c;
}

// Finite and infinite numbers of both signs, NaN, and a fine comb through where functions bend.
static size_t make_samples(float *x, size_t n)
{
    size_t i = 0;
    const uint32_t bits_step = (uint32_t)(0x100000000ull / (n / 2)) | 1;
    for (; i < n / 2; i++) {
        const uint32_t bits = (uint32_t)i * bits_step;
        memcpy(&x[i], &bits, sizeof(bits));
    }
    const float special[] = {0,         -0.0f,      INFINITY, -INFINITY,      NAN,
                             0x1p-149f, -0x1p-149f, 88.8f,    -0x1.5d589ep+6f};
    for (; i < n - sizeof(special) / sizeof(*special); i++)
        x[i] = (float)(40 * ((double)(i - n / 2) / (double)(n / 2) - 0.5));
    memcpy(x + i, special, sizeof(special));
    return n;
}

// The floats around the two places where close_functions[k] is farthest off.
static size_t add_worst(int k, float *x, size_t around)
{
    size_t n = 0;
    for (int i = 0; i < 2; i++) {
        uint32_t bits;
        memcpy(&bits, &close_functions[k].worst[i], sizeof(bits));
        bits -= (uint32_t)around / 2;
        for (size_t j = 0; j < around; j++, n++, bits++)
            memcpy(&x[n], &bits, sizeof(bits));
    }
    return n;
}

static void check_error(int k, const close_kernel *kernel, const float *x, size_t n)
{
    float *const y = tl_alloc(n * sizeof(float));
    kernel->func(x, y, n, &some_param);
    for (size_t i = 0; i < n; i++) {
        const double expected = exact_of(k, (double)x[i]);
        const double error = error_of(y[i], expected, close_functions[k].min);
        ck_assert_msg(error == 0 || error <= bound_of(k, (double)x[i]),
                      "%s (%s) of %a: %a, expected %a, %g ULP",
                      tl_unary_func_name(close_functions[k].func), kernel->set, (double)x[i],
                      (double)y[i], expected, error);
    }
    tl_free(y);
}

START_TEST(errors_in_vectors_are_bounded)
{
    // All floats take unary_sweep some minutes for each function: see docs/dev/testing.md.
    enum { SAMPLES = 60000, AROUND = 4096 };
    float *const x = tl_alloc((SAMPLES + 2 * AROUND) * sizeof(float));
    const size_t samples = make_samples(x, SAMPLES);
    for (int k = 0; k < CLOSE_N; k++) {
        const size_t n = samples + add_worst(k, x + samples, AROUND);
        close_kernel kernels[TL_ISA_SIZE];
        const int kernels_n = close_kernels(k, kernels);
        for (int i = 0; i < kernels_n; i++)
            check_error(k, &kernels[i], x, n);
    }
    tl_free(x);
}
END_TEST

// A processor may take 100 cycles and more where a number becomes subnormal, or is rounded to 0.
static void check_underflow(int k, const close_kernel *kernel, float of)
{
    enum { SAME = 32 };
    const tl_unary_func func = close_functions[k].func;
    if (of == -60 && (func == TL_UNARY_SOFTPLUS || func == TL_UNARY_MISH))
        return; // squares of small numbers
    float x[SAME], y[SAME];
    for (int i = 0; i < SAME; i++)
        x[i] = of;
    feclearexcept(FE_ALL_EXCEPT);
    kernel->func(x, y, SAME, &some_param);
    ck_assert_msg(!fetestexcept(FE_UNDERFLOW), "%s (%s) of %g", tl_unary_func_name(func),
                  kernel->set, (double)of);
}

START_TEST(far_out_nothing_underflows)
{
    const float far[] = {13.5f, 17, 20, 60, 105, 200, 1e4f, 1e30f, INFINITY};
    enum { FAR_N = sizeof(far) / sizeof(*far) };
    for (int k = 0; k < CLOSE_N; k++) {
        close_kernel kernels[TL_ISA_SIZE];
        const int kernels_n = close_kernels(k, kernels);
        for (int i = 0; i < kernels_n; i++)
            for (int j = 0; j < FAR_N; j++) {
                check_underflow(k, &kernels[i], far[j]);
                check_underflow(k, &kernels[i], -far[j]);
            }
    }
}
END_TEST

#define TL_VARIANT_PLAIN(name)
#define TL_VARIANT_SIMD(name) {vectors_in_c, SIMD(tl_unary_##name), TL_FLOAT, TL_FLOAT, TL_ISA_C},
#define TL_VARIANT_BOOL_SIMD(name) \
    {vectors_in_c, SIMD_OF(tl_unary_##name##_b8), TL_BOOL, TL_BOOL, TL_ISA_C},
#define TL_VARIANT(arg, function, dtype, isa) {#function, function, dtype, dtype, isa},
#define TL_VARIANTS(arg, NAME, name, types, cost, sets, ...)                                     \
    static tl_map_variant name##_variants[] = {TL_UNARY_KERNELS(TL_VARIANT, , name, types, sets) \
                                                   TL_VARIANT_##sets(name)};
TL_UNARY_FUNCS(TL_VARIANTS, )

#define FUNCTION(arg, NAME, name, ...) \
    {TL_UNARY_##NAME, name##_variants, sizeof(name##_variants) / sizeof(*name##_variants)},
static const struct {
    tl_unary_func func;
    tl_map_variant *variants;
    size_t n;
} functions[] = {TL_UNARY_FUNCS(FUNCTION, )};
enum { FUNCTIONS_N = sizeof(functions) / sizeof(*functions) };

START_TEST(every_kernel_equals_plain_c)
{
    ck_assert_int_eq(FUNCTIONS_N, TL_UNARY_FUNC_SIZE);
    for (int i = 0; i < FUNCTIONS_N; i++) {
        tl_map_variant *const variants = functions[i].variants;
        for (size_t k = 0; k < functions[i].n; k++)
            variants[k].is_close = is_close(functions[i].func) && is_in_vectors(&variants[k]);
        tl_map_check_variants(variants, functions[i].n, &some_param);
    }
}
END_TEST

START_TEST(threads_do_not_change_the_result)
{
    for (int i = 0; i < FUNCTIONS_N; i++)
        tl_map_check_threads(functions[i].variants, functions[i].n, &some_param);
}
END_TEST

LN_TEST_MAIN("unary", errors_in_vectors_are_bounded, floats_have_the_values_of_the_formulas,
             integers_wrap_and_bool_is_logic, far_out_nothing_is_lost, nan_stays_nan,
             the_catalogue_has_functions_of_its_own, a_double_takes_the_slope_of_a_float,
             far_out_nothing_underflows, names_and_values_correspond,
             unary_rejects_bad_dtypes_and_outputs, empty_tensors_stay_empty,
             every_kernel_equals_plain_c, threads_do_not_change_the_result)
