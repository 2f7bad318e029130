// SPDX-License-Identifier: Apache-2.0
// Element-wise operators of two tensors, or of a tensor and a number.

#include <string.h>

#include "front/nnvm/ln_nnvm_steps.h"

// 1 where a condition holds, else 0, in the type of `like`.
static void emit_truth(ln_nnvm_node *n, const char *truth, const char *like)
{
    ln_emit_cast(&n->emit, truth, ln_nnvm_tensor_of(n, like)->dtype, 0);
}

// Two tensors

// Casts both to the wider type; an integer and a float to the float.
static void unify(ln_nnvm_node *n, const char **a, const char **b)
{
    const tl_dtype of_a = ln_nnvm_tensor_of(n, *a)->dtype, of_b = ln_nnvm_tensor_of(n, *b)->dtype;
    const int is_float = tl_dtype_is_float(of_a), differ = is_float != tl_dtype_is_float(of_b);
    const int is_a = differ ? is_float : tl_size_of(of_a) >= tl_size_of(of_b);
    const tl_dtype dtype = is_a ? of_a : of_b;
    *a = ln_emit_cast(&n->emit, *a, dtype, LN_EMIT_TEMP);
    *b = ln_emit_cast(&n->emit, *b, dtype, LN_EMIT_TEMP);
}

// Both operands, of one type. The shape of a broadcast parameter is unknown, so without a
// parameter file it is one scalar per channel, [C, 1, ..]; one that is not broadcast has the shape
// of the other operand.
static void operands(ln_nnvm_node *n, int is_broadcast, const char **a, const char **b)
{
    const int first = ln_nnvm_is_shaped(n, 0) ? 0 : 1;
    const char *known = ln_nnvm_in(n, first);
    int dims[LN_MAXDIM], ndim = ln_nnvm_copy_dims(n, known, dims);
    if (is_broadcast && ndim > 1) {
        const int channel[LN_MAXDIM] = {dims[1], 1, 1, 1, 1, 1, 1, 1};
        memcpy(dims, channel, sizeof(dims));
        ndim--;
    }
    const char *other = ln_nnvm_weight(n, 1 - first, "", ndim, dims);
    *a = first ? other : known;
    *b = first ? known : other;
    const tl_tensor *const ta = ln_nnvm_tensor_of(n, *a), *const tb = ln_nnvm_tensor_of(n, *b);
    if (!is_broadcast && !tl_tensor_issameshape(ta, tb)) {
        char text_a[LN_MAX_SHAPE], text_b[LN_MAX_SHAPE];
        ln_emit_fail(&n->emit, "shapes are %s and %s, expected the same",
                     ln_sprint_shape(text_a, sizeof(text_a), ta->ndim, ta->dims),
                     ln_sprint_shape(text_b, sizeof(text_b), tb->ndim, tb->dims));
    }
    unify(n, a, b);
}

static int is_prefixed(const char *text, const char *prefix)
{
    return !strncmp(text, prefix, strlen(prefix));
}

// a op b. `op`: a name of tl_compare_op or tl_binary_op, "logical " and one of the latter for
// bools, or "hypot".
static void emit_operation(ln_nnvm_node *n, const char *op, const char *a, const char *b)
{
    const char *const like = a;
    if (is_prefixed(op, "TL_COMPARE")) {
        emit_truth(n, ln_emit_compare(&n->emit, op, a, b), like);
    } else if (is_prefixed(op, "hypot")) {
        ln_emit_formula(&n->emit, "sqrt(x * x + a * a)", a, b, NULL, 0);
    } else if (is_prefixed(op, "logical ")) {
        const char *const truth =
            ln_emit_binary(&n->emit, op + strlen("logical "), ln_nnvm_is_set(n, a),
                           ln_nnvm_is_set(n, b), LN_EMIT_TEMP);
        emit_truth(n, truth, like);
    } else {
        ln_emit_binary(&n->emit, op, a, b, 0);
    }
}

// Attribute 'broadcasts', which LightNet adds to core, overrides it for rewritten MXNet operators.
static void translate_pair(ln_nnvm_node *n, int broadcasts)
{
    const char *a, *b;
    operands(n,
             ln_nnvm_was_mxnet(n) ? ln_attr_bool(&n->emit, "broadcasts", broadcasts) : broadcasts,
             &a, &b);
    emit_operation(n, n->row->with, a, b);
}

static void translate_elemwise(ln_nnvm_node *n)
{
    translate_pair(n, 0);
}

static void translate_broadcast(ln_nnvm_node *n)
{
    translate_pair(n, 1);
}

