// SPDX-License-Identifier: Apache-2.0
// Writing operators on single elements: functions, arithmetic, comparisons, conversion.

#include <math.h>
#include <string.h>

#include "base/ln_name.h"
#include "front/onnx/write/ln_onnx_write.h"
#include "tensorlight/tl_elementwise.h"

// Unary functions

// A function of x, with its two numbers.
typedef struct function {
    const char *x;
    tl_dtype dtype;
    double alpha, beta;
} function;

static const char *scalar(ln_onnx_op *n, const function *f, double value)
{
    return ln_onnx_put_scalar(n, f->dtype, value);
}

static const char *times(ln_onnx_op *n, const function *f, const char *x, double factor)
{
    return ln_onnx_put_pair(n, "Mul", x, scalar(n, f, factor));
}

static const char *plus(ln_onnx_op *n, const function *f, const char *x, double summand)
{
    return ln_onnx_put_pair(n, "Add", x, scalar(n, f, summand));
}

static const char *put_not(ln_onnx_op *n, const function *f)
{
    if (f->dtype == TL_BOOL)
        return ln_onnx_put(n, "Not", f->x);
    ln_onnx_op_since(n, 18);
    return ln_onnx_put(n, "BitwiseNot", f->x);
}

static const char *put_affine(ln_onnx_op *n, const function *f)
{
    return plus(n, f, times(n, f, f->x, f->alpha), f->beta);
}

static const char *put_scaledtanh(ln_onnx_op *n, const function *f)
{
    return times(n, f, ln_onnx_put(n, "Tanh", times(n, f, f->x, f->beta)), f->alpha);
}

static const char *put_hardsigmoid(ln_onnx_op *n, const function *f)
{
    return LN_ONNX_PUT(n, "HardSigmoid", LN_ONNX_SRC(f->x), LN_NUMBER("alpha", f->alpha),
                       LN_NUMBER("beta", f->beta));
}

static const char *put_hardswish(ln_onnx_op *n, const function *f)
{
    if ((float)f->alpha == (float)(1.0 / 6) && f->beta == 0.5)
        return ln_onnx_put(n, "HardSwish", f->x);
    return ln_onnx_put_pair(n, "Mul", f->x, put_hardsigmoid(n, f));
}

static const char *put_mish(ln_onnx_op *n, const function *f)
{
    if (ln_onnx_op_opset(n) >= 18)
        return ln_onnx_put(n, "Mish", f->x);
    return ln_onnx_put_pair(n, "Mul", f->x,
                            ln_onnx_put(n, "Tanh", ln_onnx_put(n, "Softplus", f->x)));
}

static const char *put_swish(ln_onnx_op *n, const function *f)
{
    const char *const x = f->alpha == 1 ? f->x : times(n, f, f->x, f->alpha);
    return ln_onnx_put_pair(n, "Mul", f->x, ln_onnx_put(n, "Sigmoid", x));
}

static const char *put_gelu(ln_onnx_op *n, const function *f)
{
    if (ln_onnx_op_opset(n) >= 20)
        return ln_onnx_put(n, "Gelu", f->x);
    const char *const x = ln_onnx_put_pair(n, "Div", f->x, scalar(n, f, sqrt(2)));
    const char *const sum = plus(n, f, ln_onnx_put(n, "Erf", x), 1);
    return times(n, f, ln_onnx_put_pair(n, "Mul", f->x, sum), 0.5);
}

static const char *put_gelu_tanh(ln_onnx_op *n, const function *f)
{
    static const double pi = 3.14159265358979323846;
    if (ln_onnx_op_opset(n) >= 20)
        return LN_ONNX_PUT(n, "Gelu", LN_ONNX_SRC(f->x), LN_TEXT("approximate", "tanh"));
    const char *const cube = ln_onnx_put_pair(n, "Pow", f->x, scalar(n, f, 3));
    const char *const x = ln_onnx_put_pair(n, "Add", f->x, times(n, f, cube, 0.044715));
    const char *const sum = plus(n, f, ln_onnx_put(n, "Tanh", times(n, f, x, sqrt(2 / pi))), 1);
    return times(n, f, ln_onnx_put_pair(n, "Mul", f->x, sum), 0.5);
}

