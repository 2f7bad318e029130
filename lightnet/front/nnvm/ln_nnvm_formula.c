// SPDX-License-Identifier: Apache-2.0
// Functions as formulas of NNVM's core operators.

#include "front/nnvm/ln_nnvm_formula.h"

#include <string.h>

#include "base/ln_name.h"
#include "ir/ln_formula.h"

// Functions that core lacks. Subtracting 1 from a power near 1, or adding a small number to 1,
// loses its last digits. Kahan's formulas restore them from the error of the rounded sum. Source:
// Higham, Accuracy and Stability of Numerical Algorithms, 2002, section 1.14.
static const struct formula {
    const char *name, *text;
} formulas[] = {
    // Near 0: (u - 1) x / log(u) with u = e^x.
    {"expm1", "fabs(x) < 1 ? (exp(x) - 1 ? (exp(x) - 1) * (x / log(exp(x))) : x) : exp(x) - 1"},
    // For x near 0: log(u) x / (u - 1), with u = 1 + x.
    {"log1p", "x + 1 - 1 ? log(x + 1) * (x / (x + 1 - 1)) : x"},
    // x / |x| with a divisor that is 1 for 0, of numbers that are neither large nor infinite.
    {"sign", "clip(x, -1, 1) / (fabs(clip(x, -1, 1)) + logical_not(clip(x, -1, 1)))"},
    // log(x) + log(1 + sqrt(1 + 1 / x^2)), where x^2 itself would overflow; the same with minus.
    {"log_sum", "log(x) + log(sqrt(1 / x * (1 / x) + 1) + 1)"},
    {"log_difference", "log(x) + log(sqrt(1 - 1 / x * (1 / x)) + 1)"},
    // x over the root of its mean square, and the same less the mean, with epsilon a.
    {"rms", "broadcast_div(x, sqrt(mean(x * x) + a))"},
    {"normal", "rms(broadcast_sub(x, mean(x)), a)"},

    {"clip", "clip(x, a, b)"},
    // Near 0 (t + t / (t + 1)) / 2 with t = e^x - 1, else h^2 / 2 - 1 / (2 h^2) with h = e^(x / 2),
    // whose square is the last to overflow.
    {"sinh", "fabs(x) < 1 ? (expm1(x) + expm1(x) / (expm1(x) + 1)) * 0.5 "
             ": exp(x * 0.5) * 0.5 * exp(x * 0.5) - 0.5 / exp(x * 0.5) / exp(x * 0.5)"},
    {"cosh", "exp(x * 0.5) * 0.5 * exp(x * 0.5) + 0.5 / exp(x * 0.5) / exp(x * 0.5)"},
    // Of |x|, with the sign of x: near 0 log(1 + x + x^2 / (1 + sqrt(1 + x^2))).
    {"asinh", "(fabs(x) < 1 ? log1p(fabs(x) + fabs(x) * fabs(x) / "
              "(sqrt(fabs(x) * fabs(x) + 1) + 1)) : log_sum(fabs(x))) * sign(x)"},
    // Near 1 log(1 + d + sqrt(2 d + d^2)) with d = x - 1.
    {"acosh", "fabs(x - 1) < 1 ? log1p(x - 1 + sqrt((x - 1) * (x - 1 + 2))) : log_difference(x)"},
    // log((1 + x) / (1 - x)) / 2, near 0 as log(1 + 2 x / (1 - x)) / 2.
    {"atanh", "(fabs(x) < 0.5 ? log1p(x * 2 / (1 - x)) : log((x + 1) / (1 - x))) * 0.5"},
};

// Operators of one value that core has, and what else formulas consist of.
static const struct word {
    const char *name, *op;
} words[] = {
    {"abs", "abs"},
    {"neg", "negative"},
    {"exp", "exp"},
    {"log", "log"},
    {"sqrt", "sqrt"},
    {"ceil", "ceil"},
    {"floor", "floor"},
    {"tanh", "tanh"},
    {"relu", "relu"},
    {"sigmoid", "sigmoid"},
    {"logical_not", "logical_not"},
    {"clip", "clip"},
    {"broadcast_sub", "broadcast_sub"},
    {"broadcast_div", "broadcast_div"},
};

static const ln_nnvm_operation operations[] = {
    {"add", "add", "add", 1},          {"sub", "sub", "rsub", 1},          {"mul", "mul", "mul", 1},
    {"div", "div", "rdiv", 1},         {"pow", "pow", "rpow", 1},          {"mod", NULL, NULL, 1},
    {"left_shift", "lshift", NULL, 0}, {"right_shift", "rshift", NULL, 0},
};

