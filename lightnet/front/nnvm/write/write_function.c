// SPDX-License-Identifier: Apache-2.0
// Writes element-wise functions as NNVM core operators.

#include <stdio.h>
#include <string.h>

#include "base/ln_name.h"
#include "base/ln_number.h"
#include "front/nnvm/write/ln_nnvm_write.h"
#include "tensorlight/tl_type.h"

/* Element-wise functions as NNVM core operators: formulas in postfix notation, words between
 * blanks, which operate on a stack of values. The last value on the stack is the result.
 *
 *     x a b            the source, and the numbers alpha and beta
 *     0.5 -inf         a number
 *     =t               takes the last value and names it by a letter for later use
 *     add sub mul div  of the last two values, one of which may be a number
 *     clip             of the last three: the first between the two numbers after it
 *     where            of the last three: the second where the first is not 0, else the third
 *     abs exp ..       of the last value: another formula, or an operator of core's */
typedef struct formula {
    const char *name, *words;
} formula;

/* Subtracting 1 from a power near 1, or adding a small number to 1, loses its last digits. Kahan's
 * formulas restore them from the error of the rounded sum u. Source: Higham, Accuracy and
 * Stability of Numerical Algorithms, 2002, section 1.14.
 *
 * Near 0 is where relu(1 - |x|) is not 0. */
static const formula formulas[] = {
    // e^x - 1: (u - 1) x / log(u) near 0, with u = e^x.
    {"expm1", "x exp =u u 1 sub =r 1 x abs sub relu r r x u log div mul x where r where"},
    // log(1 + x) for x near 0: log(u) x / (u - 1), with u = 1 + x.
    {"log1p", "x 1 add =u u 1 sub =r r u log x r div mul x where"},
    // x / |x| with a divisor that is 1 for 0, of numbers that are neither large nor infinite.
    {"sign", "x -1 1 clip =c c c abs c logical_not add div"},
    // max(x, 0) + log(1 + e^-|x|), where nothing overflows.
    {"softplus", "x relu x abs negative exp log1p add"},
    // log(x) + log(1 + sqrt(1 + 1 / x^2)), where x^2 itself would overflow; the same with minus.
    {"log_sum", "1 x div =i x log i i mul 1 add sqrt 1 add log add"},
    {"log_difference", "1 x div =i x log 1 i i mul sub sqrt 1 add log add"},

    {"TL_UNARY_SIGN", "x sign"},
    {"TL_UNARY_RECIPROCAL", "1 x div"},
    {"TL_UNARY_AFFINE", "x a mul b add"},
    // Near 0 (t + t / (t + 1)) / 2 with t = e^x - 1, else h^2 / 2 - 1 / (2 h^2) with h = e^(x / 2),
    // whose square is the last to overflow.
    {"TL_UNARY_SINH", "x expm1 =t x 0.5 mul exp =h 1 x abs sub relu t t t 1 add div add 0.5 mul "
                      "h 0.5 mul h mul 0.5 h div h div sub where"},
    {"TL_UNARY_COSH", "x 0.5 mul exp =h h 0.5 mul h mul 0.5 h div h div add"},
    // Of |x|, with the sign of x: near 0 log(1 + x + x^2 / (1 + sqrt(1 + x^2))).
    {"TL_UNARY_ASINH", "x abs =s s s mul =q 1 s sub relu s q q 1 add sqrt 1 add div add log1p "
                       "s log_sum where x sign mul"},
    // Near 1 log(1 + d + sqrt(2 d + d^2)) with d = x - 1.
    {"TL_UNARY_ACOSH", "x 1 sub =d 1 d abs sub relu d d d 2 add mul sqrt add log1p "
                       "x log_difference where"},
    // log((1 + x) / (1 - x)) / 2, near 0 as log(1 + 2 x / (1 - x)) / 2.
    {"TL_UNARY_ATANH", "1 x sub =d 0.5 x abs sub relu x 2 mul d div log1p x 1 add d div log where "
                       "0.5 mul"},
    {"TL_UNARY_SCALEDTANH", "x b mul tanh a mul"},
    {"TL_UNARY_HARDSIGMOID", "x a mul b add 0 1 clip"},
    {"TL_UNARY_HARDSWISH", "x x a mul b add 0 1 clip mul"},
    {"TL_UNARY_SOFTPLUS", "x softplus"},
    {"TL_UNARY_SOFTSIGN", "x x abs 1 add div"},
    {"TL_UNARY_MISH", "x x softplus tanh mul"},
    {"TL_UNARY_SWISH", "x x a mul sigmoid mul"},
    // x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2.
    {"TL_UNARY_GELU_TANH", "x 0.5 mul x x x mul 0.044715 mul 1 add mul 0.79788456080286535588 mul "
                           "tanh 1 add mul"},
    // x > 0 ? x : a (e^(x / a) - 1), the divisor being 1 but for CELU.
    {"TL_UNARY_ELU", "x relu x -inf 0 clip expm1 a mul add"},
    {"TL_UNARY_CELU", "x relu x -inf 0 clip a div expm1 a mul add"},
    {"TL_UNARY_SELU", "x relu x -inf 0 clip expm1 a mul add b mul"},
    {"TL_UNARY_CLIP", "x a b clip"},
};

/* The most values on the stack, and the longest word with its NUL. */
enum { MOST_VALUES = 8, WORD = 32 };

static ln_nnvm_value put_formula(ln_nnvm_op *n, const char *words, ln_nnvm_value x, double alpha,
                                 double beta);

// A number, which needs no node.
static ln_nnvm_value number(double value)
{
    return (ln_nnvm_value){.is_number = 1, .number = value};
}

static ln_nnvm_value number_of(ln_nnvm_op *n, const char *word)
{
    char *end;
    const double value = ln_number_read(word, &end);
    if (*end)
        ln_translation_fail_memory(&n->writer->draft.base);
    return number(value);
}

