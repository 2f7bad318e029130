// SPDX-License-Identifier: Apache-2.0
// Writing functions of each element.

#include <math.h>
#include <string.h>

#include "front/nnvm/write/ln_nnvm_write.h"
#include "tensorlight/tl_type.h"

/* The arguments of a function: the source and two numbers. */
typedef struct args {
    ln_nnvm_value x;
    double alpha, beta;
} args;

static ln_nnvm_value write_not(ln_nnvm_op *n, args a)
{
    const tl_dtype dtype = ln_nnvm_op_tensor_of(n, "src")->dtype;
    if (dtype == TL_BOOL)
        return ln_put(n, "logical_not", ln_put_numbers(n, a.x));
    if (dtype == TL_UINT64)
        ln_nnvm_op_fail(n, "the bits of %s cannot be inverted", tl_dtype_name(dtype));
    // All bits set is the largest number, or -1.
    const int is_signed = tl_dtype_min_double(dtype) < 0;
    return ln_put_scalar(n, "rsub", a.x, is_signed ? -1 : tl_dtype_max_double(dtype));
}

static ln_nnvm_value write_reciprocal(ln_nnvm_op *n, args a)
{
    return ln_put_scalar(n, "rdiv", a.x, 1);
}

static ln_nnvm_value write_affine_function(ln_nnvm_op *n, args a)
{
    return ln_put_scalar(n, "add", ln_put_scalar(n, "mul", a.x, a.alpha), a.beta);
}

/* Subtracting 1 from a power near 1, or adding a small number to 1, loses its last digits. Kahan's
 * formulas have them back from what the rounded sum is off by. Source: Higham, Accuracy and
 * Stability of Numerical Algorithms, 2002, section 1.14. */

// More than 0 where |x| < limit.
static ln_nnvm_value put_within(ln_nnvm_op *n, ln_nnvm_value x, double limit)
{
    return ln_put(n, "relu", ln_put_scalar(n, "rsub", ln_put(n, "abs", x), limit));
}

/** e^x - 1: with u = e^x, rounded, it is (u - 1) x / log(u) near 0. */
static ln_nnvm_value put_expm1(ln_nnvm_op *n, ln_nnvm_value x)
{
    const ln_nnvm_value u = ln_put(n, "exp", x), rest = ln_put_scalar(n, "sub", u, 1);
    const ln_nnvm_value exact =
        ln_put_binary(n, "mul", rest, ln_put_binary(n, "div", x, ln_put(n, "log", u)));
    return ln_put_where(n, put_within(n, x, 1), ln_put_where(n, rest, exact, x), rest);
}

/** log(1 + x) for x near 0: with u = 1 + x, rounded, it is log(u) x / (u - 1). */
static ln_nnvm_value put_log1p(ln_nnvm_op *n, ln_nnvm_value x)
{
    const ln_nnvm_value u = ln_put_scalar(n, "add", x, 1), rest = ln_put_scalar(n, "sub", u, 1);
    const ln_nnvm_value exact =
        ln_put_binary(n, "mul", ln_put(n, "log", u), ln_put_binary(n, "div", x, rest));
    return ln_put_where(n, rest, exact, x);
}

/** log((1 + x) / (1 - x)) / 2, near 0 as log(1 + 2 x / (1 - x)) / 2. */
static ln_nnvm_value write_atanh(ln_nnvm_op *n, args a)
{
    const ln_nnvm_value below = ln_put_scalar(n, "rsub", a.x, 1);
    const ln_nnvm_value twice = ln_put_binary(n, "div", ln_put_scalar(n, "mul", a.x, 2), below);
    const ln_nnvm_value ratio = ln_put_binary(n, "div", ln_put_scalar(n, "add", a.x, 1), below);
    const ln_nnvm_value log =
        ln_put_where(n, put_within(n, a.x, 0.5), put_log1p(n, twice), ln_put(n, "log", ratio));
    return ln_put_scalar(n, "mul", log, 0.5);
}

