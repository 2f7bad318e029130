// SPDX-License-Identifier: Apache-2.0
// Operators on each element: functions, operations of two tensors or of one and a number.

#include <float.h>
#include <string.h>

#include "front/nnvm/ln_nnvm_rows.h"

/* ---- functions ---- */

/** `with`: a name of tl_unary_func. */
static void translate_unary(ln_nnvm_node *n)
{
    ln_emit_unary(&n->emit, n->row->with, ln_nnvm_in(n, 0), 0);
}

/** `with`: an operator of one input without parameters. */
static void translate_simple(ln_nnvm_node *n)
{
    ln_emit_simple(&n->emit, n->row->with, ln_nnvm_in(n, 0), 0);
}

/** A function of tl_unary_func with its two numbers. */
static const char *emit_unary_of(ln_nnvm_node *n, const char *func, const char *src, double alpha,
                                 double beta, int i)
{
    ln_emit_begin(&n->emit, "unary");
    ln_emit_arg(&n->emit, "src", src);
    ln_emit_set_string(&n->emit, "func", func);
    ln_emit_set_number(&n->emit, "alpha", alpha);
    ln_emit_set_number(&n->emit, "beta", beta);
    return ln_emit_end(&n->emit, "dst", i);
}

static void translate_identity(ln_nnvm_node *n)
{
    ln_nnvm_alias(n, 0, ln_nnvm_in(n, 0));
}

static void translate_dropout(ln_nnvm_node *n)
{
    if (ln_nnvm_is_mxnet(n) && !strcmp(ln_nnvm_text(n, "mode", "training"), "always"))
        ln_emit_fail(&n->emit, "attribute 'mode' is \"always\": random numbers at inference");
    translate_identity(n);
}

static const char *scalar_of(ln_nnvm_node *n, const char *like, double value)
{
    return ln_emit_scalar(&n->emit, ln_nnvm_tensor_of(n, like)->dtype, value);
}

static int is_float(tl_dtype dtype)
{
    return dtype == TL_FLOAT || dtype == TL_DOUBLE || dtype == TL_FLOAT16 || dtype == TL_BFLOAT16;
}

// The greatest number below 1/2.
static double below_half(tl_dtype dtype)
{
    const double steps[] = {[TL_FLOAT] = FLT_EPSILON,
                            [TL_DOUBLE] = DBL_EPSILON,
                            [TL_FLOAT16] = 0x1p-10,
                            [TL_BFLOAT16] = 0x1p-7}; // from 1 to the next one
    return 0.5 - steps[dtype] / 4;
}

/** sign(x) floor(|x| + h): halves go away from zero. With 1/2 itself as h, sums just below a whole
 *  number would be rounded up to it; with the number below it, they stay, and those of halves are
 *  rounded to the whole number, being halfway to it or closer. */
static void translate_round(ln_nnvm_node *n)
{
    const char *const src = ln_nnvm_in(n, 0);
    const tl_dtype dtype = ln_nnvm_tensor_of(n, src)->dtype;
    if (!is_float(dtype)) {
        ln_nnvm_alias(n, 0, src);
        return;
    }
    const char *const size = ln_emit_unary(&n->emit, "TL_UNARY_ABS", src, LN_EMIT_TEMP);
    const char *const sum = ln_emit_binary(&n->emit, "TL_BINARY_ADD", size,
                                           scalar_of(n, size, below_half(dtype)), LN_EMIT_TEMP);
    const char *const rounded = ln_emit_unary(&n->emit, "TL_UNARY_FLOOR", sum, LN_EMIT_TEMP);
    ln_emit_binary(&n->emit, "TL_BINARY_MUL",
                   ln_emit_unary(&n->emit, "TL_UNARY_SIGN", src, LN_EMIT_TEMP), rounded, 0);
}

/** Toward zero: the sign times the floor of the size. */
static void translate_trunc(ln_nnvm_node *n)
{
    const char *const src = ln_nnvm_in(n, 0);
    const char *const size = ln_emit_unary(&n->emit, "TL_UNARY_ABS", src, LN_EMIT_TEMP);
    const char *const floor = ln_emit_unary(&n->emit, "TL_UNARY_FLOOR", size, LN_EMIT_TEMP);
    ln_emit_binary(&n->emit, "TL_BINARY_MUL",
                   ln_emit_unary(&n->emit, "TL_UNARY_SIGN", src, LN_EMIT_TEMP), floor, 0);
}

static void translate_square(ln_nnvm_node *n)
{
    const char *const src = ln_nnvm_in(n, 0);
    ln_emit_binary(&n->emit, "TL_BINARY_MUL", src, src, 0);
}