// No number of an unsigned type is below 0.
static const char *put_relu(ln_onnx_op *n, const function *f)
{
    const double zero = 0;
    const int has_negative = f->dtype != TL_BOOL && tl_dtype_min_double(f->dtype) < zero;
    return ln_onnx_put(n, has_negative ? "Relu" : "Identity", f->x);
}

// Integers compute in double.
static const char *put_lrelu(ln_onnx_op *n, const function *f)
{
    const int is_float = tl_dtype_is_float(f->dtype);
    const char *const x = is_float ? f->x : ln_onnx_put_cast(n, f->x, TL_DOUBLE);
    const char *const v = LN_ONNX_PUT(n, "LeakyRelu", LN_ONNX_SRC(x), LN_NUMBER("alpha", f->alpha));
    return is_float ? v : ln_onnx_put_cast(n, v, f->dtype);
}

// The transform of a regressor, whose results are floats of 32 bits.
static const char *put_probit(ln_onnx_op *n, const function *f)
{
    static const int column[] = {-1, 1};
    static const double one[] = {1};
    const char *const x = ln_onnx_put_reshape(n, f->x, 2, column);
    const char *v =
        LN_ONNX_PUT(n, "ai.onnx.ml:LinearRegressor", LN_ONNX_SRC(x),
                    LN_NUMBERS("coefficients", 1, one), LN_TEXT("post_transform", "PROBIT"));
    ln_onnx_note_type(n->writer, v, TL_FLOAT);
    v = f->dtype == TL_FLOAT ? v : ln_onnx_put_cast(n, v, f->dtype);
    return ln_onnx_put_like(n, v, f->x);
}

// ONNX's Celu is of floats of 32 bits.
static const char *put_celu(ln_onnx_op *n, const function *f)
{
    if (f->dtype == TL_FLOAT)
        return LN_ONNX_PUT(n, "Celu", LN_ONNX_SRC(f->x), LN_NUMBER("alpha", f->alpha));
    const char *const quotient = ln_onnx_put_pair(n, "Div", f->x, scalar(n, f, f->alpha));
    const char *const low = times(n, f, plus(n, f, ln_onnx_put(n, "Exp", quotient), -1), f->alpha);
    const char *const is_high = ln_onnx_put_pair(n, "Greater", f->x, scalar(n, f, 0));
    return LN_ONNX_PUT(n, "Where", LN_ONNX_SRC(is_high), LN_ONNX_SRC(f->x), LN_ONNX_SRC(low));
}

static const char *put_selu(ln_onnx_op *n, const function *f)
{
    return LN_ONNX_PUT(n, "Selu", LN_ONNX_SRC(f->x), LN_NUMBER("alpha", f->alpha),
                       LN_NUMBER("gamma", f->beta));
}

static const char *put_shrink(ln_onnx_op *n, const function *f)
{
    return LN_ONNX_PUT(n, "Shrink", LN_ONNX_SRC(f->x), LN_NUMBER("lambd", f->alpha),
                       LN_NUMBER("bias", f->beta));
}

static const char *put_clip(ln_onnx_op *n, const function *f)
{
    return LN_ONNX_PUT(n, "Clip", LN_ONNX_SRC(f->x), LN_ONNX_SRC(scalar(n, f, f->alpha)),
                       LN_ONNX_SRC(scalar(n, f, f->beta)));
}

