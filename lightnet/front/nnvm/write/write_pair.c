// SPDX-License-Identifier: Apache-2.0
// Writing element-wise operators of two or three tensors.

#include <string.h>

#include "base/ln_name.h"
#include "front/nnvm/write/ln_nnvm_write.h"
#include "tensorlight/tl_type.h"

// Operations

static ln_nnvm_value write_operation(ln_nnvm_op *n, const char *op)
{
    const ln_nnvm_value a = ln_nnvm_op_raw(n, "src1"), b = ln_nnvm_op_raw(n, "src2");
    return ln_put_binary(n, op, a, b);
}

// The sign of b: the remainder of a division toward zero, plus b if their signs differ.
static ln_nnvm_value write_mod(ln_nnvm_op *n, const char *op)
{
    const ln_nnvm_value b = ln_nnvm_op_raw(n, "src2"), rest = write_operation(n, op);
    if (tl_dtype_min_double(b.dtype) >= 0)
        return rest;
    const ln_nnvm_value signs =
        ln_put_binary(n, "mul", ln_put_clip(n, rest, -1, 1), ln_put_clip(n, b, -1, 1));
    const ln_nnvm_value differs = ln_put_truth(n, ln_put(n, "relu", ln_put(n, "negative", signs)));
    return ln_put_binary(n, "add", rest, ln_put_binary(n, "mul", b, differs));
}

// Writes min(max(x, a), b) of integers as a clip, which the reader translates to these.
static ln_nnvm_value write_bound(ln_nnvm_op *n, const char *op)
{
    const ln_nnvm_value a = ln_nnvm_op_raw(n, "src1"), b = ln_nnvm_op_raw(n, "src2");
    const ln_op *const max =
        ln_nnvm_producer(n, ln_op_input_name(n->op, "src1"), LN_OP_BINARY, "op", "TL_BINARY_MAX");
    double min;
    if (strcmp(op, "min") || !b.is_number || tl_dtype_is_float(b.dtype) || !max ||
        b.ndim > a.ndim || !ln_nnvm_own_scalar(n, ln_op_input_name(max, "src2"), &min))
        return ln_put_bound(n, op, a, b);
    return ln_put_clip(n, ln_nnvm_op_tensor(n, ln_op_input_name(max, "src1")), min, b.number);
}

// Bools

// The x of compare(x, 0) with operation `op`; NULL: another producer.
static const char *compared_with_zero(ln_nnvm_op *n, const char *tensor, const char *op)
{
    double zero;
    const ln_op *const compare = ln_nnvm_producer(n, tensor, LN_OP_COMPARE, "op", op);
    if (!compare || !ln_nnvm_own_scalar(n, ln_op_input_name(compare, "src2"), &zero) || zero != 0)
        return NULL;
    const char *const src = ln_op_input_name(compare, "src1");
    const tl_tensor *const t = ln_translation_tensor(&n->draft->base, src);
    return t->ndim == ln_translation_tensor(&n->draft->base, tensor)->ndim ? src : NULL;
}

// The bool as numbers, in which all but 0 is true.
static ln_nnvm_value truth_of(ln_nnvm_op *n, const char *tensor)
{
    const char *const numbers = compared_with_zero(n, tensor, "TL_COMPARE_NOT_EQUAL");
    return ln_put_numbers(n, ln_nnvm_op_tensor(n, numbers ? numbers : tensor));
}