/* Functions that are a known one with a number before or behind. */
static const struct composition {
    const char *op;
    const char *first;  /* a function, or NULL */
    const char *binary; /* then this operation with the number on the right, or NULL */
    double number;
    const char *last; /* then this function, or NULL */
} compositions[] = {
    {"expm1", "TL_UNARY_EXP", "TL_BINARY_SUB", 1, NULL},
    {"log1p", NULL, "TL_BINARY_ADD", 1, "TL_UNARY_LOG"},
    {"log10", "TL_UNARY_LOG", "TL_BINARY_MUL", 0.43429448190325182765, NULL},
    {"log2", "TL_UNARY_LOG", "TL_BINARY_MUL", 1.44269504088896340736, NULL},
    {"rsqrt", "TL_UNARY_SQRT", NULL, 0, "TL_UNARY_RECIPROCAL"},
    {NULL},
};

static void translate_composition(ln_nnvm_node *n)
{
    const char *x = ln_nnvm_in(n, 0);
    const struct composition *c = compositions;
    while (c->op && strcmp(c->op, n->vertex->op) != 0)
        c++;
    const int is_last = c->binary || c->last;
    if (c->first)
        x = ln_emit_unary(&n->emit, c->first, x, is_last ? LN_EMIT_TEMP : 0);
    if (c->binary)
        x = ln_emit_binary(&n->emit, c->binary, x, scalar_of(n, x, c->number),
                           c->last ? LN_EMIT_TEMP : 0);
    if (c->last)
        ln_emit_unary(&n->emit, c->last, x, 0);
}

/** The cube root keeps the sign: sign(x) |x|^(1/3). */
static void translate_cbrt(ln_nnvm_node *n)
{
    const int is_inverse = !strcmp(n->row->with, "inverse");
    const char *const src = ln_nnvm_in(n, 0);
    const char *const size = ln_emit_unary(&n->emit, "TL_UNARY_ABS", src, LN_EMIT_TEMP);
    const char *const root =
        ln_emit_binary(&n->emit, "TL_BINARY_POW", size, scalar_of(n, size, 1.0 / 3), LN_EMIT_TEMP);
    const char *const sign = ln_emit_unary(&n->emit, "TL_UNARY_SIGN", src, LN_EMIT_TEMP);
    const char *const x =
        ln_emit_binary(&n->emit, "TL_BINARY_MUL", sign, root, is_inverse ? LN_EMIT_TEMP : 0);
    if (is_inverse)
        ln_emit_unary(&n->emit, "TL_UNARY_RECIPROCAL", x, 0);
}

/** 1 where a condition holds, else 0, in the type of `like`. */
static void emit_truth(ln_nnvm_node *n, const char *truth, const char *like)
{
    ln_emit_cast(&n->emit, truth, ln_nnvm_tensor_of(n, like)->dtype, 0);
}

static const char *emit_compare(ln_nnvm_node *n, const char *op, const char *a, const char *b)
{
    ln_emit_begin(&n->emit, "compare");
    ln_emit_arg(&n->emit, "src1", a);
    ln_emit_arg(&n->emit, "src2", b);
    ln_emit_set_string(&n->emit, "op", op);
    return ln_emit_end(&n->emit, "dst", LN_EMIT_TEMP);
}

static const char *emit_is_set(ln_nnvm_node *n, const char *src)
{
    return emit_compare(n, "TL_COMPARE_NOT_EQUAL", src, scalar_of(n, src, 0));
}

static void translate_not(ln_nnvm_node *n)
{
    const char *const src = ln_nnvm_in(n, 0);
    emit_truth(n, emit_compare(n, "TL_COMPARE_EQUAL", src, scalar_of(n, src, 0)), src);
}

/* ---- activations ---- */

static void translate_leaky_relu(ln_nnvm_node *n)
{
    const char *const src = ln_nnvm_in(n, 0);
    ln_emit_begin(&n->emit, "lrelu");
    ln_emit_arg(&n->emit, "src", src);
    ln_emit_set_number(&n->emit, "negslope", ln_nnvm_float(n, "alpha", 0.25));
    ln_emit_end(&n->emit, "dst", 0);
}