// A function as a node without attributes, with the attribute alpha, or as others.
static const struct unary {
    const char *func, *op_type;
    int has_alpha;
    const char *(*put)(ln_onnx_op *n, const function *f);
    int is_long; // several nodes
} unaries[] = {
    {"TL_UNARY_ABS", "Abs"},
    {"TL_UNARY_NEG", "Neg"},
    {"TL_UNARY_SIGN", "Sign"},
    {"TL_UNARY_NOT", .put = put_not},
    {"TL_UNARY_RECIPROCAL", "Reciprocal"},
    {"TL_UNARY_AFFINE", .put = put_affine, .is_long = 1},
    {"TL_UNARY_SQRT", "Sqrt"},
    {"TL_UNARY_EXP", "Exp"},
    {"TL_UNARY_LOG", "Log"},
    {"TL_UNARY_CEIL", "Ceil"},
    {"TL_UNARY_FLOOR", "Floor"},
    {"TL_UNARY_ROUND", "Round"},
    {"TL_UNARY_SIN", "Sin"},
    {"TL_UNARY_COS", "Cos"},
    {"TL_UNARY_TAN", "Tan"},
    {"TL_UNARY_ASIN", "Asin"},
    {"TL_UNARY_ACOS", "Acos"},
    {"TL_UNARY_ATAN", "Atan"},
    {"TL_UNARY_SINH", "Sinh"},
    {"TL_UNARY_COSH", "Cosh"},
    {"TL_UNARY_TANH", "Tanh"},
    {"TL_UNARY_SCALEDTANH", .put = put_scaledtanh, .is_long = 1},
    {"TL_UNARY_ASINH", "Asinh"},
    {"TL_UNARY_ACOSH", "Acosh"},
    {"TL_UNARY_ATANH", "Atanh"},
    {"TL_UNARY_ERF", "Erf"},
    {"TL_UNARY_SIGMOID", "Sigmoid"},
    {"TL_UNARY_HARDSIGMOID", .put = put_hardsigmoid},
    {"TL_UNARY_HARDSWISH", .put = put_hardswish, .is_long = 1},
    {"TL_UNARY_SOFTPLUS", "Softplus"},
    {"TL_UNARY_SOFTSIGN", "Softsign"},
    {"TL_UNARY_MISH", .put = put_mish, .is_long = 1},
    {"TL_UNARY_SWISH", .put = put_swish, .is_long = 1},
    {"TL_UNARY_GELU", .put = put_gelu, .is_long = 1},
    {"TL_UNARY_GELU_TANH", .put = put_gelu_tanh, .is_long = 1},
    {"TL_UNARY_RELU", .put = put_relu},
    {"TL_UNARY_LRELU", .put = put_lrelu},
    {"TL_UNARY_ELU", "Elu", 1},
    {"TL_UNARY_CELU", .put = put_celu, .is_long = 1},
    {"TL_UNARY_SELU", .put = put_selu},
    {"TL_UNARY_THRESHOLDEDRELU", "ThresholdedRelu", 1},
    {"TL_UNARY_SHRINK", .put = put_shrink},
    {"TL_UNARY_CLIP", .put = put_clip},
    {"TL_UNARY_PROBIT", .put = put_probit, .is_long = 1},
};

// The last node gets the name of the output.
static void end_with(ln_onnx_op *n, const char *value)
{
    ln_onnx_op_ends_with(n, "dst", value);
}

// Floats of 16 bits are rounded once: several nodes compute in 32 bits, as do those that lack
// TL_BFLOAT16.
static tl_dtype work_dtype(const ln_onnx_op *n, const struct unary *row, tl_dtype dtype)
{
    if (!tl_dtype_is_float(dtype) || tl_size_of(dtype) != 2)
        return dtype;
    const int takes = row->put ? dtype == TL_FLOAT16 : ln_onnx_takes(n, row->op_type, dtype);
    return takes && !row->is_long ? dtype : TL_FLOAT;
}

static const char *put_unary(ln_onnx_op *n, const struct unary *row, const function *f)
{
    if (row->put)
        return row->put(n, f);
    return LN_ONNX_PUT(n, row->op_type, LN_ONNX_SRC(f->x),
                       LN_ONLY_IF(row->has_alpha, LN_NUMBER("alpha", f->alpha)));
}

static void write_function(ln_onnx_op *n, const char *func, double alpha, double beta)
{
    const struct unary *const row = LN_ROW_NAMED(unaries, func);
    const tl_dtype dtype = ln_onnx_op_tensor(n, "src")->dtype;
    if (!row) {
        ln_onnx_op_lacks(n, "parameter 'func' is %s", func);
        return;
    }
    function f = {.x = ln_onnx_op_in(n, "src"),
                  .dtype = work_dtype(n, row, dtype),
                  .alpha = alpha,
                  .beta = beta};
    if (f.dtype != dtype)
        f.x = ln_onnx_put_cast(n, f.x, f.dtype);
    const char *const v = put_unary(n, row, &f);
    end_with(n, f.dtype != dtype ? ln_onnx_put_cast(n, v, dtype) : v);
}

static void write_unary(ln_onnx_op *n)
{
    write_function(n, ln_op_string(n->op, "func"), ln_op_number(n->op, "alpha"),
                   ln_op_number(n->op, "beta"));
}

