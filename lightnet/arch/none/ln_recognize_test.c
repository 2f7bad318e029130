// SPDX-License-Identifier: Apache-2.0
// Tests of the rule of ln_recognize.c: models of formulas are compiled without the rule and with
// it.
//
//     x * sigmoid(x)  binary(x, t1) of t1 = unary(x | sigmoid)
//
// Each operation of the formula is an operator, and each number a constant.

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/ln_formula.h"
#include "ln_rule_check.h"

enum { TEXT = 4096, NAME = 8 };

// Formulas, and how the rule fires: at all, and not where an intermediate result is an output, too.
// Coarse types hide small differences of numbers.
enum { STAYS, FIRES, ALONE, EXACT };
static const struct {
    const char *formula;
    int how;
} rows[] = {
    {"x * sigmoid(x)", ALONE},
    {"sigmoid(x) * x", ALONE},
    {"x * sigmoid(x * 1.702)", ALONE},
    {"x * sigmoid(1.702 * x)", ALONE},
    {"x * hardsigmoid(x, 0.25, 0.5)", ALONE},
    {"x * tanh(x)", STAYS},
    {"x * tanh(softplus(x))", ALONE},
    {"tanh(softplus(x)) * x", ALONE},
    {"x / (1 + abs(x))", ALONE},
    {"x / (abs(x) + 1)", ALONE},
    {"x / (abs(x) + 2)", STAYS},
    {"clip(x + 3, 0, 6) / 6", ALONE},
    {"0.16666667 * clip(3 + x, 0, 6)", ALONE},
    {"clip(x + 3, 0, 6) / 5", STAYS},
    {"clip(x + 3, 0, 5) / 6", STAYS},
    {"clip(x + 2, 0, 6) / 6", STAYS},
    {"x * clip(x + 3, 0, 6) / 6", ALONE},
    {"x * (clip(x + 3, 0, 6) / 6)", FIRES},
    {"(x / 6) * clip(x + 3, 0, 6)", ALONE},
    // gelu, with half of the product, of x, of the sum
    {"x * (erf(x / 1.4142135) + 1) * 0.5", ALONE},
    {"x * 0.5 * (1 + erf(x * 0.70710678))", ALONE},
    {"(erf(x / 1.4142135) + 1) * 0.5 * x", ALONE},
    {"0.5 * (x * (1 + erf(x / 1.4142135)))", ALONE},
    {"x / 2 * (1 + erf(0.70710678 * x))", ALONE},
    {"x * (erf(x / 1.416) + 1) * 0.5", EXACT},
    {"x * (erf(x / 1.4142135) + 1.01) * 0.5", EXACT},
    {"x * (erf(x / 1.4142135) + 1) * 0.25", STAYS},
    {"(x + 1) * (erf(x / 1.4142135) + 1) * 0.5", STAYS},
    // of a product
    {"(x * tanh(x)) * (erf((x * tanh(x)) / 1.4142135) + 1) * 0.5", FIRES},
    // gelu_tanh, with half of the product, of x, of the sum
    {"x * (tanh((x + pow(x, 3) * 0.044715) * 0.79788456) + 1) * 0.5", ALONE},
    {"0.5 * x * (1 + tanh(0.79788456 * (0.044715 * pow(x, 3) + x)))", ALONE},
    {"x * (0.5 * (1 + tanh(0.79788456 * (x + 0.044715 * x * x * x))))", ALONE},
    {"x * (tanh((x + 0.044715 * (x * x * x)) * 0.79788456) + 1) * 0.5", ALONE},
    {"x * (tanh((x + pow(x, 2) * 0.044715) * 0.79788456) + 1) * 0.5", STAYS},
    {"x * (tanh((x + pow(x, 3) * 0.0447) * 0.79788456) + 1) * 0.5", EXACT},
    {"x * (tanh((x + pow(x, 3) * 0.044715) * 0.8) + 1) * 0.5", EXACT},
};
enum { N_ROWS = sizeof(rows) / sizeof(*rows) };

static const struct {
    const char *dtype;
    double tolerance;
} types[] = {{"TL_FLOAT", 4e-6}, {"TL_DOUBLE", 4e-6}, {"TL_FLOAT16", 2e-3}, {"TL_BFLOAT16", 2e-2}};
enum { N_EXACT_TYPES = 2, N_TYPES = sizeof(types) / sizeof(*types) };

