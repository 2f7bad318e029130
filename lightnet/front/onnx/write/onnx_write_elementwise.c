// SPDX-License-Identifier: Apache-2.0
// Writing operators on single elements: functions, arithmetic, comparisons, conversion.

#include <math.h>
#include <string.h>

#include "base/ln_name.h"
#include "front/onnx/write/ln_onnx_write.h"
#include "ir/ln_formula.h"
#include "front/onnx/ln_onnx.h"
#include "tensorlight/tl_elementwise.h"

// Unary functions

// A function of x, with its parameters.
typedef struct function {
    const char *x;
    tl_dtype dtype;
    double alpha, beta;
} function;

static const char *scalar(ln_onnx_op *n, const function *f, double value)
{
    return ln_onnx_put_scalar(n, f->dtype, value);
}

static const char *put_not(ln_onnx_op *n, const function *f)
{
    if (f->dtype == TL_BOOL)
        return ln_onnx_put(n, "Not", f->x);
    ln_onnx_op_since(n, 18);
    return ln_onnx_put(n, "BitwiseNot", f->x);
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

// ONNX has probit as post_transform of LinearRegressor only, with results of float32.
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

static const char *put_clip(ln_onnx_op *n, const function *f)
{
    return LN_ONNX_PUT(n, "Clip", LN_ONNX_SRC(f->x), LN_ONNX_SRC(scalar(n, f, f->alpha)),
                       LN_ONNX_SRC(scalar(n, f, f->beta)));
}

// Functions that depend on the type, or are another operator of ONNX.
static const struct special {
    const char *func;
    const char *(*put)(ln_onnx_op *n, const function *f);
    int is_of_floats; // computes in float32
} specials[] = {
    {"TL_UNARY_NOT", put_not},   {"TL_UNARY_RELU", put_relu},        {"TL_UNARY_LRELU", put_lrelu},
    {"TL_UNARY_CLIP", put_clip}, {"TL_UNARY_PROBIT", put_probit, 1},
};

// Functions by one node

static double param_of(const function *f, const char *param)
{
    return strcmp(param, "beta") != 0 ? f->alpha : f->beta;
}

static int is_of(const ln_form *form, const char *func, const function *f)
{
    int is_func = 0;
    for (const ln_form_item *item = form->items; item->kind; item++) {
        is_func |= item->kind == LN_ITEM_IS_TEXT ? !strcmp(item->text, func)
                                                 : ln_attr_word_for(item->words, func) != NULL;
        if (item->kind == LN_ITEM_IS_NUMBER && (float)param_of(f, item->arg) != (float)item->number)
            return 0;
    }
    return is_func;
}

// The ONNX operator that is the function of this type in the operator set; NULL: none.
static const ln_form *find_single(const ln_onnx_op *n, const char *func, const function *f)
{
    for (const ln_form *form = ln_onnx_forms; form->optype; form++)
        if (!strcmp(form->optype, LN_OP_UNARY) && form->since <= ln_onnx_op_opset(n) &&
            !strchr(form->type, ':') && ln_onnx_supports(n, form->type, f->dtype) &&
            is_of(form, func, f))
            return form;
    return NULL;
}

static const char *put_single(ln_onnx_op *n, const ln_form *form, const char *func,
                              const function *f)
{
    const char *const out = ln_onnx_put_name(n, form->type);
    ln_onnx_put_begin(n, form->type);
    ln_onnx_put_set(n, LN_ONNX_SRC(f->x));
    for (const ln_form_item *item = form->items; item->kind; item++)
        if (item->kind == LN_ITEM_NUMBER)
            ln_onnx_put_set(n, LN_NUMBER(item->name, param_of(f, item->arg)));
        else if (item->words && strcmp(ln_attr_word_for(item->words, func)->name, item->text) != 0)
            ln_onnx_put_set(n, LN_TEXT(item->name, ln_attr_word_for(item->words, func)->name));
    ln_onnx_put_end(n, 1, &out);
    return out;
}

// Functions by nodes of their formula (ir/ln_formula.h)

static const char *put_function(ln_onnx_op *n, const char *func, const function *f);

// The nodes of a formula: values, NULL where they are numbers only.
typedef struct expression {
    const function *f;
    const char *values[LN_FORMULA_NODES];
    double numbers[LN_FORMULA_NODES];
} expression;

static const char *operand(ln_onnx_op *n, const expression *e, int i)
{
    return e->values[i] ? e->values[i] : scalar(n, e->f, e->numbers[i]);
}

static const char *put_pair(ln_onnx_op *n, const expression *e, const char *op_type,
                            const int *srcs)
{
    const int is_mul = !strcmp(op_type, "Mul");
    for (int k = 0; k < 2 && is_mul; k++)
        if (!e->values[srcs[k]] && e->numbers[srcs[k]] == 1)
            return operand(n, e, srcs[!k]);
    const char *const a = operand(n, e, srcs[0]);
    return ln_onnx_put_pair(n, op_type, a, operand(n, e, srcs[1]));
}

static const char *put_call(ln_onnx_op *n, const expression *e, const ln_formula_node *node)
{
    static const char *const pairs[][2] = {{"add", "Add"}, {"mul", "Mul"}, {"div", "Div"},
                                           {"sub", "Sub"}, {"pow", "Pow"}, {"less", "Less"}};
    const int *const srcs = node->srcs;
    for (size_t i = 0; i < sizeof(pairs) / sizeof(*pairs); i++)
        if (!strcmp(node->name, pairs[i][0]))
            return put_pair(n, e, pairs[i][1], srcs);
    const char *const a = operand(n, e, srcs[0]);
    if (!strcmp(node->name, "choice"))
        return LN_ONNX_PUT(n, "Where", LN_ONNX_SRC(a), LN_ONNX_SRC(operand(n, e, srcs[1])),
                           LN_ONNX_SRC(operand(n, e, srcs[2])));
    if (!strcmp(node->name, "expm1"))
        return ln_onnx_put_pair(n, "Sub", ln_onnx_put(n, "Exp", a), scalar(n, e->f, 1));
    const function inner = {a, e->f->dtype, node->n_srcs > 1 ? e->numbers[srcs[1]] : 1,
                            node->n_srcs > 2 ? e->numbers[srcs[2]] : 0};
    return put_function(n, ln_function_named(node->name)->func, &inner);
}

static const char *put_formula(ln_onnx_op *n, const char *func, const function *f)
{
    ln_formula formula;
    expression e = {.f = f};
    ln_formula_read(&formula, ln_function_of(func)->formula);
    for (int i = 0; i < formula.len; i++) {
        const ln_formula_node *const node = &formula.nodes[i];
        const int is_a = ln_formula_is(&formula, i, "a"), is_b = ln_formula_is(&formula, i, "b");
        e.numbers[i] = is_a ? f->alpha : is_b ? f->beta : node->number;
        if (ln_formula_is(&formula, i, "x"))
            e.values[i] = f->x;
        else if (!is_a && !is_b && !ln_formula_is_number(&formula, i))
            e.values[i] = put_call(n, &e, node);
    }
    return e.values[formula.len - 1];
}

static const char *put_function(ln_onnx_op *n, const char *func, const function *f)
{
    const struct special *const special = LN_ROW_NAMED(specials, func);
    const ln_form *const single = special ? NULL : find_single(n, func, f);
    return special  ? special->put(n, f)
           : single ? put_single(n, single, func, f)
                    : put_formula(n, func, f);
}

// The last node gets the name of the output.
static void end_with(ln_onnx_op *n, const char *value)
{
    ln_onnx_op_ends_with(n, "dst", value);
}

// Several nodes compute 16-bit floats in float32, so as to round once, as do nodes that lack the
// type.
static tl_dtype work_dtype(const ln_onnx_op *n, const char *func, const function *f)
{
    const struct special *const special = LN_ROW_NAMED(specials, func);
    if (!tl_dtype_is_float(f->dtype) || tl_size_of(f->dtype) != 2)
        return f->dtype;
    const int is_supported = special ? f->dtype == TL_FLOAT16 && !special->is_of_floats
                                     : find_single(n, func, f) != NULL;
    return is_supported ? f->dtype : TL_FLOAT;
}

static void write_unary(ln_onnx_op *n)
{
    const char *const func = ln_op_string(n->op, "func");
    const tl_dtype dtype = ln_onnx_op_tensor(n, "src")->dtype;
    if (!ln_function_of(func)) {
        ln_onnx_op_reject(n, "parameter 'func' is %s", func);
        return;
    }
    function f = {ln_onnx_op_in(n, "src"), dtype, ln_op_number(n->op, "alpha"),
                  ln_op_number(n->op, "beta")};
    f.dtype = work_dtype(n, func, &f);
    if (f.dtype != dtype)
        f.x = ln_onnx_put_cast(n, f.x, f.dtype);
    const char *const v = put_function(n, func, &f);
    end_with(n, f.dtype != dtype ? ln_onnx_put_cast(n, v, dtype) : v);
}

// Two operands

// Both operands.
typedef struct operands {
    const char *a, *b;
    tl_dtype dtype;
} operands;

static const char *put_fmod(ln_onnx_op *n, const operands *o, const char *op_type)
{
    return LN_ONNX_PUT(n, op_type, LN_ONNX_SRC(o->a), LN_ONNX_SRC(o->b), LN_INT("fmod", 1));
}

// The operator on truth values, or on the bits of integers.
static const char *put_bits(ln_onnx_op *n, const operands *o, const char *op_type)
{
    if (o->dtype == TL_BOOL)
        return ln_onnx_put_pair(n, op_type, o->a, o->b);
    ln_onnx_op_since(n, 18);
    const char *const of_bits = ln_translation_print(&n->writer->base, "Bitwise%s", op_type);
    return of_bits ? ln_onnx_put_pair(n, of_bits, o->a, o->b) : "";
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
            ln_onnx_op_reject(n, "a shift of %s by %g", tl_dtype_name(dtype), shift);
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

static const char *put_shift(ln_onnx_op *n, const operands *o, const char *direction)
{
    if (tl_dtype_min_double(o->dtype) < 0)
        return put_signed_shift(n, o, *direction == 'L');
    return LN_ONNX_PUT(n, "BitShift", LN_ONNX_SRC(o->a), LN_ONNX_SRC(o->b),
                       LN_TEXT("direction", direction));
}

// Operations by one node of this type, or by a function of it.
static const struct binary {
    const char *op, *op_type;
    const char *(*put)(ln_onnx_op *n, const operands *o, const char *op_type);
} binaries[] = {
    {"TL_BINARY_ADD", "Add"},
    {"TL_BINARY_SUB", "Sub"},
    {"TL_BINARY_MUL", "Mul"},
    {"TL_BINARY_DIV", "Div"},
    {"TL_BINARY_MOD", "Mod"},
    {"TL_BINARY_FMOD", "Mod", put_fmod},
    {"TL_BINARY_POW", "Pow"},
    {"TL_BINARY_MAX", "Max"},
    {"TL_BINARY_MIN", "Min"},
    {"TL_BINARY_PRELU", "PRelu"},
    {"TL_BINARY_AND", "And", put_bits},
    {"TL_BINARY_OR", "Or", put_bits},
    {"TL_BINARY_XOR", "Xor", put_bits},
    {"TL_BINARY_SHIFT_LEFT", "LEFT", put_shift},
    {"TL_BINARY_SHIFT_RIGHT", "RIGHT", put_shift},
};

// ONNX's Mod has the sign of the first operand for floats, and PRelu's slope broadcasts to the
// source only.
static int has_binary(const ln_op *op)
{
    const tl_tensor *const src = ln_op_input(op, "src1")->tensor;
    if (ln_op_has_string(op, "op", "TL_BINARY_MOD"))
        return !tl_dtype_is_float(src->dtype);
    if (ln_op_has_string(op, "op", "TL_BINARY_PRELU"))
        return tl_tensor_issameshape(src, ln_op_output(op, "dst")->tensor);
    return LN_ROW_NAMED(binaries, ln_op_string(op, "op")) != NULL;
}

static void write_binary(ln_onnx_op *n)
{
    const char *const op = ln_op_string(n->op, "op");
    const struct binary *const row = LN_ROW_NAMED(binaries, op);
    const operands o = {.a = ln_onnx_op_in(n, "src1"),
                        .b = ln_onnx_op_in(n, "src2"),
                        .dtype = ln_onnx_op_tensor(n, "src1")->dtype};
    if (!row)
        ln_onnx_op_reject(n, "parameter 'op' is %s", op);
    else if (row->put)
        end_with(n, row->put(n, &o, row->op_type));
    else
        LN_ONNX_PUT_AS(n, "dst", row->op_type, LN_ONNX_SRC(o.a), LN_ONNX_SRC(o.b));
}

static void write_compare(ln_onnx_op *n)
{
    const char *const a = ln_onnx_op_in(n, "src1"), *const b = ln_onnx_op_in(n, "src2");
    if (ln_op_has_string(n->op, "op", "TL_COMPARE_NOT_EQUAL"))
        LN_ONNX_PUT_AS(n, "dst", "Not", LN_ONNX_SRC(ln_onnx_put_pair(n, "Equal", a, b)));
    else
        ln_onnx_write_form(n, NULL);
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
    LN_ONNX_PUT_AS(n, "dst", "Cast", LN_ONNX_IN(n, "src"),
                   LN_DTYPE("to", ln_onnx_op_tensor(n, "dst")->dtype));
}

const ln_onnx_op_row ln_onnx_write_rows_elementwise[] = {
    {LN_OP_UNARY, write_unary},     {LN_OP_BINARY, write_binary, has_binary},
    {LN_OP_COMPARE, write_compare}, {LN_OP_CLASSIFY, write_classify},
    {LN_OP_CAST, write_cast},       {NULL},
};