static void write_relu(ln_onnx_op *n)
{
    write_function(n, "TL_UNARY_RELU", 1, 0);
}

static void write_lrelu(ln_onnx_op *n)
{
    write_function(n, "TL_UNARY_LRELU", (double)(float)ln_op_number(n->op, "negslope"), 0);
}

// Two operands

// Both operands.
typedef struct operands {
    const char *a, *b;
    tl_dtype dtype;
} operands;

// Of whole numbers, with the sign of b; ONNX's Mod has the sign of a for floats.
static const char *put_mod(ln_onnx_op *n, const operands *o)
{
    if (!tl_dtype_is_float(o->dtype))
        return ln_onnx_put_pair(n, "Mod", o->a, o->b);
    const char *const zero = ln_onnx_put_scalar(n, o->dtype, 0);
    const char *const rest =
        LN_ONNX_PUT(n, "Mod", LN_ONNX_SRC(o->a), LN_ONNX_SRC(o->b), LN_INT("fmod", 1));
    const char *const is_zero = ln_onnx_put_pair(n, "Equal", rest, zero);
    const char *const differs = ln_onnx_put_pair(n, "Xor", ln_onnx_put_pair(n, "Less", rest, zero),
                                                 ln_onnx_put_pair(n, "Less", o->b, zero));
    const char *const moves = ln_onnx_put_pair(n, "And", ln_onnx_put(n, "Not", is_zero), differs);
    return LN_ONNX_PUT(n, "Where", LN_ONNX_SRC(moves),
                       LN_ONNX_SRC(ln_onnx_put_pair(n, "Add", rest, o->b)), LN_ONNX_SRC(rest));
}

static const char *put_fmod(ln_onnx_op *n, const operands *o)
{
    return LN_ONNX_PUT(n, "Mod", LN_ONNX_SRC(o->a), LN_ONNX_SRC(o->b), LN_INT("fmod", 1));
}

// PRelu's slope broadcasts to the source only.
static const char *put_prelu(ln_onnx_op *n, const operands *o)
{
    if (tl_tensor_issameshape(ln_onnx_op_tensor(n, "src1"), ln_onnx_op_tensor(n, "dst")))
        return ln_onnx_put_pair(n, "PRelu", o->a, o->b);
    const char *const is_low =
        ln_onnx_put_pair(n, "Less", o->a, ln_onnx_put_scalar(n, o->dtype, 0));
    return LN_ONNX_PUT(n, "Where", LN_ONNX_SRC(is_low),
                       LN_ONNX_SRC(ln_onnx_put_pair(n, "Mul", o->a, o->b)), LN_ONNX_SRC(o->a));
}

// The operator on truth values, or on the bits of integers.
static const char *put_bits(ln_onnx_op *n, const operands *o, const char *of_bools,
                            const char *of_ints)
{
    if (o->dtype != TL_BOOL)
        ln_onnx_op_since(n, 18);
    return ln_onnx_put_pair(n, o->dtype == TL_BOOL ? of_bools : of_ints, o->a, o->b);
}

static const char *put_and(ln_onnx_op *n, const operands *o)
{
    return put_bits(n, o, "And", "BitwiseAnd");
}

static const char *put_or(ln_onnx_op *n, const operands *o)
{
    return put_bits(n, o, "Or", "BitwiseOr");
}

static const char *put_xor(ln_onnx_op *n, const operands *o)
{
    return put_bits(n, o, "Xor", "BitwiseXor");
}

// 2 to the power of each shift of the operator, which must be constants from 0 to 2 less than the
// number of bits; NULL: they are not.
static const char *put_powers(ln_onnx_op *n, tl_dtype dtype)
{
    const tl_tensor *const t = ln_onnx_op_tensor(n, "src2");
    const char *const shifts = ln_onnx_op_elements(n, "src2");
    const size_t size = tl_size_of(dtype);
    char *const powers = ln_translation_alloc(&n->writer->base, (size_t)t->len * size + 1);
    for (int i = 0; shifts && powers && i < t->len; i++) {
        double shift;
        tl_convert(&shift, TL_DOUBLE, shifts + (size_t)i * size, dtype);
        if (shift < 0 || shift > 8 * (double)size - 2) {
            ln_onnx_op_lacks(n, "a shift of %s by %g", tl_dtype_name(dtype), shift);
            return NULL;
        }
        const double power = ldexp(1, (int)shift);
        tl_convert(powers + (size_t)i * size, dtype, &power, TL_DOUBLE);
    }
    return shifts && powers ? ln_onnx_put_constant(n, dtype, t->ndim, t->dims, powers) : NULL;
}