/** h^2 / 2 + sign / (2 h^2) with h = e^(x / 2), whose square is the last to overflow. */
static ln_nnvm_value put_halves(ln_nnvm_op *n, ln_nnvm_value x, const char *sign)
{
    const ln_nnvm_value h = ln_put(n, "exp", ln_put_scalar(n, "mul", x, 0.5));
    const ln_nnvm_value rising = ln_put_binary(n, "mul", ln_put_scalar(n, "mul", h, 0.5), h);
    const ln_nnvm_value falling = ln_put_binary(n, "div", ln_put_scalar(n, "rdiv", h, 0.5), h);
    return ln_put_binary(n, sign, rising, falling);
}

static ln_nnvm_value write_cosh(ln_nnvm_op *n, args a)
{
    return put_halves(n, a.x, "add");
}

/** Near 0 (t + t / (t + 1)) / 2 with t = e^x - 1. */
static ln_nnvm_value write_sinh(ln_nnvm_op *n, args a)
{
    const ln_nnvm_value t = put_expm1(n, a.x);
    const ln_nnvm_value other = ln_put_binary(n, "div", t, ln_put_scalar(n, "add", t, 1));
    const ln_nnvm_value near = ln_put_scalar(n, "mul", ln_put_binary(n, "add", t, other), 0.5);
    return ln_put_where(n, put_within(n, a.x, 1), near, put_halves(n, a.x, "sub"));
}

/** log(x) + log(1 + sqrt(1 + sign / x^2)), where x^2 itself would overflow. */
static ln_nnvm_value put_far_inverse(ln_nnvm_op *n, ln_nnvm_value x, int sign)
{
    const ln_nnvm_value inverse = ln_put_scalar(n, "rdiv", x, 1);
    const ln_nnvm_value square = ln_put_binary(n, "mul", inverse, inverse);
    const ln_nnvm_value sum = ln_put_scalar(n, sign > 0 ? "add" : "rsub", square, 1);
    const ln_nnvm_value root = ln_put_scalar(n, "add", ln_put(n, "sqrt", sum), 1);
    return ln_put_binary(n, "add", ln_put(n, "log", x), ln_put(n, "log", root));
}

/** Of |x|, with the sign of x: near 0 log(1 + x + x^2 / (1 + sqrt(1 + x^2))). */
static ln_nnvm_value write_asinh(ln_nnvm_op *n, args a)
{
    const ln_nnvm_value size = ln_put(n, "abs", a.x), square = ln_put_binary(n, "mul", size, size);
    const ln_nnvm_value root = ln_put(n, "sqrt", ln_put_scalar(n, "add", square, 1));
    const ln_nnvm_value rest = ln_put_binary(n, "div", square, ln_put_scalar(n, "add", root, 1));
    const ln_nnvm_value near = put_log1p(n, ln_put_binary(n, "add", size, rest));
    const ln_nnvm_value far = put_far_inverse(n, size, 1);
    return ln_put_binary(n, "mul", ln_put_where(n, put_within(n, a.x, 1), near, far),
                         ln_put_sign(n, a.x));
}

/** Near 1 log(1 + d + sqrt(2 d + d^2)) with d = x - 1. */
static ln_nnvm_value write_acosh(ln_nnvm_op *n, args a)
{
    const ln_nnvm_value d = ln_put_scalar(n, "sub", a.x, 1);
    const ln_nnvm_value sum = ln_put_binary(n, "mul", d, ln_put_scalar(n, "add", d, 2));
    const ln_nnvm_value near = put_log1p(n, ln_put_binary(n, "add", d, ln_put(n, "sqrt", sum)));
    return ln_put_where(n, put_within(n, d, 1), near, put_far_inverse(n, a.x, -1));
}

static ln_nnvm_value write_sign(ln_nnvm_op *n, args a)
{
    return ln_put_sign(n, a.x);
}

/** To the even one of two: to a number below the first one that has no fraction, that number is
 *  added and subtracted; above it there is nothing to round. */