static const char *const reductions[] = {"sum", "mean", "prod", "max", "min"};

const ln_nnvm_operation *ln_nnvm_find_operation(const char *op)
{
    return LN_ROW_NAMED(operations, op);
}

int ln_nnvm_formula_reduces(const char *name)
{
    return LN_ROW_NAMED(reductions, name) != NULL;
}

// The operator of core's that a function of formulas is, or NULL.
static const char *core_op(const char *name)
{
    const struct word *const word = LN_ROW_NAMED(words, name);
    return word                                                            ? word->op
           : ln_nnvm_find_operation(name) || ln_nnvm_formula_reduces(name) ? name
                                                                           : NULL;
}

// The formula of a function that core lacks, or NULL.
static const char *text_of(const char *name)
{
    const struct formula *const own = LN_ROW_NAMED(formulas, name);
    const ln_function *const f = ln_function_named(name);
    return own ? own->text : f ? f->formula : NULL;
}

// Whether core has all operators of a function's formula. "where" chooses from tensors only.
static int is_of_core(const char *name)
{
    ln_formula f;
    int is_of = text_of(name) != NULL;
    if (is_of)
        ln_formula_read(&f, text_of(name));
    for (int i = 0; is_of && i < f.len; i++) {
        const ln_formula_node *const n = &f.nodes[i];
        if (ln_formula_is(&f, i, "choice"))
            is_of = !ln_formula_is_number(&f, n->srcs[1]) && !ln_formula_is_number(&f, n->srcs[2]);
        else if (n->n_srcs && !ln_formula_is(&f, i, "less") && !core_op(n->name))
            is_of = strcmp(n->name, name) != 0 && is_of_core(n->name);
    }
    return is_of;
}

const char *ln_nnvm_formula_of(const char *func)
{
    const ln_function *const f = ln_function_of(func);
    return f && is_of_core(f->name) ? text_of(f->name) : NULL;
}

// A number, which needs no node.
static ln_nnvm_value number(double value)
{
    return (ln_nnvm_value){.is_number = 1, .number = value};
}

static int is_one(ln_nnvm_value v)
{
    return v.is_number && v.number == 1;
}

// Products and quotients with 1 are no node. The condition a < b is a number that is not 0.
static ln_nnvm_value put_call(const ln_nnvm_formula_maker *m, const ln_formula_node *n,
                              const ln_nnvm_value *v)
{
    const int is_mul = !strcmp(n->name, "mul"), is_div = !strcmp(n->name, "div");
    if ((is_mul || is_div) && is_one(v[1]))
        return v[0];
    if (is_mul && is_one(v[0]))
        return v[1];
    if (!strcmp(n->name, "less")) {
        const ln_nnvm_value above = m->put(m->to, "sub", 2, (const ln_nnvm_value[]){v[1], v[0]});
        return m->put(m->to, "relu", 1, &above);
    }
    if (!strcmp(n->name, "choice"))
        return m->put(m->to, "where", 3, v);
    if (core_op(n->name))
        return m->put(m->to, core_op(n->name), n->n_srcs, v);
    return ln_nnvm_formula_make(m, text_of(n->name), v[0], n->n_srcs > 1 ? v[1].number : 1,
                                n->n_srcs > 2 ? v[2].number : 0);
}

ln_nnvm_value ln_nnvm_formula_make(const ln_nnvm_formula_maker *m, const char *text,
                                   ln_nnvm_value x, double alpha, double beta)
{
    ln_formula f;
    ln_nnvm_value values[LN_FORMULA_NODES], v[LN_FORMULA_SRCS];
    x.is_number = 0; // it has a node
    ln_formula_read(&f, text);
    for (int i = 0; i < f.len; i++) {
        const ln_formula_node *const n = &f.nodes[i];
        for (int k = 0; k < n->n_srcs; k++)
            v[k] = values[n->srcs[k]];
        values[i] = ln_formula_is_number(&f, i) ? number(n->number)
                    : ln_formula_is(&f, i, "x") ? x
                    : ln_formula_is(&f, i, "a") ? number(alpha)
                    : ln_formula_is(&f, i, "b") ? number(beta)
                                                : put_call(m, n, v);
    }
    return values[f.len - 1];
}