// A model of a formula

typedef struct model {
    char ops[TEXT], names[LN_FORMULA_NODES][NAME], place[TEXT];
    ln_rule_tensor tensors[LN_FORMULA_NODES];
    const char *outputs[2], *removed[LN_FORMULA_NODES];
} model;

#define ARG(role, name)    "{\"arg_name\": \"" role "\", \"name\": \"" name "\"}"
#define PARAM(name, value) "{\"arg_name\": \"" name "\", \"value\": " value "}"
#define OP(optype, ins, params)                                                 \
    "%s{\"name\": \"op_%s\", \"optype\": \"" optype "\", \"tensors_in\": [" ins \
    "], \"tensors_out\": [" ARG("dst", "%s") "], \"params\": [" params "]}"

static char *put_unary(char *end, const model *m, const ln_formula *f, int i)
{
    const ln_formula_node *const n = &f->nodes[i];
    return end +
           sprintf(
               end,
               OP("unary", ARG("src", "%s"),
                  PARAM("func", "\"%s\"") "," PARAM("alpha", "%.17g") "," PARAM("beta", "%.17g")),
               end == m->ops ? "" : ",", m->names[i], m->names[n->srcs[0]], m->names[i],
               ln_function_named(n->name)->func, n->n_srcs > 1 ? f->nodes[n->srcs[1]].number : 1,
               n->n_srcs > 2 ? f->nodes[n->srcs[2]].number : 0);
}

static char *put_binary(char *end, const model *m, const ln_formula *f, int i)
{
    const ln_formula_node *const n = &f->nodes[i];
    char op[LN_FORMULA_NAME];
    for (int k = 0; k < LN_FORMULA_NAME; k++)
        op[k] = (char)toupper((unsigned char)n->name[k]);
    return end + sprintf(end,
                         OP("binary", ARG("src1", "%s") "," ARG("src2", "%s"),
                            PARAM("op", "\"TL_BINARY_%s\"")),
                         end == m->ops ? "" : ",", m->names[i], m->names[n->srcs[0]],
                         m->names[n->srcs[1]], m->names[i], op);
}

static void fill(model *m, const char *formula, const char *dtype)
{
    ln_formula f;
    char *end = m->ops;
    int n_tensors = 0, n_removed = 0;
    ln_formula_read(&f, formula);
    for (int i = 0; i < f.len; i++) {
        const int is_x = ln_formula_is(&f, i, "x"), is_number = ln_formula_is_number(&f, i);
        const double number = f.nodes[i].number;
        sprintf(m->names[i], is_x ? "x" : i == f.len - 1 ? "y" : "t%d", i);
        if (is_x)
            m->tensors[n_tensors++] = (ln_rule_tensor){m->names[i], dtype, 2, {3, 7}, -5, 5, 0};
        else if (is_number)
            m->tensors[n_tensors++] =
                (ln_rule_tensor){m->names[i], dtype, 1, {1}, number, number, 1};
        else
            end = ln_function_named(f.nodes[i].name) ? put_unary(end, m, &f, i)
                                                     : put_binary(end, m, &f, i);
        if (!is_x && !is_number && i < f.len - 1)
            m->removed[n_removed++] = m->names[i];
    }
    m->outputs[0] = "y";
    sprintf(m->place, "%s in %s", formula, dtype);
}

int main(int argc, char **argv)
{
    static ln_rule_case cases[N_TYPES * N_ROWS + 1];
    model *const models = calloc(N_TYPES * N_ROWS, sizeof(model));
    for (int i = 0, n = 0; models && i < N_TYPES * N_ROWS; i++) {
        const int type = i / N_ROWS, how = rows[i % N_ROWS].how;
        model *const m = &models[i];
        if (how == EXACT && type >= N_EXACT_TYPES)
            continue;
        fill(m, rows[i % N_ROWS].formula, types[type].dtype);
        cases[n++] = (ln_rule_case){.rule = "recognize_function",
                                    .place = m->place,
                                    .tensors = m->tensors,
                                    .ops = m->ops,
                                    .outputs = m->outputs,
                                    .removed = how == ALONE ? m->removed : NULL,
                                    .fires = how == ALONE || how == FIRES,
                                    .tolerance = types[type].tolerance};
    }
    const int status = models ? ln_rule_check(argc, argv, "cpu", "create", cases) : 1;
    free(models);
    return status;
}