/** x > 0 ? x : slope x, with a slope for each index along an axis, or one for all. */
static void emit_prelu(ln_nnvm_node *n, const char *arg, int64_t given_axis)
{
    const char *const src = ln_nnvm_in(n, 0);
    const tl_tensor *const t = ln_nnvm_tensor_of(n, src);
    const int axis = ln_nnvm_axis(n, given_axis, t->ndim), ndim = t->ndim;
    int dims[LN_MAXDIM], channels = t->ndim ? t->dims[axis] : 1;
    const char *slope = ln_nnvm_weight(n, 1, arg, 1, &channels);
    const int len = ln_nnvm_tensor_of(n, slope)->len;
    if (len != 1 && len != channels)
        ln_emit_fail(&n->emit, "%d slopes, expected 1 or %d", len, channels);
    for (int i = 0; i < ndim; i++)
        dims[i] = i == axis ? len : 1;
    slope = ln_emit_reshape(&n->emit, slope, ndim, dims, LN_EMIT_TEMP);
    ln_emit_binary(&n->emit, "TL_BINARY_PRELU", src, slope, 0);
}

static void translate_prelu(ln_nnvm_node *n)
{
    emit_prelu(n, "alpha", ln_nnvm_int(n, "axis", 1));
}

/** What an enumerated attribute names, or NULL after a failure. */
static const char *choose(ln_nnvm_node *n, const char *key, const char *value,
                          const char *const (*choices)[2])
{
    for (; (*choices)[0]; choices++)
        if (!strcmp((*choices)[0], value))
            return (*choices)[1];
    ln_emit_fail(&n->emit, "attribute '%s' is \"%.64s\", which is not known", key, value);
    return NULL;
}

static void translate_activation(ln_nnvm_node *n)
{
    static const char *const choices[][2] = {
        {"relu", "TL_UNARY_RELU"},         {"sigmoid", "TL_UNARY_SIGMOID"},
        {"tanh", "TL_UNARY_TANH"},         {"softrelu", "TL_UNARY_SOFTPLUS"},
        {"softsign", "TL_UNARY_SOFTSIGN"}, {NULL, NULL}};
    ln_nnvm_require(n, "act_type");
    const char *const func = choose(n, "act_type", ln_nnvm_text(n, "act_type", "relu"), choices);
    const char *const src = ln_nnvm_in(n, 0);
    if (!func)
        return;
    if (!strcmp(func, "TL_UNARY_RELU"))
        ln_emit_simple(&n->emit, "relu", src, 0);
    else if (!strcmp(func, "TL_UNARY_SIGMOID"))
        ln_emit_simple(&n->emit, "sigmoid", src, 0);
    else
        ln_emit_unary(&n->emit, func, src, 0);
}

static void translate_mxnet_leaky_relu(ln_nnvm_node *n)
{
    static const char *const choices[][2] = {{"leaky", "leaky"},
                                             {"prelu", "prelu"},
                                             {"elu", "TL_UNARY_ELU"},
                                             {"selu", "TL_UNARY_SELU"},
                                             {"gelu", "TL_UNARY_GELU"},
                                             {"rrelu", "rrelu"},
                                             {NULL, NULL}};
    const char *const kind = choose(n, "act_type", ln_nnvm_text(n, "act_type", "leaky"), choices);
    const double slope = ln_nnvm_float(n, "slope", 0.25);
    const double lower = ln_nnvm_float(n, "lower_bound", 0.125);
    const double upper = ln_nnvm_float(n, "upper_bound", 0.334);
    if (!kind)
        return;
    if (!strcmp(kind, "prelu")) {
        emit_prelu(n, "gamma", ln_nnvm_tensor_of(n, ln_nnvm_in(n, 0))->ndim > 1);
        return;
    }
    const char *const src = ln_nnvm_in(n, 0);
    if (!strcmp(kind, "TL_UNARY_ELU"))
        emit_unary_of(n, kind, src, slope, 0, 0);
    else if (!strcmp(kind, "TL_UNARY_SELU")) // Klambauer et al. 2017, "Self-Normalizing Neural
                                             // Networks"
        emit_unary_of(n, kind, src, 1.6732632423543772, 1.0507009873554805, 0);
    else if (!strcmp(kind, "TL_UNARY_GELU"))
        ln_emit_unary(&n->emit, kind, src, 0);
    else {
        ln_emit_begin(&n->emit, "lrelu");
        ln_emit_arg(&n->emit, "src", src);
        ln_emit_set_number(&n->emit, "negslope",
                           !strcmp(kind, "rrelu") ? (lower + upper) / 2 : slope);
        ln_emit_end(&n->emit, "dst", 0);
    }
}

static void translate_hard_sigmoid(ln_nnvm_node *n)
{
    emit_unary_of(n, "TL_UNARY_HARDSIGMOID", ln_nnvm_in(n, 0), ln_nnvm_float(n, "alpha", 0.2),
                  ln_nnvm_float(n, "beta", 0.5), 0);
}

