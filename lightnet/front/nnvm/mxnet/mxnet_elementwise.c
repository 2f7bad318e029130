// SPDX-License-Identifier: Apache-2.0
// Rewrites MXNet's element-wise operators to core's.

#include <math.h>
#include <string.h>

#include "front/nnvm/ln_nnvm_steps.h"
#include "front/nnvm/mxnet/ln_nnvm_core.h"

// Functions

// A function of LightNet: by operator _unary, which it adds to core, or to write, by its formula.
static ln_nnvm_value function(ln_nnvm_op *n, const char *func, ln_nnvm_value x, double alpha,
                              double beta)
{
    const char *const text = ln_nnvm_formula_of(func);
    ln_nnvm_recast_lacks(n, !text); // core has no such function
    if (text && !n->is_reading)
        return ln_put_formula(n, text, x, alpha, beta, NULL);
    return LN_PUT(n, "_unary", x, LN_SRC(x), LN_TEXT("func", func), LN_NUMBER("alpha", alpha),
                  LN_NUMBER("beta", beta));
}

// `with`: a function without parameters.
static ln_nnvm_value rewrite_function(ln_nnvm_op *n)
{
    return function(n, n->row->with, ln_nnvm_recast_in(n, 0), 1, 0);
}

static ln_nnvm_value rewrite_activation(ln_nnvm_op *n)
{
    static const ln_attr_word types[] = {{"relu"},
                                         {"sigmoid"},
                                         {"tanh"},
                                         {"softrelu", "TL_UNARY_SOFTPLUS"},
                                         {"softsign", "TL_UNARY_SOFTSIGN"},
                                         {0}};
    ln_attr_require(n->e, "act_type");
    const char *type = ln_attr_choose(n->e, "act_type", "relu", types);
    const ln_nnvm_value x = ln_nnvm_recast_in(n, 0);
    return *type == 'T' ? function(n, type, x, 1, 0) : ln_put(n, type, x);
}

// Source of selu's constants: Klambauer et al. 2017, "Self-Normalizing Neural Networks".
static ln_nnvm_value rewrite_leaky_relu(ln_nnvm_op *n)
{
    static const ln_attr_word types[] = {{"leaky"}, {"rrelu"}, {"prelu"}, {"elu"},
                                         {"gelu"},  {"selu"},  {0}};
    const char *type = ln_attr_choose(n->e, "act_type", "leaky", types);
    double slope = ln_attr_number(n->e, "slope", 0.25);
    const double lower = ln_attr_number(n->e, "lower_bound", 0.125);
    const double upper = ln_attr_number(n->e, "upper_bound", 0.334);
    const ln_nnvm_value x = ln_nnvm_recast_in(n, 0);
    if (!strcmp(type, "prelu")) {
        const ln_nnvm_value gamma = ln_nnvm_recast_weight(n, 1, "gamma"); // of each channel
        return LN_PUT(n, "prelu", x, LN_SRC(x), LN_SRC(gamma), LN_INT("axis", 1));
    }
    if (!strcmp(type, "selu"))
        return function(n, "TL_UNARY_SELU", x, 1.6732632423543772, 1.0507009873554805);
    if (!strcmp(type, "gelu"))
        return function(n, "TL_UNARY_GELU", x, 1, 0);
    if (!strcmp(type, "elu"))
        return function(n, "TL_UNARY_ELU", x, slope, 0);
    slope = strcmp(type, "rrelu") ? slope : (lower + upper) / 2;
    ln_nnvm_recast_lacks(n, slope < 0); // core's slopes are not negative
    return LN_PUT(n, "leaky_relu", x, LN_SRC(x), LN_NUMBER("alpha", slope));
}

static ln_nnvm_value rewrite_hard_sigmoid(ln_nnvm_op *n)
{
    const double alpha = ln_attr_number(n->e, "alpha", 0.2);
    const double beta = ln_attr_number(n->e, "beta", 0.5);
    return function(n, "TL_UNARY_HARDSIGMOID", ln_nnvm_recast_in(n, 0), alpha, beta);
}

static ln_nnvm_value rewrite_dropout(ln_nnvm_op *n)
{
    if (!strcmp(ln_attr_text(n->e, "mode", "training"), "always"))
        ln_emit_fail(n->e, "attribute 'mode' is \"always\", expected \"training\"");
    ln_nnvm_recast_begin(n, "dropout");
    return ln_nnvm_recast_end(n, 2);
}

