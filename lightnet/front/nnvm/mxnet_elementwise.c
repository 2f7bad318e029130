// SPDX-License-Identifier: Apache-2.0
// MXNet's operators on each element in core's.

#include <math.h>
#include <string.h>

#include "front/nnvm/ln_nnvm_core.h"

static void out(ln_nnvm_recast *r, ln_nnvm_entry entry)
{
    ln_nnvm_recast_out(r, 0, entry);
}

/* ---- functions ---- */

static ln_nnvm_entry clipped(ln_nnvm_recast *r, ln_nnvm_entry x, double least, double most)
{
    ln_nnvm_recast_begin(r, "clip", 1, &x);
    ln_nnvm_draft_set_number(r->draft, "a_min", least);
    ln_nnvm_draft_set_number(r->draft, "a_max", most);
    return ln_nnvm_recast_end(r);
}

/** log(1 + x) for x from 0 to 1: with u = 1 + x, rounded, it is log(u) x / (u - 1). Source: Higham,
 *  Accuracy and Stability of Numerical Algorithms, 2002, section 1.14. */
static ln_nnvm_entry log1p_of(ln_nnvm_recast *r, ln_nnvm_entry x)
{
    const ln_nnvm_entry u = ln_nnvm_recast_scalar(r, "__add_scalar__", x, 1);
    const ln_nnvm_entry rest = ln_nnvm_recast_scalar(r, "__sub_scalar__", u, 1);
    const ln_nnvm_entry ratio = ln_nnvm_recast_binary(r, "elemwise_div", x, rest);
    const ln_nnvm_entry log = ln_nnvm_recast_unary(r, "log", u);
    const ln_nnvm_entry product = ln_nnvm_recast_binary(r, "elemwise_mul", log, ratio);
    ln_nnvm_recast_begin(r, "where", 3, (ln_nnvm_entry[]){rest, product, x});
    return ln_nnvm_recast_end(r);
}

/** log(1 + e^x) = max(x, 0) + log(1 + e^-|x|), which does not overflow. */
static ln_nnvm_entry softplus(ln_nnvm_recast *r, ln_nnvm_entry x)
{
    ln_nnvm_entry y = ln_nnvm_recast_unary(r, "abs", x);
    y = ln_nnvm_recast_unary(r, "exp", ln_nnvm_recast_unary(r, "negative", y));
    return ln_nnvm_recast_binary(r, "elemwise_add", ln_nnvm_recast_unary(r, "relu", x),
                                 log1p_of(r, y));
}

static ln_nnvm_entry softsign(ln_nnvm_recast *r, ln_nnvm_entry x)
{
    const ln_nnvm_entry size = ln_nnvm_recast_unary(r, "abs", x);
    const ln_nnvm_entry more = ln_nnvm_recast_scalar(r, "__add_scalar__", size, 1);
    return ln_nnvm_recast_binary(r, "elemwise_div", x, more);
}

static void rewrite_activation(ln_nnvm_recast *r)
{
    static const char *const same[] = {"relu", "sigmoid", "tanh"};
    const char *type = ln_nnvm_text(&r->node, "act_type", "");
    const ln_nnvm_entry x = ln_nnvm_recast_in(r, 0);
    for (int i = 0; i < 3; i++)
        if (!strcmp(type, same[i])) {
            out(r, ln_nnvm_recast_unary(r, type, x));
            return;
        }
    if (!strcmp(type, "softrelu"))
        out(r, softplus(r, x));
    else if (!strcmp(type, "softsign"))
        out(r, softsign(r, x));
    else
        ln_emit_fail(&r->node.emit, "attribute 'act_type' is \"%.64s\"", type);
}

static void rewrite_softsign(ln_nnvm_recast *r)
{
    out(r, softsign(r, ln_nnvm_recast_in(r, 0)));
}

static ln_nnvm_entry leaky(ln_nnvm_recast *r, ln_nnvm_entry x, double slope)
{
    ln_nnvm_recast_begin(r, "leaky_relu", 1, &x);
    ln_nnvm_draft_set_number(r->draft, "alpha", slope);
    return ln_nnvm_recast_end(r);
}

