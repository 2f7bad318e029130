// SPDX-License-Identifier: Apache-2.0
// Tests of formulas: their graphs, and that each function of floats has the values of its formula
// in double, in each type and on each instruction set.

#include <math.h>
#include <string.h>

#include "ir/ln_formula.h"
#include "ln_check.h"
#include "tensorlight/tensorlight.h"

// Formulas in double

static double max(double a, double b)
{
    return a > b ? a : b;
}

static double min(double a, double b)
{
    return a < b ? a : b;
}

static const struct {
    const char *name;
    double (*func)(double x);
} functions[] = {
    {"abs", fabs},    {"sqrt", sqrt},   {"exp", exp},     {"log", log},     {"ceil", ceil},
    {"floor", floor}, {"round", rint},  {"sin", sin},     {"cos", cos},     {"tan", tan},
    {"asin", asin},   {"acos", acos},   {"atan", atan},   {"sinh", sinh},   {"cosh", cosh},
    {"tanh", tanh},   {"asinh", asinh}, {"acosh", acosh}, {"atanh", atanh}, {"erf", erf},
    {"expm1", expm1}, {"log1p", log1p},
};

static const struct {
    const char *name;
    double (*func)(double a, double b);
} operations[] = {{"pow", pow}, {"fmod", fmod}, {"max", max}, {"min", min}};

static double value_of(const char *formula, double x, double a, double b);

// A function or operation of numbers; one that has a formula of its own gets further parameters.
static double call(const char *name, int n, const double *v)
{
    for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++)
        if (!strcmp(name, functions[i].name))
            return functions[i].func(v[0]);
    for (size_t i = 0; i < sizeof(operations) / sizeof(*operations); i++)
        if (!strcmp(name, operations[i].name))
            return operations[i].func(v[0], v[1]);
    const ln_function *const f = ln_function_named(name);
    ck_assert_msg(f != NULL, "%s", name);
    return value_of(f->formula, v[0], n > 1 ? v[1] : 0, n > 2 ? v[2] : 0);
}

static double node_value(const char *name, int n, const double *v)
{
    return !strcmp(name, "add")      ? v[0] + v[1]
           : !strcmp(name, "sub")    ? v[0] - v[1]
           : !strcmp(name, "mul")    ? v[0] * v[1]
           : !strcmp(name, "div")    ? v[0] / v[1]
           : !strcmp(name, "neg")    ? -v[0]
           : !strcmp(name, "less")   ? v[0] < v[1]
           : !strcmp(name, "choice") ? (v[0] != 0 ? v[1] : v[2])
                                     : call(name, n, v);
}

static double value_of(const char *formula, double x, double a, double b)
{
    ln_formula f;
    double values[LN_FORMULA_NODES];
    ln_formula_read(&f, formula);
    for (int i = 0; i < f.len; i++) {
        const ln_formula_node *const node = &f.nodes[i];
        double v[LN_FORMULA_SRCS];
        for (int k = 0; k < node->n_srcs; k++)
            v[k] = values[node->srcs[k]];
        values[i] = ln_formula_is_number(&f, i) ? node->number
                    : ln_formula_is(&f, i, "x") ? x
                    : ln_formula_is(&f, i, "a") ? a
                    : ln_formula_is(&f, i, "b") ? b
                                                : node_value(node->name, node->n_srcs, v);
    }
    return values[f.len - 1];
}

// Elements: multiples of 1/4, which all types hold, as often as a vector has lanes

enum { LEN = 161, HALF = LEN / 2 };

static tl_tensor *make_elements(tl_dtype dtype, int step)
{
    tl_tensor *const t = tl_tensor_zeros(1, (int[]){LEN}, dtype);
    for (int i = 0; i < LEN; i++) {
        const double x = (i * step % LEN - HALF) / 4.0;
        tl_convert((char *)t->data + (size_t)i * tl_size_of(dtype), dtype, &x, TL_DOUBLE);
    }
    return t;
}

static double element(const tl_tensor *t, int i)
{
    double value;
    tl_convert(&value, TL_DOUBLE, (char *)t->data + (size_t)i * tl_size_of(t->dtype), t->dtype);
    return value;
}

// Infinite where the number is too large for the type.
static double rounded(double value, tl_dtype dtype)
{
    return fabs(value) > tl_dtype_max_double(dtype) ? copysign(INFINITY, value) : value;
}

// Eight units: five of a function in vectors, three of the formula.
static void check(const char *name, const tl_tensor *dst, int i, double expected)
{
    static const double units[TL_DTYPE_SIZE] = {[TL_DOUBLE] = 0x1p-52,
                                                [TL_FLOAT] = 0x1p-23,
                                                [TL_FLOAT16] = 0x1p-10,
                                                [TL_BFLOAT16] = 0x1p-7};
    const double got = element(dst, i), to = rounded(expected, dst->dtype);
    const double tolerance = 8 * units[dst->dtype] * fmax(1, fabs(expected));
    ck_assert_msg((isnan(to) && isnan(got)) || got == to || fabs(got - expected) <= tolerance,
                  "%s in %s, element %d: %.17g, expected %.17g", name, tl_dtype_name(dst->dtype), i,
                  got, expected);
}