// Writes logical_and and logical_or for equal shapes, else arithmetic on 0 and 1.
static ln_nnvm_value write_logical(ln_nnvm_op *n, const char *op)
{
    const int is_and = !strcmp(op, "and"), is_or = !strcmp(op, "or");
    if (ln_nnvm_op_tensor_of(n, "src1")->dtype != TL_BOOL)
        ln_nnvm_op_fail(n, "bitwise operations of integers, which NNVM's core lacks");
    ln_nnvm_value a = truth_of(n, ln_op_input_name(n->op, "src1"));
    ln_nnvm_value b = truth_of(n, ln_op_input_name(n->op, "src2"));
    b = ln_put_cast(n, b, a.dtype);
    if ((is_and || is_or) && ln_nnvm_same_shape(a, b)) {
        return ln_put_pair(n, is_and ? "logical_and" : "logical_or", a, b);
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
    const char *const op = ln_op_string(n->op, "op");
    const char *const zero = compared_with_zero(n, n->label, op);
    if (zero && !strcmp(op, "TL_COMPARE_EQUAL"))
        return ln_put(n, "logical_not", ln_put_numbers(n, ln_nnvm_op_tensor(n, zero)));
    if (zero && !strcmp(op, "TL_COMPARE_NOT_EQUAL"))
        return ln_put_truth(n, ln_put_numbers(n, ln_nnvm_op_tensor(n, zero)));
    const char *const *const row = LN_ROW_NAMED(ops, op);
    if (!row)
        ln_nnvm_op_fail(n, "parameter 'op' is %s, which NNVM's core lacks", op);
    const ln_nnvm_value a = ln_put_numbers(n, ln_nnvm_op_raw(n, "src1"));
    const ln_nnvm_value b = ln_put_numbers(n, ln_nnvm_op_raw(n, "src2"));
    return ln_put_binary(n, row ? row[1] : "", a, ln_put_cast(n, b, a.dtype));
}

static ln_nnvm_value write_where(ln_nnvm_op *n)
{
    const tl_tensor *const dst = ln_nnvm_op_tensor_of(n, "dst");
    const ln_nnvm_value cond = truth_of(n, ln_op_input_name(n->op, "cond"));
    const ln_nnvm_value a = ln_nnvm_op_raw(n, "src1");
    const ln_nnvm_value b = ln_put_cast(n, ln_nnvm_op_raw(n, "src2"), a.dtype);
    const ln_nnvm_value srcs[] = {ln_put_expand(n, cond, dst->ndim, dst->dims),
                                  ln_put_expand(n, a, dst->ndim, dst->dims),
                                  ln_put_expand(n, b, dst->ndim, dst->dims)};
    return ln_put_where(n, srcs[0], srcs[1], srcs[2]);
}

// Slopes

// The one axis along which the slopes differ; -1: several, or none.
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

// x < 0 ? slope x : x, with a slope for each index along an axis, or of any other shape.
static ln_nnvm_value write_prelu(ln_nnvm_op *n, const char *op)
{
    (void)op;
    const tl_tensor *const slope = ln_nnvm_op_tensor_of(n, "src2");
    const int axis = slope_axis(ln_nnvm_op_tensor_of(n, "src1"), slope);
    const ln_nnvm_value x = ln_nnvm_op_raw(n, "src1"), slopes = ln_nnvm_op_raw(n, "src2");
    if (slopes.is_number && slopes.ndim <= x.ndim)
        return ln_put_leaky(n, x, slopes.number);
    if (axis < 0) {
        const ln_nnvm_value below = ln_put(n, "relu", ln_put(n, "negative", x));
        const ln_nnvm_value part = ln_put_binary(n, "mul", below, slopes);
        return ln_put_binary(n, "sub", ln_put(n, "relu", x), part);
    }
    // The translator of prelu moves a vector of slopes to its axis.
    const char *src = ln_op_input_name(n->op, "src2");
    const ln_op *const reshape = ln_nnvm_producer(n, src, LN_OP_RESHAPE, NULL, NULL);
    ln_nnvm_value alpha = ln_nnvm_op_tensor(n, reshape ? ln_op_input_name(reshape, "src") : src);
    if (alpha.ndim != 1)
        alpha = ln_put_reshape(n, slopes, 1, &slope->len);
    return LN_PUT(n, "prelu", x, LN_SRC(x), LN_SRC(alpha), LN_INT("axis", axis));
}

// Tables

static const struct operation {
    const char *name; // of tl_binary_op
    ln_nnvm_value (*write)(ln_nnvm_op *n, const char *op);
    const char *op;
} operations[] = {
    {"TL_BINARY_ADD", write_operation, "add"},
    {"TL_BINARY_SUB", write_operation, "sub"},
    {"TL_BINARY_MUL", write_operation, "mul"},
    {"TL_BINARY_DIV", write_operation, "div"},
    {"TL_BINARY_POW", write_operation, "pow"},
    {"TL_BINARY_FMOD", write_operation, "mod"},
    {"TL_BINARY_MOD", write_mod, "mod"},
    {"TL_BINARY_MAX", write_bound, "max"},
    {"TL_BINARY_MIN", write_bound, "min"},
    {"TL_BINARY_PRELU", write_prelu, "prelu"},
    {"TL_BINARY_AND", write_logical, "and"},
    {"TL_BINARY_OR", write_logical, "or"},
    {"TL_BINARY_XOR", write_logical, "xor"},
    {"TL_BINARY_SHIFT_LEFT", write_operation, "left_shift"},
    {"TL_BINARY_SHIFT_RIGHT", write_operation, "right_shift"},
    {"TL_BINARY_PICK_MAX", write_bound, "max"},
    {"TL_BINARY_PICK_MIN", write_bound, "min"},
    {"TL_BINARY_POW_DOUBLE", write_operation, "pow"},
};

static int has_operation(const char *op)
{
    return LN_ROW_NAMED(operations, op) != NULL;
}

static ln_nnvm_value write_binary(ln_nnvm_op *n)
{
    const struct operation *const o = LN_ROW_NAMED(operations, ln_op_string(n->op, "op"));
    return o->write(n, o->op);
}

const ln_nnvm_op_row ln_nnvm_write_rows_pair[] = {
    {LN_OP_BINARY, write_binary, "op", has_operation},
    {LN_OP_COMPARE, write_compare},
    {LN_OP_WHERE, write_where},
    {NULL},
};
