// SPDX-License-Identifier: Apache-2.0
// Formulas of elements as operators, for translators.

#include "front/ln_emit.h"

#include <ctype.h>
#include <stdio.h>

#include "ir/ln_formula.h"

typedef struct emission {
    ln_emit *e;
    const ln_formula *formula;
    const char *srcs[3];                 // x, a, b
    const char *names[LN_FORMULA_NODES]; // the tensors of nodes; NULL: not emitted yet
} emission;

// The tensor of operand `k` of a node: numbers have the type of x.
static const char *operand(emission *m, const ln_formula_node *node, int k)
{
    const int at = node->srcs[k];
    if (!m->names[at] && ln_formula_is_number(m->formula, at))
        m->names[at] =
            ln_emit_scalar(m->e, ln_translation_tensor(m->e->translation, m->srcs[0])->dtype,
                           m->formula->nodes[at].number);
    return m->names[at];
}

static const char *emit_pair(emission *m, const ln_formula_node *node, int i)
{
    char op[LN_FORMULA_NAME + 16];
    int len = snprintf(op, sizeof(op), "TL_BINARY_");
    for (const char *c = node->name; *c; c++)
        op[len++] = (char)toupper((unsigned char)*c);
    op[len] = '\0';
    const char *const first = operand(m, node, 0), *const second = operand(m, node, 1);
    return ln_streq(node->name, "less") ? ln_emit_compare(m->e, "TL_COMPARE_LESS", first, second)
                                        : ln_emit_binary(m->e, op, first, second, i);
}

static const char *emit_node(emission *m, const ln_formula_node *node, int i)
{
    static const char variables[] = "xab";
    const char *const variable = node->n_srcs ? NULL : strchr(variables, *node->name);
    const char *first;
    if (variable)
        return m->srcs[variable - variables];
    if (node->n_srcs == 1)
        return ln_emit_unary(m->e, ln_function_named(node->name)->func, operand(m, node, 0), i);
    if (node->n_srcs == 2)
        return emit_pair(m, node, i);
    first = operand(m, node, 1);
    return ln_emit_where(m->e, m->names[node->srcs[0]], first, operand(m, node, 2), i);
}

const char *ln_emit_formula(ln_emit *e, const char *text, const char *x, const char *a,
                            const char *b, int i)
{
    ln_formula f;
    emission m = {.e = e, .formula = &f, .srcs = {x, a, b}};
    ln_formula_read(&f, text);
    for (int k = 0; k < f.len && !e->translation->failed; k++)
        if (!ln_formula_is_number(&f, k))
            m.names[k] = emit_node(&m, &f.nodes[k], k == f.len - 1 ? i : LN_EMIT_TEMP);
    return m.names[f.len - 1];
}