// Each function of floats but the quantile, which is an integral's inverse.

static void check_unary(const tl_exec *exec, tl_unary_func func, tl_dtype dtype)
{
    static const double alphas[] = {1, 0.5, 1.75}, betas[] = {0, 0.25, 1};
    tl_tensor *const x = make_elements(dtype, 1), *const y = make_elements(dtype, 1);
    const ln_function *const f = &ln_functions[func];
    for (int k = 0; k < 3; k++) {
        ck_assert_int_eq(tl_exec_unary(exec, x, y, func, alphas[k], betas[k]), 0);
        for (int i = 0; i < LEN; i++)
            check(f->func, y, i, value_of(f->formula, element(x, i), alphas[k], betas[k]));
    }
    tl_tensor_free_data_too(x);
    tl_tensor_free_data_too(y);
}

START_TEST(a_function_has_the_values_of_its_formula)
{
    int n = 0;
    for (int dtype = 0; dtype < TL_DTYPE_COMPUTED_SIZE; dtype++) {
        for (int func = 0; func < TL_UNARY_FUNC_SIZE; func++) {
            if (!tl_dtype_is_float((tl_dtype)dtype) || func == TL_UNARY_PROBIT ||
                !tl_unary_func_takes((tl_unary_func)func, (tl_dtype)dtype))
                continue;
            for (int isa = 0; isa < TL_ISA_SIZE; isa++)
                if (tl_isa_is_usable((tl_isa)isa) && ++n)
                    check_unary(&(tl_exec){.isa = (tl_isa)isa}, (tl_unary_func)func,
                                (tl_dtype)dtype);
        }
    }
    ck_assert_int_ge(n, 4 * (TL_UNARY_FUNC_SIZE - 2));
}
END_TEST

#define OPERATION_TEXT(...)                                FIRST_TEXT(__VA_ARGS__, )
#define FIRST_TEXT(first, ...)                             #first
#define OPERATION(arg, NAME, name, types, cost, sets, ...) OPERATION_TEXT(__VA_ARGS__),
static const char *const formulas[TL_BINARY_OP_SIZE] = {TL_BINARY_OPS(OPERATION, )};

static void check_binary(const tl_exec *exec, tl_binary_op op, tl_dtype dtype)
{
    tl_tensor *const a = make_elements(dtype, 1), *const b = make_elements(dtype, 7);
    tl_tensor *const y = make_elements(dtype, 1);
    ck_assert_int_eq(tl_exec_binary(exec, a, b, y, op), 0);
    for (int i = 0; i < LEN; i++)
        check(tl_binary_op_name(op), y, i, value_of(formulas[op], 0, element(a, i), element(b, i)));
    tl_tensor_free_data_too(a);
    tl_tensor_free_data_too(b);
    tl_tensor_free_data_too(y);
}

START_TEST(an_operation_has_the_values_of_its_formula)
{
    int n = 0;
    for (int dtype = 0; dtype < TL_DTYPE_COMPUTED_SIZE; dtype++) {
        for (int op = 0; op < TL_BINARY_OP_SIZE; op++) {
            if (!tl_dtype_is_float((tl_dtype)dtype) ||
                !tl_binary_op_takes((tl_binary_op)op, (tl_dtype)dtype))
                continue;
            for (int isa = 0; isa < TL_ISA_SIZE; isa++)
                if (tl_isa_is_usable((tl_isa)isa) && ++n)
                    check_binary(&(tl_exec){.isa = (tl_isa)isa}, (tl_binary_op)op, (tl_dtype)dtype);
        }
    }
    ck_assert_int_ge(n, 4 * 12);
}
END_TEST

START_TEST(equal_parts_are_one_node_and_numbers_are_folded)
{
    ln_formula f;
    ln_formula_read(&f, "exp(x) * exp(x) / sqrt(2 * 8) < -a ? max(x, b) : 1");
    static const char *const names[] = {"x", "exp", "mul", "", "", "", "", "div"};
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        ck_assert_str_eq(f.nodes[i].name, names[i]);
    ck_assert_double_eq(f.nodes[6].number, 4);
    ck_assert_int_eq(f.nodes[7].srcs[1], 6);
    ck_assert(ln_formula_is(&f, f.len - 1, "choice"));
    ck_assert_ptr_null(ln_function_named("foo"));
    ck_assert_ptr_null(ln_function_of("TL_UNARY_FOO"));
    ck_assert_str_eq(ln_function_of("TL_UNARY_GELU_TANH")->name, "gelu_tanh");
}
END_TEST

LN_TEST_MAIN("ln_formula", a_function_has_the_values_of_its_formula,
             an_operation_has_the_values_of_its_formula,
             equal_parts_are_one_node_and_numbers_are_folded)