// `unary` clips floats only.
const char *ln_nnvm_clip(ln_nnvm_node *n, const char *src, double least, double most, int i)
{
    if (is_float(ln_nnvm_tensor_of(n, src)->dtype))
        return emit_unary_of(n, "TL_UNARY_CLIP", src, least, most, i);
    src = ln_emit_binary(&n->emit, "TL_BINARY_MAX", src, scalar_of(n, src, least), LN_EMIT_TEMP);
    return ln_emit_binary(&n->emit, "TL_BINARY_MIN", src, scalar_of(n, src, most), i);
}

static void translate_clip(ln_nnvm_node *n)
{
    ln_nnvm_require(n, "a_min");
    ln_nnvm_require(n, "a_max");
    const double least = ln_nnvm_float(n, "a_min", 0), most = ln_nnvm_float(n, "a_max", 0);
    ln_nnvm_clip(n, ln_nnvm_in(n, 0), least, most, 0);
}

static void translate_cast(ln_nnvm_node *n)
{
    ln_nnvm_require(n, "dtype");
    ln_emit_cast(&n->emit, ln_nnvm_in(n, 0), ln_nnvm_dtype(n, "dtype", TL_FLOAT), 0);
}

/* ---- two tensors ---- */

static int is_same_shape(const tl_tensor *a, const tl_tensor *b)
{
    return a->ndim == b->ndim && !memcmp(a->dims, b->dims, (size_t)a->ndim * sizeof(int));
}

/** Both operands. Nothing tells the shape of a parameter that is broadcast, so without a file of
 *  parameters it counts as one number for each channel, [C, 1, ..]; of one that is not, the shape
 * is that of the other operand. */
static void operands(ln_nnvm_node *n, int is_broadcast, const char **a, const char **b)
{
    const int first = ln_nnvm_is_shaped(n, 0) ? 0 : 1;
    const char *known = ln_nnvm_in(n, first);
    const tl_tensor *const t = ln_nnvm_tensor_of(n, known);
    int dims[LN_MAXDIM], ndim = t->ndim;
    memcpy(dims, t->dims, (size_t)ndim * sizeof(int));
    if (is_broadcast && ndim > 1) {
        ndim--;
        for (int i = 0; i < ndim; i++)
            dims[i] = i ? 1 : t->dims[1];
    }
    const char *other = ln_nnvm_weight(n, 1 - first, "", ndim, dims);
    *a = first ? other : known;
    *b = first ? known : other;
    const tl_tensor *const ta = ln_nnvm_tensor_of(n, *a), *const tb = ln_nnvm_tensor_of(n, *b);
    if (!is_broadcast && !is_same_shape(ta, tb)) {
        char text_a[LN_MAX_SHAPE], text_b[LN_MAX_SHAPE];
        ln_emit_fail(&n->emit, "shapes are %s and %s, expected the same",
                     ln_sprint_shape(text_a, sizeof(text_a), ta->ndim, ta->dims),
                     ln_sprint_shape(text_b, sizeof(text_b), tb->ndim, tb->dims));
    }
}

// Types that differ meet in the wider one; of an integer and a float in the float.
static tl_dtype common_dtype(tl_dtype a, tl_dtype b)
{
    if (a == b)
        return a;
    if (is_float(a) != is_float(b))
        return is_float(a) ? a : b;
    return tl_size_of(a) >= tl_size_of(b) ? a : b;
}

static void unify(ln_nnvm_node *n, const char **a, const char **b)
{
    const tl_dtype dtype =
        common_dtype(ln_nnvm_tensor_of(n, *a)->dtype, ln_nnvm_tensor_of(n, *b)->dtype);
    *a = ln_emit_cast(&n->emit, *a, dtype, LN_EMIT_TEMP);
    *b = ln_emit_cast(&n->emit, *b, dtype, LN_EMIT_TEMP);
}

static int is_prefixed(const char *text, const char *prefix)
{
    return !strncmp(text, prefix, strlen(prefix));
}

/** sqrt(a^2 + b^2). */
static void emit_hypot(ln_nnvm_node *n, const char *a, const char *b)
{
    const char *const aa = ln_emit_binary(&n->emit, "TL_BINARY_MUL", a, a, LN_EMIT_TEMP);
    const char *const bb = ln_emit_binary(&n->emit, "TL_BINARY_MUL", b, b, LN_EMIT_TEMP);
    const char *const sum = ln_emit_binary(&n->emit, "TL_BINARY_ADD", aa, bb, LN_EMIT_TEMP);
    ln_emit_unary(&n->emit, "TL_UNARY_SQRT", sum, 0);
}

/** a op b, `op` being a name of tl_binary_op or tl_compare_op, or one of tl_binary_op in lower case
 *  for truth values. */
