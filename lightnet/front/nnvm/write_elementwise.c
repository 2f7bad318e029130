// SPDX-License-Identifier: Apache-2.0
// Writing operators on each element.

#include <float.h>
#include <math.h>
#include <string.h>

#include "front/nnvm/ln_nnvm_put.h"
#include "front/nnvm/ln_nnvm_steps.h"
#include "tensorlight/tl_type.h"

// Truth values as numbers: core's logic gives the type that it takes.
static ln_nnvm_value as_numbers(ln_nnvm_op *n, ln_nnvm_value v)
{
    return v.dtype == TL_BOOL ? ln_put_cast(n, v, TL_UINT8) : v;
}

/* ---- functions ---- */

/* What a function is written of: the source and its two numbers. */
typedef struct args {
    ln_nnvm_value x;
    double alpha, beta;
} args;

static ln_nnvm_value write_not(ln_nnvm_op *n, args a)
{
    const tl_dtype dtype = ln_nnvm_op_tensor_of(n, "src")->dtype;
    if (dtype == TL_BOOL)
        return ln_put(n, "logical_not", as_numbers(n, a.x));
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

// cond ? a : b, of one shape.
static ln_nnvm_value put_where(ln_nnvm_op *n, ln_nnvm_value cond, ln_nnvm_value a, ln_nnvm_value b)
{
    ln_put_begin(n, "where");
    ln_put_arg(n, cond);
    ln_put_arg(n, a);
    ln_put_arg(n, b);
    return ln_put_end(n, a.dtype, a.ndim, a.dims, 1);
}

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
    return put_where(n, put_within(n, x, 1), put_where(n, rest, exact, x), rest);
}

/** log(1 + x) for x near 0: with u = 1 + x, rounded, it is log(u) x / (u - 1). */
static ln_nnvm_value put_log1p(ln_nnvm_op *n, ln_nnvm_value x)
{
    const ln_nnvm_value u = ln_put_scalar(n, "add", x, 1), rest = ln_put_scalar(n, "sub", u, 1);
    const ln_nnvm_value exact =
        ln_put_binary(n, "mul", ln_put(n, "log", u), ln_put_binary(n, "div", x, rest));
    return put_where(n, rest, exact, x);
}