static ln_nnvm_value write_round(ln_nnvm_op *n, args a)
{
    const tl_dtype dtype = a.x.dtype;
    const double whole = dtype == TL_DOUBLE    ? 0x1p52
                         : dtype == TL_FLOAT   ? 0x1p23
                         : dtype == TL_FLOAT16 ? 0x1p10
                                               : 0x1p7;
    if (!tl_dtype_is_float(dtype))
        return a.x;
    const ln_nnvm_value size = ln_put(n, "abs", a.x), low = ln_put_clip(n, size, 0, whole);
    const ln_nnvm_value high = ln_put_binary(n, "sub", size, low);
    const ln_nnvm_value even = ln_put_scalar(n, "sub", ln_put_scalar(n, "add", low, whole), whole);
    return ln_put_binary(n, "mul", ln_put_binary(n, "add", even, high), ln_put_sign(n, a.x));
}

static ln_nnvm_value write_scaled_tanh(ln_nnvm_op *n, args a)
{
    return ln_put_scalar(n, "mul", ln_put(n, "tanh", ln_put_scalar(n, "mul", a.x, a.beta)),
                         a.alpha);
}

static ln_nnvm_value write_hard_sigmoid(ln_nnvm_op *n, args a)
{
    return ln_put_clip(n, write_affine_function(n, a), 0, 1);
}

static ln_nnvm_value write_hard_swish(ln_nnvm_op *n, args a)
{
    return ln_put_binary(n, "mul", a.x, write_hard_sigmoid(n, a));
}

/** max(x, 0) + log(1 + e^-|x|), where nothing overflows. */
static ln_nnvm_value write_softplus(ln_nnvm_op *n, args a)
{
    const ln_nnvm_value small = ln_put(n, "exp", ln_put(n, "negative", ln_put(n, "abs", a.x)));
    return ln_put_binary(n, "add", ln_put(n, "relu", a.x), put_log1p(n, small));
}

static ln_nnvm_value write_softsign(ln_nnvm_op *n, args a)
{
    return ln_put_binary(n, "div", a.x, ln_put_scalar(n, "add", ln_put(n, "abs", a.x), 1));
}

static ln_nnvm_value write_mish(ln_nnvm_op *n, args a)
{
    return ln_put_binary(n, "mul", a.x, ln_put(n, "tanh", write_softplus(n, a)));
}

static ln_nnvm_value write_swish(ln_nnvm_op *n, args a)
{
    const ln_nnvm_value x = a.alpha == 1 ? a.x : ln_put_scalar(n, "mul", a.x, a.alpha);
    return ln_put_binary(n, "mul", a.x, ln_put(n, "sigmoid", x));
}

/** x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2. */
static ln_nnvm_value write_gelu_tanh(ln_nnvm_op *n, args a)
{
    const ln_nnvm_value square = ln_put_binary(n, "mul", a.x, a.x);
    const ln_nnvm_value bend =
        ln_put_scalar(n, "add", ln_put_scalar(n, "mul", square, 0.044715), 1);
    const ln_nnvm_value inner =
        ln_put_scalar(n, "mul", ln_put_binary(n, "mul", a.x, bend), 0.79788456080286535588);
    const ln_nnvm_value outer = ln_put_scalar(n, "add", ln_put(n, "tanh", inner), 1);
    return ln_put_binary(n, "mul", ln_put_scalar(n, "mul", a.x, 0.5), outer);
}

static ln_nnvm_value write_leaky(ln_nnvm_op *n, args a)
{
    return ln_put_leaky(n, a.x, a.alpha);
}

/** x > 0 ? x : a (e^(x / b) - 1). */
static ln_nnvm_value elu(ln_nnvm_op *n, ln_nnvm_value x, double a, double b)
{
    ln_nnvm_value below = ln_put_clip(n, x, -INFINITY, 0);
    below = b == 1 ? below : ln_put_scalar(n, "div", below, b);
    below = put_expm1(n, below);
    below = a == 1 ? below : ln_put_scalar(n, "mul", below, a);
    return ln_put_binary(n, "add", ln_put(n, "relu", x), below);
}

static ln_nnvm_value write_elu(ln_nnvm_op *n, args a)
{
    return elu(n, a.x, a.alpha, 1);
}

static ln_nnvm_value write_celu(ln_nnvm_op *n, args a)
{
    return elu(n, a.x, a.alpha, a.alpha);
}

static ln_nnvm_value write_selu(ln_nnvm_op *n, args a)
{
    return ln_put_scalar(n, "mul", elu(n, a.x, a.alpha, 1), a.beta);
}

