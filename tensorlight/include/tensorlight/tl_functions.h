// SPDX-License-Identifier: Apache-2.0
// The element-wise functions, operations and activations: lists with one row each, which become
// enumerations (tl_elementwise.h, tl_nn.h), names, kernels and the formulas of other targets.
//
// A formula is a C expression of the elements x, or a and b, and of the parameters a and b (alpha
// and beta) of unary functions; it may call <math.h>, other rows by name, min and max. Where its
// code differs, that follows: it loses no digits, and calls row `name` as OF(name)(x, a, b).
//
//     types  FLT: the four floating dtypes, INT: the eight integer ones, NUM: both,
//            WHOLE: INT and TL_BOOL, ALL. The formulas are of FLT; integers wrap.
//     cost   MEMORY or COMPUTE, which bounds the time
//     sets   the instruction sets with kernels other than plain C: PLAIN: none, SIMD: vectors of
//            floats, BOOL, BOOL_SIMD: vectors of TL_BOOL, MANY: vectors of floats and of other
//            types

#ifndef TL_FUNCTIONS_H
#define TL_FUNCTIONS_H

/** The last of one or two. */
#define TL_CODE_OF(...)                  TL_SECOND_OF(__VA_ARGS__, __VA_ARGS__, )
#define TL_SECOND_OF(first, second, ...) second

// clang-format off

// Where codes differ from formulas: softplus has no exponential above 1, so that nothing overflows,
// and no sum with 1 that would lose it. The exponential of swish becomes infinite far below 0, and
// the quotient 0. (1 + erf(t)) / 2 = erfc(-t) / 2 and (1 + tanh(t)) / 2 = 1 / (1 + e^-2t): without
// the difference of two numbers near 1 that the left sides are below 0.

/** ROW(arg, NAME, name, types, cost, sets, formula[, code]) for each of tl_unary_func. */
#define TL_UNARY_FUNCS(ROW, arg) \
    ROW(arg, ABS, abs, NUM, MEMORY, SIMD, fabs(x)) \
    ROW(arg, NEG, neg, NUM, MEMORY, SIMD, -x) \
    ROW(arg, SIGN, sign, NUM, MEMORY, SIMD, x > 0 ? 1 : x < 0 ? -1 : x) \
    ROW(arg, NOT, not, WHOLE, MEMORY, BOOL_SIMD, not(x)) \
    ROW(arg, RECIPROCAL, reciprocal, FLT, MEMORY, SIMD, 1 / x) \
    ROW(arg, AFFINE, affine, FLT, MEMORY, SIMD, a * x + b) \
    ROW(arg, SQRT, sqrt, FLT, MEMORY, SIMD, sqrt(x)) \
    ROW(arg, EXP, exp, FLT, COMPUTE, SIMD, exp(x)) \
    ROW(arg, LOG, log, FLT, COMPUTE, SIMD, log(x)) \
    ROW(arg, CEIL, ceil, FLT, MEMORY, SIMD, ceil(x)) \
    ROW(arg, FLOOR, floor, FLT, MEMORY, SIMD, floor(x)) \
    ROW(arg, ROUND, round, FLT, MEMORY, SIMD, rint(x)) \
    ROW(arg, SIN, sin, FLT, COMPUTE, SIMD, sin(x)) \
    ROW(arg, COS, cos, FLT, COMPUTE, SIMD, cos(x)) \
    ROW(arg, TAN, tan, FLT, COMPUTE, PLAIN, tan(x)) \
    ROW(arg, ASIN, asin, FLT, COMPUTE, PLAIN, asin(x)) \
    ROW(arg, ACOS, acos, FLT, COMPUTE, PLAIN, acos(x)) \
    ROW(arg, ATAN, atan, FLT, COMPUTE, PLAIN, atan(x)) \
    ROW(arg, SINH, sinh, FLT, COMPUTE, PLAIN, sinh(x)) \
    ROW(arg, COSH, cosh, FLT, COMPUTE, PLAIN, cosh(x)) \
    ROW(arg, TANH, tanh, FLT, COMPUTE, SIMD, tanh(x)) \
    ROW(arg, SCALEDTANH, scaledtanh, FLT, COMPUTE, SIMD, a * tanh(b * x)) \
    ROW(arg, ASINH, asinh, FLT, COMPUTE, PLAIN, asinh(x)) \
    ROW(arg, ACOSH, acosh, FLT, COMPUTE, PLAIN, acosh(x)) \
    ROW(arg, ATANH, atanh, FLT, COMPUTE, PLAIN, atanh(x)) \
    ROW(arg, ERF, erf, FLT, COMPUTE, SIMD, erf(x)) \
    ROW(arg, SIGMOID, sigmoid, FLT, COMPUTE, SIMD, 1 / (1 + exp(-x))) \
    ROW(arg, HARDSIGMOID, hardsigmoid, FLT, MEMORY, SIMD, \
        clip(a * x + b, 0, 1), OF(clip)(b + a * x, 0, 1)) \
    ROW(arg, HARDSWISH, hardswish, FLT, MEMORY, SIMD, \
        x * hardsigmoid(x, a, b), x * OF(hardsigmoid)(x, a, b)) \
    ROW(arg, SOFTPLUS, softplus, FLT, COMPUTE, SIMD, \
        relu(x) + log1p(exp(-fabs(x))), (x < 0 ? 0 : x) + log1p(exp(-fabs(x)))) \
    ROW(arg, SOFTSIGN, softsign, FLT, MEMORY, SIMD, x / (1 + fabs(x))) \
    ROW(arg, MISH, mish, FLT, COMPUTE, SIMD, \
        x * tanh(softplus(x)), x * tanh(OF(softplus)(x, 0, 0))) \
    ROW(arg, SWISH, swish, FLT, COMPUTE, SIMD, x * sigmoid(a * x), x / (1 + exp(-(a * x)))) \
    ROW(arg, GELU, gelu, FLT, COMPUTE, SIMD, \
        x * (erf(x / sqrt(2)) + 1) * 0.5, x * (erfc(x * (C)-0.70710678118654752440) / 2)) \
    ROW(arg, GELU_TANH, gelu_tanh, FLT, COMPUTE, SIMD, \
        x * (tanh((x + pow(x, 3) * 0.044715) * 0.79788456080286535588) + 1) * 0.5, \
        x / (1 + exp((C)-1.59576912160573071176 * (x + (C)0.044715 * x * x * x)))) \
    ROW(arg, RELU, relu, ALL, MEMORY, SIMD, x < 0 ? 0 : x) \
    ROW(arg, LRELU, lrelu, ALL, MEMORY, SIMD, x < 0 ? a * x : x) \
    ROW(arg, ELU, elu, FLT, COMPUTE, SIMD, x < 0 ? a * expm1(x) : x) \
    ROW(arg, CELU, celu, FLT, COMPUTE, SIMD, x < 0 ? a * expm1(x / a) : x) \
    ROW(arg, SELU, selu, FLT, COMPUTE, SIMD, b * elu(x, a), b * OF(elu)(x, a, 0)) \
    ROW(arg, THRESHOLDEDRELU, thresholdedrelu, FLT, MEMORY, SIMD, x > a ? x : 0) \
    ROW(arg, SHRINK, shrink, FLT, MEMORY, SIMD, -a > x ? x + b : x > a ? x - b : 0) \
    ROW(arg, CLIP, clip, FLT, MEMORY, SIMD, min(max(x, a), b), OF(lower)(OF(raise)(x, a), b)) \
    ROW(arg, PROBIT, probit, FLT, COMPUTE, PLAIN, probit(x), OF(quantile)(x))