// Of signed integers: the product with a power of two, or the quotient by it, rounded down.
static const char *put_signed_shift(ln_onnx_op *n, const operands *o, int is_left)
{
    const char *const power = put_powers(n, o->dtype);
    if (is_left)
        return ln_onnx_put_pair(n, "Mul", o->a, power);
    const char *const rest = ln_onnx_put_pair(n, "Mod", o->a, power);
    return ln_onnx_put_pair(n, "Div", ln_onnx_put_pair(n, "Sub", o->a, rest), power);
}

static const char *put_shift(ln_onnx_op *n, const operands *o, int is_left)
{
    if (tl_dtype_min_double(o->dtype) < 0)
        return put_signed_shift(n, o, is_left);
    return LN_ONNX_PUT(n, "BitShift", LN_ONNX_SRC(o->a), LN_ONNX_SRC(o->b),
                       LN_TEXT("direction", is_left ? "LEFT" : "RIGHT"));
}

static const char *put_shift_left(ln_onnx_op *n, const operands *o)
{
    return put_shift(n, o, 1);
}

static const char *put_shift_right(ln_onnx_op *n, const operands *o)
{
    return put_shift(n, o, 0);
}

static const char *put_pick(ln_onnx_op *n, const operands *o, const char *compare)
{
    return LN_ONNX_PUT(n, "Where", LN_ONNX_SRC(ln_onnx_put_pair(n, compare, o->a, o->b)),
                       LN_ONNX_SRC(o->a), LN_ONNX_SRC(o->b));
}

static const char *put_pick_max(ln_onnx_op *n, const operands *o)
{
    return put_pick(n, o, "Greater");
}

static const char *put_pick_min(ln_onnx_op *n, const operands *o)
{
    return put_pick(n, o, "Less");
}

static const char *put_pow_double(ln_onnx_op *n, const operands *o)
{
    const char *const power = ln_onnx_put_pair(n, "Pow", ln_onnx_put_cast(n, o->a, TL_DOUBLE),
                                               ln_onnx_put_cast(n, o->b, TL_DOUBLE));
    return ln_onnx_put_cast(n, power, o->dtype);
}

static const struct binary {
    const char *op, *op_type;
    const char *(*put)(ln_onnx_op *n, const operands *o);
} binaries[] = {
    {"TL_BINARY_ADD", "Add", NULL},
    {"TL_BINARY_SUB", "Sub", NULL},
    {"TL_BINARY_MUL", "Mul", NULL},
    {"TL_BINARY_DIV", "Div", NULL},
    {"TL_BINARY_MOD", NULL, put_mod},
    {"TL_BINARY_FMOD", NULL, put_fmod},
    {"TL_BINARY_POW", "Pow", NULL},
    {"TL_BINARY_MAX", "Max", NULL},
    {"TL_BINARY_MIN", "Min", NULL},
    {"TL_BINARY_PRELU", NULL, put_prelu},
    {"TL_BINARY_AND", NULL, put_and},
    {"TL_BINARY_OR", NULL, put_or},
    {"TL_BINARY_XOR", NULL, put_xor},
    {"TL_BINARY_SHIFT_LEFT", NULL, put_shift_left},
    {"TL_BINARY_SHIFT_RIGHT", NULL, put_shift_right},
    {"TL_BINARY_PICK_MAX", NULL, put_pick_max},
    {"TL_BINARY_PICK_MIN", NULL, put_pick_min},
    {"TL_BINARY_POW_DOUBLE", NULL, put_pow_double},
};

static void write_operation(ln_onnx_op *n, const char *op)
{
    const struct binary *const row = LN_ROW_NAMED(binaries, op);
    const operands o = {.a = ln_onnx_op_in(n, "src1"),
                        .b = ln_onnx_op_in(n, "src2"),
                        .dtype = ln_onnx_op_tensor(n, "src1")->dtype};
    if (!row)
        ln_onnx_op_lacks(n, "parameter 'op' is %s", op);
    else if (row->put)
        end_with(n, row->put(n, &o));
    else
        LN_ONNX_PUT_AS(n, "dst", row->op_type, LN_ONNX_SRC(o.a), LN_ONNX_SRC(o.b));
}