static void emit_operation(ln_nnvm_node *n, const char *op, const char *a, const char *b)
{
    const char *const like = a;
    if (is_prefixed(op, "TL_COMPARE")) {
        emit_truth(n, emit_compare(n, op, a, b), like);
    } else if (is_prefixed(op, "hypot")) {
        emit_hypot(n, a, b);
    } else if (is_prefixed(op, "logical ")) {
        const char *const truth = ln_emit_binary(
            &n->emit, op + strlen("logical "), emit_is_set(n, a), emit_is_set(n, b), LN_EMIT_TEMP);
        emit_truth(n, truth, like);
    } else {
        ln_emit_binary(&n->emit, op, a, b, 0);
    }
}

static void translate_elemwise(ln_nnvm_node *n)
{
    const char *a, *b;
    operands(n, 0, &a, &b);
    unify(n, &a, &b);
    emit_operation(n, n->row->with, a, b);
}

static void translate_broadcast(ln_nnvm_node *n)
{
    const char *a, *b;
    operands(n, 1, &a, &b);
    unify(n, &a, &b);
    emit_operation(n, n->row->with, a, b);
}

/** Core's `greater` and `less` give floats. */
static void translate_float_compare(ln_nnvm_node *n)
{
    const char *a, *b;
    operands(n, 0, &a, &b);
    unify(n, &a, &b);
    ln_emit_cast(&n->emit, emit_compare(n, n->row->with, a, b), TL_FLOAT, 0);
}

/** A tensor and a number, which is converted to the tensor's type first. */
static void translate_scalar(ln_nnvm_node *n)
{
    const char *const src = ln_nnvm_in(n, 0);
    ln_nnvm_require(n, "scalar");
    emit_operation(n, n->row->with, src, scalar_of(n, src, ln_nnvm_float(n, "scalar", 0)));
}

/** The number on the left. */
static void translate_scalar_left(ln_nnvm_node *n)
{
    const char *const src = ln_nnvm_in(n, 0);
    ln_nnvm_require(n, "scalar");
    emit_operation(n, n->row->with, scalar_of(n, src, ln_nnvm_float(n, "scalar", 0)), src);
}

/** The sum of any number of tensors. */
static void translate_sum_of_many(ln_nnvm_node *n)
{
    const int len = ln_nnvm_num_inputs(n);
    if (ln_nnvm_int(n, "num_args", len) != len)
        ln_emit_fail(&n->emit, "%d inputs, expected 'num_args', %lld", len,
                     (long long)ln_nnvm_int(n, "num_args", len));
    const char *sum = ln_nnvm_in(n, 0);
    const tl_tensor *const t = ln_nnvm_tensor_of(n, sum);
    for (int i = 1; i < len && !ln_nnvm_failed(n); i++) {
        const char *const next = ln_nnvm_in(n, i);
        if (!is_same_shape(t, ln_nnvm_tensor_of(n, next)))
            ln_emit_fail(&n->emit, "input %d has another shape than the first", i);
        sum = ln_emit_binary(&n->emit, "TL_BINARY_ADD", sum, next, i < len - 1 ? LN_EMIT_TEMP : 0);
    }
    if (len == 1)
        ln_nnvm_alias(n, 0, sum);
}

static void translate_where(ln_nnvm_node *n)
{
    const char *cond = ln_nnvm_in(n, 0), *const x = ln_nnvm_in(n, 1), *const y = ln_nnvm_in(n, 2);
    const tl_tensor *const t = ln_nnvm_tensor_of(n, x), *const c = ln_nnvm_tensor_of(n, cond);
    if (c->ndim == 1 && t->ndim > 1) {
        int dims[LN_MAXDIM] = {c->dims[0], 1, 1, 1, 1, 1, 1, 1};
        cond = ln_emit_reshape(&n->emit, cond, t->ndim, dims, LN_EMIT_TEMP);
    }
    if (!is_same_shape(t, ln_nnvm_tensor_of(n, y)))
        ln_emit_fail(&n->emit, "the operands have different shapes, expected the same");
    cond = emit_is_set(n, cond);
    ln_emit_begin(&n->emit, "where");
    ln_emit_arg(&n->emit, "cond", cond);
    ln_emit_arg(&n->emit, "src1", x);
    ln_emit_arg(&n->emit, "src2", y);
    ln_emit_end(&n->emit, "dst", 0);
}

#define CORE  LN_NNVM_IN_CORE
#define MXNET LN_NNVM_IN_MXNET
#define BOTH  LN_NNVM_IN_BOTH

#define FUNCTION(op, dialects, translate, with)               \
    {                                                         \
        op, dialects, translate, with, 1, 1, .keeps_shape = 1 \
    }
#define PAIR(op, dialects, translate, with) \
    {                                       \
        op, dialects, translate, with, 2, 2 \
    }