static int is_binary(const char *word)
{
    return !strcmp(word, "add") || !strcmp(word, "sub") || !strcmp(word, "mul") ||
           !strcmp(word, "div");
}

// Products and quotients with 1 are no node.
static ln_nnvm_value put_operation(ln_nnvm_op *n, const char *op, ln_nnvm_value a, ln_nnvm_value b)
{
    const int is_sum = !strcmp(op, "add") || !strcmp(op, "sub");
    return !is_sum && b.is_number && b.number == 1 ? a : ln_put_binary(n, op, a, b);
}

// Applies a word to the values before `top`. Returns the top of the stack after it.
static ln_nnvm_value *put_word(ln_nnvm_op *n, const char *word, ln_nnvm_value *top)
{
    const formula *const f = LN_ROW_NAMED(formulas, word);
    const int arity = is_binary(word) ? 2 : !strcmp(word, "clip") || !strcmp(word, "where") ? 3 : 1;
    ln_nnvm_value *const v = top - arity;
    if (arity == 2)
        *v = put_operation(n, word, v[0], v[1]);
    else if (arity == 3)
        *v = *word == 'c' ? ln_put_clip(n, v[0], v[1].number, v[2].number)
                          : ln_put_where(n, v[0], v[1], v[2]);
    else
        *v = f ? put_formula(n, f->words, *v, 1, 0) : ln_put(n, word, *v);
    return v + 1;
}

static ln_nnvm_value put_formula(ln_nnvm_op *n, const char *words, ln_nnvm_value x, double alpha,
                                 double beta)
{
    ln_nnvm_value named['z' + 1] = {['x'] = x, ['a'] = number(alpha), ['b'] = number(beta)};
    ln_nnvm_value stack[MOST_VALUES], *top = stack;
    char word[WORD];
    for (int len; sscanf(words, "%31s%n", word, &len) == 1; words += len) {
        if (*word == '=')
            named[(int)word[1]] = *--top;
        else if (*word == '-' || (*word >= '0' && *word <= '9'))
            *top++ = number_of(n, word);
        else if (!word[1])
            *top++ = named[(int)*word];
        else
            top = put_word(n, word, top);
    }
    return top[-1];
}

/* ---- functions that depend on the type ---- */

static ln_nnvm_value write_not(ln_nnvm_op *n, ln_nnvm_value x)
{
    const tl_dtype dtype = ln_nnvm_op_tensor_of(n, "src")->dtype;
    if (dtype == TL_BOOL)
        return ln_put(n, "logical_not", ln_put_numbers(n, x));
    if (dtype == TL_UINT64)
        ln_nnvm_op_fail(n, "the bits of %s cannot be inverted", tl_dtype_name(dtype));
    // All bits set is the largest number, or -1.
    const int is_signed = tl_dtype_min_double(dtype) < 0;
    return ln_put_scalar(n, "rsub", x, is_signed ? -1 : tl_dtype_max_double(dtype));
}

/** To the even one of two: to a number below the first one that has no fraction, that number is
 *  added and subtracted; above it there is nothing to round. */
static ln_nnvm_value write_round(ln_nnvm_op *n, ln_nnvm_value x)
{
    const double whole = x.dtype == TL_DOUBLE    ? 0x1p52
                         : x.dtype == TL_FLOAT   ? 0x1p23
                         : x.dtype == TL_FLOAT16 ? 0x1p10
                                                 : 0x1p7;
    static const char words[] = "x abs =s s 0 a clip =l l a add a sub s l sub add x sign mul";
    return tl_dtype_is_float(x.dtype) ? put_formula(n, words, x, whole, 0) : x;
}

static ln_nnvm_value write_leaky(ln_nnvm_op *n, ln_nnvm_value x)
{
    return ln_put_leaky(n, x, ln_rule_get_number(n->op, "alpha"));
}

/* Functions by an operator of core. Sines, their inverses, and the error function have
 * none. */
static const struct function {
    const char *func;
    const char *op;
    ln_nnvm_value (*write)(ln_nnvm_op *n, ln_nnvm_value x);
} functions[] = {
    {"TL_UNARY_ABS", "abs", NULL},         {"TL_UNARY_NEG", "negative", NULL},
    {"TL_UNARY_NOT", NULL, write_not},     {"TL_UNARY_SQRT", "sqrt", NULL},
    {"TL_UNARY_EXP", "exp", NULL},         {"TL_UNARY_LOG", "log", NULL},
    {"TL_UNARY_CEIL", "ceil", NULL},       {"TL_UNARY_FLOOR", "floor", NULL},
    {"TL_UNARY_ROUND", NULL, write_round}, {"TL_UNARY_TANH", "tanh", NULL},
    {"TL_UNARY_SIGMOID", "sigmoid", NULL}, {"TL_UNARY_RELU", "relu", NULL},
    {"TL_UNARY_LRELU", NULL, write_leaky},
};

static int has_function(const char *func)
{
    return LN_ROW_NAMED(functions, func) || LN_ROW_NAMED(formulas, func);
}

static ln_nnvm_value write_unary(ln_nnvm_op *n)
{
    const char *const func = ln_rule_get_string(n->op, "func");
    const struct function *const f = LN_ROW_NAMED(functions, func);
    const formula *const by = LN_ROW_NAMED(formulas, func);
    ln_nnvm_value x = ln_nnvm_op_raw(n, "src");
    x.is_number = 0; // it has a node
    if (by)
        return put_formula(n, by->words, x, ln_rule_get_number(n->op, "alpha"),
                           ln_rule_get_number(n->op, "beta"));
    return f->write ? f->write(n, x) : ln_put(n, f->op, x);
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