// Binary operators

// Writes arithmetic on 0 and 1, as core's logical operators do not broadcast.
static ln_nnvm_value rewrite_logical(ln_nnvm_op *n)
{
    const char *const with = n->row->with;
    if (n->is_reading)
        return ln_nnvm_recast_same(n);
    const ln_nnvm_value a = ln_put_truth(n, ln_nnvm_recast_in(n, 0));
    const ln_nnvm_value b = ln_put_truth(n, ln_nnvm_recast_in(n, 1));
    return ln_put_pair(n,
                       !strcmp(with, "logical_and")  ? "broadcast_mul"
                       : !strcmp(with, "logical_or") ? "broadcast_max"
                                                     : "broadcast_not_equal",
                       a, b);
}

// `with`: "scalar_" and an operator of core. LightNet adds it to core; it is written as that
// operator of x and full_like, or as a clip.
static ln_nnvm_value rewrite_scalar(ln_nnvm_op *n)
{
    const char *const core = n->row->with + strlen("scalar_");
    const int is_max = !strcmp(core, "broadcast_max"), is_min = !strcmp(core, "broadcast_min");
    const ln_nnvm_value x = ln_nnvm_recast_in(n, 0);
    const double number = ln_attr_number(n->e, "scalar", 0);
    ln_attr_require(n->e, "scalar");
    if (n->is_reading)
        return ln_nnvm_recast_same(n);
    if (is_max || is_min)
        return ln_put_clip(n, x, is_max ? number : -INFINITY, is_max ? INFINITY : number);
    return ln_put_pair(n, core, x,
                       LN_PUT(n, "full_like", x, LN_SRC(x), LN_NUMBER("fill_value", number)));
}

#define UNARY(op, rewrite_it, with) LN_MXNET_ROW(op, with, 1, .rewrite = rewrite_it)
#define BINARY(op, core)            LN_MXNET_ROW(op, core, 2, .rewrite = ln_nnvm_recast_same)

// MXNet states since 1.7 whether the number was an integer; this has no effect.
#define NUMBER(op, rewrite_it, with) \
    LN_MXNET_ROW(op, with, 1, .ignored = "is_int", .rewrite = rewrite_it, .attrs = "!scalar")
#define SCALAR(op, core) NUMBER(op, ln_nnvm_recast_same, core)
// Of equal shapes, where core's broadcasts; and as old files spell it.
#define EQUAL_SHAPES(op, core) \
    LN_MXNET_ROW(op, core, 2, .rewrite = ln_nnvm_recast_same, .attrs = "+=broadcasts:False")
#define COMPARE(name, old, old_scalar, core)                               \
    EQUAL_SHAPES("_" name " " old, core), BINARY("broadcast_" name, core), \
        NUMBER("_" name "_scalar " old_scalar, rewrite_scalar, "scalar_" core)
#define LOGICAL(name, old, core)                                                     \
    LN_MXNET_ROW("_logical_" name " " old, core, 2, .rewrite = rewrite_logical),     \
        LN_MXNET_ROW("broadcast_logical_" name, core, 2, .rewrite = rewrite_logical, \
                     .attrs = "+=broadcasts:True")
#define ALIAS(op, unused) \
    LN_MXNET_ROW(op, NULL, 1, .ignored = unused, .rewrite = ln_nnvm_recast_alias)

