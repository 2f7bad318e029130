// SPDX-License-Identifier: Apache-2.0
// Formulas of NNVM's core operators for functions that it lacks.

#include <string.h>

#include "base/ln_name.h"
#include "front/nnvm/ln_nnvm_put.h"
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
    {"relu", "relu(x)"},
    {"sigmoid", "sigmoid(x)"},
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

// Functions of formulas that are operators of core, and its reductions.
static const char *const core_ops[] = {
    "abs",  "negative", "exp",     "log",  "sqrt",        "ceil",          "floor",
    "tanh", "relu",     "sigmoid", "clip", "logical_not", "broadcast_sub", "broadcast_div"};
static const char *const reductions[] = {"sum", "mean", "prod", "max", "min"};

static int is_reduction(const char *name)
{
    return LN_ROW_NAMED(reductions, name) != NULL;
}

// The core operator of a formula's function, or NULL.
static const char *core_op(const char *name)
{
    const char *const op = strcmp(name, "neg") ? name : "negative";
    return LN_ROW_NAMED(core_ops, op) || ln_nnvm_is_operation(op) || is_reduction(op) ? op : NULL;
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
    int fits = text_of(name) != NULL;
    if (fits)
        ln_formula_read(&f, text_of(name));
    for (int i = 0; fits && i < f.len; i++) {
        const ln_formula_node *const n = &f.nodes[i];
        if (ln_formula_is(&f, i, "choice"))
            fits = !ln_formula_is_number(&f, n->srcs[1]) && !ln_formula_is_number(&f, n->srcs[2]);
        else if (n->n_srcs && !ln_formula_is(&f, i, "less") && !core_op(n->name))
            fits = strcmp(n->name, name) != 0 && is_of_core(n->name);
    }
    return fits;
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

// Omits products and quotients with 1. The condition a < b is relu(b - a), which is not 0 if true.
static ln_nnvm_value put_call(ln_nnvm_op *n, const ln_formula_node *call, const ln_nnvm_value *v,
                              const ln_put_axes *axes)
{
    static const char broadcast[] = "broadcast_";
    const size_t skip = strlen(broadcast);
    const char *const name = call->name, *const op = core_op(name);
    const int is_mul = !strcmp(name, "mul"), is_div = !strcmp(name, "div");
    if ((is_mul || is_div) && is_one(v[1]))
        return v[0];
    if (is_mul && is_one(v[0]))
        return v[1];
    if (!strcmp(name, "less"))
        return ln_put(n, "relu", ln_put_binary(n, "sub", v[1], v[0]));
    if (!strcmp(name, "choice"))
        return ln_put_where(n, v[0], v[1], v[2]);
    if (!strcmp(name, "clip"))
        return ln_put_clip(n, v[0], v[1].number, v[2].number);
    if (!strncmp(name, broadcast, skip))
        return v[0].ndim ? ln_put_binary(n, name + skip, v[0], v[1])
                         : ln_put_pair(n, name, v[0], v[1]);
    if (ln_nnvm_is_operation(name))
        return ln_put_binary(n, name, v[0], v[1]);
    if (op)
        return is_reduction(op) ? ln_put_reduce(n, op, v[0], axes) : ln_put(n, op, v[0]);
    return ln_put_formula(n, text_of(name), v[0], call->n_srcs > 1 ? v[1].number : 1,
                          call->n_srcs > 2 ? v[2].number : 0, axes);
}

ln_nnvm_value ln_put_formula(ln_nnvm_op *n, const char *text, ln_nnvm_value x, double alpha,
                             double beta, const ln_put_axes *axes)
{
    ln_formula f;
    ln_nnvm_value values[LN_FORMULA_NODES], v[LN_FORMULA_SRCS];
    x.is_number = 0; // a node produces it
    ln_formula_read(&f, text);
    for (int i = 0; i < f.len; i++) {
        const ln_formula_node *const node = &f.nodes[i];
        for (int k = 0; k < node->n_srcs; k++)
            v[k] = values[node->srcs[k]];
        values[i] = ln_formula_is_number(&f, i) ? number(node->number)
                    : ln_formula_is(&f, i, "x") ? x
                    : ln_formula_is(&f, i, "a") ? number(alpha)
                    : ln_formula_is(&f, i, "b") ? number(beta)
                                                : put_call(n, node, v, axes);
    }
    return values[f.len - 1];
}