// Core's `greater` and `less` return floats.
static void translate_float_compare(ln_nnvm_node *n)
{
    const char *a, *b;
    operands(n, 0, &a, &b);
    ln_emit_cast(&n->emit, ln_emit_compare(&n->emit, n->row->with, a, b), TL_FLOAT, 0);
}

// A tensor and a number, which is converted to the tensor's type first.
static void translate_scalar(ln_nnvm_node *n)
{
    const char *const src = ln_nnvm_in(n, 0);
    emit_operation(n, n->row->with, src,
                   ln_nnvm_scalar_like(n, src, ln_attr_number(&n->emit, "scalar", 0)));
}

// The number is the left operand.
static void translate_scalar_left(ln_nnvm_node *n)
{
    const char *const src = ln_nnvm_in(n, 0);
    emit_operation(n, n->row->with,
                   ln_nnvm_scalar_like(n, src, ln_attr_number(&n->emit, "scalar", 0)), src);
}

// Adds any number of tensors.
static void translate_sum_of_many(ln_nnvm_node *n)
{
    const int len = ln_nnvm_check_args(n);
    const char *sum = ln_nnvm_in(n, 0);
    const tl_tensor *const t = ln_nnvm_tensor_of(n, sum);
    for (int i = 1; i < len && !ln_nnvm_failed(n); i++) {
        const char *const next = ln_nnvm_in(n, i);
        if (!tl_tensor_issameshape(t, ln_nnvm_tensor_of(n, next)))
            ln_emit_fail(&n->emit, "input %d has another shape than input 0, expected the same", i);
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
    if (!tl_tensor_issameshape(t, ln_nnvm_tensor_of(n, y)))
        ln_emit_fail(&n->emit, "inputs 1 and 2 have different shapes, expected the same");
    cond = ln_nnvm_is_set(n, cond);
    ln_emit_where(&n->emit, cond, x, y, 0);
}

#define PAIR(op, dialects, translate, with) \
    {                                       \
        op, dialects, translate, with, 2, 2 \
    }
// Since MXNet 1.7, is_int is set for integers; it has no effect.
#define SCALAR_OF(op, dialects, translate, with)                                    \
    {                                                                               \
        op, dialects, translate, with, 1, 1, .keeps_shape = 1, .ignored = "is_int", \
                                             .needs = "scalar"                      \
    }
#define SCALAR(op, dialects, with)      SCALAR_OF(op, dialects, translate_scalar, with)
#define SCALAR_LEFT(op, dialects, with) SCALAR_OF(op, dialects, translate_scalar_left, with)

// The two names of a broadcast operation of core.
#define CORE_BROADCAST(name, with) \
    PAIR("broadcast_" name " __" name "_symbol__", LN_IN_CORE, translate_broadcast, with)

const ln_nnvm_row ln_nnvm_rows_pair[] = {
    PAIR("elemwise_add", LN_IN_CORE, translate_elemwise, "TL_BINARY_ADD"),
    PAIR("elemwise_sub", LN_IN_CORE, translate_elemwise, "TL_BINARY_SUB"),
    PAIR("elemwise_mul", LN_IN_CORE, translate_elemwise, "TL_BINARY_MUL"),
    PAIR("elemwise_div", LN_IN_CORE, translate_elemwise, "TL_BINARY_DIV"),
    PAIR("elemwise_mod", LN_IN_CORE, translate_elemwise, "TL_BINARY_FMOD"),
    PAIR("elemwise_pow", LN_IN_CORE, translate_elemwise, "TL_BINARY_POW"),
    PAIR("logical_and", LN_IN_CORE, translate_elemwise, "logical TL_BINARY_AND"),
    PAIR("logical_or", LN_IN_CORE, translate_elemwise, "logical TL_BINARY_OR"),
    PAIR("_logical_xor", LN_NNVM_ADDED, translate_elemwise, "logical TL_BINARY_XOR"),
    PAIR("greater", LN_IN_CORE, translate_float_compare, "TL_COMPARE_GREATER"),
    PAIR("less", LN_IN_CORE, translate_float_compare, "TL_COMPARE_LESS"),
    PAIR("_mod _Mod", LN_IN_MXNET, translate_elemwise, "TL_BINARY_MOD"),
    PAIR("_hypot _Hypot", LN_IN_MXNET, translate_elemwise, "hypot"),

    CORE_BROADCAST("add", "TL_BINARY_ADD"),
    CORE_BROADCAST("sub", "TL_BINARY_SUB"),
    CORE_BROADCAST("mul", "TL_BINARY_MUL"),
    CORE_BROADCAST("div", "TL_BINARY_DIV"),
    CORE_BROADCAST("mod", "TL_BINARY_FMOD"),
    CORE_BROADCAST("max", "TL_BINARY_MAX"),
    CORE_BROADCAST("min", "TL_BINARY_MIN"),
    CORE_BROADCAST("pow", "TL_BINARY_POW"),
    CORE_BROADCAST("left_shift", "TL_BINARY_SHIFT_LEFT"),
    CORE_BROADCAST("right_shift", "TL_BINARY_SHIFT_RIGHT"),
    CORE_BROADCAST("greater", "TL_COMPARE_GREATER"),
    CORE_BROADCAST("less", "TL_COMPARE_LESS"),
    CORE_BROADCAST("equal", "TL_COMPARE_EQUAL"),
    CORE_BROADCAST("not_equal", "TL_COMPARE_NOT_EQUAL"),
    CORE_BROADCAST("greater_equal", "TL_COMPARE_GREATER_EQUAL"),
    CORE_BROADCAST("less_equal", "TL_COMPARE_LESS_EQUAL"),
    PAIR("broadcast_mod", LN_IN_MXNET, translate_broadcast, "TL_BINARY_MOD"),
    PAIR("broadcast_hypot", LN_IN_MXNET, translate_broadcast, "hypot"),

    SCALAR("__add_scalar__", LN_IN_CORE, "TL_BINARY_ADD"),
    SCALAR("__sub_scalar__", LN_IN_CORE, "TL_BINARY_SUB"),
    SCALAR("__mul_scalar__", LN_IN_CORE, "TL_BINARY_MUL"),
    SCALAR("__div_scalar__", LN_IN_CORE, "TL_BINARY_DIV"),
    SCALAR("__pow_scalar__", LN_IN_CORE, "TL_BINARY_POW"),
    SCALAR("__lshift_scalar__", LN_IN_CORE, "TL_BINARY_SHIFT_LEFT"),
    SCALAR("__rshift_scalar__", LN_IN_CORE, "TL_BINARY_SHIFT_RIGHT"),
    SCALAR_LEFT("__rsub_scalar__", LN_IN_CORE, "TL_BINARY_SUB"),
    SCALAR_LEFT("__rdiv_scalar__", LN_IN_CORE, "TL_BINARY_DIV"),
    SCALAR_LEFT("__rpow_scalar__", LN_IN_CORE, "TL_BINARY_POW"),
    SCALAR("_mod_scalar _ModScalar", LN_IN_MXNET, "TL_BINARY_MOD"),
    SCALAR("scalar_broadcast_max", LN_NNVM_ADDED, "TL_BINARY_MAX"),
    SCALAR("scalar_broadcast_min", LN_NNVM_ADDED, "TL_BINARY_MIN"),
    SCALAR("_hypot_scalar _HypotScalar", LN_IN_MXNET, "hypot"),
    SCALAR("scalar_broadcast_equal", LN_NNVM_ADDED, "TL_COMPARE_EQUAL"),
    SCALAR("scalar_broadcast_not_equal", LN_NNVM_ADDED, "TL_COMPARE_NOT_EQUAL"),
    SCALAR("scalar_broadcast_greater", LN_NNVM_ADDED, "TL_COMPARE_GREATER"),
    SCALAR("scalar_broadcast_greater_equal", LN_NNVM_ADDED, "TL_COMPARE_GREATER_EQUAL"),
    SCALAR("scalar_broadcast_less", LN_NNVM_ADDED, "TL_COMPARE_LESS"),
    SCALAR("scalar_broadcast_less_equal", LN_NNVM_ADDED, "TL_COMPARE_LESS_EQUAL"),
    SCALAR("_logical_and_scalar _LogicalAndScalar", LN_IN_MXNET, "logical TL_BINARY_AND"),
    SCALAR("_logical_or_scalar _LogicalOrScalar", LN_IN_MXNET, "logical TL_BINARY_OR"),
    SCALAR("_logical_xor_scalar _LogicalXorScalar", LN_IN_MXNET, "logical TL_BINARY_XOR"),
    SCALAR_LEFT("_rmod_scalar _RModScalar", LN_IN_MXNET, "TL_BINARY_MOD"),

    {"elemwise_sum", LN_IN_CORE, translate_sum_of_many, NULL, 1},
    {"where", LN_IN_CORE, translate_where, NULL, 3, 3},
    {NULL},
};
