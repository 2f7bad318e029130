// SPDX-License-Identifier: Apache-2.0
// Writes element-wise functions as NNVM core operators.

#include "base/ln_name.h"
#include "front/nnvm/write/ln_nnvm_write.h"
#include "tensorlight/tl_type.h"

// Functions that depend on the type

static ln_nnvm_value write_not(ln_nnvm_op *n, ln_nnvm_value x)
{
    const tl_dtype dtype = ln_nnvm_op_tensor_of(n, "src")->dtype;
    if (dtype == TL_BOOL)
        return ln_put(n, "logical_not", ln_put_numbers(n, x));
    if (dtype == TL_UINT64)
        ln_nnvm_op_fail(n, "NNVM's core cannot invert the bits of %s", tl_dtype_name(dtype));
    // The inverse is the number with all bits set, the max or -1, minus x.
    const int is_signed = tl_dtype_min_double(dtype) < 0;
    return ln_put_scalar(n, "rsub", x, is_signed ? -1 : tl_dtype_max_double(dtype));
}

// Rounds half to even: adds and subtracts the smallest power of two above which all numbers of the
// type are integers.
static ln_nnvm_value write_round(ln_nnvm_op *n, ln_nnvm_value x)
{
    const double whole = x.dtype == TL_DOUBLE    ? 0x1p52
                         : x.dtype == TL_FLOAT   ? 0x1p23
                         : x.dtype == TL_FLOAT16 ? 0x1p10
                                                 : 0x1p7;
    static const char text[] =
        "(clip(fabs(x), 0, a) + a - a + (fabs(x) - clip(fabs(x), 0, a))) * sign(x)";
    return tl_dtype_is_float(x.dtype) ? ln_put_formula(n, text, x, whole, 0, NULL) : x;
}

static ln_nnvm_value write_leaky(ln_nnvm_op *n, ln_nnvm_value x)
{
    return ln_put_leaky(n, x, ln_op_number(n->op, "alpha"));
}

// Functions without one formula for all types and parameters. Sines, their inverses, and the error
// function have no formula.
static const struct function {
    const char *func;
    ln_nnvm_value (*write)(ln_nnvm_op *n, ln_nnvm_value x);
} functions[] = {
    {"TL_UNARY_NOT", write_not}, {"TL_UNARY_ROUND", write_round}, {"TL_UNARY_LRELU", write_leaky}};

static int has_function(const char *func)
{
    return LN_ROW_NAMED(functions, func) || ln_nnvm_formula_of(func);
}

static ln_nnvm_value write_unary(ln_nnvm_op *n)
{
    const char *const func = ln_op_string(n->op, "func");
    const struct function *const f = LN_ROW_NAMED(functions, func);
    const ln_nnvm_value x = ln_nnvm_op_raw(n, "src");
    if (f)
        return f->write(n, x);
    return ln_put_formula(n, ln_nnvm_formula_of(func), x, ln_op_number(n->op, "alpha"),
                          ln_op_number(n->op, "beta"), NULL);
}

static ln_nnvm_value write_cast(ln_nnvm_op *n)
{
    const ln_nnvm_value src = ln_nnvm_op_tensor(n, ln_op_input_name(n->op, "src"));
    return ln_put_cast(n, src, ln_nnvm_op_tensor_of(n, "dst")->dtype);
}

static ln_nnvm_value write_forward(ln_nnvm_op *n)
{
    return ln_nnvm_op_tensor(n, ln_op_input_name(n->op, "src"));
}

const ln_nnvm_op_row ln_nnvm_write_rows_function[] = {
    {LN_OP_UNARY, write_unary, "func", has_function},
    {LN_OP_CAST, write_cast},
    {LN_OP_FORWARD, write_forward},
    {NULL},
};