/** The slope of each channel is a parameter. */
static void rewrite_prelu(ln_nnvm_recast *r, ln_nnvm_entry x)
{
    const ln_nnvm_entry inputs[] = {x, ln_nnvm_recast_weight(r, 1, "gamma")};
    ln_nnvm_recast_begin(r, "prelu", 2, inputs);
    ln_nnvm_draft_set_int(r->draft, "axis", 1);
    out(r, ln_nnvm_recast_end(r));
}

static void rewrite_leaky_relu(ln_nnvm_recast *r)
{
    const char *type = ln_nnvm_text(&r->node, "act_type", "leaky");
    const double slope = ln_nnvm_float(&r->node, "slope", 0.25);
    const double lower = ln_nnvm_float(&r->node, "lower_bound", 0.125);
    const double upper = ln_nnvm_float(&r->node, "upper_bound", 0.334);
    const ln_nnvm_entry x = ln_nnvm_recast_in(r, 0);
    if (!strcmp(type, "leaky") && slope >= 0)
        out(r, leaky(r, x, slope));
    else if (!strcmp(type, "rrelu") && lower + upper >= 0)
        out(r, leaky(r, x, (lower + upper) / 2));
    else if (!strcmp(type, "prelu"))
        rewrite_prelu(r, x);
    else
        ln_emit_fail(&r->node.emit, "core has no '%.64s'", type);
}

static void rewrite_hard_sigmoid(ln_nnvm_recast *r)
{
    ln_nnvm_entry x = ln_nnvm_recast_in(r, 0);
    x = ln_nnvm_recast_scalar(r, "__mul_scalar__", x, ln_nnvm_float(&r->node, "alpha", 0.2));
    x = ln_nnvm_recast_scalar(r, "__add_scalar__", x, ln_nnvm_float(&r->node, "beta", 0.5));
    out(r, clipped(r, x, 0, 1));
}

static void rewrite_square(ln_nnvm_recast *r)
{
    const ln_nnvm_entry x = ln_nnvm_recast_in(r, 0);
    out(r, ln_nnvm_recast_binary(r, "elemwise_mul", x, x));
}

/** 1 for what is positive minus 1 for what is negative. */
static void rewrite_sign(ln_nnvm_recast *r)
{
    const ln_nnvm_entry x = ln_nnvm_recast_in(r, 0);
    const ln_nnvm_entry zeros = ln_nnvm_recast_unary(r, "zeros_like", x);
    const ln_nnvm_entry above = ln_nnvm_recast_binary(r, "broadcast_greater", x, zeros);
    const ln_nnvm_entry below = ln_nnvm_recast_binary(r, "broadcast_less", x, zeros);
    out(r, ln_nnvm_recast_binary(r, "elemwise_sub", above, below));
}

/** `with`: what a natural logarithm is multiplied with. */
static void rewrite_log(ln_nnvm_recast *r)
{
    const ln_nnvm_entry log = ln_nnvm_recast_unary(r, "log", ln_nnvm_recast_in(r, 0));
    ln_nnvm_recast_begin(r, "__mul_scalar__", 1, &log);
    ln_nnvm_draft_set(r->draft, "scalar", r->row->with);
    out(r, ln_nnvm_recast_end(r));
}

static void rewrite_rsqrt(ln_nnvm_recast *r)
{
    const ln_nnvm_entry root = ln_nnvm_recast_unary(r, "sqrt", ln_nnvm_recast_in(r, 0));
    out(r, ln_nnvm_recast_scalar(r, "__rdiv_scalar__", root, 1));
}

static void rewrite_reciprocal(ln_nnvm_recast *r)
{
    out(r, ln_nnvm_recast_scalar(r, "__rdiv_scalar__", ln_nnvm_recast_in(r, 0), 1));
}

static void rewrite_dropout(ln_nnvm_recast *r)
{
    const ln_nnvm_entry x = ln_nnvm_recast_in(r, 0);
    if (!strcmp(ln_nnvm_text(&r->node, "mode", "training"), "always"))
        ln_emit_fail(&r->node.emit, "attribute 'mode' is \"always\"");
    ln_nnvm_recast_begin(r, "dropout", 1, &x);
    ln_nnvm_recast_attrs(r);
    ln_nnvm_recast_out(r, 0, ln_nnvm_draft_end(r->draft, 2));
}

/* ---- two tensors, or one and a number ---- */

/** 1 where x is not 0, else 0. */
static ln_nnvm_entry truth(ln_nnvm_recast *r, ln_nnvm_entry x)
{
    return ln_nnvm_recast_unary(r, "logical_not", ln_nnvm_recast_unary(r, "logical_not", x));
}