/** ROW(arg, NAME, name, types, cost, sets, formula[, code]) for each of tl_binary_op. Where a is
 *  NaN, max and min return it, and b where no comparison with it is true. */
#define TL_BINARY_OPS(ROW, arg) \
    ROW(arg, ADD, add, NUM, MEMORY, MANY, a + b) \
    ROW(arg, SUB, sub, NUM, MEMORY, MANY, a - b) \
    ROW(arg, MUL, mul, NUM, MEMORY, MANY, a * b) \
    ROW(arg, DIV, div, ALL, MEMORY, SIMD, a / b) \
    ROW(arg, MOD, mod, NUM, COMPUTE, PLAIN, a - b * floor(a / b), OF(mod)(a, b)) \
    ROW(arg, FMOD, fmod, NUM, COMPUTE, PLAIN, fmod(a, b)) \
    ROW(arg, POW, pow, NUM, COMPUTE, PLAIN, pow(a, b)) \
    ROW(arg, MAX, max, NUM, MEMORY, MANY, max(a, b), a > b || a != a ? a : b) \
    ROW(arg, MIN, min, NUM, MEMORY, MANY, min(a, b), b > a || a != a ? a : b) \
    ROW(arg, PRELU, prelu, NUM, MEMORY, SIMD, a < 0 ? a * b : a, 0 > a ? a * b : a) \
    ROW(arg, AND, and, WHOLE, MEMORY, BOOL, a & b) \
    ROW(arg, OR, or, WHOLE, MEMORY, BOOL, a | b) \
    ROW(arg, XOR, xor, WHOLE, MEMORY, BOOL, a ^ b) \
    ROW(arg, SHIFT_LEFT, shift_left, INT, MEMORY, PLAIN, a << b) \
    ROW(arg, SHIFT_RIGHT, shift_right, INT, MEMORY, PLAIN, a >> b) \
    ROW(arg, PICK_MAX, pick_max, FLT, MEMORY, SIMD, a > b ? a : b) \
    ROW(arg, PICK_MIN, pick_min, FLT, MEMORY, SIMD, a < b ? a : b) \
    ROW(arg, POW_DOUBLE, pow_double, WHOLE, COMPUTE, PLAIN, pow((double)a, (double)b))

/** ROW(arg, NAME, FUNC, name, alpha, way) for each of tl_act but TL_ACT_NONE: the unary function
 *  FUNC, `name`, with the activation's parameters, or this alpha where it is not 0. CLAMPED: between
 *  tl_act_bounds. */
#define TL_ACTS(ROW, arg) \
    ROW(arg, RELU, RELU, relu, 0, CLAMPED) \
    ROW(arg, LRELU, LRELU, lrelu, 0, APPLIED) \
    ROW(arg, SIGMOID, SIGMOID, sigmoid, 0, APPLIED) \
    ROW(arg, CLIP, CLIP, clip, 0, CLAMPED) \
    ROW(arg, TANH, TANH, tanh, 0, APPLIED) \
    ROW(arg, SILU, SWISH, swish, 1, APPLIED) \
    ROW(arg, GELU, GELU, gelu, 0, APPLIED) \
    ROW(arg, GELU_TANH, GELU_TANH, gelu_tanh, 0, APPLIED) \
    ROW(arg, HARDSIGMOID, HARDSIGMOID, hardsigmoid, 0, APPLIED) \
    ROW(arg, HARDSWISH, HARDSWISH, hardswish, 0, APPLIED)

// clang-format on

#endif