#define SCALAR(op, dialects, with)      FUNCTION(op, dialects, translate_scalar, with)
#define SCALAR_LEFT(op, dialects, with) FUNCTION(op, dialects, translate_scalar_left, with)

/* The four ways in which MXNet spells an operation with a number. */
#define MXNET_SCALAR(name, old, with) \
    SCALAR("_" name "_scalar", MXNET, with), SCALAR(old, MXNET, with)
#define MXNET_SCALAR_LEFT(name, old, with) \
    SCALAR_LEFT("_" name "_scalar", MXNET, with), SCALAR_LEFT(old, MXNET, with)

/* An operation of core, broadcast: by its name and its sign. */
#define CORE_BROADCAST(name, symbol, with)                    \
    PAIR("broadcast_" name, CORE, translate_broadcast, with), \
        PAIR("__" symbol "_symbol__", CORE, translate_broadcast, with)

#define COMPARE(name, op)                                        \
    PAIR("_" name, MXNET, translate_elemwise, op),               \
        PAIR("broadcast_" name, MXNET, translate_broadcast, op), \
        SCALAR("_" name "_scalar", MXNET, op)

const ln_nnvm_row ln_nnvm_rows_elementwise[] = {
    FUNCTION("abs", BOTH, translate_unary, "TL_UNARY_ABS"),
    FUNCTION("ceil", BOTH, translate_unary, "TL_UNARY_CEIL"),
    FUNCTION("cos", MXNET, translate_unary, "TL_UNARY_COS"),
    FUNCTION("erf", MXNET, translate_unary, "TL_UNARY_ERF"),
    FUNCTION("exp", BOTH, translate_unary, "TL_UNARY_EXP"),
    FUNCTION("floor", BOTH, translate_unary, "TL_UNARY_FLOOR"),
    FUNCTION("log", BOTH, translate_unary, "TL_UNARY_LOG"),
    FUNCTION("negative", BOTH, translate_unary, "TL_UNARY_NEG"),
    FUNCTION("reciprocal", MXNET, translate_unary, "TL_UNARY_RECIPROCAL"),
    FUNCTION("rint", MXNET, translate_unary, "TL_UNARY_ROUND"),
    FUNCTION("sign", MXNET, translate_unary, "TL_UNARY_SIGN"),
    FUNCTION("sin", MXNET, translate_unary, "TL_UNARY_SIN"),
    FUNCTION("softsign", MXNET, translate_unary, "TL_UNARY_SOFTSIGN"),
    FUNCTION("sqrt", BOTH, translate_unary, "TL_UNARY_SQRT"),
    FUNCTION("tan", MXNET, translate_unary, "TL_UNARY_TAN"),
    FUNCTION("tanh", BOTH, translate_unary, "TL_UNARY_TANH"),
    FUNCTION("relu", BOTH, translate_simple, "relu"),
    FUNCTION("sigmoid", BOTH, translate_simple, "sigmoid"),
    FUNCTION("round", BOTH, translate_round, NULL),
    FUNCTION("trunc", BOTH, translate_trunc, NULL),
    FUNCTION("fix", MXNET, translate_trunc, NULL),
    FUNCTION("square", MXNET, translate_square, NULL),
    FUNCTION("expm1", MXNET, translate_composition, NULL),
    FUNCTION("log1p", MXNET, translate_composition, NULL),
    FUNCTION("log10", MXNET, translate_composition, NULL),
    FUNCTION("log2", MXNET, translate_composition, NULL),
    FUNCTION("rsqrt", MXNET, translate_composition, NULL),
    FUNCTION("cbrt", MXNET, translate_cbrt, ""),
    FUNCTION("rcbrt", MXNET, translate_cbrt, "inverse"),
    FUNCTION("logical_not", BOTH, translate_not, NULL),
    FUNCTION("copy", CORE, translate_identity, NULL),
    FUNCTION("block_grad", CORE, translate_identity, NULL),
    FUNCTION("BlockGrad", MXNET, translate_identity, NULL),
    FUNCTION("_copy", MXNET, translate_identity, NULL),
    FUNCTION("identity", MXNET, translate_identity, NULL),
    {"MakeLoss", MXNET, translate_identity, NULL, 1, 1,
     .ignored = " grad_scale valid_thresh normalization "},
    {"make_loss", MXNET, translate_identity, NULL, 1, 1},
    {"IdentityAttachKLSparseReg", MXNET, translate_identity, NULL, 1, 1,
     .ignored = " sparseness_target penalty momentum "},
    {"dropout", CORE, translate_dropout, NULL, 1, 1, .keeps_shape = 1, .ignored = " rate "},
    {"Dropout", MXNET, translate_dropout, NULL, 1, 1, .keeps_shape = 1,
     .ignored = " p axes cudnn_off "},
    {"leaky_relu", CORE, translate_leaky_relu, NULL, 1, 1, .keeps_shape = 1},
    {"prelu", CORE, translate_prelu, NULL, 2, 2, .weights = 2},
    {"Activation", MXNET, translate_activation, NULL, 1, 1, .keeps_shape = 1},
    {"LeakyReLU", MXNET, translate_mxnet_leaky_relu, NULL, 1, 2, .weights = 2},
    {"hard_sigmoid", MXNET, translate_hard_sigmoid, NULL, 1, 1, .keeps_shape = 1},
    FUNCTION("clip", BOTH, translate_clip, NULL),
    FUNCTION("cast", BOTH, translate_cast, NULL),
    FUNCTION("Cast", MXNET, translate_cast, NULL),
    FUNCTION("amp_cast", MXNET, translate_cast, NULL),

    PAIR("elemwise_add", BOTH, translate_elemwise, "TL_BINARY_ADD"),
    PAIR("elemwise_sub", BOTH, translate_elemwise, "TL_BINARY_SUB"),
    PAIR("elemwise_mul", BOTH, translate_elemwise, "TL_BINARY_MUL"),
    PAIR("elemwise_div", BOTH, translate_elemwise, "TL_BINARY_DIV"),
    PAIR("elemwise_mod", CORE, translate_elemwise, "TL_BINARY_FMOD"),
    PAIR("elemwise_pow", CORE, translate_elemwise, "TL_BINARY_POW"),
    PAIR("logical_and", CORE, translate_elemwise, "logical TL_BINARY_AND"),
    PAIR("logical_or", CORE, translate_elemwise, "logical TL_BINARY_OR"),
    PAIR("greater", CORE, translate_float_compare, "TL_COMPARE_GREATER"),
    PAIR("less", CORE, translate_float_compare, "TL_COMPARE_LESS"),
    PAIR("_Plus", MXNET, translate_elemwise, "TL_BINARY_ADD"),
    PAIR("_plus", MXNET, translate_elemwise, "TL_BINARY_ADD"),
    PAIR("_add", MXNET, translate_elemwise, "TL_BINARY_ADD"),
    PAIR("_Minus", MXNET, translate_elemwise, "TL_BINARY_SUB"),
    PAIR("_minus", MXNET, translate_elemwise, "TL_BINARY_SUB"),
    PAIR("_sub", MXNET, translate_elemwise, "TL_BINARY_SUB"),
    PAIR("_Mul", MXNET, translate_elemwise, "TL_BINARY_MUL"),
    PAIR("_mul", MXNET, translate_elemwise, "TL_BINARY_MUL"),
    PAIR("_Div", MXNET, translate_elemwise, "TL_BINARY_DIV"),
    PAIR("_div", MXNET, translate_elemwise, "TL_BINARY_DIV"),
    PAIR("_maximum", MXNET, translate_elemwise, "TL_BINARY_MAX"),
    PAIR("_minimum", MXNET, translate_elemwise, "TL_BINARY_MIN"),
    PAIR("_power", MXNET, translate_elemwise, "TL_BINARY_POW"),
    PAIR("_mod", MXNET, translate_elemwise, "TL_BINARY_MOD"),
    PAIR("_hypot", MXNET, translate_elemwise, "hypot"),

    CORE_BROADCAST("add", "add", "TL_BINARY_ADD"),
    CORE_BROADCAST("sub", "sub", "TL_BINARY_SUB"),
    CORE_BROADCAST("mul", "mul", "TL_BINARY_MUL"),
    CORE_BROADCAST("div", "div", "TL_BINARY_DIV"),
    CORE_BROADCAST("mod", "mod", "TL_BINARY_FMOD"),
    CORE_BROADCAST("max", "max", "TL_BINARY_MAX"),
    CORE_BROADCAST("min", "min", "TL_BINARY_MIN"),
    CORE_BROADCAST("pow", "pow", "TL_BINARY_POW"),
    CORE_BROADCAST("left_shift", "left_shift", "TL_BINARY_SHIFT_LEFT"),
    CORE_BROADCAST("right_shift", "right_shift", "TL_BINARY_SHIFT_RIGHT"),
    CORE_BROADCAST("greater", "greater", "TL_COMPARE_GREATER"),
    CORE_BROADCAST("less", "less", "TL_COMPARE_LESS"),
    CORE_BROADCAST("equal", "equal", "TL_COMPARE_EQUAL"),
    CORE_BROADCAST("not_equal", "not_equal", "TL_COMPARE_NOT_EQUAL"),
    CORE_BROADCAST("greater_equal", "greater_equal", "TL_COMPARE_GREATER_EQUAL"),
    CORE_BROADCAST("less_equal", "less_equal", "TL_COMPARE_LESS_EQUAL"),
    PAIR("broadcast_add", MXNET, translate_broadcast, "TL_BINARY_ADD"),
    PAIR("broadcast_plus", MXNET, translate_broadcast, "TL_BINARY_ADD"),
    PAIR("broadcast_sub", MXNET, translate_broadcast, "TL_BINARY_SUB"),
    PAIR("broadcast_minus", MXNET, translate_broadcast, "TL_BINARY_SUB"),
    PAIR("broadcast_mul", MXNET, translate_broadcast, "TL_BINARY_MUL"),
    PAIR("broadcast_div", MXNET, translate_broadcast, "TL_BINARY_DIV"),
    PAIR("broadcast_mod", MXNET, translate_broadcast, "TL_BINARY_MOD"),
    PAIR("broadcast_power", MXNET, translate_broadcast, "TL_BINARY_POW"),
    PAIR("broadcast_maximum", MXNET, translate_broadcast, "TL_BINARY_MAX"),
    PAIR("broadcast_minimum", MXNET, translate_broadcast, "TL_BINARY_MIN"),
    PAIR("broadcast_hypot", MXNET, translate_broadcast, "hypot"),
    PAIR("broadcast_logical_and", MXNET, translate_broadcast, "logical TL_BINARY_AND"),
    PAIR("broadcast_logical_or", MXNET, translate_broadcast, "logical TL_BINARY_OR"),
    PAIR("broadcast_logical_xor", MXNET, translate_broadcast, "logical TL_BINARY_XOR"),
    COMPARE("equal", "TL_COMPARE_EQUAL"),
    COMPARE("not_equal", "TL_COMPARE_NOT_EQUAL"),
    COMPARE("greater", "TL_COMPARE_GREATER"),
    COMPARE("greater_equal", "TL_COMPARE_GREATER_EQUAL"),
    COMPARE("lesser", "TL_COMPARE_LESS"),
    COMPARE("lesser_equal", "TL_COMPARE_LESS_EQUAL"),

    SCALAR("__add_scalar__", CORE, "TL_BINARY_ADD"),
    SCALAR("__sub_scalar__", CORE, "TL_BINARY_SUB"),
    SCALAR("__mul_scalar__", CORE, "TL_BINARY_MUL"),
    SCALAR("__div_scalar__", CORE, "TL_BINARY_DIV"),
    SCALAR("__pow_scalar__", CORE, "TL_BINARY_POW"),
    SCALAR("__lshift_scalar__", CORE, "TL_BINARY_SHIFT_LEFT"),
    SCALAR("__rshift_scalar__", CORE, "TL_BINARY_SHIFT_RIGHT"),
    SCALAR_LEFT("__rsub_scalar__", CORE, "TL_BINARY_SUB"),
    SCALAR_LEFT("__rdiv_scalar__", CORE, "TL_BINARY_DIV"),
    SCALAR_LEFT("__rpow_scalar__", CORE, "TL_BINARY_POW"),
    MXNET_SCALAR("plus", "_PlusScalar", "TL_BINARY_ADD"),
    MXNET_SCALAR("minus", "_MinusScalar", "TL_BINARY_SUB"),
    MXNET_SCALAR("mul", "_MulScalar", "TL_BINARY_MUL"),
    MXNET_SCALAR("div", "_DivScalar", "TL_BINARY_DIV"),
    MXNET_SCALAR("power", "_PowerScalar", "TL_BINARY_POW"),
    MXNET_SCALAR("mod", "_ModScalar", "TL_BINARY_MOD"),
    MXNET_SCALAR("maximum", "_MaximumScalar", "TL_BINARY_MAX"),
    MXNET_SCALAR("minimum", "_MinimumScalar", "TL_BINARY_MIN"),
    MXNET_SCALAR_LEFT("rminus", "_RMinusScalar", "TL_BINARY_SUB"),
    MXNET_SCALAR_LEFT("rdiv", "_RDivScalar", "TL_BINARY_DIV"),
    MXNET_SCALAR_LEFT("rpower", "_RPowerScalar", "TL_BINARY_POW"),
    MXNET_SCALAR_LEFT("rmod", "_RModScalar", "TL_BINARY_MOD"),

    {"elemwise_sum", CORE, translate_sum_of_many, NULL, 1},
    {"add_n", MXNET, translate_sum_of_many, NULL, 1},
    {"ElementWiseSum", MXNET, translate_sum_of_many, NULL, 1},
    {"where", BOTH, translate_where, NULL, 3, 3},
    {NULL},
};