/** `with`: core's operation on truth values as numbers. */
static void rewrite_logical(ln_nnvm_recast *r)
{
    const ln_nnvm_entry a = truth(r, ln_nnvm_recast_in(r, 0));
    const ln_nnvm_entry b = truth(r, ln_nnvm_recast_in(r, 1));
    out(r, ln_nnvm_recast_binary(r, r->row->with, a, b));
}

/** `with`: core's operation with a number. */
static void rewrite_scalar(ln_nnvm_recast *r)
{
    ln_nnvm_require(&r->node, "scalar");
    ln_nnvm_recast_same(r);
}

static void rewrite_scalar_limit(ln_nnvm_recast *r)
{
    const double number = ln_nnvm_float(&r->node, "scalar", 0);
    const int is_least = !strcmp(r->row->with, "least");
    const ln_nnvm_entry x = ln_nnvm_recast_in(r, 0);
    ln_nnvm_require(&r->node, "scalar");
    out(r, clipped(r, x, is_least ? number : -INFINITY, is_least ? INFINITY : number));
}

/** `with`: core's comparison; the number fills a tensor. */
static void rewrite_scalar_compare(ln_nnvm_recast *r)
{
    const ln_nnvm_entry x = ln_nnvm_recast_in(r, 0);
    ln_nnvm_require(&r->node, "scalar");
    ln_nnvm_recast_begin(r, "full_like", 1, &x);
    ln_nnvm_draft_set_number(r->draft, "fill_value", ln_nnvm_float(&r->node, "scalar", 0));
    out(r, ln_nnvm_recast_binary(r, r->row->with, x, ln_nnvm_recast_end(r)));
}

static void rewrite_sum_of_many(ln_nnvm_recast *r)
{
    const int len = ln_nnvm_num_inputs(&r->node);
    ln_nnvm_int(&r->node, "num_args", len);
    ln_nnvm_recast_begin(r, "elemwise_sum", 0, NULL);
    for (int i = 0; i < len; i++)
        ln_nnvm_draft_arg(r->draft, ln_nnvm_recast_in(r, i));
    ln_nnvm_draft_set_int(r->draft, "num_args", len);
    out(r, ln_nnvm_recast_end(r));
}

/* Names that are core's, and others for the same. */
#define SAME(op)                            \
    {                                       \
        op, ln_nnvm_recast_same, NULL, NULL \
    }
#define CALLED(op, core)                    \
    {                                       \
        op, ln_nnvm_recast_same, core, NULL \
    }
#define ALIAS(op)                            \
    {                                        \
        op, ln_nnvm_recast_alias, NULL, NULL \
    }
#define SCALAR(op, core)                   \
    {                                      \
        op, rewrite_scalar, core, "scalar" \
    }
#define COMPARE(name, core)                                    \
    CALLED("_" name, core), CALLED("broadcast_" name, core),   \
    {                                                          \
        "_" name "_scalar", rewrite_scalar_compare, core, NULL \
    }