static void write_binary(ln_onnx_op *n)
{
    write_operation(n, ln_op_string(n->op, "op"));
}

static void write_elew(ln_onnx_op *n)
{
    const tl_elew_op op = tl_elew_op_from_str(ln_op_string(n->op, "elew_op"));
    write_operation(
        n, tl_binary_op_name(tl_elew_op_as_binary(op, ln_onnx_op_tensor(n, "src1")->dtype)));
}

static void write_compare(ln_onnx_op *n)
{
    static const struct {
        const char *op, *op_type;
    } rows[] = {{"TL_COMPARE_EQUAL", "Equal"},
                {"TL_COMPARE_LESS", "Less"},
                {"TL_COMPARE_LESS_EQUAL", "LessOrEqual"},
                {"TL_COMPARE_GREATER", "Greater"},
                {"TL_COMPARE_GREATER_EQUAL", "GreaterOrEqual"},
                {"TL_COMPARE_NOT_EQUAL", NULL}};
    const char *const op = ln_op_string(n->op, "op");
    const char *const a = ln_onnx_op_in(n, "src1"), *const b = ln_onnx_op_in(n, "src2");
    size_t k = 0;
    while (rows[k].op_type && strcmp(rows[k].op, op) != 0)
        k++;
    if (rows[k].op_type)
        LN_ONNX_PUT_AS(n, "dst", rows[k].op_type, LN_ONNX_SRC(a), LN_ONNX_SRC(b));
    else
        LN_ONNX_PUT_AS(n, "dst", "Not", LN_ONNX_SRC(ln_onnx_put_pair(n, "Equal", a, b)));
}

// Classes and types

static void write_classify(ln_onnx_op *n)
{
    const int nan = ln_op_bool(n->op, "nan");
    const int above = ln_op_bool(n->op, "positive_inf");
    const int below = ln_op_bool(n->op, "negative_inf");
    const tl_tensor *const src = ln_onnx_op_tensor(n, "src");
    const char *x = ln_onnx_op_in(n, "src");
    // Up to operator set 19, IsInf is of floats of 32 and 64 bits only.
    if (tl_size_of(src->dtype) == 2 && (above || below))
        x = ln_onnx_put_cast(n, x, TL_FLOAT);
    const char *const is_nan = nan ? ln_onnx_put(n, "IsNaN", x) : NULL;
    const char *const is_inf =
        above || below || !nan
            ? LN_ONNX_PUT(n, "IsInf", LN_ONNX_SRC(x), LN_INT("detect_positive", above),
                          LN_INT("detect_negative", below))
            : NULL;
    end_with(n, is_inf && is_nan ? ln_onnx_put_pair(n, "Or", is_inf, is_nan)
                : is_inf         ? is_inf
                                 : is_nan);
}

// Up to operator set 18, a conversion to TL_BFLOAT16 truncates.
static void write_cast(ln_onnx_op *n)
{
    const tl_dtype from = ln_onnx_op_tensor(n, "src")->dtype;
    if (ln_onnx_op_tensor(n, "dst")->dtype == TL_BFLOAT16 && from != TL_BFLOAT16 &&
        tl_size_of(from) > 1)
        ln_onnx_op_since(n, 19);
    LN_ONNX_PUT_AS(n, "dst", "Cast", LN_ONNX_SRC(ln_onnx_op_in(n, "src")),
                   LN_DTYPE("to", ln_onnx_op_tensor(n, "dst")->dtype));
}

const ln_onnx_op_row ln_onnx_write_rows_elementwise[] = {
    {LN_OP_UNARY, write_unary},       {LN_OP_RELU, write_relu}, {LN_OP_LRELU, write_lrelu},
    {LN_OP_BINARY, write_binary},     {LN_OP_ELEW, write_elew}, {LN_OP_COMPARE, write_compare},
    {LN_OP_CLASSIFY, write_classify}, {LN_OP_CAST, write_cast}, {NULL},
};
