// SPDX-License-Identifier: Apache-2.0
// Functions as formulas of NNVM's core operators.

#include "front/nnvm/ln_nnvm_formula.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/ln_name.h"
#include "base/ln_number.h"

// Subtracting 1 from a power near 1, or adding a small number to 1, loses its last digits. Kahan's
// formulas restore them from the error of the rounded sum u. Source: Higham, Accuracy and
// Stability of Numerical Algorithms, 2002, section 1.14.
//
// Near 0 is where relu(1 - |x|) is not 0.
static const struct formula {
    const char *name, *words;
} formulas[] = {
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
    // x over the root of its mean square, and the same less the mean, with epsilon a.
    {"rms", "x x x mul mean a add sqrt broadcast_div"},
    {"normal", "x x mean broadcast_sub rms"},

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
    // x < 0 ? a (e^(x / a) - 1) : x, the divisor being 1 but for CELU; a may be infinite.
    {"TL_UNARY_ELU", "x -inf 0 clip =q q q expm1 a mul x where"},
    {"TL_UNARY_CELU", "x -inf 0 clip =q q q a div expm1 a mul x where"},
    {"TL_UNARY_SELU", "x -inf 0 clip =q q q expm1 a mul x where b mul"},
    {"TL_UNARY_CLIP", "x a b clip"},
};

// The number of values that a word is applied to, unless it is 1.
static const struct arity {
    const char *word;
    int len;
} arities[] = {
    {"add", 2},  {"sub", 2},   {"mul", 2},           {"div", 2},
    {"clip", 3}, {"where", 3}, {"broadcast_sub", 2}, {"broadcast_div", 2},
};

static const ln_nnvm_operation operations[] = {
    {"add", "add", "add", 1},          {"sub", "sub", "rsub", 1},          {"mul", "mul", "mul", 1},
    {"div", "div", "rdiv", 1},         {"pow", "pow", "rpow", 1},          {"mod", NULL, NULL, 1},
    {"left_shift", "lshift", NULL, 0}, {"right_shift", "rshift", NULL, 0},
};

static const char *const reductions[] = {"sum", "mean", "prod", "max", "min"};

// The most values on the stack, and the longest word with its NUL.
enum { MAX_VALUES = 8, WORD = 32 };

const ln_nnvm_operation *ln_nnvm_find_operation(const char *op)
{
    return LN_ROW_NAMED(operations, op);
}

int ln_nnvm_formula_reduces(const char *word)
{
    return LN_ROW_NAMED(reductions, word) != NULL;
}

const char *ln_nnvm_formula_of(const char *func)
{
    const struct formula *const f = LN_ROW_NAMED(formulas, func);
    return f ? f->words : NULL;
}

// A number, which needs no node.
static ln_nnvm_value number(double value)
{
    return (ln_nnvm_value){.is_number = 1, .number = value};
}

static ln_nnvm_value number_of(const ln_nnvm_formula_maker *m, const char *word)
{
    char *end;
    const double value = ln_number_read(word, &end);
    if (*end)
        ln_translation_fail_memory(m->base);
    return number(value);
}

// Applies a word to the values before `top`. Returns the top of the stack after it. Products and
// quotients with 1 are no node.
static ln_nnvm_value *apply_word(const ln_nnvm_formula_maker *m, const char *word, double alpha,
                                 ln_nnvm_value *top)
{
    const char *const words = ln_nnvm_formula_of(word);
    const struct arity *const arity = LN_ROW_NAMED(arities, word);
    const int len = arity ? arity->len : 1;
    ln_nnvm_value *const v = top - len;
    const int is_same =
        len == 2 && v[1].is_number && v[1].number == 1 && (*word == 'm' || *word == 'd');
    if (words)
        *v = ln_nnvm_formula_make(m, words, *v, alpha, 0);
    else if (!is_same)
        *v = m->put(m->to, word, len, v);
    return v + 1;
}

ln_nnvm_value ln_nnvm_formula_make(const ln_nnvm_formula_maker *m, const char *words,
                                   ln_nnvm_value x, double alpha, double beta)
{
    x.is_number = 0; // it has a node
    ln_nnvm_value named['z' + 1] = {['x'] = x, ['a'] = number(alpha), ['b'] = number(beta)};
    ln_nnvm_value stack[MAX_VALUES], *top = stack;
    char word[WORD];
    for (int len; sscanf(words, "%31s%n", word, &len) == 1; words += len) {
        if (*word == '=')
            named[(int)word[1]] = *--top;
        else if (*word == '-' || (*word >= '0' && *word <= '9'))
            *top++ = number_of(m, word);
        else if (!word[1])
            *top++ = named[(int)*word];
        else
            top = apply_word(m, word, alpha, top);
        assert(top >= stack && top < stack + MAX_VALUES);
    }
    assert(top == stack + 1);
    return *stack;
}