static ln_nnvm_value write_clip_function(ln_nnvm_op *n, args a)
{
    return ln_put_clip(n, a.x, a.alpha, a.beta);
}

/* Functions of core's, or what they are written of. Sines, their inverses, and the error function
 * have nothing there. */
static const struct function {
    const char *func;
    const char *op;
    ln_nnvm_value (*write)(ln_nnvm_op *n, args a);
} functions[] = {
    {"TL_UNARY_ABS", "abs", NULL},
    {"TL_UNARY_NEG", "negative", NULL},
    {"TL_UNARY_SIGN", NULL, write_sign},
    {"TL_UNARY_NOT", NULL, write_not},
    {"TL_UNARY_RECIPROCAL", NULL, write_reciprocal},
    {"TL_UNARY_AFFINE", NULL, write_affine_function},
    {"TL_UNARY_SQRT", "sqrt", NULL},
    {"TL_UNARY_EXP", "exp", NULL},
    {"TL_UNARY_LOG", "log", NULL},
    {"TL_UNARY_CEIL", "ceil", NULL},
    {"TL_UNARY_FLOOR", "floor", NULL},
    {"TL_UNARY_ROUND", NULL, write_round},
    {"TL_UNARY_TANH", "tanh", NULL},
    {"TL_UNARY_SINH", NULL, write_sinh},
    {"TL_UNARY_COSH", NULL, write_cosh},
    {"TL_UNARY_ASINH", NULL, write_asinh},
    {"TL_UNARY_ACOSH", NULL, write_acosh},
    {"TL_UNARY_ATANH", NULL, write_atanh},
    {"TL_UNARY_SCALEDTANH", NULL, write_scaled_tanh},
    {"TL_UNARY_SIGMOID", "sigmoid", NULL},
    {"TL_UNARY_HARDSIGMOID", NULL, write_hard_sigmoid},
    {"TL_UNARY_HARDSWISH", NULL, write_hard_swish},
    {"TL_UNARY_SOFTPLUS", NULL, write_softplus},
    {"TL_UNARY_SOFTSIGN", NULL, write_softsign},
    {"TL_UNARY_MISH", NULL, write_mish},
    {"TL_UNARY_SWISH", NULL, write_swish},
    {"TL_UNARY_GELU_TANH", NULL, write_gelu_tanh},
    {"TL_UNARY_RELU", "relu", NULL},
    {"TL_UNARY_LRELU", NULL, write_leaky},
    {"TL_UNARY_ELU", NULL, write_elu},
    {"TL_UNARY_CELU", NULL, write_celu},
    {"TL_UNARY_SELU", NULL, write_selu},
    {"TL_UNARY_CLIP", NULL, write_clip_function},
};

static const struct function *find_function(const char *func)
{
    for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
        if (!strcmp(functions[i].func, func))
            return &functions[i];
    return NULL;
}

static int has_function(const char *func)
{
    return find_function(func) != NULL;
}

static ln_nnvm_value write_unary(ln_nnvm_op *n)
{
    const struct function *const f = find_function(ln_nnvm_op_text(n, "func", ""));
    const args a = {ln_nnvm_op_raw(n, "src"), ln_nnvm_op_number(n, "alpha", 1),
                    ln_nnvm_op_number(n, "beta", 0)};
    return f->write ? f->write(n, a) : ln_put(n, f->op, a.x);
}

static ln_nnvm_value write_cast(ln_nnvm_op *n)
{
    const ln_nnvm_value src = ln_nnvm_op_tensor(n, ln_nnvm_src_of(n->op, "src"));
    return ln_put_cast(n, src, ln_nnvm_op_tensor_of(n, "dst")->dtype);
}

static ln_nnvm_value write_forward(ln_nnvm_op *n)
{
    return ln_nnvm_op_tensor(n, ln_nnvm_src_of(n->op, "src"));
}

const ln_nnvm_op_row ln_nnvm_write_rows_function[] = {
    {"unary", write_unary, "func", has_function},
    {"cast", write_cast},
    {"forward", write_forward},
    {NULL},
};