const ln_nnvm_row ln_nnvm_mxnet_rows_elementwise[] = {
    UNARY("abs ceil exp floor log negative sqrt tanh relu sigmoid round trunc logical_not "
          "zeros_like ones_like",
          ln_nnvm_recast_same, NULL),
    UNARY("fix", ln_nnvm_recast_same, "trunc"),
    UNARY("square", ln_nnvm_recast_with, "x * x"),
    UNARY("sign", rewrite_function, "TL_UNARY_SIGN"),
    UNARY("log10", ln_nnvm_recast_with, "log(x) * 0.43429448190325182765"),
    UNARY("log2", ln_nnvm_recast_with, "log(x) * 1.44269504088896340736"),
    UNARY("degrees", ln_nnvm_recast_with, "x * 57.2957795130823209"),
    UNARY("radians", ln_nnvm_recast_with, "x * 0.0174532925199432958"),
    UNARY("rsqrt", ln_nnvm_recast_with, "1 / sqrt(x)"),
    UNARY("reciprocal", ln_nnvm_recast_with, "1 / x"),
    UNARY("softsign", rewrite_function, "TL_UNARY_SOFTSIGN"),
    UNARY("hard_sigmoid", rewrite_hard_sigmoid, NULL),
    UNARY("Activation", rewrite_activation, NULL),
    {"LeakyReLU", LN_IN_MXNET, NULL, NULL, 1, 2, .weights = 2, .rewrite = rewrite_leaky_relu},
    LN_MXNET_ROW("clip", NULL, 1, .rewrite = ln_nnvm_recast_same, .attrs = "!a_min !a_max"),
    LN_MXNET_ROW("cast Cast amp_cast", "cast", 1, .rewrite = ln_nnvm_recast_same,
                 .attrs = "!dtype"),
    LN_MXNET_ROW("Dropout", NULL, 1, .ignored = "axes cudnn_off", .rewrite = rewrite_dropout,
                 .attrs = "p=rate"),
    ALIAS("BlockGrad _copy identity make_loss", NULL),
    ALIAS("MakeLoss", "grad_scale valid_thresh normalization"),
    ALIAS("IdentityAttachKLSparseReg", "sparseness_target penalty momentum"),

    BINARY("elemwise_add elemwise_sub elemwise_mul elemwise_div", NULL),
    BINARY("_Plus _plus _add", "elemwise_add"),
    BINARY("_Minus _minus _sub", "elemwise_sub"),
    BINARY("_Mul _mul", "elemwise_mul"),
    BINARY("_Div _div", "elemwise_div"),
    BINARY("_power _Power", "elemwise_pow"),
    EQUAL_SHAPES("_maximum _Maximum", "broadcast_max"),
    EQUAL_SHAPES("_minimum _Minimum", "broadcast_min"),
    {"add_n ElementWiseSum", LN_IN_MXNET, NULL, "elemwise_sum", 1, .rewrite = ln_nnvm_recast_many,
     .attrs = "num_args"},

    BINARY("broadcast_add broadcast_sub broadcast_mul broadcast_div", NULL),
    BINARY("broadcast_plus", "broadcast_add"),
    BINARY("broadcast_minus", "broadcast_sub"),
    BINARY("broadcast_power", "broadcast_pow"),
    BINARY("broadcast_maximum", "broadcast_max"),
    BINARY("broadcast_minimum", "broadcast_min"),
    COMPARE("equal", "_Equal", "_EqualScalar", "broadcast_equal"),
    COMPARE("not_equal", "_Not_Equal", "_NotEqualScalar", "broadcast_not_equal"),
    COMPARE("greater", "_Greater", "_GreaterScalar", "broadcast_greater"),
    COMPARE("greater_equal", "_Greater_Equal", "_GreaterEqualScalar", "broadcast_greater_equal"),
    COMPARE("lesser", "_Lesser", "_LesserScalar", "broadcast_less"),
    COMPARE("lesser_equal", "_Lesser_Equal", "_LesserEqualScalar", "broadcast_less_equal"),
    LOGICAL("and", "_Logical_And", "logical_and"),
    LOGICAL("or", "_Logical_Or", "logical_or"),
    LOGICAL("xor", "_Logical_Xor", "_logical_xor"),

    SCALAR("_plus_scalar _PlusScalar", "__add_scalar__"),
    SCALAR("_minus_scalar _MinusScalar", "__sub_scalar__"),
    SCALAR("_rminus_scalar _RMinusScalar", "__rsub_scalar__"),
    SCALAR("_mul_scalar _MulScalar", "__mul_scalar__"),
    SCALAR("_div_scalar _DivScalar", "__div_scalar__"),
    SCALAR("_rdiv_scalar _RDivScalar", "__rdiv_scalar__"),
    SCALAR("_power_scalar _PowerScalar", "__pow_scalar__"),
    SCALAR("_rpower_scalar _RPowerScalar", "__rpow_scalar__"),
    NUMBER("_maximum_scalar _MaximumScalar", rewrite_scalar, "scalar_broadcast_max"),
    NUMBER("_minimum_scalar _MinimumScalar", rewrite_scalar, "scalar_broadcast_min"),
    LN_MXNET_ROW("where", NULL, 3, .rewrite = ln_nnvm_recast_same),
    {NULL},
};