/** log((1 + x) / (1 - x)) / 2, near 0 as log(1 + 2 x / (1 - x)) / 2. */
static ln_nnvm_value write_atanh(ln_nnvm_op *n, args a)
{
    const ln_nnvm_value below = ln_put_scalar(n, "rsub", a.x, 1);
    const ln_nnvm_value twice = ln_put_binary(n, "div", ln_put_scalar(n, "mul", a.x, 2), below);
    const ln_nnvm_value ratio = ln_put_binary(n, "div", ln_put_scalar(n, "add", a.x, 1), below);
    const ln_nnvm_value log =
        put_where(n, put_within(n, a.x, 0.5), put_log1p(n, twice), ln_put(n, "log", ratio));
    return ln_put_scalar(n, "mul", log, 0.5);
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
    if (!ln_nnvm_is_float(dtype))
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

/** x < 0 ? slope x : x; core's operator takes slopes that are not negative. */
static ln_nnvm_value leaky(ln_nnvm_op *n, ln_nnvm_value x, double slope)
{
    if (slope >= 0)
        return ln_put_number(n, "leaky_relu", x, "alpha", slope);
    const ln_nnvm_value below = ln_put(n, "relu", ln_put(n, "negative", x));
    return ln_put_binary(n, "sub", ln_put(n, "relu", x), ln_put_scalar(n, "mul", below, slope));
}

static ln_nnvm_value write_leaky(ln_nnvm_op *n, args a)
{
    return leaky(n, a.x, a.alpha);
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

/* Functions of core's, or what they are written of. Sines, their inverses, most of the hyperbolic
 * functions, and the error function have nothing there. */
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

/** An operator without parameters that core has by the same name. */
static ln_nnvm_value write_same(ln_nnvm_op *n)
{
    return ln_put(n, n->op->op_arg->optype, ln_nnvm_op_raw(n, "src"));
}

static ln_nnvm_value write_lrelu(ln_nnvm_op *n)
{
    return leaky(n, ln_nnvm_op_raw(n, "src"), ln_nnvm_op_number(n, "negslope", 0));
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

/* ---- operations ---- */

static ln_nnvm_value write_operation(ln_nnvm_op *n, const char *op)
{
    const ln_nnvm_value a = ln_nnvm_op_raw(n, "src1"), b = ln_nnvm_op_raw(n, "src2");
    return ln_put_binary(n, op, a, b);
}

/** The sign of b: what is left of a division toward zero, and b once more where signs differ. */
static ln_nnvm_value write_mod(ln_nnvm_op *n, const char *op)
{
    const ln_nnvm_value b = ln_nnvm_op_raw(n, "src2"), rest = write_operation(n, op);
    const ln_nnvm_value signs =
        ln_put_binary(n, "mul", ln_put_clip(n, rest, -1, 1), ln_put_clip(n, b, -1, 1));
    const ln_nnvm_value differs = ln_put_truth(n, ln_put(n, "relu", ln_put(n, "negative", signs)));
    return ln_put_binary(n, "add", rest, ln_put_binary(n, "mul", b, differs));
}

/** A minimum of a maximum of integers with numbers is a clip, which is read as these. */
static ln_nnvm_value write_bound(ln_nnvm_op *n, const char *op)
{
    const ln_nnvm_value a = ln_nnvm_op_raw(n, "src1"), b = ln_nnvm_op_raw(n, "src2");
    const ln_op *const max =
        ln_nnvm_maker(n, ln_nnvm_src_of(n->op, "src1"), "binary", "op", "TL_BINARY_MAX");
    double least;
    if (strcmp(op, "min") || !b.is_number || ln_nnvm_is_float(b.dtype) || !max || b.ndim > a.ndim ||
        !ln_nnvm_own_scalar(n, ln_nnvm_src_of(max, "src2"), &least))
        return ln_put_bound(n, op, a, b);
    return ln_put_clip(n, ln_nnvm_op_tensor(n, ln_nnvm_src_of(max, "src1")), least, b.number);
}

/* ---- truth values ---- */

// Of compare(x, 0), != or ==: x, else NULL.
static const char *compared_with_zero(ln_nnvm_op *n, const char *tensor, const char *op)
{
    double zero;
    const ln_op *const compare = ln_nnvm_maker(n, tensor, "compare", "op", op);
    if (!compare || !ln_nnvm_own_scalar(n, ln_nnvm_src_of(compare, "src2"), &zero) || zero != 0)
        return NULL;
    const char *const src = ln_nnvm_src_of(compare, "src1");
    const tl_tensor *const t = ln_translation_tensor(&n->writer->draft.base, src);
    return t->ndim == ln_translation_tensor(&n->writer->draft.base, tensor)->ndim ? src : NULL;
}

// Numbers that are not 0 where the truth value is true.
static ln_nnvm_value truth_of(ln_nnvm_op *n, const char *tensor)
{
    const char *const numbers = compared_with_zero(n, tensor, "TL_COMPARE_NOT_EQUAL");
    return as_numbers(n, ln_nnvm_op_tensor(n, numbers ? numbers : tensor));
}

/** Of tensors of one shape an operator of core's, of others one of 0 and 1. */
static ln_nnvm_value write_logical(ln_nnvm_op *n, const char *op)
{
    const int is_and = !strcmp(op, "and"), is_or = !strcmp(op, "or");
    if (ln_nnvm_op_tensor_of(n, "src1")->dtype != TL_BOOL)
        ln_nnvm_op_fail(n, "bits of integers, for which NNVM's core has no operator");
    ln_nnvm_value a = truth_of(n, ln_nnvm_src_of(n->op, "src1"));
    ln_nnvm_value b = truth_of(n, ln_nnvm_src_of(n->op, "src2"));
    b = ln_put_cast(n, b, a.dtype);
    if ((is_and || is_or) && ln_nnvm_same_shape(a, b)) {
        ln_put_begin(n, is_and ? "logical_and" : "logical_or");
        ln_put_arg(n, a);
        ln_put_arg(n, b);
        return ln_put_end(n, a.dtype, a.ndim, a.dims, 1);
    }
    a = ln_put_truth(n, a);
    b = ln_put_truth(n, b);
    return ln_put_binary(n, is_and ? "mul" : is_or ? "max" : "not_equal", a, b);
}

static ln_nnvm_value write_compare(ln_nnvm_op *n)
{
    static const char *const ops[][2] = {
        {"TL_COMPARE_EQUAL", "equal"},     {"TL_COMPARE_NOT_EQUAL", "not_equal"},
        {"TL_COMPARE_LESS", "less"},       {"TL_COMPARE_LESS_EQUAL", "less_equal"},
        {"TL_COMPARE_GREATER", "greater"}, {"TL_COMPARE_GREATER_EQUAL", "greater_equal"},
    };
    const char *const op = ln_nnvm_op_text(n, "op", ops[0][0]);
    const char *const zero = compared_with_zero(n, n->label, op);
    if (zero && !strcmp(op, "TL_COMPARE_EQUAL"))
        return ln_put(n, "logical_not", as_numbers(n, ln_nnvm_op_tensor(n, zero)));
    if (zero && !strcmp(op, "TL_COMPARE_NOT_EQUAL"))
        return ln_put_truth(n, as_numbers(n, ln_nnvm_op_tensor(n, zero)));
    for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++)
        if (!strcmp(ops[i][0], op)) {
            const ln_nnvm_value a = as_numbers(n, ln_nnvm_op_raw(n, "src1"));
            const ln_nnvm_value b = as_numbers(n, ln_nnvm_op_raw(n, "src2"));
            return ln_put_binary(n, ops[i][1], a, ln_put_cast(n, b, a.dtype));
        }
    ln_nnvm_op_fail(n, "parameter 'op' is %s, which NNVM's core has nothing for", op);
    return ln_nnvm_op_raw(n, "src1");
}

static ln_nnvm_value write_where(ln_nnvm_op *n)
{
    const tl_tensor *const dst = ln_nnvm_op_tensor_of(n, "dst");
    const ln_nnvm_value cond = truth_of(n, ln_nnvm_src_of(n->op, "cond"));
    const ln_nnvm_value a = ln_nnvm_op_raw(n, "src1");
    const ln_nnvm_value b = ln_put_cast(n, ln_nnvm_op_raw(n, "src2"), a.dtype);
    const ln_nnvm_value srcs[] = {ln_put_expand(n, cond, dst->ndim, dst->dims),
                                  ln_put_expand(n, a, dst->ndim, dst->dims),
                                  ln_put_expand(n, b, dst->ndim, dst->dims)};
    return put_where(n, srcs[0], srcs[1], srcs[2]);
}

/* ---- slopes ---- */

// The one axis along which the slopes differ; -1: there are several, or none.
static int slope_axis(const tl_tensor *src, const tl_tensor *slope)
{
    int axis = -1;
    for (int i = 0; i < slope->ndim; i++) {
        const int at = i + src->ndim - slope->ndim;
        if (slope->dims[i] == 1)
            continue;
        if (axis >= 0 || at < 0)
            return -1;
        axis = at;
    }
    return axis;
}

/** x < 0 ? slope x : x, with a slope for each index along an axis, or of any other shape. */
static ln_nnvm_value write_prelu(ln_nnvm_op *n, const char *op)
{
    (void)op;
    const tl_tensor *const slope = ln_nnvm_op_tensor_of(n, "src2");
    const int axis = slope_axis(ln_nnvm_op_tensor_of(n, "src1"), slope);
    const ln_nnvm_value x = ln_nnvm_op_raw(n, "src1"), slopes = ln_nnvm_op_raw(n, "src2");
    if (slopes.is_number && slopes.ndim <= x.ndim)
        return leaky(n, x, slopes.number);
    if (axis < 0) {
        const ln_nnvm_value below = ln_put(n, "relu", ln_put(n, "negative", x));
        const ln_nnvm_value part = ln_put_binary(n, "mul", below, slopes);
        return ln_put_binary(n, "sub", ln_put(n, "relu", x), part);
    }
    // The translator of prelu gives slopes that are a vector their place among the axes.
    const char *src = ln_nnvm_src_of(n->op, "src2");
    const ln_op *const reshape = ln_nnvm_maker(n, src, "reshape", NULL, NULL);
    ln_nnvm_value alpha = ln_nnvm_op_tensor(n, reshape ? ln_nnvm_src_of(reshape, "src") : src);
    if (alpha.ndim != 1)
        alpha = ln_put_reshape(n, slopes, 1, &slope->len);
    ln_put_begin(n, "prelu");
    ln_put_arg(n, x);
    ln_put_arg(n, alpha);
    ln_nnvm_draft_set_int(&n->writer->draft, "axis", axis);
    return ln_put_end(n, x.dtype, x.ndim, x.dims, 1);
}

/* ---- tables ---- */

static const struct operation {
    const char *name, *elew; /* of tl_binary_op, of tl_elew_op */
    ln_nnvm_value (*write)(ln_nnvm_op *n, const char *op);
    const char *op;
} operations[] = {
    {"TL_BINARY_ADD", "TL_SUM", write_operation, "add"},
    {"TL_BINARY_SUB", "TL_SUB", write_operation, "sub"},
    {"TL_BINARY_MUL", "TL_MUL", write_operation, "mul"},
    {"TL_BINARY_DIV", "TL_DIV", write_operation, "div"},
    {"TL_BINARY_POW", "TL_POW", write_operation, "pow"},
    {"TL_BINARY_FMOD", "-", write_operation, "mod"},
    {"TL_BINARY_MOD", "-", write_mod, "mod"},
    {"TL_BINARY_MAX", "TL_MAX", write_bound, "max"},
    {"TL_BINARY_MIN", "TL_MIN", write_bound, "min"},
    {"TL_BINARY_PRELU", "-", write_prelu, "prelu"},
    {"TL_BINARY_AND", "-", write_logical, "and"},
    {"TL_BINARY_OR", "-", write_logical, "or"},
    {"TL_BINARY_XOR", "-", write_logical, "xor"},
    {"TL_BINARY_SHIFT_LEFT", "-", write_operation, "left_shift"},
    {"TL_BINARY_SHIFT_RIGHT", "-", write_operation, "right_shift"},
};

// By its name as a tl_binary_op or as a tl_elew_op.
static const struct operation *find_operation(const char *op)
{
    for (size_t i = 0; i < sizeof(operations) / sizeof(operations[0]); i++)
        if (!strcmp(operations[i].name, op) || !strcmp(operations[i].elew, op))
            return &operations[i];
    return NULL;
}

static int has_operation(const char *op)
{
    return find_operation(op) != NULL;
}

static ln_nnvm_value write_binary(ln_nnvm_op *n)
{
    const struct operation *const o = find_operation(ln_nnvm_op_text(n, "op", ""));
    return o->write(n, o->op);
}

static ln_nnvm_value write_elew(ln_nnvm_op *n)
{
    const struct operation *const o = find_operation(ln_nnvm_op_text(n, "elew_op", ""));
    return o->write(n, o->op);
}

const ln_nnvm_op_row ln_nnvm_write_rows_elementwise[] = {
    {"unary", write_unary, "func", has_function},
    {"binary", write_binary, "op", has_operation},
    {"elew", write_elew, "elew_op", has_operation},
    {"relu", write_same},
    {"sigmoid", write_same},
    {"lrelu", write_lrelu},
    {"cast", write_cast},
    {"forward", write_forward},
    {"compare", write_compare},
    {"where", write_where},
    {NULL},
};