const ln_nnvm_core_row ln_nnvm_core_rows_elementwise[] = {
    SAME("abs"),
    SAME("ceil"),
    SAME("exp"),
    SAME("floor"),
    SAME("log"),
    SAME("negative"),
    SAME("sqrt"),
    SAME("tanh"),
    SAME("relu"),
    SAME("sigmoid"),
    SAME("round"),
    SAME("trunc"),
    CALLED("fix", "trunc"),
    SAME("logical_not"),
    SAME("zeros_like"),
    SAME("ones_like"),
    {"square", rewrite_square, NULL, NULL},
    {"sign", rewrite_sign, NULL, NULL},
    {"log10", rewrite_log, "0.43429448190325182765", NULL},
    {"log2", rewrite_log, "1.44269504088896340736", NULL},
    {"rsqrt", rewrite_rsqrt, NULL, NULL},
    {"reciprocal", rewrite_reciprocal, NULL, NULL},
    {"softsign", rewrite_softsign, NULL, NULL},
    {"hard_sigmoid", rewrite_hard_sigmoid, NULL, NULL},
    {"Activation", rewrite_activation, NULL, NULL},
    {"LeakyReLU", rewrite_leaky_relu, NULL, NULL},
    {"clip", ln_nnvm_recast_same, NULL, "a_min a_max"},
    {"cast", ln_nnvm_recast_same, NULL, "dtype"},
    {"Cast", ln_nnvm_recast_same, "cast", "dtype"},
    {"amp_cast", ln_nnvm_recast_same, "cast", "dtype"},
    {"Dropout", rewrite_dropout, NULL, "p=rate"},
    ALIAS("BlockGrad"),
    ALIAS("_copy"),
    ALIAS("identity"),
    ALIAS("MakeLoss"),
    ALIAS("make_loss"),
    ALIAS("IdentityAttachKLSparseReg"),

    SAME("elemwise_add"),
    SAME("elemwise_sub"),
    SAME("elemwise_mul"),
    SAME("elemwise_div"),
    CALLED("_Plus", "elemwise_add"),
    CALLED("_plus", "elemwise_add"),
    CALLED("_add", "elemwise_add"),
    CALLED("_Minus", "elemwise_sub"),
    CALLED("_minus", "elemwise_sub"),
    CALLED("_sub", "elemwise_sub"),
    CALLED("_Mul", "elemwise_mul"),
    CALLED("_mul", "elemwise_mul"),
    CALLED("_Div", "elemwise_div"),
    CALLED("_div", "elemwise_div"),
    CALLED("_power", "elemwise_pow"),
    CALLED("_maximum", "broadcast_max"),
    CALLED("_minimum", "broadcast_min"),
    {"add_n", rewrite_sum_of_many, NULL, NULL},
    {"ElementWiseSum", rewrite_sum_of_many, NULL, NULL},

    SAME("broadcast_add"),
    CALLED("broadcast_plus", "broadcast_add"),
    SAME("broadcast_sub"),
    CALLED("broadcast_minus", "broadcast_sub"),
    SAME("broadcast_mul"),
    SAME("broadcast_div"),
    CALLED("broadcast_power", "broadcast_pow"),
    CALLED("broadcast_maximum", "broadcast_max"),
    CALLED("broadcast_minimum", "broadcast_min"),
    COMPARE("equal", "broadcast_equal"),
    COMPARE("not_equal", "broadcast_not_equal"),
    COMPARE("greater", "broadcast_greater"),
    COMPARE("greater_equal", "broadcast_greater_equal"),
    COMPARE("lesser", "broadcast_less"),
    COMPARE("lesser_equal", "broadcast_less_equal"),
    {"broadcast_logical_and", rewrite_logical, "broadcast_mul", NULL},
    {"_logical_and", rewrite_logical, "broadcast_mul", NULL},
    {"broadcast_logical_or", rewrite_logical, "broadcast_max", NULL},
    {"_logical_or", rewrite_logical, "broadcast_max", NULL},
    {"broadcast_logical_xor", rewrite_logical, "broadcast_not_equal", NULL},
    {"_logical_xor", rewrite_logical, "broadcast_not_equal", NULL},

    SCALAR("_plus_scalar", "__add_scalar__"),
    SCALAR("_PlusScalar", "__add_scalar__"),
    SCALAR("_minus_scalar", "__sub_scalar__"),
    SCALAR("_MinusScalar", "__sub_scalar__"),
    SCALAR("_rminus_scalar", "__rsub_scalar__"),
    SCALAR("_RMinusScalar", "__rsub_scalar__"),
    SCALAR("_mul_scalar", "__mul_scalar__"),
    SCALAR("_MulScalar", "__mul_scalar__"),
    SCALAR("_div_scalar", "__div_scalar__"),
    SCALAR("_DivScalar", "__div_scalar__"),
    SCALAR("_rdiv_scalar", "__rdiv_scalar__"),
    SCALAR("_RDivScalar", "__rdiv_scalar__"),
    SCALAR("_power_scalar", "__pow_scalar__"),
    SCALAR("_PowerScalar", "__pow_scalar__"),
    SCALAR("_rpower_scalar", "__rpow_scalar__"),
    SCALAR("_RPowerScalar", "__rpow_scalar__"),
    {"_maximum_scalar", rewrite_scalar_limit, "least", NULL},
    {"_MaximumScalar", rewrite_scalar_limit, "least", NULL},
    {"_minimum_scalar", rewrite_scalar_limit, "most", NULL},
    {"_MinimumScalar", rewrite_scalar_limit, "most", NULL},
    SAME("where"),
    {NULL, NULL, NULL, NULL},
};
