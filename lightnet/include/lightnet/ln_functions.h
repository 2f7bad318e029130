// SPDX-License-Identifier: Apache-2.0
// ONNX's operators that are a function of each element of their input (tensorlight/tl_functions.h):
// a list, which becomes rows of the reader and the writer, their schemas and types.
//
//     since   the operator set from which on the operator is this function
//     types   FLT: floats, NUM: integers, too, SIGNED: but those without sign, REAL: all numbers
//             but TL_BFLOAT16, FLT22: this one since operator set 22, F32: TL_FLOAT
//     attrs   the schema's list of attributes (ln_onnx_schema.h)
//     alpha, beta  attributes, "": always the default, and defaults of the function's parameters

#ifndef LN_FUNCTIONS_H
#define LN_FUNCTIONS_H

// clang-format off

/** ROW(arg, op_type, since, FUNC, types, attrs, alpha, default, beta, default), by op_type. */
#define LN_ONNX_FUNCTIONS(ROW, arg) \
    ROW(arg, "Abs", 1, ABS, NUM, "consumed_inputs:I<6", "", 1, "", 0) \
    ROW(arg, "Acos", 7, ACOS, FLT22, "", "", 1, "", 0) \
    ROW(arg, "Acosh", 9, ACOSH, FLT22, "", "", 1, "", 0) \
    ROW(arg, "Asin", 7, ASIN, FLT22, "", "", 1, "", 0) \
    ROW(arg, "Asinh", 9, ASINH, FLT22, "", "", 1, "", 0) \
    ROW(arg, "Atan", 7, ATAN, FLT22, "", "", 1, "", 0) \
    ROW(arg, "Atanh", 9, ATANH, FLT22, "", "", 1, "", 0) \
    ROW(arg, "Ceil", 1, CEIL, FLT, "consumed_inputs:I<6", "", 1, "", 0) \
    ROW(arg, "Celu", 12, CELU, F32, "alpha:f", "alpha", 1, "", 0) \
    ROW(arg, "Cos", 7, COS, FLT22, "", "", 1, "", 0) \
    ROW(arg, "Cosh", 9, COSH, FLT22, "", "", 1, "", 0) \
    ROW(arg, "Elu", 1, ELU, FLT22, "alpha:f consumed_inputs:I<6", "alpha", 1, "", 0) \
    ROW(arg, "Erf", 9, ERF, NUM, "", "", 1, "", 0) \
    ROW(arg, "Exp", 1, EXP, FLT, "consumed_inputs:I<6", "", 1, "", 0) \
    ROW(arg, "Floor", 1, FLOOR, FLT, "consumed_inputs:I<6", "", 1, "", 0) \
    ROW(arg, "HardSigmoid", 1, HARDSIGMOID, FLT22, "alpha:f beta:f consumed_inputs:I<6", "alpha", 0.2, "beta", 0.5) \
    ROW(arg, "HardSwish", 14, HARDSWISH, FLT22, "", "", 1.0 / 6, "", 0.5) \
    ROW(arg, "LeakyRelu", 1, LRELU, FLT, "alpha:f consumed_inputs:I<6", "alpha", (double)0.01F, "", 0) \
    ROW(arg, "Log", 1, LOG, FLT, "consumed_inputs:I<6", "", 1, "", 0) \
    ROW(arg, "Mish", 18, MISH, FLT22, "", "", 1, "", 0) \
    ROW(arg, "Neg", 1, NEG, SIGNED, "consumed_inputs:I<6", "", 1, "", 0) \
    ROW(arg, "Reciprocal", 1, RECIPROCAL, FLT, "consumed_inputs:I<6", "", 1, "", 0) \
    ROW(arg, "Relu", 1, RELU, SIGNED, "consumed_inputs:I<6", "", 1, "", 0) \
    ROW(arg, "Round", 11, ROUND, FLT22, "", "", 1, "", 0) \
    ROW(arg, "Selu", 1, SELU, FLT22, "alpha:f consumed_inputs:I<6 gamma:f", "alpha", 1.6732, "gamma", 1.0507) \
    ROW(arg, "Selu", 6, SELU, FLT22, "alpha:f consumed_inputs:I<6 gamma:f", "alpha", 1.67326319217681884765625, "gamma", 1.05070102214813232421875) \
    ROW(arg, "Shrink", 9, SHRINK, REAL, "bias:f lambd:f", "lambd", 0.5, "bias", 0) \
    ROW(arg, "Sigmoid", 1, SIGMOID, FLT, "consumed_inputs:I<6", "", 1, "", 0) \
    ROW(arg, "Sign", 9, SIGN, NUM, "", "", 1, "", 0) \
    ROW(arg, "Sin", 7, SIN, FLT22, "", "", 1, "", 0) \
    ROW(arg, "Sinh", 9, SINH, FLT22, "", "", 1, "", 0) \
    ROW(arg, "Softplus", 1, SOFTPLUS, FLT22, "", "", 1, "", 0) \
    ROW(arg, "Softsign", 1, SOFTSIGN, FLT22, "", "", 1, "", 0) \
    ROW(arg, "Sqrt", 1, SQRT, FLT, "consumed_inputs:I<6", "", 1, "", 0) \
    ROW(arg, "Swish", 24, SWISH, FLT22, "alpha:f", "alpha", 1, "", 0) \
    ROW(arg, "Tan", 7, TAN, FLT22, "", "", 1, "", 0) \
    ROW(arg, "Tanh", 1, TANH, FLT, "consumed_inputs:I<6", "", 1, "", 0) \
    ROW(arg, "ThresholdedRelu", 1, THRESHOLDEDRELU, FLT22, "alpha:f consumed_inputs:I<6", "alpha", 1, "", 0)

/** ROW(arg, FUNC, approximate) for each of ONNX's Gelu. */
#define LN_ONNX_GELUS(ROW, arg) \
    ROW(arg, GELU, "none") \
    ROW(arg, GELU_TANH, "tanh")

// clang-format on

/** ONNX Runtime's FastGelu, and the gelu of its MoE. */
#define LN_ORT_FAST_GELU "TL_UNARY_GELU_TANH"

#endif
